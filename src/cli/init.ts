import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import {
  findClaude,
  type Installation,
  install as installClaude,
  planInstall,
} from "../agents/claude-install.ts";
import type { Program } from "../agents/claude-plugin.ts";
import { homeOf, isDisabled } from "../config.ts";
import { KnackError } from "../core/errors.ts";
import { several } from "../core/words.ts";
import type { Learned } from "../engine/learn.ts";
import { installDeps } from "../install.ts";
import { openKnack } from "../open.ts";
import { createThreadRedactor } from "../redaction/thread.ts";
import { set, settingsFor, settingsIn } from "../settings.ts";
import { offLine, onWire, tellActs } from "./install.ts";
import { askYesNo, canAsk } from "./keep.ts";
import { learnAloud, timeBox } from "./learn.ts";
import { defineVerb, type Env, type Surroundings } from "./main.ts";
import { calledAs, printJson, printLines, short } from "./terminal.ts";
import { transcripts } from "./transcripts.ts";

/** How far back a newcomer's sessions are read. */
const days = 30;

export const init = defineVerb({
  about: "Set Knack up: install it in Claude Code, learn from the last 30 days, check that all is well.",
  args: {
    "dry-run": { type: "boolean", description: "change nothing; say what would be" },
    yes: { type: "boolean", description: "do not ask" },
    json: { type: "boolean", description: "print one JSON object; asks nothing" },
  },
  run: async ({ args, ...surroundings }) => {
    const { env, program } = surroundings;
    const flags = { dryRun: args["dry-run"] === true, yes: args.yes === true, json: args.json === true };
    const deps = installDeps(env, program);
    const found = await findClaude(deps);
    if (found.config === null && found.program === null) return sayNotFound(flags.json, env);
    const plan = await planInstall(deps, null);
    const paths = latestTranscripts(env, Date.now());
    if (!flags.json) printLines(planLines(plan, found, paths, env));
    if (flags.dryRun) {
      if (flags.json)
        printJson({
          install: onWire(plan, { project: null, dryRun: true, done: false, env }),
          transcripts: paths.length,
        });
      else printLines(["Nothing was changed (--dry-run)."]);
      return 0;
    }
    const answers = flags.yes ? unasked : await askAll(plan, flags.json, env);
    if (answers === null) {
      if (flags.json)
        printJson({
          install: onWire(plan, { project: null, dryRun: false, done: false, env }),
          transcripts: paths.length,
        });
      else printLines([`Nothing was changed. Without a question: ${calledAs(env)} init --yes`]);
      return 1;
    }
    return setUp(await installClaude(deps, null), answers, paths, flags.json, surroundings);
  },
});

function sayNotFound(json: boolean, env: Env): number {
  const says = "Claude Code was not found: there is neither its folder nor a claude on the PATH.";
  const hint = `Install Claude Code and start it once, then: ${calledAs(env)} init`;
  if (json) printJson({ install: null, because: says, hint });
  else
    printLines([says, hint, `Without it: ${calledAs(env)} learn reads the sessions of any agent it knows.`]);
  return 1;
}

// --- Before anything is changed ---

function planLines(
  { acts, overrules, ...plan }: Installation,
  found: Awaited<ReturnType<typeof findClaude>>,
  paths: readonly string[],
  env: Env,
): string[] {
  return [
    `Found Claude Code: ${short(found.config ?? found.program ?? "", env)}`,
    ...(acts.length === 0
      ? ["Knack is installed in it already."]
      : ["Installing Knack there", ...tellActs(acts, env)]),
    ...(overrules ? [offLine({ acts, overrules, ...plan }, env)] : []),
    paths.length === 0
      ? `There is no session of the last ${days} days to learn from yet.`
      : `Then it learns from ${several(paths.length, "transcript")} of the last ${days} days. Nothing leaves this machine.`,
  ];
}

