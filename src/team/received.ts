import { setImmediate } from "node:timers/promises";
import type { Clock } from "../base/index.ts";
import { groupBy, makeId } from "../base/index.ts";
import { createOpposedSearch } from "../lessons/index.ts";
import { type openLibrary, sharedImportId } from "../library/index.ts";
import type { Finding, ImportedLesson, Lesson } from "../records/index.ts";
import type { Env, Home } from "../settings/index.ts";
import type { BackgroundWork, Store } from "../store/index.ts";
import { several } from "../text/index.ts";
import { type AuthorWord, decideConsent, findConcern } from "./consent.ts";
import { type DigestView, viewDigests } from "./digest.ts";
import { foldRules, foldShares, listMaintainers, type TeamRules, type TeamShare } from "./fold.ts";
import { openTeamFolder, type TeamState } from "./machine.ts";

export interface TeamDeps extends BackgroundWork {
  readonly home: Home;
  readonly env: Env;
  readonly store: Store;
  readonly clock: Clock;
  readonly library: ReturnType<typeof openLibrary>;
}

/** Shares that are read and taken in together: a lesson with its evidence and votes is some kilobytes. */
const takenAtOnce = 100;

type ImportedThing = Awaited<ReturnType<TeamDeps["library"]["imports"]>>[number];

/** What members share for the repositories of this machine, and where each thing stands here. */
interface ReceivedShares extends TeamView {
  readonly shares: ReadonlyMap<string, TeamShare>;
  /** Things that came from the team, by the name under which it shares them. */
  readonly imports: ReadonlyMap<string, ImportedThing>;
}

/** What decides about all shares alike. */
interface TeamView {
  readonly rules: TeamRules;
  readonly authors: ReadonlyMap<string, AuthorWord>;
  readonly digests: DigestView;
  readonly repositories: readonly string[];
}

async function readView({ store, clock, home }: TeamDeps, state: TeamState): Promise<TeamView> {
  const entries = await store.team.ofKind("policy", "member.distrusted");
  return {
    rules: foldRules(entries, listMaintainers(state.members, state.trust), clock.now()),
    authors: await readAuthorWords(store, state.team),
    digests: viewDigests(openTeamFolder(home).readDigests()),
    repositories: (await store.projects.list()).map(({ id }) => id),
  };
}

/** Everything that members share for the repositories of this machine. */
export async function readShares(deps: TeamDeps, state: TeamState): Promise<ReceivedShares> {
  const view = await readView(deps, state);
  const subjects = await deps.store.team.sharedSubjects(view.repositories);
  const imports = (await deps.library.imports()).filter((one) => one.share?.team === state.team);
  return { ...view, shares: await foldSome(deps, view, subjects), imports: nameByShare(imports) };
}

/** Some of what members share; what is shared for other repositories is not there. */
async function foldSome(
  { store, clock }: TeamDeps,
  { rules, digests, repositories }: TeamView,
  subjects: readonly string[],
): Promise<Map<string, TeamShare>> {
  const shares = foldShares(await store.team.about(subjects), rules, clock.now());
  const known = new Set<string | null>([null, ...repositories]);
  const here = [...shares].filter(([, { repository }]) => known.has(repository));
  return new Map(here.map(([subject, share]) => [subject, digests.complete(share)]));
}

function nameByShare(imports: readonly ImportedThing[]): ReceivedShares["imports"] {
  return new Map(imports.map((one) => [one.share?.name ?? "", one]));
}

async function readAuthorWords({ ledger }: Store, team: string): Promise<Map<string, AuthorWord>> {
  const said = (await ledger.since("author.decided", 0)).filter(({ data }) => data.team === team);
  return new Map(said.map(({ data }) => [data.author, data.word]));
}

/** The imports whose last word was a person's, which Knack does not change. */
async function listDecided({ ledger }: Store): Promise<Set<string>> {
  const last = new Map<string, boolean>();
  for (const { actor, data } of await ledger.since("import.decided", 0))
    for (const id of data.imports) last.set(id, actor === "person");
  return new Set([...last].flatMap(([id, byPerson]) => (byPerson ? id : [])));
}

/**
 * Brings this machine to what the team shares: offers what is new to the person, accepts what they or the team accept
 * without asking, and takes away what nobody shares any more. What a person decided stays decided.
 */
