import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compareAsks, parseAsk } from "../../src/search/ask.ts";
import { jsonLines } from "../helpers/knack.ts";
import { freshPairs, noTask, pairs, unseenPairs } from "../library/gap-pairs.ts";

function areSame(a: string, b: string): boolean {
  const [left, right] = [parseAsk(a), parseAsk(b)];
  return left !== null && right !== null && compareAsks(left, right) >= 0.45;
}

function figuresOf(all: typeof pairs): { precision: number; recall: number } {
  const said = all.map(([same, a, b]) => ({ same, found: areSame(a, b) }));
  const right = said.filter(({ same, found }) => same && found).length;
  return {
    precision: right / said.filter(({ found }) => found).length,
    recall: right / said.filter(({ same }) => same).length,
  };
}

describe("what a prompt asks for", () => {
  test.each(pairs)("same %s: %s | %s", (same, a, b) => {
    expect(areSame(a, b)).toBe(same);
    expect(areSame(b, a)).toBe(same);
  });

  test.each([
    ["the second list", freshPairs],
    ["the third", unseenPairs],
  ])("is known again in other words, and not seen in other work: %s", (_, all) => {
    const { precision, recall } = figuresOf(all);
    expect(precision).toBeGreaterThanOrEqual(0.95);
    expect(recall).toBeGreaterThanOrEqual(0.85);
  });

  test.each(noTask)("%s: no task worth a skill", (text) => expect(parseAsk(text)).toBeNull());

  test("is what the person says, not what they paste", () => {
    const pasted = `write release notes for v2\n\n\`\`\`\nadd a migration\n\`\`\`\n${"> add an endpoint\n".repeat(5)}`;
    expect(parseAsk(pasted)?.kind).toBe("changelog");
  });

  test("keeps apart what changes each time", () => {
    expect(parseAsk("write release notes for v2.3")?.particulars).toEqual(["v2.3"]);
    expect(parseAsk("seed the demo database for Acme from data/acme.csv")?.particulars).toEqual([
      "acme",
      "data/acme.csv",
    ]);
  });
});

const queries = join(process.env.KNACK_EVAL_DIR ?? "", "retrieval-bench/queries.dev.jsonl");

describe.skipIf(!process.env.KNACK_EVAL_DIR || !existsSync(queries))("strangers' prompts", () => {
  test("are hardly ever taken for one where they need different skills", () => {
    const asks = jsonLines<{ query: string; gold_ids: string[]; weak: boolean }>(
      readFileSync(queries, "utf8"),
    )
      .filter(({ gold_ids, weak }) => gold_ids.length > 0 && !weak)
      .flatMap(({ query, gold_ids }) => {
        const ask = parseAsk(query);
        return ask ? [{ ask, skills: new Set(gold_ids) }] : [];
      });
    const count = { same: 0, other: 0, others: 0 };
    for (const [n, a] of asks.entries())
      for (const b of asks.slice(n + 1)) {
        const one = [...a.skills].some((skill) => b.skills.has(skill));
        const taken = compareAsks(a.ask, b.ask) >= 0.45;
        if (!one) count.others++;
        if (taken) count[one ? "same" : "other"]++;
      }
    expect(asks.length).toBeGreaterThan(200);
    expect(count.other / count.others).toBeLessThan(0.001);
    expect(count.same / (count.same + count.other)).toBeGreaterThan(0.75);
  });
});
