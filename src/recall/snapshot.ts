import { type Clock, makeId } from "../base/index.ts";
import {
  applyDecay,
  extractGist,
  isSharedLesson,
  isWorthShowing,
  lessonCues,
  lessonScopeId,
  sharedLessonId,
} from "../lessons/index.ts";
import type {
  CallUse,
  Excerpt,
  Finding,
  KeptArtifact,
  Lesson,
  ProjectFold,
  Skill,
  StoredFinding,
} from "../records/index.ts";
import { promotedScopeId, type Store } from "../store/index.ts";
import { oneLine } from "../text/index.ts";
import { mayBeWritten, redact, scan } from "../trust/index.ts";
import { renderLessonLine } from "./fact.ts";
import { findHome, mostFindings, mostProjects } from "./recall.ts";

/** Lessons of a project that are told when a session starts, the surest. */
const startLessons = 8;
/** Lessons among which what is new is looked for, the newest. */
const startNews = 40;
/** Milliseconds after which a session that taught something is taken for ended. */
const sessionMs = 2 * 86_400_000;
/** How sure a lesson must be before an agent is asked to write it down. */
const askFrom = 0.6;
/** Characters of a command, an error or a person's words that are kept. */
const excerptChars = 400;

/** What a snapshot says of itself. */
export interface SnapshotHead extends SnapshotSettings {
  readonly madeAt: number;
  /** What it was made from: the same mark, the same snapshot. */
  readonly mark: string;
}

/** What a person has said about telling agents. */
interface SnapshotSettings {
  readonly show: boolean;
  /** The projects, by id or root, for which they have said the opposite. */
  readonly exceptions: readonly string[];
  /** Whether an agent may be asked to write a lesson down. */
  readonly foreground: "off" | "ask";
  /** The share of sessions from which something that fits is held back. */
  readonly holdout: number;
}

/** What is told when a session starts. */
export interface SessionStart {
  /** The surest first. */
  readonly lessons: readonly StartLesson[];
  /** Learned skills that the agent can load. */
  readonly skills: readonly { readonly name: string; readonly description: string }[];
}

export interface StartLesson {
  readonly lessonId: string;
  readonly name: string;
  readonly line: string;
  /** The same in a few words: what fails, and what to do. */
  readonly brief: string;
  /** When Knack first saw it, and in which session; later ones only confirm it. */
  readonly foundAt: number;
  readonly run: string;
  /** It has a moment of its own, the failure that it is about, and is told then. */
  readonly fix: boolean;
  /** Confirmed often enough, or accepted. */
  readonly active: boolean;
  /** The home folder where it was learned, for what holds wherever that person works, "" when it is not known; null for what is of a project. */
  readonly home: string | null;
  /** `live`: it stands where the agent reads it anyway. `waiting`: it is a rule or a draft that waits for a person's yes. */
  readonly state: "live" | "waiting" | "known";
}

/** Proof that something was learned between two sessions. */
export interface StartReceipt {
  readonly at: number;
  readonly text: string;
}

/** What came of a session so far. */
export interface SessionNews {
  readonly learned: readonly { readonly lessonId: string; readonly name: string }[];
  /** The surest of it that nobody has written down or decided about. */
  readonly ask: { readonly lessonId: string; readonly name: string; readonly line: string } | null;
}

/** What was made of a lesson. */
export interface MadeItem {
  readonly name: string;
  readonly live: boolean;
  /** The text of a skill; null for a rule. */
  readonly body: string | null;
}

/** Something published, as far as agents are told of it. */
export interface SnapshotItem
  extends Pick<KeptArtifact, "kind" | "name" | "path" | "reach" | "origin" | "members"> {
  readonly state: string;
  /** What is there now; null when it cannot be read. */
  readonly text: string | null;
  /** The project that asked for it. */
  readonly askedIn: string | null;
  /** For a skill that can be read. */
  readonly skill: Pick<Skill, "body" | "description"> | null;
}

/** What hooks look things up in. Replaced whole: a reader has the old one or the new one. */
export interface SnapshotFile {
  /** What it says of itself; null where there is none that can be read. */
  head(): Promise<SnapshotHead | null>;
  /** Reads every byte. */
  look(): SnapshotFound;
  save(head: SnapshotHead, entries: ReadonlyMap<string, unknown>): void;
}

export type SnapshotFound =
  | { readonly found: "snapshot"; readonly head: SnapshotHead }
  | { readonly found: "nothing" }
  | { readonly found: "damaged"; readonly because: string };

