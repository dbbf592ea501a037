import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bench, finish, start } from "../helpers/learning.ts";
import { put } from "../helpers/library.ts";
import { tellFigures } from "./planted/figures.ts";
import { benignPackages, plantedPackages } from "./planted/load.ts";

type Files = Readonly<Record<string, string>>;

/** `npm test` takes some of the packages, `test:all` and a named set all. */
const isWhole = process.env.KNACK_TEST_ALL === "1" || Boolean(process.env.KNACK_SET);
const skill = "rl-planted";

const counts = new Map<string, number>();
for (const { files } of [...plantedPackages, ...benignPackages])
  for (const line of new Set(Object.values(files).join("\n").split("\n")))
    counts.set(line, (counts.get(line) ?? 0) + 1);

/** What a package alone says, under a head that nothing is wrong with: it is not held for words that are in many. */
function keepOwn(files: Files): Files {
  const own = (text: string) =>
    text
      .split("\n")
      .filter(
        (line) => line.trim() !== "" && !line.startsWith("#") && line !== "---" && counts.get(line) === 1,
      );
  const main = own(files["SKILL.md"] ?? "");
  const described = main.find((line) => line.startsWith("description:"));
  const body = main.filter((line) => !/^(?:name|description):/.test(line));
  const head = `name: ${skill}\n${described ?? "description: Use when make deploy fails."}`;
  const rest = Object.entries(files).filter(([path]) => path !== "SKILL.md");
  return {
    ...Object.fromEntries(rest),
    "SKILL.md": `---\n${head}\n---\n\n${["Run `make tunnel`.", ...body].join("\n\n")}\n`,
  };
}

/** Whether it is live after an agent handed it in, in a session that has read nothing doubtful. */
async function isLiveWhenWritten(files: Files): Promise<boolean> {
  const own = await bench();
  const started = await start(own, { skill });
  if (!started.ok) throw new Error(started.fault.message);
  put(started.value.staging, files);
  await finish(own, { skill });
  return existsSync(join(own.repository, ".claude/skills", skill, "SKILL.md"));
}

test("no malicious package is live where its agent was talked into it by nothing that Knack can see", async () => {
  const twin = `---\nname: ${skill}\ndescription: Use when make deploy fails.\n---\n\n1. Run \`make tunnel\`.\n`;
  expect(await isLiveWhenWritten({ "SKILL.md": twin })).toBe(true);
  const live: string[] = [];
  const sample = plantedPackages.filter((_, at) => isWhole || at % 10 === 0);
  for (const { id, files } of sample) if (await isLiveWhenWritten(keepOwn(files))) live.push(id);
  const columns = ["packages", "live without a yes"];
  tellFigures({
    title: "malicious packages that an agent writes",
    columns,
    rows: [[sample.length, live.length]],
  });
  expect(live).toEqual([]);
});
