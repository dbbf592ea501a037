import { factAtPrompt } from "../core/fact.ts";
import { textOf } from "../core/json.ts";
import { policy } from "../core/policy.ts";
import { questionIn } from "../core/question.ts";
import { homeIn, type Match } from "../core/recall.ts";
import { redact } from "../core/redact.ts";
import { memoryOf } from "../engine/memory.ts";
import { recall } from "../engine/recall.ts";
import type { Made } from "../engine/snapshot.ts";
import type { Call, Reply } from "./call.ts";
import { seenBy } from "./seen.ts";
import { show } from "./show.ts";
import { withSnapshot } from "./snapshot.ts";

/** What is known about what a person asks for: the best few, or nothing. */
export async function atPrompt(call: Call): Promise<Reply | null> {
  const text = spokenIn(textOf(call.payload.prompt) ?? "");
  if (text === "") return null;
  return withSnapshot(call, async ({ table, project }) => {
    const question = questionIn(redact(text));
    const home = homeIn(call.cwd ?? "");
    const matches = await recall(memoryOf(table), question, { project, home, unasked: true, now: call.now });
    const made = (match: Match) => table.get(`made ${match.instinct.id}`) as Made | undefined;
    const seen = seenBy(call.home.seen, call.session);
    const fresh = matches
      // What was said in this session is before the agent too.
      .filter(({ from }) => from.some(({ run }) => run !== call.session))
      // A rule that is live is before the agent already.
      .filter((match) => !(made(match)?.live && made(match)?.body === null))
      .filter(({ instinct }) => seen.tells(instinct.id));
    if (fresh.length === 0) return null;
    let left: number = policy.show.contextChars;
    const tellings = fresh.map((match) => {
      const text = factAtPrompt(match, made(match)?.body ?? null, call.now).slice(0, left);
      left = Math.max(0, left - text.length - 1);
      return { instinct: match.instinct.id, text };
    });
    return {
      context: show(call, project, "prompt", tellings),
      receipt: `Knack: the agent was told of ${fresh.map(({ instinct }) => instinct.name).join(", ")}`,
    };
  });
}

/** What a person says, without a command's name; what programs say through the same door is no prompt. */
function spokenIn(prompt: string): string {
  const text = prompt.slice(0, 2 * policy.recall.textChars).trim();
  if (/^<[a-z-]+>/.test(text)) return "";
  return text.replace(/^\/[\w:-]+\s*/, "");
}
