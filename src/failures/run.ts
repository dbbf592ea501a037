import type { CallDifference } from "../records/index.ts";
import { baseName, type WordSet, wordSet } from "../text/index.ts";

/** One program that a shell command starts, with everything around it that may decide whether it works. */
export class Run {
  /** The program without its folder: `pytest`. */
  declare readonly name: string;
  declare readonly args: readonly string[];
  /** The program as it was written: `.venv/bin/pytest`. */
  declare readonly written: string;
  /** `NAME=value`, set for it alone or exported before it, and commands that prepare the shell: `source env.sh`. */
  declare readonly env: readonly string[];
  /** The words before the program: `sudo`, `timeout 30`. */
  declare readonly wrapper: readonly string[];
  /** Where a `cd` before it went. */
  declare readonly directory: string | null;
  /** It only receives what another program prints. */
  declare readonly isFilter: boolean;
  /** Something after it decides the exit status, so its failure may show in the output alone. */
  declare readonly isHidden: boolean;
  /** How it would show that it failed. */
  declare readonly traces: Traces;

  constructor(fields: Pick<Run, "name" | "args"> & RunContext) {
    const alone = {
      ...{ env: [], wrapper: [], directory: null, isFilter: false, isHidden: false },
      traces: plainTraces,
    };
    Object.assign(this, { written: fields.name, ...alone, ...fields });
  }

  with(changes: Partial<Pick<Run, "name" | "args">> & RunContext): Run {
    return new Run({ ...this, ...changes });
  }

  /** Whether the program's first words say what it does, as in `npm run`; the first word of `ls src` is a file. */
  get hasVerbs(): boolean {
    return !verbless.has(this.name);
  }

  /** The program's verb, when it has verbs: `commit`, `run test`, `-m pytest`. */
  get verb(): string | null {
    const { name, args } = this;
    if (args[0] === "-m" && name.startsWith("python")) return args[1] === undefined ? null : `-m ${args[1]}`;
    if (!this.hasVerbs) return null;
    const [first, second] = skipOptions(args);
    if (first === undefined || !bareWord.test(first)) return null;
    const leads = leadingVerbs.has(first) || nested.has(name);
    return leads && second !== undefined && bareWord.test(second) ? `${first} ${second}` : first;
  }

  /** The program with its verb, without what changes from call to call: `npm run lint`. */
  get head(): string {
    return this.verb === null ? this.name : `${this.name} ${this.verb}`;
  }

  /** Whether the program does nothing but print or wait. */
  get onlyPrints(): boolean {
    return printers.has(this.name);
  }

  /** Whether the program only shows something, so that its failure is a wrong guess and its success no remedy. */
  get isLook(): boolean {
    if (this.name === "sed" || this.name === "perl") return !this.args.some((arg) => /^-\w*i/.test(arg));
    return viewers.has(this.name) || this.isQuestion;
  }

  /** Whether it asks how the program is used, or which one it is. */
  get asksForHelp(): boolean {
    // `psql -h localhost` names a host.
    return this.args.some((arg, at) => helpFlags.has(arg) && (arg !== "-h" || at === this.args.length - 1));
  }

  /** Whether it asks the program about itself or about what is installed: `--help`, `npm ls`. */
  get isQuestion(): boolean {
    const { name, args } = this;
    if (this.asksForHelp) return true;
    if (scriptRunners.has(name) && args.length === 1 && args[0] === "run") return true;
    if (name === "gh") return githubQuestions.has(args[1] ?? "");
    if (name === "git" && changesRefs(args)) return false;
    return questions.get(name)?.has(args.find((arg) => !arg.startsWith("-")) ?? "") ?? false;
  }

  /** The parts that a later use would have too, as one writes them: variables, wrapper, program, verb, new flags. */
  call(other: Run | null = null): string[] {
    const { program, before, after } = this.lastingParts(other);
    return [...new Set([...before, program, ...after])].slice(0, 8);
  }

  /** The parts of `call` with the program first, by which uses of it are found. */
  use(other: Run | null = null): [string, ...string[]] {
    const { program, before, after } = this.lastingParts(other);
    return [program, ...new Set([...after, ...before])].slice(0, 8) as [string, ...string[]];
  }

  private lastingParts(other: Run | null) {
    const names = this.env
      .filter((set) => !other?.env.includes(set))
      .map((set) => (assignment.test(set) ? set.replace(/=.*/s, "=") : (set.split(" ")[0] ?? "")));
    const flags = this.args.flatMap((arg) => (/^--?[a-z]/i.test(arg) ? [arg.replace(/=.*/s, "")] : []));
    const added = flags.filter((flag) => !other?.args.some((arg) => arg.startsWith(flag)));
    const path = interpreters.has(this.name) ? this.args[0] : undefined;
    const script = path?.includes("/") && !other?.args.includes(path) ? [baseName(path)] : [];
    return {
      program: this.written.includes("/") ? abbreviate(this.written) : this.name,
      before: [...names, ...this.wrapper.slice(0, 1)],
      after: [...(this.verb?.split(" ") ?? script), ...this.launchedVerb, ...added],
    };
  }

