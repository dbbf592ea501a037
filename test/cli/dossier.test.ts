import { describe, expect, test } from "vitest";
import { describeDossier } from "../../src/cli/commands/review/dossier.ts";
import { createScreen } from "../../src/cli/screen/screen.ts";
import { aSkill, dossierWith, toCreate, toPatch } from "../helpers/dossiers.ts";
import { ran, replied, said, session } from "../helpers/events.ts";

const plain = createScreen({ NO_COLOR: "1" });
const long = (word: string, times = 90) => `${`${word} `.repeat(times)}end-of-${word}`;

/** Every text in a value, line by line. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return value.split("\n").filter((line) => line.trim() !== "");
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

describe("a dossier, as a person is told of it,", () => {
  test("has everything that is put before the model", () => {
    const steps = Array.from({ length: 900 }, (_, n) =>
      n % 30 === 0 ? said(long(`prompt-${n}`)) : ran(`step-${n}`, n % 7 === 0 ? "failed" : "ok", long("out")),
    );
    const deferred = "needs_full_context_review" as const;
    const refs = ["s1.e8", "s1.e9"];
    const { whole, ...dossier } = dossierWith([session(...steps, replied(long("answer")))], {
      leads: [{ ...toCreate("rl-new", refs), why: long("why", 60) }, toPatch("rl-old", refs)],
      signals: [
        {
          kind: "create",
          nameHint: "rl-new",
          trigger: "recovered_surprise",
          deferred,
          refs,
          summary: long("sum", 60),
        },
        {
          ...{ kind: "update", skill: "rl-old", issue: "stale_command", effect: "retry_after_tool_error" },
          ...{ deferred, refs, hint: long("hint", 50) },
        },
      ],
      skills: [
        aSkill("rl-old", {
          ...{ text: `# Old\n\n${long("text")}`, hash: "h", description: long("described", 40) },
          files: [{ path: `scripts/${"a".repeat(90)}.sh`, characters: 1234 }],
        }),
      ],
    });
    expect([whole, dossier.timeline.length > dossier.included.length, dossier.omitted.length > 0]).toEqual([
      ...[false, true, true],
    ]);
    const told = describeDossier({ whole, ...dossier }, plain).join("\n");
    const { scope, leads, signals, timeline, included, omitted, skills } = dossier;
    const given = [
      ...textsIn([scope.project, scope.sessions, leads, omitted, included]),
      ...signals.flatMap(({ kind: _, ...signal }) => textsIn(signal)),
      ...timeline.map(({ id, tool, kind }) => `${id} ${tool ?? kind}`),
      ...skills.flatMap(({ hash: _, ...skill }) => textsIn(skill)),
    ];
    const spaceless = (text: string) => text.replace(/\s+/g, "");
    const all = spaceless(told);
    // What a lead does is told in words.
    const missing = given.filter(
      (text) => !["create", "patch"].includes(text) && !all.includes(spaceless(text)),
    );
    expect(missing).toEqual([]);
  });
});
