/** Exit codes by error code. */
const exits = {
  WRONG_USAGE: 2,
  NOTHING_READABLE: 2,
  BAD_PACKAGE: 2,
  LIBRARY_UNAVAILABLE: 2,
  UNKNOWN_NAME: 2,
  CONFIG_BROKEN: 2,
  TEAM_REFUSED: 2,
  TEAM_UNAVAILABLE: 2,
  STORE_DAMAGED: 3,
  STORE_VERSION: 3,
  STORE_UNAVAILABLE: 3,
  DISK_FULL: 3,
  VERSION_DAMAGED: 3,
} as const;

type ErrorCode = keyof typeof exits;

/** A failure the user can act on: a stable code, a sentence that names the thing, and the next step. */
export class KnackError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, { hint, cause }: { hint?: string; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "KnackError";
    this.code = code;
    this.hint = hint;
  }

  /** Goes by the name: the MCP server is bundled by itself, with a copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === "KnackError";
  }

  get exitCode(): number {
    return exits[this.code];
  }
}

/** Messages for operating system errors after which nothing more can be written. */
const diskFaults: Readonly<Record<string, string>> = {
  ENOSPC: "No space is left on the disk",
  EDQUOT: "Your quota on the disk is used up",
  EFBIG: "A file would grow beyond what is allowed",
  EROFS: "The disk is read-only",
  EIO: "The disk fails to read or write",
};

/** An error of a disk that takes no more, with the next step; null for any other error. */
export function explainDiskFault(error: unknown): KnackError | null {
  const { code = "", path } = error as NodeJS.ErrnoException;
  const fault = diskFaults[code];
  if (fault === undefined) return null;
  const where = path === undefined ? "" : `: ${path}`;
  const hint = "Make room and run the command again: what was kept before is not lost.";
  return new KnackError("DISK_FULL", `${fault}${where}.`, { hint, cause: error });
}

/** The message of any thrown value. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
