import {
  hiddenCharacters,
  isExpectedCharacter,
  regionFlags,
  strayJoiners,
  stripHidden,
  unwritable,
  wordSet,
} from "../../text/index.ts";
import { listDangers } from "../danger.ts";
import { findSecrets } from "../redact.ts";
import { longRuns } from "../telling.ts";
import { knownTokens } from "../tokens.ts";
import type { Span } from "../values.ts";
import { type CodePiece, findCodeSigns, findSending } from "./code-signs.ts";
import type { Concern, ConcernCode, ScanMatch } from "./concern.ts";
import { joinPieces, readPlainly, toLatin } from "./disguise.ts";
import { decodeHidden } from "./encodings.ts";
import { findSpeech, listAvoided } from "./speech.ts";

/** Scans a new version of a text; `isOld` marks concerns whose whole lines were in the version before. */
export function scanSince(
  before: string,
  text: string,
  options: ScanOptions = {},
): { readonly concern: Concern; readonly isOld: boolean }[] {
  const seen = locateConcerns(text, options);
  const known = new Map<string, number>();
  const count = (one: LocatedConcern, whole: string, change: 1 | -1): number => {
    const key = JSON.stringify([one.concern.severity, one.concern.message, wholeLines(one, whole)]);
    const times = known.get(key) ?? 0;
    known.set(key, times + change);
    return times;
  };
  for (const one of seen.length === 0 ? [] : locateConcerns(before, options)) count(one, before, 1);
  return seen.map((one) => ({ concern: one.concern, isOld: count(one, text, -1) > 0 }));
}

function wholeLines({ at, end }: LocatedConcern, text: string): string {
  const start = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  const close = text.indexOf("\n", end);
  return text.slice(start, close === -1 ? text.length : close).replaceAll("\r", "");
}

/** Whether a relative path stays in its folder on every system. */
export function isSafePath(path: string): boolean {
  const parts = path.split("/");
  return (
    path.length <= 400 &&
    !/[\\:\u0000-\u001f]/.test(path) &&
    parts.every((part) => part !== "" && part !== "." && part !== "..") &&
    stripHidden(path) === path
  );
}

export function mayBeWritten(concerns: readonly Concern[]): boolean {
  return concerns.every(({ severity }) => severity !== "block");
}

interface ScanOptions {
  /** Allowed characters. */
  readonly most?: number;
  /** The file's name, for `where`. */
  readonly file?: string;
  /** The text is a skill that agents load: some run the commands marked in it on load. */
  readonly loaded?: boolean;
  /** The text is part of a package whose steps an agent may take: dangerous steps, orders and code count too. */
  readonly steps?: boolean;
}

/** Lists what should not be in a skill, a rule or a description, in order of position. */
export function scan(text: string, options: ScanOptions = {}): Concern[] {
  return locateConcerns(text, options).map(({ concern }) => concern);
}

interface LocatedConcern {
  readonly concern: Concern;
  readonly at: number;
  readonly end: number;
}

/** Characters that the body of a learned skill may have. */
export const maxBodyChars = 4_000;

function locateConcerns(text: string, options: ScanOptions): LocatedConcern[] {
  const { most = maxBodyChars, file, loaded = false, steps = false } = options;
  const where = (line: number) => (file === undefined ? `line ${line}` : `${file}, line ${line}`);
  // A text too long to scan in reasonable time is refused, not passed unseen.
  const matches = [
    ...findExcess(text, Math.min(most, mostScanned)),
    ...(text.length <= mostScanned ? findAll(text, loaded ? [...patterns, ...runOnLoad] : patterns) : []),
    ...(steps && text.length <= mostScanned ? findInPackage(text, isMarkdown(file ?? "SKILL.md")) : []),
  ];
  const lineAt = lineFinder(text);
  const seen = new Map<string, LocatedConcern>();
  for (const { at, end, ...rest } of matches.sort((a, b) => a.at - b.at)) {
    const concern = { ...rest, where: where(lineAt(at)) };
    const key = `${concern.severity} ${concern.code} ${concern.where} ${concern.message}`;
    const same = seen.get(key);
    seen.set(key, { concern, at: same?.at ?? at, end: Math.max(same?.end ?? 0, end) });
  }
  return [...seen.values()];
}

export const mostScanned = 200_000;

function findExcess(text: string, allowed: number): ScanMatch[] {
  if (text.length <= allowed) return [];
  const message = `It has ${text.length} characters; at most ${allowed} are allowed.`;
  return [{ at: 0, end: text.length, code: "too-long", severity: "block", message }];
}

function findAll(text: string, sought: readonly ScanPattern[]): ScanMatch[] {
  // Wide and invisible characters must not hide a word; line ends stay.
  const plain = stripHidden(text).replace(apostrophes, "'").normalize("NFKC");
  const startOf = lineStarts(text);
  const within = (other: string, seen: readonly ScanMatch[]) => {
    if (seen.length === 0) return [];
    const lineAt = lineFinder(other);
    const back = (at: number) => startOf[lineAt(at) - 1] ?? 0;
    return seen.map((one) => ({ ...one, at: back(one.at), end: back(one.end) }));
  };
  const seek = (other: string, isMeant: (pattern: ScanPattern) => boolean) =>
    other === plain ? [] : within(other, findPatterns(sought.filter(isMeant), other));
  const mended = joinPieces(plain);
  return [
    ...reportSecrets(text, findSecrets(text)),
    ...within(mended, reportSecrets(mended, knownTokens(mended, longRuns(mended)))),
    ...findHidden(text),
    ...within(plain, [
      ...findPatterns(sought, plain),
      ...findComments(plain),
      ...commandLines(plain).flatMap(findExfiltration),
      ...findBlobs(plain),
      ...findPersonalPaths(plain),
    ]),
    // Words are understood in any spelling and markup; commands and tags are not.
    ...seek(toLatin(plain), ({ code }) => code === "role-tag"),
    ...readPlainly(plain).flatMap((words) => seek(words, ({ isSpoken = false }) => isSpoken)),
  ];
}

