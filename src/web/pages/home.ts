import { applyDecay } from "../../lessons/index.ts";
import { formatUsd } from "../../models/index.ts";
import type { Knack } from "../../open.ts";
import {
  type BenefitReport,
  type CountedFailure,
  concludeMeasure,
  describeMeasure,
  describeWorth,
  formatMeasured,
  formatShare,
  reportMeasures,
  type Telling,
} from "../../recall/index.ts";
import { several } from "../../text/index.ts";
import { drawBars } from "../charts.ts";
import { readReport, readTellings, readWeek } from "../evidence.ts";
import { type Html, type HtmlPart, html, url } from "../html.ts";
import { definePage, type Visit } from "../page.ts";
import {
  cutText,
  formatDay,
  formatNumber,
  linkLesson,
  linkSeveral,
  parseDays,
  renderChoice,
  renderCommand,
  renderDay,
  renderEmpty,
  renderProse,
  renderSure,
  renderTable,
  spans,
} from "../parts.ts";
import { listWaiting } from "./inbox.ts";

const dayMs = 86_400_000;
/** Rows of a list on this page. */
const mostRows = 5;

interface Home {
  readonly days: number;
  readonly report: BenefitReport;
  readonly holdout: number;
  readonly week: Awaited<ReturnType<Knack["week"]>>;
  readonly failures: readonly FailureDay[];
  readonly waiting: Awaited<ReturnType<typeof listWaiting>>;
  readonly sessions: number;
  /** When an agent last worked, as far as its sessions were read. */
  readonly workedAt: number;
  readonly since: number;
  readonly unjudged: number;
  /** What sharing was worth; null for who is in no team. */
  readonly team: { readonly name: string; readonly report: TeamReport } | null;
}

type TeamReport = Awaited<ReturnType<Knack["teamReport"]>>;

export const homePage = definePage<Home>({
  path: "/",
  read: async (visit) => {
    const { knack, now } = visit;
    const days = parseDays(visit.query("days"));
    const since = now - days * dayMs;
    const projects = await knack.projects();
    return {
      days,
      report: await readReport(knack, visit.desk),
      holdout: await knack.holdout(),
      week: await readWeek(knack, visit.desk, now, days),
      failures: countDays(
        await visit.desk.once(`failures ${days}`, () => knack.failures(since)),
        (await readTellings(knack, visit.desk)).filter(({ at }) => at >= since),
        since,
        now,
      ),
      waiting: await listWaiting(visit),
      sessions: projects.reduce((sum, { sessions }) => sum + sessions, 0),
      workedAt: projects.reduce((latest, { lastAt }) => Math.max(latest, lastAt), 0),
      since,
      unjudged: (await knack.waiting()).sessions,
      team: await readTeam(visit),
    };
  },
  draw: (model, visit) => ({
    title: "Home",
    body:
      model.sessions === 0 && model.week.fresh.length === 0
        ? drawFirst(visit)
        : html`<div class="head"><h1>${spans.find(([days]) => days === model.days)?.[1]}</h1>${renderChoice(
            "How far back",
            spans.map(
              ([days, , name]) =>
                [name, url("/", { days: days === 7 ? null : days }), days === model.days] as const,
            ),
          )}</div>
<p class="lead">${describeWorth(model.report, model.holdout)}</p>
${drawComparisons(model, visit)}
${drawTiles(model)}
${drawFailures(model)}
<div class="columns">${
            // What waits may say what was said in sessions.
            !visit.desk.isExport && drawWaiting(model)
          }${drawLearned(model, visit)}</div>
${model.team && drawTeam(model.team)}`,
  }),
});

async function readTeam({ knack, desk }: Visit): Promise<Home["team"]> {
  const name = knack.team()?.name;
  return name === undefined ? null : { name, report: await desk.once("team", () => knack.teamReport()) };
}

function drawFirst({ desk }: Visit): Html {
  return html`<h1>Welcome</h1>${renderEmpty(
    "Knack has read no session of an agent yet.",
    html`${renderCommand(desk, "init")} sets it up; ${renderCommand(desk, "learn")} reads the sessions that are there. Then this page shows how often they failed, what was learned, and what that was worth.`,
  )}`;
}

