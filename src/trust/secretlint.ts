import { secretUnder } from "./redact/assignments.ts";
import { findSecrets, maxRounds } from "./redact/redact.ts";
import { type CharRun, longRuns, mask, type Span } from "./redact/span.ts";
import { isPlaceholder } from "./redact/values.ts";

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
  for (const batch of batches(fields)) for (const text of await scrubBatch(batch, scan)) texts.push(text);
  const changed = fields.flatMap(({ label, text }, i) =>
    texts[i] === text ? [] : [{ label, text: texts[i] ?? "", i }],
  );
  if (changed.length === 0 || rounds === 1) return texts;
  const again = await scrubRounds(changed, scan, rounds - 1);
  for (const [k, { i }] of changed.entries()) texts[i] = again[k] ?? "";
  return texts;
}

function* batches(fields: readonly TextField[]): Generator<readonly TextField[]> {
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
  let joined = "";
  for (const { label, text } of fields) {
    const from = joined.length;
    const start = from + (label === "" ? 0 : label.length + 2);
    places.push({ from, start, end: start + text.length });
    joined += (label === "" ? text : `${label}: ${text}`) + separator;
  }
  return { text: joined, places };
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
  return suspects.flatMap((suspect, i) => (found[i] ?? []).map((span) => moved(span, suspect.start)));
}

function moved({ start, end, kind }: Span, by: number): Span {
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
        for (const span of await runRules(inUse, part)) spans.push(moved(span, offset));
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
