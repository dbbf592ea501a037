import { existsSync, readFileSync } from "node:fs";
import type {
  ProposalView,
  ReplyTaken,
  Reviewers,
  ReviewPreview,
  ReviewResult,
} from "../../../authoring/index.ts";
import { formatUsd } from "../../../models/index.ts";
import type { NudgeDecided, SignalGiven } from "../../../records/index.ts";
import { isDisabled, resolveHome } from "../../../settings/index.ts";
import { several } from "../../../text/index.ts";
import {
  type CommandCall,
  defineCommand,
  jsonArg,
  type Subcommands,
  takeOne,
  wrongUsage,
} from "../../command.ts";
import { changeKnack, withKnack } from "../../knack.ts";
import type { Screen } from "../../screen/screen.ts";
import { formatCount, formatTime, oneLine } from "../../screen/text.ts";
import { findProject, findSession, readInput } from "../../select.ts";
import { describeDossier } from "./dossier.ts";
import { accept, describeChoices, diff, inbox, proposalJson, reject } from "./inbox.ts";
import {
  describeModel,
  describeSize,
  findMissingModel,
  measureWindow,
  type ReviewStatus,
  readReviewStatus,
} from "./status.ts";

const args = {
  words: {
    type: "positional",
    required: false,
    description:
      "inbox, diff <id>, accept <id>, reject <id>, take <file>; without words: what is due, and why",
  },
  now: { type: "boolean", description: "review this folder's project now" },
  project: { type: "string", description: "another project, by a part of its name or id" },
  all: { type: "boolean", description: "with inbox: also proposals that were decided" },
  where: { type: "string", description: "with accept, for a new skill: me, repository or everywhere" },
  session: { type: "string", description: "with take: the agent's session that the reply belongs to" },
  ...jsonArg,
  "dry-run": {
    type: "boolean",
    description: "print what a review would send and cost; with accept or reject: change nothing",
  },
} as const;

export type ReviewCall = CommandCall<typeof args>;

const subcommands: Subcommands<ReviewCall> = {
  inbox,
  diff: (call, words) => diff(call, takeProposal(words, "diff")),
  accept: (call, words) => accept(call, takeProposal(words, "accept")),
  reject: (call, words) => reject(call, takeProposal(words, "reject")),
  take,
};

const options = ["now", "project", "all", "where", "session", "dry-run"] as const;

/** The options that each subcommand takes besides --json; the first line is for none. */
const optionsTaken: Readonly<Record<string, readonly (typeof options)[number][]>> = {
  "": ["now", "project", "dry-run"],
  inbox: ["project", "all"],
  diff: ["where"],
  accept: ["where", "dry-run"],
  reject: ["dry-run"],
  take: ["session", "dry-run"],
};

export const review = defineCommand({
  about: "Background reviews of your sessions: what is due, what was proposed, and your decisions.",
  args,
  run: async (call: ReviewCall) => {
    const [name = "", ...words] = call.args._;
    const run = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
    if (name !== "" && run === undefined)
      throw wrongUsage(
        `Unknown subcommand: knack review ${name}.`,
        `Use ${Object.keys(subcommands).join(", ")}; --now reviews, --dry-run shows what would be sent.`,
      );
    refuseUnusedOptions(call, name);
    if (isDisabled(call.env) && (call.args.now || ["accept", "reject", "take"].includes(name)))
      return call.refuse({ done: false, off: "KNACK_DISABLE is set" }, [
        "Knack is off: KNACK_DISABLE is set. Nothing was done.",
      ]);
    if (run !== undefined) return run(call, words);
    if (call.dryRun) return preview(call);
    return call.args.now ? reviewNow(call) : showState(call);
  },
});

function refuseUnusedOptions({ args: given }: ReviewCall, name: string): void {
  const taken = optionsTaken[name] ?? [];
  const unused = options.find((option) => given[option] && !taken.includes(option));
  if (unused === undefined) return;
  const list = taken.map((option) => `--${option}`).join(" and ");
  throw wrongUsage(`${`knack review ${name}`.trim()} does not take --${unused}.`, `It takes ${list}.`);
}

function takeProposal(words: readonly string[], subcommand: string): string {
  const what = "the id of a proposal, or the name of its skill";
  return takeOne(words, `review ${subcommand}`, what, "knack review inbox lists the proposals.");
}

// --- What is due ---

