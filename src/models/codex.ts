import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, parseObject } from "../core/json.ts";
import type { Model, ModelReply, ModelRequest, ModelUsage } from "../engine/ports.ts";
import { type AgentOptions, endOf, failureOf, quietly } from "./claude.ts";
import { noReply, replyIn, unserved, usageSaid } from "./reply.ts";
import { type Ran, runProgram } from "./run.ts";

/** Nothing of the person's machine goes along, and nothing can be done on it. */
const settings = [
  "mcp_servers={}",
  "project_doc_max_bytes=0",
  "web_search=disabled",
  "skills.include_instructions=false",
  "include_environment_context=false",
  "include_permissions_instructions=false",
];

/** Codex, asked once, with what the person has signed in with: no hooks, plugins, tools or transcript, and nothing may be written. */
export function codexModel({ id, folder, env }: AgentOptions): Model {
  const without = "hooks plugins apps shell_tool unified_exec view_image multi_agent goals".split(" ");
  const words = [
    ...["exec", "--json", "--ephemeral", "--skip-git-repo-check", "--ignore-rules", "--sandbox", "read-only"],
    // As settings, because an older one does not refuse those it does not know.
    ...without.flatMap((feature) => ["-c", `features.${feature}=false`]),
    ...settings.flatMap((one) => ["-c", one]),
    ...(id === null ? [] : ["--model", id]),
  ];
  return {
    name: id === null ? "codex" : `codex/${id}`,
    to: `codex ${words.join(" ")}`,
    isLive: true,
    isAgent: true,
    unset: null,
    ask: async (request) => {
      const begun = performance.now();
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const cwd = realpathSync(folder);
      const papers = mkdtempSync(join(cwd, "asked-"));
      try {
        const [schema, system] = [join(papers, "schema.json"), join(papers, "system.md")];
        writeFileSync(schema, JSON.stringify(request.schema));
        writeFileSync(system, request.system);
        const asked = [
          "-c",
          `model_instructions_file=${JSON.stringify(system)}`,
          "--output-schema",
          schema,
          "-",
        ];
        const { prompt, timeoutMs } = request;
        const ran = await runProgram("codex", [...words, ...asked], {
          cwd,
          env: quietly(env),
          input: prompt,
          timeoutMs,
        });
        return replyOf(ran, request, Math.round(performance.now() - begun));
      } finally {
        rmSync(papers, { recursive: true, force: true });
      }
    },
  };
}

function replyOf(ran: Ran, { timeoutMs }: ModelRequest, ms: number): ModelReply {
  const failure = failureOf(ran, "codex", timeoutMs, ms);
  if (failure) return failure;
  const events = ran.stdout
    .split("\n")
    .map(parseObject)
    .filter((event) => event !== null);
  const said = events.flatMap(({ type, item }) =>
    type === "item.completed" && isObject(item) && item.type === "agent_message"
      ? String(item.text ?? "")
      : [],
  );
  const completed = events.findLast(({ type }) => type === "turn.completed");
  if (completed && said.length > 0) return replyIn(said.at(-1) ?? "", ms, usageOf(completed.usage));
  const errors = events.flatMap(({ type, error: why, message }) =>
    type === "turn.failed" && isObject(why)
      ? String(why.message ?? "")
      : type === "error"
        ? String(message ?? "")
        : [],
  );
  const error = errors.at(-1);
  // Without a word of why, it may have asked before it ended.
  if (error === undefined) return noReply("unusable", endOf(ran, "codex"), ms, usageOf(completed?.usage));
  const usage = said.length === 0 && turnedAway.test(error) ? unserved : usageOf(completed?.usage);
  if (busy.test(error)) return noReply("overloaded", error, ms, usage);
  return noReply("refused", endOf(ran, "codex", error), ms, usage);
}

const busy = /\b(?:429|5\d\d)\b|overloaded|rate limit/i;
/** How it says that it was not let in, so that nothing was served: by the status of an answer, or that no more is allowed. */
const turnedAway = /\bstatus\b\D{0,12}[45]\d\d\b|\busage limit\b/i;

function usageOf(value: unknown): ModelUsage | null {
  const used = isObject(value) ? value : {};
  return usageSaid({ input: [used.input_tokens], output: used.output_tokens });
}
