import { gatherDossier } from "../src/authoring/reviews/dossier.ts";
import { openSqlite } from "../src/store/sqlite.ts";
import { createRedactor } from "../src/trust/redactor.ts";
import { peakMegabytes } from "./measure.ts";

// Gathers what a review of one session of a database is given, in a process of its own, and prints what that took.
const [path = "", session = "", count = ""] = process.argv.slice(2);
const store = await openSqlite({ path, clock: { now: Date.now } });
const redactor = createRedactor();
// Who reviews has read sessions before, and has its rules by then.
await redactor.scrub([{ label: "", text: "x" }]);
const before = process.cpuUsage();
const started = performance.now();
const dossier = await gatherDossier(
  { store, redactor },
  {
    project: "bench",
    window: { stretches: [{ session, run: "bench", from: 1, to: Number(count) }], since: 0, until: 1 },
    signals: [],
    leads: [{ do: "create", hint: "x", why: "y", refs: ["s1.e17", `s1.e${count}`] }],
    skills: [],
  },
);
const ms = performance.now() - started;
const { user, system } = process.cpuUsage(before);
await store.close();
console.log(
  JSON.stringify({
    ms,
    cpuMs: (user + system) / 1_000,
    megabytes: peakMegabytes(),
    characters: JSON.stringify(dossier).length,
    events: dossier.included.length,
    timeline: dossier.timeline.length,
    spans: dossier.omitted.length,
  }),
);
