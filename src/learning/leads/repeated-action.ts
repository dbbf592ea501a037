import { type Run, writeTemplate } from "../../failures/index.ts";
import { type Event, type Finding, makeFinding } from "../../records/index.ts";
import { slugify } from "../../text/index.ts";
import type { AnalyzedSession } from "./analyze.ts";
import { type CalledProgram, type CommandCall, quoteCalls } from "./commands.ts";

/** Times that make a repetition, in a session of so many terminal calls. */
const minTimes = 2;
const minCalls = 6;
/** How much of a command's form must be the project's own when other sessions are to repeat it. */
const minOddityOnce = 3;
/** Commands told of one session. */
const maxCommands = 3;
/** How sure one session is of a form that everybody uses, of a peculiar one, and of a very peculiar one that is repeated so often. */
const everydayConfidence = 0.03;
const weakConfidence = 0.1;
const tellingConfidence = 0.45;
const oftenTimes = 4;

/**
 * Commands that a project needs in a form of its own: with a script, variables, a wrapper or flags that one would have to
 * find out again. What everybody runs is noted too, and is no news however often it is repeated; looks and waiting are none.
 */
export function repeatedAction({ events, commands, breadth }: AnalyzedSession): Finding[] {
  const busy = commands.length >= minCalls;
  const all = findRepetitions(events, commands);
  const isRepeated = ({ uses }: Repetition) => busy && uses.length >= minTimes;
  const own = all
    .filter((one) => one.oddity >= (isRepeated(one) ? breadth.oddity : minOddityOnce))
    .sort((a, b) => b.uses.length * b.oddity - a.uses.length * a.oddity || compareForms(a, b));
  const usual = all
    .filter((one) => isRepeated(one) && one.oddity < breadth.oddity)
    .sort((a, b) => b.uses.length - a.uses.length || compareForms(a, b))
    .slice(0, breadth.everyday);
  return [...own.map((one) => writeLesson(one, busy)), ...usual.map(writeUsual)].slice(0, maxCommands);
}

function compareForms(a: Repetition, b: Repetition): number {
  return a.form < b.form ? -1 : 1;
}

interface Repetition {
  readonly form: string;
  readonly uses: readonly RepeatedUse[];
  /** How much all uses have in common that is of this project. */
  readonly oddity: number;
}

interface RepeatedUse {
  readonly event: Event;
  readonly run: Run;
  readonly launcher: readonly string[];
}

function findRepetitions(events: readonly Event[], commands: readonly CommandCall[]): Repetition[] {
  const calls = events.filter(({ kind }) => kind === "call");
  const before = new Map(calls.map((event, at) => [event, calls[at - 1]?.command ?? null]));
  const waited = new Set<string>();
  const byForm = new Map<string, RepeatedUse[]>();
  for (const { event, programs } of commands) {
    // What comes after a pause is waited for.
    if (programs.some(({ run }) => run.name === "sleep")) continue;
    for (const act of programs) {
      const { form, role, run } = act;
      if (form === null || (role !== "deed" && role !== "check") || begins(act)) continue;
      // The same words again, with nothing done since, wait for something.
      if (role === "deed" && before.get(event) === event.command) {
        waited.add(form);
        continue;
      }
      const uses = byForm.get(form);
      // Twice in one command is one time.
      if (uses === undefined) byForm.set(form, [{ event, run, launcher: act.launcher }]);
      else if (uses.at(-1)?.event !== event) uses.push({ event, run, launcher: act.launcher });
    }
  }
  const acted = [...byForm].filter(([form, uses]) => uses.length > 1 || !waited.has(form));
  return acted.map(([form, uses]) => ({ form, uses, oddity: measureOddity(uses) }));
}

/** A project is begun once. */
function begins({ program: { name, args } }: CalledProgram): boolean {
  return /^create-/.test(name) || /^(?:create|init|new|startproject|scaffold)$/.test(args[0] ?? "");
}

