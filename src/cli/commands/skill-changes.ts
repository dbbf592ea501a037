import { resolve } from "node:path";
import { changedFile, isWritten, type PlannedChange, rejectedForGood } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import type { Lesson, LiveReach } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { redact } from "../../trust/index.ts";
import { type AnyCall, unknownName, wrongUsage } from "../command.ts";
import { applyChange, describeDiff, refuseChange, shelfStates } from "../screen/changes.ts";
import type { Screen } from "../screen/screen.ts";
import { type Lines, oneLine } from "../screen/text.ts";
import { findNamed, findNamedHere, matchesName, parseWhere } from "../select.ts";
import { changes, type OpenCall, reads, type Subcommands, takes } from "../subcommands.ts";

/** A call of `knack skills`, as far as its changes need it. */
interface SkillCall extends AnyCall {
  readonly args: Readonly<Partial<Record<"where" | "lesson" | "session", string | undefined>>>;
}

type ChangeCall = OpenCall<SkillCall>;

const oneName = takes("one name", "knack skills list shows the names.");

/** A folder, or none for the present one. */
const aFolder = (typed: readonly string[], name: string) =>
  typed.length === 0 ? "" : takes("one folder", "Name a folder of the repository.")(typed, name);

/** The subcommands of `knack skills` that change something, and what shows a change before it is made. */
export const skillChanges: Subcommands<SkillCall> = {
  diff: reads(diff, oneName),
  undo: changes(undo, (typed, name) => (typed.length === 0 ? "" : oneName(typed, name))),
  accept: changes(acceptNamed, oneName),
  reject: changes(rejectNamed, oneName),
  unskip: changes(unskip, oneName),
  write: changes(write, oneName),
  pin: changes((call, name) => pin(call, name, true), oneName),
  unpin: changes((call, name) => pin(call, name, false), oneName),
  trust: changes((call, folder) => trust(call, folder, true), aFolder),
  untrust: changes((call, folder) => trust(call, folder, false), aFolder),
  restore: changes(restore, takes("one name", "knack skills archived shows what was archived.")),
};

/** Shows what is pending: what accepting would change, or what a person edited. */
async function diff(call: ChangeCall, word: string): Promise<number> {
  const { knack } = call;
  const { name, kept, lesson } = await findNamed(knack, word);
  const pending: { what: string; diff: string }[] = [];
  for (const one of kept) {
    if (one.state === "edited" || one.state === "missing")
      pending.push({ what: `${shelfStates[one.state]}: ${changedFile(one)}`, diff: one.edit });
    if (one.reach !== "draft" || one.state === "missing") continue;
    const plan = await (await resolveYes(knack, { kept: [one], lesson }, null)).plan();
    const steps = plan.ok ? plan.steps.filter(({ change }) => change.why !== "remove") : [];
    pending.push({
      what: plan.ok ? "accepting it would change this" : `cannot be accepted: ${plan.because}`,
      diff: steps.map((step) => step.diff).join(""),
    });
  }
  return call.answer({ name, pending }, [
    pending.length === 0 && `Nothing is pending for ${name}.`,
    pending.map((one) => [`${name}: ${one.what}`, describeDiff(one.diff, call.screen)]),
  ]);
}

async function undo(call: ChangeCall, word: string): Promise<number> {
  const { knack } = call;
  const { knack: called } = call.screen;
  const name = word === "" ? null : await findChangedName(knack, word);
  return applyChange(call, {
    plan: () => knack.planUndo(name),
    apply: () => knack.undo(name),
    nothing: `There is nothing to undo${name === null ? "" : ` for ${name}`}.`,
    hints: (because) => [
      because.endsWith(rejectedForGood)
        ? `To undo something else, name it: ${called} skills undo <name>`
        : `To keep your edit: ${called} skills accept ${name ?? "<name>"}. Or revert the file, and try again.`,
    ],
    after: (steps) => describeRejected(call.knack, steps, call.screen),
  });
}

/** The name of a change, also when its files are gone. */
async function findChangedName(knack: Knack, word: string): Promise<string> {
  const names = (await knack.changes()).map(({ change: { name } }) => name);
  return pickName(names, word) ?? (await findNamed(knack, word)).name;
}

function pickName(names: readonly string[], word: string): string | undefined {
  return names.find((name) => name === word) ?? names.find((name) => matchesName(name, word));
}

