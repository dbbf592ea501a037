import { type Ask, asksFor, likenessOfAsks } from "./ask.ts";
import { verdictsOf } from "./credit.ts";
import { idOf } from "./ids.ts";
import { itemId } from "./item.ts";
import type { EntryOf, LedgerEntry } from "./ledger.ts";
import { compare } from "./order.ts";
import { policy as defaults, type Policy } from "./policy.ts";

/** Where a gap stands. Sessions count once, so that one busy session moves nothing alone. */
export type GapState =
  /** It was asked for, and nothing exists. */
  | { readonly status: "pending"; readonly asked: readonly string[] }
  /** It was asked for again: a draft is made of what the sessions show, and its hits count. */
  | { readonly status: "draft"; readonly asked: readonly string[]; readonly hit: readonly string[] }
  | { readonly status: "active"; readonly asked: readonly string[]; readonly hit: readonly string[] }
  | { readonly status: "rejected"; readonly asked: readonly string[]; readonly hit: readonly string[] };

export type GapStatus = GapState["status"];

/** What happens to a gap. */
export type GapEvent =
  | { readonly type: "asked"; readonly session: string }
  /** Its draft was put before an agent, or used. */
  | { readonly type: "hit"; readonly session: string }
  | { readonly type: "promoted" }
  | { readonly type: "rejected" };

export const noGap: GapState = { status: "pending", asked: [] };

/** What becomes of a gap when something happens to it. */
export function advance(state: GapState, event: GapEvent, policy: Policy = defaults): GapState {
  const asked = event.type === "asked" ? withOne(state.asked, event.session) : state.asked;
  switch (state.status) {
    case "pending":
      // There is nothing yet that could be handed over.
      if (event.type === "rejected" || event.type === "promoted")
        return { status: event.type === "rejected" ? "rejected" : "active", asked, hit: [] };
      return asked.length >= policy.gap.draftAsks
        ? settled({ status: "draft", asked, hit: [] }, policy)
        : { status: "pending", asked };
    case "draft": {
      const hit = event.type === "hit" ? withOne(state.hit, event.session) : state.hit;
      if (event.type === "rejected") return { status: "rejected", asked, hit };
      if (event.type === "promoted") return { status: "active", asked, hit };
      return settled({ status: "draft", asked, hit }, policy);
    }
    case "active":
      return { ...state, status: event.type === "rejected" ? "rejected" : "active", asked };
    case "rejected":
      return { ...state, asked };
  }
}

function settled(draft: Extract<GapState, { status: "draft" }>, { gap }: Policy): GapState {
  const { asked, hit } = draft;
  return asked.length >= gap.activeAsks || hit.length >= gap.activeHits
    ? { status: "active", asked, hit }
    : draft;
}

function withOne(sessions: readonly string[], session: string): readonly string[] {
  return sessions.includes(session) ? sessions : [...sessions, session];
}

/** One prompt that found nothing. */
export interface Asked {
  /** The gap may go by any of its prompts' ids: one that was asked before all others may come to light late. */
  readonly id: string;
  readonly session: string;
  readonly at: number;
  readonly text: string;
  readonly ask: Ask;
}

/** Something that people keep asking for in a project and nothing in the library is for. */
export interface Gap {
  /** That of its first prompt. */
  readonly id: string;
  readonly project: string;
  /** In the order of time; a session may have several. */
  readonly asks: readonly Asked[];
  readonly state: GapState;
  /** When it was last asked for, or handed over. */
  readonly neededAt: number;
}

/** Whether an id means a gap, not an instinct. */
export function isGapId(id: string): boolean {
  return /^g[0-9a-z]{11}$/.test(id);
}

/** Whether a gap goes by an id. */
export function goesBy({ asks }: Pick<Gap, "asks">, id: string): boolean {
  return asks.some((asked) => asked.id === id);
}

/** A skill that was made of a gap, by the name that it had. */
export interface MadeOfGap {
  readonly gap: string;
  readonly name: string;
}

