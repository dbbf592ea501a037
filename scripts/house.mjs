// npm run house: figures about the source tree itself, each with its bar. Exits with 1 when a bar is missed.
// Words: `npm run house -- --list` also names what counts against each bar; `--json` prints one object.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { parseSync } from "vite";
import { filesOnThePath } from "./house-path.mjs";
import { root, setUp } from "./setup.mjs";

const src = join(root, "src");
const list = process.argv.includes("--list");

await setUp();
const files = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => readSource(file.split(sep).join("/")));
const byPath = new Map(files.map((file) => [file.path, file]));
const users = countUsers();
const figures = measure();
if (process.argv.includes("--json")) console.log(JSON.stringify(figures, null, 2));
else print(figures);
process.exit(figures.every(({ value, bar }) => bar === null || value <= bar) ? 0 : 1);

function measure() {
  const functions = files.flatMap(({ functions }) => functions);
  const lengths = files.flatMap(({ lengths }) => lengths).sort((a, b) => a - b);
  const folders = groupBy(files, ({ path }) => dirname(path));
  const [fullest] = [...folders].sort(([, a], [, b]) => b.length - a.length);
  const types = groupBy(
    files.flatMap(({ path, types }) => types.map((name) => ({ name, path }))),
    ({ name }) => name,
  );
  const twice = [...types].filter(([, places]) => places.length > 1);
  const suffixed = functions.filter(({ name }) => /[a-z](?:Of|In|By|For|At)$/.test(name));
  const past = files.flatMap(importsPastDoors);
  const between = files.flatMap((file) =>
    file.imports.filter(({ to }) => to && moduleOf(to) !== moduleOf(file.path)),
  );
  const once = [...users].filter(([, from]) => from.size === 1);
  const cyclic = filesInCycles();
  const unused = unusedExports();
  const path = filesOnThePath();
  return [
    figure("lines of src", sum(files.map(({ lines }) => lines)), 45_000),
    figure("files in the fullest folder", fullest[1].length, 25, [fullest[0]]),
    figure(
      "type names declared more than once, %",
      share(twice.length, types.size),
      3,
      twice.map(([name, places]) => `${name}: ${places.map(({ path }) => path).join(", ")}`),
    ),
    figure(
      "functions ending in Of, In, By, For or At, %",
      share(suffixed.length, functions.length),
      4,
      suffixed.map(({ name, path }) => `${path}: ${name}`),
    ),
    figure("exports that nobody imports", unused.length, 0, unused),
    figure(`imports past a front door, of ${between.length} between modules`, past.length, 0, past),
    figure(
      "exports with exactly one user, %",
      share(once.length, users.size),
      25,
      once.map(([name]) => name),
    ),
    figure("files in import cycles, types included", cyclic.length, 10, cyclic),
    figure("files run from a transcript line to a SKILL.md", path.length, 35, path),
    figure("lines of a function, median", lengths[lengths.length >> 1], 8),
    figure("lines of a function, 95th percentile", lengths[Math.floor(lengths.length * 0.95)], 30),
  ];
}

function figure(name, value, bar, names = []) {
  return { name, value, bar, names };
}

function print(figures) {
  const width = Math.max(...figures.map(({ name }) => name.length));
  for (const { name, value, bar, names } of figures) {
    const verdict = value <= bar ? "ok" : "MISSED";
    console.log(
      `${name.padEnd(width)}  ${String(value).padStart(7)}  bar ${String(bar).padStart(6)}  ${verdict}`,
    );
    if (list && names.length > 0) console.log(names.map((one) => `    ${one}`).join("\n"));
  }
}

function readSource(path) {
  const text = readFileSync(join(src, path), "utf8");
  const { program } = parseSync(path, text);
  const lineOf = lineFinder(text);
  const file = {
    path,
    lines: text.split("\n").length - 1,
    functions: [],
    lengths: [],
    types: [],
    exports: [],
    imports: [],
  };
  for (const statement of program.body) readStatement(file, statement);
  walk(program, (node) => {
    const isFunction = node.type === "FunctionDeclaration" || node.type === "FunctionExpression";
    const isBlockArrow = node.type === "ArrowFunctionExpression" && node.body.type === "BlockStatement";
    if ((isFunction && node.body) || isBlockArrow)
      file.lengths.push(lineOf(node.end) - lineOf(node.start) + 1);
    if (node.type === "ImportExpression" && node.source.value?.startsWith("."))
      file.imports.push({ to: pathFrom(file.path, node.source.value), names: [], reexport: false });
  });
  return file;
}

