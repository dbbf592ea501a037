import { type Run, runsOf } from "./command.ts";
import type { Event } from "./event.ts";
import type { Cause } from "./failure.ts";
import type { Finding, Scope } from "./finding.ts";
import { type Instinct, standingAt } from "./instinct.ts";
import type { Json } from "./json.ts";
import { gistOf } from "./likeness.ts";
import type { Remedy } from "./link.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import { filesIn, useOf } from "./run.ts";
import { likenessOf, readSymptom, type Symptom } from "./symptom.ts";
import { isUseOf, type Use } from "./use.ts";
import { overlap, termsOf } from "./words.ts";

/** What somebody met, is about to run, or says they are about to do. */
export type Question =
  | { readonly type: "failure"; readonly symptom: Symptom; readonly calls: readonly Call[] }
  | { readonly type: "call"; readonly calls: readonly Call[] }
  | {
      readonly type: "text";
      readonly terms: ReadonlySet<string>;
      /** The error that the text quotes, and the commands it names. */
      readonly symptom: Symptom | null;
      readonly calls: readonly Call[];
    };

/** A call as it is known before it is made. */
export interface Call {
  /** The program or the tool. */
  readonly program: string;
  /** What tells it from other calls of that program; null for a tool that is no shell. */
  readonly parts: readonly string[] | null;
  /** Everything it is given. */
  readonly words: readonly string[];
  readonly files: readonly string[];
}

/** A finding with the instinct it belongs to: something that may be the answer. */
export interface Known {
  readonly id: string;
  readonly session: string;
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
  /** How sure it is that this helps now, 0..1. */
  readonly score: number;
  /** Sure enough to be put before an agent whole; otherwise one line. */
  readonly load: boolean;
  /** Which sign it was recognised by. */
  readonly by: Sign;
  readonly place: Place;
  /** The finding whose call is most like the one in question: what is told. */
  readonly best: Known;
  /** The findings that fit, the earliest first. */
  readonly from: readonly Known[];
}

export type Sign = "error" | "call" | "words";

/** Where it was learned: in this project, wherever the person works, or in another of their projects. */
export type Place = "here" | "anywhere" | "elsewhere";

