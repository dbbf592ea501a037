import { describe, expect, test } from "vitest";
import { detect } from "../../../src/core/detect/index.ts";
import { edited, ran, replied, said, session } from "../../helpers/events.ts";

const correction = "No, don't edit dist/app.js, it is generated: change src/app.ts and run npm run build";

describe("what a session taught", () => {
  const events = session(
    said("fix the title"),
    edited("dist/app.js"),
    replied("Done, the title is fixed."),
    said(correction),
    replied("You're right, sorry. I'll change the source."),
    edited("src/app.ts"),
    ran("pytest", "failed", "pytest: command not found"),
    ran("uv run pytest", "ok", "3 passed"),
    replied("Fixed."),
    said(
      "I told you already: dist/app.js is generated, never edit it by hand, change src/app.ts and run npm run build",
    ),
    replied("Apologies, you said so. Reverting dist/app.js."),
    edited("src/app.ts"),
  );

  test("is told best first", () => {
    const found = detect(events);
    expect(new Set(found.map(({ kind }) => kind))).toEqual(new Set(["user-correction", "error-recovery"]));
    const confidences = found.map(({ confidence }) => confidence);
    expect(confidences).toEqual([...confidences].sort((a, b) => b - a));
  });

  test("holds what was said twice once, with the events of both", () => {
    const corrections = detect(events).filter(({ kind }) => kind === "user-correction");
    expect(corrections).toHaveLength(1);
    expect(corrections[0]?.refs).toEqual(expect.arrayContaining(["e4", "e10"]));
  });

  test("is nothing when only questions were asked", () => {
    const questions = session(
      said("how does the build work?"),
      ran("cat package.json", "ok", "{}"),
      replied("It runs esbuild."),
      said("and where are the tests?"),
      replied("In test/."),
    );
    expect(detect(questions)).toEqual([]);
  });
});
