import { stemOf } from "./ask-words.ts";
import { type Event, numberOf, shorten } from "./event.ts";
import {
  bestFirst,
  type Excerpt,
  type Finding,
  type FindingKind,
  finding,
  findingKinds,
  isSaid,
  mostEvents,
  noExcerpt,
} from "./finding.ts";
import { isObject, type JsonObject, listOf, textOf } from "./json.ts";
import { areContrary, gistOf, same } from "./likeness.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import { redact } from "./redact.ts";
import { scan } from "./scan.ts";
import { nameFrom, termsOf } from "./words.ts";

/** A finding that somebody is to judge, under the name that the answer uses for it. */
export interface Candidate {
  readonly id: string;
  readonly finding: Finding;
}

/** What was judged to be worth keeping, in better words. */
export interface KeptCandidate {
  readonly candidate: string;
  readonly kind: FindingKind;
  readonly lesson: string;
  readonly trigger: string;
  readonly action: string;
  readonly confidence: number;
  /** That a person said so is the model's word alone. */
  readonly by?: "model";
}

/** What was judged not to be. */
export interface DroppedCandidate {
  readonly candidate: string;
  readonly kind: FindingKind;
  readonly lesson: string;
  readonly because: string;
}

export interface Judgements {
  readonly kept: readonly KeptCandidate[];
  readonly dropped: readonly DroppedCandidate[];
  /** What a model found by itself. */
  readonly own: readonly Finding[];
}

/** What became of a session's candidates. */
export interface Judged extends Judgements {
  readonly pass: number;
  readonly model: string;
  /** Why some or all of them were not judged, so that what the rules say stands; null when all were. */
  readonly fellBack: string | null;
}

export const noJudgements: Judgements = { kept: [], dropped: [], own: [] };

const orNull = (type: string): JsonObject => ({ type: [type, "null"] });
const kindOrNull: JsonObject = { type: ["string", "null"], enum: [...findingKinds, null] };

/** What an answer has to look like; in the narrow form of JSON Schema that all endpoints take. */
export const answerSchema: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["judgements", "own"],
  properties: {
    judgements: {
      type: "array",
      items: {
        type: "object",
        additionalProperties: false,
        required: ["id", "keep", "because", "kind", "lesson", "trigger", "action", "confidence"],
        properties: {
          id: { type: "string" },
          keep: { type: "boolean" },
          because: orNull("string"),
          kind: kindOrNull,
          lesson: orNull("string"),
          trigger: orNull("string"),
          action: orNull("string"),
          confidence: orNull("number"),
        },
      },
    },
    own: {
      type: "array",
      items: {
        type: "object",
        additionalProperties: false,
        required: ["refs", "kind", "lesson", "trigger", "action", "confidence"],
        properties: {
          refs: { type: "array", items: { type: "string" } },
          kind: { type: "string", enum: [...findingKinds] },
          lesson: { type: "string" },
          trigger: { type: "string" },
          action: { type: "string" },
          confidence: { type: "number" },
        },
      },
    },
  },
};

/** An answer that has the form; whether what it says can be used is another question. */
export interface Answer {
  readonly judgements: readonly {
    readonly id: string;
    readonly keep: boolean;
    readonly because: string | null;
    readonly words: Words;
  }[];
  readonly own: readonly { readonly refs: readonly string[]; readonly words: Words }[];
}

interface Words {
  readonly kind: FindingKind | null;
  readonly lesson: string | null;
  readonly trigger: string | null;
  readonly action: string | null;
  readonly confidence: number | null;
}

/** Reads an answer; null for one that is not of the form, or that judges nothing of what was asked. */
export function readAnswer(value: unknown, asked: readonly Candidate[]): Answer | null {
  if (!isObject(value) || !Array.isArray(value.judgements)) return null;
  const ids = new Set(asked.map(({ id }) => id));
  const judgements = listOf(value.judgements).flatMap((one) => {
    if (!isObject(one) || typeof one.keep !== "boolean") return [];
    const id = textOf(one.id);
    // Each is judged once, by the first word.
    if (id === null || !ids.delete(id)) return [];
    return [{ id, keep: one.keep, because: textOf(one.because), words: wordsIn(one) }];
  });
  if (judgements.length === 0) return null;
  const own = listOf(value.own).flatMap((one) =>
    isObject(one)
      ? [{ refs: listOf(one.refs).flatMap((ref) => textOf(ref) ?? []), words: wordsIn(one) }]
      : [],
  );
  return { judgements, own };
}

