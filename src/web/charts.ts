import { scaleBand, scaleLinear, scaleUtc } from "d3-scale";
import { type Html, type HtmlPart, html } from "./html.ts";
import { formatNumber, renderTable } from "./parts.ts";

/** Values of one kind, one for each label; `mark` draws them as dots above the bars. */
interface ChartSeries {
  readonly name: string;
  readonly look: "plain" | "strong" | "mark" | "bad";
  readonly values: readonly number[];
  /** Where the values of all labels, or of one of them, are listed. */
  readonly to?: (at: number | null) => Html;
}

interface BarChart {
  readonly title: string;
  /** What the labels are, for the table. */
  readonly of: string;
  readonly labels: readonly string[];
  readonly series: readonly ChartSeries[];
}

/*
 * Charts are as wide as the window lets them be and their letters stay as large as they are: what lies across is in
 * percent, what is high in pixels.
 */
const size = { height: 210, top: 14, bottom: 24 };
/** A few bars are not as wide as the picture, in percent. */
const mostBarWidth = 8;
/** Labels below an axis that fit beside each other, of so many letters. */
const mostLetters = 60;

const toY = (most: number) => scaleLinear([0, most], [size.height - size.bottom, size.top]);

/** Bars on top of each other, with what they say as a table behind. */
export function drawBars(chart: BarChart): Html {
  const { labels, series } = chart;
  const bars = series.filter(({ look }) => look !== "mark");
  const totals = labels.map((_, at) => bars.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const marks = series.filter(({ look }) => look === "mark").flatMap(({ values }) => values);
  const x = scaleBand(labels.map(String), [0, 100]).padding(0.3);
  const middle = (label: string) => (x(label) ?? 0) + x.bandwidth() / 2;
  const width = Math.min(x.bandwidth(), mostBarWidth);
  const y = toY(Math.max(1, ...totals, ...marks)).nice(4);
  const drawn = labels.map((label, at) => {
    let below = 0;
    return bars.map(({ look, values }) => {
      const value = values[at] ?? 0;
      const [from, to] = [y(below), y(below + value)];
      below += value;
      return (
        value > 0 &&
        html`<rect class="bar ${look}" x="${cut(middle(label) - width / 2)}%" y="${cut(to)}" width="${cut(width)}%" height="${cut(from - to)}"/>`
      );
    });
  });
  const dots = series
    .filter(({ look }) => look === "mark")
    .map(({ values }) =>
      labels.map((label, at) => {
        const value = values[at] ?? 0;
        return (
          value > 0 && html`<circle class="mark" cx="${cut(middle(label))}%" cy="${cut(y(value))}" r="4.5"/>`
        );
      }),
    );
  const every = Math.ceil((labels.length * (labels[0]?.length ?? 1)) / mostLetters);
  const ticks = labels.map(
    (label, at) => at % every === 0 && drawTick(middle(label), label, (at / every) % 2 === 1),
  );
  const { title, of } = chart;
  return html`<figure class="chart"><figcaption><span class="name">${title}</span><ul class="legend">${series.map(
    (one) =>
      html`<li><svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">${
        one.look === "mark"
          ? html`<circle class="mark" cx="6" cy="6" r="4.5"/>`
          : html`<rect class="bar ${one.look}" width="12" height="12" rx="2"/>`
      }</svg>${one.name} <b>${linkCount(
        one,
        one.values.reduce((all, value) => all + value, 0),
        null,
      )}</b></li>`,
  )}</ul></figcaption>
${drawFrame(title, y.ticks(4).filter(Number.isInteger), y, html`${drawn}${dots}${ticks}`)}
<details><summary>As a table</summary>${renderTable(
    title,
    [[of, "main"], ...series.map(({ name }) => [name, "number"] as const)],
    labels.map((label, at) => [label, ...series.map((one) => linkCount(one, one.values[at] ?? 0, at))]),
  )}</details></figure>`;
}

function linkCount({ to }: ChartSeries, value: number, at: number | null): HtmlPart {
  const text = formatNumber(value);
  return to && value > 0 ? html`<a href="${to(at)}">${text}</a>` : text;
}

/** The picture with its horizontal lines; what they stand for is beside it. */
function drawFrame(
  title: string,
  ticks: readonly number[],
  y: (value: number) => number,
  content: HtmlPart,
): Html {
  return html`<div class="plot"><svg class="axis" height="${size.height}" aria-hidden="true">${ticks.map(
    (tick) =>
      html`<text class="tick" x="100%" y="${cut(y(tick) + 4)}" text-anchor="end">${formatTick(tick)}</text>`,
  )}</svg><svg class="field" height="${size.height}" role="img" aria-label="${title}. The figures are in the table below.">${ticks.map(
    (tick) => html`<line class="grid" x1="0" x2="100%" y1="${cut(y(tick))}" y2="${cut(y(tick))}"/>`,
  )}${content}</svg></div>`;
}

function formatTick(tick: number): string {
  return Number.isInteger(tick) ? formatNumber(tick) : String(tick);
}

/** A label below the picture; every other one leaves where there is no room. */
function drawTick(x: number, label: string, isSpare: boolean): Html {
  return html`<text class="tick${isSpare && " spare"}" x="${cut(x)}%" y="${size.height - 7}" text-anchor="middle">${label}</text>`;
}

interface TracePoint {
  readonly at: number;
  readonly value: number;
}

/** From here up a lesson is active. */
const activeFrom = 0.8;
/** Days that are named below a trace, at most, and as far from its ends as their letters need, in percent. */
const mostDays = 6;
const margin = 5;

/** A value between 0 and 1 over time, in steps, above the table of what moved it. */
export function drawTrace(title: string, points: readonly TracePoint[], now: number, table: HtmlPart): Html {
  const first = points[0]?.at ?? now;
  const last = points.at(-1);
  const x = scaleUtc([first, Math.max(now, first + 86_400_000)], [1, 99]);
  const y = toY(1);
  const steps = points.map(({ at, value }, n) => {
    const next = points[n + 1];
    const [from, to] = [cut(x(at)), cut(x(next?.at ?? now))];
    return html`<line class="trace" x1="${from}%" x2="${to}%" y1="${cut(y(value))}" y2="${cut(y(value))}"/>${
      next &&
      html`<line class="trace" x1="${to}%" x2="${to}%" y1="${cut(y(value))}" y2="${cut(y(next.value))}"/>`
    }`;
  });
  const format = (at: Date) => at.toISOString().slice(0, 10);
  const days = x.ticks(mostDays).filter((day) => x(day) >= margin && x(day) <= 100 - margin);
  const shown = days.filter((day, at) => at === 0 || format(day) !== format(days[at - 1] as Date));
  const limit = y(activeFrom);
  const isAbove = (last?.value ?? 0) >= activeFrom;
  return html`<figure class="chart"><figcaption><span class="name">${title}</span></figcaption>
${drawFrame(
  title,
  [0, 0.25, 0.5, 0.75, 1],
  y,
  html`<line class="limit" x1="0" x2="100%" y1="${cut(limit)}" y2="${cut(limit)}"/><text class="tick" x="100%" y="${cut(limit + (isAbove ? 14 : -6))}" text-anchor="end">active from ${activeFrom.toFixed(2)}</text>${steps}${points.map(
    ({ at, value }) => html`<circle class="mark" cx="${cut(x(at))}%" cy="${cut(y(value))}" r="4"/>`,
  )}${shown.map((day, n) => drawTick(x(day), format(day).slice(5), n % 2 === 1))}`,
)}
${table}</figure>`;
}

function cut(value: number): number {
  return Math.round(value * 100) / 100;
}
