import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { knackHere } from "../helpers/here.ts";
import { seeded } from "../helpers/history.ts";
import { failIn, fails, leave, teaching, works } from "../helpers/hooked.ts";
import { asked, minute, replied } from "../helpers/lived.ts";
import { matched, measured } from "../helpers/measured.ts";
import { tempFolder } from "../helpers/temp.ts";

/** A home whose ledger has these entries. */
async function homeWith(entries: readonly LedgerEntry[]): Promise<string> {
  const home = tempFolder();
  mkdirSync(join(home, ".knack"), { recursive: true });
  const store = await openSqlite({ path: join(home, ".knack/knack.db"), clock: { now: Date.now } });
  await store.transaction((tx) => recordEntries(tx, entries));
  await store.close();
  return home;
}

/** A home in which a lesson was learned, told at its failure in another session, and worked. */
async function homeThatLearned(): Promise<{ home: string; session: string }> {
  const home = tempFolder();
  leave(home, { name: "taught", at: Date.now() - 2 * 86_400_000, steps: teaching });
  await knackHere(["learn"], { home });
  const padding = Array.from({ length: 9 }, (_, n) => replied(`Part ${n}.`));
  const again = leave(home, {
    name: "again",
    at: Date.now() - 10 * minute - 30_000,
    steps: [asked("Check it once more"), ...padding, fails, works],
  });
  expect(failIn(home, again)).toContain("HARBOR_DB=local sh check.sh");
  expect((await knackHere(["work"], { home })).code).toBe(0);
  await knackHere(["learn"], { home });
  return { home, session: again.session };
}

describe("knack report", () => {
  test("on a fresh machine says what to do first", async () => {
    const { code, stdout } = await knackHere(["report"], { home: tempFolder() });
    expect(code).toBe(0);
    expect(stdout).toMatch(/Nothing to report yet.*\nFirst: knack learn/);
  });

  test("counts what was shown and what came of it, and says what is not known", async () => {
    const { home } = await homeThatLearned();
    const { stdout } = await knackHere(["report"], { home });
    expect(stdout).toMatch(/^2 sessions in which a person spoke, since \d{4}-\d\d-\d\d\./);
    expect(stdout).toMatch(/Nothing is held back, so nothing is proved\.\n.*config set recall\.holdout 0\.1/);
    expect(stdout).toMatch(
      /known failure happened again +after - +before 0% +too few samples: none on one side, about \d+ are needed on each/,
    );
    expect(stdout).toMatch(/Not an experiment/);
    expect(stdout).toMatch(/\S*harbor-db\S* +1 +0 +1 +1 +0 +0 +\d+ +1 +1\n/);
    const json = JSON.parse((await knackHere(["report", "--json"], { home })).stdout);
    expect(json).toMatchObject({
      since: null,
      sessions: 2,
      calls_per_prompt: 50,
      items: [
        { kind: "lesson", shown: 1, used: 1, helpful: 1, harmful: 0, unrated: 0, answered: 1, saved: 1 },
      ],
    });
    const { name } = json.items[0];
    const one = await knackHere(["report", name], { home });
    expect(one.stdout).toMatch(
      /shown at a failure in 1 session; in 1 it came next and worked: 1 failure avoided/,
    );
    expect(
      JSON.parse((await knackHere(["report", "--since", "1h", "--json"], { home })).stdout).sessions,
    ).toBe(1);
  });

  test("says what holding back proves, with its bounds", async () => {
    const random = seeded(9);
    const start = Date.UTC(2026, 0, 5);
    const home = await homeWith([
      measured({ run: "first", at: start - 86_400_000, failures: ["f1"] }),
      ...Array.from({ length: 300 }, (_, n): LedgerEntry[] => {
        const [run, at, shown] = [`s${n}`, start + n * 3_600_000, random() >= 0.3];
        const failures = random() < (shown ? 0.1 : 0.6) ? ["f1"] : [];
        return [matched(run, at + 1_000, shown), measured({ run, at, failures })];
      }).flat(),
    ]);
    writeFileSync(join(home, ".knack/config.json"), JSON.stringify({ "recall.holdout": 0.3 }));
    const { stdout } = await knackHere(["report"], { home });
    expect(stdout).toMatch(/\d+ sessions shown, \d+ held back\n/);
    expect(stdout).toMatch(
      /known failure happened again +shown \d+(\.\d)?% +held back \d+% +fewer: −\d+ to −\d+(\.\d)? points/,
    );
    expect(stdout).toMatch(
      /calls per prompt +shown 4\.0 +held back 4\.0 +no difference larger than \d+\.\d calls/,
    );
    expect(stdout).toMatch(/Holding back is at 30%\./);
    const one = await knackHere(["report", "notes"], { home });
    expect(one.stdout).toMatch(/Shown against held back\n/);
  });

  test("refuses what it does not know", async () => {
    const home = await homeWith([]);
    expect((await knackHere(["report", "nothing"], { home })).code).toBe(2);
    expect((await knackHere(["report", "a", "b"], { home })).code).toBe(2);
    expect((await knackHere(["report", "--since", "soon"], { home })).code).toBe(2);
  });
});

