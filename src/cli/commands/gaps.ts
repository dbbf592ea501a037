import { type GapView, gapThresholds } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import { several } from "../../text/index.ts";
import { arg, type CommandCall, defineCommand, unknownName } from "../command.ts";
import { applyChange } from "../screen/changes.ts";
import { lastPart } from "../screen/lesson.ts";
import { formatDay, joinParts, oneLine } from "../screen/text.ts";
import { matchesName, matchesProject } from "../select.ts";
import {
  answerList,
  changesReal,
  type OpenCall,
  reads,
  runSubcommand,
  type Subcommands,
  takes,
} from "../subcommands.ts";

const args = {
  words: arg.words("list, show <id>, promote <id or words>, reject <id or words>"),
  project: arg.option("with list: only projects whose name or id contains this"),
  all: arg.flag("with list: also gaps that one session asked for, and rejected ones"),
  ...arg.json,
  ...arg.dryRun,
};

type GapsCall = CommandCall<typeof args>;

const oneGap = takes("an id, a name, or words of what was asked", "knack gaps list --all shows them.", {
  several: true,
});

/** Makes a gap's skill live; also called by `knack promote gap`. */
export const promoteGap = changesReal(promote, oneGap);

const subcommands: Subcommands<GapsCall> = {
  list: reads(list),
  show: reads(show, oneGap),
  promote: promoteGap,
  reject: changesReal(reject, oneGap),
};

export const gaps = defineCommand({
  about: "Show what you keep asking for that no skill covers, and turn it into a skill or reject it.",
  args,
  completes: [Object.keys(subcommands)],
  run: (call: GapsCall) => runSubcommand("gaps", subcommands, call),
});

async function list(call: OpenCall<GapsCall>): Promise<number> {
  const { screen, knack } = call;
  const { all, project } = call.args;
  const every = (await knack.gaps()).filter((gap) => matchesProject(project, gap.projectName, gap.project));
  const isShown = ({ state }: GapView) => all || state.status === "draft" || state.status === "active";
  const shown = every.filter(isShown);
  const hidden = every.filter((gap) => !isShown(gap));
  const once = hidden.filter(({ state }) => state.status === "pending").length;
  const rejected = hidden.length - once;
  const parts = [once > 0 && `${once} asked for in only one session`, rejected > 0 && `${rejected} rejected`];
  const reasons = new Map<string, string | null>();
  for (const gap of shown) reasons.set(gap.id, await explainMissing(knack, gap));
  return answerList(call, {
    items: shown,
    json: { gaps: shown.map((gap) => gapJson(gap, reasons.get(gap.id) ?? null)) },
    columns: {
      id: ({ id }) => id,
      status: ({ state, kept }) =>
        state.status === "draft" && kept.length === 0 ? "no draft" : state.status,
      asked: ({ state }) => String(state.asked.length),
      used: ({ state }) => String(state.hit.length),
      last: ({ asks }) => formatDay(asks.at(-1)?.at ?? 0),
      project: ({ projectName }) => oneLine(projectName, 24),
      request: (gap) => oneLine(lastRequest(gap), 80),
    },
    empty: ["No gaps: nothing was asked for in two sessions that no skill covers."],
    below: [
      shown.map((gap) => {
        const because = reasons.get(gap.id);
        return because && `${gap.id} ${describeLack(gap)}: ${because}.`;
      }),
      hidden.length > 0 && ["", `${joinParts(", ", parts)}: --all shows them.`],
      shown.length > 0 && [
        "",
        `Details: ${screen.knack} gaps show <id>. Make it live now: ${screen.knack} gaps promote <id>. Never: ${screen.knack} gaps reject <id>.`,
      ],
    ],
  });
}

/** Why a gap that is due has no draft or skill yet; null where it has. */
async function explainMissing(knack: Knack, gap: GapView): Promise<string | null> {
  const { state, kept } = gap;
  if (state.status === "pending" || state.status === "rejected") return null;
  const written = kept.length === 0 ? "it is written when the next session ends" : null;
  return (await knack.whyNoDraft(gap)) ?? written;
}

function describeLack({ kept }: GapView): string {
  return kept.length === 0 ? "has no draft" : "stays a draft";
}

/** The latest sentence that asked for it. */
function lastRequest({ asks }: GapView): string {
  return asks.at(-1)?.ask.sentence ?? "";
}

