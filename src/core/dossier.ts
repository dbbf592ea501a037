import { type Event, refOf, shorten } from "./event.ts";
import { between, fitted, fitting, homeless, oneLine, sizeWithin } from "./fence.ts";
import type { Stretch, Window } from "./nudge.ts";
import { omittedFrom } from "./omission.ts";
import type { Outlined } from "./outline.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import type {
  Dossier,
  IncludedEvent,
  Lead,
  OmittedSpan,
  ReviewedSkill,
  Salience,
  TimelineEntry,
} from "./review.ts";
import { chosen, type Salient, salientIn, spread } from "./salience.ts";
import type { Signal } from "./signal.ts";
import { several } from "./words.ts";

/** What a dossier is made of, before any event is read in full. */
export interface Material {
  readonly project: string;
  readonly window: Window;
  /** For each stretch of the window, in its order, its events in theirs. */
  readonly outlines: readonly (readonly Outlined[])[];
  /** With the refs of the dossier, as leads have them. */
  readonly signals: readonly Signal[];
  readonly leads: readonly Lead[];
  readonly skills: readonly ReviewedSkill[];
}

/** An event of a window by the name that a dossier has for it. */
export interface Place {
  /** Which of the window's stretches. */
  readonly stretch: number;
  /** `e17`. */
  readonly ref: string;
}

/** `s1.e17`. */
export function dossierRef({ stretch, ref }: Place): string {
  return `${nameOf(stretch)}.${ref}`;
}

/** Where the event of a dossier stands; null for what names none. */
export function placeOf(id: string): Place | null {
  const [, stretch, ref] = /^s([1-9]\d{0,5})\.(e[1-9]\d{0,9})$/.exec(id) ?? [];
  return stretch === undefined || ref === undefined ? null : { stretch: Number(stretch) - 1, ref };
}

/** The sessions of a window by the names they go by in its dossier. */
function nameOf(stretch: number): string {
  return `s${stretch + 1}`;
}

/** The refs of a session as a dossier has them; none where the window does not have the session, by either name. */
export function refsIn({ stretches }: Window, session: string, refs: readonly string[]): string[] {
  const stretch = stretches.findIndex((one) => one.session === session || one.run === session);
  return stretch < 0 ? [] : refs.map((ref) => dossierRef({ stretch, ref }));
}

/** What is told of a window: which of its events, and why. */
export interface Choice {
  /** In the order of the window, as far as its sessions are told. */
  readonly events: readonly Outlined[];
  /** By the places of those events: what goes by which name. */
  readonly ids: (at: number) => string;
  readonly stretches: readonly { readonly index: number; readonly start: number }[];
  readonly salient: Salient;
  /** Few enough to be told whole, if their words are. */
  readonly mayBeWhole: boolean;
  /** Everything that has to be read, in no order. */
  readonly wanted: readonly Place[];
}

/** Looks at all events of a window, without their words, and says which are to be read. */
export function choose(material: Material, policy: Policy = defaults): Choice {
  const { review } = policy;
  const stretches: { index: number; start: number }[] = [];
  const events: Outlined[] = [];
  for (const index of sessionsTold(material, policy)) {
    const outline = material.outlines[index] ?? [];
    if (outline.length > 0) stretches.push({ index, start: events.length });
    for (const event of outline) events.push(event);
  }
  const placed = (at: number): Place => ({
    stretch: stretches.findLast(({ start }) => start <= at)?.index ?? 0,
    ref: refOf(events[at]?.n ?? 0),
  });
  const ids = (at: number) => dossierRef(placed(at));
  const starts = new Set(stretches.map(({ start }) => start));
  const pointed = placesOf(pointedTo(material, policy), stretches, material);
  const salient = salientIn(events, { starts, pointed }, policy);
  const most = Math.min(review.events, review.timeline);
  const mayBeWhole = events.length <= most;
  const places = mayBeWhole ? events.map((_, at) => at) : chosen(salient.kinds, most);
  return { events, ids, stretches, salient, mayBeWhole, wanted: places.map(placed) };
}

/** The events that signals and leads name, as far as those are told. */
function pointedTo({ signals, leads }: Material, { review }: Policy): string[] {
  const told = [...signals.slice(0, review.signals), ...leads.slice(0, review.leads)];
  return [...new Set(told.flatMap(({ refs }) => refs.slice(0, review.refs)))];
}

function placesOf(
  ids: readonly string[],
  stretches: readonly { readonly index: number; readonly start: number }[],
  { outlines }: Material,
): Set<number> {
  const found = new Set<number>();
  for (const id of ids) {
    const place = placeOf(id);
    const told = stretches.find(({ index }) => index === place?.stretch);
    if (place === null || told === undefined) continue;
    const at = indexOf(outlines[told.index] ?? [], Number(place.ref.slice(1)));
    if (at >= 0) found.add(told.start + at);
  }
  return found;
}

