import type { Owner, Skill } from "../records/index.ts";
import { decodeUtf8 } from "../text/index.ts";
import {
  type Concern,
  type ConcernCode,
  isSafePath,
  maskStart,
  maxBodyChars,
  needsPerson,
  type Redactor,
  scan,
  scanFiles,
  scanSince,
} from "../trust/index.ts";
import type { PackageFile, PackageFileList } from "./files/packages.ts";
import { mainText } from "./publish/changes.ts";
import { maxDescriptionChars } from "./publish/render.ts";
import { parseFrontMatter, parseSkill, scanSkill, skillFile, skillOwner, validateSkill } from "./skill.ts";

/** Size limits of an agent-written package. */
export const packageLimits = {
  files: 40,
  fileBytes: 200_000,
  packageBytes: 1_000_000,
  pathChars: 100,
} as const;

interface PackageText {
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
  // The words among bytes, also of a text with two bytes for each letter.
  const plain = new TextDecoder().decode(bytes).replaceAll("\0", "");
  const words = (plain.match(/[\t\n\r\x20-\x7e\u00a0-\ufffc]{8,}/g) ?? []).join("\n");
  return { path, bytes: bytes.length, text: null, words };
}

/** The owner of a package, as far as its text tells; something new is learned. */
export function packageOwner(path: string, files: PackageFileList | null): Owner {
  return files === null ? "learned" : skillOwner(path, parseSkill(mainText(files)).skill);
}

/** Submitted files, and the entries that are not regular files. */
export interface SubmittedFiles {
  readonly files: PackageFileList;
  readonly links: readonly string[];
}

interface Submission {
  readonly name: string;
  readonly files: readonly PackageText[];
  readonly links: readonly string[];
  /** The files it replaces; empty if new. */
  readonly old: ReadonlyMap<string, PackageText>;
  /** Whether it is Knack's. What a person's skill had before is theirs, and only worth a remark. */
  readonly isLearned: boolean;
  /** Errors with file and line, and remarks that do not block. */
  readonly faults: Set<string>;
  readonly remarks: Set<string>;
}

/** Facts that Knack writes into a skill itself; an author cannot set them. */
export const knackFacts: ReadonlySet<string> = new Set("origin belongs-to auto-load".split(" "));

/** Checks a package that an agent or a review wrote: form, sizes, secrets and what its texts say. */
export async function examinePackage(
  { redactor }: { readonly redactor: Redactor },
  name: string,
  { files, links }: SubmittedFiles,
  { before, owner }: { readonly before: PackageFileList | null; readonly owner: Owner },
): Promise<{
  readonly faults: readonly string[];
  readonly remarks: readonly string[];
  /** Null when its `SKILL.md` cannot be read. */
  readonly skill: Skill | null;
}> {
  const given: Submission = {
    ...{ name, files: files.map(packageText), links, isLearned: owner === "learned" },
    old: new Map(before?.map(packageText).map((file) => [file.path, file])),
    ...{ faults: new Set(), remarks: new Set() },
  };
  const main = given.files.find(({ path }) => path === skillFile);
  const text = main?.text ?? null;
  if (text === null) given.faults.add(main ? `${skillFile} is no text in UTF-8` : `${skillFile} is missing`);
  else checkForm(given, text);
  checkLayout(given);
  if (text !== null) await checkWords(given, text, redactor);
  const { faults, remarks } = given;
  return { faults: [...faults], remarks: [...remarks], skill: text === null ? null : parseSkill(text).skill };
}

/** Concerns about a package's text, regardless of author. */
export function scanPackage(files: PackageFileList): Concern[] {
  const { skill } = parseSkill(mainText(files));
  const others = files.map(packageText).flatMap(({ path, text }) => {
    const isOther = text !== null && path !== skillFile;
    return isOther ? scan(text, { most: packageLimits.fileBytes, file: path }) : [];
  });
  return [...(skill === null ? [] : scanSkill(skill)), ...others];
}

