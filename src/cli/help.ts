import type { ArgDef } from "citty";
import { type CatalogEntry, type CatalogSection, sections } from "./catalog.ts";
import { type Command, nameOption } from "./command.ts";
import { wrapColumn } from "./screen/text.ts";
import { version } from "./version.ts";

/** How wide help is where the output is no terminal. */
const plainWidth = 100;

/** Lists commands by subject, or the commands of one. */
export async function renderOverview(
  columns: number | undefined,
  knack = "knack",
  only?: CatalogSection,
): Promise<string> {
  const width = columns ?? plainWidth;
  const parts: string[] = [];
  for (const section of only ? [only] : sections)
    parts.push([`${section.title}:`, ...(await listCommands(section, width))].join("\n"));
  const head = wrapColumn(
    "",
    `Knack ${version} learns from your coding agents' sessions, so that they stop repeating mistakes.`,
    width,
  );
  const foot = wrapColumn(
    "",
    `${knack === "knack" ? "" : `Here, type ${knack} in place of knack. `}knack alone does the same as knack learn. Options and examples of a command: knack <command> --help`,
    width,
  );
  return `${[...(only ? [] : [head]), ...parts, foot].join("\n\n")}\n`;
}

async function listCommands({ commands }: CatalogSection, width: number): Promise<string[]> {
  const names = sections.flatMap((one) => Object.keys(one.commands));
  const longest = Math.max(...names.map((name) => name.length));
  const lines = Object.entries(commands).map(async ([name, { load }]) =>
    wrapColumn(`  knack ${name.padEnd(longest)}  `, firstSentence(await load()), width),
  );
  return Promise.all(lines);
}

function firstSentence({ about }: Command): string {
  return about.split(/(?<=\.) /)[0] ?? about;
}

/** Describes one command: its purpose, how to call it, examples, and its options. */
export function renderHelp(
  name: string,
  { about, args, more = [] }: Command,
  { examples }: CatalogEntry,
  columns: number | undefined,
): string {
  const width = columns ?? plainWidth;
  const all = Object.entries(args);
  const words = all.filter(([, { type }]) => type === "positional");
  const options = all.filter(([, { type }]) => type !== "positional");
  const label = (key: string, arg: ArgDef) =>
    arg.type === "positional" ? `[${key}]` : describeOption(key, arg);
  const longest = Math.max(...all.map(([key, arg]) => label(key, arg).length));
  const list = (title: string, some: typeof all) =>
    some.length === 0
      ? []
      : [
          `${title}:`,
          ...some.map(([key, arg]) =>
            wrapColumn(`  ${label(key, arg).padEnd(longest)}  `, arg.description ?? "", width),
          ),
          "",
        ];
  const usage = [`knack ${name}`, ...words.map(([key]) => `[${key}]`), options.length > 0 ? "[options]" : ""];
  const lines = [
    wrapColumn("", about, width),
    "",
    `Usage: ${usage.join(" ").trimEnd()}`,
    "",
    ...(examples.length > 0 ? ["Examples:", ...examples.map((line) => `  ${line}`), ""] : []),
    ...list("Arguments", words),
    ...list("Options", options),
    ...more,
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

function describeOption(key: string, arg: ArgDef): string {
  const short = "alias" in arg && arg.alias ? `-${[arg.alias].flat().join(", -")}, ` : "";
  return `${short}${nameOption(key, arg)}${arg.type === "string" ? ` <${arg.valueHint ?? key}>` : ""}`;
}
