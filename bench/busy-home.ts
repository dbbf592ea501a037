import { recordEntries } from "../src/lessons/fold.ts";
import type { LedgerEntry } from "../src/records/ledger.ts";
import type { SessionId } from "../src/records/session.ts";
import type { Store } from "../src/store/store.ts";
import { slugify } from "../src/text/index.ts";
import { seeded } from "../test/helpers/history.ts";
import { fill } from "./lessons.ts";

const dayMs = 86_400_000;
/** One lesson in so many is sure enough to be asked about by itself; the others wait for a second session. */
const oneSureIn = 4;
/** Failures that sessions have in common. */
const knownFailures = 400;

interface BusyHome {
  readonly lessons: number;
  /** The folder of the project. */
  readonly root: string;
  readonly now: number;
  /** The days that it took. */
  readonly days: number;
  /** Sessions that were measured, and told something. */
  readonly sessions?: readonly SessionId[];
}

/** Fills a store as years of work would: lessons until this very day, failures of which some come back, and tellings. */
export async function fillBusyHome(store: Store, about: BusyHome): Promise<void> {
  const { lessons, root, now, days, sessions = [] } = about;
  const atOf = (n: number, of: number) => Math.round(now - ((of - n) / of) * days * dayMs);
  await fill(store, lessons, {
    root,
    change: (finding, n) => ({
      ...finding,
      name: slugify(finding.trigger),
      confidence: n % oneSureIn === 0 ? 0.9 : 0.55,
      at: atOf(n, lessons),
    }),
  });
  const ids = (await store.learning.lessons.list()).map(({ id }) => id);
  const random = seeded(7);
  const pick = (most: number) => Math.floor(random() * most);
  const entries = sessions.flatMap((session, n): LedgerEntry[] => {
    const at = atOf(n, sessions.length);
    const common = { at, project: root, session, actor: "knack" as const };
    const id = ids[pick(ids.length)] ?? "";
    const failures = Array.from({ length: pick(4) }, () => [`f${pick(knownFailures)}`, at + 1_000] as const);
    const measured = { run: session, events: 40, startedAt: at, turns: [[at, 20]] as const, corrections: [] };
    return [
      { ...common, type: "session.measured", key: `measured ${session}`, data: { ...measured, failures } },
      {
        ...{ ...common, type: "lesson.shown", key: `shown ${session}` },
        data: { lessonId: id, occasion: "failure", text: `Knack: use what helped (${n}).`, transcript: null },
      },
      {
        ...{ ...common, type: "use.rated", key: `rated ${session}` },
        data: { id, kind: "lesson", name: id, verdict: "helpful", because: "it came next and worked" },
      },
    ];
  });
  await store.transaction((tx) => recordEntries(tx, entries));
}
