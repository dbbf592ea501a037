import { type Json, makeId } from "../base/index.ts";
import { withoutUnconfirmed } from "../learning/index.ts";
import { recordEntries } from "../lessons/index.ts";
import {
  type ChangeHistory,
  isSkillName,
  mainText,
  nullIfDamaged,
  parseSkill,
  readHistory,
  skillOwner,
} from "../library/index.ts";
import {
  type AuthoringFault,
  type EntryOf,
  getThreadId,
  isPublished,
  type LedgerEntry,
  type Owner,
  parseRef,
  type Receipt,
  type RefusedSignal,
  type Signal,
  type SignalGiven,
  type StoredFinding,
} from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { readEventsByRef, type SessionView } from "../transcripts/index.ts";
import { scrubJson } from "../trust/index.ts";
import { type ActiveCaller, type AuthoringDeps, listSkillFolders, scrubTexts } from "./caller.ts";
import {
  type AuthoringResult,
  composeReceipt,
  findCallerFault,
  refuse,
  refuseWith,
  summaryChars,
} from "./protocol.ts";
import { deriveClaims, findNameFault, isUseful, judgeSignals, readReply } from "./signals.ts";

type GivenSignal = Parameters<typeof judgeSignals>[0][number];
type DerivingFacts = Parameters<typeof deriveClaims>[1];

/** Signals: those that agents report, and those derived from sessions. */
export const signalVerbs = { giveSignal, takeReply, useSkill, deriveSignals };

/** Takes one signal that an agent gives by a call. */
async function giveSignal(
  deps: AuthoringDeps,
  active: ActiveCaller,
  signal: Signal,
): Promise<AuthoringResult<SignalGiven>> {
  const fault = await findSignalFault(deps, active);
  if (fault !== null) return refuseWith(fault);
  const [given] = await takeSignals(deps, active, "agent", [await scrubSaid(deps, signal)]);
  if (given === undefined) throw new Error("a signal was neither counted nor refused");
  return given.refusal === null ? { ok: true, value: given } : describeRefusal(given);
}

/** Without secrets, and then cut: a secret is only found whole. */
async function scrubSaid<Said extends object>({ redactor }: AuthoringDeps, said: Said): Promise<Said> {
  return (await scrubJson(redactor, said as Json, summaryChars)) as Said;
}

function describeRefusal({ refusal, message }: RefusedSignal) {
  return refuse(
    refusal === "refs-unresolved" || refusal === "too-few-refs" ? "evidence_unresolved" : "signal_refused",
    `The signal does not count: ${message}.`,
    nextSteps[refusal] ?? "Correct that and signal again, or leave it: most turns signal nothing.",
    [refusal],
  );
}

const nameEvents =
  "Call event_expand without event_refs to list this session's events, and name two that show it.";

const nextSteps: Partial<Readonly<Record<RefusedSignal["refusal"], string>>> = {
  "both-signals": "Neither of this turn counts any more. Signal one of them in a later turn.",
  "already-learned": "Nothing is left to do.",
  "too-few-refs": nameEvents,
  "refs-unresolved": nameEvents,
  "skill-exists": "Signal what is wrong with that skill, or name another.",
  "unknown-skill": "Call skill_search or skill_load without a name to see which skills there are.",
  "core-skill": "Leave it.",
};

/** Takes an agent's structured reply: `used_skill_receipts`, `learning_signal`, `skill_issue_signal`. */
async function takeReply(
  deps: AuthoringDeps,
  active: ActiveCaller,
  reply: unknown,
): Promise<{
  /** The receipts to show, each once. */
  readonly receipts: readonly string[];
  readonly signals: readonly SignalGiven[];
  /** Parts of the reply that are invalid. */
  readonly problems: readonly string[];
}> {
  const read = await scrubSaid(deps, readReply(reply));
  const [problems, receipts] = [[...read.problems], [] as string[]];
  for (const used of read.receipts) {
    const answer = await useSkill(deps, active, used);
    if (!answer.ok) problems.push(`${used.skill}: ${answer.fault.message}`);
    else if (answer.value.receipt !== null) receipts.push(answer.value.receipt);
  }
  const fault = read.signals.length === 0 ? null : await findSignalFault(deps, active);
  if (fault !== null) return { receipts, signals: [], problems: [...problems, fault.message] };
  return { receipts, signals: await takeSignals(deps, active, "reply", read.signals), problems };
}

