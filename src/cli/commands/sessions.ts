import { existsSync } from "node:fs";
import { escapeControls, KnackError } from "../../base/index.ts";
import { countShelf } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import { type Counts, type Diagnostic, type ProjectFold, resolveProjectIds } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { formats, type SessionView } from "../../transcripts/index.ts";
import { redact } from "../../trust/index.ts";
import { arg, type CommandCall, defineCommand, wrongUsage } from "../command.ts";
import { withKnack } from "../knack.ts";

import { countStatuses, describeCounts } from "../screen/lesson.ts";
import { type Screen, showReading } from "../screen/screen.ts";
import { alignColumns, formatDay, formatTime, groupItems, iso, type Lines, oneLine } from "../screen/text.ts";
import { matchesProject, parseOneOf, parsePaths, parseSince } from "../select.ts";
import { answerList } from "../subcommands.ts";
import { describeNoSessions } from "../transcript-files.ts";

const args = {
  paths: arg.words("files and folders to read (default: the agents' own folders)"),
  agent: arg.option(`only this agent: ${formats.join(", ")}`),
  project: arg.option("only projects whose name or id contains this"),
  since: arg.option("only sessions that ended since: 2026-11-01, or 12h, 7d, 4w ago"),
  all: arg.flag("list every session, not only each project's newest"),
  events: arg.flag("print the events, one JSON object per line"),
  ...arg.json,
  "dry-run": arg.flag("keep nothing of what is read"),
};

type SessionsCall = CommandCall<typeof args>;

/** The sessions that were read, and what was wrong with files. */
interface SessionsRead {
  readonly sessions: readonly SessionView[];
  readonly diagnostics: readonly Diagnostic[];
}

export const sessions = defineCommand({
  about: "List your agents' sessions: by project, newest first.",
  args,
  run: async (call: SessionsCall) => {
    const paths = parsePaths(call.args._);
    const isWanted = makeFilter(call.args, Date.now());
    const { report, end } = showReading();
    const options = { onProgress: report, refresh: call.args.events === true };
    return withKnack(
      call,
      async (knack) => {
        const read = await knack.sessions(paths ?? undefined, options).finally(end);
        return show(call, knack, read, isWanted);
      },
      { create: true, reads: true, repair: false },
    );
  },
});

type SessionFilter = (session: SessionView) => boolean;

function makeFilter({ agent, project, since }: SessionsCall["args"], now: number): SessionFilter {
  for (const [name, value] of Object.entries({ agent, project, since }))
    if (value === "") throw wrongUsage(`--${name} needs a value.`, "knack sessions --help");
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
  isWanted: SessionFilter,
): Promise<number> {
  const { args, screen, env } = call;
  const { diagnostics } = read;
  const wanted = read.sessions.filter(isWanted);
  const isEmpty = read.sessions.length === 0;
  if (args.events) await printEvents(knack, wanted);
  else if (args.json) screen.json({ sessions: wanted.map(sessionJson), diagnostics }, { keepsKeys: true });
  else if (!isEmpty) {
    screen.print(describeSessions(wanted, read.sessions.length, args.all === true, screen));
    screen.warn(describeDiagnostics([...wanted.flatMap((one) => one.diagnostics), ...diagnostics], screen));
  }
  if (!isEmpty) return 0;
  if (args._.length > 0) throw nothingReadable(args._, diagnostics);
  if (!args.json && !args.events)
    screen.print([
      describeNoSessions(env),
      `Use an agent, then run this again. ${screen.knack} learn shows what Knack does, by bundled examples.`,
    ]);
  return 0;
}

function nothingReadable(paths: readonly string[], [first]: readonly Diagnostic[]): KnackError {
  const why = first ? ` (${first.path} ${first.message})` : "";
  return new KnackError("NOTHING_READABLE", `No readable session in ${paths.join(", ")}${why}.`, {
    hint: `Formats are recognised by a file's content. Supported: ${formats.join(", ")}`,
  });
}

async function printEvents(knack: Knack, wanted: readonly SessionView[]): Promise<void> {
  for (const session of wanted)
    for await (const event of knack.eachEvent(session)) {
      const { ref, key, at, turn, kind, tool, command, outcome, exitCode, text, files } = event;
      const clean = (one: string | null) => one && redact(one);
      const json = {
        ...{ session: session.id, ref, key, at: iso(at), turn, kind, tool: clean(tool) },
        ...{
          command: clean(command),
          outcome,
          exit_code: exitCode,
          text: redact(text),
          files: files.map(redact),
        },
      };
      await writeOut(`${escapeControls(JSON.stringify(json))}\n`);
    }
}

/** Waits while the reader of the pipe is behind, so that a gigabyte of events needs no memory. */
async function writeOut(text: string): Promise<void> {
  if (process.stdout.write(text)) return;
  await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
}

function sessionJson(session: SessionView) {
  const { path, format, sessionId, agentId, startedAt, endedAt, subagent, counts, diagnostics } = session;
  const { id, name, root } = session.project;
  return {
    ...{ path, format, sessionId, agentId, project: { id, name, root }, startedAt, endedAt, subagent },
    ...{ counts, diagnostics },
    alsoFrom: session.alsoFrom.map((other) => ({ path: other.path, format: other.format })),
  };
}

/** Sessions listed for each project without --all. */
const shownSessions = 8;

