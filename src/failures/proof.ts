import type { JsonObject } from "../base/index.ts";
import type { Remedy } from "../records/index.ts";
import { wordSet } from "../text/index.ts";
import { causeGroups } from "./error-line.ts";
import type { Recovery } from "./recovery.ts";
import type { Run } from "./run.ts";
import { findQuirk } from "./shell-quirks.ts";
import { listTellingWords } from "./symptom.ts";

/**
 * Whether a failure was overcome, and by something that can cause that: the failing part ran again and worked, and what
 * is different is a thing the error speaks of, another program, a step that changes something, a setting, a folder.
 */
export function isProved(recovery: Recovery): boolean {
  const { error, remedy, worked, between } = recovery;
  if (worked === null || remedy === null || remedy === "none") return false;
  // Nobody can know it again by what it says.
  if (listTellingWords(error.signature).size === 0) return false;
  if (remedy === "directory" && !isElsewhere(recovery)) return false;
  // It failed too, but later, for another reason: what stopped the first is out of the way.
  if (worked.outcome !== "ok") return causeGroups.beforeWork.has(error.cause) && otherStart.has(remedy);
  if (error.cause === "tool-misuse") return remedy === "other-way" || saysWhy(recovery);
  if (error.cause === "missing-file") return remedy === "path" || remedy === "directory";
  if (findQuirk(error.about) !== null) return true;
  if (error.cause === "lint") return recovery.isRepaired || isPrepared(recovery) || recovery.isReworded;
  if (error.cause === "denied") return takesOffer(recovery);
  // After an edit nobody can tell which of the two it was, unless the agent says so.
  if (between.edits > 0 && !saysWhatHelped(recovery)) return false;
  // How many tests failed tells nobody which trouble it was.
  if (error.cause === "failing-test" && error.about === null) return false;
  if (causeGroups.inWork.has(error.cause)) return remedy === "step" && recovery.stepRun !== null;
  switch (remedy) {
    case "step":
      return recovery.stepRun !== null;
    case "flag":
      return isSoon(recovery) || isSpokenChange(recovery);
    case "argument":
      return isSpokenChange(recovery) || isFoundName(recovery);
    case "input":
      return isSpokenChange(recovery);
    case "other-way":
      return causeGroups.beforeWork.has(error.cause)
        ? isSameMatter(recovery) || isAdvised(recovery)
        : saysWhatHelped(recovery);
    default:
      return true;
  }
}

/** A compiler misses what a generator or an installation brings, and nothing was edited. */
function isPrepared({ error, remedy, stepRun, between }: Recovery): boolean {
  if (remedy !== "step" || stepRun === null || between.edits > 0) return false;
  const isCompilers = /\berror (?:TS|CS)\d+|\berror\[E\d+\]/.test(error.line);
  return isCompilers && brought.test([stepRun.name, ...stepRun.args].join(" "));
}

const brought = /\b(?:generate|codegen|install|ci|sync|build)\b/;

/** Ways to start a program otherwise. */
const otherStart: ReadonlySet<Remedy> = new Set([
  "wrapper",
  "program",
  "path",
  "environment",
  "flag",
  "directory",
]);

/** Whether the call that worked names its folder, or was run in another; with a `cd` less, the shell was there already. */
function isElsewhere({ failed, worked, workedRun }: Recovery): boolean {
  const [before, after] = [failed, worked].map((event) => event?.input?.workdir ?? event?.cwd);
  return (workedRun !== null && workedRun.directory !== null) || before !== after;
}

/** Whether who refused the call named the program that then did the job. */
function takesOffer({ error, run, workedRun }: Recovery): boolean {
  const words = error.line.split(/[^\w.-]+/);
  return workedRun !== null && workedRun.name !== run?.name && words.includes(workedRun.name);
}

/** Nothing else was done in between that could be the reason. */
function isSoon({ between, error }: Recovery): boolean {
  const most = causeGroups.outside.has(error.cause) ? 0 : 2;
  return between.prompts === 0 && between.calls - between.lookups <= most;
}

