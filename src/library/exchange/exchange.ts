import { makeId } from "../../base/index.ts";
import {
  applyDecay,
  classifyDomain,
  decisionEntry,
  extractGist,
  findSimilarFindings,
  foldImports,
  type Import,
  isSameLesson,
  isSharedLesson,
  isUnconfirmed,
  recordEntries,
  sharedLessonId,
} from "../../lessons/index.ts";
import type {
  ImportedLesson,
  ImportedSkill,
  ImportWord,
  ItemKind,
  LedgerEntry,
  Lesson,
  LiveReach,
  Project,
  ProjectFold,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { decodeUtf8 } from "../../text/index.ts";
import { mayBeWritten, type Redactor, scan } from "../../trust/index.ts";
import type { PackageFile } from "../files/library.ts";
import { checkPaths } from "../package.ts";
import {
  accept,
  decodeFiles,
  describeRefusal,
  diffPackage,
  dirname,
  encodeText,
  mainText,
  makeChange,
  nullIfDamaged,
  otherFiles,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  projectMissing,
  readFiles,
  readHistory,
  refuse,
} from "../publish/changes.ts";
import { resolveFolders } from "../publish/plan.ts";
import { listPublished } from "../publish/published.ts";
import { isSkillName, parseSkill, renderSkill, skillFile } from "../skill.ts";
import type { CarriedLesson, CarriedSkill } from "./bundle.ts";
import { listTexts, makeImportId, mapTexts, stripHomes, toFinding } from "./carried.ts";
import { eccProjectId } from "./ecc.ts";
import { importFacts, withImportFacts } from "./import-facts.ts";

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
}

/** Less sure lessons are exported only when all are asked for. */
const exportedFrom = 0.3;

/**
 * What was learned, in a form for others: without secrets, without anybody's home folder. What nobody here is told of
 * is withheld: how many those are is told.
 */
export async function exportLessons(
  deps: PublishDeps,
  selection: Selection,
): Promise<{ lessons: CarriedLesson[]; withheld: number }> {
  const { store, redactor, clock } = deps;
  const names = new Map((await store.projects.list()).map(({ id, name }) => [id, name]));
  const open: Lesson["state"]["status"][] = ["pending", "active", "promoted"];
  let withheld = 0;
  const carried = (await store.learning.lessons.list()).flatMap((lesson) => {
    const { status, confidence } = applyDecay(lesson.state, clock.now());
    if (!open.includes(status) || !isSelected(lesson, selection)) return [];
    const domain = classifyDomain(lesson);
    if (confidence < selection.minConf || (selection.domain ?? domain) !== domain) return [];
    if (!selection.all && (isUnconfirmed(lesson) || confidence < exportedFrom)) {
      withheld++;
      return [];
    }
    const { project } = lesson;
    // A folder of this machine is no name for a project elsewhere.
    const id = /^(?:[/\\~]|[A-Za-z]:[\\/])/.test(project) ? eccProjectId(project) : project;
    return [toCarried(lesson, confidence, { id, name: names.get(project) ?? null })];
  });
  const clean = await scrubLessons(redactor, carried);
  return { lessons: clean.map((one) => mapTexts(one, stripHomes)), withheld };
}

function isSelected(lesson: Lesson, { scope, here }: Selection): boolean {
  const { scope: own, project } = lesson;
  if (scope === "global") return own === "user";
  // Of what several projects have learned, the one that is told for all goes out.
  if (scope === "all") return sharedLessonId(lesson) === lesson.id || isSharedLesson(lesson);
  return own === "project" && project === here.id;
}

function toCarried(
  lesson: Lesson,
  confidence: number,
  project: { readonly id: string; readonly name: string | null },
): CarriedLesson {
  const { name, trigger, action, steps, keywords, scope, kind, artifact, remedy, call, excerpt } = lesson;
  return {
    ...{ name, trigger, action, lesson: lesson.lesson, steps, keywords },
    ...{ scope, kind, artifact, remedy, call, excerpt, confidence, domain: classifyDomain(lesson) },
    project: scope === "user" ? null : project,
    sessions: lesson.state.sessions,
  };
}

