import {
  type Derived,
  type DerivingGround,
  derived,
  type Failed,
  type FirstUse,
  invocationOf,
  type Missed,
} from "../core/derived-signal.ts";
import { type Event, numberOf } from "../core/event.ts";
import { idOf } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import type { EntryOf, LedgerEntry, Used } from "../core/ledger.ts";
import { policy } from "../core/policy.ts";
import {
  type Answer,
  callerFault,
  type Fault,
  faultOf,
  faulty,
  isDone,
  isWrittenId,
} from "../core/protocol.ts";
import { boundedReply, readReply } from "../core/reply.ts";
import { threadOf } from "../core/session.ts";
import {
  bounded,
  type Claim,
  type Formless,
  isUseful,
  judge,
  kindsGiven,
  type RefusedSignal,
  type SignalGiven,
  type SignalGround,
} from "../core/signal.ts";
import type { Owner } from "../core/skill.ts";
import { latestEvents, type Present } from "./caller.ts";
import { failedOf, lastTryOf, refsOf, turnsOf } from "./failed-learnings.ts";
import type { ForegroundDeps } from "./foreground.ts";
import { eventsNamed, type SessionView, viewSessions } from "./inspect.ts";
import { withoutWaiting } from "./learn.ts";
import { endOf, type Learning, learningsOf } from "./learnings.ts";
import { note } from "./note.ts";
import type { KeptFinding, Store } from "./ports.ts";
import { scrubJson } from "./scrub.ts";
import { type History, historyOf } from "./step.ts";
import { useSkill } from "./use-skill.ts";

/** What an agent's structured reply came to. */
export interface ReplyTaken {
  /** The receipts that are to be shown, each once. */
  readonly receipts: readonly string[];
  /** Its signals, those that count and those that do not. */
  readonly signals: readonly SignalGiven[];
  /** What has not the form, in words. */
  readonly problems: readonly string[];
}

/** Takes one signal that an agent gives by a call. */
export async function giveSignal(
  deps: ForegroundDeps,
  present: Present,
  signal: Claim,
): Promise<Answer<SignalGiven>> {
  const away = await whyNobody(deps, present);
  if (away !== null) return faulty(away);
  const clean = bounded(await withoutSecrets(deps, { ...signal, refs: signal.refs.slice(0, mostRefs) }));
  const [given] = await take(deps, present, "agent", [clean]);
  if (given === undefined) throw new Error("a signal that was given is neither counted nor refused");
  return given.refusal === null ? { ok: true, value: given } : faulty(refusedBy(given));
}

const { refs: mostRefs, summaryChars } = policy.protocol;

/** What an agent says without its secrets, whatever it is; it is cut after, so that each of them is found whole. */
async function withoutSecrets<Said extends object>({ redactor }: ForegroundDeps, said: Said): Promise<Said> {
  return (await scrubJson(redactor, said as Json, Math.max(summaryChars, policy.signal.words))) as Said;
}

function refusedBy({ refusal, message }: RefusedSignal): Fault {
  return faultOf(
    refusal === "refs-unresolved" || refusal === "too-few-refs" ? "evidence_unresolved" : "signal_refused",
    `The signal does not count: ${message}.`,
    nextSteps[refusal] ?? "Mend that and signal again, or leave it: most turns signal nothing.",
    [refusal],
  );
}

const nextSteps: Partial<Readonly<Record<RefusedSignal["refusal"], string>>> = {
  "both-signals": "Neither of this turn counts any more. Signal one of them in a later turn.",
  "already-learned": "Nothing is left to do.",
  "too-few-refs": "Call event_expand without refs to see this session's events, and name two that show it.",
  "refs-unresolved":
    "Call event_expand without refs to see this session's events, and name two that show it.",
  "skill-exists": "Signal what is wrong with that skill, or name another.",
  "unknown-skill": "Call skill_search or skill_load without a name to see which skills there are.",
  "core-skill": "Leave it.",
};

