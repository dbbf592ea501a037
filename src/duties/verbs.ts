import { KnackError, makeId } from "../base/index.ts";
import { classifyDomain } from "../lessons/index.ts";
import {
  type Actor,
  type Factors,
  factorNames,
  type Goal,
  type GoalEntryData,
  type GoalEntryType,
  goalOutcomes,
  type LedgerEntry,
  type Project,
  predictionOutcomes,
  type SessionId,
  waiverReasons,
} from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { cutAtWord, several } from "../text/index.ts";
import { checkGoal, closeEntries, type GoalCheck, investigation } from "./check.ts";
import {
  duties,
  listFalseWaivers,
  listWorthKeeping,
  type Repair,
  surpriseFrom,
  tierNames,
} from "./checks.ts";
import { foldGoals, readHistory, routineKey } from "./folds.ts";
import type { GoalInput } from "./goal-input.ts";
import type { GoalWork } from "./goal-work.ts";
import { cleanWords, record } from "./record.ts";
import { type DutyDeps, findWork, readView } from "./view.ts";
import { computeFactors, keepScore, scoreFactors } from "./weigh.ts";

/** Who acts: the host says it, never a model's arguments. */
export interface GoalCaller {
  readonly project: Project;
  readonly session: SessionId | null;
  readonly actor: Exclude<Actor, "knack">;
  /** The name under which they claim a goal. */
  readonly who: string;
}

export interface GoalReply {
  readonly data: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
  /** The answer is no. */
  readonly isNo?: boolean;
}

/** Everything that a verb needs while it holds the writer: what it reads stays as it was until it has written. */
interface VerbCall {
  readonly deps: DutyDeps;
  readonly caller: GoalCaller;
  readonly input: GoalInput;
  /** Words without secrets, on one line; empty for none. */
  readonly text: string;
}

interface Verb {
  readonly about: string;
  /** An example that a newcomer can copy. */
  readonly example: string;
  run(call: VerbCall): Promise<GoalReply>;
}

/** When a negative conclusion is looked at again. */
const recheckMs = 30 * 60_000;
const claimHours = 2;
const insightChars = 600;

// --- Finding and writing ---

function refuse(message: string, hint: string): KnackError {
  return new KnackError("WRONG_USAGE", message, { hint });
}

/** The goal that is meant: the one that is named, the one open in the session, or the only one open in the project. */
async function findGoal({ deps, caller, input }: Omit<VerbCall, "text">): Promise<Goal> {
  const { goals } = deps.store;
  if (input.goal) {
    const [named] = await goals.get([input.goal]);
    if (named) return named;
    throw refuse(`There is no goal ${input.goal}.`, "knack goal board lists the goals that are open.");
  }
  const own = caller.session === null ? [] : await goals.ofSession(caller.session);
  const open = own.filter(({ closed }) => closed === null);
  const last = open.at(-1) ?? own.at(-1);
  if (last) return last;
  const here = await goals.open(caller.project.id);
  const [only] = here.length === 1 ? await goals.get(here.map(({ id }) => id)) : [];
  if (only) return only;
  throw refuse(
    here.length === 0 ? "No goal is open here." : `${several(here.length, "goal")} are open here.`,
    here.length === 0
      ? 'Open one: knack goal open "…"'
      : "Name one with --goal: knack goal board lists them.",
  );
}

function makeEntry<Type extends GoalEntryType>(
  { caller, deps }: VerbCall,
  goal: Pick<Goal, "id" | "project" | "session">,
  type: Type,
  data: Omit<GoalEntryData[Type], "goal">,
  name = makeId("", JSON.stringify(data)),
): LedgerEntry {
  const { clock } = deps;
  return {
    ...{ at: clock.now(), project: goal.project, session: goal.session, actor: caller.actor, type },
    key: `goal:${goal.id}:${type.slice(5)}:${name}`,
    data: { goal: goal.id, ...data },
  } as unknown as LedgerEntry;
}

/** Finds the goal and writes what follows from it in one transaction, so that of two agents one comes first. */
async function change(
  call: VerbCall,
  decide: (goal: Goal, tx: Store) => Promise<{ entries: readonly LedgerEntry[]; reply: GoalReply }>,
): Promise<GoalReply> {
  return call.deps.store.transaction(async (tx) => {
    const goal = await findGoal({ ...call, deps: { ...call.deps, store: tx } });
    const { entries, reply } = await decide(goal, tx);
    await record(tx, entries);
    return reply;
  });
}

