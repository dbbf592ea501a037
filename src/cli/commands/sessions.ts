import { existsSync } from "node:fs";
import { KnackError } from "../../base/index.ts";
import type { Knack } from "../../open.ts";
import type { Counts, Diagnostic, Event, Project } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { formats, type SessionView } from "../../transcripts/index.ts";
import { redact } from "../../trust/index.ts";
import { type CommandCall, defineCommand, jsonArg, wrongUsage } from "../command.ts";
import { withKnack } from "../knack.ts";
import { type Screen, showReading } from "../screen/screen.ts";
import { alignColumns, formatTime, groupItems, iso, oneLine } from "../screen/text.ts";
import { matchesProject, parseOneOf, parsePaths, parseSince } from "../select.ts";
import { describeNoSessions } from "../transcript-files.ts";

const args = {
  paths: {
    type: "positional",
    required: false,
    description: "files and folders to read (default: the agents' own folders)",
  },
  agent: { type: "string", description: `only this agent: ${formats.join(", ")}` },
  project: { type: "string", description: "only projects whose name or id contains this" },
  since: { type: "string", description: "only sessions that ended since: 2026-11-01, or 12h, 7d, 4w ago" },
  all: { type: "boolean", description: "list every session, not only each project's newest" },
  events: { type: "boolean", description: "print the events, one JSON object per line" },
  ...jsonArg,
  "dry-run": { type: "boolean", description: "keep nothing of what is read" },
} as const;

type SessionsCall = CommandCall<typeof args>;

/** The sessions that were read; `isBundled` where the machine has none and these are the examples. */
interface SessionsRead {
  readonly sessions: readonly SessionView[];
  readonly diagnostics: readonly Diagnostic[];
  readonly isBundled: boolean;
}

export const sessions = defineCommand({
  about: "List your agents' sessions: by project, newest first.",
  args,
  run: async (call: SessionsCall) => {
    for (const option of ["agent", "project", "since"] as const)
      if (call.args[option] === "") throw wrongUsage(`--${option} needs a value.`, "knack sessions --help");
    const paths = parsePaths(call.args._);
    const isWanted = makeFilter(call.args, Date.now());
    const own = await withKnack(
      call,
      async (knack) => {
        const progress = showReading();
        const options = { onProgress: progress.report, refresh: call.args.events === true };
        const found = await knack.sessions(paths ?? undefined, options).finally(progress.end);
        if (paths === null && found.sessions.length === 0) return null;
        return show(call, knack, { ...found, isBundled: false }, isWanted);
      },
      { create: true, reads: true, repair: false },
    );
    if (own !== null) return own;
    // A newcomer sees the bundled sessions; nothing of them is kept.
    const { examples } = call;
    return withKnack(
      call,
      async (knack) => {
        const found = await knack.sessions(existsSync(examples) ? [examples] : []);
        return show(call, knack, { ...found, isBundled: true }, isWanted);
      },
      { dryRun: true },
    );
  },
});

function makeFilter(
  { agent, project, since }: Pick<SessionsCall["args"], "agent" | "project" | "since">,
  now: number,
): (session: SessionView) => boolean {
  parseOneOf("agent", agent, formats);
  const from = since === undefined ? null : parseSince(since, now);
  return (session) =>
    (agent === undefined || session.format === agent) &&
    matchesProject(project, session.project.name, session.project.id) &&
    (from === null || (session.endedAt ?? session.startedAt ?? 0) >= from);
}

async function show(
  call: SessionsCall,
  knack: Knack,
  read: SessionsRead,
  isWanted: (session: SessionView) => boolean,
): Promise<number> {
  const { args, screen } = call;
  const wanted = read.sessions.filter(isWanted);
  const isEmpty = read.sessions.length === 0;
  if (args.events) await printEvents(knack, wanted);
  else if (args.json)
    screen.json({
      sessions: wanted.map(sessionJson),
      diagnostics: read.diagnostics,
      ...(read.isBundled ? { examples: true } : {}),
    });
  else if (!isEmpty) print(wanted, read, args.all === true, call);
  if (isEmpty) throw nothingReadable(args._, read.diagnostics);
  return 0;
}

function nothingReadable(paths: readonly string[], [first]: readonly Diagnostic[]): KnackError {
  const where = paths.length > 0 ? paths.join(", ") : "the bundled examples";
  return new KnackError(
    "NOTHING_READABLE",
    `No readable session in ${where}${first ? ` (${first.path} ${first.message})` : ""}.`,
    { hint: `Formats are recognised by a file's content. Supported: ${formats.join(", ")}` },
  );
}