/** Why no signal of a caller is taken. Background work starts no review of its own. */
async function findSignalFault(deps: AuthoringDeps, active: ActiveCaller): Promise<AuthoringFault | null> {
  const { root, id } = active.caller.project;
  return findCallerFault(active.caller, active.session !== null, await deps.refuses(root, id));
}

/** Notes that a learned skill guided the work, once for a turn; the receipt is null for what needs none. */
async function useSkill(
  deps: AuthoringDeps,
  active: ActiveCaller,
  { skill, message }: { readonly skill: string; readonly message: string | null },
): Promise<AuthoringResult<{ readonly receipt: string | null; readonly already: boolean }>> {
  const { session, invocation, kind, project } = active.caller;
  const fault = findNameFault("update", skill.slice(skill.lastIndexOf(":") + 1), "");
  if (fault) return refuseWith(fault);
  const owner = await findOwner(deps, active, skill);
  if (owner === null)
    return refuse(
      "skill_unknown",
      `No skill is called ${skill}.`,
      "Look for its name with skill_search; a skill that nobody has needs no receipt.",
    );
  if (owner !== "learned" || kind === "background")
    return { ok: true, value: { receipt: null, already: false } };
  const [clean = ""] = await scrubTexts(deps, [message ?? ""]);
  const text = composeReceipt("used", skill, clean || null);
  // Without a session no turn is known, and nothing of which it could be the second time.
  if (session === null) return { ok: true, value: { receipt: text, already: false } };
  const data: Receipt = { kind: "used", skill, text, invocation };
  const entry: LedgerEntry = {
    ...{ at: deps.clock.now(), project: project.id, session, actor: "agent", type: "receipt.given" },
    ...{ key: `receipt:used:${invocation}:${skill}`, data },
  };
  const already = (await deps.store.transaction((tx) => recordEntries(tx, [entry]))).length === 0;
  return { ok: true, value: { receipt: already ? null : text, already } };
}

/** Only the packages of this name are read: whatever else there is may be large. */
async function findOwner(deps: AuthoringDeps, active: ActiveCaller, skill: string): Promise<Owner | null> {
  for (const { folder } of isSkillName(skill) ? listSkillFolders(deps, active).all : []) {
    const path = `${folder}/${skill}`;
    const found = await deps.library.read(path).catch(nullIfDamaged);
    const { skill: there } = parseSkill(mainText(found?.files ?? []));
    if (there !== null && there.description.trim() !== "") return skillOwner(path, there);
  }
  return (await deps.inLibrary?.(skill)) ?? null;
}

/** Judges and records what was given together. */
async function takeSignals(
  deps: AuthoringDeps,
  { caller, session }: ActiveCaller,
  from: "agent" | "reply",
  given: readonly GivenSignal[],
): Promise<SignalGiven[]> {
  if (session === null || given.length === 0) return [];
  const { store, clock } = deps;
  const refs = given.flatMap((one) => ("refs" in one ? one.refs : []));
  const useful = (await readEventsByRef(store, session, refs)).filter(isUseful);
  const skills = await findOwners(deps, given, caller.project.root);
  const [run, file] = [getThreadId(session), session.id];
  const { invocation, project } = caller;
  const prefix = await deps.prefixOf(project.root);
  return store.transaction(async (tx) => {
    // By the turn's name, not by time: this clock need not be the transcript's.
    const learned = (await tx.ledger.since("writing.finished", 0)).some(
      ({ data }) => data.invocation === invocation && isPublished(data),
    );
    const judged = judgeSignals(given, {
      ...{ from, run, file, invocation, learned, prefix, skills },
      before: listGivenKinds(await tx.ledger.since("signal.given", 0), invocation),
      useful: new Map(useful.map((event) => [event.ref, event])),
    });
    const common = { at: clock.now(), project: project.id, session: run, actor: "agent" as const };
    await recordEntries(
      tx,
      judged.map((one) => toSignalEntry(one, common)),
    );
    return judged;
  });
}

