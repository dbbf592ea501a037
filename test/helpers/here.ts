import { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { main } from "../../src/cli/main.ts";
import { cli, type Ran, root } from "./knack.ts";

interface Options {
  readonly home: string;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** What its standard input holds; without it there is nothing to read. */
  readonly input?: string | Buffer;
}

/**
 * Runs the command line in this process, with nothing of its environment but PATH: the same words, surroundings and
 * answer as of the built knack, at a twentieth of what starting one costs. What has to be a process of its own (to be
 * killed, to be one of many, to be somebody else's, to be the build) is started by `knack`.
 */
export async function knackHere(words: readonly string[], options: Options): Promise<Ran> {
  const { home, env = {}, cwd = root, input } = options;
  const [stdout, stderr] = [new Heard(), new Heard()];
  const stdin = Readable.from(input === undefined ? [] : [Buffer.from(input)]);
  const restore = instead({ stdin, stdout, stderr }, cwd, env.TMPDIR);
  try {
    const code = await main(words, {
      env: { PATH: process.env.PATH, HOME: home, KNACK_HOME: join(home, ".knack"), ...env },
      examples: join(root, "examples/sessions"),
      redactionThread: pathToFileURL(join(root, "dist/redaction-thread.js")),
      page: pathToFileURL(join(root, "dist/page/")),
      program,
    });
    return { code, signal: null, stdout: stdout.text, stderr: stderr.text };
  } finally {
    restore();
  }
}

const program = {
  version: JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version as string,
  node: process.execPath,
  cli,
  hook: join(root, "dist/hook.cjs"),
  template: join(root, "plugin"),
};

/** A stream that keeps what is written to it, and is no terminal. */
class Heard extends Writable {
  text = "";

  override _write(chunk: Buffer | string, _: BufferEncoding, done: () => void): void {
    this.text += String(chunk);
    done();
  }
}

/** Puts others in the place of what a process has but one of: two runs at once would mix. */
function instead(
  streams: Record<"stdin" | "stdout" | "stderr", Readable | Writable>,
  cwd: string,
  temporary: string | undefined,
): () => void {
  if (process.stdout instanceof Heard) throw new Error("knackHere runs one at a time; start knack for more");
  const before = { cwd: process.cwd(), temporary: process.env.TMPDIR };
  const own = Object.keys(streams).map(
    (name) => [name, Object.getOwnPropertyDescriptor(process, name) as PropertyDescriptor] as const,
  );
  process.chdir(cwd);
  const restorePriority = keepPriority();
  if (temporary !== undefined) process.env.TMPDIR = temporary;
  for (const [name, value] of Object.entries(streams))
    Object.defineProperty(process, name, { value, configurable: true, writable: true });
  return () => {
    for (const [name, descriptor] of own) Object.defineProperty(process, name, descriptor);
    if (before.temporary === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before.temporary;
    restorePriority();
    process.chdir(before.cwd);
  };
}

/** A worker lets others go first, and so would this process from then on. */
function keepPriority(): () => void {
  const { setPriority } = os;
  os.setPriority = () => {};
  syncBuiltinESMExports();
  return () => {
    os.setPriority = setPriority;
    syncBuiltinESMExports();
  };
}
