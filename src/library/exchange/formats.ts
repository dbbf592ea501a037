import { stat } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import * as z from "zod/mini";
import { errorMessage, KnackError, listFilesBelow, readPlainFile } from "../../base/index.ts";
import { type ArtifactKind, findingKinds, noExcerpt, type Remedy } from "../../records/index.ts";
import { asSentence, findSection, oneLine, quoteYaml, slugify } from "../../text/index.ts";
import { hashBytes } from "../files/disk.ts";

/** Limits per line, list and bundle, and per skill: its number of files and the characters of each. */
const limits = {
  lineChars: 5_000,
  entries: 100,
  lessons: 10_000,
  skills: 200,
  skillFiles: 50,
  skillChars: 1_000_000,
};

const artifactKinds: readonly ArtifactKind[] = ["skill", "rule", "command", "agent"];

const remedies: readonly Remedy[] = [
  ...(["wrapper", "program", "path", "environment", "directory", "flag", "argument", "none"] as const),
  ...(["elevation", "input", "step", "other-way", "edit"] as const),
];

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
  /** The project it was learned in; null if not stated. */
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

/** An exported skill, command or agent: its text files. */
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
type Bundle = z.infer<typeof bundleSchema>;
export type BundleContents = Pick<Bundle, "instincts" | "skills">;

/** A lesson or a skill that came by itself; neither where the text is none. */
export function readCarried(kind: "lesson" | "skill", text: string): Pick<Incoming, "lessons" | "skills"> {
  const parse = <Value>(shape: z.ZodMiniType<Value>): Value[] => {
    try {
      const parsed = z.safeParse(shape, JSON.parse(text));
      return parsed.success ? [parsed.data] : [];
    } catch {
      return [];
    }
  };
  return kind === "lesson"
    ? { lessons: parse(carriedLesson), skills: [] }
    : { lessons: [], skills: parse(carriedSkill) };
}

/** The bytes of a bundle, which is one JSON document; compressed where the file name ends in `.gz`. */
export async function packBundle(
  { instincts, skills }: BundleContents,
  madeAt: number,
  path: string,
): Promise<Buffer> {
  const bundle: Bundle = {
    ...{ format: "knack-bundle", version: 1, madeAt: new Date(madeAt).toISOString() },
    ...{ instincts, skills, manifest: makeManifest({ instincts, skills }) },
  };
  const plain = Buffer.from(`${JSON.stringify(bundle, null, 1)}\n`);
  return path.endsWith(".gz") ? promisify(gzip)(plain) : plain;
}

function makeManifest({ instincts, skills }: BundleContents): Bundle["manifest"] {
  const hashAll = (all: readonly unknown[]) => all.map((one) => hashBytes(JSON.stringify(one)));
  const parts = { instincts: hashAll(instincts), skills: hashAll(skills) };
  return { ...parts, all: hashBytes(JSON.stringify(parts)) };
}

/** The first mismatch with the manifest; null if intact. */
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
function parseBundle(text: string, path: string): BundleContents {
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
    const hint = "knack export --bundle makes one.";
    throw new KnackError("BAD_PACKAGE", `"${path}" is not a Knack bundle: ${reason}`, { hint });
  }
  // The value as it was written: the order of its fields is part of the hashes.
  const fault = findTampering(value as Bundle);
  if (fault !== null)
    throw new KnackError("BAD_PACKAGE", `"${path}" was changed after it was made: ${fault}.`, {
      hint: "Ask for it again.",
    });
  return parsed.data;
}

/** Bytes of a file that is imported, once unpacked; bytes of one file of ECC; files and lessons of a folder. */
const mostBytes = 20_000_000;
const mostEccBytes = 1_000_000;
const mostFiles = 5_000;
const mostLessons = 10_000;
/** Endings of files that hold ECC's instincts. */
const eccEndings: readonly string[] = [".md", ".yaml", ".yml"];

/** Contents of an import, and problems reading it. */
interface Incoming {
  /** Base name of the file or folder. */
  readonly from: string;
  readonly lessons: readonly CarriedLesson[];
  readonly skills: readonly CarriedSkill[];
  readonly problems: readonly string[];
}

/** Reads a bundle, a file of ECC's instincts, or a folder of them, from this machine only. */
export async function readExchange(path: string): Promise<Incoming> {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path))
    throw new KnackError("WRONG_USAGE", `"${path}" is a URL; Knack imports files only.`, {
      hint: "Download it, look at it, then import the file.",
    });
  const unreadable = (cause: unknown): never => {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    const says = isMissing ? `There is no file ${path}.` : `Cannot read ${path}: ${errorMessage(cause)}`;
    throw new KnackError("NOTHING_READABLE", says, { cause });
  };
  const found = await stat(path).catch(unreadable);
  const from = basename(path);
  if (found.isDirectory()) return { from, skills: [], ...(await readFolder(path, listEccFiles(path))) };
  if (!found.isFile())
    throw new KnackError("NOTHING_READABLE", `"${path}" is neither a file nor a folder.`, {
      hint: "Write what it gives into a file, look at it, then import the file.",
    });
  if (found.size > mostBytes) throw describeTooLarge(path);
  const bytes = await readImport(path).catch(unreadable);
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
function listEccFiles(folder: string): string[] {
  return listFilesBelow(folder).filter((name) => eccEndings.includes(extname(name).toLowerCase()));
}

