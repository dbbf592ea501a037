import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Event, noCounts } from "../src/records/session.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { called, edited, ran, replied, said } from "../test/helpers/events.ts";
import { prose, seeded } from "../test/helpers/history.ts";
import { atMost, type Figure, inTempFolder, median } from "./measure.ts";

const count = 200_000;

/** What a review of a session of 200,000 events is given, and what it takes to gather that. */
export async function reviewing(): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const path = join(folder, "knack.db");
    await write(path);
    const runs = Array.from({ length: 5 }, () => once(path));
    const { characters, events, timeline, spans } = runs[0] as Gathered;
    console.log(
      `  ${count} events in ${(statSync(path).size / 2 ** 20).toFixed(0)} MB: ${events} told, ${timeline} in the index, ${spans} stretches left out; ${median(runs.map(({ cpuMs }) => cpuMs)).toFixed(0)} ms of processor time`,
    );
    return [
      atMost(
        "gathering the dossier of a review, session of 200,000 events",
        median(runs.map(({ ms }) => ms)),
        1_000,
        " ms",
      ),
      atMost("memory of the process", Math.max(...runs.map(({ megabytes }) => megabytes)), 200, " MB"),
      atMost("characters of the dossier", characters, 60_000),
    ];
  });
}

interface Gathered {
  readonly ms: number;
  readonly cpuMs: number;
  readonly megabytes: number;
  readonly characters: number;
  readonly events: number;
  readonly timeline: number;
  readonly spans: number;
}

function once(path: string): Gathered {
  const script = join(dirname(fileURLToPath(import.meta.url)), "dossier-once.mjs");
  const { stdout } = spawnSync(process.execPath, [script, path, "/t/bench", String(count)], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(stdout) as Gathered;
}

async function write(path: string): Promise<void> {
  const store = await openSqlite({ path, clock: { now: Date.now } });
  const session = "/t/bench";
  await store.sessions.save([
    {
      ...{
        id: session,
        path: session,
        format: "claude-code",
        sessionId: "bench",
        agentId: null,
        subagent: false,
      },
      ...{ cwd: "/app", remote: null, transcriptPath: null, startedAt: 0, endedAt: 1 },
      project: { id: "/app", name: "app", root: "/app" },
      counts: noCounts,
    },
  ]);
  const random = seeded(8);
  const atOnce = 5_000;
  for (let from = 0; from < count; from += atOnce)
    await store.events.save([
      { session, events: Array.from({ length: atOnce }, (_, n) => eventAt(from + n + 1, random)) },
    ]);
  await store.close();
}

/** A long life: a request, some looking around, work that often fails at first, and an answer. */
function eventAt(n: number, random: () => number): Event {
  const output = prose(random, random() < 0.1 ? 5_000 : 900);
  const made = [
    () => said(prose(random, 200)),
    () => replied(prose(random, 300)),
    () => called("Read", { file_path: `/app/src/part-${n}.ts` }, "ok", output),
    () => called("Grep", { pattern: prose(random, 20), path: "/app/src" }, "ok", output),
    () => ({
      ...edited(`/app/src/part-${n}.ts`),
      input: { old_string: prose(random, 300), new_string: output },
    }),
    () => ran(`cd /app && npm test -- part-${n % 50}`, random() < 0.3 ? "failed" : "ok", output),
    () => ran(`git commit -m "${prose(random, 40)}"`, random() < 0.05 ? "failed" : "ok", ""),
    () => replied(prose(random, 600)),
  ];
  // Of ten turns one is a long one without a word of anybody.
  const step = Math.floor(n / 8) % 10 === 9 ? 2 + (n % 5) : n % 8;
  const event = (made[step] as () => Event)();
  return {
    ...event,
    ref: `e${n}`,
    key: String(n),
    resultKey: event.kind === "call" ? String(n + 1) : null,
    at: 1_760_000_000_000 + n * 1_000,
    turn: Math.ceil(n / 8),
    cwd: "/app",
    callId: event.kind === "call" ? `toolu_${n}` : null,
    origin: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
  };
}
