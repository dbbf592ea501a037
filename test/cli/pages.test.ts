import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { aHome } from "../helpers/hook.ts";

/** Runs `knack pages` as a person sees it. */
function aPerson() {
  const { home, project } = aHome();
  const run = async (...words: string[]) => {
    const { code, stdout, stderr } = await knackHere(words, { home, cwd: project });
    return { code, out: stdout, error: stderr };
  };
  return Object.assign((...words: string[]) => run("pages", ...words), { run });
}

describe("knack pages", () => {
  test("shows the four roots, and how to begin, where nothing is kept", async () => {
    const pages = aPerson();
    const { code, out } = await pages();
    expect(code).toBe(0);
    for (const root of ["execution", "intelligence", "performance", "system"]) expect(out).toContain(root);
    expect(out).toContain("No pages yet. To begin one:");
  });

  test("says where something was written, and how to take it back", async () => {
    const pages = aPerson();
    const added = await pages("add", "The runner hashes the lockfile alone", "--page", "system/runner");
    expect(added.out).toContain("wrote    ");
    expect(added.out).toContain("/.knack/pages/system/runner.md");
    expect(added.out).toContain("To take it back: knack undo runner");
    expect((await pages()).out).toContain("system/runner  0.90  ");
    const shown = await pages("show", "runner");
    expect(shown.out).toContain("## Key Insights");
    expect(shown.out).toContain("- The runner hashes the lockfile alone");
    const found = await pages("find", "runner lockfile hash");
    expect(found.out).toContain("system/runner  ");
    expect(found.out).toContain("in its name");
    const undone = await pages.run("undo", "runner");
    expect(undone.out).toContain("removed  ");
    // A page is no lesson: taking it back refuses nothing for good.
    expect(undone.out).not.toContain("suggested again");
  });

  test.each([
    [["shwo", "x"], 2, "Unknown subcommand: knack pages shwo.", "Did you mean knack pages show?"],
    [["show", "nothing"], 2, 'No page is called "nothing".', "knack pages tree lists them."],
    [["add"], 2, "knack pages add takes the words to keep.", 'knack pages add "IF'],
    [["add", "x", "--section", "rule"], 2, 'Invalid --section "rule".', "Use rules, values, insights."],
    [["add", "x", "--confidence", "2"], 2, 'Invalid --confidence "2".', "Use a number from 0 to 1."],
    [["add", "x", "--goal", "g0"], 2, "There is no goal g0.", "knack goal board"],
    [["add", "Be kind", "--page", "kindness"], 1, "no page is called kindness", "execution/kindness"],
  ])("names what is wrong and the next step: %j", async (words, code, message, hint) => {
    const ran = await aPerson()(...words);
    expect(ran.code).toBe(code);
    expect(ran.error).toContain(message);
    expect(ran.error).toContain(hint);
  });
});
