import type { CarriedSkill } from "../core/bundle.ts";
import { type Carried, carriedId, findingOf, reworded, textsOf, withoutHomes } from "../core/carried.ts";
import type { LiveReach } from "../core/change.ts";
import { diffOf } from "../core/diff.ts";
import { domainOf } from "../core/domain.ts";
import { idOf } from "../core/ids.ts";
import {
  type Import,
  type ImportedLesson,
  type ImportedSkill,
  type ImportWord,
  importFacts,
  importsOf,
  withImportFacts,
} from "../core/imported.ts";
import { type Instinct, isTold, lessonIdOf, standingAt } from "../core/instinct.ts";
import type { ItemKind } from "../core/item.ts";
import type { LedgerEntry, ProjectFold } from "../core/ledger.ts";
import { gistOf, same } from "../core/likeness.ts";
import { faultInPaths } from "../core/package.ts";
import { plainText } from "../core/plain-text.ts";
import { policy as defaults } from "../core/policy.ts";
import type { Project } from "../core/project.ts";
import { mayBeWritten, scan } from "../core/scan.ts";
import { isSkillName, parse, render, skillFile } from "../core/skill.ts";
import { isWaiting } from "../core/suggest.ts";
import { likely } from "./absorb.ts";
import { decided } from "./keep.ts";
import { note } from "./note.ts";
import type { PackageFile, Redactor, Store } from "./ports.ts";
import { shelf } from "./shelf.ts";
import {
  bytesOf,
  changeOf,
  diffOfOthers,
  dirname,
  fileIn,
  filesAt,
  historyOf,
  ifDamaged,
  no,
  notHere,
  othersIn,
  type Plan,
  type PublishDeps,
  refusal,
  type Step,
  textOfPackage,
  textsIn,
} from "./step.ts";

/** Which lessons and skills are meant. */
export interface Selection {
  /** This project's, what holds in all, or both. */
  readonly scope: "project" | "global" | "all";
  readonly minConf: number;
  readonly domain: string | null;
  /** The project in which it is asked. */
  readonly here: Project;
  /** Also what waits for another session, and what has faded. */
  readonly all?: boolean;
  /** How other tools call a project: a name that tells no folder. */
  readonly aliasOf: (project: string) => string;
}

/**
 * What was learned, in a form for others: without secrets, without anybody's home folder. What nobody here is told of
 * is withheld: how many those are is told.
 */
export async function exportLessons(
  deps: PublishDeps,
  selection: Selection,
): Promise<{ lessons: Carried[]; withheld: number }> {
  const { store, redactor, clock } = deps;
  const names = new Map((await store.projects.list()).map(({ id, name }) => [id, name]));
  const open: Instinct["standing"]["status"][] = ["pending", "active", "promoted"];
  let withheld = 0;
  const carried = (await store.learning.instincts.list()).flatMap((instinct) => {
    const { status, confidence } = standingAt(instinct.standing, clock.now());
    if (!open.includes(status) || !isMeant(instinct, selection)) return [];
    const domain = domainOf(instinct);
    if (confidence < selection.minConf || (selection.domain ?? domain) !== domain) return [];
    if (!selection.all && (isWaiting(instinct) || confidence < defaults.learn.held)) {
      withheld++;
      return [];
    }
    const { project } = instinct;
    // A folder of this machine is no name for a project elsewhere.
    const alias = isPath(project) ? selection.aliasOf(project) : project;
    const known = { confidence, domain, project: alias, name: names.get(project) ?? null };
    return [carriedOf(instinct, known)];
  });
  const clean = await scrubbed(redactor, carried);
  return { lessons: clean.map((one) => reworded(one, withoutHomes)), withheld };
}

function isMeant(instinct: Instinct, { scope, here }: Selection): boolean {
  const { scope: own, project } = instinct;
  if (scope === "global") return own === "user";
  // Of what several projects have learned, the one that is told for all goes out.
  if (scope === "all") return lessonIdOf(instinct) === instinct.id || isTold(instinct);
  return own === "project" && project === here.id;
}

