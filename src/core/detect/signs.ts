import { policy } from "../policy.ts";
import { nameFrom, termsOf, wordsOf } from "../words.ts";
import * as says from "./phrases.ts";
import { asks, withoutOpening } from "./speech.ts";
import type { Turn } from "./turns.ts";

const limits = policy.detect.speech;

export type LessonSign = keyof typeof policy.detect.lesson;
export type InstructionSign = keyof typeof policy.detect.instruction;
export type ConventionSign = keyof typeof policy.detect.convention;

/** The signs, for and against, that there is something to learn in what a person says to an agent at work. */
export function lessonSigns(turn: Turn): Set<LessonSign> {
  const words = turn.words.toLowerCase();
  const sentences = turn.sentences.map((sentence) => sentence.toLowerCase());
  const bare = sentences.map(withoutOpening);
  const first = bare[0] ?? "";
  const any = (pattern: RegExp) => pattern.test(words);
  const some = (pattern: RegExp) => bare.some((sentence) => pattern.test(sentence));

  // Who asks does not order.
  const told = turn.sentences.flatMap((sentence) => (asks(sentence) ? [] : sentence.toLowerCase()));
  const orders = (pattern: RegExp) => told.some((sentence) => pattern.test(withoutOpening(sentence)));
  const blames = { faults: any(says.faults), reproaches: some(says.reproaches) };
  const objects = { refuses: some(says.refuses), bars: orders(says.bars), sets: some(says.sets) };
  const rules = {
    forbids: orders(says.forbids),
    custom: any(says.tellsCustom),
    exists: any(says.existsAlready),
  };
  const blamed = blames.faults || blames.reproaches;
  const objected = objects.refuses || objects.bars || objects.sets;
  const lessens = any(says.lessens);
  const ordersSteps = some(says.ordersSteps);
  const addresses = any(says.addresses);
  const { grants, heeds, apologises, takesOn, denies } = reactionOf(turn);
  const pointed =
    heeds ||
    blamed ||
    objected ||
    lessens ||
    ordersSteps ||
    addresses ||
    rules.forbids ||
    rules.exists ||
    some(says.opines);

  const question = sentences.every(asks);
  const bug = any(says.reportsBug);
  const work = any(says.namesWork);
  const product = any(says.namesProduct);
  const redone = redoes(turn);
  return shown<LessonSign>({
    always: true,
    ...blames,
    ...objects,
    ...rules,
    lessens,
    ordersSteps,
    addresses,
    tellsYou: any(says.tellsYou),
    directs: redone && says.directs.test(first),
    saysNo: says.saysNo.test(first),
    answers: turn.asked && turn.rejected === null && !grants,
    requires: orders(says.requires),
    work,
    product: product && !work,
    requirement:
      !blamed && !addresses && told.some((sentence) => says.isRequirement(withoutOpening(sentence))),
    productToo: product && work,
    question: question && !blamed && !grants,
    questionGranted: question && !blamed && grants,
    questionBlaming: question && blamed,
    asksToo: !question && !blamed && sentences.some(asks),
    admits: blames.reproaches && question && denies,
    bug,
    wish: says.wishes.test(first),
    passes: any(says.passes),
    agrees: says.agrees.test(words) && !objects.refuses,
    taste: any(says.isTaste),
    grants,
    grantsPointed: grants && pointed,
    // Agents grant bug reports and requirements as readily as corrections.
    grantsBug: grants && bug && !blamed,
    grantsProduct: grants && product && !work && !blamed,
    apologises,
    takesOn: takesOn && !grants,
    rejected: turn.rejected !== null,
    interrupted: turn.interrupted && turn.rejected === null,
    queued: turn.queued,
    redone,
    redonePointed: redone && (objected || blames.faults || rules.custom || rules.exists) && !product && !bug,
    again: turn.again > limits.restated,
    takenOn: grants || takesOn,
    firm: any(says.firm),
    followsRules: any(says.followsRules),
    pointsOut: any(says.pointsOut),
    process: orders(says.followsProcess),
    language: any(says.choosesLanguage),
    standing: orders(says.standing),
    standingFirst: told.some((sentence) => opensWith(says.standing, withoutOpening(sentence))),
    ruleFile: orders(says.writesRule),
    ruleFileUpdated: orders(says.updatesRules),
    changedFact: orders(says.updatesRules) && any(says.changedFact),
    ...sizeSigns(words),
    ...extentSigns(words),
  });
}

