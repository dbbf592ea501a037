import fc from "fast-check";
import { parse } from "jsonc-parser";
import { describe, expect, it, test } from "vitest";
import { JsonText, type KeyPath } from "../../src/text/edits.ts";
import { anyDocument, gapsWithComments, isPlain, printedWith } from "../agents/documents.ts";

function set(text: string, path: KeyPath, value: unknown): string {
  const setting = new JsonText(text).set(path, value);
  if (!setting.ok) throw new Error(setting.because);
  return setting.text;
}

describe("a key that is set", () => {
  it.each<[string, string, string]>([
    ["in nothing", "", '{\n  "a": {\n    "b": 1\n  }\n}\n'],
    ["in white space", " \n", '{\n  "a": {\n    "b": 1\n  }\n}\n'],
    ["after a byte order mark", "\ufeff{}", '\ufeff{\n  "a": {\n    "b": 1\n  }\n}'],
    ["in an empty object", "{}", '{\n  "a": {\n    "b": 1\n  }\n}'],
    ["in an empty object of two lines", "{\r\n}\r\n", '{\r\n  "a": {\r\n    "b": 1\r\n  }\r\n}\r\n'],
    ["with tabs", '{\n\t"x": 1\n}', '{\n\t"a": {\n\t\t"b": 1\n\t},\n\t"x": 1\n}'],
    [
      "with the line ends of Windows",
      '{\r\n  "x": 1\r\n}',
      '{\r\n  "a": {\r\n    "b": 1\r\n  },\r\n  "x": 1\r\n}',
    ],
    ["on one line", '{"x":1}', '{"a":{"b":1},"x":1}'],
    ["on one line with spaces", '{ "x": 1 }', '{ "a": {"b":1}, "x": 1 }'],
    ["beside others", '{\n  "a": {\n    "x": 1\n  }\n}', '{\n  "a": {\n    "b": 1,\n    "x": 1\n  }\n}'],
    ["in an object that is empty", '{\n  "a": {}\n}', '{\n  "a": {\n    "b": 1\n  }\n}'],
    ["in an empty object on one line", '{"a":{}}', '{"a":{"b":1}}'],
    ["over another value", '{"a": {"b": [1, 2]}, "x": 1}', '{"a": {"b": 1}, "x": 1}'],
    [
      "before a comment",
      '{\n  // why\n  "x": 1, // how\n}',
      '{\n  "a": {\n    "b": 1\n  },\n  // why\n  "x": 1, // how\n}',
    ],
    ["where it stands twice", '{"a": 1, "a": {}}', '{"a": 1, "a": {"b": 1}}'],
  ])("%s", (_, before, after) => expect(set(before, ["a", "b"], 1)).toBe(after));

  it("stays as it is where it is there", () => {
    const text = '{ "a": { "b": { "y": 2, "x": 1 } } }';
    expect(new JsonText(text).set(["a", "b"], { x: 1, y: 2 })).toEqual({ ok: true, text, edit: null });
  });

  it("is refused where something else is in its way", () => {
    for (const other of ["1", "null", "[]", '"text"'])
      expect(new JsonText(`{"a": ${other}}`).set(["a", "b"], 1)).toEqual({
        ok: false,
        because: "a is no JSON object",
      });
  });
});

describe("a text", () => {
  it.each<[string, string | null]>([
    ["", null],
    ["{ /* empty */ }", null],
    ['{"a": 1,}', null],
    ['{"a": 1', "it is no JSON (CloseBraceExpected on line 1)"],
    ['{\n"a" 1}', "it is no JSON (ColonExpected on line 2)"],
    ['{"a": 1} more', "it is no JSON (InvalidSymbol on line 1)"],
    ["[]", "it is no JSON object"],
    ["null", "it is no JSON object"],
  ])("%j may be edited, or not: %s", (text, why) => expect(new JsonText(text).problem).toBe(why));
});

describe("a key that is taken out", () => {
  it.each<[string, string, string]>([
    ["the only one", '{"a": 1}', "{}"],
    ["the first", '{\n  "a": 1,\n  "x": 2\n}', '{\n  "x": 2\n}'],
    ["the last", '{\n  "x": 2,\n  "a": 1\n}', '{\n  "x": 2\n}'],
    ["one in the middle", '{"x": 1, "a": 2, "y": 3}', '{"x": 1, "y": 3}'],
    ["the last before a trailing comma", '{"x": 1, "a": 2,}', '{"x": 1,}'],
    ["one after a comment", '{ // note\n"a": 1, "x": 2}', '{ // note\n "x": 2}'],
    ["one before a comment", '{\n  "a": 1, // note\n  "x": 2\n}', '{\n   // note\n  "x": 2\n}'],
    ["one that is missing", '{"x": 1}', '{"x": 1}'],
  ])("%s", (_, before, after) => expect(new JsonText(before).remove(["a"])).toBe(after));
});

describe("any text", () => {
  test("keeps what it says, whatever is set and taken out, and comes back byte for byte", () => {
    const key = fc.constantFrom("a", "b", "knack@knack", "__proto__", "ä ");
    fc.assert(
      fc.property(
        anyDocument,
        gapsWithComments,
        fc.array(key, { minLength: 1, maxLength: 3 }),
        fc.jsonValue().filter(isPlain),
        (document, gaps, path, value) => {
          const text = printedWith(document, gaps);
          const setting = new JsonText(text).set(path as unknown as KeyPath, value);
          fc.pre(setting.ok);
          expect(new JsonText(setting.text).problem).toBeNull();
          expect(new JsonText(setting.text).read(path as unknown as KeyPath)).toEqual(
            JSON.parse(JSON.stringify(value)),
          );
          const { offset, removed, inserted } = setting.edit ?? { offset: 0, removed: "", inserted: "" };
          expect(setting.text.slice(offset).startsWith(inserted)).toBe(true);
          const back = setting.text.slice(0, offset) + removed + setting.text.slice(offset + inserted.length);
          expect(back).toBe(text);
          const without = new JsonText(setting.text).remove(path as unknown as KeyPath);
          expect(new JsonText(without).problem).toBeNull();
          expect(new JsonText(without).read(path as unknown as KeyPath)).toBeUndefined();
          if (setting.edit?.removed === "" && path.length === 1)
            expect(parse(without.replace(/^\ufeff/, ""))).toEqual(parse(text.replace(/^\ufeff/, "")));
        },
      ),
    );
  });
});
