import { several } from "../../text/index.ts";
import type { SessionView } from "../../transcripts/index.ts";
import { html, url } from "../html.ts";
import { definePage } from "../page.ts";
import {
  cutText,
  formatNumber,
  lastPart,
  linkSession,
  paginate,
  renderChoice,
  renderCommand,
  renderDay,
  renderEmpty,
  renderTag,
} from "../parts.ts";

/** Projects that are offered by name. */
const mostProjects = 6;

interface Sessions {
  readonly sessions: readonly SessionView[];
  readonly all: readonly SessionView[];
}

export const sessionsPage = definePage<Sessions>({
  path: "/sessions",
  read: async ({ knack, desk, query }) => {
    const all = await desk.once("sessions", () => knack.knownSessions());
    const project = query("project");
    return { all, sessions: project === "" ? all : all.filter((one) => one.project.id === project) };
  },
  draw: ({ sessions, all }, { desk, query }) => {
    const project = query("project");
    const { shown, pager } = paginate(sessions, query("page"), "/sessions", { project });
    const counts = new Map<string, number>();
    for (const one of all) counts.set(one.project.id, (counts.get(one.project.id) ?? 0) + 1);
    const projects = [...counts].sort(([, a], [, b]) => b - a).slice(0, mostProjects);
    const name = (id: string) => all.find((one) => one.project.id === id)?.project.name ?? id;
    return {
      title: "Sessions",
      body: html`<div class="head"><h1>Sessions</h1>${
        projects.length > 1 &&
        renderChoice("Of which project", [
          ["All", url("/sessions"), project === ""],
          ...projects.map(
            ([id, count]) =>
              [
                `${cutText(name(id), 24)} ${formatNumber(count)}`,
                url("/sessions", { project: id }),
                id === project,
              ] as const,
          ),
        ])
      }</div>
${
  shown.length === 0
    ? renderEmpty(
        "No sessions were read yet.",
        html`What your agents did, call by call: ${renderCommand(desk, "learn")} reads it.`,
      )
    : html`<div class="scroll" tabindex="0"><table class="wide"><thead><tr><th scope="col">Begun</th><th scope="col">Session</th><th scope="col">Project</th><th scope="col">Agent</th><th scope="col" class="number">Prompts</th><th scope="col" class="number">Calls</th><th scope="col" class="number">Failed</th><th scope="col" class="number">Rejected</th></tr></thead>
<tbody>${shown.map(
        ({
          id,
          startedAt,
          sessionId,
          project: own,
          format,
          subagent,
          counts: { prompts, calls, failed, rejected },
        }) =>
          html`<tr><td>${renderDay(startedAt)}</td><td>${linkSession(id, undefined, html`<code>${(sessionId ?? lastPart(id)).slice(0, 13)}</code>`)}${subagent && html` ${renderTag("subagent")}`}</td><td>${cutText(own.name, 28)}</td><td>${format}</td><td class="number">${formatNumber(prompts)}</td><td class="number">${formatNumber(calls)}</td><td class="number ${failed > 0 && "down"}">${formatNumber(failed)}</td><td class="number">${formatNumber(rejected)}</td></tr>`,
      )}</tbody></table></div>${pager}<p class="faint">${several(sessions.length, "session")}${project !== "" && " of this project"}.</p>`
}`,
    };
  },
});
