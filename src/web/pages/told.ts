import type { Telling } from "../../recall/index.ts";
import { several } from "../../text/index.ts";
import { drawTellings, findToldSessions, readTellings } from "../evidence.ts";
import { html, url } from "../html.ts";
import { definePage } from "../page.ts";
import {
  describeWhen,
  formatNumber,
  paginate,
  parseDays,
  readDays,
  renderChoice,
  renderEmpty,
} from "../parts.ts";

/** What can be looked at of what agents were told. */
const views = [
  ["", "Everything"],
  ["failure", "At a failure"],
  ["saved", "Came next and worked"],
] as const;

/** What agents were told in some days, the newest first. */
export const toldPage = definePage({
  path: "/told",
  read: async ({ knack, desk, now, query }) => {
    const days = parseDays(query("days"));
    const since = now - days * 86_400_000;
    const dated = readDays(query);
    const all = (await readTellings(knack, desk)).filter(
      ({ how, at }) =>
        how !== "withheld" && at >= since && (dated === null || (at >= dated.from && at < dated.to)),
    );
    const sessions = await findToldSessions(all, knack);
    return {
      when: describeWhen(days, dated),
      all,
      sessions,
      listed: { "": all, failure: all.filter(isAtFailure), saved: findSaved(all) },
    };
  },
  draw: ({ when, all, sessions, listed }, { query }) => {
    const asked = Object.fromEntries(["days", "from", "for"].map((name) => [name, query(name)]));
    const view = views.find(([key]) => key === query("what"))?.[0] ?? "";
    const { shown, pager } = paginate([...listed[view]].reverse(), query("page"), "/told", {
      ...asked,
      what: view,
    });
    const characters = all.reduce((sum, { text }) => sum + text.length, 0);
    return {
      title: "What agents were told",
      body: html`<div class="head"><h1>What agents were told</h1>${renderChoice(
        "Which of it",
        views.map(
          ([key, name]) =>
            [
              `${name} ${formatNumber(listed[key].length)}`,
              url("/told", { ...asked, what: key }),
              key === view,
            ] as const,
        ),
      )}</div>
<p class="why">${capitalize(when)}: ${formatNumber(characters)} characters in ${several(new Set(all.map(({ session }) => session)).size, "session")}.</p>
${
  shown.length === 0
    ? renderEmpty(
        "Nothing yet.",
        "When something fails, or is asked for, that a lesson or a skill is about, Knack puts it before the agent. What it put there, and what happened then, is listed here.",
      )
    : html`${drawTellings(shown, sessions)}${pager}`
}`,
    };
  },
});

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function isAtFailure({ how, occasion }: Telling): boolean {
  return how === "told" && occasion === "failure";
}

/** What was told at a failure, came next and worked: each once for a session. */
function findSaved(all: readonly Telling[]): Telling[] {
  const worked = all.filter(
    (one) => isAtFailure(one) && one.outcome?.verdict === "helpful" && !one.outcome.byPerson,
  );
  return [...new Map(worked.map((one) => [`${one.session} ${one.id}`, one])).values()];
}
