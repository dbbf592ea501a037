import { asksFor } from "../core/ask.ts";
import type { Change } from "../core/change.ts";
import { goesBy } from "../core/gap.ts";
import type { Actor, LedgerEntry } from "../core/ledger.ts";
import { policy as defaults } from "../core/policy.ts";
import { runOf } from "../core/session.ts";
import { render } from "../core/skill.ts";
import { archived, pinnedPlaces } from "./archive.ts";
import { type AsksRoom, withRoom } from "./curate.ts";
import { composeGap, type GapDeps, type GapView, gaps, rejectedForGood } from "./gap.ts";
import { type Draft, draftOf, planGap } from "./gap-plan.ts";
import { unmatchedKey } from "./hear.ts";
import { eventsOf, type SessionView } from "./inspect.ts";
import { gapDecided, type Keeping, perform } from "./keep.ts";
import { withoutOtherAgents } from "./learn.ts";
import { note } from "./note.ts";
import type { Store } from "./ports.ts";
import type { Settled } from "./publish.ts";
import { planRemoval, shelf } from "./shelf.ts";
import { no, type Plan } from "./step.ts";

/** What decides, beside a gap itself, whether something is made of it. */
export interface Ground {
  /**
   * Whether something live in the library is for a text, asked in a project. Drafts do not count: where no hook is,
   * they reach nobody.
   */
  readonly isMatched: (text: string, project: string) => Promise<boolean>;
  /** Whether there is room for one more skill, and what would go for it. */
  readonly roomFor: AsksRoom;
  /** Why nothing is made for a project, if there is a reason. */
  readonly refuses?: (root: string | null, project: string) => Promise<string | null>;
}

export interface AdvanceOptions extends Ground {
  /** Sessions that were just read: their prompts count too where no hook was there to see them. */
  readonly sessions?: readonly SessionView[];
  /** When to stop: the rest is left for another time. */
  readonly until?: () => boolean;
}

/** What came of looking at the gaps. */
export interface Advanced {
  /** Prompts of sessions without hooks that found nothing. */
  readonly noted: number;
  /** Drafts written, and skills that went live. */
  readonly outcomes: readonly Settled[];
  /** Gaps that are due and for which nothing could be made yet, and why. */
  readonly waiting: readonly { readonly gap: GapView; readonly because: string }[];
}

/**
 * Brings gaps forward: notes what nobody noted, makes drafts of what was asked for again, and lets those go live that
 * were asked for or used often enough. May be called again and be killed at any point.
 */
export async function advanceGaps(
  deps: GapDeps,
  { sessions = [], until = () => false, ...ground }: AdvanceOptions,
): Promise<Advanced> {
  const noted = await noteUnmatched(deps, sessions, ground.isMatched, until);
  const outcomes: Settled[] = [];
  const waiting: { gap: GapView; because: string }[] = [];
  for (const gap of await gaps(deps)) {
    if (until()) break;
    if (gap.state.status === "pending" || gap.state.status === "rejected") continue;
    const keeping = await perform(
      deps,
      () => planOwnGap(deps, gap, ground),
      "knack",
      () => [],
    );
    if (keeping.kept) outcomes.push(...keeping.outcomes.filter(({ done, already }) => done && !already));
    else waiting.push({ gap, because: keeping.because });
  }
  return { noted, outcomes, waiting };
}

/** What is to be there of a gap: a draft, or a skill; or why nothing is done. */
type Due = { readonly reach: "draft" | "me" } | { readonly because: string };

