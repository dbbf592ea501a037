import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test, vi } from "vitest";
import type { Note } from "../../src/spool/spool.ts";
import { dump } from "../helpers/dump.ts";
import { seeded } from "../helpers/history.ts";
import { aHome, hook, pause, payloads, processesOf, quiet, said, withKnack } from "../helpers/hook.ts";
import { day } from "../helpers/lived.ts";
import { sampled } from "../helpers/sampled.ts";
import { dieAt, filesLike, leave, leftovers, outcome, someWork, work, workHere } from "./at-work.ts";

const database = (knackHome: string) => join(knackHome, "knack.db");
const entries = (knackHome: string, type: string) =>
  (dump(database(knackHome)).ledger ?? []).filter((row) => row.includes(`"${type}"`));
const readWorkerState = (knackHome: string) =>
  JSON.parse(readFileSync(join(knackHome, "log/worker.json"), "utf8"));

describe("a worker", () => {
  test("handles every note once, and ends by itself", async () => {
    const home = aHome();
    const { notes } = someWork(home, 4);
    leave(home, notes);
    const first = await work(home);
    expect(first).toMatchObject({ code: 0, stderr: "", worked: { busy: false, notes: 16, sessions: 4 } });
    expect(leftovers(home)).toEqual([]);
    expect(entries(home.knackHome, "lesson.shown")).toHaveLength(4);
    expect(entries(home.knackHome, "agent.asked")).toHaveLength(8);
    expect(readWorkerState(home.knackHome)).toMatchObject({ failures: 0, error: null });
    // The same again, as if a hook had been slow.
    const before = outcome(home, Date.now() - day);
    leave(home, notes);
    expect((await work(home)).worked).toMatchObject({ notes: 16, sessions: 0 });
    expect(outcome(home, Date.now() - day)).toEqual(before);
    expect(processesOf(home.home)).toEqual([]);
  });

  test("handles a thousand notes in one go, each once", async () => {
    const home = aHome();
    const { notes } = someWork(home, 20);
    const more = Array.from({ length: 460 }, (_, n): Note[] => [
      {
        type: "place",
        session: `gone${n}`,
        transcript: join(home.home, `gone ${n}.jsonl`),
        cwd: null,
        event: "Stop",
        at: n,
      },
      {
        type: "shown",
        session: `gone${n}`,
        transcript: null,
        project: home.project,
        lessonId: "i0",
        occasion: "start",
        text: "x",
        at: n,
      },
    ]);
    const all = [...notes, ...more.flat()];
    expect(all).toHaveLength(1_000);
    leave(home, all);
    expect((await workHere(home)).worked).toMatchObject({ notes: 1_000, sessions: 20 });
    expect(leftovers(home)).toEqual([]);
    expect(entries(home.knackHome, "lesson.shown")).toHaveLength(480);
    expect(entries(home.knackHome, "session.found")).toHaveLength(20);
  });

  test("is one of five: the others have nothing to do, and nothing is done twice", async () => {
    const home = aHome();
    leave(home, someWork(home, 6).notes);
    const runs = await Promise.all(Array.from({ length: 5 }, () => work(home)));
    expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual(runs.map(() => [0, ""]));
    expect(runs.map(({ worked }) => worked?.notes).filter((notes) => notes !== 0)).toEqual([24]);
    expect(leftovers(home)).toEqual([]);
    expect(entries(home.knackHome, "lesson.shown")).toHaveLength(6);
    expect(entries(home.knackHome, "session.found")).toHaveLength(6);
    expect(processesOf(home.home)).toEqual([]);
  });

  test("takes away what nobody needs, and nothing else", async () => {
    const home = aHome();
    const dead = spawnSync(process.execPath, ["-e", ""]).pid;
    const old = new Date(Date.now() - 40 * day);
    const places = [
      ["spool", `place-a.json.${dead}.new`, false],
      ["spool", `place-b.json.${process.pid}.new`, true],
      ["snapshot", `knack.table.${dead}.new`, false],
      ["log", `worker.json.${dead}.new`, false],
      [".", `worker.json.${dead}.new`, false],
      ["spool/aside", "old.json", false],
      ["spool/aside", "place-c.json", true],
      ["spool", "hook-old.jsonl", false],
      ["spool", "hook-c.jsonl", true],
      ["seen", "old", false],
      ["seen", "today", true],
      ["seen/projects", "old", true],
      ["log", "old", true],
      ["models", "asked-old", false],
      ["models", "asked-c", true],
      ["models", "old", true],
    ] as const;
    for (const [folder, name] of places) {
      mkdirSync(join(home.knackHome, folder), { recursive: true });
      writeFileSync(join(home.knackHome, folder, name), "");
      if (name.includes("old")) utimesSync(join(home.knackHome, folder, name), old, old);
    }
    expect((await workHere(home)).code).toBe(0);
    for (const [folder, name, stays] of places)
      expect(existsSync(join(home.knackHome, folder, name)), `${folder}/${name}`).toBe(stays);
  });

  test("has nothing to say of transcripts that are gone, of folders, and of paths that mean nothing", async () => {
    const home = aHome();
    const { transcripts } = someWork(home, 1);
    const odd = [
      "/",
      "",
      ".",
      home.home,
      "relative.jsonl",
      "a\0b",
      join(home.home, "gone.jsonl"),
      "x".repeat(9_000),
    ];
    leave(
      home,
      [...odd, ...transcripts].map((transcript, n) => ({
        type: "place",
        session: `s${n}`,
        transcript,
        cwd: null,
        event: "Stop",
        at: n,
      })),
    );
    expect((await workHere(home)).worked).toMatchObject({ notes: odd.length + 1, sessions: 1 });
    expect(leftovers(home)).toEqual([]);
    expect(entries(home.knackHome, "session.found")).toHaveLength(1);
  });

  test("finds transcripts whose paths have blanks and letters of many languages", async () => {
    const home = aHome();
    const [made] = someWork(home, 1).transcripts;
    const folder = join(home.home, "mañana 日本/Straße (1)");
    mkdirSync(folder, { recursive: true });
    const transcript = join(folder, "a b.jsonl");
    writeFileSync(transcript, readFileSync(made ?? ""));
    const { stop } = payloads(home);
    said(await hook({ ...stop(), transcript_path: transcript }, home));
    await quiet(home.home);
    expect(entries(home.knackHome, "session.found").join()).toContain("Straße (1)/a b.jsonl");
    expect(leftovers(home)).toEqual([]);
  });
});

