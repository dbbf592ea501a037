import { groupBy } from "../../base/index.ts";
import { type HtmlPart, html } from "../html.ts";
import { renderForm } from "../layout.ts";
import { type Desk, definePage, type HealthPort } from "../page.ts";
import { renderCommand, renderProse, renderTag } from "../parts.ts";

type Checks = Awaited<ReturnType<HealthPort["look"]>>["checks"];

/** The frame comes at once; the checks start programs, which takes a moment. */
export const healthPage = definePage({
  path: "/health",
  read: async () => true,
  draw: (_, { desk }) => ({
    title: "Health",
    body: html`<h1>Health</h1>
<p class="lead">Every link from the hook to the answer, as ${renderCommand(desk, "doctor")} checks it.</p>
<div data-load="/health/checks" aria-busy="true"><p class="wait">Checking. <a href="/health/checks">Wait for it here</a></p></div>`,
  }),
});

interface Health {
  readonly checks: Checks;
  readonly planned: readonly string[];
}

export const healthChecksPage = definePage<Health>({
  path: "/health/checks",
  read: ({ desk }) => desk.health.look(),
  draw: ({ checks, planned }, { desk }) => {
    const wrong = checks.filter(({ ok }) => !ok);
    const rest = checks.filter(({ ok }) => ok);
    return {
      title: "Health",
      body: html`<h1>Health</h1><div data-part>${
        wrong.length === 0
          ? html`<p class="good-news">Nothing is wrong.</p>`
          : html`<h2>Wrong <span class="faint">${wrong.length}</span></h2>${drawChecks(wrong)}`
      }${drawRepairs(planned, desk)}<h2>${wrong.length === 0 ? "What was checked" : "Right"}</h2>${drawChecks(rest)}</div>`,
    };
  },
});

function drawRepairs(planned: readonly string[], desk: Desk): HtmlPart {
  if (planned.length === 0) return null;
  return html`<h2>What can be repaired</h2><ul class="rows">${planned.map((what) => html`<li>${what}</li>`)}</ul>
<div class="decide plain">${renderForm(desk, { do: "repair", back: "/health" }, html`<button class="yes">Repair</button>`)}</div>`;
}

function drawChecks(checks: Checks): HtmlPart {
  // What is off for one reason is one row.
  const rows = groupBy(checks, ({ name, ok, says, repair }) => (ok && repair !== null ? says : name));
  return html`<ul class="checks">${[...rows.values()].map(
    ([{ name, ok, says, repair }, ...others]) =>
      html`<li>${ok ? (repair === null ? renderTag("ok", "good") : renderTag("off")) : renderTag("wrong", "bad")}<b>${[name, ...others.map((one) => one.name)].join(", ")}</b><span>${says}${repair !== null && html`<br><span class="faint">${ok ? "To have it" : "Repair"}: ${renderProse(repair.includes("`") ? repair : `\`${repair}\``)}</span>`}</span></li>`,
  )}</ul>`;
}
