import { readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSqlite } from "../../src/store/sqlite.ts";
import { selfSigned } from "../helpers/certificate.ts";
import { contextOf, type Home, holdWorkers, hook, noPython, payloads } from "../helpers/hook.ts";
import { knack } from "../helpers/knack.ts";
import { freshDatabase, runSql } from "../helpers/postgres.ts";
import { aCure, aMember, aRule, ask, joinTeam, keepAndShare, learned, makeTeam, run } from "./members.ts";

const addressFile = ({ knackHome }: Home) => join(knackHome, "team/address");

/** Changes a member's address for as long as something is done. */
async function through<T>(home: Home, change: (url: URL) => void, work: () => Promise<T>): Promise<T> {
  const before = readFileSync(addressFile(home), "utf8");
  const url = new URL(before);
  change(url);
  writeFileSync(addressFile(home), url.href);
  const result = await work();
  writeFileSync(addressFile(home), before);
  return result;
}

/** A way to the database that breaks as soon as something is said on it. */
async function breakingAt(words: string, url: string): Promise<string> {
  const sockets = new Set<Socket>();
  const proxy = createServer((near) => {
    const far = connect(Number(new URL(url).port), "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => near.destroy());
    }
    near.on("data", (data) => {
      if (data.toString("latin1").includes(words)) for (const socket of [near, far]) socket.destroy();
      else far.write(data);
    });
    far.pipe(near);
  });
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return String((proxy.address() as { port: number }).port);
}

async function aTeam() {
  const url = await freshDatabase();
  const [ana, ben] = [aMember(), aMember()];
  await makeTeam(url, ana, "ana");
  await learned(ben, aRule("own", "writing a changelog", "one line for each change"));
  await joinTeam(ana, ben, "ben");
  return { url, ana, ben };
}

/** A home's own copy of the team's ledger. */
const chain = async ({ knackHome }: Home) => {
  const store = await openSqlite({ path: join(knackHome, "knack.db"), clock: { now: Date.now } });
  const entries = await store.team.all().finally(store.close);
  return entries.map(({ id, recordedAt }) => `${id} ${recordedAt}`).sort();
};

