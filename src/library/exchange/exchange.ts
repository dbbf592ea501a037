import { dirname } from "node:path";
import { makeId } from "../../base/index.ts";
import { readSymptom } from "../../failures/index.ts";
import {
  applyDecay,
  classifyDomain,
  decisionEntry,
  extractGist,
  findSimilarFindings,
  foldImports,
  isSameLesson,
  isSharedLesson,
  isUnconfirmed,
  recordEntries,
  sharedLessonId,
} from "../../lessons/index.ts";
import {
  type Actor,
  type Finding,
  type ImportedLesson,
  type ImportedSkill,
  type ImportWord,
  type Item,
  type ItemKind,
  type LedgerEntry,
  type Lesson,
  type LessonScope,
  type LiveReach,
  noExcerpt,
  type Project,
  type ProjectFold,
} from "../../records/index.ts";
import { currentFolder } from "../../settings/index.ts";
import type { Store } from "../../store/index.ts";
import { cutAtWord, decodeUtf8, oneLine, quoteYaml, slugify, stripHidden } from "../../text/index.ts";
import { mayBeWritten, scan, scrubAll } from "../../trust/index.ts";
import type { PackageFile } from "../files/packages.ts";
import { checkPaths, findGrants, scanForeign } from "../package.ts";
import { publishPlan } from "../publish/apply.ts";
import {
  accept,
  decodeFiles,
  describeRefusal,
  diffPackage,
  encodeText,
  mainFile,
  mainText,
  nameMainFile,
  nullIfDamaged,
  otherFiles,
  type Plan,
  type PlannedChange,
  type PublishDeps,
  planChange,
  projectMissing,
  readFiles,
  readHistory,
  refuse,
} from "../publish/changes.ts";
import { listPublished } from "../publish/lessons.ts";
import { resolveFolders } from "../publish/plan.ts";
import { isSkillName, parseSkill, renderSkill, skillFile } from "../skill.ts";
import {
  type BundleContents,
  type CarriedLesson,
  type CarriedSkill,
  eccProjectId,
  packBundle,
  readCarried,
  readExchange,
  renderEccFiles,
} from "./formats.ts";

/** Less sure lessons are exported only when all are asked for. */
const exportedFrom = 0.3;
/** Characters that are scanned, and characters of a skill. */
const mostScanned = 200_000;
const mostSkillChars = 1_000_000;
/** Characters of a lesson, of its other lines, and of an excerpt that are imported; and entries of a list. */
const limits = { lessonChars: 600, lineChars: 240, excerptChars: 600, entries: 12 } as const;

/** Which lessons and skills are exported. */
type Selection = {
  /** This project's, what holds in all, or both. */
  readonly scope: "project" | "global" | "all";
  readonly minConf: number;
  readonly domain: string | null;
  /** Also what waits for another session, and what has faded. */
  readonly all?: boolean;
};

type ImportOptions = {
  /** Whose lessons they are to be; by default what they say themselves. */
  readonly scope: "project" | "global" | null;
  readonly minConf: number;
  readonly domain: string | null;
};

/** A sentence that could be a lesson. */
type ProposedLesson = Pick<CarriedLesson, "name" | "trigger" | "action" | "lesson" | "confidence" | "domain">;

type ImportItem = {
  readonly kind: "lesson" | ItemKind;
  readonly id: string;
  readonly name: string;
  /** A one-line summary. */
  readonly says: string;
  /** Whether it is new, present or not imported. */
  readonly verdict: "new" | "changed" | "same" | "waiting" | "refused" | "left-out";
  readonly because: string | null;
  /** For a skill, command or agent: its files, and what is different in them from the one that is here. */
  readonly files: readonly PackageFile[];
  readonly diff: string;
};

/** The effects of an import. */
type ImportPlan = {
  readonly things: readonly ImportItem[];
  readonly entries: readonly LedgerEntry[];
  /** The files of skills, to be kept by their hash. */
  readonly packages: readonly (readonly PackageFile[])[];
};

