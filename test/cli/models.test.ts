import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { describeNoReply } from "../../src/cli/screen/lesson.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { type Act, anEndpoint } from "../helpers/endpoint.ts";
import { knackHere } from "../helpers/here.ts";
import { asksAboutSession, changingNothing, keepingNothing, recordIn } from "../helpers/judging.ts";
import { cli, root } from "../helpers/knack.ts";
import { tempFolder } from "../helpers/temp.ts";

const sessions = join(root, "examples/sessions/claude-code/harbor-api");
const [first, second] = ["generated", "database"].map((word) =>
  join(sessions, readdirSync(sessions).find((name) => name.includes(word)) ?? ""),
) as [string, string];

/** A home in which a model on this machine is to judge. */
function homeWith(url: string, more: object = {}): string {
  const home = tempFolder();
  mkdirSync(join(home, ".knack"));
  const settings = {
    judge: "openai/local",
    "judge.url": url,
    "judge.inputUsd": 1,
    "judge.outputUsd": 1,
    ...more,
  };
  writeFileSync(join(home, ".knack/config.json"), JSON.stringify(settings));
  return home;
}

async function countsIn(home: string): Promise<Record<string, number>> {
  const store = await openSqlite({ path: join(home, ".knack/knack.db"), clock: { now: Date.now } });
  try {
    const counts: Record<string, number> = {};
    for (const { type } of await store.ledger.all()) counts[type] = (counts[type] ?? 0) + 1;
    return counts;
  } finally {
    await store.close();
  }
}

