import { KnackError } from "../../base/index.ts";
import { changedFile, type PublishedItem } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import type { Item, ItemProblem, Lesson, StoredFinding } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { arg, type CommandCall, defineCommand } from "../command.ts";
import { describeReach, shelfStates } from "../screen/changes.ts";
import { describeEvidence, describeStanding, evidenceJson } from "../screen/lesson.ts";
import type { Screen } from "../screen/screen.ts";
import { formatDay, joinParts, type Lines, oneLine, textLines } from "../screen/text.ts";
import { findNamed, nameProjects } from "../select.ts";
import { answerList, type OpenCall, reads, runSubcommand, type Subcommands, takes } from "../subcommands.ts";
import { skillChanges } from "./skill-changes.ts";

const args = {
  words: arg.words(
    "list, show <name>, problems, diff <name>, undo [name], accept <name>, reject <name>, unskip <name>, write <name>, pin <name>, unpin <name>, trust [folder], untrust [folder], archived, restore <name>",
  ),
  all: arg.flag("with list: everything your agents have, whoever wrote it"),
  project: arg.flag("with list --all: only this project's"),
  user: arg.flag("with list --all: only yours, in every project"),
  where: arg.option("with accept: me, repository or everywhere"),
  lesson: arg.option("with write: the lesson in a sentence or two"),
  session: arg.option("with write: the agent's session"),
  ...arg.json,
  ...arg.dryRun,
} as const;

type SkillsCall = CommandCall<typeof args>;
type OpenSkillsCall = OpenCall<SkillsCall>;

const subcommands: Subcommands<SkillsCall> = {
  list: reads((call) => {
    const { all, project, user } = call.args;
    return all || project || user ? listAll(call) : list(call);
  }),
  show: reads(show, takes("one name", "knack skills list shows the names.")),
  problems: reads(listProblems),
  archived: reads(listArchived),
  ...skillChanges,
};

export const skills = defineCommand({
  about: "Show what Knack wrote for your agents, accept it, reject it, or undo it.",
  args,
  completes: [Object.keys(subcommands)],
  run: (call: SkillsCall) => runSubcommand("skills", subcommands, call),
});

export const undo = defineCommand({
  about: "Take back the latest change Knack made to your agents' files, or what it wrote under a name.",
  args: {
    words: arg.words("the name of a skill or rule; without one, the latest change"),
    ...arg.json,
    ...arg.dryRun,
  },
  run: (call) =>
    runSubcommand("skills", subcommands, {
      ...call,
      args: { ...call.args, _: ["undo", ...call.args._] },
    } as SkillsCall),
});

// --- What Knack wrote ---

/** Lists what Knack wrote, and the lessons it does not suggest any more. */
async function list(call: OpenSkillsCall): Promise<number> {
  const { screen, knack } = call;
  const shelf = await knack.shelf();
  const rejected = (await knack.lessons()).filter(({ state }) => state.status === "rejected");
  return answerList(call, {
    items: shelf,
    json: {
      skills: shelf.map(shelvedJson),
      skipped: rejected.map(({ id, name, lesson }) => ({ id, name, lesson })),
    },
    columns: {
      name: ({ name }) => name,
      kind: ({ kind }) => kind,
      status: ({ state }) => shelfStates[state],
      where: ({ reach }) => describeReach(reach),
      sure: ({ confidence }) => (confidence === null ? "" : confidence.toFixed(2)),
      evidence: ({ evidence }) => String(evidence),
      file: (one) => screen.path(changedFile(one)),
    },
    empty: ["No skills or rules yet.", `To learn from your sessions: ${screen.knack} learn`],
    below: [
      rejected.length > 0 && [
        "",
        "Not suggested any more:",
        rejected.map(({ name, lesson }) => `  ${name}  ${screen.dim(oneLine(lesson, 80))}`),
        `To allow one again: ${screen.knack} skills unskip <name>`,
      ],
    ],
  });
}

/** Without what only a diff needs: the history and the texts. */
function shelvedJson({ state, changes: _, text: __, edit: ___, skill: ____, ...one }: PublishedItem) {
  return { ...one, status: state };
}

async function listArchived(call: OpenSkillsCall): Promise<number> {
  const { screen, knack } = call;
  const archived = await knack.archived();
  return answerList(call, {
    items: archived,
    json: { archived },
    columns: {
      name: ({ name }) => name,
      where: ({ reach }) => describeReach(reach),
      archived: ({ at }) => formatDay(at),
      why: ({ because }) => oneLine(because, 160),
    },
    empty: ["Nothing is archived."],
    below: [archived.length > 0 && `To restore one: ${screen.knack} skills restore <name>`],
  });
}

