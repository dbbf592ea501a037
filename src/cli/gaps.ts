import { KnackError } from "../core/errors.ts";
import type { GapStatus } from "../core/gap.ts";
import { policy } from "../core/policy.ts";
import { redact } from "../core/redact.ts";
import { several } from "../core/words.ts";
import type { GapView } from "../engine/gap.ts";
import type { Keeping } from "../engine/keep.ts";
import type { Plan } from "../engine/step.ts";
import type { Knack } from "../open.ts";
import { type Actions, act } from "./action.ts";
import { writingOnWire } from "./learned-on-wire.ts";
import { type Call, defineVerb } from "./main.ts";
import { changing, withKnack } from "./opening.ts";
import { isWritten, tellDiff, tellOutcomes } from "./telling.ts";
import { calledAs, day, iso, onOneLine, paintFor, printJson, printLines, short, table } from "./terminal.ts";

const args = {
  words: {
    type: "positional",
    required: false,
    description: "list, show <id>, promote <id or words>, reject <id or words>",
  },
  project: { type: "string", description: "with list: only projects whose name or id contains this" },
  all: { type: "boolean", description: "with list: also what was asked for once, and what was rejected" },
  json: { type: "boolean", description: "print one JSON object" },
  "dry-run": { type: "boolean", description: "write nothing; say what would be" },
} as const;

type GapsCall = Call<typeof args>;

const actions: Actions<GapsCall> = {
  list: (call, words) => {
    if (words.length === 0) return list(call);
    throw new KnackError("WRONG_USAGE", `knack gaps list takes no "${words[0]}".`);
  },
  show: (call, words) => show(call, one(words, "show")),
  promote: (call, words) => promote(call, one(words, "promote")),
  reject: (call, words) => reject(call, one(words, "reject")),
};

export const gaps = defineVerb({
  about: "What you keep asking for that no skill covers: look at it, promote it, reject it.",
  args,
  run: (call) => act("gaps", actions, call),
});

function one(words: readonly string[], action: string): string {
  if (words.join("").trim() !== "") return words.join(" ");
  throw new KnackError(
    "WRONG_USAGE",
    `knack gaps ${action} takes an id, a name, or words of what was asked.`,
    {
      hint: "knack gaps list --all shows them.",
    },
  );
}

async function list({ args: { all, json, project }, env }: GapsCall): Promise<number> {
  return withKnack(env, {}, async (knack) => {
    const part = project?.toLowerCase();
    const every = (await knack.gaps()).filter(
      (gap) => part === undefined || `${gap.projectName}\n${gap.project}`.toLowerCase().includes(part),
    );
    const shown = every.filter(({ state }) => all || state.status === "draft" || state.status === "active");
    const reasons = new Map<string, string>();
    for (const gap of shown) {
      const because = await reasonFor(knack, gap);
      if (because !== null) reasons.set(gap.id, because);
    }
    if (json) {
      printJson({ gaps: shown.map((gap) => gapOnWire(gap, reasons.get(gap.id) ?? null)) });
      return 0;
    }
    const paint = paintFor(process.stdout, env);
    const [head = "", ...rows] = table([
      ["id", "state", "asked", "hits", "last", "for", "asked for"],
      ...shown.map(row),
    ]);
    printLines([
      ...(shown.length > 0
        ? [paint.dim(head), ...rows]
        : ["Nothing was asked for twice yet that no skill covers."]),
      ...shown.flatMap((gap) => {
        const because = reasons.get(gap.id);
        return because === undefined ? [] : `${gap.id} ${lackOf(gap)}: ${because}.`;
      }),
      ...hiddenLines(every, shown),
      ...(shown.length > 0
        ? [
            "",
            `Why: ${calledAs(env)} gaps show <id>. Keep it now: gaps promote <id>. Never: gaps reject <id>.`,
          ]
        : []),
    ]);
    return 0;
  });
}

const soon = "it is made when the next session ends";

/** Why there is not what is due of a gap; null where there is. */
async function reasonFor(knack: Knack, gap: GapView): Promise<string | null> {
  const { state, kept } = gap;
  if (state.status === "pending" || state.status === "rejected") return null;
  return (await knack.whyNoDraft(gap)) ?? (kept.length === 0 ? soon : null);
}

