import { groupBy } from "../base/index.ts";
import { foldCredits } from "../lessons/index.ts";
import { loadLived, readCredits } from "../recall/index.ts";
import type { ImportedLesson, Lesson, StoredTeamEntry, TeamEntry } from "../records/index.ts";
import { shareLimits } from "./admit.ts";
import { foldShares, type ShareOutcomes, type TeamWord, type VoteWord } from "./fold.ts";
import type { TeamState } from "./machine.ts";
import { listFailureNames } from "./proof.ts";
import type { TeamDeps } from "./received.ts";
import { type MachineKey, nameShare, sealEntry, type TeamDraft } from "./signing.ts";
import { draftRegistration } from "./trust.ts";

/** Days back from now whose sessions are counted for the team's report. */
const measuredDays = 120;
const day = 86_400_000;

/** Something a person shares: the entry it makes, and what it is here. */
type PlannedShare = {
  readonly thing: string;
  readonly name: string;
  readonly draft: TeamDraft;
  /** The name of the version that it replaces. */
  readonly replaces: string | null;
};

type SharePlan = {
  readonly shares: readonly PlannedShare[];
  readonly left: readonly { readonly name: string; readonly because: string }[];
};

/** Gives drafts their places after the machine's last entry. The first thing that a machine says is its key. */
export async function sealAll(
  { store }: Pick<TeamDeps, "store">,
  drafts: readonly TeamDraft[],
  { team, self, voucher }: Pick<TeamState, "team" | "self" | "voucher">,
  key: MachineKey,
): Promise<TeamEntry[]> {
  const head = await store.team.head(key.machine);
  let [sequence, previous] = [head?.sequence ?? 0, head?.id ?? ""];
  const [first] = head === null ? drafts : [];
  const isUnknown = first !== undefined && first.kind !== "machine.registered";
  const all = isUnknown ? [draftRegistration(key, voucher, first.at), ...drafts] : drafts;
  return all.map((draft) => {
    const entry = sealEntry(draft, { team, author: self, sequence: ++sequence, previous }, key);
    previous = entry.id;
    return entry;
  });
}

/** What is shared by this machine now, by the lesson or skill here. */
export async function listShared({ store }: Pick<TeamDeps, "store">, team: string) {
  const said = (await store.ledger.since("team.shared", 0)).filter(({ data }) => data.team === team);
  const last = new Map(said.map(({ data }) => [data.thing, data]));
  return new Map(
    [...last].flatMap(([thing, data]) => (data.share === null ? [] : [[thing, data.share] as const])),
  );
}

/** Plans sharing lessons: kept ones, of repositories that other machines recognise, in words without secrets. */
export async function planLessonShares(
  deps: TeamDeps,
  lessons: readonly Lesson[],
  { team }: Pick<TeamState, "team">,
): Promise<SharePlan> {
  const { store, library } = deps;
  const shared = await listShared(deps, team);
  const came = await listCame(deps);
  const left: SharePlan["left"][number][] = [];
  const shares: PlannedShare[] = [];
  const carried = await library.carryLessons(lessons);
  const known = await store.team.about([...shared.values()]);
  for (const [at, lesson] of lessons.entries()) {
    const { id, name, state } = lesson;
    const repository = lesson.scope === "user" ? null : lesson.project;
    const before = shared.get(id) ?? null;
    const last = known.find(({ subject, kind }) => subject === before && kind === "lesson.shared");
    const body = JSON.stringify(makeVersion(carried[at] as object, last));
    const subject = nameShare(repository, body);
    const because =
      state.acceptedAt === undefined
        ? "you have not kept it"
        : came.has(id)
          ? `it came from ${came.get(id)}`
          : repository !== null && isFolder(repository)
            ? "its project has no remote by which other machines know it"
            : last && readWords(last.body) === readWords(body)
              ? "it is shared already"
              : body.length > shareLimits.lesson - 1_000
                ? `it is longer than ${shareLimits.lesson - 1_000} characters`
                : null;
    if (because !== null) left.push({ name, because });
    else {
      // Its own time, not today's: the same lesson makes the same entry.
      const draft = { repository, at: state.acceptedAt ?? 0, kind: "lesson.shared", subject } as const;
      shares.push({ thing: id, name, draft: { ...draft, body: JSON.parse(body) }, replaces: before });
    }
  }
  return { shares, left };
}

