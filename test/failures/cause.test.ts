import { expect, test } from "vitest";
import { findCause, makeSignature } from "../../src/failures/error-line.ts";
import { complains, isHollow } from "../../src/failures/error-text.ts";
import { complainingLines, hollowLines, linesByCause } from "./complaints.ts";

test.each(linesByCause)("%s is the cause that a line tells, whichever words say so", (cause, lines) => {
  for (const line of lines) expect([line, findCause(line)?.cause]).toEqual([line, cause]);
});

test("a line that says no more than that something failed is known by its words", () => {
  for (const line of hollowLines) expect([line, isHollow(line)]).toEqual([line, true]);
  expect(isHollow("Cannot find module 'left-pad'")).toBe(false);
});

test("a complaint is known by its words", () => {
  for (const line of complainingLines) expect([line, complains(line)]).toEqual([line, true]);
  expect(complains("12 tests passed in 3 s")).toBe(false);
});

// What is of the moment goes, whatever stands around it.
// biome-ignore format: a table reads better in rows
test.each([
  ["at 9754-93-05 end", "at N end"],
  ["at y9100-65-39 UTC end", "at yN end"],
  ["at 8:37:70 end", "at N end"],
  ["at 8e826c0b-0bc2-eff8-52b3-8e21a27a6877 end", "at … end"],
  ["at sha32:2cd0c1a6-07a7-52bb-683e-e4bd810ab102 end", "at … end"],
  ["at sha512-//4+/+===/++=/l2s++Z end", "at … end"],
  ["at -p7xmlci7-f2dwc end", "at -… end"],
  ["at `U (b8e4b2f89f97)h end", "at …h end"],
  ["at cc4b8e4b end", "at … end"],
  ["at \\… end", "at …/… end"],
  ["at ./c end", "at c end"],
  ["at ::1 end", "at localhost end"],
  ["at 0.0.0.0 end", "at localhost end"],
  ["at 41.2.2.46 end", "at host end"],
  ["at project at …r` end", "at project at … end"],
  ["at workspace at `…P end", "at workspace at … end"],
  ["at current branch o' end", "at current branch … end"],
  ["at ccurrent branch $4NQ end", "at ccurrent branch $NNQ end"],
  ["at ^23smw]: end", "at ^Nsmw]: end"],
  ["at 2340min $ end", "at N $ end"],
  ["at <K96.271 ' end", "at <K96.N ' end"],
  ["at v58.7-alpha..L../ end", "at N/ end"],
  ["at 6W end", "at NW end"],
  ["at N, N end", "at N end"],
  ["at m  xL end", "at m xL end"],
  ["at 0: end", "at N: end"],
])("%s has the signature %s", (line, signature) => expect(makeSignature(line)).toBe(signature));

test.each([
  ["bash: pnpm: command not found", "missing-program"],
  ["✗ sums things up", "failing-test"],
  ["DATABASE_URL is not set", "missing-setting"],
  ["Please run the tests", null],
])("%s: %s", (line, cause) => expect(findCause(line)?.cause ?? null).toBe(cause));
