import { aboutOf } from "./alike.ts";
import type { Reach } from "./change.ts";
import type { Credit } from "./credit.ts";
import type { ItemKind } from "./item.ts";
import { cutAtWord } from "./markdown.ts";
import { type Merged, mergeSkills } from "./merge-skills.ts";
import { compare } from "./order.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import type { Owner, Skill } from "./skill.ts";
import { overlap } from "./words.ts";

/** What became of something, in sessions. */
export type Earned = Pick<Credit, "shown" | "used" | "helpful" | "harmful" | "unrated">;

/** Something in the library, as it is looked at when the library is kept small and true. */
export interface Holding {
  /** Tells it from others: a draft and what is live may share everything else. */
  readonly key: string;
  readonly kind: ItemKind;
  /** What its file says; a command or an agent says the same in its own form. */
  readonly skill: Skill;
  /** A project, or "user". */
  readonly realm: string;
  readonly owner: Owner;
  /** Whom it reaches; null for what Knack did not write. */
  readonly reach: Reach | null;
  readonly pinned: boolean;
  /** What a person wrote that names it, if there is such a thing. */
  readonly namedIn: string | null;
  /** A person changed what Knack wrote. */
  readonly edited: boolean;
  /** A person said yes to it. */
  readonly approved: boolean;
  /** Since when it is there. */
  readonly since: number;
  /** When it was last used, helped, its lesson was met again, or its task was asked for again; null for never. */
  readonly neededAt: number | null;
  readonly credit: Earned;
  /** Sessions in which it did harm, and helped, since it is there. */
  readonly harmed: number;
  readonly helped: number;
  readonly confidence: number | null;
}

export type Reason =
  | "harmful"
  | "never-used"
  | "stale"
  | "duplicate"
  | "over-cap"
  | "over-listing"
  | "shown-in-vain";

/** What can be done about it: each of these can be taken back, and "none" is only told. */
export type Action = "archive" | "draft" | "shorten" | "merge" | "none";

/** Something worth a look, what would be done, and what speaks for it. */
export interface Proposal {
  /** The key of what it is about. */
  readonly about: string;
  readonly name: string;
  readonly realm: string;
  readonly reason: Reason;
  readonly action: Action;
  /** Why, in a sentence without its full stop. */
  readonly because: string;
  readonly evidence: readonly string[];
  /** Why nothing is done although it would be. */
  readonly spared: string | null;
  /** The key of the other one: of a duplicate, and of what it is merged into. */
  readonly other: string | null;
  /** For a merge or a shortening: the skill as it will be. */
  readonly skill: Skill | null;
}

/** How much of its room one realm takes. */
export interface Room {
  readonly realm: string;
  readonly live: number;
  readonly drafts: number;
  /** Characters by which agents are told of what is live. */
  readonly listing: number;
}

/** Everything worth a look, in the order in which it matters; of each thing at most one proposal does something. */
export function reviewOf(all: readonly Holding[], now: number, policy: Policy = defaults): Proposal[] {
  const sorted = [...all].sort((a, b) => compare(a.key, b.key));
  const told: Proposal[] = [];
  for (const rule of rules) told.push(...rule({ all: sorted, now, policy, told }));
  return told;
}

/** How much room each realm takes. */
export function roomsOf(all: readonly Holding[]): Room[] {
  return realmsOf(all).map((own) => {
    const live = own.filter(isLive);
    const [{ realm }] = own as [Holding];
    return { realm, live: live.length, drafts: own.length - live.length, listing: listingOf(live) };
  });
}

/** Whether one more skill may go live in a realm, and what would have to make room. */
export type RoomFor =
  | { readonly room: true }
  /** It never helped anybody, and nobody said yes to it. */
  | { readonly room: false; readonly instead: Holding | null };

/** Whether there is room for a skill in a realm; Knack by itself puts away only what nobody would miss. */
export function roomFor(
  all: readonly Holding[],
  realm: string,
  wanted: Pick<Skill, "name" | "description">,
  now: number,
  policy: Policy = defaults,
): RoomFor {
  const { curate } = policy;
  const live = all.filter((one) => isLearned(one) && isLive(one) && one.realm === realm);
  const over = listingOf(live) + lineLength(wanted) - curate.listingChars;
  if (live.length < curate.live && over <= 0) return { room: true };
  const [instead = null] = live
    .filter(
      (one) =>
        sparedBy(one) === null &&
        !one.approved &&
        one.credit.helpful === 0 &&
        !isNeeded(one, now, policy) &&
        lineLength(one.skill) >= over,
    )
    .sort(leastFirst(now, policy));
  return { room: false, instead };
}

/** What a rule looks at: the library, and what the rules before it have said. */
interface Look {
  readonly all: readonly Holding[];
  readonly now: number;
  readonly policy: Policy;
  readonly told: readonly Proposal[];
}

