import { refsIn } from "../core/dossier.ts";
import { type Event, numberOf } from "../core/event.ts";
import type { Finding } from "../core/finding.ts";
import type { Item } from "../core/item.ts";
import type { EntryOf, LedgerEntry } from "../core/ledger.ts";
import type { Measured } from "../core/measure.ts";
import {
  measuredIn,
  newSignals,
  type ReviewedSoFar,
  reviewedSoFar,
  type Window,
  type Work,
  workIn,
} from "../core/nudge.ts";
import { policy as defaults } from "../core/policy.ts";
import type { Dossier, Lead, ListedFile, ReviewedSkill, ShownFile } from "../core/review.ts";
import { baselineOf, type Gate, type GateGround, gateByRules } from "../core/review-gate.ts";
import { filesMeant, isSupportPath, shownFile } from "../core/reviewer.ts";
import type { Signal } from "../core/signal.ts";
import { skillFile } from "../core/skill.ts";
import type { CatalogReading } from "./catalog.ts";
import { gather } from "./gather.ts";
import { asText } from "./plan-learned.ts";
import { rootOf, whyUnchangeable } from "./plan-proposal.ts";
import { listAll } from "./plan-skill.ts";
import type { SkillPackage, Store } from "./ports.ts";
import { scrubAll } from "./scrub.ts";
import { isUnwritten, openSignals } from "./signal.ts";
import { dirname, historyOf, type PublishDeps } from "./step.ts";

/** What a review of a window knows before anybody is asked. */
export interface Ground extends GateGround {
  /** Those that an agent may have in this project. Their texts are told where they may be changed. */
  readonly skills: readonly ReviewedSkill[];
  /** The packages of those that lie where something may be written. */
  readonly packages: readonly SkillPackage[];
}

export type GroundDeps = PublishDeps & { readonly catalog: () => Promise<CatalogReading> };

/** Looks at a window and at the library; or why the library could not be read: then nothing is known of what exists. */
export async function groundOf(deps: GroundDeps, project: string, window: Window): Promise<Ground | string> {
  const { items, unread } = await deps.catalog();
  if (unread.length > 0) return unread[0] ?? "";
  const root = await rootOf(deps.store, project);
  const listed = await listAll(deps.library, deps.places.all(root));
  if (typeof listed === "string") return listed;
  const entries = await entriesOf(deps.store, project);
  const measured = measuredIn(entries);
  const reviewed = reviewedSoFar(entries, project);
  const own = items.filter(({ kind, realm }) => kind === "skill" && (realm === project || realm === "user"));
  return {
    signals: signalsIn(entries, reviewed, window),
    findings: await findingsIn(deps.store, window),
    work: workOf(window, measured, reviewed),
    baseline: baselineOf(measured),
    skills: own.map((item) => toldOf(item, listed.skills)),
    packages: listed.skills,
  };
}

/** What a gate says, and which skills are left out of it, with the reasons: no change of them could be written. */
export type Ruled =
  | Extract<Gate, { skip: string }>
  | (Extract<Gate, { leads: readonly Lead[] }> & { readonly without: readonly string[] });

/** What a review may come to, by rules, which cost nothing. */
export async function ruledIn(deps: GroundDeps, ground: Ground): Promise<Ruled> {
  return changeable(deps, ground, gateByRules(ground));
}

/** What a gate says, without the skills of which no change could be written: nobody pays to be told so. */
export async function changeable(
  deps: GroundDeps,
  { packages }: Pick<Ground, "packages">,
  said: Gate,
): Promise<Ruled> {
  if ("skip" in said) return said;
  const [leads, without]: [Lead[], string[]] = [[], []];
  for (const lead of said.leads) {
    const because = lead.do === "patch" ? await whyUnpatchable(deps, lead.skill, packages) : null;
    if (because === null) leads.push(lead);
    else without.push(because);
  }
  return leads.length > 0 ? { leads, without } : { skip: without.join("; ") };
}

/** Why none of the packages of a name can be changed; null where one can, or nothing is known of any. */
async function whyUnpatchable(
  deps: GroundDeps,
  name: string,
  packages: readonly SkillPackage[],
): Promise<string | null> {
  let because: string | null = null;
  for (const one of packages.filter((each) => each.name === name && each.owner !== "core")) {
    because = await whyUnchangeable(deps, one);
    if (because === null) return null;
  }
  return because && `${name} cannot be changed: ${because}`;
}

/** What was done in the sessions of a window that is new. */
function workOf({ stretches }: Window, measured: readonly Measured[], reviewed: ReviewedSoFar): Work[] {
  const runs = new Set(stretches.map(({ run }) => run));
  return workIn(measured, reviewed).filter(({ run }) => runs.has(run));
}

