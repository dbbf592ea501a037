import { placeOf } from "../core/change.ts";
import { aboutOf, type Credit, creditsOf } from "../core/credit.ts";
import type { Earned, Holding } from "../core/curate.ts";
import { isEvolvedId } from "../core/evolve.ts";
import { isGapId } from "../core/gap.ts";
import { type Item, type ItemKind, itemId } from "../core/item.ts";
import type { LedgerEntry } from "../core/ledger.ts";
import { pinnedBy } from "../core/pin.ts";
import { isWrittenId } from "../core/protocol.ts";
import { parse, type Skill } from "../core/skill.ts";
import { realms } from "./archive.ts";
import { creditEntries } from "./credit.ts";
import type { KeptFinding, Store } from "./ports.ts";
import { type Shelved, shelf } from "./shelf.ts";
import { dirname, type History, type PublishDeps } from "./step.ts";

/** Something in the library with its places, if Knack wrote it. */
export interface Owned extends Holding {
  readonly kept: readonly Shelved[];
  readonly paths: readonly string[];
}

/** Everything in the library, as it is looked at. */
export async function holdings(
  deps: PublishDeps,
  items: readonly Item[],
  history: History,
): Promise<Owned[]> {
  const kept = (await shelf(deps)).filter(isCurated);
  const known = await knownOf(deps.store, kept, history);
  const own = await ours(deps, kept, items, known);
  const paths = new Set(kept.map(({ path }) => path));
  const others = items.filter(
    ({ kind, path, draft }) => kind === "skill" && !draft && !paths.has(dirname(path)),
  );
  return [...own, ...others.map((item) => othersHolding(item, known))];
}

/** What Knack made and is there; a person's skill that it once added to is theirs, and a proposal waits for a person. */
function isCurated({ kind, state, changes, text }: Shelved): boolean {
  if (kind === "rule" || state === "missing" || state === "unreadable" || state === "proposal") return false;
  return changes[0]?.before === null && parse(text ?? "").skill?.metadata.origin === "knack";
}

function othersHolding(item: Item, known: Known): Owned {
  const uses = known.uses.get(item.id) ?? [];
  const credit = together([uses]);
  const { id, name, description, body, realm, owner } = item;
  return {
    ...{ key: id, kind: "skill" },
    skill: { name, description, metadata: {}, body },
    realm,
    // It may look learned; but what is not on the ledger is somebody else's.
    owner: owner === "learned" ? "imported" : owner,
    ...{ reach: null, namedIn: null, edited: false, approved: true, confidence: null },
    pinned: known.pins.has(id),
    since: item.changedAt,
    neededAt: latest(uses.filter(isNeed).map(({ at }) => at)),
    credit,
    harmed: credit.harmful,
    helped: credit.helpful,
    ...{ kept: [], paths: [item.path] },
  };
}

/** What is known about what is kept, read once for all of it. */
interface Known {
  readonly pins: ReadonlySet<string>;
  /** When what is at each place was put there; something that was brought back begins anew. */
  readonly since: ReadonlyMap<string, number>;
  readonly uses: ReadonlyMap<string, readonly LedgerEntry[]>;
  readonly findings: ReadonlyMap<string, readonly KeptFinding[]>;
  /** The instincts that a person said yes to. */
  readonly approved: ReadonlySet<string>;
}

async function knownOf(store: Store, kept: readonly Shelved[], { changes }: History): Promise<Known> {
  const findings = await store.learning.findings.ofInstincts([...new Set(kept.flatMap(lessonsOf))]);
  const decided = await store.ledger.since("instinct.decided", 0);
  const accepted = new Set(
    decided.flatMap(({ data }) => (data.decision === "accepted" ? data.instinct : [])),
  );
  return {
    pins: pinnedBy(await store.ledger.since("skill.pinned", 0)),
    since: new Map(
      changes.flatMap(({ change, at, state }) =>
        state === "made" && change.before === null ? [[placeOf(change), at] as const] : [],
      ),
    ),
    uses: groupedBy(await creditEntries(store), (entry) => aboutOf(entry) ?? ""),
    findings: groupedBy(findings, ({ instinct }) => instinct),
    // Instincts that grew together go by one id; a decision was made about the finding of that name.
    approved: new Set([
      ...findings.flatMap(({ id, instinct }) => (accepted.has(id) ? instinct : [])),
      ...[...accepted].filter((id) => isEvolvedId(id) || isWrittenId(id)),
    ]),
  };
}

function lessonsOf({ instinct, members = [], changes }: Shelved): string[] {
  return [instinct, ...members, ...changes.map((one) => one.instinct)];
}

function groupedBy<One>(all: readonly One[], keyOf: (one: One) => string): Map<string, One[]> {
  const groups = new Map<string, One[]>();
  for (const one of all) {
    const own = groups.get(keyOf(one)) ?? [];
    own.push(one);
    groups.set(keyOf(one), own);
  }
  return groups;
}