export async function takeShares(
  deps: TeamDeps,
  state: TeamState,
  /** What was said since the machine was last brought to it, and under which mark that was. */
  { taken, heard }: { readonly taken: string; readonly heard: ReadonlySet<string> },
  until: () => boolean,
) {
  const { store, library } = deps;
  const view = await readView(deps, state);
  const mark = nameView(view);
  const sum = { offered: 0, accepted: 0, withdrawn: 0 };
  const left = { ...state.left };
  if (mark === taken && heard.size === 0) return { ...sum, left, taken };
  // Where only some things were spoken of, the others stand as they do.
  const subjects = mark === taken ? [...heard] : await listSubjects(deps, state, view);
  const seen = {
    decided: await listDecided(store),
    own: await listOwnShares(store, state.team),
  };
  for (const some of slice(subjects)) {
    // Gives way to timers and signals, and to what frees the memory of statements.
    await setImmediate();
    if (until()) return { ...sum, left, taken: "" };
    const before = await readSome(deps, view, some);
    const withdrawn = [...before.imports].flatMap(([subject, { id, status, type }]) => {
      const isOpen = status === "waiting" || (status === "accepted" && type === "lesson");
      return isOpen && !before.shares.has(subject) ? id : [];
    });
    if (withdrawn.length > 0) await library.decideImports(withdrawn, "withdrawn", "knack");
    const wanted = listWanted({ ...state, left }, before, seen, new Set(some));
    const { things } = await offerShares(deps, state, wanted);
    for (const [at, { verdict, because }] of things.entries())
      if (verdict !== "new" && verdict !== "changed" && verdict !== "waiting")
        left[wanted[at]?.subject ?? ""] = { verdict, because: because ?? "" };
    sum.offered += wanted.length;
    sum.withdrawn += withdrawn.length;
  }
  sum.accepted = await acceptDue(deps, state, view, new Set(subjects));
  return { ...sum, left, taken: mark };
}

/** A word for what decides about all shares alike: while it is the same, only what is spoken of can change. */
function nameView({ rules, authors, digests, repositories }: TeamView): string {
  const { yes, distrusted } = rules;
  return makeId("p", JSON.stringify([repositories, yes, [...distrusted], [...authors], digests.mark]));
}

/** What is shared for this machine, and what came from the team before. */
async function listSubjects({ store, library }: TeamDeps, { team }: TeamState, { repositories }: TeamView) {
  const imports = (await library.imports()).flatMap(({ share, status }) =>
    share?.team === team && (status === "waiting" || status === "accepted") ? share.name : [],
  );
  return [...new Set([...(await store.team.sharedSubjects(repositories)), ...imports])];
}

/** Some shares with those that stand for them or oppose them, and the imports that came of them. */
async function readSome(
  deps: TeamDeps,
  view: TeamView,
  subjects: readonly string[],
): Promise<ReceivedShares> {
  const { findStandIn, listOpposed } = view.digests;
  const beside = subjects.flatMap((one) => [findStandIn(one) ?? [], listOpposed(one)].flat());
  const all = [...new Set([...subjects, ...beside])];
  const imports = await deps.library.importsOf(all.map(sharedImportId));
  return { ...view, shares: await foldSome(deps, view, all), imports: nameByShare(imports) };
}

const harmful = "it did more harm than good in the sessions of others";

/** Shares that this machine has no word on yet: not its own, nor what the person took away or left aside. */
function listWanted(
  { left }: Pick<TeamState, "left">,
  { shares, imports, authors, digests }: ReceivedShares,
  { decided, own }: { readonly decided: ReadonlySet<string>; readonly own: ReadonlySet<string> },
  subjects: ReadonlySet<string>,
) {
  return [...shares.values()].filter(({ subject, by }) => {
    if (!subjects.has(subject)) return false;
    const known = imports.get(subject);
    const isOver = known?.status === "withdrawn" && !decided.has(known.id);
    const isUnwanted = by.every((author) => authors.get(author) === "rejected");
    // Another share says the same and stands for it.
    if (shares.has(digests.findStandIn(subject) ?? "")) return false;
    return (known === undefined || isOver) && left[subject] === undefined && !own.has(subject) && !isUnwanted;
  });
}

async function offerShares({ library }: TeamDeps, state: TeamState, shares: readonly TeamShare[]) {
  if (shares.length === 0) return { things: [] };
  const plan = await library.planShared(
    state.team,
    shares.map(({ subject, kind, by, body }) => {
      return { subject, kind, body, author: nameMember(state, by[0] ?? "") };
    }),
  );
  await library.carryIn(plan);
  return plan;
}

/**
 * Accepts lessons that nobody has to be asked about, and answers with how many. All that is new was offered before, so
 * that of two that say opposite things neither is accepted.
 */
