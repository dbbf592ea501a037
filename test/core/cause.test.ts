import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { causeOfLine, causes } from "../../src/core/cause.ts";
import { hollow, mayBeHollow } from "../../src/core/output.ts";
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

test("a line that says no more than that something failed is tried as one", () => {
  fc.assert(
    fc.property(
      fc.stringMatching(new RegExp(hollow.source.replace(/\(\?[!=][^()]*\)/g, "").replaceAll("\\b", ""))),
      (line) => {
        expect(mayBeHollow(line)).toBe(true);
      },
    ),
    { numRuns: runs(3_000) },
  );
});

test.each([
  ["bash: pnpm: command not found", "missing-program"],
  ["✗ sums things up", "failing-test"],
  ["DATABASE_URL is not set", "missing-setting"],
  ["Please run the tests", null],
])("%s: %s", (line, cause) => expect(causeOfLine(line)?.cause ?? null).toBe(cause));
