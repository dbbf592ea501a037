import { asksFor, likenessOfAsks } from "./ask.ts";
import { baseName, type Run, runsOf } from "./command.ts";
import type { Event } from "./event.ts";
import type { Finding } from "./finding.ts";
import type { Asked } from "./gap.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import { failsUnseen } from "./recovery.ts";
import { headOf, isLook, prints, retell } from "./run.ts";

/** One time that a task was done: the events from the prompt that asked for it until something else was asked for. */
export interface Doing {
  readonly asked: Asked;
  readonly prompt: Event;
  readonly events: readonly Event[];
  /** What was found in those events. */
  readonly findings: readonly Finding[];
  /** The folder of the project, by which files are named. */
  readonly root: string | null;
}

/** The part of a session in which a prompt is answered; null where the session does not have the prompt. */
export function doingIn(
  asked: Asked,
  events: readonly Event[],
  findings: readonly Finding[],
  root: string | null,
  policy: Policy = defaults,
): Doing | null {
  const from = promptOf(asked, events, policy);
  if (from < 0) return null;
  const end = endOf(asked, events, from, policy);
  const own = events.slice(from, end);
  const refs = new Set(own.map(({ ref }) => ref));
  return {
    asked,
    prompt: events[from] as Event,
    events: own,
    findings: findings.filter((finding) => refs.has(finding.refs[0] ?? "")),
    root,
  };
}

/** Where a prompt stands: what was noted of it may be cut or scrubbed in another way. */
function promptOf({ text, ask }: Asked, events: readonly Event[], { gap }: Policy): number {
  const noted = plain(text);
  const isIt = ({ kind, text: said }: Event) => kind === "prompt" && startsAlike(plain(said), noted);
  const at = events.findIndex(isIt);
  if (at >= 0) return at;
  return events.findIndex(({ kind, text: said }) => {
    const other = kind === "prompt" ? asksFor(said) : null;
    return other !== null && likenessOfAsks(other, ask) >= gap.same;
  });
}

function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function startsAlike(a: string, b: string): boolean {
  return a !== "" && b !== "" && (a.startsWith(b) || b.startsWith(a));
}

/** Where the task ends: at the first prompt that asks for other work. */
function endOf({ ask }: Asked, events: readonly Event[], from: number, { gap }: Policy): number {
  let turns = 0;
  for (let at = from + 1; at < events.length; at++) {
    const event = events[at] as Event;
    if (event.kind !== "prompt") continue;
    const other = asksFor(event.text);
    if (++turns > gap.turns || (other !== null && likenessOfAsks(other, ask) < gap.same)) return at;
  }
  return events.length;
}

/** Something that was done for a task in several sessions. */
export interface TaskStep {
  readonly type: "run" | "edit" | "tool";
  /** The command with what differs left open; the file or folder; the tool. */
  readonly text: string;
  /** Sessions in which it was done. */
  readonly sessions: number;
  /** The commands as they were, where they differ. */
  readonly examples: readonly string[];
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
      ...new Set(
        findings.flatMap(({ kind, excerpt }) => (kind === "error-recovery" ? [] : (excerpt.said ?? []))),
      ),
    ].slice(0, gap.said),
    failures: findings
      .flatMap(({ excerpt: { failed, error, worked } }) =>
        // The same call that fails and then works tells nothing that could be done.
        failed !== null && worked !== null && failed !== worked ? [{ failed, error, worked }] : [],
      )
      .slice(0, gap.failures),
  };
}

const checks =
  /^(?!git ).*\b(?:test|tests|check|lint|typecheck|tsc|build|verify|validate|pytest|vitest|jest|mypy|ruff|clippy|smoke|doctor|audit|status|dry-run)\b/;

/** One thing that was done, where in the task: 0 first, 1 last. */
interface Act {
  readonly key: string;
  readonly type: TaskStep["type"];
  readonly place: number;
  readonly run: Run | null;
  readonly text: string;
}

