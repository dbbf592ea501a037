import { KnackError } from "../../../base/index.ts";
import { type CatalogReading, diffEdit, type PublishedItem, parseSkill } from "../../../library/index.ts";
import type { Knack } from "../../../open.ts";
import type { Item, ItemProblem } from "../../../records/index.ts";
import { several } from "../../../text/index.ts";
import { redact } from "../../../trust/index.ts";
import { withKnack } from "../../knack.ts";
import { changedFile, describeDiff, describeReach, type describeSteps } from "../../screen/changes.ts";
import { describeEvidence, describeStanding, evidenceJson } from "../../screen/lesson.ts";
import { answerList } from "../../screen/list.ts";
import type { Screen } from "../../screen/screen.ts";
import { formatDay, iso, oneLine, textLines } from "../../screen/text.ts";
import { findNamed, nameProjects } from "../../select.ts";
import { chooseUsualReach } from "./change.ts";
import type { SkillsCall } from "./skills.ts";

/** The state of a kept file, in words. */
export const shelfStates: Readonly<Record<PublishedItem["state"], string>> = {
  active: "active",
  draft: "draft",
  proposal: "proposal",
  edited: "edited by hand",
  missing: "missing on disk",
  unreadable: "not readable",
};

// --- What Knack wrote ---

/** Lists what Knack wrote, and the lessons it does not suggest any more. */
export async function list(call: SkillsCall): Promise<number> {
  const { screen } = call;
  return withKnack(call, async (knack) => {
    const shelf = await knack.shelf();
    const rejected = (await knack.lessons()).filter(({ state }) => state.status === "rejected");
    return answerList(call, {
      items: shelf,
      json: () => ({
        skills: shelf.map(shelvedJson),
        skipped: rejected.map(({ id, name, lesson }) => ({ name, instinct: id, lesson: redact(lesson) })),
      }),
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
      below:
        rejected.length === 0
          ? []
          : [
              "",
              "Not suggested any more:",
              ...rejected.map(({ name, lesson }) => `  ${name}  ${screen.dim(oneLine(lesson, 80))}`),
              `To allow one again: ${screen.knack} skills unskip <name>`,
            ],
    });
  });
}

function shelvedJson(one: PublishedItem) {
  const { name, kind, state, reach, path, confidence, sessions, evidence, origin, belongsTo, author } = one;
  return {
    ...{ name, kind, status: state, reach, path, confidence, sessions, evidence, origin, belongsTo, author },
    at: iso(one.at),
  };
}

/** Lists what was archived, and why. */
export async function listArchived(call: SkillsCall): Promise<number> {
  const { screen } = call;
  return withKnack(call, async (knack) => {
    const all = await knack.archived();
    return answerList(call, {
      items: all,
      json: () => ({
        archived: all.map(({ name, path, reach, because, at, origin, replacedBy }) => ({
          ...{ name, path, reach, because, at: iso(at), origin, replacedBy: replacedBy ?? null },
        })),
      }),
      columns: {
        name: ({ name }) => name,
        where: ({ reach }) => describeReach(reach),
        archived: ({ at }) => formatDay(at),
        why: ({ because }) => oneLine(because, 160),
      },
      empty: ["Nothing is archived."],
      below: all.length === 0 ? [] : [`To restore one: ${screen.knack} skills restore <name>`],
    });
  });
}

/** Shows the text of something kept with its evidence, or of a skill that somebody else wrote. */
export async function show(call: SkillsCall, word: string): Promise<number> {
  return withKnack(call, async (knack) => {
    try {
      return await showOwn(call, knack, word);
    } catch (error) {
      if (!(error instanceof KnackError) || error.code !== "UNKNOWN_NAME") throw error;
      const found = await findItems(knack, word);
      if (found.length === 0) throw error;
      return call.answer(
        {
          name: found[0]?.item.name,
          items: found.map((one) => ({ ...itemJson(one), body: redact(one.item.body) })),
        },
        found.flatMap((one) => describeItem(one, call.screen)),
      );
    }
  });
}

