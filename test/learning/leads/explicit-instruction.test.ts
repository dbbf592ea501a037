import { describe, expect, it, test } from "vitest";
import { analyzeSession } from "../../../src/learning/leads/session.ts";
import { findSpokenLessons } from "../../../src/learning/leads/spoken-lesson.ts";
import type { Event } from "../../../src/records/session.ts";
import { ran, replied, said, session } from "../../helpers/events.ts";

const explicitInstruction = (events: readonly Event[]) =>
  findSpokenLessons(analyzeSession(events).spoken, "explicit-instruction");

const heard = (words: string, reply = "OK.") =>
  explicitInstruction(
    session(said("Start the stack"), ran("docker compose up", "ok"), said(words), replied(reply)),
  );

describe("an instruction to keep", () => {
  it.each([
    "save this as docker-dev",
    "ok great, save these steps as a skill called docker-dev",
    "can you save this as deploy-staging?",
    "把这个流程保存为 docker-dev",
    "from now on, answer in two sentences",
    "Going forward ask me before you push",
    "always run the linter before you commit",
    "never force-push to this branch",
    "please remember: the staging database is read-only",
    "whenever you add a route, update the openapi file",
    "add to CLAUDE.md that tests need docker",
    "we no longer deploy to heroku, update AGENTS.md",
    "reply in German please",
    "make sure to follow the release process for this",
    "以后都用 pnpm 安装依赖",
    "记住，提交信息要用英文",
    "今後はテストを先に書いてください",
    "앞으로는 커밋하기 전에 테스트를 실행해줘",
    "a partir de ahora usa siempre pnpm",
    "ab jetzt bitte immer auf Deutsch antworten",
    "désormais lance les tests avant de commiter",
  ])("is %s", (words) => expect(heard(words)).toHaveLength(1));

  it.each([
    "do you remember which port it uses?",
    "why does it always restart?",
    "the list should always show the newest entry first",
    "add a remember me checkbox to the login form",
    "it never works on the first try",
    "add CLAUDE.md to the .gitignore",
    'the page says "from now on you are logged in"?',
    "what happens next time the token expires?",
    "save this file",
    "save it as json",
    "store this as a string in the settings table",
    "save this as a PDF please",
    "以后再说吧？",
    "前回の設定を覚えていますか？",
  ])("is not %s", (words) => expect(heard(words)).toEqual([]));

  test("keeps exactly the name that the person gave, as a skill", () => {
    expect(heard("save this as docker-dev")[0]).toMatchObject({ name: "docker-dev", artifact: "skill" });
  });

  test('names the commands that "this" means', () => {
    const [found] = heard("save this as docker-dev");
    expect(found?.lesson).toBe("Save this as docker-dev. Done before: `docker compose up`.");
    expect(found?.refs).toEqual(["e3", "e4", "e2"]);
  });

  test("keeps the clause about the language, not the task it hangs on", () => {
    expect(heard("finish the report, reply in Spanish")[0]?.lesson).toBe("Reply in Spanish.");
  });

  test("says when it applies", () => {
    expect(heard("always run the linter before you commit")[0]?.trigger).toBe("before you commit");
  });

  test("is told in the person's words, not in the agent's report of taking it on", () => {
    const words = "Agrega a tu CLAUDE.md que hay que preguntar antes de publicar los skills.";
    const [found] = heard(words, "Entendido. Añado la regla al CLAUDE.md del proyecto, antes de publicar.");
    expect(found).toMatchObject({ action: words, lesson: words });
  });

  test("keeps its negation", () => {
    expect(heard("never force-push to this branch")[0]?.action).toBe("Never force-push to this branch.");
  });
});

describe("what an instruction names", () => {
  const setUp = [
    said("get the database going"),
    ran("docker compose up -d db", "ok"),
    ran("wc -l schema.sql", "ok", "40"),
    ran("npm run migrate", "ok"),
    replied("It is up."),
  ];
  test("is a skill with the commands that did it, without those that only looked", () => {
    const [saved] = explicitInstruction(
      session(...setUp, said("save this as docker-dev"), replied("Saved.")),
    );
    expect(saved).toMatchObject({
      name: "docker-dev",
      artifact: "skill",
      steps: ["Run `docker compose up -d db`", "Run `npm run migrate`"],
    });
  });

  it.each<[string, string, string[]]>([
    [
      "a list",
      "From now on: 1. run npm run lint 2. run npm test 3. only then commit",
      ["Run npm run lint", "Run npm test", "Only then commit"],
    ],
    [
      "lines",
      "Always do these before a release.\n1. run npm run lint\n2. run npm test",
      ["Run npm run lint", "Run npm test"],
    ],
    [
      "first and then",
      "Remember the release: first run npm run lint, then npm test, then npm version patch",
      ["Run npm run lint", "Npm test", "Npm version patch"],
    ],
  ])("is a skill with steps when they are told as %s", (_, words, steps) => {
    const [found] = explicitInstruction(session(...setUp, said(words), replied("Understood.")));
    expect(found).toMatchObject({ artifact: "skill", steps });
  });

  test("is not cut at an abbreviation", () => {
    const words = "From now on use e.g. pnpm v9.1.0 instead of npm, i.e. run pnpm install --frozen-lockfile";
    const [found] = explicitInstruction(session(...setUp, said(words), replied("Understood.")));
    expect(found?.lesson).toContain("--frozen-lockfile");
  });
});
