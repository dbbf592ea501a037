import { compareText, makeId } from "../../base/index.ts";
import { foldVerdicts } from "../../lessons/index.ts";
import { type EntryOf, itemId, type LedgerEntry } from "../../records/index.ts";
import { type Ask, compareAsks, parseAsk } from "../../search/index.ts";

/** Sessions that must ask before a draft is made and before it goes live, or be handed the draft before it does. */
export const gapThresholds = { draftAsks: 2, activeAsks: 4, activeHits: 2 } as const;
/** Two prompts at least this similar ask for the same thing. */
export const sameAsk = 0.45;
/** Wordings of a gap that new prompts are compared with: the first ones. */
const comparedWordings = 12;

export type GapStatus = "pending" | "draft" | "active" | "rejected";

/** Where a gap stands. Each session counts once, so one busy session moves nothing alone. */
export interface GapState {
  readonly status: GapStatus;
  /** Sessions that asked for it. */
  readonly asked: readonly string[];
  /** Sessions that were shown its draft, or used it. */
  readonly hit: readonly string[];
}

export type GapEvent =
  | { readonly type: "asked" | "hit"; readonly session: string }
  | { readonly type: "promoted" | "rejected" };

export const noGap: GapState = { status: "pending", asked: [], hit: [] };

/** The next state of a gap. Pending → draft → active by counts or a person's yes; rejected is final. */
export function advance(state: GapState, event: GapEvent): GapState {
  const asked = event.type === "asked" ? addSession(state.asked, event.session) : state.asked;
  // Only a draft can be handed over.
  const isHit = event.type === "hit" && state.status === "draft";
  const hit = isHit ? addSession(state.hit, event.session) : state.hit;
  return { status: nextStatus(state.status, event, asked.length, hit.length), asked, hit };
}

function nextStatus(status: GapStatus, event: GapEvent, asks: number, hits: number): GapStatus {
  if (status === "rejected" || event.type === "rejected") return "rejected";
  if (status === "active" || event.type === "promoted") return "active";
  const { draftAsks, activeAsks, activeHits } = gapThresholds;
  if (asks >= activeAsks || hits >= activeHits) return "active";
  return asks >= draftAsks ? "draft" : "pending";
}

function addSession(sessions: readonly string[], session: string): readonly string[] {
  return sessions.includes(session) ? sessions : [...sessions, session];
}

/** A prompt for which the library had nothing. */
export interface UnmatchedPrompt {
  readonly id: string;
  readonly session: string;
  readonly at: number;
  readonly text: string;
  readonly ask: Ask;
}

/** Something that people keep asking for in a project and no skill covers. */
export interface Gap {
  /** The id of its first prompt. */
  readonly id: string;
  readonly project: string;
  /** In order of time; a session may have several. */
  readonly asks: readonly UnmatchedPrompt[];
  readonly state: GapState;
  /** When it was last asked for, or its draft was last handed over. */
  readonly neededAt: number;
}

/** Whether an id is one of the gap's: an earlier prompt may turn up late, so all its prompts' ids are valid. */
export function hasGapId({ asks }: Pick<Gap, "asks">, id: string): boolean {
  return asks.some((asked) => asked.id === id);
}

/** Every gap in the ledger, whatever the order of its entries. `made` are the skills that were made of gaps. */
export function foldGaps(
  entries: Iterable<LedgerEntry>,
  made: readonly { readonly gap: string; readonly name: string }[] = [],
): Gap[] {
  const sorted = [...entries].sort(compareByTime);
  const groups = groupPrompts(sorted);
  const byId = new Map(groups.flatMap((group) => group.asks.map(({ id }) => [id, group] as const)));
  const bySkill = new Map<string, PromptGroup>();
  for (const { gap, name } of made) {
    const group = byId.get(gap);
    for (const scopeId of group ? [group.project, "user"] : [])
      bySkill.set(itemId(scopeId, "skill", name), group as PromptGroup);
  }
  const harmed = collectHarm(sorted);
  for (const entry of sorted) {
    const group =
      entry.type === "gap.decided" ? byId.get(entry.data.gap) : bySkill.get(getSkill(entry) ?? "");
    const event = readEvent(entry, harmed);
    if (event) group?.events.push({ event, at: entry.at ?? 0 });
  }
  return groups.map(({ project, asks, events }) => {
    const asked = asks.map(({ session, at }) => ({ at, event: { type: "asked", session } as const }));
    const inTime: TimedEvent[] = [...asked, ...events].sort((a, b) => a.at - b.at);
    return {
      id: asks[0]?.id ?? "",
      project,
      asks,
      state: inTime.reduce((state, { event }) => advance(state, event), noGap),
      neededAt: inTime.findLast(({ event }) => event.type === "asked" || event.type === "hit")?.at ?? 0,
    };
  });
}

