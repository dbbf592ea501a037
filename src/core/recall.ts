import type { Cause } from "./cause.ts";
import { foresees, isGeneral, programIn } from "./cue.ts";
import type { Finding, Scope } from "./finding.ts";
import { fixOf, isSameFix, leftOut } from "./fix.ts";
import { type Instinct, lessonIdOf, standingAt } from "./instinct.ts";
import { gistOf } from "./likeness.ts";
import type { Remedy } from "./link.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import type { Call, Question } from "./question.ts";
import { filesIn } from "./run.ts";
import { isWaiting } from "./suggest.ts";
import { likenessOf, type Symptom, shapeOf } from "./symptom.ts";
import { isUseOf, type Use } from "./use.ts";
import { overlap, termsOf } from "./words.ts";

/** A finding with the instinct it belongs to: something that may be the answer. */
export interface Known {
  readonly id: string;
  readonly session: string;
  /** The agent's session, of which that is one telling. */
  readonly run: string;
  readonly project: string;
  /** Whose home folder the project is in; null when that is not known. */
  readonly home: string | null;
  readonly at: number;
  readonly finding: Finding;
  readonly instinct: Instinct;
}

/** An answer: what is known, and why it is thought to fit. */
export interface Match {
  readonly kind: "fix" | "instinct";
  readonly instinct: Instinct;
  /** How well it fits, whether or not it is to be believed, 0..1. */
  readonly fit: number;
  /** How sure it is that this helps now, 0..1. */
  readonly score: number;
  /** Sure enough to be put before an agent whole; otherwise one line. */
  readonly load: boolean;
  /** Which sign it was recognised by. */
  readonly by: Sign;
  readonly distance: Distance;
  /** The finding whose call is most like the one in question: what is told. */
  readonly best: Known;
  /** The findings that fit, the earliest first. */
  readonly from: readonly Known[];
}

export type Sign = "error" | "call" | "words";

/** Where it was learned: in this project, wherever the person works, or in another of their projects. */
export type Distance = "here" | "anywhere" | "elsewhere";

/** The answers to a question, best first: at most a few, and none that is weak. */
export function answer(
  question: Question,
  known: readonly Known[],
  asked: Circumstances,
  policy: Policy = defaults,
): Match[] {
  const fits = new Map<string, Fit[]>();
  for (const one of [...known].sort(earliestFirst)) {
    const fit = fitOf(question, one, asked, policy);
    // What several projects have learned is one answer.
    const lesson = lessonIdOf(one.instinct);
    if (fit !== null) fits.set(lesson, [...(fits.get(lesson) ?? []), fit]);
  }
  return [...fits.values()]
    .map((all) => matchOf(question, all, policy))
    .filter(({ score, by }) => score >= leastFor(by, asked, policy))
    .sort(bestFirst)
    .slice(0, policy.recall.most);
}

/** A finding that fits a question. */
interface Fit {
  readonly known: Known;
  readonly fit: number;
  readonly score: number;
  readonly by: Sign;
  readonly distance: Distance;
}

function fitOf(question: Question, known: Known, asked: Circumstances, policy: Policy): Fit | null {
  const { symptom, scope, remedy, call } = known.instinct;
  const distance = distanceTo(known, symptom && { symptom, remedy, call }, asked, scope);
  if (distance === null) return null;
  // Who interrupts before anything has failed must be surer than who is asked.
  const { sessions, promotion } = known.instinct.standing;
  const unsure =
    distance === "elsewhere" || (sessions < policy.recall.warnAfter && promotion?.lesson == null);
  const sign = signOf(question, known, asked, {
    warns: !(asked.unasked && unsure),
    // A prompt may name a command without meaning to run it; where it failed before, one line is worth that.
    names: !asked.unasked || (distance === "here" && symptom !== null),
    policy,
  });
  const { by } = sign;
  const fit = rounded(sign.fit * policy.recall.distance[distance]);
  const score = rounded(fit * trust(known.instinct, asked.now, policy));
  return score < leastFor(by, asked, policy) ? null : { known, fit, score, by, distance };
}

