import { makeId } from "../../base/index.ts";
import { applyDecay, classifyDomain, contrary, extractGist, isUnconfirmed } from "../../lessons/index.ts";
import { type ItemKind, isSaid, type Lesson } from "../../records/index.ts";
import { type Ask, parseAsk } from "../../search/index.ts";
import type { Gist } from "../../store/index.ts";
import { splitWords, stemWord } from "../../text/index.ts";

/** Lessons that make a cluster, how sure they must be on average, and how many one holds. */
const minMembers = 3;
const minConfidence = 0.75;
const maxMembers = 24;
/** How similar two occasions must be to belong together, and how much of that is being of the same field. */
const nearFrom = 0.35;
const fieldWeight = 0.2;
/** Lessons with the same word among which similar ones are looked for, the surest. */
const maxHolders = 60;
/** A longer trigger quotes something. */
const maxTerms = 24;
/** Sessions that must have asked before it is a command, and the share of what they named that it must be about. */
const commandSessions = 2;
const namedShare = 0.6;
/** Lessons about looking into something that make an agent. */
const agentLessons = 4;

/** A prompt in which a person asked to have something done. */
interface TaskRequest {
  readonly project: string;
  readonly session: string;
  readonly at: number;
  readonly ask: Ask;
}

/** Lessons about one thing, which say more together than each alone. */
export interface LessonCluster {
  /** From its earliest member; one that was published before may go by another id, and is known by its members. */
  readonly id: string;
  /** A project, or "user". */
  readonly scopeId: string;
  readonly domain: ReturnType<typeof classifyDomain>;
  /** The field of work, finer than the domain; "general" when unknown. */
  readonly field: string;
  readonly kind: ItemKind;
  /** Why it is of that kind. */
  readonly why: string;
  /** The surest first. */
  readonly members: readonly Lesson[];
  /** The mean, as of now. */
  readonly confidence: number;
  /** The words that they share, the most common first. */
  readonly topic: readonly string[];
  /** How people asked for it, the latest of each session. */
  readonly asked: readonly TaskRequest[];
}

interface LessonNode {
  readonly lesson: Lesson;
  readonly confidence: number;
  readonly fields: readonly string[];
  readonly gist: Gist;
  readonly terms: ReadonlySet<string>;
  readonly near: { readonly node: LessonNode; readonly similarity: number }[];
}

/**
 * Groups lessons by when they apply and what they are about; what people keep requesting is a command. The order of
 * the lessons does not matter, and the time grows with their number, not with that of their pairs.
 */
export function clusterLessons(
  lessons: readonly Lesson[],
  now: number,
  requests: readonly TaskRequest[] = [],
): LessonCluster[] {
  const scopes = new Map<string, LessonNode[]>();
  for (const lesson of lessons) {
    const { status, confidence } = applyDecay(lesson.state, now);
    const isConfirmed = lesson.state.sessions > 1 && !isUnconfirmed(lesson);
    if (status !== "active" && status !== "promoted" && !(status === "pending" && isConfirmed)) continue;
    const scopeId = lesson.scope === "user" ? "user" : lesson.project;
    const nodes = scopes.get(scopeId) ?? [];
    scopes.set(scopeId, nodes);
    const gist = extractGist(lesson);
    const terms = occasionTerms(lesson, gist);
    nodes.push({ lesson, confidence, gist, fields: findFields(lesson), terms, near: [] });
  }
  const named = requests.map(nameRequest);
  const clusters = [...scopes].flatMap(([scopeId, nodes]) => {
    const asked = scopeId === "user" ? named : named.filter(({ project }) => project === scopeId);
    return findGroups(nodes).map((group) => makeCluster(scopeId, group, asked));
  });
  const worth = ({ members, confidence }: LessonCluster) => members.length + confidence;
  return clusters.sort((a, b) => worth(b) - worth(a) || (a.id < b.id ? -1 : 1));
}

