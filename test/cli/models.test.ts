import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { describeNoReply } from "../../src/cli/screen/lesson.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { anEndpoint } from "../helpers/endpoint.ts";
import { knackHere } from "../helpers/here.ts";
import { answering, keepingAll, recordIn } from "../helpers/judging.ts";
import { cli, knack, root } from "../helpers/knack.ts";
import { tempFolder } from "../helpers/temp.ts";

const sessions = join(root, "examples/sessions/claude-code/harbor-api");
const [first, second] = ["generated", "database"].map((word) =>
  join(sessions, readdirSync(sessions).find((name) => name.includes(word)) ?? ""),
) as [string, string];

/** A home in which a model on this machine is to judge. */
function homeWith(url: string): string {
  const home = tempFolder();
  mkdirSync(join(home, ".knack"));
  const settings = {
    observer: "model",
    model: "openai/local",
    "model.url": url,
    "model.inputUsd": 1,
    "model.outputUsd": 1,
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
      return { value: keepingAll(prompt) };
    });
    const home = homeWith(endpoint.url);
    const env = { PATH: process.env.PATH, HOME: home, KNACK_HOME: join(home, ".knack") };
    const child = spawn(process.execPath, [cli, "learn", first, second], { env, stdio: "ignore" });
    victim = child;
    expect(await new Promise((done) => child.on("close", (_, signal) => done(signal)))).toBe("SIGKILL");
    expect(await countsIn(home)).toMatchObject({ "model.asked": 2, "model.called": 1, "session.judged": 1 });
    victim = null;
    const { code, stdout } = await knack(["learn", first, second, "--json"], { home });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).judged).toMatchObject({ sessions: 1, fellBack: [] });
    expect(endpoint.asked).toHaveLength(3);
    expect(endpoint.asked[2]?.prompt).toBe(endpoint.asked[1]?.prompt);
    expect(await countsIn(home)).toMatchObject({ "model.asked": 3, "model.called": 2, "session.judged": 2 });
    // No word of it beyond what is shown: status and doctor say who judges, and what that came to.
    const status = JSON.parse((await knack(["status", "--json"], { home })).stdout);
    expect(status.observer).toMatchObject({
      observer: "model",
      model: "openai/local",
      unset: null,
      spent: { calls: 3 },
    });
    expect(status.week.cost.model).toBeGreaterThan(0);
    const doctor = JSON.parse((await knack(["doctor", "--json"], { home })).stdout);
    const model = doctor.checks.find(({ name }: { name: string }) => name === "model");
    expect(model).toMatchObject({
      ok: true,
      says: expect.stringContaining(`openai/local (${endpoint.url}/chat/completions)`),
    });
  });

  test("writes requests to files and takes answers from files, and remembers what was dropped", async () => {
    const home = tempFolder();
    const folder = join(home, "asked");
    const dumped = await knackHere(["learn", first, "--model-dump", folder, "--dry-run"], { home });
    expect(dumped.stdout).toContain(
      "No model judged 1 session, so the rules' result stands: the request was written to a file.\n",
    );
    expect(dumped.stdout).toContain("\nNothing else was written (--dry-run).\n");
    expect(dumped.stdout).toContain(
      `\nWrote 1 request to ${folder}. Put the answers beside them as <id>.answer.json, then:\n  knack learn ${first} --model-answers ${folder}\n`,
    );
    const early = await knackHere(["learn", first, "--model-answers", folder, "--dry-run"], { home });
    expect(early.stdout).toContain("stands: there is no answer in the folder.\n");
    const [name] = readdirSync(folder) as [string];
    const { candidates } = recordIn(readFileSync(join(folder, name), "utf8"));
    const verdicts = candidates.map(({ id }) => ({ id, keep: false, because: "only for that day" }));
    writeFileSync(
      join(folder, name.replace("request.md", "answer.json")),
      JSON.stringify(answering(verdicts)),
    );
    const told = await knackHere(["learn", first, "--model-answers", folder, "--dry-run"], { home });
    expect(told.stdout).toContain(`Judged by answers in files: 0 kept, ${candidates.length} dropped`);
    const answered = await knackHere(["learn", first, "--model-answers", folder, "--json"], { home });
    expect(JSON.parse(answered.stdout)).toMatchObject({
      findings: [],
      judged: {
        kept: 0,
        own: 0,
        fellBack: [],
        dropped: candidates.map(({ kind }) => ({ kind, because: "only for that day" })),
      },
    });
    const { stdout } = await knackHere(["lessons", "--dropped", "--json"], { home });
    expect(JSON.parse(stdout).dropped).toHaveLength(candidates.length);
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
      return checks.filter(({ name }) => name === "model").map((one) => `${one.ok} ${one.says}`);
    };
    expect(await says({})).toEqual(["true none: rules alone judge sessions"]);
    expect(await says({ KNACK_OBSERVER: "model" })).toEqual([
      "false no model is set, so rules alone judge sessions",
    ]);
    expect(await says({ KNACK_OBSERVER: "oracle" })).toEqual(['false There is no observer "oracle".']);
    expect(existsSync(join(home, ".knack"))).toBe(false);
    const files = await knackHere(["config", "set", "model", "replay"], { home });
    expect(files).toMatchObject({ code: 2, stderr: expect.stringContaining("knack learn --model-dump") });
  });

  it.each([
    ["unset: no model is set", "no model is set"],
    ["overloaded: 503 Service Unavailable", "the model is overloaded or failing: 503 Service Unavailable"],
    ["refused: 401 Unauthorized", "the model refused: 401 Unauthorized"],
    ["not-asked: there is no q1abc.answer.json", "there is no answer in the folder"],
    ["something else: as it was", "something else: as it was"],
  ])("says why there was no judgement: %s", (because, said) => expect(describeNoReply(because)).toBe(said));

  test("by an unknown observer, or with a key for a name, is refused with the next step", async () => {
    const home = tempFolder();
    const unknown = await knack(["learn", first, "--observer", "oracle"], { home });
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("Known: heuristic, model") });
    const key = ["sk", "ant", "api03", "x".repeat(24)].join("-");
    const pasted = await knack(["config", "set", "model.keyEnv", key], { home });
    expect(pasted).toMatchObject({ code: 2, stderr: expect.stringContaining("not the key itself") });
    expect(pasted.stderr).not.toContain(key);
  });
});
