import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createAgentFolders } from "../../src/agents/agents.ts";
import type { Clock } from "../../src/base/ids.ts";
import { recordEntries } from "../../src/lessons/fold.ts";
import { createLibrary, createVersions } from "../../src/library/files/packages.ts";
import { openCurator } from "../../src/library/lifecycle/curate.ts";
import type { PublishDeps } from "../../src/library/publish/changes.ts";
import { openPublishing } from "../../src/library/publish/open-publishing.ts";
import type { Item } from "../../src/records/change.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { Finding, Lesson } from "../../src/records/lesson.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { createRedactor } from "../../src/trust/redactor.ts";
import { aFinding, made } from "./findings.ts";
import { tempFolder } from "./temp.ts";

/** Publishing with real parts in folders of its own: a person's home, and a repository in it. */
export interface Desk extends PublishDeps, ReturnType<typeof openPublishing> {
  readonly home: string;
  readonly repository: string;
  /** Lets Knack learn a lesson, as if from a session, and answers with the instinct it belongs to. */
  learns(finding?: Partial<Finding>, session?: string): Promise<Lesson>;
}

/** `clock` instead of one that goes on by a millisecond whenever it is asked. */
export async function desk({
  clock = ticking(Date.UTC(2026, 0, 10)),
}: {
  readonly clock?: Clock;
} = {}): Promise<Desk> {
  const home = tempFolder();
  const repository = join(home, "work");
  mkdirSync(join(repository, ".git/info"), { recursive: true });
  const store = await openSqlite({ path: ":memory:", clock });
  onTestFinished(() => store.close());
  const found: LedgerEntry = {
    at: 1,
    project: "/p",
    session: "/s/0.jsonl",
    actor: "knack",
    type: "session.found",
    key: "found:/s/0.jsonl",
    data: { project: { id: "/p", name: "work", root: repository }, path: "/s/0.jsonl" },
  };
  await store.transaction((tx) => recordEntries(tx, [found]));
  const deps: PublishDeps = {
    store,
    clock,
    library: createLibrary(),
    versions: createVersions(join(home, ".knack/versions")),
    places: createAgentFolders({
      home,
      env: {},
      drafts: { folder: join(home, ".knack/drafts"), root: join(home, ".knack") },
    }),
    redactor: createRedactor(),
    prefixOf: async () => "rl-",
    isFound: async ({ path }) => existsSync(path),
  };
  return {
    ...{ home, repository, ...deps, ...openPublishing(deps) },
    learns: async (more = {}, session = "/s/1.jsonl") => {
      const entry = made(session, aFinding(more));
      await store.transaction((tx) => recordEntries(tx, [entry]));
      const [kept] = await store.learning.findings.get([entry.data.id]);
      const [instinct] = await store.learning.lessons.get([kept?.lessonId ?? ""]);
      return instinct as Lesson;
    },
  };
}

/** What keeps a library of these items small; learning is on everywhere unless `refuses` says otherwise. */
export function curator(
  own: PublishDeps,
  items: readonly Item[] = [],
  refuses: () => Promise<string | null> = async () => null,
) {
  return openCurator(own, { items: async () => items, refuses });
}

function ticking(from: number): Clock {
  let now = from;
  return { now: () => ++now };
}
