import { describe, expect, test } from "vitest";
import type { UnmatchedPrompt } from "../../src/library/gaps/gap.ts";
import { cutTaskRun, renderTask } from "../../src/library/gaps/task.ts";
import { findSkillProblems, parseSkill, scanSkill } from "../../src/library/skill.ts";
import type { Skill } from "../../src/records/change.ts";
import type { Event } from "../../src/records/session.ts";
import { parseAsk } from "../../src/search/ask.ts";
import { mayBeWritten } from "../../src/trust/index.ts";
import { edited, ran, said, session } from "../helpers/events.ts";

type TaskRun = NonNullable<ReturnType<typeof cutTaskRun>>;

function asked(text: string, run: string): UnmatchedPrompt {
  const ask = parseAsk(text);
  if (!ask) throw new Error(`no ask: ${text}`);
  return { id: `g${run.padStart(11, "0")}`, session: run, at: Date.UTC(2026, 0, 1), text, ask };
}

function doing(text: string, run: string, ...events: readonly Event[]): TaskRun {
  const found = cutTaskRun(asked(text, run), session(said(text), ...events), [], "/home/dev/app");
  if (!found) throw new Error("no such prompt");
  return found;
}

/** The section of the skill that the runs make. */
function section(runs: readonly TaskRun[], title: string): string {
  const made = renderTask(
    runs.map(({ asked: prompt }) => prompt),
    runs,
    "rl-",
  );
  if (!made.ok) throw new Error(made.because);
  return made.text.split(/^## /m).find((part) => part.startsWith(title)) ?? "";
}

/** What its steps say, without how often each was seen. */
const stepsOf = (runs: readonly TaskRun[]) =>
  Array.from(
    section(runs, "Steps").matchAll(/^\d+\. (?:Run.*:\s+```sh\s+(.*)|(.*))/gm),
    ([, command, told = ""]) => command ?? told.replace(/ \(in .*/, ""),
  );

const migration = (run: string, table: string, n: number) =>
  doing(
    `add a migration for the ${table} table`,
    run,
    ran("ls db/migrations", "ok"),
    ran(`npm run migrate:new ${table}`, "ok"),
    edited(`/home/dev/app/db/migrations/00${n}_${table}.sql`),
    edited("/home/dev/app/db/schema.sql"),
    ran("npm run migrate", "failed", "error"),
    ran("npm run migrate", "ok"),
    ran("npm test", "ok"),
  );

describe("a task that was done several times", () => {
  test("is what the sessions share, in order, with what differs left open", () => {
    const runs = [migration("a", "invoices", 1), migration("b", "orders", 2)];
    expect(stepsOf(runs)).toEqual([
      "npm run migrate:new <value>",
      "Write or change a file such as `db/migrations/*.sql`.",
      "Change `db/schema.sql`.",
      "npm run migrate",
      "npm test",
    ]);
    expect(section(runs, "Check")).toContain("`npm test` ends well");
  });

  test("has no step that one session alone did, or that failed", () => {
    const first = doing("add a migration for users", "a", ran("make db", "ok"), ran("npm test", "failed"));
    const second = doing("add a migration for teams", "b", ran("make lint", "ok"), ran("npm test", "ok"));
    expect(renderTask([first.asked, second.asked], [first, second], "rl-")).toEqual({
      ok: false,
      because: "the 2 sessions that asked for it did nothing in common that could be written down",
    });
  });

  test("takes over nothing that gets past a safeguard", () => {
    const forced = (run: string) =>
      doing(
        "add a migration for users",
        run,
        ran("npm run migrate", "ok"),
        ran("npm test", "ok"),
        ran('git commit -m "Add it" --no-verify', "ok"),
        ran("git push --force origin main", "ok"),
      );
    expect(stepsOf([forced("a"), forced("b")])).toEqual(["npm run migrate", "npm test"]);
  });

  test("needs most of many sessions for a step, not all", () => {
    const doings = [1, 2, 3].map((n) => migration(`s${n}`, `t${n}`, n));
    const other = doing("add a migration for tags", "s4", ran("npm test", "ok"));
    expect(section([...doings, other], "Steps")).toMatch(/Run:\s+```sh\s+npm run migrate\n/);
  });

  test("ends where other work is asked for", () => {
    const text = "add a migration for users";
    const { events } = doing(
      text,
      "a",
      ran("npm run migrate", "ok"),
      said("yes, looks good"),
      ran("npm test", "ok"),
      said("write release notes for v2"),
      ran("node notes.mjs", "ok"),
    );
    expect(events.flatMap(({ command }) => command ?? [])).toEqual(["npm run migrate", "npm test"]);
  });

  test("makes a valid skill that may be written, however much there is to tell", () => {
    const many = (run: string) =>
      doing(
        `add a migration for the ${run} table`,
        run,
        ...Array.from({ length: 80 }, (_, n) => ran(`tool${n} do-${"x".repeat(60)} --for ${run}`, "ok")),
      );
    const doings = [many("invoices"), many("orders")];
    const asks = doings.map((each) => each.asked);
    const made = renderTask(asks, doings, "rl-");
    if (!made.ok) throw new Error(made.because);
    const skill = parseSkill(made.text).skill as Skill;
    expect(findSkillProblems(skill)).toEqual([]);
    expect(mayBeWritten(scanSkill(skill))).toBe(true);
    expect(skill.body.length).toBeLessThanOrEqual(4_000);
    expect(skill.description.length).toBeLessThanOrEqual(160);
    expect(skill.name).toBe("rl-add-migration");
  });
});
