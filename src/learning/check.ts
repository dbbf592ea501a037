import {
  type Event,
  type Excerpt,
  type Finding,
  type FindingKind,
  isPersons,
  isSaid,
  isWorkflow,
  type LessonWords,
  makeFinding,
  maxFindingEvents,
  shorten,
} from "../records/index.ts";
import { extractTerms, oneLine, slugify, stemWord } from "../text/index.ts";
import { ownWords, redact, scan, withoutHome } from "../trust/index.ts";
import { compareEvents, cutOutput, type KnownLesson } from "./dossier.ts";
import { type JudgeAnswer, type JudgedLesson, lessonChars, type SessionQuestion } from "./question.ts";
import { isFailing, readRecordedFacts } from "./recorded.ts";
import { weighLesson } from "./worth.ts";

/** A lead, or a lesson of the judge, that is not kept. */
export interface SetAside {
  readonly what: string;
  readonly because: string;
}

interface CheckedAnswer {
  readonly lessons: readonly Finding[];
  readonly aside: readonly SetAside[];
}

interface CheckGrounds {
  /** The rules' findings in the session: a cure that they proved keeps its symptom and its call. */
  readonly byRules: readonly Finding[];
  readonly known: readonly KnownLesson[];
}

/** Checks a judge's answer against the record; nothing of it is taken on trust. */
export function checkAnswer(
  answer: JudgeAnswer,
  question: SessionQuestion,
  grounds: CheckGrounds,
): CheckedAnswer {
  const lessons: Finding[] = [];
  const aside: SetAside[] = [];
  const settled = new Set<string>();
  const summaries = new Map(question.leads.map(({ name, lead }) => [name, lead.summary]));
  for (const said of answer.lessons.slice(0, maxLessons)) {
    const checked = checkLesson(said, question, grounds);
    if ("finding" in checked) lessons.push(checked.finding);
    else aside.push({ what: oneLine(redact(said.lesson)).slice(0, lessonChars), because: checked.because });
    for (const name of said.leads) settled.add(name);
  }
  for (const { lead, because } of answer.aside)
    if (summaries.has(lead) && !settled.has(lead)) {
      settled.add(lead);
      aside.push({ what: summaries.get(lead) ?? "", because: cleanReason(because) });
    }
  const unnamed = [...summaries].filter(([name]) => !settled.has(name));
  return { lessons, aside: [...aside, ...unnamed.map(([, what]) => ({ what, because: "no reason given" }))] };
}

/** Lessons taken from one answer. */
const maxLessons = 12;
const whenChars = 120;
const doChars = 300;
const reasonChars = 200;
/** How sure a judge can be, at least and at most. */
const minConfidence = 0.3;
const maxConfidence = 0.9;
/** How sure at most of what is not shown before other sessions confirm it. */
const keptConfidence = 0.55;
const excerptChars = 600;
const errorChars = 400;
const maxKeywords = 8;
const nameChars = 40;

function cleanReason(because: string): string {
  const text = oneLine(redact(because)).slice(0, reasonChars);
  return text === "" || findConcern(text) !== null ? "no reason given" : text;
}

type Checked = { readonly finding: Finding } | { readonly because: string };

function checkLesson(
  said: JudgedLesson,
  question: SessionQuestion,
  { byRules, known }: CheckGrounds,
): Checked {
  const evidence = [...new Set(said.refs)]
    .flatMap((ref) => question.shown.get(ref) ?? [])
    .sort(compareEvents);
  const worth = weighLesson(said, readRecordedFacts(said, evidence, question));
  if (typeof worth === "object") return { because: worth.dropped };
  if (findKnown(said.same_as, known)?.standing === "rejected by the person")
    return { because: "the person rejected it before" };
  const checked = checkWords(said, () => writeRecord(question.shown));
  if ("because" in checked) return checked;
  const { words } = checked;
  const steps = checkSteps(said, () => writeRecord(question.shown));
  if ("because" in steps) return steps;
  const kind = chooseKind(said.kind, evidence);
  if (kind === null) return { because: "its events do not show it" };
  const because = findUnsaid(kind, words, evidence);
  if (because !== null) return { because };
  const most = worth === "shown" ? maxConfidence : keptConfidence;
  const confidence = Math.min(most, Math.max(minConfidence, said.confidence));
  return {
    finding: makeLesson(
      { ...said, ...words, ...steps, kind, confidence },
      evidence as [Event, ...Event[]],
      byRules,
      known,
    ),
  };
}

