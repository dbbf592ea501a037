import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dump } from "../helpers/dump.ts";
import { knackHere } from "../helpers/here.ts";
import { databaseSessions, filesIn, type Machine, machine, nameOfSkill } from "../helpers/machine.ts";
import { openPage, type PageProcess } from "../helpers/page.ts";
import { tempFolder } from "../helpers/temp.ts";

const bare = await nameOfSkill();
const name = `rl-${bare}`;

/** The machine, new each time in one place, so that everything has the same ids. */
async function learned(home: string): Promise<Machine & { readonly id: string }> {
  rmSync(home, { recursive: true, force: true });
  const made = machine({ sessions: databaseSessions, home });
  await knackHere(["learn", "--json"], { home });
  const { stdout } = await knackHere(["lessons", "show", bare, "--json"], { home });
  return { ...made, id: JSON.parse(stdout).lesson.id };
}

/** Everything outside Knack's own folder, its versions, and what the ledger says, without times. */
function state(home: string) {
  const files = Object.entries(filesIn(home)).filter(
    ([path]) => !path.startsWith(".knack/") || path.startsWith(".knack/versions"),
  );
  const withoutTime = (row: string) => row.replace(/\b1[0-9]{12}\b/g, "T");
  return {
    files: Object.fromEntries(files),
    ledger: dump(join(home, ".knack/knack.db")).ledger?.map(withoutTime).sort(),
  };
}

interface Way {
  readonly says: string;
  readonly page: (page: PageProcess, id: string) => Promise<unknown>;
  readonly typed: readonly (readonly string[])[];
}

const keep = (page: PageProcess, id: string, where = "me") => page.post({ do: "keep-lesson", id, where });

const ways: readonly Way[] = [
  { says: "keeps", page: (page, id) => keep(page, id), typed: [["lessons", "keep", bare, "--where", "me"]] },
  {
    says: "keeps in the repository",
    page: (page, id) => keep(page, id, "repository"),
    typed: [["lessons", "keep", bare, "--where", "repository"]],
  },
  {
    says: "rejects",
    page: (page, id) => page.post({ do: "reject-lesson", id }),
    typed: [["lessons", "reject", bare]],
  },
  {
    says: "undoes, and allows again,",
    page: async (page, id) => {
      await keep(page, id);
      await page.post({ do: "undo", name });
      await page.post({ do: "allow-lesson", id });
    },
    typed: [
      ["lessons", "keep", bare, "--where", "me"],
      ["undo", name],
      ["skills", "unskip", bare],
    ],
  },
];

describe("A decision on the page", () => {
  test.each(ways)("$says exactly as the command line does", async ({ page, typed }) => {
    const home = tempFolder();
    const { id } = await learned(home);
    const opened = await openPage(home);
    await page(opened, id);
    await opened.close();
    const done = state(home);
    await learned(home);
    for (const words of typed) expect(await knackHere(words, { home })).toMatchObject({ code: 0 });
    expect(done).toEqual(state(home));
  });

  test("says what it did, offers to take it back, and takes a person's own words", async () => {
    const home = tempFolder();
    const { id, harbor } = await learned(home);
    const page = await openPage(home);
    const text =
      "---\nname: test-needs-env\ndescription: Use before npm test.\n---\n\nCopy .env.test first.\r\n";
    expect((await page.get(`/lessons/${id}`)).text).toContain(">pending</span>");
    const after = await page.post({ do: "keep-lesson", id, where: "me", text, back: "/inbox?at=0" });
    expect((await page.get(`/lessons/${id}`)).text).toContain('<span class="tag good">active</span>');
    expect(after.text).toContain(`${bare} is kept.`);
    expect(after.text).toContain('name="do" value="undo"');
    expect(after.text).toContain("Nothing waits for you.");
    const skills = Object.entries(filesIn(join(harbor, ".claude/skills")));
    expect(skills).toHaveLength(1);
    expect(skills[0]?.[1]).toContain("Copy .env.test first.");
    const again = await page.post({ do: "keep-lesson", id, where: "me" });
    expect(again.text).toContain("was kept already, in another window or by another run");
    const undone = await page.post({ do: "undo", name: skills[0]?.[0].split("/")[0] ?? "" });
    expect(undone.text).toContain("will not be suggested again");
    expect(existsSync(join(harbor, ".claude"))).toBe(false);
  });

  test("says why it was not made, and changes nothing", async () => {
    const home = tempFolder();
    const { id } = await learned(home);
    const page = await openPage(home);
    const before = state(home);
    for (const [fields, says] of [
      [{ do: "keep-lesson", id: "i0nothing" }, "This lesson no longer waits"],
      [{ do: "keep-lesson", id, where: "me", text: " \n " }, "The text is empty, so nothing was changed."],
      [{ do: "undo", name: "" }, "There is nothing to undo."],
      [{ do: "accept", name, origin: id }, "This draft no longer waits"],
      [{ do: "reject-gap", id: "g0" }, "This request no longer waits"],
    ] as const)
      expect((await page.post(fields)).text).toContain(says);
    expect(state(home)).toEqual(before);
  });
});