async function acceptDue(
  deps: TeamDeps,
  { team, self }: Pick<TeamState, "team" | "self">,
  view: TeamView,
  subjects: ReadonlySet<string>,
): Promise<number> {
  const { store, library } = deps;
  /** The ids of all that waits, by the project that it is for: one project's words are enough to hold at a time. */
  const waiting = new Map<string, string[]>();
  const meant = new Set<string>();
  for (const some of slice(await store.learning.imports.waiting()))
    for (const one of await library.importsOf(some)) {
      if (one.type !== "lesson" || one.share?.team !== team) continue;
      waiting.set(one.scopeId, [...(waiting.get(one.scopeId) ?? []), one.id]);
      if (subjects.has(one.share.name)) meant.add(one.id);
    }
  let accepted = 0;
  for (const ids of waiting.values()) {
    if (!ids.some((id) => meant.has(id))) continue;
    const things = (await library.importsOf(ids)).filter((one) => one.type === "lesson");
    const facts = { self, authors: view.authors, rules: view.rules };
    const candidates: { readonly thing: ImportedLesson; readonly share: TeamShare }[] = [];
    for (const some of slice(things.filter(({ id }) => meant.has(id)))) {
      const names = some.map(({ share }) => share?.name ?? "");
      const shares = await foldSome(deps, view, names);
      for (const thing of some) {
        const share = shares.get(thing.share?.name ?? "");
        // Most wait for a yes, and need not be looked at any closer.
        if (share && decideConsent(share, { ...facts, concern: null, isOpposed: false }).accept)
          candidates.push({ thing, share });
      }
    }
    if (candidates.length === 0) continue;
    const here = things.map((thing) => ({ thing, by: thing.from }));
    const opposed = await findOpposed(store, here, new Set(candidates.map(({ thing }) => thing.id)));
    const compared = await readSome(
      deps,
      view,
      candidates.flatMap(({ share }) => view.digests.listOpposed(share.subject)),
    );
    const due = candidates.filter(({ thing, share }) => {
      const others = listCompared(compared, share.subject);
      const isOpposed = (opposed.get(thing.id) ?? []).length + others.length > 0;
      const concern = nameConcern(view, share.subject, thing.finding);
      return decideConsent(share, { ...facts, concern, isOpposed }).accept;
    });
    for (const some of slice(due.map(({ thing }) => thing.id))) {
      await setImmediate();
      await library.decideImports(some, "accepted", "knack");
    }
    accepted += due.length;
  }
  return accepted;
}

function* slice<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let from = 0; from < items.length; from += takenAtOnce) yield items.slice(from, from + takenAtOnce);
}

/** Shares that the team's workers found to say the opposite. */
function listCompared({ digests, imports, shares }: ReceivedShares, subject: string) {
  return digests.listOpposed(subject).flatMap((other) => {
    const [thing, share] = [imports.get(other), shares.get(other)];
    return thing?.type === "lesson" && share !== undefined ? [{ thing, share }] : [];
  });
}

function nameConcern({ digests }: TeamView, subject: string, lesson: Finding): string | null {
  return digests.harmful.has(subject) ? harmful : findConcern(lesson);
}

/** What this machine shares itself, by the name under which it does. */
async function listOwnShares({ ledger }: Store, team: string): Promise<Set<string>> {
  const shared = (await ledger.since("team.shared", 0)).filter(({ data }) => data.team === team);
  return new Set(shared.flatMap(({ data }) => data.share ?? []));
}

export function nameMember({ members }: Pick<TeamState, "members">, id: string): string {
  return members.find((member) => member.id === id)?.name ?? id;
}

/** Something that came from the team, as a person decides about it. */
export interface ReceivedShare extends Omit<TeamShare, "body"> {
  readonly id: string;
  readonly status: ImportedThing["status"];
  readonly name: string;
  readonly says: string;
  /** From 1; a later one is another text, which somebody must say yes to again. */
  readonly version: number;
  /** What the version before said. */
  readonly replaces: string | null;
  readonly evidence: Finding["excerpt"] | null;
  readonly consent: ReturnType<typeof decideConsent>;
  /** What says the opposite: a lesson of one's own, or another member's. */
  readonly opposed: readonly { readonly id: string; readonly says: string; readonly by: string | null }[];
}

/** How far what a member shares has come: for whom it is, whom it helped, who said yes. */
export function describeShare(share: ReceivedShare): string[] {
  const { repository, outcomes, helpedPeople, yes, no, version } = share;
  const { helped, failed } = outcomes;
  const people = several(helpedPeople, "person", "people");
  return [
    ...(version > 1 ? [`version ${version}`] : []),
    repository === null ? "for everywhere" : `for ${repository}`,
    ...(helped > 0 ? [`helped ${people} in ${several(helped, "session")}`] : []),
    ...(failed > 0 ? [`harmed in ${several(failed, "session")}`] : []),
    ...(yes.length > 0 ? [`${yes.length} said yes`] : []),
    ...(no.length > 0 ? [`${no.length} said no`] : []),
  ];
}

