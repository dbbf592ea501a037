import * as z from "zod/mini";
import type { JsonObject } from "../base/index.ts";
import { areContrary } from "../lessons/index.ts";
import {
  type DroppedCandidate,
  type Event,
  type Excerpt,
  type Finding,
  type FindingKind,
  findingKinds,
  isSaid,
  type Judgements,
  type KeptCandidate,
  makeFinding,
  maxFindingEvents,
  noExcerpt,
  parseRef,
  shorten,
} from "../records/index.ts";
import { extractTerms, slugify, stemWord } from "../text/index.ts";
import { redact, scan } from "../trust/index.ts";

/** A finding that somebody is to judge, under the id that the answer uses for it. */
export interface Candidate {
  readonly id: string;
  readonly finding: Finding;
}

/** Characters of what a model says. */
export const lessonChars = 500;
export const triggerChars = 120;
export const actionChars = 300;
const becauseChars = 200;
/** How sure a model's word makes a finding, at least and at most, and one that only the model saw. */
export const minConfidence = 0.3;
export const maxConfidence = 0.9;
const maxOwnConfidence = 0.7;
/** Findings of a model's own that are taken. */
export const maxOwnLessons = 3;
/** The share of a lesson's words that must be a person's where a model says that the person said so. */
const saidShare = 0.3;
const excerptChars = 600;
const maxKeywords = 8;

const textOrNull = z.catch(z.nullable(z.string()), null);

const judgementForm = z.object({
  id: z.string(),
  keep: z.boolean(),
  because: textOrNull,
  kind: z.catch(z.nullable(z.enum(findingKinds)), null),
  lesson: textOrNull,
  trigger: textOrNull,
  action: textOrNull,
  confidence: z.catch(z.nullable(z.number()), null),
});

const ownLessonForm = z.object({
  refs: z.array(z.string()),
  kind: z.enum(findingKinds),
  lesson: z.string(),
  trigger: z.string(),
  action: z.string(),
  confidence: z.catch(z.number(), minConfidence),
});

const answerForm = z.object({ judgements: z.array(judgementForm), own: z.array(ownLessonForm) });
/** An answer whose items are not read yet, so that a malformed one does not spoil the others. */
const openForm = z.object({
  judgements: z.array(z.unknown()),
  own: z.catch(z.array(z.unknown()), []),
});

type JudgeAnswer = z.infer<typeof answerForm>;

/** The answer's form in the narrow subset of JSON Schema that all endpoints accept. */
export function makeAnswerSchema(): JsonObject {
  const { $schema: _, ...schema } = z.toJSONSchema(answerForm, {
    override: ({ jsonSchema }) => {
      delete jsonSchema.default;
    },
  });
  return schema as JsonObject;
}

/** Reads an answer; null for one that is not of the form, or that judges nothing of what was asked. */
export function readAnswer(value: unknown, asked: readonly Candidate[]): JudgeAnswer | null {
  const { data } = openForm.safeParse(value);
  if (data === undefined) return null;
  // Each is judged once, by the first word.
  const ids = new Set(asked.map(({ id }) => id));
  const judgements = data.judgements
    .flatMap((one) => judgementForm.safeParse(one).data ?? [])
    .filter(({ id }) => ids.delete(id));
  if (judgements.length === 0) return null;
  return { judgements, own: data.own.flatMap((one) => ownLessonForm.safeParse(one).data ?? []) };
}

/** Checks an answer; nothing of it is taken on trust. A candidate whose new words may not be kept counts as not judged. */
export function checkAnswer(
  answer: JudgeAnswer,
  asked: readonly Candidate[],
  events: ReadonlyMap<string, Event>,
  shown: ReadonlySet<string>,
): Judgements & { readonly problem: string | null } {
  const byId = new Map(asked.map((one) => [one.id, one.finding]));
  const kept: KeptCandidate[] = [];
  const dropped: DroppedCandidate[] = [];
  let problem: string | null = null;
  for (const judgement of answer.judgements) {
    const proposed = byId.get(judgement.id);
    if (!proposed) continue;
    if (!judgement.keep) {
      dropped.push(dropCandidate(judgement, proposed));
      continue;
    }
    const wrong = findProblem([judgement.lesson, judgement.trigger, judgement.action]);
    if (wrong === null) kept.push(keepCandidate(judgement, proposed, events));
    else problem ??= `unusable: the model's words may not be kept: ${wrong}`;
  }
  const own = answer.own.slice(0, maxOwnLessons).flatMap((one) => checkOwnLesson(one, events, shown) ?? []);
  return { kept, dropped, own, problem };
}

function keepCandidate(
  { id, ...said }: JudgeAnswer["judgements"][number],
  proposed: Finding,
  events: ReadonlyMap<string, Event>,
): KeptCandidate {
  const evidence = proposed.refs.flatMap((ref) => events.get(ref) ?? []);
  const words = {
    lesson: cleanText(said.lesson, lessonChars) ?? proposed.lesson,
    trigger: cleanText(said.trigger, triggerChars) ?? proposed.trigger,
    action: cleanText(said.action, actionChars) ?? proposed.action,
  };
  const isAsSaid = isSaidByPerson(words, evidence);
  const isAllowed = said.kind !== null && isProved(said.kind, evidence) && (!isSaid(said.kind) || isAsSaid);
  const kind = said.kind !== null && isAllowed ? said.kind : proposed.kind;
  const isReworded = words.lesson !== proposed.lesson || words.action !== proposed.action;
  const isModelsWord = isSaid(kind) && (kind !== proposed.kind || (isReworded && !isAsSaid));
  return {
    candidate: id,
    kind,
    ...words,
    confidence: clamp(said.confidence ?? proposed.confidence, maxConfidence),
    ...(isModelsWord ? { by: "model" } : {}),
  };
}

