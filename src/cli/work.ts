import { isDisabled } from "../config.ts";
import { several } from "../core/words.ts";
import { createThreadRedactor } from "../redaction/thread.ts";
import { work as workOnce } from "../worker/work.ts";
import { defineVerb } from "./main.ts";
import { printJson, printLines } from "./terminal.ts";

export const work = defineVerb({
  about: "Look at what the hooks handed over, and end. Hooks start it by themselves.",
  args: { json: { type: "boolean", description: "print one JSON object" } },
  run: async ({ args, env, redactionThread }) => {
    if (isDisabled(env)) {
      if (args.json) printJson({ off: "KNACK_DISABLE is set" });
      else printLines(["Knack is off: KNACK_DISABLE is set."]);
      return 0;
    }
    const worked = await workOnce({ env, redactor: createThreadRedactor(redactionThread) });
    if (args.json) printJson(worked);
    else if (worked.busy) printLines(["Another worker is at it."]);
    else
      printLines([
        `Handled ${several(worked.notes, "note")}: looked through ${several(worked.sessions, "session")}, ${several(worked.lessons, "lesson")} in them, ${several(worked.drafts, "draft")} written, ${several(worked.reviews, "review")}.`,
      ]);
    return 0;
  },
});
