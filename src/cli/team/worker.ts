import type { Knack } from "../../open.ts";
import { several } from "../../text/index.ts";
import { arg, type CommandCall, defineCommand, wrongUsage } from "../command.ts";
import { withKnack } from "../knack.ts";
import { iso, oneLine } from "../screen/text.ts";

const args = {
  team: arg.flag("do the jobs of your team: compare what is shared, sum up how it did, look for what harms"),
  stay: arg.flag("go on until it is stopped, instead of ending when nothing is left to do"),
  retry: arg.flag("first have the jobs tried again that failed each time"),
  ...arg.json,
};

/** How long one round may take, and how long a worker that stays waits for the next. */
const roundMs = 30 * 60_000;
const pauseMs = 30_000;

export const worker = defineCommand({
  about:
    "Do your team's jobs on this machine. Any number of machines of its maintainers may do this at once.",
  more: [
    "Each job is held by one worker; it goes to another when that worker is gone, and is set aside when it fails again",
    "and again. A comparison asks your judge once and serves everybody; it is paid from team.budgetDay and from your own",
    "judge.budgetDay. Without a judge, lessons are compared by their words alone.",
  ],
  args,
  run: async (call: CommandCall<typeof args>) => {
    if (!call.args.team || call.args._.length > 0)
      throw wrongUsage("knack worker does a team's jobs.", `Use: ${call.screen.knack} worker --team`);
    return withKnack(call, (knack) => workAndTell(call, knack));
  },
});

async function workAndTell(call: CommandCall<typeof args>, knack: Knack): Promise<number> {
  const { args: given, screen } = call;
  // This machine's own word of itself must be there before anything that it signs.
  await knack.syncTeam();
  const revived = given.retry ? await knack.reviveTeamJobs() : 0;
  const worked = given.stay ? await stay(knack) : await knack.workForTeam(within(roundMs));
  const { counts, dead } = await knack.teamJobs();
  const waiting = counts.reduce((sum, one) => sum + one.waiting, 0);
  const listed = dead.map(({ failedAt, data, ...job }) => ({
    ...{ ...job, repository: data.repository ?? null, failedAt: iso(failedAt) },
  }));
  return call.answer({ ...worked, revived, waiting, deadLetters: listed }, [
    `Did ${several(worked.done, "job")}${worked.failed > 0 ? `; ${several(worked.failed, "job")} failed` : ""}. ${waiting > 0 ? `${several(waiting, "job")} wait for another try.` : "Nothing waits."}`,
    dead.length > 0 && `Dead letters (${dead.length}):`,
    dead.map(
      ({ kind, data, tries, because }) =>
        `  ${kind} ${data.repository ?? "(every repository)"}: failed ${tries} times: ${oneLine(because, 160)}`,
    ),
    dead.length > 0 && `  Try them again: ${screen.knack} worker --team --retry`,
  ]);
}

function within(ms: number): () => boolean {
  const until = performance.now() + ms;
  return () => performance.now() > until;
}

/** Works until somebody stops it. A database that is away is waited for. */
async function stay(knack: Knack) {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const sum = { planned: 0, done: 0, failed: 0 };
  while (!stop.signal.aborted) {
    const worked = await knack
      .workForTeam(() => stop.signal.aborted)
      .catch((error: unknown) => {
        if ((error as { code?: string }).code === "TEAM_UNAVAILABLE") return null;
        throw error;
      });
    for (const name of ["planned", "done", "failed"] as const) sum[name] += worked?.[name] ?? 0;
    await new Promise<void>((done) => {
      const timer = setTimeout(done, pauseMs);
      stop.signal.addEventListener("abort", () => done(clearTimeout(timer)), { once: true });
    });
  }
  return sum;
}