/** What a text asks about: the words it has, the error it quotes, the commands it names. */
export function questionIn(text: string, policy: Policy = defaults): Question {
  const said = text.slice(0, policy.recall.textChars);
  const error = readSymptom(null, said, null);
  const commands = [...said.matchAll(/`([^`\n]{2,200})`/g)].map(([, code]) => code ?? "");
  return {
    type: "text",
    terms: termsOf(said),
    symptom: error.cause === "other" ? null : error,
    calls: [said.split("\n")[0] ?? "", ...commands].flatMap(callsIn),
  };
}

/** The calls of an event. */
export function callsOf({
  tool,
  command,
  input,
  files,
}: Pick<Event, "tool" | "command" | "input" | "files">): Call[] {
  if (command !== null) return callsIn(command);
  if (tool === null) return [];
  return [
    { program: tool, parts: null, words: textsIn(input).slice(0, mostWords), files: files.map(lastPart) },
  ];
}

/** The calls of a shell command. */
export function callsIn(command: string): Call[] {
  return command.length >= defaults.keep.eventChars ? [] : runsOf(command).map(callOfRun);
}

function callOfRun(run: Run): Call {
  const [program, ...parts] = useOf(run);
  return { program, parts, words: run.args, files: [...filesIn([run.written, ...run.args].join(" "))] };
}

function textsIn(value: Json | undefined): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null
    ? Object.values(value).flatMap((each) => textsIn(each))
    : [];
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The names under which a lesson is looked up: by the error it is about, and by the call that it warns of. */
export function cuesOf({ symptom, remedy }: Finding): string[] {
  if (symptom === null) return [];
  return [...errorCues(symptom), ...(isForeseeable(symptom, remedy) ? warningCues(symptom) : [])];
}

/** The names under which answers to a question are looked up. */
export function cuesFor(question: Question): string[] {
  const calls = question.type === "failure" ? [] : question.calls.flatMap(callCues);
  const symptom = question.type === "call" ? null : question.symptom;
  return [...new Set([...calls, ...(symptom === null ? [] : errorCues(symptom))])];
}

function errorCues(symptom: Symptom): string[] {
  const { cause, about, signature, files } = symptom;
  // What would not be recognised when it is met again need not be looked for.
  if (likenessOf(symptom, symptom) === 0) return [];
  if (cause === "denied") return files.map(fileCue);
  return [`error ${signature}`, ...(about === null ? [] : [`name ${cause} ${about}`])];
}

function warningCues(symptom: Symptom): string[] {
  const { cause, about, files } = symptom;
  if (cause === "denied") return files.map(fileCue);
  if (about === null) return [];
  return [callCue(programIn(symptom), cause === "missing-program" ? "" : bare(about))];
}

function callCues({ program, words, files }: Call): string[] {
  const given = words.slice(0, mostWords).map((word) => callCue(program, bare(word)));
  return [callCue(program, ""), ...given, ...files.map(fileCue)];
}

/** Words of a call by which it is looked up; a call that is given more is a script. */
const mostWords = 20;

function callCue(program: string, word: string): string {
  return `call ${program} ${word}`;
}

function fileCue(file: string): string {
  return `file ${file}`;
}

function programIn({ cause, about, call, head }: Symptom): string {
  return cause === "missing-program" && about !== null ? about : (call?.[0] ?? head);
}

/** Whether the words of a call give away that it will fail: what other words cure, and nothing else does. */
function isForeseeable({ cause }: Symptom, remedy: Remedy | null): boolean {
  return foreseeable.has(cause) && (cause === "denied" || (remedy !== null && ofTheWords.has(remedy)));
}

const foreseeable = new Set<Cause>([
  "missing-program",
  "missing-script",
  "unknown-name",
  "wrong-usage",
  "denied",
]);
const ofTheWords = new Set<Remedy>([
  "wrapper",
  "program",
  "path",
  "environment",
  "flag",
  "argument",
  "input",
  "other-way",
]);

/** The answers to a question, best first: at most a few, and none that is weak. */
export function answer(
  question: Question,
  candidates: readonly Known[],
  asked: Circumstances,
  policy: Policy = defaults,
): Match[] {
  const fits = new Map<string, Fit[]>();
  for (const known of [...candidates].sort(earliestFirst)) {
    const fit = fitOf(question, known, asked, policy);
    if (fit !== null) fits.set(known.instinct.id, [...(fits.get(known.instinct.id) ?? []), fit]);
  }
  return [...fits.values()]
    .map((all) => matchOf(question, all, policy))
    .sort(bestFirst)
    .slice(0, policy.recall.most);
}

/** A finding that fits a question. */
interface Fit {
  readonly known: Known;
  readonly score: number;
  readonly by: Sign;
  readonly place: Place;
}

function fitOf(question: Question, known: Known, asked: Circumstances, policy: Policy): Fit | null {
  const { symptom, scope } = known.instinct;
  const place = placeOf(known, symptom?.cause ?? null, asked, scope);
  if (place === null) return null;
  const { fit, by } = signOf(question, known, asked.rarity);
  const score = rounded(fit * policy.recall.place[place] * trust(known.instinct, asked.now, policy));
  return score < policy.recall.offer[by] ? null : { known, score, by, place };
}

function matchOf(question: Question, fits: readonly Fit[], policy: Policy): Match {
  const top = fits.reduce((best, fit) => (fit.score > best.score ? fit : best));
  const nearest = fits.reduce((best, fit) =>
    nearness(question, fit) > nearness(question, best) ? fit : best,
  );
  const { instinct } = top.known;
  return {
    kind: instinct.symptom === null ? "instinct" : "fix",
    instinct,
    score: top.score,
    load: top.score >= policy.recall.load,
    by: top.by,
    place: top.place,
    best: nearest.known,
    from: fits.map(({ known }) => known),
  };
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
  readonly now: number;
  /** How much a word tells: 0 for one that every lesson has. */
  readonly rarity: (word: string) => number;
}

function earliestFirst(a: Known, b: Known): number {
  return a.at - b.at || (a.id < b.id ? -1 : 1);
}

function bestFirst(a: Match, b: Match): number {
  return (
    b.score - a.score ||
    b.instinct.standing.sessions - a.instinct.standing.sessions ||
    b.instinct.standing.lastAt - a.instinct.standing.lastAt ||
    (a.instinct.id < b.instinct.id ? -1 : 1)
  );
}

function rounded(score: number): number {
  return Math.round(score * 1_000) / 1_000;
}

/** Where something is for whoever asks; null where it does not count. */
export function placeOf(
  known: { readonly project: string; readonly home: string | null },
  cause: Cause | null,
  asked: Pick<Circumstances, "project" | "home">,
  scope: Scope = "project",
): Place | null {
  if (known.project === asked.project) return "here";
  // On another machine other programs are installed.
  if (known.home !== asked.home) return null;
  if (scope === "user") return "anywhere";
  return cause === null || travels.has(cause) ? "elsewhere" : null;
}

/** Causes that lie with the machine, the agent or a program, whatever it works on. */
const travels = new Set<Cause>([
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
  const { doubt } = policy.recall;
  const again = Math.min(standing.sessions - 1, policy.recall.agains) * policy.recall.again;
  return Math.min(1, doubt + (1 - doubt) * Math.max(confidence, standing.sure) + again);
}

/** How well a lesson fits a question, and what shows it. */
function signOf(
  question: Question,
  known: Known,
  rarity: Circumstances["rarity"],
): { fit: number; by: Sign } {
  const signs: { fit: number; by: Sign }[] = [];
  if (question.type !== "call" && question.symptom !== null)
    signs.push({ fit: fitOfError(question.symptom, question.calls, known), by: "error" });
  if (question.type !== "failure")
    signs.push({ fit: question.calls.some((call) => foresees(known, call)) ? 1 : 0, by: "call" });
  if (question.type === "text")
    signs.push({ fit: fitOfWords(question.terms, known.instinct, rarity), by: "words" });
  return signs.reduce((best, sign) => (sign.fit > best.fit ? sign : best));
}

function fitOfError(symptom: Symptom, calls: readonly Call[], { finding, instinct }: Known): number {
  if (finding.symptom === null || follows(calls, instinct)) return 0;
  return likenessOf(symptom, finding.symptom);
}

/** Whether a lesson says that this call will fail. */
function foresees({ finding: { symptom, remedy }, instinct }: Known, call: Call): boolean {
  if (symptom === null || !isForeseeable(symptom, remedy)) return false;
  if (follows([call], instinct)) return false;
  const { cause, about } = symptom;
  if (cause === "denied") return symptom.files.some((file) => call.files.includes(file));
  if (about === null || call.program !== programIn(symptom)) return false;
  if (cause === "missing-program") return !isPrepared(call, symptom);
  return call.words.some((word) => bare(word) === bare(about)) && has(call, symptom.call);
}

/** Whether something was done first that may bring the program, such as entering its environment. */
function isPrepared({ parts }: Call, { call }: Symptom): boolean {
  return parts?.some((part) => prepares.has(part) && !call?.includes(part)) ?? false;
}

const prepares = new Set("source . eval nvm fnm conda mamba pyenv asdf mise".split(" "));

function bare(word: string): string {
  return word.replace(/^-+/, "").replace(/=.*$/s, "");
}

function has({ parts }: Call, needed: readonly string[] | null): boolean {
  if (needed === null || parts === null) return needed === null && parts === null;
  return needed.slice(1).every((part) => parts.includes(part));
}

/** Whether calls already do what an instinct recommends. */
function follows(calls: readonly Call[], { call }: Instinct): boolean {
  return (
    call !== null &&
    calls.some(({ program, parts }) => parts !== null && isUseOf({ head: program, parts }, call))
  );
}

/** How much of what a lesson is about a text speaks of; its rare words count most, and names of what it is about suffice. */
function fitOfWords(terms: ReadonlySet<string>, instinct: Instinct, rarity: Circumstances["rarity"]): number {
  let [shared, all, words] = [0, 0, 0];
  for (const word of gistOf(instinct).all) {
    const weight = rarity(word);
    all += weight;
    if (!terms.has(word)) continue;
    shared += weight;
    words++;
  }
  const covered = words < 2 || all === 0 ? 0 : shared / all;
  return Math.max(covered, isNamed(terms, instinct) ? namedFit : 0);
}

const namedFit = 0.7;

/** Whether a text names the program that a lesson warns of together with what it was given. */
function isNamed(terms: ReadonlySet<string>, { symptom }: Instinct): boolean {
  if (symptom === null) return false;
  const names = [programIn(symptom), symptom.head.split(" ").at(-1), symptom.about].flatMap((name) =>
    name ? [...termsOf(name)] : [],
  );
  const all = new Set(names);
  return all.size >= 2 && [...all].every((name) => terms.has(name));
}

/** Whether the call that a lesson warns of has worked since the lesson was last confirmed. */
export function isDisproved(
  { instinct, from }: Match,
  uses: readonly (Use & { readonly at: number })[],
): boolean {
  const warned = from.flatMap(({ finding }) => (finding.symptom?.call ? [finding.symptom.call] : []));
  return uses.some(
    (use) => use.ok > 0 && use.at > instinct.standing.lastAt && warned.some((call) => isUseOf(use, call)),
  );
}
