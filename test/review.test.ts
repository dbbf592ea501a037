import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { parse } from "../src/core/skill.ts";
import { aCreate, answering, looking, signals, type Looking } from "./helpers/reviewing.ts";

const typesOf = async (at: Looking, prefix: RegExp) =>
  (await at.entries()).flatMap(({ type }) => (prefix.test(type) ? type : []));
const live = ({ repository }: Looking, name = "rl-deploy-tunnel") =>
  join(repository, ".claude/skills", name, "SKILL.md");

describe("a review that suggests", () => {
  test("leaves a proposal, which goes live when a person accepts it, and back when they undo that", async () => {
    const at = await looking(
      { reviewer: (_, told) => ({ value: answering([aCreate(told)]) }) },
      { review: "suggest" },
    );
    const knack = await at.open();
    const present = await at.lives(knack);
    await signals(knack, present);
    const [done] = await knack.review();
    expect(done).toMatchObject({ decision: { run: true, because: "signal" }, ended: { outcome: "proposed" } });
    expect(done?.usd).toBeGreaterThan(0);
    const [proposal] = await knack.proposals();
    expect(proposal).toMatchObject({ name: "rl-deploy-tunnel", do: "create", status: "waiting" });
    expect(existsSync(live(at))).toBe(false);
    expect(await typesOf(at, /^receipt/)).toEqual([]);
    if (!proposal) throw new Error("nothing is proposed");
    const keeping = await knack.acceptProposal(proposal);
    expect(keeping).toMatchObject({ kept: true });
    const { skill } = parse(readFileSync(live(at), "utf8"));
    expect(skill?.metadata).toMatchObject({ origin: "knack", author: "review", model: "openai/some-mini" });
    expect(await knack.proposals()).toMatchObject([{ status: "accepted" }]);
    expect(await knack.undo(null)).toMatchObject({ kept: true });
    expect(existsSync(live(at))).toBe(false);
    expect((await knack.check()).drift).toEqual([]);
  });
});
