import type { LiveReach } from "../core/change.ts";
import { KnackError } from "../core/errors.ts";
import { redact } from "../core/redact.ts";
import type { ProposalView } from "../core/review.ts";
import { notHere, type Plan } from "../engine/step.ts";
import type { Knack } from "../open.ts";
import { whereOf } from "./learn.ts";
import { writingOnWire } from "./learned-on-wire.ts";
import type { Env } from "./main.ts";
import { isCalled } from "./named.ts";
import { changing, withKnack } from "./opening.ts";
import type { ReviewCall } from "./review.ts";
import { projectFor } from "./review-status.ts";
import { tellDiff, tellOutcomes } from "./telling.ts";
import { calledAs, iso, onOneLine, paintFor, printJson, printLines, table } from "./terminal.ts";

/** A proposal as `--json` tells of it. */
export function proposalOnWire({ because, at, evidence, ...rest }: ProposalView) {
  return { ...rest, because: redact(because), at: iso(at), evidence };
}

/** What can be done with what waits. */
export function whatToDo(env: Env): string {
  const called = calledAs(env);
  return `Look: ${called} review diff <id>. Yes: ${called} review accept <id>. No: ${called} review reject <id>`;
}

async function namesOf(knack: Knack): Promise<(project: string) => string> {
  const names = new Map((await knack.projects()).map(({ id, name }) => [id, name]));
  return (project) => names.get(project) ?? project;
}

/** What waits for the person's word; or all that was ever proposed. */
export async function inbox(
  { args: { json, all, project }, env }: ReviewCall,
  words: readonly string[],
): Promise<number> {
  if (words.length > 0) throw new KnackError("WRONG_USAGE", `knack review inbox takes no "${words[0]}".`);
  return withKnack(env, {}, async (knack) => {
    const wanted = project === undefined ? null : await projectFor(knack, project);
    const every = (await knack.proposals()).filter((one) => wanted === null || one.project === wanted);
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

/** The proposal that a word means: its id, the beginning of it, or, while it waits, the name of its skill. */
async function named(knack: Knack, word: string): Promise<ProposalView> {
  const all = await knack.proposals();
  const byId = all.filter(({ id }) => id === word || (word.length > 3 && id.startsWith(word)));
  const byName = all.filter(({ name }) => isCalled(name, word));
  const waiting = byName.filter(({ status }) => status === "waiting");
  const found = byId.length > 0 ? byId : waiting;
  const [first] = found;
  if (first && found.length === 1) return first;
  throw unclear(word, found, byName);
}

/** Why a word means no single proposal, with the ids of those that it may mean. */
function unclear(word: string, found: readonly ProposalView[], decided: readonly ProposalView[]): KnackError {
  const because =
    found.length > 0
      ? `"${word}" is ${found.length} proposals.`
      : decided.length > 0
        ? `"${word}" waits no more.`
        : `Nothing that was proposed is called "${word}".`;
  const meant = [...(found.length > 0 ? found : decided)].map(
    ({ id, name, status }) => `${id} ${name} (${status})`,
  );
  return new KnackError("UNKNOWN_NAME", because, {
    hint: meant.length > 0 ? `By its id: ${meant.join("; ")}` : "knack review inbox --all lists what was.",
  });
}

/** What one would change; exit 1 where it cannot be accepted. */
export async function diff({ args: { json, where }, env }: ReviewCall, word: string): Promise<number> {
  return withKnack(env, {}, async (knack) => {
    const proposal = await named(knack, word);
    const plan = await planOf(knack, proposal, whereOf(where));
    const text = plan.ok ? plan.steps.map((step) => step.diff).join("") : await knack.proposalDiff(proposal);
    const executable = executableIn(plan);
    const because = plan.ok ? null : plan.because;
    if (json) printJson({ proposal: proposalOnWire(proposal), diff: redact(text), executable, because });
    else
      printLines([
        ...aboutLines(proposal),
        ...executableLines(executable),
        ...tellDiff(text, paintFor(process.stdout, env)),
        ...(because === null ? [] : notAccepted(because, proposal, env)),
      ]);
    return plan.ok ? 0 : 1;
  });
}

/** What accepting one would do; one that is written is not looked for a second time. */
async function planOf(knack: Knack, proposal: ProposalView, where: LiveReach | null): Promise<Plan> {
  return isWritten(proposal)
    ? { ok: false, because: writtenAlready(proposal) }
    : knack.planProposal(proposal, where);
}

/** The files that could be run as they are: a diff shows words alone. */
function executableIn(plan: Plan): string[] {
  const files = plan.ok ? plan.steps.flatMap((step) => step.files ?? []) : [];
  return [...new Set(files.flatMap(({ path, mode }) => (mode & 0o111 ? path : [])))];
}

function executableLines(paths: readonly string[]): string[] {
  return paths.length === 0
    ? []
    : [`  runs  ${paths.map((path) => onOneLine(path, 80)).join(", ")} (executable)`];
}

function notAccepted(because: string, proposal: ProposalView, env: Env): string[] {
  return isWritten(proposal)
    ? [`Nothing is to be accepted: ${because}.`, takenBackBy(proposal, env)]
    : [`It cannot be accepted: ${onOneLine(because, 300)}.`, ...elsewhere(because, proposal, env)];
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

/** Publishes one. */
export async function accept(call: ReviewCall, word: string): Promise<number> {
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
          ...executableLines(executableIn(plan)),
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

function writtenAlready({ status }: ProposalView): string {
  return `it is ${status} already`;
}

function takenBackBy({ name }: ProposalView, env: Env): string {
  return `  To take it back: ${calledAs(env)} skills undo ${name}`;
}

function alreadyWritten({ args: { json }, env }: ReviewCall, proposal: ProposalView): number {
  const because = writtenAlready(proposal);
  if (json) printJson({ done: false, proposal: proposal.id, because, skills: [] });
  else printLines([`Not done: ${because}.`, takenBackBy(proposal, env)], process.stderr);
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

/** Turns one down. */
export async function reject(call: ReviewCall, word: string): Promise<number> {
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
