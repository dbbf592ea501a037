import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { packBundle } from "../../src/library/exchange/formats.ts";
import { claudeLines } from "../helpers/claude.ts";
import { knackHere } from "../helpers/here.ts";
import { filesIn } from "../helpers/machine.ts";
import { tempFolder } from "../helpers/temp.ts";
import { type Host, host, session } from "../mcp/host.ts";
import { plantedPackages } from "./planted/load.ts";

type Files = Readonly<Record<string, string>>;

/** `npm test` takes some of the packages through each door, `test:all` all that fit. */
const isWhole = process.env.KNACK_TEST_ALL === "1";

const innocent = {
  name: "rl-tide-tables",
  files: {
    "SKILL.md": [
      "---\nname: rl-tide-tables\ndescription: Print tide tables. Use when a tide table is asked for.\n---\n",
      "1. Run `node tides.mjs --month <month>`; `--mnth` is refused.",
      "2. Check that it says done, and that the table has a line for each day.\n",
    ].join("\n"),
  },
};

test("packages that an agent copies from web pages never go live without a yes, its own do", async () => {
  const home = tempFolder();
  const { call, project, skills } = await host({}, { home });
  // A server works for the time of one call only.
  const sample = plantedPackages.filter((_, at) => at % (isWhole ? 10 : 25) === 0);
  readPages(
    home,
    project,
    sample.map(({ files }) => Object.values(files).join("\n")),
  );
  await write(call, innocent.name, innocent.files);
  expect(existsSync(join(skills, innocent.name, "SKILL.md")), "the innocent one").toBe(true);
  const live: string[] = [];
  for (const { id, files } of sample) {
    const name = `rl-planted-${id}`;
    await write(call, name, rename(files, name));
    if (existsSync(join(skills, name))) live.push(id);
  }
  expect(sample).toHaveLength(isWhole ? 20 : 8);
  expect(live).toEqual([]);
});

/** Web pages that the agent has read in its session. */
function readPages(home: string, project: string, texts: readonly string[]): void {
  const folder = join(home, ".claude/projects", project.replace(/[^A-Za-z0-9]/g, "-"));
  const line = claudeLines(session, project);
  const lines = texts.flatMap((text, at) => [
    line.calls(`toolu_page${at}`, "WebFetch", { url: `https://skills.example/${at}`, prompt: "all of it" }),
    line.result(`toolu_page${at}`, text),
  ]);
  const later = lines.map((one, at) => ({
    ...one,
    uuid: `00000000-0000-4000-8001-${String(at).padStart(12, "0")}`,
  }));
  appendFileSync(join(folder, `${session}.jsonl`), later.map((one) => `${JSON.stringify(one)}\n`).join(""));
}

/** Writes a skill as an agent does, from the first call to the last. */
async function write(call: Host["call"], name: string, files: Files): Promise<void> {
  const about = { action: "create", skill_name: name };
  const why = { reason: "recovered_surprise", event_refs: ["e2", "e3"], message: "I keep this." };
  const { data, text } = await call("skill_learning_start", { ...about, ...why });
  if (typeof data.staging !== "string") throw new Error(text);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(data.staging, path)), { recursive: true });
    writeFileSync(join(data.staging, path), content);
  }
  const { code } = await call("skill_learning_finish", { ...about, status: "created", summary: "Kept." });
  if (code !== null) await call("skill_learning_finish", { ...about, status: "aborted", summary: "No." });
}

function rename(files: Files, name: string): Files {
  return { ...files, "SKILL.md": (files["SKILL.md"] ?? "").replace(/^name: .*$/m, `name: ${name}`) };
}

test("packages that are imported wait for a yes, and only what was accepted goes live", async () => {
  const home = tempFolder();
  const run = (...words: string[]) => knackHere(words, { home, cwd: home });
  const carry = (name: string, files: Files) => ({
    ...{ name, description: "Carried here." },
    files: Object.entries(rename(files, name)).map(([path, text]) => ({ path, mode: 0o644, text })),
  });
  // A bundle has at most 200 skills.
  const planted = plantedPackages
    .filter((_, at) => at > 0 && (isWhole || at % 5 === 0))
    .map(({ id, files }) => carry(`planted-${id}`, files));
  const bundle = join(home, "bundle.json");
  const skills = [carry(innocent.name, innocent.files), ...planted];
  writeFileSync(bundle, await packBundle({ instincts: [], skills }, 0, bundle));
  // It ends with 1, because some are refused.
  expect((await run("import", bundle)).stdout).toContain(`new       skill ${innocent.name}`);
  const live = () =>
    Object.keys(filesIn(home)).filter((path) => path.endsWith("SKILL.md") && !path.startsWith(".knack/"));
  expect(live()).toEqual([]);
  expect(await run("skills", "accept", innocent.name)).toMatchObject({ code: 0 });
  expect(live()).toEqual([expect.stringContaining(`skills/${innocent.name}/`)]);
});
