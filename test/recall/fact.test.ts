import { describe, expect, it, onTestFinished, test } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import type { LessonMatch } from "../../src/recall/recall.ts";
import { formatDay, renderFailureFact, renderPromptFact } from "../../src/recall/snapshot.ts";
import type { Lesson, LessonState } from "../../src/records/lesson.ts";
import { type Finding, noExcerpt } from "../../src/records/lesson.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { aFinding, made } from "../helpers/findings.ts";
import { aSnapshot } from "../helpers/snapshot.ts";

const at = Date.UTC(2026, 4, 3);
const now = Date.UTC(2026, 10, 15);

function aMatch(
  finding: Finding,
  { sessions = 1, ...more }: Partial<LessonMatch> & { sessions?: number } = {},
): LessonMatch {
  const state: LessonState = {
    status: "active",
    confidence: 0.9,
    sessions,
    sure: 0.9,
    firstAt: at,
    lastAt: at,
    foundAt: at,
    contradicted: false,
    supersededBy: null,
  };
  const lesson: Lesson = { ...finding, id: "i1", project: "/p", state };
  const own = { id: "f1", session: "s1", run: "s1", project: "/p", scopeId: "/p", lessonId: "i1" };
  const best = { ...own, home: null, at, foundAt: at, pass: 1, finding, lesson };
  return {
    kind: "fix",
    lesson,
    fit: 1,
    score: 0.9,
    load: false,
    by: "error",
    distance: "here",
    best,
    from: [{ ...best, at: at - 1 }, best],
    ...more,
  };
}

describe("a fact", () => {
  it.each<[string, LessonMatch, string]>([
    [
      "says where and when",
      aMatch(aFinding()),
      "Knack: this failed here on 3 May; what worked: add --legacy-peer-deps.",
    ],
    [
      "from elsewhere",
      aMatch(aFinding(), { distance: "elsewhere" }),
      "Knack: this failed in another project on 3 May;",
    ],
    [
      "from the same machine",
      aMatch(aFinding(), { distance: "anywhere" }),
      "Knack: this failed on this machine on 3 May;",
    ],
    [
      "ends its sentence once",
      aMatch(aFinding({ action: "run it again!" })),
      "; what worked: run it again! npm install",
    ],
    [
      "stays on one line",
      aMatch(aFinding({ action: "one\n\n# two\n- three" })),
      "; what worked: one # two - three.",
    ],
    [
      "counts sessions",
      aMatch(aFinding(), { sessions: 3 }),
      "--legacy-peer-deps works. (seen in 3 sessions)",
    ],
  ])("at a failure %s", (_, match, words) => {
    const fact = renderFailureFact(match, null, now);
    expect(fact).toContain(words);
    expect(fact).not.toContain("\n");
  });

  test("at a prompt is one line, or whole where it is sure", () => {
    const steps = ["npm ci", "npm test"];
    const finding = aFinding({ steps });
    expect(renderPromptFact(aMatch(finding), "the whole skill", now)).toBe(
      "Knack: learned here on 3 May: npm install fails with ERESOLVE; npm install --legacy-peer-deps works.",
    );
    expect(renderPromptFact(aMatch(finding, { load: true }), null, now)).toContain(
      "\n1. npm ci\n2. npm test",
    );
    const body = "x".repeat(20_000);
    const loaded = renderPromptFact(aMatch(finding, { load: true }), body, now);
    expect(loaded).toMatch(/^Knack: learned here on 3 May, kept as npm-install-eresolve:\nx+$/);
    expect(loaded.length).toBeLessThan(4_100);
  });

  test("tells a person's words as theirs", () => {
    const finding = aFinding({
      kind: "user-correction",
      action: "use pnpm,\nnot npm",
      excerpt: { ...noExcerpt, said: "no, use pnpm" },
    });
    expect(renderPromptFact(aMatch(finding), null, now)).toContain(": the person said: “no, use pnpm”");
  });

  test("in a list has no more than a line's length", async () => {
    const store = await openSqlite({ path: ":memory:", clock: { now: () => now } });
    onTestFinished(() => store.close());
    const long = aFinding({ kind: "explicit-instruction", lesson: "word ".repeat(500), at: now });
    await store.transaction((tx) => recordEntries(tx, [made("s1", long, 1, "/p")]));
    const { lessons = [] } = (await aSnapshot(store, { now: () => now })).get("start", "/p") ?? {};
    expect(lessons.map(({ line }) => line.length > 200 && line.length <= 241)).toEqual([true]);
  });
});

describe("a day", () => {
  it.each<[number, string]>([
    [Date.UTC(2026, 0, 31), " on 31 Jan"],
    [Date.UTC(2025, 11, 31), " on 31 Dec 2025"],
    [0, ""],
    [-1, ""],
  ])("%d is told as '%s'", (day, words) => expect(formatDay(day, now)).toBe(words));
});
