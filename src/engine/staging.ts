import { plainText } from "../core/plain-text.ts";
import { policy } from "../core/policy.ts";
import { type Fault, faultOf } from "../core/protocol.ts";
import { isSafePath } from "../core/scan.ts";
import type { ForegroundDeps } from "./foreground.ts";
import { endOf, type Learning, learningsOf } from "./learnings.ts";
import type { Handed } from "./plan-learned.ts";
import type { PackageFile, Place } from "./ports.ts";
import { basename, bytesOf, dirname } from "./step.ts";

export type Package = Handed & { readonly hash: string };

/** The folder of a learning, in which that of its package is. */
export function deskOf(
  { staging }: Pick<ForegroundDeps, "staging">,
  root: string | null,
  learning: string,
): Place {
  const { folder, root: top } = staging(root);
  return { folder: `${folder}/${learning}`, root: top };
}

/** Makes the folder that an agent writes in, with what is to be changed; what it has written there already stays. */
export async function prepare(
  deps: ForegroundDeps,
  root: string | null,
  desk: Place,
  skill: string,
  seed: readonly PackageFile[] | null,
): Promise<boolean> {
  // Out of git before it is there.
  if (root !== null) await deps.library.excludeFromGit(root, deps.staging(root).folder);
  if (!(await deps.library.makeFolder(desk, skill))) return false;
  if (seed === null || (await deps.library.namesIn(`${desk.folder}/${skill}`)).length > 0) return true;
  const empty = await deps.library.read(`${desk.folder}/${skill}`);
  const written = await deps.library.write(desk, skill, seed, { expecting: empty?.hash ?? null });
  return written.written;
}

/** The package that lies in a place; null for none, and for an empty folder; a fault for what is not even read. */
export async function foundIn(
  deps: Pick<ForegroundDeps, "library">,
  place: Place,
  name: string,
): Promise<Package | Fault | null> {
  const path = `${place.folder}/${name}`;
  const holds = await deps.library.holds(place, name);
  if (holds === "nothing") return null;
  if (holds === "else") return noFolder(path);
  const heavy = await tooMuchIn(deps, path);
  if (heavy) return heavy;
  const found = await deps.library.read(path);
  return found === null || found.files.length + found.links.length === 0 ? null : found;
}

/** The same for those who can do without it. */
export async function readableIn(
  deps: Pick<ForegroundDeps, "library">,
  place: Place,
  name: string,
): Promise<Package | null> {
  const found = await foundIn(deps, place, name);
  return found !== null && "code" in found ? null : found;
}

/** Whether an agent has written something in its folder. */
export async function isWrittenIn(
  deps: ForegroundDeps,
  desk: Place,
  { started }: Pick<Learning, "started">,
): Promise<boolean> {
  const staged = await foundIn(deps, desk, started.skill);
  return staged !== null && ("code" in staged || staged.hash !== started.seed);
}

/** What else lies beside the package in a learning's folder. */
export async function straysIn({ library }: ForegroundDeps, desk: Place, skill: string): Promise<string[]> {
  return (await library.namesIn(desk.folder)).filter((name) => name !== skill && !name.startsWith(".knack-"));
}

/** Whether a folder has more than a package may have by far, so that it is not even read. */
async function tooMuchIn(
  { library }: Pick<ForegroundDeps, "library">,
  folder: string,
): Promise<Fault | null> {
  const { files: fewest, packageBytes, unread } = policy.protocol;
  const most = { files: fewest * unread, bytes: packageBytes * unread };
  const { files, bytes } = await library.weigh(folder, most);
  if (files <= most.files && bytes <= most.bytes) return null;
  return faultOf(
    "skill_package_invalid",
    `${folder} has far more in it than a skill: more than ${files > most.files ? `${most.files} files` : `${most.bytes} bytes`}.`,
    `Take out what does not belong to the skill (at most ${fewest} files, ${packageBytes} bytes), then finish again.`,
    [folder],
  );
}

