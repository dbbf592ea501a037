import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { aHome, filesBesideStore, notesAt, taughtHome, withKnack } from "../helpers/hook.ts";
import { aHeldTurn } from "./desk.ts";

describe("The end of a turn", () => {
  test("is held once for a goal, with commands that run as they stand", async () => {
    const { judge, stop, knackHome } = await aHeldTurn({ duties: "block" });
    judge();
    const held = await stop();
    expect(held?.decision).toBe("block");
    expect(held?.reason).toMatch(
      /- Keep it\n {2}KNACK_HOME=".*" ".*" ".*cli\.js" goal keep --goal g1 --observation o1/,
    );
    expect(notesAt(knackHome).filter(({ type }) => type === "held")).toMatchObject([{ goal: "g1" }]);
    judge();
    expect((await stop())?.decision).toBeUndefined();
  });

  test("is not held where the agent is held already, by whatever hook", async () => {
    const { judge, stop } = await aHeldTurn({ duties: "block" });
    judge();
    expect((await stop({ stop_hook_active: true }))?.decision).toBeUndefined();
  });

  test("waits for the verdict on this turn while the worker is at it", async () => {
    const { judge, stop } = await aHeldTurn({ duties: "block" });
    const held = stop();
    setTimeout(() => judge(), 1_000);
    expect((await held)?.decision).toBe("block");
  });

  test("is not held by a verdict about an earlier turn", async () => {
    const { judge, finish, stop } = await aHeldTurn({ duties: "block" });
    judge({}, Date.now() - 60_000);
    finish();
    expect((await stop())?.decision).toBeUndefined();
  });

  test.each([
    { name: "say", config: { duties: "say" }, told: true },
    { name: "off", config: { duties: "off" }, told: false },
    { name: "nothing", config: {}, told: false },
  ])("tells what a goal owes once, or nothing at all: $name", async ({ config, told }) => {
    const { judge, stop } = await aHeldTurn(config);
    judge({ blocked: true, owes: '"Read the tide table" ended without a lesson' });
    const first = await stop();
    expect(first?.decision).toBeUndefined();
    expect(first?.systemMessage?.includes("ended without a lesson") ?? false).toBe(told);
    expect((await stop())?.systemMessage?.includes("ended without a lesson") ?? false).toBe(false);
  });

  test("goes by what the person set for one project", async () => {
    const made = await taughtHome();
    writeFileSync(
      join(made.knackHome, "config.json"),
      JSON.stringify({ duties: "off", projects: { [made.project]: { duties: "block" } } }),
    );
    await withKnack(made, async (knack) => {
      await knack.renewSnapshot();
      const { sessions } = await knack.sessions([join(made.home, ".claude")]);
      expect(sessions).toHaveLength(2);
      expect((await knack.trackGoals(sessions, () => ({ over: "session" }))).length).toBe(2);
    });
  });

  test("a repository cannot turn duties on", async () => {
    const made = aHome();
    mkdirSync(join(made.project, ".git"));
    mkdirSync(join(made.project, ".knack"));
    writeFileSync(join(made.project, ".knack", "config.json"), JSON.stringify({ duties: "block" }));
    const got = await knackHere(["config", "get", "duties"], { home: made.home, cwd: made.project });
    expect(got.stdout).toBe("off\n");
    expect(got.stderr).toContain("duties ignored");
    expect(existsSync(made.knackHome) ? readdirSync(made.knackHome) : []).toEqual([]);
    expect(Object.keys(filesBesideStore(made.home))).toContain("harbor/.knack/config.json");
  });
});