/** What the ledger has of a project that decides about reviews. */
async function entriesOf(store: Store, project: string): Promise<LedgerEntry[]> {
  const types = ["learning.finished", "review.begun", "review.ended", "session.measured"] as const;
  const all: LedgerEntry[] = await openSignals(store);
  for (const type of types) all.push(...((await store.ledger.since(type, 0)) as EntryOf<typeof type>[]));
  return all.filter((entry) => entry.project === project);
}

/** The signals that no review has seen, with the names that their events have in the dossier. */
function signalsIn(entries: readonly LedgerEntry[], reviewed: ReviewedSoFar, window: Window): Signal[] {
  return newSignals(entries, reviewed).flatMap(({ file, signal }) => {
    const refs = refsIn(window, file, signal.refs);
    return refs.length > 0 ? [{ ...signal, refs }] : [];
  });
}

/** What was found in the stretches of a window, and is not kept yet. */
async function findingsIn(store: Store, window: Window): Promise<Finding[]> {
  const { stretches } = window;
  const all = await store.learning.findings.ofSessions(stretches.map(({ session }) => session));
  return all.filter(isUnwritten(await historyOf(store))).flatMap(({ session, finding }) => {
    const own = stretches.filter((stretch) => stretch.session === session);
    const isIn = (ref: Event["ref"]) =>
      own.some(({ from, to }) => numberOf(ref) >= from && numberOf(ref) <= to);
    return finding.refs.some(isIn) ? [{ ...finding, refs: refsIn(window, session, finding.refs) }] : [];
  });
}

function toldOf(item: Item, packages: readonly SkillPackage[]): ReviewedSkill {
  const { name, owner, description, draft } = item;
  const found = packageOf(item, packages);
  const text = found?.text ?? null;
  return { name, owner, description, draft, text, hash: found?.hash ?? null, files: [] };
}

/** The package of an item; what an agent brings along is nobody's to write. */
function packageOf({ path, owner }: Item, packages: readonly SkillPackage[]): SkillPackage | undefined {
  if (owner === "core" || !path.endsWith(`/${skillFile}`)) return undefined;
  return packages.find((one) => one.path === dirname(path) && one.owner !== "core");
}

/** What a reviewer is given: the texts of those skills alone that it may change; nothing of it has a secret. */
export async function dossierFor(
  deps: GroundDeps,
  project: string,
  window: Window,
  { signals, skills, packages }: Ground,
  leads: readonly Lead[],
): Promise<Dossier> {
  const changed = new Set(leads.flatMap((one) => (one.do === "patch" ? one.skill : [])));
  const told: ReviewedSkill[] = [];
  for (const skill of skills)
    told.push(
      changed.has(skill.name)
        ? { ...skill, files: await listedFiles(deps, skill, packages) }
        : { ...skill, text: null, hash: null },
    );
  const name = (await deps.store.projects.get([project]))[0]?.name ?? project;
  const clean = await scrubAll(deps.redactor, { project: name, signals, leads, skills: told });
  return gather(deps, { ...clean, window });
}

/** The files beside the text of a skill that a reviewer may ask for: those of the three folders that are texts. */
async function listedFiles(
  deps: GroundDeps,
  { name, hash }: ReviewedSkill,
  packages: readonly SkillPackage[],
): Promise<ListedFile[]> {
  const { listedFiles: most } = defaults.review;
  const files = await supportFiles(deps, { skill: name, base: hash ?? "" }, packages);
  return files.slice(0, most).map(({ path, text }) => ({ path, characters: text.length }));
}

/** The texts of such files, as they are in the very package that is meant; none where it is another one by now. */
async function supportFiles(
  { library }: GroundDeps,
  { skill, base }: Pick<ShownFile, "skill" | "base">,
  packages: readonly SkillPackage[],
): Promise<{ readonly path: string; readonly text: string }[]> {
  const found = packages.find((one) => one.name === skill && one.hash === base);
  const current = found === undefined ? null : await library.read(found.path);
  if (current?.hash !== base) return [];
  return current.files
    .filter(({ path, bytes }) => isSupportPath(path) && bytes.length <= defaults.protocol.fileBytes)
    .map(asText)
    .flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]));
}

/** The files that a reviewer asks for by name, as it is shown them; nothing of them has a secret. */
export async function filesFor(
  deps: GroundDeps,
  { packages }: Pick<Ground, "packages">,
  dossier: Dossier,
  ids: readonly string[],
): Promise<ShownFile[]> {
  const shown: ShownFile[] = [];
  for (const meant of ids.flatMap((id) => filesMeant(dossier, id))) {
    const files = await supportFiles(deps, meant, packages);
    const file = files.find(({ path }) => path === meant.path);
    if (file !== undefined) shown.push(shownFile({ ...meant, ...(await scrubAll(deps.redactor, file)) }));
  }
  return shown;
}
