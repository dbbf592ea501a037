// Records the bundled examples anew, with the published clients and a scripted model.
//   node scripts/record-examples.mjs [--keep-raw DIR] [story ...]
// Needs tmux, git, and a Debian-like machine whose only Python is python3.
import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir, hostname, release, userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { stories as harborApi } from "../examples/stories/harbor-api.mjs";
import { stories as tidewatch } from "../examples/stories/tidewatch.mjs";
import { loadTypeScript } from "./typescript.mjs";

const run = promisify(execFile);
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const sessions = join(root, "examples/sessions");
const sizeLimit = 300_000;

async function main() {
  const { values, positionals } = parseArgs({
    options: { "keep-raw": { type: "string" } },
    allowPositionals: true,
  });
  const chosen = [...harborApi, ...tidewatch].filter(
    ({ name }) => positionals.length === 0 || positionals.includes(name),
  );
  loadTypeScript();
  const harness = await import("../test/clients/typed.ts");
  const recorded = [];
  for (const story of chosen) {
    const text = await record(harness, story, values["keep-raw"]);
    console.log(
      `${story.client}/${story.name}: ${text.trim().split("\n").length} lines, ${text.length} bytes`,
    );
    recorded.push({ file: fileOf(story), text });
  }
  const bytes = recorded.reduce((sum, { text }) => sum + text.length, 0);
  if (bytes > sizeLimit) throw new Error(`The examples have ${bytes} bytes, more than ${sizeLimit}.`);
  // Only now, so that a recording that fails leaves the old examples as they are.
  if (positionals.length === 0) await rm(sessions, { recursive: true, force: true });
  for (const { file, text } of recorded) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

// As the clients do: Claude Code has a folder for each project, Codex has not.
function fileOf({ client, project, name }) {
  return join(sessions, client, client === "claude-code" ? project : "", `${name}.jsonl`);
}

// --- Recording ---

async function record({ typeToClaude, typeToCodex }, story, keepRaw) {
  const isClaude = story.client === "claude-code";
  const args = isClaude
    ? ["--permission-mode", "default", "--allowedTools", ...story.allowed]
    : ["--ask-for-approval", "never", "--sandbox", "danger-full-access"];
  const played = await (isClaude ? typeToClaude : typeToCodex)(
    {
      args,
      projectName: story.project,
      setup: (project) => setUp(project, story),
      script: (project) => ({ turns: story.turns(project), side: "ok" }),
      // Nothing of this machine's own set-up: only Node and what the system brings.
      path: [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(":"),
      env: { npm_config_update_notifier: "false" },
    },
    async (terminal) => {
      await terminal.sees(isClaude ? "❯" : "Ask Codex to do anything");
      await pause(500);
      await story.user(terminal);
      await pause(1000); // what follows an answer is written after it is shown
      await terminal.says(isClaude ? "/exit" : "/quit");
      await pause(1500);
    },
  );
  try {
    if (played.transcripts.length !== 1)
      throw new Error(`${story.name} left ${played.transcripts.length} transcripts.`);
    const [transcript] = played.transcripts;
    if (keepRaw !== undefined) await keep(transcript, join(keepRaw, story.client, story.name));
    const lines = (await readFile(transcript, "utf8")).trim().split("\n");
    const scrub = isClaude ? scrubClaude : scrubCodex;
    const scrubbed = lines.map((line) => scrub(JSON.parse(line))).filter((line) => line !== undefined);
    const text = moveHome(scrubbed.map((line) => `${JSON.stringify(line)}\n`).join(""), dirname(played.home));
    check(story, text, isClaude);
    return text;
  } finally {
    await played.dispose();
  }
}

async function keep(transcript, folder) {
  await mkdir(folder, { recursive: true });
  await copyFile(transcript, join(folder, basename(transcript)));
}

async function setUp(project, { files, extra = {}, history, executable = [] }) {
  const git = (...args) => run("git", args, { cwd: project, env: { PATH: process.env.PATH, HOME: project } });
  await writeFiles(project, files);
  for (const file of executable) await chmod(join(project, file), 0o755);
  await git("init", "-q", "-b", "main");
  await git("config", "user.name", "Dev");
  await git("config", "user.email", "dev@example.com");
  await git("add", "-A");
  for (const message of history) await git("commit", "-q", "--allow-empty", "-m", message);
  if (executable.length > 0) await git("config", "core.hooksPath", dirname(executable[0]));
  await writeFiles(project, extra);
}

async function writeFiles(project, files) {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, name)), { recursive: true });
    await writeFile(join(project, name), text);
  }
}

