import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { knackHere } from "./here.ts";
import { root } from "./knack.ts";
import { tempFolder } from "./temp.ts";

/** A machine with a person's home, the repositories of the examples in it, and their sessions, as of yesterday. */
export interface Machine {
  readonly home: string;
  readonly harbor: string;
  readonly tidewatch: string;
}

interface MachineOptions {
  readonly sessions?: RegExp;
  /** An empty folder, if the machine is for more than one test. */
  readonly home?: string;
}

export function machine({ sessions = /./, home = tempFolder() }: MachineOptions = {}): Machine {
  const [harbor, tidewatch] = ["harbor-api", "tidewatch"].map((name) => join(home, "work", name)) as [
    string,
    string,
  ];
  for (const folder of [harbor, tidewatch]) mkdirSync(join(folder, ".git/info"), { recursive: true });
  const made = { home, harbor, tidewatch };
  for (const path of exampleSessions().filter((one) => sessions.test(one))) addExample(made, path);
  return made;
}

/** The recorded sessions, as paths below the examples. */
export function exampleSessions(): string[] {
  const folder = join(root, "examples/sessions");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .sort();
}

/** Puts one recorded session where its agent would have left it. */
export function addExample({ home, harbor, tidewatch }: Machine, example: string): string {
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const text = readFileSync(join(root, "examples/sessions", example), "utf8")
    .replaceAll("/home/dev/harbor-api", harbor)
    .replaceAll("/home/dev/tidewatch", tidewatch)
    .replace(/"\d{4}-\d\d-\d\d(T\d\d:\d\d)/g, `"${day}$1`);
  const folder = example.startsWith("codex") ? ".codex/sessions/2026/11/15" : ".claude/projects/harbor";
  const path = join(home, folder, basename(example));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** Every file below a folder with its text, to compare with another time. */
export function filesIn(folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    files[path.slice(folder.length + 1)] = readFileSync(path, "latin1");
  }
  return files;
}

/** The sessions in which the tests needed a database. */
export const databaseSessions = /tests-need-a-database|generated-again/;

/** What the lesson about that database is called, which is for the rules to say. */
export async function nameOfSkill(): Promise<string> {
  const { stdout } = await knackHere(["learn", join(root, "examples/sessions"), "--dry-run", "--json"], {
    home: "/nowhere",
  });
  const { findings } = JSON.parse(stdout) as {
    findings: { name: string; artifact: string; action: string }[];
  };
  const found = findings.find(({ artifact, action }) => artifact === "skill" && action.includes(".env.test"));
  if (!found) throw new Error("the examples teach no skill about a database");
  return found.name;
}

/** And what a lesson with these words in it is called. */
export async function nameOfLesson(words: RegExp): Promise<string> {
  const { stdout } = await knackHere(["learn", join(root, "examples/sessions"), "--dry-run", "--json"], {
    home: "/nowhere",
  });
  const { lessons } = JSON.parse(stdout) as { lessons: { name: string; lesson: string }[] };
  const found = lessons.find(({ lesson }) => words.test(lesson));
  if (!found) throw new Error(`the examples teach nothing about ${words}`);
  return found.name;
}
