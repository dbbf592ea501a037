import { makeId } from "../base/index.ts";
import { areContrary, isWorthShowing } from "../lessons/index.ts";
import type { EntryOf, Goal, GoalBrief, LedgerEntry } from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { cutAtWord, extractTerms, measureSimilarity, several } from "../text/index.ts";
import {
  type Cadence,
  describeOverdue,
  driftGoals,
  listUnreflected,
  listWorthKeeping,
  type Repair,
} from "./checks.ts";
import { foldGoals, readHistory } from "./folds.ts";
import { record } from "./record.ts";
import { type GoalCaller, type GoalReply, recentGoals } from "./verbs.ts";
import { type DutyDeps, leaseName, readOverdue } from "./view.ts";

/** Share of their words from which two observations are one surprise that came again. */
const sameShare = 0.6;
/** How long a full reflection may take before another may begin one. */
const reflectionMs = 10 * 60_000;
/** A page that stays stale is a debt again after as long as it took to grow stale. */
const staleAgainMs = 90 * 86_400_000;
const shownOften = 5;
const mostNames = 25;

type Call = { readonly deps: DutyDeps; readonly caller: GoalCaller };

/** A project's goals since a duty was last done, and the latest one, which new entries go to. */
async function readSince({ deps: { store }, caller: { project } }: Call, duty: Cadence) {
  const kept = (await store.ledger.since("cadence.kept", 0)).filter(
    (one) => one.project === project.id && one.data.duty === duty,
  );
  const doneAt = kept.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
  const briefs = await store.goals.briefs(project.id);
  const recent = readHistory(briefs).closed.filter(({ closedAt }) => closedAt > doneAt);
  const goals = await store.goals.get(recent.map(({ goal }) => goal.id));
  return { briefs, goals, latest: goals.at(-1) ?? null, n: kept.length + 1 };
}

function finish(
  { deps, caller }: Call,
  duty: Cadence,
  n: number,
  text: string,
  names: readonly string[],
): LedgerEntry {
  const at = deps.clock.now();
  return {
    ...{ at, project: caller.project.id, session: null, actor: caller.actor, type: "cadence.kept" },
    key: `cadence:${caller.project.id}:${duty}:${n}`,
    data: { duty, text, names },
  };
}

function predict(goal: Goal, claim: string, at: number): LedgerEntry {
  const prediction = makeId("p", `${goal.id} ${claim}`);
  return {
    ...{ at, project: goal.project, session: goal.session, actor: "knack", type: "goal.predicted" },
    key: `goal:${goal.id}:predicted:${prediction}`,
    data: { goal: goal.id, prediction, claim, confidence: 0.5, dueAt: null },
  };
}

/** Recurring failures, stale pages and drifting goals. */
export async function checkIn(call: Call): Promise<GoalReply> {
  const { deps, caller } = call;
  const { briefs, goals, latest, n } = await readSince(call, "check-in");
  if (latest === null)
    return { data: { done: false, next: [] }, lines: ["No goal has ended since the last check-in."] };
  const at = deps.clock.now();
  const entries: LedgerEntry[] = [];
  const again = findRecurring(goals);
  entries.push(...again.map((text) => predict(latest, `It will come again: ${text}`, at)));
  const pages = await deps.pages(caller.project);
  const stale = (await pages?.debts()) ?? [];
  const debt = (reason: string, page: string | null): EntryOf<"goal.debt"> => ({
    ...{ at, project: latest.project, session: latest.session, actor: "knack", type: "goal.debt" },
    key: `goal:${latest.id}:debt:${reason}:${page}`,
    data: {
      ...{ goal: latest.id, debt: makeId("d", `${latest.id} ${reason} ${page}`), reason },
      ...{ priority: page === null ? "HIGH" : "MEDIUM", page },
    },
  });
  const noted = new Set(
    (await deps.store.ledger.since("goal.debt", at - staleAgainMs)).map(({ data }) => data.page),
  );
  entries.push(...stale.flatMap(({ page, reason }) => (noted.has(page) ? [] : debt(reason, page))));
  const drift = foldGoals(readHistory(briefs)).goalsSinceKept;
  const saved = drift >= driftGoals ? await keepBest(deps, goals) : null;
  if (saved !== null) entries.push(saved);
  else if (drift >= driftGoals) entries.push(debt("encoding_drift_checkpoint", null));
  const told = [
    `${several(goals.length, "goal")} looked through`,
    again.length > 0 && `${several(again.length, "surprise")} came again`,
    stale.length > 0 && `${several(stale.length, "page")} grow stale`,
    saved !== null && `kept: ${cutAtWord(saved.data.insight, 120)}`,
    saved === null &&
      drift >= driftGoals &&
      `drift: ${several(drift, "goal")} without a lesson, and nothing to keep`,
  ].filter((line) => line !== false);
  const next = await listOverdue(deps.store, briefs, at);
  entries.push(
    finish(
      call,
      "check-in",
      n,
      told.join("; "),
      goals.map(({ id }) => id),
    ),
  );
  await deps.store.transaction((tx) => record(tx, entries));
  return {
    data: {
      done: true,
      goals: goals.length,
      again,
      stale: stale.length,
      kept: saved?.data.insight ?? null,
      next,
    },
    lines: [...told, ...next.flatMap(({ say, command }) => [say, `  ${command}`])],
  };
}