function need(text: string, what: string, { example }: Pick<Verb, "example">): string {
  if (text !== "") return text;
  throw refuse(`${what} is missing.`, `For example: ${example}`);
}

const said = (data: GoalReply["data"], ...lines: readonly string[]): GoalReply => ({ data, lines });

// --- The verbs ---

const open: Verb = {
  about: "begin a goal by hand",
  example: 'knack goal open "Find out why the build is slow" --category tooling',
  run: (call) => {
    const { deps, caller, input, text } = call;
    need(text, "What is to be done", open);
    return deps.store.transaction(async (tx) => {
      const now = deps.clock.now();
      const category = input.category ?? classifyDomain({ trigger: text, action: text, kind: "multi-step" });
      const briefs = await tx.goals.briefs(caller.project.id);
      const { brake, lastFailed } = foldGoals(readHistory(briefs));
      const failed = brake ? briefs.find(({ id }) => id === lastFailed) : undefined;
      if (failed && routineKey(failed) === routineKey({ text, category }) && !input.again)
        return {
          data: { refused: "brake", last_failed: lastFailed },
          lines: [
            `This failed ${several(foldGoals(readHistory(briefs)).consecutiveFailures, "time")} in a row (${lastFailed}).`,
            'Say what is different this time: knack goal open "…" --again "…"',
          ],
          isNo: true,
        };
      const id = makeId("g", `${caller.project.id} ${caller.session} ${now} ${text}`);
      const goal = { id, project: caller.project.id, session: caller.session };
      const { batch = null, deadline = null, prefetch, reader, again } = input;
      const entry = makeEntry(call, goal, "goal.opened", {
        ...{ text: cutAtWord(text, 300), category, by: "hand", ref: null, transcript: null },
        ...{ deadline, batch, prefetch: prefetch ?? [], reader: reader ?? false, again: again ?? null },
        root: caller.project.root,
      });
      await record(tx, [entry]);
      return said({ goal: id, category, key: entry.key }, `Opened ${id}: ${text}`);
    });
  },
};

const observe: Verb = {
  about: "note what was seen; what scores .40 is worth keeping",
  example: 'knack goal observe "The cache key leaves out the branch" --impact 0.8 --surprise 0.7',
  run: async (call) => {
    const found = await findGoal(call);
    const work = await findWork(call.deps.store, found);
    return change({ ...call, input: { ...call.input, goal: found.id } }, async (goal, tx) => {
      const text = call.text || (work?.facts.excerpt ?? goal.closed?.facts.excerpt ?? "");
      need(text, "What was seen", observe);
      const factors = await weigh(tx, goal, work, text, call);
      const score = scoreFactors(factors);
      const observation = makeId("o", `${goal.id} ${text}`);
      const excerpt = cutAtWord(text, 400);
      const entry = makeEntry(
        call,
        goal,
        "goal.observed",
        { observation, text: cutAtWord(text, 500), factors, score, lead: null, excerpt },
        observation,
      );
      const isWorth = score >= keepScore;
      const lines = [
        `${observation} scores ${score.toFixed(2)}${isWorth ? ": worth keeping" : ""}`,
        ...(isWorth ? [`Keep it: knack goal keep --goal ${goal.id} --observation ${observation}`] : []),
      ];
      return { entries: [entry], reply: said({ goal: goal.id, observation, factors, score }, ...lines) };
    });
  },
};

/** Impact and surprise of what somebody says without saying how much. */
const unsaid = 0.5;

async function weigh(
  tx: Store,
  goal: Goal,
  work: GoalWork | null,
  text: string,
  { input, caller }: VerbCall,
): Promise<Factors> {
  const briefs = await tx.goals.briefs(goal.project);
  const others = await tx.goals.get(briefs.slice(-recentGoals).map(({ id }) => id));
  const computed = computeFactors({
    ...{ text, goal: goal.text, isSaid: true, reverted: work?.facts.reverted ?? 0 },
    known: others.flatMap(({ kept }) => kept.map(({ insight }) => insight)),
    earlier: others.flatMap(({ id, observations }) =>
      id === goal.id ? [] : observations.map((one) => one.text),
    ),
    ...{ failures: work?.facts.overcome ?? 0, corrections: work?.facts.corrections ?? 0 },
  });
  const given = Object.fromEntries(
    factorNames.flatMap((name) => (typeof input[name] === "number" ? [[name, input[name]]] : [])),
  );
  const blank = caller.actor === "person" && work === null ? { impact: unsaid, surprise: unsaid } : {};
  return { ...computed, ...blank, ...given } as Factors;
}

