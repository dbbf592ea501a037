import type { Knack } from "../../open.ts";
import { getSessionId } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import type { SessionView } from "../../transcripts/index.ts";
import { readTellings } from "../evidence.ts";
import { type HtmlPart, html, url } from "../html.ts";
import { type Desk, definePage, type Visit } from "../page.ts";
import {
  cutText,
  describeWhen,
  formatNumber,
  lastPart,
  linkSession,
  paginate,
  parseDays,
  readDays,
  renderChoice,
  renderCommand,
  renderCount,
  renderDay,
  renderEmpty,
  renderProse,
  renderTable,
  renderTag,
  toEvents,
} from "../parts.ts";

/** Projects that are offered by name. */
const mostProjects = 6;

/** Failures that count, by session. */
interface Failed {
  /** When they were, in words. */
  readonly when: string;
  readonly failures: number;
  readonly repeats: number;
  readonly bySession: ReadonlyMap<string, { readonly failures: number; readonly repeats: number }>;
}

/** What else is asked for: the sessions, by the agent's own ids, and what is said of them. */
interface Chosen {
  readonly sessions: ReadonlySet<string>;
  readonly says: (count: number) => string;
}

interface Sessions {
  readonly all: readonly SessionView[];
  /** Those that the address asks for. */
  readonly listed: readonly SessionView[];
  readonly shown: readonly SessionView[];
  readonly pager: HtmlPart;
  /** What a person asked for first in those that are shown. */
  readonly openings: ReadonlyMap<string, string | null>;
  readonly failed: Failed | null;
  readonly chosen: Chosen | null;
}

/** All sessions, read once for as long as nothing changes. */
export function readSessions(knack: Knack, desk: Desk): Promise<SessionView[]> {
  return desk.once("sessions", () => knack.knownSessions());
}

/** The places in them that wait for a judge. */
export function readLeads(knack: Knack, desk: Desk): ReturnType<Knack["leads"]> {
  return desk.once("leads", () => knack.leads());
}

export const sessionsPage = definePage<Sessions>({
  path: "/sessions",
  read: async (visit) => {
    const { knack, desk, query } = visit;
    const all = await readSessions(knack, desk);
    const project = query("project");
    const failed = query("failed") === "" ? null : await readFailed(visit);
    const chosen = await readChosen(visit);
    const listed = all.filter(
      (one) =>
        (project === "" || one.project.id === project) &&
        (failed === null || failed.bySession.has(getSessionId(one))) &&
        (chosen === null || chosen.sessions.has(getSessionId(one))),
    );
    const names = ["project", "failed", "met", "from", "for", "unjudged", "spoken", "told"];
    const asked = Object.fromEntries(names.map((name) => [name, query(name)]));
    const { shown, pager } = paginate(listed, query("page"), "/sessions", asked);
    const openings = new Map(
      await Promise.all(shown.map(async (one) => [one.id, await knack.opening(one)] as const)),
    );
    return { all, listed, shown, pager, openings, failed, chosen };
  },
  draw: (model, { desk, query }) => ({
    title: "Sessions",
    body: html`<div class="head"><h1>Sessions</h1>${drawProjects(model, query("project"))}</div>
${drawFilter(model)}
${
  model.all.length === 0
    ? renderEmpty(
        "No sessions were read yet.",
        html`What your agents did, call by call: ${renderCommand(desk, "learn")} reads it.`,
      )
    : drawSessions(model)
}`,
  }),
});

async function readFailed({ knack, desk, now, query }: Visit): Promise<Failed> {
  const days = parseDays(query("failed"));
  const dated = readDays(query);
  const all = await desk.once(`failures ${days}`, () => knack.failures(now - days * 86_400_000));
  const isAsked = ({ at, isRepeat }: (typeof all)[number]) =>
    (dated === null || (at >= dated.from && at < dated.to)) &&
    (query("met") === "" || isRepeat === (query("met") === "1"));
  const failures = all.filter(isAsked);
  const bySession = new Map<string, { failures: number; repeats: number }>();
  for (const { session, isRepeat } of failures) {
    const { failures: n, repeats } = bySession.get(session) ?? { failures: 0, repeats: 0 };
    bySession.set(session, { failures: n + 1, repeats: repeats + (isRepeat ? 1 : 0) });
  }
  return {
    ...{ bySession, failures: failures.length, when: describeWhen(days, dated) },
    repeats: failures.filter(({ isRepeat }) => isRepeat).length,
  };
}

