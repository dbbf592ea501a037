import { classifyDomain } from "../lessons/index.ts";
import { asSentence, extractTerms, slugify } from "../text/index.ts";
import { type Evidence, type Page, type PageEntry, type PageRoot, pageName, pageRoots } from "./page.ts";

/** Lines of a page from which a split is proposed. */
const mostLines = 80;
/** Children that a split makes at most, and entries that each of them gets at least. */
const mostParts = 4;
const leastOfPart = 2;
/** Days after which what nobody kept again is stale. */
const staleDays = 90;
/** Goals, or sessions, in which a decision rule must have been kept to be proposed as a lesson. */
const provenIn = 2;

/** A page among the others. */
export interface TreePage {
  readonly page: string;
  readonly topic: string;
  readonly lines: number;
  readonly entries: number;
  /** The mean of its children, or of its entries where it has none; null where nothing says how sure it is. */
  readonly confidence: number | null;
  readonly children: readonly TreePage[];
  readonly split: Split | null;
}

export interface TreeRoot {
  readonly root: PageRoot;
  readonly about: string;
  readonly confidence: number | null;
  readonly pages: readonly TreePage[];
}

/** How a page that grew too long could be divided. */
export interface Split {
  readonly lines: number;
  readonly most: number;
  readonly into: readonly { readonly page: string; readonly entries: readonly string[] }[];
  /** Entries that stay. */
  readonly rest: number;
}

/** The four roots with the pages below them. Confidence is computed here, and stored only with the evidence. */
export function buildTree(pages: readonly Page[]): TreeRoot[] {
  const sorted = [...pages].sort((a, b) => (a.key < b.key ? -1 : 1));
  const keys = new Set(sorted.map(({ key }) => key));
  // A page below a folder that has no page of its own belongs to the nearest that is there.
  const parentOf = (key: string): string => {
    const above = key.slice(0, key.lastIndexOf("/"));
    return !above.includes("/") || keys.has(above) ? above : parentOf(above);
  };
  const build = (parent: string): TreePage[] =>
    sorted
      .filter(({ key }) => parentOf(key) === parent)
      .map((page) => {
        const children = build(page.key);
        const own = measureConfidence(page);
        return {
          ...{ page: page.key, topic: page.topic, lines: page.lines, entries: page.entries.length },
          confidence: children.length > 0 ? average(children.map(({ confidence }) => confidence)) : own,
          ...{ children, split: proposeSplit(page) },
        };
      });
  return (Object.keys(pageRoots) as PageRoot[]).map((root) => {
    const below = build(root);
    return {
      ...{ root, about: pageRoots[root], pages: below },
      confidence: average(below.map(({ confidence }) => confidence)),
    };
  });
}

/** How sure a page is: the mean of its entries, each as sure as its best evidence. */
export function measureConfidence({ entries, evidence }: Pick<Page, "entries" | "evidence">): number | null {
  return average(
    entries.map(({ id }) => {
      const own = evidence.filter(({ entry }) => entry === id).map(({ confidence }) => confidence);
      return own.length === 0 ? null : Math.max(...own);
    }),
  );
}

function average(all: readonly (number | null)[]): number | null {
  const known = all.filter((one) => one !== null);
  if (known.length === 0) return null;
  return Math.round((known.reduce((sum, one) => sum + one, 0) / known.length) * 1e6) / 1e6;
}

/** For a page over the load limit: its entries by the word that most of them share. Null where it is short enough. */
function proposeSplit({ key, lines, entries }: Page): Split | null {
  if (lines <= mostLines) return null;
  const into: { page: string; entries: string[] }[] = [];
  let left = entries.map((entry) => ({ entry, terms: extractTerms(entry.text) }));
  while (into.length < mostParts) {
    const word = findTopic(left, entries.length, pageName(key));
    if (word === null) break;
    const own = left.filter(({ terms }) => terms.has(word));
    into.push({ page: `${key}/${slugify(word)}`, entries: own.map(({ entry }) => entry.id) });
    left = left.filter(({ terms }) => !terms.has(word));
  }
  return { lines, most: mostLines, into, rest: left.length };
}

type Worded = { readonly entry: PageEntry; readonly terms: ReadonlySet<string> };

/** The word that most of the entries share, and not nearly all: that is what the page itself is about. */
function findTopic(entries: readonly Worded[], all: number, name: string): string | null {
  const counts = new Map<string, number>();
  for (const { terms } of entries) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const usable = [...counts].filter(
    ([term, count]) =>
      count >= leastOfPart && count <= all / 2 && /^[a-z][a-z0-9_-]{2,}$/.test(term) && !name.includes(term),
  );
  // Of words that as many share, the one that comes first: a sentence begins with what it is about.
  const [best] = usable.sort(([, a], [, b]) => b - a);
  return best?.[0] ?? null;
}

/** A decision rule that was kept often enough to be a lesson. */
export interface ProvenRule {
  readonly page: string;
  readonly rule: string;
  readonly goals: number;
  readonly sessions: number;
  readonly confidence: number;
}

/** The decision rules that were kept in two sessions, or for two goals. */
export function findProvenRules(pages: readonly Page[]): ProvenRule[] {
  return pages.flatMap(({ key, entries, evidence }) =>
    entries
      .filter(({ section }) => section === "rules")
      .flatMap(({ id, text }) => {
        const own = evidence.filter(({ entry }) => entry === id);
        const [goals, sessions] = [countDistinct(own, "goal"), countDistinct(own, "session")];
        if (goals < provenIn && sessions < provenIn) return [];
        const confidence = Math.max(...own.map((one) => one.confidence));
        return [{ page: key, rule: text, goals, sessions, confidence }];
      }),
  );
}

/** A decision rule in the words of a lesson: when it applies, and what to do. */
export function describeRule({ rule, confidence }: Pick<ProvenRule, "rule" | "confidence">) {
  const [, when = rule, then = rule] = /^if\s+(.+?),?\s+then\s+(.+)$/is.exec(rule) ?? [];
  const upper = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);
  const [trigger, action] = [upper(when), upper(then)];
  const domain: string = classifyDomain({ trigger, action, kind: "convention" });
  const lesson = asSentence(`If ${when}: ${then}`);
  return { name: slugify(then) || slugify(when), trigger, action, lesson, confidence, domain };
}

function countDistinct(all: readonly Evidence[], of: "goal" | "session"): number {
  return new Set(all.flatMap((one) => one[of] ?? [])).size;
}

/** The pages of which nothing was kept for a long time. What says nothing of when is no page of Knack's. */
export function findStale(pages: readonly Page[], now: number): { page: string; reason: string }[] {
  return pages.flatMap(({ key, evidence }) => {
    if (evidence.length === 0) return [];
    const days = Math.floor((now - Math.max(...evidence.map(({ at }) => at))) / 86_400_000);
    return days < staleDays ? [] : [{ page: key, reason: `nothing of it was kept again for ${days} days` }];
  });
}
