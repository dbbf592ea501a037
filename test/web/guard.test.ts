import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { createApp } from "../../src/web/app.ts";
import { Guard } from "../../src/web/guard.ts";
import { knackHere } from "../helpers/here.ts";
import { root } from "../helpers/knack.ts";
import { databaseSessions, machine } from "../helpers/machine.ts";
import { openPage, openSharedPage } from "../helpers/page.ts";
import { sharedFolder, tempFolder } from "../helpers/temp.ts";

const home = sharedFolder();
machine({ sessions: databaseSessions, home });
await knackHere(["learn", "--json"], { home });
const page = await openSharedPage(home);

const secret = /[\w-]{43}/;

describe("The page's server", () => {
  test("answers only who came by its address", async () => {
    const wrong = `/?open=${"A".repeat(43)}`;
    for (const path of ["/", "/inbox", "/live", wrong, "/?open="])
      expect({ path, status: (await page.send(path)).status }).toEqual({ path, status: 401 });
    const cookie = { cookie: `knack-${new URL(page.origin).port}=${"A".repeat(43)}` };
    expect((await page.send("/inbox", { headers: cookie })).status).toBe(401);
    const entered = await page.send(page.address);
    expect(entered).toMatchObject({ status: 303, headers: { location: "/" } });
    expect(entered.headers["set-cookie"]?.[0]).toMatch(
      /^knack-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const shown = await page.get("/inbox");
    expect(shown.status).toBe(200);
    expect(shown.text).not.toContain(/open=([\w-]+)/.exec(page.address)?.[1]);
  });

  test("sends what keeps a page to itself with every answer", async () => {
    for (const answer of [await page.get("/inbox"), await page.get("/nothing"), await page.send("/inbox")])
      expect(answer.headers).toMatchObject({
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin",
        "content-security-policy": expect.stringMatching(
          /^default-src 'none'; script-src 'self'; style-src 'self'; .*form-action 'self'; frame-ancestors 'none'/,
        ),
      });
    const { headers, text } = await page.get("/inbox");
    expect(headers["access-control-allow-origin"]).toBeUndefined();
    expect(text).not.toMatch(/<script>|<script [^>]*>[^<]|\son\w+=|\sstyle=/);
  });

  test("turns away other hosts, other origins, other methods, and long bodies, and changes nothing", async () => {
    const entered = await page.send(page.address);
    const cookie = String(entered.headers["set-cookie"]?.[0]).split(";")[0] ?? "";
    const form = await page.form();
    expect(form).toMatch(secret);
    const port = new URL(page.origin).port;
    const own = { cookie, origin: page.origin, "content-type": "application/x-www-form-urlencoded" };
    const send = async (headers: Readonly<Record<string, string>>, body: string, method = "POST") =>
      (await page.send("/do", { method, headers, body })).status;
    const undo = `do=undo&form=${form}`;
    for (const host of [
      `evil.example:${port}`,
      "127.0.0.1",
      `127.0.0.1.evil.example:${port}`,
      `[::1]:${port}`,
    ])
      expect({ host, status: (await page.send("/inbox", { headers: { cookie, host } })).status }).toEqual({
        host,
        status: 421,
      });
    for (const origin of [
      "http://evil.example",
      "null",
      `http://localhost:${port}`,
      `https://127.0.0.1:${port}`,
    ])
      expect({ origin, status: await send({ ...own, origin }, undo) }).toEqual({ origin, status: 403 });
    const { origin: _, ...withoutOrigin } = own;
    expect(await send(withoutOrigin, undo)).toBe(403);
    expect(await send(own, "do=undo")).toBe(403);
    expect(await send(own, `do=undo&form=${"A".repeat(43)}`)).toBe(403);
    expect(await send({ origin: page.origin, "content-type": own["content-type"] }, undo)).toBe(401);
    expect(await send(own, undo, "PUT")).toBe(405);
    expect(await send(own, undo, "DELETE")).toBe(405);
    expect(await send(own, `do=constructor&form=${form}`)).toBe(400);
    expect(await send(own, `${undo}&text=${"a".repeat(300_000)}`)).toBe(413);
    // Who goes on sending to a server that has answered is cut off.
    const endless = await send(own, `${undo}&text=${"a".repeat(10_000_000)}`).catch(() => "cut off");
    expect([413, "cut off"]).toContain(endless);
    // A body in parts says no length beforehand: it is cut off where it has become too long.
    const inParts = (parts: number) =>
      new Promise<number | string>((done) => {
        const headers = { ...own, "transfer-encoding": "chunked" };
        const asked = request(new URL("/do", page.origin), { method: "POST", headers, agent: false });
        asked.on("response", (answer) => done(answer.resume().statusCode ?? 0));
        asked.on("error", () => done("cut off"));
        asked.write(`${undo}&text=`);
        const part = Buffer.alloc(64 * 1024, "a");
        const go = (left: number): void =>
          left === 0 ? void asked.end() : void asked.write(part, (failed) => !failed && go(left - 1));
        go(parts);
      });
    expect(await inParts(5)).toBe(413);
    expect([413, "cut off"]).toContain(await inParts(170));
    expect(await inParts(2)).toBe(303);
    const inOtherSite = { cookie, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" };
    expect((await page.send("/inbox", { headers: inOtherSite })).status).toBe(403);
    expect(await send(own, undo)).toBe(303);
  });

  test("leads nowhere else after a change", async () => {
    const entered = await page.send(page.address);
    const cookie = String(entered.headers["set-cookie"]?.[0]).split(";")[0] ?? "";
    const form = await page.form();
    for (const [back, to] of [
      ["//evil.example/x", "/?notice="],
      ["/\\evil.example", "/?notice="],
      ["https://evil.example", "/?notice="],
      ["/inbox?at=2", "/inbox?at=2&notice="],
    ] as const) {
      const { headers } = await page.send("/do", {
        method: "POST",
        headers: { cookie, origin: page.origin, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ form, do: "undo", back }).toString(),
      });
      expect(headers.location?.startsWith(to)).toBe(true);
    }
  });

  test("with --read-only offers no change and makes none", async () => {
    const looked = await openPage(home, ["--read-only"]);
    const { text } = await looked.get("/inbox");
    expect(text).toContain("Read-only: nothing can be changed here.");
    expect(text).not.toContain('<form class="act"');
  });

  test("with --read-only makes no change for whoever has the secret of its forms either", async () => {
    const guard = new Guard(() => 4321);
    const ask = async (readOnly: boolean) => {
      let changes = 0;
      const change = async () => {
        changes++;
        return { isDone: true, says: "Done.", undo: null };
      };
      const desk = { command: "knack", readOnly, formSecret: guard.formSecret };
      const assets = pathToFileURL(join(root, "dist/page/"));
      const app = createApp({ guard, desk, change, assets } as unknown as Parameters<typeof createApp>[0]);
      const { status } = await app.request("/do", {
        method: "POST",
        headers: {
          ...{ host: "127.0.0.1:4321", origin: "http://127.0.0.1:4321" },
          ...{ cookie: `${guard.cookie}=${guard.cookieValue}` },
          "content-type": "application/x-www-form-urlencoded",
        },
        body: new URLSearchParams({ do: "undo", form: guard.formSecret }).toString(),
      });
      return { status, changes };
    };
    expect(await ask(true)).toEqual({ status: 403, changes: 0 });
    expect(await ask(false)).toEqual({ status: 303, changes: 1 });
  });

  test("lets the browser that it starts in once by that address, and a person as often as they like", () => {
    const guard = new Guard(() => 4321);
    const once = guard.onceToken;
    expect([guard.admits(once), guard.admits(once), guard.admits("")]).toEqual([true, false, false]);
    expect([guard.admits(guard.token), guard.admits(guard.token)]).toEqual([true, true]);
  });

  test("listens on this machine alone, and ends with Ctrl-C while a page is open", async () => {
    const own = await openPage(home);
    const port = Number(new URL(own.origin).port);
    const elsewhere = connect(port, "127.0.0.2");
    const refused = await new Promise((done) =>
      elsewhere.on("error", () => done(true)).on("connect", () => done(false)),
    );
    expect(refused).toBe(true);
    elsewhere.destroy();
    const live = own.get("/live").catch(() => "cut off");
    expect(await own.close()).toBe(0);
    await live;
  });

  test("refuses a port that is none, and says which is taken", async () => {
    const port = new URL(page.origin).port;
    expect(await knackHere(["open", "--port", "70000", "--no-browser"], { home })).toMatchObject({ code: 2 });
    const taken = await knackHere(["open", "--port", port, "--no-browser"], { home });
    expect(taken).toMatchObject({ code: 2, stderr: expect.stringContaining(`Port ${port} is in use`) });
  });

  test("shows words of a transcript or a skill as words, without secrets", async () => {
    const own = tempFolder();
    const { harbor } = machine({ sessions: /none/, home: own });
    const script = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    const text = `From now on always run \`npm run lint\` before you commit ${script}"'.`;
    const line = (type: string, uuid: string, content: unknown) =>
      JSON.stringify({
        ...{ type, uuid, sessionId: "5f0c1a52-0000-4000-8000-000000000001", cwd: harbor, version: "2.0.0" },
        ...{ timestamp: new Date().toISOString(), message: { role: type, content } },
      });
    mkdirSync(`${own}/.claude/projects/x`, { recursive: true });
    writeFileSync(
      `${own}/.claude/projects/x/5f0c1a52-0000-4000-8000-000000000001.jsonl`,
      `${line("user", "u1", text)}\n${line("assistant", "a1", [{ type: "text", text: script }])}\n`,
    );
    const token = ["ghp", "R4nd0mL00king".repeat(3).slice(0, 36)].join("_");
    mkdirSync(`${own}/.claude/skills/tides`, { recursive: true });
    writeFileSync(
      `${own}/.claude/skills/tides/SKILL.md`,
      `---\nname: tides\ndescription: Read the tides ${script}\n---\n\nCall it with ${token} ${script}\n`,
    );
    await knackHere(["learn", "--json"], { home: own });
    const opened = await openPage(own);
    const shown = await opened.get("/inbox");
    expect(shown.text).toContain("&#60;script&#62;alert(1)");
    expect(shown.text).not.toMatch(/<script>|<img/);
    const library = await opened.get("/library");
    const skill = await opened.get(/"(\/library\/k[^"]+)"/.exec(library.text)?.[1] ?? "");
    expect(skill.text).toContain("Call it with");
    expect(skill.text).toContain("&#60;script&#62;alert(1)");
    expect(skill.text).not.toMatch(/<script>|<img/);
    expect(skill.text).not.toContain(token);
  });
});
