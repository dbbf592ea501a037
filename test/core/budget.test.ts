import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { holdOf, openUntil, setAsideFor, spendOf } from "../../src/core/budget.ts";
import type { LedgerEntry } from "../../src/core/ledger.ts";
import { costOf, modelChoice, priceOf, tokensIn } from "../../src/core/model.ts";
import { policy } from "../../src/core/policy.ts";
import { mostUsd } from "../../src/engine/ask.ts";

const now = Date.UTC(2026, 0, 2);
const minute = 60_000;
const limits = { usdPerDay: 1, usdPerCall: 0.5 };
const common = { project: null, session: null, actor: "knack" as const };

function asked(call: string, at: number, usdAtMost: number): LedgerEntry {
  const data = { call, model: "m", purpose: "p", usdAtMost };
  return { ...common, at, type: "model.asked", key: `asked:${call}`, data };
}

function called(call: string, at: number, usd: number, ok = true, purpose = "p"): LedgerEntry {
  const data = {
    call,
    model: "m",
    purpose,
    inputTokens: 1,
    outputTokens: 1,
    usd,
    estimated: false,
    ms: 1,
    ok,
  };
  return {
    ...common,
    at,
    type: "model.called",
    key: `called:${call}`,
    data: { ...data, because: ok ? null : "no" },
  };
}

const failures = (count: number, at: number) =>
  Array.from({ length: count }, (_, n) => called(`f${n}`, at + n, 0, false));

describe("the budget", () => {
  it.each<[string, LedgerEntry[], number, string | null]>([
    ["lets a first call through", [], 0.4, null],
    ["holds a call that could cost too much", [], 0.6, "call-too-dear"],
    ["holds what would go beyond the day's", [called("a", now - 1, 0.7)], 0.4, "day-budget-spent"],
    [
      "counts what was set aside for a call nobody heard the end of",
      [asked("a", now - 1, 0.7)],
      0.4,
      "day-budget-spent",
    ],
    [
      "counts a call once, by what it did cost",
      [asked("a", now - 2, 0.7), called("a", now - 1, 0.1)],
      0.4,
      null,
    ],
    ["forgets what is a day old", [called("a", now - policy.model.dayMs, 0.9)], 0.4, null],
    [
      "holds after so many calls, whatever they cost",
      Array.from({ length: policy.model.callsPerDay }, (_, n) => called(`c${n}`, now - 1, 0)),
      0,
      "too-many-calls",
    ],
    ["holds after failures", failures(policy.model.failuresToOpen, now - minute), 0, "breaker-open"],
  ])("%s", (_, entries, usd, because) =>
    expect(holdOf(entries, now, usd, limits)?.because ?? null).toBe(because),
  );

  it.each<[string, LedgerEntry[], string | null]>([
    ["lets a call through that the rest of it pays for", [called("a", now - 1, 0.05)], null],
    [
      "holds what all calls for one purpose may not cost together",
      [called("a", now - 1, 0.2)],
      "purpose-too-dear",
    ],
    ["counts what was set aside for one of them", [asked("a", now - 1, 0.2)], "purpose-too-dear"],
    [
      "counts what was noted by a clock that was behind",
      [called("a", now - minute, 0.2)],
      "purpose-too-dear",
    ],
  ])("of a purpose %s", (_, entries, because) => {
    const together = { purpose: "p", usd: 0.3, since: now - 10, setting: "x.budget" };
    const hold = holdOf(entries, now, 0.2, { ...limits, together });
    expect(hold?.because ?? null).toBe(because);
    if (hold !== null) expect(hold.message).toContain("(x.budget)");
    const other = { ...together, purpose: "another" };
    expect(holdOf(entries, now, 0.2, { ...limits, together: other })).toBeNull();
  });

  it.each<[string, LedgerEntry[], number, boolean, number]>([
    ["what was reckoned", [], 0.01, false, 0.01],
    ["something more for an agent's program", [], 0.01, true, 0.01 + policy.model.agentUsd],
    ["for that no more than a call may cost", [], 0.4, true, 0.5],
    ["for that no more than its purpose has left", [called("a", now - 1, 0.25)], 0.01, true, 0.05],
    ["for that no more than the day has left", [called("a", now - 1, 0.9, true, "q")], 0.01, true, 0.1],
  ])("sets aside %s", (_, entries, reckoned, isAgent, usd) => {
    const together = { purpose: "p", usd: 0.3, since: now - 10, setting: "x.budget" };
    const bounds = reckoned < 0.3 ? { ...limits, together } : limits;
    expect(setAsideFor(entries, now, { reckoned, isAgent }, bounds)).toBeCloseTo(usd);
  });

  test("counts what a clock noted that was a year ahead, and says so", () => {
    const entries = [called("a", now + 365 * policy.model.dayMs, 0.8), called("b", now - 1, 0.1)];
    expect(spendOf(entries, now).calls).toBe(2);
    expect(holdOf(entries, now, 0.2, limits)).toMatchObject({
      because: "day-budget-spent",
      message: expect.stringContaining("0.80 USD of it by a clock that was days ahead"),
    });
  });

  const anyEntry = fc
    .record({
      call: fc.nat(30).map(String),
      at: fc.integer({ min: now - 2 * policy.model.dayMs, max: now }),
      usd: fc.integer({ min: 0, max: 40 }).map((cents) => cents / 100),
      ok: fc.boolean(),
      isAsked: fc.boolean(),
    })
    .map(({ call, at, usd, ok, isAsked }) => (isAsked ? asked(call, at, usd) : called(call, at, usd, ok)));
  // The ledger has each key once.
  const aLedger = fc.uniqueArray(anyEntry, { maxLength: 40, selector: ({ key }) => key });

  test("never lets a day cost more than was allowed, whatever came before", () => {
    fc.assert(
      fc.property(aLedger, fc.integer({ min: 0, max: 100 }), (entries, cents) => {
        const usd = cents / 100;
        if (holdOf(entries, now, usd, limits) !== null) return;
        const after = spendOf([...entries, asked("next", now, usd)], now);
        expect(after.usd).toBeLessThanOrEqual(limits.usdPerDay + 1e-9);
        expect(usd).toBeLessThanOrEqual(limits.usdPerCall);
      }),
    );
  });

  test("comes to the same in whatever order the ledger is read", () => {
    fc.assert(
      fc.property(aLedger, (entries) => {
        const back = [...entries].reverse();
        expect(spendOf(back, now).calls).toBe(spendOf(entries, now).calls);
        expect(spendOf(back, now).usd).toBeCloseTo(spendOf(entries, now).usd);
        expect(openUntil(back, now)).toBe(openUntil(entries, now));
      }),
    );
  });
});

