import { restoreEvents, selectOwnEvents } from "../../learning/index.ts";
import { recordEntries } from "../../lessons/index.ts";
import { unmatchedKey } from "../../recall/index.ts";
import {
  type Actor,
  type Event,
  getSessionId,
  type KeptArtifact,
  type LedgerEntry,
  type Reach,
} from "../../records/index.ts";
import { parseAsk } from "../../search/index.ts";
import type { Store } from "../../store/index.ts";
import { type IngestDeps, readEvents, type SessionView, viewSessions } from "../../transcripts/index.ts";
import { findPinnedPaths, listArchived } from "../lifecycle/archive.ts";
import { type ChangeOutcome, publishPlan } from "../publish/apply.ts";
import { accept, encodeText, mainText, type Plan, type PublishDeps, refuse } from "../publish/changes.ts";
import { findHold } from "../publish/hold.ts";
import { listPublished, originDecision, planRemoval } from "../publish/lessons.ts";
import { planPublication } from "../publish/plan.ts";
import { parseSkill, skillFile } from "../skill.ts";
import { type GapView, hasGapId, listGaps, rejectedForGood, type UnmatchedPrompt } from "./gap.ts";
import { cutTaskRun, renderTask } from "./task.ts";

type DoneTask = NonNullable<ReturnType<typeof cutTaskRun>>;

/** Sessions of which a draft is made: the newest. */
const sessionsOfDraft = 6;
/** Characters of an unmatched prompt that are kept. */
const promptChars = 2_000;

interface GapDeps extends PublishDeps, IngestDeps {
  /** Whether a live skill matches a prompt. Drafts do not count: without hooks they reach nobody. */
  readonly isMatched: (text: string, project: string) => Promise<boolean>;
  readonly makeRoom: (planned: Plan, scopeId: string) => Promise<Plan>;
  /** Why publishing is off for a project; null when it is allowed. */
  readonly refuses: (root: string | null, project: string) => Promise<string | null>;
  /** Drops sessions that may not be learned from. */
  readonly learnable: (sessions: readonly SessionView[]) => Promise<SessionView[]>;
}

type AdvanceOptions = {
  /** Sessions that were just read: where no hook ran, their unmatched prompts are noted here. */
  readonly sessions?: readonly SessionView[];
  readonly isMatched?: GapDeps["isMatched"];
  /** When to stop; the rest is left for the next time. */
  readonly until?: () => boolean;
};

/** Operations on gaps: requests no skill covers. */
export function gapVerbs(deps: GapDeps) {
  const planGapPromotion = (gap: GapView) => planPromotion(deps, gap);
  const planGapRejection = async (gap: GapView) =>
    planRemoval(
      deps,
      (await listPublished(deps)).filter(({ origin }) => hasGapId(gap, origin.id)),
    );
  const decide = ({ id }: GapView, decision: "accepted" | "rejected", plan: () => Promise<Plan>) =>
    publishPlan(deps, plan, "person", () => [
      originDecision({ kind: "gap", id }, decision, deps.clock.now()),
    ]);
  return {
    /** Every gap, the latest asked for first. */
    gaps: () => listGaps(deps),
    /** Why a due gap is not published; null when nothing blocks it. */
    whyNoDraft: async (gap: GapView): Promise<string | null> => {
      const planned = await planDue(deps, gap);
      return planned.ok ? null : planned.because;
    },
    /** Notes unmatched prompts, writes drafts, and lets those go live that are due. Safe to repeat or kill at any point. */
    advanceGaps: async ({
      sessions = [],
      until = () => false,
      isMatched = deps.isMatched,
    }: AdvanceOptions = {}) => {
      const own = { ...deps, isMatched };
      const noted = await noteUnmatched(own, await deps.learnable(sessions), until);
      const outcomes: ChangeOutcome[] = [];
      const waiting: { gap: GapView; because: string }[] = [];
      for (const gap of await listGaps(deps)) {
        if (until()) break;
        if (gap.state.status === "pending" || gap.state.status === "rejected") continue;
        const done = await publishPlan(deps, () => planDue(own, gap), "knack");
        if (done.kept) outcomes.push(...done.outcomes.filter((one) => one.done && !one.already));
        else waiting.push({ gap, because: done.because });
      }
      return { noted, outcomes, waiting };
    },
    planPromotion: planGapPromotion,
    /** Makes a gap's skill live because a person says so. */
    promoteGap: (gap: GapView) => decide(gap, "accepted", () => planGapPromotion(gap)),
    planGapRejection,
    /** Removes what was made of a gap and never makes it again. */
    rejectGap: (gap: GapView) => decide(gap, "rejected", () => planGapRejection(gap)),
  };
}

