import { type GapStatus, type GapView, gapThresholds } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import { several } from "../../text/index.ts";
import { redact } from "../../trust/index.ts";
import {
  type CommandCall,
  defineCommand,
  dryRunArg,
  jsonArg,
  runSubcommand,
  type Subcommands,
  takeNone,
  unknownName,
  wrongUsage,
} from "../command.ts";
import { changeKnack, withKnack } from "../knack.ts";
import { applyChange } from "../screen/changes.ts";
import { lastPart } from "../screen/lesson.ts";
import { answerList } from "../screen/list.ts";
import type { Screen } from "../screen/screen.ts";
import { formatDay, iso, oneLine } from "../screen/text.ts";
import { matchesProject } from "../select.ts";

const args = {
  words: {
    type: "positional",
    required: false,
    description: "list, show <id>, promote <id or words>, reject <id or words>",
  },
  project: { type: "string", description: "with list: only projects whose name or id contains this" },
  all: { type: "boolean", description: "with list: also gaps that one session asked for, and rejected ones" },
  ...jsonArg,
  ...dryRunArg,
} as const;

type GapsCall = CommandCall<typeof args>;

const subcommands: Subcommands<GapsCall> = {
  list: (call, words) => {
    takeNone(words, "gaps list");
    return list(call);
  },
  show: (call, words) => show(call, joinWords(words, "show")),
  promote: (call, words) => promote(call, joinWords(words, "promote")),
  reject: (call, words) => reject(call, joinWords(words, "reject")),
};

export const gaps = defineCommand({
  about: "Show what you keep asking for that no skill covers, and turn it into a skill or reject it.",
  args,
  run: (call: GapsCall) => runSubcommand("gaps", subcommands, call),
});

function joinWords(words: readonly string[], subcommand: string): string {
  if (words.join("").trim() !== "") return words.join(" ");
  throw wrongUsage(
    `knack gaps ${subcommand} takes an id, a name, or words of what was asked.`,
    "knack gaps list --all shows them.",
  );
}

async function list(call: GapsCall): Promise<number> {
  const { screen } = call;
  const { all, project } = call.args;
  return withKnack(call, async (knack) => {
    const every = (await knack.gaps()).filter((gap) => matchesProject(project, gap.projectName, gap.project));
    const shown = every.filter(({ state }) => all || state.status === "draft" || state.status === "active");
    const reasons = new Map<string, string | null>();
    for (const gap of shown) reasons.set(gap.id, await explainMissing(knack, gap));
    return answerList(call, {
      items: shown,
      json: () => ({ gaps: shown.map((gap) => gapJson(gap, reasons.get(gap.id) ?? null)) }),
      columns: {
        id: ({ id }) => id,
        status: ({ state }) => state.status,
        asked: ({ state }) => String(state.asked.length),
        used: ({ state }) => String(state.hit.length),
        last: ({ asks }) => formatDay(asks.at(-1)?.at ?? 0),
        project: ({ projectName }) => oneLine(projectName, 24),
        request: (gap) => oneLine(lastRequest(gap), 80),
      },
      empty: ["No gaps: nothing was asked for in two sessions that no skill covers."],
      below: [
        ...shown.flatMap((gap) => {
          const because = reasons.get(gap.id);
          return because ? `${gap.id} ${describeLack(gap)}: ${because}.` : [];
        }),
        ...describeHidden(every, shown),
        ...(shown.length > 0
          ? [
              "",
              `Details: ${screen.knack} gaps show <id>. Make it live now: gaps promote <id>. Never: gaps reject <id>.`,
            ]
          : []),
      ],
    });
  });
}

/** Why a gap that is due has no draft or skill yet; null where it has. */
async function explainMissing(knack: Knack, gap: GapView): Promise<string | null> {
  const { state, kept } = gap;
  if (state.status === "pending" || state.status === "rejected") return null;
  return (
    (await knack.whyNoDraft(gap)) ?? (kept.length === 0 ? "it is written when the next session ends" : null)
  );
}

function describeLack({ kept }: GapView): string {
  return kept.length === 0 ? "has no draft" : "stays a draft";
}

function describeHidden(every: readonly GapView[], shown: readonly GapView[]): string[] {
  const hidden = every.filter((gap) => !shown.includes(gap));
  const once = hidden.filter(({ state }) => state.status === "pending").length;
  const parts = [
    ...(once > 0 ? [`${once} asked for in only one session`] : []),
    ...(hidden.length > once ? [`${hidden.length - once} rejected`] : []),
  ];
  return parts.length > 0 ? ["", `${parts.join(", ")}: --all shows them.`] : [];
}

/** The latest sentence that asked for it. */
function lastRequest({ asks }: GapView): string {
  return asks.at(-1)?.ask.sentence ?? "";
}