/** The transcripts of the last days, the newest first. */
function latestTranscripts(env: Env, now: number): string[] {
  return [...transcripts(env).keys()]
    .map((path) => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .filter(({ at }) => at > now - days * 86_400_000)
    .sort((a, b) => b.at - a.at)
    .map(({ path }) => path);
}

interface Answers {
  /** Whether the agent may be asked to write lessons down; null where it is as it was. */
  readonly foreground: "off" | "ask" | null;
}

const unasked: Answers = { foreground: null };

/** All questions, before anything is done: who leaves has changed nothing. Null for no. */
async function askAll({ acts }: Installation, json: boolean, env: Env): Promise<Answers | null> {
  if (json || !canAsk()) return acts.length === 0 ? unasked : null;
  if (acts.length > 0 && (await askYesNo("Install?", true)) !== true) return null;
  if (settingsIn(homeOf(env), null).foreground !== undefined) return unasked;
  printLines([
    "When something worth keeping was found, the agent may be asked, at most once a session, to write the lesson",
    "down while it has the context. It is better written so, and costs a turn.",
  ]);
  const may = await askYesNo("May it be asked?", false);
  return may === null ? null : { foreground: may ? "ask" : "off" };
}

// --- Doing it ---

async function setUp(
  installation: Installation,
  { foreground }: Answers,
  paths: readonly string[],
  json: boolean,
  surroundings: Surroundings,
): Promise<number> {
  const { env } = surroundings;
  const home = homeOf(env);
  if (!json && installation.acts.length > 0)
    printLines(["", "Installed Knack in Claude Code. It is there from the next session on."]);
  if (foreground !== null) set(home, null, "foreground", foreground);
  const learned = await learnLatest(paths, json, surroundings);
  const doctor = callDoctor(installation.program, json, env);
  if (json) {
    printJson({
      install: onWire(installation, { project: null, dryRun: false, done: true, env }),
      foreground: settingsFor(home, null).foreground,
      learned: learned && {
        sessions: learned.sessions.length,
        findings: learned.findings.length,
        unread: learned.unread,
      },
      doctor: doctor.says,
    });
  } else
    printLines([
      "",
      doctor.code === 0
        ? "Knack is set up. Start Claude Code as ever."
        : "Knack is installed, but not all is well: see above.",
      `  what it knows:  ${calledAs(env)} status`,
      `  undo:           ${calledAs(env)} uninstall claude`,
    ]);
  return doctor.code;
}

/** Learns, and says what came of it; a trouble there is told, and the rest goes on. */
async function learnLatest(
  paths: readonly string[],
  json: boolean,
  { env, redactionThread }: Surroundings,
): Promise<Learned | null> {
  if (paths.length === 0 || isDisabled(env)) return null;
  try {
    const knack = await openKnack({ env, redactor: createThreadRedactor(redactionThread) });
    try {
      const learned = await learnAloud(knack, paths, timeBox(Date.now()));
      await knack.publishOwn({ sessions: learned.sessions });
      await knack.renewSnapshot();
      const { suggestions } = await knack.suggest({ most: Number.POSITIVE_INFINITY });
      if (!json) printLines([...learnedLines(learned, suggestions.length, env), ""]);
      return learned;
    } finally {
      await knack.close();
    }
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    printLines(
      [`Learning did not work: ${error.message}`, ...(error.hint ? [`  ${error.hint}`] : [])],
      process.stderr,
    );
    return null;
  }
}

function learnedLines({ sessions, findings, unread, unlooked }: Learned, count: number, env: Env): string[] {
  const left = unread + unlooked;
  return [
    `Learned from ${several(sessions.length, "session")}: ${several(findings.length, "finding")}.`,
    ...(left > 0
      ? [`${several(left, "transcript")} left for later: ${calledAs(env)} learn --all goes on.`]
      : []),
    ...(count > 0
      ? [`${several(count, "lesson")} worth keeping; to go through them: ${calledAs(env)} learn`]
      : []),
  ];
}

/** The doctor, run as the agent will run Knack: from where it was installed. */
function callDoctor(program: Program, json: boolean, env: Env): { code: number; says: unknown } {
  const words = [program.cli, "doctor", ...(json ? ["--json"] : [])];
  const { status, stdout } = spawnSync(program.node, words, {
    env,
    encoding: "utf8",
    stdio: ["ignore", json ? "pipe" : "inherit", "inherit"],
  });
  return { code: status ?? 1, says: json ? jsonOf(stdout) : null };
}

function jsonOf(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return null;
  }
}
