import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  breakUntil,
  computeCost,
  decideBudget,
  estimateMaxCost,
  findPrice,
  readModelUse,
} from "../../src/models/budget.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import { parseJudge } from "../../src/settings/settings.ts";
import type { Store } from "../../src/store/store.ts";

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

const day = 24 * 60 * minute;

/** The same figures as `readModelUse` gives for a ledger with these entries. */
function useOf(entries: readonly LedgerEntry[], at = now) {
  return readModelUse(storeWith(entries), at);
}

function storeWith(entries: readonly LedgerEntry[]): Store {
  const since = async (type: string, from: number) =>
    entries.filter((entry) => entry.type === type && (entry.at ?? 0) >= from);
  return { ledger: { since } } as unknown as Store;
}

type PurposeBudget = NonNullable<Parameters<typeof decideBudget>[2]["together"]>;

/** Why a call is not made; null when it is. */
async function holdFor(
  entries: readonly LedgerEntry[],
  estimate: number,
  together: PurposeBudget | null = null,
): Promise<string | null> {
  const decided = await decideBudget(storeWith(entries), now, { estimate, extraUsd: 0, together }, limits);
  return "hold" in decided ? decided.hold : null;
}

const failures = (count: number, at: number) =>
  Array.from({ length: count }, (_, n) => called(`f${n}`, at + n, 0, false));

describe("the budget", () => {
  it.each<[string, LedgerEntry[], number, RegExp | null]>([
    ["lets a first call through", [], 0.4, null],
    ["holds a call that could cost too much", [], 0.6, /more than \$0.50 \(judge.budgetCall\)/],
    [
      "holds what would go beyond the day's",
      [called("a", now - 1, 0.7)],
      0.4,
      /for a day are spent \(judge.budgetDay\)/,
    ],
    [
      "counts what was set aside for a call nobody heard the end of",
      [asked("a", now - 1, 0.7)],
      0.4,
      /for a day are spent \(judge.budgetDay\)/,
    ],
    [
      "counts a call once, by what it did cost",
      [asked("a", now - 2, 0.7), called("a", now - 1, 0.1)],
      0.4,
      null,
    ],
    ["forgets what is a day old", [called("a", now - day, 0.9)], 0.4, null],
    [
      "holds after so many calls, whatever they cost",
      Array.from({ length: 200 }, (_, n) => called(`c${n}`, now - 1, 0)),
      0,
      /^200 calls of models in the last day$/,
    ],
    ["holds after failures", failures(5, now - minute), 0, /failed 5 times in a row; next try in 60 min/],
  ])("%s", async (_, entries, usd, because) => {
    const hold = await holdFor(entries, usd);
    if (because === null) expect(hold).toBeNull();
    else expect(hold).toMatch(because);
  });

  it.each<[string, LedgerEntry[], RegExp | null]>([
    ["lets a call through that the rest of it pays for", [called("a", now - 1, 0.05)], null],
    [
      "holds what all calls for one purpose may not cost together",
      [called("a", now - 1, 0.2)],
      /of \$0.30 are spent \(x.budget\)/,
    ],
    [
      "counts what was set aside for one of them",
      [asked("a", now - 1, 0.2)],
      /of \$0.30 are spent \(x.budget\)/,
    ],
    [
      "counts what was noted by a clock that was behind",
      [called("a", now - minute, 0.2)],
      /of \$0.30 are spent \(x.budget\)/,
    ],
  ])("of a purpose %s", async (_, entries, because) => {
    const together = { purpose: "p", usd: 0.3, since: now - 10, setting: "x.budget" };
    const hold = await holdFor(entries, 0.2, together);
    if (because === null) expect(hold).toBeNull();
    else expect(hold).toMatch(because);
    expect(await holdFor(entries, 0.2, { ...together, purpose: "another" })).toBeNull();
  });

  it.each<[string, LedgerEntry[], number, boolean, number]>([
    ["what was estimated", [], 0.01, false, 0.01],
    ["something more for an agent's program", [], 0.01, true, 0.16],
    ["for that no more than a call may cost", [], 0.4, true, 0.5],
    ["for that no more than its purpose has left", [called("a", now - 1, 0.25)], 0.01, true, 0.05],
    ["for that no more than the day has left", [called("a", now - 1, 0.9, true, "q")], 0.01, true, 0.1],
  ])("sets aside %s", async (_, entries, estimate, isAgent, usd) => {
    const together = { purpose: "p", usd: 0.3, since: now - 10, setting: "x.budget" };
    const call = { estimate, extraUsd: isAgent ? 0.15 : 0, together: estimate < 0.3 ? together : null };
    const decided = await decideBudget(storeWith(entries), now, call, limits);
    expect("hold" in decided ? decided.hold : decided.usdAtMost).toBeCloseTo(usd);
  });

  test("counts what a clock noted that was a year ahead", async () => {
    const entries = [called("a", now + 365 * day, 0.8), called("b", now - 1, 0.1)];
    expect((await useOf(entries)).spent.calls).toBe(2);
    expect(await holdFor(entries, 0.2)).toContain("$0.90 of $1.00 for a day are spent (judge.budgetDay)");
  });

  const anyEntry = fc
    .record({
      call: fc.nat(30).map(String),
      at: fc.integer({ min: now - 2 * day, max: now }),
      usd: fc.integer({ min: 0, max: 40 }).map((cents) => cents / 100),
      ok: fc.boolean(),
      isAsked: fc.boolean(),
    })
    .map(({ call, at, usd, ok, isAsked }) => (isAsked ? asked(call, at, usd) : called(call, at, usd, ok)));
  // The ledger has each key once.
  const aLedger = fc.uniqueArray(anyEntry, { maxLength: 40, selector: ({ key }) => key });

  test("never lets a day cost more than was allowed, whatever came before", async () => {
    await fc.assert(
      fc.asyncProperty(aLedger, fc.integer({ min: 0, max: 100 }), async (entries, cents) => {
        const usd = cents / 100;
        if ((await holdFor(entries, usd)) !== null) return;
        const after = await useOf([...entries, asked("next", now, usd)]);
        expect(after.spent.usd).toBeLessThanOrEqual(limits.usdPerDay + 1e-9);
        expect(usd).toBeLessThanOrEqual(limits.usdPerCall);
      }),
    );
  });

  test("comes to the same in whatever order the ledger is read", async () => {
    await fc.assert(
      fc.asyncProperty(aLedger, async (entries) => {
        const [one, back] = [await useOf(entries), await useOf([...entries].reverse())];
        expect(back.spent.calls).toBe(one.spent.calls);
        expect(back.spent.usd).toBeCloseTo(one.spent.usd);
        expect(back.openUntil).toBe(one.openUntil);
      }),
    );
  });
});

