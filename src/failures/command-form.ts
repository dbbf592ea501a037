import { baseName, type WordSet, wordSet } from "../text/index.ts";
import { parseCommand } from "./command.ts";
import { assignment, Run, skipOptions } from "./run.ts";

/**
 * Purpose of a run. A look shows something or waits for a state; a chore moves files about; a record is the
 * agent's own way to commit; a check tells whether the work holds; an installation brings what the project needs; a deed
 * does something of its own.
 */
type CallRole = "look" | "chore" | "record" | "check" | "install" | "deed";

interface RunKind {
  readonly role: CallRole;
  /** The normal form, in which equal commands meet; null for a script that is written into the command itself. */
  readonly form: string | null;
  /** The words that start the program by name, and that program: `npx` and `prisma`. */
  readonly launcher: readonly string[];
  readonly program: Run;
}

export function classifyRun(run: Run): RunKind {
  const { launcher, program } = unwrapLauncher(run);
  const own = writeForm(program, launcher.length === 0 ? run.written : program.name);
  const form = own === null ? null : [...launcher, own].join(" ");
  return { launcher, program, role: findRole(run, launcher, program), form };
}

/**
 * Program, verb, and the script or module it is given. Paths, versions, addresses, numbers, messages and flags are
 * another each time, and so are folders, variables and wrappers.
 */
function writeForm(program: Run, written: string): string | null {
  const { name, args } = program;
  if (interpreters.test(name)) return scriptForm(program);
  if (scriptFile.test(written)) return withVerb(name, args);
  if (name === "curl" || name === "wget") return `${name} <url>`;
  const isDatabase = /^(?:psql|mysql|mariadb|sqlite3)$/.test(name);
  return [name, ...(isDatabase ? readSqlVerbs(args) : findVerbs(program))].join(" ");
}

/** The first words of an SQL statement: `create database`, `select`. */
function readSqlVerbs(args: readonly string[]): string[] {
  const statement = args.find((arg) => sqlStatement.test(arg)) ?? "";
  const [verb = "", what = ""] = statement.trim().toLowerCase().split(/\s+/);
  if (verb === "") return [];
  return /^(?:create|drop|alter|truncate)$/.test(verb) && /^[a-z]+$/.test(what) ? [verb, what] : [verb];
}

const sqlStatement =
  /^\s*(?:select|insert|update|delete|create|drop|alter|grant|revoke|truncate|vacuum|reindex|copy|with)\s/i;

/** The verbs of a program that has several: `rollout restart`, `run build`. */
function findVerbs(program: Run): string[] {
  if (program.verb === null) return [];
  const verbs = program.verb.split(" ");
  const last = verbs.at(-1) as string;
  const [next] = skipOptions(program.args.slice(program.args.indexOf(last) + 1));
  const leads = verbs.length === 1 && leadsOn.has(last) && next !== undefined && plainWord.test(next);
  return leads ? [...verbs, next] : verbs;
}

const plainWord = /^[a-z][a-z0-9:_-]*$/i;
/** Words after which the verb proper comes: `kubectl rollout restart`, `prisma migrate deploy`. */
const leadsOn = wordSet(`
  run exec x dlx compose tool image container volume network buildx rollout mod remote stash worktree submodule
  migrate db pip workspace state secret functions pages cluster config auth
`);

const interpreters = /^(?:python[\d.]*|node|ruby|php|perl|bash|sh|zsh|tsx|ts-node|deno)$/;
/** A file of the project that is started by its path. */
const scriptFile = /^(?:\.{0,2}\/|~\/|[\w.-]+\/).*\.\w{1,4}$|\.(?:sh|py|mjs|cjs|js|ts|rb|pl|ps1)$/;

/** A script by its name, whichever interpreter and folder it is started with. */
function scriptForm({ name, args }: Run): string | null {
  const at = args.findIndex((arg) => !arg.startsWith("-"));
  const options = at < 0 ? args : args.slice(0, at);
  if (options.includes("-m")) return `${bareInterpreter(name)} -m ${args[at] ?? ""}`;
  if (options.some((option) => inline.test(option))) return null;
  const file = args[at];
  // What comes by standard input, or is named by a variable, is another each time.
  if (file === undefined || options.includes("-") || file.includes("$")) return null;
  if (!/[./]/.test(file)) return `${bareInterpreter(name)} ${plainWord.test(file) ? file : ""}`.trim();
  return withVerb(baseName(file), args.slice(at + 1));
}