/** What came from the team and waits or was accepted, with everything that a person may want to know first. */
export async function listReceived(
  { store }: TeamDeps,
  { self, members }: Pick<TeamState, "self" | "members">,
  received: ReceivedShares,
): Promise<ReceivedShare[]> {
  const { rules, shares, imports, authors } = received;
  const things = [...imports].flatMap(([subject, thing]) => {
    const share = shares.get(subject);
    const isOpen = thing.status === "waiting" || thing.status === "accepted";
    return share && isOpen ? [{ thing, share }] : [];
  });
  const nameAuthors = ({ by }: TeamShare) => by.map((id) => nameMember({ members }, id)).join(", ");
  const opposedTo = await findOpposed(
    store,
    things.flatMap(({ thing, share }) =>
      thing.type === "lesson" ? [{ thing, by: nameAuthors(share) }] : [],
    ),
  );
  const versions = await readVersions(
    store,
    things.map(({ share }) => share),
  );
  return things.map(({ thing, share: { body: _, ...share } }) => {
    const compared = listCompared(received, share.subject).map(({ thing: { id, finding }, share: other }) => {
      return { id, says: finding.lesson, by: nameAuthors(other) };
    });
    const opposed = [...(opposedTo.get(thing.id) ?? []), ...compared];
    const lesson = thing.type === "lesson" ? thing.finding : null;
    return {
      ...share,
      ...{ id: thing.id, status: thing.status, opposed, evidence: lesson?.excerpt ?? null },
      ...(versions.get(share.subject) ?? { version: 1, replaces: null }),
      name: thing.type === "lesson" ? thing.finding.name : thing.name,
      says: thing.type === "lesson" ? thing.finding.lesson : thing.description,
      consent: lesson
        ? decideConsent(share, {
            ...{ self, authors, rules, isOpposed: opposed.length > 0 },
            concern: nameConcern(received, share.subject, lesson),
          })
        : { accept: false, because: "skills wait for your own yes" },
    };
  });
}

/** Which version each share is, and what the one before said, where that was its author's too. */
async function readVersions(store: Store, shares: readonly TeamShare[]) {
  const said = shares.flatMap(({ subject, by, body }) => {
    const { version, replaces } = JSON.parse(body) as { version?: unknown; replaces?: unknown };
    const isLater = Number.isInteger(version) && Number(version) > 1 && typeof replaces === "string";
    return isLater ? [{ subject, by, version: Number(version), replaces: String(replaces) }] : [];
  });
  const before = await store.team.about(said.map(({ replaces }) => replaces));
  return new Map(
    said.map(({ subject, by, version, replaces }) => {
      const last = before.find((one) => one.subject === replaces && by.includes(one.author));
      const { lesson, description } = last ? JSON.parse(last.body) : {};
      return [subject, { version, replaces: (lesson ?? description ?? null) as string | null }] as const;
    }),
  );
}

/**
 * Lessons of others against those of this machine and against each other, within one project: what says the opposite of
 * each of them, or of those that are asked for.
 */
async function findOpposed(
  { learning }: Store,
  received: readonly { readonly thing: ImportedLesson; readonly by: string }[],
  asked: { has(id: string): boolean } = new Set(received.map(({ thing }) => thing.id)),
) {
  const opposed = new Map<string, ReceivedShare["opposed"]>();
  for (const [scopeId, some] of groupBy(received, ({ thing }) => thing.scopeId)) {
    const came = new Set<string>(some.map(({ thing }) => thing.id));
    const own = (await learning.lessons.ofScope(scopeId)).filter(
      ({ id, state }) => !came.has(id) && state.status !== "rejected" && state.status !== "retired",
    );
    const sides = new Map<Finding | Lesson, { readonly id: string; readonly by: string | null }>([
      ...own.map((text) => [text, { id: text.id, by: null }] as const),
      ...some.map(({ thing, by }) => [thing.finding, { id: thing.id, by }] as const),
    ]);
    const search = createOpposedSearch([...sides.keys()]);
    for (const { thing } of some.filter(({ thing: { id } }) => asked.has(id)))
      opposed.set(
        thing.id,
        search(thing.finding).flatMap((text) => {
          const other = sides.get(text);
          return other ? [{ ...other, says: text.lesson }] : [];
        }),
      );
  }
  return opposed;
}
