import { join } from "node:path";
import { asObject, isObject } from "../../base/index.ts";
import { type ModelReply, noReply, parseReply, readUsage, unserved } from "../model.ts";
import {
  type AgentProgram,
  describeExit,
  describeForm,
  type EndedProgram,
  parseObjects,
  refuse,
} from "./program.ts";

/** OpenCode without tools, plugins or skills, and with a database of its own that is gone afterwards. */
export const opencode: AgentProgram = {
  smallModel: "anthropic/claude-haiku-4-5",
  listArgs: (model) => [
    ...["run", "--pure", "--format", "json", "--agent", "knack", "--title", "Knack", "--model", model],
  ],
  describeRequest: (request, folder) => {
    const agent = {
      ...{ mode: "primary", prompt: request.system },
      ...{ tools: { "*": false }, permission: { "*": "deny" } },
    };
    return {
      args: [],
      env: {
        OPENCODE_CONFIG_CONTENT: JSON.stringify({
          share: "disabled",
          snapshot: false,
          agent: { knack: agent },
        }),
        OPENCODE_DB: join(folder, "opencode.db"),
        OPENCODE_PURE: "1",
        OPENCODE_DISABLE_PROJECT_CONFIG: "1",
        OPENCODE_DISABLE_CLAUDE_CODE: "1",
        OPENCODE_DISABLE_EXTERNAL_SKILLS: "1",
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      },
      input: describeForm(request),
    };
  },
  readOutput: readOpencode,
};

function readOpencode(run: EndedProgram, ms: number): ModelReply {
  const events = parseObjects(run.stdout);
  const partsOf = (type: string) =>
    events.flatMap((event) => (event.type === type ? [event.part] : [])).filter(isObject);
  const steps = partsOf("step_finish");
  const tokens = steps.map((step) => asObject(step.tokens) ?? {});
  const caches = tokens.map((one) => asObject(one.cache) ?? {});
  const sum = (...counts: unknown[]) => counts.reduce<number>((all, one) => all + Number(one ?? 0), 0);
  const usage =
    steps.length === 0
      ? null
      : readUsage({
          input: [
            sum(...tokens.map(({ input }) => input), ...caches.flatMap(({ read, write }) => [read, write])),
          ],
          output: sum(...tokens.flatMap(({ output, reasoning }) => [output, reasoning])),
          // A model whose price it does not know costs it nothing.
          usd: sum(...steps.map(({ cost }) => cost)) || null,
        });
  const error = events.findLast(({ type }) => type === "error");
  // Before the first step, nothing was served.
  const served = partsOf("step_start").length > 0;
  if (error) return refuse(describeError(error.error), "opencode", ms, served ? usage : unserved);
  const text = partsOf("text")
    .map((part) => String(part.text ?? ""))
    .join("");
  // Without an answer it may still have asked before it ended.
  return text === ""
    ? noReply("unusable", describeExit(run, "opencode"), ms, usage)
    : parseReply(text, ms, usage);
}

function describeError(error: unknown): string {
  const { name, data } = asObject(error) ?? {};
  const { statusCode, message } = asObject(data) ?? {};
  return [statusCode, message ?? name].filter((one) => one !== undefined).join(" ");
}
