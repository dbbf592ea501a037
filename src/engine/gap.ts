import type { Kept } from "../core/change.ts";
import { composeTask, type TaskSkill } from "../core/compose-task.ts";
import { type Doing, doingIn } from "../core/doing.ts";
import { type Asked, type Gap, gapsOf, goesBy, isGapId } from "../core/gap.ts";
import type { LedgerEntry } from "../core/ledger.ts";
import { policy as defaults } from "../core/policy.ts";
import { type Format, runOf } from "../core/session.ts";
import type { IngestDeps } from "./ingest.ts";
import { eventsOf, viewSessions } from "./inspect.ts";
import { purgedOf, readAgain, withoutOtherAgents } from "./learn.ts";
import type { KeptChange, Store } from "./ports.ts";
import { historyOf, type PublishDeps } from "./step.ts";

export interface GapDeps extends PublishDeps, IngestDeps {}

/** A gap with what was made of it. */
export interface GapView extends Gap {
  readonly projectName: string;
  readonly root: string | null;
  /** The agents whose sessions asked for it. */
  readonly formats: readonly Format[];
  /** What is kept of it: a draft, or a skill. */
  readonly kept: readonly Kept[];
  /** Every change that was meant or made for it. */
  readonly changes: readonly KeptChange[];
}

/** Every gap, the latest asked for first. */
export async function gaps({ store }: Pick<PublishDeps, "store">): Promise<GapView[]> {
  const history = await historyOf(store);
  // What the disk refused was never there, and may be tried again.
  const ofGaps = history.changes.filter(
    ({ change, state }) => isGapId(change.instinct) && state !== "dropped",
  );
  const folded = gapsOf(
    await entriesOf(store),
    ofGaps.map(({ change }) => ({ gap: change.instinct, name: change.name })),
  );
  const projects = new Map((await store.projects.list()).map((row) => [row.id, row]));
  const formats = await formatsOf(store, folded);
  const views = folded.map((gap): GapView => {
    const project = projects.get(gap.project);
    const runs = new Set(gap.asks.map(({ session }) => session));
    return {
      ...gap,
      projectName: project?.name ?? gap.project,
      root: project?.root ?? null,
      formats: [...new Set([...runs].flatMap((run) => formats.get(run) ?? []))],
      kept: history.kept.filter(({ changes }) => changes.some((change) => goesBy(gap, change.instinct))),
      changes: ofGaps.filter(({ change }) => goesBy(gap, change.instinct)),
    };
  });
  return views.sort((a, b) => lastAt(b) - lastAt(a) || (a.id < b.id ? -1 : 1));
}

/** The projects that asked for what was made of gaps, by the ids under which it was made. */
export async function askedIn(store: Store, kept: readonly Kept[]): Promise<Map<string, string>> {
  if (!kept.some(({ instinct }) => isGapId(instinct))) return new Map();
  const asks = gapsOf(await store.ledger.since("prompt.unmatched", 0));
  return new Map(asks.flatMap(({ project, asks: own }) => own.map(({ id }) => [id, project])));
}

function lastAt({ asks }: Gap): number {
  return asks.at(-1)?.at ?? 0;
}

/** What gaps follow from. */
async function entriesOf({ ledger }: Store): Promise<LedgerEntry[]> {
  return [
    ...(await ledger.since("prompt.unmatched", 0)),
    ...(await ledger.since("gap.decided", 0)),
    ...(await ledger.since("skill.shown", 0)),
    ...(await ledger.since("skill.used", 0)),
    ...(await ledger.since("use.rated", 0)),
  ];
}

async function formatsOf(store: Store, all: readonly Gap[]): Promise<Map<string, Format>> {
  if (all.length === 0) return new Map();
  return new Map((await store.sessions.list()).map((session) => [runOf(session), session.format]));
}

/** Whether an id is that of a gap which a person closed, among ids that may be of lessons too. */
export async function closedAmong(
  deps: Pick<PublishDeps, "store">,
  ids: readonly string[],
): Promise<(id: string) => boolean> {
  if (!ids.some(isGapId)) return () => false;
  const closed = (await gaps(deps)).filter(({ state }) => state.status === "rejected");
  return (id) => closed.some((gap) => goesBy(gap, id));
}

/** Why nothing is done about a gap that a person closed. */
export const rejectedForGood = "was rejected, and that is final";

/** The skill that the sessions of a gap amount to, or why there is none yet. */
export async function composeGap(
  deps: GapDeps,
  gap: GapView,
  quality: "draft" | "active",
): Promise<TaskSkill> {
  const doings = await doingsOf(deps, gap);
  return composeTask(gap.asks, doings, { prefix: await deps.prefixOf(gap.root), quality });
}

/** Each time that a gap's task was done, as far as the sessions can still be read; the newest. */
async function doingsOf(deps: GapDeps, { asks, root }: GapView): Promise<Doing[]> {
  const { store, policy = defaults } = deps;
  const first = new Map([...asks].reverse().map((asked) => [asked.session, asked]));
  const newest = [...first.values()].sort((a, b) => b.at - a.at).slice(0, policy.gap.sessions);
  const runs = new Set(newest.map(({ session }) => session));
  const paths = (await store.sessions.list()).filter((one) => runs.has(runOf(one))).map(({ path }) => path);
  const views = (await viewSessions(store, paths)).filter((one) => runs.has(runOf(one)) && !one.subagent);
  const doings: Doing[] = [];
  for (const asked of newest.reverse()) {
    const own = views.filter((view) => runOf(view) === asked.session);
    doings.push(...(await firstDoing(deps, asked, own, root)));
  }
  return doings;
}

/** A resumed session may have several files; the prompt is in one of them. */
async function firstDoing(
  deps: GapDeps,
  asked: Asked,
  sessions: Awaited<ReturnType<typeof viewSessions>>,
  root: string | null,
): Promise<Doing[]> {
  const { store } = deps;
  for (const session of sessions) {
    // Events are only a cache; what was purged is read once more.
    await readAgain(deps, await purgedOf(store, session));
    const events = withoutOtherAgents(session, await eventsOf(store, session));
    const findings = await store.learning.findings.ofSessions([session.id]);
    const doing = doingIn(
      asked,
      events,
      findings.map(({ finding }) => finding),
      root ?? session.cwd,
    );
    if (doing) return [doing];
  }
  return [];
}
