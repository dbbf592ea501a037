import { applyDecay, decisionEntry } from "../../lessons/index.ts";
import type { Artifact, KeptArtifact, LedgerEntry, Lesson, Origin } from "../../records/index.ts";
import { hasGapId } from "../gaps/gap.ts";
import { listGaps } from "../gaps/list-gaps.ts";
import { type Authorship, readAuthors } from "../origins.ts";
import { parseRules } from "../rule.ts";
import { parseSkill } from "../skill.ts";
import {
  diffArtifact,
  mainText,
  nullIfDamaged,
  type PublishDeps,
  readFiles,
  readHistory,
} from "./changes.ts";

/** Something published, as it is on disk now. */
export interface PublishedItem extends KeptArtifact {
  /** `edited` and `missing`: a person changed or deleted it. */
  readonly state: "active" | "draft" | "proposal" | "edited" | "missing" | "unreadable";
  /** A skill's text, or a rule's line; null when nothing can be read. */
  readonly text: string | null;
  /** What Knack wrote. */
  readonly written: string | null;
  /** The skill that a proposal is for. */
  readonly belongsTo: string | null;
  /** As of now; null where there is no lesson. */
  readonly confidence: number | null;
  readonly sessions: number;
  /** Pieces of evidence. */
  readonly evidence: number;
  /** The project of the gap, or of the agent or review that wrote it. */
  readonly askedIn: string | null;
  readonly author: Authorship | null;
}

/** Everything that is kept, with the texts of skills that can be read. */
export async function listPublishedSkills(deps: PublishDeps) {
  return (await listPublished(deps)).map((item) => ({
    ...item,
    skill: item.kind === "skill" && item.text !== null ? parseSkill(item.text).skill : null,
  }));
}

/** Everything published, by name. */
export async function listPublished(deps: PublishDeps): Promise<PublishedItem[]> {
  const { store, clock } = deps;
  const { kept } = await readHistory(store);
  const ids = [...new Set(kept.flatMap(listLessonIds))];
  const lessons = new Map((await store.learning.lessons.get(ids)).map((one) => [one.id, one]));
  const counts = new Map<string, number>();
  for (const { lessonId } of await store.learning.findings.ofLessons(ids))
    counts.set(lessonId, (counts.get(lessonId) ?? 0) + 1);
  const gaps = kept.some(({ origin }) => origin.kind === "gap") ? await listGaps(deps) : [];
  const authors = await readAuthors(store, kept);
  const items: PublishedItem[] = [];
  for (const one of kept) {
    const own = listLessonIds(one);
    const known = own.flatMap((id) => lessons.get(id) ?? []);
    const gap = gaps.find((each) => hasGapId(each, one.origin.id));
    const author = authors.get(one.origin.id) ?? null;
    const count = own.reduce((sum, id) => sum + (counts.get(id) ?? 0), 0);
    const learnedIn = known.length === 0 ? null : Math.max(...known.map(({ state }) => state.sessions));
    items.push({
      ...one,
      ...(await (one.kind === "rule" ? readRuleState(deps, one) : readFileState(deps, one))),
      confidence: meanConfidence(known, clock.now()),
      sessions: learnedIn ?? gap?.state.asked.length ?? (author ? 1 : 0),
      evidence: gap?.asks.length ?? author?.evidence ?? count,
      askedIn: gap?.project ?? author?.project ?? null,
      author,
    });
  }
  const sortKey = ({ name, path }: PublishedItem) => `${name}\0${path}`;
  return items.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
}

function listLessonIds({ origin, members }: KeptArtifact): readonly string[] {
  return members ?? [origin.id];
}

function meanConfidence(lessons: readonly Lesson[], now: number): number | null {
  if (lessons.length === 0) return null;
  const sum = lessons.reduce((all, { state }) => all + applyDecay(state, now).confidence, 0);
  return Math.round((sum / lessons.length) * 1e6) / 1e6;
}

type DiskState = Pick<PublishedItem, "state" | "text" | "written" | "belongsTo">;

async function readFileState(deps: PublishDeps, kept: KeptArtifact): Promise<DiskState> {
  // A damaged copy is reported when undo needs it; what is on disk can be shown without it.
  const old = await deps.versions.restore(kept.content).catch(nullIfDamaged);
  const nothing = { text: null, written: old && mainText(old), belongsTo: null };
  const found = await readFiles(deps, kept).catch(() => "unreadable" as const);
  if (found === "unreadable") return { ...nothing, state: "unreadable" };
  if (found === null) return { ...nothing, state: "missing" };
  const text = mainText(found.files);
  const belongsTo = parseSkill(text).skill?.metadata["belongs-to"] ?? null;
  const asWritten = kept.reach !== "draft" ? "active" : kept.proposal ? "proposal" : "draft";
  return { ...nothing, text, belongsTo, state: found.hash === kept.content ? asWritten : "edited" };
}

async function readRuleState(deps: PublishDeps, kept: KeptArtifact): Promise<DiskState> {
  const rest = { written: kept.content, belongsTo: null };
  const read = await readRule(deps, kept);
  if (read.found !== "rule") return { ...rest, text: null, state: read.found };
  return { ...rest, text: read.line, state: read.line === kept.content ? "active" : "edited" };
}

export async function readRule(
  { library }: PublishDeps,
  { path, name }: Pick<Artifact, "path" | "name">,
): Promise<{ readonly found: "rule"; readonly line: string } | { readonly found: "missing" | "unreadable" }> {
  const read = await library.readText(path);
  if (read.found === "unreadable") return { found: "unreadable" };
  const rule = read.found === "text" ? parseRules(read.text).rules.find(({ id }) => id === name) : undefined;
  return rule ? { found: "rule", line: rule.line } : { found: "missing" };
}

/** A person's edit, as a diff to what Knack wrote. */
export function diffEdit(one: PublishedItem): string {
  return diffArtifact(one, one.written, one.text);
}

/** The ledger entry of a decision about a gap. */
export function gapDecision(gap: string, decision: "promoted" | "rejected", at: number): LedgerEntry {
  const common = { at, project: null, session: null, actor: "person" as const };
  return { ...common, type: "gap.decided", key: `gap:${gap}:${decision}`, data: { gap, decision } };
}

/** The ledger entry of a person's decision about what something was made of. */
export function originDecision(
  { kind, id }: Origin,
  decision: "accepted" | "rejected",
  at: number,
  everywhere = false,
): LedgerEntry {
  return kind === "gap"
    ? gapDecision(id, decision === "accepted" ? "promoted" : "rejected", at)
    : decisionEntry(id, decision, at, everywhere);
}
