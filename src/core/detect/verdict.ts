import type { FindingKind } from "../finding.ts";
import { policy } from "../policy.ts";
import { termsOf, wordsOf } from "../words.ts";
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
  const convention = conventionIn(turn);
  if (convention.confidence >= Math.max(bar.convention, correction.confidence)) return convention;
  return correction.confidence >= bar.correction ? correction : null;
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
  const { grants, apologises, takesOn, admits } = reactionOf(turn);
  const size = sizeOf(words);
  const blames = { faults: any(says.faults), reproaches: some(says.reproaches) };
  const objects = { refuses: some(says.refuses), bars: some(says.bars), sets: some(says.sets), lessens: any(says.lessens) };
  const rules = { forbids: any(says.forbids), custom: any(says.tellsCustom), exists: any(says.existsAlready) };
  const blamed = blames.faults || blames.reproaches;
  const objected = objects.refuses || objects.bars || objects.sets;
  const ordersSteps = some(says.ordersSteps);
  const pointed =
    ordersSteps ||
    some(says.opines) ||
    blamed || objected || objects.lessens || rules.forbids || rules.exists || any(says.addresses);
  const question = sentences.length > 0 && sentences.every(asks);
  const bug = any(says.reportsBug);
  const work = any(says.namesWork);
  const product = any(says.namesProduct);
  const redone = redoes(turn);
  const first = bare[0] ?? "";
  const signs: Record<Sign, boolean> = {
    always: true,
    ...blames,
    ...objects,
    ...rules,
    addresses: any(says.addresses),
    tellsYou: any(says.tellsYou),
    ordersSteps,
    directs: redone && says.directs.test(first),
    saysNo: says.saysNo.test(first),
    answers: turn.asked && turn.rejected === null,
    requires: any(says.requires),
    work,
    product: product && !work,
    productToo: product && work,
    question: question && !blamed && !grants,
    questionGranted: question && !blamed && grants,
    questionBlaming: question && blamed,
    asksToo: !question && !blamed && sentences.some(asks),
    admits: blames.reproaches && question && admits,
    bug,
    wish: says.wishes.test(first),
    passes: any(says.passes),
    agrees: says.agrees.test(words) && !objects.refuses,
    taste: any(says.isTaste),
    grants,
    grantsPointed: grants && pointed,
    grantsBug: grants && bug && !blamed,
    apologises,
    takesOn: takesOn && !grants,
    rejected: turn.rejected !== null,
    interrupted: turn.interrupted && turn.rejected === null,
    queued: turn.queued,
    redone,
    redonePointed: redone && (objected || blames.faults || rules.custom || rules.exists) && !product && !bug,
    again: turn.again > policy.detect.speech.restated,
    brief: size > policy.detect.speech.tinyWords && size <= policy.detect.speech.briefWords,
    long: words.length > policy.detect.speech.longTurn,
    specification: words.split("\n").length >= policy.detect.speech.specificationLines,
    tiny: size <= policy.detect.speech.tinyWords,
    empty: contentOf(words) < policy.detect.speech.leastContent,
    idle: turn.before.length === 0,
  };
  return new Set(keysOf(signs).filter((sign) => signs[sign]));
}

