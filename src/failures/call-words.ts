import { baseName, wordSet } from "../text/index.ts";
import { parseCommand } from "./command.ts";
import { complains, readLines } from "./error-text.ts";
import type { Run } from "./run.ts";

// --- Texts that the shell runs ---

/** The texts between backticks that stand inside of double quotes, which the shell runs. */
export function findSubstituted(command: string): string[] {
  const found: string[] = [];
  let quote: string | null = null;
  for (let at = 0; at < command.length; at++) {
    const char = command[at] as string;
    if (char === "\\" && quote !== "'") at++;
    else if (quote === "'") quote = char === "'" ? null : quote;
    else if (char === '"') quote = quote === null ? '"' : null;
    else if (char === "'" && quote === null) quote = "'";
    else if (char === "`" && quote === '"') {
      const end = command.indexOf("`", at + 1);
      found.push(command.slice(at + 1, end < 0 ? undefined : end));
      if (end < 0) return found;
      at = end;
    }
  }
  return found;
}

/** The line that complains of a word which the shell ran because it stands in backticks in a text. */
export function findSpoiledText(command: string, output: string): string | null {
  if (!command.includes("`") || !isProse(command)) return null;
  // An everyday word may stand in any complaint.
  const words = findSubstituted(command).flatMap((inner) =>
    inner.split(/\s+/).filter((word) => word.length > 3 && /\w[./_-]\w/.test(word)),
  );
  const isAbout = (line: string) => complains(line) && words.some((word) => line.includes(word));
  return words.length === 0 ? null : (readLines(output).find(isAbout) ?? null);
}

/** Whether backticks stand among the words of a text: `"at `hostname -f`"` is meant to be run. */
function isProse(command: string): boolean {
  const texts = command.replace(/`[^`]*`/g, "\0").match(/"(?:[^"\\]|\\.)*"/gs) ?? [];
  return texts.some((text) => text.includes("\0") && (text.match(/[\p{L}\d]{2,}/gu) ?? []).length >= 4);
}

// --- Texts that a program takes for options ---

/** The text that begins with a dash and that a program, by what it complains of, took for an option. */
export function findDashedText(command: string, line: string): string | null {
  if (!/\b(?:flag|option|argument|switch)s?\b/i.test(line)) return null;
  const text = parseCommand(command).flatMap((run) => listDashedTexts(run))[0];
  if (text === undefined) return null;
  const refused = (/["'`‘]([^"'`’]*)["'`’]/.exec(line) ?? refusedOption.exec(line))?.slice(1).join("") ?? "";
  const isOfText = text.includes(refused.trim());
  // `-- ' '` and `-` name a sign that only a text has.
  return isOfText && (refused.trim().length > 2 || !/\w/.test(refused)) ? text : null;
}

const refusedOption = /: (-[^:]*): invalid option|\b(?:flag|option|argument|switch)s?:? (.*)$/i;

/** The words of a call that begin with a dash and cannot be options, unless something says that they are texts. */
function listDashedTexts({ args }: Run): string[] {
  const end = args.indexOf("--");
  const before = end < 0 ? args : args.slice(0, end);
  return before.filter((arg, at) => dashed.test(arg) && !takesPattern.has(before[at - 1] ?? ""));
}

/** `- name: x` and `--dry|--wet`; `-I{}` and `--glob=*.ts` are options with their values. */
const dashed = /^-(?:[\s|(<>[*"'\\]|-[\w.:-]*[\s|()[\]*+?\\^$<>"',])/;
const takesPattern = wordSet("-e --regexp");

/** Whether a call has a text where no program takes it for an option, in these or nearly these words. */
export function isTextKept(command: string, text: string): boolean {
  const core = text.replace(/^[\s-]+/, "").slice(0, 8);
  return (
    core !== "" &&
    command.includes(core) &&
    parseCommand(command).every((run) => listDashedTexts(run).length === 0)
  );
}

/** Whether a command edits files in place by a `sed -i` that is given no suffix of its own. */
export function editsInPlace(command: string): boolean {
  return parseCommand(command).some(({ name, args }) => {
    const next = name === "sed" ? args[args.indexOf("-i") + 1] : undefined;
    return args.includes("-i") && next !== undefined && next !== "";
  });
}

// --- Values that are not there ---

interface RefusedValue {
  readonly word: string;
  /** The thing that an option names by its last part: `--add-label` takes a label. */
  readonly kind: string;
}

/** The value of an option that an error says does not exist. */
export function findRefusedValue(command: string, line: string): RefusedValue | null {
  if (!/\bnot found$|\bno such\b|\b(?:does not|doesn't) exist\b|\bunknown\b/i.test(line)) return null;
  const named = new Set([...line.matchAll(/["'`‘“]([\w.:@-]{2,60})["'`’”]/g)].map(([, word]) => word));
  for (const { args } of parseCommand(command))
    for (const [at, arg] of args.entries()) {
      const [, option, given] = /^--([a-z][a-z-]*)(?:=(.+))?$/s.exec(arg) ?? [];
      const word = given ?? args[at + 1];
      if (option !== undefined && word !== undefined && named.has(word))
        return { word, kind: option.split("-").at(-1) ?? option };
    }
  return null;
}

// --- Files whose absence nobody says ---

/** The file that a look did not find, where its complaint was thrown away: the only name that it was given. */
export function findUnseenFile(command: string): string | null {
  const [run, ...others] = parseCommand(command);
  if (run === undefined || others.length > 0 || !lookers.has(run.name) || run.traces.errors !== "lost")
    return null;
  const paths = run.args.filter((arg) => !arg.startsWith("-") && !/^\d+$/.test(arg));
  const names = new Set(paths.map((path) => baseName(path.replace(/\/+$/, ""))));
  const [name = ""] = names;
  return names.size === 1 && /^[\w@.-]{3,80}$/.test(name) && /[a-z]/i.test(name) ? name : null;
}

/** Programs that end badly only where what they should show is not there. */
const lookers = wordSet("ls cat bat head tail stat wc file nl");
