import { makeId } from "../base/index.ts";
import { cutAtWord, several } from "../text/index.ts";
import { type Html, type HtmlPart, html, url } from "./html.ts";
import type { Desk } from "./page.ts";

// --- Words ---

/** A day, or nothing where no transcript gave one. */
export function renderDay(at: number | null): HtmlPart {
  if (at === null || at <= 0) return html`<span class="faint">undated</span>`;
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}" title="${iso.slice(0, 16).replace("T", " ")} UTC">${iso.slice(0, 10)}</time>`;
}

/** A day as addresses and charts have it. */
export function formatDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** The days that an address asks for: `from` one, so many; null where it asks for no days. */
export function readDays(
  query: (name: string) => string,
): { readonly from: number; readonly to: number } | null {
  const from = Date.parse(`${query("from")}T00:00:00Z`);
  const days = Number.parseInt(query("for"), 10);
  return Number.isFinite(from) && days > 0 ? { from, to: from + days * 86_400_000 } : null;
}

/** Those days in words, or the last ones until now. */
export function describeWhen(days: number, dated: ReturnType<typeof readDays>): string {
  if (dated === null) return `in the last ${several(days, "day")}`;
  const last = formatDay(dated.to - 86_400_000);
  const first = formatDay(dated.from);
  return first === last ? `on ${first}` : `from ${first} to ${last}`;
}

/** A number with thousands separated. */
export function formatNumber(count: number): string {
  return count.toLocaleString("en-US");
}

/** A text on a line or two, cut at a word. */
export function cutText(text: string, most: number): string {
  const plain = text.replace(/\s+/g, " ").trim();
  return cutAtWord(plain, most) || `${plain.slice(0, most - 1)}…`;
}

/** The last part of a path. */
export function lastPart(path: string): string {
  return path.split(/[/\\]/).pop() || path;
}

// --- Links ---

/** The short id of a session in addresses: its own is a path. */
export function sessionKey(session: string): string {
  return makeId("s", session);
}

export function linkSession(session: string, ref: string | undefined, content: HtmlPart): Html {
  return html`<a href="${url(`/sessions/${sessionKey(session)}`, { at: ref })}${ref !== undefined && html`#${ref}`}">${content}</a>`;
}

/** What may be looked at of a session. */
export type SessionPart = "prompts" | "calls" | "failed" | "rejected" | "told" | "leads" | "taught";

/** Where a session's prompts, its calls or others of its events are listed. */
export function toEvents(session: string, part: SessionPart): Html {
  return url(`/sessions/${sessionKey(session)}`, { show: part });
}

export function linkLesson(id: string, content: HtmlPart): Html {
  return html`<a href="${url(`/lessons/${id}`)}">${content}</a>`;
}

/** Where what a lesson rests on is listed. */
export function toEvidence(id: string): Html {
  return html`${url(`/lessons/${id}`)}#evidence`;
}

// --- Pieces ---

export type Tone = "plain" | "good" | "bad" | "warm";

export function renderTag(text: string, tone: Tone = "plain"): Html {
  return html`<span class="tag ${tone}">${text}</span>`;
}

/** How sure something is, as a bar and in figures; `what` is said after them where no head says it. */
export function renderSure(confidence: number, what = " sure"): Html {
  const width = Math.round(Math.max(0, Math.min(1, confidence)) * 40);
  return html`<span class="sure"><svg viewBox="0 0 40 6" width="40" height="6" aria-hidden="true"><rect class="rest" width="40" height="6" rx="3"/><rect class="share" width="${width}" height="6" rx="3"/></svg>${confidence.toFixed(2)}${what}</span>`;
}

/** A number of a table: what there is none of steps back, and leaves where there is little room. */
export function renderCount(value: number, to: Html | null = null): HtmlPart {
  if (value === 0) return html`<span class="none">–</span>`;
  return to === null ? formatNumber(value) : html`<a href="${to}">${formatNumber(value)}</a>`;
}

/** A number with its noun, and where what it counts is listed. */
export function linkSeveral(count: number, noun: string, to: Html): HtmlPart {
  return count === 0 ? several(count, noun) : html`<a href="${to}">${several(count, noun)}</a>`;
}

/** What is to be seen here once there is something, and what makes it so. */
export function renderEmpty(title: string, text: HtmlPart): Html {
  return html`<div class="empty"><p class="lead">${title}</p><p>${text}</p></div>`;
}

/** A command that does the same in a terminal. */
export function renderCommand({ command }: Desk, words: string): Html {
  return html`<code class="command">${command} ${words}</code>`;
}

/** Lines of a text, its first ones unless all is asked for. */
export function renderCode(text: string, kind = ""): Html {
  return html`<pre class="code ${kind}" tabindex="0">${text.replace(/\n+$/, "")}</pre>`;
}

