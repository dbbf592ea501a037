import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { anEndpoint } from "../helpers/endpoint.ts";
import { changingNothing } from "../helpers/judging.ts";
import { knack, root } from "../helpers/knack.ts";
import { installClients } from "./install.mjs";
import type { Step } from "./model-server.ts";
import {
  claudeTranscripts,
  codexTranscripts,
  dressClaude,
  dressCodex,
  runClient,
  type Stage,
  setStage,
} from "./play.ts";

const example = join(root, "examples/sessions/claude-code");
const settings = { "judge.timeoutMs": 30_000 };

/** The request in what came to a model, wherever it stands. */
function promptIn(news: string): string {
  const texts = (value: unknown): string[] =>
    typeof value === "string"
      ? [value]
      : typeof value === "object" && value !== null
        ? Object.values(value).flatMap(texts)
        : [];
  return texts(JSON.parse(news)).find((text) => text.includes("begins -----")) ?? "";
}

/** Keeps nothing of what a request shows. */
function verdictOn(news: string) {
  return changingNothing(promptIn(news));
}

/** A stage with an agent that can be found as a command, and Knack told to ask it. */
async function asking(agent: "claude" | "codex", turn: (news: string) => readonly Step[]) {
  const clients = await installClients();
  // Codex offers no tools to its model.
  const side = (asked: string) => (promptIn(asked) === "" ? "ok" : JSON.stringify(verdictOn(asked)));
  const stage = await setStage({ script: { turns: [turn, [{ text: "done" }]], side } });
  onTestFinished(() => stage.dispose());
  const dressed = agent === "claude" ? await dressClaude(stage, true) : await dressCodex(stage, true);
  const start = agent === "claude" ? `"${clients.claude}"` : `"${process.execPath}" "${clients.codex}"`;
  writeFileSync(join(stage.root, agent), `#!/bin/sh\nexec ${start} "$@"\n`, { mode: 0o755 });
  const env: Record<string, string> = { ...dressed, PATH: `${stage.root}${delimiter}${dressed.PATH}` };
  const home = join(stage.home, ".knack");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.json"), JSON.stringify({ ...settings, judge: agent }));
  return { stage, env, home };
}

async function learned(stage: Stage, env: Record<string, string>, ...words: string[]) {
  const { code, stdout, stderr } = await knack(["learn", ...words, "--json"], { home: stage.home, env });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as {
    findings: { lesson: string }[];
    judged: { sessions: number; models: string[]; aside: unknown[] };
    unjudged: { sessions: number; because: string | null };
    skipped: { what: string; because: string }[];
  };
}

/** A session that mentions files as people do, of which nobody may read one; and a word that is only in them. */
function mentioningSession({ home }: Stage): { path: string; secret: string } {
  const secret = "a-word-of-the-file";
  writeFileSync(join(home, "mentioned.txt"), secret);
  const [name = ""] = readdirSync(join(example, "harbor-api")).filter((one) =>
    one.includes("generated-again"),
  );
  const text = readFileSync(join(example, "harbor-api", name), "utf8");
  const mentions = `See @${join(home, "mentioned.txt")} and @../../mentioned.txt and @~/mentioned.txt. `;
  const path = join(home, name);
  // The person says it, and a failing program too.
  writeFileSync(path, text.replaceAll('"content":"', `"content":"${mentions}`));
  return { path, secret };
}

