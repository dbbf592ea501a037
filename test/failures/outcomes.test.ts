import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseCommand } from "../../src/failures/command.ts";
import { readError } from "../../src/failures/error-text.ts";
import { findFailedRun } from "../../src/failures/failed-run.ts";
import { readOutcome } from "../../src/failures/outcome.ts";
import type { Outcome } from "../../src/records/session.ts";

/** A call whose exit code says little, and what a reader found that came of it. */
interface Row {
  readonly command: string;
  readonly exitCode: number | null;
  readonly output: string;
  readonly outcome: Outcome;
  /** The part that failed. */
  readonly part: string | null;
}

const rows = readFileSync(new URL("outcomes.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);

test("97 of 100 masked and compound calls are read as a reader reads them, and none wrongly as ok", () => {
  const read = rows.map((row) => ({ row, outcome: readOutcome(row.command, row.exitCode, row.output) }));
  const wrong = read.filter(({ row, outcome }) => outcome !== row.outcome);
  expect(rows).toHaveLength(400);
  expect(wrong.filter(({ outcome }) => outcome === "ok").map(({ row }) => row.command)).toEqual([]);
  expect(wrong.length).toBeLessThanOrEqual(0.03 * rows.length);
});

test("nine of ten times the part that failed is the one that a reader names", () => {
  const failed = rows.filter(({ outcome, part }) => outcome === "failed" && part);
  const right = failed.filter(({ command, exitCode, output, part }) => {
    const run = findFailedRun(parseCommand(command), readError(output, exitCode), output);
    const words = run && [...run.env, ...run.wrapper, run.written, ...run.args];
    return part?.split(" ").every((word) => words?.some((each) => each.endsWith(word)));
  });
  expect(right.length).toBeGreaterThanOrEqual(0.9 * failed.length);
});