/** Takes an agent's structured reply: `used_skill_receipts`, `learning_signal`, `skill_issue_signal`. */
export async function takeReply(deps: ForegroundDeps, present: Present, reply: unknown): Promise<ReplyTaken> {
  const read = boundedReply(await withoutSecrets(deps, readReply(reply)));
  const [problems, receipts] = [[...read.problems], [] as string[]];
  for (const used of read.receipts) {
    const answer = await useSkill(deps, present, used);
    if (!answer.ok) problems.push(`${used.skill}: ${answer.fault.message}`);
    else if (answer.value.receipt !== null && !answer.value.already) receipts.push(answer.value.receipt);
  }
  if (read.signals.length === 0) return { receipts, signals: [], problems };
  const away = await whyNobody(deps, present);
  if (away !== null) return { receipts, signals: [], problems: [...problems, away.message] };
  return { receipts, signals: await take(deps, present, "reply", read.signals), problems };
}

/** Why no signal of a caller is taken; null where it is. What works in the background starts no review of its own. */
async function whyNobody(deps: ForegroundDeps, { caller, session }: Present): Promise<Fault | null> {
  const { root, id } = caller.project;
  return callerFault(caller, session !== null, await deps.refuses(root, id));
}

/** Judges what was given together, and notes it. */
async function take(
  deps: ForegroundDeps,
  { caller, session }: Present,
  from: "agent" | "reply",
  given: readonly (Claim | Formless)[],
): Promise<SignalGiven[]> {
  if (session === null) return [];
  const { store, clock } = deps;
  const refs = given.flatMap((one) => ("refs" in one ? one.refs : []));
  const useful = (await eventsNamed(store, session, refs)).filter(isUseful);
  const skills = await withLibrary(deps, given, await skillsHere(deps, caller.project.root));
  const [run, file] = [threadOf(session), session.id];
  const { invocation, project } = caller;
  const prefix = await deps.prefixOf(project.root);
  return store.transaction(async (tx) => {
    // By the turn's name, not by time: the clock here need not be that of the transcript.
    const learned = (await tx.ledger.since("learning.finished", 0)).some(
      ({ data }) => data.invocation === invocation && isDone(data),
    );
    const judged = judge(given, {
      ...{ from, run, file, invocation, learned, prefix },
      before: kindsGiven(await tx.ledger.since("signal.given", 0), invocation),
      useful: new Map(useful.map(({ ref, kind }) => [ref, kind])),
      skills,
    });
    const common = { at: clock.now(), project: project.id, session: run, actor: "agent" as const };
    await note(
      tx,
      judged.map((one) => entryOf(one, common)),
    );
    return judged;
  });
}

/** A signal that was refused may be given again and count, so that both are noted. */
function entryOf(
  data: SignalGiven,
  common: Pick<LedgerEntry, "at" | "project" | "session" | "actor">,
): LedgerEntry {
  return { ...common, type: "signal.given", key: `signal:${data.id}:${data.refusal ?? "counts"}`, data };
}

type Skills = ReadonlyMap<string, { readonly owner: Owner; readonly text: string }>;

/** The skills of a project and of the person, the first of each name. */
async function skillsHere(
  { library, places }: Pick<ForegroundDeps, "library" | "places">,
  root: string | null,
): Promise<Skills> {
  const skills = new Map<string, { owner: Owner; text: string }>();
  for (const place of places.all(root)) {
    const listing = await library.list(place);
    if (listing.found !== "skills") continue;
    for (const { name, owner, text } of listing.skills)
      if (!skills.has(name)) skills.set(name, { owner, text });
  }
  return skills;
}

/** Whose the skills are that signals name, also those that lie elsewhere: plugins have theirs. */
async function withLibrary(
  { inLibrary = async () => null }: ForegroundDeps,
  given: readonly (Claim | Formless)[],
  here: Skills,
): Promise<SignalGround["skills"]> {
  const owners = new Map(ownersOf(here));
  for (const one of given) {
    if (!("refs" in one)) continue;
    const name = one.kind === "create" ? one.nameHint : one.skill;
    const owner = owners.has(name) ? null : await inLibrary(name);
    if (owner !== null) owners.set(name, owner);
  }
  return owners;
}

function ownersOf(skills: Skills): SignalGround["skills"] {
  return new Map([...skills].map(([name, { owner }]) => [name, owner]));
}

