import { describe, expect, it, test } from "vitest";
import {
  convention as conventionIn,
  errorRecovery as errorRecoveryIn,
} from "../../../src/learning/leads/error-recovery.ts";
import { analyzeSession } from "../../../src/learning/leads/session.ts";
import type { Event } from "../../../src/records/session.ts";
import { edited, ran, said, session } from "../../helpers/events.ts";

const errorRecovery = (events: readonly Event[]) => errorRecoveryIn(analyzeSession(events));
const convention = (events: readonly Event[]) => conventionIn(analyzeSession(events));

describe("a rule that a tool enforces", () => {
  it.each<[string, Event[], string]>([
    [
      "is found when a commit message is refused",
      [
        ran(
          'git commit -m "did stuff"',
          "failed",
          "✖   type may not be empty [type-empty]\nhusky - commit-msg script failed",
        ),
        ran('git commit -m "fix: did stuff"', "ok"),
      ],
      "type may not be empty [type-empty]. Accepted: `fix: did stuff`",
    ],
    [
      "is found when a branch is protected",
      [
        ran(
          "git push origin main",
          "failed",
          "remote: error: GH006: Protected branch update failed\nremote: error: Changes must be made through a pull request.",
        ),
        ran("git push -u origin fix", "ok"),
      ],
      "Protected branch update failed",
    ],
  ])("%s", (_, drafts, words) => {
    const events = session(said("go on"), ...drafts);
    const [rule, ...more] = convention(events);
    expect(rule).toMatchObject({
      kind: "convention",
      scope: "project",
      artifact: "rule",
      refs: ["e2", "e3"],
    });
    expect(rule?.lesson).toContain(words);
    expect(more).toEqual([]);
    expect(errorRecovery(events)).toEqual([]);
  });

  it.each<[string, Event[]]>([
    [
      "when a hook only reports a fault",
      [
        ran("git commit -m x", "failed", "a.ts(1,1): error TS1: x\nhusky - failed"),
        edited("a.ts"),
        ran("git commit -m x", "ok"),
      ],
    ],
    [
      "when another program speaks of protected branches",
      [ran("cat rules.md", "failed", "protected branch"), ran("cat docs/rules.md", "ok")],
    ],
    [
      "when a push was late",
      [
        ran("git push", "failed", "! [rejected] main -> main (fetch first)"),
        ran("git pull", "ok"),
        ran("git push", "ok"),
      ],
    ],
  ])("is not found %s", (_, drafts) => expect(convention(session(said("go on"), ...drafts))).toEqual([]));

  test("is told once", () => {
    const refused = ran('git commit -m "x"', "failed", "✖   type may not be empty [type-empty]");
    expect(
      convention(session(said("a"), refused, refused, ran('git commit -m "fix: x"', "ok"))),
    ).toHaveLength(1);
  });
});
