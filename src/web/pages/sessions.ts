import type { Knack } from "../../open.ts";
import { getSessionId } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import type { SessionView } from "../../transcripts/index.ts";
import { type HtmlPart, html, url } from "../html.ts";
import { type Desk, definePage, type Visit } from "../page.ts";
import {
  cutText,
  formatNumber,
  lastPart,
  linkSession,
  paginate,
  parseDays,
  renderChoice,
  renderCommand,
  renderDay,
  renderEmpty,
  renderTable,
  renderTag,
} from "../parts.ts";

/** Projects that are offered by name. */
const mostProjects = 6;

/** Failures of some days that count, by session. */
interface Failed {
  readonly days: number;
  readonly failures: number;
  readonly repeats: number;
  readonly bySession: ReadonlyMap<string, { readonly failures: number; readonly repeats: number }>;
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
    const [project, failedIn, unjudged] = [query("project"), query("failed"), query("unjudged")];
    const failed = failedIn === "" ? null : await readFailed(visit, parseDays(failedIn));
    const waiting =
      unjudged === "" ? null : new Set<string>((await readLeads(knack, desk)).map(({ session }) => session.id));
    const listed = all.filter(
      (one) =>
        (project === "" || one.project.id === project) &&
        (failed === null || failed.bySession.has(getSessionId(one))) &&
        (waiting === null || waiting.has(one.id)),
    );
    const asked = { project, failed: failedIn, unjudged };
    const { shown, pager } = paginate(listed, query("page"), "/sessions", asked);
    const openings = new Map(
      await Promise.all(shown.map(async (one) => [one.id, await knack.opening(one)] as const)),
    );
    return { all, listed, shown, pager, openings, failed };
  },
  draw: (model, { desk, query }) => ({
    title: "Sessions",
    body: html`<div class="head"><h1>Sessions</h1>${drawProjects(model, query("project"))}</div>
${drawFilter(model, query("unjudged") !== "")}
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

async function readFailed({ knack, now }: Visit, days: number): Promise<Failed> {
  const failures = await knack.failures(now - days * 86_400_000);
  const bySession = new Map<string, { failures: number; repeats: number }>();
  for (const { session, isRepeat } of failures) {
    const { failures: n, repeats } = bySession.get(session) ?? { failures: 0, repeats: 0 };
    bySession.set(session, { failures: n + 1, repeats: repeats + (isRepeat ? 1 : 0) });
  }
  return {
    ...{ days, bySession, failures: failures.length },
    repeats: failures.filter(({ isRepeat }) => isRepeat).length,
  };
}

function drawProjects({ all, failed }: Sessions, project: string): HtmlPart {
  const counts = new Map<string, number>();
  for (const one of all) counts.set(one.project.id, (counts.get(one.project.id) ?? 0) + 1);
  if (counts.size < 2 || failed !== null) return null;
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
function drawFilter({ listed, failed }: Sessions, isUnjudged: boolean): HtmlPart {
  const every = html`<a href="/sessions">All sessions</a>`;
  if (failed !== null)
    return html`<p>${several(failed.failures, "failure")} in the last ${several(failed.days, "day")}, each counted once for a session; ${formatNumber(failed.repeats)} had been met in an earlier session of the project. What fails because of the work at hand, such as a test that is being made to pass, does not count. ${every}</p>`;
  return (
    isUnjudged &&
    html`<p>${several(listed.length, "session")} with places where something may be learned, which no model has judged yet. ${every}</p>`
  );
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
    return [
      renderDay(startedAt),
      html`${linkSession(id, undefined, asked ? cutText(asked, 110) : html`<code>${name}</code>`)}${subagent && html` ${renderTag("subagent")}`}`,
      ...[cutText(project.name, 28), format, ...numbers.map(formatNumber)],
    ];
  });
  return html`${renderTable(
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
