import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sessionFoldersOn } from "../agents/index.ts";
import { userHome } from "../config.ts";
import { skillFile } from "../core/skill.ts";
import { several } from "../core/words.ts";
import type { Suggestion } from "../engine/keep.ts";
import { openKnack } from "../open.ts";
import type { LearnFlags } from "./learn.ts";
import { learnedOnWire, writingOf } from "./learned-on-wire.ts";
import type { Env, Surroundings } from "./main.ts";
import { isWritten, tellOutcomes, tellSuggestion } from "./telling.ts";
import { calledAs, paintFor, printJson, printLines } from "./terminal.ts";

/**
 * Learns from the bundled sessions, so that a newcomer sees the real thing: in a home of its own below the system's
 * temporary folder, where everything suggested is kept. Nothing of the person's is touched.
 */
export async function showExamples(flags: LearnFlags, { env, examples }: Surroundings): Promise<number> {
  const home = flags.dryRun ? null : mkdtempSync(join(tmpdir(), "knack-example-"));
  const there: Env = {
    ...env,
    ...(home === null ? {} : { HOME: home, USERPROFILE: home, KNACK_HOME: join(home, ".knack") }),
    CLAUDE_CONFIG_DIR: undefined,
    CODEX_HOME: undefined,
  };
  // The examples are judged already: nobody pays for them.
  const knack = await openKnack({ env: there, dryRun: flags.dryRun, observer: "heuristic" });
  try {
    const learned = await knack.learn(existsSync(examples) ? [examples] : []);
    const ids = new Set(learned.findings.map(({ instinct }) => instinct));
    // Nothing has faded at the start of time, so that they teach the same in years to come.
    const now = 0;
    const all = await knack.suggest({ only: ids, now, most: 20 });
    const suggestions = withSkill(all.suggestions);
    const keepings = [];
    for (const { instinct } of home === null ? [] : suggestions)
      keepings.push(await knack.keep(instinct, { reach: "everywhere", actor: "person" }));
    const outcomes = keepings.flatMap((keeping) => (keeping.kept ? keeping.outcomes : []));
    const writings =
      home === null ? suggestions.flatMap(({ plan }) => plan.steps).map(writingOf) : outcomes.map(writingOf);
    if (flags.json) {
      const instincts = (await knack.instincts()).filter(({ id }) => ids.has(id));
      const wire = learnedOnWire(learned, instincts, writings.filter(isWritten), all.leftOut, Date.now());
      printJson({ ...wire, examples: true, home });
      return 0;
    }
    const paint = paintFor(process.stdout, env);
    printLines([
      "No agent sessions on this machine. Looked in:",
      ...sessionFoldersOn({ home: userHome(env), env }).map((folder) => `  ${folder}`),
      "",
      `So here are bundled example sessions: ${learned.sessions.length} of them, and what Knack learns from them.`,
      "",
      ...suggestions.flatMap((suggestion) => [
        ...tellSuggestion(suggestion, paint, there, { preview: home === null }),
        "",
      ]),
    ]);
    if (home === null) {
      printLines(["Nothing was written (--dry-run)."]);
      return 0;
    }
    const skill = outcomes.find(({ change, done }) => done && change.kind === "skill");
    printLines([
      `These are examples. All ${several(suggestions.length, "lesson")} were kept, in a temporary folder that stands for a home:`,
      ...tellOutcomes(outcomes, env),
      "Nothing else on this machine was touched. Delete the folder whenever you like.",
      "",
      ...(skill ? [`One of them in full, ${skillFile} as an agent reads it:`, ""] : []),
    ]);
    if (skill)
      printLines([
        ...readFileSync(join(skill.change.path, skillFile), "utf8")
          .trimEnd()
          .split("\n")
          .map((line) => (line === "" ? "" : `  ${line}`)),
        "",
      ]);
    const setting = env.KNACK_HOME ? `HOME=${home} KNACK_HOME=${join(home, ".knack")}` : `HOME=${home}`;
    printLines([
      "Look around in it:",
      `  ${setting} ${calledAs(env)} skills list`,
      "See what such lessons are worth, with every hit and every miss:",
      `  ${calledAs(env)} backtest`,
      "Then use your agent as always, and run this again: it learns from your own sessions.",
    ]);
    return 0;
  } finally {
    await knack.close();
  }
}

/** The best few, a skill among them: a newcomer should see both kinds. */
function withSkill(all: readonly Suggestion[]): Suggestion[] {
  const best = all.slice(0, shown);
  const isSkill = ({ instinct }: Suggestion) => instinct.artifact === "skill";
  const skill = all.find(isSkill);
  return best.some(isSkill) || !skill ? best : [...best.slice(0, -1), skill];
}

const shown = 5;
