import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorMessage, KnackError } from "../../base/index.ts";
import { domains } from "../../lessons/index.ts";
import { type ImportItem, type ImportVerdict, importKind } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import { userHome } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import { redact } from "../../trust/index.ts";
import { type CliEnv, type CommandCall, defineCommand, dryRunArg, jsonArg, wrongUsage } from "../command.ts";
import { changeKnack, withKnack } from "../knack.ts";
import { describeDiff, describeFiles, notDone, nothingWritten } from "../screen/changes.ts";
import { askYesNo, canAsk } from "../screen/prompt.ts";
import { countReasons, oneLine } from "../screen/text.ts";
import { parseConfidence, parseOneOf } from "../select.ts";

const minConfidence = {
  "min-conf": { type: "string", description: "only lessons at least this sure, 0 to 1" },
} as const;

// --- Export ---

const exportArgs = {
  scope: { type: "string", description: "project (this one), global, or all" },
  ...minConfidence,
  domain: { type: "string", description: `only lessons about this: ${domains.join(", ")}` },
  format: { type: "string", description: "ecc (Markdown that ECC reads, the default) or json" },
  all: { type: "boolean", description: "also lessons that wait for a second session, or have faded" },
  out: { type: "string", alias: "o", description: "a file; or a folder, ending in /, for ECC's own layout" },
  bundle: {
    type: "string",
    description: "one file with lessons, evidence, skills, commands and agents; compressed if it ends in .gz",
  },
  force: { type: "boolean", description: "overwrite an existing file" },
  ...dryRunArg,
  ...jsonArg,
} as const;

type ExportCall = CommandCall<typeof exportArgs>;

interface Exported {
  readonly lessons: number;
  /** Lessons that only --all exports. */
  readonly withheld: number;
  readonly skills: readonly string[];
  readonly written: readonly string[];
  readonly leftOut: readonly string[];
  readonly content?: string;
}

export const exportCommand = defineCommand({
  about:
    "Export lessons and skills for a colleague or another tool. Secrets and home folders are redacted once more.",
  args: exportArgs,
  run: async (call: ExportCall) => {
    const { args, screen } = call;
    const selection = {
      scope: parseOneOf("scope", args.scope, ["project", "global", "all"]) ?? ("all" as const),
      minConf: parseConfidence(args["min-conf"]),
      domain: parseOneOf("domain", args.domain, domains),
      all: args.all === true,
    };
    const format = parseOneOf("format", args.format, ["ecc", "json"]) ?? "ecc";
    const out = args.bundle ?? args.out;
    if (out === "") throw wrongUsage("A path is empty.");
    return withKnack(
      call,
      async (knack) => {
        const { lessons, withheld, skills: all, leftOut } = await knack.carried(selection);
        const skills = args.bundle === undefined ? [] : all;
        if (lessons.length + skills.length === 0) return refuseEmpty(call, withheld);
        const files = new Map<string, Uint8Array | string>();
        if (args.bundle !== undefined || format === "json")
          files.set(out ?? "", await knack.bundle({ instincts: lessons, skills }, out ?? ""));
        else {
          const ecc = await knack.eccFiles(lessons);
          if (out !== undefined && isFolder(out))
            for (const [path, text] of ecc) files.set(join(out, path), text);
          else files.set(out ?? "", [...ecc.values()].join("\n"));
        }
        if (out === undefined && !args.json) {
          for (const content of files.values()) process.stdout.write(content);
          if (withheld > 0) screen.warn([describeWithheld(withheld)]);
          return 0;
        }
        return answerExported(call, {
          lessons: lessons.length,
          withheld,
          skills: skills.map(({ name }) => name),
          written: out === undefined ? [] : writeFiles(files, call),
          leftOut: args.bundle === undefined ? [] : leftOut,
          ...(out === undefined ? { content: [...files.values()].map(String).join("\n") } : {}),
        });
      },
      { dryRun: false },
    );
  },
});

function isFolder(path: string): boolean {
  return path.endsWith("/") || (existsSync(path) && statSync(path).isDirectory());
}

/** Writes all files or none: one that exists with other content is left alone. */
function writeFiles(files: ReadonlyMap<string, Uint8Array | string>, { args, dryRun }: ExportCall): string[] {
  for (const [path, content] of files) if (!args.force && existsSync(path)) refuseOverwrite(path, content);
  if (!dryRun)
    for (const [path, content] of files)
      orFail(path, () => {
        mkdirSync(dirname(path), { recursive: true });
        // It is for one person to hand on, not for everybody on the machine.
        writeFileSync(path, content, { mode: 0o600 });
      });
  return [...files.keys()];
}

