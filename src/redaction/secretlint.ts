import { secretUnder } from "../core/redact/assignments.ts";
import { isPlaceholder } from "../core/redact/looks.ts";
import { longRuns, type Run } from "../core/redact/runs.ts";
import { mask, type Span } from "../core/redact/span.ts";
import { findSecrets, maxRounds } from "../core/redact.ts";
import type { Field, Redactor } from "../engine/ports.ts";

/** Characters looked at in one go: secretlint has a cost for each call, and rules that slow down on long texts. */
const batchChars = 1 << 20;

/** How far two parts of one long text overlap; no secret that secretlint knows is longer. */
const overlapChars = 16 << 10;

/** Stands between fields. No pattern reads past it: neither a word nor white space goes on beyond a NUL. */
const separator = "\n\0\n";

/**
 * A redactor that joins Knack's own patterns and secretlint's rules. Own patterns always run; where secretlint
 * cannot be loaded or fails, they are all that runs, because no secret may depend on its health and none may
 * reach an error message.
 */
export function createRedactor(): Redactor {
  let loading: Promise<Scanner> | undefined;
  return {
    async scrub(fields) {
      loading ??= loadScanner();
      return scrubAll(fields, await loading, maxRounds);
    },
    close: async () => {},
  };
}

/** Scrubs fields, and those that changed again: a mask changes what stands around it. */
async function scrubAll(fields: readonly Field[], scan: Scanner, rounds: number): Promise<string[]> {
  const batched: string[][] = [];
  for (const batch of batches(fields)) batched.push(await scrubBatch(batch, scan));
  const texts = batched.flat();
  const changed = fields.flatMap(({ label, text }, i) =>
    texts[i] === text ? [] : [{ label, text: texts[i] ?? "", i }],
  );
  if (changed.length === 0 || rounds === 1) return texts;
  const again = await scrubAll(changed, scan, rounds - 1);
  for (const [k, { i }] of changed.entries()) texts[i] = again[k] ?? "";
  return texts;
}

function* batches(fields: readonly Field[]): Generator<readonly Field[]> {
  let start = 0;
  let size = 0;
  for (const [i, { label, text }] of fields.entries()) {
    if (size > 0 && size + text.length > batchChars) {
      yield fields.slice(start, i);
      start = i;
      size = 0;
    }
    size += label.length + text.length + separator.length;
  }
  if (start < fields.length) yield fields.slice(start);
}

async function scrubBatch(fields: readonly Field[], scan: Scanner): Promise<string[]> {
  const { text, places } = joinFields(fields);
  const runs = longRuns(text);
  const perField = assign([...findSecrets(text, runs), ...(await scanSuspects(text, runs, scan))], places);
  return fields.map(({ label, text }, i) => {
    const whole = secretUnder(label, text);
    return mask(text, whole === undefined ? (perField[i] ?? []) : [whole]);
  });
}

/** Where a field begins in the joined text, label included, and where its own text starts and ends. */
interface Place {
  readonly from: number;
  readonly start: number;
  readonly end: number;
}

function joinFields(fields: readonly Field[]): { text: string; places: Place[] } {
  const places: Place[] = [];
  let joined = "";
  for (const { label, text } of fields) {
    const from = joined.length;
    const start = from + (label === "" ? 0 : label.length + 2);
    places.push({ from, start, end: start + text.length });
    joined += (label === "" ? text : `${label}: ${text}`) + separator;
  }
  return { text: joined, places };
}

