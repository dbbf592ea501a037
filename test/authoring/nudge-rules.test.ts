import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  decideNudge,
  foldProgress,
  measurePace,
  type ReviewLimits,
} from "../../src/authoring/reviews/nudge.ts";
import type { EntryOf, LedgerEntry } from "../../src/records/ledger.ts";
import type {
  NudgeHold,
  ReviewBegun,
  ReviewCounters,
  ReviewEnded,
  ReviewWindow,
  SignalGiven,
} from "../../src/records/writing.ts";

type NudgeFacts = Parameters<typeof decideNudge>[0];

const minute = 60_000;
const now = Date.UTC(2026, 10, 2, 12);
const none: ReviewCounters = {
  calls: 0,
  turns: 0,
  signals: 0,
  hints: 0,
  lastReviewAt: null,
  reviewedUntil: null,
};
const window: ReviewWindow = {
  stretches: [{ session: "/s/1.jsonl", run: "s", from: 1, to: 40 }],
  since: now - 60 * minute,
  until: now - minute,
};
const empty: ReviewWindow = { stretches: [], since: 0, until: 0 };
const limits: ReviewLimits = {
  mode: "suggest",
  calls: 15,
  apartMs: 30 * minute,
  perDay: 3,
  usd: 0.5,
  usdPerCall: 0.5,
  usdPerDay: 1,
  unset: null,
};
const ground: NudgeFacts = {
  counters: { ...none, calls: 20, turns: 4 },
  window,
  limits,
  asked: false,
  running: false,
  now,
  today: 0,
  latestAt: null,
  spent: 0,
  estimate: { unread: null, usd: 0 },
  pausedUntil: null,
};
const allow = (more: Partial<ReviewLimits>) => ({ limits: { ...limits, ...more } });

describe("a nudge", () => {
  it.each<[string, Partial<NudgeFacts>, string]>([
    ["comes when enough tools were called", { counters: { ...none, calls: 15 } }, "threshold"],
    ["comes for something worth a skill", { counters: { ...none, signals: 1 } }, "signal"],
    ["comes for something wrong with a skill", { counters: { ...none, hints: 1 } }, "skill-issue"],
    [
      "names what is wrong before what is new",
      { counters: { ...none, signals: 2, hints: 1, calls: 99 } },
      "skill-issue",
    ],
    ["names a signal before a count", { counters: { ...none, signals: 2, calls: 99 } }, "signal"],
    ["comes when somebody asks, for nothing else", { asked: true, counters: none }, "asked"],
    ["comes when somebody asks, though reviews are off", { asked: true, ...allow({ mode: "off" }) }, "asked"],
    ["comes when somebody asks, though one just was", { asked: true, latestAt: now - minute }, "asked"],
    ["comes once the time is over", { latestAt: now - 30 * minute }, "threshold"],
    ["is not put off by a clock that was ahead", { latestAt: now + 600 * minute }, "threshold"],
    ["comes within the day's number", { today: 2 }, "threshold"],
    ["comes within the day's budget", { spent: 0.9, estimate: { unread: null, usd: 0.1 } }, "threshold"],
    ["comes in the other mode", allow({ mode: "auto" }), "threshold"],
  ])("%s", (_, more, because) =>
    expect(decideNudge({ ...ground, ...more })).toMatchObject({ run: true, because }),
  );

  it("does not speak of a last review before there was one", () => {
    const about = (lastReviewAt: number | null) =>
      decideNudge({ ...ground, window: empty, counters: { ...none, lastReviewAt } }).message;
    expect(about(null)).toContain("no session to review yet");
    expect(about(now)).toContain("since the last review");
  });

  it.each<[string, Partial<NudgeFacts>, NudgeHold]>([
    ["reviews are off", allow({ mode: "off" }), "off"],
    ["no model is set", allow({ unset: "no model is set" }), "no-model"],
    [
      "no model is set, though somebody asks",
      { asked: true, ...allow({ mode: "off", unset: "none" }) },
      "no-model",
    ],
    ["nothing has happened", { window: empty }, "nothing-new"],
    ["nothing has happened, though somebody asks", { asked: true, window: empty }, "nothing-new"],
    ["too little has happened", { counters: { ...none, calls: 14, turns: 9 } }, "nothing-new"],
    ["another one is at work", { running: true }, "running"],
    ["another one is at work, though somebody asks", { asked: true, running: true }, "running"],
    ["one just was", { latestAt: now - 29 * minute }, "too-soon"],
    ["there were enough today", { today: 3 }, "too-many-today"],
    ["there were enough today, though somebody asks", { asked: true, today: 3 }, "too-many-today"],
    ["the day's money is spent", { spent: 1 }, "budget-spent"],
    ["the day's money is spent, though somebody asks", { asked: true, spent: 1 }, "budget-spent"],
    [
      "the rest of the day's money is too little",
      { spent: 0.8, estimate: { unread: null, usd: 0.3 } },
      "budget-spent",
    ],
    ["it costs more than one may", { estimate: { unread: null, usd: 0.6 } }, "too-dear"],
    [
      "a call of it costs more than one may",
      { estimate: { unread: null, usd: 0.4 }, ...allow({ usdPerCall: 0.3 }) },
      "call-too-dear",
    ],
    ["nothing may be spent on one", allow({ usd: 0 }), "too-dear"],
    [
      "it costs more than one may, though somebody asks",
      { asked: true, estimate: { unread: null, usd: 0.6 } },
      "too-dear",
    ],
    ["the model failed", { pausedUntil: now + 5 * minute }, "breaker-open"],
    [
      "the model failed, though somebody asks",
      { asked: true, pausedUntil: now + 5 * minute },
      "breaker-open",
    ],
  ])("is held back because %s", (_, more, because) => {
    const decided = decideNudge({ ...ground, ...more });
    expect(decided).toMatchObject({ run: false, because });
    expect(decided.message).not.toBe("");
    // What it would have looked at is told all the same.
    expect(decided.window).toEqual(more.window ?? window);
  });

  test("tells the first of several reasons, always in the same order", () => {
    const order: readonly [NudgeHold, Partial<NudgeFacts>, Partial<ReviewLimits>][] = [
      ["off", {}, { mode: "off" }],
      ["no-model", {}, { unset: "none" }],
      ["nothing-new", { counters: none }, {}],
      ["running", { running: true }, {}],
      ["too-soon", { latestAt: now }, {}],
      ["too-many-today", { today: 9 }, {}],
      ["library-unread", { estimate: { unread: "locked", usd: 9 } }, {}],
      ["budget-spent", { spent: 2 }, {}],
      ["too-dear", {}, { usd: 0 }],
      ["breaker-open", { pausedUntil: now + minute }, {}],
    ];
    fc.assert(
      fc.property(fc.subarray([...order.keys()], { minLength: 1 }), (chosen) => {
        const some = chosen.map((at) => order[at] as (typeof order)[number]);
        const all = Object.assign({}, ground, ...some.map(([, more]) => more));
        const allowed = Object.assign({}, limits, ...some.map(([, , more]) => more));
        expect(decideNudge({ ...all, limits: allowed }).because).toBe(some[0]?.[0]);
      }),
    );
  });
});

