import type { Knack } from "../../open.ts";
import type { Rated } from "../../recall/index.ts";
import type { Item, UseVerdict } from "../../records/index.ts";
import { itemNamed } from "../../search/index.ts";
import { redact } from "../../trust/index.ts";
import { defineCommand, dryRunArg, jsonArg, unknownName, wrongUsage } from "../command.ts";
import { changeKnack } from "../knack.ts";
import { oneLine } from "../screen/text.ts";
import { findLesson, findSession } from "../select.ts";

const verdicts: readonly UseVerdict[] = ["helpful", "harmful"];

export const rate = defineCommand({
  about: "Rate a skill or lesson. Your rating overrides Knack's, and counts once per session.",
  args: {
    words: { type: "positional", required: false, description: "<name> helpful|harmful" },
    because: { type: "string", description: "the reason, in your words" },
    session: { type: "string", description: "which session (default: the latest that involved it)" },
    ...dryRunArg,
    ...jsonArg,
  },
  run: async (call) => {
    const { args, screen, dryRun } = call;
    const [name, word, ...more] = args._;
    const verdict = verdicts.find((one) => one === word);
    if (name === undefined || verdict === undefined || more.length > 0)
      throw wrongUsage(
        "knack rate takes a name, and helpful or harmful.",
        `${screen.knack} rate release-notes helpful --because "it saved an hour"`,
      );
    return changeKnack(call, async (knack) => {
      const rating = {
        ...(await findRated(knack, name)),
        verdict,
        because: redact(args.because ?? ""),
        session: args.session === undefined ? null : await findSession(knack, args.session),
      };
      const { session } = await knack.rate(rating);
      const where = session === null ? "in no particular session" : `in session ${oneLine(session, 60)}`;
      const shown = oneLine(rating.name, 80);
      return call.answer({ ...rating, session, noted: !dryRun }, [
        `${dryRun ? "Would rate" : "Rated"} ${shown} ${verdict} ${where}.`,
        ...(dryRun ? [] : [`All ratings and uses: ${screen.knack} report ${shown}`]),
      ]);
    });
  },
});

/** What a name means: something in the library, this project's before others'; or a lesson. */
async function findRated(knack: Knack, name: string): Promise<Pick<Rated, "kind" | "id" | "name">> {
  const items = (await knack.items()).filter((item) => item.name === name);
  const item = itemNamed(items, await knack.projectOf(process.cwd()), name) ?? requireOnly(items, name);
  if (item) return { kind: "skill", id: item.id, name: item.name };
  const lesson = await findLesson(knack, name);
  return { kind: "lesson", id: lesson.id, name: lesson.name };
}

function requireOnly(items: readonly Item[], name: string): Item | null {
  const [first = null, second] = items;
  if (second === undefined) return first;
  throw unknownName(
    `${items.length} projects have a "${name}".`,
    "Run this in the folder of the project you mean.",
  );
}