/** Earlier goals whose observations and insights an observation is compared with. */
export const recentGoals = 200;

const keep: Verb = {
  about: "keep an observation, or a sentence of your own, in the page that fits",
  example: 'knack goal keep "The build is slow because the cache key leaves out the branch."',
  run: async (call) => {
    const { deps, input } = call;
    const goal = await findGoal(call);
    const [best] = input.observation
      ? goal.observations.filter(({ observation }) => observation === input.observation)
      : [...listWorthKeeping(goal), ...goal.observations];
    if (input.observation && !best)
      throw refuse(
        `The goal ${goal.id} has no observation ${input.observation}.`,
        `knack goal check --goal ${goal.id}`,
      );
    const insight = cutAtWord(
      need(call.text || (best?.text ?? ""), "What is to be kept", keep),
      insightChars,
    );
    const pages = await deps.pages({ id: goal.project, root: goal.root });
    const page = input.page ?? (await pages?.find(insight, { limit: 1 }))?.[0]?.page ?? null;
    const evidence = best?.excerpt ?? goal.closed?.facts.excerpt ?? "";
    const confidence = best?.score ?? keepScore;
    // The file is written first: an entry would claim what is not there.
    const written = await pages?.keep({ page, insight, goal: goal.id, evidence, confidence });
    if (written && written.page === null)
      return {
        data: { goal: goal.id, kept: false, why: written.why },
        lines: [`Not kept: ${written.why}`],
        isNo: true,
      };
    const kept = {
      ...{ observation: best?.observation ?? null, insight },
      ...(written ? { how: "page" as const, name: written.page } : { how: "goal" as const, name: goal.id }),
    };
    return change({ ...call, input: { ...input, goal: goal.id } }, async (own) => ({
      entries: [makeEntry(call, own, "goal.kept", kept)],
      reply: said(
        { goal: own.id, kept: true, ...kept },
        `Kept in ${kept.how === "page" ? `the page ${kept.name}` : `the goal ${own.id}`}: ${insight}`,
      ),
    }));
  },
};

const retrieve: Verb = {
  about: "look at what fits the goal, or say where it was looked for and whether that was enough",
  example: "knack goal retrieve --tier code --insufficient",
  run: async (call) => {
    const { deps, input, caller } = call;
    const goal = await findGoal(call);
    const work = await findWork(deps.store, goal);
    const tier = input.tier ?? "library";
    const query = call.text || goal.text;
    const found = tier === "library" ? await deps.findFitting(query, caller.project.root) : [];
    const late = work?.own.some(({ kind }) => kind === "call") ?? false;
    const data = { tier, query, found, sufficient: input.sufficient ?? null, late };
    return change({ ...call, input: { ...input, goal: goal.id } }, async (own) => ({
      entries: [makeEntry(call, own, "goal.retrieved", data)],
      reply: said({ goal: own.id, ...data }, describeLook(data)),
    }));
  },
};

/** A look for knowledge in words. */
function describeLook({
  tier,
  found,
  sufficient,
  late,
}: Omit<GoalEntryData["goal.retrieved"], "goal">): string {
  const enough = sufficient === null ? "" : sufficient ? "; it was enough" : "; it was not enough";
  const when = late ? "; it was late, after the work had begun" : "";
  const what = tier !== "library" ? `Noted: looked in the ${tierNames[tier]}` : "Nothing that Knack has fits";
  return `${found.length > 0 ? `Fits: ${found.join(", ")}` : what}${enough}${when}.`;
}