/** Counts the parts that every use has and a stranger would not have written at once. */
function measureOddity(uses: readonly RepeatedUse[]): number {
  const [first, ...others] = uses.map(({ run }) => run) as [Run, ...Run[]];
  const inAll = (words: (run: Run) => readonly string[]) =>
    words(first).filter((word) => others.every((run) => words(run).includes(word)));
  const variables = inAll(({ env }) => env.map((set) => set.replace(/^(\w+=).*/s, "$1")));
  const flags = inAll(({ args }) => args.filter((arg) => /^--?[a-z]/i.test(arg) && arg.length < 60)).filter(
    (flag) => !usual.test(flag),
  );
  const launcher = uses[0]?.launcher.join(" ") ?? "";
  return (
    2 * Math.min(1, variables.length) +
    (isOwnScript(first) ? 2 : 0) +
    (/ (?:run|exec)$/.test(launcher) ? 1 : 0) +
    Math.min(3, flags.length)
  );
}

/** Flags that anybody adds, and those that say something of the moment. */
const usual =
  /^(?:-[a-zA-Z]|-(?:rf|la|al|lc)|--(?:verbose|quiet|silent|json|yes|help|version|watch|fix|no-color|color|force|title|body|message|limit|head|base|dry-run|comment))(?:=|$)/;

/** A script of the project, by its place in it. */
function isOwnScript({ written, args, name }: Run): boolean {
  const file = /^(?:python[\d.]*|node|ruby|php|bash|sh|zsh|tsx|ts-node)$/.test(name)
    ? (args.find((arg) => !arg.startsWith("-")) ?? "")
    : written;
  return /\w\/.*\.\w{1,4}$|^\.\/\w/.test(file) && !/node_modules|^\/(?:tmp|private|var)\//.test(file);
}

function writeLesson({ form, uses, oddity }: Repetition, busy: boolean): Finding {
  const runs = uses.map(({ run }) => run) as [Run, ...Run[]];
  const told = writeTemplate(runs.at(-1) as Run, runs.slice(0, -1));
  const isTelling = busy && uses.length >= oftenTimes && oddity > minOddityOnce;
  const again = uses.length < minTimes ? "" : `; it was run ${uses.length} times in one session`;
  return makeFinding(
    {
      kind: "repeated-action",
      lesson: `In this project \`${form}\` is run as \`${told}\`${again}. Use that form at once.`,
      // The form alone is in quotes: other forms of the same program are other lessons, other values are not.
      trigger: `you run \`${form}\``,
      action: `run \`${form}\` as ${told.replaceAll("`", "")}`,
      steps: [],
      keywords: [...new Set([form, ...runs[0].use()])].slice(0, 8),
      confidence: isTelling ? tellingConfidence : weakConfidence,
      ...completeLesson({ form, uses }),
    },
    uses.map(({ event }) => event) as [Event, ...Event[]],
  );
}

/** Evidence of what everybody does, apart from the project's own form of the same command. */
function writeUsual({ form, uses }: Repetition): Finding {
  return makeFinding(
    {
      kind: "repeated-action",
      lesson: `\`${form}\` was run ${uses.length} times in one session, with nothing to it that one would have to find out.`,
      trigger: `you run \`${form}\``,
      action: `run \`${form}\`; the \`usual form\` will do`,
      steps: [],
      keywords: [form],
      confidence: everydayConfidence,
      ...completeLesson({ form, uses }),
    },
    uses.map(({ event }) => event) as [Event, ...Event[]],
  );
}

function completeLesson({ form, uses }: Pick<Repetition, "form" | "uses">) {
  return {
    name: slugify(`run ${form}`),
    scope: "project",
    artifact: "rule",
    excerpt: quoteCalls(
      uses.slice(-3).map(({ event }) => event.command ?? ""),
      null,
    ),
    ...{ call: null, symptom: null, remedy: null },
  } as const;
}