/** Two sessions in which it did harm, and not more in which it helped. */
function harmful({ all, policy: { curate } }: Look): Proposal[] {
  return all
    .filter(({ harmed }) => harmed >= curate.harmful)
    .map((one) => {
      const because = `it did harm in ${sessions(one.harmed)} and helped in ${one.helped}`;
      const action = one.helped > one.harmed ? "none" : isLive(one) ? "draft" : "archive";
      return proposal(one, { reason: "harmful", action, because });
    });
}

/** What nobody needed for long; of what others wrote, only what was needed once. */
function aged({ all, now, policy: { curate }, told }: Look): Proposal[] {
  return unsettled(all, told).flatMap((one) => {
    if (!isLearned(one) && one.neededAt === null) return [];
    const silent = daysBetween(Math.max(one.since, one.neededAt ?? 0), now);
    if (silent < curate.staleDays) return [];
    const action = silent >= curate.archiveDays ? "archive" : "none";
    return one.neededAt === null
      ? proposal(one, { reason: "never-used", action, because: `never used in ${silent} days` })
      : proposal(one, { reason: "stale", action, because: `not needed for ${silent} days` });
  });
}

/** Two that are about the same thing: of two that Knack wrote for the same people, one knows all that both knew. */
function duplicates({ all, now, policy, told }: Look): Proposal[] {
  const proposals: Proposal[] = [];
  const taken = new Set<string>();
  const paired = new Set<string>();
  for (const [a, b] of alikeAmong(unsettled(all, told), policy)) {
    if (taken.has(a.key) || taken.has(b.key)) continue;
    const [worse, better] = [a, b].sort(leastFirst(now, policy)) as [Holding, Holding];
    const merged = mergedOf(better, worse, policy);
    const [about, other] = isLearned(worse) ? [worse, better] : [better, worse];
    for (const { key } of merged.merged ? [a, b] : []) taken.add(key);
    // Of many that are alike, each is told of once, beside the one it is most like.
    if (!merged.merged && paired.has(a.key) && paired.has(b.key)) continue;
    for (const { key } of [a, b]) paired.add(key);
    proposals.push(
      merged.merged
        ? proposal(worse, {
            ...{ reason: "duplicate", action: "merge", other: better.key, skill: merged.skill },
            because: `much like ${better.skill.name}, which will say what both say`,
          })
        : proposal(about, {
            ...{ reason: "duplicate", action: "none", other: other.key, spared: merged.because },
            because: `much like ${other.skill.name}`,
          }),
    );
  }
  return proposals;
}

/** More than may be: those that are worth least make room, but none that was needed lately. */
function overCap(look: Look): Proposal[] {
  const { live } = look.policy.curate;
  return realmsOf(look.all).flatMap((own) => {
    const left = staying(own.filter(isLive), look.told);
    return making(look, left, left.length - live, `one of ${left.length} learned skills; ${live} are kept`);
  });
}

/** The same for drafts, with those that are about to become some. */
function overDrafts(look: Look): Proposal[] {
  const { drafts } = look.policy.curate;
  return realmsOf(look.all).flatMap((own) => {
    const left = staying(
      own.filter((one) => !isLive(one)),
      look.told,
    );
    const keys = new Set(own.map(({ key }) => key));
    const coming = look.told.filter(({ about, action }) => action === "draft" && keys.has(about)).length;
    const count = left.length + coming;
    return making(look, left, count - drafts, `one of ${count} drafts; ${drafts} are kept`);
  });
}

/** So many that go, the least worth first. */
function making(look: Look, left: readonly Holding[], over: number, because: string): Proposal[] {
  return dispensable(left, look)
    .slice(0, Math.max(0, over))
    .map((one) => proposal(one, { reason: "over-cap", action: "archive", because }));
}

/** Agents read the list before every prompt: it gets shorter lines first, then fewer. */
function overListing(look: Look): Proposal[] {
  const { listingChars } = look.policy.curate;
  return realmsOf(look.all).flatMap((own) => {
    const left = staying(own.filter(isLive), look.told);
    const listed = listingOf(left);
    if (listed <= listingChars) return [];
    const because = `the list of learned skills has ${listed} characters; ${listingChars} are read`;
    const { gone, short } = fitted(left, look);
    return [
      ...gone.map((one) => proposal(one, { reason: "over-listing", action: "draft", because })),
      ...[...short].map(([one, skill]) =>
        proposal(one, { reason: "over-listing", action: "shorten", because, skill }),
      ),
    ];
  });
}