/** The words of an occasion. Of a failure what was done tells what it is about; its message tells one from another. */
function occasionTerms({ trigger, symptom }: Lesson, gist: Gist): Set<string> {
  const [done = ""] = symptom === null ? [] : trigger.split(/:\s/);
  const words = done === "" ? gist.trigger : extractGist({ trigger: done, action: "" }).trigger;
  const terms = [...(words.size > 0 ? words : gist.trigger)].map(stemWord).filter((word) => !vague.has(word));
  return new Set(terms.slice(0, maxTerms));
}

/** Words of any work. */
const vague = new Set(
  (
    "run running rerun use work make made do write add change update new always never before after while during need want try " +
    "fail failing failure command call task thing file code project repo repository step way case exit status line issue problem"
  ).split(" "),
);

/** Groups around the lesson that has most others near it, so that chains join nothing. */
function findGroups(all: readonly LessonNode[]): LessonNode[][] {
  const nodes = all.toSorted(bySureness);
  linkNear(nodes);
  const taken = new Set<LessonNode>();
  const groups: LessonNode[][] = [];
  for (const middle of nodes.toSorted((a, b) => b.near.length - a.near.length || byId(a, b))) {
    const around = taken.has(middle) ? [] : middle.near.filter(({ node }) => !taken.has(node));
    if (around.length + 1 < minMembers) continue;
    const nearest = around.toSorted((a, b) => b.similarity - a.similarity || byId(a.node, b.node));
    const group = keepSure(keepCore(dropContrary([middle, ...nearest.map(({ node }) => node)])));
    if (group.length < minMembers) continue;
    // What is near but not in it would only make a second one about the same.
    for (const node of [middle, ...group, ...around.map((one) => one.node)]) taken.add(node);
    groups.push(group);
  }
  return groups;
}

function byId(a: LessonNode, b: LessonNode): number {
  return a.lesson.id < b.lesson.id ? -1 : 1;
}

function bySureness(a: LessonNode, b: LessonNode): number {
  return b.confidence - a.confidence || byId(a, b);
}

/** Links lessons that are near each other; a word that hundreds have does not tell what belongs together. */
function linkNear(nodes: readonly LessonNode[]): void {
  const byTerm = new Map<string, number[]>();
  const shared = new Uint16Array(nodes.length);
  for (const [at, node] of nodes.entries()) {
    const met: number[] = [];
    for (const term of node.terms) {
      const holders = byTerm.get(term) ?? [];
      byTerm.set(term, holders);
      for (const other of holders) if ((shared[other] as number)++ === 0) met.push(other);
      if (holders.length < maxHolders) holders.push(at);
    }
    for (const number of met) {
      const other = nodes[number] as LessonNode;
      const common = shared[number] as number;
      shared[number] = 0;
      const words = (common / (node.terms.size + other.terms.size - common)) * (1 - fieldWeight);
      if (words + fieldWeight < nearFrom) continue;
      const isSameField = node.fields.some((one) => other.fields.includes(one));
      const similarity = words + (isSameField ? fieldWeight : 0);
      if (similarity < nearFrom) continue;
      node.near.push({ node: other, similarity });
      other.near.push({ node, similarity });
    }
  }
}

/** Of those that ask for opposite things the first stays. */
function dropContrary(group: readonly LessonNode[]): LessonNode[] {
  const kept: LessonNode[] = [];
  for (const node of group)
    if (kept.length < maxMembers && kept.every((other) => !contrary(other.gist, node.gist))) kept.push(node);
  return kept;
}

/** Those that have a word which half of them have: being near the middle, each for its own reason, is not enough. */
function keepCore(group: readonly LessonNode[]): LessonNode[] {
  const core = new Set(findCore(group));
  return group.filter(({ terms }) => [...terms].some((term) => core.has(term)));
}

/** The terms that at least half of a group has, the most common first. */
function findCore(group: readonly LessonNode[]): string[] {
  const counts = new Map<string, number>();
  for (const { terms } of group) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > 1 && count * 2 >= group.length)
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([term]) => term);
}

/** The surest of a group that are sure enough on average. */
function keepSure(group: readonly LessonNode[]): LessonNode[] {
  const kept = group.toSorted(bySureness);
  while (kept.length >= minMembers && meanConfidence(kept) < minConfidence) kept.pop();
  return kept;
}

