import type { Owner, Skill } from "../records/index.ts";
import { decodeUtf8 } from "../text/index.ts";
import {
  type Concern,
  type ConcernCode,
  isSafePath,
  maskStart,
  maxBodyChars,
  type Redactor,
  scan,
  scanSince,
} from "../trust/index.ts";
import type { PackageFile } from "./files/library.ts";
import { mainText } from "./publish/changes.ts";
import { maxDescriptionChars } from "./publish/render.ts";
import {
  findSkillProblems,
  parseFrontMatter,
  parseSkill,
  scanSkill,
  skillFile,
  skillOwner,
} from "./skill.ts";

/** What a package that an agent writes may hold. */
export const packageLimits = {
  files: 40,
  fileBytes: 200_000,
  packageBytes: 1_000_000,
  pathChars: 100,
} as const;

/** A file of a package as it is checked. */
export interface PackageText {
  readonly path: string;
  readonly bytes: number;
  /** Null for a binary file. */
  readonly text: string | null;
  /** The words in it, also of a binary file. */
  readonly words: string;
}

export function packageText({ path, bytes }: Pick<PackageFile, "path" | "bytes">): PackageText {
  const text = decodeUtf8(bytes);
  if (text !== null && !text.includes("\0")) return { path, bytes: bytes.length, text, words: text };
  return { path, bytes: bytes.length, text: null, words: findWords(bytes) };
}

/** The words among bytes, also of a text with two bytes for each letter. */
function findWords(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes).replaceAll("\0", "");
  return (text.match(/[\t\n\r\x20-\x7e\u00a0-\ufffc]{8,}/g) ?? []).join("\n");
}

/** The owner of a package, as far as its text tells; something new is learned. */
export function packageOwner(path: string, files: readonly PackageFile[] | null): Owner {
  return files === null ? "learned" : skillOwner(path, parseSkill(mainText(files)).skill);
}

/** The files that somebody hands in, and what among them is no plain file. */
export interface SubmittedFiles {
  readonly files: readonly PackageFile[];
  readonly links: readonly string[];
}

/** What is wrong with a package, each with its file and line; and what is only worth saying. */
export interface PackageReport {
  readonly faults: readonly string[];
  readonly remarks: readonly string[];
  /** Null when its `SKILL.md` cannot be read. */
  readonly skill: Skill | null;
}

interface Submission {
  readonly name: string;
  readonly files: readonly PackageText[];
  readonly links: readonly string[];
  /** What it replaces; null for something new. */
  readonly before: readonly PackageText[] | null;
  readonly owner: Owner;
}

/** Facts that Knack writes into a skill itself; an author cannot set them. */
export const knackFacts: ReadonlySet<string> = new Set([
  "origin",
  "quality",
  "evidence",
  "session",
  "events",
  "model",
  "author",
  "belongs-to",
  "auto-load",
]);

/**
 * Checks a package that an agent or a review wrote: form, sizes, secrets and what its texts say. What a person's skill
 * had before is theirs, and only worth a remark.
 */
export async function examinePackage(
  { redactor }: { readonly redactor: Redactor },
  name: string,
  { files, links }: SubmittedFiles,
  { before, owner }: { readonly before: readonly PackageFile[] | null; readonly owner: Owner },
): Promise<PackageReport> {
  const submission = {
    ...{ name, files: files.map(packageText), links, owner },
    before: before?.map(packageText) ?? null,
  };
  const layout = checkLayout(submission);
  const main = submission.files.find(({ path }) => path === skillFile);
  if (main === undefined || main.text === null) {
    const missing = main === undefined ? `${skillFile} is missing` : `${skillFile} is no text in UTF-8`;
    return { faults: [missing, ...layout], remarks: [], skill: null };
  }
  const { skill, problems } = parseSkill(main.text);
  const form = checkForm(submission, main.text, skill, problems);
  const words = scanPassages(submission);
  const known = [...form.faults, ...layout, ...words.faults, ...findMasks(submission)];
  const remarks = [...form.remarks, ...words.remarks];
  const secrets = await findSecrets(redactor, submission, [...known, ...remarks]);
  return {
    faults: [...known, ...secrets.faults],
    remarks: [...remarks, ...secrets.remarks],
    skill,
  };
}

