import type { Event, FindingKind } from "../../records/index.ts";
import { extractTerms, slugify, splitWords } from "../../text/index.ts";
import { says } from "./phrases.ts";
import { isQuestion, splitSentences, stripOpening, type Turn } from "./turns.ts";

/** A lesson in a person's turn, as far as its words and the agent's reaction tell. */
export interface SpokenLesson {
  readonly turn: Turn;
  readonly kind: Extract<FindingKind, "user-correction" | "explicit-instruction" | "convention">;
  readonly confidence: number;
  /** The sentences that carry it. */
  readonly sentences: readonly string[];
}

/** Confidence from which a turn counts; a question is never surer than its bar. */
const usualBar = { instruction: 0.45, lesson: 0.18, convention: 0.42, question: 0.55 };

/** Whether a person speaks against what the agent did, and teaches something by it. */
export function isObjection(turn: Turn): boolean {
  return judgeTurn(turn) !== null && isObjecting(readLessonSigns(turn));
}

/** The lesson of a turn, or null. A prompt is one lesson, so the kind that fits best takes it. */
export function judgeTurn(turn: Turn, bar = usualBar): SpokenLesson | null {
  const withdraws = (words: string) => says.withdraws.test(stripOpening(words.toLowerCase()));
  if (turn.resent || turn.repeats || withdraws(turn.next) || withdraws(turn.words)) return null;
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
  // An objection is the whole turn: one sentence says what is wrong, another what is right.
  if (isObjected) return { turn, kind: "user-correction", confidence, sentences: turn.sentences };
  // Otherwise the turn is an instruction or a convention.
  const [order, rule] = [instruction ?? findInstruction(turn), convention ?? findConvention(turn)];
  const { kind, sentences } = rule.confidence > order.confidence ? rule : order;
  return { turn, kind, confidence, sentences: sentences.length > 0 ? sentences : turn.sentences };
}

const everyRequest: ReadonlySet<string> = new Set(["takesOn", "takenOn", "redone", "brief", "queued"]);

/** A standing order is one sentence, often within a task, and never a question. */
function findInstruction(turn: Turn): SpokenLesson {
  const told = turn.sentences.filter((sentence) => !isQuestion(sentence) || findSavedName(sentence) !== null);
  const scored = told.map((sentence) => {
    const signs = readInstructionSigns(turn, sentence);
    const score = addUp(instructionWeights, signs, sentence);
    if (!signs.has("language")) return { sentence, score };
    // Only what is said of the language: it often hangs on a task.
    const clauses = sentence.split(/[,，;；]/u);
    const clause = clauses.find((each) => says.choosesLanguage.test(each.toLowerCase()));
    return { sentence: clause?.trim() ?? sentence, score };
  });
  return pickBest(turn, "explicit-instruction", scored);
}

