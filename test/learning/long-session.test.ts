import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKnack } from "../../src/open.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { claudeLines } from "../helpers/claude.ts";
import { seeded } from "../helpers/history.ts";

const clock = { now: () => Date.UTC(2026, 10, 20) };
const { user, says, runs, calls, result } = claudeLines();

/** A turn of eight events, in which every fifth time something fails and is put right, each time something else. */
function turn(n: number): object[] {
  const id = (letter: string) => `toolu_${n}${letter}`;
  const name = `pkg-${n}`;
  const file = `/home/dev/harbor-api/src/part-${n}.ts`;
  const failed = n % 5 === 0;
  return [
    user(n % 7 === 3 ? `no, don't use lodash in part ${n}, use the store` : `Please see to part ${n}.`),
    says(`I look at part ${n}.`),
    calls(id("a"), "Read", { file_path: file }),
    result(id("a"), `const part = ${n};`),
    runs(id("b"), `node tools/${name}.mjs`),
    failed
      ? result(id("b"), `Exit code 1\nError: Cannot find module '${name}'`, { error: true })
      : result(id("b"), "done"),
    runs(id("c"), failed ? `npm install ${name}` : `git add src/part-${n}.ts`),
    result(id("c"), "added 1 package"),
    runs(id("d"), failed ? `node tools/${name}.mjs` : `git commit -m "part ${n}"`),
    result(id("d"), "ok"),
    says(`Part ${n} works.`),
    user("thanks"),
  ];
}

const toText = (records: readonly object[]) => records.map((one) => `${JSON.stringify(one)}\n`).join("");

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "knack-long-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "sessions"));
  return folder;
}

async function learn(home: string, file: string) {
  const knack = await openKnack({ env: { HOME: home, KNACK_HOME: home }, clock });
  const { leads, looked } = await knack.learn([file]);
  await knack.close();
  return { leads, looked };
}

/** Learns from a file, and answers with everything that is known then and does not tell how often it was looked at. */
async function learnAll(home: string, file: string) {
  const { looked, leads } = await learn(home, file);
  const knack = await openKnack({ env: { HOME: home, KNACK_HOME: home }, clock });
  const lessons = await knack.lessons();
  const drift = await knack.rebuild();
  await knack.close();
  const store = await openSqlite({ path: join(home, "knack.db"), clock });
  const [session] = await store.sessions.list();
  const findings = await store.learning.findings.ofSessions([session?.id ?? ""]);
  const learned = (await store.learning.learned.of([session?.id ?? ""])).map(
    ({ pass: _, mark: _mark, ...row }) => row,
  );
  const uses = await Promise.all(["npm", "node", "git"].map((head) => store.learning.uses.of(head, null)));
  await store.close();
  const byText = (a: string, b: string) => (a < b ? -1 : 1);
  return {
    looked,
    drift,
    known: {
      findings: findings
        .map(({ id, lessonId, at, finding }) => ({ id, lessonId, at, finding }))
        .sort((a, b) => byText(a.id, b.id)),
      ...{ leads, lessons, learned },
      uses: uses.map((some) => some.map((use) => JSON.stringify(use)).sort(byText)),
    },
  };
}

test("a long session teaches the same whether it is read at once or as it grows, also where a result comes late", async () => {
  const folder = aFolder();
  const file = join(folder, "sessions/long.jsonl");
  const [grown, whole] = [join(folder, "grown"), join(folder, "whole")];
  const random = seeded(3);
  // The result of a call in the first part comes when the second is over.
  const late = runs("toolu_late", "make release");
  const records = Array.from({ length: 620 }, (_, n) => turn(n));
  records[20]?.push(late);
  records[560]?.push(
    result("toolu_late", "Exit code 2\nmake: *** No rule to make target 'release'", { error: true }),
  );
  const text = toText(records.flat());
  writeFileSync(file, "");
  const looks: number[] = [];
  for (let at = 0; at < text.length; ) {
    // Somewhere in a line, as an agent that is still writing leaves it.
    const next = Math.min(text.length, at + Math.floor(random() * 500_000) + 1_000);
    appendFileSync(file, text.slice(at, next));
    at = next;
    looks.push((await learn(grown, file)).looked);
  }
  const [asItGrew, atOnce] = [await learnAll(grown, file), await learnAll(whole, file)];
  expect(asItGrew.drift).toEqual([]);
  expect(asItGrew.known).toEqual(atOnce.known);
  expect(atOnce.known.learned.map(({ part }) => part)).toEqual([0, 1, 2]);
  expect(atOnce.known.findings.length).toBeGreaterThan(2);
  expect(atOnce.known.leads.length).toBeGreaterThan(10);
  // Parts that are over are not looked at again, but for the one with the late result.
  expect(looks.every((looked) => looked <= 3)).toBe(true);
  expect(looks.filter((looked) => looked === 1).length).toBeGreaterThan(looks.length / 2);
  expect(asItGrew.looked).toBe(0);
}, 120_000);

test("a long session that is rewritten and shorter leaves nothing behind of what it was", async () => {
  const folder = aFolder();
  const file = join(folder, "sessions/long.jsonl");
  const [home, other] = [join(folder, "home"), join(folder, "other")];
  writeFileSync(file, toText(Array.from({ length: 300 }, (_, n) => turn(n)).flat()));
  const before = await learnAll(home, file);
  writeFileSync(file, toText(Array.from({ length: 40 }, (_, n) => turn(1_000 + n)).flat()));
  const [after, fresh] = [await learnAll(home, file), await learnAll(other, file)];
  expect(before.known.learned).toHaveLength(2);
  expect(after.drift).toEqual([]);
  expect(after.known.findings).toEqual(fresh.known.findings);
  expect(after.known.leads).toEqual(fresh.known.leads);
  expect(after.known.uses).toEqual(fresh.known.uses);
}, 120_000);
