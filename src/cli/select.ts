import type { PublishedItem } from "../library/index.ts";
import type { Knack } from "../open.ts";
import type { Lesson, LiveReach } from "../records/index.ts";
import { measureSimilarity } from "../text/index.ts";
import { unknownName, wrongUsage } from "./command.ts";
import { oneLine } from "./screen/text.ts";

// --- Values of options ---

/** A word that is one of some, or null where none is given. */
export function parseOneOf<const Word extends string>(
  option: string,
  word: string | undefined,
  words: readonly Word[],
): Word | null {
  if (word === undefined) return null;
  const found = words.find((one) => one === word);
  if (found === undefined) throw wrongUsage(`Invalid --${option} "${word}".`, `Use ${words.join(", ")}.`);
  return found;
}

/** Where something is kept: for this person, in the repository, or in every project. */
export function parseWhere(word: string | undefined): LiveReach | null {
  return parseOneOf("where", word, ["me", "repository", "everywhere"]);
}

/** A point in time: a date, or an age. */
export function parseSince(since: string, now: number): number {
  const age = /^(\d+)([hdw])$/.exec(since);
  const hours = { h: 1, d: 24, w: 168 }[age?.[2] ?? ""];
  // A number alone would be read as a year or a month.
  const isDate = /^\d{4}-\d{2}(?:-\d{2})?(?:$|[T ])/.test(since);
  const at =
    age && hours ? now - Number(age[1]) * hours * 3_600_000 : isDate ? Date.parse(since) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  const meant = /^\d{1,3}$/.test(since) ? `For ${since} days: --since ${since}d. ` : "";
  throw wrongUsage(`Invalid --since "${since}".`, `${meant}Use a date (2026-11-01) or an age (12h, 7d, 4w).`);
}

/** Paths that a command was given; null for none, which means the agents' own folders. */
export function parsePaths(words: readonly string[]): readonly string[] | null {
  if (words.includes("")) throw wrongUsage("A path is empty.");
  return words.length > 0 ? words : null;
}

/** The items whose names are listed with commas between them; all of them where no list is given. */
export function selectNamed<Item extends { readonly name: string }>(
  items: readonly Item[],
  list: string | undefined,
  command: string,
): readonly Item[] {
  if (list === undefined) return items;
  const words = list.split(",").map((word) => word.trim());
  for (const word of words)
    if (!items.some(({ name }) => matchesName(name, word)))
      throw unknownName(`${command} has nothing called "${word}".`, `${command} lists what there is.`);
  return items.filter(({ name }) => words.some((word) => matchesName(name, word)));
}

// --- What a name means ---

/** Prefixes of learned skills end with a hyphen: `npm-test` means `rl-npm-test`. */
export function matchesName(name: string, word: string): boolean {
  return (
    name === word || (name.endsWith(`-${word}`) && /^[a-z0-9]{1,15}-$/.test(name.slice(0, -word.length)))
  );
}

/** Whether a word is an id or the beginning of one. */
export function matchesId(id: string, word: string): boolean {
  return id === word || (word.length > 3 && id.startsWith(word));
}

/** The target of a name: published files, and the lesson behind them. */
interface NamedThing {
  readonly name: string;
  readonly kept: readonly PublishedItem[];
  readonly lesson: Lesson | null;
}

/**
 * Finds something by its name, with or without the prefix of learned skills, or by the id of its lesson. Where this
 * project has the name, its own is meant.
 */
export async function findNamed(knack: Knack, word: string): Promise<NamedThing> {
  const { shelf, lessons, ownerOf, here } = await listOwned(knack);
  const isOwn = (name: string, owner: string | null) => owner === here && matchesName(name, word);
  const ownLessons = lessons.filter((one) => isOwn(one.name, getOwner(one)));
  const ownShelf = shelf.filter((one) => isOwn(one.name, ownerOf(one)));
  const isHere = ownLessons.length + ownShelf.length > 0;
  return findAmong(knack, word, isHere ? ownShelf : shelf, isHere ? ownLessons : lessons);
}

/** Like `findNamed`, but a name means nothing of another project: that is meant by its id. */
export async function findNamedHere(knack: Knack, word: string): Promise<NamedThing> {
  const { shelf, lessons, ownerOf, here } = await listOwned(knack);
  const isKnownHere = (await knack.projects()).some(({ id }) => id === here);
  const owners = new Set([
    ...shelf.flatMap((one) => (matchesName(one.name, word) ? ownerOf(one) : [])),
    ...lessons.flatMap((one) => (matchesName(one.name, word) ? getOwner(one) : [])),
  ]);
  // Where no other project has the name, it may be said anywhere outside of one.
  const isClear = !isKnownHere && owners.size <= 1;
  const isOurs = (name: string, owner: string | null) =>
    isClear || owner === null || owner === here || !matchesName(name, word);
  return findAmong(
    knack,
    word,
    shelf.filter((one) => isOurs(one.name, ownerOf(one))),
    lessons.filter((one) => isOurs(one.name, getOwner(one)) || matchesId(one.id, word)),
  );
}

