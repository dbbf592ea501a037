import { asString, type JsonObject } from "../base/index.ts";
import { parseCommand, type Run } from "../failures/index.ts";
import { type Event, type EventOutline, type Provenance, provenances } from "../records/index.ts";

/** The part of an event that tells where its text came from. */
export type OriginFacts = Pick<
  Event,
  "kind" | "given" | "sidechain" | "tool" | "input" | "command" | "files" | "cwd" | "text"
>;

/** The least trusted of several origins: a text made of several is as good as the worst of them. */
export function leastTrusted(first: Provenance, ...rest: readonly Provenance[]): Provenance {
  return [first, ...rest].reduce((a, b) => (provenances.indexOf(b) > provenances.indexOf(a) ? b : a));
}

/**
 * Where the text of an event came from: a prompt's words, a reply, a call's output. `root` is the folder of the
 * session's project; without one every file is a file from elsewhere.
 */
export function readProvenance(event: OriginFacts, root: string | null): Provenance {
  const { kind, given, sidechain } = event;
  if (kind === "prompt") return given === "program" ? "program" : sidechain ? "agent" : "person";
  if (kind === "reply") return "agent";
  if (kind === "mark") return event.text.startsWith("Instructions in ") ? "repository" : "program";
  return readToolProvenance(event, root);
}

/** Whether a call brought something from the web or from a server other than Knack's own. */
export function isFromOutside({ kind, tool, head, file, sidechain }: EventOutline): boolean {
  if (kind !== "call" || /(?:^|[^a-z])knack(?:[^a-z]|$)/i.test(tool ?? "")) return false;
  const call = { kind, tool, command: head, sidechain, input: null, cwd: null, text: "" };
  const from = readToolProvenance({ ...call, files: file === null ? [] : [file] }, null);
  return from === "web" || from === "mcp";
}

function readToolProvenance(event: OriginFacts, root: string | null): Provenance {
  const { tool, input, command, files, cwd } = event;
  if (command !== null) return readShellProvenance(command, { cwd, root });
  const name = tool ?? "";
  if (webTool.test(name)) return "web";
  if (!nativeTool.test(name)) return "mcp";
  // Another agent may repeat whatever it was shown.
  if (/^(?:task|agent|spawn_?agent|wait_?agent|delegate_to_agent|codebase_investigator)$/i.test(name))
    return "import";
  if (!readingTool.test(name)) return editTool.test(name) ? "agent" : "program";
  const named = files.length > 0 ? files : findPaths(input);
  // A search without a folder is one of the working folder.
  return placeFiles(named.length > 0 ? named : ["."], { cwd, root });
}

/** Tools that bring text from the network. */
const webTool =
  /^(?:web_?fetch|web_?search|fetch(?:_?url)?|google_web_search|codesearch|browser(?:_\w+)?|open_url|read_web_page|search_web)$/i;

const readingTool =
  /^(?:read(?:_?file|_?many_?files)?|read_file_v2|view(?:_image)?|grep(?:_search)?|rg|glob|ls|list(?:_?dir(?:ectory)?)?|search(?:_file_content|_files|_dir|_file)?|find(?:_file)?|file_search|codebase_search|notebook_?read|open|goto|scroll_(?:up|down)|lsp|read_lints)$/i;

const editTool =
  /^(?:edit(?:_file)?|multi_?edit|write(?:_file)?|create(?:_file)?|replace|str_replace(?:_editor|_based_edit_tool)?|apply_?patch|patch|notebook_?edit|insert|delete(?:_file)?|search_replace|update_file)$/i;

/**
 * Tools that the agents bring along. A tool of any other name is a server's: agents name these in different ways
 * (`mcp__server__tool`, `server_tool`, `server-tool`), so the names that are their own are the ones to know.
 */
const nativeTool = new RegExp(
  `${readingTool.source}|${editTool.source}|${[
    "^(?:bash(?:_?output)?|shell(?:_command)?|powershell|exec(?:_command)?|run_(?:shell_command|terminal_cmd|command)|terminal|write_stdin|wait|local_shell(?:_call)?)$",
    "^(?:(?:read|write|stop|list)_(?:bash|powershell|agents?)|kill_?(?:shell|bash)|task\\w*|agent|team\\w*|send_?message|todo_?(?:read|write)|update_(?:plan|todo)|plan_?(?:exit|enter)|(?:enter|exit)_?plan_?mode|report_intent|store_memory|save_memory)$",
    "^(?:sql|js_repl|view_image|write_?todos|activate_skill|codebase_investigator|delegate_to_agent|complete_task|semantic_?search|await|create_?plan|switch_?mode|(?:get|create|update)_goal)$",
    "^(?:skill|slash_?command|tool_?search|tool_search_call|ask_?user\\w*|request_user_input|question|think|submit|batch|invalid|monitor|cron\\w*|schedule_?wakeup|workflow|(?:spawn|close|wait|resume)_?agent|send_input|get_internal_docs|fetch_copilot_cli_documentation|unknown)$",
  ].join("|")}`,
  "i",
);

/** Whether a tool is one that an agent brings along, and no server's. */
export function isNativeTool(name: string): boolean {
  return nativeTool.test(name) || webTool.test(name);
}

const pathArguments = [
  "file_path",
  "absolute_path",
  "filePath",
  "path",
  "dir_path",
  "directory",
  "target_file",
];