describe("an agent's own command line judges a session", () => {
  beforeAll(async () => {
    await installClients();
  }, 600_000);

  test("as Claude Code: without tools, hooks, files or a transcript; and what it does there is never learned from", async () => {
    const { stage, env, home } = await asking("claude", (news) =>
      promptIn(news) === "" ? [{ text: "hello" }] : [{ tool: "StructuredOutput", input: verdictOn(news) }],
    );
    const { path, secret } = mentioningSession(stage);
    expect(await learned(stage, env, path)).toMatchObject({
      judged: { sessions: 1, models: ["claude/haiku"] },
      unjudged: { sessions: 0, because: null },
    });
    const [{ body }] = stage.server.requests as unknown as [
      { body: { tools: { name: string }[]; model: string } },
    ];
    expect(body.model).toContain("haiku");
    expect(
      body.tools.map(({ name }) => name).filter((name) => /Bash|Read|Edit|Write|Web|Task/.test(name)),
    ).toEqual([]);
    const sent = JSON.stringify(stage.server.requests);
    expect(sent).toContain("mentioned.txt");
    expect(sent).not.toContain(secret);
    expect(readFileSync(stage.hookPayloads, "utf8")).toBe("");
    expect((await claudeTranscripts(stage.home)).transcripts).toEqual([]);
    // Even one that leaves a transcript there is Knack's own work.
    const { claude } = await installClients();
    await runClient(claude, ["-p", "hello"], { cwd: join(home, "models"), env, seconds: undefined });
    const { transcripts } = await claudeTranscripts(stage.home);
    expect(transcripts).toHaveLength(1);
    // Long enough to be learned from, were it anywhere else.
    const text = readFileSync(transcripts[0] as string, "utf8");
    writeFileSync(transcripts[0] as string, text + grown(text));
    const { skipped } = await learned(stage, env, ...transcripts);
    expect(skipped.map(({ because }) => because)).toEqual(["Knack's own work"]);
  });

  test("as Codex: without tools, hooks, files or a transcript", async () => {
    const { stage, env } = await asking("codex", () => []);
    const { path, secret } = mentioningSession(stage);
    expect(await learned(stage, env, path)).toMatchObject({
      judged: { sessions: 1, models: ["codex/gpt-6-luna"] },
      unjudged: { sessions: 0, because: null },
    });
    const [{ body }] = stage.server.requests as unknown as [
      { body: { model: string; tools?: { name?: string }[]; input: unknown[] } },
    ];
    expect(body.model).toBe("gpt-6-luna");
    expect(
      (body.tools ?? []).map(({ name }) => name).filter((name) => /exec|shell|view|search/.test(name ?? "")),
    ).toEqual([]);
    const sent = JSON.stringify(stage.server.requests);
    expect(sent).toContain("mentioned.txt");
    expect(sent).not.toContain(secret);
    expect(readFileSync(stage.hookPayloads, "utf8")).toBe("");
    expect((await codexTranscripts(stage.home)).transcripts).toEqual([]);
  });

  test("as Codex, or is turned away: then what the rules say stands", async () => {
    const { stage, env } = await asking("codex", () => []);
    const endpoint = await anEndpoint(() => ({ status: 429 }));
    const config = join(stage.home, ".codex/config.toml");
    writeFileSync(config, readFileSync(config, "utf8").replace(`${stage.server.url}/v1`, endpoint.url));
    const { judged, unjudged } = await learned(stage, env, mentioningSession(stage).path);
    expect(judged.sessions).toBe(0);
    expect(unjudged).toEqual({ sessions: 1, because: expect.stringMatching(/^overloaded: .*429/) });
  });

  test.skipIf(process.platform !== "linux")(
    "or keeps silent: then it is ended, with all that it started",
    async () => {
      const { stage, env, home } = await asking("claude", () => []);
      const endpoint = await anEndpoint(() => "silence");
      writeFileSync(
        join(home, "config.json"),
        JSON.stringify({ ...settings, judge: "claude", "judge.timeoutMs": 4_000 }),
      );
      const mark = `mark-${stage.root}`;
      const { unjudged } = await learned(
        stage,
        { ...env, ANTHROPIC_BASE_URL: endpoint.url.replace(/\/v1$/, ""), KNACK_TEST_MARK: mark },
        mentioningSession(stage).path,
      );
      expect(unjudged.because).toBe("time-out: claude gave no answer in 4000 ms");
      expect(endpoint.asked.length).toBeGreaterThan(0);
      expect(marked(mark)).toEqual([]);
    },
    90_000,
  );
});

/** The processes whose environment has a word in it. */
function marked(word: string): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(join("/proc", name, "environ"), "utf8").includes(word);
    } catch {
      return false; // It has just ended, or is somebody else's.
    }
  });
}

/** More of the same session: what its person said, a few times over. */
function grown(text: string): string {
  const lines = text
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, unknown>]));
  const prompt = lines.find(({ type }) => type === "user");
  return Array.from(
    { length: 12 },
    (_, n) =>
      `${JSON.stringify({ ...prompt, uuid: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}` })}\n`,
  ).join("");
}
