import type { Run } from "./command.ts";
import { launched } from "./form.ts";
import { isLook, prints } from "./run.ts";

/**
 * What a run is for. A look shows something, and so does waiting for a state; a chore moves files about; a record is the
 * agent's own way to commit; a check tells whether the work holds; an installation brings what the project needs. What is
 * left does something of its own.
 */
export type Role = "look" | "chore" | "record" | "check" | "install" | "deed";

/** What a run is for, as far as its words tell. */
export function roleOf(run: Run): Role {
  const { launcher, program } = launched(run);
  const inner = { ...run, ...program };
  if (run.filters || prints(inner.name) || looks(inner)) return "look";
  // Files that are moved about on another machine, or in a container, are put there on purpose.
  if (chores.has(inner.name)) return elsewhere.test(launcher.join(" ")) ? "deed" : "chore";
  const verb = verbOf(inner);
  if (inner.name === "git") return gitRole(verb);
  if (installs(inner, verb)) return "install";
  return checksOf(inner, verb) ? "check" : "deed";
}

const elsewhere = /^ssh\b|\bexec$|\bcompose run$/;

function verbOf({ args }: Run): string {
  return args.find((arg) => !arg.startsWith("-")) ?? "";
}

function looks(run: Run): boolean {
  const { name, args } = run;
  if (isLook(run) || fetches(run) || parses(run)) return true;
  const words = args.filter((arg) => !arg.startsWith("-")).slice(0, 2);
  if (words.length === 0 && (name === "npm" || name === "pnpm" || name === "yarn")) return name === "npm";
  if (/^(?:make|npm|pnpm|yarn|bun)$/.test(name)) return false;
  return words.some(asks) || (deep.test(name) && verbsOf(args).some(asks));
}

function asks(word: string): boolean {
  return asking.test(word) || askingCompound.test(word);
}

/** The words before the first option or value: `run services describe`. */
function verbsOf(args: readonly string[]): readonly string[] {
  const end = args.findIndex((arg) => !/^[a-z][a-z-]*$/.test(arg));
  return args.slice(0, end < 0 ? mostVerbs : Math.min(end, mostVerbs));
}

/** Programs whose verb may stand behind several words of what it is about, and how many words are looked at. */
const deep = /^(?:aws|gcloud|az|kubectl|oc|gh|fly|flyctl|heroku|argocd|doctl|ibmcloud|oci)$/;
const mostVerbs = 5;

/** Verbs that ask: what they answer is of the moment, and asked again it is waited for. */
const asking =
  /^(?:status|list|ls|show|view|get|describe|logs?|info|inspect|ps|images|search|explain|version|whoami|top|events|history|watch|wait|tail|doctor|diff|plan|help|auth|ping|health|checks)$/;
/** The same with what is asked for: `describe-stacks`, `is-active`. What one gets in order to log in is used. */
const askingCompound =
  /^(?:describe|list|show|wait|is|head|lookup|get(?!-(?:login|credentials|token|access)))-[a-z]/;

/** Whether a script can be read tells nothing of what it does. */
function parses({ name, args: [flag, file] }: Run): boolean {
  if (/^python/.test(name)) return flag === "-m" && (file === "py_compile" || file === "json.tool");
  return (
    (name === "node" && (flag === "--check" || flag === "-c")) ||
    (/^(?:ba|z)?sh$/.test(name) && flag === "-n")
  );
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
    // What is done to this machine and its files by hand, and notices to whoever sits before it.
    "tar zip unzip gzip gunzip xattr sysctl qlmanage sips launchctl codesign defaults osascript say terminal-notifier notify-send pbcopy"
  ).split(" "),
);

/** Bringing work into a repository is the end of every task; a clone, a tag or a release is not. */
function gitRole(verb: string): Role {
  return /^(?:clone|tag|submodule|worktree|bisect|lfs|filter-branch|subtree|archive|format-patch|am)$/.test(
    verb,
  )
    ? "deed"
    : "record";
}

/** Tests, linters, compilers: they are run again after every edit. */
function checksOf({ name, args, written }: Run, verb: string): boolean {
  if (checkers.has(name) || checkers.has(verb)) return true;
  if (/^python/.test(name)) return args[0] === "-m" && checkers.has(args[1] ?? "");
  if (name === "node")
    return args.some(
      (arg) =>
        arg === "--check" ||
        arg === "--test" ||
        /(?:^|\/)(?:mocha|jest|vitest|tsc|eslint)(?:\.\w+)?$/.test(arg),
    );
  const script = /^(?:run|exec|x)$/.test(verb) ? (args[args.indexOf(verb) + 1] ?? "") : verb;
  return (runners.has(name) || written.endsWith("gradlew")) && checkWord.test(script);
}

const checkers = new Set(
  (
    "pytest unittest mypy pyright ruff flake8 pylint black isort jest vitest mocha ava tsc eslint prettier biome stylelint oxlint " +
    "rubocop rspec phpunit shellcheck golangci-lint clippy vet fmt rustfmt gofmt lint test check typecheck compile"
  ).split(" "),
);
const runners = new Set(
  "npm pnpm yarn bun make cargo go gradle mvn dotnet rake just task nx turbo deno swift".split(" "),
);
const checkWord =
  /^(?:[\w-]+:)?(?:t|tests?|lint|check|types?|typecheck|type-check|check-types|tsc|format|fmt|fix|build|compile|coverage|cov|unit|e2e|ci|verify|vet|clippy|validate)(?:[:_-][\w:-]+)?$/;

function installs({ name, args }: Run, verb: string): boolean {
  if (
    /^(?:npm|pnpm|yarn|bun|pip3?|gem|bundle|composer|poetry|uv|cargo|brew|apt|apt-get|dnf|go|conda)$/.test(
      name,
    )
  )
    return (
      /^(?:install|i|ci|add|sync|get|download|restore)$/.test(verb) ||
      (verb === "mod" && args.includes("download"))
    );
  return /^python/.test(name) && args[0] === "-m" && (args[1] === "pip" || args[1] === "venv");
}
