import { homedir } from "node:os";
import { findOpenCodeDatabase } from "../agents/index.ts";
import { asArray, asObject, asString, isObject, type JsonObject } from "../base/index.ts";
import { type Answer, findFile, HookCaller, type Knack } from "./ask.ts";

/** The parts of OpenCode's plugin API that are used here (@opencode-ai/plugin 1.18). */
interface PluginInput {
  readonly directory: string;
  readonly client: {
    readonly session: { get(asked: { path: { id: string } }): Promise<{ readonly data?: unknown }> };
    readonly tui: { showToast(asked: { body: JsonObject }): Promise<unknown> };
  };
}

interface Part {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface Hooks {
  config(config: { mcp?: object; command?: object; skills?: { paths?: unknown } }): Promise<void>;
  event(given: { readonly event: { readonly type: string; readonly properties?: unknown } }): Promise<void>;
  "chat.message"(
    given: { readonly sessionID: string },
    output: { readonly message: { readonly id: string }; readonly parts: Part[] },
  ): Promise<void>;
  "tool.execute.after"(
    given: {
      readonly tool: string;
      readonly sessionID: string;
      readonly callID: string;
      readonly args: unknown;
    },
    output: { readonly output?: unknown; readonly metadata?: unknown },
  ): Promise<void>;
  "experimental.chat.messages.transform"(
    given: unknown,
    output: { readonly messages: readonly { readonly parts: readonly Part[] }[] },
  ): Promise<void>;
  dispose(): Promise<void>;
}

/** A command of Knack as OpenCode knows it. */
interface Command {
  readonly name: string;
  readonly description: string;
  readonly template: string;
}

/** Facts about a session, asked for once. */
interface Session {
  readonly isSubagent: boolean;
  readonly isHeadless: boolean;
  readonly cwd: string;
}

interface FailedCall {
  readonly id: string;
  readonly tool: string;
  readonly input: JsonObject | null;
  /** As Claude Code words it: the exit code of a command first, and then what was printed. */
  readonly error: string;
}

/** Knack in OpenCode: what a plugin hears there, passed to the hook, and its answers put where the model reads them. */
export function plugin(input: PluginInput, knack: Knack, commands: readonly Command[]): Hooks {
  // A notice that is gone after seconds is no place for a question.
  const hook = new HookCaller(knack, ["--agent", "opencode", "--ask", "agent"]);
  const database = findOpenCodeDatabase({ home: homedir(), env: process.env });
  const sessions = new Map<string, Promise<Session>>();
  /** Sessions that began, or were gone on with, in this process. */
  const begun = new Set<string>();
  const created = new Set<string>();
  /** Facts for the next prompt of a session. */
  const waiting = new Map<string, string>();
  /** Facts about calls that failed. OpenCode does not keep them, so they are put in whenever the model is asked. */
  const facts = new Map<string, string>();
  const asked = new Map<string, Promise<void>>();

  const ask = async (event: string, session: string, more: JsonObject): Promise<Answer> => {
    const { cwd, isHeadless } = await knowSession(session);
    const shared = { session_id: session, transcript_path: findFile(database), cwd, headless: isHeadless };
    const answer = await hook.ask({ hook_event_name: event, ...shared, ...more });
    const message = answer.receipt;
    if (message !== null) input.client.tui.showToast({ body: { message, variant: "info" } }).catch(() => {});
    return answer;
  };

  const knowSession = (id: string): Promise<Session> => {
    const known = sessions.get(id) ?? readSession(input, id);
    sessions.set(id, known);
    return known;
  };

  const askAboutFailure = (session: string, { id, tool, input, error }: FailedCall): Promise<void> => {
    const call = { tool_use_id: id, tool_name: tool === "bash" ? "Bash" : tool, tool_input: input };
    const answering =
      asked.get(id) ??
      ask("PostToolUseFailure", session, { ...call, error }).then(({ context }) => {
        if (context !== null) facts.set(id, context);
        asked.delete(id);
      });
    asked.set(id, answering);
    return answering;
  };

  return {
    config: async (config) => {
      const environment = { KNACK_HOME: knack.home };
      const server = { type: "local", command: [knack.node, knack.cli, "mcp"], environment, enabled: true };
      config.mcp = { knack: server, ...config.mcp };
      const named = commands.map(({ name, ...command }) => [name, command]);
      config.command = { ...Object.fromEntries(named), ...config.command };
      config.skills = { ...config.skills, paths: [...asArray(config.skills?.paths), knack.skills] };
    },
    event: async ({ event: { type, properties } }) => {
      const { sessionID: session, part } = asObject(properties) ?? {};
      if (typeof session !== "string") return;
      switch (type) {
        case "session.created":
          created.add(session);
          return;
        case "session.idle":
          await ask((await knowSession(session)).isSubagent ? "SubagentStop" : "Stop", session, {});
          return;
        case "session.compacted": {
          const { context } = await ask("SessionStart", session, { source: "compact" });
          if (context !== null) waiting.set(session, context);
          return;
        }
        case "message.part.updated": {
          // A tool that throws is told of here alone.
          const failed = readThrown(part);
          if (failed !== null) await askAboutFailure(session, failed);
        }
      }
    },
    "chat.message": async ({ sessionID: session }, { message, parts }) => {
      // What a subagent is told comes from its parent.
      if ((await knowSession(session)).isSubagent) return;
      const source = created.has(session) ? "startup" : "resume";
      const start = begun.has(session) ? null : (await ask("SessionStart", session, { source })).context;
      begun.add(session);
      const kept = waiting.get(session) ?? null;
      waiting.delete(session);
      const { context } = await ask("UserPromptSubmit", session, { prompt: readPrompt(parts) });
      const text = [start, kept, context].filter((one) => one !== null).join("\n");
      const last = parts.at(-1);
      if (text === "" || last === undefined) return;
      const id = `${asString(last.id) ?? "prt_"}knack`;
      parts.push({ id, messageID: message.id, sessionID: session, type: "text", text, synthetic: true });
    },
    "tool.execute.after": async ({ tool, sessionID, callID: id, args }, { output, metadata }) => {
      const exit = asObject(metadata)?.exit;
      if (typeof exit !== "number" || exit === 0) return;
      const error = `Exit code ${exit}\n${asString(output) ?? ""}`;
      await askAboutFailure(sessionID, { id, tool, input: asObject(args), error });
    },
    "experimental.chat.messages.transform": async (_, { messages }) => {
      await Promise.all(asked.values());
      if (facts.size === 0) return;
      for (const { parts } of messages) for (const part of parts) addFact(part, facts);
    },
    dispose: async () => {
      await Promise.all([...begun].map((session) => ask("SessionEnd", session, { reason: "other" })));
      await hook.settle();
    },
  };
}

async function readSession({ client, directory }: PluginInput, id: string): Promise<Session> {
  const read = await client.session.get({ path: { id } }).catch(() => null);
  const info = asObject(read?.data);
  // `opencode run` makes a session in which nobody can be asked.
  const isHeadless = asArray(info?.permission).some(
    (rule) => isObject(rule) && rule.permission === "question" && rule.action === "deny",
  );
  const isSubagent = (asString(info?.parentID) ?? "") !== "";
  return { isSubagent, isHeadless, cwd: asString(info?.directory) ?? directory };
}

function readThrown(part: unknown): FailedCall | null {
  const { type, callID: id, tool, state } = asObject(part) ?? {};
  const { status, input, error } = asObject(state) ?? {};
  if (type !== "tool" || status !== "error" || typeof id !== "string" || typeof tool !== "string")
    return null;
  return { id, tool, input: asObject(input), error: asString(error) ?? "" };
}

/** The person's words; of a command of Knack's its name and words, which stand before its text. */
function readPrompt(parts: readonly Part[]): string {
  const said = parts.filter(({ type, synthetic, ignored }) => type === "text" && !synthetic && !ignored);
  const text = said.map((part) => asString(part.text) ?? "").join("\n");
  return /^\/knack:.*/.exec(text)?.[0] ?? text;
}

/** Puts what Knack knows about a failed call behind its result. */
function addFact(part: Part, facts: ReadonlyMap<string, string>): void {
  const fact = part.type === "tool" ? facts.get(String(part.callID)) : undefined;
  const state = asObject(part.state) as Record<string, unknown> | null;
  if (fact === undefined || state === null) return;
  const key = state.status === "error" ? "error" : "output";
  state[key] = `${asString(state[key]) ?? ""}\n\n${fact}`;
}
