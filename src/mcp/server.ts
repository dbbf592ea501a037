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
import { asObject, asString, errorMessage, KnackError } from "../base/index.ts";
import type { Knack } from "../open.ts";
import { type AuthoringFault, createFault } from "../records/index.ts";
import { type Tool, type ToolReply, tools } from "./tools.ts";

/** Time that a server whose host is gone has to end what it was doing. */
const endMs = 3_000;
/** A host that gets a notice together with the answer takes the call for ended, and shows nothing. */
const noticeMs = 50;

export interface ServeOptions {
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that the server was started in. */
  readonly cwd: string;
  /** Why every call is refused; null where none is. */
  readonly off: string | null;
  /** Opens Knack, once there is a call. */
  readonly open: () => Promise<Knack>;
}

/** Serves Knack's tools on standard input and output until the host closes them. */
export async function serve(options: ServeOptions): Promise<void> {
  const desk = createDesk(options);
  const transport = new StdioServerTransport();
  let trouble: Error | null = null;
  const handle = serveStdio(() => createServer(options.version, desk), {
    transport,
    onerror: (error) => {
      trouble = error;
    },
  });
  await waitForClose(transport);
  // It normally closes with its host; by itself only on an error, such as a line without end.
  if (!process.stdin.readableEnded && process.stdout.writable)
    process.stderr.write(`knack mcp stopped: ${trouble ?? "the transport was closed"}\n`);
  await handle.close().catch(() => {});
  await desk.close();
}

function waitForClose(transport: StdioServerTransport): Promise<void> {
  const { onclose } = transport;
  return new Promise((resolve) => {
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
}

/** What the calls of a connection share. */
interface ServerDesk {
  answer(
    tool: Tool,
    args: unknown,
    context: ServerContext,
    client: string | null,
  ): Promise<AuthoringResult<ToolReply>>;
  /** Waits briefly for the running call, and closes Knack. */
  close(): Promise<void>;
}

function createServer(version: string, desk: ServerDesk): McpServer {
  const server = new McpServer(
    { name: "knack", version },
    { capabilities: { tools: {}, logging: {} }, instructions },
  );
  for (const tool of tools) {
    const { name, title, about: description, readOnly } = tool;
    const standard = tool.input["~standard"];
    server.registerTool(
      name,
      {
        title,
        description,
        // The schema is listed here and checked by the tool, whose refusal has a code and a next step.
        inputSchema: {
          "~standard": { ...standard, validate: (value: unknown) => ({ value: value as never }) },
        },
        annotations: {
          readOnlyHint: readOnly,
          destructiveHint: false,
          idempotentHint: tool.addsEachTime !== true,
          openWorldHint: false,
        },
      },
      async (args: unknown, context: ServerContext) =>
        toResult(await desk.answer(tool, args, context, readClient(server, context))),
    );
  }
  return server;
}

/** What the host calls itself: with each call, or once when it connects. */
function readClient(server: McpServer, { mcpReq }: ServerContext): string | null {
  const said = asObject(asObject(mcpReq.envelope)?.[CLIENT_INFO_META_KEY]);
  return asString(said?.name) ?? server.server.getClientVersion()?.name ?? null;
}

const instructions =
  "Knack keeps what agents learn as skills. Before unfamiliar work, skill_search. When this session verified something reusable, skill_learning_start, write the package, skill_learning_finish. Most turns learn nothing.";

function createDesk({ env, cwd, off, open }: ServeOptions): ServerDesk {
  let knack: Promise<Knack> | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let before: CallTrace["before"] = null;
  const startedAt = Date.now();
  const opened = () => {
    // After a failure the next call tries again.
    knack ??= open().catch((error) => {
      knack = null;
      throw error;
    });
    return knack;
  };
  const run = async (
    tool: Tool,
    call: MadeCall,
    context: ServerContext,
    client: string | null,
  ): Promise<AuthoringResult<ToolReply>> => {
    if (off !== null) return refuseWith(createFault("learning_unavailable", off, "Go on without it."));
    try {
      const host = readHostCall(context.mcpReq._meta ?? {}, env, cwd, { client, startedAt, call, before });
      const own = await opened();
      return await tool.run(call.args, {
        knack: own,
        host,
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

/** As progress where the call has a token, else as a log message; it does not matter whether anybody listens. */
async function notify({ mcpReq }: ServerContext, message: string): Promise<void> {
  const token = mcpReq._meta?.progressToken;
  const told =
    token === undefined
      ? mcpReq.log("info", message, "knack")
      : mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken: token, progress: 1, message },
        });
  await told.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, noticeMs));
}

function toResult(answer: AuthoringResult<ToolReply>): CallToolResult {
  if (answer.ok) {
    const { text, data } = answer.value;
    const content = [{ type: "text" as const, text }];
    return data === null ? { content } : { content, structuredContent: { ...data } };
  }
  const { code, message, next, details } = answer.fault;
  return {
    isError: true,
    content: [{ type: "text", text: renderFault(answer.fault) }],
    structuredContent: { error: { code, message, next, details: [...details] } },
  };
}

/** A refusal as an agent reads it. */
function renderFault({ code, message, next, details }: AuthoringFault): string {
  return [`${code}: ${message}`, ...details.map((detail) => `- ${detail}`), `Next: ${next}`].join("\n");
}

/** An error in Knack itself, as an agent is told of it. */
function describeError(error: unknown): AuthoringFault {
  const hint = error instanceof KnackError ? error.hint : undefined;
  // A bug leaves its stack in the host's log of the server.
  if (!(error instanceof KnackError) && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  const message = errorMessage(error);
  return createFault(
    "learning_unavailable",
    `Knack cannot do that now: ${message}`,
    hint ?? "Go on without it, and tell the person that knack doctor says more.",
  );
}
