import { curationLimits } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import { several } from "../../text/index.ts";
import { arg, type CommandCall, defineCommand, wrongUsage } from "../command.ts";
import { changeKnack, withKnack } from "../knack.ts";
import {
  applyChange,
  describeOutcomes,
  describeSteps,
  isComplete,
  madeJson,
  notDone,
  nothingWritten,
} from "../screen/changes.ts";
import { askYesNo, canAsk, type Screen } from "../screen/screen.ts";
import { formatCount, type Lines, oneLine } from "../screen/text.ts";
import { nameRealms, selectNamed } from "../select.ts";

const args = {
  apply: arg.flag("apply the proposals; each can be undone"),
  only: arg.option("only these names, separated by commas"),
  undo: arg.flag("undo everything that the latest --apply did"),
  yes: arg.flag("with --apply: do not ask"),
  ...arg.json,
  ...arg.dryRun,
};

type CurateCall = CommandCall<typeof args>;
type CurationPlan = Awaited<ReturnType<Knack["curation"]>>;

export const curate = defineCommand({
  about: "Keep the library small: find skills that are stale, harmful, duplicate or too many, and clean up.",
  args,
  run: async (call: CurateCall) => {
    const { apply, undo } = call.args;
    if (apply && undo) throw wrongUsage("--apply and --undo exclude each other.", "Use one of them.");
    if (!undo) return (apply ? changeKnack : withKnack)(call, (knack) => propose(call, knack));
    return changeKnack(call, (knack) =>
      applyChange(call, {
        plan: () => knack.planUncurate(),
        apply: () => knack.uncurate(),
        nothing: "There is nothing to undo.",
      }),
    );
  },
});

async function propose(call: CurateCall, knack: Knack): Promise<number> {
  const { screen, dryRun } = call;
  const { apply, only, yes, json } = call.args;
  const whole = await knack.curation();
  const curation = { ...whole, proposals: selectNamed(whole.proposals, only, "knack curate") };
  const due = curation.proposals.filter(({ steps }) => steps.length > 0);
  const report = describeCuration(curation, await nameRealms(knack), screen);
  const steps = due.flatMap((one) => one.steps);
  if (!apply || dryRun || due.length === 0)
    return call.answer(
      curationJson(curation, null),
      apply && steps.length > 0 ? [describeSteps(steps, screen), nothingWritten] : report,
    );
  if (canAsk() && !yes && !json) {
    screen.print(report);
    if ((await askYesNo(`Apply ${several(due.length, "proposal")}?`, true)) !== true) return 0;
  }
  const done = await knack.curate(new Set(due.map(({ name }) => name)));
  return call.answer(
    curationJson(curation, { done: isComplete(done), skills: madeJson(done) }),
    [
      done.kept ? describeOutcomes(done.outcomes, screen, "") : notDone(done.because),
      `To undo: ${screen.knack} curate --undo   only one: ${screen.knack} skills restore <name>`,
    ],
    isComplete(done) ? 0 : 1,
  );
}

/** Proposals without the files that their steps write. */
function curationJson({ rooms, proposals }: CurationPlan, applied: object | null) {
  return { rooms, proposals: proposals.map(({ steps: _, ...proposal }) => proposal), applied };
}

const headings = {
  archive: "To archive (they can be restored as they are):",
  draft: "To turn back into drafts (agents are only told their names, where they fit):",
  merge: "To merge into one skill:",
  shorten: "To give a shorter description:",
  none: "For you to look at (nothing is changed):",
} as const;

function describeCuration(
  { proposals, rooms }: CurationPlan,
  nameRealm: (scopeId: string) => string,
  screen: Screen,
): Lines {
  const { live, drafts, listingChars } = curationLimits;
  const due = proposals.filter(({ steps }) => steps.length > 0).length;
  const groups = Object.entries(headings).map(([action, heading]) => {
    const own = proposals.filter((one) => one.action === action);
    return own.length > 0 && ["", screen.bold(heading), own.map(describeProposal)];
  });
  function describeProposal({
    name,
    scopeId,
    because,
    spared,
    evidence,
  }: CurationPlan["proposals"][number]): Lines {
    const left = spared === null ? "" : `; left as it is, because ${spared}`;
    return [
      `  ${name}  ${screen.dim(nameRealm(scopeId))}`,
      `    ${oneLine(because + left, 200)}`,
      evidence.map((line) => screen.dim(`    ${oneLine(line, 160)}`)),
    ];
  }
  return [
    rooms.map(
      (room) =>
        `${nameRealm(room.scopeId)}: ${room.live} of ${live} learned skills, ${room.drafts} of ${drafts} drafts, ${formatCount(room.listing)} of ${formatCount(listingChars)} characters in the list that agents read`,
    ),
    proposals.length === 0
      ? "Nothing to curate: no skill is stale, harmful, duplicate or too many."
      : [
          groups,
          "",
          due === 0
            ? "Nothing to apply."
            : `To apply ${several(due, "proposal")}: ${screen.knack} curate --apply   only one: --only <name>   never: ${screen.knack} skills pin <name>`,
        ],
  ];
}