/** The scan of a package that somebody else wrote: its texts, the words in other files, front matter and names. */
export function scanForeign(files: PackageFileList, main = skillFile): Concern[] {
  const given = { files: files.map(packageText), old: new Map<string, PackageText>() };
  const text = given.files.find(({ path }) => path === main)?.text ?? "";
  const passages = listPassages(given, text, main).flatMap((passage) => scanPassage(passage, main));
  const all = [...scanFiles(given.files), ...passages.map(({ concern }) => concern)];
  return [...new Map(all.map((one) => [`${one.code} ${one.where} ${one.message}`, one])).values()];
}

/** Concerns in a package that the version before it did not have. */
export function scanPackageSince(before: PackageFileList | null, files: PackageFileList): Concern[] {
  const old = new Set(scanForeign(before ?? []).map(({ code, message }) => `${code} ${message}`));
  return scanForeign(files).filter((one) => needsPerson([one]) && !old.has(`${one.code} ${one.message}`));
}

/** Front matter by which an agent runs something or may do more; only a person gives that. */
export function findGrants(text: string): string[] {
  return [...readSettings(text).keys()].flatMap((key) =>
    grants.has(key.toLowerCase()) ? `"${key}" gives permissions, which only a person gives.` : [],
  );
}

const grants = new Set([
  "allowed-tools",
  "allowedtools",
  "hooks",
  "permissionmode",
  "permission-mode",
  "mcpservers",
]);

const folders = new Set(["scripts", "references", "assets"]);

function checkLayout({ files, links, old, faults }: Submission): void {
  const { fileBytes, pathChars } = packageLimits;
  const knownFaults = checkPaths([...old.keys()]);
  const sumBytes = (all: Iterable<PackageText>) => [...all].reduce((sum, { bytes }) => sum + bytes, 0);
  for (const path of links) faults.add(`${path} is a link or no plain file: put the file itself there`);
  for (const fault of checkPaths(files.map(({ path }) => path)))
    if (!knownFaults.includes(fault)) faults.add(fault);
  for (const file of files)
    if (!old.has(file.path)) for (const fault of checkNewFile(file)) faults.add(fault);
  // What was large before may stay so, but not grow.
  const most = Math.max(packageLimits.files, old.size);
  if (files.length > most) faults.add(`It has ${files.length} files; ${most} are allowed`);
  for (const { path, bytes } of files)
    if (bytes > Math.max(fileBytes, old.get(path)?.bytes ?? 0))
      faults.add(`${path.slice(0, pathChars)} has ${bytes} bytes; ${fileBytes} are allowed`);
  const packageBytes = Math.max(packageLimits.packageBytes, sumBytes(old.values()));
  if (sumBytes(files) > packageBytes)
    faults.add(`All files together have ${sumBytes(files)} bytes; ${packageBytes} are allowed`);
}

/** Agents are told the paths of a package, so they are names and nothing else. */
function checkNewFile({ path, text }: PackageText): string[] {
  const { pathChars } = packageLimits;
  const isPlain = path.length <= pathChars && /^[\p{L}\p{M}\p{N} ./_+@-]+$/u.test(path);
  const isMain = path === skillFile;
  const top = path.split("/")[0] as string;
  const faults = [
    !isPlain &&
      `${path.slice(0, pathChars)} is no plain name: letters, digits, spaces and . _ - + @, at most ${pathChars} characters`,
    !(isMain || folders.has(top)) &&
      `${path} does not belong here: besides ${skillFile}, only scripts/, references/ and assets/`,
    folders.has(path) && `${path} has to be a folder`,
    text === null && !isMain && top !== "assets" && `${path} is no text in UTF-8; such files go into assets/`,
  ];
  return faults.filter((fault) => fault !== false);
}

