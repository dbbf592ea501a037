import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openKnack } from "../src/open.ts";
import { seeded } from "../test/helpers/history.ts";
import { asked, ran, writeLived } from "../test/helpers/lived.ts";
import { type PostgresServer, runSql, startPostgres } from "../test/helpers/postgres-server.ts";
import { atMost, type Figure, inTempFolder, median, root } from "./measure.ts";
import {
  type Developer,
  draftLesson,
  draftOutcomes,
  draftVote,
  type MadeTeam,
  makeTeam,
  type TeamSize,
} from "./team-data.ts";

const cli = join(root, "dist/cli.js");
const hook = join(root, "dist/hook.cjs");

/** A thousand developers, and the same team a tenth and a hundredth as large. */
const sizes = [10, 100, 1_000].map(
  (developers): TeamSize => ({
    developers,
    repositories: developers / 10,
    ...{ lessonsEach: 500, outcomesEach: 1_000, sessionsEach: 200 },
  }),
);
/** Many small repositories, for many workers on one queue. */
const manyJobs: TeamSize = {
  ...{ developers: 20, repositories: 200, lessonsEach: 4, outcomesEach: 100, sessionsEach: 40 },
};
const workers = 50;
const kills = 25;

/** A team's database: what a member waits for, what a developer costs, and workers that are killed. */
export async function team(): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    chmodSync(folder, 0o755);
    const server = await startPostgres(join(folder, "postgres"), { fsync: "on", full_page_writes: "on" });
    try {
      const figures: Figure[] = [];
      const asked = process.env.KNACK_BENCH_DEVELOPERS;
      for (const size of sizes.filter(({ developers }) => !asked || Number(asked) === developers))
        figures.push(...(await measureTeam(server, folder, size)));
      figures.push(...(await killWorkers(server, folder)));
      return figures;
    } finally {
      await server.stop();
    }
  });
}

async function createDatabase({ url }: PostgresServer, name: string): Promise<string> {
  await runSql(url, `create database ${name} template template0`);
  return url.replace(/\/postgres$/, `/${name}`);
}

// --- Members and what they cost ---

async function measureTeam(server: PostgresServer, folder: string, size: TeamSize): Promise<Figure[]> {
  const { developers } = size;
  const since = performance.now();
  const made = await makeTeam(await createDatabase(server, `of_${developers}`), `of${developers}`, size);
  const bytes = await countBytes(made);
  tell(
    `${developers} developers, ${size.repositories} repositories: ${made.entries} entries made in ${seconds(since)} s`,
  );
  const keeper = await joinedHome(folder, made, "keeper", "maintainer", []);
  const ten = made.repositories.slice(0, 10);
  await planFor(made, keeper, ten);
  const jobs = await run(keeper, "worker", "--team");
  tell(
    `  a worker did the ${jobs.answer.done} jobs of ${several(ten.length)} in ${(jobs.ms / 1000).toFixed(0)} s, ${jobs.cpu.toFixed(0)} s of processor time`,
  );
  // What one more entry in each of them costs.
  const [someone] = made.developers;
  if (someone)
    await made.say(
      someone,
      ten.map((repository) => draftOutcomes("0".repeat(40), repository, 3)),
    );
  const again = await run(keeper, "worker", "--team");
  const newcomer = await joinedHome(folder, made, "newcomer", "member", made.repositories.slice(0, 1));
  const first = await run(newcomer, "team", "sync");
  const more = await measureIncrement(newcomer, made, made.repositories[0] ?? "");
  tell(
    `  per developer: ${(made.entries / developers).toFixed(0)} entries, ${(bytes / developers / 1e6).toFixed(2)} MB in the database`,
  );
  tell(`  first sync of one repository: ${describeRun(first)}`);
  tell(`  an increment of 100 entries: ${describeRun(more)}`);
  tell(
    `  the jobs of a repository with something new: ${(again.cpu / ten.length).toFixed(1)} s of processor time`,
  );
  return developers === 1_000 ? measureLargest(folder, made) : [];
}

function describeRun({ ms, cpu, megabytes, received }: Ran): string {
  return `${(ms / 1000).toFixed(2)} s, ${cpu.toFixed(2)} s of processor time, ${megabytes.toFixed(0)} MB of memory, ${received.toFixed(1)} MB from the database`;
}

function several(repositories: number): string {
  return repositories === 1 ? "one repository" : `${repositories} repositories`;
}

