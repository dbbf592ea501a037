import { type Event, type EventKind, numberOf, shorten } from "./event.ts";
import { idOf } from "./ids.ts";
import type { LedgerEntry } from "./ledger.ts";
import { isOwnCall } from "./own-call.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import {
  type DeferReason,
  deferReasons,
  type Effect,
  effects,
  evidenceLack,
  type Issue,
  isDone,
  issues,
  nameLack,
  refsFor,
  type Trigger,
  triggers,
} from "./protocol.ts";
import type { Owner } from "./skill.ts";

/** What an agent says it should have learned, and did not write down. */
export type Signal = CreateSignal | UpdateSignal;

/** Something that is worth a skill. */
export interface CreateSignal {
  readonly kind: "create";
  readonly nameHint: string;
  readonly trigger: Trigger;
  readonly deferred: DeferReason;
  readonly refs: readonly string[];
  readonly summary: string;
}

/** Something that is wrong with a skill. */
export interface UpdateSignal {
  readonly kind: "update";
  readonly skill: string;
  readonly issue: Issue;
  readonly deferred: DeferReason;
  readonly effect: Effect;
  readonly refs: readonly string[];
  readonly hint: string;
}

/** The same as somebody gives it: its codes may be any words. */
export type Claim = CreateClaim | UpdateClaim;

export interface CreateClaim extends Omit<CreateSignal, "trigger" | "deferred"> {
  readonly trigger: string;
  readonly deferred: string;
}

export interface UpdateClaim extends Omit<UpdateSignal, "issue" | "deferred" | "effect"> {
  readonly issue: string;
  readonly deferred: string;
  readonly effect: string;
}

/** Why a signal does not count. */
export type SignalRefusal =
  | "no-form"
  | "both-signals"
  | "already-learned"
  | "unknown-trigger"
  | "unknown-issue"
  | "unknown-effect"
  | "unknown-defer-reason"
  | "too-few-refs"
  | "refs-unresolved"
  | "bad-name"
  | "no-prefix"
  | "skill-exists"
  | "unknown-skill"
  | "core-skill"
  | "no-summary";

/** A signal as the ledger has it. */
export type SignalGiven = CountedSignal | RefusedSignal;

interface Given {
  readonly id: string;
  /** The agent's tool call, the agent's structured reply, or what the transcript shows. */
  readonly from: "agent" | "reply" | "transcript";
  readonly invocation: string;
  /** Knack's id of the session whose events it names: a run may have several files, each with numbers of its own. */
  readonly file?: string;
  /** The finding that it was derived from. */
  readonly finding?: string;
}

/** One that counts. */
export interface CountedSignal extends Given {
  readonly signal: Signal;
  readonly refusal: null;
  readonly message: null;
}

/** One that does not. */
export interface RefusedSignal extends Given {
  /** Null where what was given has not the form of one. */
  readonly signal: Claim | null;
  readonly refusal: SignalRefusal;
  /** Why, in words. */
  readonly message: string;
  /** What was given, as far as it is kept, where it has not the form. */
  readonly words?: string;
}

/** What is given as a signal with no more of it than is kept. Its secrets are out by then: part of one could not be told. */
export function bounded<Given extends Claim | Formless>(given: Given, policy?: Policy): Given;
export function bounded(claim: Claim | Formless, { protocol, signal }: Policy = defaults): Claim | Formless {
  const cut = (text: string) => shorten(text, protocol.summaryChars);
  const code = (text: string) => text.slice(0, protocol.codeChars);
  if ("formless" in claim) return { ...claim, words: shorten(claim.words, signal.words) };
  const refs = claim.refs.slice(0, protocol.refs).map(code);
  const deferred = code(claim.deferred);
  return claim.kind === "create"
    ? {
        ...{ ...claim, refs, deferred, nameHint: code(claim.nameHint) },
        ...{ trigger: code(claim.trigger), summary: cut(claim.summary) },
      }
    : {
        ...{ ...claim, refs, deferred, skill: code(claim.skill), issue: code(claim.issue) },
        ...{ effect: code(claim.effect), hint: cut(claim.hint) },
      };
}

/** Something that was given as a signal and has not the form of one. */
export interface Formless {
  readonly kind: Claim["kind"];
  readonly formless: string;
  readonly words: string;
}

