import { asString, makeId } from "../base/index.ts";
import { sharedLessonId } from "../lessons/index.ts";
import {
  describeCure,
  findAlternative,
  findHome,
  readFailure,
  recallFromSnapshot,
  renderFailureFact,
} from "../recall/index.ts";
import { eventChars, type StoredFinding, shorten } from "../records/index.ts";
import { readFailedCall } from "../transcripts/index.ts";
import { clean } from "./clean.ts";
import type { HookEvent, HookReply } from "./event.ts";
import { holdBack, markSession, openMarks, show, withSnapshot } from "./session.ts";

/** Tells what worked the last time this failed, once per error and session. */
export async function atFailure(call: HookEvent): Promise<HookReply | null> {
  const { home, session, now } = call;
  const { tool, input, command, files, outcome, exitCode, text } = readFailedCall(call.payload);
  if (outcome === "ok" || outcome === "masked" || outcome === "cancelled") return null;
  const question = readFailure({
    tool,
    input: command === null ? input : null,
    // A longer command is a script, which its words do not identify.
    command: command !== null && command.length < eventChars ? clean(call, command) : null,
    files,
    text: shorten(clean(call, shorten(text, 4 * eventChars)), eventChars),
    exitCode,
  });
  return withSnapshot(call, async (known) => {
    const { project, head, branch } = known;
    const seen = openMarks(home, markSession(call));
    // If the agent may be asked what solved a failure, the end of this turn waits for what is learned from it.
    if (head.foreground === "ask") openMarks(home, session).once("failed");
    const asked = { project, home: findHome(call.cwd ?? ""), asker: "nobody", branch, now } as const;
    const matches = await recallFromSnapshot(known, question, asked);
    const [match] = matches;
    if (!match || match.from.every((one) => isInContext(call, one))) return null;
    // Several projects may have learned the same lesson; it is told once.
    const id = sharedLessonId(match.lesson);
    if (holdBack(call, known, "failure", { kind: "lesson", id, name: match.lesson.name })) return null;
    const { symptom } = question;
    if (!seen.tells(makeId("f", `${symptom.head} ${symptom.signature}`)) || !seen.tells(id)) return null;
    const cure = describeCure(match.best.finding, match.lesson.state.acceptedAt !== undefined);
    const fact = renderFailureFact(match, findAlternative(matches), now);
    return {
      context: show(call, project, { type: "shown", lessonId: id, occasion: "failure", text: fact }),
      receipt: `Knack: this failed before; the agent was told what worked: ${clean(call, cure)}`,
    };
  });
}

/**
 * Whether the agent sees for itself what a finding rests on: it did that in this turn. That it fails again in a later
 * one shows that it forgot, and a subagent and its parent do not see each other's work.
 */
function isInContext(
  call: HookEvent,
  { run, session, at }: Pick<StoredFinding, "run" | "session" | "at">,
): boolean {
  const subagent = /[\\/]agent-([^\\/]+)\.jsonl$/.exec(session)?.[1] ?? null;
  const isOwn = run === call.session && subagent === asString(call.payload.agent_id);
  return isOwn && (subagent !== null || at >= openMarks(call.home, call.session).turnBegan());
}