const predict: Verb = {
  about: "say what will turn out, to be resolved later",
  example: 'knack goal predict "The cache key is the cause" --confidence 0.7',
  run: (call) =>
    change(call, async (goal) => {
      const claim = need(call.text, "What will turn out", predict);
      const prediction = makeId("p", `${goal.id} ${claim}`);
      const data = {
        prediction,
        claim,
        confidence: call.input.confidence ?? 0.5,
        dueAt: call.input.due ?? null,
      };
      return {
        entries: [makeEntry(call, goal, "goal.predicted", data, prediction)],
        reply: said(
          { goal: goal.id, ...data },
          `Predicted ${prediction}: ${claim}`,
          `When it has turned out: knack goal resolve --goal ${goal.id} --prediction ${prediction} --outcome ${predictionOutcomes.join("|")}`,
        ),
      };
    }),
};

const resolve: Verb = {
  about: "say how a prediction turned out",
  example: "knack goal resolve --prediction p1 --outcome corrected --surprise 8",
  run: (call) =>
    change(call, async (goal) => {
      const { prediction, surprise, because } = call.input;
      const known = goal.predictions.find((one) => one.prediction === prediction);
      if (!known)
        throw refuse(
          `The goal ${goal.id} has no prediction ${prediction ?? ""}.`,
          `knack goal show --goal ${goal.id}`,
        );
      const outcome = predictionOutcomes.find((one) => one === call.input.outcome);
      if (!outcome) throw refuse("How did it turn out?", `Use --outcome ${predictionOutcomes.join(", ")}.`);
      const data = {
        ...{ prediction: known.prediction, outcome, surprise: Math.min(10, Math.max(0, surprise ?? 0)) },
        because: call.text || (because ?? ""),
      };
      return {
        entries: [makeEntry(call, goal, "goal.resolved", data)],
        reply: said({ goal: goal.id, ...data }, `${known.claim}: ${outcome}`),
      };
    }),
};

const reflect: Verb = {
  about: "say what a resolved prediction, or the goal, teaches; a surprise over 7 makes a prediction",
  example: 'knack goal reflect --prediction p1 "Look at the cache before the network."',
  run: (call) =>
    change(call, async (goal) => {
      const text = need(call.text, "What it teaches", reflect);
      const prediction = call.input.prediction ?? null;
      const resolved = goal.resolutions.find((one) => one.prediction === prediction);
      if (prediction !== null && !resolved)
        throw refuse(
          `${prediction} is not resolved.`,
          `knack goal resolve --prediction ${prediction} --outcome …`,
        );
      const entries = [makeEntry(call, goal, "goal.reflected", { prediction, text })];
      const isSurprise = resolved !== undefined && resolved.surprise > surpriseFrom;
      const claim = `It will come again in this session: ${text}`;
      const next = makeId("p", `${goal.id} ${claim}`);
      if (isSurprise)
        entries.push(
          makeEntry(
            call,
            goal,
            "goal.predicted",
            { prediction: next, claim, confidence: 0.5, dueAt: null },
            next,
          ),
        );
      return {
        entries,
        reply: said(
          { goal: goal.id, prediction, predicted: isSurprise ? next : null },
          "Reflected.",
          ...(isSurprise ? [`Predicted ${next}: ${claim}`] : []),
        ),
      };
    }),
};

const conclude: Verb = {
  about:
    "record a conclusion that blocks something, with its signals; it is looked at again after 30 minutes",
  example:
    'knack goal conclude "The registry is down" --evidence "curl: 503; npm: ETIMEDOUT" --blocks "release"',
  run: (call) =>
    change(call, async (goal) => {
      const text = need(call.text, "What was concluded", conclude);
      const conclusion = makeId("c", `${goal.id} ${text}`);
      const evidence = await Promise.all(
        (call.input.evidence ?? []).map(async (one) => ({
          text: await cleanWords(one.replace(/^~/, "")),
          weight: one.startsWith("~") ? (0 as const) : (1 as const),
        })),
      );
      const data = {
        conclusion,
        text,
        evidence,
        blocks: call.input.blocks ?? [],
        recheckAt: call.deps.clock.now() + recheckMs,
      };
      const entry = makeEntry(call, goal, "goal.concluded", data, conclusion);
      const weak = evidence.filter(({ weight }) => weight > 0).length < 2 && data.blocks.length > 0;
      return {
        entries: [entry],
        reply: said(
          { goal: goal.id, conclusion, key: entry.key, weak, recheck_at: data.recheckAt },
          `${conclusion}: ${text}${weak ? " (weak: fewer than 2 signals)" : ""}`,
          `To cite it: ${entry.key}`,
        ),
      };
    }),
};

