import { isDisabled } from "../config.ts";
import { inUsd } from "../core/budget.ts";
import { KnackError } from "../core/errors.ts";
import type { NudgeDecided } from "../core/nudge.ts";
import { redact } from "../core/redact.ts";
import type { ProposalView } from "../core/review.ts";
import type { Reviewed, ReviewPreview } from "../engine/review.ts";
import { notHere } from "../engine/step.ts";
import type { Knack } from "../open.ts";
import type { Actions } from "./action.ts";
import { whereOf } from "./learn.ts";
import { writingOnWire } from "./learned-on-wire.ts";
import { type Call, defineVerb, type Env } from "./main.ts";
import { isCalled } from "./named.ts";
import { changing, withKnack } from "./opening.ts";
import { type ReviewStatus, reviewStatusOf } from "./review-status.ts";
import { take } from "./review-take.ts";
import { tellDossier } from "./tell-dossier.ts";
import { tellDiff, tellOutcomes } from "./telling.ts";
import { calledAs, counted, iso, onOneLine, paintFor, printJson, printLines, table } from "./terminal.ts";

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
  inbox: (call, words) => inbox(call, words),
  diff: (call, words) => diff(call, one(words, "diff")),
  accept: (call, words) => accept(call, one(words, "accept")),
  reject: (call, words) => reject(call, one(words, "reject")),
  take,
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
    if (isDisabled(call.env) && (call.args.now || changes.has(name ?? ""))) return sayOff(call);
    if (name === undefined) {
      if (call.args["dry-run"]) return preview(call);
      return call.args.now ? now(call) : state(call);
    }
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action && !call.args.now) return action(call, words);
    throw new KnackError(
      "WRONG_USAGE",
      `knack review has no "${name}"${action ? " together with --now" : ""}.`,
      {
        hint: `It has ${Object.keys(actions).join(", ")}; --now reviews, --dry-run shows what would be sent.`,
      },
    );
  },
});

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
async function state({ args: { json }, env }: ReviewCall): Promise<number> {
  return withKnack(env, {}, async (knack) => {
    const status = await reviewStatusOf(knack, await knack.projects());
    if (json) printJson(status);
    else printLines(stateLines(status, env));
    return 0;
  });
}

function stateLines(status: ReviewStatus, env: Env): string[] {
  const { mode, model, unset, today, limits, last, projects, signals, waiting } = status;
  const called = calledAs(env);
  return [
    `Reviews: ${mode}${mode === "off" ? ` (to turn them on: ${called} config set review suggest)` : ""}`,
    `  model    ${unset === null ? model : `${unset} (${howToSetModel(env)})`}`,
    `  today    ${today.reviews} of ${counted(limits.perDay, "review")}, ${inUsd(today.usd)} of ${inUsd(limits.usdPerDay)}; one may cost ${inUsd(limits.usd)}`,
    `  last     ${last === null ? "none yet" : `${(last.at ?? "").slice(0, 10)}: ${last.outcome} (${onOneLine(redact(last.because), 160)})`}`,
    `  signals  ${signals.counted} counted, ${signals.refused} refused`,
    `  inbox    ${waiting === 0 ? "empty" : `${counted(waiting, "proposal")}: ${called} review inbox`}`,
    ...projects.map(({ name, run, message, events, sessions }) => {
      const what = `${counted(events, "event")} of ${counted(sessions, "session")}`;
      return `${onOneLine(redact(name), 60)}: ${run ? "due" : "not now"}: ${onOneLine(message, 160)}; it would look at ${what}`;
    }),
  ];
}

async function namesOf(knack: Knack): Promise<(project: string) => string> {
  const names = new Map((await knack.projects()).map(({ id, name }) => [id, name]));
  return (project) => names.get(project) ?? project;
}

function windowInWords({ window: { stretches } }: NudgeDecided): string {
  const events = stretches.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  return stretches.length === 0
    ? "nothing new"
    : `${counted(events, "event")} of ${counted(stretches.length, "session")}`;
}

function howToSetModel(env: Env): string {
  return `${calledAs(env)} config set model claude, codex, anthropic/<model> or openai/<model>`;
}

/** The project that is meant: by a part of its name, or the one of this folder. */
async function projectFor(knack: Knack, part: string | undefined): Promise<string> {
  if (part === undefined) return knack.projectOf(process.cwd());
  const wanted = part.toLowerCase();
  const all = await knack.projects();
  const exact = all.filter(({ id, name }) => id === part || name === part);
  const found =
    exact.length > 0 ? exact : all.filter(({ id, name }) => `${name}\n${id}`.toLowerCase().includes(wanted));
  const [first] = found;
  if (first && found.length === 1) return first.id;
  throw new KnackError(
    "UNKNOWN_NAME",
    `"${part}" is ${first ? `${found.length} projects` : "no project that Knack knows"}.`,
    {
      hint: first ? found.map(({ id }) => id).join("; ") : "knack projects lists them.",
    },
  );
}

