import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { installed } from "../helpers/installed.ts";
import { knack } from "../helpers/knack.ts";
import type { Turn } from "./model-server.ts";
import { playClaude } from "./play.ts";

const runs = (command: string): Turn => [{ tool: "Bash", input: { command } }];

test("the doctor finds every link of a chain that Claude Code really went through", async () => {
  const played = await playClaude({
    script: {
      turns: [
        runs("ls"),
        runs("pwd"),
        runs("head -3 check.sh"),
        runs("wc -l check.sh"),
        runs("cat check.sh"),
        runs("sh check.sh"),
        runs("HARBOR_DB=local sh check.sh"),
        runs("git status --short || true"),
        runs("ls -a"),
        [{ text: "The check passes with HARBOR_DB=local." }],
        // The worker looks at the first turn meanwhile.
        runs("sleep 4"),
        runs("sh check.sh"),
        runs("HARBOR_DB=local sh check.sh"),
        [{ text: "It passes." }],
      ],
    },
    prompts: ["Make the check pass", "Once more"],
    setup: async (project) => {
      mkdirSync(join(project, ".git"), { recursive: true });
      const check = 'if [ -z "$HARBOR_DB" ]; then echo "error: HARBOR_DB is not set" >&2; exit 1; fi\necho fine\n';
      writeFileSync(join(project, "check.sh"), check);
      installed(dirname(project));
    },
  });
  onTestFinished(() => played.dispose());
  const { home } = played;
  // The last worker may still be at it.
  for (let tries = 0; tries < 50; tries++) {
    const worker = JSON.parse((await knack(["doctor", "--json"], { home })).stdout).checks.at(-2);
    if (worker.says.includes("none runs")) break;
    await pause(100);
  }
  const { code, stdout } = await knack(["doctor"], { home });
  console.log(stdout);
  console.log((await knack(["status"], { home })).stdout);
  const { readFileSync } = await import("node:fs");
  for (const t of played.transcripts) console.log(readFileSync(t, "utf8").split("\n").filter((l) => l.includes("Knack")).map((l) => l.slice(0, 1500)).join("\n"));
  expect(code).toBe(0);
}, 120_000);
