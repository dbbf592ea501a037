import { describe, expect, it, test } from "vitest";
import { sceneOf } from "../../../src/core/detect/scene.ts";
import { ideaOf, toolPattern } from "../../../src/core/detect/tool-pattern.ts";
import type { Event } from "../../../src/core/event.ts";
import { policy } from "../../../src/core/policy.ts";
import { called, edited, ran, replied, said, session } from "../../helpers/events.ts";

const found = (...events: Event[]) => toolPattern(sceneOf(session(said("go on"), ...events)));
const times = (n: number, ...events: Event[]) =>
  Array.from({ length: n }, () => [said("and the next one"), ...events]).flat();
const read = (file: string) => ({ ...called("Read", { file_path: file }, "ok"), files: [file] });
const search = called("Grep", { pattern: "x" }, "ok");

describe("a sequence of tools", () => {
  test("is found when it comes again and again, and says which tools for which files", () => {
    const [finding, ...more] = found(
      ...times(3, search, read("a.py"), edited("a.py"), ran("uv run pytest a.py", "ok")),
    );
    expect(more).toEqual([]);
    expect(finding?.lesson).toContain("search, then read, then edit, then `uv run pytest`");
    expect(finding?.lesson).toContain("`.py`");
    expect(finding?.confidence).toBeLessThan(policy.learn.waits);
  });

  test("of tools that a project brought along needs to come less often", () => {
    const browser = ["browser_navigate", "browser_snapshot", "browser_click"].map((name) =>
      called(`mcp__playwright__${name}`, {}, "ok"),
    );
    expect(found(...browser)[0]?.keywords).toContain("playwright browser_navigate");
  });

  it.each<[string, Event[]]>([
    ["what every task is made of", times(5, search, read("a.ts"), edited("a.ts"), ran("make deploy", "ok"))],
    ["two times", times(2, read("a.ts"), edited("a.ts"), ran("npm test", "ok"))],
    ["two tools", times(4, edited("a.ts"), ran("npm test", "ok"))],
    [
      "the same tool many times",
      times(4, ran("npm test", "ok"), ran("npm test", "ok"), ran("npm test", "ok")),
    ],
    [
      "across tasks",
      [read("a.ts"), said("next please"), edited("a.ts"), said("and now"), ran("npm test", "ok")],
    ],
  ])("is not %s", (_, events) => expect(found(...events)).toEqual([]));

  it("counts calls in a row as one, whatever is said or planned in between", () => {
    const todo = called("TodoWrite", {}, "ok");
    const busy = times(
      3,
      read("a.ts"),
      read("b.ts"),
      replied("Now."),
      todo,
      edited("a.ts"),
      edited("b.ts"),
      ran("npm test", "ok"),
    );
    expect(found(...busy)[0]?.lesson).toContain("3 times");
  });

  it.each<[string, string[]]>([
    ["search", ["Grep", "Glob", "grep_search", "search_files", "codebase_search", "LS", "list_directory"]],
    ["read", ["Read", "read_file", "ReadFile", "view", "open", "read_many_files"]],
    [
      "edit",
      [
        "Edit",
        "Write",
        "MultiEdit",
        "apply_patch",
        "str_replace_editor",
        "write_file",
        "replace",
        "create_file",
      ],
    ],
    ["fetch", ["WebFetch", "web_search", "google_web_search"]],
    ["delegate", ["Task", "Agent", "spawn_agent"]],
  ])("%s is one idea, whichever agent has it", (idea, tools) => {
    expect(tools.map((tool) => ideaOf(called(tool, {}, "ok")))).toEqual(tools.map(() => idea));
  });
});
