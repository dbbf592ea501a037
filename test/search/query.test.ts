import { describe, expect, it, test } from "vitest";
import { rank } from "../../src/search/rank.ts";
import { findAliases, translateWords } from "../../src/text/aliases.ts";
import { libraryOf } from "./helpers.ts";

const readQuery = (prompt: string, context: readonly string[] = []) =>
  rank(libraryOf(), prompt, { context }).query;
const weightOf = (prompt: string, term: string, context: string[] = []) => {
  const { asked, implied } = readQuery(prompt, context);
  return [...asked, ...implied].find((one) => one.term === term)?.weight ?? 0;
};

describe("a prompt", () => {
  test("counts what it asks over what it tells", () => {
    const prompt = "We run a bakery with three shops. Can you write a newsletter?";
    expect(weightOf(prompt, "newsletter")).toBeGreaterThan(weightOf(prompt, "bakery"));
  });

  it.each([
    ["a fence", "Why is this slow?\n```\nselect orders from warehouse\n```", "slow", "warehouse"],
    [
      "a log",
      "Please fix the flaky login test\n2026-01-02 10:00:00 ERROR warehouse unreachable",
      "flaky",
      "warehouse",
    ],
    ["a stack", "How do I fix the crash?\n    at warehouse (app.js:3:1)", "crash", "warehouse"],
    ["a quotation", "What does this mean?\n> the warehouse is unreachable", "mean", "warehouse"],
  ])("counts what it asks over %s", (_, prompt, asked, pasted) => {
    expect(weightOf(prompt, asked)).toBeGreaterThan(2 * weightOf(prompt, pasted));
    expect(weightOf(prompt, pasted)).toBeGreaterThan(0);
  });

  test("is read at both ends where it is long", () => {
    const prompt = `Summarize the meeting. ${"filler ".repeat(5_000)} Then translate it.`;
    const terms = readQuery(prompt).asked.map(({ term }) => term);
    expect(terms).toEqual(expect.arrayContaining(["summarize", "meeting", "translate"]));
  });

  test("implies other words, weakly", () => {
    expect(weightOf("write it in go", "golang")).toBeGreaterThan(0);
    expect(weightOf("write it in go", "golang")).toBeLessThan(weightOf("write it in go", "go") / 2);
    expect(weightOf("优化数据库", "database")).toBeGreaterThan(0);
  });

  test("implies where it is asked, more weakly than what is asked", () => {
    expect(weightOf("add a test", "typescript", ["TypeScript"])).toBeGreaterThan(0);
    expect(weightOf("add a test", "typescript", ["TypeScript"])).toBeLessThan(weightOf("add a test", "test"));
  });

  test("of nothing asks nothing", () => {
    expect(readQuery("")).toEqual({ text: "", asked: [], implied: [] });
  });
});

describe("other words", () => {
  test("go both ways in a language", () => {
    expect(findAliases("go")).toContain("golang");
    expect(findAliases("golang")).toContain("go");
    expect(findAliases("slow")).toContain("performance");
  });

  test("go into English from others", () => {
    expect(findAliases("sesion")).toContain("session");
    expect(findAliases("session")).not.toContain("sesion");
    expect(translateWords("寫公眾號文章").map(({ word }) => word)).toEqual(["公众号", "文章"]);
    expect(translateWords("コードレビューして")[0]?.terms).toEqual(["code", "review"]);
  });

  test("are none for a word without them", () => {
    expect(findAliases("zeppelin")).toEqual([]);
    expect(translateWords("zeppelin")).toEqual([]);
  });
});