function carriedOf(
  {
    name,
    trigger,
    action,
    lesson,
    steps,
    keywords,
    scope,
    kind,
    artifact,
    remedy,
    call,
    excerpt,
    standing,
  }: Instinct,
  known: {
    readonly confidence: number;
    readonly domain: string;
    readonly project: string;
    readonly name: string | null;
  },
): Carried {
  return {
    ...{ name, trigger, action, lesson, steps, keywords, scope, kind, artifact, remedy, call, excerpt },
    confidence: known.confidence,
    domain: known.domain,
    project: scope === "user" ? null : { id: known.project, name: known.name },
    sessions: standing.sessions,
  };
}

function isPath(project: string): boolean {
  return /^(?:[/\\~]|[A-Za-z]:[\\/])/.test(project);
}

/** The learned skills, commands and agents that are live, in the same form; files that are no text are left out, and told of. */
export async function exportSkills(
  deps: PublishDeps,
  { scope, here }: Selection,
): Promise<{ skills: CarriedSkill[]; leftOut: string[] }> {
  const live = (await shelf(deps)).filter(
    ({ kind, reach, state }) =>
      kind !== "rule" && reach !== "draft" && (state === "active" || state === "edited"),
  );
  const meant = live.filter(({ reach, root }) =>
    scope === "all"
      ? true
      : scope === "global"
        ? reach === "everywhere"
        : reach !== "everywhere" && root === here.root,
  );
  const skills = new Map<string, CarriedSkill>();
  const leftOut: string[] = [];
  for (const one of meant) {
    const { name, kind, text } = one;
    const key = `${kind} ${name}`;
    if (skills.has(key)) continue;
    const found = await filesAt(deps, one);
    const files: { path: string; mode: number; text: string }[] = [];
    for (const file of found?.files ?? []) {
      const content = plainText(file.bytes);
      if (content === null) leftOut.push(`${name}/${file.path} is no text`);
      else files.push({ path: file.path, mode: file.mode & 0o111 ? 0o755 : 0o644, text: content });
    }
    const clean = await deps.redactor.scrub(files.map((file) => ({ label: "text", text: file.text })));
    const description = parse(text ?? "").skill?.description ?? "";
    skills.set(key, {
      ...(kind === "command" || kind === "agent" ? { kind } : {}),
      name,
      description,
      files: files.map((file, at) => ({ ...file, text: withoutHomes(clean[at] ?? "") })),
    });
  }
  return { skills: [...skills.values()], leftOut };
}

/** The same lessons without secrets. */
async function scrubbed(redactor: Redactor, carried: readonly Carried[]): Promise<Carried[]> {
  const texts: string[] = [];
  for (const one of carried)
    reworded(one, (text) => {
      texts.push(text);
      return text;
    });
  const clean = await redactor.scrub(texts.map((text) => ({ label: "text", text })));
  let at = 0;
  return carried.map((one) => reworded(one, () => clean[at++] ?? ""));
}

/** What came from elsewhere. */
export interface Incoming {
  /** What the file or folder is called, without where it lies. */
  readonly from: string;
  readonly lessons: readonly Carried[];
  readonly skills: readonly CarriedSkill[];
}

export interface ImportOptions {
  /** Whose lessons they are to be; by default what they say themselves. */
  readonly scope: "project" | "global" | null;
  readonly minConf: number;
  readonly domain: string | null;
  readonly here: Project;
  /** How other tools call a project. */
  readonly aliasOf: (project: string) => string;
  /** A skill, command or agent that agents have already. */
  readonly skillNamed: (
    name: string,
    kind: ItemKind,
  ) => Promise<{ readonly path: string; readonly text: string } | null>;
}

/** What is new, what is here already, and what is not taken in. */
export type ImportVerdict = "new" | "changed" | "same" | "waiting" | "refused" | "left-out";

