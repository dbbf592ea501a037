import { type Run, writeTemplate } from "../../failures/index.ts";
import { type Event, type Finding, makeFinding } from "../../records/index.ts";
import { slugify } from "../../text/index.ts";
import {
  type AnalyzedSession,
  type CalledProgram,
  describeRequest,
  quoteCalls,
  type TerminalCall,
} from "./session.ts";

type Events = [Event, ...Event[]];

// --- Commands ---

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
    .sort((a, b) => b.uses.length * b.oddity - a.uses.length * a.oddity || (a.form < b.form ? -1 : 1));
  const usual = all
    .filter((one) => isRepeated(one) && one.oddity < breadth.oddity)
    .sort((a, b) => b.uses.length - a.uses.length || (a.form < b.form ? -1 : 1))
    .slice(0, breadth.everyday);
  return [...own.map((one) => writeOwnForm(one, busy)), ...usual.map(writeUsualForm)].slice(0, maxCommands);
}

interface Repetition {
  readonly form: string;
  readonly uses: readonly RepeatedUse[];
  /** How much all uses have in common that is of this project. */
  readonly oddity: number;
}

interface RepeatedUse extends Pick<CalledProgram, "run" | "launcher"> {
  readonly event: Event;
}

function findRepetitions(events: readonly Event[], commands: readonly TerminalCall[]): Repetition[] {
  const calls = events.filter(({ kind }) => kind === "call");
  const before = new Map(calls.map((event, at) => [event, calls[at - 1]?.command ?? null]));
  const waited = new Set<string>();
  const byForm = new Map<string, RepeatedUse[]>();
  for (const { event, programs } of commands) {
    // What comes after a pause is waited for.
    if (programs.some(({ run }) => run.name === "sleep")) continue;
    for (const act of programs) {
      const { form, role, run, launcher } = act;
      if (form === null || (role !== "deed" && role !== "check") || beginsProject(act)) continue;
      const uses = byForm.get(form);
      // The same words again, with nothing done since, wait for something.
      if (role === "deed" && before.get(event) === event.command) waited.add(form);
      else if (uses === undefined) byForm.set(form, [{ event, run, launcher }]);
      // Twice in one command is one time.
      else if (uses.at(-1)?.event !== event) uses.push({ event, run, launcher });
    }
  }
  return [...byForm]
    .filter(([form, uses]) => uses.length > 1 || !waited.has(form))
    .map(([form, uses]) => ({ form, uses, oddity: measureOddity(uses) }));
}

/** A project is begun once. */
function beginsProject({ program: { name, args } }: CalledProgram): boolean {
  return /^create-/.test(name) || /^(?:create|init|new|startproject|scaffold)$/.test(args[0] ?? "");
}

/** Counts the parts that every use has and a stranger would not have written at once. */
function measureOddity(uses: readonly RepeatedUse[]): number {
  const [first, ...others] = uses.map(({ run }) => run) as [Run, ...Run[]];
  const inAll = (words: (run: Run) => readonly string[]) =>
    words(first).filter((word) => others.every((run) => words(run).includes(word)));
  const variables = inAll(({ env }) => env.map((set) => set.replace(/^(\w+=).*/s, "$1")));
  const flags = inAll(({ args }) => args.filter((arg) => /^--?[a-z]/i.test(arg) && arg.length < 60));
  const launcher = uses[0]?.launcher.join(" ") ?? "";
  return (
    2 * Math.min(1, variables.length) +
    (isOwnScript(first) ? 2 : 0) +
    (/ (?:run|exec)$/.test(launcher) ? 1 : 0) +
    Math.min(3, flags.filter((flag) => !usualFlag.test(flag)).length)
  );
}

/** Flags that anybody adds, and those that say something of the moment. */
const usualFlag =
  /^(?:-[a-zA-Z]|-(?:rf|la|al|lc)|--(?:verbose|quiet|silent|json|yes|help|version|watch|fix|no-color|color|force|title|body|message|limit|head|base|dry-run|comment))(?:=|$)/;