function gapJson(gap: GapView, because: string | null) {
  const { id, project, state, asks, kept } = gap;
  return {
    id,
    status: state.status,
    project,
    asked: state.asked.length,
    hits: gap.state.hit.length,
    asks: asks.map(({ session, at, text }) => ({ session, at: iso(at), text: redact(text) })),
    skills: kept.map(({ name, path, reach }) => ({ name, path, reach })),
    because,
  };
}

async function show(call: GapsCall, word: string): Promise<number> {
  const { screen } = call;
  return withKnack(call, async (knack) => {
    const gap = findGap(await knack.gaps(), word);
    const because = await explainMissing(knack, gap);
    return call.answer({ gap: gapJson(gap, because) }, [
      `${screen.bold(oneLine(lastRequest(gap), 120))}  ${screen.dim(gap.id)}`,
      `  ${gap.state.status}: ${describeState(gap, because)}`,
      ...gap.kept.map(
        ({ name, path, reach }) => `  ${reach === "draft" ? "draft" : "skill"} ${name}: ${screen.path(path)}`,
      ),
      "Requests:",
      ...gap.asks.map(
        ({ session, at, text }) =>
          `  ${formatDay(at)}  session ${oneLine(lastPart(session), 40)}: ${oneLine(text, 200)}`,
      ),
      ...describeNext(gap, screen),
    ]);
  });
}

/** What a status means, and what would change it. */
function describeState(gap: GapView, because: string | null): string {
  const { draftAsks, activeAsks, activeHits } = gapThresholds;
  const asked = `asked for in ${several(gap.state.asked.length, "session")}`;
  const meanings: Record<GapStatus, string> = {
    pending: `${asked}; Knack writes a draft once ${draftAsks} sessions ask for it`,
    draft: `${asked}, used in ${gap.state.hit.length}; it goes live when ${activeAsks} sessions asked for it or ${activeHits} used it`,
    active: asked,
    rejected: `${asked}; Knack does not write it again`,
  };
  return because === null ? meanings[gap.state.status] : `${asked}; it ${describeLack(gap)}: ${because}`;
}

function describeNext({ state, id }: GapView, { knack }: Screen): string[] {
  if (state.status === "rejected") return [];
  const live = state.status === "active" ? [] : [`Make it live now: ${knack} gaps promote ${id}`];
  return ["", ...live, `Never: ${knack} gaps reject ${id}`];
}

/** A gap by its id or the beginning of it, by the name of its skill, or by words of what was asked. */
function findGap(all: readonly GapView[], word: string): GapView {
  const candidates = [
    all.filter(({ asks, id }) => id === word || asks.some((asked) => asked.id === word)),
    all.filter(({ id }) => word.length > 2 && id.startsWith(word)),
    all.filter(({ changes }) =>
      changes.some(({ change: { name } }) => name === word || name.endsWith(`-${word}`)),
    ),
    all.filter(({ asks }) => asks.some(({ text }) => containsWords(text, word))),
  ];
  const found = candidates.find((some) => some.length > 0) ?? [];
  const [gap, ...others] = found;
  if (!gap) throw unknownName(`No gap matches "${word}".`, "knack gaps list --all shows them.");
  if (others.length > 0)
    throw unknownName(
      `"${word}" matches ${found.length} gaps.`,
      found.map((one) => `${one.id} ${oneLine(lastRequest(one), 60)}`).join("; "),
    );
  return gap;
}

/** Whether a text contains these words, whole: a single letter is in every text, and a rejection is final. */
function containsWords(text: string, words: string): boolean {
  const wanted = words.trim().toLowerCase();
  // In scripts without spaces, two characters make a word.
  if (wanted.length < (/^[ -~]*$/.test(wanted) ? 3 : 2)) return false;
  const [first = "", ...rest] = text.toLowerCase().split(wanted);
  let before = first;
  return rest.some((after) => {
    const isWhole = !/[a-z0-9]$/.test(before) && !/^[a-z0-9]/.test(after);
    before = after;
    return isWhole;
  });
}

/** Opens Knack for a change; a dry run looks at the real home, since no copy has the sessions a gap is made of. */
function change(call: GapsCall, work: (knack: Knack) => Promise<number>): Promise<number> {
  return call.dryRun ? withKnack(call, work, { dryRun: false }) : changeKnack(call, work);
}

/** Makes a gap's skill live; also called by `knack promote gap`. */
export async function promote(call: GapsCall, word: string): Promise<number> {
  return change(call, async (knack) => {
    const gap = findGap(await knack.gaps(), word);
    return applyChange(call, {
      plan: () => knack.planPromotion(gap),
      apply: () => knack.promoteGap(gap),
      nothing: null,
      after: () => [`To undo: ${call.screen.knack} skills undo (that rejects the gap for good)`],
    });
  });
}

async function reject(call: GapsCall, word: string): Promise<number> {
  return change(call, async (knack) => {
    const gap = findGap(await knack.gaps(), word);
    return applyChange(call, {
      plan: () => knack.planGapRejection(gap),
      apply: () => knack.rejectGap(gap),
      nothing: null,
      after: () => ["Knack will not write it again, however often it is asked for."],
    });
  });
}
