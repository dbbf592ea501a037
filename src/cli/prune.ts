import { KnackError } from "../core/errors.ts";
import type { Instinct } from "../core/instinct.ts";
import { policy } from "../core/policy.ts";
import { redact } from "../core/redact.ts";
import { several } from "../core/words.ts";
import { defineVerb, type Env } from "./main.ts";
import { changing } from "./opening.ts";
import { calledAs, day, iso, onOneLine, printJson, printLines } from "./terminal.ts";

export const prune = defineVerb({
  about: "Retire what was noticed once and never again. New evidence, or you, brings it back.",
  args: {
    "max-age": {
      type: "string",
      description: `days that a pending instinct waits (default: ${policy.learn.pendingDays})`,
    },
    undo: { type: "boolean", description: "bring back what was retired in the latest go" },
    "dry-run": { type: "boolean", description: "retire nothing; say what would be" },
    json: { type: "boolean", description: "print one JSON object" },
  },
  run: async ({ args, env }) => {
    const days = daysOf(args["max-age"]);
    const dryRun = args["dry-run"] === true;
    if (args.undo)
      return changing(env, { dryRun }, async (knack) => {
        const back = await knack.unprune();
        if (args.json) printJson({ done: !dryRun, restored: back.map(onWire) });
        else
          printLines([
            back.length === 0
              ? "There is nothing to bring back."
              : `${dryRun ? "Would bring" : "Brought"} ${several(back.length, "instinct")} back:`,
            ...back.map(line),
          ]);
        return 0;
      });
    return changing(env, { dryRun }, async (knack) => {
      const old = dryRun ? await knack.prunable(days) : await knack.prune(days);
      if (args.json) printJson({ done: !dryRun, days, retired: old.map(onWire) });
      else printLines(tell(old, { days, dryRun, env }));
      return 0;
    });
  },
});

function daysOf(text: string | undefined): number {
  if (text === undefined) return policy.learn.pendingDays;
  const days = Number(text);
  if (!/^\d+(?:\.\d+)?$/.test(text.trim()) || days > policy.learn.longestWait)
    throw new KnackError(
      "WRONG_USAGE",
      `--max-age needs a number of days up to ${policy.learn.longestWait}, not "${text}".`,
      {
        hint: "knack prune --max-age 30",
      },
    );
  return days;
}

function tell(
  old: readonly Instinct[],
  { days, dryRun, env }: { readonly days: number; readonly dryRun: boolean; readonly env: Env },
): string[] {
  if (old.length === 0) return [`Nothing has waited in vain for more than ${several(days, "day")}.`];
  return [
    `${dryRun ? "Would retire" : "Retired"} ${several(old.length, "instinct")} that waited for more than ${several(days, "day")}:`,
    ...old.map(line),
    ...(dryRun
      ? ["Nothing was retired (--dry-run)."]
      : [`To take it back: ${calledAs(env)} prune --undo, or ${calledAs(env)} instincts restore <id>`]),
  ];
}

function line({ id, lesson, standing }: Instinct): string {
  return `  ${id}  ${day(standing.lastAt)}  ${onOneLine(redact(lesson), 100)}`;
}

function onWire({ id, name, lesson, standing }: Instinct) {
  return { id, name, lesson: redact(lesson), lastAt: iso(standing.lastAt || null) };
}