/** Whether the call that took over is about the same thing: a file, a number, a name that both have; or the agent says so. */
function isSameMatter(recovery: Recovery): boolean {
  const { error, failed, worked } = recovery;
  if (error.cause === "unknown-name" || error.cause === "missing-script") return true;
  const split = (text: string) =>
    text.split(/[^\w.@-]+/).filter((word) => word.length > 3 && /[\d._-]/.test(word));
  const before = new Set(split(failed.command ?? JSON.stringify(failed.input ?? {})));
  const after = split(worked?.command ?? JSON.stringify(worked?.input ?? {}));
  const isMissed = error.cause === "missing-program" && mentions(recovery, error.about);
  return isMissed || after.some((word) => before.has(word)) || saysWhatHelped(recovery);
}

/** Why an edit did not find its text, as the agent saw it. */
function saysWhy({ said }: Recovery): boolean {
  return said.some(({ text }) => whiteSpace.test(text.slice(0, 600)));
}

export const whiteSpace =
  /\btabs?\b|\bspaces\b|white ?space|\bindentation (?:is|uses|has)|line endings?|\bCRLF\b|encoding|unicode|制表符|缩进|空格/i;

/** What changed from the call that failed to the one that worked, and what the agent said in between. */
type ProposedChange = Pick<
  Recovery,
  "error" | "failed" | "run" | "worked" | "workedRun" | "stepRun" | "said"
>;

/** Whether the error or the agent speaks of the words that changed. */
export function isSpokenChange(change: ProposedChange): boolean {
  return isAboutChange(change) || saysWhatHelped(change);
}

/** Whether the words that changed are those the error speaks of, or were advised by it. */
function isAboutChange(change: ProposedChange): boolean {
  return findDropped(change) !== null || isAdvised(change);
}

/** Whether the output of the failed call has one of the words that came. */
function isAdvised(change: ProposedChange): boolean {
  const { failed, run, worked, workedRun } = change;
  const fresh = run === null ? listFreshValues(failed.input, worked?.input) : listFresh(run, workedRun);
  // A number that is the trouble, such as a port in use, is none that helps.
  return fresh.some(
    (word) => word.length > 2 && !/^\d+$/.test(word) && failed.text.includes(word.replace(/=.*/s, "")),
  );
}

/**
 * A word of the failed call that the error complains of, and that the call which worked does not have; of an option that
 * went with its value, the option.
 */
