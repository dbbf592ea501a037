import { openKnack } from "../src/index.ts";
import { findCandidates } from "../src/learning/leads/detect.ts";
import { selectOwnEvents } from "../src/learning/learn.ts";

// Reads the sessions of a folder into a home of its own, and prints what the detectors let through for a model to judge.
const [home = "", folder = ""] = process.argv.slice(2);
const knack = await openKnack({ env: { KNACK_HOME: home, HOME: home } });
const { sessions } = await knack.sessions([folder]);
const findings = [];
for (const session of sessions) {
  if (session.counts.events < 10) continue;
  const events = selectOwnEvents(session, await knack.events(session));
  for (const { kind, keys, lesson, confidence } of findCandidates(events))
    findings.push({ kind, session: session.path, events: keys, lesson, confidence });
}
await knack.close();
console.log(JSON.stringify({ findings }));