function wordsIn(one: JsonObject): Words {
  const kind = findingKinds.find((known) => known === one.kind) ?? null;
  const confidence =
    typeof one.confidence === "number" && Number.isFinite(one.confidence) ? one.confidence : null;
  return {
    kind,
    lesson: textOf(one.lesson),
    trigger: textOf(one.trigger),
    action: textOf(one.action),
    confidence,
  };
}

/** Every text of an answer, and the answer with other texts in their place: for whoever takes secrets out. */
export function textsOf({ judgements, own }: Answer): string[] {
  const of = ({ lesson, trigger, action }: Words) => [lesson ?? "", trigger ?? "", action ?? ""];
  return [
    ...judgements.flatMap(({ because, words }) => [because ?? "", ...of(words)]),
    ...own.flatMap(({ words }) => of(words)),
  ];
}

export function withTexts(answer: Answer, texts: readonly string[]): Answer {
  let at = 0;
  const next = (before: string | null) => {
    const text = texts[at++] ?? "";
    return before === null ? null : text;
  };
  const of = (words: Words): Words => ({
    ...words,
    lesson: next(words.lesson),
    trigger: next(words.trigger),
    action: next(words.action),
  });
  return {
    judgements: answer.judgements.map((one) => ({
      ...one,
      because: next(one.because),
      words: of(one.words),
    })),
    own: answer.own.map((one) => ({ ...one, words: of(one.words) })),
  };
}

/** What an answer comes to: nothing of it is taken on trust. Where its words may not be kept, nothing was judged. */
export function judgementsFrom(
  answer: Answer,
  asked: readonly Candidate[],
  events: ReadonlyMap<string, Event>,
  shown: ReadonlySet<string>,
  policy: Policy = defaults,
): Judgements & { readonly problem: string | null } {
  const byId = new Map(asked.map((one) => [one.id, one.finding]));
  const kept: KeptCandidate[] = [];
  const dropped: DroppedCandidate[] = [];
  let problem: string | null = null;
  for (const { id, keep, because, words } of answer.judgements) {
    const proposed = byId.get(id);
    if (!proposed) continue;
    if (!keep) {
      dropped.push(droppedAs(id, proposed, because ?? "no reason given", policy));
      continue;
    }
    const wrong = problemIn([words.lesson, words.trigger, words.action]);
    if (wrong === null) kept.push(keptAs(id, proposed, words, events, policy));
    else problem ??= `unusable: the model's words may not be kept: ${wrong}`;
  }
  const own = answer.own
    .slice(0, policy.model.own)
    .flatMap((one) => ownFinding(one.refs, one.words, events, shown, policy) ?? []);
  return { kept, dropped, own, problem };
}

/** What was judged before, and what came to it: all of it is one session's, and so is the room for findings of its own. */
export function together(before: Judgements, more: Judgements, { model }: Policy = defaults): Judgements {
  const fresh = more.own.filter((one) => meantBy(one, before.own) === undefined);
  return {
    kept: [...before.kept, ...more.kept],
    dropped: [...before.dropped, ...more.dropped],
    own: [...before.own, ...fresh].slice(0, model.own),
  };
}

function keptAs(
  candidate: string,
  proposed: Finding,
  words: Words,
  events: ReadonlyMap<string, Event>,
  { model }: Policy,
): KeptCandidate {
  const { least, most } = model.confidence;
  const rests = proposed.refs.flatMap((ref) => events.get(ref) ?? []);
  const told = {
    lesson: sayable(words.lesson, model.lessonChars) ?? proposed.lesson,
    trigger: sayable(words.trigger, model.triggerChars) ?? proposed.trigger,
    action: sayable(words.action, model.actionChars) ?? proposed.action,
  };
  const isAsSaid = isSaidIn(told, rests, model);
  const may = (kind: FindingKind) => provedBy(kind, rests, model) && (!isSaid(kind) || isAsSaid);
  const kind = words.kind !== null && may(words.kind) ? words.kind : proposed.kind;
  const isReworded = told.lesson !== proposed.lesson || told.action !== proposed.action;
  const isItsWord = isSaid(kind) && (kind !== proposed.kind || (isReworded && !isAsSaid));
  return {
    candidate,
    kind,
    ...told,
    confidence: within(words.confidence ?? proposed.confidence, least, most),
    ...(isItsWord ? { by: "model" } : {}),
  };
}