interface ExchangeDeps {
  readonly projectAt: (cwd: string) => Promise<Project>;
  /** The skills, commands and agents that agents have already. */
  readonly items: (cwd: string) => Promise<readonly Item[]>;
}

/** What a team's member shares, as it came from them. */
type HandedShare = {
  /** The hash of its words. */
  readonly subject: string;
  readonly kind: "lesson" | "skill";
  readonly author: string;
  /** A carried lesson or skill, as JSON. */
  readonly body: string;
};

/** Characters of a quotation that goes out as evidence. */
const evidenceChars = 240;

/** Export to and import from others. */
export function openExchange(deps: PublishDeps, { projectAt, items }: ExchangeDeps) {
  const { store, clock, versions } = deps;
  const planAccept = async (skill: ImportedSkill, reach: LiveReach) =>
    planAcceptImport(deps, skill, reach, (await projectAt(currentFolder())).root);
  const createContext = async (
    from: string,
    options: ImportOptions,
    { skills, imports }: { readonly skills: boolean; readonly imports: ImportContext["known"] },
  ): Promise<ImportContext> => {
    const at = clock.now();
    const cwd = currentFolder();
    return {
      ...{ deps, options, from, at, batch: makeId("b", `${from} ${at}`), share: null, twins: false },
      known: imports,
      here: await projectAt(cwd),
      projects: await store.projects.list(),
      items: skills ? await items(cwd) : [],
    };
  };
  const importsOf = async (ids: readonly string[]): Promise<Imports> =>
    foldImports(await store.learning.imports.of(ids));
  const planTaking = async (
    { from, lessons, skills }: Pick<Awaited<ReturnType<typeof readExchange>>, "from" | "lessons" | "skills">,
    options: ImportOptions,
  ) => {
    const imports = nameImports(await listImports(store));
    const context = await createContext(from, options, { skills: skills.length > 0, imports });
    return planImport(context, lessons, skills);
  };
  return {
    /** The lessons and, for a bundle, skills to export, without secrets. */
    carried: async (selection: Selection) => {
      const here = await projectAt(currentFolder());
      const lessons = await exportLessons(deps, selection, here);
      return { ...lessons, ...(await exportSkills(deps, selection, here)) };
    },
    bundle: (contents: BundleContents, path: string): Promise<Uint8Array> =>
      packBundle(contents, clock.now(), path),
    /** The files of ECC's format, by their paths. */
    eccFiles: renderEccFiles,
    /** Plans the import of a file or a folder. */
    planImport: async (path: string, options: ImportOptions) => {
      const read = await readExchange(path);
      return { from: read.from, problems: read.problems, ...(await planTaking(read, options)) };
    },
    /** Plans proposing sentences of this project as lessons; they wait for a person like what is imported. */
    planProposals: (from: string, proposals: readonly ProposedLesson[]) => {
      const lessons = proposals.map(
        (one): CarriedLesson => ({
          ...{ ...one, scope: "project", project: null, kind: "convention", artifact: "rule", sessions: 0 },
          ...{ steps: [], keywords: [], remedy: null, call: null, excerpt: noExcerpt },
        }),
      );
      const options = { scope: "project", minConf: 0, domain: null } as const;
      return planTaking({ from, lessons, skills: [] }, options);
    },
    /** Lessons as a team is given them: of the evidence what failed and what worked, in short; nobody's own words. */
    carryLessons: async (lessons: readonly Lesson[]): Promise<CarriedLesson[]> => {
      const carried = await cleanLessons(deps, lessons);
      const cut = (text: string | null) => text && cutAtWord(oneLine(text), evidenceChars);
      return carried.map((one) => {
        const { failed, error, worked } = one.excerpt;
        const excerpt = { ...noExcerpt, failed: cut(failed), error: cut(error), worked: cut(worked) };
        return { ...one, excerpt };
      });
    },
    /** The live learned skills of this project and of everywhere, as others are given them. */
    carrySkills: async (): Promise<readonly CarriedSkill[]> =>
      (await exportSkills(deps, { scope: "all" }, await projectAt(currentFolder()))).skills,
    /** Plans taking in what members of a team share, each as what its author hands over: one thing for each, in order. */
    planShared: async (
      team: string,
      shares: readonly HandedShare[],
      { twins = false }: { readonly twins?: boolean } = {},
    ): Promise<ImportPlan> => {
      const plans: ImportPlan[] = [];
      const imports = nameImports(await importsOf(shares.map(({ subject }) => sharedImportId(subject))));
      const skills = shares.some(({ kind }) => kind === "skill");
      const context = await createContext("", { scope: null, minConf: 0, domain: null }, { skills, imports });
      for (const share of shares) {
        const carried = readCarried(share.kind, share.body);
        const plan = await planImport(
          { ...context, from: share.author, share: { team, name: share.subject }, twins },
          carried.lessons,
          carried.skills,
        );
        const about = { kind: share.kind, id: share.subject, name: share.subject, says: "" };
        const unreadable = leaveOut(about, "refused", "it cannot be read").thing;
        plans.push(plan.things.length > 0 ? plan : { ...plan, things: [unreadable] });
      }
      return {
        things: plans.flatMap(({ things }) => things),
        entries: plans.flatMap(({ entries }) => entries),
        packages: plans.flatMap(({ packages }) => packages),
      };
    },
    /** Takes in what was planned. None of it is shown to an agent before a person accepts it. */
    carryIn: async ({ entries, packages }: ImportPlan): Promise<void> => {
      for (const files of packages) await versions.keep(files);
      await store.transaction((tx) => recordEntries(tx, entries));
    },
    /** All imports with their current status, the latest last. */
    imports: () => listImports(store),
    /** Some of them, by their ids; `sharedImportId` tells those of what members of a team share. */
    importsOf,
    /** Those that wait for a person. */
    waitingImports: async (): Promise<Imports> => importsOf(await store.learning.imports.waiting()),
    /** Records a person's word on things that wait; what they accept of lessons counts from now on. */
    decideImports: (
      ids: readonly string[],
      word: "accepted" | "rejected" | "withdrawn",
      actor: Actor = "person",
    ): Promise<void> => store.transaction((tx) => recordWord(tx, clock.now(), ids, word, actor)),
    /** Takes back the latest import, as far as it is not a skill that is live; answers with it. */
    withdrawImport: (): Promise<ReturnType<typeof foldImports>[number][]> =>
      store.transaction(async (tx) => {
        const open = (await listImports(tx)).filter(
          ({ status, type }) => status === "waiting" || (status === "accepted" && type === "lesson"),
        );
        const latest = open.filter(({ batch }) => batch === open.at(-1)?.batch);
        const ids = latest.map(({ id }) => id);
        if (ids.length > 0) await recordWord(tx, clock.now(), ids, "withdrawn");
        return latest;
      }),
    planAcceptImport: planAccept,
    /** Writes an imported skill: exactly the files that waited. */
    acceptImport: (skill: ImportedSkill, reach: LiveReach) =>
      publishPlan(
        deps,
        () => planAccept(skill, reach),
        "person",
        () => [importDecision([skill.id], "accepted", clock.now())],
      ),
  };
}

