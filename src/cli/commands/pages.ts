import { userInfo } from "node:os";
import type { Knack } from "../../open.ts";
import { type NewEntry, type ProjectPages, sections } from "../../pages/index.ts";
import { several } from "../../text/index.ts";
import { redact } from "../../trust/index.ts";
import { arg, type CommandCall, defineCommand, unknownName, wrongUsage } from "../command.ts";
import { changeKnack } from "../knack.ts";
import { applyChange, describeReach, notDone, refuseChange } from "../screen/changes.ts";
import type { Lines } from "../screen/text.ts";
import { alignColumns, oneLine, textLines } from "../screen/text.ts";
import { parseOneOf } from "../select.ts";
import { type OpenCall, reads, runSubcommand, type Subcommands, takes } from "../subcommands.ts";

const args = {
  words: arg.words(
    "tree, find <words>, show <page>, add <words>, accept <page>, propose, debts. Without words: tree",
  ),
  page: arg.option("with add: the page; by default the one that search names first"),
  section: arg.option("with add: rules, values or insights; IF … THEN … is a rule, the rest an insight"),
  source: arg.option("with add: where a decision rule comes from"),
  goal: arg.option("with add: the goal that it was kept for"),
  session: arg.option("with add: the session that showed it"),
  confidence: arg.option("with add: how sure it is, 0 to 1"),
  where: arg.option("with add, for a new page, and accept: me (kept out of git) or repository"),
  ...arg.json,
  ...arg.dryRun,
} as const;

type PagesCall = CommandCall<typeof args>;
type OpenPagesCall = OpenCall<PagesCall>;
type Tree = Awaited<ReturnType<ProjectPages["tree"]>>;
type ListedPage = Tree["roots"][number]["pages"][number];

const treeHint = "knack pages tree lists them.";

const subcommands: Subcommands<PagesCall> = {
  tree: reads(showTree),
  find: reads(find, takes("some words", 'knack pages find "slow build"', { several: true })),
  show: reads(show, takes("one page", treeHint)),
  add: (call, typed, name) => {
    const words = takes("the words to keep", 'knack pages add "IF the build is slow THEN …"', {
      several: true,
    })(typed, name);
    return changeKnack(call, (knack) => add({ ...call, knack }, words), { create: true });
  },
  accept: (call, typed, name) => {
    const page = takes("one page", treeHint)(typed, name);
    return changeKnack(call, (knack) => accept({ ...call, knack }, page), { create: true });
  },
  propose: (call, typed, name) => {
    if (typed.length > 0) throw wrongUsage(`knack ${name} takes no arguments, got "${typed.join(" ")}".`);
    return changeKnack(call, (knack) => propose({ ...call, knack }), { create: true });
  },
  debts: reads(showDebts),
};

export const pages = defineCommand({
  about: "What is known about this project, in pages: decision rules, verified values, key insights.",
  args,
  completes: [Object.keys(subcommands)],
  run: (call: PagesCall) => {
    const typed = call.args._.length > 0 ? call : { ...call, args: { ...call.args, _: ["tree"] } };
    return runSubcommand("pages", subcommands, typed as PagesCall);
  },
});

async function openHere(knack: Knack): Promise<ProjectPages> {
  const here = knack.pages(await knack.projectAt(process.cwd()));
  if (here !== null) return here;
  throw wrongUsage("There are no pages here: this folder is no project.", "Go to a project's folder.");
}

// --- Looking ---

async function showTree(call: OpenPagesCall): Promise<number> {
  const { roots, proven } = await (await openHere(call.knack)).tree();
  const isEmpty = roots.every(({ pages: below }) => below.length === 0);
  const { knack } = call.screen;
  const labels = alignColumns(
    roots.map(({ root, confidence }) => [`${root}${describeConfidence(confidence)}`]),
    { keepWidth: true },
  );
  return call.answer({ roots, proven }, [
    roots.map(({ about, pages: below }, at) => [
      `${labels[at]}  ${call.screen.dim(about)}`,
      below.map((page) => describeBranch(page)),
    ]),
    proven.map(({ page, rule, goals, sessions }) => [
      `Proven in ${several(goals, "goal")} and ${several(sessions, "session")}, so it could be a lesson: ${oneLine(rule, 300)}`,
      `  It stands in ${page}. To propose it: ${knack} pages propose`,
    ]),
    isEmpty
      ? `No pages yet. To begin one: ${knack} pages add "IF … THEN …"`
      : `To read one: ${knack} pages show <page>`,
  ]);
}

function describeBranch(page: ListedPage, indent = "  "): string[] {
  const { page: key, lines, entries, confidence, children, split } = page;
  const size = `${several(lines, "line")}, ${several(entries, "entry", "entries")}`;
  return [
    `${indent}${key}${describeConfidence(confidence)}  ${size}`,
    ...(split === null
      ? []
      : [
          `${indent}  over ${split.most} lines; split it into ${
            split.into.map((part) => `${part.page} (${part.entries.length})`).join(", ") ||
            "pages of your own"
          }; ${several(split.rest, "entry", "entries")} would stay`,
        ]),
    ...children.flatMap((child) => describeBranch(child, `${indent}  `)),
  ];
}

function describeConfidence(confidence: number | null): string {
  return confidence === null ? "" : `  ${confidence.toFixed(2)}`;
}

async function find(call: OpenPagesCall, words: string): Promise<number> {
  const found = await (await openHere(call.knack)).find(words);
  const json = { query: words, searched: "pages", found };
  return call.answer(json, [
    found.length === 0
      ? "No page fits."
      : found.map(({ page, score, why }) => `${page}  ${score.toFixed(2)}  ${oneLine(why, 160)}`),
    found.length > 0 && `To read one: ${call.screen.knack} pages show <page>`,
  ]);
}