const inline = /^-(?:[a-z]*[cep]|-eval|-print)$/;

function bareInterpreter(name: string): string {
  return name.replace(/[\d.]+$/, "");
}

/** A script with the word it begins with, where that says what to do and names nothing. */
function withVerb(script: string, [first]: readonly string[]): string {
  return first !== undefined && /^[a-z]{2,12}$/.test(first) ? `${script} ${first}` : script;
}

/** A program that another one starts by name: `npx prisma`, `uv run pytest`, `rtk git`. */
function unwrapLauncher(run: Run): Pick<RunKind, "launcher" | "program"> {
  const at = findLaunched(run);
  const name = at === null ? undefined : run.args[at];
  if (at === null || name === undefined) return { launcher: [], program: run };
  const words = [run.name, ...run.args.slice(0, at).filter((arg) => !arg.startsWith("-") && starts.has(arg))];
  const program = remoteScript(run, at) ?? new Run({ name: baseName(name), args: run.args.slice(at + 1) });
  return { launcher: words, program };
}

const starts = new Set(["run", "exec", "dlx", "tool", "x", "compose"]);

/** The last program of a script that runs in a container or on another machine: `ssh host "cd app && make"`. */
function remoteScript({ name, args }: Run, at: number): Run | null {
  if (findRemoteCommand(name, args) === null) return null;
  const [first = "", flag = "", script] = args.slice(at);
  const isShell = /^(?:ba|z)?sh$/.test(baseName(first)) && /^-\w*c$/.test(flag);
  const text = /\s/.test(first)
    ? first
    : first === "sudo"
      ? args.slice(at).join(" ")
      : isShell
        ? script
        : undefined;
  return text === undefined ? null : (parseCommand(text).at(-1) ?? null);
}

/** Where the program that a launcher starts stands among its words. */
function findLaunched({ name, args, hasVerbs }: Run): number | null {
  if (launchers.has(name)) return findProgram(args, 0);
  const inside = findRemoteCommand(name, args);
  if (inside !== null) return inside;
  const [first = "", second = ""] = args;
  if (runners.has(`${name} ${first}`)) return findProgram(args, first === "tool" && second === "run" ? 2 : 1);
  // An unknown program with a known one behind it hands it on.
  return !wellKnown.has(name) && hasVerbs && wellKnown.has(first) ? 0 : null;
}

function findProgram(args: readonly string[], from: number): number | null {
  const rest = args.slice(from);
  const known = rest.findIndex((arg) => wellKnown.has(baseName(arg)));
  // A flag's value may stand before the program; a program that is known cannot be one.
  const plain = rest.findIndex((arg) => !arg.startsWith("-"));
  const at = plain > 0 && known > plain ? known : plain;
  return at < 0 ? null : from + at;
}

/** Where the command stands that a container or another machine is given: `docker exec pg psql`, `ssh host uptime`. */
function findRemoteCommand(name: string, args: readonly string[]): number | null {
  if (name === "ssh") return skipPlace(args, 0, sshOptions);
  if (!/^(?:docker|podman|kubectl|oc|docker-compose|nerdctl)$/.test(name)) return null;
  const isCompose = name === "docker-compose" || args.includes("compose");
  const at = args.findIndex((arg) => arg === "exec" || (isCompose && arg === "run"));
  if (at < 0 || at > mostBeforeExec) return null;
  const dashes = args.indexOf("--", at);
  return dashes < 0 ? skipPlace(args, at + 1, execOptions) : dashes + 1 < args.length ? dashes + 1 : null;
}

/** Behind the options and the one word that says where. */
function skipPlace(args: readonly string[], from: number, withValue: WordSet): number | null {
  let at = from;
  while (args[at]?.startsWith("-")) at += withValue.has(args[at] as string) ? 2 : 1;
  return at + 1 < args.length ? at + 1 : null;
}