describe("the breaker", () => {
  const openMs = 60 * minute;
  const five = failures(5, now);
  const open = now + five.length - 1 + 60 * minute;

  it.each<[string, LedgerEntry[], number, number | null]>([
    ["is closed after four failures", five.slice(1), now + minute, null],
    ["opens at the fifth, for an hour", five, now + minute, open],
    ["lets one try through after that", five, open, null],
    ["opens anew when that fails", [...five, called("again", open, 0, false)], open + 1, open + 60 * minute],
    ["closes when it succeeds", [...five, called("again", open, 0)], open + 1, null],
    ["is not kept open by a clock that was a year ahead", failures(9, now + 365 * day), now, null],
    ["is kept open by one that was a little ahead", failures(5, now + minute), now, now + openMs],
    [
      "counts only failures in a row",
      [...five.slice(0, 3), called("good", now + 2, 0), ...five.slice(3)],
      now + minute,
      null,
    ],
  ])("%s", async (_, entries, at, until) => expect((await useOf(entries, at)).openUntil).toBe(until));

  test("is the same for anything else that is tried", () => {
    const tries = five.map(({ at }) => ({ at: at ?? 0, ok: false }));
    expect(breakUntil(tries, now + minute)).toBe(open);
    expect(breakUntil(tries.slice(1), now + minute)).toBeNull();
  });
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
    ["gemini/flash", { via: "gemini", id: "flash" }],
    ["opencode/openai/gpt-6-luna", { via: "opencode", id: "openai/gpt-6-luna" }],
    ["copilot", { via: "copilot", id: null }],
    ["pi/openai/gpt-6-luna", { via: "pi", id: "openai/gpt-6-luna" }],
    ["cursor", null],
    ["openai/-x", null],
    ["off/x", null],
  ])("%s", (word, choice) => expect(parseJudge(word)).toEqual(choice));

  it.each<[string, number | null]>([
    ["claude/haiku", 5],
    ["anthropic/claude-sonnet-4-5", 22.5],
    ["anthropic/claude-opus-4-5", 25],
    ["anthropic/claude-opus-4-5-20251101", 25],
    ["claude/opus", 25],
    ["anthropic/claude-opus-4-1", 75],
    ["anthropic/claude-opus-4-20250514", 75],
    ["anthropic/claude-3-opus-20240229", 75],
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
    ["codex/gpt-6-luna", 1.2],
    ["codex/gpt-6-sol", 20],
    ["gemini/flash", 9],
    ["gemini/gemini-3.1-pro-preview", 18],
    ["opencode/anthropic/claude-haiku-4-5", 5],
    ["copilot/claude-opus-5.5", 25],
    ["openai/llama3", null],
  ])("%s has its price", (name, output) => expect(findPrice(name)?.output ?? null).toBe(output));

  test("that nobody knows leaves room for a review within its 0.50 USD", () => {
    expect(computeCost({ inputTokens: 60_000 / 3, outputTokens: 6_000 }, null)).toBeLessThan(0.5);
  });

  it.each<[string, number]>([
    ["", 0],
    ["abcdef", 2],
    ["日本語", 3],
    ["été", 3],
    ["🙂", 2],
  ])("is given %j as so many tokens, and what a call may cost goes by them", (prompt, tokens) => {
    const request = { system: "", prompt, schema: {}, maxOutputTokens: 0 };
    const price = { input: 1_000_000, output: 0 };
    // The empty schema is a token by itself.
    expect(Math.abs(estimateMaxCost(request, price) - tokens)).toBeLessThanOrEqual(1);
  });

  test("has a price, and a dear one where nobody knows it", () => {
    const tokens = { inputTokens: 1_000_000, outputTokens: 0 };
    expect(computeCost(tokens, findPrice("claude/haiku"))).toBe(1);
    expect(computeCost(tokens, findPrice("openai/some-model"))).toBe(6);
  });
});
