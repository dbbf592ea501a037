import { describe, expect, it, test } from "vitest";
import { findCertain } from "../../../src/learning/leads/certain.ts";
import { ran, replied, said, session } from "../../helpers/events.ts";

const heard = (words: string) =>
  findCertain(session(said("Start the stack"), ran("docker compose up", "ok"), said(words), replied("OK.")));

describe("a standing order", () => {
  it.each([
    "from now on, answer in two sentences",
    "Going forward ask me before you push",
    "always run the linter before you commit",
    "never force-push to main",
    "No, never commit to the release branch.",
    "When you add a route, always update the openapi file",
    "please remember: the staging database is read-only",
    "In this repo we run tests with vitest, not jest",
    "we never use default exports",
    "use pnpm, not npm",
    "don't use the Graphite CLI",
    "we use pnpm instead of npm for every package",
    "no, don't edit generated/tides.ts by hand, change schema/tides.json and run `npm run tides`",
    "don't touch docs/api.md, it is generated from the schema",
    "ask me before you push to the shared branch",
    "commit messages should start with the ticket number",
    "Branch names must never contain spaces",
    "please answer in German",
    "请用中文回复我",
    "コミットメッセージは日本語で書いて",
    "以后都用 pnpm 安装依赖",
    "记住，提交信息要用英文",
    "今後はテストを先に書いてください",
    "gt は使わないで",
    "main にコミットしないで",
    "앞으로는 커밋하기 전에 테스트를 실행해줘",
    "a partir de ahora usa siempre pnpm",
    "ab jetzt bitte immer auf Deutsch antworten",
    "désormais lance les tests avant de commiter",
  ])("is %s", (words) => {
    expect(heard(words)).toMatchObject([{ artifact: "rule", refs: ["e3", "e4"] }]);
    expect(heard(words)[0]?.confidence).toBeGreaterThanOrEqual(0.6);
  });

  it.each([
    ["a question", "why does it always restart?"],
    ["a question of memory", "do you remember which port it uses?"],
    ["what the product does", "the list should always show the newest entry first"],
    ["what users see", "From now on users must confirm their address"],
    ["a report", "it never works on the first try"],
    ["a quotation", 'the page says "from now on you are logged in"'],
    ["pointing at what was done", "never do that again"],
    ["pointing at what was said", "from now on always do it this way"],
    ["a doubt", "maybe we should always run the linter first"],
    ["for the moment", "for now always use the mock server"],
    ["a correction that says not how long", "the handler is in src/api, not in src/lib"],
    ["agreement", "yes, go on"],
    ["an announcement without what it announces", "from now on follow these rules:"],
    ["pasted", "> always use tabs\nlooks odd to me"],
    ["a checkbox", "add a remember me checkbox to the login form"],
    ["another time", "以后再说吧？"],
    ["a reaction to what was done", "just run the dashboard directly going forward"],
    ["a file that is left alone for the moment", "don't touch src/tides.ts"],
    ["a file that is left alone for a while", "don't edit src/tides.ts by hand yet"],
    ["a choice among things that are built", "use a table instead of the cards"],
    ["about commits that are there", "the commits should be squashed now, which ones are left?"],
    ["a question to somebody else", "ask the server before it starts?"],
  ])("is not %s", (_, words) => expect(heard(words)).toEqual([]));

  test("is not an item of a long specification", () => {
    const items = Array.from(
      { length: 12 },
      (_, n) => `- always use layout ${n} for part ${n} of the report`,
    );
    expect(heard(["Build the report generator.", "It has twelve parts.", ...items].join("\n"))).toEqual([]);
  });

  test("says when it applies, in the person's own words", () => {
    expect(heard("ok so please always run the linter before you commit")).toMatchObject([
      { lesson: "Always run the linter before you commit.", trigger: "before you commit" },
    ]);
  });

  test("is the project's where it names the repository or a file, and the person's otherwise", () => {
    expect(heard("In this repo we run tests with vitest")[0]).toMatchObject({
      ...{ kind: "convention", scope: "project" },
    });
    expect(heard("from now on, answer in two sentences")[0]?.scope).toBe("user");
  });

  test("does not count once it was taken back", () => {
    const events = session(
      said("always use yarn to install packages"),
      replied("OK."),
      said("never mind, npm was right"),
    );
    expect(findCertain(events)).toEqual([]);
  });
});

describe("a request to keep what was done", () => {
  it.each([
    "save this as docker-dev",
    "save this docker-compose setup as docker-dev",
    "ok great, save these steps as a skill called docker-dev",
    "can you save this as docker-dev?",
    "把这个流程保存为 docker-dev",
  ])("is %s", (words) =>
    expect(heard(words)).toMatchObject([
      { name: "docker-dev", artifact: "skill", steps: ["Run `docker compose up`"], refs: ["e3", "e2"] },
    ]),
  );

  it.each(["save this file", "save it as json", "store this as a string in the settings table"])(
    "is not %s",
    (words) => expect(heard(words)).toEqual([]),
  );

  test("is left to a judge where nothing was run before", () => {
    expect(findCertain(session(said("hello"), replied("Hi."), said("save this as docker-dev")))).toEqual([]);
  });
});
