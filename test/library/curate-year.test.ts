import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import { toContent } from "../../src/library/files/packages.ts";
import { listArchived, planRestore } from "../../src/library/lifecycle/archive.ts";
import { type ChangeOutcome, publishPlan } from "../../src/library/publish/apply.ts";
import {
  accept,
  mainText,
  type PlannedChange,
  planChange,
  readHistory,
} from "../../src/library/publish/changes.ts";
import { parseSkill, skillFile } from "../../src/library/skill.ts";
import { itemId } from "../../src/records/change.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import type { Finding } from "../../src/records/lesson.ts";
import { rebuild } from "../../src/transcripts/sessions.ts";
import { itemsOn } from "../helpers/library.ts";
import { filesIn } from "../helpers/machine.ts";
import { curator, type Desk, desk } from "../helpers/publishing.ts";

const day = 86_400_000;
const isLong = process.env.KNACK_TEST_ALL === "1";
/** How long, and how many skills are learned; more take longer than in proportion. */
const weeks = isLong ? 52 : 20;
const perWeek = isLong ? 6 : 5;
/** How often somebody tidies up; each week takes twice as long. */
const everyWeeks = isLong ? 1 : 4;

/** What becomes of the skills that somebody learns: most are forgotten, some are good, some are not. */
type Fate = "evergreen" | "for-a-while" | "harmful" | "in-vain" | "double" | "forgotten";
const fateOf = (n: number): Fate =>
  n % 25 === 24
    ? "double"
    : ((["evergreen", "for-a-while", "for-a-while", "harmful", "in-vain"] as const)[n % 10] ?? "forgotten");
const isPinned = (n: number) => n % 60 === 7;
const isEverywhere = (n: number) => n % 20 === 10 || n % 5 === 3;
const nameOf = (n: number) => `rl-gate${n}`;
const whenOf = (n: number) => `tool${n} stops at gate${n} of yard${n}`;
const lessonScopeId = (n: number) => (isEverywhere(n) ? "user" : "/p");

function lesson(n: number, at: number): Partial<Finding> {
  return {
    name: `gate${n}`,
    lesson: `tool${n} stops at gate${n}; flag${n} opens it.`,
    trigger: whenOf(n),
    action: `pass flag${n}`,
    keywords: [`tool${n}`],
    refs: [`e${n}`],
    scope: isEverywhere(n) ? "user" : "project",
    at,
  };
}

describe("a year of learning, using and forgetting", () => {
  test("leaves a small library, with everything useful in it and everything else to be had back", async () => {
    let now = Date.UTC(2025, 0, 6);
    const own = await desk({ clock: { now: () => ++now } });
    const hand = join(own.repository, ".claude/skills/mine");
    writeFile(
      join(hand, skillFile),
      "---\nname: mine\ndescription: Use when tool1 stops at gate1.\n---\n\nMine.\r\n",
    );
    const mine = filesIn(hand);
    const servedAt = new Map<string, number>();
    const learnedIn = new Map<number, number>();
    const texts = new Map<string, string>();
    const seen = new Map<string, number>();
    for (let week = 0; week < weeks; week += everyWeeks) {
      const fresh = Array.from({ length: perWeek * everyWeeks }, (_, at) => week * perWeek + at);
      for (const { path, text } of await learned(own, fresh, now)) texts.set(path, text);
      for (const n of fresh) {
        learnedIn.set(n, week);
        if (isPinned(n)) await curator(own).pin(nameOf(n), true);
      }
      const entries = Array.from({ length: everyWeeks }, (_, more) =>
        [...learnedIn].flatMap(([n, since]) =>
          lived(n, week + more - since, week + more, now + more * 7 * day),
        ),
      ).flat();
      now += everyWeeks * 7 * day;
      for (const { type, at, data } of entries)
        if (type === "skill.used" || (type === "use.rated" && data.verdict === "helpful"))
          servedAt.set(data.name, at ?? 0);
      await own.store.transaction((tx) => recordEntries(tx, entries));
      const items = await itemsOn(own);
      const done = await curator(own, items).curate();
      if (!done.kept) throw new Error(done.because);
      for (const { change, done: isDone } of done.outcomes) {
        expect(isDone).toBe(true);
        const reason = change.because?.replace(/:.*$/s, "") ?? "";
        const wasServed = now - (servedAt.get(change.name) ?? 0) < 30 * day;
        // What served somebody lately leaves only for the harm it did, or for another that says the same.
        if (change.why === "archive" && wasServed) expect(["harmful", "duplicate"]).toContain(reason);
        expect(isPinned(Number(change.name.replace(/^\D+/, "")))).toBe(false);
        seen.set(reason, (seen.get(reason) ?? 0) + 1);
      }
      const kept = await own.shelf();
      for (const one of kept) texts.set(one.path, one.text ?? "");
      for (const everywhere of [true, false]) {
        const ours = kept.filter(({ name }) => isEverywhere(Number(name.replace(/^\D+/, ""))) === everywhere);
        const live = ours.filter(({ reach }) => reach !== "draft");
        const lines = live.map(
          ({ name, text }) => `- ${name}: ${parseSkill(text ?? "").skill?.description}\n`,
        );
        expect(live.length).toBeLessThanOrEqual(40);
        expect(ours.length - live.length).toBeLessThanOrEqual(40);
        expect(lines.join("").length).toBeLessThanOrEqual(2_000);
      }
    }
    for (const reason of ["harmful", "never-used", "stale", "duplicate", "over-listing", "over-cap"])
      expect([reason, (seen.get(reason) ?? 0) > 2]).toEqual([reason, true]);
    expect(filesIn(hand)).toEqual(mine);

    const live = new Set((await own.shelf()).filter(({ reach }) => reach !== "draft").map((one) => one.name));
    const all = [...learnedIn.keys()];
    expect(all).toHaveLength(weeks * perWeek);
    for (const n of all.filter((one) => isPinned(one) || fateOf(one) === "evergreen"))
      expect([n, live.has(nameOf(n))]).toEqual([n, true]);
    const drafts = (await own.shelf()).filter(({ reach }) => reach === "draft").map((one) => one.name);
    const away = await listArchived(own);
    expect(new Set([...live, ...drafts, ...away.map((one) => one.name)])).toEqual(new Set(all.map(nameOf)));

    const names = new Set(away.map((one) => one.name));
    const back: ChangeOutcome[] = [];
    for (const name of names) {
      const restored = await publishPlan(own, () => planRestore(own, name), "person");
      if (!restored.kept) throw new Error(restored.because);
      back.push(...restored.outcomes);
    }
    expect(back.filter(({ done }) => !done)).toEqual([]);
    expect(new Set(back.map(({ change }) => change.name))).toEqual(names);
    for (const { change } of back)
      expect(readFileSync(join(change.path, skillFile), "utf8")).toBe(texts.get(change.path));
    expect(await rebuild(own.store, { dryRun: true })).toEqual([]);
    const before = await told(own);
    await rebuild(own.store);
    expect(await told(own)).toEqual(before);
    expect(readdirSync(join(own.repository, ".claude/skills"))).toContain("mine");
  });
});

