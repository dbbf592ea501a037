import { isWrittenId, type LearningFinished, type LearningStarted } from "../core/protocol.ts";
import type { Format } from "../core/session.ts";
import { askedIn } from "./gap.ts";
import type { Store } from "./ports.ts";
import { historyOf } from "./step.ts";

/** A learning with all that was noted of it. */
export interface Learning {
  /** As it was last begun: the same start again takes the present state of the other packages as given. */
  readonly started: LearningStarted;
  /** The other packages as they were when it was first begun. */
  readonly beside: LearningStarted["beside"];
  readonly at: number;
  /** When it was last begun. */
  readonly lastAt: number;
  readonly session: string | null;
  readonly project: string;
  readonly finishes: readonly LearningFinished[];
}

/** Every learning, in the order in which they began. */
export async function learningsOf({ ledger }: Pick<Store, "ledger">): Promise<Learning[]> {
  const all = new Map<string, Learning>();
  for (const { at, session, project, data } of await ledger.since("learning.started", 0)) {
    const known = all.get(data.learning);
    all.set(data.learning, {
      started: data,
      beside: known?.beside ?? data.beside,
      at: known?.at ?? at ?? 0,
      lastAt: at ?? 0,
      session,
      project: project ?? "",
      finishes: [],
    });
  }
  for (const { data } of all.size === 0 ? [] : await ledger.since("learning.finished", 0)) {
    const known = all.get(data.learning);
    if (known) all.set(data.learning, { ...known, finishes: [...known.finishes, data] });
  }
  return [...all.values()];
}

/** How a learning ended; null while it may still be ended. */
export function endOf({ finishes }: Learning): LearningFinished | null {
  return finishes.findLast(({ status }) => status !== "refused") ?? null;
}

/** What something that an agent or a review wrote comes from. */
export interface Origin {
  readonly by: "agent" | "review";
  readonly project: string;
  /** The agent's session; null where it is not known. */
  readonly session: string | null;
  readonly format: Format | null;
  readonly model: string | null;
  /** Events that it rests on. */
  readonly evidence: number;
}

/** Where what was written comes from, by the ids it goes by; nothing is read where none of these is such an id. */
export async function originsOf(store: Store, ids: readonly string[]): Promise<Map<string, Origin>> {
  const origins = new Map<string, Origin>();
  if (!ids.some(isWrittenId)) return origins;
  for (const { started, session, project } of await learningsOf(store)) {
    const { learning, format, model, refs } = started;
    const evidence = new Set(refs).size;
    origins.set(learning, { by: "agent", project, session, format, model, evidence });
  }
  for (const { data } of await store.ledger.since("proposal.made", 0)) {
    const { id, project, model, evidence } = data;
    const session = evidence[0]?.run ?? null;
    origins.set(id, { by: "review", project, session, format: null, model, evidence: evidence.length });
  }
  return origins;
}

/** The projects of what was made of gaps, learnings and proposals, by the ids that it goes by. */
export async function homesOfKept(store: Store): Promise<Map<string, string>> {
  const { kept } = await historyOf(store);
  const homes = await askedIn(store, kept);
  const origins = await originsOf(
    store,
    kept.map(({ instinct }) => instinct),
  );
  for (const [id, { project }] of origins) homes.set(id, project);
  return homes;
}
