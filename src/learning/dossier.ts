import type { JsonObject } from "../base/index.ts";
import { complains, isEdit } from "../failures/index.ts";
import { type Event, type Lead, type LessonId, parseRef, shorten } from "../records/index.ts";
import { renderDiff } from "../text/index.ts";
import { withoutHome } from "../trust/index.ts";

/** A lesson that is known already, as a judge is told of it. */
export interface KnownLesson {
  readonly id: LessonId;
  readonly lesson: string;
  readonly standing: "kept" | "waiting" | "rejected by the person";
}

/** A line of an instruction file. */
export interface InstructionLine {
  readonly file: string;
  readonly line: string;
}

/** Everything that a judge may be shown of a session. */
export interface SessionMaterial {
  readonly project: string;
  readonly agent: string;
  readonly folder: string | null;
  readonly startedAt: number | null;
  readonly events: readonly Event[];
  readonly known: readonly KnownLesson[];
  readonly instructions: readonly InstructionLine[];
}

/** A lead under the short name that a request gives it. */
export interface NamedLead {
  readonly name: string;
  readonly lead: Lead;
}

/** Characters of the episodes in one request, about 12,000 tokens, and requests for one session. */
const partChars = 42_000;
const maxParts = 3;

/** Divides leads, in the order of the session, into the fewest requests that hold their episodes whole. */
export function divideLeads(leads: readonly Lead[], events: readonly Event[]): NamedLead[][] {
  const measure = createMeter(events);
  const fitting = keepFitting(sortByPlace(leads), measure);
  const size = measure(fitting);
  const most = size / Math.max(1, Math.ceil(size / partChars));
  const parts: NamedLead[][] = [];
  for (let rest = nameLeads(fitting); rest.length > 0; ) {
    const isLast = parts.length === maxParts - 1;
    const count = isLast
      ? rest.length
      : countFitting(
          rest.map(({ lead }) => lead),
          most,
          measure,
        );
    parts.push(rest.slice(0, count));
    rest = rest.slice(count);
  }
  return parts;
}

/** The first leads of a session, as many as one request holds. */
export function takeFirstLeads(leads: readonly Lead[], events: readonly Event[]): Lead[] {
  const sorted = sortByPlace(leads);
  return sorted.slice(0, countFitting(sorted, partChars, createMeter(events)));
}

export function nameLeads(leads: readonly Lead[]): NamedLead[] {
  return leads.map((lead, n) => ({ name: `L${n + 1}`, lead }));
}

export function sortByPlace(leads: readonly Lead[]): Lead[] {
  const place = ({ refs }: Lead) => parseRef(refs[0] ?? "e0");
  return [...leads].sort((a, b) => place(a) - place(b));
}

/** Leaves out the least promising leads where all are too much for the requests of one session. */
function keepFitting(leads: readonly Lead[], measure: EpisodeMeter): readonly Lead[] {
  const most = maxParts * partChars;
  if (measure(leads) <= most) return leads;
  const best = [...leads].sort((a, b) => b.confidence - a.confidence);
  const kept = new Set(best.slice(0, countFitting(best, most, measure)));
  return leads.filter((lead) => kept.has(lead));
}

/** How many leads, from the first one on, come nearest to a size; at least one. */
function countFitting(leads: readonly Lead[], most: number, measure: EpisodeMeter): number {
  let [count, size] = [1, measure(leads.slice(0, 1))];
  while (count < leads.length) {
    const grown = measure(leads.slice(0, count + 1));
    // Episodes may share events, so that each adds only what the others lack.
    if (grown - most > (grown - size) / 2) break;
    [count, size] = [count + 1, grown];
  }
  return Math.min(count, leads.length);
}

/** Measures the episodes of leads in characters of a request; an event that several share counts once. */
type EpisodeMeter = (leads: readonly Lead[]) => number;

export function createMeter(events: readonly Event[]): EpisodeMeter {
  const byRef = new Map(events.map((event) => [event.ref, event]));
  const sizes = new Map<string, number>();
  const measureEvent = (ref: string): number => {
    const event = byRef.get(ref);
    const size = sizes.get(ref) ?? (event ? JSON.stringify(describeEvent(event)).length : 0);
    sizes.set(ref, size);
    return size;
  };
  return (leads) => [...listRefs(leads)].reduce((sum, ref) => sum + measureEvent(ref), 0);
}

