import * as z from "zod";
import { isObject, type JsonObject, makeId } from "../base/index.ts";
import { isOwnCall } from "../failures/index.ts";
import { asksToRemember } from "../learning/index.ts";
import { isSkillName, prefixName, skillNameForm } from "../library/index.ts";
import { findToldCalls, makesCall } from "../recall/index.ts";
import {
  type AuthoringFault,
  type CountedSignal,
  createFault,
  deferReasons,
  type Event,
  effects,
  type Finding,
  type FindingKind,
  type Issue,
  isPersons,
  isPublished,
  isSaid,
  issues,
  type LedgerEntry,
  type Owner,
  parseRef,
  type RefusedSignal,
  type Signal,
  type SignalGiven,
  type SignalRefusal,
  shorten,
  type Trigger,
  triggers,
  type WritingStart,
} from "../records/index.ts";
import { findSecrets, ownWords } from "../trust/index.ts";
import { codeChars, fields, summaryChars } from "./protocol.ts";

const maxReceipts = 20;
/** Characters that are kept of a malformed signal. */
const malformedChars = 500;
/** Derived signals of one turn. */
const maxPerTurn = 3;
/** Turns after a skill's first use in which a correction is taken to be about it. */
const turnsAfterUse = 3;

// --- The form ---

const skillName = z.string().regex(new RegExp(skillNameForm)).max(64);
const someText = (about: string) => z.string().min(1).describe(about);
const eventRefs = fields.refs
  .min(1)
  .describe("Events of this session that show it, such as e17: two or more, or one explicit request.");

/** Something worth a new skill that was not written. */
export const learningSignal = z.strictObject({
  kind: z.literal("create_candidate"),
  package_name_hint: skillName.describe("A name with the learned prefix, such as rl-…"),
  trigger: z.enum(triggers),
  reason_not_written: z.enum(deferReasons),
  event_refs: eventRefs,
  summary: someText(`One sentence: what is reusable. ${summaryChars} characters of it are kept.`),
});

/** Something wrong with a skill that was not repaired. */
export const skillIssueSignal = z.strictObject({
  kind: z.literal("update_candidate"),
  skill_name: skillName.describe("An existing skill that is not core."),
  issue: z.enum(issues),
  reason_not_patched: z.enum(deferReasons),
  observed_effect: z.enum(effects),
  event_refs: eventRefs,
  patch_hint: someText(`One sentence: what to change. ${summaryChars} characters of it are kept.`),
});

const receipt = z.strictObject({
  skill_name: skillName,
  message: someText("The receipt in the person's language.").nullish(),
});

const reply = z.looseObject({
  used_skill_receipts: z
    .array(receipt)
    .max(maxReceipts)
    .nullish()
    .describe("Learned skills that materially guided this turn."),
  learning_signal: learningSignal
    .nullish()
    .describe("Something worth a new skill that was not written. Never together with skill_issue_signal."),
  skill_issue_signal: skillIssueSignal
    .nullish()
    .describe("Something wrong with a skill that was not repaired. Never together with learning_signal."),
});

/** JSON Schema of a reply. Everything may be left out, and other fields may stand beside these. */
export function describeReplySchema(): JsonObject {
  const title = "Knack reply";
  const description =
    "What an agent reports about learned skills, beside its answer. Most replies report nothing.";
  return { title, description, ...z.toJSONSchema(reply, { io: "input" }) } as unknown as JsonObject;
}

/** Something that was given as a signal and does not have the form of one. */
interface MalformedSignal {
  readonly kind: Signal["kind"];
  readonly problem: string;
  readonly words: string;
}

/** The agent's report beside its answer, where its host asks it for structured output. */
interface AgentReply {
  readonly receipts: readonly { readonly skill: string; readonly message: string | null }[];
  readonly signals: readonly (Signal | MalformedSignal)[];
  /** Parts of the reply that are invalid. */
  readonly problems: readonly string[];
}

