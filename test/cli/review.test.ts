import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { aCreate, answering, configure, type Looking, looking, signals } from "../helpers/reviewing.ts";

const name = "rl-deploy-tunnel";
const live = ({ repository }: Looking) => join(repository, ".claude/skills", name, "SKILL.md");

/** A desk where something is worth a skill, and how to speak to Knack at it. */
async function desk(settings: object = {}) {
  const at = await looking(
    { reviewer: (_, told) => ({ value: answering([aCreate(told)]) }) },
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
    expect(dry.stdout).toMatch(/openai\/some-mini, and cost 0\.\d+ USD at the most\.\nNothing was sent/);
    const { json } = await says("--dry-run", "--json");
    expect(json).toMatchObject({ decision: { run: true }, dossier: { whole: true }, because: null });
    expect(json.usdAtMost).toBeGreaterThan(0);
    expect(json.requests.map(({ prompt }: { prompt: string }) => prompt.includes("No rule to make"))).toEqual(
      [true, true],
    );
    expect(at.endpoint.asked).toHaveLength(0);
    expect((await at.entries()).filter(({ type }) => /^(?:review|nudge)/.test(type))).toEqual([]);
  });

  test("reviews, shows the inbox and a diff, takes a yes, and a no", async () => {
    const { at, says } = await desk();
    const done = await says("--now");
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).toMatch(/Reviewed .*: something to look at/);
    const { proposals } = (await says("inbox", "--json")).json;
    expect(proposals).toMatchObject([{ name, status: "waiting", do: "create" }]);
    const { id } = proposals[0];
    expect((await says("inbox")).stdout).toContain(id);
    const diff = await says("diff", id);
    expect(diff.stdout).toMatch(/^\+1\. Run `make tunnel-up`\.$/m);
    expect(diff.stdout).toMatch(/from {2}session/);
    expect(await says("accept", name, "--dry-run")).toMatchObject({ code: 0 });
    expect(existsSync(live(at))).toBe(false);
    expect(await says("reject", id)).toMatchObject({ code: 0 });
    expect((await says("inbox")).stdout).toMatch(/Nothing waits for you/);
    expect((await says("inbox", "--all", "--json")).json.proposals).toMatchObject([{ status: "rejected" }]);
    // A person may change their mind.
    const accepted = await says("accept", id, "--json");
    expect(accepted).toMatchObject({ code: 0, json: { done: true, skills: [{ name, reach: "me" }] } });
    expect(readFileSync(live(at), "utf8")).toContain("author: ");
    expect(readFileSync(join(at.repository, ".git/info/exclude"), "utf8")).toContain(name);
    expect(await says("accept", id)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/already\.\n.*skills undo/),
    });
    expect(await says("reject", id)).toMatchObject({ code: 1, stderr: expect.stringMatching(/skills undo/) });
    expect(await says("--now")).toMatchObject({ code: 1, stderr: expect.stringMatching(/knack learn/) });
  });

  test("shows what is proposed for a project that is gone, and keeps it elsewhere", async () => {
    const { at, says } = await desk();
    await says("--now");
    rmSync(at.repository, { recursive: true });
    const away = (...words: string[]) => knackHere(["review", ...words], { home: at.home, cwd: at.home });
    const diff = await away("diff", name);
    expect(diff).toMatchObject({ code: 1, stdout: expect.stringMatching(/^\+1\. Run `make tunnel-up`\.$/m) });
    expect(diff.stdout).toMatch(/cannot be accepted: .*\n.*review accept \w+ --where everywhere/);
    expect(await away("accept", name)).toMatchObject({ code: 1, stderr: expect.stringMatching(/--where/) });
    expect(await away("accept", name, "--where", "everywhere")).toMatchObject({ code: 0 });
    expect(existsSync(join(at.home, ".claude/skills", name, "SKILL.md"))).toBe(true);
  });

  it.each<[string, object, RegExp]>([
    ["no model is set", { model: "off" }, /Not reviewed: .*no model.*\n {2}knack config set model/],
    ["a day's money is spent", { "model.budgetDay": 0 }, /model\.budgetDay/],
    ["a day's reviews are done", { "review.perDay": 0 }, /review\.perDay/],
    ["one may cost too little", { "review.budget": 0.01 }, /review\.budget.*\n.*config set review\.budget/],
    ["a call may", { "model.budgetCall": 0.01 }, /model\.budgetCall.*\n.*config set model\.budgetCall/],
    ["nothing is learned", { learn: false }, /learning is off.*\n.*config set learn true/],
  ])("says what to do where %s", async (_, settings, says_) => {
    const { at, says } = await desk();
    configure(at.env.KNACK_HOME ?? "", at.endpoint.url, settings);
    expect(await says("--now")).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(says_) });
  });

  it.each<[string[], RegExp]>([
    [["mailbox"], /has no "mailbox"/],
    [["accept"], /takes the id of a proposal/],
    [["diff", "nothing"], /Nothing that was proposed is called/],
    [["inbox", "x"], /takes no "x"/],
    [["inbox", "--now"], /together with --now/],
    [["--now", "--project", "nowhere"], /no project that Knack knows/],
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
    configure(at.env.KNACK_HOME ?? "", at.endpoint.url, { review: "suggest", "model.keyEnv": "NO_SUCH_KEY" });
    expect((await says("--dry-run")).stdout).toMatch(/some-mini cannot be asked yet: .*NO_SUCH_KEY/);
  });

  test("reviews when asked, though reviews are off", async () => {
    const { at, says } = await desk();
    configure(at.env.KNACK_HOME ?? "", at.endpoint.url, { review: "off" });
    expect((await says()).stdout).toMatch(/Reviews: off .*config set review suggest/);
    expect((await says("--now", "--json")).json).toMatchObject({
      ended: { outcome: "proposed" },
      proposals: [{ status: "waiting" }],
    });
  });
});
