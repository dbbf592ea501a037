import { describe, expect, it, test } from "vitest";
import { checkReviews } from "../../src/cli/check-review.ts";
import { calledAt, missingIn } from "../../src/cli/reviewers.ts";
import { answering, configure, looking } from "../helpers/reviewing.ts";

const asked = (model: string, unset: string | null = null, to = `https://${model}`) => ({ model, to, unset });

describe("who is asked in a review", () => {
  const key = "X_KEY is not set in the environment";
  const path = "claude is not on the PATH";
  it.each<[string, ReturnType<typeof asked>, ReturnType<typeof asked> | null, [string, RegExp][]]>([
    ["can be asked", asked("openai/a"), asked("openai/b"), []],
    [
      "is nobody",
      asked("off", "no model is set"),
      asked("off", "no model is set"),
      [["no model is set", /^knack config set model claude/]],
    ],
    [
      "has no key",
      asked("openai/a", key),
      asked("openai/a", key),
      [[key, /^set it, or knack config set model\.keyEnv/]],
    ],
    [
      "has no program",
      asked("claude", path),
      asked("openai/b"),
      [[path, /^install it, or knack config set model/]],
    ],
    [
      "has a gate without a key",
      asked("openai/a"),
      asked("openai/b", key),
      [[`the gate cannot be asked: ${key}`, /^set it, or knack config set review\.gate null/]],
    ],
    [
      "has a gate without a program",
      asked("openai/a"),
      asked("claude", path),
      [[`the gate cannot be asked: ${path}`, /^install it, or .* review\.gate null/]],
    ],
    ["has rules alone for a gate", asked("openai/a"), null, []],
    [
      "is two that lack something",
      asked("openai/a", key),
      asked("claude", path),
      [
        [key, /keyEnv/],
        [`the gate cannot be asked: ${path}`, /review\.gate/],
      ],
    ],
  ])("%s", (_, reviewer, gate, said) => {
    const missing = missingIn({ ...reviewer, gate }, {});
    expect(missing.map(({ says }) => says)).toEqual(said.map(([says]) => says));
    for (const [at, [, next]] of said.entries()) expect(missing[at]?.next).toMatch(next);
  });

  it.each([
    [asked("openai/a", null, "https://a/v1"), "openai/a (https://a/v1)"],
    [asked("claude/haiku", null, "claude -p --model haiku"), "claude/haiku"],
    [asked("off", "no model is set", "nowhere"), "a model, once one is set"],
  ])("is told by name and address: %j", (one, told) => expect(calledAt(one)).toBe(told));

  const own = "http://127.0.0.1:11434/v1";
  it.each([
    ["openai/a", "openai/b", `${own}/chat/completions`],
    ["openai/a", "anthropic/b", "https://api.anthropic.com/v1/messages"],
    ["anthropic/a", "openai/b", "https://api.openai.com/v1/chat/completions"],
    // A program has no address; whose a person's would be, nobody knows.
    ["claude", "openai/b", "https://api.openai.com/v1/chat/completions"],
  ])("has an address for the maker of the model: %s, with %s as the gate", async (model, gate, to) => {
    const at = await looking({ reviewer: () => ({ value: answering([]) }) });
    configure(at.env.KNACK_HOME ?? "", own, { model, "review.gate": gate });
    const knack = await at.open();
    expect(knack.reviewers().gate).toMatchObject({ model: gate, to });
    configure(at.env.KNACK_HOME ?? "", own, { model, "review.gate": "off" });
    expect(knack.reviewers()).toMatchObject({ gate: null });
  });

  test("is wrong for doctor where only the gate cannot be asked", async () => {
    const at = await looking({ reviewer: () => ({ value: answering([]) }) });
    configure(at.env.KNACK_HOME ?? "", own, { "review.gate": "anthropic/b" });
    expect(await checkReviews(await at.open(), at.env, at.clock.now())).toMatchObject([
      {
        ...{
          name: "reviews",
          ok: false,
          says: expect.stringMatching(/^auto, but the gate cannot be asked: ANTH/),
        },
        repair: expect.stringMatching(/review\.gate null.*; or knack config set review off$/),
      },
    ]);
  });
});
