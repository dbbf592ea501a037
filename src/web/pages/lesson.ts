import { applyDecay, explainDoubt, explainHeldBack, type LessonMove } from "../../lessons/index.ts";
import { changedFile, type PublishedItem } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import type { Telling } from "../../recall/index.ts";
import type { Event, Lesson, LessonStatus, StoredFinding } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { drawTrace } from "../charts.ts";
import { describeFinding, drawTellings, findToldSessions, readReport, readTellings } from "../evidence.ts";
import { type Html, type HtmlPart, html } from "../html.ts";
import { renderForm } from "../layout.ts";
import { type Desk, definePage, type Visit } from "../page.ts";
import {
  lastPart,
  linkLesson,
  linkSession,
  renderCount,
  renderDay,
  renderDiff,
  renderFacts,
  renderProse,
  renderSpan,
  renderSure,
  renderTable,
  renderTag,
} from "../parts.ts";
import { statusWords } from "./lessons.ts";
import { describeCredit, findCredit, type ItemCredit, readCatalog } from "./library.ts";
import { readSessions } from "./sessions.ts";

interface LessonView {
  readonly lesson: Lesson;
  readonly every: readonly Lesson[];
  readonly project: string;
  readonly evidence: Awaited<ReturnType<Knack["evidence"]>>;
  /** The findings that are shown, one for a session, and the events of the first ones' sessions. */
  readonly findings: readonly StoredFinding[];
  readonly events: ReadonlyMap<string, readonly Event[]>;
  readonly moves: readonly LessonMove[];
  readonly tellings: readonly Telling[];
  readonly sessions: Awaited<ReturnType<typeof findToldSessions>>;
  readonly credit: ItemCredit | undefined;
  readonly kept: readonly PublishedItem[];
  readonly versions: readonly LessonVersion[];
}

type LessonVersion = Awaited<ReturnType<Knack["changeDiffs"]>>[number];

export const lessonPage = definePage<LessonView>({
  path: "/lessons/:id",
  read: async ({ knack, desk, id }) => {
    const every = await desk.once("lessons", () => knack.lessons());
    const lesson = every.find((one) => one.id === id);
    if (!lesson) return null;
    const names = new Map((await knack.projects()).map((one) => [one.id, one.name]));
    const evidence = await knack.evidence(lesson);
    const findings = mergeSessions(evidence.findings);
    const { items } = await readCatalog(knack, desk);
    const made = items.flatMap((item) => (item.source === id ? item.id : []));
    const of = new Set<string>([id, ...made]);
    const tellings = (await readTellings(knack, desk)).filter((one) => of.has(one.id));
    return {
      ...{ lesson, every, project: names.get(lesson.project) ?? lastPart(lesson.project) },
      ...{ evidence, findings, events: await readEventsOf(findings.slice(0, mostPlaces), knack, desk) },
      moves: await knack.moves(lesson),
      credit: findCredit(await readReport(knack, desk), { id: lesson.id, source: null }),
      ...{ tellings, sessions: await findToldSessions(tellings, knack) },
      kept: (await knack.shelf()).filter(
        ({ origin, members }) => origin.id === id || members?.includes(lesson.id),
      ),
      versions: await knack.changeDiffs(id),
    };
  },
  draw: (model, visit) => ({ title: model.lesson.name, body: drawLesson(model, visit) }),
});

/** The events of the sessions of some findings, by session; of those that are not kept any more there are none. */
async function readEventsOf(findings: readonly StoredFinding[], knack: Knack, desk: Desk) {
  const wanted = new Set<string>(findings.map(({ session }) => session));
  const sessions = (await readSessions(knack, desk)).filter(({ id }) => wanted.has(id));
  return new Map<string, readonly Event[]>(
    await Promise.all(sessions.map(async (one) => [one.id, await knack.events(one)] as const)),
  );
}