function lackOf({ kept }: GapView): string {
  return kept.length === 0 ? "has no draft" : "goes no further";
}

function hiddenLines(every: readonly GapView[], shown: readonly GapView[]): string[] {
  const hidden = every.filter((gap) => !shown.includes(gap));
  const once = hidden.filter(({ state }) => state.status === "pending").length;
  const rejected = hidden.length - once;
  const parts = [
    ...(once > 0 ? [`${once} asked for in one session so far`] : []),
    ...(rejected > 0 ? [`${rejected} rejected`] : []),
  ];
  return parts.length > 0 ? ["", `${parts.join(", ")}: --all shows them.`] : [];
}

function row(gap: GapView): string[] {
  const { id, state, asks, projectName } = gap;
  return [
    id,
    state.status,
    String(state.asked.length),
    String(hitsOf(gap)),
    day(asks.at(-1)?.at ?? 0),
    onOneLine(redact(projectName), 24),
    onOneLine(redact(asks.at(-1)?.ask.sentence ?? ""), 80),
  ];
}

function hitsOf({ state }: GapView): number {
  return state.status === "pending" ? 0 : state.hit.length;
}

function gapOnWire(gap: GapView, because: string | null) {
  const { id, project, state, asks, kept } = gap;
  return {
    id,
    status: state.status,
    project,
    asked: state.asked.length,
    hits: hitsOf(gap),
    asks: asks.map(({ session, at, text }) => ({ session, at: iso(at), text: redact(text) })),
    skills: kept.map(({ name, path, reach }) => ({ name, path, reach })),
    because,
  };
}

async function show({ args: { json }, env }: GapsCall, word: string): Promise<number> {
  return withKnack(env, {}, async (knack) => {
    const gap = named(await knack.gaps(), word);
    const because = await reasonFor(knack, gap);
    if (json) {
      printJson({ gap: gapOnWire(gap, because) });
      return 0;
    }
    const paint = paintFor(process.stdout, env);
    printLines([
      `${paint.bold(onOneLine(redact(gap.asks.at(-1)?.ask.sentence ?? ""), 120))}  ${paint.dim(gap.id)}`,
      `  ${gap.state.status}: ${meaningOf(gap, because)}`,
      ...gap.kept.map(
        ({ name, path, reach }) => `  ${reach === "draft" ? "draft" : "skill"} ${name}: ${short(path, env)}`,
      ),
      "Asked for:",
      ...gap.asks.map(
        ({ session, at, text }) =>
          `  ${day(at)}  session ${onOneLine(session.slice(session.lastIndexOf("/") + 1), 40)}: ${onOneLine(redact(text), 200)}`,
      ),
      ...nextSteps(gap, env),
    ]);
    return 0;
  });
}

/** What a state means, and what would change it. */
function meaningOf(gap: GapView, because: string | null): string {
  const { draftAsks, activeAsks, activeHits } = policy.gap;
  const asked = `asked for in ${several(gap.state.asked.length, "session")}`;
  const meaning: Record<GapStatus, string> = {
    pending: `${asked}; nothing is made before ${draftAsks} ask for it`,
    draft: `${asked}, handed over in ${hitsOf(gap)}; it goes live when asked for in ${activeAsks} sessions or handed over in ${activeHits}`,
    active: asked,
    rejected: `${asked}; it is not made again`,
  };
  return because === null ? meaning[gap.state.status] : `${asked}; it ${lackOf(gap)}: ${because}`;
}

function nextSteps({ state, id }: GapView, env: GapsCall["env"]): string[] {
  if (state.status === "rejected") return [];
  const live = state.status === "active" ? [] : [`Keep it now: ${calledAs(env)} gaps promote ${id}`];
  return ["", ...live, `Never: ${calledAs(env)} gaps reject ${id}`];
}

