import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { createRootFinder } from "../../src/agents/item-roots.ts";
import { openStock } from "../../src/library/catalog/stock.ts";
import { put, skillText } from "../helpers/library.ts";
import { desk } from "../helpers/publishing.ts";

/** A stock with one skill, and the file in which it keeps what it read. */
async function stocked() {
  const { store, clock, home } = await desk();
  put(home, { ".claude/skills/a/SKILL.md": skillText("a") });
  const cache = join(home, "cache");
  mkdirSync(cache);
  const stock = openStock({
    ...{ home: { snapshot: join(home, "snapshot"), cache }, dryRun: false, store, clock },
    roots: createRootFinder({ home, env: {} }),
    claim: async () => true,
    giveBack: async () => {},
    projectAt: async () => ({ id: "/p", name: "p", root: null }),
  });
  const path = join(cache, "library.json");
  const read = () => JSON.parse(readFileSync(path, "utf8"));
  return { stock, path, read, skill: join(home, ".claude/skills/a/SKILL.md") };
}

describe("what was read of the library's files", () => {
  test("is kept, and an unchanged file is not read again", async () => {
    const { stock, path, read, skill } = await stocked();
    await stock.restock(undefined);
    const [file] = read();
    expect(file).toMatchObject({ path: skill, item: { name: "a" } });
    writeFileSync(path, JSON.stringify([{ ...file, item: { ...file.item, body: "as it was known" } }]));
    expect((await stock.catalog("/")).items.map(({ body }) => body)).toEqual(["as it was known"]);
  });

  const file = { path: "/a/SKILL.md", real: "/a/SKILL.md", stamp: "1", rank: 0, item: null, problems: [] };
  it.each(["", "null", "{}", "[null]", '[{"path":1}]', JSON.stringify([{ ...file, item: 1 }])])(
    "is read again where it was damaged or is another release's: %s",
    async (text) => {
      const { stock, path, read, skill } = await stocked();
      writeFileSync(path, text);
      await stock.restock(undefined);
      expect(read()).toMatchObject([{ path: skill }]);
      expect(stock.has({ kind: "skill", name: "a" })).toBe(true);
    },
  );

  test("is saved in the place of a folder", async () => {
    const { stock, path, read, skill } = await stocked();
    rmSync(path, { force: true });
    mkdirSync(join(path, "within"), { recursive: true });
    await stock.restock(undefined);
    expect(read()).toMatchObject([{ path: skill }]);
  });
});