export interface SnapshotDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly file: SnapshotFile;
  readonly published: () => Promise<readonly SnapshotItem[]>;
}

/** Increase when the form of a snapshot changes. */
const version = 3;

/** Renews the snapshot; false where it is up to date. */
export async function renewSnapshot(deps: SnapshotDeps, settings: SnapshotSettings): Promise<boolean> {
  const { store, clock, file } = deps;
  const now = clock.now();
  const published = await deps.published();
  const texts = published.map(({ name, path, state, text }) => [name, path, state, text].join(" "));
  // With each day what was learned fades a little.
  const today = Math.floor(now / 86_400_000);
  const told = makeId("s", [version, today, JSON.stringify(settings), ...texts].join("\n"));
  const entries = await store.ledger.count();
  const mark = `${entries} ${told}`;
  if ((await file.head())?.mark === mark) return false;
  file.save({ madeAt: now, mark, ...settings }, await buildSnapshot(store, { published, now }));
  // Of two processes that renew at once the slower may have known less.
  if ((await store.ledger.count()) !== entries) await renewSnapshot(deps, settings);
  return true;
}

/** Looks at the snapshot, and says why it is stale; null where it is up to date. */
export async function inspectSnapshot(
  { store, file }: Pick<SnapshotDeps, "store" | "file">,
  settings: SnapshotSettings,
): Promise<SnapshotFound & { readonly stale: string | null }> {
  const there = file.look();
  if (there.found !== "snapshot") return { ...there, stale: null };
  const { head } = there;
  const { show, exceptions, foreground, holdout } = head;
  if (JSON.stringify({ show, exceptions, foreground, holdout }) !== JSON.stringify(settings))
    return { ...there, stale: "the settings have changed since" };
  // The same number of entries, the same ledger.
  if (head.mark.startsWith(`${await store.ledger.count()} `)) return { ...there, stale: null };
  const noted = await Promise.all(telling.map((type) => store.ledger.lastNoted(type)));
  const isBehind = noted.some((at) => at !== null && at > head.madeAt);
  return { ...there, stale: isBehind ? "something was learned or decided since" : null };
}

/** The entries that change what is told. */
const telling = [
  "finding.made",
  "finding.withdrawn",
  "lesson.decided",
  "lesson.promoted",
  "lesson.demoted",
  "lesson.retired",
  "import.decided",
  "change.made",
] as const;

/** Everything that is told at the moment it helps, for a process that has no database. */
export async function buildSnapshot(
  store: Store,
  { published, now }: Omit<SnapshotSources, "findings">,
): Promise<Map<string, unknown>> {
  const lessons = (await store.learning.lessons.list()).filter(isHarmless);
  const all = await store.learning.findings.ofLessons(lessons.map(({ id }) => id));
  // The latest first, so that a finding's number tells how late it is.
  const findings = all
    .filter(({ finding }) => isHarmless(finding))
    .sort((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1));
  const projects = await store.projects.list();
  const sources = { findings, published, now };
  return new Map<string, unknown>([
    ...findings.map((one, n): SnapshotRow => [`finding ${n}`, { ...one, finding: slimDown(one.finding) }]),
    ...lessons.map((lesson): SnapshotRow => [`lesson ${lesson.id}`, slimDown(lesson)]),
    ...cueRows(findings),
    ...wordRows(findings, lessons),
    ...(await useRows(store, findings)),
    ...madeRows(published),
    ...startRows(lessons, projects, sources),
    ...sessionRows(lessons, sources),
    ...(await receiptRows(store)),
    ...projects.map((project): SnapshotRow => [`project ${project.id}`, project]),
    ["projects", [...projects].sort((a, b) => b.lastAt - a.lastAt).slice(0, mostProjects)],
  ]);
}

type SnapshotRow = readonly [key: string, value: unknown];

/** What an agent may be given unasked: nothing that a skill might not say. */
function isHarmless({ lesson, action, trigger, steps }: Finding | Lesson): boolean {
  return mayBeWritten(scan([lesson, action, trigger, ...steps].join("\n")));
}

/** The same without what is neither told nor looked at. */
function slimDown<Told extends Finding | Lesson>(told: Told): Told {
  const cut = (text: string | null) => text?.slice(0, excerptChars) ?? null;
  const { failed, worked, said }: Excerpt = told.excerpt;
  const excerpt = { failed: cut(failed), worked: cut(worked), said: cut(said), error: null, replied: null };
  return { ...told, excerpt, keywords: [], ...("keys" in told ? { keys: [] } : {}) };
}

