import { describe, expect, test } from "vitest";
import { knackHere } from "../helpers/here.ts";
import { aHome } from "../helpers/hook.ts";

describe("knack goal", () => {
  test("holds a deep goal until what was seen is kept", async () => {
    const { home, project } = aHome();
    const run = async (...words: string[]) => {
      const ran = await knackHere(["goal", ...words, "--json"], { home, cwd: project });
      return { ...ran, json: ran.stdout === "" ? null : JSON.parse(ran.stdout) };
    };
    const opened = await run("open", "Find out why the build is slow");
    expect(opened).toMatchObject({ code: 0, stderr: "" });
    const { goal } = opened.json;
    const seen = await run(
      "observe",
      "The cache key leaves out the branch",
      "--impact",
      "1",
      "--surprise",
      "1",
    );
    expect(seen.json.score).toBeGreaterThan(0.4);
    const checked = await run("check");
    expect(checked.code).toBe(1);
    expect(checked.json).toMatchObject({ goal, depth: "deep", blocked: true, all_passed: false });
    const lesson = checked.json.duties.find(({ duty }: { duty: string }) => duty === "lesson");
    expect(lesson).toMatchObject({ verdict: "fixable", blocking: true });
    expect((await run("close")).code).toBe(1);
    const [, , ...words] = lesson.repairs[0].command.split(" ");
    expect(await run(...words)).toMatchObject({ code: 0 });
    expect((await run("check")).json).toMatchObject({ blocked: false });
    expect((await run("close")).json).toMatchObject({ closed: "kept", next: [] });
  });
});