/** The score from which an answer is given; whoever asks in words hears more. */
function leastFor(by: Sign, { unasked }: Circumstances, { recall }: Policy): number {
  return by === "words" && !unasked ? recall.askedWords : recall.offer[by];
}

function matchOf(question: Question, all: readonly Fit[], policy: Policy): Match {
  const fits = mostTaught(all);
  // Of several instincts that are one lesson this project's own is told: it may be kept here as something.
  const top = fits.reduce((best, fit) => (nearer(fit, best) || better(fit, best) ? fit : best));
  const nearest = fits.reduce((best, fit) =>
    nearness(question, fit) >= nearness(question, best) ? fit : best,
  );
  const { instinct } = top.known;
  // What got past one failure and met the next has not been seen to work.
  const seen = fits.some(
    ({ known: { finding } }) =>
      finding.symptom === null || finding.excerpt.worked !== null || finding.remedy === null,
  );
  const score = seen ? top.score : rounded(top.score * policy.recall.unseen);
  return {
    kind: instinct.symptom === null ? "instinct" : "fix",
    instinct,
    fit: top.fit,
    score,
    load: score >= policy.recall.load,
    by: top.by,
    distance: top.distance,
    best: nearest.known,
    from: all.map(({ known }) => known),
  };
}

function nearer(a: Fit, b: Fit): boolean {
  return a.known.instinct.id !== b.known.instinct.id && a.distance === "here" && b.distance !== "here";
}

function better(a: Fit, b: Fit): boolean {
  return !nearer(b, a) && a.score > b.score;
}

/** Of several fixes that go by one instinct the one that most sessions taught; of as many, the one that worked last. */
function mostTaught(fits: readonly Fit[]): readonly Fit[] {
  const groups: Fit[][] = [];
  for (const fit of fits) {
    const fix = fixOf(fit.known.finding);
    const group = groups.find(([first]) => first && isSameFix(fixOf(first.known.finding), fix));
    if (group) group.push(fit);
    else groups.push([fit]);
  }
  const sessions = (group: readonly Fit[]) => new Set(group.map(({ known }) => known.session)).size;
  const last = (group: readonly Fit[]) => Math.max(...group.map(({ known }) => known.at));
  return groups.reduce((best, group) =>
    sessions(group) > sessions(best) || (sessions(group) === sessions(best) && last(group) > last(best))
      ? group
      : best,
  );
}

/** How much the call that a finding is about is like the one in question; of equals the surer finding tells. */
function nearness({ calls }: Question, { known: { finding } }: Fit): number {
  const words = new Set(calls.flatMap(({ program, words: given }) => [program, ...given]));
  return overlap(words, new Set((finding.excerpt.failed ?? "").split(/\s+/))) + finding.confidence / 100;
}

/** What decides beside the question itself. */
export interface Circumstances {
  readonly project: string;
  /** The home folder of whoever asks. */
  readonly home: string | null;
  /** Nobody asked: the answer interrupts. */
  readonly unasked: boolean;
  readonly now: number;
  /** How much a word tells: 0 for one that every lesson has. */
  readonly rarity: (word: string) => number;
}

function earliestFirst(a: Known, b: Known): number {
  return a.at - b.at || (a.id < b.id ? -1 : 1);
}

/** What was learned here; what fits best; of what fits alike, what more sessions taught, then what worked last. */
function bestFirst(a: Match, b: Match): number {
  return (
    Number(b.distance === "here") - Number(a.distance === "here") ||
    b.fit - a.fit ||
    b.instinct.standing.sessions - a.instinct.standing.sessions ||
    lastSeen(b) - lastSeen(a) ||
    b.score - a.score ||
    (a.instinct.id < b.instinct.id ? -1 : 1)
  );
}