/**
 * Notes what sessions show that they should have learned, and nobody said; and what an agent began to learn and could
 * not, in whatever session that was. May be called again: a finding or a learning gives one signal. What another agent
 * did for a session shows in the session itself; that one speaks for itself, or not at all.
 */
export async function deriveSignals(
  deps: ForegroundDeps,
  sessions: readonly SessionView[],
): Promise<SignalGiven[]> {
  const { store } = deps;
  const heard = sessions.filter(({ subagent }) => !subagent);
  const lessons = await newLessons(
    store,
    heard.map(({ id }) => id),
  );
  const learnings = await learningsOf(store);
  const shown = shownBy(heard, lessons, await failedAndOver(deps, learnings, heard));
  if (shown.length === 0) return [];
  const at = await surroundingsOf(
    deps,
    shown.map(({ session }) => session),
    learnings,
  );
  const entries: LedgerEntry[] = [];
  for (const one of shown) entries.push(...(await deriveFrom(deps, one, at)));
  if (entries.length === 0) return [];
  const added = await store.transaction((tx) => note(tx, entries));
  return added.flatMap((entry) => (entry.type === "signal.given" ? entry.data : []));
}

/** What a session shows that nobody wrote down: lessons, and learnings that came to nothing. */
interface Shown {
  readonly session: SessionView;
  readonly lessons: readonly KeptFinding[];
  readonly failed: readonly Learning[];
}

function shownBy(
  heard: readonly SessionView[],
  lessons: readonly KeptFinding[],
  failed: ReadonlyMap<SessionView, readonly Learning[]>,
): Shown[] {
  const own = groupBySession(lessons);
  const tried = new Map([...failed].map(([{ id }, learnings]) => [id, learnings]));
  const sessions = new Map([...heard, ...failed.keys()].map((one) => [one.id, one]));
  return [...sessions.values()]
    .map((session) => ({ session, lessons: own.get(session.id) ?? [], failed: tried.get(session.id) ?? [] }))
    .filter(({ lessons, failed }) => lessons.length + failed.length > 0);
}

/**
 * The learnings that came to nothing in turns that are over, by session, as long as what was written for them is kept.
 * Nobody may have gone on with a session since, so that it is looked up where it is not among those just heard.
 */
async function failedAndOver(
  { store, clock }: ForegroundDeps,
  learnings: readonly Learning[],
  heard: readonly SessionView[],
): Promise<Map<SessionView, Learning[]>> {
  const found = new Map<SessionView, Learning[]>();
  const oldest = clock.now() - policy.protocol.stagingDays * policy.model.dayMs;
  const recent = failedOf(learnings).filter(({ session, lastAt }) => session !== null && lastAt > oldest);
  if (recent.length === 0) return found;
  const told = new Set((await store.ledger.since("signal.given", 0)).map(({ data }) => data.id));
  const failed = recent.filter(
    ({ session, started }) => !told.has(derivedId(session ?? "", started.learning)),
  );
  const files = new Set(heard.map(({ id }) => id));
  const isAllHeard = failed.every(({ started }) => files.has(started.file));
  for (const session of isAllHeard ? heard : await viewSessions(store)) {
    const own = failed.filter(({ started }) => started.file === session.id);
    const going = own.length === 0 ? null : await turnGoingOn({ store, clock }, session);
    const over = own.filter((one) => going === null || !turnsOf(one).has(going));
    if (over.length > 0) found.set(session, over);
  }
  return found;
}

/** The turn of a session that may still go on; null where nothing happened for long. */
async function turnGoingOn(
  { store, clock }: Pick<ForegroundDeps, "store" | "clock">,
  session: SessionView,
): Promise<string | null> {
  if ((session.endedAt ?? 0) < clock.now() - policy.signal.quietMs) return null;
  const [last] = await latestEvents(store, session, 1);
  return invocationOf(threadOf(session), last?.turn ?? 0);
}

/** What sessions taught that may be told, and is kept nowhere. */
async function newLessons(store: Store, sessions: readonly string[]): Promise<KeptFinding[]> {
  const findings = await withoutWaiting(store, await store.learning.findings.ofSessions(sessions));
  if (findings.length === 0) return [];
  return findings.filter(isUnwritten(await historyOf(store)));
}