/** A script of the project, by its place in it. */
function isOwnScript({ written, args, name }: Run): boolean {
  const isInterpreter = /^(?:python[\d.]*|node|ruby|php|bash|sh|zsh|tsx|ts-node)$/.test(name);
  const file = isInterpreter ? (args.find((arg) => !arg.startsWith("-")) ?? "") : written;
  return /\w\/.*\.\w{1,4}$|^\.\/\w/.test(file) && !/node_modules|^\/(?:tmp|private|var)\//.test(file);
}

function writeOwnForm(repetition: Repetition, busy: boolean): Finding {
  const { form, uses, oddity } = repetition;
  const runs = uses.map(({ run }) => run) as [Run, ...Run[]];
  const told = writeTemplate(runs.at(-1) as Run, runs.slice(0, -1));
  const isTelling = busy && uses.length >= oftenTimes && oddity > minOddityOnce;
  const again = uses.length < minTimes ? "" : `; it was run ${uses.length} times in one session`;
  return writeRepetition(repetition, {
    lesson: `In this project \`${form}\` is run as \`${told}\`${again}. Use that form at once.`,
    action: `run \`${form}\` as ${told.replaceAll("`", "")}`,
    keywords: [...new Set([form, ...runs[0].use()])].slice(0, 8),
    confidence: isTelling ? tellingConfidence : weakConfidence,
  });
}

/** Evidence of what everybody does, apart from the project's own form of the same command. */
function writeUsualForm(repetition: Repetition): Finding {
  const { form, uses } = repetition;
  return writeRepetition(repetition, {
    lesson: `\`${form}\` was run ${uses.length} times in one session, with nothing to it that one would have to find out.`,
    action: `run \`${form}\`; the \`usual form\` will do`,
    keywords: [form],
    confidence: everydayConfidence,
  });
}

function writeRepetition(
  { form, uses }: Repetition,
  words: Pick<Finding, "lesson" | "action" | "keywords" | "confidence">,
): Finding {
  const events = uses.map(({ event }) => event) as Events;
  const quoted = events.slice(-3).map(({ command }) => command ?? "");
  return makeFinding(
    {
      ...words,
      kind: "repeated-action",
      // The form alone is in quotes: other forms of the same program are other lessons, other values are not.
      trigger: `you run \`${form}\``,
      name: slugify(`run ${form}`),
      artifact: "rule",
      excerpt: quoteCalls(quoted, null),
    },
    events,
  );
}

// --- Tools ---

/** Tools of a sequence, and times that it is found in a session: one less for each tool that other projects do not have, but not once. */
const minLength = 3;
const maxLength = 5;
const usualTimes = 3;
/** How sure that is; and of one without a tool of the project's own, which is no news however often it is seen. */
const ownToolConfidence = 0.08;
const everydayToolConfidence = 0.02;
/** Characters of one call that proves it. */
const callChars = 80;

/** Finds a recurring sequence of tools: how this kind of task is done here. At most one per session. */
export function toolPattern(session: AnalyzedSession): Finding[] {
  const worth = ({ ideas: names, found }: ToolPattern) => names.length * found.length;
  const patterns = findPatterns(findMoves(session))
    .filter(({ ideas: names, found }) => {
      const rare = names.filter((idea) => !common.has(idea) && !idea.startsWith("`")).length;
      return found.length >= Math.max(minTimes, usualTimes - rare);
    })
    .sort((a, b) => worth(b) - worth(a) || (joinIdeas(a.ideas) < joinIdeas(b.ideas) ? -1 : 1));
  // What every task is made of is told where there is nothing else to tell.
  const usual = session.breadth.everyday > 0 ? patterns[0] : undefined;
  const told = patterns.find(({ ideas: names }) => !isEveryday(names)) ?? usual;
  return told === undefined ? [] : [writePattern(told, session)];
}

/** One or more calls in a row to one end; a call and its result are one. */
interface ToolMove {
  readonly idea: string;
  readonly events: Event[];
  readonly turn: number;
}

