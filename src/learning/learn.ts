import { makeId } from "../base/index.ts";
import { CallReader, isOwnCall, type Recovery } from "../failures/index.ts";
import { extractGist, isUnconfirmed, recordEntries } from "../lessons/index.ts";
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
import type { Store } from "../store/index.ts";
import { type IngestDeps, readEvents, type SessionView } from "../transcripts/index.ts";
import { fewestSessionEvents, findDue, type LookAgain, restoreEvents } from "./due.ts";
import { analyzeSession } from "./leads/analyze.ts";
import { runDetectors } from "./leads/detect.ts";
import { heuristicObserver, type Observed, type Observer } from "./observe.ts";

export interface LearnOptions {
  /** Why a session is not learned from, if there is a reason. */
  readonly refuses?: (session: SessionView) => Promise<string | null>;
  readonly onProgress?: (done: number, all: number) => void;
  /** When to stop: what was looked at until then is kept, and the rest is left for another time. */
  readonly until?: () => boolean;
  /** Handed the sessions that were just looked at, while what was read of them is at hand. */
  readonly onNoted?: (read: readonly ReadSession[]) => Promise<void>;
  /** Sessions with fewer events are not learned from; 10 unless told. */
  readonly fewestEvents?: number | undefined;
  /** Who looks; rules alone unless told. */
  readonly observer?: Observer;
  readonly again?: LookAgain;
}

export interface Learned {
  readonly sessions: readonly SessionView[];
  /** Every finding of these sessions that is confirmed or sure enough, whenever it was found; best first. */
  readonly findings: readonly StoredFinding[];
  readonly skipped: readonly { readonly what: string; readonly because: string }[];
  /** How many sessions had something new. */
  readonly looked: number;
  /** How many sessions with something new were left for lack of time. */
  readonly unlooked: number;
  /** How many sessions were not credited for lack of time; filled in by `openLearning`, as are the next two. */
  readonly uncredited: number;
  /** The lessons that apply in every project from now on. */
  readonly promoted: readonly { readonly id: string; readonly name: string }[];
  /** How many transcripts there was no time to read. */
  readonly unread: number;
  /** A model's judgements of the sessions that had something new, where one was asked. */
  readonly judged: readonly (SessionJudgement & { readonly session: TranscriptId })[];
}

/** A session whose events were read, and its calls, each read once for all who look at them. */
export interface ReadSession {
  readonly session: SessionView;
  readonly events: readonly Event[];
  readonly calls: CallReader;
}

interface SessionResult {
  readonly session: SessionView;
  readonly mark: string;
  readonly pass: number;
  readonly findings: readonly Finding[];
  readonly judged: Observed["judged"];
  readonly uses: readonly CallUse[];
}

/** Sessions recorded in one transaction, and events that are held until then. */
const sessionsAtOnce = 20;
const eventsAtOnce = 20_000;

/**
 * Looks for lessons in sessions that are new or have grown, and keeps them. May be called again, by several processes
 * at once, and be killed at any point: what a session taught is recorded whole, once.
 */
export async function learn(
  deps: IngestDeps,
  sessions: readonly SessionView[],
  options: LearnOptions = {},
): Promise<Learned> {
  const { store, clock } = deps;
  const { until = () => false, observer = heuristicObserver, onNoted, onProgress } = options;
  const { eligible, skipped } = await selectSessions(sessions, options);
  const due = await findDue(store, eligible, options.again ?? "none");
  // Whoever is stopped here is stopped below too, before anything is looked at that could not be read.
  await restoreEvents(
    deps,
    due.map(({ session }) => session),
    until,
  );
  const judged: (SessionJudgement & { session: TranscriptId })[] = [];
  let pending: (SessionResult & ReadSession)[] = [];
  let looked = 0;
  const flush = async () => {
    if (pending.length > 0) await recordResults(store, pending, clock.now());
    await onNoted?.(pending);
    pending = [];
  };
  for (const { session, mark, pass } of due) {
    if (until()) break;
    const result = await observeSession(store, observer, session, mark, pass);
    pending.push(result);
    if (result.judged) judged.push({ ...result.judged, pass, session: session.id });
    looked++;
    const events = pending.reduce((sum, one) => sum + one.events.length, 0);
    // What was paid for is kept at once.
    if (result.judged || pending.length >= sessionsAtOnce || events >= eventsAtOnce) await flush();
    onProgress?.(looked, due.length);
  }
  await flush();
  const found = await store.learning.findings.ofSessions(eligible.map(({ id }) => id));
  return {
    ...{ sessions, skipped, judged, looked, unlooked: due.length - looked },
    ...{ uncredited: 0, promoted: [], unread: 0 },
    findings: (await withoutUnconfirmed(store, found)).sort(compareStored),
  };
}

