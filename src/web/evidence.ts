import type { StoredFinding } from "../records/index.ts";
import { type HtmlPart, html } from "./html.ts";
import { lastPart, linkSession, renderDay } from "./parts.ts";

/** What a session showed: the call that failed, what it said and the call that worked, or a person's words. */
export function describeFinding({ finding, session, run, at }: StoredFinding): HtmlPart {
  const { failed, error, worked, said, replied } = finding.excerpt;
  const step = (kind: string, label: string, text: string | null) =>
    text !== null &&
    html`<div class="step ${kind}"><span class="label">${label}</span><pre>${text}</pre></div>`;
  return html`<p class="eyebrow">${renderDay(at)} · ${linkSession(session, finding.refs[0], html`session ${lastPart(run).slice(0, 13)}`)}</p>
<div class="steps">${step("said", "You said", said)}${step("failed", "Failed", failed)}${step("error", "It said", error)}${step("worked", "Worked", worked)}${step("replied", "The agent", replied)}</div>`;
}