/** Whether nothing that is kept was made of a lesson. */
export function isUnwritten({ kept }: History): (lesson: { readonly instinct: string }) => boolean {
  const written = new Set(kept.flatMap(({ instinct, members = [] }) => [instinct, ...members]));
  return ({ instinct }) => !written.has(instinct);
}

/** The signals that were given, without those of the transcript whose lesson is kept or refused by now, or whose learning came to something. */
export async function openSignals(store: Store): Promise<EntryOf<"signal.given">[]> {
  const given = await store.ledger.since("signal.given", 0);
  const from = [...new Set(given.flatMap(({ data }) => data.finding ?? []))];
  const learnings = from.some(isWrittenId) ? failedOf(await learningsOf(store)) : [];
  const failed = new Set(learnings.map(({ started }) => started.learning));
  const { learning } = store;
  const instincts = await learning.findings.instinctsOf(from);
  const known = await learning.instincts.get([...new Set(instincts.values())]);
  const refused = new Set(known.flatMap(({ id, standing }) => (standing.status === "rejected" ? id : [])));
  const isNew = isUnwritten(await historyOf(store));
  return given.filter(({ data: { finding } }) => {
    if (finding !== undefined && isWrittenId(finding)) return failed.has(finding);
    const instinct = finding === undefined ? undefined : instincts.get(finding);
    return instinct === undefined || (isNew({ instinct }) && !refused.has(instinct));
  });
}

function groupBySession(findings: readonly KeptFinding[]): Map<string, KeptFinding[]> {
  const groups = new Map<string, KeptFinding[]>();
  for (const one of findings) groups.set(one.session, [...(groups.get(one.session) ?? []), one]);
  return groups;
}

/** What is known besides the sessions, read once for all of them. */
async function surroundingsOf(
  deps: ForegroundDeps,
  sessions: readonly SessionView[],
  begun: readonly Learning[],
) {
  const { ledger } = deps.store;
  // What an agent or a person said has the time of this clock, what a transcript shows has that of its own.
  const since = Math.min(...sessions.map(({ startedAt }) => startedAt ?? 0));
  const projects = new Map<string, Promise<{ skills: Skills; prefix: string } | null>>();
  return {
    signals: await ledger.since("signal.given", 0),
    learnings: (await ledger.since("learning.finished", 0)).filter(({ data }) => isDone(data)),
    wanted: begun.filter((one) => endOf(one)?.status !== "aborted"),
    uses: await ledger.since("skill.used", since),
    /** Null where nothing is learned. */
    projectOf: ({ project: { id, root } }: SessionView) => {
      const known = projects.get(id) ?? projectAt(deps, id, root);
      projects.set(id, known);
      return known;
    },
  };
}

async function projectAt(deps: ForegroundDeps, id: string, root: string | null) {
  if ((await deps.refuses(root, id)) !== null) return null;
  return { skills: await skillsHere(deps, root), prefix: await deps.prefixOf(root) };
}

type Surroundings = Awaited<ReturnType<typeof surroundingsOf>>;

async function deriveFrom(deps: ForegroundDeps, shown: Shown, at: Surroundings): Promise<LedgerEntry[]> {
  const { session } = shown;
  const here = await at.projectOf(session);
  if (here === null) return [];
  const run = threadOf(session);
  const uses = at.uses.filter((use) => use.session === run).map(({ data }) => data);
  const events = await eventsBehind(deps.store, shown, uses);
  const made = derived(subjectsOf(shown, events), {
    ...{ run, ...here, uses: firstUses(uses, events) },
    ...saidIn(session, at, idsIn(shown)),
  });
  const useful = new Map([...events.values()].filter(isUseful).map(({ ref, kind }) => [ref, kind]));
  const ground = { ...{ run, useful, file: session.id }, prefix: here.prefix, skills: ownersOf(here.skills) };
  const counted = made.flatMap((one) => countedOf(one, ground));
  const times = timesOf(shown, run, deps.clock.now());
  const common = { project: session.project.id, session: run, actor: "knack" as const };
  // The words are those of findings and learnings, which are on the ledger already.
  return counted.map((one) => entryOf(one, { ...common, at: times.get(one.id) ?? session.startedAt }));
}

