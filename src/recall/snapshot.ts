import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { type Clock, makeId, writeFileAtomically } from "../base/index.ts";
import {
  applyDecay,
  explainDoubt,
  extractGist,
  importPrefix,
  isHeldBack,
  isSharedLesson,
  isWorthShowing,
  lessonCues,
  type Question,
  sharedLessonId,
} from "../lessons/index.ts";
import {
  type CallUse,
  type Finding,
  findOwnCheckouts,
  isSaid,
  type KeptArtifact,
  type Lesson,
  type ProjectFold,
  type ProjectPlace,
  promotedScopeId,
  resolveProjectIds,
  type Skill,
  type StoredFinding,
} from "../records/index.ts";
import { encodeTable, findTableFault, openTable, readFileAt, type Table } from "../search/index.ts";
import type { Store } from "../store/index.ts";
import { asSentence, cutAtWord, oneLine } from "../text/index.ts";
import { mayBeWritten, redact, scan } from "../trust/index.ts";
import {
  describeCure,
  findHome,
  findLastSeen,
  type LessonMatch,
  mayTellLesson,
  mostFindings,
  mostProjects,
  recall,
} from "./recall.ts";

/** Lessons of a project that are told when a session starts, the surest. */
const startLessons = 8;
/** Lessons among which what is new is looked for, the newest. */
const startNews = 40;
/** Findings with a word up to which they stand beside their number. */
const fewFindings = 60;
/** Milliseconds after which a session that taught something is taken for ended. */
const sessionMs = 2 * 86_400_000;
/** Days in which a lesson is new enough to be offered to the person, and characters of it that they are shown. */
const offerDays = 14;
const offerChars = 160;
/** How sure a lesson must be before an agent is asked to write it down. */
const askFrom = 0.6;
/** Characters of a command, an error or a person's words that are kept. */
const excerptChars = 400;
/** Characters of the name of a file, or a person, that something was imported from. */
const fromChars = 40;
/** Increase when the form of a snapshot changes. */
const version = 8;

/** Something published, as far as agents are told of it. */
interface SnapshotItem extends Pick<KeptArtifact, "kind" | "name" | "path" | "reach" | "origin" | "members"> {
  readonly state: string;
  /** The current text, or null if unreadable. */
  readonly text: string | null;
  /** The project that asked for it. */
  readonly askedIn: string | null;
  /** For a skill that can be read. */
  readonly skill: Pick<Skill, "body" | "description"> | null;
}

interface SnapshotDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** The file, which hooks look into while it is replaced. */
  readonly path: string;
  readonly published: () => Promise<readonly SnapshotItem[]>;
  /** Why nothing is learned in a project; null where something is. */
  readonly refuses: (root: string | null, id: string) => Promise<string | null>;
}

type SnapshotSettings = Omit<SnapshotHead, "madeAt" | "mark">;

/** Renews the snapshot that hooks read; false where it is up to date. */
export async function renewSnapshot(deps: SnapshotDeps, settings: SnapshotSettings): Promise<boolean> {
  const { store, clock, path } = deps;
  const now = clock.now();
  const published = await deps.published();
  const texts = published.map((item) => [item.name, item.path, item.state, item.text].join(" "));
  // With each day what was learned fades a little.
  const today = Math.floor(now / 86_400_000);
  const silent = await findSilent(deps);
  const told = makeId("s", [version, today, JSON.stringify(settings), ...silent, ...texts].join("\n"));
  const entries = await store.ledger.count();
  const mark = `${entries} ${told}`;
  const known = await readSnapshot(path, async ({ head }) => head.mark).catch(() => null);
  if (known === mark) return false;
  const head: SnapshotHead = { madeAt: now, mark, ...settings };
  writeFileAtomically(path, encodeTable(head, await buildRows(store, { published, silent, now })));
  // Of two processes that renew at once the slower may have known less.
  if ((await store.ledger.count()) !== entries) await renewSnapshot(deps, settings);
  return true;
}