/** Reads a reply; never throws. Nothing is cut here: half of a secret would not be recognized. */
export function readReply(value: unknown): AgentReply {
  if (!isObject(value))
    return { receipts: [], signals: [], problems: ["a reply is one JSON object (knack schema reply)"] };
  return {
    ...readReceipts(value.used_skill_receipts ?? []),
    signals: [...readLearningSignal(value.learning_signal), ...readIssueSignal(value.skill_issue_signal)],
  };
}

function readReceipts(value: unknown): Pick<AgentReply, "receipts" | "problems"> {
  if (!Array.isArray(value)) return { receipts: [], problems: ["used_skill_receipts is not a list"] };
  const more = `used_skill_receipts has ${value.length} entries; the first ${maxReceipts} count`;
  const problems = value.length > maxReceipts ? [more] : [];
  const receipts = value.slice(0, maxReceipts).flatMap((one, at) => {
    const read = receipt.strip().safeParse(one);
    if (read.success) return [{ skill: read.data.skill_name, message: read.data.message ?? null }];
    problems.push(describeProblem(`used_skill_receipts.${at}`, read.error));
    return [];
  });
  return { receipts, problems };
}

function readLearningSignal(value: unknown): (Signal | MalformedSignal)[] {
  if (isEmpty(value)) return [];
  const read = learningSignal.strip().safeParse(addKind(value, "create_candidate"));
  if (!read.success) return [describeMalformed("create", "learning_signal", value, read.error)];
  const { package_name_hint: nameHint, trigger, reason_not_written: deferred, summary } = read.data;
  return [{ kind: "create", nameHint, trigger, deferred, refs: read.data.event_refs, summary }];
}

function readIssueSignal(value: unknown): (Signal | MalformedSignal)[] {
  if (isEmpty(value)) return [];
  const read = skillIssueSignal.strip().safeParse(addKind(value, "update_candidate"));
  if (!read.success) return [describeMalformed("update", "skill_issue_signal", value, read.error)];
  const { skill_name: skill, issue, event_refs: refs, patch_hint: hint } = read.data;
  const { reason_not_patched: deferred, observed_effect: effect } = read.data;
  return [{ kind: "update", skill, issue, deferred, effect, refs, hint }];
}

/** The field says the kind already, so it may be left out. */
function addKind(value: unknown, kind: string): unknown {
  return isObject(value) ? { kind, ...value } : value;
}

/** Models fill fields that they have nothing for with something empty. */
function isEmpty(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value == null || value === false || /^\s*(?:none|null|n\/a)?\s*$/i.test(String(value).slice(0, 100));
}

function describeMalformed(
  kind: Signal["kind"],
  field: string,
  value: unknown,
  error: z.ZodError,
): MalformedSignal {
  const problem = describeProblem(field, error);
  try {
    return { kind, problem, words: JSON.stringify(value) ?? "" };
  } catch {
    // Cyclic, or nested too deeply.
    return { kind, problem, words: "" };
  }
}

function describeProblem(field: string, { issues: [first] }: z.ZodError): string {
  return `invalid ${[field, ...(first?.path ?? [])].join(".")}: ${first?.message ?? "wrong form"}`;
}

// --- Whether it counts ---

/** The facts that decide whether a signal counts. */
interface SignalContext {
  readonly from: SignalGiven["from"];
  /** The agent's session or subagent, the turn, and the id of the transcript whose events may be named. */
  readonly run: string;
  readonly invocation: string;
  readonly file: string;
  /** Whether a skill was written in this turn. */
  readonly learned: boolean;
  /** The kinds that were given in this turn before. */
  readonly before: ReadonlySet<Signal["kind"]>;
  readonly prefix: string;
  /** The refs of events that can be evidence. */
  readonly useful: ReadonlyMap<string, Event>;
  /** The skills that exist, and who made them. */
  readonly skills: ReadonlyMap<string, Owner>;
}

