import { type Artifact, isMade, type Kept } from "../core/change.ts";
import { diffOf } from "../core/diff.ts";
import { goesBy, isGapId } from "../core/gap.ts";
import { type Instinct, standingAt } from "../core/instinct.ts";
import type { LedgerEntry } from "../core/ledger.ts";
import { rulesIn } from "../core/rule.ts";
import { parse } from "../core/skill.ts";
import { isThere } from "./archive.ts";
import { closedAmong, gaps, rejectedForGood } from "./gap.ts";
import { decided, decidedOn } from "./keep.ts";
import { type Origin, originsOf } from "./learnings.ts";
import { planAccept } from "./plan.ts";
import { planUndo, planUndoTidying } from "./publish.ts";
import {
  changeOf,
  fileIn,
  filesAt,
  historyOf,
  ifDamaged,
  no,
  notHere,
  type Plan,
  type PublishDeps,
  removal,
  type Step,
  textOfPackage,
  withinRoot,
} from "./step.ts";

/** Something kept, as it is on disk now. */
export interface Shelved extends Kept {
  /** `edited` and `missing`: a person changed it, or took it away. */
  readonly state: "active" | "draft" | "proposal" | "edited" | "missing" | "unreadable";
  /** What is there: a skill's text, or a rule's line; null when nothing can be read. */
  readonly text: string | null;
  /** What Knack wrote. */
  readonly written: string | null;
  /** The skill that a proposal is for. */
  readonly belongsTo: string | null;
  /** How sure Knack is, as of now. */
  readonly confidence: number | null;
  readonly sessions: number;
  /** Pieces of evidence. */
  readonly evidence: number;
  /** The project that asked for it, where it was made of a gap, or in which an agent or a review wrote it. */
  readonly askedIn: string | null;
  /** Where it comes from, where an agent or a review wrote it. */
  readonly origin: Origin | null;
}

/** Everything that is kept, by name. */
export async function shelf(deps: PublishDeps): Promise<Shelved[]> {
  const { kept } = await historyOf(deps.store);
  const ids = [...new Set(kept.flatMap(lessonsOf))];
  const instincts = new Map((await deps.store.learning.instincts.get(ids)).map((one) => [one.id, one]));
  const findings = await deps.store.learning.findings.ofInstincts(ids);
  const times = new Map<string, number>();
  for (const { instinct } of findings) times.set(instinct, (times.get(instinct) ?? 0) + 1);
  const asked = ids.some(isGapId) ? await gaps(deps) : [];
  const origins = await originsOf(deps.store, ids);
  const shelved: Shelved[] = [];
  for (const one of kept) {
    const disk = await (one.kind === "rule" ? ruleOnDisk(deps, one) : filesOnDisk(deps, one));
    const standing = standingOf(lessonsOf(one).flatMap((id) => instincts.get(id) ?? []));
    const gap = asked.find((each) => goesBy(each, one.instinct));
    const origin = origins.get(one.instinct) ?? null;
    shelved.push({
      ...one,
      ...disk,
      confidence: standing === null ? null : standing.confidence(deps.clock.now()),
      sessions: standing?.sessions ?? gap?.state.asked.length ?? (origin ? 1 : 0),
      evidence:
        gap?.asks.length ??
        origin?.evidence ??
        lessonsOf(one).reduce((sum, id) => sum + (times.get(id) ?? 0), 0),
      askedIn: gap?.project ?? origin?.project ?? null,
      origin,
    });
  }
  return shelved.sort((a, b) => (a.name === b.name ? (a.path < b.path ? -1 : 1) : a.name < b.name ? -1 : 1));
}

type OnDisk = Pick<Shelved, "state" | "text" | "written" | "belongsTo">;

/** The instincts that something was made of. */
function lessonsOf({ instinct, members }: Kept): readonly string[] {
  return members ?? [instinct];
}

