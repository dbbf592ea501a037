import { asString } from "../base/index.ts";
import { CallReader, causeGroups, isEdit, parseCommand, Run, readSymptom } from "../failures/index.ts";
import { isObjection, readTurns } from "../learning/index.ts";
import {
  type Event,
  type Item,
  type ItemKind,
  type ItemUse,
  isUse,
  type Occasion,
  type UseVerdict,
} from "../records/index.ts";
import { itemNamed } from "../search/index.ts";
import { baseName } from "../text/index.ts";

/** Characters of a prompt that are kept with the use of a skill. */
const promptChars = 400;
/** Characters of a text in which calls are looked for, how many of them count, and characters before one that are read. */
const textChars = 20_000;
const mostCalls = 40;
const leadChars = 120;

/** Something that was put before an agent in a session. */
export interface ShownItem {
  readonly kind: "lesson" | "skill";
  /** The id of the item, or of the lesson. */
  readonly id: string;
  readonly name: string;
  readonly occasion: Occasion;
  readonly text: string;
  /** For a lesson: the call that it recommends. */
  readonly call: readonly string[] | null;
  readonly at: number;
}

/** Input for finding a session's uses. */
interface UsageContext {
  readonly project: string | null;
  readonly items: readonly Item[];
  readonly tellings: readonly ShownItem[];
  /** Whether sessions make a call that something tells without having been told. */
  readonly isFamiliar: (call: readonly string[], id: string) => boolean;
}

interface FoundUse {
  readonly kind: "lesson" | "skill";
  readonly used: ItemUse;
  readonly at: number | null;
  readonly item: Item | null;
  readonly turn: number;
}

interface Rating {
  readonly verdict: UseVerdict;
  readonly because: string;
  /** When that showed. */
  readonly at: number;
}

/** Items used in a session, each once, with a rating; null if it cannot be rated. */
export function findUsage(events: readonly Event[], known: UsageContext) {
  return findUses(events, known).map((use) => {
    const { kind, used, at } = use;
    return { kind, used, at, rating: rateUse(events, use, known) };
  });
}

/**
 * Items used in a session: loaded, named by the agent, called by a person, or followed. Being shown alone is no use,
 * nor is a call the agent would have made anyway.
 */
function findUses(events: readonly Event[], known: UsageContext): FoundUse[] {
  // A session that edits skills reads them as examples.
  const isSkillWork = events.some(
    (event) => isEdit(event) && event.outcome !== "failed" && event.files.some(isSkillFile),
  );
  const items = new Map(known.items.map((item) => [item.id, item]));
  const told = known.tellings.map((telling) => ({ telling, advice: listAdvice(events, telling, known) }));
  const uses = new Map<string, FoundUse>();
  let prompt: string | null = null;
  const take = (
    { ref, at, turn }: Event,
    { kind, id, name }: Pick<ShownItem, "kind" | "id" | "name">,
    by: ItemUse["by"],
  ) => {
    const used = { skill: id, name, by, prompt, ref };
    if (!uses.has(id)) uses.set(id, { kind, item: items.get(id) ?? null, turn, at, used });
  };
  for (const event of events) {
    if (event.kind === "prompt") prompt = event.text.slice(0, promptChars);
    for (const { item, by } of findNamed(event, known, isSkillWork))
      take(event, { kind: "skill", id: item.id, name: item.name }, by);
    for (const { telling, advice } of told)
      if (listFollowed(event, telling.at, advice).length > 0) take(event, telling, "command");
  }
  return [...uses.values()];
}

interface NamedItem {
  readonly item: Item;
  readonly by: ItemUse["by"];
}

