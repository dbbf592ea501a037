import { expect, it, onTestFinished } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import { readQuestion, recall } from "../../src/recall/recall.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { aFinding, made } from "../helpers/findings.ts";

const start = Date.UTC(2026, 0, 1);
const found: LedgerEntry = {
  at: start,
  project: "/p",
  session: "s",
  actor: "knack",
  type: "session.found",
  key: "session:s",
  data: { project: { id: "/p", name: "p", root: "/p" }, path: "s" },
};

/** Many lessons about the harbor's tide, and one about its berths. */
const lessons = Array.from({ length: 120 }, (_, n) =>
  made(
    `s${n}`,
    aFinding({ trigger: `harbor tide w${n} x${n} y${n} z${n}`, action: `v${n} u${n}`, at: start + n }),
  ),
);
const wanted = made("wanted", aFinding({ trigger: "harbor tide berth", action: "ask the pilot", at: start }));

it.each([
  ["first", [wanted, ...lessons]],
  ["last", [...lessons, wanted]],
  ["somewhere", [...lessons.slice(60), wanted, ...lessons.slice(0, 60)]],
])(
  "the lesson that shares most with a text is told, though it was read %s of very many",
  async (_, entries) => {
    const store = await openSqlite({ path: ":memory:", clock: { now: () => start } });
    onTestFinished(() => store.close());
    for (const entry of [found, ...entries]) await store.transaction((tx) => recordEntries(tx, [entry]));
    const question = readQuestion("what does the pilot say about the tide at this berth of the harbor?");
    const matches = await recall(store, question, { project: "/p", home: null, asker: "person", now: start });
    expect(matches.map(({ best }) => best.session)).toEqual(["wanted"]);
  },
);
