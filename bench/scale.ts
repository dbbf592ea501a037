import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { claudeSession, writeHistory } from "../test/helpers/history.ts";
import { atMost, type Figure, inTempFolder, median, root } from "./measure.ts";

const cli = join(root, "dist/cli.js");

/** Memory for a transcript of a gigabyte, time for ten times the sessions, and a first run on gigabytes of history. */
export async function scale(): Promise<Figure[]> {
  return [await memory(), await tenfold(), ...(await firstRun())];
}

/** What a newcomer waits for who has used agents for a year. */
async function firstRun(): Promise<Figure[]> {
  return inTempFolder(async (home) => {
    const folder = join(home, ".claude/projects/-home-dev-app");
    mkdirSync(folder, { recursive: true });
    const texts = Array.from({ length: 20 }, (_, n) => claudeSession(n, 120));
    let bytes = 0;
    for (let n = 0; bytes < 2 * 2 ** 30; n++) {
      // Ids of its own make each a session of its own.
      const text = (texts[n % texts.length] as string)
        .replaceAll("5f0c1a52-0000-4000-8000", `5f0c1a52-0000-4000-${String(n).padStart(4, "0")}`)
        .replaceAll('"uuid":"00000000', `"uuid":"${String(n).padStart(8, "0")}`);
      writeFileSync(join(folder, `${n}.jsonl`), text);
      bytes += Buffer.byteLength(text);
    }
    const { ms, megabytes, stdout } = await run([], home);
    const [first = "", , , read = "", left = ""] = stdout.split("\n");
    console.log(
      `  ${(bytes / 2 ** 30).toFixed(1)} GB: ${(ms / 1000).toFixed(0)} s, ${megabytes.toFixed(0)} MB. ${first} ${read} ${left}`,
    );
    return [atMost("first answer of knack with 2 GB of history", ms / 1000, 60, " s")];
  });
}

async function memory(): Promise<Figure> {
  return inTempFolder(async (folder) => {
    const file = join(folder, "gigabyte.jsonl");
    writeFileSync(file, "");
    for (let n = 0; statSync(file).size < 2 ** 30; n++)
      appendFileSync(
        file,
        claudeSession(n, 500)
          .replaceAll("5f0c1a52-0000-4000-8000", `5f0c1a52-0000-4000-${n}`)
          .replaceAll('"uuid":"00000000', `"uuid":"${String(n).padStart(8, "0")}`),
      );
    const gigabytes = statSync(file).size / 2 ** 30;
    const { megabytes, ms, stdout } = await run(["sessions", file, "--json"], folder);
    const [session] = JSON.parse(stdout).sessions;
    console.log(
      `  ${gigabytes.toFixed(2)} GB in one transcript: ${(ms / 1000).toFixed(0)} s, ${session.counts.events} events`,
    );
    return atMost("memory for a transcript of 1 GB", megabytes, 300, " MB");
  });
}

async function tenfold(): Promise<Figure> {
  return inTempFolder(async (folder) => {
    const times = { one: [] as number[], ten: [] as number[] };
    for (const [name, sessions] of [
      ["one", 40],
      ["ten", 400],
    ] as const)
      writeHistory(join(folder, name), { sessions, turns: 12 });
    for (let round = 0; round < 3; round++) {
      for (const name of ["one", "ten"] as const) {
        const home = join(folder, `home-${name}-${round}`);
        mkdirSync(home);
        times[name].push((await run(["sessions", join(folder, name), "--json"], home)).ms);
      }
    }
    const [one, ten] = [median(times.one), median(times.ten)];
    console.log(`  40 sessions ${one.toFixed(0)} ms, 400 sessions ${ten.toFixed(0)} ms`);
    return atMost("time for ten times the sessions", ten / one, 11, " times");
  });
}

/** Runs knack and says how long it took and how much memory it had at the most. */
function run(
  words: readonly string[],
  home: string,
): Promise<{ ms: number; megabytes: number; stdout: string }> {
  const tellPeak = join(dirname(fileURLToPath(import.meta.url)), "tell-peak.mjs");
  return new Promise((done) => {
    const started = performance.now();
    const child = spawn(process.execPath, ["--import", tellPeak, cli, ...words], {
      env: { PATH: process.env.PATH, HOME: home, KNACK_HOME: join(home, ".knack") },
      stdio: ["ignore", "pipe", "inherit", "pipe"],
    });
    let [stdout, peak] = ["", ""];
    child.stdout?.on("data", (text) => {
      stdout += text;
    });
    child.stdio[3]?.on("data", (text) => {
      peak += text;
    });
    child.on("close", () => done({ ms: performance.now() - started, megabytes: Number(peak), stdout }));
  });
}
