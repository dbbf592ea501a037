import { candidatesIn, detect } from "../core/detect/index.ts";
import type { Event } from "../core/event.ts";
import type { Calls } from "../core/failure.ts";
import type { Finding } from "../core/finding.ts";
import {
  type Candidate,
  type Judged,
  type Judgements,
  judgementsFrom,
  meantBy,
  noJudgements,
  readAnswer,
  settle,
  textsOf,
  together,
  withTexts,
} from "../core/judgement.ts";
import type { ObserverName } from "../core/observer.ts";
import { policy as defaults } from "../core/policy.ts";
import { batchesOf, candidatesOf, contextOf, inquiryAbout, outlineOf } from "../core/record.ts";
import { type AskDeps, type AskedFor, ask } from "./ask.ts";
import type { Redactor } from "./ports.ts";
import { scrubEvents } from "./scrub.ts";

/** What was found in a session, and what a model had to say about that, if one was to be asked. */
export interface Observed {
  readonly findings: readonly Finding[];
  readonly judged: Omit<Judged, "pass"> | null;
}

/**
 * Looks at sessions for what is worth keeping. May be slow: called outside any transaction. Never throws for what a
 * model does.
 */
export interface Observer {
  readonly name: ObserverName;
  observe(events: readonly Event[], session: ObservedSession): Promise<Observed>;
}

/** What is known of a session beside its events. */
export interface ObservedSession extends AskedFor {
  /** Its calls, each read once for all who look at them. */
  readonly calls: Calls;
  /** What was judged of it when there was less of it. */
  readonly before: Judgements | null;
}

/** Rules alone. */
export const heuristicObserver: Observer = {
  name: "heuristic",
  observe: async (events, { calls }) => ({ findings: detect(events, calls), judged: null }),
};

export interface ModelObserverDeps extends AskDeps {
  readonly redactor: Redactor;
  readonly timeoutMs: number;
}

/** Rules propose, widely; a model keeps, drops and adds. Where it cannot, what the rules are sure of stands. */
export function modelObserver(deps: ModelObserverDeps): Observer {
  return {
    name: "model",
    observe: async (events, { calls, before, ...session }) => {
      const detected = detect(events, calls);
      const wide = candidatesIn(events, calls);
      const missed = detected.filter((one) => meantBy(one, wide) === undefined);
      const candidates = candidatesOf([...wide, ...missed]);
      const known = before ?? noJudgements;
      const isJudged = new Set([...known.kept, ...known.dropped].map(({ candidate }) => candidate));
      const fresh = candidates.filter(({ id }) => !isJudged.has(id));
      const { judgements, fellBack } = await judge(deps, events, fresh, session);
      const all = together(known, judgements, deps.policy);
      return {
        findings: settle(detected, candidates, all),
        judged: { ...all, model: deps.model.name, fellBack },
      };
    },
  };
}

/** Every observer there is, and what makes it. */
export const observers: Readonly<Record<ObserverName, (deps: ModelObserverDeps) => Observer>> = {
  heuristic: () => heuristicObserver,
  model: modelObserver,
};

/** Has candidates judged, a few calls for all; ends with the first call that comes to nothing. */
async function judge(
  deps: ModelObserverDeps,
  events: readonly Event[],
  candidates: readonly Candidate[],
  session: AskedFor,
): Promise<{ readonly judgements: Judgements; readonly fellBack: string | null }> {
  const { policy = defaults } = deps;
  let judgements = noJudgements;
  if (candidates.length === 0) return { judgements, fellBack: null };
  const findings = candidates.map(({ finding }) => finding);
  const context = contextOf(findings, events);
  const named = new Set([...findings.flatMap(({ refs }) => refs), ...context.values()]);
  const outline = outlineOf(events, named, policy);
  const wanted = new Set([...named, ...outline]);
  // They were scrubbed when they were read; what leaves the machine is once more.
  const clean = await scrubEvents(
    deps.redactor,
    events.filter(({ ref }) => wanted.has(ref)),
    policy.keep.eventChars,
  );
  const material = { events: new Map(clean.map((event) => [event.ref, event])), context, outline };
  const worded = await scrubbedWords(deps.redactor, candidates);
  let fellBack: string | null = null;
  for (const batch of batchesOf(worded, material, policy)) {
    const { shown, ...inquiry } = inquiryAbout(batch, material, policy);
    const reply = await ask(
      deps,
      {
        purpose: "judge a session",
        ...inquiry,
        maxOutputTokens: policy.model.outputTokens,
        timeoutMs: deps.timeoutMs,
      },
      session,
      (value) => readAnswer(value, batch) !== null,
    );
    if (!reply.ok) {
      fellBack ??= `${reply.because}: ${reply.message}`;
      // What goes into files goes there whole; who does not answer is not asked more.
      if (deps.model.isLive) break;
      continue;
    }
    const answer = readAnswer(reply.value, batch);
    if (answer === null) continue;
    const texts = await deps.redactor.scrub(textsOf(answer).map((text) => ({ label: "", text })));
    const { problem, ...made } = judgementsFrom(
      withTexts(answer, texts),
      batch,
      material.events,
      shown,
      policy,
    );
    judgements = together(judgements, made, policy);
    fellBack ??=
      problem ??
      (answer.judgements.length < batch.length ? "unusable: some candidates were not judged" : null);
  }
  return { judgements, fellBack };
}

async function scrubbedWords(redactor: Redactor, candidates: readonly Candidate[]): Promise<Candidate[]> {
  const texts = await redactor.scrub(
    candidates.flatMap(({ finding: { lesson, trigger, action } }) =>
      [lesson, trigger, action].map((text) => ({ label: "", text })),
    ),
  );
  return candidates.map(({ id, finding }, at) => {
    const [lesson = "", trigger = "", action = ""] = texts.slice(at * 3, at * 3 + 3);
    return { id, finding: { ...finding, lesson, trigger, action } };
  });
}
