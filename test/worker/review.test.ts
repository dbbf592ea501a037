import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeNote } from "../../src/spool/spool.ts";
import { knackHere } from "../helpers/here.ts";
import { hook, payloads, processesOf, said } from "../helpers/hook.ts";
import { hour, minute, writeLived } from "../helpers/lived.ts";
import { aCreate, answering, looking, staleTunnel, start } from "../helpers/reviewing.ts";

/** A desk where a session has just ended, and a worker that handles what its hook left. */
async function ended(settings: object) {
  const at = await looking({ reviewer: (_, told) => ({ value: answering([aCreate(told)]) }) }, settings);
  const { home, repository, env } = at;
  const lived = { name: "first", cwd: repository, at: start - 3 * hour, pace: minute, steps: staleTunnel };
  const [transcript = ""] = writeLived(home, [lived]);
  const note = {
    type: "place",
    session: "first",
    transcript,
    cwd: repository,
    event: "Stop",
    at: start,
  } as const;
  const works = async () => {
    writeNote(join(env.KNACK_HOME ?? "", "spool"), note);
    const run = await knackHere(["work", "--json"], { home, env: { TEST_KEY: "not-a-secret-word" } });
    return { ...run, worked: JSON.parse(run.stdout) };
  };
  // The same model is the judge of sessions; that is another question.
  const reviews = () => at.endpoint.asked.filter(({ prompt }) => !prompt.includes("known_lessons")).length;
  return { at, works, reviews, knack: at.open };
}

describe("a worker", () => {
  test("reviews what the sessions it has read say is due, once, and ends", async () => {
    const { at, works, reviews, knack: open } = await ended({ review: "auto" });
    const place = { home: at.home, project: at.repository, knackHome: at.env.KNACK_HOME ?? "" };
    const begins = async (session: string) => said(await hook(payloads(place, session).start(), at));
    await begins("a");
    expect(await works()).toMatchObject({ code: 0, stderr: "", worked: { sessions: 1, reviews: 1 } });
    expect(reviews()).toBe(1);
    const draft = join(at.env.KNACK_HOME ?? "", "drafts/rl-deploy-tunnel/SKILL.md");
    expect(existsSync(draft)).toBe(true);
    const opened = await open();
    expect(await opened.proposals()).toMatchObject([{ status: "published" }]);
    // The snapshot that the next session's hooks look into knows of it.
    expect(await opened.snapshot()).toMatchObject({ found: "snapshot", stale: null });
    expect((await begins("b"))?.systemMessage).toContain("Learned skill: rl-deploy-tunnel");
    expect((await begins("c"))?.systemMessage ?? "").not.toContain("Learned skill");
    expect((await works()).worked).toMatchObject({ reviews: 0 });
    expect([reviews(), processesOf(at.home)]).toEqual([1, []]);
  });

  test("asks nobody where reviews are off, and notes what could have been learned all the same", async () => {
    const { at, works, reviews } = await ended({ review: "off" });
    expect((await works()).worked).toMatchObject({ sessions: 1, reviews: 0 });
    const types = (await at.entries()).map(({ type }) => type);
    expect([reviews(), types.includes("signal.given")]).toEqual([0, true]);
    expect(types.some((type) => /^review/.test(type))).toBe(false);
    // Why there was none is noted, with what it would have looked at.
    expect((await at.entries()).filter(({ type }) => type === "nudge.decided")).toMatchObject([
      { data: { run: false, because: "off", window: { stretches: [{ from: 1 }] } } },
    ]);
  });
});
