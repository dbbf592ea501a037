import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "libsql";

/** A call of one of Knack's tools, as an agent writes it down. */
export interface Written {
  readonly tool: string;
  readonly args: object;
  readonly at: number;
}

const iso = (at: number) => new Date(at).toISOString();

/** A session of Gemini CLI 0.61: what it has written when its model makes a call, after those that were answered. */
export function writeGemini(
  home: string,
  project: string,
  session: string,
  { answered = [], at, parent }: { answered?: readonly Written[]; at: number; parent?: string },
): string {
  const folder = join(home, ".gemini/tmp/harbor");
  const path = join(
    folder,
    "chats",
    parent ?? "",
    `${parent ? "" : "session-2026-11-16T09-00-"}${session}.jsonl`,
  );
  const asks = (n: number) => ({
    id: `m${n}`,
    timestamp: iso(at),
    type: "gemini",
    content: "",
    thoughts: [],
  });
  const model = "gemini-2.5-pro";
  write(path, [
    {
      sessionId: session,
      projectHash: "hash",
      startTime: iso(at),
      lastUpdated: iso(at),
      kind: parent ? "subagent" : "main",
    },
    { id: "u1", timestamp: iso(at), type: "user", content: [{ text: "Print the tide table for May" }] },
    ...answered.flatMap(({ tool, args, at: end }, n) => {
      const name = `mcp_knack_${tool}`;
      const id = `${name}__${n}`;
      const result = [{ functionResponse: { id, name, response: { output: "…" } } }];
      const toolCalls = [{ id, name, args, result, status: "success", timestamp: iso(end) }];
      return [
        { ...asks(n), model },
        { ...asks(n), model, toolCalls },
        { id: `r${n}`, timestamp: iso(end), type: "user", content: result },
      ];
    }),
    { ...asks(answered.length), model },
    { $set: { lastUpdated: iso(at) } },
  ]);
  writeFileSync(join(folder, ".project_root"), project);
  utimesSync(path, at / 1_000, at / 1_000);
  return path;
}

/** A session of Copilot CLI 1.0: its calls, and whether they have ended. */
export function writeCopilot(
  home: string,
  project: string,
  session: string,
  calls: readonly (Written & { readonly ended?: boolean })[],
): string {
  const path = join(home, ".copilot/session-state", session, "events.jsonl");
  const record = (type: string, at: number, data: object) => ({
    type,
    data,
    id: `${type} ${at}`,
    timestamp: iso(at),
  });
  const begun = calls[0]?.at ?? Date.now();
  write(path, [
    record("session.start", begun, { sessionId: session, context: { cwd: project } }),
    record("user.message", begun, { content: "Print the tide table for May" }),
    ...calls.flatMap(({ tool, args, at, ended }, n) => {
      const toolCallId = `call_${n}`;
      const said = {
        toolCallId,
        toolName: `knack-${tool}`,
        arguments: args,
        model: "gpt-6",
        mcpServerName: "knack",
        mcpToolName: tool,
      };
      const start = record("tool.execution_start", at, said);
      return ended
        ? [
            start,
            record("tool.execution_complete", at, { toolCallId, success: true, result: { content: "…" } }),
          ]
        : [start];
    }),
  ]);
  return path;
}

/** The database of OpenCode 1.18, with sessions that make a call each. */
export function writeOpencode(
  home: string,
  project: string,
  sessions: Readonly<Record<string, Written & { readonly ended?: boolean }>>,
): string {
  const path = join(home, ".local/share/opencode/opencode.db");
  mkdirSync(dirname(path), { recursive: true });
  const database = new Database(path);
  database.exec(`
    pragma journal_mode = wal;
    create table if not exists session (id text primary key, project_id text, parent_id text, directory text, time_created integer, time_updated integer);
    create table if not exists message (id text primary key, session_id text, time_created integer, time_updated integer, data text);
    create table if not exists part (id text primary key, message_id text, session_id text, time_created integer, time_updated integer, data text)`);
  for (const [id, { tool, args, at, ended }] of Object.entries(sessions)) {
    const put = (table: string, ...values: unknown[]) =>
      database.prepare(`insert into ${table} values (${values.map(() => "?").join()})`).run(...values);
    put("session", id, "global", null, project, at - 1_000, at);
    put(
      "message",
      `${id} m1`,
      id,
      at - 1_000,
      at,
      JSON.stringify({ role: "user", time: { created: at - 1_000 } }),
    );
    const asked = { type: "text", text: "Print the tide table for May" };
    put("part", `${id} p1`, `${id} m1`, id, at, at, JSON.stringify(asked));
    put(
      "message",
      `${id} m2`,
      id,
      at,
      at,
      JSON.stringify({ role: "assistant", modelID: "big", time: { created: at } }),
    );
    const state = ended
      ? { status: "completed", input: args, output: "…", time: { start: at, end: at } }
      : { status: "running", input: args, time: { start: at } };
    put(
      "part",
      `${id} p2`,
      `${id} m2`,
      id,
      at,
      at,
      JSON.stringify({ type: "tool", tool: `knack_${tool}`, callID: "call_1", state }),
    );
  }
  database.close();
  return path;
}

function write(path: string, records: readonly object[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
}
