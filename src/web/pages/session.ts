import type { Knack } from "../../open.ts";
import type { Telling } from "../../recall/index.ts";
import { type Event, getSessionId, isPersons, type Lead } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import type { SessionView } from "../../transcripts/index.ts";
import { readTellings } from "../evidence.ts";
import { type Html, type HtmlPart, html, url } from "../html.ts";
import { type Desk, definePage } from "../page.ts";
import {
  cutText,
  formatNumber,
  lastPart,
  linkLesson,
  linkSession,
  pageSize,
  renderChoice,
  renderDay,
  renderFacts,
  renderProse,
  renderTag,
  type SessionPart,
  sessionKey,
  toEvents,
} from "../parts.ts";
import { readLeads, readSessions } from "./sessions.ts";

type Judged = Awaited<ReturnType<Knack["judged"]>>[number];

interface SessionModel {
  readonly session: SessionView;
  readonly events: readonly Event[];
  /** What agents were told, by the event at which it was. */
  readonly told: ReadonlyMap<string, readonly Telling[]>;
  readonly leads: readonly Lead[];
  readonly judged: Judged | undefined;
  /** The lessons that rest on an event here, by its ref. */
  readonly taught: ReadonlyMap<string, readonly { readonly id: string; readonly lesson: string }[]>;
}

/** Events on one page of a session: most are short. */
const pageEvents = 4 * pageSize;

export const sessionPage = definePage<SessionModel>({
  path: "/sessions/:id",
  read: async ({ knack, desk, id }) => {
    const all = await readSessions(knack, desk);
    const session = all.find((one) => [one.id, getSessionId(one)].some((name) => sessionKey(name) === id));
    if (!session) return null;
    const events = await knack.events(session);
    const findings = await knack.shownFindings([session]);
    const lessons = new Map(
      (await desk.once("lessons", () => knack.lessons())).map((one) => [one.id as string, one.lesson]),
    );
    const taught = new Map<string, { id: string; lesson: string }[]>();
    for (const { lessonId, finding } of findings) {
      const ref = finding.refs[0] ?? "";
      const lesson = lessons.get(lessonId) ?? finding.lesson;
      taught.set(ref, [...(taught.get(ref) ?? []), { id: lessonId, lesson }]);
    }
    const own = getSessionId(session);
    const tellings = (await readTellings(knack, desk)).filter((one) => one.session === own);
    return {
      ...{ session, events, taught, told: placeTellings(tellings, events) },
      leads: (await readLeads(knack, desk)).flatMap((one) => (one.session.id === session.id ? one.lead : [])),
      judged: (await desk.once("judged", () => knack.judged())).find((one) => one.session === session.id),
    };
  },
  draw: (model, { desk, query }) => {
    const { session, events, leads, judged } = model;
    const { counts, startedAt, endedAt, format, project, path } = session;
    const show = parts.find(([part]) => part === query("show"))?.[0] ?? "";
    const isShown = choosePart(model);
    const wanted = show === "" ? events : events.filter((event) => isShown[show](event));
    const last = Math.max(1, Math.ceil(wanted.length / pageEvents));
    // A link to one of its events leads to the page that has it.
    const at = wanted.findIndex(({ ref }) => ref === query("at"));
    const asked = at < 0 ? Number.parseInt(query("page"), 10) || 1 : Math.floor(at / pageEvents) + 1;
    const page = Math.min(last, Math.max(1, asked));
    const shown = wanted.slice((page - 1) * pageEvents, page * pageEvents);
    const link = (part: SessionPart, says: string) =>
      events.some(isShown[part]) ? html`<a href="${toEvents(session.id, part)}">${says}</a>` : says;
    const minutes =
      startedAt !== null && endedAt !== null ? Math.round((endedAt - startedAt) / 60_000) : null;
    return {
      title: `Session ${getSessionId(session).slice(0, 8)}`,
      body: html`<p class="eyebrow">${renderTag(format)} ${project.name} ${renderDay(startedAt)} session <code>${lastPart(getSessionId(session)).slice(0, 13)}</code></p>
<h1 class="lesson">${renderProse(cutText(events.find(isPersons)?.text ?? "Session", 160))}</h1>
${renderFacts([
  // Where its events are there, what is offered of them says how many.
  [
    "It had",
    events.length === 0 &&
      `${several(counts.prompts, "prompt")}, ${several(counts.calls, "call")}, ${formatNumber(counts.failed)} failed, ${formatNumber(counts.rejected)} rejected`,
  ],
  ["It took", minutes !== null && minutes > 0 && several(minutes, "minute")],
  ["Leads", describeLeads(leads, judged, link)],
  ["Transcript", html`<code>${desk.shorten(path)}</code>`],
])}
${judged && judged.aside.length > 0 && html`<details class="quiet" id="aside"><summary>${several(judged.aside.length, "lead")} left aside by ${judged.model}</summary><ul>${judged.aside.map(({ what, because }) => html`<li>${what}: <span class="faint">${because}</span></li>`)}</ul></details>`}
${
  events.length === 0
    ? html`<p class="look">The words of this session are not kept any more; its counts are.</p>`
    : html`${drawParts(model, show)}<ol class="timeline">${shown.map((event) => drawEvent(event, model, desk, show !== ""))}</ol>`
}
${last > 1 && drawPager(session.id, show, page, last)}`,
    };
  },
});

