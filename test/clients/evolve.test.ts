import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { grownHome } from "../helpers/grown.ts";
import { jsonLines } from "../helpers/knack.ts";
import { live, says } from "./living.ts";
import type { RecordedRequest, Script } from "./model-server.ts";

const agent = "rl-pod-restarts";

const script: Script = {
  turns: [[says("Done.")]],
  branches: [
    { says: "Look at the pod for me", turns: [[says("It is the memory.")]] },
    {
      says: "Why does it restart",
      turns: [
        [
          {
            tool: "Agent",
            input: { subagent_type: agent, description: "pod", prompt: "Look at the pod for me" },
          },
        ],
        [says("It was the memory.")],
      ],
    },
  ],
};

interface Init {
  readonly subtype?: string;
  readonly slash_commands?: readonly string[];
  readonly agents?: readonly string[];
  readonly skills?: readonly string[];
}

describe("what lessons grew into, in Claude Code", () => {
  test("loads: the command is called with what is given, the agent is handed work, the skill is there", async () => {
    const setup = async (project: string) => void mkdirSync(join(project, ".git/info"), { recursive: true });
    const { stage, prompt, run } = await live({ script, setup });
    await grownHome(stage.home, stage.project);
    const { code, stdout } = await run("evolve", "--generate", "--where", "repository", "--yes", "--json");
    expect(code).toBe(0);
    const { skills } = JSON.parse(stdout).generated;
    expect(skills.map(({ kind, name }: Record<string, string>) => `${kind} ${name}`).sort()).toEqual([
      `agent ${agent}`,
      "command rl-cut-release",
      "skill rl-npm-install",
    ]);

    const called = await prompt("/rl-cut-release 2.4");
    const init = jsonLines<Init>(called.stdout).find(({ subtype }) => subtype === "init");
    expect(init?.slash_commands).toContain("rl-cut-release");
    expect(init?.agents).toContain(agent);
    expect(init?.skills).toContain("rl-npm-install");
    const sent = called.sent.join();
    expect(sent).toContain("bump the version with npm version.");
    expect(sent).toContain("What is given with it: 2.4");

    const from = stage.server.requests.length;
    await prompt("Why does it restart");
    const systems = (stage.server.requests as RecordedRequest[])
      .slice(from)
      .map(({ body }) => JSON.stringify((body as { system?: unknown } | undefined)?.system ?? ""));
    expect(
      systems.filter((system) => system.includes("You are asked to find out what is the case")),
    ).not.toEqual([]);
    expect(systems.join()).toContain("compare the metrics with the health checks.");
  });
});
