import { type Factors, factorNames } from "../records/index.ts";
import { extractTerms, measureSimilarity } from "../text/index.ts";

/** The weight of each factor of an observation. */
const weights: Factors = { novelty: 0.3, impact: 0.25, surprise: 0.2, relevance: 0.15, repetition: 0.1 };

/** From this score on an observation is worth keeping. */
export const keepScore = 0.4;

/** The weighted sum of the factors, each taken as at least 0 and at most 1. */
export function scoreFactors(factors: Factors): number {
  const sum = factorNames.reduce((all, name) => all + weights[name] * within(factors[name]), 0);
  return Math.round(sum * 10_000) / 10_000;
}

/** The recorded facts from which an observation's factors follow. */
export interface ObservedFacts {
  readonly text: string;
  /** Knowledge the project has already: lessons that are shown, and insights that were kept. */
  readonly known: readonly string[];
  /** Observations of the project's earlier goals. */
  readonly earlier: readonly string[];
  /** The words of what is worked on. */
  readonly goal: string;
  readonly failures: number;
  readonly corrections: number;
  readonly reverted: number;
  /** A person said it, without having to correct anything. */
  readonly isSaid: boolean;
}

/** Events of a kind that make an impact, or a surprise, a whole one. */
const wholeImpact = 4;
const wholeSurprise = 4;
const wholeRepetition = 3;
/** A remark that nobody asked for is unexpected, but less of a surprise than a correction. */
const saidSurprise = 0.5;
/** Share of their words from which two observations are the same. */
const sameShare = 0.6;

/** The factors of an observation, computed from what is recorded and asked of nobody. */
export function computeFactors(facts: ObservedFacts): Factors {
  const terms = extractTerms(facts.text);
  const compare = (text: string) => measureSimilarity(terms, extractTerms(text));
  const { failures, corrections, reverted } = facts;
  const again = facts.earlier.filter((text) => compare(text) >= sameShare).length;
  const surprise = corrections > 0 ? 1 : facts.isSaid ? saidSurprise : (failures - 1) / (wholeSurprise - 1);
  return {
    novelty: within(1 - Math.max(0, ...facts.known.map(compare))),
    impact: within((failures + corrections * 2 + reverted * 2) / wholeImpact),
    surprise: within(surprise),
    relevance: shareWords(facts.goal, facts.text),
    repetition: within(again / wholeRepetition),
  };
}

/** Words of a goal in an observation that make it wholly about the goal. */
const wholeShare = 3;

function shareWords(goal: string, text: string): number {
  const wanted = extractTerms(goal);
  const shared = [...extractTerms(text)].filter((word) => wanted.has(word)).length;
  return wanted.size === 0 ? 0 : within(shared / Math.min(wanted.size, wholeShare));
}

function within(value: number): number {
  return Number.isFinite(value) ? Math.round(Math.min(1, Math.max(0, value)) * 100) / 100 : 0;
}
