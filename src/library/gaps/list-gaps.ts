import {
  type Artifact,
  type Format,
  getSessionId,
  type KeptArtifact,
  type Origin,
  type StoredChange,
} from "../../records/index.ts";
import { type PublishDeps, readHistory } from "../publish/changes.ts";
import { foldGaps, type Gap, hasGapId } from "./gap.ts";

/** A gap with what was made of it. */
export interface GapView extends Gap {
  readonly projectName: string;
  readonly root: string | null;
  /** The agents whose sessions asked for it. */
  readonly formats: readonly Format[];
  /** Its draft, or its skill. */
  readonly kept: readonly KeptArtifact[];
  /** Every change that was planned or made for it. */
  readonly changes: readonly StoredChange[];
}

/** Every gap, the latest asked for first. */
export async function listGaps({ store }: Pick<PublishDeps, "store">): Promise<GapView[]> {
  const history = await readHistory(store);
  // A change that the disk refused was never there, and may be tried again.
  const ofGaps = history.changes.filter(
    ({ change, state }) => change.origin.kind === "gap" && state !== "dropped",
  );
  const entries = [
    ...(await store.ledger.since("prompt.unmatched", 0)),
    ...(await store.ledger.since("gap.decided", 0)),
    ...(await store.ledger.since("skill.shown", 0)),
    ...(await store.ledger.since("skill.used", 0)),
    ...(await store.ledger.since("use.rated", 0)),
  ];
  const folded = foldGaps(
    entries,
    ofGaps.map(({ change }) => ({ gap: change.origin.id, name: change.name })),
  );
  if (folded.length === 0) return [];
  const projects = new Map((await store.projects.list()).map((row) => [row.id, row]));
  const formats = new Map<string, Format>(
    (await store.sessions.list()).map((session) => [getSessionId(session), session.format]),
  );
  const views = folded.map((gap): GapView => {
    const project = projects.get(gap.project);
    const sessions = new Set(gap.asks.map(({ session }) => session));
    return {
      ...gap,
      projectName: project?.name ?? gap.project,
      root: project?.root ?? null,
      formats: [...new Set([...sessions].flatMap((session) => formats.get(session) ?? []))],
      kept: history.kept.filter(({ changes }) => changes.some((change) => hasGapId(gap, change.origin.id))),
      changes: ofGaps.filter(({ change }) => hasGapId(gap, change.origin.id)),
    };
  });
  const lastAsk = ({ asks }: Gap) => asks.at(-1)?.at ?? 0;
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

export const rejectedForGood = "was rejected, and that is final";