  /** The verb of the program that a launcher starts: `generate` of `npx prisma generate`. */
  private get launchedVerb(): string[] {
    const [program = "", ...rest] = packageLaunchers.has(this.name) ? skipOptions(this.args) : [];
    const verb = program === "" ? null : new Run({ name: program, args: rest }).verb;
    return verb === null ? [] : verb.split(" ");
  }

  /** The difference from another run, with the new values, so that it can be repeated. */
  describeChange(other: Run): string {
    const set = this.env.filter((each) => !other.env.includes(each)).map(writeSetting);
    const verb = this.verb?.split(" ") ?? [];
    const fresh = this.args.filter((arg) => !other.args.includes(arg) && !verb.includes(arg)).map(retellWord);
    const words = [...set, ...this.wrapper.slice(0, 1), this.lastingParts(other).program, ...verb, ...fresh];
    return [...new Set(words)].slice(0, 9).join(" ");
  }

  /** The run as a person would retell it: without one-time values, and without the folder it shares with another. */
  retell(other: Run | null = null): string {
    const isElsewhere = this.directory !== null && this.directory !== other?.directory;
    const words = [
      ...(isElsewhere ? ["cd", abbreviate(this.directory as string), "&&"] : []),
      ...this.env.map(writeSetting),
      ...this.wrapper,
      ...[this.written, ...this.args].map(retellWord),
    ];
    let told = "";
    for (const word of words) {
      if (told.length + word.length >= 90) return `${told} …`;
      told = told === "" ? word : `${told} ${word}`;
    }
    return told;
  }
}

type RunContext = Partial<
  Pick<Run, "written" | "env" | "wrapper" | "directory" | "isFilter" | "isHidden" | "traces">
>;

/** Where the output and the errors of a program go, and what is printed after it if it worked or failed. */
export interface Traces {
  /** The line of the command in which it stands, from 1. */
  readonly line: number;
  readonly output: "shown" | "lost";
  /** `merged` are errors that go where the output goes, into the filters too. */
  readonly errors: "shown" | "merged" | "lost";
  /** The programs that its output goes through. */
  readonly filters: readonly Run[];
  /** `npm test && echo passed`: printed only if it worked. */
  readonly whenWorked: string | null;
  /** `npm test || echo broken`: printed only if it failed. */
  readonly whenFailed: string | null;
  /** It may fail: what comes after `||` is done instead. */
  readonly isForgiven: boolean;
  /** `npm test; echo "exit $?"`: the words before the status. */
  readonly toldExit: string | null;
  /** Nobody waits for it. */
  readonly inBackground: boolean;
  /** `if grep -q x f; then`: its failure is an answer. */
  readonly isCondition: boolean;
}

const plainTraces: Traces = {
  ...{ line: 1, output: "shown", errors: "shown", filters: [], whenWorked: null, whenFailed: null },
  ...{ isForgiven: false, toldExit: null, inBackground: false, isCondition: false },
};

/** `NAME=value`, and PowerShell's `$env:NAME=value`. */
export const assignment = /^(?:\$env:)?\w+=/;

/** The words after options that come before a verb: `git -C x commit`, `pnpm --filter app test`. */
export function skipOptions(args: readonly string[]): readonly string[] {
  let at = 0;
  for (;;) {
    const option = args[at];
    if (option === undefined || !option.startsWith("-")) return args.slice(at);
    if (optionsWithValue.has(option)) at += 2;
    else if (option.includes("=") || bareOption.test(option)) at++;
    // Whether what follows is the verb or the option's value cannot be told; the value may be a secret.
    else return [];
  }
}

const optionsWithValue = wordSet(
  "-C -c --prefix --filter -F -w --workspace -p --cwd --dir --directory --project -f --file -n --namespace --context --profile --region",
);
const bareOption =
  /^-(?:[a-zA-Z]|-(?:no-.*|silent|quiet|verbose|debug|yes|json|bare|offline|frozen|locked|recursive|if-present|workspaces|no))$/;

