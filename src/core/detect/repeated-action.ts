import { assignment, type Run } from "../command.ts";
import type { Event } from "../event.ts";
import { type Finding, finding } from "../finding.ts";
import { launched, openForm } from "../form.ts";
import { policy } from "../policy.ts";
import { useOf } from "../run.ts";
import { nameFrom } from "../words.ts";
import { proofOf } from "./asked.ts";
import type { Deed } from "./deeds.ts";
import type { Scene } from "./scene.ts";

/**
 * Commands that a project needs in a form of its own: with a script, variables, a wrapper or flags that one would have to
 * find out again. What everybody runs is noted too, and is no news however often it is repeated; looks and waiting are none.
 */
export function repeatedAction({ events, deeds, breadth: { peculiar, plain } }: Scene): Finding[] {
  const { calls, times, peculiarOnce, most } = policy.detect.repetition;
  const busy = deeds.length >= calls;
  const all = repetitionsIn(events, deeds);
  const isRepeated = ({ uses }: Repetition) => busy && uses.length >= times;
  const own = all
    .filter((one) => one.oddity >= (isRepeated(one) ? peculiar : peculiarOnce))
    .sort((a, b) => b.uses.length * b.oddity - a.uses.length * a.oddity || byForm(a, b));
  const usual = all
    .filter((one) => isRepeated(one) && one.oddity < peculiar)
    .sort((a, b) => b.uses.length - a.uses.length || byForm(a, b))
    .slice(0, plain);
  return [...own.map((one) => tell(one, busy)), ...usual.map(tellUsual)].slice(0, most);
}

function byForm(a: Repetition, b: Repetition): number {
  return a.form < b.form ? -1 : 1;
}

interface Repetition {
  readonly form: string;
  readonly uses: readonly Use[];
  /** How much all uses have in common that is of this project. */
  readonly oddity: number;
}

interface Use {
  readonly event: Event;
  readonly run: Run;
}

function repetitionsIn(events: readonly Event[], deeds: readonly Deed[]): Repetition[] {
  const calls = events.filter(({ kind }) => kind === "call");
  const before = new Map(calls.map((event, at) => [event, calls[at - 1]?.command ?? null]));
  const waited = new Set<string>();
  const byForm = new Map<string, Use[]>();
  for (const { event, acts } of deeds) {
    // What comes after a pause is waited for.
    if (acts.some(({ run }) => run.name === "sleep")) continue;
    for (const { form, role, run } of acts) {
      if (form === null || (role !== "deed" && role !== "check") || begins(run)) continue;
      // The same words again, with nothing done since, wait for something.
      if (role === "deed" && before.get(event) === event.command) {
        waited.add(form);
        continue;
      }
      const uses = byForm.get(form);
      // Twice in one command is one time.
      if (uses === undefined) byForm.set(form, [{ event, run }]);
      else if (uses.at(-1)?.event !== event) uses.push({ event, run });
    }
  }
  const acted = [...byForm].filter(([form, uses]) => uses.length > 1 || !waited.has(form));
  return acted.map(([form, uses]) => ({ form, uses, oddity: oddityOf(uses.map(({ run }) => run)) }));
}

/** A project is begun once. */
function begins(run: Run): boolean {
  const { name, args } = launched(run).program;
  return /^create-/.test(name) || /^(?:create|init|new|startproject|scaffold)$/.test(args[0] ?? "");
}

/** What a stranger would not have written at once, and every use has. */
function oddityOf(runs: readonly Run[]): number {
  const [first, ...others] = runs as [Run, ...Run[]];
  const inAll = (words: (run: Run) => readonly string[]) =>
    words(first).filter((word) => others.every((run) => words(run).includes(word)));
  const variables = inAll(({ env }) =>
    env.map((set) => (assignment.test(set) ? set.replace(/=.*/s, "=") : set)),
  );
  const flags = inAll(flagsOf).filter((flag) => !usual.test(flag));
  const launcher = launched(first).launcher.join(" ");
  return (
    2 * Math.min(1, variables.length) +
    (isOwnScript(first) ? 2 : 0) +
    (/ (?:run|exec)$/.test(launcher) ? 1 : 0) +
    Math.min(3, flags.length)
  );
}

function flagsOf({ args }: Run): string[] {
  return args.filter((arg) => /^--?[a-z]/i.test(arg) && arg.length < 60);
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

function tell({ form, uses, oddity }: Repetition, busy: boolean): Finding {
  const { weak, often, telling, times } = policy.detect.repetition;
  const runs = uses.map(({ run }) => run) as [Run, ...Run[]];
  const told = openForm(runs.at(-1) as Run, runs.slice(0, -1));
  const isTelling = busy && uses.length >= often && oddity > policy.detect.repetition.peculiarOnce;
  const again = uses.length < times ? "" : `; it was run ${uses.length} times in one session`;
  return finding(
    {
      kind: "repeated-action",
      lesson: `In this project \`${form}\` is run as \`${told}\`${again}. Use that form at once.`,
      // The form alone is in quotes: other forms of the same program are other lessons, other values are not.
      trigger: `you run \`${form}\``,
      action: `run \`${form}\` as ${told.replaceAll("`", "")}`,
      steps: [],
      keywords: [...new Set([form, ...useOf(runs[0])])].slice(0, 8),
      confidence: isTelling ? telling : weak,
      ...restOf({ form, uses }),
    },
    uses.map(({ event }) => event) as [Event, ...Event[]],
  );
}

/** Evidence of what everybody does, apart from the project's own form of the same command. */
function tellUsual({ form, uses }: Repetition): Finding {
  return finding(
    {
      kind: "repeated-action",
      lesson: `\`${form}\` was run ${uses.length} times in one session, with nothing to it that one would have to find out.`,
      trigger: `you run \`${form}\``,
      action: `run \`${form}\`; the \`usual form\` will do`,
      steps: [],
      keywords: [form],
      confidence: policy.detect.repetition.everyday,
      ...restOf({ form, uses }),
    },
    uses.map(({ event }) => event) as [Event, ...Event[]],
  );
}

function restOf({ form, uses }: Pick<Repetition, "form" | "uses">) {
  return {
    name: nameFrom(`run ${form}`),
    scope: "project",
    artifact: "rule",
    excerpt: proofOf(
      uses.slice(-3).map(({ event }) => event.command ?? ""),
      null,
    ),
    call: null,
    symptom: null,
    remedy: null,
  } as const;
}
