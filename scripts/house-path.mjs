// Which files of src a lesson passes through on its way from a line of a transcript to a SKILL.md: an example session is
// learned from and its lesson kept, with V8's coverage on. What also runs where nothing is taught or kept is not counted,
// nor is what runs beside the path: redaction's patterns, detectors that found nothing, the search index, the screen.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./setup.mjs";

const beside = [
  /^cli\//,
  /^trust\/(?:assignments|commands|encoded|forms|known|prose|shown|tables|telling|tokens)\.ts$/,
  /^search\//,
  /^library\/catalog\//,
  /^agents\//,
];
const ownDetector = /error-recovery|recovered|failure/;

export function filesOnThePath() {
  const home = mkdtempSync(join(tmpdir(), "knack-house-"));
  try {
    return trace(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function trace(home) {
  const preload = join(home, "preload.mjs");
  const loader = pathToFileURL(join(root, "scripts/typescript.mjs")).href;
  writeFileSync(
    preload,
    `import { loadTypeScript } from ${JSON.stringify(loader)};
     globalThis.KNACK_VERSION = "0";
     globalThis.KNACK_BUILD = "0";
     loadTypeScript();`,
  );
  const knack = (...words) => runWithCoverage(home, preload, words);
  const example = (name) => join(root, "examples/sessions/claude-code/harbor-api", `${name}.jsonl`);
  const idle = knack("lessons", "--json");
  const reading = knack("sessions", example("questions-only"));
  const learningNothing = knack("learn", example("questions-only"), "--json");
  const learning = knack("learn", example("tests-need-a-database"), "--json");
  const [lesson] = JSON.parse(knack("lessons", "--json").stdout).lessons;
  const listing = knack("skills", "--json");
  const keeping = knack("skills", "accept", lesson.name, "--where", "everywhere");
  const path = new Set([
    ...without(reading, idle),
    ...without(learning, learningNothing),
    ...without(keeping, listing),
  ]);
  return [...path].filter(isOnThePath).sort();
}

function isOnThePath(file) {
  const isOtherDetector = /^learning\/leads\//.test(file) && !ownDetector.test(file);
  return !isOtherDetector && !beside.some((pattern) => pattern.test(file));
}

function without(one, other) {
  return one.files.filter((file) => !other.files.includes(file));
}

function runWithCoverage(home, preload, words) {
  const coverage = mkdtempSync(join(home, "coverage-"));
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", pathToFileURL(preload).href, join(root, "src/cli/cli.ts"), ...words],
    {
      cwd: home,
      encoding: "utf8",
      env: {
        PATH: process.env.PATH,
        HOME: home,
        KNACK_HOME: join(home, ".knack"),
        NODE_V8_COVERAGE: coverage,
      },
    },
  );
  if (status !== 0) throw new Error(`knack ${words.join(" ")} ended with ${status}: ${stderr}`);
  return { stdout, files: filesThatRan(coverage) };
}

/** Files of which a named function was called. */
function filesThatRan(coverage) {
  const base = `${pathToFileURL(join(root, "src")).href}/`;
  const ran = new Set();
  for (const file of readdirSync(coverage)) {
    const { result } = JSON.parse(readFileSync(join(coverage, file), "utf8"));
    for (const { url, functions } of result)
      if (
        url.startsWith(base) &&
        functions.some(({ functionName, ranges }) => functionName !== "" && ranges[0].count > 0)
      )
        ran.add(decodeURIComponent(url.slice(base.length)));
  }
  return [...ran];
}
