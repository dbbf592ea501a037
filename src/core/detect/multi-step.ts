import type { Event } from "../event.ts";
import { type Finding, finding } from "../finding.ts";
import { openForm } from "../form.ts";
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
  const own = steps.filter(({ act }) => act.role === "deed" || act.role === "install");
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

/** What was done, each thing once, where it was first done. */
function stepsIn(deeds: readonly Deed[]): Step[] {
  const steps = new Map<string, Step>();
  for (const { event, acts } of deeds) {
    for (const act of acts)
      if (act.form !== null && !steps.has(act.form)) steps.set(act.form, { event, act, form: act.form });
  }
  return [...steps.values()];
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