/** Words that may stand before the verb: `docker compose -f a.yml --profile test run`. */
const mostBeforeExec = 6;
const sshOptions = wordSet("-p -i -l -o -F -J -L -R -D -b -c -E -m -S -W -w");
const execOptions = wordSet(
  "-u --user -e --env -w --workdir --env-file -n --namespace -c --container --context --index",
);

const launchers = new Set(["npx", "bunx", "uvx", "pnpx"]);
const runners = new Set(
  "uv run|uv tool|poetry run|pipenv run|hatch run|rye run|bundle exec|pnpm exec|pnpm dlx|npm exec|yarn exec|yarn dlx|bun x|dotenv run".split(
    "|",
  ),
);
const wellKnown = wordSet(`
  git npm pnpm yarn bun node deno python python3 pip pytest mypy ruff black cargo go make docker podman kubectl helm gh uv poetry
  ruby bundle rake rails jest vitest mocha tsc tsx eslint prettier vite next astro playwright prisma terraform java mvn gradle dotnet swift
`);

function findRole(run: Run, launcher: readonly string[], program: Run): CallRole {
  const verb = program.args.find((arg) => !arg.startsWith("-")) ?? "";
  // `go get` brings something; other programs answer what they are asked to get.
  if (!run.isFilter && installs(program, verb)) return "install";
  if (run.isFilter || program.onlyPrints || looks(program)) return "look";
  // Files that are moved about on another machine, or in a container, are put there on purpose.
  if (chores.has(program.name)) return elsewhere.test(launcher.join(" ")) ? "deed" : "chore";
  if (program.name === "git") return gitRole(verb);
  return checks(program, verb) ? "check" : "deed";
}

const elsewhere = /^ssh\b|\bexec$|\bcompose run$/;

function looks(run: Run): boolean {
  const { name, args } = run;
  if (run.isLook || fetches(run) || parses(run)) return true;
  const words = args.filter((arg) => !arg.startsWith("-")).slice(0, 2);
  if (words.length === 0 && (name === "npm" || name === "pnpm" || name === "yarn")) return name === "npm";
  if (/^(?:make|npm|pnpm|yarn|bun)$/.test(name) || words.includes("login")) return false;
  return words.some(isAsking) || (deepPrograms.test(name) && leadingVerbs(args).some(isAsking));
}

function isAsking(word: string): boolean {
  return asking.test(word) || askingCompound.test(word);
}

/** The words before the first option or value: `run services describe`. */
function leadingVerbs(args: readonly string[]): readonly string[] {
  const end = args.findIndex((arg) => !/^[a-z][a-z-]*$/.test(arg));
  return args.slice(0, end < 0 ? mostVerbs : Math.min(end, mostVerbs));
}

/** Programs whose verb may stand behind several words of what it is about, and how many words are looked at. */
const deepPrograms = /^(?:aws|gcloud|az|kubectl|oc|gh|fly|flyctl|heroku|argocd|doctl|ibmcloud|oci)$/;
const mostVerbs = 5;

/** Verbs that ask: what they answer is of the moment, and asked again it is waited for. */
const asking =
  /^(?:status|list|ls|show|view|get|describe|logs?|info|inspect|ps|images|search|explain|version|whoami|top|events|history|watch|wait|tail|doctor|diff|plan|help|auth|ping|health|checks)$/;
/** Such a verb joined with its object: `describe-stacks`, `is-active`; but a login or a token is fetched to be used. */
const askingCompound =
  /^(?:describe|list|show|wait|is|head|lookup|get(?!-(?:login|credentials|token|access)))-[a-z]/;

/** Whether a script can be read tells nothing of what it does. */
function parses({ name, args: [flag, file] }: Run): boolean {
  if (/^python/.test(name)) return flag === "-m" && (file === "py_compile" || file === "json.tool");
  if (name === "node") return flag === "--check" || flag === "-c";
  return /^(?:ba|z)?sh$/.test(name) && flag === "-n";
}