function refuseOverwrite(path: string, content: Uint8Array | string): void {
  const found = statSync(path);
  if (found.isDirectory()) throw wrongUsage(`"${path}" is a folder.`, "Give the name of a file.");
  // Reading a pipe would wait for somebody to write to it.
  if (!found.isFile())
    throw wrongUsage(
      `"${path}" is not a regular file.`,
      "Give the name of a file, or write to it with --force.",
    );
  if (!Buffer.from(content).equals(orFail(path, () => readFileSync(path))))
    throw wrongUsage(
      `"${path}" already exists with other content.`,
      "Choose another name, or overwrite it with --force.",
    );
}

function orFail<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    const hint = "Choose a file that you can write: knack export -o lessons.md";
    throw wrongUsage(`Cannot write "${path}": ${errorMessage(cause)}`, hint, cause);
  }
}

function refuseEmpty(call: ExportCall, withheld: number): number {
  const { args, screen } = call;
  const isFiltered = [args.scope, args["min-conf"], args.domain].some((word) => word !== undefined);
  const because = isFiltered ? "no lessons match" : "there are no lessons to export";
  return call.refuse({ done: false, lessons: 0, withheld, skills: [], written: [], because }, [
    notDone(because),
    withheld > 0
      ? `  ${describeWithheld(withheld)}`
      : `  ${screen.knack} learn reads your agents' sessions; ${screen.knack} lessons lists what was learned.`,
  ]);
}

function describeWithheld(withheld: number): string {
  return `${several(withheld, "lesson")} more ${withheld === 1 ? "waits" : "wait"} for a second session, or faded: --all exports those, too.`;
}

function answerExported(call: ExportCall, exported: Exported): number {
  const { screen, dryRun } = call;
  const [first = "", ...more] = exported.written;
  const { length } = exported.skills;
  const skills =
    length > 0 ? ` and ${several(length, "skill, command or agent", "skills, commands and agents")}` : "";
  const where = more.length === 0 ? screen.path(first) : several(more.length + 1, "file");
  return call.answer({ done: !dryRun, ...exported }, [
    `${dryRun ? "Would export" : "Exported"} ${several(exported.lessons, "lesson")}${skills} to ${where}.`,
    ...exported.leftOut.map((what) => `  left out: ${what}`),
    ...(exported.withheld > 0 ? [`  ${describeWithheld(exported.withheld)}`] : []),
    ...(dryRun ? [nothingWritten] : []),
  ]);
}

// --- Import ---

const importArgs = {
  path: {
    type: "positional",
    required: false,
    description: "a bundle, a file or a folder of ECC's instincts; ecc: ECC's own folder on this machine",
  },
  scope: {
    type: "string",
    description: "import for project (this one) or global (default: as the file says)",
  },
  ...minConfidence,
  domain: { type: "string", description: "only lessons about this" },
  accept: { type: "boolean", description: "accept the lessons after they were shown" },
  yes: { type: "boolean", description: "with --accept: do not ask" },
  undo: { type: "boolean", description: "undo the latest import" },
  ...dryRunArg,
  ...jsonArg,
} as const;

type ImportCall = CommandCall<typeof importArgs>;

export const importCommand = defineCommand({
  about: "Import what others learned. Nothing takes effect until you accept it.",
  args: importArgs,
  run: async (call: ImportCall) => {
    const { args, dryRun } = call;
    const [word, ...more] = args._;
    if (args.undo && word === undefined) return changeKnack(call, (knack) => undoImport(call, knack));
    if (word === undefined || more.length > 0 || args.undo)
      throw wrongUsage(
        "knack import takes one file or folder.",
        "knack import lessons.md, knack import bundle.json, knack import ecc, knack import --undo",
      );
    const options = {
      scope: parseOneOf("scope", args.scope, ["project", "global"]),
      minConf: parseConfidence(args["min-conf"]),
      domain: args.domain ?? null,
    };
    const path = word === "ecc" && !existsSync(word) ? findEccFolder(call.env) : word;
    return changeKnack(
      call,
      async (knack) => {
        const plan = await knack.planImport(path, options);
        if (!args.json) call.screen.print(describeImport(call, plan.things, plan.problems));
        if (!dryRun) await knack.carryIn(plan);
        const accepted = dryRun || !args.accept ? [] : await acceptLessons(call, knack, plan.things);
        return call.answer(
          {
            done: !dryRun,
            from: plan.from,
            things: plan.things.map(thingJson),
            accepted,
            problems: plan.problems,
          },
          describeNext(call, plan.things, accepted.length),
          plan.things.some(({ verdict }) => verdict === "refused") ? 1 : 0,
        );
      },
      { create: true },
    );
  },
});

/** A lesson is all in its text; of skills, commands and agents the files and the diff are given. */
function thingJson({ files, diff, ...thing }: ImportItem) {
  return thing.kind === "lesson" ? thing : { ...thing, files, diff: redact(diff) };
}

