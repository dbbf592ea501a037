import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { claudeLines } from "./claude.ts";

/** Something that happens in a session. */
export type Step =
  | { readonly type: "asked"; readonly text: string; readonly earlier?: number }
  | { readonly type: "replied"; readonly text: string }
  | { readonly type: "ran"; readonly command: string; readonly output: string; readonly ok: boolean }
  | {
      readonly type: "used";
      readonly tool: string;
      readonly input: object;
      readonly output: string;
      readonly ok: boolean;
      /** A person turned it down. */
      readonly rejected?: boolean;
    };

export const asked = (text: string): Step => ({ type: "asked", text });
/** Words that were typed so much earlier, while the agent was at work. */
export const typed = (text: string, earlier: number): Step => ({ type: "asked", text, earlier });
export const replied = (text: string): Step => ({ type: "replied", text });
export const ran = (command: string, output = "done"): Step => ({ type: "ran", command, output, ok: true });
export const used = (tool: string, input: object, output = "done"): Step => ({
  ...{ type: "used", tool, input, output, ok: true },
});
/** A call of a tool that the tool turned down. */
export const refused = (tool: string, input: object, why: string): Step => ({
  ...{ type: "used", tool, input, output: `<tool_use_error>${why}</tool_use_error>`, ok: false },
});
export const failed = (command: string, output: string): Step => ({
  type: "ran",
  command,
  output: `Exit code 1\n${output}`,
  ok: false,
});

/** A call of a tool that the person turned down. */
export const rejected = (tool: string, input: object): Step => ({
  ...{ type: "used", tool, input, ok: false, rejected: true },
  output: "The user doesn't want to proceed with this tool use. The tool use was rejected.",
});

/** A session as somebody lived it. */
export interface Lived {
  /** Tells it from others; its file is called after it. */
  readonly name: string;
  /** The folder it was lived in. */
  readonly cwd?: string;
  /** When it began; null for a transcript without times. */
  readonly at: number | null;
  /** From one step to the next. */
  readonly pace?: number;
  readonly steps: readonly Step[];
}

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

/** The transcript of a session: its steps a minute apart, each call answered after a second. */
export function transcriptOf({ name, cwd = "/home/dev/harbor", at, pace = minute, steps }: Lived): string {
  const { user, says, calls, runs, result } = claudeLines(idOf(name), cwd);
  const records: object[] = [];
  for (const [n, step] of steps.entries()) {
    const stamp = (record: object, later = 0) => {
      const { timestamp: _, ...rest } = record as { timestamp: string };
      const uuid = `${idOf(name).slice(0, 24)}${String(records.length).padStart(12, "0")}`;
      const time = at === null ? {} : { timestamp: new Date(at + n * pace + later).toISOString() };
      records.push({ ...rest, uuid, ...time });
    };
    const call = `toolu_${name}_${n}`;
    switch (step.type) {
      case "asked":
        stamp(user(step.text), -(step.earlier ?? 0));
        break;
      case "replied":
        stamp(says(step.text));
        break;
      case "used":
        stamp(calls(call, step.tool, step.input));
        stamp(
          result(call, step.output, {
            error: !step.ok,
            ...(step.rejected ? { toolUseResult: "User rejected tool use" } : {}),
          }),
          Math.min(1_000, pace / 2),
        );
        break;
      case "ran":
        stamp(runs(call, step.command));
        stamp(
          result(call, step.output, {
            error: !step.ok,
            toolUseResult: step.ok ? { stdout: step.output, stderr: "" } : `Error: ${step.output}`,
          }),
          Math.min(1_000, pace / 2),
        );
    }
  }
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

/** Puts sessions where Claude Code would have left them, and answers with their files in the same order. */
export function writeLived(home: string, sessions: readonly Lived[]): string[] {
  return sessions.map((lived, n) => {
    const path = join(home, ".claude/projects/-home-dev", `${lived.name}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, transcriptOf(lived));
    utimesSync(path, 1_760_000_000 + n, 1_760_000_000 + n);
    return path;
  });
}

/** An id as Claude Code has them, the same for the same name. */
function idOf(name: string): string {
  const hex = Buffer.from(name.padEnd(10, "-")).toString("hex").slice(0, 20).padEnd(20, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-8${hex.slice(15, 18)}-${hex.slice(18, 20)}0000000000`;
}
