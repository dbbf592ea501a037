import type { Knack } from "../../open.ts";
import type { Goal, GoalBrief } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { type HtmlPart, html, url } from "../html.ts";
import { definePage } from "../page.ts";
import {
  cutText,
  formatNumber,
  lastPart,
  linkSession,
  paginate,
  renderCommand,
  renderDay,
  renderEmpty,
  renderTag,
} from "../parts.ts";

type RunRow = Awaited<ReturnType<Awaited<ReturnType<Knack["loop"]>>["list"]>>[number];

/** One page of a list of goals. */
interface GoalList {
  readonly count: number;
  readonly shown: readonly GoalBrief[];
  readonly pager: HtmlPart;
}

interface Goals {
  readonly open: GoalList;
  readonly closed: GoalList;
  readonly owing: readonly Goal[];
  /** The sessions of the goals that are shown. */
  readonly sessions: ReadonlyMap<string, string>;
  readonly runs: readonly RunRow[];
  readonly nameProject: (id: string) => string;
}

export const goalsPage = definePage<Goals>({
  path: "/goals",
  read: async ({ knack, query }) => {
    const briefs = await knack.goalBriefs();
    const names = new Map((await knack.projects()).map(({ id, name }) => [id, name]));
    const list = (goals: readonly GoalBrief[], page: string): GoalList => {
      return { count: goals.length, ...paginate(goals, query(page), "/goals", {}, page) };
    };
    const open = list(briefs.filter(({ closedAt }) => closedAt === null).reverse(), "open");
    const closed = list(briefs.filter(({ closedAt }) => closedAt !== null).reverse(), "page");
    const owing = new Set(briefs.flatMap(({ id, openDebts }) => (openDebts > 0 ? id : [])));
    // A goal in short does not name its session: whoever reads thousands of them has no use for it.
    const whole = await knack.goalsById([
      ...new Set([...owing, ...[...open.shown, ...closed.shown].map(({ id }) => id)]),
    ]);
    return {
      ...{ open, closed, owing: whole.filter(({ id }) => owing.has(id)) },
      sessions: new Map(whole.flatMap(({ id, session }) => (session === null ? [] : [[id, session]]))),
      runs: await (await knack.loop()).list(null),
      nameProject: (id) => names.get(id) ?? lastPart(id),
    };
  },
  draw: (model, { desk, now, query }) => ({
    title: "Goals",
    body: html`<h1>Goals and loops</h1><div data-live="goals">
${drawRuns(model.runs, query("runs"))}
<h2>Open goals <span class="faint">${formatNumber(model.open.count)}</span></h2>
${
  model.open.count === 0
    ? renderEmpty(
        "No goal is open.",
        html`A goal is one thing worked on: it ends with a recorded lesson, or a reason. ${renderCommand(desk, 'goal open "…"')} opens one; ${renderCommand(desk, "config set duties say")} has Knack find them in your sessions.`,
      )
    : drawList(model.open, model, now)
}
${drawDebts(model)}
${model.closed.count > 0 && html`<h2>Closed <span class="faint">${formatNumber(model.closed.count)}</span></h2>${drawList(model.closed, model, now)}`}</div>`,
  }),
});

function drawList({ shown, pager }: GoalList, model: Goals, now: number): HtmlPart {
  return html`<ul class="rows">${shown.map((goal) => drawGoal(goal, model, now))}</ul>${pager}`;
}

function drawGoal(
  { id, text, project, openedAt, outcome, claim, openDebts, category }: GoalBrief,
  { nameProject, sessions }: Goals,
  now: number,
): HtmlPart {
  const session = sessions.get(id);
  return html`<li>${cutText(text, 200)} ${outcome !== null && renderTag(outcome, outcome === "done" ? "good" : outcome === "failed" ? "bad" : "plain")} ${claim !== null && claim.until > now && renderTag(`taken by ${claim.who}`)} ${openDebts > 0 && html`<a href="#${id}">${renderTag(`owes ${several(openDebts, "lesson")}`, "warm")}</a>`}<span class="meta">${nameProject(project)} <span>${category}</span> ${renderDay(openedAt)} ${session !== undefined && linkSession(session, undefined, "its session")} <code>${id}</code></span></li>`;
}

function drawDebts({ owing }: Goals): HtmlPart {
  const debts = owing.flatMap(({ id, text, debts: all }) =>
    all.flatMap((debt) => (debt.settled ? [] : { ...debt, id, text })),
  );
  if (debts.length === 0) return null;
  return html`<h2>Owed <span class="faint">${debts.length}</span></h2><ul class="rows">${debts.map(
    ({ id, text, reason, priority, at }) =>
      html`<li id="${id}">${cutText(text, 160)} ${renderTag(reason, "warm")}<span class="meta"><span>priority ${priority}</span> ${renderDay(at)} <code>${id}</code></span></li>`,
  )}</ul>`;
}

function drawRuns(runs: readonly RunRow[], page: string): HtmlPart {
  if (runs.length === 0) return null;
  const { shown, pager } = paginate(runs, page, "/goals", {}, "runs");
  return html`<h2>Loop runs <span class="faint">${formatNumber(runs.length)}</span></h2><ul class="rows">${shown.map(
    ({ begun, at, ended }) =>
      html`<li><a href="${url(`/runs/${begun.run}`)}">${cutText(begun.goal, 160)}</a> ${ended ? renderTag(ended.end, ended.end === "completed" ? "good" : "warm") : renderTag("running or stopped", "plain")}<span class="meta">${renderDay(at)} <code>${begun.run}</code> ${ended?.score != null && html`<span>score ${ended.score.toFixed(2)}</span>`}</span></li>`,
  )}</ul>${pager}`;
}