function findMoves({ events, commands }: AnalyzedSession): ToolMove[] {
  const known = new Map(commands.map((call) => [call.event, call]));
  const moves: ToolMove[] = [];
  for (const event of events) {
    if (event.kind !== "call" || event.sidechain || event.outcome === "rejected") continue;
    const idea = findIdea(event, known.get(event));
    if (idea === null) continue;
    const last = moves.at(-1);
    if (last?.idea === idea && last.turn === event.turn) last.events.push(event);
    else moves.push({ idea, events: [event], turn: event.turn });
  }
  return moves;
}

/** The purpose of a call, whichever agent made it; null for plans and notes, which are no work. */
function findIdea(event: Event, call: TerminalCall | undefined): string | null {
  if (event.command !== null) return findCommandIdea(event.command, call);
  const tool = event.tool ?? "";
  for (const [idea, names] of ideas) if (names.test(tool)) return idea === "plan" ? null : idea;
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
  return server === undefined || name === undefined ? tool || null : `${server} ${name}`;
}

// biome-ignore format: a table reads better in rows
const ideas: readonly (readonly [string, RegExp])[] = [
  ["plan", /^(?:todo_?write|todo_?read|update_plan|write_todos|task_?(?:create|update|list|get|output|stop)|exit_?plan_?mode|enter_?plan_?mode|report_intent|save_memory|tool_?search|ask_?user\w*|think|submit|finish|attempt_completion|kill_?shell|bash_?output|write_stdin|monitor|schedule_?wakeup|wait\w*|sleep)$/i],
  ["search", /^(?:grep|glob|ls|list|list_dir(?:ectory)?|rg|find\w*|search_(?:dir|file|files|text)|searchtext|codebase_search|grep_search|file_search|glob_file_search|semanticsearch|workspace_symbol\w*|lsp)$/i],
  ["read", /^(?:read|view|open|cat|readfile|read_(?:file|files|many_files|lints)|notebook_?read|view_image|goto|scroll_\w+)$/i],
  ["edit", /^(?:edit|write|multi_?edit|apply_?patch|patch|str_replace\w*|search_replace|replace|replace_in_file|create(?:_file)?|insert\w*|write_?(?:to_)?file|edit_?file|notebook_?edit|edit_notebook|delete_file)$/i],
  ["fetch", /^(?:web_?fetch|fetch\w*|web_?search\w*|google_web_search|fetch_webpage)$/i],
  ["delegate", /^(?:task|agent|spawn_agent|runsubagent|delegate\w*)$/i],
];

/** Shells do what other agents have tools for. */
function findCommandIdea(command: string, call: TerminalCall | undefined): string | null {
  const acts = call?.programs ?? [];
  const check = acts.find(({ role, form }) => role === "check" && form !== null);
  if (check?.form) return `\`${check.form}\``;
  if (acts.some(({ role }) => role !== "look" && role !== "chore")) return "run";
  const [, first = ""] = /^\s*(?:cd \S+ && )?(\w+)/.exec(command) ?? [];
  if (/^(?:rg|grep|egrep|find|fd|ls|tree|ag)$/.test(first)) return "search";
  return /^(?:cat|sed|head|tail|nl|bat|less)$/.test(first) ? "read" : null;
}

/** Purposes that every task has. */
const everyday = new Set(["search", "read", "edit", "run"]);
const common = new Set([...everyday, ...ideas.map(([idea]) => idea)]);

function isEveryday(names: readonly string[]): boolean {
  return names.every((idea) => everyday.has(idea));
}

/** A tool of the project's own: of a server that it is given, or a script. Checks and what an agent brings along are none. */
function isOwnTool(idea: string): boolean {
  if (!idea.startsWith("`")) return !common.has(idea) && idea.includes(" ");
  return /[\w-]\.(?:sh|py|mjs|cjs|js|ts|rb|pl|ps1)\b/.test(idea);
}

interface ToolPattern {
  readonly ideas: readonly string[];
  readonly found: (readonly ToolMove[])[];
}