async function told(own: Desk): Promise<string[]> {
  return (await own.shelf()).map((one) => `${one.path} ${one.state} ${one.content}`);
}

function idOf(n: number): string {
  return itemId(lessonScopeId(n), "skill", nameOf(n));
}

function writeFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** A person keeps the lessons of a week, and finds words for some that are those of the one before. */
async function learned(
  own: Desk,
  fresh: readonly number[],
  at: number,
): Promise<{ path: string; text: string }[]> {
  const steps: PlannedChange[] = [];
  for (const n of fresh) {
    const instinct = await own.learns(lesson(n, at), `/s/${n}.jsonl`);
    const choice = { reach: isEverywhere(n) ? "everywhere" : "repository", actor: "person" } as const;
    const first = await own.plan(instinct, choice);
    if (!first.ok) throw new Error(first.because);
    const { files } = first.steps[0] as PlannedChange;
    const words = `Use when ${whenOf(n - 2)}.`;
    const text = mainText(files ?? []).replace(/^description: .*$/m, `description: "${words}"`);
    steps.push(...(fateOf(n) === "double" ? await reworded(own, first.steps, text) : first.steps));
  }
  const result = await publishPlan(own, async () => accept(steps), "person");
  if (!result.kept || !result.outcomes.every(({ done }) => done)) throw new Error("not all of it was kept");
  return steps.map(({ change, files }) => ({ path: change.path, text: mainText(files ?? []) }));
}

async function reworded(own: Desk, steps: readonly PlannedChange[], text: string): Promise<PlannedChange[]> {
  const files = [{ path: "SKILL.md", bytes: new TextEncoder().encode(text), mode: 0o644 }];
  const history = await readHistory(own.store);
  return steps.map(({ change }) => planChange(history, change, "create", null, toContent(files)));
}

/** What a week brings to a skill of some age. */
function lived(n: number, age: number, week: number, at: number): LedgerEntry[] {
  const session = `run-${week}`;
  const [skill, name] = [idOf(n), nameOf(n)];
  const common = { at, project: "/p", session, actor: "knack" as const };
  const used: LedgerEntry = {
    ...common,
    type: "skill.used",
    key: `used:${session}:${skill}`,
    data: { skill, name, by: "tool", prompt: null, ref: "e1" },
  };
  const shown: LedgerEntry = {
    ...common,
    type: "skill.shown",
    key: `shown:${session}:${skill}`,
    data: { skill, name, how: "offer", text: name, transcript: null },
  };
  const rated = (verdict: "helpful" | "harmful"): LedgerEntry => ({
    ...common,
    type: "use.rated",
    key: `rated:${session}:${skill}`,
    data: { kind: "skill", id: skill, name, verdict, because: "seen" },
  });
  switch (fateOf(n)) {
    case "evergreen":
      return age % 2 === 0 ? [shown, used, rated("helpful")] : [];
    case "for-a-while":
      return age < 6 ? [shown, used] : [];
    case "harmful":
      return age < 5 ? [used, rated("harmful")] : [];
    case "in-vain":
      return age < 8 ? [shown] : [];
    case "double":
    case "forgotten":
      return [];
  }
}