/** Whether something is said near the start of a sentence. */
function opensWith(pattern: RegExp, sentence: string): boolean {
  const at = sentence.search(pattern);
  return at >= 0 && at <= limits.openingChars;
}

/** Whether a turn speaks against what the agent did, or the agent took it so. */
export function objects(signs: ReadonlySet<LessonSign>): boolean {
  return objections.some((sign) => signs.has(sign));
}

const objections: readonly LessonSign[] = [
  ...(["faults", "reproaches", "refuses", "bars", "sets", "lessens", "forbids", "exists", "custom"] as const),
  ...(["saysNo", "rejected", "grants", "apologises", "admits", "again"] as const),
];

/** Whether any sentence can be an order to keep, or a rule: no other signs suffice, and most turns have none of these. */
export function mayInstruct({ words, sentences }: Turn): boolean {
  const lower = words.toLowerCase();
  return (
    [says.standing, says.writesRule, says.updatesRules, says.choosesLanguage, says.followsProcess].some(
      (pattern) => pattern.test(lower),
    ) ||
    sentences.some((sentence) => {
      const bare = withoutOpening(sentence.toLowerCase());
      return says.ordersAlways.test(bare) || says.remembers.test(bare) || savedName(sentence) !== null;
    })
  );
}

/** The same for a rule of the project. */
export function mayState({ words }: Turn): boolean {
  const lower = words.toLowerCase();
  return (
    [says.tellsCustom, says.followsRules, says.pointsOut, says.ordersSteps, says.ruleFile].some((pattern) =>
      pattern.test(lower),
    ) || /\b[A-Z]{3,}\.md\b/.test(words)
  );
}

/** The signs, for and against, that a sentence orders something to be kept. */
export function instructionSigns(turn: Turn, said: string): Set<InstructionSign> {
  const sentence = said.toLowerCase();
  const bare = withoutOpening(sentence);
  const plain = sentence.replace(quoted, " ");
  const kept = says.writesRule.test(plain);
  const updated = !kept && says.updatesRules.test(plain);
  const work = says.namesWork.test(sentence);
  return shown<InstructionSign>({
    always: true,
    savesAs: savedName(said) !== null,
    standing: bare.search(says.standing) >= 0,
    standingFirst: opensWith(says.standing, bare),
    ordersAlways: says.ordersAlways.test(bare),
    remembers: says.remembers.test(bare),
    ruleFile: kept,
    ruleFileUpdated: updated,
    changedFact: updated && says.changedFact.test(turn.words.toLowerCase()),
    language: says.choosesLanguage.test(sentence),
    process: says.followsProcess.test(sentence),
    firm: says.firm.test(sentence),
    addresses: says.addresses.test(sentence),
    work,
    product: says.namesProduct.test(sentence) && !work,
    takenOn: takesUp(turn),
    wish: says.wishes.test(bare) && bare.search(says.writesRule) !== 0,
    bug: says.reportsBug.test(sentence),
    opening: turn.opening,
    ...extentSigns(turn.words, turn.sentences.indexOf(said)),
  });
}

/** The name under which a person wants something kept; a format or a type is none. */
export function savedName(text: string): string | null {
  const [whole = "", name = ""] = says.savesAs.exec(text) ?? [];
  const rest = text.slice(text.indexOf(whole) + whole.length);
  const named = /-|_/.test(name) || /\b(?:skill|called|named)\b|["'`「“]/i.test(whole);
  if (name === "" || (!named && (says.formats.has(name.toLowerCase()) || /^\s*\p{L}/u.test(rest))))
    return null;
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) ? name : nameFrom(name) || null;
}

