import { existsSync } from "node:fs";
import { sessionFoldersOn } from "../agents/index.ts";
import { userHome } from "../config.ts";
import { KnackError } from "../core/errors.ts";
import type { Counts, Event } from "../core/event.ts";
import type { Project } from "../core/project.ts";
import { redact } from "../core/redact.ts";
import type { Diagnostic } from "../core/session.ts";
import { several } from "../core/words.ts";
import type { SessionView } from "../engine/inspect.ts";
import { type Knack, openKnack } from "../open.ts";
import { createThreadRedactor } from "../redaction/thread.ts";
import { formats } from "../sources/index.ts";
import { defineVerb, type Env, type Surroundings } from "./main.ts";
import {
  calledAs,
  dateTime,
  iso,
  onOneLine,
  type Paint,
  paintFor,
  printLines,
  progressOn,
  visible,
} from "./terminal.ts";
import { timeSince } from "./time-since.ts";

export const sessions = defineVerb({
  about: "What your agents did: their sessions, by project, newest first.",
  args: {
    paths: {
      type: "positional",
      required: false,
      description: "files and folders to read (default: the agents' own folders)",
    },
    agent: {
      type: "string",
      description: `only this agent: ${formats.join(", ")}`,
    },
    project: { type: "string", description: "only projects whose name or id contains this" },
    since: { type: "string", description: "only sessions that ended since: 2026-11-01, or 12h, 7d, 4w ago" },
    all: { type: "boolean", description: "list every session, not only each project's newest" },
    events: { type: "boolean", description: "print the events, one JSON object a line" },
    json: { type: "boolean", description: "print one JSON object" },
    "dry-run": { type: "boolean", description: "keep nothing of what is read" },
  },
  run: async ({ args, ...surroundings }) => {
    const { env } = surroundings;
    refuseEmpty({ agent: args.agent, project: args.project, since: args.since });
    if (args._.includes("")) throw new KnackError("WRONG_USAGE", "A path is empty.");
    const filter = filterOf(args, Date.now());
    const found = await read(args._.length > 0 ? args._ : null, args, surroundings);
    try {
      if (found.sessions.length === 0 && !args.json) return refuse(args._, found.diagnostics);
      const sessions = found.sessions.filter(filter);
      if (args.events) await printEvents(found.knack, sessions);
      else if (args.json) printJson(sessions, found.diagnostics, found.examples);
      else print(sessions, found, args.all === true, env);
      return found.sessions.length === 0 ? refuse(args._, found.diagnostics) : 0;
    } finally {
      await found.knack.close();
    }
  },
});

function refuseEmpty(flags: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(flags)) {
    if (value === "")
      throw new KnackError("WRONG_USAGE", `--${name} needs a value.`, { hint: "knack sessions --help" });
  }
}

interface Found {
  readonly knack: Knack;
  readonly sessions: readonly SessionView[];
  readonly diagnostics: readonly Diagnostic[];
  /** These are the bundled ones, because the machine has none. */
  readonly examples: boolean;
}

interface Flags {
  readonly agent?: string | undefined;
  readonly project?: string | undefined;
  readonly since?: string | undefined;
  readonly events?: boolean | undefined;
  readonly "dry-run"?: boolean | undefined;
}

async function read(
  paths: readonly string[] | null,
  flags: Flags,
  surroundings: Surroundings,
): Promise<Found> {
  const { env, redactionThread } = surroundings;
  const redactor = createThreadRedactor(redactionThread);
  const knack = await openKnack({ env, redactor, dryRun: flags["dry-run"] === true });
  const progress = progressOn(process.stderr);
  try {
    const options = { onProgress: progress.report, refresh: flags.events === true };
    const found = await knack.sessions(paths ?? undefined, options);
    progress.end();
    if (paths !== null || found.sessions.length > 0) return { knack, ...found, examples: false };
  } catch (error) {
    progress.end();
    await knack.close();
    throw error;
  }
  await knack.close();
  return readExamples(surroundings);
}

/** The bundled sessions, so that a newcomer has something to look at. Nothing of them is kept. */
async function readExamples({ env, examples: folder }: Surroundings): Promise<Found> {
  const knack = await openKnack({ env, dryRun: true });
  return { knack, ...(await knack.sessions(existsSync(folder) ? [folder] : [])), examples: true };
}

function filterOf({ agent, project, since }: Flags, now: number): (session: SessionView) => boolean {
  if (agent !== undefined && !formats.some((format) => format === agent)) {
    throw new KnackError("WRONG_USAGE", `There is no agent "${agent}".`, {
      hint: `Known: ${formats.join(", ")}`,
    });
  }
  const from = since === undefined ? null : timeSince(since, now);
  const part = project?.toLowerCase();
  return (session) =>
    (agent === undefined || session.format === agent) &&
    (part === undefined || `${session.project.name}\n${session.project.id}`.toLowerCase().includes(part)) &&
    (from === null || (session.endedAt ?? session.startedAt ?? 0) >= from);
}

function refuse(paths: readonly string[], diagnostics: readonly Diagnostic[]): number {
  const [first] = diagnostics;
  const places = paths.length > 0 ? paths.join(", ") : "the bundled examples";
  throw new KnackError(
    "NOTHING_READABLE",
    `No session could be read in ${places}${first ? ` (${first.path} ${first.message})` : ""}.`,
    {
      hint: `Formats are told by what is in a file. Known: ${formats.join(", ")}`,
    },
  );
}

async function printEvents(knack: Knack, sessions: readonly SessionView[]): Promise<void> {
  for (const session of sessions) {
    for await (const event of knack.eachEvent(session))
      await write(`${JSON.stringify(eventOnWire(session, event))}\n`);
  }
}

