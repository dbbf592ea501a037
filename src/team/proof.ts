import { readSymptom } from "../failures/index.ts";
import { compareCourses, nameFailure, type TrialDifference } from "../recall/index.ts";
import type { TeamDay, TeamShare } from "./fold.ts";

const day = 86_400_000;
/** Sessions of one lesson in one repository that are compared, on each side: the ones nearest to when it was shared. */
const mostCompared = 200;

/** The failures that shared lessons are about, by repository and share, under the names that sessions count them by. */
export function listFailureNames(
  shares: readonly Pick<TeamShare, "subject" | "repository" | "body">[],
): Map<string, Map<string, string>> {
  const names = new Map<string, Map<string, string>>();
  for (const { subject, repository, body } of shares) {
    const name = readFailureName(body);
    if (repository === null || name === null) continue;
    names.set(repository, (names.get(repository) ?? new Map()).set(subject, name));
  }
  return names;
}

function readFailureName(body: string): string | null {
  const { kind, excerpt } = JSON.parse(body) as {
    kind?: string;
    excerpt?: { failed?: string | null; error?: string | null };
  };
  if (kind !== "error-recovery" || !excerpt?.failed || !excerpt.error) return null;
  return nameFailure(readSymptom(excerpt.failed, excerpt.error, 1));
}

/** How often the failure of a shared lesson was met before it was shared, and since. */
interface RepeatCount {
  readonly sessions: number;
  readonly met: number;
}

interface RepositoryProof {
  readonly repository: string;
  readonly lessons: number;
  readonly before: RepeatCount;
  readonly after: RepeatCount;
  readonly difference: TrialDifference;
}

/** What sharing was worth, by repository. No experiment: other things changed meanwhile, too. */
export interface TeamReport {
  readonly all: TrialDifference;
  readonly repositories: readonly RepositoryProof[];
}

/** Each lesson in its repository: sessions of the days before it was shared against those of the days after. */
export function reportTeam(shares: readonly TeamShare[], days: readonly TeamDay[]): TeamReport {
  const names = listFailureNames(shares);
  const bySubject = new Map(shares.map((share) => [share.subject, share]));
  const repositories = [...names].map(([repository, lessons]) => {
    const own = days.filter((one) => one.repository === repository);
    const courses = [...lessons.keys()].map((subject) =>
      divideDays(own, subject, bySubject.get(subject)?.sharedAt ?? 0),
    );
    return { repository, lessons: lessons.size, courses };
  });
  return {
    all: compareCourses(repositories.flatMap(({ courses }) => courses)),
    repositories: repositories
      .map(({ courses, ...one }) => ({
        ...one,
        before: countMet(courses.flatMap(({ before }) => before)),
        after: countMet(courses.flatMap(({ after }) => after.map(({ value }) => value))),
        difference: compareCourses(courses),
      }))
      .sort((a, b) => b.before.met - a.before.met || (a.repository < b.repository ? -1 : 1)),
  };
}

/** Sessions as 1 where they met the failure and 0 where not. The day on which it was shared is neither before nor after. */
function divideDays(days: readonly TeamDay[], subject: string, sharedAt: number) {
  const cut = Math.floor(sharedAt / day) * day;
  const list = (some: readonly TeamDay[]) =>
    some.flatMap(({ at, sessions, met }) => {
      const failed = Math.min(sessions, met[subject] ?? 0);
      return Array.from({ length: Math.min(sessions, mostCompared) }, (_, n) => ({
        at,
        value: n < failed ? 1 : 0,
      }));
    });
  return {
    before: list(days.filter(({ at }) => at < cut))
      .slice(-mostCompared)
      .map(({ value }) => value),
    after: list(days.filter(({ at }) => at > cut)).slice(0, mostCompared),
  };
}

function countMet(values: readonly number[]): RepeatCount {
  return { sessions: values.length, met: values.filter((value) => value > 0).length };
}