export interface ImportedThing {
  readonly kind: "lesson" | ItemKind;
  readonly id: string;
  readonly name: string;
  /** What it says, in a line. */
  readonly says: string;
  readonly verdict: ImportVerdict;
  readonly because: string | null;
  /** For a skill, command or agent: its files, and what is different in them from the one that is here. */
  readonly files: readonly ListedFile[];
  readonly diff: string;
}

/** A file as it is named to a person who is to say yes to it. */
export interface ListedFile {
  readonly path: string;
  readonly executable: boolean;
}

/** The files of a package by name: what can be run is said to be. */
export function listed(files: readonly PackageFile[]): ListedFile[] {
  return files.map(({ path, mode }) => ({ path, executable: (mode & 0o111) !== 0 }));
}

/** What taking something in would do. */
export interface ImportPlan {
  readonly things: readonly ImportedThing[];
  readonly entries: readonly LedgerEntry[];
  /** The files of skills, to be kept by their hash. */
  readonly packages: readonly (readonly PackageFile[])[];
}

/** Looks at what came from elsewhere: nothing is taken in twice, and nothing that is dangerous. */
export async function planImport(
  deps: PublishDeps,
  incoming: Incoming,
  options: ImportOptions,
): Promise<ImportPlan> {
  const { store, clock } = deps;
  const at = clock.now();
  const batch = idOf("b", `${incoming.from} ${at}`);
  const known = new Map(importsOf(await store.learning.imports.list()).map((one) => [one.id, one]));
  const around: Around = {
    deps,
    options,
    known,
    from: incoming.from,
    batch,
    at,
    projects: await store.projects.list(),
  };
  const meant = incoming.lessons.filter(
    ({ confidence, domain }) => confidence >= options.minConf && (options.domain ?? domain) === domain,
  );
  const things: ImportedThing[] = [];
  const entries = new Map<string, LedgerEntry>();
  const packages: (readonly PackageFile[])[] = [];
  for (const carried of await scrubbed(deps.redactor, meant)) {
    const { thing, entry } = await lookAtLesson(around, carried);
    const isTwice = entry !== null && entries.has(entry.key);
    things.push(isTwice ? { ...thing, verdict: "same", because: "it is in there twice" } : thing);
    if (entry) entries.set(entry.key, entry);
  }
  for (const skill of incoming.skills) {
    const { thing, entry, files } = await lookAtSkill(around, skill);
    things.push(thing);
    if (entry) entries.set(entry.key, entry);
    if (entry && files) packages.push(files);
  }
  return { things, entries: [...entries.values()], packages };
}

interface Around {
  readonly deps: PublishDeps;
  readonly options: ImportOptions;
  readonly known: ReadonlyMap<string, Import>;
  readonly from: string;
  readonly batch: string;
  readonly at: number;
  readonly projects: readonly ProjectFold[];
}

interface LookedAt {
  readonly thing: ImportedThing;
  readonly entry: LedgerEntry | null;
  readonly files?: readonly PackageFile[];
}

async function lookAtLesson(around: Around, carried: Carried): Promise<LookedAt> {
  const { deps, known, from, batch, at } = around;
  const target = targetOf(carried, around);
  const realm = typeof target === "string" ? "" : target.realm;
  const id = carriedId(carried, realm);
  const about = {
    kind: "lesson" as const,
    id,
    name: carried.name,
    says: carried.lesson,
    files: [],
    diff: "",
  };
  const no = (verdict: ImportVerdict, because: string): LookedAt => ({
    thing: { ...about, verdict, because },
    entry: null,
  });
  if (typeof target === "string") return no("left-out", target);
  const concerns = scan(textsOf(carried).join("\n"), { most: mostScanned });
  if (!mayBeWritten(concerns)) return no("refused", refusal(concerns));
  const before = known.get(id);
  if (before?.status === "waiting") return no("waiting", "it waits for your yes already");
  if (before?.status === "rejected") return no("refused", "you refused it before");
  const twin = await twinOf(deps.store, carried, realm);
  if (twin !== null || before?.status === "accepted") return no("same", `it is known as ${twin ?? id}`);
  const lesson: ImportedLesson = {
    ...{
      type: "lesson",
      id,
      from,
      batch,
      realm,
      project: target.project,
      domain: carried.domain,
      noticedAt: at,
    },
    finding: findingOf(carried, realm === "user" ? "user" : "project", at),
  };
  const common = { at, project: target.project, session: null, actor: "person" as const };
  const entry: LedgerEntry = before
    ? wordOn([id], "offered", at)
    : { ...common, type: "instinct.imported", key: `imported:${id}`, data: lesson };
  return { thing: { ...about, verdict: "new", because: null }, entry };
}

