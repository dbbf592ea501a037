import type { Json } from "../../base/index.ts";
import { recordEntries } from "../../lessons/index.ts";
import {
  type AuthoringFault,
  createFault,
  getThreadId,
  isPublished,
  type LedgerEntry,
  type Owner,
  type RefusedSignal,
  type Signal,
  type SignalGiven,
  shorten,
} from "../../records/index.ts";
import { readEventsByRef } from "../../transcripts/index.ts";
import { scrubJson } from "../../trust/index.ts";
import type { ActiveCaller } from "../caller.ts";
import type { AuthoringDeps } from "../deps.ts";
import {
  type AuthoringResult,
  codeChars,
  findCallerFault,
  maxRefs,
  refuseWith,
  summaryChars,
} from "../protocol.ts";
import { useSkill } from "../use.ts";
import { isUseful, judgeSignals, listGivenKinds, type MalformedSignal, readReply } from "./signal.ts";

/** What an agent's structured reply came to. */
export interface ReplyTaken {
  /** The receipts to show, each once. */
  readonly receipts: readonly string[];
  readonly signals: readonly SignalGiven[];
  /** What does not have the form. */
  readonly problems: readonly string[];
}

/** Takes one signal that an agent gives by a call. */
export async function giveSignal(
  deps: AuthoringDeps,
  active: ActiveCaller,
  signal: Signal,
): Promise<AuthoringResult<SignalGiven>> {
  const fault = await findSignalFault(deps, active);
  if (fault !== null) return refuseWith(fault);
  const clean = cutSignal(await scrubSignal(deps, { ...signal, refs: signal.refs.slice(0, maxRefs) }));
  const [given] = await takeSignals(deps, active, "agent", [clean]);
  if (given === undefined) throw new Error("a signal was neither counted nor refused");
  return given.refusal === null ? { ok: true, value: given } : refuseWith(describeRefusal(given));
}

/** Without secrets. It is cut afterwards, so that each secret is found whole. */
async function scrubSignal<Said extends object>({ redactor }: AuthoringDeps, said: Said): Promise<Said> {
  return (await scrubJson(redactor, said as Json, summaryChars)) as Said;
}

function cutSignal(signal: Signal): Signal {
  const code = (text: string) => text.slice(0, codeChars);
  const refs = signal.refs.map(code);
  return signal.kind === "create"
    ? { ...signal, refs, nameHint: code(signal.nameHint), summary: shorten(signal.summary, summaryChars) }
    : { ...signal, refs, skill: code(signal.skill), hint: shorten(signal.hint, summaryChars) };
}

function describeRefusal({ refusal, message }: RefusedSignal): AuthoringFault {
  return createFault(
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
export async function takeReply(
  deps: AuthoringDeps,
  active: ActiveCaller,
  reply: unknown,
): Promise<ReplyTaken> {
  const read = await scrubSignal(deps, readReply(reply));
  const [problems, receipts] = [[...read.problems], [] as string[]];
  for (const used of read.receipts) {
    const answer = await useSkill(deps, active, used);
    if (!answer.ok) problems.push(`${used.skill}: ${answer.fault.message}`);
    else if (answer.value.receipt !== null && !answer.value.already) receipts.push(answer.value.receipt);
  }
  if (read.signals.length === 0) return { receipts, signals: [], problems };
  const fault = await findSignalFault(deps, active);
  if (fault !== null) return { receipts, signals: [], problems: [...problems, fault.message] };
  return { receipts, signals: await takeSignals(deps, active, "reply", read.signals), problems };
}

/** Why no signal of a caller is taken. Background work starts no review of its own. */
async function findSignalFault(
  deps: AuthoringDeps,
  { caller, session }: ActiveCaller,
): Promise<AuthoringFault | null> {
  const { root, id } = caller.project;
  return findCallerFault(caller, session !== null, await deps.refuses(root, id));
}

/** Judges and records what was given together. */
async function takeSignals(
  deps: AuthoringDeps,
  { caller, session }: ActiveCaller,
  from: "agent" | "reply",
  given: readonly (Signal | MalformedSignal)[],
): Promise<SignalGiven[]> {
  if (session === null) return [];
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
      useful: new Map(useful.map(({ ref, kind }) => [ref, kind])),
    });
    const common = { at: clock.now(), project: project.id, session: run, actor: "agent" as const };
    await recordEntries(
      tx,
      judged.map((one) => toSignalEntry(one, common)),
    );
    return judged;
  });
}

/** A signal that was refused may be given again and count, so that both are recorded. */
export function toSignalEntry(
  data: SignalGiven,
  common: Pick<LedgerEntry, "at" | "project" | "session" | "actor">,
): LedgerEntry {
  const key = `signal:${data.id}:${data.refusal ?? "counts"}`;
  return { ...common, type: "signal.given", key, data } as LedgerEntry;
}

export type SkillTexts = ReadonlyMap<string, { readonly owner: Owner; readonly text: string }>;

/** The skills of a project and of the person, the first of each name. */
export async function readSkills(
  { library, places }: Pick<AuthoringDeps, "library" | "places">,
  root: string | null,
): Promise<SkillTexts> {
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
  given: readonly (Signal | MalformedSignal)[],
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
