import { existsSync } from "node:fs";
import { homeOf, projectConfig } from "../config.ts";
import { KnackError } from "../core/errors.ts";
import { type Key, keys, set, settingsFor, settingsIn, unknownKey } from "../settings.ts";
import { createCheckouts } from "../sources/checkouts.ts";
import { defineVerb } from "./main.ts";
import { changing } from "./opening.ts";
import { printJson, printLines } from "./terminal.ts";

export const config = defineVerb({
  about:
    "Your settings, and a project's, which go first: learn, show, suggestions, prefix, foreground, observer, model.",
  args: {
    words: {
      type: "positional",
      required: false,
      description: "get [key], set <key> <value>, or path",
    },
    project: { type: "boolean", description: "the settings of the project in this folder" },
    json: { type: "boolean", description: "print one JSON object" },
    "dry-run": { type: "boolean", description: "with set: only say what would be written" },
  },
  run: async ({ args, env }) => {
    const home = homeOf(env);
    const root = (await createCheckouts().of(process.cwd()))?.root ?? process.cwd();
    const own = args.project ? root : null;
    const path = own === null ? home.config : projectConfig(own);
    const [action = "get", key, value, ...more] = args._;
    if (more.length > 0 || (action !== "set" && value !== undefined) || (action === "path" && key))
      throw usage(args._.join(" "));
    switch (action) {
      case "path":
        args.json ? printJson({ path }) : printLines([path]);
        return 0;
      case "get": {
        if (key !== undefined && !keys.includes(key as Key)) throw unknownKey(key);
        const all = own === null ? settingsFor(home, root, root) : settingsIn(home, own);
        const meant = key === undefined ? keys : [key as Key];
        if (args.json) printJson(Object.fromEntries(meant.map((one) => [one, all[one] ?? null])));
        else if (key !== undefined) printLines([String(all[key as Key] ?? "")]);
        else
          printLines(
            meant.flatMap((one) => (all[one] === undefined ? [] : [`${one} = ${JSON.stringify(all[one])}`])),
          );
        return 0;
      }
      case "set": {
        if (key === undefined || value === undefined) throw usage(args._.join(" "));
        const dryRun = args["dry-run"] === true;
        const written = set(home, own, key, value, dryRun);
        // Holds at once, also for the hooks.
        if (existsSync(home.snapshot)) await changing(env, { dryRun }, async () => {});
        if (args.json) printJson({ path: written.path, [key]: written.value });
        else
          printLines([
            `${key} = ${JSON.stringify(written.value)} in ${written.path}${args["dry-run"] ? " (not written: --dry-run)" : ""}`,
          ]);
        return 0;
      }
      default:
        throw usage(args._.join(" "));
    }
  },
});

function usage(words: string): KnackError {
  return new KnackError("WRONG_USAGE", `knack config does not understand "${words}".`, {
    hint: "knack config get [key], knack config set <key> <value> [--project], or knack config path",
  });
}
