import { readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { errorMessage, KnackError } from "../../base/index.ts";
import { type CarriedLesson, parseBundle } from "./bundle.ts";
import { eccEndings, parseEcc } from "./ecc.ts";
import type { Incoming } from "./exchange.ts";

/** Bytes of a file that is imported, once unpacked; bytes of one file of ECC; files and lessons of a folder. */
const mostBytes = 20_000_000;
const mostEccBytes = 1_000_000;
const mostFiles = 5_000;
const mostLessons = 10_000;

/** What a file or a folder holds, and what in it could not be read. */
export type ExchangeReading = Incoming & { readonly problems: readonly string[] };

/** Reads a bundle, a file of ECC's instincts, or a folder of them, from this machine only. */
export async function readExchange(path: string): Promise<ExchangeReading> {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path))
    throw new KnackError("WRONG_USAGE", `"${path}" is a URL; Knack imports files only.`, {
      hint: "Download it, look at it, then import the file.",
    });
  const unreadable = (cause: unknown): never => {
    throw new KnackError("NOTHING_READABLE", `"${path}" cannot be read: ${errorMessage(cause)}`, { cause });
  };
  const found = await stat(path).catch(unreadable);
  const from = basename(path);
  if (found.isDirectory()) return readFolder(path, from, await listEccFiles(path).catch(unreadable));
  // A pipe or a device may never end.
  if (!found.isFile())
    throw new KnackError("NOTHING_READABLE", `"${path}" is neither a file nor a folder.`, {
      hint: "Write what it gives into a file, look at it, then import the file.",
    });
  if (found.size > mostBytes) throw tooLarge(path);
  const bytes = await readFile(path).catch(unreadable);
  const text = (await decodeFile(bytes, path)).replace(/^\ufeff/, "");
  if (/^\s*\{/.test(text)) {
    const { instincts, skills } = parseBundle(text, path);
    return { from, lessons: instincts, skills, problems: [] };
  }
  const { lessons, problems } = parseEcc(text);
  if (lessons.length === 0)
    throw new KnackError("NOTHING_READABLE", `"${path}" holds no instinct and is no bundle.`, {
      hint:
        problems[0] ??
        "An instinct begins with a line of ---, its fields (id, trigger, confidence …) and another line of ---.",
    });
  return { from, lessons, skills: [], problems };
}

/** The files below a folder that may hold ECC's instincts. */
async function listEccFiles(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter(
      (entry) => entry.isFile() && eccEndings.some((ending) => ending === extname(entry.name).toLowerCase()),
    )
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

async function decodeFile(bytes: Buffer, path: string): Promise<string> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.toString("utf8");
  try {
    return (await promisify(gunzip)(bytes, { maxOutputLength: mostBytes })).toString("utf8");
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(path);
    throw new KnackError("BAD_PACKAGE", `"${path}" is damaged: ${errorMessage(cause)}`, { cause });
  }
}

function tooLarge(path: string): KnackError {
  return new KnackError("BAD_PACKAGE", `"${path}" is larger than ${mostBytes / 1e6} MB.`);
}

/** ECC's instincts below a folder: its own layout, or any other; what lies in a project's folder is that project's. */
async function readFolder(folder: string, from: string, names: readonly string[]): Promise<ExchangeReading> {
  const isLayout = names.some((name) => /(?:^|[\\/])instincts[\\/]/.test(name));
  const meant = names.filter((name) => !isLayout || /(?:^|[\\/])instincts[\\/]/.test(name));
  if (meant.length > mostFiles)
    throw new KnackError(
      "BAD_PACKAGE",
      `"${folder}" has ${meant.length} files; ${mostFiles} are read at once.`,
    );
  const lessons: CarriedLesson[] = [];
  const problems: string[] = [];
  for (const name of meant) {
    try {
      const { size } = await stat(join(folder, name));
      if (size > mostEccBytes) throw new Error("it is too large");
      const project = /(?:^|[\\/])projects[\\/]([^\\/]+)[\\/]/.exec(name)?.[1];
      const found = parseEcc(await readFile(join(folder, name), "utf8"));
      lessons.push(...found.lessons.map((one) => setProject(one, project)));
      problems.push(...found.problems.map((problem) => `${name.split(sep).join("/")}: ${problem}`));
    } catch (error) {
      problems.push(`${name.split(sep).join("/")}: ${errorMessage(error)}`);
    }
  }
  if (lessons.length === 0)
    throw new KnackError("NOTHING_READABLE", `"${folder}" holds no instincts.`, {
      hint:
        problems[0] ??
        "ECC keeps them below instincts/personal, instincts/inherited and projects/<id>/instincts.",
    });
  if (lessons.length > mostLessons)
    throw new KnackError(
      "BAD_PACKAGE",
      `"${folder}" holds ${lessons.length} instincts; ${mostLessons} are read at once.`,
    );
  return { from, lessons, skills: [], problems };
}

/** A lesson with the project that its folder tells, where it does not say so itself. */
function setProject(lesson: CarriedLesson, project: string | undefined): CarriedLesson {
  if (project === undefined || lesson.scope === "user" || lesson.project?.id != null) return lesson;
  return { ...lesson, project: { id: project, name: lesson.project?.name ?? null } };
}
