import { several } from "../../text/index.ts";
import { drawBars } from "../charts.ts";
import { type Html, type HtmlPart, html } from "../html.ts";
import { type Desk, definePage, type Replay, type ReplayMoment } from "../page.ts";
import {
  cutText,
  formatNumber,
  lastPart,
  linkSession,
  renderCommand,
  renderCount,
  renderEmpty,
  renderProse,
  renderTable,
  renderTag,
  type Tone,
  toEvents,
} from "../parts.ts";

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
  draw: (replay, { desk }) => ({
    title: "Backtest",
    body: html`<h1>Backtest</h1><div data-part>${drawReplay(replay, desk)}</div>`,
  }),
});

function drawReplay(replay: Replay, desk: Desk): HtmlPart {
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
  if (sessions === 0 || replay.examples)
    return renderEmpty(
      "There is no history to replay yet.",
      html`Use an agent first: each session is one more to learn from. Until then ${renderCommand(desk, "backtest")} replays the examples that Knack brings along.`,
    );
  const right = replay.hits.filter(({ occasion }) => occasion !== "correction");
  const known = replay.hits.filter(({ occasion }) => occasion === "correction");
  const useless = replay.wrongs.filter(({ verdict }) => verdict === "useless");
  const wrongs = replay.wrongs.filter(({ verdict }) => verdict === "wrong");
  const all = (count: number, noun: string) => html`<a href="#replayed">${several(count, noun)}</a>`;
  return html`<ul class="tiles">${(
    [
      [
        repeats,
        "repeats",
        html`of ${all(failures, "failure")} in ${all(sessions, "session")}: met and solved in an earlier one`,
        "#repeats",
      ],
      [answered, "answered right", `${formatNumber(answeredBefore)} of them before the call`, "#right"],
      [repeats - answered, "not answered", "solved before, and nothing to tell", "#unanswered"],
      [useless.length, "useless", "shown, and it did not help", "#useless"],
      [
        wrong - useless.length,
        "wrong",
        html`${wrongPer100} useless or wrong per 100 of ${all(prompts, "prompt")}`,
        "#wrong",
      ],
      [savedCalls, "calls saved", `about ${several(Math.round(savedMinutes), "minute")}`, "#right"],
    ] as const
  ).map(
    ([figure, name, says, to]) =>
      html`<li>${figure > 0 ? html`<a class="whole" href="${to}">${drawFigure(figure, name)}</a>` : html`<div class="whole">${drawFigure(figure, name)}</div>`}<span class="says">${says}</span></li>`,
  )}</ul>
${drawCourse({ ...replay, hits: right })}
<div id="repeats">${drawAnswers(
    "right",
    "Answered right",
    right.map((hit) => ({
      ...hit,
      tags: [
        ["right", "good"],
        hit.occasion !== "failure" && ["before the call", "plain"],
        hit.savedCalls > 0 && [`saved ${several(hit.savedCalls, "call")}`, "plain"],
      ],
      after: hit.solvedBy ?? "nothing helped in that session",
    })),
  )}${drawAnswers(
    "unanswered",
    "Solved before, and no answer",
    replay.unanswered.map((one) => ({ ...one, tags: [["no answer", "plain"]] })),
  )}</div>
${drawAnswers(
  "useless",
  "Useless",
  useless.map((one) => ({ ...one, tags: [["useless", "warm"]], after: one.because })),
)}
${drawAnswers(
  "wrong",
  "Wrong",
  wrongs.map((one) => ({ ...one, tags: [["wrong", "bad"]], after: one.because })),
)}
${drawAnswers(
  "known",
  "You said it again, and Knack knew it",
  known.map((hit) => ({ ...hit, tags: [["known", "good"]] })),
)}
${drawReplayed(replay)}`;
}

/** The sessions that were replayed, with what the figures count in each. */
function drawReplayed({ replayed }: Replay): HtmlPart {
  return html`<details class="answers" id="replayed"><summary><h2>Sessions replayed <span class="faint">${formatNumber(replayed.length)}</span></h2></summary>${drawFirst(replayed.length)}${renderTable(
    "Sessions replayed",
    [
      ["Session", "main"],
      ["Prompts", "number"],
      ["Failures", "number"],
    ],
    replayed
      .slice(0, mostAnswers)
      .map(({ session, prompts, failures }) => [
        linkSession(session, undefined, lastPart(session)),
        renderCount(prompts, toEvents(session, "prompts")),
        renderCount(failures, toEvents(session, "failed")),
      ]),
  )}</details>`;
}

function drawFirst(count: number): HtmlPart {
  return count > mostAnswers && html`<p class="faint">The first ${formatNumber(mostAnswers)} of them.</p>`;
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

interface Answer extends ReplayMoment {
  readonly tags: readonly (readonly [says: string, tone: Tone] | false)[];
  readonly lesson?: string;
  readonly learnedFrom?: { readonly session: string; readonly at: string | null };
  readonly after?: string;
}

const mostAnswers = 200;

function drawAnswers(id: string, title: string, answers: readonly Answer[]): HtmlPart {
  if (answers.length === 0) return null;
  return html`<details class="answers" id="${id}"${answers.length <= 10 && html` open`}><summary><h2>${title} <span class="faint">${formatNumber(answers.length)}</span></h2></summary>${drawFirst(answers.length)}<ol class="chain">${answers
    .slice(0, mostAnswers)
    .map((one) => html`<li>${drawAnswer(one)}</li>`)}</ol></details>`;
}

function drawAnswer({ tags, session, at, key, met, error, lesson, learnedFrom, after }: Answer): Html {
  const step = (kind: string, label: string, content: HtmlPart) =>
    html`<div class="step ${kind}"><span class="label">${label}</span><pre>${content}</pre></div>`;
  return html`<p class="eyebrow">${tags.map((tag) => tag && renderTag(...tag))} ${at?.slice(0, 10)} ${linkSession(session, undefined, html`${lastPart(session)}, line ${key}`)}</p><div class="steps">${step("failed", "Met", html`${cutText(met, 300)}${error !== null && `\n${cutText(error, 300)}`}`)}${lesson !== undefined && step("said", "Knack", renderProse(cutText(lesson, 300)))}${
    learnedFrom !== undefined &&
    step(
      "said",
      "Learned",
      html`${learnedFrom.at?.slice(0, 10)} in ${linkSession(learnedFrom.session, undefined, lastPart(learnedFrom.session))}`,
    )
  }${after !== undefined && step("worked", "Then", cutText(after, 300))}</div>`;
}
