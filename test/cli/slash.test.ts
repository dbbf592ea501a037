import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { knack } from "../helpers/knack.ts";
import { asked, day, failed, ran, transcriptOf, writeLived } from "../helpers/lived.ts";
import { tempFolder } from "../helpers/temp.ts";

/** A home with two projects, in each of which a session has taught something. */
async function twoProjects() {
  const home = tempFolder();
  const [harbor, yard] = [join(home, "harbor"), join(home, "yard")];
  for (const project of [harbor, yard]) mkdirSync(join(project, ".git"), { recursive: true });
  const at = Date.now() - 2 * day;
  const files = writeLived(home, [
    {
      name: "one",
      cwd: harbor,
      at,
      steps: [
        asked("go on"),
        failed(
          "npm run check",
          'npm error Missing script: "check"\nnpm error Did you mean this?\nnpm error   npm run verify',
        ),
        ran("npm run verify"),
      ],
    },
    {
      name: "two",
      cwd: yard,
      at: at + day,
      steps: [asked("go on"), failed("pnpm test", "sh: 1: pnpm: not found"), ran("corepack pnpm test")],
    },
  ]);
  expect((await knackHere(["learn", ...files], { home })).code).toBe(0);
  const slash = (cwd: string, ...words: string[]) => knackHere(["slash", ...words], { home, cwd });
  const state = async () => {
    const { stdout } = await knackHere(["lessons", "--all", "--json"], { home });
    const all = JSON.parse(stdout).lessons as { name: string; status: string }[];
    return Object.fromEntries(all.map(({ name, status }) => [name, status]));
  };
  return { home, harbor, yard, slash, state };
}

describe("within an agent", () => {
  test("/knack:undo takes back what was learned last in this project, and says how to have it again", async () => {
    const { home, harbor, slash, state } = await twoProjects();
    const before = await state();
    const undone = await knack(["slash", "undo"], { home, cwd: harbor });
    expect(undone.code).toBe(0);
    expect(undone.stdout).toMatch(
      /^npm-run-check\S* will not be suggested again\. To allow it again: knack skills unskip/,
    );
    const after = await state();
    const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
    expect(changed).toEqual([expect.stringMatching(/^npm-run-check/)]);
    expect(await slash(harbor, "undo")).toMatchObject({
      code: 1,
      stdout: "There is nothing to undo in this project.\n",
    });
  });

  test("/knack:forget takes words for what they mean, and nothing where they mean several", async () => {
    const { harbor, slash, state } = await twoProjects();
    expect((await slash(harbor, "forget", "it's about nothing")).stderr).toContain(
      "No lesson or skill matches",
    );
    expect((await slash(harbor, "forget", "run")).stderr).toMatch(/matches several[\s\S]*Which one: /);
    expect(Object.values(await state())).not.toContain("rejected");
    expect((await slash(harbor, "forget", "corepack")).stdout).toContain("will not be suggested again");
    expect(Object.values(await state()).filter((status) => status === "rejected")).toHaveLength(1);
  });

  test("/knack:learn says what is new and what waits, /knack:status what there is, and others are refused", async () => {
    const { harbor, slash } = await twoProjects();
    expect((await slash(harbor, "learn")).stdout).toMatch(
      /Nothing new was learned\.[\s\S]*skills accept <name>/,
    );
    expect((await slash(harbor, "status")).stdout).toMatch(
      /waiting\s+2 lessons to decide \(pnpm-not-on-path, \S+\)/,
    );
    expect(await slash(harbor, "dance")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("/knack:undo"),
    });
  });
});

test("a session that has only begun belongs to no project yet, and later to its own", async () => {
  const home = tempFolder();
  const project = join(home, "harbor");
  mkdirSync(project);
  const file = join(home, "begun.jsonl");
  writeFileSync(
    file,
    `${JSON.stringify({ type: "queue-operation", operation: "enqueue", sessionId: "s", timestamp: "2026-05-03T10:00:00Z", content: "x" })}\n`,
  );
  await knackHere(["learn", file, "--json"], { home });
  appendFileSync(
    file,
    transcriptOf({
      name: "begun",
      cwd: project,
      at: Date.now() - day,
      steps: [
        asked("go on"),
        failed(
          "npm run check",
          'npm error Missing script: "check"\nnpm error Did you mean this?\nnpm error   npm run verify',
        ),
        ran("npm run verify"),
      ],
    }),
  );
  await knackHere(["learn", file, "--json"], { home });
  const { stdout } = await knackHere(["lessons", "--json"], { home });
  const [{ name }] = JSON.parse(stdout).lessons;
  const accepted = await knackHere(["skills", "accept", name, "--where", "me"], { home, cwd: project });
  expect(accepted).toMatchObject({ code: 0, stderr: "" });
});
