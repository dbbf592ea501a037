import { assignment, baseName, type Program, type Run, runsOf } from "./command.ts";
import { afterOptions, hasVerbs, subcommandOf } from "./run.ts";

/**
 * The normal form of a run: program, subcommand, and the script or module it is given. Paths, versions, addresses,
 * numbers, messages and flags are another each time, and so are folders, variables and wrappers: equal commands meet.
 * Null for a program that is written into the command itself, which is another each time as a whole.
 */
export function formOf(run: Program & Partial<Pick<Run, "written">>): string | null {
  const { launcher, program } = launched(run);
  const own = ownForm(program, launcher.length === 0 ? (run.written ?? run.name) : program.name);
  return own === null ? null : [...launcher, own].join(" ");
}

function ownForm(program: Program, written: string): string | null {
  const { name, args } = program;
  if (interpreters.test(name)) return scriptForm(program);
  if (scriptFile.test(written)) return withVerb(name, args);
  if (name === "curl" || name === "wget") return `${name} <url>`;
  if (databases.has(name)) return [name, ...statementOf(args)].join(" ");
  const verbs = verbsOf(program);
  return verbs.length === 0 ? name : `${name} ${verbs.join(" ")}`;
}

const databases = new Set(["psql", "mysql", "mariadb", "sqlite3"]);

/** What a database is told to do, by the first words: `create database`, `select`. */
function statementOf(args: readonly string[]): string[] {
  const statement = args.find((arg) => sql.test(arg)) ?? "";
  const [verb = "", what = ""] = statement.trim().toLowerCase().split(/\s+/);
  if (verb === "") return [];
  return /^(?:create|drop|alter|truncate)$/.test(verb) && /^[a-z]+$/.test(what) ? [verb, what] : [verb];
}

const sql =
  /^\s*(?:select|insert|update|delete|create|drop|alter|grant|revoke|truncate|vacuum|reindex|copy|with)\s/i;

/** What a program of several words is told to do: `rollout restart`, `run build`. */
function verbsOf(program: Program): string[] {
  const verb = subcommandOf(program);
  if (verb === null) return [];
  const verbs = verb.split(" ");
  const last = verbs.at(-1) as string;
  const [next] = afterOptions(program.args.slice(program.args.indexOf(last) + 1));
  const leads = verbs.length === 1 && leadsOn.has(last) && next !== undefined && plainWord.test(next);
  return leads ? [...verbs, next] : verbs;
}

const plainWord = /^[a-z][a-z0-9:_-]*$/i;
/** Words after which the verb proper comes: `kubectl rollout restart`, `prisma migrate deploy`. */
const leadsOn = new Set(
  (
    "run exec x dlx compose tool image container volume network buildx rollout mod remote stash worktree submodule " +
    "migrate db pip workspace state secret functions pages cluster config auth"
  ).split(" "),
);

const interpreters = /^(?:python[\d.]*|node|ruby|php|perl|bash|sh|zsh|tsx|ts-node|deno)$/;
/** A file of the project that is started by its path. */
const scriptFile = /^(?:\.{0,2}\/|~\/|[\w.-]+\/).*\.\w{1,4}$|\.(?:sh|py|mjs|cjs|js|ts|rb|pl|ps1)$/;

