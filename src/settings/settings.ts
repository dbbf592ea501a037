import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import * as z from "zod/mini";
import {
  errorMessage,
  isInsideFolder,
  KnackError,
  readPlainFile,
  readPlainText,
  writeFileAtomically,
} from "../base/index.ts";
import { reviewModes } from "../records/index.ts";
import { type Home, projectConfig } from "./home.ts";
import { readRepositoryWish, repositoryKeys } from "./repository.ts";

/** The agents whose own command line can judge, in the order in which they are suggested. */
export const judgeAgents = ["claude", "codex", "gemini", "opencode", "copilot", "pi"] as const;
export type JudgeAgent = (typeof judgeAgents)[number];

/** Which model judges, and through what. */
export type JudgeChoice =
  | { readonly via: "off" }
  /** An agent's own command line and sign-in; a small model if `id` is null. */
  | { readonly via: JudgeAgent; readonly id: string | null }
  | { readonly via: "anthropic" | "openai"; readonly id: string };

export const judgeForms = `off, ${judgeAgents.join(", ")}, <agent>/<model>, anthropic/<model>, or openai/<model>`;

/** Parses the `judge` setting; null if it is invalid. */
export function parseJudge(word: string): JudgeChoice | null {
  const [via = "", ...rest] = word.split("/");
  const id = rest.join("/");
  if (rest.length > 0 && !/^[\w.:@][\w.:@/-]{0,119}$/.test(id)) return null;
  if (via === "off") return rest.length === 0 ? { via } : null;
  if (via === "anthropic" || via === "openai") return id === "" ? null : { via, id };
  const agent = judgeAgents.find((one) => one === via);
  return agent === undefined ? null : { via: agent, id: id || null };
}

interface Setting<Value> {
  /** Its meaning, in a few words. */
  readonly about: string;
  readonly default: Value;
  readonly check: z.ZodMiniType<Value>;
  /** The values it may have, in words. */
  readonly values: string;
}

function setting<Value>(
  about: string,
  fallback: NoInfer<Value>,
  check: z.ZodMiniType<Value>,
  values: string,
): Setting<Value> {
  return { about, default: fallback, check, values };
}

function numberUpTo(most: number) {
  return z.number().check(z.minimum(0), z.maximum(most));
}

function wholeUpTo(most: number, least = 0) {
  return z.int().check(z.minimum(least), z.maximum(most));
}

const onOrOff = "true or false";
const dollarsPerMillion = z.nullable(z.number().check(z.minimum(0)));

/** Whether goals have duties: not at all, told of, or held for once. */
export const dutySettings = ["off", "say", "block"] as const;
export type DutySetting = (typeof dutySettings)[number];

