import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReviewLimits } from "../../src/authoring/reviews/nudge.ts";
import { createReviewer } from "../../src/authoring/reviews/review.ts";
import { recordEntries } from "../../src/lessons/fold.ts";
import { type Model, type ModelReply, type ModelRequest, unserved } from "../../src/models/model.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { Session } from "../../src/records/session.ts";
import type { Store } from "../../src/store/store.ts";
import { ran, said, session as sessionOf } from "../helpers/events.ts";
import { minute } from "../helpers/lived.ts";
import { type Desk, desk } from "../helpers/publishing.ts";
import { runs } from "../helpers/runs.ts";

type ReviewDeps = Parameters<typeof createReviewer>[0];

/** Two work in one project, two in another: the machine's budgets are for both. */
const projects = ["/p", "/q"] as const;
const events = sessionOf(
  said("deploy it"),
  ran("make deploy", "failed", "no tunnel"),
  ran("make tunnel", "ok"),
  ran("make deploy", "ok"),
);

/** A session of which an agent said that it should have learned something. */
async function grows(store: Store, n: number, project: string, at: number): Promise<void> {
  const path = `/s/${n}.jsonl`;
  const session: Session = {
    ...{ id: path, path, format: "claude-code", project: { id: project, name: "work", root: null } },
    counts: { events: 4, prompts: 1, calls: 3, failed: 1, rejected: 0 },
    ...{ sessionId: `run-${n}`, agentId: null, subagent: false, cwd: project, remote: null },
    ...{ transcriptPath: null, startedAt: at, endedAt: at + 1 },
  };
  const reading = {
    ...{ path, format: "claude-code" as const, size: 1, modifiedAt: 1, diagnostics: [], cachedAt: 1 },
    ...{ position: { offset: 1, line: 1, digest: "" }, state: { threads: [], rest: null } },
  };
  const given: LedgerEntry = {
    ...{ at, project, session: `run-${n}`, actor: "agent", type: "signal.given", key: `signal:${n}` },
    data: {
      ...{ id: `s${n}`, from: "agent", invocation: `run-${n}#1`, refusal: null, message: null },
      signal: {
        ...{ kind: "create", nameHint: `rl-task-${n}`, trigger: "recovered_surprise", refs: ["e2", "e4"] },
        ...{ deferred: "needs_full_context_review", summary: "the tunnel comes first" },
      },
    },
  };
  await store.transaction(async (tx) => {
    await tx.readings.save([reading]);
    await tx.sessions.save([session]);
    await tx.events.save([{ session: path, events }]);
    await recordEntries(tx, [given]);
  });
}

/** What a scripted model does when it is asked, and what of that which was set aside it takes for it. */
const replies = [...Array<"more">(6).fill("more"), "nothing", "garbage", "time-out", "overloaded"] as const;
type Reply = (typeof replies)[number];
const shares = [0.3, 0.9, 1] as const;

function replyTo(request: ModelRequest, reply: Reply, share: number): ModelReply {
  const usage = { inputTokens: 1_000, outputTokens: 100, costUsd: request.maxUsd * share };
  const failed = { ok: false as const, message: "scripted", ms: 1 };
  if (reply === "time-out") return { ...failed, because: "time-out", usage: null };
  if (reply === "overloaded") return { ...failed, because: "overloaded", usage: unserved };
  const value =
    reply === "garbage"
      ? "what?"
      : { because: "so", expand: reply === "more" ? ["s1.e1", "s1.e3"] : [], drafts: [] };
  return { ok: true, value, usage, ms: 1 };
}

/** A call may cost about seven tenths of a cent: few of them are allowed. */
const price = { input: 0.2, output: 1 };
const limits: ReviewLimits = {
  ...{ mode: "auto", calls: 15, apartMs: 100, perDay: 8, unset: null },
  ...{ usd: 0.016, usdPerCall: 0.012, usdPerDay: 0.03 },
};

/** One of several who review at once: everything it does waits for its turn. */
function worker(
  own: Desk,
  { holder, isAgent }: { readonly holder: string; readonly isAgent: boolean },
  turn: <T>(work: () => Promise<T>) => Promise<T>,
  script: () => readonly [Reply, number],
): ReviewDeps {
  const { store, clock } = own;
  const model: Model = {
    ...{ name: "openai/some-mini", to: "nowhere", isLive: true, isAgent, unset: null },
    ask: (request) => turn(async () => replyTo(request, ...script())),
  };
  return {
    ...own,
    store: { ...store, transaction: (work) => turn(() => store.transaction(work)) },
    ...{ model, price, allowed: limits, timeoutMs: minute },
    limits: { usdPerDay: limits.usdPerDay, usdPerCall: limits.usdPerCall },
    catalog: () => turn(async () => ({ items: [], problems: [], unread: [], files: [], here: null })),
    refuses: async () => null,
    claim: (until) => turn(() => store.leases.take("review", { holder, now: clock.now(), until })),
    giveBack: () => turn(() => store.leases.release("review", holder)),
  };
}