/** The figures behind that sentence, as `knack report` has them. */
function drawComparisons({ report, holdout }: Home, { desk }: Visit): HtmlPart {
  const compared = [
    ["Shown against held back", report.withheld, "shown", "held back"],
    ["After the first time against before", report.before, "after", "before"],
  ] as const;
  const rows = compared.flatMap(([title, comparison, had, hadNot]) =>
    comparison.failedAgain.had.sessions + comparison.failedAgain.hadNot.sessions === 0
      ? []
      : reportMeasures.map((measure) => {
          const { had: one, hadNot: other } = comparison[measure];
          const mean = (value: number | null) => (value === null ? "–" : formatMeasured(measure, value));
          return [
            ...[describeMeasure(measure), title],
            ...[`${had} ${mean(one.mean)}`, `${hadNot} ${mean(other.mean)}`],
            concludeMeasure(measure, comparison[measure]),
          ];
        }),
  );
  return html`<details class="quiet"><summary>What this rests on</summary>
<p>${linkSeveral(report.sessions, "session", url("/sessions", { spoken: "1" }))} in which a person spoke. ${
    holdout === 0
      ? html`Nothing is held back. To measure it, hold back one match in ten, at random: ${renderCommand(desk, "config set recall.holdout 0.1")}`
      : html`One match in ${Math.round(1 / holdout)} is held back, at random.`
  }</p>
${rows.length > 0 && html`${renderTable("What was compared", [["Measured", "main"], ["Compared"], ["With"], ["Without"], ["Difference"]], rows)}<p>After against before is no experiment: anything else that changed meanwhile is in these figures too.</p>`}</details>`;
}

/** The failures of a day. */
interface FailureDay {
  /** Its beginning. */
  readonly at: number;
  readonly failures: number;
  /** Those of them that an earlier session of the project had met. */
  readonly repeats: number;
  /** How often a known fix was told at a failure. */
  readonly answered: number;
}

/** Failures by day since a time, days without any among them. */
function countDays(
  failures: readonly CountedFailure[],
  tellings: readonly Telling[],
  since: number,
  now: number,
): FailureDay[] {
  const first = Math.floor(since / dayMs);
  const days = Array.from({ length: Math.max(1, Math.floor(now / dayMs) - first + 1) }, (_, at) => {
    return { at: (first + at) * dayMs, failures: 0, repeats: 0, answered: 0 };
  });
  const findDay = (at: number) => days[Math.min(days.length - 1, Math.floor(at / dayMs) - first)];
  for (const { at, isRepeat } of failures) {
    const day = findDay(at);
    if (!day) continue;
    day.failures++;
    if (isRepeat) day.repeats++;
  }
  for (const { at, how, occasion } of tellings) {
    const day = how === "told" && occasion === "failure" ? findDay(at) : undefined;
    if (day) day.answered++;
  }
  return days;
}

function drawTiles({ week, failures, waiting, unjudged, days }: Home): Html {
  const sum = (count: (day: FailureDay) => number) => failures.reduce((all, day) => all + count(day), 0);
  const { saved, cost, used, fresh, skills } = week;
  const met = sum((day) => day.failures);
  const tiles: readonly (readonly [number: HtmlPart, name: string, says: HtmlPart, to: Html])[] = [
    [
      met,
      "failures",
      met === 0
        ? "that a lesson could be about"
        : html`${linkCounted(
            sum((day) => day.repeats),
            url("/sessions", { failed: days, met: "1" }),
          )} had been met before`,
      url("/sessions", { failed: days }),
    ],
    [saved.failures, "answered", "a known fix was told", url("/told", { days, what: "failure" })],
    [saved.calls, "saved", "the fix came next and worked", url("/told", { days, what: "saved" })],
    [
      fresh.length,
      "learned",
      skills.length > 0
        ? html`new lessons, and ${linkSeveral(skills.length, "skill", url("/library", { written: days }))} written`
        : "new lessons",
      url("/lessons", { since: days }),
    ],
    [
      waiting.length,
      "waiting",
      unjudged > 0
        ? html`and <a href="${url("/sessions", { unjudged: "1" })}">${several(unjudged, "session")}</a> to be judged`
        : "for your yes or no",
      url("/inbox"),
    ],
    [
      cost.model > 0 ? formatUsd(cost.model) : "$0",
      "spent",
      cost.characters === 0
        ? "and nothing shown to agents"
        : html`and <a href="${url("/told", { days })}">${formatNumber(cost.characters)} characters</a> shown in <a href="${url("/sessions", { told: days })}">${several(used.sessions, "session")}</a>`,
      url("/spent", { days }),
    ],
  ];
  return html`<ul class="tiles">${tiles.map(
    ([number, name, says, to]) =>
      html`<li><a class="whole" href="${to}"><span class="figure">${typeof number === "number" ? formatNumber(number) : number}</span> <span class="name">${name}</span></a><span class="says">${says}</span></li>`,
  )}</ul>`;
}

function linkCounted(count: number, to: Html): HtmlPart {
  return count === 0 ? "none" : html`<a href="${to}">${formatNumber(count)}</a>`;
}

/** Days up to here are shown one by one, more of them in weeks. */
const mostDays = 31;

