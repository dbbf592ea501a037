// npm run bench: sets up what is missing, bundles bench/ and runs it. Words name the parts to run; none runs all.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root, setUp } from "./setup.mjs";

await setUp();
const { build } = await import("esbuild");
// Below node_modules, so that the packages left outside the bundle are found.
const folder = join(root, "node_modules", ".knack-bench");
mkdirSync(folder, { recursive: true });
await build({
  absWorkingDir: root,
  // What is measured in a process of its own is a program of its own.
  entryPoints: {
    bench: "bench/index.ts",
    "dossier-once": "bench/dossier-once.ts",
    "tell-cpu": "bench/tell-cpu.ts",
    "tell-peak": "bench/tell-peak.ts",
  },
  outdir: folder,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  platform: "node",
  format: "esm",
  packages: "external",
  define: { KNACK_ROOT: JSON.stringify(root) },
  logLevel: "warning",
});
const { status } = spawnSync(process.execPath, [join(folder, "bench.mjs"), ...process.argv.slice(2)], {
  stdio: "inherit",
  cwd: root,
});
rmSync(folder, { recursive: true });
process.exitCode = status ?? 1;
