// npm run test:clients: drives the published agents beside Claude Code and Codex with a scripted model on 127.0.0.1.
import { spawnSync } from "node:child_process";
import { root, setUp } from "./setup.mjs";

await setUp();
const { installClients } = await import("../test/clients/install.mjs");
const { installMoreClients } = await import("../test/more-clients/install.mjs");
await installClients();
await installMoreClients();

const words = [
  "node_modules/vitest/vitest.mjs",
  "run",
  "--project",
  "more-clients",
  ...process.argv.slice(2),
];
const { status } = spawnSync(process.execPath, words, {
  cwd: root,
  stdio: ["ignore", "inherit", "inherit"],
  env: { ...process.env, KNACK_TEST_CLIENTS: "1" },
});
process.exit(status ?? 1);
