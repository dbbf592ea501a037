import { isEdit } from "../../failures/index.ts";
import { checks } from "../../library/index.ts";
import {
  type Event,
  type EventKind,
  type EventOutline,
  formatRef,
  type Outcome,
  type Owner,
  type ReviewLead,
  type ReviewWindow,
  type SessionStretch,
  type Signal,
  shorten,
} from "../../records/index.ts";
import { several } from "../../text/index.ts";
import {
  cutToFit,
  fencedSize,
  fitOneLine,
  separatorChars,
  takeFitting,
  withoutHome,
} from "../../trust/index.ts";
import { maxSessions } from "./nudge.ts";

/** Characters, events and sessions of a dossier. */
const maxChars = 60_000;
const maxEvents = 400;
/** Characters of names and line ends around the parts of a dossier. */
const formChars = 200;
/** Shares of the characters: signals and leads, skills to change, names of their files, other skills, the bare index. */
const shares = { told: 0.15, texts: 0.3, files: 0.05, skills: 0.15, index: 0.1 };
/** More of an event is not cached. */
const longestEvent = 5_000;
/** Characters of an event, longest first: of prompts, failures and signalled events, and of the rest. */
const lengths = [
  { main: longestEvent, rest: longestEvent },
  ...[1_500, 1_200, 960, 768, 614, 491].map((main) => ({ main, rest: Math.floor(main / 2) })),
];
const shortest = { main: 450, rest: 200 };
const maxSignals = 12;
export const maxLeads = 6;
export const maxRefs = 12;
export const whyChars = 400;
const hintChars = 120;
const [nameChars, refChars, toolChars] = [80, 24, 60];
const maxSkills = 200;
const descriptionChars = [160, 80, 40, 20, 0];
const textChars = 12_000;
export const maxListedFiles = 60;
/** Calls after a failure within which a similar call is a retry. */
const retryWindow = 30;
const maxSpans = 40;
const summaryChars = 160;
/** Characters of one span: its summary, and what stands around it. */
const spanChars = summaryChars + 130;
const toolsInSummary = 4;

/** Why an event is shown in a dossier. */
export type Salience =
  | "signal-ref"
  | "prompt"
  | "final-answer"
  | "error"
  | "retry"
  | "recovery"
  | "rejected"
  | "verification"
  | "file-write"
  | "skill"
  | "context"
  | "room";

/** A range of events that is not shown, with a summary. */
export interface OmittedSpan {
  readonly range: readonly [string, string];
  readonly count: number;
  readonly summary: string;
}

/** An event in the timeline: everything but its words. */
export interface TimelineEntry {
  /** `s1.e17`: the session's name in the dossier, and the event's own ref. */
  readonly id: string;
  readonly kind: EventKind;
  readonly tool: string | null;
  readonly outcome: Outcome | null;
}

interface IncludedEvent {
  readonly id: string;
  readonly reason: Salience;
  readonly detail: string;
}

/** A skill as a reviewer is shown it; its text only where it may be changed. */
export interface ReviewedSkill {
  readonly name: string;
  readonly owner: Owner;
  readonly description: string;
  readonly draft: boolean;
  readonly text: string | null;
  /** Hash of the package: a patch of another version is refused. */
  readonly hash: string | null;
  /** Files beside `SKILL.md` that the reviewer may ask for. */
  readonly files: readonly { readonly path: string; readonly characters: number }[];
}

/** Everything that a reviewer is given. */
export interface Dossier {
  readonly scope: {
    readonly kind: "foreground";
    readonly project: string;
    readonly sessions: readonly {
      /** `s1`. */
      readonly name: string;
      readonly run: string;
      readonly from: string;
      readonly to: string;
    }[];
    readonly startedAt: string | null;
    readonly finishedAt: string | null;
  };
  readonly leads: readonly ReviewLead[];
  readonly signals: readonly Signal[];
  readonly timeline: readonly TimelineEntry[];
  readonly included: readonly IncludedEvent[];
  readonly omitted: readonly OmittedSpan[];
  readonly skills: readonly ReviewedSkill[];
  /** Whether every event is shown. */
  readonly whole: boolean;
}

