import type { Kept } from "../core/change.ts";
import { type Judged, verdictsOf } from "../core/credit.ts";
import { diffOf } from "../core/diff.ts";
import type { Item } from "../core/item.ts";
import { policy as defaults } from "../core/policy.ts";
import { parse, render, skillFile } from "../core/skill.ts";
import { creditEntries, namingOf } from "./credit.ts";
import { perform } from "./keep.ts";
import { planAccept } from "./plan.ts";
import {
  changeOf,
  freeName,
  type History,
  historyOf,
  isTakingBack,
  latestOf,
  no,
  type Plan,
  type PublishDeps,
  packageOf,
  removal,
  textOfPackage,
} from "./step.ts";

/** A skill that moved by what it was worth in use. */
export interface Moved {
  readonly name: string;
  readonly instinct: string;
  readonly to: "live" | "draft";
  readonly because: string;
}

export interface ProbationOptions {
  readonly items: readonly Item[];
  /** Why nothing is done for a project, if there is a reason. */
  readonly refuses?: (root: string | null, id: string) => Promise<string | null>;
}

/**
 * What nobody was asked about earns its place: a draft that did well in distinct sessions goes live, and one that then
 * does harm is a draft again. What a person said yes to, changed or took back is theirs. May be called again: what
 * counts is what was judged since the skill was last put where it is.
 */
export async function probation(deps: PublishDeps, options: ProbationOptions): Promise<Moved[]> {
  const entries = await creditEntries(deps.store);
  const verdicts = verdictsOf(entries, await namingOf(deps.store, entries, options.items));
  const moved: Moved[] = [];
  for (const { kept, since } of await onProbation(deps, options)) {
    const judged = (verdicts.get(kept.instinct) ?? []).filter(({ at }) => at >= since);
    const move = moveFor(kept, judged);
    if (move === null) continue;
    const done = await perform(
      deps,
      () => (move.to === "live" ? planAccept(deps, kept, "me") : planDemotion(deps, kept)),
      "knack",
      () => [],
    );
    if (done.kept && done.outcomes.some((outcome) => outcome.done && !outcome.already)) moved.push(move);
  }
  return moved;
}

/** What becomes of a skill that was judged so. */
function moveFor({ name, instinct, reach }: Kept, judged: readonly Judged[]): Moved | null {
  const { goodSessions, badSessions } = defaults.credit;
  const good = judged.filter(({ verdict }) => verdict === "helpful").length;
  const bad = judged.length - good;
  if (reach === "draft")
    return good >= goodSessions && bad < good
      ? { name, instinct, to: "live", because: `it helped in ${good} sessions` }
      : null;
  return bad >= badSessions
    ? { name, instinct, to: "draft", because: `it did harm in ${bad} sessions` }
    : null;
}

/** The skills that stand where they stand by Knack's word alone, and since when. */
async function onProbation(
  deps: PublishDeps,
  { refuses = async () => null }: ProbationOptions,
): Promise<{ kept: Kept; since: number }[]> {
  const { learning, projects } = deps.store;
  const history = await historyOf(deps.store);
  const roots = new Map((await projects.list()).map(({ id, root }) => [id, root]));
  const found: { kept: Kept; since: number }[] = [];
  for (const kept of history.kept) {
    if (kept.kind !== "skill" || kept.proposal || latestOf(history, kept.instinct).some(isTakingBack))
      continue;
    // What was made of a gap, or joined with something else, has a life of its own.
    const [instinct] = await learning.instincts.get([kept.instinct]);
    if (!instinct) continue;
    const decisions = await learning.decisions.ofInstinct(instinct.id);
    if (decisions.at(-1)?.decision === "accepted") continue;
    if ((await refuses(roots.get(instinct.project) ?? null, instinct.project)) !== null) continue;
    const there = await deps.library.read(kept.path);
    if (there?.hash !== kept.content) continue;
    found.push({ kept, since: placedAt(history, kept) });
  }
  return found;
}

/** When something was last put where it is. */
function placedAt({ changes }: History, { path }: Kept): number {
  const placing = changes.filter(
    ({ change, state }) => state === "made" && change.path === path && change.before === null,
  );
  return placing.at(-1)?.at ?? 0;
}

/** What making a live skill a draft again would do: it is taken out of the agents' folders, and its text waits with Knack. */
async function planDemotion(deps: PublishDeps, kept: Kept): Promise<Plan> {
  const [drafts] = deps.places.skills("draft", null, []) ?? [];
  const found = await deps.library.read(kept.path);
  if (!drafts || !found) return no(`${kept.name} is gone`);
  const listing = await deps.library.list(drafts);
  if (listing.found === "unreadable") return no(`${drafts.folder} cannot be read: ${listing.message}`);
  const taken = new Set(
    listing.found === "skills" ? [...listing.skills, ...listing.broken].map(({ name }) => name) : [],
  );
  const text = textOfPackage(found.files);
  const { skill } = parse(text);
  if (skill === null) return no(`${kept.name} is no valid skill`);
  const history = await historyOf(deps.store);
  const name = freeName(kept.name, (one) => taken.has(one));
  const draft = render({ ...skill, name, metadata: { ...skill.metadata, quality: "draft" } });
  const files = found.files.map((file) => (file.path === skillFile ? (packageOf(draft)[0] ?? file) : file));
  const { folder, root } = drafts;
  const { kind, instinct } = kept;
  const artifact = { kind, name, path: `${folder}/${name}`, root, reach: "draft" as const, instinct };
  const change = changeOf(artifact, null, deps.versions.hashOf(files), "create", history);
  const step = { change, files, diff: diffOf(`${name}/${skillFile}`, null, draft) };
  return {
    ok: true,
    steps: [removal(kept, found.hash, history, text), step],
    concerns: [],
    belongsTo: null,
  };
}
