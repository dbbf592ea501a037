import type { Judging } from "../../learning/index.ts";
import { applyDecay, explainDoubt, readShownConfidence } from "../../lessons/index.ts";
import { isNews, type PublishResult, renderRule, type Suggestion } from "../../library/index.ts";
import type { NoReply } from "../../models/index.ts";
import type { Knack } from "../../open.ts";
import type { ChronicFailure } from "../../recall/index.ts";
import type { Finding, Lead, Lesson, StoredFinding } from "../../records/index.ts";
import { several } from "../../text/index.ts";
import { describeOutcomes, describePlan, describeReach } from "./changes.ts";
import type { Screen } from "./screen.ts";
import { formatDay, formatSpan, type Lines, oneLine, titled } from "./text.ts";

/** Sessions whose evidence is shown with a suggestion. */
const shownSessions = 3;

/** A suggested lesson: what it says, the evidence, and what would be written. */
export function describeSuggestion(suggestion: Suggestion, screen: Screen, { preview = true } = {}): Lines {
  const { lesson, project, plan, findings } = suggestion;
  const noPlace = preview ? explainNoPlace(suggestion) : null;
  const kind = lesson.artifact === "skill" ? "skill" : "rule";
  const where = describeWhere({ lesson, project });
  const { sessions, firstAt, lastAt } = lesson.state;
  const doubt = explainDoubt(lesson);
  // Findings of one session about the same thing are one to a reader.
  const distinct = [...new Map([...findings].reverse().map((one) => [one.run, one])).values()].reverse();
  return [
    `${screen.bold(lesson.name)}  ${screen.dim(`${kind} ${where}`)}`,
    `  ${oneLine(renderRule(lesson), 400)}`,
    `  Why: seen in ${several(sessions, "session")}, ${formatSpan(firstAt, lastAt)}`,
    doubt !== null && `  Look twice: ${oneLine(doubt, 200)}`,
    distinct
      .slice(0, shownSessions)
      .map(({ finding, run, at }) => [
        `    session ${oneLine(lastPart(run)).slice(0, 13)}, ${formatDay(at)}`,
        describeExcerpt(finding, "      ", 160),
      ]),
    noPlace !== null && `  Kept only for all your projects, if you say so: ${noPlace}.`,
    describePlan(preview && noPlace === null ? plan : { ...plan, steps: [], belongsTo: null }, screen),
  ];
}

/** Whose a lesson is, beside what it says. */
export function describeWhere({ lesson, project }: Pick<Suggestion, "lesson" | "project">): string {
  return lesson.scope === "user" ? "for all your work" : `for ${oneLine(project.name, 40)}`;
}

/** Why a project's lesson is not kept without a word on where: it is never put into a file of all projects by default. */
export function explainNoPlace({ lesson, project, reaches, plan }: Suggestion): string | null {
  const isElsewhere = lesson.scope !== "user" && plan.belongsTo === null && reaches[0] === "everywhere";
  return isElsewhere ? `the folder of ${project.name} is not on this machine` : null;
}

/** Describes the result of keeping a lesson, and how to undo it. */
export function describeKeeping(result: PublishResult, { lesson }: Suggestion, screen: Screen): Lines {
  if (!result.kept) return [`Not kept: ${result.because}.`];
  if (result.already) return [`${lesson.name} was already kept by another run.`];
  const written = result.outcomes.filter((one) => isNews(one) || !one.done);
  const first = written.find(({ change }) => change.why !== "remove") ?? written[0];
  if (!first) return ["Nothing was written: your instructions already say it."];
  const { name, reach } = first.change;
  if (result.belongsTo !== null)
    return [
      `${screen.path(result.belongsTo)} is yours and was not changed. The lesson is kept as a proposal for it:`,
      `  ${screen.knack} skills diff ${name}`,
      `  ${screen.knack} skills accept ${name}`,
    ];
  return [
    `Kept ${lesson.name} (${describeReach(reach)}). It is live:`,
    describeOutcomes(written, screen),
    `  undo:    ${screen.knack} skills undo ${name}`,
  ];
}

export function lastPart(run: string): string {
  return run.slice(run.lastIndexOf("/") + 1);
}

/** The excerpt of a finding: the failed call and its error, and the call that worked or the words said. */
export function describeExcerpt({ excerpt }: Pick<Finding, "excerpt">, indent: string, width: number): Lines {
  const { failed, error, worked, said } = excerpt;
  return Object.entries({ "failed:": failed, "  with:": error, "worked:": worked, "  said:": said }).map(
    ([label, text]) => text !== null && `${indent}${label} ${oneLine(text, width)}`,
  );
}

