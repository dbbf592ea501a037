import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { tokenize } from "../../src/text/tokens.ts";

describe("the terms of a text", () => {
  it.each<[string, string, string[]]>([
    ["words in lower case", "Migrate MySQL", ["migrate", "mysql"]],
    ["without small change", "please add the tests to it", ["add", "test"]],
    ["one and many alike", "queries tests classes status", ["query", "test", "classe", "status"]],
    ["parts of a compound and the whole", "cold-email", ["cold", "email", "coldemail"]],
    ["a name with a dot as people write it", "Next.js", ["next", "js", "nextjs"]],
    ["snake case", "order_total", ["order", "total", "ordertotal"]],
    ["no whole of a path", "a.b.c.d.tar", ["b", "c", "d", "tar"]],
    ["languages with signs", "C++ and C# code", ["c++", "c#", "code"]],
    ["no apostrophes", "the user's app doesn’t start", ["user", "app", "start"]],
    ["no accents", "sesión Übung", ["sesion", "ubung"]],
    ["full-width letters", "ＡＰＩ", ["api"]],
    ["pairs of Chinese characters", "数据库", ["数据", "据库"]],
    ["traditional characters as simplified ones", "數據庫", ["数据", "据库"]],
    ["a character on its own", "慢", ["慢"]],
    ["no grammar of Hiragana", "テストして", ["テス", "スト", "トし"]],
    ["pairs of Hangul", "번역해", ["번역", "역해"]],
    ["scripts beside each other", "用React写页面", ["用", "react", "写页", "页面"]],
    ["numbers that say something", "error 404 in 5 of 123456", ["error", "404"]],
    ["no keys", `token ${"a1".repeat(40)}`, ["token"]],
    ["nothing", " …—!? ", []],
  ])("are %s", (_, text, terms) => expect(tokenize(text)).toEqual(terms));

  test("are the same however a text is put together", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (a, b) => {
        expect(tokenize(`${a}\n${b}`)).toEqual([...tokenize(a), ...tokenize(b)]);
      }),
    );
  });

  test("are found again when they are looked for", () => {
    const text = "Deploy the web-app to 生产环境 with docker-compose";
    const again = new Set(tokenize(tokenize(text).join(" ")));
    for (const term of tokenize(text)) expect(again).toContain(term);
  });

  test("are no more than the characters of a long run", () => {
    for (const run of [
      "a-".repeat(100_000),
      "a.b".repeat(100_000),
      "字".repeat(100_000),
      "'".repeat(100_000),
    ])
      expect(tokenize(run).length).toBeLessThanOrEqual(run.length);
  });
});
