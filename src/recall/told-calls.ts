import { parseCommand, Run } from "../failures/index.ts";
import { isUse } from "../records/index.ts";
import { baseName } from "../text/index.ts";

/** Characters of a text in which calls are looked for, and how many of them count. */
const textChars = 20_000;
const mostCalls = 40;

/** A call that a text tells an agent to make: the program, and what tells it from everybody's calls of that program. */
export type ToldCall = readonly [string, ...string[]];

/**
 * The calls that a text tells, in its code. Only those that are the text's own: whoever runs `git status` was not told
 * to by a skill that happens to say so.
 */
export function findToldCalls(text: string): ToldCall[] {
  const calls = new Map<string, ToldCall>();
  for (const code of extractCode(text))
    for (const run of parseCommand(code)) {
      const isWork = !run.isFilter && !run.isLook && !run.onlyPrints;
      const call = isWork ? keepOwnCall(run.use()) : null;
      if (call !== null) calls.set(call.join(" "), call);
      if (calls.size >= mostCalls) return [...calls.values()];
    }
  return [...calls.values()];
}

/** Whether a command makes a call. */
export function makesCall(command: string, call: ToldCall): boolean {
  // Reading a command costs more than seeing that it cannot be meant.
  if (!call.every((part) => command.includes(part))) return false;
  return parseCommand(command).some((run) => {
    const [head, ...parts] = run.use();
    return isUse({ head: baseName(head), parts }, call);
  });
}

