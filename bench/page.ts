import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { recordEntries } from "../src/lessons/fold.ts";
import { openKnack } from "../src/open.ts";
import type { LedgerEntry } from "../src/records/ledger.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { markDatabase, servePage } from "../src/web/server.ts";
import { writeHistory } from "../test/helpers/history.ts";
import { fill } from "./lessons.ts";
import { atMost, type Figure, inTempFolder, median, root } from "./measure.ts";

const stored = { lessons: 10_000, sessions: 2_000 };
const paths = ["/", "/inbox", "/lessons", "/library", "/sessions", "/goals", "/told"];
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
    const store = await openSqlite({ path: database, clock: { now: Date.now } });
    await fill(store, stored.lessons);
    const opened = await servePage({
      ...{ knack, mark, port: 0, idleMs: 600_000, now: Date.now, readOnly: true },
      ...{ command: "knack", shorten: (path: string) => path, change: (work) => work(knack) },
      ...{ health: { look: unused, repair: unused }, replay: unused },
      assets: pathToFileURL(join(root, "dist/page/")),
    });
    const entered = await fetch(opened.address, { redirect: "manual" });
    const headers = { cookie: String(entered.headers.get("set-cookie")).split(";")[0] ?? "" };
    const ask = async (path: string) => {
      const started = performance.now();
      const answer = await fetch(new URL(path, opened.address), { headers });
      await answer.text();
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
      return performance.now() - started;
    };
    const times = { anew: new Map<string, number[]>(), again: new Map<string, number[]>() };
    for (let round = 0; round < rounds; round++)
      for (const path of paths) {
        await store.transaction((tx) => recordEntries(tx, [noted(`${path} ${round}`)]));
        for (const how of ["anew", "again"] as const)
          times[how].set(path, [...(times[how].get(path) ?? []), await ask(path)]);
      }
    opened.close();
    await opened.ended;
    await Promise.all([store.close(), knack.close()]);
    for (const path of paths)
      console.log(
        `  ${path.padEnd(10)} ${Math.round(median(times.anew.get(path) ?? []))} ms after a change, ${Math.round(median(times.again.get(path) ?? []))} ms otherwise`,
      );
    const worst = (how: "anew" | "again") =>
      Math.max(...paths.map((path) => median(times[how].get(path) ?? [])));
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
