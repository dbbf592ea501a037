import { doTheSame, isAbout, likenessOf } from "../core/alike.ts";
import type { Artifact, Kept } from "../core/change.ts";
import { amend, compose, countOf, type Evidence, learnedSection } from "../core/compose.ts";
import { diffOf } from "../core/diff.ts";
import type { ItemKind } from "../core/item.ts";
import { mayBeWritten, scanSkill } from "../core/scan.ts";
import type { Format } from "../core/session.ts";
import { parse, problemsOf, render, type Skill, skillFile } from "../core/skill.ts";
import { archivedLike } from "./archive.ts";
import type { KeptFinding, Library, PackageFile, Place, Places, SkillPackage, Store } from "./ports.ts";
import {
  bytesOf,
  changeOf,
  dirname,
  fileIn,
  filesAt,
  freeName,
  type History,
  historyOf,
  isFarAway,
  no,
  notHere,
  type Plan,
  type PublishDeps,
  packageOf,
  refusal,
  removal,
  type Step,
  type Subject,
  textOfPackage,
} from "./step.ts";

/** What there is before a skill is planned. */
interface Ground {
  readonly targets: readonly Place[];
  readonly shelf: Listed;
  readonly history: History;
}

/** What keeping a lesson as a skill would do. */
export async function planSkill(deps: PublishDeps, given: Subject): Promise<Plan> {
  const { choice, root, formats } = given;
  const targets = deps.places.skills(choice.reach, root, formats);
  if (targets === null) return no(notHere);
  const shelf = await listAll(deps.library, [...targets, ...deps.places.all(root)]);
  if (typeof shelf === "string") return no(shelf);
  // After the listing: whatever Knack wrote that is listed was on the ledger before it was on the disk.
  const ground = { targets, shelf, history: await historyOf(deps.store) };
  const wanted = await skillOf(deps, given);
  if (typeof wanted === "string") return no(wanted);
  const concerns = scanSkill(wanted);
  if (!mayBeWritten(concerns)) return no(refusal(concerns));
  // What a person edited goes on as it was scrubbed and scanned, also into a skill that is there already.
  const subject =
    choice.text === undefined ? given : { ...given, choice: { ...choice, text: render(wanted) } };
  const gone = choice.alongside ? null : await takenBack(deps, wanted, subject.instinct.id, ground.history);
  if (gone !== null) return no(`it is much like ${gone}, which was taken back (knack skills unskip ${gone})`);
  const planned = await (choice.reach === "draft"
    ? planDraft(deps, subject, ground, wanted)
    : planLive(deps, subject, ground, wanted));
  return planned.ok ? { ...planned, concerns: [...concerns, ...planned.concerns] } : planned;
}

async function planLive(deps: PublishDeps, subject: Subject, ground: Ground, wanted: Skill): Promise<Plan> {
  const { instinct, choice, root } = subject;
  const { targets, shelf, history } = ground;
  const drafts = folderOfDrafts(deps.places);
  const live = shelf.skills.filter(({ path }) => dirname(path) !== drafts);
  const own = live.filter((one) => isMadeOf(one, instinct.id, history) && isIn(one, targets));
  const near = own[0] ?? nearest(wanted, live);
  if (near && !isOurs(near, history) && !choice.alongside) return proposal(deps, subject, wanted, near);
  const narrower = choice.reach === "everywhere" && near && root !== null && near.path.startsWith(`${root}/`);
  const old = near && isOurs(near, history) ? null : await revived(deps, subject, wanted, history);
  const steps: (Step | null)[] = [];
  if (near && isOurs(near, history) && !isIn(near, targets) && !narrower)
    steps.push(await updateStep(deps, subject, near, history));
  else
    for (const target of targets) {
      const [existing = near] = own.filter((one) => isIn(one, [target]));
      const there = existing && isIn(existing, [target]) && isOurs(existing, history) ? existing : null;
      steps.push(
        there
          ? await updateStep(deps, subject, there, history)
          : createStep(deps, subject, old?.skill ?? wanted, target, shelf, history, old),
      );
    }
  steps.push(...(await draftsAway(deps, instinct.id, history)));
  return settled(steps, null);
}

