import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../helpers/knack.ts";
import { type Answers, setStage } from "./stage.ts";

const change = {
  ...{ changeKind: "new-config", target: "strategies/docs/short.md", content: "# Short\n" },
  ...{ summary: "Write one file", because: "it was enough" },
};
const analyst = { artifact: { successCriteriaMet: "yes", improve: { changes: [change] } } };

interface Scene {
  readonly answers: Answers;
  readonly words: readonly string[];
}

/** Two steps beside each other, of which one never succeeds, so that there is another plan twice. */
const hopeless = ["a", "b"].map((id) => ({
  ...{ id, kind: "work", description: id, concurrency: "parallel-batch-1" },
  ...{ successSignal: { kind: "file-exists", path: id === "a" ? "done.txt" : "never" } },
  ...{ abortCondition: { retries: 0 } },
}));

/** What a run can do to the world, in three runs. */
const scenes: Readonly<Record<string, (state: string) => Scene>> = {
  "learns, and edits a repository": () => ({ answers: { analyst }, words: [] }),
  "gives its work up, and learns on a copy": () => ({
    answers: { planner: { artifact: { steps: hopeless } }, promoter: { artifact: { changes: [change] } } },
    words: ["--mode", "candidate", "--repo", "none", "--tier", "full"],
  }),
  "is frozen, and has a worker that changes what it may not": (state) => ({
    answers: { analyst, "step-worker": { command: `echo x > ${state}/policy.json` } },
    words: ["--mode", "frozen"],
  }),
};

function prepare(scene: (state: string) => Scene) {
  const stage = setStage();
  const state = join(stage.home, "state");
  const { answers, words } = scene(state);
  stage.tell(answers);
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { encoding: "utf8" }).trim();
  git("init", "-q", "-b", "main", stage.here);
  git("-C", stage.here, "commit", "-q", "--allow-empty", "-m", "first");
  const start = (env: Record<string, string> = {}) =>
    stage.startProcess(["--kind", "docs", "--state", state, ...words], env);
  return { stage, state, git, start };
}

/** Everything that a run leaves, without what tells when it was and what it is called. */
function readOutcome({ stage, state, git }: ReturnType<typeof prepare>) {
  const anonymous = (text: string) => text.replaceAll(/\bl[0-9a-z]{8}\b/g, "<run>");
  const describeState = (folder: string) => ({
    commits: anonymous(git("-C", folder, "log", "--format=%s")).split("\n"),
    files: git("-C", folder, "ls-tree", "-r", "--name-only", "HEAD").split("\n"),
    changes: git("-C", folder, "status", "--porcelain"),
  });
  const list = (folder: string) => (existsSync(folder) ? readdirSync(folder).sort().map(anonymous) : []);
  const candidates = join(stage.home, ".knack-loop/candidates");
  return {
    phases: stage
      .lines(".coordinator/log.jsonl")
      .map(({ phase, status, summary }) => `${phase} ${status}: ${summary}`),
    steps: stage.has(".execute/log.jsonl")
      ? stage.lines(".execute/log.jsonl").map(({ stepId, decision }) => `${stepId} ${decision}`)
      : [],
    errors: list(join(stage.work, ".errors")),
    improved: stage.has(".improve/summary.json") && stage.read(".improve/summary.json").changesAccepted,
    state: describeState(state),
    candidates: (existsSync(candidates) ? readdirSync(candidates) : []).map((name) =>
      describeState(join(candidates, name)),
    ),
    branches: anonymous(git("-C", stage.here, "log", "--branches", "--format=%s %D")).split("\n"),
    worktrees: git("-C", stage.here, "worktree", "list").split("\n").length,
    left: [...list(stage.home), ...list(join(stage.home, ".knack/loop"))].filter((name) => name !== "acts"),
  };
}

const dying = `--import=${join(root, "test/loop/dying.mjs")}`;
const isAll = process.env.KNACK_TEST_ALL === "1";
/** Kills of each run, spread over all that it does: `KNACK_TEST_KILLS=1000` is at each act, `=80-90` at those. */
const kills = process.env.KNACK_TEST_KILLS ?? (isAll ? "24" : "2");