/** What may be looked at by itself, in the order in which it is offered. */
const parts: readonly (readonly [part: SessionPart, name: string])[] = [
  ["prompts", "Prompts"],
  ["calls", "Calls"],
  ["failed", "Failed"],
  ["rejected", "Rejected"],
  ["told", "Told"],
  ["leads", "Leads"],
  ["taught", "Taught"],
];

/** Which events are of each part. */
function choosePart({
  told,
  leads,
  taught,
}: SessionModel): Readonly<Record<SessionPart, (event: Event) => boolean>> {
  const led = new Set(leads.map(({ refs }) => refs[0]));
  return {
    prompts: isPersons,
    calls: ({ kind }) => kind === "call",
    failed: ({ outcome }) => outcome === "failed",
    rejected: ({ outcome }) => outcome === "rejected",
    told: ({ ref }) => told.has(ref),
    leads: ({ ref }) => led.has(ref),
    taught: ({ ref }) => taught.has(ref),
  };
}

function drawParts(model: SessionModel, show: string): HtmlPart {
  const isShown = choosePart(model);
  const { session, events } = model;
  const path = `/sessions/${sessionKey(session.id)}`;
  const offered = parts.flatMap(([part, name]) => {
    const count = events.filter(isShown[part]).length;
    const choice = [`${name} ${formatNumber(count)}`, toEvents(session.id, part), part === show] as const;
    return count === 0 && part !== show ? [] : [choice];
  });
  const all = [`Everything ${formatNumber(events.length)}`, url(path), show === ""] as const;
  return (
    offered.length > 0 && html`<div class="parts">${renderChoice("What of it", [all, ...offered])}</div>`
  );
}

function describeLeads(
  leads: readonly Lead[],
  judged: Judged | undefined,
  link: (part: SessionPart, says: string) => HtmlPart,
): HtmlPart {
  if (judged)
    return html`judged by ${judged.model}: ${link("taught", several(judged.lessons.length, "lesson"))}, <a href="#aside">${several(judged.aside.length, "lead")}</a> left aside`;
  return (
    leads.length > 0 &&
    html`${link("leads", several(leads.length, "place"))} where something may be learned, not judged yet`
  );
}

function drawPager(id: string, show: string, page: number, last: number): Html {
  const to = (n: number, says: string) =>
    n >= 1 &&
    n <= last &&
    html`<a href="${url(`/sessions/${sessionKey(id)}`, { show, page: n })}">${says}</a>`;
  return html`<nav class="pager" aria-label="Further pages">${to(page - 1, "← Earlier")}<span>part ${page} of ${last}</span>${to(page + 1, "Later →")}</nav>`;
}

/** A hook answers so long after what it answers to, at most. */
const answerMs = 2_000;

