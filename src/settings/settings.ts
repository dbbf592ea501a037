import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod/mini";
import { errorMessage, KnackError } from "../base/index.ts";
import { reviewModes } from "../records/index.ts";
import { type Home, projectConfig } from "./home.ts";
import { modelChoice, modelForms } from "./model-choice.ts";

interface Setting<Value> {
  readonly default: Value;
  readonly check: z.ZodMiniType<Value>;
  /** The values it may have, in words. */
  readonly values: string;
}

function setting<Value>(
  fallback: NoInfer<Value>,
  check: z.ZodMiniType<Value>,
  values: string,
): Setting<Value> {
  return { default: fallback, check, values };
}

function numberUpTo(most: number, least = 0) {
  return z.number().check(z.minimum(least), z.maximum(most));
}

function wholeUpTo(most: number, least = 0) {
  return z.int().check(z.minimum(least), z.maximum(most));
}

/** The prefix of learned skills' names. */
const skillPrefix = "rl-";

/** What a project may set for itself, too; its own settings go before the person's. */
const projectSettings = {
  /** Whether sessions are learned from. */
  learn: setting(true, z.boolean(), "true or false"),
  /** Whether agents are shown what is known. */
  show: setting(true, z.boolean(), "true or false"),
  /** How many lessons are suggested at once. */
  suggestions: setting(5, wholeUpTo(20, 1), "a number from 1 to 20"),
  /** What the names of learned skills begin with. */
  prefix: setting(
    skillPrefix,
    z.string().check(z.regex(/^(?:[a-z0-9]+-)*$/), z.maxLength(16)),
    "lowercase letters and digits, ending with a hyphen, such as rl-; or nothing",
  ),
};

const modelName = z.string().check(z.refine((word) => modelChoice(word) !== null));
const dollarsPerMillion = z.nullable(z.number().check(z.minimum(0)));

/** Which observer and model look at sessions: only a person decides what leaves the machine. */
const modelOnly = {
  /** Rules alone, or rules that propose and a model that judges. */
  observer: setting(
    "heuristic",
    z.enum(["heuristic", "model"]),
    "heuristic, or model: rules propose and a model judges",
  ),
  model: setting("off", modelName, modelForms),
  /** The address of a model that has one; null for its maker's own. */
  "model.url": setting(
    null,
    z.nullable(z.string().check(z.refine(isAddress))),
    "an address such as http://127.0.0.1:11434/v1, without a password or a query in it; or null",
  ),
  /** The name of the environment variable that has the key; null for the usual one. */
  "model.keyEnv": setting(
    null,
    z.nullable(z.string().check(z.regex(/^[A-Za-z_]\w{0,80}$/))),
    "the name of an environment variable, such as ANTHROPIC_API_KEY, not the key itself; or null",
  ),
  "model.timeoutMs": setting(10_000, wholeUpTo(120_000, 1_000), "milliseconds from 1000 to 120000"),
  "model.budgetDay": setting(1, numberUpTo(1_000), "US dollars for a day"),
  "model.budgetCall": setting(0.5, numberUpTo(100), "US dollars for one call"),
  /** Prices, where Knack's own table is wrong or has none. */
  "model.inputUsd": setting(
    null,
    dollarsPerMillion,
    "US dollars for a million tokens that are sent, or null",
  ),
  "model.outputUsd": setting(
    null,
    dollarsPerMillion,
    "US dollars for a million tokens that are answered, or null",
  ),
};

/** Background reviews. */
const reviewOnly = {
  review: setting(
    "off",
    z.enum(reviewModes),
    "off, suggest (a review leaves proposals: knack review inbox), or auto (it also publishes drafts and patches of learned skills)",
  ),
  "review.calls": setting(
    15,
    wholeUpTo(10_000, 1),
    "tool calls since the last review from which one is worth it",
  ),
  "review.minutes": setting(30, numberUpTo(10_080), "minutes between two reviews"),
  "review.perDay": setting(12, wholeUpTo(200), "how many reviews in a day at the most"),
  "review.budget": setting(
    0.5,
    numberUpTo(100),
    "US dollars for one review; for a day model.budgetDay holds",
  ),
  "review.timeoutMs": setting(120_000, wholeUpTo(300_000, 1_000), "milliseconds from 1000 to 300000"),
};

