import { describe, expect, onTestFinished, test } from "vitest";
import { extractGist } from "../../src/lessons/similarity.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { StoredFinding } from "../../src/records/lesson.ts";
import { type Event, outlineEvent, type Reading, type Session } from "../../src/records/session.ts";
import type { Store } from "../../src/store/store.ts";
import { aFinding } from "../helpers/findings.ts";

export const anEvent = (n: number, more: Partial<Event> = {}): Event => ({
  ref: `e${n}`,
  key: String(n * 2),
  resultKey: String(n * 2 + 1),
  at: 1_760_000_000_000 + n,
  endedAt: 1_760_000_000_500 + n,
  turn: 1,
  source: "transcript",
  kind: "call",
  sidechain: n % 2 === 0,
  tool: "Bash",
  input: { command: "ls", nested: { list: [1, null, "é 日本"], flag: true } },
  command: "ls",
  files: ["/a/b.ts"],
  cwd: "/a",
  outcome: "failed",
  exitCode: 1,
  text: "no such file\n日本語 🙂",
  callId: `c${n}`,
  origin: `u${n}`,
  ...more,
});

export const aSession = (id: string, more: Partial<Session> = {}): Session => ({
  id,
  path: id.split("#")[0] as string,
  format: "codex",
  sessionId: "s1",
  agentId: null,
  subagent: false,
  cwd: "/a",
  remote: null,
  transcriptPath: null,
  startedAt: 1_760_000_000_000,
  endedAt: null,
  project: { id: "/a", name: "a", root: "/a" },
  counts: { events: 3, prompts: 1, calls: 2, failed: 1, rejected: 0 },
  ...more,
});

export const aReading = (path: string, more: Partial<Reading> = {}): Reading => ({
  path,
  format: "codex",
  size: 100,
  modifiedAt: 1_760_000_000_000.5,
  position: { offset: 90, line: 4, digest: "abc" },
  state: { threads: [], rest: { queue: ["x"] } },
  diagnostics: [{ path, line: 3, code: "invalid-json", message: "line 3 is not JSON" }],
  cachedAt: 1_000,
  ...more,
});

export const saveEvents = (store: Store, session: string, events: readonly Event[]) =>
  store.events.save([{ session, events }]);

const found = (key: string, at: number | null = 1, project = "/a"): LedgerEntry => ({
  at,
  project,
  session: key,
  actor: "knack",
  type: "session.found",
  key: `session:${key}`,
  data: { project: { id: project, name: "a", root: project }, path: key },
});

export const aStoredFinding = (id: string, more: Partial<StoredFinding> = {}): StoredFinding => ({
  id,
  pass: 1,
  run: "s1",
  scopeId: "/p",
  foundAt: 5,
  finding: aFinding({ lesson: `日本 ${id}` }),
  session: "/t/a",
  project: "/p",
  at: 10,
  lessonId: "i1",
  ...more,
});
const gist = (words: string) => extractGist({ trigger: words, action: "" });