export function settled(steps: readonly (Step | null)[], belongsTo: string | null): Plan {
  return { ok: true, steps: steps.filter((step) => step !== null), concerns: [], belongsTo };
}

/** What nobody said yes to is a draft, unless something says it already. */
async function planDraft(
  deps: PublishDeps,
  subject: Subject,
  { targets, shelf, history }: Ground,
  wanted: Skill,
): Promise<Plan> {
  const drafts = targets[0] as Place;
  const isDraft = ({ path }: SkillPackage) => dirname(path) === drafts.folder;
  const live = nearest(
    wanted,
    shelf.skills.filter((one) => !isDraft(one)),
  );
  if (live)
    return isOurs(live, history) ? no(`${live.name} says it already`) : proposal(deps, subject, wanted, live);
  const waiting = shelf.skills.filter(isDraft);
  const known =
    waiting.find((one) => isMadeOf(one, subject.instinct.id, history)) ?? nearest(wanted, waiting);
  if (!known) {
    const old = await revived(deps, subject, wanted, history);
    if (old && subject.choice.actor === "knack" && subject.instinct.standing.noticedAt <= old.at)
      return no(`${old.name} was put away, and nothing was learned about it since`);
    return settled([createStep(deps, subject, old?.skill ?? wanted, drafts, shelf, history, old)], null);
  }
  if (!isOurs(known, history)) return settled([], null);
  return settled([await updateStep(deps, subject, known, history)], null);
}

/** The drafts of an instinct that goes live. */
export async function draftsAway(deps: PublishDeps, instinct: string, history: History): Promise<Step[]> {
  const steps: Step[] = [];
  for (const kept of history.kept) {
    if (kept.reach !== "draft" || kept.instinct !== instinct) continue;
    const found = await filesAt(deps, kept);
    if (found) steps.push(removal(kept, found.hash, history, textOfPackage(found.files)));
  }
  return steps;
}

/** The skill that a person gets: composed from the evidence, or as they edited it. */
async function skillOf(deps: PublishDeps, subject: Subject): Promise<Skill | string> {
  const { choice, root, findings } = subject;
  if (choice.text !== undefined) return cleanSkill(deps, choice.text);
  const made = composed(subject, await deps.prefixOf(root), await authorOf(deps.store, findings));
  return cleanSkill(deps, render(made));
}

/** That a model saw something in sessions which no rule saw, and which model that was, where it is noted. */
async function authorOf(
  { ledger }: Store,
  findings: readonly KeptFinding[],
): Promise<{ readonly author?: "model"; readonly model?: string }> {
  const seen = findings.filter(({ finding }) => finding.by === "model");
  if (seen.length === 0) return {};
  const judged = (await ledger.since("session.judged", 0)).filter(({ session, data }) =>
    seen.some((one) => one.session === session && one.pass === data.pass),
  );
  const models = [...new Set(judged.map(({ data }) => data.model))];
  return { author: "model", ...(models.length === 0 ? {} : { model: models.join(", ") }) };
}

/** The skill of a text without its secrets, or why it is none. */
export async function cleanSkill({ redactor }: PublishDeps, text: string): Promise<Skill | string> {
  const [clean = ""] = await redactor.scrub([{ label: "skill", text }]);
  const { skill, problems } = parse(clean);
  const all = skill === null ? problems : [...problems, ...problemsOf(skill)];
  const wrong = all.find(({ severity }) => severity === "error");
  return skill !== null && !wrong ? skill : `it is no valid skill: ${wrong?.message ?? "it is empty"}`;
}

function composed(subject: Subject, prefix: string, author: Skill["metadata"]): Skill {
  const { name, lesson, trigger, action, kind, keywords } = subject.instinct;
  const bare = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  return compose({
    name: `${prefix}${bare}`.slice(0, 64).replace(/-+$/, ""),
    ...{ lesson, action, kind, keywords },
    trigger: isFarAway(subject) ? `${trigger} (in ${subject.projectName})` : trigger,
    evidence: evidenceOf(subject.findings),
    steps: subject.instinct.steps,
    check: "",
    metadata: {
      quality: subject.choice.reach === "draft" ? "draft" : "active",
      ...author,
    },
  });
}

