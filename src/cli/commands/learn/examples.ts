import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Suggestion, skillFile } from "../../../library/index.ts";
import { several } from "../../../text/index.ts";
import type { AnyCall, CliEnv } from "../../command.ts";
import { withKnack } from "../../knack.ts";
import { describeOutcomes, isNews } from "../../screen/changes.ts";
import { describeSuggestion } from "../../screen/lesson.ts";
import { createScreen } from "../../screen/screen.ts";
import { describeNoSessions } from "../../transcript-files.ts";
import { type LearnScreenOptions, learnedJson } from "./results.ts";

/** Example lessons that are shown. */
const shownLessons = 5;

/**
 * Learns from the bundled sessions, so that a newcomer sees real results: in a home of its own below the system's
 * temporary folder, where every suggestion is kept. Nothing else is touched.
 */
export async function showExamples(call: AnyCall, { json }: LearnScreenOptions): Promise<number> {
  const { env, examples, screen } = call;
  const home = call.dryRun ? null : mkdtempSync(join(tmpdir(), "knack-example-"));
  const exampleEnv: CliEnv = {
    ...env,
    ...(home === null ? {} : { HOME: home, USERPROFILE: home, KNACK_HOME: join(home, ".knack") }),
    CLAUDE_CONFIG_DIR: undefined,
    CODEX_HOME: undefined,
  };
  return withKnack(
    { ...call, env: exampleEnv },
    async (knack) => {
      const learned = await knack.learn(existsSync(examples) ? [examples] : []);
      const ids = new Set(learned.findings.map(({ lessonId }) => lessonId));
      // At time 0 nothing has faded, so the examples give the same lessons in years to come.
      const { suggestions: all, leftOut } = await knack.suggest({ only: ids, now: 0, most: 20 });
      const suggestions = includeSkill(all);
      const outcomes = [];
      for (const { lesson } of home === null ? [] : suggestions) {
        const keeping = await knack.keep(lesson, { reach: "everywhere", actor: "person" });
        if (keeping.kept) outcomes.push(...keeping.outcomes);
      }
      if (json) {
        const lessons = (await knack.lessons()).filter(({ id }) => ids.has(id));
        const steps = home === null ? suggestions.flatMap(({ plan }) => plan.steps) : outcomes;
        const changes = steps.filter(isNews).map(({ change }) => change);
        screen.json({ ...learnedJson(learned, lessons, changes, leftOut), examples: true, home });
        return 0;
      }
      const there = createScreen(exampleEnv);
      screen.print([
        ...describeNoSessions(env),
        `These are ${several(learned.sessions.length, "bundled example session")}, and what Knack learns from them.`,
        "",
        ...suggestions.flatMap((one) => [...describeSuggestion(one, there, { preview: home === null }), ""]),
      ]);
      if (home === null) {
        screen.print(["Nothing was written (--dry-run)."]);
        return 0;
      }
      const skill = outcomes.find(({ change, done }) => done && change.kind === "skill");
      screen.print([
        `The examples' ${several(suggestions.length, "lesson")} were kept in a temporary home:`,
        ...describeOutcomes(outcomes, screen),
        "Nothing else on this machine was changed. You can delete that folder at any time.",
        "",
        ...(skill ? [`One of them in full, ${skillFile} as an agent reads it:`, ""] : []),
      ]);
      if (skill) screen.print([...indentFile(join(skill.change.path, skillFile)), ""]);
      const setting = env.KNACK_HOME ? `HOME=${home} KNACK_HOME=${join(home, ".knack")}` : `HOME=${home}`;
      screen.print([
        "Look around in it:",
        `  ${setting} ${screen.knack} skills list`,
        "See what such lessons are worth, with every hit and every miss:",
        `  ${screen.knack} backtest`,
        "Then use your agent as usual, and run this again: it learns from your own sessions.",
      ]);
      return 0;
    },
    // The examples come with their lessons: no model is paid for them.
    { create: true, observer: "heuristic" },
  );
}

function indentFile(path: string): string[] {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => (line === "" ? "" : `  ${line}`));
}

/** The best few, with a skill among them: a newcomer should see both skills and rules. */
function includeSkill(all: readonly Suggestion[]): Suggestion[] {
  const best = all.slice(0, shownLessons);
  const isSkill = ({ lesson }: Suggestion) => lesson.artifact === "skill";
  const skill = all.find(isSkill);
  return best.some(isSkill) || !skill ? best : [...best.slice(0, -1), skill];
}
