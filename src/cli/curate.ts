import { KnackError } from "../core/errors.ts";
import { policy } from "../core/policy.ts";
import { redact } from "../core/redact.ts";
import { several } from "../core/words.ts";
import type { Curation, Planned } from "../engine/curate.ts";
import type { Keeping } from "../engine/keep.ts";
import type { Plan } from "../engine/step.ts";
import type { Knack } from "../open.ts";
import { askYesNo, canAsk } from "./keep.ts";
import { isDone, writingOnWire, writingsOnWire } from "./learned-on-wire.ts";
import { type Call, defineVerb, type Env } from "./main.ts";
import { isCalled } from "./named.ts";
import { changing, withKnack } from "./opening.ts";
import { tellDiff, tellOutcomes } from "./telling.ts";
import { calledAs, onOneLine, type Paint, paintFor, printJson, printLines } from "./terminal.ts";

const args = {
  apply: { type: "boolean", description: "do what is proposed; each of it can be taken back" },
  only: { type: "string", description: "only these names, with commas between them" },
  undo: { type: "boolean", description: "take back all that the latest --apply did" },
  yes: { type: "boolean", description: "with --apply: do not ask" },
  json: { type: "boolean", description: "print one JSON object" },
  "dry-run": { type: "boolean", description: "with --apply or --undo: write nothing; show what would be" },
} as const;

type CurateCall = Call<typeof args>;

export const curate = defineVerb({
  about:
    "Keep the library small and true: what is stale, harmful, double or too much, and what to do about it.",
  args,
  run: async (call) => {
    const { apply, undo } = call.args;
    if (apply && undo)
      throw new KnackError("WRONG_USAGE", "--apply and --undo are opposites.", { hint: "Give one of them." });
    const dryRun = call.args["dry-run"] === true;
    if (undo) return changing(call.env, { dryRun }, (knack) => takeBack(call, knack));
    const opened = apply ? changing : withKnack;
    return opened(call.env, { dryRun }, (knack) => look(call, knack));
  },
});

async function look(call: CurateCall, knack: Knack): Promise<number> {
  const whole = await knack.curation();
  const curation = { ...whole, proposals: onlyNamed(whole.proposals, call.args.only) };
  const meant = curation.proposals.filter(({ steps }) => steps.length > 0);
  if (!call.args.apply || meant.length === 0) {
    await tell(call, knack, curation, null);
    return 0;
  }
  if (call.args["dry-run"]) {
    if (call.args.json) await tell(call, knack, curation, null);
    else
      tellSteps(
        meant.flatMap(({ steps }) => steps),
        call.env,
      );
    return 0;
  }
  if (canAsk() && !call.args.yes && !call.args.json) {
    await tell(call, knack, curation, null);
    if ((await askYesNo(`Do ${several(meant.length, "thing")}?`, true)) !== true) return 0;
  }
  const done = await knack.curate(new Set(meant.map(({ name }) => name)));
  await tell(call, knack, curation, done);
  return isDone(done) ? 0 : 1;
}

async function takeBack(call: CurateCall, knack: Knack): Promise<number> {
  const { json, "dry-run": dryRun } = call.args;
  const plan = await knack.planUncurate();
  if (!plan.ok || plan.steps.length === 0) {
    const because = plan.ok ? "There is nothing to take back." : `Not done: ${plan.because}.`;
    if (json) printJson({ done: false, because, skills: [] });
    else printLines([because], process.stderr);
    return 1;
  }
  if (dryRun) {
    if (json) printJson({ done: false, skills: plan.steps.map(({ change }) => writingOnWire(change)) });
    else tellSteps(plan.steps, call.env);
    return 0;
  }
  const done = await knack.uncurate();
  if (json) printJson({ done: isDone(done), skills: writingsOnWire(done) });
  else printLines(outcomeLines(done, call.env));
  return isDone(done) ? 0 : 1;
}

