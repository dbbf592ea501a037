import type { Ask } from "./ask.ts";
import { asksFor, orderIn } from "./ask.ts";
import { idle, particular, stemOf } from "./ask-words.ts";
import { type Domain, domainOf } from "./domain.ts";
import { fieldsOf } from "./field.ts";
import type { ArtifactKind } from "./finding.ts";
import { isSaid } from "./finding.ts";
import { idOf } from "./ids.ts";
import { type Instinct, type InstinctStatus, realmOf, standingAt } from "./instinct.ts";
import { contrary, type Gist, gistOf } from "./likeness.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import { isWaiting } from "./suggest.ts";
import { wordsOf } from "./words.ts";

/** What several instincts can grow into. */
export type EvolvedKind = Exclude<ArtifactKind, "rule">;

/** A prompt in which a person asked to have something done. */
export interface Request {
  readonly project: string;
  readonly session: string;
  readonly at: number;
  readonly ask: Ask;
}

/** Instincts about one thing, which say more together than each alone. */
export interface Cluster {
  /** That of its earliest member; one that was made before may go by another, and is known by its members. */
  readonly id: string;
  /** A project, or "user". */
  readonly realm: string;
  readonly domain: Domain;
  /** The field of work, which says more than the domain; "general" where nothing tells. */
  readonly field: string;
  readonly kind: EvolvedKind;
  /** Why it is of that kind, in words. */
  readonly why: string;
  /** The surest first. */
  readonly members: readonly Instinct[];
  /** How sure they are on the average, as of now. */
  readonly confidence: number;
  /** The words that they share, those that most of them have first. */
  readonly topic: readonly string[];
  /** How people asked for it, the latest of each session. */
  readonly asked: readonly Request[];
}

/** Whether an id means what several instincts grew into. */
export function isEvolvedId(id: string): boolean {
  return /^v[0-9a-z]{11}$/.test(id);
}

/**
 * The instincts that belong together, by when they apply and what they are about. Whatever order they come in, the
 * outcome is the same; and the time it takes grows with their number, not with that of their pairs.
 */
export function clustersOf(
  instincts: readonly Instinct[],
  { now, policy = defaults }: { readonly now: number; readonly policy?: Policy },
): Cluster[] {
  const realms = new Map<string, Node[]>();
  for (const instinct of instincts) {
    const { status, confidence } = standingAt(instinct.standing, now, policy);
    if (!mayEvolve(status, instinct, policy)) continue;
    const realm = realmOf(instinct);
    const nodes = realms.get(realm) ?? [];
    realms.set(realm, nodes);
    const gist = gistOf(instinct);
    nodes.push({
      instinct,
      confidence,
      gist,
      fields: fieldsOf(instinct),
      terms: termsOf(instinct, gist),
      near: [],
    });
  }
  const clusters = [...realms].flatMap(([realm, nodes]) =>
    groupsAmong(nodes, policy).map((group) => clusterOf(realm, group, policy)),
  );
  return clusters.sort((a, b) => worth(b) - worth(a) || (a.id < b.id ? -1 : 1));
}

/** More members first, then the surer ones. */
function worth({ members, confidence }: Cluster): number {
  return members.length + confidence;
}

/** What lives, and is more than one session's word. */
function mayEvolve(status: InstinctStatus, instinct: Instinct, policy: Policy): boolean {
  const isAgreed = instinct.standing.sessions > 1 && !isWaiting(instinct, policy);
  return status === "active" || status === "promoted" || (status === "pending" && isAgreed);
}

interface Node {
  readonly instinct: Instinct;
  readonly confidence: number;
  readonly fields: readonly string[];
  readonly gist: Gist;
  readonly terms: ReadonlySet<string>;
  readonly near: { readonly node: Node; readonly likeness: number }[];
}

/**
 * The words of an occasion; those that any work has tell nothing. Of a failure, what was done tells what it is about:
 * what it said tells one from another.
 */
