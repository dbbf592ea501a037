import type { AgentId } from "../agents.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { cursor } from "./cursor.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import type { AgentSetup } from "./setup.ts";

/** The agents that Knack can be installed in, in the order in which they are named. */
export const setups: readonly AgentSetup[] = [claude, codex, gemini, opencode, copilot, pi, cursor];

export function findSetup(id: AgentId): AgentSetup {
  return setups.find((one) => one.id === id) as AgentSetup;
}