/** Getting a page is a look at it. */
function fetches({ name, args }: Run): boolean {
  const isSent = (arg: string) =>
    /^(?:-d|-X|-F|-T|--data|--request|--upload|--form|--method|--input|--field|--raw-field)/.test(arg);
  if (name === "gh" && args[0] === "api") return !args.some((arg) => isSent(arg) || arg === "-f");
  return (name === "curl" || name === "wget") && !args.some(isSent);
}

const chores = new Set(
  (
    "rm mkdir rmdir cp mv touch chmod chown ln sed awk tee kill pkill killall sleep cat xargs true false export source wait perl " +
    "uuidgen date hash shasum open lsof unset trap read basename dirname seq tr mktemp exit return local declare set cd pushd popd alias " +
    // Manual chores on this machine and its files, and desktop notifications.
    "tar zip unzip gzip gunzip xattr sysctl qlmanage sips launchctl codesign defaults osascript say terminal-notifier notify-send pbcopy"
  ).split(" "),
);

/** Bringing work into a repository is the end of every task; a clone, a tag or a release is not. */
function gitRole(verb: string): CallRole {
  const deeds = /^(?:clone|tag|submodule|worktree|bisect|lfs|filter-branch|subtree|archive|format-patch|am)$/;
  return deeds.test(verb) ? "deed" : "record";
}

/** Tests, linters, compilers: they are run again after every edit. */
function checks({ name, args, written }: Run, verb: string): boolean {
  if (checkers.has(name) || checkers.has(verb)) return true;
  if (/^python/.test(name)) return args[0] === "-m" && checkers.has(args[1] ?? "");
  const nodeCheck = /^--(?:check|test)$|(?:^|\/)(?:mocha|jest|vitest|tsc|eslint)(?:\.\w+)?$/;
  if (name === "node") return args.some((arg) => nodeCheck.test(arg));
  const script = /^(?:run|exec|x)$/.test(verb) ? (args[args.indexOf(verb) + 1] ?? "") : verb;
  return (taskRunners.has(name) || written.endsWith("gradlew")) && checkWord.test(script);
}

const checkers = wordSet(`
  pytest unittest mypy pyright ruff flake8 pylint black isort jest vitest mocha ava tsc eslint prettier biome stylelint oxlint
  rubocop rspec phpunit shellcheck golangci-lint clippy vet fmt rustfmt gofmt lint test check typecheck compile
`);
const taskRunners = wordSet(
  "npm pnpm yarn bun make cargo go gradle mvn dotnet rake just task nx turbo deno swift",
);
const checkWord =
  /^(?:[\w-]+:)?(?:t|tests?|lint|check|types?|typecheck|type-check|check-types|tsc|format|fmt|fix|build|compile|coverage|cov|unit|e2e|ci|verify|vet|clippy|validate)(?:[:_-][\w:-]+)?$/;

function installs({ name, args }: Run, verb: string): boolean {
  if (/^python/.test(name)) return args[0] === "-m" && (args[1] === "pip" || args[1] === "venv");
  if (!installers.has(name)) return false;
  if (verb === "mod") return args.some((arg) => /^(?:download|tidy|vendor)$/.test(arg));
  const [, what = verb] = name === "uv" && verb === "pip" ? args.slice(args.indexOf(verb)) : [];
  return /^(?:install|i|ci|add|sync|get|download|restore)$/.test(what);
}

const installers = wordSet(
  "npm pnpm yarn bun pip pip3 gem bundle composer poetry uv cargo brew apt apt-get dnf go conda dotnet",
);

/** Characters of a template. */
const maxChars = 120;

/** A run as one writes it down for another time: values that were of that time are left open, those that other times had too are kept. */
export function writeTemplate(run: Run, others: readonly Run[] = []): string {
  const words = [...openWrapping(run), shortPath(run.written), ...openArgs(run, others)];
  const told: string[] = [];
  let length = 0;
  for (const word of words) {
    if (word === told.at(-1) && word.startsWith("<") && !copies(run)) continue;
    length += word.length + 1;
    if (length > maxChars) return `${told.join(" ")} …`;
    told.push(word);
  }
  return told.join(" ");
}