function droppedAs(
  candidate: string,
  { kind, lesson }: Finding,
  because: string,
  { model }: Policy,
): DroppedCandidate {
  return {
    candidate,
    kind,
    lesson,
    because:
      problemIn([because]) === null
        ? (sayable(because, model.becauseChars) ?? "no reason given")
        : "no reason that may be kept",
  };
}

/** A finding that only a model saw: it must name events that it was shown, and that prove what it claims. */
function ownFinding(
  refs: readonly string[],
  { kind, lesson, trigger, action, confidence }: Words,
  events: ReadonlyMap<string, Event>,
  shown: ReadonlySet<string>,
  { model }: Policy,
): Finding | null {
  const rests = [...new Set(refs)].flatMap((ref) => (shown.has(ref) ? (events.get(ref) ?? []) : []));
  if (kind === null || rests.length !== new Set(refs).size || rests.length > mostEvents) return null;
  const said = sayable(lesson, model.lessonChars);
  const when = sayable(trigger, model.triggerChars);
  const what = sayable(action, model.actionChars);
  if (said === null || when === null || what === null) return null;
  if (problemIn([said, when, what]) !== null || !provedBy(kind, rests, model)) return null;
  if (isSaid(kind) && !isSaidIn({ lesson: said, action: what }, rests, model)) return null;
  const [deciding, ...others] = decidingFirst(kind, rests);
  if (!deciding) return null;
  const { least, own } = model.confidence;
  const made = finding(
    {
      kind,
      lesson: said,
      trigger: when,
      action: what,
      steps: [],
      keywords: [...termsOf(`${when} ${what}`)].slice(0, defaults.detect.telling.mostKeywords),
      confidence: within(confidence ?? least, least, own),
      name: nameFrom(when) || nameFrom(what) || kind,
      scope: "project",
      artifact: isSaid(kind) ? "rule" : "skill",
      excerpt: excerptOf([deciding, ...others]),
      call: null,
      symptom: null,
      remedy: null,
    },
    [deciding, ...others],
  );
  return isSaid(kind) ? { ...made, by: "model" } : made;
}

function excerptOf(events: readonly Event[]): Excerpt {
  const most = defaults.detect.telling.excerptChars;
  const first = (isMeant: (event: Event) => boolean) => events.find(isMeant);
  const callOf = (event: Event | undefined) =>
    event ? shorten(event.command ?? event.tool ?? "", most) : null;
  const textIn = (event: Event | undefined) => (event ? shorten(event.text.trim(), most) : null);
  const failed = first(isFailed);
  return {
    ...noExcerpt,
    failed: callOf(failed),
    error: textIn(failed),
    worked: callOf(first(({ outcome }) => outcome === "ok")),
    said: textIn(first(({ kind }) => kind === "prompt")),
    replied: textIn(first(({ kind }) => kind === "reply")),
  };
}

function decidingFirst(kind: FindingKind, events: readonly Event[]): Event[] {
  const isDeciding = (event: Event) =>
    isSaid(kind)
      ? event.kind === "prompt"
      : kind === "error-recovery"
        ? isFailed(event)
        : event.outcome === "ok";
  const inOrder = [...events].sort((a, b) => numberOf(a.ref) - numberOf(b.ref));
  return [...inOrder.filter(isDeciding), ...inOrder.filter((event) => !isDeciding(event))];
}

/** Whether events can prove a finding of a kind: what a web page or a program said is no person's word. */
function provedBy(kind: FindingKind, events: readonly Event[], { leastCalls }: Policy["model"]): boolean {
  if (isSaid(kind)) return events.some(({ kind: what }) => what === "prompt");
  const worked = events.filter(({ outcome }) => outcome === "ok");
  if (kind === "error-recovery") {
    const first = events.find(isFailed);
    return first !== undefined && worked.some(({ ref }) => numberOf(ref) > numberOf(first.ref));
  }
  return worked.length >= (kind in leastCalls ? leastCalls[kind as keyof typeof leastCalls] : 1);
}