async function selectSessions(sessions: readonly SessionView[], options: LearnOptions) {
  const fewest = options.fewestEvents ?? fewestSessionEvents;
  const skipped: { what: string; because: string }[] = [];
  const eligible: SessionView[] = [];
  for (const session of sessions) {
    const isShort = session.counts.events < fewest;
    const because = isShort ? `fewer than ${fewest} events` : ((await options.refuses?.(session)) ?? null);
    if (because === null) eligible.push(session);
    else skipped.push({ what: session.path, because });
  }
  return { eligible, skipped };
}

async function observeSession(
  store: Store,
  observer: Observer,
  session: SessionView,
  mark: string,
  pass: number,
): Promise<SessionResult & ReadSession> {
  const events = await readEvents(store, session);
  const calls = new CallReader();
  const { findings, judged } = await observer.observe(selectOwnEvents(session, events), {
    ...{ project: session.project.id, session: session.id, calls },
    before: observer.name === "model" ? await loadJudgement(store, session, pass - 1) : null,
  });
  const uses = calls.uses(events);
  return { session, events, calls, mark: addObserver(mark, judged), pass, findings, judged, uses };
}

async function loadJudgement(
  { ledger }: Store,
  { id }: SessionView,
  pass: number,
): Promise<SessionJudgement | null> {
  const [entry] = pass > 0 ? await ledger.get([`judged:${id}@${pass}`]) : [];
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
  return told.filter(
    (one) => one.finding.kind !== "repeated-action" || !words(one).some((word) => steps.has(word)),
  );
}

function compareStored(a: StoredFinding, b: StoredFinding): number {
  return b.finding.confidence - a.finding.confidence || a.at - b.at || (a.id < b.id ? -1 : 1);
}

/** A mark that says who looked, too: a model that judged everything, or one that could not and is waited for. */
function addObserver(mark: string, judged: Observed["judged"]): string {
  if (judged === null) return mark;
  return mark.replace(":", judged.fellBack === null ? "+model:" : "+waiting:");
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
    const entries = mine.flatMap((result) =>
      makeEntries(
        result,
        now,
        known.filter(({ session }) => session === result.session.id),
      ),
    );
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
  const common = { project: session.project.id, session: session.id, actor: "knack" as const };
  const before = new Map(known.map((stored) => [stored.id, stored]));
  const still = new Set<string>();
  const entries: LedgerEntry[] = [];
  for (const finding of findings) {
    const id = findingId(session, finding);
    const stored = before.get(id);
    still.add(id);
    if (stored && JSON.stringify(stored.finding) === JSON.stringify(finding)) continue;
    // Lessons of a person are compared with all of that person's, others with their project's.
    const scopeId = finding.scope === "user" ? "user" : session.project.id;
    entries.push({
      ...{ ...common, at: finding.at ?? at, type: "finding.made", key: `finding:${id}@${pass}` },
      data: { id, pass, run, scopeId, foundAt: stored?.foundAt ?? now, finding },
    });
  }
  for (const { id } of known)
    if (!still.has(id))
      entries.push({
        ...{ ...common, at, type: "finding.withdrawn", key: `withdrawn:${id}@${pass}` },
        data: { id, pass },
      });
  if (judged)
    entries.push({
      ...{ ...common, at: now, type: "session.judged", key: `judged:${session.id}@${pass}` },
      data: { ...judged, pass },
    });
  entries.push({
    ...{ ...common, at, type: "session.learned", key: `learned:${session.id}@${pass}` },
    data: { pass, mark, run, uses },
  });
  return entries;
}

/** Lessons of a session by the rules alone, without a store, as a replay of history needs them. */
export interface RuleLearning {
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
  const result = { session, mark: "", pass: 1, findings, judged: null, uses };
  const entries = makeEntries(result, now, []);
  return { events, recoveries: analyzed.recoveries, findings, entries, isLearnedFrom };
}

/** The id of a finding: the same for the same kind at the same place. */
export function findingId({ id }: SessionView, { kind, refs }: Finding): string {
  return makeId("i", `${id} ${kind} ${refs[0]}`);
}
