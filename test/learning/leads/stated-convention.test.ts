import { describe, expect, it, test } from "vitest";
import { analyzeSession } from "../../../src/learning/leads/session.ts";
import { findSpokenLessons } from "../../../src/learning/leads/spoken-lesson.ts";
import type { Event } from "../../../src/records/session.ts";
import { replied, said, session } from "../../helpers/events.ts";

const statedConvention = (events: readonly Event[]) =>
  findSpokenLessons(analyzeSession(events).spoken, "convention");

const heard = (words: string) =>
  statedConvention(session(said(words), replied("I'll start with the schema.")));

describe("a convention that a person states", () => {
  it.each([
    "Add an invoices endpoint. In this repo every handler needs a zod schema in src/schemas.",
    "Write the parser. Follow the guidelines in CONTRIBUTING.md exactly.",
    "Add the migration, following the naming conventions of the existing files.",
    "写一个新组件，参考已有组件的风格，不要自己造轮子",
    "APIを追加して。このプロジェクトの規約に従って、型はschemaから生成してください。",
  ])("is %s", (words) => expect(heard(words)).toHaveLength(1));

  it.each([
    "Add an invoices endpoint and a test for it.",
    "Users must always see the newest invoice first.",
    "What are the naming conventions in this repo?",
    "The page should follow the user's time zone.",
    "按钮的颜色要改成蓝色",
  ])("is not %s", (words) => expect(heard(words)).toEqual([]));

  test("belongs to the project and is told without the task", () => {
    const [found] = heard(
      "Add an invoices endpoint. In this repo every handler needs a zod schema in src/schemas.",
    );
    expect(found).toMatchObject({ kind: "convention", scope: "project" });
    expect(found?.lesson).toBe("In this repo every handler needs a zod schema in src/schemas.");
  });
});
