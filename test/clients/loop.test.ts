import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { digestState } from "../../src/loop/state/digest.ts";
import { cli, knack, root } from "../helpers/knack.ts";
import { tempFolder } from "../helpers/temp.ts";
import { installClients } from "./install.mjs";
import type { Script, Step, Turn } from "./model-server.ts";
import {
  claudeTranscripts,
  codexTranscripts,
  dressClaude,
  dressCodex,
  playClaude,
  setStage,
} from "./play.ts";

type Agent = "claude" | "codex";

/** How a model of each agent writes a file, and runs a command. */
const acts = {
  claude: {
    write: (file_path: string, content: string): Step => ({ tool: "Write", input: { file_path, content } }),
    shell: (command: string): Step => ({ tool: "Bash", input: { command } }),
  },
  codex: {
    write: (path: string, content: string): Step => ({
      tool: "exec_command",
      input: { cmd: `cat > ${path} <<'END'\n${content}\nEND` },
    }),
    shell: (cmd: string): Step => ({ tool: "exec_command", input: { cmd } }),
  },
} as const;

const steps = [
  {
    ...{ id: "s1", kind: "work", description: "write done.txt" },
    successSignal: { kind: "file-exists", path: "done.txt" },
  },
];
const change = {
  ...{ changeKind: "new-config", target: "strategies/chores/echo.md", content: "Use echo.\n" },
  ...{ summary: "echo is enough", because: "echo was enough" },
};

/** What each worker leaves, by words of its instructions. */
function listArtifacts(
  isLight: boolean,
): readonly (readonly [says: string, file: string, artifact: object])[] {
  const finding = (topic: string) => ({ topic, gatheredAt: "now", data: { seen: true }, flags: [] });
  const topics = ["goal-parse", "world-state", "outcome-probe"].map((topic) => {
    const folder = topic === "outcome-probe" ? ".debrief" : ".orient";
    return [`\\"topic\\": \\"${topic}\\"`, `${folder}/${topic}.json`, finding(topic)] as const;
  });
  const strategy = {
    ...{ approach: "echo", rationale: "it is short", timingPosture: "early-return" },
    successCriteria: [{ id: "c1", text: "it is there", check: { kind: "file-exists", path: "done.txt" } }],
  };
  const analysis = { successCriteriaMet: "yes", recommendationsForImprove: ["echo was enough"] };
  return [
    ...topics,
    ["# Strategist", ".strategize/strategy.json", { ...strategy, ...(isLight ? { steps } : {}) }],
    ["# Planner", ".plan/plan.json", { steps }],
    [
      "# Analyst",
      ".debrief/analysis.json",
      isLight ? { ...analysis, improve: { changes: [change] } } : analysis,
    ],
    ["# Promoter", ".improve/proposal.json", { changes: [change] }],
    ["# Consolidator", ".memory-consolidation/curation.json", {}],
  ];
}