/** Which lessons and gaps an undo rejected for good. */
function describeRejected(knack: Knack, steps: readonly PlannedChange[], screen: Screen): Lines {
  const rejected = knack.rejectedBy(steps);
  const gone = steps.flatMap(({ change }) => (rejected.has(change.origin.id) ? change : []));
  return [...new Set(gone.map(({ origin, name }) => describeSkipped(name, origin.kind === "gap", screen)))];
}

function describeSkipped(name: string, isGap: boolean, { knack }: Screen): string {
  return isGap
    ? `Knack will not write ${name} again, however often it is asked for.`
    : `${name} will not be suggested again. To allow it again: ${knack} skills unskip ${name}`;
}

/** Publishes a draft or proposal, keeps a hand edit, or keeps a lesson that was not offered. */
export async function acceptNamed(call: ChangeCall, word: string): Promise<number> {
  const { knack } = call;
  const where = parseWhere(call.args.where);
  const waiting = await findImportedSkill(knack, word);
  if (waiting)
    return applyChange(call, {
      plan: () => knack.planAcceptImport(waiting, where ?? "everywhere"),
      apply: () => knack.acceptImport(waiting, where ?? "everywhere"),
      nothing: `${waiting.name} is already there, with the same text.`,
      listsFiles: true,
    });
  const { name, kept, lesson } = await findNamed(knack, word);
  const yes = await resolveYes(knack, { kept, lesson }, where);
  const isLive = kept.some(({ reach }) => reach !== "draft");
  return applyChange(call, {
    ...yes,
    nothing:
      yes.does === "adopt"
        ? null
        : isLive
          ? `${name} is already live.`
          : `There is nothing to accept for ${name}.`,
    after: () => [yes.does === "adopt" && "Your edit is kept as it is."],
  });
}

async function resolveYes(knack: Knack, thing: Parameters<Knack["acceptance"]>[0], where: LiveReach | null) {
  const yes = await knack.acceptance(thing, where);
  if (yes !== null) return yes;
  throw wrongUsage(
    "The project's folder is not on this machine.",
    "To keep it in all your projects: add --where everywhere",
  );
}

/** An imported skill that waits, by its name or id; the latest of several. */
async function findImportedSkill(knack: Knack, word: string) {
  const waiting = (await knack.imports()).flatMap((one) =>
    one.type === "skill" && one.status === "waiting" ? one : [],
  );
  return waiting.findLast(({ name, id }) => name === word || id === word);
}

/** Removes something and never suggests it again. */
export async function rejectNamed(call: ChangeCall, word: string): Promise<number> {
  const { screen, dryRun, knack } = call;
  const waiting = await findImportedSkill(knack, word);
  if (waiting) {
    if (!dryRun) await knack.decideImports([waiting.id], "rejected");
    return answerDecided(call, `${waiting.name} ${dryRun ? "would not" : "will not"} be imported again.`);
  }
  const { name, kept, lesson } = await findNamedHere(knack, word);
  if (kept.length === 0 && lesson) {
    if (!dryRun) await knack.decide(lesson.id, "rejected");
    const skipped = describeSkipped(name, false, screen);
    return answerDecided(call, dryRun ? `${name} would not be suggested again.` : skipped);
  }
  const { isGap, plan, apply } = knack.removal(kept);
  return applyChange(call, {
    plan,
    apply,
    nothing: null,
    after: () => [describeSkipped(name, isGap, screen)],
  });
}

function answerDecided(call: ChangeCall, line: string): number {
  return call.answer({ done: !call.dryRun, because: null, skills: [] }, [line]);
}

const longestLesson = 600;

/** Keeps a lesson in the words of the agent that learned it: as a draft, about which a person decides. */
async function write(call: ChangeCall, word: string): Promise<number> {
  const { knack } = call;
  const text = redact((call.args.lesson ?? "").trim());
  if (text === "" || text.length > longestLesson)
    throw wrongUsage(
      `--lesson needs a sentence or two, at most ${longestLesson} characters.`,
      'knack skills write <name> --lesson "when it applies, and what works"',
    );
  const { lesson, kept } = await findNamed(knack, word);
  if (!lesson || kept.length > 0)
    return refuseChange(call, `${word} is already written: knack skills show ${word}`);
  const worded: Lesson = { ...lesson, artifact: "skill", lesson: text };
  const choice = { reach: "draft", actor: "agent" } as const;
  return applyChange(call, {
    plan: () => knack.plan(worded, choice),
    apply: async () => {
      const result = await knack.keep(worded, choice);
      const { session } = call.args;
      const { id, project } = lesson;
      if (result.kept && session)
        await knack.hear([{ type: "written", session, project, lessonId: id, at: Date.now() }]);
      return result;
    },
    nothing: `There is nothing to write about ${lesson.name}.`,
    after: () => ["It is a draft: agents are only told its name, where it fits, until a person accepts it."],
  });
}

