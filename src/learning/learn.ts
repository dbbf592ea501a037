import { makeId } from "../base/index.ts";
import { CallReader, isOwnCall, type Recovery } from "../failures/index.ts";
import { extractGist, isUnconfirmed, openLessons, recordEntries } from "../lessons/index.ts";
import {
  type CallUse,
  type Event,
  type Finding,
  getSessionId,
  type LedgerEntry,
  type SessionJudgement,
  type StoredFinding,
  type TranscriptId,
} from "../records/index.ts";
import { type Home, isBelowHome, resolveSettings, whyNotLearn } from "../settings/index.ts";
import type { Store } from "../store/index.ts";
import {
  type FoundFile,
  getReadMark,
  type IngestDeps,
  type IngestOptions,
  ingest,
  isCurrent,
  readEvents,
  type SessionView,
  viewSessions,
} from "../transcripts/index.ts";
import { detectorsVersion, runDetectors } from "./leads/detect.ts";
import { analyzeSession } from "./leads/session.ts";
import type { Observer, ObserverSource } from "./observer.ts";

type LearnOptions = IngestOptions & {
  readonly onLook?: (done: number, all: number) => void;
  /** When to stop looking: what was looked at until then is kept, and the rest is left for another time. */
  readonly lookUntil?: () => boolean;
  /** Sessions with fewer events are not learned from; 10 unless told. */
  readonly fewestEvents?: number | undefined;
  /** Also sessions in which nothing is new. */
  readonly again?: boolean;
};

export interface Learned {
  readonly sessions: readonly SessionView[];
  /** Every finding of these sessions that is confirmed or sure enough, whenever it was found; best first. */
  readonly findings: readonly StoredFinding[];
  readonly skipped: readonly { readonly what: string; readonly because: string }[];
  /** How many sessions had something new, and how many more were left for lack of time. */
  readonly looked: number;
  readonly unlooked: number;
  /** How many sessions were not credited, and how many transcripts not read, for lack of time. */
  readonly uncredited: number;
  readonly unread: number;
  /** The lessons that apply in every project from now on. */
  readonly promoted: readonly { readonly id: string; readonly name: string }[];
  /** A model's judgements of the sessions that had something new, where one was asked. */
  readonly judged: readonly (SessionJudgement & { readonly session: TranscriptId })[];
}

/** A session whose events were read, and its calls, each read once for all who look at them. */
export interface ReadSession {
  readonly session: SessionView;
  readonly events: readonly Event[];
  readonly calls: CallReader;
}

interface LearningDeps extends IngestDeps, LearnConsent {
  readonly home: Home;
  readonly observers: ObserverSource;
  readonly sessions: (
    paths?: readonly string[],
    options?: IngestOptions,
  ) => Promise<{ sessions: SessionView[]; unread: number }>;
  readonly agentTranscripts: () => Promise<readonly FoundFile[]>;
}

/** Hooks for sessions that were learned from. */
interface AfterLearning {
  /** Returns what records how sessions that were just looked at did with what they used. */
  creditSeen(options: Pick<IngestOptions, "until">): (seen: readonly ReadSession[]) => Promise<void>;
  /** Records what sessions used; returns how many were left for another time. */
  credit(sessions: readonly SessionView[], options: Pick<IngestOptions, "until">): Promise<{ left: number }>;
  deriveSignals(sessions: readonly SessionView[]): Promise<unknown>;
}