/** Plans the jobs of some repositories; those of the others cost the same, and are left out. */
async function planFor(made: MadeTeam, keeper: Home, repositories: readonly string[]): Promise<void> {
  const planner = await openKnack({ env: keeper.env });
  await planner.syncTeam();
  await planner.workForTeam(() => true);
  await planner.close();
  const few = repositories.map((one) => `'${one}'`).join(", ");
  await runSql(
    made.url,
    `delete from knack_jobs_${made.team}.job where coalesce(data ->> 'repository', '') not in (${few})`,
  );
}

async function measureLargest(folder: string, made: MadeTeam): Promise<Figure[]> {
  const ten = made.repositories.slice(0, 10);
  const home = await joinedHome(folder, made, "first", "member", ten);
  const first = await run(home, "team", "sync");
  const { accepted } = await run(home, "team").then(({ answer }) => answer);
  tell(
    `  first sync of 10 repositories: ${describeRun(first)}; ${first.answer.received} entries, ${accepted} lessons accepted by the team's policy`,
  );
  const increment = await measureIncrement(home, made, ten[0] ?? "");
  tell(`  an increment of 100 entries there: ${describeRun(increment)}`);
  const ratios = measureHooks(home, made, ten[0] ?? "");
  return [
    atMost("first sync of a new member with 10 of 100 repositories", first.ms / 1000, 60, " s"),
    atMost("its memory", first.megabytes, 200, " MB"),
    atMost("what it receives from the database", first.received, 200, " MB"),
    atMost("an increment of 100 entries", increment.ms, 1_000, " ms"),
    ...ratios,
  ];
}

async function countBytes({ url }: MadeTeam): Promise<number> {
  const [row] = await runSql(url, "select pg_total_relation_size('knack.entry')::float8 as bytes");
  return Number(row?.bytes);
}

/** The median of five syncs, each with a hundred entries of others: new lessons and the votes about them. */
async function measureIncrement(home: Home, made: MadeTeam, repository: string): Promise<Ran> {
  const random = seeded(99 + made.developers.length);
  const [author, one, other] = made.developers as [Developer, Developer, Developer];
  const runs: Ran[] = [];
  for (let round = 0; round < 5; round++) {
    const lessons = Array.from({ length: 34 }, (_, n) =>
      draftLesson(1_000_000 + round * 100 + n, repository, random),
    );
    const votes = lessons.slice(0, 33).map(({ subject }) => draftVote(subject, repository));
    await made.say(author, lessons);
    await made.say(one, votes);
    await made.say(other, votes);
    const synced = await run(home, "team", "sync");
    if (synced.answer.received !== 100) throw new Error(`received ${synced.answer.received} entries`);
    runs.push(synced);
  }
  return runs.sort((a, b) => a.ms - b.ms)[2] as Ran;
}

/** Hooks that read the snapshot of a member, against starting node with nothing to do. */
function measureHooks({ env, cwd }: Home, made: MadeTeam, repository: string): Figure[] {
  spawnSync(process.execPath, [cli, "work"], { env, cwd });
  const shared = draftLesson(10_000, repository, seeded(7)).body as {
    trigger: string;
    excerpt: { failed: string; error: string };
  };
  const common = { transcript_path: join(cwd, "t.jsonl"), cwd };
  const payload = (round: number, event: string, more: object) =>
    JSON.stringify({ session_id: `s${round}`, hook_event_name: event, ...common, ...more });
  const { failed, error } = shared.excerpt;
  const kinds = {
    "node -e 0": () => ({ args: ["-e", "0"], input: "" }),
    "a prompt": (round: number) => ({
      args: [hook],
      input: payload(round, "UserPromptSubmit", { prompt: `Please see to it that ${shared.trigger}.` }),
    }),
    "a failure": (round: number) => ({
      args: [hook],
      input: payload(round, "PostToolUseFailure", {
        ...{ tool_name: "Bash", tool_input: { command: failed }, error: `Exit code 1\n${error}` },
      }),
    }),
  };
  const times = new Map(Object.keys(kinds).map((name) => [name, [] as number[]]));
  let answered = 0;
  for (let round = 0; round < 41; round++)
    for (const [name, make] of Object.entries(kinds)) {
      const { args, input } = make(round);
      const started = performance.now();
      const { stdout } = spawnSync(process.execPath, args, { env, cwd, input, encoding: "utf8" });
      if (round > 0) times.get(name)?.push(performance.now() - started);
      if (name === "a failure" && stdout.includes("dev-")) answered++;
    }
  const of = (name: string) => median(times.get(name) ?? []);
  tell(
    `  hooks with ${made.developers.length} developers' lessons of 10 repositories: node ${of("node -e 0").toFixed(0)} ms, a prompt ${of("a prompt").toFixed(0)} ms, a failure ${of("a failure").toFixed(0)} ms (answered ${answered} times)`,
  );
  return ["a prompt", "a failure"].map((name) =>
    atMost(
      `hook at ${name} with 5,000 shared lessons, of node -e 0`,
      of(name) / of("node -e 0"),
      1.6,
      " times",
    ),
  );
}

