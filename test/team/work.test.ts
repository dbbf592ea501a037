import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openSqlite } from "../../src/store/sqlite.ts";
import { anEndpoint } from "../helpers/endpoint.ts";
import type { Home } from "../helpers/hook.ts";
import { freshDatabase, runSql } from "../helpers/postgres.ts";
import {
  aCure,
  aMember,
  aRule,
  ask,
  joinTeam,
  keepAndShare,
  learned,
  makeTeam,
  repository,
  run,
} from "./members.ts";

/** Two members who share lessons that say the same in other words, and a third who shares nothing. */
async function aTeam() {
  const url = await freshDatabase();
  const [ana, ben, cleo] = [aMember(), aMember(), aMember()];
  await makeTeam(url, ana, "ana");
  await joinTeam(ana, ben, "ben");
  await joinTeam(ana, cleo, "cleo");
  const [first = ""] = await learned(ana, aCure());
  const [second = ""] = await learned(
    ben,
    aCure({
      ...{ name: "python3-here", lesson: "There is only a python3 on these machines.", steps: [] },
      ...{ trigger: "a script asks for the interpreter", action: "call python3 by its full name" },
      ...{ symptom: null, excerpt: { failed: null, error: null, worked: null, said: null, replied: null } },
    }),
  );
  // Whoever has not worked in the repository is offered nothing for it.
  await learned(cleo, aCure({ name: "other", trigger: "the harbor tide table is old", action: "fetch it" }));
  await keepAndShare(ana, first);
  await keepAndShare(ben, second);
  for (const home of [ana, ben]) await ask(home, "team", "sync");
  return { url, ana, ben, cleo };
}

/** Has a home ask an endpoint on this machine. */
function askAt({ knackHome }: Home, url: string, more: Record<string, unknown> = {}): void {
  mkdirSync(knackHome, { recursive: true });
  writeFileSync(
    join(knackHome, "config.json"),
    JSON.stringify({
      judge: "openai/local",
      "judge.url": url,
      "judge.inputUsd": 1,
      "judge.outputUsd": 1,
      ...more,
    }),
  );
}

/** A judge's answer by which the two lessons are one. */
const oneOfTwo = {
  value: {
    ...{ contradictions: [], vetoes: [], verdicts: [] },
    groups: [
      {
        ...{ into: "K1", from: ["K2"], lesson: "python is not installed here; python3 is." },
        ...{ when: "a command calls python", do: "use python3" },
      },
    ],
  },
};

