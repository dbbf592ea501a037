import { baseName, type Run, runsOf } from "./command.ts";
import type { Doing } from "./doing.ts";
import type { Event } from "./event.ts";
import { isSaid } from "./finding.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import { failsUnseen } from "./recovery.ts";
import { headOf, isLook, prints, retell } from "./run.ts";
import { overlap } from "./words.ts";

/** Something that was done for a task in several sessions. */
export interface TaskStep {
  readonly type: "run" | "edit" | "tool";
  /** The command with what differs left open; the file or folder; the tool. */
  readonly text: string;
  /** Sessions in which it was done. */
  readonly sessions: number;
  /** The commands as they were, where they differ. */
  readonly examples: readonly string[];
  /** It tells something of this task: bringing work into a repository is the end of every task. */
  readonly telling: boolean;
}

/** What several times of doing a task have in common. */
export interface Task {
  readonly steps: readonly TaskStep[];
  /** The command that told that it had worked. */
  readonly check: string | null;
  /** What people corrected or insisted on, in their words. */
  readonly said: readonly string[];
  readonly failures: readonly {
    readonly failed: string;
    readonly error: string | null;
    readonly worked: string;
  }[];
}

/** What the times that a task was done have in common. */
export function taskOf(doings: readonly Doing[], policy: Policy = defaults): Task {
  const { gap } = policy;
  const need = doings.length < 2 ? 1 : Math.max(2, Math.ceil(doings.length * gap.most));
  const acts = doings.map((doing) => actsOf(doing, policy));
  const steps = [...keysOf(acts)]
    .map((key) => commonStep(key, acts))
    .filter(({ step }) => step.sessions >= need)
    .sort((a, b) => a.place - b.place || (a.step.text < b.step.text ? -1 : 1))
    .map(({ step }) => step);
  const kept = withoutFilesOf(steps).slice(0, gap.steps);
  const findings = doings.flatMap((doing) => doing.findings);
  return {
    steps: kept,
    check: kept.findLast(({ type, text }) => type === "run" && checks.test(text))?.text ?? null,
    said: [
      ...new Set(findings.flatMap(({ kind, excerpt }) => (isSaid(kind) ? (excerpt.said ?? []) : []))),
    ].slice(0, gap.said),
    failures: findings
      .flatMap(({ excerpt: { failed, error, worked } }) =>
        // The same call that fails and then works tells nothing that could be done.
        failed !== null && worked !== null && failed !== worked && !forces.test(worked)
          ? [{ failed, error, worked }]
          : [],
      )
      .slice(0, gap.failures),
  };
}

/** What commands look like that tell whether the work is right. */
export const checks =
  /^(?!git ).*\b(?:test|tests|check|lint|typecheck|tsc|build|verify|validate|pytest|vitest|jest|mypy|ruff|clippy|smoke|doctor|audit|status|dry-run)\b/;

/** One thing that was done, where in the task: 0 first, 1 last. */
interface Act {
  readonly key: string;
  readonly type: TaskStep["type"];
  readonly place: number;
  /** Each way in which it was run, the latest first. */
  readonly runs: readonly Run[];
  readonly text: string;
}

/** What worked in a task and changed something, each thing once, where it was first done. */
function actsOf({ events, root }: Doing, { gap }: Policy): Map<string, Act> {
  const calls = events.filter(({ kind }) => kind === "call").slice(0, gap.calls);
  const acts = new Map<string, Act>();
  for (const [at, event] of calls.entries()) {
    if (event.outcome !== "ok" || failsUnseen(event)) continue;
    const place = at / Math.max(1, calls.length - 1);
    for (const act of actsIn(event, root)) {
      const known = acts.get(act.key);
      acts.set(act.key, {
        ...act,
        place: known?.place ?? place,
        runs: [...act.runs, ...(known?.runs ?? [])].slice(0, gap.runs),
      });
    }
  }
  return acts;
}

function actsIn(event: Event, root: string | null): Omit<Act, "place">[] {
  const { command, tool, files } = event;
  if (command !== null) return wholeRuns(command).flatMap(runActs);
  if (tool === null) return [];
  if (/^mcp__/.test(tool)) return [{ key: `tool ${tool}`, type: "tool", runs: [], text: tool }];
  if (!changesFiles.test(tool)) return [];
  return files.flatMap((file) => fileActs(within(file, root, event.cwd)));
}