function lastSeen({ from }: Match): number {
  return Math.max(...from.map(({ at }) => at));
}

function rounded(score: number): number {
  return Math.round(score * 1_000) / 1_000;
}

/** Where something is for whoever asks; null where it does not count. */
export function distanceTo(
  known: { readonly project: string; readonly home: string | null },
  fix: Travelling | null,
  asked: Pick<Circumstances, "project" | "home" | "unasked">,
  scope: Scope = "project",
): Distance | null {
  if (known.project === asked.project) return "here";
  // On another machine other programs are installed.
  if (scope === "user" && known.home === asked.home) return "anywhere";
  return !asked.unasked || fix === null || travels(fix) ? "elsewhere" : null;
}

/** What decides whether a fix may hold in other projects. */
export interface Travelling {
  readonly symptom: Symptom;
  readonly remedy: Remedy | null;
  readonly call: readonly string[] | null;
}

/** What is run first, where, and through what is each project's own; to leave out what is not there is not. */
function travels({ symptom: { cause, about }, remedy, call }: Travelling): boolean {
  if (remedy === "step" || remedy === "directory") return false;
  const putsBefore = remedy === "wrapper" && about !== null && call?.includes(about) === true;
  return ofNoProject.has(cause) && !(cause === "missing-program" && putsBefore);
}

/** Causes that lie with the machine, the agent or a program, whatever it works on. */
const ofNoProject = new Set<Cause>([
  "missing-program",
  "unknown-name",
  "wrong-usage",
  "shell-dialect",
  "denied",
  "permission",
  "service",
  "other",
]);

/** The home folder that a path is in. */
export function homeIn(path: string): string | null {
  return /^(?:\/(?:home|Users)\/[^/]+|\/root\b|[A-Za-z]:[\\/]Users[\\/][^\\/]+)/.exec(path)?.[0] ?? null;
}

/** How far an instinct is believed: what was refused, overtaken or held back is not told. */
function trust({ standing }: Instinct, now: number, policy: Policy): number {
  const { status, confidence } = standingAt(standing, now, policy);
  if (status === "rejected" || status === "superseded" || status === "conflict-hold") return 0;
  if (isWaiting({ standing }, policy)) return 0;
  const { doubt } = policy.recall;
  const faded = standing.confidence - confidence;
  const again = Math.min(standing.sessions - 1, policy.recall.agains) * policy.recall.again;
  return Math.min(1, doubt + (1 - doubt) * Math.max(confidence, standing.sure - faded) + again);
}

/** How well a lesson fits a question, and what shows it. */
function signOf(
  question: Question,
  known: Known,
  asked: Circumstances,
  { warns, names, policy }: { readonly warns: boolean; readonly names: boolean; readonly policy: Policy },
): { fit: number; by: Sign } {
  const signs: { fit: number; by: Sign }[] = [{ fit: 0, by: "words" }];
  if (question.type !== "call" && question.symptom !== null)
    signs.push({ fit: fitOfError(question.symptom, question.calls, known, policy), by: "error" });
  if (question.type !== "failure" && warns)
    signs.push({ fit: question.calls.some((call) => warnsOf(known, call)) ? 1 : 0, by: "call" });
  if (question.type === "text")
    signs.push({ fit: fitOfWords(question, known.instinct, { ...asked, names }, policy), by: "words" });
  return signs.reduce((best, sign) => (sign.fit > best.fit ? sign : best));
}

function warnsOf({ finding, instinct }: Known, call: Call): boolean {
  return foresees(finding, call) && !follows([call], instinct);
}

function fitOfError(
  symptom: Symptom,
  calls: readonly Call[],
  { finding, instinct }: Known,
  { recall }: Policy,
): number {
  if (finding.symptom === null || follows(calls, instinct)) return 0;
  const likeness = likenessOf(symptom, finding.symptom);
  if (likeness > 0 || !isGeneral(finding)) return likeness;
  const shape = shapeOf(symptom);
  return shape !== null && shape === shapeOf(finding.symptom) ? recall.shape : 0;
}