/** The files that can be written down, and the paths of the others. */
export function portable(all: readonly PackageFile[]): { files: PackageFile[]; lost: string[] } {
  const taken = new Set<string>();
  const files: PackageFile[] = [];
  const lost: string[] = [];
  for (const file of all) {
    const isGood = isSafePath(file.path) && !taken.has(file.path.toLowerCase());
    taken.add(file.path.toLowerCase());
    if (isGood) files.push(file);
    else lost.push(file.path);
  }
  return { files, lost };
}

/** Keeps what an agent wrote, and nobody wants, as a version: without its secrets, which are why it may not be wanted, be they in a name. */
export async function keepAside(
  { versions, redactor }: Pick<ForegroundDeps, "versions" | "redactor">,
  { files }: Package,
): Promise<string> {
  const scrub = (texts: readonly string[]) => redactor.scrub(texts.map((text) => ({ label: "text", text })));
  const texts = files.map(({ bytes }) => textIn(bytes));
  const clean = await scrub(texts.map(({ text }) => text));
  const names = await scrub(files.map(({ path }) => path));
  const kept = files.flatMap((file, at) => {
    const { text, isText } = texts[at] as ReturnType<typeof textIn>;
    if (names[at] !== file.path) return [];
    if (clean[at] === text) return file;
    return isText ? { ...file, bytes: bytesOf(clean[at] ?? "") } : [];
  });
  return versions.keep(portable(kept).files);
}

/** Bytes as words to look through, also where they are no text. */
function textIn(bytes: Uint8Array): { readonly text: string; readonly isText: boolean } {
  const text = plainText(bytes);
  return { text: text ?? new TextDecoder("latin1").decode(bytes), isText: text !== null };
}

/** Keeps what is staged, unless it is what was put there. */
export async function keepStaged(
  deps: ForegroundDeps,
  desk: Place,
  { skill, seed }: Learning["started"],
): Promise<void> {
  const staged = await readableIn(deps, desk, skill);
  if (staged !== null && staged.hash !== seed) await keepAside(deps, staged);
}

/** Takes the folder of a learning away; with the last of them goes the folder of all, and its line in git's list. */
export async function clear({ library }: Pick<ForegroundDeps, "library">, desk: Place): Promise<void> {
  const { root } = desk;
  const staging = dirname(desk.folder);
  const isCleared = await library.clearFolder({ folder: staging, root }, basename(desk.folder));
  if (!isCleared || (await library.namesIn(staging)).length > 0) return;
  if (!(await library.dropEmpty({ folder: staging, root }))) return;
  await library.dropEmpty({ folder: dirname(staging), root });
  await library.unexclude(root, staging);
  // Another agent may have begun just then.
  if ((await library.namesIn(staging)).length > 0) await library.excludeFromGit(root, staging);
}

/** Takes away what was staged long ago and never finished, or left by a process that was killed; answers with how many. */
export async function sweepStaging(deps: ForegroundDeps): Promise<number> {
  const roots = new Map((await deps.store.projects.list()).map(({ id, root }) => [id, root]));
  const oldest = deps.clock.now() - policy.protocol.stagingDays * policy.model.dayMs;
  let swept = 0;
  for (const learning of await learningsOf(deps.store)) {
    const { started, lastAt, project } = learning;
    if (endOf(learning) === null && lastAt > oldest) continue;
    const tops = [started.worktree ?? roots.get(project) ?? null, null];
    const desks = tops.map((top) => deskOf(deps, top, started.learning));
    // A project may lie elsewhere by now: only what is where it would be made is Knack's to take away.
    const desk = desks.find(({ folder }) => started.staging === `${folder}/${started.skill}`);
    if (!desk || (await deps.library.namesIn(desk.folder)).length === 0) continue;
    // What is far too much to be a skill is not worth keeping, and what a link leads to is not the agent's.
    await keepStaged(deps, desk, started);
    await clear(deps, desk);
    swept++;
  }
  return swept;
}

function noFolder(path: string): Fault {
  return faultOf(
    "publish_failed",
    `${path} is no folder of its own: a file or a link is in its place, or a link leads out of where it belongs.`,
    "See what is there and take it away if it is yours, then call again; or finish with aborted.",
    [path],
  );
}