// --- Workers that are killed ---

async function killWorkers(server: PostgresServer, folder: string): Promise<Figure[]> {
  const url = await createDatabase(server, "of_workers");
  const made = await makeTeam(url, "crowd", manyJobs);
  const address = await made.invite("keeper", "maintainer");
  const homes = await Promise.all(
    Array.from({ length: workers }, async (_, n) => makeHome(folder, `worker-${n}`, [])),
  );
  for (const home of homes) await joinTeam(home, address);
  // The jobs are planned before, so that what is counted is what the workers do with them.
  const planner = await openKnack({ env: homes[0]?.env ?? {} });
  await planner.syncTeam();
  const { planned } = await planner.workForTeam(() => true);
  await planner.close();
  await watchJobs(url);
  const crowd = new Crowd(homes);
  crowd.startAll();
  const random = seeded(5);
  const since = performance.now();
  let crashed = false;
  let killed = 0;
  for (;;) {
    await pause(1_000);
    const left = await countLeft(url).catch(() => null);
    if (left === 0 || performance.now() - since > 15 * 60_000) break;
    if (left === null) continue;
    if (killed < kills && left < planned) {
      crowd.killOne(random);
      killed++;
    }
    if (!crashed && left < planned / 2) {
      crashed = true;
      await server.crash();
      await pause(2_000);
      await server.restart();
    }
  }
  await crowd.stopAll();
  const [counts] = await runSql(
    url,
    `select count(*) filter (where state = 'completed')::int as completed, count(*) filter (where state = 'failed')::int as dead
      from knack_jobs_crowd.job`,
  );
  const [doubles] = await runSql(
    url,
    `select coalesce(sum(done - 1) filter (where done > 1), 0)::int as twice, coalesce(sum(taken - 1), 0)::int as again from
      (select id, count(*) filter (where state = 'completed') as done, count(*) filter (where state = 'active') as taken
        from bench_job group by id) as one`,
  );
  const [digests] = await runSql(
    url,
    "select count(*)::int as kept from knack.digest where kind <> 'planned'",
  );
  tell(
    `${workers} workers, ${planned} jobs: ${seconds(since)} s, ${killed} workers killed, the database restarted ${crashed ? "once" : "never"}; ${counts?.completed} done, ${counts?.dead} dead letters, ${doubles?.again} taken again after their worker was gone; ${digests?.kept} results`,
  );
  return [
    atMost("jobs lost by 50 workers", planned - Number(counts?.completed), 0),
    atMost("jobs done twice by 50 workers", Number(doubles?.twice), 0),
  ];
}

/** Notes each change of a job's state, and has jobs tried again sooner. */
async function watchJobs(url: string): Promise<void> {
  await runSql(
    url,
    "create table bench_job (id uuid, state text)",
    "grant insert on bench_job to public",
    `create function note_job() returns trigger language plpgsql security definer as $$
      begin insert into public.bench_job values (new.id, new.state::text); return null; end $$`,
    `create trigger note_job after update of state on knack_jobs_crowd.job for each row
      when (new.state is distinct from old.state) execute function note_job()`,
    "update knack_jobs_crowd.job set retry_delay = 5",
  );
}

async function countLeft(url: string): Promise<number> {
  const [row] = await runSql(
    url,
    "select count(*)::int as left from knack_jobs_crowd.job where state in ('created', 'retry', 'active')",
  );
  return Number(row?.left);
}

/** Loaded before a worker: it ends when this bench does, however that ends. */
const endWithParent =
  "data:text/javascript,const p=process.ppid;setInterval(()=>process.ppid===p||process.kill(process.pid,9),1000).unref()";

/** Workers that are started again when they are gone, as a service manager does. */
class Crowd {
  readonly #running = new Map<Home, ChildProcess>();
  #stopping = false;
  readonly #homes: readonly Home[];

  constructor(homes: readonly Home[]) {
    this.#homes = homes;
  }

