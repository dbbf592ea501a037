import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { type Knack, type KnackOptions, openKnack } from "../../src/open.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { claudeLines } from "../helpers/claude.ts";
import { type Act, anEndpoint, type Endpoint, type Question } from "../helpers/endpoint.ts";
import { asksAboutSession, changingNothing, keepingNothing, recordIn } from "../helpers/judging.ts";
import { tempFolder } from "../helpers/temp.ts";
import { secrets } from "../trust/secrets.ts";

const start = Date.UTC(2026, 10, 2);
const minute = 60_000;

/** A person's machine with a model of their choice. */
interface Desk {
  readonly home: string;
  readonly env: Record<string, string>;
  readonly clock: { now(): number; pass(ms: number): void };
  /** Writes a session in which tests failed and then worked, and a person set a rule; answers with its file. */
  session(name: string, more?: readonly string[]): string;
  open(options?: KnackOptions): Promise<Knack>;
  entries(): Promise<LedgerEntry[]>;
}

function desk(settings: object = {}, env: Record<string, string> = {}): Desk {
  const home = tempFolder();
  const around = { HOME: home, KNACK_HOME: join(home, ".knack"), PATH: "/nowhere", ...env };
  mkdirSync(around.KNACK_HOME);
  writeFileSync(join(around.KNACK_HOME, "config.json"), JSON.stringify(settings));
  let now = start;
  const clock = {
    now: () => now++,
    pass: (ms: number) => {
      now += ms;
    },
  };
  return {
    home,
    env: around,
    clock,
    session: (name, more = []) => {
      const path = join(home, "sessions", `${name}.jsonl`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, told(name, more));
      return path;
    },
    open: async (options = {}) => {
      const knack = await openKnack({ env: around, clock, ...options });
      onTestFinished(() => knack.close());
      return knack;
    },
    entries: async () => {
      const store = await openSqlite({ path: join(around.KNACK_HOME, "knack.db"), clock });
      try {
        return await store.ledger.all();
      } finally {
        await store.close();
      }
    },
  };
}