/** The concerns about the words of a package, whoever wrote it. */
export function scanPackage(files: readonly PackageFile[]): Concern[] {
  const { skill } = parseSkill(mainText(files));
  const others = files.map(packageText).flatMap(({ path, text }) => {
    const isOther = text !== null && path !== skillFile;
    return isOther ? scan(text, { most: packageLimits.fileBytes, file: path }) : [];
  });
  return [...(skill === null ? [] : scanSkill(skill)), ...others];
}

const folders = new Set(["scripts", "references", "assets"]);

function checkLayout({ files, links, before }: Submission): string[] {
  const { fileBytes, pathChars } = packageLimits;
  const old = new Map(before?.map((file) => [file.path, file]));
  const fresh = files.filter(({ path }) => !old.has(path));
  const knownFaults = new Set(checkPaths([...old.keys()]));
  // What was large before may stay so, but not grow.
  const most = Math.max(packageLimits.files, old.size);
  const packageBytes = Math.max(packageLimits.packageBytes, sumBytes(before ?? []));
  const total = sumBytes(files);
  return [
    ...links.map((path) => `${path} is a link or no plain file: put the file itself there`),
    ...checkPaths(files.map(({ path }) => path)).filter((fault) => !knownFaults.has(fault)),
    ...fresh.flatMap(checkNewFile),
    ...(files.length > most ? [`It has ${files.length} files; ${most} are allowed`] : []),
    ...files
      .filter(({ path, bytes }) => bytes > Math.max(fileBytes, old.get(path)?.bytes ?? 0))
      .map(({ path, bytes }) => `${path.slice(0, pathChars)} has ${bytes} bytes; ${fileBytes} are allowed`),
    ...(total > packageBytes ? [`All files together have ${total} bytes; ${packageBytes} are allowed`] : []),
  ];
}

/** Agents are told the paths of a package, so they are names and nothing else. */
function checkNewFile({ path, text }: PackageText): string[] {
  const { pathChars } = packageLimits;
  const isPlain = path.length <= pathChars && /^[\p{L}\p{M}\p{N} ./_+@-]+$/u.test(path);
  const isMain = path === skillFile;
  const top = path.split("/")[0] as string;
  return [
    ...(isPlain
      ? []
      : [
          `${path.slice(0, pathChars)} is no plain name: letters, digits, spaces and . _ - + @, at most ${pathChars} characters`,
        ]),
    ...(isMain || folders.has(top)
      ? []
      : [`${path} does not belong here: besides ${skillFile}, only scripts/, references/ and assets/`]),
    ...(folders.has(path) ? [`${path} has to be a folder`] : []),
    ...(text === null && !isMain && top !== "assets"
      ? [`${path} is no text in UTF-8; such files go into assets/`]
      : []),
  ];
}

