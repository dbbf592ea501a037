import { expect } from "vitest";
import { answering, isAboutSession, nothingToMerge, recordIn } from "../helpers/judging.ts";
import { type DrivenAgent, firstPrompt, openMachine, playFirst } from "./chain.ts";
import type { Script } from "./model-server.ts";

const rule = "Verify the harbor with npm run verify; npm run verfy is no script here.";
const skill = {
  name: "let-a-ship-leave",
  lesson: "See that the harbor is in order before a ship leaves.",
  steps: ["Run `cat package.json` and look for the script", "Run `npm run verify`"],
  check: "`npm run verify` ends with 0",
};
const begins = "begins -----";

/** A judge's answer to what a model was sent: a rule of what failed, and a skill of what a person asked for. */
function judge(sent: string): object {
  const text = findTexts(JSON.parse(sent)).find((one) => one.includes(begins)) ?? "";
  if (!isAboutSession(text)) return { ...answering([]), ...nothingToMerge };
  const about = recordIn(text).leads.map(({ lead, kind, refs }) => ({ leads: [lead], kind, refs }));
  const answers = {
    // What npm itself proposes would be no lesson.
    "error-recovery": {
      lesson: rule,
      when: "the harbor is verified",
      do: "run npm run verify before a ship leaves",
    },
    "explicit-instruction": { ...skill, when: "a ship leaves", do: "see that the harbor is in order" },
  };
  return answering(about.map((one) => ({ ...one, ...answers[one.kind as keyof typeof answers] })));
}

function findTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(findTexts) : [];
}

function scriptFor(agent: DrivenAgent): Script {
  return {
    turns: [[{ text: "Nothing is scripted for that." }]],
    side: (asked) => (asked.includes(begins) ? JSON.stringify(judge(asked)) : "ok"),
    branches: [
      { says: begins, turns: [(news) => [{ text: JSON.stringify(judge(news)) }]] },
      playFirst(agent),
      { says: "Is a ship in the docks?", turns: [[{ text: "There is none." }]] },
    ],
  };
}

/**
 * An agent in which Knack is not installed: `knack run` learns from its session, it judges that session where it can be
 * asked, and the next session reads what was kept: a rule, and a skill where the
 * prompt is a lead.
 */
export async function playAsked(
  agent: DrivenAgent,
  { asks = agent.id as string, makesSkill = true } = {},
): Promise<void> {
  const { run, session } = await openMachine(agent, { script: scriptFor(agent), isAsked: true });
  const ran = await run("run", "--", ...(await agent.program()), ...agent.answers(firstPrompt));
  expect(ran.code, ran.stderr).toBe(0);
  expect(ran.stderr).toContain("Read 1 session in 1 project.");
  const named = async () => {
    const { lessons } = JSON.parse((await run("lessons", "--json")).stdout) as {
      lessons: { lesson: string }[];
    };
    return lessons.map(({ lesson }) => lesson);
  };
  expect(await named()).toEqual([expect.stringContaining("npm run verify")]);

  const judged = await run("learn", "--judge", asks, "--json");
  expect(judged.code, judged.stderr).toBe(0);
  const lessons = makesSkill ? [rule, skill.lesson] : [rule];
  expect(JSON.parse(judged.stdout).judged, judged.stderr).toMatchObject({
    ...{ aside: [], sessions: 1, lessons: lessons.length },
  });
  expect((await named()).sort()).toEqual(lessons.sort());

  const kept = await run("learn", "--yes", "--where", "repository");
  expect(kept.code, kept.stderr).toBe(0);
  const sent = await session("Is a ship in the docks?");
  expect(sent.at(-1)?.split(rule), kept.stdout).toHaveLength(2);
  if (makesSkill) expect(sent.at(-1), kept.stdout).toContain(`rl-${skill.name}`);
}
