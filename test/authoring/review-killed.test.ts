import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test, vi } from "vitest";
import { processesOf } from "../helpers/hook.ts";
import { hour } from "../helpers/lived.ts";
import { ending, startReview } from "../helpers/review-process.ts";
import {
  answering,
  aPatch,
  configure,
  type Looking,
  learnsSkill,
  looking,
  signals,
  skillIssue,
} from "../helpers/reviewing.ts";
import { sampled } from "../helpers/sampled.ts";

const name = "rl-deploy-tunnel";
const textOf = ({ repository }: Looking) =>
  readFileSync(join(repository, ".claude/skills", name, "SKILL.md"), "utf8");

/** A desk where a learned skill is stale; nobody has it open. */
async function stale(silent: () => boolean = () => false) {
  const at = await looking({
    reviewer: (_, told) => (silent() ? "silence" : { value: answering([aPatch(told)]) }),
  });
  const knack = await at.open();
  await learnsSkill(knack, await at.lives(knack, "first"));
  await signals(knack, await at.lives(knack, "second"), skillIssue);
  await knack.close();
  at.clock.pass(hour);
  return at;
}

const ledgerOf = async (at: Looking) => {
  const entries = await at.entries();
  const count = (type: string) => entries.filter((entry) => entry.type === type).length;
  const usd = entries.reduce((sum, entry) => sum + (entry.type === "model.called" ? entry.data.usd : 0), 0);
  const open = entries.flatMap((entry) => (entry.type === "model.asked" ? entry.data : []));
  const closed = new Set(entries.flatMap((entry) => (entry.type === "model.called" ? entry.data.call : [])));
  const lost = open
    .filter(({ call }) => !closed.has(call))
    .reduce((sum, { usdAtMost }) => sum + usdAtMost, 0);
  return { entries, count, spent: usd + lost };
};