/** A gap by its id or the beginning of it, by the name of what was made of it, or by words of what was asked. */
function named(all: readonly GapView[], word: string): GapView {
  const ids = all.filter(({ asks, id }) => id === word || asks.some((asked) => asked.id === word));
  const starts = all.filter(({ id }) => word.length > 2 && id.startsWith(word));
  const names = all.filter(({ changes }) =>
    changes.some(({ change: { name } }) => name === word || name.endsWith(`-${word}`)),
  );
  const said = all.filter(({ asks }) => asks.some(({ text }) => says(text, word)));
  const [found = []] = [ids, starts, names, said].filter((some) => some.length > 0);
  const [gap, ...others] = found;
  if (!gap)
    throw new KnackError("UNKNOWN_NAME", `No gap is called "${word}".`, {
      hint: "knack gaps list --all shows them.",
    });
  if (others.length > 0)
    throw new KnackError("UNKNOWN_NAME", `"${word}" means ${found.length} gaps.`, {
      hint: found
        .map(({ id, asks }) => `${id} ${onOneLine(redact(asks.at(-1)?.ask.sentence ?? ""), 60)}`)
        .join("; "),
    });
  return gap;
}

/** Whether a text has these words, whole: a letter is in every text, and a rejection is for good. */
function says(text: string, words: string): boolean {
  const meant = words.trim().toLowerCase();
  // Where no spaces part the words, two characters are one.
  if (meant.length < (/^[ -~]*$/.test(meant) ? 3 : 2)) return false;
  const [first = "", ...rest] = text.toLowerCase().split(meant);
  let before = first;
  return rest.some((after) => {
    const isWhole = !/[a-z0-9]$/.test(before) && !/^[a-z0-9]/.test(after);
    before = after;
    return isWhole;
  });
}

async function promote(call: GapsCall, word: string): Promise<number> {
  return change(call, word, {
    planning: (knack, gap) => knack.planPromotion(gap),
    doing: (knack, gap) => knack.promoteGap(gap),
    after: () => [`To take it back: ${calledAs(call.env)} skills undo (that closes the gap for good)`],
  });
}

async function reject(call: GapsCall, word: string): Promise<number> {
  return change(call, word, {
    planning: (knack, gap) => knack.planGapRejection(gap),
    doing: (knack, gap) => knack.rejectGap(gap),
    after: () => ["It is not made again, however often it is asked for."],
  });
}

interface Doing {
  readonly planning: (knack: Knack, gap: GapView) => Promise<Plan>;
  readonly doing: (knack: Knack, gap: GapView) => Promise<Keeping>;
  readonly after: () => string[];
}

/** Does it, or says what it would do; exit code 1 when the answer is no. */
async function change(call: GapsCall, word: string, { planning, doing, after }: Doing): Promise<number> {
  if (call.args["dry-run"])
    // The sessions that a gap is made of are in no copy; planning writes nothing.
    return withKnack(call.env, {}, async (knack) => {
      const plan = await planning(knack, named(await knack.gaps(), word));
      if (!plan.ok) return refuse(call, plan.because);
      const paint = paintFor(process.stdout, call.env);
      // That the draft makes room is no news.
      const news = plan.steps.some(isWritten) ? plan.steps.filter(isWritten) : plan.steps;
      const lines = news.flatMap(({ diff }) => tellDiff(diff, paint));
      tell(call, plan.steps, [...lines, "Nothing was written (--dry-run)."]);
      return 0;
    });
  return changing(call.env, { dryRun: false }, async (knack) => {
    const done = await doing(knack, named(await knack.gaps(), word));
    if (!done.kept) return refuse(call, done.because);
    const written = done.outcomes.filter((each) => each.done);
    tell(call, written, [
      ...tellOutcomes(done.outcomes, call.env).map((line) => line.trimStart()),
      ...after(),
    ]);
    return written.length === done.outcomes.length ? 0 : 1;
  });
}

function tell(
  { args }: GapsCall,
  changes: readonly { readonly change: Parameters<typeof writingOnWire>[0] }[],
  lines: readonly string[],
): void {
  if (args.json)
    printJson({ done: args["dry-run"] !== true, skills: changes.map((each) => writingOnWire(each.change)) });
  else printLines(lines);
}

function refuse({ args }: GapsCall, because: string): number {
  if (args.json) printJson({ done: false, because, skills: [] });
  else printLines([`Not done: ${because}.`], process.stderr);
  return 1;
}
