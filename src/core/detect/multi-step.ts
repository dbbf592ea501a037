import type { Event } from "../event.ts";
import { type Finding, finding } from "../finding.ts";
import { formOf, openForm } from "../form.ts";
import { policy } from "../policy.ts";
import { nameFrom, termsOf, wordsOf } from "../words.ts";
import { askedBy, proofOf } from "./asked.ts";
import type { Act, Deed } from "./deeds.ts";
import type { Scene } from "./scene.ts";

/** Procedures: several commands that worked one after the other and belong together. */
export function multiStep({ events, deeds, verdicts }: Scene): Finding[] {
  const { most } = policy.detect.procedure;
  return stretchesOf(events, deeds)
    .flatMap((stretch) => procedureIn(stretch) ?? [])
    .sort((a, b) => b.own.length - a.own.length)
    .slice(0, most)
    .map((procedure) => tell({ ...procedure, prompt: promptOf(procedure, events) }, verdicts));
}

/** The prompt by which its first step was asked for; where that said next to nothing, the one that began it all. */
function promptOf({ own, prompt }: Procedure, events: readonly Event[]): Event | null {
  const turn = own[0]?.event.turn;
  const latest = events.find((event) => event.kind === "prompt" && event.turn === turn);
  return latest && wordsOf(latest.text).length > policy.detect.speech.tinyWords ? latest : prompt;
}

/** Terminal calls that worked, between a failure or a task and the next. */
interface Stretch {
  readonly prompt: Event | null;
  readonly deeds: readonly Deed[];
}

function stretchesOf(events: readonly Event[], deeds: readonly Deed[]): Stretch[] {
  const known = new Map(deeds.map((deed) => [deed.event, deed]));
  const stretches: Stretch[] = [];
  let prompt: Event | null = null;
  let current: Deed[] = [];
  const end = () => {
    if (current.length > 0) stretches.push({ prompt, deeds: current });
    current = [];
  };
  for (const event of events) {
    if (event.sidechain) continue;
    if (event.kind === "prompt" && (prompt === null || asksForMore(event))) {
      end();
      prompt = event;
    }
    const deed = known.get(event);
    if (deed?.ok === true) current.push(deed);
    else if (deed !== undefined) end();
  }
  end();
  return stretches;
}

/** "go on" and "now the pull request" leave the task what it was. */
function asksForMore({ text }: Event): boolean {
  return wordsOf(text.slice(0, 200)).length > policy.detect.procedure.briefWords;
}

interface Procedure {
  readonly prompt: Event | null;
  readonly steps: readonly Step[];
  /** Those of its steps that other work does not have too. */
  readonly own: readonly Step[];
  /** Hardly anything else was done on the way, and the steps hang together. */
  readonly telling: boolean;
}

interface Step {
  readonly event: Event;
  readonly act: Act;
  readonly form: string;
}

/** The procedure in a stretch of calls; null for looks, a commit, or checks run again and again. */
function procedureIn({ prompt, deeds }: Stretch): Procedure | null {
  const { calls, steps: least, own: leastOwn, mostSteps, compact, ownShare } = policy.detect.procedure;
  if (deeds.length < calls) return null;
  const steps = stepsIn(deeds);
  const own = ownOf(steps, leastOwn);
  if (steps.length < least || own.length < leastOwn || !own.some(({ act }) => act.role === "deed"))
    return null;
  const links = linksIn(steps, prompt);
  if (links === 0) return null;
  const telling =
    steps.length >= compact * deeds.length &&
    own.length >= ownShare * steps.length &&
    links * 2 >= steps.length;
  return { prompt, steps: steps.slice(0, mostSteps), own: own.slice(0, mostSteps), telling };
}

/** What other work does not have too. Checks before a release are its own, though they are run at other times as well. */
function ownOf(steps: readonly Step[], least: number): Step[] {
  const own = steps.filter(({ act }) => act.role === "deed" || act.role === "install");
  const last = steps.at(-1);
  if (own.length >= least || last?.act.role !== "deed" || !releases.test(last.form)) return own;
  return steps.filter(({ act }) => act.role !== "record");
}

const releases = /\b(?:publish|deploy|release|upload|apply|rollout|upgrade)\b/;

/** What was done, each thing once, where it was first done; and, last, the look by which one sees that it worked. */
function stepsIn(deeds: readonly Deed[]): Step[] {
  const steps = new Map<string, Step>();
  const used = usedLater(deeds);
  let seen: Step | null = null;
  for (const { event, acts } of deeds)
    for (const act of acts) {
      const form = act.form ?? (makes(act, used) ? formOf(act.run) : null);
      const step = form === null ? null : stepFor({ event, act, form }, steps);
      if (step !== null) {
        steps.set(step.form, step);
        seen = null;
      } else if (seen === null && form === null && sees(act))
        seen = { event, act, form: formOf(act.run) ?? act.run.name };
    }
  return [...steps.values(), ...(seen !== null && acts(steps) ? [seen] : [])];
}

function acts(steps: ReadonlyMap<string, Step>): boolean {
  return [...steps.values()].at(-1)?.act.role === "deed";
}

