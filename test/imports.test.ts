import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const src = resolve(import.meta.dirname, "../src");

/** What each folder may import: other folders of src, and packages. `node:` stands for all of Node's own modules. */
const allowed: Record<string, readonly string[]> = {
  core: ["core", "unbash", "yaml", "diff"],
  engine: ["core", "engine"],
  store: ["core", "engine", "store", "kysely", "libsql", "node:"],
  library: ["core", "engine", "library", "zod/mini", "node:"],
  sources: ["core", "engine", "sources", "node:"],
  redaction: ["core", "engine", "redaction", "@secretlint/secretlint-rule-preset-recommend", "node:"],
  models: ["core", "engine", "models", "ai", "@ai-sdk/anthropic", "@ai-sdk/openai-compatible", "node:"],
  hook: ["core", "engine", "sources", "store", "hook", "config.ts", "node:"],
  worker: ["core", "engine", "hook", "store", "worker", "config.ts", "open.ts", "node:"],
  agents: ["core", "engine", "agents", "jsonc-parser", "node:"],
  mcp: [
    "core",
    "engine",
    "mcp",
    "open.ts",
    "zod",
    "@modelcontextprotocol/server",
    "@modelcontextprotocol/server/stdio",
  ],
  cli: [
    "core",
    "engine",
    "cli",
    "agents",
    "sources",
    "redaction",
    "hook",
    "worker",
    "mcp",
    "config.ts",
    "settings.ts",
    "open.ts",
    "open",
    "install.ts",
    "citty",
    "node:",
  ],
  "hook.ts": ["core", "hook", "config.ts", "node:"],
  "config.ts": ["core", "node:"],
  "settings.ts": ["core", "config.ts", "zod/mini", "node:"],
  "recorder.ts": ["core", "engine", "sources", "node:"],
  "open.ts": ["engine", "redaction", "open"],
  open: [
    "core",
    "engine",
    "store",
    "library",
    "sources",
    "agents",
    "models",
    "config.ts",
    "settings.ts",
    "recorder.ts",
    "open",
    "node:",
  ],
  "install.ts": ["agents", "library", "config.ts"],
  "index.ts": ["core", "engine", "open", "open.ts", "recorder.ts"],
};

describe("imports point inward", () => {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  it.each(files)("%s", (file) => {
    const area = file.split("/")[0] as string;
    const text = readFileSync(join(src, file), "utf8");
    const imports = [
      ...text.matchAll(/(?:^|\n)\s*(?:import|export)[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)/g),
    ].map(([, a, b]) => (a ?? b) as string);
    for (const name of imports)
      expect(allowed[area], `${file} imports ${name}`).toContain(areaOf(file, name));
  });
});

function areaOf(file: string, name: string): string {
  if (name.startsWith("node:")) return "node:";
  if (!name.startsWith(".")) return name;
  return relative(src, resolve(dirname(join(src, file)), name)).split("/")[0] as string;
}
