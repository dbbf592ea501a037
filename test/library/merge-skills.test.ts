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
    [description, ...body.split("\n")].filter((line) => !/^#|^Seen /.test(line)).map(plain);
  const there = list(merged).join(" ");
  return originals.flatMap(list).filter((line) => !there.includes(line));
}

const learned = (more: Partial<Parameters<typeof renderLessonSkill>[0]> = {}): Skill =>
  parseSkill(
    renderLessonSkill({
      name: "rl-npm-install-eresolve",
      lesson: "npm install fails with ERESOLVE; the flag helps.",
      trigger: "npm install fails with ERESOLVE",
      action: "add --legacy-peer-deps",
      kind: "error-recovery",
      keywords: ["npm", "ERESOLVE"],
      evidence: [
        {
          ...noExcerpt,
          failed: "npm install",
          error: "npm ERR! code ERESOLVE",
          worked: "npm install --legacy-peer-deps",
          session: "one",
          date: "2026-01-02",
          refs: ["e3", "e5"],
        },
      ],
      steps: [],
      ...more,
    }),
  ).skill as Skill;

const other = learned({
  name: "rl-npm-ci-eresolve",
  lesson: "npm ci fails with ERESOLVE in the web folder; delete the lock file first.",
  trigger: "npm ci fails with ERESOLVE in web",
  action: "delete the lock file, then add --legacy-peer-deps",
  keywords: ["npm", "ci"],
  steps: ["Delete `web/package-lock.json`."],
  evidence: [
    {
      ...noExcerpt,
      failed: "npm ci",
      error: "npm ERR! ERESOLVE in web",
      worked: "rm web/package-lock.json && npm install --legacy-peer-deps",
      session: "two",
      date: "2026-02-03",
      refs: ["e9"],
    },
  ],
});

describe("one skill of two", () => {
  const merged = mergeSkills(learned(), other);
  const skill = merged.merged ? merged.skill : learned();

  test("says what both said, under the first one's name, and reads back as itself", () => {
    expect(merged.merged).toBe(true);
    expect(skill.name).toBe("rl-npm-install-eresolve");
    expect(missingLines(skill, [learned(), other])).toEqual([]);
    expect(skill.body).toContain("rm web/package-lock.json && npm install --legacy-peer-deps");
    expect(skill.body).toContain("session one, e3 e5:");
    expect(skill.body).toContain("session two, e9:");
    expect(skill.body).toContain(other.description);
    expect(parseSkill(renderSkill(skill)).skill).toEqual(skill);
  });

  test("counts the evidence of both, the newest first, and numbers the steps through", () => {
    expect(skill.metadata.evidence).toBe("2");
    expect(skill.metadata["trigger-topic"]).toBe("npm, ERESOLVE, ci");
    expect(skill.body).toContain("Seen 2 times:\n\n- 2026-02-03, session two");
    const numbers = [...skill.body.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
    expect(numbers).toEqual(numbers.map((_, at) => at + 1));
    expect(skill.body).toContain("Where that does not help, this was learned for the same:");
    expect([...skill.body.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual([
      "When to use",
      "Not for",
      "Steps",
      "Check",
      "Evidence",
    ]);
  });

  test("says of every call what it is", () => {
    expect(skill.body).toContain("The call that fails:\n\n```sh\nnpm ci\n```");
    expect(skill.body).toContain("What it says:\n\n```text\nnpm ERR! ERESOLVE in web\n```");
  });

  test("is the first when the second says nothing else", () => {
    const same = mergeSkills(learned(), { ...learned(), name: "rl-twin" });
    expect(same).toEqual({ merged: true, skill: expect.objectContaining({ name: learned().name }) });
    const body = same.merged ? same.skill.body : "";
    expect(body.replace(`${learned().description}\n\n`, "")).toBe(learned().body);
  });

  it.each<[string, Skill, Skill, string]>([
    [
      "that ask for opposite things",
      { ...learned(), metadata: { "trigger-action": "use pnpm, never npm" } },
      { ...learned(), metadata: { "trigger-action": "use npm, never pnpm" } },
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
