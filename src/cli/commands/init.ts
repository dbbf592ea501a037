import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { findClaude, type InstallPlan, install, planInstall } from "../../agents/index.ts";
import { KnackError } from "../../base/index.ts";
import type { Learned } from "../../learning/index.ts";
import {
  isDisabled,
  readSettingsFile,
  resolveHome,
  resolveSettings,
  writeSetting,
} from "../../settings/index.ts";
import { several } from "../../text/index.ts";
import { type AnyCall, type CommandCall, defineCommand, dryRunArg } from "../command.ts";
import { withKnack } from "../knack.ts";
import { askYesNo, canAsk } from "../screen/prompt.ts";
import type { Screen } from "../screen/screen.ts";
import { listTranscripts } from "../transcript-files.ts";
import { describeActs, describeSwitchedOff, installationJson, installDeps } from "./install.ts";
import { learnAloud, timeLimits } from "./learn/learn.ts";
import { describeUnread } from "./learn/results.ts";

/** How far back a newcomer's sessions are read. */
const days = 30;

const args = {
  ...dryRunArg,
  yes: { type: "boolean", description: "do not ask" },
  json: { type: "boolean", description: "print one JSON object; ask nothing" },
} as const;

export const init = defineCommand({
  about: "Set Knack up: install it in Claude Code, learn from the last 30 days, check that everything works.",
  args,
  run: async (call: CommandCall<typeof args>) => {
    const { screen, dryRun } = call;
    const json = call.args.json === true;
    const deps = installDeps(call);
    const found = await findClaude(deps);
    if (found.config === null && found.program === null) return refuseMissingClaude(call);
    const plan = await planInstall(deps, null);
    const paths = listRecentTranscripts(call, Date.now());
    if (!json)
      screen.print([
        `Found Claude Code: ${screen.path(found.config ?? found.program ?? "")}`,
        ...describeInstall(plan, paths.length, screen),
      ]);
    const answers = dryRun || call.args.yes ? unasked : await askAll(plan, json, call);
    if (!dryRun && answers !== null) return setUp(call, await install(deps, null), answers, paths, json);
    return call.answer(
      {
        install: installationJson(plan, { project: null, dryRun, done: false }, screen),
        transcripts: paths.length,
      },
      dryRun
        ? ["Nothing was changed (--dry-run)."]
        : [`Nothing was changed. To set up without questions: ${screen.knack} init --yes`],
      dryRun ? 0 : 1,
    );
  },
});

function refuseMissingClaude(call: AnyCall): number {
  const { knack } = call.screen;
  const because = "Claude Code was not found: neither its folder nor a claude on the PATH.";
  const hint = `Install Claude Code and start it once, then: ${knack} init`;
  return call.answer(
    { install: null, because, hint },
    [because, hint, `Without it: ${knack} learn reads the sessions of every agent that Knack supports.`],
    1,
  );
}

function describeInstall(plan: InstallPlan, transcripts: number, screen: Screen): string[] {
  return [
    ...(plan.acts.length === 0
      ? ["Knack is already installed in it."]
      : ["To install Knack there:", ...describeActs(plan.acts, screen)]),
    ...(plan.overrules ? [describeSwitchedOff(plan, screen)] : []),
    transcripts === 0
      ? `There are no sessions of the last ${days} days to learn from yet.`
      : `Then it learns from ${several(transcripts, "transcript")} of the last ${days} days. Nothing leaves this machine.`,
  ];
}

