import { asArray, asObject, asString, type JsonObject } from "../base/index.ts";
import { type Answer, HookCaller, type Knack } from "./ask.ts";

/** The parts of pi's extension API that are used here. */
interface ExtensionApi {
  on(event: string, handle: (event: JsonObject, context: Context) => Promise<unknown>): void;
  registerCommand(
    name: string,
    command: {
      readonly description: string;
      handler(words: string, context: Context): Promise<void>;
    },
  ): void;
}

interface Context {
  readonly cwd: string;
  /** Whether a person sits before it. */
  readonly hasUI: boolean;
  readonly ui: { notify(text: string, type?: "info"): void };
  readonly sessionManager: { getSessionId(): string; getSessionFile(): string | undefined };
}

/** A command of Knack; pi runs it without a model. */
interface Command {
  readonly name: string;
  readonly description: string;
}

/** Knack in pi: what an extension hears there, passed to the hook, and its answers put where the model reads them. */
export function extend(pi: ExtensionApi, knack: Knack, commands: readonly Command[]): void {
  const hook = new HookCaller(knack, ["--agent", "pi"]);
  /** Facts for the next prompt. */
  let waiting: string[] = [];
  /** Facts about calls that failed, put in whenever the model is asked: pi's own record stays as it is. */
  const facts = new Map<string, string>();

  const ask = async (event: string, context: Context, more: JsonObject): Promise<Answer> => {
    const { cwd, hasUI, ui, sessionManager } = context;
    const transcript_path = sessionManager.getSessionFile() ?? null;
    const shared = { session_id: sessionManager.getSessionId(), transcript_path, cwd, headless: !hasUI };
    const answer = await hook.ask({ hook_event_name: event, ...shared, ...more });
    if (answer.receipt !== null && hasUI) ui.notify(answer.receipt, "info");
    return answer;
  };

  const begin = async (context: Context, source: string) => {
    const answer = await ask("SessionStart", context, { source });
    if (answer.context !== null) waiting.push(answer.context);
  };

  /** An error here would be shown to the person, who can do nothing about it. */
  const on = (event: string, handle: (event: JsonObject, context: Context) => Promise<unknown>) =>
    pi.on(event, (given, context) => handle(given, context).catch(() => undefined));

  on("session_start", (event, context) => begin(context, startSource(asString(event.reason))));
  on("session_compact", (_, context) => begin(context, "compact"));
  on("before_agent_start", async (event, context) => {
    const answer = await ask("UserPromptSubmit", context, { prompt: asString(event.prompt) ?? "" });
    const content = [...waiting, ...(answer.context === null ? [] : [answer.context])].join("\n");
    waiting = [];
    return content === "" ? undefined : { message: { customType: "knack", content, display: false } };
  });
  on("tool_result", async (event, context) => {
    if (event.isError !== true) return;
    const { toolCallId: id, toolName: tool } = event;
    const input = asObject(event.input);
    const call = { tool_use_id: id, tool_name: tool === "bash" ? "Bash" : tool, tool_input: input };
    const answer = await ask("PostToolUseFailure", context, { ...call, error: readError(event.content) });
    if (answer.context !== null) facts.set(String(id), answer.context);
  });
  on("context", async ({ messages }) => {
    if (facts.size === 0) return;
    return { messages: asArray(messages).map((message) => addFact(asObject(message) ?? {}, facts)) };
  });
  // Not waited for: the person's turn is over.
  on("agent_end", async (_, context) => void ask("Stop", context, {}));
  on("session_shutdown", async (_, context) => {
    await ask("SessionEnd", context, {});
    await hook.settle();
  });
  for (const { name, description } of commands)
    pi.registerCommand(`knack:${name}`, {
      description,
      handler: async (words, context) => {
        // What takes something back needs the person.
        const isAllowed = context.hasUI || name === "status" || name === "learn";
        const said = isAllowed
          ? await hook.command(name, words, context.cwd)
          : `/knack:${name} is for a person; a program runs this session.`;
        context.ui.notify(said, "info");
      },
    });
}

function startSource(reason: string | null): string {
  if (reason === "resume" || reason === "reload") return "resume";
  return reason === "new" ? "clear" : "startup";
}

/** The output of a failed call in Claude Code's form: a command's exit code comes first. */
function readError(content: unknown): string {
  const text = asArray(content)
    .map((block) => asString(asObject(block)?.text) ?? "")
    .join("\n");
  const end = /\n*Command exited with code (-?\d+)\s*$/.exec(text);
  return end ? `Exit code ${end[1]}\n${text.slice(0, end.index)}` : text;
}

/** Puts what Knack knows about a failed call behind its result. */
function addFact(message: JsonObject, facts: ReadonlyMap<string, string>): object {
  const text = message.role === "toolResult" ? facts.get(String(message.toolCallId)) : undefined;
  return text === undefined
    ? message
    : { ...message, content: [...asArray(message.content), { type: "text", text: `\n\n${text}` }] };
}
