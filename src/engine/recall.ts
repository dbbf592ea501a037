import { cuesFor } from "../core/cue.ts";
import { policy as defaults, type Policy } from "../core/policy.ts";
import type { Question } from "../core/question.ts";
import { answer, homeIn, isDisproved, type Known, type Match } from "../core/recall.ts";
import type { Use } from "../core/use.ts";
import { type KeptFinding, promotedRealm, type Store } from "./ports.ts";

/** As much of Knack's memory as an answer needs; a store has it, and so has a snapshot. */
export interface Memory {
  readonly learning: {
    readonly findings: Pick<Store["learning"]["findings"], "cued" | "countsOf" | "sharing">;
    readonly instincts: Pick<Store["learning"]["instincts"], "get">;
    readonly uses: {
      of(program: string, project: string | null): Promise<readonly (Use & { readonly at: number })[]>;
    };
  };
  readonly projects: Pick<Store["projects"], "get" | "list">;
}

export interface RecallOptions {
  /** The project in which it is asked. */
  readonly project: string;
  /** The home folder of whoever asks. */
  readonly home: string | null;
  /** Nobody asked: the answer interrupts, so it must be surer. */
  readonly unasked: boolean;
  readonly now: number;
  readonly policy?: Policy;
}

/** What is known about a failure, a call or a text: the best few answers, or none rather than a weak one. */
export async function recall(
  { learning, projects }: Memory,
  question: Question,
  { policy = defaults, ...asked }: RecallOptions,
): Promise<Match[]> {
  const { project } = asked;
  const cued = await learning.findings.cued(cuesFor(question), project, policy.recall.findings);
  const { spoken, rarity } =
    question.type === "text"
      ? await spokenOf(learning, question.terms, await realmsFor(projects, project, policy), policy)
      : nothingSpoken;
  const findings = [...new Map([...cued, ...spoken].map((finding) => [finding.id, finding])).values()];
  if (findings.length === 0) return [];
  const known = await knownOf(learning, projects, findings, project);
  const matches = answer(question, known, { ...asked, rarity }, policy);
  const stale = await Promise.all(matches.map((match) => isStale(learning, match)));
  return matches.filter((_, at) => !stale[at]);
}

async function knownOf(
  learning: Memory["learning"],
  projects: Memory["projects"],
  findings: readonly KeptFinding[],
  here: string,
): Promise<Known[]> {
  // Whose home it is matters for other projects only.
  const others = new Set(findings.flatMap(({ project }) => (project === here ? [] : project)));
  const rows = others.size > 0 ? await projects.get([...others]) : [];
  const homes = new Map(rows.map(({ id, root }) => [id, homeIn(root ?? "")]));
  const ids = [...new Set(findings.map(({ instinct }) => instinct))];
  const instincts = new Map((await learning.instincts.get(ids)).map((instinct) => [instinct.id, instinct]));
  return findings.flatMap(({ instinct: id, ...finding }) => {
    const instinct = instincts.get(id);
    return instinct ? [{ ...finding, home: homes.get(finding.project) ?? null, instinct }] : [];
  });
}

/** Whose lessons a text may be about: this project's, the person's own and what was promoted; in a folder that is no project, all. */
async function realmsFor(
  projects: Memory["projects"],
  project: string,
  { recall }: Policy,
): Promise<string[]> {
  if ((await projects.get([project])).length > 0) return [project, "user", promotedRealm];
  const newest = (await projects.list()).sort((a, b) => b.lastAt - a.lastAt).slice(0, recall.projects);
  return [...newest.map(({ id }) => id), "user"];
}

/** The findings that share words with a text. */
async function spokenOf(
  learning: Memory["learning"],
  terms: ReadonlySet<string>,
  realms: readonly string[],
  { recall }: Policy,
): Promise<{ spoken: KeptFinding[]; rarity: (word: string) => number }> {
  const counts = new Map<string, number>();
  const spoken = new Map<string, KeptFinding>();
  for (const realm of realms) {
    const found = await learning.findings.countsOf(realm, [...terms]);
    for (const [word, count] of found) counts.set(word, (counts.get(word) ?? 0) + count);
    const near = await learning.findings.sharing(realm, rarestWords(found, recall), recall.spoken);
    for (const finding of near) spoken.set(finding.id, finding);
  }
  const rarity = (word: string) => 1 / (1 + Math.log1p(counts.get(word) ?? 0));
  return { spoken: [...spoken.values()], rarity };
}

/** The rarest words: the commonest cost most to look for and tell least. */
function rarestWords(counts: ReadonlyMap<string, number>, { words, lookedAt }: Policy["recall"]): string[] {
  const rarest = [...counts].sort(([a, one], [b, other]) => one - other || (a < b ? -1 : 1));
  let seen = 0;
  return rarest
    .slice(0, words)
    .filter(([, count], at) => {
      seen += count;
      return at < 2 || seen <= lookedAt;
    })
    .map(([word]) => word);
}

const nothingSpoken = { spoken: [] as KeptFinding[], rarity: () => 1 };

/** Whether what a lesson warns of has worked since. */
async function isStale(learning: Memory["learning"], match: Match): Promise<boolean> {
  if (match.by !== "call") return false;
  const { instinct, from } = match;
  const program = from[0]?.finding.symptom?.call?.[0];
  if (program === undefined) return false;
  const uses = await learning.uses.of(program, instinct.scope === "user" ? null : instinct.project);
  return isDisproved(match, uses);
}