export function openLearning(deps: LearningDeps, after: AfterLearning) {
  const { store, observers, isRefused } = deps;
  return {
    /** Reads the same as `sessions` and keeps what is worth keeping as lessons; no skill or rule is written. */
    learn: (paths?: readonly string[], options?: LearnOptions) => learn(deps, after, paths, options),
    /** When something was last learned; null when nothing was. */
    learnedAt: () => store.ledger.lastNoted("session.learned"),
    /** Everything learned, the surest first. */
    lessons: () => store.learning.lessons.list(),
    /** The agents' transcripts, and what of them was read and looked through. */
    captured: async () => checkCaptured(store, await deps.agentTranscripts(), isRefused),
    /** Who looks at sessions, and what models cost. */
    model: () => observers.readState(),
    requestsWritten: observers.requestsWritten,
    /** US dollars that models cost since a time. */
    modelUsd: async (since: number) =>
      (await store.ledger.since("model.called", since)).reduce((sum, { data }) => sum + data.usd, 0),
    /** The latest model judgement of each session, newest first. */
    judged: async () => {
      const entries = await store.ledger.since("session.judged", 0);
      const latest = new Map(entries.map(({ session, data }) => [session ?? "", data]));
      return [...latest].map(([session, data]) => ({ ...data, session })).reverse();
    },
  };
}

/** Sessions recorded in one transaction, and events that are held until then. */
const sessionsAtOnce = 20;
const eventsAtOnce = 20_000;

/**
 * Looks for lessons in sessions that are new or have grown, and keeps them. May be called again, by several processes
 * at once, and be killed at any point: what a session taught is recorded whole, once.
 */
async function learn(
  deps: LearningDeps,
  after: AfterLearning,
  paths: readonly string[] | undefined,
  { onLook, lookUntil, fewestEvents, again = false, ...options }: LearnOptions = {},
): Promise<Learned> {
  const { home, store, clock, observers } = deps;
  // A settings file that may say "off" is read before anything else.
  resolveSettings(home, null);
  const { observer } = observers.choose();
  const { sessions, unread } = await deps.sessions(paths, options);
  const until = lookUntil ?? (() => false);
  const creditSeen = after.creditSeen({ until });
  const lessonsBefore = await store.learning.lessons.mark();
  const { eligible, skipped } = await selectSessions(
    sessions,
    fewestEvents ?? fewestSessionEvents,
    deps.isRefused,
  );
  // With requests as files, sessions that only rules have looked at are due too.
  const lookAgain = again ? "all" : observers.usesFiles ? "unjudged" : "none";
  const due = await findDue(store, eligible, lookAgain);
  const allDue = due.map(({ session }) => session);
  // A stop here also stops the loop below, before it reaches sessions without events.
  await restoreEvents(deps, allDue, until);
  const judged: (SessionJudgement & { session: TranscriptId })[] = [];
  let pending: (SessionResult & ReadSession)[] = [];
  let looked = 0;
  const flush = async () => {
    if (pending.length > 0) await recordResults(store, pending, clock.now());
    await creditSeen(pending);
    pending = [];
  };
  for (const one of due) {
    if (until()) break;
    const result = await observeSession(store, observer, one);
    pending.push(result);
    if (result.judged) judged.push({ ...result.judged, pass: one.pass, session: one.session.id });
    looked++;
    const events = pending.reduce((sum, each) => sum + each.events.length, 0);
    // What was paid for is kept at once.
    if (result.judged || pending.length >= sessionsAtOnce || events >= eventsAtOnce) await flush();
    onLook?.(looked, due.length);
  }
  await flush();
  const found = await store.learning.findings.ofSessions(eligible.map(({ id }) => id));
  const findings = (await withoutUnconfirmed(store, found)).sort(compareStored);
  // Projects are compared only when one of them has something new.
  const isNews = looked > 0 && (await store.learning.lessons.mark()) !== lessonsBefore;
  const shared = (isNews ? await openLessons(deps).promoteDue() : []).filter(
    ({ verdict }) => verdict.do === "promote",
  );
  const { left: uncredited } = await after.credit(sessions, { until });
  await after.deriveSignals(allDue.slice(0, looked));
  return {
    ...{ sessions, findings, skipped, judged, looked, unlooked: due.length - looked, uncredited, unread },
    promoted: shared.map(({ lesson: { id, name } }) => ({ id, name })),
  };
}

