import { CallReader, parseCommand, type Run } from "../../failures/index.ts";
import { type Event, type Finding, isSaid } from "../../records/index.ts";
import { compareAsks, parseAsk } from "../../search/index.ts";
import { baseName, measureSimilarity } from "../../text/index.ts";
import { sameAsk, type UnmatchedPrompt } from "./gap.ts";

/** Prompts for which a task goes on while nothing else is asked for. */
const longestTurns = 12;
/** Calls of one session that are looked at, and ways of running the same program that are remembered, newest first. */
const longestCalls = 400;
const rememberedRuns = 6;
/** Share of the sessions that must have done something before it is a step; at least two where there are two. */
const commonShare = 0.6;
/** The most that is kept of each. */
const limits = { steps: 12, said: 5, failures: 4 } as const;

/** One time that a task was done: the events from the prompt that asked for it until something else was asked for. */
export interface TaskRun {
  readonly asked: UnmatchedPrompt;
  readonly prompt: Event;
  readonly events: readonly Event[];
  readonly findings: readonly Finding[];
  /** The project's folder, relative to which files are named. */
  readonly root: string | null;
}

/** The part of a session that answers a prompt; null where the session does not have the prompt. */
export function cutTaskRun(
  asked: UnmatchedPrompt,
  events: readonly Event[],
  findings: readonly Finding[],
  root: string | null,
): TaskRun | null {
  const from = findPrompt(asked, events);
  if (from < 0) return null;
  const own = events.slice(from, findEnd(asked, events, from));
  const refs = new Set(own.map(({ ref }) => ref));
  return {
    asked,
    prompt: events[from] as Event,
    events: own,
    findings: findings.filter((finding) => refs.has(finding.refs[0] ?? "")),
    root,
  };
}

/** The index of a prompt by its text, or by what it asks for: the noted text may be cut or redacted differently. */
function findPrompt({ text, ask }: UnmatchedPrompt, events: readonly Event[]): number {
  const noted = collapse(text);
  const startsAlike = (said: string) =>
    said !== "" && noted !== "" && (said.startsWith(noted) || noted.startsWith(said));
  const at = events.findIndex((event) => event.kind === "prompt" && startsAlike(collapse(event.text)));
  return at >= 0 ? at : events.findIndex((event) => event.kind === "prompt" && asksSame(event, ask) === true);
}

