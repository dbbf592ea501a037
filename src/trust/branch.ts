import { parseCommand, type Run } from "../failures/index.ts";
import type { Event } from "../records/index.ts";

/** The part of an event that tells which branch it was on. */
type BranchFacts = Pick<Event, "ref" | "kind" | "command" | "outcome" | "branch">;

/** Where a session stands between two events. */
interface Standing {
  /** Somebody else's branch that is checked out, by its name or by the pull request's. */
  readonly foreign: string | null;
  /** A checkout has happened, and the name of the branch is not known yet. */
  readonly arriving: boolean;
  /** Branches and remotes that hold other people's commits. */
  readonly fetched: ReadonlySet<string>;
  readonly remotes: ReadonlySet<string>;
  /** The pull request that was fetched last. */
  readonly latest: string | null;
}

/**
 * The events that happened on somebody else's branch (a checked-out pull request, a fork's branch), each with the name of
 * the branch, or of the pull request where its branch is not known.
 */
export function findForeignBranches(events: readonly BranchFacts[]): ReadonlyMap<string, string> {
  return walk(events).foreign;
}

/** The names of branches, and of pull requests, that were merged while a branch of the person's own was checked out. */
export function findMergedBranches(events: readonly BranchFacts[]): ReadonlySet<string> {
  return walk(events).merged;
}

function walk(events: readonly BranchFacts[]) {
  const foreign = new Map<string, string>();
  const merged = new Set<string>();
  /** The branches that pull requests turned out to be. */
  const branches = new Map<string, string>();
  let standing: Standing = {
    ...{ foreign: null, arriving: false, latest: null },
    ...{ fetched: new Set<string>(), remotes: new Set<string>() },
  };
  for (const event of events) {
    const before = standing.foreign;
    if (event.branch !== undefined) standing = arrive(standing, event.branch);
    if (before !== null && standing.foreign !== null) branches.set(before, standing.foreign);
    if (standing.foreign !== null) foreign.set(event.ref, standing.foreign);
    const hasWorked = event.outcome === "ok" || event.outcome === "masked" || event.outcome === "unknown";
    if (event.kind !== "call" || event.command === null || !hasWorked) continue;
    // Most commands have nothing to do with branches, and to parse one takes long.
    if (!/\b(?:git|gh|glab|hub)\b/.test(event.command)) continue;
    for (const run of parseCommand(event.command)) {
      const name = event.outcome === "unknown" ? null : readMerged(standing, run);
      if (name !== null) for (const one of [name, branches.get(name) ?? name]) merged.add(one);
      standing = follow(standing, run);
    }
  }
  return { foreign, merged };
}

/** The branch or pull request that a program merges into a branch of the person's own. */
function readMerged({ foreign, arriving }: Standing, { name, args }: Run): string | null {
  const [verb = "", second = "", third = ""] = args.filter((arg) => !arg.startsWith("-"));
  if (name === "gh" || name === "glab") {
    const isMerge = /^(?:pr|mr) (?:merge|accept)$/.test(`${verb} ${second}`);
    // What waits for its checks is not merged yet.
    if (!isMerge || args.some((arg) => /^--(?:auto|disable-auto|when-pipeline-succeeds)/.test(arg)))
      return null;
    const number = /^#?(\d+)$|\/(?:pull|merge_requests)\/(\d+)/.exec(third);
    return number ? `pull/${number[1] ?? number[2]}` : third || foreign;
  }
  const isOwn = foreign === null && !arriving;
  const isWhole = !args.some((arg) => /^--(?:abort|quit|continue|no-commit|squash)$/.test(arg));
  return name === "git" && verb === "merge" && isOwn && isWhole && second !== "" ? second : null;
}

/** The agent tells that another branch is checked out. */
function arrive(standing: Standing, branch: string): Standing {
  if (pullName.test(branch)) return { ...standing, foreign: branch, arriving: false };
  const isNamed = branch !== "HEAD";
  const foreign = standing.arriving ? (isNamed ? branch : standing.foreign) : null;
  return { ...standing, foreign, arriving: standing.arriving && !isNamed };
}

const pullName =
  /^(?:refs\/|remotes\/)?(?:[\w.-]+\/)?(?:pr|pull|mr|merge[-_]?requests?)[/_-]?\d+(?:\/head)?$/i;

/** The effect of a program that ran on the standing. */
function follow(standing: Standing, { name, args }: Run): Standing {
  const words = args.filter((arg) => !arg.startsWith("-"));
  const [verb = "", second = "", third = ""] = words;
  if (name === "gh" || name === "glab" || name === "hub") {
    const isCheckout =
      /^(?:pr|mr) (?:checkout|co)$/.test(`${verb} ${second}`) || (name === "gh" && verb === "co");
    const number = /\d+/.exec(verb === "co" ? second : third)?.[0];
    return isCheckout ? { ...standing, foreign: `pull/${number ?? "?"}`, arriving: true } : standing;
  }
  if (name !== "git") return standing;
  if (verb === "remote" && second === "add") return addRemote(standing, third);
  if (verb === "fetch" || verb === "pull") return fetchFrom(standing, words.slice(1));
  if (verb === "checkout" || verb === "switch") return checkOut(standing, args, words.slice(1));
  return standing;
}

function addRemote(standing: Standing, remote: string): Standing {
  if (/^(?:origin|upstream)?$/.test(remote)) return standing;
  return { ...standing, remotes: new Set([...standing.remotes, remote]) };
}

/** `git fetch origin pull/12/head:name` brings a pull request, with or without a name. */
function fetchFrom(standing: Standing, [, ...refs]: readonly string[]): Standing {
  const pull = refs.map((ref) => pullRef.exec(ref)).find((found) => found !== null);
  if (!pull) return standing;
  const [, number = "?", local] = pull;
  const fetched = local === undefined ? standing.fetched : new Set([...standing.fetched, local]);
  return { ...standing, fetched, latest: `pull/${number}` };
}

const pullRef =
  /^\+?(?:refs\/)?(?:pull|pull-requests|merge-requests)\/(\d+)\/\w+(?::(?:refs\/heads\/)?(\S+))?$/;

function checkOut(standing: Standing, args: readonly string[], words: readonly string[]): Standing {
  const isPaths = args.includes("--") || words.length === 0;
  const isNew = args.some((arg) => /^-(?:[bBcCt]|-create|-track|-orphan|-force-create)$/.test(arg));
  const target = words.at(-1) ?? "";
  const source = findSource(standing, target);
  if (source !== null) return { ...standing, foreign: isNew ? (words[0] ?? source) : source, arriving: true };
  if (isPaths) return standing;
  // A branch of one's own that begins at somebody else's still holds their commits.
  if (isNew) return { ...standing, arriving: standing.foreign !== null };
  return { ...standing, foreign: null, arriving: false };
}

/** Whose branch a name means, if somebody else's. */
function findSource({ fetched, remotes, latest }: Standing, target: string): string | null {
  if (target === "FETCH_HEAD") return latest;
  if (fetched.has(target) || pullName.test(target)) return target;
  const [remote = "", ...branch] = target.split("/");
  return branch.length > 0 && remotes.has(remote) ? branch.join("/") : null;
}
