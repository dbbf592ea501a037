import { makeId } from "../../base/index.ts";
import { isOwnCall } from "../../failures/index.ts";
import { asksToRemember, withoutUnconfirmed } from "../../learning/index.ts";
import { recordEntries } from "../../lessons/index.ts";
import {
  type ChangeHistory,
  findWritingEnd,
  listWritings,
  readHistory,
  type SkillWriting,
} from "../../library/index.ts";
import { findToldCalls, makesCall } from "../../recall/index.ts";
import {
  type EntryOf,
  type Event,
  type Finding,
  type FindingKind,
  getThreadId,
  type Issue,
  type ItemUse,
  isAuthoredId,
  isPublished,
  isSaid,
  issues,
  type LedgerEntry,
  type ObservedEffect,
  parseRef,
  type Signal,
  type SignalGiven,
  type StoredFinding,
  shorten,
  type Trigger,
  triggers,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { readEventsByRef, type SessionView, viewSessions } from "../../transcripts/index.ts";
import { latestEvents, nameTurn } from "../caller.ts";
import { type AuthoringDeps, stagingMs } from "../deps.ts";
import { maxRefs, summaryChars } from "../protocol.ts";
import { readSkills, type SkillTexts, toSignalEntry } from "./give.ts";
import { isUseful, judgeSignals } from "./signal.ts";

const maxPerTurn = 3;
/** Turns after a skill's first use in which a correction is taken to be about it. */
const turnsAfterUse = 3;
/** Time without an event after which a session's last turn is taken to be over. */
const quietMs = 60 * 60_000;

/** Something that a session shows and nobody wrote down: a finding, or a writing that failed. */
export type Missed = {
  /** The finding's or the writing's id. */
  readonly id: string;
  readonly events: readonly Event[];
} & ({ readonly finding: Finding } | { readonly writing: SkillWriting });

/** The first use of a skill in a session. */
interface FirstUse {
  readonly name: string;
  readonly number: number;
  readonly turn: number;
}

export interface DerivingContext {
  readonly run: string;
  readonly prefix: string;
  readonly skills: SkillTexts;
  readonly uses: readonly FirstUse[];
  /** The turns in which a skill was written, or the agent gave a signal itself. */
  readonly settled: ReadonlySet<string>;
  /** The events of which a skill was written, or was to be: a failed writing gives its own signal. */
  readonly taught: ReadonlySet<string>;
  /** The findings and writings that a signal was derived from before, and how many in each turn. */
  readonly known: ReadonlySet<string>;
  readonly given: ReadonlyMap<string, number>;
}

interface DerivedSignal {
  /** The finding or writing that it was derived from. */
  readonly finding: string;
  readonly invocation: string;
  readonly claim: Signal;
}

/** The signals that a session shows and nobody gave: at most three a turn, failed writings and then the surest first. */
export function deriveClaims(all: readonly Missed[], context: DerivingContext): DerivedSignal[] {
  const given = new Map(context.given);
  return [...all]
    .sort((a, b) => rateSureness(b) - rateSureness(a) || (a.id < b.id ? -1 : 1))
    .flatMap((one) => {
      const invocation = findTurn(one, context.run);
      const count = given.get(invocation) ?? 0;
      const isOver = context.known.has(one.id) || context.settled.has(invocation) || count >= maxPerTurn;
      const claim = isOver ? null : composeClaim(one, context);
      if (claim === null) return [];
      given.set(invocation, count + 1);
      return [{ finding: one.id, invocation, claim }];
    });
}

function rateSureness(one: Missed): number {
  return "finding" in one ? one.finding.confidence : Number.POSITIVE_INFINITY;
}

function findTurn(one: Missed, run: string): string {
  if ("writing" in one) return lastTry(one.writing).invocation;
  return nameTurn(run, Math.max(0, ...one.events.map(({ turn }) => turn)));
}

function composeClaim(one: Missed, context: DerivingContext): Signal | null {
  if ("writing" in one) return claimFailedWriting(one.writing, one.events);
  const isTaught = one.finding.refs.some((ref) => context.taught.has(ref));
  return isTaught || one.events.every(isOwnCall) ? null : claimFinding(one.finding, one.events, context);
}

/** What an agent began for a reason is still worth it. */
function claimFailedWriting(writing: SkillWriting, events: readonly Event[]): Signal | null {
  const { action, skill, reason, message } = writing.started;
  const deferred = "write_or_publish_failed";
  const refs = listWritingRefs(writing);
  const summary = lastTry(writing).summary ?? message;
  if (action === "create") {
    const trigger = triggers.find((one) => one === reason);
    return trigger ? { kind: "create", nameHint: skill, trigger, deferred, refs, summary } : null;
  }
  // An update may begin for a reason to create: then the skill lacks that.
  const issue = issues.find((one) => one === reason) ?? "missing_step";
  return { kind: "update", skill, issue, deferred, effect: findEffect(events), refs, hint: summary };
}

function lastTry({ started, finishes }: SkillWriting): {
  readonly invocation: string;
  readonly summary: string | null;
} {
  return finishes.at(-1) ?? { invocation: started.invocation, summary: null };
}

function findEffect(events: readonly Event[]): ObservedEffect {
  if (events.some(({ outcome }) => outcome === "failed")) return "retry_after_tool_error";
  return events.some(({ kind }) => kind === "prompt")
    ? "retry_after_user_correction"
    : "verified_alternative";
}

function claimFinding(finding: Finding, events: readonly Event[], context: DerivingContext): Signal | null {
  const stale = finding.kind === "error-recovery" ? findStaleSkill(events, context) : null;
  if (stale !== null) return claimIssue(stale, finding, "stale_command", "retry_after_tool_error");
  const corrected = finding.kind === "user-correction" ? findSkillInUse(events, context) : null;
  if (corrected !== null)
    return claimIssue(corrected, finding, "missing_step", "retry_after_user_correction");
  const trigger = findTrigger(finding);
  if (trigger === null) return null;
  return {
    ...{ kind: "create", nameHint: suggestName(context.prefix, finding.name), trigger, refs: finding.refs },
    deferred: "needs_full_context_review",
    summary: shorten(finding.lesson, summaryChars),
  };
}

function claimIssue(skill: string, finding: Finding, issue: Issue, effect: ObservedEffect): Signal {
  const deferred = "needs_existing_skill_diff";
  const hint = shorten(finding.lesson, summaryChars);
  return { kind: "update", skill, issue, deferred, effect, refs: finding.refs, hint };
}

/** One line of instructions needs no skill, unless the person wants it remembered. */
function findTrigger(finding: Finding): Trigger | null {
  const isLine = isSaid(finding.kind) && finding.artifact !== "skill";
  return isLine && !isToBeRemembered(finding) ? null : findingTriggers[finding.kind];
}

function isToBeRemembered({ kind, excerpt }: Finding): boolean {
  return kind === "explicit-instruction" && asksToRemember(excerpt.said ?? "");
}

const findingTriggers: Readonly<Record<FindingKind, Trigger | null>> = {
  "error-recovery": "recovered_surprise",
  "user-correction": "user_correction",
  "explicit-instruction": "explicit_user_request",
  convention: null,
  "multi-step": "multi_step_workflow",
  "repeated-action": "repeated_tool_pattern",
  "tool-pattern": "repeated_tool_pattern",
};

/** The skill that told the agent to run what failed. */
function findStaleSkill(events: readonly Event[], context: DerivingContext): string | null {
  const failed = events.filter(({ outcome, command }) => outcome === "failed" && command !== null);
  const told = listChangeable(context).find(({ name, number }) => {
    const calls = findToldCalls(context.skills.get(name)?.text ?? "");
    return failed.some(
      ({ ref, command }) => number < parseRef(ref) && calls.some((call) => makesCall(command ?? "", call)),
    );
  });
  return told?.name ?? null;
}

/** The skill that was loaded last before a person corrected the agent, if that was not long before. */
function findSkillInUse([deciding]: readonly Event[], context: DerivingContext): string | null {
  if (deciding === undefined) return null;
  const latest = listChangeable(context).find(
    ({ number, turn }) => number < parseRef(deciding.ref) && deciding.turn - turn <= turnsAfterUse,
  );
  return latest?.name ?? null;
}

/** The skills that were used and may be changed, the latest first. */
function listChangeable({ uses, skills }: DerivingContext): FirstUse[] {
  return uses
    .filter(({ name }) => (skills.get(name)?.owner ?? "core") !== "core")
    .sort((a, b) => b.number - a.number);
}

function suggestName(prefix: string, name: string): string {
  const whole = name.startsWith(prefix) ? name : `${prefix}${name}`;
  return whole.slice(0, 64).replace(/-+$/, "");
}

// --- With the store ---

/**
 * Records the signals that sessions show and nobody gave: findings that nothing was made of, and writings that failed,
 * in whatever session. May be called again: a finding or a writing gives one signal. Subagents are left out: what they
 * did shows in the session that they worked for.
 */
export async function deriveSignals(
  deps: AuthoringDeps,
  sessions: readonly SessionView[],
): Promise<SignalGiven[]> {
  const { store } = deps;
  const heard = sessions.filter(({ subagent }) => !subagent);
  const findings = await listNewFindings(store, heard);
  const writings = await listWritings(store);
  const failed = await listFailedAndOver(deps, writings, heard);
  const all = new Map([...heard, ...failed.keys()].map((one) => [one.id, one]));
  const shown = [...all.values()]
    .map((session) => ({
      session,
      findings: findings.filter((one) => one.session === session.id),
      failed: [...failed].find(([{ id }]) => id === session.id)?.[1] ?? [],
    }))
    .filter((one) => one.findings.length + one.failed.length > 0);
  if (shown.length === 0) return [];
  const past = await readPast(store, shown, writings);
  const entries: LedgerEntry[] = [];
  for (const one of shown) entries.push(...(await deriveFromSession(deps, one, past)));
  if (entries.length === 0) return [];
  const added = await store.transaction((tx) => recordEntries(tx, entries));
  return added.flatMap((entry) => (entry.type === "signal.given" ? entry.data : []));
}

/** A session with the findings and failed writings that may give signals. */
interface MissedInSession {
  readonly session: SessionView;
  readonly findings: readonly StoredFinding[];
  readonly failed: readonly SkillWriting[];
}

/** Findings of sessions that may be told, and that nothing was made of. */
async function listNewFindings(store: Store, sessions: readonly SessionView[]): Promise<StoredFinding[]> {
  const ids = sessions.map(({ id }) => id);
  const findings = await withoutUnconfirmed(store, await store.learning.findings.ofSessions(ids));
  return findings.length === 0 ? [] : findings.filter(isUnwritten(await readHistory(store)));
}

/** Failed writings in turns that are over, by session, as long as what was written for them is kept. */
async function listFailedAndOver(
  { store, clock }: AuthoringDeps,
  writings: readonly SkillWriting[],
  heard: readonly SessionView[],
): Promise<Map<SessionView, SkillWriting[]>> {
  const found = new Map<SessionView, SkillWriting[]>();
  const oldest = clock.now() - stagingMs;
  const recent = listFailedWritings(writings).filter(
    ({ session, lastAt }) => session !== null && lastAt > oldest,
  );
  if (recent.length === 0) return found;
  const told = new Set((await store.ledger.since("signal.given", 0)).map(({ data }) => data.id));
  const failed = recent.filter(
    ({ session, started }) => !told.has(derivedId(session ?? "", started.writing)),
  );
  const files = new Set<string>(heard.map(({ id }) => id));
  const areAllHeard = failed.every(({ started }) => files.has(started.file));
  for (const session of areAllHeard ? heard : await viewSessions(store)) {
    const own = failed.filter(({ started }) => started.file === session.id);
    const current = own.length === 0 ? null : await findCurrentTurn({ store, clock }, session);
    const over = own.filter(
      ({ started, finishes }) =>
        current === null || ![started, ...finishes].some(({ invocation }) => invocation === current),
    );
    if (over.length > 0) found.set(session, over);
  }
  return found;
}

/** The turn of a session that may still go on; null where nothing happened for an hour. */
async function findCurrentTurn(
  { store, clock }: Pick<AuthoringDeps, "store" | "clock">,
  session: SessionView,
): Promise<string | null> {
  if ((session.endedAt ?? 0) < clock.now() - quietMs) return null;
  const [last] = await latestEvents(store, session, 1);
  return nameTurn(getThreadId(session), last?.turn ?? 0);
}

/** What the ledger has besides the sessions, read once for all of them. */
async function readPast(
  { ledger }: Store,
  shown: readonly MissedInSession[],
  writings: readonly SkillWriting[],
) {
  // Signals and writings have this clock's time, uses that of their transcript.
  const since = Math.min(...shown.map(({ session }) => session.startedAt ?? 0));
  return {
    signals: await ledger.since("signal.given", 0),
    published: (await ledger.since("writing.finished", 0)).filter(({ data }) => isPublished(data)),
    wanted: writings.filter((one) => findWritingEnd(one)?.status !== "aborted"),
    uses: await ledger.since("skill.used", since),
    projects: new Map<string, { readonly skills: SkillTexts; readonly prefix: string } | null>(),
  };
}

type Past = Awaited<ReturnType<typeof readPast>>;

/** The skills and the prefix of a project; null where nothing is learned. */
async function readProject(deps: AuthoringDeps, { project: { id, root } }: SessionView, { projects }: Past) {
  const known = projects.get(id);
  if (known !== undefined) return known;
  const isRefused = (await deps.refuses(root, id)) !== null;
  const read = isRefused ? null : { skills: await readSkills(deps, root), prefix: await deps.prefixOf(root) };
  projects.set(id, read);
  return read;
}

async function deriveFromSession(
  deps: AuthoringDeps,
  shown: MissedInSession,
  past: Past,
): Promise<LedgerEntry[]> {
  const { session, findings, failed } = shown;
  const project = await readProject(deps, session, past);
  if (project === null) return [];
  const run = getThreadId(session);
  const uses = past.uses.filter((use) => use.session === run).map(({ data }) => data);
  const events = await readEvidence(deps.store, shown, uses);
  const behind = (refs: readonly string[]) => refs.flatMap((ref) => events.get(ref) ?? []);
  const missed: Missed[] = [
    ...findings.map(({ id, finding }) => ({ id, finding, events: behind(finding.refs) })),
    ...failed.map((writing) => ({
      ...{ id: writing.started.writing, writing, events: behind(listWritingRefs(writing)) },
    })),
  ];
  const context = {
    run,
    ...project,
    uses: listFirstUses(uses, events),
    ...readSessionHistory(session, past, missed),
  };
  const times = new Map(findings.map(({ id, foundAt }) => [id, foundAt]));
  const useful = new Map([...events.values()].filter(isUseful).map(({ ref, kind }) => [ref, kind]));
  const skills = new Map([...project.skills].map(([name, { owner }]) => [name, owner]));
  return deriveClaims(missed, context).flatMap(({ finding, invocation, claim }) => {
    const [judged] = judgeSignals([claim], {
      ...{ from: "transcript", run, invocation, file: session.id, learned: false, before: new Set<never>() },
      ...{ prefix: project.prefix, useful, skills },
    });
    if (judged === undefined || judged.refusal !== null) return [];
    // A failed writing is dated now: the last review may have been after it.
    const at = times.get(finding) ?? deps.clock.now();
    const common = { at, project: session.project.id, session: run, actor: "knack" as const };
    return [toSignalEntry({ ...judged, id: derivedId(run, finding), finding }, common)];
  });
}

/** The events that findings, writings and uses of a session name. */
async function readEvidence(
  store: Store,
  { session, findings, failed }: MissedInSession,
  uses: readonly ItemUse[],
): Promise<ReadonlyMap<string, Event>> {
  const named = await readEventsByRef(store, session, [
    ...findings.flatMap(({ finding }) => finding.refs),
    ...uses.map(({ ref }) => ref),
    ...failed.flatMap(listWritingRefs),
  ]);
  // A subagent's events may stand in its parent's file; they are not the parent's doing.
  const own = session.subagent ? named : named.filter(({ sidechain }) => !sidechain);
  return new Map(own.map((event) => [event.ref, event]));
}

function listFirstUses(uses: readonly ItemUse[], events: ReadonlyMap<string, Event>): FirstUse[] {
  return uses.flatMap(({ name, ref }) => {
    const turn = events.get(ref)?.turn;
    return turn === undefined ? [] : [{ name, number: parseRef(ref), turn }];
  });
}

/** What was signalled and written in a session before. */
function readSessionHistory(
  session: SessionView,
  past: Past,
  missed: readonly Missed[],
): Pick<DerivingContext, "settled" | "taught" | "known" | "given"> {
  const run = getThreadId(session);
  const own = past.signals.filter((entry) => entry.session === run).map(({ data }) => data);
  const published = past.published.filter((entry) => entry.session === run).map(({ data }) => data);
  const said = own.filter(({ from, refusal }) => from !== "transcript" && refusal === null);
  const derived = own.filter(({ from }) => from === "transcript");
  const derivedIds = new Set(derived.map(({ id }) => id));
  const given = new Map<string, number>();
  for (const { invocation } of derived) given.set(invocation, (given.get(invocation) ?? 0) + 1);
  return {
    given,
    settled: new Set([...published, ...said].map(({ invocation }) => invocation)),
    taught: new Set([
      ...published.flatMap(({ file, refs }) => (file === session.id ? refs : [])),
      ...past.wanted.flatMap((one) => (one.started.file === session.id ? listWritingRefs(one) : [])),
    ]),
    known: new Set(missed.flatMap(({ id }) => (derivedIds.has(derivedId(run, id)) ? id : []))),
  };
}

/** One signal for each finding or writing, also when its words have changed since. */
function derivedId(run: string, finding: string): string {
  return makeId("g", `${run} ${finding}`);
}

// --- Which signals are settled ---

/** Whether nothing that is kept was made of a lesson. */
export function isUnwritten({ kept }: ChangeHistory): (finding: { readonly lessonId: string }) => boolean {
  const written = new Set(kept.flatMap(({ origin, members = [] }) => [origin.id, ...members]));
  return ({ lessonId }) => !written.has(lessonId);
}

/**
 * The signals that were given, without derived ones that are settled: the lesson is kept or rejected by now, or the
 * writing was published after all.
 */
export async function listOpenSignals(store: Store): Promise<EntryOf<"signal.given">[]> {
  const given = await store.ledger.since("signal.given", 0);
  const sources = [...new Set(given.flatMap(({ data }) => data.finding ?? []))];
  const writings = sources.some(isAuthoredId) ? listFailedWritings(await listWritings(store)) : [];
  const failed = new Set(writings.map(({ started }) => started.writing));
  const lessonIds = await store.learning.findings.lessonIds(sources);
  const known = await store.learning.lessons.get([...new Set(lessonIds.values())]);
  const rejected = new Set(known.flatMap(({ id, state }) => (state.status === "rejected" ? id : [])));
  const isNew = isUnwritten(await readHistory(store));
  return given.filter(({ data: { finding } }) => {
    if (finding !== undefined && isAuthoredId(finding)) return failed.has(finding);
    const lessonId = finding === undefined ? undefined : lessonIds.get(finding);
    return lessonId === undefined || (isNew({ lessonId }) && !rejected.has(lessonId));
  });
}

/**
 * Writings that failed against their agent's will: refused at the last finish, failed, or never finished. Of several
 * about one skill in a session, the last stands for all; one that was aborted was not wanted.
 */
export function listFailedWritings(writings: readonly SkillWriting[]): SkillWriting[] {
  const last = new Map<string, SkillWriting>();
  const published = new Set<string>();
  for (const one of writings) {
    const { session, started } = one;
    const subject = JSON.stringify([session, started.action, started.skill]);
    last.set(subject, one);
    if (one.finishes.some(isPublished)) published.add(subject);
  }
  return [...last].flatMap(([subject, one]) =>
    published.has(subject) || findWritingEnd(one)?.status === "aborted" ? [] : one,
  );
}

/** The events that a writing rests on, of the transcript in which it began. */
export function listWritingRefs({ started, finishes }: SkillWriting): string[] {
  const refs = [started, ...finishes].flatMap((one) => (one.file === started.file ? one.refs : []));
  return [...new Set(refs)].slice(0, maxRefs);
}