/** What a gap has come to. What a person took away stays away; what was put away comes back when it is asked for. */
function dueOf(gap: GapView): Due {
  const { state, kept, changes, asks, neededAt } = gap;
  const reach = state.status === "active" ? "me" : "draft";
  const last = changes.at(-1);
  if (!last) return { reach };
  if (kept.length === 0) {
    const { change, at } = last;
    if (change.why !== "archive") return { because: "it was taken away" };
    if (change.replacedBy !== undefined) return { because: "it was merged into another skill" };
    // It shows first whether it is still good; agents are told of it where it fits.
    return (asks.at(-1)?.at ?? 0) > at
      ? { reach: "draft" }
      : { because: `${change.name} was put away, and nobody asked for it since` };
  }
  if (!cameBack(gap)) return { reach };
  const placed = changes.findLastIndex(({ change }) => change.reach !== "draft" && change.after !== null);
  const demotion = changes.slice(placed + 1).find(({ change }) => isDemotion(change))?.change;
  if (demotion)
    return { because: `${demotion.name} is a draft again (${demotion.because}), and waits for your yes` };
  // A draft that came back is needed once more before it is live again.
  return { reach: kept.every(({ at }) => neededAt > at) ? reach : "draft" };
}

/** Whether what there is of a gap was put away before. A person may have changed it then: its words stay. */
function cameBack({ changes }: GapView): boolean {
  return changes.some(({ change }) => change.why === "archive");
}

/** Whether something live is made a draft again; what is made anew needs no reason. */
function isDemotion({ why, reach, because }: Change): boolean {
  return why === "create" && reach === "draft" && because !== undefined;
}

/** What Knack does for a gap by itself; or why it does nothing. */
async function planOwnGap(deps: GapDeps, gap: GapView, ground: Ground): Promise<Plan> {
  const { isMatched, roomFor, refuses = async () => null } = ground;
  const nothing: Plan = { ok: true, steps: [], concerns: [], belongsTo: null };
  const gone = await deletedOf(deps, gap);
  if (gone !== null) return no(gone);
  if (isLive(gap)) return nothing;
  const due = dueOf(gap);
  if ("because" in due) return no(due.because);
  const pinned = await pinnedPlaces(deps.store, gap.kept);
  const held = gap.kept.find(({ path }) => pinned.has(path));
  if (held) return no(`${held.name} is pinned`);
  const refusal = await refuses(gap.root, gap.project);
  if (refusal !== null) return no(refusal);
  const draft = await draftOf(deps, gap);
  const isLiving = due.reach === "me";
  if ((isLiving || draft === null) && (await isMatched(gap.asks.at(-1)?.text ?? "", gap.project)))
    return no("something in the library is for it now");
  const isSettled = draft?.edited || cameBack(gap) || (draft?.evidence ?? 0) >= sessionsOf(gap);
  if (!isLiving && draft !== null && isSettled) return nothing;
  const text = await textFor(deps, gap, draft, isLiving ? "active" : "draft");
  if (typeof text !== "string") return text;
  const planned = await planGap(deps, gap, { reach: due.reach, actor: "knack", text });
  return isLiving && planned.ok ? withRoom(planned, roomFor, gap.project) : planned;
}

function isLive({ kept }: GapView): boolean {
  return kept.some(({ reach }) => reach !== "draft");
}

/** What a person deleted of a gap's, in words; null where all of it is there. */
async function deletedOf({ library }: GapDeps, { kept }: GapView): Promise<string | null> {
  for (const { path, name, reach } of kept)
    if ((await library.read(path)) === null)
      return reach === "draft" ? "its draft was deleted by hand" : `${name} was deleted by hand`;
  return null;
}

/** The sessions that a draft can show. */
function sessionsOf({ state }: GapView): number {
  return Math.min(state.asked.length, defaults.gap.sessions);
}

/** The text that a gap's skill gets: a person's words where they changed it, else what the sessions show. */
async function textFor(
  deps: GapDeps,
  gap: GapView,
  draft: Draft | null,
  quality: "draft" | "active",
): Promise<string | Extract<Plan, { ok: false }>> {
  if (draft !== null && quality === "active" && (draft.edited || cameBack(gap))) return draft.text;
  const composed = await composeGap(deps, gap, quality);
  if (composed.ok) return render(composed.skill);
  if (draft !== null) return draft.text;
  // Sessions are not kept for ever; what was once made of them is.
  const old = (await archived(deps)).find((one) => goesBy(gap, one.instinct) && one.replacedBy === undefined);
  if (old) return old.text;
  return { ok: false, because: composed.because };
}

