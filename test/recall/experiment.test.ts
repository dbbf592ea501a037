import { describe, expect, it, test } from "vitest";
import { compareCourses, compareInTurn } from "../../src/recall/experiment.ts";
import { seeded } from "../helpers/history.ts";

const [error, fewest] = [0.05, 5];

type Unit = Parameters<typeof compareInTurn>[0][number];

/** Between which bounds the mean of values is, by pairs whose differences are those values on the scale from -1 to 1. */
function boundMean(values: readonly number[]): { low: number; high: number } {
  const after = values.map((value, at) => ({ at, value }));
  const { low, high } = compareCourses([{ before: values.map((value) => 1 - value), after }]);
  return { low: (low + 1) / 2, high: (high + 1) / 2 };
}

/** Draws of 0 and 1 with a chance of 1. */
function draws(random: () => number, chance: number, many: number): number[] {
  return Array.from({ length: many }, () => (random() < chance ? 1 : 0));
}

/** Sessions that chance deals to both sides, each side with its own chance of what is measured. */
function dealt(
  random: () => number,
  many: number,
  share: number,
  chances: { had: number; hadNot: number },
): Unit[] {
  return Array.from({ length: many }, () => {
    const had = random() >= share;
    return { had, value: random() < (had ? chances.had : chances.hadNot) ? 1 : 0 };
  });
}

describe("an interval that may be looked at every day", () => {
  it.each([0.02, 0.1, 0.5, 0.9, 0.98])(
    "holds the truth at all times together as often as it says, for a mean of %d",
    (mean) => {
      const random = seeded(mean * 1_000);
      const [times, many] = [400, 250];
      let missed = 0;
      for (let n = 0; n < times; n++) {
        // What is left at the end was never refuted on the way: looking every day is in it.
        const { low, high } = boundMean(draws(random, mean, many));
        if (mean < low || mean > high) missed++;
      }
      expect(missed / times).toBeLessThanOrEqual(error);
    },
  );

  test("holds it for values that are not 0 or 1, and for one that never varies", () => {
    const random = seeded(3);
    let missed = 0;
    for (let n = 0; n < 300; n++) {
      // The mean of the larger of two even draws is 2/3.
      const { low, high } = boundMean(Array.from({ length: 200 }, () => Math.max(random(), random())));
      if (2 / 3 < low || 2 / 3 > high) missed++;
    }
    expect(missed / 300).toBeLessThanOrEqual(error);
    const { low, high } = boundMean(Array(200).fill(0.25));
    expect([low <= 0.25, high >= 0.25, high - low < 0.1]).toEqual([true, true, true]);
  });

  test("only ever narrows, and says nothing of nothing", () => {
    const values = draws(seeded(5), 0.3, 120);
    let before = boundMean([]);
    expect(before).toEqual({ low: 0, high: 1 });
    for (let n = 1; n <= values.length; n++) {
      const { low, high } = boundMean(values.slice(0, n));
      expect(low).toBeGreaterThanOrEqual(before.low - 1e-5);
      expect(high).toBeLessThanOrEqual(before.high + 1e-5);
      before = { low, high };
    }
  });

  test("is not fooled by somebody who stops when it suits them, as a usual interval is", () => {
    const random = seeded(17);
    let [here, usual] = [0, 0];
    for (let n = 0; n < 200; n++) {
      const values = draws(random, 0.5, 300);
      const { low, high } = boundMean(values);
      if (low > 0.5 || high < 0.5) here++;
      let sum = 0;
      const stopped = values.some((value, at) => {
        sum += value;
        const [size, mean] = [at + 1, (sum + 0) / (at + 1)];
        return size >= 10 && Math.abs(mean - 0.5) > (1.96 * 0.5) / Math.sqrt(size);
      });
      if (stopped) usual++;
    }
    expect(here / 200).toBeLessThanOrEqual(error);
    expect(usual / 200).toBeGreaterThan(0.2);
  });
});

