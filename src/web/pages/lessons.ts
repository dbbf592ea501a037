import { applyDecay } from "../../lessons/index.ts";
import type { Lesson, LessonStatus } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { html, url } from "../html.ts";
import { definePage } from "../page.ts";
import {
  cutText,
  formatNumber,
  lastPart,
  linkLesson,
  paginate,
  renderChoice,
  renderCommand,
  renderCount,
  renderDay,
  renderEmpty,
  renderProse,
  renderSure,
  renderTable,
  renderTag,
  toEvidence,
} from "../parts.ts";

/** What is shown of all lessons, as `knack lessons` does by default, or more. */
const views = [
  ["", "Known"],
  ["active", "Active"],
  ["pending", "Pending"],
  ["promoted", "In all projects"],
  ["conflict-hold", "Held back"],
  ["superseded", "Replaced"],
  ["rejected", "Rejected"],
  ["retired", "Retired"],
  ["all", "All"],
] as const;

const past: readonly LessonStatus[] = ["retired", "superseded", "rejected"];
const dayMs = 86_400_000;

export const statusWords: Readonly<
  Record<LessonStatus, readonly [says: string, tone: "plain" | "good" | "bad" | "warm"]>
> = {
  active: ["active", "good"],
  pending: ["pending", "plain"],
  promoted: ["in all projects", "good"],
  "conflict-hold": ["held back", "warm"],
  superseded: ["replaced", "plain"],
  rejected: ["rejected", "bad"],
  retired: ["retired", "plain"],
};

interface Lessons {
  readonly shown: readonly Lesson[];
  readonly all: number;
  readonly counts: ReadonlyMap<LessonStatus, number>;
  readonly view: string;
  readonly nameProject: (id: string) => string;
}

export const lessonsPage = definePage<Lessons>({
  path: "/lessons",
  read: async ({ knack, desk, now, query }) => {
    const every = await desk.once("lessons", () => knack.lessons());
    const since = Number(query("since"));
    const names = new Map((await knack.projects()).map(({ id, name }) => [id, name]));
    const status = (lesson: Lesson) => applyDecay(lesson.state, now).status;
    const counts = new Map<LessonStatus, number>();
    for (const lesson of every) counts.set(status(lesson), (counts.get(status(lesson)) ?? 0) + 1);
    const view = query("status");
    const shown = every.filter((lesson) =>
      since > 0
        ? // What `knack status` counts as learned.
          lesson.state.foundAt >= now - since * dayMs && lesson.state.status !== "rejected"
        : view === "all" || (view === "" ? !past.includes(status(lesson)) : status(lesson) === view),
    );
    return { shown, all: every.length, counts, view, nameProject: (id) => names.get(id) ?? lastPart(id) };
  },
  draw: ({ shown, all, counts, view, nameProject }, { desk, now, query }) => {
    const filter = { status: view, since: query("since") };
    const { shown: rows, pager } = paginate(shown, query("page"), "/lessons", filter);
    const count = (key: string) =>
      key === "" || key === "all" ? null : (counts.get(key as LessonStatus) ?? 0);
    return {
      title: "Lessons",
      body: html`<div class="head"><h1>Lessons</h1>${renderChoice(
        "Which lessons",
        views
          .filter(([key]) => count(key) !== 0 || key === view)
          .map(([key, name]) => {
            const number = count(key);
            return [
              number === null ? name : `${name} ${formatNumber(number)}`,
              url("/lessons", { status: key }),
              key === view,
            ] as const;
          }),
      )}</div>
${filter.since !== "" && html`<p>${several(shown.length, "lesson")} found in the last ${several(Number(filter.since), "day")}. <a href="/lessons">All lessons</a></p>`}
${
  rows.length === 0
    ? renderEmpty(
        all === 0 ? "No lessons yet." : "No lessons match.",
        all === 0
          ? html`A lesson is what a session taught: a failure and what overcame it, or your own word. ${renderCommand(desk, "learn")} finds them.`
          : html`${several(all, "lesson")} of other kinds ${all === 1 ? "is" : "are"} here: <a href="${url("/lessons", { status: "all" })}">all lessons</a>.`,
      )
    : html`${renderTable(
        "Lessons",
        [
          ["Lesson", "main"],
          ["For"],
          ["Status", "short"],
          ["Sure", "short"],
          ["Sessions", "number"],
          ["Last seen", "short"],
        ],
        rows.map((lesson) => {
          const { status, confidence } = applyDecay(lesson.state, now);
          const [says, tone] = statusWords[status];
          return [
            linkLesson(lesson.id, renderProse(cutText(lesson.lesson, 160))),
            lesson.scope === "user" ? "all your work" : cutText(nameProject(lesson.project), 28),
            ...[renderTag(says, tone), renderSure(confidence, "")],
            ...[renderCount(lesson.state.sessions, toEvidence(lesson.id)), renderDay(lesson.state.lastAt)],
          ];
        }),
      )}${pager}`
}`,
    };
  },
});
