import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Env, type JudgeAgent, judgeAgents, userHome } from "../settings/index.ts";
import { isOnPath, runProgram } from "./run-program.ts";

/** How an agent is recognised as signed in. Credentials are never opened: that they exist is enough. */
interface SignInTraces {
  /** Environment variables that have a key or a token. */
  readonly variables: readonly string[];
  readonly files: readonly string[];
  /** Arguments of the program's own status, which exits with 0 for somebody who is signed in. */
  readonly status: readonly string[] | null;
}

function listTraces(env: Env): Readonly<Record<JudgeAgent, SignInTraces>> {
  const home = userHome(env);
  const data = env.XDG_DATA_HOME || join(home, ".local/share");
  const gemini = join(env.GEMINI_CLI_HOME || home, ".gemini");
  return {
    claude: {
      variables: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
      files: [join(env.CLAUDE_CONFIG_DIR || join(home, ".claude"), ".credentials.json")],
      status: ["auth", "status"],
    },
    codex: {
      variables: ["CODEX_API_KEY"],
      files: [join(env.CODEX_HOME || join(home, ".codex"), "auth.json")],
      status: ["login", "status"],
    },
    gemini: {
      variables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
      files: [join(gemini, "oauth_creds.json"), join(gemini, "gemini-credentials.json")],
      status: null,
    },
    opencode: { variables: ["ANTHROPIC_API_KEY"], files: [join(data, "opencode/auth.json")], status: null },
    copilot: {
      variables: ["COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"],
      files: [join(env.COPILOT_HOME || join(home, ".copilot"), "config.json")],
      status: null,
    },
    // It is there for everybody who has started pi; which models it can ask is what tells.
    pi: {
      variables: [],
      files: [join(env.PI_CODING_AGENT_DIR || join(home, ".pi/agent"), "auth.json")],
      status: null,
    },
  };
}

/** An agent that can judge with the sign-in that is there. */
export interface SignedInAgent {
  readonly agent: JudgeAgent;
  readonly title: string;
  /** The value to set `judge` to. */
  readonly judge: string;
}

const titles: Readonly<Record<JudgeAgent, string>> = {
  ...{ claude: "Claude Code", codex: "Codex", gemini: "Gemini CLI" },
  ...{ opencode: "OpenCode", copilot: "Copilot CLI", pi: "pi" },
};

/** The agents that are on the PATH and signed in, as far as can be told, in the order in which they are suggested. */
export async function findSignedIn(env: Env): Promise<SignedInAgent[]> {
  const traces = listTraces(env);
  const found = await Promise.all(
    judgeAgents.map(async (agent) => {
      if (!(await isSignedIn(agent, traces[agent], env))) return [];
      const judge = await nameJudge(agent, env);
      return judge === null ? [] : [{ agent, title: titles[agent], judge }];
    }),
  );
  return found.flat();
}

async function isSignedIn(agent: JudgeAgent, traces: SignInTraces, env: Env): Promise<boolean> {
  const { variables, files, status } = traces;
  if (!isOnPath(env, agent)) return false;
  if (variables.some((name) => env[name]) || files.some((path) => existsSync(path))) return true;
  // On a Mac the credentials are in the keychain, which only the program itself may ask.
  return status !== null && (await askProgram(agent, status, env)).code === 0;
}

/** Time for a program to say something about itself. */
const statusMs = 8_000;

function askProgram(agent: JudgeAgent, args: readonly string[], env: Env) {
  const quiet = { ...env, KNACK_DISABLE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", PI_OFFLINE: "1" };
  return runProgram(agent, args, { cwd: userHome(env), env: quiet, input: "", timeoutMs: statusMs });
}

/** Small models that judge well enough, the first that is there. */
const smallModels = [
  /^anthropic\/claude-haiku/,
  /\/claude-haiku/,
  /\/gpt-[\d.]+-luna$/,
  /\/gemini-[\d.]+-flash$/,
];

/** The agent as a judge; null where it has no model that would do. */
async function nameJudge(agent: JudgeAgent, env: Env): Promise<string | null> {
  if (agent === "opencode") return (await findSmallModel(agent, ["models"], env)) ?? agent;
  if (agent === "pi") return findSmallModel(agent, ["--list-models"], env);
  return agent;
}

/** A small model of an agent whose models depend on the providers that a person signed in to. */
async function findSmallModel(agent: JudgeAgent, args: readonly string[], env: Env): Promise<string | null> {
  const { stdout } = await askProgram(agent, args, env);
  // pi has the provider and the model in two columns.
  const names = stdout.split("\n").map((line) =>
    line
      .trim()
      .split(/\s+/, agent === "pi" ? 2 : 1)
      .join("/"),
  );
  const [small] = smallModels.flatMap((family) => names.find((name) => family.test(name)) ?? []);
  return small === undefined ? null : `${agent}/${small}`;
}
