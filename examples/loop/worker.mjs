// The workers of the example, in one program. There is no model in it: what a worker would think of is a list of things
// to try. Everything else is real: it reads the files, tries to add them up, looks at what earlier runs left in the
// state folder, and writes down what it saw.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { addUp, controlOf, findStation, readings } from "./weights.mjs";

const task = JSON.parse(readFileSync(0, "utf8"));
const { goal, implStateDir, workspaceDir, outputPath } = task.inputs;
const data = goal.spec.folder;
const files = readdirSync(data).sort();
const check = join(import.meta.dirname, "check.mjs");

const roles = {
  explorer: explore,
  strategist: strategize,
  planner: plan,
  "step-worker": work,
  analyst: analyse,
  promoter: promote,
  consolidator: () => [{}, "nothing to tidy up"],
};
const [artifact, summary] = roles[task.role]();
mkdirSync(dirname(outputPath), { recursive: true });
writeFileSync(outputPath, JSON.stringify(artifact));
console.log(JSON.stringify({ summary, usd: 0 }));

function readText(path) {
  return readFileSync(path, "utf8");
}

function readJson(path) {
  return JSON.parse(readText(path));
}

/** What earlier runs of this kind left: which reading is right for which station. */
function readRules() {
  const path = join(implStateDir, "strategies", goal.kind, "number-formats.md");
  try {
    return [...readText(path).matchAll(/^- station (\w+): `([\w-]+)`$/gm)].map(([, station, reading]) => ({
      station,
      reading,
    }));
  } catch {
    return [];
  }
}

function explore() {
  const { topic } = task.inputs;
  const found =
    topic === "outcome-probe" ? { sums: readdirSync(join(workspaceDir, "sums")) } : { folder: data, files };
  const finding = { topic, gatheredAt: new Date().toISOString(), data: found, flags: [] };
  return [finding, `${files.length} files`];
}

function strategize() {
  const rules = readRules();
  const approach =
    rules.length === 0 ? "Read the numbers as plain ones." : "Read the numbers as is known for each station.";
  const criteria = files.map((file) => ({
    ...{ id: basename(file, ".csv"), text: `the sum of ${file} agrees with its control line` },
    check: { kind: "command", command: `node ${JSON.stringify(check)} ${JSON.stringify(join(data, file))}` },
  }));
  const strategy = {
    ...{ approach, rationale: `${rules.length} stations are known`, successCriteria: criteria },
    ...{
      timingPosture: "early-return",
      used: rules.length === 0 ? [] : [`strategies/${goal.kind}/number-formats.md`],
    },
  };
  return [strategy, approach];
}

function plan() {
  const rules = readRules();
  const steps = files.map((file) => {
    const known = rules.find(({ station }) => station === findStation(readText(join(data, file))));
    return {
      ...{ id: basename(file, ".csv"), kind: "work", description: `Add up ${file}.` },
      inputs: { file, reading: known?.reading ?? null },
      successSignal: {
        kind: "command",
        command: `node ${JSON.stringify(check)} ${JSON.stringify(join(data, file))}`,
      },
      // One more try, and then the next file.
      abortCondition: { retries: 1, otherwise: "continue" },
    };
  });
  return [{ steps }, `${steps.length} files, ${rules.length} stations known`];
}

/** Adds up one file: with the reading that the plan names, else with the next one that was not tried. */
function work() {
  const { id, inputs } = task.inputs.stepSpec;
  const out = join(workspaceDir, "sums", `${id}.json`);
  const tried = readTried(out);
  const reading = inputs.reading ?? Object.keys(readings).find((name) => !tried.includes(name));
  const text = readText(join(data, inputs.file));
  const sum = addUp(text, reading);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, JSON.stringify({ sum, tried: [...tried, reading] }));
  const isRight = sum === controlOf(text);
  const words = `read as ${reading}, the sum is ${sum}; the control line says ${controlOf(text)}`;
  const report = { stepId: id, status: isRight ? "success" : "failed", outputsWritten: [`sums/${id}.json`] };
  return [{ ...report, summary: words, blockers: isRight ? [] : [words] }, words];
}

function readTried(path) {
  try {
    return readJson(path).tried;
  } catch {
    return [];
  }
}

/** Looks, with all the time there is, for the reading that would have been right where the sums were wrong. */
function analyse() {
  const log = readText(task.inputs.executeLogPath)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const wrong = [
    ...new Set(log.filter(({ workerStatus }) => workerStatus === "failed").map(({ stepId }) => stepId)),
  ];
  const sound = files.filter((file) => {
    const text = readText(join(data, file));
    return readJson(join(workspaceDir, "sums", `${basename(file, ".csv")}.json`)).sum === controlOf(text);
  });
  const learned = wrong.flatMap((id) => {
    const text = readText(join(data, `${id}.csv`));
    const right = Object.keys(readings).find((name) => addUp(text, name) === controlOf(text));
    return right ? [{ id, station: findStation(text), right }] : [];
  });
  const analysis = {
    successCriteriaMet: sound.length === files.length ? "yes" : sound.length === 0 ? "no" : "partial",
    successCriteriaShortfall:
      sound.length === files.length ? null : `${files.length - sound.length} sums are wrong`,
    divergencesFromPlan: learned.map(({ id }) => ({
      ...{ stepId: id, what: "its numbers were read in the wrong way", attributedCause: "context" },
      evidence: log.find(({ stepId }) => stepId === id).workerBlockers.join(" "),
    })),
    recommendationsForImprove: learned.map(
      ({ station, right }) => `Read the numbers of station ${station} as ${right}.`,
    ),
  };
  return [analysis, `${sound.length} of ${files.length} sums are right`];
}

function promote() {
  const { recommendationsForImprove } = readJson(task.inputs.analysisPath);
  const learned = recommendationsForImprove.map((line) => {
    const [, station, reading] = /station (\w+) as ([\w-]+)\./.exec(line);
    return { station, reading };
  });
  const known = readRules();
  const rules = new Map([...known, ...learned].map(({ station, reading }) => [station, reading]));
  if (rules.size === known.length) return [{ changes: [] }, "nothing new"];
  const change = {
    changeKind: known.length === 0 ? "new-config" : "config-edit",
    target: `strategies/${goal.kind}/number-formats.md`,
    content: [
      ...[
        "# How stations write numbers",
        "",
        "The control line of a file shows whether its numbers were read rightly.",
        "",
      ],
      ...[...rules].map(([station, reading]) => `- station ${station}: \`${reading}\``),
      "",
    ].join("\n"),
    summary: `the numbers of ${[...rules.keys()].join(" and ")} are read as they are written there`,
    because: recommendationsForImprove.join(" "),
  };
  return [{ changes: [change] }, "one change"];
}