const packageLaunchers = wordSet("npx bunx pnpx");
const bareWord = /^[a-zA-Z][\w:@-]*$/;
const leadingVerbs = new Set(["run", "exec", "x", "dlx", "compose", "tool", "git", "npm", "pnpm"]);
/** Programs whose verb stands behind what it is about: `gh pr create`. */
const nested = new Set(["gh", "aws", "az", "gcloud", "fly", "heroku"]);
const verbless = wordSet(`
  pytest ssh scp rsync psql pg_dump pg_restore mysql mysqldump sqlite3 redis-cli phpunit php java gcc clang cc tar zip unzip
  eslint prettier tsc mypy black jest mocha nc ping dig openssl
  ls cat bat head tail sed awk grep egrep fgrep rg ag find fd wc sort uniq cut tr xargs echo printf cp mv rm mkdir touch
  chmod chown ln test [ [[ which type command diff cmp file stat tree du df ps kill pkill pgrep curl wget tee jq nl
  dir del copy rmdir findstr
  sleep date env time timeout sh bash zsh open less more node python python3 ruby perl source . read xxd od realpath
`);
const interpreters = wordSet("python python3 node ruby perl php bash sh zsh tsx ts-node");
const printers = wordSet("echo printf true : sleep pwd set wait");
const viewers = wordSet(`
  ls cat bat head tail grep egrep fgrep rg ag find fd wc sort uniq stat file tree du df ps which type command nl jq
  diff cmp test [ [[ pgrep awk cut id whoami uname env printenv xxd od hexdump less more realpath readlink lsof
`);
const helpFlags = new Set(["--help", "-h", "--version", "help", "-V"]);
/** Without a name they list the scripts. */
const scriptRunners = new Set(["npm", "pnpm", "yarn", "bun"]);
const githubQuestions = new Set(["view", "list", "status", "checks", "diff", "watch"]);
const packageQuestions = wordSet("ls list view info why show search outdated freeze");

/** `git branch -D x` and `git remote add` do something. */
function changesRefs(args: readonly string[]): boolean {
  const [verb, ...rest] = skipOptions(args);
  if (verb === "remote")
    return /^(?:add|remove|rm|set-url|rename|prune|update|set-head)$/.test(rest[0] ?? "");
  if (verb !== "branch") return false;
  const acts = rest.some((arg) => /^-[dDmMfcu]|^--(?:delete|move|force|set-upstream)/.test(arg));
  return acts || (rest.length > 0 && rest.every((arg) => !arg.startsWith("-")));
}

const packageManagers = "npm pnpm yarn pip pip3 brew cargo gem apt".split(" ");
const questions = new Map<string, WordSet>([
  [
    "git",
    wordSet(
      "status diff log show branch remote ls-files rev-parse blame ls-remote for-each-ref describe rev-list merge-base cat-file ls-tree shortlog check-ignore name-rev",
    ),
  ],
  ...packageManagers.map((name) => [name, packageQuestions] as const),
]);

function writeSetting(set: string): string {
  if (set.startsWith("$env:")) return `${abbreviate(set)};`;
  return assignment.test(set) ? abbreviate(set) : `${set} &&`;
}

