import { type Clock, KnackError } from "../base/index.ts";
import type { CallReader } from "../failures/index.ts";
import {
  type AskedFor,
  type Asker,
  askModel,
  chooseModel,
  createFileModel,
  findPrice,
  type Model,
  type ModelLimits,
  type ModelUse,
  readModelUse,
  unsetModel,
} from "../models/index.ts";
import {
  type Event,
  eventChars,
  type Finding,
  type Judgements,
  type SessionJudgement,
} from "../records/index.ts";
import {
  type Env,
  type Home,
  modelChoice,
  resolveHome,
  resolveSettings,
  type Settings,
} from "../settings/index.ts";
import type { Store } from "../store/index.ts";
import { type Redactor, scrubEvents } from "../trust/index.ts";
import {
  type Candidate,
  findSame,
  gatherMaterial,
  JudgeQuestion,
  joinJudgements,
  makeCandidates,
  noJudgements,
  settle,
  splitBatches,
} from "./judge.ts";
import { detect, findCandidates } from "./leads/detect.ts";

/** The findings of a session, and a model's judgement of them where one was asked. */
interface SessionFindings {
  readonly findings: readonly Finding[];
  readonly judged: Omit<SessionJudgement, "pass"> | null;
}

/**
 * Looks at sessions for what is worth keeping. May be slow: called outside any transaction. Never throws for what a
 * model does.
 */
export interface Observer {
  readonly name: ObserverName;
  observe(events: readonly Event[], session: ObservedSession): Promise<SessionFindings>;
}

/** Who looks at sessions: rules alone, or rules that propose and a model that judges. */
type ObserverName = "heuristic" | "model";

interface ObservedSession extends AskedFor {
  /** Its calls, each read once for all who look at them. */
  readonly calls: CallReader;
  /** The judgements of an earlier pass, when the session was shorter. */
  readonly before: Judgements | null;
}

interface Judge extends Asker {
  readonly timeoutMs: number;
}

/** Rules alone. */
const heuristicObserver: Observer = {
  name: "heuristic",
  observe: async (events, { calls }) => ({ findings: detect(events, calls), judged: null }),
};

/** Rules propose, widely; a model keeps, drops and adds. Where it cannot, what the rules are sure of stands. */
function createModelObserver(judge: Judge): Observer {
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
      const { judgements, fellBack } = await askJudge(judge, events, fresh, session);
      const all = joinJudgements(known, judgements);
      const judged = { ...all, model: judge.model.name, fellBack };
      return { findings: settle(detected, candidates, all), judged };
    },
  };
}

/** Tokens of an answer. */
const outputTokens = 3_000;

/** Has candidates judged, a few calls for all; ends with the first call that comes to nothing. */
async function askJudge(
  judge: Judge,
  events: readonly Event[],
  candidates: readonly Candidate[],
  session: AskedFor,
): Promise<{ readonly judgements: Judgements; readonly fellBack: string | null }> {
  let judgements = noJudgements;
  let fellBack: string | null = null;
  if (candidates.length === 0) return { judgements, fellBack };
  const gathered = gatherMaterial(candidates, events);
  // They were scrubbed when they were read; what leaves the machine is once more.
  const clean = await scrubEvents(judge.redactor, [...gathered.events.values()], eventChars);
  const material = { ...gathered, events: new Map(clean.map((event) => [event.ref, event])) };
  const limits = { maxOutputTokens: outputTokens, timeoutMs: judge.timeoutMs };
  for (const batch of splitBatches(candidates, material)) {
    const question = new JudgeQuestion(batch, material);
    const { system, prompt, schema } = question;
    const reply = await askModel(
      judge,
      { purpose: "judge a session", system, prompt, schema, ...limits },
      session,
    );
    if (!reply.ok) {
      fellBack ??= `${reply.because}: ${reply.message}`;
      // What goes into files goes there whole; who does not answer is not asked more.
      if (judge.model.isLive) break;
      continue;
    }
    const { problem, ...made } = question.check(reply.answer);
    judgements = joinJudgements(judgements, made);
    fellBack ??= problem;
  }
  return { judgements, fellBack };
}

// --- Which observer, and which model ---

/** The observer and the model that a person chose, whether or not it can be asked. */
interface ObserverChoice {
  readonly name: ObserverName;
  readonly model: Model;
  readonly settings: Settings;
}

/** The observer, and the model that is really asked, with what it may cost. */
interface ChosenObserver extends ObserverChoice, Pick<Asker, "limits" | "price"> {
  readonly observer: Observer;
  /** A model by its name in the settings, whether or not it can be asked. */
  readonly namedModel: (name: string) => Model;
}

