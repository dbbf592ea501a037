import { join } from "node:path";
import { recordEntries } from "../../src/lessons/fold.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import { noExcerpt } from "../../src/records/lesson.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { aFinding, made } from "./findings.ts";

/** Lessons about one thing: when each applies, and what is then done. */
export const installs = [
  ["npm install fails with ERESOLVE", "add --legacy-peer-deps"],
  ["npm install fails with EACCES", "set a prefix in the home folder"],
  ["npm install fails behind the proxy", "set the registry in .npmrc"],
] as const;

/** With what people ask for, a command. */
export const releases = [
  ["cutting a release", "bump the version with npm version"],
  ["publishing a release", "pass the access flag to npm publish"],
  ["tagging a release", "push the tags before the notes are written"],
] as const;
export const releaseAsks = ["Cut a release 2.4", "Please cut a release"] as const;

/** Enough about finding something out for an agent. */
export const pods = [
  ["the api pod restarts", "first look at the logs of the pod, then describe it"],
  ["a pod of the worker restarts", "compare the metrics with the health checks"],
  ["the pod restarts after a deploy", "check the history of the rollout"],
  ["a pod restarts at night", "trace it in the events of the node, with its logs"],
] as const;

export type Lessons = readonly (readonly [trigger: string, action: string])[];

/** What one session taught of each of these lessons. */
export function taughtBy(session: string, lessons: Lessons, at: number, project: string): LedgerEntry[] {
  return lessons.map(([trigger, action], n) =>
    made(
      session,
      aFinding({
        ...{ trigger, action, lesson: `${trigger}: ${action}.` },
        ...{ name: trigger.replaceAll(" ", "-").toLowerCase(), keywords: trigger.split(" ") },
        ...{ refs: [`e${trigger.length}${n}`], at },
        excerpt: { ...noExcerpt, failed: trigger.slice(0, 11), worked: `true ${n}` },
      }),
      1,
      project,
    ),
  );
}

/** The ledger's word that people asked for these things in vain, each in a session of its own. */
export function askedInVain(texts: readonly string[], at: number, project: string): LedgerEntry[] {
  return texts.map((text, n) => ({
    ...{ at: at + n, project, session: `/s/ask-${n}.jsonl`, actor: "knack" },
    ...{ type: "prompt.unmatched", key: `unmatched ${n} ${text}`, data: { text } },
  }));
}

/** A home in which three sessions of today agree on all of that, for one project. */
export async function grownHome(home: string, root: string, id = root): Promise<void> {
  const clock = { now: Date.now };
  const store = await openSqlite({ path: join(home, ".knack/knack.db"), clock });
  const at = Date.now() - 60_000;
  const found = [1, 2, 3].map(
    (n): LedgerEntry => ({
      ...{ at: at + n, project: id, session: `/s/${n}.jsonl`, actor: "knack" },
      ...{ type: "session.found", key: `found:/s/${n}.jsonl` },
      data: { project: { id, name: "work", root }, path: `/s/${n}.jsonl` },
    }),
  );
  const taught = [1, 2, 3].flatMap((n) =>
    taughtBy(`/s/${n}.jsonl`, [...installs, ...releases, ...pods], at + n, id),
  );
  await store.transaction((tx) =>
    recordEntries(tx, [...found, ...taught, ...askedInVain(releaseAsks, at, id)]),
  );
  await store.close();
}