const quoted = /"[^"\n]{1,300}"|“[^”\n]{1,300}”|「[^」\n]{1,300}」|`[^`\n]{1,200}`/gu;

/** The signs, for and against, that a sentence states a rule of the project, in passing or within a task. */
export function conventionSigns(turn: Turn, said: string): Set<ConventionSign> {
  const sentence = said.toLowerCase();
  const custom = says.tellsCustom.test(sentence);
  const forbids = says.forbids.test(sentence);
  const requires = says.requires.test(sentence);
  const work = says.namesWork.test(sentence);
  return shown<ConventionSign>({
    always: true,
    custom,
    customRule: custom && work && (forbids || requires),
    followsRules: says.followsRules.test(sentence),
    ruleFile: says.ruleFile.test(sentence) || /\b[A-Z]{3,}\.md\b/.test(said),
    pointsOut: says.pointsOut.test(sentence),
    ordersSteps: says.ordersSteps.test(sentence),
    firm: says.firm.test(sentence),
    forbids,
    requires,
    work,
    product: says.namesProduct.test(sentence) && !work,
    passes: says.passes.test(sentence),
    bug: says.reportsBug.test(sentence),
    takenOn: takesUp(turn),
    ...extentSigns(turn.words, turn.sentences.indexOf(said)),
  });
}

/** How many words say what it is about, rather than that something is wrong. */
export function contentOf(text: string): number {
  return [...termsOf(text)].filter((word) => !says.contentless.has(word)).length;
}

/** What the start of the agent's next words tells: it grants the point, says sorry, takes the matter on, or denies. */
function reactionOf({ reply }: Turn) {
  const head = (reply?.text ?? "")
    .slice(0, 2 * limits.replyHead)
    .replace(/^[#*>\s-]+/, "")
    .slice(0, limits.replyHead)
    .toLowerCase();
  return {
    grants: says.concedes.test(head),
    heeds: says.heedsPoint.test(head),
    apologises: says.apologises.test(head),
    takesOn: says.accepts.test(head) || says.praises.test(head),
    denies: says.deniesFirst.test(head),
  };
}

function takesUp(turn: Turn): boolean {
  const { grants, takesOn } = reactionOf(turn);
  return grants || takesOn;
}

/** Whether the agent went back to what it had just made: the same file again, or an undoing. */
function redoes({ before, after, rejected }: Turn): boolean {
  const made = new Set(before.flatMap(({ files, tool }) => (changes.test(tool ?? "") ? files : [])));
  return after
    .slice(0, limits.reactionCalls)
    .some(
      ({ files, tool, command }) =>
        (changes.test(tool ?? "") && files.some((file) => made.has(file))) ||
        (rejected === null && says.undoes.test(command ?? "")),
    );
}

const changes = /edit|write|patch|create|replace/i;

/** A remark, or too little to learn from. */
function sizeSigns(text: string) {
  const words = wordsOf(text);
  const pairs = words.filter((word) =>
    /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+$/u.test(word),
  ).length;
  const size = words.length - pairs * limits.pairsSpare;
  return {
    tiny: size <= limits.tinyWords,
    brief: size > limits.tinyWords && size <= limits.briefWords,
    empty: contentOf(text) < limits.leastContent,
  };
}

/** A task or a specification rather than a remark; the first sentences above a specification still speak to the agent. */
function extentSigns(text: string, sentence = Number.POSITIVE_INFINITY) {
  const listed = text.split("\n").length >= limits.specificationLines;
  return { long: text.length > limits.longTurn, specification: listed && sentence >= limits.leadSentences };
}

function shown<Sign extends string>(signs: Readonly<Record<Sign, boolean>>): Set<Sign> {
  return new Set((Object.keys(signs) as Sign[]).filter((sign) => signs[sign]));
}