/** The snapshot on disk, every byte of it checked: when it was made, and why it is stale; null where it is up to date. */
export async function inspectSnapshot(store: Store, path: string, settings: SnapshotSettings) {
  const file = checkFile(path);
  if (file.found !== "snapshot") return file;
  const stale = await explainStale(store, file.head, settings);
  return { found: file.found, madeAt: file.head.madeAt, stale };
}

function checkFile(path: string) {
  try {
    const bytes = readFileSync(path);
    const because = findTableFault(bytes);
    if (because !== null) return { found: "damaged", because } as const;
    const { head } = openTable((at, length) => bytes.subarray(at, at + length));
    return { found: "snapshot", head: head as SnapshotHead } as const;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT"
      ? ({ found: "nothing" } as const)
      : ({ found: "damaged", because: message } as const);
  }
}

async function explainStale({ ledger }: Store, head: SnapshotHead, settings: SnapshotSettings) {
  const { madeAt, mark, ...made } = head;
  if (JSON.stringify(made) !== JSON.stringify(settings)) return "the settings have changed since";
  // The same number of entries, the same ledger.
  if (mark.startsWith(`${await ledger.count()} `)) return null;
  const noted = await Promise.all(telling.map((type) => ledger.lastNoted(type)));
  const isBehind = noted.some((at) => at !== null && at > madeAt);
  return isBehind ? "something was learned or decided since" : null;
}

/** The entries that change what is told. */
const telling = [
  "finding.made",
  "finding.withdrawn",
  "branch.merged",
  "lesson.decided",
  "lesson.offered",
  "lesson.promoted",
  "lesson.demoted",
  "lesson.retired",
  "lesson.merged",
  "lesson.split",
  "lesson.contradicted",
  "lesson.vetoed",
  "lesson.documented",
  "lesson.proposed",
  "lesson.shelved",
  "import.decided",
  "change.made",
  "texts.masked",
] as const;

type Row = readonly [key: string, value: unknown];

/**
 * Findings of folders that only claim a remote are those of the folder: what a downloaded folder teaches is not told in
 * the repository that it pretends to be.
 */
async function relocate({ sessions }: Store, findings: readonly StoredFinding[], own: ReadonlySet<string>) {
  const roots = new Map((await sessions.list()).map(({ id, project }) => [id, project]));
  return findings.map((one) => {
    const { id, root = null } = roots.get(one.session) ?? {};
    return root === null || root === id || own.has(root) ? one : { ...one, project: root };
  });
}

/** By which id a project that has several is counted. */
function listAliasRows(places: readonly ProjectPlace[]): Row[] {
  const resolve = resolveProjectIds(places);
  return places.flatMap(({ id }): Row[] => (resolve(id) === id ? [] : [[`alias ${id}`, resolve(id)]]));
}

/** Everything that is told at the moment it helps, for a process that has no database. */
async function buildRows(store: Store, given: Pick<Sources, "published" | "silent" | "now">) {
  const { published } = given;
  const isHarmless = createHarmlessCheck();
  const lessons = (await store.learning.lessons.list()).filter(isHarmless);
  const places = await store.sessions.places();
  const own = findOwnCheckouts(places);
  const all = await relocate(
    store,
    await store.learning.findings.ofLessons(lessons.map(({ id }) => id)),
    own,
  );
  // The latest first, so that a finding's number tells how late it is.
  const findings = all
    .filter(({ finding }) => isHarmless(finding))
    .sort((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1));
  const projects = await store.projects.list();
  const sources: Sources = {
    ...{ ...given, lessons, findings, projects, first: findFirst(findings) },
    ...(await readAnswers(store)),
  };
  const known = [...(await listUseRows(store, findings)), ...(await listReceiptRows(store))];
  return (function* (): Generator<Row> {
    for (const [n, one] of findings.entries())
      yield [`finding ${n}`, { ...one, finding: slimDown(one.finding) }];
    for (const lesson of lessons) yield [`lesson ${lesson.id}`, slimDown(lesson)];
    yield* listCueRows(findings);
    yield* listWordRows(findings, lessons);
    yield* known;
    yield* listMadeRows(published);
    yield* listStartRows(sources);
    yield* listSessionRows(sources);
    for (const project of projects) yield [`project ${project.id}`, project];
    yield* listAliasRows(places.filter(({ id, root }) => root === null || root === id || own.has(root)));
    for (const root of own) yield [`checkout ${root}`, true];
    yield ["projects", [...projects].sort((a, b) => b.lastAt - a.lastAt).slice(0, mostProjects)];
  })();
}