/** What a project's ledger says happened since its last review. */
const countSince = (entries: readonly LedgerEntry[], looked: ReviewWindow | null = null) =>
  foldProgress(entries, "/p").count([], looked);

const common = { project: "/p", actor: "knack" as const };
const begun = (
  review: string,
  at: number,
  more: Partial<ReviewBegun> = {},
): Extract<LedgerEntry, { type: "review.begun" }> => ({
  ...common,
  at,
  session: null,
  type: "review.begun",
  key: `begun:${review}:${at}`,
  data: { review, window, cause: "threshold", mode: "suggest", model: "m", tries: 1, ...more },
});
const ended = (
  review: string,
  at: number,
  outcome: ReviewEnded["outcome"],
  looked: ReviewWindow,
  more: Partial<ReviewEnded> = {},
): EntryOf<"review.ended"> => ({
  ...common,
  at,
  session: null,
  type: "review.ended",
  key: `ended:${review}`,
  data: { review, outcome, because: "", proposals: [], window: looked, calls: 1, ...more },
});
const signalled = (
  id: string,
  at: number,
  kind: "create" | "update",
  refs: string[],
  refusal = false,
  run = "s",
): LedgerEntry => ({
  ...common,
  at,
  session: run,
  type: "signal.given",
  key: `signal:${id}`,
  data: {
    id,
    from: "agent",
    invocation: `${run}#${id}`,
    signal: { kind, refs, nameHint: `rl-${id[0]}` },
    refusal: refusal ? "no-prefix" : null,
    message: null,
  } as unknown as SignalGiven,
});

