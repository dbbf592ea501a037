import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "libsql";
import type { JsonObject } from "../../../src/base/json.ts";
import type { HookEvent } from "../../../src/hook/event.ts";
import { atFailure } from "../../../src/hook/failure.ts";
import { atPrompt } from "../../../src/hook/prompt.ts";
import { record } from "../../../src/hook/record.ts";
import * as redaction from "../../../src/hook/redaction.ts";
import { resolveHome } from "../../../src/settings/index.ts";
import { claudeLines } from "../../helpers/claude.ts";
import { knackHere } from "../../helpers/here.ts";
import { keepingAll } from "../../helpers/judging.ts";
import { filesIn } from "../../helpers/machine.ts";
import { type Lookalike, listEvents, type PlantedEvent, type PlantedSecret } from "./load.ts";

type Case = PlantedSecret | Lookalike;

/** A home in which every case was lived through. */
export interface LivedHome {
  /** Every byte outside the transcripts: below KNACK_HOME, in the agents' folders, printed, and sent to a model. */
  readonly kept: string;
  /** The texts that were kept of a case. */
  readonly textOf: (one: Case) => string;
  /** Requests to a model, as text. */
  readonly requests: string;
}

/** Lives through cases as an agent's sessions, lets hooks see them, and learns with a judge that keeps everything. */
export async function liveThrough(home: string, cases: readonly Case[]): Promise<LivedHome> {
  const transcripts = groupCases(cases).map((group) => writeTranscript(home, group));
  for (const one of cases) for (const payload of listRecorded(one)) record(hookEvent(home, one, payload));
  const requests = join(home, "requests");
  const printed = [await run(home, ["learn", "--all", "--json", "--model-dump", requests])];
  for (const name of readdirSync(requests)) answer(join(requests, name));
  printed.push(await run(home, ["learn", "--all", "--yes", "--where", "me", "--model-answers", requests]));
  for (const one of cases) for (const payload of listSeen(one)) await tellHook(hookEvent(home, one, payload));
  printed.push(await run(home, ["learn", "--all"]), await run(home, ["lessons", "--json"]));
  const texts = readTexts(home);
  const files = Object.entries(filesIn(home)).filter(([path]) => !transcripts.includes(join(home, path)));
  const asked = files.filter(([path]) => path.startsWith("requests/")).map(([, text]) => text);
  return {
    kept: [...files.map(([, text]) => text), ...[...printed, ...texts.values()].map(toBytes)].join("\n"),
    textOf: (one) => texts.get(nameCase(one)) ?? "",
    requests: Buffer.from(asked.join("\n"), "latin1").toString("utf8"),
  };
}

/** Whether a text is among what was kept, as it is or escaped in JSON. */
export function isKept({ kept }: Pick<LivedHome, "kept">, text: string): boolean {
  const escaped = (one: string) => JSON.stringify(one).slice(1, -1);
  const forms = new Set([text, escaped(text), escaped(escaped(text))].map(toBytes));
  // Few digits stand in the middle of other numbers by chance.
  if (text.length < 8) return new RegExp(`(?<![\\w.])${escapeRegExp(toBytes(text))}(?![\\w.])`).test(kept);
  return [...forms].some((form) => kept.includes(form));
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

export function toBytes(text: string): string {
  return Buffer.from(text).toString("latin1");
}

async function run(home: string, words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await knackHere(words, { home });
  if (code !== 0) throw new Error(`knack ${words[0]} ended with ${code}: ${stderr}`);
  return `${stdout}\n${stderr}`;
}

function answer(request: string): void {
  const text = readFileSync(request, "utf8");
  writeFileSync(request.replace("request.md", "answer.json"), JSON.stringify(keepingAll(text)));
}

/** The texts of each case: in the database, where a value may be split over pages of the file, and in what hooks record. */
function readTexts(home: string): Map<string, string> {
  const database = new Database(join(home, ".knack/knack.db"), { readonly: true });
  const rows = database.prepare("select text, facts from event order by id").all([]) as {
    text: string;
    facts: string;
  }[];
  database.close();
  const texts = new Map<string, string>();
  let name = "";
  for (const { text, facts } of rows) {
    name = /^Go on with (\w+ \d+)\.$/.exec(text)?.[1] ?? name;
    texts.set(name, `${texts.get(name) ?? ""}\n${text}\n${readJson(facts)}`);
  }
  for (const [path, text] of Object.entries(filesIn(join(home, ".knack/spool"))))
    if (path.endsWith(".jsonl"))
      texts.set(
        /"agent_name":"([^"]+)"/.exec(text)?.[1] ?? "",
        readJson(Buffer.from(text, "latin1").toString()),
      );
  return texts;
}

/** JSON, and its texts as they are outside of it. */
function readJson(json: string): string {
  const texts = [json];
  for (const line of json.trim().split("\n"))
    JSON.parse(line, (_, value) => {
      if (typeof value === "string") texts.push(value);
      return value;
    });
  return texts.join("\n");
}

