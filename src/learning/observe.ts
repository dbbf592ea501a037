import type { CallReader } from "../failures/index.ts";
import { extractGist, isSameLesson } from "../lessons/index.ts";
import { type AskedFor, type Asker, askModel } from "../models/index.ts";
import {
  compareFindings,
  type Event,
  eventChars,
  type Finding,
  type Judgements,
  type ObserverName,
  type SessionJudgement,
} from "../records/index.ts";
import { scrubEvents } from "../trust/index.ts";
import { type Candidate, checkAnswer, makeAnswerSchema, maxOwnLessons, readAnswer } from "./judge-answer.ts";
import { gatherMaterial, makeCandidates, splitBatches, writeQuestion } from "./judge-question.ts";
import { detect, findCandidates, joinEvidence } from "./leads/detect.ts";

/** The findings of a session, and a model's judgement of them where one was asked. */
export interface Observed {
  readonly findings: readonly Finding[];
  readonly judged: Omit<SessionJudgement, "pass"> | null;
}

/**
 * Looks at sessions for what is worth keeping. May be slow: called outside any transaction. Never throws for what a
 * model does.
 */
export interface Observer {
  readonly name: ObserverName;
  observe(events: readonly Event[], session: ObservedSession): Promise<Observed>;
}

interface ObservedSession extends AskedFor {
  /** Its calls, each read once for all who look at them. */
  readonly calls: CallReader;
  /** The judgements of an earlier pass, when the session was shorter. */
  readonly before: Judgements | null;
}

interface ModelObserverDeps extends Asker {
  readonly timeoutMs: number;
}

/** Rules alone. */
export const heuristicObserver: Observer = {
  name: "heuristic",
  observe: async (events, { calls }) => ({ findings: detect(events, calls), judged: null }),
};

/** Every observer there is, and what makes it. */
export const observers: Readonly<Record<ObserverName, (deps: ModelObserverDeps) => Observer>> = {
  heuristic: () => heuristicObserver,
  model: makeModelObserver,
};

export function isObserver(name: string): name is ObserverName {
  return Object.hasOwn(observers, name);
}

/** Rules propose, widely; a model keeps, drops and adds. Where it cannot, what the rules are sure of stands. */
function makeModelObserver(deps: ModelObserverDeps): Observer {
  return {
    name: "model",
    observe: async (events, { calls, before, ...session }) => {
      const detected = detect(events, calls);
      const wide = findCandidates(events, calls);
      const missed = detected.filter((one) => findSame(one, wide) === undefined);
      const candidates = makeCandidates([...wide, ...missed]);
      const known = before ?? noJudgements;
      const judgedIds = new Set([...known.kept, ...known.dropped].map(({ candidate }) => candidate));
      const fresh = candidates.filter(({ id }) => !judgedIds.has(id));
      const { judgements, fellBack } = await judge(deps, events, fresh, session);
      const all = joinJudgements(known, judgements);
      const judged = { ...all, model: deps.model.name, fellBack };
      return { findings: settle(detected, candidates, all), judged };
    },
  };
}

export const noJudgements: Judgements = { kept: [], dropped: [], own: [] };

/** Tokens of an answer. */
const outputTokens = 3_000;

/** Has candidates judged, a few calls for all; ends with the first call that comes to nothing. */
async function judge(
  deps: ModelObserverDeps,
  events: readonly Event[],
  candidates: readonly Candidate[],
  session: AskedFor,
): Promise<{ readonly judgements: Judgements; readonly fellBack: string | null }> {
  let judgements = noJudgements;
  let fellBack: string | null = null;
  if (candidates.length === 0) return { judgements, fellBack };
  const gathered = gatherMaterial(candidates, events);
  // They were scrubbed when they were read; what leaves the machine is once more.
  const clean = await scrubEvents(deps.redactor, [...gathered.events.values()], eventChars);
  const material = { ...gathered, events: new Map(clean.map((event) => [event.ref, event])) };
  for (const batch of splitBatches(candidates, material)) {
    const { shown, ...question } = writeQuestion(batch, material);
    const schema = { json: makeAnswerSchema(), parse: (value: unknown) => readAnswer(value, batch) };
    const reply = await askModel(
      deps,
      {
        ...{ purpose: "judge a session", ...question, schema },
        ...{ maxOutputTokens: outputTokens, timeoutMs: deps.timeoutMs },
      },
      session,
    );
    if (!reply.ok) {
      fellBack ??= `${reply.because}: ${reply.message}`;
      // What goes into files goes there whole; who does not answer is not asked more.
      if (deps.model.isLive) break;
      continue;
    }
    const { problem, ...made } = checkAnswer(reply.answer, batch, material.events, shown);
    judgements = joinJudgements(judgements, made);
    const isPartial = reply.answer.judgements.length < batch.length;
    fellBack ??= problem ?? (isPartial ? "unusable: some candidates were not judged" : null);
  }
  return { judgements, fellBack };
}

/** Joins the judgements of two passes; the limit for a model's own lessons holds for the session as a whole. */
export function joinJudgements(before: Judgements, more: Judgements): Judgements {
  const fresh = more.own.filter((one) => findSame(one, before.own) === undefined);
  return {
    kept: [...before.kept, ...more.kept],
    dropped: [...before.dropped, ...more.dropped],
    own: [...before.own, ...fresh].slice(0, maxOwnLessons),
  };
}

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
    const known = findSame(proposed, sure);
    if (known) sure.delete(known);
    if (words === undefined) return [];
    // Where rules heard it too, their word needs no other.
    if (known && words.by === "model") return [known];
    const { candidate: _, confidence, ...better } = words;
    const base = known ?? proposed;
    return [{ ...base, ...better, confidence: Math.max(confidence, known?.confidence ?? 0) }];
  });
  const all = [...judged, ...sure].sort(compareFindings);
  return mergeSame([...all, ...own]);
}

/** Merges findings that say the same or claim the same of an event; the first keeps the events of all. */
function mergeSame(findings: readonly Finding[]): Finding[] {
  const kept: Finding[] = [];
  for (const one of findings) {
    const gist = extractGist(one);
    const at = kept.findIndex((other) => isSameClaim(other, one) || isSameLesson(extractGist(other), gist));
    const known = kept[at];
    if (known) kept[at] = joinEvidence(known, one);
    else kept.push(one);
  }
  return kept;
}

/** The one of some findings that another is about: it claims the same of the same event, or says the same. */
function findSame(proposed: Finding, findings: Iterable<Finding>): Finding | undefined {
  const all = [...findings];
  const gist = extractGist(proposed);
  return (
    all.find((one) => isSameClaim(one, proposed)) ?? all.find((one) => isSameLesson(extractGist(one), gist))
  );
}

function isSameClaim(a: Finding, b: Finding): boolean {
  return a.kind === b.kind && a.refs[0] === b.refs[0];
}
