import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import {
  type AuthoringResult,
  type CallTrace,
  type MadeCall,
  readHostCall,
  refuseWith,
} from "../authoring/index.ts";
import { asObject, asString, errorMessage, isObject, KnackError, showControls } from "../base/index.ts";
import type { Knack } from "../open.ts";
import { type AuthoringFault, createFault } from "../records/index.ts";
import { resolveHome } from "../settings/index.ts";
import type { Tool, ToolCall, ToolReply } from "./tool.ts";
import { tools } from "./tools.ts";

/** Time that a server whose host is gone has to end what it was doing. */
const endMs = 3_000;
/** A host that gets a notice together with the answer takes the call for ended, and shows nothing. */
const noticeMs = 50;

interface ServeOptions {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that the server was started in. */
  readonly cwd: string;
  /** Why every call is refused; null where none is. */
  readonly off: string | null;
  /** Opens Knack, once there is a call. */
  readonly open: () => Promise<Knack>;
}

/** Serves Knack's tools on standard input and output until the host closes them; false if it had to stop before. */
export async function serve(options: ServeOptions): Promise<boolean> {
  const desk = createDesk(options);
  const transport = new StdioServerTransport();
  let trouble: Error | null = null;
  const handle = serveStdio(() => createServer(options.version, desk.answer), {
    transport,
    onerror: (error) => {
      trouble = error;
    },
  });
  const { onclose } = transport;
  await new Promise<void>((resolve) => {
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
  // It normally closes with its host; by itself only on an error, such as a line without end.
  const isBroken = !process.stdin.readableEnded && process.stdout.writable;
  if (isBroken) process.stderr.write(`knack mcp stopped: ${trouble ?? "the transport was closed"}\n`);
  await handle.close().catch(() => {});
  await desk.close();
  // A host that goes on writing would keep a server that answers nothing.
  if (isBroken) process.stdin.destroy();
  return !isBroken;
}

/** Answers a call of a tool; `client` is what the host calls itself. */
type Answer = (
  tool: Tool,
  args: unknown,
  context: ServerContext,
  client: string | null,
) => Promise<AuthoringResult<ToolReply>>;

function createServer(version: string, answer: Answer): McpServer {
  const server = new McpServer(
    { name: "knack", version },
    { capabilities: { tools: {}, logging: {} }, instructions },
  );
  // The host says its name with each call, or once when it connects.
  const readClient = ({ mcpReq }: ServerContext) =>
    asString(asObject(asObject(mcpReq.envelope)?.[CLIENT_INFO_META_KEY])?.name) ??
    server.server.getClientVersion()?.name ??
    null;
  for (const tool of tools) {
    const { name, title, about: description, readOnly } = tool;
    // The schema is listed here and checked by the tool, whose refusal has a code and a next step.
    const standard = {
      ...tool.input["~standard"],
      validate: (value: unknown) => ({ value: value as never }),
    };
    const annotations = {
      readOnlyHint: readOnly,
      destructiveHint: false,
      idempotentHint: tool.addsEachTime !== true,
      openWorldHint: false,
    };
    server.registerTool(
      name,
      { title, description, inputSchema: { "~standard": standard }, annotations },
      async (args: unknown, context: ServerContext) =>
        toResult(await answer(tool, args, context, readClient(context))),
    );
  }
  return server;
}

const instructions =
  'Knack keeps what agents learn as skills. Before unfamiliar work, skill_search. When this session verified something reusable, skill_learning_start, write the package, skill_learning_finish. When the person asks to learn from this project\'s sessions, lesson_leads and lesson_submit; when they say to remember a fact or an order, the same with session "current". Most turns learn nothing.';

/** State shared by a connection's calls; `close` waits briefly for the running call. */
function createDesk({ env, cwd, off, open }: ServeOptions): { answer: Answer; close(): Promise<void> } {
  let knack: Promise<Knack> | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let before: CallTrace["before"] = null;
  const startedAt = Date.now();
  const parts: ToolCall["parts"] = new Map();
  const run = async (tool: Tool, call: MadeCall, context: ServerContext, client: string | null) => {
    if (off !== null) return refuseWith(createFault("learning_unavailable", off, "Go on without it."));
    try {
      const host = readHostCall(context.mcpReq._meta ?? {}, env, cwd, { client, startedAt, call, before });
      // After a failure the next call tries again.
      knack ??= open().catch((error) => {
        knack = null;
        throw error;
      });
      const own = await knack;
      return await tool.run(call.args, {
        ...{ knack: own, host, parts, home: resolveHome(env) },
        resolveCaller: () => own.resolveCaller(host),
        notify: (message) => notify(context, message),
      });
    } catch (error) {
      return refuseWith(describeError(error));
    } finally {
      before = { ...call, answeredAt: Date.now() };
    }
  };
  return {
    // One after the other: each call sees what the one before wrote.
    answer: (tool, args, context, client) => {
      const call: MadeCall = { tool: tool.name, args, at: Date.now() };
      const answer = last.then(() => run(tool, call, context, client));
      last = answer;
      return answer;
    },
    close: async () => {
      let timer: NodeJS.Timeout | undefined;
      const enough = new Promise((resolve) => {
        timer = setTimeout(resolve, endMs);
      });
      await Promise.race([last, enough]);
      clearTimeout(timer);
      await (await knack?.catch(() => null))?.close();
    },
  };
}

/** Sends progress if the call has a token, else a log message; ignores failures. */
async function notify({ mcpReq }: ServerContext, message: string): Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  const params = { progressToken: progressToken ?? "", progress: 1, message };
  const told =
    progressToken === undefined
      ? mcpReq.log("info", message, "knack")
      : mcpReq.notify({ method: "notifications/progress", params });
  await told.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, noticeMs));
}

function toResult(answer: AuthoringResult<ToolReply>): CallToolResult {
  const toContent = (text: string) => [{ type: "text" as const, text: showControls(text) }];
  if (answer.ok) {
    const { text, data } = answer.value;
    return {
      content: toContent(text),
      ...(data === null ? {} : { structuredContent: asObject(showControlsIn(data)) ?? {} }),
    };
  }
  const { code, message, next, details } = answer.fault;
  const lines = [`${code}: ${message}`, ...details.map((detail) => `- ${detail}`), `Next: ${next}`];
  const error = showControlsIn({ code, message, next, details: [...details] });
  return { isError: true, content: toContent(lines.join("\n")), structuredContent: { error } };
}

/** A value with the controls in its texts shown: hosts print what they get. */
function showControlsIn(value: unknown): unknown {
  if (typeof value === "string") return showControls(value);
  if (Array.isArray(value)) return value.map(showControlsIn);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, showControlsIn(one)]));
}

/** An error in Knack itself, as an agent is told of it. */
function describeError(error: unknown): AuthoringFault {
  const hint = error instanceof KnackError ? error.hint : undefined;
  // A bug leaves its stack in the host's log of the server.
  if (!(error instanceof KnackError) && error instanceof Error)
    process.stderr.write(showControls(`${error.stack}\n`));
  return createFault(
    "learning_unavailable",
    `Knack cannot do that now: ${errorMessage(error)}`,
    hint ?? "Go on without it, and tell the person that knack doctor says more.",
  );
}