/** The kinds that stand in a turn. One that was refused for its own sake may be followed by any other. */
function listGivenKinds(entries: readonly EntryOf<"signal.given">[], invocation: string) {
  const kinds = new Set<Signal["kind"]>();
  for (const { data } of entries) {
    if (data.invocation !== invocation || data.from === "transcript") continue;
    if (data.refusal === null) kinds.add(data.signal.kind);
    // The other one may have been malformed, without a kind.
    else if (data.refusal === "both-signals") kinds.add("create").add("update");
  }
  return kinds;
}

/** A signal that was refused may be given again and count, so that both are recorded. */
function toSignalEntry(
  data: SignalGiven,
  common: Pick<LedgerEntry, "at" | "project" | "session" | "actor">,
): LedgerEntry {
  const key = `signal:${data.id}:${data.refusal ?? "counts"}`;
  return { ...common, type: "signal.given", key, data } as LedgerEntry;
}

/** The skills of a project and of the person, the first of each name. */
async function readSkills(
  { library, places }: AuthoringDeps,
  root: string | null,
): Promise<DerivingFacts["skills"]> {
  const skills = new Map<string, { owner: Owner; text: string }>();
  for (const place of places.all(root)) {
    const listing = await library.list(place);
    if (listing.found !== "skills") continue;
    for (const { name, owner, text } of listing.skills)
      if (!skills.has(name)) skills.set(name, { owner, text });
  }
  return skills;
}

/** Who made the skills that signals name; those of plugins lie elsewhere. */
async function findOwners(
  deps: AuthoringDeps,
  given: readonly GivenSignal[],
  root: string | null,
): Promise<ReadonlyMap<string, Owner>> {
  const owners = new Map([...(await readSkills(deps, root))].map(([name, { owner }]) => [name, owner]));
  for (const one of given) {
    if (!("refs" in one)) continue;
    const name = one.kind === "create" ? one.nameHint : one.skill;
    const owner = owners.has(name) ? null : ((await deps.inLibrary?.(name)) ?? null);
    if (owner !== null) owners.set(name, owner);
  }
  return owners;
}

// --- Derived signals ---

/**
 * Records the signals derived from findings that no agent signalled and no skill covers. May be called again: a
 * finding gives one signal. Subagents are left out: what they did shows in the session that they worked for.
 */
async function deriveSignals(deps: AuthoringDeps, sessions: readonly SessionView[]): Promise<SignalGiven[]> {
  const { store } = deps;
  const ids = sessions.flatMap(({ id, subagent }) => (subagent ? [] : id));
  const known = await withoutUnconfirmed(store, await store.learning.findings.ofSessions(ids));
  const findings = known.length === 0 ? [] : known.filter(isUnwritten(await readHistory(store)));
  const shown = sessions.filter(({ id }) => findings.some(({ session }) => session === id));
  if (shown.length === 0) return [];
  // Signals and writings have this clock's time, uses that of their transcript.
  const since = Math.min(...shown.map(({ startedAt }) => startedAt ?? 0));
  const past: Past = {
    signals: await store.ledger.since("signal.given", 0),
    published: (await store.ledger.since("writing.finished", 0)).filter(({ data }) => isPublished(data)),
    uses: await store.ledger.since("skill.used", since),
    skills: new Map(),
  };
  const entries: LedgerEntry[] = [];
  for (const session of shown) {
    const own = findings.filter((one) => one.session === session.id);
    entries.push(...(await deriveFromSession(deps, session, own, past)));
  }
  const added = await store.transaction((tx) => recordEntries(tx, entries));
  return added.flatMap((entry) => (entry.type === "signal.given" ? entry.data : []));
}

/** Ledger entries beside the sessions, read once for all of them. */
interface Past {
  readonly signals: readonly EntryOf<"signal.given">[];
  readonly published: readonly EntryOf<"writing.finished">[];
  readonly uses: readonly EntryOf<"skill.used">[];
  /** The skills of each project that was looked at. */
  readonly skills: Map<string, DerivingFacts["skills"]>;
}

