// Builds dist/: the command line, the library and the hook. Skips what is up to date.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, "dist", ".built-from");

export async function build() {
  const sources = digestOfSources();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === sources) return;
  rmSync(join(root, "dist"), { recursive: true, force: true });
  await bundle(sources);
  declareTypes();
  chmodSync(join(root, "dist/cli.js"), 0o755);
  writeFileSync(stamp, sources);
}

async function bundle(sources) {
  const { build: esbuild } = await import("esbuild");
  const { version, dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const common = {
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node20.19",
    define: {
      KNACK_VERSION: JSON.stringify(version),
      KNACK_BUILD: JSON.stringify(sources.slice(0, 16)),
    },
    // Their builds for Node are CommonJS and ask for modules by `require`, which an ESM bundle does not have.
    alias: {
      yaml: join(root, "node_modules/yaml/browser/index.js"),
      "jsonc-parser": join(root, "node_modules/jsonc-parser/lib/esm/main.js"),
    },
    logLevel: "warning",
  };
  // What is native or loaded late stays outside; the rest goes into the bundle, because starting quickly matters.
  const external = Object.keys(dependencies);
  await esbuild({
    ...common,
    entryPoints: {
      cli: "src/cli/cli.ts",
      index: "src/index.ts",
      "redaction-thread": "src/trust/worker.ts",
    },
    outdir: "dist",
    format: "esm",
    splitting: true,
    // Each command reads it anew.
    minify: true,
    chunkNames: "parts/[name]-[hash]",
    external,
    plugins: [
      pastFrontDoors(),
      widthsLate(),
      apart("models-apart", join("models", "choose.ts"), "./api.ts", "models-api"),
      apart("mcp-apart", join("cli", "commands", "plumbing.ts"), "../../mcp/index.ts", "mcp-server"),
      apart("postgres-apart", join("store", "remote.ts"), "./postgres/server.ts", "postgres"),
    ],
  });
  // By themselves, because what they share with the rest, zod above all, would be loaded by every command.
  await esbuild({
    ...common,
    alias: { "@vercel/oidc": join(root, "scripts/no-gateway.mjs") },
    entryPoints: { "parts/models-api": "src/models/api.ts" },
    outdir: "dist",
    format: "esm",
    minify: true,
  });
  await esbuild({
    ...common,
    entryPoints: { "parts/mcp-server": "src/mcp/index.ts" },
    outdir: "dist",
    format: "esm",
    minify: true,
    plugins: [pastFrontDoors()],
  });
  // What the page's server hands to a browser.
  await esbuild({
    ...common,
    platform: "browser",
    target: "es2022",
    entryPoints: ["src/web/page.js", "src/web/page.css"],
    outdir: "dist/page",
    format: "iife",
    minify: true,
  });
  await esbuild({
    ...common,
    entryPoints: { "parts/postgres": "src/store/postgres/server.ts" },
    outdir: "dist",
    format: "esm",
    minify: true,
    // Its libraries are CommonJS and ask for Node's own modules by `require`.
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    // Only with a native library that is not installed.
    external: [...external, "pg-native"],
    plugins: [nodeSockets()],
  });
  // Loaded by agents, whose programs may be older than this one's Node.
  await esbuild({
    ...common,
    entryPoints: {
      "extension-opencode": "src/extensions/opencode.ts",
      "extension-pi": "src/extensions/pi.ts",
    },
    outdir: "dist",
    format: "esm",
    outExtension: { ".js": ".mjs" },
    plugins: [pastFrontDoors()],
  });
  const hook = {
    ...common,
    outdir: "dist",
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    // Each hook reads it anew.
    minifyWhitespace: true,
    plugins: [pastFrontDoors(), shellApart()],
  };
  await esbuild({ ...hook, entryPoints: { hook: "src/hook/hook.ts" } });
  // A function of CommonJS's names, as Node would make of it: src/hook/hook.ts compiles it itself.
  const { outputFiles } = await esbuild({
    ...hook,
    minify: true,
    write: false,
    entryPoints: {
      "hook-start": "src/hook/start.ts",
      "hook-prompt": "src/hook/prompt.ts",
      "hook-failure": "src/hook/failure.ts",
      "hook-turn": "src/hook/turn-end.ts",
      "hook-record": "src/hook/record.ts",
      "hook-redaction": "src/hook/redaction.ts",
      "hook-dialects": "src/hook/dialects/dialects.ts",
      "hook-shell": "node_modules/unbash/dist/parser.js",
    },
    banner: { js: "(function (exports, require, module, __filename, __dirname) {" },
    footer: { js: "})" },
  });
  for (const { path, text } of outputFiles) writeFileSync(path, inAscii(text));
}

/** What is read as Latin-1, which takes no time, must be ASCII: in patterns the bundler leaves other letters as they are. */
function inAscii(text) {
  return text.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * Imports from a module's index.ts become imports from the files behind it. The bundler splits by the files that an
 * entry can reach, used or not, so an index.ts would load its whole module, and the database library, in every command.
 */
function pastFrontDoors() {
  const doors = new Map();
  const doorAt = (path) => {
    if (!doors.has(path)) doors.set(path, new Map(namesBehind(path)));
    return doors.get(path);
  };
  return {
    name: "past-front-doors",
    setup: (build) =>
      build.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
        loader: "ts",
        contents: readFileSync(path, "utf8").replace(
          /^import (type )?\{([^}]*)\} from "(\.{1,2}\/[^"]*\/index\.ts)";/gm,
          (_, type = "", names, from) => {
            const door = join(dirname(path), from);
            return namesIn(names)
              .map((name) => {
                const original = name.replace(/^type /, "").split(" as ")[0];
                const file = doorAt(door).get(original);
                if (file === undefined) throw new Error(`${door} does not export ${original}, for ${path}`);
                // A type alone loads nothing; `{ type Name }` would load its file.
                const kind = type || name.startsWith("type ") ? "type " : "";
                return `import ${kind}{ ${name.replace(/^type /, "")} } from ${JSON.stringify(file)};`;
              })
              .join(" ");
          },
        ),
      })),
  };
}

