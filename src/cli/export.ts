import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { domains } from "../core/domain.ts";
import { KnackError, messageIn } from "../core/errors.ts";
import { several } from "../core/words.ts";
import { type Call, defineVerb } from "./main.ts";
import { withKnack } from "./opening.ts";
import { confidenceOf, oneOf, selecting } from "./selection.ts";
import { calledAs, printJson, printLines, short } from "./terminal.ts";

const args = {
  ...selecting,
  format: { type: "string", description: "ecc (Markdown that ECC reads, the default) or json" },
  all: { type: "boolean", description: "also what waits for another session, and what has faded" },
  out: {
    type: "string",
    alias: "o",
    description: "a file; or a folder, with / at its end, for ECC's own layout",
  },
  bundle: {
    type: "string",
    description: "one file with lessons, evidence, skills, commands and agents, packed if it ends in .gz",
  },
  force: { type: "boolean", description: "write over a file that is there" },
  "dry-run": { type: "boolean", description: "write nothing; say what would be" },
  json: { type: "boolean", description: "print one JSON object" },
} as const;

type ExportCall = Call<typeof args>;

export const exporting = defineVerb({
  about:
    "Hand what was learned to a colleague or to another tool. Secrets and home folders are taken out once more.",
  args,
  run: async (call) => {
    const { env, args } = call;
    const selection = {
      scope: oneOf("scope", args.scope, ["project", "global", "all"]) ?? ("all" as const),
      minConf: confidenceOf(args["min-conf"]),
      domain: oneOf("domain", args.domain, domains),
      all: args.all === true,
    };
    const format = oneOf("format", args.format, ["ecc", "json"]) ?? "ecc";
    const out = args.bundle ?? args.out;
    if (out === "") throw new KnackError("WRONG_USAGE", "A path is empty.");
    return withKnack(env, {}, async (knack) => {
      const { lessons, withheld, skills, leftOut } = await knack.carried(selection);
      const carried = { instincts: lessons, skills: args.bundle === undefined ? [] : skills };
      if (lessons.length + carried.skills.length === 0) return nothing(call, withheld);
      const asBundle = args.bundle !== undefined || format === "json";
      const files = new Map<string, Uint8Array | string>();
      if (asBundle) files.set(out ?? "", await knack.bundle(carried, out ?? ""));
      else {
        const ecc = await knack.eccFiles(lessons);
        if (out !== undefined && isFolder(out))
          for (const [path, text] of ecc) files.set(join(out, path), text);
        else files.set(out ?? "", [...ecc.values()].join("\n"));
      }
      if (out === undefined && !args.json) {
        for (const content of files.values()) process.stdout.write(content);
        if (withheld > 0) printLines([told(withheld)], process.stderr);
        return 0;
      }
      const written = out === undefined ? [] : write(files, args);
      return tell(call, {
        lessons: lessons.length,
        withheld,
        skills: carried.skills.map(({ name }) => name),
        written,
        leftOut: args.bundle === undefined ? [] : leftOut,
        ...(out === undefined ? { content: [...files.values()].map(String).join("\n") } : {}),
      });
    });
  },
});

function isFolder(path: string): boolean {
  return path.endsWith("/") || (existsSync(path) && statSync(path).isDirectory());
}

/** Writes files, all or none: one that is there with other words in it is somebody's. */
function write(files: ReadonlyMap<string, Uint8Array | string>, args: ExportCall["args"]): string[] {
  for (const [path, content] of files) {
    if (args.force || !existsSync(path)) continue;
    const found = statSync(path);
    if (found.isDirectory())
      throw new KnackError("WRONG_USAGE", `"${path}" is a folder.`, { hint: "Name a file." });
    // Looking into a pipe would wait for somebody to write to it.
    if (!found.isFile())
      throw new KnackError("WRONG_USAGE", `"${path}" is no file.`, {
        hint: "Name a file, or write to it all the same with --force.",
      });
    if (!Buffer.from(content).equals(orUnwritable(path, () => readFileSync(path))))
      throw new KnackError("WRONG_USAGE", `"${path}" is there already, with something else in it.`, {
        hint: "Choose another name, or write over it with --force.",
      });
  }
  if (!args["dry-run"])
    for (const [path, content] of files)
      orUnwritable(path, () => {
        mkdirSync(dirname(path), { recursive: true });
        // It is for one person to hand on, not for everybody on the machine.
        writeFileSync(path, content, { mode: 0o600 });
      });
  return [...files.keys()];
}

function orUnwritable<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    throw new KnackError("WRONG_USAGE", `"${path}" cannot be written: ${messageIn(cause)}`, {
      cause,
      hint: "Name a file in a place that is yours: knack export -o lessons.md",
    });
  }
}

/** Nothing is no file: whoever asked is told why, and what to do. */
function nothing({ args, env }: ExportCall, withheld: number): number {
  const isChosen = [args.scope, args["min-conf"], args.domain].some((word) => word !== undefined);
  const because = `there is nothing to hand out${isChosen ? " of what you chose" : ""}`;
  if (args.json) printJson({ done: false, lessons: 0, withheld, skills: [], written: [], because });
  else
    printLines(
      [
        `Not done: ${because}.`,
        withheld > 0
          ? `  ${told(withheld)}`
          : `  ${calledAs(env)} learn reads your agents' sessions; ${calledAs(env)} instincts lists what was learned.`,
      ],
      process.stderr,
    );
  return 1;
}

function told(withheld: number): string {
  return `${several(withheld, "lesson")} more ${withheld === 1 ? "waits" : "wait"} for another session, or faded: --all hands those out, too.`;
}

interface Exported {
  readonly lessons: number;
  readonly withheld: number;
  readonly skills: readonly string[];
  readonly written: readonly string[];
  readonly leftOut: readonly string[];
  readonly content?: string;
}

function tell({ args, env }: ExportCall, exported: Exported): number {
  const dryRun = args["dry-run"] === true;
  if (args.json) printJson({ done: !dryRun, ...exported });
  else {
    const [first, ...more] = exported.written;
    const { length } = exported.skills;
    const skills = length > 0 ? ` and ${length} of skills, commands and agents` : "";
    const where =
      first === undefined
        ? "nowhere"
        : more.length === 0
          ? short(first, env)
          : several(more.length + 1, "file");
    printLines([
      `${dryRun ? "Would write" : "Wrote"} ${several(exported.lessons, "lesson")}${skills} to ${where}.`,
      ...exported.leftOut.map((what) => `  left out: ${what}`),
      ...(exported.withheld > 0 ? [`  ${told(exported.withheld)}`] : []),
      ...(dryRun ? ["Nothing was written (--dry-run)."] : []),
    ]);
  }
  return 0;
}
