import { type Curation, curationLimits, type PlannedProposal } from "../../library/index.ts";
import type { Knack } from "../../open.ts";
import { several } from "../../text/index.ts";
import { redact } from "../../trust/index.ts";
import { type CommandCall, defineCommand, dryRunArg, jsonArg, wrongUsage } from "../command.ts";
import { changeKnack, withKnack } from "../knack.ts";
import {
  applyChange,
  describeOutcomes,
  describeSteps,
  isComplete,
  keepingJson,
  notDone,
  nothingWritten,
} from "../screen/changes.ts";
import { askYesNo, canAsk } from "../screen/prompt.ts";
import type { Screen } from "../screen/screen.ts";
import { formatCount, oneLine } from "../screen/text.ts";
import { nameRealms, selectNamed } from "../select.ts";

const args = {
  apply: { type: "boolean", description: "apply the proposals; each can be undone" },
  only: { type: "string", description: "only these names, separated by commas" },
  undo: { type: "boolean", description: "undo everything that the latest --apply did" },
  yes: { type: "boolean", description: "with --apply: do not ask" },
  ...jsonArg,
  ...dryRunArg,
} as const;

type CurateCall = CommandCall<typeof args>;

export const curate = defineCommand({
  about: "Keep the library small: find skills that are stale, harmful, duplicate or too many, and clean up.",
  args,
  run: async (call: CurateCall) => {
    const { apply, undo } = call.args;
    if (apply && undo) throw wrongUsage("--apply and --undo exclude each other.", "Use one of them.");
    if (undo)
      return changeKnack(call, (knack) =>
        applyChange(call, {
          plan: () => knack.planUncurate(),
          apply: () => knack.uncurate(),
          nothing: "There is nothing to undo.",
        }),
      );
    return (apply ? changeKnack : withKnack)(call, (knack) => propose(call, knack));
  },
});

async function propose(call: CurateCall, knack: Knack): Promise<number> {
  const { screen, dryRun } = call;
  const { apply, only, yes, json } = call.args;
  const whole = await knack.curation();
  const curation = { ...whole, proposals: selectNamed(whole.proposals, only, "knack curate") };
  const due = curation.proposals.filter(({ steps }) => steps.length > 0);
  const report = await describeCuration(curation, knack, screen);
  const steps = due.flatMap((one) => one.steps);
  if (!apply || dryRun || due.length === 0)
    return call.answer(
      curationJson(curation, null),
      apply && steps.length > 0 ? [...describeSteps(steps, screen), nothingWritten] : report,
    );
  if (canAsk() && !yes && !json) {
    screen.print(report);
    if ((await askYesNo(`Apply ${several(due.length, "proposal")}?`, true)) !== true) return 0;
  }
  const done = await knack.curate(new Set(due.map(({ name }) => name)));
  return call.answer(
    curationJson(curation, { done: isComplete(done), skills: keepingJson(done) }),
    [
      ...(done.kept ? describeOutcomes(done.outcomes, screen, "") : [notDone(done.because)]),
      `To undo: ${screen.knack} curate --undo   only one: ${screen.knack} skills restore <name>`,
    ],
    isComplete(done) ? 0 : 1,
  );
}

function curationJson({ rooms, proposals }: Curation, applied: object | null) {
  return {
    rooms: rooms.map((room) => ({ ...room, scopeId: redact(room.scopeId) })),
    proposals: proposals.map(
      ({ name, scopeId, reason, action, because, evidence, spared, other, paths }) => ({
        ...{ name, scopeId: redact(scopeId), reason, action, because, evidence, spared, other, paths },
      }),
    ),
    applied,
  };
}

const headings = {
  archive: "To archive (they can be restored as they are):",
  draft: "To turn back into drafts (agents are only told their names, where they fit):",
  merge: "To merge into one skill:",
  shorten: "To give a shorter description:",
  none: "For you to look at (nothing is changed):",
} as const;

async function describeCuration(
  { proposals, rooms }: Curation,
  knack: Knack,
  screen: Screen,
): Promise<string[]> {
  const { live, drafts, listingChars } = curationLimits;
  const nameRealm = await nameRealms(knack);
  const lines = rooms.map(
    (room) =>
      `${nameRealm(room.scopeId)}: ${room.live} of ${live} learned skills, ${room.drafts} of ${drafts} drafts, ${formatCount(room.listing)} of ${formatCount(listingChars)} characters in the list that agents read`,
  );
  if (proposals.length === 0)
    return [...lines, "Nothing to curate: no skill is stale, harmful, duplicate or too many."];
  for (const [action, heading] of Object.entries(headings)) {
    const own = proposals.filter((one) => one.action === action);
    if (own.length > 0)
      lines.push("", screen.bold(heading), ...own.flatMap((one) => describeProposal(one, nameRealm, screen)));
  }
  const due = proposals.filter(({ steps }) => steps.length > 0).length;
  return [
    ...lines,
    "",
    due === 0
      ? "Nothing to apply."
      : `To apply ${several(due, "proposal")}: ${screen.knack} curate --apply   only one: --only <name>   never: ${screen.knack} skills pin <name>`,
  ];
}

function describeProposal(
  one: PlannedProposal,
  nameRealm: (scopeId: string) => string,
  screen: Screen,
): string[] {
  const spared = one.spared === null ? "" : `; left as it is, because ${one.spared}`;
  return [
    `  ${one.name}  ${screen.dim(nameRealm(one.scopeId))}`,
    `    ${oneLine(one.because + spared, 200)}`,
    ...one.evidence.map((line) => screen.dim(`    ${oneLine(line, 160)}`)),
  ];
}
