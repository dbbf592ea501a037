import { isSharedLesson, type SharedLesson } from "../../lessons/index.ts";
import { redact } from "../../trust/index.ts";
import { type CommandCall, defineCommand, dryRunArg, jsonArg, wrongUsage } from "../command.ts";
import { changeKnack, withKnack } from "../knack.ts";
import { notDone } from "../screen/changes.ts";
import { oneLine } from "../screen/text.ts";
import { findLesson, nameProjects } from "../select.ts";
import { promote as promoteGap } from "./gaps.ts";

const args = {
  words: {
    type: "positional",
    required: false,
    description:
      "without words: list lessons that several projects have; lesson <id> or gap <id>: promote one",
  },
  undo: { type: "string", description: "use this lesson only where it was learned again" },
  ...dryRunArg,
  ...jsonArg,
} as const;

type PromoteCall = CommandCall<typeof args>;

export const promote = defineCommand({
  about:
    "Use lessons that several projects learned in every project. Knack does that by itself after learning; this shows which, and why not.",
  args,
  run: async (call: PromoteCall) => {
    const [kind, id, ...more] = call.args._;
    if (kind === undefined) return call.args.undo === undefined ? list(call) : demote(call, call.args.undo);
    if (id !== undefined && more.length === 0) {
      if (kind === "lesson" || kind === "instinct") return promoteLesson(call, id);
      if (kind === "gap") return promoteGap(call as never, id);
    }
    throw wrongUsage(
      `Invalid arguments for knack promote: "${call.args._.join(" ")}".`,
      "knack promote, knack promote lesson <id>, knack promote gap <id>, knack promote --undo <id>",
    );
  },
});

async function list(call: PromoteCall): Promise<number> {
  const { screen } = call;
  return withKnack(call, async (knack) => {
    const shared = await knack.sharedLessons();
    const nameProject = await nameProjects(knack);
    const describeAll = () => {
      const [head = "", ...rows] = screen.table(
        ["id", "projects", "sure", "used", "lesson"],
        shared.map(({ lesson, projects, mean, promoted }) => [
          lesson.id,
          oneLine(projects.map(nameProject).join(", "), 40),
          mean.toFixed(2),
          promoted ? "everywhere" : "where learned",
          oneLine(lesson.lesson, 80),
        ]),
      );
      const reasons = shared.map(({ verdict }) => describeVerdict(verdict));
      return [
        head,
        ...rows.flatMap((row, at) => [row, ...(reasons[at] ? [screen.dim(`  ${reasons[at]}`)] : [])]),
        "",
        `Promote one: ${screen.knack} promote lesson <id>. Undo: ${screen.knack} promote --undo <id>`,
      ];
    };
    return call.answer(
      { lessons: shared.map((one) => sharedJson(one, nameProject)) },
      shared.length === 0 ? ["No lesson was learned in more than one project yet."] : describeAll(),
    );
  });
}

/** What becomes of a shared lesson; null where its row says it. */
function describeVerdict(verdict: SharedLesson["verdict"]): string | null {
  switch (verdict.do) {
    case "promote":
    case "join":
      return "will be used everywhere after the next knack learn";
    case "hold":
      return `will be used only where it was learned after the next knack learn: ${verdict.because}`;
    case "nothing":
      return verdict.because.startsWith("it is told") ? null : `not promoted: ${verdict.because}`;
  }
}

async function promoteLesson(call: PromoteCall, word: string): Promise<number> {
  const { screen, dryRun } = call;
  return changeKnack(call, async (knack) => {
    const lesson = await findLesson(knack, word);
    const shared = await knack.sharedBy(lesson);
    if (lesson.state.status === "rejected")
      return refuse(call, `${lesson.name} was rejected`, `${screen.knack} skills unskip ${lesson.name}`);
    if (isSharedLesson(lesson)) return refuse(call, `${lesson.name} is already used everywhere`, null);
    if (!dryRun) await knack.promote(shared, lesson);
    const nameProject = await nameProjects(knack);
    return call.answer({ done: !dryRun, lesson: sharedJson({ ...shared, lesson }, nameProject) }, [
      `${lesson.name} ${dryRun ? "would be" : "is"} used in every project.`,
      ...(shared.verdict.do === "nothing"
        ? [`Knack itself would not promote it: ${shared.verdict.because}.`]
        : []),
      dryRun ? "Nothing was changed (--dry-run)." : `To undo: ${screen.knack} promote --undo ${lesson.id}`,
    ]);
  });
}

async function demote(call: PromoteCall, word: string): Promise<number> {
  const { screen, dryRun } = call;
  return changeKnack(call, async (knack) => {
    const lesson = await findLesson(knack, word);
    if (lesson.state.promotion?.lesson == null)
      return refuse(call, `${lesson.name} was not promoted`, `${screen.knack} promote lists what was`);
    if (!dryRun) await knack.demote(lesson);
    return call.answer({ done: !dryRun, lesson: { id: lesson.id, name: lesson.name } }, [
      `${lesson.name} ${dryRun ? "would be" : "is"} used only where it was learned. Knack will not promote it again by itself.`,
    ]);
  });
}

function refuse(call: PromoteCall, because: string, hint: string | null): number {
  return call.refuse({ done: false, because }, [notDone(because), ...(hint === null ? [] : [`  ${hint}`])]);
}

function sharedJson(
  { lesson, members, projects, mean, promoted, verdict }: SharedLesson,
  nameProject: (id: string) => string,
) {
  return {
    id: lesson.id,
    name: lesson.name,
    lesson: redact(lesson.lesson),
    members: members.map(({ id }) => id),
    projects: projects.map((id) => ({ id: redact(id), name: redact(nameProject(id)) })),
    mean,
    promoted,
    next: verdict.do,
    because: "because" in verdict ? verdict.because : null,
  };
}