// --- Leaving out what is the vendors' and the machine's ---

const leftOut = "[left out]";
// Copies of each request to the model, with the vendor's whole prompt, and the bill.
const claudeDropped = new Set(["api-request", "api-request-blob", "api-request-shape", "cost-state"]);

function scrubClaude(line) {
  if (claudeDropped.has(line.type)) return undefined;
  if (line.type !== "attachment") return deepMap(line, withoutAsides);
  const { rendered, attachment, ...rest } = line;
  const kept =
    attachment.type === "queued_command" ? attachment : { type: attachment.type, content: leftOut };
  return { ...rest, attachment: kept };
}

/** Tool results keep what the tool says, not what the vendor tells the model about it. */
function withoutAsides(text) {
  return text
    .replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, `<system-reminder>${leftOut}</system-reminder>`)
    .replace(/ \(file state is current in your context[^)]*\)/, "");
}

// How many tokens a scripted model used says nothing.
const codexDropped = new Set(["token_usage_record", "world_state"]);

function scrubCodex(line) {
  const { type, payload } = line;
  if (codexDropped.has(type) || payload.type === "token_count") return undefined;
  if (type === "session_meta")
    return { ...line, payload: { ...payload, base_instructions: { text: leftOut } } };
  if (payload.role === "developer") {
    const content = payload.content.map((part) => ({
      ...part,
      text: part.text.replace(/^(<[^>]+>)?[\s\S]*$/, `$1${leftOut}`),
    }));
    return { ...line, payload: { ...payload, content } };
  }
  return withoutInstructions(line);
}

function withoutInstructions(value) {
  if (Array.isArray(value)) return value.map(withoutInstructions);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, held]) =>
      key === "developer_instructions" && held !== null ? [key, leftOut] : [key, withoutInstructions(held)],
    ),
  );
}

function deepMap(value, change) {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((held) => deepMap(held, change));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, deepMap(held, change)]));
}

/** The run's folder becomes the home of a user called dev, also where a path is written with dashes. */
function moveHome(text, stage) {
  return text
    .replaceAll(`${stage}/home`, "/home/dev")
    .replaceAll(`${stage}/tmp`, "/var/tmp")
    .replaceAll(`${stage}/home`.replace(/[^A-Za-z0-9]/g, "-"), "-home-dev");
}

// --- Making sure ---

function check(story, text, isClaude) {
  for (const [what, pattern] of forbidden()) {
    const found = pattern.exec(text);
    if (!found) continue;
    const around = text.slice(Math.max(0, found.index - 80), found.index + 120);
    throw new Error(`${story.name} holds ${what}: …${around}…`);
  }
  const lines = text.trim().split("\n");
  for (const line of lines) {
    JSON.parse(line);
    if (line.length > 6_000)
      throw new Error(`${story.name} has a line of ${line.length} bytes: ${line.slice(0, 200)}…`);
  }
  if (lines.length < 10) throw new Error(`${story.name} has only ${lines.length} lines.`);
  if (/The script has no turn/.test(text)) throw new Error(`${story.name} went on after its script.`);
  const human = isClaude ? /"promptSource":"typed"/ : /"type":"UserMessage"/;
  if (!human.test(text)) throw new Error(`${story.name} has no human prompt.`);
}

/** Whatever could tell on which machine, by whom or from where the examples were recorded. */
function forbidden() {
  const literal = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const user = userInfo().username;
  return [
    ["a path of this machine", /\/(tmp|root|work|Users|opt|srv|mnt)\/|\/home\/(?!dev\b)/],
    ["this machine's home", new RegExp(`(?<!<)${literal(homedir())}(?![A-Za-z0-9_])`)],
    ["the folder of this project", new RegExp(literal(root))],
    ["this machine's name", new RegExp(`(?<![A-Za-z0-9_:-])${literal(hostname())}(?![A-Za-z0-9_-])`)],
    ["this machine's kernel", new RegExp(literal(release()))],
    ["this machine's user", new RegExp(`${literal(user)}@|"${literal(user)}"`)],
    ["a harness's folder", /knack-play/],
    ["an address on the net", /https?:\/\/|\b\d{1,3}(\.\d{1,3}){3}\b/],
    ["an e-mail address", /[\w.+-]+@(?!example\.com)[\w-]+\.[a-z]{2,}/i],
    ["a key", /\b(sk-|dummy)\b/],
  ];
}

await main();