/** What findings prove, the surest first. */
export function evidenceOf(findings: readonly KeptFinding[]): Evidence[] {
  return [...findings]
    .sort((a, b) => b.finding.confidence - a.finding.confidence || a.at - b.at || (a.id < b.id ? -1 : 1))
    .map(({ finding, run, at }) => ({
      ...finding.excerpt,
      session: run.slice(run.lastIndexOf("/") + 1),
      date: at > 0 ? new Date(at).toISOString().slice(0, 10) : null,
      refs: finding.refs,
    }));
}

/** The skills of several places, and the names that are taken in each. */
export interface Listed {
  readonly skills: readonly SkillPackage[];
  readonly taken: ReadonlySet<string>;
}

export async function listAll(library: Library, places: readonly Place[]): Promise<Listed | string> {
  const skills: SkillPackage[] = [];
  const taken = new Set<string>();
  for (const place of new Map(places.map((one) => [one.folder, one])).values()) {
    const listing = await library.list(place);
    // What cannot be read may hold the very skill that would be made again.
    if (listing.found === "unreadable") return `${place.folder} cannot be read: ${listing.message}`;
    if (listing.found === "missing") continue;
    const locked = listing.broken.find(({ unreadable }) => unreadable);
    if (locked) return `${locked.path} cannot be read: ${locked.problems.join("; ")}`;
    skills.push(...listing.skills);
    for (const { path } of [...listing.skills, ...listing.broken]) taken.add(path);
  }
  return { skills, taken };
}

/** The existing skill that is about the same thing. */
export function nearest(wanted: Skill, all: readonly SkillPackage[]): SkillPackage | null {
  const scored = all
    .filter(({ owner }) => owner !== "core")
    .map((one) => ({ one, likeness: likenessOf(wanted, one) }))
    .filter(({ one }) => isAbout(wanted, one) || doTheSame(wanted, one.skill))
    .sort((a, b) => b.likeness - a.likeness || (a.one.path < b.one.path ? -1 : 1));
  return scored[0]?.one ?? null;
}

/** The skill about the same thing that was there once and was taken away, by its name. */
export async function takenBack(
  { versions }: PublishDeps,
  wanted: Skill,
  instinct: string,
  { changes }: History,
): Promise<string | null> {
  const last = new Map(
    changes.flatMap(({ change, state }) =>
      state === "made" && change.kind === "skill" && change.reach !== "draft" ? [[change.path, change]] : [],
    ),
  );
  for (const { name, before, after, instinct: other, because } of last.values()) {
    // What was put away is no refusal.
    if (after !== null || before === null || other === instinct || because !== undefined) continue;
    const files = await versions.restore(before);
    const { skill } = parse(files ? textOfPackage(files) : "");
    if (skill && isAbout(wanted, skill)) return name;
  }
  return null;
}

function isIn({ path }: SkillPackage, places: readonly Place[]): boolean {
  return places.some(({ folder }) => dirname(path) === folder);
}

/** Whether Knack made a package, at whatever time, of an instinct. */
function isMadeOf({ path }: SkillPackage, instinct: string, { changes }: History): boolean {
  return changes.some(({ change }) => change.path === path && change.instinct === instinct);
}

/** Whether a package is as Knack once wrote it; one that a person changed is theirs. */
export function isOurs({ path, hash, owner }: SkillPackage, { changes }: History): boolean {
  return owner === "learned" && changes.some(({ change }) => change.path === path && change.after === hash);
}

export function folderOfDrafts(places: Places): string | undefined {
  return places.skills("draft", null, [])?.[0]?.folder;
}

/** What a skill is made of, and whom it reaches. */
export interface Source {
  readonly instinct: { readonly id: string };
  readonly choice: Pick<Subject["choice"], "reach">;
}

export function createStep(
  { versions }: PublishDeps,
  { instinct, choice }: Source,
  wanted: Skill,
  target: Place,
  { taken }: Listed,
  history: History,
  old: Revived | null,
  as: Pick<Artifact, "reach" | "proposal"> = { reach: choice.reach },
): Step {
  const name = freeName(wanted.name, (one) => taken.has(`${target.folder}/${one}`));
  const files = packageOf(render({ ...wanted, name }));
  const artifact = {
    kind: "skill" as const,
    name,
    path: `${target.folder}/${name}`,
    root: target.root,
    instinct: instinct.id,
    ...as,
  };
  const diff = diffOf(`${name}/${skillFile}`, null, textOfPackage(files));
  const why = old ? "restore" : "create";
  return { change: changeOf(artifact, null, versions.hashOf(files), why, history), files, diff };
}