/** Which lines a list must lose, and which be shortened, to be as short as it has to be. */
function fitted(left: readonly Holding[], look: Look) {
  const { listingChars, shortChars } = look.policy.curate;
  const order = leastFirst(look.now, look.policy);
  const short = new Map<Holding, Skill>();
  for (const one of unsettled(left, look.told).filter((own) => sparedBy(own) === null)) {
    const skill = one.kind === "skill" ? shortened(one.skill, shortChars) : null;
    if (skill) short.set(one, skill);
  }
  const lineOf = (one: Holding) => lineLength(short.get(one) ?? one.skill);
  let total = left.reduce((sum, one) => sum + lineOf(one), 0);
  const gone: Holding[] = [];
  for (const one of dispensable(left, look)) {
    if (total <= listingChars) break;
    total -= lineOf(one);
    short.delete(one);
    gone.push(one);
  }
  // Where that leaves room, the best keep their words.
  for (const one of [...short.keys()].sort(order).reverse()) {
    const more = lineLength(one.skill) - lineOf(one);
    if (total + more > listingChars) continue;
    total += more;
    short.delete(one);
  }
  return { gone, short };
}

/** It was shown again and again and nobody ever said that it helped; which may be because nobody was asked. */
function shownInVain({ all, policy: { curate }, told }: Look): Proposal[] {
  return unsettled(all, told).flatMap((one) => {
    const { shown, helpful } = one.credit;
    if (shown < curate.shownInVain || helpful > 0) return [];
    const because = `shown in ${sessions(shown)} and never known to help`;
    return proposal(one, { reason: "shown-in-vain", action: "none", because });
  });
}

const rules = [harmful, aged, duplicates, overCap, overListing, overDrafts, shownInVain];

type Said = Pick<Proposal, "reason" | "action" | "because"> &
  Partial<Pick<Proposal, "spared" | "other" | "skill">>;

/** A proposal about something; what is not Knack's to change is only told of. */
function proposal(one: Holding, { action, ...said }: Said): Proposal {
  const spared = action === "none" ? null : sparedBy(one);
  return {
    about: one.key,
    name: one.skill.name,
    realm: one.realm,
    evidence: evidenceFor(one),
    other: null,
    skill: null,
    spared,
    ...said,
    action: spared === null ? action : "none",
  };
}

/** Those that nothing is done to yet. */
function unsettled(all: readonly Holding[], told: readonly Proposal[]): Holding[] {
  const doing = told.filter(({ action }) => action !== "none");
  const settled = new Set(doing.flatMap(({ about, other }) => (other === null ? about : [about, other])));
  return all.filter(({ key }) => !settled.has(key));
}

/** Those that stay where they are. */
function staying(all: readonly Holding[], told: readonly Proposal[]): Holding[] {
  const going = new Set(told.flatMap(({ about, action }) => (action === "none" ? [] : about)));
  return all.filter(({ key }) => !going.has(key));
}

/** Those that may make room, the least worth first. */
function dispensable(all: readonly Holding[], { told, now, policy }: Look): Holding[] {
  return unsettled(all, told)
    .filter((one) => sparedBy(one) === null && !isNeeded(one, now, policy))
    .sort(leastFirst(now, policy));
}

function realmsOf(all: readonly Holding[]): Holding[][] {
  const learned = all.filter(isLearned);
  const realms = [...new Set(learned.map(({ realm }) => realm))].sort(compare);
  return realms.map((realm) => learned.filter((one) => one.realm === realm));
}

/** One of two, or why they stay two. */
function mergedOf(better: Holding, worse: Holding, policy: Policy): Merged {
  const because = whyApart(better, worse);
  return because === null ? mergeSkills(better.skill, worse.skill, policy) : { merged: false, because };
}

/** Why nothing is done to it by anybody but a person; null where it may be. */
function sparedBy(one: Holding): string | null {
  if (one.owner === "hand-written" || one.owner === "imported") return "it is not Knack's to change";
  if (one.owner === "core") return "it came with an agent or a plugin";
  if (one.edited) return "you changed it by hand";
  if (one.pinned) return "it is pinned";
  return one.namedIn === null ? null : `${one.namedIn} names it`;
}

/** Why two that are alike cannot be one; null where they can. */
function whyApart(a: Holding, b: Holding): string | null {
  const spared = sparedBy(a) ?? sparedBy(b);
  if (spared !== null) return spared;
  return a.realm === b.realm && a.reach === b.reach ? null : "they are not for the same people";
}

