import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { asked, hour, minute, ran, replied, writeLived } from "../helpers/lived.ts";
import { ending, startReview } from "../helpers/review-process.ts";
import {
  aCreate,
  answering,
  configure,
  type Looking,
  looking,
  signals,
  start,
} from "../helpers/reviewing.ts";

const name = "rl-deploy-tunnel";
const live = ({ repository }: Looking) => join(repository, ".claude/skills", name, "SKILL.md");

const files = [{ path: "scripts/up.sh", text: "make tunnel-up\n" }];

/** A desk where something is worth a skill, and how to speak to Knack at it. */
async function desk(settings: object = {}) {
  const at = await looking(
    { reviewer: (_, told) => ({ value: answering([aCreate(told, { files })]) }) },
    { review: "suggest", ...settings },
  );
  const knack = await at.open();
  await signals(knack, await at.lives(knack));
  await knack.close();
  const says = async (...words: string[]) => {
    const run = await knackHere(["review", ...words], {
      ...{ home: at.home, cwd: at.repository, env: { TEST_KEY: "not-a-secret-word" } },
    });
    return { ...run, json: words.includes("--json") ? JSON.parse(run.stdout) : null };
  };
  return { at, says };
}

describe("knack review", () => {
  test("shows what would be sent and what it would cost, and sends nothing", async () => {
    const { at, says } = await desk();
    const alone = await says();
    expect(alone).toMatchObject({ code: 0, stderr: "" });
    expect(alone.stdout).toMatch(/Reviews: suggest/);
    expect(alone.stdout).toMatch(/work: due/);
    expect((await says("--json")).json).toMatchObject({
      mode: "suggest",
      waiting: 0,
      projects: [{ run: true }],
    });
    const dry = await says("--dry-run");
    expect(dry.stdout).toMatch(/No rule to make target/);
    expect(dry.stdout).toMatch(
      /characters to openai\/some-mini \(http:.*\), and cost at most \$0\.\d+\.\nNothing was sent/,
    );
    const { json } = await says("--dry-run", "--json");
    expect(json).toMatchObject({ decision: { run: true }, dossier: { whole: true }, because: null });
    expect(json.usd_at_most).toBeGreaterThan(0);
    expect(json.requests.map(({ prompt }: { prompt: string }) => prompt.includes("No rule to make"))).toEqual(
      [true],
    );
    expect(at.endpoint.asked).toHaveLength(0);
    expect((await at.entries()).filter(({ type }) => /^(?:review|nudge)/.test(type))).toEqual([]);
  });

  test("reviews, shows the inbox and a diff, takes a yes, and a no", async () => {
    const { at, says } = await desk();
    const done = await says("--now");
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).toMatch(/Reviewed .*: it has proposals/);
    const { proposals } = (await says("inbox", "--json")).json;
    expect(proposals).toMatchObject([{ name, status: "waiting", do: "create" }]);
    const { id } = proposals[0];
    expect((await says("inbox")).stdout).toContain(id);
    const diff = await says("diff", id);
    expect(diff.stdout).toMatch(/^\+1\. Run `make tunnel-up`\.$/m);
    expect(diff.stdout).toMatch(/from {2}session/);
    // What a diff has no words for.
    expect(diff.stdout).toMatch(/runs {2}scripts\/up\.sh \(executable\)/);
    expect((await says("diff", id, "--json")).json).toMatchObject({
      ...{ executable: ["scripts/up.sh"], because: null },
    });
    expect(await says("accept", name, "--dry-run")).toMatchObject({ code: 0 });
    expect(existsSync(live(at))).toBe(false);
    expect(await says("reject", id)).toMatchObject({ code: 0 });
    expect((await says("inbox")).stdout).toMatch(/No proposals wait for a decision/);
    expect((await says("inbox", "--all", "--json")).json.proposals).toMatchObject([{ status: "rejected" }]);
    expect(await says("accept", name)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(`no longer waits.*\n.*${id} ${name} \\(rejected\\)`),
    });
    // A person may change their mind.
    const accepted = await says("accept", id, "--json");
    expect(accepted).toMatchObject({ code: 0, json: { done: true, skills: [{ name, reach: "me" }] } });
    expect(existsSync(live(at))).toBe(true);
    expect(readFileSync(join(at.repository, ".git/info/exclude"), "utf8")).toContain(name);
    expect(await says("accept", id)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/already accepted\.\n.*skills undo/),
    });
    expect(await says("reject", id)).toMatchObject({ code: 1, stderr: expect.stringMatching(/skills undo/) });
    expect(await says("diff", id)).toMatchObject({
      ...{ code: 1, stdout: expect.stringMatching(/is already accepted\.\n.*skills undo/) },
    });
    expect(await says("--now")).toMatchObject({ code: 1, stderr: expect.stringMatching(/knack learn/) });
  });

  test("shows what is proposed for a project that is gone, and keeps it elsewhere", async () => {
    const { at, says } = await desk();
    await says("--now");
    rmSync(at.repository, { recursive: true });
    const away = (...words: string[]) => knackHere(["review", ...words], { home: at.home, cwd: at.home });
    const diff = await away("diff", name);
    expect(diff).toMatchObject({ code: 1, stdout: expect.stringMatching(/^\+1\. Run `make tunnel-up`\.$/m) });
    expect(diff.stdout).toMatch(/Cannot be accepted: .*\n.*review accept \w+ --where everywhere/);
    expect(await away("accept", name)).toMatchObject({ code: 1, stderr: expect.stringMatching(/--where/) });
    expect(await away("accept", name, "--where", "everywhere")).toMatchObject({ code: 0 });
    expect(existsSync(join(at.home, ".claude/skills", name, "SKILL.md"))).toBe(true);
  });

  it.each<[string, object, RegExp]>([
    ["no judge is set", { judge: "off" }, /Not reviewed: .*no judge.*\n {2}knack config set judge/],
    ["a key is missing", { "judge.keyEnv": "NO_KEY" }, /NO_KEY is not set.*\n {2}set it, or .*judge\.keyEnv/],
    ["a day's money is spent", { "judge.budgetDay": 0 }, /judge\.budgetDay/],
    ["a day's reviews are done", { "review.perDay": 0 }, /review\.perDay/],
    ["one may cost too little", { "review.budget": 0.01 }, /review\.budget.*\n.*config set review\.budget/],
    ["a call may", { "judge.budgetCall": 0.01 }, /judge\.budgetCall.*\n.*config set judge\.budgetCall/],
    ["nothing is learned", { learn: false }, /learning is off.*\n.*config set learn true/],
  ])("says what to do where %s", async (_, settings, says_) => {
    const { at, says } = await desk();
    configure(at.env.KNACK_HOME ?? "", at.endpoint.url, settings);
    expect(await says("--now")).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(says_) });
  });

  it.each<[string[], RegExp]>([
    [["mailbox"], /Unknown subcommand/],
    [["accept"], /takes the id of a proposal/],
    [["diff", "nothing"], /No proposal is called/],
    [["inbox", "x"], /takes no arguments/],
    [["--now", "--project", "nowhere"], /No project matches/],
    [["--project", "nowhere"], /No project matches/],
    [["inbox", "--project", "nowhere"], /No project matches/],
  ])("refuses %j with a next step", async (words, because) => {
    const { says } = await desk();
    expect(await says(...words)).toMatchObject({ code: 2, stderr: expect.stringMatching(because) });
  });

  test("does nothing where Knack is off", async () => {
    const { at } = await desk();
    const off = (...words: string[]) =>
      knackHere(["review", ...words], {
        ...{ home: at.home, cwd: at.repository, env: { TEST_KEY: "not-a-secret-word", KNACK_DISABLE: "1" } },
      });
    for (const words of [["--now"], ["accept", name]])
      expect(await off(...words)).toMatchObject({ code: 1, stderr: expect.stringMatching(/Knack is off/) });
    expect(at.endpoint.asked).toHaveLength(0);
  });

  test("says why the model that is named cannot be asked", async () => {
    const { at, says } = await desk();
    configure(at.env.KNACK_HOME ?? "", at.endpoint.url, { review: "suggest", "judge.keyEnv": "NO_SUCH_KEY" });
    expect((await says("--dry-run")).stdout).toMatch(/Still missing: NO_SUCH_KEY/);
  });

  test("shows a person everything that is put before the model, word for word", async () => {
    const { at, says } = await desk();
    const knack = await at.open();
    const long = (word: string) => `${`${word} `.repeat(90)}end-of-${word}`;
    const steps = Array.from({ length: 900 }, (_, n) =>
      n % 30 === 0 ? asked(long(`prompt-${n}`)) : ran(`step-${n}`, long("out")),
    );
    await at.lives(knack, "long", [...steps, replied(long("answer"))]);
    await knack.close();
    const { dossier, requests } = (await says("--dry-run", "--json")).json;
    expect([dossier.whole, dossier.omitted.length > 0, requests.length]).toEqual([false, true, 1]);
    const lines = new Set((await says("--dry-run")).stdout.split("\n").map((line) => line.trim()));
    const [{ system, prompt }] = requests as [{ system: string; prompt: string }];
    const missing = `${system}\n${prompt}`.split("\n").filter((line) => !lines.has(line.trim()));
    // The mark around the data is drawn anew for each request.
    expect(missing.filter((line) => !/\b[0-9a-f]{8,}\b/.test(line))).toEqual([]);
  });

  test.each([
    ["claude", /model {4}claude\/haiku$/m],
    ["off", /model {4}a judge, once one is set$/m],
  ])("names the model of the judge %s", async (judge, line) => {
    const { at, says } = await desk();
    configure(at.env.KNACK_HOME ?? "", at.endpoint.url, { judge });
    expect((await says()).stdout).toMatch(line);
  });

  test("names the model that is asked, and where", async () => {
    const { at, says } = await desk();
    configure(at.env.KNACK_HOME ?? "", at.endpoint.url, { review: "suggest" });
    const { stdout } = await says();
    expect(stdout).toMatch(/ {2}model {4}openai\/some-mini \(http:\/\/127/);
    expect((await says("--json")).json).toMatchObject({
      ...{ model: "openai/some-mini", to: expect.stringContaining("127.0.0.1"), unset: null },
    });
  });

  test("shows one project alone", async () => {
    const { at, says } = await desk();
    const knack = await at.open();
    const steps = [asked("Tidy up"), replied("Done.")];
    const lived = { name: "other", cwd: join(at.home, "other"), at: start, pace: minute, steps };
    await knack.learn(writeLived(at.home, [lived]));
    const shown = async (project: string) => [
      (await says("--project", project, "--json")).json.projects.map((one: { name: string }) => one.name),
      (await says("inbox", "--all", "--project", project, "--json")).json.proposals.length,
    ];
    expect((await says("--json")).json.projects).toHaveLength(2);
    expect(await shown("work")).toEqual([["work"], 0]);
    await says("--now");
    expect(await shown("work")).toEqual([[], 1]);
    expect(await shown("other")).toEqual([["other"], 0]);
    expect((await says("--project", "work")).stdout).toMatch(/nothing new in that project/);
  });

  test("says that a signal points to what was looked at before", async () => {
    const { at, says } = await desk();
    const knack = await at.open();
    await knack.review();
    at.clock.pass(hour);
    await signals(knack, await at.lives(knack), { nameHint: "rl-make-help" });
    expect((await says()).stdout).toMatch(/it would look at what a signal points to in 1 session$/m);
    expect((await says("--dry-run")).stdout).toMatch(/look at what a signal points to in 1 session\./);
    const status = await knackHere(["status"], { home: at.home, cwd: at.repository });
    expect(status.stdout).toMatch(/it would look at what a signal points to in 1 session,/);
    const { stdout, stderr } = await says("--now");
    expect(stdout + stderr).toMatch(/^Reviewed what a signal points to in 1 session /);
  });

  test("says that one began and has not ended", async () => {
    const { at, says } = await desk();
    await ending(startReview({ env: at.env, now: at.clock.now(), until: "review.begun" }));
    expect((await says()).stdout).toMatch(/ {2}begun {4}one has not finished yet, since 2026-11-02/);
  });

  test("reviews when asked, though reviews are off", async () => {
    const { at, says } = await desk();
    configure(at.env.KNACK_HOME ?? "", at.endpoint.url, { review: "off" });
    expect((await says()).stdout).toMatch(/Reviews: off .*config set review suggest/);
    expect((await says("--dry-run")).stdout).toMatch(/A review is not due: reviews are off/);
    expect((await says("--now", "--dry-run")).stdout).toMatch(/A review is due \(asked\)/);
    expect(at.endpoint.asked).toHaveLength(0);
    expect((await says("--now", "--json")).json).toMatchObject({
      ended: { outcome: "proposed" },
      proposals: [{ status: "waiting" }],
    });
  });
});
