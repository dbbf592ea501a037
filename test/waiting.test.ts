import { describe, expect, onTestFinished, test } from "vitest";
import { isUnconfirmed } from "../src/lessons/state.ts";
import { openKnack } from "../src/open.ts";
import { asked, day, type Lived, ran, writeLived } from "./helpers/lived.ts";
import { tempFolder } from "./helpers/temp.ts";

const began = Date.UTC(2026, 10, 1, 9);
const looks = ["ls", "cat package.json", "git log", "git status"].map((command) => ran(command));

/** A session that publishes something, with so much around it that it says little alone. */
const publishing = (name: string, at: number, title: string): Lived => ({
  name,
  at,
  steps: [
    asked(`please publish the new component for ${title}`),
    ...looks,
    ran("python3 scripts/catalog.py"),
    ran(`git add docs/${title}.json`),
    ran(`git commit -m 'catalog: ${title}'`),
    ran("git push -u origin HEAD"),
    ran(`gh pr create --title '${title}' --body 'adds ${title}'`),
  ],
});

const sessions = [publishing("one", began, "stars"), publishing("two", began + day, "charts")];

async function knackIn(home: string) {
  const knack = await openKnack({
    env: { HOME: home, KNACK_HOME: `${home}/.knack` },
    clock: { now: () => began + 2 * day },
  });
  onTestFinished(() => knack.close());
  return knack;
}

/** A session in which the tests are run after every change, as in any other. */
const testing = (name: string, at: number): Lived => ({
  name,
  at,
  steps: [asked("please make the export faster"), ...looks, ran("npm test"), ran("npm test -- export")],
});

describe("what anybody does", () => {
  test("waits however many sessions do it", async () => {
    const home = tempFolder();
    const knack = await knackIn(home);
    const { findings } = await knack.learn(
      writeLived(
        home,
        [0, 1, 2, 3, 4, 5].map((n) => testing(`t${n}`, began + n * 3_600_000)),
      ),
    );
    expect(findings).toEqual([]);
    const [instinct, ...more] = await knack.lessons();
    expect(more).toEqual([]);
    expect(instinct).toMatchObject({
      kind: "repeated-action",
      state: { status: "pending", sessions: 6, confidence: 0.5 },
    });
    expect((await knack.suggest({ now: began + day })).suggestions).toEqual([]);
  });
});

describe("a finding that says little alone", () => {
  test("waits: it is kept, and neither told, suggested nor found", async () => {
    const home = tempFolder();
    const knack = await knackIn(home);
    const { findings } = await knack.learn(writeLived(home, sessions.slice(0, 1)));
    expect(findings).toEqual([]);
    const instincts = await knack.lessons();
    expect(instincts.map(({ kind }) => kind)).toContain("multi-step");
    expect(instincts.every((instinct) => isUnconfirmed(instinct))).toBe(true);
    expect((await knack.suggest({ now: 0 })).suggestions).toEqual([]);
  });

  test.each([
    ["in order", sessions],
    ["the later one first", [...sessions].reverse()],
  ])("is told of both sessions when another one agrees, %s", async (_, order) => {
    const home = tempFolder();
    const knack = await knackIn(home);
    const paths = order.map((session) => writeLived(home, [session]));
    for (const path of paths) await knack.learn(path);
    const { findings } = await knack.learn(paths.flat());
    expect(findings.map(({ finding: { kind } }) => kind)).toEqual(["multi-step", "multi-step"]);
    expect(new Set(findings.map(({ lessonId: instinct }) => instinct)).size).toBe(1);
    expect(findings[0]?.finding.lesson).toContain("gh pr create --title <title> --body <body>");
    const { suggestions } = await knack.suggest({ now: 0 });
    expect(suggestions.map(({ lesson: instinct }) => instinct.kind)).toContain("multi-step");
  });
});
