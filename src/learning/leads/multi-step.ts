import { type Run, writeTemplate } from "../../failures/index.ts";
import { type Event, type Finding, makeFinding } from "../../records/index.ts";
import { extractTerms, slugify, splitWords } from "../../text/index.ts";
import {
  type AnalyzedSession,
  type CalledProgram,
  describeRequest,
  quoteCalls,
  type TerminalCall,
} from "./session.ts";

/** Terminal calls that must have worked in a row, different things that must have been done, and how many of those other work does not have too. */
const minCalls = 4;
const minSteps = 4;
const minOwnSteps = 2;
/** Steps that are told, and procedures of one session. */
const maxSteps = 10;
const maxProcedures = 3;
/** Words up to which a prompt goes on with a procedure that was begun, and up to which it says next to nothing. */
const briefWords = 6;
const tinyWords = 3;
/** How sure one session is: too little to be told before another one did the same. */
const weakConfidence = 0.1;
/** How sure it is where hardly anything else was done on the way: so many of the calls are steps, and of the steps its own. */
const tellingConfidence = 0.5;
const stepShare = 0.8;
const ownShare = 0.5;
/** Confidence lost for each step: of sessions that did the same, the shortest tells it best. */
const lossPerStep = 0.002;

/** Procedures: several commands that worked one after the other and belong together. */
export function multiStep({ events, commands, spoken }: AnalyzedSession): Finding[] {
  return splitStretches(events, commands)
    .flatMap((stretch) => findProcedure(stretch) ?? [])
    .sort((a, b) => b.own.length - a.own.length)
    .slice(0, maxProcedures)
    .map((procedure) => writeLesson({ ...procedure, prompt: findPrompt(procedure, events) }, spoken));
}

/** The prompt by which its first step was asked for; where that said next to nothing, the one that began it all. */
function findPrompt({ own, prompt }: Procedure, events: readonly Event[]): Event | null {
  const turn = own[0]?.event.turn;
  const latest = events.find((event) => event.kind === "prompt" && event.turn === turn);
  return latest && splitWords(latest.text).length > tinyWords ? latest : prompt;
}

/** Terminal calls that worked, between a failure or a task and the next. */
interface Stretch {
  readonly prompt: Event | null;
  readonly commands: readonly TerminalCall[];
}

function splitStretches(events: readonly Event[], commands: readonly TerminalCall[]): Stretch[] {
  const known = new Map(commands.map((call) => [call.event, call]));
  const stretches: Stretch[] = [];
  let prompt: Event | null = null;
  let current: TerminalCall[] = [];
  const end = () => {
    if (current.length > 0) stretches.push({ prompt, commands: current });
    current = [];
  };
  for (const event of events) {
    if (event.sidechain) continue;
    // "go on" and "now the pull request" leave the task what it was.
    const isBrief = () => splitWords(event.text.slice(0, 200)).length <= briefWords;
    if (event.kind === "prompt" && (prompt === null || !isBrief())) {
      end();
      prompt = event;
    }
    const call = known.get(event);
    if (call?.hasWorked) current.push(call);
    else if (call !== undefined) end();
  }
  end();
  return stretches;
}

interface Procedure {
  readonly prompt: Event | null;
  readonly steps: readonly ProcedureStep[];
  /** Those of its steps that other work does not have too. */
  readonly own: readonly ProcedureStep[];
  /** Hardly anything else was done on the way, and the steps hang together. */
  readonly telling: boolean;
}

interface ProcedureStep {
  readonly event: Event;
  readonly act: CalledProgram;
  readonly form: string;
}

/** The procedure in a stretch of calls; null for looks, a commit, or checks run again and again. */
function findProcedure({ prompt, commands }: Stretch): Procedure | null {
  if (commands.length < minCalls) return null;
  const steps = findSteps(commands);
  const own = findOwnSteps(steps);
  const hasDeed = own.some(({ act }) => act.role === "deed");
  if (steps.length < minSteps || own.length < minOwnSteps || !hasDeed) return null;
  const links = countLinks(steps, prompt);
  if (links === 0) return null;
  const isMostlySteps = steps.length >= stepShare * commands.length && own.length >= ownShare * steps.length;
  const telling = isMostlySteps && links * 2 >= steps.length;
  return { prompt, steps: steps.slice(0, maxSteps), own: own.slice(0, maxSteps), telling };
}

/** The steps that other work does not have. Checks before a release count, though they are run at other times as well. */
function findOwnSteps(steps: readonly ProcedureStep[]): ProcedureStep[] {
  const own = steps.filter(({ act }) => act.role === "deed" || act.role === "install");
  const last = steps.at(-1);
  const releases = /\b(?:publish|deploy|release|upload|apply|rollout|upgrade)\b/;
  if (own.length >= minOwnSteps || last?.act.role !== "deed" || !releases.test(last.form)) return own;
  return steps.filter(({ act }) => act.role !== "record");
}

/** The steps, each once, where it was first done; and, last, the look that shows that it worked. */
function findSteps(commands: readonly TerminalCall[]): ProcedureStep[] {
  const steps = new Map<string, ProcedureStep>();
  const used = collectWords(commands);
  let seen: ProcedureStep | null = null;
  for (const { event, programs } of commands)
    for (const act of programs) {
      const form = isStep(act, used) ? act.form : null;
      const step = form === null ? null : asNewStep({ event, act, form }, steps);
      if (step !== null) {
        steps.set(step.form, step);
        seen = null;
      } else if (form === null && showsState(act)) seen ??= { event, act, form: act.form ?? act.run.name };
    }
  const all = [...steps.values()];
  return seen !== null && all.at(-1)?.act.role === "deed" ? [...all, seen] : all;
}