/** What worked in a task and changed something, each thing once, as it was last done. */
function actsOf({ events, root }: Doing, { gap }: Policy): Map<string, Act> {
  const calls = events.filter(({ kind }) => kind === "call").slice(0, gap.calls);
  const acts = new Map<string, Act>();
  for (const [at, event] of calls.entries()) {
    if (event.outcome !== "ok" || failsUnseen(event)) continue;
    const place = at / Math.max(1, calls.length - 1);
    for (const act of actsIn(event, root)) {
      // The order is that of the first time, the words are those of the last.
      acts.set(act.key, { ...act, place: acts.get(act.key)?.place ?? place });
    }
  }
  return acts;
}

function actsIn(event: Event, root: string | null): Omit<Act, "place">[] {
  const { command, tool, files } = event;
  // Of a command that was cut, the parts are none.
  if (command?.includes("characters left out]")) return [];
  if (command !== null) return runsOf(command).flatMap((run) => runActs(run));
  if (tool === null) return [];
  if (/^mcp__/.test(tool)) return [{ key: `tool ${tool}`, type: "tool", run: null, text: tool }];
  if (!changesFiles.test(tool)) return [];
  return files.flatMap((file) => fileActs(within(file, root, event.cwd)));
}

const changesFiles = /edit|write|patch|create|replace|notebook/i;

function runActs(run: Run): Omit<Act, "place">[] {
  if (
    run.filters ||
    (isLook(run) && !gathers(run)) ||
    prints(run.name) ||
    handiwork.has(run.name) ||
    fetches(run)
  )
    return [];
  const script = scriptOf(run);
  if (script === "") return [];
  const head = script === null ? headOf(run) : `${run.name} ${script}`;
  return [{ key: `run ${head}`, type: "run", run, text: head }];
}

/** What is done to files by hand on the way, which tells nothing of the task. */
const handiwork = new Set(
  "rm mkdir cp mv touch chmod chown ln sed awk tee kill pkill sleep cat xargs true export source wait perl uuidgen date hash shasum open lsof".split(
    " ",
  ),
);

/** A look by which work is gathered: what changed since something, what is open. Other looks are everybody's way. */
function gathers({ name, args }: Run): boolean {
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
  const own = { key: `edit ${file}`, type: "edit" as const, run: null, text: file };
  if (folder === null) return [own];
  return [own, { key: `folder ${folder}/*${ending}`, type: "edit", run: null, text: `${folder}/*${ending}` }];
}

function keysOf(acts: readonly ReadonlyMap<string, Act>[]): Set<string> {
  return new Set(acts.flatMap((each) => [...each.keys()]));
}

function commonStep(
  key: string,
  all: readonly ReadonlyMap<string, Act>[],
): { step: TaskStep; place: number } {
  const acts = all.flatMap((each) => each.get(key) ?? []);
  const runs = acts.flatMap(({ run }) => run ?? []);
  const told = [...new Set(runs.map((run) => retell({ ...run, directory: null })))];
  const [first] = acts;
  return {
    place: acts.reduce((sum, { place }) => sum + place, 0) / acts.length,
    step: {
      type: first?.type ?? "run",
      text: runs.length > 0 ? openRun(runs) : (first?.text ?? ""),
      sessions: acts.length,
      examples: told.length > 1 ? told.slice(0, 3) : [],
    },
  };
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
function openRun(runs: readonly Run[]): string {
  const [first, ...others] = runs as [Run, ...Run[]];
  const bare = { ...first, directory: null };
  if (others.every((run) => run.args.join("\n") === first.args.join("\n"))) return retell(bare);
  const common = first.args.filter((arg) => others.every(({ args }) => args.includes(arg)));
  const differ = first.args.filter((arg) => !common.includes(arg));
  const sameShape = others.every(({ args }) => args.length === first.args.length);
  const args = sameShape
    ? first.args.map((arg, at) => (others.every((run) => run.args[at] === arg) ? arg : openWord(arg)))
    : [...common, openWord(differ[0] ?? "")];
  return retell({ ...bare, args });
}

/** What stands where a value was. */
function openWord(value: string): string {
  if (/^v?\d+\.\d+/.test(value)) return "<version>";
  if (/^\d+$/.test(value)) return "<number>";
  if (/[\s\n]/.test(value)) return "<text>";
  if (/\/|\.\w{1,5}$/.test(value)) return "<file>";
  return "<value>";
}
