import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { dump } from "../helpers/dump.ts";
import { knackHere } from "../helpers/here.ts";
import { knack } from "../helpers/knack.ts";
import { filesIn, type Machine, machine } from "../helpers/machine.ts";
import { openPage } from "../helpers/page.ts";
import { tempFolder } from "../helpers/temp.ts";
import { enter, useBrowser } from "./browsing.ts";

const browser = useBrowser();

async function learned(): Promise<Machine> {
  const made = machine();
  await knackHere(["learn", "--json"], { home: made.home });
  return made;
}

const decisions = (home: string) =>
  (dump(join(home, ".knack/knack.db")).ledger ?? []).filter((row) => row.includes('"lesson.decided"'));

describe("At the keyboard, a person", () => {
  test("goes through the inbox, keeps, takes back, rejects and edits", async () => {
    const { home, harbor } = await learned();
    const page = await openPage(home);
    const { tab, complaints } = await enter(browser(), page);
    await tab.goto(`${page.origin}/inbox`);
    const title = () => tab.locator(".detail .lesson").first().textContent();
    const waiting = async () => Number(await tab.locator("nav .count").textContent());
    const press = async (key: string) => {
      await Promise.all([tab.waitForEvent("load"), tab.keyboard.press(key)]);
    };
    const first = await title();
    await press("j");
    expect(await title()).not.toBe(first);
    await press("k");
    expect(await title()).toBe(first);
    expect(await waiting()).toBe(4);

    await press("y");
    expect(await tab.locator(".notice.good").textContent()).toContain("is kept.");
    expect(await waiting()).toBe(3);
    expect(Object.keys(filesIn(join(harbor, ".claude"))).join()).toContain("SKILL.md");
    await press("u");
    expect(await tab.locator(".notice.good").textContent()).toContain("is as it was before");
    expect(decisions(home)).toHaveLength(2);

    const second = await title();
    await press("n");
    expect(await tab.locator(".notice.good").textContent()).toContain("is rejected");
    expect(await waiting()).toBe(2);
    await press("u");
    expect(await waiting()).toBe(3);
    expect(await title()).toBe(second);

    await press("e");
    await tab.locator("textarea").fill("Lint before each commit, with my own words.");
    await Promise.all([tab.waitForEvent("load"), tab.locator("button.yes").click()]);
    expect(await waiting()).toBe(2);
    expect(Object.values(filesIn(join(home, "work"))).join()).toContain("with my own words");
    // What was done before can be taken back, too, when nothing says so any more.
    await tab.goto(`${page.origin}/inbox`);
    expect(await tab.locator(".notice:not([hidden])").count()).toBe(0);
    await press("u");
    expect(await tab.locator(".notice.good").textContent()).toContain("is as it was before");
    expect(Object.values(filesIn(join(home, "work"))).join()).not.toContain("with my own words");
    // Letters that are typed are no commands.
    await tab.locator("#find").fill("ynu");
    expect(await waiting()).toBe(2);
    expect(complaints).toEqual([]);
    expect(await knackHere(["doctor", "--json"], { home })).toMatchObject({ code: 0 });
  });
});

