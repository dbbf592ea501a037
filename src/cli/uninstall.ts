import { existsSync } from "node:fs";
import { planUninstall, uninstall as uninstallClaude } from "../agents/claude-uninstall.ts";
import { homeOf } from "../config.ts";
import { installDeps } from "../install.ts";
import { projectFolder, refuseOthers, tellActs } from "./install.ts";
import { defineVerb } from "./main.ts";
import { calledAs, printJson, printLines, quoted, short } from "./terminal.ts";

export const uninstall = defineVerb({
  about: "Take Knack out of an agent, and leave every file as it was. What was learned stays.",
  args: {
    agent: { type: "positional", required: false, description: "claude" },
    project: { type: "boolean", description: "what was installed for this repository" },
    "dry-run": { type: "boolean", description: "change nothing; say what would be" },
    json: { type: "boolean", description: "print one JSON object" },
  },
  run: async ({ args, env, program }) => {
    refuseOthers("uninstall", args._);
    const project = args.project ? projectFolder(process.cwd()) : null;
    const dryRun = args["dry-run"] === true;
    const { acts, remaining } = await (dryRun ? planUninstall : uninstallClaude)(
      installDeps(env, program),
      project,
    );
    const { folder, database } = homeOf(env);
    const kept = existsSync(database) ? folder : null;
    if (args.json) {
      printJson({
        agent: "claude",
        project,
        dry_run: dryRun,
        changed: !dryRun && acts.length > 0,
        acts,
        remaining,
        kept,
      });
      return 0;
    }
    const where = project === null ? "Claude Code" : `Claude Code in ${short(project, env)}`;
    printLines(
      acts.length === 0
        ? [`Knack is not installed in ${where}; nothing was changed.`]
        : [
            `${dryRun ? "Would take" : "Took"} Knack out of ${where}:`,
            ...tellActs(acts, env),
            ...(dryRun
              ? ["Nothing was changed (--dry-run)."]
              : [
                  "Sessions that are open go on; until they are started anew they may complain that a hook is missing.",
                ]),
          ],
    );
    if (remaining.length > 0)
      printLines(["It is still installed by:", ...remaining.map((path) => `  ${short(path, env)}`)]);
    if (kept !== null)
      printLines([
        "What was learned stays:",
        `  skills and rules:  ${calledAs(env)} skills list, and ${calledAs(env)} skills undo <name> for each`,
        `  everything else:   ${short(kept, env)} (to remove it: rm -r ${quoted(kept)})`,
      ]);
    return 0;
  },
});
