import { type Proposal, type Room, reviewOf, roomFor as roomIn, roomsOf } from "../core/curate.ts";
import { type Item, itemId } from "../core/item.ts";
import { mayBeWritten, scanSkill } from "../core/scan.ts";
import { parse, render, type Skill } from "../core/skill.ts";
import { archiveStep, demotionSteps, pin, realms } from "./archive.ts";
import { holdings, type Owned } from "./holdings.ts";
import { type Keeping, perform } from "./keep.ts";
import { rewriting } from "./plan-skill.ts";
import { type Shelved, shelf } from "./shelf.ts";
import {
  type History,
  historyOf,
  no,
  type Plan,
  type PublishDeps,
  type Step,
  textOfPackage,
} from "./step.ts";

/** A proposal with what carrying it out would change. */
export interface Planned extends Proposal {
  /** Where it is. */
  readonly paths: readonly string[];
  readonly steps: readonly Step[];
}

/** What a look at the library says. */
export interface Curation {
  readonly proposals: readonly Planned[];
  readonly rooms: readonly Room[];
}

/** What is worth a look in the library, and what could be done about it; nothing is changed. */
export async function planCuration(deps: PublishDeps, items: readonly Item[]): Promise<Curation> {
  const history = await historyOf(deps.store);
  const held = await holdings(deps, items, history);
  const byKey = new Map(held.map((one) => [one.key, one]));
  const proposals: Planned[] = [];
  for (const proposal of reviewOf(held, deps.clock.now())) {
    const paths = byKey.get(proposal.about)?.paths ?? [];
    const steps = await stepsFor(deps, proposal, byKey, history);
    proposals.push(
      typeof steps === "string"
        ? { ...proposal, paths, steps: [], action: "none", spared: steps }
        : { ...proposal, paths, steps },
    );
  }
  return { proposals, rooms: roomsOf(held) };
}

/** Does what a look at the library proposes, all of it or for these names; each of it can be taken back. */
export async function curate(
  deps: PublishDeps,
  items: readonly Item[],
  only: ReadonlySet<string> | null = null,
): Promise<Keeping> {
  return perform(
    deps,
    async () => {
      const { proposals } = await planCuration(deps, items);
      return planOf(proposals.filter(({ name }) => only === null || only.has(name)));
    },
    "person",
    () => [],
  );
}

/** The proposals as one plan: what is done in one go can be taken back in one. */
export function planOf(proposals: readonly Planned[]): Plan {
  return { ok: true, steps: proposals.flatMap(({ steps }) => steps), concerns: [], belongsTo: null };
}

/** Whether one more skill may go live for a project or the person, and what would be put away for it. */
export type RoomFor =
  | { readonly room: true; readonly instead: null }
  | { readonly room: true; readonly instead: { readonly name: string; readonly steps: readonly Step[] } }
  | { readonly room: false };

/** Asks whether there is room for a skill in a realm. */
export type AsksRoom = (realm: string, wanted: Pick<Skill, "name" | "description">) => Promise<RoomFor>;

/** A plan that makes something live without anybody's yes, with what goes to make room for it. */
export async function withRoom(
  planned: Extract<Plan, { ok: true }>,
  roomFor: AsksRoom,
  realm: string,
): Promise<Plan> {
  const made = planned.steps.find(({ change }) => change.before === null && change.reach !== "draft");
  const skill = made?.files ? parse(textOfPackage(made.files)).skill : null;
  if (!skill) return planned;
  const answer = await roomFor(realm, skill);
  if (!answer.room) return no("there are as many learned skills as there may be, and all of them are needed");
  return answer.instead === null
    ? planned
    : { ...planned, steps: [...answer.instead.steps, ...planned.steps] };
}

