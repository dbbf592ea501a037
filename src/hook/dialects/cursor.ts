import { asArray, asString } from "../../base/index.ts";
import type { Dialect } from "./dialect.ts";

/** Cursor's events, by the names that Claude Code gives them. */
const events: Readonly<Record<string, string>> = {
  sessionStart: "SessionStart",
  stop: "Stop",
  preCompact: "PreCompact",
  sessionEnd: "SessionEnd",
};

/** Cursor as its documentation has it: other names, and facts for the agent at the start of a session alone. */
export const cursor: Partial<Dialect> = {
  translate: (payload) => {
    const event = asString(payload.hook_event_name) ?? "";
    const known = events[event];
    const session = asString(payload.conversation_id) ?? asString(payload.session_id);
    if (known === undefined || session === null) return null;
    const cwd = asString(asArray(payload.workspace_roots)[0]) ?? asString(payload.cwd);
    const translated = { ...payload, hook_event_name: known, session_id: session, cwd };
    return { event, payload: translated, isGivenByProgram: payload.is_background_agent === true };
  },
  format: (_, { context }) => (context ? { additional_context: context } : null),
};
