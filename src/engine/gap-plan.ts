import type { Kept, Reach } from "../core/change.ts";
import { goesBy } from "../core/gap.ts";
import type { Actor } from "../core/ledger.ts";
import { mayBeWritten, scanSkill } from "../core/scan.ts";
import { parse, render, type Skill } from "../core/skill.ts";
import { archivedLike } from "./archive.ts";
import { type GapView, gaps } from "./gap.ts";
import {
  cleanSkill,
  createStep,
  draftsAway,
  type Listed,
  listAll,
  nearest,
  type Revived,
  rewriting,
  settled,
  takenBack,
} from "./plan-skill.ts";
import type { Place } from "./ports.ts";
import {
  dirname,
  type History,
  historyOf,
  no,
  notHere,
  type Plan,
  type PublishDeps,
  refusal,
  type Step,
  textOfPackage,
} from "./step.ts";

/** How a gap's skill is to be kept. */
export interface GapChoice {
  readonly reach: Reach;
  readonly actor: Actor;
  /** The text of its `SKILL.md`. */
  readonly text: string;
}

/** What keeping a gap's skill would do. Unless a person says so, nothing is made that another skill says already. */
export async function planGap(deps: PublishDeps, gap: GapView, choice: GapChoice): Promise<Plan> {
  const targets = deps.places.skills(choice.reach, gap.root, gap.formats);
  if (targets === null) return no(notHere);
  const shelf = await listAll(deps.library, [...targets, ...deps.places.all(gap.root)]);
  if (typeof shelf === "string") return no(shelf);
  const history = await historyOf(deps.store);
  const wanted = await cleanSkill(deps, choice.text);
  if (typeof wanted === "string") return no(wanted);
  const concerns = scanSkill(wanted);
  if (!mayBeWritten(concerns)) return no(refusal(concerns));
  const twin = choice.actor === "person" ? null : await twinOf(deps, gap, wanted, shelf, history);
  if (twin !== null) return no(twin);
  const planned = await (choice.reach === "draft"
    ? planDraft(deps, gap, wanted, targets[0] as Place, shelf, history)
    : planLive(deps, gap, choice.reach, wanted, targets, shelf, history));
  return planned.ok ? { ...planned, concerns } : planned;
}

/** Why it is not made: another skill, live, waiting or taken back, is about the same. */
async function twinOf(
  deps: PublishDeps,
  gap: GapView,
  wanted: Skill,
  shelf: Listed,
  history: History,
): Promise<string | null> {
  const own = new Set(gap.kept.map(({ path }) => path));
  const near = nearest(
    wanted,
    shelf.skills.filter(({ path }) => !own.has(path)),
  );
  if (near) return `${near.name} is about the same already`;
  const gone = await takenBack(deps, wanted, idIn(gap), history);
  return gone === null ? null : `it is much like ${gone}, which was taken back`;
}

/** The id under which it was kept before; a gap may have come to go by another. */
function idIn(gap: GapView): string {
  return gap.changes.at(-1)?.change.instinct ?? gap.id;
}

async function planDraft(
  deps: PublishDeps,
  gap: GapView,
  wanted: Skill,
  drafts: Place,
  shelf: Listed,
  history: History,
): Promise<Plan> {
  const source = { instinct: { id: idIn(gap) }, choice: { reach: "draft" as const } };
  const own = gap.kept.find(({ reach }) => reach === "draft");
  if (!own) {
    const old = await putAway(deps, gap, wanted, history, "draft");
    return settled([createStep(deps, source, old?.skill ?? wanted, drafts, shelf, history, old)], null);
  }
  const found = await deps.library.read(own.path);
  if (!found) return no("its draft was deleted by hand");
  if (found.hash !== own.content) return no("its draft was changed by hand");
  const text = render({ ...wanted, name: own.name });
  if (textOfPackage(found.files) === text) return settled([], null);
  return settled([rewriting(deps, own, found, text, history)], null);
}

/** What was put away about the same thing: it is brought back before anything is made anew. */
async function putAway(
  deps: PublishDeps,
  gap: GapView,
  wanted: Skill,
  history: History,
  quality: "draft" | "active",
): Promise<Revived | null> {
  const about = { instinct: idIn(gap), realm: gap.project };
  const old = await archivedLike(deps, wanted, about, history);
  const skill = old ? parse(old.text).skill : null;
  if (!old || !skill || !mayBeWritten(scanSkill(skill))) return null;
  const metadata = { ...skill.metadata, quality };
  return { name: old.name, at: old.at, skill: { ...skill, metadata } };
}

async function planLive(
  deps: PublishDeps,
  gap: GapView,
  reach: Reach,
  wanted: Skill,
  targets: readonly Place[],
  shelf: Listed,
  history: History,
): Promise<Plan> {
  const source = { instinct: { id: idIn(gap) }, choice: { reach } };
  const live = gap.kept.filter((one) => one.reach !== "draft");
  const old = gap.kept.length === 0 ? await putAway(deps, gap, wanted, history, "active") : null;
  const steps: Step[] = targets
    .filter(({ folder }) => !live.some(({ path }) => dirname(path) === folder))
    .map((target) => createStep(deps, source, old?.skill ?? wanted, target, shelf, history, old));
  for (const id of new Set(gap.kept.map(({ instinct }) => instinct)))
    if (goesBy(gap, id)) steps.push(...(await draftsAway(deps, id, history)));
  return settled(steps, null);
}

/** What accepting the draft of a gap would do: it goes live as it stands there. */
export async function planAcceptGap(
  deps: PublishDeps,
  draft: Kept,
  skill: Skill,
  reach: Reach,
): Promise<Plan> {
  const gap = (await gaps(deps)).find((one) => goesBy(one, draft.instinct));
  if (!gap) return no(`nothing is known any more about ${draft.name}`);
  return planGap(deps, gap, { reach, actor: "person", text: render(asActive(skill)) });
}

function asActive(skill: Skill): Skill {
  return { ...skill, metadata: { ...skill.metadata, quality: "active" } };
}

/** A draft as a person left it. */
export interface Draft {
  /** Its text, as it would go live. */
  readonly text: string;
  /** A person changed it. */
  readonly edited: boolean;
  /** Sessions that it was made of. */
  readonly evidence: number;
}

/** The draft of a gap as it is on disk; null when there is none, or a person deleted it. */
export async function draftOf(deps: PublishDeps, gap: GapView): Promise<Draft | null> {
  const own = gap.kept.find(({ reach }) => reach === "draft");
  const found = own ? await deps.library.read(own.path) : null;
  const skill = found ? parse(textOfPackage(found.files)).skill : null;
  if (!own || !found || !skill) return null;
  return {
    text: render(asActive(skill)),
    edited: found.hash !== own.content,
    evidence: Number(skill.metadata.evidence) || 0,
  };
}
