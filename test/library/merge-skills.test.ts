import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { mergeSkills, renderLessonSkill } from "../../src/library/publish/render.ts";
import { parseSkill, renderSkill } from "../../src/library/skill.ts";
import type { Skill } from "../../src/records/change.ts";
import { noExcerpt } from "../../src/records/lesson.ts";

/** Lines of a skill, without its layout, that another does not have. */
function missingLines(merged: Skill, originals: readonly Skill[]): string[] {
  const plain = (line: string) =>
    line
      .replace(/^\s*(?:(?:\d{1,3}\.|[-*+>]) )*|\s+/g, " ")
      .trim()
      .toLowerCase();
  const list = ({ description, body }: Skill) =>
    [description, ...body.split("\n")].filter((line) => !/^#/.test(line)).map(plain);
  const there = list(merged).join(" ");
  return originals.flatMap(list).filter((line) => !there.includes(line));
}

const learned = (more: Partial<Parameters<typeof renderLessonSkill>[0]> = {}): Skill =>
  parseSkill(
    renderLessonSkill({
      name: "rl-npm-install-eresolve",
      lesson: "npm install fails with ERESOLVE; the flag helps.",
      trigger: "npm install fails with ERESOLVE",
      kind: "error-recovery",
      excerpt: { ...noExcerpt, error: "npm ERR! code ERESOLVE", worked: "npm install --legacy-peer-deps" },
      steps: ["Add `--legacy-peer-deps`", "Run it again"],
      ...more,
    }),
  ).skill as Skill;

const other = learned({
  name: "rl-npm-ci-eresolve",
  lesson: "npm ci fails with ERESOLVE in the web folder; delete the lock file first.",
  trigger: "npm ci fails with ERESOLVE in web",
  steps: ["Delete `web/package-lock.json`", "Run `npm install --legacy-peer-deps` in `web`"],
  excerpt: { ...noExcerpt, error: "npm ERR! ERESOLVE in web" },
});

describe("one skill of two", () => {
  const merged = mergeSkills(learned(), other);
  const skill = merged.merged ? merged.skill : learned();

  test("says what both said, under the first one's name, and reads back as itself", () => {
    expect(merged.merged).toBe(true);
    expect(skill.name).toBe("rl-npm-install-eresolve");
    expect(missingLines(skill, [learned(), other])).toEqual([]);
    expect(skill.body).toContain(other.description);
    expect(parseSkill(renderSkill(skill)).skill).toEqual(skill);
  });

  test("numbers the steps through, and says of each error what it is", () => {
    const numbers = [...skill.body.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
    expect(numbers).toEqual([1, 2, 3, 4]);
    expect(skill.body).toContain("Where that does not help, this was learned for the same:");
    expect(skill.body).toContain("It fails with:\n\n```text\nnpm ERR! ERESOLVE in web\n```");
    expect([...skill.body.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual(["Steps"]);
  });

  test("is the first when the second says nothing else", () => {
    const same = mergeSkills(learned(), { ...learned(), name: "rl-twin" });
    expect(same).toEqual({ merged: true, skill: expect.objectContaining({ name: learned().name }) });
    const body = same.merged ? same.skill.body : "";
    expect(body.replace(`\n\n${learned().description}`, "")).toBe(learned().body);
  });

  it.each<[string, Skill, Skill, string]>([
    [
      "that ask for opposite things",
      { ...learned(), body: "Use pnpm, never npm." },
      { ...learned(), body: "Use npm, never pnpm." },
      "opposite",
    ],
    [
      "that are too long together",
      { ...learned(), body: `${"A sentence of its own. ".repeat(120)}` },
      { ...other, body: `${"Quite another sentence. ".repeat(120)}` },
      "characters",
    ],
    [
      "that are about different programs",
      { ...learned(), body: "```sh\ndocker build .\n```" },
      { ...other, body: "1. Run:\n\n   ```sh\n   cd web && podman build .\n   ```" },
      "programs",
    ],
    ["that need other tools", { ...learned(), allowedTools: "Bash" }, other, "allowedTools"],
  ])("is not made of two %s", (_, a, b, because) => {
    expect(mergeSkills(a, b)).toEqual({ merged: false, because: expect.stringContaining(because) });
  });

  test("keeps code with blank lines and fences in it whole", () => {
    const coded = {
      ...other,
      body: "## Steps\n\n1. Run this:\n\n   ```sh\n   npm exec <<'X'\n\n   ## not a heading\n   X\n   ```\n2. Look.\n",
    };
    const both = mergeSkills(learned(), coded);
    expect(both.merged && both.skill.body).toContain(
      "   ```sh\n   npm exec <<'X'\n\n   ## not a heading\n   X\n   ```",
    );
    expect(both.merged && missingLines(both.skill, [learned(), coded])).toEqual([]);
  });

  test("never loses a line, whatever is in it", () => {
    const line = fc.oneof(
      fc.constantFrom(
        "",
        "## Steps",
        "## Notes",
        "```sh",
        "```",
        "- item one",
        "1. do this",
        "2. then that",
        "> said",
        "   more",
      ),
      fc.stringMatching(/^[a-z`. ]{1,30}$/),
    );
    const body = fc.array(line, { maxLength: 25 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(body, body, (a, b) => {
        const both = mergeSkills({ ...learned(), body: a }, { ...other, body: b });
        if (!both.merged) return;
        expect(
          missingLines(both.skill, [
            { ...learned(), body: a },
            { ...other, body: b },
          ]),
        ).toEqual([]);
      }),
    );
  });
});