/** A session's lines; what is said more comes at the end, one prompt each. */
function told(name: string, more: readonly string[]): string {
  const { user, says, runs, result } = claudeLines(`5f0c1a52-0000-4000-8000-${name.padStart(12, "0")}`);
  const failed = (id: string, text: string) => result(id, text, { error: true });
  const lines = [
    user(`Run the tests, this is session ${name}`),
    says("Running them."),
    runs("t1", "npm test"),
    failed("t1", "Exit code 1\nError: DATABASE_URL is not set; copy .env.test to .env"),
    runs("t2", "cp .env.test .env && npm test"),
    result("t2", "12 passed"),
    user("No, never edit generated/schema.ts by hand; change schema/harbor.json and run `npm run codegen`"),
    says("You're right, I will change schema/harbor.json and run codegen."),
    runs("t3", "npm run codegen"),
    result("t3", "written"),
    runs("t4", "npm test"),
    result("t4", "12 passed"),
    runs("t5", "git status --short"),
    result("t5", " M schema/harbor.json"),
    says("Done."),
    ...more.flatMap((text, n) => [
      user(text),
      says("Understood."),
      runs(`m${n}`, `echo ${n}`),
      result(`m${n}`, `${n}`),
    ]),
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

const providers = {
  anthropic: { model: "anthropic/claude-haiku-4-5", keyEnv: "TEST_KEY" },
  openai: { model: "openai/some-mini", keyEnv: "TEST_KEY" },
};

async function deskWith(
  act: (question: Question, number: number) => Act,
  provider: keyof typeof providers = "openai",
  more: object = {},
): Promise<{ at: Desk; endpoint: Endpoint }> {
  const endpoint = await anEndpoint(act);
  const { model, keyEnv } = providers[provider];
  const at = desk(
    {
      judge: model,
      "judge.url": endpoint.url,
      "judge.keyEnv": keyEnv,
      "judge.timeoutMs": 30_000,
      "judge.inputUsd": 1,
      "judge.outputUsd": 5,
      ...more,
    },
    { TEST_KEY: "not-a-secret-word" },
  );
  return { at, endpoint };
}

const strict = ({ prompt }: Question): Act => ({ value: changingNothing(prompt) });

/** Reads sessions and has them judged. */
async function judge(knack: Knack, ...paths: string[]) {
  const { sessions } = await knack.learn(paths);
  const judging = await knack.judgeWaiting({ sessions, evenBusy: true });
  const findings = (await knack.shownFindings(sessions)).map(({ finding }) => finding);
  return { ...judging, findings };
}

/** What rules alone find in the same session. */
async function rulesAlone(path: string) {
  return (await judge(await desk().open({ dryRun: true, blank: true }), path)).findings;
}

const ofType = <Type extends LedgerEntry["type"]>(entries: readonly LedgerEntry[], type: Type) =>
  entries.flatMap((entry) => (entry.type === type ? [entry as Extract<LedgerEntry, { type: Type }>] : []));

describe.each(["anthropic", "openai"] as const)("a judge behind the API of %s", (provider) => {
  test("is asked once, with its key, and paid for once", async () => {
    const { at, endpoint } = await deskWith(strict, provider);
    const path = at.session("1");
    const knack = await at.open();
    expect(await judge(knack, path)).toMatchObject({
      judged: [{ model: providers[provider].model }],
      left: 0,
    });
    const [question] = endpoint.asked as [Question];
    expect([question.key, question.model, question.path]).toEqual(
      provider === "anthropic"
        ? ["not-a-secret-word", "claude-haiku-4-5", "/v1/messages"]
        : ["Bearer not-a-secret-word", "some-mini", "/v1/chat/completions"],
    );
    // Again, nothing is new, so nobody is asked; not after the judge was turned off either.
    await judge(knack, path);
    await judge(await at.open({ judge: "off" }), path);
    expect(endpoint.asked).toHaveLength(1);
    const entries = await at.entries();
    expect(ofType(entries, "model.called").map(({ data }) => data)).toMatchObject([
      { inputTokens: 2_000, outputTokens: 300, usd: 0.0035, ok: true, because: null },
    ]);
    expect(ofType(entries, "model.asked")).toHaveLength(1);
    expect(await knack.judge()).toMatchObject({
      spent: { calls: 1, failed: 0, usd: 0.0035 },
      failingSince: null,
    });
    expect(JSON.stringify(entries)).not.toContain("not-a-secret-word");
  });

  it.each<[string, Act, RegExp]>([
    ["answers garbage", { text: "I think all of them are fine!" }, /^unusable: /],
    ["answers in another form", { value: { verdict: "ok" } }, /^unusable: /],
    ["is busy", { status: 429 }, /^overloaded: 429/],
    ["is broken", { status: 500 }, /^overloaded: 500/],
    ["refuses", { status: 401 }, /^refused: 401/],
    ["keeps silent", "silence", /^time-out: no answer in 1000 ms/],
  ])("that %s leaves what the rules say, and the ledger says why", async (_, act, because) => {
    const patience = act === "silence" ? { "judge.timeoutMs": 1_000 } : {};
    const { at } = await deskWith(() => act, provider, patience);
    const path = at.session("1");
    const knack = await at.open();
    const { findings, judged, left, fellBack } = await judge(knack, path);
    expect(findings).toEqual(await rulesAlone(path));
    expect({ judged, left, fellBack }).toEqual({
      judged: [],
      left: 1,
      fellBack: expect.stringMatching(because),
    });
    const calls = ofType(await at.entries(), "model.called");
    expect(calls.map(({ data }) => data)).toMatchObject([
      { ok: false, because: expect.stringMatching(because) },
    ]);
    // An answer that has come was paid for, of whatever use it is.
    const isPaid = because.test("unusable: ") || because.test("time-out: no answer in 1000 ms");
    expect((calls[0]?.data.usd ?? 0) > 0).toBe(isPaid);
    expect(await knack.judge()).toMatchObject({
      lastFailure: { because: expect.stringMatching(because) },
      failingSince: expect.any(Number),
    });
  });
});

describe("a judge that may not be asked", () => {
  it.each<[string, object, RegExp]>([
    [
      "its key is not there",
      { judge: "anthropic/x", "judge.url": null, "judge.keyEnv": null },
      /^unset: ANTHROPIC_API_KEY is not set/,
    ],
    ["its program is not there", { judge: "claude" }, /^unset: claude is not on the PATH/],
    ["a call could cost too much", { "judge.inputUsd": 1_000 }, /^not-asked: a call could cost/],
    ["the day's money is spent", { "judge.budgetDay": 0.001 }, /^not-asked: \$0\.00 of \$0\.001 for a day/],
  ])("because %s leaves what the rules say, and nothing is sent", async (_, more, because) => {
    const { at, endpoint } = await deskWith(strict, "openai", more);
    const path = at.session("1");
    const { findings, fellBack } = await judge(await at.open(), path);
    expect(findings).toEqual(await rulesAlone(path));
    expect(fellBack).toMatch(because);
    expect(endpoint.asked).toEqual([]);
    expect(ofType(await at.entries(), "model.called")).toEqual([]);
  });

  test("because it is a dry run is not", async () => {
    const { at, endpoint } = await deskWith(strict);
    const { fellBack } = await judge(await at.open({ dryRun: true }), at.session("1"));
    expect(fellBack).toBe("unset: nothing is sent in a dry run");
    expect(endpoint.asked).toEqual([]);
  });

  test("after five failures is asked once an hour, and again as before when that goes well", async () => {
    let works = false;
    const { at, endpoint } = await deskWith((question) => (works ? strict(question) : { status: 503 }));
    const knack = await at.open();
    const reasonFor = async (n: number) => (await judge(knack, at.session(String(n)))).fellBack;
    for (const n of [0, 1, 2, 3, 4]) expect(await reasonFor(n)).toMatch(/^overloaded: 503/);
    expect(await reasonFor(5)).toMatch(/^not-asked: the model failed 5 times in a row; next try in 60 min/);
    expect((await knack.judge()).openUntil).toBeGreaterThan(start);
    at.clock.pass(60 * minute);
    expect(await reasonFor(6)).toMatch(/^overloaded: 503/);
    expect(await reasonFor(7)).toMatch(/^not-asked/);
    works = true;
    at.clock.pass(60 * minute);
    expect(await reasonFor(8)).toBeNull();
    expect(await knack.judge()).toMatchObject({ openUntil: null, failingSince: null });
    expect(endpoint.asked.filter(({ prompt }) => asksAboutSession(prompt))).toHaveLength(7);
  });

  test("by an unknown name is an error that names the known ones", async () => {
    const at = desk({}, { KNACK_JUDGE: "oracle" });
    await expect(judge(await at.open(), at.session("1"))).rejects.toMatchObject({
      code: "WRONG_USAGE",
      hint: expect.stringContaining("off, claude, codex, gemini, opencode, copilot, pi"),
    });
  });
});

describe("which judge is asked", () => {
  it.each<[string, string, string | undefined, string | undefined, string]>([
    ["the setting says", "codex", undefined, undefined, "codex"],
    ["the environment goes before it", "codex", "claude/opus", undefined, "claude/opus"],
    ["the command line before both", "codex", "claude/opus", "off", "off"],
    ["nothing says otherwise: none", "off", undefined, undefined, "off"],
  ])("%s", async (_, setting, KNACK_JUDGE, option, judge) => {
    const at = desk({ judge: setting }, KNACK_JUDGE === undefined ? {} : { KNACK_JUDGE });
    const knack = await at.open(option === undefined ? {} : { judge: option });
    expect(await knack.judge()).toMatchObject({ judge, isOn: judge !== "off" });
  });

  it.each<[string, object, string, string]>([
    ["the chosen provider", { judge: "openai/a" }, "openai/b", "http://127.0.0.1:9/v1/chat/completions"],
    ["any where none is chosen", { judge: "off" }, "openai/b", "http://127.0.0.1:9/v1/chat/completions"],
    ["no other", { judge: "openai/a" }, "anthropic/b", "https://api.anthropic.com/v1/messages"],
  ])("an address is for %s", async (_, settings, judge, to) => {
    const at = desk({ ...settings, "judge.url": "http://127.0.0.1:9/v1" }, { ANTHROPIC_API_KEY: "x" });
    expect((await (await at.open({ judge })).judge()).to).toBe(to);
  });

  it.each<[string, number]>([
    ["claude", 0.013],
    ["codex", 0.00276],
    ["gemini", 0.0207],
    ["opencode", 0.013],
    ["copilot", 0.013],
    ["pi", 0.013],
    ["claude/opus", 0.065],
  ])("%s costs about %d dollars a session, of 0.50 a day", async (judge, usd) => {
    const state = await (await desk({ judge }).open()).judge();
    expect(state.usdPerSession).toBeCloseTo(usd, 5);
    expect(state.budget).toEqual({ usdPerDay: 0.5, usdPerCall: 0.5 });
  });
});

describe("requests as files", () => {
  test("show what would be sent and where, and take answers by name, though the judge is off", async () => {
    const at = desk({ judge: "anthropic/claude-haiku-4-5" });
    const paths = [at.session("1"), at.session("2", ["Always write commit messages in English from now on"])];
    const folder = join(at.home, "requests");
    const dumped = await judge(await at.open({ modelDump: folder }), ...paths);
    expect(dumped).toMatchObject({ left: 2, fellBack: "not-asked: the request was written to a file" });
    const [name, ...others] = readdirSync(folder) as [string, ...string[]];
    expect(others).toHaveLength(1);
    const text = readFileSync(join(folder, name), "utf8");
    expect(text).toContain("- sent to: https://api.anthropic.com/v1/messages");
    expect(text).toContain("claude-haiku-4-5");
    expect(recordIn(text).leads.length).toBeGreaterThan(0);
    const answer = name.replace(".request.md", ".answer.json");
    writeFileSync(join(folder, answer), JSON.stringify(keepingNothing(text)));
    // Both wait for an answer, and one has come.
    const answered = await judge(await at.open({ modelAnswers: folder, judge: "off" }), ...paths);
    expect(answered.fellBack).toMatch(/^not-asked: there is no q\w+\.answer\.json$/);
    expect(answered.judged).toMatchObject([{ model: "replay", lessons: [] }]);
    expect(ofType(await at.entries(), "model.asked")).toEqual([]);
  });

  test("hold no secret, wherever in a session one was", async () => {
    const at = desk();
    const [some, folder] = [12, join(at.home, "requests")];
    const paths = Array.from({ length: Math.ceil(secrets.length / some) }, (_, n) => {
      const own = secrets.slice(n * some, (n + 1) * some);
      const path = at.session(
        String(n),
        own.map(({ text }) => `No, that is wrong, always use this in the project: ${text}`),
      );
      const leaked = JSON.stringify(own.map(({ text }) => text).join("\n\n")).slice(1, -1);
      writeFileSync(path, readFileSync(path, "utf8").replace("copy .env.test to .env", leaked));
      return path;
    });
    const { left, fellBack } = await judge(await at.open({ modelDump: folder }), ...paths);
    expect([left, fellBack]).toEqual([paths.length, "not-asked: the request was written to a file"]);
    const sent = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    expect(sent.length).toBeGreaterThanOrEqual(paths.length);
    const all = sent.join("\n");
    expect(all.split("[redacted:").length).toBeGreaterThan(secrets.length / 2);
    for (const { kind, secret } of secrets) expect(all.includes(secret), kind).toBe(false);
  });
});