async function show(call: OpenPagesCall, word: string): Promise<number> {
  const here = await openHere(call.knack);
  const page = await here.get(word);
  if (page === null) throw unknownName(`No page is called "${word}".`, treeHint);
  const { key, topic, path, state, reach, lines, entries, evidence, damage } = page;
  const confidence = here.confidenceOf(page);
  const where = reach === null ? "not written by Knack" : describeReach(reach);
  const json = {
    ...{ page: key, topic, path, state, reach, confidence, lines, damage },
    entries: entries.map((entry) => ({
      ...entry,
      text: redact(entry.text),
      evidence: evidence.filter((one) => one.entry === entry.id),
    })),
  };
  const notes: Lines = [
    state !== "kept" && `Knack adds nothing to it as it is: ${call.screen.knack} pages accept ${key}`,
    damage !== null && `Nothing can be added: ${damage}.`,
  ];
  return call.answer(json, [
    `${key}${describeConfidence(confidence)}  ${call.screen.dim(`${where}, ${call.screen.path(path)}`)}`,
    textLines(redact(page.body).trim(), "", 1_000),
    notes,
  ]);
}

/** The lessons that goals owe, and the pages that grow stale: one list, which `knack goal debts` shows too. */
async function showDebts(call: OpenPagesCall): Promise<number> {
  const project = await call.knack.projectAt(process.cwd());
  const who = userInfo().username;
  const caller = { project, session: null, actor: "person", who } as const;
  const { data, lines } = await call.knack.goal("debts", caller, {});
  return call.answer(data, [...lines]);
}

// --- Changing ---

async function add(call: OpenPagesCall, words: string): Promise<number> {
  const here = await openHere(call.knack);
  const { args: typed, env, screen } = call;
  // An agent's shell says so.
  const isAgent = Boolean(env.CLAUDECODE || env.KNACK_SESSION);
  const wanted: NewEntry = {
    ...{ text: words, page: typed.page, source: typed.source, goal: typed.goal },
    session: typed.session ?? env.KNACK_SESSION ?? env.CLAUDE_CODE_SESSION_ID,
    section: parseOneOf("section", typed.section, sections),
    confidence: parseConfidence(typed.confidence),
    reach: parseOneOf("where", typed.where, ["me", "repository"]) ?? "me",
    actor: isAgent ? "agent" : "person",
  };
  if (typed.goal !== undefined && (await call.knack.goalsById([typed.goal])).length === 0)
    throw unknownName(`There is no goal ${typed.goal}.`, "knack goal board lists the goals that are open.");
  const plan = await here.planAdd(wanted);
  const { page, says } = plan;
  if (!plan.ok) return refuseChange(call, notDone(plan.because), [], { page });
  const name = page?.replace(/^.*\//, "") ?? "";
  return applyChange(call, {
    plan: async () => plan,
    apply: async () => (await here.add(wanted)).result,
    nothing: `${page} has it already.`,
    json: { page, says },
    after: () => [
      says === "confirmed" && `${page} says it already; this is one more proof of it.`,
      `To take it back: ${screen.knack} undo ${name}`,
    ],
  });
}

async function accept(call: OpenPagesCall, word: string): Promise<number> {
  const here = await openHere(call.knack);
  const page = await here.get(word);
  if (page === null) throw unknownName(`No page is called "${word}".`, treeHint);
  if (call.env.CLAUDECODE || call.env.KNACK_SESSION)
    return refuseChange(call, "Taking a page over, or into git, takes a person's yes.");
  const where = parseOneOf("where", call.args.where, ["me", "repository"]);
  return applyChange(call, {
    plan: () => here.planAccept(page.key, where),
    apply: () => here.accept(page.key, where),
    nothing: where === null ? `${page.key} is as Knack wrote it.` : `${page.key} is there already.`,
    json: { page: page.key },
    after: () => [`Knack may add to ${page.key} from now on.`],
  });
}

/** Proposes the proven rules as lessons: each waits for a person's yes, and is told to no agent before. */
async function propose(call: OpenPagesCall): Promise<number> {
  const { knack, dryRun, screen } = call;
  const proposals = await (await openHere(knack)).proposals();
  const plan = await knack.planProposals("the pages of this project", proposals);
  if (!dryRun) await knack.carryIn(plan);
  const made = plan.things.filter(({ verdict }) => verdict === "new");
  const json = plan.things.map(({ id, name, says, verdict, because }) => ({
    ...{ id, name, lesson: says, verdict, because },
  }));
  return call.answer({ done: !dryRun, proposed: json }, [
    plan.things.map(({ id, says, verdict, because }) => [
      `${verdict === "new" ? id : "-"}  ${oneLine(says, 300)}`,
      because !== null && `  ${oneLine(because, 200)}`,
    ]),
    made.length === 0
      ? "No decision rule is proven that is not a lesson already. One is after it was kept in two sessions, or for two goals."
      : dryRun
        ? "Nothing was proposed (--dry-run)."
        : `To keep one: ${screen.knack} lessons accept <id>`,
  ]);
}

function parseConfidence(word: string | undefined): number | null {
  if (word === undefined) return null;
  const value = Number(word);
  if (word.trim() !== "" && value >= 0 && value <= 1) return value;
  throw wrongUsage(`Invalid --confidence "${word}".`, "Use a number from 0 to 1.");
}
