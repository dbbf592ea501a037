import type { Knack } from "../../open.ts";
import { type BenefitReport, describeCure } from "../../recall/index.ts";
import type { Item } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { readReport, readWeek } from "../evidence.ts";
import { exact, type Html, type HtmlPart, html, url } from "../html.ts";
import { type Desk, definePage } from "../page.ts";
import {
  cutText,
  formatNumber,
  lastPart,
  linkLesson,
  paginate,
  parseDays,
  renderChoice,
  renderCommand,
  renderCount,
  renderEmpty,
  renderProse,
  renderTable,
  renderTag,
} from "../parts.ts";

type Found = Awaited<ReturnType<Knack["find"]>>[number];
type Match = Awaited<ReturnType<Knack["recall"]>>["matches"][number];

interface Library {
  readonly items: readonly Item[];
  readonly problems: Awaited<ReturnType<Knack["catalog"]>>["problems"];
  readonly rules: Awaited<ReturnType<Knack["shelf"]>>;
  readonly report: BenefitReport;
  readonly asked: string;
  /** The project in which an agent would be asked, and the others: what it is told depends on where it works. */
  readonly where: string;
  readonly projects: readonly { readonly id: string; readonly name: string; readonly root: string | null }[];
  /** The names of the skills that agents and reviews wrote in some days; null where that is not asked. */
  readonly written: { readonly days: number; readonly names: readonly string[] } | null;
  readonly found: readonly Found[];
  readonly matches: readonly Match[];
  readonly nameProject: (id: string) => string;
}

const kinds = [
  ["", "All"],
  ["skill", "Skills"],
  ["rule", "Rules"],
  ["command", "Commands"],
  ["agent", "Agents"],
] as const;

/** Everything that all agents can be given, read once for as long as nothing changes. */
export function readCatalog(knack: Knack, desk: Desk): ReturnType<Knack["catalog"]> {
  return desk.once("catalog", () => knack.catalog({ cwd: process.cwd() }));
}

export type ItemCredit = BenefitReport["items"][number];

const noCredit = { shown: 0, used: 0, helpful: 0, harmful: 0, saved: 0, characters: 0 };

/** What came of an item; what was made of a lesson counts for that lesson. */
export function findCredit(
  { items }: BenefitReport,
  { id, source }: Pick<Item, "id" | "source">,
): ItemCredit | undefined {
  return items.find((one) => one.id === id || one.id === source);
}

/** What came of something, as facts about it; `#shown` is where that is listed. */
export function describeCredit(credit: ItemCredit | undefined): [term: string, is: HtmlPart][] {
  if (!credit) return [];
  const { shown, characters, used, helpful, harmful, saved } = credit;
  return [
    [
      "Shown",
      html`<a href="#shown">in ${several(shown, "session")}</a>, ${several(characters, "character")}`,
    ],
    ["Used", `in ${several(used, "session")}`],
    ["Worth", html`<a href="#shown">helpful ${helpful}, harmful ${harmful}, saved ${saved}</a>`],
  ];
}

export const libraryPage = definePage<Library>({
  path: "/library",
  read: async ({ knack, desk, now, query }) => {
    const days = parseDays(query("written"));
    const written =
      query("written") === "" ? null : { days, names: (await readWeek(knack, desk, now, days)).skills };
    const asked = query("q").trim().slice(0, 2_000);
    const { items, problems } = await readCatalog(knack, desk);
    const projects = [...(await knack.projects())].sort((a, b) => b.lastAt - a.lastAt);
    const names = new Map(projects.map(({ id, name }) => [id, name]));
    const here = await knack.projectOf(process.cwd());
    const isOf = (wanted: string) => projects.find(({ id, root }) => id === wanted && root !== null);
    const where = isOf(query("in")) ?? isOf(here) ?? projects.find(({ root }) => root !== null);
    const cwd = where?.root ?? undefined;
    return {
      ...{ items, problems, asked, where: where?.id ?? "", projects, written },
      rules: (await knack.shelf()).filter(({ kind, reach }) => kind === "rule" && reach !== "draft"),
      report: await readReport(knack, desk),
      found: asked === "" ? [] : await knack.find(asked, cwd),
      matches: asked === "" ? [] : (await knack.recall(asked, cwd)).matches,
      nameProject: (id) => (id === "user" ? "all your work" : (names.get(id) ?? lastPart(id))),
    };
  },
  draw: (model, { desk, query }) => ({
    title: model.asked === "" ? "Library" : `Search: ${cutText(model.asked, 40)}`,
    body: model.asked === "" ? drawLibrary(model, query("kind"), query("page"), desk) : drawFound(model),
  }),
});