/** Where an event stands in an outline, which is in the order of their numbers. */
function indexOf(outline: readonly Outlined[], n: number): number {
  let [low, high] = [0, outline.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = outline[middle]?.n ?? 0;
    if (found === n) return middle;
    if (found < n) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

/** The sessions that are told of, where there are too many: those that are pointed to, then the longest, of equals the latest. */
function sessionsTold(material: Material, policy: Policy): number[] {
  const pointed = new Set(pointedTo(material, policy).map((id) => placeOf(id)?.stretch));
  const weight = (index: number) =>
    (pointed.has(index) ? 2 ** 30 : 0) + (material.outlines[index]?.length ?? 0);
  return material.window.stretches
    .map((_, index) => index)
    .sort((a, b) => weight(b) - weight(a) || b - a)
    .slice(0, policy.nudge.sessions)
    .sort((a, b) => a - b);
}

/**
 * Everything that a reviewer is given, within the characters it may have. All events where they fit; otherwise what
 * says most, from all over the window, and of the rest how much it is.
 */
export function dossierOf(
  material: Material,
  choice: Choice,
  /** The chosen events by their names in the dossier. */
  events: ReadonlyMap<string, Event>,
  policy: Policy = defaults,
): Dossier {
  const frame = frameOf(material, choice, policy);
  const room = policy.review.chars - sizeWithin(frame) - policy.review.formChars;
  const telling = tellingOf(choice, events);
  const whole = choice.mayBeWhole ? wholeOf(choice, telling, room, frame.omitted.length, policy) : null;
  if (whole !== null) return { ...frame, ...whole };
  const { review } = policy;
  const mostSpans = Math.min(review.spans, choice.wanted.length + choice.stretches.length);
  const spansRoom = mostSpans * (review.summaryChars + review.spanChars);
  const indexRoom = Math.floor(review.chars * review.shares.timeline);
  const places = placesFor(choice, telling, room - spansRoom - indexRoom, policy);
  const isTold = new Set(places);
  const index = indexBeside(choice, isTold, indexRoom, policy);
  const spans = omittedFrom(choice, isTold, policy);
  const rest = sizeOf(index) + spans.reduce((sum, span) => sum + sizeWithin(span) + between, 0);
  const told = atLength(places, telling, room - rest, policy);
  return {
    ...frame,
    timeline: [...told, ...index].sort((a, b) => a.at - b.at).map(({ entry }) => entry),
    included: told.sort((a, b) => a.at - b.at).map(({ event }) => event),
    omitted: [...spans, ...frame.omitted],
    whole: spans.length === 0 && frame.omitted.length === 0,
  };
}

/** An event as it is told: in the timeline, and in full. */
interface Told {
  readonly at: number;
  readonly entry: TimelineEntry;
  readonly event: IncludedEvent;
  readonly size: number;
}

type Telling = (some: readonly number[], length: Length) => Told[];

/** Characters of what people said, what went wrong and what is pointed to; and of the rest. */
interface Length {
  readonly main: number;
  readonly rest: number;
}

const isMain: ReadonlySet<Salience> = new Set([
  "signal-ref",
  "prompt",
  "error",
  "rejected",
  "recovery",
  "retry",
] satisfies Salience[]);

/** Tells events at a length; their words are looked at once, however often they are told. */
function tellingOf(choice: Choice, events: ReadonlyMap<string, Event>): Telling {
  const known = new Map([...events].map(([id, event]) => [id, wordsOf(event)]));
  return (some, length) =>
    some.flatMap((at) => {
      const id = choice.ids(at);
      const [words, outline] = [known.get(id), choice.events[at]];
      if (words === undefined || outline === undefined) return [];
      const entry = entryOf(id, outline);
      const reason = choice.salient.reasons[at] ?? "room";
      const event = { id, reason, detail: detailIn(words, isMain.has(reason) ? length.main : length.rest) };
      return [{ at, entry, event, size: sizeWithin(entry) + sizeWithin(event) + 2 * between }];
    });
}

function sizeOf(told: readonly { readonly size: number }[]): number {
  return told.reduce((sum, { size }) => sum + size, 0);
}

function entryOf(id: string, { kind, tool, outcome }: Outlined): TimelineEntry {
  return { id, kind, tool: tool === null ? null : fitted(tool, defaults.review.toolChars), outcome };
}

/** An event in words, at whatever length: what was said, or what was called and what came of it. */
interface Words {
  readonly asked: string;
  readonly came: string;
}

function wordsOf({ kind, command, input, exitCode, text }: Event): Words {
  const words = homeless(shorten(text, longest)).trim();
  if (kind !== "call") return { asked: "", came: words };
  const asked = homeless(shorten(command ?? (input === null ? "" : JSON.stringify(input)), longest)).trim();
  return { asked, came: exitCode === null || exitCode === 0 ? words : `exit code ${exitCode}\n${words}` };
}

/** An event at its length: a call has half of it at least, if it is that long. */
export function detailOf(event: Event, most: number): string {
  return detailIn(wordsOf(event), most);
}

function detailIn({ asked, came }: Words, most: number): string {
  if (asked === "" || came === "") return fitted(asked || came, most);
  const half = Math.floor(most / 2);
  const call = fitted(asked, Math.max(half, most - came.length - arrow.length));
  const output = fitted(came, most - (sizeWithin(call) - 2) - sizeWithin(arrow) + 2);
  return `${call}${arrow}${output}`;
}

const arrow = "\n→ ";
/** More of a text is never told, so that more of it need not be looked at. */
const longest = defaults.keep.eventChars;

/** The whole window, where its words fit. */
function wholeOf(
  { events }: Choice,
  telling: Telling,
  room: number,
  left: number,
  { keep, review }: Policy,
): Pick<Dossier, "timeline" | "included" | "whole"> | null {
  const all = events.map((_, at) => at);
  for (const most of [keep.eventChars, review.eventChars]) {
    const told = telling(all, { main: most, rest: most });
    if (told.length < all.length) return null;
    if (sizeOf(told) <= room)
      return {
        timeline: told.map(({ entry }) => entry),
        included: told.map(({ event }) => event),
        whole: left === 0,
      };
  }
  return null;
}

/** As many of what is worth telling as fit in few words; of a window that was read whole, then of the rest. */
function placesFor(
  { salient, events, mayBeWhole }: Choice,
  telling: Telling,
  room: number,
  { review }: Policy,
): number[] {
  const rest = mayBeWhole ? events.flatMap((_, at) => (salient.reasons[at] ? [] : at)) : [];
  const kinds = [...salient.kinds, rest];
  const few = { main: review.mainChars, rest: review.leastChars };
  let best: number[] = [];
  for (let [low, high] = [0, Math.min(review.events, review.timeline)]; low <= high; ) {
    const middle = (low + high) >> 1;
    const told = telling(chosen(kinds, middle), few);
    const fits = sizeOf(told) <= room;
    if (fits) best = told.map(({ at }) => at);
    if (fits) low = middle + 1;
    else high = middle - 1;
  }
  return best;
}

/** Events in as many words as there is room for. */
function atLength(places: readonly number[], telling: Telling, room: number, { review }: Policy): Told[] {
  for (
    let main: number = review.eventChars;
    main > review.mainChars;
    main = Math.floor(main * review.shrink)
  ) {
    const told = telling(places, { main, rest: Math.max(review.leastChars, Math.floor(main / 2)) });
    if (sizeOf(told) <= room) return told;
  }
  return telling(places, { main: review.mainChars, rest: review.leastChars });
}

/** Events of which only the index tells, from all over the window, as far as there is room for them. */
function indexBeside(
  { events, ids }: Choice,
  told: ReadonlySet<number>,
  room: number,
  { review }: Policy,
): Pick<Told, "at" | "entry" | "size">[] {
  const rest: number[] = [];
  for (let at = 0; at < events.length; at++) if (!told.has(at)) rest.push(at);
  let left = room;
  const found: Pick<Told, "at" | "entry" | "size">[] = [];
  for (const at of spread(rest, Math.max(0, review.timeline - told.size))) {
    const entry = entryOf(ids(at), events[at] as Outlined);
    const size = sizeWithin(entry) + between;
    left -= size;
    if (left < 0) break;
    found.push({ at, entry, size });
  }
  return found;
}

// --- What stands around the events ---

/** A dossier before its events are put in: everything in it has its length, whatever it was made from. */
function frameOf(material: Material, choice: Choice, policy: Policy): Dossier {
  const { review } = policy;
  const { window, outlines } = material;
  const sessions = choice.stretches.flatMap(({ index }) => {
    const stretch = window.stretches[index] as Stretch;
    const outline = outlines[index] ?? [];
    const [first, last] = [outline[0]?.n ?? stretch.from, outline.at(-1)?.n ?? stretch.to];
    return [
      { name: nameOf(index), run: fitted(stretch.run, nameChars), from: refOf(first), to: refOf(last) },
    ];
  });
  const room = Math.floor((review.chars * review.shares.told) / 2);
  return {
    scope: {
      kind: "foreground",
      project: fitted(homeless(material.project), nameChars),
      sessions,
      startedAt: timeOf(window.since),
      finishedAt: timeOf(window.until),
    },
    leads: fitting(
      material.leads.slice(0, review.leads).map((one) => toldLead(one, policy)),
      room,
    ),
    signals: fitting(
      material.signals.slice(0, review.signals).map((one) => toldSignal(one, policy)),
      room,
    ),
    timeline: [],
    included: [],
    omitted: untold(material, choice),
    skills: skillsTold(material, policy),
    whole: false,
  };
}

const { nameChars, refChars } = defaults.review;

function timeOf(at: number): string | null {
  return Number.isFinite(at) && Math.abs(at) < 8.64e15 ? new Date(at).toISOString() : null;
}

/** Sessions of the window that are not told of at all. */
function untold({ window, outlines }: Material, { stretches }: Choice): OmittedSpan[] {
  const told = new Set(stretches.map(({ index }) => index));
  const rest = window.stretches.flatMap((_, index) =>
    told.has(index) || (outlines[index]?.length ?? 0) === 0 ? [] : index,
  );
  const [first, last] = [rest[0], rest.at(-1)];
  if (first === undefined || last === undefined) return [];
  const count = rest.reduce((sum, index) => sum + (outlines[index]?.length ?? 0), 0);
  return [{ range: [nameOf(first), nameOf(last)], count, summary: several(rest.length, "shorter session") }];
}

function toldLead(lead: Lead, { review }: Policy): Lead {
  const { why, refs } = lead;
  const rest = { why: oneLine(homeless(why), review.whyChars), refs: someOf(refs, review.refs) };
  return lead.do === "create"
    ? { do: "create", hint: oneLine(homeless(lead.hint), review.hintChars), ...rest }
    : { do: "patch", skill: fitted(lead.skill, nameChars), ...rest };
}

function toldSignal(signal: Signal, { review }: Policy): Signal {
  const refs = someOf(signal.refs, review.refs);
  return signal.kind === "create"
    ? {
        ...signal,
        nameHint: oneLine(signal.nameHint, review.hintChars),
        refs,
        summary: oneLine(homeless(signal.summary), review.whyChars),
      }
    : {
        ...signal,
        skill: fitted(signal.skill, nameChars),
        refs,
        hint: oneLine(homeless(signal.hint), review.whyChars),
      };
}

function someOf(refs: readonly string[], most: number): string[] {
  return refs.slice(0, most).map((ref) => fitted(ref, refChars));
}

/** The skills that there are: those that may be changed with their texts, the others by name, with as much about each as there is room for. */
function skillsTold({ skills, leads }: Material, { review }: Policy): ReviewedSkill[] {
  const patched = new Set(
    leads.slice(0, review.leads).flatMap((one) => (one.do === "patch" ? one.skill : [])),
  );
  const isPatched = ({ name }: ReviewedSkill) => patched.has(name);
  const open = skills.filter(isPatched).slice(0, review.leads);
  const others = skills.filter((skill) => !isPatched(skill));
  const shown = open.filter(({ text, hash }) => text !== null && hash !== null);
  const textRoom = Math.floor((review.chars * review.shares.texts) / Math.max(1, shown.length));
  const textChars = Math.min(review.textChars, textRoom);
  const fileRoom = Math.floor((review.chars * review.shares.files) / Math.max(1, shown.length));
  const first = open.map((skill): ReviewedSkill => {
    const isShown = shown.includes(skill);
    return {
      ...named(skill, review.descriptionChars),
      text: isShown ? fitted(skill.text ?? "", textChars) : null,
      hash: isShown ? fitted(skill.hash ?? "", nameChars) : null,
      files: isShown ? fitting(skill.files.slice(0, review.listedFiles), fileRoom) : [],
    };
  });
  const room = Math.floor(review.chars * review.shares.skills);
  const rest = others.slice(0, Math.max(0, review.skills - first.length));
  for (
    let chars: number = review.descriptionChars;
    chars >= review.leastDescription;
    chars = Math.floor(chars / 2)
  ) {
    const list = rest.map((skill) => named(skill, chars));
    if (list.reduce((sum, one) => sum + sizeWithin(one) + between, 0) <= room) return [...first, ...list];
  }
  return [
    ...first,
    ...fitting(
      rest.map((skill) => named(skill, 0)),
      room,
    ),
  ];
}

function named({ name, owner, description, draft }: ReviewedSkill, chars: number): ReviewedSkill {
  return {
    name: fitted(name, nameChars),
    owner,
    description: oneLine(homeless(description), chars),
    draft,
    text: null,
    hash: null,
    files: [],
  };
}