describe("what happened since the last review", () => {
  const start = now - 600 * minute;
  const until = start + 10 * minute;
  const reviewed: ReviewWindow = {
    stretches: [{ session: "/s/1.jsonl", run: "s", from: 1, to: 20 }],
    since: start,
    until,
  };

  it.each<[string, LedgerEntry[], Partial<ReviewCounters>]>([
    ["has no review before the first", [], { lastReviewAt: null, reviewedUntil: null }],
    [
      "is what came after it",
      [begun("v1", until + minute), ended("v1", until + 2 * minute, "nothing", reviewed)],
      { lastReviewAt: until + 2 * minute, reviewedUntil: until },
    ],
    [
      "is what was not given up",
      [begun("v1", now), ended("v1", now, "given-up", { ...window, until: now }, { givenUp: reviewed })],
      { reviewedUntil: until },
    ],
    ["is everything when it failed", [ended("v1", until, "failed", reviewed)], { lastReviewAt: null }],
    ["is everything when it was skipped", [ended("v1", until, "skipped", reviewed)], { lastReviewAt: null }],
    [
      "is what counts of what was signalled",
      [
        signalled("1", start, "create", ["e1", "e2"]),
        signalled("1 again", start, "create", ["e1", "e2"], false, "t"),
        signalled("2", start, "update", ["e1", "e2"]),
        signalled("3", start, "create", ["e1", "e2"], true),
      ],
      { signals: 1, hints: 1 },
    ],
    [
      "is not what a review has seen, but what was said after it began, or is about more",
      [
        signalled("1", start, "create", ["e1", "e2"]),
        signalled("2", until + minute + 1, "update", ["e1", "e2"]),
        signalled("3", start, "create", ["e2", "e30"]),
        begun("v1", until + minute),
        ended("v1", until + 9 * minute, "proposed", reviewed),
      ],
      { signals: 1, hints: 1 },
    ],
    [
      "is what was said of a session before a review of others",
      [
        begun("v1", until + minute),
        ended("v1", until + 9 * minute, "nothing", reviewed),
        signalled("1", until + 20 * minute, "update", ["e1", "e2"]),
        begun("v2", until + 30 * minute),
        ended("v2", until + 40 * minute, "nothing", {
          ...window,
          stretches: [{ session: "/s/2.jsonl", run: "t", from: 1, to: 9 }],
        }),
      ],
      { hints: 1 },
    ],
  ])("%s", (_, entries, expected) => expect(countSince(entries)).toMatchObject(expected));

  test("is not, once it was looked at, what a signal points to that only a hook saw", () => {
    const entries = [
      signalled("1", start, "update", ["e1", "h900"]),
      begun("v1", until + minute),
      ended("v1", until + 9 * minute, "nothing", reviewed),
    ];
    expect(countSince(entries).hints).toBe(0);
  });

  test("is, of signals, what can be looked at", () => {
    const entries = [
      signalled("1", start, "update", ["e1", "e2"], false, "read late"),
      signalled("2", start, "update", ["e1", "e2"], false, "gone"),
      signalled("3", until + 2 * minute, "update", ["e1", "e2"], false, "gone"),
      begun("v1", until + minute),
      ended("v1", until + 9 * minute, "nothing", reviewed),
    ];
    const looked = { ...window, stretches: [{ session: "/s/2.jsonl", run: "read late", from: 1, to: 9 }] };
    expect(countSince(entries, looked).hints).toBe(1);
  });

  test("is the same in whatever order it is read", () => {
    const entries = [
      signalled("1", start, "create", ["e1", "e2"]),
      signalled("2", now, "update", ["e3", "e2"]),
      begun("v1", until),
      ended("v1", until + minute, "nothing", reviewed),
    ];
    const whole = countSince(entries);
    fc.assert(
      fc.property(fc.shuffledSubarray(entries, { minLength: entries.length }), (mixed) => {
        expect(countSince(mixed)).toEqual(whole);
      }),
    );
  });

  it.each<[string, number, number]>([
    ["behind the last event that was looked at", 40, 33],
    ["nowhere while nothing was added", 33, 33],
    ["behind what was looked at of it once it is written anew, and shorter", 25, 20],
    ["at its beginning if that is shorter still", 9, 0],
  ])("begins, for a session, %s", (_, events, looked) => {
    const more = { ...reviewed, stretches: [{ session: "/s/1.jsonl", run: "s", from: 21, to: 33 }] };
    const soFar = foldProgress(
      [
        ended("v2", 2, "published", more),
        ended("v1", 1, "nothing", reviewed),
        ended("v3", 3, "failed", window),
      ],
      "/p",
    );
    expect(soFar.findReviewedEnd("/s/1.jsonl", events)).toBe(looked);
    expect(soFar.findReviewedEnd("/s/2.jsonl", events)).toBe(0);
  });
});