async function showState(call: ReviewCall): Promise<number> {
  const { project } = call.args;
  return withKnack(call, async (knack) => {
    const wanted = project === undefined ? null : await findProject(knack, project);
    const status = await readReviewStatus(knack, await knack.projects());
    const shown = wanted === null ? status.projects : status.projects.filter((one) => one.project === wanted);
    return call.answer({ ...status, projects: shown }, [
      ...describeState(status, call.screen),
      ...shown.map(
        ({ name, run, message, ...size }) =>
          `${oneLine(name, 60)}: ${run ? "due" : "not due"}: ${oneLine(message, 160)}; it would look at ${describeSize(size)}`,
      ),
      ...(wanted !== null && shown.length === 0 ? ["There is nothing new in that project."] : []),
    ]);
  });
}

function describeState(status: ReviewStatus, screen: Screen): string[] {
  const { mode, today, limits, last, signals, waiting, begun } = status;
  const missing = findMissingModel(status, screen);
  const unfinished =
    begun.length === 0
      ? []
      : [
          `  begun    ${begun.length === 1 ? "one has" : `${begun.length} have`} not finished yet, since ${formatTime(Math.min(...begun))}; the next review continues it`,
        ];
  return [
    `Reviews: ${mode}${mode === "off" ? ` (to turn them on: ${screen.knack} config set review suggest)` : ""}`,
    `  model    ${describeModel(status)}`,
    ...(missing === null ? [] : [`           ${missing.because} (${missing.next})`]),
    `  today    ${today.reviews} of ${several(limits.perDay, "review")}, ${formatUsd(today.usd)} of ${formatUsd(limits.usdPerDay)}; one may cost ${formatUsd(limits.usd)}`,
    ...unfinished,
    `  last     ${last === null ? "none yet" : `${(last.at ?? "").slice(0, 10)}: ${last.outcome} (${oneLine(last.because, 160)})`}`,
    `  signals  ${signals.counted} waiting, ${signals.refused} refused so far`,
    `  inbox    ${waiting === 0 ? "empty" : `${several(waiting, "proposal")}: ${screen.knack} review inbox`}`,
  ];
}

function describeWindow({ window }: NudgeDecided): string {
  return window.stretches.length === 0 ? "nothing new" : describeSize(measureWindow(window));
}

// --- Reviewing ---

async function reviewNow(call: ReviewCall): Promise<number> {
  return changeKnack(call, async (knack) => {
    const project = await findProject(knack, call.args.project);
    const [done] = await knack.review({ projects: [project], asked: true });
    if (!done) throw new Error("a review that was asked for has no result");
    const made = (await knack.proposals()).filter(({ id }) => done.ended?.proposals.includes(id));
    const isFine = done.ended !== null && ["nothing", "proposed", "published"].includes(done.ended.outcome);
    return (isFine ? call.answer : call.refuse)(
      { ...done, proposals: made.map(proposalJson) },
      describeDone(done, made, knack.reviewers(), call.screen),
    );
  });
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
  { decision, ended, usd }: ReviewResult,
  made: readonly ProposalView[],
  reviewers: Reviewers,
  screen: Screen,
): string[] {
  if (ended === null)
    return [
      `Not reviewed: ${oneLine(decision.message, 300)}.`,
      ...describeRemedy(decision, reviewers, screen).map((line) => `  ${line}`),
    ];
  const label = ({ status, do: does }: ProposalView) =>
    status === "published" ? (does === "create" ? "draft" : "changed") : "proposed";
  return [
    `Reviewed ${describeWindow(decision)}${usd > 0 ? ` (${formatUsd(usd)})` : ""}: ${outcomes[ended.outcome]}`,
    ...(ended.because === "" ? [] : [`  ${oneLine(ended.because, 300)}`]),
    ...made.map((one) => `  ${label(one)}  ${one.name}  ${one.id}: ${oneLine(one.because, 160)}`),
    ...(made.some(({ status }) => status === "waiting") ? [describeChoices(screen)] : []),
    ...(made.some(({ status }) => status === "published") ? [`To undo: ${screen.knack} skills undo`] : []),
  ];
}

