import { compareText, makeId } from "../base/index.ts";
import {
  areOppositeFixes,
  compareSymptoms,
  fileFamily,
  generalizeError,
  isSameFix,
  listTellingWords,
} from "../failures/index.ts";
import {
  type Cause,
  type Finding,
  type FindingKind,
  isWorkflow,
  type Lesson,
  type Remedy,
  type Symptom,
} from "../records/index.ts";
import type { Gist, WordSearch } from "../store/index.ts";
import { createOverlapSearch, extractTerms, measureSimilarity } from "../text/index.ts";

/** Two lessons whose words overlap this much are one; two triggers that overlap this much are the same occasion. */
export const sameFrom = 0.5;
export const sameTriggerFrom = 0.6;
/** The share of what one lesson wants that the other must warn of for them to be opposed. */
const contraryShare = 0.6;
/** Index entries that a search may touch before it leaves common words out. */
const searchedEntries = 6_000;
/** How alike two errors are that say the same of different names, where the fix has nothing to do with the name. */
const sameShape = 0.7;

interface ComparedText {
  readonly trigger: string;
  readonly action: string;
  readonly kind?: FindingKind;
}

/** The words by which lessons are compared. */
export function extractGist({ trigger, action, kind }: ComparedText): Gist {
  const workflow = kind !== undefined && isWorkflow(kind) ? extractWorkflow(trigger, action, kind) : null;
  if (workflow !== null) return workflow;
  const triggerTerms = new Set([...extractTerms(trigger)].filter((word) => !commonplace.has(word)));
  const { wants, shuns } = splitStance(action);
  return { trigger: triggerTerms, all: new Set([...triggerTerms, ...wants, ...shuns]), wants, shuns };
}

/** Words common to most failures: two missing programs are not one lesson. */
const commonplace = new Set(
  "command not found no such error failed fail unknown cannot could unable".split(" "),
);

/** The gist of a workflow: each quoted command or tool is one word. Null where nothing is quoted. */
function extractWorkflow(trigger: string, action: string, kind: FindingKind): Gist | null {
  const [occasion, wants] = [readQuoted(trigger), readQuoted(action)];
  const all = new Set([...occasion, ...wants]);
  if (all.size === 0) return null;
  // One command alone is not yet the procedure that has it too.
  if (all.size === 1) all.add(kind);
  return { trigger: occasion, all, wants, shuns: new Set() };
}

