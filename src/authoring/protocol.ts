import * as z from "zod";
import {
  type AuthoringFault,
  type Caller,
  createFault,
  type Event,
  type HeldWriting,
  issues,
  type Receipt,
  shorten,
  triggers,
  type WritingStart,
} from "../records/index.ts";
import { mayBeWritten, scan } from "../trust/index.ts";

export const summaryChars = 1_000;
/** Characters of a name or a code that are looked at. */
export const codeChars = 100;
/** Events that one call may name. */
const maxRefs = 50;
const receiptChars = 300;
const faultChars = 600;
const maxDetails = 30;

/** The result of a call. */
export type AuthoringResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fault: AuthoringFault };

/** `e17` in a transcript, `h` and `p` for what only a hook or a program saw. */
const eventRef = z
  .string()
  .regex(/^[ehp][1-9][0-9]{0,8}$/, "must be a ref such as e17; event_expand lists them");

/** The fields of the authoring messages, each with its rule: tools and checks are made of them. */
export const fields = {
  action: z.enum(["create", "update"]),
  skill: z.string().describe("The skill's name: lower case, digits and hyphens."),
  reason: z.enum([...triggers, ...issues]),
  status: z.enum(["created", "updated", "aborted", "failed"]),
  refs: z.array(eventRef).max(maxRefs),
  message: z.string(),
  summary: z.string(),
};

/** A refusal as it is answered and kept. It is cut here and not before, so that a secret in it is found whole. */
export function refuseWith({ code, message, next, details }: AuthoringFault): {
  readonly ok: false;
  readonly fault: AuthoringFault;
} {
  const cut = (text: string) => shorten(text, faultChars);
  const more = details.length > maxDetails ? [`and ${details.length - maxDetails} more`] : [];
  return {
    ok: false,
    fault: {
      ...{ code, message: cut(message), next: cut(next) },
      details: [...details.slice(0, maxDetails).map(cut), ...more],
    },
  };
}

/** A refusal with its code, what happened, and what to do next. */
export function refuse(...fault: Parameters<typeof createFault>): ReturnType<typeof refuseWith> {
  return refuseWith(createFault(...fault));
}

/** The fault of arguments that do not have the form; details name each argument. */
export function describeInvalid(subject: string, { issues: found }: z.ZodError): AuthoringFault {
  return createFault(
    "invalid_argument",
    `Invalid arguments for ${subject}.`,
    "Correct what is listed and call again.",
    found.map(({ path, message }) => `${path.join(".") || "arguments"}: ${message}`),
  );
}

/** Why this caller may not write skills; null if it may. `refused` is why learning is off in its project. */
export function findCallerFault(
  caller: Pick<Caller, "session" | "kind" | "format">,
  isKnown: boolean,
  refused: string | null,
): AuthoringFault | null {
  if (caller.kind === "background")
    return createFault(
      "learning_unavailable",
      "Skills are written in the foreground only; this caller works in the background.",
      "Go on without it.",
    );
  if (refused !== null)
    return createFault(
      "learning_unavailable",
      `Learning is off in this project: ${refused}.`,
      "Go on without it. A person turns it on with `knack config set learn true`, with `--project` where the project's own settings say no.",
    );
  return caller.session === null || !isKnown ? describeUnknownSession(caller) : null;
}

export function describeUnknownSession({
  session,
  format,
}: Pick<Caller, "session" | "format">): AuthoringFault {
  if (session === null && format !== null)
    return createFault(
      "learning_unavailable",
      "It is not yet certain which of the agent's sessions this is.",
      "Make the same call once more: the transcript may tell by then. If the answer is the same, go on without it.",
    );
  return createFault(
    "learning_unavailable",
    session === null
      ? "The host does not say which session this is."
      : `Session ${session.slice(0, codeChars)} is unknown.`,
    "Go on without it. A person can start `knack mcp` with KNACK_SESSION set to the agent's session, whose transcript Knack can read.",
  );
}

export function describeWrongWord(
  argument: string,
  action: WritingStart["action"],
  words: readonly string[],
): AuthoringFault {
  return createFault(
    "invalid_argument",
    `Invalid "${argument}" for action "${action}".`,
    `Use one of ${words.join(", ")}.`,
    [argument],
  );
}

export const seeEvents =
  "Call event_expand without event_refs to list this session's events with their refs.";

/** The fault of refs that name no event of the session; null where all do. */
export function findLostRefs(refs: readonly string[], found: readonly Event[]): AuthoringFault | null {
  const known = new Set(found.map(({ ref }) => ref));
  const lost = [...new Set(refs)].filter((ref) => !known.has(ref));
  if (lost.length === 0) return null;
  return createFault("evidence_unresolved", "This session has no events of these refs.", seeEvents, lost);
}

const receiptWords: Readonly<Record<Receipt["kind"], string>> = {
  learned: "Learned skill",
  updated: "Updated skill",
  used: "Used learned skill",
  held: "A skill waits for your yes",
};

/** The receipt for the person: the agent's own words in their language if they name the skill, else Knack's. */
export function composeReceipt(kind: Receipt["kind"], name: string, message: string | null): string {
  const own = (message ?? "").trim();
  const isReceipt = own.includes(name) && own.length <= receiptChars && isShowable(own);
  return isReceipt ? own : `${receiptWords[kind]}: ${name}`;
}

/** The receipt for a skill that was written: that it is there or, in Knack's own words, that it waits for a yes. */
export function composeWritten(
  skill: string,
  isNew: boolean,
  held: HeldWriting | undefined,
  message: string | null = null,
): Pick<Receipt, "kind" | "skill" | "text"> {
  const kind = held !== undefined ? "held" : isNew ? "learned" : "updated";
  if (held === undefined) return { kind, skill, text: composeReceipt(kind, skill, message) };
  const why = `Agents are not given it, because ${held.because}. To accept it: knack ${held.accept}`;
  return { kind, skill, text: `${receiptWords.held}: ${skill}. ${why}` };
}

/** Whether a line may be shown to a person as it is. */
export function isShowable(line: string): boolean {
  return !/[\r\n\u2028\u2029\u0085\v\f]/.test(line) && mayBeWritten(scan(line));
}
