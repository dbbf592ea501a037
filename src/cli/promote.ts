import { KnackError } from "../core/errors.ts";
import { isTold } from "../core/instinct.ts";
import type { Shared } from "../core/promote.ts";
import { redact } from "../core/redact.ts";
import type { Knack } from "../open.ts";
import { gaps } from "./gaps.ts";
import { type Call, defineVerb } from "./main.ts";
import { named } from "./named.ts";
import { changing, withKnack } from "./opening.ts";
import { calledAs, onOneLine, paintFor, printJson, printLines, table } from "./terminal.ts";

const args = {
  words: {
    type: "positional",
    required: false,
    description: "nothing: list what several projects have; instinct <id> or gap <id>: promote it by hand",
  },
  undo: { type: "string", description: "tell this one only where it was learned again" },
  "dry-run": { type: "boolean", description: "note nothing; say what would be" },
  json: { type: "boolean", description: "print one JSON object" },
} as const;

type PromoteCall = Call<typeof args>;

export const promote = defineVerb({
  about:
    "What several projects have learned is told in all of them. That happens by itself at the end of learning; here is what, and why not.",
  args,
  run: async (call) => {
    const [kind, id, ...more] = call.args._;
    if (call.args.undo !== undefined && kind === undefined) return takeBack(call, call.args.undo);
    if (kind === undefined) return list(call);
    if (id !== undefined && more.length === 0) {
      if (kind === "instinct") return byHand(call, id);
      if (kind === "gap") return gaps.run({ ...call, args: { ...call.args, _: ["promote", id] } as never });
    }
    throw new KnackError("WRONG_USAGE", `knack promote takes no "${call.args._.join(" ")}".`, {
      hint: "knack promote, knack promote instinct <id>, knack promote gap <id>, knack promote --undo <id>",
    });
  },
});

async function list({ args, env }: PromoteCall): Promise<number> {
  return withKnack(env, {}, async (knack) => {
    const shared = await knack.sharedLessons();
    const names = await namesOf(knack);
    if (args.json) {
      printJson({ lessons: shared.map((one) => sharedOnWire(one, names)) });
      return 0;
    }
    const paint = paintFor(process.stdout, env);
    const [head = "", ...rows] = table([
      ["id", "projects", "sure", "told", "lesson"],
      ...shared.map(({ lesson, projects, mean, promoted }) => [
        lesson.id,
        onOneLine(projects.map((id) => names.get(id) ?? id).join(", "), 40),
        mean.toFixed(2),
        promoted ? "everywhere" : "where learned",
        onOneLine(redact(lesson.lesson), 80),
      ]),
    ]);
    const reasons = shared.map(({ verdict }) => (promises(verdict) ? `  ${promises(verdict)}` : null));
    printLines(
      shared.length === 0
        ? ["No lesson was learned in more than one project yet."]
        : [
            paint.dim(head),
            ...rows.flatMap((row, at) => [row, ...(reasons[at] ? [paint.dim(reasons[at] ?? "")] : [])]),
            "",
            `By hand: ${calledAs(env)} promote instinct <id>. Take it back: ${calledAs(env)} promote --undo <id>`,
          ],
    );
    return 0;
  });
}

/** What a verdict means, for a person; nothing where the row says it. */
function promises(verdict: Shared["verdict"]): string | null {
  switch (verdict.do) {
    case "promote":
    case "join":
      return "is told everywhere from the next time that something is learned";
    case "hold":
      return `is taken back when something is learned next: ${verdict.because}`;
    case "nothing":
      return verdict.because.startsWith("it is told") ? null : `not promoted: ${verdict.because}`;
  }
}

async function byHand(call: PromoteCall, word: string): Promise<number> {
  const dryRun = call.args["dry-run"] === true;
  return changing(call.env, { dryRun }, async (knack) => {
    const lesson = await meant(knack, word);
    const shared = await knack.sharedBy(lesson);
    if (lesson.standing.status === "rejected")
      return refuse(call, `${lesson.name} was refused`, `${calledAs(call.env)} skills unskip ${lesson.name}`);
    if (isTold(lesson)) return refuse(call, `${lesson.name} is told everywhere already`, null);
    if (!dryRun) await knack.promote(shared, lesson);
    const names = await namesOf(knack);
    if (call.args.json) printJson({ done: !dryRun, lesson: sharedOnWire({ ...shared, lesson }, names) });
    else
      printLines([
        `${lesson.name} ${dryRun ? "would be" : "is"} told in every project.`,
        ...(shared.verdict.do === "nothing" ? [`You say so, though ${shared.verdict.because}.`] : []),
        ...(dryRun
          ? ["Nothing was noted (--dry-run)."]
          : [`To take it back: ${calledAs(call.env)} promote --undo ${lesson.id}`]),
      ]);
    return 0;
  });
}

async function takeBack(call: PromoteCall, word: string): Promise<number> {
  const dryRun = call.args["dry-run"] === true;
  return changing(call.env, { dryRun }, async (knack) => {
    const lesson = await meant(knack, word);
    if (lesson.standing.promotion?.lesson == null)
      return refuse(call, `${lesson.name} was not promoted`, `${calledAs(call.env)} promote lists what was`);
    if (!dryRun) await knack.demote(lesson);
    if (call.args.json) printJson({ done: !dryRun, lesson: { id: lesson.id, name: lesson.name } });
    else
      printLines([
        `${lesson.name} ${dryRun ? "would be" : "is"} told only where it was learned, and not promoted again by itself.`,
      ]);
    return 0;
  });
}

async function meant(knack: Knack, word: string) {
  const { instinct } = await named(knack, word);
  if (!instinct)
    throw new KnackError("UNKNOWN_NAME", `No instinct is called "${word}".`, {
      hint: "knack instincts lists them.",
    });
  return instinct;
}

function refuse({ args }: PromoteCall, because: string, hint: string | null): number {
  if (args.json) printJson({ done: false, because });
  else printLines([`Not done: ${because}.`, ...(hint === null ? [] : [`  ${hint}`])], process.stderr);
  return 1;
}

async function namesOf(knack: Knack): Promise<Map<string, string>> {
  return new Map((await knack.projects()).map(({ id, name }) => [id, redact(name)]));
}

function sharedOnWire(
  { lesson, members, projects, mean, promoted, verdict }: Shared,
  names: ReadonlyMap<string, string>,
) {
  return {
    id: lesson.id,
    name: lesson.name,
    lesson: redact(lesson.lesson),
    members: members.map(({ id }) => id),
    projects: projects.map((id) => ({ id: redact(id), name: names.get(id) ?? redact(id) })),
    mean,
    promoted,
    next: verdict.do,
    because: "because" in verdict ? verdict.because : null,
  };
}