/** A script by its name, whichever interpreter and folder it is started with. */
function scriptForm({ name, args }: Program): string | null {
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
export function launched(run: Program): { readonly launcher: readonly string[]; readonly program: Program } {
  const none = { launcher: [], program: run };
  const at = startOf(run);
  const name = at === null ? undefined : run.args[at];
  if (at === null || name === undefined) return none;
  const words = [run.name, ...run.args.slice(0, at).filter((arg) => !arg.startsWith("-") && starts.has(arg))];
  const program = scriptWithin(run, at) ?? { name: baseName(name), args: run.args.slice(at + 1) };
  return { launcher: words, program };
}

const starts = new Set(["run", "exec", "dlx", "tool", "x", "compose"]);

/** What a script that a container or another machine is given does in the end: `ssh host "cd app && make"`. */
function scriptWithin({ name, args }: Program, at: number): Program | null {
  if (insideOf(name, args) === null) return null;
  const [first = "", flag = "", script] = args.slice(at);
  if (/\s/.test(first)) return runsOf(first).at(-1) ?? null;
  if (first === "sudo") return runsOf(args.slice(at).join(" ")).at(-1) ?? null;
  const isShell = /^(?:ba|z)?sh$/.test(baseName(first)) && /^-\w*c$/.test(flag);
  return isShell && script !== undefined ? (runsOf(script).at(-1) ?? null) : null;
}

/** Where the program that a launcher starts stands among its words. */
function startOf({ name, args }: Program): number | null {
  if (launchers.has(name)) return firstProgram(args, 0);
  const inside = insideOf(name, args);
  if (inside !== null) return inside;
  const [first = "", second = ""] = args;
  if (runners.has(`${name} ${first}`))
    return firstProgram(args, first === "tool" && second === "run" ? 2 : 1);
  // An unknown program with a known one behind it hands it on.
  return !wellKnown.has(name) && hasVerbs(name) && wellKnown.has(first) ? 0 : null;
}

function firstProgram(args: readonly string[], from: number): number | null {
  const rest = args.slice(from);
  const known = rest.findIndex((arg) => wellKnown.has(baseName(arg)));
  // A flag's value may stand before the program; a program that is known cannot be one.
  const plain = rest.findIndex((arg) => !arg.startsWith("-"));
  const at = plain > 0 && known > plain ? known : plain;
  return at < 0 ? null : from + at;
}

/** Where the command stands that a container or another machine is given: `docker exec pg psql`, `ssh host uptime`. */
function insideOf(name: string, args: readonly string[]): number | null {
  if (name === "ssh") return afterPlace(args, 0, sshOptions);
  if (!/^(?:docker|podman|kubectl|oc|docker-compose|nerdctl)$/.test(name)) return null;
  const isCompose = name === "docker-compose" || args.includes("compose");
  const at = args.findIndex((arg) => arg === "exec" || (isCompose && arg === "run"));
  if (at < 0 || at > mostBeforeExec) return null;
  const dashes = args.indexOf("--", at);
  return dashes < 0 ? afterPlace(args, at + 1, execOptions) : dashes + 1 < args.length ? dashes + 1 : null;
}

/** Behind the options and the one word that says where. */
function afterPlace(args: readonly string[], from: number, withValue: ReadonlySet<string>): number | null {
  let at = from;
  while (args[at]?.startsWith("-")) at += withValue.has(args[at] as string) ? 2 : 1;
  return at + 1 < args.length ? at + 1 : null;
}

/** Words that may stand before the verb: `docker compose -f a.yml --profile test run`. */
const mostBeforeExec = 6;
const sshOptions = new Set("-p -i -l -o -F -J -L -R -D -b -c -E -m -S -W -w".split(" "));
const execOptions = new Set(
  "-u --user -e --env -w --workdir --env-file -n --namespace -c --container --context --index".split(" "),
);

const launchers = new Set(["npx", "bunx", "uvx", "pnpx"]);
const runners = new Set(
  "uv run|uv tool|poetry run|pipenv run|hatch run|rye run|bundle exec|pnpm exec|pnpm dlx|npm exec|yarn exec|yarn dlx|bun x|dotenv run".split(
    "|",
  ),
);
const wellKnown = new Set(
  (
    "git npm pnpm yarn bun node deno python python3 pip pytest mypy ruff black cargo go make docker podman kubectl helm gh uv poetry " +
    "ruby bundle rake rails jest vitest mocha tsc tsx eslint prettier vite next astro playwright prisma terraform java mvn gradle dotnet swift"
  ).split(" "),
);

/** A normal form as one word: `docker build` is `docker-build`, so that two of one program are two words. */
export function wordFor(form: string): string {
  return form
    .toLowerCase()
    .replace(/ ?<url>/, "")
    .replace(/[^a-z0-9._@/]+/g, "-")
    .replace(/^[-./]+|[-./]+$/g, "");
}

/** A run as one writes it down for another time: values that were of that time are left open, those that other times had too are kept. */
export function openForm(run: Run, others: readonly Run[] = [], most = 120): string {
  const words = [...openWrapping(run), shortPath(run.written), ...openArgs(run, others)];
  const told: string[] = [];
  let length = 0;
  for (const word of words) {
    if (word === told.at(-1) && word.startsWith("<") && !copies(run)) continue;
    length += word.length + 1;
    if (length > most) return `${told.join(" ")} …`;
    told.push(word);
  }
  return told.join(" ");
}

/** What stands before the program: variables, and behind `env` where that sets them. */
function openWrapping({ env, through }: Run): string[] {
  const open = (set: string) =>
    set.replace(/=(.*)$/s, (_, value) => `=${openValue(value, set.slice(0, set.indexOf("=")))}`);
  const set = env.filter((each) => assignment.test(each)).map(open);
  const prepared = env.filter((each) => !assignment.test(each)).map((each) => `${each} &&`);
  const behind = through.indexOf("env") + 1;
  if (behind === 0)
    return [...env.map((each) => (assignment.test(each) ? open(each) : `${each} &&`)), ...through];
  return [...prepared, ...through.slice(0, behind), ...set, ...through.slice(behind)];
}

/** From where and to where are two things, whatever they look like. */
function copies({ name, args }: Run): boolean {
  return (
    /^(?:scp|rsync|cp|mv|ln)$/.test(name) || args.slice(0, 2).some((arg) => /^(?:cp|mv|sync)$/.test(arg))
  );
}

function openArgs(run: Run, others: readonly Run[]): string[] {
  const { name, args } = run;
  const verbs = new Set(formOf(run)?.split(" ") ?? []);
  const script = interpreters.test(name) ? args.findIndex((arg) => !arg.startsWith("-")) : -1;
  return args.map((arg, at) => {
    const before = args[at - 1] ?? "";
    if (at === script) return shortPath(arg);
    if (
      others.length > 0 &&
      isKept(arg) &&
      !secret.test(arg + before) &&
      others.every((other) => other.args.includes(arg))
    )
      return arg;
    if (isTestName(name, before)) return "<test>";
    if (/^-{1,2}\w[\w-]*=/.test(arg)) {
      const [flag = "", value = ""] = splitAt(arg, arg.indexOf("="));
      return `${flag}=${openValue(value.slice(1), flag)}`;
    }
    if (arg.startsWith("-") || verbs.has(arg)) return arg;
    return placeOfGit(name, args, at) ?? openValue(arg, before.startsWith("-") ? before : "", name);
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
  return (
    /^[a-z](?:[\w-]*[_-]\d{1,6}|[a-z-]{2,}\d{1,3})$/i.test(value) &&
    !/^[a-z]{2,4}-[a-z]+-?\d$|^(?:europe|asia|africa|australia|north|south|us|me)[a-z-]*-?\d$/.test(value) &&
    !/^(?:utf-?\d+|sha-?\d+|base\d+|aes\d*-?\d*|md5|es\d+|python-?\d|node-?\d+|amd64|arm64|x86_64|win32|linux64|ipv\d|http\d|iso-?\d[\d-]*|mp\d|gpt-\d|level\d)$/i.test(
      value,
    )
  );
}

/** Which test is run is of the moment. */
function isTestName(program: string, flag: string): boolean {
  if (/^(?:-run|--run|-k|--grep|--testNamePattern|--test-name-pattern|--tests)$/.test(flag))
    return !(flag === "-k" && /^(?:kubectl|curl|oc)$/.test(program));
  return flag === "-t" && /^(?:jest|vitest)$/.test(program);
}

function splitAt(text: string, at: number): [string, string] {
  return [text.slice(0, at), text.slice(at)];
}

/** Branches and files of a commit are of the day. */
function placeOfGit(name: string, args: readonly string[], at: number): string | null {
  if (name !== "git") return null;
  const verb = args.find((arg) => !arg.startsWith("-")) ?? "";
  const place = args.indexOf(verb);
  if (at <= place) return null;
  if (/^(?:add|rm|restore|diff)$/.test(verb)) return /^[.]$/.test(args[at] ?? "") ? null : "<files>";
  if (/^(?:checkout|switch|merge|rebase|branch)$/.test(verb)) return "<branch>";
  if (/^(?:push|pull|fetch)$/.test(verb))
    return /^(?:origin|upstream)$/.test(args[at] ?? "")
      ? null
      : versionLike.test(args[at] ?? "")
        ? "<tag>"
        : "<branch>";
  return null;
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
  if (sql.test(value)) return `"${statementOf([value]).join(" ").toUpperCase()} …"`;
  if (program === "ssh" && /\s/.test(value))
    return `"${runsOf(value)
      .map((run) => openForm(run))
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
  const [, place = ""] = /:(\D\S*)$/.exec(value) ?? [];
  return place === "" ? "<address>" : `<address>:${place}`;
}

const secret = /token|secret|passw|api.?key|credential/i;

function isPath(value: string): boolean {
  return (
    /^(?:\.{0,2}\/|~\/)/.test(value) ||
    /\.[a-z]\w{0,7}$/i.test(value) ||
    (value.match(/\//g) ?? []).length > 1
  );
}

/** A script by where it stands in its project; what lies above is of one machine. */
function shortPath(path: string): string {
  return /^(?:\/|~)/.test(path) ? `…/${path.split("/").slice(-2).join("/")}` : path;
}