/** Decides whether a gap is due as a draft or a live skill, or why it is neither. */
function decideDue(gap: GapView): { readonly reach: "draft" | "me" } | { readonly because: string } {
  const { state, kept, changes, asks, neededAt } = gap;
  const reach = state.status === "active" ? "me" : "draft";
  const last = changes.at(-1);
  if (!last) return { reach };
  if (kept.length === 0) {
    const { change, at } = last;
    if (change.why !== "archive") return { because: "it was taken away" };
    if (change.replacedBy !== undefined) return { because: "it was merged into another skill" };
    // An archived skill returns as a draft, once it is asked for again.
    return (asks.at(-1)?.at ?? 0) > at
      ? { reach: "draft" }
      : { because: `${change.name} was archived, and nobody asked for it since` };
  }
  if (!wasArchived(gap)) return { reach };
  const placed = changes.findLastIndex(({ change }) => change.reach !== "draft" && change.after !== null);
  // Only a demotion creates a draft for a reason.
  const demotion = changes
    .slice(placed + 1)
    .find(({ change: { why, reach, because } }) => why === "create" && reach === "draft" && because)?.change;
  if (demotion)
    return { because: `${demotion.name} is a draft again (${demotion.because}), and waits for your yes` };
  // A draft that came back must be needed once more before it is live again.
  return { reach: kept.every(({ at }) => neededAt > at) ? reach : "draft" };
}

/** Whether it was archived before. A person may have edited it then, so its words stay. */
function wasArchived({ changes }: GapView): boolean {
  return changes.some(({ change }) => change.why === "archive");
}

/** Plans Knack's automatic step for a gap, or refuses it. */
async function planDue(deps: GapDeps, gap: GapView): Promise<Plan> {
  const deleted = await findDeleted(deps, gap);
  if (deleted !== null) return refuse(deleted);
  if (isLive(gap)) return accept([]);
  const due = decideDue(gap);
  if ("because" in due) return refuse(due.because);
  const pinned = await findPinnedPaths(deps.store, gap.kept);
  const fixed = gap.kept.find(({ path }) => pinned.has(path));
  if (fixed) return refuse(`${fixed.name} is pinned`);
  const because = await deps.refuses(gap.root, gap.project);
  if (because !== null) return refuse(because);
  const draft = await readGapDraft(deps, gap);
  const goesLive = due.reach === "me";
  if ((goesLive || draft === null) && (await deps.isMatched(gap.asks.at(-1)?.text ?? "", gap.project)))
    return refuse("something in the library covers it now");
  // A draft is composed again from all that asked: few do before it goes live.
  if (!goesLive && draft !== null && (draft.edited || wasArchived(gap))) return accept([]);
  const text = await chooseText(deps, gap, draft, goesLive);
  if (typeof text !== "string") return text;
  const held = await findGapHold(deps, gap, text);
  const reach = held === null ? due.reach : "draft";
  // A draft that waits is not made again by being asked for.
  if (held !== null && draft !== null && draft.text === text) return accept([]);
  const planned = await planGap(deps, gap, {
    reach,
    actor: "knack",
    text,
    ...(held === null ? {} : { held }),
  });
  return reach === "me" ? deps.makeRoom(planned, gap.project) : planned;
}