export function importKind(one: Pick<ImportedSkill, "type" | "kind"> | Pick<ImportedLesson, "type">) {
  return one.type === "lesson" ? "lesson" : (one.kind ?? "skill");
}

function nameImports(imports: readonly Imports[number][]): ImportContext["known"] {
  return new Map(imports.map((one) => [one.id, one]));
}

type Imports = ReturnType<typeof foldImports>;

async function listImports({
  learning,
}: Pick<Store, "learning">): Promise<ReturnType<typeof foldImports>[number][]> {
  return foldImports(await learning.imports.list());
}

/** Records a person's word, later than every other about the same things. */
async function recordWord(
  tx: Parameters<Parameters<Store["transaction"]>[0]>[0],
  now: number,
  ids: readonly string[],
  word: ImportWord,
  actor: Actor = "person",
): Promise<void> {
  const rows = await tx.learning.imports.of(ids);
  const at = Math.max(now, ...rows.map((row) => row.at + 1));
  const accepted = word === "accepted" ? foldImports(rows).filter(({ type }) => type === "lesson") : [];
  await recordEntries(tx, [
    { ...importDecision(ids, word, at), actor },
    ...accepted.map(({ id }) => ({ ...decisionEntry(id, "accepted", at), actor })),
  ]);
}

function importDecision(imports: readonly string[], decision: ImportWord, at: number): LedgerEntry {
  const key = `import:${decision}:${makeId("", [...imports].sort().join(" "))}:${at}`;
  return { ...byPerson(at), type: "import.decided", key, data: { imports, decision } };
}

