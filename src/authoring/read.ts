import { recordEntries } from "../lessons/index.ts";
import { type PackageFile, parseSkill, skillFile } from "../library/index.ts";
import {
  type AuthoringFault,
  createFault,
  type Event,
  type Item,
  isPersons,
  type LedgerEntry,
  parseRef,
  shorten,
} from "../records/index.ts";
import { itemNamed } from "../search/index.ts";
import { decodeUtf8 } from "../text/index.ts";
import { readEventsByRef } from "../transcripts/index.ts";
import { isSafePath, mayBeWritten, needsPerson, scan } from "../trust/index.ts";
import { type ActiveCaller, type AuthoringDeps, getCallerRoot, latestEvents } from "./caller.ts";
import { type AuthoringResult, codeChars, describeUnknownSession, refuse, refuseWith } from "./protocol.ts";

const maxSkillsListed = 200;
/** Characters of a skill, or of one of its files, that an agent is given. */
const loadedChars = 40_000;
const maxEventsListed = 40;
const maxExpanded = 20;
const expandedChars = 5_000;
const lineChars = 160;

/** Reading for agents: skills, and events of their own session. */
export const readingVerbs = { loadSkill, expandEvents };

/** A skill's text, or one of its files, and what else there is. */
type LoadedSkill = {
  readonly name: string;
  readonly description: string;
  /** The file that this is: `SKILL.md`, or a support file. */
  readonly file: string;
  readonly text: string;
  readonly files: readonly string[];
};

/** The skills that may be loaded. */
type SkillIndex = {
  readonly skills: readonly { readonly name: string; readonly description: string }[];
  /** How many there are beyond those. */
  readonly more: number;
};

/** An event, with more of it than its line. */
type ExpandedEvent = {
  readonly ref: string;
  readonly line: string;
  readonly text: string | null;
};

/** Every skill that may be loaded, by name and description, or one, or one of its files; noted as a use. */
async function loadSkill(
  deps: AuthoringDeps,
  active: ActiveCaller,
  { skill, file }: { readonly skill: string | null; readonly file: string | null },
): Promise<AuthoringResult<LoadedSkill | SkillIndex>> {
  const { project } = active.caller;
  const { items } = await deps.catalog(getCallerRoot(active));
  const isHere = ({ scopeId }: Item) => scopeId === project.id || scopeId === "user";
  const skills = items.filter((one) => one.kind === "skill" && one.load !== "person" && isHere(one));
  const own = await readOwnSkills(deps);
  if (skill === null) return { ok: true, value: listLoadable([...skills, ...own]) };
  const item = itemNamed(skills, project.id, skill);
  const meant = item ?? own.find(({ name }) => skill === name || skill === `knack:${name}`);
  if (meant === undefined)
    return refuse(
      "skill_unknown",
      `There is no skill "${skill.slice(0, codeChars)}" here.`,
      "Call skill_load without a name to see what there is, or skill_search with what you are about to do.",
    );
  const loaded = await readSkillFile(deps, meant, file ?? skillFile);
  if (loaded.ok && item) await recordUse(deps, active, item);
  return loaded;
}

/** As much of a skill as is needed to hand it out. */
type LoadableSkill = Pick<Item, "name" | "description" | "path" | "draft" | "checkout" | "accepted" | "told">;

/** Knack's own skills, as the library would have them. */
async function readOwnSkills({ library, ownSkills }: AuthoringDeps): Promise<LoadableSkill[]> {
  const found: LoadableSkill[] = [];
  for (const folder of ownSkills) {
    const path = `${folder}/${skillFile}`;
    const read = await library.readText(path);
    const skill = read.found === "text" ? parseSkill(read.text).skill : null;
    const own = { draft: false, checkout: null, accepted: null, told: "whole" } as const;
    if (skill) found.push({ name: skill.name, description: skill.description, path, ...own });
  }
  return found;
}

/** Skills that may be handed over as they are, the project's and the person's together. */
function listLoadable(skills: readonly LoadableSkill[]): SkillIndex {
  const shown = skills.filter(({ told }) => told === "whole").sort((a, b) => (a.name < b.name ? -1 : 1));
  const byName = new Map(shown.map(({ name, description }) => [name, { name, description }]));
  const all = [...byName.values()];
  return { skills: all.slice(0, maxSkillsListed), more: Math.max(0, all.length - maxSkillsListed) };
}

/** A file of a skill as it is on disk now, scanned before it is returned. */
async function readSkillFile(
  { library }: AuthoringDeps,
  item: LoadableSkill,
  file: string,
): Promise<AuthoringResult<LoadedSkill>> {
  const { name, description, path } = item;
  if (!isSafePath(file))
    return refuse(
      "invalid_argument",
      `"${file.slice(0, codeChars)}" is not the path of a file in a skill.`,
      "Name a file as skill_load lists it: references/notes.md.",
    );
  const fault = findUnvouched(item);
  if (fault !== null) return refuseWith(fault);
  const folder = path.replace(/[\\/][^\\/]*$/, "");
  const read = await library.read(folder);
  const files = read?.files ?? [];
  // Some agents also take a single file for a skill; it has no others.
  const found = files.find(
    (one) => one.path === file || (file === skillFile && path.endsWith(`/${one.path}`)),
  );
  if (found === undefined)
    return refuse(
      "skill_package_missing",
      `The skill "${name}" has no file "${file.slice(0, codeChars)}".`,
      `Call skill_load with skill_name "${name}" alone; it lists the files.`,
      listPaths(files),
    );
  // What is handed over is what was read and hashed just now, not what the file may hold a moment later.
  if (item.checkout !== null && read?.hash !== item.accepted) return refuseWith(describeUnaccepted(item));
  const text = decodeUtf8(found.bytes);
  if (text === null)
    return refuse(
      "skill_package_invalid",
      `"${file}" of the skill "${name}" is not text.`,
      "Use it by its path, or leave it.",
      [`${folder}/${file}`],
    );
  // Nobody has looked at a draft yet, so that nothing in it may be doubted.
  const isStrict = item.draft || item.checkout !== null;
  const concerns = scan(text, {
    most: Number.POSITIVE_INFINITY,
    file,
    loaded: file === skillFile,
    steps: isStrict,
  }).filter((concern) =>
    isStrict ? needsPerson([concern]) : !mayBeWritten([concern]) && concern.code !== "run-on-load",
  );
  if (concerns.length > 0)
    return refuse(
      "skill_package_invalid",
      `The skill "${name}" is withheld: its ${file} has dangerous content.`,
      `Go on without it, and tell the person; they can look at it with: knack skills show ${name}`,
      concerns.map(({ message, where }) => `${where}: ${message}`),
    );
  const shown = shorten(text, loadedChars);
  return { ok: true, value: { name, description, file, text: shown, files: listPaths(files) } };
}

