import type { Kept, Reach } from "../core/change.ts";
import { KnackError } from "../core/errors.ts";
import { isEvolvedId } from "../core/evolve.ts";
import { isGapId } from "../core/gap.ts";
import type { Instinct } from "../core/instinct.ts";
import { isWrittenId } from "../core/protocol.ts";
import { redact } from "../core/redact.ts";
import { listed } from "../engine/exchange.ts";
import { rejectedForGood } from "../engine/gap.ts";
import type { Keeping } from "../engine/keep.ts";
import { decidedByUndo } from "../engine/shelf.ts";
import type { Plan, Step } from "../engine/step.ts";
import type { Knack } from "../open.ts";
import { whereOf } from "./learn.ts";
import { writingOnWire } from "./learned-on-wire.ts";
import { isCalled, named } from "./named.ts";
import { changing } from "./opening.ts";
import type { SkillsCall } from "./skills.ts";
import { tellDiff, tellFiles, tellOutcomes } from "./telling.ts";
import { calledAs, paintFor, printJson, printLines } from "./terminal.ts";

/** Takes back the latest change, of one name or of all. */
export async function undo(call: SkillsCall, word: string | null): Promise<number> {
  return changing(call.env, { dryRun: call.args["dry-run"] === true }, async (knack) => {
    const name = word === null ? null : await nameForUndo(knack, word);
    return change(call, {
      none: name === null ? "There is nothing to undo." : `There is nothing to undo of ${name}.`,
      refusal: (because) =>
        because.endsWith(rejectedForGood)
          ? `To take back something else, name it: ${calledAs(call.env)} skills undo <name>`
          : `Keep your words: ${calledAs(call.env)} skills accept ${name ?? "<name>"}. Or change the file back, and try again.`,
      planning: () => knack.planUndo(name),
      doing: () => knack.undo(name),
      after: (steps) => afterUndo(steps, call.env),
    });
  });
}

/** Says so where taking something back was a no for good. */
function afterUndo(steps: readonly Step[], env: SkillsCall["env"]): string[] {
  const refused = new Set(
    decidedByUndo(steps, 0).flatMap(({ type, data }) => {
      if (type === "gap.decided") return data.gap;
      return type === "instinct.decided" && data.decision === "rejected" ? data.instinct : [];
    }),
  );
  const gone = steps.flatMap(({ change }) => (refused.has(change.instinct) ? change : []));
  const names = gone.flatMap(({ instinct, name }) => (isGapId(instinct) ? [] : name));
  const closed = gone.flatMap(({ instinct, name }) => (isGapId(instinct) ? name : []));
  return [...[...new Set(names)].map((name) => notAgain(name, env)), ...[...new Set(closed)].map(neverAgain)];
}

function notAgain(name: string, env: SkillsCall["env"]): string {
  return `${name} is not suggested again. To take that back: ${calledAs(env)} skills unskip ${name}`;
}

/** What was made because people kept asking is given up for good. */
function neverAgain(name: string): string {
  return `${name} is not made again, however often it is asked for.`;
}

/** What was changed has a name, also when it is gone. */
async function nameForUndo(knack: Knack, word: string): Promise<string> {
  const names = [...new Set((await knack.changes()).map(({ change: { name } }) => name))];
  const found = names.find((name) => name === word) ?? names.find((name) => name.endsWith(`-${word}`));
  return found ?? (await named(knack, word)).name;
}

/** Makes a draft or a proposal live, or a lesson that nobody was asked about. */
export async function accept(call: SkillsCall, word: string): Promise<number> {
  const where = whereOf(call.args.where);
  return changing(call.env, { dryRun: call.args["dry-run"] === true }, async (knack) => {
    const waiting = await importedSkill(knack, word);
    if (waiting)
      return change(call, {
        none: `${waiting.name} is there already, as it came.`,
        refusal: null,
        planning: () => knack.planAcceptImport(waiting, where ?? "everywhere"),
        doing: () => knack.acceptImport(waiting, where ?? "everywhere"),
        isForeign: true,
      });
    const { name, kept, instinct } = await named(knack, word);
    const drafts = kept.filter(({ reach }) => reach === "draft");
    const reach = where ?? (await usualReach(knack, drafts, instinct));
    const isLive = kept.some((one) => one.reach !== "draft");
    const edited = kept.filter(({ state, reach: to }) => state === "edited" && to !== "draft");
    if (drafts.length === 0 && edited.length > 0)
      return change(call, {
        none: null,
        refusal: null,
        planning: () => knack.planAdopt(edited),
        doing: () => knack.adopt(edited),
        after: () => ["Your words stay as they are."],
      });
    const lesson = kept.length === 0 ? instinct : null;
    return change(call, {
      none: isLive ? `${name} is live already.` : `There is nothing to accept of ${name}.`,
      refusal: null,
      planning: () =>
        lesson
          ? knack.plan(lesson, { reach, actor: "person", alongside: true })
          : knack.planAccept(drafts, reach),
      doing: () =>
        lesson
          ? knack.keep(lesson, { reach, actor: "person", alongside: true })
          : knack.accept(drafts, reach),
    });
  });
}

