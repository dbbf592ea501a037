import type { Lesson } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { redact } from "../../trust/index.ts";
import { defineCommand, dryRunArg, jsonArg, wrongUsage } from "../command.ts";
import { changeKnack } from "../knack.ts";
import { formatDay, iso, oneLine } from "../screen/text.ts";

/** Days that a pending lesson waits for a second session, by default and at most. */
const defaultDays = 30;
const mostDays = 36_500;

export const prune = defineCommand({
  about: "Retire lessons that were seen once and never again. New evidence, or you, can bring them back.",
  args: {
    "max-age": {
      type: "string",
      description: `retire pending lessons without new evidence for this many days (default: ${defaultDays})`,
    },
    undo: { type: "boolean", description: "restore what the latest prune retired" },
    ...dryRunArg,
    ...jsonArg,
  },
  run: async (call) => {
    const { args, screen, dryRun } = call;
    const days = parseDays(args["max-age"]);
    return changeKnack(call, async (knack) => {
      if (args.undo) {
        const restored = await knack.unprune();
        return call.answer({ done: !dryRun, restored: restored.map(prunedJson) }, [
          restored.length === 0
            ? "Nothing to restore."
            : `${dryRun ? "Would restore" : "Restored"} ${several(restored.length, "lesson")}:`,
          ...restored.map(describeLesson),
        ]);
      }
      const retired = dryRun ? await knack.prunable(days) : await knack.prune(days);
      return call.answer(
        { done: !dryRun, days, retired: retired.map(prunedJson) },
        retired.length === 0
          ? ["Nothing to prune."]
          : [
              `${dryRun ? "Would retire" : "Retired"} ${several(retired.length, "lesson")} without new evidence for more than ${several(days, "day")}:`,
              ...retired.map(describeLesson),
              dryRun
                ? "Nothing was retired (--dry-run)."
                : `To undo: ${screen.knack} prune --undo, or ${screen.knack} lessons restore <id>`,
            ],
      );
    });
  },
});

function parseDays(text: string | undefined): number {
  if (text === undefined) return defaultDays;
  const days = Number(text);
  if (!/^\d+(?:\.\d+)?$/.test(text.trim()) || days > mostDays)
    throw wrongUsage(`Invalid --max-age "${text}".`, `Use a number of days up to ${mostDays}: --max-age 30`);
  return days;
}

function describeLesson({ id, lesson, state }: Lesson): string {
  return `  ${id}  ${formatDay(state.lastAt)}  ${oneLine(lesson, 100)}`;
}

function prunedJson({ id, name, lesson, state }: Lesson) {
  return { id, name, lesson: redact(lesson), lastAt: iso(state.lastAt || null) };
}
