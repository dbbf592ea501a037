import type { FindingKind } from "../finding.ts";
import { policy } from "../policy.ts";
import * as says from "./phrases.ts";
import type { Breadth } from "./scene.ts";
import {
  contentOf,
  conventionSigns,
  instructionSigns,
  lessonSigns,
  mayInstruct,
  mayState,
  objects,
  savedName,
} from "./signs.ts";
import { asks, withoutOpening } from "./speech.ts";
import type { Turn } from "./turns.ts";

/** What a person's turn is, as far as its words and the agent's reaction tell. */
export interface Verdict {
  readonly kind: Extract<FindingKind, "user-correction" | "explicit-instruction" | "convention">;
  readonly confidence: number;
  /** The sentences that carry it. */
  readonly sentences: readonly string[];
}

/** What a turn teaches, or null: a prompt is one lesson, so the kind that fits best takes it. */
export function judge(turn: Turn, bar: Breadth["bar"] = policy.detect.speech.bar): Verdict | null {
  const { resent } = policy.detect.speech;
  if (turn.resent || turn.again > resent) return null;
  if ([turn.next, turn.words].some((words) => says.withdraws.test(withoutOpening(words.toLowerCase()))))
    return null;
  const instruction = mayInstruct(turn) ? instructionIn(turn) : none;
  if (instruction.confidence >= bar.instruction) return instruction;
  const convention = mayState(turn) ? conventionIn(turn) : none;
  const signs = lessonSigns(turn);
  const lesson = turn.opening ? 0 : likelihood(policy.detect.lesson, signs, turn.words);
  if (convention.confidence >= Math.max(bar.convention, lesson)) return convention;
  const objected = objects(signs);
  // That the agent does what it is told, and that it was told in few words, is so of every request.
  if ([...signs].every((sign) => ofAnyRequest.has(sign) || policy.detect.lesson[sign] <= 0)) return null;
  // Agreement teaches nothing, however warmly the agent takes it.
  if (lesson < bar.lesson || (signs.has("agrees") && !objected && instruction.confidence < bar.lesson))
    return null;
  // Who only asks has not said what to do instead: another session has to agree before anybody is shown it.
  const confidence = turn.sentences.every(asks) ? Math.min(lesson, bar.question) : lesson;
  return objected
    ? { kind: "user-correction", confidence, sentences: turn.sentences }
    : { ...told(turn), confidence };
}

const ofAnyRequest: ReadonlySet<string> = new Set(["takesOn", "takenOn", "redone", "brief", "queued"]);

const none: Verdict = { kind: "explicit-instruction", confidence: 0, sentences: [] };

/**
 * Whoever objects corrects, and does so with the whole turn: what is wrong stands in one sentence, what is right in
 * another. Whoever does not tells what to do from now on, or how things are here.
 */
function told(turn: Turn): Verdict {
  const [instruction, convention] = [instructionIn(turn), conventionIn(turn)];
  const surer = convention.confidence > instruction.confidence ? convention : instruction;
  return { ...surer, sentences: surer.sentences.length > 0 ? surer.sentences : turn.sentences };
}

/** An order to keep is one sentence, often within a task; nobody gives it by asking. */
function instructionIn(turn: Turn): Verdict {
  const told = turn.sentences.filter((sentence) => !asks(sentence) || savedName(sentence) !== null);
  const scored = told.map((sentence) => {
    const signs = instructionSigns(turn, sentence);
    const score = likelihood(policy.detect.instruction, signs, sentence);
    return { sentence: signs.has("language") ? languageClause(sentence) : sentence, score };
  });
  return best("explicit-instruction", scored);
}

/** Only what is said of the language: it often hangs on a task. */
function languageClause(sentence: string): string {
  const clauses = sentence.split(/[,，;；]/u);
  return clauses.find((clause) => says.choosesLanguage.test(clause.toLowerCase()))?.trim() ?? sentence;
}

/** A rule of the project is one sentence too. */
function conventionIn(turn: Turn): Verdict {
  const told = turn.sentences.filter((sentence) => !asks(sentence));
  const scored = told.map((sentence) => {
    const signs = conventionSigns(turn, sentence);
    return { sentence, score: likelihood(policy.detect.convention, signs, sentence) };
  });
  return best("convention", scored);
}

/** The sentence that says it most, with the one behind it, which often gives the reason. */
function best(kind: Verdict["kind"], scored: readonly { sentence: string; score: number }[]): Verdict {
  const confidence = scored.reduce((most, { score }) => Math.max(most, score), 0);
  const at = scored.findIndex(({ score }) => score === confidence);
  const [first, reason] = scored.slice(Math.max(0, at), at + 2).map(({ sentence }) => sentence);
  const items = itemsIn(scored.slice(at + 1).map(({ sentence }) => sentence));
  const sentences =
    items.length > 0
      ? [first ?? [], ...items].flat()
      : [first ?? [], reason === undefined || isTask(reason) ? [] : reason].flat();
  return { kind, confidence, sentences };
}

/** The list that follows an order, when one does. */
function itemsIn(sentences: readonly string[]): readonly string[] {
  const end = sentences.findIndex((sentence) => !/^(?:\d{1,2}[.)、]|[-*•])\s?\S/u.test(sentence));
  return end < 0 ? sentences : sentences.slice(0, end);
}

/** Whether a sentence goes on with the work at hand. */
function isTask(sentence: string): boolean {
  return says.wishes.test(withoutOpening(sentence.toLowerCase()));
}

/** Weak signs added up and brought between 0 and 1; of two alike, the one that says more is the surer. */
function likelihood<Sign extends string>(
  weights: Readonly<Record<Sign, number>>,
  signs: ReadonlySet<Sign>,
  text: string,
): number {
  const { perContentWord, mostContent } = policy.detect.speech;
  let sum = perContentWord * Math.min(contentOf(text), mostContent);
  for (const sign of signs) sum += weights[sign];
  return 1 / (1 + Math.exp(-sum));
}
