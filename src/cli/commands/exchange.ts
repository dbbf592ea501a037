import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorMessage, KnackError, showControls } from "../../base/index.ts";
import { domains } from "../../lessons/index.ts";
import { importKind } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import { userHome } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import { arg, type CommandCall, defineCommand, wrongUsage } from "../command.ts";
import { changeKnack, withKnack } from "../knack.ts";
import { describeDiff, describeFiles, filesJson, notDone, nothingWritten } from "../screen/changes.ts";
import { askYesNo, type CliEnv, canAsk } from "../screen/screen.ts";
import { countReasons, joinParts, type Lines, oneLine, wrapLine } from "../screen/text.ts";
import { parseOneOf } from "../select.ts";

const minConfidence = { "min-conf": arg.option("only lessons at least this sure, 0 to 1") };

function parseConfidence(text: string | undefined): number {
  const value = Number(text ?? 0);
  if (text?.trim() !== "" && value >= 0 && value <= 1) return value;
  throw wrongUsage(`Invalid --min-conf "${text}".`, "Use a number from 0 to 1: --min-conf 0.7");
}

// --- Export ---

const exportArgs = {
  scope: arg.option("project (this one), global, or all"),
  ...minConfidence,
  domain: arg.option(`only lessons about this: ${domains.join(", ")}`),
  format: arg.option("ecc (Markdown that ECC reads, the default) or json"),
  all: arg.flag("also lessons that wait for a second session, or have faded"),
  out: { ...arg.option("a file; or a folder, ending in /, for ECC's own layout"), alias: "o" },
  bundle: arg.option(
    "one file with lessons, evidence, skills, commands and agents; compressed if it ends in .gz",
  ),
  force: arg.flag("overwrite an existing file"),
  ...arg.dryRun,
  ...arg.json,
};

type ExportCall = CommandCall<typeof exportArgs>;

/** Contents by path; the path is empty for standard output. */
type ExportFiles = ReadonlyMap<string, Uint8Array | string>;

export const exportCommand = defineCommand({
  about:
    "Export lessons and skills for a colleague or another tool. Secrets and home folders are redacted once more.",
  args: exportArgs,
  run: async (call: ExportCall) => {
    const { args, screen, dryRun } = call;
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
        const carried = await knack.carried(selection);
        const { lessons, withheld } = carried;
        const [skills, leftOut] = args.bundle === undefined ? [[], []] : [carried.skills, carried.leftOut];
        if (lessons.length + skills.length === 0) return refuseEmpty(call, withheld);
        const files: ExportFiles =
          args.bundle !== undefined || format === "json"
            ? new Map([[out ?? "", await knack.bundle({ instincts: lessons, skills }, out ?? "")]])
            : placeFiles(await knack.eccFiles(lessons), out);
        if (out === undefined && !args.json) {
          // A file gets the bytes, a terminal what it can show.
          const show = (text: string) =>
            showControls(text)
              .split("\n")
              .map((line) => wrapLine(line, screen.columns));
          for (const content of files.values())
            process.stdout.write(process.stdout.isTTY ? show(String(content)).join("\n") : content);
          screen.warn([describeWithheld(withheld)]);
          return 0;
        }
        const names = skills.map(({ name }) => name);
        const json = { done: !dryRun, lessons: lessons.length, withheld, skills: names, leftOut };
        if (out === undefined)
          return call.answer(
            { ...json, written: [], content: [...files.values()].map(String).join("\n") },
            [],
          );
        const written = writeFiles(files, call);
        const what = joinParts(" and ", [
          several(lessons.length, "lesson"),
          names.length > 0 && several(names.length, "skill, command or agent", "skills, commands and agents"),
        ]);
        const [first = ""] = written;
        const where = written.length === 1 ? screen.path(first) : several(written.length, "file");
        return call.answer({ ...json, written }, [
          `${dryRun ? "Would export" : "Exported"} ${what} to ${where}.`,
          leftOut.map((one) => `  left out: ${one}`),
          describeWithheld(withheld, "  "),
          dryRun && nothingWritten,
        ]);
      },
      { dryRun: false },
    );
  },
});

/** ECC's files in a folder, or all in one file. */
function placeFiles(files: ReadonlyMap<string, string>, out: string | undefined): ExportFiles {
  const isFolder =
    out?.endsWith("/") || (out !== undefined && existsSync(out) && statSync(out).isDirectory());
  return isFolder
    ? new Map([...files].map(([path, text]) => [join(out ?? "", path), text]))
    : new Map([[out ?? "", [...files.values()].join("\n")]]);
}

/** Writes all files or none: one that exists with other content is left alone. */
function writeFiles(files: ExportFiles, { args, dryRun }: ExportCall): string[] {
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
  // Reading a pipe would block until another process writes to it.
  if (!found.isFile()) throw wrongUsage(`"${path}" is not a regular file.`, "Give the name of a file.");
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
    describeWithheld(withheld, "  ") ||
      `  ${screen.knack} learn reads your agents' sessions; ${screen.knack} lessons lists what was learned.`,
  ]);
}

