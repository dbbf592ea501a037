import { isDisabled } from "../config.ts";
import { inUsd } from "../core/budget.ts";
import { KnackError } from "../core/errors.ts";
import type { NudgeDecided } from "../core/nudge.ts";
import { redact } from "../core/redact.ts";
import type { ProposalView } from "../core/review.ts";
import { several } from "../core/words.ts";
import type { Reviewed, ReviewPreview } from "../engine/review.ts";
import type { Reviewers } from "../open/reviews.ts";
import type { Actions } from "./action.ts";
import { type Call, defineVerb, type Env } from "./main.ts";
import { changing, withKnack } from "./opening.ts";
import { accept, diff, inbox, proposalOnWire, reject, whatToDo } from "./review-inbox.ts";
import { lookedAt, projectFor, type ReviewStatus, reviewStatusOf, sizeOf } from "./review-status.ts";
import { take } from "./review-take.ts";
import { calledAt, missingIn } from "./reviewers.ts";
import { tellDossier } from "./tell-dossier.ts";
import { calledAs, dateTime, onOneLine, paintFor, printJson, printLines } from "./terminal.ts";

const args = {
  words: {
    type: "positional",
    required: false,
    description:
      "inbox, diff <id>, accept <id>, reject <id>, take <file>; alone: what is due, and why or why not",
  },
  now: { type: "boolean", description: "review this folder's project now" },
  project: { type: "string", description: "another project, by a part of its name or id" },
  all: { type: "boolean", description: "with inbox: also what was decided" },
  where: { type: "string", description: "with accept: me, repository or everywhere; for something new" },
  session: { type: "string", description: "with take: the agent's session that the reply is of" },
  json: { type: "boolean", description: "print one JSON object" },
  "dry-run": {
    type: "boolean",
    description: "print what a review would be given and cost; with accept or reject: change nothing",
  },
} as const;

export type ReviewCall = Call<typeof args>;

const actions: Actions<ReviewCall> = {
  inbox,
  diff: (call, words) => diff(call, one(words, "diff")),
  accept: (call, words) => accept(call, one(words, "accept")),
  reject: (call, words) => reject(call, one(words, "reject")),
  take,
};

const options = ["now", "project", "all", "where", "session", "dry-run"] as const;

/** Which of the options that are not for all mean something, by the word; without one, what is due is told or done. */
const optionsOf: Readonly<Record<string, readonly (typeof options)[number][]>> = {
  "": ["now", "project", "dry-run"],
  inbox: ["project", "all"],
  diff: ["where"],
  accept: ["where", "dry-run"],
  reject: ["dry-run"],
  take: ["session", "dry-run"],
};

/** What asks a model, or changes something. */
const changes: ReadonlySet<string> = new Set(["accept", "reject", "take"]);

function sayOff({ args: { json } }: ReviewCall): number {
  const off = "KNACK_DISABLE is set";
  if (json) printJson({ done: false, off });
  else printLines([`Knack is off: ${off}. Nothing was done.`], process.stderr);
  return 1;
}

export const review = defineVerb({
  about: "Look back at what sessions could have taught: what is due, what was proposed, and your word on it.",
  args,
  run: async (call) => {
    const [name, ...words] = call.args._;
    const action = name !== undefined && Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (name !== undefined && action === undefined)
      throw new KnackError("WRONG_USAGE", `knack review has no "${name}".`, {
        hint: `It has ${Object.keys(actions).join(", ")}; --now reviews, --dry-run shows what would be sent.`,
      });
    refuseIdle(call, name ?? "");
    if (isDisabled(call.env) && (call.args.now || changes.has(name ?? ""))) return sayOff(call);
    if (action !== undefined) return action(call, words);
    if (call.args["dry-run"]) return preview(call);
    return call.args.now ? now(call) : state(call);
  },
});

/** An option that would be passed over in silence is a mistake of who gave it. */
function refuseIdle({ args: given }: ReviewCall, name: string): void {
  const known = optionsOf[name] ?? [];
  const idle = options.find(
    (option) => given[option] !== undefined && given[option] !== false && !known.includes(option),
  );
  if (idle === undefined) return;
  const takes = known.map((option) => `--${option}`);
  throw new KnackError("WRONG_USAGE", `${`knack review ${name}`.trim()} takes no --${idle}.`, {
    hint: takes.length > 0 ? `It takes ${takes.join(" and ")}.` : "knack review --help says what it takes.",
  });
}

