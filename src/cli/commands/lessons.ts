import {
  applyDecay,
  type Contradiction,
  classifyDomain,
  domains,
  explainDoubt,
  explainHeldBack,
  isSharedLesson,
  type SharedLesson,
} from "../../lessons/index.ts";
import { importKind } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import { describeChronic } from "../../recall/index.ts";
import { getSessionId, type Lesson, type LessonStatus } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { arg, type CommandCall, defineCommand, unknownName, wrongUsage } from "../command.ts";
import { changeKnack } from "../knack.ts";
import { notDone } from "../screen/changes.ts";
import {
  chronicJson,
  countStatuses,
  describeCounts,
  describeEvidence,
  describeStanding,
  evidenceJson,
  judgedJson,
  lastPart,
  lessonJson,
} from "../screen/lesson.ts";
import type { Screen } from "../screen/screen.ts";
import { formatDay, formatSpan, type Lines, oneLine } from "../screen/text.ts";
import { findLesson, findNamed, matchesId, matchesProject, nameProjects, parseOneOf } from "../select.ts";
import {
  answerList,
  changes,
  changesReal,
  type OpenCall,
  reads,
  runSubcommand,
  type Subcommands,
  takes,
} from "../subcommands.ts";
import { promoteGap } from "./gaps.ts";
import { acceptNamed, rejectNamed } from "./skill-changes.ts";

const statuses: readonly LessonStatus[] = [
  ...(["pending", "active", "conflict-hold", "promoted", "superseded", "rejected", "retired"] as const),
];

/** Listed only with --all. */
const pastStatuses: readonly LessonStatus[] = ["retired", "superseded", "rejected"];

const args = {
  words: arg.words(
    "show <id>: everything about one; keep <id>, reject <id>: decide about a lesson, a contradiction, a lead or an import; split <id>: take apart what was merged; restore <id>: bring a retired one back",
  ),
  leads: arg.flag("places where something may be learned that nobody judged"),
  unsolved: arg.flag("failures that three sessions or more met and none overcame"),
  imported: arg.flag("imported lessons that wait for your decision"),
  domain: arg.option(`only lessons about this: ${domains.join(", ")}`),
  project: arg.option("only projects whose name or id contains this"),
  status: arg.option(`only these: ${statuses.join(", ")}`),
  all: arg.flag("also retired, superseded and rejected lessons"),
  dropped: arg.flag("what the judge left aside, and why"),
  where: arg.option("with keep: me, repository or everywhere"),
  ...arg.dryRun,
  ...arg.json,
};

type LessonsCall = CommandCall<typeof args>;
type OpenLessonsCall = OpenCall<LessonsCall>;

const oneLesson = takes("the id or the name of a lesson", "knack lessons lists them.");

const someLessons = takes("the ids or names of lessons", "knack lessons lists them.", { several: true });

const subcommands: Subcommands<LessonsCall> = {
  list: reads((call) => {
    const { dropped, imported, leads, unsolved } = call.args;
    if (unsolved) return listUnsolved(call);
    return (dropped ? listDropped : imported ? listImported : leads ? listLeads : list)(call);
  }),
  show: reads(show, oneLesson),
  restore: changes(restore, oneLesson),
  // No copy has the sessions that leads are in.
  keep: changesReal(keepAll, someLessons),
  accept: changesReal(keepAll, someLessons),
  reject: changes(reject, oneLesson),
  split: changes(split, oneLesson),
};

export const lessons = defineCommand({
  about: "Show what Knack learned, how sure it is, and the evidence.",
  args,
  completes: [Object.keys(subcommands)],
  run: (call: LessonsCall) => runSubcommand("lessons", subcommands, call),
});

