import { isObject, type Json, type JsonObject } from "../base/index.ts";
import { abridge, type Event, shorten } from "../records/index.ts";
import { secretUnder } from "./assignments.ts";
import { recoverSecrets, SessionSecrets } from "./known.ts";
import { dropPrivate } from "./private.ts";
import { findSecrets, maxRounds, redact, redactNamed } from "./redact.ts";
import { shownSecrets } from "./shown.ts";
import { isSecretKey } from "./tables.ts";
import { type CharRun, longRuns } from "./telling.ts";
import { isPlaceholder, mask, maskStart, type Span } from "./values.ts";

/** A text to redact, and the name of its field (`password`, `Authorization`), which often decides. */
export interface TextField {
  readonly label: string;
  readonly text: string;
}

/** Masks secrets in text. Redacting a redacted text changes nothing. */
export interface Redactor {
  /** Returns one text for each field, in order. May be called concurrently. */
  scrub(fields: readonly TextField[]): Promise<string[]>;
  /** Stops its thread, if it has one. May be called twice. */
  close(): Promise<void>;
}

/** Characters per batch: secretlint costs something per call, and its rules slow down on long texts. */
const batchChars = 1 << 20;

/** How far two parts of one long text overlap; no secret that secretlint knows is longer. */
const overlapChars = 16 << 10;

/** Separates fields. No pattern matches across a NUL. */
const separator = "\n\0\n";

/**
 * Combines Knack's own patterns with secretlint's rules. If secretlint cannot be loaded or fails, the own patterns
 * still run; its errors are dropped because they may quote a secret.
 */
export function createRedactor(): Redactor {
  let loading: Promise<Scanner> | undefined;
  return {
    async scrub(fields) {
      loading ??= loadScanner();
      return scrubRounds(fields, await loading, maxRounds);
    },
    close: async () => {},
  };
}

/** Redacts fields, and redacts those that changed again: a mask changes its surroundings. */
async function scrubRounds(fields: readonly TextField[], scan: Scanner, rounds: number): Promise<string[]> {
  const texts: string[] = [];
  for (const batch of splitBatches(fields))
    for (const text of await scrubBatch(batch, scan)) texts.push(text);
  const changed = fields.flatMap(({ label, text: before }, i) => {
    const text = texts[i] ?? "";
    return text === before ? [] : [{ label, text, i }];
  });
  if (changed.length === 0 || rounds === 1) return texts;
  const again = await scrubRounds(changed, scan, rounds - 1);
  for (const [k, { i }] of changed.entries()) texts[i] = again[k] ?? "";
  return texts;
}

function* splitBatches(fields: readonly TextField[]): Generator<readonly TextField[]> {
  let [start, size] = [0, 0];
  for (const [i, { label, text }] of fields.entries()) {
    if (size > 0 && size + text.length > batchChars) {
      yield fields.slice(start, i);
      [start, size] = [i, 0];
    }
    size += label.length + text.length + separator.length;
  }
  if (start < fields.length) yield fields.slice(start);
}

async function scrubBatch(fields: readonly TextField[], scan: Scanner): Promise<string[]> {
  const { text, places } = joinFields(fields);
  const runs = longRuns(text);
  const perField = assign([...findSecrets(text, runs), ...(await scanSuspects(text, runs, scan))], places);
  return fields.map(({ label, text }, i) => {
    const whole = secretUnder(label, text);
    return mask(text, whole === undefined ? (perField[i] ?? []) : [whole]);
  });
}

/** A field in the joined text: `from` includes its label, `start` and `end` are its text. */
interface FieldSpan {
  readonly from: number;
  readonly start: number;
  readonly end: number;
}

function joinFields(fields: readonly TextField[]): { text: string; places: FieldSpan[] } {
  const places: FieldSpan[] = [];
  const joined: string[] = [];
  let from = 0;
  for (const { label, text } of fields) {
    const start = from + (label === "" ? 0 : label.length + 2);
    places.push({ from, start, end: start + text.length });
    joined.push(label === "" ? text : `${label}: ${text}`, separator);
    from = start + text.length + separator.length;
  }
  return { text: joined.join(""), places };
}

/** Splits spans by the field they start in, relative to its start and cut at its end. */
function assign(spans: readonly Span[], places: readonly FieldSpan[]): Span[][] {
  const perField: Span[][] = places.map(() => []);
  let field = 0;
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    while (field + 1 < places.length && span.start >= (places[field + 1]?.from ?? 0)) field++;
    const place = places[field];
    if (place === undefined) continue;
    const start = Math.max(span.start, place.start) - place.start;
    const end = Math.min(span.end, place.end) - place.start;
    if (start < end) perField[field]?.push({ start, end, kind: span.kind });
  }
  return perField;
}

/**
 * Gives secretlint only the neighbourhood of long runs of word characters: every token it knows has one. The own
 * patterns find everything else it knows (keys, passwords in URLs).
 */