type SaidWords = Pick<JudgedLesson, "lesson" | "when" | "do">;

/** The words of a lesson as they may be kept, or why not. Most commands, paths and names must be in the record. */
export function checkWords(
  said: SaidWords,
  readRecord: () => string,
  mostUnknown = 1 / 2,
): { readonly words: LessonWords } | { readonly because: string } {
  const words = fitWords(said);
  if (words === null) return { because: `longer than ${lessonChars} characters, or empty` };
  const because =
    findConcern(`${said.lesson}\n${said.when}\n${said.do}`) ??
    findFlaw(words.lesson) ??
    findUnknownName([words.lesson, words.trigger, words.action], readRecord, mostUnknown);
  return because === null ? { words } : { because };
}

/** Steps of a procedure, and characters of one. */
const minSteps = 2;
const maxSteps = 6;
const stepChars = 200;

/**
 * The steps of a procedure, the last of which says how to see that it worked; or why the lesson may not be kept. Without
 * steps that the record bears out, or without that last one, the lesson is a rule.
 */
function checkSteps(
  said: Pick<JudgedLesson, "steps" | "check" | "name">,
  readRecord: () => string,
): { readonly steps: string[] } | { readonly because: string } {
  const steps = said.steps
    .map((step) => oneLine(step).replace(/^\d{1,2}[.)] /, ""))
    .filter((step) => step !== "");
  const check = oneLine(said.check ?? "").replace(/^(?:check|verify)(?: that)?:? /i, "");
  if (steps.length < minSteps || steps.length > maxSteps || check === "") return { steps: [] };
  const whole = [...steps, `Check: ${check}`];
  const because = findConcern([...whole, said.name ?? ""].join("\n"));
  if (because !== null) return { because };
  const fits = whole.every((step) => step.length <= stepChars);
  return { steps: fits && findUnknownName(whole, readRecord, 1 / 2) === null ? whole : [] };
}

/** The judge's words on one line each; of too long a lesson the first sentences, if they fit. */
function fitWords({ lesson, when, do: action }: SaidWords): LessonWords | null {
  const flat = oneLine(lesson);
  const sentences = flat.match(/.+?[.!?](?=\s|$)|.+$/g) ?? [];
  let fitted = flat;
  for (let count = sentences.length; fitted.length > lessonChars && count > 1; )
    fitted = sentences.slice(0, --count).join("").trim();
  const [trigger, what] = [oneLine(when), oneLine(action)];
  const isWhole = fitted.length <= lessonChars && trigger.length <= whenChars && what.length <= doChars;
  const isSaid = fitted !== "" && trigger !== "" && what !== "";
  return isWhole && isSaid ? { lesson: fitted, trigger, action: what } : null;
}

/** The kind that the events can prove: the judge's, or else the one that they show. */
function chooseKind(said: FindingKind | null, evidence: readonly Event[]): FindingKind | null {
  if (evidence.length === 0) return null;
  if (said !== null && shows(said, evidence)) return said;
  const kinds = ["error-recovery", "user-correction", "tool-pattern"] as const;
  return kinds.find((kind) => shows(kind, evidence)) ?? null;
}

/** Calls that a way of working must name. */
const minCalls = 2;