/** The learned skills, commands and agents that are live, in the same form; files that are no text are left out, and told of. */
export async function exportSkills(
  deps: PublishDeps,
  { scope, here }: Selection,
): Promise<{ skills: CarriedSkill[]; leftOut: string[] }> {
  const live = (await listPublished(deps)).filter(
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
    const found = await readFiles(deps, one);
    const files: { path: string; mode: number; text: string }[] = [];
    for (const file of found?.files ?? []) {
      const content = decodeUtf8(file.bytes);
      if (content === null) leftOut.push(`${name}/${file.path} is no text`);
      else files.push({ path: file.path, mode: file.mode & 0o111 ? 0o755 : 0o644, text: content });
    }
    const clean = await deps.redactor.scrub(files.map((file) => ({ label: "text", text: file.text })));
    const description = parseSkill(text ?? "").skill?.description ?? "";
    skills.set(key, {
      ...(kind === "command" || kind === "agent" ? { kind } : {}),
      name,
      description,
      files: files.map((file, at) => ({ ...file, text: stripHomes(clean[at] ?? "") })),
    });
  }
  return { skills: [...skills.values()], leftOut };
}

/** The same lessons without secrets. */
async function scrubLessons(redactor: Redactor, carried: readonly CarriedLesson[]): Promise<CarriedLesson[]> {
  const texts: string[] = [];
  for (const one of carried)
    mapTexts(one, (text) => {
      texts.push(text);
      return text;
    });
  const clean = await redactor.scrub(texts.map((text) => ({ label: "text", text })));
  let at = 0;
  return carried.map((one) => mapTexts(one, () => clean[at++] ?? ""));
}

/** What came from elsewhere. */
export interface Incoming {
  /** What the file or folder is called, without where it lies. */
  readonly from: string;
  readonly lessons: readonly CarriedLesson[];
  readonly skills: readonly CarriedSkill[];
}

export interface ImportOptions {
  /** Whose lessons they are to be; by default what they say themselves. */
  readonly scope: "project" | "global" | null;
  readonly minConf: number;
  readonly domain: string | null;
  readonly here: Project;
  /** A skill, command or agent that agents have already. */
  readonly skillNamed: (
    name: string,
    kind: ItemKind,
  ) => Promise<{ readonly path: string; readonly text: string } | null>;
}

/** What is new, what is here already, and what is not taken in. */
export type ImportVerdict = "new" | "changed" | "same" | "waiting" | "refused" | "left-out";

export interface ImportItem {
  readonly kind: "lesson" | ItemKind;
  readonly id: string;
  readonly name: string;
  /** What it says, in a line. */
  readonly says: string;
  readonly verdict: ImportVerdict;
  readonly because: string | null;
  /** For a skill, command or agent: its files, and what is different in them from the one that is here. */
  readonly files: readonly NamedFile[];
  readonly diff: string;
}

/** A file as it is named to a person who is to say yes to it. */
export interface NamedFile {
  readonly path: string;
  readonly executable: boolean;
}

/** The files of a package by name: what can be run is said to be. */
export function listed(files: readonly PackageFile[]): NamedFile[] {
  return files.map(({ path, mode }) => ({ path, executable: (mode & 0o111) !== 0 }));
}

/** What taking something in would do. */
export interface ImportPlan {
  readonly things: readonly ImportItem[];
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
  const { from } = incoming;
  const at = clock.now();
  const around: ImportContext = {
    ...{ deps, options, from, at, batch: makeId("b", `${from} ${at}`) },
    known: new Map((await listImports(store)).map((one) => [one.id, one])),
    projects: await store.projects.list(),
  };
  const meant = incoming.lessons.filter(
    ({ confidence, domain }) => confidence >= options.minConf && (options.domain ?? domain) === domain,
  );
  const things: ImportItem[] = [];
  const entries = new Map<string, LedgerEntry>();
  const packages: (readonly PackageFile[])[] = [];
  for (const carried of await scrubLessons(deps.redactor, meant)) {
    const { thing, entry } = await checkLesson(around, carried);
    const isTwice = entry !== null && entries.has(entry.key);
    things.push(isTwice ? { ...thing, verdict: "same", because: "it is in there twice" } : thing);
    if (entry) entries.set(entry.key, entry);
  }
  for (const skill of incoming.skills) {
    const { thing, entry, files } = await checkSkill(around, skill);
    things.push(thing);
    if (entry) entries.set(entry.key, entry);
    if (entry && files) packages.push(files);
  }
  return { things, entries: [...entries.values()], packages };
}

interface ImportContext {
  readonly deps: PublishDeps;
  readonly options: ImportOptions;
  readonly known: ReadonlyMap<string, Import>;
  readonly from: string;
  readonly batch: string;
  readonly at: number;
  readonly projects: readonly ProjectFold[];
}

