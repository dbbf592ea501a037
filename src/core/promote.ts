import { type Instinct, type InstinctStatus, isTold, standingAt } from "./instinct.ts";
import { type Gist, gistOf, opposed, same } from "./likeness.ts";
import { ownWordIn, type Place } from "./own-word.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import { homesOf } from "./project.ts";
import { likenessOf } from "./symptom.ts";

/** A lesson that several projects have, or one that a person asks about, and whether it is to be told in all. */
export interface Shared {
  /** The one whose words are told, or would be. */
  readonly lesson: Instinct;
  /** All that say the same, that one among them. */
  readonly members: readonly Instinct[];
  /** The projects that have it, the surest first. */
  readonly projects: readonly string[];
  /** How sure those are on average. */
  readonly mean: number;
  /** It is told in all projects already. */
  readonly promoted: boolean;
  readonly verdict: Verdict;
}

/** What becomes of it: `join` brings members along that came later, `hold` takes it back. */
export type Verdict =
  | { readonly do: "promote" }
  | { readonly do: "join"; readonly members: readonly Instinct[] }
  | { readonly do: "hold"; readonly because: string }
  | { readonly do: "nothing"; readonly because: string };

export interface PromoteOptions {
  readonly now: number;
  /** What is known of projects, by id. */
  readonly projects: ReadonlyMap<string, Place>;
  /** The sessions that an instinct rests on: of two projects that share one, which was copied, one counts. */
  readonly runsOf?: (instinct: Instinct) => Iterable<string>;
  /** Also what nothing would become of. */
  readonly all?: boolean;
}

/**
 * The lessons that two or more projects have, by what they say and not by their wording. Each is looked at once: from
 * the surest down, the ones that say the same gather around it. The order in which instincts are given does not matter.
 */
export function sharedIn(
  instincts: readonly Instinct[],
  options: PromoteOptions,
  policy: Policy = defaults,
): Shared[] {
  const pool = poolOf(instincts, options, policy);
  const isLeading = (one: Entry) =>
    isPromoted(one.instinct, one.status) ||
    (counts(one.status) &&
      one.instinct.scope === "project" &&
      !isGlobal(one) &&
      (options.all || one.confidence >= policy.promote.mean));
  const leaders = pool.filter(isLeading);
  if (leaders.length === 0) return [];
  const near = searcher(pool, policy);
  const taken = new Set<Entry>();
  const found: Shared[] = [];
  for (const leader of leaders) {
    if (taken.has(leader)) continue;
    const alike = near(leader).filter((other) => !taken.has(other) || !counts(other.status));
    const group = groupOf(leader, alike, policy);
    for (const member of group.members) taken.add(member);
    const places = new Set([...group.members, ...group.fallen].map(({ home }) => home));
    // Most lessons are one project's, and need no judging.
    if (places.size >= policy.promote.projects || isPromoted(leader.instinct, leader.status))
      found.push(judge(group, options, policy));
  }
  return found;
}

/** What is known that is like one instinct, for a person who asks to promote it. */
export function sharedWith(
  instinct: Instinct,
  instincts: readonly Instinct[],
  options: PromoteOptions,
  policy: Policy = defaults,
): Shared {
  const own = entryOf(instinct, options.now, homesOf(options.projects), policy);
  const others = instincts.filter(({ id }) => id !== instinct.id);
  const pool = poolOf(others, options, policy);
  return judge(groupOf(own, searcher([own, ...pool], policy)(own), policy), options, policy);
}

/** What becomes of a lesson that was about to be promoted, once it is known which sessions its members rest on. */
export function withRuns(
  shared: Shared,
  options: PromoteOptions & Required<Pick<PromoteOptions, "runsOf">>,
  policy: Policy = defaults,
): Shared {
  const homeOf = homesOf(options.projects);
  const members = shared.members.map((instinct) => entryOf(instinct, options.now, homeOf, policy));
  const projects = projectsOf({ members }, options, policy);
  const counted = { projects: projects.map(({ project }) => project), mean: meanOf(projects) };
  const because = tooFew(counted, policy);
  return { ...shared, ...counted, verdict: because === null ? shared.verdict : withheld(members, because) };
}

/** An instinct as it is now. */
interface Entry {
  readonly instinct: Instinct;
  /** Its project, by the one id of all that it goes by. */
  readonly home: string;
  readonly status: InstinctStatus;
  readonly confidence: number;
  readonly gist: Gist;
}

/** Its gist is read when it is needed: where nothing is sure enough, none is. */
function entryOf(
  instinct: Instinct,
  now: number,
  homeOf: (project: string) => string,
  policy: Policy,
): Entry {
  let gist: Gist | null = null;
  return {
    instinct,
    home: homeOf(instinct.project),
    ...standingAt(instinct.standing, now, policy),
    get gist() {
      gist ??= gistOf(instinct);
      return gist;
    },
  };
}

/** What may speak for or against promoting: what was told already first, then the surest. */
function poolOf(instincts: readonly Instinct[], { now, projects }: PromoteOptions, policy: Policy): Entry[] {
  const homeOf = homesOf(projects);
  return instincts
    .filter(({ project }) => project !== "unknown")
    .map((instinct) => entryOf(instinct, now, homeOf, policy))
    .filter(({ status }) => status !== "retired")
    .sort(leadingFirst);
}