/** What a dossier is made of, before any event is read in full. Refs of signals and leads are those of the dossier. */
export interface DossierSource {
  readonly project: string;
  readonly window: ReviewWindow;
  /** For each stretch of the window, its events. */
  readonly outlines: readonly (readonly EventOutline[])[];
  readonly signals: readonly Signal[];
  readonly leads: readonly ReviewLead[];
  readonly skills: readonly ReviewedSkill[];
}

/** An event of a window: the index of its stretch, and its ref there. */
export interface WindowEvent {
  readonly stretch: number;
  readonly ref: string;
}

/** `s1.e17`. */
export function formatDossierRef({ stretch, ref }: WindowEvent): string {
  return `${nameSession(stretch)}.${ref}`;
}

export function parseDossierRef(id: string): WindowEvent | null {
  const [, stretch, ref] = /^s([1-9]\d{0,5})\.(e[1-9]\d{0,9})$/.exec(id) ?? [];
  return stretch === undefined || ref === undefined ? null : { stretch: Number(stretch) - 1, ref };
}

function nameSession(stretch: number): string {
  return `s${stretch + 1}`;
}

/** Refs of a session as the dossier has them; none where the window does not have the session, by either id. */
export function toDossierRefs(
  { stretches }: ReviewWindow,
  session: string,
  refs: readonly string[],
): string[] {
  const stretch = stretches.findIndex((one) => one.session === session || one.run === session);
  return stretch < 0 ? [] : refs.map((ref) => formatDossierRef({ stretch, ref }));
}

/** Which events of a window are shown, and why. Indexes instead of objects: there may be hundreds of thousands. */
export interface EventChoice {
  /** Those of the sessions that are shown, in order. */
  readonly events: readonly EventOutline[];
  readonly nameEvent: (at: number) => string;
  readonly stretches: readonly { readonly index: number; readonly start: number }[];
  /** The indexes where sessions begin. */
  readonly starts: ReadonlySet<number>;
  readonly reasons: readonly (Salience | undefined)[];
  /** The most important first; any number of the first is spread over kinds and over the window. */
  readonly units: readonly ShownUnit[];
  /** Everything that has to be read, in no order. */
  readonly wanted: readonly WindowEvent[];
}

/** The index of an event; or of a failure and of the call that then worked, which belong together. */
type ShownUnit = readonly number[];

/** Looks at all events of a window, without their words, and says which are to be read. */
export function chooseEvents(source: DossierSource): EventChoice {
  const stretches: { index: number; start: number }[] = [];
  const events: EventOutline[] = [];
  for (const index of chooseSessions(source)) {
    const outline = source.outlines[index] ?? [];
    if (outline.length > 0) stretches.push({ index, start: events.length });
    for (const event of outline) events.push(event);
  }
  const locate = (at: number): WindowEvent => ({
    stretch: stretches.findLast(({ start }) => start <= at)?.index ?? 0,
    ref: formatRef(events[at]?.n ?? 0),
  });
  const starts = new Set(stretches.map(({ start }) => start));
  const { reasons, kinds } = findSalient(events, starts, findPointed(source, stretches));
  // Of few events all may be shown.
  const rest = events.length > maxEvents ? [] : [...events.keys()].filter((at) => !reasons[at]);
  const units = chooseSpread([...kinds, rest.map((at) => [at])], maxEvents);
  const nameEvent = (at: number) => formatDossierRef(locate(at));
  return { events, nameEvent, stretches, starts, reasons, units, wanted: units.flat().map(locate) };
}

/** The events that signals and leads name, as far as those are shown. */
function listPointed({ signals, leads }: DossierSource): WindowEvent[] {
  const shown = [...signals.slice(0, maxSignals), ...leads.slice(0, maxLeads)];
  const ids = new Set(shown.flatMap(({ refs }) => refs.slice(0, maxRefs)));
  return [...ids].flatMap((id) => parseDossierRef(id) ?? []);
}

function findPointed(source: DossierSource, stretches: EventChoice["stretches"]): Set<number> {
  const found = new Set<number>();
  for (const { stretch, ref } of listPointed(source)) {
    const shown = stretches.find(({ index }) => index === stretch);
    const number = Number(ref.slice(1));
    const at = shown ? (source.outlines[shown.index] ?? []).findIndex(({ n }) => n === number) : -1;
    if (shown && at >= 0) found.add(shown.start + at);
  }
  return found;
}

