// Writes docs/duties.md from the tables that the checks go by: node scripts/duties.mjs
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { loadTypeScript } from "./typescript.mjs";

/** The page about goals and duties, from the table of duties and the table of verbs. */
export function renderDuties({ duties, verbs }) {
  return `${[
    "# Goals and duties",
    "",
    "A goal is one thing worked on: a stretch of one session. A duty is a check over recorded facts: no model is asked, no prose is read, and no counter is stored. Nothing ends without a recorded lesson or a proven reason for none.",
    "",
    "```sh",
    "knack config set duties say     # tell what a goal owes when it ends",
    "knack config set duties block   # hold the end of a turn, once for a goal",
    "knack config set duties off     # the default: no goals are opened",
    "```",
    "",
    'For one project, by you and never by a repository: `"projects": {"<id or folder>": {"duties": "off"}}` in `~/.knack/config.json`.',
    "",
    "With `say` and `block` the worker opens a goal for a prompt that the agent did something for. An answer, a correction or a word to go on belongs to the goal before. The end of the turn, another ask or the end of the session closes it. Places where something may be learned become observations, weighed by what is recorded: whether it was known (.30), failures, corrections and edits taken back (.25), how unexpected it was (.20), words shared with the goal (.15), and how often it came before (.10). From .40 on an observation is worth keeping.",
    "",
    "A goal is deep where its work shows a failure overcome, a correction, a retry, an edit taken back, a new dependency, or an observation of .40; by hand it is deep unless all of its recorded steps went well. The same routine five times in a row is deep. Nobody declares it.",
    "",
    "With `block` the end of a turn waits up to 3 seconds for the worker, is held once for a goal and once in a turn, and never where the agent is held already. The repairs are commands that run as they stand. Without them the goal closes as `unlearned`, with one debt: `knack goal debts`.",
    "",
    "## Duties",
    "",
    "In each table the first line that holds decides.",
    ...duties.flatMap(({ name, phase, about, blocks, waivable, rules }) => [
      "",
      `### ${name}`,
      "",
      `${about} Phase ${phase}; it ${blocks ? "blocks" : "never blocks"}${waivable.length === 0 ? "" : `; it may be waived for: ${waivable.join(", ")}`}.`,
      "",
      "| when | verdict |",
      "| --- | --- |",
      ...rules.map(({ when, verdict }) => `| ${when} | ${verdict} |`),
    ]),
    "",
    "## Where this departs from its founding document",
    "",
    "- Another goal's observation does not count: there one of the same category was kept in this goal's place.",
    "- Its checks of a journal and of working memory are facts here: what was recorded in the goal, and the zone.",
    "- A waiver is a record with a reason and the key of the entry that proves it, judged by the zone that was measured then. No prose is searched for claims.",
    "- What was looked up, or recorded, after the work is recorded as late. Nothing is made up afterwards.",
    "- Ratings stay the ones that were given: unrated is not noise.",
    "- It drives no loop: `knack goal close` ends with a finite list of what is next.",
    "",
    "## What can be done with a goal",
    "",
    "The same words are the tool `goal {do, …}` of Knack's MCP server.",
    "",
    "| word | what it does | example |",
    "| --- | --- | --- |",
    ...Object.entries(verbs).map(
      ([verb, { about, example }]) => `| \`${verb}\` | ${about} | \`${example}\` |`,
    ),
  ].join("\n")}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  loadTypeScript();
  const tables = await import("../src/duties/index.ts");
  writeFileSync(new URL("../docs/duties.md", import.meta.url), renderDuties(tables));
}
