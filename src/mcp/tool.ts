import * as z from "zod";
import type { HostWord } from "../core/host.ts";
import { type Answer, type Fault, faultOf, faulty } from "../core/protocol.ts";
import type { Present } from "../engine/caller.ts";
import type { Knack } from "../open.ts";

/** What a tool is given beside its arguments. */
export interface ToolCall {
  readonly knack: Knack;
  /** Who calls, as the host says. */
  readonly word: HostWord;
  /** The same, with the session as it is by now. */
  present(): Promise<Present>;
  /** Tells the person something while the call goes on, where the host can. */
  tell(message: string): Promise<void>;
}

/**
 * What a tool answers: a text for an agent, and the same for a program. Claude Code shows its model the latter alone, so
 * it holds all that matters; what is a text by nature has none, and is read as it is.
 */
export interface Reply {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>> | null;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** When to call it, when not, and what happens. */
  readonly about: string;
  readonly input: z.ZodObject;
  readonly readOnly: boolean;
  /** The same call again notes the same again; of all others it changes nothing more. */
  readonly addsEachTime?: true;
  /** Takes arguments as they come from the model. */
  run(args: unknown, call: ToolCall): Promise<Answer<Reply>>;
}

/** A tool whose arguments must have their form before it is asked. */
export function defineTool<Input extends z.ZodObject>({
  run,
  ...tool
}: Omit<Tool, "input" | "run"> & {
  readonly input: Input;
  run(args: z.output<Input>, call: ToolCall): Promise<Answer<Reply>>;
}): Tool {
  return {
    ...tool,
    run: async (args, call) => {
      const read = tool.input.safeParse(args ?? {});
      return read.success ? run(read.data, call) : faulty(notOfTheForm(tool.name, read.error));
    },
  };
}

function notOfTheForm(name: string, { issues }: z.ZodError): Fault {
  return faultOf(
    "invalid_argument",
    `The arguments of ${name} have not their form.`,
    "Repair what is listed and call it again.",
    issues.map(({ path, message }) => `${path.join(".") || "arguments"}: ${message}`),
  );
}

/** An answer of the engine in the words of a tool. */
export function told<Value>(answer: Answer<Value>, tell: (value: Value) => Reply): Answer<Reply> {
  return answer.ok ? { ok: true, value: tell(answer.value) } : answer;
}

/** A refusal as an agent reads it. */
export function faultText({ code, message, next, details }: Fault): string {
  return [`${code}: ${message}`, ...details.map((detail) => `- ${detail}`), `Next: ${next}`].join("\n");
}

/** Refs of events, as event_expand tells them. */
export const eventRefs = z
  .array(z.string())
  .describe("Refs of the events that show it, such as e17; event_expand lists them.");

/** The name of a skill. */
export const skillName = z.string().describe("The skill's name: lower case, digits and hyphens.");