/** Of too many sessions, those that are pointed to, then the longest, of equals the latest. */
function chooseSessions(source: DossierSource): number[] {
  const pointed = new Set(listPointed(source).map(({ stretch }) => stretch));
  const weight = (index: number) =>
    (pointed.has(index) ? 2 ** 30 : 0) + (source.outlines[index]?.length ?? 0);
  return [...source.window.stretches.keys()]
    .sort((a, b) => weight(b) - weight(a) || b - a)
    .slice(0, maxSessions)
    .sort((a, b) => a - b);
}

/** The reason for each event that is worth showing, and those events by kind, the most important kind first. */
function findSalient(
  events: readonly EventOutline[],
  starts: ReadonlySet<number>,
  pointed: ReadonlySet<number>,
): { readonly reasons: (Salience | undefined)[]; readonly kinds: ShownUnit[][] } {
  const reasons = new Array<Salience | undefined>(events.length).fill(undefined);
  // The first reason holds.
  const take = (at: number, reason: Salience): boolean => {
    if (at < 0 || at >= events.length || reasons[at] !== undefined) return false;
    reasons[at] = reason;
    return true;
  };
  const takeAll = (indexes: readonly number[], reason: Salience): ShownUnit[] =>
    indexes.flatMap((at) => (take(at, reason) ? [[at]] : []));
  const takeWhere = (reason: Salience, isMeant: (event: EventOutline) => boolean) => {
    const found: ShownUnit[] = [];
    for (let at = 0; at < events.length; at++)
      if (isMeant(events[at] as EventOutline) && take(at, reason)) found.push([at]);
    return found;
  };
  const signalled = takeAll(
    [...pointed].sort((a, b) => a - b),
    "signal-ref",
  );
  const prompts = takeWhere("prompt", isPrompt);
  const troubles: ShownUnit[] = [];
  for (const { at, reason, worked } of findTroubles(events, starts)) {
    const both = [...(take(at, reason) ? [at] : []), ...(take(worked, "recovery") ? [worked] : [])];
    if (both.length > 0) troubles.push(both);
  }
  const others = [
    takeAll(findAnswers(events, starts), "final-answer"),
    takeWhere("verification", ({ kind, head }) => kind === "call" && head !== null && isVerification(head)),
    takeWhere("file-write", (event) => event.kind === "call" && isEdit(event)),
    takeWhere("skill", ({ kind, tool }) => kind === "call" && (tool === "Skill" || tool === "skill")),
  ];
  const around = [...signalled, ...troubles].flatMap((unit) => [
    Math.min(...unit) - 1,
    Math.max(...unit) + 1,
  ]);
  return { reasons, kinds: [signalled, prompts, troubles, ...others, takeAll(around, "context")] };
}

function isPrompt({ kind, sidechain }: EventOutline): boolean {
  return kind === "prompt" && !sidechain;
}

/** The last reply of each turn. */
function findAnswers(events: readonly EventOutline[], starts: ReadonlySet<number>): number[] {
  const answers: number[] = [];
  let last = -1;
  for (let at = 0; at <= events.length; at++) {
    const event = events[at];
    if (last >= 0 && (event === undefined || isPrompt(event) || starts.has(at))) {
      answers.push(last);
      last = -1;
    }
    if (event?.kind === "reply" && !event.sidechain) last = at;
  }
  return answers;
}

/** Whether one of a command's programs checks the work. */
function isVerification(head: string): boolean {
  return head.split(/&&|[;|]/).some((part) => checks.test(stripPrefix(part)));
}

interface Trouble {
  readonly at: number;
  readonly reason: "error" | "rejected" | "retry";
  /** The similar call that then worked; -1 where none did. */
  worked: number;
}

