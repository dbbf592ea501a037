import type { Clock } from "../base/index.ts";
import { groupBy, makeId } from "../base/index.ts";
import { createOpposedSearch } from "../lessons/index.ts";
import type { openLibrary } from "../library/index.ts";
import type { Finding, ImportedLesson, Lesson } from "../records/index.ts";
import type { Env, Home } from "../settings/index.ts";
import type { BackgroundWork, Store } from "../store/index.ts";
import { type AuthorWord, decideConsent, findConcern } from "./consent.ts";
import { type DigestView, viewDigests } from "./digest.ts";
import { foldRules, foldShares, type TeamRules, type TeamShare } from "./fold.ts";
import { openTeamFolder, type TeamState } from "./machine.ts";

export interface TeamDeps extends BackgroundWork {
  readonly home: Home;
  readonly env: Env;
  readonly store: Store;
  readonly clock: Clock;
  readonly library: ReturnType<typeof openLibrary>;
}

/** New shares that are taken in together. */
const offeredAtOnce = 500;

type ImportedThing = Awaited<ReturnType<TeamDeps["library"]["imports"]>>[number];

/** What members share for the repositories of this machine, and where each thing stands here. */
interface ReceivedShares {
  readonly rules: TeamRules;
  readonly shares: ReadonlyMap<string, TeamShare>;
  /** Things that came from the team, by the name under which it shares them. */
  readonly imports: ReadonlyMap<string, ImportedThing>;
  readonly authors: ReadonlyMap<string, AuthorWord>;
  readonly digests: DigestView;
}

export async function readShares(deps: TeamDeps, state: TeamState): Promise<ReceivedShares> {
  const { store, clock, library } = deps;
  const now = clock.now();
  const rules = foldRules(await store.team.ofKind("policy", "member.distrusted"), state.members, now);
  const repositories = (await store.projects.list()).map(({ id }) => id);
  const subjects = new Set((await store.team.shares(repositories)).map(({ subject }) => subject));
  const digests = viewDigests(openTeamFolder(deps.home).readDigests());
  const shares = foldShares(await store.team.about([...subjects]), rules, now);
  return {
    ...{ rules, digests },
    shares: new Map([...shares].map(([subject, share]) => [subject, digests.complete(share)])),
    imports: await readImports(library, state),
    authors: await readAuthorWords(store, state.team),
  };
}

