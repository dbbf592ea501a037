import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openKnack } from "../src/open.ts";
import { Transcripts } from "../src/transcripts/files.ts";
import type { Redactor } from "../src/trust/redactor.ts";
import { createThreadRedactor } from "../src/trust/thread.ts";
import { writeHistory } from "../test/helpers/history.ts";
import { atLeast, type Figure, inTempFolder, root, timed } from "./measure.ts";

/** Reading to events and full ingest, against bare splitting and parsing of the same bytes. */
export async function reading(): Promise<Figure[]> {
  const figures: Figure[] = [];
  await inTempFolder(async (folder) => {
    const made = join(folder, "made");
    const { files } = writeHistory(made, { sessions: 80, turns: 90 });
    figures.push(...(await measure("made-up sessions", files, folder)));
    const real = process.env.KNACK_EVAL_DIR ? join(process.env.KNACK_EVAL_DIR, "sessions") : "";
    if (existsSync(real)) {
      const names = ["claude-code", "codex"].flatMap((format) =>
        readdirSync(join(real, format), { recursive: true, encoding: "utf8" })
          .filter((name) => name.endsWith(".jsonl"))
          .map((name) => join(real, format, name)),
      );
      figures.push(...(await measure("real sessions", names, folder)));
    }
  });
  return figures;
}

async function measure(what: string, files: readonly string[], folder: string): Promise<Figure[]> {
  // Warm like everything else that is measured: one thread for all rounds.
  const thread = createThreadRedactor(pathToFileURL(join(root, "dist/redaction-thread.js")));
  const redactor = { ...thread, close: async () => {} };
  const bytes = files.reduce((sum, file) => sum + readFileSync(file).length, 0);
  const [bare = 0, read = 0, ingested = 0] = await timed(8, [
    () => parseAll(files),
    () => readAll(files),
    () => ingestAll(files, join(folder, "home"), redactor),
  ]);
  await thread.close();
  console.log(
    `  ${what}: ${(bytes / 1e6).toFixed(0)} MB; bare ${rate(bytes, bare)}, read ${rate(bytes, read)}, ingest ${rate(bytes, ingested)}`,
  );
  return [
    atLeast(`reading ${what}, of bare parsing`, bare / read, 0.6),
    atLeast(`ingesting ${what}, of bare parsing`, bare / ingested, 0.25),
  ];
}

function rate(bytes: number, ms: number): string {
  return `${(bytes / 1e3 / ms).toFixed(0)} MB/s`;
}

function parseAll(files: readonly string[]): number {
  let records = 0;
  for (const file of files) {
    const bytes = readFileSync(file);
    let start = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      try {
        JSON.parse(bytes.toString("utf8", start, end));
        records++;
      } catch {
        // A broken line costs the same.
      }
      start = end + 1;
    }
  }
  return records;
}

async function readAll(files: readonly string[]): Promise<number> {
  const transcripts = new Transcripts();
  let events = 0;
  for (const file of files) {
    for await (const piece of transcripts.read(file, null))
      for (const thread of piece.threads) events += thread.events.length;
  }
  return events;
}

async function ingestAll(files: readonly string[], home: string, redactor: Redactor): Promise<void> {
  rmSync(home, { recursive: true, force: true });
  const knack = await openKnack({ env: { HOME: home, KNACK_HOME: home }, redactor });
  await knack.sessions(files);
  await knack.close();
}