/** What decides whether a signal counts. */
export interface SignalGround {
  readonly from: SignalGiven["from"];
  /** The agent's session or its subagent's, the turn, and Knack's id of the session whose events may be named. */
  readonly run: string;
  readonly invocation: string;
  readonly file: string;
  /** Whether something was learned in this turn. */
  readonly learned: boolean;
  /** The kinds that were given in this turn before: `kindsGiven`. */
  readonly before: ReadonlySet<Claim["kind"]>;
  readonly prefix: string;
  /** The refs that name an event of the session which says something. */
  readonly useful: ReadonlyMap<string, EventKind>;
  /** The skills that there are, by name, and who made them. */
  readonly skills: ReadonlyMap<string, Owner>;
}

/** Which of the signals that are given together count; none that does not is lost. */
export function judge(
  given: readonly (Claim | Formless)[],
  ground: SignalGround,
  policy: Policy = defaults,
): SignalGiven[] {
  const kinds = new Set([...given.map(({ kind }) => kind), ...ground.before]);
  return given.map((one) => {
    const id = signalId(ground, one);
    const common = { id, from: ground.from, invocation: ground.invocation, file: ground.file };
    if (kinds.size > 1) return refused(common, one, no("both-signals", bothGiven));
    if ("formless" in one) return refused(common, one, no("no-form", one.formless));
    const refusal = refusalOf(one, ground, policy);
    if (refusal !== null) return refused(common, one, refusal);
    const refs = usefulRefs(one, ground);
    return { ...common, signal: { ...one, refs } as Signal, refusal: null, message: null };
  });
}

const bothGiven =
  "something worth a skill and something wrong with one were both signalled: give exactly one of the two";

function signalId({ run, invocation, from }: SignalGround, one: Claim | Formless): string {
  return idOf("g", JSON.stringify([run, invocation, from, one]));
}

interface No {
  readonly refusal: SignalRefusal;
  readonly message: string;
}

function no(refusal: SignalRefusal, message: string): No {
  return { refusal, message };
}

function refused(common: Given, one: Claim | Formless, { refusal, message }: No): RefusedSignal {
  return "formless" in one
    ? { ...common, signal: null, refusal, message, words: one.words }
    : { ...common, signal: one, refusal, message };
}

/** The first condition that a signal does not meet, always in the same order; null when it meets all. */
function refusalOf(claim: Claim, ground: SignalGround, policy: Policy): No | null {
  return (
    learnedAlready(ground) ??
    codesOf(claim) ??
    refsOf(claim, ground, policy) ??
    (claim.kind === "create" ? nameOf(claim, ground, policy) : skillOf(claim, ground, policy)) ??
    summaryOf(claim)
  );
}

function learnedAlready({ learned }: SignalGround): No | null {
  return learned ? no("already-learned", "a skill was created or updated in this turn") : null;
}

function codesOf(claim: Claim): No | null {
  if (claim.kind === "create" && !isOneOf(triggers, claim.trigger))
    return no("unknown-trigger", `"${claim.trigger}" is no trigger: ${triggers.join(", ")}`);
  if (claim.kind === "update" && !isOneOf(issues, claim.issue))
    return no("unknown-issue", `"${claim.issue}" is no issue: ${issues.join(", ")}`);
  if (claim.kind === "update" && !isOneOf(effects, claim.effect))
    return no("unknown-effect", `"${claim.effect}" is no observed effect: ${effects.join(", ")}`);
  return isOneOf(deferReasons, claim.deferred)
    ? null
    : no(
        "unknown-defer-reason",
        `"${claim.deferred}" is no reason to have put it off: ${deferReasons.join(", ")}`,
      );
}

function isOneOf(codes: readonly string[], word: string): boolean {
  return codes.includes(word);
}

function refsOf(claim: Claim, ground: SignalGround, policy: Policy): No | null {
  const reason = claim.kind === "create" ? claim.trigger : claim.issue;
  const kinds = usefulRefs(claim, ground).flatMap((ref) => ground.useful.get(ref) ?? []);
  const lack = evidenceLack(reason, kinds, policy);
  if (lack === null) return null;
  if (lack === "request") return no("refs-unresolved", "none of its events is the person's own request");
  const lost = claim.refs.filter((ref) => !ground.useful.has(ref));
  return lost.length > 0
    ? no("refs-unresolved", `no event that says something is behind ${[...new Set(lost)].join(", ")}`)
    : no(
        "too-few-refs",
        `it names ${claim.refs.length} of the ${refsFor(reason, policy)} events that it needs`,
      );
}