/** The programs of a command; of one that was cut when it was kept, those that the cut did not go through. */
function wholeRuns(command: string): Run[] {
  const runs = runsOf(command);
  const isCut = (run: Run | undefined) => run?.written.startsWith("…[") ?? false;
  return runs.filter((run, at) => !isCut(run) && !isCut(runs[at - 1]) && !isCut(runs[at + 1]));
}

const changesFiles = /edit|write|patch|create|replace|notebook/i;

function runActs(run: Run): Omit<Act, "place">[] {
  const isLooking = (isLook(run) && !collects(run)) || prints(run.name) || fetches(run);
  if (run.filters || isLooking || handiwork.has(run.name) || forces.test(run.args.join(" "))) return [];
  const script = scriptOf(run);
  if (script === "") return [];
  const head = script === null ? headOf(run) : `${run.name.replace(/[\d.]+$/, "")} ${script}`;
  return [{ key: `run ${head}`, type: "run", runs: [run], text: head }];
}

/** What gets past a safeguard is nobody's habit to take over. */
const forces = /(?:^|\s)--(?:no-verify|force(?:-with-lease)?|hard|no-gpg-sign|dangerously-\S+)(?=[\s=]|$)/;

/** What is done to files by hand on the way, which tells nothing of the task. */
const handiwork = new Set(
  "rm mkdir cp mv touch chmod chown ln sed awk tee kill pkill sleep cat xargs true export source wait perl uuidgen date hash shasum open lsof".split(
    " ",
  ),
);

/** A look by which work is collected: what changed since something, what is open. Other looks are everybody's way. */
function collects({ name, args }: Run): boolean {
  if (name === "git") return args[0] === "log" && args.some((arg) => arg.includes(".."));
  return (name === "gh" && args[1] === "list") || args[0] === "outdated";
}

/** Getting a page is a look at it. */
function fetches({ name, args }: Run): boolean {
  const isSent = (arg: string) => /^(?:-d|-X|-F|-T|--data|--request|--upload|--form)/.test(arg);
  return (name === "curl" || name === "wget") && !args.some(isSent);
}

/** The script that an interpreter is given; empty for one that is written into the command, null for other programs. */
function scriptOf({ name, args }: Run): string | null {
  if (!/^(?:python[\d.]*|node|ruby|php|bash|sh|zsh|tsx|ts-node|deno|bun)$/.test(name)) return null;
  const [first, second] = args;
  if (name === "deno" || name === "bun" || first === "-m") return null;
  const file = args.find((arg) => !arg.startsWith("-"));
  return first === undefined || /^-[ec]$|^-$/.test(first) || (second !== undefined && /^-[ec]$/.test(second))
    ? ""
    : baseName(file ?? "");
}