/** Which of the signals that are given together count; the others are kept with the reason. */
export function judgeSignals(
  given: readonly (Signal | MalformedSignal)[],
  context: SignalContext,
): SignalGiven[] {
  const { from, run, invocation, file } = context;
  const isBoth = new Set([...given.map(({ kind }) => kind), ...context.before]).size > 1;
  const both = isBoth ? refuse("both-signals", bothGiven) : null;
  return given.map((one): SignalGiven => {
    const common = { id: makeId("g", JSON.stringify([run, invocation, from, one])), from, invocation, file };
    if ("problem" in one) {
      const words = shorten(one.words, malformedChars);
      return { ...common, signal: null, ...(both ?? refuse("no-form", one.problem)), words };
    }
    const refusal = both ?? findRefusal(one, context);
    if (refusal !== null) return { ...common, signal: one, ...refusal };
    return {
      ...common,
      signal: { ...one, refs: listUsefulRefs(one, context) },
      refusal: null,
      message: null,
    };
  });
}

const bothGiven = "learning_signal and skill_issue_signal were both given: give exactly one of the two";

type Refusal = Pick<RefusedSignal, "refusal" | "message">;

function refuse(refusal: SignalRefusal, message: string): Refusal {
  return { refusal, message };
}

/** The first rule that a signal breaks, always in the same order. */
function findRefusal(signal: Signal, context: SignalContext): Refusal | null {
  if (context.learned) return refuse("already-learned", "a skill was created or updated in this turn");
  const isCreate = signal.kind === "create";
  const reason = isCreate ? signal.trigger : signal.issue;
  const named =
    findEvidenceGap(reason, signal.refs, context.useful) ??
    (isCreate ? checkNewName(signal.nameHint, context) : checkSkill(signal.skill, context));
  if (named !== null || (isCreate ? signal.summary : signal.hint).trim() !== "") return named;
  return refuse("no-summary", `it has no ${isCreate ? "summary" : "patch hint"}`);
}

function listUsefulRefs({ refs }: Signal, { useful }: SignalContext): string[] {
  return [...new Set(refs)].filter((ref) => useful.has(ref));
}

function checkNewName(name: string, { prefix, skills }: SignalContext): Refusal | null {
  const form = "lower-case letters, digits, single hyphens";
  switch (findNameProblem("create", name, prefix)) {
    case "form":
      return refuse("bad-name", `"${name}" is not a valid skill name: ${form}`);
    case "secret":
      return refuse("bad-name", "the name holds a secret");
    case "prefix":
      return refuse("no-prefix", `the name of a new skill begins with ${prefix}, unlike "${name}"`);
    case null:
      if (!skills.has(name)) return null;
      return refuse("skill-exists", `there is a skill "${name}": signal what is wrong with it instead`);
  }
}

function checkSkill(name: string, { skills, prefix }: SignalContext): Refusal | null {
  if (findNameProblem("update", name, prefix) !== null)
    return refuse("bad-name", `"${name}" is not a valid skill name`);
  const owner = skills.get(name);
  if (owner === undefined) return refuse("unknown-skill", `there is no skill "${name}"`);
  return owner === "core" ? refuse("core-skill", `the skill "${name}" may not be changed by agents`) : null;
}

/** Whether an event can be evidence: it has words, or is a call that is not Knack's own. */
export function isUseful(event: Event): boolean {
  return event.kind === "call" ? !isOwnCall(event) : event.text.trim() !== "";
}

/** A signal with where and when it was given. */
type CountedEntry = CountedSignal & {
  readonly run: string;
  /** The transcript with its events; the run where no more was recorded. */
  readonly file: string;
  readonly at: number;
};

/**
 * The signals on the ledger that count, each once, also when it was given again in a later turn: not those of a turn in
 * which a skill was written after all, nor those of a turn in which both kinds were given.
 */
export function countSignals(entries: Iterable<LedgerEntry>): CountedEntry[] {
  const accepted: CountedEntry[] = [];
  const [learned, both] = [new Set<string>(), new Set<string>()];
  for (const { type, data, session, at } of entries) {
    if (type === "writing.finished" && isPublished(data)) learned.add(data.invocation);
    if (type !== "signal.given") continue;
    const run = session ?? "";
    if (data.refusal === null) accepted.push({ ...data, run, file: data.file ?? run, at: at ?? 0 });
    else if (data.refusal === "both-signals") both.add(data.invocation);
  }
  const counted = new Map<string, CountedEntry>();
  for (const one of accepted) {
    const { invocation, from } = one;
    if (learned.has(invocation) || (from !== "transcript" && both.has(invocation))) continue;
    counted.set(from === "transcript" ? one.id : describeSubject(one), one);
  }
  return [...counted.values()];
}