/** A step that is new. A trial is another than the deed, and so is the same deed for another thing, after something else. */
function asNewStep(step: ProcedureStep, steps: ReadonlyMap<string, ProcedureStep>): ProcedureStep | null {
  const trial = step.act.run.args.find((arg) => /^--(?:check|dry-run)$/.test(arg));
  const form = trial === undefined ? step.form : `${step.form} ${trial}`;
  const known = steps.get(form);
  if (known === undefined) return { ...step, form };
  const thing = findThing(step.act);
  const isOther = step.act.role === "deed" && thing !== null && thing !== findThing(known.act);
  if (!isOther || [...steps.keys()].at(-1) === form || steps.has(`${form} ${thing}`)) return null;
  return { ...step, form: `${form} ${thing}` };
}

/** The object of a command, where a plain word names it: `docker compose up -d web`. */
function findThing({ run }: CalledProgram): string | null {
  const last = run.args.at(-1) ?? "";
  return /^[a-z][a-z-]+$/.test(last) ? last : null;
}

/** Whether a look tells if what was done holds: a page, a state. */
function showsState({ run: { isFilter, name, args }, role }: CalledProgram): boolean {
  if (role !== "look" || isFilter || name === "git") return false;
  return /^(?:curl|wget)$/.test(name) || args.some((arg) => /^(?:status|ping|health|is-active)$/.test(arg));
}

/** A look or an archive that leaves a file is a step where a later deed uses that file. */
function isStep({ run, role }: CalledProgram, used: ReadonlySet<string>): boolean {
  if (role !== "look" && role !== "chore") return true;
  if (role === "chore" && !/^(?:tar|zip)$/.test(run.name)) return false;
  return findWrittenFiles(run).some((file) => used.has(file));
}

/** The files that a program is told to write. */
function findWrittenFiles({ name, args }: Run): string[] {
  if (name === "tar" || name === "zip")
    return args.filter((arg) => /\.(?:tgz|tar|zip|tar\.\w+)$/.test(arg)).slice(0, 1);
  const isOutput = (flag = "") => /^(?:-o|-O|--?out|--output|--output-file)$/.test(flag);
  return args.flatMap((arg, at) => {
    const [, joined] = /^--?(?:out|output|output-file)=(.+)$/.exec(arg) ?? [];
    return joined ?? (isOutput(args[at - 1]) && !arg.startsWith("-") ? arg : []);
  });
}

/** Words of deeds, among which the files are that earlier steps made. */
function collectWords(commands: readonly TerminalCall[]): Set<string> {
  const acts = commands.flatMap(({ programs }) => programs);
  return new Set(acts.flatMap(({ role, run }) => (role === "deed" || role === "install" ? run.args : [])));
}

/** Steps hang together by what they name: a thing that another step named, or that the task is about. */
function countLinks(steps: readonly ProcedureStep[], prompt: Event | null): number {
  const seen = new Set(prompt === null ? [] : splitWords(prompt.text.slice(0, 2_000)));
  let links = 0;
  for (const { act, event } of steps) {
    const named = listNames(act);
    if (named.some((name) => seen.has(name))) links++;
    for (const name of named) seen.add(name);
    for (const name of splitWords(event.text.slice(0, 1_000))) seen.add(name);
  }
  return links;
}

function listNames({ run }: CalledProgram): string[] {
  return [run.name, ...run.args.filter((arg) => !arg.startsWith("-"))]
    .flatMap((arg) => arg.toLowerCase().split(/[^\w.-]+/))
    .filter((name) => name.length > 2)
    .slice(0, 20);
}

function writeLesson({ prompt, steps, own, telling }: Procedure, spoken: AnalyzedSession["spoken"]): Finding {
  const told = steps.map(({ act }) => writeTemplate(act.run));
  const forms = own.map(({ form }) => form);
  const asked = describeRequest(prompt, spoken);
  // The words by which the next one may ask for it.
  const topics = [...extractTerms(asked)].filter((word) => word.length > 3).slice(0, 3);
  const ends = `from \`${forms[0]}\` to \`${forms.at(-1)}\``;
  const inOrder = told.map((step) => `\`${step}\``).join("; ");
  const commands = steps.map(({ event }) => event.command ?? "");
  return makeFinding(
    {
      kind: "multi-step",
      lesson: `A procedure of this project, in this order: ${inOrder}.${asked === "" ? "" : ` It was asked for as: ${asked}`}`,
      // The same steps in another session are the same procedure: those of its own are in quotes, other words do not count.
      trigger: asked === "" ? `a task goes ${ends}` : `“${asked}” or the like is asked for, ${ends}`,
      action: `run ${steps.map((step) => (own.includes(step) ? `\`${step.form}\`` : step.form)).join(", then ")}`,
      steps: told.map((step) => `Run \`${step}\``),
      keywords: [...forms.slice(0, 5), ...topics],
      confidence: (telling ? tellingConfidence : weakConfidence) - lossPerStep * told.length,
      name: slugify(`${forms[0]} to ${forms.at(-1)}`),
      artifact: "skill",
      excerpt: quoteCalls(commands, prompt),
    },
    [...new Set([...own.slice(0, 1), ...steps].map(({ event }) => event))] as [Event, ...Event[]],
  );
}
