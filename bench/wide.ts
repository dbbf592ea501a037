import { candidatesIn } from "../src/core/detect/index.ts";
import { policy } from "../src/core/policy.ts";
import { withoutOtherAgents } from "../src/engine/learn.ts";
import { openKnack } from "../src/index.ts";

// Reads the sessions of a folder into a home of its own, and prints what the detectors let through for a model to judge.
const [home = "", folder = ""] = process.argv.slice(2);
const knack = await openKnack({ env: { KNACK_HOME: home, HOME: home } });
const { sessions } = await knack.sessions([folder]);
const findings = [];
for (const session of sessions) {
  if (session.counts.events < policy.learn.fewestEvents) continue;
  const events = withoutOtherAgents(session, await knack.events(session));
  for (const { kind, keys, lesson, confidence } of candidatesIn(events))
    findings.push({ kind, session: session.path, events: keys, lesson, confidence });
}
await knack.close();
console.log(JSON.stringify({ findings }));