function readStatement(file, statement) {
  const from = statement.source?.value;
  if (from?.startsWith(".")) {
    const to = pathFrom(file.path, from);
    const specifiers = statement.specifiers ?? [];
    const names = specifiers.map((one) => ({
      name: (one.imported ?? one.local).name,
      as: (one.exported ?? one.local).name,
    }));
    file.imports.push({ to, names, reexport: statement.type === "ExportNamedDeclaration" });
    return;
  }
  const declaration = statement.declaration ?? statement;
  const exported = statement.type === "ExportNamedDeclaration";
  for (const name of namesDeclared(declaration)) if (exported) file.exports.push(name);
  const { type, id } = declaration;
  if (/^(TSInterfaceDeclaration|TSTypeAliasDeclaration|TSEnumDeclaration|ClassDeclaration)$/.test(type))
    file.types.push(id.name);
  if (type === "FunctionDeclaration") file.functions.push({ name: id.name, path: file.path });
  if (type === "VariableDeclaration")
    for (const { id, init } of declaration.declarations)
      if (init?.type === "ArrowFunctionExpression") file.functions.push({ name: id.name, path: file.path });
}

function pathFrom(path, specifier) {
  return relative(src, resolve(join(src, dirname(path)), specifier))
    .split(sep)
    .join("/");
}

function namesDeclared(declaration) {
  if (declaration?.type === "VariableDeclaration")
    return declaration.declarations.flatMap(({ id }) => (id.type === "Identifier" ? id.name : []));
  return declaration?.id ? [declaration.id.name] : [];
}

function walk(node, visit) {
  if (node === null || typeof node !== "object") return;
  if (Array.isArray(node)) {
    for (const one of node) walk(one, visit);
    return;
  }
  if (typeof node.type === "string") visit(node);
  for (const [key, value] of Object.entries(node)) if (key !== "parent") walk(value, visit);
}

function lineFinder(text) {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle] <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}

function moduleOf(path) {
  return path.includes("/") ? path.split("/")[0] : path;
}

/** Imports that reach into another module's inside. Files beside the modules (`open.ts`) have no inside. */
function importsPastDoors({ path, imports }) {
  return imports.flatMap(({ to }) => {
    const isOwn = moduleOf(to) === moduleOf(path);
    return isOwn || !to.includes("/") || to === `${moduleOf(to)}/index.ts` ? [] : `${path} imports ${to}`;
  });
}

/** Which files of src use each export, seen through the front doors that hand it on. */
function countUsers() {
  const all = new Map(
    files.flatMap(({ path, exports }) => exports.map((name) => [`${path}#${name}`, new Set()])),
  );
  for (const { path, imports } of files)
    for (const { to, names, reexport } of imports)
      if (!reexport) for (const { name } of names) all.get(originOf(to, name))?.add(path);
  return all;
}

function originOf(path, name) {
  const file = byPath.get(path);
  for (const { to, names, reexport } of file?.imports ?? []) {
    const found = reexport ? names.find((one) => one.as === name) : undefined;
    if (found) return originOf(to, found.name);
  }
  return `${path}#${name}`;
}

/** Files from which a chain of imports leads back to themselves (Tarjan's strongly connected components). */
function filesInCycles() {
  const index = new Map();
  const low = new Map();
  const stack = [];
  const found = [];
  const visit = (path) => {
    index.set(path, index.size);
    low.set(path, index.get(path));
    stack.push(path);
    for (const { to } of byPath.get(path)?.imports ?? []) {
      if (!byPath.has(to)) continue;
      if (!index.has(to)) {
        visit(to);
        low.set(path, Math.min(low.get(path), low.get(to)));
      } else if (stack.includes(to)) low.set(path, Math.min(low.get(path), index.get(to)));
    }
    if (low.get(path) !== index.get(path)) return;
    const component = stack.splice(stack.indexOf(path));
    if (component.length > 1) found.push(...component);
  };
  for (const { path } of files) if (!index.has(path)) visit(path);
  return found;
}

/** knip's word on exports without a user; tests are no users. */
function unusedExports() {
  const { stdout } = spawnSync(
    process.execPath,
    [join(root, "node_modules/knip/bin/knip.js"), "--production", "--reporter", "json", "--no-exit-code"],
    { cwd: root, encoding: "utf8" },
  );
  const { issues } = JSON.parse(stdout);
  return issues
    .filter(({ file }) => file.startsWith("src/"))
    .flatMap(({ file, exports = [], types = [], files: unusedFile = [] }) => [
      ...(unusedFile.length > 0 ? [`${file}: the whole file`] : []),
      ...[...exports, ...types].map(({ name }) => `${file}: ${name}`),
    ]);
}

function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function share(part, whole) {
  return Math.round((part / whole) * 1000) / 10;
}

function sum(numbers) {
  return numbers.reduce((total, one) => total + one, 0);
}
