import type { Event } from "../event.ts";
import { type Finding, finding } from "../finding.ts";
import { policy } from "../policy.ts";
import { nameFrom } from "../words.ts";
import { askedBy, proofOf } from "./asked.ts";
import type { Deed } from "./deeds.ts";
import type { Scene } from "./scene.ts";

/** The same few tools in the same order, again and again: how this kind of task is done here. */
export function toolPattern(scene: Scene): Finding[] {
  const { events, deeds, breadth } = scene;
  const patterns = [...patternsIn(movesOf(events, deeds)).values()]
    .filter(({ ideas: names, found }) => found.length >= timesFor(names))
    .filter((pattern) => breadth.plain > 0 || !isEveryday(pattern))
    .sort((a, b) => worth(b) - worth(a) || (keyOf(a.ideas) < keyOf(b.ideas) ? -1 : 1));
  // What every task is made of is told where there is nothing else to tell.
  const told = [...patterns.filter((each) => !isEveryday(each)), ...patterns.filter(isEveryday)];
  return told.slice(0, policy.detect.pattern.most).map((pattern) => tell(pattern, scene));
}

function timesFor(names: readonly string[]): number {
  const rare = names.filter((idea) => !common.has(idea) && !idea.startsWith("`")).length;
  const { times, leastTimes } = policy.detect.pattern;
  return Math.max(leastTimes, times - rare);
}

/** One or more calls in a row to one end; a call and its result are one. */
interface Move {
  readonly idea: string;
  readonly events: Event[];
  readonly turn: number;
}

function movesOf(events: readonly Event[], deeds: readonly Deed[]): Move[] {
  const known = new Map(deeds.map((deed) => [deed.event, deed]));
  const moves: Move[] = [];
  for (const event of events) {
    if (event.kind !== "call" || event.sidechain || event.outcome === "rejected") continue;
    const idea = ideaOf(event, known.get(event));
    if (idea === null) continue;
    const last = moves.at(-1);
    if (last?.idea === idea && last.turn === event.turn) last.events.push(event);
    else moves.push({ idea, events: [event], turn: event.turn });
  }
  return moves;
}

/** What a call is for, whichever agent made it; null for a plan or a note, which are no work. */
export function ideaOf(event: Event, deed?: Deed): string | null {
  if (event.command !== null) return ideaOfCommand(event.command, deed);
  const tool = event.tool ?? "";
  for (const [idea, names] of ideas) if (names.test(tool)) return idea === "plan" ? null : idea;
  const [, server, name] = /^mcp__(.+?)__(.+)$/.exec(tool) ?? [];
  return server === undefined || name === undefined ? tool || null : `${server} ${name}`;
}

const ideas: readonly (readonly [string, RegExp])[] = [
  [
    "plan",
    /^(?:todo_?write|todo_?read|update_plan|write_todos|task_?(?:create|update|list|get|output|stop)|exit_?plan_?mode|enter_?plan_?mode|report_intent|save_memory|tool_?search|ask_?user\w*|think|submit|finish|attempt_completion|kill_?shell|bash_?output|write_stdin|monitor|schedule_?wakeup|wait\w*|sleep)$/i,
  ],
  [
    "search",
    /^(?:grep|glob|ls|list|list_dir(?:ectory)?|rg|find\w*|search_(?:dir|file|files|text)|searchtext|codebase_search|grep_search|file_search|glob_file_search|semanticsearch|workspace_symbol\w*|lsp)$/i,
  ],
  [
    "read",
    /^(?:read|view|open|cat|readfile|read_(?:file|files|many_files|lints)|notebook_?read|view_image|goto|scroll_\w+)$/i,
  ],
  [
    "edit",
    /^(?:edit|write|multi_?edit|apply_?patch|patch|str_replace\w*|search_replace|replace|replace_in_file|create(?:_file)?|insert\w*|write_?(?:to_)?file|edit_?file|notebook_?edit|edit_notebook|delete_file)$/i,
  ],
  ["fetch", /^(?:web_?fetch|fetch\w*|web_?search\w*|google_web_search|fetch_webpage)$/i],
  ["delegate", /^(?:task|agent|spawn_agent|runsubagent|delegate\w*)$/i],
];

/** Shells do what other agents have tools for. */
function ideaOfCommand(command: string, deed: Deed | undefined): string | null {
  const acts = deed?.acts ?? [];
  const check = acts.find(({ role, form }) => role === "check" && form !== null);
  if (check?.form) return `\`${check.form}\``;
  if (acts.some(({ role }) => role !== "look" && role !== "chore")) return "run";
  const [, first = ""] = /^\s*(?:cd \S+ && )?(\w+)/.exec(command) ?? [];
  if (/^(?:rg|grep|egrep|find|fd|ls|tree|ag)$/.test(first)) return "search";
  return /^(?:cat|sed|head|tail|nl|bat|less)$/.test(first) ? "read" : null;
}

/** What every task is made of. */
const everyday = new Set(["search", "read", "edit", "run"]);
const common = new Set([...everyday, ...ideas.map(([idea]) => idea)]);

