#!/usr/bin/env node
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { loadCompiled, nameCodeCache } from "../base/index.ts";
import { resolveHome } from "../settings/index.ts";
import { version } from "./version.ts";

// Answered before anything is loaded.
const [first] = process.argv.slice(2);
if (first === "--version" || first === "-v" || first === "-V" || first === "version") console.log(version);
else {
  // Long patterns are compiled once, not first for an interpreter: a process lives for a second or two.
  setFlagsFromString("--no-regexp-tier-up");
  // A reader that has seen enough, such as head, closes the pipe; that is no error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") process.stderr.write(`knack: cannot write its output: ${error.message}\n`);
    process.exit(error.code === "EPIPE" ? 0 : 1);
  });
  const { main } = loadCompiled<typeof import("./main.ts")>({
    script: fileURLToPath(new URL("./main.cjs", import.meta.url)),
    encoding: "utf8",
    cache: findCache(),
    require: createRequire(import.meta.url),
    load: (id) => import(id.startsWith(".") ? new URL(id, import.meta.url).href : id),
  });
  process.exitCode = await main(process.argv.slice(2), {
    env: process.env,
    examples: fileURLToPath(new URL("../examples/sessions", import.meta.url)),
    redactionThread: new URL("./redaction-thread.js", import.meta.url),
    page: new URL("./page/", import.meta.url),
    program: {
      version,
      node: process.execPath,
      cli: fileURLToPath(new URL("./cli.js", import.meta.url)),
      hook: fileURLToPath(new URL("./hook.cjs", import.meta.url)),
      template: fileURLToPath(new URL("../plugin", import.meta.url)),
    },
  });
}

/** Where compiled code is kept: nowhere, where Knack has no home yet. */
function findCache(): string | null {
  try {
    const { folder, cache } = resolveHome(process.env);
    return existsSync(folder) ? nameCodeCache(cache, "cli") : null;
  } catch {
    return null;
  }
}
