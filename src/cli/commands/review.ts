import { existsSync, readFileSync } from "node:fs";
import type { ProposalView, Reviewers } from "../../authoring/index.ts";
import { type Plan, projectMissing } from "../../library/index.ts";
import { formatUsd } from "../../models/index.ts";
import type { Knack } from "../../open.ts";
import type { LiveReach, NudgeDecided, ReviewWindow, SignalGiven } from "../../records/index.ts";
import { isDisabled, resolveHome } from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import { arg, type CommandCall, defineCommand, unknownName, wrongUsage } from "../command.ts";
import { changeKnack, withKnack } from "../knack.ts";
import { applyChange, describeDiff, notDone, refuseChange } from "../screen/changes.ts";
import { findMissingModel } from "../screen/judge.ts";
import { lastPart } from "../screen/lesson.ts";
import { describeSize, measureWindow, type ReviewStatus, readReviewStatus } from "../screen/review.ts";
import type { Screen } from "../screen/screen.ts";
import {
  formatCount,
  formatDay,
  formatTime,
  groupItems,
  type Lines,
  oneLine,
  textLines,
} from "../screen/text.ts";
import {
  findSession,
  matchesId,
  matchesName,
  matchesProject,
  nameProjects,
  parseWhere,
  readInput,
} from "../select.ts";
import {
  answerList,
  changesReal,
  type OpenCall,
  reads,
  runSubcommand,
  type Subcommands,
  takes,
} from "../subcommands.ts";

const args = {
  words: arg.words(
    "inbox, diff <id>, accept <id>, reject <id>, take <file>; without words: what is due, and why",
  ),
  now: arg.flag("review this folder's project now"),
  project: arg.option("another project, by a part of its name or id"),
  all: arg.flag("with inbox: also proposals that were decided"),
  where: arg.option("with accept, for a new skill: me, repository or everywhere"),
  session: arg.option("with take: the agent's session that the reply belongs to"),
  ...arg.json,
  "dry-run": arg.flag("print what a review would send and cost; with accept or reject: change nothing"),
} as const;

type ReviewCall = CommandCall<typeof args>;

const oneProposal = takes(
  "the id of a proposal, or the name of its skill",
  "knack review inbox lists the proposals.",
);

const subcommands: Subcommands<ReviewCall> = {
  inbox: reads(inbox),
  diff: reads(diff, oneProposal),
  accept: changesReal(accept, oneProposal),
  reject: changesReal(reject, oneProposal),
  take,
};

export const review = defineCommand({
  about: "Background reviews of your sessions: what is due, what was proposed, and your decisions.",
  args,
  completes: [Object.keys(subcommands)],
  run: async (call: ReviewCall) => {
    const [name = ""] = call.args._;
    if (isDisabled(call.env) && (call.args.now || ["accept", "reject", "take"].includes(name)))
      return call.refuse({ done: false, off: "KNACK_DISABLE is set" }, [
        "Knack is off: KNACK_DISABLE is set. Nothing was done.",
      ]);
    if (name !== "") return runSubcommand("review", subcommands, call);
    if (call.dryRun) return withKnack(call, (knack) => preview({ ...call, knack }), { dryRun: false });
    if (call.args.now) return changeKnack(call, (knack) => reviewNow({ ...call, knack }));
    return withKnack(call, (knack) => showState({ ...call, knack }));
  },
});

// --- What is due ---

async function showState(call: OpenCall<ReviewCall>): Promise<number> {
  const { knack } = call;
  const { project } = call.args;
  const wanted = project === undefined ? null : await findProject(knack, project);
  const status = await readReviewStatus(knack, await knack.projects());
  const shown = status.projects.filter((one) => wanted === null || one.project === wanted);
  return call.answer({ ...status, projects: shown }, [
    describeState(status, call.screen),
    // With reviews off, none is due anywhere.
    (status.mode !== "off" || wanted !== null) &&
      shown.map(
        ({ name, run, message, ...size }) =>
          `${oneLine(name, 60)}: ${run ? "due" : "not due"}: ${oneLine(message, 160)}; it would look at ${describeSize(size)}`,
      ),
    wanted !== null && shown.length === 0 && "There is nothing new in that project.",
  ]);
}

