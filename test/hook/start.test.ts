import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import {
  aHome,
  aLesson,
  contextOf,
  type Home,
  hook,
  noPython,
  notesAt,
  payloads,
  said,
  teach,
  withKnack,
} from "../helpers/hook.ts";
import { day, hour, minute } from "../helpers/lived.ts";

/** Lessons about different things, each taught by so many sessions. */
const lessons = (count: number, words = "") =>
  Array.from({ length: count }, (_, n) =>
    aLesson({
      name: `lesson-${n}`,
      lesson: `The harbor${n} needs berth${n} before tide${n} comes in. ${words}`,
      trigger: `harbor${n} tide${n} rises`,
      action: `open berth${n}`,
      symptom: null,
      call: null,
      remedy: null,
    }),
  );

/** The person says yes to everything. */
function acceptAll(home: Home): Promise<unknown> {
  return withKnack(home, async (opened) => {
    for (const { id } of await opened.lessons()) await opened.decide(id, "accepted");
    await opened.renewSnapshot();
  });
}

/** As if a session had begun in the project so long ago. */
function begunBefore({ knackHome }: Home, ms: number): void {
  const folder = join(knackHome, "seen/projects");
  const at = (Date.now() - ms) / 1_000;
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), at, at);
}

describe("the start of a session", () => {
  test("says nothing where nothing is known", async () => {
    const home = aHome();
    expect(said(await hook(payloads(home).start(), home))).toBeNull();
    await teach(home, []);
    expect(said(await hook(payloads(home, "b").start(), home))).toBeNull();
    expect(notesAt(home.knackHome)).toMatchObject([{ event: "SessionStart" }, { event: "SessionStart" }]);
  });

  test("tells at first what holds, and later what was learned since", async () => {
    const home = aHome();
    await teach(home, lessons(1), 4);
    const first = await hook(payloads(home, "a").start(), home);
    expect(contextOf(first)).toBe("");
    expect(said(first)?.systemMessage).toContain("The harbor0 needs berth0 before tide0 comes in. Keep it?");
    await acceptAll(home);
    expect(said(await hook(payloads(home, "c").start(), home))?.systemMessage ?? "").not.toContain(
      "Keep it?",
    );
    begunBefore(home, 3 * day);
    const again = await hook(payloads(home, "b").start(), home);
    expect(said(again)?.systemMessage).toMatch(/^Knack learned here since \d+ \w+: lesson-0$/);
    expect(contextOf(again)).toContain("berth0");
    // Told to the agent of that session already.
    expect(contextOf(await hook(payloads(home, "b").start("resume"), home))).toBe("");
  });

  it.each([1, 4])(
    "tells the person what %i sessions taught, and the agent only after their yes",
    async (sessions) => {
      const home = aHome();
      await teach(home, lessons(1), sessions);
      expect(contextOf(await hook(payloads(home, "a").start(), home))).toBe("");
      begunBefore(home, 3 * day);
      const later = await hook(payloads(home, "b").start(), home);
      expect(said(later)?.systemMessage).toMatch(/^Knack learned here since \d+ \w+: lesson-0/);
      expect(contextOf(later)).toBe("");
    },
  );

  test("names a fix that is new, which is told in full at its failure", async () => {
    const home = aHome();
    await hook(payloads(home, "a").start(), home);
    begunBefore(home, 3 * day);
    await teach(home, [aLesson()], 1);
    const context = contextOf(await hook(payloads(home, "b").start(), home));
    expect(context).toMatch(/Learned here since \d+ \w+:\n- python[^:\n]*: use python3$/);
    const failing = contextOf(
      await hook(payloads(home, "b").failure("python manage.py migrate", noPython), home),
    );
    expect(failing).toContain("what worked: use python3");
  });

  test("tells no more than fits", async () => {
    const home = aHome();
    await teach(home, lessons(30, "word ".repeat(60)), 4);
    await acceptAll(home);
    const context = contextOf(await hook(payloads(home).start(), home));
    expect(context).toContain("berth");
    expect(context.length).toBeLessThanOrEqual(2_000);
    expect(context.split("\n- ").length - 1).toBeLessThanOrEqual(8);
    const shown = notesAt(home.knackHome).filter(({ type }) => type === "shown");
    expect(shown).toHaveLength(context.split("\n- ").length - 1);
  });

  it.each<[string, { failures: number; doneAt?: number }, boolean]>([
    ["three failures in a row", { failures: 3 }, true],
    ["two failures", { failures: 2 }, false],
    ["none", { failures: 0 }, false],
  ])("is loud about a worker after %s: %j", async (_, state, loud) => {
    const home = aHome();
    mkdirSync(join(home.knackHome, "log"), { recursive: true });
    const known = { doneAt: null, error: "it broke", failedAt: 1, ...state };
    writeFileSync(join(home.knackHome, "log/worker.json"), JSON.stringify(known));
    const told = said(await hook(payloads(home).start(), home))?.systemMessage ?? "";
    expect(
      told.includes("Knack has stopped learning: its worker failed 3 times (it broke). Run `knack doctor`"),
    ).toBe(loud);
  });

  const left = (event: string, ago: number) => ({ event, ago });
  it.each<[string, { event: string; ago: number }[], number | null, boolean]>([
    [
      "turns of hours ago that nobody looked at",
      [left("Stop", 5 * hour), left("Stop", 2 * hour)],
      null,
      true,
    ],
    [
      "the same, though a worker was through before",
      [left("Stop", 5 * hour), left("Stop", 2 * hour)],
      6 * hour,
      true,
    ],
    ["turns that a worker has seen since", [left("Stop", 5 * hour), left("Stop", 2 * hour)], 3 * hour, false],
    ["turns of the same hour", [left("Stop", 50 * minute), left("SessionEnd", 2 * minute)], null, false],
    ["one turn alone, for which a worker may have been killed", [left("Stop", 5 * hour)], null, false],
    [
      "sessions in which nothing was asked yet",
      [left("SessionStart", 9 * hour), left("SessionStart", 2 * hour)],
      null,
      false,
    ],
  ])("is loud or not about %s", async (_, places, doneAgo, loud) => {
    const home = aHome();
    const spool = join(home.knackHome, "spool");
    mkdirSync(spool, { recursive: true });
    for (const [n, { event, ago }] of places.entries()) {
      const at = Date.now() - ago;
      const note = { type: "place", session: `s${n}`, transcript: "/t", cwd: null, event, at };
      writeFileSync(join(spool, `place-s${n}.json`), JSON.stringify(note));
      utimesSync(join(spool, `place-s${n}.json`), at / 1_000, at / 1_000);
    }
    if (doneAgo !== null) {
      mkdirSync(join(home.knackHome, "log"), { recursive: true });
      const state = { doneAt: Date.now() - doneAgo, failures: 0, error: null, failedAt: null };
      writeFileSync(join(home.knackHome, "log/worker.json"), JSON.stringify(state));
    }
    const told = said(await hook(payloads(home).start(), home))?.systemMessage ?? "";
    expect(/your sessions have not been read since \d+ \w+\. Run `knack doctor`/.test(told)).toBe(loud);
    // What it was told to note it has noted all the same.
    expect(notesAt(home.knackHome)).toHaveLength(places.length + 1);
  });
});
