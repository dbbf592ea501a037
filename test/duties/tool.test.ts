import { describe, expect, test } from "vitest";
import { host } from "../mcp/host.ts";

// biome-ignore lint/suspicious/noExplicitAny: what a tool answers is looked at field by field
type Data = any;

describe("The tool goal, to the official client,", () => {
  test("does all that the command line does", async () => {
    const { client, call } = await host();
    const done = new Set<string>();
    const act = async (verb: string, args: object = {}): Promise<Data> => {
      done.add(verb);
      const { data, code } = await call("goal", { do: verb, ...args });
      expect({ verb, code }).toEqual({ verb, code: null });
      return data;
    };
    const opened = await act("open", {
      text: "Find out why the tide table is wrong",
      batch: "tides",
      prefetch: ["lead lines"],
    });
    const { goal } = opened;
    expect(await act("retrieve", { tier: "code", sufficient: false })).toMatchObject({ goal, ok: true });
    expect(await act("prefetch", { text: "They shrink when wet" })).toMatchObject({ topic: "lead lines" });
    const { prediction } = await act("predict", { text: "The month is the cause" });
    await act("resolve", { prediction, outcome: "corrected", surprise: 8, because: "it was the year" });
    expect(await act("check")).toMatchObject({ blocked: true, ok: false, goal });
    expect(await act("reflect", { prediction, text: "Look at the year first" })).toMatchObject({
      predicted: expect.stringMatching(/^p/),
    });
    const { conclusion, key } = await act("conclude", {
      text: "The gauge is down",
      evidence: ["curl: 503", "npm: ETIMEDOUT"],
      blocks: ["release"],
    });
    expect(await act("waive", { duty: "prefetch", reason: "blocked", cites: key })).toMatchObject({
      proved: true,
    });
    expect(await act("recheck", { conclusion, holds: false })).toMatchObject({ freed: ["release"] });
    await act("meta", { text: "Ask for the year first" });
    const { observation } = await act("observe", { text: "The year is counted from 1900", surprise: 1 });
    expect(await act("close")).toMatchObject({
      ok: false,
      next: expect.arrayContaining([
        {
          say: expect.any(String),
          command: `knack goal keep --goal ${goal} --observation ${observation}`,
        },
      ]),
    });
    expect(await act("keep", { observation })).toMatchObject({ kept: true, how: "page" });
    expect(await act("batch")).toMatchObject({ batch: "tides", predicted: 1 });
    expect(await act("claim", { hours: 1 })).toMatchObject({ claimed: true });
    expect(await act("board")).toMatchObject({ goals: [{ goal, claimed_by: expect.any(String) }] });
    expect(await act("release")).toMatchObject({ released: true });
    expect(await act("check")).toMatchObject({
      ...{ blocked: false, meta_signals: 1, depth: "deep" },
      folds: { consecutive_failures: 0, last_failed: null, brake: false },
    });
    expect(await act("close")).toMatchObject({ closed: "kept", ok: true });
    expect(await act("check-in")).toMatchObject({ done: true, goals: 1 });
    expect(await act("full-reflection")).toMatchObject({ done: true });
    expect(await act("utility")).toMatchObject({ never_helped: [] });
    expect(await act("debts")).toMatchObject({ debts: [], pages: [] });
    // Who it was says the host, and not the model.
    expect((await act("show", { goal })).goal).toMatchObject({
      session: "5f0c1a52-0000-4000-8000-000000000001",
      closed: { lesson: "kept", outcome: "done" },
    });
    const [tool] = (await client.listTools()).tools.filter(({ name }) => name === "goal");
    const { properties } = (tool?.inputSchema ?? {}) as Data;
    expect([...done].sort()).toEqual([...properties.do.enum].sort());
  });

  test("says what is wrong with a call, and what to do", async () => {
    const { call } = await host();
    expect(await call("goal", { do: "predict", text: "It is May" })).toMatchObject({
      code: "invalid_argument",
      error: { next: expect.stringContaining("knack goal open") },
    });
    expect((await call("goal", { do: "close", outcome: "given up" })).code).toBe("invalid_argument");
    expect((await call("goal", { do: "dance" })).code).toBe("invalid_argument");
  });
});