async function list(call: OpenLessonsCall): Promise<number> {
  const { screen, knack } = call;
  const { all, project } = call.args;
  const status = parseOneOf("status", call.args.status, statuses);
  const domain = parseOneOf("domain", call.args.domain, domains);
  const now = ({ state }: Lesson) => applyDecay(state, Date.now());
  const nameProject = await nameProjects(knack);
  const every = await knack.lessons();
  const shown = every.filter(
    (lesson) =>
      (domain === null || classifyDomain(lesson) === domain) &&
      (status === null ? all || !pastStatuses.includes(now(lesson).status) : now(lesson).status === status) &&
      matchesProject(project, nameProject(lesson.project), lesson.project),
  );
  const hidden = every.length - shown.length;
  const contradictions = (await knack.contradictions()).filter(({ lessons: pair }) =>
    pair.some(({ id }) => shown.some((lesson) => lesson.id === id)),
  );
  const bandOf = call.wantsJson ? await knack.bands() : () => null;
  if (!call.wantsJson) screen.print(describeContradictions(contradictions, screen));
  return answerList(call, {
    items: shown,
    json: {
      lessons: shown.map((lesson) => fullJson(lesson, bandOf(lesson))),
      contradictions: contradictions.map(contradictionJson),
    },
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
      hidden > 0 && ["", `${hidden} more with --all or other filters.`],
      shown.length > 0 && [
        "",
        `${several(every.length, "lesson")}: ${describeCounts(countStatuses(every))}. Evidence: ${screen.knack} lessons show <id>`,
        screen.dim(explainStatuses(new Set(every.map((lesson) => now(lesson).status)))),
      ],
    ],
  });
}

/** Both sides of each contradiction, and which one holds until the person decides. */
function describeContradictions(contradictions: readonly Contradiction[], screen: Screen): Lines {
  if (contradictions.length === 0) return [];
  return [
    screen.bold(`${several(contradictions.length, "contradiction")} for you to decide:`),
    contradictions.map(({ lessons: pair, holds }) => [
      pair.map((one) => {
        const mark = one.id === holds ? "  (holds by default: you said it later)" : "";
        return `  ${one.id}  ${formatDay(one.state.lastAt)}  ${oneLine(one.lesson, 100)}${mark}`;
      }),
      holds === null && "    neither was said later by you: decide which one holds",
    ]),
    `Decide: ${screen.knack} lessons keep <id> keeps one and rejects the other; or ${screen.knack} lessons reject <id>`,
    "",
  ];
}

function contradictionJson({ lessons: pair, holds }: Contradiction) {
  return { lessons: pair.map(({ id, lesson }) => ({ id, lesson })), holds };
}

/** A lesson with its confidence band and what it is about. */
function fullJson(lesson: Lesson, band: string | null) {
  return {
    ...lessonJson(lesson),
    band,
    domain: classifyDomain(lesson),
    promotedAs: lesson.state.promotion?.lesson ?? null,
  };
}

async function show(call: OpenLessonsCall, word: string): Promise<number> {
  const { screen, knack } = call;
  const lesson = await findLesson(knack, word);
  const { kept } = await findNamed(knack, lesson.id);
  const evidence = await knack.evidence(lesson);
  const band = (await knack.bands(lesson))(lesson);
  const every = await knack.lessons();
  const heldBack = explainHeldBack(lesson, every);
  const doubt = explainDoubt(lesson);
  const { sessions, firstAt, lastAt } = lesson.state;
  return call.answer({ lesson: fullJson(lesson, band), heldBack, ...evidenceJson(evidence) }, [
    `${screen.bold(lesson.name)}  ${screen.dim(`${lesson.id}, ${lesson.artifact}`)}`,
    `  ${oneLine(lesson.lesson, 400)}`,
    `  when: ${oneLine(lesson.trigger, 200)}`,
    `  then: ${oneLine(lesson.action, 200)}`,
    `  ${describeStanding(lesson)}, ${several(sessions, "session")}, ${formatSpan(firstAt, lastAt)}`,
    doubt !== null && `  not told to agents before you keep it: ${oneLine(doubt, 200)}`,
    lesson.state.shelved !== undefined &&
      `  not offered before another session confirms it: ${oneLine(lesson.state.shelved, 200)}`,
    heldBack !== null && `  neither offered nor told to agents: ${oneLine(heldBack, 200)}`,
    kept.map(({ name, path, state }) => `  kept as ${name} (${state}): ${path}`),
    describeEvidence(evidence, screen, every),
  ]);
}