interface TimedEvent {
  readonly at: number;
  readonly event: GapEvent;
}

interface PromptGroup {
  readonly project: string;
  readonly asks: UnmatchedPrompt[];
  readonly wordings: Ask[];
  readonly events: TimedEvent[];
}

function compareByTime(a: LedgerEntry, b: LedgerEntry): number {
  return (
    (a.at ?? 0) - (b.at ?? 0) || compareText(a.session ?? "", b.session ?? "") || compareText(a.key, b.key)
  );
}

/** Adds each prompt to the most similar gap of its project, in order of time. */
function groupPrompts(entries: readonly LedgerEntry[]): PromptGroup[] {
  const projects = new Map<string, PromptGroup[]>();
  const seen = new Set<string>();
  for (const entry of entries) {
    if (entry.type !== "prompt.unmatched" || entry.project === null || seen.has(entry.key)) continue;
    const asked = readPrompt(entry);
    // A forked or copied session has the same prompt at the same time.
    const moment = `${entry.project} ${entry.at} ${entry.data.text}`;
    if (asked === null || (entry.at !== null && seen.has(moment))) continue;
    seen.add(entry.key).add(moment);
    const groups = projects.get(entry.project) ?? [];
    projects.set(entry.project, groups);
    const group = findNearest(groups, asked.ask);
    if (!group) groups.push({ project: entry.project, asks: [asked], wordings: [asked.ask], events: [] });
    else {
      group.asks.push(asked);
      const isNew = group.wordings.every(({ sentence }) => sentence !== asked.ask.sentence);
      if (isNew && group.wordings.length < comparedWordings) group.wordings.push(asked.ask);
    }
  }
  return [...projects.values()].flat();
}

function readPrompt({
  key,
  session,
  at,
  project,
  data,
}: EntryOf<"prompt.unmatched">): UnmatchedPrompt | null {
  const ask = parseAsk(data.text);
  if (ask === null) return null;
  return { id: makeId("g", `${project} ${key}`), session: session ?? key, at: at ?? 0, text: data.text, ask };
}

function findNearest(groups: readonly PromptGroup[], ask: Ask): PromptGroup | null {
  let best: { group: PromptGroup; likeness: number } | null = null;
  for (const group of groups) {
    const likeness = Math.max(...group.wordings.map((other) => compareAsks(other, ask)));
    if (likeness >= sameAsk && likeness > (best?.likeness ?? 0)) best = { group, likeness };
  }
  return best?.group ?? null;
}

function getSkill(entry: LedgerEntry): string | null {
  return entry.type === "skill.shown" || entry.type === "skill.used" ? entry.data.skill : null;
}

function readEvent(entry: LedgerEntry, harmed: ReadonlySet<string>): GapEvent | null {
  if (entry.type === "gap.decided") return { type: entry.data.decision };
  const skill = getSkill(entry);
  const session = entry.session ?? entry.key;
  // A session that the draft harmed is no reason to make it live.
  return skill === null || harmed.has(`${session} ${skill}`) ? null : { type: "hit", session };
}

/** The pairs of session and skill that were last rated harmful; a person's rating goes before Knack's. */
function collectHarm(entries: readonly LedgerEntry[]): Set<string> {
  return new Set(
    [...foldVerdicts(entries)].flatMap(([id, judged]) =>
      judged.flatMap(({ session, verdict }) => (verdict === "harmful" ? `${session} ${id}` : [])),
    ),
  );
}