interface Sources {
  readonly lessons: readonly Lesson[];
  readonly findings: readonly StoredFinding[];
  readonly projects: readonly ProjectFold[];
  readonly published: readonly SnapshotItem[];
  readonly now: number;
  /** The finding of each lesson that was noticed first. */
  readonly first: ReadonlyMap<string, StoredFinding>;
  /** Lessons that a person said yes to, and all that they decided about or were asked about. */
  readonly accepted: ReadonlySet<string>;
  readonly asked: ReadonlySet<string>;
  /** Projects in which nothing is learned, and so nothing is offered. */
  readonly silent: ReadonlySet<string>;
}

async function readAnswers({ ledger, learning }: Store): Promise<Pick<Sources, "accepted" | "asked">> {
  const decided = (await ledger.since("lesson.decided", 0)).map(({ data }) => data);
  const offered = (await ledger.since("lesson.offered", 0)).flatMap(({ data }) => data.lessons);
  const lessonIds = await learning.findings.lessonIds([
    ...new Set([...decided.map(({ lessonId }) => lessonId), ...offered]),
  ]);
  // The latest decision holds.
  const last = new Map(decided.map(({ lessonId, decision }) => [lessonIds.get(lessonId) ?? "", decision]));
  const accepted = [...last].flatMap(([id, decision]) => (decision === "accepted" ? id : []));
  return { accepted: new Set(accepted), asked: new Set(lessonIds.values()) };
}

async function findSilent({ store, refuses }: SnapshotDeps): Promise<Set<string>> {
  const silent = new Set<string>();
  for (const { id, root } of await store.projects.list())
    if ((await refuses(root, id)) !== null) silent.add(id);
  return silent;
}

function findFirst(findings: readonly StoredFinding[]): Map<string, StoredFinding> {
  const inOrder = [...findings].reverse().sort((a, b) => b.foundAt - a.foundAt || b.at - a.at);
  return new Map(inOrder.map((finding) => [finding.lessonId, finding]));
}

/** Whether an agent may see it unasked: it passes the scan for skills. Most lessons say what one of their findings says. */
function createHarmlessCheck() {
  const known = new Map<string, boolean>();
  return ({ lesson, action, trigger, steps }: Finding | Lesson): boolean => {
    const text = [lesson, action, trigger, ...steps].join("\n");
    const passes = known.get(text) ?? mayBeWritten(scan(text));
    known.set(text, passes);
    return passes;
  };
}

/** A lesson without fields that recall does not use. */
function slimDown<Told extends Finding | Lesson>(told: Told): Told {
  const cut = (text: string | null) => text?.slice(0, excerptChars) ?? null;
  const { failed, worked, said } = told.excerpt;
  const excerpt = { failed: cut(failed), worked: cut(worked), said: cut(said), error: null, replied: null };
  return { ...told, excerpt, keywords: [], ...("keys" in told ? { keys: [] } : {}) };
}

/** The numbers of findings by cue, the latest first; of what is met everywhere, the latest of each project and of all. */
function listCueRows(findings: readonly StoredFinding[]): Row[] {
  const byCue = groupNumbers(findings, ({ finding }) => lessonCues(finding));
  return [...byCue].map(([cue, numbers]) => {
    const ofProject = new Map<string, number>();
    const kept = numbers.filter((n, place) => {
      const project = findings[n]?.project ?? "";
      const before = ofProject.get(project) ?? 0;
      ofProject.set(project, before + 1);
      return place < mostFindings || before < mostFindings;
    });
    return [`cue ${cue}`, kept.map((n) => [n, findings[n]?.project])];
  });
}

