import { type Clock, KnackError } from "../base/index.ts";
import {
  type Asker,
  chooseModel,
  createFileModel,
  estimateCost,
  findPrice,
  type Model,
  type ModelLimits,
  type ModelUse,
  readModelUse,
  unsetModel,
} from "../models/index.ts";
import {
  type Env,
  type Home,
  judgeForms,
  parseJudge,
  resolveHome,
  resolveSettings,
  type Settings,
} from "../settings/index.ts";
import type { Store } from "../store/index.ts";

/** The judge that a person chose, and what asking it may cost. */
export interface ChosenJudge extends Pick<Asker, "model" | "limits" | "price"> {
  /** As in the settings: `off`, `claude`, `anthropic/<model>`. */
  readonly name: string;
  readonly settings: Settings;
  /** Whether sessions are judged: a judge is chosen, or requests and answers are files. It may still be out of reach. */
  readonly isOn: boolean;
  /** The model behind a judge's name, whether or not it can be asked. */
  readonly namedModel: (name: string) => Model;
}

interface JudgeDeps {
  readonly home: Home;
  readonly env: Env;
  readonly dryRun: boolean;
  readonly store: Store;
  readonly clock: Clock;
}

interface JudgeOptions {
  /** A judge named for this run, before the environment (KNACK_JUDGE) and the settings. */
  readonly judge: string | undefined;
  readonly modelDump: string | undefined;
  readonly modelAnswers: string | undefined;
}

/** Chooses the judge by what was asked for, the environment and the settings of the moment, in this order. */
export interface JudgeSource {
  choose(): ChosenJudge;
  /** The judge, and what asking it came to. */
  readState(): Promise<JudgeState>;
  /** Whether requests and answers are files. */
  readonly usesFiles: boolean;
  /** How many requests were written to files. */
  requestsWritten(): number;
}

export function createJudgeSource(deps: JudgeDeps, options: JudgeOptions): JudgeSource {
  const { home, env, dryRun, store, clock } = deps;
  const { judge: asked = null, modelDump: dump = null, modelAnswers: answers = null } = options;
  const usesFiles = dump !== null || answers !== null;
  const written = new Set<string>();
  const replaceModel = (chosen: Model): Model => {
    if (usesFiles)
      return createFileModel({ dump, answers, onWritten: (id) => written.add(id), instead: chosen });
    if (!dryRun || chosen.unset !== null) return chosen;
    return unsetModel(chosen.name, chosen.to, "nothing is sent in a dry run");
  };
  const choose = (): ChosenJudge => {
    const chosen = readJudge(home, env, asked);
    return { ...chosen, model: replaceModel(chosen.model), isOn: chosen.isOn || usesFiles };
  };
  const readState = async () => ({
    ...describeJudge(choose()),
    ...(await readModelUse(store, clock.now())),
  });
  return { choose, readState, usesFiles, requestsWritten: () => written.size };
}

function readJudge(home: Home, env: Env, asked: string | null): ChosenJudge {
  const settings = resolveSettings(home, null);
  const name = asked ?? (env.KNACK_JUDGE || settings.judge);
  if (parseJudge(name) === null)
    throw new KnackError("WRONG_USAGE", `There is no judge "${name}".`, { hint: `Use ${judgeForms}.` });
  const namedModel = (word: string) => createModel(home, env, settings, word);
  const model = namedModel(name);
  const own = { input: settings["judge.inputUsd"], output: settings["judge.outputUsd"] };
  return {
    ...{ name, settings, model, namedModel, isOn: name !== "off" },
    limits: { usdPerDay: settings["judge.budgetDay"], usdPerCall: settings["judge.budgetCall"] },
    price: findPrice(model.name, own),
  };
}

function createModel(home: Home, env: Env, settings: Settings, word: string): Model {
  const choice = parseJudge(word) ?? { via: "off" };
  const chosen = parseJudge(settings.judge)?.via ?? "off";
  // A person's address and key are for the provider that they chose with them.
  const isOwn = chosen === "off" || chosen === choice.via;
  const url = isOwn ? settings["judge.url"] : null;
  const keyEnv = isOwn ? settings["judge.keyEnv"] : null;
  return chooseModel({ choice, url, keyEnv, env, folder: home.models });
}

/** The size of a usual request about one session, for estimates before there is a request. */
const usualRequest = { inputTokens: 9_000, outputTokens: 800 };

/** The judge, and what asking it came to in the last day. */
export interface JudgeState extends ModelUse {
  /** As in the settings: `off`, `claude`, `anthropic/<model>`. */
  readonly judge: string;
  readonly isOn: boolean;
  readonly model: string;
  /** Where requests go. */
  readonly to: string;
  /** Why it cannot be asked; null when it can. */
  readonly unset: string | null;
  readonly budget: ModelLimits;
  /** The cost of a usual session with it, in US dollars. */
  readonly usdPerSession: number;
}

/** The state where there is no database yet, so that no judge was ever asked. */
export function readUnaskedJudge(env: Env): JudgeState {
  return describeJudge(readJudge(resolveHome(env), env, null));
}

function describeJudge({ name, isOn, model, limits, price }: ChosenJudge): JudgeState {
  return {
    ...{ judge: name, isOn, model: model.name, to: model.to, unset: model.unset },
    ...{ budget: limits, usdPerSession: estimateCost([usualRequest], price) },
    ...{ spent: { calls: 0, failed: 0, usd: 0 }, openUntil: null, lastFailure: null, failingSince: null },
  };
}
