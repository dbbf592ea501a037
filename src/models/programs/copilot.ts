import { join } from "node:path";
import { asObject, parseObject, readPlainText } from "../../base/index.ts";
import { type ModelReply, noReply, parseReply, readUsage, unserved } from "../model.ts";
import {
  type AgentProgram,
  describeExit,
  describeForm,
  type EndedProgram,
  parseObjects,
  refuse,
} from "./program.ts";

/** Copilot CLI without tools, MCP servers of its own, or instructions; its transcript names a folder of Knack's. */
export const copilot: AgentProgram = {
  smallModel: "claude-haiku-4.5",
  listArgs: (model) => [
    ...["--output-format", "json", "--stream", "off", "--available-tools", "none", "--disable-builtin-mcps"],
    ...["--no-custom-instructions", "--no-ask-user", "--no-auto-update", "--no-remote", "--no-color"],
    ...["--log-level", "none", "--model", model],
  ],
  describeRequest: (request, folder) => ({
    args: ["--usage-output-file", join(folder, usageFile)],
    // It has no flag for a system prompt.
    input: `${request.system}\n\n${describeForm(request)}`,
  }),
  readOutput: readCopilot,
};

const usageFile = "usage.json";

function readCopilot(run: EndedProgram, ms: number, folder: string): ModelReply {
  const events = parseObjects(run.stdout);
  const dataOf = (type: string) => asObject(events.findLast((event) => event.type === type)?.data);
  const usage = readUsageFile(join(folder, usageFile));
  // It says in plain words that nobody is signed in, before it begins.
  if (run.stdout.trim() === "") return noReply("refused", describeExit(run, "copilot"), ms, unserved);
  const error = dataOf("session.error");
  if (error) return refuse(String(error.message ?? ""), "copilot", ms, usage);
  const content = dataOf("assistant.message")?.content;
  return typeof content === "string" && content !== ""
    ? parseReply(content, ms, usage)
    : noReply("unusable", describeExit(run, "copilot"), ms, usage);
}

/** The tokens of all models it used; null where it wrote no figures. */
function readUsageFile(path: string): ReturnType<typeof readUsage> {
  const models = Object.values(asObject(parseObject(readPlainText(path) ?? "")?.modelMetrics) ?? {});
  const used = models.map((one) => asObject(asObject(one)?.usage) ?? {});
  if (used.length === 0) return null;
  const sum = (name: string) => used.reduce((all, one) => all + Number(one[name] ?? 0), 0);
  return readUsage({ input: [sum("inputTokens")], output: sum("outputTokens") });
}
