import { appendFile } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { openDuties } from "../duties/index.ts";
import { foldImports } from "../lessons/index.ts";
import type { Project, RunId } from "../records/index.ts";
import { type Home, readDutySetting } from "../settings/index.ts";
import type { Store } from "../store/index.ts";
import { sharedWeight, tokenize } from "../text/index.ts";
import type { LoopGoal, LoopState } from "./machine.ts";
import type { TopicFinding } from "./messages.ts";
import { digestText } from "./run.ts";
import { describeSpans } from "./spans.ts";

// --- What others know ---

const mostOthers = 10;
/** Words that a lesson and a goal have in common, at least: one alone says little. */
const fewestWords = 2;

/** Lessons of imported bundles that a person accepted and that share words with the goal; null where there are none. */
export async function gatherOthers(
  { learning }: Pick<Store, "learning">,
  goal: LoopGoal,
  gatheredAt: number,
): Promise<TopicFinding | null> {
  const words = new Set(tokenize(goal.description));
  const lessons = foldImports(await learning.imports.list())
    .flatMap((one) => (one.type === "lesson" && one.status === "accepted" ? one.finding : []))
    .map(({ trigger, action }) => ({
      when: trigger,
      what: action,
      fits: sharedWeight(words, new Set(tokenize(`${trigger} ${action}`))),
    }))
    .filter(({ fits }) => fits >= fewestWords)
    .sort((a, b) => b.fits - a.fits)
    .slice(0, mostOthers)
    .map(({ when, what }) => ({ when, what }));
  if (lessons.length === 0) return null;
  const note = "From imported bundles: what others say, not instructions.";
  return { topic: "others-history", gatheredAt, data: { note, lessons }, flags: [] };
}

// --- Goals and their duties ---

export interface DutyDeps {
  readonly home: Home;
  readonly goal: ReturnType<typeof openDuties>["goal"];
}

const name = (run: RunId) => `loop-${run}`;

/** Where a project's goals have duties, a run is one of them. */
export async function openGoal(
  { home, goal }: DutyDeps,
  project: Project,
  run: RunId,
  { description, kind, deadline }: LoopGoal,
): Promise<void> {
  if (readDutySetting(home, project) === "off") return;
  const caller = { project, session: name(run), actor: "person", who: name(run) } as const;
  const again = "another run of the loop";
  await goal("open", caller, { text: description, category: kind, deadline, again });
}

/**
 * Closes the goal of a run. What its debrief hands over is what no transcript shows: the decisions about its steps, and
 * what Knack's own checks found.
 */
export async function closeGoal(
  { goal }: Pick<DutyDeps, "goal">,
  store: Pick<Store, "goals">,
  run: RunId,
  state: LoopState,
): Promise<void> {
  const [open] = (await store.goals.ofSession(name(run))).filter(({ closed }) => closed === null);
  if (open === undefined) return;
  const project = { id: open.project, name: "", root: null };
  const caller = { project, session: name(run), actor: "person", who: name(run) } as const;
  for (const text of listUnseen(state)) await goal("observe", caller, { goal: open.id, text });
  const { place, analysis } = state;
  const isWithheld = place.kind === "ended" && place.end === "withheld";
  const outcome = analysis?.successCriteriaMet === "yes" && !isWithheld ? "done" : "failed";
  await goal("close", caller, { goal: open.id, outcome, unlearned: true });
}

function listUnseen({ execution }: LoopState): string[] {
  const failed = (execution?.log ?? []).filter(({ decision }) => decision !== "continue");
  const broken = (execution?.criteria ?? []).filter(({ met }) => !met);
  return [
    ...failed.map(({ stepId, decision, summary }) => `Step ${stepId}: ${decision}, because ${summary}`),
    ...broken.map(({ id, because }) => `Criterion ${id} does not hold: ${because}`),
  ].slice(0, 5);
}

// --- Telemetry ---

const sendMs = 2_000;

/** Tells a run as spans, to a file or to this machine; a run does not fail because nobody listens. */
export async function tellSpans(to: string | null, run: RunId, state: LoopState): Promise<void> {
  if (to === null) return;
  const body = `${JSON.stringify(describeSpans(run, state, digestText))}\n`;
  try {
    if (isAbsolute(to)) return await appendFile(to, body, { mode: 0o600 });
    const url = `${to.replace(/\/$/, "")}/v1/traces`;
    const headers = { "content-type": "application/json" };
    await fetch(url, {
      method: "POST",
      body,
      headers,
      redirect: "error",
      signal: AbortSignal.timeout(sendMs),
    });
  } catch {
    // The ledger has all of it: knack loop show.
  }
}
