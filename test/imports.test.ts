import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { describe, expect, it } from "vitest";

/**
 * What each module may import, modules first, then packages. A module is a folder of src; others see its index.ts alone.
 * The list is exact: an entry that is not needed fails too, so that it stays narrow.
 */
const allowed: Record<string, readonly string[]> = {
  agents: ["authoring", "base", "library", "node:", "records", "text", "transcripts"],
  authoring: [
    "base",
    "failures",
    "learning",
    "lessons",
    "library",
    "models",
    "node:",
    "recall",
    "records",
    "search",
    "settings",
    "store",
    "text",
    "transcripts",
    "trust",
    "zod",
  ],
  base: ["node:"],
  cli: [
    "agents",
    "authoring",
    "base",
    "citty",
    "duties",
    "fastest-levenshtein",
    "learning",
    "lessons",
    "library",
    "loop",
    "mcp",
    "models",
    "node:",
    "open-goals.ts",
    "open.ts",
    "pages",
    "recall",
    "records",
    "search",
    "settings",
    "spool",
    "store",
    "string-width",
    "team",
    "text",
    "transcripts",
    "trust",
    "web",
    "worker",
    "wrap-ansi",
  ],
  extensions: ["agents", "base", "node:"],
  duties: [
    "base",
    "failures",
    "learning",
    "lessons",
    "records",
    "settings",
    "store",
    "text",
    "transcripts",
    "trust",
    "zod",
  ],
  failures: ["base", "records", "text", "unbash"],
  hook: [
    "base",
    "learning",
    "lessons",
    "node:",
    "recall",
    "records",
    "search",
    "settings",
    "spool",
    "transcripts",
    "trust",
    "unbash",
  ],
  "index.ts": ["base", "program.ts"],
  learning: [
    "base",
    "failures",
    "lessons",
    "models",
    "node:",
    "records",
    "settings",
    "store",
    "text",
    "transcripts",
    "trust",
    "zod/mini",
  ],
  lessons: ["base", "failures", "records", "store", "text"],
  library: [
    "base",
    "failures",
    "learning",
    "lessons",
    "node:",
    "recall",
    "records",
    "search",
    "settings",
    "smol-toml",
    "store",
    "text",
    "transcripts",
    "trust",
    "yaml",
    "zod/mini",
  ],
  loop: [
    "base",
    "duties",
    "lessons",
    "models",
    "node:",
    "recall",
    "records",
    "settings",
    "store",
    "text",
    "trust",
    "zod",
  ],
  mcp: [
    "@modelcontextprotocol/server",
    "@modelcontextprotocol/server/stdio",
    "authoring",
    "base",
    "duties",
    "open.ts",
    "recall",
    "records",
    "search",
    "settings",
    "spool",
    "text",
    "trust",
    "zod",
  ],
  models: [
    "@ai-sdk/anthropic",
    "@ai-sdk/openai-compatible",
    "ai",
    "base",
    "lessons",
    "node:",
    "records",
    "settings",
    "store",
    "trust",
    "zod",
  ],
  "open-base.ts": ["base", "lessons", "records", "settings", "store", "transcripts", "trust"],
  "open-goals.ts": ["duties", "library", "node:", "open-base.ts", "open.ts", "search"],
  "open.ts": [
    "agents",
    "authoring",
    "base",
    "duties",
    "learning",
    "lessons",
    "library",
    "loop",
    "node:",
    "open-base.ts",
    "pages",
    "recall",
    "records",
    "settings",
    "team",
    "transcripts",
    "trust",
  ],
  pages: ["base", "lessons", "library", "records", "search", "text", "trust", "yaml"],
  recall: [
    "base",
    "failures",
    "learning",
    "lessons",
    "node:",
    "records",
    "search",
    "settings",
    "store",
    "text",
    "transcripts",
    "trust",
  ],
  records: ["base"],
  search: ["base", "learning", "node:", "records", "text"],
  settings: ["base", "node:", "records", "zod/mini"],
  spool: ["base", "node:", "recall", "settings"],
  store: ["base", "kysely", "libsql", "node:", "pg", "pg-boss", "records"],
  team: [
    "base",
    "failures",
    "learning",
    "lessons",
    "library",
    "models",
    "node:",
    "recall",
    "records",
    "settings",
    "store",
    "text",
    "trust",
    "zod/mini",
  ],
  text: ["diff", "jsonc-parser", "smol-toml"],
  transcripts: ["base", "failures", "lessons", "libsql", "node:", "records", "settings", "store", "trust"],
  trust: ["@secretlint/secretlint-rule-preset-recommend", "base", "failures", "node:", "records", "text"],
  "program.ts": ["open.ts"],
  web: [
    "@hono/node-server",
    "authoring",
    "base",
    "d3-scale",
    "failures",
    "hono",
    "hono/body-limit",
    "hono/cookie",
    "hono/streaming",
    "lessons",
    "library",
    "loop",
    "models",
    "node:",
    "open.ts",
    "recall",
    "records",
    "team",
    "text",
    "transcripts",
    "trust",
  ],
  worker: ["base", "node:", "open.ts", "recall", "records", "settings", "spool", "transcripts", "trust"],
};

