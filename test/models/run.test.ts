import { describe, expect, it } from "vitest";
import { runProgram } from "../../src/models/run.ts";
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
});