async function listDropped(call: OpenLessonsCall): Promise<number> {
  const { knack } = call;
  const judged = judgedJson(await knack.judged());
  return call.answer(judged, [
    judged.aside.length === 0 && "No judge has left anything aside.",
    judged.aside.map(({ session, what, because }) => [
      oneLine(what, 200),
      `  ${oneLine(because, 200)}  (${oneLine(call.screen.path(session), 200)})`,
    ]),
  ]);
}

async function restore(call: OpenLessonsCall, word: string): Promise<number> {
  const { dryRun, knack } = call;
  const { id, name, state } = await findLesson(knack, word);
  if (applyDecay(state, Date.now()).status !== "retired")
    throw unknownName(`"${word}" is not retired.`, "knack lessons --status retired lists those that are.");
  if (!dryRun) await knack.decide(id, "unskipped");
  return call.answer({ done: !dryRun, lesson: id }, [
    `${name} ${dryRun ? "would be" : "is"} restored, and waits for new evidence.`,
  ]);
}

// --- Decisions ---

async function keepAll(call: OpenLessonsCall, words: string): Promise<number> {
  const codes: number[] = [];
  for (const word of words.split(" ")) codes.push(await keep(call, word));
  return Math.max(...codes);
}

/** Keeps a lead or a lesson as something for agents, or accepts an import; what contradicts it is rejected. */
async function keep(call: OpenLessonsCall, word: string): Promise<number> {
  const { dryRun, knack } = call;
  const imported = await findImport(knack, word, "accepted");
  if (imported) return decideImport(call, imported, "accepted");
  const lead = await findLead(knack, word);
  if (lead && dryRun)
    return call.answer({ done: false, lead: lead.id }, [
      `Would keep: ${oneLine(lead.lead.summary, 200)}`,
      "Nothing was changed (--dry-run).",
    ]);
  const lesson = lead ? await knack.keepLead(lead.session, lead.lead) : await findLesson(knack, word);
  const code = await acceptNamed(call, lesson.id);
  if (code !== 0 || dryRun) return code;
  const opposed = await knack.rejectOpposed(lesson);
  if (!call.wantsJson)
    call.screen.print(
      opposed.map((one) => `Rejected, because it says the opposite: ${oneLine(one.lesson, 100)}`),
    );
  return code;
}

async function reject(call: OpenLessonsCall, word: string): Promise<number> {
  const imported = await findImport(call.knack, word, "rejected");
  return imported ? decideImport(call, imported, "rejected") : rejectNamed(call, word);
}

async function split(call: OpenLessonsCall, word: string): Promise<number> {
  const { dryRun, knack } = call;
  const lesson = await findLesson(knack, word);
  const parts = await knack.split(lesson);
  if (parts.length < 2)
    return call.refuse({ done: false, lesson: lesson.id }, [
      notDone(`nothing was merged into ${lesson.name}`),
    ]);
  return call.answer({ done: !dryRun, lessons: parts.map(({ id }) => id) }, [
    `${lesson.name} ${dryRun ? "would be" : "is"} ${parts.length} lessons again, and will not be merged again:`,
    parts.map(({ id, lesson: text }) => `  ${id}  ${oneLine(text, 100)}`),
  ]);
}

// --- Leads ---