/** Tellings by the event that each answers: a failure or a prompt a moment before, else the last event until then. */
function placeTellings(tellings: readonly Telling[], events: readonly Event[]): Map<string, Telling[]> {
  const placed = new Map<string, Telling[]>();
  for (const telling of tellings) {
    const isMeant = ({ outcome, kind }: Event) =>
      telling.occasion === "failure" ? outcome === "failed" : kind === "prompt";
    const isBefore = ({ at }: Event) => at !== null && at <= telling.at;
    const isJustBefore = (event: Event) =>
      isBefore(event) && Math.max(event.at ?? 0, event.endedAt ?? 0) >= telling.at - answerMs;
    const event =
      events.findLast((one) => isMeant(one) && isJustBefore(one)) ?? events.findLast(isBefore) ?? events[0];
    if (event) placed.set(event.ref, [...(placed.get(event.ref) ?? []), telling]);
  }
  return placed;
}

/** Lines of a text that are shown before it is unfolded. */
const openChars = 600;

function drawEvent(
  event: Event,
  { told: placed, leads, taught, session }: SessionModel,
  { shorten }: Desk,
  isPart: boolean,
): HtmlPart {
  const lead = leads.find(({ refs }) => refs[0] === event.ref);
  const lessons = taught.get(event.ref) ?? [];
  const told = placed.get(event.ref) ?? [];
  // From a part of the timeline it leads to its place in the whole.
  const label = isPart
    ? html`<span class="ref">${linkSession(session.id, event.ref, event.ref)}</span>`
    : html`<a class="ref" href="#${event.ref}">${event.ref}</a>`;
  return html`<li id="${event.ref}" class="event ${event.kind} ${event.outcome ?? ""}">${drawWhat(event, shorten, label)}${
    lessons.length > 0 &&
    html`<p class="mark-lesson">Taught: ${lessons.map(({ id, lesson }, n) => html`${n > 0 && "; "}${linkLesson(id, renderProse(cutText(lesson, 160)))}`)}</p>`
  }${lead && html`<p class="mark-lead">A lead: ${renderProse(cutText(lead.summary, 200))} <span class="faint">${lead.kind}, not judged yet</span></p>`}${told.map(
    ({ how, text, id, outcome }) =>
      html`<p class="mark-told">Knack ${how === "withheld" ? "held back" : how === "told" ? "told" : "offered"}: ${how === "told" ? linkLesson(id, renderProse(cutText(text.replace(/^Knack: /, ""), 300))) : cutText(text, 300)} ${outcome && renderTag(outcome.verdict, outcome.verdict === "helpful" ? "good" : "bad")}</p>`,
  )}</li>`;
}

function drawWhat(event: Event, shorten: Desk["shorten"], label: Html): HtmlPart {
  const { kind, text, sidechain } = event;
  if (kind === "call") return drawCall(event, label, shorten);
  const who =
    kind === "prompt" ? (isPersons(event) ? "You" : "A program") : kind === "reply" ? "The agent" : "Note";
  return html`<p class="who">${who}${sidechain && " (subagent)"} ${label}</p>${drawText(text, "words")}`;
}

function drawCall(
  { tool, input, command, files, outcome, exitCode, text }: Event,
  label: Html,
  shorten: Desk["shorten"],
): HtmlPart {
  const isBad = outcome === "failed" || outcome === "rejected";
  const [first] = Object.values(input ?? {}).filter((value) => typeof value === "string");
  const what = command ?? shorten(files[0] ?? String(first ?? ""));
  const state =
    outcome === null || outcome === "ok"
      ? null
      : renderTag(exitCode === null ? outcome : `${outcome}, exit ${exitCode}`, isBad ? "bad" : "plain");
  const line = html`<span class="tool">${tool ?? "call"}</span> ${what !== "" && html`<code>${cutText(what, 400)}</code>`} ${state}`;
  if (text.trim() === "") return html`<p class="call">${label}${line}</p>`;
  return html`${label}<details${isBad && html` open`}><summary class="call">${line} <span class="faint">${formatNumber(text.length)} characters</span></summary><pre class="code">${text}</pre></details>`;
}

function drawText(text: string, kind: string): HtmlPart {
  if (text.length <= openChars) return html`<div class="${kind}">${renderProse(text)}</div>`;
  const start = text.slice(0, openChars).replace(/\s+\S*$/, "");
  const rest = text.slice(start.length);
  return html`<div class="${kind}">${renderProse(start)}</div><details class="quiet"><summary>${several(rest.trim().split("\n").length, "more line")}</summary><div class="${kind}">${renderProse(rest.replace(/^\s*\n/, ""))}</div></details>`;
}
