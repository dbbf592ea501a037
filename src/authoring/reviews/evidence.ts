import {
  type CatalogReading,
  dirname,
  listSkills,
  type PublishDeps,
  packageLimits,
  packageText,
  projectRoot,
  readHistory,
  type SkillPackage,
  skillFile,
  whyNotEditable,
} from "../../library/index.ts";
import {
  type EntryOf,
  type Event,
  type EventOutline,
  type Finding,
  type Item,
  type LedgerEntry,
  outlineEvent,
  parseRef,
  type ReviewLead,
  type ReviewWindow,
  type SessionStretch,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { type Redactor, scrubAll, scrubEvents } from "../../trust/index.ts";
import { isUnwritten, listOpenSignals } from "../signals/derive.ts";
import {
  buildDossier,
  chooseEvents,
  type Dossier,
  type DossierSource,
  formatDossierRef,
  maxListedFiles,
  parseDossierRef,
  type ReviewedSkill,
  toDossierRefs,
  type WindowEvent,
} from "./dossier.ts";
import { findLeads, findUsualCalls, type LeadFacts } from "./leads.ts";
import { findNewSignals, listMeasurements, listWork, sumProgress } from "./progress.ts";
import { cutShownFile, findFiles, isSupportPath, type ReviewExpansion, type ShownFile } from "./question.ts";

/** Characters of an event that are kept. */
const eventChars = 5_000;

export type EvidenceDeps = PublishDeps & { readonly catalog: () => Promise<CatalogReading> };

/** What is worth reviewing in a window. */
export interface ReviewEvidence {
  readonly dossier: Dossier;
  readonly leads: readonly ReviewLead[];
  /** Why some skills are not among the leads: no change of them could be written. */
  readonly without: readonly string[];
  /** The packages that lie where something may be written. */
  readonly packages: readonly SkillPackage[];
}

/** Looks at a window and at the library by rules, which cost nothing; or says why there is nothing to ask a model. */
export async function gatherEvidence(
  deps: EvidenceDeps,
  project: string,
  window: ReviewWindow,
): Promise<ReviewEvidence | { readonly skip: string } | { readonly unread: string }> {
  const { items, unread } = await deps.catalog();
  if (unread[0] !== undefined) return { unread: unread[0] };
  const listed = await listSkills(deps.library, deps.places.all(await projectRoot(deps.store, project)));
  if (typeof listed === "string") return { unread: listed };
  const packages = listed.skills;
  const own = items.filter(
    ({ kind, scopeId }) => kind === "skill" && (scopeId === project || scopeId === "user"),
  );
  const skills = own.map((item) => describeSkill(item, packages));
  const facts = await readFacts(deps.store, project, window, skills);
  const found = findLeads(facts);
  if ("skip" in found) return found;
  const { leads, without } = await dropUnchangeable(deps, found.leads, packages);
  if (leads.length === 0) return { skip: without.join("; ") };
  const changed = new Set(leads.flatMap((one) => (one.do === "patch" ? one.skill : [])));
  const shown: ReviewedSkill[] = [];
  for (const skill of skills)
    shown.push(
      changed.has(skill.name)
        ? { ...skill, files: await listFiles(deps, skill, packages) }
        : { ...skill, text: null, hash: null },
    );
  const name = (await deps.store.projects.get([project]))[0]?.name ?? project;
  const clean = await scrubAll(deps.redactor, {
    project: name,
    signals: facts.signals,
    leads,
    skills: shown,
  });
  return { dossier: await gatherDossier(deps, { ...clean, window }), leads, without, packages };
}

async function readFacts(
  store: Store,
  project: string,
  window: ReviewWindow,
  skills: LeadFacts["skills"],
): Promise<LeadFacts> {
  const types = ["writing.finished", "review.begun", "review.ended", "session.measured"] as const;
  const all: LedgerEntry[] = await listOpenSignals(store);
  for (const type of types) all.push(...((await store.ledger.since(type, 0)) as EntryOf<typeof type>[]));
  const entries = all.filter((entry) => entry.project === project);
  const measured = listMeasurements(entries);
  const progress = sumProgress(entries, project);
  const runs = new Set<string>(window.stretches.map(({ run }) => run));
  return {
    skills,
    signals: findNewSignals(entries, progress).flatMap(({ file, signal }) => {
      const refs = toDossierRefs(window, file, signal.refs);
      return refs.length > 0 ? [{ ...signal, refs }] : [];
    }),
    findings: await readFindings(store, window),
    work: listWork(measured, progress).filter(({ run }) => runs.has(run)),
    usualCalls: findUsualCalls(listWork(measured)),
  };
}

/** The findings of a window that nothing was made of yet. */
async function readFindings(store: Store, window: ReviewWindow): Promise<Finding[]> {
  const { stretches } = window;
  const all = await store.learning.findings.ofSessions(stretches.map(({ session }) => session));
  return all.filter(isUnwritten(await readHistory(store))).flatMap(({ session, finding }) => {
    const isInside = (ref: Event["ref"]) =>
      stretches.some(
        (one) => one.session === session && parseRef(ref) >= one.from && parseRef(ref) <= one.to,
      );
    return finding.refs.some(isInside)
      ? [{ ...finding, refs: toDossierRefs(window, session, finding.refs) }]
      : [];
  });
}

/** Drops leads to skills of which no change could be written, so that nobody pays for one. */
async function dropUnchangeable(
  deps: EvidenceDeps,
  all: readonly ReviewLead[],
  packages: readonly SkillPackage[],
): Promise<Pick<ReviewEvidence, "leads" | "without">> {
  const [leads, without]: [ReviewLead[], string[]] = [[], []];
  for (const lead of all) {
    const because = lead.do === "patch" ? await findUnchangeable(deps, lead.skill, packages) : null;
    if (because === null) leads.push(lead);
    else without.push(because);
  }
  return { leads, without };
}

/** Why none of the packages of a name can be changed; null where one can, or none is known. */
async function findUnchangeable(
  deps: EvidenceDeps,
  name: string,
  packages: readonly SkillPackage[],
): Promise<string | null> {
  let because: string | null = null;
  for (const one of packages.filter((each) => each.name === name && each.owner !== "core")) {
    because = await whyNotEditable(deps, one);
    if (because === null) return null;
  }
  return because && `${name} cannot be changed: ${because}`;
}

function describeSkill(item: Item, packages: readonly SkillPackage[]): ReviewedSkill {
  const { name, owner, description, draft, path } = item;
  // What comes with an agent is not Knack's to write.
  const mayWrite = owner !== "core" && path.endsWith(`/${skillFile}`);
  const found = mayWrite
    ? packages.find((one) => one.path === dirname(path) && one.owner !== "core")
    : undefined;
  return {
    ...{ name, owner, description, draft, files: [] },
    ...{ text: found?.text ?? null, hash: found?.hash ?? null },
  };
}

/** The text files beside `SKILL.md` that a reviewer may ask for. */
async function listFiles(
  deps: EvidenceDeps,
  { name, hash }: ReviewedSkill,
  packages: readonly SkillPackage[],
): Promise<ReviewedSkill["files"]> {
  const files = await readFiles(deps, { skill: name, base: hash ?? "" }, packages);
  return files.slice(0, maxListedFiles).map(({ path, text }) => ({ path, characters: text.length }));
}

/** The support files of exactly this version of a package; none where it has changed. */
async function readFiles(
  { library }: EvidenceDeps,
  { skill, base }: Pick<ShownFile, "skill" | "base">,
  packages: readonly SkillPackage[],
): Promise<{ readonly path: string; readonly text: string }[]> {
  const found = packages.find((one) => one.name === skill && one.hash === base);
  const current = found === undefined ? null : await library.read(found.path);
  if (current?.hash !== base) return [];
  return current.files
    .filter(({ path, bytes }) => isSupportPath(path) && bytes.length <= packageLimits.fileBytes)
    .map(packageText)
    .flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]));
}

