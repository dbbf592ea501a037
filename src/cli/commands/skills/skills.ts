import {
  type CommandCall,
  defineCommand,
  dryRunArg,
  jsonArg,
  runSubcommand,
  type Subcommands,
  takeNone,
  takeOne,
} from "../../command.ts";
import { accept, pin, reject, restore, undo, unskip, write } from "./change.ts";
import { diff, list, listAll, listArchived, listProblems, show } from "./list.ts";
import { validate } from "./validate.ts";

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
  ...jsonArg,
  ...dryRunArg,
} as const;

export type SkillsCall = CommandCall<typeof args>;

function withName(
  subcommand: string,
  run: (call: SkillsCall, name: string) => Promise<number>,
  hint = "knack skills list shows the names.",
) {
  return (call: SkillsCall, words: readonly string[]) =>
    run(call, takeOne(words, `skills ${subcommand}`, "one name", hint));
}

function withNothing(subcommand: string, run: (call: SkillsCall) => Promise<number>) {
  return (call: SkillsCall, words: readonly string[]) => {
    takeNone(words, `skills ${subcommand}`);
    return run(call);
  };
}

const subcommands: Subcommands<SkillsCall> = {
  list: withNothing("list", (call) => {
    const { all, project, user } = call.args;
    return all || project || user ? listAll(call) : list(call);
  }),
  show: withName("show", show),
  problems: withNothing("problems", listProblems),
  diff: withName("diff", diff),
  undo: (call, words) =>
    words.length === 0 ? undo(call, null) : withName("undo", (own, name) => undo(own, name))(call, words),
  accept: withName("accept", accept),
  reject: withName("reject", reject),
  unskip: withName("unskip", unskip),
  write: withName("write", write),
  pin: withName("pin", (call, name) => pin(call, name, true)),
  unpin: withName("unpin", (call, name) => pin(call, name, false)),
  archived: withNothing("archived", listArchived),
  restore: withName("restore", restore, "knack skills archived shows what was archived."),
  validate,
};

export const skills = defineCommand({
  about: "Show what Knack wrote for your agents, accept it, reject it, or undo it.",
  args,
  run: (call: SkillsCall) => runSubcommand("skills", subcommands, call),
});
