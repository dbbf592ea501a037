import type { Instinct } from "../core/instinct.ts";
import type { Learned } from "../engine/learn.ts";
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
      const paths = args._.length > 0 ? args._ : undefined;
      const learned = await knack.learn(paths, { onProgress: progress.report });
      progress.end();
      const instincts = await knack.instincts();
      process.stdout.write(`${JSON.stringify(onWire(learned, instincts), null, 2)}\n`);
      return 0;
    } finally {
      await knack.close();
    }
  },
});

function onWire({ sessions, findings, skipped }: Learned, instincts: readonly Instinct[]) {
  return {
    sessions: sessions.length,
    findings: findings.map(({ finding: { keys, ...rest }, session, instinct }) => ({
      session,
      instinct,
      events: keys,
      ...rest,
    })),
    instincts,
    skipped,
  };
}
