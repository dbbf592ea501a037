import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { makeId } from "./ids.ts";

declare const KNACK_BUILD: string;

interface CompiledScript {
  /** A file with a function of CommonJS's names, as Node would make of a module, and of `load`. */
  readonly script: string;
  readonly encoding: "latin1" | "utf8";
  /** Where V8's code for it is kept, named by `nameCodeCache`; null where nothing is kept. */
  readonly cache: string | null;
  readonly require: (id: string) => unknown;
  /** Loads a module that the script asks for late, in the place of `import()`, which V8 leaves to a module. */
  readonly load?: (id: string) => Promise<unknown>;
}

/** Where the code of a script of this build is kept. V8 rejects what was made under other flags. */
export function nameCodeCache(folder: string, name: string): string {
  const flags = [process.version, process.arch, process.env.NODE_OPTIONS, ...process.execArgv].join(" ");
  return join(folder, `${name}-${KNACK_BUILD}-${makeId("v", flags)}`);
}

/**
 * Loads a script with V8's code cache: compiling some hundred kilobytes would cost more than running them. The name of
 * the cache must identify the script's content: V8 only compares its length.
 */
export function loadCompiled<Exports>({ script, encoding, cache, require, load }: CompiledScript): Exports {
  const cachedData = cache === null ? null : readSealed(cache);
  const compiled = new Script(readFileSync(script, encoding), {
    filename: script,
    ...(cachedData ? { cachedData } : {}),
  });
  const module = { exports: {} as Exports };
  compiled.runInThisContext()(module.exports, require, module, script, dirname(script), load);
  // At exit, when V8 knows which functions are needed.
  if (cache !== null && (!cachedData || compiled.cachedDataRejected))
    process.once("exit", () => writeSealed(cache, compiled.createCachedData()));
  return module.exports;
}

/**
 * What is kept at a path; null where its halves differ: V8 runs a damaged cache, and crashes. Tells damage, not malice:
 * who can write here can write the script as well. Comparing takes a tenth of a millisecond; a digest in JavaScript
 * takes three, and loading Node's own ten.
 */
function readSealed(path: string): Buffer | null {
  try {
    const sealed = readFileSync(path);
    const data = sealed.subarray(0, sealed.length / 2);
    return data.length > 0 && data.equals(sealed.subarray(data.length)) ? data : null;
  } catch {
    return null;
  }
}

/** Keeps data twice. May fail without harm: the script is compiled again the next time. */
function writeSealed(path: string, data: Buffer): void {
  const draft = `${path}.${process.pid}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, Buffer.concat([data, data]), { mode: 0o600 });
    renameSync(draft, path);
  } catch {
    try {
      rmSync(draft, { force: true });
    } catch {
      // Nothing can be kept there, and nothing was.
    }
  }
}