/** Where ECC keeps its instincts. */
function findEccFolder(env: CliEnv): string {
  const data = env.XDG_DATA_HOME || join(userHome(env), ".local/share");
  const found = [
    env.CLV2_HOMUNCULUS_DIR ?? "",
    join(data, "ecc-homunculus"),
    join(userHome(env), ".claude/homunculus"),
  ].find((folder) => folder !== "" && existsSync(folder));
  if (found !== undefined) return found;
  throw new KnackError("NOTHING_READABLE", "ECC's folder was not found on this machine.", {
    hint: "Give its folder: knack import <folder>, or set CLV2_HOMUNCULUS_DIR.",
  });
}

const marks: Readonly<Record<ImportVerdict, string>> = {
  new: "+ new      ",
  changed: "~ changed  ",
  same: "= known    ",
  waiting: ". waiting  ",
  refused: "! refused  ",
  "left-out": "- left out ",
};

function describeImport(
  { screen }: ImportCall,
  things: readonly ImportItem[],
  problems: readonly string[],
): string[] {
  const isLeftOut = ({ verdict }: ImportItem) => verdict === "left-out";
  return [
    ...things
      .filter((thing) => !isLeftOut(thing))
      .flatMap(({ kind, name, says, verdict, because, files, diff }) => [
        `${marks[verdict]} ${kind} ${oneLine(name, 60)}: ${oneLine(says, 100)}`,
        ...(because === null ? [] : [screen.dim(`             ${oneLine(because, 200)}`)]),
        ...(files.length === 0 ? [] : [`             ${describeFiles(files)}`]),
        ...(diff === "" ? [] : describeDiff(diff, screen)),
      ]),
    // One by one they are in --json.
    ...countReasons(things.filter(isLeftOut)).map(
      ([because, count]) => `${marks["left-out"]} ${several(count, "lesson")}: ${oneLine(because, 200)}`,
    ),
    ...problems.map((problem) => `! unreadable ${oneLine(problem, 200)}`),
  ];
}

/** Accepts the lessons that were just shown, after a yes. */
async function acceptLessons(
  { args }: ImportCall,
  knack: Knack,
  things: readonly ImportItem[],
): Promise<string[]> {
  const ids = things.flatMap(({ kind, verdict, id }) =>
    kind === "lesson" && (verdict === "new" || verdict === "waiting") ? id : [],
  );
  if (ids.length === 0) return [];
  if (!args.yes) {
    if (!canAsk())
      throw wrongUsage(
        "--accept needs a terminal to ask in; the lessons were imported and wait for your decision.",
        "Use --accept --yes, or accept them one by one: knack lessons accept <id>",
      );
    if ((await askYesNo(`Accept ${several(ids.length, "lesson")}?`, false)) !== true) return [];
  }
  await knack.decideImports(ids, "accepted");
  return ids;
}

function describeNext(
  { screen, dryRun }: ImportCall,
  things: readonly ImportItem[],
  accepted: number,
): string[] {
  const { knack } = screen;
  const taken = things.filter(({ verdict }) => verdict === "new" || verdict === "changed");
  const count = (kind: ImportItem["kind"]) => taken.filter((thing) => thing.kind === kind).length;
  const what = (["lesson", "skill", "command", "agent"] as const)
    .flatMap((kind) => (count(kind) > 0 ? several(count(kind), kind) : []))
    .join(" and ");
  if (what === "" && accepted === 0) return ["Nothing new to import."];
  if (dryRun) return [`Would import ${what}, to wait for your decision. Nothing was imported (--dry-run).`];
  return [
    accepted > 0
      ? `Accepted ${several(accepted, "lesson")}.`
      : `Imported ${what}. Nothing takes effect until you accept it:`,
    ...(count("lesson") > accepted
      ? [`  ${knack} lessons --imported, then ${knack} lessons accept <id>`]
      : []),
    ...(taken.length > count("lesson") ? [`  ${knack} skills accept <name>`] : []),
    `To undo: ${knack} import --undo`,
  ];
}

async function undoImport(call: ImportCall, knack: Knack): Promise<number> {
  const { screen, dryRun } = call;
  const withdrawn = await knack.withdrawImport();
  const [first] = withdrawn;
  if (!first) {
    const because = "there is no import to undo";
    return call.refuse({ done: false, withdrawn: [], because }, [
      notDone(because),
      `  ${screen.knack} lessons --imported --all lists what was imported; a live skill is removed by ${screen.knack} skills undo`,
    ]);
  }
  return call.answer(
    { done: !dryRun, withdrawn: withdrawn.map((one) => ({ id: one.id, kind: importKind(one) })) },
    [`${dryRun ? "Would remove" : "Removed"} ${several(withdrawn.length, "import")} from ${first.from}.`],
  );
}
