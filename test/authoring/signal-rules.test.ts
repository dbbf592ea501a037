import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { countSignals, deriveClaims, isUseful, judgeSignals } from "../../src/authoring/signals.ts";
import { isOwnCall } from "../../src/failures/command.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import { type Finding, noExcerpt } from "../../src/records/lesson.ts";
import type { Event } from "../../src/records/session.ts";
import {
  deferReasons,
  effects,
  issues,
  type Signal,
  type SignalGiven,
  type SignalRefusal,
  triggers,
} from "../../src/records/writing.ts";
import { called, edited, ran, replied, said, session } from "../helpers/events.ts";
import { aFinding } from "../helpers/findings.ts";

type SignalContext = Parameters<typeof judgeSignals>[1];
type MalformedSignal = Extract<Parameters<typeof judgeSignals>[0][number], { problem: string }>;
type Missed = Parameters<typeof deriveClaims>[0][number];
type DerivingContext = Parameters<typeof deriveClaims>[1];

const create: Extract<Signal, { kind: "create" }> = {
  kind: "create",
  nameHint: "rl-notion-filters",
  trigger: "recovered_surprise",
  deferred: "needs_full_context_review",
  refs: ["e1", "e2"],
  summary: "Filters are per property.",
};
const update: Extract<Signal, { kind: "update" }> = {
  kind: "update",
  skill: "notion",
  issue: "wrong_api_assumption",
  deferred: "needs_existing_skill_diff",
  effect: "retry_after_user_correction",
  refs: ["e1", "e2"],
  hint: "Use the rich_text filter.",
};
const formless: MalformedSignal = { kind: "create", problem: "learning_signal is not an object", words: "7" };
const ground: SignalContext = {
  from: "agent",
  run: "s",
  invocation: "s#1",
  file: "/s.jsonl",
  learned: false,
  before: new Set(),
  prefix: "rl-",
  useful: new Map([
    ["e1", said("save it")],
    ["e2", ran("make", "ok")],
    ["e3", ran("make", "ok")],
  ]),
  skills: new Map([
    ["notion", "hand-written"],
    ["rl-known", "learned"],
    ["carried", "imported"],
    ["learn-skill", "core"],
  ]),
};
const verdictOn = (claim: Signal | MalformedSignal, more: Partial<SignalContext> = {}) =>
  judgeSignals([claim], { ...ground, ...more })[0]?.refusal;