/** The numbers of findings by the words of their gist, scope by scope; of what was promoted a second time. */
function listWordRows(findings: readonly StoredFinding[], lessons: readonly Lesson[]): Row[] {
  const shared = new Set(lessons.filter(isSharedLesson).map(({ id }) => id));
  const byWord = groupNumbers(findings, ({ finding, scopeId, lessonId }) =>
    [...extractGist(finding).all].flatMap((word) =>
      (shared.has(lessonId) ? [scopeId, promotedScopeId] : [scopeId]).map((one) => `${one} ${word}`),
    ),
  );
  // A word that many share is mostly only counted, and its list stands apart.
  return [...byWord].flatMap(([word, numbers]): Row[] =>
    numbers.length > fewFindings
      ? [
          [`word ${word}`, numbers.length],
          [`many ${word}`, numbers],
        ]
      : [[`word ${word}`, numbers]],
  );
}

function groupNumbers(findings: readonly StoredFinding[], listNames: (one: StoredFinding) => string[]) {
  const numbers = new Map<string, number[]>();
  findings.forEach((finding, n) => {
    for (const name of new Set(listNames(finding))) {
      const list = numbers.get(name);
      if (list) list.push(n);
      else numbers.set(name, [n]);
    }
  });
  return numbers;
}

/** When each call of a program that a lesson warns of last worked: all that is needed to know that a warning is stale. */
async function listUseRows({ learning }: Store, findings: readonly StoredFinding[]): Promise<Row[]> {
  const programs = new Set(findings.flatMap(({ finding }) => finding.symptom?.call?.[0] ?? []));
  const rows: Row[] = [];
  for (const program of programs) {
    const byProject = new Map<string, Map<string, CallUse & { readonly at: number }>>();
    for (const { project, run: _, ...use } of await learning.uses.of(program, null))
      for (const scopeId of use.ok > 0 ? [project, "*"] : []) {
        const latest = byProject.get(scopeId) ?? new Map();
        byProject.set(scopeId, latest);
        const call = use.parts.join(" ");
        if ((latest.get(call)?.at ?? 0) < use.at) latest.set(call, use);
      }
    for (const [scopeId, latest] of byProject) rows.push([`use ${scopeId} ${program}`, [...latest.values()]]);
  }
  return rows;
}

function listMadeRows(published: readonly SnapshotItem[]): Row[] {
  const made = published.filter(
    ({ state, kind, origin }) =>
      !["missing", "unreadable", "proposal"].includes(state) &&
      // What several lessons grew into is no text for one of them: it is found in the library.
      (kind === "rule" || origin.kind !== "cluster"),
  );
  // The later row wins: what is live, over a draft of the same lesson.
  made.sort((a, b) => Number(isLive(a)) - Number(isLive(b)));
  return made.map((one) => {
    // A draft is named, and what was changed since it was accepted is another text.
    const body = isLive(one) && one.state === "active" ? (one.skill?.body ?? null) : null;
    const isSkill = one.kind === "skill";
    const row: SnapshotRows["made"] = { name: one.name, live: isLive(one), isSkill, body };
    return [`made ${one.origin.id}`, row];
  });
}

function isLive({ reach }: SnapshotItem): boolean {
  return reach !== "draft";
}