/** What Knack made: one name for the same people is one thing, in however many folders. */
async function ours(
  deps: PublishDeps,
  kept: readonly Shelved[],
  items: readonly Item[],
  known: Known,
): Promise<Owned[]> {
  const realmOf = await realms(deps.store, kept, items);
  const mentions = await mentionsIn(deps, kept, items);
  const idOf = (one: Shelved) => itemId(realmOf(one), kindOf(one), one.name);
  const groups = groupedBy(kept, (one) => `${idOf(one)}${one.reach === "draft" ? " draft" : ""}`);
  return [...groups].map(([key, group]) => {
    const [first] = group as [Shelved];
    const id = idOf(first);
    const lessons = [...new Set(group.flatMap(lessonsOf))];
    const since = Math.max(...group.map((one) => known.since.get(placeOf(one)) ?? 0));
    const uses = [id, ...lessons].map((one) => known.uses.get(one) ?? []);
    const findings = lessons.flatMap((one) => known.findings.get(one) ?? []);
    const again = findings.map(({ at }) => at).filter((at) => at > since);
    // What a gap is for is asked for whenever it is shown; its commands are the project's own, and tell nothing.
    const isAskedFor = lessons.some(isGapId);
    const ofNow = together(uses.map((entries) => entries.filter(({ at }) => (at ?? 0) >= since)));
    return {
      ...{ key, realm: realmOf(first), owner: "learned", reach: first.reach, kept: group, since },
      kind: kindOf(first),
      skill: { ...(parse(first.text ?? "").skill as Skill), name: first.name },
      pinned: known.pins.has(id),
      namedIn: mentions(first.name),
      edited: group.some(({ state }) => state === "edited"),
      // A yes to one of its lessons is none to what they grew into.
      approved: (isEvolvedId(first.instinct) ? [first.instinct] : lessons).some((one) =>
        known.approved.has(one),
      ),
      neededAt: latest([
        ...again,
        ...uses
          .flat()
          .filter((entry) => isNeed(entry) || (isAskedFor && entry.type === "skill.shown"))
          .map(({ at }) => at),
      ]),
      credit: together(uses),
      harmed: ofNow.harmful,
      helped: ofNow.helpful,
      confidence: first.confidence,
      paths: group.map(({ path }) => path),
    };
  });
}

/** What is curated is no rule. */
function kindOf({ kind }: Shelved): ItemKind {
  return kind === "rule" ? "skill" : kind;
}

/** Whether somebody was served: it was used, or it helped. */
function isNeed(entry: LedgerEntry): boolean {
  return entry.type === "skill.used" || (entry.type === "use.rated" && entry.data.verdict === "helpful");
}

function latest(times: readonly (number | null)[]): number | null {
  const known = times.filter((at) => at !== null);
  return known.length === 0 ? null : Math.max(...known);
}

/** What became of a skill and of the lessons in it. A session that counts for several of them counts once: the most counts. */
function together(lists: readonly (readonly LedgerEntry[])[]): Earned {
  const credits = lists.flatMap((entries) => [...creditsOf(entries).values()]);
  const most = (of: (credit: Credit) => number) => Math.max(0, ...credits.map(of));
  return {
    shown: most(({ shown }) => shown),
    used: most(({ used }) => used),
    helpful: most(({ helpful }) => helpful),
    harmful: most(({ harmful }) => harmful),
    unrated: most(({ unrated }) => unrated),
  };
}

/** Where a person's own words name something that Knack made: a skill, a command, an agent, or instructions. */
async function mentionsIn(
  { places, library }: PublishDeps,
  kept: readonly Shelved[],
  items: readonly Item[],
): Promise<(name: string) => string | null> {
  const roots = new Set(kept.map(({ root }) => root));
  const files = [...roots].flatMap(
    (root) => places.rules("repository", root, ["claude-code", "codex", "gemini"]) ?? [],
  );
  const own = new Set(kept.map(({ path }) => path));
  const texts: { what: string; text: string }[] = items
    .filter(
      ({ owner, draft, path }) => owner !== "core" && !draft && !own.has(path) && !own.has(dirname(path)),
    )
    .map(({ name, body }) => ({ what: name, text: body }));
  for (const path of new Set(files.map((one) => one.path))) {
    const read = await library.readText(path);
    if (read.found === "text") texts.push({ what: path.slice(path.lastIndexOf("/") + 1), text: read.text });
  }
  // Read once, whatever is looked for: a library may have megabytes of text.
  const names = new Set(kept.map(({ name }) => name));
  const mentions = new Map<string, string>();
  for (const { what, text } of names.size === 0 ? [] : texts)
    for (const [word] of text.matchAll(/[\w-]+/g))
      if (names.has(word) && !mentions.has(word)) mentions.set(word, what);
  return (name) => mentions.get(name) ?? null;
}