function one(words: readonly string[], action: string): string {
  const [word, ...more] = words;
  if (word !== undefined && more.length === 0) return word;
  throw new KnackError(
    "WRONG_USAGE",
    `knack review ${action} takes the id of a proposal, or its skill's name.`,
    {
      hint: "knack review inbox shows what waits.",
    },
  );
}

/** What reviews may do, and what is due. */
async function state({ args: { json, project }, env }: ReviewCall): Promise<number> {
  return withKnack(env, {}, async (knack) => {
    const projects = await knack.projects();
    const wanted = project === undefined ? null : await projectFor(knack, project);
    const status = await reviewStatusOf(knack, projects);
    const shown = wanted === null ? status.projects : status.projects.filter((one) => one.project === wanted);
    if (json) printJson({ ...status, projects: shown });
    else {
      printLines([...stateLines(status, env), ...shown.map(dueLine)]);
      if (wanted !== null && shown.length === 0) printLines(["There is nothing new in that project."]);
    }
    return 0;
  });
}

function stateLines(status: ReviewStatus, env: Env): string[] {
  const { mode, today, limits, last, signals, waiting } = status;
  const called = calledAs(env);
  return [
    `Reviews: ${mode}${mode === "off" ? ` (to turn them on: ${called} config set review suggest)` : ""}`,
    ...askedLines(status, env),
    `  today    ${today.reviews} of ${several(limits.perDay, "review")}, ${inUsd(today.usd)} of ${inUsd(limits.usdPerDay)}; one may cost ${inUsd(limits.usd)}`,
    ...begunLines(status),
    `  last     ${last === null ? "none yet" : `${(last.at ?? "").slice(0, 10)}: ${last.outcome} (${onOneLine(redact(last.because), 160)})`}`,
    `  signals  ${signals.counted} waiting, ${signals.refused} refused so far`,
    `  inbox    ${waiting === 0 ? "empty" : `${several(waiting, "proposal")}: ${called} review inbox`}`,
  ];
}

/** Those that began and have not ended: whoever began one may have been killed. */
function begunLines({ begun }: ReviewStatus): string[] {
  if (begun.length === 0) return [];
  const since = dateTime(Math.min(...begun));
  const which = begun.length === 1 ? "one has" : `${begun.length} have`;
  return [
    `  begun    ${which} not ended yet, since ${since}; what was interrupted goes on with the next review`,
  ];
}

/** Who is asked: the gate only where it is another one. */
function askedLines(status: ReviewStatus, env: Env): string[] {
  const { gate, ...reviewer } = status;
  const isOther = gate?.model !== reviewer.model;
  return [
    `  model    ${calledAt(reviewer)}`,
    ...(isOther ? [`  gate     ${gate === null ? "rules alone" : calledAt(gate)}`] : []),
    ...missingIn(status, env).map(({ says, next }) => `           ${says} (${next})`),
  ];
}

function dueLine({ name, run, message, ...looked }: ReviewStatus["projects"][number]): string {
  return `${onOneLine(redact(name), 60)}: ${run ? "due" : "not now"}: ${onOneLine(message, 160)}; it would look at ${lookedAt(looked)}`;
}

function windowInWords({ window }: NudgeDecided): string {
  return window.stretches.length === 0 ? "nothing new" : lookedAt(sizeOf(window));
}

async function now(call: ReviewCall): Promise<number> {
  const { json, project } = call.args;
  return changing(call.env, { dryRun: false }, async (knack) => {
    const wanted = await projectFor(knack, project);
    const [done] = await knack.review({ projects: [wanted], asked: true });
    if (!done) throw new Error("a review that was asked for has no answer");
    const made = (await knack.proposals()).filter(({ id }) => done.ended?.proposals.includes(id));
    if (json) printJson({ ...done, proposals: made.map(proposalOnWire) });
    else
      printLines(
        doneLines(done, made, knack.reviewers(), call.env),
        isWell(done) ? process.stdout : process.stderr,
      );
    return isWell(done) ? 0 : 1;
  });
}

function isWell({ ended }: Reviewed): boolean {
  return ended !== null && ["nothing", "proposed", "published"].includes(ended.outcome);
}

