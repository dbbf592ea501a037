import { policy } from "./policy.ts";
import { type Concern, isSafePath, scan } from "./scan.ts";
import { frontMatterIn, type Owner, parse, problemsOf, type Skill, skillFile } from "./skill.ts";

/** A file of a package as it is looked at: its text is null where it is none. */
export interface PackageText {
  readonly path: string;
  readonly bytes: number;
  readonly text: string | null;
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
  const scanned = scannedIn(submitted, skill);
  return {
    faults: [...said.faults, ...layout, ...scanned.faults],
    remarks: [...said.remarks, ...scanned.remarks],
    skill,
  };
}

function layoutFaults({ files, links, before }: Submitted): string[] {
  const { fileBytes } = policy.protocol;
  const old = new Map(before?.map((file) => [file.path, file]));
  const fresh = files.filter(({ path }) => !old.has(path));
  const badly = newFault(files, before ?? [], fresh);
  // What was large before may stay so, and not grow.
  const most = Math.max(policy.protocol.files, old.size);
  const packageBytes = Math.max(policy.protocol.packageBytes, bytesIn(before ?? []));
  const total = bytesIn(files);
  return [
    ...links.map((path) => `${path} is a link or no plain file: put the file itself there`),
    ...(badly === null ? [] : [badly]),
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

/** What is wrong with the paths, unless it was before. */
function newFault(
  files: readonly PackageText[],
  before: readonly PackageText[],
  fresh: readonly PackageText[],
): string | null {
  const faultIn = (all: readonly PackageText[]) => faultInPaths(all.map(({ path }) => path));
  const found = faultIn(files);
  return found === faultIn(before) ? faultIn(fresh) : found;
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
  if (allowedTools !== undefined && allowedTools !== once?.allowedTools)
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

const free = new Set(["name", "description", "license", "compatibility", "allowed-tools", "metadata"]);

/** The settings of some agent in a person's skill that would be other ones: permissions and hooks stand there. */
function settingsChanged(was: string, text: string): string[] {
  const fresh = settingsIn(text);
  return [...settingsIn(was)].flatMap(([key, value]) =>
    value === fresh.get(key) ? [] : [`"${key}" is a setting, which only a person changes.`],
  );
}

function settingsIn(text: string): Map<string, string> {
  const front = frontMatterIn(text);
  if ("code" in front) return new Map();
  return new Map(
    front.pairs.flatMap(({ key, value }) => {
      const name = String(key);
      return free.has(name) ? [] : [[name, JSON.stringify(value)] as const];
    }),
  );
}

function scannedIn(
  { files, before, owner }: Submitted,
  skill: Skill | null,
): { faults: string[]; remarks: string[] } {
  const texts = new Map(before?.map(({ path, text }) => [path, text]));
  const old = new Map([...texts].map(([path, text]) => [path, new Set((text ?? "").split(/\r?\n/))]));
  const faults: string[] = [];
  const remarks: string[] = [];
  const sort = ({ severity, where, message }: Concern, isOld: boolean) =>
    (severity === "block" && !isOld ? faults : remarks).push(`${where}: ${message}`);
  for (const { path, text } of files) {
    if (text === null || (owner !== "learned" && text === texts.get(path))) continue;
    const lines = text.split(/\r?\n/);
    for (const concern of scan(text, { most: policy.protocol.fileBytes, file: path })) {
      const line = lines[Number(/\d+$/.exec(concern.where)?.[0] ?? 0) - 1] ?? "";
      sort(concern, owner !== "learned" && concern.code !== "too-long" && old.get(path)?.has(line) === true);
    }
  }
  // YAML can spell a word so that only its reader sees it.
  const told = skill === null ? [] : [skill.description, ...Object.values(skill.metadata)];
  for (const text of told)
    for (const concern of scan(text, { file: `${skillFile} (front matter)` }))
      if (!faults.some((fault) => fault.endsWith(concern.message)))
        sort(concern, owner !== "learned" && before !== null && isSaid(before, text));
  return { faults, remarks };
}

function isSaid(before: readonly PackageText[], text: string): boolean {
  const { skill } = parse(before.find(({ path }) => path === skillFile)?.text ?? "");
  return skill !== null && [skill.description, ...Object.values(skill.metadata)].includes(text);
}

/** The lines of a text that another text says otherwise, by number. */
export function changedLines(text: string, other: string): number[] {
  const others = new Set(other.split(/\r?\n/));
  return text.split(/\r?\n/).flatMap((line, at) => (others.has(line) ? [] : [at + 1]));
}

/** What is wrong with the paths of a package, on whatever disk it is to lie; null where nothing is. */
export function faultInPaths(paths: readonly string[]): string | null {
  const bad = paths.find((path) => !isSafePath(path));
  if (bad !== undefined) return `the path "${bad}" leads out of its folder`;
  // What nobody sees in a listing may be a setting or a hook of some tool.
  const hidden = paths.find((path) => path.split("/").some((part) => part.startsWith(".")));
  if (hidden !== undefined) return `the path "${hidden}" is hidden`;
  const files = new Map<string, string>();
  for (const path of paths) {
    const twin = files.get(folded(path));
    if (twin !== undefined)
      return twin === path
        ? `"${path}" is in there twice`
        : `"${twin}" and "${path}" are one file on some disks`;
    files.set(folded(path), path);
  }
  for (const path of paths) {
    const parts = folded(path).split("/");
    const file = parts.slice(1).map((_, n) => files.get(parts.slice(0, n + 1).join("/")));
    const clash = file.find((one) => one !== undefined);
    if (clash !== undefined) return `"${clash}" is both a file and a folder, of "${path}"`;
  }
  return null;
}

/** A path as a disk takes it that does not tell capitals, or composed letters, apart. */
function folded(path: string): string {
  return path.normalize("NFKC").toUpperCase().toLowerCase();
}
