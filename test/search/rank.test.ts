import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { rank } from "../../src/search/rank.ts";
import { found, libraryOf, others, skill } from "./helpers.ts";

describe("ranking", () => {
  it.each<[string, string, ReturnType<typeof skill>]>([
    [
      "by description",
      "migrate our postgres tables",
      skill("db", "Migrate Postgres schemas without downtime."),
    ],
    ["by name", "help with a changelog", skill("changelog", "What changed, for readers.")],
    [
      "by body",
      "rotate the kafka certificates",
      skill("ops", "Runbook.", { body: "Rotate Kafka certificates." }),
    ],
    ["by tag", "anything for terraform?", skill("cloud", "Infrastructure.", { tags: ["terraform"] })],
    [
      "by a prompt it was of use in",
      "the thing with the flux",
      skill("fc", "Tuning.", { prompts: ["fix the flux"] }),
    ],
    ["in Chinese", "帮我优化数据库查询", skill("sql", "分析并优化数据库的慢查询。")],
    ["in English for Chinese", "帮我优化数据库查询", skill("sql", "Optimize slow database queries.")],
    ["by another word", "set up k8s", skill("cluster", "Run services on Kubernetes.")],
  ])("finds %s", (_, prompt, wanted) => {
    expect(found(libraryOf(...others, wanted), prompt)[0]).toBe(wanted.entry.id);
  });

  test("finds nothing where no word is shared", () => {
    expect(found(libraryOf(...others), "zeppelin maintenance")).toEqual([]);
  });

  test("prefers what is for it to what says it is not", () => {
    const library = libraryOf(
      ...others,
      skill("seo-audit", "Audit the search rank of a site. Not for paid ads on search engines."),
      skill("paid-ads", "Plan paid ads on search engines."),
    );
    expect(found(library, "plan paid ads for search engines")[0]).toBe("paid-ads");
    const refused = rank(library, "paid ads").entries.find(({ card }) => card.id === "seo-audit");
    expect(refused?.signs.told ?? 0).toBe(0);
  });

  test("counts what a skill is not for against it", () => {
    const library = libraryOf(
      ...others,
      skill("a", "Lint code of a project.", { body: "Not Golang.", when: "Not for Golang." }),
      skill("b", "Lint code of a project.", { body: "Not Golang.", when: "" }),
    );
    expect(found(library, "lint my golang project").slice(0, 2)).toEqual(["b", "a"]);
  });

  test("listens where one skill sends people to another", () => {
    const pointing = skill("copywriting", "Write copy for pages. For drip sequences, see lifecycle-mail.");
    const signs = (from: typeof pointing) =>
      rank(
        libraryOf(...others, from, skill("lifecycle-mail", "Sequences.")),
        "drip sequences for pages",
      ).entries.find(({ card }) => card.id === "lifecycle-mail")?.signs.pointed;
    expect(signs(pointing)).toBeGreaterThan(0);
    expect(signs(skill("copywriting", "Write copy for pages."))).toBe(0);
  });

  test("knows a phrase that a description quotes", () => {
    const library = libraryOf(
      ...others,
      skill("a", 'Clean desks. Use when somebody says "tidy up my inbox".'),
      skill("b", "Clean inbox rules and tidy folders."),
    );
    const [best] = rank(library, "tidy up my inbox").entries;
    expect(best?.signs.quoted).toBeGreaterThan(0);
  });

  test("takes the asking sentence over a pasted log", () => {
    const library = libraryOf(
      ...others,
      skill("flaky-tests", "Find out why a test is flaky."),
      skill("warehouse-sync", "Sync warehouse stock with the shop."),
    );
    const log = "2026-01-02 10:00:00 ERROR warehouse stock sync shop\n".repeat(20);
    expect(found(library, `Why is this test flaky?\n\`\`\`\n${log}\`\`\``)[0]).toBe("flaky-tests");
  });

  test("breaks a tie by the project's languages", () => {
    const library = libraryOf(
      ...others,
      skill("lint-go", "Lint code written in Golang."),
      skill("lint-ts", "Lint code written in TypeScript."),
    );
    expect(found(library, "lint code", { context: ["TypeScript"] })[0]).toBe("lint-ts");
    expect(found(library, "lint code", { context: ["Golang"] })[0]).toBe("lint-go");
  });

  test("finds only what is for the scopeIds that ask", () => {
    const library = libraryOf(
      skill("mine", "Deploy the shop.", { scopeId: "/shop" }),
      skill("theirs", "Deploy the shop.", { scopeId: "/other" }),
      skill("all", "Deploy the shop."),
    );
    expect(found(library, "deploy the shop", { scopeIds: new Set(["user", "/shop"]) })).toEqual([
      "all",
      "mine",
    ]);
  });

  test("is the same in whatever order skills are indexed", () => {
    const words = ["deploy", "shop", "test", "mail", "数据", "report", "fast"];
    const text = fc
      .array(fc.constantFrom(...words), { minLength: 1, maxLength: 8 })
      .map((list) => list.join(" "));
    const library = fc
      .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 999 }), text, text), {
        minLength: 1,
        maxLength: 80,
        selector: ([id]) => id,
      })
      .map((rows) => rows.map(([id, description, body]) => skill(`s${id}`, description, { body })));
    fc.assert(
      fc.property(library, text, fc.infiniteStream(fc.nat()), (skills, prompt, numbers) => {
        const keys = new Map(skills.map((one) => [one, numbers.next().value]));
        const shuffled = [...skills].sort((a, b) => (keys.get(a) as number) - (keys.get(b) as number));
        const told = (list: typeof skills) =>
          rank(libraryOf(...list), prompt).entries.map(({ card, score }) => [card.id, score]);
        expect(told(shuffled)).toEqual(told(skills));
      }),
    );
  });

  test("gives as many as are wanted", () => {
    expect(found(libraryOf(...others), "create a report", { most: 1 })).toHaveLength(1);
  });
});
