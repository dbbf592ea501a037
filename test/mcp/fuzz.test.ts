import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { tools } from "../../src/mcp/tools.ts";
import { seeded } from "../helpers/history.ts";
import { cli } from "../helpers/knack.ts";
import { tempFolder } from "../helpers/temp.ts";

const version = "2025-06-18";
const hello = request(1, "initialize", {
  protocolVersion: version,
  capabilities: {},
  clientInfo: { name: "x", version: "1" },
});

function request(id: unknown, method: unknown, params?: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

/** The server as a host that keeps to nothing would use it. */
function startServer() {
  const home = tempFolder();
  const child = spawn(process.execPath, [cli, "mcp"], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, KNACK_HOME: join(home, ".knack") },
    stdio: "pipe",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let [out, err] = ["", ""];
  let ended: number | null = null;
  const waiting: (() => void)[] = [];
  const wake = () => {
    for (const done of waiting.splice(0)) done();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    wake();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  child.stdin.on("error", () => {});
  child.on("close", (code) => {
    ended = code ?? -1;
    wake();
  });
  const until = async (isDone: () => boolean) => {
    while (!isDone() && ended === null) await new Promise<void>((done) => waiting.push(done));
  };
  return {
    send: (...parts: (string | Buffer)[]) => {
      for (const part of parts) child.stdin.write(part);
    },
    /** Whether it answers a new request; or how it ended instead. */
    isAlive: async (id: string) => {
      child.stdin.write(`\n${request(id, "tools/list")}\n`);
      await until(() => out.includes(`"id":"${id}"`));
      return ended === null ? "alive" : { code: ended, says: err.trim() };
    },
    end: async () => {
      child.stdin.end();
      await until(() => false);
      return { code: ended, err };
    },
  };
}

describe("knack mcp", () => {
  test("stays alive with framings that are not its own", async () => {
    const server = startServer();
    const framings: Record<string, string | Buffer> = {
      ours: `${hello}\n`,
      headers: `Content-Length: ${hello.length}\r\n\r\n${hello}`,
      http: "POST /mcp HTTP/1.1\r\nHost: x\r\n\r\n{}",
      batch: `[${hello},${hello}]`,
      utf16: Buffer.from(`${hello}\n`, "utf16le"),
      bytes: Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7919) % 256)),
      deep: `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`,
      deeper: "[".repeat(1 << 20),
      large: request(2, "tools/call", { name: "skill_search", arguments: { query: "x".repeat(5 << 20) } }),
      nothing: "\n\n\n\r\n \n",
    };
    for (const [name, bytes] of Object.entries(framings)) {
      server.send(bytes);
      expect([name, await server.isAlive(name)]).toEqual([name, "alive"]);
    }
    expect(await server.end()).toEqual({ code: 0, err: "" });
  });

  test("ends with an error at a message that is larger than 10 MB, though its host goes on", async () => {
    const server = startServer();
    server.send(`${hello}\n`, ...Array.from({ length: 11 }, () => "x".repeat(1 << 20)));
    expect(await server.isAlive("after")).toEqual({
      code: 1,
      says: expect.stringMatching(/^knack mcp stopped: .*10485760 bytes$/),
    });
  });

  test("stays alive through 500 broken messages, and answers the next one", async () => {
    const server = startServer();
    const random = seeded(20);
    server.send(`${hello}\n`);
    for (let round = 0; round < 500; round++) server.send(`${breakMessage(random, round)}\n`);
    expect(await server.isAlive("last")).toBe("alive");
    expect((await server.end()).code).toBe(0);
  });
});

/** A call of a tool with something wrong in it: values of other kinds, odd texts, bytes cut or changed. */
function breakMessage(random: () => number, round: number): string | Buffer {
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const odd: readonly unknown[] = [
    ...[null, true, -1, 1e308, "", "\u0000", "../../etc/passwd", "\ud800", "x".repeat(5_000), [], {}, [[]]],
    ...[{ __proto__: null, constructor: 1 }, { toString: 1 }, ["e1", 2, null], "\u001b[2J", "$(id)"],
  ];
  const { name, input } = pick(tools);
  const fields = Object.keys((input as { shape?: object }).shape ?? {});
  const args = Object.fromEntries([...fields, "other"].map((field) => [field, pick(odd)]));
  const id = pick([round + 1_000, `r${round}`, null, 1.5, {}, undefined]);
  const method = pick(["tools/call", "tools/call", "tools/call", "tools/list", "ping", "no/such", "", 7]);
  const params = pick<unknown>([{ name, arguments: args }, { name, arguments: args }, { name }, ...odd]);
  const text = request(id, method, params);
  if (round % 5 !== 0) return text;
  const bytes = Buffer.from(text);
  const at = Math.floor(random() * bytes.length);
  if (round % 2 === 0) return bytes.subarray(0, at);
  bytes[at] = Math.floor(random() * 256);
  return bytes;
}