/** Notes the prompts of sessions that no hook saw and for which the library has nothing. */
async function noteUnmatched(
  { store, policy = defaults }: GapDeps,
  sessions: readonly SessionView[],
  isMatched: AdvanceOptions["isMatched"],
  until: () => boolean,
): Promise<number> {
  if (sessions.length === 0) return 0;
  const hooked = await hookedRuns(store);
  let noted = 0;
  for (const session of sessions) {
    if (until()) break;
    if (hooked.has(runOf(session))) continue;
    const entries: LedgerEntry[] = [];
    for (const event of withoutOtherAgents(session, await eventsOf(store, session))) {
      if (event.kind !== "prompt" || asksFor(event.text) === null) continue;
      const text = event.text.slice(0, policy.gap.keptChars);
      if (await isMatched(text, session.project.id)) continue;
      entries.push(unmatched(session, text, event.at));
    }
    if (entries.length > 0) noted += (await store.transaction((tx) => note(tx, entries))).length;
  }
  return noted;
}

function unmatched(session: SessionView, text: string, at: number | null): LedgerEntry {
  const run = runOf(session);
  return {
    at: at ?? session.startedAt,
    project: session.project.id,
    session: run,
    actor: "knack",
    type: "prompt.unmatched",
    key: unmatchedKey(run, text),
    data: { text },
  };
}

/** Sessions in which hooks put something before the agent, or held it back: they noted what found nothing, too. */
async function hookedRuns({ ledger }: Store): Promise<Set<string>> {
  const entries = [
    ...(await ledger.since("skill.shown", 0)),
    ...(await ledger.since("lesson.shown", 0)),
    ...(await ledger.since("match.withheld", 0)),
  ];
  return new Set(entries.flatMap(({ session }) => session ?? []));
}

/** What making a gap's skill live now would do. */
export async function planPromotion(deps: GapDeps, gap: GapView): Promise<Plan> {
  const { status } = gap.state;
  if (status === "rejected") return no(`it ${rejectedForGood}`);
  if (isLive(gap)) return no((await deletedOf(deps, gap)) ?? "it is live already");
  const draft = await draftOf(deps, gap);
  const text = await textFor(deps, gap, draft, "active");
  if (typeof text !== "string") return text;
  return planGap(deps, gap, { reach: "me", actor: "person", text });
}

/** Makes a gap's skill live because a person says so. */
export function promoteGap(deps: GapDeps, gap: GapView): Promise<Keeping> {
  return perform(
    deps,
    () => planPromotion(deps, gap),
    "person",
    () => [gapDecided(gap.id, "promoted", "person", deps.clock.now())],
  );
}

/** What taking away everything that was made of a gap would do. */
export async function planGapRejection(deps: GapDeps, gap: GapView): Promise<Plan> {
  const own = (await shelf(deps)).filter(({ instinct }) => goesBy(gap, instinct));
  return planRemoval(deps, own);
}

/** Takes away what was made of a gap, and never makes it again. */
export function rejectGap(deps: GapDeps, gap: GapView, actor: Actor = "person"): Promise<Keeping> {
  return perform(
    deps,
    () => planGapRejection(deps, gap),
    actor,
    () => [gapDecided(gap.id, "rejected", actor, deps.clock.now())],
  );
}

/** Why nothing is made of a gap that is due, by what would be done for it now; null where nothing is in the way. */
export async function whyNoDraft(deps: GapDeps, gap: GapView, ground: Ground): Promise<string | null> {
  const planned = await planOwnGap(deps, gap, ground);
  return planned.ok ? null : planned.because;
}