/** The events and files that a reviewer asks for, without secrets. */
export async function readExpansion(
  deps: EvidenceDeps,
  window: ReviewWindow,
  { dossier, packages }: Pick<ReviewEvidence, "dossier" | "packages">,
  ids: readonly string[],
): Promise<ReviewExpansion> {
  const files: ShownFile[] = [];
  for (const wanted of ids.flatMap((id) => findFiles(dossier, id))) {
    const all = await readFiles(deps, wanted, packages);
    const file = all.find(({ path }) => path === wanted.path);
    if (file) files.push(cutShownFile({ ...wanted, ...(await scrubAll(deps.redactor, file)) }));
  }
  const places = ids.flatMap((id) => parseDossierRef(id) ?? []);
  return { events: await readEvents(deps, window, places), files };
}

interface DossierDeps {
  readonly store: Pick<Store, "events">;
  readonly redactor: Redactor;
}

/** A dossier of a window: sessions of any length are looked at whole, and few of their events are read. */
export async function gatherDossier(
  deps: DossierDeps,
  known: Omit<DossierSource, "outlines">,
): Promise<Dossier> {
  const { signals, leads, window } = known;
  const pointed = [...signals, ...leads].flatMap(({ refs }) =>
    refs.flatMap((ref) => parseDossierRef(ref) ?? []),
  );
  const outlines: EventOutline[][] = [];
  for (const [at, stretch] of window.stretches.entries())
    outlines.push(
      await readOutline(
        deps,
        stretch,
        pointed.flatMap((one) => (one.stretch === at ? one.ref : [])),
      ),
    );
  const source = { ...known, outlines };
  const choice = chooseEvents(source);
  return buildDossier(source, choice, await readEvents(deps, window, choice.wanted));
}

/** Events by their ids in the dossier. They were scrubbed when they were read, and are once more. */
async function readEvents(
  { store, redactor }: DossierDeps,
  { stretches }: ReviewWindow,
  places: readonly WindowEvent[],
): Promise<Map<string, Event>> {
  const found = new Map<string, Event>();
  for (const [stretch, { session }] of stretches.entries()) {
    const refs = [...new Set(places.flatMap((place) => (place.stretch === stretch ? place.ref : [])))];
    if (refs.length === 0) continue;
    const events = await scrubEvents(redactor, await store.events.some(session, refs), eventChars);
    for (const event of events) found.set(formatDossierRef({ stretch, ref: event.ref }), event);
  }
  return found;
}

/** A stretch without its words, and the events outside it that are pointed to. */
async function readOutline(
  { store }: DossierDeps,
  { session, from, to }: SessionStretch,
  pointed: readonly string[],
): Promise<EventOutline[]> {
  const outline = await store.events.outline(session, from, to);
  const outside = new Set(pointed.filter((ref) => parseRef(ref) < from || parseRef(ref) > to));
  if (outside.size === 0) return outline;
  const others = (await store.events.some(session, [...outside])).map(outlineEvent);
  return [...outline, ...others].sort((a, b) => a.n - b.n);
}
