import { existsSync } from "node:fs";
import { join } from "node:path";
import { userHome } from "../config.ts";
import { KnackError } from "../core/errors.ts";
import { kindOf } from "../core/imported.ts";
import { redact } from "../core/redact.ts";
import { several } from "../core/words.ts";
import type { ImportedThing, ImportVerdict } from "../engine/exchange.ts";
import type { Knack } from "../open.ts";
import { ask, canAsk } from "./keep.ts";
import { type Call, defineVerb, type Env } from "./main.ts";
import { changing } from "./opening.ts";
import { confidenceOf, oneOf, selecting } from "./selection.ts";
import { tellDiff, tellFiles } from "./telling.ts";
import { calledAs, onOneLine, paintFor, printJson, printLines } from "./terminal.ts";

const args = {
  path: {
    type: "positional",
    required: false,
    description: "a bundle, a file or a folder of ECC's instincts; ecc: ECC's own folder on this machine",
  },
  ...selecting,
  scope: {
    type: "string",
    description: "whose they are to be: project (this one) or global; by default what they say",
  },
  domain: { type: "string", description: "only lessons that are said to be about this" },
  accept: { type: "boolean", description: "accept the lessons after they were shown" },
  yes: { type: "boolean", description: "with --accept: do not ask" },
  undo: { type: "boolean", description: "take back what came in the latest import" },
  "dry-run": { type: "boolean", description: "take nothing in; say what would be" },
  json: { type: "boolean", description: "print one JSON object" },
} as const;

type ImportCall = Call<typeof args>;

export const importing = defineVerb({
  about: "Take in what others learned. Nothing of it is told to an agent, or counted, before you accept it.",
  args,
  run: async (call) => {
    const [word, ...more] = call.args._;
    const dryRun = call.args["dry-run"] === true;
    if (call.args.undo && word === undefined)
      return changing(call.env, { dryRun }, (knack) => takeBack(call, knack));
    if (word === undefined || more.length > 0 || call.args.undo)
      throw new KnackError("WRONG_USAGE", "knack import takes one file or folder.", {
        hint: "knack import lessons.md, knack import bundle.json, knack import ecc, knack import --undo",
      });
    const options = {
      scope: oneOf("scope", call.args.scope, ["project", "global"]),
      minConf: confidenceOf(call.args["min-conf"]),
      domain: call.args.domain ?? null,
    };
    const path = word === "ecc" && !existsSync(word) ? eccFolder(call.env) : word;
    return changing(call.env, { dryRun, make: true }, async (knack) => {
      const plan = await knack.planImport(path, options);
      show(call, plan.things, plan.problems);
      if (!dryRun) await knack.carryIn(plan);
      const accepted = dryRun || !call.args.accept ? [] : await accept(call, knack, plan.things);
      if (call.args.json)
        printJson({
          done: !dryRun,
          from: plan.from,
          things: plan.things.map(onWire),
          accepted,
          problems: plan.problems,
        });
      else printLines(outlook(call, plan.things, accepted.length));
      return plan.things.some(({ verdict }) => verdict === "refused") ? 1 : 0;
    });
  },
});

/** A lesson is all in what it says; of anything else the files are told, and all that they change. */
function onWire({ files, diff, ...thing }: ImportedThing) {
  return thing.kind === "lesson" ? thing : { ...thing, files, diff: redact(diff) };
}

/** Where ECC keeps its instincts. */
function eccFolder(env: Env): string {
  const data = env.XDG_DATA_HOME || join(userHome(env), ".local/share");
  const places = [
    env.CLV2_HOMUNCULUS_DIR ?? "",
    join(data, "ecc-homunculus"),
    join(userHome(env), ".claude/homunculus"),
  ];
  const found = places.find((place) => place !== "" && existsSync(place));
  if (found === undefined)
    throw new KnackError("NOTHING_READABLE", "ECC keeps nothing on this machine.", {
      hint: "Name its folder: knack import <folder>, or set CLV2_HOMUNCULUS_DIR.",
    });
  return found;
}

const marks: Readonly<Record<ImportVerdict, string>> = {
  new: "+ new      ",
  changed: "~ changed  ",
  same: "= known    ",
  waiting: ". waiting  ",
  refused: "! refused  ",
  "left-out": "- left out ",
};