async function unskip(call: ChangeCall, word: string): Promise<number> {
  const { knack } = call;
  const allow = async (id: string, says: string) => {
    if (!call.dryRun) await knack.decide(id, "unskipped");
    return answerDecided(call, says);
  };
  // What lessons were combined into, or an agent wrote, was rejected by its own id.
  const change = (await knack.changes()).findLast(
    ({ change: { origin, name } }) =>
      (origin.kind === "cluster" || isWritten(origin)) && matchesName(name, word),
  )?.change;
  if (change) return allow(change.origin.id, `${change.name} may be written again.`);
  const { name, lesson } = await findNamed(knack, word);
  if (lesson?.state.status === "rejected") return allow(lesson.id, `${lesson.name} may be suggested again.`);
  throw unknownName(`"${name}" was not rejected.`, "knack skills list shows what is not suggested any more.");
}

/** Restores something that was archived, byte for byte. */
async function restore(call: ChangeCall, word: string): Promise<number> {
  const { knack } = call;
  const archived = (await knack.archived()).map((one) => one.name);
  const name = pickName(archived, word);
  if (name === undefined)
    throw unknownName(`Nothing archived is called "${word}".`, "knack skills archived lists what there is.");
  return applyChange(call, {
    plan: () => knack.planRestore(name),
    apply: () => knack.restore(name),
    nothing: `There is nothing to restore for ${name}.`,
    after: () => ["It is restored as it was when it was archived."],
  });
}

/** Lets agents be given the skills that a repository brings along, as they are now; or takes that back. */
async function trust(call: ChangeCall, folder: string, isYes: boolean): Promise<number> {
  const { dryRun, knack, screen } = call;
  const cwd = resolve(folder);
  const found = await knack.repositorySkills(cwd);
  if (found === null) throw wrongUsage(`${cwd} is in no project.`, "Name a folder of the repository.");
  if (found.items.length === 0 && isYes)
    return call.refuse({ done: false, because: "no skills", root: found.root, skills: [] }, [
      `${screen.path(found.root)} has no skills of its own.`,
    ]);
  await (isYes ? knack.trustSkills(found, cwd) : knack.untrustSkills(found, cwd));
  const taken = found.items.filter(({ state }) => isYes && state !== "doubted");
  const skills = found.items.map((one) => ({ ...one, accepted: taken.includes(one) }));
  return call.answer({ done: !dryRun, root: found.root, skills }, [
    dryRun && "Nothing was changed (--dry-run).",
    isYes
      ? `Agents may be given ${several(taken.length, "skill")} of ${screen.path(found.root)} whole, as long as they stay as they are now:`
      : `Agents are told of the skills of ${screen.path(found.root)} by name only.`,
    isYes &&
      taken.map(
        ({ name, state }) => `  ${name}${state === "changed" ? " (changed since your last yes)" : ""}`,
      ),
    isYes &&
      found.items.map(({ name, because }) => because !== null && `  not ${name}: ${oneLine(because, 200)}`),
    isYes && `To take it back: ${screen.knack} skills untrust${folder === "" ? "" : ` ${folder}`}`,
  ]);
}

/** Keeps Knack from changing or archiving a skill; or allows it again. */
async function pin(call: ChangeCall, word: string, pinned: boolean): Promise<number> {
  const { dryRun, knack } = call;
  const known = [...(await knack.shelf()), ...(await knack.catalog({ cwd: process.cwd() })).items];
  const names = known.map((one) => one.name);
  const name = pickName(names, word);
  const found = name === undefined ? [] : await knack.pin(name, pinned);
  if (found.length === 0)
    throw unknownName(`No skill is called "${word}".`, "knack skills list shows the names.");
  return call.answer({ done: !dryRun, name, pinned, scopeIds: found.map(({ scopeId }) => scopeId) }, [
    dryRun
      ? `Would ${pinned ? "pin" : "unpin"} ${name} (--dry-run).`
      : `${name} is ${pinned ? "pinned: Knack does not change or archive it" : "no longer pinned"}.`,
  ]);
}
