import { makeId } from "../base/index.ts";
import { CallReader, isOwnCall, listTroubles, type Recovery } from "../failures/index.ts";
import { extractGist, isUnconfirmed, openLessons, recordEntries } from "../lessons/index.ts";
import {
  type CallUse,
  type Doubt,
  type Event,
  type Finding,
  findOwnCheckouts,
  getSessionId,
  isPersons,
  isSaid,
  type Lead,
  type LedgerEntry,
  type LessonId,
  type Session,
  type SessionJudgement,
  type StoredFinding,
  type TranscriptId,
  type Trouble,
} from "../records/index.ts";
import { type Home, isBelowHome, resolveSettings, whyNotLearn } from "../settings/index.ts";
import type { Store } from "../store/index.ts";
import {
  divideSession,
  type FoundFile,
  getReadMark,
  type IngestDeps,
  type IngestOptions,
  ingest,
  isCurrent,
  isInPart,
  namePart,
  readEvents,
  type SessionView,
  viewSessions,
} from "../transcripts/index.ts";
import {
  findDoubt,
  findForeignBranches,
  findMergedBranches,
  isFromOutside,
  listTracedWords,
} from "../trust/index.ts";
import { createMeter } from "./dossier.ts";
import { settleFindings, type Verdict } from "./judge.ts";
import { findCertain, rulesVersion } from "./leads/certain.ts";
import { findLeads } from "./leads/find-leads.ts";

type LearnOptions = IngestOptions & {
  readonly onLook?: (done: number, all: number) => void;
  /** When to stop looking: what was looked at until then is kept, and the rest is left for another time. */
  readonly lookUntil?: () => boolean;
  /** Also sessions in which nothing is new. */
  readonly again?: boolean;
};

export interface Learned {
  readonly sessions: readonly SessionView[];
  /** Every finding of these sessions that is confirmed or sure enough, whenever it was found; best first. */
  readonly findings: readonly StoredFinding[];
  /** The leads of these sessions, judged or not. */
  readonly leads: readonly SessionLead[];
  readonly skipped: readonly { readonly what: string; readonly because: string }[];
  /** The sessions, of long ones only the parts that were looked at and the last two. */
  readonly latest: readonly SessionView[];
  /** How many sessions had something new, and how many more were left for lack of time. */
  readonly looked: number;
  readonly unlooked: number;
  /** How many sessions were not credited, and how many transcripts not read, for lack of time. */
  readonly uncredited: number;
  readonly unread: number;
  /** The lessons that apply in every project from now on. */
  readonly promoted: readonly { readonly id: string; readonly name: string }[];
}

/** A session whose events were read, and its calls, each read once for all who look at them. */
export interface ReadSession {
  readonly session: SessionView;
  readonly events: readonly Event[];
  readonly calls: CallReader;
}

/** A lead and the session it is in. */
export interface SessionLead {
  readonly session: TranscriptId;
  readonly part: number;
  readonly lead: Lead;
  readonly isJudged: boolean;
}

interface LearningDeps extends IngestDeps, LearnConsent {
  readonly home: Home;
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
  const { store, isRefused } = deps;
  return {
    /** Reads the same as `sessions` and notes what rules find there; no skill or rule is written. */
    learn: (paths?: readonly string[], options?: LearnOptions) => learn(deps, after, paths, options),
    /** The findings of these sessions that may be shown, best first. */
    shownFindings: (sessions: readonly SessionView[]) => listShown(store, sessions),
    /** When something was last learned; null when nothing was. */
    learnedAt: () => store.ledger.lastNoted("session.learned"),
    /** Everything learned, the surest first. */
    lessons: () => store.learning.lessons.list(),
    /** The agents' transcripts, and what of them was read and looked through. */
    captured: async () => checkCaptured(store, await deps.agentTranscripts(), isRefused),
  };
}

/**
 * Looks for lessons and leads in sessions that are new or have grown, by rules. May be called again, by several
 * processes at once, and be killed at any point: what a session taught is recorded whole, once.
 */