function drawLibrary(
  { items, problems, rules, report, nameProject, where, projects, written }: Library,
  kind: string,
  page: string,
  desk: Desk,
): Html {
  const { isExport } = desk;
  const rows = [
    ...items.map((item) => ({ ...item, credit: findCredit(report, item), to: `/library/${item.id}` })),
    ...rules.map(({ name, text, origin, askedIn }) => ({
      ...{ name, description: text ?? "", kind: "rule" as const, owner: "knack" as const, path: "" },
      ...{ scopeId: askedIn ?? "user", credit: findCredit(report, { id: origin.id, source: null }) },
      to: `/lessons/${origin.id}`,
    })),
  ].sort((a, b) => (b.credit?.shown ?? 0) - (a.credit?.shown ?? 0) || (a.name < b.name ? -1 : 1));
  const wanted = rows.filter(
    (row) => (kind === "" || row.kind === kind) && (written === null || written.names.includes(row.name)),
  );
  const { shown, pager } = paginate(wanted, page, "/library", { kind });
  const broken = new Map(problems.map((one) => [one.path, one]));
  const count = (of: string) => (of === "" ? rows.length : rows.filter((row) => row.kind === of).length);
  return html`<div class="head"><h1>Library</h1>${
    rows.length > 0 &&
    renderChoice(
      "What kind",
      kinds
        .filter(([of]) => of === "" || count(of) > 0)
        .map(
          ([of, name]) =>
            [`${name} ${formatNumber(count(of))}`, url("/library", { kind: of }), of === kind] as const,
        ),
    )
  }</div>
<p class="why">${
    written === null
      ? "Everything your agents can be given: what it is for, how often Knack showed it and agents used it, in sessions, and what came of that."
      : html`${several(written.names.length, "skill")} that agents and reviews wrote or changed in the last ${several(written.days, "day")}, as far as they are still there. <a href="/library">Everything</a>`
  }</p>
${!isExport && drawSearch({ asked: "", where, projects })}
${
  shown.length === 0
    ? renderEmpty(
        "Your agents have no skills, rules, commands or agents yet.",
        html`What you keep of what sessions teach is listed here, beside everything your agents have already: how often it was shown, used, and what it was worth. ${renderCommand(desk, "learn")} finds lessons.`,
      )
    : html`${renderTable(
        "Library",
        [
          ...[["Name", "main"] as const, ["For"] as const],
          ...["Shown", "Used", "Helpful", "Harmful", "Saved", "Characters"].map(
            (head) => [head, "number"] as const,
          ),
          ["Health", "short"],
        ],
        shown.map((row) => {
          const { shown: times, used, helpful, harmful, saved, characters } = row.credit ?? noCredit;
          const problem = broken.get(row.path);
          return [
            html`<a href="${url(row.to)}"><b>${row.name}</b></a> ${renderTag(row.kind)} ${row.owner !== "knack" && html`<span class="faint">${row.owner}</span>`}<br><span class="faint">${cutText(row.description, 150)}</span>`,
            cutText(nameProject(row.scopeId), 24),
            ...[times, used, helpful, harmful, saved, characters].map((value) =>
              renderCount(value, html`${url(row.to)}#shown`),
            ),
            problem
              ? html`<span title="${problem.message}">${renderTag(problem.severity, problem.severity === "error" ? "bad" : "warm")}</span>`
              : renderTag("fine", "good"),
          ];
        }),
      )}${pager}`
}
${drawProblems(problems)}`;
}

export function drawProblems(problems: Library["problems"]): HtmlPart {
  if (problems.length === 0) return null;
  return html`<h2>Problems</h2><ul class="rows">${problems
    .slice(0, 50)
    .map(
      ({ path, severity, message, hint }) =>
        html`<li>${renderTag(severity, severity === "error" ? "bad" : "warm")} <code>${path}</code><br>${message} <span class="faint">${hint}</span></li>`,
    )}</ul>`;
}

/** Projects that are offered to search in. */
const mostProjects = 50;

function drawSearch({ asked, where, projects }: Pick<Library, "asked" | "where" | "projects">): Html {
  const known = projects.filter(({ root }) => root !== null).slice(0, mostProjects);
  const choice =
    known.length > 1 &&
    html`<label class="hidden" for="in">In which project</label><select id="in" name="in">${known.map(
      ({ id, name }) =>
        html`<option value="${exact(id)}"${id === where && html` selected`}>in ${cutText(name, 40)}</option>`,
    )}</select>`;
  return html`<form class="search" action="/library" role="search"><label for="asked">What would Knack tell an agent? Give a prompt, or the words of a failure</label><div><input id="asked" name="q" type="search" value="${asked}" placeholder="npm test fails">${choice}<button>Search</button></div></form>`;
}

/** What the hook would find for these words, and why. */
function drawFound({ asked, where, projects, found, matches }: Library): Html {
  return html`<h1>Search</h1>
<p class="why">What Knack would put before an agent that is asked this, or that meets this failure, and why.</p>
${drawSearch({ asked, where, projects })}
${
  found.length + matches.length === 0
    ? renderEmpty(
        "Nothing known about this.",
        "An agent that is asked this, or meets this, is told nothing by Knack.",
      )
    : html`<p class="why">${several(matches.length, "lesson")} and ${several(found.length, "thing")} of the library, as the hook finds them.</p>`
}
<ol class="chain">${matches.map(
    ({ best, lesson, score, from }) =>
      html`<li><p class="eyebrow">lesson ${Math.round(score * 100)} % sure ${linkLesson(lesson.id, lesson.name)}</p><p class="lead">${renderProse(best.finding.lesson)}</p><p class="faint">Found in ${several(from.length, "place")}; ${renderProse(describeCure(best.finding, lesson.state.acceptedAt !== undefined))}</p></li>`,
  )}${found.map(
    ({ card, how, chance, why }) =>
      html`<li><p class="eyebrow">${card.draft ? "draft " : ""}${card.kind} ${Math.round(chance * 100)} % sure; ${how === "load" ? "an agent would be given all of it" : "an agent would be told its name"}</p><p class="lead">${card.name}</p><p>${cutText(card.description, 400)}</p><p class="faint">Why: ${cutText(why, 300)}</p></li>`,
  )}</ol>`;
}