async function scanSuspects(text: string, runs: readonly CharRun[], scan: Scanner): Promise<Span[]> {
  const suspects = findSuspects(text, runs);
  const joined = joinFields(suspects.map(({ start, end }) => ({ label: "", text: text.slice(start, end) })));
  const found = assign(await scan(joined.text), joined.places);
  return suspects.flatMap((suspect, i) => (found[i] ?? []).map((span) => moveSpan(span, suspect.start)));
}

function moveSpan({ start, end, kind }: Span, by: number): Span {
  return { start: start + by, end: end + by, kind };
}

/** Ids, hashes and words: long runs that no rule takes for a token. */
const harmless = /^(?:[0-9a-f-]+|[0-9A-F-]+|[a-z_-]+|[A-Z_-]+|(?:toolu|msg|call|req|rs|fc)_\w+)$/;

/** Characters of context on both sides of a run: the rules look at its neighbours. */
const margin = 16;

function findSuspects(text: string, runs: readonly CharRun[]): CharRun[] {
  const suspects: CharRun[] = [];
  for (const { start, end } of runs) {
    if (harmless.test(text.slice(start, end))) continue;
    const last = suspects.at(-1);
    const near = last !== undefined && start - margin <= last.end ? suspects.pop() : undefined;
    suspects.push({
      start: near?.start ?? Math.max(0, start - margin),
      end: Math.min(text.length, end + margin),
    });
  }
  return suspects;
}

/** Finds secrets in a text of any length; never throws. */
type Scanner = (text: string) => Promise<Span[]>;

const ruleName = "@secretlint/secretlint-rule-";

/** Unused rules: `filter-comments` lets a transcript switch rules off, `gcp` reads files by name. */
const leftOut = new Set([`${ruleName}filter-comments`, `${ruleName}gcp`]);

/** Runs the rules without `@secretlint/core`: its profiler takes time quadratic in the number of calls. */
async function loadScanner(): Promise<Scanner> {
  try {
    const { rules } = await import("@secretlint/secretlint-rule-preset-recommend");
    const inUse = rules.filter((rule) => !leftOut.has(rule.meta.id));
    return async (text) => {
      const spans: Span[] = [];
      for (let offset = 0; offset < text.length; offset += batchChars) {
        const part = text.slice(offset, offset + batchChars + overlapChars);
        for (const span of await runRules(inUse, part)) spans.push(moveSpan(span, offset));
      }
      return spans;
    };
  } catch {
    return async () => [];
  }
}

type Rules = typeof import("@secretlint/secretlint-rule-preset-recommend")["rules"];
type RuleContext = Parameters<Rules[number]["create"]>[0];
type SecretReport = Parameters<RuleContext["report"]>[0];
type RuleSource = Parameters<NonNullable<ReturnType<Rules[number]["create"]>["file"]>>[0];

async function runRules(rules: Rules, content: string): Promise<Span[]> {
  const spans: Span[] = [];
  // The rules read only the content and the file name.
  const source = { content, filePath: "transcript.txt", ext: ".txt", contentType: "text" } as RuleSource;
  for (const rule of rules) {
    const report = (found: SecretReport) => spans.push(...extractSecret(found, content, rule.meta.id));
    try {
      await rule.create({ ...quietContext, report }, {}).file?.(source);
    } catch {
      // The own patterns have run already, and the error may quote the text.
    }
  }
  return spans;
}

const quietContext: Omit<RuleContext, "report"> = {
  sharedOptions: {},
  ignore: () => {},
  // Messages would quote the secret; `data` holds what was found.
  createTranslator: () => (messageId, data) => ({ message: "", messageId: String(messageId), data }),
};

/** Locates the secret itself: some rules report a wider range, or one shifted by the name before it. */
function extractSecret({ message, range }: SecretReport, content: string, ruleId: string): Span[] {
  const found = Object.values(message.data ?? {}).find((value) => typeof value === "string" && value !== "");
  const text = typeof found === "string" ? found : content.slice(...range);
  const start = Math.max(content.indexOf(text, range[0]), range[0]);
  const url = /^[\w+.-]+:\/\/[^:@/\s]*:([^@\s]+)@/.exec(text);
  const secret = url?.[1] ?? text;
  if (isPlaceholder(secret)) return [];
  const from = start + (url === null ? 0 : url[0].length - 1 - secret.length);
  return [{ start: from, end: from + secret.length, kind: ruleId.slice(ruleName.length) }];
}

/** Longer than any secret: a private key of 4,096 bits has 3,300 characters. */
const longestSecret = 4_096;

/** Events of one session, and the secrets that it has shown so far. */
export interface SessionEvents {
  readonly events: readonly Event[];
  readonly secrets: SessionSecrets;
}

/** Redacts the events of one session and cuts their texts to `max` characters. */
export async function scrubEvents(
  redactor: Redactor,
  events: readonly Event[],
  max: number,
): Promise<Event[]> {
  return (await scrubSessions(redactor, [{ events, secrets: new SessionSecrets("") }], max))[0] ?? [];
}

