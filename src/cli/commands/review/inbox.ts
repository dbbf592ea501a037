import type { ProposalView } from "../../../authoring/index.ts";
import { type Plan, projectMissing } from "../../../library/index.ts";
import type { Knack } from "../../../open.ts";
import type { LiveReach } from "../../../records/index.ts";
import { redact } from "../../../trust/index.ts";
import { takeNone, unknownName } from "../../command.ts";
import { changeKnack, withKnack } from "../../knack.ts";
import { applyChange, describeDiff, notDone, refuseChange } from "../../screen/changes.ts";
import { lastPart } from "../../screen/lesson.ts";
import { answerList } from "../../screen/list.ts";
import type { Screen } from "../../screen/screen.ts";
import { groupItems, iso, oneLine } from "../../screen/text.ts";
import { findProject, matchesId, matchesName, nameProjects, parseWhere } from "../../select.ts";
import type { ReviewCall } from "./review.ts";

export function proposalJson({ because, at, evidence, ...rest }: ProposalView) {
  return { ...rest, because: redact(because), at: iso(at), evidence };
}

export function describeChoices({ knack }: Screen): string {
  return `See it: ${knack} review diff <id>. Yes: ${knack} review accept <id>. No: ${knack} review reject <id>`;
}

/** Lists proposals that wait for a decision; with --all, all of them. */
export async function inbox(call: ReviewCall, words: readonly string[]): Promise<number> {
  const { screen } = call;
  const { all, project } = call.args;
  takeNone(words, "review inbox");
  return withKnack(call, async (knack) => {
    const wanted = project === undefined ? null : await findProject(knack, project);
    const every = (await knack.proposals()).filter((one) => wanted === null || one.project === wanted);
    const shown = every.filter(({ status }) => all || status === "waiting");
    const nameProject = await nameProjects(knack);
    const hidden = every.length - shown.length;
    return answerList(call, {
      items: shown,
      json: () => ({ proposals: shown.map(proposalJson) }),
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
        ...(hidden > 0 ? [`${hidden} decided or outdated: --all shows them.`] : []),
        ...(shown.some(({ status }) => status === "waiting") ? ["", describeChoices(screen)] : []),
      ],
    });
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
  const list = (found.length > 0 ? found : withName).map(
    ({ id, name, status }) => `${id} ${name} (${status})`,
  );
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
export async function diff(call: ReviewCall, word: string): Promise<number> {
  const { screen } = call;
  return withKnack(call, async (knack) => {
    const proposal = await findProposal(knack, word);
    const plan = await planProposal(knack, proposal, parseWhere(call.args.where));
    const text = plan.ok ? plan.steps.map((step) => step.diff).join("") : await knack.proposalDiff(proposal);
    const executable = listExecutable(plan);
    const because = plan.ok ? null : plan.because;
    return call.answer(
      { proposal: proposalJson(proposal), diff: redact(text), executable, because },
      [
        ...describeProposal(proposal),
        ...describeExecutable(executable),
        ...describeDiff(text, screen),
        ...(because === null
          ? []
          : [`Cannot be accepted: ${oneLine(because, 300)}.`, ...describeWays(because, proposal, screen)]),
      ],
      plan.ok ? 0 : 1,
    );
  });
}

/** What accepting would do; a proposal that is written already is refused. */
async function planProposal(knack: Knack, proposal: ProposalView, where: LiveReach | null): Promise<Plan> {
  return isWritten(proposal)
    ? { ok: false, because: describeWritten(proposal) }
    : knack.planProposal(proposal, where);
}

function isWritten({ status }: ProposalView): boolean {
  return status === "accepted" || status === "published";
}

function describeWritten({ status }: ProposalView): string {
  return `it is already ${status}`;
}

/** Files that can be run: a diff does not show that. */
function listExecutable(plan: Plan): string[] {
  const files = plan.ok ? plan.steps.flatMap((step) => step.files ?? []) : [];
  return [...new Set(files.flatMap(({ path, mode }) => (mode & 0o111 ? path : [])))];
}

function describeExecutable(paths: readonly string[]): string[] {
  return paths.length === 0
    ? []
    : [`  runs  ${paths.map((path) => oneLine(path, 80)).join(", ")} (executable)`];
}

function describeProposal({ id, name, do: does, because, model, evidence, status }: ProposalView): string[] {
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

/** Other ways to get what a proposal that cannot be accepted is about. */
function describeWays(because: string, proposal: ProposalView, { knack }: Screen): string[] {
  const { id, name, do: does } = proposal;
  if (isWritten(proposal)) return [`  To undo: ${knack} skills undo ${name}`];
  return does === "create" && because === projectMissing
    ? [`  To have it in all your projects: ${knack} review accept ${id} --where everywhere`]
    : [];
}

/** A dry run looks at the real home, as accepting would; it changes nothing. */
function decide(call: ReviewCall, work: (knack: Knack) => Promise<number>): Promise<number> {
  return call.dryRun ? withKnack(call, work, { dryRun: false }) : changeKnack(call, work);
}

export async function accept(call: ReviewCall, word: string): Promise<number> {
  const { screen } = call;
  const where = parseWhere(call.args.where);
  return decide(call, async (knack) => {
    const proposal = await findProposal(knack, word);
    const { id, name } = proposal;
    const plan = await planProposal(knack, proposal, where);
    if (call.dryRun && !call.args.json) {
      const executable = describeExecutable(listExecutable(plan));
      if (executable.length > 0) screen.print(executable);
    }
    return applyChange(call, {
      plan: async () => plan,
      apply: () => knack.acceptProposal(proposal, where),
      nothing: null,
      json: { proposal: id },
      hints: (because) => [
        ...describeWays(because, proposal, screen).map((line) => line.trim()),
        ...(isWritten(proposal)
          ? []
          : [`To remove ${name} from the inbox: ${screen.knack} review reject ${id}`]),
      ],
      after: () => [`Accepted ${name}. To undo: ${screen.knack} skills undo ${name}`],
    });
  });
}

export async function reject(call: ReviewCall, word: string): Promise<number> {
  const { screen, dryRun } = call;
  return decide(call, async (knack) => {
    const proposal = await findProposal(knack, word);
    const { id, name } = proposal;
    if (isWritten(proposal))
      return refuseChange(
        call,
        notDone(describeWritten(proposal)),
        [`To undo: ${screen.knack} skills undo ${name}`],
        { proposal: id },
      );
    if (!dryRun) await knack.rejectProposal(proposal);
    return call.answer({ done: !dryRun, proposal: id, because: null, skills: [] }, [
      dryRun
        ? `Would reject ${name}.`
        : `Rejected ${name}; the same is not proposed again. To accept it after all: ${screen.knack} review accept ${id}`,
    ]);
  });
}
