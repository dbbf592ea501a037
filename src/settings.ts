import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod/mini";
import { type Home, projectConfig } from "./config.ts";
import { KnackError, messageIn } from "./core/errors.ts";
import { modelChoice, modelForms } from "./core/model.ts";
import type { ObserverName } from "./core/observer.ts";
import { policy } from "./core/policy.ts";
import { type ReviewMode, reviewModes } from "./core/review.ts";

/** What a person may set, for themselves or for a project. */
export interface Settings {
  /** Whether sessions are learned from. */
  readonly learn: boolean;
  /** Whether agents are told what is known. */
  readonly show: boolean;
  /** How many lessons are suggested at once. */
  readonly suggestions: number;
  /** What the names of learned skills begin with. */
  readonly prefix: string;
  /** Whether the agent may be asked, once a session, to write a lesson down while it has the context. */
  readonly foreground: "off" | "ask";
  /** The share of sessions from which something that fits is held back, to learn what showing it is worth. */
  readonly "recall.holdout": number;
  /** Who looks at sessions: rules alone, or rules that propose and a model that judges. */
  readonly observer: ObserverName;
  /** Which model may be asked. */
  readonly model: string;
  /** Where it is, for a model that is reached by an address; null for its maker's own. */
  readonly "model.url": string | null;
  /** The name of the environment variable that has its key; null for the usual one. */
  readonly "model.keyEnv": string | null;
  readonly "model.timeoutMs": number;
  /** US dollars for a day, and for one call. */
  readonly "model.budgetDay": number;
  readonly "model.budgetCall": number;
  /** US dollars for a million tokens, where Knack's own table is wrong or has none. */
  readonly "model.inputUsd": number | null;
  readonly "model.outputUsd": number | null;
  /** What background reviews may do. */
  readonly review: ReviewMode;
  /** Tool calls since the last one from which a review is worth it. */
  readonly "review.calls": number;
  /** Minutes between two of them, and how many there are in a day at the most. */
  readonly "review.minutes": number;
  readonly "review.perDay": number;
  /** US dollars for one of them, all its calls together; for a day `model.budgetDay` holds. */
  readonly "review.budget": number;
  /** The model that is asked first whether there is anything to review; null for the same. */
  readonly "review.gate": string | null;
  readonly "review.timeoutMs": number;
}

const defaults: Settings = {
  learn: true,
  show: true,
  suggestions: 5,
  prefix: policy.skill.prefix,
  foreground: "off",
  "recall.holdout": 0,
  observer: "heuristic",
  model: "off",
  "model.url": null,
  "model.keyEnv": null,
  "model.timeoutMs": policy.model.timeoutMs,
  "model.budgetDay": policy.model.usdPerDay,
  "model.budgetCall": policy.model.usdPerCall,
  "model.inputUsd": null,
  "model.outputUsd": null,
  review: "off",
  "review.calls": policy.nudge.calls,
  "review.minutes": policy.nudge.apartMs / 60_000,
  "review.perDay": policy.nudge.perDay,
  "review.budget": policy.review.usd,
  "review.gate": null,
  "review.timeoutMs": policy.review.timeoutMs,
};