/** Everything that has a name, whose it is, and the project of this folder. */
async function listOwned(knack: Knack) {
  const [shelf, lessons] = [await knack.shelf(), await knack.lessons()];
  const projects = new Map(lessons.map((lesson) => [lesson.id as string, getOwner(lesson)]));
  const ownerOf = ({ origin, askedIn }: PublishedItem) => projects.get(origin.id) ?? askedIn;
  return { shelf, lessons, ownerOf, here: await knack.projectOf(process.cwd()) };
}

/** The project that a lesson belongs to; null for what is the person's. */
function getOwner({ scope, project }: Lesson): string | null {
  return scope === "user" ? null : project;
}

async function findAmong(
  knack: Knack,
  word: string,
  shelf: readonly PublishedItem[],
  lessons: readonly Lesson[],
): Promise<NamedThing> {
  const kept = shelf.filter(({ name }) => matchesName(name, word));
  const withId = lessons.filter(({ id }) => matchesId(id, word));
  if (withId.length > 1)
    throw unknownName(
      `"${word}" is the beginning of ${withId.length} ids.`,
      withId.map(({ id, name }) => `${id} ${name}`).join("; "),
    );
  const [first] = kept;
  const lesson =
    lessons.find(({ id }) => id === first?.origin.id) ??
    withId[0] ??
    lessons.find(({ name }) => matchesName(name, word)) ??
    (await findRemoved(knack, word, lessons));
  const own = first ? kept : shelf.filter((one) => one.origin.id === lesson?.id);
  if (!lesson && own.length === 0)
    throw unknownName(`Nothing is called "${word}".`, suggestNames(word, [...shelf, ...lessons]));
  return { name: own[0]?.name ?? lesson?.name ?? word, kept: own, lesson: lesson ?? null };
}

/** The lesson behind something that was removed. */
async function findRemoved(
  knack: Knack,
  word: string,
  lessons: readonly Lesson[],
): Promise<Lesson | undefined> {
  const change = (await knack.changes()).findLast((one) => matchesName(one.change.name, word))?.change;
  return lessons.find(({ id }) => id === change?.origin.id);
}

function suggestNames(word: string, things: readonly { readonly name: string }[]): string {
  const parts = new Set(word.split("-"));
  const near = [...new Set(things.map(({ name }) => name))]
    .map((name) => ({
      name,
      likeness: name.includes(word) ? 1 : measureSimilarity(parts, new Set(name.split("-"))),
    }))
    .filter(({ likeness }) => likeness > 0.2)
    .sort((a, b) => b.likeness - a.likeness)
    .slice(0, 3);
  return near.length > 0
    ? `Did you mean ${near.map(({ name }) => name).join(", ")}?`
    : "knack skills list and knack lessons list the names.";
}

export async function findLesson(knack: Knack, word: string): Promise<Lesson> {
  const { lesson } = await findNamed(knack, word);
  if (lesson) return lesson;
  throw unknownName(`No lesson is called "${word}".`, "knack lessons lists them.");
}

/** The id of an agent's session, from its beginning. */
export async function findSession(knack: Knack, word: string): Promise<string> {
  const found = [...new Set(await knack.runs())].filter((run) => matchesId(run, word));
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  throw unknownName(
    found.length === 0
      ? `No session is called "${word}".`
      : `"${word}" is the beginning of ${found.length} sessions.`,
    "knack sessions --json lists them.",
  );
}

/** Whether a project's name or id contains a text; always, where none is given. */
export function matchesProject(part: string | undefined, name: string, id: string): boolean {
  return part === undefined || `${name}\n${id}`.toLowerCase().includes(part.toLowerCase());
}

export async function nameProjects(knack: Knack): Promise<(id: string) => string> {
  const names = new Map((await knack.projects()).map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? id;
}

/** Display names of scopes: a project's name, or `everywhere` for the person's own. */
export async function nameRealms(knack: Knack): Promise<(scopeId: string) => string> {
  const name = await nameProjects(knack);
  return (scopeId) => (scopeId === "user" ? "everywhere" : oneLine(name(scopeId), 40));
}

export async function readInput(): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}
