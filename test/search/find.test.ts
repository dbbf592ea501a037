import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { recordEntries } from "../../src/lessons/fold.ts";
import { itemId } from "../../src/records/change.ts";
import type { LedgerEntry } from "../../src/records/ledger.ts";
import { openSqlite } from "../../src/store/sqlite.ts";
import { knackHere } from "../helpers/here.ts";
import { aHome, type Home, withKnack } from "../helpers/hook.ts";
import { knack } from "../helpers/knack.ts";
import { put, skillText } from "../helpers/library.ts";

const about: Readonly<Record<string, string>> = {
  "release-notes": "Draft release notes from merged pull requests. Use when somebody asks for release notes.",
  "docker-image-size": "Make Docker images smaller. Use when an image is too large.",
  "sql-migrations": "Write reversible database migrations. Use when a table or a column changes.",
  "flaky-tests": "Find why a test fails now and then. Use when tests are flaky.",
  "csv-import": "Import CSV files with bad rows reported. Use when spreadsheets are read in.",
};

function stocked(): Home {
  const made = aHome();
  for (const [name, description] of Object.entries(about))
    put(join(made.home, ".claude/skills"), { [`${name}/SKILL.md`]: skillText(name, { description }) });
  return made;
}

const namesFor = (made: Home, text: string) =>
  withKnack(made, async (opened) => {
    await opened.stock();
    return (await opened.find(text, made.project)).map(({ card }) => card.name);
  });

describe("what the library has for a text", () => {
  test("is found by the prompts in which it was of use, and no longer by those in which it did harm", async () => {
    const made = stocked();
    const wish = "Please polish the Friday bulletin for the harbour masters";
    expect(await namesFor(made, wish)).toEqual([]);
    const skill = itemId("user", "skill", "release-notes");
    const at = Date.UTC(2026, 10, 1);
    const common = { at, project: made.project, session: "s1", actor: "knack" as const };
    const used: LedgerEntry = {
      ...common,
      type: "skill.used",
      key: `used:s1:${skill}`,
      data: {
        skill,
        name: "release-notes",
        by: "tool",
        prompt: "polish the Friday bulletin for harbour masters",
        ref: "e3",
      },
    };
    await onLedger(made, [used]);
    expect(await namesFor(made, wish)).toEqual(["release-notes"]);
    const rated: LedgerEntry = {
      ...common,
      actor: "person",
      type: "use.rated",
      key: "rated:person:1",
      data: { kind: "skill", id: skill, name: "release-notes", verdict: "harmful", because: "" },
    };
    await onLedger(made, [rated]);
    expect(await namesFor(made, wish)).toEqual([]);
  });

  test("stays where a folder cannot be read, and goes where it is gone", async () => {
    const made = stocked();
    const skills = join(made.home, ".claude/skills");
    const ask = "draft release notes from the merged pull requests";
    expect(await namesFor(made, ask)).toEqual(["release-notes"]);
    renameSync(skills, `${skills}.old`);
    symlinkSync(skills, skills);
    expect(await namesFor(made, ask)).toEqual(["release-notes"]);
    rmSync(skills);
    expect(await namesFor(made, ask)).toEqual([]);
    renameSync(`${skills}.old`, skills);
    expect(await namesFor(made, ask)).toEqual(["release-notes"]);
  });

  test("is the same for many who ask and index at once", async () => {
    const made = stocked();
    await withKnack(made, (opened) => opened.stock());
    const ask = ["recall", "draft release notes from the merged pull requests", "--json"];
    const answers = await Promise.all(
      Array.from({ length: 6 }, async (_, n) => {
        put(join(made.home, ".claude/skills"), { [`extra-${n}/SKILL.md`]: skillText(`extra-${n}`) });
        return knack(ask, { home: made.home, cwd: made.project });
      }),
    );
    for (const { code, stdout } of answers) {
      expect(code).toBe(0);
      expect(JSON.parse(stdout).skills[0]).toMatchObject({ name: "release-notes", kind: "skill" });
    }
    await withKnack(made, async (opened) => {
      await opened.stock();
      expect(opened.index()).toEqual({ found: "index", entries: Object.keys(about).length + 6 });
    });
    const lists = readdirSync(join(made.knackHome, "snapshot")).filter((name) => name.endsWith(".new"));
    expect(lists).toEqual([]);
  });

  test("is there in a project of which nothing was learned yet, for who asks in it", async () => {
    const made = stocked();
    put(join(made.project, ".claude/skills"), {
      "tide-tables/SKILL.md": skillText("tide-tables", {
        description: "Print the tide tables of the harbour.",
      }),
    });
    const told = await knackHere(["recall", "print the tide tables of the harbour", "--json"], {
      home: made.home,
      cwd: made.project,
    });
    expect(JSON.parse(told.stdout).skills[0]).toMatchObject({ name: "tide-tables" });
  });

  test("changes nothing where nothing changed", async () => {
    const made = stocked();
    await withKnack(made, async (opened) => {
      expect(await opened.stock()).toEqual({ added: 5, removed: 0, rebuilt: true });
      expect(await opened.stock()).toEqual({ added: 0, removed: 0, rebuilt: false });
      expect(await opened.stock({ anew: true })).toEqual({ added: 5, removed: 0, rebuilt: true });
    });
  });
});

async function onLedger({ knackHome }: Home, entries: readonly LedgerEntry[]): Promise<void> {
  mkdirSync(knackHome, { recursive: true });
  const store = await openSqlite({ path: join(knackHome, "knack.db"), clock: { now: Date.now } });
  try {
    await store.transaction((tx) => recordEntries(tx, entries));
  } finally {
    await store.close();
  }
}