function termsOf({ trigger, symptom }: Instinct, gist: Gist): Set<string> {
  const [done = ""] = symptom === null ? [] : trigger.split(/:\s/);
  const words = done === "" ? gist.trigger : gistOf({ trigger: done, action: "" }).trigger;
  const terms = [...(words.size > 0 ? words : gist.trigger)].map(stemOf).filter((word) => !vague.has(word));
  return new Set(terms.slice(0, mostTerms));
}

/** A longer trigger quotes something. */
const mostTerms = 24;

const vague = new Set(
  (
    "run running rerun use work make made do write add change update new always never before after while during need want try " +
    "fail failing failure command call task thing file code project repo repository step way case exit status line issue problem"
  ).split(" "),
);

/** Groups of those that are near each other: around the one that has most of them near, so that chains join nothing. */
function groupsAmong(all: readonly Node[], policy: Policy): Node[][] {
  const nodes = [...all].sort((a, b) => b.confidence - a.confidence || byId(a, b));
  findNear(nodes, policy);
  const taken = new Set<Node>();
  const groups: Node[][] = [];
  for (const middle of [...nodes].sort((a, b) => b.near.length - a.near.length || byId(a, b))) {
    const around = taken.has(middle) ? [] : middle.near.filter(({ node }) => !taken.has(node));
    if (around.length + 1 < policy.evolve.fewest) continue;
    const group = sureEnough(
      aboutOneThing(withoutContrary([middle, ...nearestFirst(around)], policy)),
      policy,
    );
    if (group.length < policy.evolve.fewest) continue;
    // What is near but not in it would only make a second one about the same.
    for (const { node } of around) taken.add(node);
    for (const node of [middle, ...group]) taken.add(node);
    groups.push(group);
  }
  return groups;
}

function byId(a: Node, b: Node): number {
  return a.instinct.id < b.instinct.id ? -1 : 1;
}

function nearestFirst(near: Node["near"]): Node[] {
  return [...near].sort((a, b) => b.likeness - a.likeness || byId(a.node, b.node)).map(({ node }) => node);
}

/**
 * Finds for each the others that are near it. Of those that share a word, the surest are looked at: a word that
 * hundreds have does not tell what belongs together.
 */
function findNear(nodes: readonly Node[], { evolve }: Policy): void {
  const byTerm = new Map<string, number[]>();
  const shared = new Uint16Array(nodes.length);
  for (const [at, node] of nodes.entries()) {
    const met: number[] = [];
    for (const term of node.terms) {
      const holders = byTerm.get(term) ?? [];
      byTerm.set(term, holders);
      for (const other of holders) if ((shared[other] as number)++ === 0) met.push(other);
      if (holders.length < evolve.crowd) holders.push(at);
    }
    for (const number of met) {
      const other = nodes[number] as Node;
      const words = overlapOf(node, other, shared[number] as number) * (1 - evolve.field);
      shared[number] = 0;
      // Few get so far that the field decides.
      if (words + evolve.field < evolve.near) continue;
      const likeness = words + (isOneField(node, other) ? evolve.field : 0);
      if (likeness < evolve.near) continue;
      node.near.push({ node: other, likeness });
      other.near.push({ node, likeness });
    }
  }
}

/** How much of the occasion two have in common that share so many terms. */
function overlapOf(a: Node, b: Node, shared: number): number {
  return shared / (a.terms.size + b.terms.size - shared);
}

function isOneField(a: Node, b: Node): boolean {
  return a.fields.some((one) => b.fields.includes(one));
}

/** Of those that ask for opposite things the first stays. */
function withoutContrary(group: readonly Node[], { evolve }: Policy): Node[] {
  const kept: Node[] = [];
  for (const node of group) {
    if (kept.length === evolve.most) break;
    if (kept.every((other) => !isContrary(other.gist, node.gist))) kept.push(node);
  }
  return kept;
}

function isContrary(a: Gist, b: Gist): boolean {
  // Most warn of nothing.
  return (a.shuns.size > 0 || b.shuns.size > 0) && contrary(a, b);
}

