import { compareText, errorMessage, groupBy } from "../base/index.ts";
import { consolidateProjects } from "../learning/index.ts";
import type { openLibrary } from "../library/index.ts";
import type { Asker } from "../models/index.ts";
import type { StoredTeamEntry, TeamEntryKind } from "../records/index.ts";
import type { HeldJob, JobKind, JobQueue, Store, TeamDatabase } from "../store/index.ts";
import { admitEntries } from "./admit.ts";
import { curateShares, sealDigest, sumRepository, type TeamDigest } from "./digest.ts";
import { foldRules, foldShares, listMaintainers, type TeamShare } from "./fold.ts";
import type { TeamState } from "./machine.ts";
import type { MachineKey } from "./signing.ts";
import { beginTrust, Trust } from "./trust.ts";

/**
 * The jobs of a team, each about one repository. A comparison asks a model once and serves everybody; a report sums up
 * how shares did, and curates: it names those that a maintainer should look at.
 */
export const teamJobs = {
  compare: { leaseSeconds: 180, retries: 3, retrySeconds: 60 },
  report: { leaseSeconds: 180, retries: 3, retrySeconds: 30 },
} as const satisfies Record<string, JobKind>;

type TeamJob = keyof typeof teamJobs;

/** Which entries are reason for which job. */
const reasons: Readonly<Record<TeamJob, readonly TeamEntryKind[]>> = {
  compare: ["lesson.shared", "share.withdrawn", "member.distrusted"],
  report: ["lesson.shared", "share.withdrawn", "outcomes", "measured"],
};

/** How long a comparison waits for which there is no money left today. */
const pauseSeconds = 3_600;
/** How often a lease is renewed while the work goes on: several times, for a worker that waits long for a processor. */
const renewMs = 20_000;
const atOnce = 1_000;

/** What the jobs need of the library over the team's store. */
export type TeamLibrary = Pick<
  ReturnType<typeof openLibrary>,
  "planShared" | "carryIn" | "imports" | "decideImports"
>;

export interface TeamWorkDeps {
  readonly database: TeamDatabase;
  readonly queue: JobQueue;
  /** The team's own store, with what all its workers have compared, and the library over it. */
  readonly store: Store;
  readonly library: TeamLibrary;
  readonly clock: Asker["clock"];
  readonly judge: (Asker & { readonly timeoutMs: number }) | null;
  /** Who this worker is in the team. */
  readonly place: Pick<TeamState, "team" | "self" | "trust">;
  readonly key: MachineKey;
}

/** What one run of a team's worker did. */
export interface TeamWork {
  readonly planned: number;
  readonly done: number;
  readonly failed: number;
}

/** Adds the jobs that entries since the last time are reason for, and does jobs until none is left or time is up. */
export async function doTeamJobs(deps: TeamWorkDeps, until: () => boolean): Promise<TeamWork> {
  await deps.queue.recover();
  const planned = await planJobs(deps);
  let [done, failed] = [0, 0];
  for (const kind of Object.keys(teamJobs) as TeamJob[]) {
    while (!until()) {
      const job = await deps.queue.take(kind);
      if (job === null) break;
      const became = await doJob(deps, job);
      if (became === "done") done++;
      if (became === "failed") failed++;
    }
  }
  return { planned, done, failed };
}

/** Workers may do this at the same time: of jobs about one repository one waits, and doing one twice changes nothing. */
async function planJobs({ database, queue, place }: TeamWorkDeps): Promise<number> {
  const { changes, through } = await database.readChanges(place.team);
  let planned = 0;
  for (const [kind, kinds] of Object.entries(reasons))
    for (const repository of new Set(
      changes.flatMap((one) => (kinds.includes(one.kind as TeamEntryKind) ? [one.repository] : [])),
    ))
      if (kind !== "compare" || repository !== null)
        if (await queue.add(kind, repository ?? "", { repository })) planned++;
  if (changes.length > 0) await database.keepPlanned({ team: place.team, through });
  return planned;
}

async function doJob(deps: TeamWorkDeps, job: HeldJob): Promise<"done" | "failed" | "another's"> {
  const { queue, database } = deps;
  // Where the database is away, the work itself says so.
  const renewing = setInterval(() => void queue.renew(job).catch(() => {}), renewMs).unref();
  try {
    const repository = typeof job.data.repository === "string" ? job.data.repository : null;
    const { team, self } = deps.place;
    const about = { team, repository, author: self, at: deps.clock.now() };
    const digests = await computeDigests(deps, job.kind as TeamJob, repository);
    if (!(await queue.renew(job))) return "another's";
    for (const digest of digests)
      await database.putDigest(sealDigest({ ...about, ...digest } as Omit<TeamDigest, "machine">, deps.key));
    await queue.finish(job, {});
    return "done";
  } catch (error) {
    if (!(await queue.renew(job))) return "another's";
    await queue.fail(job, errorMessage(error));
    return "failed";
  } finally {
    clearInterval(renewing);
  }
}

async function computeDigests(deps: TeamWorkDeps, kind: TeamJob, repository: string | null) {
  const now = deps.clock.now();
  const { shares, entries } = await readRepository(deps, repository, reasons[kind], now);
  if (kind === "report") return [sumRepository(shares, entries, now), curateShares(shares, now)];
  return [await compareShares(deps, repository ?? "", shares)];
}