const recheck: Verb = {
  about: "try a conclusion again: it holds for 30 minutes more, or it was wrong and blocks nothing any more",
  example: "knack goal recheck --conclusion c1 --wrong",
  run: (call) =>
    change(call, async (goal) => {
      const { conclusion, holds, because } = call.input;
      const known = goal.conclusions.find((one) => one.conclusion === conclusion);
      if (!known)
        throw refuse(
          `The goal ${goal.id} has no conclusion ${conclusion ?? ""}.`,
          `knack goal show --goal ${goal.id}`,
        );
      if (holds == null) throw refuse("Does it hold?", "Use --holds or --wrong.");
      const data = {
        ...{ conclusion: known.conclusion, holds, because: call.text || (because ?? "") },
        recheckAt: call.deps.clock.now() + recheckMs,
      };
      return {
        entries: [makeEntry(call, goal, "goal.rechecked", data)],
        reply: said(
          { goal: goal.id, ...data, freed: holds ? [] : known.blocks },
          holds
            ? `It holds: ${known.text}`
            : `It was wrong; free again: ${known.blocks.join(", ") || "nothing"}`,
        ),
      };
    }),
};

const metaVerb: Verb = {
  about: "say what the goal taught about how to learn",
  example: 'knack goal meta "Ask for the schema before reading the code."',
  run: (call) =>
    change(call, async (goal) => ({
      entries: [makeEntry(call, goal, "goal.meta", { insight: need(call.text, "What it taught", metaVerb) })],
      reply: said({ goal: goal.id }, "Captured."),
    })),
};

const waive: Verb = {
  about: "leave a duty out by a reason that a ledger entry proves; a false one is counted",
  example: "knack goal waive --duty lesson --reason budget --cites goal:g1:measured:…",
  run: async (call) => {
    const { duty, reason, cites } = call.input;
    if (!duty || !duties.some(({ name }) => name === duty))
      throw refuse(`Which duty? "${duty ?? ""}" is none.`, duties.map(({ name }) => name).join(", "));
    if (!reason) throw refuse("By which reason?", `Use --reason ${waiverReasons.join(", ")}.`);
    const waiver = makeId("w", `${duty} ${reason} ${cites}`);
    const goal = await findGoal(call);
    // What was measured until now is what it is judged by.
    await measure(call, goal);
    await change({ ...call, input: { ...call.input, goal: goal.id } }, async (own) => ({
      entries: [makeEntry(call, own, "goal.waived", { waiver, duty, reason, cites: cites ?? "" }, waiver)],
      reply: said({}),
    }));
    const [after] = await call.deps.store.goals.get([goal.id]);
    const view = await readView(call.deps, after ?? goal);
    const opened = investigation(view);
    if (opened.length > 0) await call.deps.store.transaction((tx) => record(tx, opened));
    const checked = checkGoal(view);
    const now = checked.duties.find((one) => one.duty === duty);
    const own = listFalseWaivers(view).find((one) => one.goal === goal.id && one.waiver.waiver === waiver);
    const isProved = own === undefined;
    return {
      data: { goal: goal.id, waiver, duty, reason, cites, proved: isProved, verdict: now?.verdict ?? null },
      lines: [isProved ? `Waived: ${duty} (${reason}).` : `Recorded, and false: ${own.why}`],
      isNo: !isProved,
    };
  },
};

/** Notes how full the window is now, where that is another zone than was noted last. */
async function measure(call: VerbCall, goal: Goal): Promise<void> {
  const { zone } = await readView(call.deps, goal);
  const last = goal.measured.at(-1);
  if (last?.zone === zone.zone || (zone.zone === "unknown" && last === undefined)) return;
  await change({ ...call, input: { ...call.input, goal: goal.id } }, async (own) => ({
    entries: [makeEntry(call, own, "goal.measured", zone, `${call.deps.clock.now()}`)],
    reply: said({}),
  }));
}