/** Shows the text of a kept item with its evidence, or of a skill written by others. */
async function show(call: OpenSkillsCall, word: string): Promise<number> {
  const { knack } = call;
  try {
    return await showOwn(call, word);
  } catch (error) {
    if (!(error instanceof KnackError) || error.code !== "UNKNOWN_NAME") throw error;
    const found = await findItems(knack, word);
    if (found.length === 0) throw error;
    return call.answer(
      { name: found[0]?.name, items: found },
      found.map((one) => describeItem(one, call.screen)),
    );
  }
}

async function showOwn(call: OpenSkillsCall, word: string): Promise<number> {
  const { screen, knack } = call;
  const { name, kept, lesson } = await findNamed(knack, word);
  const evidence = lesson && (await knack.evidence(lesson));
  const judges = evidence ? await listJudges(knack, evidence.findings) : [];
  return call.answer(
    {
      name,
      skills: kept.map((one) => ({ ...shelvedJson(one), text: one.text })),
      judges,
      evidence: evidence && evidenceJson(evidence),
    },
    [
      kept.map((one) => [
        `${screen.bold(one.name)}  ${screen.dim(`${one.kind}, ${shelfStates[one.state]}, ${describeReach(one.reach)}, ${screen.path(changedFile(one))}`)}`,
        describeAuthor(one, lesson, judges, screen),
        one.held !== undefined &&
          screen.dim(
            `  waits for your yes: ${oneLine(one.held, 200)}. To accept it: ${screen.knack} skills accept ${one.name}`,
          ),
        "",
        textLines((one.text ?? "there is no file").trimEnd(), "  "),
        "",
      ]),
      lesson &&
        evidence && [
          `${screen.bold(lesson.name)}  ${screen.dim(`${lesson.id}, ${describeStanding(lesson)}`)}`,
          describeEvidence(evidence, screen),
        ],
    ],
  );
}

/** The models that judged the sessions of some findings. */
async function listJudges(knack: Knack, findings: readonly StoredFinding[]): Promise<string[]> {
  const sessions = new Set<string>(findings.flatMap(({ finding, session }) => (finding.by ? session : [])));
  const judged = sessions.size === 0 ? [] : await knack.judged();
  return [...new Set(judged.flatMap(({ session, model }) => (sessions.has(session) ? model : [])))];
}

/** Who made a skill: an agent, a review, or rules. A line among an agent's instructions does not say. */
function describeAuthor(
  { author, origin }: PublishedItem,
  lesson: Lesson | null | undefined,
  judges: readonly string[],
  { dim }: Screen,
): string | null {
  if (author) {
    const who = author.by === "agent" ? "learned by the agent" : "proposed by a review";
    const model = author.model ? ` (${author.model})` : "";
    const where = author.session === null ? "" : ` in session ${author.session}`;
    return dim(`  ${who}${model}${where}, from ${several(author.evidence, "event")}`);
  }
  if (origin.kind === "import") return dim("  imported, and accepted by you");
  if (origin.kind === "gap") return dim("  made of what sessions did when it was asked for");
  if (!lesson) return null;
  const writer =
    judges.length > 0 ? `the judge (${judges.join(", ")})` : lesson.by === "judge" ? "the judge" : "rules";
  return dim(`  written by ${writer}, from what sessions showed`);
}

// --- Everything that agents have ---

/** An item of the library, with the state of its file and the name of the project it is for, null for the person. */
interface LibraryItem extends Item {
  readonly status: PublishedItem["state"];
  readonly project: string | null;
}

/** Everything in the library by name, what is missing from it, and what is wrong with it. */
async function readLibrary(knack: Knack) {
  const { items, ...reading } = await knack.catalog({ cwd: process.cwd() });
  const shelf = (await knack.shelf()).filter(({ kind }) => kind !== "rule");
  const shelved = new Map(shelf.map((one) => [changedFile(one), one]));
  const nameProject = await nameProjects(knack);
  const described = items.map((item): LibraryItem => {
    const own = [item.path, ...item.copies].flatMap((path) => shelved.get(path) ?? []);
    // Of several copies, the edited one says more.
    const status = (own.find((one) => one.state === "edited") ?? own[0])?.state ?? "active";
    const project = item.scopeId === "user" ? null : nameProject(item.scopeId);
    return { ...item, status, project: project && (project.split(/[/\\]/).pop() ?? project) };
  });
  return {
    ...reading,
    items: described.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
    missing: shelf.filter(({ state }) => state === "missing"),
  };
}