const mostScanned = 200_000;

/** Whose a lesson is to be, or why that cannot be told. */
function targetOf(
  { scope, project }: Carried,
  { options: { scope: wanted, here, aliasOf }, projects }: Around,
): { readonly project: string; readonly realm: string } | string {
  if (wanted === "project") return { project: here.id, realm: here.id };
  if (wanted === "global" || scope === "user") {
    // A lesson for everywhere still has a place where it came in, which tells whose home it is for.
    const newest = [...projects].sort((a, b) => b.lastAt - a.lastAt)[0]?.id;
    const place = projects.some(({ id }) => id === here.id) ? here.id : (newest ?? here.id);
    return { project: place, realm: "user" };
  }
  if (project === null) return { project: here.id, realm: here.id };
  const all = [here, ...projects];
  const found =
    all.find(({ id }) => id === project.id || aliasOf(id) === project.id) ??
    all.find(({ name }) => project.id === null && name === project.name);
  if (found) return { project: found.id, realm: found.id };
  return `its project ${project.name ?? project.id} is not known here; --scope project takes it for this one, --scope global for all`;
}

/** The instinct that says the same, for these people or for everybody. */
async function twinOf({ learning }: Store, carried: Carried, realm: string): Promise<string | null> {
  const gist = gistOf(carried);
  for (const place of new Set([realm, "user"])) {
    const found = (await likely(learning, place, gist)).find((other) => same(gist, other.gist));
    if (found) return found.instinct;
  }
  return null;
}

async function lookAtSkill(around: Around, carried: CarriedSkill): Promise<LookedAt> {
  const { deps, options, known, from, batch, at } = around;
  const kind = carried.kind ?? "skill";
  const about = { kind, name: carried.name, says: carried.description, files: [], diff: "" };
  const no = (verdict: ImportVerdict, because: string, id = ""): LookedAt => ({
    thing: { ...about, id, verdict, because },
    entry: null,
  });
  const clean = await deps.redactor.scrub(carried.files.map(({ text }) => ({ label: "text", text })));
  const files = packageOf(
    { ...carried, files: carried.files.map((file, n) => ({ ...file, text: clean[n] ?? "" })) },
    from,
  );
  if (typeof files === "string") return no("refused", files);
  const text = textOfPackage(files);
  const hash = deps.versions.hashOf(files);
  const id = idOf("m", `${kind} ${carried.name} ${hash}`);
  const before = known.get(id);
  if (before?.status === "waiting") return no("waiting", "it waits for your yes already", id);
  if (before?.status === "rejected") return no("refused", "you refused it before", id);
  const there = await options.skillNamed(carried.name, kind);
  const beside = there !== null && kind === "skill" ? await filesBeside(deps, there.path) : [];
  if (there !== null && isSameText(there.text, text) && hasAll(beside, files))
    return no("same", `it is at ${there.path}`, id);
  const skill: ImportedSkill = {
    type: "skill",
    ...(kind === "skill" ? {} : { kind }),
    id,
    from,
    batch,
    name: carried.name,
    description: carried.description,
    hash,
  };
  const common = { at, project: null, session: null, actor: "person" as const };
  return {
    thing: {
      ...about,
      id,
      verdict: there === null ? "new" : "changed",
      because: there === null ? null : `another one is at ${there.path}`,
      files: listed(files),
      diff: [
        diffOf(fileIn({ kind, name: carried.name }), there?.text ?? null, text),
        diffOfOthers(carried.name, beside, files),
      ].join(""),
    },
    entry: before
      ? wordOn([id], "offered", at)
      : { ...common, type: "skill.imported", key: `imported:${id}`, data: skill },
    files,
  };
}

