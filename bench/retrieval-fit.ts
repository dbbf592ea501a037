import { judge } from "../src/search/decide.ts";
import type { rank } from "../src/search/rank.ts";

export type RankedEntry = ReturnType<typeof rank>["entries"][number];
type MatchSigns = RankedEntry["signs"];
type GateSigns = ReturnType<typeof judge>["entries"][number]["gate"];
export type SignWeights = { readonly [Sign in keyof MatchSigns]: number };
export type GateWeights = NonNullable<Parameters<typeof judge>[2]>;

/** One query in one library, with what was found and what would have been right. */
export interface Sample {
  readonly family: string;
  readonly size: number;
  readonly found: readonly RankedEntry[];
  readonly gold: ReadonlySet<string>;
  /** What must not be loaded; where nothing is right either, only that is judged. */
  readonly unwanted: ReadonlySet<string>;
  /** Whether the prompt has an answer, none, or nobody judged. */
  readonly kind: "answered" | "unanswered" | "unwanted";
}

/** MatchSigns that are fitted; the others are set by hand. */
const ranking = [
  "base",
  "covered",
  "told",
  "body",
  "opening",
  "named",
  "quoted",
  "pointed",
  "rarest",
] as const satisfies readonly (keyof MatchSigns)[];

const judging = [
  "base",
  "covered",
  "named",
  "quoted",
  "baseLead",
  "coveredLead",
  "namedLead",
] as const satisfies readonly (keyof GateSigns)[];

/** How much a sign is held near what it was before; of the base that is 1, of the others nothing. */
const holdRanking = 1;
const holdJudging = 0.01;
const rounds = { ranking: 100, judging: 300 };

/** SignWeights under which what is right comes first: the likelihood of a right one among all that were found. */
export function fitWeights(samples: readonly Sample[]): SignWeights {
  const lists = samples
    .filter(({ found, gold }) => found.some(({ card }) => gold.has(card.id)))
    .map(({ family, found, gold }) => ({
      family,
      rows: found.map(({ signs }) => ranking.map((sign) => signs[sign])),
      right: found.map(({ card }) => gold.has(card.id)),
    }));
  const scale = scaleOf(lists.flatMap(({ rows }) => rows));
  const shares = sharesOf(lists);
  const scaled = lists.map(({ rows, right }, at) => ({
    right,
    share: shares[at] as number,
    rows: rows.map((row) => Float64Array.from(row, (value, sign) => value / (scale.spread[sign] as number))),
  }));
  const prior = ranking.map((sign) => (sign === "base" ? 1 : 0));
  const fitted = descend(prior, rounds.ranking, (weights, slope) => {
    for (const { rows, right, share } of scaled) addListSlope(rows, right, share, weights, slope);
    for (const [sign, weight] of weights.entries())
      slope[sign] = (slope[sign] as number) + holdRanking * (weight - (prior[sign] as number));
  });
  const raw = fitted.map((weight, sign) => weight / (scale.spread[sign] as number));
  // What an entry says it is not for is weighed by hand.
  return { unfit: -1, ...named(ranking, raw) };
}

function addListSlope(
  rows: readonly Float64Array[],
  right: readonly boolean[],
  share: number,
  weights: readonly number[],
  slope: number[],
): void {
  const scores = rows.map((row) => row.reduce((sum, value, at) => sum + value * (weights[at] as number), 0));
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const all = sum(powers);
  const ofRight = sum(powers.filter((_, at) => right[at]));
  for (const [at, row] of rows.entries()) {
    const power = powers[at] as number;
    const pull = share * (power / all - (right[at] ? power / ofRight : 0));
    for (let sign = 0; sign < row.length; sign++)
      slope[sign] = (slope[sign] as number) + pull * (row[sign] as number);
  }
}

/** The gate, fitted to small libraries; what a crowd takes off is fitted to the large ones, with the rest as it is. */
export function fitGate(samples: readonly Sample[], weights: SignWeights): GateWeights {
  const judged = samples.flatMap((sample) => judgedOf(sample, weights));
  const small = judged.filter(({ signs }) => signs.crowd === 0);
  const rows = small.map(({ signs }) => judging.map((sign) => signs[sign]));
  const scale = scaleOf(rows);
  const shares = sharesOf(small);
  const scaled = rows.map((row) => [
    ...row.map((value, sign) => (value - (scale.mean[sign] as number)) / (scale.spread[sign] as number)),
    1,
  ]);
  const fitted = descend(new Array(judging.length + 1).fill(0), rounds.judging, (gate, slope) => {
    for (const [at, row] of scaled.entries()) {
      const odds = row.reduce((total, value, sign) => total + value * (gate[sign] as number), 0);
      const miss = (1 / (1 + Math.exp(-odds)) - (small[at]?.isRight ? 1 : 0)) * (shares[at] as number);
      for (const [sign, value] of row.entries()) slope[sign] = (slope[sign] as number) + miss * value;
    }
    for (let sign = 0; sign < judging.length; sign++)
      slope[sign] = (slope[sign] as number) + holdJudging * (gate[sign] as number);
  });
  const raw = judging.map((_, sign) => (fitted[sign] as number) / (scale.spread[sign] as number));
  const always =
    (fitted[judging.length] as number) - sum(raw.map((w, sign) => w * (scale.mean[sign] as number)));
  const gate = { always, ...named(judging, raw), crowd: 0 };
  return { ...gate, crowd: crowdOf(judged, gate) };
}