describe("the breaker", () => {
  const openMs = policy.model.openMinutes * minute;
  const five = failures(policy.model.failuresToOpen, now);
  const open = now + five.length - 1 + policy.model.openMinutes * minute;

  it.each<[string, LedgerEntry[], number, number | null]>([
    ["is closed after four failures", five.slice(1), now + minute, null],
    ["opens at the fifth, for an hour", five, now + minute, open],
    ["lets one try through after that", five, open, null],
    [
      "opens anew when that fails",
      [...five, called("again", open, 0, false)],
      open + 1,
      open + policy.model.openMinutes * minute,
    ],
    ["closes when it succeeds", [...five, called("again", open, 0)], open + 1, null],
    [
      "is not kept open by a clock that was a year ahead",
      failures(9, now + 365 * policy.model.dayMs),
      now,
      null,
    ],
    ["is kept open by one that was a little ahead", failures(5, now + minute), now, now + openMs],
    [
      "counts only failures in a row",
      [...five.slice(0, 3), called("good", now + 2, 0), ...five.slice(3)],
      now + minute,
      null,
    ],
  ])("%s", (_, entries, at, until) => expect(openUntil(entries, at)).toBe(until));
});

describe("a model's name", () => {
  it.each<[string, object | null]>([
    ["off", { via: "off" }],
    ["claude", { via: "claude", id: null }],
    ["codex/gpt-5.5", { via: "codex", id: "gpt-5.5" }],
    ["openai/org/model:free", { via: "openai", id: "org/model:free" }],
    ["anthropic", null],
    ["claude/", null],
    ["claude/--dangerously-skip-permissions", null],
    ["claude/a b", null],
    ["gemini/x", null],
    ["off/x", null],
  ])("%s", (word, choice) => expect(modelChoice(word)).toEqual(choice));

  it.each<[string, number | null]>([
    ["claude/haiku", 5],
    ["anthropic/claude-sonnet-4-5", 22.5],
    ["anthropic/claude-opus-4-5", 25],
    ["anthropic/claude-opus-4-5-20251101", 25],
    ["claude/opus", 25],
    ["anthropic/claude-opus-4-1", 75],
    ["anthropic/claude-opus-4-20250514", 75],
    ["anthropic/claude-3-opus-20240229", 75],
    ["codex", 30],
    ["codex/gpt-5.5", 30],
    ["codex/gpt-5.2-codex", 30],
    ["openai/gpt-5.1", 30],
    ["openai/gpt-5-mini", 6],
    ["openai/gpt-4o", 15],
    ["openai/gpt-4o-mini", 6],
    ["openai/gpt-4.1-nano", 2],
    ["openai/gpt-5-pro", 180],
    ["openai/o3", 40],
    ["openai/o4-mini", 4.4],
    ["openai/llama3", null],
  ])("%s has its price", (name, output) => expect(priceOf(name)?.output ?? null).toBe(output));

  test("whatever nobody knows leaves room for a review", () => {
    const { gateChars, gateTokens, chars, outputTokens, usd } = policy.review;
    const inputTokens = (gateChars + chars) / policy.model.charsPerToken;
    expect(costOf({ inputTokens, outputTokens: gateTokens + outputTokens }, null)).toBeLessThan(usd);
  });

  it.each<[string, number]>([
    ["", 0],
    ["abcdef", 2],
    ["日本語", 3],
    ["été", 3],
    ["🙂", 2],
  ])("is given %j as so many tokens, and what a call may cost goes by them", (prompt, tokens) => {
    expect(tokensIn(prompt)).toBe(tokens);
    const request = { system: "", prompt, schema: {}, maxOutputTokens: 0 };
    const price = { input: 1_000_000, output: 0 };
    expect(Math.abs(mostUsd(request, price) - tokens)).toBeLessThanOrEqual(1);
  });

  test("has a price, and a dear one where nobody knows it", () => {
    const tokens = { inputTokens: 1_000_000, outputTokens: 0 };
    expect(costOf(tokens, priceOf("claude/haiku"))).toBe(1);
    expect(costOf(tokens, priceOf("openai/some-model"))).toBe(policy.model.unknownPrice.input);
  });
});
