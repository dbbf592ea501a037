import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { failIn, fails, fire, leave, teaching, works } from "../helpers/hooked.ts";
import { failed, type Lived, minute, ran, replied, type Step } from "../helpers/lived.ts";
import { tempFolder } from "../helpers/temp.ts";

/** A session in which the check fails, and what comes after that in a minute. */
function metAgain(name: string, after: readonly Step[]): Lived {
  const steps = [...Array.from({ length: 10 }, (_, n) => replied(`Part ${n}.`)), fails, ...after];
  return { name, at: Date.now() - 10 * minute - 30_000, steps };
}

async function statusOf(home: string) {
  const { stdout } = await knackHere(["status", "--json"], { home });
  return JSON.parse(stdout);
}

describe("knack status", () => {
  test("says what a week's tellings came to", async () => {
    const home = tempFolder();
    leave(home, { name: "taught", at: Date.now() - 2 * 86_400_000, steps: teaching });
    const begin = (session: string) =>
      fire(home, { session, transcript: join(home, `${session}.jsonl`) }, "SessionStart", {
        source: "startup",
      });
    begin("before");
    await knackHere(["learn"], { home });
    const sessions = [
      metAgain("at-once", [works]),
      metAgain("later", [failed("cat notes.txt", "cat: notes.txt: No such file or directory"), works]),
      metAgain("otherwise", [ran("true")]),
    ].map((lived) => leave(home, lived));
    for (const one of sessions) expect(failIn(home, one)).toContain("HARBOR_DB=local sh check.sh");
    expect(begin("news")).toContain("Learned here since");
    expect((await knackHere(["work"], { home })).code).toBe(0);
    await knackHere(["learn"], { home });
    const { week, learned_at: learnedAt, suggestions } = await statusOf(home);
    expect(learnedAt).not.toBe(null);
    expect(suggestions).toBe(1);
    expect(week).toMatchObject({
      learned: { lessons: 1, newest: [expect.stringContaining("harbor-db")] },
      used: { times: 4, at: { start: 1, prompt: 0, failure: 3 }, sessions: 4, followable: 3, followed: 2 },
      saved: { failures: 3, calls: 1 },
      cost: { model: 0, asked: 0 },
    });
    expect(week.cost.characters).toBeGreaterThan(100);
    expect(week.cost.tokens).toBe(Math.ceil(week.cost.characters / 4));
    // The report counts the same tellings, the one at the start among them.
    const report = JSON.parse((await knackHere(["report", "--since", "7d", "--json"], { home })).stdout);
    expect(report.items).toHaveLength(1);
    expect(report.items[0]).toMatchObject({ shown: 4, answered: 3, saved: week.saved.calls });
    expect(report.items[0].characters).toBe(week.cost.characters);
    const { stdout } = await knackHere(["status"], { home });
    expect(stdout).toMatch(
      /used +shown 4 times in 4 sessions: 1 at the start, 3 at a failure\n +followed and worked: 2 of 3/,
    );
    expect(stdout).toMatch(/saved +1 call: the fix was shown at 3 failures/);
    expect(stdout).toMatch(/waiting +1 lesson to decide/);
    expect(stdout).toMatch(/look at all of it in the browser: .*knack open/);
  });

  test("prints one object with --json", async () => {
    const { week, reviews, judge, ...rest } = await statusOf(tempFolder());
    const keys = (value: object) => Object.keys(value).sort().join(" ");
    expect(keys(rest)).toBe(
      "agents broken chronic commands contradictions drafts home learned_at lessons newer next off projects proposals rules sessions skills suggested suggestions unjudged unvouched",
    );
    expect(keys(week)).toBe("cost learned saved since used");
    expect(keys(week.used)).toBe(
      "at followable followed guided harmful helpful loaded offered sessions skills times",
    );
    expect(judge).toMatchObject({ judge: "off", is_on: false });
    expect(reviews).toMatchObject({ mode: "off" });
  });

  test("is one screen, however much is off or broken", async () => {
    const home = tempFolder();
    for (let n = 0; n < 12; n++) {
      const cwd = join(home, `work/p${n}`);
      mkdirSync(join(cwd, ".git"), { recursive: true });
      mkdirSync(join(cwd, ".knack"));
      writeFileSync(join(cwd, ".knack/config.json"), n < 6 ? "{" : '{"learn": false}');
      leave(home, { name: `s${n}`, cwd, at: Date.now() - 86_400_000, steps: teaching });
    }
    await knackHere(["learn"], { home });
    const { code, stdout } = await knackHere(["status"], { home });
    expect(code).toBe(1);
    expect(stdout).toMatch(/off +and 3 more/);
    expect(stdout).toMatch(/broken +and 3 more/);
    expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(24);
    const told = await statusOf(home);
    expect([told.off.length, told.broken.length]).toEqual([6, 6]);
  });

  test("says that learning has stopped, and sends to the doctor", async () => {
    const home = tempFolder();
    leave(home, { name: "taught", at: Date.now() - 86_400_000, steps: teaching });
    await knackHere(["learn"], { home });
    mkdirSync(join(home, ".knack/log"), { recursive: true });
    const state = { doneAt: null, failures: 3, error: "no space left on device", failedAt: Date.now() };
    writeFileSync(join(home, ".knack/log/worker.json"), JSON.stringify(state));
    const { code, stdout } = await knackHere(["status"], { home });
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /broken +learning has stopped: the worker failed 3 times \(no space left on device\)/,
    );
    expect(stdout).toMatch(/next +knack doctor/);
  });

  test("is the same within an agent", async () => {
    const home = tempFolder();
    leave(home, { name: "taught", at: Date.now() - 86_400_000, steps: teaching });
    await knackHere(["learn"], { home });
    const own = await knackHere(["status"], { home });
    expect(await knackHere(["slash", "status"], { home })).toEqual(own);
    expect(own.stdout).toMatch(/learned +1 lesson: /);
  });
});