async function showOwn(call: SkillsCall, knack: Knack, word: string): Promise<number> {
  const { screen } = call;
  const { name, kept, lesson } = await findNamed(knack, word);
  const evidence = lesson && (await knack.evidence(lesson));
  const describeKept = (one: PublishedItem) => [
    `${screen.bold(one.name)}  ${screen.dim(`${one.kind}, ${shelfStates[one.state]}, ${describeReach(one.reach)}, ${screen.path(changedFile(one))}`)}`,
    ...describeAuthor(one).map((line) => screen.dim(`  ${line}`)),
    "",
    ...textLines((one.text ?? "there is no file").trimEnd(), "  "),
    "",
  ];
  return call.answer(
    {
      name,
      skills: kept.map((one) => ({
        ...shelvedJson(one),
        text: one.text === null ? null : redact(one.text),
      })),
      evidence: evidence && evidenceJson(evidence),
    },
    [
      ...kept.flatMap(describeKept),
      ...(lesson && evidence
        ? [
            `${screen.bold(lesson.name)}  ${screen.dim(`${lesson.id}, ${describeStanding(lesson)}`)}`,
            ...describeEvidence(evidence),
          ]
        : []),
    ],
  );
}

/** Who made a skill: an agent, a review, or rules. A line among an agent's instructions does not say. */
function describeAuthor({ author: agent, text }: PublishedItem): string[] {
  if (agent) {
    const { by, session, model, evidence } = agent;
    const who = `${by === "agent" ? "learned by the agent" : "proposed by a review"}${model ? ` (${model})` : ""}`;
    const where = session === null ? "" : ` in session ${session}`;
    return [`${who}${where}, from ${several(evidence, "event")}`];
  }
  const author = parseSkill(text ?? "").skill?.metadata.author;
  if (author === "heuristic") return ["written by rules, from what sessions showed"];
  return author === "model" ? ["written by rules and a model, from what sessions showed"] : [];
}

/** Shows what is pending: what accepting would change, or what a person edited. */
export async function diff(call: SkillsCall, word: string): Promise<number> {
  const { screen } = call;
  return withKnack(call, async (knack) => {
    const { name, kept, lesson } = await findNamed(knack, word);
    const parts: { what: string; diff: string }[] = [];
    for (const one of kept) {
      if (one.state === "edited" || one.state === "missing")
        parts.push({ what: `${shelfStates[one.state]}: ${changedFile(one)}`, diff: diffEdit(one) });
      if (one.reach !== "draft" || one.state === "missing") continue;
      const plan = await knack.planAccept([one], await chooseUsualReach(knack, [one], lesson));
      parts.push(
        plan.ok
          ? { what: "accepting it would change this", diff: joinDiffs(plan.steps) }
          : { what: `cannot be accepted: ${plan.because}`, diff: "" },
      );
    }
    return call.answer(
      { name, pending: parts.map((part) => ({ ...part, diff: redact(part.diff) })) },
      parts.length === 0
        ? [`Nothing is pending for ${name}.`]
        : parts.flatMap((part) => [`${name}: ${part.what}`, ...describeDiff(part.diff, screen)]),
    );
  });
}

function joinDiffs(steps: Parameters<typeof describeSteps>[0]): string {
  return steps
    .filter(({ change }) => change.why !== "remove")
    .map((step) => step.diff)
    .join("");
}

// --- Everything that agents have ---

/** An item of the library with what Knack knows of it besides its file. */
interface LibraryItem {
  readonly item: Item;
  readonly state: PublishedItem["state"];
  /** The name of the project it is for; null for the person. */
  readonly project: string | null;
}

interface LibraryState {
  readonly items: readonly LibraryItem[];
  readonly missing: readonly PublishedItem[];
  /** The scopeId of the current folder. */
  readonly here: string | null;
}

async function readLibrary(knack: Knack, { items, here }: CatalogReading): Promise<LibraryState> {
  const shelf = (await knack.shelf()).filter(({ kind }) => kind !== "rule");
  const shelved = new Map(shelf.map((one) => [changedFile(one), one]));
  const nameProject = await nameProjects(knack);
  const described = items.map((item): LibraryItem => {
    const own = [item.path, ...item.copies].flatMap((path) => shelved.get(path) ?? []);
    // Of several copies, the edited one says more.
    const state = (own.find((one) => one.state === "edited") ?? own[0])?.state ?? "active";
    const name = item.scopeId === "user" ? null : nameProject(item.scopeId);
    return { item, state, project: name === item.scopeId ? (name.split(/[/\\]/).pop() ?? name) : name };
  });
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return {
    items: described.sort((a, b) => compare(a.item.name, b.item.name)),
    missing: shelf.filter(({ state }) => state === "missing"),
    here,
  };
}

