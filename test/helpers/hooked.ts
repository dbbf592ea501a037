import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./knack.ts";
import { asked, failed, type Lived, ran, replied, type Step, transcriptOf } from "./lived.ts";

/** A session that Claude Code left: its id, and its transcript. */
export interface Left {
  readonly session: string;
  readonly transcript: string;
}

/** Leaves a session where Claude Code would. */
export function leave(home: string, lived: Lived): Left {
  const folder = join(home, ".claude/projects/-home-dev");
  const transcript = join(folder, `${lived.name}.jsonl`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(transcript, transcriptOf(lived));
  const [first = ""] = readFileSync(transcript, "utf8").split("\n");
  return { session: JSON.parse(first).sessionId, transcript };
}

/** Starts the built hook as Claude Code would in a session, and answers with what it says. */
export function fire(home: string, { session, transcript }: Left, event: string, more: object = {}): string {
  const payload = {
    session_id: session,
    transcript_path: transcript,
    cwd: "/home/dev/harbor",
    hook_event_name: event,
    ...more,
  };
  const { stdout, status } = spawnSync(process.execPath, [join(root, "dist/hook.cjs")], {
    env: { PATH: process.env.PATH, HOME: home, KNACK_HOME: join(home, ".knack") },
    input: JSON.stringify(payload),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the hook ended with ${status}`);
  return stdout;
}

const notSet = "error: HARBOR_DB is not set";
export const fails: Step = failed("sh check.sh", notSet);
export const works: Step = ran("HARBOR_DB=local sh check.sh", "fine");
/** What a session has to go through to teach something. */
export const teaching: readonly Step[] = [
  asked("Make the check pass"),
  fails,
  works,
  replied("It passes with HARBOR_DB=local."),
];

/** Lets the hook see that failure. */
export function failIn(home: string, left: Left, more: object = {}): string {
  const failure = {
    tool_name: "Bash",
    tool_input: { command: "sh check.sh" },
    error: `Exit code 1\n${notSet}`,
    ...more,
  };
  return fire(home, left, "PostToolUseFailure", failure);
}
