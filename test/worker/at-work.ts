import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Note, writeNote } from "../../src/spool/spool.ts";
import { dump } from "../helpers/dump.ts";
import { knackHere } from "../helpers/here.ts";
import { type Home, noPython } from "../helpers/hook.ts";
import { knack, type Ran } from "../helpers/knack.ts";
import { asked, day, failed, hour, type Lived, ran, writeLived } from "../helpers/lived.ts";

/** Notes as hooks leave them, about sessions that taught something. */
export interface Work {
  readonly transcripts: readonly string[];
  readonly notes: readonly Note[];
}

const lessons: Lived["steps"][] = [
  [asked("go on"), failed("python manage.py migrate", noPython), ran("python3 manage.py migrate")],
  [
    asked("go on"),
    failed("make test", "error: connect ECONNREFUSED 127.0.0.1:5432"),
    ran("docker compose up -d db"),
    ran("make test"),
  ],
];

/** Writes sessions, and answers with the notes that hooks would leave of them. */
export function someWork({ home, project }: Pick<Home, "home" | "project">, sessions: number): Work {
  const begun = Date.now() - 3 * day;
  const lived = Array.from({ length: sessions }, (_, n) => ({
    name: `work${n}`,
    cwd: project,
    at: begun + n * hour,
    steps: lessons[n % lessons.length] ?? [],
  }));
  const transcripts = writeLived(home, lived);
  const notes = transcripts.flatMap((transcript, n): Note[] => [
    { type: "place", session: `work${n}`, transcript, cwd: project, event: "Stop", at: begun + n },
    {
      type: "shown",
      session: `work${n}`,
      transcript,
      project,
      lessonId: "i0",
      occasion: "prompt",
      text: `told ${n}`,
      at: begun + n,
    },
    { type: "asked", session: `work${n}`, project, lessonId: "i0", over: false, at: begun + n },
    { type: "asked", session: `work${n}`, project, lessonId: "i0", over: true, at: begun + n + 1 },
  ]);
  return { transcripts, notes };
}

export function leave({ knackHome }: Home, notes: readonly Note[]): void {
  for (const note of notes) writeNote(join(knackHome, "spool"), note);
}

export interface Worked {
  readonly busy: boolean;
  readonly notes: number;
  readonly sessions: number;
}

type Ended = Ran & { readonly worked: Worked | null };

/** Runs a worker to its end. */
export async function work({ home }: Home, killAfter?: number): Promise<Ended> {
  const run = await knack(["work", "--json"], { home, ...(killAfter === undefined ? {} : { killAfter }) });
  return { ...run, worked: run.code === 0 ? JSON.parse(run.stdout) : null };
}

/** The same in this process, where nothing depends on its being another one. */
export async function workHere({ home }: Home): Promise<Ended> {
  const run = await knackHere(["work", "--json"], { home });
  return { ...run, worked: run.code === 0 ? JSON.parse(run.stdout) : null };
}

/** Runs a worker that is ended by SIGKILL right after it made or moved a file; answers whether it came to that. */
export async function dieAt({ home }: Home, point: RegExp): Promise<boolean> {
  const mortal = pathToFileURL(join(import.meta.dirname, "mortal.mjs")).href;
  const env = { NODE_OPTIONS: `--import=${mortal}`, KNACK_DIES_AT: point.source };
  const { signal, code, stderr } = await knack(["work"], { home, env });
  if (signal !== "SIGKILL" && code !== 0) throw new Error(`A worker failed: ${stderr}`);
  return signal === "SIGKILL";
}

/** Files in a home's own folder whose path matches. */
export function filesLike({ knackHome }: Home, pattern: RegExp): string[] {
  try {
    return readdirSync(knackHome, { recursive: true, encoding: "utf8" }).filter((path) => pattern.test(path));
  } catch (error) {
    // A folder came and went while it was looked at.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** What came of the work, in words that are the same for every home and every time. */
export function outcome({ knackHome }: Home, since: number): Record<string, string[]> {
  const plain = (text: string) =>
    text
      .replaceAll(knackHome, "~")
      // A change goes by the path that it is made at.
      .replace(/\bc[0-9a-z]{11}\b/g, "c")
      .replace(/\b1\d{12}(?:\.\d+)?\b/g, (time) => (Number(time) >= since ? "later" : time));
  const tables = Object.entries(dump(join(knackHome, "knack.db")));
  const skills = filesLike({ knackHome } as Home, /^drafts\/.*\.md$/);
  return {
    ...Object.fromEntries(tables.map(([name, rows]) => [name, rows.map(plain).sort()])),
    drafts: skills.sort(),
  };
}

/** What a worker may never leave: notes, drafts of files, its sign. */
export function leftovers(home: Home): string[] {
  return filesLike(home, /\.new$|^worker\.json$|^spool\/(?:taken\/|aside\/)?[^/]+\.json$/);
}