/** What was put away about the same thing, as it would be brought back. */
export interface Revived {
  readonly name: string;
  readonly at: number;
  readonly skill: Skill;
}

/** The skill that was once there for this, with what was learned since; null when there was none, or there are other words for it. */
async function revived(
  deps: PublishDeps,
  subject: Subject,
  wanted: Skill,
  history: History,
): Promise<Revived | null> {
  const { instinct, choice } = subject;
  if (choice.text !== undefined || choice.actor === "agent") return null;
  const realm = instinct.scope === "user" ? "user" : instinct.project;
  const old = await archivedLike(deps, wanted, { instinct: instinct.id, realm }, history);
  // What goes where other projects read it must name its own.
  if (!old || (isFarAway(subject) && old.reach !== "everywhere")) return null;
  const text = (await withEvidence(deps, old, instinct.id, history)) ?? old.text;
  const { skill } = parse(text);
  if (!skill || !mayBeWritten(scanSkill(skill))) return null;
  const quality = choice.reach === "draft" ? "draft" : "active";
  return { name: old.name, at: old.at, skill: { ...skill, metadata: { ...skill.metadata, quality } } };
}

/** An update of a skill that Knack wrote: what is new is added, the rest stays as it is. */
async function updateStep(
  deps: PublishDeps,
  subject: Subject,
  existing: SkillPackage,
  history: History,
  proposing = false,
): Promise<Step | null> {
  const { instinct, choice } = subject;
  const text = choice.text ?? (await withEvidence(deps, existing, instinct.id, history));
  const current = await deps.library.read(existing.path);
  if (text === null || text === existing.text || current?.hash !== existing.hash) return null;
  const known = history.kept.find(({ path }) => path === existing.path);
  const artifact = {
    kind: "skill" as const,
    name: existing.name,
    path: existing.path,
    root: known?.root ?? dirname(dirname(existing.path)),
    reach: known?.reach ?? (proposing ? "draft" : choice.reach),
    instinct: instinct.id,
    ...(known?.proposal || proposing ? { proposal: true as const } : {}),
  };
  return rewriting(deps, artifact, current, text, history);
}

/** A step that puts another text into a package; its other files stay. */
export function rewriting(
  { versions }: PublishDeps,
  artifact: Artifact,
  current: { readonly files: readonly PackageFile[]; readonly hash: string },
  text: string,
  history: History,
  because?: string,
): Step {
  const main = artifact.kind === "skill" ? skillFile : fileIn(artifact);
  const files = current.files.map((file) => (file.path === main ? { ...file, bytes: bytesOf(text) } : file));
  return {
    change: changeOf(artifact, current.hash, versions.hashOf(files), "update", history, because),
    files,
    diff: diffOf(fileIn(artifact), textOfPackage(current.files), text),
  };
}

/** The text of a skill with the evidence of everything that it was made of; null when there is nothing new. */
async function withEvidence(
  { store }: PublishDeps,
  existing: Pick<SkillPackage, "path" | "text">,
  instinct: string,
  { changes }: History,
): Promise<string | null> {
  const made = changes.flatMap(({ change: { path, instinct: own, members = [] } }) =>
    path === existing.path ? [own, ...members] : [],
  );
  const findings = await store.learning.findings.ofInstincts([...new Set([...made, instinct])]);
  const evidence = evidenceOf(findings);
  const amended = amend(existing.text, { evidence, seen: countOf(evidence) });
  return amended.amended ? amended.text : null;
}