/** Status and confidence as of now: `active, 0.85 sure`. */
export function describeStanding({ state }: Lesson): string {
  const { status, confidence } = applyDecay(state, Date.now());
  return `${status}, ${confidence.toFixed(2)} sure`;
}

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

type LessonEvidence = Awaited<ReturnType<Knack["evidence"]>>;

export function describeEvidence(
  evidence: LessonEvidence,
  screen: Screen,
  lessons: readonly Lesson[] = [],
): Lines {
  const { findings, against, uses, decisions } = evidence;
  const decided = (byPerson: boolean) =>
    decisions
      .filter(({ actor }) => (actor === "person") === byPerson)
      .map(({ at, decision }) => `  ${formatDay(at)}  ${decision}`);
  return [
    titled(
      "Evidence for it:",
      findings.map((one) => describeFinding(one, screen)),
    ),
    titled(
      "Evidence against it:",
      against.map(({ lessonId, run, at }) => {
        const text = lessons.find(({ id }) => id === lessonId)?.lesson ?? lessonId;
        return `  ${formatDay(at)}  session ${oneLine(run, 40)}: ${oneLine(text, 200)} (${lessonId})`;
      }),
    ),
    titled(
      "Its advice in later sessions:",
      uses.map(
        ({ run, at, ok, failed }) =>
          `  ${formatDay(at)}  session ${oneLine(run, 40)}: worked ${ok} times, failed ${failed} times`,
      ),
    ),
    titled("Decided by you:", decided(true)),
    titled("Decided by Knack:", decided(false)),
  ];
}

function describeFinding({ finding, session, at }: StoredFinding, screen: Screen): Lines {
  const { refs, confidence, excerpt } = finding;
  return [
    `  ${formatDay(at)}  ${oneLine(screen.path(session), 200)}  ${refs.join(" ")}  (${confidence.toFixed(2)} sure)`,
    Object.entries(excerpt).map(
      ([label, text]: [string, string | null]) => text !== null && `    ${label}: ${oneLine(text, 200)}`,
    ),
  ];
}

// --- What a model judged ---

type JudgedSession = Omit<Judging["judged"][number], "session"> & { readonly session: string };

export function judgedJson(judged: readonly JudgedSession[], findPath = (session: string) => session) {
  return {
    sessions: judged.length,
    models: [...new Set(judged.map(({ model }) => model))],
    lessons: judged.reduce((sum, { lessons }) => sum + lessons.length, 0),
    aside: judged.flatMap(({ session, aside }) =>
      aside.map(({ what, because }) => ({ session: findPath(session), what, because })),
    ),
  };
}

/** Meanings of the codes for a missing answer, where the text after them does not say it. */
const noReplies: Readonly<Record<NoReply, string>> = {
  unset: "",
  "not-asked": "",
  "time-out": "",
  unusable: "",
  refused: "the model refused: ",
  overloaded: "the model is overloaded or failing: ",
  unreachable: "the model could not be reached: ",
};

/** Why a model gave no answer, without the code and the file names that programs need. */
export function describeNoReply(because: string): string {
  const [code = ""] = /^[a-z-]+(?=: )/.exec(because) ?? [];
  if (!Object.hasOwn(noReplies, code)) return because;
  const rest = because.slice(code.length + 2).replace(/\bq\w+\.answer\.json\b/, "answer in the folder");
  return `${noReplies[code as NoReply]}${rest.replace(/\.$/, "")}`;
}

// --- As JSON ---

export function lessonJson({ state, ...lesson }: Lesson) {
  return { ...lesson, ...state, ...applyDecay(state, Date.now()) };
}

/** A finding is as sure as its lesson: one that another session confirms is shown. */
export function findingJson(
  { id, finding, session, lessonId }: StoredFinding,
  path: string = session,
  lesson?: Lesson,
) {
  const { keys, ...rest } = finding;
  const confidence = lesson ? readShownConfidence(lesson, finding.confidence) : finding.confidence;
  // Where a judge found words for all that became one lesson, these are what a person is shown.
  const { lesson: said, trigger, action } = lesson?.by === "judge" ? lesson : finding;
  return {
    id,
    ...rest,
    lesson: said,
    trigger,
    action,
    confidence,
    session: path,
    events: keys,
    instinct: lessonId,
  };
}

export function leadJson({ id, keys, kind, summary, confidence }: Lead, session: string) {
  return { id, session, events: keys, kind, lesson: summary, confidence };
}

export function evidenceJson({ findings, ...rest }: LessonEvidence) {
  return { findings: findings.map((one) => findingJson(one)), ...rest };
}

/** A failure that nobody overcame, as --json gives it. */
export function chronicJson({ line, sessions, tried }: Pick<ChronicFailure, "line" | "sessions" | "tried">) {
  return { symptom: oneLine(line, 200), sessions, tried };
}
