import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { openKnack } from "../../src/open.ts";
import { servePage } from "../../src/web/index.ts";
import { knackHere } from "../helpers/here.ts";
import { withKnack } from "../helpers/hook.ts";
import { failIn, fails, leave, teaching, works } from "../helpers/hooked.ts";
import { root } from "../helpers/knack.ts";
import { asked, failed, minute, ran, replied, type Step } from "../helpers/lived.ts";
import { openPage, openSharedPage } from "../helpers/page.ts";
import { sharedFolder, tempFolder } from "../helpers/temp.ts";

/** A week: one session taught what helps; of three that failed in the same way and were told, one did it at once. */
const home = sharedFolder();
leave(home, { name: "taught", at: Date.now() - 2 * 86_400_000, steps: teaching });
await knackHere(["learn", "--json"], { home });
const met: readonly (readonly [name: string, after: readonly Step[]])[] = [
  ["at-once", [works]],
  ["later", [failed("cat notes.txt", "cat: notes.txt: No such file or directory"), works]],
  ["otherwise", [ran("true")]],
];
for (const [name, after] of met) {
  const before = Array.from({ length: 9 }, (_, n) => replied(`Part ${n}.`));
  const steps = [asked("Check it"), ...before, fails, ...after];
  failIn(home, leave(home, { name, at: Date.now() - 10 * minute - 30_000, steps }));
}
await knackHere(["work"], { home });
await knackHere(["learn", "--json"], { home });
const page = await openSharedPage(home);
const status = JSON.parse((await knackHere(["status", "--json"], { home })).stdout);

/** The rows of the first table of a page. */
const readRows = (text: string) =>
  [...(/<tbody[^>]*>(.*?)<\/tbody>/s.exec(text)?.[1] ?? "").matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(
    ([, row]) =>
      [...(row ?? "").matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell]) =>
        readText(cell ?? "").trim(),
      ),
  );

const readText = (markup: string) => markup.replace(/<[^>]*>/g, "");

/** A number of a table, which shows none as a dash. */
const readCount = (cell = "") => (cell === "–" ? 0 : Number(cell));

async function readTile(name: string): Promise<{ figure: string; says: string; text: string }> {
  const { text } = await page.get("/");
  const tile = new RegExp(
    `<a class="whole" href="([^"]+)"><span class="figure">([^<]*)</span> <span class="name">${name}</span></a><span class="says">(.*?)</span>`,
    "s",
  ).exec(text);
  const to = tile?.[1]?.replaceAll("&#38;", "&") ?? "";
  const answer = await page.get(to);
  expect({ name, to, status: answer.status }).toEqual({ name, to, status: 200 });
  return { figure: tile?.[2] ?? "", says: tile?.[3] ?? "", text: answer.text };
}

describe("A figure on the home page", () => {
  test("is the command line's, and leads to a list of as many", async () => {
    const { week } = status;
    expect(week.saved).toEqual({ failures: 3, calls: 1 });
    const answered = await readTile("answered");
    expect(answered.figure).toBe("3");
    expect(readRows(answered.text)).toHaveLength(3);
    const saved = await readTile("saved");
    expect(saved.figure).toBe("1");
    expect(readRows(saved.text)).toEqual([
      [
        expect.any(String),
        expect.any(String),
        "told at a failure",
        expect.any(String),
        expect.stringMatching(/^helpful/),
      ],
    ]);
    const learned = await readTile("learned");
    expect(learned.figure).toBe(String(week.learned.lessons));
    expect(readRows(learned.text)).toHaveLength(week.learned.lessons);
    const waiting = await readTile("waiting");
    expect(waiting.figure).toBe(String(status.suggestions));
    expect(waiting.text.match(/<span class="what">/g)).toHaveLength(status.suggestions);
    const spent = await readTile("spent");
    expect(spent.figure).toBe("$0");
    expect(spent.text).toContain("No model was called.");
    expect(readText(spent.says)).toBe(`and ${week.cost.characters} characters shown in 3 sessions`);
    expect(readRows((await page.get("/sessions?told=7")).text)).toHaveLength(3);
    const told = await page.get("/told?days=7");
    expect(told.text).toContain(`${week.cost.characters} characters in 3 sessions.`);
    const unjudged = await page.get("/sessions?unjudged=1");
    expect(readRows(unjudged.text)).toHaveLength(status.unjudged.sessions);
  });

  test("about failures counts each once for a session, and tells which had been met before", async () => {
    const failures = await readTile("failures");
    const rows = readRows(failures.text);
    const sum = (column: number) => rows.reduce((all, row) => all + readCount(row.at(column)), 0);
    expect([failures.figure, readText(failures.says)]).toEqual(["5", "3 had been met before"]);
    expect([sum(-2), sum(-1)]).toEqual([5, 3]);
    const metBefore = readRows((await page.get("/sessions?failed=7&met=1")).text);
    expect(metBefore.map((row) => [row.at(-2), row.at(-1)])).toEqual([1, 2, 3].map(() => ["1", "1"]));
    const { text: home } = await page.get("/");
    const legend = /<ul class="legend">(.*?)<\/ul>/s.exec(home)?.[1] ?? "";
    expect(readText(legend)).toMatch(/met before 3.*new 2.*answered 3/s);
    // Each number of the chart, and of the table behind it, leads to a list that comes to as much.
    const linked = [
      ...home
        .slice(home.indexOf('<figure class="chart">'))
        .matchAll(/href="([^"]*(?:failed|what=failure)[^"]*)">(\d+)</g),
    ].map(([, to, count]) => [(to ?? "").replaceAll("&#38;", "&"), Number(count)] as const);
    expect(linked.length).toBeGreaterThanOrEqual(6);
    for (const [to, count] of linked) {
      const listed = readRows((await page.get(to)).text);
      const found = to.startsWith("/told")
        ? listed.length
        : listed.reduce((all, row) => all + readCount(row.at(-2)), 0);
      expect({ to, found }).toEqual({ to, found: count });
    }
  });
});