/** Lessons from sessions that may still be running. */
function listSessionRows({ lessons, findings, published, now, first }: Sources): Row[] {
  const byId = new Map(lessons.map((lesson) => [lesson.id, lesson]));
  const made = new Set(published.map(({ origin }) => origin.id));
  const runs = new Map<string, Set<Lesson>>();
  for (const { run, lessonId, foundAt } of findings) {
    const lesson = byId.get(lessonId);
    if (!lesson || now - foundAt > sessionMs || !isWorthShowing(lesson) || isHeldBack(lesson)) continue;
    const { status } = applyDecay(lesson.state, now);
    const isNews = status === "pending" || status === "active" || lesson.state.promotion != null;
    if (isNews) runs.set(run, (runs.get(run) ?? new Set()).add(lesson));
  }
  return [...runs].map(([run, taught]): Row => {
    const learned = [...taught].sort((a, b) => b.state.sure - a.state.sure);
    const ask = learned.find(
      (lesson) => mayTellLesson(lesson) && lesson.state.sure >= askFrom && !made.has(lesson.id),
    );
    const news: SnapshotRows["session"] = {
      // What was known before was only met again.
      learned: learned.flatMap(({ id, name }) => (first.get(id)?.run === run ? { lessonId: id, name } : [])),
      ask: ask ? { lessonId: ask.id, name: ask.name, line: redact(renderLessonLine(ask)) } : null,
    };
    return [`session ${run}`, news];
  });
}

type StartRow = SnapshotRows["start"];

/** Rows shown at session start, for each project and for the user. */
function listStartRows(sources: Sources): Row[] {
  const { lessons, projects, published, now, first, accepted, asked, silent } = sources;
  const roots = new Map(projects.map(({ id, root }) => [id, root]));
  const live = new Set(
    published
      .filter(isLive)
      .flatMap(({ kind, origin, members = [] }) => [origin.id, ...(kind === "skill" ? members : [])]),
  );
  const drafts = new Set(published.filter((one) => !isLive(one)).map(({ origin }) => origin.id));
  const starts = new Map<
    string,
    { lessons: StartRow["lessons"][number][]; skills: StartRow["skills"][number][] }
  >();
  const startOf = (scopeId: string) => {
    const start = starts.get(scopeId) ?? { lessons: [], skills: [] };
    starts.set(scopeId, start);
    return start;
  };
  const isNewHere = ({ id, project, state: { status, foundAt } }: Lesson) =>
    status !== "promoted" && !asked.has(id) && !silent.has(project) && now - foundAt < offerDays * 86_400_000;
  for (const lesson of lessons) {
    const { status } = applyDecay(lesson.state, now);
    const isOpen =
      status === "active" || status === "pending" || (status === "promoted" && isSharedLesson(lesson));
    const found = first.get(lesson.id);
    const isTold = (isWorthShowing(lesson) && !isHeldBack(lesson)) || live.has(lesson.id);
    if (!isOpen || !found || !isTold) continue;
    const waits = lesson.artifact === "rule" || drafts.has(lesson.id);
    startOf(getScopeId(lesson)).lessons.push({
      lessonId: sharedLessonId(lesson),
      name: lesson.name,
      // Who said yes to a lesson said so to its words.
      line: accepted.has(lesson.id) ? cutAtWord(oneLine(lesson.lesson), lineChars) : renderLessonLine(lesson),
      offer: isNewHere(lesson) && !live.has(lesson.id) ? describeOffer(lesson) : null,
      brief:
        lesson.symptom === null
          ? lesson.name
          : `${lesson.symptom.head}: ${oneLine(describeCure(lesson, accepted.has(lesson.id)))}`,
      told: mayTellLesson(lesson),
      ...{ foundAt: found.foundAt, run: found.run },
      fix: lesson.symptom !== null,
      active: status !== "pending",
      home: lesson.scope === "user" ? (findHome(roots.get(lesson.project) ?? "") ?? "") : null,
      state: live.has(lesson.id) ? "live" : waits ? "waiting" : "known",
    });
  }
  const scopeIds = new Map(lessons.map((lesson) => [lesson.id, getScopeId(lesson)]));
  for (const one of published) {
    if (one.kind !== "skill" || !isLive(one) || one.skill === null) continue;
    const [taught] = (one.members ?? [one.origin.id]).flatMap((id) => scopeIds.get(id) ?? []);
    const scopeId = one.reach === "everywhere" ? "user" : (taught ?? one.askedIn ?? "user");
    const description = one.state === "active" ? one.skill.description : "";
    startOf(scopeId).skills.push({ name: one.name, description });
  }
  return [...starts].map(([scopeId, { lessons, skills }]) => {
    const surest = lessons.filter(({ active }) => active).slice(0, startLessons);
    const newest = [...lessons].sort((a, b) => b.foundAt - a.foundAt).slice(0, startNews);
    const start: StartRow = {
      lessons: lessons.filter((lesson) => surest.includes(lesson) || newest.includes(lesson)),
      // More than that is over the budget in any case.
      skills: skills.slice(0, startNews),
    };
    return [`start ${scopeId}`, start];
  });
}