function show(
  { args, env }: ImportCall,
  things: readonly ImportedThing[],
  problems: readonly string[],
): void {
  if (args.json) return;
  const paint = paintFor(process.stdout, env);
  printLines([
    ...things.flatMap(({ kind, name, says, verdict, because, files, diff }) =>
      verdict === "left-out"
        ? []
        : [
            `${marks[verdict]} ${kind} ${onOneLine(name, 60)}: ${onOneLine(says, 100)}`,
            ...(because === null ? [] : [paint.dim(`             ${onOneLine(because, 200)}`)]),
            ...(files.length === 0 ? [] : [`             ${tellFiles(files)}`]),
            ...(diff === "" ? [] : tellDiff(diff, paint)),
          ],
    ),
    ...leftOut(things).flatMap(({ because, count }) => [
      `${marks["left-out"]} ${several(count, "lesson")}: ${onOneLine(because, 200)}`,
    ]),
    ...problems.map((problem) => `! unreadable ${onOneLine(problem, 200)}`),
  ]);
}

/** What was left out, by the reason; one by one it is told with --json. */
function leftOut(things: readonly ImportedThing[]): { because: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const { verdict, because } of things)
    if (verdict === "left-out") counts.set(because ?? "", (counts.get(because ?? "") ?? 0) + 1);
  return [...counts].map(([because, count]) => ({ because, count })).sort((a, b) => b.count - a.count);
}

/** A person's yes to the lessons that they have just been shown. */
async function accept(
  { args }: ImportCall,
  knack: Knack,
  things: readonly ImportedThing[],
): Promise<string[]> {
  const ids = things.flatMap(({ kind, verdict, id }) =>
    kind === "lesson" && (verdict === "new" || verdict === "waiting") ? id : [],
  );
  if (ids.length === 0) return [];
  if (!args.yes) {
    if (!canAsk())
      throw new KnackError("WRONG_USAGE", "There is nobody to ask; what came in waits.", {
        hint: "Say --accept --yes, or accept one by one: knack instincts accept <id>",
      });
    const answer = await ask(`Accept ${several(ids.length, "lesson")}? [y/N] `);
    if (answer?.trim().toLowerCase() !== "y") return [];
  }
  await knack.decideImports(ids, "accepted");
  return ids;
}

function outlook({ args, env }: ImportCall, things: readonly ImportedThing[], accepted: number): string[] {
  const taken = things.filter(({ verdict }) => verdict === "new" || verdict === "changed");
  const lessons = taken.filter(({ kind }) => kind === "lesson");
  const skills = taken.filter(({ kind }) => kind !== "lesson");
  const dryRun = args["dry-run"] === true;
  const what = (["lesson", "skill", "command", "agent"] as const)
    .flatMap((kind) => {
      const count = taken.filter((thing) => thing.kind === kind).length;
      return count > 0 ? several(count, kind) : [];
    })
    .join(" and ");
  if (what === "" && accepted === 0) return ["Nothing new came in."];
  if (dryRun) return [`${what} would wait for your yes. Nothing was taken in (--dry-run).`];
  const called = calledAs(env);
  return [
    accepted > 0
      ? `${several(accepted, "lesson")} accepted.`
      : `${what} came in, and wait for your yes: no agent is told of them.`,
    ...(lessons.length > accepted
      ? [`  ${called} instincts --imported, then ${called} instincts accept <id>`]
      : []),
    ...(skills.length > 0 ? [`  ${called} skills accept <name>`] : []),
    `To take it back: ${called} import --undo`,
  ];
}

async function takeBack({ args, env }: ImportCall, knack: Knack): Promise<number> {
  const back = await knack.withdrawImport();
  const dryRun = args["dry-run"] === true;
  const [first] = back;
  if (!first) {
    const because = "nothing that came from elsewhere can be taken back";
    if (args.json) printJson({ done: false, withdrawn: [], because });
    else
      printLines(
        [
          `Not done: ${because}.`,
          `  ${calledAs(env)} instincts --imported --all lists what came; a skill that is live goes with ${calledAs(env)} skills undo`,
        ],
        process.stderr,
      );
    return 1;
  }
  if (args.json)
    printJson({ done: !dryRun, withdrawn: back.map((one) => ({ id: one.id, kind: kindOf(one) })) });
  else
    printLines([
      `${dryRun ? "Would take" : "Took"} back ${several(back.length, "thing")} that came from ${first.from}.`,
    ]);
  return 0;
}
