import { numberOf, shorten } from "../core/event.ts";
import { lineOf, wholeOf } from "../core/event-line.ts";
import { type Item, itemNamed } from "../core/item.ts";
import type { LedgerEntry } from "../core/ledger.ts";
import { plainText } from "../core/plain-text.ts";
import { policy } from "../core/policy.ts";
import { type Answer, brief, faultOf, faulty, sessionFault } from "../core/protocol.ts";
import { isSafePath, mayBeWritten, scan } from "../core/scan.ts";
import { parse, skillFile } from "../core/skill.ts";
import { latestEvents, type Present, rootIn } from "./caller.ts";
import type { CatalogReading } from "./catalog.ts";
import type { ForegroundDeps } from "./foreground.ts";
import { eventsNamed } from "./inspect.ts";
import { note } from "./note.ts";
import type { PackageFile } from "./ports.ts";

export interface LookDeps extends ForegroundDeps {
  /** The library, seen from a folder. */
  readonly catalog: (cwd: string | null) => Promise<CatalogReading>;
  /** The folders of Knack's own skills, which an agent without its plugin has nowhere else. */
  readonly own: readonly string[];
}

/** A skill's text, or one of its files, and what else there is. */
export interface LoadedSkill {
  readonly name: string;
  readonly description: string;
  /** The file that this is: `SKILL.md`, or a support file. */
  readonly file: string;
  readonly text: string;
  readonly files: readonly string[];
}

/** The skills that may be loaded. */
export interface SkillIndex {
  readonly skills: readonly { readonly name: string; readonly description: string }[];
  /** How many there are beyond those. */
  readonly more: number;
}

/** An event, with more of it than its line. */
export interface ExpandedEvent {
  readonly ref: string;
  readonly line: string;
  readonly text: string | null;
}

/** Every skill that may be loaded, by name and description, or one, or one of its files; noted as a use. */
export async function loadSkill(
  deps: LookDeps,
  present: Present,
  { skill, file }: { readonly skill: string | null; readonly file: string | null },
): Promise<Answer<LoadedSkill | SkillIndex>> {
  const { project } = present.caller;
  const { items } = await deps.catalog(rootIn(present));
  const skills = items.filter(
    ({ kind, load, realm }) =>
      kind === "skill" && load !== "person" && (realm === project.id || realm === "user"),
  );
  const own = await ownSkills(deps);
  if (skill === null) return { ok: true, value: indexOf([...skills, ...own]) };
  const item = itemNamed(skills, project.id, skill);
  const ours = own.find(({ name }) => skill === name || skill === `knack:${name}`);
  const meant = item ?? ours;
  if (meant === undefined)
    return faulty(
      faultOf(
        "skill_unknown",
        `There is no skill "${brief(skill)}" here.`,
        "Call skill_load without a name to see what there is, or skill_search with what you are about to do.",
      ),
    );
  const loaded = await textOf(deps, meant, file ?? skillFile);
  if (loaded.ok && item) await noteUse(deps, present, item);
  return loaded;
}

/** As much of a skill as is needed to hand it out. */
type Handed = Pick<Item, "name" | "description" | "path" | "draft" | "harmless">;

/** Knack's own skills, as the library would have them. */
async function ownSkills({ library, own }: LookDeps): Promise<Handed[]> {
  const found: Handed[] = [];
  for (const folder of own) {
    const path = `${folder}/${skillFile}`;
    const read = await library.readText(path);
    const skill = read.found === "text" ? parse(read.text).skill : null;
    if (skill)
      found.push({ name: skill.name, description: skill.description, path, draft: false, harmless: true });
  }
  return found;
}

/** What is no draft and may be read, the project's own and the person's together. */
function indexOf(skills: readonly Handed[]): SkillIndex {
  const shown = skills
    .filter(({ draft, harmless }) => !draft && harmless)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const byName = new Map(shown.map(({ name, description }) => [name, { name, description }]));
  const all = [...byName.values()];
  const { skillsListed } = policy.protocol;
  return { skills: all.slice(0, skillsListed), more: Math.max(0, all.length - skillsListed) };
}