/** Every gap that the ledger adds up to; the order of entries does not matter. */
export function gapsOf(
  entries: Iterable<LedgerEntry>,
  made: readonly MadeOfGap[] = [],
  policy: Policy = defaults,
): Gap[] {
  const sorted = [...entries].sort(byTime);
  const groups = groupsOf(sorted, policy);
  const byId = new Map(groups.flatMap((group) => group.asks.map(({ id }) => [id, group] as const)));
  const bySkill = new Map(made.flatMap(({ gap, name }) => skillsOf(byId.get(gap), name)));
  const harmed = harmIn(sorted);
  for (const entry of sorted) {
    const group = entry.type === "gap.decided" ? byId.get(entry.data.gap) : bySkill.get(skillIn(entry) ?? "");
    const event = eventIn(entry, harmed);
    if (event) group?.events.push({ event, at: entry.at ?? 0 });
  }
  return groups.map(({ project, asks, events }) => {
    const inTime = [...asks.map(askedOf), ...events].sort((a, b) => a.at - b.at);
    return {
      id: asks[0]?.id ?? "",
      project,
      asks,
      state: inTime.reduce((state, { event }) => advance(state, event, policy), noGap),
      neededAt: inTime.findLast(({ event }) => event.type === "asked" || event.type === "hit")?.at ?? 0,
    };
  });
}

/** The ids under which a skill of a gap may be in the library. */
function skillsOf(group: Group | undefined, name: string): [string, Group][] {
  return group ? [group.project, "user"].map((realm) => [itemId(realm, "skill", name), group]) : [];
}

function skillIn(entry: LedgerEntry): string | null {
  return entry.type === "skill.shown" || entry.type === "skill.used" ? entry.data.skill : null;
}

interface Happening {
  readonly at: number;
  readonly event: GapEvent;
}

interface Group {
  readonly project: string;
  readonly asks: Asked[];
  /** The first of its asks that say it in different words: what others are compared with. */
  readonly wordings: Ask[];
  readonly events: Happening[];
}

function askedOf({ session, at }: Asked): Happening {
  return { at, event: { type: "asked", session } };
}

function byTime(a: LedgerEntry, b: LedgerEntry): number {
  return (a.at ?? 0) - (b.at ?? 0) || compare(a.session ?? "", b.session ?? "") || compare(a.key, b.key);
}

/** Puts each prompt to the gap that it is most like, in the order of time, so that arrival does not matter. */
function groupsOf(entries: readonly LedgerEntry[], policy: Policy): Group[] {
  const projects = new Map<string, Group[]>();
  const seen = new Set<string>();
  for (const entry of entries) {
    if (entry.type !== "prompt.unmatched" || entry.project === null || seen.has(entry.key)) continue;
    const asked = readAsk(entry, policy);
    // A session that was forked or copied tells of the same prompt at the same moment.
    const moment = `${entry.project} ${entry.at} ${entry.data.text}`;
    if (asked === null || (entry.at !== null && seen.has(moment))) continue;
    seen.add(entry.key).add(moment);
    const groups = projects.get(entry.project) ?? [];
    projects.set(entry.project, groups);
    const group = nearestGroup(groups, asked.ask, policy);
    if (!group) groups.push({ project: entry.project, asks: [asked], wordings: [asked.ask], events: [] });
    else {
      group.asks.push(asked);
      const isNew = group.wordings.every(({ sentence }) => sentence !== asked.ask.sentence);
      if (isNew && group.wordings.length < policy.gap.wordings) group.wordings.push(asked.ask);
    }
  }
  return [...projects.values()].flat();
}

function readAsk(
  { key, session, at, project, data }: EntryOf<"prompt.unmatched">,
  policy: Policy,
): Asked | null {
  const ask = asksFor(data.text, policy);
  if (ask === null) return null;
  return { id: idOf("g", `${project} ${key}`), session: session ?? key, at: at ?? 0, text: data.text, ask };
}

function nearestGroup(groups: readonly Group[], ask: Ask, policy: Policy): Group | null {
  let best: { group: Group; likeness: number } | null = null;
  for (const group of groups) {
    const likeness = Math.max(...group.wordings.map((other) => likenessOfAsks(other, ask, policy)));
    if (likeness >= policy.gap.same && likeness > (best?.likeness ?? 0)) best = { group, likeness };
  }
  return best?.group ?? null;
}

/** What an entry says happened to its gap. */
function eventIn(entry: LedgerEntry, harmed: ReadonlySet<string>): GapEvent | null {
  if (entry.type === "gap.decided") return { type: entry.data.decision };
  const skill = skillIn(entry);
  const session = entry.session ?? entry.key;
  // Nobody wants more of what did harm.
  return skill === null || harmed.has(`${session} ${skill}`) ? null : { type: "hit", session };
}

/** Which skills did harm in which sessions, by the last word on it: a person's before Knack's. */
function harmIn(entries: readonly LedgerEntry[]): Set<string> {
  return new Set(
    [...verdictsOf(entries)].flatMap(([id, judged]) =>
      judged.flatMap(({ session, verdict }) => (verdict === "harmful" ? `${session} ${id}` : [])),
    ),
  );
}