interface Judged {
  readonly family: string;
  readonly signs: GateSigns;
  readonly isRight: boolean;
}

/** The best of what was found, as these weights rank it, and whether it is right; nothing where nobody judged it. */
function judgedOf(sample: Sample, weights: SignWeights): Judged[] {
  const { family, size, gold, unwanted, kind } = sample;
  const found = ranked(sample.found, weights);
  const best = found[0];
  if (!best || (kind === "unwanted" && !unwanted.has(best.card.id))) return [];
  const [judged] = judge(found, size).entries;
  return judged ? [{ family, signs: judged.gate, isRight: gold.has(best.card.id) }] : [];
}

/** The slope that makes as many right as are said to be. */
function crowdOf(judged: readonly Judged[], gate: GateWeights): number {
  const crowded = judged.filter(({ signs }) => signs.crowd > 0);
  if (crowded.length === 0) return 0;
  const right = crowded.filter(({ isRight }) => isRight).length;
  let [low, high] = [-3, 1];
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2;
    const said = sum(
      crowded.map(({ signs }) => 1 / (1 + Math.exp(-oddsOf(signs, { ...gate, crowd: middle })))),
    );
    if (said > right) high = middle;
    else low = middle;
  }
  return low;
}

function oddsOf(signs: GateSigns, gate: GateWeights): number {
  return (Object.keys(signs) as (keyof GateSigns)[]).reduce(
    (odds, sign) => odds + gate[sign] * signs[sign],
    gate.always,
  );
}

/** What was found, in the order that other weights give. */
export function ranked(found: readonly RankedEntry[], weights: SignWeights): RankedEntry[] {
  return found
    .map((one) => ({ ...one, score: scoreOf(one.signs, weights) }))
    .sort((a, b) => b.score - a.score || (a.card.id < b.card.id ? -1 : 1));
}

function scoreOf(signs: MatchSigns, weights: SignWeights): number {
  return sum((Object.keys(weights) as (keyof MatchSigns)[]).map((sign) => weights[sign] * signs[sign]));
}

/** A family with many queries counts more than one with few, but not in proportion. */
function sharesOf(items: readonly { family: string }[]): number[] {
  const sizes = new Map<string, number>();
  for (const { family } of items) sizes.set(family, (sizes.get(family) ?? 0) + 1);
  const shares = items.map(({ family }) => 1 / Math.sqrt(sizes.get(family) as number));
  const all = sum(shares);
  return shares.map((share) => share / all);
}

function scaleOf(rows: readonly (readonly number[])[]): { mean: number[]; spread: number[] } {
  const wide = rows[0]?.length ?? 0;
  const mean = Array.from(
    { length: wide },
    (_, at) => sum(rows.map((row) => row[at] as number)) / rows.length,
  );
  const spread = mean.map((middle, at) => {
    const square = sum(rows.map((row) => ((row[at] as number) - middle) ** 2)) / rows.length;
    return Math.sqrt(square) || 1;
  });
  return { mean, spread };
}

/** Adam: steps down a slope, each number at its own pace. */
function descend(
  start: readonly number[],
  rounds: number,
  slopeAt: (at: readonly number[], slope: number[]) => void,
): number[] {
  const at = [...start];
  const drift = at.map(() => 0);
  const power = at.map(() => 0);
  for (let round = 1; round <= rounds; round++) {
    const slope = at.map(() => 0);
    slopeAt(at, slope);
    for (const [one, value] of slope.entries()) {
      drift[one] = 0.9 * (drift[one] as number) + 0.1 * value;
      power[one] = 0.99 * (power[one] as number) + 0.01 * value * value;
      const pace = Math.sqrt((power[one] as number) / (1 - 0.99 ** round)) + 1e-8;
      at[one] = (at[one] as number) - (0.06 * (drift[one] as number)) / (1 - 0.9 ** round) / pace;
    }
  }
  return at;
}

function named<Name extends string>(names: readonly Name[], values: readonly number[]): Record<Name, number> {
  return Object.fromEntries(names.map((name, at) => [name, values[at] as number])) as Record<Name, number>;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
