import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { AgentId } from "../../src/agents/agents.ts";
import { abilities, type Capability } from "../../src/agents/capabilities.ts";
import { knack } from "../helpers/knack.ts";
import { filesIn } from "../helpers/machine.ts";
import { settled } from "./living.ts";
import type { RecordedRequest, Script, Step } from "./model-server.ts";
import { runClient, type Stage, setStage } from "./play.ts";

/** A published agent, as the chain drives it. */
export interface DrivenAgent {
  /** The name that `knack install` knows it by. */
  readonly id: AgentId;
  /** Its folder in the home of a person. */
  readonly folder: string;
  /** Files in that folder that it keeps for everybody. */
  readonly keeps: RegExp;
  /** The variable that says where it keeps them, if that is elsewhere than in the home. */
  readonly dress: (stage: Stage) => Promise<Readonly<Record<string, string>>>;
  /** What the model asks for to have a command run. */
  readonly shell: (command: string) => Step;
  /** What Knack tells it is not in its own record of the session. */
  readonly isToldBeside?: boolean;
  /** Nothing of Knack's runs for a call that succeeds. */
  readonly hearsFailuresAlone?: boolean;
  /** Knack's commands are answered without the model. */
  readonly answersCommands?: boolean;
  /** The words that start it. */
  readonly program: () => Promise<readonly [string, ...string[]]>;
  /** The words after these that give it a prompt, and end it when it is answered. */
  readonly answers: (prompt: string) => readonly string[];
}

/** A machine with one agent on it, and what was done there. */
export interface DrivenMachine {
  readonly stage: Stage;
  readonly env: Readonly<Record<string, string>>;
  /** The agent's folder. */
  readonly config: string;
  /** Runs one session; answers with the bodies of what the model was sent. */
  readonly session: (prompt: string) => Promise<string[]>;
  readonly run: (...words: string[]) => ReturnType<typeof knack>;
  readonly settled: () => Promise<void>;
  /** The events that Knack's hook was given, by the agent's names. */
  readonly heard: () => string[];
  /** The agent's folder but for what it keeps for everybody. */
  readonly files: () => Record<string, string>;
}

const says = (text: string): Step => ({ text });

/** A project with `npm run verify`, which the error of a mistyped `npm run verfy` names. */
async function harbor(project: string): Promise<void> {
  mkdirSync(join(project, ".git"), { recursive: true });
  writeFileSync(join(project, ".git", "HEAD"), "ref: refs/heads/main\n");
  const scripts = { verify: "node -e 0" };
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "harbor", scripts }));
}

/** The session in which a call fails and its fix is found. */
export const firstPrompt = "See that the harbor is in order";

export function playFirst({ shell }: Pick<DrivenAgent, "shell">) {
  return {
    says: firstPrompt,
    turns: [
      [says("The checks."), shell("npm run verfy")],
      [says("There is no such script; which are there?"), shell("cat package.json")],
      [says("It is called verify."), shell("npm run verify")],
      [says("Once more, to be sure."), shell("npm run verify")],
      [says("All is in order.")],
    ],
  };
}

function scriptFor(agent: DrivenAgent): Script {
  const { shell } = agent;
  return {
    turns: [[says("Nothing is scripted for that.")]],
    branches: [
      playFirst(agent),
      { says: "Please do npm run verfy again", turns: [[says("I know how: npm run verify.")]] },
      {
        says: "Is everything fine in the docks?",
        turns: [
          [says("I check."), shell("npm run verfy")],
          [says("I take verify then."), shell("npm run verify")],
          [says("All is fine.")],
        ],
      },
    ],
  };
}

/**
 * A person who has this agent and no other, in a home with a space in its path. What Knack finds on the PATH for it
 * only says that it is there, unless it is to be asked.
 */
