import type { Clock } from "../base/index.ts";
import { groupBy } from "../base/index.ts";
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

/** New shares that are taken in at once; the rest follows with the next sync. */
const mostOffered = 500;

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
  const imports = (await library.imports()).flatMap((one) =>
    one.share === undefined ? [] : [[one.share, one] as const],
  );
  const digests = viewDigests(openTeamFolder(deps.home).readDigests());
  const shares = foldShares(await store.team.about([...subjects]), rules, now);
  return {
    ...{ rules, digests },
    shares: new Map([...shares].map(([subject, share]) => [subject, digests.complete(share)])),
    imports: new Map(imports),
    authors: await readAuthorWords(store, state.team),
  };
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
export async function takeShares(deps: TeamDeps, state: TeamState) {
  const { store, library } = deps;
  const before = await readShares(deps, state);
  const decided = await listDecided(store);
  const withdrawn = [...before.imports].flatMap(([subject, { id, status, type }]) => {
    const isOpen = status === "waiting" || (status === "accepted" && type === "lesson");
    return isOpen && !before.shares.has(subject) ? id : [];
  });
  if (withdrawn.length > 0) await library.decideImports(withdrawn, "withdrawn", "knack");
  const wanted = [...before.shares.values()].filter((share) => {
    const known = before.imports.get(share.subject);
    if (known !== undefined && (known.status !== "withdrawn" || decided.has(known.id))) return false;
    const standIn = before.digests.findStandIn(share.subject);
    if (standIn !== null && before.shares.has(standIn)) return false;
    return state.left[share.subject] === undefined && !isUnwanted(share, before.authors);
  });
  const own = await listOwnShares(store, state.team);
  const offered = wanted.filter(({ subject }) => !own.has(subject)).slice(0, mostOffered);
  const plan = await library.planShared(
    offered.map(({ subject, kind, by, body }) => ({
      subject,
      kind,
      body,
      author: nameMember(state, by[0] ?? ""),
    })),
  );
  await library.carryIn(plan);
  const left = { ...state.left };
  for (const [at, { verdict, because }] of plan.things.entries())
    if (verdict !== "new" && verdict !== "changed" && verdict !== "waiting")
      left[offered[at]?.subject ?? ""] = { verdict, because: because ?? "" };
  const after = await readShares(deps, state);
  const due = (await listReceived(deps, state, after)).filter(
    ({ kind, status, consent }) => kind === "lesson" && status === "waiting" && consent.accept,
  );
  if (due.length > 0)
    await library.decideImports(
      due.map(({ id }) => id),
      "accepted",
      "knack",
    );
  return { offered: plan.things.length, accepted: due.length, withdrawn: withdrawn.length, left };
}

const harmful = "it did more harm than good in the sessions of others";

function isUnwanted({ by }: TeamShare, authors: ReadonlyMap<string, AuthorWord>): boolean {
  return by.every((author) => authors.get(author) === "rejected");
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
    const opposed = [...findOpposed(thing.id), ...listCompared(thing.share ?? "")];
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