describe("knack learn with a model", () => {
  test("killed while a model is asked goes on with what was not judged, and counts each call once", async () => {
    let victim: { kill(signal: "SIGKILL"): boolean } | null = null;
    const endpoint = await anEndpoint(({ prompt }, number) => {
      if (number === 2 && victim?.kill("SIGKILL")) return "silence";
      return { value: changingNothing(prompt) };
    });
    const home = homeWith(endpoint.url);
    const env = { PATH: process.env.PATH, HOME: home, KNACK_HOME: join(home, ".knack") };
    const child = spawn(process.execPath, [cli, "learn", first, second], { env, stdio: "ignore" });
    victim = child;
    expect(await new Promise((done) => child.on("close", (_, signal) => done(signal)))).toBe("SIGKILL");
    expect(await countsIn(home)).toMatchObject({ "model.asked": 2, "model.called": 1, "session.judged": 1 });
    victim = null;
    const { code, stdout } = await knackHere(["learn", first, second, "--json"], { home });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      judged: { sessions: 1 },
      unjudged: { sessions: 0, because: null },
    });
    expect(endpoint.asked).toHaveLength(3);
    // The lessons of the project are others by now; the session is the same.
    const [, interrupted, resumed] = endpoint.asked.map(({ prompt }) => recordIn(prompt).events);
    expect(resumed).toEqual(interrupted);
    expect(await countsIn(home)).toMatchObject({ "model.asked": 3, "model.called": 2, "session.judged": 2 });
    // No word of it beyond what is shown: status and doctor say who judges, and what that came to.
    const status = JSON.parse((await knackHere(["status", "--json"], { home })).stdout);
    expect(status.judge).toMatchObject({
      judge: "openai/local",
      is_on: true,
      unset: null,
      spent: { calls: 3 },
    });
    expect(status.week.cost.model).toBeGreaterThan(0);
    const doctor = JSON.parse((await knackHere(["doctor", "--json"], { home })).stdout);
    const model = doctor.checks.find(({ name }: { name: string }) => name === "judge");
    expect(model).toMatchObject({
      ok: true,
      says: expect.stringMatching(
        /^openai\/local, 3 requests, \$0\.\d+ of \$0\.50 in the last 24 hours \(http:.*\/chat\/completions\)$/,
      ),
    });
  });

  test.each<[string, Act, object, boolean, RegExp]>([
    [
      "a wrong key",
      { status: 401 },
      {},
      false,
      /^openai\/local has failed since \d{4}-\d\d-\d\d \d\d:\d\d: the model refused: 401 .*; what rules found stands: check the key and the model's name$/,
    ],
    [
      "a time-out",
      "silence",
      { "judge.timeoutMs": 1_000 },
      true,
      /^openai\/local has failed since .*: no answer in 1000 ms; .*: try again, or knack config set judge\.timeoutMs <milliseconds>$/,
    ],
    [
      "nonsense",
      { text: "I like all of them." },
      {},
      true,
      /^openai\/local has failed since .*: the answer does not have .* form; .*: use another model: knack config set judge openai\/<model>$/,
    ],
    [
      "a spent budget",
      "silence",
      { "judge.budgetDay": 0 },
      true,
      /^openai\/local, not asked in the last 24 hours: the budget is spent: .*knack config set judge\.budgetDay <US dollars>$/,
    ],
  ])(
    "says in status and doctor what %s came to, and what rules found stands",
    async (_, act, more, ok, says) => {
      const { url } = await anEndpoint(() => act);
      const home = homeWith(url, more);
      const { code, stdout } = await knackHere(["learn", first, "--json"], { home });
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ judged: { sessions: 0 }, unjudged: { sessions: 1 } });
      const rules = await knackHere(["learn", first, "--json", "--dry-run", "--judge", "off"], {
        home: tempFolder(),
      });
      const lessons = (text: string) =>
        JSON.parse(text).findings.map(({ lesson }: { lesson: string }) => lesson);
      expect(lessons(stdout)).toEqual(lessons(rules.stdout));
      const line = (await knackHere(["status"], { home })).stdout
        .split("\n")
        .find((one) => one.startsWith("judge "));
      expect(line?.slice("judge".length).trim()).toMatch(says);
      const doctor = JSON.parse((await knackHere(["doctor", "--json"], { home })).stdout);
      const check = doctor.checks.find(({ name }: { name: string }) => name === "judge");
      expect(check).toMatchObject({ ok, repair: expect.any(String) });
    },
  );

  test("off is said in status, and turned on for one run by a word", async () => {
    const endpoint = await anEndpoint(({ prompt }) => ({ value: changingNothing(prompt) }));
    const home = homeWith(endpoint.url, { judge: "off" });
    await knackHere(["learn", first], { home });
    expect(endpoint.asked).toHaveLength(0);
    expect((await knackHere(["status"], { home })).stdout).toContain(
      "\njudge    off: 1 session may hold more lessons, which a judge finds: `knack learn --judge claude`, or /knack:learn in the agent\n",
    );
    expect(JSON.parse((await knackHere(["status", "--json"], { home })).stdout)).toMatchObject({
      judge: { judge: "off", is_on: false },
      unjudged: { sessions: 1 },
    });
    await knackHere(["learn", second, "--judge", "openai/local"], { home });
    expect(endpoint.asked.filter(({ prompt }) => asksAboutSession(prompt))).toHaveLength(1);
    expect((await knackHere(["config", "get", "judge"], { home })).stdout).toBe("off\n");
  });

  test("writes requests to files and takes answers from files, and remembers what was dropped", async () => {
    const home = tempFolder();
    const folder = join(home, "asked");
    const dumped = await knackHere(["learn", first, "--model-dump", folder, "--dry-run"], { home });
    expect(dumped.stdout).toMatch(/^\d+ leads? in 1 session to judge, by files: no model is asked/);
    expect(dumped.stdout).toContain(
      "1 session not judged: the request was written to a file. The rules' result stands for now.\n",
    );
    expect(dumped.stdout).toContain(
      `\nWrote 1 request to ${folder}. Put the answers beside them as <id>.answer.json, then:\n  knack learn ${first} --model-answers ${folder}\n`,
    );
    const early = await knackHere(["learn", first, "--model-answers", folder, "--dry-run"], { home });
    expect(early.stdout).toContain("1 session not judged: there is no answer in the folder.");
    const [name] = readdirSync(folder) as [string];
    const nothing = keepingNothing(readFileSync(join(folder, name), "utf8"));
    const { length } = nothing.aside;
    writeFileSync(join(folder, name.replace("request.md", "answer.json")), JSON.stringify(nothing));
    const told = await knackHere(["learn", first, "--model-answers", folder, "--dry-run"], { home });
    expect(told.stdout).toContain(`Judged 1 session by answers in files: 0 lessons, ${length} left aside`);
    const answered = await knackHere(["learn", first, "--model-answers", folder, "--json"], { home });
    expect(JSON.parse(answered.stdout)).toMatchObject({
      judged: {
        sessions: 1,
        models: ["replay"],
        lessons: 0,
        aside: Array(length).fill({ because: "only this task" }),
      },
      unjudged: { sessions: 0, because: null },
    });
    const { stdout } = await knackHere(["lessons", "--dropped", "--json"], { home });
    expect(JSON.parse(stdout).aside).toHaveLength(length);
    const again = ["learn", first, "--model-dump", folder];
    expect((await knackHere(again, { home })).stdout).toContain("No requests to write: ");
    const wire = JSON.parse((await knackHere([...again, "--json"], { home })).stdout);
    expect(wire.requests).toEqual({ folder, written: 0 });
  });

  test("is in what the doctor says also before anything is kept, and files are no setting", async () => {
    const home = tempFolder();
    const says = async (env: Record<string, string>) => {
      const { stdout } = await knackHere(["doctor", "--json"], { home, env });
      const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; says: string }[] };
      return checks.filter(({ name }) => name === "judge").map((one) => `${one.ok} ${one.says}`);
    };
    expect(await says({})).toEqual(["true off: rules alone keep what is certain"]);
    expect(await says({ KNACK_JUDGE: "claude", PATH: "/nowhere" })).toEqual([
      "false claude/haiku cannot be asked: claude is not on the PATH",
    ]);
    expect(await says({ KNACK_JUDGE: "oracle" })).toEqual(['false There is no judge "oracle".']);
    expect(existsSync(join(home, ".knack"))).toBe(false);
    const files = await knackHere(["config", "set", "judge", "replay"], { home });
    expect(files).toMatchObject({ code: 2, stderr: expect.stringContaining("knack learn --model-dump") });
  });

  it.each([
    ["unset: no judge is set", "no judge is set"],
    ["overloaded: 503 Service Unavailable", "the model is overloaded or failing: 503 Service Unavailable"],
    ["refused: 401 Unauthorized", "the model refused: 401 Unauthorized"],
    ["not-asked: there is no q1abc.answer.json", "there is no answer in the folder"],
    ["something else: as it was", "something else: as it was"],
  ])("says why there was no judgement: %s", (because, said) => expect(describeNoReply(because)).toBe(said));

  test("by an unknown judge, or with a key for a name, is refused with the next step", async () => {
    const home = tempFolder();
    const unknown = await knackHere(["learn", first, "--judge", "oracle"], { home });
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("Use off, claude, codex") });
    const key = ["sk", "ant", "api03", "x".repeat(24)].join("-");
    const pasted = await knackHere(["config", "set", "judge.keyEnv", key], { home });
    expect(pasted).toMatchObject({ code: 2, stderr: expect.stringContaining("not the key itself") });
    expect(pasted.stderr).not.toContain(key);
  });
});
