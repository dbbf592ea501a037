import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { makeId } from "../src/base/index.ts";
import { recordEntries } from "../src/lessons/fold.ts";
import { openKnack } from "../src/open.ts";
import { getSessionId } from "../src/records/index.ts";
import type { LedgerEntry } from "../src/records/ledger.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { markDatabase, servePage } from "../src/web/server.ts";
import { writeHistory } from "../test/helpers/history.ts";
import { fillBusyHome } from "./busy-home.ts";
import { atMost, type Figure, inTempFolder, median, root } from "./measure.ts";

const stored = { lessons: 10_000, sessions: 2_000 };
const paths = [
  ...["/", "/?days=365", "/inbox", "/lessons", "/library", "/library?q=npm+install+fails", "/sessions"],
  ...["/sessions?failed=365", "/told?days=365", "/goals"],
];
const rounds = 5;

/** How long the server takes for each page of a large home: at first, and when the database has just changed. */
export async function page(): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const env = { KNACK_HOME: join(folder, "home"), HOME: folder };
    const database = join(env.KNACK_HOME, "knack.db");
    const mark = () => markDatabase(database);
    const knack = await openKnack({ env, mark });
    writeHistory(join(folder, "history"), { sessions: stored.sessions, turns: 3 });
    await knack.sessions([join(folder, "history")]);
    const sessions = (await knack.knownSessions()).map(getSessionId);
    const store = await openSqlite({ path: database, clock: { now: Date.now } });
    const project = join(folder, "work");
    mkdirSync(join(project, ".git"), { recursive: true });
    await fillBusyHome(store, {
      lessons: stored.lessons,
      root: project,
      now: Date.now(),
      days: 365,
      sessions,
    });
    const single = [
      `/lessons/${(await knack.lessons())[0]?.id}`,
      `/sessions/${makeId("s", sessions[0] ?? "")}`,
    ];
    const all = [...paths, ...single];
    const opened = await servePage({
      ...{ knack, mark, port: 0, idleMs: 600_000, now: Date.now, readOnly: true },
      ...{ command: "knack", shorten: (path: string) => path, change: (work) => work(knack) },
      ...{ health: { look: unused, repair: unused }, replay: unused },
      assets: pathToFileURL(join(root, "dist/page/")),
    });
    const entered = await fetch(opened.address, { redirect: "manual" });
    const headers = { cookie: String(entered.headers.get("set-cookie")).split(";")[0] ?? "" };
    // The time that the processor works: another program's does not count, and asking counts too.
    const ask = async (path: string) => {
      const started = process.cpuUsage();
      const answer = await fetch(new URL(path, opened.address), { headers });
      await answer.text();
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
      const { user, system } = process.cpuUsage(started);
      return (user + system) / 1_000;
    };
    const times = { anew: new Map<string, number[]>(), again: new Map<string, number[]>() };
    for (let round = 0; round < rounds; round++)
      for (const path of all) {
        await store.transaction((tx) => recordEntries(tx, [noted(`${path} ${round}`)]));
        for (const how of ["anew", "again"] as const)
          times[how].set(path, [...(times[how].get(path) ?? []), await ask(path)]);
      }
    opened.close();
    await opened.ended;
    await Promise.all([store.close(), knack.close()]);
    for (const path of all)
      console.log(
        `  ${path.padEnd(30)} ${Math.round(median(times.anew.get(path) ?? []))} ms after a change, ${Math.round(median(times.again.get(path) ?? []))} ms otherwise`,
      );
    const worst = (how: "anew" | "again") =>
      Math.max(...all.map((path) => median(times[how].get(path) ?? [])));
    const about = `of ${stored.lessons} lessons and ${stored.sessions} sessions`;
    return [
      atMost(`slowest page ${about}`, worst("again"), 200, " ms"),
      atMost(`slowest page ${about}, just changed`, worst("anew"), 300, " ms"),
    ];
  });
}

/** Something that changes the database, and nothing that is shown. */
function noted(key: string): LedgerEntry {
  const common = { at: Date.now(), project: null, session: null, actor: "knack" as const };
  return { ...common, type: "prompt.unmatched", key: `bench ${key}`, data: { text: key } };
}

async function unused(): Promise<never> {
  throw new Error("no page of the bench asks for this");
}
