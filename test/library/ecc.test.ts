import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type CarriedLesson, readExchange, renderEccFiles } from "../../src/library/exchange/formats.ts";
import { oneLine } from "../../src/text/markdown.ts";
import { carriedLesson } from "../helpers/carried.ts";
import { tempFolder } from "../helpers/temp.ts";

const aLesson = (more: Partial<CarriedLesson> = {}) =>
  carriedLesson({
    name: "run-migrations-first",
    trigger: "when the integration suite is about to run",
    action: "Apply the pending migrations first.",
    lesson: "The suite needs the migrations.",
    confidence: 0.7,
    domain: "testing",
    project: { id: "a1b2c3d4e5f6", name: "harbor" },
    ...more,
  });

/** What a file of ECC's holds. */
function read(text: string, path = join(tempFolder(), "instincts.md")) {
  writeFileSync(path, text);
  return readExchange(path);
}

/** A file as ECC's observer writes it. */
const file = (front: string, body = "# Title\n\n## Action\nApply migrations.\n\n## Evidence\n- 7 times\n") =>
  `---\n${front}\n---\n\n${body}`;

describe("ECC's instincts", () => {
  it.each<[string, string, Partial<CarriedLesson>[]]>([
    [
      "are read with their fields",
      file(
        'id: run-migrations\ntrigger: "when tests: run"\nconfidence: 0.7\ndomain: testing\nscope: project\nproject_id: a1\nproject_name: harbor',
      ),
      [
        {
          name: "run-migrations",
          trigger: "when tests: run",
          action: "Apply migrations.",
          confidence: 0.7,
          domain: "testing",
          scope: "project",
          project: { id: "a1", name: "harbor" },
        },
      ],
    ],
    [
      "are several in one file",
      `${file("id: one\ntrigger: a\nconfidence: 0.5")}\n${file("id: two\ntrigger: b\nconfidence: 0.9\nscope: global")}`,
      [{ name: "one" }, { name: "two", scope: "user", confidence: 0.9 }],
    ],
    [
      "with a bad confidence count half",
      file("id: one\ntrigger: a\nconfidence: high"),
      [{ confidence: 0.5 }],
    ],
    ["without a confidence count half", file("id: one\ntrigger: a"), [{ confidence: 0.5 }]],
    [
      "in single quotes, with Windows line ends, and without an action",
      file("id: keep-it\ntrigger: 'when it''s late'", "# Go home\n").replaceAll("\n", "\r\n"),
      [{ trigger: "when it's late", action: "Go home" }],
    ],
  ])("%s", async (_, text, found) => expect((await read(text)).lessons).toMatchObject(found));

  it.each([
    ["without an id", file("trigger: a\nconfidence: 0.5")],
    ["with an id that is a path", file("id: ../../etc\ntrigger: a")],
    ["that have no front matter", "# Only a text\n\n- with a list\n"],
  ])("%s are none", async (_, text) => {
    await expect(read(text)).rejects.toThrow(/holds no instinct/);
  });

  it.each<[string, string, RegExp]>([
    ["no end of their front matter", "---\nid: one\ntrigger: a\n\n# T\n\n## Action\nDo.\n", /no closing ---/],
    ["a list that does not end", file("id: one\ntrigger: [unclosed"), /its trigger cannot be read/],
    ["a quote that does not end", file('id: one\ntrigger: "when'), /its trigger cannot be read/],
    ["no action", file("id: one\ntrigger: a", "Text.\n"), /what to do/],
    ["a title for an action that is their id", file("id: do-it\ntrigger: a", "# Do it\n"), /what to do/],
    ["an id that is a path", file("id: ../../etc\ntrigger: a"), /the id/],
  ])("with %s are told of, and the next one is read", async (_, text, problem) => {
    const { lessons, problems } = await read(`${text}\n${file("id: next\ntrigger: b")}`);
    expect(lessons).toMatchObject([{ name: "next" }]);
    expect(problems).toEqual([expect.stringMatching(problem)]);
  });

  test("come back as they were written", async () => {
    const path = join(tempFolder(), "instincts.md");
    const text = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 60 })
      .map((one) => one.replace(/\s+/g, " ").trim())
      .filter(
        (one) =>
          one !== "" &&
          // What cannot be seen is not written.
          oneLine(one) === one &&
          !/^["']|["']$|^[#>`~-]|\\/.test(one) &&
          !/[\u0000-\u001f\u0085\u2028\u2029]/.test(one),
      );
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            trigger: text,
            action: text,
            lesson: text,
            confidence: fc.integer({ min: 0, max: 100 }).map((n) => n / 100),
            scope: fc.constantFrom("project", "user" as const),
            kind: fc.constantFrom("convention", "error-recovery" as const),
          }),
          { minLength: 1, maxLength: 5 },
        ),
        async (lessons) => {
          const carried = lessons.map((lesson, n) =>
            aLesson({
              ...lesson,
              name: `lesson-${n}`,
              ...(lesson.scope === "user" ? { project: null } : {}),
            }),
          );
          const written = [...renderEccFiles(carried).values()].join("\n");
          expect(await read(written, path)).toMatchObject({ lessons: carried, problems: [] });
        },
      ),
      { numRuns: 60 },
    );
  });

  test("never have a line of --- in their text, which would end them", async () => {
    const lesson = aLesson({ action: "one\n---\ntwo", lesson: "a\n---\nb" });
    const [written = ""] = renderEccFiles([lesson]).values();
    expect(written.split("\n").filter((line) => line.trim() === "---")).toHaveLength(2);
    expect((await read(written)).lessons).toMatchObject([{ action: "one --- two" }]);
  });

  test("lie where ECC looks for them, two of one name beside each other", () => {
    const files = renderEccFiles([aLesson(), aLesson(), aLesson({ scope: "user", project: null })]);
    expect([...files.keys()]).toEqual([
      "projects/a1b2c3d4e5f6/instincts/personal/run-migrations-first.md",
      "projects/a1b2c3d4e5f6/instincts/personal/run-migrations-first-2.md",
      "instincts/personal/run-migrations-first.md",
    ]);
  });
});