/** Lessons that only --all exports. */
function describeWithheld(withheld: number, indent = ""): string | false {
  const wait = withheld === 1 ? "waits" : "wait";
  return (
    withheld > 0 &&
    `${indent}${several(withheld, "lesson")} more ${wait} for a second session, or faded: --all exports those, too.`
  );
}

// --- Import ---

const importArgs = {
  path: arg.words("a bundle, a file or a folder of ECC's instincts; ecc: ECC's own folder on this machine"),
  scope: arg.option("import for project (this one) or global (default: as the file says)"),
  ...minConfidence,
  domain: arg.option("only lessons about this"),
  accept: arg.flag("accept the lessons after they were shown"),
  yes: arg.flag("with --accept: do not ask"),
  undo: arg.flag("undo the latest import"),
  ...arg.dryRun,
  ...arg.json,
};

type ImportCall = CommandCall<typeof importArgs>;
type PlannedImport = Awaited<ReturnType<Knack["planImport"]>>["things"][number];

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
        const { from, things, problems } = plan;
        if (!args.json) call.screen.print(describeImport(call, things, problems));
        if (!dryRun) await knack.carryIn(plan);
        const accepted = dryRun || !args.accept ? [] : await acceptLessons(call, knack, things);
        const json = things.map((thing) => ({ ...thing, files: filesJson(thing.files) }));
        return call.answer(
          { done: !dryRun, from, things: json, accepted, problems },
          describeNext(call, things, accepted.length),
          things.some(({ verdict }) => verdict === "refused") ? 1 : 0,
        );
      },
      { create: true },
    );
  },
});

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

const marks: Readonly<Record<PlannedImport["verdict"], string>> = {
  new: "+ new      ",
  changed: "~ changed  ",
  same: "= known    ",
  waiting: ". waiting  ",
  refused: "! refused  ",
  "left-out": "- left out ",
};

function describeImport(
  { screen }: ImportCall,
  things: readonly PlannedImport[],
  problems: readonly string[],
): Lines {
  const isLeftOut = ({ verdict }: PlannedImport) => verdict === "left-out";
  return [
    things
      .filter((thing) => !isLeftOut(thing))
      .map(({ kind, name, says, verdict, because, files, diff }) => [
        `${marks[verdict]} ${kind} ${oneLine(name, 60)}: ${oneLine(says, 100)}`,
        because !== null && screen.dim(`             ${oneLine(because, 200)}`),
        files.length > 0 && `             ${describeFiles(files)}`,
        diff !== "" && describeDiff(diff, screen),
      ]),
    // One by one they are in --json.
    countReasons(things.filter(isLeftOut)).map(
      ([because, count]) => `${marks["left-out"]} ${several(count, "lesson")}: ${oneLine(because, 200)}`,
    ),
    problems.map((problem) => `! unreadable ${oneLine(problem, 200)}`),
  ];
}

async function acceptLessons(
  { args }: ImportCall,
  knack: Knack,
  things: readonly PlannedImport[],
): Promise<string[]> {
  const ids = things.flatMap(({ kind, verdict, id }) =>
    kind === "lesson" && (verdict === "new" || verdict === "waiting") ? id : [],
  );
  if (ids.length === 0) return [];
  if (!args.yes && !canAsk())
    throw wrongUsage(
      "--accept needs a terminal to ask in; the lessons were imported and wait for your decision.",
      "Use --accept --yes, or accept them one by one: knack lessons accept <id>",
    );
  const isSure = args.yes || (await askYesNo(`Accept ${several(ids.length, "lesson")}?`, false));
  if (isSure !== true) return [];
  await knack.decideImports(ids, "accepted");
  return ids;
}

function describeNext(
  { screen: { knack }, dryRun }: ImportCall,
  things: readonly PlannedImport[],
  accepted: number,
): Lines {
  const taken = things.filter(({ verdict }) => verdict === "new" || verdict === "changed");
  const count = (kind: PlannedImport["kind"]) => taken.filter((thing) => thing.kind === kind).length;
  const kinds = ["lesson", "skill", "command", "agent"] as const;
  const what = joinParts(
    " and ",
    kinds.map((kind) => count(kind) > 0 && several(count(kind), kind)),
  );
  if (what === "" && accepted === 0) return ["Nothing new to import."];
  if (dryRun) return [`Would import ${what}, to wait for your decision. Nothing was imported (--dry-run).`];
  return [
    accepted > 0
      ? `Accepted ${several(accepted, "lesson")}.`
      : `Imported ${what}. Nothing takes effect until you accept it:`,
    count("lesson") > accepted && `  ${knack} lessons --imported, then ${knack} lessons accept <id>`,
    taken.length > count("lesson") && `  ${knack} skills accept <name>`,
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