/** What every engine behind the Store port has to do. `open` gives a fresh store, `reopen` the same one again. */
export function storeContract(open: () => Promise<{ store: Store; reopen: () => Promise<Store> }>): void {
  const fresh = async () => {
    const { store, reopen } = await open();
    onTestFinished(() => store.close());
    return { store, reopen };
  };

  describe("the ledger", () => {
    test("keeps what is appended, once, and says what was new", async () => {
      const { store } = await fresh();
      expect(await store.ledger.append([found("b", 2), found("a", 1)])).toHaveLength(2);
      expect(await store.ledger.append([found("a", 1), found("c", 3)])).toEqual([found("c", 3)]);
      expect(await store.ledger.all()).toEqual([found("a", 1), found("b", 2), found("c", 3)]);
    });

    test("is ordered by event time, then session, then key, never by arrival", async () => {
      const entries = [found("b", 5), found("a", 5), found("c", null), found("z", 1)];
      const orders = await Promise.all(
        [entries, [...entries].reverse()].map(async (some) => {
          const { store } = await fresh();
          for (const entry of some) await store.ledger.append([entry]);
          return store.ledger.all();
        }),
      );
      expect(orders[0]).toEqual(orders[1]);
      expect(orders[0]?.map(({ session }) => session)).toEqual(["c", "z", "a", "b"]);
    });

    test("counts what it has, and only what is new counts", async () => {
      const { store, reopen } = await fresh();
      expect(await store.ledger.count()).toBe(0);
      await store.ledger.append([found("a"), found("b")]);
      await store.ledger.append([found("a")]);
      expect(await store.ledger.count()).toBe(2);
      const other = await reopen();
      onTestFinished(() => other.close());
      expect(await other.ledger.count()).toBe(2);
    });

    test("says which keys it has", async () => {
      const { store } = await fresh();
      await store.ledger.append([found("a"), found("b")]);
      const [a, c] = [found("a").key, found("c").key];
      expect([...(await store.ledger.has([a, c]))]).toEqual([a]);
      expect((await store.ledger.has([])).size).toBe(0);
      expect((await store.ledger.get([a, c])).map(({ key }) => key)).toEqual([a]);
    });

    test("gives what was noted of one type since a time, in the order of time", async () => {
      const { store } = await fresh();
      const purged: LedgerEntry = {
        at: 50,
        project: null,
        session: null,
        actor: "knack",
        type: "events.purged",
        key: "purged",
        data: { before: 1, events: 1 },
      };
      await store.ledger.append([found("c", 30), purged, found("a", 10), found("b", 20)]);
      const since = async (at: number) =>
        (await store.ledger.since("session.found", at)).map(({ session }) => session);
      expect(await since(0)).toEqual(["a", "b", "c"]);
      expect(await since(20)).toEqual(["b", "c"]);
      expect(await since(31)).toEqual([]);
      expect(await store.ledger.since("events.purged", 0)).toEqual([purged]);
      expect(await store.ledger.since("lesson.shown", 0)).toEqual([]);
    });
  });

  describe("a lease", () => {
    const lease = (holder: string, now: number, until: number, insteadOf?: string) => ({
      holder,
      now,
      until,
      insteadOf,
    });

    test("has one holder until it runs out, is given back, or its holder is dead", async () => {
      const { store, reopen } = await fresh();
      const other = await reopen();
      onTestFinished(() => other.close());
      expect(await store.leases.holder("work")).toBeNull();
      expect(await store.leases.take("work", lease("a", 0, 100))).toBe(true);
      expect(await other.leases.take("work", lease("b", 50, 150))).toBe(false);
      expect(await other.leases.holder("work")).toEqual({ holder: "a", until: 100 });
      expect(await store.leases.take("work", lease("a", 60, 120))).toBe(true);
      expect(await other.leases.take("work", lease("b", 110, 200))).toBe(false);
      expect(await other.leases.take("work", lease("b", 120, 200))).toBe(true);
      expect(await store.leases.take("work", lease("c", 130, 300, "a"))).toBe(false);
      expect(await store.leases.take("work", lease("c", 130, 300, "b"))).toBe(true);
      await other.leases.release("work", "b");
      expect(await other.leases.holder("work")).toEqual({ holder: "c", until: 300 });
      await store.leases.release("work", "c");
      await store.leases.release("work", "c");
      expect(await store.leases.holder("work")).toBeNull();
    });

    test("of one name says nothing about another", async () => {
      const { store } = await fresh();
      expect(await store.leases.take("work", lease("a", 0, 100))).toBe(true);
      expect(await store.leases.take("rest", lease("b", 0, 100))).toBe(true);
      await store.leases.release("work", "b");
      expect(await store.leases.holder("work")).toEqual({ holder: "a", until: 100 });
    });

    test("goes to one of many who want it at once", async () => {
      const { store, reopen } = await fresh();
      const stores = [store, await reopen(), await reopen()];
      onTestFinished(async () => {
        for (const one of stores.slice(1)) await one.close();
      });
      const taken = await Promise.all(
        Array.from({ length: 30 }, (_, n) =>
          (stores[n % 3] as Store).leases.take("work", lease(`holder ${n}`, 0, 100)),
        ),
      );
      expect(taken.filter(Boolean)).toHaveLength(1);
    });
  });

  describe("what is saved", () => {
    test("comes back equal", async () => {
      const { store } = await fresh();
      const session = aSession("/t/a.jsonl");
      await store.readings.save([aReading("/t/a.jsonl")]);
      await store.sessions.save([session]);
      const events = [
        anEvent(1),
        anEvent(2, {
          kind: "prompt",
          tool: null,
          input: null,
          command: null,
          files: [],
          outcome: null,
          exitCode: null,
          at: null,
          endedAt: null,
          cwd: null,
          callId: null,
          origin: null,
          resultKey: null,
        }),
      ];
      await saveEvents(store, session.id, events);
      expect(await store.readings.get("/t/a.jsonl")).toEqual(aReading("/t/a.jsonl"));
      expect(await store.readings.get("/t/none")).toBeNull();
      expect(await store.sessions.list()).toEqual([session]);
      expect(await store.events.of(session.id)).toEqual(events);
      expect(await store.events.of("/t/none")).toEqual([]);
    });

    test("is replaced when it is saved again, and events stay in order", async () => {
      const { store } = await fresh();
      await store.sessions.save([aSession("/t/a"), aSession("/t/b")]);
      await saveEvents(store, "/t/a", [anEvent(2), anEvent(1)]);
      await saveEvents(store, "/t/b", [anEvent(1, { text: "other" })]);
      await store.sessions.save([aSession("/t/a", { endedAt: 7 })]);
      await saveEvents(store, "/t/a", [anEvent(1, { outcome: "ok" }), anEvent(3)]);
      const events = await store.events.of("/t/a");
      expect(events.map(({ ref, outcome }) => [ref, outcome])).toEqual([
        ["e1", "ok"],
        ["e2", "failed"],
        ["e3", "failed"],
      ]);
      expect((await store.events.of("/t/b")).map(({ text }) => text)).toEqual(["other"]);
      expect((await store.sessions.list(["/t/a"])).map(({ endedAt }) => endedAt)).toEqual([7]);
    });

    test("is there after closing and opening again", async () => {
      const { store, reopen } = await open();
      await store.ledger.append([found("a")]);
      await store.sessions.save([aSession("/t/a")]);
      await saveEvents(store, "/t/a", [anEvent(1)]);
      await store.close();
      const again = await reopen();
      onTestFinished(() => again.close());
      expect(await again.events.of("/t/a")).toEqual([anEvent(1)]);
      expect(await again.ledger.append([found("a")])).toEqual([]);
    });
  });

  describe("events", () => {
    test("are found by ref, by what they were made from, and counted", async () => {
      const { store } = await fresh();
      await store.sessions.save([aSession("/t/a")]);
      await saveEvents(store, "/t/a", [
        anEvent(1, { kind: "prompt", outcome: null }),
        anEvent(2),
        anEvent(3, { outcome: "rejected" }),
        anEvent(4, { outcome: "ok", origin: null }),
      ]);
      expect((await store.events.some("/t/a", ["e4", "e2", "e9"])).map(({ ref }) => ref).sort()).toEqual([
        "e2",
        "e4",
      ]);
      // No number reaches into the session before or after.
      await store.sessions.save([aSession("/t/b")]);
      await saveEvents(store, "/t/b", [anEvent(1)]);
      const beyond = [2 ** 24 + 1, 1 - 2 ** 24, 1.5, 0].map((n) => `e${n}`);
      for (const session of ["/t/a", "/t/b"])
        expect(await store.events.some(session, [...beyond, "e", "ex"])).toEqual([]);
      expect((await store.events.origins("/t/a")).sort()).toEqual(["u1", "u2", "u3"]);
      expect(await store.events.count("/t/a")).toEqual({
        events: 4,
        prompts: 1,
        calls: 3,
        failed: 1,
        rejected: 1,
      });
      expect(await store.events.count("/t/none")).toEqual({
        events: 0,
        prompts: 0,
        calls: 0,
        failed: 0,
        rejected: 0,
      });
    });

    test("are outlined between two numbers: everything of them but their words", async () => {
      const { store } = await fresh();
      await store.sessions.save([aSession("/t/a"), aSession("/t/b")]);
      const words = { tool: null, input: null, command: null, files: [], outcome: null };
      const events = [
        anEvent(1, { kind: "prompt", ...words }),
        anEvent(2, { command: `echo "${"🙂".repeat(300)}"` }),
        anEvent(4, { tool: 'a "tool"\n', files: [], outcome: "ok" }),
        anEvent(7_000, { kind: "reply", ...words }),
        anEvent(12_000, { outcome: "rejected" }),
      ];
      await saveEvents(store, "/t/a", events);
      await saveEvents(store, "/t/b", [anEvent(3)]);
      expect(await store.events.outline("/t/a", 1, 2 ** 30)).toEqual(events.map(outlineEvent));
      expect(await store.events.outline("/t/a", 2, 7_000)).toEqual(events.slice(1, 4).map(outlineEvent));
      expect(await store.events.outline("/t/a", 5, 6)).toEqual([]);
      expect(await store.events.outline("/t/none", 1, 9)).toEqual([]);
    });

    test("are forgotten by age, and sessions and counts stay; or with all of their file", async () => {
      const { store } = await fresh();
      for (const [path, cachedAt] of [
        ["/t/a", 10],
        ["/t/b", 30],
        ["/t/c", null],
      ] as const) {
        await store.readings.save([aReading(path, { cachedAt })]);
        await store.sessions.save([aSession(path), aSession(`${path}#two`)]);
        await saveEvents(store, path, [anEvent(1), anEvent(2)]);
        await saveEvents(store, `${path}#two`, [anEvent(1)]);
      }
      expect(await store.events.purge(20)).toBe(3);
      expect(await store.events.purge(20)).toBe(0);
      expect(await store.events.of("/t/a")).toEqual([]);
      expect((await store.readings.get("/t/a"))?.cachedAt).toBeNull();
      expect(await store.events.of("/t/b#two")).toHaveLength(1);
      await store.sessions.forget("/t/b");
      expect(await store.events.of("/t/b")).toEqual([]);
      expect(await store.events.of("/t/b#two")).toEqual([]);
      expect((await store.sessions.list()).map(({ path }) => path).sort()).toEqual([
        "/t/a",
        "/t/a",
        "/t/c",
        "/t/c",
      ]);
    });

    test("come by the thousand", async () => {
      const { store } = await fresh();
      await store.sessions.save([aSession("/t/a")]);
      const events = Array.from({ length: 5_001 }, (_, at) => anEvent(at + 1));
      await saveEvents(store, "/t/a", events);
      const back = await store.events.of("/t/a");
      expect(back.map(({ ref }) => ref)).toEqual(events.map(({ ref }) => ref));
      expect(back[4_321]).toEqual(events[4_321]);
      expect((await store.events.page("/t/a", 4_990, 5)).map(({ ref }) => ref)).toEqual([
        "e4991",
        "e4992",
        "e4993",
        "e4994",
        "e4995",
      ]);
      expect(await store.events.page("/t/a", 5_001, 5)).toEqual([]);
      expect(
        await store.events.some(
          "/t/a",
          events.map(({ ref }) => ref),
        ),
      ).toHaveLength(5_001);
    });
  });

  test("takes rows by the thousand, of every kind", async () => {
    const { store } = await fresh();
    const paths = Array.from({ length: 4_000 }, (_, at) => `/t/${at}`);
    await store.readings.save(paths.map((path) => aReading(path)));
    await store.sessions.save(paths.map((path) => aSession(path)));
    expect(await store.ledger.append(paths.map((path) => found(path)))).toHaveLength(4_000);
    expect(await store.ledger.append(paths.map((path) => found(path)))).toHaveLength(0);
    expect(await store.readings.of(paths)).toHaveLength(4_000);
    expect(await store.sessions.list(paths)).toHaveLength(4_000);
  });

  test("keeps the project a session was found in, unless it was unknown", async () => {
    const { store } = await fresh();
    const [unknown, later] = [
      { id: "unknown", name: "unknown", root: null },
      { id: "github.com/dev/a", name: "a", root: "/a" },
    ];
    await store.sessions.save([aSession("/t/a"), aSession("/t/b", { project: unknown })]);
    await store.sessions.save([
      aSession("/t/a", { project: later, endedAt: 5 }),
      aSession("/t/b", { project: later }),
    ]);
    const [a, b] = (await store.sessions.list()).sort((one, two) => (one.id < two.id ? -1 : 1));
    expect([a?.project.id, a?.endedAt, b?.project.id]).toEqual(["/a", 5, "github.com/dev/a"]);
  });

  findingsContract(async () => (await open()).store);

  test("forgets findings with all that follows from the ledger", async () => {
    const { store } = await fresh();
    const { findings } = store.learning;
    await findings.save(aStoredFinding("a"), gist("a"), ["error y"]);
    await store.clearFolds();
    expect(await findings.cued(["error y"], "/p", 9)).toEqual([]);
  });

  describe("projects", () => {
    test("are saved, listed by id and cleared", async () => {
      const { store } = await fresh();
      const seen = { firstAt: 1, lastAt: 2, sessions: 1 };
      const rows = ["/z", "/b"].map((id) => ({ id, name: id, root: id, ...seen }));
      await store.projects.save(rows);
      expect((await store.projects.list()).map(({ id }) => id)).toEqual(["/b", "/z"]);
      expect(await store.projects.get(["/z", "/none"])).toEqual(rows.slice(0, 1));
      await store.clearFolds();
      expect(await store.projects.list()).toEqual([]);
    });
  });

  describe("a transaction", () => {
    test("is undone whole by an error", async () => {
      const { store } = await fresh();
      const failing = store.transaction(async (tx) => {
        await tx.ledger.append([found("a")]);
        await tx.sessions.save([aSession("/t/a")]);
        throw new Error("no");
      });
      await expect(failing).rejects.toThrow("no");
      expect(await store.ledger.all()).toEqual([]);
      expect(await store.sessions.list()).toEqual([]);
    });

    test("keeps others waiting, and each sees what the one before wrote", async () => {
      const { store, reopen } = await fresh();
      const other = await reopen();
      onTestFinished(() => other.close());
      const add = (from: Store) =>
        from.transaction(async (tx) => {
          const [session] = await tx.sessions.list(["/t/a"]);
          const counts = session?.counts ?? { events: 0, prompts: 0, calls: 0, failed: 0, rejected: 0 };
          await tx.sessions.save([aSession("/t/a", { counts: { ...counts, events: counts.events + 1 } })]);
        });
      for (let round = 0; round < 10; round++) {
        await add(store);
        await add(other);
      }
      expect((await store.sessions.list())[0]?.counts.events).toBe(20);
    });
  });

  test("a sound database has nothing to report", async () => {
    const { store } = await fresh();
    expect(await store.check()).toEqual([]);
  });
}