/** What the team says about a repository, as far as it is signed by who says it. */
async function readRepository(
  { database, place }: TeamWorkDeps,
  repository: string | null,
  kinds: readonly TeamEntryKind[],
  now: number,
): Promise<{ readonly shares: TeamShare[]; readonly entries: StoredTeamEntry[] }> {
  const { team } = place;
  const trust = new Trust(beginTrust(place.trust.root));
  const entries: StoredTeamEntry[] = [];
  const always: readonly TeamEntryKind[] = [
    ...(["machine.registered", "member.invited", "policy", "member.distrusted"] as const),
  ];
  const query = {
    most: atOnce,
    kinds: [...new Set([...always, ...kinds])],
    repositories: repository === null ? [] : [repository],
  };
  for (let after = 0; ; ) {
    const page = await database.read(team, { ...query, after });
    if (page.entries.length === 0) break;
    entries.push(...admitEntries(page.entries, { team, trust, sizes: new Map() }).admitted);
    after = page.cursor;
  }
  const maintainers = listMaintainers(await database.members(team), trust.state);
  const shares = foldShares(entries, foldRules(entries, maintainers, now), now);
  return { entries, shares: [...shares.values()].filter((share) => share.repository === repository) };
}

/**
 * Takes a repository's shared lessons into the team's store, where those that say the same become one lesson, by their
 * words or by a model's answer, and says which of them did.
 */
async function compareShares(deps: TeamWorkDeps, repository: string, all: readonly TeamShare[]) {
  const { store, clock, judge } = deps;
  const shares = all.filter(({ kind }) => kind === "lesson");
  const now = clock.now();
  const place = { id: repository, name: repository.split("/").at(-1) ?? repository, root: null };
  await store.projects.save([{ ...place, firstAt: now, lastAt: now, sessions: 0 }]);
  await takeIn(deps, repository, shares);
  const [compared] = await consolidateProjects(
    { store, clock },
    { projects: [{ id: repository, instructions: [], turns: [] }], judge, mergesKept: true },
  );
  if (compared?.fellBack?.startsWith("not-asked"))
    await deps.queue.add("compare", repository, { repository }, pauseSeconds);
  else if (compared && compared.fellBack !== null) throw new Error(compared.fellBack);
  return { kind: "compared" as const, ...(await readComparison(deps, shares)) };
}

/** Lessons that came since the last comparison are taken in, and those that nobody shares any more are left out. */
async function takeIn(
  { library, place }: TeamWorkDeps,
  repository: string,
  shares: readonly TeamShare[],
): Promise<void> {
  const current = new Map(shares.map((share) => [share.subject, share]));
  const imports = (await library.imports()).filter(
    (one) => one.type === "lesson" && one.share !== undefined && one.project === repository,
  );
  const gone = imports.filter(
    ({ share, status }) => status === "accepted" && !current.has(share?.name ?? ""),
  );
  if (gone.length > 0)
    await library.decideImports(
      gone.map(({ id }) => id),
      "withdrawn",
      "knack",
    );
  const known = new Set(
    imports.flatMap(({ share, status }) => (status === "accepted" ? (share?.name ?? []) : [])),
  );
  const fresh = shares.filter(({ subject }) => !known.has(subject));
  const plan = await library.planShared(
    place.team,
    fresh.map(({ subject, kind, by, body }) => ({ subject, kind, body, author: by[0] ?? "" })),
    { twins: true },
  );
  await library.carryIn(plan);
  const taken = plan.things.flatMap(({ id, verdict }) =>
    verdict === "new" || verdict === "waiting" ? id : [],
  );
  if (taken.length > 0) await library.decideImports(taken, "accepted", "knack");
}

async function readComparison({ library, store }: TeamWorkDeps, shares: readonly TeamShare[]) {
  const { findings } = store.learning;
  const subjects = new Map(
    (await library.imports()).flatMap(({ id, share, status }) =>
      share !== undefined && status === "accepted" ? [[id, share.name] as const] : [],
    ),
  );
  const lessonIds = await findings.lessonIds([...subjects.keys()]);
  const since = new Map(shares.map(({ subject, sharedAt }) => [subject, sharedAt]));
  const mine = [...lessonIds].filter(([id]) => since.has(subjects.get(id) ?? ""));
  const byLesson = groupBy(
    mine,
    ([, lessonId]) => lessonId,
    ([id]) => subjects.get(id) ?? "",
  );
  const sorted = new Map(
    [...byLesson].map(([lessonId, own]) => [
      lessonId,
      [...own].sort((a, b) => (since.get(a) ?? 0) - (since.get(b) ?? 0) || compareText(a, b)),
    ]),
  );
  const opposing = await findings.opposing([...sorted.keys()]);
  const pairs = [...opposing].flatMap(([lessonId, others]) =>
    others.flatMap((other) => {
      const [a, b] = [sorted.get(lessonId)?.[0], sorted.get(other.lessonId)?.[0]];
      return a !== undefined && b !== undefined && a < b ? [[a, b] as [string, string]] : [];
    }),
  );
  return {
    same: [...sorted.values()].filter(({ length }) => length > 1),
    opposed: [...new Map(pairs.map((pair) => [pair.join(" "), pair])).values()],
  };
}
