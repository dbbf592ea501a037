import { type Clock, KnackError } from "../base/index.ts";
import {
  type Asker,
  chooseModel,
  createFileModel,
  findPrice,
  type Model,
  type ModelLimits,
  type ModelUse,
  readModelUse,
  unsetModel,
} from "../models/index.ts";
import type { ObserverName } from "../records/index.ts";
import {
  type Home,
  type ModelChoice,
  type ModelSettings,
  modelChoice,
  modelSettings,
  resolveHome,
} from "../settings/index.ts";
import type { Store } from "../store/index.ts";
import type { Redactor } from "../trust/index.ts";
import { isObserver, type Observer, observers } from "./observe.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** The observer and the model that a person chose, whether or not it can be asked. */
interface ObserverChoice {
  readonly name: ObserverName;
  readonly model: Model;
  readonly settings: ModelSettings;
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
  /** Whether requests and answers are files. */
  readonly usesFiles: boolean;
  /** How many requests were written to files. */
  requestsWritten(): number;
}

export function createObserverSource(deps: ObserverDeps, options: ObserverOptions): ObserverSource {
  const { home, env, dryRun, store, clock, redactor } = deps;
  const { observer, modelDump: dump = null, modelAnswers: answers = null } = options;
  const usesFiles = dump !== null || answers !== null;
  const written = new Set<string>();
  const replaceModel = (chosen: Model): Model => {
    if (usesFiles)
      return createFileModel({ dump, answers, onWritten: (id) => written.add(id), instead: chosen });
    return dryRun && chosen.unset === null
      ? unsetModel(chosen.name, chosen.to, "nothing is sent in a dry run")
      : chosen;
  };
  const choose = (): ChosenObserver => {
    const choice = readChoice(home, env, observer ?? (usesFiles ? "model" : null));
    const { name, settings, model: chosen } = choice;
    const model = replaceModel(chosen);
    const limits = readLimits(settings);
    const price = priceModel(settings, model);
    const timeoutMs = settings["model.timeoutMs"];
    const namedModel = (word: string) => createModel(home, env, settings, word);
    return {
      ...{ name, settings, model, limits, price, namedModel },
      observer: observers[name]({ store, clock, redactor, model, timeoutMs, limits, price }),
    };
  };
  return { choose, usesFiles, requestsWritten: () => written.size };
}

function readChoice(home: Home, env: Env, asked: string | null): ObserverChoice {
  const settings = modelSettings(home);
  const wanted = asked ?? (env.KNACK_OBSERVER || settings.observer);
  if (!isObserver(wanted))
    throw new KnackError("WRONG_USAGE", `There is no observer "${wanted}".`, {
      hint: `Known: ${Object.keys(observers).join(", ")}`,
    });
  return { name: wanted, settings, model: createModel(home, env, settings, settings.model) };
}

function createModel(home: Home, env: Env, settings: ModelSettings, word: string): Model {
  const choice = modelChoice(word) ?? { via: "off" };
  const { "model.url": url, "model.keyEnv": keyEnv } = settings;
  const at = isSameMaker(settings.model, choice) ? { url, keyEnv } : { url: null, keyEnv: null };
  return chooseModel({ choice, ...at, env, folder: home.models });
}

/** A person's address and key are for the maker of the model they chose, and nobody else's. */
function isSameMaker(chosen: string, { via }: ModelChoice): boolean {
  return modelChoice(chosen)?.via === via;
}

function readLimits(settings: ModelSettings): Pick<ModelLimits, "usdPerDay" | "usdPerCall"> {
  return { usdPerDay: settings["model.budgetDay"], usdPerCall: settings["model.budgetCall"] };
}

function priceModel(settings: ModelSettings, { name }: Model): Asker["price"] {
  const { "model.inputUsd": input, "model.outputUsd": output } = settings;
  return findPrice(name, { input, output });
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

export async function readModelState(store: Store, choice: ObserverChoice, now: number): Promise<ModelState> {
  const { spent, openUntil, lastFailure: failure } = await readModelUse(store, now);
  return { ...describeChoice(choice), spent, openUntil, failure };
}

/** The state where there is no database yet, so that no model was ever asked. */
export function readUnaskedModel(env: Env): ModelState {
  return describeChoice(readChoice(resolveHome(env), env, null));
}

function describeChoice({ name, model, settings }: ObserverChoice): ModelState {
  return {
    observer: name,
    ...{ model: model.name, to: model.to, unset: model.unset },
    spent: { calls: 0, failed: 0, usd: 0 },
    budget: readLimits(settings),
    openUntil: null,
    failure: null,
  };
}
