import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { setStage } from "./stage.ts";

const change = {
  ...{ changeKind: "new-config", target: "strategies/docs/short.md", content: "# Short\nWrite one file.\n" },
  ...{ summary: "Write one file", because: "it was enough" },
};
const teaches = { analyst: { artifact: { successCriteriaMet: "yes", improve: { changes: [change] } } } };

const git = (folder: string, ...args: string[]) =>
  execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", env: { PATH: process.env.PATH } }).trim();

type Shown = Record<string, unknown> & {
  state: string;
  end: { end: string; because: string };
  run: string;
  branch: { name: string } | null;
  work: string;
  workspace: string;
};
const shown = (stdout: string) => JSON.parse(stdout) as Shown;

describe("What a run learned", () => {
  test("is a commit of its own that the next run of the kind starts with", async () => {
    const stage = setStage(teaches);
    expect((await stage.run(["compare"])).stdout).toContain("Nothing was learned yet");
    expect(existsSync(join(stage.home, ".knack-loop"))).toBe(false);
    const first = shown((await stage.start(["--kind", "docs", "--json"])).stdout);
    expect(stage.read(".improve/summary.json")).toMatchObject({ changesAccepted: 1, changesRejected: 0 });
    expect(git(first.state, "log", "--format=%s").split("\n")).toEqual([
      `runs: ${first.run}`,
      "new-config: Write one file",
      "state: begin",
    ]);
    expect(stage.read(".improve/promotions/1.json")).toMatchObject({ target: "strategies/docs/short.md" });
    const { implStateDirShaAfter } = stage.read(".memory-consolidation/consolidation_record.json");
    expect(implStateDirShaAfter).toBe(git(first.state, "rev-parse", "HEAD"));
    await stage.run(["start", "--goal", "Write it again", "--kind", "docs", "--harness", stage.harness]);
    const strategist = stage.calls().filter(({ role }) => role === "strategist")[1];
    expect(strategist?.inputs).toMatchObject({ priorStrategiesPath: join(first.state, "strategies/docs") });
    const compared = await stage.run(["compare"]);
    expect(compared.stdout).toMatch(/Write one file\s+too few samples \(/);
  });

  test("is nothing in frozen mode, and a run that changes it is undone and withheld", async () => {
    const stage = setStage();
    const state = join(stage.home, "state");
    stage.tell({
      ...teaches,
      "step-worker": { command: `echo x >> ${state}/policy.json; echo y > ${state}/new.md` },
    });
    const ran = await stage.start(["--mode", "frozen", "--state", state, "--json"]);
    expect(ran.code).toBe(1);
    expect(shown(ran.stdout).end).toMatchObject({ end: "withheld" });
    expect(readdirSync(state).sort()).toEqual([".git", "policy.json", "runs"]);
    expect(readFileSync(join(state, "policy.json"), "utf8")).not.toContain("x\n");
    expect(git(state, "status", "--porcelain")).toBe("");
    expect(stage.has(".errors/freeze.json")).toBe(true);
    expect(stage.has(".debrief/analysis.json")).toBe(false);
  });

  test("as a candidate is on a copy until a person adopts it", async () => {
    const stage = setStage(teaches);
    const state = join(stage.home, "state");
    await stage.run([
      "start",
      "--goal",
      "Begin",
      "--harness",
      stage.harness,
      "--state",
      state,
      "--mode",
      "frozen",
    ]);
    const before = git(state, "rev-parse", "HEAD");
    const ran = shown((await stage.start(["--mode", "candidate", "--state", state, "--json"])).stdout);
    expect(ran).toMatchObject({ end: { end: "completed" }, candidate: { parent_sha: before } });
    expect(git(state, "rev-parse", "HEAD")).toBe(before);
    const tried = await stage.run(["adopt", ran.run, "--dry-run"]);
    expect(tried.stdout).toContain("Would put 1 change in force");
    expect(git(state, "rev-parse", "HEAD")).toBe(before);
    const adopted = await stage.run(["adopt", ran.run]);
    expect(adopted.stdout).toContain("new-config: Write one file");
    expect(readFileSync(join(state, "strategies/docs/short.md"), "utf8")).toContain("Write one file.");
    const sha = git(state, "log", "--format=%h", "--grep", "Write one file");
    expect((await stage.run(["revert", sha, "--state", state])).stdout).toContain("Took back 1 change");
    expect(git(state, "ls-files")).not.toContain("strategies");
    expect(await stage.run(["adopt", "nothing"])).toMatchObject({ code: 2 });
  });

  test.each(["candidate", "frozen"])(
    "meanwhile stays, though a %s run that was interrupted began without it",
    async (mode) => {
      const stage = setStage({ "step-worker": { kill: true } });
      const state = join(stage.home, "state");
      const words = ["--kind", "docs", "--state", state];
      const killed = await stage.startProcess([...words, "--mode", mode]);
      expect(killed.signal).toBe("SIGKILL");
      const [run = ""] = /l[0-9a-z]{8}/.exec(killed.stderr) ?? [];
      stage.tell(teaches);
      const other = ["start", "--goal", "Write it", "--harness", stage.harness];
      expect(await stage.run([...other, ...words])).toMatchObject({ code: 0 });
      const resumed = await stage.run(["resume", run]);
      expect(resumed).toMatchObject({ code: 2, stderr: expect.stringContaining("changed since the run") });
      expect(readFileSync(join(state, "strategies/docs/short.md"), "utf8")).toContain("Write one file.");
    },
  );

  test("that was refused says why", async () => {
    const outside = { ...change, target: "../../outside.md" };
    const hook = { ...change, changeKind: "new-hook", target: "hooks/x.sh" };
    const stage = setStage({
      analyst: { artifact: { successCriteriaMet: "yes", improve: { changes: [outside, hook] } } },
    });
    const ran = await stage.start();
    expect(stage.read(".improve/summary.json")).toMatchObject({
      ...{ changesAccepted: 0, changesRejected: 2 },
      rejectionsRationale: [
        { reason: expect.stringContaining("may not write") },
        { reason: expect.stringContaining("operator request") },
      ],
    });
    expect(ran.stdout).toContain("rejected");
  });
});

describe("A goal that edits a repository", () => {
  test("is worked on in a worktree, and its result is a branch", async () => {
    const stage = setStage({
      "step-worker": { files: { "src/new.txt": "new\n" } },
      consolidator: { artifact: { movedToPrivate: ["workspace/src/new.txt"] } },
    });
    const env = {
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@b",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@b",
    };
    writeFileSync(join(stage.here, "README.md"), "# Here\n");
    for (const args of [
      ["init", "-q", "-b", "main"],
      ["add", "."],
      ["commit", "-qm", "first"],
    ])
      execFileSync("git", ["-C", stage.here, ...args], { env: { PATH: process.env.PATH, ...env } });
    writeFileSync(join(stage.here, "later.txt"), "not committed\n");
    const started = await stage.start(["--tier", "full", "--json"]);
    expect(started.stderr).toContain("begins with the last commit of ~/project, without 1 uncommitted file.");
    const ran = shown(started.stdout);
    expect(ran).toMatchObject({ end: { end: "completed" }, changed: "2 files changed, 2 insertions(+)" });
    expect(git(stage.here, "status", "--porcelain")).toBe("?? later.txt");
    const branch = ran.branch?.name ?? "";
    expect(git(stage.here, "diff", "--name-only", `main...${branch}`).split("\n")).toEqual([
      "done.txt",
      "src/new.txt",
    ]);
    expect(git(stage.here, "log", "-1", "--format=%s", branch)).toBe("Write done.txt");
    const none = shown(
      (await stage.run(["start", "--goal", "x", "--harness", stage.harness, "--repo", "none", "--json"]))
        .stdout,
    );
    expect(none.branch).toBeNull();
  });
});

describe("Work folders of runs that have ended", () => {
  test("are removed when a person says so, but not what is nowhere else", async () => {
    const stage = setStage();
    for (const args of [
      ["init", "-q", "-b", "main"],
      ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"],
    ])
      git(stage.here, ...args);
    const start = async (...words: string[]) =>
      shown(
        (await stage.run(["start", "--goal", "Write it", "--harness", stage.harness, "--json", ...words]))
          .stdout,
      );
    const plain = await start();
    const planned = ["--range", "pre-execute"];
    const bare = await start("--repo", "none", ...planned);
    const edited = await start(...planned);
    const elsewhere = shown((await stage.start(["--json", ...planned])).stdout);
    stage.tell(teaches);
    const offered = await start("--mode", "candidate");
    for (const { workspace } of [bare, edited]) writeFileSync(join(workspace, "mine.txt"), "mine");
    expect((await stage.run(["list"])).stdout).toContain("Work folders of ended runs: 5. To remove them:");
    const prune = async (...words: string[]) => {
      const { removed, kept } = JSON.parse((await stage.run(["prune", "--json", ...words])).stdout);
      return [removed.map(({ run }: { run: string }) => run), kept.map(({ kept }: { kept: string }) => kept)];
    };
    const expected = [
      [plain.run],
      [
        `it can be adopted: knack loop adopt ${offered.run}`,
        `${edited.workspace} has changes that are in no commit`,
        "its result lies only there",
      ],
    ];
    expect(await prune("--dry-run")).toEqual(expected);
    expect(existsSync(join(plain.work, ".debrief/analysis.json"))).toBe(true);
    expect(await prune()).toEqual(expected);
    expect(existsSync(plain.work)).toBe(false);
    expect(git(stage.here, "log", "-1", "--format=%s", plain.branch?.name ?? "")).toBe("Write it");
    expect(git(stage.here, "worktree", "list")).not.toContain(plain.run);
    expect(readFileSync(join(edited.workspace, "mine.txt"), "utf8")).toBe("mine");
    expect((await stage.run(["show", plain.run])).stdout).toContain("1 file changed");
    // What is asked for by name is removed also where its result lies only there, and wherever it lies.
    expect(await prune(bare.run)).toEqual([[bare.run], []]);
    expect(await prune(elsewhere.run)).toEqual([[elsewhere.run], []]);
    await stage.run(["adopt", offered.run]);
    expect(await prune()).toEqual([[offered.run], [`${edited.workspace} has changes that are in no commit`]]);
    expect(readdirSync(join(stage.home, ".knack-loop/candidates"))).toEqual([]);
  });
});
