import { verdictsOf } from "../core/credit.ts";
import { cuesOf } from "../core/cue.ts";
import { isSaid } from "../core/finding.ts";
import { importsOf } from "../core/imported.ts";
import {
  advance,
  type Evidence,
  type Instinct,
  importRun,
  type Sighting,
  standingOf,
} from "../core/instinct.ts";
import { itemId } from "../core/item.ts";
import type { EntryOf, LedgerEntry } from "../core/ledger.ts";
import { type Gist, gistOf, opposed, same, searchFor } from "../core/likeness.ts";
import { isUseOf } from "../core/use.ts";
import type { KeptDecision, KeptFinding, Learning, Store } from "./ports.ts";

/**
 * Brings what is learned up to date with new entries of the ledger. Findings that are alike, directly or through
 * others, are one instinct; so the outcome does not depend on the order in which they come.
 */
export async function absorb({ learning, ledger }: Store, entries: readonly LedgerEntry[]): Promise<void> {
  const touched = new Set<string>();
  const made = entries.flatMap((entry) => (entry.type === "finding.made" ? entry.data.id : []));
  const unheard = new Set(await learning.findings.unheard(made));
  for (const entry of entries) {
    for (const instinct of await take(learning, entry, unheard)) touched.add(instinct);
  }
  const rated = entries.flatMap((entry) => (entry.type === "use.rated" ? entry.data.id : []));
  if (touched.size === 0 && rated.length === 0) return;
  const all = await ledger.since("use.rated", 0);
  const ratings = ratingsIn(all, all.length > 0 ? await makersOf(learning) : new Map());
  const named = rated.map(ratings.lessonOf);
  for (const { instinct } of await learning.findings.get([...new Set(named)])) touched.add(instinct);
  if (touched.size > 0) await refold(learning, touched, ratings);
}

/**
 * The lessons that learned skills were first made of, by the ids that the skills go by in the library: what is put into
 * one later must not change what was said of it before.
 */
async function makersOf({ changes, findings }: Learning): Promise<ReadonlyMap<string, string>> {
  const skills = (await changes.list()).flatMap(({ change }) => (change.kind === "skill" ? change : []));
  const sources = await findings.get([...new Set(skills.map(({ instinct }) => instinct))]);
  const projects = new Map(sources.map(({ id, project }) => [id, project]));
  return new Map(
    skills
      .reverse()
      .flatMap(({ name, instinct }) =>
        [projects.get(instinct), "user"].flatMap((realm) =>
          realm === undefined ? [] : [[itemId(realm, "skill", name), instinct] as const],
        ),
      ),
  );
}

/** What lessons, and the skills made of them, were judged to be worth. */
interface Ratings {
  /** The lesson that an id stands for. */
  lessonOf(id: string): string;
  of(findings: readonly string[]): Evidence[];
}

function ratingsIn(entries: readonly LedgerEntry[], makers: ReadonlyMap<string, string>): Ratings {
  const lessonOf = (id: string) => makers.get(id) ?? id;
  const verdicts = verdictsOf(entries, lessonOf);
  return {
    lessonOf,
    of: (findings) =>
      findings
        .flatMap((id) => verdicts.get(id) ?? [])
        .map(({ session, verdict, byPerson, at }) => ({
          type: "rated",
          run: session,
          at,
          helpful: verdict === "helpful",
          byPerson,
        })),
  };
}

/**
 * Writes what an entry says, and answers with the instincts that may stand differently for it. What nothing was ever
 * said of, until this entry, need not be looked up.
 */
async function take(
  learning: Learning,
  entry: LedgerEntry,
  unheard: Set<string>,
): Promise<readonly string[]> {
  switch (entry.type) {
    case "finding.made":
      return unheard.delete(entry.data.id) ? putFinding(learning, entry) : addFinding(learning, entry);
    case "finding.withdrawn":
      unheard.delete(entry.data.id);
      return dropFinding(learning, entry);
    case "session.learned":
      return addUses(learning, entry);
    case "instinct.decided": {
      const { at, key, data } = entry;
      const { instinct: finding, decision, everywhere } = data;
      await learning.decisions.save({ key, finding, at: at ?? 0, decision, everywhere });
      return (await learning.findings.get([finding])).map(({ instinct }) => instinct);
    }
    case "instinct.promoted":
    case "instinct.demoted": {
      const { at, key, actor, data } = entry;
      const decision = entry.type === "instinct.promoted" ? "promoted" : "demoted";
      return decideOn(learning, data.members, { key, at, decision, lesson: data.lesson, actor });
    }
    case "instinct.retired": {
      const { at, key, actor, data } = entry;
      return decideOn(learning, data.instincts, { key, at, decision: "retired", lesson: null, actor });
    }
    case "instinct.imported":
    case "skill.imported": {
      const { key, at, data } = entry;
      await learning.imports.save({ key, id: data.id, at: at ?? 0, said: data });
      return settleImports(learning, [data.id]);
    }
    case "import.decided": {
      const { imports, decision } = entry.data;
      for (const id of imports)
        await learning.imports.save({ key: `${entry.key}:${id}`, id, at: entry.at ?? 0, said: decision });
      return settleImports(learning, imports);
    }
    case "change.intended":
    case "change.made":
    case "change.dropped":
      await followChange(learning, entry);
      return [];
    case "learning.started":
    case "learning.finished":
    case "receipt.given":
    case "signal.given":
    case "nudge.decided":
    case "review.begun":
    case "review.answered":
    case "review.ended":
    case "proposal.made":
    case "proposal.decided":
    case "session.found":
    case "transcript.rewritten":
    case "events.purged":
    case "lesson.shown":
    case "agent.asked":
    case "skill.shown":
    case "match.withheld":
    case "skill.used":
    case "session.measured":
    case "use.rated":
    case "prompt.unmatched":
    case "gap.decided":
    case "skill.pinned":
    case "model.asked":
    case "model.called":
    case "session.judged":
    case "maintained":
      return [];
  }
}

