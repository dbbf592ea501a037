import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  McpServer,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { KnackError, messageIn } from "../core/errors.ts";
import { hostWord, type MadeCall, type Trace } from "../core/host.ts";
import { objectOf, textOf } from "../core/json.ts";
import { policy } from "../core/policy.ts";
import { type Answer, type Fault, faultOf, faulty } from "../core/protocol.ts";
import type { Knack } from "../open.ts";
import { faultText, type Reply, type Tool } from "./tool.ts";
import { tools } from "./tools.ts";

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

/** Serves Knack's tools on standard input and output, until the host closes them. */
export async function serve(options: ServeOptions): Promise<void> {
  const desk = deskOf(options);
  const transport = new StdioServerTransport();
  let trouble: Error | null = null;
  const handle = serveStdio(() => serverOf(options.version, desk), {
    transport,
    onerror: (error) => {
      trouble = error;
    },
  });
  await closedBy(transport);
  // It closes with its host; by itself only where it cannot go on, as with a line without end.
  if (!process.stdin.readableEnded && process.stdout.writable)
    process.stderr.write(`knack mcp ends: ${trouble ?? "it was closed"}\n`);
  await handle.close().catch(() => {});
  await desk.close();
}

function closedBy(transport: StdioServerTransport): Promise<void> {
  const { onclose } = transport;
  return new Promise((resolve) => {
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
}

/** What the calls of a connection share. */
interface Desk {
  answer(tool: Tool, args: unknown, context: ServerContext, client: string | null): Promise<Answer<Reply>>;
  /** Lets what is being done come to its end, for a moment, and closes Knack. */
  close(): Promise<void>;
}

function serverOf(version: string, desk: Desk): McpServer {
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
        // The form is told here and looked at by the tool: a refusal has a code and a next step.
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
        resultOf(await desk.answer(tool, args, context, clientOf(server, context))),
    );
  }
  return server;
}

/** What the host calls itself: newer ones say it with each call, older ones once. */
function clientOf(server: McpServer, { mcpReq }: ServerContext): string | null {
  const said = objectOf(objectOf(mcpReq.envelope)?.[CLIENT_INFO_META_KEY]);
  return textOf(said?.name) ?? server.server.getClientVersion()?.name ?? null;
}

const instructions =
  "Knack keeps what agents learn as skills. Before unfamiliar work, skill_search. When this session verified something reusable, skill_learning_start, write the package, skill_learning_finish. Most turns learn nothing.";

function deskOf({ env, cwd, off, open }: ServeOptions): Desk {
  let knack: Promise<Knack> | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let before: Trace["before"] = null;
  const startedAt = Date.now();
  const opened = () => {
    // Who could not open it tries again at the next call.
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
  ): Promise<Answer<Reply>> => {
    if (off !== null) return faulty(faultOf("learning_unavailable", off, "Go on without it."));
    try {
      const word = hostWord(context.mcpReq._meta ?? {}, env, cwd, { client, startedAt, call, before });
      const own = await opened();
      return await tool.run(call.args, {
        knack: own,
        word,
        present: () => own.present(word),
        tell: (message) => tell(context, message),
      });
    } catch (error) {
      return faulty(troubleOf(error));
    } finally {
      before = { ...call, answeredAt: Date.now() };
    }
  };
  return {
    // One after the other: what a call writes the next one sees.
    answer: (tool, args, context, client) => {
      const call: MadeCall = { tool: tool.name, args, at: Date.now() };
      const answer = last.then(() => run(tool, call, context, client));
      last = answer;
      return answer;
    },
    close: async () => {
      let timer: NodeJS.Timeout | undefined;
      const enough = new Promise((resolve) => {
        timer = setTimeout(resolve, policy.protocol.endMs);
      });
      await Promise.race([last, enough]);
      clearTimeout(timer);
      await (await knack?.catch(() => null))?.close();
    },
  };
}

/** By progress where the call can have it, else as a message of the log; that nobody listens is no trouble. */
async function tell({ mcpReq }: ServerContext, message: string): Promise<void> {
  const token = mcpReq._meta?.progressToken;
  const told =
    token === undefined
      ? mcpReq.log("info", message, "knack")
      : mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken: token, progress: 1, message },
        });
  await told.catch(() => {});
  // A host that gets it together with the answer takes the call for ended, and shows nothing.
  await new Promise((resolve) => setTimeout(resolve, policy.protocol.tellMs));
}

function resultOf(answer: Answer<Reply>): CallToolResult {
  if (answer.ok) {
    const { text, data } = answer.value;
    const content = [{ type: "text" as const, text }];
    return data === null ? { content } : { content, structuredContent: { ...data } };
  }
  const { code, message, next, details } = answer.fault;
  return {
    isError: true,
    content: [{ type: "text", text: faultText(answer.fault) }],
    structuredContent: { error: { code, message, next, details: [...details] } },
  };
}

/** What an agent hears of what went wrong in Knack itself. */
function troubleOf(error: unknown): Fault {
  const hint = error instanceof KnackError ? error.hint : undefined;
  // A bug keeps its stack, in the log that the host keeps of the server.
  if (!(error instanceof KnackError) && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  const message = messageIn(error);
  return faultOf(
    "learning_unavailable",
    `Knack cannot do that now: ${message}`,
    hint ?? "Go on without it, and tell the person that knack doctor says more.",
  );
}
