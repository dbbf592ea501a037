import * as z from "zod/mini";
import { compareText, groupBy } from "../base/index.ts";
import type { StoredTeamEntry, TeamEntryKind } from "../records/index.ts";
import type { TeamMember } from "../store/index.ts";

const count = z.int().check(z.gte(0), z.lte(1_000_000));

/** How a shared thing did: sessions that were told of it, that followed it, and that it helped or harmed. */
const outcomes = z.object({ told: count, followed: count, helped: count, failed: count });
const vote = z.object({ word: z.enum(["yes", "no", "none"]) });
const policy = z.object({ yes: z.nullable(z.int().check(z.gte(1), z.lte(1_000))) });
const distrust = z.object({ withdrawn: z.boolean() });
const measured = z.object({ sessions: count, met: z.record(z.string(), count) });

export type ShareOutcomes = z.infer<typeof outcomes>;
export type VoteWord = z.infer<typeof vote>["word"];
type MeasuredDay = z.infer<typeof measured>;

/** What is to be written about a thing; entries are read with the same shapes. */
export type TeamWord =
  | { readonly kind: "vote"; readonly body: z.infer<typeof vote> }
  | { readonly kind: "outcomes"; readonly body: ShareOutcomes }
  | { readonly kind: "policy"; readonly body: z.infer<typeof policy> }
  | { readonly kind: "member.distrusted"; readonly body: z.infer<typeof distrust> }
  | { readonly kind: "measured"; readonly body: MeasuredDay };

/** Something that members share, as all entries about it together say. */
export interface TeamShare {
  readonly subject: string;
  readonly kind: "lesson" | "skill";
  readonly repository: string | null;
  /** The thing itself, as JSON. */
  readonly body: string;
  /** The members who share it, the first one first. */
  readonly by: readonly string[];
  /** When others could first have it. */
  readonly sharedAt: number;
  /** Members other than those who said yes or no to exactly this text. */
  readonly yes: readonly string[];
  readonly no: readonly string[];
  readonly outcomes: ShareOutcomes;
  /** Members in whose sessions it helped. */
  readonly helpedPeople: number;
}

/** What maintainers have decided for the team. */
export interface TeamRules {
  /** Members besides the author whose yes is enough; null where each person decides alone. */
  readonly yes: number | null;
  /** Members whose shares are withdrawn. */
  readonly distrusted: ReadonlySet<string>;
}

/**
 * When something happened. A clock that is ahead cannot make it later than the database took it, so that nobody is the
 * last to speak for ever.
 */
function readTime({ at, recordedAt }: StoredTeamEntry, now: number): number {
  return Math.max(0, Math.min(at, recordedAt ?? now));
}

/**
 * The entry that holds: the last one of each machine, by its place in the chain, and of those the latest. It depends
 * neither on the order in which entries arrive nor on how often they do.
 */
function pickLatest(entries: readonly StoredTeamEntry[], now: number): StoredTeamEntry | undefined {
  const last = [...groupBy(entries, ({ machine }) => machine).values()].map((own) =>
    own.reduce((a, b) => ((a.sequence - b.sequence || compareText(a.id, b.id) || 0) > 0 ? a : b)),
  );
  return last.sort((a, b) => readTime(b, now) - readTime(a, now) || compareText(b.id, a.id))[0];
}

