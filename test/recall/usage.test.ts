import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { findUsage, type ShownItem } from "../../src/recall/usage.ts";
import type { Item } from "../../src/records/change.ts";
import type { Event } from "../../src/records/session.ts";
import { called, edited, ran, replied, said, session } from "../helpers/events.ts";
import { seeded } from "../helpers/history.ts";
import { anItem } from "../helpers/items.ts";

type UsageContext = Parameters<typeof findUsage>[1];
type Usage = ReturnType<typeof findUsage>[number];

const skill = anItem("release-notes", { body: "Run `npx changeset version`, then `git commit`." });
const start = 1_700_000_000_000;
const minute = 60_000;

function look(events: readonly Event[], more: Partial<UsageContext> = {}): Usage[] {
  return findUsage(events, { project: "p", items: [skill], tellings: [], isFamiliar: () => false, ...more });
}

/** A skill that was put before the agent right after the n-th event. */
function shown(item: Item, after: number, text = item.body): ShownItem {
  const { id, name } = item;
  const at = start + (after - 1) * minute + 1_000;
  return { kind: "skill", id, name, occasion: "prompt", text, call: null, at };
}

function lesson(
  call: readonly string[],
  after: number,
  occasion: ShownItem["occasion"] = "failure",
): ShownItem {
  const at = start + (after - 1) * minute + 1_000;
  return { kind: "lesson", id: "i1", name: "set-harbor-db", occasion, text: "", call, at };
}

const uses = (usage: readonly Usage[]) => usage.map(({ used: { name, by } }) => `${name} by ${by}`);
const verdicts = (usage: readonly Usage[]) => usage.map(({ rating }) => rating?.verdict ?? "unrated");
const loads = (outcome: "ok" | "failed" = "ok") => called("Skill", { skill: "release-notes" }, outcome);

describe("a session uses something of the library", () => {
  const agent = anItem("reviewer", { kind: "agent", path: "/home/dev/.claude/agents/reviewer.md" });
  const plugged = anItem("shipit:notes", { path: "/home/dev/.claude/plugins/shipit/skills/notes/SKILL.md" });
  const items = [skill, agent, plugged];
  it.each<[string, Event, string[]]>([
    ["loaded by the agent's tool", loads(), ["release-notes by tool"]],
    ["of a plugin", called("Skill", { skill: "shipit:notes" }, "ok"), ["shipit:notes by tool"]],
    [
      "as older versions call it",
      called("SlashCommand", { command: "/release-notes v2" }, "ok"),
      ["release-notes by tool"],
    ],
    [
      "under whose name the agent works",
      { ...replied("Writing."), skill: "release-notes" },
      ["release-notes by attribution"],
    ],
    ["called by a person", { ...said("for v2"), skill: "release-notes" }, ["release-notes by person"]],
    [
      "linked in a prompt, as Codex does",
      said("[$release-notes](/home/dev/.codex/skills/release-notes/SKILL.md) for v2"),
      ["release-notes by person"],
    ],
    [
      "read by a shell command",
      ran("sed -n '1,200p' /home/dev/.claude/skills/release-notes/SKILL.md", "ok"),
      ["release-notes by tool"],
    ],
    [
      "read in another home",
      ran("cat /Users/dev/.claude/skills/release-notes/SKILL.md", "ok"),
      ["release-notes by tool"],
    ],
    [
      "read from the folder it is in",
      ran("cat .claude/skills/release-notes/SKILL.md", "ok", "", { cwd: "/home/dev" }),
      ["release-notes by tool"],
    ],
    [
      "read by the agent's tool",
      { ...called("Read", {}, "ok"), files: [skill.path] },
      ["release-notes by tool"],
    ],
    ["an agent that is sent", called("Task", { subagent_type: "reviewer" }, "ok"), ["reviewer by tool"]],
  ])("%s", (_, event, found) => expect(uses(look(session(said("go"), event), { items }))).toEqual(found));

  it.each<[string, Event[]]>([
    ["a call of it that failed", [loads("failed")]],
    [
      "a name that nothing has",
      [called("Skill", { skill: "other" }, "ok"), { ...said("x"), skill: "clear" }],
    ],
    ["an agent called as a skill", [called("Skill", { skill: "reviewer" }, "ok")]],
    ["another skill's file", [ran("cat /home/dev/.claude/skills/other/SKILL.md", "ok")]],
    [
      "a look at what files there are",
      [
        ran(
          "ls /home/dev/.claude/skills/release-notes/SKILL.md && wc -l /home/dev/.claude/skills/release-notes/SKILL.md",
          "ok",
        ),
      ],
    ],
    [
      "its file read where skills are being written",
      [{ ...called("Read", {}, "ok"), files: [skill.path] }, edited(skill.path)],
    ],
    ["its name in words", [said("write release-notes"), replied("I wrote the release-notes.")]],
  ])("but not by %s", (_, events) => expect(look(session(said("go"), ...events), { items })).toEqual([]));

  test("once, with what was asked and where it first shows", () => {
    const events = session(said("notes for v2"), loads(), said("again"), loads());
    expect(look(events)).toMatchObject([
      { kind: "skill", at: start + minute, used: { skill: skill.id, prompt: "notes for v2", ref: "e2" } },
    ]);
  });

  test("for the project's own before the person's", () => {
    const own = anItem("release-notes", { scopeId: "p" });
    const other = anItem("release-notes", { scopeId: "q" });
    expect(look(session(loads()), { items: [other, skill, own] })[0]?.used.skill).toBe(own.id);
  });
});