function checkForm({ name, isLearned, old, faults, remarks }: Submission, text: string): void {
  const was = old.get(skillFile)?.text ?? null;
  const known = new Set(
    was === null || isLearned ? [] : validateSkill(was, name).map(({ message }) => message),
  );
  const note = (isFault: boolean, message: string) =>
    (isFault ? faults : remarks).add(`${skillFile}: ${message}`);
  for (const { severity, message } of validateSkill(text, name))
    note(severity === "error" && !known.has(message), message);
  const { skill } = parseSkill(text);
  if (skill !== null) checkSkill(skill, isLearned, was === null ? null : parseSkill(was).skill, note);
  const granted = findGrants(was ?? "");
  for (const grant of findGrants(text)) if (!granted.includes(grant)) note(true, grant);
  // Permissions and hooks stand in a person's front matter.
  const settings = readSettings(text);
  for (const [key, value] of readSettings(was ?? ""))
    if (value !== settings.get(key)) note(true, `"${key}" is a setting, which only a person changes.`);
}

function checkSkill(
  { name, description, metadata, body }: Skill,
  isLearned: boolean,
  old: Skill | null,
  note: (isFault: boolean, message: string) => void,
): void {
  const onlyLetters = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  if (description.length > maxDescriptionChars)
    note(
      isLearned,
      `The description has ${description.length} characters; ${maxDescriptionChars} are allowed for a learned skill.`,
    );
  if (description.trim() !== "" && onlyLetters(description) === onlyLetters(name))
    note(true, "The description only repeats the name; it says when the skill is to be used.");
  if (isLearned && body.length > maxBodyChars)
    note(
      true,
      `The body has ${body.length} characters; ${maxBodyChars} are allowed: move the rest into references/.`,
    );
  // In a learned skill Knack writes these itself; in a person's they would be untrue.
  for (const key of isLearned ? [] : knackFacts)
    if (metadata[key] !== old?.metadata[key])
      note(true, `"metadata.${key}" is set by Knack; leave it as it was.`);
}

const freeKeys = new Set(["name", "description", "license", "compatibility", "metadata"]);

/** The settings of an agent in front matter. */
function readSettings(text: string): Map<string, string> {
  const front = parseFrontMatter(text);
  const settings = Object.entries("problem" in front ? {} : front.values).filter(
    ([key]) => !freeKeys.has(key),
  );
  return new Map(settings.map(([key, value]) => [key, JSON.stringify(value)]));
}

/** Something in a package that an agent may come to read. */
interface Passage {
  /** The file, or what else it is. */
  readonly where: string;
  readonly text: string;
  /** Empty when it is new. */
  readonly before: string;
  /** Whether its lines are those of a file. */
  readonly hasLines?: true;
  readonly isBinary?: true;
}

/** All that can be read in a package: texts, words in binary files, the front matter unescaped, and new paths. */
function listPassages(
  { files, old }: Pick<Submission, "files" | "old">,
  main: string,
  called = skillFile,
): Passage[] {
  const known = new Set(listFrontMatter(old.get(called)?.text ?? ""));
  const fresh = files.filter(({ path }) => path !== called && !old.has(path));
  // YAML can spell a word so that only its reader sees it.
  const escaped = listFrontMatter(main).filter((text) => !main.includes(text));
  return [
    ...files.map(({ path, text, words }) => ({
      ...{ where: path, text: words, before: old.get(path)?.words ?? "" },
      ...(text === null ? { isBinary: true as const } : { hasLines: true as const }),
    })),
    ...fresh.map(({ path }) => ({
      ...{ where: `the name ${path}`, text: `${path}\n${path.replace(/[^\p{L}\p{N}]+/gu, " ")}`, before: "" },
    })),
    ...escaped.map((text) => ({
      ...{ where: `${called} (front matter)`, text, before: known.has(text) ? text : "" },
    })),
  ];
}

/** Every key and every value of the front matter. */
function listFrontMatter(text: string): string[] {
  const front = parseFrontMatter(text);
  const within = (value: unknown): string[] => {
    if (typeof value === "string") return [value];
    if (typeof value !== "object" || value === null) return [];
    const keys = Array.isArray(value) ? [] : Object.keys(value);
    return [...keys, ...Object.values(value).flatMap(within)];
  };
  return "problem" in front ? [] : [...new Set(within(front.values))];
}

