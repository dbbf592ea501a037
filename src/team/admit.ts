import type { StoredTeamEntry, TeamEntry } from "../records/index.ts";
import type { ArrivedEntry } from "../store/index.ts";
import {
  findForgery,
  nameShare,
  type RegisteredMachine,
  readEntry,
  readRegistration,
  type SignatureCheck,
} from "./signing.ts";

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
  /** The machines that are known here; what an entry registers joins them. */
  readonly machines: Map<string, RegisteredMachine>;
  /** Characters that each author has here already; what is admitted is added. */
  readonly sizes: Map<string, number>;
  readonly isSignedBy: SignatureCheck;
}

/** Of entries that came from the team's database, those that are what their authors wrote, and not too large. */
export function admitEntries(
  arriving: readonly ArrivedEntry[],
  { team, machines, sizes, isSignedBy }: Admission,
): { readonly admitted: StoredTeamEntry[]; readonly refused: RefusedEntry[] } {
  const admitted: StoredTeamEntry[] = [];
  const refused: RefusedEntry[] = [];
  for (const { receivedAt, ...signed } of arriving) {
    const entry = readEntry(signed);
    const author = entry?.author ?? "";
    const size = (sizes.get(author) ?? 0) + signed.content.length;
    const because =
      entry === null ? "it is no entry" : findFault(entry, { team, machines, size, isSignedBy });
    if (entry === null || because !== null) {
      refused.push({ id: signed.id, author, because: because ?? "" });
      continue;
    }
    sizes.set(author, size);
    const registered = readRegistration(entry);
    // Whose a machine is, is said once: a key cannot change hands.
    if (registered && !machines.has(entry.machine)) machines.set(entry.machine, registered);
    admitted.push({ ...entry, recordedAt: receivedAt });
  }
  return { admitted, refused };
}

function findFault(
  entry: TeamEntry,
  { team, machines, size, isSignedBy }: Omit<Admission, "sizes"> & { readonly size: number },
): string | null {
  if (entry.team !== team) return "it is another team's";
  const machine = machines.get(entry.machine) ?? readRegistration(entry) ?? undefined;
  return findOversize(entry, size) ?? findForgery(entry, machine, isSignedBy) ?? findMisnamed(entry);
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
