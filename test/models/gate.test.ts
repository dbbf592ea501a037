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
    ["openai/some-mini", "openai/tiny", /^http:\/\/127\.0\.0\.1/, null],
    ["openai/some-mini", "anthropic/tiny", /^https:\/\/api\.anthropic\.com/, "ANTHROPIC_API_KEY"],
    ["claude", "anthropic/tiny", /^https:\/\/api\.anthropic\.com/, "ANTHROPIC_API_KEY"],
    ["codex", "openai/tiny", /^https:\/\/api\.openai\.com/, "OPENAI_API_KEY"],
  ])("beside %s, %s is asked where its own maker is, with its own key", async (model, gate, to, key) => {
    const at = await looking({ reviewer: nothing }, { model, "review.gate": gate });
    const { gate: asked } = await (await at.open()).reviews();
    expect(asked).toMatchObject({
      to: expect.stringMatching(to),
      unset: key === null ? null : expect.stringContaining(`${key} is not set`),
    });
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
