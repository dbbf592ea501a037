import { assignment, baseName, type Program, type Run } from "./command.ts";
import { policy } from "./policy.ts";

/** What differs between a call that failed and a similar one. A flag is a change when nothing but flags differs. */
export type Difference =
  | "wrapper"
  | "program"
  | "path"
  | "environment"
  | "directory"
  | "flag"
  | "argument"
  | "none";

/** What changed from one run to another; null when the two have too little in common to be the same attempt. */
export function differenceBetween(before: Run, after: Run): Difference | null {
  const [a, b] = [wordsOfRun(before), wordsOfRun(after)];
  if (endsWith(a, b) && a.length > b.length && !before.filters) return "wrapper";
  if (endsWith(b, a) && b.length > a.length) return "wrapper";
  if (launches(before, after) || launches(after, before)) return "wrapper";
  if (before.name !== after.name) return differenceOfProgram(before, after);
  if (goesDeeper(before.args, after.args) || goesDeeper(after.args, before.args)) return "wrapper";
  if (taskOf(before) !== taskOf(after) && !sharesMost(before.args, after.args)) {
    return startsByPath(before, after) ? "path" : null;
  }
  if (before.written !== after.written) return "path";
  if (before.env.join("\n") !== after.env.join("\n")) return "environment";
  const sameWords = a.join("\n") === b.join("\n");
  if (sameWords && before.directory !== after.directory) return "directory";
  if (sameWords) return before.through.join(" ") === after.through.join(" ") ? "none" : "wrapper";
  return onlyFlagsDiffer(before.args, after.args) ? "flag" : "argument";
}

/** `tool x y`, then `tool run x y`. */
function goesDeeper(before: readonly string[], after: readonly string[]): boolean {
  const more = after.length - before.length;
  return more > 0 && endsWith(after, before) && after.slice(0, more).every((word) => bareWord.test(word));
}

/** Whether two lists of words are the same but for flags and the values of flags that only one of them has. */
function onlyFlagsDiffer(a: readonly string[], b: readonly string[]): boolean {
  const rest = (args: readonly string[], other: readonly string[]) =>
    args.filter((arg, at) => !arg.startsWith("-") && !ownsValue(args[at - 1], other));
  const whole = (args: readonly string[]) => args.filter((arg) => !arg.startsWith("-")).join("\n");
  return whole(a) === whole(b) || rest(a, b).join("\n") === rest(b, a).join("\n");
}

function ownsValue(flag: string | undefined, other: readonly string[]): boolean {
  return flag?.startsWith("-") === true && !other.includes(flag);
}

/** Whether one run starts the other's program by name: `uv run pytest` starts `pytest`. */
function launches(outer: Run, inner: Run): boolean {
  if (outer.name === inner.name) return false;
  const words = wordsOfRun(outer);
  const at = words.indexOf(inner.name);
  if (at < 1 || at > 5 || !words.slice(1, at).every((word) => bareWord.test(word) || word.startsWith("-")))
    return false;
  return subcommandOf({ name: inner.name, args: words.slice(at + 1) }) === subcommandOf(inner);
}

function differenceOfProgram(before: Run, after: Run): Difference | null {
  if (startsByPath(before, after)) return "path";
  if (isJoined(before, after) || isJoined(after, before)) return "program";
  if (isSameJob(before, after)) return "program";
  return null;
}

/** `docker-compose up`, then `docker compose up`. */
function isJoined(joined: Run, parted: Run): boolean {
  return joined.name === `${parted.name}-${parted.args[0]}`;
}

/** What a run is for: its verb, or the script that an interpreter is given. */
function taskOf(run: Run): string | null {
  if (!interpreters.has(run.name)) return subcommandOf(run);
  const script = run.args[0] ?? null;
  return script === "-m" ? (run.args[1] ?? null) : script;
}

const interpreters = new Set("python python3 node ruby perl php bash sh zsh tsx ts-node".split(" "));

/** `mocha` or `pnpm exec mocha`, then `node …/mocha/bin/mocha.js`. */
function startsByPath(before: Run, after: Run): boolean {
  const sought = subcommandOf(before)?.split(" ").at(-1) ?? before.name;
  return [after.written, after.args[0] ?? ""].some((word) => word.includes("/") && bareName(word) === sought);
}

function sharesMost(a: readonly string[], b: readonly string[]): boolean {
  const [left, right] = [new Set(a.filter(tells)), new Set(b.filter(tells))];
  const shared = [...left].filter((word) => right.has(word));
  return shared.length > 0 && shared.length / Math.max(left.size, right.size) >= 0.5;
}

/** One word in common may be chance, unless it is the verb of both, or a file. */
function isSameJob(before: Run, after: Run): boolean {
  if (!sharesMost(before.args, after.args)) return false;
  const shared = before.args.filter((word) => tells(word) && after.args.includes(word));
  return shared.length > 1 || /[./]/.test(shared[0] ?? "") || subcommandOf(before) === subcommandOf(after);
}