/** Each call that failed or was rejected, and calls that retried one. */
function findTroubles(events: readonly EventOutline[], starts: ReadonlySet<number>): Trouble[] {
  const found: Trouble[] = [];
  const open = new Map<string, { readonly trouble: Trouble; readonly calls: number }>();
  let calls = 0;
  for (let at = 0; at < events.length; at++) {
    const event = events[at] as EventOutline;
    if (starts.has(at)) open.clear();
    if (event.kind !== "call") continue;
    calls++;
    const { outcome } = event;
    if (outcome === "failed" || outcome === "rejected") {
      const trouble: Trouble = { at, reason: outcome === "rejected" ? "rejected" : "error", worked: -1 };
      found.push(trouble);
      open.set(retryKey(event), { trouble, calls });
      continue;
    }
    const before = open.size === 0 ? undefined : open.get(retryKey(event));
    if (before === undefined) continue;
    open.delete(retryKey(event));
    if (calls - before.calls > retryWindow) continue;
    if (outcome === "ok") before.trouble.worked = at;
    else found.push({ at, reason: "retry", worked: -1 });
  }
  return found;
}

/** Calls with the same program and verb, or the same tool and file, may be retries of one another. */
function retryKey({ tool, head, file }: EventOutline): string {
  if (head === null) return `${tool} ${file ?? ""}`;
  return /^\S+(?:\s+[^-\s]\S*)?/.exec(stripPrefix(head))?.[0] ?? head;
}

