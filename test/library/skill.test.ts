import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { isSkillName, parseSkill, renderSkill, skillOwner, validateSkill } from "../../src/library/skill.ts";
import type { ProblemCode, Skill } from "../../src/records/change.ts";

const good: Skill = {
  name: "npm-peers",
  description: "Use when npm install fails.",
  metadata: {},
  body: "## Steps\n\n1. Do it.",
};

describe("a skill's name", () => {
  it.each([
    ["a", true],
    ["npm-peers-2", true],
    ["a".repeat(64), true],
    ["a".repeat(65), false],
    ["", false],
    ["-a", false],
    ["a-", false],
    ["a--b", false],
    ["A", false],
    ["a_b", false],
    ["a/b", false],
    ["..", false],
    ["a.b", false],
    ["a\n", false],
    ["é", false],
  ])("%j: %s", (name, fine) => expect(isSkillName(name)).toBe(fine));
});

describe("the rules of the format", () => {
  const withFront = (front: string, body = "Do it.") => `---\n${front}\n---\n\n${body}\n`;
  it.each<[string, string, ProblemCode[]]>([
    ["nothing wrong", withFront("name: x\ndescription: Use when y."), []],
    [
      "every key",
      withFront(
        'name: x\ndescription: y\nlicense: MIT\ncompatibility: Node\nallowed-tools: Read Bash(git:*)\nmetadata:\n  version: "1.0"',
      ),
      [],
    ],
    [
      "a value that YAML reads as a number is a text",
      withFront("name: x\ndescription: 5\nmetadata:\n  version: 1.0"),
      [],
    ],
    ["no front matter", "# Title\n", ["front-matter-missing"]],
    ["an empty file", "", ["front-matter-missing"]],
    ["front matter that never ends", "---\nname: x\ndescription: y\n", ["front-matter-unclosed"]],
    ["an unquoted colon", withFront("name: x\ndescription: Procedure: docker"), ["front-matter-broken"]],
    ["a key twice", withFront("name: x\nname: y\ndescription: z"), ["front-matter-broken"]],
    ["a list instead of keys", withFront("- name"), ["front-matter-broken"]],
    ["nothing between the lines", withFront(""), ["front-matter-broken"]],
    ["a tag", withFront("name: !!js/function x\ndescription: y"), ["front-matter-broken"]],
    [
      "an alias",
      withFront("name: &n x\ndescription: *n"),
      ["value-wrong", "value-wrong", "name-missing", "description-missing"],
    ],
    [
      "a bomb of aliases",
      withFront(bomb()),
      ["key-unknown", "key-unknown", "key-unknown", "name-missing", "description-missing"],
    ],
    [
      "front matter of absurd length",
      withFront(`name: x\ndescription: ${"y ".repeat(20_000)}`),
      ["front-matter-too-long"],
    ],
    ["nesting of absurd depth", withFront(`name: ${"[".repeat(15_000)}`), ["front-matter-broken"]],
    ["an unknown key", withFront("name: x\ndescription: y\nversion: 1"), ["key-unknown"]],
    ["metadata that is a text", withFront("name: x\ndescription: y\nmetadata: z"), ["value-wrong"]],
    [
      "metadata in metadata",
      withFront("name: x\ndescription: y\nmetadata:\n  a:\n    b: c"),
      ["value-wrong"],
    ],
    [
      "a list of tools, which one agent allows",
      withFront("name: x\ndescription: y\nallowed-tools: [Read, Grep]"),
      ["value-wrong"],
    ],
    ["no name", withFront("description: y"), ["name-missing"]],
    ["capitals in the name", withFront("name: X\ndescription: y"), ["name-wrong"]],
    ["another name than the folder's", withFront("name: z\ndescription: y"), ["name-not-folder"]],
    ["no description", withFront("name: x\ndescription:"), ["description-missing"]],
    ["a long description", withFront(`name: x\ndescription: ${"y".repeat(1025)}`), ["description-too-long"]],
    ["a tag in the description", withFront("name: x\ndescription: Use <b>now</b>"), ["description-has-tags"]],
    [
      "long compatibility",
      withFront(`name: x\ndescription: y\ncompatibility: ${"y".repeat(501)}`),
      ["compatibility-too-long"],
    ],
    ["no body", withFront("name: x\ndescription: y", " \n"), ["body-empty"]],
    ["a long body", withFront("name: x\ndescription: y", "z\n".repeat(501)), ["body-long"]],
  ])("%s", (_, text, codes) => expect(validateSkill(text, "x").map(({ code }) => code)).toEqual(codes));

  test("only a long body and a list of tools are warnings", () => {
    const text = withFront("name: x\ndescription: y\nallowed-tools: [Read]", "z\n".repeat(501));
    expect(validateSkill(text, "x").map(({ severity }) => severity)).toEqual(["warning", "warning"]);
    expect(parseSkill(text).skill?.allowedTools).toBe("Read");
  });

  test("hold for texts with a byte order mark and Windows line ends", () => {
    const text = `\ufeff${withFront("name: x\ndescription: y").replaceAll("\n", "\r\n")}`;
    expect(validateSkill(text, "x")).toEqual([]);
    expect(parseSkill(text).skill?.body).toBe("Do it.");
  });

  test("never throw, whatever the text", () => {
    const yaml = fc.array(
      fc.constantFrom(
        "---",
        "name: x",
        "a: &a",
        "*a",
        "- ",
        "  ",
        ": ",
        "? ",
        "|",
        '"',
        "'",
        "\t",
        "#",
        "{",
        "[",
        "\n",
      ),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(yaml, fc.string({ unit: "binary" }), (parts, rest) => {
        validateSkill(`---\n${parts.join("")}\n---\n${rest}`, "x");
        validateSkill(rest);
      }),
    );
  });
});