function nameCase(one: Case): string {
  return `${"secret" in one ? "secret" : "lookalike"} ${one.id}`;
}

/** Cases that share a transcript; what is a session is one alone, and recorded payloads need none. */
function groupCases(cases: readonly Case[]): Case[][] {
  const alone = cases.filter((one) => "events" in one);
  const others = cases.filter((one) => !("events" in one) && one.where !== "hook");
  const groups = Array.from({ length: Math.ceil(others.length / 8) }, (_, at) =>
    others.slice(8 * at, 8 * at + 8),
  );
  return [...alone.map((one) => [one]), ...groups];
}

const project = "/home/jo/proj";

/** Leaves cases where Claude Code would. After each the person says something that is worth a lesson. */
function writeTranscript(home: string, cases: readonly Case[]): string {
  const path = join(
    home,
    ".claude/projects/-home-jo-proj",
    `${nameCase(cases[0] as Case).replace(" ", "-")}.jsonl`,
  );
  mkdirSync(dirname(path), { recursive: true });
  const line = claudeLines(path.slice(-16, -6), project);
  const lines = cases.flatMap((one) => [
    line.user(`Go on with ${nameCase(one)}.`),
    ...pairCalls(listEvents(one)).flatMap((step, at) => writeStep(line, step, `toolu_${one.id}_${at}`)),
    line.says("I will run `npm test` next."),
    line.user("No, don't run npm here. Always use pnpm in this project."),
  ]);
  writeFileSync(path, lines.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return path;
}

/** An event; a command has its output, where that is the next one. */
type Step = PlantedEvent & { readonly output?: string };

function pairCalls(events: readonly PlantedEvent[]): Step[] {
  const steps: Step[] = [];
  for (const event of events) {
    const last = steps.at(-1);
    const isResult = event.where === "output" && (last?.where === "command" || last?.where === "hook");
    if (last && isResult && last.output === undefined) steps.splice(-1, 1, { ...last, output: event.text });
    else steps.push(event);
  }
  return steps;
}

function writeStep(line: ReturnType<typeof claudeLines>, step: Step, id: string): object[] {
  const { where, text, output = "ok" } = step;
  const file_path = `${project}/file`;
  switch (where) {
    case "prompt":
      return [line.user(text)];
    case "reply":
      return [line.says(text)];
    case "command":
      return [line.runs(id, text), line.result(id, output)];
    case "output":
      return [line.runs(id, "./run.sh"), line.result(id, text)];
    case "file-read":
      return [line.calls(id, "Read", { file_path }), line.result(id, text)];
    case "edit":
      return [
        line.calls(id, "Edit", { file_path, old_string: "pass", new_string: text }),
        line.result(id, `The file ${file_path} has been updated.`),
      ];
    case "hook": {
      const { tool_name, tool_input } = JSON.parse(text);
      return [line.calls(id, tool_name, tool_input), line.result(id, output)];
    }
  }
}

/** Payloads of an agent that leaves no transcript: Knack records them. */
function listRecorded(one: Case): Payload[] {
  if ("events" in one || one.where !== "hook") return [];
  return [{ hook_event_name: "PreToolUse", ...JSON.parse(one.text), agent_name: nameCase(one) }];
}

/** Payloads that Claude Code would give the hooks in the session of a case. */
function listSeen(one: Case): Payload[] {
  return pairCalls(listEvents(one)).flatMap(({ where, text, output = "error: it failed" }) => {
    const failed = {
      hook_event_name: "PostToolUseFailure",
      tool_name: "Bash",
      error: `Exit code 1\n${output}`,
    };
    switch (where) {
      case "prompt":
        return { hook_event_name: "UserPromptSubmit", prompt: text };
      case "command":
        return { ...failed, tool_input: { command: text } };
      case "output":
        return { ...failed, tool_input: { command: "./run.sh" }, error: `Exit code 1\n${text}` };
      case "hook":
        return "events" in one ? { ...failed, ...JSON.parse(text) } : [];
      default:
        return [];
    }
  });
}

type Payload = { readonly hook_event_name: string } & JsonObject;

function hookEvent(home: string, one: Case, given: Payload): HookEvent {
  const session = nameCase(one);
  const env = { HOME: home, KNACK_HOME: join(home, ".knack") };
  return {
    ...{ event: given.hook_event_name, session, transcript: "/t.jsonl", cwd: project },
    ...{ payload: { session_id: session, cwd: project, ...given }, home: resolveHome(env), env },
    ...{ program: "", now: Date.now(), asks: "person", isGivenByProgram: false },
    redaction: () => redaction,
  };
}

async function tellHook(call: HookEvent): Promise<void> {
  if (call.event === "UserPromptSubmit") await atPrompt(call);
  else await atFailure(call);
}
