import { listWords } from "../text/index.ts";
import { type AgentId, findAgent } from "./agents.ts";

/** Knack's abilities in an agent. */
export const capabilities = {
  start: "facts at the start of a session",
  prompt: "facts at a prompt",
  failure: "fixes at a failure",
  "turn end": "end of a turn",
  "session end": "end of a session",
  mcp: "MCP tools",
  skills: "skills",
  rules: "rules",
  commands: "/knack: commands",
  judge: "judge",
  run: "knack run",
} as const;

export type Capability = keyof typeof capabilities;

/** Whether an agent lets Knack do something, and how that is known. */
export type Ability =
  | { readonly how: "tested"; readonly version: string }
  /** Written by the agent's documentation or published source, and not tried with the agent itself. */
  | { readonly how: "documented" }
  | { readonly how: "not possible"; readonly why: string };

const documented: Ability = { how: "documented" };
const tested = (version: string): Ability => ({ how: "tested", version });
const impossible = (why: string): Ability => ({ how: "not possible", why });

const claude = tested("2.1.325");
const codex = tested("0.166.0");
const gemini = tested("0.61.0");
const opencode = tested("1.18.33");
const copilot = tested("1.0.102");
const pi = tested("0.74.2");

/** Every agent and every capability; `docs/agents.md` shows it, and a test compares the two. */
export const abilities: Readonly<Record<AgentId, Readonly<Record<Capability, Ability>>>> = {
  claude: {
    ...{ start: claude, prompt: claude, failure: claude, "turn end": claude, "session end": claude },
    ...{ mcp: claude, skills: claude, rules: claude, commands: claude, judge: claude, run: claude },
  },
  codex: {
    ...{ start: codex, prompt: codex, failure: codex, "turn end": codex, "session end": codex },
    ...{ mcp: codex, skills: codex, rules: codex, judge: codex, run: codex },
    commands: impossible(
      "a slash is for the agent's own; type knack:status, knack:learn, knack:undo or knack:forget instead",
    ),
  },
  gemini: {
    ...{ start: gemini, prompt: gemini, failure: gemini, "turn end": gemini, "session end": gemini },
    ...{ mcp: gemini, skills: gemini, rules: gemini, commands: gemini, judge: gemini, run: gemini },
  },
  opencode: {
    ...{ start: opencode, prompt: opencode, failure: opencode, "turn end": opencode },
    ...{ "session end": opencode, mcp: opencode, skills: opencode, commands: opencode },
    ...{ rules: opencode, judge: opencode, run: opencode },
  },
  copilot: {
    ...{ start: copilot, prompt: copilot, failure: copilot, "turn end": copilot, "session end": copilot },
    ...{ mcp: copilot, skills: copilot, rules: copilot, commands: copilot, judge: copilot, run: copilot },
  },
  pi: {
    ...{ start: pi, prompt: pi, failure: pi, "turn end": pi, "session end": pi, commands: pi },
    ...{ skills: pi, rules: pi, judge: pi, run: pi },
    mcp: impossible("it knows no MCP servers"),
  },
  cursor: {
    ...{ start: documented, "turn end": documented, "session end": documented },
    ...{
      mcp: documented,
      skills: documented,
      rules: documented,
      judge: impossible("Knack does not know how to ask it yet"),
      run: documented,
    },
    prompt: impossible("its hook for prompts takes no facts"),
    failure: impossible("its hook for failures takes no facts; the start of a session names what is known"),
    commands: impossible("its hook for prompts takes no facts"),
  },
};

/** Missing abilities in these agents, one sentence for each reason. */
export function describeLimits(ids: readonly AgentId[]): string[] {
  const byLimit = new Map<string, string[]>();
  for (const id of ids)
    for (const limit of listLimits(id))
      byLimit.set(limit, [...(byLimit.get(limit) ?? []), findAgent(id).name]);
  return [...byLimit].map(([limit, names]) => `${listWords(names)}: ${limit}`);
}

function listLimits(id: AgentId): string[] {
  const byReason = new Map<string, string[]>();
  for (const [capability, ability] of Object.entries(abilities[id]))
    if (ability.how === "not possible")
      byReason.set(ability.why, [
        ...(byReason.get(ability.why) ?? []),
        capabilities[capability as Capability],
      ]);
  return [...byReason].map(([why, missing]) => `no ${missing.join(", ")} (${why}).`);
}
