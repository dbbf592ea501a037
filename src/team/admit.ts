import type { StoredTeamEntry, TeamEntry } from "../records/index.ts";
import { type ArrivedEntry, computeEntryId } from "../store/index.ts";
import { nameShare, readEntry } from "./signing.ts";
import type { Trust } from "./trust.ts";

/** Characters of an entry, by what it says, and of all entries of one author. */
export const shareLimits = { lesson: 16_000, skill: 200_000, other: 4_000, author: 64_000_000 } as const;

/** Why an entry is not taken in, with the author whom it names. */
interface RefusedEntry {
  readonly id: string;
  readonly author: string;
  readonly because: string;
}

interface Admission {
  readonly team: string;
  /** Whose machines are believed; what is admitted adds to it. */
  readonly trust: Trust;
  /** Characters that each author has here already; what is admitted is added. */
  readonly sizes: Map<string, number>;
}

/** Of entries that came from the team's database, those that are what their authors wrote, and not too large. */
export function admitEntries(
  arriving: readonly ArrivedEntry[],
  { team, trust, sizes }: Admission,
): { readonly admitted: StoredTeamEntry[]; readonly refused: RefusedEntry[] } {
  const admitted: StoredTeamEntry[] = [];
  const refused: RefusedEntry[] = [];
  for (const { receivedAt, ...signed } of arriving) {
    const entry = readEntry(signed);
    const author = entry?.author ?? "";
    const size = (sizes.get(author) ?? 0) + signed.content.length;
    const because = entry === null ? "it is no entry" : findFault(entry, { team, trust, size });
    if (entry === null || because !== null) {
      refused.push({ id: signed.id, author, because: because ?? "" });
      continue;
    }
    sizes.set(author, size);
    admitted.push({ ...entry, recordedAt: receivedAt });
  }
  return { admitted, refused };
}

function findFault(
  entry: TeamEntry,
  { team, trust, size }: Omit<Admission, "sizes"> & { readonly size: number },
): string | null {
  if (entry.team !== team) return "it is another team's";
  if (entry.id !== computeEntryId(entry)) return "it was changed after it was signed";
  return findOversize(entry, size) ?? findMisnamed(entry) ?? trust.admit(entry);
}

function findOversize({ kind, content }: TeamEntry, size: number): string | null {
  const { lesson, skill, other, author } = shareLimits;
  const most = kind === "lesson.shared" ? lesson : kind === "skill.shared" ? skill : other;
  if (content.length > most) return `it is larger than ${most} characters`;
  return size > author ? `its author has shared more than ${author} characters` : null;
}

/** What is shared goes by the hash of its words: a yes to one text is none to another. */
function findMisnamed({ kind, repository, subject, body }: TeamEntry): string | null {
  const isShare = kind === "lesson.shared" || kind === "skill.shared";
  return isShare && subject !== nameShare(repository, body) ? "it goes by the name of another text" : null;
}
