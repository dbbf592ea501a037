import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { parseRules, ruleLine, setRule } from "../../src/library/rule.ts";
import { runs } from "../helpers/runs.ts";

const pnpm = { id: "use-pnpm", line: "Use pnpm, not npm." };
const ports = { id: "ports", line: "The server listens on 3000." };

function set(text: string, id: string, line: string | null): string {
  const change = setRule(text, id, line);
  if ("because" in change) throw new Error(change.because);
  return change.text;
}

function added(text: string, ...rules: { readonly id: string; readonly line: string }[]): string {
  return rules.reduce((before, { id, line }) => set(before, id, line), text);
}

function removed(text: string, ...ids: string[]): string {
  return ids.reduce((before, id) => set(before, id, null), text);
}

describe("a rule", () => {
  test("stands in a block of Knack's after what a person wrote", () => {
    expect(added("# Shop\n\nBe kind.\n", pnpm)).toBe(
      "# Shop\n\nBe kind.\n\n<!-- knack:begin - lines that Knack learned; change or delete any of them -->\n- Use pnpm, not npm. <!-- knack:rule use-pnpm -->\n<!-- knack:end -->\n",
    );
  });

  it.each([
    ["an empty file", ""],
    ["a line end", "\n"],
    ["text", "# Shop\n"],
    ["no line end at the end", "# Shop"],
    ["blank lines at the end", "# Shop\n\n\n"],
    ["Windows line ends", "# Shop\r\n\r\nBe kind.\r\n"],
    ["Windows line ends and none at the end", "# Shop\r\nBe kind."],
    ["both kinds", "# Shop\r\nBe kind.\n"],
    ["a lone carriage return at the end", "# Shop\r"],
    ["a byte order mark", "\ufeff# Shop\n"],
    ["another tool's block", "<!-- other:begin -->\n- x\n<!-- other:end -->\n"],
    ["a word about the marks", "Knack writes `<!-- knack:begin -->` into files.\n"],
  ])("added and removed leaves as it was: %s", (_, text) => {
    expect(removed(added(text, pnpm), pnpm.id)).toBe(text);
    expect(removed(added(text, pnpm, ports), pnpm.id, ports.id)).toBe(text);
    expect(removed(added(text, pnpm, ports), ports.id, pnpm.id)).toBe(text);
    expect(removed(added(text, pnpm, ports), ports.id)).toBe(added(text, pnpm));
  });

  const pieces = fc.array(
    fc.oneof(
      fc.constantFrom(
        "\n",
        "\r\n",
        "\r",
        "# Shop",
        "- item",
        " ",
        "\n\n",
        "<!-- knack:begin -->",
        "<!-- knack:end -->",
        "- x <!-- knack:rule y -->",
      ),
      fc.string({ unit: "binary", maxLength: 8 }),
    ),
    { maxLength: 20 },
  );
  test("added and removed leaves any text as it was, or is refused with a reason", () => {
    fc.assert(
      fc.property(pieces, (parts) => {
        const text = parts.join("");
        const before = parseRules(text);
        const change = setRule(text, pnpm.id, pnpm.line);
        if ("because" in change) expect(`${before.damage}; mend it by hand`).toBe(change.because);
        else {
          expect(parseRules(change.text).rules).toEqual([...before.rules.filter(() => hasBlock(text)), pnpm]);
          // A block that a person emptied goes with the rule that was put into it.
          if (!hasBlock(text) || before.rules.length > 0) expect(removed(change.text, pnpm.id)).toBe(text);
        }
      }),
      { numRuns: runs(3_000) },
    );
  });
  const hasBlock = (text: string) => /^\s*<!-- knack:begin\b.*-->\s*$/m.test(text);

  test("survives edits above and below its block, and they survive it", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (above, below) => {
        const text = `${above}\n${added("# Shop\n", pnpm, ports)}${below}`;
        expect(parseRules(text).rules).toEqual([pnpm, ports]);
        const left = removed(text, pnpm.id, ports.id);
        expect(left).toBe(`${above}\n# Shop\n${below}`);
      }),
    );
  });

  test("is found again when a person changed its words, its bullet or its indent", () => {
    const edited = added("# Shop\n", pnpm).replace("- Use pnpm, not npm.", "  * Always pnpm!");
    expect(parseRules(edited).rules).toEqual([{ id: "use-pnpm", line: "Always pnpm!" }]);
    expect(removed(edited, "use-pnpm")).toBe("# Shop\n");
  });

  test("leaves the block when a person wrote something into it", () => {
    const edited = added("# Shop\n", pnpm).replace("<!-- knack:end", "- Mine.\n<!-- knack:end");
    expect(removed(edited, "use-pnpm")).toContain("-->\n- Mine.\n<!-- knack:end -->");
  });

  test("takes only its own blank line with it", () => {
    const moved = added("# Shop\n", pnpm).replace("# Shop\n\n", "# Shop\n").concat("More.\n");
    expect(removed(moved, "use-pnpm")).toBe("# Shop\nMore.\n");
  });

  it.each([
    ["a block that does not end", "<!-- knack:begin -->\n- x\n", "is not closed"],
    ["a block that does not begin", "x\n<!-- knack:end -->\n", "an end without a beginning"],
    [
      "a block in a block",
      "<!-- knack:begin -->\n<!-- knack:begin -->\n<!-- knack:end -->\n",
      "is not closed",
    ],
    ["two blocks", "<!-- knack:begin -->\n<!-- knack:end -->\n".repeat(2), "several Knack blocks"],
  ])("is neither added to nor removed from %s", (_, text, because) => {
    for (const line of [pnpm.line, null])
      expect(setRule(text, pnpm.id, line)).toEqual({ because: expect.stringContaining(because) });
    expect(parseRules(text).damage).toContain(because);
  });

  test("is refused with a bad id or without words", () => {
    expect(setRule("", "a --> b", pnpm.line)).toEqual({ because: "the rule has no proper name" });
    expect(setRule("", pnpm.id, " <!-- --> \n")).toEqual({ because: "the rule is empty" });
  });

  test("said in other words stays where it is, with its bullet; one that is not there is not missed", () => {
    const edited = added("# Shop\n", pnpm, ports).replace("- Use pnpm", "  * Use pnpm");
    const line = "# Use $& bun.";
    expect(set(edited, pnpm.id, line)).toBe(edited.replace("Use pnpm, not npm.", () => line));
    expect(removed("# Shop\n", pnpm.id)).toBe("# Shop\n");
    expect(removed(added("", pnpm), ports.id)).toBe(added("", pnpm));
  });
});