/** Writes the same decision about several, and answers with the instincts that it is about. */
async function decideOn(
  learning: Learning,
  findings: readonly string[],
  {
    key,
    at,
    ...rest
  }: Pick<KeptDecision, "decision" | "lesson" | "actor"> & { key: string; at: number | null },
): Promise<readonly string[]> {
  const when = at ?? 0;
  await learning.decisions.saveAll(
    findings.map((finding) => ({ ...rest, key: `${key}:${finding}`, finding, at: when, everywhere: false })),
  );
  const ids = [...new Set((await learning.findings.instinctsOf(findings)).values())];
  if (rest.decision !== "promoted" || rest.lesson === null) return ids;
  const { lesson, actor } = rest;
  const change = { type: "promoted", at: when, lesson, byPerson: actor === "person" } as const;
  const all = await learning.instincts.get(ids);
  const told = (await learning.findings.instinctsOf([lesson])).get(lesson);
  // Of hundreds of projects only the one that is told changes more than its status; for the others, the last word is
  // one step further from where they stand.
  const simple = all.filter((one) => one.id !== told && isLast(one, when));
  await learning.instincts.save(simple.map((one) => ({ ...one, standing: advance(one.standing, change) })));
  const done = new Set(simple.map(({ id }) => id));
  return ids.filter((id) => !done.has(id));
}

/** Whether a decision at a time comes after all that an instinct follows from, so that it is one step further. */
function isLast({ standing, scope }: Instinct, at: number): boolean {
  const { lastAt, status, contradicted, promotion, restoredAt } = standing;
  const isPlain = scope === "project" && !contradicted && promotion === undefined && restoredAt === undefined;
  return isPlain && at > lastAt && (status === "pending" || status === "active");
}

/** Lets lessons count that came from elsewhere and were accepted, and no others of those. */
async function settleImports(learning: Learning, ids: readonly string[]): Promise<string[]> {
  const touched: string[] = [];
  for (const one of importsOf(await learning.imports.of(ids))) {
    if (one.type !== "lesson") continue;
    const [known] = await learning.findings.get([one.id]);
    const counts = one.status === "accepted";
    if (known && !counts) touched.push(...(await dropKnown(learning, known)));
    if (known || !counts) continue;
    const { id, realm, noticedAt, finding, project, at, from } = one;
    const run = `${importRun}${from}`;
    touched.push(
      ...(await addFinding(learning, {
        ...{ at, project, session: run },
        data: { id, pass: 1, run, realm, noticedAt, finding },
      })),
    );
  }
  return touched;
}

/** As much of an entry as makes a finding. */
type Made = Pick<EntryOf<"finding.made">, "at" | "project" | "session" | "data">;

/** Takes a finding in, unless something later was said of it. */
async function addFinding(learning: Learning, entry: Made): Promise<string[]> {
  const { id, pass } = entry.data;
  const [known] = await learning.findings.get([id]);
  if ((known && known.pass >= pass) || (await learning.findings.withdrawnAt(id)) > pass) return [];
  const before = known ? await dropKnown(learning, known) : [];
  return [...before, ...(await putFinding(learning, entry))];
}

