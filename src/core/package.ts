import { plainText } from "./plain-text.ts";
import { policy } from "./policy.ts";
import { maskStart } from "./redact/span.ts";
import { type Concern, type ConcernCode, isSafePath, scanSince } from "./scan.ts";
import { frontMatterIn, type Owner, parse, problemsOf, type Skill, skillFile } from "./skill.ts";

/** A file of a package as it is looked at. */
export interface PackageText {
  readonly path: string;
  readonly bytes: number;
  /** Null where it is none. */
  readonly text: string | null;
  /** What stands in it to be read, also where it is no text. */
  readonly words: string;
}

/** A file by its bytes. */
export function packageText(path: string, bytes: Uint8Array): PackageText {
  const text = plainText(bytes);
  // Such a byte is in no text, whatever else the file is.
  if (text !== null && !text.includes("\0")) return { path, bytes: bytes.length, text, words: text };
  return { path, bytes: bytes.length, text: null, words: wordsAmong(bytes) };
}

/** What one would find who looks for words among bytes: also those of a text of which each letter takes two. */
function wordsAmong(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes).replaceAll("\0", "");
  return (text.match(/[\t\n\r\x20-\x7e\u00a0-\ufffc]{8,}/g) ?? []).join("\n");
}

/** A package that somebody wrote, before it goes live. */
export interface Submitted {
  /** The name of its folder. */
  readonly name: string;
  readonly files: readonly PackageText[];
  /** What is no file. */
  readonly links: readonly string[];
  /** What it is to take the place of; null for something new. */
  readonly before: readonly PackageText[] | null;
  /** Whose that is; something new is learned. */
  readonly owner: Owner;
}

/** What is wrong with a package, each with its file and line; and what is only worth saying. */
export interface Examined {
  readonly faults: readonly string[];
  readonly remarks: readonly string[];
  /** The skill in its text; null where there is none. */
  readonly skill: Skill | null;
}