/**
 * Files that touch the world: disk, processes, database, clock, environment. All others decide and are pure: they import
 * no package but these and ask neither the clock nor the environment.
 */
const touching: readonly string[] = [
  "agents/agents.ts",
  "agents/calling-session.ts",
  "agents/install/codex.ts",
  "agents/install/installer.ts",
  "agents/item-roots.ts",
  "authoring/open-authoring.ts",
  "base/plain-file.ts",
  // Hashing is pure; its package, which has random numbers too, is not.
  "base/sha256.ts",
  "base/whole-file.ts",
  "learning/instructions.ts",
  "library/catalog/find-items.ts",
  "library/catalog/read-files.ts",
  "library/catalog/stock.ts",
  "library/exchange/formats.ts",
  "library/files/disk.ts",
  "library/files/packages.ts",
  "library/open-library.ts",
  "loop/begin.ts",
  "loop/checks.ts",
  "loop/fence.ts",
  "loop/harness/confine.ts",
  "loop/harness/open-harness.ts",
  "loop/harness/programs.ts",
  "loop/open-loop.ts",
  "loop/run.ts",
  "loop/state/digest.ts",
  "loop/state/repository.ts",
  "loop/surroundings.ts",
  "loop/work-folder.ts",
  "loop/workspace.ts",
  "models/api.ts",
  "models/choose.ts",
  "models/programs.ts",
  "models/run-program.ts",
  "models/signed-in.ts",
  "open-base.ts",
  "open-goals.ts",
  "open.ts",
  "recall/open-recall.ts",
  "recall/snapshot.ts",
  "search/library-index.ts",
  "search/table.ts",
  "settings/home.ts",
  "settings/repository.ts",
  "settings/settings.ts",
  "spool/offers.ts",
  "spool/spool.ts",
  "spool/verdicts.ts",
  "store/goals.ts",
  "store/learning.ts",
  "store/ledger.ts",
  "store/postgres/address.ts",
  "store/postgres/connect.ts",
  "store/postgres/dialect.ts",
  "store/postgres/entry.ts",
  "store/postgres/migrate.ts",
  "store/postgres/queue.ts",
  "store/postgres/store.ts",
  "store/postgres/team-schema.ts",
  "store/postgres/team.ts",
  "store/schema.ts",
  "store/sqlite.ts",
  "store/store.ts",
  "store/team-entries.ts",
  "team/machine.ts",
  "team/received.ts",
  "team/signing.ts",
  "transcripts/checkout.ts",
  "transcripts/files.ts",
  "transcripts/reader.ts",
  "transcripts/readers/gemini.ts",
  "transcripts/recorder.ts",
  "transcripts/sessions.ts",
  "transcripts/whole-files.ts",
  "trust/redactor.ts",
  "trust/thread.ts",
  "trust/worker.ts",
];
const purePackages = [
  "node:url",
  "diff",
  "unbash",
  "yaml",
  "zod",
  "zod/mini",
  "smol-toml",
  "jsonc-parser",
  "node:path",
  "node:util",
];
const faces = ["cli", "extensions", "mcp", "hook", "web", "worker"];