/** The names that an index.ts exports, each with the file that declares it. */
function namesBehind(door) {
  const exports = readFileSync(door, "utf8").matchAll(/^export (?:type )?\{([^}]*)\} from "([^"]+)";/gm);
  return [...exports].flatMap(([, names, file]) =>
    namesIn(names).map((name) => [name.replace(/^type /, ""), join(dirname(door), file)]),
  );
}

function namesIn(list) {
  return list.split(",").flatMap((name) => name.trim() || []);
}

/**
 * What knows how wide letters are on a screen reads tables of all of Unicode when it is loaded, which takes an eighth
 * of a command's time, and is rarely asked.
 */
function widthsLate() {
  return {
    name: "widths-late",
    setup: (build) => {
      build.onResolve({ filter: /^(?:string-width|wrap-ansi)$/ }, ({ path, importer }) =>
        importer.endsWith(join("cli", "screen", "text.ts")) ? { path, namespace: "widths-late" } : null,
      );
      build.onLoad({ filter: /.*/, namespace: "widths-late" }, ({ path }) => ({
        contents: `export default (...given) => require(${JSON.stringify(path)}).default(...given);`,
        resolveDir: root,
      }));
    },
  };
}

/** Asked whether it runs at Cloudflare, the driver loads all of Node's fetch, for a thirtieth of a sync's time. */
function nodeSockets() {
  return {
    name: "node-sockets",
    setup: (build) => {
      build.onLoad({ filter: /[\\/]pg[\\/]lib[\\/]stream\.js$/ }, ({ path }) => ({
        contents: readFileSync(path, "utf8").replace("if (isCloudflareRuntime())", "if (false)"),
      }));
    },
  };
}

/** The parser for shells is as large as the rest of a hook, which loads it for a command that needs it. */
function shellApart() {
  const contents = `export const parse = (command) => require("./hook-shell.cjs").parse(command);`;
  return {
    name: "shell-apart",
    setup: (build) => {
      build.onResolve({ filter: /^unbash$/ }, () => ({ path: "unbash", namespace: "shell-apart" }));
      build.onLoad({ filter: /.*/, namespace: "shell-apart" }, () => ({ contents }));
      build.onResolve({ filter: /^\.\/hook-shell\.cjs$/ }, ({ path }) => ({ path, external: true }));
    },
  };
}

/** Leaves what is large and seldom needed outside; who asks for it is in a part, beside it. */
function apart(name, importer, path, part) {
  return {
    name,
    setup: (build) => {
      build.onResolve({ filter: /\.ts$/ }, (asked) =>
        asked.kind === "dynamic-import" && asked.path === path && asked.importer.endsWith(importer)
          ? { path: `./${part}.js`, external: true }
          : null,
      );
      build.onEnd(() => {
        const strayed = readdirSync(join(root, "dist"))
          .filter((file) => file.endsWith(".js"))
          .filter((file) => readFileSync(join(root, "dist", file), "utf8").includes(`./${part}.js`));
        if (strayed.length > 0) throw new Error(`${strayed.join()} would look for ${part}.js in vain`);
      });
    },
  };
}

function declareTypes() {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
    cwd: root,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`tsc failed:\n${stdout}`);
  keepPublicTypes(join(root, "dist/types"));
}

/**
 * Leaves the declarations that index.d.ts leads to, each import past the module's index.ts. The others name types of
 * libraries that are bundled, which whoever compiles against the package does not have.
 */
function keepPublicTypes(folder) {
  const kept = new Set();
  const keep = (file) => {
    if (kept.has(file)) return;
    kept.add(file);
    const text = readFileSync(file, "utf8").replace(
      /^(export|import) (type )?\{([^}]*)\} from "(\.{1,2}\/[^"]*\/index\.ts)";/gm,
      (_, verb, type = "", names, from) => {
        const doors = new Map(namesBehind(join(root, "src", relative(folder, dirname(file)), from)));
        return namesIn(names)
          .map((name) => {
            const behind = doors.get(name.replace(/^type /, "").split(" as ")[0]);
            const path = relative(join(root, "src", relative(folder, dirname(file))), behind);
            return `${verb} ${type}{ ${name} } from "./${path.split(sep).join("/")}";`;
          })
          .join("\n");
      },
    );
    writeFileSync(file, text);
    for (const [, path] of text.matchAll(/(?:from |import\()"(\.{1,2}\/[^"]*)\.ts"/g))
      keep(join(dirname(file), `${path}.d.ts`));
  };
  keep(join(folder, "index.d.ts"));
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isFile() && !kept.has(path)) rmSync(path);
  }
}

function digestOfSources() {
  const hash = createHash("sha256");
  const files = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
  const inputs = [
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.build.json",
    "scripts/build.mjs",
  ];
  for (const file of [...files, ...inputs.map((name) => join(root, name))])
    hash.update(file.slice(root.length)).update(readFileSync(file));
  return hash.digest("hex");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await build();
