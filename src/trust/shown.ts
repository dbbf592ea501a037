import type { Event } from "../records/index.ts";
import { isKeyLike } from "./forms.ts";
import {
  isChosen,
  isGiven,
  isPlaceholder,
  isScrambled,
  isTold,
  looksTyped,
  makeSpan,
  type Span,
} from "./values.ts";

/*
 * Secrets that only what stands around them shows to be one: the output of a command that prints a secret, the answer
 * to a question for one, and what the person later calls their password.
 */

const namesSecret =
  "(?:pass(?:word|wd|phrase|code)?|pw|secrets?|tokens?|credentials?|api[_-]?key|private[_-]?key|pin)";
const printing = new RegExp(
  [
    String.raw`\b(?:cat|less|head|tail|bat|type|more|strings|Get-Content)\s(?:-\S+\s)*[^|;&\n]*?(?:^|[\s/\\._-])${namesSecret}(?:[._-]\w{1,12})?(?<!\.(?:[cm]?[jt]sx?|py|md|go|rs|rb|java|html?|css|sh|c|h|log))(?=[\s;|&"']|$)`,
    String.raw`\bpass (?:show )?(?:-\S+ )?[\w.@-]+/[\w./@-]+\s*$|\b(?:gopass|lpass) show\b|\bbw (?:get (?:password|totp|notes)|unlock)\b|\bop (?:read|item get)\b`,
    String.raw`\b(?:gh|glab|fly|flyctl|hf|doctl|netlify) auth (?:status )?(?:--show-)?token\b|\boc whoami (?:-t|--show-token)|\bheroku (?:config:get|auth:token)\b`,
    String.raw`\bsecretsmanager get-secret-value\b|\bssm get-parameters?\b[^\n]*--with-decryption|\becr get-login-password\b|\bgcloud (?:secrets versions access|auth (?:application-default )?print-\w+-token)\b`,
    String.raw`\baz (?:keyvault secret show|account get-access-token)\b|\bvault (?:kv get|read|print token|token create)\b[^\n]*(?:-field|token)|\bdoppler secrets get\b|\bchamber read\b|\binfisical secrets get\b`,
    String.raw`\bsecurity find-(?:generic|internet)-password\b[^\n]*-w|\bsecret-tool lookup\b|\bkeyring get\b|\bget secrets?\b[^\n]*(?:jsonpath|go-template|base64 (?:-d|--decode|-D))`,
    String.raw`\b(?:echo|printenv|printf)\s[^\n|;]{0,20}\$?\{?\w*(?:TOKEN|PASS|PASSWORD|PASSWD|SECRET|API_?KEY|_PW|_PWD)\w*\}?["']?\s*$|\bopenssl rand\b|\b(?:pwgen|apg|makepasswd|pwqgen|diceware|xkcdpass)\b|\btoken_(?:urlsafe|hex)\(|\bdumpprivkey\b|\boathtool\b|\bykman oath accounts code\b|/dev/u?random\b[^\n]*\b(?:base64|tr)\b|\b(?:ansible-vault view|sops (?:-d|decrypt)|gpg (?:-d|--decrypt)|age -d)\b`,
  ].join("|"),
  "i",
);

/** Reads something by a name that is a secret's: `terraform output -raw db_password`, `jq -r .token`, `git config --get x.password`. */
const readsByName = new RegExp(
  String.raw`(?:^|[\s'"\x60(/-])(?:output|get|show|read|view|reveal|fetch|print|dump|decrypt|query|lookup|select|jq|yq|config|cut|awk|grep|printf|echo|g|raw|p|initial)\b[^\n|]{0,200}?(?:[\s/._'"=:{-]|\w_|db|root|admin|auth|api|access)(?:${namesSecret}|requirepass|psk|auth[_-]?(?:key|token)|signing[_-]?key)s?(?=["'}\])\s=/]|$)(?:[^\n|]{0,80}|[^\n]{0,80}\|\s*(?:tr|cut|head|sed|awk|jq|xxd|od|hexdump|base64)\b[^\n]{0,80})$`,
  "i",
);

const decodes = /\bbase64 (?:-\w*[dD]|--decode)\b|\bxxd (?:-\w+ )*-r/;

/** The secret that a command has printed, if it is one that prints secrets. */
function printedBy(command: string, output: string): string | undefined {
  if (printing.test(command)) return readPrinted(output);
  const value = readsByName.test(command) || decodes.test(command) ? readPrinted(output) : undefined;
  // Less telling, so it has to look like one.
  return value !== undefined && (isTold(value) || isScrambled(value, 12)) ? value : undefined;
}

