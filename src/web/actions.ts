import type { PublishResult } from "../library/index.ts";
import type { Knack } from "../open.ts";
import type { LiveReach } from "../records/index.ts";
import type { Notice } from "./layout.ts";
import type { Desk } from "./page.ts";

/** The fields of a form. */
export type FormFields = Readonly<Record<string, string>>;

/** Changes something by the verbs that the command line has, and says how it went. */
type Action = (knack: Knack, fields: FormFields) => Promise<Notice>;

const reaches: readonly LiveReach[] = ["me", "repository", "everywhere"];

/** Everything that a form may do, by the name that it has there. */
export const actions: Readonly<Record<string, Action>> = {
  "keep-lesson": keepLesson,
  "keep-over": keepOver,
  "reject-lesson": async (knack, { id = "" }) => {
    const lesson = await findLesson(knack, id);
    if (!lesson) return gone("This lesson");
    if (lesson.state.status === "rejected") return fail(`${lesson.name} was rejected already.`);
    await knack.decide(lesson.id, "rejected");
    return done(`${lesson.name} is rejected and will not be suggested again.`, { do: "allow-lesson", id });
  },
  "allow-lesson": async (knack, { id = "" }) => {
    const lesson = await findLesson(knack, id);
    if (!lesson) return gone("This lesson");
    await knack.decide(lesson.id, "unskipped");
    return done(`${lesson.name} may be suggested again.`);
  },
  accept: async (knack, fields) => {
    const thing = await findThing(knack, fields);
    if (thing.kept.length === 0) return gone("This draft");
    const yes = await knack.acceptance(thing, readReach(fields));
    if (yes === null) return fail(noPlace);
    return describeResult(await yes.apply(), fields.name ?? "", "is live");
  },
  remove: async (knack, fields) => {
    const { kept } = await findThing(knack, fields);
    if (kept.length === 0) return gone("This");
    return describeResult(
      await knack.removal(kept).apply(),
      fields.name ?? "",
      "is removed and will not be suggested again",
    );
  },
  undo: async (knack, { name = "" }) => {
    const result = await knack.undo(name === "" ? null : name);
    const steps = result.kept ? result.steps : [];
    if (result.kept && steps.length === 0) return fail("There is nothing to undo.");
    const [rejected] = knack.rejectedBy(steps);
    const what = steps[0]?.change.name ?? name;
    const notice = describeResult(result, what, "is as it was before");
    if (!notice.isDone || rejected === undefined) return { ...notice, undo: null };
    return {
      ...done(`${what} is as it was before, and will not be suggested again.`),
      undo: steps[0]?.change.origin.kind === "lesson" ? { do: "allow-lesson", id: rejected } : null,
    };
  },
  "promote-gap": async (knack, { id = "" }) => {
    const gap = (await knack.gaps()).find((one) => one.id === id);
    return gap ? describeResult(await knack.promoteGap(gap), "The skill", "is live") : gone("This request");
  },
  "reject-gap": async (knack, { id = "" }) => {
    const gap = (await knack.gaps()).find((one) => one.id === id);
    if (!gap) return gone("This request");
    const result = await knack.rejectGap(gap);
    return result.kept
      ? done("Knack will not write a skill for this, however often it is asked for.")
      : fail(`Not done: ${result.because}.`);
  },
  "accept-proposal": async (knack, fields) => {
    const proposal = (await knack.proposals()).find(({ id }) => id === fields.id);
    if (proposal?.status !== "waiting") return gone("This proposal");
    return describeResult(
      await knack.acceptProposal(proposal, readReach(fields)),
      proposal.name,
      "is accepted",
    );
  },
  "reject-proposal": async (knack, { id = "" }) => {
    const proposal = (await knack.proposals()).find((one) => one.id === id);
    if (proposal?.status !== "waiting") return gone("This proposal");
    await knack.rejectProposal(proposal);
    return done(`${proposal.name} is rejected; the same is not proposed again.`);
  },
  "accept-import": async (knack, fields) => {
    const waiting = (await knack.imports()).find(
      ({ id, status }) => id === fields.id && status === "waiting",
    );
    if (!waiting) return gone("This import");
    if (waiting.type === "skill")
      return describeResult(
        await knack.acceptImport(waiting, readReach(fields) ?? "everywhere"),
        waiting.name,
        "is live",
      );
    await knack.decideImports([waiting.id], "accepted");
    return done(`${waiting.finding.name} is accepted. It counts as your own instruction.`);
  },
  "reject-import": async (knack, { id = "" }) => {
    const waiting = (await knack.imports()).find((one) => one.id === id && one.status === "waiting");
    if (!waiting) return gone("This import");
    await knack.decideImports([waiting.id], "rejected");
    return done("It will not be imported again.");
  },
};

