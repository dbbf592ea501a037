import { exact, type HtmlPart, html, url } from "./html.ts";
import type { Desk, RenderedPage } from "./page.ts";

/** The pages in the order in which they are offered. */
const places: readonly (readonly [path: string, name: string, key: string])[] = [
  ["/", "Home", "h"],
  ["/inbox", "Inbox", "i"],
  ["/lessons", "Lessons", "l"],
  ["/library", "Library", "b"],
  ["/sessions", "Sessions", "s"],
  ["/backtest", "Backtest", "t"],
  ["/goals", "Goals", "g"],
  ["/health", "Health", "d"],
];

/** What happened to the last thing that the person did here. */
export interface Notice {
  readonly isDone: boolean;
  readonly says: string;
  /** How to take it back. */
  readonly undo: Readonly<Record<string, string>> | null;
}

export interface Frame {
  readonly desk: Desk;
  readonly path: string;
  readonly waiting: number;
  readonly notice: Notice | null;
}

/** A whole page around what is special about it. */
export function renderDocument({ title, body }: RenderedPage, frame: Frame): string {
  const { desk, path, waiting } = frame;
  const current = places.find(([place]) => (place === "/" ? path === "/" : path.startsWith(place)));
  return `<!doctype html>\n${
    html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Knack</title>
${!desk.readOnly && html`<meta name="form" content="${exact(desk.formSecret)}">`}
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
<script src="/page.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the page</a>
<header class="side">
<a class="brand" href="/"><span class="mark" aria-hidden="true"></span>Knack</a>
<nav aria-label="Pages"><ul>
${places.map(
  ([place, name, key]) =>
    html`<li><a href="${url(place)}" data-key="g${key}"${place === current?.[0] && html` aria-current="page"`}>${name}${
      place === "/inbox" &&
      waiting > 0 &&
      html` <span class="count" title="waiting for you">${waiting}</span>`
    }</a></li>`,
)}
</ul></nav>
<form class="find" action="/library" role="search"><label class="hidden" for="find">Search as the hook does</label>
<input id="find" name="q" type="search" placeholder="Search" autocomplete="off"></form>
${desk.readOnly && html`<p class="aside">Read-only: nothing can be changed here.</p>`}
</header>
<main id="main" tabindex="-1">
<p id="lost" class="notice bad" role="alert" hidden>This page has ended. To go on: <code>${desk.command} open</code></p>
<p id="news" class="notice" role="status" hidden>Something changed meanwhile. <a href="">Show it</a></p>
${renderNotice(frame)}
${body}
</main>
</body>
</html>
`.markup
  }`;
}

function renderNotice({ notice, path, desk }: Frame): HtmlPart {
  if (notice === null) return null;
  return html`<div class="notice ${notice.isDone ? "good" : "bad"}" role="status"><p>${notice.says}</p>${
    notice.undo &&
    renderForm(desk, { ...notice.undo, back: path }, html`<button data-key="u">Undo <kbd>u</kbd></button>`)
  }</div>`;
}

/** A form that makes one change: what it does is in hidden fields, so that one button is enough. */
export function renderForm(
  { readOnly, isExport, formSecret }: Desk,
  fields: Readonly<Record<string, string>>,
  content: HtmlPart,
): HtmlPart {
  if (readOnly || isExport) return null;
  const hidden = Object.entries({ ...fields, form: formSecret });
  return html`<form class="act" method="post" action="/do">${hidden.map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${exact(value)}">`,
  )}${content}</form>`;
}