function onlyNamed(proposals: readonly Planned[], only: string | undefined): readonly Planned[] {
  if (only === undefined) return proposals;
  const words = only.split(",").map((word) => word.trim());
  for (const word of words)
    if (!proposals.some(({ name }) => isCalled(name, word)))
      throw new KnackError("UNKNOWN_NAME", `Nothing is proposed about "${word}".`, {
        hint: "knack curate shows what is.",
      });
  return proposals.filter(({ name }) => words.some((word) => isCalled(name, word)));
}

async function tell(
  { args, env }: CurateCall,
  knack: Knack,
  curation: Curation,
  done: Keeping | null,
): Promise<void> {
  if (args.json) {
    const { rooms, proposals } = curation;
    const applied = done === null ? null : { done: isDone(done), skills: writingsOnWire(done) };
    printJson({
      rooms: rooms.map((room) => ({ ...room, realm: redact(room.realm) })),
      proposals: proposals.map(onWire),
      applied,
    });
    return;
  }
  const names = new Map((await knack.projects()).map(({ id, name }) => [id, name]));
  const whose = (realm: string) =>
    realm === "user" ? "everywhere" : onOneLine(redact(names.get(realm) ?? realm), 40);
  const paint = paintFor(process.stdout, env);
  if (done === null) printLines(reportOf(curation, whose, paint, env));
  else
    printLines([
      ...outcomeLines(done, env),
      `To take it back: ${calledAs(env)} curate --undo   one of them: ${calledAs(env)} skills restore <name>`,
    ]);
}

function onWire({ name, realm, reason, action, because, evidence, spared, other, paths }: Planned) {
  return { name, realm: redact(realm), reason, action, because, evidence, spared, other, paths };
}

/** What each action means to a person who reads the report. */
const headings = {
  archive: "To be put away (it can be brought back as it is):",
  draft: "To be a draft again (agents are told of it only where it fits):",
  merge: "To be one skill of two:",
  shorten: "To get a shorter description:",
  none: "For you to look at (nothing is done):",
} as const;

function reportOf(
  { proposals, rooms }: Curation,
  whose: (realm: string) => string,
  paint: Paint,
  env: Env,
): string[] {
  const { live, drafts, listingChars } = policy.curate;
  const lines = rooms.map(
    (room) =>
      `${whose(room.realm)}: ${room.live} of ${live} learned skills, ${room.drafts} of ${drafts} drafts, ${room.listing.toLocaleString("en-US")} of ${listingChars.toLocaleString("en-US")} characters in the list`,
  );
  for (const [action, heading] of Object.entries(headings)) {
    const own = proposals.filter((one) => one.action === action);
    if (own.length > 0)
      lines.push("", paint.bold(heading), ...own.flatMap((one) => proposalLines(one, whose, paint)));
  }
  const count = proposals.filter(({ steps }) => steps.length > 0).length;
  if (proposals.length === 0) return [...lines, "Nothing is stale, harmful, double or too much."];
  return [
    ...lines,
    "",
    count === 0
      ? "There is nothing to do."
      : `To do ${several(count, "thing")}: ${calledAs(env)} curate --apply   one of them: --only <name>   never: ${calledAs(env)} skills pin <name>`,
  ];
}

function proposalLines(one: Planned, whose: (realm: string) => string, paint: Paint): string[] {
  const spared = one.spared === null ? "" : `; left as it is, because ${one.spared}`;
  return [
    `  ${one.name}  ${paint.dim(whose(one.realm))}`,
    `    ${onOneLine(one.because + spared, 200)}`,
    ...one.evidence.map((line) => paint.dim(`    ${onOneLine(line, 160)}`)),
  ];
}

function tellSteps(steps: Extract<Plan, { ok: true }>["steps"], env: Env): void {
  const paint = paintFor(process.stdout, env);
  printLines([...steps.flatMap(({ diff }) => tellDiff(diff, paint)), "Nothing was written (--dry-run)."]);
}

function outcomeLines(done: Keeping, env: Env): string[] {
  if (!done.kept) return [`Not done: ${done.because}.`];
  return tellOutcomes(done.outcomes, env).map((line) => line.trimStart());
}
