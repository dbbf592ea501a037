import { existsSync, readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { KnackError, messageIn } from "../core/errors.ts";
import { policy } from "../core/policy.ts";
import { type Problem, validate as problemsIn, skillFile } from "../core/skill.ts";
import { several } from "../core/words.ts";
import { createCheckouts } from "../sources/checkouts.ts";
import { withKnack } from "./opening.ts";
import type { SkillsCall } from "./skills.ts";
import { printJson, printLines, short } from "./terminal.ts";

interface Checked {
  readonly path: string;
  readonly problems: readonly Problem[];
}

/** Checks skills by the public rules: these, or all that the agents here would read. Exit code 1 when one is invalid. */
export async function validate({ args, env }: SkillsCall, words: readonly string[]): Promise<number> {
  const files = words.length > 0 ? words.flatMap((word) => skillsAt(resolve(word))) : await installed(env);
  const checked = files.map(check);
  const isWrong = ({ problems }: Checked) => problems.some(({ severity }) => severity === "error");
  const wrong = checked.filter(isWrong).length;
  if (args.json) printJson({ valid: wrong === 0, skills: checked });
  else {
    for (const { path, problems } of checked)
      printLines([
        `${problems.some(({ severity }) => severity === "error") ? "invalid" : "ok     "}  ${short(path, env)}`,
        ...problems.map(({ severity, message }) => `         ${severity}: ${message}`),
      ]);
    printLines([`${several(checked.length, "skill")} checked, ${wrong} invalid.`]);
  }
  return wrong === 0 ? 0 : 1;
}

function check(path: string): Checked {
  try {
    const { size } = fileAt(path);
    if (size > policy.library.fileBytes) throw new Error(`it has ${size} bytes`);
    return { path, problems: problemsIn(readFileSync(path, "utf8"), basename(dirname(path))) };
  } catch (error) {
    const message = `It cannot be read: ${messageIn(error)}`;
    return { path, problems: [{ code: "front-matter-missing", severity: "error", message }] };
  }
}

/** What the disk says of a file; a link may lead to a device, which never ends. */
function fileAt(path: string): Stats {
  const found = statSync(path);
  if (!found.isFile()) throw new Error("it is no file");
  return found;
}

/** The skills at a path: a file, a package, or a folder of packages. */
function skillsAt(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new KnackError("WRONG_USAGE", `There is nothing at ${path}.`);
  if (found.isFile()) return [path];
  if (existsSync(join(path, skillFile))) return [join(path, skillFile)];
  const below = packagesIn(path);
  if (below.length > 0) return below;
  throw new KnackError("WRONG_USAGE", `There is no ${skillFile} in ${path}.`);
}

function packagesIn(folder: string): string[] {
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name, skillFile))
    .filter((path) => existsSync(path));
}

async function installed(env: SkillsCall["env"]): Promise<string[]> {
  const root = (await createCheckouts().of(process.cwd()))?.root ?? process.cwd();
  return withKnack(env, { dryRun: true }, async (knack) =>
    (await knack.skills(root)).flatMap(({ folder, listing }) =>
      listing.found === "missing" ? [] : packagesIn(folder),
    ),
  );
}
