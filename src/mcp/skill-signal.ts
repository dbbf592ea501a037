import * as z from "zod";
import { objectOf } from "../core/json.ts";
import { policy } from "../core/policy.ts";
import { deferReasons, effects, type Fault, faultOf, faulty, issues, triggers } from "../core/protocol.ts";
import type { Signal, SignalGiven } from "../core/signal.ts";
import type { ReplyTaken } from "../engine/signal.ts";
import { eventRefs, type Reply, skillName, type Tool, told } from "./tool.ts";

const learning = z.object({
  package_name_hint: skillName.describe(`A name for it, beginning with ${policy.skill.prefix}`),
  trigger: z.enum(triggers),
  reason_not_written: z.enum(deferReasons),
  event_refs: eventRefs,
  summary: z.string().describe("One sentence: what is worth learning."),
});

const issue = z.object({
  skill_name: skillName,
  issue: z.enum(issues),
  reason_not_patched: z.enum(deferReasons),
  observed_effect: z.enum(effects),
  event_refs: eventRefs,
  patch_hint: z.string().describe("One sentence: what to change."),
});

const input = z.object({
  learning_signal: learning.nullish().describe("Something worth a new skill."),
  skill_issue_signal: issue.nullish().describe("Something wrong with a skill that is there."),
});

export const skillSignal: Tool = {
  name: "skill_signal",
  title: "Leave a hint for a later review",
  about:
    "Call when something is worth learning and you cannot write it now; give exactly one of the two signals. Not after a successful skill_learning_finish in this turn, not for one-offs. Most turns need none.",
  input,
  readOnly: false,
  run: async (args, { knack, present }) => {
    const who = await present();
    const read = input.safeParse(args ?? {});
    const signal = read.success ? signalOf(read.data) : null;
    if (signal !== null) return told(await knack.giveSignal(who, signal), noted);
    // What has another form is handed over as it is: it may be one all the same, and a refusal is kept with its reason.
    const { learning_signal, skill_issue_signal } = objectOf(args) ?? {};
    const taken = await knack.takeReply(who, { learning_signal, skill_issue_signal });
    const [only, ...others] = taken.signals;
    return only?.refusal === null && others.length === 0
      ? { ok: true, value: noted(only) }
      : faulty(notOne(taken, read));
  },
};

function noted(given: SignalGiven): Reply {
  return { text: "Noted for a later review. There is nothing to show or to do.", data: onWire(given) };
}

/** The one signal that was given; null for none, or for both. */
function signalOf({ learning_signal, skill_issue_signal }: z.output<typeof input>): Signal | null {
  if (learning_signal && skill_issue_signal) return null;
  if (learning_signal) {
    const { package_name_hint, trigger, reason_not_written, event_refs, summary } = learning_signal;
    return {
      kind: "create",
      nameHint: package_name_hint,
      deferred: reason_not_written,
      refs: event_refs,
      trigger,
      summary,
    };
  }
  if (!skill_issue_signal) return null;
  const { skill_name, reason_not_patched, observed_effect, event_refs, patch_hint } = skill_issue_signal;
  return {
    kind: "update",
    skill: skill_name,
    issue: skill_issue_signal.issue,
    deferred: reason_not_patched,
    effect: observed_effect,
    refs: event_refs,
    hint: patch_hint,
  };
}

function notOne(
  { signals, problems }: ReplyTaken,
  { error }: { readonly error?: z.ZodError | undefined },
): Fault {
  const said = [...signals.flatMap(({ message }) => message ?? []), ...problems];
  const form = error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? [];
  return faultOf(
    "signal_refused",
    "That is not exactly one signal of the form that is asked for.",
    "Give either learning_signal or skill_issue_signal with all its fields, or none at all.",
    [...new Set([...said, ...form])],
  );
}

function onWire({ id, signal, invocation, refusal, message }: SignalGiven) {
  return {
    signal_id: id,
    kind: signal?.kind ?? null,
    invocation,
    accepted: refusal === null,
    refusal,
    message,
  };
}
