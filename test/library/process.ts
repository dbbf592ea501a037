import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { build } from "esbuild";
import { root } from "../helpers/knack.ts";

/** The library as a program of its own, so that it can be killed and can race with itself. */
export async function buildProgram(folder: string): Promise<string> {
  const outfile = join(folder, "program.cjs");
  await build({
    entryPoints: [join(root, "test/library/program.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "cjs",
    logLevel: "silent",
  });
  return outfile;
}

/** Starts it with its orders. */
export function start(program: string, orders: unknown): ChildProcess {
  return spawn(process.execPath, [program, JSON.stringify(orders)], { stdio: ["ignore", "pipe", "inherit"] });
}

/** What it says, once it has ended by itself or was killed. */
export async function outcome(child: ChildProcess): Promise<string> {
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  await new Promise((done) => child.on("close", done));
  return said;
}
