import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, test } from "vitest";
// @ts-expect-error: a script without types
import { renderCommands } from "../scripts/commands.mjs";
import { knackHere } from "./helpers/here.ts";
import { root } from "./helpers/knack.ts";

const pages = [
  ...["README.md", "DESIGN.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md"],
  ...readdirSync(join(root, "docs"), { encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

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
