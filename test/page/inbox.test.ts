import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { dump } from "../helpers/dump.ts";
import { knackHere } from "../helpers/here.ts";
import { filesIn } from "../helpers/machine.ts";
import { openPage } from "../helpers/page.ts";
import { tempFolder } from "../helpers/temp.ts";
import { enter, findBarriers, useBrowser } from "./browsing.ts";
import { fillHome } from "./full-home.ts";

const browser = useBrowser();

/** A decision: on what, with which keys or button, and the command that does the same. */
interface Decision {
  readonly on: string;
  readonly under: string;
  /** A place that is chosen before, by its name there. */
  readonly where?: string;
  /** A key, or the button of the part that has these words. */
  readonly press: "y" | "n" | "u" | { readonly beside: string };
  readonly says: RegExp;
  /** The command's words; `id` and `name` are those of what was decided. */
  readonly typed: (id: string, name: string) => readonly string[];
}

const reviewed = { under: "From reviews" };
const decisions: readonly Decision[] = [
  {
    ...{ on: "Install packages with pnpm — or: Install packages with npm", under: "Contradictions" },
    ...{ press: { beside: "packages: Install packages with npm." }, says: /is kept\. Rejected, because/ },
    typed: (id) => ["lessons", "keep", id],
  },
  {
    ...{ on: "From now on always run npm run lint", under: "Lessons to keep", press: "y", says: /is kept\./ },
    where: "For the team, in the repository",
    typed: (id) => ["lessons", "keep", id, "--where", "repository"],
  },
  {
    ...{ on: "Don't edit generated/schema.ts", under: "Lessons to keep", press: "y", says: /is kept\./ },
    where: "In all my projects",
    typed: (id) => ["lessons", "keep", id, "--where", "everywhere"],
  },
  {
    ...{ on: "Remember: this repo has no pytest", under: "Lessons to keep", press: "n" },
    ...{ says: /is rejected and will not be/, typed: (id) => ["lessons", "reject", id] },
  },
  {
    ...{ on: "", under: "", press: "u", says: /may be suggested again/ },
    typed: () => ["skills", "unskip", "this-repo-has-no-pytest-always"],
  },
  {
    ...{ on: "Use when npm install fails", under: "Drafts", press: "y", says: /is live\./ },
    typed: (_, name) => ["skills", "accept", name],
  },
  {
    ...{ on: "", under: "", press: "u", says: /is as it was before/ },
    typed: () => ["undo"],
  },
  {
    ...{ on: "Use to find out what is the case", under: "Drafts", press: "n" },
    ...{ says: /is removed and will not/, typed: (_, name) => ["skills", "reject", name] },
  },
  {
    ...{ on: "Use when pnpm add fails with EPEER", under: "Changes to your skills", press: "y" },
    ...{ says: /is live\./, typed: (_, name) => ["skills", "accept", name] },
  },
  {
    ...{ on: "Use when buoys need a token", under: "Edited by hand", press: "y" },
    ...{ says: /is live\./, typed: (_, name) => ["skills", "accept", name] },
  },
  {
    ...{ on: "The target has another name now.", ...reviewed, press: "y", says: /is accepted\./ },
    typed: (id) => ["review", "accept", id],
  },
  {
    ...{ on: "The target has another name now.", ...reviewed, press: "n", says: /is rejected; the same/ },
    typed: (id) => ["review", "reject", id],
  },
  {
    ...{ on: "Store times in UTC.", under: "Imported", press: "y", says: /counts as your own instruction/ },
    typed: (id) => ["lessons", "keep", id],
  },
  {
    ...{ on: "Write dates as year", under: "Imported", press: "n", says: /will not be imported again/ },
    typed: (id) => ["lessons", "reject", id],
  },
  {
    ...{ on: "Translate the pilot book", under: "Asked for, and no skill for it", press: "y" },
    ...{ says: /is live\./, typed: (id) => ["gaps", "promote", id] },
  },
  {
    ...{ on: "Please cut a release", under: "Asked for, and no skill for it", press: "n" },
    ...{ says: /will not write a skill for this/, typed: (id) => ["gaps", "reject", id] },
  },
];