/** Whether somebody's words speak of a call: its program and all its parts are in them. */
export function namesCall(text: string, call: readonly string[]): boolean {
  const words = new Set(
    text.split(/[\s`"'“”()[\],;]+/).flatMap((word) => [word, word.replace(/[=.:!?].*$/s, "")]),
  );
  return call.every((part) => words.has(part) || words.has(part.replace(/=$/, "")));
}

/** What a text tells to do in code: blocks of shell, and words between backticks that are more than a name. */
function extractCode(text: string): string[] {
  const blocks: string[] = [];
  const fence = /^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*\n([\s\S]*?)^[ \t]*\1[ \t]*$/gm;
  const rest = tellingParts(text.slice(0, textChars)).replace(
    fence,
    (_, __, language: string, body: string, at: number, all: string) => {
      const lead = all.slice(0, at).trimEnd();
      if (shells.has(language.toLowerCase()) && !warns.test(lead.slice(lead.lastIndexOf("\n") + 1)))
        blocks.push(...splitCommands(body));
      return "";
    },
  );
  const inline = [...rest.matchAll(/`([^`\n]{4,400})`/g)].flatMap((match) => {
    const { 1: code = "", index } = match;
    const lead = rest.slice(Math.max(0, index - leadChars), index);
    const isCommand = /\s/.test(code.trim()) || code.includes("/");
    // What comes after a full stop, or a semicolon, is another matter.
    return isCommand && !warns.test(lead.replace(/^[\s\S]*[.;!?\n]\s/, "")) ? [code.trim()] : [];
  });
  return [...blocks, ...inline];
}

/** Characters before a command that say whether it is told to be run. */
const leadChars = 120;

/** A text without the parts that say when it applies, what failed, or what not to do: their commands are no advice. */
function tellingParts(text: string): string {
  let [quiet, inBlock] = [false, false];
  const lines = text.split("\n").filter((line) => {
    if (/^\s*(?:`{3}|~{3})/.test(line)) inBlock = !inBlock;
    // In a block of shell the same sign begins a comment.
    const heading = inBlock ? undefined : /^#{1,6}\s+(.*)$/.exec(line)?.[1];
    if (heading !== undefined) quiet = noAdvice.test(heading);
    return !quiet;
  });
  return lines.join("\n");
}

const noAdvice =
  /\b(?:when|not for|evidence|avoid|don'?t|do not|never|anti-?patterns?|wrong|bad|symptoms?|pitfalls?|mistakes?)\b/i;
const warns =
  /\b(?:not|never|don'?t|avoid|instead of|rather than|fail(?:s|ed|ing)?|wrong|no longer|deprecated)\b/i;

/** The commands of a block, each with the lines that go on with it, without prompts and comments. */
function splitCommands(block: string): string[] {
  return block
    .replace(/\\\n/g, " ")
    .split("\n")
    .map((line) => line.replace(/^\s*(?:[$%>]\s+)?/, "").trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}

const shells = new Set(["", "sh", "bash", "shell", "zsh", "console", "terminal", "shell-session", "text"]);

/** What of a call is its own; null when anybody may make it without having been told. */
export function keepOwnCall([written, ...parts]: readonly string[]): ToldCall | null {
  if (written === undefined) return null;
  const program = baseName(written);
  const verbs = parts.filter((part) => !part.startsWith("-") && !isVariable(part) && !wrappers.has(part));
  const variables = parts.filter(isVariable);
  // Short flags, and flags that everything has, tell nothing.
  const flags = parts.filter((part) => part.startsWith("--") && part.length > 4 && !commonFlags.has(part));
  if (variables.length > 0) return [program, ...verbs, ...variables];
  const isScript = written.includes("/") && /\.\w{1,4}$/.test(written) && !commonScripts.has(program);
  if (isScript) return [program, ...verbs];
  if (!new Run({ name: program, args: [] }).hasVerbs)
    return isEveryday(program, verbs) || verbs.every((script) => commonScripts.has(script))
      ? null
      : [program, ...verbs];
  const call: ToldCall = [program, ...verbs, ...flags];
  if (!isEveryday(program, verbs)) return call;
  return flags.length > 0 && verbs.length > 0 && !withManyFlags.has(program) ? call : null;
}

const commonScripts = new Set(
  "main.py app.py manage.py setup.py test.py run.py index.js main.js server.js app.js test.js index.ts main.ts run.sh test.sh build.sh start.sh".split(
    " ",
  ),
);

function isVariable(part: string): boolean {
  return part.endsWith("=");
}

const wrappers = new Set("sudo env time timeout nice nohup stdbuf exec builtin".split(" "));
const commonFlags = new Set(
  (
    "--help --version --verbose --quiet --silent --force --watch --save --save-dev --dev --global --yes --all --oneline --stat " +
    "--name-only --cached --staged --amend --no-edit --fix --check --write --noEmit --json --debug --dry-run --recursive --color " +
    "--no-color --include --exclude --output --config --filter --detach --build --follow --tail --limit --format --message --run " +
    "--release --workspace --coverage --no-verify --hard --soft --abort --continue --tags --prune --reporter --grep --port --host"
  ).split(" "),
);

/** What is run in every project all day, whoever says so. */
function isEveryday(program: string, verbs: readonly string[]): boolean {
  const said = verbs.filter((word) => !leads.has(word));
  const known = everyday.get(program);
  return (
    said.length === 0 ||
    known === "all" ||
    (known !== undefined && (known.has(said.join(" ")) || known.has(said[0] ?? "")))
  );
}

/** Programs that people know with many flags: none of them tells who was told. */
const withManyFlags = new Set(
  "git gh docker podman docker-compose kubectl brew apt apt-get systemctl terraform make just task rake".split(
    " ",
  ),
);
const leads = new Set(["run", "exec", "compose", "-m"]);
const ofPackages =
  "test t install i ci add remove rm update upgrade outdated audit start build lint dev format fmt check typecheck type-check init " +
  "clean watch coverage compile generate serve preview prettier eslint tsc vitest jest";
const ofProjects = "test tests build all clean install lint check run dev format fmt up down help start stop";

const everyday = new Map(
  (
    [
      ["git", "all"],
      ["npm pnpm yarn bun", ofPackages],
      [
        "npx bunx",
        "tsc eslint prettier vitest jest biome tsx playwright ts-node mocha webpack vite next create-react-app",
      ],
      ["cargo", "build test run check clippy fmt add update doc clean bench new"],
      ["go", "build test run vet fmt mod get install generate"],
      ["make just task rake", ofProjects],
      ["docker podman", "ps build run logs exec images pull push stop rm compose up down start inspect"],
      ["docker-compose", "up down ps logs build exec run"],
      [
        "pip pip3 uv poetry pdm conda",
        "install add sync lock update pytest run python list show freeze remove",
      ],
      [
        "gh",
        "pr create|pr view|pr list|pr checks|pr status|pr diff|pr merge|pr checkout|issue view|issue list|issue create|run view|run list|run watch|repo view|repo clone|auth status|api",
      ],
      ["kubectl", "get describe logs apply exec delete"],
      ["mvn mvnw gradle gradlew", "test build clean install package verify compile"],
      ["dotnet", "build test run restore publish"],
      ["bundle gem", "install exec update"],
      ["composer", "install update require"],
      ["terraform", "init plan apply fmt validate"],
      ["brew apt apt-get", "install update upgrade"],
      ["systemctl", "status start stop restart"],
      ["python python3", "pytest venv pip unittest http.server build"],
    ] as const
  ).flatMap(([programs, verbs]) => {
    const known = verbs === "all" ? verbs : new Set<string>(verbs.split(verbs.includes("|") ? "|" : " "));
    return programs.split(" ").map((program) => [program, known] as const);
  }),
);
