import * as z from "zod/mini";
import { groupBy, makeId } from "../base/index.ts";
import type { StoredTeamEntry } from "../records/index.ts";
import type { SignedDigest } from "../store/index.ts";
import { foldMeasured, listMaintainers, type TeamDay, type TeamShare } from "./fold.ts";
import type { TeamState } from "./machine.ts";
import { createSignatureCheck, type MachineKey, signText } from "./signing.ts";

const count = z.int().check(z.gte(0));
const outcome = z.object({ told: count, followed: count, helped: count, failed: count, people: count });
const day = z.object({ at: z.int(), sessions: count, met: z.record(z.string(), count) });

/** How the shares of a repository did on all machines, and how often their failures were met, by day. */
const outcomesShape = z.object({
  kind: z.literal("outcomes"),
  shares: z.record(z.string(), outcome),
  days: z.array(day),
});
/** Shares of a repository that say the same, the first one first, and those that say opposite things. */
const comparedShape = z.object({
  kind: z.literal("compared"),
  same: z.array(z.array(z.string())),
  opposed: z.array(z.tuple([z.string(), z.string()])),
});
/** Shares that did more harm than good, and those that nobody was told of for half a year. */
const curatedShape = z.object({
  kind: z.literal("curated"),
  harmful: z.array(z.string()),
  unused: z.array(z.string()),
});
const placeShape = z.object({
  team: z.string(),
  repository: z.nullable(z.string()),
  machine: z.string(),
  author: z.string(),
  at: z.int(),
});
const shape = z.union([
  z.extend(placeShape, outcomesShape.shape),
  z.extend(placeShape, comparedShape.shape),
  z.extend(placeShape, curatedShape.shape),
]);

/** What a worker computed from a team's entries about one repository, so that not every machine needs them all. */
export type TeamDigest = z.infer<typeof shape>;
type Computed<Kind extends TeamDigest["kind"]> = Omit<
  Extract<TeamDigest, { kind: Kind }>,
  "team" | "repository" | "machine" | "author" | "at"
>;

/** Characters of a digest, which the database takes too; the oldest days go first. */
const mostChars = 3_000_000;
const dayMs = 86_400_000;
const unusedMs = 180 * dayMs;

export function sealDigest(digest: Omit<TeamDigest, "machine">, key: MachineKey) {
  const content = JSON.stringify({ ...digest, machine: key.machine });
  return { content, signature: signText(content, key) };
}

/** A digest that a maintainer's machine signed; null for any other. */
export function readDigest(
  { content, signature }: Pick<SignedDigest, "content" | "signature">,
  { team, members, trust }: Pick<TeamState, "team" | "members" | "trust">,
): TeamDigest | null {
  try {
    const { success, data } = z.safeParse(shape, JSON.parse(content));
    if (!success || data.team !== team) return null;
    const signer = trust.machines[data.machine];
    const author = listMaintainers(members, trust).find(({ id }) => id === signer?.member);
    if (signer === undefined || author === undefined || author.removedAt !== null) return null;
    return createSignatureCheck()({ content, signature }, signer.publicKey) ? data : null;
  } catch {
    return null;
  }
}

/** Sums what all machines said of the shares of a repository. */
export function sumRepository(
  shares: readonly TeamShare[],
  entries: readonly StoredTeamEntry[],
  now: number,
): Computed<"outcomes"> {
  const told = shares.filter(({ outcomes }) => Object.values(outcomes).some((value) => value > 0));
  const measured = foldMeasured(
    entries.filter(({ kind }) => kind === "measured"),
    now,
  );
  const days = [...groupBy(measured, ({ at }) => at)].map(([at, own]) => joinDays(at, own));
  let chars = JSON.stringify(days).length;
  while (chars > mostChars && days.length > 0) chars -= JSON.stringify(days.shift()).length;
  return {
    kind: "outcomes",
    shares: Object.fromEntries(
      told.map(({ subject, outcomes, helpedPeople }) => [subject, { ...outcomes, people: helpedPeople }]),
    ),
    days,
  };
}

function joinDays(at: number, own: readonly TeamDay[]): Computed<"outcomes">["days"][number] {
  const met: Record<string, number> = {};
  for (const one of own)
    for (const [subject, sessions] of Object.entries(one.met))
      if (sessions > 0) met[subject] = (met[subject] ?? 0) + sessions;
  return { at, sessions: own.reduce((sum, { sessions }) => sum + sessions, 0), met };
}

/** Shares that a maintainer should look at. Nothing is withdrawn by itself. */
export function curateShares(shares: readonly TeamShare[], now: number): Computed<"curated"> {
  const name = ({ subject }: TeamShare) => subject;
  return {
    kind: "curated",
    harmful: shares.filter(({ outcomes }) => outcomes.failed > Math.max(2, outcomes.helped)).map(name),
    unused: shares
      .filter(({ outcomes, sharedAt }) => outcomes.told === 0 && sharedAt < now - unusedMs)
      .map(name),
  };
}

/** The digests of a machine's repositories, as its folds use them. */
export interface DigestView {
  /** Whether a worker sums up what machines say of a repository, so that their entries need not be fetched. */
  isSummed(repository: string | null): boolean;
  /** The share as it is with what all machines said of it. */
  complete(share: TeamShare): TeamShare;
  /** The share that says the same and stands for this one; null where none does. */
  findStandIn(subject: string): string | null;
  listOpposed(subject: string): readonly string[];
  readonly days: readonly TeamDay[];
  readonly harmful: ReadonlySet<string>;
  /** Changes when something is found to stand for, oppose or harm: not with every count. */
  readonly mark: string;
}

export function viewDigests(digests: readonly TeamDigest[]): DigestView {
  const summed = new Set<string | null>();
  const outcomes = new Map<string, z.infer<typeof outcome>>();
  const standIns = new Map<string, string>();
  const opposed = new Map<string, string[]>();
  const days: TeamDay[] = [];
  const harmful = new Set<string>();
  for (const digest of digests) {
    if (digest.kind === "outcomes") {
      summed.add(digest.repository);
      for (const [subject, sums] of Object.entries(digest.shares)) outcomes.set(subject, sums);
      const { repository } = digest;
      if (repository !== null) days.push(...digest.days.map((one) => ({ ...one, repository, machine: "" })));
    } else if (digest.kind === "compared") {
      for (const [first = "", ...others] of digest.same) for (const one of others) standIns.set(one, first);
      for (const [a, b] of digest.opposed) {
        opposed.set(a, [...(opposed.get(a) ?? []), b]);
        opposed.set(b, [...(opposed.get(b) ?? []), a]);
      }
    } else for (const subject of digest.harmful) harmful.add(subject);
  }
  return {
    isSummed: (repository) => summed.has(repository),
    complete: (share) => {
      const sums = outcomes.get(share.subject);
      if (sums === undefined) return share;
      const { people, ...all } = sums;
      return { ...share, outcomes: all, helpedPeople: people };
    },
    findStandIn: (subject) => standIns.get(subject) ?? null,
    listOpposed: (subject) => opposed.get(subject) ?? [],
    ...{ days, harmful },
    mark: makeId("", JSON.stringify([[...standIns], [...opposed], [...harmful]])),
  };
}
