import { type Event, type Finding, makeFinding } from "../../records/index.ts";
import { slugify } from "../../text/index.ts";
import type { AnalyzedSession } from "./analyze.ts";
import { type CommandCall, describeRequest, quoteCalls } from "./commands.ts";

/** Tools of a sequence, and times that it is found in a session: one less for each tool that other projects do not have, but not once. */
const minLength = 3;
const maxLength = 5;
const usualTimes = 3;
const minTimes = 2;
/** Sequences told of one session. */
const maxPatterns = 1;
/** How sure that is; and of one without a tool of the project's own, which is no news however often it is seen. */
const weakConfidence = 0.08;
const everydayConfidence = 0.02;
/** Characters of one call that proves it. */
const callChars = 80;

/** A few tools used in the same order again and again: how this kind of task is done here. */
export function toolPattern(session: AnalyzedSession): Finding[] {
  const worth = ({ ideas: names, found }: ToolPattern) => names.length * found.length;
  const patterns = [...findPatterns(findMoves(session)).values()]
    .filter(({ ideas: names, found }) => {
      const rare = names.filter((idea) => !common.has(idea) && !idea.startsWith("`")).length;
      return found.length >= Math.max(minTimes, usualTimes - rare);
    })
    .filter((pattern) => session.breadth.everyday > 0 || !isEveryday(pattern))
    .sort((a, b) => worth(b) - worth(a) || (joinIdeas(a.ideas) < joinIdeas(b.ideas) ? -1 : 1));
  // What every task is made of is told where there is nothing else to tell.
  const told = [...patterns.filter((each) => !isEveryday(each)), ...patterns.filter(isEveryday)];
  return told.slice(0, maxPatterns).map((pattern) => writeLesson(pattern, session));
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
export function findIdea(event: Event, call?: CommandCall): string | null {
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
function findCommandIdea(command: string, call: CommandCall | undefined): string | null {
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

/** Searching and reading end in a change; "run" may be anything. */
function isWhole(names: readonly string[]): boolean {
  return names.at(-1) === "edit" && !names.includes("run");
}

function isEveryday({ ideas: names }: ToolPattern): boolean {
  return names.every((idea) => everyday.has(idea));
}

/** A tool of the project's own: of a server that it is given, or a script. Checks and what an agent brings along are none. */
function isOwn(idea: string): boolean {
  return idea.startsWith("`") ? ownScript.test(idea) : !common.has(idea) && idea.includes(" ");
}

const ownScript = /[\w-]\.(?:sh|py|mjs|cjs|js|ts|rb|pl|ps1)\b/;

interface ToolPattern {
  readonly ideas: readonly string[];
  readonly found: (readonly ToolMove[])[];
}

/** Sequences of different ideas within one turn, each with the places where it was found, none of which overlap. */
function findPatterns(moves: readonly ToolMove[]): Map<string, ToolPattern> {
  const patterns = new Map<string, ToolPattern>();
  const freeFrom = new Map<string, number>();
  for (let from = 0; from < moves.length; from++)
    for (let length = minLength; length <= maxLength; length++) {
      const window = moves.slice(from, from + length);
      const names = window.map(({ idea }) => idea);
      if (window.length < length || window.at(-1)?.turn !== window[0]?.turn || new Set(names).size < length)
        break;
      if (names.every((idea) => everyday.has(idea)) && !isWhole(names)) continue;
      const key = joinIdeas(names);
      if ((freeFrom.get(key) ?? 0) > from) continue;
      freeFrom.set(key, from + length);
      const known = patterns.get(key) ?? { ideas: names, found: [] };
      known.found.push(window);
      patterns.set(key, known);
    }
  return patterns;
}

function joinIdeas(names: readonly string[]): string {
  return names.join(" > ");
}

function writeLesson(pattern: ToolPattern, { events, spoken }: AnalyzedSession): Finding {
  const { ideas: names, found } = pattern;
  const kinds = listFileKinds(found);
  // The prompt of the first time.
  const turn = found[0]?.[0]?.turn;
  const prompt = events.find((event) => event.kind === "prompt" && event.turn === turn) ?? null;
  const asked = describeRequest(prompt, spoken);
  const files = `${kinds.map((kind) => `\`${kind}\``).join(" and ")} files`;
  const about = `${kinds.length === 0 ? "Work" : `Work on ${files}`}${asked === "" ? "" : ` (${asked})`}`;
  const own = names.filter((idea) => !everyday.has(idea));
  const parts = quoteParts(names);
  const calls = found.flat().map(({ events: [first] }) => first) as [Event, ...Event[]];
  return makeFinding(
    {
      kind: "tool-pattern",
      lesson: `${about} took the same tools in the same order ${found.length} times in one session: ${names.join(", then ")}. Plan for all of these from the start.`,
      trigger: kinds.length === 0 ? `you use ${parts[0]}` : `you work on ${files}`,
      action: `use ${parts.join(", then ")}`,
      steps: names.map((idea) =>
        everyday.has(idea) ? `${idea.charAt(0).toUpperCase()}${idea.slice(1)} what it takes` : `Use ${idea}`,
      ),
      keywords: [...new Set([...own, ...kinds])].slice(0, 8),
      confidence: names.some(isOwn) ? weakConfidence : everydayConfidence,
      name: slugify([...names, ...kinds].join(" ")),
      ...{ scope: "project", artifact: "skill" },
      excerpt: quoteCalls(
        (found[0] ?? []).map(({ events: [first] }) => writeCallLine(first as Event)),
        prompt,
      ),
      ...{ call: null, symptom: null, remedy: null },
    },
    calls,
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

/** The kinds of files that the calls touched, the commonest first. */
function listFileKinds(found: readonly (readonly ToolMove[])[]): string[] {
  const counts = new Map<string, number>();
  for (const { events } of found.flat())
    for (const { files } of events)
      for (const file of files) {
        const [kind] = /\.[a-z0-9]{1,6}$/i.exec(file) ?? [];
        if (kind !== undefined) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
  return [...counts]
    .sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    .slice(0, 2)
    .map(([kind]) => kind);
}
