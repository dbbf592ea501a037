import { formatUsd } from "../../models/index.ts";
import { several } from "../../text/index.ts";
import { html, url } from "../html.ts";
import { definePage } from "../page.ts";
import {
  formatNumber,
  paginate,
  parseDays,
  renderDay,
  renderEmpty,
  renderTable,
  renderTag,
} from "../parts.ts";

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
    : html`${renderTable(
        "Calls of models",
        [
          ["Day", "short"],
          ["For", "main"],
          ["Model", "short"],
          ["Tokens in", "number"],
          ["Tokens out", "number"],
          ["Price", "number"],
          ["Result"],
        ],
        shown.map(
          ({
            at,
            data: { purpose, model, inputTokens, outputTokens, usd: price, estimated, ok, because },
          }) => [
            ...[renderDay(at), purpose, model, formatNumber(inputTokens), formatNumber(outputTokens)],
            `${estimated ? "about " : ""}${formatUsd(price)}`,
            html`${renderTag(ok ? "answered" : "failed", ok ? "good" : "bad")} ${because}`,
          ],
        ),
      )}${pager}`
}`,
    };
  },
});
