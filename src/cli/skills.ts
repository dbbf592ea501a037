import { KnackError } from "../core/errors.ts";
import { type Actions, act } from "./action.ts";
import { accept, reject, undo, unskip, write } from "./change-skills.ts";
import { listAll, problems, showAny } from "./look-at-library.ts";
import { diff, list } from "./look-at-skills.ts";
import { type Call, defineVerb } from "./main.ts";
import { archived, pin, restore } from "./put-away.ts";
import { validate } from "./validate-skills.ts";

const args = {
  words: {
    type: "positional",
    required: false,
    description:
      "list, show <name>, problems, diff <name>, undo [name], accept <name>, reject <name>, unskip <name>, write <name>, pin <name>, unpin <name>, archived, restore <name>, validate [paths]",
  },
  all: { type: "boolean", description: "with list: everything your agents have, whoever wrote it" },
  project: { type: "boolean", description: "with list --all: only this project's" },
  user: { type: "boolean", description: "with list --all: only yours, in every project" },
  where: { type: "string", description: "with accept: me, repository or everywhere" },
  lesson: { type: "string", description: "with write: the lesson in a sentence or two" },
  session: { type: "string", description: "with write: the agent's session" },
  json: { type: "boolean", description: "print one JSON object" },
  "dry-run": { type: "boolean", description: "write nothing; say what would be" },
} as const;

export type SkillsCall = Call<typeof args>;

/** What can be done with skills, each with the words that follow it. */
const actions: Actions<SkillsCall> = {
  list: (call, words) => {
    const everything = call.args.all || call.args.project || call.args.user;
    none(words, "list");
    return everything ? listAll(call) : list(call);
  },
  problems: (call, words) => {
    none(words, "problems");
    return problems(call);
  },
  show: (call, words) => showAny(call, one(words, "show")),
  diff: (call, words) => diff(call, one(words, "diff")),
  undo: (call, words) => undo(call, words.length === 0 ? null : one(words, "undo")),
  accept: (call, words) => accept(call, one(words, "accept")),
  reject: (call, words) => reject(call, one(words, "reject")),
  unskip: (call, words) => unskip(call, one(words, "unskip")),
  write: (call, words) => write(call, one(words, "write")),
  pin: (call, words) => pin(call, one(words, "pin"), true),
  unpin: (call, words) => pin(call, one(words, "unpin"), false),
  archived: (call, words) => {
    none(words, "archived");
    return archived(call);
  },
  restore: (call, words) =>
    restore(call, one(words, "restore", "knack skills archived shows what was put away.")),
  validate,
};

export const skills = defineVerb({
  about: "What Knack wrote for your agents: look at it, accept it, take it back.",
  args,
  run: (call) => act("skills", actions, call),
});

function none(words: readonly string[], action: string): void {
  if (words.length > 0) throw new KnackError("WRONG_USAGE", `knack skills ${action} takes no "${words[0]}".`);
}

function one(words: readonly string[], action: string, hint = "knack skills list shows the names."): string {
  const [name, ...more] = words;
  if (name && more.length === 0) return name;
  throw new KnackError("WRONG_USAGE", `knack skills ${action} takes one name.`, { hint });
}
