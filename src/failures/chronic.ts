import { type CallUse, type Cause, type Event, isUse, type Symptom, type Trouble } from "../records/index.ts";
import { baseName, wordSet } from "../text/index.ts";
import { findFileNames } from "./command.ts";
import { classifyRun } from "./command-form.ts";
import { causeGroups } from "./error-line.ts";
import { type CallReader, Recovery } from "./recovery.ts";
import type { Run } from "./run.ts";
import { compareSymptoms } from "./symptom.ts";

/** A trouble and the session it was met in. */
type MetTrouble = Trouble & {
  readonly session: string;
  /** The agent's session: what its subagents meet is met once. */
  readonly run: string;
  readonly project: string;
  /** The home folder it ran in: what is wrong with a machine is wrong in all projects there. */
  readonly home: string | null;
  readonly at: number;
};

/** A failure that several sessions met and none overcame. */
export interface Chronic {
  readonly project: string;
  readonly symptom: Symptom;
  /** The error in one line, with the program that it comes from. */
  readonly line: string;
  /** The sessions that met it, first to last. */
  readonly sessions: readonly string[];
  readonly tried: readonly string[];
  readonly lastAt: number;
}

/** Sessions that must have met a failure, and how many of them there must be for each that went around it. */
const fewestSessions = 3;
const unsolvedPerAvoided = 4;
/** Calls that are told of one failure, in a session and in all. */
const mostTried = 5;
/** Troubles of one session; more are of a bad day. */
const mostTroubles = 20;
/** Likelihood from which two failures are one trouble. */
const sameFrom = 0.6;

/** Whether two failures are the same trouble. */
export function isSameTrouble(a: Symptom, b: Symptom): boolean {
  if (compareSymptoms(a, b) >= (wording.has(a.cause) ? 1 : sameFrom)) return true;
  return a.signature === b.signature && wrongVersion.test(a.signature);
}

/** Whatever is run, the program that runs it is too old or too new. */
const wrongVersion =
  /\b(?:node(?:\.js)?|python|ruby|java|jdk|php|go|rustc|npm|pnpm|yarn|bun)\b.{0,60}\bversion\b|\bversion of (?:node|python|ruby|java|php|go)\b|NODE_MODULE_VERSION|unsupported (?:engine|environment)|\bengine\b.{0,30}\bincompatible|requires? (?:node|python|ruby|java|php|go)\b/i;

/** The words of the call are wrong: only the same subcommand fails for the same reason. */
const wording = wordSet("wrong-usage");

// --- In one session ---

/** The failures of a session that another session may meet again whatever it works on, each once. */
export function listTroubles(
  recoveries: readonly Recovery[],
  events: readonly Event[],
  calls: CallReader,
): Trouble[] {
  const troubles: Trouble[] = [];
  for (const recovery of recoveries) {
    if (!mayStay(recovery)) continue;
    const trouble = describeTrouble(recovery, events, calls);
    const at = troubles.findIndex(({ symptom }) => isSameTrouble(symptom, trouble.symptom));
    if (at >= 0) troubles[at] = joinTroubles(troubles[at] as Trouble, trouble);
    else if (troubles.length < mostTroubles) troubles.push(trouble);
  }
  return troubles;
}

function describeTrouble(recovery: Recovery, events: readonly Event[], calls: CallReader): Trouble {
  const { failed, error } = recovery;
  const files = [...findFileNames(failed.command ?? ""), ...failed.files.map(baseName)];
  const end = readEnd(recovery);
  const tried = end === "overcome" ? [] : findTried(recovery, events, calls);
  const { at, origin } = failed;
  return { symptom: recovery.symptom(files), line: error.line, at, origin, end, tried };
}

/** Met twice in a session, it ended as well as it ever did there. */
function joinTroubles(a: Trouble, b: Trouble): Trouble {
  const end = ends.find((each) => a.end === each || b.end === each) as Trouble["end"];
  return { ...a, end, tried: [...new Set([...a.tried, ...b.tried])].slice(0, mostTried) };
}

