import { several } from "../../text/index.ts";
import { drawBars } from "../charts.ts";
import { type HtmlPart, html } from "../html.ts";
import { definePage, type Replay } from "../page.ts";
import { cutText, formatNumber, lastPart, linkSession, renderEmpty, renderTag } from "../parts.ts";

/** The frame comes at once; replaying takes as long as it takes. */
export const backtestPage = definePage({
  path: "/backtest",
  read: async () => true,
  draw: (_, { desk }) => ({
    title: "Backtest",
    body: html`<h1>Backtest</h1>
<p class="lead">What Knack would have known at each point of your history, had it learned from all that came before.</p>
${
  desk.isExport
    ? null
    : html`<div data-load="/backtest/result" aria-busy="true"><p class="wait">Replaying your sessions. This takes a few seconds for a hundred of them. <a href="/backtest/result">Wait for it here</a></p></div>`
}`,
  }),
});

export const backtestResultPage = definePage<Replay>({
  path: "/backtest/result",
  read: ({ desk }) => desk.replay(),
  draw: (replay) => ({
    title: "Backtest",
    body: html`<h1>Backtest</h1><div data-part>${drawReplay(replay)}</div>`,
  }),
});

function drawReplay(replay: Replay): HtmlPart {
  const {
    sessions,
    prompts,
    failures,
    repeats,
    answered,
    answeredBefore,
    wrong,
    wrongPer100,
    savedCalls,
    savedMinutes,
  } = replay;
  if (sessions === 0)
    return renderEmpty(
      "There is no history to replay.",
      "Use an agent first: each session is one more to learn from.",
    );
  const right = replay.hits.filter(({ occasion }) => occasion !== "correction");
  const known = replay.hits.filter(({ occasion }) => occasion === "correction");
  const useless = replay.wrongs.filter(({ verdict }) => verdict === "useless");
  return html`<ul class="tiles">${(
    [
      [
        repeats,
        "repeats",
        `of ${several(failures, "failure")} in ${several(sessions, "session")}: met and solved in an earlier one`,
        "#right",
      ],
      [answered, "answered right", `${formatNumber(answeredBefore)} of them before the call`, "#right"],
      [repeats - answered, "not answered", "solved before, and nothing to tell", "#unanswered"],
      [useless.length, "useless", "shown, and it did not help", "#useless"],
      [
        wrong - useless.length,
        "wrong",
        `${wrongPer100} useless or wrong per 100 of ${several(prompts, "prompt")}`,
        "#wrong",
      ],
      [savedCalls, "calls saved", `about ${Math.round(savedMinutes)} min`, "#right"],
    ] as const
  ).map(
    ([figure, name, says, to]) =>
      html`<li>${figure > 0 ? html`<a class="whole" href="${to}">${drawFigure(figure, name)}</a>` : html`<div class="whole">${drawFigure(figure, name)}</div>`}<span class="says">${says}</span></li>`,
  )}</ul>
${drawCourse({ ...replay, hits: right })}
${drawAnswers(
  "right",
  "Answered right",
  right.map((hit) => ({
    ...hit,
    tag: "right",
    tone: "good" as const,
    after: hit.solvedBy ?? "nothing helped in that session",
  })),
)}
${drawAnswers(
  "useless",
  "Useless",
  useless.map((one) => ({ ...one, tag: "useless", tone: "warm" as const, after: one.because })),
)}
${drawAnswers(
  "wrong",
  "Wrong",
  replay.wrongs
    .filter(({ verdict }) => verdict === "wrong")
    .map((one) => ({ ...one, tag: "wrong", tone: "bad" as const, after: one.because })),
)}
${drawAnswers(
  "unanswered",
  "Solved before, and no answer",
  replay.unanswered.map((one) => ({
    ...one,
    lesson: "",
    tag: "no answer",
    tone: "plain" as const,
    after: "",
  })),
)}
${drawAnswers(
  "known",
  "You said it again, and Knack knew it",
  known.map((hit) => ({ ...hit, tag: "known", tone: "good" as const, after: "" })),
)}`;
}

function drawFigure(figure: number, name: string): HtmlPart {
  return html`<span class="figure">${formatNumber(figure)}</span> <span class="name">${name}</span>`;
}

const dayMs = 86_400_000;
/** Bars of the chart, at most. */
const mostBars = 26;

/** What would have happened by week, or by longer times where there are many. */
function drawCourse({ hits, wrongs, unanswered }: Replay): HtmlPart {
  const times = [...hits, ...wrongs, ...unanswered].flatMap(({ at }) => (at === null ? [] : Date.parse(at)));
  if (times.length === 0) return null;
  const from = Math.min(...times);
  const days = Math.max(1, Math.ceil((Math.max(...times) - from + 1) / dayMs));
  const step = Math.max(1, days <= 14 ? 1 : 7 * Math.ceil(days / 7 / mostBars)) * dayMs;
  const bars = Math.floor((Math.max(...times) - from) / step) + 1;
  const count = (some: readonly { readonly at: string | null }[]) => {
    const values = Array.from({ length: bars }, () => 0);
    for (const { at } of some) {
      const bar = at === null ? -1 : Math.floor((Date.parse(at) - from) / step);
      if (bar >= 0) values[bar] = (values[bar] ?? 0) + 1;
    }
    return values;
  };
  return drawBars({
    title: step === dayMs ? "By day" : step === 7 * dayMs ? "By week" : `By ${step / dayMs / 7} weeks`,
    of: "From",
    labels: Array.from({ length: bars }, (_, bar) => new Date(from + bar * step).toISOString().slice(0, 10)),
    series: [
      { name: "answered right", look: "strong", values: count(hits) },
      { name: "met before, no answer", look: "plain", values: count(unanswered) },
      { name: "useless or wrong", look: "bad", values: count(wrongs) },
    ],
  });
}

interface Answer {
  readonly session: string;
  readonly at: string | null;
  readonly key: string;
  readonly met: string;
  readonly error: string | null;
  readonly lesson: string;
  readonly tag: string;
  readonly tone: "plain" | "good" | "bad" | "warm";
  readonly after: string;
}

const mostAnswers = 200;

function drawAnswers(id: string, title: string, answers: readonly Answer[]): HtmlPart {
  if (answers.length === 0) return null;
  return html`<details class="answers" id="${id}"${answers.length <= 10 && html` open`}><summary><h2>${title} <span class="faint">${formatNumber(answers.length)}</span></h2></summary>${answers.length > mostAnswers && html`<p class="faint">The first ${formatNumber(mostAnswers)} of them.</p>`}<ol class="chain">${answers
    .slice(0, mostAnswers)
    .map(
      ({ session, at, key, met, error, lesson, tag, tone, after }) =>
        html`<li><p class="eyebrow">${renderTag(tag, tone)} ${at?.slice(0, 10)} ${linkSession(session, undefined, html`${lastPart(session)}, line ${key}`)}</p><div class="steps"><div class="step failed"><span class="label">Met</span><pre>${cutText(met, 300)}${error !== null && `\n${cutText(error, 300)}`}</pre></div>${lesson !== "" && html`<div class="step"><span class="label">Knack</span><pre>${cutText(lesson, 300)}</pre></div>`}${after !== "" && html`<div class="step worked"><span class="label">Then</span><pre>${cutText(after, 300)}</pre></div>`}</div></li>`,
    )}</ol></details>`;
}
