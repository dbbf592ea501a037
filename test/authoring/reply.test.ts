import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import * as z from "zod";
import { describeReplySchema, judgeSignals, readReply } from "../../src/authoring/signals.ts";
import { deferReasons, effects, issues, triggers } from "../../src/records/writing.ts";

/** What others, who know only the schema, take for a reply. */
const accepts = z.fromJSONSchema(describeReplySchema() as Parameters<typeof z.fromJSONSchema>[0]);

/** The examples of the contract. */
const create = {
  kind: "create_candidate",
  package_name_hint: "rl-notion-database-filters",
  trigger: "recovered_surprise",
  reason_not_written: "needs_full_context_review",
  event_refs: ["e17", "e19", "e21"],
  summary: "Reusable Notion filter schema gotcha.",
};
const update = {
  kind: "update_candidate",
  skill_name: "notion-database-filters",
  issue: "wrong_api_assumption",
  reason_not_patched: "needs_existing_skill_diff",
  observed_effect: "retry_after_user_correction",
  event_refs: ["e12", "e14", "e18"],
  patch_hint: "Use rich_text filter for this property.",
};

describe("a reply", () => {
  it.each<[string, unknown, boolean]>([
    ["may say nothing", {}, true],
    ["may say so", { used_skill_receipts: [], learning_signal: null, skill_issue_signal: null }, true],
    ["may stand among other fields", { answer: "Done.", learning_signal: null }, true],
    [
      "may have a receipt",
      { used_skill_receipts: [{ skill_name: "rl-x", message: "Used learned skill: rl-x" }] },
      true,
    ],
    ["may have one without words", { used_skill_receipts: [{ skill_name: "rl-x" }] }, true],
    ["may signal something new", { learning_signal: create }, true],
    ["may signal something wrong", { skill_issue_signal: update }, true],
    ["may say more than is kept", { learning_signal: { ...create, summary: "x".repeat(5_000) } }, true],
    ["is an object", [], false],
    ["has a list of receipts", { used_skill_receipts: "rl-x" }, false],
    ["names the skill of a receipt", { used_skill_receipts: [{ message: "Used it" }] }, false],
    ["has signals that are objects", { learning_signal: "rl-x" }, false],
    ["says the right kind", { learning_signal: { ...create, kind: "update_candidate" } }, false],
    ["has all fields of a signal", { learning_signal: { ...create, trigger: undefined } }, false],
    ["has triggers that are known", { learning_signal: { ...create, trigger: "it_was_fun" } }, false],
    ["takes no issue for a trigger", { learning_signal: { ...create, trigger: "stale_command" } }, false],
    ["has issues that are known", { skill_issue_signal: { ...update, issue: "user_correction" } }, false],
    ["has effects that are known", { skill_issue_signal: { ...update, observed_effect: "sad" } }, false],
    ["says why it was put off", { learning_signal: { ...create, reason_not_written: "" } }, false],
    ["of an update, too", { skill_issue_signal: { ...update, reason_not_patched: "lazy" } }, false],
    ["has codes that are texts", { skill_issue_signal: { ...update, issue: 3 } }, false],
    ["has a list of events", { skill_issue_signal: { ...update, event_refs: "e1" } }, false],
  ])("%s", (_, value, right) => {
    expect(accepts.safeParse(value).success).toBe(right);
    const { signals, problems } = readReply(value);
    expect(problems.length + signals.filter((one) => "problem" in one).length === 0).toBe(right);
  });

  test.each([[null], [undefined], [""], [" none "], ["null"], [false], [{}], [[]]])(
    "signals nothing with %j",
    (nothing) => {
      const { signals } = readReply({ learning_signal: create, skill_issue_signal: nothing });
      expect(signals.map(({ kind }) => kind)).toEqual(["create"]);
    },
  );

  test("that nobody can write down has no form", () => {
    const cycle: Record<string, unknown> = {};
    cycle.kind = cycle;
    const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
    for (const value of [cycle, deep])
      expect(readReply({ learning_signal: value }).signals).toMatchObject([{ kind: "create", words: "" }]);
  });

  test("is read into the words that Knack uses", () => {
    const { receipts, signals } = readReply({
      used_skill_receipts: [{ skill_name: "rl-x", message: "Benutzt: rl-x" }],
      learning_signal: create,
      skill_issue_signal: update,
    });
    expect(receipts).toEqual([{ skill: "rl-x", message: "Benutzt: rl-x" }]);
    expect(signals).toEqual([
      {
        kind: "create",
        nameHint: create.package_name_hint,
        trigger: create.trigger,
        deferred: create.reason_not_written,
        refs: create.event_refs,
        summary: create.summary,
      },
      {
        kind: "update",
        skill: update.skill_name,
        issue: update.issue,
        deferred: update.reason_not_patched,
        effect: update.observed_effect,
        refs: update.event_refs,
        hint: update.patch_hint,
      },
    ]);
  });

  test("that the schema accepts is read whole", () => {
    const name = fc.stringMatching(/^[a-z0-9]{1,9}(-[a-z0-9]{1,9}){0,3}$/);
    const refs = fc.array(fc.stringMatching(/^[ehp][1-9][0-9]{0,8}$/), {
      minLength: 1,
      maxLength: 50,
    });
    const text = (maxLength: number) => fc.string({ minLength: 1, maxLength });
    const maybe = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: null });
    const reply = fc.record(
      {
        used_skill_receipts: maybe(
          fc.array(
            fc.record({ skill_name: name, message: maybe(text(500)) }, { requiredKeys: ["skill_name"] }),
            { maxLength: 20 },
          ),
        ),
        learning_signal: maybe(
          fc.record({
            kind: fc.constant("create_candidate"),
            package_name_hint: name,
            trigger: fc.constantFrom(...triggers),
            reason_not_written: fc.constantFrom(...deferReasons),
            event_refs: refs,
            summary: text(1_000),
          }),
        ),
        skill_issue_signal: maybe(
          fc.record({
            kind: fc.constant("update_candidate"),
            skill_name: name,
            issue: fc.constantFrom(...issues),
            reason_not_patched: fc.constantFrom(...deferReasons),
            observed_effect: fc.constantFrom(...effects),
            event_refs: refs,
            patch_hint: text(1_000),
          }),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(reply, (value) => {
        expect(accepts.safeParse(value).success).toBe(true);
        const { receipts, signals, problems } = readReply(value);
        expect(problems).toEqual([]);
        expect(receipts.map(({ skill, message }) => [skill, message])).toEqual(
          (value.used_skill_receipts ?? []).map((one) => [one.skill_name, one.message ?? null]),
        );
        const given = [value.learning_signal, value.skill_issue_signal].flatMap((one) => one ?? []);
        expect(signals.map((one) => ("problem" in one ? null : one.refs))).toEqual(
          given.map(({ event_refs }) => event_refs),
        );
      }),
    );
  });

  test("that is anything at all throws nothing, and stays small", () => {
    const sizeKept = (value: unknown) => {
      const { signals, ...rest } = readReply(value);
      const given = judgeSignals(signals, {
        ...{ from: "reply", run: "s", invocation: "s#1", file: "/s.jsonl", learned: false, prefix: "rl-" },
        ...{ before: new Set<never>(), useful: new Map(), skills: new Map() },
      });
      return JSON.stringify({ ...rest, given }).length;
    };
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom("used_skill_receipts", "learning_signal", "skill_issue_signal"),
          fc.anything(),
        ),
        (value) => {
          expect(sizeKept(value)).toBeLessThan(20_000);
        },
      ),
    );
    const long = {
      ...create,
      summary: "x".repeat(1e6),
      trigger: "y".repeat(1e6),
      event_refs: Array(1e4).fill("e1"),
    };
    expect(sizeKept({ learning_signal: long })).toBeLessThan(3_000);
    expect(sizeKept({ learning_signal: [long] })).toBeLessThan(3_000);
  });
});