/** A step that is new. A trial is another than the deed, and so is the same deed for another thing, after something else. */
function stepFor(step: Step, steps: ReadonlyMap<string, Step>): Step | null {
  const trial = step.act.run.args.find((arg) => trials.test(arg));
  const form = trial === undefined ? step.form : `${step.form} ${trial}`;
  const known = steps.get(form);
  if (known === undefined) return { ...step, form };
  const thing = thingOf(step.act);
  const isOther = step.act.role === "deed" && thing !== null && thing !== thingOf(known.act);
  if (!isOther || [...steps.keys()].at(-1) === form || steps.has(`${form} ${thing}`)) return null;
  return { ...step, form: `${form} ${thing}` };
}

const trials = /^--(?:check|dry-run)$/;

/** What a deed is about, where a plain word names it: `docker compose up -d web`. */
function thingOf({ run }: Act): string | null {
  const last = run.args.at(-1) ?? "";
  return /^[a-z][a-z-]+$/.test(last) ? last : null;
}

/** Looks that tell whether what was done holds: a page, a state. */
function sees({ run, role }: Act): boolean {
  return (
    role === "look" &&
    !run.filters &&
    run.name !== "git" &&
    (/^(?:curl|wget)$/.test(run.name) || run.args.some(isState))
  );
}

function isState(arg: string): boolean {
  return /^(?:status|ping|health|is-active)$/.test(arg);
}

/** A look or an archive that leaves a file is a step where a later deed uses that file. */
function makes({ run, role }: Act, used: ReadonlySet<string>): boolean {
  if (role !== "look" && !(role === "chore" && /^(?:tar|zip)$/.test(run.name))) return false;
  return made(run).some((file) => used.has(file));
}

/** The files that a program is told to write. */
function made({ name, args }: Act["run"]): string[] {
  if (name === "tar" || name === "zip")
    return args.filter((arg) => /\.(?:tgz|tar|zip|tar\.\w+)$/.test(arg)).slice(0, 1);
  return args.flatMap((arg, at) => {
    const [, joined] = /^--?(?:out|output|output-file)=(.+)$/.exec(arg) ?? [];
    if (joined !== undefined) return joined;
    return /^(?:-o|-O|--?out|--output|--output-file)$/.test(args[at - 1] ?? "") && !arg.startsWith("-")
      ? arg
      : [];
  });
}

/** Words of deeds, among which the files are that earlier steps made. */
function usedLater(deeds: readonly Deed[]): Set<string> {
  const doing = deeds.flatMap(({ acts }) => acts.filter(({ role }) => role === "deed" || role === "install"));
  return new Set(doing.flatMap(({ run }) => run.args));
}

/** Steps hang together by what they name: a thing that another step named, or that the task is about. */
function linksIn(steps: readonly Step[], prompt: Event | null): number {
  const seen = new Set(prompt === null ? [] : wordsOf(prompt.text.slice(0, 2_000)));
  let links = 0;
  for (const { act, event } of steps) {
    const named = namesIn(act);
    if (named.some((name) => seen.has(name))) links++;
    for (const name of named) seen.add(name);
    for (const name of wordsOf(event.text.slice(0, 1_000))) seen.add(name);
  }
  return links;
}

function namesIn({ run }: Act): string[] {
  return [run.name, ...run.args.filter((arg) => !arg.startsWith("-"))]
    .flatMap((arg) => arg.toLowerCase().split(/[^\w.-]+/))
    .filter((name) => name.length > 2)
    .slice(0, 20);
}

/** The words by which the next one may ask for it. */
function topicsOf(asked: string): string[] {
  return [...termsOf(asked)].filter((word) => word.length > 3).slice(0, 3);
}

function tell({ prompt, steps, own, telling }: Procedure, verdicts: Scene["verdicts"]): Finding {
  const told = steps.map(({ act }) => openForm(act.run));
  const forms = own.map(({ form }) => form);
  const asked = askedBy(prompt, verdicts);
  const ends = `from \`${forms[0]}\` to \`${forms.at(-1)}\``;
  return finding(
    {
      kind: "multi-step",
      lesson: `A procedure of this project, in this order: ${told.map((step) => `\`${step}\``).join("; ")}.${asked === "" ? "" : ` It was asked for as: ${asked}`}`,
      // The same steps in another session are the same procedure: those of its own are in quotes, other words do not count.
      trigger: asked === "" ? `a task goes ${ends}` : `“${asked}” or the like is asked for, ${ends}`,
      action: `run ${steps.map((step) => (own.includes(step) ? `\`${step.form}\`` : step.form)).join(", then ")}`,
      steps: told.map((step) => `Run \`${step}\``),
      keywords: [...forms.slice(0, 5), ...topicsOf(asked)],
      confidence: sureOf(telling, told.length),
      name: nameFrom(`${forms[0]} to ${forms.at(-1)}`),
      scope: "project",
      artifact: "skill",
      excerpt: proofOf(
        steps.map(({ event }) => event.command ?? ""),
        prompt,
      ),
      call: null,
      symptom: null,
      remedy: null,
    },
    [...new Set([...own.slice(0, 1), ...steps].map(({ event }) => event))] as [Event, ...Event[]],
  );
}

/** Of sessions that did the same, the one that went straight tells it best. */
function sureOf(telling: boolean, steps: number): number {
  const { weak, telling: sure, perStep } = policy.detect.procedure;
  return (telling ? sure : weak) - perStep * steps;
}
