import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Note } from "../../src/spool/spool.ts";
import { seeded } from "../helpers/history.ts";
import { aHome, hook, pause, payloads, processesOf, quiet, said } from "../helpers/hook.ts";
import { day } from "../helpers/lived.ts";
import { dieAt, leave, leftovers, outcome, someWork, work } from "./at-work.ts";

describe("for longer: workers that are killed", () => {
  let shared: string;
  let notes: readonly Note[];
  let undisturbed: ReturnType<typeof outcome>;
  const since = Date.now() - day;
  beforeAll(async () => {
    shared = realpathSync(mkdtempSync(join(tmpdir(), "knack-test-")));
    const alone = { home: shared, project: shared, knackHome: join(shared, ".knack") };
    notes = someWork(alone, 10).notes;
    leave(alone, notes);
    expect((await work(alone)).code).toBe(0);
    undisturbed = outcome(alone, since);
  });
  afterAll(() => rmSync(shared, { recursive: true, force: true }));

  test("at any time end where one alone would", async () => {
    const random = seeded(Number(process.env.KNACK_SEED ?? 3));
    for (let round = 0; round < 25; round++) {
      const home = aHome();
      leave(home, notes);
      // More than two might end a note's chances, which is meant.
      for (let death = 0; death < 2; death++) await work(home, random() * 1_500);
      const last = await work(home);
      expect(last, `round ${round}`).toMatchObject({ code: 0, stderr: "" });
      expect(leftovers(home), `round ${round}`).toEqual([]);
      expect(outcome(home, since), `round ${round}`).toEqual(undisturbed);
      expect(processesOf(home.home)).toEqual([]);
    }
  });

  test("at every file they make end where one alone would", async () => {
    const points = [
      /^worker\.json\.\d+\.new$/,
      /^versions\//,
      /^drafts\/[^/]+\/SKILL\.md$/,
      /^snapshot\/knack\.table$/,
      /^log\/worker\.json\.\d+\.new$/,
    ];
    for (const point of points) {
      const home = aHome();
      leave(home, notes);
      expect(await dieAt(home, point), String(point)).toBe(true);
      expect((await work(home)).code).toBe(0);
      expect(leftovers(home), String(point)).toEqual([]);
      expect(outcome(home, since), String(point)).toEqual(undisturbed);
    }
  });
});

describe("for longer: the hand-over", () => {
  test.each([1, 2, 3])(
    "leaves no note behind, however hooks and workers meet (round %i)",
    async (seed) => {
      const home = aHome();
      const { transcripts } = someWork(home, 5);
      const random = seeded(seed);
      const hooks: Promise<unknown>[] = [];
      for (let n = 0; n < 50; n++) {
        const payload = { ...payloads(home, `work${n}`).stop(), transcript_path: transcripts[n % 5] };
        hooks.push(hook(payload, home).then(said));
        await pause(random() < 0.3 ? 350 + random() * 350 : random() * 60);
      }
      await Promise.all(hooks);
      await quiet(home.home);
      expect(leftovers(home)).toEqual([]);
    },
    120_000,
  );
});
