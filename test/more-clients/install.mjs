// Installs the other published agents that `npm run test:clients` drives, once, from this folder's own lockfile.
//   node test/more-clients/install.mjs
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { installFolder } from "../clients/install.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, "node_modules");

/** Where the installed programs are; they are there only after `installMoreClients`. */
export const moreClients = {
  gemini: join(modules, "@google/gemini-cli/bundle/gemini.js"),
  // The program itself, which opencode-ai fetches for the system it is on.
  opencode: join(modules, "opencode-linux-x64/bin/opencode"),
  copilot: join(modules, "@github/copilot/npm-loader.js"),
  // 0.74.2 is the newest that Node 20 runs.
  pi: join(modules, "@earendil-works/pi-coding-agent/dist/cli.js"),
};

/** Make sure the clients are there. Cheap when they are; may be called by several processes at once. */
export async function installMoreClients() {
  const says = "Installing Gemini CLI, OpenCode, Copilot CLI and pi for the tests (about 650 MB, once)";
  await installFolder(here, { says });
  return moreClients;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  await installMoreClients();
