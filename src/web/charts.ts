import { scaleBand, scaleLinear, scaleUtc } from "d3-scale";
import { curveStepAfter, line } from "d3-shape";
import { type Html, type HtmlPart, html } from "./html.ts";
import { formatNumber } from "./parts.ts";

/** Values of one kind, one for each label; `mark` draws them as dots above the bars. */
interface ChartSeries {
  readonly name: string;
  readonly look: "plain" | "strong" | "mark" | "bad";
  readonly values: readonly number[];
}

interface BarChart {
  readonly title: string;
  /** What the labels are, for the table. */
  readonly of: string;
  readonly labels: readonly string[];
  readonly series: readonly ChartSeries[];
}

const size = { width: 760, height: 210, left: 34, right: 8, top: 14, bottom: 24 };
/** A few bars are not as wide as the picture. */
const mostBarWidth = 72;
/** Half a letter of a label below an axis. */
const halfLetter = 3.6;
/** Labels below an axis that fit beside each other. */
const mostLabels = 12;

/** Where the middle of a label may be, so that none of it is cut off. */
function keepInside(x: number, label: string): number {
  const half = label.length * halfLetter;
  return Math.min(size.width - half, Math.max(half, x));
}

/** Bars on top of each other, with what they say as a table behind. */
export function drawBars(chart: BarChart): Html {
  const { labels, series } = chart;
  const bars = series.filter(({ look }) => look !== "mark");
  const totals = labels.map((_, at) => bars.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const marks = series.filter(({ look }) => look === "mark").flatMap(({ values }) => values);
  const x = scaleBand(labels.map(String), [size.left, size.width - size.right]).padding(0.28);
  const width = Math.min(x.bandwidth(), mostBarWidth);
  const inset = (x.bandwidth() - width) / 2;
  const y = scaleLinear([0, Math.max(1, ...totals, ...marks)], [size.height - size.bottom, size.top]).nice(4);
  const drawn = labels.map((label, at) => {
    let below = 0;
    return bars.map(({ look, values }) => {
      const value = values[at] ?? 0;
      const [from, to] = [y(below), y(below + value)];
      below += value;
      return (
        value > 0 &&
        html`<rect class="bar ${look}" x="${cut((x(label) ?? 0) + inset)}" y="${cut(to)}" width="${cut(width)}" height="${cut(from - to)}"/>`
      );
    });
  });
  const dots = series
    .filter(({ look }) => look === "mark")
    .map(({ values }) =>
      labels.map((label, at) => {
        const value = values[at] ?? 0;
        const center = (x(label) ?? 0) + x.bandwidth() / 2;
        return value > 0 && html`<circle class="mark" cx="${cut(center)}" cy="${cut(y(value))}" r="4.5"/>`;
      }),
    );
  const every = Math.ceil(labels.length / ((labels[0]?.length ?? 0) > 5 ? mostLabels / 2 : mostLabels));
  return figure(
    chart,
    html`${drawGrid(y.ticks(4).filter(Number.isInteger), y)}${drawn}${dots}${labels.map(
      (label, at) =>
        at % every === 0 &&
        html`<text class="tick" x="${cut(keepInside((x(label) ?? 0) + x.bandwidth() / 2, label))}" y="${size.height - 7}" text-anchor="middle">${label}</text>`,
    )}`,
  );
}

function figure(chart: BarChart, content: HtmlPart): Html {
  const { title, of, labels, series } = chart;
  const sum = ({ values }: ChartSeries) => values.reduce((all, value) => all + value, 0);
  return html`<figure class="chart"><figcaption><span class="name">${title}</span><ul class="legend">${series.map(
    (one) =>
      html`<li><svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">${
        one.look === "mark"
          ? html`<circle class="mark" cx="6" cy="6" r="4.5"/>`
          : html`<rect class="bar ${one.look}" width="12" height="12" rx="2"/>`
      }</svg>${one.name} <b>${formatNumber(sum(one))}</b></li>`,
  )}</ul></figcaption>
<div class="scroll" tabindex="0"><svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="${title}. The figures are in the table below.">${content}</svg></div>
<details><summary>As a table</summary><div class="scroll" tabindex="0"><table><thead><tr><th scope="col">${of}</th>${series.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
<tbody>${labels.map(
    (label, at) =>
      html`<tr><th scope="row">${label}</th>${series.map(({ values }) => html`<td class="number">${formatNumber(values[at] ?? 0)}</td>`)}</tr>`,
  )}</tbody></table></div></details></figure>`;
}

function drawGrid(ticks: readonly number[], y: (value: number) => number): HtmlPart {
  return ticks.map(
    (tick) =>
      html`<line class="grid" x1="${size.left}" x2="${size.width - size.right}" y1="${cut(y(tick))}" y2="${cut(y(tick))}"/><text class="tick" x="${size.left - 8}" y="${cut(y(tick) + 4)}" text-anchor="end">${tick}</text>`,
  );
}

interface TracePoint {
  readonly at: number;
  readonly value: number;
}

/** A value between 0 and 1 over time, in steps; what moved it is told beside it. */
export function drawTrace(title: string, points: readonly TracePoint[], now: number): Html {
  const first = points[0]?.at ?? now;
  const last = points.at(-1);
  const x = scaleUtc([first, Math.max(now, first + 86_400_000)], [size.left, size.width - size.right]);
  const y = scaleLinear([0, 1], [size.height - size.bottom, size.top]);
  const whole = last === undefined ? points : [...points, { at: now, value: last.value }];
  const path = line<TracePoint>(
    ({ at }) => x(at),
    ({ value }) => y(value),
  ).curve(curveStepAfter)([...whole]);
  const days = x.ticks(6);
  const format = (at: Date) => at.toISOString().slice(0, 10);
  const shown = days.filter((day, at) => at === 0 || format(day) !== format(days[at - 1] as Date));
  return html`<figure class="chart"><figcaption><span class="name">${title}</span></figcaption>
<div class="scroll" tabindex="0"><svg viewBox="0 0 ${size.width} ${size.height}" role="img" aria-label="${title}. Each step is in the list below.">${drawGrid([0, 0.25, 0.5, 0.75, 1], y)}
<line class="limit" x1="${size.left}" x2="${size.width - size.right}" y1="${cut(y(0.8))}" y2="${cut(y(0.8))}"/><text class="tick" x="${size.width - size.right}" y="${cut(y(0.8) + ((last?.value ?? 0) >= 0.8 ? 15 : -6))}" text-anchor="end">active from 0.80</text>
<path class="trace" d="${path ?? ""}"/>${points.map(({ at, value }) => html`<circle class="mark" cx="${cut(x(at))}" cy="${cut(y(value))}" r="4"/>`)}
${shown.map((day) => html`<text class="tick" x="${cut(keepInside(x(day), "00-00"))}" y="${size.height - 7}" text-anchor="middle">${format(day).slice(5)}</text>`)}</svg></div></figure>`;
}

function cut(value: number | undefined): number {
  return Math.round((value ?? 0) * 10) / 10;
}
