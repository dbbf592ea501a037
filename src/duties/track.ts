import { makeId } from "../base/index.ts";
import { CallReader } from "../failures/index.ts";
import { classifyDomain } from "../lessons/index.ts";
import {
  type Event,
  type Goal,
  type GoalEntryType,
  type GoalId,
  getSessionId,
  isSaid as isSaidKind,
  type Lead,
  type LedgerEntry,
  reflectionOwed,
  type WorkFacts,
} from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { cutAtWord, oneLine } from "../text/index.ts";
import { readEvents, type SessionView } from "../transcripts/index.ts";
import { ownWords, redact } from "../trust/index.ts";
import { checkGoal, closeEntries, type GoalCheck } from "./check.ts";
import { listUnreflected, listWorthKeeping } from "./checks.ts";
import { selectWork } from "./goal-work.ts";
import { record } from "./record.ts";
import { recentGoals } from "./verbs.ts";
import { type DutyDeps, findKept, readView } from "./view.ts";
import { computeFactors, type ObservedFacts, scoreFactors } from "./weigh.ts";
import { isWork, readStretches, type Stretch } from "./work.ts";
import { measureZone } from "./zone.ts";

/** Facts about a session that its transcript does not hold. */
export interface SessionEnd {
  /** The turn is over, the session is; or neither, as far as anybody knows. */
  readonly over: "turn" | "session" | null;
  /** Where the end of a turn may be held for a duty, a goal that was not held yet stays open for its repairs. */
  readonly mayHold: boolean;
}

export interface TrackedGoal {
  readonly goal: GoalId;
  readonly check: GoalCheck;
  /** Open duties, in words for a person; null for none. */
  readonly owes: string | null;
}

/**
 * Opens and closes the goals of a session from its transcript, and notes what its leads show. The same transcript gives
 * the same entries, each kept once, however often it is read. Answers with the latest goal.
 */
export async function trackSession(
  deps: DutyDeps,
  session: SessionView,
  end: SessionEnd,
): Promise<TrackedGoal | null> {
  const { store } = deps;
  if (session.subagent) return null;
  const events = await readEvents(store, session);
  const calls = new CallReader();
  const stretches = readStretches(events, calls);
  if (stretches.length === 0) return null;
  const leads = await readLeads(store, session);
  const ids = stretches.map(({ prompt }) => goalId(session, prompt));
  for (const [n, stretch] of stretches.entries()) {
    const id = ids[n] as GoalId;
    const span = { session, events, stretch, leads, calls };
    await store.transaction(async (tx) => record(tx, await makeEntries(tx, id, span)));
    const next = stretches[n + 1];
    const path = next ? "new-ask" : end.over === "session" ? "session-end" : "turn-end";
    const isOver = next !== undefined || end.over !== null;
    if (isOver) await closeStretch(deps, id, span, stretches, { path, at: next?.prompt.at ?? null, end });
  }
  const last = ids.at(-1) as GoalId;
  const [goal] = await store.goals.get([last]);
  if (goal === undefined) return null;
  const view = await readView(deps, goal, selectWork(session, events, goal, stretches));
  const check = checkGoal(view);
  return { goal: last, check, owes: describeOwed(goal, check) };
}

/** One line for a person: why something is owed, and the command that settles it. */
function describeOwed(goal: Goal, { deep_because: because }: GoalCheck): string | null {
  const { id, text, debts, closed } = goal;
  if (closed === null || debts.every(({ settled, page }) => settled || page !== null)) return null;
  const about = `"${cutAtWord(text, 60)}"`;
  const [unsaid] = listUnreflected(goal);
  if (unsaid !== undefined && debts.every(({ settled, reason }) => settled || reason === reflectionOwed))
    return `${about}: "${cutAtWord(unsaid.claim, 60)}" turned out (${unsaid.outcome}), and nobody said what that teaches: knack goal reflect --goal ${id} --prediction ${unsaid.prediction} "…"`;
  const [best] = listWorthKeeping(goal);
  return best === undefined
    ? `${about} was no routine (${because.join(", ")}), and nothing of it is kept. To keep what it taught: knack goal keep --goal ${id} "…"`
    : `${about} taught something that is not kept: ${cutAtWord(best.text, 120)}. To keep it: knack goal keep --goal ${id}`;
}

interface GoalSpan {
  readonly session: SessionView;
  readonly events: readonly Event[];
  readonly stretch: Stretch;
  readonly leads: readonly Lead[];
  readonly calls: CallReader;
}

/** Identical for a record that a resumed or forked session repeats. */
function goalId(session: SessionView, prompt: Event): GoalId {
  return makeId("g", `${getSessionId(session)} ${prompt.origin ?? prompt.key}`);
}