function describeState(status: ReviewStatus, screen: Screen): Lines {
  const { mode, today, limits, last, signals, waiting, begun } = status;
  const missing = findMissingModel(status, screen);
  const lately = last && `${formatDay(last.at ?? 0)}: ${last.outcome} (${oneLine(last.because, 160)})`;
  const inbox = `${several(waiting, "proposal")}: ${screen.knack} review inbox`;
  return [
    `Reviews: ${mode}${mode === "off" ? ` (to turn them on: ${screen.knack} config set review suggest)` : ""}`,
    `  model    ${describeModel(status)}`,
    missing && `           ${missing.because}: ${missing.next}`,
    `  today    ${today.reviews} of ${several(limits.perDay, "review")}, ${formatUsd(today.usd)} of ${formatUsd(limits.usdPerDay)}; one may cost ${formatUsd(limits.usd)}`,
    begun.length > 0 &&
      `  begun    ${begun.length === 1 ? "one has" : `${begun.length} have`} not finished yet, since ${formatTime(Math.min(...begun))}; the next review continues it`,
    `  last     ${lately ?? "none yet"}`,
    `  signals  ${signals.counted} waiting, ${signals.refused} refused so far`,
    `  inbox    ${waiting === 0 ? "empty" : inbox}`,
  ];
}

/** The id of the project whose name or id contains this; without it, of the project in this folder. */
async function findProject(knack: Knack, part: string | undefined): Promise<string> {
  if (part === undefined) return knack.projectOf(process.cwd());
  const all = await knack.projects();
  const exact = all.filter(({ id, name }) => id === part || name === part);
  const found = exact.length > 0 ? exact : all.filter(({ id, name }) => matchesProject(part, name, id));
  const [first] = found;
  if (first && found.length === 1) return first.id;
  throw unknownName(
    first ? `"${part}" matches ${found.length} projects.` : `No project matches "${part}".`,
    first ? found.map(({ id }) => id).join("; ") : "knack projects lists them.",
  );
}

// --- Reviewing ---

async function reviewNow(call: OpenCall<ReviewCall>): Promise<number> {
  const { knack } = call;
  const project = await findProject(knack, call.args.project);
  const [done] = await knack.review({ projects: [project], asked: true });
  if (!done) throw new Error("a review that was asked for has no result");
  const made = (await knack.proposals()).filter(({ id }) => done.ended?.proposals.includes(id));
  const isFine = done.ended !== null && ["nothing", "proposed", "published"].includes(done.ended.outcome);
  return (isFine ? call.answer : call.refuse)(
    { ...done, proposals: made },
    describeDone(done, made, knack.reviewers(), call.screen),
  );
}

const outcomes = {
  nothing: "nothing to learn.",
  proposed: "it has proposals for you.",
  published: "something was learned.",
  refused: "its proposals may not be written.",
  failed: "it failed; the same sessions are reviewed again later.",
  "given-up": "it failed again; these sessions are not reviewed any more.",
  skipped: "it was postponed.",
} as const;

function describeDone(
  { decision, ended, usd }: Awaited<ReturnType<Knack["review"]>>[number],
  made: readonly ProposalView[],
  reviewers: Reviewers,
  screen: Screen,
): Lines {
  if (ended === null)
    return [`Not reviewed: ${oneLine(decision.message, 300)}.`, describeRemedy(decision, reviewers, screen)];
  const label = ({ status, do: does }: ProposalView) =>
    status === "published" ? (does === "create" ? "draft" : "changed") : "proposed";
  return [
    `Reviewed ${describeWindow(decision.window)}${usd > 0 ? ` (${formatUsd(usd)})` : ""}: ${outcomes[ended.outcome]}`,
    ended.because !== "" && `  ${oneLine(ended.because, 300)}`,
    made.map((one) => `  ${label(one)}  ${one.name}  ${one.id}: ${oneLine(one.because, 160)}`),
    made.some(({ status }) => status === "waiting") && describeChoices(screen),
    made.some(({ status }) => status === "published") && `To undo: ${screen.knack} skills undo`,
  ];
}