/** Sequences of different ideas within one turn, each with the places where it was found, none of which overlap. */
function findPatterns(moves: readonly ToolMove[]): ToolPattern[] {
  const patterns = new Map<string, ToolPattern>();
  const freeFrom = new Map<string, number>();
  for (let from = 0; from < moves.length; from++)
    for (let length = minLength; length <= maxLength; length++) {
      const window = moves.slice(from, from + length);
      const names = window.map(({ idea }) => idea);
      if (window.length < length || window.at(-1)?.turn !== window[0]?.turn || new Set(names).size < length)
        break;
      // Searching and reading end in a change; "run" may be anything.
      const isWhole = names.at(-1) === "edit" && !names.includes("run");
      const key = joinIdeas(names);
      if ((isEveryday(names) && !isWhole) || (freeFrom.get(key) ?? 0) > from) continue;
      freeFrom.set(key, from + length);
      const known = patterns.get(key) ?? { ideas: names, found: [] };
      known.found.push(window);
      patterns.set(key, known);
    }
  return [...patterns.values()];
}

function joinIdeas(names: readonly string[]): string {
  return names.join(" > ");
}

function writePattern({ ideas: names, found }: ToolPattern, { events, spoken }: AnalyzedSession): Finding {
  const kinds = listFileKinds(found);
  const firsts = (moves: readonly ToolMove[]) => moves.map((move) => move.events[0]) as Events;
  // The prompt of the first time.
  const turn = found[0]?.[0]?.turn;
  const prompt = events.find((event) => event.kind === "prompt" && event.turn === turn) ?? null;
  const asked = describeRequest(prompt, spoken);
  const files = `${kinds.map((kind) => `\`${kind}\``).join(" and ")} files`;
  const about = `${kinds.length === 0 ? "Work" : `Work on ${files}`}${asked === "" ? "" : ` (${asked})`}`;
  const parts = quoteParts(names);
  const describeStep = (idea: string) =>
    everyday.has(idea) ? `${idea.charAt(0).toUpperCase()}${idea.slice(1)} what it takes` : `Use ${idea}`;
  return makeFinding(
    {
      kind: "tool-pattern",
      lesson: `${about} took the same tools in the same order ${found.length} times in one session: ${names.join(", then ")}. Plan for all of these from the start.`,
      trigger: kinds.length === 0 ? `you use ${parts[0]}` : `you work on ${files}`,
      action: `use ${parts.join(", then ")}`,
      steps: names.map(describeStep),
      keywords: [...new Set([...names.filter((idea) => !everyday.has(idea)), ...kinds])].slice(0, 8),
      confidence: names.some(isOwnTool) ? ownToolConfidence : everydayToolConfidence,
      name: slugify([...names, ...kinds].join(" ")),
      artifact: "skill",
      excerpt: quoteCalls(firsts(found[0] ?? []).map(writeCallLine), prompt),
    },
    firsts(found.flat()),
  );
}

/** The quoted parts by which a pattern is recognized: its own tools one by one, everyday ones between them joined. */
function quoteParts(names: readonly string[]): string[] {
  const parts: string[][] = [];
  for (const [at, idea] of names.entries()) {
    const goesOn = everyday.has(idea) && everyday.has(names[at - 1] ?? "");
    if (goesOn) parts.at(-1)?.push(idea);
    else parts.push([idea.replaceAll("`", "")]);
  }
  return parts.map((part) => `\`${part.join(" → ")}\``);
}

/** A call as one line: its command, or the tool and what it was about. */
function writeCallLine({ command, tool, files, input }: Event): string {
  if (command !== null) return command;
  const about = files[0] ?? Object.values(input ?? {}).find((value) => typeof value === "string") ?? "";
  return `${tool} ${about}`.replace(/\s+/g, " ").trim().slice(0, callChars);
}

/** The two commonest kinds of files that the calls touched. */
function listFileKinds(found: readonly (readonly ToolMove[])[]): string[] {
  const counts = new Map<string, number>();
  const files = found.flat().flatMap(({ events }) => events.flatMap((event) => event.files));
  for (const [kind] of files.flatMap((file) => [/\.[a-z0-9]{1,6}$/i.exec(file) ?? []]))
    if (kind !== undefined) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const sorted = [...counts].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  return sorted.slice(0, 2).map(([kind]) => kind);
}