/** Everything that a person may set. Only a person decides what leaves the machine, and what is spent. */
const allSettings = {
  learn: setting("learn from sessions", true, z.boolean(), onOrOff),
  show: setting("show agents what is known", true, z.boolean(), onOrOff),
  suggestions: setting("lessons suggested at once", 5, wholeUpTo(20, 1), "a number from 1 to 20"),
  prefix: setting(
    "how names of learned skills begin",
    "rl-",
    z.string().check(z.regex(/^(?:[a-z0-9]+-)*$/), z.maxLength(16)),
    "lowercase letters and digits, ending with a hyphen, such as rl-; or nothing",
  ),
  "learn.web": setting(
    "learn from sessions that used the web or MCP servers",
    true,
    z.boolean(),
    `${onOrOff} (sessions that used the web or MCP servers)`,
  ),
  foreground: setting(
    "ask the agent to write a lesson down, once a session",
    "off",
    z.enum(["off", "ask"]),
    "off, or ask (the agent, once a session)",
  ),
  duties: setting(
    "tell of work that taught something and kept nothing",
    "off",
    z.enum(dutySettings),
    "off, say (tell what a goal owes), or block (hold the end of a turn once)",
  ),
  "recall.holdout": setting(
    "share of matches held back, to measure the effect",
    0,
    numberUpTo(0.5),
    "a share from 0 (off) to 0.5 of matches to hold back",
  ),
  judge: setting(
    "who judges what is worth keeping",
    "off",
    z.string().check(z.refine((word) => parseJudge(word) !== null)),
    `${judgeForms} (for requests as files: knack learn --model-dump <folder>)`,
  ),
  "judge.url": setting(
    "address of a judge behind an API; null: its maker's",
    null,
    z.nullable(z.string().check(z.refine(isAddress))),
    "an address such as http://127.0.0.1:11434/v1, without a password or a query in it; or null",
  ),
  "judge.keyEnv": setting(
    "environment variable with its key; null: the usual one",
    null,
    z.nullable(z.string().check(z.regex(/^[A-Za-z_]\w{0,80}$/))),
    "the name of an environment variable, such as ANTHROPIC_API_KEY, not the key itself; or null",
  ),
  "judge.timeoutMs": setting(
    "how long one call may take, in milliseconds",
    90_000,
    wholeUpTo(300_000, 1_000),
    "milliseconds from 1000 to 300000",
  ),
  "judge.budgetDay": setting(
    "most that a day may cost, in US dollars",
    0.5,
    numberUpTo(1_000),
    "US dollars for a day",
  ),
  "judge.budgetCall": setting(
    "most that one call may cost, in US dollars",
    0.5,
    numberUpTo(100),
    "US dollars for one call",
  ),
  "judge.inputUsd": setting(
    "price per million tokens sent; null: Knack's table",
    null,
    dollarsPerMillion,
    "US dollars per million tokens sent, or null",
  ),
  "judge.outputUsd": setting(
    "price per million tokens answered; null: Knack's table",
    null,
    dollarsPerMillion,
    "US dollars per million tokens answered, or null",
  ),
  "team.budgetDay": setting(
    "most that comparing a team's lessons may cost in a day, for all its workers together",
    2,
    numberUpTo(10_000),
    "US dollars for a day; each worker's person pays from judge.budgetDay",
  ),
  "loop.budget": setting(
    "most that one run of the loop may cost",
    5,
    numberUpTo(1_000),
    "US dollars for one run of knack loop",
  ),
  "loop.budgetDay": setting(
    "most that a day's runs of the loop may cost",
    20,
    numberUpTo(10_000),
    "US dollars for a day, beside judge.budgetDay",
  ),
  "loop.budgetCall": setting(
    "most that one worker of the loop may cost",
    1,
    numberUpTo(100),
    "US dollars for one worker",
  ),
  "loop.workerMinutes": setting(
    "how long one worker of the loop may take",
    30,
    numberUpTo(1_440),
    "minutes for one worker",
  ),
  "loop.spans": setting(
    "where runs of the loop are told as OpenTelemetry spans; null: nowhere",
    null,
    z.nullable(z.string().check(z.refine(isNear))),
    "a file such as /home/me/spans.jsonl, an address of this machine such as http://127.0.0.1:4318, or null",
  ),
  review: setting(
    "reviews in the background",
    "off",
    z.enum(reviewModes),
    "off, suggest (a review leaves proposals: knack review inbox), or auto (it also publishes drafts and patches of learned skills)",
  ),
  "review.calls": setting(
    "tool calls between two reviews, at least",
    15,
    wholeUpTo(10_000, 1),
    "tool calls between two reviews, at least",
  ),
  "review.minutes": setting(
    "minutes between two reviews, at least",
    30,
    numberUpTo(10_080),
    "minutes between two reviews",
  ),
  "review.perDay": setting("reviews in a day, at most", 12, wholeUpTo(200), "reviews in a day, at most"),
  "review.budget": setting(
    "most that one review may cost, in US dollars",
    0.5,
    numberUpTo(100),
    "US dollars for one review; judge.budgetDay limits a day",
  ),
  "review.timeoutMs": setting(
    "how long a review may take, in milliseconds",
    120_000,
    wholeUpTo(300_000, 1_000),
    "milliseconds from 1000 to 300000",
  ),
};

type Values<List> = { readonly [Key in keyof List]: List[Key] extends Setting<infer Value> ? Value : never };
export type Settings = Values<typeof allSettings>;
export const settingKeys = Object.keys(allSettings) as (keyof Settings)[];

/** The meaning of a setting, and the values it may have. */
export function describeSetting(key: keyof Settings): { readonly about: string; readonly values: string } {
  const { about, values } = allSettings[key];
  return { about, values };
}