describe("knack rate", () => {
  test("notes a person's word on a lesson, for the session that it was told in", async () => {
    const { home, session } = await homeThatLearned();
    const [item] = JSON.parse((await knackHere(["report", "--json"], { home })).stdout).items;
    const before = JSON.parse((await knackHere(["lessons", "--json"], { home })).stdout).lessons[0]
      .confidence;
    const dry = await knackHere(["rate", item.name, "harmful", "--dry-run"], { home });
    expect(dry.stdout).toMatch(/^Would rate \S+ harmful in session/);
    const said = await knackHere(["rate", item.name, "harmful", "--because", "wrong database"], { home });
    expect(said.code).toBe(0);
    expect(said.stdout).toBe(
      `Rated ${item.name} harmful in session ${session}.\nAll ratings and uses: knack report ${item.name}\nSo that no agent is told it: knack lessons reject ${item.name}\n`,
    );
    const [after] = JSON.parse((await knackHere(["report", "--json"], { home })).stdout).items;
    expect(after).toMatchObject({ helpful: 0, harmful: 1, unrated: 0, saved: 0 });
    const less = JSON.parse((await knackHere(["lessons", "--json"], { home })).stdout).lessons[0].confidence;
    expect(less).toBeLessThan(before);
    const named = await knackHere(
      ["rate", item.name, "helpful", "--session", session.slice(0, 8), "--json"],
      {
        home,
      },
    );
    expect(JSON.parse(named.stdout)).toMatchObject({
      kind: "lesson",
      verdict: "helpful",
      session,
      noted: true,
    });
    expect((await knackHere(["doctor"], { home })).stdout).not.toMatch(/drift/i);
  });

  test("knows the skills of the library by name", async () => {
    const home = tempFolder();
    const file = join(home, ".claude/skills/release-notes/SKILL.md");
    mkdirSync(join(home, ".claude/skills/release-notes"), { recursive: true });
    writeFileSync(file, "---\nname: release-notes\ndescription: Writes release notes.\n---\n\nWrite.\n");
    leave(home, { name: "taught", at: Date.now() - 86_400_000, steps: teaching });
    await knackHere(["learn"], { home });
    const { stdout } = await knackHere(["rate", "release-notes", "helpful"], { home });
    expect(stdout).toMatch(/^Rated release-notes helpful\./);
    expect((await knackHere(["report"], { home })).stdout).toMatch(/release-notes +0 +0 +0 +1 +0 +0/);
  });

  test("says how it is used", async () => {
    const home = await homeWith([]);
    for (const words of [[], ["x"], ["x", "good"], ["x", "helpful", "y"]])
      expect((await knackHere(["rate", ...words], { home })).code).toBe(2);
    expect((await knackHere(["rate", "nothing", "helpful"], { home })).stderr).toMatch(
      /Nothing is called "nothing"/,
    );
    expect((await knackHere(["rate", "nothing", "helpful", "--session", "none"], { home })).code).toBe(2);
  });
});
