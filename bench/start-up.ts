import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { atMost, type Figure, inTempFolder, median, root } from "./measure.ts";

/** What it costs to start, against starting node with nothing to do. */
export async function startUp(): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    mkdirSync(join(folder, "home"));
    const commands: Record<string, string[]> = {
      node: ["-e", "0"],
      version: [join(root, "dist/cli.js"), "--version"],
    };
    const times = new Map(Object.keys(commands).map((name) => [name, [] as number[]]));
    for (let round = 0; round < 41; round++) {
      for (const [name, args] of Object.entries(commands)) {
        const started = performance.now();
        spawnSync(process.execPath, args, { env: { HOME: join(folder, "home") } });
        if (round > 0) times.get(name)?.push(performance.now() - started);
      }
    }
    const [node = 0, version = 0] = [...times.values()].map(median);
    console.log(`  node -e 0 ${node.toFixed(0)} ms, knack --version ${version.toFixed(0)} ms`);
    return [atMost("start of knack --version, of node -e 0", version / node, 2.5, " times")];
  });
}