describe("The worker of a team", () => {
  it("has a model compare what is shared once, and others are offered one of two that say the same", async () => {
    const endpoint = await anEndpoint(() => oneOfTwo);
    const { url, ana, ben, cleo } = await aTeam();
    askAt(ana, endpoint.url);
    expect(await run(ben, "worker", "--team")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("its jobs are done by maintainers"),
    });
    expect(await ask(ana, "worker", "--team")).toMatchObject({
      ...{ done: 2, failed: 0, waiting: 0, dead_letters: [] },
    });
    expect(await runSql(url, "select repository, kind from knack.digest order by 1, 2")).toEqual([
      { repository: "", kind: "planned" },
      ...["compared", "curated", "outcomes"].map((kind) => ({ repository, kind })),
    ]);
    expect((await ask(cleo, "team", "sync")).offered).toBe(1);
    expect((await ask(cleo, "team", "inbox")).waiting).toMatchObject([{ by: ["ana"] }]);
    // Nothing is new, so nothing is done, and nobody pays twice.
    expect(await ask(ana, "worker", "--team")).toMatchObject({ planned: 0, done: 0 });
    expect(endpoint.asked).toHaveLength(1);
    const [{ team }] = (await runSql(url, "select id as team from knack.team")) as [{ team: string }];
    const spent = `select count(*)::int as calls from knack_store_${team}.ledger where type = 'model.called'`;
    expect(await runSql(url, spent)).toEqual([{ calls: 1 }]);
    const store = await openSqlite({ path: join(ana.knackHome, "knack.db"), clock: { now: Date.now } });
    expect(await store.ledger.since("model.called", 0).finally(store.close)).toHaveLength(1);
  });

  it("tries a job again that failed, sets it aside in the end, and tries that again when it is told to", async () => {
    let works = false;
    const endpoint = await anEndpoint(() => (works ? oneOfTwo : { status: 400 }));
    const { url, ana, cleo } = await aTeam();
    askAt(ana, endpoint.url);
    expect(await ask(ana, "worker", "--team")).toMatchObject({ done: 1, failed: 1, waiting: 1 });
    const [{ team }] = (await runSql(url, "select id as team from knack.team")) as [{ team: string }];
    // As if it had failed three times, and the time for the last try had come.
    await runSql(
      url,
      `update knack_jobs_${team}.job set retry_count = 2, start_after = now() where state = 'retry'`,
    );
    const dead = await ask(ana, "worker", "--team");
    expect(dead).toMatchObject({ failed: 1, waiting: 0 });
    expect(dead.dead_letters).toMatchObject([{ kind: "compare", repository, tries: 4 }]);
    expect((await run(ana, "worker", "--team")).stdout).toContain(`compare ${repository}: failed 4 times: `);
    works = true;
    expect(await ask(ana, "worker", "--team", "--retry")).toMatchObject({
      ...{ revived: 1, done: 1, dead_letters: [] },
    });
    expect((await ask(cleo, "team", "sync")).offered).toBe(1);
  });

  it("keeps a job for as long as it is at work on it, and leaves it to another who has it by now", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const { url, ana } = await aTeam();
    const [{ team }] = (await runSql(url, "select id as team from knack.team")) as [{ team: string }];
    const jobs = `knack_jobs_${team}.job`;
    const compare = `name = 'compare' and state = 'active'`;
    const fresh = `select 1 from ${jobs} where ${compare} and started_on > now() - interval '1 day'`;
    const endpoint = await anEndpoint(async (_, asked) => {
      await runSql(url, `update ${jobs} set started_on = now() - interval '2 days' where ${compare}`);
      vi.advanceTimersByTime(20_000);
      while ((await runSql(url, fresh)).length === 0) await new Promise((done) => setTimeout(done, 20));
      // The second time another worker has it by then.
      if (asked === 2) await runSql(url, `update ${jobs} set retry_count = 1 where ${compare}`);
      return oneOfTwo;
    });
    askAt(ana, endpoint.url);
    expect(await ask(ana, "worker", "--team")).toMatchObject({ done: 2, failed: 0, dead_letters: [] });
    const [third = ""] = await learned(
      ana,
      aRule("tide-table", "the harbor tide table is old", "fetch it with `npm run tides`"),
    );
    await keepAndShare(ana, third);
    await ask(ana, "team", "sync");
    expect(await ask(ana, "worker", "--team")).toMatchObject({ planned: 2, done: 1, failed: 0 });
    expect(await runSql(url, `select state, retry_count from ${jobs} where state <> 'completed'`)).toEqual([
      { state: "active", retry_count: 1 },
    ]);
    expect(endpoint.asked).toHaveLength(2);
  });

  it("asks no model when the team's money for the day is spent, and does the comparison later", async () => {
    const endpoint = await anEndpoint(() => oneOfTwo);
    const { url, ana, cleo } = await aTeam();
    askAt(ana, endpoint.url, { "team.budgetDay": 0.000001 });
    expect(await ask(ana, "worker", "--team")).toMatchObject({ failed: 0, waiting: 1, dead_letters: [] });
    expect(endpoint.asked).toEqual([]);
    // Until then members are offered both.
    expect((await ask(cleo, "team", "sync")).offered).toBe(2);
    const [{ team }] = (await runSql(url, "select id as team from knack.team")) as [{ team: string }];
    await runSql(url, `update knack_jobs_${team}.job set start_after = now() where state = 'created'`);
    askAt(ana, endpoint.url);
    expect(await ask(ana, "worker", "--team")).toMatchObject({ done: 1, failed: 0, waiting: 0 });
    expect(endpoint.asked).toHaveLength(1);
  });

  it("believes no digest that a maintainer's machine did not sign", async () => {
    const { url, ana, cleo } = await aTeam();
    await ask(ana, "worker", "--team");
    // Whoever can write the table says that the second lesson is the first.
    const shares = await runSql(
      url,
      "select content::json ->> 'subject' as subject from knack.entry where kind = 'lesson.shared' order by n",
    );
    const same = JSON.stringify([shares.map(({ subject }) => subject)]);
    await runSql(
      url,
      `update knack.digest set content = jsonb_set(content::jsonb, '{same}', '${same}')::text where kind = 'compared'`,
    );
    expect((await ask(cleo, "team", "sync")).offered).toBe(2);
  });
});