const batchVerb: Verb = {
  about: "look at the goals of a batch together",
  example: "knack goal batch --goal g3",
  run: async (call) =>
    change(call, async (goal, tx) => {
      if (goal.batch === null)
        throw refuse(`The goal ${goal.id} is of no batch.`, 'knack goal open "…" --batch <name>');
      const ids = (await tx.goals.briefs(goal.project))
        .filter(({ batch }) => batch === goal.batch)
        .map(({ id }) => id);
      const all = await tx.goals.get(ids);
      const surprises = all
        .flatMap(({ resolutions }) => resolutions)
        .filter(({ surprise }) => surprise > surpriseFrom);
      const { describeBatch } = await import("./cadence.ts");
      const text = call.text || describeBatch(goal.batch, all);
      const entries = [makeEntry(call, goal, "goal.batched", { batch: goal.batch, text })];
      for (const { prediction, because } of surprises) {
        const claim = `What surprised in ${goal.batch} comes again: ${because || prediction}`;
        const next = makeId("p", `${goal.id} ${claim}`);
        entries.push(
          makeEntry(
            call,
            goal,
            "goal.predicted",
            { prediction: next, claim, confidence: 0.5, dueAt: null },
            next,
          ),
        );
      }
      return {
        entries,
        reply: said({ goal: goal.id, batch: goal.batch, text, predicted: surprises.length }, text),
      };
    }),
};

const prefetchVerb: Verb = {
  about: "hand the goal what was found about a topic it asked for",
  example: 'knack goal prefetch --topic "cache keys" "The runner hashes the lockfile alone."',
  run: (call) =>
    change(call, async (goal) => {
      const topic = call.input.topic ?? goal.prefetch[0];
      if (!topic) throw refuse("About which topic?", "Use --topic.");
      return {
        entries: [
          makeEntry(call, goal, "goal.prefetched", {
            topic,
            report: need(call.text, "What was found", prefetchVerb),
          }),
        ],
        reply: said({ goal: goal.id, topic }, `Handed over: ${topic}`),
      };
    }),
};

const claim: Verb = {
  about: "take a goal, so that no other agent works on it at the same time",
  example: "knack goal claim --goal g1 --hours 1",
  run: (call) =>
    change(call, async (goal) => {
      const now = call.deps.clock.now();
      const held = goal.claim !== null && goal.claim.until > now && goal.claim.who !== call.caller.who;
      if (held || goal.closed !== null)
        return {
          entries: [],
          reply: {
            data: { goal: goal.id, claimed: false, by: goal.claim?.who ?? null },
            lines: [
              held
                ? `${goal.claim?.who} has it until ${new Date(goal.claim?.until ?? 0).toISOString()}.`
                : "It is closed.",
            ],
            isNo: true,
          },
        };
      const until = now + (call.input.hours ?? claimHours) * 3_600_000;
      const entry = makeEntry(call, goal, "goal.claimed", { who: call.caller.who, until });
      return {
        entries: [entry],
        reply: said({ goal: goal.id, claimed: true, until, key: entry.key }, `${goal.id} is yours.`),
      };
    }),
};

const release: Verb = {
  about: "give a goal back",
  example: "knack goal release --goal g1",
  run: (call) =>
    change(call, async (goal) => {
      const isOwn = goal.claim?.who === call.caller.who;
      const entry = makeEntry(call, goal, "goal.released", { who: call.caller.who }, goal.claim?.key ?? "");
      return {
        entries: isOwn ? [entry] : [],
        reply: {
          ...said({ goal: goal.id, released: isOwn }, isOwn ? "Given back." : "It was not yours."),
          isNo: !isOwn,
        },
      };
    }),
};

const board: Verb = {
  about: "list the goals that are open, and who has them",
  example: "knack goal board",
  run: async ({ deps, caller }) => {
    const now = deps.clock.now();
    const all = await deps.store.goals.open(caller.project.id);
    const whole = await deps.store.goals.get(all.map(({ id }) => id));
    const deadlines = new Map(whole.map(({ id, deadline }) => [id, deadline]));
    const goals = all.map(({ id, text, category, by, openedAt, claim: held, batch, openDebts }) => ({
      ...{ goal: id, text, category, by, opened_at: openedAt, batch, debts: openDebts },
      deadline: deadlines.get(id) ?? null,
      claimed_by: held !== null && held.until > now ? held.who : null,
    }));
    const debts = (await deps.store.goals.briefs(caller.project.id)).reduce(
      (sum, one) => sum + one.openDebts,
      0,
    );
    return said(
      { goals, debts },
      ...(goals.length === 0
        ? ['No goal is open here. To open one: knack goal open "…"']
        : goals.map(
            (one) =>
              `${one.goal}  ${one.claimed_by ? `[${one.claimed_by}] ` : ""}${one.text}${describeDeadline(one.deadline, now)}`,
          )),
      ...(debts > 0 ? [`${several(debts, "lesson")} owed by goals that are closed: knack goal debts`] : []),
    );
  },
};