/**
 * Redacts events and cuts their texts to `max` characters. Redacts first and cuts after, so that a secret at the cut
 * is still whole when it is searched for. A secret found anywhere in a session is masked in all of its events.
 */
export async function scrubSessions(
  redactor: Redactor,
  sessions: readonly SessionEvents[],
  max: number,
): Promise<Event[][]> {
  const queue = createQueue();
  const later = sessions.map(({ events, secrets }) => {
    queue.begin(secrets);
    secrets.learnShown(shownSecrets(events));
    return events.map(({ text, command, input }) => {
      const ran = command === null ? null : queue.add("", command, max);
      // Most inputs are the command once more.
      const known = ran && command !== null ? { text: command, clean: ran } : null;
      return {
        text: queue.add("", text, max),
        command: ran ?? (() => null),
        input: input ? queue.addJson(input, roomForEach(input, max), known) : () => input,
      };
    });
  });
  await queue.run(redactor);
  const short = shortScrubber();
  return sessions.map(({ events, secrets }, at) => {
    const clean = <T extends string | null>(text: T): T => secrets.cleanText(short(text) ?? "") as T;
    const name = <T extends string | null>(text: T): T => (text === null ? text : clean(text));
    return (later[at] ?? []).map(({ text, command, input }, n) => {
      const event = events[n] as Event;
      return {
        ...event,
        ...{ cwd: name(event.cwd), tool: name(event.tool), callId: name(event.callId) },
        files: event.files.map(name),
        ...(event.skill === undefined ? {} : { skill: name(event.skill) }),
        ...{ text: text(), command: command(), input: input() as JsonObject | null },
      };
    });
  });
}

/** Masks what a session has shown to be secret in events that were redacted before it did. */
export function cleanEvents(events: readonly Event[], secrets: SessionSecrets): readonly Event[] {
  if (secrets.isEmpty) return events;
  const clean = (text: string) => secrets.cleanText(text);
  return events.map((event) => ({
    ...event,
    text: clean(event.text),
    command: event.command === null ? null : clean(event.command),
    input: event.input === null ? null : (mapTexts(event.input, "", clean, clean) as JsonObject),
  }));
}

/** Rebuilds a JSON value with each text changed; `label` is the key that the text is stored under. */
function mapTexts(
  value: Json | undefined,
  label: string,
  change: (text: string, label: string) => string,
  changeKey = (key: string, _parent: string) => key,
): Json | undefined {
  if (typeof value === "string") return change(value, label);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, label, change, changeKey) ?? null);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [changeKey(key, label), mapTexts(one, key, change, changeKey)]),
  );
}

function learnFrom(secrets: SessionSecrets, text: string, clean: string): void {
  if (text !== clean) secrets.learn(recoverSecrets(text, clean));
}

/** A key can hold a secret too: it may be a whole URL, or the token that its parent maps to a user. */
function cleanKey(key: string, parent: string): string {
  if (isSecretKey(parent, key)) return `${maskStart}key]`;
  return key.length < 8 ? key : redact(key);
}

/** Redacts every text and key of a JSON value with Knack's own patterns, without what is private, and cuts each to `max` characters. */
export function redactJson(value: Json, max: number): Json {
  const clean = (text: string, label: string) => shorten(redactNamed(label, dropPrivate(text)), max);
  return mapTexts(value, "", clean, cleanKey) ?? null;
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

/** A text that is in the queue already. */
interface KnownText {
  readonly text: string;
  readonly clean: () => string;
}

/** Collects texts so that one call redacts them all; what `add` returns reads the clean text after `run`. */
function createQueue() {
  const fields: TextField[] = [];
  const groups: { readonly from: number; readonly secrets: SessionSecrets }[] = [];
  let clean: string[] = [];
  const begin = (secrets: SessionSecrets): void => {
    groups.push({ from: fields.length, secrets });
  };
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
  const addJson = (value: Json, max: number, known: KnownText | null = null): (() => Json) => {
    const texts: (() => string)[] = [];
    mapTexts(value, "", (text, label) => {
      texts.push(text === known?.text && text.length <= max ? known.clean : add(label, text, max));
      return text;
    });
    // Both walks visit the texts in the same order. A key can hold a secret too: it may be a whole URL.
    const next = texts.values();
    const secrets = groups.at(-1)?.secrets;
    const clean = (key: string, parent: string) => {
      const known = cleanKey(key, parent);
      return secrets ? secrets.cleanText(known) : known;
    };
    return () => mapTexts(value, "", () => next.next().value?.() ?? "", clean) as Json;
  };
  const run = async (redactor: Redactor): Promise<void> => {
    clean = await redactor.scrub(fields);
    groups.forEach(({ from, secrets }, g) => {
      const to = groups[g + 1]?.from ?? fields.length;
      for (let i = from; i < to; i++) learnFrom(secrets, fields[i]?.text ?? "", clean[i] ?? "");
      if (!secrets.isEmpty) for (let i = from; i < to; i++) clean[i] = secrets.cleanText(clean[i] ?? "");
    });
  };
  return { begin, add, addJson, run };
}
