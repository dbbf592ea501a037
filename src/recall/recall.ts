import type { Json } from "../base/index.ts";
import {
  findFileNames,
  findLeftOut,
  isSameFix,
  parseCommand,
  type Run,
  readQuotedError,
  readSymptom,
} from "../failures/index.ts";
import {
  applyDecay,
  compareFailure,
  extractGist,
  failedProgram,
  foresees,
  isUnconfirmed,
  type Question,
  questionCues,
  readCureConfidence,
  sharedLessonId,
  type UpcomingCall,
} from "../lessons/index.ts";
import {
  type CallUse,
  type Cause,
  type Event,
  type Finding,
  isUse,
  type Lesson,
  promotedScopeId,
  type Remedy,
  type StoredFinding,
  type Symptom,
} from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { baseName, extractTerms, measureSimilarity } from "../text/index.ts";

/** Characters of a prompt that are read; a longer command is a script. */
const promptChars = 4_000;
const scriptChars = 5_000;
/** Words of a call by which it is looked up, and characters of each. */
const callWords = 20;
const wordChars = 200;
/** Most answers to one question. */
const mostAnswers = 3;
/** Findings that are looked at for one question: of an error that is met everywhere, this project's and the latest. */
export const mostFindings = 12;
/** Projects that are searched for a text that is asked in none of them, the newest. */
export const mostProjects = 40;
/** Words of a text that are looked up, the rarest; and index entries that this may touch. */
const mostWords = 24;
const mostIndexEntries = 2_000;
/** Findings that are looked at because they share words with a text. */
const mostSpoken = 12;
const distanceFactor = { here: 1, anywhere: 1, elsewhere: 0.7 };
/** How well a lesson fits a text that names its command or its file. */
const namedFit = 0.7;
/** Trust in a lesson of which nothing is sure; the rest is its confidence. */
const leastTrust = 0.4;
/** Bonus for each further session that taught it, and its cap. */
const confirmationBonus = 0.05;
const mostConfirmations = 3;
/** Factor for a fix that got past the failure but was never seen to succeed. */
const unseenFactor = 0.7;
/** Minimum score of an answer, by the sign it was recognised by; and for words in an explicit query. */
export const leastScore = { error: 0.5, call: 0.6, words: 0.45 };
const askedWordsScore = 0.3;
/** Sessions that must have taught a lesson before it is told ahead of a call. */
const warnAfterSessions = 2;
/** Score from which a lesson is given whole. */
const loadScore = 0.75;

// --- Questions ---

/** The question a failed call poses. */
export function readFailure(
  call: Pick<Event, "tool" | "command" | "input" | "files" | "text" | "exitCode">,
): Extract<Question, { type: "failure" }> {
  const { tool, command, files, text, exitCode } = call;
  const symptom = readSymptom(command, text, exitCode, { name: tool ?? "", files: files.map(baseName) });
  return { type: "failure", symptom, calls: listCalls(call) };
}