/** What is asked of findings, whatever keeps them. */
export function findingsContract(open: () => Promise<Store>): void {
  const fresh = async () => {
    const store = await open();
    onTestFinished(() => store.close());
    return { store };
  };

  describe("findings", () => {
    const ids = (found: readonly StoredFinding[]) => found.map(({ id }) => id);

    test("come back by a cue, the project's own first, then the latest, then by name; no more than asked for", async () => {
      const { store } = await fresh();
      const { findings } = store.learning;
      const far = aStoredFinding("far", { project: "/q", at: 99 });
      await findings.save(far, gist("a"), ["error x", "call npm"]);
      await findings.save(aStoredFinding("old", { at: 1 }), gist("a"), ["error x", "error x"]);
      await findings.save(aStoredFinding("b"), gist("a"), ["error x"]);
      await findings.save(aStoredFinding("a"), gist("a"), ["error x", "call npm"]);
      await findings.save(aStoredFinding("other"), gist("a"), ["error y"]);
      expect(await findings.lessonIds(["a", "nobody", "old"])).toEqual(
        new Map((await findings.get(["a", "old"])).map(({ id, lessonId: instinct }) => [id, instinct])),
      );
      await findings.save(aStoredFinding("none"), gist("a"), []);
      expect(ids(await findings.cued(["error x", "call npm", "call pip"], "/p", 9))).toEqual([
        "a",
        "b",
        "old",
        "far",
      ]);
      expect(ids(await findings.cued(["error x"], "/q", 2))).toEqual(["far", "a"]);
      expect(await findings.cued(["call npm"], "/q", 1)).toEqual([far]);
      expect(await findings.cued([], "/p", 9)).toEqual([]);
      expect(await findings.cued(["error z", "error"], "/p", 9)).toEqual([]);
    });

    test("lose the cues they had when they are saved again or forgotten", async () => {
      const { store } = await fresh();
      const { findings } = store.learning;
      await findings.save(aStoredFinding("a"), gist("a"), ["error x"]);
      await findings.save(aStoredFinding("b"), gist("a"), ["error x"]);
      await findings.save(aStoredFinding("a"), gist("a"), ["error y"]);
      expect(ids(await findings.cued(["error x"], "/p", 9))).toEqual(["b"]);
      expect(ids(await findings.cued(["error y"], "/p", 9))).toEqual(["a"]);
      await findings.forget("b");
      expect(await findings.cued(["error x"], "/p", 9)).toEqual([]);
    });

    test("are found by thousands of cues", async () => {
      const { store } = await fresh();
      await store.learning.findings.save(aStoredFinding("a"), gist("a"), ["call w4999"]);
      const cues = Array.from({ length: 5_000 }, (_, n) => `call w${n}`);
      expect(ids(await store.learning.findings.cued(cues, "/p", 9))).toEqual(["a"]);
    });

    test("are near where they have enough of the words, anywhere or, of the occasion's, in the trigger", async () => {
      const { store } = await fresh();
      const { findings } = store.learning;
      const told = (trigger: string, action: string) => extractGist({ trigger, action });
      await findings.save(aStoredFinding("three"), told("tide", "harbor berth"), []);
      await findings.save(aStoredFinding("occasion"), told("tide harbor", "pilot"), []);
      await findings.save(aStoredFinding("action"), told("pilot", "tide harbor"), []);
      await findings.save(aStoredFinding("far", { scopeId: "/q" }), told("tide harbor berth", ""), []);
      const near = async (anywhere: number, inTrigger: number, occasion = ["tide", "harbor"]) => {
        const words = ["berth", "harbor", "tide"];
        const atLeast = { anywhere, inTrigger };
        return (await findings.near("/p", { words, occasion: new Set(occasion), atLeast })).map(
          ({ id }) => id,
        );
      };
      expect(await near(3, 2)).toEqual(["three", "occasion"]);
      expect(await near(2, 9)).toEqual(["three", "occasion", "action"]);
      expect(await near(9, 1, ["harbor"])).toEqual(["occasion"]);
      expect(await near(4, 3)).toEqual([]);
      await findings.save(aStoredFinding("three"), told("pilot", ""), []);
      expect(await near(3, 2)).toEqual(["occasion"]);
    });

    test("are unknown until one is kept or withdrawn, and loaded for many lessons at once", async () => {
      const { store } = await fresh();
      const { findings, decisions } = store.learning;
      await findings.withdraw("gone", 2);
      await findings.save(aStoredFinding("a", { lessonId: "one" }), gist("a"), []);
      await findings.save(aStoredFinding("b", { lessonId: "one" }), gist("b"), []);
      await findings.save(aStoredFinding("c", { lessonId: "two" }), gist("c"), []);
      await findings.oppose("c", ["a", "b"]);
      expect([...(await findings.unknown(["new", "a", "gone"]))]).toEqual(["new"]);
      const seen = await findings.evidence(["one", "two", "none"]);
      expect([...seen].map(([id, all]) => [id, all.map((each) => each.id)])).toEqual([
        ["one", ["a", "b"]],
        ["two", ["c"]],
      ]);
      const opposing = await findings.opposing(["one", "two"]);
      expect(opposing.get("one")?.map(({ id }) => id)).toEqual(["c"]);
      expect(opposing.get("two")?.map(({ id, lessonId }) => [id, lessonId])).toEqual([
        ["a", "one"],
        ["b", "one"],
      ]);
      const common = { decision: "accepted", everywhere: false, lesson: null, actor: "person" } as const;
      await decisions.save([
        { ...common, key: "k1", finding: "b", at: 7 },
        { ...common, key: "k2", finding: "a", at: 3 },
        { ...common, key: "k3", finding: "c", at: 1 },
      ]);
      const decided = await decisions.ofLessons(["one", "two"]);
      expect(decided.get("one")?.map(({ finding }) => finding)).toEqual(["a", "b"]);
      expect(decided.get("two")).toEqual(await decisions.ofLesson("two"));
    });

    test("wait, of what came from others, until somebody said something, and again when it is offered anew", async () => {
      const { store } = await fresh();
      const { imports } = store.learning;
      const skill = { type: "skill", from: "ana", batch: "b", description: "", hash: "h" } as const;
      for (const id of ["a", "b", "c"])
        await imports.save({ key: `of ${id}`, id, at: 5, said: { ...skill, id, name: id } });
      await imports.save({ key: "1", id: "a", at: 6, said: "accepted" });
      // A clock that is behind: what is said of it still comes after what it is.
      await imports.save({ key: "2", id: "b", at: 1, said: "rejected" });
      expect(await imports.waiting()).toEqual(["c"]);
      await imports.save({ key: "3", id: "a", at: 7, said: "withdrawn" });
      await imports.save({ key: "4", id: "a", at: 8, said: "offered" });
      expect((await imports.waiting()).sort()).toEqual(["a", "c"]);
    });

    test("share two words or more with a text, those with the most of them first, then the latest", async () => {
      const { store } = await fresh();
      const { findings } = store.learning;
      await findings.save(aStoredFinding("two"), gist("tide harbor"), []);
      await findings.save(aStoredFinding("late", { at: 20 }), gist("tide berth"), []);
      await findings.save(aStoredFinding("all"), gist("tide harbor berth"), []);
      await findings.save(aStoredFinding("one"), gist("tide pilot"), []);
      await findings.save(aStoredFinding("far", { scopeId: "/q" }), gist("tide harbor"), []);
      const words = ["tide", "harbor", "berth"];
      expect(ids(await findings.sharing("/p", words, 9))).toEqual(["all", "late", "two"]);
      expect(ids(await findings.sharing("/p", words, 1))).toEqual(["all"]);
      expect(await findings.sharing("/p", [], 9)).toEqual([]);
      expect(await findings.sharing("/q", words, 9)).toEqual([aStoredFinding("far", { scopeId: "/q" })]);
    });
  });
}
