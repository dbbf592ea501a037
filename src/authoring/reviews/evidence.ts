import { dirname } from "node:path";
import {
  type CatalogReading,
  openPackages,
  type PublishDeps,
  packageLimits,
  packageText,
  readHistory,
  type SkillPackage,
  skillFile,
} from "../../library/index.ts";
import {
  type Event,
  type Finding,
  type Item,
  type LedgerEntry,
  parseRef,
  type ReviewLead,
  type ReviewWindow,
} from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { groupRecordings } from "../../transcripts/index.ts";
import { scrubAll } from "../../trust/index.ts";
import { isUnwritten, listOpenSignals } from "../give-signals.ts";
import {
  type Dossier,
  gatherDossier,
  isSupportPath,
  type ReviewedSkill,
  readEventDetails,
  toDossierRefs,
} from "./dossier.ts";
import { findLeads, foldProgress } from "./nudge.ts";
import type { createReviewQuestion } from "./question.ts";
import { measureWork } from "./schedule.ts";

type LeadInput = Parameters<typeof findLeads>[0];
type ExpandedParts = NonNullable<Parameters<typeof createReviewQuestion>[1]>;

type EvidenceDeps = PublishDeps & { readonly catalog: () => Promise<CatalogReading> };

/** The material of a window for a review. */
interface ReviewEvidence {
  readonly dossier: Dossier;
  readonly leads: readonly ReviewLead[];
  /** Why some skills are not among the leads: no change of them could be written. */
  readonly without: readonly string[];
  /** Reads the events and files that a reviewer asks for, without secrets. */
  readonly expand: (ids: readonly string[]) => Promise<ExpandedParts>;
}

/** Looks at a window and at the library by rules, which cost nothing; or says why there is nothing to ask a model. */
export async function gatherEvidence(
  deps: EvidenceDeps,
  project: string,
  window: ReviewWindow,
): Promise<ReviewEvidence | { readonly skip: string } | { readonly unread: string }> {
  const { items, unread } = await deps.catalog();
  if (unread[0] !== undefined) return { unread: unread[0] };
  const listed = await openPackages(deps).list(
    deps.places.all(await openPackages(deps).projectRoot(project)),
  );
  if (typeof listed === "string") return { unread: listed };
  const packages = listed.skills;
  const own = items.filter(
    ({ kind, scopeId, draft, told }) =>
      kind === "skill" && (scopeId === project || scopeId === "user") && !(draft && told === "nothing"),
  );
  const skills = own.map((item) => describeSkill(item, packages));
  const facts = await readFacts(deps.store, project, window, skills);
  const found = findLeads(facts);
  if ("skip" in found) return found;
  const { leads, without } = await dropUnchangeable(deps, found.leads, packages);
  if (leads.length === 0) return { skip: without.join("; ") };
  const changed = new Set(leads.flatMap((one) => (one.do === "patch" ? one.skill : [])));
  const vouched = new Set(own.flatMap(({ name, told }) => (told === "whole" ? name : [])));
  const shown: ReviewedSkill[] = [];
  for (const skill of skills) {
    const files = changed.has(skill.name) ? await readFiles(deps, skill.name, skill.hash, packages) : null;
    const listing = files?.map(({ path, text }) => ({ path, characters: text.length }));
    // Of what nobody vouches for, a reviewer is shown no more than it needs.
    const about = vouched.has(skill.name) || listing ? {} : { description: "" };
    shown.push(listing ? { ...skill, files: listing } : { ...skill, ...about, text: null, hash: null });
  }
  const name = (await deps.store.projects.get([project]))[0]?.name ?? project;
  const told = { project: name, signals: facts.signals, leads, skills: shown };
  const dossier = await gatherDossier(deps, { ...(await scrubAll(deps.redactor, told)), window });
  const expand = async (ids: readonly string[]) => ({
    events: await readEventDetails(deps, window, ids),
    files: await expandFiles(deps, dossier, packages, ids),
  });
  return { dossier, leads, without, expand };
}

async function readFacts(
  store: Store,
  project: string,
  window: ReviewWindow,
  skills: LeadInput["skills"],
): Promise<LeadInput> {
  const entries: LedgerEntry[] = await listOpenSignals(store);
  for (const type of ["writing.finished", "review.begun", "review.ended"] as const)
    entries.push(...(await store.ledger.since(type, 0)));
  const sessions = (await store.sessions.list()).filter((one) => one.project.id === project && !one.subagent);
  return {
    skills,
    signals: foldProgress(entries, project).newSignals.flatMap(({ file, signal }) => {
      const refs = toDossierRefs(window, file, signal.refs);
      return refs.length > 0 ? [{ ...signal, refs }] : [];
    }),
    findings: await readFindings(store, window),
    work: await measureWork(store, sessions, window),
    allCalls: groupRecordings(sessions).flatMap(([{ counts }]) => (counts.prompts > 0 ? counts.calls : [])),
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
    const refs = toDossierRefs(window, session, finding.refs);
    return finding.refs.some(isInside) ? [{ ...finding, refs }] : [];
  });
}

/** Drops leads to skills that cannot be changed, so that no model call is spent on them. */
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
    because = await openPackages(deps).whyNotEditable(one);
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

/** The support files of exactly this version of a package; empty if it has changed. */
async function readFiles(
  { library }: EvidenceDeps,
  name: string,
  hash: string | null,
  packages: readonly SkillPackage[],
): Promise<{ readonly path: string; readonly text: string }[]> {
  const found = packages.find((one) => one.name === name && one.hash === hash);
  const current = found === undefined ? null : await library.read(found.path);
  if (current === null || current.hash !== hash) return [];
  return current.files
    .filter(({ path, bytes }) => isSupportPath(path) && bytes.length <= packageLimits.fileBytes)
    .map(packageText)
    .flatMap(({ path, text }) => (text === null ? [] : [{ path, text }]));
}

/** The files that ids such as `rl-releases/scripts/tag.sh` name; of two skills of one name it may be one of each. */
async function expandFiles(
  deps: EvidenceDeps,
  { skills }: Dossier,
  packages: readonly SkillPackage[],
  ids: readonly string[],
): Promise<ExpandedParts["files"]> {
  const files: ExpandedParts["files"][number][] = [];
  for (const { name, hash } of skills)
    for (const file of hash === null ? [] : await readFiles(deps, name, hash, packages)) {
      if (hash === null || !ids.includes(`${name}/${file.path}`)) continue;
      files.push({ skill: name, base: hash, ...(await scrubAll(deps.redactor, file)) });
    }
  return files;
}