function drawLesson(model: LessonView, { desk, now }: Visit): Html {
  const { lesson, every, kept, project, credit } = model;
  const { status, confidence } = applyDecay(lesson.state, now);
  const [says, tone] = statusWords[status];
  const doubt = explainDoubt(lesson);
  const held = explainHeldBack(lesson, every);
  return html`<p class="eyebrow">${renderTag(says, tone)} <a href="#sure">${renderSure(confidence)}</a> <span>${lesson.artifact} for ${
    lesson.scope === "user" ? "all your work" : project
  }</span> <code>${lesson.id}</code></p>
<h1 class="lesson">${renderProse(lesson.lesson)}</h1>
${doubt !== null && html`<p class="look">Not told to agents before you keep it: ${doubt}</p>`}
${held !== null && html`<p class="look">Neither offered nor told to agents: ${held}</p>`}
${lesson.state.shelved !== undefined && html`<p class="look">Not offered before another session confirms it: ${lesson.state.shelved}</p>`}
${renderFacts([
  ["When", renderProse(lesson.trigger)],
  ["Then", renderProse(lesson.action)],
  [
    "Seen in",
    html`<a href="#evidence">${several(lesson.state.sessions, "session")}</a>, ${renderSpan(lesson.state.firstAt, lesson.state.lastAt)}`,
  ],
  ...describeCredit(credit),
  [
    "Kept as",
    kept.map(
      (one, at) =>
        html`${at > 0 && ", "}<code>${desk.shorten(changedFile(one))}</code> ${renderTag(one.state)}`,
    ),
  ],
])}
${drawSteps(lesson)}
${drawActions(model, desk)}
<h2 id="evidence">Evidence</h2>
${drawEvidence(model)}
${drawAgainst(model)}
${drawMoves(model, now)}
${drawTold(model)}
${drawVersions(model.versions, desk)}`;
}

/** Places that are shown before the others are unfolded. */
const mostPlaces = 3;

function drawEvidence({ findings, events }: LessonView): HtmlPart {
  const list = (some: readonly StoredFinding[]) =>
    html`<ol class="chain">${some.map((one) => html`<li>${describeFinding(one, events.get(one.session))}</li>`)}</ol>`;
  const rest = findings.slice(mostPlaces);
  return html`${list(findings.slice(0, mostPlaces))}${rest.length > 0 && html`<details class="quiet"><summary>${several(rest.length, "more place")}</summary>${list(rest)}</details>`}`;
}

function drawSteps({ steps }: Lesson): HtmlPart {
  return (
    steps.length > 1 &&
    html`<h3>Steps</h3><ol class="steps-list">${steps.map((step) => html`<li>${renderProse(step)}</li>`)}</ol>`
  );
}

function drawActions({ lesson, kept }: LessonView, desk: Desk): HtmlPart {
  const back = `/lessons/${lesson.id}`;
  const isRejected = lesson.state.status === "rejected";
  const act = (fields: Readonly<Record<string, string>>, kind: string, says: string, key?: string) =>
    renderForm(
      desk,
      { ...fields, back },
      html`<button class="${kind}"${key !== undefined && html` data-key="${key}"`}>${says}</button>`,
    );
  const first = kept[0];
  return html`<div class="decide plain">${
    isRejected
      ? act({ do: "allow-lesson", id: lesson.id }, "", "Allow it again", "y")
      : kept.length === 0
        ? html`${act({ do: "keep-lesson", id: lesson.id }, "yes", "Keep", "y")}${act({ do: "reject-lesson", id: lesson.id }, "no", "Reject", "n")}`
        : first &&
          html`${first.reach === "draft" && act({ do: "accept", name: first.name, origin: first.origin.id }, "yes", "Accept", "y")}${act({ do: "remove", name: first.name, origin: first.origin.id }, "no", "Remove it, and never suggest it again", "n")}${act({ do: "undo", name: first.name }, "", "Undo the last change")}`
  }</div>`;
}

/** Evidence of one session that shows the same is one to a reader. */
function mergeSessions(findings: readonly StoredFinding[]): StoredFinding[] {
  const shown = new Map<string, StoredFinding>();
  for (const one of findings) {
    const key = `${one.run} ${JSON.stringify(one.finding.excerpt)}`;
    if (!shown.has(key)) shown.set(key, one);
  }
  return [...shown.values()].sort((a, b) => b.at - a.at);
}

function drawAgainst({ evidence: { against }, every }: LessonView): HtmlPart {
  if (against.length === 0) return null;
  return html`<h2>What speaks against it</h2><ul class="rows">${against.map(({ lessonId, run, at }) => {
    const other = every.find(({ id }) => id === lessonId);
    return html`<li>${renderDay(at)} ${linkLesson(lessonId, other ? renderProse(other.lesson) : lessonId)} <span class="faint">in ${linkSession(run, undefined, html`session ${lastPart(run).slice(0, 13)}`)}</span></li>`;
  })}</ul>`;
}