/** The numbers of findings by cue, the latest first; of what is met everywhere, the latest of each project and of all. */
function cueRows(findings: readonly StoredFinding[]): SnapshotRow[] {
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
function wordRows(findings: readonly StoredFinding[], lessons: readonly Lesson[]): SnapshotRow[] {
  const told = new Set(lessons.filter(isSharedLesson).map(({ id }) => id));
  const byWord = groupNumbers(findings, ({ finding, scopeId, lessonId }) =>
    [...extractGist(finding).all].flatMap((word) =>
      (told.has(lessonId) ? [scopeId, promotedScopeId] : [scopeId]).map((one) => `${one} ${word}`),
    ),
  );
  return [...byWord].map(([word, numbers]) => [`word ${word}`, numbers]);
}

function groupNumbers(
  findings: readonly StoredFinding[],
  listNames: (kept: StoredFinding) => readonly string[],
) {
  const numbers = new Map<string, number[]>();
  findings.forEach((kept, n) => {
    for (const name of new Set(listNames(kept))) {
      const list = numbers.get(name);
      if (list) list.push(n);
      else numbers.set(name, [n]);
    }
  });
  return numbers;
}

/** When each call of a program that a lesson warns of last worked: all that is needed to know that a warning is stale. */
async function useRows({ learning }: Store, findings: readonly StoredFinding[]): Promise<SnapshotRow[]> {
  const programs = new Set(findings.flatMap(({ finding }) => finding.symptom?.call?.[0] ?? []));
  const rows: SnapshotRow[] = [];
  for (const program of programs) {
    const worked = (await learning.uses.of(program, null)).filter(({ ok }) => ok > 0);
    const byProject = new Map<string, Map<string, CallUse & { readonly at: number }>>();
    for (const { project, run: _, ...use } of worked) {
      for (const scopeId of [project, "*"]) {
        const latest = byProject.get(scopeId) ?? new Map();
        byProject.set(scopeId, latest);
        const call = use.parts.join(" ");
        if ((latest.get(call)?.at ?? 0) < use.at) latest.set(call, use);
      }
    }
    for (const [scopeId, latest] of byProject) rows.push([`use ${scopeId} ${program}`, [...latest.values()]]);
  }
  return rows;
}

function madeRows(published: readonly SnapshotItem[]): SnapshotRow[] {
  const made = published.filter(
    ({ state, kind, origin }) =>
      !["missing", "unreadable", "proposal"].includes(state) &&
      // What several lessons grew into is no text for one of them: it is found in the library.
      (kind === "rule" || origin.kind !== "cluster"),
  );
  // The later row wins: what is live, over a draft of the same lesson.
  made.sort((a, b) => Number(isLive(a)) - Number(isLive(b)));
  return made.map((one) => {
    const { name, skill, origin } = one;
    return [`made ${origin.id}`, { name, live: isLive(one), body: skill?.body ?? null } satisfies MadeItem];
  });
}

function isLive({ reach }: SnapshotItem): boolean {
  return reach !== "draft";
}

interface SnapshotSources {
  readonly findings: readonly StoredFinding[];
  readonly published: readonly SnapshotItem[];
  readonly now: number;
}

/** What recent sessions taught: those that may still go on. */
function sessionRows(
  lessons: readonly Lesson[],
  { findings, published, now }: SnapshotSources,
): SnapshotRow[] {
  const byId = new Map(lessons.map((lesson) => [lesson.id, lesson]));
  const first = findFirst(findings);
  const made = new Set(published.map(({ origin }) => origin.id));
  const runs = new Map<string, Lesson[]>();
  for (const { run, lessonId: id, foundAt } of findings) {
    const lesson = byId.get(id);
    if (!lesson || now - foundAt > sessionMs || !isWorthShowing(lesson)) continue;
    const { status } = applyDecay(lesson.state, now);
    const isNews = status === "pending" || status === "active" || lesson.state.promotion != null;
    if (isNews) runs.set(run, [...(runs.get(run) ?? []), lesson]);
  }
  return [...runs].map(([run, taught]): SnapshotRow => {
    const learned = [...new Set(taught)].sort((a, b) => b.state.sure - a.state.sure);
    const [ask] = learned.filter(
      ({ id, state, kind }) => kind === "error-recovery" && state.sure >= askFrom && !made.has(id),
    );
    const news: SessionNews = {
      // What was known before was only met again.
      learned: learned.flatMap(({ id, name }) => (first.get(id)?.run === run ? { lessonId: id, name } : [])),
      ask: ask ? { lessonId: ask.id, name: ask.name, line: redact(renderLessonLine(ask)) } : null,
    };
    return [`session ${run}`, news];
  });
}

/** What is told at the start of a session, for each project and for the person. */
function startRows(
  lessons: readonly Lesson[],
  projects: readonly ProjectFold[],
  { findings, published, now }: SnapshotSources,
): SnapshotRow[] {
  const roots = new Map(projects.map(({ id, root }) => [id, root]));
  const first = findFirst(findings);
  const live = new Set(
    published
      .filter(isLive)
      .flatMap(({ kind, origin, members = [] }) => [origin.id, ...(kind === "skill" ? members : [])]),
  );
  const drafts = new Set(published.filter((one) => !isLive(one)).map(({ origin }) => origin.id));
  const starts = new Map<string, { lessons: StartLesson[]; skills: SessionStart["skills"][number][] }>();
  const startOf = (scopeId: string) => {
    const start = starts.get(scopeId) ?? { lessons: [], skills: [] };
    starts.set(scopeId, start);
    return start;
  };
  for (const lesson of lessons) {
    const { status } = applyDecay(lesson.state, now);
    const isOpen =
      status === "active" || status === "pending" || (status === "promoted" && isSharedLesson(lesson));
    const found = first.get(lesson.id);
    if (!isOpen || !found || !(isWorthShowing(lesson) || live.has(lesson.id))) continue;
    const waits = lesson.artifact === "rule" || drafts.has(lesson.id);
    startOf(lessonScopeId(lesson)).lessons.push({
      lessonId: sharedLessonId(lesson),
      name: lesson.name,
      line: renderLessonLine(lesson),
      brief: lesson.symptom === null ? lesson.name : `${lesson.symptom.head}: ${oneLine(lesson.action)}`,
      ...{ foundAt: found.foundAt, run: found.run },
      fix: lesson.symptom !== null,
      active: status !== "pending",
      home: lesson.scope === "user" ? (findHome(roots.get(lesson.project) ?? "") ?? "") : null,
      state: live.has(lesson.id) ? "live" : waits ? "waiting" : "known",
    });
  }
  const scopeIds = new Map(lessons.map((lesson) => [lesson.id, lessonScopeId(lesson)]));
  for (const one of published) {
    if (one.kind !== "skill" || !isLive(one) || one.skill === null) continue;
    const taught = (one.members ?? [one.origin.id])
      .map((id) => scopeIds.get(id))
      .find((id) => id !== undefined);
    const scopeId = one.reach === "everywhere" ? "user" : (taught ?? one.askedIn ?? "user");
    startOf(scopeId).skills.push({ name: one.name, description: one.skill.description });
  }
  return [...starts].map(([scopeId, { lessons, skills }]) => {
    const surest = lessons.filter(({ active }) => active).slice(0, startLessons);
    const newest = [...lessons].sort((a, b) => b.foundAt - a.foundAt).slice(0, startNews);
    const start: SessionStart = {
      lessons: lessons.filter((lesson) => surest.includes(lesson) || newest.includes(lesson)),
      // More than that is over the budget in any case.
      skills: skills.slice(0, startNews),
    };
    return [`start ${scopeId}`, start];
  });
}

/** What reviews learned while nobody was there to be told, of each project the latest. */
async function receiptRows({ ledger }: Store): Promise<SnapshotRow[]> {
  const byProject = new Map<string, StartReceipt[]>();
  for (const { at, project, actor, data } of await ledger.since("receipt.given", 0))
    if (actor === "knack" && project !== null)
      byProject.set(project, [...(byProject.get(project) ?? []), { at: at ?? 0, text: data.text }]);
  return [...byProject].map(([project, all]) => [`receipts ${project}`, all.slice(-startLessons)]);
}

/** The finding of each lesson that was noticed first. */
function findFirst(findings: readonly StoredFinding[]): Map<string, StoredFinding> {
  const first = new Map<string, StoredFinding>();
  for (const kept of findings) {
    const known = first.get(kept.lessonId);
    if (!known || kept.foundAt < known.foundAt || (kept.foundAt === known.foundAt && kept.at < known.at))
      first.set(kept.lessonId, kept);
  }
  return first;
}
