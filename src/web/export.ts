import { readFileSync } from "node:fs";
import { applyDecay } from "../lessons/index.ts";
import type { Knack } from "../open.ts";
import type { Lesson } from "../records/index.ts";
import { several } from "../text/index.ts";
import { describeFinding } from "./evidence.ts";
import { Html, type HtmlPart, html } from "./html.ts";
import type { Desk, Visit } from "./page.ts";
import { homePage } from "./pages/home.ts";
import { statusWords } from "./pages/lessons.ts";
import { libraryPage } from "./pages/library.ts";
import { lastPart, renderProse, renderSpan, renderSure, renderTag } from "./parts.ts";

interface ExportOptions {
  readonly knack: Knack;
  readonly now: number;
  readonly command: string;
  readonly shorten: (path: string) => string;
  /** The folder with the stylesheet. */
  readonly assets: URL;
  /** Whether the words of transcripts are in it: calls, their errors, what was said. */
  readonly withExcerpts: boolean;
}

/** Lessons that are in the file, at most. */
const mostLessons = 1_000;
const days = "28";

/** The main pages in one file that needs nothing else and leads nowhere. */
export async function renderExport(options: ExportOptions): Promise<string> {
  const { knack, now, assets, withExcerpts } = options;
  const { command, shorten } = options;
  const nothing = async () => {
    throw new Error("an exported page asks for nothing");
  };
  const desk: Desk = {
    ...{ command, shorten, readOnly: true, isExport: true, formSecret: "", once: (_, compute) => compute() },
    ...{ health: { look: nothing, repair: nothing }, replay: nothing },
  };
  const visit: Visit = { knack, desk, now, id: "", query: (name) => (name === "days" ? days : "") };
  const [home, library] = [await homePage.show(visit), await libraryPage.show({ ...visit, query: () => "" })];
  const names = new Map((await knack.projects()).map(({ id, name }) => [id, name]));
  const lessons = (await knack.lessons())
    .filter((lesson) => ["active", "promoted"].includes(applyDecay(lesson.state, now).status))
    .slice(0, mostLessons);
  const rows: HtmlPart[] = [];
  for (const lesson of lessons)
    rows.push(
      await drawLesson(lesson, names.get(lesson.project) ?? lastPart(lesson.project), {
        ...visit,
        withExcerpts,
      }),
    );
  const day = new Date(now).toISOString().slice(0, 10);
  const style = readFileSync(new URL("page.css", assets), "utf8");
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>What agents learned, ${day}</title><style>${new Html(style)}</style></head>
<body class="file"><main><p class="eyebrow">Knack, ${day}. ${withExcerpts ? "With excerpts of sessions." : "Without excerpts of sessions."}</p>
${home?.body}${library?.body}
<h1>Lessons <span class="faint">${lessons.length}</span></h1>
${lessons.length === 0 ? html`<p class="faint">No lesson is sure enough to use yet.</p>` : html`<ol class="chain">${rows}</ol>`}</main></body></html>
`;
  return dropLinks(page.markup);
}

async function drawLesson(
  lesson: Lesson,
  project: string,
  { knack, now, withExcerpts }: Visit & { readonly withExcerpts: boolean },
): Promise<Html> {
  const { status, confidence } = applyDecay(lesson.state, now);
  const [says, tone] = statusWords[status];
  const { sessions, firstAt, lastAt } = lesson.state;
  const findings = withExcerpts ? (await knack.findings(lesson)).slice(0, 3) : [];
  return html`<li><p class="eyebrow">${renderTag(says, tone)} ${renderSure(confidence)} ${lesson.scope === "user" ? "all work" : project}</p>
<p class="lead">${renderProse(lesson.lesson)}</p><p class="faint">Seen in ${several(sessions, "session")}, ${renderSpan(firstAt, lastAt)}</p>${findings.map((one) => describeFinding(one))}</li>`;
}

/** What leads to a page that is not in the file becomes plain text. Words of others cannot hold markup. */
function dropLinks(markup: string): string {
  return markup
    .replace(/<nav class="(?:choice|pager)"[\s\S]*?<\/nav>/g, "")
    .replace(/<a [^>]*>/g, "<span>")
    .replaceAll("</a>", "</span>");
}