/** The secret in the output of a command that prints one: its only line, or the first of a password store. */
function readPrinted(output: string): string | undefined {
  const lines = output.trim().split(/\r?\n/);
  const value = (lines[0] ?? "").replace(/\$ ?$/, "").trim();
  const isAlone = lines.length === 1 || lines.slice(1).every((line) => /^\w[\w -]{0,20}: |^\s*$/.test(line));
  return isAlone && isAnswer(value) ? value : undefined;
}

const refusal =
  /^(?:yes|no|ok(?:ay)?|sure|skip|none|never|stop|cancel|continue|go on|done|thanks?|error|usage|why|what|sorry|ja|nein|true|false|password|hello|exit|quit|later)\b/i;

/** Whether a text may be a secret that stands alone: one word, or a few that make no sentence. */
function isAnswer(value: string): boolean {
  if (value.length < 6 || value.length > 400 || refusal.test(value) || isPlaceholder(value)) return false;
  if (/^[a-z]{3,12}(?:[ -][a-z]{3,12}){1,7}$/.test(value))
    return (
      value.length >= 10 &&
      !/\b(?:the|is|to|it|you|a|in|not|use|and|for|of|my|this|that|der|die|das)\b/.test(value)
    );
  return isGiven(value) && /^[\x21-\x7e]+$/.test(value) && /[\d\W_]|[A-Z].*[a-z]|.{12}/.test(value);
}

const asking = new RegExp(
  `(?:\\b(?:${namesSecret}|passwort|kennwort|otp|contraseña|mot de passe|senha)\\b|パスワード|密码|пароль)`,
  "i",
);

/** Whether a text ends by asking for a secret: a question of the agent, or a program's prompt. */
function asksForSecret(text: string): boolean {
  const end = text.trimEnd().slice(-200);
  return /[?？:：]$/.test(end) && asking.test(end.replace(/^.*\n\n/s, ""));
}

const keysSent = /\bsend-keys\s(?:-\w+\s\S+\s|-\w\s)*(["'])([^"'\n]{6,100})\1/;

const naming =
  /\b(?:that|this|it|above|which)(?:['’]s| is| was| \w{2,10} (?:is|was))[^\n.!?]{0,40}\b(?:password|passphrase|secret|token|api key|key|pin|pw|credentials?)\b/i;

/** Words of earlier prompts that may be what the person now calls a secret. */
function readNamed(earlier: readonly string[]): string[] {
  const words = earlier.flatMap((text) => text.match(/[^\s"'`“”,;()<>]{8,200}/g) ?? []);
  const isUnique = (word: string) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}$/.test(word) || isKeyLike(word);
  return [...new Set(words.map((word) => word.replace(/[.:!?]+$/, "")))].filter(
    (word) => looksTyped(word) || (isUnique(word) && !word.includes("/")),
  );
}

/** The secrets that the order of a session's events shows. */
export function shownSecrets(events: readonly Pick<Event, "kind" | "text" | "command">[]): string[] {
  const prompts: string[] = [];
  let before = "";
  return events.flatMap(({ kind, text, command }) => {
    const found: (string | undefined)[] = [];
    if (kind === "call" && command !== null) {
      found.push(printedBy(command, text));
      // What is typed into a terminal that then, or before, asks for a password.
      if (asksForSecret(text) || asksForSecret(before)) found.push(keysSent.exec(command)?.[2]);
    }
    if (kind === "prompt") {
      if (asksForSecret(before)) found.push(...readAnswer(text));
      if (naming.test(text)) found.push(...readNamed(prompts.slice(-3)));
      prompts.push(text.slice(0, 2_000));
    }
    before = text;
    return found.filter((value) => value !== undefined);
  });
}

/** An answer that is only the secret, or has a word that looks like one. */
function readAnswer(text: string): string[] {
  if (text.length > 200) return [];
  const whole = text.trim();
  if (isAnswer(whole)) return [whole];
  return whole.split(/[\s"'`,;]+/).filter((word) => isChosen(word) && looksTyped(word));
}

// It begins with the rare sign and looks back, which is many times faster.
const typedCommand = /[$#%>] (?<=(?:^|\n)[^\n$#%>]{0,60}[$#%>] )([^\n]{4,300})\n([^\n]{6,400})(?=\n|$)/g;

/** `$ pass show a/b` with its output below, in one text. */
export function printedSecrets(text: string): Span[] {
  return [...text.matchAll(typedCommand)].flatMap((match) => {
    const value = printedBy(match[1] ?? "", match[2] ?? "");
    return value === undefined
      ? []
      : [makeSpan(match.index + match[0].lastIndexOf(value), value, "password")];
  });
}