/** How much of what a lesson is about a text speaks of; its rare words count most, and names of what it is about suffice. */
function fitOfWords(
  { terms, said }: Extract<Question, { type: "text" }>,
  instinct: Instinct,
  { rarity, names, unasked }: Pick<Circumstances, "rarity" | "unasked"> & { readonly names: boolean },
  { recall }: Policy,
): number {
  let [shared, all, words] = [0, 0, 0];
  for (const word of gistOf(instinct).all) {
    const weight = rarity(word);
    all += weight;
    if (!terms.has(word)) continue;
    shared += weight;
    words++;
  }
  const covered = words < 2 || all === 0 ? 0 : shared / all;
  return Math.max(
    covered,
    names && isNamed(terms, instinct) && (!unasked || isSaid(said, instinct)) ? recall.named : 0,
  );
}

/** Whether a text names the program that a lesson warns of together with what it was given, or a file that it is about. */
function isNamed(terms: ReadonlySet<string>, { symptom, trigger, action }: Instinct): boolean {
  if (symptom === null) return [...filesIn(`${trigger} ${action}`)].some((file) => speaksOf(terms, file));
  // A program with its verb says what is about to be done; one without verbs needs what it was given.
  const named = symptom.head.includes(" ") ? symptom.head : `${programIn(symptom)} ${symptom.about ?? ""}`;
  const all = termsOf(named);
  return all.size >= 2 && [...all].every((name) => terms.has(name));
}

/** Whether a text has a lesson's command as one would type it; a program whose name is a word needs its marks. */
function isSaid(said: string, { symptom, standing }: Instinct): boolean {
  const head = symptom?.head.toLowerCase() ?? "";
  const typed = new RegExp(`[\\s\`"'(]${escaped(head)}(?=[\\s\`"'.,;:!?)])`);
  if (head === "" || !typed.test(` ${said.replace(/\s+/g, " ")} `)) return false;
  const isMarked = said.includes(`\`${head}`) || said.startsWith(head);
  return isMarked || standing.sessions > 1 || !everyday.has(head.split(" ")[0] ?? "");
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Programs whose names people use for other things. */
const everyday = new Set(
  (
    "make go just find which time test cat cut head tail sort watch split join touch kill more less install open start " +
    "run build check task link echo read set export source type date sleep yes file tree top at play rake swift"
  ).split(" "),
);

function speaksOf(terms: ReadonlySet<string>, file: string): boolean {
  const name = file.toLowerCase();
  for (const term of terms) if (term === name || term.endsWith(`/${name}`)) return true;
  return false;
}

/** Whether the call that a lesson warns of has worked since it last failed. */
export function isDisproved(match: Match, uses: readonly (Use & { readonly at: number })[]): boolean {
  const failedLast = lastSeen(match);
  const warned = match.from.flatMap(({ finding }) => (finding.symptom ? [headCall(finding.symptom)] : []));
  return uses.some((use) => use.ok > 0 && use.at > failedLast && warned.some((call) => isUseOf(use, call)));
}

/** Whether calls already do what an instinct recommends: they have what it asks for, and not what it leaves out. */
function follows(calls: readonly Call[], instinct: Instinct): boolean {
  const { call, symptom } = instinct;
  // What the call that failed had too cannot be told by its words.
  if (call === null || call.every((part) => symptom?.call?.includes(part))) return false;
  const out = leftOut(fixOf(instinct));
  return calls.some(
    ({ program, parts }) =>
      parts !== null &&
      isUseOf({ head: program, parts }, call) &&
      !out.some((word) => word === program || parts.includes(word)),
  );
}

/** The program and the verb of a failed call, as uses have them. */
function headCall({ head, call }: Symptom): readonly string[] {
  return call === null ? [head] : [call[0] ?? head, ...head.split(" ").slice(1)];
}