async function listAll(call: OpenSkillsCall): Promise<number> {
  const { args, screen, knack } = call;
  const { items, missing, here, problems, unread } = await readLibrary(knack);
  const shown = items.filter(
    ({ scopeId }) =>
      (!args.user && !args.project) ||
      (args.user && scopeId === "user") ||
      (args.project && scopeId === here),
  );
  const count = (kind: Item["kind"]) => several(shown.filter((item) => item.kind === kind).length, kind);
  return answerList(call, {
    items: shown,
    json: {
      items: shown.map(({ body: _, ...item }) => item),
      missing: missing.map((one) => ({ name: one.name, path: changedFile(one), source: one.origin.id })),
      problems,
      unread,
    },
    columns: {
      name: ({ name }) => oneLine(name, 60),
      kind: ({ kind }) => kind,
      owner: ({ owner }) => owner,
      for: ({ project }) => (project === null ? "you" : oneLine(project, 30)),
      status: ({ status }) => shelfStates[status],
      load: describeLoad,
      file: ({ path }) => screen.path(path),
    },
    empty: ["There are no skills, commands or agents here.", "Where Knack looks: docs/how-it-works.md"],
    below: [
      shown.length > 0 && ["", [count("skill"), count("command"), count("agent")].join(", ")],
      missing.map(
        ({ name }) => `Missing on disk: ${name}. Its last text: ${screen.knack} skills diff ${name}`,
      ),
      problems.length > 0 && `${countProblems(problems)}: ${screen.knack} skills problems`,
      unread.length > 0 &&
        `${several(unread.length, "folder")} could not be read; Knack keeps what it knew of them.`,
    ],
  });
}

/** When an agent is given an item without asking for it. */
function describeLoad({ load, harmless, told, draft }: Item): string {
  if (!harmless) return "only on request";
  if (load === "fit" || load === "always") {
    if (told === "nothing") return "after your yes";
    if (told === "name") return draft ? "by name, until your yes" : "by name, until you trust it";
  }
  return { fit: "when it fits", always: "always", never: "never", person: "by you alone" }[load];
}

function countProblems(problems: readonly ItemProblem[]): string {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  return `${several(errors, "file")} cannot be used, ${several(problems.length - errors, "warning")}`;
}

/** Lists what is wrong in the library and how to fix it. Exit code 1 when a file cannot be used. */
async function listProblems(call: OpenSkillsCall): Promise<number> {
  const { screen, knack } = call;
  const { problems, unread } = await knack.catalog({ cwd: process.cwd() });
  return call.answer(
    { problems, unread },
    [
      problems.map(({ path, severity, message, hint }) => [
        `${severity}  ${screen.path(path)}`,
        `  ${oneLine(message, 300)}`,
        `  ${screen.dim(hint)}`,
      ]),
      problems.length === 0
        ? "No problems with the skills, commands and agents here."
        : `${countProblems(problems)}.`,
    ],
    problems.some(({ severity }) => severity === "error") ? 1 : 0,
  );
}

/** Items of the library by name, with or without their plugin's; the current folder's first. */
async function findItems(knack: Knack, word: string): Promise<LibraryItem[]> {
  const { items, here } = await readLibrary(knack);
  const rank = ({ scopeId }: LibraryItem) => (scopeId === here ? 0 : scopeId === "user" ? 1 : 2);
  const exact = items.filter(({ name, id }) => name === word || id === word);
  const found = exact.length > 0 ? exact : items.filter(({ name }) => name.endsWith(`:${word}`));
  return found.sort((a, b) => rank(a) - rank(b));
}

/** Where something comes from that a repository brought along. */
function describeOrigin({ accepted, doubted }: Item, { knack }: Screen): string {
  if (doubted) return "the repository; the scan doubts it, so agents are told its name only";
  return accepted === null
    ? `the repository; agents are told its name only. To let them be given it: ${knack} skills trust`
    : "the repository, and accepted by you";
}

function describeItem(item: LibraryItem, screen: Screen): Lines {
  const { kind, owner, status, project, copies } = item;
  const where = project === null ? "for you" : `for ${project}`;
  const load = `load: ${describeLoad(item)}`;
  const facts = joinParts(", ", [kind, owner, shelfStates[status], where, load, screen.path(item.path)]);
  const line = (label: string, text: string) => text !== "" && `  ${label}: ${oneLine(text, 1_100)}`;
  return [
    `${screen.bold(oneLine(item.name))}  ${screen.dim(facts)}`,
    item.checkout !== null && item.source === null && line("from", describeOrigin(item, screen)),
    line("what", item.description),
    line("when", item.when),
    line("tags", item.tags.join(", ")),
    copies.map((path) => `  also at: ${screen.path(path)}`),
    "",
    textLines(item.body, "  "),
    "",
  ];
}
