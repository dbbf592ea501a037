import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Script } from "node:vm";

/**
 * Loads a script, a function of CommonJS's five names, with what V8 made of it the last time: to read some hundred kilobytes of JavaScript anew
 * costs more than what is then done. `cache` must name the script's very content: V8 only compares its length.
 */
export function loadCompiled<Exports>(script: string, cache: string, require: NodeJS.Require): Exports {
  const cachedData = bytesAt(cache);
  // It is in ASCII, and takes no time to decode.
  const source = readFileSync(script, "latin1");
  const compiled = new Script(source, { filename: script, ...(cachedData ? { cachedData } : {}) });
  const module = { exports: {} as Exports };
  compiled.runInThisContext()(module.exports, require, module, script, dirname(script));
  // At the end, when V8 knows which functions are needed.
  if (!cachedData || compiled.cachedDataRejected)
    process.once("exit", () => keep(cache, () => compiled.createCachedData()));
  return module.exports;
}

function bytesAt(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

function keep(path: string, make: () => Buffer): void {
  const draft = `${path}.${process.pid}.new`;
  const isKept = tries(() => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, make(), { mode: 0o600 });
    renameSync(draft, path);
  });
  if (!isKept) tries(() => rmSync(draft, { force: true }));
}

/** Does what may fail without harm: then the script is read anew the next time. */
function tries(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
