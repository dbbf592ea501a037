import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { hookProgram, quiet, readOffered } from "../helpers/hook.ts";
import { answering, asksAboutSession, nothingToMerge, recordIn } from "../helpers/judging.ts";
import { cli } from "../helpers/knack.ts";
import { sampled } from "../helpers/sampled.ts";
import { installClients } from "./install.mjs";
import { type Between, bash, type Live, live, sayInTurn, says } from "./living.ts";
import type { Script, Step, Turn } from "./model-server.ts";
import { codexTranscripts, dressCodex, type Stage, setStage } from "./play.ts";

async function harbor(project: string): Promise<void> {
  mkdirSync(join(project, "docks"), { recursive: true });
  mkdirSync(join(project, ".git"));
  writeFileSync(join(project, ".git", "HEAD"), "ref: refs/heads/main\n");
}

const prompts = {
  berths: "Add a berth. In this project new berths always go into docks/berths.json, never into other files.",
  cranes: "Paint a crane. In this project cranes are always painted yellow, never green.",
  learn: "Learn from the sessions of this project with Knack.",
};
const lessons = {
  berths: "Put new berths into docks/berths.json, never into other files.",
  cranes: "Always paint cranes yellow in this project, never green.",
};

const begins = "begins -----";

/** A text in what came to a model that has a record in it. */
function findRecord(news: string): string {
  const texts = (value: unknown): string[] =>
    typeof value === "string"
      ? [value]
      : typeof value === "object" && value !== null
        ? Object.values(value).flatMap(texts)
        : [];
  return texts(JSON.parse(news)).find((text) => text.includes(begins)) ?? "";
}

/** Makes a lesson of each order that a request or a dossier shows, and leaves the project's lessons as they are. */
function judge(news: string) {
  const record = findRecord(news);
  if (!asksAboutSession(record)) return nothingToMerge;
  const { leads, events } = recordIn(record);
  const found = (["berths", "cranes"] as const).flatMap((about) => {
    const { ref } = events.find(({ person }) => person?.includes(prompts[about].slice(20))) ?? {};
    const lead = leads.find(({ refs }) => refs.includes(ref ?? ""));
    if (ref === undefined || lead === undefined) return [];
    const said = { when: `${about} are added`, do: lessons[about], refs: [ref] };
    return [{ leads: [lead.lead], kind: "explicit-instruction", lesson: lessons[about], ...said }];
  });
  return answering(found);
}

/** How an agent takes part: its shell, and Knack's tools. */
interface Part {
  readonly shell: (command: string) => Step;
  readonly knacks: (name: string, input: object) => Step;
  /** What stands before the model where the person asks to learn. */
  readonly asksToLearn: string;
}

