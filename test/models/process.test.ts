import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { describe, expect, it } from "vitest";
import { runProgram } from "../../src/models/run-program.ts";
import { processesOf } from "../helpers/hook.ts";
import { tempFolder } from "../helpers/temp.ts";

const run = (script: string) =>
  runProgram("/bin/sh", ["-c", script], {
    ...{ cwd: tempFolder(), env: { PATH: process.env.PATH }, input: "" },
    timeoutMs: 30_000,
  });

describe("a program that is asked", () => {
  it.each([
    ["says all it has to say", "echo answer", 0],
    ["leaves somebody behind who holds its output", "sleep 60 & echo answer", 0],
    ["leaves somebody in a session of its own", "setsid sleep 2 & echo answer", 0],
    ["fails", "echo answer; exit 3", 3],
  ])("is heard when it %s", async (_, script, code) => {
    expect(await run(script)).toMatchObject({ code, stdout: "answer\n", timedOut: false });
  });

  it("is not heard where there is none, or it is none", async () => {
    const options = { cwd: tempFolder(), env: {}, input: "", timeoutMs: 30_000 };
    const missing = async (command: string, ...words: string[]) =>
      (await runProgram(command, words, options)).missing;
    expect(await missing(join(options.cwd, "gone"))).toMatch(/^(?:not found|No such file or directory)$/);
    expect(await missing(options.cwd)).toMatch(/^(?:Permission denied|cannot execute: Is a directory)$/);
    expect(await missing("/bin/sh", "-c", ":")).toBeNull();
    // What cannot be handed over is never said again.
    expect(await missing("/bin/sh", "-c", "a\0b")).toBe("ERR_INVALID_ARG_VALUE");
    expect(await missing("/bin/sh", "-c", ":", "x".repeat(3_000_000))).toBe("E2BIG");
  });

  it.each([
    ["its own words", "echo own words >&2; exit 127", "own words\n"],
    ["those of a shell of its own", "PATH=/bin; gone-for-good", "gone-for-good: not found"],
    ["none", "exit 126", ""],
    ["an answer", "echo answer; exit 127", ""],
  ])("is heard when it ends as one does that is not there, with %s", async (_, script, stderr) => {
    expect(await run(script)).toMatchObject({ missing: null, stderr: expect.stringContaining(stderr) });
  });

  it.each(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
    "does not outlive a Knack that gets a %s, nor does what it started",
    async (signal) => {
      const { child, pids, folder } = ask("");
      await until(() => existsSync(pids));
      const agents = readFileSync(pids, "utf8").trim().split(" ").map(Number);
      expect(agents.map(isAlive)).toEqual([true, true]);
      expect(processesOf(folder)).toEqual(expect.arrayContaining(agents));
      child.kill(signal);
      await until(() => !agents.some(isAlive));
      await until(() => processesOf(folder).length === 0);
    },
  );

  it.runIf(process.platform === "linux")(
    "does not outlive it with a mark either, though it left the process group",
    async () => {
      const { child, pids } = ask("", 'sleep 60 & setsid sleep 60 & echo $$ $! > "$0.new"');
      await until(() => existsSync(pids));
      const agents = readFileSync(pids, "utf8").trim().split(" ").map(Number);
      await until(() => agents.every(isAlive));
      child.kill("SIGKILL");
      await until(() => !agents.some(isAlive));
    },
  );

  it("does not outlive a Knack that is killed as it is started", async () => {
    const { child, folder } = ask('process.kill(process.pid, "SIGKILL");');
    await new Promise((resolve) => child.on("close", resolve));
    await until(() => processesOf(folder).length === 0);
  });
});

/** Starts a program that starts another, from a process that then does what it is told. */
function ask(then: string, starts = 'sleep 60 & echo $$ $! > "$0.new"') {
  const folder = tempFolder();
  const [asker, pids] = [join(folder, "asker.mjs"), join(folder, "pids")];
  const source = `import { runProgram } from ${JSON.stringify(join(import.meta.dirname, "../../src/models/run-program.ts"))};
    const script = ${JSON.stringify(`${starts} && mv "$0.new" "$0"; sleep 60`)};
    const mark = "KNACK_TEST_MARK=" + process.pid;
    void runProgram("/bin/sh", ["-c", script, process.argv[2]], { cwd: ".", env: process.env, input: "", timeoutMs: 60_000, mark });
    ${then}`;
  buildSync({
    stdin: { contents: source, resolveDir: folder },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: asker,
  });
  // By which all that comes of it is found.
  const env = { PATH: process.env.PATH, KNACK_HOME: join(folder, ".knack") };
  return {
    folder,
    pids,
    child: spawn(process.execPath, [asker, pids], { cwd: folder, env, stdio: "ignore" }),
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // Who has ended and is not yet buried is no longer alive.
    const stat = existsSync("/proc") ? readFileSync(`/proc/${pid}/stat`, "utf8") : "";
    return !/\) Z /.test(stat);
  } catch {
    return false;
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}