function readBody<Body>(shape: z.ZodMiniType<Body>, entry: StoredTeamEntry | undefined): Body | null {
  try {
    const parsed = z.safeParse(shape, JSON.parse(entry?.body ?? "null"));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** Who has a say in the team: whom the database has as maintainers, and other maintainers invited as such. */
export function listMaintainers<Member extends Pick<TeamMember, "id" | "role">>(
  members: readonly Member[],
  { maintainers }: { readonly maintainers: readonly string[] },
): Member[] {
  return members.filter(({ id, role }) => role === "maintainer" && maintainers.includes(id));
}

/** The rules of the team. A maintainer's word counts; that of one who was removed counts as far as it is older. */
export function foldRules(
  entries: readonly StoredTeamEntry[],
  maintainers: readonly Pick<TeamMember, "id" | "removedAt">[],
  now: number,
): TeamRules {
  const byId = new Map(maintainers.map((member) => [member.id, member]));
  const said = entries.filter((entry) => {
    const member = byId.get(entry.author);
    return member && (member.removedAt === null || readTime(entry, now) < member.removedAt);
  });
  const ofKind = (kind: TeamEntryKind) => said.filter((entry) => entry.kind === kind);
  const byMember = groupBy(ofKind("member.distrusted"), ({ subject }) => subject);
  const isDistrusted = (own: readonly StoredTeamEntry[]) =>
    readBody(distrust, pickLatest(own, now))?.withdrawn === true;
  return {
    yes: readBody(policy, pickLatest(ofKind("policy"), now))?.yes ?? null,
    distrusted: new Set([...byMember].flatMap(([name, own]) => (isDistrusted(own) ? name : []))),
  };
}

/** What is shared, from all entries about it, in any order; what nobody shares any more is left out. */
export function foldShares(
  entries: readonly StoredTeamEntry[],
  { distrusted }: Pick<TeamRules, "distrusted">,
  now: number,
): Map<string, TeamShare> {
  const heard = entries.filter(({ author }) => !distrusted.has(author));
  const shares = [...groupBy(heard, ({ subject }) => subject)].flatMap(([subject, own]) => {
    const share = foldShare(subject, own, now);
    return share ? [[subject, share] as const] : [];
  });
  return new Map(shares);
}

const sharing: readonly TeamEntryKind[] = ["lesson.shared", "skill.shared", "share.withdrawn"];

function foldShare(subject: string, entries: readonly StoredTeamEntry[], now: number): TeamShare | null {
  const byAuthor = (kinds: readonly TeamEntryKind[]) =>
    groupBy(
      entries.filter(({ kind }) => kinds.includes(kind)),
      ({ author }) => author,
    );
  const standing = [...byAuthor(sharing).values()].flatMap((own) => {
    const last = pickLatest(own, now);
    return last === undefined || last.kind === "share.withdrawn" ? [] : last;
  });
  const inTime = standing.sort((a, b) => readTime(a, now) - readTime(b, now) || compareText(a.id, b.id));
  const [first] = inTime;
  if (first === undefined) return null;
  const by = inTime.map(({ author }) => author);
  const votes = [...byAuthor(["vote"])].map(([author, own]) => ({
    author,
    word: readBody(vote, pickLatest(own, now))?.word,
  }));
  const said = (word: VoteWord) =>
    votes
      .flatMap((one) => (one.word === word && !by.includes(one.author) ? one.author : []))
      .sort(compareText);
  return {
    ...{ subject, kind: first.kind === "skill.shared" ? "skill" : "lesson" },
    ...{ repository: first.repository, body: first.body, by, sharedAt: first.recordedAt ?? now },
    ...{ yes: said("yes"), no: said("no") },
    ...sumOutcomes(entries, now),
  };
}

/** Each machine says how it went there in all; the last word of each counts. */
function sumOutcomes(entries: readonly StoredTeamEntry[], now: number) {
  const own = entries.filter(({ kind }) => kind === "outcomes");
  const sum = { told: 0, followed: 0, helped: 0, failed: 0 };
  const helped = new Set<string>();
  for (const said of groupBy(own, ({ machine }) => machine).values()) {
    const last = pickLatest(said, now);
    const read = readBody(outcomes, last);
    if (last === undefined || read === null) continue;
    for (const name of ["told", "followed", "helped", "failed"] as const) sum[name] += read[name];
    if (read.helped > 0) helped.add(last.author);
  }
  return { outcomes: sum, helpedPeople: helped.size };
}

/** The sessions of one day in a repository, on all machines, and in how many of them each shared failure was met. */
export interface TeamDay extends MeasuredDay {
  readonly repository: string;
  /** When the day began. */
  readonly at: number;
  readonly machine: string;
}

/** What machines measured, in the order of time. The subject of an entry is the day: 2026-11-19. */
export function foldMeasured(entries: readonly StoredTeamEntry[], now: number): TeamDay[] {
  const days = groupBy(entries, ({ machine, repository, subject }) => `${machine} ${repository} ${subject}`);
  return [...days.values()]
    .flatMap((own) => {
      const last = pickLatest(own, now);
      const read = readBody(measured, last);
      const at = Date.parse(`${last?.subject}T00:00:00Z`);
      if (!last?.repository || read === null || Number.isNaN(at) || at > now) return [];
      return [{ ...read, repository: last.repository, at, machine: last.machine }];
    })
    .sort((a, b) => a.at - b.at || compareText(a.machine, b.machine));
}
