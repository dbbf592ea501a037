/** The error without what is used volatilePatterns: homes, temporary folders, times, hashes, versions, counts. */
export function makeSignature(line: string): string {
  let text = line.slice(0, 300);
  // What one replacement leaves may be what another looks for.
  for (let pass = 0; pass < 4; pass++) {
    const before = text;
    text = replaceVolatile(text);
    if (text === before) break;
  }
  return text;
}

function replaceVolatile(line: string): string {
  let text = line;
  // A pattern costs more to prepare than to try, and most have nothing to do with a line.
  for (const [pattern, by, needs, also] of volatilePatterns) {
    if ((needs && !hasSign(text, needs)) || (also && !hasSign(text, also))) continue;
    text = typeof by === "string" ? text.replace(pattern, by) : text.replace(pattern, by);
  }
  return text.trim();
}

/** One of several texts, or what a pattern that is quickly prepared finds. */
type Signs = readonly string[] | RegExp;

type Replacement = readonly [RegExp, string | Parameters<string["replace"]>[1], Signs?, Signs?];

/** Whether a text has one of some signs. */
export function hasSign(text: string, signs: Signs): boolean {
  return signs instanceof RegExp ? signs.test(text) : signs.some((sign) => text.includes(sign));
}

const digit = "0123456789".split("");

/** Pattern, replacement, and signs: a line must have one of each list before the pattern is tried. */
// biome-ignore format: a table reads better in rows
export const volatilePatterns: readonly Replacement[] = [
  [/^(?:(?:npm |remote: )?(?:error|fatal|err!?)(?::\s*|\s+|$))+/i, ""],
  [/\d{4}-\d\d-\d\d(?:[T_ ]\d\d[:_]\d\d(?:[:_]\d\d)?(?:[.,_]\d+)?)?(?:Z|[+-]\d\d:?\d\d| UTC)?/g, "N", ["-"], digit],
  [/(?<![\w:])\d{1,2}:\d\d:\d\d(?:[.,]\d+)?/g, "N", [":"], digit],
  [/\b(?:sha\d+[:-])?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\bsha(?:256|512)[:-][\w+/=]{20,}/gi, "…", ["-", "256", "512"]],
  [/-[a-z0-9]{8,10}-[a-z0-9]{5}\b/g, (end: string) => (/\d/.test(end) ? "-…" : end), ["-"], digit],
  // A name with an id in brackets is made up for the moment.
  [/[^\s()]{1,80} \([0-9a-f]{12,64}\)/g, "…", ["("]],
  [/\b(?=[a-f]*\d)[0-9a-f]{7,64}\b/g, "…", digit],
  [/\b(?=(?:[a-z]+\d+){3}|(?:\d+[a-z]+){3})[a-z0-9]{8,64}\b/gi, "…", digit],
  [/\b[a-z+]{2,12}:\/\/([^\s/"'`<>()]*)([^\s"'`<>()]*)/gi, (_: string, host: string, path: string) => shortenUrl(host, path), ["://"]],
  [/(?<![\w.…/\\@:-])(?:[A-Za-z]:|~)?(?:[\\/][\w.@+~…%-]+)+[\\/]?/g, (path: string) => shortenPath(path), ["/", "\\"]],
  [/(?<![\w.])\.\/(?=\w)/g, "", ["./"]],
  [/[\w.+-]{1,64}@(?=[a-z][\w-]*\.[a-z]|\d+\.\d+\.\d+\.\d+)/gi, "…@", ["@"]],
  [/(?<![\w:])\[?::1\]?(?=:\d{2,5}\b|[^\w:]|$)|\b(?:127\.0\.0\.1|0\.0\.0\.0)\b/g, "localhost", ["::1", "127.0.0.1", "0.0.0.0"]],
  [/(?<![\w:]):::(?=\d)/g, "localhost:", [":::"]],
  [/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\d)/g, "host", ["."], digit],
  [/\b((?:repository|project|workspace) at )['"`]?…[^\s'"`]*['"`]?/gi, "$1…", ["…"]],
  [/\b(current branch )['"]?[^\s'"]+['"]?/gi, "$1…"],
  [/(?<![\w.])(?:\d+(?:\.\d+)? ?(?:ms|secs?|seconds?|s|min|minutes?|[KMG]i?B)\b ?)+(?=\W|$)/g, "N ", /\d ?[msKMG]/],
  [/(?<![\w.])v?\d+(?:\.\d+)+(?:-(?:alpha|beta|rc|next|canary)[\w.]*)?/g, "N", ["."], digit],
  // The number of an error tells it from others, as do a status and the port of a service; other numbers are of the moment.
  [/(?<![A-Za-z\d])\d+/g, (digits: string, at: number, all: string) => (isMeaningfulNumber(digits, all, at) ? digits : "N"), digit],
  [/\bN(?:, N)+\b/g, "N", ["N, N"]],
  [/\s+/g, " "],
  [/[\s.:;,]+$/, ""],
];

/** An address by its host and the last thing it names. */
function shortenUrl(host: string, path: string): string {
  if (host === "") return shortenPath(path);
  const last = path
    .split(/[?#]/)[0]
    ?.split("/")
    .findLast((part) => part !== "");
  return last === undefined ? `//${host}` : `//${host}/${last}`;
}

/** A path from the folder that every copy of it has; what lies above is of one machine. */
function shortenPath(path: string): string {
  const parts = path.split(/[\\/]/).filter((part) => part !== "");
  if (systems.has(parts[0] ?? "") && parts.length > 1) return path;
  const library = parts.findLastIndex((part) => part === "node_modules" || part === "site-packages");
  const root = library >= 0 ? library : parts.findIndex((part) => roots.has(part));
  const kept = root > 0 || library === 0 ? parts.slice(root) : parts.slice(-1);
  return kept.length === 0 ? path : `…/${kept.map((part) => (random.test(part) ? "…" : part)).join("/")}`;
}

const systems = new Set("etc usr opt dev proc sys bin sbin".split(" "));
const roots = new Set(
  "src lib app apps packages crates cmd internal pkg test tests spec e2e docs scripts config bin migrations".split(
    " ",
  ),
);
const random = /^tmp[\w.-]*\d|^tmp\.|[A-Za-z]\d[A-Za-z]+\d|^\d+$/;

/** Whether a number is part of what is wrong: a status, or the port at which a service is known. */
function isMeaningfulNumber(digits: string, line: string, at: number): boolean {
  const before = line.slice(Math.max(0, at - 30), at);
  if (portFollows.test(before)) return digits.length <= 5 && Number(digits) < firstEphemeral;
  return digits.length === 3 && statusFollows.test(before);
}

const portFollows = /(?:\bport |\b(?:localhost|host):|\/\/[\w.-]{1,28}:)$/i;
const statusFollows = /(?:\bHTTP(?:\/[\dN.]+)?|\bstatus(?: code)?|returned error)[ :=]*$/i;
/** From here on systems hand out ports by themselves. */
const firstEphemeral = 32_768;
