/** A session in a comparison: whether it had what is compared, and what was measured of it, between 0 and 1. */
interface Unit {
  readonly had: boolean;
  readonly value: number;
}

/** The result of a comparison so far, valid at any number of looks (anytime-valid). */
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

/** How often an interval may miss the truth, however often it is looked at; half of that on each side. */
const error = 0.05;
const chance = error / 2;
/** Pairs of sessions before anything is said. */
const fewestPairs = 5;
/** The smallest difference that is worth knowing, as a share of the most that there could be. */
const worth = 0.2;
/** Share of its wealth that a bet may lose. */
const boldness = 0.5;
const halvings = 20;

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
    const [had, hadNot] = [measureSide(open, true), measureSide(open, false)];
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
  // From [-1, 1] to [0, 1], where bets are made, and back.
  const scaled = pairs.map((pair) => (pair + 1) / 2);
  const mirrored = scaled.map((value) => 1 - value);
  const low = 2 * findRefuted(scaled) - 1;
  const high = 2 * (1 - findRefuted(mirrored)) - 1;
  const decide = (): TrialDifference["verdict"] => {
    if (pairs.length < fewestPairs) return "too-few";
    if (low > 0) return "more";
    if (high < 0) return "less";
    return high - low <= 2 * worth ? "no-difference" : "too-few";
  };
  return {
    had: measureSide(units, true),
    hadNot: measureSide(units, false),
    estimate: pairs.length === 0 ? 0 : sum(pairs) / pairs.length,
    ...{ low, high, verdict: decide(), pairs: pairs.length },
    needed: estimateNeeded(units, pairs.length),
  };
}

function measureSide(units: readonly Unit[], had: boolean): Side {
  const values = units.flatMap((unit) => (unit.had === had ? unit.value : []));
  return { sessions: values.length, mean: values.length === 0 ? null : sum(values) / values.length };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/**
 * The largest mean of values in [0, 1] that is refuted, with an error that holds for all times of looking together.
 * Somebody bets, value by value, on more than a mean m, by a stake that is fixed before the value is seen. If m is the
 * mean, the game is fair, and by Ville's inequality the chance that the wealth ever reaches 1 / chance is at most that
 * chance. So reaching that wealth refutes m as the mean. Wealth falls with the mean, so halving finds it.
 */
function findRefuted(values: readonly number[]): number {
  const stakes = placeStakes(values);
  if (!isRefuted(values, stakes, 0)) return 0;
  let [refuted, open] = [0, 1];
  for (let step = 0; step < halvings; step++) {
    const middle = (refuted + open) / 2;
    if (isRefuted(values, stakes, middle)) refuted = middle;
    else open = middle;
  }
  return refuted;
}

/** Whether a bet on more than a mean ever reached 1 / chance. */
function isRefuted(values: readonly number[], stakes: readonly number[], mean: number): boolean {
  let wealth = 0;
  return values.some((value, at) => {
    // A stake that can be lost whole would end the game.
    const stake = Math.min(stakes[at] ?? 0, boldness / mean);
    wealth += Math.log1p(stake * (value - mean));
    return wealth >= Math.log(1 / chance);
  });
}

/** The stake on each value, from the spread of earlier values only. */
function placeStakes(values: readonly number[]): number[] {
  let [total, squares] = [0.5, 0.25];
  return values.map((value, at) => {
    const n = at + 1;
    const stake = Math.sqrt((2 * Math.log(1 / chance)) / ((squares / n) * n * Math.log(n + 1)));
    total += value;
    squares += (value - total / (n + 1)) ** 2;
    return stake;
  });
}

/** About how many pairs it takes before the interval is no wider than twice the smallest difference worth knowing. */
function estimateNeeded(units: readonly Unit[], pairs: number): number {
  // A pair's side is the mean of as many sessions as there are for each pair.
  const measureSpread = (had: boolean) => {
    const values = units.flatMap((unit) => (unit.had === had ? unit.value : []));
    return measureVariance(values) / (pairs > 0 ? Math.max(1, values.length / pairs) : 1);
  };
  const spread = Math.sqrt(measureSpread(true) + measureSpread(false));
  // Where nothing varies, only the largest stake that may be lost limits how soon it shows.
  const most = Math.log1p((boldness * worth) / (1 - worth));
  let needed = Math.ceil(Math.log(2 / error) / most);
  while (spread * estimateWidth(needed) > worth) needed = Math.ceil(needed * 1.1);
  return needed;
}

/** How much values in [0, 1] vary; of few it is thought that they vary as much as they can. */
function measureVariance(values: readonly number[]): number {
  const n = values.length + 1;
  const mean = (0.5 + sum(values)) / n;
  return (0.25 + sum(values.map((value) => (value - mean) ** 2))) / n;
}

/** How far from the mean bounds are after so many values of spread 1, about. */
function estimateWidth(n: number): number {
  const steps = Math.log(n + 1);
  return Math.sqrt((Math.log(1 / chance) * steps) / (8 * n)) * (1 + Math.log(steps));
}
