import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Answer, setStage } from "./stage.ts";

const change = {
  ...{ changeKind: "new-config", target: "strategies/docs/short.md", content: "# Short\n" },
  ...{ summary: "Write one file", because: "it was enough" },
};
const teaching: Answer = { artifact: { successCriteriaMet: "yes", improve: { changes: [change] } } };
const answers: Readonly<Record<string, Answer>> = { analyst: teaching };
const words = ["--kind", "docs"];

/** Everything that a run leaves, without what tells when it was. */
function readOutcome(stage: ReturnType<typeof setStage>) {
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", join(stage.home, "state"), ...args], { encoding: "utf8" }).trim();
  const { implStateDirShaAfter } = stage.read(".memory-consolidation/consolidation_record.json");
  return {
    phases: stage
      .lines(".coordinator/log.jsonl")
      .map(({ phase, status, summary }) => [phase, status, summary]),
    steps: stage.lines(".execute/log.jsonl").map(({ stepId, decision }) => [stepId, decision]),
    improved: stage.read(".improve/summary.json").changesAccepted,
    isHead: implStateDirShaAfter === git("rev-parse", "HEAD"),
    commits: git("log", "--format=%s").replaceAll(/runs: \w+/g, "runs"),
    files: git("ls-tree", "-r", "--name-only", "HEAD"),
    errors: stage.has(".errors"),
  };
}

const expected = {
  phases: [
    ["orient", "completed", "goal-parse, by Knack itself"],
    ["strategize", "completed", "strategist done"],
    ["plan", "completed", "1 step, by the strategist"],
    ["execute", "completed", "all-steps-completed; 1 step done, 0 failed: every step is done"],
    ["debrief", "completed", "criteria met: yes; analyst done"],
    ["improve", "completed", "1 change kept, 0 rejected, 0 requests"],
    ["memory-consolidation", "completed", "nothing to curate"],
  ],
  ...{ steps: [["s1", "continue"]], improved: 1, isHead: true, errors: false },
  commits: "runs\nnew-config: Write one file\nstate: begin",
  files: "policy.json\nruns/index.json\nstrategies/docs/short.md",
};

/** A git that ends Knack, whose child it is, at its nth call, before or after it did what it was asked. */
function setGit(home: string, nth: number, when: "before" | "after") {
  const folder = join(home, "bin");
  const count = join(home, "git-calls");
  mkdirSync(folder);
  const real = execFileSync("/bin/sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const kill = `[ "$n" = ${nth} ] && kill -KILL "$PPID" && exit 1`;
  const lines = [
    "#!/bin/sh",
    `n=$(wc -c < ${count} 2>/dev/null || echo 0); n=$((n + 1)); printf x >> ${count}`,
  ];
  const act = when === "before" ? [kill, `exec ${real} "$@"`] : [`${real} "$@"; code=$?`, kill, "exit $code"];
  writeFileSync(join(folder, "git"), [...lines, ...act, ""].join("\n"));
  chmodSync(join(folder, "git"), 0o755);
  return {
    env: { PATH: `${folder}:${process.env.PATH}` },
    calls: () => (existsSync(count) ? readFileSync(count, "utf8").length : 0),
  };
}

/** All of them with KNACK_TEST_ALL. */
const some = <Item>(items: readonly Item[], every: number) =>
  process.env.KNACK_TEST_ALL === "1" ? items : items.filter((_, n) => n % every === 0);

describe("A run that is killed", () => {
  test.each(["strategist", "step-worker", "analyst"])(
    "when %s has left its artifact ends as if it had not been",
    async (name) => {
      const stage = setStage({
        ...answers,
        [name]: [{ ...answers[name], kill: true }, { ...answers[name] }],
      });
      const state = join(stage.home, "state");
      const killed = await stage.start([...words, "--state", state]);
      expect(killed.signal).toBe("SIGKILL");
      expect(await stage.run(["resume"])).toMatchObject({ code: 0 });
      expect(readOutcome(stage)).toEqual(expected);
    },
  );

  // A run calls git 25 times; until the 14th it has not begun.
  test.each(
    some([15, 16, 17, 18, 19, 20, 21, 22, 23, 24], 4).flatMap(
      (nth) =>
        [
          [nth, "before"],
          [nth, "after"],
        ] as const,
    ),
  )("at git's call %i, %s it acts, ends as if it had not been", async (nth, when) => {
    const stage = setStage(answers);
    const { env, calls } = setGit(stage.home, nth, when);
    const state = join(stage.home, "state");
    const killed = await stage.start([...words, "--state", state], { env });
    expect([killed.signal, calls()]).toEqual(["SIGKILL", nth]);
    expect(await stage.run(["resume"])).toMatchObject({ code: 0 });
    expect(readOutcome(stage)).toEqual(expected);
  });
});