/** Puts a finding that is not there with those that are alike. */
async function putFinding(learning: Learning, entry: Made): Promise<string[]> {
  const { id, realm, finding } = entry.data;
  const gist = gistOf(finding);
  const near = await likely(learning, realm, gist);
  const kin = [...new Set(near.flatMap((other) => (same(gist, other.gist) ? other.instinct : [])))];
  const kept: KeptFinding = {
    ...entry.data,
    session: entry.session ?? "",
    project: entry.project ?? "unknown",
    at: entry.at ?? 0,
    instinct: id,
  };
  const instinct = earliest([kept, ...(await learning.findings.get(kin))]);
  await learning.findings.save({ ...kept, instinct }, gist, cuesOf(finding));
  await learning.findings.oppose(
    id,
    near.flatMap((other) => (opposed(gist, other.gist) ? other.id : [])),
  );
  const others = kin.filter((other) => other !== instinct);
  if (others.length > 0) await learning.findings.join(others, instinct);
  return [...kin, instinct];
}

/** The findings that may be the same as one, or opposed to it. */
export async function likely(learning: Learning, realm: string, gist: Gist) {
  const counts = await learning.findings.countsOf(realm, [...gist.all]);
  const search = searchFor(gist, (word) => counts.get(word) ?? 0);
  return (await learning.findings.near(realm, search)).map((other) => ({ ...other, gist: gistOf(other) }));
}

async function dropFinding(learning: Learning, entry: EntryOf<"finding.withdrawn">): Promise<string[]> {
  const { id, pass } = entry.data;
  await learning.findings.withdraw(id, pass);
  const [known] = await learning.findings.get([id]);
  return known && known.pass < pass ? dropKnown(learning, known) : [];
}

/** Takes a finding out. What it alone held together falls apart. */
async function dropKnown(learning: Learning, known: KeptFinding): Promise<string[]> {
  // Those that it spoke against stand differently without it.
  const opposite = (await learning.findings.opposing(known.instinct)).map(({ instinct }) => instinct);
  await learning.findings.forget(known.id);
  const left = (await learning.findings.ofInstincts([known.instinct])).map((finding) => ({
    finding,
    gist: gistOf(finding.finding),
  }));
  const groups = componentsOf(left, (a, b) => same(a.gist, b.gist));
  const instincts: string[] = [];
  for (const group of groups) {
    const findings = group.map(({ finding }) => finding) as [KeptFinding, ...KeptFinding[]];
    const instinct = earliest(findings);
    await learning.findings.assign(
      findings.map(({ id }) => id),
      instinct,
    );
    instincts.push(instinct);
  }
  return [known.instinct, ...instincts, ...opposite];
}

/** The groups that are connected, directly or through others. */
function componentsOf<Item extends { readonly gist: Gist }>(
  items: readonly Item[],
  connected: (a: Item, b: Item) => boolean,
): Item[][] {
  const groups: Item[][] = [];
  for (const item of items) {
    const joined = groups.filter((group) => group.some((other) => connected(item, other)));
    const rest = groups.filter((group) => !joined.includes(group));
    groups.splice(0, groups.length, ...rest, [...joined.flat(), item]);
  }
  return groups;
}

async function addUses(learning: Learning, entry: EntryOf<"session.learned">): Promise<string[]> {
  const { session, project, at, data } = entry;
  if (session === null || project === null) return [];
  const [known] = await learning.learned.of([session]);
  if (known && known.pass >= data.pass) return [];
  await learning.learned.save({ session, pass: data.pass, mark: data.mark });
  await learning.uses.replace(session, data.run, project, at ?? 0, data.uses);
  const heads = [...new Set(data.uses.map(({ head }) => head))];
  const calling = await learning.instincts.calling(heads, project);
  return calling.flatMap(({ id, call }) => (data.uses.some((use) => call && isUseOf(use, call)) ? id : []));
}

async function followChange(
  { changes }: Learning,
  entry: EntryOf<"change.intended" | "change.made" | "change.dropped">,
): Promise<void> {
  const known = await changes.get(entry.data.id);
  if (entry.type === "change.intended") {
    if (!known) await changes.save({ change: entry.data, state: "intended", at: entry.at ?? 0 });
    // Of two processes that ended the same change, the one that saw it done is right.
  } else if (known && known.state !== "made")
    await changes.save({ ...known, state: entry.type === "change.made" ? "made" : "dropped" });
}

/** Computes anew where instincts stand, and those that speak against them. */
async function refold(learning: Learning, touched: ReadonlySet<string>, ratings: Ratings): Promise<void> {
  const opposing = await learning.findings.opposingEach([...touched]);
  const others = [...opposing.values()].flatMap((all) => all.map(({ instinct }) => instinct));
  const stale = [...new Set([...touched, ...others])];
  const usesOf = remembered(learning.uses);
  for (let from = 0; from < stale.length; from += foldedAtOnce) {
    const some = stale.slice(from, from + foldedAtOnce);
    const instincts: Instinct[] = [];
    for (const known of await knownOf(learning, some)) instincts.push(await fold(known, usesOf, ratings));
    const left = new Set(instincts.map(({ id }) => id));
    await learning.instincts.forget(some.filter((id) => !left.has(id)));
    await learning.instincts.save(instincts);
  }
}