/** A skill that came from elsewhere and waits, by its name or id; of several that waits longest comes last. */
async function importedSkill(knack: Knack, word: string) {
  const waiting = (await knack.imports()).flatMap((one) =>
    one.type === "skill" && one.status === "waiting" ? one : [],
  );
  return waiting.findLast(({ name, id }) => name === word || id === word) ?? null;
}

/** Takes something away, and never suggests it again. */
export async function reject(call: SkillsCall, word: string): Promise<number> {
  const dryRun = call.args["dry-run"] === true;
  return changing(call.env, { dryRun }, async (knack) => {
    const waiting = await importedSkill(knack, word);
    if (waiting) {
      if (!dryRun) await knack.decideImports([waiting.id], "rejected");
      tell(call, [], [`${waiting.name} ${dryRun ? "would not be" : "is not"} taken in again as it came.`]);
      return 0;
    }
    const { name, kept, instinct } = await named(knack, word);
    if (kept.length === 0 && instinct) {
      if (!dryRun) await knack.decide(instinct.id, "rejected");
      tell(call, [], [dryRun ? `${name} would not be suggested again.` : notAgain(name, call.env)]);
      return 0;
    }
    const drafts = kept.filter(({ reach }) => reach === "draft");
    const meant = drafts.length > 0 ? drafts : kept;
    return change(call, {
      none: null,
      refusal: null,
      planning: () => knack.planReject(meant),
      doing: () => knack.reject(meant),
      after: () => [meant.some((one) => isGapId(one.instinct)) ? neverAgain(name) : notAgain(name, call.env)],
    });
  });
}

/** Keeps a lesson in the words of an agent that lived it: as a draft, about which a person decides. */
export async function write(call: SkillsCall, word: string): Promise<number> {
  const lesson = redact((call.args.lesson ?? "").trim());
  if (lesson === "" || lesson.length > longestLesson)
    throw new KnackError(
      "WRONG_USAGE",
      `A lesson has a sentence or two, at most ${longestLesson} characters.`,
      {
        hint: 'knack skills write <name> --lesson "when it applies, and what works"',
      },
    );
  return changing(call.env, { dryRun: call.args["dry-run"] === true }, async (knack) => {
    const { instinct, kept } = await named(knack, word);
    if (!instinct || kept.length > 0)
      return refuse(
        call,
        `There is something written about ${word} already: knack skills show ${word}`,
        null,
      );
    const worded: Instinct = { ...instinct, artifact: "skill", lesson };
    const choice = { reach: "draft", actor: "agent" } as const;
    return change(call, {
      none: `There is nothing to write about ${instinct.name}.`,
      refusal: null,
      planning: () => knack.plan(worded, choice),
      doing: async () => {
        const keeping = await knack.keep(worded, choice);
        const { session } = call.args;
        const { id, project } = instinct;
        if (keeping.kept && session)
          await knack.hear([{ type: "written", session, project, instinct: id, at: Date.now() }]);
        return keeping;
      },
      after: () => ["It is a draft: agents are told of it only where it fits, until a person accepts it."],
    });
  });
}

const longestLesson = 600;

/** Lets something be suggested again. */
export async function unskip(call: SkillsCall, word: string): Promise<number> {
  const dryRun = call.args["dry-run"] === true;
  return changing(call.env, { dryRun }, async (knack) => {
    const { name, instinct, grown } = await refusedAs(knack, word);
    if (grown !== null) {
      if (!dryRun) await knack.decide(grown, "unskipped");
      tell(call, [], [`${name} may be made again.`]);
      return 0;
    }
    if (instinct?.standing.status !== "rejected")
      throw new KnackError("UNKNOWN_NAME", `"${name}" was not refused.`, {
        hint: "knack skills list shows what is never suggested again.",
      });
    if (!dryRun) await knack.decide(instinct.id, "unskipped");
    tell(call, [], [`${instinct.name} may be suggested again.`]);
    return 0;
  });
}