/** A command without `cd` and variables in front of it. */
function stripPrefix(head: string): string {
  return head.replace(/^(?:\s+|cd\s+(?:"[^"]*"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)|\w+=\S*\s)+/, "");
}

/**
 * As many events as there is room for: all of the first kind, then of each kind half as many as of the kind before it,
 * for as long as there are some. Of each kind they lie all over the window.
 */
export function chooseSpread(kinds: readonly (readonly ShownUnit[])[], room: number): ShownUnit[] {
  const queues = kinds.map((kind, rank) => ({ left: spread(kind, room), taken: 0, rank }));
  const chosen: ShownUnit[] = [];
  for (let left = room; left > 0; ) {
    let next: (typeof queues)[number] | null = null;
    const rate = ({ taken, rank }: (typeof queues)[number]) => (rank === 0 ? 0 : (taken + 1) * 2 ** rank);
    for (const queue of queues)
      if (queue.taken < queue.left.length && (next === null || rate(queue) < rate(next))) next = queue;
    const unit = next?.left[next.taken];
    if (next === null || unit === undefined) break;
    next.taken++;
    left -= unit.length;
    if (left >= 0) chosen.push(unit);
  }
  return chosen;
}

/** The first items in an order that covers the list evenly at any length: both ends, the middle, the quarters. */
export function spread<Item>(items: readonly Item[], most: number): Item[] {
  const last = items.length - 1;
  if (last < 2) return items.slice(0, most);
  const bits = Math.ceil(Math.log2(items.length));
  const order = [0, last];
  for (let n = 1; n < 2 ** bits && order.length < most; n++) {
    // The number with its bits reversed.
    const at = Number.parseInt([...n.toString(2).padStart(bits, "0")].reverse().join(""), 2);
    if (at < last) order.push(at);
  }
  return order.slice(0, most).map((at) => items[at] as Item);
}

// --- What is shown of them ---

/** The dossier within its characters: all events where they fit; otherwise the most salient, and counts of the rest. */
export function buildDossier(
  source: DossierSource,
  choice: EventChoice,
  /** The chosen events, by their ids in the dossier. */
  events: ReadonlyMap<string, Event>,
): Dossier {
  const frame = buildFrame(source, choice);
  const render = createRenderer(choice, events);
  const room = maxChars - fencedSize(frame) - formChars;
  const indexRoom = Math.floor(maxChars * shares.index);
  const spanRoom = Math.min(maxSpans, choice.wanted.length + choice.stretches.length) * spanChars;
  let places = takeUnits(choice.units, render, room);
  if (places.length < choice.events.length)
    places = takeUnits(choice.units, render, room - spanRoom - indexRoom);
  const isShown = new Set(places);
  const index = indexRest(choice, isShown, indexRoom);
  const omitted = [...summarizeOmitted(choice, isShown), ...frame.omitted];
  const left = room - sumSizes(index) - sizeList(omitted) + sizeList(frame.omitted);
  const length = lengths.find((one) => sumSizes(render(places, one)) <= left) ?? shortest;
  const shown = render(places, length).sort((a, b) => a.at - b.at);
  return {
    ...frame,
    timeline: [...shown, ...index].sort((a, b) => a.at - b.at).map(({ entry }) => entry),
    included: shown.map(({ event }) => event),
    omitted,
    whole: omitted.length === 0,
  };
}

/** An event in the timeline, and with its words. */
interface RenderedEvent {
  readonly at: number;
  readonly entry: TimelineEntry;
  readonly event: IncludedEvent;
  readonly size: number;
}

type EventRenderer = (
  indexes: readonly number[],
  length: { readonly main: number; readonly rest: number },
) => RenderedEvent[];

const mainReasons: ReadonlySet<Salience> = new Set<Salience>([
  ...(["signal-ref", "prompt", "error", "rejected", "recovery", "retry"] as const),
]);

/** Renders events at a length; their words are prepared once, however often they are rendered. */
function createRenderer(choice: EventChoice, events: ReadonlyMap<string, Event>): EventRenderer {
  const known = new Map([...events].map(([id, event]) => [id, prepareWords(event)]));
  return (indexes, length) =>
    indexes.flatMap((at) => {
      const id = choice.nameEvent(at);
      const [words, outline] = [known.get(id), choice.events[at]];
      if (words === undefined || outline === undefined) return [];
      const entry = toTimelineEntry(id, outline);
      const reason = choice.reasons[at] ?? "room";
      const detail = joinWords(words, mainReasons.has(reason) ? length.main : length.rest);
      const event = { id, reason, detail };
      return [{ at, entry, event, size: fencedSize(entry) + fencedSize(event) + 2 * separatorChars }];
    });
}

/** As many of the first as fit in few words. */
function takeUnits(units: readonly ShownUnit[], render: EventRenderer, room: number): number[] {
  let left = room;
  const end = units.findIndex((unit) => {
    left -= sumSizes(render(unit, shortest));
    return left < 0;
  });
  return (end < 0 ? units : units.slice(0, end)).flat();
}

function sizeList(all: readonly unknown[]): number {
  return all.reduce<number>((sum, one) => sum + fencedSize(one) + separatorChars, 0);
}

function sumSizes(rendered: readonly { readonly size: number }[]): number {
  return rendered.reduce((sum, { size }) => sum + size, 0);
}

export function toTimelineEntry(
  id: string,
  { kind, tool, outcome }: Pick<EventOutline, "kind" | "tool" | "outcome">,
): TimelineEntry {
  return { id, kind, tool: tool === null ? null : cutToFit(tool, toolChars), outcome };
}

/** What was called, and what came of it; or only what was said. */
interface EventWords {
  readonly asked: string;
  readonly came: string;
}

function prepareWords({ kind, command, input, exitCode, text }: Event): EventWords {
  const words = withoutHome(shorten(text, longestEvent)).trim();
  if (kind !== "call") return { asked: "", came: words };
  const call = command ?? (input === null ? "" : JSON.stringify(input));
  const asked = withoutHome(shorten(call, longestEvent)).trim();
  return { asked, came: exitCode === null || exitCode === 0 ? words : `exit code ${exitCode}\n${words}` };
}

/** An event at a length: a call has at least half of it, if it needs that. */
export function renderDetail(event: Event, most: number): string {
  return joinWords(prepareWords(event), most);
}

function joinWords({ asked, came }: EventWords, most: number): string {
  if (asked === "" || came === "") return cutToFit(asked || came, most);
  const arrow = "\n→ ";
  const call = cutToFit(asked, Math.max(Math.floor(most / 2), most - came.length - arrow.length));
  const output = cutToFit(came, most - (fencedSize(call) - 2) - fencedSize(arrow) + 2);
  return `${call}${arrow}${output}`;
}

/** Timeline entries of other events, from all over the window, as far as there is room. */
function indexRest(
  { events, nameEvent }: EventChoice,
  shown: ReadonlySet<number>,
  room: number,
): Pick<RenderedEvent, "at" | "entry" | "size">[] {
  const rest: number[] = [];
  for (let at = 0; at < events.length; at++) if (!shown.has(at)) rest.push(at);
  let left = room;
  const found: Pick<RenderedEvent, "at" | "entry" | "size">[] = [];
  for (const at of spread(rest, Math.max(0, maxEvents - shown.size))) {
    const entry = toTimelineEntry(nameEvent(at), events[at] as EventOutline);
    const size = fencedSize(entry) + separatorChars;
    left -= size;
    if (left < 0) break;
    found.push({ at, entry, size });
  }
  return found;
}

/** Summaries of the events that are not shown, in at most 40 spans, the smallest joined with their neighbours. */
function summarizeOmitted(
  { events, starts, nameEvent }: EventChoice,
  shown: ReadonlySet<number>,
): OmittedSpan[] {
  const sessions: number[][][] = [];
  let isOpen = false;
  for (let at = 0; at < events.length; at++) {
    if (starts.has(at)) sessions.push([]);
    if (starts.has(at) || shown.has(at)) isOpen = false;
    if (shown.has(at)) continue;
    if (isOpen) sessions.at(-1)?.at(-1)?.push(at);
    else sessions.at(-1)?.push([at]);
    isOpen = true;
  }
  for (let left = sessions.flat().length - maxSpans; left > 0; left--) joinSmallest(sessions);
  return sessions.flat().map((span) => ({
    range: [nameEvent(span[0] as number), nameEvent(span.at(-1) as number)],
    count: span.length,
    summary: cutToFit(describeSpan(span.map((at) => events[at] as EventOutline)), summaryChars),
  }));
}

/** Joins the two neighbours of one session that have the fewest events together. */
function joinSmallest(sessions: readonly number[][][]): void {
  let best: { readonly spans: number[][]; readonly at: number; readonly joined: number } | null = null;
  for (const spans of sessions)
    for (let at = 0; at + 1 < spans.length; at++) {
      const joined = (spans[at]?.length ?? 0) + (spans[at + 1]?.length ?? 0);
      if (best === null || joined < best.joined) best = { spans, at, joined };
    }
  best?.spans.splice(best.at, 2, best.spans.slice(best.at, best.at + 2).flat());
}

/** `2 replies; 14 calls: 9 Read, 3 Grep, 2 Bash; nothing failed`. */
function describeSpan(events: readonly EventOutline[]): string {
  const count = (wanted: EventKind) => events.filter(({ kind }) => kind === wanted).length;
  const [prompts, replies, calls] = [count("prompt"), count("reply"), count("call")];
  const marks = events.length - calls - replies - prompts;
  const failed = events.filter(({ outcome }) => outcome === "failed" || outcome === "rejected").length;
  return [
    ...(prompts > 0 ? [several(prompts, "prompt")] : []),
    ...(replies > 0 ? [replies === 1 ? "1 reply" : `${replies} replies`] : []),
    ...(marks > 0 ? [several(marks, "mark")] : []),
    ...(calls > 0 ? [`${several(calls, "call")}: ${countTools(events)}`] : []),
    ...(calls > 0 ? [failed === 0 ? "nothing failed" : `${failed} failed`] : []),
  ].join("; ");
}

function countTools(events: readonly EventOutline[]): string {
  const counts = new Map<string, number>();
  for (const { kind, tool } of events) {
    const name = (tool ?? "?").slice(0, toolChars);
    if (kind === "call") counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const often = [...counts].sort(([, a], [, b]) => b - a);
  const named = often.slice(0, toolsInSummary).map(([tool, times]) => `${times} ${tool}`);
  const others = often.slice(toolsInSummary).reduce((sum, [, times]) => sum + times, 0);
  return [...named, ...(others > 0 ? [`${others} others`] : [])].join(", ");
}

// --- What stands around the events ---

/** A dossier without its events: every part is cut to its length. */
function buildFrame(source: DossierSource, choice: EventChoice): Dossier {
  const { window, outlines, leads, signals } = source;
  const sessions = choice.stretches.map(({ index }) => {
    const stretch = window.stretches[index] as SessionStretch;
    const outline = outlines[index] ?? [];
    const [first, last] = [outline[0]?.n ?? stretch.from, outline.at(-1)?.n ?? stretch.to];
    const run = cutToFit(stretch.run, nameChars);
    return { name: nameSession(index), run, from: formatRef(first), to: formatRef(last) };
  });
  const room = Math.floor((maxChars * shares.told) / 2);
  return {
    scope: {
      kind: "foreground",
      project: cutToFit(withoutHome(source.project), nameChars),
      sessions,
      startedAt: formatTime(window.since),
      finishedAt: formatTime(window.until),
    },
    leads: takeFitting(leads.slice(0, maxLeads).map(cutLead), room),
    signals: takeFitting(signals.slice(0, maxSignals).map(cutSignal), room),
    timeline: [],
    included: [],
    omitted: summarizeOtherSessions(source, choice),
    skills: cutSkills(source),
    whole: false,
  };
}

function formatTime(at: number): string | null {
  return Number.isFinite(at) && Math.abs(at) < 8.64e15 ? new Date(at).toISOString() : null;
}

/** Sessions of the window that are not shown at all. */
function summarizeOtherSessions({ outlines }: DossierSource, { stretches }: EventChoice): OmittedSpan[] {
  const shown = new Set(stretches.map(({ index }) => index));
  const rest = outlines.flatMap((outline, index) => (shown.has(index) || outline.length === 0 ? [] : index));
  const [first, last] = [rest[0], rest.at(-1)];
  if (first === undefined || last === undefined) return [];
  const count = rest.reduce((sum, index) => sum + (outlines[index]?.length ?? 0), 0);
  const summary = several(rest.length, "shorter session");
  return [{ range: [nameSession(first), nameSession(last)], count, summary }];
}

function cutLead(lead: ReviewLead): ReviewLead {
  const rest = { why: cutWords(lead.why, whyChars), refs: cutRefs(lead.refs) };
  return lead.do === "create"
    ? { do: "create", hint: cutWords(lead.hint, hintChars), ...rest }
    : { do: "patch", skill: cutToFit(lead.skill, nameChars), ...rest };
}

function cutSignal(signal: Signal): Signal {
  const refs = cutRefs(signal.refs);
  if (signal.kind === "update") {
    const { skill, hint } = signal;
    return { ...signal, refs, skill: cutToFit(skill, nameChars), hint: cutWords(hint, whyChars) };
  }
  const { nameHint, summary } = signal;
  return { ...signal, refs, nameHint: fitOneLine(nameHint, hintChars), summary: cutWords(summary, whyChars) };
}

function cutWords(text: string, most: number): string {
  return fitOneLine(withoutHome(text), most);
}

function cutRefs(refs: readonly string[]): string[] {
  return refs.slice(0, maxRefs).map((ref) => cutToFit(ref, refChars));
}

/** Skills that may be changed with their texts; the others by name, with as much about each as there is room for. */
function cutSkills({ skills, leads }: DossierSource): ReviewedSkill[] {
  const patched = new Set(leads.slice(0, maxLeads).flatMap((one) => (one.do === "patch" ? one.skill : [])));
  const open = skills.filter(({ name }) => patched.has(name)).slice(0, maxLeads);
  const shown = open.filter(({ text, hash }) => text !== null && hash !== null);
  const shareEach = (share: number) => Math.floor((maxChars * share) / Math.max(1, shown.length));
  const first = open.map((skill): ReviewedSkill => {
    const named = cutSkill(skill, descriptionChars[0] ?? 0);
    if (!shown.includes(skill)) return named;
    return {
      ...named,
      text: cutToFit(skill.text ?? "", Math.min(textChars, shareEach(shares.texts))),
      hash: cutToFit(skill.hash ?? "", nameChars),
      files: takeFitting(skill.files.slice(0, maxListedFiles), shareEach(shares.files)),
    };
  });
  const others = skills
    .filter(({ name }) => !patched.has(name))
    .slice(0, Math.max(0, maxSkills - first.length));
  const room = Math.floor(maxChars * shares.skills);
  const lists = descriptionChars.map((chars) => others.map((skill) => cutSkill(skill, chars)));
  const list = lists.find((all) => sizeList(all) <= room) ?? takeFitting(lists.at(-1) ?? [], room);
  return [...first, ...list];
}

function cutSkill({ name, owner, description, draft }: ReviewedSkill, chars: number): ReviewedSkill {
  return {
    ...{ name: cutToFit(name, nameChars), owner, draft, description: cutWords(description, chars) },
    ...{ text: null, hash: null, files: [] },
  };
}
