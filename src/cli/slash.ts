import { parseArgs } from "citty";
import { KnackError } from "../core/errors.ts";
import type { Instinct } from "../core/instinct.ts";
import { identify } from "../core/project.ts";
import { redact } from "../core/redact.ts";
import { several, termsOf } from "../core/words.ts";
import { ruleTextOf } from "../engine/plan-rule.ts";
import type { Knack } from "../open.ts";
import { createThreadRedactor } from "../redaction/thread.ts";
import { checkoutAt } from "../sources/checkouts.ts";
import { work } from "../worker/work.ts";
import { defineVerb, type Surroundings, type Verb } from "./main.ts";
import { withKnack } from "./opening.ts";
import { skills } from "./skills.ts";
import { status } from "./status.ts";
import { calledAs, onOneLine, printLines } from "./terminal.ts";

/** What can be said to Knack from within an agent. */
const actions: Readonly<Record<string, (surroundings: Surroundings, words: string) => Promise<number>>> = {
  status: (surroundings) => run(status, [], surroundings),
  learn,
  undo,
  forget,
};

export const slash = defineVerb({
  about: "What /knack:status, /knack:learn, /knack:undo and /knack:forget do within an agent.",
  args: {
    words: { type: "positional", required: false, description: "status, learn, undo, or forget <what>" },
  },
  run: async ({ args, ...surroundings }) => {
    const [name = "status", ...rest] = args._;
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action) return action(surroundings, rest.join(" ").trim());
    throw new KnackError("WRONG_USAGE", `There is no /knack:${name}.`, {
      hint: `There are ${Object.keys(actions)
        .map((one) => `/knack:${one}`)
        .join(", ")}.`,
    });
  },
});

/** Looks at what happened up to now, and says what came of it. */
async function learn({ env, redactionThread }: Surroundings): Promise<number> {
  const before = Date.now();
  const { busy, sessions } = await work({
    env,
    redactor: createThreadRedactor(redactionThread),
    humble: false,
  });
  return withKnack(env, {}, async (knack) => {
    const fresh = (await knack.instincts()).filter(({ standing }) => standing.noticedAt >= before);
    const { suggestions } = await knack.suggest();
    printLines([
      busy
        ? "Another worker is looking at your sessions just now; /knack:status tells what comes of it."
        : `Looked through ${several(sessions, "session")} with something new.`,
      ...(fresh.length > 0 ? ["Learned:", ...fresh.map(lineOf)] : ["Nothing new was learned."]),
      ...(suggestions.length > 0
        ? [
            "Waiting for a yes or no:",
            ...suggestions.map(({ instinct }) => lineOf(instinct)),
            `In a terminal: ${calledAs(env)} skills accept <name>, or ${calledAs(env)} to be asked about each.`,
          ]
        : []),
    ]);
    return 0;
  });
}

/** Takes back the last thing that Knack did in this project: what it wrote for its agents, or what it learned since. */
async function undo(surroundings: Surroundings): Promise<number> {
  const last = await withKnack(surroundings.env, {}, lastThing);
  if (last === null) {
    printLines(["There is nothing of this project to take back."]);
    return 1;
  }
  return run(skills, last, surroundings);
}

/** What takes it back, in words for `knack skills`; null where there is nothing. */
async function lastThing(knack: Knack): Promise<string[] | null> {
  const { id, root } = identify(process.cwd(), null, checkoutAt(process.cwd()));
  const [kept] = (await knack.shelf())
    .filter((one) => one.reach === "everywhere" || (one.reach !== "draft" && one.root === root))
    .sort((a, b) => b.at - a.at);
  const since = kept?.at ?? 0;
  const open = (await knack.instincts()).filter(
    ({ project, standing: { status, noticedAt } }) =>
      project === id && (status === "pending" || status === "active") && noticedAt > since,
  );
  // Further sessions only confirm what was learned before.
  const learned = await Promise.all(
    open.map(async (instinct) => {
      const { findings } = await knack.evidence(instinct);
      return { instinct, at: Math.min(...findings.map(({ noticedAt }) => noticedAt)) };
    }),
  );
  const [newest] = learned.filter(({ at }) => at > since).sort((a, b) => b.at - a.at);
  if (newest) return ["reject", newest.instinct.id];
  return kept ? ["undo", kept.name] : null;
}

/** Lets go of what a person names or describes, for good; of several it might be, none. */
async function forget(surroundings: Surroundings, what: string): Promise<number> {
  if (what === "")
    throw new KnackError("WRONG_USAGE", "What should be forgotten?", {
      hint: "/knack:forget <name or words>",
    });
  const found = await withKnack(surroundings.env, {}, (knack) => meantBy(knack, what));
  const [only, another] = found;
  if (only !== undefined && another === undefined) return run(skills, ["reject", only], surroundings);
  throw new KnackError(
    "UNKNOWN_NAME",
    found.length === 0 ? `Nothing learned is about "${what}".` : `"${what}" may mean several things.`,
    { hint: found.length === 0 ? "/knack:status tells what there is." : `Which: ${found.join(", ")}?` },
  );
}

/** The ids or names of what words mean: a name as it is, or the lessons that speak of all the words. */
async function meantBy(knack: Knack, what: string): Promise<string[]> {
  const shelf = await knack.shelf();
  const alive = (await knack.instincts()).filter(({ standing }) => standing.status !== "rejected");
  const names = new Set([...shelf, ...alive].map(({ name }) => name));
  if (names.has(what)) return [what];
  const wanted = [...termsOf(what)];
  const about = (text: string) => {
    const has = termsOf(text);
    return wanted.length > 0 && wanted.every((word) => has.has(word) || text.toLowerCase().includes(word));
  };
  const found = alive.filter((one) => about(`${one.name} ${one.trigger} ${one.action} ${one.lesson}`));
  return [...new Set(found.map(({ name }) => name))];
}

/** Another command, as if it were typed. */
function run(verb: Verb, words: string[], surroundings: Surroundings): Promise<number> {
  return verb.run({ args: parseArgs(words, verb.args), ...surroundings });
}

function lineOf(instinct: Instinct): string {
  return `- ${instinct.name}: ${onOneLine(redact(ruleTextOf(instinct)), 200)}`;
}