describe("what was shown is used when what it tells is run", () => {
  const run = ran("npx changeset version", "ok");

  test("after it was shown", () => {
    const usage = look(session(said("release"), run), { tellings: [shown(skill, 1)] });
    expect(uses(usage)).toEqual(["release-notes by command"]);
    expect(verdicts(usage)).toEqual(["helpful"]);
  });

  it.each<[string, Event[], Partial<UsageContext>]>([
    ["it was run before, too", [said("release"), run, replied("Hm."), run], { tellings: [shown(skill, 3)] }],
    ["it was only run before", [said("release"), run, replied("Done.")], { tellings: [shown(skill, 3)] }],
    ["the person asked for it", [said("run npx changeset version"), run], { tellings: [shown(skill, 1)] }],
    [
      "it was refused",
      [said("release"), ran("npx changeset version", "rejected")],
      { tellings: [shown(skill, 1)] },
    ],
    ["it is usual here", [said("release"), run], { tellings: [shown(skill, 1)], isFamiliar: () => true }],
    [
      "only everyday commands are",
      [said("release"), ran("git commit -m x", "ok"), ran("npm test", "ok")],
      { tellings: [shown(skill, 1)] },
    ],
    [
      "something else is",
      [said("release"), ran("npx changelog version", "ok")],
      { tellings: [shown(skill, 1)] },
    ],
  ])("not when %s", (_, events, known) => expect(look(session(...events), known)).toEqual([]));
});

describe("a use is judged only where something tells", () => {
  const tellings = [shown(skill, 1)];
  it.each<[string, Event[], string]>([
    ["helpful when it worked", [ran("npx changeset version", "ok")], "helpful"],
    [
      "helpful when it worked in the end",
      [ran("npx changeset version", "failed", "Exit code 1\nnetwork"), ran("npx changeset version", "ok")],
      "helpful",
    ],
    [
      "unrated when it failed later",
      [
        ran("npx changeset version", "ok"),
        ran("npx changeset version", "failed", "Exit code 1\n3 tests failed"),
      ],
      "unrated",
    ],
    [
      "unrated when the work failed",
      [
        ran(
          "npx changeset version",
          "failed",
          "Exit code 1\n  12 failing tests\nAssertionError: expected 1 to be 2",
        ),
      ],
      "unrated",
    ],
    [
      "harmful when it cannot work as it is told",
      [ran("npx changeset version", "failed", "Exit code 1\nerror: unknown command 'version'")],
      "harmful",
    ],
    [
      "harmful when the person objects by its name",
      [
        ran("npx changeset version", "ok"),
        said(
          "No, that's wrong. Don't use release-notes here, we never use changesets. Always write them by hand.",
        ),
        replied("You're right, sorry."),
      ],
      "harmful",
    ],
    [
      "helpful when the person objects to something else",
      [
        ran("npx changeset version", "ok"),
        said("No, that's wrong. Don't use tabs, always use two spaces here."),
        replied("You're right, sorry."),
      ],
      "helpful",
    ],
  ])("%s", (_, events, verdict) =>
    expect(verdicts(look(session(said("release"), ...events), { tellings }))).toEqual([verdict]),
  );

  test("a skill whose command the person turns down with a word did harm", () => {
    const refused = ran("npx changeset version", "rejected");
    const events = session(said("go"), loads(), refused, said("not here, write it by hand"));
    expect(verdicts(look(events))).toEqual(["harmful"]);
    // Permissions turn things down too, without a word.
    expect(verdicts(look(session(said("go"), loads(), refused, replied("I may not."))))).toEqual(["unrated"]);
  });

  test("a skill that was loaded and tells nothing that was run is unrated", () => {
    expect(verdicts(look(session(said("go"), loads(), ran("npm test", "ok"))))).toEqual(["unrated"]);
  });

  test("a skill that was loaded and whose command then worked is helpful", () => {
    const events = session(said("go"), loads(), ran("npx changeset version", "ok"));
    expect(look(events)).toMatchObject([{ used: { by: "tool" }, rating: { verdict: "helpful" } }]);
  });
});