/** How sure several instincts are on the average, and how many sessions taught one of them at the most. */
function standingOf(instincts: readonly Instinct[]) {
  if (instincts.length === 0) return null;
  const sum = (now: number) =>
    instincts.reduce((all, { standing }) => all + standingAt(standing, now).confidence, 0);
  return {
    confidence: (now: number) => Math.round((sum(now) / instincts.length) * 1e6) / 1e6,
    sessions: Math.max(...instincts.map(({ standing }) => standing.sessions)),
  };
}

async function filesOnDisk(deps: PublishDeps, kept: Kept): Promise<OnDisk> {
  const { versions } = deps;
  // A damaged copy is told of when it is needed, by undo; what is on disk can be shown without it.
  const old = await versions.restore(kept.content).catch(ifDamaged);
  const written = old && textOfPackage(old);
  const found = await filesAt(deps, kept).catch(() => "unreadable" as const);
  if (found === "unreadable") return { state: "unreadable", text: null, written, belongsTo: null };
  if (found === null) return { state: "missing", text: null, written, belongsTo: null };
  const text = textOfPackage(found.files);
  const belongsTo = parse(text).skill?.metadata["belongs-to"] ?? null;
  const asWritten = kept.reach !== "draft" ? "active" : kept.proposal ? "proposal" : "draft";
  return { state: found.hash === kept.content ? asWritten : "edited", text, written, belongsTo };
}

async function ruleOnDisk({ library }: PublishDeps, kept: Kept): Promise<OnDisk> {
  const rest = { written: kept.content, belongsTo: null };
  const read = await library.readText(kept.path);
  if (read.found === "unreadable") return { state: "unreadable", text: null, ...rest };
  const rule =
    read.found === "text" ? rulesIn(read.text).rules.find(({ id }) => id === kept.name) : undefined;
  if (!rule) return { state: "missing", text: null, ...rest };
  return { state: rule.line === kept.content ? "active" : "edited", text: rule.line, ...rest };
}

/** A person's edit, as a diff to what Knack wrote. */
export function editOf(one: Shelved): string {
  const { kind, text, written } = one;
  if (kind !== "rule") return diffOf(fileIn(one), written, text);
  const line = (rule: string | null) => (rule === null ? null : `- ${rule}\n`);
  return diffOf(withinRoot(one), line(written), line(text));
}

/** What accepting drafts and proposals of one name would do. */
export async function planAccepts(
  deps: PublishDeps,
  drafts: readonly Kept[],
  reach: Kept["reach"],
): Promise<Plan> {
  const steps: Step[] = [];
  let belongsTo: string | null = null;
  for (const draft of drafts) {
    const planned = await planAccept(deps, draft, reach);
    if (!planned.ok) return planned;
    steps.push(...planned.steps);
    belongsTo = planned.belongsTo ?? belongsTo;
  }
  return { ok: true, steps, concerns: [], belongsTo };
}

/** What taking a person's edits over would do: they stay as they are, and count as what is kept. */
export async function planAdopt(deps: PublishDeps, edited: readonly Shelved[]): Promise<Plan> {
  const history = await historyOf(deps.store);
  const steps: Step[] = [];
  for (const one of edited) {
    const found = one.kind === "rule" ? null : await filesAt(deps, one);
    const after = found?.hash ?? (one.kind === "rule" ? one.text : null);
    if (after === null) return { ok: false, because: `${one.path} is gone` };
    const change = changeOf(one, one.content, after, "update", history);
    steps.push({ change, files: found?.files ?? null, diff: editOf(one) });
  }
  return { ok: true, steps, concerns: [], belongsTo: null };
}

