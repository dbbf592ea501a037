import {
  hiddenCharacters,
  isExpectedCharacter,
  regionFlags,
  strayJoiners,
  stripHidden,
  unwritable,
  wordSet,
} from "../text/index.ts";
import { longRuns, type Span } from "./assignments.ts";
import { findSecrets, knownTokens } from "./redact.ts";

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

/** Whether a concern is one of harm: a path in somebody's home is only untidy. */
export function isDoubt({ code }: Concern): boolean {
  return code !== "personal-path";
}

/** Something that should not be in a text that agents read. */
export interface Concern {
  readonly code: ConcernCode;
  /** `block`: the text may not be written. `warn`: a person should see it first. */
  readonly severity: "block" | "warn";
  readonly message: string;
  /** The line, after the file if one was given. */
  readonly where: string;
}

// biome-ignore format: a list of names reads better in rows
export type ConcernCode =
  | "secret" | "injection" | "concealment" | "role-tag" | "exfiltration" | "hidden-code" | "hidden-comment"
  | "hidden-character" | "destruction" | "unchecked-download" | "personal-path" | "run-on-load" | "too-long";

interface ScanOptions {
  /** Allowed characters. */
  readonly most?: number;
  /** The file's name, for `where`. */
  readonly file?: string;
  /** The text is a skill that agents load: some run the commands marked in it on load. */
  readonly loaded?: boolean;
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
  const { most = maxBodyChars, file, loaded = false } = options;
  const where = (line: number) => (file === undefined ? `line ${line}` : `${file}, line ${line}`);
  // A text too long to scan in reasonable time is refused, not passed unseen.
  const matches = [
    ...findExcess(text, Math.min(most, mostScanned)),
    ...(text.length <= mostScanned ? findAll(text, loaded ? [...patterns, ...runOnLoad] : patterns) : []),
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

interface ScanMatch extends Omit<Concern, "where"> {
  readonly at: number;
  readonly end: number;
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
    ...reportSecrets(findSecrets(text)),
    ...within(mended, reportSecrets(knownTokens(mended, longRuns(mended)))),
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
      /!\[[^\]\n]{0,100}\]\(https?:\/\/[^)\s]{0,300}[?&][^)\s]{0,200}(?:\{|\$|%7B)/gi,
  }),
  ...forms("block", "destruction", {
    "It deletes a whole disk, system or home folder.":
      /\brm\s{1,9}(?:-{1,2}[\w-]{1,30}\s{1,9}){1,5}(?:--\s{1,9})?["']?(?:\/|~|\$HOME|\$\{HOME\})(?:\/?\*)?\/?["']?(?=[\s;&|`)]|$)|\bmkfs(?:\.\w{1,8})?\s{1,9}(?:-\w{1,9}\s{1,9}){0,4}\/dev\/|\bdd\b[^\n]{0,100}\bof=\/dev\/(?:sd|nvme|hd|disk)|:\(\)\s?\{\s?:\|:&\s?\}\s?;:|\bch(?:mod|own)\s{1,9}(?:-\w{1,9}\s{1,9}){0,3}(?:-R|--recursive)\s{1,9}(?:\S{1,40}\s{1,9})?\/(?=[\s;&|`)]|$)/gm,
  }),
  ...forms("warn", "unchecked-download", {
    "It runs what it downloads.":
      /\b(?:curl|wget)\b[^\n|]{0,300}\|\s{0,9}(?:sudo\s{1,9}(?:-\w{1,9}\s{1,9}){0,3})?(?:(?:ba|z|da)?sh|python3?|node|perl|ruby)\b|\b(?:ba|z)?sh\b[^\n]{0,20}<\(\s{0,9}(?:curl|wget)\b|\b(?:iwr|irm|Invoke-WebRequest|Invoke-RestMethod)\b[^\n|]{0,300}\|\s{0,9}(?:iex|Invoke-Expression)\b/gi,
  }),
  ...forms("warn", "exfiltration", {
    "It adds a key that may log in to this machine.":
      />>?\s{0,9}\S{0,60}\/\.ssh\/authorized_keys\b|\b(?:add|append|copy|put)\b[^\n]{0,60}\bauthorized_keys\b/gi,
  }),
];

/** Claude Code runs such a command when it loads the skill, and inserts its output. */
const runOnLoad = forms("block", "run-on-load", {
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

function reportSecrets(spans: readonly Span[]): ScanMatch[] {
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
    if (isOrder || inside.length > 200 || isSaid(/\b(?:when|if|before|after) you\b/i))
      found.push({ at, end, code: "hidden-comment", severity: isOrder ? "block" : "warn", message });
    at = text.indexOf("<!--", end);
  }
  return found;
}

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
    .map(({ index: at }) => ({ at, end: at, code: "personal-path", severity: "warn", message }));
}

const anyone = wordSet(
  "user username users you me your-name yourname name someone dev node app runner ubuntu vscode codespace vagrant shared public default linuxbrew ec2-user example git",
);

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

/**
 * Plain readings of a text without hidden characters: lookalike letters, accents, HTML entities, tags and Markdown
 * are removed. The first is the text as rendered; the second, if it differs, includes comments, tags and link targets.
 * Line breaks stay. For matching only: text in other alphabets becomes nonsense.
 */
function readPlainly(text: string): readonly string[] {
  const letters = toLatin(withoutEntities(text));
  const shown = bare(letters.replace(commentPattern, lineEnds).replace(targets, ""));
  if (!/\]\(|<[!a-z]/i.test(letters)) return [shown];
  return [shown, bare(letters.replace(/<!--|-->|[<>]/g, " ").replace(targets, " $1 "))];
}

/** Replaces letters that look like Latin ones. */
function toLatin(text: string): string {
  return text.replace(/[^\x00-\x7f]+/g, (others) =>
    others
      .normalize("NFKD")
      .replace(/[\p{M}\p{DI}]/gu, "")
      .replace(lookalikes, (letter) => latin.get(letter) ?? letter),
  );
}

/**
 * Rejoins a word or token that was split by a line continuation, adjacent strings or code spans, entities or markup.
 * Line breaks stay.
 */
function joinPieces(text: string): string {
  return withoutEntities(text)
    .replace(pieces, (all) => all.replace(seam, "") + lineEnds(all))
    .replace(tags, lineEnds)
    .replace(/[*`\\]/g, "");
}

const seams = String.raw`\\\r?\n[ \t]{0,40}|"\s{0,20}(?:\+\s{0,20})?"|'\s{0,20}(?:\+\s{0,20})?'|\x60\s{0,20}\x60`;
const seam = new RegExp(seams, "g");
const pieces = new RegExp(String.raw`(?:(?:${seams})[^\s"'\x60\\]{0,200})+`, "g");

/** Removes tags and Markdown. */
function bare(text: string): string {
  return text
    .replace(tags, (all, name: string) => (parts.has(name.toLowerCase()) ? " " : "") + lineEnds(all))
    .replace(lineMarks, "")
    .replace(marks, "");
}

/** Markdown that is not visible when rendered. */
const marks = /\[\^[^[\]\n]{1,60}\]|[*_`~\\[\]]/g;
const tags = /<\/?([a-z][a-z\d-]{0,20})(?:[\s/][^<>]{0,400})?>/gi;
/** Tags that separate words. */
const parts = wordSet("br p div li ul ol tr td th hr table h1 h2 h3 h4 h5 h6");
const commentPattern = /<!--[\s\S]{0,1000}?-->/g;
/** Link targets. */
const targets = /\]\(((?:[^()\n]|\([^()\n]{0,200}\)){0,2000})\)|\]\[[^[\]\n]{0,100}\]/g;
/** Prefixes of lines that continue a sentence: quotations, lists, commentPattern. */
const lineMarks = /^[ \t]{0,20}(?:[>#][>#\t ]{0,20}|\/{2,3}[ \t]?|--? |[;|] ?)/gm;

function lineEnds(text: string): string {
  return text.includes("\n") ? text.replace(/[^\n]+/g, "") : "";
}

function withoutEntities(text: string): string {
  if (!text.includes("&")) return text;
  // An entity may be hidden in another, and a hidden character in an entity.
  return stripHidden(text.replace(entities, decoded).replace(entities, decoded));
}

const entities = /&(?:amp;){0,9}(?:#x0{0,8}([0-9a-f]{1,6})|#0{0,8}(\d{1,7})|([a-z]{2,20}));?/gi;

function decoded(all: string, hex: string | undefined, decimal: string | undefined, name = ""): string {
  const known = named.get(name.toLowerCase());
  if (known !== undefined) return known;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  if (!(code > 0 && code <= 0x10ffff)) return all;
  // A line break would move the lines after it.
  return /\s/.test(String.fromCodePoint(code)) ? " " : String.fromCodePoint(code);
}

const named: ReadonlyMap<string, string> = new Map([
  ...listNamed("nbsp ensp emsp thinsp hairsp numsp puncsp tab newline", " "),
  ...listNamed("shy zwj zwnj zerowidthspace nobreak lrm rlm it ic af", ""),
  ...Object.entries({ amp: "&", apos: "'", quot: '"', lsquo: "'", rsquo: "'", hyphen: "-", dash: "-" }),
  // Letters of other alphabets that look like Latin ones.
  ...Object.entries({ acy: "a", iecy: "e", ocy: "o", rcy: "p", scy: "c", ucy: "y", khcy: "x", iukcy: "i" }),
  ...Object.entries({ jsercy: "j", dscy: "s", alpha: "a", iota: "i", omicron: "o", rho: "p", nu: "v" }),
]);

function listNamed(names: string, character: string): [string, string][] {
  return names.split(" ").map((name) => [name, character]);
}

/** Each Latin letter, followed by the letters of other alphabets and Latin variants that look like it. */
const lookalikeRows = [
  "aаАαΑɑᴀⱯꓮⲁⲀ bЬвВβΒʙᏴꓐⲃⲂ cсСϲϹᴄᏟƈꓚⲥⲤ dԁԀᴅᎠɗđꓓ eеЕεΕᴇᎬєЄɛҽꓰⲉⲈ fꜰϝƒғꓝ gɡɢԍցᏀǥꓖ hһҺнНηΗհʜᎻħꓧⲏⲎ",
  "iіІιΙɪıɩᎥӏӀꓲⲓⲒ jјЈϳᴊᎫꓙ kкКκΚᴋᏦꓗⲕⲔ lⅼʟᏞłɭꓡ mмМΜᴍᎷꓟⲙⲘ nոпΝɴᴎꓠⲛⲚ oоОοΟօᴏσøØꓳⲟⲞ pрРρΡᴘᏢꓑⲣⲢ qԛԚգǫ",
  "rгʀᏒɾᴦꓣⲅⲄ sѕЅꜱᏚʂտꓢ tтТτΤᴛᎢŧꓔⲧⲦ uυսᴜμʋᏌꓴ vνѵѴᴠᏙꓦ wԝԜᴡωшᎳѡꓪ xхХχΧꓫⲭⲬ yуУүҮγΥʏꓬⲩⲨ zᴢΖᏃʐƶꓜ",
]
  .join(" ")
  .split(" ");

/** Letters in black circles and squares, and those of flags, which no Unicode normal form maps to letters. */
function listAlphabet(from: number): [string, string][] {
  return [..."abcdefghijklmnopqrstuvwxyz"].map((letter, n) => [String.fromCodePoint(from + n), letter]);
}

const latin: ReadonlyMap<string, string> = new Map([
  ...lookalikeRows.flatMap(([letter = "", ...others]) => others.map((one) => [one, letter] as const)),
  ...[0x1f150, 0x1f170, 0x1f1e6].flatMap(listAlphabet),
  // The empty Braille pattern.
  ["\u2800", " "],
]);

const lookalikes = new RegExp(`[${[...latin.keys()].join("")}]`, "gu");