/** An address without a password in it, or a query, which may be one and could not be extended. */
function isAddress(word: string): boolean {
  const { protocol, username, password } = URL.canParse(word) ? new URL(word) : new URL("none:");
  return /^https?:$/.test(protocol) && username === "" && password === "" && !/[?#]/.test(word);
}

/** A file by its full path, or an address that does not lead off this machine. */
function isNear(word: string): boolean {
  const { hostname } = URL.canParse(word) ? new URL(word) : { hostname: "" };
  return isAbsolute(word) || (isAddress(word) && /^(?:127\.0\.0\.1|localhost|\[::1\])$/.test(hostname));
}

type UserFile = Partial<Settings> & {
  readonly projects?: Readonly<Record<string, Partial<Pick<Settings, "learn" | "show" | "duties">>>>;
};

function createShape(list: Readonly<Record<string, Setting<never>>>) {
  return Object.fromEntries(Object.entries(list).map(([key, { check }]) => [key, z.optional(check)]));
}

const namedSchema = z.strictObject({
  ...{ learn: z.optional(z.boolean()), show: z.optional(z.boolean()) },
  duties: z.optional(z.enum(dutySettings)),
});
const userSchema = z.strictObject({
  ...createShape(allSettings as never),
  projects: z.optional(z.record(z.string(), namedSchema)),
}) as z.ZodMiniType<UserFile>;

/** The settings that hold in a project, or outside of any: the person's, less what the repository asks to leave. */
export function resolveSettings(home: Home, root: string | null, id: string | null = null): Settings {
  const user = readUserFile(home);
  const wish = root === null ? null : readRepositoryWish(root);
  if (wish?.broken)
    throw new KnackError("CONFIG_BROKEN", wish.broken, { hint: "Fix the file, or delete it." });
  const named = [id, root].map((name) => (name === null ? undefined : user.projects?.[name]));
  const decide = (key: "learn" | "show") =>
    wish?.[key] === false ? false : (named.find((one) => one?.[key] !== undefined)?.[key] ?? user[key]);
  // What a repository asks for is no part of it: it cannot turn duties on.
  const duties = named.find((one) => one?.duties !== undefined)?.duties ?? user.duties;
  const given: Readonly<Record<string, unknown>> = {
    ...{ ...user, learn: decide("learn"), show: decide("show"), duties },
  };
  return Object.fromEntries(
    settingKeys.map((key) => [key, given[key] ?? allSettings[key].default]),
  ) as Settings;
}

/** The person's recall settings, and the projects that differ. An unreadable file counts as off. */
export function recallSettings(
  home: Home,
): Pick<Settings, "show" | "foreground" | "duties"> & RecallExceptions {
  const read = attempt(() => resolveSettings(home, null));
  if (read instanceof KnackError)
    return { show: false, exceptions: [], foreground: "off", duties: "off", dutiesIn: {}, holdout: 0 };
  const { show, foreground, duties, "recall.holdout": holdout } = read;
  const projects = Object.entries(readUserFile(home).projects ?? {});
  const exceptions = projects.flatMap(([name, one]) => ((one.show ?? show) !== show ? name : []));
  const others = projects.flatMap(([name, one]) => (one.duties ? [[name, one.duties] as const] : []));
  return { show, exceptions, foreground, duties, dutiesIn: Object.fromEntries(others), holdout };
}

interface RecallExceptions {
  readonly exceptions: string[];
  readonly holdout: number;
  /** The person's settings for single projects, by id or folder. */
  readonly dutiesIn: Readonly<Record<string, DutySetting>>;
}

/** Whether a project's goals have duties. Where nothing is learned, or a settings file cannot be read, none. */
export function readDutySetting(home: Home, { root, id }: { root: string | null; id: string }): DutySetting {
  const read = attempt(() => resolveSettings(home, root, id));
  return read instanceof KnackError || !read.learn ? "off" : read.duties;
}

/** Why a project's sessions are not learned from; null when they are. An unreadable file counts as off. */
export function whyNotLearn(home: Home, root: string | null, id: string): string | null {
  const read = attempt(() => resolveSettings(home, root, id));
  if (read instanceof KnackError) return read.message;
  if (read.learn) return null;
  const isProject = root !== null && !readRepositoryWish(root).learn;
  return isProject ? "learning is off in this project" : `learning is off (${home.config})`;
}

/** Errors in the settings files of the person and of these projects. */
export function findBrokenSettings(home: Home, roots: Iterable<string | null>): string[] {
  const own = attempt(() => readUserFile(home));
  const others = [...new Set(roots)].flatMap((root) =>
    root === null ? [] : (readRepositoryWish(root).broken ?? []),
  );
  return [...(own instanceof KnackError ? [own.message] : []), ...others];
}

/** The result, or the `KnackError` thrown. */
function attempt<T>(read: () => T): T | KnackError {
  try {
    return read();
  } catch (error) {
    if (error instanceof KnackError) return error;
    throw error;
  }
}

/** Settings in the person's file, or what a repository's asks to leave. */
export function readSettingsFile(home: Home, root: string | null): Partial<Settings> {
  if (root !== null) {
    const { learn, show } = readRepositoryWish(root);
    return { ...(learn ? {} : { learn }), ...(show ? {} : { show }) };
  }
  const { projects: _, ...rest } = readUserFile(home);
  return rest;
}

/** Writes one setting; the value is given as a person types it. */
export function writeSetting(
  home: Home,
  root: string | null,
  key: keyof Settings,
  value: string,
  dryRun = false,
): { path: string; value: unknown } {
  if (root !== null && !repositoryKeys.some((one) => one === key))
    throw new KnackError("WRONG_USAGE", `A project cannot set ${key}.`, {
      hint: `For yourself: knack config set ${key} ${value}`,
    });
  const path = root === null ? home.config : projectConfig(root);
  const typed = key === "prefix" || key === "judge" ? value : parseValue(value);
  const { check, values }: Pick<Setting<unknown>, "values"> & { check: z.ZodMiniType } = allSettings[key];
  if (!z.safeParse(check, typed).success) {
    // The value may be a secret key typed by mistake; do not print it.
    const what = key.startsWith("judge") ? "value" : `value "${value}"`;
    throw new KnackError("WRONG_USAGE", `Invalid ${what} for ${key}.`, { hint: `Use ${values}` });
  }
  if (root !== null) writeRepositorySetting(root, key, typed, dryRun);
  else {
    const before = readUserFile(home);
    if (!dryRun) writeJson(resolveLink(path), { ...before, [key]: typed }, 0o600);
  }
  return { path, value: typed };
}

/** On is how it is without a word in the file. Others' entries count for nothing, and stay. */
function writeRepositorySetting(root: string, key: string, value: unknown, dryRun: boolean): void {
  const path = projectConfig(root);
  if (!isInsideFolder(path, root))
    throw new KnackError("CONFIG_BROKEN", `A link leads from ${path} out of the repository.`, {
      hint: "Remove the link; nothing was written.",
    });
  const { broken } = readRepositoryWish(root);
  if (broken) throw new KnackError("CONFIG_BROKEN", broken, { hint: "Fix the file, or delete it." });
  const text = readPlainText(path, { within: root });
  const { [key]: _, ...rest } = text === null ? {} : (JSON.parse(text) as Record<string, unknown>);
  if (!dryRun) writeJson(path, value === false ? { ...rest, [key]: false } : rest, 0o644);
}

function writeJson(path: string, value: object, mode: number): void {
  mkdirSync(dirname(path), { recursive: true, ...(mode === 0o600 ? { mode: 0o700 } : {}) });
  writeFileAtomically(path, [Buffer.from(`${JSON.stringify(value, null, 2)}\n`)], mode);
}

/** A person may keep their settings elsewhere, with a link to them; the link stays. */
function resolveLink(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

function parseValue(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function readUserFile({ config: path }: Home): UserFile {
  const text = readText(path);
  if (text === null) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw brokenFile(path, `it is not JSON (${errorMessage(cause)})`, cause);
  }
  const parsed = z.safeParse(userSchema, value);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  const place = first?.path.join(".") || "the top";
  const unknown = first?.code === "unrecognized_keys" ? first.keys.join(", ") : null;
  throw brokenFile(path, unknown === null ? `${place}: ${first?.message}` : `unknown key "${unknown}"`);
}

function readText(path: string): string | null {
  try {
    return readPlainFile(path).toString("utf8");
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