/** The spans of each field, counted from its start. A span belongs to the field it starts in and ends there. */
function assign(spans: readonly Span[], places: readonly Place[]): Span[][] {
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
 * Gives secretlint only what may hold a token, a small part of ordinary text: every token it knows has a long run of word
 * characters. What it knows besides, keys and passwords in URLs, own patterns find wherever it does.
 */
async function scanSuspects(text: string, runs: readonly Run[], scan: Scanner): Promise<Span[]> {
  const suspects = findSuspects(text, runs);
  const joined = joinFields(suspects.map(({ start, end }) => ({ label: "", text: text.slice(start, end) })));
  const found = assign(await scan(joined.text), joined.places);
  return suspects.flatMap((suspect, i) => (found[i] ?? []).map((span) => moved(span, suspect.start)));
}

function moved({ start, end, kind }: Span, by: number): Span {
  return { start: start + by, end: end + by, kind };
}

/** Ids, hashes and words: long runs of characters that no rule takes for a token. */
const harmless = /^(?:[0-9a-f-]+|[0-9A-F-]+|[a-z_-]+|[A-Z_-]+|(?:toolu|msg|call|req|rs|fc)_\w+)$/;

/** Characters taken along on both sides of what may be a token: the rules look at its neighbours. */
const margin = 16;

function findSuspects(text: string, runs: readonly Run[]): Run[] {
  const suspects: Run[] = [];
  for (const { start, end } of runs) {
    if (harmless.test(text.slice(start, end))) continue;
    const last = suspects.at(-1);
    const isNear = last !== undefined && start - margin <= last.end;
    if (isNear) suspects.pop();
    suspects.push({
      start: isNear ? last.start : Math.max(0, start - margin),
      end: Math.min(text.length, end + margin),
    });
  }
  return suspects;
}

/** Finds secrets in a text of any length; never throws. */
type Scanner = (text: string) => Promise<Span[]>;

const ruleName = "@secretlint/secretlint-rule-";

/**
 * Rules that are left out. Comments in a transcript must not switch rules off, as `filter-comments` lets them;
 * `gcp` reads files by name.
 */
const leftOut = new Set([`${ruleName}filter-comments`, `${ruleName}gcp`]);

/**
 * Loads the rules and runs them without `@secretlint/core`, whose profiler keeps every mark and searches all of
 * them on every call: its time grows with the square of the number of calls.
 */
async function loadScanner(): Promise<Scanner> {
  try {
    const { rules } = await import("@secretlint/secretlint-rule-preset-recommend");
    const inUse = rules.filter((rule) => !leftOut.has(rule.meta.id));
    return async (text) => {
      const spans: Span[] = [];
      for (const [part, offset] of partsOf(text)) {
        for (const span of await runRules(inUse, part)) spans.push(moved(span, offset));
      }
      return spans;
    };
  } catch {
    return async () => [];
  }
}

function* partsOf(text: string): Generator<[part: string, offset: number]> {
  for (let offset = 0; offset < text.length; offset += batchChars) {
    yield [text.slice(offset, offset + batchChars + overlapChars), offset];
  }
}

type Rules = typeof import("@secretlint/secretlint-rule-preset-recommend")["rules"];
type RuleContext = Parameters<Rules[number]["create"]>[0];
type Report = Parameters<RuleContext["report"]>[0];
type Source = Parameters<NonNullable<ReturnType<Rules[number]["create"]>["file"]>>[0];

async function runRules(rules: Rules, content: string): Promise<Span[]> {
  const spans: Span[] = [];
  // The rules read the content and, to tell file types apart, the name; nothing else of a source.
  const source = { content, filePath: "transcript.txt", ext: ".txt", contentType: "text" } as Source;
  for (const rule of rules) {
    const report = (found: Report) => spans.push(...secretOf(found, content, rule.meta.id));
    try {
      await rule.create(contextOf(report), {}).file?.(source);
    } catch {
      // Own patterns have run already, and the error may quote the text.
    }
  }
  return spans;
}

function contextOf(report: (found: Report) => void): RuleContext {
  return {
    sharedOptions: {},
    report,
    ignore: () => {},
    // Messages would quote the secret, so none is written; the data say what was found.
    createTranslator: () => (messageId, data) => ({ message: "", messageId: String(messageId), data }),
  };
}

/** The secret itself: some rules report a wider range, or one that is shifted by the name before the secret. */
function secretOf({ message, range }: Report, content: string, ruleId: string): Span[] {
  const found = Object.values(message.data ?? {}).find((value) => typeof value === "string" && value !== "");
  const text = typeof found === "string" ? found : content.slice(...range);
  const start = Math.max(content.indexOf(text, range[0]), range[0]);
  const url = /^[\w+.-]+:\/\/[^:@/\s]*:([^@\s]+)@/.exec(text);
  const secret = url?.[1] ?? text;
  if (isPlaceholder(secret)) return [];
  const from = start + (url === null ? 0 : url[0].length - 1 - secret.length);
  return [{ start: from, end: from + secret.length, kind: ruleId.slice(ruleName.length) }];
}
