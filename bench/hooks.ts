import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { renewSnapshot } from "../src/recall/snapshot.ts";
import { openIndexFiles } from "../src/search/library-index.ts";
import { resolveHome } from "../src/settings/home.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { seeded } from "../test/helpers/history.ts";
import { fill, lesson } from "./lessons.ts";
import { aLibrary } from "./library.ts";
import { atMost, type Figure, inTempFolder, median, root } from "./measure.ts";

const lessons = 10_000;
const skills = 2_000;
const rounds = 61;

/** What each hook costs, against starting node with nothing to do, where much is known. */
export async function hooks(): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const envFor = (name: string) => ({
      HOME: join(folder, "home"),
      KNACK_HOME: join(folder, name),
      PATH: process.env.PATH ?? "",
    });
    // A worker makes the snapshot of what its home has learned, so where one is started there is as much in its database.
    const [env, workingEnv, tellingEnv] = [envFor("full"), envFor("working"), envFor("telling")];
    for (const made of [env.HOME, env.KNACK_HOME, tellingEnv.KNACK_HOME]) mkdirSync(made);
    await fillSnapshot(resolveHome(env).snapshot, resolveHome(tellingEnv).snapshot, folder);
    copy(join(folder, "full.db"), resolveHome(workingEnv).database);
    spawnSync(process.execPath, [join(root, "dist/cli.js"), "work"], { env: workingEnv });
    const { excerpt, trigger } = lesson(7, seeded(11));
    const payload = (event: string, more: object) => (round: number) =>
      JSON.stringify({
        session_id: `s${round}`,
        transcript_path: join(folder, "transcript.jsonl"),
        cwd: "/p",
        hook_event_name: event,
        ...more,
      });
    const failed = {
      tool_name: "Bash",
      tool_input: { command: excerpt.failed },
      error: `Exit code 1\n${excerpt.error}`,
    };
    const hook = join(root, "dist/hook.cjs");
    const rollout = join(folder, "rollout.jsonl");
    writeFileSync(rollout, Array.from({ length: 400 }, (_, n) => executedCall(n)).join(""));
    interface Kind {
      readonly args: string[];
      readonly input?: (round: number) => string;
      readonly starts?: true;
      readonly tells?: true;
    }
    const kinds: Record<string, Kind> = {
      "node -e 0": { args: ["-e", "0"] },
      "a prompt": {
        args: [hook],
        input: payload("UserPromptSubmit", {
          prompt: `Please see to it that ${trigger}, and tell me what you changed.`,
        }),
      },
      "a known failure": { args: [hook], input: payload("PostToolUseFailure", failed) },
      "an unknown failure": {
        args: [hook],
        input: payload("PostToolUseFailure", {
          ...failed,
          error: "Exit code 2\nerror: the flux capacitor lacks plutonium",
        }),
      },
      "the end of a turn": { args: [hook, "--part", "answer"], input: payload("Stop", {}) },
      "the end of a turn where goals have duties": {
        args: [hook, "--part", "answer"],
        input: payload("Stop", {}),
        tells: true,
      },
      "the end of a session, which starts a worker": {
        args: [hook],
        input: payload("SessionEnd", { reason: "other" }),
        starts: true,
      },
      "a call of Codex that succeeded": {
        args: [hook, "--agent", "codex"],
        input: payload("PostToolUse", {
          ...{ transcript_path: rollout, tool_name: "Bash", tool_use_id: "call_399" },
          ...{ tool_input: { command: "ls" }, tool_response: "fine\n" },
        }),
      },
      "the start of a session": { args: [hook], input: payload("SessionStart", { source: "startup" }) },
    };
    const times = new Map(Object.keys(kinds).map((name) => [name, [] as number[]]));
    let told = 0;
    for (let round = 0; round < rounds; round++) {
      for (const [name, { args, input, starts, tells }] of Object.entries(kinds)) {
        const around = starts ? workingEnv : tells ? tellingEnv : env;
        const { worker: sign, log } = resolveHome(around);
        // Otherwise this process passes for the worker, which then need not be started.
        if (!starts) writeFileSync(sign, JSON.stringify({ pid: process.pid, until: Date.now() + 60_000 }));
        const started = performance.now();
        const ran = spawnSync(process.execPath, args, {
          env: around,
          ...(input ? { input: input(round) } : {}),
        });
        if (round > 0) times.get(name)?.push(performance.now() - started);
        if (name === "a known failure" && ran.stdout.includes("what worked")) told++;
        if (!starts) continue;
        await untilGone(sign, log);
      }
    }
    const size = statSync(resolveHome(env).snapshot).size / 1e6;
    console.log(
      `  ${lessons} lessons, ${skills} skills: a snapshot of ${size.toFixed(1)} MB; the known failure answered ${told} of ${rounds} times`,
    );
    const medians = new Map([...times].map(([name, all]) => [name, median(all)]));
    for (const [name, ms] of medians) console.log(`  ${name}: ${ms.toFixed(0)} ms`);
    const node = medians.get("node -e 0") ?? Number.NaN;
    const figure = (name: string, bar: number) =>
      atMost(`hook at ${name}, of node -e 0`, (medians.get(name) ?? Number.NaN) / node, bar, " times");
    return [
      figure("a prompt", 1.6),
      figure("a known failure", 1.6),
      figure("an unknown failure", 1.6),
      figure("the end of a turn", 1.3),
      figure("the end of a turn where goals have duties", 1.3),
      figure("a call of Codex that succeeded", 1.3),
      atMost(
        "hook at the end of a session, which starts a worker",
        medians.get("the end of a session, which starts a worker") ?? Number.NaN,
        1_500,
        " ms",
      ),
    ];
  });
}