/** Sessions of which something else is asked: that a model has to judge them, that a person spoke, or that they were told something. */
async function readChosen({ knack, desk, now, query }: Visit): Promise<Chosen | null> {
  if (query("unjudged") !== "")
    return {
      sessions: new Set((await readLeads(knack, desk)).map(({ session }) => getSessionId(session))),
      says: (count) =>
        `${several(count, "session")} with places where something may be learned, which no model has judged yet.`,
    };
  if (query("spoken") !== "")
    return {
      sessions: new Set(await desk.once("measured", () => knack.measured())),
      says: (count) => `${several(count, "session")} in which a person spoke.`,
    };
  if (query("told") === "") return null;
  const days = parseDays(query("told"));
  const since = now - days * 86_400_000;
  const told = (await readTellings(knack, desk)).filter(({ at, how }) => at >= since && how !== "withheld");
  return {
    sessions: new Set(told.map(({ session }) => session)),
    says: (count) =>
      `${several(count, "session")} in which Knack showed an agent something in the last ${several(days, "day")}.`,
  };
}

function drawProjects({ all, failed, chosen }: Sessions, project: string): HtmlPart {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(one.project.id, (counts.get(one.project.id) ?? 0) + 1);
  if (counts.size < 2 || failed !== null || chosen !== null) return null;
  const name = (id: string) => all.find((one) => one.project.id === id)?.project.name ?? id;
  return renderChoice("Of which project", [
    [`All ${formatNumber(all.length)}`, url("/sessions"), project === ""],
    ...[...counts]
      .sort(([, a], [, b]) => b - a)
      .slice(0, mostProjects)
      .map(
        ([id, count]) =>
          [
            `${cutText(name(id), 24)} ${formatNumber(count)}`,
            url("/sessions", { project: id }),
            id === project,
          ] as const,
      ),
  ]);
}

/** What is listed, where that is not everything. */
function drawFilter({ listed, failed, chosen }: Sessions): HtmlPart {
  const every = html`<a href="/sessions">All sessions</a>`;
  if (failed !== null)
    return html`<p>${several(failed.failures, "failure")} ${failed.when}, each counted once for a session; ${formatNumber(failed.repeats)} had been met in an earlier session of the project. What fails because of the work at hand, such as a test that is being made to pass, does not count. ${every}</p>`;
  return chosen && html`<p>${chosen.says(listed.length)} ${every}</p>`;
}

function drawSessions({ shown, pager, openings, failed }: Sessions): HtmlPart {
  if (shown.length === 0)
    return renderEmpty("No sessions match.", html`<a href="/sessions">All sessions</a>`);
  const heads = failed === null ? ["Prompts", "Calls", "Failed", "Rejected"] : ["Failures", "Met before"];
  const rows = shown.map((one) => {
    const { id, startedAt, sessionId, project, format, subagent, counts } = one;
    const name = (sessionId ?? lastPart(id)).slice(0, 13);
    const asked = openings.get(id);
    const counted = failed?.bySession.get(getSessionId(one));
    const numbers =
      failed === null
        ? [counts.prompts, counts.calls, counts.failed, counts.rejected]
        : [counted?.failures ?? 0, counted?.repeats ?? 0];
    const to = (n: number) =>
      failed === null && toEvents(id, (["prompts", "calls", "failed", "rejected"] as const)[n] ?? "calls");
    return [
      renderDay(startedAt),
      html`${linkSession(id, undefined, asked ? renderProse(cutText(asked, 110)) : html`<code>${name}</code>`)}${subagent && html` ${renderTag("subagent")}`}`,
      ...[cutText(project.name, 28), format],
      ...numbers.map((number, n) => renderCount(number, to(n) || toEvents(id, "failed"))),
    ];
  });
  return html`${renderTable(
    "Sessions",
    [
      ["Begun", "short"],
      ["Asked for", "main"],
      ["Project", "short"],
      ["Agent", "short"],
      ...heads.map((head) => [head, "number"] as const),
    ],
    rows,
  )}${pager}`;
}
