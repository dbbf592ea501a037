import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { filesIn } from "../helpers/machine.ts";
import { sampled } from "../helpers/sampled.ts";
import { bash, live as liveWith, says } from "./living.ts";
import type { Script, Step, Turn } from "./model-server.ts";

/** A project with `npm run verify`, which the error of a mistyped `npm run verfy` names. */
async function harbor(project: string): Promise<void> {
  mkdirSync(join(project, "docks"), { recursive: true });
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: "harbor", scripts: { verify: "node -e 0" } }),
  );
  mkdirSync(join(project, ".git"));
  writeFileSync(join(project, ".git", "HEAD"), "ref: refs/heads/main\n");
}

/** A failure, and what overcomes it. */
const recovery: readonly Turn[] = [
  [says("I look around first."), bash("ls")],
  [says("Now the checks."), bash("npm run verfy")],
  [says("There is no such script; which are there?"), bash("cat package.json")],
  [says("It is called verify."), bash("npm run verify")],
  [says("Once more, to be sure."), bash("npm run verify")],
  [says("All is in order.")],
];

const anchors = "rl-harbor-checks";
const knacks = (name: string, input: object): Step => ({ tool: `mcp__plugin_knack_knack__${name}`, input });

/** What the model does, by what the person opens with. */
const script: Script = {
  turns: [[says("Nothing is scripted for that.")]],
  branches: [
    {
      says: "See that the harbor is in order",
      turns: recovery,
    },
    { says: "Please do npm run verfy again", turns: [[says("I know how: npm run verify.")]] },
    {
      says: "Is everything fine in the docks?",
      turns: [
        [says("I check."), bash("npm run verfy")],
        [says("I take verify then."), bash("npm run verify")],
        [says("All is fine.")],
      ],
    },
    {
      says: "Inspect the cranes",
      turns: [
        ...recovery,
        (news) => [
          says("That is worth keeping."),
          bash(
            `${/ look at with: (.*?) --lesson/.exec(news)?.[1]?.replaceAll('\\"', '"')} --lesson "The checks of this project are called verify: npm run verify."`,
          ),
        ],
        [says("Written down.")],
      ],
    },
    {
      says: "Inspect the anchors",
      turns: [
        ...recovery,
        (news) => (/skill_learning_start/.test(news) ? [knacks("event_expand", {})] : [says("No.")]),
        (news) => [
          knacks("skill_learning_start", {
            ...{ action: "create", skill_name: anchors, reason: "recovered_surprise" },
            event_refs: [...new Set([...news.matchAll(/(e\d+) Bash/g)].map(([, ref]) => ref))],
            message: "Learning how the harbor is checked.",
          }),
        ],
        (news) => [
          {
            tool: "Write",
            input: {
              file_path: join(/staging\\+":\\+"([^"\\]+)/.exec(news)?.[1] ?? "", "SKILL.md"),
              content: `---\nname: ${anchors}\ndescription: Use when the harbor is to be checked.\n---\n\n1. Run \`npm run verify\`.\n`,
            },
          },
        ],
        [knacks("skill_learning_finish", { action: "create", skill_name: anchors, status: "created" })],
        [says("Written down.")],
      ],
    },
    {
      says: "Inspect the ropes",
      turns: [...recovery, [says("That is not worth keeping.")]],
    },
    {
      says: "Add a berth to the docks",
      turns: [
        [says("I add it."), bash("touch docks/berth.txt")],
        [bash("ls docks")],
        [bash("ls")],
        [says("I added docks/berth.txt.")],
        [says("You are right, from now on berths go into docks/berths.json."), bash("rm docks/berth.txt")],
        [bash("touch docks/berths.json")],
        [says("Done: docks/berths.json.")],
      ],
    },
  ],
};

const live = (env?: Record<string, string>) =>
  liveWith({ script, setup: harbor, allowed: ["Write", "mcp__plugin_knack_knack"] }, env);

describe("Knack, live in Claude Code", () => {
  test("hands a fix that one session found to the next ones, takes a correction in, takes back, and goes without a trace", async () => {
    const { stage, prompt, types, typesAll, run, settled } = await live();
    const config = join(stage.home, ".claude");
    const before = filesIn(config);
    expect((await run("install", "claude")).code).toBe(0);

    // Session 1 fails, recovers, ends.
    const first = await prompt("See that the harbor is in order");
    expect(first.sent.join()).not.toContain("Knack:");
    // Nobody allowed it to ask the agent.
    expect(first.sent.join()).not.toContain("From Knack");
    await settled();
    expect(JSON.parse((await run("lessons", "--json")).stdout).lessons).toHaveLength(1);

    // Session 2 is told at the prompt.
    const second = await prompt("Please do npm run verfy again");
    expect(second.sent.join()).toContain("Knack: learned here");
    expect(second.sent.join()).toContain("npm run verify");

    // Session 3 is told at the failure, and not before.
    const third = await prompt("Is everything fine in the docks?");
    const told = third.sent.findIndex((body) => body.includes("Knack: this failed here"));
    expect(third.sent[told]).toContain("what worked");
    expect(third.sent.slice(0, told).join()).not.toContain("npm run verify");

    // The doctor finds every link of the chain, and status what it came to.
    await settled();
    const { checks } = JSON.parse((await run("doctor", "--json")).stdout) as { checks: Check[] };
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    const finds = Object.fromEntries(checks.map(({ name, says }) => [name, says]));
    expect(finds.fired).toMatch(/^last (?:just now|1 minute ago)/);
    expect(finds.captured).toBe("3 of 3 transcripts read");
    expect(finds.learned).toBe("all 3 sessions that were read are searched for lessons");
    // All that was shown is where Claude Code writes what hooks gave it.
    expect(finds.injected).toMatch(/^(\d+) of the last \1 texts shown were found in their transcripts$/);
    expect(JSON.parse((await run("status", "--json")).stdout).week).toMatchObject({
      learned: { lessons: 1 },
      used: { at: { failure: 1 }, followed: 1 },
      saved: { failures: 1, calls: 1 },
    });

    // Session 4: a person's word becomes a proposed rule.
    await typesAll([
      "Add a berth to the docks",
      "From now on, berths always go into docks/berths.json, never into files of their own.",
    ]);
    await settled();
    const status = JSON.parse((await run("status", "--json")).stdout);
    expect(status.suggestions).toBeGreaterThan(0);
    const rule = JSON.parse((await run("lessons", "--json")).stdout).lessons.find(
      ({ artifact, lesson }: { artifact: string; lesson: string }) =>
        artifact === "rule" && lesson.includes("berths.json"),
    );
    expect(rule).toBeDefined();

    // The person accepts it, and takes it back from within the agent.
    expect((await run("skills", "accept", rule.name)).code).toBe(0);
    const rules = join(stage.project, "CLAUDE.local.md");
    expect(readFileSync(rules, "utf8")).toContain("berths.json");
    const undone = await types("/knack:undo");
    expect(undone.sent.join()).toContain("Knack's answer to /knack:undo");
    expect(existsSync(rules)).toBe(false);

    // Out again.
    await settled();
    expect((await run("uninstall", "claude")).code).toBe(0);
    expect(withoutClaudesOwn(filesIn(config))).toEqual(before);
  });

  const answers: readonly { opening: string; answer: object; drafts: number }[] = [
    { opening: "Inspect the cranes", answer: { answer: "written" }, drafts: 1 },
    { opening: "Inspect the anchors", answer: { answer: "written", skill: anchors }, drafts: 0 },
    { opening: "Inspect the ropes", answer: { answer: "declined" }, drafts: 0 },
  ];
  test.each(sampled(answers, 2))(
    "may ask the agent once to write a lesson down, where that is allowed: $opening",
    async ({ opening, answer, drafts }) => {
      const { stage, prompt, run, settled } = await live();
      expect((await run("install", "claude")).code).toBe(0);
      expect((await run("config", "set", "foreground", "ask")).code).toBe(0);
      // What is set holds when the snapshot is made, which a worker does.
      expect((await run("work")).code).toBe(0);
      const { sent } = await prompt(opening);
      await settled();
      const asked = sent.filter((body) =>
        body.includes("From Knack: this session holds something worth keeping"),
      );
      expect(asked.length).toBeGreaterThan(0);
      // Asked once; the client tells the model of it twice, in two ways.
      expect(sent.at(-1)?.split("Stop hook feedback").length).toBe(2);
      expect(JSON.parse((await run("status", "--json")).stdout).drafts).toBe(drafts);
      const ledger = openLedger(join(stage.home, ".knack", "knack.db"));
      expect(ledger.map(({ data }) => JSON.parse(data))).toEqual([
        { lessonId: expect.any(String), answer: null },
        { lessonId: expect.any(String), ...answer },
      ]);
    },
  );

  test("does nothing at all where it is switched off", async () => {
    const { stage, prompt, run } = await live({ KNACK_DISABLE: "1" });
    expect((await run("install", "claude")).code).toBe(0);
    const before = filesIn(join(stage.home, ".knack"));
    await prompt("See that the harbor is in order");
    expect(filesIn(join(stage.home, ".knack"))).toEqual(before);
  });
});

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly says: string;
}

/** What the ledger says of what the agent was asked, in the order it was noted. */
function openLedger(path: string): { data: string }[] {
  const database = new Database(path, { readonly: true });
  try {
    return database.prepare("select data from ledger where type = 'agent.asked' order by at").all([]) as {
      data: string;
    }[];
  } finally {
    database.close();
  }
}

/** Claude Code's folder but for what it keeps for everybody. */
function withoutClaudesOwn(files: Record<string, string>): Record<string, string> {
  const everybodys =
    /^(?:\.claude\.json|\.last-cleanup|history\.jsonl|projects\/|backups\/|sessions\/|session-env\/|plugins\/store\/)/;
  return Object.fromEntries(Object.entries(files).filter(([path]) => !everybodys.test(path)));
}