interface CheckedImport {
  readonly thing: ImportItem;
  readonly entry: LedgerEntry | null;
  readonly files?: readonly PackageFile[];
}

/** Why something is not taken in. */
function leaveOut(
  about: Pick<ImportItem, "kind" | "id" | "name" | "says">,
  verdict: ImportVerdict,
  because: string,
): CheckedImport {
  return { thing: { ...about, verdict, because, files: [], diff: "" }, entry: null };
}

/** What a person was asked or said about something before; null where it may be offered now. */
function checkAnswer(
  about: Pick<ImportItem, "kind" | "id" | "name" | "says">,
  { known }: ImportContext,
): CheckedImport | null {
  const status = known.get(about.id)?.status;
  if (status === "waiting") return leaveOut(about, "waiting", "it waits for your yes already");
  return status === "rejected" ? leaveOut(about, "refused", "you refused it before") : null;
}

async function checkLesson(around: ImportContext, carried: CarriedLesson): Promise<CheckedImport> {
  const { deps, known, from, batch, at } = around;
  const target = resolveTarget(carried, around);
  const scopeId = typeof target === "string" ? "" : target.scopeId;
  const id = makeImportId(carried, scopeId);
  const about = { kind: "lesson", id, name: carried.name, says: carried.lesson } as const;
  if (typeof target === "string") return leaveOut(about, "left-out", target);
  const concerns = scan(listTexts(carried).join("\n"), { most: mostScanned });
  if (!mayBeWritten(concerns)) return leaveOut(about, "refused", describeRefusal(concerns));
  const answered = checkAnswer(about, around);
  if (answered) return answered;
  const before = known.get(id);
  const twin = await findTwin(deps.store, carried, scopeId);
  if (twin !== null || before?.status === "accepted")
    return leaveOut(about, "same", `it is known as ${twin ?? id}`);
  const { project } = target;
  const data: ImportedLesson = {
    ...{ type: "lesson", id, from, batch, scopeId, project, domain: carried.domain, foundAt: at },
    finding: toFinding(carried, scopeId === "user" ? "user" : "project", at),
  };
  const entry: LedgerEntry = before
    ? importDecision([id], "offered", at)
    : { ...byPerson(at, project), type: "lesson.imported", key: `imported:${id}`, data };
  return { thing: { ...about, verdict: "new", because: null, files: [], diff: "" }, entry };
}

function byPerson(at: number, project: string | null = null) {
  return { at, project, session: null, actor: "person" } as const;
}

/** Characters that are scanned, and files and characters of a skill. */
const mostScanned = 200_000;
const mostSkillFiles = 50;
const mostSkillChars = 1_000_000;

/** Whose a lesson is to be, or why that cannot be told. */
function resolveTarget(
  { scope, project }: CarriedLesson,
  { options: { scope: wanted, here }, projects }: ImportContext,
): { readonly project: string; readonly scopeId: string } | string {
  if (wanted === "project") return { project: here.id, scopeId: here.id };
  if (wanted === "global" || scope === "user") {
    // A lesson for everywhere still has a place where it came in, which tells whose home it is for.
    const newest = [...projects].sort((a, b) => b.lastAt - a.lastAt)[0]?.id;
    const place = projects.some(({ id }) => id === here.id) ? here.id : (newest ?? here.id);
    return { project: place, scopeId: "user" };
  }
  if (project === null) return { project: here.id, scopeId: here.id };
  const all = [here, ...projects];
  const found =
    all.find(({ id }) => id === project.id || eccProjectId(id) === project.id) ??
    all.find(({ name }) => project.id === null && name === project.name);
  if (found) return { project: found.id, scopeId: found.id };
  return `its project ${project.name ?? project.id} is not known here; --scope project takes it for this one, --scope global for all`;
}

/** The lesson that says the same, for these people or for everybody. */
async function findTwin(
  { learning }: Store,
  carried: CarriedLesson,
  scopeId: string,
): Promise<string | null> {
  const gist = extractGist(carried);
  for (const place of new Set([scopeId, "user"])) {
    const found = (await findSimilarFindings(learning, place, gist)).find((other) =>
      isSameLesson(gist, other.gist),
    );
    if (found) return found.lessonId;
  }
  return null;
}

