import { shorten } from "../core/event.ts";
import { factAtFailure } from "../core/fact.ts";
import { isHeldBack } from "../core/holdout.ts";
import { idOf } from "../core/ids.ts";
import { lessonIdOf } from "../core/instinct.ts";
import { objectOf, textOf } from "../core/json.ts";
import { policy } from "../core/policy.ts";
import { failureOf } from "../core/question.ts";
import { homeIn } from "../core/recall.ts";
import { redact } from "../core/redact.ts";
import { memoryOf } from "../engine/memory.ts";
import { recall } from "../engine/recall.ts";
import { commandIn, judge } from "../sources/claude-code.ts";
import type { Call, Reply } from "./call.ts";
import { seenBy } from "./seen.ts";
import { show, withhold } from "./show.ts";
import { withSnapshot } from "./snapshot.ts";

/** What worked the last time this failed; once for each error and session. */
export async function atFailure(call: Call): Promise<Reply | null> {
  const { payload } = call;
  const tool = textOf(payload.tool_name) ?? "";
  const input = objectOf(payload.tool_input);
  const given = commandIn(tool, input);
  const { outcome, exitCode, text } = judge(given, true, textOf(payload.error) ?? "", null);
  if (payload.is_interrupt === true || outcome === "ok" || outcome === "cancelled") return null;
  const file = textOf(input?.file_path) ?? textOf(input?.notebook_path);
  const { eventChars } = policy.keep;
  const question = failureOf({
    tool,
    input: given === null ? input : null,
    // A longer command is a script, of which nothing is known by its words.
    command: given !== null && given.length < eventChars ? redact(given) : null,
    files: file === null ? [] : [file],
    text: shorten(redact(shorten(text, 4 * eventChars)), eventChars),
    exitCode,
  });
  return withSnapshot(call, async ({ head: { foreground, holdout }, table, project }) => {
    // A subagent has a mind of its own.
    const agent = textOf(payload.agent_id);
    const seen = seenBy(call.home.seen, agent === null ? call.session : `${call.session} ${agent}`);
    // Where an agent may be asked what overcame a failure, the end of this turn waits for what is learned of it.
    if (foreground === "ask") seenBy(call.home.seen, call.session).once("failed");
    const home = homeIn(call.cwd ?? "");
    const [match] = await recall(memoryOf(table), question, { project, home, unasked: true, now: call.now });
    // What this very session did about it is before its agent.
    if (!match || match.from.every(({ run }) => run === call.session)) return null;
    const { head, signature } = question.symptom;
    const { name } = match.instinct;
    // What several projects have learned is one lesson, and told once.
    const id = lessonIdOf(match.instinct);
    if (isHeldBack(holdout, call.session, id)) {
      if (seen.once(`held ${id}`)) withhold(call, project, "failure", { kind: "lesson", id, name });
      return null;
    }
    if (!seen.tells(idOf("f", `${head} ${signature}`)) || !seen.tells(id)) return null;
    const telling = { instinct: id, text: factAtFailure(match, call.now) };
    return {
      context: show(call, project, "failure", [telling]),
      receipt: `Knack: this failed before; the agent was told what worked: ${redact(match.best.finding.action)}`,
    };
  });
}