/** The events that decide about what a session shows, by their refs. */
async function eventsBehind(
  store: Store,
  { session, lessons, failed }: Shown,
  uses: readonly Used[],
): Promise<ReadonlyMap<string, Event>> {
  const named = await eventsNamed(store, session, [
    ...lessons.flatMap(({ finding }) => finding.refs),
    ...uses.map(({ ref }) => ref),
    ...failed.flatMap(refsOf),
  ]);
  // What a subagent did may stand in its parent's file, and is not its parent's doing.
  const own = session.subagent ? named : named.filter(({ sidechain }) => !sidechain);
  return new Map(own.map((event) => [event.ref, event]));
}

function subjectsOf(
  { lessons, failed }: Shown,
  events: ReadonlyMap<string, Event>,
): readonly (Missed | Failed)[] {
  const behind = (refs: readonly string[]) => refs.flatMap((ref) => events.get(ref) ?? []);
  return [
    ...lessons.map(({ id, finding }) => ({ id, finding, events: behind(finding.refs) })),
    ...failed.map((one) => failedWith(one, behind(refsOf(one)))),
  ];
}

function firstUses(uses: readonly Used[], events: ReadonlyMap<string, Event>): FirstUse[] {
  return uses.flatMap(({ name, ref }) => {
    const turn = events.get(ref)?.turn;
    return turn === undefined ? [] : [{ name, number: numberOf(ref), turn }];
  });
}

function idsIn({ lessons, failed }: Shown): string[] {
  return [...lessons.map(({ id }) => id), ...failed.map(({ started }) => started.learning)];
}

/** When each was shown. Of a learning that failed it is told only now, when a review may have been there already. */
function timesOf({ lessons, failed }: Shown, run: string, now: number): ReadonlyMap<string, number> {
  return new Map([
    ...lessons.map(({ id, at }) => [derivedId(run, id), at] as const),
    ...failed.map(({ started }) => [derivedId(run, started.learning), now] as const),
  ]);
}

/** What was said and learned in a session before. */
function saidIn(
  session: SessionView,
  at: Surroundings,
  ids: readonly string[],
): Pick<DerivingGround, "settled" | "taught" | "known" | "given"> {
  const run = threadOf(session);
  const own = at.signals.filter((entry) => entry.session === run).map(({ data }) => data);
  const learnings = at.learnings.filter((entry) => entry.session === run).map(({ data }) => data);
  const said = own.filter(({ from, refusal }) => from !== "transcript" && refusal === null);
  const before = own.filter(({ from }) => from === "transcript");
  const knownIds = new Set(before.map(({ id }) => id));
  const given = new Map<string, number>();
  for (const { invocation } of before) given.set(invocation, (given.get(invocation) ?? 0) + 1);
  const isHere = ({ file }: { readonly file: string }) => file === session.id;
  const wanted = at.wanted.filter(({ started }) => isHere(started));
  return {
    given,
    settled: new Set([...learnings, ...said].map(({ invocation }) => invocation)),
    taught: new Set([...learnings.filter(isHere).flatMap(({ refs }) => refs), ...wanted.flatMap(refsOf)]),
    known: new Set(ids.filter((id) => knownIds.has(derivedId(run, id)))),
  };
}

function failedWith(one: Learning, events: readonly Event[]): Failed {
  const { learning: id, action, skill, reason, message } = one.started;
  const { invocation, summary } = lastTryOf(one);
  return {
    ...{ id, invocation, action, skill, reason, events },
    ...{ refs: refsOf(one), summary: summary ?? message },
  };
}

/** A derived signal that meets what one must meet that an agent gives; another is none. */
function countedOf(
  { finding, invocation, claim }: Derived,
  ground: Pick<SignalGround, "run" | "file" | "useful" | "prefix" | "skills">,
): SignalGiven[] {
  const turn = { from: "transcript" as const, invocation, learned: false, before: new Set<never>() };
  return judge([claim], { ...ground, ...turn })
    .filter(({ refusal }) => refusal === null)
    .map((one) => ({ ...one, id: derivedId(ground.run, finding), finding }));
}

/** One for each finding or learning, also when its words have changed since. */
function derivedId(run: string, finding: string): string {
  return idOf("g", `${run} ${finding}`);
}