function describeDeadline(deadline: number | null, now: number): string {
  if (deadline === null) return "";
  const day = new Date(deadline).toISOString().slice(0, 10);
  return deadline < now ? `  (overdue: ${day})` : `  (by ${day})`;
}

const debtsVerb: Verb = {
  about: "list the lessons that closed goals owe, and the pages that grow stale",
  example: "knack goal debts",
  run: async ({ deps, caller }) => {
    const briefs = (await deps.store.goals.briefs(caller.project.id)).filter(
      ({ openDebts }) => openDebts > 0,
    );
    const goals = await deps.store.goals.get(briefs.map(({ id }) => id));
    const debts = goals.flatMap(({ id, text, debts: all }) =>
      all.flatMap(({ settled, reason, priority, page, at }) =>
        // Whether a page is still stale is read from the page.
        settled || page !== null ? [] : { goal: id, text, reason, priority, at },
      ),
    );
    const pages = (await (await deps.pages(caller.project))?.debts()) ?? [];
    return said(
      { debts, pages },
      ...(debts.length + pages.length === 0 ? ["Nothing is owed."] : []),
      ...debts.map((one) => `${one.priority}  ${one.goal}  ${one.reason}: ${one.text}`),
      ...pages.map((one) => `page ${one.page}: ${one.reason}`),
    );
  },
};

const show: Verb = {
  about: "show everything that is recorded of a goal",
  example: "knack goal show --goal g1",
  run: async (call) => {
    const goal = await findGoal(call);
    const { id, text, category, closed, observations, kept, predictions, conclusions, debts: owed } = goal;
    return said(
      { goal: { ...goal } },
      `${text}  ${id} (${category}, ${closed === null ? "open" : `${closed.outcome}, ${closed.lesson}`})`,
      ...observations.map((one) => `  observed ${one.score.toFixed(2)}  ${one.observation}  ${one.text}`),
      ...kept.map((one) => `  kept in ${one.name}: ${one.insight}`),
      ...predictions.map((one) => `  predicted ${one.prediction}  ${one.claim}`),
      ...conclusions.map(
        (one) => `  concluded ${one.conclusion}  ${one.text}${one.outcome ? ` (${one.outcome})` : ""}`,
      ),
      ...owed.map((one) => `  owes ${one.reason}${one.settled ? " (settled)" : ""}`),
    );
  },
};

const check: Verb = {
  about: "say which duties of the goal are met, and how the others are; exit 1 where one blocks",
  example: "knack goal check --json",
  run: async (call) => {
    const checked = checkGoal(await readView(call.deps, await findGoal(call)));
    return { data: answerCheck(checked), lines: describeCheck(checked), isNo: checked.blocked };
  },
};

/** The documented fields in the answer of a check. */
function answerCheck({ goal, depth, duties: all, all_passed, meta_signals, folds, blocked }: GoalCheck) {
  return { goal, depth, duties: all, all_passed, meta_signals, folds, blocked };
}

const close: Verb = {
  about: "end a goal; not while a duty blocks",
  example: "knack goal close --outcome done",
  run: async (call) => {
    const { deps, input } = call;
    const outcome = goalOutcomes.find((one) => one === (input.outcome ?? "done"));
    if (!outcome) throw refuse(`"${input.outcome}" is no outcome.`, `Use ${goalOutcomes.join(", ")}.`);
    const goal = await findGoal(call);
    const work = await findWork(deps.store, goal);
    const outside = await readView(deps, goal, work);
    return deps.store.transaction(async (tx) => {
      // The library and the pages are read before: they may need the writer themselves.
      const inside = {
        ...deps,
        store: tx,
        pages: async () => null,
        findFitting: async () => outside.fitting,
      };
      const [now = goal] = await tx.goals.get([goal.id]);
      if (now.closed !== null)
        return said({ goal: goal.id, closed: now.closed.lesson, next: [] }, "It is closed.");
      const view = await readView(inside, now, work);
      explainOutcome(now, outcome, view.facts.calls);
      const checked = checkGoal(view);
      if (checked.blocked && !input.unlearned)
        return {
          data: { ...answerCheck(checked), next: listNext(checked) },
          lines: describeCheck(checked),
          isNo: true,
        };
      const key = `goal:${now.id}:closed:by-hand:${deps.clock.now()}`;
      const entries = closeEntries(
        view,
        { outcome, path: "by-hand" },
        { at: deps.clock.now(), key, actor: call.caller.actor },
      );
      await record(tx, entries);
      const [after = now] = await tx.goals.get([now.id]);
      const next = listNext(checkGoal(await readView(inside, after, null)));
      return said(
        {
          goal: now.id,
          depth: checked.depth,
          closed: after.closed?.lesson ?? null,
          debts: after.debts.filter(({ settled }) => !settled).length,
          next,
        },
        `Closed ${now.id}${after.closed ? `: ${lessonStates[after.closed.lesson]}` : ""}.`,
        ...next.map(({ command }) => `Next: ${command}`),
      );
    });
  },
};