async function deriveFromSession(
  deps: AuthoringDeps,
  session: SessionView,
  findings: readonly StoredFinding[],
  past: Past,
): Promise<LedgerEntry[]> {
  const { id, root } = session.project;
  if ((await deps.refuses(root, id)) !== null) return [];
  const run = getThreadId(session);
  const uses = past.uses.filter((use) => use.session === run).map(({ data }) => data);
  const refs = [...findings.flatMap(({ finding }) => finding.refs), ...uses.map(({ ref }) => ref)];
  // A subagent's events may stand in its parent's file; they are not the parent's doing.
  const named = (await readEventsByRef(deps.store, session, refs)).filter(({ sidechain }) => !sidechain);
  const events = new Map(named.map((event) => [event.ref, event]));
  const missed = findings.map((one) => ({
    ...{ ...one, events: one.finding.refs.flatMap((ref) => events.get(ref) ?? []) },
  }));
  const skills = past.skills.get(id) ?? (await readSkills(deps, root));
  past.skills.set(id, skills);
  const prefix = await deps.prefixOf(root);
  const first = uses.flatMap(({ name, ref }) => {
    const turn = events.get(ref)?.turn;
    return turn === undefined ? [] : [{ name, number: parseRef(ref), turn }];
  });
  const context = { run, prefix, skills, uses: first, ...readSessionHistory(session, past, findings) };
  const times = new Map(findings.map((one) => [one.id, one.foundAt]));
  const useful = new Map(named.filter(isUseful).map((event) => [event.ref, event]));
  const owners = new Map([...skills].map(([name, { owner }]) => [name, owner]));
  return deriveClaims(missed, context).flatMap(({ finding, invocation, claim }) => {
    const [judged] = judgeSignals([claim], {
      ...{ from: "transcript", run, invocation, file: session.id, learned: false, before: new Set<never>() },
      ...{ prefix, useful, skills: owners },
    });
    if (judged === undefined || judged.refusal !== null) return [];
    const at = times.get(finding) ?? deps.clock.now();
    const common = { at, project: id, session: run, actor: "knack" as const };
    return [toSignalEntry({ ...judged, id: derivedId(run, finding), finding }, common)];
  });
}

/** Earlier signals and writings of a session. */
function readSessionHistory(
  session: SessionView,
  past: Past,
  findings: readonly StoredFinding[],
): Pick<DerivingFacts, "settled" | "taught" | "known" | "given"> {
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
    taught: new Set(published.flatMap((one) => (one.file === session.id ? one.refs : []))),
    known: new Set(findings.flatMap(({ id }) => (derivedIds.has(derivedId(run, id)) ? id : []))),
  };
}

/** One signal for each finding, also when its words have changed since. */
function derivedId(run: string, finding: string): string {
  return makeId("g", `${run} ${finding}`);
}

// --- Which signals are settled ---

/** Whether nothing that is kept was made of a lesson. */
export function isUnwritten({ kept }: ChangeHistory): (finding: { readonly lessonId: string }) => boolean {
  const written = new Set(kept.flatMap(({ origin, members = [] }) => [origin.id, ...members]));
  return ({ lessonId }) => !written.has(lessonId);
}

/** The signals that were given, without derived ones of which the lesson is kept or rejected by now. */
export async function listOpenSignals(store: Store): Promise<EntryOf<"signal.given">[]> {
  const given = await store.ledger.since("signal.given", 0);
  const sources = [...new Set(given.flatMap(({ data }) => data.finding ?? []))];
  const lessonIds = await store.learning.findings.lessonIds(sources);
  const known = await store.learning.lessons.get([...new Set(lessonIds.values())]);
  const rejected = new Set(known.flatMap(({ id, state }) => (state.status === "rejected" ? id : [])));
  const isNew = isUnwritten(await readHistory(store));
  return given.filter(({ data: { finding } }) => {
    const lessonId = finding === undefined ? undefined : lessonIds.get(finding);
    return lessonId === undefined || (isNew({ lessonId }) && !rejected.has(lessonId));
  });
}
