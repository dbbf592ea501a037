import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { quiet } from "../helpers/hook.ts";
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
      ],
      branches: [
        {
          says: "Once more",
          turns: [
            // The worker looks at the first session meanwhile, and then knows the fix.
            runs(
              "for n in $(seq 600); do grep -qs HARBOR_DB=local ../.knack/snapshot/knack.table && break; sleep 0.1; done",
            ),
            ...["ls", "pwd", "head -3 check.sh", "wc -l check.sh", "ls -a"].map(runs),
            runs("sh check.sh"),
            runs("HARBOR_DB=local sh check.sh"),
            [{ text: "It passes." }],
          ],
        },
      ],
    },
    apart: true,
    prompts: ["Make the check pass", "Once more"],
    setup: async (project) => {
      mkdirSync(join(project, ".git"), { recursive: true });
      const check =
        'if [ -z "$HARBOR_DB" ]; then echo "error: HARBOR_DB is not set" >&2; exit 1; fi\necho fine\n';
      writeFileSync(join(project, "check.sh"), check);
      installed(dirname(project));
    },
  });
  onTestFinished(() => played.dispose());
  const { home } = played;
  const checks = await settled(home);
  expect(Object.values(checks).filter(({ ok }) => !ok)).toEqual([]);
  expect(checks.fired?.says).toMatch(/^last just now/);
  expect(checks.captured?.says).toBe("2 of 2 transcripts read");
  expect(checks.learned?.says).toBe("all 2 sessions that were read are searched for lessons");
  // At the failure, and at the start if the worker was done with the first session by then.
  expect(checks.injected?.says).toMatch(
    /^(?:1 of the last 1 text|2 of the last 2 texts) shown were found in their transcripts$/,
  );
  const { week } = JSON.parse((await knack(["status", "--json"], { home })).stdout);
  expect(week).toMatchObject({
    learned: { lessons: 1 },
    used: { at: { failure: 1 }, followed: 1 },
    saved: { failures: 1, calls: 1 },
  });
});

type Checks = Record<string, { readonly ok: boolean; readonly says: string }>;

/** What the doctor says when the last worker has ended. */
async function settled(home: string): Promise<Checks> {
  await quiet(home);
  const { checks } = JSON.parse((await knack(["doctor", "--json"], { home })).stdout) as {
    checks: ({ name: string } & Checks[string])[];
  };
  return Object.fromEntries(checks.map((one) => [one.name, one]));
}
