import { expect, test } from "vitest";
import { describeRunNow } from "../../src/cli/loop/present.ts";
import type { RunView } from "../../src/loop/index.ts";
import { type RunSetup, startRun } from "../../src/loop/machine.ts";
import { planSchema } from "../../src/loop/messages.ts";

test("A run is shown with its phase, its spend, the time left, and who is at which step for how long", () => {
  const goal = { id: "g", description: "do it", kind: null, deadline: 3_600_000, spec: null };
  const setup: RunSetup = {
    ...{
      goal,
      mode: "train",
      range: "full",
      tier: "full",
      startedAt: 0,
      topics: ["goal-parse"],
      gathered: [],
    },
    ...{ topics: ["goal-parse"], gathered: [], givenStrategy: null, earlierLog: "" },
    ...{ stateSha: "s", stateDigest: "d", promptDigest: "p" },
  };
  const view = { begun: { usd: 5 }, state: startRun(setup), usd: 0.02 } as unknown as RunView;
  const [step = null] = planSchema.parse({
    steps: [{ id: "build", kind: "work", description: "d", successSignal: "is it built?" }],
  }).steps;
  const asked = { id: "w", role: "step-worker", phase: "execute", topic: null, step } as const;
  const working = [
    { asked, since: 60_000 },
    { asked: { ...asked, role: "explorer", topic: "world-state", step: null } as const, since: 118_000 },
  ];
  expect(describeRunNow(view, working, 125_000)).toBe(
    "orient · $0.020 of $5.00 · 57 min 55 s left · step-worker build 1 min 5 s, explorer world-state 7 s",
  );
});
