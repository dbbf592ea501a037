import { CallReader, classifyRun, parseCommand, type Run, writeTemplate } from "../../failures/index.ts";
import { type Event, type Finding, isSaid } from "../../records/index.ts";
import { parseAsk } from "../../search/index.ts";
import {
  codeBlock,
  cutAtWord,
  inlineCode,
  measureSimilarity,
  oneLine,
  slugify,
  splitWords,
  stemWord,
} from "../../text/index.ts";
import { withoutHome } from "../../trust/index.ts";
import {
  dropVolatile,
  maxDescriptionChars,
  numbered,
  paragraph,
  renderItem,
  renderToFit,
} from "../publish/render.ts";
import { prefixName } from "../skill.ts";
import { isSameAsk, type UnmatchedPrompt } from "./gap.ts";

/** Prompts for which a task goes on while nothing else is asked for. */
const longestTurns = 12;
/** Calls of one session that are looked at, and ways of running the same program that are remembered, newest first. */
const longestCalls = 400;
const rememberedRuns = 6;
/** Share of the sessions that must have done something before it is a step; at least two where there are two. */
const commonShare = 0.6;
/** Things the sessions must have in common before there is anything to write down. */
const leastShared = 2;
/** The most that is written of each. */
const limits = { steps: 12, said: 5, failures: 4, quoteChars: 240 } as const;

/** One time that a task was done: the events from the prompt that asked for it until something else was asked for. */
interface TaskRun {
  readonly asked: UnmatchedPrompt;
  readonly events: readonly Event[];
  readonly findings: readonly Finding[];
  /** The project's folder, relative to which files are named. */
  readonly root: string | null;
}

/** The part of a session that answers a prompt; null if the prompt is not in it. */
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
  return { asked, events: own, root, findings: findings.filter(({ refs: [first = ""] }) => refs.has(first)) };
}

/** The index of a prompt by its text, or by what it asks for: the noted text may be cut or redacted differently. */
function findPrompt({ text, ask }: UnmatchedPrompt, events: readonly Event[]): number {
  const noted = oneLine(text);
  const startsAlike = (said: string) =>
    said !== "" && noted !== "" && (said.startsWith(noted) || noted.startsWith(said));
  const at = events.findIndex((event) => event.kind === "prompt" && startsAlike(oneLine(event.text)));
  return at >= 0 ? at : events.findIndex((event) => event.kind === "prompt" && asksSame(event, ask) === true);
}

/** Whether a prompt asks for the same; null if it is no request. */
function asksSame({ text }: Event, ask: UnmatchedPrompt["ask"]): boolean | null {
  const other = parseAsk(text);
  return other && isSameAsk(other, ask);
}

function findEnd({ ask }: UnmatchedPrompt, events: readonly Event[], from: number): number {
  let turns = 0;
  const at = events.findIndex(
    (event, n) =>
      n > from && event.kind === "prompt" && (++turns > longestTurns || asksSame(event, ask) === false),
  );
  return at < 0 ? events.length : at;
}

/** Something that was done for a task, in one session or in several. */
interface TaskStep {
  readonly key: string;
  readonly type: "run" | "edit" | "tool";
  /** The command with placeholders for what differs; the file or folder; the tool. */
  readonly text: string;
  /** The ways in which a program was run. */
  readonly runs: readonly Run[];
  /** Whether it is part of every task, such as committing, or shows that the work is right. */
  readonly role: "task" | "any-task" | "check";
  /** When it was done: 0 first, 1 last. */
  readonly position: number;
}

type SharedStep = TaskStep & { readonly sessions: number };

/** The skill that tells how a task was done: what the sessions share, what people insisted on, what failed. */
export function renderTask(
  asks: readonly UnmatchedPrompt[],
  runs: readonly TaskRun[],
  prefix: string,
): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly because: string } {
  const refuse = (because: string) => ({ ok: false, because }) as const;
  if (runs.length === 0) return refuse("none of the sessions that asked for it can be read any more");
  const steps = findSharedSteps(runs);
  const findings = runs.flatMap((run) => run.findings);
  const others = renderFindings(findings);
  const telling = steps.filter(({ role }) => role !== "any-task").length;
  if (telling === 0 || telling + others.count < leastShared)
    return refuse(
      runs.length === 1
        ? "the session that asked for it did nothing that could be repeated"
        : `the ${runs.length} sessions that asked for it did nothing in common that could be written down`,
    );
  const parts = {
    name: prefixName(prefix, nameTask(asks)),
    description: describeTask(asks),
  };
  const check = steps.findLast(({ role }) => role === "check");
  const text = renderToFit(limits.steps, 2, (count) =>
    renderItem("skill", {
      ...parts,
      sections: [
        ["Steps", numbered(steps.slice(0, count).map(renderStep))],
        ["Check", check ? `${inlineCode(withoutHome(check.text))} ends well.` : ""],
        ["What people insisted on", others.said],
        ["What failed, and what helped", others.failures],
      ],
    }),
  );
  return { ok: true, text };
}

