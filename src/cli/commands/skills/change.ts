import { isWritten, type PlannedChange, rejectedForGood, undoDecisions } from "../../../library/index.ts";
import type { Knack } from "../../../open.ts";
import type { KeptArtifact, Lesson, Reach } from "../../../records/index.ts";
import { redact } from "../../../trust/index.ts";
import { unknownName, wrongUsage } from "../../command.ts";
import { changeKnack } from "../../knack.ts";
import { applyChange, refuseChange } from "../../screen/changes.ts";
import type { Screen } from "../../screen/screen.ts";
import { findNamed, matchesName, parseWhere } from "../../select.ts";
import type { SkillsCall } from "./skills.ts";

/** Undoes the latest change, of one name or of all. */
export async function undo(call: SkillsCall, word: string | null): Promise<number> {
  const { knack: called } = call.screen;
  return changeKnack(call, async (knack) => {
    const name = word === null ? null : await findChangedName(knack, word);
    return applyChange(call, {
      plan: () => knack.planUndo(name),
      apply: () => knack.undo(name),
      nothing: name === null ? "There is nothing to undo." : `There is nothing to undo for ${name}.`,
      hints: (because) => [
        because.endsWith(rejectedForGood)
          ? `To undo something else, name it: ${called} skills undo <name>`
          : `To keep your edit: ${called} skills accept ${name ?? "<name>"}. Or revert the file, and try again.`,
      ],
      after: (steps) => describeRejected(steps, call.screen),
    });
  });
}

/** The name of a change, also when its files are gone. */
async function findChangedName(knack: Knack, word: string): Promise<string> {
  const names = [...new Set((await knack.changes()).map(({ change: { name } }) => name))];
  const found = names.find((name) => name === word) ?? names.find((name) => name.endsWith(`-${word}`));
  return found ?? (await findNamed(knack, word)).name;
}

/** Which lessons and gaps an undo rejected for good. */
function describeRejected(steps: readonly PlannedChange[], screen: Screen): string[] {
  const rejected = new Set(
    undoDecisions(steps, 0).flatMap(({ type, data }) => {
      if (type === "gap.decided") return data.gap;
      return type === "lesson.decided" && data.decision === "rejected" ? data.lessonId : [];
    }),
  );
  const gone = steps.flatMap(({ change }) => (rejected.has(change.origin.id) ? change : []));
  const lines = gone.map(({ origin, name }) =>
    origin.kind === "gap" ? describeClosedGap(name) : describeSkipped(name, screen),
  );
  return [...new Set(lines)];
}

function describeSkipped(name: string, { knack }: Screen): string {
  return `${name} will not be suggested again. To allow it again: ${knack} skills unskip ${name}`;
}

function describeClosedGap(name: string): string {
  return `Knack will not write ${name} again, however often it is asked for.`;
}

/** Makes a draft or proposal live, keeps a hand edit, or keeps a lesson that nobody was asked about. */
export async function accept(call: SkillsCall, word: string): Promise<number> {
  const where = parseWhere(call.args.where);
  return changeKnack(call, async (knack) => {
    const waiting = await findImportedSkill(knack, word);
    if (waiting)
      return applyChange(call, {
        plan: () => knack.planAcceptImport(waiting, where ?? "everywhere"),
        apply: () => knack.acceptImport(waiting, where ?? "everywhere"),
        nothing: `${waiting.name} is already there, with the same text.`,
        listsFiles: true,
      });
    const { name, kept, lesson } = await findNamed(knack, word);
    const drafts = kept.filter(({ reach }) => reach === "draft");
    const live = kept.filter(({ reach }) => reach !== "draft");
    const edited = live.filter(({ state }) => state === "edited");
    if (drafts.length === 0 && edited.length > 0)
      return applyChange(call, {
        plan: () => knack.planAdopt(edited),
        apply: () => knack.adopt(edited),
        nothing: null,
        after: () => ["Your edit is kept as it is."],
      });
    const reach = where ?? (await chooseUsualReach(knack, drafts, lesson));
    const choice = { reach, actor: "person", alongside: true } as const;
    const unwritten = kept.length === 0 ? lesson : null;
    return applyChange(call, {
      plan: () => (unwritten ? knack.plan(unwritten, choice) : knack.planAccept(drafts, reach)),
      apply: () => (unwritten ? knack.keep(unwritten, choice) : knack.accept(drafts, reach)),
      nothing: live.length > 0 ? `${name} is already live.` : `There is nothing to accept for ${name}.`,
    });
  });
}

/** An imported skill that waits, by its name or id; the latest of several. */
async function findImportedSkill(knack: Knack, word: string) {
  const waiting = (await knack.imports()).flatMap((one) =>
    one.type === "skill" && one.status === "waiting" ? one : [],
  );
  return waiting.findLast(({ name, id }) => name === word || id === word) ?? null;
}

/** Removes something, and never suggests it again. */
export async function reject(call: SkillsCall, word: string): Promise<number> {
  const { screen, dryRun } = call;
  return changeKnack(call, async (knack) => {
    const waiting = await findImportedSkill(knack, word);
    if (waiting) {
      if (!dryRun) await knack.decideImports([waiting.id], "rejected");
      return answerDecided(call, `${waiting.name} ${dryRun ? "would not" : "will not"} be imported again.`);
    }
    const { name, kept, lesson } = await findNamed(knack, word);
    if (kept.length === 0 && lesson) {
      if (!dryRun) await knack.decide(lesson.id, "rejected");
      return answerDecided(
        call,
        dryRun ? `${name} would not be suggested again.` : describeSkipped(name, screen),
      );
    }
    const drafts = kept.filter(({ reach }) => reach === "draft");
    const removed = drafts.length > 0 ? drafts : kept;
    const isGap = removed.some((one) => one.origin.kind === "gap");
    return applyChange(call, {
      plan: () => knack.planReject(removed),
      apply: () => knack.reject(removed),
      nothing: null,
      after: () => [isGap ? describeClosedGap(name) : describeSkipped(name, screen)],
    });
  });
}