function drawFailures({ failures: days, workedAt, since, days: span }: Home): HtmlPart {
  if (workedAt < since)
    return renderEmpty(
      "No agent worked in this time.",
      html`The latest session that was read is of ${renderDay(workedAt)}. <a href="/sessions">All sessions</a>`,
    );
  if (days.every(({ failures, answered }) => failures + answered === 0))
    return renderEmpty(
      "Nothing failed in this time.",
      "What fails because of the work at hand, such as a test that is being made to pass, does not count. Other failures will be here, day by day.",
    );
  const isByWeek = days.length > mostDays;
  const groups = isByWeek ? groupWeeks(days) : days;
  const dated = (at: number | null) =>
    at === null ? {} : { from: formatDay(groups[at]?.at ?? 0), for: isByWeek ? "7" : "1" };
  const toFailed = (more: Readonly<Record<string, string>>) => (at: number | null) =>
    url("/sessions", { failed: span, ...more, ...dated(at) });
  return drawBars({
    title: isByWeek ? "Failures by week" : "Failures by day",
    of: isByWeek ? "Week of" : "Day",
    labels: groups.map(({ at }) => formatDay(at).slice(5)),
    series: [
      {
        ...{ name: "met before", look: "strong", to: toFailed({ met: "1" }) },
        values: groups.map(({ repeats }) => repeats),
      },
      {
        ...{ name: "new", look: "plain", to: toFailed({ met: "0" }) },
        values: groups.map(({ failures, repeats }) => failures - repeats),
      },
      {
        ...{ name: "answered", look: "mark" },
        to: (at) => url("/told", { days: span, what: "failure", ...dated(at) }),
        values: groups.map(({ answered }) => answered),
      },
    ],
  });
}

function groupWeeks(days: readonly FailureDay[]): FailureDay[] {
  const weeks: FailureDay[] = [];
  for (let from = 0; from < days.length; from += 7) {
    const some = days.slice(from, from + 7);
    const sum = (count: (day: FailureDay) => number) => some.reduce((all, day) => all + count(day), 0);
    weeks.push({
      at: some[0]?.at ?? 0,
      failures: sum((day) => day.failures),
      repeats: sum((day) => day.repeats),
      answered: sum((day) => day.answered),
    });
  }
  return weeks;
}

/** What sharing was worth, as `knack report --team` has it. */
function drawTeam({ name, report: { all, repositories } }: NonNullable<Home["team"]>): Html {
  const describe = ({ sessions, met }: TeamReport["repositories"][number]["before"]) =>
    sessions === 0
      ? "no sessions"
      : `${formatNumber(met)} of ${formatNumber(sessions)} (${formatShare(met / sessions)})`;
  const rows = repositories.map(({ repository, lessons, before, after, difference }) => [
    ...[cutText(repository, 60), formatNumber(lessons), describe(before), describe(after)],
    concludeMeasure("failedAgain", difference),
  ]);
  const columns: Parameters<typeof renderTable>[1] = [
    ...[["Repository", "main"], ["Lessons"], ["Met before"], ["Met after"], ["Difference"]],
  ] as const;
  return html`<section><h2>What ${name} shares</h2>${
    rows.length === 0
      ? html`<p class="faint">Nothing to compare yet: no shared lesson is about a failure in a repository.</p>`
      : html`<p>Sessions that met a failure whose lesson the team shares, before and after it was shared. In all: ${concludeMeasure("failedAgain", all)}. No experiment: other things changed meanwhile, too.</p>${renderTable("Before and after it was shared", columns, rows)}`
  }</section>`;
}

function drawWaiting({ waiting }: Home): Html {
  return html`<section><h2>Waits for you</h2>${
    waiting.length === 0
      ? html`<p class="faint">Nothing. What sessions teach waits here for your yes.</p>`
      : html`<ul class="rows">${waiting
          .slice(0, mostRows)
          .map(
            ({ key, title, from }) =>
              html`<li><a href="${url("/inbox", { item: key })}">${renderProse(cutText(title, 120))}</a><span class="meta">${cutText(from, 40)}</span></li>`,
          )}</ul>${waiting.length > mostRows && html`<p><a href="/inbox">All ${waiting.length}</a></p>`}`
  }</section>`;
}

function drawLearned({ week: { fresh }, days }: Home, { now }: Visit): Html {
  return html`<section><h2>Learned</h2>${
    fresh.length === 0
      ? html`<p class="faint">Nothing new in this time.</p>`
      : html`<ul class="rows">${fresh
          .slice(0, mostRows)
          .map(
            ({ id, lesson, state }) =>
              html`<li>${linkLesson(id, renderProse(cutText(lesson, 120)))}<span class="meta">${renderDay(state.lastAt)} ${renderSure(applyDecay(state, now).confidence)}</span></li>`,
          )}</ul>${fresh.length > mostRows && html`<p><a href="${url("/lessons", { since: days })}">All ${formatNumber(fresh.length)}</a></p>`}`
  }</section>`;
}
