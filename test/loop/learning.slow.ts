import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Answers, setStage } from "./stage.ts";

const target = "strategies/builds/way.md";
const way = { changeKind: "new-config", target, content: "Build with the cache.\n" };

/**
 * Runs of the built program, whose goal is met only where the strategy that is in force says the right thing: ten
 * without a strategy, ten with a better one that was adopted from a candidate, ten with a worse one that a run itself
 * learned.
 */
test("Runs keep a better strategy that was adopted, and take back a worse one by themselves", async () => {
  const stage = setStage();
  const state = join(stage.home, "state");
  const tell = (change: object | null) => {
    const improve = change ? { changes: [change] } : {};
    const answers: Answers = {
      strategist: {
        artifact: {
          steps: [
            {
              ...{
                id: "s1",
                kind: "work",
                description: "build",
                successSignal: { kind: "file-exists", path: "built" },
              },
              abortCondition: { retries: 0, otherwise: "continue" },
            },
          ],
          successCriteria: [{ id: "c1", text: "it is built", check: { kind: "file-exists", path: "built" } }],
        },
      },
      "step-worker": { command: `grep -qs cache ${state}/${target} && touch built; true` },
      analyst: { artifact: { improve } },
    };
    stage.tell(answers);
  };
  const play = async (times: number, words: readonly string[] = []) => {
    const met: boolean[] = [];
    for (let n = 0; n < times; n++) {
      const common = ["start", "--goal", "Build it", "--kind", "builds", "--tier", "light", "--repo", "none"];
      const { stdout } = await stage.run([
        ...[...common, "--harness", stage.harness, "--state", state, "--json", ...words],
      ]);
      met.push(JSON.parse(stdout).success_criteria_met === "yes");
    }
    return met.filter(Boolean).length;
  };
  const compare = async () => {
    const { stdout } = await stage.run(["compare", "--state", state, "--json"]);
    const { changes } = JSON.parse(stdout) as { changes: { says: string; reverted_by: string | null }[] };
    return changes.map(({ says, reverted_by }) => `${reverted_by ? "reverted; " : ""}${says}`);
  };

  tell(null);
  expect(await play(10)).toBe(0);
  tell({ ...way, summary: "use the cache", because: "cold builds fail" });
  expect(await play(1, ["--mode", "candidate"])).toBe(0);
  expect(existsSync(join(state, target))).toBe(false);
  expect(await stage.run(["adopt"].concat(await latestRun(stage)))).toMatchObject({ code: 0 });
  tell(null);
  expect(await play(10)).toBe(10);
  const worse = { ...way, changeKind: "config-edit", content: "Build everything anew.\n" };
  tell({ ...worse, summary: "build anew", because: "it seemed cleaner" });
  expect(await play(1)).toBe(1);
  tell(null);
  expect(await play(9)).toBe(0);
  expect(readFileSync(join(state, target), "utf8")).toBe("Build everything anew.\n");
  // The tenth run with it consolidates, and takes it back.
  expect(await play(1)).toBe(0);
  expect(readFileSync(join(state, target), "utf8")).toBe("Build with the cache.\n");
  expect(await play(1)).toBe(1);
  expect(await compare()).toEqual([
    expect.stringMatching(/^reverted; worse: \d+ % in 2\d runs before, 0 % in 10 runs since/),
    expect.stringMatching(/^better: 0 % in 11 runs before, \d+ % in 2\d runs since/),
  ]);
  const log = execFileSync("git", ["-C", state, "log", "--format=%s"], { encoding: "utf8" });
  expect(log.split("\n").filter((line) => !line.startsWith("runs: "))).toEqual([
    ...["curate: 1 change", "config-edit: build anew", "new-config: use the cache", "state: begin", ""],
  ]);
});

async function latestRun(stage: ReturnType<typeof setStage>): Promise<string> {
  return JSON.parse((await stage.run(["show", "--json"])).stdout).run;
}