const ends: readonly Trouble["end"][] = ["overcome", "avoided", "unsolved"];

function readEnd({ worked, workedRun, run, remedy, error }: Recovery): Trouble["end"] {
  if (worked === null) return "unsolved";
  // Whatever is done next is not what was denied.
  if (error.cause === "denied") return granted.has(remedy) ? "overcome" : "unsolved";
  if (remedy === "other-way") return replaceable.has(error.cause) ? "avoided" : "unsolved";
  if (remedy !== "argument" || causeGroups.beforeWork.has(error.cause)) return "overcome";
  // `npm run lint` works, and `npm test` is another job.
  return workedRun?.head === run?.head ? "avoided" : "unsolved";
}

const granted = new Set<Recovery["remedy"]>(["none", "elevation"]);
/** Another program did the job of the one that is not there. */
const replaceable = new Set<Cause>(["missing-program", "missing-module", "unknown-name"]);

/** Whether a failure may come from outside the work at hand. */
function mayStay(recovery: Recovery): boolean {
  const { error, failed, run, between } = recovery;
  const { cause, line } = error;
  if (ofTheMoment.has(cause) || passes.test(line)) return false;
  if (run === null) return failed.command === null && ofTheSetUp.has(cause);
  if (isProbe(run)) return false;
  if (wrongVersion.test(line)) return true;
  if (causeGroups.inWork.has(cause))
    return between.edits === 0 || recovery.reaction.some(({ text }) => Recovery.saysUnrelated(text));
  // A look in the wrong place is a wrong guess, and what Git complains of is the state of a branch.
  return ofTheSetUp.has(cause) || !(run.isLook || run.name === "git");
}

/** Of one moment, or of the words that were chosen. */
const ofTheMoment = new Set<Cause>([
  ...(["tool-misuse", "state", "timeout", "shell-dialect", "wrong-place", "missing-script"] as const),
]);
const ofTheSetUp = new Set<Cause>([
  ...([
    "missing-program",
    "missing-module",
    "missing-setting",
    "permission",
    "service",
    "transient",
  ] as const),
  ...(["denied", "unknown-name"] as const),
]);
const passes = /rate.?limit|too many requests|overloaded|temporarily|\b(?:429|502|503|504)\b/i;

/** Whether a program is only asked whether it is there, or code was written for the moment. */
function isProbe({ name, args }: Run): boolean {
  if (/^(?:python[\d.]*|node|ruby|perl|bun|deno|bash|sh|zsh)$/.test(name))
    return args.some((arg) => /^-(?:l?c|e|p|-eval|-print|)$/.test(arg));
  return args.some((arg) => /^(?:--version|-V|--help|version)$/.test(arg));
}

/** The calls after a failure that were aimed at it, in short, other than itself. */
function findTried({ failed, run, error }: Recovery, events: readonly Event[], calls: CallReader): string[] {
  const told = new Set<string>();
  let seen = 0;
  for (const event of events.slice(events.indexOf(failed) + 1)) {
    if (event.turn > failed.turn || seen >= triedWithinCalls || told.size >= mostTried) break;
    if (event.kind !== "call" || event.sidechain !== failed.sidechain) continue;
    seen++;
    if (event.command === failed.command) continue;
    const runs = calls.runs(event);
    for (const other of runs) if (isAimed(other, run, error.about)) told.add(other.retell());
    // What only changes the shell starts no program: `nvm use 30`.
    const command = event.command?.trim() ?? "";
    if (runs.length === 0 && command.length <= 80 && settingUp.has(command.split(/\s/)[0] ?? ""))
      told.add(command);
  }
  return [...told].slice(0, mostTried);
}

const triedWithinCalls = 12;