function collapse(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Whether a prompt asks for the same; null where it asks for nothing. */
function asksSame({ text }: Event, ask: UnmatchedPrompt["ask"]): boolean | null {
  const other = parseAsk(text);
  return other && compareAsks(other, ask) >= sameAsk;
}

function findEnd({ ask }: UnmatchedPrompt, events: readonly Event[], from: number): number {
  let turns = 0;
  for (let at = from + 1; at < events.length; at++) {
    const event = events[at] as Event;
    if (event.kind !== "prompt") continue;
    if (++turns > longestTurns || asksSame(event, ask) === false) return at;
  }
  return events.length;
}

/** Something that was done for a task in several sessions. */
export interface TaskStep {
  readonly type: "run" | "edit" | "tool";
  /** The command with placeholders for what differs; the file or folder; the tool. */
  readonly text: string;
  /** How many sessions did it. */
  readonly sessions: number;
  /** The commands as they were run, where they differ. */
  readonly examples: readonly string[];
  /** Specific to this task; committing, for instance, ends every task. */
  readonly telling: boolean;
}

/** What the runs of a task have in common. */
export interface Task {
  readonly steps: readonly TaskStep[];
  /** The command that showed that it had worked. */
  readonly check: string | null;
  /** What people corrected or insisted on, in their words. */
  readonly said: readonly string[];
  readonly failures: readonly {
    readonly failed: string;
    readonly error: string | null;
    readonly worked: string;
  }[];
}

export function extractTask(runs: readonly TaskRun[]): Task {
  const need = runs.length < 2 ? 1 : Math.max(2, Math.ceil(runs.length * commonShare));
  const deeds = runs.map(collectDeeds);
  const common = [...new Set(deeds.flatMap((each) => [...each.keys()]))]
    .map((key) => mergeDeeds(deeds.flatMap((each) => each.get(key) ?? [])))
    .filter(({ step }) => step.sessions >= need)
    .sort((a, b) => a.position - b.position || (a.step.text < b.step.text ? -1 : 1))
    .map(({ step }) => step);
  const steps = dropFoldersOfFiles(common).slice(0, limits.steps);
  const findings = runs.flatMap((run) => run.findings);
  const said = findings.flatMap(({ kind, excerpt }) => (isSaid(kind) ? (excerpt.said ?? []) : []));
  return {
    steps,
    check: steps.findLast(({ type, text }) => type === "run" && checks.test(text))?.text ?? null,
    said: [...new Set(said)].slice(0, limits.said),
    failures: findings
      .flatMap(({ excerpt: { failed, error, worked } }) =>
        // The same call that fails and then works teaches nothing.
        failed !== null && worked !== null && failed !== worked && !forces.test(worked)
          ? [{ failed, error, worked }]
          : [],
      )
      .slice(0, limits.failures),
  };
}

/** Commands that show whether the work is right. */
export const checks =
  /^(?!git ).*\b(?:test|tests|check|lint|typecheck|tsc|build|verify|validate|pytest|vitest|jest|mypy|ruff|clippy|smoke|doctor|audit|status|dry-run)\b/;

/** One thing that was done in a run of a task. */
interface Deed {
  readonly key: string;
  readonly type: TaskStep["type"];
  readonly runs: readonly Run[];
  readonly text: string;
  /** 0 first, 1 last. */
  readonly position: number;
}

type BareDeed = Omit<Deed, "position">;

/** What worked and changed something, each thing once, where it was first done. */
function collectDeeds({ events, root }: TaskRun): Map<string, Deed> {
  const calls = events.filter(({ kind }) => kind === "call").slice(0, longestCalls);
  const deeds = new Map<string, Deed>();
  for (const [at, event] of calls.entries()) {
    if (!new CallReader().hasWorked(event)) continue;
    const position = at / Math.max(1, calls.length - 1);
    for (const deed of readDeeds(event, root)) {
      const known = deeds.get(deed.key);
      const runs = [...deed.runs, ...(known?.runs ?? [])].slice(0, rememberedRuns);
      deeds.set(deed.key, { ...deed, position: known?.position ?? position, runs });
    }
  }
  return deeds;
}

function readDeeds(event: Event, root: string | null): BareDeed[] {
  const { command, tool, files } = event;
  if (command !== null) return listWholeRuns(command).flatMap(readRun);
  if (tool === null) return [];
  if (/^mcp__/.test(tool)) return [{ key: `tool ${tool}`, type: "tool", runs: [], text: tool }];
  if (!/edit|write|patch|create|replace|notebook/i.test(tool)) return [];
  return files.flatMap((file) => readEdit(relativePath(file, root, event.cwd)));
}

/** The programs of a command, without those that the cut of a long command went through. */
function listWholeRuns(command: string): Run[] {
  const runs = parseCommand(command);
  const isCut = (run: Run | undefined) => run?.written.startsWith("…[") ?? false;
  return runs.filter((run, at) => !isCut(run) && !isCut(runs[at - 1]) && !isCut(runs[at + 1]));
}

function readRun(run: Run): BareDeed[] {
  const isLooking = (run.isLook && !collectsWork(run)) || run.onlyPrints || isDownload(run);
  if (run.isFilter || isLooking || fileTools.has(run.name) || forces.test(run.args.join(" "))) return [];
  const script = findScript(run);
  if (script === "") return [];
  const head = script === null ? run.head : `${run.name.replace(/[\d.]+$/, "")} ${script}`;
  return [{ key: `run ${head}`, type: "run", runs: [run], text: head }];
}

/** Options that bypass a safeguard, which no skill should teach. */
const forces = /(?:^|\s)--(?:no-verify|force(?:-with-lease)?|hard|no-gpg-sign|dangerously-\S+)(?=[\s=]|$)/;

/** Programs for handling files by the way, which say nothing about the task. */
const fileTools = new Set(
  "rm mkdir cp mv touch chmod chown ln sed awk tee kill pkill sleep cat xargs true export source wait perl uuidgen date hash shasum open lsof".split(
    " ",
  ),
);

/** A look that collects work to do: what changed since something, what is open. */
function collectsWork({ name, args }: Run): boolean {
  if (name === "git") return args[0] === "log" && args.some((arg) => arg.includes(".."));
  return (name === "gh" && args[1] === "list") || args[0] === "outdated";
}

function isDownload({ name, args }: Run): boolean {
  const sends = (arg: string) => /^(?:-d|-X|-F|-T|--data|--request|--upload|--form)/.test(arg);
  return (name === "curl" || name === "wget") && !args.some(sends);
}

/** The script file of an interpreter; empty for code within the command, null for other programs. */
function findScript({ name, args }: Run): string | null {
  if (!/^(?:python[\d.]*|node|ruby|php|bash|sh|zsh|tsx|ts-node|deno|bun)$/.test(name)) return null;
  const [first, second] = args;
  if (name === "deno" || name === "bun" || first === "-m") return null;
  const isInline = first === undefined || /^-[ec]$|^-$/.test(first) || /^-[ec]$/.test(second ?? "");
  return isInline ? "" : baseName(args.find((arg) => !arg.startsWith("-")) ?? "");
}

/** A file's path within the project; null for a file elsewhere. */
function relativePath(file: string, root: string | null, cwd: string | null): string | null {
  for (const folder of [root, cwd])
    if (folder !== null && file.startsWith(`${folder}/`)) return file.slice(folder.length + 1);
  return file.startsWith("/") || file.startsWith("~") ? null : file.replace(/^\.\//, "");
}

/** An edit counts for the file, and for files of its type in its folder. */
function readEdit(file: string | null): BareDeed[] {
  if (file === null || /(?:^|\/)(?:node_modules|\.git|tmp)\//.test(file)) return [];
  const own: BareDeed = { key: `edit ${file}`, type: "edit", runs: [], text: file };
  if (!file.includes("/")) return [own];
  const ending = /\.[a-z0-9]{1,8}$/i.exec(file)?.[0] ?? "";
  const text = `${file.slice(0, file.lastIndexOf("/"))}/*${ending}`;
  return [own, { key: `folder ${text}`, type: "edit", runs: [], text }];
}

/** The same deed of several sessions as one step. */
function mergeDeeds(deeds: readonly Deed[]): { step: TaskStep; position: number } {
  const [first] = deeds as [Deed];
  const runs = pickMostAlike(deeds.map((deed) => deed.runs));
  const told = [...new Set(runs.map((run) => run.with({ directory: null }).retell()))];
  return {
    position: deeds.reduce((sum, { position }) => sum + position, 0) / deeds.length,
    step: {
      type: first.type,
      text: runs.length > 0 ? generalize(runs, first.text) : first.text,
      sessions: deeds.length,
      examples: told.length > 1 ? told.slice(0, 3) : [],
      telling: !endsAnyTask.test(first.text),
    },
  };
}

const endsAnyTask =
  /^git (?:add|commit|push|pull|fetch|checkout|switch|stash|merge|rebase|restore)$|^(?:npm|pnpm|yarn|bun) (?:install|ci|i)$/;

/** One run of each session, those that are most alike. */
function pickMostAlike(sessions: readonly (readonly Run[])[]): Run[] {
  const [first = [], ...others] = sessions;
  const likeness = (a: Run, b: Run) => measureSimilarity(new Set(a.args), new Set(b.args));
  const closest = (run: Run, among: readonly Run[]) =>
    among.reduce((best, other) => (likeness(run, other) > likeness(run, best) ? other : best));
  let best: { runs: Run[]; sum: number } | null = null;
  for (const run of first) {
    const rest = others.map((runs) => closest(run, runs));
    const sum = rest.reduce((total, other) => total + likeness(run, other), 0);
    if (best === null || sum > best.sum) best = { runs: [run, ...rest], sum };
  }
  return best?.runs ?? [];
}

/** A folder is left out where a single file of it is a step. */
function dropFoldersOfFiles(steps: readonly TaskStep[]): TaskStep[] {
  const isFolder = ({ type, text }: TaskStep) => type === "edit" && text.includes("*");
  const folders = steps
    .filter((step) => step.type === "edit" && !isFolder(step))
    .map(({ text }) => `${text.slice(0, text.lastIndexOf("/"))}/*`);
  return steps.filter((step) => !isFolder(step) || !folders.some((folder) => step.text.startsWith(folder)));
}

/** One command for several: what all share stays, what differs becomes a placeholder. */
function generalize(runs: readonly Run[], head: string): string {
  const [first, ...others] = runs as [Run, ...Run[]];
  const write = (args: readonly string[]) => first.with({ directory: null, args }).retell();
  if (others.every((run) => run.args.join("\n") === first.args.join("\n"))) return write(first.args);
  const hasSameShape = others.every(
    ({ args }) =>
      args.length === first.args.length &&
      args.every((arg, at) => arg.startsWith("-") === first.args[at]?.startsWith("-")),
  );
  if (hasSameShape)
    return write(
      first.args.map((arg, at) =>
        others.every((run) => run.args[at] === arg) ? arg : placeholder(arg, first.args[at - 1]),
      ),
    );
  const isCommon = (arg: string) => others.every(({ args }) => args.includes(arg));
  const kept = first.args.flatMap((arg, at) => {
    if (isCommon(arg)) return arg;
    // An option that all share keeps a placeholder for its value.
    const flag = first.args[at - 1] ?? "";
    return flag.startsWith("--") && isCommon(flag) && !arg.startsWith("-") ? placeholder(arg, flag) : [];
  });
  const told = write(kept);
  return `${told.length < head.length ? head : told} …`;
}

function placeholder(value: string, flag = ""): string {
  // Of `v1.2.0..HEAD` only the version differs.
  if (/^v?\d+\.\d+/.test(value)) return value.replace(/v?\d+(?:\.\d+)+(?:-[\w.]+(?!\.))?/, "<version>");
  if (/^\d+$/.test(value)) return "<number>";
  const [, name] = /^--([a-z][a-z-]+)$/.exec(flag) ?? [];
  if (name !== undefined) return `<${name}>`;
  if (/[\s\n]/.test(value)) return "<text>";
  return /\/|\.\w{1,5}$/.test(value) ? "<file>" : "<value>";
}