async function learn(
  deps: LearningDeps,
  after: AfterLearning,
  paths: readonly string[] | undefined,
  { onLook, lookUntil, again = false, ...options }: LearnOptions = {},
): Promise<Learned> {
  const { home, store } = deps;
  // A settings file that may say "off" is read before anything else.
  resolveSettings(home, null);
  const { sessions, unread } = await deps.sessions(paths, options);
  const until = lookUntil ?? (() => false);
  const creditSeen = after.creditSeen({ until });
  const lessonsBefore = await store.learning.lessons.mark();
  const { eligible, skipped } = await selectSessions(sessions, deps.isRefused);
  const due = await findReadable(deps, await findDue(store, eligible, again), again, until);
  const looked = await lookAtAll(deps, due, { until, onLook, creditSeen });
  // Projects are compared only when one of them has something new.
  const isNews = looked > 0 && (await store.learning.lessons.mark()) !== lessonsBefore;
  const shared = (isNews ? await openLessons(deps).promoteDue() : []).filter(
    ({ verdict }) => verdict.do === "promote",
  );
  const { left: uncredited } = await after.credit(sessions, { until });
  await after.deriveSignals(due.slice(0, looked).map(({ session }) => session));
  return {
    ...{ sessions, skipped, looked, unlooked: due.length - looked, uncredited, unread },
    findings: await listShown(store, eligible),
    leads: await listSessionLeads(store, eligible),
    latest: await listLatest(store, sessions, due.slice(0, looked)),
    promoted: shared.map(({ lesson: { id, name } }) => ({ id, name })),
  };
}

/** Sessions recorded in one transaction, and events that are held until then. */
const sessionsAtOnce = 20;
const eventsAtOnce = 20_000;

interface Looking {
  readonly onLook: LearnOptions["onLook"];
  readonly until: () => boolean;
  readonly creditSeen: ReturnType<AfterLearning["creditSeen"]>;
}

/** Looks at sessions until it is time to stop, and records what they teach, some at a time; returns how many. */
async function lookAtAll(
  deps: LearningDeps,
  due: readonly SessionToLearn[],
  { until, onLook, creditSeen }: Looking,
): Promise<number> {
  const { store, clock } = deps;
  let pending: SessionResult[] = [];
  let looked = 0;
  const flush = async () => {
    if (pending.length > 0) await recordResults(store, pending, clock.now());
    await creditSeen(pending);
    pending = [];
  };
  for (const one of due) {
    if (until()) break;
    pending.push(await lookAt(store, one));
    looked++;
    const events = pending.reduce((sum, each) => sum + each.events.length, 0);
    if (pending.length >= sessionsAtOnce || events >= eventsAtOnce) await flush();
    onLook?.(looked, due.length);
  }
  await flush();
  return looked;
}

/** The leads of sessions, in the order of these, and whether somebody judged them. */
export async function listSessionLeads(
  store: Store,
  sessions: readonly SessionView[],
): Promise<SessionLead[]> {
  const rows = await store.learning.learned.of(sessions.map(({ id }) => id));
  const verdicts = new Map(
    (await store.ledger.get(rows.flatMap(({ judged }) => judged ?? []))).flatMap((entry) =>
      entry.type === "session.judged" ? [[entry.key, entry.data] as const] : [],
    ),
  );
  const bySession = groupBySession(rows);
  return sessions.flatMap(({ id }) =>
    (bySession.get(id) ?? []).flatMap(({ part, leads, judged }) => {
      const done = new Set(verdicts.get(judged ?? "")?.leads);
      return (JSON.parse(leads) as Lead[]).map((lead) => {
        return { session: id, part, lead, isJudged: done.has(lead.id) };
      });
    }),
  );
}

function groupBySession<Row extends { readonly session: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.session);
    if (group) group.push(row);
    else groups.set(row.session, [row]);
  }
  return groups;
}

async function listShown(store: Store, sessions: readonly SessionView[]): Promise<StoredFinding[]> {
  const found = await store.learning.findings.ofSessions(sessions.map(({ id }) => id));
  return (await withoutUnconfirmed(store, found)).sort(compareStored);
}

async function selectSessions(sessions: readonly SessionView[], isRefused: LearnConsent["isRefused"]) {
  const skipped: { what: string; because: string }[] = [];
  const eligible: SessionView[] = [];
  for (const session of sessions) {
    const because = await isRefused(session);
    if (because === null) eligible.push(session);
    else skipped.push({ what: session.path, because });
  }
  return { eligible, skipped };
}

/** The result of one look at a session, by rules or by a judge. */
export interface SessionResult extends SessionToLearn, ReadSession {
  readonly findings: readonly Finding[];
  readonly leads: readonly Lead[];
  readonly uses: readonly CallUse[];
  readonly troubles: readonly Trouble[];
  /** The judge's word so far, and the key of its entry. */
  readonly verdict: Verdict | null;
  readonly judged: string | null;
  /** The judge's word, where it is new. */
  readonly judgement?: SessionJudgement;
}