/** Bytes that are no text do not say these by chance. */
const binaryConcerns: ReadonlySet<ConcernCode> = new Set(["secret", "injection", "concealment"]);

async function checkWords(given: Submission, main: string, redactor: Redactor): Promise<void> {
  const passages = listPassages(given, main);
  for (const passage of passages) noteConcerns(given, passage);
  // A mark that was copied from what the author read: nobody knows what is to stand there.
  for (const { where, text, before } of passages)
    if (text.split(maskStart).length > before.split(maskStart).length)
      given.faults.add(`${where}: "${maskStart}…]" marks a removed secret: leave it out.`);
  const clean = await redactor.scrub(passages.map(({ text }) => ({ label: "text", text })));
  const known = [...given.faults, ...given.remarks];
  for (const [at, passage] of passages.entries()) noteSecrets(given, passage, clean[at] ?? "", known);
}

function scanPassage(passage: Passage, main = skillFile): ReturnType<typeof scanSince> {
  const { where, text, before, hasLines, isBinary } = passage;
  const options = { most: packageLimits.fileBytes, file: where, loaded: where === main };
  return scanSince(before, text, options).flatMap(({ concern, isOld }) =>
    isBinary && !binaryConcerns.has(concern.code)
      ? []
      : { concern: hasLines ? concern : { ...concern, where }, isOld },
  );
}

function noteConcerns({ isLearned, faults, remarks }: Submission, passage: Passage): void {
  if (!isLearned && passage.text === passage.before) return;
  for (const { concern, isOld } of scanPassage(passage)) {
    const isFault = concern.severity === "block" && (isLearned || !isOld);
    (isFault ? faults : remarks).add(`${concern.where}: ${concern.message}`);
  }
}

/** Secrets that only the redactor finds; those that were in a person's skill before are remarks. */
function noteSecrets(given: Submission, passage: Passage, clean: string, known: readonly string[]): void {
  const { where, text, before, hasLines } = passage;
  const [left, old] = [new Set(clean.split(/\r?\n/)), new Set(before.split(/\r?\n/))];
  for (const [n, line] of clean === text ? [] : text.split(/\r?\n/).entries()) {
    const place = hasLines ? `${where}, line ${n + 1}` : where;
    if (left.has(line) || known.some((one) => one.startsWith(`${place}: It holds a secret`))) continue;
    const isTheirs = !given.isLearned && old.has(line);
    (isTheirs ? given.remarks : given.faults).add(
      `${place}: It holds a secret: take it out, and say where it is to be had instead.`,
    );
  }
}

/** Problems with a package's paths, on any file system. */
export function checkPaths(paths: readonly string[]): string[] {
  // As a disk takes it that does not tell capitals, or composed letters, apart.
  const fold = (path: string) => path.normalize("NFKC").toUpperCase().toLowerCase();
  const files = new Map([...paths].reverse().map((path) => [fold(path), path]));
  const isFirst = (path: string, at: number) => paths.findIndex((one) => fold(one) === fold(path)) === at;
  const twins = paths.filter((path, at) => !isFirst(path, at));
  // What nobody sees in a listing may be a setting or a hook of some tool.
  const hidden = paths.filter(
    (path) => isSafePath(path) && path.split("/").some((part) => part.startsWith(".")),
  );
  return [
    ...paths.filter((path) => !isSafePath(path)).map((path) => `the path "${path}" leads out of its folder`),
    ...hidden.map((path) => `the path "${path}" is hidden`),
    ...twins.map((path) => {
      const twin = files.get(fold(path));
      return twin === path
        ? `"${path}" is in there twice`
        : `"${twin}" and "${path}" are one file on some disks`;
    }),
    ...paths.flatMap((path) => {
      const parts = fold(path).split("/");
      const above = parts.slice(1).map((_, n) => files.get(parts.slice(0, n + 1).join("/")));
      const clash = above.find((one) => one !== undefined);
      return clash === undefined ? [] : [`"${clash}" is both a file and a folder, of "${path}"`];
    }),
  ];
}