/** The remedy for a review that does not run; null if there is none. */
function describeRemedy({ because }: NudgeDecided, reviewers: Reviewers, screen: Screen): string | null {
  const set = `${screen.knack} config set`;
  const wrong = `${screen.knack} doctor says what is wrong.`;
  const remedies: Readonly<Record<string, string | undefined>> = {
    "no-model": findMissingModel(reviewers, screen)?.next,
    off: `${set} review suggest`,
    "not-learned": `If learning is off there: ${set} learn true, with --project in that project.`,
    "nothing-new": `${screen.knack} learn reads what your agents did since.`,
    "budget-spent": `${set} judge.budgetDay <US dollars>`,
    "too-dear": `${set} review.budget <US dollars>`,
    "call-too-dear": `${set} judge.budgetCall <US dollars>`,
    "too-many-today": `${set} review.perDay <number>`,
    "library-unread": wrong,
    "breaker-open": wrong,
  };
  const remedy = remedies[because];
  return remedy === undefined ? null : `  ${remedy}`;
}

/** Shows the content and cost of a review; nothing is sent or recorded. */
async function preview(call: OpenCall<ReviewCall>): Promise<number> {
  const { now: asked = false, project } = call.args;
  const found = await call.knack.previewReview(await findProject(call.knack, project), { asked });
  return call.answer(found, describePreview(found, call.screen));
}

function describePreview(found: Awaited<ReturnType<Knack["previewReview"]>>, screen: Screen): Lines {
  const { decision, because, requests, usdAtMost, characters } = found;
  const due = decision.run ? `due (${decision.because})` : `not due: ${decision.message}`;
  const summary = `A review is ${due}; it would look at ${describeWindow(decision.window)}.`;
  if (requests.length === 0) return [summary, `Nothing would be sent: ${oneLine(because ?? "", 300)}.`];
  const missing = findMissingModel(found, screen);
  return [
    requests.map(({ system, prompt }) => [
      screen.bold("The reviewer would be told"),
      textLines(system, "  ", Number.POSITIVE_INFINITY),
      screen.bold("and shown"),
      textLines(prompt, "  ", Number.POSITIVE_INFINITY),
      "",
    ]),
    summary,
    `It would send ${formatCount(characters)} characters to ${describeModel(found)}, and cost at most ${formatUsd(usdAtMost)}.`,
    missing && `Still missing: ${missing.because}.`,
    "Nothing was sent (--dry-run).",
    !decision.run && describeRemedy(decision, found, screen),
  ];
}

function describeWindow(window: ReviewWindow): string {
  return window.stretches.length === 0 ? "nothing new" : describeSize(measureWindow(window));
}

/** A model by its name, and by its address where it has one. */
function describeModel({ model, to }: Pick<Reviewers, "model" | "to">): string {
  if (model === "off") return "a judge, once one is set";
  const isProgram = to.split(" ")[0] === model.split("/")[0];
  return isProgram ? model : `${model} (${oneLine(to, 200)})`;
}

// --- Proposals ---

function describeChoices({ knack }: Screen): string {
  return `See it: ${knack} review diff <id>. Yes: ${knack} review accept <id>. No: ${knack} review reject <id>`;
}

async function inbox(call: OpenCall<ReviewCall>): Promise<number> {
  const { knack } = call;
  const { all, project } = call.args;
  const wanted = project === undefined ? null : await findProject(knack, project);
  const every = (await knack.proposals()).filter((one) => wanted === null || one.project === wanted);
  const proposals = every.filter(({ status }) => all || status === "waiting");
  const nameProject = await nameProjects(knack);
  const hidden = every.length - proposals.length;
  return answerList(call, {
    items: proposals,
    json: { proposals },
    columns: {
      id: ({ id }) => id,
      status: ({ status }) => status,
      what: (one) => (one.do === "create" ? "new" : "change"),
      skill: ({ name }) => name,
      project: (one) => oneLine(nameProject(one.project), 24),
      because: ({ because }) => oneLine(because, 80),
    },
    empty: ["No proposals wait for a decision."],
    below: [
      hidden > 0 && `${hidden} decided or outdated: --all shows them.`,
      proposals.some(({ status }) => status === "waiting") && ["", describeChoices(call.screen)],
    ],
  });
}