/** Why a gap's skill waits for a person: its steps are those of sessions that may have had them from somebody else. */
async function findGapHold(deps: GapDeps, gap: GapView, text: string): Promise<string | null> {
  const asked = new Set<string>(gap.asks.map(({ session }) => session));
  const sessions = (await deps.store.sessions.list()).filter((one) => asked.has(getSessionId(one)));
  return findHold(deps, {
    ...{ files: [{ path: skillFile, bytes: encodeText(text), mode: 0o644 }], base: null, cited: [] },
    ...{ project: gap.project, root: gap.root, seen: sessions.map(({ id }) => ({ transcript: id })) },
  });
}

function isLive({ kept }: GapView): boolean {
  return kept.some(({ reach }) => reach !== "draft");
}

/** Describes a gap's file that was deleted by hand; null if none was. */
async function findDeleted({ library }: GapDeps, { kept }: GapView): Promise<string | null> {
  for (const { path, name, reach } of kept)
    if ((await library.read(path)) === null)
      return reach === "draft" ? "its draft was deleted by hand" : `${name} was deleted by hand`;
  return null;
}

/** The text of a gap's skill: a person's where they edited it, else what the sessions show, else what was kept. */
async function chooseText(
  deps: GapDeps,
  gap: GapView,
  draft: GapDraft | null,
  goesLive: boolean,
): Promise<string | Extract<Plan, { ok: false }>> {
  if (draft !== null && goesLive && (draft.edited || wasArchived(gap))) return draft.text;
  const runs = await readTaskRuns(deps, gap);
  const composed = renderTask(gap.asks, runs, await deps.prefixOf(gap.root));
  if (composed.ok) return composed.text;
  if (draft !== null) return draft.text;
  const old = (await listArchived(deps)).find(
    (one) => hasGapId(gap, one.origin.id) && one.replacedBy === undefined,
  );
  return old ? old.text : composed;
}

/** Notes the prompts of sessions without hooks for which the library has nothing. */
async function noteUnmatched(
  { store, isMatched }: GapDeps,
  sessions: readonly SessionView[],
  until: () => boolean,
): Promise<number> {
  const hooked = sessions.length === 0 ? new Set() : await findHookedSessions(store);
  let noted = 0;
  for (const session of sessions) {
    if (until()) break;
    const id = getSessionId(session);
    if (hooked.has(id)) continue;
    const entries: LedgerEntry[] = [];
    const own = selectOwnEvents(session, await readEvents(store, session));
    // What a program asks for is no wish of a person.
    const prompts = own.filter(({ kind, given }) => kind === "prompt" && given !== "program");
    const keyOf = (event: Event) => unmatchedKey(id, event.text.slice(0, promptChars));
    const known = await store.ledger.has(prompts.map(keyOf));
    for (const event of prompts) {
      const key = keyOf(event);
      if (known.has(key) || parseAsk(event.text) === null) continue;
      const text = event.text.slice(0, promptChars);
      if (await isMatched(text, session.project.id)) continue;
      entries.push({
        ...{ at: event.at ?? session.startedAt, project: session.project.id, session: id, actor: "knack" },
        ...{ type: "prompt.unmatched", key, data: { text } },
      });
    }
    if (entries.length > 0) noted += (await store.transaction((tx) => recordEntries(tx, entries))).length;
  }
  return noted;
}

/** Sessions in which a hook showed something or withheld it: it noted their unmatched prompts, too. */
async function findHookedSessions({ ledger }: Store): Promise<Set<string>> {
  const entries = [
    ...(await ledger.since("skill.shown", 0)),
    ...(await ledger.since("lesson.shown", 0)),
    ...(await ledger.since("match.withheld", 0)),
  ];
  return new Set(entries.flatMap(({ session }) => session ?? []));
}

async function planPromotion(deps: GapDeps, gap: GapView): Promise<Plan> {
  if (gap.state.status === "rejected") return refuse(`it ${rejectedForGood}`);
  if (isLive(gap)) return refuse((await findDeleted(deps, gap)) ?? "it is live already");
  const text = await chooseText(deps, gap, await readGapDraft(deps, gap), true);
  return typeof text === "string" ? planGap(deps, gap, { reach: "me", actor: "person", text }) : text;
}

