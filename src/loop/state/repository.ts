import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type * as z from "zod";
import { KnackError, listFilesBelow, readPlainText, writeFileAtomically } from "../../base/index.ts";
import { type Git, openGit } from "./git.ts";

/** A commit with the marks at the end of its message, and the files it changed. */
export interface StateCommit {
  readonly sha: string;
  readonly at: number;
  readonly subject: string;
  readonly files: readonly string[];
  /** The values of a mark. */
  readonly listMarks: (mark: StateMark) => readonly string[];
}

/** By these lines of a commit's message, something is done once. */
const marks = {
  ...{ run: "Knack-Run", change: "Knack-Change", record: "Knack-Record" },
  ...{ revert: "Knack-Reverts", curation: "Knack-Curation", curated: "Knack-Curated" },
};
type StateMark = keyof typeof marks;
type MarkLine = readonly [mark: StateMark, value: string];

const largestFile = 20_000_000;

/** The files of a state folder, and the commits that keep them. */
export class StateRepository {
  readonly path: string;
  readonly git: Git;

  constructor(path: string, searchPath: string | undefined) {
    this.path = path;
    this.git = openGit(path, searchPath);
  }

  /** Makes the repository with its first files, where there is none. */
  async prepare(files: Readonly<Record<string, string>>, at: number): Promise<void> {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    if (existsSync(join(this.path, ".git")) && (await this.git.ask(["rev-parse", "--verify", "HEAD"])))
      return;
    const found = listFilesBelow(this.path).filter((path) => !(path in files || path.startsWith(".git/")));
    // What a killed process was about to write is no stranger's.
    const drafts = found.filter((path) => path.replace(/\.\d+\.new$/, "") in files);
    for (const path of drafts) rmSync(join(this.path, path));
    const [strange] = found.filter((path) => !drafts.includes(path));
    if (strange !== undefined)
      throw new KnackError("WRONG_USAGE", `${this.path} is no state folder: it holds ${strange}.`, {
        hint: "Give --state an empty folder, or one that Knack made.",
      });
    this.#unlock();
    await this.git.run(["init", "--quiet"]);
    for (const [file, text] of Object.entries(files)) this.writeText(file, text);
    await this.commit("state: begin", [], [], at);
  }

  readText(file: string): string | null {
    return readPlainText(join(this.path, file), { within: this.path, maxBytes: largestFile });
  }

  /** Writes a file, or removes it for null. */
  writeText(file: string, text: string | null): void {
    const full = join(this.path, file);
    if (text === null) return rmSync(full, { force: true });
    mkdirSync(dirname(full), { recursive: true, mode: 0o700 });
    writeFileAtomically(full, [Buffer.from(text)]);
  }

  readJson<Schema extends z.ZodType>(file: string, schema: Schema): z.output<Schema> {
    const parsed = schema.safeParse(parseText(this.readText(file)));
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const where = issue?.path.join(".") || "the whole";
    throw new KnackError("STORE_DAMAGED", `${file} in ${this.path}: ${where}: ${issue?.message}.`, {
      hint: `Correct it, or take back the last good version: git -C ${this.path} checkout -- ${file}`,
    });
  }

  async readHead(): Promise<string> {
    return (await this.git.run(["rev-parse", "--verify", "HEAD"])).trim();
  }

  async readParent(sha: string): Promise<string> {
    return (await this.git.run(["rev-parse", "--verify", `${sha}^`])).trim();
  }

  async isClean(): Promise<boolean> {
    return (
      (await this.git.run(["status", "--porcelain", "--untracked-files=all", "--ignored"])).trim() === ""
    );
  }

  /** Whether Knack made commits since one, and nobody wrote anything else. */
  async hasMovedOn(sha: string): Promise<boolean> {
    const since = await this.git.ask(["rev-list", "--count", `${sha}..HEAD`]);
    const isAfter =
      since !== null && (await this.git.ask(["merge-base", "--is-ancestor", sha, "HEAD"])) !== null;
    if (!isAfter || Number(since) === 0 || !(await this.isClean())) return false;
    return (await this.readLog()).slice(0, Number(since)).every(isMarked);
  }

  /** Throws away what is not committed: a worker, or a killed process, left it. */
  async dropStrayWrites(): Promise<void> {
    this.#unlock();
    if (await this.isClean()) return;
    await this.git.run(["reset", "--quiet", "--hard", "HEAD"]);
    await this.git.run(["clean", "-dffxq"]);
  }

  #unlock(): void {
    dropLocks(join(this.path, ".git"), "index", "HEAD", "config", "refs/heads/main");
  }

  /** Commits everything that was written, or one `path` of it. */
  async commit(
    subject: string,
    body: readonly string[],
    lines: readonly MarkLine[],
    at: number,
    path = ".",
  ): Promise<string> {
    // Nothing else is there: what no state folder has was thrown away before.
    await this.git.run(["add", "--all", "--force", "--", path]);
    const marked = lines.map(([mark, value]) => `${marks[mark]}: ${value}`);
    const parts = [[subject], body, marked].filter((part) => part.length > 0);
    const message = parts.map((part) => part.join("\n")).join("\n\n");
    await this.git.run(["commit", "--quiet", "--no-verify", "--message", message], at);
    return this.readHead();
  }

  /** The commit with a mark; null where there is none. */
  async findMarked(mark: StateMark, value: string): Promise<StateCommit | null> {
    return (await this.readLog()).find((commit) => commit.listMarks(mark).includes(value)) ?? null;
  }

  /** Every commit, the newest first. */
  async readLog(): Promise<readonly StateCommit[]> {
    const text = await this.git.run(["log", "--format=%x01%H%x02%ct%x02%s%x02%B%x02", "--name-only"]);
    return text
      .split("\u0001")
      .slice(1)
      .map((part) => parseCommit(part.split("\u0002")));
  }
}

/** Removes locks that a killed git left in its folder; for who knows that no other git is at work there. */
export function dropLocks(gitFolder: string, ...names: readonly string[]): void {
  for (const name of names) rmSync(join(gitFolder, `${name}.lock`), { force: true });
}

function parseCommit([sha = "", seconds = "", subject = "", body = "", files = ""]: string[]): StateCommit {
  // Marks are the last part of a message: what stands before may be anybody's words.
  const last = body.trim().split("\n\n").at(-1)?.split("\n") ?? [];
  const listMarks = (mark: StateMark) =>
    last.flatMap((line) => (line.startsWith(`${marks[mark]}: `) ? line.slice(marks[mark].length + 2) : []));
  return {
    sha,
    at: Number(seconds) * 1000,
    subject,
    listMarks,
    files: files.trim().split("\n").filter(Boolean),
  };
}

function isMarked({ listMarks }: StateCommit): boolean {
  return (Object.keys(marks) as StateMark[]).some((mark) => listMarks(mark).length > 0);
}

function parseText(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}