async function now(call: ReviewCall): Promise<number> {
  const { json, project } = call.args;
  return changing(call.env, { dryRun: false }, async (knack) => {
    const wanted = await projectFor(knack, project);
    const [done] = await knack.review({ projects: [wanted], asked: true });
    if (!done) throw new Error("a review that was asked for has no answer");
    const made = (await knack.proposals()).filter(({ id }) => done.ended?.proposals.includes(id));
    if (json) printJson({ ...done, proposals: made.map(proposalOnWire) });
    else printLines(doneLines(done, made, call.env), isWell(done) ? process.stdout : process.stderr);
    return isWell(done) ? 0 : 1;
  });
}

function isWell({ ended }: Reviewed): boolean {
  return ended !== null && ["nothing", "proposed", "published"].includes(ended.outcome);
}

function doneLines({ decision, ended, usd }: Reviewed, made: readonly ProposalView[], env: Env): string[] {
  if (ended === null)
    return [
      `Not reviewed: ${onOneLine(decision.message, 300)}.`,
      ...nextStep(decision, env).map((line) => `  ${line}`),
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

function whatToDo(env: Env): string {
  const called = calledAs(env);
  return `Look: ${called} review diff <id>. Yes: ${called} review accept <id>. No: ${called} review reject <id>`;
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
function nextStep({ because }: NudgeDecided, env: Env): string[] {
  switch (because) {
    case "no-model":
      return [howToSetModel(env)];
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
async function preview({ args: { json, project }, env }: ReviewCall): Promise<number> {
  return withKnack(env, {}, async (knack) => {
    const found = await knack.previewReview(await projectFor(knack, project));
    if (json) printJson(found);
    else printLines(previewLines(found, env));
    return 0;
  });
}

function previewLines(
  { decision, dossier, because, model, unset, usdAtMost, characters }: ReviewPreview,
  env: Env,
): string[] {
  const due = decision.run ? `due (${decision.because})` : `not due: ${decision.message}`;
  if (dossier === null)
    return [
      `A review is ${due}; it would look at ${windowInWords(decision)}.`,
      `Nothing would be sent: ${onOneLine(because ?? "", 300)}.`,
    ];
  return [
    ...tellDossier(dossier, paintFor(process.stdout, env)),
    `A review is ${due}; it would look at ${windowInWords(decision)}.`,
    `It would send ${characters.toLocaleString("en-US")} characters to ${model === "off" ? "a model, once one is set" : model}, and cost ${inUsd(usdAtMost)} at the most.`,
    ...(unset === null || model === "off" ? [] : [`${model} cannot be asked yet: ${onOneLine(unset, 200)}.`]),
    "Nothing was sent (--dry-run). With --json it is here word for word.",
    ...(decision.run ? [] : nextStep(decision, env).map((line) => `  ${line}`)),
  ];
}

function proposalOnWire({ because, at, evidence, ...rest }: ProposalView) {
  return { ...rest, because: redact(because), at: iso(at), evidence };
}

async function inbox({ args: { json, all }, env }: ReviewCall, words: readonly string[]): Promise<number> {
  if (words.length > 0) throw new KnackError("WRONG_USAGE", `knack review inbox takes no "${words[0]}".`);
  return withKnack(env, {}, async (knack) => {
    const every = await knack.proposals();
    const shown = every.filter(({ status }) => all || status === "waiting");
    if (json) {
      printJson({ proposals: shown.map(proposalOnWire) });
      return 0;
    }
    const paint = paintFor(process.stdout, env);
    const names = await namesOf(knack);
    const [head = "", ...rows] = table([
      ["id", "state", "what", "skill", "for", "because"],
      ...shown.map(({ id, status, do: does, name, project, because }) => [
        id,
        status,
        does === "create" ? "new" : "change",
        name,
        onOneLine(redact(names(project)), 24),
        onOneLine(redact(because), 80),
      ]),
    ]);
    const hidden = every.length - shown.length;
    printLines([
      ...(shown.length > 0 ? [paint.dim(head), ...rows] : ["Nothing waits for you."]),
      ...(hidden > 0 ? [`${hidden} decided or outdated: --all shows them.`] : []),
      ...(shown.some(({ status }) => status === "waiting") ? ["", whatToDo(env)] : []),
    ]);
    return 0;
  });
}

/** The proposal that a word means: its id, the beginning of it, or the name of its skill. */
async function named(knack: Knack, word: string): Promise<ProposalView> {
  const all = await knack.proposals();
  const byId = all.filter(({ id }) => id === word || (word.length > 3 && id.startsWith(word)));
  const byName = all.filter(({ name, status }) => status === "waiting" && isCalled(name, word));
  const found = byId.length > 0 ? byId : byName;
  const [first] = found;
  if (first && found.length === 1) return first;
  throw new KnackError(
    "UNKNOWN_NAME",
    first ? `"${word}" is ${found.length} proposals.` : `Nothing that was proposed is called "${word}".`,
    {
      hint: first
        ? found.map(({ id, name }) => `${id} ${name}`).join("; ")
        : "knack review inbox --all lists what was.",
    },
  );
}

async function diff({ args: { json, where }, env }: ReviewCall, word: string): Promise<number> {
  return withKnack(env, {}, async (knack) => {
    const proposal = await named(knack, word);
    const plan = await knack.planProposal(proposal, whereOf(where));
    const text = plan.ok ? plan.steps.map((step) => step.diff).join("") : await knack.proposalDiff(proposal);
    if (json)
      printJson({
        proposal: proposalOnWire(proposal),
        diff: redact(text),
        because: plan.ok ? null : plan.because,
      });
    else {
      const paint = paintFor(process.stdout, env);
      printLines([
        ...aboutLines(proposal),
        ...tellDiff(text, paint),
        ...(plan.ok
          ? []
          : [
              `It cannot be accepted: ${onOneLine(plan.because, 300)}.`,
              ...elsewhere(plan.because, proposal, env),
            ]),
      ]);
    }
    return plan.ok ? 0 : 1;
  });
}

function aboutLines({ id, name, do: does, because, model, evidence, status }: ProposalView): string[] {
  const runs = [...new Set(evidence.map(({ run }) => run))];
  return [
    `${name}  ${does === "create" ? "new" : "change"}, ${status}  ${id}`,
    `  why   ${onOneLine(redact(because), 300)}`,
    `  from  ${runs.map((run) => `session ${onOneLine(run.slice(run.lastIndexOf("/") + 1), 60)}: ${evidence.flatMap((one) => (one.run === run ? one.ref : [])).join(", ")}`).join("; ")}`,
    `  by    ${model}`,
  ];
}

/** A dry run looks at all that is known, as the real one would; its work changes nothing. */
function deciding({ args, env }: ReviewCall, work: (knack: Knack) => Promise<number>): Promise<number> {
  return args["dry-run"] ? withKnack(env, {}, work) : changing(env, { dryRun: false }, work);
}

async function accept(call: ReviewCall, word: string): Promise<number> {
  const { json, "dry-run": dryRun = false } = call.args;
  const where = whereOf(call.args.where);
  return deciding(call, async (knack) => {
    const proposal = await named(knack, word);
    if (isWritten(proposal)) return alreadyWritten(call, proposal);
    if (dryRun) {
      const plan = await knack.planProposal(proposal, where);
      if (!plan.ok) return refused(call, proposal, plan.because);
      const skills = plan.steps.map(({ change }) => writingOnWire(change));
      if (json) printJson({ done: false, proposal: proposal.id, because: null, skills });
      else {
        const paint = paintFor(process.stdout, call.env);
        printLines([
          ...plan.steps.flatMap((step) => tellDiff(step.diff, paint)),
          "Nothing was written (--dry-run).",
        ]);
      }
      return 0;
    }
    const keeping = await knack.acceptProposal(proposal, where);
    if (!keeping.kept) return refused(call, proposal, keeping.because);
    const done = keeping.outcomes.every((outcome) => outcome.done);
    if (json)
      printJson({
        done,
        proposal: proposal.id,
        because: null,
        skills: keeping.outcomes.filter((one) => one.done).map(({ change }) => writingOnWire(change)),
      });
    else
      printLines([
        `Accepted ${proposal.name}:`,
        ...tellOutcomes(keeping.outcomes, call.env),
        `To take it back: ${calledAs(call.env)} skills undo ${proposal.name}`,
      ]);
    return done ? 0 : 1;
  });
}

function isWritten({ status }: ProposalView): boolean {
  return status === "accepted" || status === "published";
}

function alreadyWritten({ args: { json }, env }: ReviewCall, { id, name, status }: ProposalView): number {
  const because = `it is ${status} already`;
  if (json) printJson({ done: false, proposal: id, because, skills: [] });
  else
    printLines(
      [`Not done: ${because}.`, `  To take it back: ${calledAs(env)} skills undo ${name}`],
      process.stderr,
    );
  return 1;
}

function refused({ args: { json }, env }: ReviewCall, proposal: ProposalView, because: string): number {
  const { id, name } = proposal;
  if (json) printJson({ done: false, proposal: id, because, skills: [] });
  else
    printLines(
      [
        `Not done: ${onOneLine(because, 300)}.`,
        ...elsewhere(because, proposal, env),
        `  To put ${name} out of the inbox: ${calledAs(env)} review reject ${id}`,
      ],
      process.stderr,
    );
  return 1;
}

/** What is new can go to the person's own folders where its project's are not here. */
function elsewhere(because: string, { id, do: does }: ProposalView, env: Env): string[] {
  if (does !== "create" || because !== notHere) return [];
  return [`  To have it in all your projects: ${calledAs(env)} review accept ${id} --where everywhere`];
}

async function reject(call: ReviewCall, word: string): Promise<number> {
  const { json, "dry-run": dryRun = false } = call.args;
  return deciding(call, async (knack) => {
    const proposal = await named(knack, word);
    if (isWritten(proposal)) return alreadyWritten(call, proposal);
    if (!dryRun) await knack.rejectProposal(proposal);
    if (json) printJson({ done: !dryRun, proposal: proposal.id, because: null, skills: [] });
    else
      printLines([
        dryRun
          ? `Would turn down ${proposal.name}.`
          : `Turned down ${proposal.name}; the same is not proposed again. To keep it after all: ${calledAs(call.env)} review accept ${proposal.id}`,
      ]);
    return 0;
  });
}