/** Those that have a word which half of them have: being near the middle, each for a reason of its own, is not enough. */
function aboutOneThing(group: readonly Node[]): Node[] {
  const core = new Set(coreOf(group));
  return group.filter(({ terms }) => [...terms].some((term) => core.has(term)));
}

/** The terms that at least half of a group has, the most common first. */
function coreOf(group: readonly Pick<Node, "terms">[]): string[] {
  const counts = new Map<string, number>();
  for (const { terms } of group) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > 1 && count * 2 >= group.length)
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([term]) => term);
}

/** The surest of a group that are sure enough on the average. */
function sureEnough(group: readonly Node[], { evolve }: Policy): Node[] {
  const kept = [...group].sort((a, b) => b.confidence - a.confidence || byId(a, b));
  while (kept.length >= evolve.fewest && meanOf(kept) < evolve.sure) kept.pop();
  return kept;
}

function meanOf(group: readonly Node[]): number {
  const mean = group.reduce((sum, { confidence }) => sum + confidence, 0) / group.length;
  return Math.round(mean * 1e6) / 1e6;
}

function clusterOf(realm: string, group: readonly Node[], policy: Policy): Cluster {
  const members = group.map(({ instinct }) => instinct);
  const core = coreOf(group);
  const asked = askedFor(members, core, members.flatMap(saidIn).map(readRequest), policy);
  const [first] = [...members].sort(
    (a, b) => a.standing.firstAt - b.standing.firstAt || (a.id < b.id ? -1 : 1),
  ) as [Instinct];
  return {
    id: idOf("v", first.id),
    realm,
    domain: commonest(members.map(domainOf)) as Domain,
    field: commonest(group.flatMap(({ fields }) => (fields.length > 0 ? fields : "general"))),
    ...kindOf(members, asked, policy),
    members,
    confidence: meanOf(group),
    topic: topicOf(group, core).map((stem) => surfaceOf(stem, members)),
    asked,
  };
}

/** The same clusters, knowing what people asked for: what they keep asking for is a command. */
export function withRequests(
  clusters: readonly Cluster[],
  requests: readonly Request[],
  policy: Policy = defaults,
): Cluster[] {
  const byWord = new Map<string, ReadRequest[]>();
  for (const request of requests.map(readRequest))
    for (const realm of [request.project, "user"])
      for (const word of request.named) {
        const key = `${realm} ${word}`;
        const own = byWord.get(key) ?? [];
        own.push(request);
        byWord.set(key, own);
      }
  return clusters.map((cluster) => {
    const { members, topic, realm } = cluster;
    const core = topic.map(stemOf);
    const met = new Set(core.flatMap((word) => byWord.get(`${realm} ${word}`) ?? []));
    const asked = askedFor(members, core, [...members.flatMap(saidIn).map(readRequest), ...met], policy);
    return { ...cluster, asked, ...kindOf(members, asked, policy) };
  });
}

function commonest(names: readonly string[]): string {
  const count = (name: string) => names.filter((other) => other === name).length;
  return [...new Set(names)].sort((a, b) => count(b) - count(a) || (a < b ? -1 : 1))[0] as string;
}

/** The terms that most of a group has, or half of it where there are none, in the order of the surest one's trigger. */
function topicOf(group: readonly Node[], core: readonly string[]): string[] {
  const count = (term: string) => group.filter(({ terms }) => terms.has(term)).length;
  const most = core.filter((term) => count(term) * 2 > group.length);
  const order = group.flatMap(({ terms }) => [...terms]);
  return (most.length > 0 ? most : [...core]).sort(
    (a, b) => count(b) - count(a) || order.indexOf(a) - order.indexOf(b),
  );
}

/** A stem as people write it. */
function surfaceOf(stem: string, members: readonly Instinct[]): string {
  const words = members.flatMap(({ trigger }) => wordsOf(trigger)).filter((word) => stemOf(word) === stem);
  return words.length === 0 ? stem : commonest(words);
}