/** The files of a package that came from elsewhere, marked as such; or why it is none that may be taken in. */
function packageOf(
  { kind = "skill", name, files }: CarriedSkill,
  from: string,
): readonly PackageFile[] | string {
  const { carry } = defaults;
  if (!isSkillName(name)) return `its name is none that a ${kind} may have`;
  if (files.length > carry.skillFiles) return `it has ${files.length} files; ${carry.skillFiles} are allowed`;
  const badly = faultInPaths(files.map(({ path }) => path));
  if (badly !== null) return badly;
  const size = files.reduce((sum, { text }) => sum + text.length, 0);
  if (size > carry.skillBytes) return `it has ${size} characters; ${carry.skillBytes} are allowed`;
  const isSkill = kind === "skill";
  const called = isSkill ? skillFile : `${name}.md`;
  if (!isSkill && files.length !== 1) return `it has ${files.length} files; a ${kind} is one`;
  const main = files.find(({ path }) => path === called);
  const { skill, problems } = parse(main?.text ?? "");
  const fault = isSkill ? problems.find(({ severity }) => severity === "error") : undefined;
  if (!main || !skill || fault) return `its ${called} cannot be read${fault ? `: ${fault.message}` : ""}`;
  if (skill.description.trim() === "") return `its ${called} does not say what it is for`;
  if (kind !== "command" && skill.name !== name) return `its ${called} is called "${skill.name}"`;
  const metadata = { ...skill.metadata, ...importFacts(from) };
  const text = isSkill ? render({ ...skill, metadata }) : withImportFacts(main.text, from);
  if (text === null) return `its ${called} cannot be read`;
  const all = files.map((file) => (file === main ? { ...file, text } : file));
  const concerns = all.flatMap(({ path, text }) => scan(text, { most: mostScanned, file: path }));
  if (!mayBeWritten(concerns)) return refusal(concerns);
  return all.map(({ path, mode, text }) => ({
    path,
    mode: mode & 0o111 ? 0o755 : 0o644,
    bytes: bytesOf(text),
  }));
}

/** What lies beside the text of a skill that is here. */
async function filesBeside({ library }: PublishDeps, path: string): Promise<readonly PackageFile[]> {
  const folder = path.endsWith(`/${skillFile}`) ? dirname(path) : path;
  return othersIn((await library.read(folder).catch(ifDamaged))?.files ?? []);
}

/** Whether everything that came beside a text is here as it came. */
function hasAll(here: readonly PackageFile[], files: readonly PackageFile[]): boolean {
  const texts = textsIn(here);
  return [...textsIn(othersIn(files))].every(([path, text]) => texts.get(path) === text);
}

/** Whether two skills say the same, whoever they are from. */
function isSameText(a: string, b: string): boolean {
  const [one, other] = [parse(a).skill, parse(b).skill];
  return one !== null && other !== null && one.description === other.description && one.body === other.body;
}

/** Takes in what was planned. Nothing of it is believed, told or written for an agent. */
export async function carryIn(
  { store, versions }: PublishDeps,
  { entries, packages }: ImportPlan,
): Promise<void> {
  for (const files of packages) await versions.keep(files);
  await store.transaction((tx) => note(tx, entries));
}

/** Everything that came from elsewhere, the latest last. */
export async function imports({ learning }: Store): Promise<Import[]> {
  return importsOf(await learning.imports.list());
}

