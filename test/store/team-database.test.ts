import { randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import { parseAddress } from "../../src/store/postgres/address.ts";
import { computeEntryId, type SignedEntry } from "../../src/store/postgres/entry.ts";
import { openQueue } from "../../src/store/postgres/queue.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import { openTeamDatabase } from "../../src/store/postgres/team.ts";
import { freshDatabase, runSql, sharedDatabase } from "../helpers/postgres.ts";

const shared = sharedDatabase();

async function open(url: string) {
  const database = await openTeamDatabase(parseAddress(url));
  onTestFinished(() => database.close());
  return database;
}

/** A database with a team; `join` invites a member and connects with the new login. */
async function makeTeam() {
  const url = await shared();
  const owner = await open(url);
  const team = `crew${randomBytes(4).toString("hex")}`;
  await owner.createTeam({ id: team, name: "Crew" });
  const invite = async (
    id: string,
    role: "reader" | "member" | "maintainer" = "member",
    repositories: string[] | null = null,
  ) => {
    const { login, password } = await owner.invite(team, { id, name: id, role, repositories });
    return withLogin(url, login, password);
  };
  const join = async (...words: Parameters<typeof invite>) => open(await invite(...words));
  const anEntry = (author: string, sequence: number, more: object = {}): SignedEntry => {
    const said = { team, repository: null, machine: `${author}-1`, author, sequence, at: 5, kind: "lesson" };
    return seal(JSON.stringify({ ...said, ...more }));
  };
  return { url, team, owner, invite, join, anEntry };
}

function withLogin(url: string, login: string, password: string): string {
  const address = new URL(url);
  address.username = login;
  address.password = password;
  return address.href;
}

function seal(content: string): SignedEntry {
  const signature = "signed";
  return { id: computeEntryId({ content, signature }), content, signature };
}

const purged: LedgerEntry = {
  ...{ at: 1, project: null, session: null, actor: "knack", type: "events.purged", key: "k" },
  data: { before: 1, events: 1 },
};

const all = { after: 0, most: 100 };
const ids = ({ entries }: { entries: readonly { id: string }[] }) => entries.map(({ id }) => id);

describe("a team's database", () => {
  test("keeps each entry once, in the order of arrival, and goes on from a cursor", async () => {
    const { team, anEntry, join } = await makeTeam();
    const [ada, ben] = [await join("ada"), await join("ben")];
    const entries = [1, 2, 3].map((n) => anEntry("ada", n));
    expect(await ada.append(entries.slice(0, 2))).toBe(2);
    expect(await ada.append(entries)).toBe(1);
    const first = await ben.read(team, { after: 0, most: 2 });
    expect(first.entries).toEqual(
      entries.slice(0, 2).map((entry) => ({ ...entry, receivedAt: expect.any(Number) })),
    );
    const rest = await ben.read(team, { after: first.cursor, most: 2 });
    expect(ids(rest)).toEqual([entries[2]?.id]);
    expect(await ben.read(team, { after: rest.cursor, most: 2 })).toEqual({
      entries: [],
      cursor: rest.cursor,
    });
  });

  test("gives no number to a reader before all smaller ones are there", async () => {
    const { team, anEntry, join } = await makeTeam();
    const writers = await Promise.all(["ada", "ben", "cleo"].map(async (id) => ({ id, db: await join(id) })));
    const reader = await join("dan", "reader");
    const seen = new Set<string>();
    let cursor = 0;
    const follow = async () => {
      const page = await reader.read(team, { after: cursor, most: 7 });
      for (const { id } of page.entries) seen.add(id);
      cursor = page.cursor;
    };
    const writing = Promise.all(
      writers.map(async ({ id, db }) => {
        for (let n = 1; n <= 40; n++) await db.append([anEntry(id, 2 * n), anEntry(id, 2 * n + 1)]);
      }),
    );
    let isWriting = true;
    writing.finally(() => {
      isWriting = false;
    });
    while (isWriting) await follow();
    for (let before = -1; before !== cursor; ) {
      before = cursor;
      await follow();
    }
    expect(seen.size).toBe(240);
  });

  test("shows a member the repositories of their own, and lets them write to no other", async () => {
    const { team, anEntry, join } = await makeTeam();
    const [ada, ben] = [await join("ada"), await join("ben", "member", ["web"])];
    const [web, api, any] = ["web", "api", null].map((repository, n) => anEntry("ada", n, { repository }));
    await ada.append([web, api, any] as SignedEntry[]);
    expect(ids(await ben.read(team, all))).toEqual([web?.id, any?.id]);
    await expect(ben.append([anEntry("ben", 1, { repository: "api" })])).rejects.toMatchObject({
      code: "TEAM_REFUSED",
    });
    expect(await ben.append([anEntry("ben", 1, { repository: "web" })])).toBe(1);
    expect(ids(await ada.read(team, { ...all, repositories: ["api"] }))).toEqual([api?.id, any?.id]);
    expect(ids(await ada.read(team, { ...all, kinds: ["vote"] }))).toEqual([]);
  });

  test.each<[string, (entry: Awaited<ReturnType<typeof makeTeam>>["anEntry"]) => SignedEntry]>([
    ["in another's name", (entry) => entry("ada", 1)],
    ["for another team", (entry) => entry("ben", 1, { team: "other" })],
    ["under an id that is not its own", (entry) => ({ ...entry("ben", 1), id: entry("ada", 1).id })],
    ["that is no JSON", () => seal("{")],
    ["longer than 256 kB", (entry) => entry("ben", 1, { text: "x".repeat(262_144) })],
  ])("takes no entry %s", async (_, make) => {
    const { team, anEntry, owner, join } = await makeTeam();
    const ben = await join("ben");
    await join("ada");
    await expect(ben.append([anEntry("ben", 9), make(anEntry)])).rejects.toThrow();
    expect(ids(await owner.read(team, all))).toEqual([]);
  });

  test("takes 16 MB a day of a member, and says so", async () => {
    const { anEntry, join } = await makeTeam();
    const [ada, ben] = [await join("ada"), await join("ben")];
    const big = (n: number) => anEntry("ada", n, { text: "x".repeat(250_000) });
    for (let n = 0; n < 67; n++) await ada.append([big(n)]);
    const refused = ada.append([big(99)]);
    await expect(refused).rejects.toMatchObject({ code: "TEAM_REFUSED" });
    await expect(refused).rejects.toThrow(
      "ada shared more today than the team allows (16777216 bytes a day)",
    );
    expect(await ben.append([anEntry("ben", 1)])).toBe(1);
  });

  test("lets a reader only read, and nobody change or remove an entry", async () => {
    const { team, anEntry, url, owner, join, invite } = await makeTeam();
    const reader = await join("dan", "reader");
    await expect(reader.append([anEntry("dan", 1)])).rejects.toMatchObject({ code: "TEAM_REFUSED" });
    const maintainer = await invite("mia", "maintainer");
    await (await open(maintainer)).append([anEntry("mia", 1)]);
    for (const statement of [
      "delete from knack.entry",
      "update knack.entry set content = '{}'",
      "update knack.member set role = 'maintainer'",
      `insert into knack.member (team, id, name, login, role) values ('${team}', 'x', 'x', 'x', 'maintainer')`,
      "drop table knack.entry",
      "create table knack.mine (a int)",
    ])
      await expect(runSql(maintainer, statement)).rejects.toThrow(/denied|owner/);
    await expect(runSql(url, "update knack.entry set kind = 'x'")).rejects.toThrow("only appended");
    expect((await owner.read(team, all)).entries).toHaveLength(1);
  });

  test("lets maintainers invite, change and remove members, and nobody else", async () => {
    const { team, anEntry, invite } = await makeTeam();
    const mia = await open(await invite("mia", "maintainer"));
    const ada = await open(await invite("ada"));
    const newcomer = { id: "eve", name: "Eve", role: "maintainer", repositories: null } as const;
    await expect(ada.invite(team, newcomer)).rejects.toThrow("only maintainers invite members");
    await expect(ada.changeMember(team, { ...newcomer, id: "ada" })).rejects.toThrow("only maintainers");
    await expect(ada.removeMember(team, "mia")).rejects.toThrow("only maintainers");
    await expect(mia.invite("other", newcomer)).rejects.toThrow("only maintainers");
    expect(await ada.me()).toMatchObject({ team, id: "ada", role: "member", repositories: null });
    await mia.changeMember(team, { id: "ada", role: "reader", repositories: ["web"] });
    expect(await ada.me()).toMatchObject({ role: "reader", repositories: ["web"] });
    await expect(ada.append([anEntry("ada", 1)])).rejects.toMatchObject({ code: "TEAM_REFUSED" });
    await mia.removeMember(team, "ada");
    expect(await ada.me()).toBeNull();
    expect(ids(await ada.read(team, all))).toEqual([]);
    expect((await mia.members(team)).map(({ id, removedAt }) => [id, removedAt !== null])).toEqual([
      ["mia", false],
      ["ada", true],
    ]);
  });

  test("refuses a login that was removed", async () => {
    const { team, owner, invite } = await makeTeam();
    const address = await invite("ada");
    await owner.removeMember(team, "ada");
    await expect(openTeamDatabase(parseAddress(address))).rejects.toMatchObject({ code: "TEAM_REFUSED" });
  });

  test("shows one team nothing of another in the same database", async () => {
    const { team, anEntry, url, owner, join } = await makeTeam();
    const other = `${team}x`;
    await owner.createTeam({ id: other, name: "Other" });
    const { login, password } = await owner.invite(other, {
      ...{ id: "zoe", name: "Zoe", role: "maintainer", repositories: null },
    });
    const zoe = await open(withLogin(url, login, password));
    const ada = await join("ada");
    await ada.append([anEntry("ada", 1)]);
    expect([await zoe.read(team, all), await zoe.members(team), await zoe.team(team)]).toEqual([
      { entries: [], cursor: 0 },
      [],
      null,
    ]);
  });

  test("keeps of each digest the latest, takes them from maintainers, and shows them by repository", async () => {
    const { team, join } = await makeTeam();
    const [mia, ada, ben] = [
      await join("mia", "maintainer"),
      await join("ada"),
      await join("ben", "member", ["web"]),
    ];
    const digest = (repository: string | null, told: number, kind = "outcomes") => ({
      content: JSON.stringify({ team, repository, kind, told }),
      signature: "signed",
    });
    for (const one of [
      digest("web", 1),
      digest("web", 2),
      digest("api", 3),
      digest(null, 4),
      digest("web", 5, "x"),
    ])
      await mia.putDigest(one);
    const all = { since: 0, repositories: ["web", "api"] };
    const told = async (database: typeof ada, query = all) =>
      (await database.digests(team, query)).map(({ content }) => JSON.parse(content).told).sort();
    expect(await told(ada)).toEqual([2, 3, 4, 5]);
    expect(await told(ben)).toEqual([2, 4, 5]);
    expect(await told(ada, { since: 0, repositories: ["api"] })).toEqual([3, 4]);
    expect(await told(ada, { ...all, since: Date.now() + 600_000 })).toEqual([]);
    await expect(ada.putDigest(digest("web", 6))).rejects.toMatchObject({ code: "TEAM_REFUSED" });
    await expect(mia.putDigest({ content: "{}", signature: "" })).rejects.toThrow();
  });

  test("gives its maintainers, and nobody else, a store and a queue together", async () => {
    const { team, invite } = await makeTeam();
    const how = { schema: `knack_store_${team}`, role: `knack_workers_${team}`, clock: { now: () => 5 } };
    const openStore = async (url: string) => {
      const store = await openPostgres({ address: parseAddress(url), ...how });
      onTestFinished(() => store.close());
      return store;
    };
    const [mia, max] = [await invite("mia", "maintainer"), await invite("max", "maintainer")];
    await (await openStore(mia)).ledger.append([purged]);
    await runSql(
      mia,
      `update knack_store_${team}.migration set version = 1`,
      `drop table knack_store_${team}.goal`,
    );
    expect(await (await openStore(max)).goals.briefs(null)).toEqual([]);
    expect(await (await openStore(max)).ledger.count()).toBe(1);
    const member = await invite("ada");
    await expect(openStore(member)).rejects.toThrow();
    const queueIn = (url: string) =>
      openQueue({ ...how, address: parseAddress(url), schema: `knack_jobs_${team}`, kinds: {} });
    for (const url of [mia, max]) await (await queueIn(url)).close();
    const owner = await open(await shared());
    await owner.changeMember(team, { id: "max", role: "member", repositories: null });
    await expect(openStore(max)).rejects.toThrow();
    await owner.changeMember(team, { id: "ada", role: "maintainer", repositories: null });
    expect(await (await openStore(member)).ledger.count()).toBe(1);
  });

  test("hands over long entries a few at a time, and all of them", async () => {
    const { team, anEntry, join } = await makeTeam();
    const ada = await join("ada");
    const entries = Array.from({ length: 40 }, (_, n) => anEntry("ada", n, { text: "x".repeat(250_000) }));
    await ada.append(entries);
    const sizes: number[] = [];
    for (let cursor = 0; ; ) {
      const page = await ada.read(team, { after: cursor, most: 100 });
      if (page.entries.length === 0) break;
      sizes.push(page.entries.length);
      cursor = page.cursor;
    }
    expect(sizes).toEqual([32, 8]);
  });

  test("is made by several processes at once, and by its owner only", async () => {
    const url = await freshDatabase();
    await Promise.all([1, 2, 3, 4].map(() => open(url)));
    expect(await runSql(url, "select count(*)::int as count from knack.migration")).toEqual([{ count: 1 }]);
    await runSql(url, "create role knack_test_stranger login password 'x'").catch(() => {});
    const stranger = withLogin(await freshDatabase(), "knack_test_stranger", "x");
    await expect(openTeamDatabase(parseAddress(stranger))).rejects.toThrow(
      "There is no team in the database",
    );
  });

  test("is used as it is when a later release has changed it", async () => {
    const { anEntry, url, join } = await makeTeam();
    await runSql(
      url,
      "insert into knack.migration (version) values (99)",
      "alter table knack.entry add later text",
    );
    expect(await (await join("ada")).append([anEntry("ada", 1)])).toBe(1);
  });

  test("says that the password is wrong, or that nobody answers", async () => {
    const { invite } = await makeTeam();
    const address = new URL(await invite("ada"));
    address.password = "guess";
    const wrong = openTeamDatabase(parseAddress(address.href));
    await expect(wrong).rejects.toThrow(/^The database 127\.0\.0\.1:\d+\/test_\w+ refused the login\.$/);
    address.port = "1";
    const away = openTeamDatabase(parseAddress(address.href));
    await expect(away).rejects.toMatchObject({ code: "TEAM_UNAVAILABLE" });
  });
});
