import { openKnack } from "../open.ts";
import { createThreadRedactor } from "../redaction/thread.ts";
import { defineVerb } from "./main.ts";
import { progressOn } from "./terminal.ts";

export const learn = defineVerb({
  about: "Find what is worth keeping in sessions, and keep it.",
  args: {
    paths: {
      type: "positional",
      required: false,
      description: "files and folders to learn from (default: the agents' own folders)",
    },
    json: { type: "boolean", description: "print one JSON object" },
    "dry-run": { type: "boolean", description: "keep nothing" },
  },
  run: async ({ args, env, redactionThread }) => {
    const knack = await openKnack({ env, redactor: createThreadRedactor(redactionThread), dryRun: true });
    const progress = progressOn(process.stderr);
    try {
      const learned = await knack.look(args._.length > 0 ? args._ : undefined, {
        onProgress: progress.report,
      });
      progress.end();
      const findings = learned.flatMap(({ session, findings }) =>
        findings.map(({ keys, ...rest }) => ({ session: session.path, events: keys, ...rest })),
      );
      process.stdout.write(`${JSON.stringify({ sessions: learned.length, findings }, null, 2)}\n`);
      return 0;
    } finally {
      await knack.close();
    }
  },
});