async function listLeads(call: OpenLessonsCall): Promise<number> {
  const { knack, args: given } = call;
  const nameProject = await nameProjects(knack);
  const all = await knack.unkeptLeads(await knack.leads());
  const shown = all
    .filter(({ session: { project } }) => matchesProject(given.project, nameProject(project.id), project.id))
    .sort((a, b) => (b.lead.at ?? 0) - (a.lead.at ?? 0));
  return answerList(call, {
    items: shown,
    json: {
      leads: shown.map(({ id, session, lead: { kind, summary, confidence, keys, at } }) => {
        const place = { project: session.project.id, session: session.id, events: keys };
        return { id, kind, summary, confidence, at, ...place };
      }),
    },
    columns: {
      id: ({ id }) => id,
      kind: ({ lead }) => lead.kind,
      hope: ({ lead }) => lead.confidence.toFixed(2),
      project: ({ session }) => oneLine(nameProject(session.project.id), 24),
      session: ({ session }) => oneLine(lastPart(getSessionId(session))).slice(0, 13),
      summary: ({ lead }) => oneLine(lead.summary, 80),
    },
    empty: ["No leads wait."],
    below: [
      shown.length > 0 && [
        "",
        `Keep one as it is: ${call.screen.knack} lessons keep <id>. Have them judged: ${call.screen.knack} learn --judge ${call.screen.judge}`,
      ],
    ],
  });
}

/** Failures that several sessions met and none overcame, and the sessions. */
async function listUnsolved(call: OpenLessonsCall): Promise<number> {
  const { knack, screen, args: given } = call;
  const nameProject = await nameProjects(knack);
  const shown = (await knack.chronic()).filter(({ project }) =>
    matchesProject(given.project, nameProject(project), project),
  );
  return call.answer({ chronic: shown.map(chronicJson) }, [
    shown.length === 0 && "No failure was met in three sessions and left unsolved.",
    shown.map((one) => [
      describeChronic(one),
      `  ${oneLine(nameProject(one.project), 40)}`,
      one.sessions.map((session) => `  ${screen.dim(screen.path(session))}`),
      "",
    ]),
    shown.length > 0 && "A session that overcomes one takes it off this list.",
  ]);
}

async function findLead(knack: Knack, word: string) {
  const found = (await knack.unkeptLeads(await knack.leads())).filter(({ id }) => matchesId(id, word));
  if (found.length < 2) return found[0];
  throw unknownName(
    `"${word}" matches ${found.length} leads.`,
    found.map(({ id, lead }) => `${id} ${oneLine(lead.summary, 40)}`).join("; "),
  );
}

// --- Imported lessons ---

async function listImported(call: OpenLessonsCall): Promise<number> {
  const { knack } = call;
  const { knack: called } = call.screen;
  const shown = (await knack.imports()).filter(({ status }) => call.args.all || status === "waiting");
  return answerList(call, {
    items: shown,
    json: {
      imported: shown.map((one) => {
        const { finding, ...rest } = { finding: null, ...one };
        return { ...rest, ...finding, kind: importKind(one), at: one.at };
      }),
    },
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
    below: [
      shown.length > 0 && [
        "",
        `Lessons: ${called} lessons accept <id>, or reject <id>. Others: ${called} skills accept <name>`,
      ],
    ],
  });
}

/** Accepts or rejects an imported lesson. A yes can be taken back by a later no. */
async function decideImport(
  call: OpenLessonsCall,
  { id, finding }: NonNullable<Awaited<ReturnType<typeof findImport>>>,
  decision: "accepted" | "rejected",
): Promise<number> {
  const { screen, dryRun, knack } = call;
  const kept = decision === "accepted" ? [] : (await knack.shelf()).filter((one) => one.origin.id === id);
  if (!dryRun) await knack.decideImports([id], decision);
  const after =
    decision === "accepted" ? ". It counts as your own instruction." : ", and will not be imported again.";
  return call.answer({ done: !dryRun, lesson: id, decision }, [
    `${finding.name} ${dryRun ? "would be" : "is"} ${decision}${after}`,
    [...new Set(kept.map(({ name }) => name))].map(
      (name) => `Its files stay. To remove them: ${screen.knack} skills reject ${name}`,
    ),
  ]);
}