function isFolder(project: string): boolean {
  return project === "unknown" || /^(?:[/\\~]|[A-Za-z]:[\\/])/.test(project);
}

/** The lessons that came from others, by their ids, with their authors. */
async function listCame({ store, library }: TeamDeps): Promise<Map<string, string>> {
  const imports = (await library.imports()).filter(
    (one): one is typeof one & ImportedLesson => one.type === "lesson",
  );
  const lessonIds = await store.learning.findings.lessonIds(imports.map(({ id }) => id));
  return new Map(imports.map(({ id, from }) => [lessonIds.get(id) ?? id, from]));
}

/** The words of a lesson: that it is surer by now is no new version of it. */
function readWords(body: string): string {
  const { lesson, trigger, action, steps } = JSON.parse(body);
  return JSON.stringify([lesson, trigger, action, steps]);
}

/** What is shared as a later version says which it is, and what it replaces. */
function makeVersion(body: object, last: Pick<StoredTeamEntry, "subject" | "body"> | undefined): object {
  if (last === undefined) return body;
  const { version = 1 } = JSON.parse(last.body);
  return { ...body, version: version + 1, replaces: last.subject };
}

/** Plans sharing a learned skill that is live here, with its files. */
export async function planSkillShare(
  deps: TeamDeps,
  name: string,
  { team }: Pick<TeamState, "team">,
): Promise<SharePlan | null> {
  const skill = (await deps.library.carrySkills()).find((one) => one.name === name);
  if (skill === undefined) return null;
  const thing = `${skill.kind ?? "skill"} ${name}`;
  const before = (await listShared(deps, team)).get(thing) ?? null;
  const known = await deps.store.team.about(before === null ? [] : [before]);
  const last = known.find(({ kind }) => kind === "skill.shared");
  const body = makeVersion(skill, last);
  const subject = nameShare(null, JSON.stringify(body));
  const because =
    last && JSON.stringify(JSON.parse(last.body).files) === JSON.stringify(skill.files)
      ? "it is shared already"
      : JSON.stringify(body).length > shareLimits.skill - 1_000
        ? `it is longer than ${shareLimits.skill - 1_000} characters`
        : null;
  if (because !== null) return { shares: [], left: [{ name, because }] };
  const at = (await deps.library.items()).find((item) => item.name === name)?.changedAt ?? 0;
  const draft: TeamDraft = {
    ...{ repository: null, at: Math.floor(at), kind: "skill.shared", subject, body },
  };
  return { shares: [{ thing, name, draft, replaces: before }], left: [] };
}

export function draftWithdrawal(subject: string, repository: string | null, at: number): TeamDraft {
  return { repository, at, kind: "share.withdrawn", subject, body: {} };
}

/** What happened on this machine that the team should know: votes, outcomes, and how often failures were met. */
export async function listNews(
  deps: TeamDeps,
  state: TeamState,
  { machine }: MachineKey,
  planned: readonly PlannedShare[] = [],
): Promise<TeamDraft[]> {
  const own = await deps.store.team.ofMachine(machine);
  const said = new Map(own.map((entry) => [nameWord(entry), entry.body]));
  const news = [
    ...(await listVotes(deps, state.team)),
    ...(await listOutcomes(deps, state, planned)),
    ...(await listMeasured(deps, planned)),
  ];
  return news.filter((draft) => {
    const before = said.get(nameWord(draft));
    return before === undefined ? !saysNothing(draft) : before !== JSON.stringify(draft.body);
  });
}

function nameWord({ kind, repository, subject }: Pick<TeamEntry, "kind" | "repository" | "subject">): string {
  return `${kind} ${repository} ${subject}`;
}

function saysNothing({ kind, body }: TeamDraft): boolean {
  if (kind === "vote") return (body as { word: VoteWord }).word === "none";
  return kind === "outcomes" && Object.values(body).every((count) => count === 0);
}

function makeWord(
  { kind, body }: TeamWord,
  about: Pick<TeamDraft, "repository" | "subject" | "at">,
): TeamDraft {
  return { ...about, kind, body };
}