async function selectSessions(
  sessions: readonly SessionView[],
  fewest: number,
  isRefused: LearnConsent["isRefused"],
) {
  const skipped: { what: string; because: string }[] = [];
  const eligible: SessionView[] = [];
  for (const session of sessions) {
    const isShort = session.counts.events < fewest;
    const because = isShort ? `fewer than ${fewest} events` : await isRefused(session);
    if (because === null) eligible.push(session);
    else skipped.push({ what: session.path, because });
  }
  return { eligible, skipped };
}

interface SessionResult extends SessionToLearn, Awaited<ReturnType<Observer["observe"]>> {
  readonly uses: readonly CallUse[];
}

async function observeSession(
  store: Store,
  observer: Observer,
  { session, mark, pass }: SessionToLearn,
): Promise<SessionResult & ReadSession> {
  const events = await readEvents(store, session);
  const calls = new CallReader();
  const [last] =
    observer.name === "model" && pass > 1 ? await store.ledger.get([`judged:${session.id}@${pass - 1}`]) : [];
  const { findings, judged } = await observer.observe(selectOwnEvents(session, events), {
    ...{ project: session.project.id, session: session.id, calls },
    before: last?.type === "session.judged" ? last.data : null,
  });
  // The mark says who looked, too: a model that judged everything, or one that could not and is waited for.
  const by = judged === null ? ":" : judged.fellBack === null ? "+model:" : "+waiting:";
  const marked = mark.replace(":", by);
  return { session, events, calls, mark: marked, pass, findings, judged, uses: calls.uses(events) };
}

/** The findings that stand on their own, or that another session agrees with. */
export async function withoutUnconfirmed(
  { learning }: Store,
  findings: readonly StoredFinding[],
): Promise<StoredFinding[]> {
  const lessons = await learning.lessons.get([...new Set(findings.map(({ lessonId }) => lessonId))]);
  const unconfirmed = new Set(lessons.filter((one) => isUnconfirmed(one)).map(({ id }) => id));
  const told = findings.filter(({ lessonId }) => !unconfirmed.has(lessonId));
  // A command of which a procedure of the same session tells is told with it.
  const words = ({ session, finding }: StoredFinding) =>
    [...extractGist(finding).all].map((word) => `${session} ${word}`);
  const steps = new Set(told.flatMap((one) => (one.finding.kind === "multi-step" ? words(one) : [])));
  const isStep = (one: StoredFinding) => words(one).some((word) => steps.has(word));
  return told.filter((one) => one.finding.kind !== "repeated-action" || !isStep(one));
}

function compareStored(a: StoredFinding, b: StoredFinding): number {
  return b.finding.confidence - a.finding.confidence || a.at - b.at || (a.id < b.id ? -1 : 1);
}

/**
 * The events that may be learned from: without the prompts that another agent wrote, which are no person's words, and
 * without what an agent does for Knack.
 */
export function selectOwnEvents({ subagent }: SessionView, events: readonly Event[]): Event[] {
  return events.filter((event) =>
    event.kind === "prompt" ? !(subagent || event.sidechain) : !isOwnCall(event),
  );
}

// --- What is recorded ---

/** Records what sessions taught, each unless another process was quicker. */
async function recordResults(store: Store, results: readonly SessionResult[], now: number): Promise<void> {
  await store.transaction(async (tx) => {
    const ids = results.map(({ session }) => session.id);
    const passes = new Map((await tx.learning.learned.of(ids)).map((row) => [row.session, row.pass]));
    const mine = results.filter(({ session, pass }) => (passes.get(session.id) ?? 0) === pass - 1);
    const known = await tx.learning.findings.ofSessions(mine.map(({ session }) => session.id));
    const knownIn = ({ id }: SessionView) => known.filter(({ session }) => session === id);
    const entries = mine.flatMap((result) => makeEntries(result, now, knownIn(result.session)));
    await recordEntries(tx, entries);
  });
}

