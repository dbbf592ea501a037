import { type Derived, derived, type FirstUse, type Missed } from "../core/derived-signal.ts";
import { type Event, numberOf } from "../core/event.ts";
import { idOf } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import type { EntryOf, LedgerEntry } from "../core/ledger.ts";
import { policy } from "../core/policy.ts";
import { type Answer, callerFault, type Fault, faultOf, faulty, isDone } from "../core/protocol.ts";
import { readReply } from "../core/reply.ts";
import { runOf } from "../core/session.ts";
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
import type { Present } from "./caller.ts";
import { type ForegroundDeps, useSkill } from "./foreground.ts";
import { eventsOf, type SessionView } from "./inspect.ts";
import { withoutWaiting } from "./learn.ts";
import { note } from "./note.ts";
import type { KeptFinding, Store } from "./ports.ts";
import { scrubJson } from "./scrub.ts";
import { type History, historyOf } from "./step.ts";

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
  if (away !== null) return { ok: false, fault: away };
  const [given] = await take(deps, present, "agent", [bounded(signal)]);
  if (given === undefined) throw new Error("a signal that was given is neither counted nor refused");
  return given.refusal === null ? { ok: true, value: given } : faulty(refusedBy(given));
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
  const read = readReply(reply);
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
  const { store, clock, redactor } = deps;
  const clean = (await scrubJson(
    redactor,
    given as unknown as Json,
    policy.protocol.summaryChars,
  )) as unknown as (Claim | Formless)[];
  const refs = clean.flatMap((one) => ("refs" in one ? one.refs : []));
  const useful = (await eventsNamed(store, session, refs)).filter(isUseful);
  const skills = await withLibrary(deps, clean, await skillsHere(deps, caller.project.root));
  const run = caller.session ?? runOf(session);
  const { invocation, project } = caller;
  const prefix = await deps.prefixOf(project.root);
  return store.transaction(async (tx) => {
    // By the turn's name, not by time: the clock here need not be that of the transcript.
    const learned = (await tx.ledger.since("learning.finished", 0)).some(
      ({ data }) => data.invocation === invocation && isDone(data),
    );
    const judged = judge(clean, {
      ...{ from, run, invocation, learned, prefix },
      before: kindsGiven(await tx.ledger.since("signal.given", 0), invocation),
      useful: new Set(useful.map(({ ref }) => ref)),
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

/** The events of a session that refs name. */
async function eventsNamed(store: Store, session: SessionView, refs: readonly string[]): Promise<Event[]> {
  const wanted = new Set(refs);
  if (session.alsoFrom.length === 0) return store.events.some(session.id, [...wanted]);
  return (await eventsOf(store, session)).filter(({ ref }) => wanted.has(ref));
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
 * Notes what sessions show that they should have learned, and nobody said. May be called again: a finding gives one
 * signal. What another agent did for a session has refs of its own, which could be mistaken for the session's.
 */
export async function deriveSignals(
  deps: ForegroundDeps,
  sessions: readonly SessionView[],
): Promise<SignalGiven[]> {
  const { store } = deps;
  const heard = new Map(sessions.flatMap((one) => (one.subagent ? [] : [[one.id, one] as const])));
  const findings = await newLessons(store, [...heard.keys()]);
  if (findings.length === 0) return [];
  const at = await surroundingsOf(deps, [...heard.values()]);
  const entries: LedgerEntry[] = [];
  for (const [session, own] of groupBySession(findings)) {
    const view = heard.get(session);
    if (view) entries.push(...(await deriveFrom(deps, view, own, at)));
  }
  if (entries.length === 0) return [];
  const added = await store.transaction((tx) => note(tx, entries));
  return added.flatMap((entry) => (entry.type === "signal.given" ? entry.data : []));
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

/** The signals that were given, without those of the transcript whose lesson is kept or refused by now. */
export async function openSignals(store: Store): Promise<EntryOf<"signal.given">[]> {
  const given = await store.ledger.since("signal.given", 0);
  const findings = [...new Set(given.flatMap(({ data }) => data.finding ?? []))];
  const { learning } = store;
  const instincts = await learning.findings.instinctsOf(findings);
  const known = await learning.instincts.get([...new Set(instincts.values())]);
  const refused = new Set(known.flatMap(({ id, standing }) => (standing.status === "rejected" ? id : [])));
  const isNew = isUnwritten(await historyOf(store));
  return given.filter(({ data: { finding } }) => {
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
async function surroundingsOf(deps: ForegroundDeps, sessions: readonly SessionView[]) {
  const { ledger } = deps.store;
  // What an agent or a person said has the time of this clock, what a transcript shows has that of its own.
  const since = Math.min(...sessions.map(({ startedAt }) => startedAt ?? 0));
  const projects = new Map<string, Promise<{ skills: Skills; prefix: string } | null>>();
  return {
    signals: await ledger.since("signal.given", 0),
    learnings: (await ledger.since("learning.finished", 0)).filter(({ data }) => isDone(data)),
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

async function deriveFrom(
  deps: ForegroundDeps,
  session: SessionView,
  findings: readonly KeptFinding[],
  at: Awaited<ReturnType<typeof surroundingsOf>>,
): Promise<LedgerEntry[]> {
  const here = await at.projectOf(session);
  if (here === null) return [];
  const run = runOf(session);
  const uses = at.uses.filter((use) => use.session === run).map(({ data }) => data);
  const refs = [...findings.flatMap(({ finding }) => finding.refs), ...uses.map(({ ref }) => ref)];
  const named = await eventsNamed(deps.store, session, refs);
  // What a subagent did is in its parent's file, and not its parent's doing.
  const events = new Map(named.flatMap((event) => (event.sidechain ? [] : [[event.ref, event] as const])));
  const own = at.signals.filter((entry) => entry.session === run).map(({ data }) => data);
  const learnings = at.learnings.filter((entry) => entry.session === run).map(({ data }) => data);
  const said = own.filter(({ from, refusal }) => from !== "transcript" && refusal === null);
  const before = own.filter(({ from }) => from === "transcript");
  const knownIds = new Set(before.map(({ id }) => id));
  const given = new Map<string, number>();
  for (const { invocation } of before) given.set(invocation, (given.get(invocation) ?? 0) + 1);
  const made = derived(
    findings.map(({ id, finding }): Missed => {
      return { id, finding, events: finding.refs.flatMap((ref) => events.get(ref) ?? []) };
    }),
    {
      ...{ run, ...here, given },
      uses: uses.flatMap(({ name, ref }): FirstUse[] => {
        const turn = events.get(ref)?.turn;
        return turn === undefined ? [] : [{ name, number: numberOf(ref), turn }];
      }),
      settled: new Set([...learnings, ...said].map(({ invocation }) => invocation)),
      taught: new Set(learnings.flatMap((one) => one.refs)),
      known: new Set(findings.flatMap(({ id }) => (knownIds.has(derivedId(run, id)) ? id : []))),
    },
  );
  const useful = new Set([...events.values()].filter(isUseful).map(({ ref }) => ref));
  const ground = { ...{ run, useful }, prefix: here.prefix, skills: ownersOf(here.skills) };
  const counted = made.flatMap((one) => countedOf(one, ground));
  const times = new Map(findings.map(({ id, at: when }) => [derivedId(run, id), when]));
  const common = { project: session.project.id, session: run, actor: "knack" as const };
  // The words are those of findings, which are on the ledger already.
  return counted.map((one) => entryOf(one, { ...common, at: times.get(one.id) ?? session.startedAt }));
}

/** A derived signal that meets what one must meet that an agent gives; another is none. */
function countedOf(
  { finding, invocation, claim }: Derived,
  ground: Pick<SignalGround, "run" | "useful" | "prefix" | "skills">,
): SignalGiven[] {
  const turn = { from: "transcript" as const, invocation, learned: false, before: new Set<never>() };
  return judge([claim], { ...ground, ...turn })
    .filter(({ refusal }) => refusal === null)
    .map((one) => ({ ...one, id: derivedId(ground.run, finding), finding }));
}

/** One for each finding, also when its words have changed since. */
function derivedId(run: string, finding: string): string {
  return idOf("g", `${run} ${finding}`);
}