/** Instincts of which everything that is known is held at the same time. */
const foldedAtOnce = 500;

/** Everything that is known about an instinct but what was seen of its call, and what it was judged to be worth. */
interface Known {
  readonly id: string;
  /** The finding that speaks for it. */
  readonly best: KeptFinding;
  readonly sightings: readonly Sighting[];
  readonly opposing: readonly (Sighting & { readonly instinct: string })[];
  readonly decisions: readonly KeptDecision[];
}

/** What is known about those instincts that there still are: asked for all at once, each alone would cost more to ask than to answer. */
async function knownOf({ findings, decisions }: Learning, ids: readonly string[]): Promise<Known[]> {
  const sightings = await findings.sightings(ids);
  const firsts = [...sightings.values()].flatMap((all) => [...all].sort(bestFirst)[0]?.id ?? []);
  const bests = new Map((await findings.get(firsts)).map((kept) => [kept.instinct, kept]));
  const opposing = await findings.opposingEach(ids);
  const decided = await decisions.ofInstincts(ids);
  return ids.flatMap((id) => {
    const best = bests.get(id);
    if (best === undefined) return [];
    const own = { sightings: sightings.get(id) ?? [], opposing: opposing.get(id) ?? [] };
    return [{ id, best, ...own, decisions: decided.get(id) ?? [] }];
  });
}

function bestFirst(a: Sighting, b: Sighting): number {
  return (
    Number(a.by === "model") - Number(b.by === "model") ||
    b.confidence - a.confidence ||
    a.at - b.at ||
    (a.id < b.id ? -1 : 1)
  );
}

/** The id of the earliest finding, by which its instinct goes. */
function earliest(findings: readonly [KeptFinding, ...KeptFinding[]]): string {
  return findings.reduce((first, other) => (isBefore(other, first) ? other : first)).id;
}

function isBefore(a: KeptFinding, b: KeptFinding): boolean {
  return a.at !== b.at ? a.at < b.at : `${a.run} ${a.id}` < `${b.run} ${b.id}`;
}

/** Many instincts recommend calls of the same few programs; what was seen of each is read once. */
function remembered({ of }: Learning["uses"]): Learning["uses"]["of"] {
  const known = new Map<string, ReturnType<typeof of>>();
  return (head, project) => {
    const key = JSON.stringify([head, project]);
    const uses = known.get(key) ?? of(head, project);
    known.set(key, uses);
    return uses;
  };
}

/** An instinct from everything that is known about it. */
async function fold(
  { id, best, sightings, opposing, decisions }: Known,
  usesOf: Learning["uses"]["of"],
  ratings: Ratings,
): Promise<Instinct> {
  const { project } = best;
  const { confidence: _, scope: ownScope, ...lesson } = withoutPlaces(best.finding);
  // What is told for all projects is the person's; its advice counts wherever it is followed.
  const scope = isTold(decisions, sightings) ? "user" : ownScope;
  const evidence: Evidence[] = [
    ...sightings.map((sighting) => ({ type: "seen" as const, ...sighting })),
    ...opposing.map(({ run, at, noticedAt, instinct, kind, by }) => ({
      type: "opposed" as const,
      run,
      at,
      noticedAt,
      by: instinct,
      byPerson: isSaid(kind) && by !== "model",
    })),
    ...ratings.of(sightings.map((sighting) => sighting.id)),
    ...(await usesOfCall(usesOf, lesson.call, scope === "user" ? null : project)),
    ...decisions.map(
      ({ at, decision, everywhere, lesson: told, actor }): Evidence =>
        decision === "promoted" || decision === "demoted"
          ? { type: decision, at, lesson: told ?? id, byPerson: actor === "person" }
          : { type: decision, at, everywhere },
    ),
  ];
  return { ...lesson, id, project, scope, standing: standingOf(evidence) };
}

/** Whether the latest word on promoting is that it is the one to be told for all. */
function isTold(decisions: readonly KeptDecision[], own: readonly { readonly id: string }[]): boolean {
  const latest = decisions.findLast(({ decision }) => decision === "promoted" || decision === "demoted");
  return latest?.decision === "promoted" && own.some(({ id }) => id === latest.lesson);
}

function withoutPlaces({
  refs: _,
  keys: __,
  at: ___,
  origin: ____,
  by: _____,
  ...lesson
}: KeptFinding["finding"]) {
  return lesson;
}

async function usesOfCall(
  usesOf: Learning["uses"]["of"],
  call: readonly string[] | null,
  project: string | null,
): Promise<Evidence[]> {
  const head = call?.[0];
  if (!call || head === undefined) return [];
  const uses = await usesOf(head, project);
  return uses.flatMap((use) => {
    const { run, at, ok, failed } = use;
    return isUseOf(use, call) ? [{ type: "used" as const, run, at, ok, failed }] : [];
  });
}