/** A file as the project calls it; null for one that is not the project's. */
function within(file: string, root: string | null, cwd: string | null): string | null {
  for (const folder of [root, cwd])
    if (folder !== null && file.startsWith(`${folder}/`)) return file.slice(folder.length + 1);
  return file.startsWith("/") || file.startsWith("~") ? null : file.replace(/^\.\//, "");
}

/** A change of a file counts for the file, and for others of its kind in its folder. */
function fileActs(file: string | null): Omit<Act, "place">[] {
  if (file === null || /(?:^|\/)(?:node_modules|\.git|tmp)\//.test(file)) return [];
  const ending = /\.[a-z0-9]{1,8}$/i.exec(file)?.[0] ?? "";
  const folder = file.includes("/") ? file.slice(0, file.lastIndexOf("/")) : null;
  const own = { key: `edit ${file}`, type: "edit" as const, runs: [], text: file };
  if (folder === null) return [own];
  return [own, { key: `folder ${folder}/*${ending}`, type: "edit", runs: [], text: `${folder}/*${ending}` }];
}

function keysOf(acts: readonly ReadonlyMap<string, Act>[]): Set<string> {
  return new Set(acts.flatMap((each) => [...each.keys()]));
}

function commonStep(
  key: string,
  all: readonly ReadonlyMap<string, Act>[],
): { step: TaskStep; place: number } {
  const acts = all.flatMap((each) => each.get(key) ?? []);
  const [first] = acts as [Act];
  const runs = mostAlike(acts.map((act) => act.runs));
  const told = [...new Set(runs.map((run) => retell({ ...run, directory: null })))];
  return {
    place: acts.reduce((sum, { place }) => sum + place, 0) / acts.length,
    step: {
      type: first.type,
      text: runs.length > 0 ? openRun(runs, first.text) : first.text,
      sessions: acts.length,
      examples: told.length > 1 ? told.slice(0, 3) : [],
      telling: !everyTasks.test(first.text),
    },
  };
}

/** What ends or begins any task. */
const everyTasks =
  /^git (?:add|commit|push|pull|fetch|checkout|switch|stash|merge|rebase|restore)$|^(?:npm|pnpm|yarn|bun) (?:install|ci|i)$/;

/** Of the ways in which each session ran something, those that are most alike. */
function mostAlike(sessions: readonly (readonly Run[])[]): Run[] {
  const [first = [], ...others] = sessions;
  const words = ({ args }: Run) => new Set(args);
  const closest = (run: Run, among: readonly Run[]) =>
    among
      .map((other) => ({ other, likeness: overlap(words(run), words(other)) }))
      .reduce((best, each) => (each.likeness > best.likeness ? each : best));
  const chosen = first
    .map((run) => ({ run, rest: others.map((runs) => closest(run, runs)) }))
    .map(({ run, rest }) => ({ run, rest, sum: rest.reduce((sum, { likeness }) => sum + likeness, 0) }))
    .reduce<{ runs: Run[]; sum: number } | null>(
      (best, { run, rest, sum }) =>
        best === null || sum > best.sum ? { runs: [run, ...rest.map(({ other }) => other)], sum } : best,
      null,
    );
  return chosen?.runs ?? [];
}

/** A folder is told where no single file of it is. */
function withoutFilesOf(steps: readonly TaskStep[]): TaskStep[] {
  const files = steps.flatMap(({ type, text }) => (type === "edit" && !text.includes("*") ? text : []));
  return steps.filter(
    ({ type, text }) =>
      type !== "edit" ||
      !text.includes("*") ||
      !files.some((file) => text.startsWith(`${file.slice(0, file.lastIndexOf("/"))}/*`)),
  );
}

/** One command for several: what all have stays, what differs is left open. */
function openRun(runs: readonly Run[], head: string): string {
  const [first, ...others] = runs as [Run, ...Run[]];
  const bare = { ...first, directory: null };
  if (others.every((run) => run.args.join("\n") === first.args.join("\n"))) return retell(bare);
  const isCommon = (arg: string) => others.every(({ args }) => args.includes(arg));
  const sameShape = others.every(
    ({ args }) =>
      args.length === first.args.length &&
      args.every((arg, at) => arg.startsWith("-") === first.args[at]?.startsWith("-")),
  );
  if (sameShape)
    return retell({
      ...bare,
      args: first.args.map((arg, at) =>
        others.every((run) => run.args[at] === arg) ? arg : openWord(arg, first.args[at - 1]),
      ),
    });
  const kept = first.args.flatMap((arg, at) => {
    if (isCommon(arg)) return arg;
    // A flag that all have keeps its place for a value.
    const flag = first.args[at - 1] ?? "";
    return flag.startsWith("--") && isCommon(flag) && !arg.startsWith("-") ? openWord(arg, flag) : [];
  });
  const told = retell({ ...bare, args: kept });
  return `${told.length < head.length ? head : told} …`;
}

/** What stands where a value was: its flag's name tells most. */
function openWord(value: string, flag = ""): string {
  // Of `v1.2.0..HEAD` the version is another each time.
  if (/^v?\d+\.\d+/.test(value)) return value.replace(/v?\d+(?:\.\d+)+(?:-[\w.]+(?!\.))?/, "<version>");
  if (/^\d+$/.test(value)) return "<number>";
  const [, name] = /^--([a-z][a-z-]+)$/.exec(flag) ?? [];
  if (name !== undefined) return `<${name}>`;
  if (/[\s\n]/.test(value)) return "<text>";
  if (/\/|\.\w{1,5}$/.test(value)) return "<file>";
  return "<value>";
}
