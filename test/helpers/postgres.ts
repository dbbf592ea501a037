import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, onTestFinished } from "vitest";
import { runSql } from "./postgres-server.ts";

export { runSql, startPostgres } from "./postgres-server.ts";

/** A database of the test's own on the server of this run, gone when the test is. */
export async function freshDatabase(): Promise<string> {
  const { url, drop } = await makeDatabase();
  onTestFinished(drop);
  return url;
}

/** A database for all tests of a file, made when the first asks for it and gone when they are done: making one takes a while. */
export function sharedDatabase(): () => Promise<string> {
  let making: ReturnType<typeof makeDatabase> | undefined;
  afterAll(async () => (await making)?.drop());
  return async () => {
    making ??= makeDatabase();
    return (await making).url;
  };
}

async function makeDatabase(): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const server = await askForServer();
  const name = `test_${randomBytes(6).toString("hex")}`;
  await runSql(server, `create database ${name} template template0`);
  return {
    url: server.replace(/\/postgres$/, `/${name}`),
    drop: async () => void (await runSql(server, `drop database if exists ${name} with (force)`)),
  };
}

/** The run's one server: the first test that asks has it started by the process that ends it, and all others share it. */
async function askForServer(): Promise<string> {
  const port = Number(process.env.KNACK_TEST_POSTGRES_PORT);
  const [kind, answer] = (await text(connect(port, "127.0.0.1"))).split("\n");
  if (kind !== "ready") throw new Error(`PostgreSQL for the tests did not start: ${answer}`);
  return answer as string;
}