/** Identity of a signal: equal claims about equal events are one signal, whenever given. */
function describeSubject({ file, signal }: CountedEntry): string {
  const name = signal.kind === "create" ? signal.nameHint : signal.skill;
  return JSON.stringify([file, signal.kind, name, [...signal.refs].sort()]);
}

/** The last transcript event that a signal names; what only a hook or a program saw has its own numbers. */
export function lastEventNumber({ refs }: Pick<Signal, "refs">): number {
  return Math.max(0, ...refs.filter((ref) => ref.startsWith("e")).map(parseRef));
}

// --- What a writing must keep to as well: a skill's name, and evidence ---

const nameLength = { shortest: 3, longest: 64 };

/** Why a name cannot be that of a skill to be written; null where it can. */
function findNameProblem(
  action: WritingStart["action"],
  skill: string,
  prefix: string,
): "form" | "secret" | "prefix" | null {
  // A person's own skill may have a shorter name.
  const isShort = action === "create" && skill.length < nameLength.shortest;
  if (!isSkillName(skill) || isShort || skill.length > nameLength.longest) return "form";
  // The name goes to the ledger and into a folder's name, neither of which is redacted.
  if (action === "create" && holdsSecret(skill)) return "secret";
  const isPlain = !skill.startsWith(prefix) || skill.length === prefix.length;
  return action === "create" && isPlain ? "prefix" : null;
}

/** A token is known by how it begins, which may be after any hyphen. */
function holdsSecret(name: string): boolean {
  const words = name.split("-");
  return words.some((_, at) => findSecrets(words.slice(at).join("-")).length > 0);
}

export function findNameFault(
  action: WritingStart["action"],
  skill: string,
  prefix: string,
): AuthoringFault | null {
  const fault = (message: string, next: string) =>
    createFault("invalid_argument", message, next, ["skill_name"]);
  const { shortest, longest } = nameLength;
  switch (findNameProblem(action, skill, prefix)) {
    case null:
      return null;
    case "secret":
      return fault("The name of the skill holds a secret.", "Choose a name that says what the skill is for.");
    case "form":
      return fault(
        `"${skill.slice(0, codeChars)}" is not a valid skill name.`,
        `Use ${shortest} to ${longest} lower-case letters, digits and single hyphens: a name, never a path.`,
      );
    case "prefix":
      return fault(
        `The name of a learned skill begins with "${prefix}".`,
        `Call again with skill_name "${prefixName(prefix, skill)}".`,
      );
  }
}

/** Why the named events are not sufficient evidence for a reason; null if they are. */
export function findEvidenceGap(
  reason: string,
  refs: readonly string[],
  useful: ReadonlyMap<string, Event>,
): { readonly refusal: "too-few-refs" | "refs-unresolved"; readonly message: string } | null {
  const found = [...new Set(refs)].flatMap((ref) => useful.get(ref) ?? []);
  const isRequest = reason === "explicit_user_request";
  const needed = isRequest ? 1 : 2;
  const lost = [...new Set(refs)].filter((ref) => !useful.has(ref));
  if (found.length < needed)
    return lost.length > 0
      ? { refusal: "refs-unresolved", message: `no usable event has the refs ${lost.join(", ")}` }
      : { refusal: "too-few-refs", message: `it names ${refs.length} of the ${needed} events it needs` };
  // Only the person's own words show that they asked for something.
  return !isRequest || found.some(isPersons)
    ? null
    : { refusal: "refs-unresolved", message: "none of its events is the person's own request" };
}

// --- Derived signals ---

/** A finding that no signal covers, and its events. */
interface Missed {
  readonly id: string;
  readonly events: readonly Event[];
  readonly finding: Finding;
}

/** The first use of a skill in a session. */
interface FirstUse {
  readonly name: string;
  readonly number: number;
  readonly turn: number;
}