describe("a worker that is killed", () => {
  /** The same sessions for all, because what is found in one goes by where it stands. */
  let shared: string;
  let notes: readonly Note[];
  const alone = () => ({ home: shared, project: shared, knackHome: join(shared, ".knack") });
  const since = Date.now() - day;
  let undisturbed: ReturnType<typeof outcome>;
  beforeAll(async () => {
    shared = realpathSync(mkdtempSync(join(tmpdir(), "knack-test-")));
    notes = someWork(alone(), 6).notes;
    leave(alone(), notes);
    expect((await workHere(alone())).worked).toMatchObject({ notes: 24, sessions: 6 });
    undisturbed = outcome(alone(), since);
    expect(undisturbed.drafts).not.toEqual([]);
  });
  afterAll(() => rmSync(shared, { recursive: true, force: true }));

  it.each(
    sampled<[string, RegExp]>(
      [
        ["as it is about to say that it runs", /^worker\.json\.\d+\.new$/],
        ["as it says that it runs", /^worker\.json$/],
        ["as it takes the first note", /^spool\/taken\/\d~/],
        ["as it writes a draft", /^drafts\//],
        ["as it writes the snapshot", /^snapshot\/.*\.new$/],
        ["as it ends", /^log\/worker\.json/],
      ],
      3,
    ),
  )("%s leaves everything to the next, who ends where one alone would", async (_, point) => {
    const home = aHome();
    leave(home, notes);
    expect(await dieAt(home, point)).toBe(true);
    expect((await workHere(home)).code).toBe(0);
    expect(leftovers(home)).toEqual([]);
    expect(outcome(home, since)).toEqual(undisturbed);
    expect(processesOf(home.home)).toEqual([]);
  });

  test("twice in a row loses nothing", async () => {
    const home = aHome();
    leave(home, notes);
    // Each with another note in its hands.
    for (let death = 0; death < 2; death++)
      expect(await dieAt(home, new RegExp(`^spool/taken/\\d~place-work${death}\\.json$`))).toBe(true);
    expect((await workHere(home)).code).toBe(0);
    expect(leftovers(home)).toEqual([]);
    expect(outcome(home, since)).toEqual(undisturbed);
  });

  test("three times by the same note puts that one aside, and no other", async () => {
    const home = aHome();
    const own = someWork(home, 3);
    leave(home, own.notes);
    // Who had it among others first is not counted against it.
    expect(await dieAt(home, /^spool\/taken\/0~place-work1\.json$/)).toBe(true);
    for (const tries of [1, 2, 3])
      expect(await dieAt(home, new RegExp(`^spool/taken/${tries}~place-work1\\.json$`))).toBe(true);
    expect((await workHere(home)).code).toBe(0);
    expect(leftovers(home)).toEqual(["spool/aside/place-work1.json"]);
    expect(entries(home.knackHome, "session.learned").join()).toMatch(/work0[\s\S]*work2/);
  });
});

describe("the hand-over", () => {
  test("leaves no note behind, however hooks and workers meet", async () => {
    const home = aHome();
    const { transcripts } = someWork(home, 5);
    const random = seeded(5);
    const hooks: Promise<unknown>[] = [];
    for (let n = 0; n < 10; n++) {
      const payload = { ...payloads(home, `work${n}`).stop(), transcript_path: transcripts[n % 5] };
      hooks.push(hook(payload, home).then(said));
      // About as long as a worker lingers, so that many come just as one ends.
      await pause(random() < 0.3 ? 350 + random() * 350 : random() * 60);
    }
    await Promise.all(hooks);
    await quiet(home.home);
    expect(leftovers(home)).toEqual([]);
    expect(entries(home.knackHome, "session.found")).toHaveLength(5);
    expect(
      filesLike(home, /^log\/hook\.log$/).map((log) => readFileSync(join(home.knackHome, log), "utf8")),
    ).toEqual([]);
  });
});

describe("a worker that is started", () => {
  /** Lets the time of this process go on by itself, so that who waits for seconds does not take them. */
  function hurry(stepMs: number): void {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const turning = setInterval(() => vi.advanceTimersByTime(stepMs), 1);
    onTestFinished(() => {
      clearInterval(turning);
      vi.useRealTimers();
    });
  }

  /** Does something as soon as it is so. */
  function once(isSo: () => boolean, act: () => void): void {
    const looking = setInterval(() => {
      if (!isSo()) return;
      clearInterval(looking);
      act();
    }, 20);
    onTestFinished(() => clearInterval(looking));
  }

  test("while another one gives its turn back, however slowly, handles what that one did not see", async () => {
    const home = aHome();
    const { notes } = someWork(home, 1);
    await withKnack(home, async (other) => {
      expect(await other.claim("work", Date.now() + 60_000)).toBe(true);
      leave(home, notes);
      hurry(100);
      const started = Date.now();
      const working = workHere(home);
      await vi.waitUntil(() => Date.now() > started + 20_000, { timeout: 60_000 });
      await other.giveBack("work");
      expect((await working).worked).toMatchObject({ busy: false, notes: 4, sessions: 1 });
    });
    expect(leftovers(home)).toEqual([]);
  });

  test("while another one has taken every note has nothing to wait for", async () => {
    const home = aHome();
    await withKnack(home, async (other) => {
      expect(await other.claim("work", Date.now() + 60_000)).toBe(true);
      hurry(100);
      expect((await workHere(home)).worked).toMatchObject({ busy: true, notes: 0 });
    });
  });

  test("hands over to another where its time is over before the work is", async () => {
    const home = aHome();
    const { notes } = someWork(home, 2);
    const later = notes.filter(({ session }) => session === "work1");
    leave(home, notes.slice(0, 4));
    expect(later).toHaveLength(4);
    const clock = vi.spyOn(Date, "now");
    once(
      () => entries(home.knackHome, "session.learned").length > 0,
      () => {
        leave(home, later);
        const late = Date.now() + 61_000;
        clock.mockReturnValue(late);
      },
    );
    expect((await workHere(home)).worked).toMatchObject({ busy: false, notes: 4, sessions: 1 });
    clock.mockRestore();
    await quiet(home.home);
    expect(leftovers(home)).toEqual([]);
    expect(entries(home.knackHome, "session.learned")).toHaveLength(2);
  });

  test("is given what was recorded while it was at work", async () => {
    const home = aHome();
    const recording = join(home.knackHome, "spool", "hook-own.jsonl");
    const payload = { session_id: "own", cwd: home.project, hook_event_name: "UserPromptSubmit" };
    leave(home, someWork(home, 1).notes);
    // It has looked for recordings by then, and lingers.
    once(
      () => entries(home.knackHome, "session.learned").length > 0,
      () => writeFileSync(recording, `${JSON.stringify({ ...payload, prompt: "Paint the harbor" })}\n`),
    );
    expect((await workHere(home)).worked).toMatchObject({ busy: false });
    expect(entries(home.knackHome, "session.found").join()).toContain("hook-own.jsonl");
  });
});

describe("a worker that fails", () => {
  it.each<[string, (knackHome: string) => () => void]>([
    [
      "settings that cannot be read",
      (knackHome) => {
        writeFileSync(join(knackHome, "config.json"), "{");
        return () => rmSync(join(knackHome, "config.json"));
      },
    ],
    [
      "a database that is none",
      (knackHome) => {
        writeFileSync(database(knackHome), "x".repeat(8_192));
        return () => rmSync(database(knackHome));
      },
    ],
    [
      "a snapshot that cannot be replaced",
      (knackHome) => {
        mkdirSync(join(knackHome, "snapshot/knack.table/x"), { recursive: true });
        return () => rmSync(join(knackHome, "snapshot/knack.table"), { recursive: true });
      },
    ],
  ])("over %s says so after three times, and goes on when that is mended", async (_, spoil) => {
    const home = aHome();
    // One session, so that each worker meets its note: it is no note's fault and counted against none.
    const { notes } = someWork(home, 1);
    leave(home, notes);
    const mend = spoil(home.knackHome);
    for (let failure = 1; failure <= 3; failure++) {
      expect((await workHere(home)).code).not.toBe(0);
      expect(readWorkerState(home.knackHome)).toMatchObject({ failures: failure });
      expect(processesOf(home.home)).toEqual([]);
    }
    const told = said(await hook(payloads(home).start(), home))?.systemMessage;
    expect(told).toMatch(
      /^Knack has stopped learning: its worker failed 3 times \(.+\)\. Run `knack doctor`/,
    );
    mend();
    expect((await workHere(home)).code).toBe(0);
    expect(leftovers(home)).toEqual([]);
    expect(entries(home.knackHome, "session.learned")).toHaveLength(1);
    expect(readWorkerState(home.knackHome)).toMatchObject({ failures: 0, error: null });
    expect(said(await hook(payloads(home).start(), home))?.systemMessage ?? "").not.toContain("stopped");
  });
});