async function checkSkill(around: ImportContext, carried: CarriedSkill): Promise<CheckedImport> {
  const { deps, options, known, from, batch, at } = around;
  const { kind = "skill", name, description } = carried;
  const clean = await deps.redactor.scrub(carried.files.map(({ text }) => ({ label: "text", text })));
  const scrubbed = carried.files.map((file, n) => ({ ...file, text: clean[n] ?? "" }));
  const files = preparePackage({ ...carried, files: scrubbed }, from);
  if (typeof files === "string") return leaveOut({ kind, id: "", name, says: description }, "refused", files);
  const hash = deps.versions.hashOf(files);
  const id = makeId("m", `${kind} ${name} ${hash}`);
  const about = { kind, id, name, says: description };
  const answered = checkAnswer(about, around);
  if (answered) return answered;
  const there = await options.skillNamed(name, kind);
  const beside = there !== null && kind === "skill" ? await readOtherFiles(deps, there.path) : [];
  if (there !== null && isSameText(there.text, mainText(files)) && containsAll(beside, files))
    return leaveOut(about, "same", `it is at ${there.path}`);
  const named = kind === "skill" ? {} : { kind };
  const data: ImportedSkill = { type: "skill", ...named, id, from, batch, name, description, hash };
  const path = kind === "skill" ? skillFile : `${name}.md`;
  const old = there && [
    { path, bytes: encodeText(there.text), mode: 0o644 },
    ...beside.filter((file) => files.some((other) => other.path === file.path)),
  ];
  return {
    thing: {
      ...about,
      verdict: there === null ? "new" : "changed",
      because: there === null ? null : `another one is at ${there.path}`,
      files: listed(files),
      diff: diffPackage({ kind, name }, old, files),
    },
    entry: known.has(id)
      ? importDecision([id], "offered", at)
      : { ...byPerson(at), type: "skill.imported", key: `imported:${id}`, data },
    files,
  };
}

/** The files of a package that came from elsewhere, marked as such; or why it is none that may be taken in. */
function preparePackage(
  { kind = "skill", name, files }: CarriedSkill,
  from: string,
): readonly PackageFile[] | string {
  if (!isSkillName(name)) return `its name is none that a ${kind} may have`;
  if (files.length > mostSkillFiles) return `it has ${files.length} files; ${mostSkillFiles} are allowed`;
  const badly = checkPaths(files.map(({ path }) => path))[0] ?? null;
  if (badly !== null) return badly;
  const size = files.reduce((sum, { text }) => sum + text.length, 0);
  if (size > mostSkillChars) return `it has ${size} characters; ${mostSkillChars} are allowed`;
  const isSkill = kind === "skill";
  const called = isSkill ? skillFile : `${name}.md`;
  if (!isSkill && files.length !== 1) return `it has ${files.length} files; a ${kind} is one`;
  const main = files.find(({ path }) => path === called);
  const { skill, problems } = parseSkill(main?.text ?? "");
  const fault = isSkill ? problems.find(({ severity }) => severity === "error") : undefined;
  if (!main || !skill || fault) return `its ${called} cannot be read${fault ? `: ${fault.message}` : ""}`;
  if (skill.description.trim() === "") return `its ${called} does not say what it is for`;
  if (kind !== "command" && skill.name !== name) return `its ${called} is called "${skill.name}"`;
  const metadata = { ...skill.metadata, ...importFacts(from) };
  const text = isSkill ? renderSkill({ ...skill, metadata }) : withImportFacts(main.text, from);
  if (text === null) return `its ${called} cannot be read`;
  const all = files.map((file) => (file === main ? { ...file, text } : file));
  const concerns = all.flatMap(({ path, text }) => scan(text, { most: mostScanned, file: path }));
  if (!mayBeWritten(concerns)) return describeRefusal(concerns);
  return all.map(({ path, mode, text }) => ({
    path,
    mode: mode & 0o111 ? 0o755 : 0o644,
    bytes: encodeText(text),
  }));
}

/** What lies beside the text of a skill that is here. */
async function readOtherFiles({ library }: PublishDeps, path: string): Promise<readonly PackageFile[]> {
  const folder = path.endsWith(`/${skillFile}`) ? dirname(path) : path;
  return otherFiles((await library.read(folder).catch(nullIfDamaged))?.files ?? []);
}

/** Whether everything that came beside a text is here as it came. */
function containsAll(here: readonly PackageFile[], files: readonly PackageFile[]): boolean {
  const texts = decodeFiles(here);
  return [...decodeFiles(otherFiles(files))].every(([path, text]) => texts.get(path) === text);
}