interface DerivingContext {
  readonly run: string;
  readonly prefix: string;
  readonly skills: ReadonlyMap<string, { readonly owner: Owner; readonly text: string }>;
  readonly uses: readonly FirstUse[];
  /** The turns in which a skill was written, or the agent gave a signal itself. */
  readonly settled: ReadonlySet<string>;
  /** The events of which a skill was written. */
  readonly taught: ReadonlySet<string>;
  /** The findings that a signal was derived from before, and how many in each turn. */
  readonly known: ReadonlySet<string>;
  readonly given: ReadonlyMap<string, number>;
}

/** The signals derived from a session beyond those given: at most three a turn, the most certain first. */
export function deriveClaims(all: readonly Missed[], context: DerivingContext) {
  const given = new Map(context.given);
  return [...all]
    .sort((a, b) => b.finding.confidence - a.finding.confidence || (a.id < b.id ? -1 : 1))
    .flatMap((one) => {
      const invocation = nameTurn(context.run, Math.max(0, ...one.events.map(({ turn }) => turn)));
      const count = given.get(invocation) ?? 0;
      const isOver = context.known.has(one.id) || context.settled.has(invocation) || count >= maxPerTurn;
      const claim = isOver ? null : claimFinding(one, context);
      if (claim === null) return [];
      given.set(invocation, count + 1);
      return [{ finding: one.id, invocation, claim }];
    });
}

/** A turn of a session, by the name that a host's call in it has. */
function nameTurn(run: string, turn: number): string {
  return `${run}#${turn}`;
}

function claimFinding({ finding, events }: Missed, context: DerivingContext): Signal | null {
  const { kind, refs } = finding;
  if (refs.some((ref) => context.taught.has(ref)) || events.every(isOwnCall)) return null;
  const summary = shorten(finding.lesson, summaryChars);
  const claimIssue = (
    skill: string,
    issue: Issue,
    effect: Extract<Signal, { kind: "update" }>["effect"],
  ): Signal => ({
    ...{ kind: "update", skill, issue, deferred: "needs_existing_skill_diff", effect, refs, hint: summary },
  });
  const stale = kind === "error-recovery" ? findStaleSkill(events, context) : undefined;
  if (stale) return claimIssue(stale.name, "stale_command", "retry_after_tool_error");
  const corrected = kind === "user-correction" ? findSkillInUse(events, context) : undefined;
  if (corrected) return claimIssue(corrected.name, "missing_step", "retry_after_user_correction");
  const trigger = findTrigger(finding);
  if (trigger === null) return null;
  const nameHint = prefixName(context.prefix, finding.name);
  return { kind: "create", nameHint, trigger, refs, deferred: "needs_full_context_review", summary };
}

/** One line of instructions needs no skill, unless the person wants it remembered. */
function findTrigger({ kind, artifact, excerpt }: Finding): Trigger | null {
  const isLine = isSaid(kind) && artifact !== "skill";
  const isWanted = kind === "explicit-instruction" && asksToRemember(ownWords(excerpt.said ?? ""));
  return isLine && !isWanted ? null : findingTriggers[kind];
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
function findStaleSkill(events: readonly Event[], context: DerivingContext): FirstUse | undefined {
  const failed = events.filter(({ outcome, command }) => outcome === "failed" && command !== null);
  return listChangeable(context).find(({ name, number }) => {
    const calls = findToldCalls(context.skills.get(name)?.text ?? "");
    return failed.some(
      ({ ref, command }) => number < parseRef(ref) && calls.some((call) => makesCall(command ?? "", call)),
    );
  });
}

/** The skill that was loaded last before a person corrected the agent, if that was not long before. */
function findSkillInUse([deciding]: readonly Event[], context: DerivingContext): FirstUse | undefined {
  if (deciding === undefined) return undefined;
  return listChangeable(context).find(
    ({ number, turn }) => number < parseRef(deciding.ref) && deciding.turn - turn <= turnsAfterUse,
  );
}

/** The skills that were used and may be changed, the latest first. */
function listChangeable({ uses, skills }: DerivingContext): FirstUse[] {
  return uses
    .filter(({ name }) => (skills.get(name)?.owner ?? "core") !== "core")
    .sort((a, b) => b.number - a.number);
}