/** The question a text poses: its words, the error it quotes, the commands it names. */
export function readQuestion(text: string): Extract<Question, { type: "text" }> {
  const said = text.slice(0, promptChars);
  const commands = [...said.matchAll(/`([^`\n]{2,200})`/g)].map(([, code]) => code ?? "");
  return {
    type: "text",
    terms: extractTerms(said),
    said: said.toLowerCase(),
    symptom: readQuotedError(said),
    calls: [said.split("\n")[0] ?? "", ...commands].flatMap(parseCalls),
  };
}

/** The calls of an event. */
export function listCalls(event: Pick<Event, "tool" | "command" | "input" | "files">): UpcomingCall[] {
  const { tool, command, input, files } = event;
  if (command !== null) return parseCalls(command);
  if (tool === null) return [];
  const words = firstWords(listTexts(input));
  return [{ program: tool, head: tool, parts: null, through: null, words, files: files.map(baseName) }];
}

function parseCalls(command: string): UpcomingCall[] {
  return command.length >= scriptChars ? [] : parseCommand(command).map(describeRun);
}

function describeRun(run: Run): UpcomingCall {
  const [program, ...parts] = run.use();
  return {
    program,
    head: run.head,
    parts,
    through: run.wrapper[0] ?? null,
    words: firstWords(run.args),
    files: [...findFileNames([run.written, ...run.args].join(" "))],
  };
}

/** The words by which a call is known; one that is given more, or longer ones, is a script. */
function firstWords(words: readonly string[]): string[] {
  return words.slice(0, callWords).map((word) => word.slice(0, wordChars));
}

function listTexts(value: Json | undefined): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((each) => listTexts(each));
}

// --- Answers ---

/** As much of Knack's memory as an answer needs; a store has it, and so has a snapshot. */
interface Memory {
  readonly learning: {
    readonly findings: Pick<Store["learning"]["findings"], "cued" | "countsOf" | "sharing">;
    readonly lessons: Pick<Store["learning"]["lessons"], "get">;
    readonly uses: {
      of(program: string, project: string | null): Promise<readonly (CallUse & { readonly at: number })[]>;
    };
  };
  readonly projects: Pick<Store["projects"], "get" | "list">;
}

interface RecallOptions {
  /** The project and home folder the question comes from. */
  readonly project: string;
  readonly home: string | null;
  /**
   * Who asked. An answer that nobody asked for interrupts an agent, so it must be surer; a person sees also what
   * agents are not told, with where it came from.
   */
  readonly asker: "nobody" | "agent" | "person";
  /** The branch that is checked out there: what was learned on it holds on it. */
  readonly branch?: string | undefined;
  readonly now: number;
}

/** The options, and how much a word tells: 0 for one that every lesson has. */
type Circumstances = RecallOptions & { readonly rarity: (word: string) => number };

/** A finding with its lesson and the home folder that its project is in, where that is known. */
interface KnownFinding extends StoredFinding {
  readonly home: string | null;
  readonly lesson: Lesson;
}

/** An answer: what is known, and why it is thought to fit. */
export interface LessonMatch {
  readonly kind: "fix" | "lesson";
  readonly lesson: Lesson;
  /** How well it fits, whether or not it is to be believed, 0..1. */
  readonly fit: number;
  /** How sure it is that this helps now, 0..1. */
  readonly score: number;
  /** Sure enough to be put before an agent whole; otherwise one line. */
  readonly load: boolean;
  /** Which sign it was recognised by. */
  readonly by: "error" | "call" | "words";
  /** Where it was learned: in this project, wherever the person works, or in another of their projects. */
  readonly distance: "here" | "anywhere" | "elsewhere";
  /** The finding whose call is most like the one in question: what is told. */
  readonly best: KnownFinding;
  /** The findings that fit, the earliest first. */
  readonly from: readonly KnownFinding[];
}

/** Finds the best few lessons for a failure, a call or a text; returns none rather than a weak one. */
export async function recall(
  memory: Memory,
  question: Question,
  asked: RecallOptions,
): Promise<LessonMatch[]> {
  const { learning } = memory;
  const cued = await learning.findings.cued(questionCues(question), asked.project, mostFindings);
  const { spoken, rarity } =
    question.type === "text"
      ? await findSpoken(memory, question.terms, asked.project)
      : { spoken: [], rarity: () => 1 };
  const findings = [...new Map([...cued, ...spoken].map((finding) => [finding.id, finding])).values()];
  const near = findings.filter((one) => mayFit(question, one));
  if (near.length === 0) return [];
  const known = await loadKnown(memory, near, asked.project);
  const matches = pickAnswers(question, known, { ...asked, rarity });
  const stale = await Promise.all(matches.map((match) => isDisproved(learning, match)));
  return matches.filter((_, at) => !stale[at]);
}

/** Whether a finding can answer at all: a failure is known by its error alone, and a lesson that need not be loaded is time saved. */
function mayFit(question: Question, { finding }: StoredFinding): boolean {
  return question.type !== "failure" || compareFailure(question.symptom, finding) >= leastScore.error;
}

async function loadKnown(
  { learning, projects }: Memory,
  findings: readonly StoredFinding[],
  here: string,
): Promise<KnownFinding[]> {
  // Whose home it is matters for other projects only.
  const others = new Set(findings.flatMap(({ project }) => (project === here ? [] : project)));
  const rows = others.size > 0 ? await projects.get([...others]) : [];
  const homes = new Map(rows.map(({ id, root }) => [id, findHome(root ?? "")]));
  const ids = [...new Set(findings.map(({ lessonId }) => lessonId))];
  const lessons = new Map((await learning.lessons.get(ids)).map((lesson) => [lesson.id, lesson]));
  return findings.flatMap((finding) => {
    const lesson = lessons.get(finding.lessonId);
    return lesson ? [{ ...finding, home: homes.get(finding.project) ?? null, lesson }] : [];
  });
}

/** Whose lessons a text may be about: this project's, the person's own and what was promoted; in a folder that is no project, all. */
async function listScopes(projects: Memory["projects"], project: string): Promise<string[]> {
  if ((await projects.get([project])).length > 0) return [project, "user", promotedScopeId];
  const newest = (await projects.list()).sort((a, b) => b.lastAt - a.lastAt).slice(0, mostProjects);
  return [...newest.map(({ id }) => id), "user"];
}

/** The findings that share words with a text. */
async function findSpoken(
  { learning, projects }: Memory,
  terms: ReadonlySet<string>,
  project: string,
): Promise<{ spoken: StoredFinding[]; rarity: (word: string) => number }> {
  const counts = new Map<string, number>();
  const spoken: StoredFinding[] = [];
  for (const scopeId of await listScopes(projects, project)) {
    const found = await learning.findings.countsOf(scopeId, [...terms]);
    for (const [word, count] of found) counts.set(word, (counts.get(word) ?? 0) + count);
    spoken.push(...(await learning.findings.sharing(scopeId, pickRarest(found), mostSpoken)));
  }
  return { spoken, rarity: (word) => 1 / (1 + Math.log1p(counts.get(word) ?? 0)) };
}

/** The rarest words: the commonest cost most to look for and tell least. */
function pickRarest(counts: ReadonlyMap<string, number>): string[] {
  const rarest = [...counts].sort(([a, one], [b, other]) => one - other || (a < b ? -1 : 1));
  let seen = 0;
  return rarest.slice(0, mostWords).flatMap(([word, count], at) => {
    seen += count;
    return at < 2 || seen <= mostIndexEntries ? word : [];
  });
}

/** Whether the call that a lesson warns of has worked since it last failed. */
async function isDisproved({ uses }: Memory["learning"], match: LessonMatch): Promise<boolean> {
  const { lesson, from, by } = match;
  const program = from[0]?.finding.symptom?.call?.[0];
  if (by !== "call" || program === undefined) return false;
  // The program and the verb of each failed call, as uses have them.
  const warned = from.flatMap(({ finding: { symptom } }) => {
    if (symptom === null) return [];
    const { head, call } = symptom;
    return [call === null ? [head] : [call[0] ?? head, ...head.split(" ").slice(1)]];
  });
  const failedLast = findLastSeen(match);
  return (await uses.of(program, lesson.scope === "user" ? null : lesson.project)).some(
    (use) => use.ok > 0 && use.at > failedLast && warned.some((call) => isUse(use, call)),
  );
}

/** The answers to a question, best first: at most a few, and none that is weak. */
function pickAnswers(
  question: Question,
  known: readonly KnownFinding[],
  asked: Circumstances,
): LessonMatch[] {
  const fits = new Map<string, FindingFit[]>();
  const earliestFirst = [...known].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  for (const one of earliestFirst) {
    const fit = fitFinding(question, one, asked);
    // What several projects have learned is one answer.
    const lesson = sharedLessonId(one.lesson);
    if (fit !== null) fits.set(lesson, [...(fits.get(lesson) ?? []), fit]);
  }
  return [...fits.values()]
    .map((all) => buildMatch(question, all))
    .filter(({ score, by }) => score >= requiredScore(by, asked))
    .sort(bestFirst)
    .slice(0, mostAnswers);
}

/** A finding that fits a question. */
interface FindingFit extends Pick<LessonMatch, "fit" | "score" | "by" | "distance"> {
  readonly known: KnownFinding;
}

function fitFinding(question: Question, known: KnownFinding, asked: Circumstances): FindingFit | null {
  const { symptom, scope, remedy, call, state } = known.lesson;
  const distance = measureDistance(known, symptom && { symptom, remedy, call }, asked, scope);
  if (distance === null || (asked.asker !== "person" && !mayBeTold(known, asked))) return null;
  const isUnasked = asked.asker === "nobody";
  // An unasked warning ahead of a failure needs more evidence than a requested answer.
  const isUnsure =
    distance === "elsewhere" || (state.sessions < warnAfterSessions && state.promotion?.lesson == null);
  const sign = findBestSign(question, known, asked, {
    warns: !(isUnasked && isUnsure),
    // A prompt may name a command without meaning to run it; where it failed before, one line is worth that.
    names: !isUnasked || (distance === "here" && symptom !== null),
  });
  const { by } = sign;
  const fit = round(sign.fit * distanceFactor[distance]);
  // The very failure in its own project does not become less known with time; only what speaks against it counts.
  const now = by === "error" && distance === "here" ? known.lesson.state.lastAt : asked.now;
  const score = round(fit * measureTrust(known.lesson, now));
  return score < requiredScore(by, asked) ? null : { known, fit, score, by, distance };
}

/** The action, in words that an agent may be told: a judge's own may be made of anything that the judge was shown. */
export function describeCure({ by, action, call }: Finding | Lesson, isAccepted: boolean): string {
  return by === "judge" && !isAccepted && call !== null ? `use ${call.join(" ")}` : action;
}

/** Whether an agent may be told of a lesson in the lesson's own words. */
export function mayTellLesson(lesson: Lesson): boolean {
  return lesson.state.acceptedAt !== undefined || (lesson.doubt === undefined && isProvedCure(lesson));
}

/**
 * Whether an agent may be told unasked: what a person accepted, in the words that they accepted; and cures that were
 * seen to work here, whose steps are clean.
 */
function mayBeTold({ finding, lesson, foundAt }: KnownFinding, { branch }: Circumstances): boolean {
  const { acceptedAt } = lesson.state;
  const { doubt } = finding;
  const isClean = doubt === undefined || (doubt.kind === "branch" && doubt.words === branch);
  if (isClean && (acceptedAt !== undefined || isProvedCure(finding))) return true;
  return acceptedAt !== undefined && foundAt <= acceptedAt && finding.lesson === lesson.lesson;
}

/** A failing call and what got past it; or a file that was looked for in vain more than once. */
function isProvedCure({ kind, symptom, excerpt, remedy, call, by }: Finding | Lesson): boolean {
  if (kind !== "error-recovery" || symptom === null || remedy === "none") return false;
  // Of what a judge says only a call that rules saw work is a fact.
  if (by === "judge") return remedy !== null && call !== null && excerpt.worked !== null;
  return remedy !== null || (symptom.cause === "missing-file" && excerpt.worked === null);
}

/** The minimum score of an answer; lower for an explicit query in words. */
function requiredScore(by: LessonMatch["by"], { asker }: Circumstances): number {
  return by === "words" && asker !== "nobody" ? askedWordsScore : leastScore[by];
}

function buildMatch(question: Question, all: readonly FindingFit[]): LessonMatch {
  const fits = pickMostTaught(all);
  // Of several lessons that are one lesson this project's own is told: it may be kept here as something.
  const top = fits.reduce((best, fit) =>
    isNearer(fit, best) || (!isNearer(best, fit) && fit.score > best.score) ? fit : best,
  );
  const nearest = fits.reduce((best, fit) =>
    compareCalls(question, fit) >= compareCalls(question, best) ? fit : best,
  );
  const { fit, by, distance, known } = top;
  // What got past one failure and met the next has not been seen to work.
  const isSeen = fits.some(
    ({ known: { finding } }) =>
      finding.symptom === null || finding.excerpt.worked !== null || finding.remedy === null,
  );
  const score = isSeen ? top.score : round(top.score * unseenFactor);
  return {
    kind: known.lesson.symptom === null ? "lesson" : "fix",
    ...{ lesson: known.lesson, fit, score, load: score >= loadScore, by, distance, best: nearest.known },
    from: all.map((one) => one.known),
  };
}

function isNearer(a: FindingFit, b: FindingFit): boolean {
  return a.known.lesson.id !== b.known.lesson.id && a.distance === "here" && b.distance !== "here";
}

/** Of several fixes that go by one lesson the one that most sessions taught; of as many, the one that worked last. */
function pickMostTaught(fits: readonly FindingFit[]): readonly FindingFit[] {
  const groups: FindingFit[][] = [];
  for (const fit of fits) {
    const group = groups.find(([first]) => first && isSameFix(first.known.finding, fit.known.finding));
    if (group) group.push(fit);
    else groups.push([fit]);
  }
  const sessions = (group: readonly FindingFit[]) => new Set(group.map(({ known }) => known.session)).size;
  const last = (group: readonly FindingFit[]) => Math.max(...group.map(({ known }) => known.at));
  return groups.reduce((best, group) => {
    const more = sessions(group) - sessions(best);
    return more > 0 || (more === 0 && last(group) > last(best)) ? group : best;
  });
}

/** How much the call that a finding is about is like the one in question; of equals the surer finding tells. */
function compareCalls({ calls }: Question, { known: { finding } }: FindingFit): number {
  const words = new Set(calls.flatMap(({ program, words: given }) => [program, ...given]));
  const failed = new Set((finding.excerpt.failed ?? "").split(/\s+/));
  return measureSimilarity(words, failed) + finding.confidence / 100;
}

/** Another cure of the same failure that worked in this project too, which is told beside the best one. */
export function findAlternative([best, ...others]: readonly LessonMatch[]): LessonMatch | null {
  if (best?.by !== "error") return null;
  const isOther = ({ by, distance, fit, best: { finding } }: LessonMatch) =>
    by === "error" && distance === "here" && fit >= best.fit && !isSameFix(finding, best.best.finding);
  return others.find(isOther) ?? null;
}

/** Orders by: learned here, best fit, most evidence for it less that against it, most sessions, latest, highest score. */
function bestFirst(a: LessonMatch, b: LessonMatch): number {
  return (
    Number(b.distance === "here") - Number(a.distance === "here") ||
    b.fit - a.fit ||
    round(b.lesson.state.confidence) - round(a.lesson.state.confidence) ||
    b.lesson.state.sessions - a.lesson.state.sessions ||
    findLastSeen(b) - findLastSeen(a) ||
    b.score - a.score ||
    (a.lesson.id < b.lesson.id ? -1 : 1)
  );
}

/** When the latest of the findings behind an answer was made. */
export function findLastSeen({ from }: Pick<LessonMatch, "from">): number {
  return Math.max(...from.map(({ at }) => at));
}

function round(score: number): number {
  return Math.round(score * 1_000) / 1_000;
}

/** The parts of a fix that decide if it is portable. */
interface PortableFix {
  readonly symptom: Symptom;
  readonly remedy: Remedy | null;
  readonly call: readonly string[] | null;
}

/** Where a lesson lies relative to the asker; null if not applicable. */
export function measureDistance(
  known: { readonly project: string; readonly home: string | null },
  fix: PortableFix | null,
  asked: Pick<Circumstances, "project" | "home" | "asker">,
  scope: Lesson["scope"] = "project",
): LessonMatch["distance"] | null {
  if (known.project === asked.project) return "here";
  // On another machine other programs are installed.
  if (scope === "user" && known.home === asked.home) return "anywhere";
  if (asked.asker !== "nobody") return "elsewhere";
  return known.home === asked.home && (fix === null || isPortable(fix)) ? "elsewhere" : null;
}

/** Prior steps, directories and added wrappers are project-specific; dropping a missing wrapper is not. */
function isPortable({ symptom: { cause, about }, remedy, call }: PortableFix): boolean {
  if (remedy === "step" || remedy === "directory") return false;
  const putsBefore = remedy === "wrapper" && about !== null && call?.includes(about) === true;
  return portableCauses.has(cause) && !(cause === "missing-program" && putsBefore);
}

/** Causes that lie with the machine, the agent or a program, not the project. */
const portableCauses: ReadonlySet<Cause> = new Set([
  ...(["missing-program", "unknown-name", "wrong-usage", "shell-dialect"] as const),
  ...(["denied", "permission", "service", "other"] as const),
]);

/** The home folder that a path is in. */
export function findHome(path: string): string | null {
  return /^(?:\/(?:home|Users)\/[^/]+|\/root\b|[A-Za-z]:[\\/]Users[\\/][^\\/]+)/.exec(path)?.[0] ?? null;
}

/** How far a lesson is believed: what was refused, overtaken or held back is not told. */
function measureTrust({ state, kind }: Lesson, now: number): number {
  const { status, confidence } = applyDecay(state, now);
  const isHidden =
    status === "rejected" ||
    status === "superseded" ||
    status === "conflict-hold" ||
    state.vetoedBy !== undefined;
  if (isHidden || isUnconfirmed({ state })) return 0;
  const faded = state.confidence - confidence;
  const sure = kind === "error-recovery" ? readCureConfidence(state.sure) : state.sure;
  const again = Math.min(state.sessions - 1, mostConfirmations) * confirmationBonus;
  return Math.min(1, leastTrust + (1 - leastTrust) * Math.max(confidence, sure - faded) + again);
}

/** How well a lesson fits a question, and what shows it. */
function findBestSign(
  question: Question,
  { finding, lesson }: KnownFinding,
  asked: Circumstances,
  may: { readonly warns: boolean; readonly names: boolean },
): Pick<LessonMatch, "fit" | "by"> {
  const signs: Pick<LessonMatch, "fit" | "by">[] = [{ fit: 0, by: "words" }];
  if (question.type !== "call" && question.symptom !== null && !follows(question.calls, lesson))
    signs.push({ fit: compareFailure(question.symptom, finding), by: "error" });
  const isWarnedOf = (call: UpcomingCall) => foresees(finding, call) && !follows([call], lesson);
  if (question.type !== "failure" && may.warns && question.calls.some(isWarnedOf))
    signs.push({ fit: 1, by: "call" });
  if (question.type === "text") {
    const isNamed = may.names && names(question.terms, lesson);
    const isMeant = isNamed && (asked.asker !== "nobody" || isTyped(question.said, lesson));
    const shared = measureShared(question.terms, lesson, asked.rarity);
    signs.push({ fit: Math.max(shared, isMeant ? namedFit : 0), by: "words" });
  }
  return signs.reduce((best, sign) => (sign.fit > best.fit ? sign : best));
}

/** How much of what a lesson is about a text speaks of; its rare words count most. */
function measureShared(terms: ReadonlySet<string>, lesson: Lesson, rarity: (word: string) => number): number {
  let [shared, all, words] = [0, 0, 0];
  for (const word of extractGist(lesson).all) {
    const weight = rarity(word);
    all += weight;
    if (!terms.has(word)) continue;
    shared += weight;
    words++;
  }
  return words < 2 || all === 0 ? 0 : shared / all;
}

/** Whether a text names the program that a lesson warns of together with what it was given, or a file that it is about. */
function names(terms: ReadonlySet<string>, { symptom, trigger, action }: Lesson): boolean {
  if (symptom === null) {
    const files = [...findFileNames(`${trigger} ${action}`)].map((file) => file.toLowerCase());
    return [...terms].some((term) => files.some((file) => term === file || term.endsWith(`/${file}`)));
  }
  // A program with its verb says what is about to be done; one without verbs needs what it was given.
  const named = symptom.head.includes(" ")
    ? symptom.head
    : `${failedProgram(symptom)} ${symptom.about ?? ""}`;
  const all = extractTerms(named);
  return all.size >= 2 && [...all].every((name) => terms.has(name));
}

/** Whether a text has a lesson's command as one would type it; a program whose name is a word needs its marks. */
function isTyped(said: string, { symptom, state }: Lesson): boolean {
  const head = symptom?.head.toLowerCase() ?? "";
  const escaped = head.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const typed = new RegExp(`[\\s\`"'(]${escaped}(?=[\\s\`"'.,;:!?)])`);
  if (head === "" || !typed.test(` ${said.replace(/\s+/g, " ")} `)) return false;
  const isMarked = said.includes(`\`${head}`) || said.startsWith(head);
  return isMarked || state.sessions > 1 || !everyday.has(head.split(" ")[0] ?? "");
}

/** Programs whose names people use for other things. */
const everyday = new Set(
  (
    "make go just find which time test cat cut head tail sort watch split join touch kill more less install open start " +
    "run build check task link echo read set export source type date sleep yes file tree top at play rake swift"
  ).split(" "),
);

/** Whether calls already do what a lesson recommends: they have what it asks for, and not what it leaves out. */
function follows(calls: readonly UpcomingCall[], lesson: Lesson): boolean {
  const { call, symptom } = lesson;
  // What the call that failed had too cannot be told by its words.
  if (call === null || call.every((part) => symptom?.call?.includes(part))) return false;
  const out = findLeftOut(lesson);
  return calls.some(
    ({ program, parts }) =>
      parts !== null &&
      isUse({ head: program, parts }, call) &&
      !out.some((word) => word === program || parts.includes(word)),
  );
}