/** The newest times that the task was done, as far as the sessions can still be read. */
async function readTaskRuns(deps: GapDeps, { asks, root }: GapView): Promise<DoneTask[]> {
  const { store } = deps;
  const first = new Map([...asks].reverse().map((asked) => [asked.session, asked]));
  const newest = [...first.values()].sort((a, b) => b.at - a.at).slice(0, sessionsOfDraft);
  const ids = new Set(newest.map(({ session }) => session));
  const files = (await store.sessions.list()).filter((one) => ids.has(getSessionId(one)));
  const views = await viewSessions(
    store,
    files.map(({ path }) => path),
  );
  const runs: DoneTask[] = [];
  for (const asked of newest.reverse()) {
    const own = views.filter((view) => getSessionId(view) === asked.session && !view.subagent);
    const run = await readTaskRun(deps, asked, own, root);
    if (run) runs.push(run);
  }
  return runs;
}

/** A resumed session may have several files; the prompt is in one of them. */
async function readTaskRun(
  deps: GapDeps,
  asked: UnmatchedPrompt,
  sessions: readonly SessionView[],
  root: string | null,
): Promise<DoneTask | null> {
  const { store } = deps;
  for (const session of sessions) {
    // Events are only a cache: purged ones are read again.
    await restoreEvents(deps, [session]);
    const events = selectOwnEvents(session, await readEvents(store, session));
    const kept = await store.learning.findings.ofSessions([session.id]);
    const findings = kept.map(({ finding }) => finding);
    const run = cutTaskRun(asked, events, findings, root ?? session.cwd);
    if (run) return run;
  }
  return null;
}

/** Plans publishing a gap's skill. Unless a person asks, a similar existing skill makes it a refusal. */
async function planGap(
  deps: PublishDeps,
  gap: GapView,
  options: Readonly<{ reach: Reach; actor: Actor; text: string; held?: string }>,
): Promise<Plan> {
  const { reach, actor, text, held } = options;
  const isNew = !gap.kept.some((one) => reach !== "draft" || one.reach === "draft");
  return planPublication(deps, {
    ...{ kind: "skill", name: parseSkill(text).skill?.name ?? "", text, reach },
    // A gap may have come to go by another id.
    origin: gap.changes.at(-1)?.change.origin ?? { kind: "gap", id: gap.id },
    owns: ({ id }) => hasGapId(gap, id),
    ...{ root: gap.root, formats: gap.formats, similar: actor === "person" ? "ignore" : "refuse" },
    ...{ replaces: reach === "draft", held },
    ...(isNew ? { revive: { scopeId: gap.project } } : {}),
  });
}

/** Plans accepting a gap's draft, which goes live unchanged. */
export async function planAcceptGap(
  deps: PublishDeps,
  draft: KeptArtifact,
  text: string,
  reach: Reach,
): Promise<Plan> {
  const gap = (await listGaps(deps)).find((one) => hasGapId(one, draft.origin.id));
  if (!gap) return refuse(`the gap behind ${draft.name} is gone`);
  return planGap(deps, gap, { reach, actor: "person", text });
}

/** The draft of a gap as it is on disk. */
interface GapDraft {
  /** Its text, as it would go live. */
  readonly text: string;
  /** A person changed it. */
  readonly edited: boolean;
}

/** Null when there is no draft, or a person deleted it. */
async function readGapDraft(deps: PublishDeps, gap: GapView): Promise<GapDraft | null> {
  const own = gap.kept.find(({ reach }) => reach === "draft");
  const found = own ? await deps.library.read(own.path) : null;
  const text = found ? mainText(found.files) : "";
  const { skill } = parseSkill(text);
  if (!own || !found || !skill) return null;
  return {
    text: text,
    edited: found.hash !== own.content,
  };
}
