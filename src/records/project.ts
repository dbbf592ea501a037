/** The repository or folder that sessions belong to. */
export interface Project {
  /** The normalised remote, or the root folder where there is none. */
  readonly id: string;
  readonly name: string;
  readonly root: string | null;
}

/** What the disk knows of a working folder. */
export interface Checkout {
  /** The folder that holds the repository; for a worktree, its main repository's. */
  readonly root: string;
  /** The worktree that the folder is in, where that is another than the root. */
  readonly worktree?: string;
  readonly remote: string | null;
}

/** Which project a session that ran in `cwd` belongs to: by origin remote, then git root, then folder. */
export function identifyProject(
  cwd: string | null,
  remote: string | null,
  checkout: Checkout | null,
): Project {
  const root = checkout?.root ?? (cwd === null ? null : withoutWorktree(trimSlash(cwd)));
  const origin = normaliseRemote(checkout?.remote ?? remote ?? "");
  if (origin !== null) return { id: origin, name: lastPart(origin), root };
  if (root !== null) return { id: root, name: lastPart(root) || root, root };
  return { id: "unknown", name: "unknown", root: null };
}

/**
 * One name for all spellings of a remote: `host/owner/repo`, without scheme, credentials, port and `.git`.
 * Null for what is no remote.
 */
export function normaliseRemote(remote: string): string | null {
  const url = remote.trim();
  if (url === "") return null;
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url);
  if (scheme?.[1]?.toLowerCase() === "file") return tidy(url.slice(scheme[0].length));
  if (scheme) {
    // Credentials end at the last @ before the host; a password may hold a slash, and a path an @.
    const rest = url
      .slice(scheme[0].length)
      .replace(/[?#].*$/s, "")
      .replace(/^(?:[^/]*|[^/@:]*:(?!\d+\/)[^@]*)@/, "");
    return tidy(rest.replace(/^([^/:]+):\d+/, "$1").toLowerCase());
  }
  // scp form: user@host:path. A Windows drive (`C:\`) and a plain path are local.
  const scp = /^(?:[^@/\s]+@)?([^:/\\\s]{2,}):(?!\\)(.+)$/.exec(url);
  return scp ? tidy(`${scp[1]}/${(scp[2] ?? "").replace(/^\/+/, "")}`.toLowerCase()) : tidy(url);
}

/**
 * By which id each project is to be counted. A session that brought no remote, and whose folder is gone, knows only
 * that folder: where a project with a remote has it, or one above it, they are one project.
 */
export function resolveProjectIds(
  projects: ReadonlyMap<string, { readonly root: string | null }>,
): (project: string) => string {
  const remotes = new Map<string, string>();
  for (const [id, { root }] of projects) {
    if (root === null || root === id || isHome(root)) continue;
    const known = remotes.get(root);
    // Of two remotes that were in one folder, the one that sorts first: whichever was seen first.
    if (known === undefined || id < known) remotes.set(root, id);
  }
  return (project) => {
    const root = projects.get(project)?.root;
    if (remotes.size === 0 || root !== project) return project;
    for (let at = root; at.length > 1; at = above(at)) {
      const found = remotes.get(at);
      if (found !== undefined) return found;
    }
    return project;
  };
}

function above(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/"), path.lastIndexOf("\\")));
}

/** Who keeps a whole home folder in a repository has other projects in it. */
function isHome(root: string): boolean {
  return /^(?:\/(?:home|Users)\/[^/]+|\/root|[A-Za-z]:\\Users\\[^\\]+|\/|[A-Za-z]:\\?)$/.test(root);
}

function tidy(path: string): string | null {
  return trimSlash(path).replace(/\.git$/i, "") || null;
}

function trimSlash(path: string): string {
  return path.length > 1 ? path.replace(/[/\\]+$/, "") : path;
}

function lastPart(path: string): string {
  return path.split(/[/\\]/).pop() ?? path;
}

/** The repository of a worktree that an agent made inside it and that is gone from disk. */
function withoutWorktree(path: string): string {
  return path.replace(/[/\\]\.(?:claude[/\\])?worktrees[/\\][^/\\]+.*$/, "") || path;
}
