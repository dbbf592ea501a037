import { describe, expect, it } from "vitest";
import type { TeamDay, TeamShare } from "../../src/team/fold.ts";
import { reportTeam } from "../../src/team/proof.ts";
import { repository } from "./members.ts";

const day = 86_400_000;
const sharedAt = Date.UTC(2026, 10, 10, 15);

function aShare(subject: string, error: string | null): TeamShare {
  const excerpt = { failed: "npm test", error, worked: "npm test -w app" };
  return {
    ...{ subject, kind: "lesson", repository, by: ["ana"], sharedAt, yes: [], no: [], helpedPeople: 0 },
    body: JSON.stringify({ kind: "error-recovery", excerpt }),
    outcomes: { told: 0, followed: 0, helped: 0, failed: 0 },
  };
}

const aDay = (n: number, sessions: number, met: Record<string, number>, where = repository): TeamDay => ({
  ...{ repository: where, machine: "m", sessions, met },
  at: Math.floor(sharedAt / day) * day + n * day,
});

describe("The report of a team", () => {
  it("compares sessions of the days before a lesson was shared with those after, the day itself left out", () => {
    const share = aShare("s1", "Error: connect ECONNREFUSED 127.0.0.1:5432");
    const days = [
      ...[aDay(-2, 3, { s1: 2 }), aDay(-1, 2, { s1: 2, other: 2 }), aDay(0, 9, { s1: 9 })],
      ...[aDay(1, 4, {}), aDay(3, 2, { s1: 1 }), aDay(1, 5, { s1: 5 }, "github.com/acme/elsewhere")],
    ];
    const { repositories, all } = reportTeam([share, aShare("s2", null)], days);
    expect(repositories).toMatchObject([
      {
        ...{ repository, lessons: 1, before: { sessions: 5, met: 4 }, after: { sessions: 6, met: 1 } },
        difference: { pairs: 5 },
      },
    ]);
    expect(all).toMatchObject({ pairs: 5, verdict: "too-few", estimate: -0.6 });
  });

  it("says that failures became fewer where enough sessions show it", () => {
    const share = aShare("s1", "Error: connect ECONNREFUSED 127.0.0.1:5432");
    const days = Array.from({ length: 30 }, (_, n) => [
      aDay(-1 - n, 5, { s1: 5 }),
      aDay(1 + n, 5, {}),
    ]).flat();
    expect(reportTeam([share], days).all).toMatchObject({ verdict: "less", pairs: 150 });
    expect(reportTeam([], days)).toMatchObject({ repositories: [], all: { verdict: "too-few", pairs: 0 } });
  });
});