/** A proposal by its id or the beginning of it, or, while it waits, by the name of its skill. */
async function findProposal(knack: Knack, word: string): Promise<ProposalView> {
  const all = await knack.proposals();
  const withId = all.filter(({ id }) => matchesId(id, word));
  const withName = all.filter(({ name }) => matchesName(name, word));
  const found = withId.length > 0 ? withId : withName.filter(({ status }) => status === "waiting");
  const [first] = found;
  if (first && found.length === 1) return first;
  const list = (first ? found : withName).map(({ id, name, status }) => `${id} ${name} (${status})`);
  throw unknownName(
    first
      ? `"${word}" matches ${found.length} proposals.`
      : withName.length > 0
        ? `"${word}" no longer waits for a decision.`
        : `No proposal is called "${word}".`,
    list.length > 0 ? `Use an id: ${list.join("; ")}` : "knack review inbox --all lists them.",
  );
}

/** Shows what a proposal would change; exit 1 where it cannot be accepted. */
async function diff(call: OpenCall<ReviewCall>, word: string): Promise<number> {
  const { screen, knack } = call;
  const proposal = await findProposal(knack, word);
  const plan = await planProposal(knack, proposal, parseWhere(call.args.where));
  const text = plan.ok ? plan.steps.map((step) => step.diff).join("") : await knack.proposalDiff(proposal);
  const executable = listExecutable(plan);
  const because = plan.ok ? null : plan.because;
  return call.answer(
    { proposal, diff: text, executable, because },
    [
      describeProposal(proposal),
      describeExecutable(executable),
      describeDiff(text, screen),
      because !== null && [
        `Cannot be accepted: ${oneLine(because, 300)}.`,
        describeWay(because, proposal, screen),
      ],
    ],
    plan.ok ? 0 : 1,
  );
}

/** Plans the acceptance of a proposal; one that is written already is refused. */
async function planProposal(knack: Knack, proposal: ProposalView, where: LiveReach | null): Promise<Plan> {
  return isWritten(proposal)
    ? { ok: false, because: `it is already ${proposal.status}` }
    : knack.planProposal(proposal, where);
}

function isWritten({ status }: ProposalView): boolean {
  return status === "accepted" || status === "published";
}

/** Files that can be run: a diff does not show that. */
function listExecutable(plan: Plan): string[] {
  const files = plan.ok ? plan.steps.flatMap((step) => step.files ?? []) : [];
  return [...new Set(files.flatMap(({ path, mode }) => (mode & 0o111 ? path : [])))];
}

function describeExecutable(paths: readonly string[]): string | false {
  return paths.length > 0 && `  runs  ${paths.map((path) => oneLine(path, 80)).join(", ")} (executable)`;
}

function describeProposal({ id, name, do: does, because, model, evidence, status }: ProposalView): Lines {
  const sessions = [...groupItems(evidence, ({ run }) => run)].map(
    ([run, some]) => `session ${oneLine(lastPart(run), 60)}: ${some.map(({ ref }) => ref).join(", ")}`,
  );
  return [
    `${name}  ${does === "create" ? "new" : "change"}, ${status}  ${id}`,
    `  why   ${oneLine(because, 300)}`,
    `  from  ${sessions.join("; ")}`,
    `  by    ${model}`,
  ];
}

/** Another way to get what a proposal that cannot be accepted is about. */
function describeWay(because: string, proposal: ProposalView, { knack }: Screen): string | false {
  const { id, name, do: does } = proposal;
  if (isWritten(proposal)) return `To undo: ${knack} skills undo ${name}`;
  return (
    does === "create" &&
    because === projectMissing &&
    `To have it in all your projects: ${knack} review accept ${id} --where everywhere`
  );
}