/** Whether a person's words can be what is told as theirs: enough of the words are, and they do not say the opposite. */
function isSaidIn(
  { lesson, action }: { readonly lesson: string; readonly action: string },
  events: readonly Event[],
  { saidWords }: Policy["model"],
): boolean {
  const prompts = events.flatMap(({ kind, text }) => (kind === "prompt" ? text : []));
  const stems = (text: string) => new Set([...termsOf(text)].map(stemOf));
  const [told, said] = [stems(`${lesson} ${action}`), stems(prompts.join("\n"))];
  const theirs = [...told].filter((word) => said.has(word));
  if (theirs.length === 0 || theirs.length < told.size * saidWords) return false;
  return !prompts.some((text) => areContrary(action, text) || areContrary(lesson, text));
}

function isFailed({ outcome }: Event): boolean {
  return outcome === "failed" || outcome === "rejected";
}

/** A text as it is kept: on one line, without secrets, not too long; null where nothing is left. */
function sayable(text: string | null, most: number): string | null {
  if (text === null) return null;
  const flat = redact(text).replace(/\s+/g, " ").trim();
  return flat === "" ? null : flat.length <= most ? flat : `${flat.slice(0, most - 1)}…`;
}

/** What is wrong with words that agents may be given one day. */
function problemIn(texts: readonly (string | null)[]): string | null {
  const text = texts.flatMap((one) => one ?? []).join("\n");
  const [worst] = scan(redact(text)).filter(({ code }) => code !== "personal-path");
  return worst?.message ?? null;
}

function within(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

// --- What stands ---

/** The findings of a session, given what rules are sure of, what they proposed, and what was judged of that. */
export function settle(
  detected: readonly Finding[],
  candidates: readonly Candidate[],
  { kept, dropped, own }: Judgements,
): Finding[] {
  const keptById = new Map(kept.map((one) => [one.candidate, one]));
  const droppedIds = new Set(dropped.map(({ candidate }) => candidate));
  const sure = new Set(detected);
  const judged = candidates.flatMap(({ id, finding: proposed }) => {
    const words = keptById.get(id);
    if (words === undefined && !droppedIds.has(id)) return [];
    const known = meantBy(proposed, sure);
    if (known) sure.delete(known);
    if (words === undefined) return [];
    // Where rules heard it too, their word needs no other.
    if (known && words.by === "model") return [known];
    const { candidate: _, confidence, ...better } = words;
    const base = known ?? proposed;
    return [{ ...base, ...better, confidence: Math.max(confidence, known?.confidence ?? 0) }];
  });
  const all = [...judged, ...sure].sort(bestFirst);
  return oneForEach([...all, ...own]);
}

/** The one of some findings that another is about: it claims the same of the same event, or says the same. */
export function meantBy(proposed: Finding, findings: Iterable<Finding>): Finding | undefined {
  const all = [...findings];
  const gist = gistOf(proposed);
  return all.find((one) => placeOf(one) === placeOf(proposed)) ?? all.find((one) => same(gistOf(one), gist));
}

function placeOf({ kind, refs }: Finding): string {
  return `${kind} ${refs[0]}`;
}

/** What says the same, or claims the same of an event, is one finding, which then rests on the others' events too. */
function oneForEach(findings: readonly Finding[]): Finding[] {
  const kept: { readonly finding: Finding; readonly gist: ReturnType<typeof gistOf> }[] = [];
  for (const one of findings) {
    const gist = gistOf(one);
    const at = kept.findIndex((other) => placeOf(other.finding) === placeOf(one) || same(other.gist, gist));
    const known = kept[at];
    if (!known) kept.push({ finding: one, gist });
    else kept[at] = { ...known, finding: joined(known.finding, one) };
  }
  return kept.map(({ finding: one }) => one);
}

function joined(one: Finding, { refs, keys }: Finding): Finding {
  const together = (a: readonly string[], b: readonly string[]) =>
    [...new Set([...a, ...b])].slice(0, mostEvents);
  return { ...one, refs: together(one.refs, refs), keys: together(one.keys, keys) };
}