/** How a closed goal stands, in words. */
const lessonStates = {
  kept: "its lesson is kept",
  waived: "its lesson is waived",
  "not-needed": "it owes no lesson",
  unlearned: "it owes what it taught, which knack goal debts lists",
} as const;

/** Checks that the stated outcome is recorded, too. */
function explainOutcome(goal: Goal, outcome: string, calls: number): void {
  const isStopped = goal.conclusions.some(({ blocks, outcome: how }) => blocks.length > 0 && how !== "wrong");
  if (outcome === "blocked" && !isStopped)
    throw refuse(
      "Nothing is recorded that blocks it.",
      'knack goal conclude "…" --evidence "…" --blocks "…"',
    );
  if (outcome === "skipped" && calls > 0)
    throw refuse(
      `${several(calls, "step")} of it are recorded: it was not skipped.`,
      "Use done, failed or blocked.",
    );
}

/** Remaining steps; a finite list, and often empty. */
function listNext({ duties: all }: GoalCheck): Repair[] {
  return all.flatMap(({ repairs }) => repairs);
}

function describeCheck(checked: GoalCheck): string[] {
  const { goal, text, depth, deep_because, duties: all, blocked } = checked;
  const open = all.filter(({ verdict }) => verdict === "fixable" || verdict === "fail");
  return [
    `${text}  ${goal} (${depth}${deep_because.length > 0 ? `: ${deep_because.join(", ")}` : ""})`,
    ...open.flatMap(({ duty, verdict, reasons, repairs, blocking }) => [
      `  ${duty} (${verdict === "fixable" ? "to be mended" : "not met"}${blocking ? ", blocks" : ""}): ${reasons.join("; ")}`,
      ...repairs.flatMap(({ say, command }) => [`    ${say}`, `      ${command}`]),
    ]),
    open.length === 0
      ? "  Every duty is met."
      : blocked
        ? `  Not to be closed yet; to close it all the same, with a debt: knack goal close --goal ${goal} --unlearned`
        : "  Nothing blocks: the goal can be closed as it is.",
  ];
}

const cadenceVerbs = {
  "check-in": {
    about: "look at what came again, grows stale or drifts away, each 5 goals or each day",
    example: "knack goal check-in",
    run: async (call) => (await import("./cadence.ts")).checkIn(call),
  },
  "full-reflection": {
    about: "reflect on every resolved prediction, each 15 productive goals or each week",
    example: "knack goal full-reflection",
    run: async (call) => (await import("./cadence.ts")).reflectFully(call),
  },
  utility: {
    about: "list what was shown 5 times and never helped, and what was never shown; it retires nothing",
    example: "knack goal utility",
    run: async (call) => (await import("./cadence.ts")).listUtility(call),
  },
} as const satisfies Record<string, Verb>;

/** Everything that can be done with goals. The command line, the tool and the documents go by this table. */
export const verbs = {
  ...{ open, observe, keep, retrieve, predict, resolve, reflect, conclude, recheck, meta: metaVerb, waive },
  ...{
    batch: batchVerb,
    prefetch: prefetchVerb,
    claim,
    release,
    board,
    debts: debtsVerb,
    show,
    check,
    close,
  },
  ...cadenceVerbs,
} as const satisfies Record<string, Verb>;

export type GoalVerb = keyof typeof verbs;
export const goalVerbs = Object.keys(verbs) as [GoalVerb, ...GoalVerb[]];
