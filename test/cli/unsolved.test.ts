import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { fire, leave } from "../helpers/hooked.ts";
import { asked, day, failed, type Lived, ran, type Step } from "../helpers/lived.ts";
import { tempFolder } from "../helpers/temp.ts";

const fails: Step = failed("quarry build", "quarry: engine 4 is required, this is engine 3");
const tries: Step = failed("quarry setup --engine 4", "quarry: no engine 4 for this system");
const lived = (name: string, daysAgo: number, ...steps: readonly Step[]): Lived => ({
  name,
  at: Date.now() - daysAgo * day,
  steps: [asked("go on"), ...steps],
});
const three = [lived("first", 9, fails), lived("second", 8, fails, tries), lived("third", 7, fails)];
const line =
  "Failed in 3 sessions, never solved: quarry build: quarry: engine 4 is required, this is engine 3. Tried: quarry setup --engine 4.";

function homeWith(sessions: readonly Lived[]): string {
  const home = tempFolder();
  for (const one of sessions) leave(home, one);
  return home;
}

async function say(home: string, ...words: readonly string[]): Promise<string> {
  return (await knackHere(words, { home })).stdout;
}

async function readChronic(home: string, ...words: readonly string[]) {
  return JSON.parse(await say(home, ...words, "--json")).chronic;
}

describe("a failure that three sessions met and none overcame", () => {
  test("is in the backtest, with the sessions and what was tried", async () => {
    const home = homeWith(three);
    expect(await readChronic(home, "backtest")).toEqual([
      {
        symptom: "quarry build: quarry: engine 4 is required, this is engine 3",
        sessions: ["first", "second", "third"].map((name) => expect.stringMatching(`/${name}.jsonl$`)),
        tried: ["quarry setup --engine 4"],
      },
    ]);
    expect(await say(home, "backtest")).toContain(line);
    const examples = await say(home, "backtest", "--examples");
    expect(examples).toMatch(
      /Failed in several sessions, never solved: 1\n\n.*quarry build: .*quarry setup --engine 4/,
    );
    expect(examples.match(/^ {2}\S+\.jsonl$/gm)).toHaveLength(3);
  });

  test("is told once by knack learn, and listed until a session overcomes it", async () => {
    const home = homeWith(three.slice(0, 2));
    expect(await say(home, "learn")).not.toContain("never solved");
    leave(home, three[2] as Lived);
    expect(await say(home, "learn")).toContain(line);
    expect(await say(home, "learn")).not.toContain("never solved");
    // It is still the same trouble when a fourth session meets it.
    leave(home, lived("fourth", 6, fails));
    expect(await say(home, "learn")).not.toContain("never solved");
    expect(await say(home, "status")).toMatch(/waiting +1 failure never solved \(knack lessons --unsolved\)/);
    expect((await readChronic(home, "status"))[0].sessions).toHaveLength(4);
    expect(await say(home, "lessons", "--unsolved")).toContain(
      "Failed in 4 sessions, never solved: quarry build",
    );
    expect(await readChronic(home, "lessons", "--unsolved")).toEqual(await readChronic(home, "status"));
    leave(home, lived("cured", 5, fails, ran("nvm use 4"), ran("quarry build")));
    await say(home, "learn");
    expect(await readChronic(home, "status")).toEqual([]);
    expect(await say(home, "lessons", "--unsolved")).toContain("No failure was met in three sessions");
  });

  test("is off the list when the call works in a later session", async () => {
    const home = homeWith([...three, lived("works-now", 5, ran("quarry build"))]);
    expect(await readChronic(home, "learn")).toEqual([]);
    expect(await readChronic(home, "backtest")).toEqual([]);
  });

  test("is not told with --json, and is the same after a rebuild", async () => {
    const home = homeWith(three);
    expect(await readChronic(home, "learn")).toHaveLength(1);
    expect(await say(home, "learn")).toContain(line);
    const before = await readChronic(home, "status");
    expect((await knackHere(["doctor", "--rebuild"], { home })).stderr).toBe("");
    expect(await readChronic(home, "status")).toEqual(before);
    expect(await say(home, "learn")).not.toContain("never solved");
  });

  test("is not told when a session starts after knack learn has told it", async () => {
    const home = homeWith(three);
    const start = (name: string) =>
      fire(home, leave(home, lived(name, 0)), "SessionStart", { source: "startup" });
    start("before");
    expect(await say(home, "learn")).toContain(line);
    expect(start("next")).not.toContain("never solved");
  });

  test("is told once when the next session starts, where hooks did the learning", async () => {
    const home = homeWith([]);
    const left = three.map((one) => leave(home, one));
    const start = (name: string) =>
      fire(home, leave(home, lived(name, 0)), "SessionStart", { source: "startup" });
    expect(start("before")).not.toContain("never solved");
    for (const one of left) fire(home, one, "SessionEnd");
    expect((await knackHere(["work"], { home })).code).toBe(0);
    expect(start("next")).toContain(line);
    expect((await knackHere(["work"], { home })).code).toBe(0);
    expect(start("after")).not.toContain("never solved");
    expect(await say(home, "learn")).not.toContain("never solved");
  });
});