/** Everything outside Knack's own folder, its versions and drafts, and what the ledger says, without times. */
function readState(home: string) {
  const isMeant = (path: string) => !path.startsWith(".knack/") || /^\.knack\/(?:versions|drafts)/.test(path);
  const withoutTime = (row: string) => row.replace(/\b1[0-9]{12}\b/g, "T");
  return {
    files: Object.fromEntries(Object.entries(filesIn(home)).filter(([path]) => isMeant(path))),
    ledger: dump(join(home, ".knack/knack.db")).ledger?.map(withoutTime).sort(),
  };
}

/** Makes a decision as a person does; answers with the id and the name that its form has. */
async function decide(tab: Page, origin: string, { on, under, where, press }: Decision): Promise<string[]> {
  const loaded = (action: Promise<unknown>) => Promise.all([tab.waitForEvent("load"), action]);
  if (on !== "") {
    if (new URL(tab.url()).pathname !== "/inbox") await tab.goto(`${origin}/inbox`);
    await loaded(tab.locator(`.list h2:has-text("${under}") + ul a`, { hasText: on }).first().click());
  }
  if (where !== undefined) await loaded(tab.locator(".detail .choice a", { hasText: where }).click());
  const button =
    typeof press === "string"
      ? tab.locator(`button[data-key="${press}"]`).first()
      : tab.locator(`.detail article:has-text("${press.beside}") button`);
  const form = button.locator("xpath=ancestor::form");
  const read = async (name: string) => {
    const field = form.locator(`[name="${name}"]`);
    return (await field.count()) > 0 ? field.inputValue() : "";
  };
  const named = [await read("id"), await read("name")];
  await loaded(typeof press === "string" ? tab.keyboard.press(press) : button.click());
  return named;
}

describe("The inbox with each kind of thing in it", () => {
  test("decides about each by its keys, and changes files and ledger exactly as the command line does", async () => {
    const { home } = await fillHome();
    const before = join(tempFolder(), "before");
    cpSync(home, before, { recursive: true, preserveTimestamps: true });
    const page = await openPage(home);
    const { tab, complaints } = await enter(browser(), page, { width: 768 });
    await tab.goto(`${page.origin}/inbox`);
    expect(await tab.locator(".list h2").allTextContents()).toEqual([
      ...["Contradictions 1", "Lessons to keep 14", "Drafts 3", "Changes to your skills 1", "From reviews 2"],
      ...["Edited by hand 1", "Imported 2", "Asked for, and no skill for it 2", "Failed again and again 1"],
    ]);
    const done: { readonly words: readonly string[]; readonly state: ReturnType<typeof readState> }[] = [];
    for (const decision of decisions) {
      const [id = "", name = ""] = await decide(tab, page.origin, decision);
      const notice = await tab.locator(".notice:not([hidden])").first().textContent();
      expect({ on: decision.on, notice }).toEqual({
        on: decision.on,
        notice: expect.stringMatching(decision.says),
      });
      done.push({ words: decision.typed(id, name), state: readState(home) });
    }
    await tab.goto(`${page.origin}/inbox`);
    const unsolved = tab.locator('.list h2:has-text("Failed again and again") + ul a');
    await Promise.all([tab.waitForEvent("load"), unsolved.click()]);
    expect(await tab.locator(".detail li a").count()).toBe(3);
    expect(await tab.locator(".detail .decide").count()).toBe(0);
    expect(await findBarriers(tab)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();

    rmSync(home, { recursive: true });
    cpSync(before, home, { recursive: true, preserveTimestamps: true });
    for (const { words, state } of done) {
      const { code, stderr } = await knackHere(words, { home });
      expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: "" });
      expect({ words, ...state }).toEqual({ words, ...readState(home) });
    }
  });
});
