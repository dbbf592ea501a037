import { describe, expect, it, test } from "vitest";
import { fields, type IndexItem, readEntry } from "../../src/search/entry.ts";
import { tokenize } from "../../src/text/tokens.ts";
import { skill } from "./helpers.ts";

/** The tokens that an entry has in a field. */
function tokensOf(entry: IndexItem["entry"], field: (typeof fields)[number]): Set<string> {
  const at = fields.indexOf(field);
  return new Set([...readEntry(entry).counts].flatMap(([token, counts]) => (counts[at] ? token : [])));
}

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
    const { entry } = skill("x", description);
    expect(tokensOf(entry, "unfit")).toEqual(new Set(tokenize(unfit)));
    const rest = description.replace(unfit, "");
    expect(tokensOf(entry, "description")).toEqual(new Set(tokenize(rest)));
  });

  it.each([
    "Fixes tests that do not pass.",
    "Explains why a build is not reproducible.",
    "Helps you decide whether to cache or not.",
  ])("is not mistaken for what it does: %s", (description) => {
    const { entry } = skill("x", description);
    expect(tokensOf(entry, "unfit")).toEqual(new Set());
    expect(tokensOf(entry, "description")).toEqual(new Set(tokenize(description)));
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
    const { entry } = skill("db", "Database migrations.", { body });
    const texts: [(typeof fields)[number], string][] = [
      ["when", "- a column is renamed"],
      ["unfit", "- seeding a database"],
      ["headings", "Migrations\nWhen to use\nWhen not to use this skill\nSteps"],
      ["body", "Write them by hand.\n```sh\n# not a heading\n```"],
    ];
    for (const [field, text] of texts) expect(tokensOf(entry, field)).toEqual(new Set(tokenize(text)));
  });

  test("are counted field by field", () => {
    const { counts, lengths } = readEntry(
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
    const { counts } = readEntry(skill("x", "word ".repeat(1_000)).entry);
    expect(counts.get("word")?.[fields.indexOf("description")]).toBe(255);
  });
});
