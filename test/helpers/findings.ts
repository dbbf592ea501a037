import { makeId } from "../../src/base/ids.ts";
import type { EntryOf } from "../../src/records/ledger.ts";
import { type Finding, noExcerpt } from "../../src/records/lesson.ts";

/** A finding about which only what matters is said. */
export function aFinding(more: Partial<Finding> = {}): Finding {
  return {
    kind: "error-recovery",
    lesson: "npm install fails with ERESOLVE; npm install --legacy-peer-deps works.",
    trigger: "npm install fails with ERESOLVE",
    action: "add --legacy-peer-deps",
    steps: [],
    keywords: ["npm", "ERESOLVE"],
    confidence: 0.9,
    name: "npm-install-eresolve",
    scope: "project",
    artifact: "skill",
    excerpt: noExcerpt,
    call: null,
    symptom: null,
    remedy: null,
    refs: ["e3"],
    keys: ["5"],
    at: Date.UTC(2026, 0, 1),
    origin: null,
    ...more,
  };
}

/** The ledger's word that a finding was made in a session. */
export function made(session: string, finding: Finding, pass = 1, project = "/p"): EntryOf<"finding.made"> {
  const id = makeId("i", `${session} ${finding.kind} ${finding.refs[0]}`);
  const scopeId = finding.scope === "user" ? "user" : project;
  return {
    at: finding.at,
    project,
    session,
    actor: "knack",
    type: "finding.made",
    key: `finding:${id}@${pass}`,
    data: { id, pass, run: session, scopeId, foundAt: finding.at ?? 0, finding },
  };
}