describe("A session's timeline", () => {
  test("shows what Knack told once, below the failure that it was told at", async () => {
    const told = await page.get("/told?days=7&what=saved");
    const session = /href="(\/sessions\/[^"]+)"/.exec(told.text)?.[1] ?? "";
    const { text } = await page.get(session);
    const events = text.split('<li id="').filter((event) => event.includes("mark-told"));
    expect(events).toHaveLength(1);
    expect(events[0]).toMatch(
      /class="event call failed".*sh check\.sh.*HARBOR_DB is not set.*Knack told:.*helpful/s,
    );
    expect(text.match(/mark-told/g)).toHaveLength(1);
  });
});

describe("The goals page", () => {
  test("leads from a goal to the session that it was opened in, and has fifty open ones on a page", async () => {
    const own = tempFolder();
    const left = leave(own, { name: "taught", at: Date.now() - 2 * 86_400_000, steps: teaching });
    await knackHere(["learn", "--json"], { home: own });
    await withKnack({ home: own, knackHome: join(own, ".knack"), project: own }, async (knack) => {
      const project = await knack.projectAt(own);
      for (let n = 1; n <= 52; n++)
        await knack.goal(
          "open",
          { project, session: null, actor: "person", who: "me" },
          { text: `Chart the shoals of bay ${n}` },
        );
    });
    const opened = await knackHere(["goal", "open", "Find the set of the tide", "--json"], {
      ...{ home: own, env: { KNACK_SESSION: left.session } },
    });
    expect(opened).toMatchObject({ code: 0, stderr: "" });
    const board = await openPage(own);
    const { text } = await board.get("/goals");
    expect(readText(text)).toMatch(/Open goals 53\b.*1 to 50 of 53/s);
    const rows = [...text.matchAll(/<li>(Chart|Find) .*?<\/li>/gs)].map(([row]) => row);
    expect(rows).toHaveLength(50);
    const [linked, ...others] = rows.filter((row) => row.includes("/sessions/"));
    expect(others).toEqual([]);
    expect(linked).toContain("Find the set of the tide");
    const session = await board.get(/href="(\/sessions\/[^"]+)"/.exec(linked ?? "")?.[1] ?? "");
    expect(session.status).toBe(200);
    expect(session.text).toContain("Make the check pass");
    const further = await board.get("/goals?open=2");
    const bays = (page: string) =>
      [...page.matchAll(/<li>Chart the shoals of bay (\d+)/g)].map(([, n]) => Number(n));
    expect(bays(further.text)).toHaveLength(3);
    // Two that were opened in one millisecond may change places, and none is on both pages.
    expect(new Set([...bays(text), ...bays(further.text)]).size).toBe(52);
  });
});

describe("The library's search", () => {
  test("finds what an agent of the project would be told, and says why", async () => {
    const found = await page.get("/library?q=error%3A+HARBOR_DB+is+not+set");
    expect(found.text).toContain("1 lesson and 0 things of the library");
    expect(found.text).toMatch(/% sure <a href="\/lessons\/.*Found in \d+ places?/s);
    const none = await page.get("/library?q=how+high+is+the+tide");
    expect(none.text).toContain("Nothing known about this.");
  });
});

describe("The health page", () => {
  test("offers what the doctor can repair, and a press of the button repairs it", async () => {
    const own = tempFolder();
    leave(own, { name: "taught", at: Date.now() - 2 * 86_400_000, steps: teaching });
    await knackHere(["learn", "--json"], { home: own });
    writeFileSync(join(own, ".knack/snapshot/knack.table"), "no table at all, but long enough to be read");
    const opened = await openPage(own);
    const broken = await opened.get("/health/checks");
    expect(broken.text).toContain("rebuild the snapshot");
    expect(broken.text).toContain('name="do" value="repair"');
    expect((await opened.post({ do: "repair" })).text).toContain("Repaired: rebuild the snapshot.");
    const whole = await opened.get("/health/checks");
    expect(whole.text).not.toContain("rebuild the snapshot");
    expect((await opened.post({ do: "repair" })).text).toContain("There was nothing to repair.");
  });
});

describe("The page's server", () => {
  test("ends by itself when nobody looks, though a page is open", async () => {
    const knackHome = join(tempFolder(), ".knack");
    const opened = await openKnack({ env: { KNACK_HOME: knackHome, HOME: join(knackHome, "..") } });
    const unused = async (): Promise<never> => {
      throw new Error("nobody asks for this");
    };
    const server = await servePage({
      ...{ knack: opened, mark: () => "", port: 0, idleMs: 400, now: Date.now, readOnly: true },
      ...{ command: "knack", shorten: (path: string) => path, change: (work) => work(opened) },
      ...{ health: { look: unused, repair: unused }, replay: unused },
      assets: pathToFileURL(join(root, "dist/page/")),
    });
    const entered = await fetch(server.address, { redirect: "manual" });
    const headers = { cookie: String(entered.headers.get("set-cookie")).split(";")[0] ?? "" };
    const live = await fetch(new URL("/live", server.address), { headers });
    expect(live.headers.get("content-type")).toContain("text/event-stream");
    expect(await server.ended).toBe("idle");
    await live.text().catch(() => "cut off");
    await expect(fetch(server.address)).rejects.toThrow();
    await opened.close();
  });
});
