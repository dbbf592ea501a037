import { describe, expect, it, test } from "vitest";
import { policy } from "../../src/core/policy.ts";
import {
  baselineOf,
  type Gate,
  type GateGround,
  gateByRules,
  gateInquiry,
  gateSchema,
  readGate,
} from "../../src/core/review-gate.ts";
import type { Signal } from "../../src/core/signal.ts";
import { aSkill, dossierWith, recordsIn, toCreate, toPatch } from "../helpers/dossiers.ts";
import { ran, replied, said, session } from "../helpers/events.ts";
import { aFinding } from "../helpers/findings.ts";

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
const baseline = { sessions: 30, turns: { p50: 3, p90: 9 }, calls: { p50: 20, p90: 80 } };
const ground = (more: Partial<GateGround>): GateGround => ({
  signals: [],
  findings: [],
  work: [{ calls: 40, turns: 4 }],
  skills: [],
  baseline: null,
  ...more,
});
const told = (gate: Gate) =>
  "skip" in gate
    ? gate.skip
    : gate.leads.map((one) => (one.do === "create" ? `create ${one.hint}` : `patch ${one.skill}`));

describe("the rules of the gate", () => {
  const npm = aFinding({ name: "npm-install-eresolve", trigger: "npm install fails with ERESOLVE" });
  it.each<[string, Partial<GateGround>, string | string[]]>([
    [
      "skip when the library was not read, whatever is signalled",
      { skills: null, signals: [create] },
      "the skills could not be read, so nothing is known of what exists",
    ],
    ["skip when nothing points to anything", {}, "nothing in it points to a lesson"],
    ["create what a create signal asks for", { signals: [create] }, ["create rl-release"]],
    [
      "do not create what is there",
      { signals: [create], skills: [aSkill("rl-release")] },
      "what the signals speak of is not there to be changed",
    ],
    [
      "patch what an update signal names",
      { signals: [update], skills: [aSkill("db-tests")] },
      ["patch db-tests"],
    ],
    [
      "do not patch what is not there",
      { signals: [update] },
      "what the signals speak of is not there to be changed",
    ],
    [
      "never patch a core skill",
      { signals: [update], skills: [aSkill("db-tests", { owner: "core" })] },
      "what the signals speak of is not there to be changed",
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
      "nothing in it points to a lesson",
    ],
    [
      "do not create from what is a rule",
      { findings: [{ ...npm, artifact: "rule" }] },
      "nothing in it points to a lesson",
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
        baseline,
        work: [
          { calls: 3, turns: 1 },
          { calls: 81, turns: 4 },
        ],
      },
      ["create a procedure that will be needed again, if there was one"],
    ],
    [
      "skip sessions with as much work as usual, however many",
      { baseline, work: Array.from({ length: 36 }, () => ({ calls: 80, turns: 4 })) },
      "nothing in it points to a lesson",
    ],
    [
      "skip much work without knowing what is usual",
      { work: [{ calls: 500, turns: 9 }] },
      "nothing in it points to a lesson",
    ],
  ])("%s", (_, more, expected) => expect(told(gateByRules(ground(more)))).toEqual(expected));

  test("gather the events of what is told once, and are few", () => {
    const gate = gateByRules(ground({ findings: [npm, { ...npm, refs: ["e9"] }] }));
    expect("leads" in gate && gate.leads[0]?.refs).toEqual(["e3", "e9"]);
    const findings = Array.from({ length: 50 }, (_, n) => ({ ...npm, name: `other-${n}`, trigger: `t${n}` }));
    expect(told(gateByRules(ground({ findings })))).toHaveLength(policy.review.leads);
  });
});

describe("what is usual in a project", () => {
  const measured = (calls: readonly number[], run: string, events = 10) => ({
    run,
    events,
    turns: calls.map((count) => [1, count] as const),
  });

  test("is not known from few sessions, however often each was measured", () => {
    const few = Array.from({ length: 19 }, (_, n) => measured([1], `r${n}`));
    expect(baselineOf([...few, ...few])).toBeNull();
    expect(baselineOf([...few, measured([], "nobody asked for anything")])).toBeNull();
    expect(baselineOf([...few, measured([1], "r19")])).not.toBeNull();
  });

  test("is what half and nine of ten do not exceed; of a session the longest measurement counts", () => {
    const all = Array.from({ length: 100 }, (_, n) => measured(Array(n + 1).fill(2), `r${n}`, 20));
    expect(baselineOf([...all, measured([900], "r3", 5)])).toEqual({
      sessions: 100,
      turns: { p50: 50, p90: 90 },
      calls: { p50: 100, p90: 180 },
    });
  });
});

