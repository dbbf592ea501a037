import { describe, expect, test } from "vitest";
import { renderDiff } from "../../src/text/markdown.ts";

describe("a diff", () => {
  test("shows what changes, with a little around it", () => {
    expect(renderDiff("AGENTS.md", "a\nb\nc\n", "a\nB\nc\n")).toBe(
      "--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
    );
  });

  test("of a file that comes or goes names nothing on the other side", () => {
    expect(renderDiff("x", null, "a\n")).toBe("--- /dev/null\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n");
    expect(renderDiff("x", "a\n", null)).toBe("--- a/x\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n");
  });

  test("is empty when nothing changes", () => expect(renderDiff("x", "a", "a")).toBe(""));

  test("of long texts with nothing in common is still given", () => {
    // More lines in all than are compared with each other.
    const text = (word: string) => Array.from({ length: 2_600 }, (_, at) => `${word} ${at}\n`).join("");
    const diff = renderDiff("x", text("old"), text("new"));
    expect(diff).toContain("-old 2599\n");
    expect(diff).toContain("+new 2599\n");
  }, 20_000);
});
