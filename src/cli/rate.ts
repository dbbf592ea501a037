import type { Verdict } from "../core/credit.ts";
import { KnackError } from "../core/errors.ts";
import { type Item, itemNamed } from "../core/item.ts";
import { redact } from "../core/redact.ts";
import type { Rated } from "../engine/credit.ts";
import type { Knack } from "../open.ts";
import { defineVerb, type Env } from "./main.ts";
import { named } from "./named.ts";
import { changing } from "./opening.ts";
import { calledAs, onOneLine, printJson, printLines } from "./terminal.ts";

const verdicts: readonly Verdict[] = ["helpful", "harmful"];

export const rate = defineVerb({
  about:
    "Say what a skill or a lesson was worth. Your word goes before Knack's; one word counts for a session.",
  args: {
    words: { type: "positional", required: false, description: "<name> helpful|harmful" },
    because: { type: "string", description: "why, in your words" },
    session: {
      type: "string",
      description: "the session you mean; the latest that had to do with it by default",
    },
    "dry-run": { type: "boolean", description: "say what would be noted, and note nothing" },
    json: { type: "boolean", description: "print one JSON object" },
  },
  run: async ({ args, env }) => {
    const [name, word, ...more] = args._;
    const verdict = verdicts.find((one) => one === word);
    if (name === undefined || verdict === undefined || more.length > 0)
      throw new KnackError("WRONG_USAGE", "knack rate takes a name, and helpful or harmful.", {
        hint: `${calledAs(env)} rate release-notes helpful --because "it saved an hour"`,
      });
    const dryRun = args["dry-run"] === true;
    return changing(env, { dryRun }, async (knack) => {
      const meant = await meantBy(knack, name);
      const rating = {
        ...meant,
        verdict,
        because: args.because ?? "",
        session: args.session === undefined ? null : await runNamed(knack, args.session),
      };
      const { session } = await knack.rate({ ...rating, because: redact(rating.because) });
      if (args.json) printJson({ ...rating, because: redact(rating.because), session, noted: !dryRun });
      else printLines(told(rating, session, dryRun, env));
      return 0;
    });
  },
});

/** What a name means: something of the library, for this project before others; or a lesson. */
async function meantBy(knack: Knack, name: string): Promise<Pick<Rated, "kind" | "id" | "name">> {
  const items = (await knack.items()).filter((item) => item.name === name);
  const item = itemNamed(items, await knack.projectOf(process.cwd()), name) ?? only(items, name);
  if (item) return { kind: "skill", id: item.id, name: item.name };
  const { instinct } = await named(knack, name);
  if (instinct) return { kind: "lesson", id: instinct.id, name: instinct.name };
  throw new KnackError("UNKNOWN_NAME", `Nothing is known any more about "${name}".`);
}

function only(items: readonly Item[], name: string): Item | null {
  const [first = null, second] = items;
  if (second === undefined) return first;
  throw new KnackError("UNKNOWN_NAME", `${items.length} projects have a "${name}".`, {
    hint: "Say it in the folder of the project that you mean.",
  });
}

/** The session whose id begins so. */
export async function runNamed(knack: Knack, word: string): Promise<string> {
  const runs = [...new Set(await knack.runs())];
  const found = runs.filter((run) => run === word || (word.length > 3 && run.startsWith(word)));
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  throw new KnackError(
    "UNKNOWN_NAME",
    found.length === 0
      ? `No session is called "${word}".`
      : `"${word}" is the beginning of ${found.length} sessions.`,
    { hint: "knack sessions --json lists them." },
  );
}

function told({ name, verdict }: Rated, session: string | null, dryRun: boolean, env: Env): string[] {
  const where = session === null ? "in no particular session" : `in session ${onOneLine(session, 60)}`;
  return [
    `${dryRun ? "Would note" : "Noted"}: ${onOneLine(name, 80)} was ${verdict} ${where}.`,
    ...(dryRun ? [] : [`What it comes to: ${calledAs(env)} report ${onOneLine(name, 80)}`]),
  ];
}
