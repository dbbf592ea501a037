import { join } from "node:path";
import { openLessons } from "../src/lessons/decisions.ts";
import { recordEntries } from "../src/lessons/fold.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { made } from "../test/helpers/findings.ts";
import { seeded } from "../test/helpers/history.ts";
import { lesson } from "./lessons.ts";
import { atMost, type Figure, inTempFolder } from "./measure.ts";

const projects = 200;
const perProject = 50;
/** Lessons that all projects share, each in a wording of its own. */
const shared = 20;

/** Finding what 200 projects have learned alike, with 10,000 lessons in the store. */
export async function promoting(): Promise<Figure[]> {
  return inTempFolder(async (folder) => {
    const clock = { now: () => Date.UTC(2026, 0, 3) };
    const store = await openSqlite({ path: join(folder, "knack.db"), clock });
    const random = seeded(1);
    const common = Array.from({ length: shared }, (_, n) => lesson(n, random));
    for (let project = 0; project < projects; project++) {
      const entries = Array.from({ length: perProject }, (_, n) => {
        // Those that are shared have the same words, and one more of the project's own.
        const same = common[n];
        const own = same ? { ...same, action: `${same.action} alias${project}` } : lesson(n, random);
        const sure = { kind: "explicit-instruction" as const, refs: [`e${n}`], at: Date.UTC(2026, 0, 2) };
        return made(`s${project}-${n}`, { ...own, ...sure }, 1, `/p${project}`);
      });
      await store.transaction((tx) => recordEntries(tx, entries));
    }
    const before = process.cpuUsage();
    const [first, due] = await timed(() => openLessons({ store, clock }).promoteDue());
    const { user, system } = process.cpuUsage(before);
    const [again] = await timed(() => openLessons({ store, clock }).promoteDue());
    const [mark] = await timed(() => store.learning.lessons.mark());
    await store.close();
    console.log(
      `  ${(projects * perProject).toLocaleString("en")} lessons: ${first.toFixed(0)} ms (${((user + system) / 1_000).toFixed(0)} ms of the processor) for ${due.length} lessons, ${again.toFixed(0)} ms for all once more, ${mark.toFixed(0)} ms when nothing is new`,
    );
    if (due.length < shared) throw new Error(`only ${due.length} of ${shared} shared lessons were found`);
    return [atMost(`promoting across ${projects} projects`, first / 1_000, 2, " s")];
  });
}

async function timed<T>(work: () => Promise<T>): Promise<[ms: number, result: T]> {
  const started = performance.now();
  const result = await work();
  return [performance.now() - started, result];
}