/** Lists every skill, command and agent, whoever wrote it. */
export async function listAll(call: SkillsCall): Promise<number> {
  const { args, screen } = call;
  return withKnack(call, async (knack) => {
    const reading = await knack.catalog({ cwd: process.cwd() });
    const { items, missing, here } = await readLibrary(knack, reading);
    const shown = items.filter(
      ({ item }) =>
        (!args.user && !args.project) ||
        (args.user && item.scopeId === "user") ||
        (args.project && item.scopeId === here),
    );
    const count = (kind: Item["kind"]) =>
      several(shown.filter(({ item }) => item.kind === kind).length, kind);
    return answerList(call, {
      items: shown,
      json: () => ({
        items: shown.map(itemJson),
        missing: missing.map((one) => ({ name: one.name, path: changedFile(one), source: one.origin.id })),
        problems: reading.problems.map(problemJson),
        unread: reading.unread,
      }),
      columns: {
        name: ({ item }) => oneLine(item.name, 60),
        kind: ({ item }) => item.kind,
        owner: ({ item }) => item.owner,
        for: ({ project }) => (project === null ? "you" : oneLine(project, 30)),
        status: ({ state }) => shelfStates[state],
        load: ({ item }) => describeLoad(item),
        file: ({ item }) => screen.path(item.path),
      },
      empty: ["There are no skills, commands or agents here.", "Where Knack looks: docs/how-it-works.md"],
      below: [
        ...(shown.length > 0 ? ["", [count("skill"), count("command"), count("agent")].join(", ")] : []),
        ...missing.map(
          ({ name }) => `Missing on disk: ${name}. Its last text: ${screen.knack} skills diff ${name}`,
        ),
        ...(reading.problems.length > 0
          ? [`${countProblems(reading.problems)}: ${screen.knack} skills problems`]
          : []),
        ...(reading.unread.length > 0
          ? [
              `${several(reading.unread.length, "folder")} could not be read; Knack keeps what it knew of them.`,
            ]
          : []),
      ],
    });
  });
}

/** When an agent is given an item without asking for it. */
function describeLoad({ load, harmless }: Item): string {
  if (!harmless) return "only on request";
  return { fit: "when it fits", always: "always", never: "never", person: "by you alone" }[load];
}

function itemJson({ item, state, project }: LibraryItem) {
  const { id, kind, name, scopeId, owner, draft, source, path, copies, hash, tags, load, harmless } = item;
  return {
    ...{ id, kind, name, scopeId, project, owner, draft, status: state, source, path, copies, hash },
    ...{ description: redact(item.description), when: redact(item.when), tags, load, harmless },
    changedAt: iso(item.changedAt),
  };
}

function problemJson({ path, severity, message, hint }: ItemProblem) {
  return { path, severity, message: redact(message), hint };
}

function countProblems(problems: readonly ItemProblem[]): string {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  return `${several(errors, "file")} cannot be used, ${several(problems.length - errors, "warning")}`;
}

/** Lists what is wrong in the library and how to fix it. Exit code 1 when a file cannot be used. */
export async function listProblems(call: SkillsCall): Promise<number> {
  const { screen } = call;
  return withKnack(
    call,
    async (knack) => {
      const { problems, unread } = await knack.catalog({ cwd: process.cwd() });
      return call.answer(
        { problems: problems.map(problemJson), unread },
        [
          ...problems.flatMap(({ path, severity, message, hint }) => [
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
    },
    { dryRun: true },
  );
}

/** Items of the library by name, with or without their plugin's; the current folder's first. */
async function findItems(knack: Knack, word: string): Promise<LibraryItem[]> {
  const { items, here } = await readLibrary(knack, await knack.catalog({ cwd: process.cwd() }));
  const rank = ({ item }: LibraryItem) => (item.scopeId === here ? 0 : item.scopeId === "user" ? 1 : 2);
  const exact = items.filter(({ item }) => item.name === word || item.id === word);
  const found = exact.length > 0 ? exact : items.filter(({ item }) => item.name.endsWith(`:${word}`));
  return found.sort((a, b) => rank(a) - rank(b));
}

function describeItem({ item, state, project }: LibraryItem, screen: Screen): string[] {
  const facts = [
    item.kind,
    item.owner,
    shelfStates[state],
    project === null ? "for you" : `for ${project}`,
    `load: ${describeLoad(item)}`,
    screen.path(item.path),
  ];
  const line = (label: string, text: string) => (text === "" ? [] : [`  ${label}: ${oneLine(text, 1_100)}`]);
  return [
    `${screen.bold(oneLine(item.name))}  ${screen.dim(facts.join(", "))}`,
    ...line("what", item.description),
    ...line("when", item.when),
    ...line("tags", item.tags.join(", ")),
    ...item.copies.map((path) => `  also at: ${screen.path(path)}`),
    "",
    ...textLines(item.body, "  "),
    "",
  ];
}