/** The person's own yes and no; what was accepted without asking them is none. */
async function listVotes({ store, library }: TeamDeps, team: string): Promise<TeamDraft[]> {
  const decided = (await store.ledger.since("import.decided", 0)).filter(({ actor }) => actor === "person");
  const ids = [...new Set(decided.flatMap(({ data }) => data.imports))];
  const imports = (await library.importsOf(ids)).filter(({ share }) => share?.team === team);
  const shares = new Map(imports.map(({ id, share }) => [id, share?.name ?? ""]));
  const repositories = await store.team.repositories([...shares.values()]);
  const votes = new Map<string, TeamDraft>();
  for (const { at, data } of decided)
    for (const id of data.imports) {
      const subject = shares.get(id);
      if (subject === undefined) continue;
      const word = data.decision === "accepted" ? "yes" : data.decision === "rejected" ? "no" : "none";
      const about = { repository: repositories.get(subject) ?? null, subject, at: at ?? 0 };
      votes.set(subject, makeWord({ kind: "vote", body: { word } }, about));
    }
  return [...votes.values()];
}

/** How shared lessons did here: those that this person shares, and those that they accepted. */
async function listOutcomes(
  deps: TeamDeps,
  { team }: TeamState,
  planned: readonly PlannedShare[],
): Promise<TeamDraft[]> {
  const { store, library } = deps;
  const { entries, nameOf } = await readCredits(store);
  const credits = foldCredits(entries, nameOf);
  if (credits.size === 0) return [];
  const accepted = (await library.imports()).flatMap(({ id, share, status }) =>
    share?.team === team && status === "accepted" ? [[id, share.name] as const] : [],
  );
  const meant = planned.map(({ thing, draft }) => [thing, draft.subject] as const);
  const things = [...new Map([...(await listShared(deps, team)), ...accepted, ...meant])];
  const repositories = await store.team.repositories(things.map(([, share]) => share));
  for (const { draft } of planned) repositories.set(draft.subject, draft.repository);
  return things.flatMap(([thing, subject]) => {
    const credit = credits.get(nameOf(thing));
    if (credit === undefined || !repositories.has(subject)) return [];
    const { shown: told, used: followed, helpful: helped, harmful: failed } = credit;
    const body: ShareOutcomes = { told, followed, helped, failed };
    const at = Math.max(credit.firstAt, credit.shownAt ?? 0, credit.usedAt ?? 0);
    return makeWord(
      { kind: "outcomes", body },
      { repository: repositories.get(subject) ?? null, subject, at },
    );
  });
}

/** For each day and repository how many sessions there were, and in how many a shared lesson's failure was met. */
async function listMeasured(
  { store, clock }: TeamDeps,
  planned: readonly PlannedShare[],
): Promise<TeamDraft[]> {
  const now = clock.now();
  const known = new Set((await store.projects.list()).map(({ id }) => id).filter((id) => !isFolder(id)));
  const recent = (await loadLived(store)).filter(
    ({ project, measured }) => known.has(project) && measured.startedAt > now - measuredDays * day,
  );
  const repositories = [...new Set(recent.map(({ project }) => project))];
  const failures = listFailureNames([
    ...foldShares(await store.team.shares(repositories), { distrusted: new Set() }, now).values(),
    ...planned.map(({ draft }) => ({ ...draft, body: JSON.stringify(draft.body) })),
  ]);
  const lived = recent.filter(({ project }) => failures.has(project));
  const days = groupBy(lived, ({ project, measured }) => `${formatDate(measured.startedAt)} ${project}`);
  return [...days.values()].map((sessions) => {
    const [{ project, measured }] = sessions;
    const met: Record<string, number> = {};
    for (const [subject, name] of failures.get(project) ?? []) {
      const count = sessions.filter((one) =>
        one.measured.failures.some(([failed]) => failed === name),
      ).length;
      if (count > 0) met[subject] = count;
    }
    const at = Math.max(...sessions.map((one) => one.measured.startedAt));
    const body = { sessions: sessions.length, met };
    const subject = formatDate(measured.startedAt);
    return makeWord({ kind: "measured", body }, { repository: project, subject, at });
  });
}

function formatDate(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