/** Whether two skills say the same, whoever they are from. */
function isSameText(a: string, b: string): boolean {
  const [one, other] = [parseSkill(a).skill, parseSkill(b).skill];
  return one !== null && other !== null && one.description === other.description && one.body === other.body;
}

/** Takes in what was planned. Nothing of it is believed, told or written for an agent. */
export async function carryIn(
  { store, versions }: PublishDeps,
  { entries, packages }: ImportPlan,
): Promise<void> {
  for (const files of packages) await versions.keep(files);
  await store.transaction((tx) => recordEntries(tx, entries));
}

/** Everything that came from elsewhere, the latest last. */
export async function listImports({ learning }: Store): Promise<Import[]> {
  return foldImports(await learning.imports.list());
}

/** Notes a person's word on things that wait; what they accept of lessons counts from now on. */
export async function decideImports(
  { store, clock }: Pick<PublishDeps, "store" | "clock">,
  ids: readonly string[],
  word: "accepted" | "rejected",
): Promise<void> {
  await store.transaction((tx) => recordWord(tx, clock, ids, word));
}

/** Takes back what came in the latest go, as far as it is not a skill that is live; answers with it. */
export async function withdrawLatest({
  store,
  clock,
}: Pick<PublishDeps, "store" | "clock">): Promise<Import[]> {
  return store.transaction(async (tx) => {
    const open = foldImports(await tx.learning.imports.list()).filter(
      ({ status, type }) => status === "waiting" || (status === "accepted" && type === "lesson"),
    );
    const latest = open.filter(({ batch }) => batch === open.at(-1)?.batch);
    const ids = latest.map(({ id }) => id);
    if (ids.length > 0) await recordWord(tx, clock, ids, "withdrawn");
    return latest;
  });
}

/** Records a person's word, later than every other about the same things. */
async function recordWord(
  tx: Parameters<Parameters<Store["transaction"]>[0]>[0],
  clock: PublishDeps["clock"],
  ids: readonly string[],
  word: ImportWord,
): Promise<void> {
  const rows = await tx.learning.imports.of(ids);
  const at = Math.max(clock.now(), ...rows.map((row) => row.at + 1));
  const accepted = word === "accepted" ? foldImports(rows).filter(({ type }) => type === "lesson") : [];
  await recordEntries(tx, [
    importDecision(ids, word, at),
    ...accepted.map(({ id }) => decisionEntry(id, "accepted", at)),
  ]);
}

/** The ledger's entry of a person's word about imports. */
export function importDecision(imports: readonly string[], decision: ImportWord, at: number): LedgerEntry {
  const key = `import:${decision}:${makeId("", [...imports].sort().join(" "))}:${at}`;
  return { ...byPerson(at), type: "import.decided", key, data: { imports, decision } };
}

/** What accepting a skill that came from elsewhere would do: exactly those files are written, or none. */
export async function planAcceptImport(
  deps: PublishDeps,
  { id, kind = "skill", name, hash }: Pick<ImportedSkill, "id" | "kind" | "name" | "hash">,
  reach: LiveReach,
  root: string | null,
): Promise<Plan> {
  const files = await deps.versions.restore(hash);
  if (files === null) return refuse(`the files of ${name} are gone; import it once more`);
  // What waits may have come in when less was looked at.
  const badly = checkPaths(files.map(({ path }) => path))[0] ?? null;
  if (badly !== null) return refuse(badly);
  const targets = resolveFolders(deps, { kind, reach, root, formats: [] });
  if (targets === null) return refuse(projectMissing);
  const history = await readHistory(deps.store);
  const steps: PlannedChange[] = [];
  for (const { folder, root: owner } of targets) {
    const path = kind === "skill" ? `${folder}/${name}` : `${folder}/${name}.md`;
    const there = await readFiles(deps, { kind, path, name });
    if (there?.hash === hash) continue;
    const own = history.kept.find((kept) => kept.path === path && kept.content === there?.hash);
    if (there && own?.origin.kind !== "import")
      return refuse(
        `there is another ${kind} at ${path}; take it away first, or choose another place with --where`,
      );
    const artifact = { kind, name, path, root: owner, reach, origin: { kind: "import", id } } as const;
    const change = makeChange(artifact, there?.hash ?? null, hash, there ? "update" : "create", history);
    steps.push({ change, files, diff: diffPackage(artifact, there?.files ?? null, files) });
  }
  return accept(steps);
}
