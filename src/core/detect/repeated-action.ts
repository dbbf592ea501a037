import { assignment, type Run } from "../command.ts";
import type { Event } from "../event.ts";
import { type Finding, finding, noExcerpt } from "../finding.ts";
import { launched, openForm, wordFor } from "../form.ts";
import { policy } from "../policy.ts";
import { useOf } from "../run.ts";
import { nameFrom } from "../words.ts";
import type { Deed } from "./deeds.ts";
import type { Scene } from "./scene.ts";

/**
 * Commands that a project needs in a form of its own: with a script, variables, a wrapper or flags that one would have to
 * find out again. What everybody runs, looks and waiting are none, however often they are repeated.
 */
export function repeatedAction({ deeds, breadth: { peculiar } }: Scene): Finding[] {
  const { calls, times, peculiarOnce, most } = policy.detect.repetition;
  const busy = deeds.length >= calls;
  return repetitionsIn(deeds)
    .filter(({ uses, oddity }) => oddity >= (busy && uses.length >= times ? peculiar : peculiarOnce))
    .sort((a, b) => b.uses.length * b.oddity - a.uses.length * a.oddity || (a.form < b.form ? -1 : 1))
    .slice(0, most)
    .map((repetition) => tell(repetition, busy));
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

function repetitionsIn(deeds: readonly Deed[]): Repetition[] {
  const byForm = new Map<string, Use[]>();
  for (const { event, acts } of deeds) {
    // What comes after a pause is waited for.
    if (acts.some(({ run }) => run.name === "sleep")) continue;
    for (const { form, role, run } of acts) {
      if (form === null || (role !== "deed" && role !== "check")) continue;
      const uses = byForm.get(form);
      // Twice in one command is one time.
      if (uses === undefined) byForm.set(form, [{ event, run }]);
      else if (uses.at(-1)?.event !== event) uses.push({ event, run });
    }
  }
  return [...byForm].map(([form, uses]) => ({ form, uses, oddity: oddityOf(uses.map(({ run }) => run)) }));
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
  const word = wordFor(form);
  return finding(
    {
      kind: "repeated-action",
      lesson: `In this project \`${form}\` is run as \`${told}\`${again}. Use that form at once.`,
      // One word for the form and one for the kind: other forms of the same program are other lessons.
      trigger: `you do ${word}`,
      action: `do ${word} as before`,
      steps: [],
      keywords: [...new Set([form, ...useOf(runs[0])])].slice(0, 8),
      confidence: isTelling ? telling : weak,
      name: nameFrom(`run ${form}`),
      scope: "project",
      artifact: "rule",
      excerpt: { ...noExcerpt, worked: (uses.at(-1)?.event.command ?? "").slice(0, 400) },
      call: null,
      symptom: null,
      remedy: null,
    },
    uses.map(({ event }) => event) as [Event, ...Event[]],
  );
}
