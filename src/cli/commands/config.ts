import { existsSync } from "node:fs";
import {
  describeIgnored,
  describeSetting,
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
import { findNearest } from "../nearest.ts";
import type { Screen } from "../screen/screen.ts";
import { alignColumns, wrapColumn } from "../screen/text.ts";

const actions = ["get", "set", "path"] as const;

export const config = defineCommand({
  about: "Show and change settings: yours; a project's can only switch learn and show off.",
  args: {
    words: arg.words(
      "a setting, get [setting], set <setting> <value>, or path; without words: every setting with its meaning",
    ),
    project: arg.flag("the settings of the project in this folder: learn, show"),
    ...arg.json,
    ...arg.dryRun,
  },
  completes: [[...actions, ...settingKeys], settingKeys],
  run: async (call) => {
    const { args, env, dryRun } = call;
    const home = resolveHome(env);
    const root = findCheckout(process.cwd())?.root ?? process.cwd();
    const project = args.project ? root : null;
    const path = project === null ? home.config : projectConfig(project);
    const [action = "list", key, value, ...more] = args._;
    const usage = wrongUsage(
      `Invalid arguments for knack config: "${args._.join(" ")}".`,
      "knack config <setting>, knack config get [setting], knack config set <setting> <value> [--project], or knack config path",
    );
    if (
      more.length > 0 ||
      (action !== "set" && value !== undefined) ||
      (/^(?:path|list)$/.test(action) && key)
    )
      throw usage;
    switch (action) {
      case "list": {
        const all = project === null ? resolveSettings(home, root, root) : readSettingsFile(home, project);
        const shown = settingKeys.filter((name) => all[name] !== undefined);
        call.screen.warn([describeIgnored(root)]);
        const rows = shown.map(
          (name) => [name, JSON.stringify(all[name]), describeSetting(name).about] as const,
        );
        return call.answer(
          Object.fromEntries(shown.map((name) => [name, { value: all[name], ...describeSetting(name) }])),
          [
            rows.length === 0
              ? `Nothing is set for this project: ${call.screen.path(path)}`
              : listSettings(rows, call.screen),
            "",
            `What a setting may be: ${call.screen.knack} config <setting>. To change it: ${call.screen.knack} config set <setting> <value>`,
          ],
        );
      }
      case "path":
        return call.answer({ path }, [path]);
      case "get": {
        const all = project === null ? resolveSettings(home, root, root) : readSettingsFile(home, project);
        const one = key === undefined ? null : readKey(key);
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
        const written = writeSetting(home, project, readKey(key), value, dryRun);
        // Takes effect at once, also for the hooks.
        if (existsSync(home.snapshot)) await changeKnack(call, async () => {});
        return call.answer({ path: written.path, [key]: written.value }, [
          `${key} = ${JSON.stringify(written.value)} in ${written.path}${dryRun ? " (not written: --dry-run)" : ""}`,
          ...(key === "duties" ? (afterDuties.get(String(written.value)) ?? []) : []),
        ]);
      }
      default: {
        if (key !== undefined) throw usage;
        const name = readKey(action, actions);
        const all = project === null ? resolveSettings(home, root, root) : readSettingsFile(home, project);
        const { about, values } = describeSetting(name);
        const value = all[name] ?? null;
        call.screen.warn([describeIgnored(root)]);
        return call.answer({ [name]: { value, about, values } }, [
          `${name} = ${JSON.stringify(value)}`,
          `  ${about}`,
          `  May be: ${values}`,
          `  To change it: ${call.screen.knack} config set ${name} <value>`,
        ]);
      }
    }
  },
});

const needsHooks =
  "It works in agents that have Knack's hooks: knack install. What it is about: knack goal --help";

/** What turning duties on comes to. */
const afterDuties: ReadonlyMap<string, readonly string[]> = new Map([
  [
    "say",
    ["When an agent's work taught something and nothing of it was kept, you are told once.", needsHooks],
  ],
  [
    "block",
    [
      "When an agent's work taught something, the end of its turn is held once, with the command that keeps it.",
      needsHooks,
    ],
  ],
]);

/** Settings below a head; a meaning that is too long for the terminal goes on below itself. */
function listSettings(rows: readonly (readonly [string, string, string])[], screen: Screen): string[] {
  const head = ["setting", "value"];
  const [first = "", ...labels] = alignColumns([head, ...rows.map((row) => row.slice(0, 2))], {
    keepWidth: true,
  });
  return [
    screen.dim(`${first}  meaning`),
    ...rows.map(([, , meaning], at) => wrapColumn(`${labels[at]}  `, meaning, screen.columns)),
  ];
}

/** A setting by its name; for one mistyped, the nearest, or the action that was meant. */
function readKey(name: string, others: readonly string[] = []): (typeof settingKeys)[number] {
  const key = settingKeys.find((one) => one === name);
  if (key !== undefined) return key;
  const nearest = findNearest(name, [...others, ...settingKeys]);
  const meant = nearest === null ? "" : `Did you mean ${nearest}? `;
  throw wrongUsage(`There is no setting "${name}".`, `${meant}knack config lists the settings.`);
}
