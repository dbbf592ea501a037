import type { FindingKind } from "../../records/index.ts";
import * as says from "./phrases.ts";
import {
  conventionWeights,
  countContentWords,
  findSavedName,
  instructionWeights,
  isObjecting,
  lessonWeights,
  mayInstruct,
  mayState,
  readConventionSigns,
  readInstructionSigns,
  readLessonSigns,
} from "./turn-signs.ts";
import { isQuestion, resentShare, stripOpening, type Turn } from "./turns.ts";

/** A lesson in a person's turn, as far as its words and the agent's reaction tell. */
export interface SpokenLesson {
  readonly turn: Turn;
  readonly kind: Extract<FindingKind, "user-correction" | "explicit-instruction" | "convention">;
  readonly confidence: number;
  /** The sentences that carry it. */
  readonly sentences: readonly string[];
}

/** Confidence from which a turn counts; a question is never surer than its bar. */
export interface SpokenBar {
  readonly instruction: number;
  readonly lesson: number;
  readonly convention: number;
  readonly question: number;
}

export const usualBar: SpokenBar = { instruction: 0.45, lesson: 0.18, convention: 0.42, question: 0.55 };

/** Whether a person speaks against what the agent did, and teaches something by it. */
export function isObjection(turn: Turn): boolean {
  return judgeTurn(turn, usualBar) !== null && isObjecting(readLessonSigns(turn));
}

/** The lesson of a turn, or null. A prompt is one lesson, so the kind that fits best takes it. */
export function judgeTurn(turn: Turn, bar: SpokenBar): SpokenLesson | null {
  if (turn.resent || turn.again > resentShare) return null;
  if ([turn.next, turn.words].some((words) => says.withdraws.test(stripOpening(words.toLowerCase()))))
    return null;
  const instruction = mayInstruct(turn) ? findInstruction(turn) : null;
  if (instruction !== null && instruction.confidence >= bar.instruction) return instruction;
  const convention = mayState(turn) ? findConvention(turn) : null;
  const signs = readLessonSigns(turn);
  const lesson = turn.opening ? 0 : addUp(lessonWeights, signs, turn.words);
  if (convention !== null && convention.confidence >= Math.max(bar.convention, lesson)) return convention;
  const isObjected = isObjecting(signs);
  // That the agent does what it is told, and that it was told in few words, is so of every request.
  if ([...signs].every((sign) => everyRequest.has(sign) || lessonWeights[sign] <= 0)) return null;
  // Agreement teaches nothing, however warmly the agent takes it.
  if (lesson < bar.lesson) return null;
  if (signs.has("agrees") && !isObjected && (instruction?.confidence ?? 0) < bar.lesson) return null;
  // Who only asks has not said what to do instead: another session has to agree before anybody is shown it.
  const confidence = turn.sentences.every(isQuestion) ? Math.min(lesson, bar.question) : lesson;
  // Whoever objects does so with the whole turn: what is wrong stands in one sentence, what is right in another.
  if (isObjected) return { turn, kind: "user-correction", confidence, sentences: turn.sentences };
  return { ...findOrderOrRule(turn), confidence };
}

const everyRequest: ReadonlySet<string> = new Set(["takesOn", "takenOn", "redone", "brief", "queued"]);

/** Whoever does not object tells what to do from now on, or how things are here. */
function findOrderOrRule(turn: Turn): SpokenLesson {
  const [instruction, convention] = [findInstruction(turn), findConvention(turn)];
  const surer = convention.confidence > instruction.confidence ? convention : instruction;
  return { ...surer, sentences: surer.sentences.length > 0 ? surer.sentences : turn.sentences };
}

/** An order to keep is one sentence, often within a task; nobody gives it by asking. */
function findInstruction(turn: Turn): SpokenLesson {
  const told = turn.sentences.filter((sentence) => !isQuestion(sentence) || findSavedName(sentence) !== null);
  const scored = told.map((sentence) => {
    const signs = readInstructionSigns(turn, sentence);
    const score = addUp(instructionWeights, signs, sentence);
    return { sentence: signs.has("language") ? findLanguageClause(sentence) : sentence, score };
  });
  return pickBest(turn, "explicit-instruction", scored);
}

/** Only what is said of the language: it often hangs on a task. */
function findLanguageClause(sentence: string): string {
  const clauses = sentence.split(/[,，;；]/u);
  return clauses.find((clause) => says.choosesLanguage.test(clause.toLowerCase()))?.trim() ?? sentence;
}

/** A rule of the project is one sentence too. */
function findConvention(turn: Turn): SpokenLesson {
  const told = turn.sentences.filter((sentence) => !isQuestion(sentence));
  const scored = told.map((sentence) => {
    const signs = readConventionSigns(turn, sentence);
    return { sentence, score: addUp(conventionWeights, signs, sentence) };
  });
  return pickBest(turn, "convention", scored);
}

/** The sentence that says it most, with the list behind it, or the next sentence, which often gives the reason. */
function pickBest(
  turn: Turn,
  kind: SpokenLesson["kind"],
  scored: readonly { readonly sentence: string; readonly score: number }[],
): SpokenLesson {
  const confidence = scored.reduce((most, { score }) => Math.max(most, score), 0);
  const at = scored.findIndex(({ score }) => score === confidence);
  const [first, ...rest] = scored.slice(Math.max(0, at)).map(({ sentence }) => sentence);
  if (first === undefined) return { turn, kind, confidence, sentences: [] };
  const end = rest.findIndex((sentence) => !/^(?:\d{1,2}[.)、]|[-*•])\s?\S/u.test(sentence));
  const items = end < 0 ? rest : rest.slice(0, end);
  const reason = rest
    .slice(0, 1)
    .filter((sentence) => !says.wishes.test(stripOpening(sentence.toLowerCase())));
  return { turn, kind, confidence, sentences: [first, ...(items.length > 0 ? items : reason)] };
}

/** Log-odds for each word of content, and how many count: of two similar turns, the one that says more is surer. */
const perContentWord = 0.006;
const maxCountedWords = 25;

/** Weak signs added up and brought between 0 and 1. */
function addUp<Sign extends string>(
  weights: Readonly<Record<Sign, number>>,
  signs: ReadonlySet<Sign>,
  text: string,
): number {
  let sum = perContentWord * Math.min(countContentWords(text), maxCountedWords);
  for (const sign of signs) sum += weights[sign];
  return 1 / (1 + Math.exp(-sum));
}