describe("the pace of reviews", () => {
  test("counts each once, however often it was begun, and forgets those of yesterday", () => {
    const entries = [
      begun("v0", now - 86_400_000),
      begun("v1", now - 90),
      begun("v1", now - 50),
      begun("v2", now - 70),
      begun("by a clock that was a year ahead", now + 365 * 86_400_000),
    ];
    expect(measurePace(entries, now)).toMatchObject({ today: 2, latestAt: now - 50 });
    expect(measurePace([], now)).toEqual({ today: 0, latestAt: null, pausedUntil: null });
    // One that nobody was reached for keeps the pace, and takes no other's place.
    const skipped = ended("v1", now - 40, "skipped", window);
    expect(measurePace([...entries, skipped], now)).toMatchObject({ today: 1, latestAt: now - 50 });
    const failed = ended("v1", now - 40, "failed", window);
    expect(measurePace([...entries, failed], now)).toMatchObject({ today: 2 });
  });
});

describe("reviews that fail", () => {
  const findFailurePause = (reviews: readonly EntryOf<"review.ended">[], at: number) =>
    measurePace(reviews, at).pausedUntil;
  const having = (...outcomes: ReviewEnded["outcome"][]) =>
    outcomes.map((outcome, n) => ended(`r${n}`, now - (outcomes.length - n) * minute, outcome, window));
  const [failuresToOpen, openMinutes] = [5, 60];
  const failed = Array<"failed">(failuresToOpen).fill("failed");

  it.each<[string, ReviewEnded["outcome"][], boolean]>([
    ["several in a row hold the next back", failed, true],
    ["one less does not", failed.slice(1), false],
    ["one that was given up is one of them", [...failed.slice(1), "given-up"], true],
    ["one that was left for later is none, and ends no row", ["failed", "skipped", ...failed.slice(1)], true],
    ["one that came through ends the row", [...failed, "nothing"], false],
    ["what was refused came through", [...failed, "refused"], false],
  ])("%s", (_, outcomes, holds) => {
    const until = findFailurePause(having(...outcomes), now);
    expect(until).toBe(holds ? now - minute + openMinutes * minute : null);
    expect(findFailurePause(having(...outcomes), now + openMinutes * minute)).toBeNull();
    // Noted by a clock that was a year ahead, they hold nothing back.
    expect(findFailurePause(having(...outcomes), now - 365 * 86_400_000)).toBeNull();
  });

  test("by rules alone, which asked nobody, end no row", () => {
    const [first, ...others] = having(...failed, "nothing").reverse();
    const byRules = { ...first, data: { ...first?.data, calls: 0 } } as EntryOf<"review.ended">;
    expect(findFailurePause([...others.reverse(), byRules], now)).not.toBeNull();
  });

  const looking = (...stretches: [session: string, from: number, to: number][]): ReviewWindow => ({
    stretches: stretches.map(([id, from, to]) => ({ session: id, run: `run-${id}`, from, to })),
    since: now - minute,
    until: now + Math.max(...stretches.map(([, , to]) => to)),
  });
  type Past = [outcome: ReviewEnded["outcome"], looked: ReviewWindow, givenUp?: ReviewWindow];

  it.each<[string, Past[], ReviewWindow, ReviewWindow | null]>([
    ["is nothing at first", [], looking(["a", 1, 9]), null],
    ["is nothing the second time", [["failed", looking(["a", 1, 9])]], looking(["a", 1, 9]), null],
    [
      "is all of it the third time",
      [
        ["failed", looking(["a", 1, 9])],
        ["skipped", looking(["a", 1, 9])],
        ["failed", looking(["a", 1, 9])],
      ],
      looking(["a", 1, 9]),
      looking(["a", 1, 9]),
    ],
    [
      "is not what joined it",
      [
        ["failed", looking(["a", 1, 9])],
        ["failed", looking(["a", 1, 9])],
      ],
      looking(["a", 1, 9], ["b", 1, 5]),
      looking(["a", 1, 9]),
    ],
    [
      "is not what came behind it",
      [
        ["failed", looking(["a", 1, 9])],
        ["failed", looking(["a", 1, 12])],
      ],
      looking(["a", 1, 30]),
      looking(["a", 1, 9]),
    ],
    [
      "counts the time that another was given up",
      [
        ["failed", looking(["a", 1, 9], ["b", 1, 5])],
        ["given-up", looking(["a", 1, 9], ["b", 1, 5]), looking(["a", 1, 9])],
      ],
      looking(["b", 1, 5]),
      looking(["b", 1, 5]),
    ],
  ])("what is given up %s", (_, past, looked, givenUp) => {
    const entries = past.map(([outcome, one, vain], n) =>
      ended(`r${n}`, now + n, outcome, one, vain ? { givenUp: vain } : {}),
    );
    expect(foldProgress(entries, "/p").findGivenUp(looked)?.stretches).toEqual(givenUp?.stretches);
    expect(foldProgress(entries, "/q").findGivenUp(looked)).toBeNull();
  });
});