/** The steps common to enough sessions, in order of execution. */
function findSharedSteps(runs: readonly TaskRun[]): SharedStep[] {
  const need = runs.length < 2 ? 1 : Math.max(2, Math.ceil(runs.length * commonShare));
  const sessions = runs.map(collectSteps);
  const shared = [...new Set(sessions.flatMap((each) => [...each.keys()]))]
    .map((key) => mergeSteps(sessions.flatMap((each) => each.get(key) ?? [])))
    .filter((step) => step.sessions >= need)
    .sort((a, b) => a.position - b.position || (a.text < b.text ? -1 : 1));
  // A folder is left out where a single file of it is a step.
  const files = shared.filter(({ type, text }) => type === "edit" && !text.includes("*"));
  const folders = files.map(({ text }) => `${text.slice(0, text.lastIndexOf("/"))}/*`);
  return shared
    .filter(({ type, text }) => type !== "edit" || !folders.some((folder) => text.startsWith(folder)))
    .slice(0, limits.steps);
}

/** The distinct successful steps of a session, at their first position. */
function collectSteps({ events, root }: TaskRun): Map<string, TaskStep> {
  const calls = events.filter(({ kind }) => kind === "call").slice(0, longestCalls);
  const reader = new CallReader();
  const steps = new Map<string, TaskStep>();
  for (const [at, event] of calls.entries()) {
    if (!reader.hasWorked(event)) continue;
    for (const step of readSteps(event, root)) {
      const known = steps.get(step.key);
      const runs = [...step.runs, ...(known?.runs ?? [])].slice(0, rememberedRuns);
      steps.set(step.key, {
        ...step,
        runs,
        position: known?.position ?? at / Math.max(1, calls.length - 1),
      });
    }
  }
  return steps;
}

type BareStep = Omit<TaskStep, "position">;

function readSteps({ command, tool, files, cwd }: Event, root: string | null): BareStep[] {
  if (command !== null) return listWholeRuns(command).flatMap(readRun);
  if (tool === null) return [];
  if (/^mcp__/.test(tool)) return [{ key: `tool ${tool}`, type: "tool", text: tool, runs: [], role: "task" }];
  if (!/edit|write|patch|create|replace|notebook/i.test(tool)) return [];
  return files.flatMap((file) => readEdit(relativePath(file, root, cwd)));
}

/** The programs of a command, without those that the cut of a long command went through. */
function listWholeRuns(command: string): Run[] {
  const runs = parseCommand(command);
  const isCut = (run: Run | undefined) => run?.written.startsWith("…[") ?? false;
  return runs.filter((run, at) => ![runs[at - 1], run, runs[at + 1]].some(isCut));
}

function readRun(run: Run): BareStep[] {
  const { role, form } = classifyRun(run);
  const isIdle = role === "chore" || (role === "look" && !collectsWork(run));
  if (form === null || isIdle || forces.test(run.args.join(" "))) return [];
  const isAny = role === "record" || role === "install";
  const own = isAny ? "any-task" : role === "check" ? "check" : "task";
  return [{ key: `run ${form}`, type: "run", text: form, runs: [run], role: own }];
}

/** Options that bypass a safeguard, which no skill should teach. */
const forces = /(?:^|\s)--(?:no-verify|force(?:-with-lease)?|hard|no-gpg-sign|dangerously-\S+)(?=[\s=]|$)/;

/** A look that collects work to do: what changed since something, what is open. */
function collectsWork({ name, args }: Run): boolean {
  if (name === "git") return args[0] === "log" && args.some((arg) => arg.includes(".."));
  return (name === "gh" && args[1] === "list") || args[0] === "outdated";
}

