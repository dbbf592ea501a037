import { formatUsd } from "../../models/index.ts";
import type { Knack } from "../../open.ts";
import {
  type BenefitReport,
  concludeMeasure,
  describeMeasure,
  describeWorth,
  type FailureDay,
  formatMeasured,
  reportMeasures,
} from "../../recall/index.ts";
import { several } from "../../text/index.ts";
import { drawBars } from "../charts.ts";
import { type Html, type HtmlPart, html, url } from "../html.ts";
import { definePage, type Visit } from "../page.ts";
import {
  cutText,
  formatNumber,
  linkLesson,
  renderChoice,
  renderCommand,
  renderDay,
  renderEmpty,
  renderProse,
  renderSure,
} from "../parts.ts";
import { listWaiting } from "./inbox.ts";

const dayMs = 86_400_000;
/** The times that can be looked at, in days. */
const spans = [
  [7, "This week"],
  [28, "Four weeks"],
  [91, "Three months"],
] as const;
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
  readonly unjudged: number;
}

export const homePage = definePage<Home>({
  path: "/",
  read: async (visit) => {
    const { knack, now } = visit;
    const days = spans.find(([days]) => String(days) === visit.query("days"))?.[0] ?? 7;
    const since = now - days * dayMs;
    return {
      days,
      report: await visit.desk.once("report", () => knack.report(0)),
      holdout: await knack.holdout(),
      week: await visit.desk.once(`week ${days}`, () => knack.week(since)),
      failures: await visit.desk.once(`failures ${days}`, () => knack.failureDays(since)),
      waiting: await listWaiting(visit),
      sessions: (await knack.projects()).reduce((sum, { sessions }) => sum + sessions, 0),
      unjudged: (await knack.waiting()).sessions,
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
              ([days, name]) =>
                [name, url("/", { days: days === 7 ? null : days }), days === model.days] as const,
            ),
          )}</div>
<p class="lead">${describeWorth(model.report, model.holdout)}</p>
${drawComparisons(model, visit)}
${drawTiles(model)}
${drawFailures(model.failures)}
<div class="columns">${drawWaiting(model)}${drawLearned(model)}</div>`,
  }),
});

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
          return html`<tr><th scope="row">${title}</th><td>${describeMeasure(measure)}</td><td>${had} ${mean(one.mean)}</td><td>${hadNot} ${mean(other.mean)}</td><td>${concludeMeasure(measure, comparison[measure])}</td></tr>`;
        }),
  );
  return html`<details class="quiet"><summary>What this rests on</summary>
<p>${several(report.sessions, "session")} in which a person spoke. ${
    holdout === 0
      ? html`Nothing is held back. To measure it, hold back one match in ten, at random: ${renderCommand(desk, "config set recall.holdout 0.1")}`
      : html`One match in ${Math.round(1 / holdout)} is held back, at random.`
  }</p>
${rows.length > 0 && html`<div class="scroll" tabindex="0"><table class="wide"><tbody>${rows}</tbody></table></div><p>After against before is no experiment: anything else that changed meanwhile is in these figures too.</p>`}</details>`;
}

function drawTiles({ week, failures, waiting, unjudged, days }: Home): Html {
  const sum = (count: (day: FailureDay) => number) => failures.reduce((all, day) => all + count(day), 0);
  const { saved, cost, used, fresh, skills } = week;
  const tiles: readonly (readonly [number: HtmlPart, name: string, says: HtmlPart, to: Html])[] = [
    [
      sum((day) => day.failures),
      "failures",
      `${formatNumber(sum((day) => day.repeats))} had been met before`,
      url("/sessions"),
    ],
    [saved.failures, "answered", "times a known fix was told at a failure", url("/lessons", { told: "1" })],
    [saved.calls, "saved", "fixes that came next and worked", url("/lessons", { told: "1" })],
    [
      fresh.length,
      "learned",
      skills.length > 0 ? `and ${several(skills.length, "skill")} written` : "new lessons",
      url("/lessons", { since: days }),
    ],
    [
      waiting.length,
      "waiting",
      unjudged > 0 ? `and ${several(unjudged, "session")} to be judged` : "for your yes or no",
      url("/inbox"),
    ],
    [
      cost.model > 0 ? formatUsd(cost.model) : "$0",
      "spent",
      `${formatNumber(cost.characters)} characters shown in ${several(used.sessions, "session")}`,
      url("/library"),
    ],
  ];
  return html`<ul class="tiles">${tiles.map(
    ([number, name, says, to]) =>
      html`<li><a href="${to}"><span class="figure">${typeof number === "number" ? formatNumber(number) : number}</span><span class="name">${name}</span><span class="says">${says}</span></a></li>`,
  )}</ul>`;
}

/** Days up to here are shown one by one, more of them in weeks. */
const mostDays = 31;

function drawFailures(days: readonly FailureDay[]): HtmlPart {
  if (days.every(({ failures, answered }) => failures + answered === 0))
    return html`<p class="faint">No failure in this time that is not of the work at hand.</p>`;
  const groups = days.length > mostDays ? groupWeeks(days) : days;
  return drawBars({
    title: days.length > mostDays ? "Failures by week" : "Failures by day",
    of: days.length > mostDays ? "Week of" : "Day",
    labels: groups.map(({ at }) => new Date(at).toISOString().slice(5, 10)),
    series: [
      { name: "met before", look: "strong", values: groups.map(({ repeats }) => repeats) },
      { name: "new", look: "plain", values: groups.map(({ failures, repeats }) => failures - repeats) },
      { name: "answered", look: "mark", values: groups.map(({ answered }) => answered) },
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

function drawLearned({ week: { fresh }, days }: Home): Html {
  return html`<section><h2>Learned</h2>${
    fresh.length === 0
      ? html`<p class="faint">Nothing new in this time.</p>`
      : html`<ul class="rows">${fresh
          .slice(0, mostRows)
          .map(
            ({ id, lesson, state }) =>
              html`<li>${linkLesson(id, renderProse(cutText(lesson, 120)))}<span class="meta">${renderDay(state.lastAt)} ${renderSure(state.confidence)}</span></li>`,
          )}</ul>${fresh.length > mostRows && html`<p><a href="${url("/lessons", { since: days })}">All ${formatNumber(fresh.length)}</a></p>`}`
  }</section>`;
}
