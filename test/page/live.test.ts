import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { openPage } from "../helpers/page.ts";
import { setStage } from "../loop/stage.ts";
import { enter, findBarriers, useBrowser } from "./browsing.ts";

const browser = useBrowser();
const phases = ["Orient", "Strategize", "Plan", "Execute", "Debrief", "Improve", "Consolidate"];

describe("A run of the loop", () => {
  test("is shown in an open page as it goes through its phases, and which step it is at", async () => {
    const stage = setStage();
    const go = join(stage.home, "go");
    // The step's worker waits until it was seen at work.
    const command = `for n in $(seq 1200); do [ -e '${go}' ] && break; sleep 0.1; done`;
    stage.tell({ "step-worker": { command } });
    // Something to look at before the run begins.
    await knackHere(["goal", "open", "Write done.txt", "--json"], { home: stage.home, cwd: stage.here });
    const page = await openPage(stage.home);
    const { context, tab, complaints } = await enter(browser(), page, { width: 768 });
    await tab.goto(`${page.origin}/goals`);
    expect(await tab.locator("main").textContent()).not.toContain("Loop runs");
    const run = stage.startProcess(["--tier", "full", "--json"]);

    // It appears in the page that is open, and leads to the run; neither is loaded again by hand.
    const link = tab.locator('main a[href^="/runs/"]');
    await link.waitFor();
    expect(await tab.locator("main").textContent()).toContain("running or stopped");
    const own = await context.newPage();
    await own.goto(new URL((await link.getAttribute("href")) ?? "", page.origin).href);
    const readPhases = () => own.locator(".phases li").evaluateAll((all) => all.map((one) => one.className));
    await own.locator(".phases li.working:has-text('Execute')").waitFor();
    expect(await own.locator(".phases li b").allTextContents()).toEqual(phases);
    expect(await readPhases()).toEqual([
      ...["completed", "completed", "completed", "working", "waiting", "waiting", "waiting"],
    ]);
    expect(await own.locator("main").textContent()).toContain("Write done.txt");
    expect(await own.locator("main").textContent()).toContain("loop resume");
    expect(await findBarriers(own)).toEqual([]);

    writeFileSync(go, "");
    expect(await run).toMatchObject({ code: 0 });
    await own.locator(".phases li.completed:has-text('Consolidate')").waitFor();
    await own.locator(".facts .tag.good:text-is('completed')").waitFor();
    expect(await readPhases()).toEqual(phases.map(() => "completed"));
    await tab.locator('main li:has(a[href^="/runs/"]) .tag:text-is("completed")').waitFor();
    expect(complaints).toEqual([]);
  });
});