function listRefs(leads: readonly Lead[]): Set<string> {
  return new Set(leads.flatMap(({ refs, episode }) => [...refs, ...episode]));
}

/** The events of the leads' episodes, each once. */
export function listEpisodes(leads: readonly Lead[], events: readonly Event[]): Event[] {
  const refs = listRefs(leads);
  return events.filter(({ ref }) => refs.has(ref));
}

export function compareEvents(a: Event, b: Event): number {
  return parseRef(a.ref) - parseRef(b.ref);
}

/** Characters of an event's parts in a request. */
const chars = {
  prompt: 4_000,
  reply: 1_200,
  command: 1_500,
  edit: 900,
  input: 400,
  options: 200,
  output: 600,
  complaint: 1_000,
  error: 2_000,
};

/** An event as a judge reads it. Commands, outputs and prompts are quoted as they were, long ones without their middle. */
export function describeEvent(event: Event, brief = false): JsonObject {
  const { ref, kind, text } = event;
  const cut = (most: number) => (brief ? Math.min(most, briefChars) : most);
  if (kind === "prompt") return { ref, person: quote(text, cut(chars.prompt)) };
  if (kind === "reply") return { ref, agent: quote(text, cut(chars.reply)) };
  if (kind === "mark") return { ref, note: quote(text, briefChars) };
  const { tool, cwd, outcome, exitCode } = event;
  const isBad = outcome === "failed" || outcome === "rejected";
  const room = isBad ? chars.error : complains(text) ? chars.complaint : chars.output;
  const output = cutOutput(withoutHome(text), cut(room));
  const options = listOptions(event);
  return {
    ...{ ref, tool: tool ?? "unknown", call: describeCall(event, cut) },
    ...(options === "" ? {} : { options: quote(options, chars.options) }),
    ...(isBad && cwd !== null ? { folder: withoutHome(cwd) } : {}),
    outcome: outcome ?? "unknown",
    ...(exitCode === null || exitCode === 0 ? {} : { exit: exitCode }),
    ...(output === "" ? {} : { output }),
  };
}

/** Characters of the parts of an event that is told of in brief. */
const briefChars = 700;

/** Options of a shell call besides its command: rights it asked for, a time limit. Such an option may be the cure. */
function listOptions({ command, input }: Event): string {
  if (command === null || input === null) return "";
  const isUsual =
    /^(?:command|cmd|input|workdir|working_directory|description|cwd|yield_time_ms|max_output_tokens)$/;
  const options = Object.entries(input).filter(([name, value]) => !isUsual.test(name) && value !== null);
  return options.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(", ");
}

function describeCall(event: Event, cut: (most: number) => number): string {
  const { command, input, files } = event;
  if (command !== null) return quote(command, cut(chars.command));
  if (!isEdit(event) || input === null)
    return quote(input === null ? "" : JSON.stringify(input), cut(chars.input));
  const { old_string: before, new_string: after } = input;
  const file = files[0] ?? "";
  if (typeof before !== "string" || typeof after !== "string")
    return quote(`${file}\n${JSON.stringify(input)}`, cut(chars.edit));
  // The lines that changed, and few around them: an edit may quote a long passage to change one word of it.
  const [, , ...lines] = renderDiff(file, before, after).split("\n");
  const hunks = lines.filter((line) => !line.startsWith("\\"));
  return withoutHome(`${file}\n${shorten(hunks.join("\n").trim(), cut(chars.edit))}`);
}

function quote(text: string, most: number): string {
  return shorten(withoutHome(text).trim(), most);
}

/** Lines around one that complains which are shown with it. */
const around = 4;

/** Cuts an output, but never the first lines that complain, nor the end. */
export function cutOutput(text: string, most: number): string {
  const flat = text.trim();
  if (flat.length <= most) return flat;
  const lines = flat.split("\n");
  const at = lines.findIndex((line) => complains(line.slice(0, 400)));
  const region = at < 0 ? "" : lines.slice(Math.max(0, at - around), at + 2 * around).join("\n");
  // Where the complaint is at an edge, the edges show it.
  if (region === "" || at <= around || at >= lines.length - 2 * around) return shorten(flat, most);
  const middle = shorten(region, Math.floor(most * 0.6));
  const edge = Math.floor((most - middle.length) / 2);
  return `${flat.slice(0, edge)}\n…\n${middle}\n…\n${flat.slice(-edge)}`;
}