function sumBytes(files: readonly PackageText[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

type Findings = Pick<PackageReport, "faults" | "remarks">;

function checkForm(
  { name, owner, before }: Submission,
  text: string,
  skill: Skill | null,
  problems: ReturnType<typeof parseSkill>["problems"],
): Findings {
  const was = before?.find(({ path }) => path === skillFile)?.text ?? null;
  const old = was === null ? null : parseSkill(was);
  const oldProblems = old ? [...old.problems, ...(old.skill ? findSkillProblems(old.skill, name) : [])] : [];
  const known = new Set(owner === "learned" ? [] : oldProblems.map(({ message }) => message));
  const all = skill === null ? problems : [...problems, ...findSkillProblems(skill, name)];
  const isFault = ({ severity, message }: (typeof all)[number]) =>
    severity === "error" && !known.has(message);
  const own = skill === null ? { faults: [], remarks: [] } : checkSkill(skill, owner, old?.skill ?? null);
  const faults = [
    ...all.filter(isFault).map(({ message }) => message),
    ...own.faults,
    ...(was === null ? [] : findChangedSettings(was, text)),
  ];
  const remarks = [...all.filter((one) => !isFault(one)).map(({ message }) => message), ...own.remarks];
  const locate = (message: string) => `${skillFile}: ${message}`;
  return { faults: faults.map(locate), remarks: remarks.map(locate) };
}

function checkSkill(skill: Skill, owner: Owner, old: Skill | null): Findings {
  const { name, description, allowedTools, metadata, body } = skill;
  const faults: string[] = [];
  const remarks: string[] = [];
  const isLearned = owner === "learned";
  if (description.length > maxDescriptionChars)
    (isLearned ? faults : remarks).push(
      `The description has ${description.length} characters; ${maxDescriptionChars} are allowed for a learned skill.`,
    );
  if (description.trim() !== "" && onlyLetters(description) === onlyLetters(name))
    faults.push("The description only repeats the name; it says when the skill is to be used.");
  if (isLearned && body.length > maxBodyChars)
    faults.push(
      `The body has ${body.length} characters; ${maxBodyChars} are allowed: move the rest into references/.`,
    );
  if (allowedTools !== undefined && old?.allowedTools === undefined)
    faults.push(`"allowed-tools" gives permissions, which only a person gives.`);
  // In a learned skill Knack writes these itself; in a person's they would be untrue.
  if (!isLearned)
    for (const key of knackFacts)
      if (metadata[key] !== old?.metadata[key])
        faults.push(`"metadata.${key}" is set by Knack; leave it as it was.`);
  return { faults, remarks };
}

function onlyLetters(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

const freeKeys = new Set(["name", "description", "license", "compatibility", "metadata"]);

/** Changed settings of an agent in a person's skill: permissions and hooks stand there. */
function findChangedSettings(was: string, text: string): string[] {
  const fresh = readSettings(text);
  return [...readSettings(was)].flatMap(([key, value]) =>
    value === fresh.get(key) ? [] : [`"${key}" is a setting, which only a person changes.`],
  );
}

function readSettings(text: string): Map<string, string> {
  const front = parseFrontMatter(text);
  const settings = Object.entries("code" in front ? {} : front.values).filter(([key]) => !freeKeys.has(key));
  return new Map(settings.map(([key, value]) => [key, JSON.stringify(value)]));
}

/** Something in a package that an agent may come to read. */
interface Passage {
  /** The file, or what else it is. */
  readonly where: string;
  /** Whether its lines are those of a file. */
  readonly hasLines: boolean;
  readonly text: string;
  /** Empty when it is new. */
  readonly before: string;
  /** The only concerns that count in it. */
  readonly only?: ReadonlySet<ConcernCode>;
}

/** All that can be read in a package: texts, words in binary files, the front matter unescaped, and new paths. */
function listPassages({ files, before }: Submission): Passage[] {
  const old = new Map(before?.map(({ path, words }) => [path, words]));
  const mainOf = (all: readonly PackageText[] | null) =>
    all?.find(({ path }) => path === skillFile)?.text ?? "";
  const known = new Set(listFrontMatter(mainOf(before)));
  const main = mainOf(files);
  return [
    ...files.map(({ path, text, words }) => ({
      ...{ where: path, text: words, before: old.get(path) ?? "", hasLines: text !== null },
      ...(text === null ? { only: binaryConcerns } : {}),
    })),
    ...files
      .filter(({ path }) => path !== skillFile && !old.has(path))
      .map(({ path }) => ({
        ...{ where: `the name ${path}`, before: "", hasLines: false },
        text: `${path}\n${path.replace(/[^\p{L}\p{N}]+/gu, " ")}`,
      })),
    // YAML can spell a word so that only its reader sees it.
    ...listFrontMatter(main)
      .filter((text) => !main.includes(text))
      .map((text) => ({
        ...{ where: `${skillFile} (front matter)`, text, hasLines: false },
        before: known.has(text) ? text : "",
      })),
  ];
}

/** Bytes that are no text do not say these by chance. */
const binaryConcerns: ReadonlySet<ConcernCode> = new Set(["secret", "injection", "concealment"]);

/** Every key and every value of the front matter. */
function listFrontMatter(text: string): string[] {
  const front = parseFrontMatter(text);
  const within = (value: unknown): string[] => {
    if (typeof value === "string") return [value];
    if (typeof value !== "object" || value === null) return [];
    const keys = Array.isArray(value) ? [] : Object.keys(value);
    return [...keys, ...Object.values(value).flatMap(within)];
  };
  return "code" in front ? [] : [...new Set(within(front.values))];
}

function scanPassages(submission: Submission): Findings {
  const isLearned = submission.owner === "learned";
  const [faults, remarks] = [new Set<string>(), new Set<string>()];
  for (const { text, before, where, only, hasLines } of listPassages(submission)) {
    if (!isLearned && text === before) continue;
    const options = { most: packageLimits.fileBytes, file: where, loaded: where === skillFile };
    for (const { concern, isOld } of scanSince(before, text, options)) {
      if (only?.has(concern.code) === false) continue;
      const isFault = concern.severity === "block" && (isLearned || !isOld);
      (isFault ? faults : remarks).add(`${hasLines ? concern.where : where}: ${concern.message}`);
    }
  }
  return { faults: [...faults], remarks: [...remarks] };
}

/** A redaction mark that was copied from what the author read: nobody knows what is to stand there. */
function findMasks(submission: Submission): string[] {
  const count = (text: string) => text.split(maskStart).length;
  const fresh = listPassages(submission).filter(({ text, before }) => count(text) > count(before));
  const faults = fresh.map(({ where }) => `${where}: "${maskStart}…]" marks a removed secret: leave it out.`);
  return [...new Set(faults)];
}

/** Secrets that only the redactor finds; those that were in a person's skill before are remarks. */
async function findSecrets(
  redactor: Redactor,
  submission: Submission,
  known: readonly string[],
): Promise<Findings> {
  const passages = listPassages(submission);
  const clean = await redactor.scrub(passages.map(({ text }) => ({ label: "text", text })));
  const [faults, remarks] = [new Set<string>(), new Set<string>()];
  for (const [at, { text, before, where, hasLines }] of passages.entries()) {
    const [left, old] = [new Set(clean[at]?.split(/\r?\n/)), new Set(before.split(/\r?\n/))];
    for (const [n, line] of text.split(/\r?\n/).entries()) {
      if (clean[at] === text || left.has(line)) continue;
      const place = hasLines ? `${where}, line ${n + 1}` : where;
      if (known.some((one) => one.startsWith(`${place}: It holds a secret`))) continue;
      const isTheirs = submission.owner !== "learned" && old.has(line);
      (isTheirs ? remarks : faults).add(
        `${place}: It holds a secret: take it out, and say where it is to be had instead.`,
      );
    }
  }
  return { faults: [...faults], remarks: [...remarks] };
}

/** What is wrong with the paths of a package, on any disk that it may lie on. */
export function checkPaths(paths: readonly string[]): string[] {
  const files = new Map<string, string>();
  const twins: string[] = [];
  for (const path of paths) {
    const twin = files.get(foldPath(path));
    if (twin === undefined) files.set(foldPath(path), path);
    else
      twins.push(
        twin === path ? `"${path}" is in there twice` : `"${twin}" and "${path}" are one file on some disks`,
      );
  }
  // What nobody sees in a listing may be a setting or a hook of some tool.
  const isHidden = (path: string) => path.split("/").some((part) => part.startsWith("."));
  return [
    ...paths.filter((path) => !isSafePath(path)).map((path) => `the path "${path}" leads out of its folder`),
    ...paths
      .filter((path) => isSafePath(path) && isHidden(path))
      .map((path) => `the path "${path}" is hidden`),
    ...twins,
    ...paths.flatMap((path) => {
      const parts = foldPath(path).split("/");
      const above = parts.slice(1).map((_, n) => files.get(parts.slice(0, n + 1).join("/")));
      const clash = above.find((one) => one !== undefined);
      return clash === undefined ? [] : [`"${clash}" is both a file and a folder, of "${path}"`];
    }),
  ];
}

/** A path as a disk takes it that does not tell capitals, or composed letters, apart. */
function foldPath(path: string): string {
  return path.normalize("NFKC").toUpperCase().toLowerCase();
}
