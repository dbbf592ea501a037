import { describe, expect, it, test } from "vitest";
import { findLeads } from "../../src/authoring/reviews/nudge.ts";
import type { Signal } from "../../src/records/writing.ts";
import { aSkill } from "../helpers/dossiers.ts";
import { aFinding } from "../helpers/findings.ts";

type LeadFacts = Parameters<typeof findLeads>[0];

const create: Signal = {
  kind: "create",
  nameHint: "rl-release",
  trigger: "multi_step_workflow",
  deferred: "conversation_still_evolving",
  refs: ["s1.e1", "s1.e2"],
  summary: "How a release is made",
};
const update: Signal = {
  kind: "update",
  skill: "db-tests",
  issue: "stale_command",
  deferred: "needs_existing_skill_diff",
  effect: "retry_after_tool_error",
  refs: ["s1.e3"],
  hint: "The flag is gone",
};
const ground = (more: Partial<LeadFacts>): LeadFacts => ({
  signals: [],
  findings: [],
  work: [{ calls: 40, turns: 4 }],
  skills: [],
  allCalls: [],
  ...more,
});
const told = (gate: ReturnType<typeof findLeads>) =>
  "skip" in gate
    ? gate.skip
    : gate.leads.map((one) => (one.do === "create" ? `create ${one.hint}` : `patch ${one.skill}`));

describe("the leads of a review", () => {
  const npm = aFinding({ name: "npm-install-eresolve", trigger: "npm install fails with ERESOLVE" });
  it.each<[string, Partial<LeadFacts>, string | string[]]>([
    ["skip when nothing points to anything", {}, "nothing points to a lesson"],
    ["create what a create signal asks for", { signals: [create] }, ["create rl-release"]],
    [
      "do not create what is there",
      { signals: [create], skills: [aSkill("rl-release")] },
      "the skills that the signals name cannot be changed",
    ],
    [
      "patch what an update signal names",
      { signals: [update], skills: [aSkill("db-tests")] },
      ["patch db-tests"],
    ],
    [
      "do not patch what is not there",
      { signals: [update] },
      "the skills that the signals name cannot be changed",
    ],
    [
      "never patch a core skill",
      { signals: [update], skills: [aSkill("db-tests", { owner: "core" })] },
      "the skills that the signals name cannot be changed",
    ],
    [
      "go by the signals alone where there are some",
      { signals: [create], findings: [npm] },
      ["create rl-release"],
    ],
    ["create from a sure finding", { findings: [npm] }, ["create npm-install-eresolve"]],
    [
      "do not create from an unsure one",
      { findings: [{ ...npm, confidence: 0.2 }] },
      "nothing points to a lesson",
    ],
    [
      "do not create from what is a rule",
      { findings: [{ ...npm, artifact: "rule" }] },
      "nothing points to a lesson",
    ],
    [
      "patch the skill that a finding is about",
      {
        findings: [npm],
        skills: [aSkill("npm-install", { description: "When npm install fails with ERESOLVE" })],
      },
      ["patch npm-install"],
    ],
    [
      "tell the same thing once",
      { findings: [npm, { ...npm, refs: ["s1.e9"] }] },
      ["create npm-install-eresolve"],
    ],
    [
      "look at a session with more work than usual",
      {
        allCalls: Array(20).fill(80),
        work: [
          { calls: 3, turns: 1 },
          { calls: 81, turns: 4 },
        ],
      },
      ["create a procedure that will be needed again, if there was one"],
    ],
    [
      "skip sessions with as much work as usual, however many",
      { allCalls: Array(20).fill(80), work: Array.from({ length: 36 }, () => ({ calls: 80, turns: 4 })) },
      "nothing points to a lesson",
    ],
    [
      "skip much work without knowing what is usual",
      { work: [{ calls: 500, turns: 9 }] },
      "nothing points to a lesson",
    ],
  ])("%s", (_, more, expected) => expect(told(findLeads(ground(more)))).toEqual(expected));

  test("gather the events of what is told once, and are few", () => {
    const gate = findLeads(ground({ findings: [npm, { ...npm, refs: ["e9"] }] }));
    expect("leads" in gate && gate.leads[0]?.refs).toEqual(["e3", "e9"]);
    const findings = Array.from({ length: 50 }, (_, n) => ({ ...npm, name: `other-${n}`, trigger: `t${n}` }));
    expect(told(findLeads(ground({ findings })))).toHaveLength(6);
  });
});

describe("what is usual in a project", () => {
  const unusual = (calls: number, allCalls: readonly number[]) =>
    "leads" in findLeads(ground({ work: [{ calls, turns: 1 }], allCalls }));

  test("is not known from few sessions", () => {
    expect(unusual(9, Array(19).fill(1))).toBe(false);
    expect(unusual(9, Array(20).fill(1))).toBe(true);
  });

  test("is what nine of ten do not exceed", () => {
    const all = Array.from({ length: 100 }, (_, n) => 2 * (n + 1));
    expect([unusual(180, all), unusual(181, all)]).toEqual([false, true]);
  });
});
