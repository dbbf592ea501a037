import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bash, live, says } from "./living.ts";
import type { Script, Turn } from "./model-server.ts";

const steps = "git log --merges --oneline";

/** A project with files to look at. */
async function harbor(project: string): Promise<void> {
  mkdirSync(join(project, "tides"), { recursive: true });
  mkdirSync(join(project, ".git"));
  writeFileSync(join(project, ".git", "HEAD"), "ref: refs/heads/main\n");
  for (const month of ["may", "june", "july"])
    writeFileSync(join(project, "tides", `${month}.csv`), "day,high,low\n1,4.1,0.6\n");
  mkdirSync(join(project, "scripts"));
  for (const name of ["tides", "chart"])
    writeFileSync(join(project, "scripts", `${name}.mjs`), 'console.log("done");\n');
}

function skill(folder: string, name: string, description: string, body: string): void {
  mkdirSync(join(folder, name), { recursive: true });
  const front = `---\nname: ${name}\ndescription: ${description}\n---\n`;
  writeFileSync(join(folder, name, "SKILL.md"), `${front}\n${body}\n`);
}

/** Work that is the same each time but for the month. */
const tideReport = (month: string): readonly Turn[] => [
  [says("I look at what is there."), bash("ls tides")],
  [says("The report."), bash(`node scripts/tides.mjs --month ${month}`)],
  [bash("cat scripts/tides.mjs")],
  [says("And the chart."), bash(`node scripts/chart.mjs --from tides/${month}.csv`)],
  [bash("ls tides")],
  [says(`The tide report of ${month} is complete.`)],
];

const script: Script = {
  turns: [[says("Nothing is scripted for that.")]],
  branches: [
    {
      says: "write the release notes for version 2.4",
      turns: [
        [says("There is a skill for that."), { tool: "Skill", input: { skill: "release-notes" } }],
        [bash("git log --merges --oneline || true")],
        [bash("ls")],
        [bash("ls tides")],
        [says("The notes are written.")],
      ],
    },
    { says: "Generate the tide report for May", turns: tideReport("may") },
    { says: "Please generate a tide report for June", turns: tideReport("june") },
    { says: "I need you to generate the tide report for July", turns: tideReport("july") },
  ],
};

describe("the library, live in Claude Code", () => {
  test("hands over the skill that fits and nothing else, credits its use, and fills a gap", async () => {
    const { stage, prompt, types, run, settled } = await live({ script, setup: harbor });
    const skills = join(stage.home, ".claude", "skills");
    skill(
      skills,
      "release-notes",
      "Draft release notes from merged pull requests. Use when somebody asks for release notes or a changelog.",
      `## Steps\n\n1. List what was merged:\n\n   \`\`\`sh\n   ${steps}\n   \`\`\`\n2. Group it by kind.`,
    );
    skill(
      skills,
      "docker-image-size",
      "Make Docker images smaller. Use when an image is too large.",
      "Use stages.",
    );
    skill(
      skills,
      "flaky-tests",
      "Find why a test fails now and then. Use when tests are flaky.",
      "Run it often.",
    );
    expect((await run("install", "claude")).code).toBe(0);
    await prompt("Hello");
    await settled();

    // What fits is handed over; what does not is not spoken of.
    const fits = await prompt("Please write the release notes for version 2.4 from the merged pull requests");
    expect(fits.sent.join()).toContain("Knack: the skill release-notes");
    expect(fits.sent.join()).not.toContain("Knack: the skill docker-image-size");
    const other = await prompt("Tell me a story about a lighthouse keeper and his parrot");
    expect(other.sent.join()).not.toContain("Knack:");

    // The agent used it, and that is seen.
    await settled();
    const report = JSON.parse((await run("report", "release-notes", "--json")).stdout);
    expect(report.items).toEqual([
      expect.objectContaining({ name: "release-notes", shown: 1, used: 1, harmful: 0 }),
    ]);

    // Asked for by a person in one session nothing is made, in two a draft.
    await types("Generate the tide report for May");
    await settled();
    expect(JSON.parse((await run("gaps", "list", "--json")).stdout).gaps).toEqual([]);
    await types("Please generate a tide report for June");
    await settled();
    const { gaps } = JSON.parse((await run("gaps", "list", "--json")).stdout);
    expect(gaps).toEqual([expect.objectContaining({ status: "draft", because: null })]);
    const [draft] = gaps[0].skills;
    expect(readFileSync(join(draft.path, "SKILL.md"), "utf8")).toContain("node scripts/tides.mjs");

    // The third session is offered it.
    const third = await prompt("I need you to generate the tide report for July");
    expect(third.sent.join()).toContain(`Knack: the draft skill ${draft.name}`);
  });
});