/** Everything that a person may set. */
const allSettings = {
  ...projectSettings,
  /** Whether an agent may be asked, once a session, to write a lesson down while it has the context. */
  foreground: setting(
    "off",
    z.enum(["off", "ask"]),
    "off, or ask: the agent is asked once a session to write a lesson down",
  ),
  /** The share of sessions from which a match is held back, to learn what showing it is worth. */
  "recall.holdout": setting(
    0,
    numberUpTo(0.5),
    "a share from 0 (off) to 0.5: so often something that fits is held back, to learn what showing it is worth",
  ),
  ...modelOnly,
  ...reviewOnly,
};

type Values<List> = { readonly [Key in keyof List]: List[Key] extends Setting<infer Value> ? Value : never };
type Settings = Values<typeof allSettings>;
export type ModelSettings = Values<typeof modelOnly>;

export type SettingKey = keyof typeof allSettings;
export const settingKeys = Object.keys(allSettings) as SettingKey[];

/** An address without a password in it, or a query, which may be one and could not be extended. */
function isAddress(word: string): boolean {
  const { protocol, username, password } = URL.canParse(word) ? new URL(word) : new URL("none:");
  return /^https?:$/.test(protocol) && username === "" && password === "" && !/[?#]/.test(word);
}

type ProjectFile = Partial<Values<typeof projectSettings>>;
type UserFile = Partial<Settings> & {
  readonly projects?: Readonly<Record<string, Pick<ProjectFile, "learn" | "show">>>;
};

function createShape(list: Readonly<Record<string, Setting<never>>>) {
  return Object.fromEntries(Object.entries(list).map(([key, { check }]) => [key, z.optional(check)]));
}

const projectSchema = z.strictObject(createShape(projectSettings as never)) as z.ZodMiniType<ProjectFile>;
const userSchema = z.strictObject({
  ...createShape(allSettings as never),
  projects: z.optional(
    z.record(z.string(), z.strictObject({ learn: z.optional(z.boolean()), show: z.optional(z.boolean()) })),
  ),
}) as z.ZodMiniType<UserFile>;

function readUser({ config }: Home): UserFile {
  return readFile(config, userSchema);
}

function readProject(root: string): ProjectFile {
  return readFile(projectConfig(root), projectSchema);
}

/** The values that a file gives to some settings, and the defaults of the others. */
function fillIn<List extends Readonly<Record<string, Setting<unknown>>>>(
  list: List,
  file: object,
): Values<List> {
  const given = file as Readonly<Record<string, unknown>>;
  const pairs = Object.entries(list).map(([key, one]) => [key, given[key] ?? one.default]);
  return Object.fromEntries(pairs) as Values<List>;
}

/** The settings that hold in a project, or outside of any; a project's own go before the person's. */
export function resolveSettings(home: Home, root: string | null, id: string | null = null): Settings {
  const user = readUser(home);
  const project = root === null ? {} : readProject(root);
  const named = [id, root].map((name) => (name === null ? undefined : user.projects?.[name]));
  const decide = (key: "learn" | "show") => named.find((one) => one?.[key] !== undefined)?.[key] ?? user[key];
  return fillIn(allSettings, { ...user, learn: decide("learn"), show: decide("show"), ...project });
}

/** A person's settings for background reviews; no project has a say in what is spent. */
export function reviewSettings(home: Home): Values<typeof reviewOnly> {
  return fillIn(reviewOnly, readUser(home));
}

/** A person's settings for observers and models; no project has a say in what leaves the machine. */
export function modelSettings(home: Home): ModelSettings {
  return fillIn(modelOnly, readUser(home));
}

/** What a person wants shown to agents, and the projects that differ. A file that cannot be read may say "off". */
export function recallSettings(
  home: Home,
): Pick<Settings, "show" | "foreground"> & { exceptions: string[]; holdout: number } {
  try {
    const user = readUser(home);
    const { show, foreground, "recall.holdout": holdout } = fillIn(allSettings, user);
    const exceptions = Object.entries(user.projects ?? {}).filter(([, one]) => (one.show ?? show) !== show);
    return { show, exceptions: exceptions.map(([name]) => name), foreground, holdout };
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    return { show: false, exceptions: [], foreground: "off", holdout: 0 };
  }
}

/** Why a project's sessions are not learned from; null when they are. A file that cannot be read may say "off". */
export function whyNotLearn(home: Home, root: string | null, id: string): string | null {
  try {
    if (resolveSettings(home, root, id).learn) return null;
    return root !== null && readProject(root).learn === false
      ? "learning is off in this project"
      : `learning is off (${home.config})`;
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    return error.message;
  }
}

/** What is wrong with the settings files of a person and of these projects. */
export function findBrokenSettings(home: Home, roots: Iterable<string | null>): string[] {
  const projects = [...new Set(roots)].filter((root) => root !== null);
  const reads = [() => readUser(home), ...projects.map((root) => () => readProject(root))];
  return reads.flatMap((read) => {
    try {
      read();
      return [];
    } catch (error) {
      if (!(error instanceof KnackError)) throw error;
      return error.message;
    }
  });
}

/** What one file says: the person's, or a project's. */
export function readSettingsFile(home: Home, root: string | null): Partial<Settings> {
  const { projects: _, ...rest }: UserFile = root === null ? readUser(home) : readProject(root);
  return rest;
}

/** Writes one setting; the value is given as a person types it. */
export function writeSetting(
  home: Home,
  root: string | null,
  key: string,
  value: string,
  dryRun = false,
): { path: string; value: unknown } {
  if (!isSettingKey(key)) throw unknownKey(key);
  if (root !== null && !(key in projectSettings))
    throw new KnackError("WRONG_USAGE", `A project cannot set ${key}.`, {
      hint: `For yourself: knack config set ${key} ${value}`,
    });
  const path = root === null ? home.config : projectConfig(root);
  const typed = key === "prefix" || key === "model" ? value : parseValue(value);
  const { check, values }: Pick<Setting<unknown>, "values"> & { check: z.ZodMiniType } = allSettings[key];
  if (!z.safeParse(check, typed).success) {
    // Somebody may have typed a key in place of its name; it is not repeated.
    const what = key.startsWith("model.") ? "value" : `value "${value}"`;
    throw new KnackError("WRONG_USAGE", `Invalid ${what} for ${key}.`, { hint: `Use ${values}` });
  }
  const before = root === null ? readUser(home) : readProject(root);
  if (dryRun) return { path, value: typed };
  mkdirSync(dirname(path), { recursive: true, ...(root === null ? { mode: 0o700 } : {}) });
  // In one move, so that nobody reads half of it.
  writeFileSync(`${path}.new`, `${JSON.stringify({ ...before, [key]: typed }, null, 2)}\n`);
  renameSync(`${path}.new`, path);
  return { path, value: typed };
}

function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(allSettings, key);
}

export function unknownKey(key: string): KnackError {
  const known = settingKeys.map((one) => `${one} (${allSettings[one].values})`).join("; ");
  return new KnackError("WRONG_USAGE", `There is no setting "${key}".`, { hint: `Known: ${known}` });
}

function parseValue(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function readFile<File extends object>(path: string, schema: z.ZodMiniType<File>): File {
  const text = readText(path);
  if (text === null) return {} as File;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw brokenFile(path, `it is not JSON (${errorMessage(cause)})`, cause);
  }
  const parsed = z.safeParse(schema, value);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const place = first?.path.join(".") || "the top";
  const unknown = first?.code === "unrecognized_keys" ? first.keys.join(", ") : null;
  throw brokenFile(path, unknown === null ? `${place}: ${first?.message}` : `unknown key "${unknown}"`);
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw brokenFile(path, errorMessage(cause), cause);
  }
}

function brokenFile(path: string, why: string, cause?: unknown): KnackError {
  return new KnackError("CONFIG_BROKEN", `The settings in ${path} cannot be read: ${why}.`, {
    hint: `Fix the file, or delete it. Keys: ${settingKeys.join(", ")}.`,
    cause,
  });
}