/** Whether a word says what a call is about: `-n`, `.` and `2` do not. */
function tells(word: string): boolean {
  return word.length > 2 && !/^-\w$|^\d+$/.test(word) && !leadsOn.has(word);
}

function endsWith(words: readonly string[], end: readonly string[]): boolean {
  return end.length > 0 && end.every((word, at) => words[words.length - end.length + at] === word);
}

function wordsOfRun({ name, args }: Program): string[] {
  return [name, ...args];
}

/** The program's verb, when it has verbs: `commit`, `run test`, `-m pytest`. */
export function subcommandOf({ name, args }: Program): string | null {
  if (args[0] === "-m" && name.startsWith("python")) return args[1] === undefined ? null : `-m ${args[1]}`;
  if (!hasVerbs(name)) return null;
  const [first, second] = afterOptions(args);
  if (first === undefined) return null;
  if (!bareWord.test(first)) return null;
  const leads = leadsOn.has(first) || nested.has(name);
  return leads && second !== undefined && bareWord.test(second) ? `${first} ${second}` : first;
}

/** The words after options that come before a verb: `git -C x commit`, `pnpm --filter app test`. */
export function afterOptions(args: readonly string[]): readonly string[] {
  let at = 0;
  for (;;) {
    const option = args[at];
    if (option === undefined || !option.startsWith("-")) return args.slice(at);
    if (takesValue.has(option)) at += 2;
    else if (option.includes("=") || takesNone.test(option)) at++;
    // Whether what follows is the verb or the option's value cannot be told; the value may be a secret.
    else return [];
  }
}

const takesValue = new Set(
  "-C -c --prefix --filter -F -w --workspace -p --cwd --dir --directory --project -f --file -n --namespace --context --profile --region".split(
    " ",
  ),
);
const takesNone =
  /^-(?:[a-zA-Z]|-(?:no-.*|silent|quiet|verbose|debug|yes|json|bare|offline|frozen|locked|recursive|if-present|workspaces|no))$/;

/** Whether a program's first words say what it does, as `npm run` do; the first word of `ls src` is a file. */
export function hasVerbs(name: string): boolean {
  return !verbless.has(name);
}

const bareWord = /^[a-zA-Z][\w:@-]*$/;
const leadsOn = new Set(["run", "exec", "x", "dlx", "compose", "tool", "git", "npm", "pnpm"]);
/** Programs whose verb stands behind what it is about: `gh pr create`. */
const nested = new Set(["gh", "aws", "az", "gcloud", "fly", "heroku"]);
const verbless = new Set(
  (
    "pytest ssh scp rsync psql pg_dump pg_restore mysql mysqldump sqlite3 redis-cli phpunit php java gcc clang cc tar zip unzip " +
    "eslint prettier tsc mypy black jest mocha nc ping dig openssl " +
    "ls cat bat head tail sed awk grep egrep fgrep rg ag find fd wc sort uniq cut tr xargs echo printf cp mv rm mkdir touch " +
    "chmod chown ln test [ [[ which type command diff cmp file stat tree du df ps kill pkill pgrep curl wget tee jq nl " +
    "sleep date env time timeout sh bash zsh open less more node python python3 ruby perl source . read xxd od realpath"
  ).split(" "),
);

/** The program with its verb, without what changes from call to call: `npm run lint`. */
export function headOf(program: Program): string {
  const verb = subcommandOf(program);
  return verb === null ? program.name : `${program.name} ${verb}`;
}

/** What a later use of a run would have too, as one writes it: variables, wrapper, program, verb, and long flags that are new. */
export function callOf(run: Run, other: Run | null = null): string[] {
  const { program, before, after } = partsOf(run, other);
  return [...new Set([...before, program, ...after])].slice(0, 8);
}

/** What is different about a run, as one writes it: the same with the values of what is new, so that it can be done again. */
export function tellDifference(run: Run, other: Run): string {
  const set = run.env
    .filter((each) => !other.env.includes(each))
    .map((each) => (assignment.test(each) ? place(each) : `${each} &&`));
  const verb = subcommandOf(run)?.split(" ") ?? [];
  const fresh = run.args.filter((arg) => !other.args.includes(arg) && !verb.includes(arg)).map(retellWord);
  const words = [...set, ...run.through.slice(0, 1), partsOf(run, other).program, ...verb, ...fresh];
  return [...new Set(words)].slice(0, 9).join(" ");
}

/** The same with the program first, by which uses of it are found. */
export function useOf(run: Run, other: Run | null = null): [string, ...string[]] {
  const { program, before, after } = partsOf(run, other);
  return [program, ...new Set([...after, ...before])].slice(0, 8) as [string, ...string[]];
}