describe("a signal", () => {
  it.each<[string, Signal | MalformedSignal, SignalRefusal | null, Partial<SignalContext>?]>([
    ["counts for something worth a skill", create, null],
    ["counts for something wrong with a person's skill", update, null],
    ["counts for something wrong with a learned one", { ...update, skill: "rl-known" }, null],
    ["counts for something wrong with an imported one", { ...update, skill: "carried" }, null],
    [
      "counts with one event of an explicit request",
      { ...create, trigger: "explicit_user_request", refs: ["e1"] },
      null,
    ],
    ["counts when some refs lead nowhere and two do not", { ...create, refs: ["e9", "e1", "e2"] }, null],
    ["counts without a prefix where there is none", { ...create, nameHint: "filters" }, null, { prefix: "" }],
    ["counts after another of its kind", create, null, { before: new Set(["create"]) }],
    ["needs the form", formless, "no-form"],
    ["is alone in its turn", update, "both-signals", { before: new Set(["create"]) }],
    ["is nothing once something was learned", create, "already-learned", { learned: true }],
    ["of an update, too", update, "already-learned", { learned: true }],
    ["needs two events", { ...create, refs: ["e1"] }, "too-few-refs"],
    ["counts the same event once", { ...create, refs: ["e1", "e1"] }, "too-few-refs"],
    ["needs two events for an update", { ...update, refs: ["e1"] }, "too-few-refs"],
    [
      "needs an event for an explicit request",
      { ...create, trigger: "explicit_user_request", refs: [] },
      "too-few-refs",
    ],
    ["needs events that are there", { ...create, refs: ["e1", "e9"] }, "refs-unresolved"],
    [
      "needs an explicit request to be there",
      { ...create, trigger: "explicit_user_request", refs: ["e9"] },
      "refs-unresolved",
    ],
    [
      "a request that the person did not make",
      { ...create, trigger: "explicit_user_request", refs: ["e2"] },
      "refs-unresolved",
    ],
    ["needs a name that can be one", { ...create, nameHint: "rl-../up" }, "bad-name"],
    ["needs the prefix", { ...create, nameHint: "notion-filters" }, "no-prefix"],
    ["needs more than two letters", { ...create, nameHint: "rl" }, "bad-name", { prefix: "" }],
    ["creates nothing that is there", { ...create, nameHint: "rl-known" }, "skill-exists"],
    ["is about a skill, not a path", { ...update, skill: "notion/SKILL.md" }, "bad-name"],
    ["is about a skill that is there", { ...update, skill: "rl-unknown" }, "unknown-skill"],
    ["leaves core skills alone", { ...update, skill: "learn-skill" }, "core-skill"],
    ["says what is to be learned", { ...create, summary: " \n" }, "no-summary"],
    ["says what should be different", { ...update, hint: "" }, "no-summary"],
  ])("%s", (_, claim, refusal, more) => expect(verdictOn(claim, more)).toBe(refusal));

  test("given together with the other is refused, and so is the other", () => {
    const given = judgeSignals([create, update], ground);
    expect(given.map(({ refusal }) => refusal)).toEqual(["both-signals", "both-signals"]);
    expect(given.map(({ signal }) => signal)).toEqual([create, update]);
  });

  test("keeps the events that say something, each once", () => {
    const [given] = judgeSignals([{ ...create, refs: ["e2", "e9", "e1", "e2"] }], ground);
    expect(given?.signal?.refs).toEqual(["e2", "e1"]);
  });

  test("is kept with its words and the reason when it is refused, and goes by the same id again", () => {
    const [[one], [again], [other]] = [
      judgeSignals([{ ...create, nameHint: "fun" }], ground),
      judgeSignals([{ ...create, nameHint: "fun" }], ground),
      judgeSignals([{ ...create, nameHint: "fun" }], { ...ground, invocation: "s#2" }),
    ];
    expect(one).toMatchObject({ signal: { nameHint: "fun", summary: create.summary } });
    expect(one?.message).toContain("rl-");
    expect(again?.id).toBe(one?.id);
    expect(other?.id).not.toBe(one?.id);
    expect(judgeSignals([formless], ground)[0]).toMatchObject({ signal: null, words: "7" });
  });

  test("that counts meets every condition, whatever is given", () => {
    const word = fc.constantFrom("rl-a", "rl-known", "notion", "learn-skill", "x y", "");
    const refs = fc.array(fc.constantFrom("e1", "e2", "e3", "e9"), { maxLength: 4 });
    const claim = fc.oneof(
      fc.record({
        kind: fc.constant("create" as const),
        nameHint: word,
        trigger: fc.constantFrom(...triggers),
        deferred: fc.constantFrom(...deferReasons),
        refs,
        summary: word,
      }),
      fc.record({
        kind: fc.constant("update" as const),
        skill: word,
        issue: fc.constantFrom(...issues),
        effect: fc.constantFrom(...effects),
        deferred: fc.constantFrom(...deferReasons),
        refs,
        hint: word,
      }),
    );
    fc.assert(
      fc.property(fc.array(claim, { maxLength: 2 }), fc.boolean(), (claims, learned) => {
        const given = judgeSignals(claims, { ...ground, learned });
        expect(given).toHaveLength(claims.length);
        for (const { signal, refusal } of given) {
          if (refusal !== null || signal === null) continue;
          expect(learned).toBe(false);
          expect(new Set(signal.refs).size).toBeGreaterThan(1);
          const name = signal.kind === "create" ? signal.nameHint : signal.skill;
          expect(ground.skills.has(name)).toBe(signal.kind === "update");
          expect(new Set(claims.map(({ kind }) => kind)).size).toBe(1);
        }
      }),
    );
  });
});

describe("the signals that count", () => {
  const at = (given: SignalGiven | undefined, n: number): LedgerEntry => ({
    at: n,
    project: "/p",
    session: "s",
    actor: "agent",
    type: "signal.given",
    key: `signal:${n}`,
    data: given as SignalGiven,
  });
  const learned = (invocation: string, status: "created" | "refused"): LedgerEntry => ({
    at: 9,
    project: "/p",
    session: "s",
    actor: "agent",
    type: "writing.finished",
    key: "finished",
    data: {
      writing: "l1",
      invocation,
      action: "create",
      skill: "rl-x",
      status,
      summary: null,
      refs: [],
      file: "/s.jsonl",
      changes: [],
      fault: null,
    },
  });
  const [one] = judgeSignals([create], ground);
  const [wrong] = judgeSignals([{ ...create, summary: "" }], ground);
  const [second] = judgeSignals([update], { ...ground, before: new Set(["create"]) });
  const [own] = judgeSignals([create], { ...ground, from: "transcript" });
  const [later] = judgeSignals([create], { ...ground, invocation: "s#2" });
  const [inReply] = judgeSignals([create], { ...ground, from: "reply" });
  const [other] = judgeSignals([{ ...create, refs: ["e2", "e9"] }], {
    ...ground,
    useful: new Map([
      ["e2", ran("make", "ok")],
      ["e9", ran("make", "ok")],
    ]),
  });

  it.each<[string, LedgerEntry[], number]>([
    ["are those that were not refused, each once", [at(one, 1), at(one, 2), at(wrong, 3)], 1],
    [
      "are none of a turn in which something was learned after all",
      [at(one, 1), learned("s#1", "created")],
      0,
    ],
    ["stay when that came to nothing", [at(one, 1), learned("s#1", "refused")], 1],
    ["stay when that was in another turn", [at(one, 1), learned("s#2", "created")], 1],
    ["are none of a turn in which the other kind was given too", [at(one, 1), at(second, 2)], 0],
    ["stay when the transcript says so", [at(own, 1), at(second, 2)], 1],
    ["are one when it is said again later", [at(one, 1), at(later, 2), at(inReply, 3)], 1],
    ["are two when something else shows it", [at(one, 1), at(other, 2)], 2],
  ])("%s", (_, entries, count) => expect(countSignals(entries)).toHaveLength(count));
});

