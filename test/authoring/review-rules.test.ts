import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type Dossier, parseDossierRef, toDossierRefs } from "../../src/authoring/reviews/dossier.ts";
import type { Event } from "../../src/records/session.ts";
import { aSkill, dossierWith, renderedDossier, toCreate, toPatch } from "../helpers/dossiers.ts";
import { called, edited, ran, replied, said, session } from "../helpers/events.ts";
import { runs } from "../helpers/runs.ts";

const many = <Item>(count: number, make: (n: number) => Item): Item[] =>
  Array.from({ length: count }, (_, n) => make(n));
const reasonsIn = ({ included }: Dossier) =>
  Object.fromEntries(included.map(({ id, reason }) => [id, reason]));

const text = "x".repeat(900);

/** A long stretch of looking around, in which nothing happens. */
const looking = (count: number) =>
  many(count, (n) => called("Read", { file_path: `/a/${n}` }, "ok", "x".repeat(3_000)));

describe("a dossier", () => {
  test("has every event where they fit, and says why each is told", async () => {
    const dossier = await dossierWith([
      session(
        said("Run the tests"),
        called("Read", { file_path: "/a" }, "ok", "text"),
        ran("cd app && npm test", "failed", "no DATABASE_URL"),
        edited("/a/.env"),
        ran("DATABASE_URL=x npm test -- --run", "ok", "12 passed"),
        replied("They pass."),
      ),
      session(said("Thanks"), called("Bash", {}, "rejected", "no"), called("Skill", { skill: "x" }, "ok")),
    ]);
    expect(dossier.whole).toBe(true);
    expect(dossier.omitted).toEqual([]);
    expect(reasonsIn(dossier)).toEqual({
      "s1.e1": "prompt",
      "s1.e2": "context",
      "s1.e3": "error",
      "s1.e4": "file-write",
      "s1.e5": "recovery",
      "s1.e6": "final-answer",
      "s2.e1": "prompt",
      "s2.e2": "rejected",
      "s2.e3": "skill",
    });
    expect(dossier.timeline[2]).toEqual({ id: "s1.e3", kind: "call", tool: "Bash", outcome: "failed" });
    expect(dossier.included[2]?.detail).toBe("cd app && npm test\n→ exit code 1\nno DATABASE_URL");
    expect(dossier.scope.sessions).toEqual([
      { name: "s1", run: "run-0", from: "e1", to: "e6" },
      { name: "s2", run: "run-1", from: "e1", to: "e3" },
    ]);
  });

  it.each<[string, string | undefined]>([
    ["npm test", "verification"],
    ["cd app && CI=1 npx tsc --noEmit", "verification"],
    ["git add . && make build", "verification"],
    ["git status", "room"],
    ["pwd && git status -sb", "room"],
    ["cat README.md", "room"],
  ])("tells %s as %s", async (command, reason) => {
    expect(reasonsIn(await dossierWith([session(ran(command, "ok"))]))["s1.e1"]).toBe(reason);
  });

  it.each([
    [30, "recovery"],
    [31, "room"],
  ])(
    "takes a call like one that failed for its retry up to 30 calls later: %i is %s",
    async (calls, reason) => {
      const between = many(calls - 1, (n) => ran(`echo ${n}`, "ok"));
      const events = session(
        ran("make deploy", "failed", "no"),
        ...between,
        ran("make deploy", "ok", "done"),
      );
      const reasons = reasonsIn(await dossierWith([events]));
      expect(reasons["s1.e1"]).toBe("error");
      expect(reasons[`s1.e${calls + 1}`]).toBe(reason);
    },
  );

  test("of a long session always has what says most, wherever it lies, and counts the rest", async () => {
    const events = session(
      said("First request"),
      ...looking(400),
      ran("npm ci", "failed", "ERESOLVE"),
      ran("npm ci --legacy-peer-deps", "ok", "added"),
      ...looking(400),
      edited("/a/b.ts"),
      ran("npx tsc --noEmit", "ok"),
      replied("Done with the first."),
      said("Second request"),
      ...looking(400),
      called("WebFetch", { url: "x" }, "ok", "pointed to"),
      replied("Done with the second."),
    );
    const pointed = `s1.e${events.length - 1}`;
    const dossier = await dossierWith([events], { leads: [toCreate("x", [pointed])] });
    const reasons = reasonsIn(dossier);
    expect(dossier.whole).toBe(false);
    expect(reasons).toMatchObject({
      "s1.e1": "prompt",
      "s1.e402": "error",
      "s1.e403": "recovery",
      "s1.e804": "file-write",
      "s1.e805": "verification",
      "s1.e806": "final-answer",
      "s1.e807": "prompt",
      [pointed]: "signal-ref",
      [`s1.e${events.length}`]: "final-answer",
    });
    // Some of the 400 that nothing happened in are told of by id, from all over it; all are counted.
    expect(dossier.timeline.length).toBeLessThanOrEqual(400);
    const told = new Set(Object.keys(reasons));
    const beside = dossier.timeline.filter(({ id }) => !told.has(id)).map(({ id }) => Number(id.slice(4)));
    for (const [from, to] of [
      [2, 401],
      [404, 803],
      [808, 1206],
    ] as const)
      expect(beside.some((n) => n >= from && n <= to)).toBe(true);
    expect(dossier.omitted.reduce((sum, { count }) => sum + count, 0)).toBe(events.length - told.size);
    expect(dossier.omitted[0]).toEqual({
      range: ["s1.e2", "s1.e400"],
      count: 399,
      summary: "399 calls: 399 Read; nothing failed",
    });
  });

  test("of few events that are too long tells as many as there is room for, from all over the window", async () => {
    const read = (n: number) => called("Read", { file_path: `/a/${n}` }, "ok", `${n} `.repeat(2_400));
    const dossier = await dossierWith([session(said("Look around"), ...many(66, read), replied("Done."))]);
    expect(dossier.included.map(({ id }) => id)).toEqual(many(68, (n) => `s1.e${n + 1}`));
    expect(JSON.stringify(dossier).length).toBeGreaterThan(60_000 / 2);
  });

  test("of too much of everything keeps some of each kind, from the beginning to the end", async () => {
    const turn = (n: number) => [
      said(`Request ${n} ${"please ".repeat(200)}`),
      ran(`make part-${n}`, "failed", "x".repeat(900)),
      ran(`make part-${n}`, "ok", "y".repeat(900)),
      edited(`/a/${n}.ts`),
      ran(`npm test part-${n}`, "ok", "z".repeat(900)),
      replied(`Finished ${n}. ${"w".repeat(900)}`),
    ];
    const dossier = await dossierWith([session(...many(500, turn).flat())]);
    const numbersOf = (reason: string) =>
      dossier.included.flatMap((event) => (event.reason === reason ? Number(event.id.slice(4)) : []));
    for (const reason of ["prompt", "error", "recovery", "final-answer", "verification"] as const) {
      const quarters = new Set(numbersOf(reason).map((n) => Math.floor((n - 1) / 750)));
      expect([reason, [...quarters].sort()]).toEqual([reason, [0, 1, 2, 3]]);
    }
    // A failure is told with what then worked.
    for (const n of numbersOf("error")) expect(numbersOf("recovery")).toContain(n + 1);
  });

  it.each<[string, Event[][]]>([
    ["nothing at all", []],
    ["a session without events", [[]]],
    ["a prompt of a megabyte", [session(said("x".repeat(1_000_000)))]],
    [
      "texts of which every character is escaped",
      [session(...many(400, () => said('\u0001<"\\'.repeat(2_000))))],
    ],
    ["line ends that JSON leaves alone", [session(...many(400, () => said("\u2028\u0085".repeat(4_000))))]],
    ["halves of emoji", [session(...many(300, () => replied("\ud83d".repeat(3_000) + "🙂".repeat(999))))]],
    [
      "calls that all fail",
      [session(...many(3_000, (n) => ran(`make part-${n}`, "failed", "no\n".repeat(400))))],
    ],
    ["nothing but prompts", [session(...many(3_000, (n) => said(`${n} ${"why? ".repeat(300)}`)))]],
    [
      "tools with endless names",
      [session(...many(500, (n) => called(`${n}${"\u0000".repeat(500)}`, {}, "failed", "x")))],
    ],
    [
      "50,000 events",
      [
        many(50_000, (n) => ({
          ...ran(`make ${n % 9}`, n % 3 === 0 ? "failed" : "ok", text),
          ref: `e${n + 1}`,
        })),
      ],
    ],
    ["many sessions", many(30, (n) => session(said(`Request ${n}`), ran("make", "failed", "x".repeat(500))))],
    [
      "inputs that hold everything",
      [session(...many(500, (n) => called("Write", { content: "\n<>".repeat(2_000), n }, "ok")))],
    ],
  ])("stays within its characters with %s", async (_, sessions) => {
    const endless = "\u0001<".repeat(40_000);
    const refs = many(500, (n) => `s1.e${n}`);
    const full = {
      project: endless,
      signals: many(50, () => ({
        kind: "update" as const,
        skill: "a-skill-1",
        issue: "missing_step" as const,
        deferred: "needs_existing_skill_diff" as const,
        effect: "verified_alternative" as const,
        refs,
        hint: endless,
      })),
      leads: many(6, (n) => ({ ...toPatch(`a-skill-${n}`, refs), why: endless })),
      skills: many(900, (n) => aSkill(`a-skill-${n}`, { description: endless, text: endless, hash: "h" })),
    };
    for (const more of [{}, full]) {
      const dossier = await dossierWith(sessions, more);
      expect(JSON.stringify(dossier).length).toBeLessThanOrEqual(60_000);
      expect(renderedDossier(dossier).length).toBeLessThanOrEqual(60_000);
      expect(dossier.timeline.length).toBeLessThanOrEqual(400);
      expect(JSON.stringify(dossier).isWellFormed()).toBe(true);
      const events = sessions.flat().length;
      const omitted = dossier.omitted.reduce((sum, { count }) => sum + count, 0);
      expect(dossier.included.length + omitted).toBe(events);
      if (events > 0) expect(dossier.included.length).toBeGreaterThan(0);
    }
  });

  test("stays within its characters, and accounts for every event, whatever happened", async () => {
    const outcome = fc.constantFrom(
      "ok" as const,
      "failed" as const,
      "rejected" as const,
      "unknown" as const,
    );
    const event = fc.record({
      what: fc.constantFrom(
        "said",
        "replied",
        "npm test",
        "make",
        "cd a && git push",
        "Read",
        "Edit",
        "Skill",
        "",
      ),
      piece: fc.constantFrom("a", "\n", "<", "\u0000", "\ud83d", "🙂", "日本 ", "word "),
      times: fc.nat(4_000),
      outcome,
    });
    const made = ({
      what,
      piece,
      times,
      outcome,
    }: typeof event extends fc.Arbitrary<infer One> ? One : never) => {
      const text = piece.repeat(times);
      if (what === "said") return said(text);
      if (what === "replied") return replied(text);
      return /[a-z]+ /.test(what) ? ran(what, outcome, text) : called(what, { text }, outcome, text);
    };
    // Few different events, each often: what matters is how much there is of what.
    const events = fc.record({ some: fc.array(event, { maxLength: 12 }), often: fc.nat(80) });
    await fc.assert(
      fc.asyncProperty(fc.array(events, { maxLength: 4 }), async (all) => {
        const sessions = all.map(({ some, often }) => session(...many(often, () => some.map(made)).flat()));
        const dossier = await dossierWith(sessions, {
          leads: [toCreate("x", ["s1.e1", "s2.e9", "s9.e9", "?"])],
        });
        expect(JSON.stringify(dossier).length).toBeLessThanOrEqual(60_000);
        expect(renderedDossier(dossier).length).toBeLessThanOrEqual(60_000);
        const ids = dossier.included.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        const omitted = dossier.omitted.reduce((sum, { count }) => sum + count, 0);
        expect(ids.length + omitted).toBe(sessions.flat().length);
        expect(dossier.whole).toBe(omitted === 0);
        expect(dossier.timeline.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
      }),
      { numRuns: runs(40) },
    );
  });

  test("names the text of a skill only where that may be changed, and all others as far as there is room", async () => {
    const skills = many(300, (n) => aSkill(`skill-${n}`, { text: "body ".repeat(9_000), hash: `h${n}` }));
    const { skills: told } = await dossierWith([session(said("x"))], { skills, leads: [toPatch("skill-7")] });
    expect(told.filter(({ text }) => text !== null).map(({ name, hash }) => [name, hash])).toEqual([
      ["skill-7", "h7"],
    ]);
    expect(told[0]?.text?.length).toBeLessThanOrEqual(12_000);
    expect(told.length).toBeGreaterThan(50);
  });
});

describe("a ref of a dossier", () => {
  it.each<[string, ReturnType<typeof parseDossierRef>]>([
    ["s1.e17", { stretch: 0, ref: "e17" }],
    ["s12.e1", { stretch: 11, ref: "e1" }],
    ["e17", null],
    ["s0.e1", null],
    ["s1.e0", null],
    ["s1.e1 ", null],
    ["../s1.e1", null],
  ])("%s", (id, place) => expect(parseDossierRef(id)).toEqual(place));

  test("is made from a session's own, by the agent's name of the session", () => {
    const stretch = { session: "/t/a", run: "r1", from: 1, to: 9 };
    const window = { stretches: [stretch, { ...stretch, session: "/t/b", run: "r2" }], since: 0, until: 1 };
    expect(toDossierRefs(window, "r2", ["e3", "e4"])).toEqual(["s2.e3", "s2.e4"]);
    expect(toDossierRefs(window, "r3", ["e3"])).toEqual([]);
  });
});