describe("a rule's line", () => {
  it.each([
    ["- Use pnpm.", "Use pnpm."],
    ["Use\n  pnpm.\r\n", "Use pnpm."],
    ["# Use pnpm.", "Use pnpm."],
    ["--flag is needed", "--flag is needed"],
    ["Use pnpm. <!-- knack:end -->", "Use pnpm. knack:end"],
    ["a <<!--!-- b", "a b"],
    ["a --->-> b", "a b"],
    ["Use\u200b pnpm\u202e.", "Use pnpm."],
  ])("%j is %j", (line, clean) => expect(ruleLine(line)).toBe(clean));

  test("is one line of at most 300 characters without marks, whatever it was", () => {
    const hostile = fc.array(
      fc.constantFrom("<", "!", "-", ">", "<!--", "-->", "\n", " ", "word", "- ", "knack:end"),
      { maxLength: 400 },
    );
    fc.assert(
      fc.property(hostile, (parts) => {
        const line = ruleLine(parts.join(""));
        expect(line).not.toMatch(/[\r\n]|<!--|-->/);
        expect(line.length).toBeLessThanOrEqual(300);
        if (line !== "") expect(parseRules(added("", { id: "x", line })).rules).toEqual([{ id: "x", line }]);
      }),
    );
  });
});
