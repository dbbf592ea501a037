import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { gatherDossier } from "../../src/authoring/reviews/dossier.ts";
import type { Event } from "../../src/records/session.ts";
import type { ReviewWindow } from "../../src/records/writing.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { createRedactor } from "../../src/trust/redactor.ts";
import { toCreate } from "../helpers/dossiers.ts";
import { called, ran, replied, said, session } from "../helpers/events.ts";
import { tempFolder } from "../helpers/temp.ts";
import { aSession } from "../store/contract.ts";

/** A dossier of sessions in a real database, from the numbers on that each is given with. */
async function gathered(
  sessions: readonly (readonly [from: number, Event[]])[],
  refs: readonly string[] = [],
) {
  const store = await openSqlite({ path: join(tempFolder(), "knack.db"), clock: { now: Date.now } });
  onTestFinished(() => store.close());
  const ids = sessions.map((_, at) => `/t/${at}`);
  await store.sessions.save(ids.map((id) => aSession(id)));
  await store.events.save(sessions.map(([, events], at) => ({ session: ids[at] as string, events })));
  const window: ReviewWindow = {
    stretches: sessions.map(([from, events], at) => ({
      session: ids[at] as string,
      run: `run-${at}`,
      from,
      to: events.length,
    })),
    since: 0,
    until: 1,
  };
  return gatherDossier(
    { store, redactor: createRedactor() },
    { project: "/p", window, signals: [], leads: [toCreate("x", refs)], skills: [] },
  );
}

describe("what is gathered for a review", () => {
  const work = session(
    said("Run it"),
    ran("npm test", "failed", "no"),
    ran("npm test", "ok"),
    replied("Done."),
  );

  test("is the window of each session, and what is pointed to outside it", async () => {
    const dossier = await gathered(
      [
        [3, work],
        [1, work],
        [9, work],
      ],
      ["s1.e1", "s2.e4", "s3.e77", "s8.e1"],
    );
    expect(dossier.whole).toBe(true);
    expect(dossier.included.map(({ id, reason }) => `${id} ${reason}`)).toEqual([
      "s1.e1 signal-ref",
      "s1.e3 verification",
      "s1.e4 final-answer",
      "s2.e1 prompt",
      "s2.e2 error",
      "s2.e3 recovery",
      "s2.e4 signal-ref",
    ]);
    expect(dossier.scope.sessions.map(({ name, from, to }) => [name, from, to])).toEqual([
      ["s1", "e1", "e4"],
      ["s2", "e1", "e4"],
    ]);
  });

  test("is without secrets, even those that were never taken out", async () => {
    const key = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    const dossier = await gathered([
      [1, session(said(`Use ${key}`), ran(`curl -H "Authorization: Bearer ${key}" x`, "ok", key))],
    ]);
    expect(JSON.stringify(dossier)).not.toContain(key);
    expect(dossier.included).toHaveLength(2);
  });

  test("tells of a long session from its beginning to its end, and reads little of it", async () => {
    const looks = (count: number) =>
      Array.from({ length: count }, (_, n) =>
        called("Read", { file_path: `/a/${n}` }, "ok", "x".repeat(900)),
      );
    const events = session(
      said("First"),
      ...looks(7_000),
      ran("make", "failed", "no rule"),
      ...looks(7_000),
      replied("Last"),
    );
    const dossier = await gathered([[1, events]], []);
    const ids = dossier.included.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(["s1.e1", "s1.e7002", "s1.e14003"]));
    expect(dossier.omitted.reduce((sum, { count }) => sum + count, 0)).toBe(events.length - ids.length);
  });
});