/** The imported lesson that may be decided so; undefined where there is none. */
async function findImport(knack: Knack, word: string, decision: "accepted" | "rejected") {
  const open = decision === "rejected" ? ["waiting", "accepted"] : ["waiting"];
  const found = (await knack.imports()).flatMap((one) =>
    one.type === "lesson" &&
    open.includes(one.status) &&
    (matchesId(one.id, word) || one.finding.name === word)
      ? one
      : [],
  );
  const [first] = found;
  if (found.length < 2) return first;
  throw unknownName(
    `"${word}" matches ${found.length} imported lessons.`,
    found.map(({ id, finding }) => `${id} ${finding.name}`).join("; "),
  );
}

// --- Lessons in every project ---

const promoteArgs = {
  words: arg.words(
    "without words: list lessons that several projects have; lesson <id> or gap <id>: promote one",
  ),
  undo: arg.option("use this lesson only where it was learned again"),
  ...arg.dryRun,
  ...arg.json,
};

type PromoteCall = CommandCall<typeof promoteArgs>;

const promotions: Subcommands<PromoteCall> = {
  list: reads(listShared),
  lesson: changes(promoteLesson, oneLesson),
  instinct: changes(promoteLesson, oneLesson),
  gap: promoteGap,
};

export const promote = defineCommand({
  about:
    "Use lessons that several projects learned in every project. Knack does that by itself after learning; this shows which, and why not.",
  args: promoteArgs,
  completes: [Object.keys(promotions)],
  run: async (call: PromoteCall) => {
    const { undo } = call.args;
    if (undo === undefined) return runSubcommand("promote", promotions, call);
    return changeKnack(call, (knack) => demote({ ...call, knack }, undo));
  },
});

async function listShared(call: OpenCall<PromoteCall>): Promise<number> {
  const { screen, knack } = call;
  const shared = await knack.sharedLessons();
  const nameProject = await nameProjects(knack);
  const rows = shared.map(({ lesson, projects, mean, promoted }) => [
    lesson.id,
    oneLine(projects.map(nameProject).join(", "), 40),
    mean.toFixed(2),
    promoted ? "everywhere" : "where learned",
    oneLine(lesson.lesson, 80),
  ]);
  const [head, ...lines] = screen.table(["id", "projects", "sure", "used", "lesson"], rows);
  return call.answer(
    { lessons: shared.map((one) => sharedJson(one, nameProject)) },
    shared.length === 0
      ? ["No lesson was learned in more than one project yet."]
      : [
          head,
          shared.map(({ verdict }, at) => [lines[at], describeVerdict(verdict)]),
          "",
          `Promote one: ${screen.knack} promote lesson <id>. Undo: ${screen.knack} promote --undo <id>`,
        ],
  );
}

/** Explains the verdict on a shared lesson; null where its row says it. */
function describeVerdict(verdict: SharedLesson["verdict"]): string | null {
  switch (verdict.do) {
    case "promote":
    case "join":
      return "  will be used everywhere after the next knack learn";
    case "hold":
      return `  will be used only where it was learned after the next knack learn: ${verdict.because}`;
    case "nothing":
      return verdict.because.startsWith("it is told") ? null : `  not promoted: ${verdict.because}`;
  }
}

async function promoteLesson(call: OpenCall<PromoteCall>, word: string): Promise<number> {
  const { screen, dryRun, knack } = call;
  const lesson = await findLesson(knack, word);
  const shared = await knack.sharedBy(lesson);
  if (lesson.state.status === "rejected")
    return refuse(call, `${lesson.name} was rejected`, `${screen.knack} skills unskip ${lesson.name}`);
  if (isSharedLesson(lesson)) return refuse(call, `${lesson.name} is already used everywhere`);
  if (!dryRun) await knack.promote(shared, lesson);
  const { verdict } = shared;
  const json = sharedJson({ ...shared, lesson }, await nameProjects(knack));
  return call.answer({ done: !dryRun, lesson: json }, [
    `${lesson.name} ${dryRun ? "would be" : "is"} used in every project.`,
    verdict.do === "nothing" && `Knack itself would not promote it: ${verdict.because}.`,
    dryRun ? "Nothing was changed (--dry-run)." : `To undo: ${screen.knack} promote --undo ${lesson.id}`,
  ]);
}