/** The words before the program: variables, placed behind `env` where that sets them. */
function openWrapping({ env, wrapper }: Run): string[] {
  const isSet = (each: string) => assignment.test(each);
  const open = (set: string) =>
    isSet(set)
      ? set.replace(/=(.*)$/s, (_, value) => `=${openValue(value, set.slice(0, set.indexOf("=")))}`)
      : `${set} &&`;
  const behind = wrapper.indexOf("env") + 1;
  if (behind === 0) return [...env.map(open), ...wrapper];
  const prepared = env.filter((each) => !isSet(each)).map(open);
  return [...prepared, ...wrapper.slice(0, behind), ...env.filter(isSet).map(open), ...wrapper.slice(behind)];
}

/** From where and to where are two things, whatever they look like. */
function copies({ name, args }: Run): boolean {
  const isCopying = (arg: string) => /^(?:cp|mv|sync)$/.test(arg);
  return /^(?:scp|rsync|cp|mv|ln)$/.test(name) || args.slice(0, 2).some(isCopying);
}

function openArgs(run: Run, others: readonly Run[]): string[] {
  const { name, args } = run;
  const verbs = new Set(classifyRun(run).form?.split(" ") ?? []);
  const script = interpreters.test(name) ? args.findIndex((arg) => !arg.startsWith("-")) : -1;
  const isInAll = (arg: string) => others.length > 0 && others.every((other) => other.args.includes(arg));
  return args.map((arg, at) => {
    const before = args[at - 1] ?? "";
    if (at === script) return shortPath(arg);
    if (isInAll(arg) && isKept(arg) && !secret.test(arg + before)) return arg;
    if (isTestName(name, before)) return "<test>";
    const [, flag, value = ""] = /^(-{1,2}\w[\w-]*)=(.*)$/s.exec(arg) ?? [];
    if (flag !== undefined) return `${flag}=${openValue(value, flag)}`;
    if (arg.startsWith("-") || verbs.has(arg)) return arg;
    return openGitArg(name, args, at) ?? openValue(arg, before.startsWith("-") ? before : "", name);
  });
}

function isKept(arg: string): boolean {
  return arg.length < 60 && !/\s|^(?:\/|~)|:\/\/|^$/.test(arg) && !isOfTheDay(arg);
}

/** Dates, and what is numbered one after the other, are of one time, though all of that time had them. */
function isOfTheDay(arg: string): boolean {
  const value = /^-{1,2}\w[\w-]*=(.*)$/s.exec(arg)?.[1] ?? arg;
  return date.test(value) || isNumbered(value) || /=v?\d+(?:\.\d+)+\S*$/.test(value);
}

const date = /^\d{4}-?\d{2}-?\d{2}(?:[T_ ]\S*)?$/;

/** `web-1`, `app12`; a region, an encoding or a platform is called so. */
function isNumbered(value: string): boolean {
  const isCounted = /^[a-z](?:[\w-]*[_-]\d{1,6}|[a-z-]{2,}\d{1,3})$/i.test(value);
  return isCounted && !region.test(value) && !technical.test(value);
}

const region = /^[a-z]{2,4}-[a-z]+-?\d$|^(?:europe|asia|africa|australia|north|south|us|me)[a-z-]*-?\d$/;
const technical =
  /^(?:utf-?\d+|sha-?\d+|base\d+|aes\d*-?\d*|md5|es\d+|python-?\d|node-?\d+|amd64|arm64|x86_64|win32|linux64|ipv\d|http\d|iso-?\d[\d-]*|mp\d|gpt-\d|level\d)$/i;

/** Which test is run is of the moment. */
function isTestName(program: string, flag: string): boolean {
  if (/^(?:-run|--run|-k|--grep|--testNamePattern|--test-name-pattern|--tests)$/.test(flag))
    return !(flag === "-k" && /^(?:kubectl|curl|oc)$/.test(program));
  return flag === "-t" && /^(?:jest|vitest)$/.test(program);
}

/** Branches and files of a commit are of the day. */
function openGitArg(name: string, args: readonly string[], at: number): string | null {
  const verb = args.find((arg) => !arg.startsWith("-")) ?? "";
  const arg = args[at] ?? "";
  if (name !== "git" || at <= args.indexOf(verb)) return null;
  if (/^(?:add|rm|restore|diff)$/.test(verb)) return arg === "." ? null : "<files>";
  if (/^(?:checkout|switch|merge|rebase|branch)$/.test(verb)) return "<branch>";
  if (!/^(?:push|pull|fetch)$/.test(verb) || /^(?:origin|upstream)$/.test(arg)) return null;
  return versionLike.test(arg) ? "<tag>" : "<branch>";
}