/** The ledger entries of one look at a session: new and changed findings, withdrawn ones, the judgement, the look itself. */
function makeEntries(
  { session, mark, pass, findings, judged, uses }: SessionResult,
  now: number,
  known: readonly StoredFinding[],
): LedgerEntry[] {
  const at = session.startedAt ?? 0;
  const run = getSessionId(session);
  const common = { project: session.project.id, session: session.id, actor: "knack", at } as const;
  const before = new Map(known.map((stored) => [stored.id, stored]));
  const still = new Set(findings.map((finding) => findingId(session, finding)));
  const made = findings.flatMap((finding): LedgerEntry[] => {
    const id = findingId(session, finding);
    const stored = before.get(id);
    if (stored && JSON.stringify(stored.finding) === JSON.stringify(finding)) return [];
    // Lessons of a person are compared with all of that person's, others with their project's.
    const scopeId = finding.scope === "user" ? "user" : session.project.id;
    const data = { id, pass, run, scopeId, foundAt: stored?.foundAt ?? now, finding };
    return [{ ...common, at: finding.at ?? at, type: "finding.made", key: `finding:${id}@${pass}`, data }];
  });
  const withdrawn = known
    .filter(({ id }) => !still.has(id))
    .map(
      ({ id }) =>
        ({ type: "finding.withdrawn", key: `withdrawn:${id}@${pass}`, data: { id, pass } }) as const,
    );
  const key = `${session.id}@${pass}`;
  return [
    ...made,
    ...withdrawn.map((entry) => ({ ...common, ...entry })),
    ...(judged
      ? [
          {
            ...common,
            at: now,
            type: "session.judged" as const,
            key: `judged:${key}`,
            data: { ...judged, pass },
          },
        ]
      : []),
    { ...common, type: "session.learned", key: `learned:${key}`, data: { pass, mark, run, uses } },
  ];
}

/** Lessons of a session by the rules alone, without a store, as a replay of history needs them. */
interface RuleLearning {
  /** The events that may be learned from. */
  readonly events: readonly Event[];
  readonly recoveries: readonly Recovery[];
  readonly findings: readonly Finding[];
  readonly entries: readonly LedgerEntry[];
  /** Too short a session is not learned from. */
  readonly isLearnedFrom: boolean;
}

export function learnByRules(session: SessionView, all: readonly Event[], now: number): RuleLearning {
  const events = selectOwnEvents(session, all);
  const calls = new CallReader();
  const analyzed = analyzeSession(events, calls);
  const isLearnedFrom = session.counts.events >= fewestSessionEvents;
  const findings = isLearnedFrom ? runDetectors(analyzed) : [];
  const uses = isLearnedFrom ? calls.uses(events) : [];
  const entries = makeEntries({ session, mark: "", pass: 1, findings, judged: null, uses }, now, []);
  return { events, recoveries: analyzed.recoveries, findings, entries, isLearnedFrom };
}

/** The id of a finding: the same for the same kind at the same place. */
export function findingId({ id }: SessionView, { kind, refs }: Finding): string {
  return makeId("i", `${id} ${kind} ${refs[0]}`);
}

// --- What is due ---

/** Sessions with fewer events are read but not learned from. */
const fewestSessionEvents = 10;

/** A session to be looked at; the mark stands for its content and for who looked. */
interface SessionToLearn {
  readonly session: SessionView;
  readonly mark: string;
  readonly pass: number;
}

/**
 * The sessions that have something to say that was not looked at yet; `again` those too that no model has judged, or
 * all.
 */
async function findDue(
  store: Store,
  sessions: readonly SessionView[],
  again: "none" | "unjudged" | "all",
): Promise<SessionToLearn[]> {
  const ids = sessions.map(({ id }) => id);
  const known = new Map((await store.learning.learned.of(ids)).map((row) => [row.session, row]));
  const readings = new Map((await store.readings.of(listPaths(sessions))).map((row) => [row.path, row]));
  return sessions.flatMap((session) => {
    const marks = [session, ...session.alsoFrom].flatMap(({ id, path }) => {
      const reading = readings.get(path);
      return reading ? getReadMark(reading, id) : [];
    });
    const mark = `${detectorsVersion}:${marks.join()}`;
    const row = known.get(session.id);
    const isSeen = row && again !== "all" && readContent(row.mark) === readContent(mark);
    // Another observer alone makes nothing new, or everything would be judged, and paid for, after a change of
    // settings; what a model judged stands also when the rules change.
    const isJudged = /^\d+\+model:/.test(row?.mark ?? "");
    const isCurrentRules = Number.parseInt(row?.mark ?? "", 10) === detectorsVersion;
    if (isSeen && (isJudged || (again === "none" && isCurrentRules))) return [];
    return [{ session, mark, pass: (row?.pass ?? 0) + 1 }];
  });
}

