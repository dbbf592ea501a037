// Writes docs/duties.md from the tables that the checks go by: node scripts/duties.mjs
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { loadTypeScript } from "./typescript.mjs";

/** The page about goals and duties, from the table of duties and the table of verbs. */
export function renderDuties({ duties, verbs }) {
  return `${[
    "# Goals and duties",
    "",
    "Agents end work that taught them something, and nothing of it is kept: the next session makes the same mistake. With duties on, Knack tells you, or holds the agent once at the end of its turn. It goes by what the transcript shows; no model is asked, and nothing leaves your machine.",
    "",
    "```sh",
    "knack config set duties say     # you are told, once for a piece of work",
    "knack config set duties block   # the agent is held once at the end of its turn, with the command that keeps it",
    "knack config set duties off     # the default: nothing is watched",
    "```",
    "",
    "It works in agents that have Knack's hooks (`knack install`). What you see with `say`, at the end of a later turn:",
    "",
    "```text",
    'Knack: "Print the tide tables for May" taught something that is not kept: node tides.mjs: error: unknown flag: --mnth; then this worked: node tides.mjs --month may. To keep it: knack goal keep --goal g1x2',
    "```",
    "",
    "`knack goal keep` writes a sentence into a [page](pages.md) of the project; `knack goal debts` lists what is still owed. Doing nothing is fine: you are told once.",
    "",
    'For one project, by you and never by a repository: `"projects": {"<id or folder>": {"duties": "off"}}` in `~/.knack/config.json`.',
    "",
    "## Goals",
    "",
    "A **goal** is one thing worked on: a stretch of a session, from an ask to the end of the turn, the next ask, or the end of the session. An answer, a correction, a word to go on, and what was typed while the agent worked belong to the goal before. Talk without work is no goal.",
    "",
    "A goal is **deep** where its work shows a failure overcome, a correction, a retry, an edit taken back, a new dependency, or an observation of .40; else it is a **routine**, and owes nothing. Looks that find nothing, and tests, types and lint that fail until they pass, are the work itself. By hand a goal is deep unless all of its recorded steps went well. The same routine five times in a row is deep. Nobody declares it.",
    "",
    "Places where something may be learned become **observations**, weighed by what is recorded: whether it was known (.30), failures, corrections and edits taken back (.25), how unexpected it was (.20), words shared with the goal (.15), and how often it came before (.10). From .40 on an observation is worth keeping.",
    "",
    "With `block` the end of a turn waits up to 3 seconds for the verdict on this turn, is held once for a goal and once in a turn, and never where the agent is held already. The repairs are commands that run as they stand. Without them the goal closes as `unlearned`, with one debt.",
    "",
    "The **zone** says how full the model's window is, by the tokens that the transcript counts: fresh below 50 %, normal below 85 %, then tight. Where nothing counts them, two sources disagree, or nobody says how large the window is, it is unknown, and nothing may be left out.",
    "",
    "## Duties",
    "",
    "A duty is a check over recorded facts. `knack goal check` says how each stands: met, to be mended by a command, not met, or waived by a reason that a ledger entry proves. In each table the first line that holds decides.",
    ...duties.flatMap(({ name, about, blocks, waivable, rules }) => [
      "",
      `### ${name}`,
      "",
      `${about} It ${blocks ? "blocks" : "never blocks"}${waivable.length === 0 ? "" : `; it may be waived for: ${waivable.join(", ")}`}.`,
      "",
      "| when | verdict |",
      "| --- | --- |",
      ...rules.map(({ when, verdict }) => `| ${when} | ${verdict} |`),
    ]),
    "",
    "## Where this comes from",
    "",
    `The duties follow the learning gate of an agent loop, phase by phase: ${duties.map(({ name, phase }) => `${name} (${phase})`).join(", ")}. Where they depart from it:`,
    "",
    "- Another goal's observation does not count: there, one of the same category was kept in this goal's place.",
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
  const [{ duties }, { verbs }] = await Promise.all([
    import("../src/duties/checks.ts"),
    import("../src/duties/verbs.ts"),
  ]);
  writeFileSync(new URL("../docs/duties.md", import.meta.url), renderDuties({ duties, verbs }));
}