async function lookAt(store: Store, due: SessionToLearn): Promise<SessionResult> {
  const read = await readForLearning(store, due.session);
  const { events, calls, own, leads, troubles } = read;
  const verdict = await loadVerdict(store, due.judged);
  const findings = await settle(store, due.session, read, verdict);
  return { ...due, events, calls, findings, leads, verdict, troubles, uses: calls.uses(own) };
}

/** A session's events, and what rules make of them. */
export async function readForLearning(store: Store, session: SessionView) {
  const events = await readEvents(store, session);
  const calls = new CallReader();
  const own = selectOwnEvents(session, events);
  const troubles = listTroubles(calls.recoveries(own), own, calls);
  return { events, calls, own, troubles, byRules: findCertain(own, calls), leads: findLeads(own, calls) };
}

/** The findings of a session, with the judge's verdicts. */
export async function settle(
  store: Store,
  session: SessionView,
  read: Pick<Awaited<ReturnType<typeof readForLearning>>, "byRules" | "leads" | "events">,
  verdict: Verdict | null,
): Promise<Finding[]> {
  const { findings, decisions } = store.learning;
  const ids = verdict === null ? [] : read.byRules.map((one) => findingId(session, one));
  const lessonIds = await findings.lessonIds(ids);
  const all = await decisions.ofLessons([...new Set(lessonIds.values())]);
  const isDecided = (lessonId: LessonId | undefined) =>
    lessonId !== undefined && all.get(lessonId)?.some(({ actor }) => actor === "person") === true;
  const decided = read.byRules.filter((one) => isDecided(lessonIds.get(findingId(session, one))));
  const taught = settleFindings(read, verdict, decided);
  const earlier = await findEarlier(store, session, taught, read.events);
  return markDoubts(taught, [...earlier, ...read.events], session);
}

/** Events of the earlier parts of a long session that are looked at. */
const mostEarlier = 1_000;

/** The findings of the earlier parts of a long session. */
async function findEarlier(
  { events }: Store,
  session: SessionView,
  findings: readonly Finding[],
  read: readonly Event[],
): Promise<Event[]> {
  const { id, part, project, cwd } = session;
  if (part === undefined || part.after === 0) return [];
  const words = findings.flatMap((finding) => listTracedWords(finding, read, project.root ?? cwd));
  return events.mentioning(id, part.after, [...new Set(words)].slice(0, mostEarlier), mostEarlier);
}

/** Findings with what speaks against telling agents of them before a person accepts them. */
function markDoubts(
  findings: readonly Finding[],
  events: readonly Event[],
  { project: { root }, cwd, subagent }: SessionView,
): Finding[] {
  // What its parent asks of a subagent may be anybody's words, which only the parent's transcript tells.
  const seen = subagent ? events.map((event) => ({ ...event, given: "program" as const })) : events;
  const branches = findForeignBranches(events);
  return findings.map((finding) => {
    if (isSaid(finding.kind)) return finding;
    const branch = finding.refs.flatMap((ref) => branches.get(ref) ?? [])[0];
    const onBranch: Doubt | null =
      branch === undefined ? null : { kind: "branch", from: "repository", words: branch };
    const doubt = findDoubt(finding, seen, root ?? cwd) ?? onBranch;
    return doubt === null ? finding : { ...finding, doubt };
  });
}