describe("a lesson told at a failure", () => {
  const call = ["sh", "HARBOR_DB="];
  const fails = ran("sh check.sh", "failed", "Exit code 1\nerror: HARBOR_DB is not set");
  const works = ran("HARBOR_DB=local sh check.sh", "ok");
  it.each<[string, Event[], string[]]>([
    ["helped when it came next and worked", [works], ["helpful"]],
    [
      "is unrated when it worked only later",
      [ran("cat x", "failed", "cat: x: No such file"), works],
      ["unrated"],
    ],
    [
      "did harm when the same failure came again",
      [ran("HARBOR_DB=local sh check.sh", "failed", "Exit code 1\nerror: HARBOR_DB is not set")],
      ["harmful"],
    ],
    [
      "is unrated when it led to another failure",
      [
        ran(
          "HARBOR_DB=local sh check.sh",
          "failed",
          "Exit code 1\nError: connect ECONNREFUSED 127.0.0.1:5432",
        ),
      ],
      ["unrated"],
    ],
    ["is not used when something else was done", [ran("sh other.sh", "ok")], []],
  ])("%s", (_, events, found) =>
    expect(verdicts(look(session(said("check"), fails, ...events), { tellings: [lesson(call, 2)] }))).toEqual(
      found,
    ),
  );

  test("at a prompt it must be its own, as a skill's must", () => {
    const events = session(said("check"), ran("npm test", "ok"), ran("npm install --legacy-peer-deps", "ok"));
    expect(look(events, { tellings: [lesson(["npm", "test"], 1, "prompt")] })).toEqual([]);
    const own = [lesson(["npm", "install", "--legacy-peer-deps"], 1, "prompt")];
    expect(verdicts(look(events, { tellings: own }))).toEqual(["helpful"]);
  });
});

describe("the negative control: unrelated text is never credited", () => {
  const verbs = "sync deploy index render migrate rotate replay stage verify bundle".split(" ");
  /** A program of its own, with a verb: each number another. */
  const command = (n: number) => `tool${n} ${verbs[n % verbs.length]}-${n} --level-${n}`;
  const everyday = [
    ...[
      "git status",
      "git diff --stat",
      "git add -A",
      "git commit -m 'x'",
      "git push",
      "npm test",
      "npm install",
    ],
    ...["npm run build", "ls -la", "cat README.md", "pytest -q", "cargo test", "go build ./...", "make test"],
    ...["docker compose up -d", "npx tsc --noEmit", "gh pr create --title x", "rg foo src", "node index.js"],
  ];
  const aText = fc
    .array(fc.oneof(fc.integer({ min: 0, max: 499 }).map(command), fc.constantFrom(...everyday)), {
      minLength: 1,
      maxLength: 12,
    })
    .map((commands) => commands.map((one) => `Then \`${one}\`.`).join("\n"));
  const done = fc.array(
    fc.oneof(fc.integer({ min: 500, max: 999 }).map(command), fc.constantFrom(...everyday)),
    { maxLength: 30 },
  );

  test("whatever texts are shown, and whatever else is run", () => {
    fc.assert(
      fc.property(
        fc.array(aText, { minLength: 1, maxLength: 4 }),
        done,
        fc.boolean(),
        (texts, commands, ok) => {
          const items = texts.map((body, n) => anItem(`skill-${n}`, { body }));
          const events = session(said("go on"), ...commands.map((one) => ran(one, ok ? "ok" : "failed")));
          expect(look(events, { items, tellings: items.map((item) => shown(item, 1)) })).toEqual([]);
        },
      ),
      { seed: 6, numRuns: 300 },
    );
  });

  test("nor are a thousand shuffled pairs of a text and a session", () => {
    const random = seeded(11);
    const pick = (most: number) => Math.floor(random() * most);
    let credited = 0;
    for (let n = 0; n < 1_000; n++) {
      const item = anItem("s", {
        body: `\`${command(pick(400))}\` and \`${everyday[pick(everyday.length)]}\``,
      });
      const events = session(
        said("go"),
        ran(command(400 + pick(400)), "ok"),
        ran(everyday[pick(everyday.length)] ?? "", "ok"),
      );
      credited += look(events, { items: [item], tellings: [shown(item, 1)] }).length;
    }
    expect(credited).toBe(0);
  });
});
