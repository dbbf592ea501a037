import { compareText } from "../../base/index.ts";
import type { Credit } from "../../lessons/index.ts";
import type { ItemKind, Owner, Reach, Skill } from "../../records/index.ts";
import { createOverlapSearch, cutAtWord, measureSimilarity, several } from "../../text/index.ts";
import { mergeSkills, type SkillMerge } from "../publish/render.ts";
import { sameTopicFrom, titleTerms } from "../skill.ts";

/** Learned skills that are live in one scope, drafts there, and characters of the list that agents get of the live ones. */
export const curationLimits = { live: 40, drafts: 40, listingChars: 2_000 } as const;
/** Sessions that an item must harm before it is demoted, or help before a draft goes live. */
const harmfulSessions = 2;
const helpfulSessions = 2;
/** Days without use after which an item is called stale, and after which it is archived. */
const staleDays = 30;
const archiveDays = 90;
/** Days within which use, help or new evidence protect an item from making room for others. */
const recentDays = 30;
/** Sessions in which an item was shown and never helped after which a person should look at it. */
const shownInVain = 5;
/** Characters of a description that was shortened to fit the list. */
const shortChars = 90;
/** Weights of an item's worth: per doubling of sessions helped, used and harmed; confidence; decaying recency. */
const worth = { helpful: 1, used: 0.5, harmful: -1, confidence: 0.5, recent: 1, halfLifeDays: 30 } as const;
const dayMs = 86_400_000;

/** Something in the library, with everything that decides about its future. */
export interface InventoryItem {
  /** Unique: a draft and a live item may share everything else. */
  readonly key: string;
  readonly kind: ItemKind;
  /** Made of several lessons. */
  readonly isEvolved?: boolean;
  /** Its parsed file; a command or an agent is converted to this form. */
  readonly skill: Skill;
  /** A project id, or "user". */
  readonly scopeId: string;
  readonly owner: Owner;
  /** Whom it reaches; null for what Knack did not write. */
  readonly reach: Reach | null;
  readonly pinned: boolean;
  /** A person's text that mentions it. */
  readonly namedIn: string | null;
  /** A person edited what Knack wrote. */
  readonly edited: boolean;
  /** A person accepted it. */
  readonly approved: boolean;
  /** When it was put there. */
  readonly since: number;
  /** When it was last used, helped, learned again or asked for again; null for never. */
  readonly neededAt: number | null;
  /** Sessions of all time. */
  readonly credit: Pick<Credit, "shown" | "used" | "helpful" | "harmful" | "unrated">;
  /** Sessions that it harmed and helped since it was put there. */
  readonly harmed: number;
  readonly helped: number;
  /** The reason of a person whose latest rating since then says that it is harmful; null where they did not say so. */
  readonly condemned: string | null;
  readonly confidence: number | null;
}

type CurationReason =
  | "harmful"
  | "never-used"
  | "stale"
  | "duplicate"
  | "over-cap"
  | "over-listing"
  | "shown-in-vain";

type CurationProposal = {
  /** The key of the item. */
  readonly about: string;
  readonly name: string;
  readonly scopeId: string;
  readonly reason: CurationReason;
  /** The action, which can be undone; "none" only reports. */
  readonly action: "archive" | "draft" | "shorten" | "merge" | "none";
  /** Why, as a sentence without its full stop. */
  readonly because: string;
  readonly evidence: readonly string[];
  /** Why nothing is done although something should be. */
  readonly spared: string | null;
  /** The key of the other item: of a duplicate, or of what it is merged into. */
  readonly other: string | null;
  /** For a merge or a shortening: the skill as it will be. */
  readonly skill: Skill | null;
};

/**
 * Judges an item by its use: harmful in two sessions and helpful in no more, or proven by two helpful sessions and
 * fewer harmful ones. Probation and curation share this rule.
 */
export function judgeUse({ harmed, helped }: Pick<InventoryItem, "harmed" | "helped">) {
  if (harmed >= harmfulSessions && harmed >= helped) return "harmful";
  return helped >= helpfulSessions && helped > harmed ? "proven" : null;
}

/** The rules by which the library stays small. */
export class CurationRules {
  private readonly all: readonly InventoryItem[];
  private readonly now: number;
  /** Proposals so far; at most one acts on each item. */
  private readonly proposals: CurationProposal[] = [];

  constructor(all: readonly InventoryItem[], now: number) {
    this.all = [...all].sort((a, b) => compareText(a.key, b.key));
    this.now = now;
  }

