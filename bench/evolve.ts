import { join } from "node:path";
import { createAgentFolders } from "../src/agents/agents.ts";
import { clusterLessons } from "../src/library/evolve/clusters.ts";
import { openEvolution } from "../src/library/evolve/evolve.ts";
import { createLibrary, createVersions } from "../src/library/files/packages.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import type { Redactor } from "../src/trust/redactor.ts";
import { fill } from "./lessons.ts";
import { atMost, type Figure, inTempFolder, timed } from "./measure.ts";

const stored = 10_000;

/** What it takes to see what ten thousand lessons have grown into, and what would be done about it. */
export async function evolving(): Promise<Figure[]> {
  return inTempFolder(async (home) => {
    const clock = { now: () => Date.UTC(2026, 0, 12) };
    const store = await openSqlite({ path: join(home, "knack.db"), clock });
    await fill(store, stored);
    const learned = await store.learning.lessons.list();
    // As sure as lessons are that three sessions agree on: all of them may belong together.
    const sure = { status: "active", confidence: 0.85, sessions: 3, lastAt: clock.now() } as const;
    const lessons = learned.map((one) => ({ ...one, state: { ...one.state, ...sure } }));
    await store.learning.lessons.save(lessons);
    const deps = {
      ...{ store, clock, library: createLibrary(), versions: createVersions(join(home, "versions")) },
      places: createAgentFolders({ home, env: {}, drafts: { folder: join(home, "drafts"), root: home } }),
      redactor: asItIs,
      prefixOf: async () => "rl-",
      isFound: async () => true,
    };
    const library = async () => ({ items: [], unread: [] });
    const { evolutions } = openEvolution(deps, { library, refuses: async () => null });
    const choice = { reach: "draft", actor: "person" } as const;
    const [grouping = 0, all = 0] = await timed(4, [
      () => clusterLessons(lessons, clock.now()),
      () => evolutions({ choice }),
    ]);
    const found = clusterLessons(lessons, clock.now());
    console.log(
      `  ${lessons.length} lessons: ${found.length} clusters in ${grouping.toFixed(0)} ms, with texts and plans ${all.toFixed(0)} ms`,
    );
    await store.close();
    return [atMost(`clustering ${stored} lessons, with texts and plans`, all / 1000, 5, " s")];
  });
}

/** What is known was scrubbed when it was read; looking at it takes no second time. */
const asItIs: Redactor = {
  scrub: async (fields) => fields.map(({ text }) => text),
  close: async () => {},
};