async function readImports(
  library: TeamDeps["library"],
  { team }: Pick<TeamState, "team">,
): Promise<ReceivedShares["imports"]> {
  const imports = (await library.imports()).filter((one) => one.share?.team === team);
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
export async function takeShares(deps: TeamDeps, state: TeamState, until: () => boolean) {
  const { store, library } = deps;
  const projects = nameProjects(await store.projects.list());
  // Nothing came since, and no repository either for which something came before.
  if (projects === state.taken)
    return { offered: 0, accepted: 0, withdrawn: 0, left: state.left, taken: projects };
  const before = await readShares(deps, state);
  const withdrawn = [...before.imports].flatMap(([subject, { id, status, type }]) => {
    const isOpen = status === "waiting" || (status === "accepted" && type === "lesson");
    return isOpen && !before.shares.has(subject) ? id : [];
  });
  if (withdrawn.length > 0) await library.decideImports(withdrawn, "withdrawn", "knack");
  const wanted = await listWanted(deps, state, before);
  const left = { ...state.left };
  let offered = 0;
  while (offered < wanted.length && !until()) {
    const some = wanted.slice(offered, offered + offeredAtOnce);
    const { things } = await offerShares(deps, state, some);
    for (const [at, { verdict, because }] of things.entries())
      if (verdict !== "new" && verdict !== "changed" && verdict !== "waiting")
        left[some[at]?.subject ?? ""] = { verdict, because: because ?? "" };
    offered += some.length;
  }
  const accepted = await acceptDue(deps, state, { ...before, imports: await readImports(library, state) });
  const taken = offered < wanted.length ? "" : projects;
  return { offered, accepted, withdrawn: withdrawn.length, left, taken };
}

const harmful = "it did more harm than good in the sessions of others";

/** Shares that this machine has no word on yet: not its own, nor what the person took away or left aside. */
async function listWanted({ store }: TeamDeps, { team, left }: TeamState, before: ReceivedShares) {
  const decided = await listDecided(store);
  const own = await listOwnShares(store, team);
  return [...before.shares.values()].filter(({ subject, by }) => {
    const known = before.imports.get(subject);
    const isOver = known?.status === "withdrawn" && !decided.has(known.id);
    const isUnwanted = by.every((author) => before.authors.get(author) === "rejected");
    // Another share says the same and stands for it.
    if (before.shares.has(before.digests.findStandIn(subject) ?? "")) return false;
    return (known === undefined || isOver) && left[subject] === undefined && !own.has(subject) && !isUnwanted;
  });
}

async function offerShares({ library }: TeamDeps, state: TeamState, shares: readonly TeamShare[]) {
  const plan = await library.planShared(
    state.team,
    shares.map(({ subject, kind, by, body }) => {
      return { subject, kind, body, author: nameMember(state, by[0] ?? "") };
    }),
  );
  await library.carryIn(plan);
  return plan;
}

/** Accepts lessons that nobody has to be asked about, and answers with how many. */
async function acceptDue(deps: TeamDeps, state: TeamState, now: ReceivedShares): Promise<number> {
  const { rules, authors, shares } = now;
  const mayBe =
    rules.yes !== null ||
    [...authors.values()].includes("accepted") ||
    [...shares.values()].some(({ by }) => by.includes(state.self));
  if (!mayBe) return 0;
  const due = (await listReceived(deps, state, now)).filter(
    ({ kind, status, consent }) => kind === "lesson" && status === "waiting" && consent.accept,
  );
  const ids = due.map(({ id }) => id);
  if (ids.length > 0) await deps.library.decideImports(ids, "accepted", "knack");
  return ids.length;
}

function nameProjects(projects: readonly { readonly id: string }[]): string {
  return makeId("p", projects.map(({ id }) => id).join(" "));
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
  readonly evidence: Finding["excerpt"] | null;
  readonly consent: ReturnType<typeof decideConsent>;
  /** What says the opposite: a lesson of one's own, or another member's. */
  readonly opposed: readonly { readonly id: string; readonly says: string; readonly by: string | null }[];
}

/** What came from the team and waits or was accepted, with everything that a person may want to know first. */
export async function listReceived(
  { store }: TeamDeps,
  { self, members }: Pick<TeamState, "self" | "members">,
  { rules, shares, imports, authors, digests }: ReceivedShares,
): Promise<ReceivedShare[]> {
  const things = [...imports].flatMap(([subject, thing]) => {
    const share = shares.get(subject);
    const isOpen = thing.status === "waiting" || thing.status === "accepted";
    return share && isOpen ? [{ thing, share }] : [];
  });
  const findOpposed = await searchOpposed(
    store,
    things.flatMap(({ thing, share }) => (thing.type === "lesson" ? [{ thing, share }] : [])),
    (id) => nameMember({ members }, id),
  );
  /** Shares that the team's workers found to say the opposite. */
  const listCompared = (subject: string) =>
    digests.listOpposed(subject).flatMap((other) => {
      const [thing, share] = [imports.get(other), shares.get(other)];
      if (thing?.type !== "lesson" || share === undefined) return [];
      const by = share.by.map((id) => nameMember({ members }, id)).join(", ");
      return [{ id: thing.id, says: thing.finding.lesson, by }];
    });
  return things.map(({ thing, share: { body: _, ...share } }) => {
    const opposed = [...findOpposed(thing.id), ...listCompared(share.subject)];
    const lesson = thing.type === "lesson" ? thing.finding : null;
    return {
      ...share,
      ...{ id: thing.id, status: thing.status, opposed, evidence: lesson?.excerpt ?? null },
      name: thing.type === "lesson" ? thing.finding.name : thing.name,
      says: thing.type === "lesson" ? thing.finding.lesson : thing.description,
      consent: decideConsent(share, {
        ...{ self, authors, rules, isOpposed: opposed.length > 0 },
        concern: lesson && (digests.harmful.has(share.subject) ? harmful : findConcern(lesson)),
      }),
    };
  });
}

/** Lessons of others against those of this machine and against each other, within one project. */
async function searchOpposed(
  { learning }: Store,
  received: readonly { readonly thing: ImportedLesson; readonly share: TeamShare }[],
  nameAuthor: (id: string) => string,
) {
  interface Side {
    readonly id: string;
    readonly scopeId: string;
    readonly text: Finding | Lesson;
    readonly by: string | null;
  }
  const came = new Set(received.map(({ thing }) => thing.id));
  const own = (await learning.lessons.list()).filter(
    ({ id, state }) => !came.has(id) && state.status !== "rejected" && state.status !== "retired",
  );
  const sides: Side[] = [
    ...own.map((text) => ({
      id: text.id,
      text,
      scopeId: text.scope === "user" ? "user" : text.project,
      by: null,
    })),
    ...received.map(({ thing, share }) => ({
      ...{ id: thing.id, text: thing.finding, scopeId: thing.scopeId },
      by: share.by.map(nameAuthor).join(", "),
    })),
  ];
  const byText = new Map(sides.map((side) => [side.text, side]));
  const searches = new Map(
    [...groupBy(sides, ({ scopeId }) => scopeId)].map(([scopeId, some]) => [
      scopeId,
      createOpposedSearch(some.map(({ text }) => text)),
    ]),
  );
  const byId = new Map(sides.map((side) => [side.id, side]));
  return (id: string) => {
    const side = byId.get(id);
    const found = side ? (searches.get(side.scopeId)?.(side.text) ?? []) : [];
    return found.flatMap((text) => {
      const other = byText.get(text);
      return other ? [{ id: other.id, says: text.lesson, by: other.by }] : [];
    });
  };
}