function writeScript(agent: Agent, isLight: boolean): Script {
  const { write, shell } = acts[agent];
  const end: Turn = [{ text: "written" }];
  const report = { stepId: "s1", status: "success", outputsWritten: ["done.txt"], summary: "echoed" };
  // Where it goes is in its instructions, which are what comes first.
  const leave = (news: string, artifact: object) =>
    write(/outputPath\\+": \\+"([^"\\]+)/.exec(news)?.[1] ?? "", JSON.stringify(artifact));
  return {
    turns: [[{ text: "nobody told me what to do" }]],
    branches: [
      ...listArtifacts(isLight).map(([says, , artifact]) => ({
        says,
        turns: [(news: string) => [leave(news, artifact)], end],
      })),
      {
        says: "# Step worker",
        turns: [(news: string) => [shell("echo done > done.txt"), leave(news, report)], end],
      },
    ],
  };
}

async function aLoop(agent: Agent, tier: "light" | "full") {
  const stage = await setStage({ script: writeScript(agent, tier === "light") });
  onTestFinished(() => stage.dispose());
  const clients = await installClients();
  const dressed = await (agent === "claude" ? dressClaude(stage, false) : dressCodex(stage, false));
  const program = agent === "claude" ? `"${clients.claude}"` : `"${process.execPath}" "${clients.codex}"`;
  writeFileSync(join(stage.root, agent), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
  const env = { ...dressed, PATH: `${stage.root}${delimiter}${dressed.PATH}` };
  const open = (name = "") => {
    const [work, state] = [join(stage.home, `work${name}`), join(stage.home, `state${name}`)];
    const has = (file: string) => existsSync(join(work, file));
    return { work, state, has, start: (...words: string[]) => start(work, state, words) };
  };
  const start = async (work: string, state: string, words: readonly string[]) => {
    const common = ["--goal", "Write done.txt", "--kind", "chores", "--harness", agent, "--tier", tier];
    const places = ["--work", work, "--state", state, "--repo", "none", "--json"];
    const ran = await knack(["loop", "start", ...common, ...places, ...words], {
      home: stage.home,
      env,
      cwd: stage.project,
    });
    expect(ran.stderr).not.toMatch(/rror/);
    return { code: ran.code, view: JSON.parse(ran.stdout) };
  };
  return { stage, open };
}

const artifacts = [
  ...[".orient/summary.json", ".strategize/strategy.json", ".plan/plan.json", ".execute/summary.json"],
  ...[".debrief/analysis.json", ".improve/summary.json", ".memory-consolidation/consolidation_record.json"],
];

/** What a run leaves of the artifacts, by its mode and range. */
function listExpected(mode: string, range: string): string[] {
  if (range === "pre-execute") return artifacts.slice(0, 3);
  // What was executed, and what was planned before, is there as well.
  return mode === "frozen" ? artifacts.slice(0, 5) : artifacts;
}

const modes = ["train", "frozen", "candidate"] as const;
const all = process.env.KNACK_TEST_ALL === "1";

describe("The learning loop with Claude Code", () => {
  test("in train mode leaves seven artifacts and a commit, changes nothing else, and is learned from", async () => {
    const [tier, workers] = all ? (["full", 9] as const) : (["light", 3] as const);
    const { stage, open } = await aLoop("claude", tier);
    const { state, has, start } = open();
    writeFileSync(join(stage.project, "mine.txt"), "mine");
    const { code, view } = await start();
    expect([code, view.end]).toMatchObject([0, { end: "completed" }]);
    expect(view).toMatchObject({ workers, success_criteria_met: "yes" });
    expect(view.usd).toBeGreaterThan(0);
    expect(artifacts.filter((file) => !has(file))).toEqual([]);
    expect(readFileSync(join(state, "strategies/chores/echo.md"), "utf8")).toBe("Use echo.\n");
    expect(readdirSync(stage.project)).toEqual(["mine.txt"]);
    expect(readdirSync(stage.home).filter((name) => !name.startsWith("."))).toEqual([
      "project",
      "state",
      "work",
    ]);
    expect((await claudeTranscripts(stage.home)).transcripts).toHaveLength(workers);
  });
});

describe.each(["claude", "codex"] as const)("The learning loop with %s", (agent) => {
  test("leaves in each mode and range what belongs to it, and changes the state in train mode alone", async () => {
    const { stage, open } = await aLoop(agent, "light");
    for (const mode of modes) {
      // Each mode, and each range, once (train mode is above); with KNACK_TEST_ALL each range in each mode.
      if (all || (mode === "frozen" && agent === "codex")) await check(open(`-${mode}`), mode, ["full"]);
      if (all || (mode === "candidate" && agent === "claude"))
        await check(open(`-${mode}-parts`), mode, ["pre-execute", "post-execute"]);
    }
    const { transcripts } = await (agent === "codex" ? codexTranscripts : claudeTranscripts)(stage.home);
    expect(transcripts).toHaveLength(all ? 15 : agent === "codex" ? 3 : 2);
  }, 900_000);

  async function check(
    { work, state, has, start }: ReturnType<Awaited<ReturnType<typeof aLoop>>["open"]>,
    mode: (typeof modes)[number],
    ranges: readonly string[],
  ) {
    let before: string | null = null;
    for (const range of ranges) {
      if (range === "post-execute") writeSummary(work);
      const { code, view } = await start("--mode", mode, "--range", range);
      const which = `${mode} ${range}`;
      expect([which, code, view.end]).toMatchObject([which, 0, { end: "completed" }]);
      expect([which, artifacts.filter(has)]).toEqual([which, listExpected(mode, range)]);
      const learns = mode !== "frozen" && range !== "pre-execute";
      expect([which, view.improved?.promotions.length ?? 0]).toEqual([which, learns ? 1 : 0]);
      expect([which, view.candidate?.changes.length ?? 0]).toEqual([
        which,
        learns && mode === "candidate" ? 1 : 0,
      ]);
      if (learns && mode === "train") expect(existsSync(join(state, "strategies/chores/echo.md"))).toBe(true);
      else if (before !== null) expect([which, digestState(state)]).toEqual([which, before]);
      else expect(readdirSync(state).sort()).toEqual([".git", "policy.json", "runs"]);
      before = digestState(state);
    }
  }

  /** Somebody else did the work. */
  function writeSummary(work: string) {
    const summary = { stepsCompleted: ["s1"], stepsFailed: [], decisions: ["continue"], elapsedMs: 1 };
    mkdirSync(join(work, ".execute"), { recursive: true });
    const text = JSON.stringify({ ...summary, returnReason: "all-steps-completed" });
    writeFileSync(join(work, ".execute/summary.json"), text);
  }
});

describe("The learning loop in Claude Code", () => {
  test("is driven by its skill, with subagents of its own", async () => {
    const bin = tempFolder();
    writeFileSync(join(bin, "knack"), `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`, {
      mode: 0o755,
    });
    const { shell, write } = acts.claude;
    const played = await playClaude({
      script: (project) => {
        const work = join(project, "../work");
        const begin = `knack loop start --goal "Write done.txt" --harness client --tier light --repo none --work ${work}`;
        const next = `knack loop next --json > ${work}/next.json && knack loop next`;
        const readNext = (news: string) =>
          /Run (\w+):.*?(\S+) \((?:[a-z-]+)\) leaves/s.exec(news.replaceAll("\\n", "\n"));
        let [run, worker] = ["", ""];
        const dispatch: Turn = (news) => {
          [, run = "", worker = ""] = readNext(news) ?? [];
          const prompt = `TASK: read ${work}/next.json and do the work of ${worker}.`;
          return [
            { tool: "Agent", input: { description: "one worker", prompt, subagent_type: "general-purpose" } },
          ];
        };
        const submit: Turn = () => [shell(`knack loop submit ${run} ${worker} --summary "written"`)];
        const round = [[shell(next)], dispatch, submit];
        const artifacts = listArtifacts(true);
        const report = { stepId: "s1", status: "success", outputsWritten: ["done.txt"], summary: "echoed" };
        const act: Turn = (news) => {
          const found = artifacts.find(([says]) => news.includes(says));
          if (found) return [write(join(work, found[1]), JSON.stringify(found[2]))];
          const path = /\.execute\/reports\/[\w.-]+\.json/.exec(news)?.[0] ?? "";
          return [
            shell(`echo done > ${work}/workspace/done.txt`),
            write(join(work, path), JSON.stringify(report)),
          ];
        };
        const worker1 = {
          says: "TASK: read",
          turns: [[shell(`cat ${work}/next.json`)], act, [{ text: "written" }]],
        };
        return {
          turns: [
            [shell(begin)],
            ...round,
            ...round,
            ...round,
            [shell("knack loop show")],
            [{ text: "That is all." }],
          ],
          branches: [worker1],
        };
      },
      prompts: ["/knack:goal-loop Write done.txt"],
      args: ["--plugin-dir", join(root, "plugin")],
      path: [bin, dirname(process.execPath), process.env.PATH ?? ""].join(delimiter),
    });
    onTestFinished(() => played.dispose());
    const asked = JSON.stringify(played.requests[0]?.body ?? played.requests[1]?.body);
    expect(asked.includes("You hand its tasks to subagents and tell it when they are done.")).toBe(true);
    const work = join(played.home, "work");
    expect(artifacts.filter((file) => !existsSync(join(work, file)))).toEqual([]);
    expect(readFileSync(join(work, "workspace/done.txt"), "utf8")).toBe("done\n");
    expect(played.subagents).toHaveLength(3);
    const shown = await knack(["loop", "show", "--json"], { home: played.home, cwd: played.project });
    expect(JSON.parse(shown.stdout)).toMatchObject({ harness: "client", success_criteria_met: "yes" });
  });
});
