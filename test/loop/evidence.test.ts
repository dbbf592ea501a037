import { describe, expect, test } from "vitest";
import { describeEvidence } from "../../src/loop/state/curation.ts";
import { type GradedRun, weighChange } from "../../src/loop/state/evidence.ts";

const limits = { minSamplesPerArm: 30, minGradedPerArm: 10, alpha: 0.05, recentAttemptsWindow: 50 };

function runs(scores: readonly number[]): GradedRun[] {
  return scores.map((score, at) => ({ at, met: score === 1, score }));
}

function weigh(before: readonly number[], after: readonly number[]) {
  return weighChange({ before: runs(before), after: runs(after) }, limits);
}

function repeat(times: number, ...values: readonly number[]): number[] {
  return Array.from({ length: times }, (_, n) => values[n % values.length] ?? 0);
}

describe("What runs say about a change", () => {
  test("is nothing before there are enough of them, and it says how many it takes", () => {
    const few = weigh(repeat(9, 1), repeat(9, 0));
    expect(few).toMatchObject({
      verdict: "too-few",
      pairs: 9,
      provisional: { reason: "insufficient_samples" },
    });
    expect(describeEvidence(few)).toBe(
      "too few samples (9 of about 32 pairs): 100 % in 9 runs before, 0 % in 9 runs since",
    );
  });

  test("is by the fifty runs on each side that are nearest to it", () => {
    const near = [...repeat(50, 1), ...repeat(30, 0)];
    expect(weigh(near, near)).toMatchObject({
      ...{ verdict: "no-difference", pairs: 50 },
      ...{ before: { runs: 50, met: 50 }, after: { runs: 50, met: 50 } },
    });
  });

  test("is sure after ten runs on each side where the change decides everything", () => {
    expect(weigh(repeat(10, 1), repeat(10, 0)).verdict).toBe("worse");
    expect(weigh(repeat(10, 0), repeat(10, 1)).verdict).toBe("better");
    expect(weigh(repeat(50, 1), repeat(50, 1)).verdict).toBe("no-difference");
  });

  test.each<[string, readonly number[], readonly number[], object]>([
    [
      "shares",
      repeat(30, 1),
      repeat(30, 1, 0.5),
      { test: "two-proportion", reason: "significant_regression" },
    ],
    [
      "shares that differ little",
      repeat(30, 1, 1, 0),
      repeat(30, 1, 1, 0, 0, 1),
      { reason: "not_significant" },
    ],
    ["better shares", repeat(30, 0.5), repeat(30, 1), { reason: "no_regression" }],
    [
      "ranks of scores",
      repeat(10, 0.8, 0.9),
      repeat(10, 0.2, 0.3),
      { test: "mann-whitney", reason: "graded_regression_provisional" },
    ],
    [
      "ranks that are tied",
      repeat(10, 0.5),
      repeat(10, 0.5),
      { test: "mann-whitney", reason: "no_regression" },
    ],
    [
      "shares against scores",
      [...repeat(9, 1), ...repeat(21, 0)],
      [1, ...repeat(29, 0.9)],
      { reason: "binary_graded_disagree" },
    ],
  ])("has a second opinion by %s, which is called provisional", (_, before, after, provisional) => {
    const evidence = weigh(before, after);
    expect(evidence.provisional).toMatchObject(provisional);
    if (evidence.provisional.p !== null)
      expect(describeEvidence(evidence)).toMatch(/provisional, .*: p = \d\.\d{3}$/);
  });

  test("has the p that tables give", () => {
    // 18 of 30 against 27 of 30: z = 2.683, p = 0.0073; ranks of 1 to 10 and 6 to 15: U = 12.5, p = 0.0051.
    expect(
      weigh([...repeat(27, 1), 0, 0, 0], [...repeat(18, 1), ...repeat(12, 0)]).provisional.p,
    ).toBeCloseTo(0.0073, 4);
    const ranks = (from: number) => Array.from({ length: 10 }, (_, n) => (from - n) / 20);
    expect(weigh(ranks(15), ranks(10)).provisional.p).toBeCloseTo(0.00508, 5);
  });
});

/** Numbers between 0 and 1 that look like chance and are the same each time. */
function createChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The score of a run with ten criteria, each of which is met with a chance. */
function playRun(chance: () => number, quality: number): number {
  return (
    Array.from({ length: 10 }, () => (chance() < quality ? 1 : 0) as number).reduce((a, b) => a + b, 0) / 10
  );
}

/** How many runs it took on each side until the verdict was clear; null where it never was. */
function countUntilClear(
  seed: number,
  from: number,
  to: number,
  most: number,
): { runs: number; verdict: string } | null {
  const chance = createChance(seed);
  const before = Array.from({ length: most }, () => playRun(chance, from));
  const after: number[] = [];
  while (after.length < most) {
    after.push(playRun(chance, to));
    const { verdict } = weigh(before, after);
    if (verdict !== "too-few") return { runs: after.length, verdict };
  }
  return null;
}

describe("Ten simulated series of runs", () => {
  const seeds = Array.from({ length: 10 }, (_, n) => n + 1);
  const median = (numbers: readonly number[]) =>
    [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

  test("keep a planted better strategy and refute a planted worse one, each time", () => {
    const better = seeds.map((seed) => countUntilClear(seed, 0.5, 0.9, 50));
    const worse = seeds.map((seed) => countUntilClear(seed, 0.9, 0.5, 50));
    expect(better.map((one) => one?.verdict)).toEqual(seeds.map(() => "better"));
    expect(worse.map((one) => one?.verdict)).toEqual(seeds.map(() => "worse"));
    expect([better, worse].map((all) => median(all.map((one) => one?.runs ?? 0)))).toEqual([23, 23]);
  });

  test("refute a change that does nothing in few of two hundred, though they look after each run", () => {
    const wrong = Array.from({ length: 200 }, (_, n) => countUntilClear(n + 100, 0.7, 0.7, 50)).filter(
      (one) => one?.verdict === "worse" || one?.verdict === "better",
    );
    // 5 % of two hundred at most, by the test's promise.
    expect(wrong.length).toBeLessThanOrEqual(10);
  });
});