  /** Proposals for the library, most important first. */
  propose(): readonly CurationProposal[] {
    this.proposeHarmful();
    this.proposeAged();
    this.proposeDuplicates();
    for (const own of this.scopes()) this.proposeOverLive(own);
    for (const own of this.scopes()) this.proposeOverListing(own);
    for (const own of this.scopes()) this.proposeOverDrafts(own);
    this.proposeShownInVain();
    return this.proposals;
  }

  /** How much of its room each scope uses; `listing` is the characters of the list of its live items. */
  measureRooms() {
    return this.scopes().map((own) => {
      const live = own.filter(isLive);
      const [{ scopeId }] = own as [InventoryItem];
      return { scopeId, live: live.length, drafts: own.length - live.length, listing: sumLines(live) };
    });
  }

  /** Whether one more skill may go live in a scope, or which unneeded, unaccepted item would have to be archived for it. */
  findRoom(
    scopeId: string,
    wanted: Pick<Skill, "name" | "description">,
  ): { readonly room: true } | { readonly room: false; readonly instead: InventoryItem | null } {
    const live = this.all.filter((one) => isLearned(one) && isLive(one) && one.scopeId === scopeId);
    const over = sumLines(live) + measureLine(wanted) - curationLimits.listingChars;
    if (live.length < curationLimits.live && over <= 0) return { room: true };
    const [instead = null] = this.listDispensable(live).filter(
      (one) => !one.approved && one.credit.helpful === 0 && measureLine(one.skill) >= over,
    );
    return { room: false, instead };
  }

  private proposeHarmful(): void {
    for (const one of this.all) {
      if (one.condemned === null && one.harmed < harmfulSessions) continue;
      const said = one.condemned === "" ? "" : `: ${one.condemned}`;
      const because =
        one.condemned === null
          ? `it did harm in ${several(one.harmed, "session")} and helped in ${one.helped}`
          : `you rated it harmful${said}`;
      const isHarmful = one.condemned !== null || judgeUse(one) === "harmful";
      const action = !isHarmful ? "none" : isLive(one) ? "draft" : "archive";
      this.add(one, { reason: "harmful", action, because });
    }
  }

  /** Items unused for long; of items others wrote, only those used before. */
  private proposeAged(): void {
    for (const one of this.untouched(this.all)) {
      if (!isLearned(one) && one.neededAt === null) continue;
      const silent = this.countDays(Math.max(one.since, one.neededAt ?? 0));
      if (silent < staleDays) continue;
      const action = silent >= archiveDays ? "archive" : "none";
      if (one.neededAt === null)
        this.add(one, { reason: "never-used", action, because: `never used in ${silent} days` });
      else this.add(one, { reason: "stale", action, because: `not needed for ${silent} days` });
    }
  }

  /** Pairs about the same thing: two that Knack wrote for the same people are merged, others are reported. */
  private proposeDuplicates(): void {
    const merged = new Set<string>();
    const reported = new Set<string>();
    for (const pair of findSimilarPairs(this.untouched(this.all))) {
      if (pair.some(({ key }) => merged.has(key))) continue;
      const [worse, better] = this.sortByWorth(pair) as [InventoryItem, InventoryItem];
      const result = mergePair(better, worse);
      // Of many that are alike, each is reported once, beside the most similar one.
      if (!result.merged && pair.every(({ key }) => reported.has(key))) continue;
      for (const { key } of pair) (result.merged ? merged : reported).add(key);
      const reason = "duplicate";
      if (result.merged) {
        const because = `much like ${better.skill.name}, which will say what both say`;
        this.add(worse, { reason, because, action: "merge", other: better.key, skill: result.skill });
      } else {
        const [about, other] = isLearned(worse) ? [worse, better] : [better, worse];
        const because = `much like ${other.skill.name}`;
        this.add(about, { reason, because, action: "none", other: other.key, spared: result.because });
      }
    }
  }

  /** More live items than allowed: those worth least are archived, but none that was needed lately. */
  private proposeOverLive(own: readonly InventoryItem[]): void {
    const left = this.staying(own.filter(isLive));
    const { live } = curationLimits;
    this.archiveLeast(left, left.length - live, `one of ${left.length} learned skills; ${live} are kept`);
  }

  /** Archives drafts over the limit, counting pending demotions. */
  private proposeOverDrafts(own: readonly InventoryItem[]): void {
    const left = this.staying(own.filter((one) => !isLive(one)));
    const keys = new Set(own.map(({ key }) => key));
    const demoted = this.proposals.filter(({ about, action }) => action === "draft" && keys.has(about));
    const count = left.length + demoted.length;
    const { drafts } = curationLimits;
    this.archiveLeast(left, count - drafts, `one of ${count} drafts; ${drafts} are kept`);
  }

