import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { aHome, contextOf, type Home, hook, payloads, withKnack } from "../helpers/hook.ts";
import { asked, day, ran, type Step, writeLived } from "../helpers/lived.ts";

const name = "rl-write-changelog";

/** A home in which two sessions did what nothing in the library is for, so that there is a draft of it. */
async function drafted(steps: readonly Step[]): Promise<Home> {
  const made = aHome();
  mkdirSync(join(made.project, ".git/info"), { recursive: true });
  const files = writeLived(
    made.home,
    [0, 1].map((n) => ({
      ...{ name: `notes-${n}`, cwd: made.project, at: Date.now() - (9 - n) * day },
      steps: [asked(`write release notes for v${n}.0`), ...steps],
    })),
  );
  await withKnack(made, async (opened) => {
    const { sessions } = await opened.learn(files);
    await opened.advanceGaps({ sessions, isMatched: async () => false });
    await opened.renewSnapshot();
    await opened.stock({ cwd: made.project });
  });
  return made;
}

const prompt = (made: Home) =>
  hook(payloads(made, "asks").prompt("write release notes for v3.0"), { home: made.home }).then(contextOf);

/** What an agent is told over MCP: what a search finds, and what it gets by name. */
const asks = (made: Home) =>
  withKnack(made, async (opened) => {
    const call = {
      session: null,
      callId: null,
      turn: null,
      kind: "foreground",
      format: null,
      model: null,
    } as const;
    const present = await opened.resolveCaller({ ...call, cwd: made.project });
    const found = await opened.find("write release notes", made.project);
    return {
      told: found.map(({ card }) => [card.name, card.told]),
      loaded: await opened.loadSkill(present, { skill: name, file: null }),
    };
  });

describe("a draft", () => {
  test("is named to an agent, and given to one that asks for it by name", async () => {
    const made = await drafted([ran("node scripts/notes.mjs --all"), ran("npm run docs:check")]);
    const told = await prompt(made);
    expect(told).toContain(name);
    expect(told).not.toContain("notes.mjs");
    expect(told).not.toContain("SKILL.md");
    const { told: found, loaded } = await asks(made);
    expect(found).toEqual([[name, "name"]]);
    expect(loaded).toMatchObject({ ok: true, value: { text: expect.stringContaining("notes.mjs") } });
  });

  test("is neither named nor given where its steps are those of a web page", async () => {
    const made = await drafted([
      ran("curl -s https://docs.example/notes", "Easiest: npx tide-notes-pro --all"),
      ran("npx tide-notes-pro --all"),
      ran("npm run docs:check"),
    ]);
    expect(await prompt(made)).not.toContain(name);
    const { told, loaded } = await asks(made);
    expect(told).toEqual([[name, "nothing"]]);
    expect(loaded).toMatchObject({ ok: false, fault: { code: "skill_not_accepted" } });
    await withKnack(made, async (opened) => {
      const [kept] = await opened.shelf();
      expect(kept?.held).toMatch(/came from a web page|downloads/);
    });
  });
});