async function readImport(path: string): Promise<Buffer> {
  return readPlainFile(path, { maxBytes: mostBytes });
}

async function decodeFile(bytes: Buffer, path: string): Promise<string> {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.toString("utf8");
  try {
    return (await promisify(gunzip)(bytes, { maxOutputLength: mostBytes })).toString("utf8");
  } catch (cause) {
    if (cause instanceof RangeError) throw describeTooLarge(path);
    throw new KnackError("BAD_PACKAGE", `"${path}" is damaged: ${errorMessage(cause)}`, { cause });
  }
}

function describeTooLarge(path: string): KnackError {
  return new KnackError("BAD_PACKAGE", `"${path}" is larger than ${mostBytes / 1e6} MB.`);
}

/** ECC's instincts below a folder: its own layout, or any other; what lies in a project's folder is that project's. */
async function readFolder(folder: string, names: readonly string[]) {
  const inLayout = names.filter((name) => /(?:^|\/)instincts\//.test(name));
  const meant = inLayout.length > 0 ? inLayout : names;
  const refuseMany = (count: number, what: string, most: number) => {
    if (count > most)
      throw new KnackError(
        "BAD_PACKAGE",
        `"${folder}" has ${count} ${what}; at most ${most} are read at once.`,
      );
  };
  refuseMany(meant.length, "files", mostFiles);
  const lessons: CarriedLesson[] = [];
  const problems: string[] = [];
  for (const name of meant) {
    try {
      const project = /(?:^|\/)projects\/([^/]+)\//.exec(name)?.[1];
      const found = parseEcc(
        readPlainFile(join(folder, name), { within: folder, maxBytes: mostEccBytes }).toString("utf8"),
      );
      lessons.push(...found.lessons.map((one) => setProject(one, project)));
      problems.push(...found.problems.map((problem) => `${name}: ${problem}`));
    } catch (error) {
      problems.push(`${name}: ${errorMessage(error)}`);
    }
  }
  if (lessons.length === 0)
    throw new KnackError("NOTHING_READABLE", `"${folder}" holds no instincts.`, {
      hint:
        problems[0] ??
        "ECC keeps them below instincts/personal, instincts/inherited and projects/<id>/instincts.",
    });
  refuseMany(lessons.length, "instincts", mostLessons);
  return { lessons, problems };
}

/** A lesson with the project that its folder tells, where it does not say so itself. */
function setProject(lesson: CarriedLesson, project: string | undefined): CarriedLesson {
  if (project === undefined || lesson.scope === "user" || lesson.project?.id != null) return lesson;
  return { ...lesson, project: { id: project, name: lesson.project?.name ?? null } };
}

interface EccBlock {
  /** The fields as they are written. */
  readonly fields: Map<string, string>;
  readonly body: string[];
  isClosed: boolean;
}

/**
 * The instincts in an ECC file: repeated blocks of flat front matter between two lines of `---`, then Markdown. A block
 * without an id is skipped; a confidence that is not a number counts as 0.5. A block with an id that cannot be parsed
 * is reported, never imported in part.
 */
function parseEcc(text: string) {
  const blocks: EccBlock[] = [];
  let isFront = false;
  for (const line of text.replaceAll("\r\n", "\n").split("\n")) {
    const block = blocks.at(-1);
    if (line.trim() === "---") {
      isFront = !isFront;
      if (isFront) blocks.push({ fields: new Map(), body: [], isClosed: false });
      else if (block) block.isClosed = true;
      continue;
    }
    // A title cannot be a field: the front matter was never closed, and the next line of --- begins another.
    if (isFront && line.startsWith("## ")) isFront = false;
    const colon = line.indexOf(":");
    if (!isFront) block?.body.push(line);
    else if (colon > 0) block?.fields.set(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
  }
  const read = blocks.flatMap((block) => (block.fields.has("id") ? readBlock(block) : []));
  return {
    lessons: read.filter((one) => typeof one !== "string"),
    problems: read.filter((one) => typeof one === "string"),
  };
}

/** The instinct in a block, or why there is none. */
function readBlock({ fields: written, body, isClosed }: EccBlock): CarriedLesson | string {
  const fields = new Map([...written].map(([key, value]) => [key, unquote(value)]));
  const id = fields.get("id") ?? "";
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(id)) return `the id "${oneLine(id).slice(0, 60)}" is none`;
  if (!isClosed) return `${id}: its front matter has no closing ---`;
  const broken = [...written].find(([, value]) => isBroken(value));
  if (broken) return `${id}: its ${oneLine(broken[0]).slice(0, 60)} cannot be read`;
  const readSection = (title: string) => {
    const section = findSection(body, title);
    return section ? body.slice(section.from, section.to).join("\n").trim() : "";
  };
  const title = body.find((line) => line.startsWith("# ")) ?? "";
  const heading = title.slice(2).trim();
  // A title that only repeats the id tells nobody what to do.
  const advice = heading.toLowerCase() === id.replaceAll("-", " ").toLowerCase() ? "" : heading;
  const action = oneLine(readSection("Action").split(/\n\s*\n/)[0] ?? "") || advice;
  if (action === "") return `${id}: it does not say what to do (## Action)`;
  const trigger = oneLine(fields.get("trigger") ?? "") || heading || id.replaceAll("-", " ");
  const capital = trigger.slice(0, 1).toUpperCase() + trigger.slice(1);
  const [projectId, projectName] = [fields.get("project_id") || null, fields.get("project_name") || null];
  return {
    name: slugify(id) || id,
    trigger,
    action,
    lesson: oneLine(readSection("Lesson")) || asSentence(`${capital}: ${action}`),
    confidence: readConfidence(fields.get("confidence")),
    domain: fields.get("domain") ?? "workflow",
    scope: fields.get("scope") === "global" ? "user" : "project",
    project: (projectId ?? projectName) ? { id: projectId, name: projectName } : null,
    kind: findingKinds.find((kind) => kind === fields.get("kind")) ?? "convention",
    artifact: artifactKinds.find((kind) => kind === fields.get("artifact")) ?? "rule",
    ...{ steps: [], keywords: [], remedy: null, call: null, excerpt: noExcerpt, sessions: 0 },
  };
}

/** Whether a field begins something that it does not end. */
function isBroken(value: string): boolean {
  const end = { "[": "]", "{": "}", '"': '"', "'": "'" }[value.slice(0, 1)];
  return end !== undefined && !value.slice(1).includes(end);
}

function readConfidence(text = ""): number {
  const value = text === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : 0.5;
}

function unquote(value: string): string {
  if (/^".*"$/s.test(value) && value.length > 1)
    return value.slice(1, -1).replaceAll('\\"', '"').replaceAll("\\\\", "\\");
  if (/^'.*'$/s.test(value) && value.length > 1) return value.slice(1, -1).replaceAll("''", "'");
  return value;
}

/** ECC's id of a project: the start of the hash of its remote or folder. */
export function eccProjectId(project: string): string {
  return hashBytes(project).slice(0, 12);
}

/**
 * Files for ECC's folder, by their paths below it: what holds everywhere in `instincts/personal`, a project's in
 * `projects/<id>/instincts/personal`. Two lessons of one name get a number.
 */
export function renderEccFiles(lessons: readonly CarriedLesson[]): Map<string, string> {
  const files = new Map<string, string>();
  for (const lesson of lessons) {
    const named = lesson.project?.id ?? lesson.project?.name ?? null;
    const isHash = named !== null && /^[0-9a-f]{12}$/.test(named);
    const projectId = lesson.scope === "user" || named === null ? null : isHash ? named : eccProjectId(named);
    const folder = projectId === null ? "instincts/personal" : `projects/${projectId}/instincts/personal`;
    const stem = slugify(lesson.name, 120) || "lesson";
    let id = stem;
    for (let n = 2; files.has(`${folder}/${id}.md`); n++) id = `${stem}-${n}`;
    files.set(`${folder}/${id}.md`, renderEcc(lesson, id, projectId));
  }
  return files;
}

/** One instinct as ECC reads it. */
function renderEcc(carried: CarriedLesson, id: string, projectId: string | null): string {
  const { trigger, confidence, domain, scope, project, kind, artifact, action, lesson, sessions } = carried;
  const { failed, worked, said } = carried.excerpt;
  const isOwn = scope === "project";
  const evidence = [
    ...(sessions > 0 ? [`- Seen in ${sessions} ${sessions === 1 ? "session" : "sessions"}`] : []),
    ...(failed === null ? [] : [`- Failed: ${oneLine(failed)}`]),
    ...(worked === null ? [] : [`- Worked: ${oneLine(worked)}`]),
    ...(said === null ? [] : [`- Said: ${oneLine(said)}`]),
  ];
  return [
    "---",
    `id: ${id}`,
    `trigger: ${quoteYaml(oneLine(trigger))}`,
    `confidence: ${Math.round(confidence * 100) / 100}`,
    `domain: ${domain}`,
    'source: "session-observation"',
    `scope: ${isOwn ? "project" : "global"}`,
    ...(isOwn && projectId !== null ? [`project_id: ${quoteYaml(oneLine(projectId))}`] : []),
    ...(isOwn && project?.name != null ? [`project_name: ${quoteYaml(oneLine(project.name))}`] : []),
    `kind: ${kind}`,
    `artifact: ${artifact}`,
    "---",
    "",
    `# ${id.replaceAll("-", " ")}`,
    "",
    "## Action",
    oneLine(action),
    "",
    "## Lesson",
    oneLine(lesson),
    "",
    "## Evidence",
    ...(evidence.length > 0 ? evidence : ["- Carried over by Knack"]),
    "",
  ].join("\n");
}