/** What a word of the person means that was refused: a lesson, what several lessons grew into, or what an agent wrote. */
async function refusedAs(knack: Knack, word: string) {
  const change = (await knack.changes()).findLast(
    ({ change: { instinct, name } }) =>
      (isEvolvedId(instinct) || isWrittenId(instinct)) && isCalled(name, word),
  )?.change;
  if (change) return { name: change.name, instinct: null, grown: change.instinct };
  return { ...(await named(knack, word)), grown: null };
}

/** Where drafts go when nobody says: what a project asked for, or an agent wrote in it, stays there. */
export async function usualReach(
  knack: Knack,
  drafts: readonly Kept[],
  instinct: Instinct | null,
): Promise<Reach> {
  if (drafts.some((draft) => isGapId(draft.instinct) || isWrittenId(draft.instinct))) return "me";
  return defaultReach(knack, instinct ?? (await leadOf(knack, drafts)));
}

/** The first of the lessons that a draft was made of, which says whose it is. */
async function leadOf(knack: Knack, drafts: readonly Kept[]): Promise<Instinct | null> {
  const members = new Set(drafts.flatMap((draft) => draft.members ?? []));
  return (await knack.instincts()).find(({ id }) => members.has(id)) ?? null;
}

/** Where a lesson goes when nobody says: its project if that is here, the person's own folders otherwise. */
async function defaultReach(knack: Knack, instinct: Instinct | null): Promise<Reach> {
  if (!instinct || instinct.scope === "user") return "everywhere";
  const plan = await knack.plan(instinct, { reach: "me", actor: "person" });
  return plan.ok || !plan.because.includes("not on this machine") ? "me" : "everywhere";
}

interface Doing {
  /** What to say when there is nothing to do; null where that is as good as done. */
  readonly none: string | null;
  /** What to do when it is refused. */
  readonly refusal: ((because: string) => string) | null;
  readonly planning: () => Promise<Plan>;
  readonly doing: () => Promise<Keeping>;
  /** What else to say when it is done. */
  readonly after?: (steps: readonly Step[]) => string[];
  /** Whether it came from elsewhere: then all its files are named once more. */
  readonly isForeign?: boolean;
}

/** Does it, or says what it would do; exit code 1 when the answer is no. */
export async function change(
  call: SkillsCall,
  { none, refusal, planning, doing, after, isForeign = false }: Doing,
): Promise<number> {
  const plan = await planning();
  if (plan.ok && plan.steps.length === 0 && none !== null) return refuse(call, none, null);
  if (!plan.ok) return refuse(call, notDone(plan.because), refusal?.(plan.because) ?? null);
  if (call.args["dry-run"]) {
    const paint = paintFor(process.stdout, call.env);
    const lines = plan.steps.flatMap(({ diff }) => tellDiff(diff, paint));
    const named = isForeign ? namedIn(plan.steps) : [];
    tell(call, plan.steps, [...lines, ...named, "Nothing was written (--dry-run)."], isForeign);
    return 0;
  }
  const done = await doing();
  if (!done.kept) return refuse(call, notDone(done.because), refusal?.(done.because) ?? null);
  tell(
    call,
    done.outcomes.flatMap(({ done: isDone, change }) => {
      const files = done.steps.find((step) => step.change.id === change.id)?.files ?? null;
      return isDone ? { change, files } : [];
    }),
    [
      ...tellOutcomes(done.outcomes, call.env).map((line) => line.trimStart()),
      ...(isForeign ? namedIn(done.steps) : []),
      ...(after?.(done.steps) ?? []),
    ],
    isForeign,
  );
  return done.outcomes.every((one) => one.done) ? 0 : 1;
}

/** Why nothing was done, in a sentence with one full stop. */
function notDone(because: string): string {
  return `Not done: ${because.replace(/\.$/, "")}.`;
}

/** The same files go to every place. */
function namedIn([first]: readonly Step[]): string[] {
  return first?.files ? [tellFiles(listed(first.files))] : [];
}

function tell(
  { args }: SkillsCall,
  changes: readonly Pick<Step, "change" | "files">[],
  lines: readonly string[],
  isForeign = false,
): void {
  if (args.json)
    printJson({
      done: args["dry-run"] !== true,
      skills: changes.map(({ change, files }) => ({
        ...writingOnWire(change),
        ...(isForeign ? { files: listed(files ?? []) } : {}),
      })),
    });
  else printLines(lines);
}

function refuse({ args }: SkillsCall, because: string, hint: string | null): number {
  if (args.json) printJson({ done: false, because, skills: [] });
  else printLines([because, ...(hint === null ? [] : [`  ${hint}`])], process.stderr);
  return 1;
}