/** What Knack says of a skill itself; nobody who writes one says it. */
export const ownFacts: ReadonlySet<string> = new Set([
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

const folders = new Set(["scripts", "references", "assets"]);

/** Looks at a package: its form, its sizes and what its texts say. What a person's skill had before is theirs. */
export function examine(submitted: Submitted): Examined {
  const main = submitted.files.find(({ path }) => path === skillFile);
  const layout = layoutFaults(submitted);
  if (main === undefined || main.text === null) {
    const missing = main === undefined ? `${skillFile} is not there` : `${skillFile} is no text in UTF-8`;
    return { faults: [missing, ...layout], remarks: [], skill: null };
  }
  const { skill, problems } = parse(main.text);
  const said = aboutText(submitted, main.text, skill, problems);
  const scanned = scannedIn(submitted);
  return {
    faults: [...said.faults, ...layout, ...scanned.faults, ...maskedIn(submitted)],
    remarks: [...said.remarks, ...scanned.remarks],
    skill,
  };
}

function layoutFaults({ files, links, before }: Submitted): string[] {
  const { fileBytes, pathChars } = policy.protocol;
  const old = new Map(before?.map((file) => [file.path, file]));
  const fresh = files.filter(({ path }) => !old.has(path));
  const badBefore = new Set(faultsInPaths([...old.keys()]));
  // What was large before may stay so, and not grow.
  const most = Math.max(policy.protocol.files, old.size);
  const packageBytes = Math.max(policy.protocol.packageBytes, bytesIn(before ?? []));
  const total = bytesIn(files);
  return [
    ...links.map((path) => `${path} is a link or no plain file: put the file itself there`),
    ...faultsInPaths(files.map(({ path }) => path)).filter((fault) => !badBefore.has(fault)),
    ...fresh
      .filter(({ path }) => !isPlainPath(path))
      .map(
        ({ path }) =>
          `${path.slice(0, pathChars)} is no plain name: letters, digits, spaces and . _ - + @, at most ${pathChars} characters`,
      ),
    ...fresh
      .filter(({ path }) => path !== skillFile && !folders.has(path.split("/")[0] as string))
      .map(
        ({ path }) =>
          `${path} does not belong here: besides ${skillFile}, only scripts/, references/ and assets/`,
      ),
    ...fresh.filter(({ path }) => folders.has(path)).map(({ path }) => `${path} has to be a folder`),
    ...(files.length > most ? [`It has ${files.length} files; ${most} are allowed`] : []),
    ...files
      .filter(({ path, bytes }) => bytes > Math.max(fileBytes, old.get(path)?.bytes ?? 0))
      .map(({ path, bytes }) => `${path} has ${bytes} bytes; ${fileBytes} are allowed`),
    ...(total > packageBytes ? [`All files together have ${total} bytes; ${packageBytes} are allowed`] : []),
    ...fresh
      .filter(({ path, text }) => text === null && !path.startsWith("assets/") && path !== skillFile)
      .map(({ path }) => `${path} is no text in UTF-8; such files go into assets/`),
  ];
}

function bytesIn(files: readonly PackageText[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Agents are told the paths of a package: they are names, and nothing to be read. */
function isPlainPath(path: string): boolean {
  return path.length <= policy.protocol.pathChars && /^[\p{L}\p{M}\p{N} ./_+@-]+$/u.test(path);
}

function aboutText(
  { name, owner, before }: Submitted,
  text: string,
  skill: Skill | null,
  problems: ReturnType<typeof parse>["problems"],
): { faults: string[]; remarks: string[] } {
  const was = before?.find(({ path }) => path === skillFile)?.text ?? null;
  const once = was === null ? null : parse(was);
  const known = new Set(
    once === null || owner === "learned"
      ? []
      : [...once.problems, ...(once.skill ? problemsOf(once.skill, name) : [])].map(({ message }) => message),
  );
  const all = skill === null ? problems : [...problems, ...problemsOf(skill, name)];
  const at = (message: string) => `${skillFile}: ${message}`;
  const isFault = ({ severity, message }: (typeof all)[number]) =>
    severity === "error" && !known.has(message);
  const own = skill === null ? { faults: [], remarks: [] } : aboutSkill(skill, owner, once?.skill ?? null);
  return {
    faults: [
      ...all.filter(isFault).map(({ message }) => at(message)),
      ...own.faults.map(at),
      ...(was === null ? [] : settingsChanged(was, text).map(at)),
    ],
    remarks: [
      ...all.filter((one) => !isFault(one)).map(({ message }) => at(message)),
      ...own.remarks.map(at),
    ],
  };
}

function aboutSkill(
  { name, description, allowedTools, metadata, body }: Skill,
  owner: Owner,
  once: Skill | null,
): { faults: string[]; remarks: string[] } {
  const { descriptionChars, bodyChars } = policy.skill;
  const faults: string[] = [];
  const remarks: string[] = [];
  const isLearned = owner === "learned";
  if (description.length > descriptionChars)
    (isLearned ? faults : remarks).push(
      `The description has ${description.length} characters; ${descriptionChars} are allowed for a learned skill.`,
    );
  if (description.trim() !== "" && lettersOf(description) === lettersOf(name))
    faults.push("The description only repeats the name; it says when the skill is to be used.");
  if (isLearned && body.length > bodyChars)
    faults.push(
      `The body has ${body.length} characters; ${bodyChars} are allowed: move the rest into references/.`,
    );
  if (allowedTools !== undefined && once?.allowedTools === undefined)
    faults.push(`"allowed-tools" gives permissions, which only a person gives.`);
  // Of a learned skill Knack writes these anew; of a person's they would tell something untrue.
  if (!isLearned)
    for (const key of ownFacts)
      if (metadata[key] !== once?.metadata[key])
        faults.push(`"metadata.${key}" is Knack's own word; leave it as it was.`);
  return { faults, remarks };
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

const free = new Set(["name", "description", "license", "compatibility", "metadata"]);

/** The settings of some agent in a person's skill that would be other ones: permissions and hooks stand there. */
function settingsChanged(was: string, text: string): string[] {
  const fresh = settingsIn(text);
  return [...settingsIn(was)].flatMap(([key, value]) =>
    value === fresh.get(key) ? [] : [`"${key}" is a setting, which only a person changes.`],
  );
}

function settingsIn(text: string): Map<string, string> {
  const front = frontMatterIn(text);
  const values = "code" in front ? {} : front.values;
  return new Map(
    Object.entries(values).flatMap(([key, value]) =>
      free.has(key) ? [] : [[key, JSON.stringify(value)] as const],
    ),
  );
}

/** Something in a package that an agent may come to read. */
export interface Passage {
  /** The file, or what else it is. */
  readonly where: string;
  /** Whether its lines are those of a file. */
  readonly hasLines: boolean;
  readonly text: string;
  /** What was there before; empty where nothing was. */
  readonly before: string;
  /** What alone counts in it; everything where that is not said. */
  readonly only?: ReadonlySet<ConcernCode>;
}

/** All that can be read in a package: its texts, what other files say, the front matter in plain words, and new paths. */
export function passagesOf({ files, before }: Pick<Submitted, "files" | "before">): Passage[] {
  const old = new Map(before?.map(({ path, words }) => [path, words]));
  const mainOf = (all: readonly PackageText[] | null) =>
    all?.find(({ path }) => path === skillFile)?.text ?? "";
  const told = new Set(saidIn(mainOf(before)));
  const main = mainOf(files);
  return [
    ...files.map(({ path, text, words }) => ({
      ...{ where: path, text: words, before: old.get(path) ?? "", hasLines: text !== null },
      ...(text === null ? { only: plainWords } : {}),
    })),
    ...files
      .filter(({ path }) => path !== skillFile && !old.has(path))
      .map(({ path }) => ({
        ...{ where: `the name ${path}`, before: "", hasLines: false },
        text: `${path}\n${path.replace(/[^\p{L}\p{N}]+/gu, " ")}`,
      })),
    // YAML can spell a word so that only its reader sees it.
    ...saidIn(main)
      .filter((text) => !main.includes(text))
      .map((text) => ({
        ...{ where: `${skillFile} (front matter)`, text, hasLines: false },
        before: told.has(text) ? text : "",
      })),
  ];
}

/** What bytes that are no text do not seem to say by chance. */
const plainWords: ReadonlySet<ConcernCode> = new Set(["secret", "injection", "concealment"]);

/** Every key and every value of the front matter. */
function saidIn(text: string): string[] {
  const front = frontMatterIn(text);
  const within = (value: unknown): string[] => {
    if (typeof value === "string") return [value];
    if (typeof value !== "object" || value === null) return [];
    const keys = Array.isArray(value) ? [] : Object.keys(value);
    return [...keys, ...Object.values(value).flatMap(within)];
  };
  return "code" in front ? [] : [...new Set(within(front.values))];
}

/** Where a line of a passage stands, for a person. */
export function placeIn({ where, hasLines }: Passage, line: number): string {
  return hasLines ? `${where}, line ${line}` : where;
}

function scannedIn(submitted: Submitted): { faults: string[]; remarks: string[] } {
  const isLearned = submitted.owner === "learned";
  const [faults, remarks] = [new Set<string>(), new Set<string>()];
  for (const passage of passagesOf(submitted)) {
    const { text, before, where, only } = passage;
    if (!isLearned && text === before) continue;
    const options = { most: policy.protocol.fileBytes, file: where, loaded: where === skillFile };
    for (const { concern, isOld } of scanSince(before, text, options)) {
      if (only?.has(concern.code) === false) continue;
      const said = passage.hasLines ? told(concern) : `${where}: ${concern.message}`;
      (concern.severity === "block" && (isLearned || !isOld) ? faults : remarks).add(said);
    }
  }
  return { faults: [...faults], remarks: [...remarks] };
}

/** What was taken out of what somebody read is no word to write: nobody knows what is to stand there. */
function maskedIn(submitted: Submitted): string[] {
  const masks = (text: string) => text.split(maskStart).length;
  const fresh = passagesOf(submitted).filter(({ text, before }) => masks(text) > masks(before));
  return [
    ...new Set(
      fresh.map(
        ({ where }) => `${where}: "${maskStart}…]" stands where something was taken out: leave it away.`,
      ),
    ),
  ];
}

function told({ where, message }: Concern): string {
  return `${where}: ${message}`;
}

/** The lines of a text that another text says otherwise, by number. */
export function changedLines(text: string, other: string): number[] {
  const others = new Set(other.split(/\r?\n/));
  return text.split(/\r?\n/).flatMap((line, at) => (others.has(line) ? [] : [at + 1]));
}

/** What is wrong first with the paths of a package, on whatever disk it is to lie; null where nothing is. */
export function faultInPaths(paths: readonly string[]): string | null {
  return faultsInPaths(paths)[0] ?? null;
}

/** All that is wrong with them. */
function faultsInPaths(paths: readonly string[]): string[] {
  const files = new Map<string, string>();
  const twins: string[] = [];
  for (const path of paths) {
    const twin = files.get(folded(path));
    if (twin === undefined) files.set(folded(path), path);
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
      const parts = folded(path).split("/");
      const above = parts.slice(1).map((_, n) => files.get(parts.slice(0, n + 1).join("/")));
      const clash = above.find((one) => one !== undefined);
      return clash === undefined ? [] : [`"${clash}" is both a file and a folder, of "${path}"`];
    }),
  ];
}

/** A path as a disk takes it that does not tell capitals, or composed letters, apart. */
function folded(path: string): string {
  return path.normalize("NFKC").toUpperCase().toLowerCase();
}
