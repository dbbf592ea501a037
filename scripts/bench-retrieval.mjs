// npm run bench:retrieval: bundles bench/retrieval.ts and runs it with the words given.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root, setUp } from "./setup.mjs";

await setUp();
const { build } = await import("esbuild");
// Below node_modules, so that the packages left outside the bundle are found.
const folder = mkdtempSync(join(root, "node_modules", ".knack-retrieval-"));
try {
  const file = join(folder, "retrieval.mjs");
  await build({
    absWorkingDir: root,
    entryPoints: ["bench/retrieval.ts"],
    outfile: file,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "warning",
  });
  // Paths are given as seen from where npm was called.
  const cwd = process.env.INIT_CWD ?? process.cwd();
  const { status } = spawnSync(process.execPath, [file, ...process.argv.slice(2)], { stdio: "inherit", cwd });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
