import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, test } from "vitest";
// @ts-expect-error: a script without types
import { renderCommands } from "../scripts/commands.mjs";
import { knackHere } from "./helpers/here.ts";
import { root } from "./helpers/knack.ts";
import { machine } from "./helpers/machine.ts";
import { tempFolder } from "./helpers/temp.ts";

const pages = [
  ...["README.md", "DESIGN.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md"],
  ...readdirSync(join(root, "docs"), { encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

/** The text blocks of the README, by their first line. */
const shown = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/^```text\n([\s\S]*?)^```$/gm)].map(
  ([, text = ""]) => text.trimEnd().split("\n"),
);

describe("The README", () => {
  test("tells the story that an empty machine is told", async () => {
    const [story = []] = shown;
    const { stdout } = await knackHere([], { home: tempFolder() });
    const told = stdout.split("\n");
    const at = told.indexOf(story[0] ?? "");
    for (const [n, line] of story.entries()) {
      // A long line is cut.
      if (line.endsWith(". …")) expect(told[at + n]).toContain(line.slice(0, -1));
      else expect(told[at + n]).toBe(line);
    }
    expect(story.length).toBeGreaterThan(10);
  });

  test("shows what knack recall answers", async () => {
    const [, [command = "", ...answer] = []] = shown;
    const { home, harbor } = machine();
    await knackHere(["learn"], { home });
    const [, words = ""] = /\| knack (.*)$/.exec(command) ?? [];
    const input = "> harbor-api@1.0.0 test\nDATABASE_URL is not set; copy .env.test to .env\n";
    const asked = words.split(' "npm test"')[0]?.split(" ") ?? [];
    const { stdout } = await knackHere([...asked, "npm test"], { home, cwd: harbor, input });
    const timeless = (text: string) => text.replace(/\d+ % sure/, "% sure").replace(/\d{4}-\d\d-\d\d/, "day");
    expect(timeless(stdout)).toContain(timeless(answer.join("\n")));
    expect(answer).toHaveLength(7);
  });
});

describe("The documents", () => {
  test("have every command as its help has it", async () => {
    const page = await renderCommands((words: readonly string[], env: Record<string, string>) =>
      knackHere(words, { home: env.HOME ?? "", env }),
    );
    expect(readFileSync(join(root, "docs/commands.md"), "utf8")).toBe(page);
  });

  it.each(pages)("link to what is there: %s", (page) => {
    const text = readFileSync(join(root, page), "utf8");
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, path]) => path as string);
    const named = [...text.matchAll(/`((?:src|test|scripts|bench|docs)\/[\w./-]+\.\w+)`/g)].map(
      ([, path]) => `/${path}`,
    );
    const gone = [...links, ...named].filter(
      (path) => !existsSync(path.startsWith("/") ? join(root, path) : join(root, dirname(page), path)),
    );
    expect(gone).toEqual([]);
  });

  test("are short where they must be", () => {
    const words = readFileSync(join(root, "DESIGN.md"), "utf8").split(/\s+/).length;
    const lines = readFileSync(join(root, "README.md"), "utf8").split("\n").length;
    expect(words).toBeLessThan(2_000);
    expect(lines).toBeLessThan(170);
  });
});
