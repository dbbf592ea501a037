import { formatUsd } from "../../models/index.ts";
import { several } from "../../text/index.ts";
import { html, url } from "../html.ts";
import { definePage } from "../page.ts";
import { formatNumber, paginate, parseDays, renderDay, renderEmpty, renderTag } from "../parts.ts";

/** Knack's own calls of models in some days, the newest first. */
export const spentPage = definePage({
  path: "/spent",
  read: async ({ knack, now, query }) => {
    const days = parseDays(query("days"));
    return { days, calls: [...(await knack.modelCalls(now - days * 86_400_000))].reverse() };
  },
  draw: ({ days, calls }, { query }) => {
    const { shown, pager } = paginate(calls, query("page"), "/spent", { days: String(days) });
    const usd = calls.reduce((sum, { data }) => sum + data.usd, 0);
    return {
      title: "What Knack spent",
      body: html`<h1>What Knack spent</h1>
<p class="why">In the last ${several(days, "day")}: ${usd > 0 ? formatUsd(usd) : "$0"} for ${several(calls.length, "model call")}. <a href="${url("/told", { days })}">What agents were told</a> costs room in their context.</p>
${
  shown.length === 0
    ? renderEmpty(
        "No model was called.",
        "Judging sessions, writing skills and reviews ask a model where you allow it. Each call is listed here with its price.",
      )
    : html`<div class="scroll" tabindex="0"><table class="wide"><thead><tr><th scope="col">Day</th><th scope="col">For</th><th scope="col">Model</th><th scope="col" class="number">Tokens in</th><th scope="col" class="number">Tokens out</th><th scope="col" class="number">Price</th><th scope="col">Result</th></tr></thead><tbody>${shown.map(
        ({ at, data: { purpose, model, inputTokens, outputTokens, usd: price, estimated, ok, because } }) =>
          html`<tr><td>${renderDay(at)}</td><td>${purpose}</td><td>${model}</td><td class="number">${formatNumber(inputTokens)}</td><td class="number">${formatNumber(outputTokens)}</td><td class="number">${estimated && "about "}${formatUsd(price)}</td><td>${renderTag(ok ? "answered" : "failed", ok ? "good" : "bad")} ${because}</td></tr>`,
      )}</tbody></table></div>${pager}`
}`,
    };
  },
});
