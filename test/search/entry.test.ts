import { describe, expect, it, test } from "vitest";
import { countTokens, fields, splitClauses, splitFields } from "../../src/search/entry.ts";
import { skill } from "./helpers.ts";

describe("what a description says it is not for", () => {
  it.each<[string, string, string]>([
    ["after Not for", "Audits pages. Not for paid ads.", "Not for paid ads."],
    ["after Do NOT use", "Sends mail. Do NOT use for newsletters.", "Do NOT use for newsletters."],
    ["within a sentence", "Edits slides; do not use for PDF files", "do not use for PDF files"],
    [
      "with another skill in its place",
      "Writes copy. For cold emails, see cold-email.",
      "For cold emails, see cold-email.",
    ],
    ["in Chinese", "写公众号文章。不适用于视频脚本。", "不适用于视频脚本。"],
    ["in Japanese", "コードを書く。翻訳は対象外。", "対象外。"],
  ])("is told apart %s", (_, description, unfit) => {
    const clauses = splitClauses(description);
    expect(clauses.unfit).toBe(unfit);
    expect(clauses.fit).not.toContain(unfit);
  });

  it.each([
    "Fixes tests that do not pass.",
    "Explains why a build is not reproducible.",
    "Helps you decide whether to cache or not.",
  ])("is not mistaken for what it does: %s", (description) => {
    expect(splitClauses(description)).toEqual({ fit: description, unfit: "" });
  });
});

describe("the texts of an entry", () => {
  const body = [
    "# Migrations",
    "Write them by hand.",
    "## When to use",
    "- a column is renamed",
    "## When not to use this skill",
    "- seeding a database",
    "## Steps",
    "```sh",
    "# not a heading",
    "```",
  ].join("\n");

  test("are told apart by the headings of its body", () => {
    const texts = splitFields(skill("db", "Database migrations.", { body }).entry);
    expect(texts.when).toContain("column is renamed");
    expect(texts.unfit).toContain("seeding a database");
    expect(texts.headings.split("\n")).toEqual([
      "Migrations",
      "When to use",
      "When not to use this skill",
      "Steps",
    ]);
    expect(texts.body).toContain("not a heading");
  });

  test("are counted field by field", () => {
    const { counts, lengths } = countTokens(
      skill("db-migration", "A migration for a database.", { tags: ["sql"], prompts: ["rename a column"] })
        .entry,
    );
    const of = (term: string, field: (typeof fields)[number]) => counts.get(term)?.[fields.indexOf(field)];
    expect(of("migration", "name")).toBe(1);
    expect(of("migration", "description")).toBe(1);
    expect(of("sql", "tags")).toBe(1);
    expect(of("column", "prompts")).toBe(1);
    expect(lengths[fields.indexOf("prompts")]).toBe(2);
    expect(lengths[fields.indexOf("body")]).toBe(0);
  });

  test("stop counting where a byte is full", () => {
    const { counts } = countTokens(skill("x", "word ".repeat(1_000)).entry);
    expect(counts.get("word")?.[fields.indexOf("description")]).toBe(255);
  });
});
