import { describe, expect, it, test } from "vitest";
import { toolPattern } from "../../../src/learning/leads/repetition.ts";
import { analyzeSession, wideBreadth } from "../../../src/learning/leads/session.ts";
import { extractGist, isSameLesson } from "../../../src/lessons/similarity.ts";
import type { Event } from "../../../src/records/session.ts";
import { called, edited, ran, replied, said, session } from "../../helpers/events.ts";

const found = (...events: Event[]) => toolPattern(analyzeSession(session(said("go on"), ...events)));
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
    expect(finding?.confidence).toBeLessThan(0.15);
  });

  test("of tools that a project brought along needs to come less often", () => {
    const browser = ["browser_navigate", "browser_snapshot", "browser_click"].map((name) =>
      called(`mcp__playwright__${name}`, {}, "ok"),
    );
    expect(found(...times(2, ...browser))[0]?.keywords).toContain("playwright browser_navigate");
    // What happened once does not come again and again.
    expect(found(...browser)).toEqual([]);
  });

  test("that every task is made of is evidence for its files alone, and nothing to tell or to ask a model about", () => {
    const round = (file: string) => times(5, search, read(file), edited(file), ran("make deploy", "ok"));
    const [finding] = found(...round("a.ts"));
    expect(finding).toMatchObject({
      trigger: "you work on `.ts` files",
      action: "use `search → read → edit`",
      excerpt: { worked: "Grep x\nRead a.ts\nEdit a.ts", said: "and the next one" },
      refs: ["e3", "e4", "e5", "e8", "e9", "e10", "e13", "e14"],
    });
    expect(finding?.confidence).toBeLessThan(0.05);
    const gists = ["a.ts", "b.ts", "a.py"].map((file) => extractGist(found(...round(file))[0] as never));
    expect(gists.map((gist) => isSameLesson(gist, gists[0] as never))).toEqual([true, true, false]);
    const wide = analyzeSession(session(said("go on"), ...round("a.ts")), undefined, wideBreadth);
    expect(toolPattern(wide)).toEqual([]);
  });

  test("of edits and checks alone is no news however many sessions have it; a tool of the project's own makes it one", () => {
    const round = (...events: Event[]) =>
      found(...times(3, edited("a.ts"), ...events, ran("npx tsc", "ok")))[0]?.confidence;
    expect(round(ran("npx vitest run a", "ok"))).toBeLessThan(0.05);
    expect(round(called("WebFetch", {}, "ok"))).toBeLessThan(0.05);
    expect(round(called("mcp__catalog__sync", {}, "ok"))).toBeGreaterThan(0.05);
  });

  it.each<[string, Event[]]>([
    ["looking about", times(5, search, read("a.ts"), ran("make deploy", "ok"))],
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
    const others = ["one", "two"].map((name) => called(`mcp__server__${name}`, {}, "ok"));
    for (const tool of tools)
      expect(found(...times(2, called(tool, {}, "ok"), ...others))[0]?.lesson).toContain(
        `: ${idea}, then server one, then server two.`,
      );
  });
});