/** Searching and reading end in a change; "run" may be anything. */
function isWhole(names: readonly string[]): boolean {
  return names.at(-1) === "edit" && !names.includes("run");
}

function isEveryday({ ideas: names }: Pattern): boolean {
  return names.every((idea) => everyday.has(idea));
}

/** A tool of the project's own: of a server that it is given, or a script. Checks and what an agent brings along are none. */
function isOwn(idea: string): boolean {
  return idea.startsWith("`") ? ownScript.test(idea) : !common.has(idea) && idea.includes(" ");
}

const ownScript = /[\w-]\.(?:sh|py|mjs|cjs|js|ts|rb|pl|ps1)\b/;

interface Pattern {
  readonly ideas: readonly string[];
  readonly found: (readonly Move[])[];
}

/** Sequences of different ideas within one turn, each with the places where it was found, none of which overlap. */
function patternsIn(moves: readonly Move[]): Map<string, Pattern> {
  const { shortest, longest } = policy.detect.pattern;
  const patterns = new Map<string, Pattern>();
  const freeFrom = new Map<string, number>();
  for (let from = 0; from < moves.length; from++)
    for (let length = shortest; length <= longest; length++) {
      const window = moves.slice(from, from + length);
      const names = window.map(({ idea }) => idea);
      if (window.length < length || window.at(-1)?.turn !== window[0]?.turn || new Set(names).size < length)
        break;
      if (names.every((idea) => everyday.has(idea)) && !isWhole(names)) continue;
      const key = keyOf(names);
      if ((freeFrom.get(key) ?? 0) > from) continue;
      freeFrom.set(key, from + length);
      const known = patterns.get(key) ?? { ideas: names, found: [] };
      known.found.push(window);
      patterns.set(key, known);
    }
  return patterns;
}

function keyOf(names: readonly string[]): string {
  return names.join(" > ");
}

function worth({ ideas: names, found }: Pattern): number {
  return names.length * found.length;
}

function tell(pattern: Pattern, { events, verdicts }: Scene): Finding {
  const { ideas: names, found } = pattern;
  const kinds = fileKindsOf(found);
  const prompt = promptOf(found, events);
  const asked = askedBy(prompt, verdicts);
  const files = `${kinds.map((kind) => `\`${kind}\``).join(" and ")} files`;
  const about = `${kinds.length === 0 ? "Work" : `Work on ${files}`}${asked === "" ? "" : ` (${asked})`}`;
  const own = names.filter((idea) => !everyday.has(idea));
  const parts = partsOf(names);
  const calls = found.flat().map(({ events: [first] }) => first) as [Event, ...Event[]];
  return finding(
    {
      kind: "tool-pattern",
      lesson: `${about} took the same tools in the same order ${found.length} times in one session: ${names.join(", then ")}. Plan for all of these from the start.`,
      trigger: kinds.length === 0 ? `you use ${parts[0]}` : `you work on ${files}`,
      action: `use ${parts.join(", then ")}`,
      steps: names.map((idea) =>
        everyday.has(idea) ? `${idea.charAt(0).toUpperCase()}${idea.slice(1)} what it takes` : `Use ${idea}`,
      ),
      keywords: [...new Set([...own, ...kinds])].slice(0, 8),
      confidence: names.some(isOwn) ? policy.detect.pattern.weak : policy.detect.pattern.everyday,
      name: nameFrom([...names, ...kinds].join(" ")),
      scope: "project",
      artifact: "skill",
      excerpt: proofOf(
        (found[0] ?? []).map(({ events: [first] }) => callLine(first as Event)),
        prompt,
      ),
      call: null,
      symptom: null,
      remedy: null,
    },
    calls,
  );
}

/** The prompt of the first time. */
function promptOf([first]: Pattern["found"], events: readonly Event[]): Event | null {
  const turn = first?.[0]?.turn;
  return events.find((event) => event.kind === "prompt" && event.turn === turn) ?? null;
}

/** What a pattern is known again by, in quotes: tools of its own one by one, and everyday ones between them together. */
function partsOf(names: readonly string[]): string[] {
  const parts: string[][] = [];
  for (const [at, idea] of names.entries()) {
    const goesOn = everyday.has(idea) && everyday.has(names[at - 1] ?? "");
    if (goesOn) parts.at(-1)?.push(idea);
    else parts.push([idea.replaceAll("`", "")]);
  }
  return parts.map((part) => `\`${part.join(" → ")}\``);
}

/** A call as one line: its command, or the tool and what it was about. */
function callLine({ command, tool, files, input }: Event): string {
  if (command !== null) return command;
  const about = files[0] ?? Object.values(input ?? {}).find((value) => typeof value === "string") ?? "";
  return `${tool} ${about}`.replace(/\s+/g, " ").trim().slice(0, policy.detect.telling.stepChars);
}

/** The kinds of files that the calls touched, the commonest first. */
function fileKindsOf(found: readonly (readonly Move[])[]): string[] {
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