function byPerson(at: number, project: string | null = null) {
  return { at, project, session: null, actor: "person" } as const;
}

/** Lessons to export, without secrets or home folders. Unconfirmed and unsure ones are withheld and counted. */
async function exportLessons(deps: PublishDeps, selection: Selection, here: Project) {
  const { store, clock } = deps;
  let withheld = 0;
  const chosen: Lesson[] = [];
  for (const lesson of await store.learning.lessons.list()) {
    const { status, confidence } = applyDecay(lesson.state, clock.now());
    if (!["pending", "active", "promoted"].includes(status) || !isSelected(lesson, selection, here)) continue;
    const domain = classifyDomain(lesson);
    if (confidence < selection.minConf || (selection.domain ?? domain) !== domain) continue;
    if (!selection.all && (isUnconfirmed(lesson) || confidence < exportedFrom)) withheld++;
    else chosen.push(lesson);
  }
  return { lessons: await cleanLessons(deps, chosen), withheld };
}

async function cleanLessons(
  { store, clock, redactor }: PublishDeps,
  lessons: readonly Lesson[],
): Promise<CarriedLesson[]> {
  const names = new Map((await store.projects.list()).map(({ id, name }) => [id, name]));
  const carried = lessons.map((lesson) =>
    toCarried(lesson, applyDecay(lesson.state, clock.now()).confidence, names.get(lesson.project) ?? null),
  );
  const clean = await scrubAll(redactor, carried);
  return clean.map((one) => mapTexts(one, stripHomes));
}

function isSelected(lesson: Lesson, { scope }: Selection, here: Project): boolean {
  const { scope: own, project } = lesson;
  if (scope === "global") return own === "user";
  // Of what several projects have learned, the one that is shown in all goes out.
  if (scope === "all") return sharedLessonId(lesson) === lesson.id || isSharedLesson(lesson);
  return own === "project" && project === here.id;
}

function toCarried(lesson: Lesson, confidence: number, projectName: string | null): CarriedLesson {
  const { name, trigger, action, steps, keywords, scope, kind, artifact, remedy, call, excerpt } = lesson;
  const { project, state } = lesson;
  // A folder of this machine is no name for a project elsewhere.
  const id = /^(?:[/\\~]|[A-Za-z]:[\\/])/.test(project) ? eccProjectId(project) : project;
  return {
    ...{ name, trigger, action, lesson: lesson.lesson, steps, keywords },
    ...{ scope, kind, artifact, remedy, call, excerpt, confidence, domain: classifyDomain(lesson) },
    project: scope === "user" ? null : { id, name: projectName },
    sessions: state.sessions,
  };
}