function describeSessions(
  wanted: readonly SessionView[],
  readCount: number,
  all: boolean,
  screen: Screen,
): Lines {
  const projects = [...groupItems(wanted, ({ project }) => project.id).values()];
  const most = all ? Number.POSITIVE_INFINITY : shownSessions;
  return [
    wanted.length === 0 && [`No sessions match (${readCount} read).`, ""],
    projects.map((group) => [describeGroup(group as [SessionView], most, screen), ""]),
    `${several(wanted.length, "session")} in ${several(projects.length, "project")}: ${countCells(sumCounts(wanted)).join(", ")}.`,
  ];
}

function describeGroup(group: readonly [SessionView, ...SessionView[]], most: number, screen: Screen): Lines {
  const { id, name, root } = group[0].project;
  const shown = group.slice(0, most);
  const list = (cells: (counts: Counts) => string[]) =>
    alignColumns(
      shown.map(({ startedAt, format, subagent, counts, sessionId }) => [
        startedAt === null ? "no time" : formatTime(startedAt),
        subagent ? `${format} subagent` : format,
        ...cells(counts),
        oneLine(sessionId ?? "", 1_000).slice(0, 13),
      ]),
      { numbersRight: true },
    );
  const whole = list(countCells);
  const room = (screen.columns ?? Number.POSITIVE_INFINITY) - 2;
  const lines = whole.some((line) => line.length > room)
    ? list(({ calls, failed }) => [several(calls, "call"), `${failed} failed`])
    : whole;
  const more = group.length - shown.length;
  return [
    `${screen.bold(oneLine(name))}  ${screen.dim(oneLine(root !== null && root !== id ? `${id}  ${root}` : id, 160))}`,
    lines.map((line) => `  ${line.replace(/[1-9]\d* failed/, (cell) => screen.red(cell))}`),
    more > 0 && screen.dim(`  and ${several(more, "older session")} (--all)`),
  ];
}

function countCells({ events, calls, failed, rejected, prompts }: Counts): string[] {
  return [
    ...[several(events, "event"), several(calls, "call"), `${failed} failed`, `${rejected} rejected`],
    several(prompts, "prompt"),
  ];
}

function sumCounts(wanted: readonly SessionView[]): Counts {
  const total = { events: 0, prompts: 0, calls: 0, failed: 0, rejected: 0 };
  for (const { counts } of wanted)
    for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += counts[key];
  return total;
}

function describeDiagnostics(diagnostics: readonly Diagnostic[], screen: Screen): Lines {
  if (diagnostics.length === 0) return [];
  const more = diagnostics.length - 5;
  return [
    "",
    `${several(diagnostics.length, "problem")} while reading:`,
    diagnostics.slice(0, 5).map(({ path, message }) => `  ${oneLine(screen.path(path), 200)} ${message}`),
    more > 0 && `  and ${more} more (--json lists all)`,
  ];
}

// --- By project ---

export const projects = defineCommand({
  about:
    "List the projects that Knack knows, and what it learned in each. Worktrees and clones count as one.",
  args: { ...arg.json },
  run: async (call) =>
    withKnack(call, async (knack) => {
      const { screen } = call;
      const items = await summarizeProjects(knack);
      return answerList(call, {
        items,
        json: { projects: items },
        columns: {
          project: ({ name }) => oneLine(name, 30),
          sessions: ({ sessions }) => String(sessions),
          lessons: ({ lessons }) => describeCounts(lessons) || "none",
          gaps: ({ gaps }) => String(gaps),
          skills: ({ skills }) => String(skills),
          rules: ({ rules }) => String(rules),
          last: ({ lastAt }) => formatDay(lastAt),
          folder: ({ root, present }) =>
            root === null
              ? "unknown"
              : `${oneLine(screen.path(root), 60)}${present ? "" : " (not on this machine)"}`,
        },
        empty: [`No projects yet. ${screen.knack} learn reads your agents' sessions.`],
      });
    }),
});

/** Every project with what was learned in it, the one that was worked in last first. */
async function summarizeProjects(knack: Knack) {
  const known = await knack.projects();
  const findHome = resolveProjectIds(known);
  const lessons = groupItems(await knack.lessons(), ({ project }) => findHome(project));
  // As `knack gaps` counts them: what only one session asked for is no gap yet.
  const open = (await knack.gaps()).filter(({ state }) => !["pending", "rejected"].includes(state.status));
  const gaps = groupItems(open, ({ project }) => findHome(project));
  const homes = new Map([...lessons].flatMap(([home, own]) => own.map(({ id }) => [id as string, home])));
  const live = (await knack.shelf()).filter(({ reach }) => reach !== "draft");
  const skills = groupItems(live, ({ origin, askedIn }) => homes.get(origin.id) ?? findHome(askedIn ?? ""));
  const rows = groupItems(known, ({ id }) => findHome(id));
  const summarize = ({ id, name, root }: ProjectFold) => ({
    ...{ id, name, root },
    sessions: (rows.get(id) ?? []).reduce((sum, row) => sum + row.sessions, 0),
    lastAt: Math.max(...(rows.get(id) ?? []).map((row) => row.lastAt)),
    /** Whether its folder is on this machine. */
    present: root !== null && existsSync(root),
    lessons: countStatuses(lessons.get(id) ?? []),
    gaps: gaps.get(id)?.length ?? 0,
    skills: countShelf(skills.get(id) ?? []).skills,
    rules: countShelf(skills.get(id) ?? []).rules,
  });
  return known
    .filter(({ id }) => findHome(id) === id)
    .map(summarize)
    .sort((a, b) => b.lastAt - a.lastAt || (a.id < b.id ? -1 : 1));
}