async function readLeads({ learning }: Store, session: SessionView): Promise<Lead[]> {
  const rows = await learning.learned.of([session.id]);
  return rows.flatMap(({ leads }) => JSON.parse(leads) as Lead[]);
}

/** The entries that a stretch adds to its goal: opened, continued, observations, and how full the window was. */
async function makeEntries(tx: Store, id: GoalId, span: GoalSpan): Promise<LedgerEntry[]> {
  const { session, events, stretch } = span;
  const { prompt, text, followUps } = stretch;
  const at = timeOf(session, prompt);
  const make = (type: GoalEntryType, name: string, time: number, data: object) =>
    describe(span, id, type, name, time, data);
  const opened = {
    ...{ text: redact(text), category: classifyDomain({ trigger: text, action: text, kind: "multi-step" }) },
    ...{ by: "prompt", ref: prompt.ref, transcript: session.id, deadline: null, batch: null, prefetch: [] },
    ...{ root: session.project.root, reader: false, again: null },
  };
  const upTo = events.slice(0, events.indexOf(stretch.events.at(-1) as Event) + 1);
  const { zone, ...measured } = measureZone(upTo);
  const last = findEnd(span);
  return [
    make("goal.opened", "opened", at, opened),
    ...followUps.map((one) =>
      make("goal.opened", `opened:${one.ref}`, timeOf(session, one), { ...opened, ref: prompt.ref }),
    ),
    ...(await observeLeads(tx, id, span)),
    ...(zone === "unknown" ? [] : [make("goal.measured", `measured:${zone}`, last, { zone, ...measured })]),
  ];
}

/** An observation for each lead of the stretch, weighed by what is recorded. */
async function observeLeads(tx: Store, id: GoalId, span: GoalSpan): Promise<LedgerEntry[]> {
  const { session, stretch, leads } = span;
  const byRef = new Map(stretch.events.map((event) => [event.ref, event]));
  const own = leads.filter(({ refs }) => byRef.has(refs[0] ?? ""));
  if (own.length === 0) return [];
  const briefs = (await tx.goals.briefs(session.project.id))
    .filter((one) => one.id !== id)
    .slice(-recentGoals);
  const others = await tx.goals.get(briefs.map((one) => one.id));
  const known = others.flatMap(({ kept }) => kept.map(({ insight }) => insight));
  const earlier = others.flatMap(({ observations }) =>
    observations.map(({ text }) => text.split(thenWorked)[0] ?? ""),
  );
  const findings = await tx.learning.findings.ofSessions([session.id]);
  const certain = new Set(
    findings.flatMap(({ finding }) => (isSaidKind(finding.kind) ? finding.refs.slice(0, 1) : [])),
  );
  const prompts = [stretch.prompt, ...stretch.followUps];
  return own.flatMap((lead) => {
    const seen = readLead(lead, byRef, certain, span);
    if (seen === null) return [];
    const text = redact(seen.text);
    // A prompt says nothing of how much it is about itself.
    const words = prompts.flatMap(({ ref, text: own }) => (seen.refs.includes(ref) ? [] : own)).join("\n");
    // What worked is another each time; what failed tells whether it is known.
    const weighed = text.split(thenWorked)[0] ?? "";
    const factors = computeFactors({ ...seen, text: weighed, known, earlier, goal: words });
    const excerpt = redact(quoteEpisode(seen.refs, byRef)).slice(0, excerptChars);
    return describe(
      span,
      id,
      "goal.observed",
      `observed:${lead.id}`,
      lead.at ?? timeOf(session, stretch.prompt),
      {
        ...{ observation: makeId("o", `${id} ${lead.id}`), text, factors, score: scoreFactors(factors) },
        ...{ lead: lead.id, excerpt },
      },
    );
  });
}

const excerptChars = 600;

/** What a lead shows, with the facts that it is weighed by; null where nothing is recorded that happened there. */
function readLead(
  lead: Lead,
  byRef: ReadonlyMap<string, Event>,
  certain: ReadonlySet<string>,
  span: GoalSpan,
): (Omit<ObservedFacts, "known" | "earlier" | "goal"> & { readonly refs: readonly string[] }) | null {
  const { refs, summary } = lead;
  const { calls } = span;
  const isCertain = refs.some((ref) => certain.has(ref));
  if (isSaidKind(lead.kind)) return readSaid(lead, byRef, isCertain, span);
  const first = byRef.get(refs[0] ?? "");
  if (first !== undefined && teachesNothing(first, calls)) return null;
  const episode = lead.episode.flatMap((ref) => byRef.get(ref) ?? []);
  const failed = episode.filter(({ outcome }) => outcome === "failed");
  const failures = failed.filter((event) => !isWork(event, calls)).length;
  const isEdited = refs.some((ref) => (byRef.get(ref)?.files.length ?? 0) > 0);
  const reverted = isEdited ? Math.min(1, span.stretch.facts.reverted) : 0;
  const cure = span.stretch.cures.get(refs[0] ?? "");
  // What failed once and was left at that teaches nothing yet.
  if (!isCertain && (failures === 0 || (failures === 1 && cure === undefined))) return null;
  const text = !cure ? summary : `${summary}${thenWorked}${cure}`;
  return { refs, text, failures, corrections: 0, reverted, isSaid: isCertain };
}