/** Whether events show what a finding of a kind claims: a failed call, the person's words, calls that worked. */
function shows(kind: FindingKind, evidence: readonly Event[]): boolean {
  if (isSaid(kind)) return evidence.some((event) => isPersons(event) && ownWords(event.text) !== "");
  const calls = evidence.filter((event) => event.kind === "call");
  if (isWorkflow(kind)) return calls.filter(({ outcome }) => outcome === "ok").length >= minCalls;
  return calls.some(isFailing);
}

/** Finds faults in the words of a lesson. */
function findFlaw(lesson: string): string | null {
  if (/^(?:the |this |an? )?(?:agent|assistant|user|person|developer|session|model)\b/i.test(lesson))
    return "it tells a story instead of what to do";
  if (/^(?:I|we) (?:had|was|were|did|found|fixed|tried|saw)\b/i.test(lesson))
    return "it tells a story instead of what to do";
  return ages.test(lesson) ? "it has line numbers or other facts that age" : null;
}

/** Line numbers, commits, places in files, days, and numbers of tickets and pull requests. */
const ages =
  /\blines? \d+|\.\w{1,5}:\d+\b|\bcommit [0-9a-f]{7,}\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,40}\b|\b20\d\d-\d\d-\d\d\b|(?:\b(?:issue|ticket|PR|pull request) |(?<!\S))#\d+\b/i;

/** The worst problem in words that agents may be shown one day. */
function findConcern(text: string): string | null {
  if (redact(text) !== text) return "it has a secret in it";
  const [worst] = scan(text).filter(({ code }) => code !== "personal-path");
  return worst?.message ?? null;
}

/** A command, path or name of the lesson that nothing in the record has. */
function findUnknownName(texts: readonly string[], readRecord: () => string, most: number): string | null {
  const names = new Set(texts.flatMap(listNames));
  if (names.size === 0) return null;
  const record = readRecord().toLowerCase();
  const unknown = [...names].filter((name) => !record.includes(name.toLowerCase()));
  // Some may be the judge's own words for something, or an example; most must be the record's.
  return unknown.length > names.size * most ? `\`${unknown[0]}\` is not in the record` : null;
}

/** As a judge reads it: with `~` for home folders. */
function writeRecord(shown: ReadonlyMap<string, Event>): string {
  const text = [...shown.values()]
    .map(
      ({ text, command, input, tool, cwd }) =>
        `${text}\n${command ?? ""}\n${JSON.stringify(input ?? "")}\n${tool}\n${cwd}`,
    )
    .join("\n");
  return `${text}\n${withoutHome(text)}`;
}