/** The transcripts of the last days, the newest first. */
function listRecentTranscripts({ env }: AnyCall, now: number): string[] {
  return [...listTranscripts(env).keys()]
    .map((path) => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .filter(({ at }) => at > now - days * 86_400_000)
    .sort((a, b) => b.at - a.at)
    .map(({ path }) => path);
}

interface InitAnswers {
  /** Whether the agent may be asked to write lessons down; null where the setting stays as it is. */
  readonly foreground: "off" | "ask" | null;
}

const unasked: InitAnswers = { foreground: null };

/** Asks everything before anything is done, so that whoever leaves has changed nothing. Null for no. */
async function askAll(
  { acts }: InstallPlan,
  json: boolean,
  { env, screen }: AnyCall,
): Promise<InitAnswers | null> {
  if (json || !canAsk()) return acts.length === 0 ? unasked : null;
  if (acts.length > 0 && (await askYesNo("Install?", true)) !== true) return null;
  if (readSettingsFile(resolveHome(env), null).foreground !== undefined) return unasked;
  screen.print([
    "When Knack finds something worth keeping, it can ask the agent, at most once per session, to write the lesson",
    "down while it has the context. Such lessons are better written, and each costs one turn.",
  ]);
  const may = await askYesNo("May Knack ask the agent?", false);
  return may === null ? null : { foreground: may ? "ask" : "off" };
}

async function setUp(
  call: AnyCall,
  installation: InstallPlan,
  { foreground }: InitAnswers,
  paths: readonly string[],
  json: boolean,
): Promise<number> {
  const { env, screen } = call;
  const home = resolveHome(env);
  if (!json && installation.acts.length > 0)
    screen.print(["", "Installed Knack in Claude Code. It takes effect in the next session."]);
  if (foreground !== null) writeSetting(home, null, "foreground", foreground);
  const learned = await learnRecent(call, paths, json);
  const doctor = runDoctor(installation, json, call);
  return call.answer(
    {
      install: installationJson(installation, { project: null, dryRun: false, done: true }, screen),
      foreground: resolveSettings(home, null).foreground,
      learned: learned && {
        sessions: learned.sessions.length,
        findings: learned.findings.length,
        unread: learned.unread,
      },
      doctor: doctor.json,
    },
    [
      "",
      doctor.code === 0
        ? "Knack is set up. Use Claude Code as usual."
        : "Knack is installed, but some checks failed: see above.",
      `  what it knows:  ${screen.knack} status`,
      `  undo:           ${screen.knack} uninstall claude`,
    ],
    doctor.code,
  );
}

/** Learns and reports the result; a failure is reported and does not stop the setup. */
async function learnRecent(call: AnyCall, paths: readonly string[], json: boolean): Promise<Learned | null> {
  const { env, screen } = call;
  if (paths.length === 0 || isDisabled(env)) return null;
  try {
    return await withKnack(
      call,
      async (knack) => {
        const learned = await learnAloud(knack, paths, timeLimits(Date.now()));
        await knack.publishOwn({ sessions: learned.sessions });
        const { suggestions } = await knack.suggest({ most: Number.POSITIVE_INFINITY });
        if (!json) screen.print([...describeLearned(learned, suggestions.length, screen), ""]);
        return learned;
      },
      { create: true, reads: true, changes: true },
    );
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    screen.warn([`Learning failed: ${error.message}`, ...(error.hint ? [`  ${error.hint}`] : [])]);
    return null;
  }
}

function describeLearned(learned: Learned, suggestions: number, screen: Screen): string[] {
  const { sessions, findings } = learned;
  return [
    `Learned from ${several(sessions.length, "session")}: ${several(findings.length, "finding")}.`,
    ...describeUnread(learned, screen),
    ...(suggestions > 0
      ? [`${several(suggestions, "lesson")} worth keeping. To go through them: ${screen.knack} learn`]
      : []),
  ];
}

/** Runs the doctor as the agent will run Knack: from where it was installed. */
function runDoctor(
  { program }: InstallPlan,
  json: boolean,
  { env }: AnyCall,
): { code: number; json: unknown } {
  const words = [program.cli, "doctor", ...(json ? ["--json"] : [])];
  const { status, stdout } = spawnSync(program.node, words, {
    env,
    encoding: "utf8",
    stdio: ["ignore", json ? "pipe" : "inherit", "inherit"],
  });
  return { code: status ?? 1, json: json ? parseJson(stdout) : null };
}

function parseJson(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return null; // A doctor that crashed printed no object; its exit code says so.
  }
}
