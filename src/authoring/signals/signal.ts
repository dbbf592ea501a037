import * as z from "zod";
import { isObject, type JsonObject, makeId } from "../../base/index.ts";
import { isOwnCall } from "../../failures/index.ts";
import { skillNameForm } from "../../library/index.ts";
import {
  type CountedSignal,
  deferReasons,
  type Event,
  type EventKind,
  effects,
  isPublished,
  issues,
  type LedgerEntry,
  type Owner,
  parseRef,
  type RefusedSignal,
  type Signal,
  type SignalGiven,
  type SignalRefusal,
  shorten,
  triggers,
} from "../../records/index.ts";
import {
  countRequiredRefs,
  fields,
  findEvidenceGap,
  findNameProblem,
  messageChars,
  summaryChars,
} from "../protocol.ts";

const maxReceipts = 20;
/** Characters that are kept of a malformed signal. */
const malformedChars = 500;

// --- The form ---

const skillName = z.string().regex(new RegExp(skillNameForm)).max(64);
const someText = (about: string, most: number) => z.string().min(1).max(most).describe(about);
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
  summary: someText("One sentence: what is reusable.", summaryChars),
});

/** Something wrong with a skill that was not repaired. */
export const skillIssueSignal = z.strictObject({
  kind: z.literal("update_candidate"),
  skill_name: skillName.describe("An existing skill that is not core."),
  issue: z.enum(issues),
  reason_not_patched: z.enum(deferReasons),
  observed_effect: z.enum(effects),
  event_refs: eventRefs,
  patch_hint: someText("One sentence: what to change.", summaryChars),
});

const receipt = z.strictObject({
  skill_name: skillName,
  message: someText("The receipt in the person's language.", messageChars).nullish(),
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
export interface MalformedSignal {
  readonly kind: Signal["kind"];
  readonly problem: string;
  readonly words: string;
}

/** The agent's report beside its answer, where its host asks it for structured output. */
interface AgentReply {
  readonly receipts: readonly { readonly skill: string; readonly message: string | null }[];
  readonly signals: readonly (Signal | MalformedSignal)[];
  /** What else does not have the form. */
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
  const problems =
    value.length > maxReceipts
      ? [`used_skill_receipts has ${value.length} entries; the first ${maxReceipts} count`]
      : [];
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

/** What decides whether a signal counts. */
export interface SignalContext {
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
  readonly useful: ReadonlyMap<string, EventKind>;
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
  return given.map((one): SignalGiven => {
    const common = { id: makeId("g", JSON.stringify([run, invocation, from, one])), from, invocation, file };
    const both = isBoth ? refuse("both-signals", bothGiven) : null;
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
  const named =
    checkRefs(signal, context) ??
    (signal.kind === "create" ? checkNewName(signal.nameHint, context) : checkSkill(signal.skill, context));
  if (named !== null) return named;
  if (signal.kind === "create")
    return signal.summary.trim() === "" ? refuse("no-summary", "it has no summary") : null;
  return signal.hint.trim() === "" ? refuse("no-summary", "it has no patch hint") : null;
}

function checkRefs(signal: Signal, context: SignalContext): Refusal | null {
  const reason = signal.kind === "create" ? signal.trigger : signal.issue;
  const kinds = listUsefulRefs(signal, context).flatMap((ref) => context.useful.get(ref) ?? []);
  const gap = findEvidenceGap(reason, kinds);
  if (gap === null) return null;
  if (gap === "request") return refuse("refs-unresolved", "none of its events is the person's own request");
  const lost = signal.refs.filter((ref) => !context.useful.has(ref));
  if (lost.length > 0)
    return refuse("refs-unresolved", `no usable event has the refs ${[...new Set(lost)].join(", ")}`);
  const needed = countRequiredRefs(reason);
  return refuse("too-few-refs", `it names ${signal.refs.length} of the ${needed} events it needs`);
}

function listUsefulRefs({ refs }: Signal, { useful }: SignalContext): string[] {
  return [...new Set(refs)].filter((ref) => useful.has(ref));
}

function checkNewName(name: string, { prefix, skills }: SignalContext): Refusal | null {
  const problem = findNameProblem("create", name, prefix);
  if (problem === "form")
    return refuse(
      "bad-name",
      `"${name}" is not a valid skill name: lower-case letters, digits, single hyphens`,
    );
  if (problem === "secret") return refuse("bad-name", "the name holds a secret");
  if (problem === "prefix")
    return refuse("no-prefix", `the name of a new skill begins with ${prefix}, unlike "${name}"`);
  if (!skills.has(name)) return null;
  return refuse("skill-exists", `there is a skill "${name}": signal what is wrong with it instead`);
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
export interface CountedEntry extends CountedSignal {
  readonly run: string;
  /** The transcript with its events; the run where no more was recorded. */
  readonly file: string;
  readonly at: number;
}

/** The kinds that stand in a turn. One that was refused for its own sake may be followed by any other. */
export function listGivenKinds(
  entries: Iterable<{ readonly data: SignalGiven }>,
  invocation: string,
): ReadonlySet<Signal["kind"]> {
  const kinds = new Set<Signal["kind"]>();
  for (const { data } of entries) {
    if (data.invocation !== invocation || data.from === "transcript") continue;
    if (data.refusal === null) kinds.add(data.signal.kind);
    // The other one may have been malformed, without a kind.
    else if (data.refusal === "both-signals") kinds.add("create").add("update");
  }
  return kinds;
}

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

/** The same claim about the same events is the same signal, whenever it is given. */
function describeSubject({ file, signal }: CountedEntry): string {
  const name = signal.kind === "create" ? signal.nameHint : signal.skill;
  return JSON.stringify([file, signal.kind, name, [...signal.refs].sort()]);
}

/** The last transcript event that a signal names; what only a hook or a program saw has its own numbers. */
export function lastEventNumber({ refs }: Pick<Signal, "refs">): number {
  const numbers = refs.filter((ref) => ref.startsWith("e")).map(parseRef);
  return Math.max(0, ...numbers.filter(Number.isFinite));
}
