import {
  applyDecay,
  classifyBand,
  classifyDomain,
  domains,
  findPromotable,
  type Import,
} from "../../lessons/index.ts";
import { importKind } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import type { Lesson, LessonStatus } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { redact } from "../../trust/index.ts";
import { type CommandCall, defineCommand, dryRunArg, jsonArg, unknownName, wrongUsage } from "../command.ts";
import { changeKnack, withKnack } from "../knack.ts";
import { describeEvidence, describeStanding, evidenceJson, lessonJson } from "../screen/lesson.ts";
import { answerList } from "../screen/list.ts";
import { formatDay, formatSpan, iso, oneLine } from "../screen/text.ts";
import { findLesson, findNamed, matchesId, matchesProject, nameProjects, parseOneOf } from "../select.ts";
import { judgedJson } from "./learn/results.ts";

const statuses: readonly LessonStatus[] = [
  "pending",
  "active",
  "conflict-hold",
  "promoted",
  "superseded",
  "rejected",
  "retired",
];

/** Listed only with --all. */
const pastStatuses: readonly LessonStatus[] = ["retired", "superseded", "rejected"];

const args = {
  words: {
    type: "positional",
    required: false,
    description:
      "show <id>: everything about one; restore <id>: bring a retired one back; accept <id>, reject <id>: decide about an imported one",
  },
  imported: { type: "boolean", description: "imported lessons that wait for your decision" },
  domain: { type: "string", description: `only lessons about this: ${domains.join(", ")}` },
  project: { type: "string", description: "only projects whose name or id contains this" },
  status: { type: "string", description: `only these: ${statuses.join(", ")}` },
  all: { type: "boolean", description: "also retired, superseded and rejected lessons" },
  dropped: { type: "boolean", description: "what a model judged not to be worth keeping, and why" },
  ...dryRunArg,
  ...jsonArg,
} as const;

type LessonsCall = CommandCall<typeof args>;

export const lessons = defineCommand({
  about: "Show what Knack learned, how sure it is, and the evidence.",
  args,
  run: async (call: LessonsCall) => {
    if (call.args.dropped) return listDropped(call);
    const [action, id, ...more] = call.args._;
    if (action === undefined) return call.args.imported ? listImported(call) : list(call);
    const isOne = id !== undefined && id !== "" && more.length === 0;
    if (isOne && action === "show") return show(call, id);
    if (isOne && action === "restore") return restore(call, id);
    if (isOne && action === "accept") return decideImport(call, id, "accepted");
    if (isOne && action === "reject") return decideImport(call, id, "rejected");
    throw wrongUsage(
      `Invalid arguments for knack lessons: "${call.args._.join(" ")}".`,
      "knack lessons, or knack lessons show|restore|accept|reject <id>",
    );
  },
});

async function list(call: LessonsCall): Promise<number> {
  const { screen } = call;
  const { all, project } = call.args;
  const status = parseOneOf("status", call.args.status, statuses);
  const domain = parseOneOf("domain", call.args.domain, domains);
  return withKnack(call, async (knack) => {
    const nameProject = await nameProjects(knack);
    const every = await knack.lessons();
    const shown = every.filter((lesson) => {
      const now = applyDecay(lesson.state, Date.now()).status;
      return (
        (domain === null || classifyDomain(lesson) === domain) &&
        (status === null ? all || !pastStatuses.includes(now) : now === status) &&
        matchesProject(project, nameProject(lesson.project), lesson.project)
      );
    });
    const hidden = every.length - shown.length;
    const promotable = call.args.json ? findPromotable(await knack.sharedLessons()) : new Set<string>();
    const now = ({ state }: Lesson) => applyDecay(state, Date.now());
    return answerList(call, {
      items: shown,
      json: () => ({ instincts: shown.map((lesson) => fullJson(lesson, promotable)) }),
      columns: {
        id: ({ id }) => id,
        status: (lesson) => now(lesson).status,
        sure: (lesson) => now(lesson).confidence.toFixed(2),
        sessions: ({ state }) => String(state.sessions),
        last: ({ state }) => formatDay(state.lastAt),
        for: ({ scope, project: id }) => (scope === "user" ? "you" : oneLine(nameProject(id), 24)),
        lesson: ({ lesson }) => oneLine(lesson, 80),
      },
      empty: [every.length === 0 ? `No lessons yet. ${screen.knack} learn finds them.` : "No lessons match."],
      below: [
        ...(hidden > 0 ? ["", `${hidden} more with --all or other filters.`] : []),
        ...(shown.length > 0 ? ["", `Evidence: ${screen.knack} lessons show <id>`] : []),
      ],
    });
  });
}

/** A lesson with its confidence band and what it is about. */
function fullJson(lesson: Lesson, promotable: ReadonlySet<string>) {
  return {
    ...lessonJson(lesson),
    band: classifyBand(lesson, { now: Date.now(), promotable }),
    domain: classifyDomain(lesson),
    promotedAs: lesson.state.promotion?.lesson ?? null,
  };
}