function findPaths(input: JsonObject | null): string[] {
  return pathArguments.flatMap((name) => asString(input?.[name]) || []);
}

// --- Shell ---

interface Place {
  /** The folder from which paths are seen. */
  readonly cwd: string | null;
  readonly root: string | null;
}

function readShellProvenance(command: string, place: Place): Provenance {
  const runs = parseCommand(command);
  if (runs.some(bringsOthersText) || hiddenDownload.test(command)) return "web";
  const printing = runs.filter(({ isFilter }) => !isFilter);
  const [first = "program", ...rest] = printing.map((run) => readRunProvenance(run, place));
  return leastTrusted(first, ...rest);
}

/** A download inside another program's words: `echo "$(curl …)"`, `python -c "…urlopen('https://…')"`. */
const hiddenDownload =
  /(?:\$\(|`|\bxargs(?: -\S+)*)\s*(?:curl|wget)\s|\b(?:urlopen|urlretrieve|requests\.get|httpx\.get|fetch)\(\s*f?['"`]https?:(?!\/\/(?:localhost|127\.))/;

function readRunProvenance(run: Run, { cwd, root }: Place): Provenance {
  if (!fileReaders.has(run.name) || (run.name === "sed" && !run.isLook)) return "program";
  const operands = run.args.filter((arg) => !arg.startsWith("-") || arg === "-");
  const read = scriptFirst.has(run.name) && !namesScript(run) ? operands.slice(1) : operands;
  // Without a file it reads what it is given, or the folder it is in.
  const files = read.length > 0 ? read : run.name === "rg" ? ["."] : [];
  const from = run.directory === null ? cwd : resolvePath(run.directory, cwd);
  return files.length === 0 ? "program" : placeFiles(files, { cwd: from, root });
}

const fileReaders = new Set(
  "cat head tail sed grep egrep fgrep rg ag ack awk less more bat nl tac jq yq xxd strings zcat".split(" "),
);

/** Programs whose first word is what to look for, or what to do. */
const scriptFirst = new Set("sed grep egrep fgrep rg ag ack awk jq yq".split(" "));

function namesScript({ args }: Run): boolean {
  return args.some((arg) => /^(?:-\w*[ef]|--(?:regexp|expression|file)(?:=.*)?|--files)$/.test(arg));
}

/** Whether a program prints what other people wrote, from the network. */
function bringsOthersText({ name, args }: Run): boolean {
  // The server that runs on this machine is the project's own.
  if (downloaders.has(name)) return !args.some((arg) => loopback.test(arg));
  const [first = "", second = ""] = args.filter((arg) => !arg.startsWith("-"));
  if (name === "gh" || name === "glab" || name === "hub" || name === "tea")
    return forgeTexts.test(`${first} ${second}`);
  if (name === "git" && /^(?:show|log|diff|cat-file)$/.test(first))
    return args.some((arg) => fetched.test(arg));
  return registryTexts.get(name)?.test(first) ?? false;
}

const downloaders = new Set(
  "curl wget http https xh httpie aria2c lynx w3m links elinks ftp nc ncat".split(" "),
);

const loopback = /^(?:https?:\/\/)?(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?:[:/]|$)/;

const forgeTexts =
  /^(?:(?:issue|pr|mr|release|gist|discussion) (?:view|list|diff|show|note|status|notes)|api(?: |$)|search |run view|repo view|ci (?:view|trace))/;

/** Commits that came from another repository's branch. */
const fetched = /FETCH_HEAD|(?:^|\/)pull\/\d+|refs\/(?:pull|merge-requests)\//;

const registryTexts = new Map([
  ["npm", /^(?:view|info|show|search|docs)$/],
  ["pnpm", /^(?:view|info|show|search)$/],
  ["yarn", /^(?:info|npm)$/],
  ["pip", /^(?:search|index)$/],
  ["cargo", /^(?:search|info)$/],
  ["gem", /^search$/],
  ["brew", /^(?:info|search)$/],
  ["docker", /^search$/],
]);

// --- Files ---

function placeFiles(files: readonly string[], place: Place): Provenance {
  const [first = "file", ...rest] = files.map((file) => placeFile(file, place));
  return leastTrusted(first, ...rest);
}

/** A file of the project is the repository's; what was installed into the project, and all else, is from elsewhere. */
function placeFile(path: string, { cwd, root }: Place): Provenance {
  if (root === null) return "file";
  const folder = resolvePath(root, null);
  const full = resolvePath(path, cwd ?? root);
  const isInside = full === folder || full.startsWith(`${folder}/`);
  return isInside && !installed.test(full.slice(folder.length)) ? "repository" : "file";
}

/** Folders into which package managers put other people's files. */
const installed =
  /\/(?:node_modules|bower_components|vendor|third[_-]party|\.venv|venv|site-packages|dist-packages|\.tox|\.cargo|\.git|Pods|\.gradle)(?:\/|$)/i;

/** A path without `.` and `..`, seen from a folder, with slashes on every system. */
function resolvePath(path: string, folder: string | null): string {
  const isWhole = /^(?:~|[/\\]|[A-Za-z]:[/\\])/.test(path);
  const parts: string[] = [];
  for (const part of (isWhole ? path : `${folder ?? ""}/${path}`).split(/[/\\]/)) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