/** What the start of the agent's next words tells: it grants the point, says sorry, or takes the matter on. */
function reactionOf({ reply }: Turn) {
  const head = (reply?.text ?? "")
    .trim()
    .replace(/^[#*>\s-]+/, "")
    .slice(0, policy.detect.speech.replyHead);
  return {
    grants: says.concedes.test(head),
    apologises: says.apologises.test(head),
    takesOn: says.accepts.test(head) || says.praises.test(head),
    admits: says.deniesFirst.test(head),
  };
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
  const { takesOn, grants } = reactionOf(turn);
  const told = turn.sentences.filter((sentence) => !asks(sentence) || says.savesAs.test(sentence));
  const scored = told.map((sentence) => {
    const bare = withoutOpening(sentence);
    const plain = sentence.replace(quoted, " ");
    const kept = says.writesRule.test(plain);
    const updated = !kept && says.updatesRules.test(plain);
    const at = bare.search(says.standing);
    const signs: Record<keyof typeof weights, boolean> = {
      always: true,
      savesAs: says.savesAs.test(sentence),
      standing: at >= 0,
      standingFirst: at >= 0 && at <= policy.detect.speech.openingChars,
      ordersAlways: says.ordersAlways.test(bare),
      remembers: says.remembers.test(bare),
      ruleFile: kept,
      ruleFileUpdated: updated,
      changedFact: updated && says.changedFact.test(turn.words),
      language: says.choosesLanguage.test(sentence),
      process: says.followsProcess.test(sentence),
      firm: says.firm.test(sentence),
      addresses: says.addresses.test(sentence),
      work: says.namesWork.test(sentence),
      product: says.namesProduct.test(sentence) && !says.namesWork.test(sentence),
      takenOn: takesOn || grants,
      wish: says.wishes.test(bare) && bare.search(says.writesRule) !== 0,
      bug: says.reportsBug.test(sentence),
      opening: turn.opening,
      long: turn.words.length > policy.detect.speech.longTurn,
      specification: turn.words.split("\n").length >= policy.detect.speech.specificationLines,
    };
    const score = likelihood(weights, new Set(keysOf(signs).filter((sign) => signs[sign])));
    return { sentence: signs.language ? languageClause(sentence) : sentence, score };
  });
  return best("explicit-instruction", scored);
}

/** Only what is said of the language: it often hangs on a task. */
function languageClause(sentence: string): string {
  return sentence.split(/[,，;；]/u).find((clause) => says.choosesLanguage.test(clause)) ?? sentence;
}

const quoted = /"[^"\n]{1,300}"|“[^”\n]{1,300}”|「[^」\n]{1,300}」|`[^`\n]{1,200}`/gu;

/** How much a turn states a rule of the project, in passing or as part of a task. */
function conventionIn(turn: Turn): Verdict {
  const weights = policy.detect.convention;
  const { takesOn, grants } = reactionOf(turn);
  const scored = turn.sentences
    .filter((sentence) => !asks(sentence))
    .map((sentence) => {
      const custom = says.tellsCustom.test(sentence);
      const forbids = says.forbids.test(sentence);
      const requires = says.requires.test(sentence);
      const work = says.namesWork.test(sentence);
      const signs: Record<keyof typeof weights, boolean> = {
        always: true,
        custom,
        customRule: custom && work && (forbids || requires),
        followsRules: says.followsRules.test(sentence),
        ruleFile: says.ruleFile.test(sentence) || /\b[A-Z]{3,}\.md\b/.test(sentence),
        pointsOut: says.pointsOut.test(sentence),
        ordersSteps: says.ordersSteps.test(sentence),
        firm: says.firm.test(sentence),
        forbids,
        requires,
        work,
        product: says.namesProduct.test(sentence) && !work,
        passes: says.passes.test(sentence),
        bug: says.reportsBug.test(sentence),
        takenOn: takesOn || grants,
        long: turn.words.length > policy.detect.speech.longTurn,
        specification: turn.words.split("\n").length >= policy.detect.speech.specificationLines,
      };
      return { sentence, score: likelihood(weights, new Set(keysOf(signs).filter((sign) => signs[sign]))) };
    });
  return best("convention", scored);
}

/** How many words say what it is about, rather than that something is wrong. */
function contentOf(text: string): number {
  return [...termsOf(text)].filter((word) => !says.contentless.has(word)).length;
}

/** How many words a text has, as if every language put spaces between them. */
function sizeOf(text: string): number {
  const words = wordsOf(text);
  const pairs = words.filter((word) => /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+$/u.test(word)).length;
  return words.length - pairs * policy.detect.speech.pairsSpare;
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

export function scoresOf(turn: Turn) {
  return { c: correctionIn(turn).confidence, i: instructionIn(turn).confidence, v: conventionIn(turn).confidence };
}