/** Waits while the reader of the pipe is behind, so that a gigabyte of events needs no memory. */
async function write(text: string): Promise<void> {
  if (process.stdout.write(text)) return;
  await new Promise<void>((done) => process.stdout.once("drain", done));
}

function eventOnWire(session: SessionView, event: Event) {
  const { ref, key, turn, kind, tool, outcome, exitCode } = event;
  const command = event.command === null ? null : redact(event.command);
  return {
    session: session.id,
    ref,
    key,
    at: iso(event.at),
    turn,
    kind,
    tool: tool && redact(tool),
    command,
    outcome,
    exitCode,
    text: redact(event.text),
    files: event.files.map(redact),
  };
}

function printJson(
  sessions: readonly SessionView[],
  diagnostics: readonly Diagnostic[],
  examples: boolean,
): void {
  const all = { sessions: sessions.map(sessionOnWire), diagnostics, ...(examples ? { examples } : {}) };
  process.stdout.write(`${JSON.stringify(all, null, 2)}\n`);
}

function sessionOnWire({
  path,
  format,
  sessionId,
  agentId,
  project,
  startedAt,
  endedAt,
  subagent,
  counts,
  diagnostics,
  alsoFrom,
}: SessionView) {
  return {
    path,
    format,
    sessionId: sessionId && redact(sessionId),
    agentId: agentId && redact(agentId),
    project: cleanProject(project),
    startedAt: iso(startedAt),
    endedAt: iso(endedAt),
    subagent,
    counts,
    diagnostics,
    alsoFrom: alsoFrom.map((other) => ({ path: other.path, format: other.format })),
  };
}

function cleanProject({ id, name, root }: Project): Project {
  return { id: redact(id), name: redact(name), root: root && redact(root) };
}

/** Sessions listed for a project unless all are asked for. */
const listed = 8;

function print(
  sessions: readonly SessionView[],
  { diagnostics, examples, sessions: { length: readCount } }: Found,
  all: boolean,
  env: Env,
): void {
  const paint = paintFor(process.stdout, env);
  const lines: string[] = [];
  if (examples) {
    const places = sessionFoldersOn({ home: userHome(env), env }).map((folder) => `  ${folder}`);
    lines.push(
      "No agent sessions on this machine. Looked in:",
      ...places,
      "",
      "These are the bundled examples:",
      "",
    );
  }
  if (sessions.length === 0)
    lines.push(`None of the ${several(readCount, "session")} read is meant by these filters.`, "");
  const byProject = groupByProject(sessions);
  for (const group of byProject.values())
    lines.push(...projectLines(group, all ? group.length : listed, paint), "");
  lines.push(
    `${several(sessions.length, "session")} in ${several(byProject.size, "project")}: ${inWords(sum(sessions))}.`,
  );
  if (examples)
    lines.push(
      "",
      "Use an agent, then run this again. To look into one of these:",
      `  ${calledAs(env)} sessions ${sessions[0]?.path} --events`,
    );
  printLines(lines);
  printDiagnostics([...sessions.flatMap((session) => session.diagnostics), ...diagnostics]);
}

function groupByProject(sessions: readonly SessionView[]): Map<string, SessionView[]> {
  const groups = new Map<string, SessionView[]>();
  for (const session of sessions) {
    const group = groups.get(session.project.id);
    if (group) group.push(session);
    else groups.set(session.project.id, [session]);
  }
  return groups;
}

function projectLines(group: readonly SessionView[], most: number, paint: Paint): string[] {
  const project = cleanProject((group as [SessionView])[0].project);
  const name = onOneLine(project.name);
  const place =
    project.root !== null && project.root !== project.id ? `${project.id}  ${project.root}` : project.id;
  const shown = group.slice(0, most);
  const rows = shown.map(({ startedAt, format, subagent, counts, sessionId }) => [
    startedAt === null ? "no time" : dateTime(startedAt),
    subagent ? `${format} subagent` : format,
    ...countCells(counts),
    onOneLine(sessionId ?? "", 1_000).slice(0, 13),
  ]);
  const more = group.length - shown.length;
  return [
    `${paint.bold(name)}  ${paint.dim(onOneLine(place, 160))}`,
    ...columns(rows).map((line, at) =>
      shown[at]?.counts.failed ? line.replace(/\d+ failed/, (cell) => paint.red(cell)) : line,
    ),
    ...(more > 0 ? [paint.dim(`  and ${several(more, "older session")} (--all)`)] : []),
  ];
}

function countCells({ events, calls, failed, rejected, prompts }: Counts): string[] {
  const counts = [
    several(events, "event"),
    several(calls, "call"),
    `${failed} failed`,
    `${rejected} rejected`,
  ];
  return [...counts, several(prompts, "human turn")];
}

function inWords(counts: Counts): string {
  return countCells(counts).join(", ");
}

function sum(sessions: readonly SessionView[]): Counts {
  const total = { events: 0, prompts: 0, calls: 0, failed: 0, rejected: 0 };
  for (const { counts } of sessions)
    for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += counts[key];
  return total;
}

/** Lines of a table: cells that begin with a number are set to the right. */
function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? "").length)));
  const cell = (text: string, at: number) =>
    at > 1 && /^\d/.test(text) && at < 7 ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0);
  return rows.map((row) => `  ${row.map(cell).join("  ").trimEnd()}`);
}

function printDiagnostics(diagnostics: readonly Diagnostic[]): void {
  if (diagnostics.length === 0) return;
  const shown = diagnostics.slice(0, 5).map(({ path, message }) => `  ${onOneLine(path, 200)} ${message}`);
  const more = diagnostics.length - shown.length;
  const rest = more > 0 ? `  and ${more} more (--json lists all)\n` : "";
  process.stderr.write(visible(`\n${several(diagnostics.length, "note")}:\n${shown.join("\n")}\n${rest}`));
}