/** The part of a mark that stands for the session's content. */
function readContent(mark: string): string {
  return mark.slice(mark.indexOf(":"));
}

function listPaths(sessions: readonly SessionView[]): string[] {
  return [...new Set(sessions.flatMap((one) => [one.path, ...one.alsoFrom.map(({ path }) => path)]))];
}

/** Events are only a cache: those of these sessions that are gone are read from their transcripts once more. */
export async function restoreEvents(
  deps: IngestDeps,
  sessions: readonly SessionView[],
  until: () => boolean = () => false,
): Promise<void> {
  const readings = await deps.store.readings.of(listPaths(sessions));
  const purged = readings.filter(({ cachedAt, format }) => cachedAt === null && format !== null);
  const files = purged.map(({ path, size, modifiedAt }) => ({ path, size, modifiedAt }));
  if (files.length > 0) await ingest(deps, files, { refresh: true, until });
}

/** A transcript on disk, and its status. */
export interface Capture extends FoundFile {
  /** Whether it was read as it is now. */
  readonly isRead: boolean;
  /** How many of its bytes were read. */
  readonly readTo: number;
  /** Whether what was read of it has something to say that was not looked through. */
  readonly isDue: boolean;
}

/** Tells which of these files were read, and which sessions in them still have to be looked at. */
async function checkCaptured(
  store: Store,
  files: readonly FoundFile[],
  isRefused: LearnConsent["isRefused"],
): Promise<Capture[]> {
  const paths = files.map(({ path }) => path);
  const readings = new Map((await store.readings.of(paths)).map((reading) => [reading.path, reading]));
  const sessions = await viewSessions(store, paths);
  const { eligible } = await selectSessions(sessions, fewestSessionEvents, isRefused);
  const due = await findDue(store, eligible, "none");
  const rows = await store.learning.learned.of(due.map(({ session }) => session.id));
  // What only newer detectors have not seen was looked through.
  const seen = new Set(rows.map(({ session, mark }) => `${session} ${readContent(mark)}`));
  const unseen = due.filter(({ session, mark }) => !seen.has(`${session.id} ${readContent(mark)}`));
  const unseenPaths = new Set(unseen.map(({ session }) => session.path));
  return files.map((file) => {
    const reading = readings.get(file.path);
    const isRead = reading !== undefined && isCurrent(reading, file, false);
    return { ...file, isRead, readTo: reading?.position.offset ?? 0, isDue: unseenPaths.has(file.path) };
  });
}

// --- What may be learned from ---

/** Learning permissions under the current settings. */
export interface LearnConsent {
  /** Why nothing is learned in a project; null where it is. */
  refuses(root: string | null, id: string): Promise<string | null>;
  /** Why a session is not learned from; null where it is. */
  isRefused(session: Pick<SessionView, "cwd" | "project">): Promise<string | null>;
  /** Those of the sessions that are learned from. */
  learnable(sessions: readonly SessionView[]): Promise<SessionView[]>;
}

export function createConsent(home: Home): LearnConsent {
  const refuses: LearnConsent["refuses"] = async (root, id) => whyNotLearn(home, root, id);
  const isRefused: LearnConsent["isRefused"] = async ({ cwd, project }) =>
    cwd !== null && isBelowHome(home, cwd) ? "Knack's own work" : refuses(project.root, project.id);
  const learnable = async (sessions: readonly SessionView[]) =>
    (await selectSessions(sessions, 0, isRefused)).eligible;
  return { refuses, isRefused, learnable };
}