const apostrophes = /[\u00b4\u02b9\u02bc\u2018\u2019\u201b\u2032\uff07]/g;

interface ScanPattern extends Omit<Concern, "where"> {
  readonly match: RegExp;
  readonly isSpoken?: true;
}

const gap = "\\s{1,20}";
const upTo4 = (words: string) => `(?:(?:${words})${gap}){0,4}`;
const ignore = `\\b(?:ignore|disregard|forget|override|bypass)${gap}`;
const the = "the|these|those|of";
const yours = "all|any|every|your";
const earlier = "previous|prior|preceding|above|earlier|existing|original";
const orders = "(?:instructions?|guidelines?|guardrails?|system messages?)\\b";

/** Programs have these too: only the agent's own count. */
const settings = "(?:prompts?|directives?)\\b";

/** Patterns by message. Every repetition is bounded, so that no text makes them slow. */
const patterns: readonly ScanPattern[] = [
  ...speech("block", "injection", {
    "It tells the agent to ignore its instructions.": new RegExp(
      [
        `${ignore}${upTo4(`${yours}|${the}`)}(?:(?:${earlier}|system|safety)${gap}){1,2}${orders}`,
        `${ignore}${upTo4(the)}(?:${yours})${gap}${upTo4(`${yours}|${the}`)}(?:(?:${earlier})${gap}){1,2}${settings}`,
        `${ignore}${upTo4(`${yours}|${the}|${earlier}`)}(?:system|safety)${gap}${settings}`,
      ].join("|"),
      "gi",
    ),
  }),
  ...speech("warn", "injection", {
    "It mentions ignoring earlier instructions.": new RegExp(
      `${ignore}${upTo4(the)}(?:(?:${earlier})${gap}){1,2}${settings}|忽略(?:掉)?(?:之前|以上|先前|上面|前面)的?(?:所有|全部)?的?说明`,
      "gi",
    ),
  }),
  ...speech("block", "injection", {
    "It tells the agent to ignore its instructions.":
      /忽略(?:掉)?(?:之前|以上|先前|上面|前面)的?(?:所有|全部)?的?(?:指令|指示|提示)|(?:以前|これまで|上記)の(?:すべての)?指示を(?:すべて)?無視|ignoriere\s{1,9}(?:alle\s{1,9})?(?:vorherigen|bisherigen|obigen)\s{1,9}(?:anweisungen|instruktionen)|ignorez?\s{1,9}(?:toutes\s{1,9})?les\s{1,9}instructions\s{1,9}précédentes|ignora\s{1,9}(?:todas\s{1,9})?las\s{1,9}instrucciones\s{1,9}(?:anteriores|previas)/gi,
    "It gives the agent another role to escape its rules.":
      /\byou\s{1,20}are\s{1,20}now\s{1,20}(?:(?:an?|in|the)\s{1,20})?(?:DAN\b|jailbroken|unrestricted|unfiltered|developer\s{1,20}mode|god\s{1,20}mode|root\s{1,20}mode)/gi,
    "It asks for the agent's own instructions.":
      /\b(?:reveal|print|output|repeat|show|send|leak)\s{1,20}(?:me\s{1,20})?(?:all\s{1,20}(?:of\s{1,20})?)?your\s{1,20}(?:system\s{1,20}prompt|initial\s{1,20}instructions|hidden\s{1,20}instructions)/gi,
    "It tells the agent that everything is allowed, or not to ask for permission.":
      /--dangerously-(?:skip-permissions|bypass-\w{1,30}(?:-\w{1,30}){0,4})\b|\b(?:user|human|person|owner)\s{1,9}(?:has|have)\s{1,9}(?:already\s{1,9})?(?:pre-?)?(?:approved|authori[sz]ed|granted|consented\s{1,9}to)\s{1,9}(?:all|any|every|everything)\b|\b(?:never|do\s{1,9}not|don'?t)\s{1,9}(?:ask|wait|prompt)\s{1,9}(?:(?:the\s{1,9}(?:user|human|person)\s{1,9}for\s{1,9}(?:\w{1,20}\s{1,9})?|for\s{1,9}(?:user|human)\s{1,9})confirmation|(?:the\s{1,9}(?:user|human|person)\s{1,9})?for\s{1,9}(?:\w{1,20}\s{1,9})?(?:permission|approval|consent))s?\b/gi,
  }),
  ...speech("warn", "injection", {
    "It says not to ask for confirmation.":
      /\b(?:never|do\s{1,9}not|don'?t)\s{1,9}(?:ask|wait|prompt)\s{1,9}for\s{1,9}(?:(?!user|human)\w{1,20}\s{1,9})?confirmations?\b/gi,
  }),
  ...speech("block", "concealment", {
    "It tells the agent to hide something from the user.":
      /\b(?:do\s{1,20}not|don'?t|never)\s{1,20}(?:tell|inform|alert|notify|let)\s{1,20}the\s{1,20}(?:user|human|person|developer)s?\s{1,20}(?:know\s{1,20})?(?:about|of)\s{1,20}(?:this|these|it|your)\b|\b(?:do\s{1,20}not|don'?t|never)\s{1,20}(?:mention|reveal|disclose|show)\s{1,20}(?:this|these\s{1,20}\w{1,20}|it)\s{1,20}to\s{1,20}the\s{1,20}(?:user|human|person|developer)\b/gi,
  }),
  ...speech("warn", "concealment", {
    "It mentions acting without the user's knowledge.":
      /\b(?:without\s{1,20}(?:the\s{1,20}(?:user|human|person)(?:'s)?\s{1,20}(?:knowing|knowledge|noticing)|(?:telling|informing|notifying|alerting)\s{1,20}the\s{1,20}(?:user|human|person))|secretly\s{1,20}(?:send|run|upload|copy|post|execute))\b/gi,
  }),
  ...forms("block", "role-tag", {
    "It contains a tag that models read as a change of speaker.":
      /(?<![\w.](?=<[^/])|`(?=<[^<>`]{1,60}>`))<\/?(?:system|system[-_]reminder|system[-_]prompt|assistant|developer[-_]message|user[-_]prompt|function[-_]results?|tool[-_]results?)(?:\s[^<>]{0,200})?>|<\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|start_header_id|eot_id)\|>|\[\/?INST\]|<<\/?SYS>>/g,
  }),
  ...forms("warn", "role-tag", {
    "It mentions a tag that models read as a change of speaker.":
      /`<\/?(?:system|system[-_]reminder|system[-_]prompt|assistant|user[-_]prompt)>`/g,
    "A line starts with the name of another speaker.":
      /^[ \t]{0,8}(?:#{1,3} )?(?:System|Assistant|Human): /gm,
  }),
  ...forms("block", "hidden-code", {
    "It decodes text and runs it.":
      /\bbase64\s{1,9}(?:-d|-D|--decode)\b[^\n]{0,200}\|\s{0,9}(?:sudo\s{1,9})?(?:ba|z|da)?sh\b|\beval\s{0,9}["'(]{0,3}\$\([^\n]{0,200}\bbase64\b|\bexec\s{0,3}\(\s{0,3}(?:base64|codecs|zlib)\b|\beval\s{0,3}\(\s{0,3}(?:atob|Buffer\.from)\b|\bFromBase64String\b[^\n]{0,200}\b(?:iex|Invoke-Expression)\b|\bpowershell(?:\.exe)?\b[^\n]{0,100}\s-e(?:nc|ncodedcommand)\b/gi,
  }),
  ...forms("block", "exfiltration", {
    "It opens a shell to another machine.":
      /\b(?:ba|z)?sh\s{1,9}-i\b[^\n]{0,40}\/dev\/(?:tcp|udp)\/|\b(?:nc|ncat|netcat)\b[^\n|]{0,60}\s-(?:e|c)\s{1,9}\/?(?:\w{1,9}\/){0,3}(?:ba|z)?sh\b/g,
  }),
  ...speech("block", "exfiltration", {
    "It asks to send private files or environment variables somewhere.":
      /\b(?:send|post|upload|transmit|exfiltrate|forward|e?mail|copy|submit)\b[^\n]{0,80}(?:\/\.ssh\b|\/\.aws\b|\bid_?(?:rsa|ed25519)\b(?!\.pub)|(?<![\w.])\.env\b(?!\.(?:example|sample))|\benvironment variables?\b|\/etc\/(?:passwd|shadow)\b|\bprivate keys?\b)[^\n]{0,80}\bto\s{1,9}(?:\S{1,20}\s{1,9}){0,4}["'(<]?(?:https?:\/\/|[\w.+-]{1,40}@[\w-]{1,40}\.\w|\w{1,20}\.(?:ngrok|requestbin|webhook|burpcollaborator))/gi,
  }),
  ...forms("warn", "exfiltration", {
    "An image URL is filled in when it is shown, which can leak data.":
      /!\[[^\]\n]{0,100}\]\(https?:\/\/[^)\s]{0,300}[?&][^)\s]{0,200}(?:\{|\$|%7B|<)|!\[[^\]\n]{0,100}\]\(https?:\/\/[^)\s]{0,300}[?&]\w{1,20}=[A-Z][A-Z_]{2,}/g,
  }),
  ...forms("block", "deletion", {
    "It deletes a whole disk, system or home folder.":
      /\brm\s{1,9}(?:-{1,2}[\w-]{1,30}\s{1,9}){1,5}(?:--\s{1,9})?["']?(?:\/|~|\$HOME|\$\{HOME\})(?:\/?\*)?\/?["']?(?=[\s;&|`)]|$)|\bmkfs(?:\.\w{1,8})?\s{1,9}(?:-\w{1,9}\s{1,9}){0,4}\/dev\/|\bdd\b[^\n]{0,100}\bof=\/dev\/(?:sd|nvme|hd|disk)|:\(\)\s?\{\s?:\|:&\s?\}\s?;:|\bch(?:mod|own)\s{1,9}(?:-\w{1,9}\s{1,9}){0,3}(?:-R|--recursive)\s{1,9}(?:\S{1,40}\s{1,9})?\/(?=[\s;&|`)]|$)/gm,
  }),
  ...forms("warn", "keys", {
    "It adds a key that may log in to this machine.":
      />>?\s{0,9}\S{0,60}\/\.ssh\/authorized_keys\b|\b(?:add|append|copy|put)\b[^\n]{0,60}\bauthorized_keys\b/gi,
  }),
];

/** Claude Code runs such commands when it loads the skill, or while it is in use. */
const runOnLoad = forms("block", "run-on-load", {
  "Its front matter sets up hooks, which run commands by themselves.":
    /^---\r?\n(?:[^\n]{0,400}\n){0,40}?hooks:[ \t]{0,9}\r?\n(?:[ \t-][^\n]{0,400}\n){0,20}?[ \t-]{1,20}command:/g,
  "It contains a command that runs when the skill is loaded (!`…`), before anybody reads it.":
    /(?:^|\s)!`[^`\n]{1,2000}`|^[ \t]{0,20}(?:`{3,9}|~{3,9})!/gm,
});

/** Commands, tags and other forms that are dangerous as they are written. */
function forms(
  severity: Concern["severity"],
  code: ConcernCode,
  byMessage: Record<string, RegExp>,
): ScanPattern[] {
  return Object.entries(byMessage).map(([message, match]) => ({ code, severity, message, match }));
}

/** Words to an agent, dangerous in any spelling or markup. */
function speech(...group: Parameters<typeof forms>): ScanPattern[] {
  return forms(...group).map((pattern) => ({ ...pattern, isSpoken: true }));
}

function findPatterns(sought: readonly ScanPattern[], text: string): ScanMatch[] {
  return sought.flatMap(({ match, code, severity, message, isSpoken = false }) =>
    [...text.matchAll(match)].map(({ 0: all, index }) => {
      // A match may begin with the line end before it.
      const at = index + all.length - all.trimStart().length;
      const end = index + all.length;
      return { at, end, code, severity: isSpoken && isDenied(text, at, end) ? "warn" : severity, message };
    }),
  );
}

/** Whether the words are negated: right before them or, in some languages, right after. */
function isDenied(text: string, at: number, end: number): boolean {
  // The negation may apply to the first of several orders only.
  if (/[,.;:!?]\s|\b(?:and|but|then)\b/i.test(text.slice(at, end))) return false;
  return notTo.test(text.slice(Math.max(0, at - 40), at)) || orNot.test(text.slice(end, end + 6));
}

const notTo =
  /(?:\b(?:never|cannot|don'?t|(?:do|does|must|should|shall|may|can|will)\s{1,9}not)\s{1,9}(?:ever\s{1,9})?|n't\s{1,9}|不要|请勿|切勿|不得)$/i;

const orNot = /^(?:しない|せず|してはいけ|してはなら)/;

/** `password123` and `sk-xxx` are examples: nothing but words that stand for a value, and numbers that count up. */
const placeholder =
  /^(?!.{41})(?:.*(?:x{3,}|\.{3}|…).*|[a-z_-]{1,20}|(?:(?:example|sample|dummy|change|me|here|placeholder|your|test(?:ing|er)?|demo|fake|mock|my|super|strong|new|old|some|the|passw(?:or|0r)d|pass|pwd|secret|token|key|api|auth|access|client|value|string|postgres|mysql|redis|admin|root|user|guest|db|app|dev|local|prod|live|latest|foo|bar|baz|sk|pk|abc(?:def)?(?:ghi)?(?:jkl)?|xyz|qwerty|\d)|[^A-Za-z0-9])+)$/i;

function reportSecrets(text: string, all: readonly Span[]): ScanMatch[] {
  const spans = all.filter(({ start, end }) => !placeholder.test(text.slice(start, end)));
  const report = (kind: string) => `It contains a secret (${kind}).`;
  return spans.map(({ start: at, end, kind }) => ({
    at,
    end,
    code: "secret",
    severity: "block",
    message: report(kind),
  }));
}

/** Reports each hidden character once per line. */
function findHidden(text: string): ScanMatch[] {
  // A byte order mark is fine at the start, and flags of regions are spelt with tag characters.
  const body = text.replace(/^\ufeff/, " ").replace(regionFlags, (flag) => " ".repeat(flag.length));
  if (body.search(unseen) === -1) return [];
  const starts = lineStarts(body);
  return starts.flatMap((at, n) => {
    const line = body.slice(at, starts[n + 1]);
    const codes = new Set(line.match(unseen)?.map((some) => some.codePointAt(0) ?? 0));
    return [...codes].map((code) => ({
      ...{ at, end: at, code: "hidden-character" },
      severity: isExpectedCharacter(String.fromCodePoint(code), line) ? "warn" : "block",
      message: `It contains an invisible character (U+${code.toString(16).toUpperCase().padStart(4, "0")}).`,
    }));
  });
}

const unseen = new RegExp(
  [hiddenCharacters, strayJoiners, unwritable].map(({ source }) => source).join("|"),
  "gu",
);

/** Latin words with letters of another alphabet that look the same: `exаmple.com` is another host. */
function findMixedWords(text: string): ScanMatch[] {
  const message = "A word mixes alphabets that look alike.";
  if (!/[\u0400-\u052f\u03bf]/.test(text)) return [];
  return [...text.matchAll(mixedWords)].map(({ 0: word, index: at }) => ({
    ...{ at, end: at + word.length, code: "hidden-character", severity: "warn", message },
  }));
}

const mixedWords =
  /(?<![\p{L}\d])(?=[а-яёіјѕһԁԛԝο]*[a-z])(?=[a-z]*[аеорсухіјѕһԁԛԝο])[a-zаеорсухіјѕһԁԛԝο]{3,}(?![\p{L}\d])/gu;

/** HTML comments are invisible in rendered Markdown, but agents read them. */
function findComments(text: string): ScanMatch[] {
  const found: ScanMatch[] = [];
  const message = "An HTML comment, invisible when rendered, addresses the agent.";
  for (let at = text.indexOf("<!--"); at !== -1; ) {
    const close = text.indexOf("-->", at + 4);
    const end = close === -1 ? text.length : close;
    const inside = text.slice(at + 4, end);
    const said = [inside, ...readPlainly(inside)];
    const isSaid = (words: RegExp) => said.some((one) => words.test(one));
    const isOrder = isSaid(speaksToAgents);
    const isAddress = isSaid(addressesAgents);
    if (isOrder || isAddress || inside.length > 200)
      found.push({
        at,
        end,
        code: "hidden-comment",
        severity: isOrder ? "block" : isAddress ? "warn" : "note",
        message,
      });
    at = text.indexOf("<!--", end);
  }
  return found;
}

const addressesAgents =
  /\b(?:automated|ai|llms?|language) (?:readers?|agents?|assistants?|models?|reviewers?|tools?)\b|\b(?:send|append|upload|post|forward|submit|exfiltrate|execute)\b.{0,80}\b(?:tokens?|secrets?|credentials?|keys?|https?:|url|server|file|script)\b|\b(?:when|if|before|after) you\b|\b(?:you|agents?|claude|codex|models?|llms?|reader)\b.{0,60}\b(?:must|should|shall|need to|have to|always|never|runs?|sends?|execute|call|include|install|upload|post|fetch|ignore|silently|instead)\b/i;

const speaksToAgents =
  /\b(?:you (?:must|should|are|will|have to)|assistant|an? ai\b|agents? (?:must|should|will)|system prompt|secretly|execute|exfiltrate|curl|wget|(?:do not|don'?t) (?:tell|mention|reveal)|(?:when|if|before|after) (?:you (?:read|see|load|follow|use|run|start|begin|finish|answer|reply)|the agent)\b|run (?:this|the following))\b/i;

type CommandLine = Pick<ScanMatch, "at" | "end"> & { readonly text: string };

/** Splits text into lines, joining those that end with a backslash with the next. */
function commandLines(text: string): CommandLine[] {
  const lines: CommandLine[] = [];
  let [at, start, whole] = [0, 0, ""];
  for (const line of text.split("\n")) {
    if (whole === "") start = at;
    at += line.length + 1;
    const continued = /\\\r?$/.test(line) && whole.length < 2_000;
    whole += continued ? `${line.replace(/\\\r?$/, "")} ` : line;
    if (continued) continue;
    lines.push({ at: start, end: at - 1, text: whole });
    whole = "";
  }
  if (whole !== "") lines.push({ at: start, end: text.length, text: whole });
  return lines;
}

const sends =
  /(?:^|[\s|;&("'`$])(?:curl|wget|nc|ncat|netcat|socat|telnet|openssl\s{1,9}s_client|httpie|http|Invoke-WebRequest|Invoke-RestMethod|iwr|irm)\s/;

const posts = /\b(?:requests\.post|fetch\(|axios\.post|urlopen\()/;

const secretPlaces =
  /(?:\.ssh\/(?!config\b|known_hosts\b|\S{0,80}\.pub\b)|\bid_(?:rsa|dsa|ecdsa|ed25519)\b(?!\.pub)|\.aws\/credentials|\.gnupg\/|\.netrc\b|\.pgpass\b|\.npmrc\b|\.pypirc\b|\.git-credentials\b|\.docker\/config\.json|\.kube\/config\b|\.config\/gh\/hosts|(?<![\w.])\.env\b(?!\.(?:example|sample|template))|\/etc\/(?:shadow|passwd)\b|\.claude\/\.credentials|\.codex\/auth\.json|\bkeychain\b)/;

const wholeEnvironment =
  /(?:^|[\s;&|(`"'])(?:env|printenv|set)(?=\s{0,9}(?:\||\)|`|>|$))|\bos\.environ\b(?!\s{0,3}[.[])|JSON\.stringify\(process\.env\)/;

/** Private data sent away: piped into a sender, uploaded as a file, or substituted into its arguments. */
function findExfiltration({ at, end, text }: CommandLine): ScanMatch[] {
  const line = text.slice(0, 4_000);
  if (!sends.test(line) && !/\b(?:scp|rsync)\b/.test(line) && !posts.test(line)) return [];
  const message = "It sends private files or environment variables somewhere.";
  return carriesPrivateData(line) ? [{ at, end, code: "exfiltration", severity: "block", message }] : [];
}

function carriesPrivateData(line: string): boolean {
  const isPrivate = (part: string) => secretPlaces.test(part) || wholeEnvironment.test(part);
  const stages = line.split("|");
  const sender = stages.findIndex((stage) => sends.test(` ${stage}`));
  // `source .env && curl …` uses the file locally; only what goes through the pipe is sent.
  const piped = stages.slice(0, Math.max(0, sender)).map((stage) => stage.split(/&&|;/).at(-1) ?? "");
  if (piped.some((stage) => isPrivate(`${stage} |`))) return true;
  if (sender !== -1 && passesPrivateData(line)) return true;
  if (/\b(?:scp|rsync)\s/.test(line)) return sendsKey(line);
  return posts.test(line) && isPrivate(line);
}

/** Whether a sender's arguments hold private data. */
function passesPrivateData(line: string): boolean {
  const uploads =
    /\s(?:-d|--data(?:-\w{1,12})?|-F|--form|-T|--upload-file|--post-file|--body-file)[=\s]{0,3}\S{0,60}?([@=]\S{1,200}|\S{1,200})/g;
  const substitutions = /\$\([^)\n]{1,300}\)|`[^`\n]{1,300}`/g;
  return (
    [...line.matchAll(uploads)].some(([all]) => secretPlaces.test(all)) ||
    [...line.matchAll(substitutions)].some(([all]) => !sends.test(all) && readsPrivate(all)) ||
    (/[\s"']\S{0,200}<\s{0,9}\S/.test(line) && secretPlaces.test(line.slice(line.indexOf("<"))))
  );
}

/** In Markdown, backticks also quote code, so a path alone in them is no substitution. */
function readsPrivate(substitution: string): boolean {
  const inside = substitution.replace(/^\$\(|^`|[)`]$/g, "");
  if (wholeEnvironment.test(` ${inside} |`) && /^\s{0,9}(?:env|printenv)\b/.test(inside)) return true;
  return /\b(?:cat|base64|head|tail|gzip|tar|xxd|grep|less|type)\s/.test(inside) && secretPlaces.test(inside);
}

/** `scp -i key` uses a key; `scp key host:` gives it away. */
function sendsKey(line: string): boolean {
  const words = line.replace(/\s-(?:i|F|e)\s{1,9}(?:"[^"]{0,200}"|'[^']{0,200}'|\S{1,200})/g, " ");
  return secretPlaces.test(words) && /\s[\w.@-]{1,100}:\S{0,200}/.test(words);
}

/** Long base64 runs, which a reader cannot check; inside an image's data URL they are only a warning. */
function findBlobs(text: string): ScanMatch[] {
  const runs = [...text.matchAll(/(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{160,}={0,2}/g)];
  const message = "It contains a long encoded text that nobody can read.";
  return runs
    .filter(([run]) => isEncoded(run))
    .map(({ 0: run, index: at }) => {
      const isImage = /data:image\/[\w.+%-]{1,30};base64(?:,|%2C)$/i.test(
        text.slice(Math.max(0, at - 60), at),
      );
      return { at, end: at + run.length, code: "hidden-code", severity: isImage ? "warn" : "block", message };
    });
}

function isEncoded(run: string): boolean {
  const share = (kind: RegExp) => (run.match(kind)?.length ?? 0) / run.length;
  return share(/[A-Z]/g) > 0.15 && share(/[a-z]/g) > 0.15 && share(/[0-9]/g) > 0.03;
}

function findPersonalPaths(text: string): ScanMatch[] {
  const homes =
    /(?<![\w.~])(?:\/home\/|\/Users\/|[A-Za-z]:\\{1,2}Users\\{1,2})([A-Za-z0-9._-]{1,64})(?=[\\/\s`'")\],:;]|$)/g;
  const message = "It names somebody's home folder, which other machines do not have.";
  return [...text.matchAll(homes)]
    .filter(([, name]) => !anyone.has((name ?? "").toLowerCase()))
    .map(({ index: at }) => ({ at, end: at, code: "personal-path", severity: "note", message }));
}

const anyone = wordSet(
  "user username users you me your-name yourname name someone dev node app runner ubuntu vscode codespace vagrant shared public default linuxbrew ec2-user example git",
);

// --- Packages: every file, what the steps do, and what is put together from several ---

/** A file of a package; one that is no text has none. */
interface ScannedFile {
  readonly path: string;
  readonly text: string | null;
}

/** Lists what should not be in a package of files, of which the first named SKILL.md is loaded by agents. */
export function scanFiles(files: readonly ScannedFile[]): Concern[] {
  const texts = files.flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]));
  const own = texts.flatMap(({ path, text }) =>
    scan(text, { most: mostScanned, file: path, loaded: /(?:^|\/)SKILL\.md$/i.test(path), steps: true }),
  );
  const known = new Set(own.map(({ code }) => code));
  const spread = scanTogether(texts).filter(({ code }) => !known.has(code));
  return [...files.flatMap(({ path }) => scanName(path)), ...own, ...spread];
}

/** Whether a person has to see a text with these concerns before any agent does. */
export function needsPerson(concerns: readonly Concern[]): boolean {
  return concerns.some(({ severity }) => severity !== "note");
}

/** Finds actions that several files do together: one downloads and another runs, one reads and another sends. */
function scanTogether(files: readonly { readonly path: string; readonly text: string }[]): Concern[] {
  if (files.length < 2) return [];
  const inOrder = files.flatMap(({ path, text }) =>
    listCode(text, isMarkdown(path)).map((piece) => ({ ...piece, path, line: lineFinder(text)(piece.at) })),
  );
  // In which order they run is not known.
  return [inOrder, inOrder.toReversed()].flatMap(scanPieces);
}

function scanPieces(
  places: readonly (CodePiece & { readonly path: string; readonly line: number })[],
): Concern[] {
  const joined = places.map(({ text }) => text).join("\n");
  if (joined.length > mostScanned) return [];
  const lineAt = lineFinder(joined);
  const toWhere = (at: number) => {
    let line = lineAt(at);
    for (const { path, text, line: first } of places) {
      const count = text.split("\n").length;
      if (line <= count) return `${path}, line ${first + line - 1}`;
      line -= count;
    }
    return places[0]?.path ?? "";
  };
  return [...findCodeSigns({ at: 0, text: joined }), ...findDangers(joined, false)].map(
    ({ at, end: _, ...concern }) => ({ ...concern, where: toWhere(at) }),
  );
}

/** A file's name is read by agents too, and some names are run or obeyed without being opened. */
function scanName(path: string): Concern[] {
  const raise = (severity: Concern["severity"], message: string): Concern => ({
    ...{ code: "file-name", severity, message, where: JSON.stringify(path).slice(1, -1) },
  });
  const said = toLatin(path.normalize("NFKC")).replace(/[-_./]+/g, " ");
  const order = [...findPatterns(patterns, said), ...findSpeech(said)].length > 0 || nameOrders.test(said);
  return [
    ...(isSafePath(path)
      ? []
      : [raise("block", "Its path leads out of the folder, or has hidden characters.")]),
    ...(order ? [raise("block", "Its file name speaks to the agent.")] : []),
    ...(/\.(?:exe|dll|scr|com|msi|vbs|vbe|jse|wsf|hta|lnk|pif|dylib|so|dmg|pkg|deb|rpm|apk|app|node|pyc|class|jar|reg|desktop|command|scpt)$/i.test(
      path,
    )
      ? [raise("warn", "It is a program that nobody can read.")]
      : []),
    ...(/\.(?:pdf|png|jpe?g|gif|docx?|xlsx?|txt|md|csv|json|html?)\.(?:sh|bash|py|js|mjs|ps1|bat|cmd|rb|pl|exe|scr|vbs|command)$/i.test(
      path,
    )
      ? [raise("warn", "Its name looks like a document, but it is a program.")]
      : []),
    ...(/(?:^|\/)(?:\.(?:npmrc|pypirc|netrc|envrc|bashrc|zshrc|profile|gitconfig|gitattributes|mcp\.json|cursorrules|pre-commit-config\.yaml)|(?:CLAUDE|AGENTS|GEMINI)\.md|settings(?:\.local)?\.json|hooks\.json|sitecustomize\.py|\.(?:git|husky|claude|codex|cursor|vscode|ssh)\/.*)$/i.test(
      path,
    )
      ? [raise("warn", "Programs read a file of this name by themselves.")]
      : []),
    ...(standardModule.test(path)
      ? [raise("warn", "Its name is that of a module of the language, which it takes the place of.")]
      : []),
    ...(path !== toLatin(path) && /[\u0370-\u03ff\u0400-\u04ff]/.test(path) && /[a-z]/i.test(path)
      ? [raise("warn", "Its name mixes alphabets that look alike.")]
      : []),
  ];
}

/** A script's own folder comes first when Python looks for a module. */
const standardModule =
  /(?:^|\/)(?:abc|ast|asyncio|base64|collections|contextlib|copy|csv|dataclasses|datetime|decimal|email|enum|functools|getpass|glob|gzip|hashlib|hmac|http|io|itertools|json|logging|math|os|pathlib|pickle|platform|queue|random|re|requests|secrets|shutil|signal|socket|sqlite3|ssl|statistics|string|struct|subprocess|sys|tempfile|textwrap|threading|time|traceback|types|typing|urllib|urllib3|uuid|yaml|zipfile|numpy|pandas)(?:\.py|\/__init__\.py)$/;

const nameOrders =
  /\b(?:ignore|disregard|override|bypass) (?:\w+ ){0,3}(?:instructions?|rules|safety|permissions)\b|\b(?:run|execute|send|upload|read) (?:me|this) (?:first|now|immediately|before)\b|\b(?:agent|assistant|claude) (?:must|should|run|execute|always)\b|\bsystem (?:prompt|override)\b/i;

function isMarkdown(path: string): boolean {
  return /\.(?:md|mdx|markdown|txt|rst|html?)$/i.test(path) && !/requirements|constraints/i.test(path);
}

/** Concerns that only packages raise: orders to agents, code, dangerous steps, and all of these in an encoding. */
function findInPackage(text: string, isProse: boolean): ScanMatch[] {
  const plain = stripHidden(text).replace(apostrophes, "'").normalize("NFKC");
  const startOf = lineStarts(text);
  // Hidden characters may be gone: the line is what counts.
  const lineAt = lineFinder(plain);
  const back = (one: ScanMatch): ScanMatch => {
    const at = startOf[lineAt(one.at) - 1] ?? 0;
    return { ...one, at, end: Math.max(at, startOf[lineAt(one.end) - 1] ?? 0) };
  };
  return [...findDeeds(plain, isProse), ...findDecoded(plain), ...findMixedWords(plain)].map(back);
}

function findDeeds(plain: string, isProse: boolean): ScanMatch[] {
  const views = [plain, ...readPlainly(plain)];
  const lines = views.map(lineFinder);
  const starts = lineStarts(plain);
  const seen = new Set<string>();
  const spoken = views.flatMap((view, n) =>
    findSpeech(view, plain, seen).map((one) => {
      const at = starts[(lines[n]?.(one.at) ?? 1) - 1] ?? 0;
      return { ...one, at, end: at };
    }),
  );
  const pieces = listCode(plain, isProse);
  const whole = pieces.length > 1 ? [{ at: 0, text: blankProse(plain, pieces) }] : [];
  return [
    ...spoken,
    ...[...pieces, ...whole].flatMap(findCodeSigns),
    ...(isProse ? [] : findSending(plain)),
    ...findDangers(plain, isProse),
    ...findHiddenMarkup(plain),
  ];
}

/** The code of a text: its fenced blocks and lines with code spans, or all of it if it is a script. */
function listCode(text: string, isProse: boolean): CodePiece[] {
  if (!isProse) return [{ at: 0, text }];
  const blocks = [...text.matchAll(fenced)].map(({ 0: all, index }) => ({ at: index, text: all }));
  const outside = text.replace(fenced, (all) => all.replace(/[^\n]/g, " "));
  const spans = [...outside.matchAll(/`([^`\n]{8,})`/g)].map(({ 1: span = "", index }) => ({
    at: index,
    text: span,
  }));
  const indented = [...outside.matchAll(indentedCode)].map(({ 0: all, index }) => ({ at: index, text: all }));
  return [...blocks, ...indented, ...spans];
}

/** Lines set apart by a blank line and four blanks or a tab; items and quotations of a nested list are prose. */
const indentedCode =
  /(?<=(?:^|\n)[ \t]*\r?\n|^)(?:(?: {4,}|\t)[ \t]{0,20}(?![-*+•|>\d]\S{0,3}[ \t]|[-*+•|>])[^\s][^\n]*(?:\n|$))+/g;

const fenced = /^[ \t>]{0,20}(`{3,9}|~{3,9})[^\n]*\n[\s\S]*?(?:^[ \t>]{0,20}\1|$(?![\s\S]))/gm;

/** The text with everything but its fenced blocks blanked, so that positions stay. */
function blankProse(text: string, pieces: readonly CodePiece[]): string {
  let shown = "";
  for (const piece of pieces.filter(({ text: one }) => /^[ \t>]*[`~]{3}/.test(one)))
    shown += text.slice(shown.length, piece.at).replace(/[^\n]/g, " ") + piece.text;
  return shown;
}

/** Dangerous steps, where they are not advised against. */
function findDangers(text: string, isProse: boolean): ScanMatch[] {
  const lines = commandLines(text);
  const avoided = isProse ? listAvoided(lines.map(({ text: line }) => line)) : [];
  const setApart = isProse ? listIndented(text, lines) : [];
  let isCode = !isProse;
  const commands = lines.map(({ text: line }, n) => {
    const isFence = isProse && /^[ \t>]{0,20}(?:`{3}|~{3})/.test(line);
    if (isFence) isCode = !isCode;
    if (isFence || (isCode || setApart[n] ? warned.test(line) : avoided[n] || against.test(line))) return "";
    return isCode || setApart[n] ? line.replace(/^\s{0,20}(?:[$%>]|PS>)\s/, "") : listSpans(line);
  });
  return listDangers(commands).map(({ kind, words, at }) => {
    const { at: start = 0, end = 0 } = lines[at] ?? {};
    const severity = kind === "download-and-run" && isKnownInstaller(commands[at] ?? "") ? "note" : "warn";
    return { at: start, end, code: kind, severity, message: `It ${words}.` };
  });
}

/** Which lines are in a block of indented code. */
function listIndented(text: string, lines: readonly CommandLine[]): boolean[] {
  const blocks = [...text.matchAll(indentedCode)].map(
    ({ 0: all, index }) => [index, index + all.length] as const,
  );
  return lines.map(({ at }) => blocks.some(([from, to]) => from <= at && at < to));
}

/** Installers that everybody uses, from their makers' own addresses. */
function isKnownInstaller(command: string): boolean {
  const urls = command.match(/https?:\/\/[^\s"'`|)>]+/g) ?? [];
  return (
    urls.length === 1 && urls.every((one) => knownInstallers.test(one)) && !/[;&]{1,2}\s*\w/.test(command)
  );
}

const knownInstallers =
  /^https:\/\/(?:bun\.(?:sh|com)\/install|astral\.sh\/(?:uv|ruff)\/|sh\.rustup\.rs|get\.pnpm\.io\/|deb\.nodesource\.com\/|rpm\.nodesource\.com\/|get\.docker\.com|install\.python-poetry\.org|deno\.land\/(?:x\/)?install|fnm\.vercel\.app\/|get\.scoop\.sh|community\.chocolatey\.org\/install|tailscale\.com\/install|claude\.ai\/install|get\.k3s\.io|aka\.ms\/InstallAzure|nixos\.org\/nix\/install|sdk\.cloud\.google\.com|get\.volta\.sh|get\.sdkman\.io|mise\.run|starship\.rs\/install|foundry\.paradigm\.xyz|fluxcd\.io\/install|railway\.(?:app|com)\/install|ollama\.com\/install|fly\.io\/install|raw\.githubusercontent\.com\/(?:Homebrew\/install|nvm-sh\/nvm|helm\/helm|kubernetes-sigs\/\w+|pyenv\/pyenv-installer|ohmyzsh\/ohmyzsh)\/)[^\s]*$/;

/** Advice against a step stands before it; in a table or after a mark it may stand anywhere. */
const against =
  /^[^`]{0,200}(?:\b(?:never|do not|don'?t|avoid|must not|should not|forbidden|prohibited|blocks?|blocked|deny|denied|dangerous|destructive|detects?|detecting|flags?|red flags?|anti-?patterns?|bad|unsafe|vulnerab\w+|malicious|attacks?|attackers?|nunca|jamais|niemals|prohibid\w*|verboten|interdit|sin|ohne|sans|sem)\b|禁止|不要|切勿|しない|금지)[^`]{0,80}`|[❌🚫✗⛔]|`[^`]*`.{0,60}(?:禁止|しない|는? ?금지|우회하지)|^\s*\|.*\b(?:never|block\w*|den(?:y|ied)|dangerous|destructive|forbidden|risk\w*|critical|high|disable)\b/iu;

/** A line of code that says itself that it is a bad example. */
const warned =
  /(?:#|\/\/|--)\s*(?:❌|🚫|bad\b|wrong\b|never\b|don'?t\b|do not\b|avoid\b|insecure\b|vulnerable\b|unsafe\b|sin\b)|[❌🚫✗⛔]/iu;

/** The code of a line of prose; a line without any may be a command that nobody marked. */
function listSpans(line: string): string {
  const spans = [...line.matchAll(/`([^`\n]{2,400})`/g)];
  if (spans.length > 0) {
    // A flag alone is advice only after a word like these.
    const isStep = (span: string, at: number) =>
      /\s/.test(span)
        ? !/^-/.test(span) || advises.test(line.slice(0, at))
        : /^-/.test(span)
          ? advises.test(line.slice(0, at))
          : /[=:]\/{0,2}\S/.test(span);
    return spans
      .filter(({ 1: span = "", index }) => isStep(span, index))
      .map(([, span]) => span)
      .join("\n");
  }
  const start = line.search(/\b(?:curl|wget|rm|chmod|npx|pip|npm|sudo|git|bash|iwr|irm)\b/);
  return start === -1 ? "" : line.slice(start);
}

const advises = /\b(?:use|using|add|pass|append|with|retry|again|run|set|include|try|give)\b/i;

/** Orders that a renderer does not show: link labels used as comments, invisible styles, text pushed out of sight. */
function findHiddenMarkup(text: string): ScanMatch[] {
  const message = "Text that is invisible when rendered addresses the agent.";
  return [...text.matchAll(hiddenMarkup)]
    .filter(([all]) => /[a-z]{3,}\W+[a-z]{2,}\W+[a-z]{2,}/i.test(all.replace(/<[^>]*>|\[[^\]]*\]:/g, " ")))
    .map(({ 0: all, index: at }) => ({
      at,
      end: at + all.length,
      code: "hidden-comment",
      severity: "warn",
      message,
    }));
}

const hiddenMarkup =
  /^\[(?:\/\/|comment|_|\^_|hidden|note)\]:\s{0,4}[#<][^\n]{20,1000}|<(?:span|div|p|font|section|details|summary|small|sub|sup|template|noscript|pre|code|td|li|a|b|i|em)\b[^>]{0,200}(?:display\s{0,2}:\s{0,2}none|visibility\s{0,2}:\s{0,2}hidden|font-size\s{0,2}:\s{0,2}0|opacity\s{0,2}:\s{0,2}0\b|color\s{0,2}:\s{0,2}(?:white|#fff(?:fff)?|transparent)|\bhidden\b)[^>]{0,200}>(?:\s{0,9}<[^>]{0,200}>){0,4}[^<]{10,2000}|\S[ \t]{120,}\S[^\n]{10,}|\n(?:[ \t]*\n){40,}(?=[^\n]{10})/gim;

/** Encoded text is judged like open text; an order or a command in it is reason enough. */
function findDecoded(plain: string): ScanMatch[] {
  return decodeHidden(plain).flatMap(({ at, end, text }) => {
    const inner = [
      ...findPatterns(patterns, text),
      ...findSpeech(text),
      ...findCodeSigns({ at: 0, text }),
      ...findDangers(text, false),
      ...commandLines(text).flatMap(findExfiltration),
    ];
    if (inner.length === 0 && !looksRun.test(text)) return [];
    const message = "It hides an order or a command in an encoding.";
    const severity = inner.length > 0 ? "block" : "warn";
    return [
      { at, end, code: "hidden-code", severity, message },
      ...inner.map((one) => ({ ...one, at, end })),
    ];
  });
}

const looksRun =
  /\b(?:curl|wget|bash|\/bin\/|sh -c|powershell|eval\(|exec\(|import os|subprocess|child_process|require\(|process\.env|os\.system|nc -|chmod|sudo|rm -rf|crontab|\.ssh|invoke-)\b/i;

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** Returns a function that maps a position to its line, counted from 1. */
function lineFinder(text: string): (at: number) => number {
  const starts = lineStarts(text);
  return (at) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= at) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}
