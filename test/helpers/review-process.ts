import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildSync } from "esbuild";
import { onTestFinished } from "vitest";
import { root } from "./knack.ts";
import { tempFolder } from "./temp.ts";

/** Reviews in a process of its own, and ends it by SIGKILL at the first look at the clock after the ledger has such an entry. */
const program = `
import { createRequire } from "node:module";
const { library, driver, database, now, until, projects } = JSON.parse(process.argv[1]);
const { openKnack } = await import(library);
const Database = createRequire(driver)("libsql");
const looking = new Database(database, { readonly: true });
const found = looking.prepare("select count(*) as n from ledger where type = ? and at >= ?");
let ticks = 0;
const clock = {
  now: () => {
    if (until !== null && found.get([until, now]).n > 0) process.kill(process.pid, "SIGKILL");
    return now + ticks++;
  },
};
const knack = await openKnack({ clock });
await knack.repair();
const done = await knack.review(projects === null ? {} : { projects });
await knack.close();
console.log(JSON.stringify(done));
`;

export interface ReviewOrders {
  readonly env: Readonly<Record<string, string>>;
  /** The time that its clock begins with. */
  readonly now: number;
  /** The type of entry at which it ends itself; null for one that goes on to the end. */
  readonly until: string | null;
}

export function startReview({ env, now, until }: ReviewOrders): ChildProcess {
  const orders = {
    library: pathToFileURL(bundleKnack()).href,
    driver: join(root, "package.json"),
    database: join(env.KNACK_HOME ?? "", "knack.db"),
    ...{ now, until, projects: null },
  };
  const words = ["--input-type=module", "-e", program, JSON.stringify(orders)];
  const child = spawn(process.execPath, words, { env, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}

/**
 * All of Knack for another process, which cannot load TypeScript, made once a run: the package's own library hands out
 * less.
 */
function bundleKnack(): string {
  const folder = join(process.env.KNACK_TEST_SHARED ?? tempFolder(), "open");
  const entry = join(folder, "open.js");
  if (existsSync(entry)) return entry;
  const made = `${folder}.${process.pid}`;
  buildSync({
    entryPoints: [join(root, "src/open.ts")],
    bundle: true,
    platform: "node",
    format: "esm",
    splitting: true,
    minify: true,
    // As in the published program: packages that are read file by file take longer than Knack itself.
    alias: {
      yaml: join(root, "node_modules/yaml/browser/index.js"),
      "jsonc-parser": join(root, "node_modules/jsonc-parser/lib/esm/main.js"),
    },
    external: ["libsql", "@secretlint", "ai", "@ai-sdk", "hono", "@hono", "pg", "pg-boss"].map((name) =>
      join(root, "node_modules", name, "*"),
    ),
    outdir: made,
  });
  writeFileSync(join(made, "package.json"), '{"type":"module"}');
  try {
    renameSync(made, folder);
  } catch {
    // Another worker of the run was first.
    rmSync(made, { recursive: true, force: true });
  }
  return entry;
}

/** How it ended: by itself, with what it said, or by a signal. */
export async function ending(
  child: ChildProcess,
): Promise<{ readonly signal: NodeJS.Signals | null; readonly said: string }> {
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  return new Promise((done) => child.on("close", (_, signal) => done({ signal, said })));
}