describe("A team whose database is away", () => {
  it("goes on working, and is one again after a week", async () => {
    const { ana, ben } = await aTeam();
    const ids = await learned(ana, aCure(), aRule("tidy", "closing a branch", "delete its worktree first"));
    const [his = ""] = await learned(ben, aRule("late", "releasing on a Friday", "wait until Monday"));
    const nowhere = (url: URL) => {
      url.port = "1";
    };
    await through(ana, nowhere, async () => {
      for (const id of ids) expect(await keepAndShare(ana, id)).toMatchObject({ done: true, sent: false });
      const { code, stdout, stderr } = await run(ana, "team", "sync");
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(
        /^knack: The database 127\.0\.0\.1:1\/\w+ cannot be reached: connect ECONNREFUSED/,
      );
      expect(stderr).toContain("Nothing is lost");
      // The lesson of her own is told as ever.
      expect((await ask(ana, "team")).failed.because).toContain("cannot be reached");
      expect(
        contextOf(
          await hook(payloads(ana).failure("python manage.py migrate", noPython), {
            home: ana.home,
            cwd: ana.project,
          }),
        ),
      ).toContain("use python3");
    });
    await through(ben, nowhere, () => keepAndShare(ben, his));
    // In any order, and twice.
    expect(await ask(ben, "team", "sync")).toMatchObject({ sent: 1, offered: 0 });
    expect(await ask(ana, "team", "sync")).toMatchObject({ sent: 2, offered: 1 });
    expect(await ask(ben, "team", "sync")).toMatchObject({ sent: 0, offered: 2 });
    expect(await ask(ben, "team", "sync")).toMatchObject({ sent: 0, received: 0, offered: 0 });
    expect(await ask(ana, "team")).toMatchObject({ failed: null, unsent: 0, waiting: 1 });
    expect(await chain(ana)).toEqual(await chain(ben));
    expect(await chain(ana)).toHaveLength(6);
  });

  it("in the middle of a sync loses nothing and sends nothing twice, and no agent notices", async () => {
    const { url, ana, ben } = await aTeam();
    const ids = await learned(ana, aCure(), aRule("tidy", "closing a branch", "delete its worktree first"));
    for (const id of ids) {
      await ask(ana, "lessons", "keep", id);
      await ask(ana, "share", id, "--later");
    }
    const port = await breakingAt("insert into", url);
    const broken = await through(
      ana,
      (address) => (address.port = port),
      () => run(ana, "team", "sync"),
    );
    expect([broken.code, broken.stderr]).toEqual([
      2,
      expect.stringMatching(/cannot be reached.*\n.*Nothing is lost/),
    ]);
    expect((await ask(ana, "team")).unsent).toBe(2);
    expect(await ask(ana, "team", "sync")).toMatchObject({ sent: 2 });
    expect(
      await runSql(url, "select count(*)::int as count, count(distinct id)::int as ids from knack.entry"),
    ).toEqual([{ count: 5, ids: 5 }]);
    // Away while he reads: what he has is what he had, and the next sync goes on.
    const reading = await breakingAt('from "entry"', url);
    const cut = await through(
      ben,
      (address) => (address.port = reading),
      () => run(ben, "team", "sync"),
    );
    expect(cut.stderr).toContain("cannot be reached");
    expect((await ask(ben, "team", "inbox")).waiting).toEqual([]);
    expect(await ask(ben, "team", "sync")).toMatchObject({ offered: 2 });
  });

  it("says what is wrong with a login, and how somebody who was removed goes on", async () => {
    const { ana, ben } = await aTeam();
    const wrong = await through(
      ben,
      (url) => (url.password = "guessed"),
      () => run(ben, "team", "sync"),
    );
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("refused the login")]);
    expect(wrong.stderr).not.toContain("guessed");
    await ask(ana, "team", "remove", "ben");
    const gone = await run(ben, "team", "sync");
    expect([gone.code, gone.stderr]).toEqual([2, expect.stringMatching(/refused the login|no longer/)]);
    expect(await ask(ben, "team", "leave")).toMatchObject({ done: true });
    expect((await run(ben, "team")).stderr).toContain("in no team");
    expect(await run(ben, "team", "sync")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("team join"),
    });
  });

  it("takes no password from a command line, a repository, or a file that others can read", async () => {
    const ana = aMember();
    const refuse = async (...words: string[]) => (await run(ana, "team", "create", ...words)).stderr;
    expect(await refuse("postgres://ana:secret@127.0.0.1:1/knack")).toContain("can be read by others");
    const inside = join(ana.project, "address");
    writeFileSync(inside, "postgres://ana:secret@127.0.0.1:1/knack", { mode: 0o600 });
    expect(await refuse("--from", inside)).toContain("lies in a repository");
    const open = join(ana.home, "address");
    writeFileSync(open, "postgres://ana:secret@127.0.0.1:1/knack", { mode: 0o644 });
    expect(await refuse("--from", open)).toContain("can be read by others");
    expect(await refuse("postgres://ana@db.example.dev/knack?sslmode=disable")).toContain("not be encrypted");
  });

  it("is on another machine only with a certificate that is checked", async () => {
    const url = await freshDatabase();
    const ana = aMember();
    const owner = join(ana.home, "owner");
    const authority = join(ana.home, "authority.pem");
    // Another name of this machine, which is not one of those for which nothing has to be encrypted.
    const address = new URL(url);
    address.hostname = "0.0.0.0";
    const create = (from: URL) => {
      writeFileSync(owner, from.href, { mode: 0o600 });
      return run(ana, "team", "create", "--from", owner, "--as", "ana", "--name", "acme");
    };
    const server = new URL(url);
    server.pathname = "/postgres";
    const reload = (...changes: readonly string[]) =>
      changes
        .concat("select pg_reload_conf()")
        .reduce<Promise<unknown>>(
          (before, statement) => before.then(() => runSql(server.href, statement)),
          Promise.resolve(),
        );
    const serve = ({ certificate, key }: ReturnType<typeof selfSigned>) => {
      const write = (file: string, text: string) =>
        `copy (select unnest(string_to_array('${text.trim()}', E'\\n'))) to program 'umask 077; cat > ${file}'`;
      return reload(
        ...[write("test.crt", certificate), write("test.key", key)],
        "alter system set ssl_cert_file = 'test.crt'",
        "alter system set ssl_key_file = 'test.key'",
        "alter system set ssl = on",
      );
    };
    onTestFinished(async () => {
      const names = ["ssl", "ssl_cert_file", "ssl_key_file"];
      await reload(...names.map((name) => `alter system reset ${name}`));
    });
    /** The server takes a moment to read its settings anew. */
    const comesTo = async (from: URL, words: RegExp) => {
      for (;;) {
        const { code, stdout, stderr } = await create(from);
        if (words.test(`${code} ${stdout} ${stderr}`)) return;
        await new Promise((done) => setTimeout(done, 50));
      }
    };
    expect((await create(address)).stderr).toMatch(/cannot be reached.*does not support SSL/);

    const [own, another] = [selfSigned("0.0.0.0"), selfSigned("10.9.8.7")];
    const trusting = new URL(address);
    trusting.searchParams.set("sslrootcert", authority);
    writeFileSync(authority, another.certificate);
    await serve(another);
    await comesTo(address, /^2 .*cannot be reached: self-signed certificate/s);
    await comesTo(trusting, /^2 .*cannot be reached: .*does not match certificate's altnames/s);
    writeFileSync(authority, own.certificate);
    await comesTo(trusting, /^2 .*cannot be reached: self-signed certificate/s);
    expect(await runSql(url, "select 1 from pg_namespace where nspname = 'knack'")).toEqual([]);
    await serve(own);
    await comesTo(trusting, /^0 .*Made the team acme/s);
    expect(await ask(ana, "team", "sync")).toMatchObject({ done: true });
    expect(readFileSync(join(ana.knackHome, "team/address"), "utf8")).toContain("sslmode=verify-full");
  });

  it("is synced by the worker, and never by a hook", async () => {
    const { url, ana, ben } = await aTeam();
    const [id = ""] = await learned(ana, aCure());
    await keepAndShare(ana, id);
    const state = join(ben.knackHome, "team/team.json");
    writeFileSync(state, JSON.stringify({ ...JSON.parse(readFileSync(state, "utf8")), syncedAt: 0 }));
    const letWork = holdWorkers(ben);
    const before = await runSql(
      url,
      "select numbackends::int as open from pg_stat_database where datname = current_database()",
    );
    await hook(payloads(ben).failure("python manage.py migrate", noPython), {
      home: ben.home,
      cwd: ben.project,
    });
    await hook(payloads(ben).end(), { home: ben.home, cwd: ben.project });
    expect(
      await runSql(
        url,
        "select numbackends::int as open from pg_stat_database where datname = current_database()",
      ),
    ).toEqual(before);
    await letWork();
    expect((await ask(ben, "team", "inbox")).waiting).toHaveLength(1);
    // What is away is no fault of the work.
    writeFileSync(state, JSON.stringify({ ...JSON.parse(readFileSync(state, "utf8")), syncedAt: 0 }));
    await through(
      ben,
      (address) => (address.port = "1"),
      async () =>
        expect(await knack(["work", "--json"], { home: ben.home })).toMatchObject({ code: 0, stderr: "" }),
    );
    expect((await ask(ben, "team")).failed.because).toContain("cannot be reached");
  });
});
