import { wordSet } from "../text/index.ts";
import type { CallError } from "./error-text.ts";
import { findMainRun, type Run } from "./run.ts";

/** The program of a command that failed: by the error's own program name, the line that the shell gives, or the order. */
export function findFailedRun(
  runs: readonly Run[],
  { line, about, cause }: Pick<CallError, "line" | "about" | "cause">,
  output = "",
): Run | null {
  const wrapped = about === null ? undefined : runs.find(({ wrapper }) => wrapper[0] === about);
  if (wrapped !== undefined) return unwrap(wrapped);
  if (runs.length <= 1) return runs[0] ?? null;
  return (
    findNamed(runs, line, about) ??
    findAtLine(runs, line, output) ??
    findSpeaker(runs, line, cause) ??
    findTold(runs, output) ??
    findMainRun(runs)
  );
}

/** `sudo: command not found` is about the wrapper. */
function unwrap(run: Run): Run {
  const [name = "", ...rest] = run.wrapper;
  return run.with({ name, written: name, args: [...rest, run.written, ...run.args], wrapper: [] });
}

function findNamed(runs: readonly Run[], line: string, about: string | null): Run | undefined {
  const speaks = (name: string) => line.startsWith(`${name}: `) || line.includes(`: ${name}: `);
  const isNamed = ({ name, written, args }: Run) => {
    if (name === about || written === about || speaks(name) || line.startsWith(`${written}: `)) return true;
    // `npx prisma` and `uv run pytest` are heard by the name of what they start.
    return launchers.has(name) && args.slice(0, 2).some((arg) => /^[a-z][\w-]+$/.test(arg) && speaks(arg));
  };
  return runs.find(isNamed);
}

const launchers = wordSet("npx bunx pnpm yarn uv uvx poetry pdm bundle");

/** `bash: line 3: …` and `(eval):3: …` count the lines of the command. */
function findAtLine(runs: readonly Run[], line: string, output: string): Run | undefined {
  const at = output.indexOf(line);
  const before = at < 0 ? "" : output.slice(output.lastIndexOf("\n", at) + 1, at);
  const number = /(?:line |\(eval\):|sh:)(\d+): ?$/.exec(before)?.[1];
  // The shell counts every command that is written on one line as its first.
  if (number === undefined || new Set(runs.map(({ traces }) => traces.line)).size === 1) return undefined;
  return findMainRun(runs.filter(({ traces }) => traces.line === Number(number))) ?? undefined;
}

/** The program that speaks like this; of several, the one that acts and comes last. */
function findSpeaker(runs: readonly Run[], line: string, cause: string): Run | undefined {
  const speaker =
    speakers.find(([pattern]) => pattern.test(line))?.[1] ?? (cause === "failing-test" ? testing : null);
  if (speaker === null) return undefined;
  const speaking = runs.filter((run) => speaker.test(`${run.written} ${run.args.join(" ")}`));
  const acting = speaking.filter((run) => !run.isLook && !run.isFilter);
  return acting.at(-1) ?? speaking[0];
}

const testing = /\b(?:tests?|test:\S+|vitest|jest|mocha|pytest|unittest|rspec|phpunit|playwright|tox)\b/;

const speakers: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:Traceback|ModuleNotFoundError|ImportError|raise \w)/, /^(?:\S*\/)?(?:python|pytest|uv\b)|\bpytest\b/],
  [/error TS\d+/, /\btsc\b|type-?check|\btypes\b|\bbuild\b/],
  [/✖ \d+ problems?|^\d+:\d+ +error/, /eslint|\blint\b/],
  [/^error\[E\d+\]|could not compile|test result: FAILED/, /^cargo\b/],
  [/^--- FAIL|^FAIL\t/, /^go\b/],
  [/^(?:fatal: |error: |! \[)|nothing to commit|^CONFLICT \(/, /^git\b/],
  [/^GraphQL: |\(https:\/\/api\.github\.com/, /^gh\b/],
  [/^(?:E[A-Z]{4,}\b|npm |Missing script|code E)/, /^(?:npm|npx)\b/],
  [/^ERR_PNPM|ELIFECYCLE/, /^pnpm\b/],
];

/** Where the command prints what failed, or the words that only success would print are missing. */
function findTold(runs: readonly Run[], output: string): Run | undefined {
  return runs.find(
    ({ traces: { whenFailed }, isLook }) => !isLook && whenFailed !== null && output.includes(whenFailed),
  );
}