/** A lesson as the person is asked about it, with where doubtful words came from. */
function describeOffer(lesson: Lesson): string {
  const doubt = explainDoubt(lesson);
  const text = cutAtWord(oneLine(lesson.lesson), offerChars);
  return doubt === null ? text : `${text} (Look twice: ${oneLine(doubt)}.)`;
}

function getScopeId({ scope, project }: Lesson): string {
  return scope === "user" ? "user" : project;
}

/** The latest receipts of background reviews, and failures nobody overcame, by project. */
async function listReceiptRows({ ledger }: Store): Promise<Row[]> {
  const byProject = new Map<string, SnapshotRows["receipts"][number][]>();
  const all = [...(await ledger.since("receipt.given", 0)), ...(await ledger.since("chronic.told", 0))];
  for (const { at, project, actor, data } of all)
    if (actor === "knack" && project !== null && data.text !== null)
      byProject.set(project, [...(byProject.get(project) ?? []), { at: at ?? 0, text: data.text }]);
  return [...byProject].map(([project, told]) => [`receipts ${project}`, told.slice(-startLessons)]);
}

/** Characters of a lesson that is given whole, and of one in a list. */
const loadChars = 4_000;
const lineChars = 240;

/** Snapshot metadata, and the user's settings for showing lessons. */
interface SnapshotHead {
  readonly madeAt: number;
  /** Version of the sources: equal marks, equal snapshots. */
  readonly mark: string;
  readonly show: boolean;
  /** The projects, by id or root, for which they have said the opposite. */
  readonly exceptions: readonly string[];
  /** Whether an agent may be asked to write a lesson down. */
  readonly foreground: "off" | "ask";
  /** Whether goals have duties, and the projects for which a person set it otherwise, by id or folder. */
  readonly duties: "off" | "say" | "block";
  readonly dutiesIn: Readonly<Record<string, "off" | "say" | "block">>;
  /** The share of sessions from which something that fits is held back. */
  readonly holdout: number;
}

/** The rows of a snapshot that are read by kind and id. */
export interface SnapshotRows {
  /** Shown when a session starts in a project, or "user": lessons, the surest first, and skills to load. */
  readonly start: {
    readonly lessons: readonly StartLesson[];
    readonly skills: readonly { readonly name: string; readonly description: string }[];
  };
  /** The id by which another id's project is counted. */
  readonly alias: string;
  /** By a folder: it is the person's checkout of the repository that it names. */
  readonly checkout: true;
  /** Receipts of a project's background reviews, and failures nobody overcame. */
  readonly receipts: readonly { readonly at: number; readonly text: string }[];
  /** Lessons of a session so far, and the surest fix not yet published or rejected. */
  readonly session: {
    readonly learned: readonly { readonly lessonId: string; readonly name: string }[];
    readonly ask: { readonly lessonId: string; readonly name: string; readonly line: string } | null;
  };
  /** A lesson's artifact; the body is null for what agents are not given. */
  readonly made: {
    readonly name: string;
    readonly live: boolean;
    readonly isSkill: boolean;
    readonly body: string | null;
  };
}