/** The learned skills, commands and agents that are live; files that are no text are left out and reported. */
async function exportSkills(deps: PublishDeps, { scope }: Pick<Selection, "scope">, here: Project) {
  const live = (await listPublished(deps)).filter(({ kind, reach, root, state }) => {
    if (kind === "rule" || reach === "draft" || (state !== "active" && state !== "edited")) return false;
    const isGlobal = reach === "everywhere";
    return scope === "all" || (scope === "global" ? isGlobal : !isGlobal && root === here.root);
  });
  const skills = new Map<string, CarriedSkill>();
  const leftOut: string[] = [];
  for (const one of live) {
    const { name, kind, text } = one;
    const key = `${kind} ${name}`;
    if (skills.has(key)) continue;
    const files: { path: string; mode: number; text: string }[] = [];
    for (const { path, mode, bytes } of (await readFiles(deps, one))?.files ?? []) {
      const content = decodeUtf8(bytes);
      if (content === null) leftOut.push(`${name}/${path} is no text`);
      else files.push({ path, mode: plainMode(mode), text: content });
    }
    const clean = await scrubTexts(
      deps,
      files.map((file) => file.text),
    );
    skills.set(key, {
      ...(kind === "command" || kind === "agent" ? { kind } : {}),
      name,
      description: parseSkill(text ?? "").skill?.description ?? "",
      files: files.map((file, at) => ({ ...file, text: stripHomes(clean[at] ?? "") })),
    });
  }
  return { skills: [...skills.values()], leftOut };
}

function plainMode(mode: number): number {
  return mode & 0o111 ? 0o755 : 0o644;
}

function scrubTexts({ redactor }: PublishDeps, texts: readonly string[]): Promise<readonly string[]> {
  return redactor.scrub(texts.map((text) => ({ label: "text", text })));
}

/** Applies a function to every text of a lesson. */
function mapTexts(carried: CarriedLesson, through: (text: string) => string): CarriedLesson {
  return JSON.parse(JSON.stringify(carried), (_, value) =>
    typeof value === "string" ? through(value) : value,
  );
}

/**
 * Removes user names from home folders in a text. Agents name session folders after a path joined by dashes, in which
 * the end of the user name is ambiguous, so the whole name is removed.
 */