const versionLike = /^v?\d+(?:\.\d+)+\S*$/;
const address = /^(?:\w+@)?(?:\d{1,3}\.){3}\d{1,3}(?::\S*)?$/;
const ofThisMachine = /^(?:0\.0\.0\.0|127\.0\.0\.1)(?::\d+)?$/;
const image = /^[\w.-]+(?::\d+)?(?:\/[\w.-]+)+(?::[\w.-]+|@sha256:\w+)$/;

function openValue(value: string, flag: string, program = ""): string {
  const named = /^--?([a-z][a-z-]+)$/.exec(flag)?.[1];
  if (value === "") return "''";
  if (secret.test(flag)) return "<secret>";
  const [, variable = "", set = ""] = /^(\w+)=(.*)$/s.exec(value) ?? [];
  if (variable !== "" && set !== "" && secret.test(variable)) return `${variable}=<secret>`;
  if (/^(?:-m|--message|--title|--body|--notes|--head|--branch)$/.test(flag) && program !== "ansible")
    return `<${named ?? "message"}>`;
  if (sqlStatement.test(value)) return `"${readSqlVerbs([value]).join(" ").toUpperCase()} …"`;
  if (program === "ssh" && /\s/.test(value))
    return `"${parseCommand(value)
      .map((run) => writeTemplate(run))
      .join(" && ")}"`;
  if (/\s|\$\(|\n/.test(value)) return `<${named ?? "text"}>`;
  if (/^[a-z][a-z0-9+]{1,11}:\/\//i.test(value) || /^git@/.test(value)) return "<url>";
  if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(value) || /^(?=.*\d)(?=.*[a-f])[0-9a-f]{7,64}$/i.test(value))
    return "<id>";
  if (
    /^(?:docker|podman)$/.test(program) &&
    (flag === "-t" || flag === "--tag" || /^[\w./-]+:[\w.-]+$/.test(value))
  )
    return "<image>";
  if (image.test(value)) return "<image>";
  const [, key = "", given = ""] = /^([a-z][\w.-]*)=(.+)$/is.exec(value) ?? [];
  if (key !== "" && given !== "") return `${key}=${openValue(given, "", program)}`;
  if (date.test(value)) return "<date>";
  if (address.test(value)) return ofThisMachine.test(value) ? value : openAddress(value);
  if (versionLike.test(value)) return "<version>";
  if (program !== "ssh" && isNumbered(value)) return `<${named ?? "name"}>`;
  if (/@v?\d+(?:\.\d+)*$/.test(value)) return value.replace(/@v?\d[\d.]*$/, "@<version>");
  if (/\/v?\d+(?:\.\d+)+$/.test(value)) return value.replace(/v?\d+(?:\.\d+)+$/, "<version>");
  if (/^\d+$/.test(value)) return flag === "" ? "<number>" : value;
  if (/^(?:\.{1,2}|\.\/\.\.\.)$/.test(value)) return value;
  // A flag's file is part of how a project is run; a file that a program is given is what it is run on.
  if (isPath(value)) return flag === "" || /^(?:\/|~)/.test(value) ? "<path>" : value;
  return value;
}

/** A machine by its number; what is named on it stays. */
function openAddress(value: string): string {
  const [, place] = /:(\D\S*)$/.exec(value) ?? [];
  return place === undefined ? "<address>" : `<address>:${place}`;
}

const secret = /token|secret|passw|api.?key|credential/i;

function isPath(value: string): boolean {
  return /^(?:\.{0,2}\/|~\/)|\.[a-z]\w{0,7}$|\/.*\//is.test(value);
}

/** A script by where it stands in its project; what lies above is of one machine. */
function shortPath(path: string): string {
  return /^(?:\/|~)/.test(path) ? `…/${path.split("/").slice(-2).join("/")}` : path;
}