/** Notes a person's word on things that wait; what they accept of lessons counts from now on. */
export async function decideImports(
  { store, clock }: Pick<PublishDeps, "store" | "clock">,
  ids: readonly string[],
  word: "accepted" | "rejected",
): Promise<void> {
  await store.transaction(async (tx) => {
    const rows = await tx.learning.imports.of(ids);
    const at = Math.max(clock.now(), ...rows.map((row) => row.at + 1));
    const lessons = importsOf(rows).filter(({ type }) => type === "lesson");
    await note(tx, [
      wordOn(ids, word, at),
      ...(word === "accepted" ? lessons.map(({ id }) => decided(id, "accepted", at)) : []),
    ]);
  });
}

/** Takes back what came in the latest go, as far as it is not a skill that is live; answers with it. */
export async function withdrawLatest({
  store,
  clock,
}: Pick<PublishDeps, "store" | "clock">): Promise<Import[]> {
  return store.transaction(async (tx) => {
    const all = importsOf(await tx.learning.imports.list());
    const open = all.filter(
      ({ status, type }) => status === "waiting" || (status === "accepted" && type === "lesson"),
    );
    const latest = open.filter(({ batch }) => batch === open.at(-1)?.batch);
    if (latest.length === 0) return [];
    const ids = latest.map(({ id }) => id);
    const rows = await tx.learning.imports.of(ids);
    const at = Math.max(clock.now(), ...rows.map((row) => row.at + 1));
    await note(tx, [wordOn(ids, "withdrawn", at)]);
    return latest;
  });
}

function wordOn(imports: readonly string[], decision: ImportWord, at: number): LedgerEntry {
  const key = `import:${decision}:${idOf("", [...imports].sort().join(" "))}:${at}`;
  const common = { at, project: null, session: null, actor: "person" as const };
  return { ...common, type: "import.decided", key, data: { imports, decision } };
}

/** The ledger's word that a person accepted a skill that came from elsewhere. */
export function skillAccepted({ id }: Import, at: number): LedgerEntry {
  return wordOn([id], "accepted", at);
}

/** What accepting a skill that came from elsewhere would do: exactly those files are written, or none. */
export async function planAcceptImport(
  deps: PublishDeps,
  { id, kind = "skill", name, hash }: Pick<ImportedSkill, "id" | "kind" | "name" | "hash">,
  reach: LiveReach,
  root: string | null,
): Promise<Plan> {
  const files = await deps.versions.restore(hash);
  if (files === null) return no(`the files of ${name} are gone; import it once more`);
  // What waits may have come in when less was looked at.
  const badly = faultInPaths(files.map(({ path }) => path));
  if (badly !== null) return no(badly);
  const targets =
    kind === "skill" ? deps.places.skills(reach, root, []) : deps.places.files(kind, reach, root);
  if (targets === null) return no(notHere);
  const history = await historyOf(deps.store);
  const steps: Step[] = [];
  for (const { folder, root: owner } of targets) {
    const path = kind === "skill" ? `${folder}/${name}` : `${folder}/${name}.md`;
    const there = await filesAt(deps, { kind, path, name });
    if (there?.hash === hash) continue;
    const own = history.kept.find((kept) => kept.path === path && kept.content === there?.hash);
    if (there && own?.instinct.startsWith("m") !== true)
      return no(
        `there is another ${kind} at ${path}; take it away first, or choose another place with --where`,
      );
    const artifact = { kind, name, path, root: owner, reach, instinct: id } as const;
    const change = changeOf(artifact, there?.hash ?? null, hash, there ? "update" : "create", history);
    const before = there ? textOfPackage(there.files) : null;
    const diff = diffOf(fileIn(artifact), before, textOfPackage(files));
    const others = diffOfOthers(name, othersIn(there?.files ?? []), files, true);
    steps.push({ change, files, diff: diff + others });
  }
  return { ok: true, steps, concerns: [], belongsTo: null };
}