/** A file's path within the project; null for a file elsewhere. */
function relativePath(file: string, root: string | null, cwd: string | null): string | null {
  for (const folder of [root, cwd])
    if (folder !== null && file.startsWith(`${folder}/`)) return file.slice(folder.length + 1);
  return file.startsWith("/") || file.startsWith("~") ? null : file.replace(/^\.\//, "");
}

/** An edit counts for the file, and for files of its type in its folder. */
function readEdit(file: string | null): BareStep[] {
  if (file === null || /(?:^|\/)(?:node_modules|\.git|tmp)\//.test(file)) return [];
  const own: BareStep = { key: `edit ${file}`, type: "edit", text: file, runs: [], role: "task" };
  if (!file.includes("/")) return [own];
  const ending = /\.[a-z0-9]{1,8}$/i.exec(file)?.[0] ?? "";
  const text = `${file.slice(0, file.lastIndexOf("/"))}/*${ending}`;
  return [own, { ...own, key: `folder ${text}`, text }];
}

/** Merges one step across sessions. */
function mergeSteps(steps: readonly TaskStep[]): SharedStep {
  const [first] = steps as [TaskStep];
  const runs = pickMostAlike(steps.map((step) => step.runs));
  return {
    ...first,
    runs,
    text: runs.length > 0 ? writeShared(runs) : first.text,
    sessions: steps.length,
    position: steps.reduce((sum, { position }) => sum + position, 0) / steps.length,
  };
}

/** One command for several: what all share stays, what differs is left open. */
function writeShared(runs: readonly Run[]): string {
  const [run, ...others] = runs.map((one) => one.with({ directory: null })) as [Run, ...Run[]];
  const isOwn = (word: string) =>
    !word.startsWith("-") && run.args.includes(word) && others.some(({ args }) => !args.includes(word));
  const words = writeTemplate(run, others.length > 0 ? others : [run]).split(" ");
  return words.map((word) => (isOwn(word) ? "<value>" : word)).join(" ");
}

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

/** Renders people's corrections as quotes, and failed calls with the call that worked instead. */
function renderFindings(findings: readonly Finding[]) {
  const quotes = findings.flatMap(({ kind, excerpt }) => (isSaid(kind) ? (excerpt.said ?? []) : []));
  const said = [...new Set(quotes)].slice(0, limits.said);
  const code = (text: string) => inlineCode(withoutHome(oneLine(text)), 160);
  const failures = findings
    .flatMap(({ excerpt: { failed, error, worked } }) =>
      // The same call that fails and then works teaches nothing.
      failed !== null && worked !== null && failed !== worked && !forces.test(worked)
        ? `- ${code(failed)} failed${error === null ? "" : ` with ${code(error)}`}; ${code(worked)} worked.`
        : [],
    )
    .slice(0, limits.failures);
  const shown = said.map((text) => `> ${cutAtWord(paragraph(text), limits.quoteChars)}`);
  return {
    count: said.length + failures.length,
    said: shown.join("\n>\n"),
    failures: failures.join("\n"),
  };
}

/** The words that people used, so that the next who uses them finds it. */
function describeTask(asks: readonly UnmatchedPrompt[]): string {
  const render = (phrases: readonly string[]) => `Use when asked: ${phrases.join("; or: ")}.`;
  const phrases: string[] = [];
  for (const phrase of asks.map(renderOrder).reverse()) {
    if (phrase === "" || phrases.some((other) => other.toLowerCase() === phrase.toLowerCase())) continue;
    if (phrases.length > 0 && render([...phrases, phrase]).length > maxDescriptionChars) break;
    phrases.push(phrase);
  }
  const whole = render(phrases);
  return whole.length <= maxDescriptionChars ? whole : cutAtWord(whole, maxDescriptionChars);
}

/** The request, with one-off particulars replaced by "…". */
function renderOrder({ ask: { order, particulars } }: UnmatchedPrompt): string {
  return dropVolatile(order)
    .split(" ")
    .map((word) =>
      /\d/.test(word) && particulars.some((once) => word.toLowerCase().includes(once)) ? "…" : word,
    )
    .join(" ")
    .replace(/…(?: …)+/g, "…")
    .replace(/(?: (?:for|to|of|in|on|as|für|para|pour|de))? …$/u, "")
    .replace(/[\s.:;,!?。！？]+$/u, "");
}

/** The words that most of the asks have, the weightiest first. */
function findTopics(asks: readonly UnmatchedPrompt[]): string[] {
  const weights = new Map<string, number>();
  for (const { ask } of asks)
    for (const [word, weight] of ask.words) weights.set(word, (weights.get(word) ?? 0) + weight);
  return [...weights]
    .filter(([word]) => asks.filter(({ ask }) => ask.words.has(word)).length > asks.length / 2)
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([word]) => word)
    .slice(0, 8);
}

/** A name made of the verb and of what the asks share, in the words and the order of the latest. */
function nameTask(asks: readonly UnmatchedPrompt[]): string {
  const { ask, id } = asks.at(-1) as UnmatchedPrompt;
  const topics = new Set(findTopics(asks));
  const said = splitWords(ask.order).filter((word) => topics.has(stemWord(word)));
  const about = ask.kind !== null && ask.strong ? [ask.kind] : said.length > 0 ? said : [...topics];
  const words = [...new Set([ask.verb, ...about])];
  return slugify(words.slice(0, 5).join(" ")) || `task-${id.slice(-6)}`;
}

function renderStep({ type, text, runs: ways }: SharedStep): string {
  if (type === "edit")
    return text.includes("*")
      ? `Write or change a file such as ${inlineCode(text)}.`
      : `Change ${inlineCode(text)}.`;
  if (type === "tool") return `Call the tool ${inlineCode(text)}.`;
  const block = codeBlock(withoutHome(text), { language: "sh", indent: "   ", most: 300 });
  const written = [...new Set(ways.map((run) => run.with({ directory: null }).retell()))];
  const seen = written.slice(0, 3).map((one) => inlineCode(withoutHome(one), 100));
  return `Run:\n\n${block}${written.length < 2 ? "" : `\n\n   For example ${seen.join(" or ")}.`}`;
}