function meanConfidence(group: readonly LessonNode[]): number {
  const mean = group.reduce((sum, { confidence }) => sum + confidence, 0) / group.length;
  return Math.round(mean * 1e6) / 1e6;
}

function makeCluster(
  scopeId: string,
  group: readonly LessonNode[],
  requests: readonly NamedRequest[],
): LessonCluster {
  const members = group.map(({ lesson }) => lesson);
  const topic = findTopic(group);
  const asked = findRequests(members, topic, requests);
  const [first] = members.toSorted((a, b) => a.state.firstAt - b.state.firstAt || (a.id < b.id ? -1 : 1)) as [
    Lesson,
  ];
  return {
    id: makeId("v", first.id),
    scopeId,
    domain: mostCommon(members.map(classifyDomain)) as LessonCluster["domain"],
    field: mostCommon(group.flatMap(({ fields }) => (fields.length > 0 ? fields : "general"))),
    ...chooseKind(members, asked),
    members,
    confidence: meanConfidence(group),
    topic: topic.map((stem) => findWord(stem, members)),
    asked,
  };
}

function mostCommon(names: readonly string[]): string {
  const count = (name: string) => names.filter((other) => other === name).length;
  return [...new Set(names)].sort((a, b) => count(b) - count(a) || (a < b ? -1 : 1))[0] as string;
}

/** The terms that most of a group has, or half of it, in the order of the surest trigger. */
function findTopic(group: readonly LessonNode[]): string[] {
  const core = findCore(group);
  const count = (term: string) => group.filter(({ terms }) => terms.has(term)).length;
  const most = core.filter((term) => count(term) * 2 > group.length);
  const order = group.flatMap(({ terms }) => [...terms]);
  return (most.length > 0 ? most : core).sort(
    (a, b) => count(b) - count(a) || order.indexOf(a) - order.indexOf(b),
  );
}

/** A stem as people write it. */
function findWord(stem: string, members: readonly Lesson[]): string {
  const words = members.flatMap(({ trigger }) => splitWords(trigger));
  const own = words.filter((word) => stemWord(word) === stem);
  return own.length === 0 ? stem : mostCommon(own);
}

/** Chooses a cluster's kind, and why. */
function chooseKind(
  members: readonly Lesson[],
  asked: readonly TaskRequest[],
): Pick<LessonCluster, "kind" | "why"> {
  if (asked.length >= commandSessions)
    return { kind: "command", why: `people asked for it in ${asked.length} sessions` };
  const looking = members.filter(isInvestigation).length;
  if (looking >= agentLessons)
    return { kind: "agent", why: `${looking} of them are about looking into something, step by step` };
  return { kind: "skill", why: "it applies by itself, whenever the occasion is there" };
}

/** Whether a lesson is about finding something out, or about work of several steps. */
function isInvestigation({ kind, trigger, lesson, action, steps }: Lesson): boolean {
  if (kind === "multi-step" || kind === "tool-pattern") return true;
  const text = [trigger, lesson, action, ...steps].join("\n").toLowerCase();
  // One such word is in many texts; how to find something out says what is done, and to what.
  return [findsOut, lookedAt, inOrder].filter((sign) => sign.test(text)).length > 1;
}

const findsOut =
  /\b(?:investigat\w+|diagnos\w+|debug\w*|root[ -]cause\w*|reproduc\w+|bisect\w*|narrow(?:ing)? (?:it )?down|find out|track(?:ing)? down|inspect\w*|trac(?:e|ing)|triag\w+|isolat\w+|compar(?:e|ing)|look(?:ing)? (?:at|into)|check(?:ing)?)\b|排查|诊断|定位|调查|調査|원인/u;
const lookedAt =
  /\b(?:logs?|stack ?traces?|tracebacks?|traces?|dumps?|metrics|output of|describe|history|blame|profil\w+|breakpoints?|journalctl|strace|events of|health ?checks?|symptoms?)\b|日志|堆栈|ログ|로그/u;
const inOrder = /\bfirst\b[\s\S]{0,200}\b(?:then|before|after that|next)\b|\bstep by step\b|^\s*\d[.)]\s/mu;

interface NamedRequest extends TaskRequest {
  /** Stems of the words it names, without numbers. */
  readonly named: ReadonlySet<string>;
}