interface StartLesson {
  readonly lessonId: string;
  readonly name: string;
  readonly line: string;
  /** Its words for the person, who is asked once whether to keep it; null where there is nothing to ask. */
  readonly offer: string | null;
  /** In a few words: what fails, and what to do. */
  readonly brief: string;
  /** When Knack first saw it, and in which session; later ones only confirm it. */
  readonly foundAt: number;
  readonly run: string;
  /** It has a moment of its own, the failure that it is about, and is told then. */
  readonly fix: boolean;
  /** Agents may be told of it. */
  readonly told: boolean;
  /** Confirmed often enough, or accepted. */
  readonly active: boolean;
  /** The home folder of the person it holds for, "" when that is not known; null for what is of a project. */
  readonly home: string | null;
  /** `live`: the agent reads it anyway. `waiting`: it is a rule or a draft that waits for a person's yes. */
  readonly state: "live" | "waiting" | "known";
}

/** A snapshot while its file is open. */
export interface Snapshot {
  readonly head: SnapshotHead;
  readonly table: Table;
  get<Kind extends keyof SnapshotRows>(kind: Kind, id: string): SnapshotRows[Kind] | undefined;
}

/** Opens the snapshot in a file for as long as something looks into it. Throws for a file that is none. */
export async function readSnapshot<Result>(
  path: string,
  look: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  const file = openSync(path, "r");
  try {
    const table = openTable(readFileAt(file, fstatSync(file).size));
    const get: Snapshot["get"] = (kind, id) => table.get(`${kind} ${id}`) as SnapshotRows[typeof kind];
    return await look({ head: table.head as SnapshotHead, table, get });
  } finally {
    closeSync(file);
  }
}

/** Finds lessons in a snapshot for a failure, a call or a text; for hooks. */
export function recallFromSnapshot(
  { table }: Pick<Snapshot, "table">,
  question: Question,
  asked: Parameters<typeof recall>[2],
): Promise<LessonMatch[]> {
  return recall(openMemory(table), question, asked);
}

function openMemory(table: Table): Parameters<typeof recall>[0] {
  const get = <Value>(key: string) => table.get(key) as Value | undefined;
  // A word is asked for twice: how many have it, and which.
  const rows = new Map<string, number | readonly number[]>();
  const having = (word: string): number | readonly number[] => {
    const known = rows.get(word) ?? get<number | number[]>(`word ${word}`) ?? [];
    rows.set(word, known);
    return known;
  };
  const count = (found: number | readonly number[]) => (typeof found === "number" ? found : found.length);
  const list = (word: string): readonly number[] => {
    const found = having(word);
    return typeof found === "number" ? (get<number[]>(`many ${word}`) ?? []) : found;
  };
  const findingsAt = (numbers: readonly number[]) =>
    numbers.flatMap((n) => get<StoredFinding>(`finding ${n}`) ?? []);
  return {
    learning: {
      findings: {
        cued: async (cues, project, most) => {
          const found = cues.flatMap((cue) => get<[number, string][]>(`cue ${cue}`) ?? []);
          const own = new Map(found.map(([n, of]) => [n, of === project]));
          const best = [...own].sort(([a, here], [b, there]) => Number(there) - Number(here) || a - b);
          return findingsAt(best.slice(0, most).map(([n]) => n));
        },
        countsOf: async (scopeId, words) => {
          const counts = words.map((word) => [word, count(having(`${scopeId} ${word}`))] as const);
          return new Map(counts.filter(([, count]) => count > 0));
        },
        sharing: async (scopeId, words, most) => {
          const shared = new Map<number, number>();
          for (const word of words)
            for (const n of list(`${scopeId} ${word}`)) shared.set(n, (shared.get(n) ?? 0) + 1);
          const best: [number, number][] = [];
          // Most share one word only, and need no more than to be counted.
          shared.forEach((count, n) => {
            if (count >= 2) best.push([n, count]);
          });
          best.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
          return findingsAt(best.slice(0, most).map(([n]) => n));
        },
      },
      lessons: { get: async (ids) => ids.flatMap((id) => get<Lesson>(`lesson ${id}`) ?? []) },
      uses: {
        of: async (program, project) =>
          get<(CallUse & { at: number })[]>(`use ${project ?? "*"} ${program}`) ?? [],
      },
    },
    projects: {
      get: async (ids) => ids.flatMap((id) => get<ProjectFold>(`project ${id}`) ?? []),
      list: async () => get<ProjectFold[]>("projects") ?? [],
    },
  };
}