/** What a person can do about a review that does not run. */
function describeRemedy({ because }: NudgeDecided, reviewers: Reviewers, screen: Screen): string[] {
  const { knack } = screen;
  switch (because) {
    case "no-model": {
      const missing = findMissingModel(reviewers, screen);
      return missing === null ? [] : [missing.next];
    }
    case "off":
      return [`${knack} config set review suggest`];
    case "not-learned":
      return [`If learning is off there: ${knack} config set learn true, with --project in that project.`];
    case "nothing-new":
      return [`${knack} learn reads what your agents did since.`];
    case "budget-spent":
      return [`${knack} config set model.budgetDay <US dollars>`];
    case "too-dear":
      return [`${knack} config set review.budget <US dollars>`];
    case "call-too-dear":
      return [`${knack} config set model.budgetCall <US dollars>`];
    case "too-many-today":
      return [`${knack} config set review.perDay <number>`];
    case "library-unread":
    case "breaker-open":
      return [`${knack} doctor says what is wrong.`];
    default:
      return [];
  }
}

/** What a review would send and cost; nothing is sent or recorded. */
async function preview(call: ReviewCall): Promise<number> {
  const { now: asked = false, project } = call.args;
  return withKnack(
    call,
    async (knack) => {
      const found = await knack.previewReview(await findProject(knack, project), { asked });
      return call.answer(found, describePreview(found, call.screen));
    },
    { dryRun: false },
  );
}

function describePreview(found: ReviewPreview & Reviewers, screen: Screen): string[] {
  const { decision, dossier, because, usdAtMost, characters } = found;
  const due = decision.run ? `due (${decision.because})` : `not due: ${decision.message}`;
  const summary = `A review is ${due}; it would look at ${describeWindow(decision)}.`;
  if (dossier === null) return [summary, `Nothing would be sent: ${oneLine(because ?? "", 300)}.`];
  const missing = findMissingModel(found, screen);
  return [
    ...describeDossier(dossier, screen),
    summary,
    `It would send ${formatCount(characters)} characters to ${describeModel(found)}, and cost at most ${formatUsd(usdAtMost)}.`,
    ...(missing === null ? [] : [`Still missing: ${missing.because}.`]),
    "Nothing was sent (--dry-run). --json prints the exact request.",
    ...(decision.run ? [] : describeRemedy(decision, found, screen).map((line) => `  ${line}`)),
  ];
}

// --- An agent's structured reply ---

/** Characters that a reply may have. */
const longestReply = 1_000_000;

/** Takes an agent's reply from a file, or from standard input. Exit 1 when something of it does not count. */
async function take(call: ReviewCall, words: readonly string[]): Promise<number> {
  const { args, env, screen, dryRun } = call;
  const [file, ...more] = words;
  const { session } = args;
  if (file === undefined || more.length > 0 || session === undefined)
    throw wrongUsage(
      "knack review take needs a file, or - for standard input, and --session.",
      `${screen.knack} review take reply.json --session <id>; its format: ${screen.knack} schema reply`,
    );
  const reply = parseReply(file === "-" ? await readInput() : readReply(file));
  // A dry run works on a copy: whether a signal counts depends on the sessions and on earlier signals.
  const copy =
    dryRun && existsSync(resolveHome(env).database)
      ? { dryRun: false, copy: true, changes: false, repair: false }
      : {};
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
    copy,
  );
}

function readReply(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw wrongUsage(`Cannot read ${file}.`, "Give a file, or - for standard input.", cause);
  }
}

function parseReply(text: string): unknown {
  if (text.length > longestReply)
    throw wrongUsage(
      `The reply has ${formatCount(text.length)} characters; at most ${formatCount(longestReply)} are read.`,
    );
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw wrongUsage("The reply is not valid JSON.", "Its format: knack schema reply", cause);
  }
}

function describeTaken({ receipts, signals, problems }: ReplyTaken, dryRun: boolean): string[] {
  const lines = [
    ...receipts.map((text) => oneLine(text, 200)),
    ...signals.map((given) => describeSignal(given, dryRun)),
    ...problems.map((text) => `Ignored: ${oneLine(text, 200)}`),
  ];
  return lines.length > 0 ? lines : ["The reply reports nothing."];
}

function describeSignal({ signal, refusal, message }: SignalGiven, dryRun: boolean): string {
  const name = signal === null ? "a signal" : signal.kind === "create" ? signal.nameHint : signal.skill;
  return refusal === null
    ? `${dryRun ? "Would be queued" : "Queued"} for a review: ${oneLine(name, 80)}`
    : `Does not count (${refusal}): ${oneLine(name, 80)}: ${oneLine(message, 200)}`;
}
