import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { errorMessage } from "../../../base/index.ts";
import { validateSkill as findProblems, skillFile } from "../../../library/index.ts";
import type { SkillProblem } from "../../../records/index.ts";
import { several } from "../../../text/index.ts";
import { findCheckout } from "../../../transcripts/index.ts";
import { wrongUsage } from "../../command.ts";
import { withKnack } from "../../knack.ts";
import type { SkillsCall } from "./skills.ts";

/** A larger file is no skill. */
const largestFile = 1_000_000;

interface ValidatedSkill {
  readonly path: string;
  readonly problems: readonly SkillProblem[];
}

/** Checks skills by the public rules: the given ones, or all that the agents here read. Exit 1 when one is invalid. */
export async function validate(call: SkillsCall, words: readonly string[]): Promise<number> {
  const files =
    words.length > 0 ? words.flatMap((word) => findSkills(resolve(word))) : await findInstalled(call);
  const checked = files.map(check);
  const isInvalid = ({ problems }: ValidatedSkill) => problems.some(({ severity }) => severity === "error");
  const invalid = checked.filter(isInvalid).length;
  return call.answer(
    { valid: invalid === 0, skills: checked },
    [
      ...checked.flatMap((one) => [
        `${isInvalid(one) ? "invalid" : "ok     "}  ${call.screen.path(one.path)}`,
        ...one.problems.map(({ severity, message }) => `         ${severity}: ${message}`),
      ]),
      `${several(checked.length, "skill")} checked, ${invalid} invalid.`,
    ],
    invalid === 0 ? 0 : 1,
  );
}

function check(path: string): ValidatedSkill {
  try {
    // A link may lead to a device, which never ends.
    const found = statSync(path);
    if (!found.isFile()) throw new Error("it is not a regular file");
    if (found.size > largestFile) throw new Error(`it has ${found.size} bytes`);
    return { path, problems: findProblems(readFileSync(path, "utf8"), basename(dirname(path))) };
  } catch (error) {
    const message = `Cannot be read: ${errorMessage(error)}`;
    return { path, problems: [{ code: "front-matter-missing", severity: "error", message }] };
  }
}

/** The skills at a path: a file, a package, or a folder of packages. */
function findSkills(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw wrongUsage(`${path} does not exist.`);
  if (found.isFile()) return [path];
  if (existsSync(join(path, skillFile))) return [join(path, skillFile)];
  const below = listPackages(path);
  if (below.length > 0) return below;
  throw wrongUsage(`There is no ${skillFile} in ${path}.`);
}

function listPackages(folder: string): string[] {
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name, skillFile))
    .filter((path) => existsSync(path));
}

async function findInstalled(call: SkillsCall): Promise<string[]> {
  const root = findCheckout(process.cwd())?.root ?? process.cwd();
  return withKnack(
    call,
    async (knack) =>
      (await knack.skills(root)).flatMap(({ folder, listing }) =>
        listing.found === "missing" ? [] : listPackages(folder),
      ),
    { dryRun: true },
  );
}