/** The message at a failure: a fact with its origin, no order. */
export function renderFailureFact(match: LessonMatch, other: LessonMatch | null, now: number): string {
  const also =
    other === null
      ? ""
      : ` What also worked${countSessions(other)}: ${asSentence(oneLine(quoteCure(other)))}`;
  const more = isOwnText(match) ? ` ${oneLine(match.best.finding.lesson)}` : "";
  return `Knack: this failed ${describeOrigin(match, now)}; what worked: ${asSentence(oneLine(quoteCure(match)))}${more}${countSessions(match)}${also}`;
}

/** The message at a prompt: one line, or the whole lesson if sure enough. */
export function renderPromptFact(match: LessonMatch, body: string | null, now: number): string {
  const { best, lesson, load } = match;
  const origin = `Knack: learned ${describeOrigin(match, now)}`;
  if (load && body !== null) return `${origin}, kept as ${lesson.name}:\n${body.slice(0, loadChars)}`;
  const { steps } = best.finding;
  const whole = load && steps.length > 1 ? steps.map((step, at) => `\n${at + 1}. ${step}`).join("") : "";
  const told = isOwnText(match) ? quoteLesson(best.finding) : asSentence(oneLine(quoteCure(match)));
  return `${origin}: ${told}${countSessions(match)}${isOwnText(match) ? whole : ""}`;
}

function quoteCure(match: LessonMatch): string {
  return describeCure(match.best.finding, isAccepted(match.lesson));
}

/** Whether the words of the best finding may be told: rules wrote them, or a person accepted them. */
function isOwnText({ best, lesson }: LessonMatch): boolean {
  return best.finding.by === undefined || isAccepted(lesson);
}

function isAccepted({ state }: Lesson): boolean {
  return state.acceptedAt !== undefined;
}

/** One lesson in a list of what is known. */
function renderLessonLine(lesson: Lesson): string {
  return cutAtWord(quoteLesson(lesson), lineChars);
}

/** The text of a lesson; verbatim if a person said it. */
function quoteLesson({ kind, lesson, excerpt: { said } }: Finding | Lesson): string {
  if (!isSaid(kind) || said === null) return oneLine(lesson);
  return `the person said: “${cutAtWord(oneLine(said), lineChars)}”`;
}

function describeOrigin(match: LessonMatch, now: number): string {
  const where = { here: "here", anywhere: "on this machine", elsewhere: "in another project" };
  const { run } = match.best;
  if (!run.startsWith(importPrefix)) return `${where[match.distance]}${formatDay(findLastSeen(match), now)}`;
  // Somebody else's session; who hands something on chooses how that is called.
  const from = run.slice(importPrefix.length).replace(/[^\w.@-]+/g, " ");
  return `elsewhere (from ${cutAtWord(from.trim(), fromChars)})`;
}

function countSessions({ lesson: { state } }: LessonMatch): string {
  return state.sessions > 1 ? ` (seen in ${state.sessions} sessions)` : "";
}

/** ` on 3 May`, with the year where it is another; nothing for what has no time. */
export function formatDay(at: number, now: number): string {
  if (at <= 0) return "";
  const date = new Date(at);
  const year = date.getUTCFullYear() === new Date(now).getUTCFullYear() ? "" : ` ${date.getUTCFullYear()}`;
  return ` on ${date.getUTCDate()} ${months[date.getUTCMonth()]}${year}`;
}

const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