  startAll(): void {
    for (const home of this.#homes) this.#start(home);
  }

  killOne(random: () => number): void {
    const all = [...this.#running.values()];
    all[Math.floor(random() * all.length)]?.kill("SIGKILL");
  }

  async stopAll(): Promise<void> {
    this.#stopping = true;
    for (const child of this.#running.values()) child.kill("SIGKILL");
    while (this.#running.size > 0) await pause(100);
  }

  #start(home: Home): void {
    const child = spawn(process.execPath, ["--import", endWithParent, cli, "worker", "--team", "--stay"], {
      ...{ env: home.env, cwd: home.cwd, stdio: "ignore" },
    });
    this.#running.set(home, child);
    child.on("close", () => {
      this.#running.delete(home);
      if (!this.#stopping) setTimeout(() => this.#stopping || this.#start(home), 1_000);
    });
  }
}

// --- Homes ---

interface Home {
  readonly env: Record<string, string>;
  readonly cwd: string;
  /** Bytes that came from the database until now. */
  readonly countReceived: () => number;
}

/** A person's home that knows these repositories. */
async function makeHome(folder: string, name: string, repositories: readonly string[]): Promise<Home> {
  const home = join(folder, name);
  const knackHome = join(home, ".knack");
  mkdirSync(knackHome, { recursive: true, mode: 0o700 });
  const [first] = repositories;
  const cwd = first === undefined ? home : join(home, first);
  const env = { PATH: process.env.PATH ?? "", HOME: home, KNACK_HOME: knackHome };
  // A session in each: a folder that only claims a remote is not taken for the repository.
  const sessions = repositories.map((id, n) => {
    makeCheckout(join(home, id), id);
    const steps = [asked("go on"), ran("ls")];
    return { name: `begin-${n}`, cwd: join(home, id), at: Date.now() - 3_600_000, steps };
  });
  if (sessions.length > 0) {
    const knack = await openKnack({ env });
    await knack.learn(writeLived(home, sessions));
    await knack.close();
  }
  return { env, cwd, countReceived: () => Number.NaN };
}

/** A way to the database on which is counted what comes back. */
async function countingWay(address: string): Promise<{ address: string; countReceived: () => number }> {
  let received = 0;
  const proxy = createServer((near: Socket) => {
    const far = connect(Number(new URL(address).port), "127.0.0.1");
    near.on("error", () => far.destroy()).pipe(far);
    far
      .on("error", () => near.destroy())
      .on("data", (data) => {
        received += data.length;
      });
    far.pipe(near);
  });
  proxy.listen(0, "127.0.0.1").unref();
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  return { address: address.replace(/:\d+\//, `:${port}/`), countReceived: () => received };
}

function makeCheckout(folder: string, repository: string): void {
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFileSync(join(folder, ".git/config"), `[remote "origin"]\n\turl = https://${repository}.git\n`);
}

async function joinedHome(
  folder: string,
  made: MadeTeam,
  name: string,
  role: "member" | "maintainer",
  repositories: readonly string[],
): Promise<Home> {
  const home = await makeHome(folder, `${made.team}-${name}`, repositories);
  const { address, countReceived } = await countingWay(await made.invite(name, role));
  await joinTeam(home, address);
  return { ...home, countReceived };
}

/** Joins, and reads nothing yet. */
async function joinTeam({ env }: Home, address: string): Promise<void> {
  const knack = await openKnack({ env });
  const file = join(env.HOME ?? "", "address");
  writeFileSync(file, address, { mode: 0o600 });
  await knack.joinTeam(knack.teamAddress({ file }));
  await knack.close();
}

interface Ran {
  readonly ms: number;
  readonly megabytes: number;
  /** Seconds of processor time. */
  readonly cpu: number;
  /** Megabytes from the database. */
  readonly received: number;
  readonly answer: Record<string, number>;
}

/** Runs knack with --json in a home. */
function run({ env, cwd, countReceived }: Home, ...words: string[]): Promise<Ran> {
  const before = countReceived();
  const tell = (name: string) => join(dirname(fileURLToPath(import.meta.url)), name);
  const loaded = ["--import", tell("tell-cpu.mjs"), "--import", tell("tell-peak.mjs")];
  return new Promise((done, fail) => {
    const started = performance.now();
    const child = spawn(process.execPath, [...loaded, cli, ...words, "--json"], {
      ...{ env, cwd, stdio: ["ignore", "pipe", "inherit", "pipe"] },
    });
    let [stdout, told] = ["", ""];
    child.stdout?.on("data", (text) => {
      stdout += text;
    });
    child.stdio[3]?.on("data", (text) => {
      told += `${text} `;
    });
    child.on("close", (code) => {
      const ms = performance.now() - started;
      if (code !== 0) return fail(new Error(`knack ${words.join(" ")} ended with ${code}`));
      const [cpu = Number.NaN, megabytes = Number.NaN] = told.trim().split(/\s+/).map(Number);
      const received = (countReceived() - before) / 1e6;
      done({ ms, megabytes, cpu, received, answer: JSON.parse(stdout) });
    });
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(0);
}

function tell(line: string): void {
  console.log(`  ${line}`);
}