function isAimed(other: Run, run: Run | null, about: string | null): boolean {
  if (other.isFilter || other.onlyPrints) return false;
  const subjects = [run?.name, about].filter((each) => each != null && each.length > 1);
  if (subjects.includes(other.name)) return !(run !== null && ofEveryWork.has(other.name));
  if (about !== null && about.length > 2 && other.args.includes(about)) return true;
  return settingUp.has(other.name) || classifyRun(other).role === "install";
}

/** Programs that are run for everything; that one is run again says nothing. */
const ofEveryWork = wordSet("git gh node python python3 bash sh cat ls cd curl npm pnpm yarn bun");
const settingUp = wordSet("nvm fnm volta asdf mise corepack systemctl service colima launchctl chmod sudo n");

// --- In all sessions ---

/** A trouble of one project, or of one machine, and everybody who met it. */
interface Group {
  readonly symptom: Symptom;
  readonly project: string;
  readonly home: string | null;
  readonly met: MetTrouble[];
}

/** The troubles that three sessions or more met and none overcame, those met most first. */
export function findChronic(all: readonly MetTrouble[]): Chronic[] {
  const groups = new Map<string, Group[]>();
  const owners = new Map<string, string>();
  for (const one of [...all].sort(compareMet)) {
    // A fork has met what the session met that it was made from.
    const record = one.origin ?? `${one.session} ${one.at}`;
    const owner = owners.get(record) ?? one.session;
    owners.set(record, owner);
    if (owner === one.session) addToGroup(groups, one);
  }
  const chronic = [...groups.values()].flat().filter(isChronic).map(describeGroup);
  return chronic.sort((a, b) => b.sessions.length - a.sessions.length || b.lastAt - a.lastAt);
}

function compareMet(a: MetTrouble, b: MetTrouble): number {
  return a.at - b.at || (a.session < b.session ? -1 : a.session > b.session ? 1 : 0);
}

function addToGroup(groups: Map<string, Group[]>, one: MetTrouble): void {
  const { symptom, project, home } = one;
  const alike = groups.get(symptom.cause) ?? [];
  groups.set(symptom.cause, alike);
  const isOurs = (group: Group) =>
    group.project === project ||
    (ofTheMachine.has(symptom.cause) && home !== null && group.home === home && symptom.about !== null);
  const known = alike.find((group) => isOurs(group) && isSameTrouble(group.symptom, symptom));
  if (known) known.met.push(one);
  else alike.push({ symptom, project, home, met: [one] });
}

/** Wherever it is met on a machine, it is the same; other troubles are of their project. */
const ofTheMachine = new Set<Cause>(["missing-program"]);

function isChronic({ met }: Group): boolean {
  if (met.some(({ end }) => end === "overcome")) return false;
  const count = (wanted: Trouble["end"]) =>
    new Set(met.filter(({ end }) => end === wanted).map(({ run }) => run)).size;
  const unsolved = count("unsolved");
  return unsolved >= fewestSessions && count("avoided") * unsolvedPerAvoided <= unsolved;
}

function describeGroup({ met }: Group): Chronic {
  const last = met.at(-1) as MetTrouble;
  const { symptom, project } = last;
  const tried = [...new Set(met.flatMap((one) => one.tried))].slice(0, mostTried);
  const line = last.line.startsWith(symptom.head) ? last.line : `${symptom.head}: ${last.line}`;
  const sessions = [...new Set(met.map(({ session }) => session))];
  return { project, symptom, line, sessions, tried, lastAt: last.at };
}

/** Whether a call that kept failing has worked since: then the trouble is over, though nobody said how. */
export function isOver(
  { symptom: { call, cause }, lastAt }: Chronic,
  uses: readonly (Pick<CallUse, "head" | "parts" | "ok"> & { readonly at: number })[],
): boolean {
  // A bare `node` that works says nothing of the module that was missing.
  if (call === null || (call.length < 2 && cause !== "missing-program")) return false;
  return uses.some((use) => use.at > lastAt && use.ok > 0 && isUse(use, call));
}
