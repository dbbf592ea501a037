import type { Artifact, Format, Origin, WritingFinished, WritingStarted } from "../records/index.ts";
import type { Store } from "../store/index.ts";

export interface SkillWriting {
  /** As it was last started. */
  readonly started: WritingStarted;
  readonly at: number;
  /** When it was last begun. */
  readonly lastAt: number;
  readonly session: string | null;
  readonly project: string;
  readonly finishes: readonly WritingFinished[];
}

/** Every learning, in the order in which they began. */
export async function listWritings({ ledger }: Pick<Store, "ledger">): Promise<SkillWriting[]> {
  const all = new Map<string, SkillWriting>();
  for (const { at, session, project, data } of await ledger.since("writing.started", 0)) {
    const known = all.get(data.writing);
    all.set(data.writing, {
      started: data,
      at: known?.at ?? at ?? 0,
      lastAt: at ?? 0,
      session,
      project: project ?? "",
      finishes: [],
    });
  }
  for (const { data } of all.size === 0 ? [] : await ledger.since("writing.finished", 0)) {
    const known = all.get(data.writing);
    if (known) all.set(data.writing, { ...known, finishes: [...known.finishes, data] });
  }
  return [...all.values()];
}

/** How a learning ended; null while it may still be ended. */
export function findWritingEnd({ finishes }: SkillWriting): WritingFinished | null {
  return finishes.findLast(({ status }) => status !== "refused") ?? null;
}

/** Who wrote a skill that no rule composed, and where. */
export interface Authorship {
  readonly by: "agent" | "review";
  readonly project: string;
  /** The agent's session; null where it is not known. */
  readonly session: string | null;
  readonly format: Format | null;
  readonly model: string | null;
  /** Events that it rests on. */
  readonly evidence: number;
}

/** Who wrote what agents and reviews wrote, by the id of its origin. Reads nothing when none of these is written. */
export async function readAuthors(
  store: Store,
  made: readonly Pick<Artifact, "origin">[],
): Promise<Map<string, Authorship>> {
  const authors = new Map<string, Authorship>();
  if (!made.some(({ origin }) => isWritten(origin))) return authors;
  for (const { started, session, project, finishes } of await listWritings(store)) {
    const { writing: learning, format, model, refs } = started;
    const evidence = new Set([...refs, ...finishes.flatMap((finish) => finish.refs)]).size;
    authors.set(learning, { by: "agent", project, session, format, model, evidence });
  }
  for (const { data } of await store.ledger.since("proposal.made", 0)) {
    const { id, review, project, model, evidence } = data;
    const session = evidence[0]?.run ?? null;
    // An agent's change of a live skill may wait as a proposal.
    const by = authors.get(review)?.by ?? "review";
    authors.set(id, { by, project, session, format: null, model, evidence: evidence.length });
  }
  return authors;
}

export function isWritten({ kind }: Origin): boolean {
  return kind === "session" || kind === "proposal";
}