interface ObserverDeps {
  readonly home: Home;
  readonly env: Env;
  readonly dryRun: boolean;
  readonly store: Store;
  readonly clock: Clock;
  readonly redactor: Redactor;
}

interface ObserverOptions {
  readonly observer: string | undefined;
  readonly modelDump: string | undefined;
  readonly modelAnswers: string | undefined;
}

/** Chooses the observer by what was asked for, the environment and the settings of the moment, in this order. */
export interface ObserverSource {
  choose(): ChosenObserver;
  /** The observer, and what asking a model came to. */
  readState(): Promise<ModelState>;
  /** Whether requests and answers are files. */
  readonly usesFiles: boolean;
  /** How many requests were written to files. */
  requestsWritten(): number;
}

export function createObserverSource(deps: ObserverDeps, options: ObserverOptions): ObserverSource {
  const { home, env, dryRun, store, clock, redactor } = deps;
  const { observer: asked, modelDump: dump = null, modelAnswers: answers = null } = options;
  const usesFiles = dump !== null || answers !== null;
  const written = new Set<string>();
  const replaceModel = (chosen: Model): Model => {
    if (usesFiles)
      return createFileModel({ dump, answers, onWritten: (id) => written.add(id), instead: chosen });
    if (!dryRun || chosen.unset !== null) return chosen;
    return unsetModel(chosen.name, chosen.to, "nothing is sent in a dry run");
  };
  const choose = (): ChosenObserver => {
    const { name, settings, model: chosen } = readChoice(home, env, asked ?? (usesFiles ? "model" : null));
    const model = replaceModel(chosen);
    const { "model.inputUsd": input, "model.outputUsd": output, "model.timeoutMs": timeoutMs } = settings;
    const costs = { limits: readLimits(settings), price: findPrice(model.name, { input, output }) };
    const createJudge = () => createModelObserver({ store, clock, redactor, model, timeoutMs, ...costs });
    return {
      ...{ name, settings, model, ...costs },
      namedModel: (word) => createModel(home, env, settings, word),
      observer: name === "model" ? createJudge() : heuristicObserver,
    };
  };
  const readState = async () => {
    const { spent, openUntil, lastFailure: failure } = await readModelUse(store, clock.now());
    return { ...describeChoice(choose()), spent, openUntil, failure };
  };
  return { choose, readState, usesFiles, requestsWritten: () => written.size };
}

function readChoice(home: Home, env: Env, asked: string | null): ObserverChoice {
  const settings = resolveSettings(home, null);
  const name = asked ?? (env.KNACK_OBSERVER || settings.observer);
  if (name !== "heuristic" && name !== "model")
    throw new KnackError("WRONG_USAGE", `There is no observer "${name}".`, {
      hint: "Known: heuristic, model",
    });
  return { name, settings, model: createModel(home, env, settings, settings.model) };
}

function createModel(home: Home, env: Env, settings: Settings, word: string): Model {
  const choice = modelChoice(word) ?? { via: "off" };
  // A person's address and key are only for the provider of the model they chose.
  const isSameMaker = modelChoice(settings.model)?.via === choice.via;
  const url = isSameMaker ? settings["model.url"] : null;
  const keyEnv = isSameMaker ? settings["model.keyEnv"] : null;
  return chooseModel({ choice, url, keyEnv, env, folder: home.models });
}

function readLimits(settings: Settings): Pick<ModelLimits, "usdPerDay" | "usdPerCall"> {
  return { usdPerDay: settings["model.budgetDay"], usdPerCall: settings["model.budgetCall"] };
}

/** The observer, and what asking a model came to. */
export interface ModelState {
  readonly observer: ObserverName;
  readonly model: string;
  /** Where requests go. */
  readonly to: string;
  /** Why none can be asked; null when one can. */
  readonly unset: string | null;
  /** In the last day. */
  readonly spent: ModelUse["spent"];
  readonly budget: Pick<ModelLimits, "usdPerDay" | "usdPerCall">;
  /** Until when none is asked, after failures. */
  readonly openUntil: number | null;
  /** The latest call that failed, in the last day. */
  readonly failure: { readonly at: number; readonly because: string } | null;
}

/** The state where there is no database yet, so that no model was ever asked. */
export function readUnaskedModel(env: Env): ModelState {
  return describeChoice(readChoice(resolveHome(env), env, null));
}

function describeChoice({ name, model, settings }: ObserverChoice): ModelState {
  return {
    ...{ observer: name, model: model.name, to: model.to, unset: model.unset },
    ...{
      spent: { calls: 0, failed: 0, usd: 0 },
      budget: readLimits(settings),
      openUntil: null,
      failure: null,
    },
  };
}
