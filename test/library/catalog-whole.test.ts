import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRootFinder } from "../../src/agents/item-roots.ts";
import { recordEntries } from "../../src/lessons/fold.ts";
import { readCatalog } from "../../src/library/catalog/catalog.ts";
import { itemId } from "../../src/records/change.ts";
import { noExcerpt } from "../../src/records/lesson.ts";
import { itemNamed } from "../../src/search/find.ts";
import { put, skillText } from "../helpers/library.ts";
import { type Desk, desk } from "../helpers/publishing.ts";

const name = "rl-npm-install-eresolve";
const recovery = {
  excerpt: {
    ...noExcerpt,
    failed: "npm install",
    error: "ERESOLVE",
    worked: "npm install --legacy-peer-deps",
  },
};

const read = ({ store, home }: Desk, more: Partial<Parameters<typeof readCatalog>[0]> = {}) =>
  readCatalog({ store, roots: createRootFinder({ home, env: {} }), ...more });

describe("the catalog", () => {
  test("has the latest projects, the person, and where somebody is", async () => {
    const own = await desk();
    put(own.home, {
      ".claude/skills/mine/SKILL.md": skillText("mine"),
      "work/.claude/skills/both/SKILL.md": skillText("both"),
      ".claude/skills/both/SKILL.md": skillText("both"),
      "new/.agents/skills/fresh/SKILL.md": skillText("fresh"),
    });
    const here = { id: "/new", root: join(own.home, "new") };
    const { items, here: asked } = await read(own, { here });
    expect(items.map(({ name, scopeId }) => `${name} ${scopeId}`).sort()).toEqual([
      "both /p",
      "both user",
      "fresh /new",
      "mine user",
    ]);
    expect(asked).toBe("/new");
    expect(itemNamed(items, "/p", "both")?.scopeId).toBe("/p");
    expect(itemNamed(items, "/new", "both")?.scopeId).toBe("user");
    expect((await read(own)).items.map((item) => item.scopeId)).not.toContain("/new");
  });

  test("leaves out projects that were not worked in for long, when there are many", async () => {
    const own = await desk();
    const roots = Array.from({ length: 40 + 2 }, (_, at) => join(own.home, `r${at}`));
    for (const [at, root] of roots.entries()) {
      put(root, { ".claude/skills/a/SKILL.md": skillText("a") });
      await own.store.transaction((tx) =>
        recordEntries(tx, [
          {
            at: 100 + at,
            project: `p${at}`,
            session: `/s/r${at}`,
            actor: "knack",
            type: "session.found",
            key: `found:r${at}`,
            data: { project: { id: `p${at}`, name: "r", root }, path: `/s/r${at}` },
          },
        ]),
      );
    }
    const scopeIds = (await read(own)).items.map(({ scopeId }) => scopeId);
    expect(scopeIds).toHaveLength(40);
    expect(scopeIds).not.toContain("p0");
    expect(scopeIds).toContain(`p${roots.length - 1}`);
  });

  test("knows what Knack wrote, and drafts for those whom they are for", async () => {
    const own = await desk();
    const lesson = await own.learns(recovery);
    await own.keep(lesson, { reach: "draft", actor: "person" });
    const [draft] = (await read(own)).items;
    expect(draft).toMatchObject({
      id: itemId("/p", "skill", name),
      draft: true,
      owner: "learned",
      source: lesson.id,
    });
    await own.keep(lesson, { reach: "me", actor: "person" });
    const { items, problems } = await read(own);
    expect(items).toMatchObject([
      {
        id: draft?.id,
        draft: false,
        source: lesson.id,
        path: join(own.repository, ".claude/skills", name, "SKILL.md"),
      },
    ]);
    expect(problems).toEqual([]);
  });

  test("has no proposals, which wait for a person", async () => {
    const own = await desk();
    const lesson = await own.learns(recovery);
    await own.keep(lesson, { reach: "me", actor: "person" });
    const path = join(own.repository, ".claude/skills", name, "SKILL.md");
    appendFileSync(path, "\nMine.\n");
    const again = await own.learns(recovery, "/s/2.jsonl");
    await own.keep(again, { reach: "me", actor: "person" });
    const { items } = await read(own);
    expect(items).toMatchObject([{ path, draft: false, copies: [] }]);
  });

  test("tells of what could not be read and reads what is unchanged once", async () => {
    const own = await desk();
    put(own.home, { ".claude/skills/a/SKILL.md": skillText("a"), "work/.agents/skills": "no folder" });
    const first = await read(own);
    expect(first.unread).toEqual([join(own.repository, ".agents/skills")]);
    const known = first.files.map((file) => ({
      ...file,
      item: file.item && { ...file.item, body: "known" },
    }));
    expect((await read(own, { known })).items.map(({ body }) => body)).toEqual(["known"]);
  });

  test("gives a draft of which nobody knows whose it is to the person", async () => {
    const own = await desk();
    const lesson = await own.learns(recovery);
    await own.keep(lesson, { reach: "draft", actor: "person" });
    await own.store.learning.lessons.forget([lesson.id]);
    expect((await read(own)).items).toMatchObject([{ scopeId: "user" }]);
  });
});