describe("a comparison of what was shown with what was held back", () => {
  it.each<[number, number, number]>([
    [0.3, 0.3, 0.1],
    [0.1, 0.1, 0.5],
    [0.1, 0.4, 0.2],
    [0.6, 0.5, 0.5],
  ])("of %d against %d, %d held back, is wrong no more often than it says", (had, hadNot, share) => {
    const random = seeded(Math.round(1_000 * (had + 3 * hadNot + 7 * share)));
    let missed = 0;
    for (let n = 0; n < 200; n++) {
      const { low, high } = compareInTurn(dealt(random, 300, share, { had, hadNot }));
      if (had - hadNot < low || had - hadNot > high) missed++;
    }
    expect(missed / 200).toBeLessThanOrEqual(error);
  });

  test("sees a difference that is there, and says which way", () => {
    const random = seeded(23);
    const verdicts = Array.from(
      { length: 50 },
      () => compareInTurn(dealt(random, 500, 0.2, { had: 0.1, hadNot: 0.5 })).verdict,
    );
    expect(verdicts.filter((verdict) => verdict === "less").length).toBeGreaterThan(45);
    expect(verdicts).not.toContain("more");
  });

  test("does not see one that came with the months, when both sides changed alike", () => {
    const random = seeded(29);
    let wrong = 0;
    for (let n = 0; n < 100; n++) {
      // What fails half of the time at first hardly ever fails at the end, whoever was shown anything.
      const units = Array.from({ length: 400 }, (_, at) => ({
        had: random() >= 0.3,
        value: random() < 0.5 * (1 - at / 400) ? 1 : 0,
      }));
      if (["less", "more"].includes(compareInTurn(units).verdict)) wrong++;
    }
    expect(wrong / 100).toBeLessThanOrEqual(error);
  });

  test("says that there are too few, how many there are, and about how many it takes", () => {
    const few = compareInTurn(dealt(seeded(31), 30, 0.2, { had: 0.3, hadNot: 0.4 }));
    expect(few.verdict).toBe("too-few");
    expect(few.pairs).toBeLessThan(10);
    expect(few.needed).toBeGreaterThan(40);
    expect(few.low).toBeLessThan(0);
    expect(few.high).toBeGreaterThan(0);
    expect(compareInTurn([]).pairs).toBe(0);
    expect(compareInTurn([]).had).toEqual({ sessions: 0, mean: null });
    // With all of one side alike a few may look like proof; they are not.
    const lucky = Array.from({ length: 2 * (fewest - 1) }, (_, at) => ({ had: at % 2 === 0, value: at % 2 }));
    expect(compareInTurn(lucky).verdict).toBe("too-few");
  });

  it.each([0.1, 0.3, 0.5])("what it takes is about right where %d is measured", (chance) => {
    const random = seeded(chance * 100);
    const { needed } = compareInTurn(dealt(random, 200, 0.5, { had: chance, hadNot: chance }));
    const units = Array.from({ length: 2 * needed }, (_, at) => ({
      had: at % 2 === 0,
      value: random() < chance ? 1 : 0,
    }));
    const { low, high } = compareInTurn(units);
    expect((high - low) / (2 * 0.2)).toBeGreaterThan(0.6);
    expect((high - low) / (2 * 0.2)).toBeLessThan(1.4);
  });

  test("says that there is no difference worth knowing once it can", () => {
    expect(compareInTurn(dealt(seeded(41), 1_200, 0.5, { had: 0.2, hadNot: 0.2 })).verdict).toBe(
      "no-difference",
    );
  });
});

describe("a comparison of before and after", () => {
  test("goes project by project, so that projects that differ do not look like a change", () => {
    const random = seeded(43);
    const course = (before: number, after: number, chance: number) => ({
      before: draws(random, chance, before),
      after: draws(random, chance, after).map((value, at) => ({ at, value })),
    });
    // One project had most of its sessions before, and fails much; the other most after, and fails little.
    const { verdict, estimate, pairs } = compareCourses([course(200, 40, 0.9), course(40, 200, 0.1)]);
    expect(verdict).not.toBe("less");
    expect(Math.abs(estimate)).toBeLessThan(0.2);
    expect(pairs).toBe(80);
  });

  test("counts every session on its side", () => {
    const after = [0, 0, 1].map((value, at) => ({ at, value }));
    expect(compareCourses([{ before: [1, 1], after }])).toMatchObject({
      had: { sessions: 3, mean: 1 / 3 },
      hadNot: { sessions: 2, mean: 1 },
      pairs: 2,
      estimate: -1,
      verdict: "too-few",
    });
  });
});
