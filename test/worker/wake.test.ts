import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { resolveHome } from "../../src/settings/index.ts";
import { wakeWorker } from "../../src/spool/index.ts";
import { tempFolder } from "../helpers/temp.ts";

/** A worker that says that it was started, where a process that runs has left its sign. */
async function isWoken(until: number): Promise<boolean> {
  const folder = tempFolder();
  const home = resolveHome({ HOME: folder, KNACK_HOME: join(folder, ".knack") });
  mkdirSync(home.folder, { recursive: true });
  const [program, woken] = [join(folder, "program.mjs"), join(folder, "woken")];
  writeFileSync(
    program,
    `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(woken)}, "");`,
  );
  writeFileSync(home.worker, JSON.stringify({ pid: process.pid, until }));
  wakeWorker(home, program, { PATH: process.env.PATH }, 1_000);
  for (let times = 0; times < 40 && !existsSync(woken); times++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  return existsSync(woken);
}

describe("a worker", () => {
  test("is not started beside one that runs", async () => expect(await isWoken(2_000)).toBe(false));

  test("is started where the one before had to end by now, whoever has its process id", async () =>
    expect(await isWoken(999)).toBe(true));

  test("is started where the one before signed with a clock that was ahead", async () =>
    expect(await isWoken(365 * 86_400_000)).toBe(true));
});