/** A rule of the project is one sentence too. */
function findConvention(turn: Turn): SpokenLesson {
  const told = turn.sentences.filter((sentence) => !isQuestion(sentence));
  const weigh = (said: string) => addUp(conventionWeights, readConventionSigns(turn, said), said);
  const scored = told.map((sentence) => ({ sentence, score: weigh(sentence) }));
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
  const isReason = (sentence: string) => !says.wishes.test(stripOpening(sentence.toLowerCase()));
  const more = items.length > 0 ? items : rest.slice(0, 1).filter(isReason);
  return { turn, kind, confidence, sentences: [first, ...more] };
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

/**
 * Weight of each sign in the log-odds that a turn holds a lesson: fitted to labelled turns and regularised towards
 * priors, so that no rare sign is overrated.
 */
// biome-ignore format: a table of weights reads better in rows
const lessonWeights = {
  always: -2.2, language: 1.95, ruleFile: 1.25, rejected: 1.5, standing: 1.5, followsRules: 1.2,
  process: 1.15, faults: 1.15, ruleFileUpdated: 0.95, reproaches: 1.05, changedFact: 0.95,
  admits: 0.75, grantsPointed: 0.65, ordersSteps: 1.1, refuses: 0.45, sets: 0.6, lessens: 0.65,
  grants: 0.4, forbids: 1.3, redonePointed: 0.75, apologises: 1.0, pointsOut: 0.3, again: 0.45,
  firm: 0.6, exists: 0.75, standingFirst: 0.5, addresses: 0.5, bars: 0.6, takesOn: 0.3, saysNo: 0.45,
  takenOn: 0.1, brief: 0.5, custom: 0.35, requires: 0.5, work: -0.1, tellsYou: 0.5, directs: 0.25,
  interrupted: -0.2, queued: 0.05, questionBlaming: 0.3, redone: 0.05, questionGranted: -0.65,
  productToo: -0.15, requirement: -1.6, answers: -0.35, agrees: -0.2, long: -0.05, wish: -0.6,
  asksToo: -0.65, bug: -0.8, grantsBug: -0.45, grantsProduct: -0.8, taste: -1.15, product: -2.3,
  question: -1.55, specification: -1.3, tiny: -1.05, passes: -3, empty: -3.05,
};

/** Log-odds, by sign, that a sentence is an order to keep. */
// biome-ignore format: a table of weights reads better in rows
const instructionWeights = {
  always: -2.6, savesAs: 4.5, standing: 2.1, standingFirst: 0.8, ordersAlways: 2.6, remembers: 2.3,
  ruleFile: 2.3, ruleFileUpdated: 1.6, changedFact: 1.4, language: 3.4, process: 1.7, firm: 0.6,
  addresses: 0.4, work: 0.4, product: -1.4, takenOn: 0.5, wish: -0.6, bug: -1.2, opening: -0.3,
  long: -0.3, specification: -1.2,
};

/** Log-odds, by sign, that a sentence states a rule of the project. */
// biome-ignore format: a table of weights reads better in rows
const conventionWeights = {
  always: -3.1, custom: 1.3, customRule: 0.7, followsRules: 1.9, ruleFile: 0.8, pointsOut: 1.2,
  ordersSteps: 0.8, firm: 0.5, forbids: 0.6, requires: 0.4, work: 0.4, product: -1, passes: -1.2,
  bug: -1, takenOn: 0.5, long: -0.4, specification: -1.5,
};

type LessonSign = keyof typeof lessonWeights;

/** A turn of more characters is a task or a specification rather than a remark; so is one of this many lines. */
const longTurnChars = 420;
const specificationLines = 8;
/** Sentences above a specification that still speak to the agent. */
const leadSentences = 2;
/** Words up to which a turn says too little to learn from, and up to which it is a remark. */
const tinyWords = 3;
const briefWords = 22;
/** Words that a turn must have which say what it is about. */
const minContentWords = 2;

/** Characters in which a sentence opens, and of the reply in which an agent grants a point. */
const openingChars = 12;
const replyHeadChars = 160;
/** Calls after a turn that show how the agent reacted. */
const reactionCalls = 12;
/** Share of its words that a turn has in common with the one before from which it says the same again. */
const restatedShare = 0.35;
/** Pairs of characters make more words than a text without spaces has: the share that is one too many. */
const surplusOfPairs = 0.45;

/** The signs, for and against, that there is something to learn in what a person says to an agent at work. */
function readLessonSigns(turn: Turn): Set<LessonSign> {
  const words = turn.words.toLowerCase();
  const sentences = turn.sentences.map((sentence) => sentence.toLowerCase());
  const bare = sentences.map(stripOpening);
  const first = bare[0] ?? "";
  const any = (pattern: RegExp) => pattern.test(words);
  const some = (pattern: RegExp) => bare.some((sentence) => pattern.test(sentence));

  // Who asks does not order.
  const told = turn.sentences.flatMap((each) => (isQuestion(each) ? [] : stripOpening(each.toLowerCase())));
  const orders = (pattern: RegExp) => told.some((sentence) => pattern.test(sentence));
  const blames = { faults: any(says.faults), reproaches: some(says.reproaches) };
  const objects = { refuses: some(says.refuses), bars: orders(says.bars), sets: some(says.sets) };
  const rules = {
    forbids: orders(says.forbids),
    custom: any(says.tellsCustom),
    exists: any(says.existsAlready),
  };
  const points = {
    lessens: any(says.lessens),
    ordersSteps: some(says.ordersSteps),
    addresses: any(says.addresses),
  };
  const blamed = blames.faults || blames.reproaches;
  const objected = objects.refuses || objects.bars || objects.sets;
  const { grants, heeds, apologises, takesOn, denies } = readReaction(turn);
  const hasPoint = heeds || points.lessens || points.ordersSteps || points.addresses || some(says.opines);
  const pointed = hasPoint || blamed || objected || rules.forbids || rules.exists;

  const question = sentences.every(isQuestion);
  const bug = any(says.reportsBug);
  const work = any(says.namesWork);
  const product = any(says.namesProduct);
  const redone = redoes(turn);
  return collect<LessonSign>({
    ...{ always: true, ...blames, ...objects, ...rules, ...points },
    tellsYou: any(says.tellsYou),
    directs: redone && says.directs.test(first),
    saysNo: says.saysNo.test(first),
    answers: turn.asked && turn.rejected === null && !grants,
    requires: orders(says.requires),
    ...{ work, bug, grants, apologises, redone, queued: turn.queued },
    product: product && !work,
    requirement: !blamed && !points.addresses && told.some(says.isRequirement),
    productToo: product && work,
    question: question && !blamed && !grants,
    questionGranted: question && !blamed && grants,
    questionBlaming: question && blamed,
    asksToo: !question && !blamed && sentences.some(isQuestion),
    admits: blames.reproaches && question && denies,
    wish: says.wishes.test(first),
    agrees: says.agrees.test(words) && !objects.refuses,
    grantsPointed: grants && pointed,
    // Agents grant bug reports and requirements as readily as corrections.
    grantsBug: grants && bug && !blamed,
    grantsProduct: grants && product && !work && !blamed,
    takesOn: takesOn && !grants,
    takenOn: grants || takesOn,
    rejected: turn.rejected !== null,
    interrupted: turn.interrupted && turn.rejected === null,
    redonePointed: redone && (objected || blames.faults || rules.custom || rules.exists) && !product && !bug,
    again: turn.again > restatedShare,
    ...{ passes: any(says.passes), taste: any(says.isTaste), firm: any(says.firm) },
    ...{ followsRules: any(says.followsRules), pointsOut: any(says.pointsOut) },
    ...{ process: orders(says.followsProcess), language: any(says.choosesLanguage) },
    standing: orders(says.standing),
    standingFirst: told.some((sentence) => opensWith(says.standing, sentence)),
    ruleFile: orders(says.writesRule),
    ruleFileUpdated: orders(says.updatesRules),
    changedFact: orders(says.updatesRules) && any(says.changedFact),
    ...readSize(words),
    ...readExtent(words),
  });
}

/** Whether something is said near the start of a sentence. */
function opensWith(pattern: RegExp, sentence: string): boolean {
  const at = sentence.search(pattern);
  return at >= 0 && at <= openingChars;
}

/** Whether a turn speaks against what the agent did, or the agent took it so. */
function isObjecting(signs: ReadonlySet<LessonSign>): boolean {
  return objections.some((sign) => signs.has(sign));
}

const objections: readonly LessonSign[] = [
  ...(["faults", "reproaches", "refuses", "bars", "sets", "lessens", "forbids", "exists", "custom"] as const),
  ...(["saysNo", "rejected", "grants", "apologises", "admits", "again"] as const),
];

/** Whether any sentence can be an order to keep, or a rule: no other signs suffice, and most turns have none of these. */
function mayInstruct({ words, sentences }: Turn): boolean {
  const lower = words.toLowerCase();
  const { standing, writesRule, updatesRules, choosesLanguage, followsProcess } = says;
  const isOrder = (sentence: string) => {
    const bare = stripOpening(sentence.toLowerCase());
    return says.ordersAlways.test(bare) || says.remembers.test(bare) || findSavedName(sentence) !== null;
  };
  const patterns = [standing, writesRule, updatesRules, choosesLanguage, followsProcess];
  return patterns.some((pattern) => pattern.test(lower)) || sentences.some(isOrder);
}

/** Whether any sentence can be a rule of the project; most turns have none of these signs. */
function mayState({ words }: Turn): boolean {
  const { tellsCustom, followsRules, pointsOut, ordersSteps, ruleFile } = says;
  const lower = words.toLowerCase();
  const patterns = [tellsCustom, followsRules, pointsOut, ordersSteps, ruleFile];
  return patterns.some((pattern) => pattern.test(lower)) || upperCaseFile.test(words);
}

/** `RULES.md`, and other files that projects keep for agents. */
const upperCaseFile = /\b[A-Z]{3,}\.md\b/;

/** The signs, for and against, that a sentence orders something to be kept. */
function readInstructionSigns(turn: Turn, said: string): Set<keyof typeof instructionWeights> {
  const sentence = said.toLowerCase();
  const bare = stripOpening(sentence);
  const plain = sentence.replace(quoted, " ");
  const kept = says.writesRule.test(plain);
  const updated = !kept && says.updatesRules.test(plain);
  const work = says.namesWork.test(sentence);
  return collect<keyof typeof instructionWeights>({
    ...{ always: true, work, ruleFile: kept, ruleFileUpdated: updated, opening: turn.opening },
    savesAs: findSavedName(said) !== null,
    standing: says.standing.test(bare),
    standingFirst: opensWith(says.standing, bare),
    ordersAlways: says.ordersAlways.test(bare),
    remembers: says.remembers.test(bare),
    changedFact: updated && says.changedFact.test(turn.words.toLowerCase()),
    language: says.choosesLanguage.test(sentence),
    process: says.followsProcess.test(sentence),
    firm: says.firm.test(sentence),
    addresses: says.addresses.test(sentence),
    product: says.namesProduct.test(sentence) && !work,
    takenOn: takesUp(turn),
    wish: says.wishes.test(bare) && bare.search(says.writesRule) !== 0,
    bug: says.reportsBug.test(sentence),
    ...readExtent(turn.words, turn.sentences.indexOf(said)),
  });
}

/** The name under which a person wants something kept; a format or a type is none. */
export function findSavedName(text: string): string | null {
  const [whole = "", name = ""] = says.savesAs.exec(text) ?? [];
  const rest = text.slice(text.indexOf(whole) + whole.length);
  const named = /-|_/.test(name) || /\b(?:skill|called|named)\b|["'`「“]/i.test(whole);
  if (name === "" || (!named && (says.formats.has(name.toLowerCase()) || /^\s*\p{L}/u.test(rest))))
    return null;
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name) ? name : slugify(name) || null;
}

const quoted = /"[^"\n]{1,300}"|“[^”\n]{1,300}”|「[^」\n]{1,300}」|`[^`\n]{1,200}`/gu;

