import { describe, expect, onTestFinished, test } from "vitest";
import { parseAddress } from "../../src/store/postgres/address.ts";
import { type HeldJob, openQueue } from "../../src/store/postgres/queue.ts";
import { freshDatabase, runSql } from "../helpers/postgres.ts";

/** A database with the schema of a queue. */
async function makePlace() {
  const url = await freshDatabase();
  await runSql(url, "create schema knack_jobs");
  return url;
}

const kinds = { compare: { leaseSeconds: 1, retries: 1, retrySeconds: 1 } };

async function open(url: string) {
  const queue = await openQueue({ address: parseAddress(url), schema: "knack_jobs", kinds });
  onTestFinished(queue.close);
  return queue;
}

/** Waits for what comes with time alone. */
async function until<T>(look: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    await new Promise((done) => setTimeout(done, 100));
  }
}

describe("the queue of a team's jobs", () => {
  test("keeps one waiting job about a thing, and gives each to one worker", async () => {
    const url = await makePlace();
    const [one, other] = [await open(url), await open(url)];
    expect(await one.add("compare", "web", { repository: "web" })).toBe(true);
    expect(await other.add("compare", "web", { repository: "web" })).toBe(false);
    expect(await other.add("compare", "api", { repository: "api" })).toBe(true);
    const taken = [await one.take("compare"), await other.take("compare"), await one.take("compare")];
    expect(taken.map((job) => job?.data.repository)).toEqual(["web", "api", undefined]);
    await one.finish(taken[0] as never, { compared: 3 });
    expect(await other.count()).toEqual([{ kind: "compare", waiting: 0, held: 1, done: 1, dead: 0 }]);
  });

  test("gives a job to another worker when its lease is over, and sets it aside when that fails, too", async () => {
    const url = await makePlace();
    const queue = await open(url);
    await queue.add("compare", "web", { repository: "web" });
    const lost = await queue.take("compare");
    const again = await until(async () => {
      await queue.recover();
      return queue.take("compare");
    });
    expect(again.id).toBe(lost?.id);
    await queue.fail(again, "the model does not answer");
    expect(await queue.dead()).toEqual([
      {
        ...{ id: lost?.id, kind: "compare", data: { repository: "web" }, tries: 2 },
        ...{ failedAt: expect.any(Number), because: "the model does not answer" },
      },
    ]);
    await queue.revive("compare", again.id);
    expect((await queue.take("compare"))?.id).toBe(lost?.id);
    expect(await queue.dead()).toEqual([]);
  });

  test("leaves a job with a worker that renews its lease, and gives it to another when that has stopped", async () => {
    const url = await makePlace();
    const [one, other] = [await open(url), await open(url)];
    await one.add("compare", "web", { repository: "web" });
    const held = (await one.take("compare")) as HeldJob;
    const endLease = () => runSql(url, "update knack_jobs.job set started_on = now() - interval '1 day'");
    const takeOver = async () => {
      await other.recover();
      // The wait before the next try is no part of this.
      await runSql(url, "update knack_jobs.job set start_after = now() where state = 'retry'");
      return other.take("compare");
    };
    // An hour's lease: what decides is the word of its worker, not how fast this machine is.
    await runSql(url, "update knack_jobs.job set expire_in = '1 hour'");
    await endLease();
    expect(await one.renew(held)).toBe(true);
    expect(await takeOver()).toBeNull();
    await endLease();
    expect(await takeOver()).toEqual({ ...held, taken: 1 });
    // The first one comes back, and sees that it is another's.
    expect(await one.renew(held)).toBe(false);
    expect(await other.count()).toMatchObject([{ held: 1, done: 0 }]);
  });
});