export function findDropped({
  error,
  failed,
  run,
  workedRun,
  worked,
}: Omit<ProposedChange, "stepRun" | "said">): string | null {
  const before = run === null ? JSON.stringify(failed.input ?? {}) : run.args.join(" ");
  const after = workedRun === null ? JSON.stringify(worked?.input ?? {}) : workedRun.args.join(" ");
  const quoted = [...error.line.matchAll(/["'`‘“]([^"'`’”]{2,60})["'`’”]/g)].map(([, word]) => word ?? "");
  const named = [
    run?.args.find((arg) => arg.replace(/^-+/, "") === error.about?.replace(/^-+/, "")),
    ...quoted,
    ...(error.line.match(/(?<=^|[\s(])-{1,2}[a-z][\w-]+/g) ?? []),
  ];
  const dropped = named.find((word) => word !== undefined && before.includes(word) && !after.includes(word));
  // Another operand in its place is another subject, not a cure.
  if (dropped === undefined) return null;
  const option = run?.args[run.args.indexOf(dropped) - 1];
  if (option?.startsWith("--") && workedRun?.args.includes(option) === false) return option;
  const isOperand = run?.args.includes(dropped) === true && !dropped.startsWith("-");
  return isOperand && (workedRun?.args.length ?? 0) >= (run?.args.length ?? 0) ? null : dropped;
}

/**
 * Whether a name that is not there, by what the error says, gave way to one that the agent found in a list, in the
 * output or in a look after it; everything else in the call is as it was.
 */
function isFoundName({ error, failed, run, workedRun, looked }: Recovery): boolean {
  const change = run === null || workedRun === null ? null : findReplaced(run, workedRun);
  if (change === null || !notThere.test(error.line)) return false;
  const [gone, come] = change;
  // A fuller name of the same thing: `core`, then `harbor-core`.
  if (hasWordIn(come, gone)) return true;
  const isNamed =
    gone === "" || splitName(gone).some((part) => /[a-z]{2}/i.test(part) && hasWord(error.line, part));
  const fresh = splitName(come).filter((part) => !splitName(gone).includes(part));
  const shown = [failed, ...looked].map(({ text }) => text);
  return isNamed && fresh.length > 0 && fresh.every((part) => shown.some((text) => hasWord(text, part)));
}

const notThere =
  /\bno such\b|\bno \w+ (?:matched|match|found)\b|\bspecify an? |not (?:found|exist|match|find)|n't (?:exist|find|match)|\bunknown\b|\binvalid\b|ambiguous|(?:could not|cannot|unable to) (?:find|locate|resolve)/i;

/** The one word of a call that another took the place of, or that came to it; null where more is different. */
function findReplaced(run: Run, other: Run): readonly [string, string] | null {
  const added = other.args.filter((arg) => !run.args.includes(arg));
  const isMore = other.args.length === run.args.length + 1 && added.length === 1;
  if (run.name === other.name && isMore) return ["", added[0] ?? ""];
  if (run.name !== other.name || run.args.length !== other.args.length) return null;
  const at = run.args.flatMap((arg, n) => (arg === other.args[n] ? [] : [n]));
  const [gone = "", come = ""] = [run.args[at[0] ?? -1], other.args[at[0] ?? -1]];
  const isName = /[a-z]{2}/i.test(gone) && !/\s/.test(gone) && !gone.startsWith("-");
  return at.length === 1 && isName ? [gone, come] : null;
}

/** The names in a word: `main...HEAD`, `:app:test`, `state,title`. */
function splitName(word: string): string[] {
  return word.split(/\.{2,3}|[,:=]+/).filter((part) => part !== "");
}

function hasWordIn(word: string, part: string): boolean {
  return part.length > 1 && word !== part && word.split(/[^\w]+|_/).includes(part);
}

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!/[\w-]/.test(text[at - 1] ?? " ") && !/[\w-]/.test(text[at + word.length] ?? " ")) return true;
  return false;
}

function listFresh(run: Run | null, workedRun: Run | null): string[] {
  return workedRun?.args.filter((word) => !run?.args.includes(word)) ?? [];
}

/** The values of a tool's input that its failed call did not have. */
function listFreshValues(before: JsonObject | null, after: JsonObject | null = null): string[] {
  const values = Object.entries(after ?? {}).filter(([key, value]) => before?.[key] !== value);
  return values.flatMap(([, value]) => (typeof value === "string" ? value : []));
}

/** The agent's words before the call that worked name the program or the flag that made the difference. */
function saysWhatHelped({
  said,
  run,
  workedRun,
  stepRun,
  worked,
}: Omit<ProposedChange, "error" | "failed">): boolean {
  const deciding = stepRun ?? workedRun;
  const fresh =
    deciding === null ? [worked?.tool ?? ""] : [...deciding.head.split(" "), ...listFresh(run, deciding)];
  const known = new Set([run?.name ?? "", ...(run?.args ?? [])]);
  const telling = fresh.filter((word) => word.length > 1 && !known.has(word) && !everyday.has(word));
  const words = new Set(
    said.flatMap(({ text }) =>
      text
        .slice(0, 600)
        .toLowerCase()
        .split(/[^\w@./:-]+/),
    ),
  );
  return telling.some((word) => words.has(word.toLowerCase().replace(/[.:]+$/, "")));
}

/** Words of calls that stand in any sentence. */
const everyday = wordSet(
  "run test tests use add get set show list check exec start make all and not the for --all",
);

/** Whether the agent spoke of a thing between the failure and the call that worked. */
function mentions({ said }: Recovery, name: string | null): boolean {
  return (
    name !== null && said.some(({ text }) => text.slice(0, 600).toLowerCase().includes(name.toLowerCase()))
  );
}