describe("a review that is killed", () => {
  /** The questions that are asked in all. */
  it.each(
    sampled<[stage: string, calls: number]>(
      [
        ["review.begun", 1],
        ["model.called", 2],
        ["review.answered", 1],
        ["proposal.made", 1],
        ["change.intended", 1],
        ["change.made", 1],
        ["proposal.decided", 1],
      ],
      3,
    ),
  )("right after %s is ended by the next: one review, one change, one receipt", async (stage, calls) => {
    const at = await stale();
    const { signal } = await ending(startReview({ env: at.env, now: at.clock.now(), until: stage }));
    expect(signal).toBe("SIGKILL");
    at.clock.pass(hour);
    const knack = await at.open();
    await knack.repair();
    const [done] = await knack.review();
    expect(done?.ended).toMatchObject({ outcome: "published" });
    expect(textOf(at)).toContain("`make tunnel-up`");
    expect(at.endpoint.asked).toHaveLength(calls);
    const { count, entries, spent } = await ledgerOf(at);
    expect([count("review.answered"), count("proposal.made"), count("proposal.decided")]).toEqual([1, 1, 1]);
    expect([count("review.begun"), count("review.ended")]).toEqual([2, 1]);
    const texts = entries.flatMap((entry) => (entry.type === "receipt.given" ? entry.data.text : []));
    expect(texts).toEqual([`Learned skill: ${name}`, `Updated skill: ${name}`]);
    expect(spent).toBeLessThanOrEqual(0.5);
    expect((await knack.review())[0]?.decision).toMatchObject({ run: false, because: "nothing-new" });
    expect((await knack.check()).drift).toEqual([]);
    expect(processesOf(at.home)).toEqual([]);
  });

  test("while a model is asked leaves what that may cost set aside, and asks once more", async () => {
    let isSilent = true;
    const at = await stale(() => isSilent);
    const child = startReview({ env: at.env, now: at.clock.now(), until: null });
    const over = ending(child);
    while (at.endpoint.asked.length < 1) await new Promise((resolve) => setTimeout(resolve, 10));
    child.kill("SIGKILL");
    await over;
    isSilent = false;
    at.clock.pass(hour);
    const knack = await at.open();
    expect((await knack.review())[0]).toMatchObject({ ended: { outcome: "published" } });
    const { count, spent } = await ledgerOf(at);
    expect([count("model.asked"), count("model.called"), count("review.ended")]).toEqual([2, 1, 1]);
    expect(spent).toBeLessThanOrEqual(0.5);
  });

  test("while an agent's program is asked leaves no process behind", async () => {
    const at = await stale();
    const [bin, sign] = [join(at.home, "bin"), join(at.home, "asked")];
    mkdirSync(bin);
    writeFileSync(join(bin, "claude"), `#!/bin/sh\nsleep 300 &\necho $$ > ${sign}\nexec sleep 300\n`, {
      mode: 0o755,
    });
    configure(at.env.KNACK_HOME ?? "", at.endpoint.url, { judge: "claude" });
    const env = { ...at.env, PATH: `${bin}:${at.env.PATH}` };
    const child = startReview({ env, now: at.clock.now(), until: null });
    const over = ending(child);
    await vi.waitFor(() => expect(existsSync(sign) && readFileSync(sign, "utf8")).toMatch(/\d\n/), 30_000);
    child.kill("SIGKILL");
    await over;
    const group = Number(readFileSync(sign, "utf8"));
    await vi.waitFor(() => expect(() => process.kill(-group, 0)).toThrow(/ESRCH/), 30_000);
    expect((await ledgerOf(at)).count("review.ended")).toBe(0);
  });

  test("goes on with what was answered, however often it was begun, by whatever model that was", async () => {
    const at = await stale();
    for (const until of ["review.answered", "review.begun", "review.begun"]) {
      at.clock.pass(hour);
      await ending(startReview({ env: at.env, now: at.clock.now(), until }));
    }
    configure(at.env.KNACK_HOME ?? "", at.endpoint.url, { judge: "openai/other-mini" });
    at.clock.pass(hour);
    const knack = await at.open();
    expect((await knack.review())[0]?.ended).toMatchObject({ outcome: "published" });
    expect(await knack.proposals()).toMatchObject([{ model: "openai/some-mini" }]);
    expect(at.endpoint.asked).toHaveLength(1);
  });

  test("publishes nothing by itself against what is not kept any more", async () => {
    const at = await stale();
    await ending(startReview({ env: at.env, now: at.clock.now(), until: "proposal.made" }));
    const [proposal] = (await at.entries()).flatMap((one) => (one.type === "proposal.made" ? one.data : []));
    rmSync(join(at.env.KNACK_HOME ?? "", "versions", proposal?.before ?? ""), { recursive: true });
    at.clock.pass(hour);
    const before = textOf(at);
    expect((await (await at.open()).review())[0]?.ended).toMatchObject({ outcome: "proposed" });
    expect(textOf(at)).toBe(before);
  });

  test("as often as it is begun is given up, and the window is left for another", async () => {
    const at = await stale();
    for (let tries = 0; tries < 3; tries++) {
      at.clock.pass(hour);
      const { signal } = await ending(
        startReview({ env: at.env, now: at.clock.now(), until: "review.begun" }),
      );
      expect(signal).toBe("SIGKILL");
    }
    at.clock.pass(hour);
    const knack = await at.open();
    expect((await knack.review())[0]?.ended).toMatchObject({ outcome: "failed" });
    expect(at.endpoint.asked).toHaveLength(0);
    at.clock.pass(hour);
    expect((await knack.review())[0]?.ended).toMatchObject({ outcome: "published" });
  });
});

test("of four processes that review at once, one does: one review, one change, nobody is asked twice", async () => {
  const at = await stale();
  const now = at.clock.now();
  const all = await Promise.all(
    [1, 2, 3, 4].map(() => ending(startReview({ env: at.env, now, until: null }))),
  );
  const outcomes = all.flatMap(({ said }) =>
    (JSON.parse(said) as { ended: { outcome: string } | null }[]).map(({ ended }) => ended?.outcome ?? null),
  );
  expect(outcomes.sort()).toEqual([null, null, null, "published"]);
  const { count } = await ledgerOf(at);
  expect([count("review.begun"), count("review.ended"), count("model.asked")]).toEqual([1, 1, 1]);
  expect(textOf(at)).toContain("`make tunnel-up`");
});