function retellWord(word: string): string {
  if (word === "") return "''";
  // An id of the moment would do harm the next time.
  if (oneTimeId.test(word)) return "<id>";
  const [set = ""] = /^\w{1,20}=/.exec(word) ?? [];
  if (/\s/.test(word)) return word.length > 30 || /[\n"'`]/.test(word) ? `${set}…` : `"${word}"`;
  return abbreviate(word);
}

const oneTimeId = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$|^(?=.*\d)[0-9a-f]{12,64}$/i;

/** A long path by its last parts, any other long word by its beginning. */
function abbreviate(word: string): string {
  const parts = word.split("/");
  const [set = ""] = assignment.exec(word) ?? [];
  if (/^(?:\w+=)?(?:\/|~\/)/.test(word) && parts.length > 4) return `${set}…/${parts.slice(-2).join("/")}`;
  if (word.length <= 60) return word;
  return parts.length > 3 ? `…/${parts.slice(-2).join("/").slice(-50)}` : `${word.slice(0, 40)}…`;
}

/** The last program that is no filter and does more than print; one that acts is preferred to one that looks. */
export function findMainRun(runs: readonly Run[]): Run | null {
  const doing = runs.filter((run) => !run.isFilter && !run.onlyPrints);
  return doing.filter((run) => !run.isLook).at(-1) ?? doing.at(-1) ?? runs[0] ?? null;
}

/** Compares two runs; null when they have too little in common to be the same attempt. */
export function compareRuns(before: Run, after: Run): CallDifference | null {
  const a = [before.name, ...before.args];
  const b = [after.name, ...after.args];
  if (endsWith(a, b) && a.length > b.length && !before.isFilter) return "wrapper";
  if (endsWith(b, a) && b.length > a.length && !handlers.has(after.name)) return "wrapper";
  if (launches(before, after) || launches(after, before)) return "wrapper";
  if (before.name !== after.name) return comparePrograms(before, after);
  if (goesDeeper(before.args, after.args) || goesDeeper(after.args, before.args)) return "wrapper";
  if (findTask(before) !== findTask(after) && !sharesMost(before.args, after.args))
    return startsByPath(before, after) ? "path" : null;
  if (before.written !== after.written) return "path";
  if (before.env.join("\n") !== after.env.join("\n")) return "environment";
  if (isSameFromFolder(before, after)) return "directory";
  if (a.join("\n") !== b.join("\n")) return onlyFlagsDiffer(before.args, after.args) ? "flag" : "argument";
  if (before.directory !== after.directory) return "directory";
  return before.wrapper.join(" ") === after.wrapper.join(" ") ? "none" : "wrapper";
}

/** Whether a run names the same files from the folder that it went to: `jest api/a.ts`, then `cd api && jest a.ts`. */
function isSameFromFolder({ args }: Run, { args: others, directory }: Run): boolean {
  const from = (directory ?? "").replace(/^\.\/|\/$/g, "");
  if (from === "" || args.length !== others.length || args.join("\n") === others.join("\n")) return false;
  return args.every((arg, at) => arg === others[at] || arg === `${from}/${others[at]}`);
}

/** Programs that do something to the file they are given, and do not run it. */
const handlers = wordSet(
  "chmod chown chgrp cat bat ls stat file head tail less rm cp mv ln touch sed dos2unix shellcheck git xattr which",
);

function comparePrograms(before: Run, after: Run): CallDifference | null {
  if (startsByPath(before, after)) return "path";
  // `docker-compose up`, then `docker compose up`.
  const isJoined = (joined: Run, parted: Run) => joined.name === `${parted.name}-${parted.args[0]}`;
  return isJoined(before, after) || isJoined(after, before) || isSameJob(before, after) ? "program" : null;
}

function endsWith(words: readonly string[], end: readonly string[]): boolean {
  return end.length > 0 && end.every((word, at) => words[words.length - end.length + at] === word);
}

/** Whether one run starts the other's program by name: `uv run pytest` starts `pytest`. */
function launches(outer: Run, inner: Run): boolean {
  if (outer.name === inner.name) return false;
  const words = [outer.name, ...outer.args];
  const at = words.indexOf(inner.name);
  const isBefore = (word: string) => bareWord.test(word) || word.startsWith("-");
  if (at < 1 || at > 5 || !words.slice(1, at).every(isBefore)) return false;
  return new Run({ name: inner.name, args: words.slice(at + 1) }).verb === inner.verb;
}

/** `tool x y`, then `tool run x y`. */
function goesDeeper(before: readonly string[], after: readonly string[]): boolean {
  const more = after.length - before.length;
  return more > 0 && endsWith(after, before) && after.slice(0, more).every((word) => bareWord.test(word));
}

/** The verb of a run, or the script that an interpreter is given. */
function findTask(run: Run): string | null {
  if (!interpreters.has(run.name)) return run.verb;
  const script = run.args[0] ?? null;
  return script === "-m" ? (run.args[1] ?? null) : script;
}

/** `mocha` or `pnpm exec mocha`, then `node …/mocha/bin/mocha.js`. */
function startsByPath(before: Run, after: Run): boolean {
  const sought = before.verb?.split(" ").at(-1) ?? before.name;
  const isSought = (word: string) => word.includes("/") && baseName(word).replace(/\.\w+$/, "") === sought;
  return isSought(after.written) || isSought(after.args[0] ?? "");
}

function sharesMost(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a.filter(isTelling)), new Set(b.filter(isTelling))];
  const shared = [...left].filter((word) => right.has(word));
  return shared.length > 0 && shared.length / Math.max(left.size, right.size) >= 0.5;
}

/** One word in common may be chance, unless it is the verb of both, or a file. */
function isSameJob(before: Run, after: Run): boolean {
  if (!sharesMost(before.args, after.args)) return false;
  const shared = before.args.filter((word) => isTelling(word) && after.args.includes(word));
  return shared.length > 1 || /[./]/.test(shared[0] ?? "") || before.verb === after.verb;
}

/** Whether a word says what a call is about: `-n`, `.` and `2` do not. */
function isTelling(word: string): boolean {
  return word.length > 2 && !/^-\w$|^\d+$/.test(word) && !leadingVerbs.has(word);
}

/** Whether two lists of words are the same but for flags and the values of flags that only one of them has. */
function onlyFlagsDiffer(a: readonly string[], b: readonly string[]): boolean {
  const isFlag = (word: string | undefined) => word?.startsWith("-") === true;
  const operands = (args: readonly string[]) => args.filter((arg) => !isFlag(arg)).join("\n");
  const rest = (args: readonly string[], other: readonly string[]) => {
    const isOwnValue = (flag = "") => isFlag(flag) && !other.includes(flag);
    return args.filter((arg, at) => !isFlag(arg) && !isOwnValue(args[at - 1])).join("\n");
  };
  return operands(a) === operands(b) || rest(a, b) === rest(b, a);
}
