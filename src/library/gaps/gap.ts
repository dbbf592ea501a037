import { compareText, makeId } from "../../base/index.ts";
import { foldCredits } from "../../lessons/index.ts";
import {
  type Artifact,
  type Format,
  getSessionId,
  itemId,
  type KeptArtifact,
  type LedgerEntry,
  type Origin,
  type StoredChange,
} from "../../records/index.ts";
import { type Ask, compareAsks, parseAsk } from "../../search/index.ts";
import { type PublishDeps, readHistory } from "../publish/changes.ts";

/** Sessions that must ask before a draft is made and before it goes live, or be handed the draft before it does. */
export const gapThresholds = { draftAsks: 2, activeAsks: 4, activeHits: 2 } as const;
/** Two prompts at least this similar ask for the same thing. */
const sameAsk = 0.45;
/** Wordings of a gap that new prompts are compared with: the first ones. */
const comparedWordings = 12;

export const rejectedForGood = "was rejected, and that is final";

type GapStatus = "pending" | "draft" | "active" | "rejected";

/** A prompt for which the library had nothing. */
export interface UnmatchedPrompt {
  readonly id: string;
  readonly session: string;
  readonly at: number;
  readonly text: string;
  readonly ask: Ask;
}

/** Something that people keep asking for in a project and no skill covers, with what was made of it. */
export interface GapView {
  /** The id of its first prompt. */
  readonly id: string;
  readonly project: string;
  readonly projectName: string;
  readonly root: string | null;
  /** In order of time; a session may have several. */
  readonly asks: readonly UnmatchedPrompt[];
  readonly state: GapState;
  /** When it was last asked for, or its draft was last handed over. */
  readonly neededAt: number;
  /** The agents whose sessions asked for it. */
  readonly formats: readonly Format[];
  /** Its draft, or its skill. */
  readonly kept: readonly KeptArtifact[];
  /** Every change that was planned or made for it. */
  readonly changes: readonly StoredChange[];
}

/** Where a gap stands. Each session counts once, so one busy session moves nothing alone. */
interface GapState {
  readonly status: GapStatus;
  /** Sessions that asked for it. */
  readonly asked: readonly string[];
  /** Sessions that were shown its draft, or used it. */
  readonly hit: readonly string[];
}

interface GapEvent {
  readonly type: "asked" | "hit" | "promoted" | "rejected";
  readonly session: string;
  readonly at: number;
}

/** Whether two asks are for the same thing. */
export function isSameAsk(a: Ask, b: Ask): boolean {
  return compareAsks(a, b) >= sameAsk;
}

/** The id that a gap has from an unmatched prompt. */
export function makeGapId({ project, key }: Pick<LedgerEntry, "project" | "key">): string {
  return makeId("g", `${project} ${key}`);
}

/** Whether an id is one of the gap's: an earlier prompt may turn up late, so all its prompts' ids are valid. */
export function hasGapId({ asks }: Pick<GapView, "asks">, id: string): boolean {
  return asks.some((asked) => asked.id === id);
}

/** Every gap, the latest asked for first. */
export async function listGaps({ store }: Pick<PublishDeps, "store">): Promise<GapView[]> {
  const history = await readHistory(store);
  // A change that the disk refused was never there, and may be tried again.
  const changes = history.changes.filter(
    ({ change, state }) => change.origin.kind === "gap" && state !== "dropped",
  );
  const { ledger } = store;
  const entries: LedgerEntry[] = [
    ...(await ledger.since("prompt.unmatched", 0)),
    ...(await ledger.since("gap.decided", 0)),
    ...(await ledger.since("skill.shown", 0)),
    ...(await ledger.since("skill.used", 0)),
    ...(await ledger.since("use.rated", 0)),
  ];
  const groups = groupEvents(entries, changes);
  if (groups.length === 0) return [];
  const projects = new Map((await store.projects.list()).map((row) => [row.id, row]));
  const formats = new Map<string, Format>(
    (await store.sessions.list()).map((session) => [getSessionId(session), session.format]),
  );
  const views = groups.map((group): GapView => {
    const { project, asks } = group;
    const known = projects.get(project);
    const isOwn = ({ origin }: Pick<Artifact, "origin">) => hasGapId(group, origin.id);
    return {
      ...{ id: asks[0]?.id ?? "", project, asks, ...foldEvents(group) },
      ...{ projectName: known?.name ?? project, root: known?.root ?? null },
      formats: [...new Set(asks.flatMap(({ session }) => formats.get(session) ?? []))],
      kept: history.kept.filter((one) => one.changes.some(isOwn)),
      changes: changes.filter(({ change }) => isOwn(change)),
    };
  });
  const lastAsk = ({ asks }: GapView) => asks.at(-1)?.at ?? 0;
  return views.sort((a, b) => lastAsk(b) - lastAsk(a) || (a.id < b.id ? -1 : 1));
}

