import { isEdit } from "../failures/index.ts";
import type { Knack } from "../open.ts";
import type { Telling } from "../recall/index.ts";
import { type Event, getSessionId, isPersons, type StoredFinding } from "../records/index.ts";
import { type Html, type HtmlPart, html } from "./html.ts";
import type { Desk } from "./page.ts";
import {
  cutText,
  lastPart,
  linkLesson,
  linkSession,
  renderDay,
  renderProse,
  renderTable,
  renderTag,
} from "./parts.ts";

/** Edits between a failure and what worked that are named. */
const mostEdits = 4;

/**
 * What a session showed: what the person asked, the call that failed, what it said, the edits, and the call that
 * worked, or a person's words; each leads to its place in the session. Without the session's events only what the
 * finding itself keeps is there.
 */
export function describeFinding(
  { finding, session, run, at }: StoredFinding,
  events: readonly Event[] = [],
): HtmlPart {
  const { failed, error, worked, said, replied } = finding.excerpt;
  const [first, ...others] = finding.refs;
  const last = others.at(-1);
  const { asked, edits } = readBetween(events, first, last);
  const step = (kind: string, label: string, text: string | null, ref?: string) =>
    text !== null &&
    html`<div class="step ${kind}"><span class="label">${
      ref === undefined ? label : linkSession(session, ref, label)
    }</span><pre>${isProse.has(kind) ? renderProse(text) : text}</pre></div>`;
  return html`<p class="eyebrow">${renderDay(at)} · ${linkSession(session, first, html`session ${lastPart(run).slice(0, 13)}`)}</p>
<div class="steps">${step("said", "You said", said, first)}${
    said === null && asked && step("said", "You asked", cutText(asked.text, 240), asked.ref)
  }${step("failed", "Failed", failed, first)}${step("error", "It said", error)}${edits.map((edit) =>
    step("edit", "Edited", edit.files.map(lastPart).join(", "), edit.ref),
  )}${step("worked", "Worked", worked, last)}${step("replied", "The agent", replied)}</div>`;
}

/** Steps in words that people and agents wrote, not in those of programs. */
const isProse: ReadonlySet<string> = new Set(["said", "replied"]);

/** The prompt that led to an event, and the edits from there to another. */
function readBetween(events: readonly Event[], first: string | undefined, last: string | undefined) {
  const from = events.findIndex(({ ref }) => ref === first);
  if (from < 0) return { asked: undefined, edits: [] };
  const to = events.findIndex(({ ref }) => ref === last);
  return {
    asked: events.slice(0, from).findLast(isPersons),
    edits: events
      .slice(from + 1, Math.max(from, to))
      .filter((event) => isEdit(event) && event.outcome === "ok" && event.files.length > 0)
      .slice(-mostEdits),
  };
}

const howWords: Readonly<Record<Telling["how"], string>> = {
  told: "told",
  offered: "named",
  given: "given whole",
  withheld: "held back, to compare",
};

const occasionWords = { failure: " at a failure", prompt: " at a prompt", start: " at the start" } as const;

/** The report of `knack report`: what showing things was worth. */
export function readReport(knack: Knack, desk: Desk): ReturnType<Knack["report"]> {
  return desk.once("report", () => knack.report(0));
}

/** What was learned, used, saved and spent in the last days, as `knack status` has it for a week. */
export function readWeek(knack: Knack, desk: Desk, now: number, days: number): ReturnType<Knack["week"]> {
  return desk.once(`week ${days}`, () => knack.week(now - days * 86_400_000));
}

/** All that agents were ever told, in order of time, read once for as long as nothing changes. */
export function readTellings(knack: Knack, desk: Desk): Promise<Telling[]> {
  return desk.once("told", () => knack.tellings());
}

/** The sessions in which something was told, by the agent's own id: those that were read. */
export async function findToldSessions(
  tellings: readonly Telling[],
  knack: Knack,
): Promise<ReadonlyMap<string, string>> {
  const paths = [...new Set(tellings.flatMap(({ transcript }) => transcript ?? []))];
  const sessions = paths.length === 0 ? [] : await knack.knownSessions(paths);
  return new Map(sessions.map((one) => [getSessionId(one), one.id]));
}

/** What agents were told, as rows of a table: where, how, in which words, and what happened then. */
export function drawTellings(tellings: readonly Telling[], sessions: ReadonlyMap<string, string>): Html {
  return renderTable(
    "What agents were told",
    [["Day", "short"], ["Session", "short"], ["How"], ["Words", "main"], ["Then"]],
    tellings.map(({ at, session, how, id, occasion, text, outcome }) => {
      const name = lastPart(session).slice(0, 13);
      const words = cutText(text, 180);
      // A session that is still going on may not have been read.
      const to = sessions.get(session);
      return [
        renderDay(at),
        to === undefined ? name : linkSession(to, undefined, name),
        html`${howWords[how]}${occasion !== null && occasionWords[occasion]}`,
        how === "told" ? linkLesson(id, words) : words,
        outcome
          ? html`${renderTag(outcome.verdict, outcome.verdict === "helpful" ? "good" : "bad")} ${outcome.byPerson && "you said so"} ${outcome.because}`
          : html`<span class="faint">no verdict</span>`,
      ];
    }),
  );
}
