import type { FindingKind } from "../finding.ts";
import { policy } from "../policy.ts";
import { wordsOf } from "../words.ts";
import * as says from "./phrases.ts";
import { asks, withoutOpening } from "./speech.ts";
import type { Turn } from "./turns.ts";

/** What a person's turn is, as far as its words and the agent's reaction tell. */
export interface Verdict {
  readonly kind: Extract<FindingKind, "user-correction" | "explicit-instruction" | "convention">;
  readonly confidence: number;
  /** The sentences that carry it. */
  readonly sentences: readonly string[];
}

/** What a turn teaches, or null: a prompt has one meaning, so the best kind takes it. */
export function judge(turn: Turn): Verdict | null {
  const { bar } = policy.detect.speech;
  if (turn.words === "" || turn.again > policy.detect.speech.resent || says.withdraws.test(turn.next)) return null;
  const instruction = instructionIn(turn);
  if (instruction.confidence >= bar.instruction) return instruction;
  const correction = correctionIn(turn);
  if (correction.confidence >= bar.correction) return correction;
  const convention = conventionIn(turn);
  return convention.confidence >= bar.convention ? convention : null;
}

type Sign = keyof typeof policy.detect.correction;

/** How much a turn looks like a correction of what the agent just did. */
function correctionIn(turn: Turn): Verdict {
  const sentences = turn.sentences;
  if (turn.opening) return { kind: "user-correction", confidence: 0, sentences };
  return { kind: "user-correction", confidence: likelihood(policy.detect.correction, signsOf(turn)), sentences };
}

/** The signs that a turn shows. */
export function signsOf(turn: Turn): Set<Sign> {
  const { words, sentences } = turn;
  const bare = sentences.map(withoutOpening);
  const any = (pattern: RegExp) => pattern.test(words);
  const some = (pattern: RegExp) => bare.some((sentence) => pattern.test(sentence));
  const size = wordsOf(words).length;
  const { grants, takesOn } = reactionOf(turn);
  const reproached = any(says.reproaches);
  const turnedDown = some(says.refuses);
  const against = any(says.contrasts);
  const forbidden = any(says.forbids);
  const known = any(says.existsAlready);
  const question = sentences.length > 0 && sentences.every(asks);
  const pointed = reproached || turnedDown || against || forbidden || known || any(says.addresses);
  const work = any(says.namesWork);
  const product = any(says.namesProduct);
  const signs: Record<Sign, boolean> = {
    always: true,
    refuses: turnedDown,
    reproaches: reproached,
    contrasts: against,
    exists: known,
    addresses: any(says.addresses),
    forbids: forbidden,
    requires: any(says.requires),
    custom: any(says.tellsCustom),
    work,
    product: product && !work,
    productToo: product && work,
    question: question && !reproached,
    reproachingQuestion: question && reproached,
    bug: any(says.reportsBug),
    wish: says.wishes.test(bare[0] ?? ""),
    passes: any(says.passes),
    agrees: says.agrees.test(words) && !turnedDown,
    taste: any(says.isTaste),
    grants,
    grantsPointed: grants && pointed,
    takesOn: takesOn && !grants,
    rejected: turn.rejected !== null,
    interrupted: turn.interrupted && turn.rejected === null,
    queued: turn.queued,
    redone: redoes(turn),
    again: turn.again > policy.detect.speech.restated,
    long: words.length > policy.detect.speech.longTurn,
    tiny: size <= policy.detect.speech.tinyWords,
    idle: turn.before.length === 0,
  };
  return new Set((Object.keys(signs) as Sign[]).filter((sign) => signs[sign]));
}