/** Words in which `code` is marked as people write it. */
export function renderProse(text: string): HtmlPart {
  const parts = text.split(/`([^`\n]+)`/);
  return parts.map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part));
}

type Column = readonly [head: string, look?: "main" | "short" | "number"];

/** A list as a table; in a narrow window each row is a card, in which every value has its head before it. */
export function renderTable(
  label: string,
  columns: readonly Column[],
  rows: readonly (readonly HtmlPart[])[],
): Html {
  const cell = (content: HtmlPart, at: number) => {
    const [head, look] = columns[at] ?? [""];
    return html`<td role="cell" class="${look ?? "plain"}" data-head="${head}">${content}</td>`;
  };
  // The roles hold where the style makes cards of the rows.
  return html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table class="wide" role="table"><thead role="rowgroup"><tr role="row">${columns.map(
    ([head, look]) => html`<th role="columnheader" scope="col" class="${look ?? "plain"}">${head}</th>`,
  )}</tr></thead>
<tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${row.map(cell)}</tr>`)}</tbody></table></div>`;
}

/** A unified diff of a file, below its name; the signs stay, so that colour is not all there is. */
export function renderDiff(diff: string, file = ""): Html {
  const lines = diff.replace(/\n$/, "").split("\n");
  const isNew = lines[0]?.startsWith("--- /dev/null");
  // What one hunk of a named file says of its place, its reader sees.
  const body = file === "" ? lines : lines.filter((line) => !/^(?:---|\+\+\+) |^@@ -\S+ \+1[, ]/.test(line));
  const marked = (line: string) =>
    /^[-+ ]/.test(line) ? html`<span class="sign">${line[0] ?? ""}</span>${line.slice(1)}` : line;
  return html`<figure class="diff">${
    file !== "" && html`<figcaption><code>${file}</code>${isNew && html` ${renderTag("new")}`}</figcaption>`
  }<pre tabindex="0" aria-label="Changes">${body.map(
    (line) => html`<span class="${diffClass(line)}">${line === "" ? " " : marked(line)}</span>`,
  )}</pre></figure>`;
}

/** From one day to another; one day where they are the same. */
export function renderSpan(from: number, to: number): HtmlPart {
  const isOne = new Date(from).toISOString().slice(0, 10) === new Date(to).toISOString().slice(0, 10);
  return isOne ? renderDay(to) : html`${renderDay(from)} to ${renderDay(to)}`;
}

function diffClass(line: string): string {
  if (/^(?:---|\+\+\+|@@)/.test(line)) return "place";
  return line.startsWith("+") ? "added" : line.startsWith("-") ? "gone" : "same";
}

/** The times that can be looked at, in days. */
export const spans = [
  [7, "This week", "Week"],
  [28, "The last four weeks", "4 weeks"],
  [91, "The last three months", "3 months"],
  [365, "The last year", "Year"],
] as const;

/** One of those times, as an address has it. */
export function parseDays(word: string): (typeof spans)[number][0] {
  return spans.find(([days]) => String(days) === word)?.[0] ?? 7;
}

/** Items of a long list that are on one page. */
export const pageSize = 50;

/** The items of one page, and links to the others. */
export function paginate<Item>(
  items: readonly Item[],
  wanted: string,
  path: string,
  query: Readonly<Record<string, string>> = {},
  name = "page",
): { readonly shown: readonly Item[]; readonly pager: HtmlPart } {
  const last = Math.max(1, Math.ceil(items.length / pageSize));
  const page = Math.min(last, Math.max(1, Number.parseInt(wanted, 10) || 1));
  const shown = items.slice((page - 1) * pageSize, page * pageSize);
  if (last === 1) return { shown, pager: null };
  const to = (n: number, says: string) =>
    n < 1 || n > last
      ? html`<span class="faint">${says}</span>`
      : html`<a href="${url(path, { ...query, [name]: n })}">${says}</a>`;
  const from = (page - 1) * pageSize + 1;
  return {
    shown,
    pager: html`<nav class="pager" aria-label="Further pages">${to(page - 1, "← Newer")}<span>${formatNumber(from)} to ${formatNumber(
      from + shown.length - 1,
    )} of ${formatNumber(items.length)}</span>${to(page + 1, "Older →")}</nav>`,
  };
}

/** Facts about one thing, a term and what it is. */
export function renderFacts(facts: readonly (readonly [term: string, is: HtmlPart])[]): Html {
  const given = facts.filter(([, is]) => is && !(Array.isArray(is) && is.length === 0));
  return html`<dl class="facts">${given.map(([term, is]) => html`<div><dt>${term}</dt><dd>${is}</dd></div>`)}</dl>`;
}

/** A choice between views of the same, the present one marked. */
export function renderChoice(
  label: string,
  choices: readonly (readonly [text: string, to: Html, isCurrent: boolean])[],
): Html {
  return html`<nav class="choice" aria-label="${label}">${choices.map(
    ([text, to, isCurrent]) => html`<a href="${to}"${isCurrent && html` aria-current="true"`}>${text}</a>`,
  )}</nav>`;
}