function gapJson({ id, project, state, asks, kept }: GapView, because: string | null) {
  return {
    ...{ id, status: state.status, project, asked: state.asked.length, hits: state.hit.length, because },
    asks: asks.map(({ session, at, text }) => ({ session, at, text })),
    skills: kept.map(({ name, path, reach }) => ({ name, path, reach })),
  };
}

async function show(call: OpenCall<GapsCall>, word: string): Promise<number> {
  const { screen, knack } = call;
  const gap = findGap(await knack.gaps(), word);
  const { id, state, kept, asks } = gap;
  const because = await explainMissing(knack, gap);
  return call.answer({ gap: gapJson(gap, because) }, [
    `${screen.bold(oneLine(lastRequest(gap), 120))}  ${screen.dim(id)}`,
    `  ${state.status}: ${describeState(gap, because)}`,
    kept.map(
      ({ name, path, reach }) => `  ${reach === "draft" ? "draft" : "skill"} ${name}: ${screen.path(path)}`,
    ),
    "Requests:",
    asks.map(
      ({ session, at, text }) =>
        `  ${formatDay(at)}  session ${oneLine(lastPart(session), 40)}: ${oneLine(text, 200)}`,
    ),
    state.status !== "rejected" && [
      "",
      state.status !== "active" && `Make it live now: ${screen.knack} gaps promote ${id}`,
      `Never: ${screen.knack} gaps reject ${id}`,
    ],
  ]);
}

/** Explains a status, and what would change it. */
function describeState(gap: GapView, because: string | null): string {
  const { draftAsks, activeAsks, activeHits } = gapThresholds;
  const asked = `asked for in ${several(gap.state.asked.length, "session")}`;
  const meanings: Record<GapView["state"]["status"], string> = {
    pending: `${asked}; Knack writes a draft once ${draftAsks} sessions ask for it`,
    draft: `${asked}, used in ${gap.state.hit.length}; it goes live when ${activeAsks} sessions asked for it or ${activeHits} used it`,
    active: asked,
    rejected: `${asked}; Knack does not write it again`,
  };
  return because === null ? meanings[gap.state.status] : `${asked}; it ${describeLack(gap)}: ${because}`;
}

/** A gap by its id or the beginning of it, by the name of its skill, or by words of what was asked. */
function findGap(all: readonly GapView[], word: string): GapView {
  const candidates = [
    all.filter(({ asks, id }) => id === word || asks.some((asked) => asked.id === word)),
    all.filter(({ id }) => word.length > 2 && id.startsWith(word)),
    all.filter(({ changes }) => changes.some(({ change }) => matchesName(change.name, word))),
    all.filter(({ asks }) => asks.some(({ text }) => containsWords(text, word))),
  ];
  const found = candidates.find((some) => some.length > 0) ?? [];
  const [gap] = found;
  if (!gap) throw unknownName(`No gap matches "${word}".`, "knack gaps list --all shows them.");
  if (found.length === 1) return gap;
  throw unknownName(
    `"${word}" matches ${found.length} gaps.`,
    found.map((one) => `${one.id} ${oneLine(lastRequest(one), 60)}`).join("; "),
  );
}

/** Whether a text contains these words, whole: a single letter is in every text, and a rejection is final. */
function containsWords(text: string, sought: string): boolean {
  const wanted = sought.trim().toLowerCase();
  // In scripts without spaces, two characters make a word.
  if (wanted.length < (/^[ -~]*$/.test(wanted) ? 3 : 2)) return false;
  const [first = "", ...rest] = text.toLowerCase().split(wanted);
  return rest.some((after, at) => {
    const before = at === 0 ? first : (rest[at - 1] ?? "");
    return !/[a-z0-9]$/.test(before) && !/^[a-z0-9]/.test(after);
  });
}

async function promote(call: OpenCall, word: string): Promise<number> {
  const { knack } = call;
  const gap = findGap(await knack.gaps(), word);
  return applyChange(call, {
    plan: () => knack.planPromotion(gap),
    apply: () => knack.promoteGap(gap),
    nothing: null,
    after: () => [`To undo: ${call.screen.knack} skills undo (that rejects the gap for good)`],
  });
}

async function reject(call: OpenCall<GapsCall>, word: string): Promise<number> {
  const { knack } = call;
  const gap = findGap(await knack.gaps(), word);
  return applyChange(call, {
    plan: () => knack.planGapRejection(gap),
    apply: () => knack.rejectGap(gap),
    nothing: null,
    after: () => ["Knack will not write it again, however often it is asked for."],
  });
}
