import { asString, makeId } from "../base/index.ts";
import { sharedLessonId } from "../lessons/index.ts";
import {
  findHome,
  isHeldBack,
  openMemory,
  readCallFailure,
  recall,
  renderFailureFact,
} from "../recall/index.ts";
import { eventChars, shorten } from "../records/index.ts";
import { readFailedCall } from "../transcripts/index.ts";
import { redact } from "../trust/index.ts";
import type { HookEvent, HookReply } from "./event.ts";
import { openMarks } from "./marks.ts";
import { show, withhold } from "./show.ts";
import { withSnapshot } from "./snapshot.ts";

/** Tells what worked the last time this failed, once per error and session. */
export async function atFailure(call: HookEvent): Promise<HookReply | null> {
  const { payload } = call;
  const { tool, input, command, files, outcome, exitCode, text } = readFailedCall(payload);
  if (outcome === "ok" || outcome === "cancelled") return null;
  const question = readCallFailure({
    tool,
    input: command === null ? input : null,
    // A longer command is a script, which its words do not identify.
    command: command !== null && command.length < eventChars ? redact(command) : null,
    files,
    text: shorten(redact(shorten(text, 4 * eventChars)), eventChars),
    exitCode,
  });
  return withSnapshot(call, async ({ head: { foreground, holdout }, table, project }) => {
    // A subagent has its own context.
    const agent = asString(payload.agent_id);
    const seen = openMarks(call.home.seen, agent === null ? call.session : `${call.session} ${agent}`);
    // If the agent may be asked what solved a failure, the end of this turn waits for what is learned from it.
    if (foreground === "ask") openMarks(call.home.seen, call.session).once("failed");
    const home = findHome(call.cwd ?? "");
    const options = { project, home, unasked: true, now: call.now };
    const [match] = await recall(openMemory(table), question, options);
    // The agent already sees what this session did about it.
    if (!match || match.from.every(({ run }) => run === call.session)) return null;
    const { head, signature } = question.symptom;
    const { name } = match.lesson;
    // Several projects may have learned the same lesson; it is told once.
    const id = sharedLessonId(match.lesson);
    if (isHeldBack(holdout, call.session, id)) {
      if (seen.once(`held ${id}`)) withhold(call, project, "failure", { kind: "lesson", id, name });
      return null;
    }
    if (!seen.tells(makeId("f", `${head} ${signature}`)) || !seen.tells(id)) return null;
    return {
      context: show(call, project, "failure", { lessonId: id, text: renderFailureFact(match, call.now) }),
      receipt: `Knack: this failed before; the agent was told what worked: ${redact(match.best.finding.action)}`,
    };
  });
}