/** What is past its time: conclusions that block something, and predictions that nobody resolved. */
async function listOverdue(store: Store, briefs: readonly GoalBrief[], now: number): Promise<Repair[]> {
  const recent = await store.goals.get(briefs.slice(-recentGoals).map(({ id }) => id));
  const conclusions = (await readOverdue(store, briefs, now)).map(describeOverdue);
  const predictions = recent.flatMap(({ id, predictions: all, resolutions }) =>
    all
      .filter(
        ({ dueAt, prediction }) =>
          dueAt !== null && dueAt <= now && !resolutions.some((one) => one.prediction === prediction),
      )
      .map(({ prediction, claim }) => ({
        say: `Say how "${cutAtWord(claim, 100)}" turned out`,
        command: `knack goal resolve --goal ${id} --prediction ${prediction} --outcome expired`,
      })),
  );
  return [...conclusions, ...predictions];
}

/** Observations that two goals or more have in common. */
function findRecurring(goals: readonly Goal[]): string[] {
  const all = goals.flatMap(({ id, observations }) =>
    observations.map(({ text }) => ({ id, text, terms: extractTerms(text) })),
  );
  const found = all.filter(({ id, text, terms }, at) =>
    all
      .slice(0, at)
      .some(
        (one) =>
          one.id !== id && measureSimilarity(one.terms, terms) >= sameShare && !areContrary(one.text, text),
      ),
  );
  return [...new Set(found.map(({ text }) => text))];
}

/** Keeps the best observation that nobody kept; null where there is none worth it. */
async function keepBest(deps: DutyDeps, goals: readonly Goal[]): Promise<EntryOf<"goal.kept"> | null> {
  const open = goals.flatMap((goal) =>
    goal.kept.length > 0 ? [] : listWorthKeeping(goal).map((one) => ({ ...one, goal })),
  );
  const [best] = open.sort((a, b) => b.score - a.score || a.at - b.at);
  if (best === undefined) return null;
  const { goal, observation, text: insight, excerpt: evidence, score: confidence } = best;
  const pages = await deps.pages({ id: goal.project, root: goal.root });
  const page = (await pages?.find(insight, { limit: 1 }))?.[0]?.page ?? null;
  const written = await pages?.keep({ page, insight, goal: goal.id, evidence, confidence });
  if (written && written.page === null) return null;
  return {
    ...{
      at: deps.clock.now(),
      project: goal.project,
      session: goal.session,
      actor: "knack",
      type: "goal.kept",
    },
    key: `goal:${goal.id}:kept:drift:${observation}`,
    data: {
      ...{ goal: goal.id, observation, insight },
      ...(written ? { how: "page", name: written.page } : { how: "goal", name: goal.id }),
    },
  };
}