async function show(call: LessonsCall, word: string): Promise<number> {
  const { screen } = call;
  return withKnack(call, async (knack) => {
    const lesson = await findLesson(knack, word);
    const { kept } = await findNamed(knack, lesson.id);
    const evidence = await knack.evidence(lesson);
    const promotable = findPromotable([await knack.sharedBy(lesson)]);
    const all = new Map((await knack.lessons()).map((one) => [one.id, one]));
    const { sessions, firstAt, lastAt } = lesson.state;
    return call.answer({ instinct: fullJson(lesson, promotable), ...evidenceJson(evidence) }, [
      `${screen.bold(lesson.name)}  ${screen.dim(`${lesson.id}, ${lesson.artifact}`)}`,
      `  ${oneLine(lesson.lesson, 400)}`,
      `  when: ${oneLine(lesson.trigger, 200)}`,
      `  then: ${oneLine(lesson.action, 200)}`,
      `  ${describeStanding(lesson)}, ${several(sessions, "session")}, ${formatSpan(firstAt, lastAt)}`,
      ...kept.map(({ name, path, state }) => `  kept as ${name} (${state}): ${path}`),
      ...describeEvidence(evidence, all),
    ]);
  });
}

async function listDropped(call: LessonsCall): Promise<number> {
  return withKnack(call, async (knack) => {
    const judged = judgedJson(await knack.judged(), (session) => session);
    return call.answer(
      judged,
      judged.dropped.length === 0
        ? ["No model has dropped anything."]
        : judged.dropped.flatMap(({ session, kind, lesson, because }) => [
            `${kind}: ${oneLine(lesson, 200)}`,
            `  ${oneLine(because, 200)}  (${oneLine(session, 200)})`,
          ]),
    );
  });
}

/** Lets a retired lesson wait for evidence again. */
async function restore(call: LessonsCall, word: string): Promise<number> {
  const { dryRun } = call;
  return changeKnack(call, async (knack) => {
    const lesson = await findLesson(knack, word);
    if (applyDecay(lesson.state, Date.now()).status !== "retired")
      throw unknownName(`"${word}" is not retired.`, "knack lessons --status retired lists those that are.");
    if (!dryRun) await knack.decide(lesson.id, "unskipped");
    return call.answer({ done: !dryRun, instinct: lesson.id }, [
      `${lesson.name} ${dryRun ? "would be" : "is"} restored, and waits for new evidence.`,
    ]);
  });
}

// --- Imported lessons ---

async function listImported(call: LessonsCall): Promise<number> {
  const { screen } = call;
  return withKnack(call, async (knack) => {
    const shown = (await knack.imports()).filter(({ status }) => call.args.all || status === "waiting");
    return answerList(call, {
      items: shown,
      json: () => ({ imported: shown.map(importJson) }),
      columns: {
        id: ({ id }) => id,
        kind: importKind,
        status: ({ status }) => status,
        sure: (one) => (one.type === "lesson" ? one.finding.confidence.toFixed(2) : ""),
        imported: ({ at }) => formatDay(at),
        from: ({ from }) => oneLine(from, 30),
        text: (one) =>
          oneLine(one.type === "lesson" ? one.finding.lesson : `${one.name}: ${one.description}`, 80),
      },
      empty: ["No imported lessons or skills wait for your decision."],
      below:
        shown.length === 0
          ? []
          : [
              "",
              `Lessons: ${screen.knack} lessons accept <id>, or reject <id>. Others: ${screen.knack} skills accept <name>`,
            ],
    });
  });
}

function importJson(one: Import) {
  const { id, status, from, at } = one;
  const common = { id, kind: importKind(one), status, from, at: iso(at) };
  if (one.type === "skill")
    return { ...common, name: one.name, description: one.description, hash: one.hash };
  const { lesson, trigger, action, confidence, name, scope } = one.finding;
  return {
    ...common,
    name,
    scope,
    project: redact(one.project),
    domain: one.domain,
    confidence,
    lesson: redact(lesson),
    trigger: redact(trigger),
    action: redact(action),
  };
}

/** Accepts or rejects an imported lesson. A yes can be taken back by a later no. */
async function decideImport(
  call: LessonsCall,
  word: string,
  decision: "accepted" | "rejected",
): Promise<number> {
  const { screen, dryRun } = call;
  return changeKnack(call, async (knack) => {
    const { id, finding } = await findImport(knack, word, decision);
    const kept = decision === "accepted" ? [] : (await knack.shelf()).filter((one) => one.origin.id === id);
    if (!dryRun) await knack.decideImports([id], decision);
    return call.answer({ done: !dryRun, instinct: id, decision }, [
      decision === "accepted"
        ? `${finding.name} ${dryRun ? "would be" : "is"} accepted. It counts as your own instruction.`
        : `${finding.name} ${dryRun ? "would be" : "is"} rejected, and will not be imported again.`,
      ...[...new Set(kept.map(({ name }) => name))].map(
        (name) => `Its files stay. To remove them: ${screen.knack} skills reject ${name}`,
      ),
    ]);
  });
}

async function findImport(knack: Knack, word: string, decision: "accepted" | "rejected") {
  const open = decision === "rejected" ? ["waiting", "accepted"] : ["waiting"];
  const found = (await knack.imports()).flatMap((one) =>
    one.type === "lesson" &&
    open.includes(one.status) &&
    (matchesId(one.id, word) || one.finding.name === word)
      ? one
      : [],
  );
  const [first, ...others] = found;
  if (first && others.length === 0) return first;
  if (first)
    throw unknownName(
      `"${word}" matches ${found.length} imported lessons.`,
      found.map(({ id, finding }) => `${id} ${finding.name}`).join("; "),
    );
  throw unknownName(
    `No imported lesson "${word}" ${decision === "accepted" ? "waits for a decision" : "waits or was accepted"}.`,
    `knack lessons --imported --all lists them. For lessons of your own: knack skills ${decision === "accepted" ? "accept" : "reject"} <name>`,
  );
}