describe("a small model at the gate", () => {
  const skills = [aSkill("db-tests"), aSkill("core-one", { owner: "core" })];
  const events = session(said("Run it"), ran("npm test", "failed", "no"), replied("Done."));
  const free = dossierWith([events], { skills, leads: [toCreate("x", ["s1.e1"])] });
  const bound = dossierWith([events], {
    skills,
    leads: [toPatch("db-tests", ["s1.e3"])],
    signals: [update],
  });
  const answer = (more: object) => ({
    decision: "skip",
    skill: null,
    hint: null,
    reason: "because",
    ...more,
  });

  test("is told what there is, what is usual and what exists, within its characters, as data", () => {
    const work = [
      { calls: 4, turns: 3 },
      { calls: 9, turns: 2 },
    ];
    const many = session(
      ...Array.from({ length: 900 }, () => [said("<x> ".repeat(900)), ran("a", "failed", "b")]).flat(),
    );
    const large = dossierWith([many], {
      skills: Array.from({ length: 400 }, (_, n) => aSkill(`skill-${n}`)),
    });
    for (const dossier of [free, bound, large]) {
      const { prompt, schema } = gateInquiry(dossier, { work, baseline: null });
      expect(schema).toBe(gateSchema);
      expect(prompt.length).toBeLessThanOrEqual(policy.review.gateChars + 500);
      expect(recordsIn(prompt)).toEqual([
        expect.objectContaining({
          longest: { prompts: 2, calls: 9 },
          sessions: 2,
          usual: expect.stringMatching(/^insufficient/),
        }),
      ]);
    }
    const { prompt } = gateInquiry(free, { work, baseline });
    expect(recordsIn(prompt)[0]).toMatchObject({
      usual: baseline,
      skills: [
        "db-tests (learned): When db-tests is to be done.",
        "core-one (core): When core-one is to be done.",
      ],
      events: [{ id: "s1.e1" }, { id: "s1.e2" }, { id: "s1.e3" }],
    });
  });

  it.each<[string, unknown, typeof free, string | string[] | null]>([
    ["may skip", answer({}), free, "because"],
    [
      "may create",
      answer({ decision: "create", hint: "making a release" }),
      free,
      ["create making a release"],
    ],
    ["keeps what was proposed where it has no hint", answer({ decision: "create" }), free, ["create x"]],
    ["may patch", answer({ decision: "patch", skill: "db-tests" }), free, ["patch db-tests"]],
    ["never patches core", answer({ decision: "patch", skill: "core-one" }), free, null],
    ["never patches what is not there", answer({ decision: "patch", skill: "../x" }), free, null],
    ["patches nothing without a name", answer({ decision: "patch" }), free, null],
    [
      "may choose what a signal asks for",
      answer({ decision: "patch", skill: "db-tests" }),
      bound,
      ["patch db-tests"],
    ],
    ["cannot create from a signal to patch", answer({ decision: "create", hint: "x" }), bound, null],
    ["must say why", answer({ reason: " " }), free, null],
    ["must decide", answer({ decision: "maybe" }), free, null],
    ["must answer", "skip", free, null],
  ])("%s", (_, value, dossier, expected) => {
    const gate = readGate(value, dossier);
    expect(gate === null ? null : told(gate)).toEqual(expected);
  });

  test("is cut short", () => {
    const gate = readGate(
      answer({ decision: "create", hint: "h".repeat(900), reason: "r".repeat(9_000) }),
      free,
    );
    const [one] = gate !== null && "leads" in gate ? gate.leads : [];
    expect(one?.do === "create" && one.hint.length).toBe(policy.review.hintChars);
    expect(one?.why.length).toBe(policy.review.whyChars);
    expect(one?.refs).toEqual(["s1.e1"]);
  });
});