function leadingFirst(a: Entry, b: Entry): number {
  const told = Number(isTold(b.instinct)) - Number(isTold(a.instinct));
  const [one, other] = [a.instinct.standing, b.instinct.standing];
  return (
    told ||
    b.confidence - a.confidence ||
    other.sessions - one.sessions ||
    one.firstAt - other.firstAt ||
    (a.instinct.id < b.instinct.id ? -1 : 1)
  );
}

/** Whether it is told, or something is told for it. */
function isPromoted({ standing: { promotion } }: Instinct, status: InstinctStatus): boolean {
  return status === "promoted" && promotion?.lesson != null;
}

/** Whether a person's own word has it told everywhere. */
function isGlobal({ instinct: { scope, standing }, status }: Entry): boolean {
  return (scope === "user" || status === "promoted") && standing.promotion === undefined;
}

function counts(status: InstinctStatus): boolean {
  return status === "pending" || status === "active" || status === "promoted";
}

interface Group {
  readonly leader: Entry;
  /** All that say the same and stand, the leader first. */
  readonly members: readonly Entry[];
  /** Those that say the same and were refused, overtaken or held. */
  readonly fallen: readonly Entry[];
  /** Those that say the opposite on the same occasion. */
  readonly against: readonly Entry[];
  /** One that says the same and is the person's, in all projects. */
  readonly everywhere: Entry | null;
}

function groupOf(leader: Entry, near: readonly Entry[], policy: Policy): Group {
  const warns = leader.gist.shuns.size > 0;
  const alike = near
    .filter((other) => same(leader.gist, other.gist, policy) && isSameTrouble(leader, other))
    .sort(leadingFirst);
  return {
    leader,
    members: [leader, ...alike.filter((one) => counts(one.status) && !isGlobal(one))],
    fallen: alike.filter(({ status }) => !counts(status)),
    against: near
      .filter(
        (other) =>
          (warns || other.gist.shuns.size > 0) &&
          counts(other.status) &&
          other.home !== leader.home &&
          opposed(leader.gist, other.gist, policy),
      )
      .sort(leadingFirst),
    everywhere: alike.find((one) => counts(one.status) && isGlobal(one)) ?? null,
  };
}

/**
 * Of two lessons about failures, whether it is one trouble or one remedy. Knack says much of them in words of its own,
 * "run it again", "outside the change": that two projects meet in those says nothing.
 */
function isSameTrouble({ instinct: a }: Entry, { instinct: b }: Entry): boolean {
  if (a.symptom === null || b.symptom === null || likenessOf(a.symptom, b.symptom) > 0) return true;
  const [program, ...rest] = a.call ?? [];
  const [other, ...parts] = b.call ?? [];
  return program !== undefined && program === other && rest.some((part) => parts.includes(part));
}

function judge(group: Group, options: PromoteOptions, policy: Policy): Shared {
  const { leader, members } = group;
  const promoted = isTold(leader.instinct);
  const projects = projectsOf(group, options, policy);
  const general = promoted ? leader : (members.find((one) => wordOf(one, options, policy) === null) ?? null);
  const shared = {
    lesson: (general ?? leader).instinct,
    members: members.map(({ instinct }) => instinct),
    projects: projects.map(({ project }) => project),
    mean: meanOf(projects),
    promoted,
  };
  const objection = objectionTo(group, options);
  if (promoted) {
    const isFinal = leader.instinct.standing.promotion?.byPerson === true;
    if (objection !== null && !isFinal) return { ...shared, verdict: { do: "hold", because: objection } };
    const later = members.flatMap(({ instinct }) =>
      instinct.standing.promotion === undefined ? instinct : [],
    );
    return {
      ...shared,
      verdict:
        later.length > 0
          ? { do: "join", members: later }
          : { do: "nothing", because: "it is told in all projects already" },
    };
  }
  const because =
    objection ??
    takenBack(group) ??
    (group.everywhere ? "it is known for all projects already" : null) ??
    tooFew(shared, policy) ??
    (general === null ? `it speaks of ${wordOf(leader, options, policy)}, which is one project's own` : null);
  if (because === null) return { ...shared, verdict: { do: "promote" } };
  return { ...shared, verdict: withheld(members, because) };
}

/** Where what was told for these is gone, each is its own project's again. */
function withheld(members: readonly Entry[], because: string): Verdict {
  const isLeft = members.some(({ instinct, status }) => isPromoted(instinct, status));
  return { do: isLeft ? "hold" : "nothing", because };
}

/** Who does not agree; null where nobody disagrees. */
function objectionTo({ members, fallen, against }: Group, { projects }: PromoteOptions): string | null {
  const nameOf = ({ project }: Instinct) => projects.get(project)?.name ?? project;
  const refused = fallen.find(({ status }) => status === "rejected");
  if (refused) return `it was refused in ${nameOf(refused.instinct)}`;
  const contradicted = [...fallen, ...members].find(({ instinct }) => instinct.standing.contradicted);
  if (contradicted) return `it was contradicted in ${nameOf(contradicted.instinct)}`;
  const [other] = against;
  return other ? `${nameOf(other.instinct)} says the opposite` : null;
}

