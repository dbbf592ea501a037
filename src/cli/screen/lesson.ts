import { applyDecay, type LessonEvidence } from "../../lessons/index.ts";
import { renderRule, type Suggestion } from "../../library/index.ts";
import type { Finding, Lesson } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { redact } from "../../trust/index.ts";
import { describePlan } from "./changes.ts";
import type { Screen } from "./screen.ts";
import { formatDay, formatSpan, iso, oneLine } from "./text.ts";

/** Sessions whose evidence is shown with a suggestion. */
const shownSessions = 3;

/** A suggested lesson: what it says, the evidence, and what would be written. */
export function describeSuggestion(
  { lesson, project, plan, findings }: Suggestion,
  screen: Screen,
  { preview = true } = {},
): string[] {
  const kind = lesson.artifact === "skill" ? "skill" : "rule";
  const where = lesson.scope === "user" ? "for all your work" : `for ${oneLine(project.name, 40)}`;
  const { sessions, firstAt, lastAt } = lesson.state;
  // Findings of one session about the same thing are one to a reader.
  const distinct = [...new Map([...findings].reverse().map((one) => [one.run, one])).values()].reverse();
  return [
    `${screen.bold(lesson.name)}  ${screen.dim(`${kind} ${where}`)}`,
    `  ${oneLine(renderRule(lesson), 400)}`,
    `  Why: seen in ${several(sessions, "session")}, ${formatSpan(firstAt, lastAt)}`,
    ...distinct
      .slice(0, shownSessions)
      .flatMap(({ finding, run, at }) => [
        `    session ${oneLine(lastPart(run)).slice(0, 13)}, ${formatDay(at)}, ${finding.refs.join(" ")}`,
        ...describeExcerpt(finding, "      ", 160),
      ]),
    ...describePlan(preview ? plan : { ...plan, steps: [], belongsTo: null }, screen),
  ];
}

/** The last part of a session's id or path. */
export function lastPart(run: string): string {
  return run.slice(run.lastIndexOf("/") + 1);
}

/** What failed, with which error, and what worked or was said. */
export function describeExcerpt(
  { excerpt: { failed, error, worked, said } }: Pick<Finding, "excerpt">,
  indent: string,
  width: number,
): string[] {
  const line = (label: string, text: string | null) =>
    text === null ? [] : [`${indent}${label} ${oneLine(text, width)}`];
  return [
    ...line("failed:", failed),
    ...line("  with:", error),
    ...line("worked:", worked),
    ...line("  said:", said),
  ];
}

/** Status and confidence as of now: `active, 0.85 sure`. */
export function describeStanding({ state }: Lesson): string {
  const { status, confidence } = applyDecay(state, Date.now());
  return `${status}, ${confidence.toFixed(2)} sure`;
}

/** How many lessons have each status now. */
export function countStatuses(lessons: readonly Lesson[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { state } of lessons) {
    const { status } = applyDecay(state, Date.now());
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

/** `6 active, 21 pending`. */
export function describeCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([status, count]) => `${count} ${status}`)
    .join(", ");
}

/** The evidence for and against a lesson. */
export function describeEvidence(evidence: LessonEvidence, all?: ReadonlyMap<string, Lesson>): string[] {
  const { findings, against, uses, decisions } = evidence;
  const part = (title: string, lines: readonly string[]) => (lines.length > 0 ? [title, ...lines] : []);
  const decided = (byPerson: boolean) =>
    decisions
      .filter(({ actor }) => (actor === "person") === byPerson)
      .map(({ at, decision }) => `  ${formatDay(at)}  ${decision}`);
  return [
    ...part(
      "Evidence for it:",
      findings.flatMap(({ finding, session, at }) => {
        const { failed, error, worked, said, replied } = finding.excerpt;
        return [
          `  ${formatDay(at)}  ${oneLine(session, 200)}  ${finding.refs.join(" ")}  (${finding.confidence.toFixed(2)} sure)`,
          ...Object.entries({ failed, error, worked, said, replied }).flatMap(([label, text]) =>
            text === null ? [] : [`    ${label}: ${oneLine(text, 200)}`],
          ),
        ];
      }),
    ),
    ...part(
      "Evidence against it:",
      against.map(
        ({ lessonId, run, at }) =>
          `  ${formatDay(at)}  session ${oneLine(run, 40)}: ${oneLine(all?.get(lessonId)?.lesson ?? lessonId, 200)} (${lessonId})`,
      ),
    ),
    ...part(
      "Its advice in later sessions:",
      uses.map(
        ({ run, at, ok, failed }) =>
          `  ${formatDay(at)}  session ${oneLine(run, 40)}: worked ${ok} times, failed ${failed} times`,
      ),
    ),
    ...part("Decided by you:", decided(true)),
    ...part("Decided by Knack:", decided(false)),
  ];
}

/** A lesson as it is now. */
export function lessonJson(lesson: Lesson) {
  const { id, name, kind, keywords, scope, artifact, project, state } = lesson;
  return {
    id,
    name,
    ...applyDecay(state, Date.now()),
    sessions: state.sessions,
    // Not every transcript has times.
    firstAt: iso(state.firstAt || null),
    lastAt: iso(state.lastAt || null),
    contradicted: state.contradicted,
    supersededBy: state.supersededBy,
    kind,
    scope,
    artifact,
    project: redact(project),
    lesson: redact(lesson.lesson),
    trigger: redact(lesson.trigger),
    action: redact(lesson.action),
    keywords: keywords.map(redact),
  };
}

export function excerptJson({ excerpt }: Pick<Finding, "excerpt">) {
  return Object.fromEntries(
    Object.entries(excerpt).map(([key, text]) => [key, text === null ? null : redact(text)]),
  );
}

export function evidenceJson({ findings, against, uses, decisions }: LessonEvidence) {
  const time = (at: number) => iso(at || null);
  return {
    findings: findings.map(({ id, session, at, finding }) => ({
      id,
      kind: finding.kind,
      session,
      at: time(at),
      refs: finding.refs,
      events: finding.keys,
      confidence: finding.confidence,
      excerpt: excerptJson(finding),
    })),
    against: against.map(({ lessonId, run, at }) => ({ instinct: lessonId, run, at: time(at) })),
    uses: uses.map((use) => ({ ...use, at: time(use.at) })),
    decisions: decisions.map(({ at, decision, actor }) => ({ at: time(at), decision, actor })),
  };
}