/** The most that any day, any review and any call cost; the most reviews of any day; and the least time between two. */
function extremesOf(entries: readonly LedgerEntry[]) {
  const costs = new Map<string, { at: number; purpose: string; usd: number }>();
  for (const { at, type, data } of entries)
    if (type === "model.asked")
      costs.set(data.call, { at: at ?? 0, purpose: data.purpose, usd: data.usdAtMost });
  for (const { type, data } of entries) {
    const asked = type === "model.called" ? costs.get(data.call) : undefined;
    if (asked && type === "model.called") asked.usd = data.usd;
  }
  const calls = [...costs.values()];
  const sum = (some: typeof calls) => some.reduce((all, { usd }) => all + usd, 0);
  const begun = entries.flatMap((entry) =>
    entry.type === "review.begun" && entry.data.tries === 1 ? (entry.at ?? 0) : [],
  );
  const inDay = (at: number) => (other: number) => other <= at && other > at - 86_400_000;
  return {
    day: Math.max(0, ...calls.map(({ at }) => sum(calls.filter((one) => inDay(at)(one.at))))),
    review: Math.max(0, ...calls.map(({ purpose }) => sum(calls.filter((one) => one.purpose === purpose)))),
    call: Math.max(0, ...calls.map(({ usd }) => usd)),
    calls: calls.length,
    count: Math.max(0, ...begun.map((at) => begun.filter(inDay(at)).length)),
    apart: Math.min(...begun.slice(1).map((at, n) => at - (begun[n] ?? 0))),
  };
}

/** What reviews were done with, each as often as one was. */
function lookedAt(entries: readonly LedgerEntry[]): string[] {
  return entries.flatMap((entry) =>
    entry.type === "review.ended" && !["failed", "skipped"].includes(entry.data.outcome)
      ? (entry.data.givenUp ?? entry.data.window).stretches.map(({ session, from }) => `${session} ${from}`)
      : [],
  );
}

/** How often money was in the way: before a review, and in one. */
function heldIn(entries: readonly LedgerEntry[]) {
  const count = (isOne: (entry: LedgerEntry) => boolean) => entries.filter(isOne).length;
  return {
    before: count(({ type, data }) => type === "nudge.decided" && data.because === "budget-spent"),
    within: count(({ type, data }) => type === "review.ended" && data.because.includes("could cost")),
  };
}

/** Four who review at once, in an order, by models that do as they are scripted; answers with the ledger. */
async function together(
  scheduler: fc.Scheduler,
  next: () => readonly [Reply, number],
  step: () => number,
): Promise<LedgerEntry[]> {
  let now = Date.UTC(2026, 0, 10);
  const clock = { now: () => (now += step()) };
  const own = await desk({ clock });
  let sessions = 0;
  const turn = <T>(work: () => Promise<T>): Promise<T> => scheduler.schedule(Promise.resolve()).then(work);
  const works = async (n: number) => {
    const deps = worker(own, { holder: `${n}`, isAgent: n > 2 }, turn, next);
    const project = projects[n % 2] ?? "";
    for (let times = 0; times < 4; times++) {
      await grows(own.store, sessions++, project, now);
      // Whoever finds another at work, or comes too soon, comes again.
      for (let tries = 0; tries < 10; tries++)
        if ((await createReviewer(deps).reviewProject(project, false)).ended !== null) break;
    }
  };
  await scheduler.waitFor(Promise.all([works(1), works(2), works(3), works(4)]));
  const entries = await own.store.ledger.all();
  await own.store.close();
  return entries;
}

describe("four workers who review at once", () => {
  it.each<[string, fc.Parameters<unknown>]>([
    ["in whatever order", { numRuns: runs(20) }],
    ["by a seed that stays", { numRuns: 7, seed: 11 }],
  ])("never exceed a budget, never begin too often, and look at nothing twice, %s", async (_, how) => {
    const all = { calls: 0, day: 0, before: 0, within: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.infiniteStream(fc.tuple(fc.constantFrom(...replies), fc.constantFrom(...shares))),
        // Mostly a moment; now and then as long as a lease, so that one works who has none any more.
        fc.infiniteStream(
          fc.oneof(
            { weight: 150, arbitrary: fc.integer({ min: 1, max: 100 }) },
            { weight: 1, arbitrary: fc.integer({ min: minute, max: 2 * 300_000 }) },
          ),
        ),
        async (scheduler, script, steps) => {
          const next = () => script.next().value as readonly [Reply, number];
          const entries = await together(scheduler, next, () => steps.next().value as number);
          const { day, review: one, call, calls, count, apart } = extremesOf(entries);
          expect(day).toBeLessThanOrEqual(limits.usdPerDay + 1e-9);
          expect(one).toBeLessThanOrEqual(limits.usd + 1e-9);
          expect(call).toBeLessThanOrEqual(limits.usdPerCall + 1e-9);
          expect(count).toBeLessThanOrEqual(limits.perDay);
          expect(apart).toBeGreaterThanOrEqual(limits.apartMs);
          const looked = lookedAt(entries);
          expect(looked).toEqual([...new Set(looked)]);
          const { before, within } = heldIn(entries);
          all.calls += calls;
          all.day = Math.max(all.day, day);
          all.before += before;
          all.within += within;
        },
      ),
      how,
    );
    // Bounds that nothing came near would show nothing; what comes by chance need not come near them.
    if (how.seed === undefined) return;
    expect(all.day).toBeGreaterThan(0.7 * limits.usdPerDay);
    expect(all.calls).toBeGreaterThan(15);
    expect(all.before + all.within).toBeGreaterThan(0);
  });
});
