#!/usr/bin/env node
import { version } from "./version.ts";

// Answered before anything is loaded.
const [first] = process.argv.slice(2);
if (first === "--version" || first === "-v") console.log(version);
else {
  const { main } = await import("./main.ts");
  process.exitCode = await main(process.argv.slice(2), process.env);
}