  private archiveLeast(left: readonly InventoryItem[], count: number, because: string): void {
    for (const one of this.listDispensable(left).slice(0, Math.max(0, count)))
      this.add(one, { reason: "over-cap", action: "archive", because });
  }

  /** Agents read the list before every prompt, so a long one gets shorter lines first, then fewer. */
  private proposeOverListing(own: readonly InventoryItem[]): void {
    const { listingChars } = curationLimits;
    const left = this.staying(own.filter(isLive));
    const listed = sumLines(left);
    if (listed <= listingChars) return;
    const because = `the list of learned skills has ${listed} characters; ${listingChars} are read`;
    const { gone, short } = this.fitListing(left);
    for (const one of gone) this.add(one, { reason: "over-listing", action: "draft", because });
    for (const [one, skill] of short)
      this.add(one, { reason: "over-listing", action: "shorten", because, skill });
  }

  /** Which lines of a list to drop, and which to shorten, so that it fits. */
  private fitListing(left: readonly InventoryItem[]) {
    const { listingChars } = curationLimits;
    const short = new Map<InventoryItem, Skill>();
    for (const one of this.untouched(left)) {
      const skill = one.kind === "skill" && explainSparing(one) === null ? shorten(one.skill) : null;
      if (skill) short.set(one, skill);
    }
    const measure = (one: InventoryItem) => measureLine(short.get(one) ?? one.skill);
    let total = left.reduce((sum, one) => sum + measure(one), 0);
    const gone: InventoryItem[] = [];
    for (const one of this.listDispensable(left)) {
      if (total <= listingChars) break;
      total -= measure(one);
      short.delete(one);
      gone.push(one);
    }
    // Where that leaves room, the best keep their words.
    for (const one of this.sortByWorth([...short.keys()]).reverse()) {
      const more = measureLine(one.skill) - measure(one);
      if (total + more > listingChars) continue;
      total += more;
      short.delete(one);
    }
    return { gone, short };
  }

  /** Reports items shown often but never rated helpful, perhaps for lack of ratings. */
  private proposeShownInVain(): void {
    for (const one of this.untouched(this.all)) {
      const { shown, helpful } = one.credit;
      if (shown < shownInVain || helpful > 0) continue;
      const because = `shown in ${several(shown, "session")} and never known to help`;
      this.add(one, { reason: "shown-in-vain", action: "none", because });
    }
  }

  /** Adds a proposal about an item; what is not Knack's to change is only reported. */
  private add(
    one: InventoryItem,
    proposal: Pick<CurationProposal, "reason" | "action" | "because"> &
      Partial<Pick<CurationProposal, "spared" | "other" | "skill">>,
  ): void {
    const spared = proposal.action === "none" ? null : explainSparing(one);
    this.proposals.push({
      ...{ about: one.key, name: one.skill.name, scopeId: one.scopeId },
      ...{ evidence: describeEvidence(one), other: null, skill: null, spared },
      ...proposal,
      action: spared === null ? proposal.action : "none",
    });
  }

  /** The items that no proposal changes. */
  private untouched(items: readonly InventoryItem[]): InventoryItem[] {
    const acting = this.proposals.filter(({ action }) => action !== "none");
    const touched = new Set(acting.flatMap(({ about, other }) => [about, other]));
    return items.filter(({ key }) => !touched.has(key));
  }

  /** The items that stay where they are. */
  private staying(items: readonly InventoryItem[]): InventoryItem[] {
    const going = new Set(this.proposals.flatMap(({ about, action }) => (action === "none" ? [] : about)));
    return items.filter(({ key }) => !going.has(key));
  }

  /** The items that may make room, those worth least first. */
  private listDispensable(items: readonly InventoryItem[]): InventoryItem[] {
    const isNeeded = ({ neededAt }: InventoryItem) =>
      neededAt !== null && this.countDays(neededAt) < recentDays;
    return this.sortByWorth(
      this.untouched(items).filter((one) => explainSparing(one) === null && !isNeeded(one)),
    );
  }

  /** Learned items, grouped by scope. */
  private scopes(): InventoryItem[][] {
    const learned = this.all.filter(isLearned);
    const scopeIds = [...new Set(learned.map(({ scopeId }) => scopeId))].sort(compareText);
    return scopeIds.map((scopeId) => learned.filter((one) => one.scopeId === scopeId));
  }

  private sortByWorth(items: readonly InventoryItem[]): InventoryItem[] {
    return items.toSorted(
      (a, b) => measureWorth(a, this.now) - measureWorth(b, this.now) || compareText(a.key, b.key),
    );
  }

  private countDays(from: number): number {
    return Math.max(0, Math.floor((this.now - from) / dayMs));
  }
}