/** The items that an event itself says were used. */
function findNamed(event: Event, known: UsageContext, isSkillWork: boolean): NamedItem[] {
  return listNames(event, isSkillWork).flatMap((named) => {
    if ("path" in named) return findItemAt(named.path, known);
    const { name, kinds, by } = named;
    const meant = known.items.filter(({ kind }) => kinds.includes(kind));
    const item = itemNamed(meant, known.project, name.replace(/^\//, ""));
    return item === null ? [] : [{ item, by }];
  });
}

/** Whether a session says that it used something: only then the library need be known. */
export function namesItems(events: readonly Event[]): boolean {
  return events.some((event) => listNames(event, false).length > 0);
}

type Named =
  | { readonly name: string; readonly kinds: readonly ItemKind[]; readonly by: ItemUse["by"] }
  | { readonly path: string };

/** The names and files by which an event says that something was used. */
function listNames(event: Event, isSkillWork: boolean): Named[] {
  const find = (name: string | null | undefined, kinds: readonly ItemKind[], by: ItemUse["by"]) =>
    name ? [{ name, kinds, by }] : [];
  const { kind, tool, input, outcome } = event;
  if (kind === "prompt" || kind === "mark")
    return [
      ...find(event.skill, ["skill", "command"], "person"),
      ...findMentions(event.text).flatMap((name) => find(name, ["skill"], "person")),
    ];
  const attributed = find(event.skill, ["skill", "command", "agent"], "attribution");
  if (kind !== "call" || outcome === "failed" || outcome === "rejected") return attributed;
  if (tool === "Skill" || tool === "SlashCommand") {
    const name = asString(input?.skill) ?? asString(input?.command)?.split(/\s/)[0];
    return [...find(name, ["skill", "command"], "tool"), ...attributed];
  }
  if (tool !== null && ownTools.test(tool))
    return [...find(asString(input?.skill_name), ["skill"], "tool"), ...attributed];
  if (tool === "Task" || tool === "Agent")
    return [...find(asString(input?.subagent_type), ["agent"], "tool"), ...attributed];
  const read = isSkillWork ? [] : listSkillFilesRead(event);
  return [...read.map((path) => ({ path })), ...attributed];
}

/** Knack's own tools by which an agent loads a skill, or says that it used one, however its host spells them. */
const ownTools = /(?:^|[_.:/-])skill_(?:load|used)$/;

/** Codex's way of naming a skill in a prompt: a link to its file behind a dollar sign. */
function findMentions(text: string): string[] {
  const links = text.slice(0, textChars).matchAll(/\[\$([\w:.-]{1,128})\]\([^)\n]{1,400}SKILL\.md\)/g);
  return [...links].map(([, name]) => name ?? "");
}

/** The skills whose text a call puts before the agent: reading a skill's file loads it. */
function listSkillFilesRead(event: Event): string[] {
  const { command, tool, files } = event;
  if (command === null)
    return tool !== null && /^read(?:_?file)?$|^view$/i.test(tool)
      ? files.map((file) => resolvePath(event, file)).filter(isSkillFile)
      : [];
  if (!command.includes("SKILL.md")) return [];
  return parseCommand(command).flatMap(({ name, args, directory }) =>
    readers.has(name) && !(name === "sed" && args.some((arg) => /^-\w*i/.test(arg)))
      ? args.filter(isSkillFile).map((file) => resolvePath(event, file, directory))
      : [],
  );
}

const readers = new Set("cat bat sed head tail less more nl awk".split(" "));

function isSkillFile(path: string): boolean {
  return /(?:^|[\\/])SKILL\.md$/.test(path);
}

/** An absolute path, where the folder it was said in is known. */
function resolvePath({ cwd }: Event, path: string, directory: string | null = null): string {
  if (/^(?:[\\/~]|[A-Za-z]:)/.test(path)) return path;
  const folder =
    directory === null ? cwd : /^[\\/~]/.test(directory) ? directory : cwd && `${cwd}/${directory}`;
  return folder === null ? path : `${folder}/${path.replace(/^(?:\.\/)+/, "")}`;
}

/** The skill that a file is: by its path, or by the end of it where a link or another home leads to the same. */
function findItemAt(path: string, { items, project }: UsageContext): NamedItem[] {
  // `.codex/skills/name/SKILL.md`
  const takeTail = (full: string) => full.split(/[\\/]/).slice(-4).join("/");
  const skills = items.filter(
    ({ kind, scopeId }) => kind === "skill" && (scopeId === project || scopeId === "user"),
  );
  const item =
    skills.find((one) => one.path === path || one.copies.includes(path)) ??
    skills.find((one) => [one.path, ...one.copies].some((other) => takeTail(other) === takeTail(path)));
  return item ? [{ item, by: "tool" }] : [];
}

/** A call that was told in a session, and the turn in which the person asked for it themselves. */
interface Advice {
  readonly call: ToldCall;
  readonly askedIn: number;
}

/** The recommended calls that only advice explains: not made before, not usual here. */
function listAdvice(events: readonly Event[], telling: ShownItem, known: UsageContext): Advice[] {
  const { occasion, call, kind } = telling;
  if (kind === "skill") return listNewAdvice(events, findToldCalls(telling.text), telling, known);
  const [program, ...parts] = call ?? [];
  // At its failure a lesson is about this very call; elsewhere it must be its own, as a skill's must.
  if (occasion === "failure" && program !== undefined)
    return [makeAdvice(events, [baseName(program), ...parts])];
  const own = keepOwnCall(call ?? []);
  return own === null ? [] : listNewAdvice(events, [own], telling, known);
}

function listNewAdvice(
  events: readonly Event[],
  calls: readonly ToldCall[],
  { id, at }: { readonly id: string; readonly at: number },
  { isFamiliar }: UsageContext,
): Advice[] {
  return calls
    .filter((call) => {
      const made = events.filter(({ command }) => command !== null && makesCall(command, call));
      const isOld = made.some((event) => event.at !== null && event.at < at);
      return made.length > 0 && !isOld && !isFamiliar(call, id);
    })
    .map((call) => makeAdvice(events, call));
}

function makeAdvice(events: readonly Event[], call: ToldCall): Advice {
  const asking = events.find(({ kind, text }) => kind === "prompt" && namesCall(text, call));
  return { call, askedIn: asking?.turn ?? Number.POSITIVE_INFINITY };
}

/** The calls of an event that were told before it. */
function listFollowed(event: Event, toldAt: number, advice: readonly Advice[]): ToldCall[] {
  const { kind, command, at, outcome, turn } = event;
  if (kind !== "call" || command === null || at === null || at < toldAt) return [];
  if (outcome === "rejected" || outcome === "cancelled") return [];
  return advice.flatMap(({ call, askedIn }) => (turn < askedIn && makesCall(command, call) ? [call] : []));
}

/** How a use went: a person's objection first, then how what was told did; null where neither tells. */
function rateUse(events: readonly Event[], use: FoundUse, known: UsageContext): Rating | null {
  const { item, used, at } = use;
  const told = known.tellings
    .filter(({ id }) => id === used.skill)
    .map((telling) => ({ telling, advice: listAdvice(events, telling, known) }));
  // What was loaded tells its calls from then on; an agent of its own follows them elsewhere.
  const isLoaded = item !== null && item.kind !== "agent" && used.by !== "command" && at !== null;
  const loaded = isLoaded ? listNewAdvice(events, findToldCalls(item.body), { id: item.id, at }, known) : [];
  const calls = [...told.flatMap(({ advice }) => advice), ...loaded].map(({ call }) => call);
  const objection = findObjection(events, use, calls);
  if (objection !== null) return objection;
  const ratings = [
    ...told.map(({ telling, advice }) =>
      telling.occasion === "failure"
        ? rateAtFailure(events, telling, advice)
        : rateOutcome(events, advice, telling.at),
    ),
    rateOutcome(events, loaded, at ?? 0),
  ].flatMap((rating) => rating ?? []);
  return ratings.sort((a, b) => b.at - a.at)[0] ?? null;
}

/** A person who turns down what it tells, or corrects the agent in the very next turn and says what they mean by its name. */
function findObjection(
  events: readonly Event[],
  { used, turn }: FoundUse,
  calls: readonly ToldCall[],
): Rating | null {
  const turns = readTurns(events);
  const blame = (because: string, at: number | null): Rating => ({
    verdict: "harmful",
    because,
    at: at ?? 0,
  });
  const refusal = turns.find(({ rejected }) =>
    calls.some((call) => makesCall(rejected?.command ?? "", call)),
  );
  if (refusal) return blame("the person turned down what it tells", refusal.prompt.at);
  const next = turns.find(({ prompt }) => prompt.turn === turn + 1);
  if (!next || !(namesItem(next.words, used.name) || calls.some((call) => namesCall(next.words, call))))
    return null;
  return isObjection(next) ? blame("the person objected to it in the next turn", next.prompt.at) : null;
}

/** Whether words speak of something by its name, as it is written or in plain words; a short name may be any word. */
function namesItem(words: string, name: string): boolean {
  const plain = words.toLowerCase();
  const names = [name, name.replace(/^.*:/, "").replace(/-/g, " ")].map((one) => one.toLowerCase());
  return names.some((one) => one.length > 3 && plain.includes(one));
}

/** How the calls that were told went: helpful when they worked in the end, harmful when they never could. */
function rateOutcome(events: readonly Event[], advice: readonly Advice[], toldAt: number): Rating | null {
  const followed = events.flatMap((event) =>
    listFollowed(event, toldAt, advice).map((call) => ({ event, call, worked: hasWorked(event) })),
  );
  const last = followed.at(-1);
  if (last === undefined) return null;
  const at = last.event.at ?? toldAt;
  // Of each call the last time counts: what fails at first may need something else before it.
  const ends = new Map(followed.map(({ call, worked }) => [call, worked]));
  if ([...ends.values()].every((worked) => worked === true))
    return { verdict: "helpful", because: "what it tells was run, and worked", at };
  const never = followed.every(({ worked }) => worked === false);
  return never && followed.some(({ event, call }) => failsByItself(event, call))
    ? { verdict: "harmful", because: "what it tells was run, and could not work as it is told", at }
    : null;
}

/** How what was told at a failure went: whether it came next and worked, or the same failure came again. */
function rateAtFailure(
  events: readonly Event[],
  { call, at: toldAt }: ShownItem,
  advice: readonly Advice[],
): Rating | null {
  const followed = events.filter((event) => listFollowed(event, toldAt, advice).length > 0);
  const at = followed.at(-1)?.at;
  if (at == null) return null;
  if (workedNext(events, call ?? [], toldAt))
    return { verdict: "helpful", because: "it failed, this was told, came next and worked", at };
  const before = events.findLast(
    (event) => event.outcome === "failed" && event.at !== null && event.at <= toldAt,
  );
  const signature = ({ text, exitCode }: Event) => readSymptom(null, text, exitCode).signature;
  const again =
    before && followed.every((event) => hasWorked(event) === false && signature(event) === signature(before));
  return again ? { verdict: "harmful", because: "it was done, and the same failure came again", at } : null;
}

function hasWorked(event: Event): boolean | null {
  return event.outcome === "ok" ? true : event.outcome === "failed" ? false : null;
}

/** A failure of the call's own words: not of the work that it was run on, nor of what stood beside it. */
function failsByItself({ command, text, exitCode }: Event, call: ToldCall): boolean {
  const { cause, call: failed } = readSymptom(command ?? "", text, exitCode);
  if (!causeGroups.beforeWork.has(cause) || failed === null) return false;
  const [head = "", ...parts] = failed;
  return isUse({ head: baseName(head), parts }, call);
}

/** Whether the call that a lesson recommends was what came next after a time, and worked: before anything else failed. */
function workedNext(events: readonly Event[], call: readonly string[], after: number): boolean {
  const reader = new CallReader();
  for (const event of events) {
    if (event.command === null || event.at === null || event.at < after) continue;
    const isNext = parseCommand(event.command).some((run) => {
      const [head, ...parts] = run.use();
      return isUse({ head, parts }, call);
    });
    const isOk = reader.hasWorked(event);
    if (isNext || !isOk) return isNext && isOk;
  }
  return false;
}

// --- The calls that a text tells an agent to make ---

/** A call that a text tells: the program, and what tells it from everybody's calls of that program. */
type ToldCall = readonly [string, ...string[]];

/**
 * The calls that a text tells, in its code. Only those specific to the text: an agent that runs
 * `git status` does not follow a skill that mentions it.
 */
export function findToldCalls(text: string): ToldCall[] {
  const calls = new Map<string, ToldCall>();
  for (const run of extractCode(text).flatMap((code) => parseCommand(code))) {
    const isWork = !run.isFilter && !run.isLook && !run.onlyPrints;
    const call = isWork ? keepOwnCall(run.use()) : null;
    if (call !== null) calls.set(call.join(" "), call);
    if (calls.size >= mostCalls) break;
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

/** Whether a text names a call: its program and all its parts. */
function namesCall(text: string, call: readonly string[]): boolean {
  const words = new Set(
    text.split(/[\s`"'“”()[\],;]+/).flatMap((word) => [word, word.replace(/[=.:!?].*$/s, "")]),
  );
  return call.every((part) => words.has(part) || words.has(part.replace(/=$/, "")));
}

/** Commands in a text: shell blocks, and inline code that is more than a name. */
function extractCode(text: string): string[] {
  const blocks: string[] = [];
  const fence = /^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*\n([\s\S]*?)^[ \t]*\1[ \t]*$/gm;
  const rest = keepAdvice(text.slice(0, textChars)).replace(
    fence,
    (_, __, language: string, body: string, at: number, all: string) => {
      const lead = all.slice(0, at).trimEnd();
      if (shells.has(language.toLowerCase()) && !warns.test(lead.slice(lead.lastIndexOf("\n") + 1)))
        blocks.push(...splitCommands(body));
      return "";
    },
  );
  const inline = [...rest.matchAll(/`([^`\n]{4,400})`/g)].flatMap(({ 1: code = "", index }) => {
    const lead = rest.slice(Math.max(0, index - leadChars), index);
    const isCommand = /\s/.test(code.trim()) || code.includes("/");
    // What comes after a full stop, or a semicolon, is another matter.
    return isCommand && !warns.test(lead.replace(/^[\s\S]*[.;!?\n]\s/, "")) ? [code.trim()] : [];
  });
  return [...blocks, ...inline];
}

const shells = new Set(["", "sh", "bash", "shell", "zsh", "console", "terminal", "shell-session", "text"]);

/** A text without the parts that say when it applies, what failed, or what not to do: their commands are no advice. */
function keepAdvice(text: string): string {
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

/** The distinctive parts of a call; null for one any agent may make unprompted. */
function keepOwnCall([written, ...parts]: readonly string[]): ToldCall | null {
  if (written === undefined) return null;
  const program = baseName(written);
  const isVariable = (part: string) => part.endsWith("=");
  const verbs = parts.filter((part) => !part.startsWith("-") && !isVariable(part) && !wrappers.has(part));
  const variables = parts.filter(isVariable);
  if (variables.length > 0) return [program, ...verbs, ...variables];
  const isScript = written.includes("/") && /\.\w{1,4}$/.test(written) && !commonScripts.has(program);
  if (isScript) return [program, ...verbs];
  if (!new Run({ name: program, args: [] }).hasVerbs)
    return isEveryday(program, verbs) || verbs.every((script) => commonScripts.has(script))
      ? null
      : [program, ...verbs];
  // Short flags, and flags that everything has, tell nothing.
  const flags = parts.filter((part) => part.startsWith("--") && part.length > 4 && !commonFlags.has(part));
  if (!isEveryday(program, verbs)) return [program, ...verbs, ...flags];
  const isTelling = flags.length > 0 && verbs.length > 0 && !withManyFlags.has(program);
  return isTelling ? [program, ...verbs, ...flags] : null;
}

const wrappers = new Set("sudo env time timeout nice nohup stdbuf exec builtin".split(" "));
const commonScripts = new Set(
  "main.py app.py manage.py setup.py test.py run.py index.js main.js server.js app.js test.js index.ts main.ts run.sh test.sh build.sh start.sh".split(
    " ",
  ),
);
const commonFlags = new Set(
  (
    "--help --version --verbose --quiet --silent --force --watch --save --save-dev --dev --global --yes --all --oneline --stat " +
    "--name-only --cached --staged --amend --no-edit --fix --check --write --noEmit --json --debug --dry-run --recursive --color " +
    "--no-color --include --exclude --output --config --filter --detach --build --follow --tail --limit --format --message --run " +
    "--release --workspace --coverage --no-verify --hard --soft --abort --continue --tags --prune --reporter --grep --port --host"
  ).split(" "),
);
/** Programs that people know with many flags: none of them tells who was told. */
const withManyFlags = new Set(
  "git gh docker podman docker-compose kubectl brew apt apt-get systemctl terraform make just task rake".split(
    " ",
  ),
);

/** Whether a command is routine in any project. */
function isEveryday(program: string, verbs: readonly string[]): boolean {
  const said = verbs.filter((word) => !leads.has(word));
  const known = everyday.get(program);
  return (
    said.length === 0 ||
    known === "all" ||
    (known !== undefined && (known.has(said.join(" ")) || known.has(said[0] ?? "")))
  );
}

const leads = new Set(["run", "exec", "compose", "-m"]);

const everyday = new Map(
  (
    [
      ["git", "all"],
      [
        "npm pnpm yarn bun",
        "test t install i ci add remove rm update upgrade outdated audit start build lint dev format fmt check typecheck type-check init " +
          "clean watch coverage compile generate serve preview prettier eslint tsc vitest jest",
      ],
      [
        "npx bunx",
        "tsc eslint prettier vitest jest biome tsx playwright ts-node mocha webpack vite next create-react-app",
      ],
      ["cargo", "build test run check clippy fmt add update doc clean bench new"],
      ["go", "build test run vet fmt mod get install generate"],
      [
        "make just task rake",
        "test tests build all clean install lint check run dev format fmt up down help start stop",
      ],
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
