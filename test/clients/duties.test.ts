import { join } from "node:path";
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { sampled } from "../helpers/sampled.ts";
import { bash, live, says } from "./living.ts";
import type { Script, Turn } from "./model-server.ts";

const missing = `node -e "console.error('error: unknown option --colour; did you mean --color?'); process.exit(1)" -- build`;

/** Work that fails again and again before it gets through: something that is worth keeping. */
const work: readonly Turn[] = [
  [says("I look around first."), bash("ls")],
  [bash(`${missing} --colour`)],
  [bash(`${missing} --colour red`)],
  [bash(`${missing} --colour=red`)],
  [says("It wants another spelling."), bash('node -e "console.log(1)" -- build --color')],
];

const done = says(
  "The build runs now: the option is called --color in this tool, and --colour is refused with a hint that names it.",
);

/** The command of the first repair that the hook names. */
function findRepair(news: string): string {
  const found = /KNACK_HOME=.*? goal keep --goal \S+ --observation [\w-]+/.exec(news.replaceAll('\\"', '"'));
  if (found === null) throw new Error(`no repair in ${news.slice(0, 500)}`);
  return found[0];
}

const script: Script = {
  turns: [[says("Nothing is scripted for that.")]],
  branches: [
    {
      says: "Build the harbor in colour",
      turns: [...work, [done], (news) => [bash(findRepair(news))], [says("Kept.")]],
    },
    { says: "Paint the harbor in colour", turns: [...work, [done], [says("I would rather not.")]] },
    { says: "Look at the harbor", turns: [[bash("ls")], [says("It is empty.")]] },
  ],
};

const start = () => live({ script, setup: async () => {} });

function readLedger(home: string, type: string): Record<string, unknown>[] {
  const database = new Database(join(home, ".knack", "knack.db"), { readonly: true });
  try {
    const rows = database.prepare("select data from ledger where type = ? order by at, n").all([type]);
    return (rows as { data: string }[]).map(({ data }) => JSON.parse(data));
  } finally {
    database.close();
  }
}

describe("A goal's duties, live in Claude Code", () => {
  const ends = [
    { ask: "Build the harbor in colour", lesson: "kept", kept: 1, debts: 0 },
    { ask: "Paint the harbor in colour", lesson: "unlearned", kept: 0, debts: 1 },
  ];
  test.each(sampled(ends, 1))(
    "hold the end of a turn once, and let go: $lesson",
    async ({ ask, lesson, kept, debts }) => {
      const { stage, prompt, run, settled } = await start();
      expect((await run("install", "claude")).code).toBe(0);
      expect((await run("config", "set", "duties", "block")).code).toBe(0);
      // What is set holds when the snapshot is made, which a worker does.
      expect((await run("work")).code).toBe(0);
      const { sent } = await prompt(ask);
      await settled();
      expect(sent.filter((body) => body.includes("From Knack: the goal")).length).toBeGreaterThan(0);
      // Held once; the client tells the model of it twice, in two ways.
      expect(sent.at(-1)?.split("Stop hook feedback").length).toBe(2);
      expect(readLedger(stage.home, "goal.held")).toHaveLength(1);
      expect(readLedger(stage.home, "goal.kept")).toHaveLength(kept);
      expect(readLedger(stage.home, "goal.debt")).toHaveLength(debts);
      expect(readLedger(stage.home, "goal.closed").at(-1)).toMatchObject({ lesson });
    },
  );

  test("do nothing where nobody turned them on, and hold no routine where somebody did", async () => {
    const { stage, prompt, run, settled } = await start();
    expect((await run("install", "claude")).code).toBe(0);
    expect((await run("work")).code).toBe(0);
    const { sent } = await prompt("Paint the harbor in colour");
    await settled();
    expect(sent.join()).not.toContain("From Knack");
    expect(readLedger(stage.home, "goal.opened")).toEqual([]);
    expect((await run("config", "set", "duties", "block")).code).toBe(0);
    expect((await run("work")).code).toBe(0);
    const second = await prompt("Look at the harbor");
    await settled();
    expect(second.sent.join()).not.toContain("From Knack");
    expect(readLedger(stage.home, "goal.closed").at(-1)).toMatchObject({ lesson: "not-needed" });
  });
});