/** Whether there is room for a skill that nobody said yes to; for it goes what nobody would miss, or nothing. */
export async function roomFor(
  deps: PublishDeps,
  items: readonly Item[],
  realm: string,
  wanted: Pick<Skill, "name" | "description">,
): Promise<RoomFor> {
  const history = await historyOf(deps.store);
  const held = await holdings(deps, items, history);
  const answer = roomIn(held, realm, wanted, deps.clock.now());
  if (answer.room) return { room: true, instead: null };
  const going = held.find(({ key }) => key === answer.instead?.key);
  if (!going) return { room: false };
  const because = `it never helped, and made room for ${wanted.name}`;
  const steps = await archiving(deps, going.kept, because, history);
  return steps ? { room: true, instead: { name: going.skill.name, steps } } : { room: false };
}

/** The steps of a proposal, or why there are none. */
async function stepsFor(
  deps: PublishDeps,
  proposal: Proposal,
  byKey: ReadonlyMap<string, Owned>,
  history: History,
): Promise<readonly Step[] | string> {
  const about = byKey.get(proposal.about)?.kept ?? [];
  const because = `${proposal.reason}: ${proposal.because}`;
  const changed = "it was changed meanwhile";
  switch (proposal.action) {
    case "none":
      return [];
    case "archive":
      return (await archiving(deps, about, because, history)) ?? changed;
    case "draft":
      return (await demotionSteps(deps, about, because, history)) ?? changed;
    case "shorten":
      return rewritings(deps, about, proposal.skill as Skill, because, history);
    case "merge": {
      const into = byKey.get(proposal.other ?? "")?.kept ?? [];
      const joined = `it says what ${proposal.name} said too`;
      // From now on the better one is made of the other's lesson too, and grows with it.
      const lesson = about[0]?.instinct ?? "";
      const both = into.map((one) => ({ ...one, instinct: lesson }));
      const better = await rewritings(deps, both, proposal.skill as Skill, joined, history);
      if (typeof better === "string") return better;
      if (await hasOwnFiles(deps, about)) return `${proposal.name} has files of its own`;
      const away = await archiving(deps, about, because, history, lesson);
      return away ? [...better, ...away] : changed;
    }
  }
}

async function hasOwnFiles({ library }: PublishDeps, kept: readonly Shelved[]): Promise<boolean> {
  for (const { path } of kept) if (((await library.read(path))?.files.length ?? 0) > 1) return true;
  return false;
}

async function archiving(
  deps: PublishDeps,
  kept: readonly Shelved[],
  because: string,
  history: History,
  replacedBy?: string,
): Promise<Step[] | null> {
  const steps: Step[] = [];
  for (const one of kept) {
    const step = await archiveStep(deps, one, because, history, replacedBy);
    if (!step) return null;
    steps.push(step);
  }
  return steps;
}

/** Steps that give a skill other words, wherever it lies. */
async function rewritings(
  deps: PublishDeps,
  kept: readonly Shelved[],
  skill: Skill,
  because: string,
  history: History,
): Promise<Step[] | string> {
  const [text = ""] = await deps.redactor.scrub([{ label: "skill", text: render(skill) }]);
  const { skill: clean } = parse(text);
  if (!clean || !mayBeWritten(scanSkill(clean))) return "the text may not be written";
  const steps: Step[] = [];
  for (const one of kept) {
    const current = await deps.library.read(one.path);
    if (current?.hash !== one.content) return "it was changed meanwhile";
    steps.push(rewriting(deps, one, current, text, history, because));
  }
  return steps;
}

/** Notes that a person wants what goes by a name left as it is, or no longer; answers with what that is. */
export async function pinNamed(
  deps: PublishDeps,
  items: readonly Item[],
  name: string,
  pinned: boolean,
): Promise<{ readonly id: string; readonly name: string; readonly realm: string }[]> {
  const own = (await shelf(deps)).filter((one) => one.name === name);
  const realmOf = await realms(deps.store, own, items);
  const named = [
    ...own.flatMap((one) =>
      one.kind === "rule" ? [] : { id: itemId(realmOf(one), one.kind, name), realm: realmOf(one) },
    ),
    ...items.filter((item) => item.name === name),
  ].map(({ id, realm }) => ({ id, name, realm }));
  const distinct = [...new Map(named.map((one) => [one.id, one])).values()];
  for (const one of distinct) await pin(deps, one, pinned);
  return distinct;
}
