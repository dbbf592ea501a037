import { isObject, type Json, type JsonObject } from "../base/index.ts";
import { abridge, type Event, shorten } from "../records/index.ts";
import { findSecrets, redact } from "./redact/redact.ts";
import { mask, maskStart } from "./redact/span.ts";
import type { Redactor, TextField } from "./secretlint.ts";

/** Longer than any secret: a private key of 4,096 bits has 3,300 characters. */
const longestSecret = 4_096;

/**
 * Redacts events and cuts their texts to `max` characters. Redacts first and cuts after, so that a secret at the cut
 * is still whole when it is searched for.
 */
export async function scrubEvents(
  redactor: Redactor,
  events: readonly Event[],
  max: number,
): Promise<Event[]> {
  const short = shortScrubber();
  const queue = createQueue();
  const later = events.map((event) => ({
    text: queue.add("", event.text, max),
    command: event.command === null ? null : queue.add("", event.command, max),
    input: event.input ? queue.addJson(event.input, roomForEach(event.input, max)) : null,
  }));
  await queue.run(redactor);
  return events.map((event, at) => {
    const { text, command, input } = later[at] as (typeof later)[number];
    const clean: Event = {
      ...event,
      cwd: short(event.cwd),
      tool: short(event.tool),
      callId: short(event.callId),
      files: event.files.map(short),
      ...(event.skill === undefined ? {} : { skill: short(event.skill) }),
      text: text(),
      command: command === null ? null : command(),
      input: input === null ? event.input : (input() as JsonObject),
    };
    return clean.command?.includes(maskStart) ? maskCommandSecrets(clean, event.command ?? "") : clean;
  });
}

/** Masks the command's secrets in the call's input and output too: programs print their options. */
function maskCommandSecrets(event: Event, command: string): Event {
  const secrets = findSecrets(command).flatMap((span) => {
    const value = command.slice(span.start, span.end);
    // Short or plain words may mean anything; only values that look generated are replaced elsewhere.
    const isGenerated = /^\S{8,200}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value);
    return isGenerated ? [{ value, masked: mask(value, [{ ...span, start: 0, end: value.length }]) }] : [];
  });
  const without = (text: string) =>
    secrets.reduce((rest, { value, masked }) => rest.replaceAll(value, () => masked), text);
  return {
    ...event,
    text: without(event.text),
    command: event.command === null ? null : without(event.command),
    input: event.input === null ? null : (mapTexts(event.input, "", without) as JsonObject),
  };
}

/** Rebuilds a JSON value with each text changed; `label` is the key that the text is stored under. */
function mapTexts(
  value: Json | undefined,
  label: string,
  change: (text: string, label: string) => string,
  changeKey = (key: string) => key,
): Json | undefined {
  if (typeof value === "string") return change(value, label);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, label, change, changeKey) ?? null);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [changeKey(key), mapTexts(one, key, change, changeKey)]),
  );
}

/** Agents' ids, and texts with neither a long run of word characters nor a sign that precedes a value. */
function isPlain(text: string): boolean {
  return /^(?:toolu|call|fc|item)_\w+$|^[0-9a-f-]{36}$/.test(text) || !/[=:@?]|[\w-]{20}/.test(text);
}

/** Redacts names, ids and paths; caches, because the same few repeat. */
export function shortScrubber(): <T extends string | null>(text: T) => T {
  const known = new Map<string, string>();
  return <T extends string | null>(text: T): T => {
    if (text === null || text === "") return text;
    const clean = known.get(text) ?? (isPlain(text) ? text : tidy(redact(text)));
    known.set(text, clean);
    return clean as T;
  };
}

/** Redacts every text in a JSON value and cuts it to `max` characters. */
export async function scrubJson(redactor: Redactor, value: Json, max: number): Promise<Json> {
  const queue = createQueue();
  const clean = queue.addJson(value, max);
  await queue.run(redactor);
  return clean();
}

/** Redacts every text in a plain object, at any length. */
export async function scrubAll<Value extends object>(redactor: Redactor, value: Value): Promise<Value> {
  return (await scrubJson(redactor, value as Json, Number.POSITIVE_INFINITY)) as Value;
}

/** Makes text storable: a database accepts neither NUL nor lone surrogates. */
function tidy(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}

/** How long each text of an input may be, so that all of them together stay near the limit. */
function roomForEach(input: JsonObject, max: number): number {
  const lengths: number[] = [];
  mapTexts(input, "", (text) => {
    lengths.push(text.length);
    return text;
  });
  const total = lengths.reduce((sum, length) => sum + length, 0);
  return total <= max ? max : Math.max(200, Math.floor(max / lengths.length));
}

/** Collects texts so that one call redacts them all; what `add` returns reads the clean text after `run`. */
function createQueue() {
  const fields: TextField[] = [];
  let clean: readonly string[] = [];
  const add = (label: string, text: string, max: number): (() => string) => {
    if (text === "") return () => "";
    const at = fields.length;
    // Only what can be kept is redacted, plus the length of a secret past the cut.
    const window = Math.ceil(max * 0.6) + longestSecret;
    if (text.length <= window * 2) {
      fields.push({ label, text });
      return () => tidy(shorten(clean[at] ?? "", max));
    }
    fields.push({ label, text: text.slice(0, window) }, { label: "", text: text.slice(-window) });
    return () => tidy(abridge(clean[at] ?? "", clean[at + 1] ?? "", text.length, max));
  };
  const addJson = (value: Json, max: number): (() => Json) => {
    const texts: (() => string)[] = [];
    mapTexts(value, "", (text, label) => {
      texts.push(add(label, text, max));
      return text;
    });
    // Both walks visit the texts in the same order. A key can hold a secret too: it may be a whole URL.
    const next = texts.values();
    const cleanKey = (key: string) => (key.length < 16 ? key : redact(key));
    return () => mapTexts(value, "", () => next.next().value?.() ?? "", cleanKey) as Json;
  };
  const run = async (redactor: Redactor): Promise<void> => {
    clean = await redactor.scrub(fields);
  };
  return { add, addJson, run };
}
