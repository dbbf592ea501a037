#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
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
  const { main } = await import("./main.ts");
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
