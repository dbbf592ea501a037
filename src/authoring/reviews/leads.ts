import { measureSkillSimilarity } from "../../library/index.ts";
import type { Finding, ReviewLead, Signal } from "../../records/index.ts";
import { maxLeads, type ReviewedSkill } from "./dossier.ts";
import type { SessionWork } from "./progress.ts";

/** Sessions that a project needs before anything counts as unusual there. */
const fewestSessions = 20;
/** A finding at least this sure may become a lead. */
const sureFinding = 0.5;
/** A skill this similar to a finding is the place for it: the same subject is enough. */
const sameSubject = 0.25;

/** What leads are found by. Refs are those of the dossier. */
export interface LeadFacts {
  readonly signals: readonly Signal[];
  readonly findings: readonly Finding[];
  /** Work in each session of the window that no review has looked at. */
  readonly work: readonly Omit<SessionWork, "run">[];
  readonly skills: readonly Pick<ReviewedSkill, "name" | "owner" | "description">[];
  /** Calls that nine of ten sessions of the project do not exceed; null where there are too few sessions. */
  readonly usualCalls: number | null;
}

/**
 * What a review may come to; or why it is not worth a model call. What an agent signals goes first: findings are for
 * sessions without signals, and unusually long sessions for those without either.
 */
export function findLeads(
  facts: LeadFacts,
): { readonly leads: readonly ReviewLead[] } | { readonly skip: string } {
  const { signals, findings, skills } = facts;
  const signalled = signals.flatMap((signal) => toSignalLead(signal, skills));
  const surestFirst = [...findings].sort((a, b) => b.confidence - a.confidence);
  const found = signalled.length > 0 ? [] : surestFirst.flatMap((one) => toFindingLead(one, skills));
  // Update before create.
  const isCreate = (lead: ReviewLead) => Number(lead.do === "create");
  const leads = mergeLeads([...signalled, ...found]).sort((a, b) => isCreate(a) - isCreate(b));
  if (leads.length > 0) return { leads: leads.slice(0, maxLeads) };
  const unusual = findUnusualWork(facts);
  if (unusual !== null) return { leads: [unusual] };
  return {
    skip:
      signals.length > 0
        ? "the skills that the signals name cannot be changed"
        : "nothing points to a lesson",
  };
}

/** A signal to create only creates; one about a skill only changes that skill. */
function toSignalLead(signal: Signal, skills: LeadFacts["skills"]): ReviewLead[] {
  const { refs } = signal;
  if (signal.kind === "create") {
    const { nameHint: hint, trigger, summary } = signal;
    const exists = skills.some(({ name }) => name === hint);
    return exists ? [] : [{ do: "create", hint, why: `${trigger}: ${summary}`, refs }];
  }
  const { skill, issue, hint } = signal;
  const mayChange = skills.some(({ name, owner }) => name === skill && owner !== "core");
  return mayChange ? [{ do: "patch", skill, why: `${issue}: ${hint}`, refs }] : [];
}

/** A finding belongs to the skill about its subject, or may become one. */
function toFindingLead(finding: Finding, skills: LeadFacts["skills"]): ReviewLead[] {
  const { name, trigger, lesson, artifact, confidence, refs } = finding;
  if (confidence < sureFinding) return [];
  const [nearest] = skills
    .filter(({ owner }) => owner !== "core")
    .map((one) => ({ one, likeness: measureSkillSimilarity({ name, description: trigger }, one) }))
    .filter(({ likeness }) => likeness >= sameSubject)
    .sort((a, b) => b.likeness - a.likeness);
  if (nearest !== undefined) return [{ do: "patch", skill: nearest.one.name, why: lesson, refs }];
  return artifact === "skill" ? [{ do: "create", hint: name, why: lesson, refs }] : [];
}

/** Of several leads to the same thing, the first with the events of all. */
function mergeLeads(leads: readonly ReviewLead[]): ReviewLead[] {
  const found = new Map<string, ReviewLead>();
  for (const one of leads) {
    const key = one.do === "create" ? `create ${one.hint}` : `patch ${one.skill}`;
    const before = found.get(key);
    found.set(key, before ? { ...before, refs: [...new Set([...before.refs, ...one.refs])] } : one);
  }
  return [...found.values()];
}

/** A session with far more work than usual may have been a procedure, though nothing in it went wrong. */
function findUnusualWork({ work, usualCalls }: LeadFacts): ReviewLead | null {
  const [longest] = [...work].sort((a, b) => b.calls - a.calls);
  if (!longest || usualCalls === null || longest.calls <= usualCalls || longest.turns === 0) return null;
  const { calls, turns } = longest;
  const why = `${calls} calls for ${turns} prompts; nine of ten sessions here have ${usualCalls} calls or fewer`;
  return { do: "create", hint: "a procedure that will be needed again, if there was one", why, refs: [] };
}

/** The calls that nine of ten sessions do not exceed; null where there are too few sessions to say. */
export function findUsualCalls(work: readonly SessionWork[]): number | null {
  if (work.length < fewestSessions) return null;
  const sorted = work.map(({ calls }) => calls).sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.9) - 1] ?? 0;
}