function dropCandidate(
  { id, because }: JudgeAnswer["judgements"][number],
  { kind, lesson }: Finding,
): DroppedCandidate {
  const reason = findProblem([because]) === null ? because : "no reason that may be kept";
  return { candidate: id, kind, lesson, because: cleanText(reason, becauseChars) ?? "no reason given" };
}

/** A finding that only a model saw: it must name events that it was shown, and that prove what it claims. */
function checkOwnLesson(
  { kind, confidence, ...said }: JudgeAnswer["own"][number],
  events: ReadonlyMap<string, Event>,
  shown: ReadonlySet<string>,
): Finding | null {
  const refs = [...new Set(said.refs)];
  const evidence = refs.flatMap((ref) => (shown.has(ref) ? (events.get(ref) ?? []) : []));
  if (evidence.length !== refs.length || evidence.length > maxFindingEvents) return null;
  const lesson = cleanText(said.lesson, lessonChars);
  const trigger = cleanText(said.trigger, triggerChars);
  const action = cleanText(said.action, actionChars);
  if (lesson === null || trigger === null || action === null) return null;
  if (findProblem([lesson, trigger, action]) !== null || !isProved(kind, evidence)) return null;
  if (isSaid(kind) && !isSaidByPerson({ lesson, action }, evidence)) return null;
  const [deciding, ...others] = sortEvidence(kind, evidence);
  if (!deciding) return null;
  const made = makeFinding(
    {
      ...{ kind, lesson, trigger, action, steps: [] },
      keywords: [...extractTerms(`${trigger} ${action}`)].slice(0, maxKeywords),
      confidence: clamp(confidence, maxOwnConfidence),
      name: slugify(trigger) || slugify(action) || kind,
      scope: "project",
      artifact: isSaid(kind) ? "rule" : "skill",
      excerpt: quoteEvents([deciding, ...others]),
      ...{ call: null, symptom: null, remedy: null },
    },
    [deciding, ...others],
  );
  return isSaid(kind) ? { ...made, by: "model" } : made;
}

function quoteEvents(events: readonly Event[]): Excerpt {
  const call = (event: Event | undefined) =>
    event ? shorten(event.command ?? event.tool ?? "", excerptChars) : null;
  const text = (event: Event | undefined) => (event ? shorten(event.text.trim(), excerptChars) : null);
  const failed = events.find(isFailed);
  return {
    ...noExcerpt,
    failed: call(failed),
    error: text(failed),
    worked: call(events.find(({ outcome }) => outcome === "ok")),
    said: text(events.find(({ kind }) => kind === "prompt")),
    replied: text(events.find(({ kind }) => kind === "reply")),
  };
}

/** In their order, those that decide first. */
function sortEvidence(kind: FindingKind, events: readonly Event[]): Event[] {
  const decides = (event: Event) => {
    if (isSaid(kind)) return event.kind === "prompt";
    return kind === "error-recovery" ? isFailed(event) : event.outcome === "ok";
  };
  const inOrder = [...events].sort((a, b) => parseRef(a.ref) - parseRef(b.ref));
  return [...inOrder.filter(decides), ...inOrder.filter((event) => !decides(event))];
}

/** Successful calls that a finding about a way of working must name; others need one. */
const minCalls: Partial<Record<FindingKind, number>> = {
  "multi-step": 4,
  "repeated-action": 2,
  "tool-pattern": 2,
};

/** Whether events can prove a finding of a kind: what a web page or a program said is no person's word. */
function isProved(kind: FindingKind, events: readonly Event[]): boolean {
  if (isSaid(kind)) return events.some((event) => event.kind === "prompt");
  const worked = events.filter(({ outcome }) => outcome === "ok");
  if (kind !== "error-recovery") return worked.length >= (minCalls[kind] ?? 1);
  const first = events.find(isFailed);
  return first !== undefined && worked.some(({ ref }) => parseRef(ref) > parseRef(first.ref));
}

/** Whether a person's words can be what is told as theirs: enough of the words are, and they do not say the opposite. */
function isSaidByPerson(
  { lesson, action }: { readonly lesson: string; readonly action: string },
  events: readonly Event[],
): boolean {
  const prompts = events.flatMap(({ kind, text }) => (kind === "prompt" ? text : []));
  const stems = (text: string) => new Set([...extractTerms(text)].map(stemWord));
  const [told, said] = [stems(`${lesson} ${action}`), stems(prompts.join("\n"))];
  const theirs = [...told].filter((word) => said.has(word));
  if (theirs.length === 0 || theirs.length < told.size * saidShare) return false;
  return !prompts.some((text) => areContrary(action, text) || areContrary(lesson, text));
}

function isFailed({ outcome }: Event): boolean {
  return outcome === "failed" || outcome === "rejected";
}

/** A text as it is kept: on one line, without secrets, not too long; null where nothing is left. */
function cleanText(text: string | null, most: number): string | null {
  if (text === null) return null;
  const flat = redact(text).replace(/\s+/g, " ").trim();
  return flat === "" ? null : flat.length <= most ? flat : `${flat.slice(0, most - 1)}…`;
}

/** The worst problem in words that agents may be shown one day. */
function findProblem(texts: readonly (string | null)[]): string | null {
  const text = texts.flatMap((one) => one ?? []).join("\n");
  const [worst] = scan(redact(text)).filter(({ code }) => code !== "personal-path");
  return worst?.message ?? null;
}

function clamp(value: number, most: number): number {
  return Math.min(most, Math.max(minConfidence, value));
}