/** The signs, for and against, that a sentence states a rule of the project, in passing or within a task. */
function readConventionSigns(turn: Turn, said: string): Set<keyof typeof conventionWeights> {
  const sentence = said.toLowerCase();
  const custom = says.tellsCustom.test(sentence);
  const forbids = says.forbids.test(sentence);
  const requires = says.requires.test(sentence);
  const work = says.namesWork.test(sentence);
  return collect<keyof typeof conventionWeights>({
    ...{ always: true, custom, forbids, requires, work },
    customRule: custom && work && (forbids || requires),
    followsRules: says.followsRules.test(sentence),
    ruleFile: says.ruleFile.test(sentence) || upperCaseFile.test(said),
    pointsOut: says.pointsOut.test(sentence),
    ordersSteps: says.ordersSteps.test(sentence),
    firm: says.firm.test(sentence),
    product: says.namesProduct.test(sentence) && !work,
    passes: says.passes.test(sentence),
    bug: says.reportsBug.test(sentence),
    takenOn: takesUp(turn),
    ...readExtent(turn.words, turn.sentences.indexOf(said)),
  });
}

/** How many words say what it is about, rather than that something is wrong. */
export function countContentWords(text: string): number {
  return [...extractTerms(text)].filter((word) => !says.contentless.has(word)).length;
}

