// npm start: sets up what is missing, then runs knack with the words given.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root, setUp } from "./setup.mjs";

await setUp();
const cli = join(root, "dist", "cli.js");
const { status, signal } = spawnSync(process.execPath, [cli, ...process.argv.slice(2)], {
  stdio: "inherit",
  cwd: process.env.INIT_CWD ?? root,
});
if (signal) process.kill(process.pid, signal);
process.exitCode = status ?? 1;
