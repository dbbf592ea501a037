import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { installClients } from "../clients/install.mjs";
import { settled } from "../clients/living.ts";
import type { Step } from "../clients/model-server.ts";
import { dressCodex, runClient, setStage } from "../clients/play.ts";
import { knack } from "../helpers/knack.ts";
import { hasOpenCode, opencode } from "./opencode.ts";

const says = (text: string): Step => ({ text });
const inCodex = (command: string): Step => ({ tool: "exec_command", input: { cmd: command } });

describe("one library for all agents", () => {
  test.runIf(hasOpenCode)("tells OpenCode at a failure what worked in Codex", async () => {
    const stage = await setStage({
      projectName: "harbör docks",
      setup: async (project) => {
        mkdirSync(join(project, ".git"));
        writeFileSync(join(project, ".git", "HEAD"), "ref: refs/heads/main\n");
        const scripts = { verify: "node -e 0" };
        writeFileSync(join(project, "package.json"), JSON.stringify({ name: "harbor", scripts }));
      },
      script: {
        turns: [[says("Nothing is scripted for that.")]],
        branches: [
          {
            says: "See that the harbor is in order",
            turns: [
              [inCodex("npm run verfy")],
              [inCodex("cat package.json")],
              [inCodex("npm run verify")],
              [says("All is in order.")],
            ],
          },
          {
            says: "Is everything fine in the docks?",
            turns: [[opencode.shell("npm run verfy")], [says("I see.")]],
          },
        ],
      },
    });
    onTestFinished(() => stage.dispose());
    const { home, project: cwd, server } = stage;
    const env = { ...(await dressCodex(stage, false)), ...(await opencode.dress(stage)) };
    for (const agent of ["codex", "opencode"])
      expect((await knack(["install", agent], { home, cwd, env })).code, agent).toBe(0);

    const flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
    const { codex } = await installClients();
    const words = [
      codex,
      "exec",
      ...flags,
      "--dangerously-bypass-hook-trust",
      "See that the harbor is in order",
    ];
    const first = await runClient(process.execPath, words, { cwd, env, seconds: 90 });
    expect(first.code, first.stderr).toBe(0);
    await settled(home);

    const from = server.requests.length;
    const [program] = await opencode.program();
    const asked = opencode.answers("Is everything fine in the docks?");
    const second = await runClient(program, asked, { cwd, env, seconds: 90 });
    expect(second.code, second.stderr).toBe(0);
    const sent = server.requests.slice(from).map(({ body }) => JSON.stringify(body));
    expect(sent.join()).toContain("Knack: this failed here");
    expect(sent.join()).toContain("npm run verify");
  });
});