/** Words in code marks, flags, paths and identifiers. */
function listNames(text: string): string[] {
  const inCode = (text.match(/`[^`]+`/g) ?? []).flatMap((span) => span.slice(1, -1).split(/[\s=,;|&()"']+/));
  const bare = text
    .replace(/`[^`]*`/g, " ")
    .match(/(?<![\w-])(?:--?[a-z][\w-]+|[\w@.-]+\/[\w@./-]+|\w+_\w+|[a-z]+[A-Z]\w+)/g);
  return [...inCode, ...(bare ?? [])]
    .map((name) => name.replace(/^[[({"']+|[\])}:.,!?"']+$/g, ""))
    .filter((name) => name.length > 2 && !/[<>…*{}]|\.\.\./.test(name));
}

/** The share of a lesson's words that must be in its evidence where it is told as a person's word. */
const saidShare = 0.25;

/** Why the person cannot have meant it; null where they can. Words in another language cannot be compared. */
function findUnsaid(kind: FindingKind, { lesson }: LessonWords, evidence: readonly Event[]): string | null {
  if (!isSaid(kind)) return null;
  const prompts = evidence.flatMap((event) => (isPersons(event) ? event.text : []));
  const stems = (text: string) => new Set([...extractTerms(text)].map(stemWord));
  // Words of a paste are shown to the agent, not asked of it.
  const spoken = (event: Event) =>
    event.kind === "prompt" ? ownWords(event.text) : `${event.text} ${event.command ?? ""}`;
  const said = stems(evidence.map(spoken).join("\n"));
  const words = [...stems(lesson)];
  const theirs = words.filter((word) => said.has(word));
  const isForeign = prompts.some((text) => !isEnglish(text));
  return isForeign || theirs.length >= words.length * saidShare ? null : "the person did not say so";
}

function isEnglish(text: string): boolean {
  return (
    /\b(?:the|and|to|of|is|in|it|you|for|we|use|not|don't|no|this|that)\b/i.test(text) &&
    !/[^\p{Script=Latin}\p{Script=Common}]{4}/u.test(text)
  );
}

function makeLesson(
  said: Omit<JudgedLesson, "kind"> & LessonWords & { readonly kind: FindingKind },
  evidence: readonly [Event, ...Event[]],
  byRules: readonly Finding[],
  known: readonly KnownLesson[],
): Finding {
  const { kind, lesson, trigger, action, steps, scope, confidence } = said;
  const decides = (event: Event) => (isSaid(kind) ? isPersons(event) : isFailing(event));
  const others = evidence.filter((event) => !decides(event));
  const sorted = [...evidence.filter(decides), ...others].slice(0, maxFindingEvents);
  const sameAs = findKnown(said.same_as, known);
  const contradicts = findKnown(said.contradicts, known);
  return {
    ...makeFinding(
      {
        ...{ kind, lesson, trigger, action, steps, scope },
        keywords: [...extractTerms(`${trigger} ${action}`)].slice(0, maxKeywords),
        confidence,
        name:
          slugify((steps.length > 0 && said.name) || "", nameChars) ||
          slugify(trigger) ||
          slugify(action) ||
          kind,
        excerpt: quoteEvents(sorted),
        ...(kind === "error-recovery" ? findCure(said, evidence, byRules) : {}),
      },
      sorted as [Event, ...Event[]],
    ),
    by: "judge",
    ...(sameAs && { sameAs: sameAs.id }),
    ...(contradicts && { contradicts: contradicts.id }),
  };
}

/** A known lesson by its name in the request: K3 is the third. */
function findKnown(name: string | null, known: readonly KnownLesson[]): KnownLesson | undefined {
  const [, n] = /^K(\d{1,4})$/.exec(name?.trim() ?? "") ?? [];
  return n === undefined ? undefined : known[Number(n) - 1];
}

/** The symptom that rules saw at the failure; and their cure, if the lesson recommends it. */
function findCure(
  { lesson, action }: LessonWords,
  evidence: readonly Event[],
  byRules: readonly Finding[],
): Partial<Pick<Finding, "symptom" | "call" | "remedy">> {
  const refs = new Set(evidence.map(({ ref }) => ref));
  const found = byRules.find(
    (one) => one.symptom !== null && one.refs[0] !== undefined && refs.has(one.refs[0]),
  );
  if (found === undefined) return {};
  const said = `${lesson} ${action}`;
  const isSameCure = found.call?.every((part) => said.includes(part)) === true;
  return { symptom: found.symptom, ...(isSameCure ? { call: found.call, remedy: found.remedy } : {}) };
}

function quoteEvents(events: readonly Event[]): Excerpt {
  const call = (event: Event | undefined) =>
    event ? shorten(event.command ?? event.tool ?? "", excerptChars) : null;
  const text = (event: Event | undefined) => (event ? shorten(event.text.trim(), excerptChars) : null);
  const failed = events.find((event) => event.kind === "call" && isFailing(event));
  return {
    failed: call(failed),
    // The home folder goes first: a path that is cut in half is not recognised as one.
    error: failed ? cutOutput(withoutHome(failed.text), errorChars) : null,
    worked: call(events.find((event) => event !== failed && event.outcome === "ok")),
    said: text(events.find(isPersons)),
    replied: text(events.find(({ kind }) => kind === "reply")),
  };
}