const src = resolve(import.meta.dirname, "../src");
const files = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.split(sep).join("/"));
const texts = new Map(files.map((file) => [file, readFileSync(join(src, file), "utf8")]));
const imports = new Map(files.map((file) => [file, specifiers(texts.get(file) ?? "")]));

describe("A module", () => {
  it.each(files)("is entered by its front door: %s", (file) => {
    const past = targets(file).filter((to) => moduleOf(to) !== moduleOf(file) && !isDoor(to));
    expect(past).toEqual([]);
  });

  it.each([...new Set(files.map(moduleOf))])("imports what the list says, and no more: %s", (module) => {
    const own = files.filter((file) => moduleOf(file) === module);
    const used = own.flatMap((file) => (imports.get(file) ?? []).map((name) => areaOf(file, name)));
    expect([...new Set(used)].filter((area) => area !== module).sort()).toEqual(
      [...(allowed[module] ?? [])].sort(),
    );
  });

  it("depends on no module that depends on it", () => {
    const modules = new Set(files.map(moduleOf));
    const graph = new Map(
      [...modules].map((one) => [one, (allowed[one] ?? []).filter((other) => modules.has(other))]),
    );
    expect([...modules].filter((one) => reaches(graph, one, one))).toEqual([]);
  });
});

describe("A file that decides", () => {
  const pure = files.filter((file) => !touching.includes(file) && !faces.includes(moduleOf(file)));

  it.each(pure)("is pure: %s", (file) => {
    const packages = (imports.get(file) ?? []).filter((name) => !name.startsWith("."));
    expect(packages.filter((name) => !purePackages.includes(name))).toEqual([]);
    expect(texts.get(file)).not.toMatch(/\bDate\.now\(|\bMath\.random\(|\bprocess\.(?!platform\b)/);
  });

  it("is not listed as touching the world", () => {
    expect(touching.filter((file) => !files.includes(file))).toEqual([]);
  });
});

describe("A folder", () => {
  it("holds at most 25 files on one level", () => {
    const counts = new Map<string, number>();
    for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > 25)).toEqual([]);
  });
});

function specifiers(text: string): string[] {
  const pattern = /(?:^|\n)\s*(?:import|export)[^;]*?from\s+"([^"]+)"|import\("([^"]+)"\)/g;
  return [...text.matchAll(pattern)].map(([, a, b]) => (a ?? b) as string);
}

function targets(file: string): string[] {
  return (imports.get(file) ?? []).filter((name) => name.startsWith(".")).map((name) => pathFrom(file, name));
}

function pathFrom(file: string, name: string): string {
  return relative(src, resolve(dirname(join(src, file)), name))
    .split(sep)
    .join("/");
}

/** A file beside the modules, such as open.ts, is a module of its own. */
function moduleOf(path: string): string {
  return path.split("/")[0] as string;
}

function isDoor(path: string): boolean {
  return !path.includes("/") || (basename(path) === "index.ts" && dirname(path) === moduleOf(path));
}

function areaOf(file: string, name: string): string {
  if (name.startsWith("node:")) return "node:";
  return name.startsWith(".") ? moduleOf(pathFrom(file, name)) : name;
}

function reaches(graph: ReadonlyMap<string, readonly string[]>, from: string, to: string): boolean {
  const seen = new Set<string>();
  const queue = [...(graph.get(from) ?? [])];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (next === to) return true;
    if (!seen.has(next)) queue.push(...(graph.get(next) ?? []));
    seen.add(next);
  }
  return false;
}
