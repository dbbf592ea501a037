/** A session in a comparison: whether it had what is compared, and what was measured of it, between 0 and 1. */
export interface Unit {
  readonly had: boolean;
  readonly value: number;
}

/** What a comparison says so far. It stays true however often, and whenever, it is looked at. */
export interface TrialDifference {
  /** Sessions that had it, and that had not, with what was measured on average. */
  readonly had: Side;
  readonly hadNot: Side;
  /** With less without: the best guess, and between which bounds it is. */
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
  readonly verdict: "less" | "more" | "no-difference" | "too-few";
  /** Pairs of sessions that were compared; and about how many it takes to see the smallest difference worth knowing. */
  readonly pairs: number;
  readonly needed: number;
}

interface Side {
  readonly sessions: number;
  readonly mean: number | null;
}

/** How often an interval may miss the truth, however often it is looked at. */
const error = 0.05;
/** Pairs of sessions before anything is said. */
const fewestPairs = 5;
/** The smallest difference that is worth knowing, as a share of the most that there could be. */
const worth = 0.2;
/** Share of its wealth that a bet may lose. */
const boldness = 0.5;

/**
 * Compares sessions that were dealt to both sides by chance, in the order of time. Each side's sessions since the last
 * pair make the next one as soon as both have some: neighbours are compared, so that what changes over months touches
 * both sides alike.
 */
export function compareInTurn(units: readonly Unit[]): TrialDifference {
  const pairs: number[] = [];
  let open: Unit[] = [];
  for (const unit of units) {
    open.push(unit);
    const [had, hadNot] = splitSides(open);
    if (had.mean === null || hadNot.mean === null) continue;
    pairs.push(had.mean - hadNot.mean);
    open = [];
  }
  return summarize(units, pairs);
}

/** Sessions of a project before something and after it, in the order of time. */
interface Course {
  readonly before: readonly number[];
  readonly after: readonly { readonly at: number; readonly value: number }[];
}

/** Compares sessions before something with those after it, in each project the first with the first, and so on. */
export function compareCourses(courses: readonly Course[]): TrialDifference {
  const pairs = courses.flatMap(({ before, after }) =>
    after.slice(0, before.length).map(({ at, value }, n) => ({ at, difference: value - (before[n] ?? 0) })),
  );
  const units = courses.flatMap(({ before, after }) => [
    ...before.map((value) => ({ had: false, value })),
    ...after.map(({ value }) => ({ had: true, value })),
  ]);
  const inTime = pairs.sort((a, b) => a.at - b.at).map(({ difference }) => difference);
  return summarize(units, inTime);
}

function summarize(units: readonly Unit[], pairs: readonly number[]): TrialDifference {
  const [had, hadNot] = splitSides(units);
  // From [-1, 1] to [0, 1], where bets are made, and back.
  const scaled = pairs.map((pair) => (pair + 1) / 2);
  const bounds = boundMean(scaled);
  const [low, high] = [2 * bounds.low - 1, 2 * bounds.high - 1];
  const estimate = pairs.length === 0 ? 0 : pairs.reduce((sum, pair) => sum + pair, 0) / pairs.length;
  const needed = estimateNeeded(units, pairs.length);
  const verdict = ((): TrialDifference["verdict"] => {
    if (pairs.length < fewestPairs) return "too-few";
    if (low > 0) return "more";
    if (high < 0) return "less";
    return high - low <= 2 * worth ? "no-difference" : "too-few";
  })();
  return { had, hadNot, estimate, low, high, verdict, pairs: pairs.length, needed };
}

function splitSides(units: readonly Unit[]): [had: Side, hadNot: Side] {
  const measureSide = (had: boolean): Side => {
    const values = units.flatMap((unit) => (unit.had === had ? unit.value : []));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return { sessions: values.length, mean: values.length === 0 ? null : mean };
  };
  return [measureSide(true), measureSide(false)];
}

/**
 * Between which bounds the mean of values in [0, 1] is, with an error that holds for all times of looking together.
 * Somebody bets, value by value, against a mean m, by a stake that is fixed before the value is seen. If m is the mean,
 * the game is fair, and by Ville's inequality the chance that the wealth ever reaches 1 / error is at most the error. So
 * whoever gets that rich has shown that m is not the mean; what no bettor could refute is the interval.
 */
export function boundMean(values: readonly number[]): { readonly low: number; readonly high: number } {
  // Half of the error for each side.
  const low = findRefuted(values, error / 2);
  const mirrored = values.map((value) => 1 - value);
  return { low, high: 1 - findRefuted(mirrored, error / 2) };
}

/** The largest mean that betting on more than it has refuted. Wealth falls with the mean, so halving finds it. */
function findRefuted(values: readonly number[], chance: number): number {
  const stakes = placeStakes(values, chance);
  const isRefuted = (mean: number) => everReaches(values, stakes, mean, Math.log(1 / chance));
  if (!isRefuted(0)) return 0;
  let [refuted, open] = [0, 1];
  for (let step = 0; step < halvings; step++) {
    const middle = (refuted + open) / 2;
    if (isRefuted(middle)) refuted = middle;
    else open = middle;
  }
  return refuted;
}

const halvings = 20;

/** Whether the wealth of whoever bets on more than a mean ever was this large. */
function everReaches(
  values: readonly number[],
  stakes: readonly number[],
  mean: number,
  goal: number,
): boolean {
  let wealth = 0;
  for (const [at, value] of values.entries()) {
    // A stake that can be lost whole would end the game.
    const stake = Math.min(stakes[at] ?? 0, boldness / mean);
    wealth += Math.log1p(stake * (value - mean));
    if (wealth >= goal) return true;
  }
  return false;
}

/** What is staked on each value, from the spread of those before it alone. */
function placeStakes(values: readonly number[], chance: number): number[] {
  let [sum, squares] = [0.5, 0.25];
  return values.map((value, at) => {
    const n = at + 1;
    const stake = Math.sqrt((2 * Math.log(1 / chance)) / ((squares / n) * n * Math.log(n + 1)));
    sum += value;
    squares += (value - sum / (n + 1)) ** 2;
    return stake;
  });
}

/** About how many pairs it takes before the interval is no wider than twice the smallest difference worth knowing. */
function estimateNeeded(units: readonly Unit[], pairs: number): number {
  // A pair's side is the mean of as many sessions as there are for each pair.
  const spreadOf = (had: boolean) => {
    const values = units.flatMap((unit) => (unit.had === had ? unit.value : []));
    return measureVariance(values) / (pairs > 0 ? Math.max(1, values.length / pairs) : 1);
  };
  const spread = Math.sqrt(spreadOf(true) + spreadOf(false));
  // Where nothing varies, only the largest stake that may be lost limits how soon it shows.
  const most = Math.log1p((boldness * worth) / (1 - worth));
  let needed = Math.ceil(Math.log(2 / error) / most);
  while (spread * estimateWidth(needed, error / 2) > worth) needed = Math.ceil(needed * 1.1);
  return needed;
}

/** How much values in [0, 1] vary; of few it is thought that they vary as much as they can. */
function measureVariance(values: readonly number[]): number {
  const n = values.length;
  const mean = (0.5 + values.reduce((sum, value) => sum + value, 0)) / (n + 1);
  return (0.25 + values.reduce((sum, value) => sum + (value - mean) ** 2, 0)) / (n + 1);
}

/** How far from the mean bounds are after so many values of spread 1, about. */
function estimateWidth(n: number, chance: number): number {
  const steps = Math.log(n + 1);
  return Math.sqrt((Math.log(1 / chance) * steps) / (8 * n)) * (1 + Math.log(steps));
}