const thenWorked = "; then this worked: ";

/** Whether a call failed as work usually does, or without a reason; or was turned down without a word. */
function teachesNothing(event: Event, calls: CallReader): boolean {
  if (event.outcome !== "failed") return event.outcome === "rejected";
  return isWork(event, calls) || calls.error(event).signature === "no reason given";
}

/** A person's words: those that object, else what is certainly an order. A wish for the work is neither. */
function readSaid(
  { refs, summary }: Lead,
  byRef: ReadonlyMap<string, Event>,
  isCertain: boolean,
  { stretch: { objections } }: GoalSpan,
) {
  const against = refs.find((ref) => objections.has(ref));
  if (against === undefined && !isCertain) return null;
  const said = byRef.get(against ?? "")?.text;
  const text = said === undefined ? summary : cutAtWord(oneLine(ownWords(said)), saidChars) || summary;
  const corrections = against === undefined ? 0 : 1;
  const own = against === undefined ? refs : [against, ...refs.filter((ref) => ref !== against)];
  return { refs: own, text, failures: 0, corrections, reverted: 0, isSaid: true };
}

/** Characters of a person's words in an observation. */
const saidChars = 300;

/** The words that a lead rests on: they stay when the events are gone. */
function quoteEpisode(refs: readonly string[], byRef: ReadonlyMap<string, Event>): string {
  return refs
    .slice(0, 3)
    .flatMap((ref) => byRef.get(ref) ?? [])
    .map(({ command, tool, text, kind }) =>
      kind === "call" ? `${command ?? tool}: ${text.slice(-160)}` : text.slice(0, 240),
    )
    .join("\n");
}

/** Closes a goal whose work is over, unless it may still be held for its repairs. */
async function closeStretch(
  deps: DutyDeps,
  id: GoalId,
  span: GoalSpan,
  stretches: readonly Stretch[],
  { path, at, end }: { path: "new-ask" | "turn-end" | "session-end"; at: number | null; end: SessionEnd },
): Promise<void> {
  const { session, events, stretch } = span;
  const [goal] = await deps.store.goals.get([id]);
  if (goal === undefined || goal.closed !== null) return;
  const work = selectWork(session, events, goal, stretches);
  const view = await readView(deps, goal, work);
  const isHoldable = path === "turn-end" && end.mayHold && goal.heldAt === null;
  if (isHoldable && checkGoal(view).blocked) return;
  const closedAt = Math.max(at ?? 0, findEnd(span));
  const key = `goal:${id}:closed:${stretch.followUps.length}`;
  const kept = (await findKept(deps.store, goal, work)).map((one) =>
    describe(span, id, "goal.kept", `kept:${one.how}:${one.name}`, closedAt, one),
  );
  const closing = closeEntries(
    { ...view, facts: withoutSecrets(view.facts) },
    { outcome: readOutcome(view.facts), path },
    { at: closedAt, key, actor: "knack" },
  );
  await deps.store.transaction((tx) => record(tx, [...kept, ...closing]));
}

function withoutSecrets(facts: WorkFacts): WorkFacts {
  return { ...facts, excerpt: redact(facts.excerpt) };
}

function readOutcome({ end, calls }: WorkFacts): "done" | "failed" | "skipped" {
  if (end === "stopped") return calls === 0 ? "skipped" : "failed";
  return end === "failed" ? "failed" : "done";
}

function describe(
  { session }: Pick<GoalSpan, "session">,
  goal: Goal["id"],
  type: GoalEntryType,
  name: string,
  at: number,
  data: object,
): LedgerEntry {
  return {
    ...{ at, project: session.project.id, session: getSessionId(session), actor: "knack", type },
    key: `goal:${goal}:${name}`,
    data: { goal, ...data },
  } as LedgerEntry;
}

/** When the last of a stretch happened. What was typed while the agent worked stands behind it with an earlier time. */
function findEnd({ session, stretch: { prompt, followUps, events } }: GoalSpan): number {
  return Math.max(...[prompt, ...followUps, ...events].map((event) => timeOf(session, event)));
}

/** When something happened; where the transcript has no times, in the order in which it stands there. */
function timeOf({ startedAt }: SessionView, { at, endedAt, ref }: Event): number {
  return endedAt ?? at ?? (startedAt ?? 0) + Number(ref.slice(1));
}