/** Why an agent is not given a skill that it names: nobody vouches for it. */
function findUnvouched(item: LoadableSkill): AuthoringFault | null {
  if (item.draft && item.told === "nothing")
    return createFault(
      "skill_not_accepted",
      `The draft "${item.name}" waits for the person's yes.`,
      `Go on without it. The person can look at it and accept it: knack skills show ${item.name}, knack skills accept ${item.name}`,
    );
  return item.checkout !== null && item.told !== "whole" ? describeUnaccepted(item) : null;
}

function describeUnaccepted({ name, path }: LoadableSkill): AuthoringFault {
  return createFault(
    "skill_not_accepted",
    `The skill "${name}" came with this repository, and the person has not accepted its present text.`,
    "Use your own means to load it, if you have them. The person can let Knack hand it over: knack skills trust",
    [path],
  );
}

function listPaths(files: readonly PackageFile[]): string[] {
  return files.map(({ path }) => path).sort();
}

/** A transcript shows the call by itself; only a session that has none is noted here. */
async function recordUse(
  { store, clock }: AuthoringDeps,
  { caller, session }: ActiveCaller,
  item: Item,
): Promise<void> {
  if (session !== null || caller.session === null) return;
  const used: LedgerEntry = {
    ...{ at: clock.now(), project: caller.project.id, session: caller.session, actor: "knack" },
    ...{ type: "skill.used", key: `used:${caller.session}:${item.id}` },
    data: { skill: item.id, name: item.name, by: "tool", prompt: null, ref: "" },
  };
  await store.transaction((tx) => recordEntries(tx, [used]));
}

/** Events of the session that calls: those that are named, whole; or else its latest, a line each. */
async function expandEvents(
  { store }: AuthoringDeps,
  { session, caller }: ActiveCaller,
  refs: readonly string[],
): Promise<AuthoringResult<readonly ExpandedEvent[]>> {
  if (session === null) return refuseWith(describeUnknownSession(caller));
  const wanted = [...new Set(refs)];
  if (wanted.length === 0) {
    const latest = await latestEvents(store, session, maxEventsListed);
    return {
      ok: true,
      value: latest.map((event) => ({ ref: event.ref, line: describeEvent(event), text: null })),
    };
  }
  if (wanted.length > maxExpanded)
    return refuse(
      "invalid_argument",
      `${wanted.length} events are more than the ${maxExpanded} that can be shown at once.`,
      `Ask for ${maxExpanded} or fewer.`,
    );
  const found = new Map((await readEventsByRef(store, session, wanted)).map((event) => [event.ref, event]));
  const missing = wanted.filter((ref) => !found.has(ref));
  if (missing.length > 0)
    return refuse(
      "evidence_unresolved",
      "This session has no events of these refs.",
      "Call event_expand without event_refs: it lists the latest events with their refs.",
      missing,
    );
  const inOrder = [...found.values()].sort((a, b) => parseRef(a.ref) - parseRef(b.ref));
  return {
    ok: true,
    value: inOrder.map((event) => ({
      ref: event.ref,
      line: describeEvent(event),
      text: shorten(renderWhole(event), expandedChars),
    })),
  };
}

/** An event on one line, for a list to choose from. */
function describeEvent(event: Event): string {
  const line = `${event.ref} ${describeHead(event)}`.replace(/\s+/g, " ").trim();
  return line.length <= lineChars ? line : `${line.slice(0, lineChars - 1)}…`;
}

function describeHead(event: Event): string {
  const { kind, tool, command, files, input, outcome, exitCode, text } = event;
  if (kind === "prompt") return `${isPersons(event) ? "the person" : "a program"}: ${text}`;
  if (kind === "reply") return `the agent: ${text}`;
  if (kind === "mark") return `mark: ${text}`;
  const what = command ?? (files.length > 0 ? files.join(" ") : input === null ? "" : JSON.stringify(input));
  const wentWell = outcome === null || outcome === "ok" || outcome === "unknown";
  const ended = wentWell ? "" : `[${outcome}${exitCode === null ? "" : `, exit ${exitCode}`}]`;
  return [tool ?? "call", ended, what].filter((part) => part !== "").join(" ");
}

/** All that is kept of an event: what was said, or what was called and what came of it. */
function renderWhole({ kind, tool, command, files, input, text }: Event): string {
  if (kind !== "call") return text;
  const called = command ?? (input === null ? files.join("\n") : JSON.stringify(input, null, 2));
  return `${tool ?? "call"}: ${called}\n\n${text}`.trim();
}