/** A decision that changed no file. */
function answerDecided(call: SkillsCall, line: string): number {
  return call.answer({ done: !call.dryRun, because: null, skills: [] }, [line]);
}

const longestLesson = 600;

/** Keeps a lesson in the words of the agent that learned it: as a draft, about which a person decides. */
export async function write(call: SkillsCall, word: string): Promise<number> {
  const text = redact((call.args.lesson ?? "").trim());
  if (text === "" || text.length > longestLesson)
    throw wrongUsage(
      `--lesson needs a sentence or two, at most ${longestLesson} characters.`,
      'knack skills write <name> --lesson "when it applies, and what works"',
    );
  return changeKnack(call, async (knack) => {
    const { lesson, kept } = await findNamed(knack, word);
    if (!lesson || kept.length > 0)
      return refuseChange(call, `${word} is already written: knack skills show ${word}`);
    const worded: Lesson = { ...lesson, artifact: "skill", lesson: text };
    const choice = { reach: "draft", actor: "agent" } as const;
    return applyChange(call, {
      plan: () => knack.plan(worded, choice),
      apply: async () => {
        const keeping = await knack.keep(worded, choice);
        const { session } = call.args;
        const { id, project } = lesson;
        if (keeping.kept && session)
          await knack.hear([{ type: "written", session, project, lessonId: id, at: Date.now() }]);
        return keeping;
      },
      nothing: `There is nothing to write about ${lesson.name}.`,
      after: () => [
        "It is a draft: agents are only told its name, where it fits, until a person accepts it.",
      ],
    });
  });
}

/** Lets something be suggested or written again. */
export async function unskip(call: SkillsCall, word: string): Promise<number> {
  const { dryRun } = call;
  return changeKnack(call, async (knack) => {
    // What lessons were combined into, or an agent wrote, was rejected by its own id.
    const change = (await knack.changes()).findLast(
      ({ change: { origin, name } }) =>
        (origin.kind === "cluster" || isWritten(origin)) && matchesName(name, word),
    )?.change;
    if (change) {
      if (!dryRun) await knack.decide(change.origin.id, "unskipped");
      return answerDecided(call, `${change.name} may be written again.`);
    }
    const { name, lesson } = await findNamed(knack, word);
    if (lesson?.state.status !== "rejected")
      throw unknownName(
        `"${name}" was not rejected.`,
        "knack skills list shows what is not suggested any more.",
      );
    if (!dryRun) await knack.decide(lesson.id, "unskipped");
    return answerDecided(call, `${lesson.name} may be suggested again.`);
  });
}

/** Where drafts go when nobody says: a project's request, or what an agent wrote in a project, stays there. */
export async function chooseUsualReach(
  knack: Knack,
  drafts: readonly KeptArtifact[],
  lesson: Lesson | null,
): Promise<Reach> {
  if (drafts.some(({ origin }) => origin.kind === "gap" || isWritten(origin))) return "me";
  const members = new Set(drafts.flatMap((draft) => draft.members ?? []));
  const owner = lesson ?? (await knack.lessons()).find(({ id }) => members.has(id));
  if (!owner || owner.scope === "user") return "everywhere";
  const plan = await knack.plan(owner, { reach: "me", actor: "person" });
  return plan.ok || !plan.because.includes("not on this machine") ? "me" : "everywhere";
}

/** Restores something that was archived, byte for byte. */
export async function restore(call: SkillsCall, word: string): Promise<number> {
  return changeKnack(call, async (knack) => {
    const names = (await knack.archived()).map(({ name }) => name);
    const name = pickName(names, word);
    if (name === undefined)
      throw unknownName(
        `Nothing archived is called "${word}".`,
        "knack skills archived lists what there is.",
      );
    return applyChange(call, {
      plan: () => knack.planRestore(name),
      apply: () => knack.restore(name),
      nothing: `There is nothing to restore for ${name}.`,
      after: () => ["It is restored as it was when it was archived."],
    });
  });
}

function pickName(names: readonly string[], word: string): string | undefined {
  return names.find((name) => name === word) ?? names.find((name) => matchesName(name, word));
}

/** Keeps Knack from changing or archiving a skill; or allows it again. */
export async function pin(call: SkillsCall, word: string, pinned: boolean): Promise<number> {
  const { dryRun } = call;
  return changeKnack(call, async (knack) => {
    const known = [...(await knack.shelf()), ...(await knack.catalog({ cwd: process.cwd() })).items];
    const name = pickName(
      known.map((one) => one.name),
      word,
    );
    const found = name === undefined ? [] : await knack.pin(name, pinned);
    if (found.length === 0)
      throw unknownName(`No skill is called "${word}".`, "knack skills list shows the names.");
    return call.answer({ done: !dryRun, name, pinned, scopeIds: found.map(({ scopeId }) => scopeId) }, [
      dryRun
        ? `Would ${pinned ? "pin" : "unpin"} ${name} (--dry-run).`
        : pinned
          ? `${name} is pinned: Knack does not change or archive it.`
          : `${name} is no longer pinned.`,
    ]);
  });
}
