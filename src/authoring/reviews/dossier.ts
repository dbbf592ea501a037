import { packageLimits } from "../../library/index.ts";
import {
  type Event,
  type EventKind,
  type EventOutline,
  formatRef,
  type Outcome,
  type Owner,
  outlineEvent,
  parseRef,
  type ReviewLead,
  type ReviewWindow,
  type SessionStretch,
  type Signal,
  shorten,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { several } from "../../text/index.ts";
import {
  cutToFit,
  fencedSize,
  fitOneLine,
  type Redactor,
  scrubEvents,
  separatorChars,
  takeFitting,
  withoutHome,
} from "../../trust/index.ts";
import { chooseEvents, spread } from "./salience.ts";

/** Characters and events of a dossier. */
const maxChars = 60_000;
const maxEvents = 400;
/** Characters of names and line ends around the parts of a dossier. */
const formChars = 200;
/** Shares of the characters: signals and leads, skills to change, names of their files, other skills, the index. */
const shares = { told: 0.15, texts: 0.3, files: 0.05, skills: 0.15, index: 0.1 };
/** Characters of an event that a reviewer asks for. */
const expandedChars = 3_000;
/** More of an event is not cached. */
const longestEvent = 5_000;
/** Characters of an event, longest first: of prompts, failures and signalled events, and of the rest. */
const lengths = [
  { main: longestEvent, rest: longestEvent },
  ...[1_500, 1_200, 960, 768, 614, 491].map((main) => ({ main, rest: Math.floor(main / 2) })),
];
const shortest = { main: 450, rest: 200 };
const maxSignals = 12;
const maxRefs = 12;
const whyChars = 400;
const [nameChars, refChars, toolChars] = [80, 24, 60];
const maxSkills = 200;
const descriptionChars = [160, 80, 40, 20, 0];
const textChars = 12_000;
const maxSpans = 40;
const summaryChars = 160;
/** Characters of one span: its summary, and what stands around it. */
const spanChars = summaryChars + 130;
const toolsInSummary = 4;

type EventChoice = ReturnType<typeof chooseEvents>;
type ShownReason = NonNullable<EventChoice["reasons"][number]>;

/** A range of events that is not shown, with a summary. */
interface OmittedSpan {
  readonly range: readonly [string, string];
  readonly count: number;
  readonly summary: string;
}

/** An event in the timeline: everything but its words. */
interface TimelineEntry {
  /** `s1.e17`: the session's name in the dossier, and the event's own ref. */
  readonly id: string;
  readonly kind: EventKind;
  readonly tool: string | null;
  readonly outcome: Outcome | null;
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
  readonly included: readonly {
    readonly id: string;
    readonly reason: ShownReason;
    readonly detail: string;
  }[];
  readonly omitted: readonly OmittedSpan[];
  readonly skills: readonly ReviewedSkill[];
  /** Whether every event is shown. */
  readonly whole: boolean;
}

/** The input of a dossier beside the events. Refs of signals and leads are those of the dossier. */
interface DossierSource {
  readonly project: string;
  readonly window: ReviewWindow;
  readonly signals: readonly Signal[];
  readonly leads: readonly ReviewLead[];
  readonly skills: readonly ReviewedSkill[];
}

interface EventSource {
  readonly store: { readonly events: Pick<Store["events"], "outline" | "some"> };
  readonly redactor: Redactor;
}

/** Whether a path is below a package's three folders, and nowhere else by any reading. */
export function isSupportPath(path: string): boolean {
  return (
    path.length <= packageLimits.pathChars &&
    /^(?:scripts|references|assets)(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)+$/.test(path) &&
    !/\.(?:\/|$)/.test(path)
  );
}

// --- The names of events ---

/** An event of a window: the index of its stretch, and its ref there. */
interface WindowEvent {
  readonly stretch: number;
  readonly ref: string;
}

/** `s1.e17`. */
function formatDossierRef({ stretch, ref }: WindowEvent): string {
  return `s${stretch + 1}.${ref}`;
}

export function parseDossierRef(id: string): WindowEvent | null {
  const [, stretch, ref] = /^s([1-9]\d{0,5})\.(e[1-9]\d{0,9})$/.exec(id) ?? [];
  return stretch === undefined || ref === undefined ? null : { stretch: Number(stretch) - 1, ref };
}

/** Refs of a session as the dossier has them; empty if the window has the session under neither id. */
export function toDossierRefs(
  { stretches }: ReviewWindow,
  session: string,
  refs: readonly string[],
): string[] {
  const stretch = stretches.findIndex((one) => one.session === session || one.run === session);
  return stretch < 0 ? [] : refs.map((ref) => formatDossierRef({ stretch, ref }));
}

// --- The events of a window ---

/** The events of a window without their words, one session after the other. */
interface WindowOutline {
  readonly events: readonly EventOutline[];
  /** The sessions that have events: their stretches, and where they begin. */
  readonly sessions: readonly { readonly stretch: number; readonly start: number; readonly end: number }[];
  readonly nameEvent: (at: number) => string;
}

/** A dossier of a window: sessions of any length are looked at whole, and few of their events are read. */
export async function gatherDossier(deps: EventSource, known: DossierSource): Promise<Dossier> {
  const source = { ...known, signals: known.signals.slice(0, maxSignals) };
  const told = [...source.signals, ...source.leads].flatMap(({ refs }) => refs.slice(0, maxRefs));
  const pointed = [...new Set(told)].flatMap((id) => parseDossierRef(id) ?? []);
  const outline = await readWindow(deps, source.window, pointed);
  const starts = new Set(outline.sessions.map(({ start }) => start));
  const choice = chooseEvents(outline.events, starts, findPlaces(outline, pointed), maxEvents);
  const ids = choice.units.flat().map(outline.nameEvent);
  return buildDossier(source, outline, starts, choice, await readEvents(deps, source.window, ids));
}

async function readWindow(
  { store }: EventSource,
  { stretches }: ReviewWindow,
  pointed: readonly WindowEvent[],
): Promise<WindowOutline> {
  const events: EventOutline[] = [];
  const sessions: { stretch: number; start: number; end: number }[] = [];
  for (const [stretch, one] of stretches.entries()) {
    const refs = pointed.flatMap(({ stretch: at, ref }) => (at === stretch ? ref : []));
    const start = events.length;
    for (const event of await readStretch(store, one, refs)) events.push(event);
    if (events.length > start) sessions.push({ stretch, start, end: events.length });
  }
  const nameEvent = (at: number) => {
    const stretch = sessions.findLast(({ start }) => start <= at)?.stretch ?? 0;
    return formatDossierRef({ stretch, ref: formatRef(events[at]?.n ?? 0) });
  };
  return { events, sessions, nameEvent };
}

/** A stretch without its words, and the events outside it that are pointed to. */
async function readStretch(
  { events }: EventSource["store"],
  { session, from, to }: SessionStretch,
  pointed: readonly string[],
): Promise<EventOutline[]> {
  const outline = await events.outline(session, from, to);
  const outside = pointed.filter((ref) => parseRef(ref) < from || parseRef(ref) > to);
  if (outside.length === 0) return outline;
  const others = (await events.some(session, outside)).map(outlineEvent);
  return [...outline, ...others].sort((a, b) => a.n - b.n);
}

function findPlaces({ events, sessions }: WindowOutline, pointed: readonly WindowEvent[]): Set<number> {
  const found = new Set<number>();
  for (const { stretch, ref } of pointed) {
    const { start = 0, end = 0 } = sessions.find((one) => one.stretch === stretch) ?? {};
    const number = parseRef(ref);
    const at = events.findIndex(({ n }, index) => index >= start && n === number);
    if (at >= 0 && at < end) found.add(at);
  }
  return found;
}

/** Events by their ids in the dossier. They were scrubbed when they were read, and are once more. */
async function readEvents(
  { store, redactor }: EventSource,
  { stretches }: ReviewWindow,
  ids: readonly string[],
): Promise<Map<string, Event>> {
  const places = ids.flatMap((id) => parseDossierRef(id) ?? []);
  const found = new Map<string, Event>();
  for (const [stretch, { session }] of stretches.entries()) {
    const refs = [...new Set(places.flatMap((place) => (place.stretch === stretch ? place.ref : [])))];
    if (refs.length === 0) continue;
    const events = await scrubEvents(redactor, await store.events.some(session, refs), longestEvent);
    for (const event of events) found.set(formatDossierRef({ stretch, ref: event.ref }), event);
  }
  return found;
}

/** Events that a reviewer asks for. */
export async function readEventDetails(
  deps: EventSource,
  window: ReviewWindow,
  ids: readonly string[],
): Promise<(TimelineEntry & { readonly detail: string })[]> {
  const events = await readEvents(deps, window, ids);
  return [...events].map(([id, event]) => ({
    ...toTimelineEntry(id, event),
    detail: joinWords(prepareWords(event), expandedChars),
  }));
}

// --- What is shown of them ---

/** The dossier within its characters: all events where they fit; otherwise the most salient, and counts of the rest. */
function buildDossier(
  source: DossierSource,
  outline: WindowOutline,
  starts: ReadonlySet<number>,
  choice: EventChoice,
  events: ReadonlyMap<string, Event>,
): Dossier {
  const frame = buildFrame(source, outline);
  const render = createRenderer(outline, choice, events);
  const room = maxChars - fencedSize(frame) - formChars;
  const indexRoom = Math.floor(maxChars * shares.index);
  const spanRoom = Math.min(maxSpans, events.size + outline.sessions.length) * spanChars;
  let places = takeUnits(choice.units, render, room);
  if (places.length < outline.events.length)
    places = takeUnits(choice.units, render, room - spanRoom - indexRoom);
  const isShown = new Set(places);
  const index = indexRest(outline, isShown, indexRoom);
  const omitted = summarizeOmitted(outline, starts, isShown);
  const left = room - sumSizes(index) - sizeList(omitted);
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
  readonly event: Dossier["included"][number];
  readonly size: number;
}

type EventRenderer = (
  indexes: readonly number[],
  length: { readonly main: number; readonly rest: number },
) => RenderedEvent[];

const mainReasons: ReadonlySet<ShownReason> = new Set<ShownReason>([
  ...(["signal-ref", "prompt", "error", "rejected", "recovery", "retry"] as const),
]);

/** Renders events at a length; their words are prepared once, however often they are rendered. */
function createRenderer(
  { events: outlines, nameEvent }: WindowOutline,
  { reasons }: EventChoice,
  events: ReadonlyMap<string, Event>,
): EventRenderer {
  const known = new Map([...events].map(([id, event]) => [id, prepareWords(event)]));
  return (indexes, length) =>
    indexes.flatMap((at) => {
      const id = nameEvent(at);
      const [words, outline] = [known.get(id), outlines[at]];
      if (words === undefined || outline === undefined) return [];
      const entry = toTimelineEntry(id, outline);
      const reason = reasons[at] ?? "room";
      const detail = joinWords(words, mainReasons.has(reason) ? length.main : length.rest);
      const event = { id, reason, detail };
      return [{ at, entry, event, size: fencedSize(entry) + fencedSize(event) + 2 * separatorChars }];
    });
}

/** As many of the first as fit in few words. */
function takeUnits(units: EventChoice["units"], render: EventRenderer, room: number): number[] {
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

function toTimelineEntry(
  id: string,
  { kind, tool, outcome }: Pick<EventOutline, "kind" | "tool" | "outcome">,
): TimelineEntry {
  return { id, kind, tool: tool === null ? null : cutToFit(tool, toolChars), outcome };
}

/** A call and its result; for a message, only its text. */
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
function joinWords({ asked, came }: EventWords, most: number): string {
  if (asked === "" || came === "") return cutToFit(asked || came, most);
  const arrow = "\n→ ";
  const call = cutToFit(asked, Math.max(Math.floor(most / 2), most - came.length - arrow.length));
  const output = cutToFit(came, most - (fencedSize(call) - 2) - fencedSize(arrow) + 2);
  return `${call}${arrow}${output}`;
}

/** Timeline entries of other events, from all over the window, as far as there is room. */
function indexRest({ events, nameEvent }: WindowOutline, shown: ReadonlySet<number>, room: number) {
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
  { events, nameEvent }: WindowOutline,
  starts: ReadonlySet<number>,
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
  const [prompts, replies, calls, marks] = [count("prompt"), count("reply"), count("call"), count("mark")];
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
function buildFrame(
  { window, project, leads, signals, skills }: DossierSource,
  outline: WindowOutline,
): Dossier {
  const nameRef = (at: number) => formatRef(outline.events[at]?.n ?? 0);
  const sessions = outline.sessions.map(({ stretch, start, end }) => ({
    name: `s${stretch + 1}`,
    run: cutToFit(window.stretches[stretch]?.run ?? "", nameChars),
    from: nameRef(start),
    to: nameRef(end - 1),
  }));
  const room = Math.floor((maxChars * shares.told) / 2);
  return {
    scope: {
      ...{ kind: "foreground", project: cutToFit(withoutHome(project), nameChars), sessions },
      startedAt: formatTime(window.since),
      finishedAt: formatTime(window.until),
    },
    leads: takeFitting(leads.map(cutTold), room),
    signals: takeFitting(signals.map(cutTold), room),
    ...{ timeline: [], included: [], omitted: [], skills: cutSkills(skills, leads), whole: false },
  };
}

function formatTime(at: number): string | null {
  return Number.isFinite(at) && Math.abs(at) < 8.64e15 ? new Date(at).toISOString() : null;
}

/** A lead or a signal with each of its texts cut, and few refs. */
function cutTold<Told extends ReviewLead | Signal>({ refs, ...told }: Told): Told {
  const texts = Object.entries(told as Record<string, string>).map(([name, text]) => [
    name,
    cutWords(text, whyChars),
  ]);
  const few = refs.slice(0, maxRefs).map((ref) => cutToFit(ref, refChars));
  return { ...Object.fromEntries(texts), refs: few } as Told;
}

function cutWords(text: string, most: number): string {
  return fitOneLine(withoutHome(text), most);
}

/** Skills that may be changed with their texts; the others by name, with as much about each as there is room for. */
function cutSkills(skills: readonly ReviewedSkill[], leads: readonly ReviewLead[]): ReviewedSkill[] {
  const patched = new Set(leads.flatMap((one) => (one.do === "patch" ? one.skill : [])));
  const open = skills.filter(({ name }) => patched.has(name));
  const shown = open.filter(({ text, hash }) => text !== null && hash !== null);
  const shareEach = (share: number) => Math.floor((maxChars * share) / Math.max(1, shown.length));
  const first = open.map((skill): ReviewedSkill => {
    const named = cutSkill(skill, descriptionChars[0] ?? 0);
    if (!shown.includes(skill)) return named;
    return {
      ...named,
      text: cutToFit(skill.text ?? "", Math.min(textChars, shareEach(shares.texts))),
      hash: cutToFit(skill.hash ?? "", nameChars),
      files: takeFitting(skill.files, shareEach(shares.files)),
    };
  });
  const others = skills.filter(({ name }) => !patched.has(name)).slice(0, maxSkills);
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
