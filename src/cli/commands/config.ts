import { existsSync } from "node:fs";
import {
  describeIgnored,
  parseKey,
  projectConfig,
  readSettingsFile,
  resolveHome,
  resolveSettings,
  settingKeys,
  writeSetting,
} from "../../settings/index.ts";
import { findCheckout } from "../../transcripts/index.ts";
import { arg, defineCommand, wrongUsage } from "../command.ts";
import { changeKnack } from "../knack.ts";

export const config = defineCommand({
  about: "Show and change settings: yours; a project's can only switch learn and show off.",
  args: {
    words: arg.words("get [key], set <key> <value>, or path"),
    project: arg.flag("the settings of the project in this folder: learn, show"),
    ...arg.json,
    ...arg.dryRun,
  },
  more: [
    "Examples:",
    "  knack config get",
    "  knack config set suggestions 3",
    "  knack config set learn false --project",
  ],
  run: async (call) => {
    const { args, env, dryRun } = call;
    const home = resolveHome(env);
    const root = findCheckout(process.cwd())?.root ?? process.cwd();
    const project = args.project ? root : null;
    const path = project === null ? home.config : projectConfig(project);
    const [action = "get", key, value, ...more] = args._;
    const usage = wrongUsage(
      `Invalid arguments for knack config: "${args._.join(" ")}".`,
      "knack config get [key], knack config set <key> <value> [--project], or knack config path",
    );
    if (more.length > 0 || (action !== "set" && value !== undefined) || (action === "path" && key))
      throw usage;
    switch (action) {
      case "path":
        return call.answer({ path }, [path]);
      case "get": {
        const all = project === null ? resolveSettings(home, root, root) : readSettingsFile(home, project);
        const one = key === undefined ? null : parseKey(key);
        const shown = one === null ? settingKeys : [one];
        call.screen.warn([describeIgnored(root)]);
        return call.answer(
          Object.fromEntries(shown.map((name) => [name, all[name] ?? null])),
          one !== null
            ? [String(all[one] ?? "")]
            : shown.flatMap((name) =>
                all[name] === undefined ? [] : [`${name} = ${JSON.stringify(all[name])}`],
              ),
        );
      }
      case "set": {
        if (key === undefined || value === undefined) throw usage;
        const written = writeSetting(home, project, key, value, dryRun);
        // Takes effect at once, also for the hooks.
        if (existsSync(home.snapshot)) await changeKnack(call, async () => {});
        return call.answer({ path: written.path, [key]: written.value }, [
          `${key} = ${JSON.stringify(written.value)} in ${written.path}${dryRun ? " (not written: --dry-run)" : ""}`,
        ]);
      }
      default:
        throw usage;
    }
  },
});
