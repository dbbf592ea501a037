import { describe, expect, it, test } from "vitest";
import type { Act } from "../helpers/endpoint.ts";
import { type Looking, looking, signals } from "../helpers/reviewing.ts";

const nothing = (): Act => ({ value: { because: "It is not needed again.", expand: [], drafts: [] } });

/** A desk with a session that something new is to be learned from. */
async function fresh(reviewer: () => Act, settings: object = {}) {
  const at = await looking({ reviewer }, settings);
  const knack = await at.open();
  await signals(knack, await at.lives(knack));
  return { at, knack };
}

const paidTo = async (at: Looking) =>
  Object.fromEntries(
    (await at.entries()).flatMap((one) =>
      one.type === "model.called" ? [[one.data.model, one.data.usd]] : [],
    ),
  );

describe("a gate", () => {
  it.each([
    ["openai/some-mini", "openai/tiny", null],
    ["openai/some-mini", "anthropic/tiny", /^ANTHROPIC_API_KEY is not set/],
    ["claude", "anthropic/tiny", /^ANTHROPIC_API_KEY is not set/],
    ["codex", "openai/tiny", /^OPENAI_API_KEY is not set/],
  ])("beside %s, %s gets the key that is set only if it has the same maker", async (model, gate, unset) => {
    const at = await looking({ reviewer: nothing }, { model, "review.gate": gate });
    const { gate: asked } = (await at.open()).reviewers();
    expect(asked?.unset).toEqual(unset && expect.stringMatching(unset));
  });

  it.each([
    ["at the same address costs what a person says", "openai/unheard-of", 0, 0],
    ["at the same address costs what the tokens do", "openai/unheard-of", 1, 0.002],
  ])("%s", async (_, gate, inputUsd, usd) => {
    const prices = { "model.inputUsd": inputUsd, "model.outputUsd": 0 };
    const { at, knack } = await fresh(nothing, { "review.gate": gate, ...prices });
    expect(await knack.review()).toMatchObject([{ ended: { outcome: "nothing", calls: 2 } }]);
    expect(await paidTo(at)).toEqual({ [gate]: usd, "openai/some-mini": usd });
  });
});

test("a wrong key does not use up the reviews of a day", async () => {
  let isRight = false;
  const act = (): Act => (isRight ? nothing() : { status: 401 });
  const { at, knack } = await fresh(act, { "review.gate": "off", "review.perDay": 2 });
  const tries = async () => {
    at.clock.pass(31 * 60_000);
    return (await knack.review())[0]?.ended?.outcome;
  };
  expect([await tries(), await tries(), await tries()]).toEqual(["skipped", "skipped", "skipped"]);
  expect((await knack.reviews()).today).toEqual({ reviews: 0, usd: 0 });
  isRight = true;
  expect(await tries()).toBe("nothing");
  expect((await knack.reviews()).today.reviews).toBe(1);
});