function doneLines(
  { decision, ended, usd }: Reviewed,
  made: readonly ProposalView[],
  reviewers: Reviewers,
  env: Env,
): string[] {
  if (ended === null)
    return [
      `Not reviewed: ${onOneLine(decision.message, 300)}.`,
      ...nextStep(decision, reviewers, env).map((line) => `  ${line}`),
    ];
  const cost = usd > 0 ? ` (${inUsd(usd)})` : "";
  return [
    `Reviewed ${windowInWords(decision)}${cost}: ${outcomes[ended.outcome]}`,
    ...(ended.because === "" ? [] : [`  ${onOneLine(redact(ended.because), 300)}`]),
    ...made.map(
      ({ id, do: does, name, status, because }) =>
        `  ${status === "published" ? (does === "create" ? "draft" : "changed") : "proposed"}  ${name}  ${id}: ${onOneLine(redact(because), 160)}`,
    ),
    ...(made.some(({ status }) => status === "waiting") ? [whatToDo(env)] : []),
    ...(made.some(({ status }) => status === "published")
      ? [`To take it back: ${calledAs(env)} skills undo`]
      : []),
  ];
}

const outcomes = {
  nothing: "nothing to learn.",
  proposed: "something to look at.",
  published: "something was learned.",
  refused: "what was proposed may not be written.",
  failed: "it failed, and what it was about is looked at again later.",
  "given-up": "it failed once more, and what it was about is not looked at again.",
  skipped: "it was left for later.",
} as const;

/** What a person can do about a no. */
function nextStep({ because }: NudgeDecided, reviewers: Reviewers, env: Env): string[] {
  switch (because) {
    case "no-model":
      return missingIn(reviewers, env).map(({ next }) => next);
    case "off":
      return [`${calledAs(env)} config set review suggest`];
    case "not-learned":
      return [
        `Where learning was turned off: ${calledAs(env)} config set learn true, with --project in that project.`,
      ];
    case "nothing-new":
      return [`${calledAs(env)} learn reads what your agents did since.`];
    case "budget-spent":
      return [`${calledAs(env)} config set model.budgetDay <US dollars>`];
    case "too-dear":
      return [`${calledAs(env)} config set review.budget <US dollars>`];
    case "call-too-dear":
      return [`${calledAs(env)} config set model.budgetCall <US dollars>`];
    case "too-many-today":
      return [`${calledAs(env)} config set review.perDay <number>`];
    case "library-unread":
    case "breaker-open":
      return [`${calledAs(env)} doctor says what is wrong.`];
    default:
      return [];
  }
}

/** What would be sent and what it would cost; nothing is sent, nothing is noted. */
async function preview({ args: { json, project, now: asked = false }, env }: ReviewCall): Promise<number> {
  return withKnack(env, {}, async (knack) => {
    const found = await knack.previewReview(await projectFor(knack, project), { asked });
    if (json) printJson(found);
    else printLines(previewLines(found, env));
    return 0;
  });
}

function previewLines(found: ReviewPreview & Reviewers, env: Env): string[] {
  const { decision, dossier, because, usdAtMost, characters } = found;
  const due = decision.run ? `due (${decision.because})` : `not due: ${decision.message}`;
  if (dossier === null)
    return [
      `A review is ${due}; it would look at ${windowInWords(decision)}.`,
      `Nothing would be sent: ${onOneLine(because ?? "", 300)}.`,
    ];
  return [
    ...tellDossier(dossier, paintFor(process.stdout, env)),
    `A review is ${due}; it would look at ${windowInWords(decision)}.`,
    `It would send ${characters.toLocaleString("en-US")} characters, and cost ${inUsd(usdAtMost)} at the most:`,
    ...sentLines(found),
    ...missingIn(found, env).map(({ says }) => `Still missing: ${says}.`),
    "Nothing was sent (--dry-run). With --json it is here word for word.",
    ...(decision.run ? [] : nextStep(decision, found, env).map((line) => `  ${line}`)),
  ];
}

/** Who would be sent how much: the gate, where one is asked, and the reviewer. */
function sentLines({ requests, gate, ...reviewer }: ReviewPreview & Reviewers): string[] {
  return requests.map(({ system, prompt }, at) => {
    const isGate = at < requests.length - 1;
    const size = several(system.length + prompt.length, "character");
    return `  ${isGate ? "gate    " : "reviewer"}  ${size} to ${calledAt((isGate ? gate : null) ?? reviewer)}`;
  });
}