/** A line of Codex's rollout, where the exit code of a call is looked for. */
function executedCall(n: number): string {
  const item = {
    type: "CommandExecution",
    id: `call_${n}`,
    aggregated_output: "x".repeat(800),
    exit_code: 0,
  };
  return `${JSON.stringify({ type: "event_msg", payload: { type: "item_completed", item } })}\n`;
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

async function fillSnapshot(path: string, tellingPath: string, folder: string): Promise<void> {
  const store = await openSqlite({ path: join(folder, "full.db"), clock: { now: Date.now } });
  await fill(store, lessons);
  const ids = (await store.learning.lessons.list()).map(({ id }) => id);
  const published = Array.from({ length: skills }, (_, n) => skill(n, ids[n] ?? ""));
  for (const [at, duties] of [
    [path, "off"],
    [tellingPath, "say"],
  ] as const) {
    await renewSnapshot(
      {
        ...{ store, path: at, clock: { now: () => Date.UTC(2026, 0, 9) } },
        ...{ published: async () => published, refuses: async () => null },
      },
      { show: true, exceptions: [], foreground: "off", duties, dutiesIn: {}, holdout: 0 },
    );
    openIndexFiles(dirname(at)).update(aLibrary().skills.slice(0, skills));
  }
  await store.close();
}

function skill(
  n: number,
  lessonId: string,
): Awaited<ReturnType<Parameters<typeof renewSnapshot>[0]["published"]>>[number] {
  const description = `What to do about topic ${n}`;
  const body = "One more line of what to do.\n".repeat(60);
  return {
    kind: "skill",
    name: `rl-skill-${n}`,
    path: `/p/.claude/skills/rl-skill-${n}`,
    reach: n % 2 === 0 ? "draft" : "me",
    origin: { kind: "lesson", id: lessonId },
    state: n % 2 === 0 ? "draft" : "active",
    text: body,
    askedIn: null,
    skill: { description, body },
  };
}

/** Waits until the worker that was started has come and gone: what it costs is not the hook's. */
async function untilGone(sign: string, log: string): Promise<void> {
  const done = join(log, "worker.json");
  for (let waited = 0; waited < 200 && !existsSync(done); waited++) await pause();
  for (let waited = 0; waited < 200 && existsSync(sign); waited++) await pause();
  await pause();
  rmSync(done, { force: true });
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 25));
}