/** What taking these away would do; a person's words in them are kept as a version. */
export async function planRemoval(deps: PublishDeps, kept: readonly Shelved[]): Promise<Plan> {
  const history = await historyOf(deps.store);
  const steps: Step[] = [];
  for (const one of kept) {
    if (one.state === "unreadable") return { ok: false, because: `${one.path} cannot be read` };
    if (one.state === "edited" && one.reach !== "draft")
      return { ok: false, because: `${one.path} was changed by hand; delete it yourself` };
    if (one.reach !== "draft" && one.kind !== "rule" && !isMade(one))
      return {
        ok: false,
        because: `${one.name} is not Knack's, it was only changed (knack skills undo ${one.name})`,
      };
    // What is gone already is noted as gone.
    const found = one.kind === "rule" ? null : await filesAt(deps, one);
    steps.push(removal(one, found?.hash ?? one.content, history, one.text));
  }
  return { ok: true, steps, concerns: [], belongsTo: null };
}

/** What taking back the latest change, of a name or of all, would do. What a person has changed since stays theirs. */
export async function planTakeBack(deps: PublishDeps, name: string | null): Promise<Plan> {
  return unlessChanged(deps, await planUndo(deps, (change) => name === null || change.name === name));
}

/** What taking back all that was tidied up in the latest go would do. */
export async function planTakeBackTidying(deps: PublishDeps): Promise<Plan> {
  return unlessChanged(deps, await planUndoTidying(deps));
}

async function unlessChanged(deps: PublishDeps, all: readonly Step[]): Promise<Plan> {
  // A project that is gone is not made again for the sake of what was in it.
  const steps = all.filter(({ change }) => change.after === null || isThere(deps, change));
  if (steps.length === 0 && all.length > 0) return no(notHere);
  for (const { change } of steps) {
    const there = await contentOf(deps, change);
    if (there !== null && there !== change.before && there !== change.after)
      return { ok: false, because: `${change.path} was changed by hand meanwhile` };
  }
  // Whoever takes a gap's skill back has no use for its draft either.
  const closed = new Set(gapsClosedBy(steps));
  const isClosed = await closedAmong(
    deps,
    steps.map(({ change }) => change.instinct),
  );
  const isBack = ({ change: { after, instinct } }: Step) =>
    after !== null && (closed.has(instinct) || isClosed(instinct));
  const left = steps.filter((step) => !isBack(step));
  const [first] = steps;
  if (first && left.length === 0) return no(`${first.change.name} ${rejectedForGood}`);
  return { ok: true, steps: left, concerns: [], belongsTo: null };
}

/** What is at the place of an artifact, as a change would name it. */
async function contentOf(deps: PublishDeps, artifact: Artifact): Promise<string | null> {
  const { kind, path, name } = artifact;
  if (kind !== "rule") return (await filesAt(deps, artifact))?.hash ?? null;
  const read = await deps.library.readText(path);
  const rule = read.found === "text" ? rulesIn(read.text).rules.find(({ id }) => id === name) : undefined;
  return rule?.line ?? null;
}

/** The gaps whose skill or draft is taken away by these steps; undoing what tidied up closes none. */
function gapsClosedBy(steps: readonly Step[]): string[] {
  return steps.flatMap(({ change: { instinct, before, after, because } }) =>
    isGapId(instinct) && before !== null && after === null && because === undefined ? instinct : [],
  );
}

/** What taking these steps back says about the instincts and the gaps behind them. */
export function decidedByUndo(steps: readonly Step[], at: number): LedgerEntry[] {
  // Tidying up says nothing about a lesson, and neither does taking it back.
  const all = steps.filter(({ change }) => change.because === undefined);
  const meant = all.filter(({ change }) => !isGapId(change.instinct));
  // A proposal only waits: without it, what was learned and what is live stay as they are.
  const lasting = meant.filter(({ change }) => !change.proposal);
  const back = new Set(meant.flatMap(({ change }) => (change.after === null ? [] : change.instinct)));
  const gone = new Set(lasting.map(({ change }) => change.instinct).filter((id) => !back.has(id)));
  return [
    ...[...new Set(gapsClosedBy(steps))].map((id) => decidedOn(id, "rejected", at)),
    // What a person takes back is not offered right again; what they bring back is no longer refused.
    ...[...gone].map((id) => decided(id, "rejected", at)),
    ...[...back].map((id) => decided(id, "unskipped", at)),
  ];
}