function stripHomes(text: string): string {
  return text
    .replace(/(?:\/(?:home|Users)\/[^/\s"'`:]+|\/root(?=\/|\b)|[A-Za-z]:[\\/]Users[\\/][^\\/\s"'`:]+)/g, "~")
    .replace(
      /(?<![\w.-])(?:(?:[A-Za-z]-)?-Users-|(?<=[\\/])-home-)[^\\/\s"'`:]+|(?<=[\\/])-root(?:-[^\\/\s"'`:]*)?(?=[\\/\s"'`:]|$)/g,
      "~",
    );
}

interface ImportContext {
  readonly deps: PublishDeps;
  readonly options: ImportOptions;
  readonly known: ReadonlyMap<string, ReturnType<typeof foldImports>[number]>;
  readonly from: string;
  readonly batch: string;
  /** The team that shares it, and by which name. */
  readonly share: NonNullable<ImportedLesson["share"]> | null;
  /** Takes in what says the same as something that is known, too. */
  readonly twins: boolean;
  readonly at: number;
  readonly here: Project;
  readonly projects: readonly ProjectFold[];
  readonly items: readonly Item[];
}

/** Looks at what came from elsewhere: nothing is taken in twice, and nothing that is dangerous. */
async function planImport(
  context: ImportContext,
  lessons: readonly CarriedLesson[],
  skills: readonly CarriedSkill[],
): Promise<ImportPlan> {
  const { minConf, domain: wanted } = context.options;
  const meant = lessons.filter(
    ({ confidence, domain }) => confidence >= minConf && (wanted ?? domain) === domain,
  );
  const things: ImportItem[] = [];
  const entries = new Map<string, LedgerEntry>();
  const packages: (readonly PackageFile[])[] = [];
  for (const carried of await scrubAll(context.deps.redactor, meant)) {
    const { thing, entry } = await checkLesson(context, carried);
    const isTwice = entry !== null && entries.has(entry.key);
    things.push(isTwice ? { ...thing, verdict: "same", because: "it is in there twice" } : thing);
    if (entry) entries.set(entry.key, entry);
  }
  for (const skill of skills) {
    const { thing, entry } = await checkSkill(context, skill);
    things.push(thing);
    if (!entry) continue;
    entries.set(entry.key, entry);
    packages.push(thing.files);
  }
  return { things, entries: [...entries.values()], packages };
}

/** A part of the hash of its words that nobody can find another text for. */
export function sharedImportId(share: string): string {
  return `t${share.slice(0, 24)}`;
}

interface CheckedImport {
  readonly thing: ImportItem;
  readonly entry: LedgerEntry | null;
}

type ImportAbout = Pick<ImportItem, "kind" | "id" | "name" | "says">;

/** Why something is not taken in. */
function leaveOut(about: ImportAbout, verdict: ImportItem["verdict"], because: string): CheckedImport {
  return { thing: { ...about, verdict, because, files: [], diff: "" }, entry: null };
}

/** Leaves out an import that is pending or was rejected; null if it may be offered. */
function checkAnswer(about: ImportAbout, { known }: ImportContext): CheckedImport | null {
  const status = known.get(about.id)?.status;
  if (status === "waiting") return leaveOut(about, "waiting", "it waits for your yes already");
  return status === "rejected" ? leaveOut(about, "refused", "you refused it before") : null;
}

async function checkLesson(context: ImportContext, carried: CarriedLesson): Promise<CheckedImport> {
  const { deps, known, from, batch, share, at } = context;
  const target = resolveTarget(carried, context);
  const scopeId = typeof target === "string" ? "" : target.scopeId;
  // The same text for the same people is the same lesson, however often it comes.
  const id = share
    ? sharedImportId(share.name)
    : makeId("i", `import ${scopeId} ${oneLine(carried.trigger)} ${oneLine(carried.action)}`);
  const about = { kind: "lesson", id, name: carried.name, says: carried.lesson } as const;
  if (typeof target === "string") return leaveOut(about, "left-out", target);
  const concerns = scan(listTexts(carried).join("\n"), { most: mostScanned });
  if (!mayBeWritten(concerns)) return leaveOut(about, "refused", describeRefusal(concerns));
  const answered = checkAnswer(about, context);
  if (answered) return answered;
  const before = known.get(id);
  const twin = context.twins ? null : await findTwin(deps.store, carried, scopeId);
  if (twin !== null || before?.status === "accepted")
    return leaveOut(about, "same", `it is known as ${twin ?? id}`);
  const { project } = target;
  const data: ImportedLesson = {
    ...{ type: "lesson", id, from, batch, scopeId, project, domain: carried.domain, foundAt: at },
    ...(share && { share }),
    finding: toFinding(carried, scopeId === "user" ? "user" : "project", at),
  };
  const entry: LedgerEntry = before
    ? importDecision([id], "offered", at)
    : { ...byPerson(at, project), type: "lesson.imported", key: `imported:${id}`, data };
  return { thing: { ...about, verdict: "new", because: null, files: [], diff: "" }, entry };
}

function listTexts({ trigger, action, lesson, steps, keywords, call, excerpt }: CarriedLesson): string[] {
  const quoted = Object.values(excerpt).filter((text) => text !== null);
  return [trigger, action, lesson, ...steps, ...keywords, ...(call ?? []), ...quoted];
}

/** Whose a lesson is to be, or why that cannot be told. */
function resolveTarget(
  { scope, project }: CarriedLesson,
  { options, here, projects }: ImportContext,
): { readonly project: string; readonly scopeId: string } | string {
  if (options.scope === "project") return { project: here.id, scopeId: here.id };
  if (options.scope === "global" || scope === "user") {
    // A lesson for everywhere still has a place where it came in, which tells whose home it is for.
    const newest = projects.toSorted((a, b) => b.lastAt - a.lastAt)[0]?.id;
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
    const similar = await findSimilarFindings(learning, place, gist);
    const found = similar.find((other) => isSameLesson(gist, other.gist));
    if (found) return found.lessonId;
  }
  return null;
}

/** Converts a carried lesson to a finding; its symptom is derived from the excerpt. */
function toFinding(carried: CarriedLesson, scope: LessonScope, at: number): Finding {
  const cut = (text: string, most: number = limits.lineChars) => cutAtWord(oneLine(stripHidden(text)), most);
  const cutAll = (texts: readonly string[]) => texts.slice(0, limits.entries).map((text) => cut(text));
  const quoted = Object.entries(carried.excerpt).map(([part, text]) => [
    part,
    text && stripHidden(text).slice(0, limits.excerptChars),
  ]);
  const excerpt: CarriedLesson["excerpt"] = Object.fromEntries(quoted);
  const { kind, confidence, artifact, remedy, call } = carried;
  const isFix = kind === "error-recovery" && excerpt.failed !== null && excerpt.error !== null;
  return {
    ...{ kind, confidence, scope, artifact, excerpt, remedy, at, refs: [], keys: [], origin: null },
    lesson: cut(carried.lesson, limits.lessonChars),
    trigger: cut(carried.trigger),
    action: cut(carried.action),
    steps: cutAll(carried.steps),
    keywords: cutAll(carried.keywords),
    name: slugify(carried.name) || slugify(carried.trigger) || "imported",
    call: call && cutAll(call),
    symptom: isFix ? readSymptom(excerpt.failed, excerpt.error ?? "", 1) : null,
  };
}

async function checkSkill(context: ImportContext, carried: CarriedSkill): Promise<CheckedImport> {
  const { deps, known, from, batch, share, at } = context;
  const { kind = "skill", name, description } = carried;
  const clean = await scrubTexts(
    deps,
    carried.files.map(({ text }) => text),
  );
  const scrubbed = carried.files.map((file, n) => ({ ...file, text: clean[n] ?? "" }));
  const files = preparePackage({ ...carried, files: scrubbed }, from);
  if (typeof files === "string") return leaveOut({ kind, id: "", name, says: description }, "refused", files);
  const hash = deps.versions.hashOf(files);
  const id = share ? sharedImportId(share.name) : makeId("m", `${kind} ${name} ${hash}`);
  const about = { kind, id, name, says: description };
  const answered = checkAnswer(about, context);
  if (answered) return answered;
  const there = await findThere(context, kind, name);
  const beside = there !== null && kind === "skill" ? await readOtherFiles(deps, there.path) : [];
  if (there !== null && isSameText(there.text, mainText(files)) && containsAll(beside, files))
    return leaveOut(about, "same", `it is at ${there.path}`);
  const named = kind === "skill" ? {} : { kind };
  const shared = share && { share };
  const data: ImportedSkill = {
    type: "skill",
    ...named,
    id,
    from,
    batch,
    ...shared,
    name,
    description,
    hash,
  };
  const old = there && [
    mainFile(kind, name, there.text),
    ...beside.filter((file) => files.some((other) => other.path === file.path)),
  ];
  return {
    thing: {
      ...about,
      verdict: there === null ? "new" : "changed",
      because: there === null ? null : `another one is at ${there.path}`,
      files,
      diff: diffPackage({ kind, name }, old, files),
    },
    entry: known.has(id)
      ? importDecision([id], "offered", at)
      : { ...byPerson(at), type: "skill.imported", key: `imported:${id}`, data },
  };
}

/** The file and the text of one that is here by that name. */
async function findThere({ deps, items }: ImportContext, kind: ItemKind, name: string) {
  const known = items.find((item) => item.kind === kind && item.name === name);
  const read = known ? await deps.library.readText(known.path) : null;
  return known && read?.found === "text" ? { path: known.path, text: read.text } : null;
}

/** The files of a package that came from elsewhere, marked as such; or why it is none that may be taken in. */
function preparePackage(
  { kind = "skill", name, files }: CarriedSkill,
  from: string,
): readonly PackageFile[] | string {
  if (!isSkillName(name)) return `its name is none that a ${kind} may have`;
  const [badly] = checkPaths(files.map(({ path }) => path));
  if (badly !== undefined) return badly;
  const size = files.reduce((sum, { text }) => sum + text.length, 0);
  if (size > mostSkillChars) return `it has ${size} characters; ${mostSkillChars} are allowed`;
  const isSkill = kind === "skill";
  const called = nameMainFile(kind, name);
  if (!isSkill && files.length !== 1) return `it has ${files.length} files; a ${kind} is one`;
  const main = files.find(({ path }) => path === called);
  const { skill, problems } = parseSkill(main?.text ?? "");
  const fault = isSkill ? problems.find(({ severity }) => severity === "error") : undefined;
  if (!main || !skill || fault) return `its ${called} cannot be read${fault ? `: ${fault.message}` : ""}`;
  if (skill.description.trim() === "") return `its ${called} does not say what it is for`;
  if (kind !== "command" && skill.name !== name) return `its ${called} is called "${skill.name}"`;
  const facts = { origin: "import", "imported-from": from };
  const text = isSkill
    ? renderSkill({ ...skill, metadata: { ...skill.metadata, ...facts } })
    : addFacts(main.text, facts);
  if (text === null) return `its ${called} cannot be read`;
  const all = files.map((file) => (file === main ? { ...file, text } : file));
  const taken = all.map((file) => ({
    path: file.path,
    mode: plainMode(file.mode),
    bytes: encodeText(file.text),
  }));
  const concerns = scanForeign(taken, called);
  if (!mayBeWritten(concerns)) return describeRefusal(concerns);
  return findGrants(main.text)[0] ?? taken;
}

/** The file of a command or an agent with facts in its front matter; the rest stays as it came. Null where it has none. */
function addFacts(text: string, facts: Readonly<Record<string, string>>): string | null {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const close = lines.indexOf("---", 1);
  if (lines[0] !== "---" || close < 0) return null;
  const front = lines.slice(0, close).filter((line) => {
    const key = /^ {2}([\w-]+):/.exec(line)?.[1];
    return key === undefined || !Object.hasOwn(facts, key);
  });
  if (!front.includes("metadata:")) front.push("metadata:");
  const marks = Object.entries(facts).map(([key, value]) => `  ${key}: ${quoteYaml(value)}`);
  return [...front.toSpliced(front.indexOf("metadata:") + 1, 0, ...marks), ...lines.slice(close)].join("\n");
}

/** The other files of an installed skill. */
async function readOtherFiles({ library }: PublishDeps, path: string): Promise<readonly PackageFile[]> {
  const folder = path.endsWith(`/${skillFile}`) ? dirname(path) : path;
  return otherFiles((await library.read(folder).catch(nullIfDamaged))?.files ?? []);
}

/** Whether all other imported files exist here unchanged. */
function containsAll(here: readonly PackageFile[], files: readonly PackageFile[]): boolean {
  const texts = decodeFiles(here);
  return [...decodeFiles(otherFiles(files))].every(([path, text]) => texts.get(path) === text);
}

/** Whether two skills have the same description and body. */
function isSameText(a: string, b: string): boolean {
  const [one, other] = [parseSkill(a).skill, parseSkill(b).skill];
  return one !== null && other !== null && one.description === other.description && one.body === other.body;
}

/** Plans accepting an imported skill: exactly its files are written, or none. */
async function planAcceptImport(
  deps: PublishDeps,
  { id, kind = "skill", name, hash }: ImportedSkill,
  reach: LiveReach,
  root: string | null,
): Promise<Plan> {
  const files = await deps.versions.restore(hash);
  if (files === null) return refuse(`the files of ${name} are gone; import it once more`);
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
    steps.push(planChange(history, artifact, there ? "update" : "create", there, { hash, files }));
  }
  return accept(steps);
}