/** The events that a signal really names, each once. */
function usefulRefs({ refs }: Claim, { useful }: SignalGround): string[] {
  return [...new Set(refs)].filter((ref) => useful.has(ref));
}

function nameOf({ nameHint }: CreateClaim, { prefix, skills }: SignalGround, policy: Policy): No | null {
  const lack = nameLack("create", nameHint, prefix, policy);
  if (lack === "form")
    return no("bad-name", `"${nameHint}" cannot be a skill's name: small letters, digits and single hyphens`);
  if (lack === "harmless") return no("bad-name", "the name holds a secret");
  if (lack === "prefix")
    return no("no-prefix", `the name of a new skill begins with ${prefix}, unlike "${nameHint}"`);
  return skills.has(nameHint)
    ? no("skill-exists", `there is a skill "${nameHint}": signal what is wrong with it instead`)
    : null;
}

function skillOf({ skill }: UpdateClaim, { skills, prefix }: SignalGround, policy: Policy): No | null {
  if (nameLack("update", skill, prefix, policy) !== null)
    return no("bad-name", `"${skill}" is no skill's name`);
  const owner = skills.get(skill);
  if (owner === undefined) return no("unknown-skill", `there is no skill "${skill}"`);
  return owner === "core" ? no("core-skill", `the skill "${skill}" is not for agents to change`) : null;
}

function summaryOf(claim: Claim): No | null {
  const words = claim.kind === "create" ? claim.summary : claim.hint;
  if (words.trim() !== "") return null;
  return no("no-summary", claim.kind === "create" ? "it says not what is to be learned" : "it has no hint");
}

/** Whether an event can stand for something: it is there for more than its number, and is not Knack's own. */
export function isUseful(event: Event): boolean {
  return event.kind === "call" ? !isOwnCall(event) : event.text.trim() !== "";
}

/** A signal with where and when it was given. */
export interface CountedEntry extends CountedSignal {
  readonly run: string;
  /** Where its events are; the run where no more than that was noted. */
  readonly file: string;
  readonly at: number;
}

/** The kinds that stand in a turn: one that was refused for its own sake may be followed by any other. */
export function kindsGiven(
  entries: Iterable<{ readonly data: SignalGiven }>,
  invocation: string,
): ReadonlySet<Claim["kind"]> {
  const kinds = new Set<Claim["kind"]>();
  for (const { data } of entries) {
    if (data.invocation !== invocation || data.from === "transcript") continue;
    if (data.refusal === null) kinds.add(data.signal.kind);
    // The other one may have had no form by which to know its kind.
    else if (data.refusal === "both-signals") kinds.add("create").add("update");
  }
  return kinds;
}

/**
 * The signals on the ledger that count, each once, also when it was given again in a later turn: not those of a turn in
 * which something was learned after all, nor those of a turn in which both kinds were given.
 */
export function countedSignals(entries: Iterable<LedgerEntry>): CountedEntry[] {
  const accepted: CountedEntry[] = [];
  const [learned, both] = [new Set<string>(), new Set<string>()];
  for (const { type, data, session, at } of entries) {
    if (type === "learning.finished" && isDone(data)) learned.add(data.invocation);
    if (type !== "signal.given") continue;
    const run = session ?? "";
    if (data.refusal === null) accepted.push({ ...data, run, file: data.file ?? run, at: at ?? 0 });
    else if (data.refusal === "both-signals") both.add(data.invocation);
  }
  const counted = new Map<string, CountedEntry>();
  for (const one of accepted) {
    const { invocation, from } = one;
    if (learned.has(invocation) || (from !== "transcript" && both.has(invocation))) continue;
    counted.set(from === "transcript" ? one.id : evidenceOf(one), one);
  }
  return [...counted.values()];
}

/** What a signal is about: the same of the same events is the same, whenever and however it is said. */
function evidenceOf({ file, signal }: CountedEntry): string {
  const name = signal.kind === "create" ? signal.nameHint : signal.skill;
  return JSON.stringify([file, signal.kind, name, [...signal.refs].sort()]);
}

/** The last event of the transcript that a signal names; what only a hook or a program saw has numbers of its own. */
export function lastNumber({ refs }: Pick<Signal, "refs">): number {
  return Math.max(
    0,
    ...refs
      .filter((ref) => ref.startsWith("e"))
      .map(numberOf)
      .filter(Number.isFinite),
  );
}