function mergePair(better: InventoryItem, worse: InventoryItem): SkillMerge {
  const spared = explainSparing(better) ?? explainSparing(worse);
  if (spared !== null) return { merged: false, because: spared };
  return better.scopeId === worse.scopeId && better.reach === worse.reach
    ? mergeSkills(better.skill, worse.skill)
    : { merged: false, because: "they are not for the same people" };
}

/** Why only a person may change an item; null if Knack may. */
function explainSparing(one: InventoryItem): string | null {
  if (one.owner === "hand-written" || one.owner === "imported") return "it is not Knack's to change";
  if (one.owner === "core") return "it came with an agent or a plugin";
  if (one.edited) return "you changed it by hand";
  if (one.pinned) return "it is pinned";
  return one.namedIn === null ? null : `${one.namedIn} names it`;
}

/** Pairs about the same thing that may meet in one session, the most similar first. */
function findSimilarPairs(all: readonly InventoryItem[]): [InventoryItem, InventoryItem][] {
  const terms = new Map(all.map((one) => [one, titleTerms(one.skill)]));
  const termsOf = (one: InventoryItem) => terms.get(one) as Set<string>;
  const findNear = createOverlapSearch(all, termsOf, sameTopicFrom);
  const pairs = all.flatMap((one) =>
    findNear(one).flatMap((other) => {
      const pair: [InventoryItem, InventoryItem] = [other, one];
      const similarity = measureSimilarity(termsOf(other), termsOf(one));
      const isMeant = other.key < one.key && similarity >= sameTopicFrom && mayMeet(...pair);
      return isMeant ? [{ pair, similarity }] : [];
    }),
  );
  const key = ({ pair: [a, b] }: (typeof pairs)[number]) => `${a.key}\n${b.key}`;
  return pairs
    .sort((x, y) => y.similarity - x.similarity || compareText(key(x), key(y)))
    .map(({ pair }) => pair);
}

/** Whether two items can be offered in one session. The same name in two scopes is intended: the project's wins. */
function mayMeet(a: InventoryItem, b: InventoryItem): boolean {
  if ((a.owner === "core" && b.owner === "core") || a.kind !== b.kind) return false;
  // What several lessons evolved into resembles each of them, and replaces them when it goes live.
  const isEvolved = a.isEvolved || b.isEvolved;
  if (isEvolved && isLearned(a) && isLearned(b)) return false;
  const isForPerson = a.scopeId === "user" || b.scopeId === "user";
  return a.scopeId === b.scopeId || (isForPerson && a.skill.name !== b.skill.name);
}

function isLearned({ owner, reach }: InventoryItem): boolean {
  return owner === "learned" && reach !== null;
}

function isLive({ reach }: InventoryItem): boolean {
  return reach !== "draft";
}

function measureWorth({ credit, since, neededAt, confidence }: InventoryItem, now: number): number {
  const silentDays = Math.max(0, now - Math.max(since, neededAt ?? 0)) / dayMs;
  return (
    worth.helpful * Math.log2(1 + credit.helpful) +
    worth.used * Math.log2(1 + credit.used) +
    worth.harmful * Math.log2(1 + credit.harmful) +
    worth.confidence * (confidence ?? 0) +
    worth.recent * 2 ** (-silentDays / worth.halfLifeDays)
  );
}

function describeEvidence({ credit, since, neededAt, confidence, approved }: InventoryItem): string[] {
  const { shown, used, helpful, harmful, unrated } = credit;
  const date = (at: number) => new Date(at).toISOString().slice(0, 10);
  return [
    `${since > 0 ? `there since ${date(since)}` : "there for long"}, ${neededAt === null ? "never needed" : `last needed ${date(neededAt)}`}`,
    `shown in ${several(shown, "session")}, used in ${used} (helped ${helpful}, harmed ${harmful}, unrated ${unrated})`,
    ...(confidence === null ? [] : [`${confidence.toFixed(2)} sure${approved ? ", a person said yes" : ""}`]),
  ];
}

/** The skill with its description cut to when to use it; null if that saves nothing. */
function shorten(skill: Skill): Skill | null {
  const [when = ""] = skill.description.split(": ", 1);
  const brief = when.startsWith("Use when") && when !== skill.description ? `${when}.` : skill.description;
  const description = cutAtWord(brief, shortChars);
  const saves = description !== "" && description.length < skill.description.length;
  return saves ? { ...skill, description } : null;
}

function sumLines(items: readonly InventoryItem[]): number {
  return items.reduce((sum, { skill }) => sum + measureLine(skill), 0);
}

/** Length of a skill's line in the list that agents get. */
function measureLine({ name, description }: Pick<Skill, "name" | "description">): number {
  return `- ${name}: ${description}\n`.length;
}