/** Whether a text says too little to learn from. */
export function isContentless(text: string): boolean {
  return countContentWords(text) < minContentWords;
}

/** Reads the start of the agent's reply: it grants the point, apologizes, takes the matter on, or denies. */
function readReaction({ reply }: Turn) {
  const start = (reply?.text ?? "").slice(0, 2 * replyHeadChars).replace(/^[#*>\s-]+/, "");
  const head = start.slice(0, replyHeadChars).toLowerCase();
  return {
    grants: says.concedes.test(head),
    heeds: says.heedsPoint.test(head),
    apologises: says.apologises.test(head),
    takesOn: says.accepts.test(head) || says.praises.test(head),
    denies: says.deniesFirst.test(head),
  };
}

function takesUp(turn: Turn): boolean {
  const { grants, takesOn } = readReaction(turn);
  return grants || takesOn;
}

/** Whether the agent went back to what it had just made: the same file again, or an undoing. */
function redoes({ before, after, rejected }: Turn): boolean {
  const changed = ({ files, tool }: Event) => (changes.test(tool ?? "") ? files : []);
  const made = new Set(before.flatMap(changed));
  const goesBack = (event: Event) =>
    changed(event).some((file) => made.has(file)) ||
    (rejected === null && says.undoes.test(event.command ?? ""));
  return after.slice(0, reactionCalls).some(goesBack);
}

const changes = /edit|write|patch|create|replace/i;

/** A remark, or too little to learn from. */
function readSize(text: string) {
  const words = splitWords(text);
  const isPair = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+$/u;
  const size = words.length - words.filter((word) => isPair.test(word)).length * surplusOfPairs;
  return {
    tiny: size <= tinyWords,
    brief: size > tinyWords && size <= briefWords,
    empty: isContentless(text),
  };
}

/** A task or a specification rather than a remark; the first sentences above a specification still speak to the agent. */
function readExtent(text: string, sentence = Number.POSITIVE_INFINITY) {
  const listed = text.split("\n").length >= specificationLines;
  return { long: text.length > longTurnChars, specification: listed && sentence >= leadSentences };
}

function collect<Sign extends string>(signs: Readonly<Record<Sign, boolean>>): Set<Sign> {
  return new Set((Object.keys(signs) as Sign[]).filter((sign) => signs[sign]));
}

/** Whether a text asks to remember something or save it under a name. */
export function asksToRemember(text: string): boolean {
  const said = text.toLowerCase();
  const isOrder = (sentence: string) => says.remembers.test(stripOpening(sentence));
  return findSavedName(said) !== null || splitSentences(said).some(isOrder);
}