function takenBack({ members }: Group): string | null {
  const isBack = members.some(({ instinct: { standing } }) => {
    return standing.promotion?.lesson === null && standing.promotion.byPerson;
  });
  return isBack ? "that was taken back" : null;
}

function tooFew({ projects, mean }: Pick<Shared, "projects" | "mean">, { promote }: Policy): string | null {
  if (projects.length < promote.projects) return `${projects.length} of ${promote.projects} projects have it`;
  return mean < promote.mean
    ? `${mean.toFixed(2)} sure on average, ${promote.mean.toFixed(2)} is needed`
    : null;
}

interface Sure {
  readonly project: string;
  readonly confidence: number;
}

/**
 * The projects that count: all, unless the doubtful ones among them spoil the average; that one more project has begun
 * to learn a lesson is no reason against it.
 */
function projectsOf(
  { members }: Pick<Group, "members">,
  { runsOf = () => [] }: PromoteOptions,
  { promote }: Policy,
): Sure[] {
  const best: Entry[] = [];
  const [places, seen] = [new Set<string>(), new Set<string>()];
  for (const member of [...members].sort((a, b) => b.confidence - a.confidence)) {
    const runs = [...runsOf(member.instinct)];
    if (places.has(member.home) || runs.some((run) => seen.has(run))) continue;
    best.push(member);
    places.add(member.home);
    for (const run of runs) seen.add(run);
  }
  const all = best.map(({ home, confidence }) => ({ project: home, confidence }));
  for (let count = all.length; count >= promote.projects; count--)
    if (meanOf(all.slice(0, count)) >= promote.mean) return all.slice(0, count);
  return all;
}

function meanOf(projects: readonly Sure[]): number {
  const sum = projects.reduce((total, { confidence }) => total + confidence, 0);
  return projects.length === 0 ? 0 : Math.round((sum / projects.length) * 1e6) / 1e6;
}

/** A word by which a lesson belongs to a project alone. */
function wordOf({ instinct }: Entry, { projects }: PromoteOptions, policy: Policy): string | null {
  return ownWordIn(instinct, projects.get(instinct.project) ?? null, policy);
}

/** Finds what may be the same as an entry, or opposed to it, without looking at every other one. */
function searcher(pool: readonly Entry[], { learn }: Policy): (entry: Entry) => Entry[] {
  const alike = findAlike(pool, ({ all }) => all, learn.same);
  const triggers = (entries: readonly Entry[]) =>
    findAlike(entries, ({ trigger }) => trigger, learn.sameTrigger);
  const warned = triggers(pool.filter(({ gist }) => gist.shuns.size > 0));
  let besides: typeof warned | null = null;
  return (entry) => {
    const near = alike(entry);
    // Only who warns of something can be opposed to somebody.
    if (entry.gist.shuns.size > 0) besides ??= triggers(pool);
    const beside = (entry.gist.shuns.size > 0 ? besides : warned)?.(entry) ?? [];
    return [...new Set([...near, ...beside])].filter((other) => other !== entry);
  };
}

/** Words that two sets which overlap so much must share among their rarest. */
const sharedRarest = 3;

/**
 * Finds the entries whose words may overlap by a share. Two sets that do have so many words in common that the first
 * few of those, in the order of rarity, stand among the rarest words of both: only these are looked up, and the common
 * words that all have are not.
 */
function findAlike(
  entries: readonly Entry[],
  wordsOf: (gist: Gist) => ReadonlySet<string>,
  share: number,
): (entry: Entry) => Entry[] {
  const times = new Map<string, number>();
  for (const { gist } of entries)
    for (const word of wordsOf(gist)) times.set(word, (times.get(word) ?? 0) + 1);
  const rarestOf = (gist: Gist) => {
    const words = [...wordsOf(gist)];
    const needed = Math.ceil(share * words.length - 1e-9);
    const rank = (word: string) => times.get(word) ?? 0;
    words.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
    return { words: words.slice(0, words.length - needed + sharedRarest), needed };
  };
  const places = new Map<string, number[]>();
  const known = new Map(entries.map((entry) => [entry, rarestOf(entry.gist)]));
  [...known.values()].forEach(({ words }, at) => {
    for (const word of words) {
      const list = places.get(word);
      if (list) list.push(at);
      else places.set(word, [at]);
    }
  });
  // Counted in a row of numbers that is never cleared: what was counted for one is less than nothing for the next.
  const counts = new Int32Array(entries.length);
  let start = 0;
  return (entry) => {
    const { words, needed } = known.get(entry) ?? rarestOf(entry.gist);
    const enough = start + Math.max(1, Math.min(sharedRarest, needed));
    const found: Entry[] = [];
    for (const word of words)
      for (const at of places.get(word) ?? []) {
        const count = Math.max(counts[at] ?? 0, start) + 1;
        counts[at] = count;
        if (count === enough) found.push(entries[at] as Entry);
      }
    start += words.length + 1;
    return found;
  };
}
