import { several } from "../../text/index.ts";
import { findTextObjection, isChangeable } from "./changes.ts";
import type { ChangeEvidence, EvidenceArms } from "./evidence.ts";
import type { LoopPolicy, PastRun } from "./policy.ts";

/** A change that was accepted once. */
export interface PastChange {
  readonly sha: string;
  readonly run: string;
  readonly at: number;
  readonly summary: string;
  readonly files: readonly string[];
  readonly revertedBy: string | null;
  readonly evidence: ChangeEvidence;
}

/** What a consolidator, or a person, wants to be done to the state folder. */
export interface StateCuration {
  readonly archive: readonly { readonly path: string; readonly reason: string }[];
  readonly merge: readonly {
    readonly from: readonly string[];
    readonly into: string;
    readonly content: string;
  }[];
  /** Commits whose files go back to what they were; those that evidence refutes are reverted without being named. */
  readonly revert: readonly { readonly sha: string; readonly reason: string }[];
  /** Requests to a person that outlive the run, by name. */
  readonly operatorRequests: readonly { readonly name: string; readonly text: string }[];
}

export interface CuratedState {
  readonly before: string;
  /** Equal to `before` where there was nothing to do. */
  readonly after: string;
  readonly archived: readonly string[];
  /** Files that took the place of others. */
  readonly merged: readonly string[];
  readonly reverted: readonly { readonly sha: string; readonly reason: string }[];
  readonly notesCompacted: number;
  /** What was asked for and not done. */
  readonly refused: readonly { readonly what: string; readonly reason: string }[];
}

// --- What runs say ---

/** The kind of goal that files are for; null for all. */
function findKind(files: readonly string[]): string | null {
  const kinds = files.map((file) => /^(?:strategies|plans)\/([^/]+)\//.exec(file)?.[1] ?? null);
  return kinds.every((kind) => kind !== null && kind === kinds[0]) ? (kinds[0] ?? null) : null;
}

/** Runs that began before a change, and with it. */
export function splitRuns(
  runs: readonly PastRun[],
  { files, sha, revertedBy }: Pick<PastChange, "files" | "sha" | "revertedBy">,
  places: ReadonlyMap<string, number>,
): EvidenceArms {
  const kind = findKind(files);
  const [from, until] = [places.get(sha) ?? 0, places.get(revertedBy ?? "") ?? Number.POSITIVE_INFINITY];
  const graded = runs.flatMap(({ kind: own, at, successCriteriaMet, score, stateSha }) => {
    const place = places.get(stateSha);
    if (score === null || place === undefined || (kind !== null && own !== kind)) return [];
    return [{ at, met: (successCriteriaMet ?? (score === 1 && "yes")) === "yes", score, place }];
  });
  return {
    // The nearest first: it is compared with what was in force when the change came.
    before: graded.filter(({ place }) => place < from).reverse(),
    after: graded.filter(({ place }) => place >= from && place < until),
  };
}

// --- What a curation comes to ---

interface CurationView {
  readonly policy: LoopPolicy;
  readonly runs: readonly PastRun[];
  readonly files: readonly string[];
  readonly readText: (file: string) => string | null;
}

export function planCuration(
  { archive, merge, revert }: StateCuration,
  changes: readonly PastChange[],
  view: CurationView,
) {
  const refused: { what: string; reason: string }[] = [];
  const writes = new Map<string, string | null>();
  const accept = (what: string, problem: string | null): boolean => {
    if (problem !== null) refused.push({ what, reason: problem });
    return problem === null;
  };
  const archived = archive.flatMap(({ path }) => {
    if (!accept(path, findArchiveObjection(path, view))) return [];
    writes.set(path, null);
    return [path];
  });
  const merged = merge.flatMap(({ from, into, content }) => {
    if (!accept(into, findMergeObjection(from, into, content, view))) return [];
    for (const path of from) writes.set(path, null);
    writes.set(into, content);
    return [into];
  });
  const reverts = changes.flatMap((change) => {
    const named = revert.find(({ sha }) => sha.length >= 7 && change.sha.startsWith(sha));
    if (change.revertedBy !== null) return [];
    if (change.evidence.verdict === "worse") return [{ change, reason: describeEvidence(change.evidence) }];
    return named ? [{ change, reason: named.reason }] : [];
  });
  for (const { sha } of revert)
    if (!reverts.some(({ change }) => change.sha.startsWith(sha)))
      refused.push({ what: sha, reason: "it is no change that can be reverted" });
  return { writes, reverts, record: { archived, merged, refused, reverted: [] } };
}

/** The figures of a change, in a line. */
export function describeEvidence({
  verdict,
  before,
  after,
  pairs,
  needed,
  provisional,
}: ChangeEvidence): string {
  const share = ({ meanScore, runs }: ChangeEvidence["before"]) =>
    meanScore === null ? "no run" : `${Math.round(meanScore * 100)} % in ${several(runs, "run")}`;
  const figures = `${share(before)} before, ${share(after)} since`;
  const words = {
    worse: "worse",
    better: "better",
    "no-difference": "no difference",
    "too-few": "too few samples",
  };
  const missing = verdict === "too-few" ? ` (${pairs} of about ${needed} pairs)` : "";
  const second =
    provisional.p === null ? "" : `; provisional, ${provisional.test}: p = ${provisional.p.toFixed(3)}`;
  return `${words[verdict]}${missing}: ${figures}${second}`;
}

function findArchiveObjection(path: string, { policy, runs, files }: CurationView): string | null {
  if (!files.includes(path)) return "there is no such file that a loop may change";
  const recent = runs.slice(-policy.unusedRuns);
  if (runs.length < policy.unusedRuns) return `only ${runs.length} of ${policy.unusedRuns} runs have been`;
  return recent.some(({ used }) => used.includes(path))
    ? `a run among the last ${policy.unusedRuns} used it`
    : null;
}

function findMergeObjection(
  from: readonly string[],
  into: string,
  content: string,
  { files, readText }: CurationView,
): string | null {
  const root = into.split("/").slice(0, 2).join("/");
  if (!isChangeable(into)) return `a merge may not write ${into}`;
  const stranger = from.find((path) => !files.includes(path));
  if (stranger !== undefined) return `${stranger} is no file that a loop may change`;
  if (from.some((path) => path.split("/")[0] !== into.split("/")[0]))
    return `it merges files of other kinds into ${root}`;
  return findTextObjection(into, content, readText(into));
}

/** The oldest notes of those that are too many bytes together, but for the newest ones. */
export function pickOldNotes(
  notes: readonly { readonly file: string; readonly bytes: number }[],
  { maxNotesBytes, keepNotes }: LoopPolicy,
): string[] {
  const total = notes.reduce((sum, { bytes }) => sum + bytes, 0);
  return total <= maxNotesBytes ? [] : notes.slice(keepNotes).map(({ file }) => file);
}

/** What was done, a line each. */
export function describeCuration(record: Omit<CuratedState, "after">): string[] {
  const { archived, merged, reverted, notesCompacted } = record;
  return [
    ...archived.map((path) => `Archived ${path}`),
    ...merged.map((path) => `Merged into ${path}`),
    ...reverted.map(({ sha, reason }) => `Reverted ${sha.slice(0, 10)}: ${reason}`),
    ...(notesCompacted > 0 ? [`Removed ${notesCompacted} old notes`] : []),
  ];
}
