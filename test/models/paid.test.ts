import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { askModel } from "../../src/models/ask.ts";
import { chooseModel } from "../../src/models/choose.ts";
import type { Model } from "../../src/models/model.ts";
import { type JudgeAgent, parseJudge } from "../../src/settings/settings.ts";
import { type Act, anEndpoint } from "../helpers/endpoint.ts";
import { desk } from "../helpers/publishing.ts";
import { tempFolder } from "../helpers/temp.ts";

/** What a call comes to on the ledger: an amount, or what was set aside for it. */
type Paid = number | "at-most";
const price = { input: 1, output: 5 };
const limits = { usdPerDay: 10, usdPerCall: 1 };
const inquiry = {
  ...{ purpose: "test", system: "Be brief.", prompt: "Well?", maxOutputTokens: 100, timeoutMs: 30_000 },
  schema: {
    json: { type: "object", properties: { fine: { type: "boolean" } }, required: ["fine"] },
    parse: (value: unknown) => ({ value }),
  },
};

async function paidFor(model: Model): Promise<{ because: string; paid: Paid }> {
  const { store, clock, redactor } = await desk();
  const who = { project: null, session: null };
  const reply = await askModel({ store, clock, redactor, model, limits, price }, inquiry, who);
  const [asked] = await store.ledger.since("model.asked", 0);
  const [called] = await store.ledger.since("model.called", 0);
  const usd = called?.data.usd ?? Number.NaN;
  const because = reply.ok ? "fine" : `${reply.because}: ${reply.message}`;
  return { because, paid: usd === asked?.data.usdAtMost ? "at-most" : usd };
}