describe("Knack's own calls", () => {
  it.each<[string, Event, boolean]>([
    [
      "are those of its tools in Claude Code",
      called("mcp__plugin_knack_knack__skill_learning_start", {}, "ok"),
      true,
    ],
    ["of its tools where it was added by hand", called("mcp__knack__event_expand", {}, "ok"), true],
    ["of its tools in other agents", called("knack.skill_signal", {}, "ok"), true],
    ["of its tools in yet others", called("knack_skill_learning_finish", {}, "failed"), true],
    ["of its own skills", called("Skill", { skill: "knack:learn-skill" }, "ok"), true],
    ["writing a package that is staged", edited("/w/.knack/staging/l1/rl-x/SKILL.md"), true],
    ["the same in a shell", ran("mkdir -p .knack/staging/l1/rl-x/scripts", "ok"), true],
    ["of its tools under another name", called("mcp__learner__skill_signal", {}, "ok"), true],
    ["of its tools by their words", called("mcp__learner__skill_load", { skill_name: "x" }, "ok"), true],
    ["in its staging folder", { ...ran("node t.mjs", "ok"), cwd: "/w/.knack/staging/l1/rl-x" }, true],
    ["of its program", ran("knack skills lst", "failed"), true],
    ["of its program, looked at", ran("cd x && knack status --json 2>&1 | jq .reviews", "ok"), true],
    ["of its program through npx", ran("npx knack-cli status", "ok"), true],
    ["are not what is done besides", ran("knack status && npm test", "ok"), false],
    ["nor looking for its name", ran("grep -r knack src", "ok"), false],
    ["are not those of others' tools", called("mcp__notion__query", {}, "ok"), false],
    ["nor of others' tools of the same name", called("mcp__other__skill_search", {}, "ok"), false],
    ["nor of other skills", called("Skill", { skill: "release-notes" }, "ok"), false],
    ["nor work on a project of that name", ran("cat src/knack/skill_load.ts", "ok"), false],
    ["nor editing its settings", edited("/w/.knack/config.json"), false],
    ["nor what somebody says", said("look at .knack/staging"), false],
  ])("%s", (_, event, own) => expect(isOwnCall(event)).toBe(own));

  test("prove nothing, nor does what is empty", () => {
    const events = session(
      said("do it"),
      replied(" "),
      edited("/w/.knack/staging/l1/rl-x/SKILL.md"),
      ran("make", "ok"),
    );
    expect(events.filter(isUseful).map(({ ref }) => ref)).toEqual(["e1", "e4"]);
  });
});