const moveWords: Readonly<Record<LessonMove["by"], string>> = {
  found: "a session showed it",
  worked: "its advice worked in a session",
  failed: "its advice failed in a session",
  opposed: "something says the opposite",
  accepted: "you said yes",
  rejected: "you said no",
  unskipped: "you allowed it again",
  retired: "nothing came of it for long",
  promoted: "it holds in several projects",
  demoted: "it holds only where it was learned",
  documented: "an instruction file says it",
  proposed: "beside the project's other lessons it is worth showing",
  shelved: "beside the project's other lessons it is not worth showing",
};

function drawMoves({ moves, lesson }: LessonView, now: number): HtmlPart {
  if (moves.length === 0) return null;
  const { confidence, status } = applyDecay(lesson.state, now);
  const faded = (moves.at(-1)?.confidence ?? confidence) - confidence;
  // Where nothing moves any more, that it was seen again is told once.
  const told = moves.filter((move, n) => {
    const [before, next] = [moves[n - 1], moves[n + 1]];
    const isSame = (one: LessonMove | undefined) =>
      one?.by === move.by && one.confidence === move.confidence && one.status === move.status;
    return !(isSame(before) && isSame(next));
  });
  const rows = told.map(({ at, by, confidence: to, status: became }, n) =>
    drawMove(at, moveWords[by], to - (told[n - 1]?.confidence ?? 0), to, became),
  );
  if (faded > 0.005)
    rows.push(drawMove(now, "it fades while nothing confirms it", -faded, confidence, status));
  return html`<h2 id="sure">How sure Knack is, and what moved it</h2>
${drawTrace(
  "Confidence",
  moves.map(({ at, confidence: value }) => ({ at, value })),
  now,
  renderTable(
    "What moved it",
    [
      ["Day", "short"],
      ["What moved it", "main"],
      ["By", "number"],
      ["To", "number"],
      ["Then", "short"],
    ],
    rows,
  ),
)}`;
}

function drawMove(at: number, why: string, change: number, to: number, status: LessonStatus): HtmlPart[] {
  const signed = `${change < 0 ? "−" : "+"}${Math.abs(change).toFixed(2)}`;
  return [
    ...[renderDay(at), why],
    Math.abs(change) >= 0.005
      ? html`<span class="${change < 0 ? "down" : "up"}">${signed}</span>`
      : html`<span class="none">–</span>`,
    ...[to.toFixed(2), statusWords[status][0]],
  ];
}

function drawTold({ tellings, sessions, evidence: { uses } }: LessonView): Html {
  return html`<h2 id="shown">Where it was told, and what happened then</h2>${
    tellings.length === 0
      ? html`<p class="faint">No agent was told of it yet.</p>`
      : drawTellings([...tellings].reverse().slice(0, mostTellings), sessions)
  }
${drawUses(uses)}`;
}

/** How the call that it recommends went in later sessions. */
function drawUses(uses: LessonView["evidence"]["uses"]): HtmlPart {
  if (uses.length === 0) return null;
  const sum = (count: (use: (typeof uses)[number]) => number) =>
    uses.reduce((all, use) => all + count(use), 0);
  const says = `Its advice in later sessions: worked ${several(
    sum(({ ok }) => ok),
    "time",
  )}, failed ${several(
    sum(({ failed }) => failed),
    "time",
  )}`;
  return html`<details class="quiet"><summary>${says}</summary>${renderTable(
    "Its advice in later sessions",
    [
      ["Day", "short"],
      ["Session", "main"],
      ["Worked", "number"],
      ["Failed", "number"],
    ],
    [...uses]
      .sort((a, b) => b.at - a.at)
      .slice(0, mostTellings)
      .map(({ run, at, ok, failed }) => [
        ...[renderDay(at), linkSession(run, undefined, lastPart(run).slice(0, 13))],
        ...[renderCount(ok), renderCount(failed)],
      ]),
  )}</details>`;
}

/** Tellings that are listed. */
const mostTellings = 100;

const whyWords: Readonly<Record<string, string>> = {
  create: "written",
  update: "changed",
  remove: "removed",
  undo: "undone",
  archive: "archived",
  restore: "restored",
};

export function drawVersions(versions: readonly LessonVersion[], desk: Desk): HtmlPart {
  if (versions.length === 0) return null;
  return html`<h2>Versions</h2><ol class="chain">${[...versions]
    .reverse()
    .map(
      ({ at, change, state, diff }) =>
        html`<li><details><summary>${renderDay(at)} ${whyWords[change.why] ?? change.why} as ${change.name} ${state !== "made" && renderTag(state, "warm")}</summary>${renderDiff(diff, desk.shorten(changedFile(change)))}</details></li>`,
    )}</ol>`;
}
