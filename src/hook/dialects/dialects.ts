import { asString } from "../../base/index.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { cursor } from "./cursor.ts";
import type { Dialect } from "./dialect.ts";
import { gemini } from "./gemini.ts";

/** Knack's own extensions, in agents that run no programs as hooks, speak as Claude Code does. */
const extension: Partial<Dialect> = {
  translate: (payload) => ({
    event: asString(payload.hook_event_name) ?? "",
    payload,
    isGivenByProgram: payload.headless === true,
  }),
};

const translators: Readonly<Record<string, Partial<Dialect>>> = {
  codex,
  gemini,
  copilot,
  cursor,
  opencode: extension,
  pi: extension,
};

/** An agent's dialect; what it does not say in its own way it says as Claude Code does. */
export function openDialect(agent: string, claude: Dialect): Dialect {
  return { ...claude, ...translators[agent] };
}