function partsOf(run: Run, other: Run | null) {
  const fresh = run.env.filter((set) => !other?.env.includes(set));
  const names = fresh.map((set) =>
    assignment.test(set) ? set.replace(/=.*/s, "=") : (set.split(" ")[0] ?? ""),
  );
  const flags = run.args.flatMap((arg) => (/^--?[a-z]/i.test(arg) ? [arg.replace(/=.*/s, "")] : []));
  const added = flags.filter((flag) => !other?.args.some((arg) => arg.startsWith(flag)));
  const path = interpreters.has(run.name) ? run.args[0] : undefined;
  const script = path?.includes("/") && !other?.args.includes(path) ? [baseName(path)] : [];
  return {
    program: run.written.includes("/") ? place(run.written) : run.name,
    before: [...names, ...run.through.slice(0, 1)],
    after: [...(subcommandOf(run)?.split(" ") ?? script), ...added],
  };
}

/** A run as a person would retell it: without values that are used once, and without the folder it shares with another. */
export function retell(run: Run, other: Run | null = null, most = 90): string {
  const words = [
    ...(run.directory === null || run.directory === other?.directory
      ? []
      : ["cd", place(run.directory), "&&"]),
    ...run.env.map((set) => (assignment.test(set) ? place(set) : `${set} &&`)),
    ...run.through,
    ...[run.written, ...run.args].map(retellWord),
  ];
  let told = "";
  for (const word of words) {
    if (told.length + word.length >= most) return `${told} …`;
    told = told === "" ? word : `${told} ${word}`;
  }
  return told;
}

function retellWord(word: string): string {
  if (word === "") return "''";
  // An id of the moment would do harm the next time.
  if (isOnce(word)) return "<id>";
  if (/\s/.test(word)) return word.length > 30 || /[\n"'`]/.test(word) ? "…" : `"${word}"`;
  return place(word);
}

function isOnce(word: string): boolean {
  return (
    /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(word) || /^(?=.*\d)[0-9a-f]{12,64}$/i.test(word)
  );
}

/** A long path by its last parts, any other long word by its beginning. */
function place(word: string): string {
  const parts = word.split("/");
  const [set = ""] = assignment.exec(word) ?? [];
  if (/^(?:\w+=)?(?:\/|~\/)/.test(word) && parts.length > 4) return `${set}…/${parts.slice(-2).join("/")}`;
  if (word.length <= 60) return word;
  return parts.length > 3 ? `…/${parts.slice(-2).join("/").slice(-50)}` : `${word.slice(0, 40)}…`;
}

/** Names of files that a command speaks of, wherever they stand in it. */
export function filesIn(command: string): Set<string> {
  const names = command
    .slice(0, policy.keep.eventChars)
    .matchAll(/(?:^|[\s/'"=(])([\w@-]{0,80}(?:\.[a-zA-Z]\w{0,9}){1,3})\b/g);
  return new Set([...names].map(([, name]) => name ?? ""));
}

/** What a command is for: its last program that is no filter and does more than print, one that acts before one that looks. */
export function mainOf(runs: readonly Run[]): Run | null {
  const doing = runs.filter(({ name, filters }) => !filters && !prints(name));
  return doing.filter((run) => !isLook(run)).at(-1) ?? doing.at(-1) ?? runs[0] ?? null;
}

const printers = new Set("echo printf true : sleep pwd set wait".split(" "));

/** Whether a program does nothing but print or wait. */
export function prints(name: string): boolean {
  return printers.has(name);
}

/** Whether a program only shows something, so that its failure is a wrong guess and its success no remedy. */
export function isLook({ name, args }: Program): boolean {
  if (name === "sed" || name === "perl") return !args.some((arg) => /^-\w*i/.test(arg));
  return looks.has(name) || isQuestion({ name, args });
}

/** `--help`, `--version`, `npm ls`: asks the program about itself or about what is installed. */
export function isQuestion({ name, args }: Program): boolean {
  // `psql -h localhost` names a host.
  if (args.some((arg, at) => asksHelp.has(arg) && (arg !== "-h" || at === args.length - 1))) return true;
  if (name === "gh") return asksGitHub.has(args[1] ?? "");
  return asksAbout.get(name)?.has(args.find((arg) => !arg.startsWith("-")) ?? "") ?? false;
}

const asksHelp = new Set(["--help", "-h", "--version", "help", "-V"]);
const looks = new Set(
  (
    "ls cat bat head tail grep egrep fgrep rg ag find fd wc sort uniq stat file tree du df ps which type command nl jq " +
    "diff cmp test [ [[ pgrep awk cut id whoami uname env printenv xxd od hexdump less more realpath lsof"
  ).split(" "),
);
const asksGitHub = new Set(["view", "list", "status", "checks", "diff", "watch"]);
const ofPackages = new Set(["ls", "list", "view", "info", "why", "show", "search", "outdated", "freeze"]);
const asksAbout = new Map<string, ReadonlySet<string>>([
  ["git", new Set(["status", "diff", "log", "show", "branch", "remote", "ls-files", "rev-parse", "blame"])],
  ...["npm", "pnpm", "yarn", "pip", "pip3", "brew", "cargo", "gem", "apt"].map(
    (name) => [name, ofPackages] as const,
  ),
]);

function bareName(path: string): string {
  return baseName(path).replace(/\.\w+$/, "");
}