/** Quoted commands, each as one word: `docker build` is `docker-build`, so that two of one program are two words. */
function readQuoted(text: string): Set<string> {
  const words = [...text.matchAll(/`([^`]+)`/g)].map(([, form = ""]) =>
    form
      .toLowerCase()
      .replace(/ ?<url>/, "")
      .replace(/[^a-z0-9._@/]+/g, "-")
      .replace(/^[-./]+|[-./]+$/g, ""),
  );
  return new Set(words);
}

/** Whether two lessons are one lesson. */
export function isSameLesson(a: Gist, b: Gist): boolean {
  return measureSimilarity(a.all, b.all) >= sameFrom && !contrary(a, b);
}

/**
 * Whether two findings are one lesson by themselves. Rules choose their words, so findings of theirs that share most of
 * them say the same, as long as they do not cure a failure in two ways. Whatever a judge wrote must be exactly the same.
 */
export function isSameFinding(a: ComparedFinding, b: ComparedFinding): boolean {
  if (!isJudged(a, b)) return isSameLesson(a.gist, b.gist) && !areOtherCures(a.finding, b.finding);
  const keys = samenessKeys(a.finding);
  return samenessKeys(b.finding).some((key) => keys.includes(key));
}

/** Whether two findings say opposite things by themselves; a judge says so explicitly. */
export function areOpposedFindings(a: ComparedFinding, b: ComparedFinding): boolean {
  if (isJudged(a, b)) return false;
  // A cure is a call: that another leaves out a word of it makes them two ways, not opposites.
  if (a.finding.symptom !== null && b.finding.symptom !== null) return areOppositeFixes(a.finding, b.finding);
  return areOpposed(a.gist, b.gist);
}

/** Finds, for any of some lessons, those of them that say the opposite, whoever learned them. */
export function createOpposedSearch<Compared extends Finding | Lesson>(
  pool: readonly Compared[],
): (one: Compared) => Compared[] {
  const gists = new Map(pool.map((one) => [one, extractGist(one)]));
  const gistOf = (one: Compared) => gists.get(one) ?? extractGist(one);
  const search = createOverlapSearch(pool, (one) => gistOf(one).trigger, sameTriggerFrom);
  const isOpposed = (one: Compared, other: Compared) =>
    one.symptom !== null && other.symptom !== null
      ? areOppositeFixes(one, other)
      : areOpposed(gistOf(one), gistOf(other));
  return (one) => search(one).filter((other) => other !== one && isOpposed(one, other));
}

interface ComparedFinding {
  readonly finding: Finding;
  readonly gist: Gist;
}

function isJudged(a: ComparedFinding, b: ComparedFinding): boolean {
  return a.finding.by === "judge" || b.finding.by === "judge";
}

/** Findings that share one of these are the same: the same words, or the same call for the same symptom. */
export function samenessKeys({ kind, lesson, symptom, call }: Finding): string[] {
  const words = lesson.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const text = `${kind} ${words.join(" ")}`;
  if (kind !== "error-recovery" || symptom === null || call === null) return [makeId("same-", text)];
  const { head, cause, about, signature } = symptom;
  return [makeId("same-", text), makeId("cure-", JSON.stringify([head, cause, about, signature, call]))];
}

function areOtherCures(a: Finding, b: Finding): boolean {
  return a.symptom !== null && b.symptom !== null && !isSameFix(a, b);
}

/** Whether two lessons tell opposite things for the same occasion; one that avoids beside one that prefers is no conflict. */
export function areOpposed(a: Gist, b: Gist): boolean {
  return measureSimilarity(a.trigger, b.trigger) >= sameTriggerFrom && contrary(a, b);
}

/** Whether two orders ask for opposite things. */
export function areContrary(a: string, b: string): boolean {
  return contrary(extractGist({ trigger: "", action: a }), extractGist({ trigger: "", action: b }));
}

/** One asks for what the other warns of, and not also for the same. */
export function contrary(a: Gist, b: Gist): boolean {
  return meets(a.wants, b) || meets(b.wants, a);
}

/** Whether what one wants is what the other shuns; words that both want, such as the verb, tell nothing. */
function meets(wants: ReadonlySet<string>, other: Gist): boolean {
  const own = [...wants].filter((word) => !other.wants.has(word));
  const against = [...other.shuns].filter((word) => !other.wants.has(word));
  const shared = own.filter((word) => other.shuns.has(word)).length;
  return shared >= Math.max(1, Math.min(own.length, against.length) * contraryShare);
}

/** Splits an action into advice and warning: words after "not", to the end of the clause, are warning. */
function splitStance(action: string): { wants: Set<string>; shuns: Set<string> } {
  const wants = new Set<string>();
  const shuns = new Set<string>();
  const take = (wanted: string, shunned: string) => {
    for (const word of extractTerms(wanted)) wants.add(word);
    for (const word of extractTerms(shunned)) shuns.add(word);
  };
  for (const clause of splitClauses(action)) {
    // "X ではなく Y" and "X 말고 Y" warn of what stands before them.
    const turned = warningAfter.exec(clause);
    const [before = "", ...after] = mayWarn(clause) ? clause.split(warning) : [clause];
    if (turned) take(clause.slice(turned.index + turned[0].length), clause.slice(0, turned.index));
    else take(before, after.join(" "));
  }
  for (const word of wants) shuns.delete(word);
  return { wants, shuns };
}

// The hook reads few texts, and preparing a pattern of many scripts takes longer than looking for its signs.

function splitClauses(action: string): string[] {
  if (!separators.some((sign) => action.includes(sign))) return [action];
  return action.split(
    /[,;:。，；、\n]|\. |(?<=[\s\p{Script=Han}])(?:but|而是|but rather)(?=[\s\p{Script=Han}])/u,
  );
}

const separators = [",", ";", ":", "。", "，", "；", "、", "\n", ". ", "but", "而是"];

/** Whether a clause has a sign that every warning has. */
function mayWarn(clause: string): boolean {
  const plain = clause.toLowerCase();
  return warningSigns.some((sign) => plain.includes(sign));
}

const warning =
  /\b(?:not|never|no|don['’]?t|doesn['’]?t|avoid|without|stop|instead of|rather than|nicht|kein|pas|jamais|nunca)\b|不要|不能|不用|别|勿|避免|禁止/iu;
const warningSigns =
  "no|never|don|doesn|avoid|without|stop|instead of|rather than|nicht|kein|pas|jamais|nunca|不要|不能|不用|别|勿|避免|禁止".split(
    "|",
  );
const warningAfter = /ではなく|じゃなく|しないで|말고|대신/u;

/**
 * One search that finds every lesson that may be the same or opposed, given how many lessons have each word. Of a set
 * that must overlap by a share, so many words are in the other set too; leaving out a few words lowers that number by as
 * many at the most. So the commonest words, which cost most to look for, need no looking.
 */
export function planWordSearch({ all, trigger }: Gist, count: (word: string) => number): WordSearch {
  const commonest = [...all].sort((a, b) => count(b) - count(a) || compareText(b, a));
  let anywhere = countNeeded(all, sameFrom);
  let inTrigger = countNeeded(trigger, sameTriggerFrom);
  let seen = commonest.reduce((sum, word) => sum + count(word), 0);
  const words = commonest.filter((word) => {
    const isOccasion = trigger.has(word);
    if (seen <= searchedEntries || anywhere === 1 || (isOccasion && inTrigger === 1)) return true;
    seen -= count(word);
    anywhere--;
    if (isOccasion) inTrigger--;
    return false;
  });
  const occasion = new Set(words.filter((word) => trigger.has(word)));
  return { words, occasion, atLeast: { anywhere, inTrigger } };
}

/** How many words of a set another must have that overlaps with it by a share; one that shares none never does. */
function countNeeded(words: ReadonlySet<string>, share: number): number {
  return Math.max(1, Math.ceil(share * words.size - 1e-9));
}

// --- Cues: the keys under which a lesson is looked up ---

/** A failure, a call that is about to be made, or a text. */
export type Question =
  | { readonly type: "failure"; readonly symptom: Symptom; readonly calls: readonly UpcomingCall[] }
  | { readonly type: "call"; readonly calls: readonly UpcomingCall[] }
  | {
      readonly type: "text";
      readonly terms: ReadonlySet<string>;
      /** The text itself, in small letters. */
      readonly said: string;
      /** The error that the text quotes, and the commands it names. */
      readonly symptom: Symptom | null;
      readonly calls: readonly UpcomingCall[];
    };

/** A call before it is made. */
export interface UpcomingCall {
  /** The program or the tool; and the program with its verb. */
  readonly program: string;
  readonly head: string;
  /** The parts that distinguish it; null for a tool that is no shell. */
  readonly parts: readonly string[] | null;
  /** Its wrapper: `sudo`, `timeout`. */
  readonly through: string | null;
  /** Everything it is given. */
  readonly words: readonly string[];
  readonly files: readonly string[];
}

/** The cues of a lesson: the error it is about, and the call that it warns of. */
export function lessonCues(finding: Finding): string[] {
  const { symptom, remedy } = finding;
  if (symptom === null || (remedy === "none" && !passing.has(symptom.cause))) return [];
  return [
    ...listErrorCues(symptom),
    ...(isGeneral(finding) ? listShapeCues(symptom) : []),
    ...(remedy === "elevation" ? listSandboxCues(symptom) : []),
    ...(isForeseeable(symptom, remedy) ? listWarningCues(symptom) : []),
  ];
}

/** Causes for which "run it again" is worth knowing; anything else that passed by itself taught nothing. */
const passing = new Set<Cause>(["failing-test", "timeout", "transient", "service"]);

/** The cues under which answers to a question are looked up. */
export function questionCues(question: Question): string[] {
  const calls = question.type === "failure" ? [] : question.calls.flatMap(listCallCues);
  const symptom = question.type === "call" ? null : question.symptom;
  const errors =
    symptom === null
      ? []
      : [...listErrorCues(symptom), ...listShapeCues(symptom), ...listSandboxCues(symptom)];
  return [...new Set([...calls, ...errors])];
}

function listErrorCues(symptom: Symptom): string[] {
  const { cause, about, signature, files } = symptom;
  // What would not be recognised when it is met again need not be looked for.
  if (compareSymptoms(symptom, symptom) === 0) return [];
  if (files.length > 0) return files.map(formatFileCue);
  return [`error ${signature}`, ...(about === null ? [] : [`name ${cause} ${about}`])];
}

function listShapeCues(symptom: Symptom): string[] {
  const { shape } = generalizeError(symptom);
  return shape === null ? [] : [`shape ${shape}`];
}

/** Refusals by a sandbox are alike, whatever program, host or file they are about. */
function listSandboxCues({ cause }: Symptom): string[] {
  return cause === "permission" || cause === "transient" ? [`sandbox ${cause}`] : [];
}

function listWarningCues(symptom: Symptom): string[] {
  const { cause, about, files } = symptom;
  if (cause === "denied") return files.map(formatFileCue);
  const given = about === null || cause === "missing-program" ? "" : bare(about);
  return about === null ? [] : [`call ${failedProgram(symptom)} ${given}`];
}

function listCallCues({ program, through, words, files }: UpcomingCall): string[] {
  const given = words.map((word) => `call ${program} ${bare(word)}`);
  const wrapper = through === null ? [] : [`call ${through} `];
  return [`call ${program} `, ...wrapper, ...given, ...files.map(formatFileCue)];
}

function formatFileCue(file: string): string {
  return `file ${fileFamily(file)}`;
}

/** The program that a failure is about. */
export function failedProgram({ cause, about, call, head }: Symptom): string {
  return cause === "missing-program" && about !== null ? about : (call?.[0] ?? head);
}

/** How much a failure is like the one that a finding is about, 0..1. */
export function compareFailure(symptom: Symptom, finding: Finding): number {
  if (finding.symptom === null) return 0;
  const likeness = compareSymptoms(symptom, finding.symptom);
  const isRefused = finding.remedy === "elevation" && listSandboxCues(symptom).length > 0;
  if (isRefused && symptom.cause === finding.symptom.cause) return Math.max(likeness, sameShape);
  if (likeness > 0) return likeness;
  if (finding.remedy === "step" && isSameMessage(symptom, finding.symptom)) return sameShape;
  if (!isGeneral(finding)) return 0;
  const { shape } = generalizeError(symptom);
  return shape !== null && shape === generalizeError(finding.symptom).shape ? sameShape : 0;
}

/** Whether two programs say the same in as many words: what was missing before either of them ran is one thing. */
function isSameMessage(a: Symptom, b: Symptom): boolean {
  const isLong = () => listTellingWords(a.signature).size >= wordsOfOneMessage;
  return (
    !ofAPlace.has(a.cause) &&
    a.cause === b.cause &&
    a.about === b.about &&
    a.signature === b.signature &&
    isLong()
  );
}

const wordsOfOneMessage = 5;
/** Causes that say nothing of what is outside the code or the call. */
const ofAPlace = new Set<Cause>([
  "lint",
  "code",
  "failing-test",
  "wrong-usage",
  "missing-file",
  "tool-misuse",
]);

/** Whether a fix is independent of the error's subject: `npm ci` is, `pip install yaml` is not. */
function isGeneral({ symptom, remedy, call, steps, action }: Finding): boolean {
  if (symptom === null || remedy === null || !generalRemedies.has(remedy)) return false;
  const fix = [...(call ?? []), ...steps, action].join(" ").toLowerCase();
  // Any package comes by an installation; what else made one appear made that one.
  if (symptom.cause === "missing-module" && !installs.test(fix)) return false;
  const isMentioned = (name: string) =>
    fix.includes(name) || name.split(/[^a-z0-9]+/).some((part) => part.length > 3 && fix.includes(part));
  return !generalizeError(symptom).names.some((name) => isMentioned(name.toLowerCase()));
}

const installs = /\b(?:install|ci|sync|tidy|restore|bundle|update)\b/;
const generalRemedies = new Set([
  "step",
  "environment",
  "directory",
  "elevation",
  "wrapper",
  "flag",
  "program",
]);

/** Whether the words of a call give away that it will fail: what other words cure, and nothing else does. */
function isForeseeable({ cause }: Symptom, remedy: Remedy | null): boolean {
  return cause === "denied" || (foreseeable.has(cause) && remedy !== null && wordRemedies.has(remedy));
}

const foreseeable = new Set<Cause>(["missing-program", "missing-script", "unknown-name", "wrong-usage"]);
const wordRemedies = new Set(
  "wrapper program path environment flag argument input other-way".split(" "),
) as ReadonlySet<string>;

/** Whether a lesson says that this call will fail. */
export function foresees({ symptom, remedy }: Finding, call: UpcomingCall): boolean {
  if (symptom === null || !isForeseeable(symptom, remedy)) return false;
  const { cause, about } = symptom;
  // What is denied with `.env` may be allowed with `.env.example`, so only the very file is warned of.
  if (cause === "denied") return call.files.some((file) => symptom.files.includes(file));
  if (about === null) return false;
  if (cause === "missing-program") {
    // Something done first may bring the program, such as entering its environment.
    const isPrepared = call.parts?.some((part) => preparing.has(part) && !symptom.call?.includes(part));
    return (call.program === about || call.through === about) && !isPrepared;
  }
  if (call.program !== failedProgram(symptom)) return false;
  return call.head === symptom.head && call.words.some((word) => bare(word) === bare(about));
}

const preparing = new Set("source . eval nvm fnm conda mamba pyenv asdf mise".split(" "));

function bare(word: string): string {
  return word.replace(/^-+/, "").replace(/=.*$/s, "");
}