/** Tells which origins of these are gaps that a person rejected. */
export async function findRejectedGaps(
  deps: Pick<PublishDeps, "store">,
  made: readonly Pick<Artifact, "origin">[],
): Promise<(origin: Origin) => boolean> {
  if (!made.some(({ origin }) => origin.kind === "gap")) return () => false;
  const rejected = (await listGaps(deps)).filter(({ state }) => state.status === "rejected");
  return ({ id }) => rejected.some((gap) => hasGapId(gap, id));
}

interface PromptGroup {
  readonly project: string;
  readonly asks: UnmatchedPrompt[];
  readonly wordings: Ask[];
  readonly events: GapEvent[];
}

/** Groups prompts into gaps with their events, in any entry order. `changes` link skills to their gaps. */
function groupEvents(entries: readonly LedgerEntry[], changes: readonly StoredChange[]): PromptGroup[] {
  const sorted = entries.toSorted(
    (a, b) =>
      (a.at ?? 0) - (b.at ?? 0) || compareText(a.session ?? "", b.session ?? "") || compareText(a.key, b.key),
  );
  const groups = groupPrompts(sorted);
  const byId = new Map(groups.flatMap((group) => group.asks.map(({ id }) => [id, group] as const)));
  const bySkill = new Map<string, PromptGroup>();
  for (const { change } of changes) {
    const group = byId.get(change.origin.id);
    for (const scopeId of group ? [group.project, "user"] : [])
      bySkill.set(itemId(scopeId, "skill", change.name), group as PromptGroup);
  }
  const credits = foldCredits(sorted);
  const isHarmed = (session: string, skill: string) =>
    credits.get(skill)?.ratings.some((one) => one.session === session && one.verdict === "harmful") ?? false;
  for (const entry of sorted) {
    const { session: id, key, type, data } = entry;
    const [session, at] = [id ?? key, entry.at ?? 0];
    if (type === "gap.decided") byId.get(data.gap)?.events.push({ type: data.decision, session, at });
    // A session that the draft harmed is no reason to make it live.
    else if ((type === "skill.shown" || type === "skill.used") && !isHarmed(session, data.skill))
      bySkill.get(data.skill)?.events.push({ type: "hit", session, at });
  }
  return groups;
}

/** Adds each prompt to the most similar gap of its project, in order of time. */
function groupPrompts(entries: readonly LedgerEntry[]): PromptGroup[] {
  const projects = new Map<string, PromptGroup[]>();
  const seen = new Set<string>();
  for (const { type, project, key, at, session, data } of entries) {
    if (type !== "prompt.unmatched" || project === null) continue;
    const { text } = data;
    const ask = parseAsk(text);
    // A forked or copied session has the same prompt at the same time.
    const moment = at === null ? key : `${project} ${at} ${text}`;
    if (ask === null || seen.has(moment)) continue;
    seen.add(moment);
    const id = makeGapId({ project, key });
    const asked = { id, session: session ?? key, at: at ?? 0, text, ask };
    const groups = projects.get(project) ?? [];
    projects.set(project, groups);
    const group = findNearest(groups, ask);
    if (!group) groups.push({ project, asks: [asked], wordings: [ask], events: [] });
    else {
      group.asks.push(asked);
      const isNew = group.wordings.every(({ sentence }) => sentence !== ask.sentence);
      if (isNew && group.wordings.length < comparedWordings) group.wordings.push(ask);
    }
  }
  return [...projects.values()].flat();
}

function findNearest(groups: readonly PromptGroup[], ask: Ask): PromptGroup | null {
  let best: { group: PromptGroup; likeness: number } | null = null;
  for (const group of groups) {
    const likeness = Math.max(...group.wordings.map((other) => compareAsks(other, ask)));
    if (likeness >= sameAsk && likeness > (best?.likeness ?? 0)) best = { group, likeness };
  }
  return best?.group ?? null;
}

function foldEvents({ asks, events }: PromptGroup): Pick<GapView, "state" | "neededAt"> {
  const asked = asks.map(({ session, at }) => ({ type: "asked", session, at }) as const);
  const inTime: GapEvent[] = [...asked, ...events].sort((a, b) => a.at - b.at);
  return {
    state: inTime.reduce(advance, { status: "pending", asked: [], hit: [] }),
    neededAt: inTime.findLast(({ type }) => type === "asked" || type === "hit")?.at ?? 0,
  };
}

/** The next state of a gap. Pending → draft → active by counts or a person's yes; rejected is final. */
function advance({ status, asked, hit }: GapState, { type, session }: GapEvent): GapState {
  const add = (sessions: readonly string[]) => [...new Set([...sessions, session])];
  const asks = type === "asked" ? add(asked) : asked;
  // Only a draft can be handed over.
  const hits = type === "hit" && status === "draft" ? add(hit) : hit;
  return { status: chooseStatus(status, type, asks.length, hits.length), asked: asks, hit: hits };
}

function chooseStatus(status: GapStatus, type: GapEvent["type"], asks: number, hits: number): GapStatus {
  if (status === "rejected" || type === "rejected") return "rejected";
  if (status === "active" || type === "promoted") return "active";
  const { draftAsks, activeAsks, activeHits } = gapThresholds;
  if (asks >= activeAsks || hits >= activeHits) return "active";
  return asks >= draftAsks ? "draft" : "pending";
}