describe("The page", () => {
  test("keeps a lesson once, when two windows and a worker are at it", async () => {
    const { home, harbor } = await learned();
    const page = await openPage(home);
    const { context, tab } = await enter(browser(), page);
    const other = await context.newPage();
    await Promise.all([tab.goto(`${page.origin}/inbox`), other.goto(`${page.origin}/inbox`)]);
    const press = (one: typeof tab) => Promise.all([one.waitForEvent("load"), one.keyboard.press("y")]);
    const worker = knack(["learn", "--json"], { home });
    await Promise.all([press(tab), press(other)]);
    expect(await worker).toMatchObject({ code: 0 });
    const notices = await Promise.all(
      [tab, other].map((one) => one.locator(".notice.good, .notice.bad:not([hidden])").last().textContent()),
    );
    expect(notices.filter((says) => says?.includes("is kept."))).toHaveLength(1);
    expect(notices.filter((says) => says?.includes("was kept already"))).toHaveLength(1);
    const skills = Object.keys(filesIn(join(harbor, ".claude/skills")));
    expect(skills).toHaveLength(1);
    expect(await knackHere(["doctor", "--json"], { home })).toMatchObject({ code: 0 });
  });

  test("says that it has ended when its server is killed, and leaves nothing broken", async () => {
    const { home } = await learned();
    const page = await openPage(home);
    const { tab } = await enter(browser(), page);
    await tab.goto(`${page.origin}/inbox`);
    void tab.keyboard.press("y");
    page.child.kill("SIGKILL");
    const left = await openPage(home);
    const again = await enter(browser(), left);
    await again.tab.goto(`${left.origin}/inbox`);
    expect(await again.tab.locator("h1").first().textContent()).toBe("Inbox");
    left.child.kill("SIGKILL");
    await again.tab.locator("#lost").waitFor({ state: "visible" });
    expect(await knackHere(["doctor", "--json"], { home })).toMatchObject({ code: 0 });
  });

  test("takes nothing from a page of somebody else, on this machine or under another name", async () => {
    const { home } = await learned();
    const page = await openPage(home);
    const { context, tab } = await enter(browser(), page);
    const before = decisions(home);
    const { port } = new URL(page.origin);
    const attack = `<iframe src="${page.origin}/inbox"></iframe>
      <form method="post" action="${page.origin}/do"><input name="do" value="undo"><input name="form" value="x"></form>
      <script>
        document.title = "";
        fetch("${page.origin}/inbox", { credentials: "include" }).then((a) => a.text()).then((t) => { document.title = "read " + t.length; }, () => { document.title = "refused"; });
      </script>`;
    const evil = createServer((_, answer) => answer.setHeader("content-type", "text/html").end(attack));
    await new Promise<void>((done) => evil.listen(0, "127.0.0.1", done));
    onTestFinished(() => void evil.close());
    const foreign = await context.newPage();
    await foreign.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`);
    await foreign.waitForFunction("document.title !== ''");
    expect(await foreign.title()).toBe("refused");
    expect(
      await foreign
        .frames()[1]
        ?.locator("body")
        .textContent()
        .catch(() => ""),
    ).not.toContain("Inbox");
    const [sent] = await Promise.all([
      foreign.waitForResponse((answer) => answer.url().endsWith("/do")),
      foreign.evaluate("document.forms[0].submit()"),
    ]);
    expect(sent.status()).toBe(403);
    const rebound = await context.newPage();
    const answer = await rebound.goto(`http://evil.example:${port}/inbox`);
    expect(answer?.status()).toBe(421);
    expect(decisions(home)).toEqual(before);
    expect((await tab.goto(`${page.origin}/inbox`))?.status()).toBe(200);
  });

  test("runs nothing that a transcript says, whatever the field", async () => {
    const home = tempFolder();
    const { harbor } = machine({ home, sessions: /none/ });
    const bad = `<img src=x onerror="alert(1)"><script>alert(2)</script>"'\`</textarea><svg onload=alert(3)>`;
    const lines = writeSession(harbor, bad);
    const folder = join(home, ".claude/projects/x");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "5f0c1a52-0000-4000-8000-000000000001.jsonl"), lines);
    await knackHere(["learn", "--json"], { home });
    const page = await openPage(home);
    const { tab, complaints } = await enter(browser(), page);
    const seen: string[] = [];
    for (const path of [
      "/",
      "/inbox",
      "/inbox?edit=1",
      "/lessons?status=all",
      "/sessions",
      "/library",
      `/library?q=${encodeURIComponent(bad)}`,
      "/backtest/result",
    ]) {
      await tab.goto(`${page.origin}${path}`);
      seen.push((await tab.locator("main").textContent()) ?? "");
      expect(await tab.locator("main img, main script, main svg[onload]").count()).toBe(0);
    }
    await tab.goto(`${page.origin}/sessions`);
    await tab.locator("main tbody a").first().click();
    await tab.locator(".timeline").waitFor();
    seen.push((await tab.locator("main").textContent()) ?? "");
    expect(await tab.locator("main img, main script").count()).toBe(0);
    expect(seen.join()).toContain("onerror=");
    expect(complaints).toEqual([]);
  });

  test("is one file for others, which asks for nothing and has no excerpt unless that was wanted", async () => {
    const { home } = await learned();
    const folder = tempFolder();
    const [bare, full] = ["bare.html", "full.html"].map((name) => join(folder, name)) as [string, string];
    expect(await knackHere(["open", "--export", bare], { home })).toMatchObject({ code: 0 });
    expect(await knackHere(["open", "--export", full, "--excerpts"], { home })).toMatchObject({ code: 0 });
    const context = await browser().newContext();
    onTestFinished(() => context.close());
    const asked: string[] = [];
    const tab = await context.newPage();
    tab.on("request", (request) => asked.push(request.url()));
    await tab.goto(`file://${bare}`);
    const text = (await tab.locator("body").textContent()) ?? "";
    expect(text).toContain("npm run lint -- --fix");
    expect(text).not.toContain("Now commit the new berths file");
    expect(await tab.locator("a, form, script, button").count()).toBe(0);
    await tab.goto(`file://${full}`);
    expect(await tab.locator("body").textContent()).toContain("Now commit the new berths file");
    expect(asked.filter((one) => !one.startsWith("file:"))).toEqual([]);
  });
});

/** A session in which each text that somebody wrote is markup: prompt, reply, command, output, file and tool. */
function writeSession(cwd: string, bad: string): string {
  let n = 0;
  const line = (type: string, content: unknown) =>
    JSON.stringify({
      ...{ type, uuid: `u${n}`, parentUuid: n === 0 ? null : `u${n++ - 1}`, cwd, version: "2.0.0" },
      ...{ sessionId: "5f0c1a52-0000-4000-8000-000000000001", gitBranch: bad, isSidechain: false },
      ...{ timestamp: new Date(Date.now() - 3_600_000 + n * 1_000).toISOString() },
      message: { role: type, content },
    });
  const call = (id: string, name: string, input: object) =>
    line("assistant", [{ type: "tool_use", id, name, input }]);
  const result = (id: string, text: string, isError: boolean) =>
    line("user", [{ type: "tool_result", tool_use_id: id, content: text, is_error: isError }]);
  return [
    line("user", `From now on always run \`npm test\` before you commit ${bad}.`),
    line("assistant", [{ type: "text", text: bad }]),
    call("c1", "Bash", { command: `npm test ${bad}` }),
    result("c1", `Exit code 1\nerror: ${bad} is not set`, true),
    call("c2", "Bash", { command: `cp .env.test .env && npm test ${bad}` }),
    result("c2", "ok", false),
    call("c3", bad, { file_path: `/tmp/${bad}`, text: bad }),
    result("c3", bad, false),
    "",
  ].join("\n");
}
