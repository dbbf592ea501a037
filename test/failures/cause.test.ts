import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { causes, findCause } from "../../src/failures/cause.ts";
import {
  complaint,
  hollow,
  mayBeHollow,
  mayComplain,
  mayTellStatus,
  onlyStatus,
} from "../../src/failures/output.ts";
import { hasSign, volatilePatterns } from "../../src/failures/signature.ts";
import { mayWarn, warning } from "../../src/lessons/similarity.ts";
import { runs } from "../helpers/runs.ts";

describe("a pattern for a cause", () => {
  test.each(causes.map(([cause, pattern, hints]) => ({ cause, pattern, hints })))(
    "is tried on every line that it matches: $cause $pattern",
    ({ pattern, hints }) => {
      // What must not stand around a match does not make a line, and neither does whether letters are big.
      const source = pattern.source.replace(/\(\?<?[!=][^()]*\)/g, "").replaceAll("\\b", "");
      fc.assert(
        fc.property(fc.stringMatching(new RegExp(source)), (line) => {
          const plain = line.toLowerCase();
          expect(hints.split("|").some((hint) => plain.includes(hint))).toBe(true);
        }),
        { numRuns: runs(300) },
      );
    },
  );
});

/** What a pattern finds, without what must or must not stand around it, and whether letters are big. */
function foundBy({ source }: RegExp): fc.Arbitrary<string> {
  return fc.stringMatching(new RegExp(source.replace(/\(\?<?[!=][^()]*\)/g, "").replaceAll("\\b", "")));
}

function isTried(pattern: RegExp, may: (text: string) => boolean): void {
  const tried = fc.property(foundBy(pattern), (text) => {
    expect(may(text)).toBe(true);
  });
  fc.assert(tried, { numRuns: runs(500) });
}

describe("a pattern that takes long to prepare is tried on every text that it matches:", () => {
  test.each<[string, RegExp, (text: string) => boolean]>([
    ["what says no more than that something failed", hollow, mayBeHollow],
    ["what tells a status", onlyStatus, mayTellStatus],
    ["a complaint", complaint, mayComplain],
    ["a warning", warning, mayWarn],
  ])("%s", (_, pattern, may) => isTried(pattern, may));

  // A pattern within what stands around another is not made up; those need no more than a digit.
  test.each(
    volatilePatterns
      .map(([pattern, by, ...needs]) => ({
        pattern,
        by,
        needs: needs.filter((signs) => signs !== undefined),
      }))
      .filter(({ pattern, needs }) => needs.length > 0 && !/\(\?<?[!=][^()]*\(/.test(pattern.source)),
  )("$pattern", ({ pattern, by, needs }) =>
    isTried(
      pattern,
      (text) =>
        needs.every((signs) => hasSign(text, signs)) || text.replace(pattern, by as () => string) === text,
    ),
  );
});

test.each([
  ["bash: pnpm: command not found", "missing-program"],
  ["✗ sums things up", "failing-test"],
  ["DATABASE_URL is not set", "missing-setting"],
  ["Please run the tests", null],
])("%s: %s", (line, cause) => expect(findCause(line)?.cause ?? null).toBe(cause));
