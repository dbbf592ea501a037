import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openKnack } from "../../src/open.ts";
import { story } from "../helpers/lines.ts";
import { tempFolder } from "../helpers/temp.ts";

async function knackAt(folder: string) {
  const knack = await openKnack({
    env: { HOME: folder, KNACK_HOME: join(folder, "knack") },
    clock: { now: () => 1_760_000_000_000 },
  });
  onTestFinished(() => knack.close());
  return knack;
}

describe("a program that hands events over", () => {
  test("has its calls, errors and corrections in a session", async () => {
    const knack = await knackAt(tempFolder());
    const recorder = knack.recorder({ session: "mine", cwd: "/home/dev/own-agent" });
    const id = await recorder.recordToolStart({ tool: "search", input: { query: "berths" } });
    await recorder.recordToolComplete(id, "3 found");
    const bad = await recorder.recordToolStart({ tool: "deploy" });
    await recorder.recordToolError(bad, new Error("no such target"));
    await recorder.recordUserCorrection("deploy to staging first");
    const { sessions } = await knack.sessions();
    expect(sessions).toHaveLength(1);
    expect(sessions[0]).toMatchObject({
      format: "program",
      sessionId: "mine",
      project: { name: "own-agent" },
      counts: { events: 3, calls: 2, failed: 1, prompts: 1 },
    });
    const events = await knack.events(sessions[0] as (typeof sessions)[0]);
    expect(story(events)).toEqual([
      "call search ok",
      "call deploy failed",
      'prompt "deploy to staging first"',
    ]);
    expect(events.every(({ source }) => source === "tool-hook")).toBe(true);
  });

  test("has what was asked and answered in it, in order", async () => {
    const knack = await knackAt(tempFolder());
    const recorder = knack.recorder({ session: "mine", cwd: "/home/dev/own-agent" });
    await recorder.recordPrompt("List the berths. <private>4711</private>");
    const id = await recorder.recordToolStart({ tool: "search", input: { query: "berths" } });
    await recorder.recordToolComplete(id, ["north", "south"]);
    await recorder.recordReply("There are two.");
    await recorder.recordReply("  ");
    const { sessions } = await knack.sessions();
    expect(sessions[0]?.counts).toMatchObject({ events: 3, prompts: 1, calls: 1 });
    const events = await knack.events(sessions[0] as (typeof sessions)[0]);
    expect(story(events)).toEqual(['prompt "List the berths."', "call search ok", 'reply "There are two."']);
  });

  test("may wrap a tool, which answers and throws as before", async () => {
    const knack = await knackAt(tempFolder());
    const recorder = knack.recorder();
    const double = recorder.wrap("double", async ({ n }: { n: number }) => n * 2);
    const fail = recorder.wrap("fail", async (): Promise<never> => {
      throw new TypeError("bad input");
    });
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const odd = recorder.wrap("odd", async (_: unknown) => circular);
    expect(await Promise.all([double({ n: 1 }), double({ n: 2 })])).toEqual([2, 4]);
    await expect(fail(undefined)).rejects.toThrow(TypeError);
    expect(await odd(circular)).toBe(circular);
    const bare = recorder.wrap("bare", async () => Object.assign(Object.create(null), { self: circular }));
    await bare(undefined);
    const large = recorder.wrap("large", async () => "x".repeat(20_000_000));
    expect(await large(undefined)).toHaveLength(20_000_000);
    const { sessions } = await knack.sessions();
    expect(sessions[0]?.counts).toMatchObject({ calls: 6, failed: 1 });
    expect((await knack.events(sessions[0] as never)).every(({ outcome }) => outcome !== "unknown")).toBe(
      true,
    );
  });

  test("leaves no secret in the spool", async () => {
    const folder = tempFolder();
    const knack = await knackAt(folder);
    const secret = `ghp_${"a1B2c3D4".repeat(5).slice(0, 36)}`;
    const recorder = knack.recorder({ session: "mine" });
    await recorder.recordToolStart({
      tool: "clone",
      input: { command: `git clone https://x:${secret}@github.com/a/b` },
    });
    const spooled = readFileSync(join(folder, "knack/spool/program-mine.jsonl"), "utf8");
    expect(spooled).toContain("git clone");
    expect(spooled).not.toContain(secret);
    expect(spooled).not.toContain("swordfish");
  });
});