/** What a cluster is to become, and why. What its actions happen to be called decides nothing. */
function kindOf(
  members: readonly Instinct[],
  asked: readonly Request[],
  { evolve }: Policy,
): Pick<Cluster, "kind" | "why"> {
  if (asked.length >= evolve.asked)
    return { kind: "command", why: `people asked for it in ${asked.length} sessions` };
  const looking = members.filter(isLookingInto).length;
  if (looking >= evolve.looking)
    return { kind: "agent", why: `${looking} of them are about looking into something, step by step` };
  return { kind: "skill", why: "it applies by itself, whenever the occasion is there" };
}

/** Whether a lesson is about finding something out, or about work of several steps. */
export function isLookingInto({ kind, trigger, lesson, action, steps }: Instinct): boolean {
  if (kind === "multi-step" || kind === "tool-pattern") return true;
  const text = [trigger, lesson, action, ...steps].join("\n").toLowerCase();
  // One such word stands in many a text; who tells how to find something out says what is done, and to what.
  return [findsOut, lookedAt, inOrder].filter((sign) => sign.test(text)).length > 1;
}

const findsOut =
  /\b(?:investigat\w+|diagnos\w+|debug\w*|root[ -]cause\w*|reproduc\w+|bisect\w*|narrow(?:ing)? (?:it )?down|find out|track(?:ing)? down|inspect\w*|trac(?:e|ing)|triag\w+|isolat\w+|compar(?:e|ing)|look(?:ing)? (?:at|into)|check(?:ing)?)\b|排查|诊断|定位|调查|調査|원인/u;
const lookedAt =
  /\b(?:logs?|stack ?traces?|tracebacks?|traces?|dumps?|metrics|output of|describe|history|blame|profil\w+|breakpoints?|journalctl|strace|events of|health ?checks?|symptoms?)\b|日志|堆栈|ログ|로그/u;
const inOrder = /\bfirst\b[\s\S]{0,200}\b(?:then|before|after that|next)\b|\bstep by step\b|^\s*\d[.)]\s/mu;

/** The requests that ask for what a cluster is about: all of what they name is in it, and something that its members share. */
function askedFor(
  members: readonly Instinct[],
  core: readonly string[],
  requests: readonly ReadRequest[],
  { evolve }: Policy,
): Request[] {
  const words = new Set(
    members.flatMap(({ trigger, action, keywords, lesson }) =>
      wordsOf([trigger, action, lesson, ...keywords].join(" ")).map(stemOf),
    ),
  );
  const shared = new Set(core);
  const fits = ({ named }: ReadRequest) => {
    const known = [...named].filter((word) => words.has(word)).length;
    return known >= named.size * evolve.named && [...named].some((word) => shared.has(word));
  };
  const all = requests.filter((request) => isCalledFor(request.ask) && fits(request));
  const latest = new Map(all.sort((a, b) => a.at - b.at).map((one) => [one.session, one]));
  return [...latest.values()];
}

/** To mend something, or to take something away, is asked for once it is wrong; nobody calls that by a name. */
function isCalledFor({ act }: Ask): boolean {
  return act !== "fix" && act !== "remove";
}

interface ReadRequest extends Request {
  readonly named: ReadonlySet<string>;
}

function readRequest(request: Request): ReadRequest {
  return { ...request, named: namedIn(request.ask) };
}

/** What a request names, without what is true this once. */
function namedIn({ sentence, verb, tells, particulars }: Ask): Set<string> {
  const words = wordsOf((orderIn(sentence) ?? sentence).toLowerCase())
    .filter((word) => !idle.has(word) && !particular.has(word) && !particulars.includes(word))
    .filter((word) => !/^v?\d/.test(word));
  const others = words.filter((word) => word !== verb);
  return new Set((tells || others.length === 0 ? words : others).map(stemOf));
}

/** An order that a person gave in several sessions, in so many words. */
function saidIn({ id, kind, excerpt, project, standing }: Instinct): Request[] {
  const ask = isSaid(kind) && excerpt.said !== null ? asksFor(excerpt.said) : null;
  if (ask === null) return [];
  return Array.from({ length: standing.sessions }, (_, n) => ({
    project,
    session: `${id} ${n}`,
    at: standing.lastAt,
    ask,
  }));
}
