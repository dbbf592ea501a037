import { KnackError } from "../../base/index.ts";
import type { RunView } from "../../loop/index.ts";
import { formatUsd } from "../../models/index.ts";
import { several } from "../../text/index.ts";
import { type HtmlPart, html } from "../html.ts";
import { definePage } from "../page.ts";
import { cutText, renderCommand, renderDay, renderFacts, renderTag } from "../parts.ts";

/** The phases in their order, by the names that people read. */
const phaseNames = {
  orient: "Orient",
  strategize: "Strategize",
  plan: "Plan",
  execute: "Execute",
  debrief: "Debrief",
  improve: "Improve",
  "memory-consolidation": "Consolidate",
} as const;

/** One run of the learning loop; its phases are shown as they end. */
export const runPage = definePage<RunView>({
  path: "/runs/:id",
  read: async ({ knack, id }) => {
    try {
      return await (await knack.loop()).show(id);
    } catch (error) {
      if (error instanceof KnackError && error.code === "UNKNOWN_NAME") return null;
      throw error;
    }
  },
  draw: ({ begun, state, usd, msLeft }, { desk }) => ({
    title: `Run ${begun.run}`,
    body: html`<p class="eyebrow">${renderTag(begun.mode)} ${cutText(begun.harness, 60)} ${renderDay(state.setup.startedAt)}</p>
<h1>${begun.goal}</h1><div data-live="run">
<ol class="phases">${Object.entries(phaseNames).map(([phase, name]) => drawPhase(phase, name, state))}</ol>
${renderFacts([
  ["State", drawPlace(state)],
  ["Cost", `${formatUsd(usd)} of ${formatUsd(begun.usd)}`],
  ["Time left", msLeft !== null && several(Math.round(msLeft / 60_000), "minute")],
  ["Branch", begun.branch && html`<code>${begun.branch.name}</code>`],
  ["Work folder", html`<code>${desk.shorten(begun.work)}</code>`],
])}
${drawCriteria(state)}${drawImproved(state)}</div>
${state.place.kind !== "ended" && html`<p class="faint">It goes on in its terminal; if that was closed: ${renderCommand(desk, `loop resume ${begun.run}`)}</p>`}`,
  }),
});

function drawPhase(phase: string, name: string, { log, place }: RunView["state"]): HtmlPart {
  const line = log.findLast((one) => one.phase === phase);
  const isAt =
    line === undefined &&
    place.kind !== "ended" &&
    (place.kind === phase || (place.kind === "consolidate" && phase === "memory-consolidation"));
  const status = line?.status ?? (isAt ? "working" : "waiting");
  return html`<li class="${status}"><b>${name}</b> <span class="faint">${status}</span>${line && html`<p>${cutText(line.summary, 300)}</p>`}</li>`;
}

function drawPlace({ place }: RunView["state"]): HtmlPart {
  return place.kind === "ended"
    ? html`${renderTag(place.end, place.end === "completed" ? "good" : "warm")} ${place.because}`
    : place.kind;
}

function drawCriteria({ execution }: RunView["state"]): HtmlPart {
  const criteria = execution?.criteria ?? [];
  if (criteria.length === 0) return null;
  return html`<h2>Success criteria</h2><ul class="rows">${criteria.map((one) => html`<li>${renderTag(one.met ? "met" : "not met", one.met ? "good" : "bad")} ${one.id} <span class="faint">${one.because}</span></li>`)}</ul>`;
}

/** What the run changed of what the next one begins with. */
function drawImproved({ improved, curated }: RunView["state"]): HtmlPart {
  const promoted = improved?.promotions ?? [];
  const rejected = improved?.rejected ?? [];
  const reverted = curated?.reverted ?? [];
  if (promoted.length + rejected.length + reverted.length === 0) return null;
  return html`<h2>What the next run begins with</h2><ul class="rows">${promoted.map(({ summary, target, after }) => html`<li>${renderTag("adopted", "good")} ${summary} <span class="faint">${target} <code>${after.slice(0, 9)}</code></span></li>`)}${rejected.map(({ recommendation, reason }) => html`<li>${renderTag("not adopted", "plain")} ${recommendation} <span class="faint">${reason}</span></li>`)}${reverted.map(({ sha, reason }) => html`<li>${renderTag("reverted", "warm")} <code>${sha.slice(0, 9)}</code> ${reason}</li>`)}</ul>`;
}