export async function openMachine(
  agent: DrivenAgent,
  { script = scriptFor(agent), isAsked = false } = {},
): Promise<DrivenMachine> {
  const stage = await setStage({ projectName: "harbör docks", script, setup: harbor });
  onTestFinished(() => stage.dispose());
  const dressed = await agent.dress(stage);
  const bin = join(stage.root, "bin");
  mkdirSync(bin);
  // Knack looks for the agent where a person's shell would.
  const program = (await agent.program()).map((word) => `"${word}"`).join(" ");
  const does = isAsked ? `exec ${program} "$@"` : "exit 1";
  writeFileSync(join(bin, agent.id), `#!/bin/sh\n${does}\n`, { mode: 0o755 });
  const heard = join(stage.root, "heard");
  writeFileSync(heard, "");
  const env = {
    ...dressed,
    PATH: `${bin}${delimiter}${dressed.PATH ?? ""}`,
    NODE_OPTIONS: `--require ${JSON.stringify(join(import.meta.dirname, "heard.cjs"))}`,
    HEARD_EVENTS: heard,
  };
  const config = join(stage.home, agent.folder);
  const requests = stage.server.requests as RecordedRequest[];
  return {
    stage,
    env,
    config,
    session: async (prompt) => {
      const from = requests.length;
      const [program, ...words] = await agent.program();
      const ran = await runClient(program, [...words, ...agent.answers(prompt)], {
        cwd: stage.project,
        env,
        seconds: undefined,
      });
      expect(ran.code, ran.stderr).toBe(0);
      return requests.slice(from).map(({ body }) => JSON.stringify(body ?? null));
    },
    run: (...words) => knack(words, { home: stage.home, cwd: stage.project, env }),
    settled: () => settled(stage.home),
    heard: () => readFileSync(heard, "utf8").trim().split("\n"),
    files: () => {
      const all = Object.entries(filesIn(config));
      return Object.fromEntries(all.filter(([path]) => !agent.keeps.test(path)));
    },
  };
}

/** What agents call the events that capabilities need. */
const events: { readonly [Needs in Capability]?: RegExp } = {
  start: /^SessionStart$/,
  prompt: /^(?:UserPromptSubmit|BeforeAgent)$/,
  failure: /^(?:PostToolUse|PostToolUseFailure|AfterTool)$/,
  "turn end": /^(?:Stop|AfterAgent)$/,
  "session end": /^SessionEnd$/,
};

/** A failure and its fix in one session, told in the next ones, and Knack uninstalled without a trace. */
export async function playChain(agent: DrivenAgent): Promise<void> {
  const { stage, session, run, settled, heard, files } = await openMachine(agent);
  const before = files();
  const set = await run("init", "--yes");
  expect(set.code, set.stdout + set.stderr).toBe(0);
  expect(set.stdout).toContain("Knack is set up.");

  // Session 1 fails, recovers, ends.
  const first = await session(firstPrompt);
  expect(first.length).toBeGreaterThan(4);
  expect(first.join()).not.toContain("Knack:");
  await settled();
  expect(JSON.parse((await run("lessons", "--json")).stdout).lessons).toHaveLength(1);

  const can = (capability: Capability) => abilities[agent.id][capability].how === "tested";
  for (const [capability, names] of Object.entries(events))
    expect(
      heard().some((event) => names.test(event)),
      `${capability}, heard ${heard()}`,
    ).toBe(can(capability as Capability));
  // One of four calls failed.
  if (agent.hearsFailuresAlone)
    expect(heard().filter((event) => events.failure?.test(event))).toHaveLength(1);

  // An agent may ask the model before a server is there.
  const last = first.at(-1) ?? "";
  if (can("mcp")) expect(last).toContain("skill_learning_start");
  // Listed once, wherever the agent looks for skills, and only where its tools are.
  const listings = last.split("Write a reusable skill from what this session verified").length - 1;
  expect(listings).toBe(can("mcp") ? 1 : 0);

  // Session 2 is told at its start, and at the prompt.
  const second = await session("Please do npm run verfy again");
  if (can("start")) expect(second.join()).toContain("From Knack, facts of earlier sessions");
  expect(second.join()).toContain("Knack: learned here");
  expect(second.join()).toContain("npm run verify");

  // Session 3 is told at the failure, and not before.
  const third = await session("Is everything fine in the docks?");
  const told = third.findIndex((body) => body.includes("Knack: this failed here"));
  expect(told, third.at(-1)).toBeGreaterThan(0);
  expect(third[told]).toContain("what worked");
  expect(third.slice(0, told).join()).not.toContain("npm run verify");
  await settled();

  if (can("commands") && agent.answersCommands !== true) {
    const typed = await session("/knack:status");
    expect(typed.join()).toContain("Knack's answer to /knack:status");
  }

  const doctor = await run("doctor", "--json");
  const checks = (JSON.parse(doctor.stdout).checks as { name: string; ok: boolean; says: string }[]) ?? [];
  // Codex is told to run hooks that nobody has trusted.
  expect(checks.filter(({ ok, says }) => !ok && !says.includes("waits for you to trust"))).toEqual([]);
  const isFound = agent.isToldBeside ? /^shown [1-9] times?; / : /^[1-9] of the last \d+ texts shown/;
  expect(checks.find(({ name }) => name === "injected")?.says).toMatch(isFound);
  expect(checks.map(({ name }) => name)).not.toContain("plugin");

  // Out again.
  expect((await run("uninstall", agent.id)).code).toBe(0);
  expect(files()).toEqual(before);
  expect(existsSync(join(stage.home, ".knack", "agents"))).toBe(false);
}