/** Pairs that are about the same thing and may meet in one session, the most alike first. */
function alikeAmong(all: readonly Holding[], { skill: { near } }: Policy): [Holding, Holding][] {
  const words = all.map(({ skill }) => aboutOf(skill));
  const countOf = new Map<string, number>();
  for (const one of words) for (const word of one) countOf.set(word, (countOf.get(word) ?? 0) + 1);
  const byWord = new Map<string, number[]>();
  const pairs: { a: Holding; b: Holding; likeness: number }[] = [];
  for (const [n, own] of words.entries()) {
    const a = all[n] as Holding;
    const met = new Set<number>();
    // Two sets that share so much share one of their rarest words, so that only those are looked up.
    const rarest = [...own].sort((x, y) => (countOf.get(x) ?? 0) - (countOf.get(y) ?? 0) || compare(x, y));
    for (const word of rarest.slice(0, own.size - Math.ceil(near * own.size) + 1)) {
      const holders = byWord.get(word) ?? [];
      for (const other of holders) met.add(other);
      holders.push(n);
      byWord.set(word, holders);
    }
    for (const other of met) {
      const b = all[other] as Holding;
      const likeness = overlap(own, words[other] as Set<string>);
      if (likeness >= near && mayMeet(a, b)) pairs.push({ a: b, b: a, likeness });
    }
  }
  return pairs
    .sort((x, y) => y.likeness - x.likeness || compare(x.a.key, y.a.key) || compare(x.b.key, y.b.key))
    .map(({ a, b }) => [a, b]);
}

/** The same name in two realms is no accident: the project's goes before the person's. */
function mayMeet(a: Holding, b: Holding): boolean {
  if ((a.owner === "core" && b.owner === "core") || a.kind !== b.kind) return false;
  // What several lessons grew into is much like each of them, and takes their place when it goes live.
  if ((isEvolved(a) || isEvolved(b)) && isLearned(a) && isLearned(b)) return false;
  return a.realm === b.realm || ((a.realm === "user" || b.realm === "user") && a.skill.name !== b.skill.name);
}

function isEvolved({ skill }: Holding): boolean {
  return skill.metadata["evolved-from"] !== undefined;
}

function isLearned({ owner, reach }: Holding): boolean {
  return owner === "learned" && reach !== null;
}

function isLive({ reach }: Holding): boolean {
  return reach !== "draft";
}

function isNeeded({ neededAt }: Holding, now: number, { curate }: Policy): boolean {
  return neededAt !== null && daysBetween(neededAt, now) < curate.recentDays;
}

/** Orders by what a place is worth to them, the least first. */
function leastFirst(now: number, policy: Policy): (a: Holding, b: Holding) => number {
  return (a, b) => worthOf(a, now, policy) - worthOf(b, now, policy) || compare(a.key, b.key);
}

/** What a skill is worth its place: what it did, how sure it is, how lately it was needed. */
export function worthOf(one: Holding, now: number, { curate: { worth } }: Policy = defaults): number {
  const { helpful, used, harmful } = one.credit;
  const silent = Math.max(0, now - Math.max(one.since, one.neededAt ?? 0)) / day;
  return (
    worth.helpful * Math.log2(1 + helpful) +
    worth.used * Math.log2(1 + used) +
    worth.harmful * Math.log2(1 + harmful) +
    worth.sure * (one.confidence ?? 0) +
    worth.recent * 2 ** (-silent / worth.halfDays)
  );
}

/** What is known of it, in words. */
function evidenceFor({ credit, since, neededAt, confidence, approved }: Holding): string[] {
  const { shown, used, helpful, harmful, unrated } = credit;
  return [
    `${since > 0 ? `there since ${date(since)}` : "there for long"}, ${neededAt === null ? "never needed" : `last needed ${date(neededAt)}`}`,
    `shown in ${sessions(shown)}, used in ${used} (helped ${helpful}, harmed ${harmful}, unrated ${unrated})`,
    ...(confidence === null ? [] : [`${confidence.toFixed(2)} sure${approved ? ", a person said yes" : ""}`]),
  ];
}

/** The skill with a description that only says when; null where that saves nothing. What to do is in the body. */
function shortened(skill: Skill, most: number): Skill | null {
  const action = (skill.metadata["trigger-action"] ?? "").replace(/[\s.:;,!…]+$/, "");
  const at = action === "" ? -1 : skill.description.indexOf(`: ${action}`);
  const brief = at > 0 ? `${skill.description.slice(0, at)}.` : skill.description;
  const description = brief.length <= most ? brief : cutAtWord(brief, most);
  return description === "" || description.length >= skill.description.length
    ? null
    : { ...skill, description };
}

function listingOf(holdings: readonly Holding[]): number {
  return holdings.reduce((sum, { skill }) => sum + lineLength(skill), 0);
}

/** Of the line by which agents are told of a skill: `- name: description`. */
function lineLength({ name, description }: Pick<Skill, "name" | "description">): number {
  return `- ${name}: ${description}\n`.length;
}

function sessions(count: number): string {
  return `${count} session${count === 1 ? "" : "s"}`;
}

function date(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function daysBetween(from: number, to: number): number {
  return Math.max(0, Math.floor((to - from) / day));
}

const day = 86_400_000;