/** A file of a skill as it is on disk now; nothing is handed out that was not looked through. */
async function textOf({ library }: LookDeps, item: Handed, file: string): Promise<Answer<LoadedSkill>> {
  const { name, description, path } = item;
  if (!isSafePath(file))
    return faulty(
      faultOf(
        "invalid_argument",
        `"${brief(file)}" is no path of a file in a skill.`,
        "Name a file as skill_load lists it: references/notes.md.",
      ),
    );
  const folder = path.replace(/[\\/][^\\/]*$/, "");
  const files = (await library.read(folder))?.files ?? [];
  // Some agents also take a single file for a skill; it has no others.
  const found = files.find(
    (one) => one.path === file || (file === skillFile && path.endsWith(`/${one.path}`)),
  );
  if (found === undefined)
    return faulty(
      faultOf(
        "skill_package_missing",
        `The skill "${name}" has no file "${brief(file)}".`,
        `Call skill_load with skill_name "${name}" alone; it lists the files.`,
        namesOf(files),
      ),
    );
  const text = plainText(found.bytes);
  if (text === null)
    return faulty(
      faultOf(
        "skill_package_invalid",
        `"${file}" of the skill "${name}" is no text.`,
        "Use it by its path, or leave it.",
        [`${folder}/${file}`],
      ),
    );
  const concerns = scan(text, { most: Number.POSITIVE_INFINITY, file }).filter(
    (concern) => !mayBeWritten([concern]),
  );
  if (concerns.length > 0)
    return faulty(
      faultOf(
        "skill_package_invalid",
        `The skill "${name}" is not handed out: its ${file} says what no skill should.`,
        "Go on without it, and tell the person; they can look at it with: knack skills validate",
        concerns.map(({ message, where }) => `${where}: ${message}`),
      ),
    );
  const shown = shorten(text, policy.protocol.loadedChars);
  return { ok: true, value: { name, description, file, text: shown, files: namesOf(files) } };
}

function namesOf(files: readonly PackageFile[]): string[] {
  return files.map(({ path }) => path).sort();
}

/** A transcript shows the call by itself; only a session that has none is noted here. */
async function noteUse({ store, clock }: LookDeps, { caller, session }: Present, item: Item): Promise<void> {
  if (session !== null || caller.session === null) return;
  const used: LedgerEntry = {
    at: clock.now(),
    project: caller.project.id,
    session: caller.session,
    actor: "knack",
    type: "skill.used",
    key: `used:${caller.session}:${item.id}`,
    data: { skill: item.id, name: item.name, by: "tool", prompt: null, ref: "" },
  };
  await store.transaction((tx) => note(tx, [used]));
}

/** Events of the session that calls: those that are named, whole; or else its latest, a line each. */
export async function expandEvents(
  { store }: LookDeps,
  { session, caller }: Present,
  refs: readonly string[],
): Promise<Answer<readonly ExpandedEvent[]>> {
  const { listed, expanded, expandedChars } = policy.protocol;
  if (session === null) return faulty(sessionFault(caller));
  const wanted = [...new Set(refs)];
  if (wanted.length === 0) {
    const latest = await latestEvents(store, session, listed);
    return { ok: true, value: latest.map((event) => ({ ref: event.ref, line: lineOf(event), text: null })) };
  }
  if (wanted.length > expanded)
    return faulty(
      faultOf(
        "invalid_argument",
        `${wanted.length} events are more than the ${expanded} that can be shown at once.`,
        `Ask for ${expanded} or fewer.`,
      ),
    );
  const found = new Map((await eventsNamed(store, session, wanted)).map((event) => [event.ref, event]));
  const missing = wanted.filter((ref) => !found.has(ref));
  if (missing.length > 0)
    return faulty(
      faultOf(
        "evidence_unresolved",
        "This session has no events of these names.",
        "Call event_expand without event_refs: it lists the latest events with their refs.",
        missing,
      ),
    );
  const inOrder = [...found.values()].sort((a, b) => numberOf(a.ref) - numberOf(b.ref));
  return {
    ok: true,
    value: inOrder.map((event) => ({
      ref: event.ref,
      line: lineOf(event),
      text: shorten(wholeOf(event), expandedChars),
    })),
  };
}
