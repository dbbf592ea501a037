import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { openItemCache } from "../../src/library/catalog/stock.ts";
import { tempFolder } from "../helpers/temp.ts";

const file = { path: "/a/SKILL.md", real: "/a/SKILL.md", stamp: "1", rank: 0, item: null, problems: [] };

describe("what was read of the library's files", () => {
  test("is there as it was saved", () => {
    const cache = openItemCache(join(tempFolder(), "library.json"));
    cache.save([file]);
    expect(cache.load()).toEqual([file]);
  });

  it.each(["", "null", "{}", "[null]", '[{"path":1}]', JSON.stringify([{ ...file, item: 1 }])])(
    "is nothing where it was damaged or is another release's: %s",
    (text) => {
      const path = join(tempFolder(), "library.json");
      writeFileSync(path, text);
      expect(openItemCache(path).load()).toEqual([]);
    },
  );

  test("is saved in the place of a folder", () => {
    const path = join(tempFolder(), "library.json");
    mkdirSync(join(path, "within"), { recursive: true });
    const cache = openItemCache(path);
    expect(cache.load()).toEqual([]);
    cache.save([file]);
    expect(cache.load()).toEqual([file]);
  });
});
