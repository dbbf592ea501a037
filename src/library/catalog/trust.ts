import { dirname } from "node:path";
import type { Clock } from "../../base/index.ts";
import { recordEntries } from "../../lessons/index.ts";
import type { Item, Project, SkillsTrusted, Told } from "../../records/index.ts";
import type { Store } from "../../store/index.ts";
import { findCheckout } from "../../transcripts/index.ts";
import { needsPerson } from "../../trust/index.ts";
import { createLibrary } from "../files/packages.ts";
import { packageLimits, scanForeign } from "../package.ts";
import { isKnacksSkill, skillFile } from "../skill.ts";

/**
 * Skills in a repository are their author's text. Knack names it to agents, and hands it over only after a person
 * accepted it: once for a checkout, by the hash of each package, so that a changed one is asked about again.
 */

/** The hashes that a person accepted, by checkout and file; a checkout they said no to has none. */
type TrustedSkills = ReadonlyMap<string, ReadonlyMap<string, string>>;

export async function readTrusted({ ledger }: Pick<Store, "ledger">): Promise<TrustedSkills> {
  const said = await ledger.since("skills.trusted", 0);
  // The latest word about a checkout holds.
  return new Map(
    said.map(({ data }) => [data.root, new Map(data.skills.map((one) => [one.path, one.hash]))]),
  );
}

/** The hash that a person accepted for an item of a checkout; a worktree has what its repository has. */
export function findTrusted(trusted: TrustedSkills, { checkout, path }: Item): string | null {
  if (checkout === null || trusted.size === 0) return null;
  const root = findCheckout(checkout)?.root ?? checkout;
  return trusted.get(root)?.get(relativeTo(checkout, path)) ?? null;
}

function relativeTo(root: string, path: string): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}

/** The hash of all that belongs to an item now; null where it cannot be read, or is too large for a skill. */
export async function hashItem(item: Pick<Item, "path" | "hash">): Promise<string | null> {
  const found = await readItemFiles(item);
  return found === null ? null : (found.package?.hash ?? item.hash);
}

async function readItemFiles({ path }: Pick<Item, "path">) {
  if (!path.endsWith(`/${skillFile}`)) return { package: null };
  const library = createLibrary();
  const { files: most, packageBytes: bytes } = packageLimits;
  const size = await library.measureFolder(dirname(path), { files: most, bytes }).catch(() => null);
  if (size === null || size.files > most || size.bytes > bytes) return null;
  const found = await library.read(dirname(path)).catch(() => null);
  return found && { package: found };
}

/** How much of an item agents are told unasked. */
export function decideTold(item: Omit<Item, "told">, isHeld: boolean): Told {
  const { draft, harmless, doubted, checkout, accepted, name, path } = item;
  // Agents list it themselves, and it is no answer to a task.
  if (isKnacksSkill(path)) return "nothing";
  // A draft that no agent may load is not named either.
  if (draft) return isHeld || doubted ? "nothing" : "name";
  if (checkout === null) return harmless ? "whole" : "name";
  if (accepted !== null && !doubted) return "whole";
  // A name or a folder with spaces can be a sentence.
  const isPlain = /^[\w.:-]{1,64}$/.test(name) && /^[\w./-]{1,200}$/.test(relativeTo(checkout, path));
  return isPlain ? "name" : "nothing";
}

interface TrustDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** The items seen from a folder, and the id of its project. */
  readonly catalog: (cwd: string) => Promise<{ readonly items: readonly Item[] }>;
  readonly projectAt: (cwd: string) => Promise<Project>;
  /** Renews what hooks read. */
  readonly restock: (cwd: string) => Promise<unknown>;
}

/** Something that a checkout brings along. */
export interface RepositoryItem extends Pick<Item, "name" | "kind" | "path"> {
  readonly hash: string | null;
  /** `doubted`: never handed over, whatever the person says of the others. */
  readonly state: "accepted" | "new" | "changed" | "doubted";
  /** Why it is doubted. */
  readonly because: string | null;
}

/** A checkout's own skills, and whether the person was asked about them. */
export interface RepositoryTrust {
  readonly root: string;
  /** The folder that was read: the root, or one of its worktrees. */
  readonly folder: string;
  readonly items: readonly RepositoryItem[];
  /** Whether a person said yes or no before. */
  readonly isDecided: boolean;
}

/** Reading and deciding about what a checkout brings along. */
export function openTrust(deps: TrustDeps) {
  const record = async (trust: RepositoryTrust, skills: SkillsTrusted["skills"], cwd: string) => {
    const at = deps.clock.now();
    const data: SkillsTrusted = { root: trust.root, skills };
    const common = { at, project: null, session: null, actor: "person" as const };
    const key = `trust:${trust.root}:${at}`;
    await deps.store.transaction((tx) =>
      recordEntries(tx, [{ ...common, type: "skills.trusted", key, data }]),
    );
    await deps.restock(cwd);
  };
  return {
    /** The packages in the checkout of a folder; null outside of one. */
    repositorySkills: (cwd: string) => readRepository(deps, cwd),
    /** Accepts what the checkout brings along, as it is now and as far as the scan does not doubt it. */
    trustSkills: (trust: RepositoryTrust, cwd: string) => {
      const skills = trust.items.flatMap(({ name, path, hash, state }) =>
        hash === null || state === "doubted" ? [] : { name, path: relativeTo(trust.folder, path), hash },
      );
      return record(trust, skills, cwd);
    },
    /** Takes that back, or says no. */
    untrustSkills: (trust: RepositoryTrust, cwd: string) => record(trust, [], cwd),
  };
}

async function readRepository(deps: TrustDeps, cwd: string): Promise<RepositoryTrust | null> {
  const { root } = await deps.projectAt(cwd);
  if (root === null) return null;
  const trusted = await readTrusted(deps.store);
  const { items } = await deps.catalog(cwd);
  const folder = findCheckout(cwd)?.worktree ?? root;
  // What Knack wrote there is the person's already.
  const own = items.filter(({ checkout, source }) => checkout === folder && source === null);
  const found: RepositoryItem[] = [];
  for (const item of own) found.push(await describeItem(item, findTrusted(trusted, item)));
  return { root, folder, items: found, isDecided: trusted.has(root) };
}

async function describeItem(item: Item, accepted: string | null): Promise<RepositoryItem> {
  const { name, kind, path } = item;
  const found = await readItemFiles(item);
  const hash = found === null ? null : (found.package?.hash ?? item.hash);
  const because = findDoubt(item, found);
  if (because !== null) return { name, kind, path, hash, state: "doubted", because };
  const state = accepted === null ? "new" : accepted === hash ? "accepted" : "changed";
  return { name, kind, path, hash, state, because };
}

function findDoubt({ doubted }: Item, found: Awaited<ReturnType<typeof readItemFiles>>): string | null {
  if (found === null) return "it cannot be read, or is too large for a skill";
  if (found.package?.links.length) return `it has a link in it: ${found.package.links[0]}`;
  const [first] = scanForeign(found.package?.files ?? []).filter((one) => needsPerson([one]));
  if (first) return `${first.where}: ${first.message}`;
  return doubted ? "the scan doubts its text" : null;
}