const own = {
  learn: z.optional(z.boolean()),
  show: z.optional(z.boolean()),
  suggestions: z.optional(z.int().check(z.minimum(1), z.maximum(20))),
  prefix: z.optional(z.string().check(z.regex(/^(?:[a-z0-9]+-)*$/), z.maxLength(16))),
};
/** What nobody may decide for another, and so no project. */
const personal = {
  ...own,
  foreground: z.optional(z.enum(["off", "ask"])),
  "recall.holdout": z.optional(z.number().check(z.minimum(0), z.maximum(0.5))),
  observer: z.optional(z.enum(["heuristic", "model"])),
  model: z.optional(z.string().check(z.refine((word) => modelChoice(word) !== null))),
  "model.url": z.optional(z.nullable(z.string().check(z.refine(isAddress)))),
  "model.keyEnv": z.optional(z.nullable(z.string().check(z.regex(/^[A-Za-z_]\w{0,80}$/)))),
  "model.timeoutMs": z.optional(z.int().check(z.minimum(1_000), z.maximum(120_000))),
  "model.budgetDay": z.optional(z.number().check(z.minimum(0), z.maximum(1_000))),
  "model.budgetCall": z.optional(z.number().check(z.minimum(0), z.maximum(100))),
  "model.inputUsd": z.optional(z.nullable(z.number().check(z.minimum(0)))),
  "model.outputUsd": z.optional(z.nullable(z.number().check(z.minimum(0)))),
  review: z.optional(z.enum(reviewModes)),
  "review.calls": z.optional(z.int().check(z.minimum(1), z.maximum(10_000))),
  "review.minutes": z.optional(z.number().check(z.minimum(0), z.maximum(10_080))),
  "review.perDay": z.optional(z.int().check(z.minimum(0), z.maximum(200))),
  "review.budget": z.optional(z.number().check(z.minimum(0), z.maximum(100))),
  "review.gate": z.optional(z.nullable(z.string().check(z.refine((word) => modelChoice(word) !== null)))),
  "review.timeoutMs": z.optional(z.int().check(z.minimum(1_000), z.maximum(300_000))),
};
/** An address without a password in it, or a query, which may be one and could not be gone on from. */
function isAddress(word: string): boolean {
  const { protocol, username, password } = URL.canParse(word) ? new URL(word) : new URL("none:");
  return /^https?:$/.test(protocol) && username === "" && password === "" && !/[?#]/.test(word);
}

const project = z.strictObject(own);
const user = z.strictObject({
  ...personal,
  projects: z.optional(
    z.record(z.string(), z.strictObject({ learn: z.optional(z.boolean()), show: z.optional(z.boolean()) })),
  ),
});

type Own = z.infer<typeof project>;
type User = z.infer<typeof user>;

export type Key = keyof Settings;
export const keys = Object.keys(personal) as Key[];

/** Whose settings: a file, and what it may say. */
interface Scope<T> {
  readonly path: string;
  readonly schema: z.ZodMiniType<T>;
}

function userScope({ config }: Home): Scope<User> {
  return { path: config, schema: user };
}

function projectScope(root: string): Scope<Own> {
  return { path: projectConfig(root), schema: project };
}

/** The settings that hold in a project, or outside of any; a project's own go before the person's. */
export function settingsFor(home: Home, root: string | null, id: string | null = null): Settings {
  const mine = read(userScope(home));
  const theirs = root === null ? {} : read(projectScope(root));
  const named = [id, root].map((name) => (name === null ? undefined : mine.projects?.[name]));
  const decided = (key: "learn" | "show") =>
    theirs[key] ?? named.find((one) => one?.[key] !== undefined)?.[key] ?? mine[key] ?? defaults[key];
  return {
    learn: decided("learn"),
    show: decided("show"),
    suggestions: theirs.suggestions ?? mine.suggestions ?? defaults.suggestions,
    prefix: theirs.prefix ?? mine.prefix ?? defaults.prefix,
    foreground: mine.foreground ?? defaults.foreground,
    "recall.holdout": mine["recall.holdout"] ?? defaults["recall.holdout"],
    ...modelPart(mine),
    ...reviewPart(mine),
  };
}

/** What a person says of background reviews; no project has a say in what is spent. */
export function reviewSettings(home: Home): ReviewSettings {
  return reviewPart(read(userScope(home)));
}

function reviewPart(mine: User): ReviewSettings {
  return {
    review: mine.review ?? defaults.review,
    "review.calls": mine["review.calls"] ?? defaults["review.calls"],
    "review.minutes": mine["review.minutes"] ?? defaults["review.minutes"],
    "review.perDay": mine["review.perDay"] ?? defaults["review.perDay"],
    "review.budget": mine["review.budget"] ?? defaults["review.budget"],
    "review.gate": mine["review.gate"] ?? defaults["review.gate"],
    "review.timeoutMs": mine["review.timeoutMs"] ?? defaults["review.timeoutMs"],
  };
}

export type ReviewSettings = Pick<Settings, "review" | Extract<keyof Settings, `review.${string}`>>;

/** What a person says of observers and models: no project has a say in what leaves the machine. */
export function modelSettings(home: Home): ModelSettings {
  return modelPart(read(userScope(home)));
}

function modelPart(mine: User): ModelSettings {
  return {
    observer: mine.observer ?? defaults.observer,
    model: mine.model ?? defaults.model,
    "model.url": mine["model.url"] ?? defaults["model.url"],
    "model.keyEnv": mine["model.keyEnv"] ?? defaults["model.keyEnv"],
    "model.timeoutMs": mine["model.timeoutMs"] ?? defaults["model.timeoutMs"],
    "model.budgetDay": mine["model.budgetDay"] ?? defaults["model.budgetDay"],
    "model.budgetCall": mine["model.budgetCall"] ?? defaults["model.budgetCall"],
    "model.inputUsd": mine["model.inputUsd"] ?? defaults["model.inputUsd"],
    "model.outputUsd": mine["model.outputUsd"] ?? defaults["model.outputUsd"],
  };
}

export type ModelSettings = Pick<Settings, "observer" | "model" | Extract<keyof Settings, `model.${string}`>>;

/** What a person says of telling agents, for what they have not decided in a project. What cannot be read may say "off". */
export function tellingOf(
  home: Home,
): Pick<Settings, "show" | "foreground"> & { exceptions: string[]; holdout: number } {
  try {
    const {
      show = defaults.show,
      foreground = defaults.foreground,
      "recall.holdout": holdout = defaults["recall.holdout"],
      projects = {},
    } = read(userScope(home));
    const isOther = (one: { show?: boolean | undefined }) => one.show !== undefined && one.show !== show;
    const exceptions = Object.keys(projects).filter((name) => isOther(projects[name] ?? {}));
    return { show, exceptions, foreground, holdout };
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    return { show: false, exceptions: [], foreground: "off", holdout: 0 };
  }
}

/** Why a project's sessions are not learned from; null when they are. What cannot be read may say "off". */
export function whyNotLearn(home: Home, root: string | null, id: string): string | null {
  try {
    if (settingsFor(home, root, id).learn) return null;
    return root !== null && read(projectScope(root)).learn === false
      ? "learning is off in this project"
      : `learning is off (${home.config})`;
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    return error.message;
  }
}

/** What is wrong with the settings of a person and of these projects: the file and the place in it. */
export function brokenSettings(home: Home, roots: Iterable<string | null>): string[] {
  const scopes = [...new Set(roots)].flatMap((root) => (root === null ? [] : projectScope(root)));
  return [userScope(home) as Scope<object>, ...scopes].flatMap((scope) => {
    try {
      read(scope);
      return [];
    } catch (error) {
      if (!(error instanceof KnackError)) throw error;
      return error.message;
    }
  });
}

/** What one file says. */
export function settingsIn(home: Home, root: string | null): Omit<User, "projects"> {
  const { projects: _, ...rest }: User = root === null ? read(userScope(home)) : read(projectScope(root));
  return rest;
}

/** Writes one setting; a value is given as a person types it. */
export function set(
  home: Home,
  root: string | null,
  key: string,
  value: string,
  dryRun = false,
): { path: string; value: unknown } {
  if (!keys.includes(key as Key)) throw unknownKey(key);
  if (root !== null && !(key in own))
    throw new KnackError("WRONG_USAGE", `No project decides about ${key}.`, {
      hint: `For yourself: knack config set ${key} ${value}`,
    });
  const { path, schema } = root === null ? userScope(home) : projectScope(root);
  const typed = key === "prefix" || key === "model" ? value : jsonOf(value);
  const next = { ...(read({ path, schema: schema as z.ZodMiniType<User> }) ?? {}), [key]: typed };
  const checked = z.safeParse(schema as z.ZodMiniType<User>, next);
  if (!checked.success)
    // A key that somebody took for its name is not said aloud.
    throw new KnackError(
      "WRONG_USAGE",
      `${key.startsWith("model.") ? "That" : `"${value}"`} cannot be the value of ${key}.`,
      {
        hint: hints[key as Key],
      },
    );
  if (dryRun) return { path, value: typed };
  mkdirSync(dirname(path), { recursive: true, ...(root === null ? { mode: 0o700 } : {}) });
  // In one move, so that nobody reads half of it.
  writeFileSync(`${path}.new`, `${JSON.stringify(next, null, 2)}\n`);
  renameSync(`${path}.new`, path);
  return { path, value: typed };
}

const hints: Readonly<Record<Key, string>> = {
  learn: "true or false",
  show: "true or false",
  suggestions: "a number from 1 to 20",
  prefix: "small letters and digits, ending with a hyphen, such as rl-; or nothing",
  foreground: "off, or ask: the agent is asked once a session to write a lesson down",
  "recall.holdout":
    "a share from 0 (off) to 0.5: so often something that fits is held back, to learn what showing it is worth",
  observer: "heuristic, or model: rules propose and a model judges",
  model: modelForms,
  "model.url": "an address such as http://127.0.0.1:11434/v1, without a password or a query in it; or null",
  "model.keyEnv":
    "the name of an environment variable, such as ANTHROPIC_API_KEY, not the key itself; or null",
  "model.timeoutMs": "milliseconds from 1000 to 120000",
  "model.budgetDay": "US dollars for a day",
  "model.budgetCall": "US dollars for one call",
  "model.inputUsd": "US dollars for a million tokens that are sent, or null",
  "model.outputUsd": "US dollars for a million tokens that are answered, or null",
  review:
    "off, suggest (a review leaves proposals: knack review inbox), or auto (it also publishes drafts and patches of learned skills)",
  "review.calls": "tool calls since the last review from which one is worth it",
  "review.minutes": "minutes between two reviews",
  "review.perDay": "how many reviews in a day at the most",
  "review.budget": "US dollars for one review; for a day model.budgetDay holds",
  "review.gate": `a small model that is asked first: ${modelForms}; or null for the same model`,
  "review.timeoutMs": "milliseconds from 1000 to 300000",
};

export function unknownKey(key: string): KnackError {
  return new KnackError("WRONG_USAGE", `There is no setting "${key}".`, {
    hint: `Known: ${keys.map((one) => `${one} (${hints[one]})`).join("; ")}`,
  });
}

function jsonOf(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function read<T extends object>({ path, schema }: Scope<T>): T {
  const text = textAt(path);
  if (text === null) return {} as T;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw broken(path, `it is no JSON (${messageIn(cause)})`, cause);
  }
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const place = first?.path.join(".") || "the top";
  const unknown = first?.code === "unrecognized_keys" ? first.keys.join(", ") : null;
  throw broken(path, unknown === null ? `${place}: ${first?.message}` : `it has no key "${unknown}"`);
}

function textAt(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw broken(path, messageIn(cause), cause);
  }
}

function broken(path: string, why: string, cause?: unknown): KnackError {
  return new KnackError("CONFIG_BROKEN", `The settings in ${path} cannot be read: ${why}.`, {
    hint: `Mend the file, or delete it. Keys: ${keys.join(", ")}.`,
    cause,
  });
}
