import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import * as z from "zod/mini";
import { type Bundle, bundleFormat, faultInBundle } from "../core/bundle.ts";
import { artifactKinds, type Carried, remedies } from "../core/carried.ts";
import { eccEndings, parseEcc } from "../core/ecc.ts";
import { KnackError, messageIn } from "../core/errors.ts";
import { findingKinds } from "../core/finding.ts";
import { policy } from "../core/policy.ts";
import type { Incoming } from "../engine/exchange.ts";

const unpack = promisify(gunzip);
const pack = promisify(gzip);

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** What ECC calls a project: the first of the hash of its remote, or of its folder. */
export function eccProjectId(project: string): string {
  return sha256(project).slice(0, 12);
}

/** What a file or a folder holds for somebody else, and what in it could not be read. */
export type Reading = Incoming & { readonly problems: readonly string[] };

/** Reads a bundle, a file of ECC's instincts, or a folder of them. Only from this machine: an address is refused. */
export async function readExchange(path: string): Promise<Reading> {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path))
    throw new KnackError("WRONG_USAGE", `"${path}" is an address; Knack reads files only.`, {
      hint: "Download it, look at it, then import the file.",
    });
  const unreadable = (cause: unknown): never => {
    throw new KnackError("NOTHING_READABLE", `"${path}" cannot be read: ${messageIn(cause)}`, { cause });
  };
  const found = await stat(path).catch(unreadable);
  const from = basename(path);
  if (found.isDirectory()) return readFolder(path, from, await below(path).catch(unreadable));
  // A pipe or a device may never end.
  if (!found.isFile())
    throw new KnackError("NOTHING_READABLE", `"${path}" is neither a file nor a folder.`, {
      hint: "Write what it gives into a file, look at it, then import the file.",
    });
  if (found.size > policy.carry.bytes) throw tooLarge(path);
  const bytes = await readFile(path).catch(unreadable);
  const text = (await textOf(bytes, path)).replace(/^\ufeff/, "");
  if (/^\s*\{/.test(text)) return { ...readBundle(text, path), from, problems: [] };
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
async function below(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter(
      (entry) => entry.isFile() && eccEndings.some((ending) => ending === extname(entry.name).toLowerCase()),
    )
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

async function textOf(bytes: Buffer, path: string): Promise<string> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.toString("utf8");
  try {
    return (await unpack(bytes, { maxOutputLength: policy.carry.bytes })).toString("utf8");
  } catch (cause) {
    if (cause instanceof RangeError) throw tooLarge(path);
    throw new KnackError("BAD_PACKAGE", `"${path}" is damaged: ${messageIn(cause)}`, { cause });
  }
}

function tooLarge(path: string): KnackError {
  return new KnackError("BAD_PACKAGE", `"${path}" is larger than ${policy.carry.bytes / 1e6} MB.`);
}

/** ECC's instincts below a folder: its own layout, or any other; what lies in a project's folder is that project's. */
async function readFolder(folder: string, from: string, names: readonly string[]): Promise<Reading> {
  const isLayout = names.some((name) => /(?:^|[\\/])instincts[\\/]/.test(name));
  const meant = names.filter((name) => !isLayout || /(?:^|[\\/])instincts[\\/]/.test(name));
  if (meant.length > policy.carry.files)
    throw new KnackError(
      "BAD_PACKAGE",
      `"${folder}" has ${meant.length} files; ${policy.carry.files} are read at once.`,
    );
  const lessons: Carried[] = [];
  const problems: string[] = [];
  for (const name of meant) {
    try {
      const { size } = await stat(join(folder, name));
      if (size > policy.carry.skillBytes) throw new Error("it is too large");
      const project = /(?:^|[\\/])projects[\\/]([^\\/]+)[\\/]/.exec(name)?.[1];
      const found = parseEcc(await readFile(join(folder, name), "utf8"));
      lessons.push(...found.lessons.map((one) => placed(one, project)));
      problems.push(...found.problems.map((problem) => `${name.split(sep).join("/")}: ${problem}`));
    } catch (error) {
      problems.push(`${name.split(sep).join("/")}: ${messageIn(error)}`);
    }
  }
  if (lessons.length === 0)
    throw new KnackError("NOTHING_READABLE", `"${folder}" holds no instincts.`, {
      hint:
        problems[0] ??
        "ECC keeps them below instincts/personal, instincts/inherited and projects/<id>/instincts.",
    });
  if (lessons.length > policy.carry.lessons)
    throw new KnackError(
      "BAD_PACKAGE",
      `"${folder}" holds ${lessons.length} instincts; ${policy.carry.lessons} are read at once.`,
    );
  return { from, lessons, skills: [], problems };
}

/** A lesson with the project that its folder tells, where it does not say so itself. */
function placed(lesson: Carried, project: string | undefined): Carried {
  if (project === undefined || lesson.scope === "user" || lesson.project?.id != null) return lesson;
  return { ...lesson, project: { id: project, name: lesson.project?.name ?? null } };
}

const line = z.string().check(z.maxLength(policy.keep.eventChars));
const few = z.array(line).check(z.maxLength(100));
const maybe = z.nullable(line);
const carried = z.object({
  name: line,
  trigger: line,
  action: line,
  lesson: line,
  steps: few,
  keywords: few,
  confidence: z.number().check(z.gte(0), z.lte(1)),
  domain: line,
  scope: z.enum(["project", "user"]),
  project: z.nullable(z.object({ id: maybe, name: maybe })),
  kind: z.enum(findingKinds),
  artifact: z.enum(artifactKinds),
  remedy: z.nullable(z.enum(remedies)),
  call: z.nullable(few),
  excerpt: z.object({ failed: maybe, error: maybe, worked: maybe, said: maybe, replied: maybe }),
  sessions: z.int().check(z.gte(0)),
});
const file = z.object({
  path: z.string().check(z.maxLength(1_000)),
  mode: z.int(),
  text: z.string().check(z.maxLength(policy.carry.skillBytes)),
});
const skill = z.object({
  kind: z.optional(z.enum(["skill", "command", "agent"])),
  name: z.string().check(z.maxLength(200)),
  description: z.string().check(z.maxLength(2_000)),
  files: z.array(file).check(z.maxLength(policy.carry.skillFiles)),
});
const hashes = z.array(z.string());
const bundle = z.object({
  format: z.literal(bundleFormat),
  version: z.literal(1),
  madeAt: z.string(),
  instincts: z.array(carried).check(z.maxLength(policy.carry.lessons)),
  skills: z.array(skill).check(z.maxLength(policy.carry.skills)),
  manifest: z.object({ instincts: hashes, skills: hashes, all: z.string() }),
});

function readBundle(text: string, path: string): Pick<Incoming, "lessons" | "skills"> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new KnackError("BAD_PACKAGE", `"${path}" is damaged: it is no JSON.`, { cause });
  }
  const parsed = bundle.safeParse(value);
  if (!parsed.success) {
    const [first] = parsed.error.issues;
    throw new KnackError(
      "BAD_PACKAGE",
      `"${path}" is no bundle of Knack's: ${first?.path.join(".")}: ${first?.message}`,
      {
        hint: "knack export --bundle makes one.",
      },
    );
  }
  // As it was written: the order of its fields is part of what was hashed.
  const fault = faultInBundle(value as Bundle, sha256);
  if (fault !== null)
    throw new KnackError("BAD_PACKAGE", `"${path}" was changed after it was made: ${fault}.`, {
      hint: "Ask for it once more.",
    });
  return { lessons: parsed.data.instincts, skills: parsed.data.skills };
}

/** The bytes of a bundle: plain JSON, or packed where its file is called so. */
export async function bundleBytes(made: Bundle, path: string): Promise<Buffer> {
  const plain = Buffer.from(`${JSON.stringify(made, null, 1)}\n`);
  return path.endsWith(".gz") ? pack(plain) : plain;
}
