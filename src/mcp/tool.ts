import type * as z from "zod";
import {
  type ActiveCaller,
  type AuthoringResult,
  describeInvalid,
  type HostCall,
  refuseWith,
} from "../authoring/index.ts";
import type { Knack } from "../open.ts";
import type { Home } from "../settings/index.ts";

/** The context of a tool call. */
export interface ToolCall {
  readonly knack: Knack;
  /** The caller, per the host. */
  readonly host: HostCall;
  readonly home: Home;
  /** Dossiers that were too long for one answer, in parts, by id; kept as long as the host is connected. */
  readonly parts: Map<string, readonly string[]>;
  /** Who calls, with the session as it is now. */
  resolveCaller(): Promise<ActiveCaller>;
  /** Tells the person something while the call goes on, where the host can. */
  notify(message: string): Promise<void>;
}

/**
 * A tool's answer: text for an agent, and the same as data. Claude Code shows its model the data alone, so it holds all
 * that matters; what is a text by nature has none.
 */
export interface ToolReply {
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
  /** Whether the same call again has an effect again. */
  readonly addsEachTime?: true;
  /** Takes arguments as they come from the model. */
  run(args: unknown, call: ToolCall): Promise<AuthoringResult<ToolReply>>;
}

/** A tool whose arguments are parsed before it runs. */
export function defineTool<Input extends z.ZodObject>({
  run,
  ...tool
}: Omit<Tool, "input" | "run"> & {
  readonly input: Input;
  run(args: z.output<Input>, call: ToolCall): Promise<AuthoringResult<ToolReply>>;
}): Tool {
  return {
    ...tool,
    run: async (args, call) => {
      const read = tool.input.safeParse(args ?? {});
      return read.success ? run(read.data, call) : refuseWith(describeInvalid(tool.name, read.error));
    },
  };
}

export function answer(text: string, data: ToolReply["data"]): AuthoringResult<ToolReply> {
  return { ok: true, value: { text, data } };
}