async function demote(call: OpenCall<PromoteCall>, word: string): Promise<number> {
  const { screen, dryRun, knack } = call;
  const lesson = await findLesson(knack, word);
  const { id, name } = lesson;
  if (lesson.state.promotion?.lesson == null)
    return refuse(call, `${name} was not promoted`, `${screen.knack} promote lists what was`);
  if (!dryRun) await knack.demote(lesson);
  return call.answer({ done: !dryRun, lesson: { id, name } }, [
    `${name} ${dryRun ? "would be" : "is"} used only where it was learned. Knack will not promote it again by itself.`,
  ]);
}

function refuse(call: PromoteCall, because: string, hint?: string): number {
  return call.refuse({ done: false, because }, [notDone(because), hint && `  ${hint}`]);
}

function sharedJson(
  { lesson, members, projects, verdict, ...rest }: SharedLesson,
  name: (id: string) => string,
) {
  return {
    ...rest,
    ...{ id: lesson.id, name: lesson.name, lesson: lesson.lesson, members: members.map(({ id }) => id) },
    projects: projects.map((id) => ({ id, name: name(id) })),
    next: verdict.do,
    because: "because" in verdict ? verdict.because : null,
  };
}

// --- Lessons that were seen once ---

/** Days that a pending lesson waits for a second session, by default and at most. */
const defaultDays = 30;
const mostDays = 36_500;

export const prune = defineCommand({
  about: "Retire lessons that were seen once and never again. New evidence, or you, can bring them back.",
  args: {
    "max-age": arg.option(
      `retire pending lessons without new evidence for this many days (default: ${defaultDays})`,
    ),
    undo: arg.flag("restore what the latest prune retired"),
    ...arg.dryRun,
    ...arg.json,
  },
  run: async (call) => {
    const { args, screen, dryRun } = call;
    const days = parseDays(args["max-age"]);
    const describe = ({ id, lesson, state }: Lesson) =>
      `  ${id}  ${formatDay(state.lastAt)}  ${oneLine(lesson, 100)}`;
    return changeKnack(call, async (knack) => {
      if (args.undo) {
        const restored = await knack.unprune();
        const count = several(restored.length, "lesson");
        return call.answer({ done: !dryRun, restored: restored.map(lessonJson) }, [
          restored.length === 0
            ? "Nothing to restore."
            : `${dryRun ? "Would restore" : "Restored"} ${count}:`,
          restored.map(describe),
        ]);
      }
      const retired = dryRun ? await knack.prunable(days) : await knack.prune(days);
      const json = { done: !dryRun, days, retired: retired.map(lessonJson) };
      if (retired.length === 0) return call.answer(json, ["Nothing to prune."]);
      return call.answer(json, [
        `${dryRun ? "Would retire" : "Retired"} ${several(retired.length, "lesson")} without new evidence for more than ${several(days, "day")}:`,
        retired.map(describe),
        dryRun
          ? "Nothing was retired (--dry-run)."
          : `To undo: ${screen.knack} prune --undo, or ${screen.knack} lessons restore <id>`,
      ]);
    });
  },
});

function parseDays(text: string | undefined): number {
  if (text === undefined) return defaultDays;
  const days = Number(text);
  if (!/^\d+(?:\.\d+)?$/.test(text.trim()) || days > mostDays)
    throw wrongUsage(`Invalid --max-age "${text}".`, `Use a number of days up to ${mostDays}: --max-age 30`);
  return days;
}

/** Explains those words of the status column that occur. */
const statusMeanings: Readonly<Record<string, string>> = {
  active: "sure enough to use",
  pending: "waits for more evidence",
  promoted: "used in every project",
  "conflict-hold": "held back by a contradiction",
};

function explainStatuses(found: ReadonlySet<string>): string {
  const said = Object.entries(statusMeanings).filter(([status]) => found.has(status));
  return said.map(([status, meaning]) => `${status}: ${meaning}`).join("; ");
}
