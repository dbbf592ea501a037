import { KnackError } from "../core/errors.ts";
import { accept, reject, undo, unskip, write } from "./change-skills.ts";
import { diff, list, show } from "./look-at-skills.ts";
import { type Call, defineVerb } from "./main.ts";
import { validate } from "./validate-skills.ts";

const args = {
  words: {
    type: "positional",
    required: false,
    description:
      "list, show <name>, diff <name>, undo [name], accept <name>, reject <name>, unskip <name>, write <name>, validate [paths]",
  },
  where: { type: "string", description: "with accept: me, repository or everywhere" },
  lesson: { type: "string", description: "with write: the lesson in a sentence or two" },
  session: { type: "string", description: "with write: the agent's session" },
  json: { type: "boolean", description: "print one JSON object" },
  "dry-run": { type: "boolean", description: "write nothing; say what would be" },
} as const;

export type SkillsCall = Call<typeof args>;

/** What can be done with skills, each with the words that follow it. */
const actions: Readonly<Record<string, (call: SkillsCall, words: readonly string[]) => Promise<number>>> = {
  list: (call, words) => {
    if (words.length === 0) return list(call);
    throw new KnackError("WRONG_USAGE", `knack skills list takes no "${words[0]}".`);
  },
  show: (call, words) => show(call, one(words, "show")),
  diff: (call, words) => diff(call, one(words, "diff")),
  undo: (call, words) => undo(call, words.length === 0 ? null : one(words, "undo")),
  accept: (call, words) => accept(call, one(words, "accept")),
  reject: (call, words) => reject(call, one(words, "reject")),
  unskip: (call, words) => unskip(call, one(words, "unskip")),
  write: (call, words) => write(call, one(words, "write")),
  validate,
};

export const skills = defineVerb({
  about: "What Knack wrote for your agents: look at it, accept it, take it back.",
  args,
  run: async (call) => {
    const [name = "list", ...words] = call.args._;
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action) return action(call, words);
    throw new KnackError("WRONG_USAGE", `knack skills has no "${name}".`, {
      hint: `It has ${Object.keys(actions).join(", ")}.`,
    });
  },
});

function one(words: readonly string[], action: string): string {
  const [name, ...more] = words;
  if (name && more.length === 0) return name;
  throw new KnackError("WRONG_USAGE", `knack skills ${action} takes one name.`, {
    hint: "knack skills list shows the names.",
  });
}