/** The requests for what a cluster is about: what they name is in it, and something of its topic. */
function findRequests(
  members: readonly Lesson[],
  topic: readonly string[],
  requests: readonly NamedRequest[],
): TaskRequest[] {
  const texts = members.flatMap(({ trigger, action, keywords, lesson }) => [
    trigger,
    action,
    lesson,
    ...keywords,
  ]);
  const words = new Set(splitWords(texts.join(" ")).map(stemWord));
  const all = [...members.flatMap(listSpokenOrders), ...requests].filter(({ ask, named }) => {
    const known = [...named].filter((word) => words.has(word)).length;
    const fits = known >= named.size * namedShare && topic.some((word) => named.has(word));
    // Mending or removing is asked for once it is wrong; nobody calls that by a name.
    return fits && ask.act !== "fix" && ask.act !== "remove";
  });
  const latest = new Map(all.sort((a, b) => a.at - b.at).map((one) => [one.session, one]));
  return [...latest.values()];
}

function nameRequest(request: TaskRequest): NamedRequest {
  const { verb, tells, subject } = request.ask;
  const words = subject.filter((word) => !/^v?\d/.test(word));
  const others = words.filter((word) => word !== verb);
  return { ...request, named: new Set((tells || others.length === 0 ? words : others).map(stemWord)) };
}

/** An order that a person gave in several sessions, explicitly. */
function listSpokenOrders({ id, kind, excerpt, project, state }: Lesson): NamedRequest[] {
  const ask = isSaid(kind) && excerpt.said !== null ? parseAsk(excerpt.said) : null;
  if (ask === null) return [];
  const { sessions, lastAt: at } = state;
  return Array.from({ length: sessions }, (_, n) => nameRequest({ project, session: `${id} ${n}`, at, ask }));
}

/** Fields of work, finer than domains, by their programs and words. Of two that fit equally well, the first counts. */
const fieldTable: readonly (readonly [field: string, words: string])[] = Object.entries({
  git: "git gh commit branch merge rebase push pull stash squash cherry-pick checkout worktree pr conflict",
  release: "release publish version changelog tag deploy deployment rollout staging production",
  testing: "test vitest jest mocha pytest spec coverage flaky playwright cypress fixture snapshot mock suite",
  containers: "docker podman compose dockerfile container image kubectl helm kubernetes pod cluster",
  database: "sql psql postgres mysql sqlite redis migration schema query table database index",
  packaging:
    "npm pnpm yarn bun pip pipx uv poetry cargo gem brew apt install dependency lockfile package module",
  style:
    "lint eslint biome prettier ruff mypy format style naming name comment type typecheck indent convention",
  docs: "readme doc documentation docstring markdown guide tutorial",
  build: "build compile make cmake ninja webpack vite esbuild tsc gradle mvn bundle",
  network: "curl wget ssh http https proxy dns port endpoint request server socket timeout",
  infrastructure: "terraform ansible aws gcloud az cloudflare wrangler vercel ci workflow pipeline actions",
  shell: "sed awk grep rg find jq bash zsh sh glob chmod path xargs ls",
  replies: "answer reply language explain summary tone ask question confirm permission",
});

const fields: ReadonlyMap<string, string> = new Map(
  [...fieldTable]
    .reverse()
    .flatMap(([field, words]) => words.split(" ").map((word) => [stemWord(word), field])),
);

/** The fields of work that fit a lesson best. A program says more than a trigger, and a trigger more than the rest. */
function findFields({ trigger, action, keywords, call, symptom }: Lesson): string[] {
  const scores = new Map<string, number>();
  const count = (text: string, weight: number) => {
    for (const word of new Set(splitWords(text))) {
      const field = fields.get(word) ?? fields.get(stemWord(word));
      if (field !== undefined) scores.set(field, (scores.get(field) ?? 0) + weight);
    }
  };
  count([call?.[0] ?? "", symptom?.head ?? ""].join(" "), 3);
  count(trigger, 2);
  count([action, ...keywords].join(" "), 1);
  const best = Math.max(0, ...scores.values());
  return fieldTable.flatMap(([field]) => (scores.get(field) === best ? field : []));
}
