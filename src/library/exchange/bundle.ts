import { promisify } from "node:util";
import { gzip } from "node:zlib";
import * as z from "zod/mini";
import { KnackError } from "../../base/index.ts";
import { findingKinds } from "../../records/index.ts";
import { hashBytes } from "../files/disk.ts";
import { artifactKinds, remedies } from "./carried.ts";

/** What is accepted: characters of a line, entries of a list, lessons and skills of a bundle, files and characters of a skill. */
const limits = {
  lineChars: 5_000,
  entries: 100,
  lessons: 10_000,
  skills: 200,
  skillFiles: 50,
  skillChars: 1_000_000,
};

const line = z.string().check(z.maxLength(limits.lineChars));
const lines = z.readonly(z.array(line).check(z.maxLength(limits.entries)));
const maybe = z.nullable(line);

/** A lesson on its way from one person or tool to another. */
const carriedLesson = z.object({
  name: line,
  trigger: line,
  action: line,
  lesson: line,
  steps: lines,
  keywords: lines,
  confidence: z.number().check(z.gte(0), z.lte(1)),
  /** The part of the work that it is about, in the sender's words. */
  domain: line,
  scope: z.enum(["project", "user"]),
  /** The project it was learned in; null where that is not told. */
  project: z.nullable(z.object({ id: maybe, name: maybe })),
  kind: z.enum(findingKinds),
  artifact: z.enum(artifactKinds),
  remedy: z.nullable(z.enum(remedies)),
  call: z.nullable(lines),
  excerpt: z.object({ failed: maybe, error: maybe, worked: maybe, said: maybe, replied: maybe }),
  /** How many sessions taught it. */
  sessions: z.int().check(z.gte(0)),
});

const carriedFile = z.object({
  path: z.string().check(z.maxLength(1_000)),
  mode: z.int(),
  text: z.string().check(z.maxLength(limits.skillChars)),
});

/** A skill, command or agent on its way to somebody else: its text files. */
const carriedSkill = z.object({
  /** A skill where nothing is said. */
  kind: z.optional(z.enum(["skill", "command", "agent"])),
  name: z.string().check(z.maxLength(200)),
  description: z.string().check(z.maxLength(2_000)),
  files: z.readonly(z.array(carriedFile).check(z.maxLength(limits.skillFiles))),
});

const hashes = z.readonly(z.array(z.string()));
const bundleSchema = z.object({
  format: z.literal("knack-bundle"),
  version: z.literal(1),
  madeAt: z.string(),
  instincts: z.readonly(z.array(carriedLesson).check(z.maxLength(limits.lessons))),
  skills: z.readonly(z.array(carriedSkill).check(z.maxLength(limits.skills))),
  /** Hashes in order, which show damage and edits; they are no signature. */
  manifest: z.object({ instincts: hashes, skills: hashes, all: z.string() }),
});

export type CarriedLesson = z.infer<typeof carriedLesson>;
export type CarriedSkill = z.infer<typeof carriedSkill>;
/** What somebody hands to a colleague: one JSON document. */
export type Bundle = z.infer<typeof bundleSchema>;
type BundleContents = Pick<Bundle, "instincts" | "skills">;

export function makeBundle({ instincts, skills }: BundleContents, madeAt: number): Bundle {
  const manifest = makeManifest({ instincts, skills });
  return {
    ...{ format: "knack-bundle", version: 1, madeAt: new Date(madeAt).toISOString() },
    ...{ instincts, skills, manifest },
  };
}

function makeManifest({ instincts, skills }: BundleContents): Bundle["manifest"] {
  const hashAll = (all: readonly unknown[]) => all.map((one) => hashBytes(JSON.stringify(one)));
  const parts = { instincts: hashAll(instincts), skills: hashAll(skills) };
  return { ...parts, all: hashBytes(JSON.stringify(parts)) };
}

/** What does not match the manifest; null where nothing was changed. */
function findTampering(bundle: Bundle): string | null {
  const { manifest } = bundle;
  const found = makeManifest(bundle);
  for (const part of ["instincts", "skills"] as const) {
    if (found[part].length !== manifest[part].length)
      return `it should have ${manifest[part].length} ${part}, and has ${found[part].length}`;
    const at = found[part].findIndex((one, index) => one !== manifest[part][index]);
    if (at >= 0) return `"${bundle[part][at]?.name}" is not what was written`;
  }
  return found.all === manifest.all ? null : "its list of hashes is not what was written";
}

/** Parses and checks the text of a bundle. `path` is for messages. */
export function parseBundle(text: string, path: string): BundleContents {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new KnackError("BAD_PACKAGE", `"${path}" is damaged: it is not JSON.`, { cause });
  }
  const parsed = bundleSchema.safeParse(value);
  if (!parsed.success) {
    const [first] = parsed.error.issues;
    const reason = `${first?.path.join(".")}: ${first?.message}`;
    throw new KnackError("BAD_PACKAGE", `"${path}" is not a Knack bundle: ${reason}`, {
      hint: "knack export --bundle makes one.",
    });
  }
  // The value as it was written: the order of its fields is part of the hashes.
  const fault = findTampering(value as Bundle);
  if (fault !== null)
    throw new KnackError("BAD_PACKAGE", `"${path}" was changed after it was made: ${fault}.`, {
      hint: "Ask for it again.",
    });
  return parsed.data;
}

/** The bytes of a bundle: JSON, compressed where the file name ends in `.gz`. */
export async function packBundle(bundle: Bundle, path: string): Promise<Buffer> {
  const plain = Buffer.from(`${JSON.stringify(bundle, null, 1)}\n`);
  return path.endsWith(".gz") ? promisify(gzip)(plain) : plain;
}
