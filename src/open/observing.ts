import type { Home } from "../config.ts";
import { KnackError } from "../core/errors.ts";
import { type ModelChoice, modelChoice, priceOf } from "../core/model.ts";
import { isObserver, type ObserverName, observerNames } from "../core/observer.ts";
import { policy } from "../core/policy.ts";
import type { AskDeps } from "../engine/ask.ts";
import { type Observer, observers } from "../engine/observe.ts";
import type { Model } from "../engine/ports.ts";
import { modelFor, unsetModel } from "../models/index.ts";
import { replayModel } from "../models/replay.ts";
import { type ModelSettings, modelSettings } from "../settings.ts";
import type { Environment, Opened } from "./home.ts";

/** Who is to look at sessions, and the model that a person chose, whether or not it is asked. */
export interface Chosen {
  readonly name: ObserverName;
  readonly model: Model;
  readonly settings: ModelSettings;
}

/** Who looks at sessions, and the model that is really asked, with what it may cost. */
export interface Observing extends Chosen, Pick<AskDeps, "limits" | "price"> {
  readonly observer: Observer;
  /** A model by a person's word for it, whether or not it is asked. */
  readonly named: (word: string) => Model;
  /** The same with its price; where nothing is sent anywhere, the one that is asked instead. */
  readonly modelOf: (word: string) => Pick<AskDeps, "model" | "price">;
}

/** Who looks at sessions by what was asked for, and where requests and answers are files; `KnackOptions` says more. */
export interface ObservingOptions {
  readonly observer: string | undefined;
  readonly modelDump: string | undefined;
  readonly modelAnswers: string | undefined;
}

export interface Observation {
  /** By the settings of this moment. */
  readonly observing: () => Observing;
  /** Whether requests and answers are files. */
  readonly isReplayed: boolean;
  /** How many requests went into files. */
  readonly requestsWritten: () => number;
}

/** By what was asked for, the environment and the settings, in this order. */
export function chosenOn(home: Home, env: Environment, asked: string | null): Chosen {
  const settings = modelSettings(home);
  const name = asked ?? (env.KNACK_OBSERVER || settings.observer);
  if (!isObserver(name))
    throw new KnackError("WRONG_USAGE", `There is no observer "${name}".`, {
      hint: `Known: ${observerNames.join(", ")}`,
    });
  return { name, settings, model: modelNamed(home, env, settings, settings.model) };
}

function modelNamed(home: Home, env: Environment, settings: ModelSettings, word: string): Model {
  const choice = modelChoice(word) ?? { via: "off" };
  const { "model.url": url, "model.keyEnv": keyEnv } = settings;
  const at = isMeantFor(settings.model, choice) ? { url, keyEnv } : { url: null, keyEnv: null };
  return modelFor({ choice, ...at, env, folder: home.models });
}

/** Whether a person's address and key are for a model: they are for the maker of the one they chose, and nobody else's. */
function isMeantFor(chosen: string, { via }: ModelChoice): boolean {
  return modelChoice(chosen)?.via === via;
}

export function observationIn(opened: Opened, options: ObservingOptions): Observation {
  const { home, surroundings, dryRun, store, clock, redactor } = opened;
  const { observer, modelDump, modelAnswers } = options;
  const { env } = surroundings;
  const isReplayed = modelDump !== undefined || modelAnswers !== undefined;
  const written = new Set<string>();
  const askedInstead = (chosen: Model): Model => {
    if (isReplayed)
      return replayModel({
        dump: modelDump ?? null,
        answers: modelAnswers ?? null,
        onWritten: (id) => written.add(id),
        instead: chosen,
      });
    return dryRun && chosen.unset === null
      ? unsetModel(chosen.name, chosen.to, "nothing is sent in a dry run")
      : chosen;
  };
  const observing = (): Observing => {
    const { name, settings, model: chosen } = chosenOn(home, env, observer ?? (isReplayed ? "model" : null));
    const model = askedInstead(chosen);
    const limits = { usdPerDay: settings["model.budgetDay"], usdPerCall: settings["model.budgetCall"] };
    const price = priceIn(settings, model);
    const timeoutMs = settings["model.timeoutMs"];
    const named = (word: string) => modelNamed(home, env, settings, word);
    return {
      ...{ name, settings, model, limits, price, named },
      modelOf: (word) => {
        if (model !== chosen) return { model, price };
        const other = named(word);
        return { model: other, price: priceAt(settings, word, other) };
      },
      observer: observers[name]({ store, clock, redactor, model, timeoutMs, limits, price }),
    };
  };
  return { observing, isReplayed, requestsWritten: () => written.size };
}

/** What another model costs: a person's own prices are for the one they chose, and for what is at the same address of their own. */
function priceAt(settings: ModelSettings, word: string, other: Model): AskDeps["price"] {
  const choice = modelChoice(word);
  const isThere = settings["model.url"] !== null && choice !== null && isMeantFor(settings.model, choice);
  return isThere || word === settings.model ? priceIn(settings, other) : priceOf(other.name);
}

/** What a model costs: a person's own word first. */
function priceIn(settings: ModelSettings, { name }: Model): AskDeps["price"] {
  const { "model.inputUsd": input, "model.outputUsd": output } = settings;
  const known = priceOf(name);
  if (input === null && output === null) return known;
  return {
    input: input ?? known?.input ?? policy.model.unknownPrice.input,
    output: output ?? known?.output ?? policy.model.unknownPrice.output,
  };
}