/** A lesson for a skill that a person wrote or changed: a draft beside it, with what accepting it would change. */
async function proposal(
  deps: PublishDeps,
  subject: Subject,
  wanted: Skill,
  near: SkillPackage,
): Promise<Plan> {
  const drafts = deps.places.skills("draft", null, [])?.[0];
  if (!drafts) return no("there is no folder for drafts");
  const listed = await listAll(deps.library, [drafts]);
  if (typeof listed === "string") return no(listed);
  const history = await historyOf(deps.store);
  const draft = { ...wanted, metadata: { ...wanted.metadata, quality: "draft", "belongs-to": near.path } };
  const next = await withLesson(deps, near, draft, subject.instinct.id, history);
  if (next === null) return settled([], near.path);
  const diff = diffOf(`${near.name}/${skillFile}`, near.text, next);
  const known = listed.skills.find((one) => isMadeOf(one, subject.instinct.id, history));
  const step = known
    ? await updateStep(
        deps,
        { ...subject, choice: { ...subject.choice, text: render({ ...draft, name: known.name }) } },
        known,
        history,
        true,
      )
    : createStep(deps, subject, draft, drafts, listed, history, null, { reach: "draft", proposal: true });
  return settled(step && (!known || isOurs(known, history)) ? [{ ...step, diff }] : [], near.path);
}

/** A person's skill with a lesson put in: new evidence where it was once Knack's own, a section of its own elsewhere. */
async function withLesson(
  deps: PublishDeps,
  existing: Pick<SkillPackage, "path" | "text">,
  lesson: Skill,
  instinct: string,
  history: History,
): Promise<string | null> {
  const once = history.changes.some(
    ({ change }) => change.path === existing.path && change.instinct === instinct && change.why === "create",
  );
  if (once) return withEvidence(deps, existing, instinct, history);
  const section = learnedSection(lesson);
  const plain = existing.text.replaceAll("\r\n", "\n");
  return plain.includes(section.split("\n")[0] as string) ? null : withSection(existing.text, section);
}

export function withSection(text: string, section: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return `${text.replace(/\s+$/, "")}${eol}${eol}${section.split("\n").join(eol)}${eol}`;
}

/** What putting a proposal into the skill that it belongs to would do. */
export async function planJoin(
  deps: PublishDeps,
  draft: Kept,
  skill: Skill,
  path: string,
  found: { readonly files: readonly PackageFile[]; readonly hash: string },
): Promise<Plan> {
  const place = placed(path);
  const current = await filesAt(deps, place);
  if (!current) return no(`${path} is gone`);
  const history = await historyOf(deps.store);
  const away = removal(draft, found.hash, history, textOfPackage(found.files));
  const existing = { path, text: textOfPackage(current.files) };
  const next = await withLesson(deps, existing, skill, draft.instinct, history);
  if (next === null) return settled([away], path);
  // The draft may have been edited since it was scanned.
  const concerns = scanSkill(skill);
  if (!mayBeWritten(concerns)) return no(refusal(concerns));
  const everywhere = placesOf(deps.places, place.kind).some(({ folder }) => folder === dirname(path));
  const known = history.kept.find((one) => one.path === path);
  const artifact: Artifact = {
    ...place,
    root: known?.root ?? dirname(dirname(path)),
    reach: known?.reach ?? (everywhere ? "everywhere" : "repository"),
    instinct: draft.instinct,
    ...(draft.members ? { members: draft.members } : {}),
  };
  return settled([rewriting(deps, artifact, current, next, history), away], path);
}

/** What lies at a path: a file is a command or an agent, by the folder that it is in. */
function placed(path: string): Pick<Artifact, "path" | "name"> & { readonly kind: ItemKind } {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (!name.endsWith(".md")) return { kind: "skill", path, name };
  return { kind: /\/agents?\//.test(path) ? "agent" : "command", path, name: name.slice(0, -3) };
}

function placesOf(places: Places, kind: ItemKind): readonly Place[] {
  return kind === "skill" ? places.all(null) : (places.files(kind, "everywhere", null) ?? []);
}

/** The agents whose sessions findings are from. */
export async function formatsOf(store: Store, findings: readonly KeptFinding[]): Promise<Format[]> {
  const ids = new Set(findings.map(({ session }) => session));
  const paths = [...ids].map((id) => id.replace(/#.*$/s, ""));
  const sessions = (await store.sessions.list(paths)).filter(({ id }) => ids.has(id));
  return [...new Set(sessions.map(({ format }) => format))];
}