async function accept(call: OpenCall<ReviewCall>, word: string): Promise<number> {
  const { screen, knack } = call;
  const where = parseWhere(call.args.where);
  const proposal = await findProposal(knack, word);
  const { id, name } = proposal;
  const plan = await planProposal(knack, proposal, where);
  if (call.dryRun && !call.wantsJson) screen.print([describeExecutable(listExecutable(plan))]);
  return applyChange(call, {
    plan: async () => plan,
    apply: () => knack.acceptProposal(proposal, where),
    nothing: null,
    json: { proposal: id },
    hints: (because) => [
      describeWay(because, proposal, screen),
      !isWritten(proposal) && `To remove ${name} from the inbox: ${screen.knack} review reject ${id}`,
    ],
    after: () => [`Accepted ${name}. To undo: ${screen.knack} skills undo ${name}`],
  });
}

async function reject(call: OpenCall<ReviewCall>, word: string): Promise<number> {
  const { screen, dryRun, knack } = call;
  const proposal = await findProposal(knack, word);
  const { id, name, status } = proposal;
  const json = { proposal: id };
  if (isWritten(proposal))
    return refuseChange(call, notDone(`it is already ${status}`), [describeWay("", proposal, screen)], json);
  if (!dryRun) await knack.rejectProposal(proposal);
  return call.answer({ done: !dryRun, ...json, because: null, skills: [] }, [
    dryRun
      ? `Would reject ${name}.`
      : `Rejected ${name}; the same is not proposed again. To accept it after all: ${screen.knack} review accept ${id}`,
  ]);
}

// --- An agent's structured reply ---

/** Characters that a reply may have. */
const longestReply = 1_000_000;

/** Takes an agent's reply from a file, or from standard input. Exit 1 when something of it does not count. */
async function take(call: ReviewCall, [file, ...more]: readonly string[]): Promise<number> {
  const { args, env, screen, dryRun } = call;
  const { session } = args;
  if (file === undefined || more.length > 0 || session === undefined)
    throw wrongUsage(
      "knack review take needs a file, or - for standard input, and --session.",
      `${screen.knack} review take reply.json --session <id>; its format: ${screen.knack} schema reply`,
    );
  const reply = await readReply(file);
  // A dry run works on a copy: whether a signal counts depends on the sessions and on earlier signals.
  const isCopy = dryRun && existsSync(resolveHome(env).database);
  return changeKnack(
    call,
    async (knack) => {
      const present = await knack.resolveCaller({
        session: await findSession(knack, session),
        ...{ callId: null, turn: null, kind: "foreground", cwd: process.cwd(), format: null, model: null },
      });
      const taken = await knack.takeReply(present, reply);
      const isFine = taken.problems.length === 0 && taken.signals.every(({ refusal }) => refusal === null);
      return call.answer({ ...taken, noted: !dryRun }, describeTaken(taken, dryRun), isFine ? 0 : 1);
    },
    isCopy ? { dryRun: false, copy: true, changes: false, repair: false } : {},
  );
}

/** A reply from a file, or from standard input. */
async function readReply(file: string): Promise<unknown> {
  let text: string;
  try {
    text = file === "-" ? await readInput() : readFileSync(file, "utf8");
  } catch (cause) {
    throw wrongUsage(`Cannot read ${file}.`, "Give a file, or - for standard input.", cause);
  }
  if (text.length > longestReply)
    throw wrongUsage(`The reply is longer than ${formatCount(longestReply)} characters.`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw wrongUsage("The reply is not valid JSON.", "Its format: knack schema reply", cause);
  }
}

function describeTaken(
  { receipts, signals, problems }: Awaited<ReturnType<Knack["takeReply"]>>,
  dryRun: boolean,
): Lines {
  if (receipts.length + signals.length + problems.length === 0) return ["The reply reports nothing."];
  return [
    receipts.map((text) => oneLine(text, 200)),
    signals.map((given) => describeGiven(given, dryRun)),
    problems.map((text) => `Ignored: ${oneLine(text, 200)}`),
  ];
}

function describeGiven({ signal, refusal, message }: SignalGiven, dryRun: boolean): string {
  const name = signal === null ? "a signal" : signal.kind === "create" ? signal.nameHint : signal.skill;
  return refusal === null
    ? `${dryRun ? "Would be queued" : "Queued"} for a review: ${oneLine(name, 80)}`
    : `Does not count (${refusal}): ${oneLine(name, 80)}: ${oneLine(message, 200)}`;
}