/** The acts at which a run is killed, of so many. */
function chooseActs(acts: number): number[] {
  const [, first, last] = /^(\d+)-(\d+)$/.exec(kills) ?? [];
  const all = Array.from({ length: acts }, (_, n) => n + 1);
  if (last !== undefined) return all.slice(Number(first) - 1, Number(last));
  const points = Math.min(Number(kills), acts);
  return all.slice(0, points).map((point) => {
    const within = isAll ? Math.random() : 0.5;
    return Math.floor((acts * (point - within)) / points) + 1;
  });
}

describe("A run that is killed", () => {
  test.each(Object.entries(scenes))(
    "and %s, ends as if it had not been, wherever it was killed",
    async (name, scene) => {
      const whole = prepare(scene);
      const count = join(whole.stage.home, "acts");
      const { code } = await whole.start({ NODE_OPTIONS: dying, DIE_COUNT: count });
      const [acts, expected] = [Number(readFileSync(count, "utf8")), readOutcome(whole)];
      expect(acts).toBeGreaterThan(100);
      const [, error] = Object.entries(expectedErrors).find(([part]) => name.includes(part)) ?? [];
      expect(expected.errors).toEqual(error ? [error] : []);
      for (const at of chooseActs(acts))
        expect([at, await playKilled(scene, at, code)]).toEqual([at, expected]);
    },
    24 * 60 * 60_000,
  );
});

describe("Git that was killed", () => {
  test("leaves neither a half-made worktree nor a lock that a run could not get past", async () => {
    const locks = { command: 'touch "$(git rev-parse --git-path index.lock)"' };
    const { stage, state, git, start } = prepare(() => ({
      answers: { analyst, strategist: { kill: true }, "step-worker": locks },
      words: [],
    }));
    writeFileSync(join(stage.here, "kept.txt"), "kept");
    git("-C", stage.here, "add", "--all");
    git("-C", stage.here, "commit", "-q", "-m", "second");
    expect((await start()).signal).toBe("SIGKILL");
    // As a killed "git worktree add" leaves it, and a killed "git commit".
    rmSync(join(stage.work, "workspace/kept.txt"));
    const left = { locked: "initializing\n", "index.lock": "", "HEAD.lock": "" };
    for (const [name, text] of Object.entries(left))
      writeFileSync(join(stage.here, ".git/worktrees/workspace", name), text);
    for (const name of ["index", "HEAD", "refs/heads/main"])
      writeFileSync(join(state, `.git/${name}.lock`), "");
    stage.tell({ analyst, "step-worker": locks });
    expect(await stage.run(["resume"])).toMatchObject({ code: 0 });
    expect(git("-C", stage.here, "log", "--branches=knack/*", "-1", "--name-status", "--format=")).toBe(
      "A\tdone.txt",
    );
    expect(git("-C", state, "status", "--porcelain")).toBe("");
    expect(stage.read(".improve/summary.json")).toMatchObject({ changesAccepted: 1 });
  });
});

const expectedErrors = { "is frozen": "freeze.json", "gives its work up": "execute.json" };

/** A run that is killed at an act, and then resumed: what it leaves. */
async function playKilled(scene: (state: string) => Scene, at: number, code: number | null) {
  const cut = prepare(scene);
  const killed = await cut.start({ NODE_OPTIONS: dying, DIE_AT: String(at) });
  expect([at, killed.signal]).toEqual([at, "SIGKILL"]);
  while (cut.stage.listProcesses().length > 0) await new Promise((done) => setTimeout(done, 20));
  const resumed = await cut.stage.run(["resume"]);
  if (resumed.code === 2) {
    // It had not begun, so that it can be begun again; or it had ended.
    expect([at, resumed.stderr]).toEqual([at, expect.stringMatching(/There is no run|has ended/)]);
    if (resumed.stderr.includes("no run")) await cut.start();
  } else expect([at, resumed.code, resumed.stderr]).toEqual([at, code, expect.any(String)]);
  const outcome = readOutcome(cut);
  rmSync(cut.stage.home, { recursive: true });
  return outcome;
}