describe("a signal that nobody gave", () => {
  const events = session(
    said("release it"),
    called("Skill", { skill: "release" }, "ok"),
    ran("npx changeset version --old", "failed", "unknown option --old"),
    ran("npx changeset version", "ok"),
    said("no, tag it first"),
    replied("Tagged."),
    said("and always sign tags"),
    said("next"),
    said("next"),
    said("wrong again: push the tag"),
  );
  const some = (...refs: string[]) => events.filter(({ ref }) => refs.includes(ref));
  const missed = (kind: Finding["kind"], refs: string[], more: Partial<Finding> = {}): Missed => ({
    id: `i-${kind}-${refs[0]}`,
    finding: aFinding({ kind, refs, ...more }),
    events: refs.flatMap((ref) => some(ref)),
  });
  const about: DerivingContext = {
    run: "s",
    prefix: "rl-",
    skills: new Map([
      ["release", { owner: "hand-written", text: "Run `npx changeset version --old`." }],
      ["learn-skill", { owner: "core", text: "Run `npx changeset version --old`." }],
    ]),
    uses: [],
    settled: new Set(),
    taught: new Set(),
    known: new Set(),
    given: new Map(),
  };
  const used = { name: "release", number: 2, turn: 1 };
  const recovered = missed("error-recovery", ["e3", "e4"]);
  const corrected = missed("user-correction", ["e5", "e4"], { artifact: "rule" });

  it.each<[string, Missed, Partial<DerivingContext>, object | null]>([
    [
      "tells of a failure that was recovered from",
      recovered,
      {},
      {
        kind: "create",
        trigger: "recovered_surprise",
        deferred: "needs_full_context_review",
        nameHint: "rl-npm-install-eresolve",
      },
    ],
    [
      "tells of a skill that told what failed",
      recovered,
      { uses: [used] },
      { kind: "update", skill: "release", issue: "stale_command", effect: "retry_after_tool_error" },
    ],
    ["but not of a core skill", recovered, { uses: [{ ...used, name: "learn-skill" }] }, { kind: "create" }],
    [
      "nor of one that was loaded after it",
      recovered,
      { uses: [{ ...used, number: 4 }] },
      { kind: "create" },
    ],
    ["nor of one that is gone", recovered, { uses: [{ ...used, name: "gone" }] }, { kind: "create" }],
    [
      "tells of a skill after which a person corrected the agent",
      corrected,
      { uses: [used] },
      {
        kind: "update",
        skill: "release",
        effect: "retry_after_user_correction",
        deferred: "needs_existing_skill_diff",
      },
    ],
    ["is none for a correction that is a line for a rule", corrected, {}, null],
    [
      "is none for a correction long after the skill",
      missed("user-correction", ["e10", "e9"], { artifact: "rule" }),
      { uses: [used] },
      null,
    ],
    [
      "tells of a correction worth a skill",
      missed("user-correction", ["e5", "e4"]),
      {},
      { trigger: "user_correction" },
    ],
    [
      "tells of what a person wants done so, and is worth a skill",
      missed("explicit-instruction", ["e7"]),
      {},
      { trigger: "explicit_user_request" },
    ],
    [
      "tells of what a person wants remembered",
      missed("explicit-instruction", ["e7"], {
        artifact: "rule",
        excerpt: { ...noExcerpt, said: "Good. Remember: this repository has no pytest." },
      }),
      {},
      { trigger: "explicit_user_request" },
    ],
    [
      "is none for an order that is a line for a rule",
      missed("explicit-instruction", ["e7"], {
        artifact: "rule",
        excerpt: { ...noExcerpt, said: "Answer in Chinese from now on." },
      }),
      {},
      null,
    ],
    ["tells of a procedure", missed("multi-step", ["e3", "e4"]), {}, { trigger: "multi_step_workflow" }],
    [
      "tells of what is done again and again",
      missed("repeated-action", ["e3", "e4"]),
      {},
      { trigger: "repeated_tool_pattern" },
    ],
    [
      "tells of how tools are used",
      missed("tool-pattern", ["e3", "e4"]),
      {},
      { trigger: "repeated_tool_pattern" },
    ],
    ["is none for a convention", missed("convention", ["e3", "e4"]), {}, null],
    ["is none of a turn in which something was learned", recovered, { settled: new Set(["s#1"]) }, null],
    ["is none of events that something was learned from", recovered, { taught: new Set(["e4"]) }, null],
    ["is none when it was given before", recovered, { known: new Set([recovered.id]) }, null],
    ["is none when a turn has given enough", recovered, { given: new Map([["s#1", 3]]) }, null],
  ])("%s", (_, one, more, expected) => {
    const [first] = deriveClaims([one], { ...about, ...more });
    if (expected === null) expect(first).toBe(undefined);
    else expect(first?.claim).toMatchObject(expected);
  });

  test("is one of a few for a turn, the surest", () => {
    const many = [0.5, 0.9, 0.7, 0.6, 0.8].map((confidence, n) => ({
      ...missed("error-recovery", ["e3", "e4"], { confidence }),
      id: `i${n}`,
    }));
    expect(deriveClaims(many, about).map(({ finding }) => finding)).toEqual(["i1", "i4", "i2"]);
  });

  test("is of the turn in which it was complete", () => {
    const [one] = deriveClaims([missed("error-recovery", ["e3", "e6"])], about);
    expect(one?.invocation).toBe("s#2");
  });

  test("has a name that may be one, however long the finding's is", () => {
    const [one] = deriveClaims(
      [missed("multi-step", ["e3", "e4"], { name: `${"very-".repeat(20)}long` })],
      about,
    );
    const name = one?.claim.kind === "create" ? one.claim.nameHint : "";
    expect(verdictOn({ ...create, nameHint: name })).toBe(null);
  });
});