/** What the start of the agent's next words tells: it grants the point, or takes the matter on. */
function reactionOf({ reply }: Turn): { grants: boolean; takesOn: boolean } {
  const head = (reply?.text ?? "").trim().replace(/^[#*>\s-]+/, "").slice(0, policy.detect.speech.replyHead);
  return { grants: says.concedes.test(head), takesOn: says.accepts.test(head) || says.praises.test(head) };
}

/** Whether the agent went back to what it had just made: the same file again, or an undoing. */
function redoes({ before, after, rejected }: Turn): boolean {
  const made = new Set(before.flatMap(({ files, tool }) => (changes.test(tool ?? "") ? files : [])));
  return after
    .slice(0, policy.detect.speech.reactionCalls)
    .some(
      ({ files, tool, command }) =>
        (changes.test(tool ?? "") && files.some((file) => made.has(file))) ||
        (rejected === null && says.undoes.test(command ?? "")),
    );
}

const changes = /edit|write|patch|create|replace/i;

/** How much a turn orders something that holds from here on. */
function instructionIn(turn: Turn): Verdict {
  const weights = policy.detect.instruction;
  const told = turn.sentences.filter((sentence) => !asks(sentence) || says.savesAs.test(sentence));
  const scored = told.map((sentence) => {
    const bare = withoutOpening(sentence);
    const lasting = says.standing.test(sentence);
    const product = says.namesProduct.test(sentence) && !says.namesWork.test(sentence);
    const kept = says.ruleFile.test(sentence) && says.writesDown.test(sentence);
    const signs: Record<keyof typeof weights, boolean> = {
      always: true,
      savesAs: says.savesAs.test(sentence),
      standing: lasting,
      ordersAlways: says.ordersAlways.test(bare),
      remembers: says.remembers.test(bare),
      ruleFile: kept,
      language: says.choosesLanguage.test(sentence),
      process: says.followsProcess.test(sentence) && says.requires.test(turn.words),
      addresses: says.addresses.test(sentence),
      work: says.namesWork.test(sentence),
      product,
      takenOn: reactionOf(turn).takesOn || reactionOf(turn).grants,
      wish: says.wishes.test(bare) && !kept,
      bug: says.reportsBug.test(sentence),
      long: turn.words.length > policy.detect.speech.longTurn,
    };
    return { sentence, score: likelihood(weights, new Set(keysOf(signs).filter((sign) => signs[sign]))) };
  });
  return best("explicit-instruction", scored);
}

/** How much a turn states a rule of the project, in passing or as part of a task. */
function conventionIn(turn: Turn): Verdict {
  const weights = policy.detect.convention;
  const scored = turn.sentences
    .filter((sentence) => !asks(sentence))
    .map((sentence) => {
      const signs: Record<keyof typeof weights, boolean> = {
        always: true,
        custom: says.tellsCustom.test(sentence),
        followsRules: says.followsRules.test(sentence),
        ruleFile: says.ruleFile.test(sentence) || /\b[A-Z]{3,}\.md\b/.test(sentence),
        pointsOut: says.pointsOut.test(sentence),
        ordersSteps: says.ordersSteps.test(sentence),
        forbids: says.forbids.test(sentence),
        requires: says.requires.test(sentence),
        work: says.namesWork.test(sentence),
        product: says.namesProduct.test(sentence) && !says.namesWork.test(sentence),
        passes: says.passes.test(sentence),
        bug: says.reportsBug.test(sentence),
        takenOn: reactionOf(turn).takesOn || reactionOf(turn).grants,
        long: turn.words.length > policy.detect.speech.longTurn,
      };
      return { sentence, score: likelihood(weights, new Set(keysOf(signs).filter((sign) => signs[sign]))) };
    });
  return best("convention", scored);
}

function keysOf<Keys extends string>(record: Record<Keys, unknown>): Keys[] {
  return Object.keys(record) as Keys[];
}

/** The sentence that says it most, with the one behind it, which often gives the reason. */
function best(kind: Verdict["kind"], scored: readonly { sentence: string; score: number }[]): Verdict {
  const top = scored.reduce((most, one) => Math.max(most, one.score), 0);
  const at = scored.findIndex(({ score }) => score === top);
  const around = scored.slice(Math.max(0, at), at + 2).map(({ sentence }) => sentence);
  return { kind, confidence: scored.length === 0 ? 0 : top, sentences: around };
}

/** Weak signs added up and brought between 0 and 1. */
function likelihood<Signs extends string>(weights: Readonly<Record<Signs, number>>, signs: ReadonlySet<Signs>): number {
  let sum = 0;
  for (const sign of signs) sum += weights[sign];
  return 1 / (1 + Math.exp(-sum));
}
