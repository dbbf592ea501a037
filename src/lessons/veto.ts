import { parseCommand } from "../failures/index.ts";
import { isSaid, isWorkflow, type Lesson, type LessonId, type LessonText } from "../records/index.ts";
import { isWorthShowing } from "./state.ts";

/** A command in a person's words: quoted, or a few words that could be typed. */
const word = "[\\w@/-](?:[\\w@./-]*[\\w@/-])?";
/** A prohibition with a condition ("to main", "without tests") is no prohibition of the command as such. */
const end =
  "(?=\\s*(?:$|[.,;:!)—]|(?:in|for) (?:this|the) (?:repo|project|code)|here\\b|any ?more\\b|again\\b|ever\\b|instead\\b|at all\\b|use\\b))";
const forbidden = [
  `\\b(?:never|don['’]?t|not|mustn['’]?t|shouldn['’]?t|avoid|stop)\\s+(?:ever\\s+)?(?:us(?:e|ing)|run(?:ning)?|call(?:ing)?|invok(?:e|ing)|execut(?:e|ing))\\s+(?:the\\s+)?(\`[^\`]+\`|(?:${word}\\s+){0,3}?${word})${end}`,
  `\\b(?:instead of|rather than|not|never)\\s+(\`[^\`]+\`|${word})${end}`,
].map((pattern) => new RegExp(pattern, "gim"));

/** The commands and tools that a person's lesson forbids without a condition. */
export function findForbidden({
  kind,
  lesson,
  action,
}: Pick<LessonText, "kind" | "lesson" | "action">): string[] {
  if (!isSaid(kind)) return [];
  const found = [lesson, action].flatMap((text) =>
    forbidden.flatMap((pattern) => [...text.matchAll(pattern)].map(([, command = ""]) => command)),
  );
  return [...new Set(found.map((command) => command.replaceAll("`", "").trim().toLowerCase()))];
}

/** A prohibition that holds. */
export function isInForce(lesson: Lesson): boolean {
  const { status } = lesson.state;
  return (status === "pending" || status === "active" || status === "promoted") && isWorthShowing(lesson);
}

/** The prohibition that holds a lesson back: it forbids a command of it, or the judge said so. */
export function findVeto(
  lesson: Lesson,
  prohibitions: readonly Lesson[],
  namedByJudge: ReadonlySet<LessonId>,
): LessonId | undefined {
  const { acceptedAt } = lesson.state;
  if (!isWorkflow(lesson.kind) && lesson.kind !== "error-recovery") return undefined;
  const commands = listCommands(lesson);
  const isUsed = (command: string) => {
    const [program, ...rest] = command.split(/\s+/);
    return commands.some(
      ([name, ...words]) => name === program && rest.every((part) => words.includes(part)),
    );
  };
  return prohibitions.find(
    ({ id, scope, project, forbids = [], state }) =>
      (scope === "user" || project === lesson.project) &&
      // A yes to the lesson after the prohibition is an exception from it.
      (acceptedAt === undefined || state.lastAt > acceptedAt) &&
      (namedByJudge.has(id) || forbids.some(isUsed)),
  )?.id;
}

/** The commands and tools that a procedure or a cure takes, each as its words. */
function listCommands({ kind, call, steps, action, lesson }: Lesson): string[][] {
  // A cure's own words also quote the call that failed.
  const texts = kind === "error-recovery" ? steps : [...steps, action, lesson];
  const quoted = texts.flatMap((text) => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code));
  const runs = quoted.flatMap(parseCommand).map((run) => [run.name, ...run.wrapper, ...run.args]);
  return [...(call ? [[...call]] : []), ...runs].map((words) => words.map((each) => each.toLowerCase()));
}