/** Keeps a lesson as `knack learn` does: where the person says, in their words where they have edited it. */
async function keepLesson(knack: Knack, fields: FormFields): Promise<Notice> {
  const lesson = await findLesson(knack, fields.id ?? "");
  if (!lesson) return gone("This lesson");
  const reach = readReach(fields) ?? (await knack.usualReach(lesson));
  if (reach === null) return fail(noPlace);
  const text = fields.text?.replaceAll("\r\n", "\n").trim();
  if (text === "") return fail("The text is empty, so nothing was changed.");
  const result = await knack.keep(lesson, {
    reach,
    actor: "person",
    ...(text === undefined ? {} : { text }),
  });
  if (result.kept && result.already)
    return fail(`${lesson.name} was kept already, in another window or by another run.`);
  return describeResult(result, lesson.name, "is kept");
}

/** Keeps one side of a contradiction; the other is rejected. */
async function keepOver(knack: Knack, fields: FormFields): Promise<Notice> {
  const lesson = await findLesson(knack, fields.id ?? "");
  if (!lesson) return gone("This lesson");
  const kept = (await knack.shelf()).filter(({ origin }) => origin.id === lesson.id);
  const isLive = kept.some(({ reach }) => reach !== "draft");
  if (!isLive) {
    const yes = await knack.acceptance({ kept, lesson }, readReach(fields));
    if (yes === null) return fail(noPlace);
    const notice = describeResult(await yes.apply(), lesson.name, "is kept");
    if (!notice.isDone) return notice;
  }
  const opposed = await knack.rejectOpposed(lesson);
  return done(
    `${lesson.name} is kept. Rejected, because it says the opposite: ${opposed.map(({ name }) => name).join(", ")}.`,
  );
}

/** Makes the repairs that are safe, as \`knack doctor --fix\` does. */
export async function repairHealth({ health }: Desk): Promise<Notice> {
  const { done: repaired, failed } = await health.repair();
  if (failed.length > 0) return fail(failed.join("; "));
  return repaired.length > 0
    ? done(`Repaired: ${repaired.join("; ")}.`)
    : fail("There was nothing to repair.");
}

const noPlace = "The project's folder is not on this machine. Choose where to keep it: in all projects.";

async function findLesson(knack: Knack, id: string) {
  return (await knack.lessons()).find((one) => one.id === id);
}

/** The files of one name that were made of the same, and the lesson behind them. */
async function findThing(knack: Knack, { name, origin }: FormFields) {
  const kept = (await knack.shelf()).filter((one) => one.name === name && one.origin.id === origin);
  const lesson = (await knack.lessons()).find(({ id }) => id === origin) ?? null;
  return { kept, lesson };
}

function readReach({ where }: FormFields): LiveReach | null {
  return reaches.find((one) => one === where) ?? null;
}

function describeResult(result: PublishResult, name: string, says: string): Notice {
  if (!result.kept) return fail(`Not done: ${result.because.replace(/\.$/, "")}.`);
  const failed = result.outcomes.find((outcome) => !outcome.done);
  if (failed) return fail(`Not all of it was written: ${failed.because}.`);
  const first = result.outcomes.find(({ change }) => change.why !== "remove") ?? result.outcomes[0];
  if (!first) return fail("Nothing was written: your instructions already say it.");
  return done(`${name} ${says}.`, { do: "undo", name: first.change.name });
}

function done(says: string, undo: Notice["undo"] = null): Notice {
  return { isDone: true, says, undo };
}

function fail(says: string): Notice {
  return { isDone: false, says, undo: null };
}

function gone(what: string): Notice {
  return fail(`${what} no longer waits: it was decided meanwhile, or it is gone.`);
}