async function printEvents(knack: Knack, wanted: readonly SessionView[]): Promise<void> {
  for (const session of wanted)
    for await (const event of knack.eachEvent(session))
      await writeOut(`${JSON.stringify(eventJson(session, event))}\n`);
}

/** Waits while the reader of the pipe is behind, so that a gigabyte of events needs no memory. */
async function writeOut(text: string): Promise<void> {
  if (process.stdout.write(text)) return;
  await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
}

function eventJson(session: SessionView, event: Event) {
  const { ref, key, turn, kind, tool, outcome, exitCode } = event;
  return {
    session: session.id,
    ref,
    key,
    at: iso(event.at),
    turn,
    kind,
    tool: tool && redact(tool),
    command: event.command === null ? null : redact(event.command),
    outcome,
    exitCode,
    text: redact(event.text),
    files: event.files.map(redact),
  };
}

function sessionJson(session: SessionView) {
  const { path, format, sessionId, agentId, subagent, counts, diagnostics } = session;
  return {
    path,
    format,
    sessionId: sessionId && redact(sessionId),
    agentId: agentId && redact(agentId),
    project: redactProject(session.project),
    startedAt: iso(session.startedAt),
    endedAt: iso(session.endedAt),
    subagent,
    counts,
    diagnostics,
    alsoFrom: session.alsoFrom.map((other) => ({ path: other.path, format: other.format })),
  };
}

function redactProject({ id, name, root }: Project): Project {
  return { id: redact(id), name: redact(name), root: root && redact(root) };
}

/** Sessions listed for each project without --all. */
const shownSessions = 8;

function print(
  wanted: readonly SessionView[],
  { diagnostics, isBundled, sessions: { length: readCount } }: SessionsRead,
  all: boolean,
  { env, screen }: SessionsCall,
): void {
  const projects = [...groupItems(wanted, ({ project }) => project.id).values()];
  screen.print([
    ...(isBundled ? [...describeNoSessions(env), "These are the bundled examples:", ""] : []),
    ...(wanted.length === 0 ? [`No sessions match (${readCount} read).`, ""] : []),
    ...projects.flatMap((group) => [...describeGroup(group, all ? group.length : shownSessions, screen), ""]),
    `${several(wanted.length, "session")} in ${several(projects.length, "project")}: ${countCells(sumCounts(wanted)).join(", ")}.`,
    ...(isBundled
      ? [
          "",
          "Use an agent, then run this again. To look into one of these:",
          `  ${screen.knack} sessions ${wanted[0]?.path} --events`,
        ]
      : []),
  ]);
  printDiagnostics([...wanted.flatMap((session) => session.diagnostics), ...diagnostics], screen);
}

function describeGroup(group: readonly SessionView[], most: number, screen: Screen): string[] {
  const { id, name, root } = redactProject((group as [SessionView])[0].project);
  const shown = group.slice(0, most);
  const rows = shown.map(({ startedAt, format, subagent, counts, sessionId }) => [
    startedAt === null ? "no time" : formatTime(startedAt),
    subagent ? `${format} subagent` : format,
    ...countCells(counts),
    oneLine(sessionId ?? "", 1_000).slice(0, 13),
  ]);
  const more = group.length - shown.length;
  return [
    `${screen.bold(oneLine(name))}  ${screen.dim(oneLine(root !== null && root !== id ? `${id}  ${root}` : id, 160))}`,
    ...alignColumns(rows, { numbersRight: true }).map((line, at) =>
      shown[at]?.counts.failed ? `  ${line.replace(/\d+ failed/, (cell) => screen.red(cell))}` : `  ${line}`,
    ),
    ...(more > 0 ? [screen.dim(`  and ${several(more, "older session")} (--all)`)] : []),
  ];
}

function countCells({ events, calls, failed, rejected, prompts }: Counts): string[] {
  return [
    several(events, "event"),
    several(calls, "call"),
    `${failed} failed`,
    `${rejected} rejected`,
    several(prompts, "human turn"),
  ];
}

function sumCounts(wanted: readonly SessionView[]): Counts {
  const total = { events: 0, prompts: 0, calls: 0, failed: 0, rejected: 0 };
  for (const { counts } of wanted)
    for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += counts[key];
  return total;
}

function printDiagnostics(diagnostics: readonly Diagnostic[], screen: Screen): void {
  if (diagnostics.length === 0) return;
  const more = diagnostics.length - 5;
  screen.warn([
    "",
    `${several(diagnostics.length, "problem")} while reading:`,
    ...diagnostics.slice(0, 5).map(({ path, message }) => `  ${oneLine(path, 200)} ${message}`),
    ...(more > 0 ? [`  and ${more} more (--json lists all)`] : []),
  ]);
}