function script({ shell, knacks, asksToLearn }: Part): Script {
  // Enough to be learned from, in few requests.
  const commands = ["ls", "ls docks", "touch docks/one", "ls docks", "ls"];
  const work: readonly Turn[] = [
    commands.flatMap((command) => [says(`I run ${command}.`), shell(command)]),
    [says("Done, and from now on I do it like that.")],
  ];
  const submits = (news: string) => {
    if (findRecord(news) === "") return [says(`There is no dossier in ${news}`)];
    const dossier = /lesson_submit with dossier "(\w+)"/.exec(findRecord(news))?.[1];
    return [knacks("lesson_submit", { dossier, answer: judge(news) })];
  };
  const shows = (news: string) => {
    const [, number, lesson] = /number\W+(\d)[^}]*?lesson\W+(\w[^"\\]+)/.exec(news) ?? [];
    return [says(`Which of these do you want to keep? ${number}. ${lesson}`)];
  };
  return {
    turns: [[says("Nothing is scripted for that.")]],
    side: (asked) => (asked.includes(begins) ? JSON.stringify(judge(asked)) : "ok"),
    branches: [
      // The judge that the worker asks, through the same agent; Codex shows it no tools.
      {
        says: begins,
        turns: [(news) => [{ tool: "StructuredOutput", input: judge(news) }], [says("done")]],
      },
      { says: prompts.berths, turns: work },
      { says: prompts.cranes, turns: work },
      { says: "Is all well?", turns: [[says("All is well.")], [says("Kept.")]] },
      { says: asksToLearn, turns: [[knacks("lesson_leads", {})], submits, shows, [says("Recorded.")]] },
    ],
  };
}

type Agent = Pick<Live, "stage" | "types" | "typesAll" | "settled">;

/** Answers for the command line of a stage, without a process for each. */
function runsFor({ root, home, project }: Stage) {
  const env = { PATH: `${root}${delimiter}${process.env.PATH}` };
  return (...words: string[]) => knackHere(words, { home, cwd: project, env });
}

/** A lesson's way from a session to the one after the next, by the judge in the background and by the agent itself. */
async function followLessons({ stage, types, typesAll, settled }: Agent, asksToLearn: string) {
  const run = runsFor(stage);
  const status = async (lesson: string) => {
    const { lessons: all } = JSON.parse((await run("lessons", "--json")).stdout);
    return (all as { lesson: string; status: string }[]).find((one) => one.lesson === lesson)?.status;
  };
  const has = (sent: readonly string[], what: string) => sent.some((body) => body.includes(what));

  await types(prompts.berths);
  await settled();
  expect(await status(lessons.berths)).toBe("pending");

  const reads = (session: string) => readOffered(join(stage.home, ".knack"), session);
  const next = await typesAll(["Is all well?", "yes, keep it"], reads);
  const [first = [], yes = []] = next.each;
  expect(has(first, lessons.berths)).toBe(false);
  expect(has(yes, "this prompt is their answer: yes")).toBe(true);
  await settled();
  expect(await status(lessons.berths)).toBe("active");

  // The one after is told; and now the judge is the agent in its session, with no other process.
  expect((await run("config", "set", "judge", "off")).code).toBe(0);
  const after = await types(prompts.cranes);
  expect(has(after.sent, `Holds here:\\n- ${lessons.berths}`)).toBe(true);
  await settled();
  expect((await run("status")).stdout).toMatch(/sessions? may hold more lessons, which a judge finds/);
  const learned = await typesAll([asksToLearn, "keep 1"], async (session) => {
    expect(await status(lessons.cranes)).toBe("pending");
    reads(session);
  });
  expect(learned.stdout.includes(`Which of these do you want to keep? 1. ${lessons.cranes}`)).toBe(true);
  await settled();
  expect(await status(lessons.cranes)).toBe("active");
  return next;
}

describe("a judge, live", () => {
  const followsInClaude = async () => {
    const part: Part = {
      shell: bash,
      knacks: (name, input) => ({ tool: `mcp__plugin_knack_knack__${name}`, input }),
      asksToLearn: "Knack's answer to /knack:learn",
    };
    const allowed = ["mcp__plugin_knack_knack"];
    const agent = await live({ script: script(part), setup: harbor, onPath: true, allowed });
    const init = await agent.run("init", "--yes", "--judge", "claude");
    expect([init.code, init.stderr]).toEqual([0, ""]);
    expect((await agent.run("status")).stdout).toMatch(/^judge +claude/m);
    const { stdout } = await followLessons(agent, "/knack:learn");
    expect(stdout).toContain(`Knack learned here: ${lessons.berths}`);
  };

  const followsInCodex = async () => {
    const part: Part = {
      shell: (cmd) => ({ tool: "exec_command", input: { cmd } }),
      knacks: (tool, input) => ({ tool, input, namespace: "mcp__knack" }),
      asksToLearn: prompts.learn,
    };
    const agent = await playInCodex(script(part));
    expect((await runsFor(agent.stage)("config", "set", "judge", "codex")).code).toBe(0);
    await followLessons(agent, prompts.learn);
  };

  const agents: readonly [string, () => Promise<void>][] = [
    ["in Claude Code", followsInClaude],
    ["in Codex, with Knack's hook and its tools", followsInCodex],
  ];
  test.each(sampled(agents, 1))(
    "%s: a session is judged when it ended, the next offers the lesson, the one after is told; asked to learn",
    async (_, follows) => follows(),
  );
});

describe("a judge of no use, live in Claude Code,", () => {
  test("leaves what the rules say, and status says why: a budget that is spent, then nonsense", async () => {
    const { branches = [], ...rest } = script({
      shell: bash,
      knacks: () => says("no"),
      asksToLearn: "never",
    });
    const nonsense = { says: begins, turns: [[says("I like boats.")], [says("Very much.")]] };
    const play = { ...rest, branches: [nonsense, ...branches] };
    const { stage, types, run: start, settled } = await live({ script: play, setup: harbor, onPath: true });
    const run = runsFor(stage);
    expect((await start("install", "claude")).code).toBe(0);
    expect((await run("config", "set", "judge", "claude")).code).toBe(0);
    const asked = () =>
      stage.server.requests.filter(({ body }) => JSON.stringify(body ?? null).includes(begins)).length;
    expect((await run("config", "set", "judge.budgetDay", "0")).code).toBe(0);
    const { session } = await types(prompts.berths);
    await settled();
    expect(asked()).toBe(0);
    expect((await run("status")).stdout).toMatch(/^judge +.*budget/m);
    expect((await run("config", "set", "judge.budgetDay", "0.5")).code).toBe(0);
    const order = "From now on, berths always go into docks/berths.json, never into files of their own.";
    await types(order, session);
    await settled();
    expect(asked()).toBeGreaterThan(0);
    expect((await run("status")).stdout).toMatch(
      /^judge +claude\S* has failed since .*what rules found stands/m,
    );
    // The order itself, which needs no judge.
    const said = expect.stringContaining("berths always go into docks/berths.json");
    expect(JSON.parse((await run("lessons", "--json")).stdout).lessons).toMatchObject([{ lesson: said }]);
  });
});

/** The published Codex with Knack's hook and server, set up by hand. */
async function playInCodex(part: Script): Promise<Agent> {
  const { codex } = await installClients();
  const stage = await setStage({ script: part, setup: harbor });
  onTestFinished(() => stage.dispose());
  const dressed = await dressCodex(stage, false);
  writeFileSync(join(stage.root, "codex"), `#!/bin/sh\nexec "${process.execPath}" "${codex}" "$@"\n`, {
    mode: 0o755,
  });
  const env = { ...dressed, PATH: `${stage.root}${delimiter}${dressed.PATH}` };
  const hooks = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"].map((event) => {
    const command = `"${process.execPath}" "${hookProgram}"`;
    return [event, [{ hooks: [{ type: "command", command, timeout: 3 }] }]];
  });
  writeFileSync(join(stage.home, ".codex/hooks.json"), JSON.stringify({ hooks: Object.fromEntries(hooks) }));
  // Required: Codex would ask the model before a slow server has told of its tools.
  const server = `{command=${JSON.stringify(process.execPath)},args=[${JSON.stringify(cli)},"mcp"],required=true,startup_timeout_sec=120}`;
  const shared = ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"];
  const types = async (texts: readonly string[], session?: string, between?: Between) => {
    const known = (await codexTranscripts(stage.home)).transcripts;
    const nameSession = async () => {
      const made = (await codexTranscripts(stage.home)).transcripts.find((path) => !known.includes(path));
      return session ?? made?.slice(-42, -6) ?? "";
    };
    const which = session === undefined ? [] : ["resume", session];
    const tools = texts.includes(prompts.learn) ? ["-c", `mcp_servers.knack=${server}`] : [];
    const command = [process.execPath, codex, ...which, ...shared, ...tools];
    const place = { socket: join(stage.root, "tmux"), cwd: stage.project, env, command };
    const does = { ready: "Ask Codex to do anything", leave: "/quit", stage };
    const said = await sayInTurn(place, texts, {
      ...does,
      between: async () => between?.(await nameSession()),
    });
    return { session: await nameSession(), ...said };
  };
  return {
    stage,
    types: (text, session) => types([text], session),
    typesAll: (texts, between) => types(texts, undefined, between),
    settled: () => quiet(stage.home),
  };
}
