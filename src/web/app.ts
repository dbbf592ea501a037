import { readFileSync } from "node:fs";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { getCookie, setCookie } from "hono/cookie";
import { streamSSE } from "hono/streaming";
import { errorMessage, KnackError } from "../base/index.ts";
import type { Knack } from "../open.ts";
import { actions, type FormFields, repairHealth } from "./actions.ts";
import { type Guard, type Refusal, safeHeaders } from "./guard.ts";
import { html } from "./html.ts";
import { type Notice, renderDocument } from "./layout.ts";
import type { Desk, Page, RenderedPage } from "./page.ts";
import { countWaiting } from "./pages/inbox.ts";
import { pages } from "./pages/pages.ts";

export interface AppDeps {
  readonly guard: Guard;
  readonly desk: Desk;
  readonly knack: Knack;
  readonly now: () => number;
  /** Opens Knack for one change, finishes what others began, and updates what hooks read. */
  readonly change: <Result>(work: (knack: Knack) => Promise<Result>) => Promise<Result>;
  /** A word that changes whenever the database does. */
  readonly mark: () => string;
  /** The folder with the stylesheet and the script. */
  readonly assets: URL;
}

/** The most that a form may send: the text of a skill, and room. */
const mostBytes = 256 * 1024;
/** How often an open page is told that nothing has changed, and how often that is looked at. */
const beatMs = 1_500;
/** Notices that wait to be shown. */
const mostNotices = 50;

export function createApp(deps: AppDeps): Hono {
  const { guard, desk, assets } = deps;
  const app = new Hono();
  const notices = new Notices();
  const changes = new Queue();

  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(safeHeaders)) c.res.headers.set(name, value);
  });
  app.use(async (c, next) => {
    const refusal = guard.check({ method: c.req.method, header: (name) => c.req.header(name) });
    return refusal ? refuse(c, refusal) : next();
  });
  for (const [name, type] of [
    ["page.css", "text/css"],
    ["page.js", "text/javascript"],
  ] as const) {
    const text = readFileSync(new URL(name, assets), "utf8");
    app.get(`/${name}`, (c) => c.body(text, 200, { "Content-Type": `${type}; charset=utf-8` }));
  }
  app.use(async (c, next) => {
    const word = c.req.query("open");
    if (word !== undefined && c.req.method === "GET" && guard.admits(word)) {
      setCookie(c, guard.cookie, guard.cookieValue, { httpOnly: true, sameSite: "Strict", path: "/" });
      return c.redirect(new URL(c.req.url).pathname, 303);
    }
    if (guard.knows(getCookie(c, guard.cookie))) return next();
    return refuse(c, {
      status: 401,
      because: `this page opens with the address that ${desk.command} open printed; run it again for a new one`,
    });
  });

  const tooLarge: Refusal = { status: 413, because: `a form may send ${mostBytes / 1024} KB at most` };
  app.post("/do", bodyLimit({ maxSize: mostBytes, onError: (c) => refuse(c, tooLarge) }), async (c) => {
    const fields = readFields(await c.req.parseBody());
    if (!guard.hasForm(fields.form ?? ""))
      return refuse(c, { status: 403, because: "the form is not of this page" });
    if (desk.readOnly) return refuse(c, { status: 403, because: "it was opened with --read-only" });
    const run = chooseAction(deps, fields);
    if (!run) return refuse(c, { status: 400, because: "there is no such change" });
    const notice = await changes.add(run).catch(describeError);
    return c.redirect(withNotice(fields.back ?? "/", notices.add(notice)), 303);
  });
  app.get("/live", (c) => tellChanges(c, deps));
  for (const page of pages) app.get(page.path, (c) => showPage(c, page, deps, notices));
  app.notFound((c) => answer(c, deps, nothingHere(desk), 404));
  app.onError((error, c) => answer(c, deps, brokenPage(error), 500));
  return app;
}

function chooseAction({ desk, change }: AppDeps, fields: FormFields): (() => Promise<Notice>) | null {
  const name = fields.do ?? "";
  if (name === "repair") return () => repairHealth(desk);
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  return action ? () => change((knack) => action(knack, fields)) : null;
}

async function showPage(c: Context, page: Page, deps: AppDeps, notices: Notices): Promise<Response> {
  const { desk, knack } = deps;
  const query = (name: string) => c.req.query(name) ?? "";
  const shown = await page.show({ knack, desk, now: deps.now(), id: c.req.param("id") ?? "", query });
  return answer(c, deps, shown ?? nothingHere(desk), shown ? 200 : 404, notices.take(query("notice")));
}

async function answer(
  c: Context,
  { desk, knack, now }: AppDeps,
  page: RenderedPage,
  status: 200 | 404 | 500,
  notice: Notice | null = null,
): Promise<Response> {
  const waiting =
    status === 500 ? 0 : await countWaiting({ knack, desk, now: now(), id: "", query: () => "" });
  return c.html(renderDocument(page, { desk, path: c.req.path, waiting, notice }), status);
}

/** Tells an open page that something has changed, for as long as somebody listens. */
function tellChanges(c: Context, { mark }: AppDeps): Response {
  return streamSSE(c, async (stream) => {
    let known = mark();
    while (!stream.aborted) {
      const now = mark();
      await stream.writeSSE({ event: now === known ? "beat" : "changed", data: "" });
      known = now;
      await stream.sleep(beatMs);
    }
  });
}

function refuse(c: Context, { status, because }: Refusal): Response {
  return c.text(`Refused: ${because}.\n`, status);
}

function nothingHere({ command }: Desk): RenderedPage {
  return {
    title: "Not found",
    body: html`<h1>There is nothing here</h1>
<p>It may have been merged with something else, or removed. <code>${command} lessons --all</code> lists every lesson.</p>`,
  };
}

function brokenPage(error: unknown): RenderedPage {
  const hint = error instanceof KnackError ? error.hint : undefined;
  return {
    title: "Something is wrong",
    body: html`<h1>This page cannot be shown</h1>
<p>${errorMessage(error)}</p><p>${hint ?? "Health says whether Knack's own data are sound."} <a href="/health">Health</a></p>`,
  };
}

function describeError(error: unknown): Notice {
  const hint = error instanceof KnackError && error.hint ? ` ${error.hint}` : "";
  return { isDone: false, says: `Not done: ${errorMessage(error)}${hint}`, undo: null };
}

function readFields(body: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(body).filter(
    (field): field is [string, string] => typeof field[1] === "string",
  );
  return Object.fromEntries(texts);
}

/** A path of this server, with the notice that it is to show. */
function withNotice(back: string, notice: number): string {
  const here = new URL(/^\/(?![/\\])/.test(back) ? back : "/", "http://here");
  here.searchParams.set("notice", String(notice));
  return `${here.pathname}${here.search}`;
}

/** What changes did, each told once. */
class Notices {
  private readonly waiting = new Map<number, Notice>();
  private last = 0;

  add(notice: Notice): number {
    this.waiting.set(++this.last, notice);
    this.waiting.delete(this.last - mostNotices);
    return this.last;
  }

  take(word: string): Notice | null {
    const notice = this.waiting.get(Number(word)) ?? null;
    this.waiting.delete(Number(word));
    return notice;
  }
}

/** One change after the other: two windows may ask at once. */
class Queue {
  private last: Promise<unknown> = Promise.resolve();

  add<Result>(work: () => Promise<Result>): Promise<Result> {
    const next = this.last.then(work, work);
    this.last = next.catch(() => {});
    return next;
  }
}
