import { abridge, type Event, shorten } from "../core/event.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { mask, maskStart } from "../core/redact/span.ts";
import { findSecrets, redact } from "../core/redact.ts";
import type { Field, Redactor } from "./ports.ts";

/** A text on its way through the redactor: the fields it gave, and how their answers become one text again. */
interface Errand {
  readonly fields: readonly Field[];
  back(texts: readonly string[]): void;
}

/**
 * Takes the secrets out of events and cuts them to the length that is kept. Scrubbed first, cut after: a secret that
 * the cut would go through is whole when it is looked for.
 */
export async function scrubEvents(
  redactor: Redactor,
  events: readonly Event[],
  max: number,
): Promise<Event[]> {
  const short = shortScrubber();
  const clean = events.map((event) => ({
    ...event,
    cwd: short(event.cwd),
    tool: short(event.tool),
    callId: short(event.callId),
    files: event.files.map(short),
    ...(event.skill === undefined ? {} : { skill: short(event.skill) }),
  }));
  const errands = clean.flatMap((event) => errandsOf(event, max));
  await run(redactor, errands);
  clean.forEach((event, at) => {
    if (event.command?.includes(maskStart)) maskIn(event, secretsIn(events[at]?.command ?? ""));
  });
  return clean;
}

/** What a command was given as a secret. Short or plain words may be anything, so only what looks made up counts. */
function secretsIn(command: string): { readonly value: string; readonly masked: string }[] {
  return findSecrets(command).flatMap((span) => {
    const value = command.slice(span.start, span.end);
    const made = /^\S{8,200}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value);
    return made ? [{ value, masked: mask(value, [{ ...span, start: 0, end: value.length }]) }] : [];
  });
}

/** Takes out of what a call printed, too, what its command was given as a secret: programs repeat their options. */
function maskIn(event: Draft, secrets: readonly { readonly value: string; readonly masked: string }[]): void {
  const without = (text: string) =>
    secrets.reduce(
      (rest, { value, masked }) => (rest.includes(value) ? rest.replaceAll(value, masked) : rest),
      text,
    );
  event.text = without(event.text);
  if (event.command !== null) event.command = without(event.command);
  if (event.input !== null) event.input = inTexts(event.input, without) as JsonObject;
}

function inTexts(value: Json | undefined, change: (text: string) => string): Json | undefined {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((one) => inTexts(one, change) ?? null);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inTexts(one, change)]));
}

/** Agents' ids, and texts that hold neither a long run of word characters nor a sign that goes before a value. */
function isPlain(text: string): boolean {
  return /^(?:toolu|call|fc|item)_\w+$|^[0-9a-f-]{36}$/.test(text) || !/[=:@?]|[\w-]{20}/.test(text);
}

/** Takes the secrets out of names, ids and paths, of which the same few come again and again. */
export function shortScrubber(): <T extends string | null>(text: T) => T {
  const known = new Map<string, string>();
  return <T extends string | null>(text: T): T => {
    if (text === null || text === "") return text;
    const found = known.get(text);
    if (found !== undefined) return found as T;
    const clean = isPlain(text) ? text : tidy(redact(text));
    known.set(text, clean);
    return clean as T;
  };
}

/** Takes the secrets out of every text in a JSON value. */
export async function scrubJson(redactor: Redactor, value: Json, max: number): Promise<Json> {
  const box: { value: Json } = { value };
  await run(
    redactor,
    errandsOfJson(value, "", max, (clean) => {
      box.value = clean;
    }),
  );
  return box.value;
}

/** The same of any plain object, at whatever length. */
export async function scrubAll<Told extends object>(redactor: Redactor, told: Told): Promise<Told> {
  return (await scrubJson(redactor, told as Json, Number.POSITIVE_INFINITY)) as Told;
}

/** Text as a database keeps it: without the zero character and halves of characters. */
function tidy(text: string): string {
  return (text.includes("\0") ? text.replaceAll("\0", "\uFFFD") : text).toWellFormed();
}

async function run(redactor: Redactor, errands: readonly Errand[]): Promise<void> {
  const texts = await redactor.scrub(errands.flatMap((errand) => errand.fields));
  let at = 0;
  for (const { fields, back } of errands) {
    back(texts.slice(at, at + fields.length));
    at += fields.length;
  }
}

type Draft = { -readonly [K in keyof Event]: Event[K] };

function errandsOf(event: Draft, max: number): Errand[] {
  const errands: Errand[] = [];
  if (event.text !== "")
    errands.push(
      errand("", event.text, max, (text) => {
        event.text = text;
      }),
    );
  const { command } = event;
  if (command !== null)
    errands.push(
      errand("", command, max, (text) => {
        event.command = text;
      }),
    );
  const { input } = event;
  if (input) {
    const keep = (clean: Json) => {
      event.input = clean as JsonObject;
    };
    errands.push(...errandsOfJson(input, "", roomForEach(input, max), keep));
  }
  return errands;
}

/** How long each text of an input may be, so that all of them together stay near the limit. */
function roomForEach(input: JsonObject, max: number): number {
  const lengths: number[] = [];
  const measure = (value: Json | undefined): void => {
    if (typeof value === "string") lengths.push(value.length);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(measure);
  };
  measure(input);
  const total = lengths.reduce((sum, length) => sum + length, 0);
  return total <= max ? max : Math.max(200, Math.floor(max / lengths.length));
}

/** No secret is longer: a private key of 4,096 bits has 3,300 characters. */
const longestSecret = 4_096;

/** Scrubs the part of a text that can be kept, and past the cut as much as a secret that it goes through can take. */
function errand(label: string, text: string, max: number, set: (text: string) => void): Errand {
  const window = Math.ceil(max * 0.6) + longestSecret;
  if (text.length <= window * 2) {
    return { fields: [{ label, text }], back: ([clean]) => set(tidy(shorten(clean ?? "", max))) };
  }
  const fields = [
    { label, text: text.slice(0, window) },
    { label: "", text: text.slice(-window) },
  ];
  return { fields, back: ([head = "", tail = ""]) => set(tidy(abridge(head, tail, text.length, max))) };
}

/** One errand for each text in a value, and one after them that puts the value together. */
function errandsOfJson(value: Json, label: string, max: number, set: (clean: Json) => void): Errand[] {
  if (typeof value === "string") return value === "" ? [] : [errand(label, value, max, set)];
  if (Array.isArray(value)) {
    const clean: Json[] = [...value];
    const errands = clean.flatMap((one, at) =>
      errandsOfJson(one, label, max, (made) => {
        clean[at] = made;
      }),
    );
    set(clean);
    return errands;
  }
  if (!isObject(value)) return [];
  const clean: Record<string, Json | undefined> = {};
  const errands = Object.entries(value).flatMap(([key, one]) => {
    // A key may be anything too, a whole URL for instance.
    const name = key.length < 16 ? key : redact(key);
    clean[name] = one;
    return one === undefined
      ? []
      : errandsOfJson(one, key, max, (made) => {
          clean[name] = made;
        });
  });
  set(clean);
  return errands;
}