function bomb(): string {
  const row = (name: string, of: string) => `${name}: &${name} [${Array(9).fill(of).join(", ")}]`;
  return [row("a", "lol"), row("b", "*a"), row("c", "*b")].join("\n");
}

describe("a rendered skill", () => {
  it.each([
    "a: b",
    'she said "no"',
    "it's",
    "---",
    "first\n---\nsecond",
    "!tag",
    "@at",
    "&anchor",
    "*alias",
    "# comment",
    "a #b",
    "%YAML",
    "`code`",
    "null",
    "true",
    "007",
    "1e3",
    "",
    " padded ",
    "tab\there",
    "日本語 🏴‍☠️",
    "\u0000\u007f\u0085\u2028\ufeff",
    "\ud800 alone",
    "back\\slash \\n",
    "[a, b]",
    "{a: b}",
    "| block",
    "> fold",
    "- item",
    "? key",
  ])("keeps %j", (value) => {
    const skill = {
      ...good,
      description: value,
      license: value,
      metadata: { origin: value, [value || "k"]: value },
    };
    expect(parseSkill(renderSkill(skill))).toEqual({ skill, problems: [] });
  });

  test("reads back as it was, whatever its values", () => {
    const text = fc.string({ unit: "binary", maxLength: 60 });
    fc.assert(
      fc.property(
        text,
        text,
        fc.dictionary(text, text, { maxKeys: 4 }),
        (description, compatibility, metadata) => {
          const skill: Skill = { ...good, description, compatibility, metadata: { ...metadata } };
          expect(parseSkill(renderSkill(skill))).toEqual({ skill, problems: [] });
        },
      ),
    );
  });

  test("keeps a body that looks like front matter", () => {
    const skill = { ...good, body: "---\nname: other\n---\n\ntext" };
    expect(parseSkill(renderSkill(skill)).skill).toEqual(skill);
  });
});

describe("the owner of a skill", () => {
  const by = (origin: string) => ({ ...good, metadata: { origin } });
  it.each([
    ["/r/.claude/skills/x", good, "hand-written"],
    ["/r/.claude/skills/x", null, "hand-written"],
    ["/r/.claude/skills/x", by("knack"), "learned"],
    ["/r/.claude/skills/x", by("import"), "imported"],
    ["/r/.claude/skills/x", by("somebody"), "hand-written"],
    ["/h/.codex/skills/.system/x", good, "core"],
    ["/h/.claude/plugins/cache/p/skills/x", by("knack"), "core"],
    ["C:\\Users\\a\\.claude\\plugins\\cache\\p\\x", good, "core"],
  ] as const)("at %s", (path, skill, owner) => expect(skillOwner(path, skill)).toBe(owner));
});
