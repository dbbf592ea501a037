import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { areOpposed, extractGist, isSameLesson, planWordSearch } from "../../src/lessons/similarity.ts";
import { runs } from "../helpers/runs.ts";

const gist = (trigger: string, action: string) => extractGist({ trigger, action });

describe("two lessons", () => {
  it.each<[string, [string, string], [string, string]]>([
    [
      "in the same words",
      ["npm install fails with ERESOLVE", "add --legacy-peer-deps"],
      ["npm install fails with ERESOLVE", "add --legacy-peer-deps"],
    ],
    [
      "in nearly the same words",
      ["npm install fails with ERESOLVE", "add --legacy-peer-deps"],
      ["npm ci fails with ERESOLVE", "add --legacy-peer-deps"],
    ],
    ["in Chinese", ["提交代码", "先运行测试"], ["提交代码", "先运行测试再提交"]],
  ])("are one %s", (_, a, b) => {
    expect(isSameLesson(gist(...a), gist(...b))).toBe(true);
    expect(areOpposed(gist(...a), gist(...b))).toBe(false);
  });

  it.each<[string, [string, string], [string, string]]>([
    [
      "about other commands",
      ["pytest is missing", "run python -m unittest"],
      ["npm install fails", "add --legacy-peer-deps"],
    ],
    [
      "with the same occasion and another action",
      ["running tests in the api folder", "start the database first"],
      ["running tests in the api folder", "set CI=1 for snapshots"],
    ],
    [
      "one that avoids beside one that prefers",
      ["installing packages", "avoid npm"],
      ["installing packages", "prefer lockfile installs"],
    ],
  ])("are two %s", (_, a, b) => {
    expect(isSameLesson(gist(...a), gist(...b))).toBe(false);
    expect(areOpposed(gist(...a), gist(...b))).toBe(false);
  });

  it.each<[string, [string, string], [string, string]]>([
    [
      "when each warns of the other's way",
      ["installing packages", "use pnpm, not npm"],
      ["installing packages", "use npm, not pnpm"],
    ],
    [
      "when one forbids what the other asks for",
      ["committing", "run the linter first"],
      ["committing", "never run the linter first"],
    ],
    [
      "when one says instead",
      ["installing packages", "use yarn"],
      ["installing packages", "use pnpm instead of yarn"],
    ],
    ["in Chinese", ["提交代码", "使用英文提交信息"], ["提交代码", "不要使用英文提交信息"]],
    ["in Japanese", ["コミット", "npm ではなく pnpm"], ["コミット", "pnpm ではなく npm"]],
  ])("are opposed %s", (_, a, b) => {
    expect(areOpposed(gist(...a), gist(...b))).toBe(true);
    expect(areOpposed(gist(...b), gist(...a))).toBe(true);
    expect(isSameLesson(gist(...a), gist(...b))).toBe(false);
  });
});

it.each([
  ..."not never no don't doesn't don’t avoid without stop nicht kein pas jamais nunca".split(" "),
  ...["Never", "instead of", "rather than", "不要", "不能", "不用", "别", "勿", "避免", "禁止"],
])("what stands behind %s is warned of", (word) => {
  const { wants, shuns } = gist("", `install pnpm ${word} docker`);
  expect([[...wants].includes("pnpm"), [...shuns].includes("docker")]).toEqual([true, true]);
});

const words = fc
  .array(fc.constantFrom(..."run npm pnpm test build flag lock ci not never cache port docker".split(" ")), {
    minLength: 1,
    maxLength: 9,
  })
  .map((list) => list.join(" "));
const anyGist = fc.tuple(words, words).map(([trigger, action]) => gist(trigger, action));

test("the search for a lesson misses none that is the same or opposed, whichever words are common", () => {
  fc.assert(
    fc.property(
      anyGist,
      anyGist,
      fc.dictionary(fc.constantFrom(..."run npm test build flag".split(" ")), fc.nat(5_000)),
      (a, b, counts) => {
        const { words, occasion, atLeast } = planWordSearch(a, (word) => counts[word] ?? 1);
        const shared = (looked: Iterable<string>, own: ReadonlySet<string>) =>
          [...looked].filter((word) => own.has(word)).length;
        if (isSameLesson(a, b)) expect(shared(words, b.all)).toBeGreaterThanOrEqual(atLeast.anywhere);
        if (areOpposed(a, b)) expect(shared(occasion, b.trigger)).toBeGreaterThanOrEqual(atLeast.inTrigger);
      },
    ),
    { numRuns: runs(5_000) },
  );
});

test("likeness does not depend on which comes first", () => {
  fc.assert(
    fc.property(anyGist, anyGist, (a, b) => {
      expect([isSameLesson(a, b), areOpposed(a, b)]).toEqual([isSameLesson(b, a), areOpposed(b, a)]);
    }),
    { numRuns: runs(2_000) },
  );
});
