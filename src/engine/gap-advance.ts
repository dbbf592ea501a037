import { asksFor } from "../core/ask.ts";
import { goesBy } from "../core/gap.ts";
import type { Actor, LedgerEntry } from "../core/ledger.ts";
import { policy as defaults } from "../core/policy.ts";
import { runOf } from "../core/session.ts";
import { render } from "../core/skill.ts";
import { pinnedPlaces } from "./archive.ts";
import { type AsksRoom, withRoom } from "./curate.ts";
import { composeGap, type GapDeps, type GapView, gaps } from "./gap.ts";
import { type Draft, draftOf, planGap } from "./gap-plan.ts";
import { unmatchedKey } from "./hear.ts";
import { eventsOf, type SessionView } from "./inspect.ts";
import { gapDecided, type Keeping, perform } from "./keep.ts";
import { withoutOtherAgents } from "./learn.ts";
import { note } from "./note.ts";
import type { Store } from "./ports.ts";
import type { Settled } from "./publish.ts";
import { planRemoval, shelf } from "./shelf.ts";
import { historyOf, no, type Plan } from "./step.ts";

export interface AdvanceOptions {
  /** Sessions that were just read: their prompts count too where no hook was there to see them. */
  readonly sessions?: readonly SessionView[];
  /**
   * Whether something live in the library is for a text, asked in a project. Drafts do not count: where no hook is,
   * they reach nobody.
   */
  readonly isMatched: (text: string, project: string) => Promise<boolean>;
  /** Whether there is room for one more skill, and what would go for it. */
  readonly roomFor: AsksRoom;
  /** Why nothing is made for a project, if there is a reason. */
  readonly refuses?: (root: string | null, project: string) => Promise<string | null>;
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
  { sessions = [], isMatched, roomFor, refuses = async () => null, until = () => false }: AdvanceOptions,
): Promise<Advanced> {
  const pinned = await pinnedPlaces(deps.store, (await historyOf(deps.store)).kept);
  const noted = await noteUnmatched(deps, sessions, isMatched, until);
  const outcomes: Settled[] = [];
  const waiting: { gap: GapView; because: string }[] = [];
  for (const gap of await gaps(deps)) {
    if (until()) break;
    if (gap.kept.some(({ path }) => pinned.has(path))) continue;
    if (!isDue(gap) || (await refuses(gap.root, gap.project)) !== null) continue;
    const isNew = gap.changes.length === 0 || gap.state.status === "active";
    const covered = isNew && (await isMatched(gap.asks.at(-1)?.text ?? "", gap.project));
    const keeping: Keeping = covered
      ? { kept: false, because: "something in the library is for it now" }
      : await perform(
          deps,
          () => planOwnGap(deps, gap, roomFor),
          "knack",
          () => [],
        );
    if (keeping.kept) outcomes.push(...keeping.outcomes.filter(({ done, already }) => done && !already));
    else waiting.push({ gap, because: keeping.because });
  }
  return { noted, outcomes, waiting };
}

/** Whether there is something to make that was not made: what a person took away stays away. */
function isDue({ state, kept, changes }: GapView): boolean {
  if (state.status === "pending" || state.status === "rejected") return false;
  if (changes.some(({ change }) => change.reach !== "draft")) return false;
  return changes.length === 0 || kept.length > 0;
}

/** What Knack does for a gap by itself. */
async function planOwnGap(deps: GapDeps, gap: GapView, roomFor: AsksRoom): Promise<Plan> {
  const active = gap.state.status === "active";
  const draft = await draftOf(deps, gap);
  if (draft === null && gap.changes.length > 0) return no("its draft was deleted by hand");
  if (!active && draft !== null && (draft.edited || draft.evidence >= sessionsOf(gap)))
    return { ok: true, steps: [], concerns: [], belongsTo: null };
  const text = await textFor(deps, gap, draft, active ? "active" : "draft");
  if (typeof text !== "string") return text;
  const planned = await planGap(deps, gap, { reach: active ? "me" : "draft", actor: "knack", text });
  return active && planned.ok ? withRoom(planned, roomFor, gap.project) : planned;
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
  if (draft?.edited && quality === "active") return draft.text;
  const composed = await composeGap(deps, gap, quality);
  if (composed.ok) return render(composed.skill);
  if (draft !== null) return draft.text;
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
  if (status === "rejected") return no("it was rejected, and that is final");
  if (gap.kept.some(({ reach }) => reach !== "draft")) return no("it is live already");
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

/** Why there is no draft of a gap that is due for one; null where there could be. */
export async function whyNoDraft(deps: GapDeps, gap: GapView): Promise<string | null> {
  const composed = await composeGap(deps, gap, "draft");
  return composed.ok ? null : composed.because;
}
