import { parseArgs } from "citty";
import { renderRule } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import { identifyProject, type Lesson } from "../../records/index.ts";
import { extractTerms, several } from "../../text/index.ts";
import { findCheckout } from "../../transcripts/index.ts";
import { createThreadRedactor } from "../../trust/index.ts";
import { work } from "../../worker/index.ts";
import {
  type AnyCall,
  arg,
  type Command,
  type CommandCall,
  defineCommand,
  runCommand,
  unknownName,
  wrongUsage,
} from "../command.ts";
import { withKnack } from "../knack.ts";
import { groupItems, oneLine, titled } from "../screen/text.ts";

const actions: Readonly<Record<string, (call: AnyCall, what: string) => Promise<number>>> = {
  status: async (call) => runOther((await import("./status.ts")).status, [], call),
  learn,
  undo,
  forget,
};

export const slash = defineCommand({
  about: "Run /knack:status, /knack:learn, /knack:undo or /knack:forget within an agent.",
  args: { words: arg.words("status, learn, undo, or forget <what>") },
  run: async (call) => {
    const [name = "status", ...rest] = call.args._;
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action) return action(call, rest.join(" ").trim());
    const known = Object.keys(actions).map((one) => `/knack:${one}`);
    throw wrongUsage(`There is no /knack:${name}.`, `Use ${known.join(", ")}.`);
  },
});

/** Looks through what happened up to now, and reports the lessons; the agent judges what is left. */
async function learn(call: AnyCall): Promise<number> {
  const { env, redactionThread, screen } = call;
  const before = Date.now();
  const redactor = createThreadRedactor(redactionThread);
  const { busy, sessions } = await work({ env, redactor, lowPriority: false, asksModels: false });
  const describe = (lesson: Lesson) => `- ${lesson.name}: ${oneLine(renderRule(lesson), 200)}`;
  return withKnack(call, async (knack) => {
    const fresh = (await knack.lessons()).filter(({ state }) => state.foundAt >= before);
    const { suggestions } = await knack.suggest();
    const { sessions: waiting } = await knack.waiting(await knack.projectOf(process.cwd()));
    screen.print([
      busy
        ? "Another worker is reading your sessions; /knack:status shows the result."
        : `Looked through ${several(sessions, "session")} with something new.`,
      fresh.length === 0 ? "Nothing new was learned." : ["Learned:", fresh.map(describe)],
      titled(
        "Waiting for your decision:",
        suggestions.map(({ lesson }) => describe(lesson)),
      ),
      suggestions.length > 0 &&
        `In a terminal: ${screen.knack} skills accept <name>, or ${screen.knack} to be asked about each.`,
      waiting > 0 && `Leads wait in ${several(waiting, "session")} of this project that nobody judged.`,
    ]);
    return 0;
  });
}

/** Undoes the last thing that Knack did in this project: what it wrote for agents, or what it learned since. */
async function undo(call: AnyCall): Promise<number> {
  const latest = await withKnack(call, findLatest);
  if (latest !== null) return runSkills(latest, call);
  call.screen.print(["There is nothing to undo in this project."]);
  return 1;
}

/** The arguments of `knack skills` that undo the latest; null where there is nothing. */
async function findLatest(knack: Knack): Promise<string[] | null> {
  const { id, root } = identifyProject(process.cwd(), null, findCheckout(process.cwd()));
  const [kept] = (await knack.shelf())
    .filter((one) => one.reach === "everywhere" || (one.reach !== "draft" && one.root === root))
    .sort((a, b) => b.at - a.at);
  const since = kept?.at ?? 0;
  const open = (await knack.lessons()).filter(
    ({ project, state: { status: now, foundAt } }) =>
      project === id && (now === "pending" || now === "active") && foundAt > since,
  );
  // A later session only confirms what was learned before, so the first finding counts.
  const learned = await Promise.all(
    open.map(async (lesson) => {
      const { findings } = await knack.evidence(lesson);
      return { lesson, at: Math.min(...findings.map(({ foundAt }) => foundAt)) };
    }),
  );
  const [newest] = learned.filter(({ at }) => at > since).sort((a, b) => b.at - a.at);
  if (newest) return ["reject", newest.lesson.id];
  return kept ? ["undo", kept.name] : null;
}

/** Rejects what a person names or describes; where several match, none. */
async function forget(call: AnyCall, what: string): Promise<number> {
  if (what === "") throw wrongUsage("What should be forgotten?", "/knack:forget <name or words>");
  const found = await withKnack(call, (knack) => findMatching(knack, what));
  const [only, another] = found;
  if (only !== undefined && another === undefined) return runSkills(["reject", only.word], call);
  throw found.length === 0
    ? unknownName(`No lesson or skill matches "${what}".`, "/knack:status shows what there is.")
    : unknownName(`"${what}" matches several.`, `Which one: ${found.map(({ name }) => name).join(", ")}?`);
}

/** Resolves words to an exact name, or to the lessons whose text has all the words. */
async function findMatching(knack: Knack, what: string): Promise<{ name: string; word: string }[]> {
  const shelf = await knack.shelf();
  const open = (await knack.lessons()).filter(({ state }) => state.status !== "rejected");
  if ([...shelf, ...open].some(({ name }) => name === what)) return [{ name: what, word: what }];
  const wanted = [...extractTerms(what)];
  const isAbout = (text: string) => {
    const terms = extractTerms(text);
    return wanted.length > 0 && wanted.every((word) => terms.has(word) || text.toLowerCase().includes(word));
  };
  const found = open.filter((one) => isAbout(`${one.name} ${one.trigger} ${one.action} ${one.lesson}`));
  const byName = groupItems(found, ({ name }) => name);
  // Projects may have lessons of one name; then the one of this project is meant.
  return [...byName].map(([name, [first, ...more]]) => ({
    name,
    word: first === undefined || more.length > 0 ? name : first.id,
  }));
}

async function runSkills(typed: string[], call: AnyCall): Promise<number> {
  return runOther((await import("./skills.ts")).skills, typed, call);
}

/** Runs another command, as if it were typed. */
function runOther(command: Command, typed: string[], call: AnyCall): Promise<number> {
  return runCommand(command, parseArgs(typed, command.args) as CommandCall["args"], call);
}