/** An agent on the PATH that does what a script says. */
function agent(name: JudgeAgent, script: string): Model {
  const [folder, bin] = [tempFolder(), tempFolder()];
  writeFileSync(join(bin, name), `#!/bin/sh\ncat > /dev/null\n${script}\n`, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env.PATH}` };
  return chooseModel({ choice: { via: name, id: null }, url: null, keyEnv: null, env, folder });
}

const says = (...lines: readonly (object | string)[]) =>
  `cat <<'END'\n${lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")}\nEND`;
const tokens = { input_tokens: 2_000, output_tokens: 300 };

describe("what a call is counted as", () => {
  const result = { type: "result", is_error: false, structured_output: { fine: true } };
  const dear = { ...result, total_cost_usd: 0.03 };
  it.each<[string, string, RegExp, Paid]>([
    ["says what it cost", says({ ...dear, usage: {} }), /^fine$/, 0.03],
    ["says its tokens alone", says({ ...result, usage: tokens }), /^fine$/, 0.0035],
    ["says nothing of it", says(result), /^fine$/, "at-most"],
    ["says it as a word", says({ ...result, total_cost_usd: "0.45" }), /^fine$/, "at-most"],
    ["says less than nothing", says({ ...result, total_cost_usd: -5 }), /^fine$/, "at-most"],
    ["says more than there is", says('{"result":"{}","total_cost_usd":1e400}'), /^fine$/, "at-most"],
    [
      "says less than no tokens",
      says({ ...result, usage: { ...tokens, input_tokens: -9 } }),
      /^f/,
      "at-most",
    ],
    ["warns first", says("a warning", dear), /^fine$/, 0.03],
    ["says it in a list", says(JSON.stringify([{ type: "system" }, dear])), /^fine$/, 0.03],
    ["answers, and ends badly", `${says(dear)}\nexit 127`, /^fine$/, 0.03],
    ["refuses", says({ is_error: true, result: "no", total_cost_usd: 0 }), /^refused: no$/, 0],
    ["refuses without a price", says({ is_error: true, result: "no" }), /^refused: no$/, "at-most"],
    ["says half of it", says('{"type":"result",'), /^unusable: claude exited with 0: \{/, "at-most"],
    ["is killed", "kill -KILL $$", /^unusable: claude was killed without output$/, "at-most"],
    ["ends with words", "echo own >&2; exit 127", /^unusable: claude exited with 127: own$/, "at-most"],
    ["is of another age", "echo \"error: unknown option '--x'\" >&2; exit 1", /^refused: claude exited/, 0],
  ])("of Claude Code, when it %s", async (_, script, because, paid) => {
    expect(await paidFor(agent("claude", script))).toEqual({
      because: expect.stringMatching(because),
      paid,
    });
  });

  test("of a program that cannot be run is nothing, and the reason is not the shell's", async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "claude"), "#!/nowhere/at/all\n", { mode: 0o755 });
    const env = { PATH: folder };
    const broken = chooseModel({ choice: { via: "claude", id: null }, url: null, keyEnv: null, env, folder });
    const { because, paid } = await paidFor(broken);
    expect(because).toMatch(/^unreachable: claude cannot be run: \S/);
    expect(because).not.toContain("exec");
    expect(paid).toBe(0);
  });

  const said = { type: "item.completed", item: { type: "agent_message", text: '{"fine":true}' } };
  const failed = (message: string) => says({ type: "turn.failed", error: { message } });
  it.each<[string, string, RegExp, Paid]>([
    ["says its tokens", says(said, { type: "turn.completed", usage: tokens }), /^fine$/, 0.0035],
    ["says nothing of it", says(said, { type: "turn.completed" }), /^fine$/, "at-most"],
    [
      "says more than there is",
      says(said, '{"type":"turn.completed","usage":{"input_tokens":1e400,"output_tokens":1}}'),
      /^fine$/,
      "at-most",
    ],
    ["never ends", says(said), /^unusable: codex exited with 0/, "at-most"],
    ["is cut off", failed("stream disconnected"), /^refused: .*stream disconnected$/, "at-most"],
    ["is not let in", failed("unexpected status 401 Unauthorized"), /^refused: .*401/, 0],
    [
      "is turned away",
      failed("exceeded retry limit, last status: 429 Too Many Requests"),
      /^overloaded: .*429/,
      0,
    ],
    ["is overloaded at last", failed("Our servers are overloaded"), /^overloaded: /, "at-most"],
    ["is turned away after a word", `${says(said)}\n${failed("status 500")}`, /^overloaded: /, "at-most"],
    ["ends with words", "echo own 500 >&2; exit 1", /^unusable: codex exited with 1: own 500$/, "at-most"],
  ])("of Codex, when it %s", async (_, script, because, paid) => {
    expect(await paidFor(agent("codex", script))).toEqual({ because: expect.stringMatching(because), paid });
  });

  const used = {
    models: { "gemini-3.8-flash": { tokens: { prompt: 2_000, candidates: 200, thoughts: 100 } } },
  };
  const fails = (error: object) => `{\n${says({ error })}\n} >&2; exit 1`;
  const fenced = 'Here it is:\n```json\n{"fine": true}\n```';
  it.each<[string, string, RegExp, Paid]>([
    ["says its tokens", says({ response: fenced, stats: used }), /^fine$/, 0.0035],
    ["says nothing of it", says({ response: "{}" }), /^fine$/, "at-most"],
    ["warns first", says("Ripgrep is not available.", { response: "{}", stats: used }), /^fine$/, 0.0035],
    ["talks", says({ response: "I like it.", stats: used }), /^unusable: the answer is not JSON$/, 0.0035],
    ["is not let in", fails({ code: 401, message: "no" }), /^refused: gemini: 401 no$/, 0],
    ["is turned away", fails({ code: 429, message: "no" }), /^overloaded: .*429/, 0],
    [
      "is not signed in",
      fails({ code: 41, message: "Please set an Auth method" }),
      /^refused: .*Auth method/,
      0,
    ],
    ["ends with words", "echo own >&2; exit 1", /^unusable: gemini exited with 1: own$/, "at-most"],
  ])("of Gemini CLI, when it %s", async (_, script, because, paid) => {
    expect(await paidFor(agent("gemini", script))).toEqual({ because: expect.stringMatching(because), paid });
  });

  const begun = { type: "step_start", part: {} };
  const written = { type: "text", part: { text: fenced } };
  const counted = { input: 1_000, output: 200, reasoning: 100, cache: { read: 600, write: 400 } };
  const ended = (cost: number) => ({ type: "step_finish", part: { tokens: counted, cost } });
  const erred = (data: object) => ({ type: "error", error: { name: "APIError", data } });
  it.each<[string, string, RegExp, Paid]>([
    ["says what it cost", says(begun, written, ended(0.03)), /^fine$/, 0.03],
    ["does not know its price", says(begun, written, ended(0)), /^fine$/, 0.0035],
    ["says nothing of it", says(begun, written), /^fine$/, "at-most"],
    ["is not let in", says(erred({ statusCode: 401, message: "no" })), /^refused: opencode: 401 no$/, 0],
    ["does not know the model", says(erred({ message: "Model not found" })), /^refused: .*not found$/, 0],
    ["is turned away", says(erred({ statusCode: 429, message: "no" })), /^overloaded: .*429/, 0],
    ["is cut off", says(begun, erred({ message: "stream ended" })), /^refused: .*stream ended$/, "at-most"],
    ["says nothing", "exit 1", /^unusable: opencode exited with 1 without output$/, "at-most"],
  ])("of OpenCode, when it %s", async (_, script, because, paid) => {
    expect(await paidFor(agent("opencode", script))).toEqual({
      because: expect.stringMatching(because),
      paid,
    });
  });

  const message = { type: "assistant.message", data: { content: fenced } };
  const metrics = { usage: { inputTokens: 2_000, outputTokens: 300, cacheReadTokens: 500 } };
  const usageFile = `while [ "$1" != "--usage-output-file" ]; do shift; done\n{\n${says({ modelMetrics: { "claude-haiku-4.5": metrics } })}\n} > "$2"`;
  const mistake = (words: string) => ({ type: "session.error", data: { message: words } });
  it.each<[string, string, RegExp, Paid]>([
    ["says its tokens", `${usageFile}\n${says(message)}`, /^fine$/, 0.0035],
    ["says nothing of it", says(message), /^fine$/, "at-most"],
    ["is not let in", says(mistake("Authentication failed (HTTP 401)")), /^refused: .*401/, 0],
    ["is turned away", says(mistake("retried 5 times. Last error: 429 busy")), /^overloaded: .*429/, 0],
    [
      "is not signed in",
      "echo No authentication information found >&2; exit 1",
      /^refused: copilot exited/,
      0,
    ],
    [
      "is cut off",
      says({ type: "assistant.turn_start", data: {} }),
      /^unusable: copilot exited with 0/,
      "at-most",
    ],
  ])("of Copilot CLI, when it %s", async (_, script, because, paid) => {
    expect(await paidFor(agent("copilot", script))).toEqual({
      because: expect.stringMatching(because),
      paid,
    });
  });

  const told = (more: object) => ({ type: "message_end", message: { role: "assistant", ...more } });
  const spent = { input: 1_000, output: 300, cacheRead: 500, cacheWrite: 500, totalTokens: 2_300 };
  const content = [{ type: "text", text: fenced }];
  it.each<[string, string, RegExp, Paid]>([
    [
      "says what it cost",
      says(told({ content, usage: { ...spent, cost: { total: 0.03 } } })),
      /^fine$/,
      0.03,
    ],
    [
      "does not know its price",
      says(told({ content, usage: { ...spent, cost: { total: 0 } } })),
      /^fine$/,
      0.0035,
    ],
    ["says nothing of it", says(told({ content })), /^fine$/, "at-most"],
    [
      "is not let in",
      says(told({ stopReason: "error", errorMessage: "401 no" })),
      /^refused: pi: 401 no$/,
      0,
    ],
    [
      "is turned away",
      says(told({ stopReason: "error", errorMessage: "429 busy" })),
      /^overloaded: .*429/,
      0,
    ],
    ["has no models", "echo No API key found >&2; exit 1", /^refused: pi exited with 1: No API key/, 0],
    ["is cut off", says({ type: "turn_start" }), /^unusable: pi exited with 0/, "at-most"],
  ])("of pi, when it %s", async (_, script, because, paid) => {
    expect(await paidFor(agent("pi", script))).toEqual({ because: expect.stringMatching(because), paid });
  });

  const value = { fine: true };
  const prompted = { prompt_tokens: 2_000, completion_tokens: 300, total_tokens: 2_300 };
  it.each<[string, Act, RegExp, Paid]>([
    ["says its tokens", { value }, /^fine$/, 0.0035],
    ["says nothing of it", { value, usage: undefined }, /^fine$/, "at-most"],
    ["says null", { value, usage: null }, /^fine$/, "at-most"],
    [
      "says less than none",
      { value, usage: { ...prompted, prompt_tokens: -1_000_000 } },
      /^fine$/,
      "at-most",
    ],
    ["hangs up when it has heard all", "hang-up", /^unreachable: /, "at-most"],
    ["refuses", { status: 401 }, /^refused: 401/, 0],
    ["is broken", { status: 500 }, /^overloaded: 500/, 0],
    ["sends on elsewhere", { status: 307 }, /^unreachable: /, 0],
  ])("of an endpoint that %s", async (_, act, because, paid) => {
    const { url } = await anEndpoint(() => act);
    expect(await paidFor(at(url))).toEqual({ because: expect.stringMatching(because), paid });
  });

  it.each(["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"])(
    "of an endpoint that is not there, %s, is nothing",
    async (url) => {
      expect(await paidFor(at(url))).toEqual({ because: expect.stringMatching(/^unreachable: /), paid: 0 });
    },
  );

  test("never refills the budget, whatever a model says of itself", async () => {
    const usage = { inputTokens: -1_000_000, outputTokens: 0, costUsd: null };
    const model = {
      ...at("http://127.0.0.1:1/v1"),
      ask: async () => ({ ok: true as const, value, usage, ms: 1 }),
    };
    expect(await paidFor(model)).toEqual({ because: "fine", paid: 0 });
  });
});

function at(url: string): Model {
  const choice = parseJudge("openai/some-mini") ?? { via: "off" };
  return chooseModel({ choice, url, keyEnv: null, env: {}, folder: tempFolder() });
}
