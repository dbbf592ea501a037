import { KnackError } from "../base/index.ts";
import type { JudgeSource } from "../learning/index.ts";
import { openPostgres, openQueue, type PostgresAddress, type Store } from "../store/index.ts";
import type { Redactor } from "../trust/index.ts";
import { findAddress, openTeamFolder } from "./machine.ts";
import type { TeamDeps } from "./received.ts";
import { withTeamDatabase } from "./sync.ts";
import { doTeamJobs, type TeamLibrary, type TeamWorkDeps, teamJobs } from "./work.ts";

interface TeamWorkerDeps extends TeamDeps {
  readonly judges: JudgeSource;
  readonly redactor: Redactor;
  /** The library over another store than this machine's own. */
  readonly openLibrary: (store: Store) => Promise<TeamLibrary>;
}

/** The jobs that maintainers' machines do for a whole team. */
export function openTeamWork(deps: TeamWorkerDeps) {
  const withWork = async <Result>(work: (deps: TeamWorkDeps) => Promise<Result>): Promise<Result> => {
    const folder = openTeamFolder(deps.home);
    const place = folder.readState();
    if (place === null)
      throw new KnackError("WRONG_USAGE", "This machine is in no team.", {
        hint: "Join with the file of your invitation: knack team join --from <file>",
      });
    const address = findAddress(folder, deps.env);
    return withTeamDatabase(address, async (database) => {
      const self = await database.me();
      if (self?.role !== "maintainer")
        throw new KnackError(
          "TEAM_REFUSED",
          `You are ${self?.role ?? "no longer a member"} of ${place.name}; its jobs are done by maintainers.`,
          {
            hint: "Ask a maintainer for that role: knack team role <name> --role maintainer",
          },
        );
      return withTeamStore(deps, address, place.team, ({ store, queue, library }) =>
        work({
          ...{ database, store, queue, library, place, key: folder.key(), clock: deps.clock },
          judge: chooseJudge(deps, store),
        }),
      );
    });
  };
  return {
    /** Plans the team's jobs and does them until none is left or time is up. */
    workForTeam: (until: () => boolean) => withWork((work) => doTeamJobs(work, until)),
    /** How many jobs there are, and those that failed each time. */
    teamJobs: () =>
      withWork(async ({ queue }) => ({ counts: await queue.count(), dead: await queue.dead() })),
    /** Has the jobs that failed each time tried again, and answers with how many those were. */
    reviveTeamJobs: () =>
      withWork(async ({ queue }) => {
        const dead = await queue.dead();
        for (const { kind, id } of dead) await queue.revive(kind, id);
        return dead.length;
      }),
  };
}

/** The store and the queue that the maintainers' workers of a team have together. */
async function withTeamStore<Result>(
  { clock, openLibrary }: TeamWorkerDeps,
  address: PostgresAddress,
  team: string,
  work: (opened: Pick<TeamWorkDeps, "store" | "queue" | "library">) => Promise<Result>,
): Promise<Result> {
  const role = `knack_workers_${team}`;
  const store = await openPostgres({ address, schema: `knack_store_${team}`, role, clock });
  try {
    const queue = await openQueue({ address, schema: `knack_jobs_${team}`, role, kinds: teamJobs });
    try {
      return await work({ store, queue, library: await openLibrary(store) });
    } finally {
      await queue.close();
    }
  } finally {
    await store.close();
  }
}

/** Who compares: what it costs is paid from the team's budget for a day and from that of the person whose worker it is. */
function chooseJudge(
  { judges, store: own, clock, redactor }: TeamWorkerDeps,
  store: Store,
): TeamWorkDeps["judge"] {
  const { isOn, model, price, limits, settings } = judges.choose();
  if (!isOn || model.unset !== null) return null;
  return {
    ...{ model, price, store, clock, redactor, timeoutMs: settings["judge.timeoutMs"] },
    limits: { ...limits, usdPerDay: settings["team.budgetDay"] },
    alsoPaying: { store: own, limits },
  };
}