/** Reflects on every resolved prediction of the project that nobody reflected on; a review comes next. */
export async function reflectFully(call: Call): Promise<GoalReply> {
  const { deps, caller } = call;
  const now = deps.clock.now();
  const lease = leaseName(caller.project.id);
  if (!(await deps.claim(lease, now + reflectionMs)))
    return {
      data: { done: false, deferred: true },
      lines: ["Put off: another process is at it."],
      isNo: true,
    };
  try {
    const { briefs, latest, n } = await readSince(call, "full-reflection");
    const open = (await readAll(deps.store, briefs)).flatMap((goal) =>
      listUnreflected(goal).map((one) => ({ goal, one })),
    );
    const entries = open.map(
      ({ goal, one }): LedgerEntry => ({
        ...{ at: now, project: goal.project, session: goal.session, actor: "knack", type: "goal.reflected" },
        key: `goal:${goal.id}:reflected:full:${one.prediction}`,
        data: {
          goal: goal.id,
          prediction: one.prediction,
          text: `${one.outcome}: ${one.because || one.claim}`,
        },
      }),
    );
    const text = `${several(open.length, "resolved prediction")} reflected on`;
    if (latest !== null) entries.push(finish(call, "full-reflection", n, text, []));
    await deps.store.transaction((tx) => record(tx, entries));
    const next = [{ say: "Review what the project's sessions taught", command: "knack review --now" }];
    return {
      data: { done: latest !== null, reflected: open.length, next },
      lines: [text, "Next: knack review --now"],
    };
  } finally {
    await deps.giveBack(lease);
  }
}

async function readAll({ goals }: Store, briefs: readonly GoalBrief[]): Promise<Goal[]> {
  return goals.get(briefs.map(({ id }) => id));
}

/** Items that were shown often and never helped, and items that were never shown. Retires nothing: unrated is not useless. */
export async function listUtility(call: Call): Promise<GoalReply> {
  const { deps } = call;
  const { store } = deps;
  const { n, latest } = await readSince(call, "utility");
  const told = await store.ledger.since("lesson.shown", 0);
  const lessonIds = await store.learning.findings.lessonIds([
    ...new Set(told.map(({ data }) => data.lessonId)),
  ]);
  const counts = new Map<string, number>();
  const count = (id: string) => counts.set(id, (counts.get(id) ?? 0) + 1);
  for (const { data } of told) count(lessonIds.get(data.lessonId) ?? data.lessonId);
  for (const { data } of await store.ledger.since("skill.shown", 0)) count(data.skill);
  const ratings = await store.ledger.since("use.rated", 0);
  const helped = new Set(
    ratings.flatMap(({ data }) => (data.verdict === "helpful" ? [data.id, lessonIds.get(data.id)] : [])),
  );
  const lessons = (await store.learning.lessons.list()).filter(isWorthShowing);
  const things = [...lessons, ...(await deps.items()).filter(({ draft }) => !draft)];
  const noise = things
    .filter(({ id }) => (counts.get(id) ?? 0) >= shownOften && !helped.has(id))
    .map(({ name }) => name);
  const never = things.filter(({ id }) => !counts.has(id)).map(({ name }) => name);
  const [shown, unseen] = [noise.slice(0, mostNames), never.slice(0, mostNames)];
  const text = `${several(noise.length, "thing")} shown ${shownOften} times and never helped; ${never.length} never shown`;
  if (latest !== null)
    await store.transaction((tx) => record(tx, [finish(call, "utility", n, text, [...shown, ...unseen])]));
  return {
    data: {
      never_helped: shown,
      never_shown: unseen,
      counts: { never_helped: noise.length, never_shown: never.length },
      next: [],
    },
    lines: [
      text,
      ...shown.map((name) => `  never helped: ${name}`),
      ...unseen.map((name) => `  never shown: ${name}`),
    ],
  };
}

/** What the goals of a batch have in common, what surprised in them, and what contradicts. */
export function describeBatch(name: string, goals: readonly Goal[]): string {
  const seen = goals.flatMap(({ observations }) => observations.map(({ text }) => text));
  const surprises = goals
    .flatMap(({ resolutions }) => resolutions)
    .filter(({ outcome }) => outcome === "corrected");
  const list = (what: string, found: readonly string[]) =>
    found.length === 0
      ? []
      : [
          `${what}: ${found
            .slice(0, 3)
            .map((one) => cutAtWord(one, 120))
            .join("; ")}`,
        ];
  const told = [
    ...list("in common", findRecurring(goals)),
    ...list(
      "surprised",
      surprises.flatMap(({ because }) => (because === "" ? [] : because)),
    ),
    ...list("contradicts", findContrary(seen)),
    ...list("seen", seen),
  ];
  return `${name}: ${several(goals.length, "goal")}, ${told.length === 0 ? "nothing was observed" : told.join(" · ")}`;
}

function findContrary(seen: readonly string[]): string[] {
  return seen.flatMap((text, at) =>
    seen.slice(at + 1).flatMap((other) => (areContrary(text, other) ? [`${text} / ${other}`] : [])),
  );
}