/** The judge's word under the key of its entry. */
export async function loadVerdict(store: Store, key: string | null): Promise<SessionJudgement | null> {
  const [entry] = key === null ? [] : await store.ledger.get([key]);
  return entry?.type === "session.judged" ? entry.data : null;
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
 * The events that may be learned from: without the prompts that a program or another agent wrote, which are no person's
 * words, and without what an agent does for Knack.
 */
export function selectOwnEvents({ subagent }: SessionView, events: readonly Event[]): Event[] {
  return events.filter((event) =>
    event.kind === "prompt" ? isPersons(event) && !subagent : !isOwnCall(event),
  );
}

// --- What is recorded ---

/** Records what sessions taught, each unless another process was quicker; answers with those that were recorded. */
export async function recordResults(
  store: Store,
  results: readonly SessionResult[],
  now: number,
): Promise<readonly SessionResult[]> {
  return store.transaction(async (tx) => {
    const ids = [...new Set(results.map(({ session }) => session.id))];
    const rows = await tx.learning.learned.of(ids);
    const passes = new Map(
      rows.map(({ session: id, part: n, pass }) => [namePart({ id, part: { n } }), pass]),
    );
    const mine = results.filter(({ session, pass }) => (passes.get(namePart(session)) ?? 0) === pass - 1);
    const known = await tx.learning.findings.ofSessions(ids);
    const knownIn = ({ id, part }: SessionView) =>
      known.filter(({ session, finding }) => session === id && isInPart(finding.refs[0] ?? "", part));
    const entries = mine.flatMap((result) => makeEntries(result, now, knownIn(result.session)));
    await recordEntries(tx, [...entries, ...(await makeMergedEntries(tx, mine))]);
    return mine;
  });
}

/** What sessions merged, where the person works: any folder can claim the remote of another. */
async function makeMergedEntries(tx: Store, results: readonly SessionResult[]): Promise<LedgerEntry[]> {
  const merged = results.flatMap(({ session, events }) =>
    [...findMergedBranches(events)].map((name) => ({ session, name })),
  );
  if (merged.length === 0) return [];
  const own = findOwnCheckouts(await tx.sessions.places());
  return merged.flatMap(({ session, name }) => {
    const { id, root } = session.project;
    const key = `branch-merged:${id}:${name}`;
    const isOwn = root === null || root === id || own.has(root);
    return isOwn ? { ...describeOrigin(session), type: "branch.merged" as const, key, data: { name } } : [];
  });
}

type Recorded = Omit<SessionResult, "events" | "calls"> & Partial<Pick<SessionResult, "events">>;

/** The ledger entries of one look at a session: new and changed findings, withdrawn ones, the judgement, the look itself. */
function makeEntries(result: Recorded, now: number, known: readonly StoredFinding[]): LedgerEntry[] {
  const { session, mark, pass, judgement, leads, uses, troubles } = result;
  const common = describeOrigin(session);
  const { n: part = 0 } = session.part ?? {};
  const key = `${namePart(session)}@${pass}`;
  const judged = judgement ? `judged:${key}` : result.judged;
  const run = getSessionId(session);
  const data = {
    pass,
    ...(part === 0 ? {} : { part }),
    mark,
    run,
    uses,
    troubles,
    leads,
    ...measureWaiting(result),
    judged,
  };
  return [
    ...makeFindingEntries(result, now, known),
    ...(judgement
      ? [{ ...common, at: now, type: "session.judged" as const, key: `judged:${key}`, data: judgement }]
      : []),
    { ...common, type: "session.learned", key: `learned:${key}`, data },
  ];
}

function describeOrigin({ id, project, startedAt }: SessionView) {
  return { project: project.id, session: id, actor: "knack", at: startedAt ?? 0 } as const;
}

function makeFindingEntries(
  { session, pass, findings }: Recorded,
  now: number,
  known: readonly StoredFinding[],
): LedgerEntry[] {
  const common = describeOrigin(session);
  const run = getSessionId(session);
  const before = new Map(known.map((stored) => [stored.id, stored]));
  const still = new Set(findings.map((finding) => findingId(session, finding)));
  const made = findings.flatMap((finding): LedgerEntry[] => {
    const id = findingId(session, finding);
    const stored = before.get(id);
    const isKnown = stored && stored.project === session.project.id;
    if (isKnown && JSON.stringify(stored.finding) === JSON.stringify(finding)) return [];
    // Lessons of a person are compared with all of that person's, others with their project's.
    const scopeId = finding.scope === "user" ? "user" : session.project.id;
    const data = { id, pass, run, scopeId, foundAt: stored?.foundAt ?? now, finding };
    const at = finding.at ?? common.at;
    return [{ ...common, at, type: "finding.made", key: `finding:${id}@${pass}`, data }];
  });
  const withdrawn = known.flatMap(({ id }): LedgerEntry[] =>
    still.has(id)
      ? []
      : [{ ...common, type: "finding.withdrawn", key: `withdrawn:${id}@${pass}`, data: { id, pass } }],
  );
  return [...made, ...withdrawn];
}

/** How many leads nobody judged, and the characters of their episodes. */
function measureWaiting({ leads, verdict, events = [] }: Recorded): { waiting: number; size: number } {
  const waiting = leads.filter(({ id }) => !verdict?.leads.includes(id));
  return { waiting: waiting.length, size: createMeter(events)(waiting) };
}

/** Lessons of a session by the rules alone, without a store, as a replay of history needs them. */
interface RuleLearning {
  /** The events that may be learned from. */
  readonly events: readonly Event[];
  readonly recoveries: readonly Recovery[];
  readonly findings: readonly Finding[];
  readonly troubles: readonly Trouble[];
  readonly uses: readonly CallUse[];
  readonly entries: readonly LedgerEntry[];
}

export function learnByRules(session: SessionView, all: readonly Event[], now: number): RuleLearning {
  const events = selectOwnEvents(session, all);
  const calls = new CallReader();
  const findings = markDoubts(findCertain(events, calls), all, session);
  const uses = calls.uses(events);
  const recoveries = calls.recoveries(events);
  const troubles = listTroubles(recoveries, events, calls);
  const none = { leads: [], verdict: null, judged: null };
  const look = { session, mark: "", pass: 1, findings, uses, troubles, ...none };
  return { events, recoveries, findings, troubles, uses, entries: makeEntries(look, now, []) };
}

/** The id of a finding: the same for the same kind at the same place. */
export function findingId({ id }: SessionView, { kind, refs, by, lesson }: Finding): string {
  // A judge may say two things about one event.
  return makeId("i", by === "judge" ? `${id} ${kind} ${refs[0]} ${lesson}` : `${id} ${kind} ${refs[0]}`);
}

// --- What is due ---

/** A session to be looked at; the mark stands for its content and for the rules that looked. */
interface SessionToLearn {
  readonly session: SessionView;
  readonly mark: string;
  readonly pass: number;
  /** The key of the entry with the judge's word so far. */
  readonly judged: string | null;
}

/** The sessions that have something to say that was not looked at yet; with `again` all. */
async function findDue(
  store: Store,
  sessions: readonly SessionView[],
  again: boolean,
): Promise<SessionToLearn[]> {
  const ids = sessions.map(({ id }) => id);
  const known = groupBySession(await store.learning.learned.of(ids));
  const readings = new Map((await store.readings.of(listPaths(sessions))).map((row) => [row.path, row]));
  const markOf = (session: SessionView) => {
    const marks = [session, ...session.alsoFrom].flatMap(({ id, path }) => {
      const reading = readings.get(path);
      return reading ? getReadMark(reading, id, session.part) : [];
    });
    // A remote that comes to light later makes it a session of another project.
    return `${rulesVersion}-${makeId("p", session.project.id)}:${marks.join()}`;
  };
  const due: SessionToLearn[] = [];
  for (const session of sessions) {
    const rows = known.get(session.id) ?? [];
    // Without its events the last part says whether anything is new.
    const isPurged = readings.get(session.path)?.cachedAt === null;
    if (isPurged && !again && rows.at(-1)?.mark === markOf(session)) continue;
    const parts = await divideSession(store, session, readings.get(session.path));
    for (const one of [...parts, ...listGone(session, parts.length, rows.length)]) {
      const row = rows[one.part?.n ?? 0];
      const mark = isGone(one) ? goneMark : markOf(one);
      if (row?.mark === mark && (!again || isGone(one))) continue;
      due.push({ session: one, mark, pass: (row?.pass ?? 0) + 1, judged: row?.judged ?? null });
    }
  }
  return due;
}

/** The mark of a part that a session no longer has: it was rewritten and is shorter, or is no longer divided. */
const goneMark = "gone";

/** Parts that nothing is in, in place of those that a session had once. */
function listGone(session: SessionView, from: number, to: number): SessionView[] {
  const empty = { after: 0, until: 0 };
  return Array.from({ length: Math.max(0, to - from) }, (_, at) => {
    return { ...session, part: { n: from + at, ...empty } };
  });
}

function isGone({ part }: SessionView): boolean {
  return part?.until === 0;
}

/** The sessions that are due, once the events are there by which long sessions are divided. */
async function findReadable(
  deps: IngestDeps,
  due: readonly SessionToLearn[],
  again: boolean,
  until: () => boolean,
): Promise<readonly SessionToLearn[]> {
  const sessions = due.map(({ session }) => session);
  if (!(await restoreEvents(deps, sessions, until))) return due;
  return findDue(deps.store, [...new Map(sessions.map((one) => [one.id, one])).values()], again);
}

/** The parts of sessions that were just looked at, and the last two of each: a worker may have been killed after one. */
async function listLatest(
  store: Store,
  sessions: readonly SessionView[],
  looked: readonly SessionToLearn[],
): Promise<SessionView[]> {
  const fresh = new Set(looked.map(({ session }) => namePart(session)));
  const readings = new Map((await store.readings.of(listPaths(sessions))).map((row) => [row.path, row]));
  const all = await Promise.all(
    sessions.map((session) => divideSession(store, session, readings.get(session.path))),
  );
  return all.flatMap((parts) =>
    parts.filter((part, n) => n >= parts.length - 2 || fresh.has(namePart(part))),
  );
}

/** The part of a mark that stands for the session's content. */
function readContent(mark: string): string {
  return mark.slice(mark.indexOf(":"));
}

function listPaths(sessions: readonly SessionView[]): string[] {
  return [...new Set(sessions.flatMap((one) => [one.path, ...one.alsoFrom.map(({ path }) => path)]))];
}

/** Events are only a cache: those of these sessions that are gone are read from their transcripts once more; whether any were. */
export async function restoreEvents(
  deps: IngestDeps,
  sessions: readonly SessionView[],
  until: () => boolean = () => false,
): Promise<boolean> {
  const readings = await deps.store.readings.of(listPaths(sessions));
  const purged = readings.filter(({ cachedAt, format }) => cachedAt === null && format !== null);
  const files = purged.map(({ path, size, modifiedAt }) => ({ path, size, modifiedAt }));
  if (files.length > 0) await ingest(deps, files, { refresh: true, until });
  return files.length > 0;
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
  const { eligible } = await selectSessions(sessions, isRefused);
  const due = await findDue(store, eligible, false);
  const rows = await store.learning.learned.of(due.map(({ session }) => session.id));
  // What only newer detectors have not seen was looked through.
  const seen = new Set(
    rows.map(
      ({ session, part, mark }) => `${namePart({ id: session, part: { n: part } })} ${readContent(mark)}`,
    ),
  );
  const unseen = due.filter(({ session, mark }) => !seen.has(`${namePart(session)} ${readContent(mark)}`));
  const unseenPaths = new Set(unseen.map(({ session }) => session.path));
  return files.map((file) => {
    const reading = readings.get(file.path);
    const isRead = reading !== undefined && isCurrent(reading, file, false);
    return { ...file, isRead, readTo: reading?.position.offset ?? 0, isDue: unseenPaths.has(file.path) };
  });
}

// --- What may be learned from ---

/** Whether a session or one of its subagents, which tell it what they read, used the web or a server. */
async function usedOutside(store: Store, session: Pick<Session, "sessionId" | "id">): Promise<boolean> {
  const run = getSessionId(session);
  const recordings = (await store.sessions.list()).filter((one) => getSessionId(one) === run);
  for (const { id } of recordings)
    if ((await store.events.outline(id, 1, Number.MAX_SAFE_INTEGER)).some(isFromOutside)) return true;
  return false;
}

/** Learning permissions under the current settings. */
export interface LearnConsent {
  /** Why nothing is learned in a project; null where it is. */
  refuses(root: string | null, id: string): Promise<string | null>;
  /** Why a session is not learned from; null where it is. */
  isRefused(session: Pick<Session, "cwd" | "project" | "sessionId" | "id">): Promise<string | null>;
  /** Those of the sessions that are learned from. */
  learnable(sessions: readonly SessionView[]): Promise<SessionView[]>;
}

export function createConsent(home: Home, store: Store): LearnConsent {
  const refuses: LearnConsent["refuses"] = async (root, id) => whyNotLearn(home, root, id);
  // What a person allowed for a repository holds in their own checkouts of it.
  const refuseHere = async ({ root, id }: Session["project"]) => {
    const [named, alone] = [await refuses(root, id), await refuses(root, root ?? id)];
    if (root === null || named === alone) return named;
    return findOwnCheckouts(await store.sessions.places()).has(root) ? named : (named ?? alone);
  };
  const isRefused: LearnConsent["isRefused"] = async (session) => {
    const { cwd, project } = session;
    if (cwd !== null && isBelowHome(home, cwd)) return "Knack's own work";
    const because = await refuseHere(project);
    if (because !== null || resolveSettings(home, null)["learn.web"]) return because;
    return (await usedOutside(store, session)) ? "it used the web or an MCP server" : null;
  };
  const learnable = async (sessions: readonly SessionView[]) =>
    (await selectSessions(sessions, isRefused)).eligible;
  return { refuses, isRefused, learnable };
}
