import { type Artifact, type Change, type Kept, keptBy, placeOf, type Reach } from "../core/change.ts";
import { amend, compose, countOf, type Evidence, learnedSection } from "../core/compose.ts";
import { diffOf } from "../core/diff.ts";
import { idOf } from "../core/ids.ts";
import type { Instinct } from "../core/instinct.ts";
import type { Actor } from "../core/ledger.ts";
import { policy as defaults } from "../core/policy.ts";
import { addRule, ruleLine, rulesIn } from "../core/rule.ts";
import { type Concern, mayBeWritten, scan, scanSkill } from "../core/scan.ts";
import type { Format } from "../core/session.ts";
import { parse, problemsOf, render, type Skill, skillFile } from "../core/skill.ts";
import { overlap, termsOf } from "../core/words.ts";
import type {
  Clock,
  KeptChange,
  KeptFinding,
  Library,
  PackageFile,
  Place,
  Places,
  Redactor,
  SkillPackage,
  Store,
  Versions,
} from "./ports.ts";

export interface PublishDeps {
  readonly store: Store;
  readonly library: Library;
  readonly versions: Versions;
  readonly places: Places;
  readonly redactor: Redactor;
  readonly clock: Clock;
  /** What the names of learned skills begin with in a project. */
  readonly prefixOf: (root: string | null) => Promise<string>;
}

/** How an instinct is to be kept. */
export interface Choice {
  readonly reach: Reach;
  readonly actor: Actor;
  /** The text a person made of it: of a skill's file, or a rule's line. */
  readonly text?: string;
  /** Make a skill of its own, even where a person wrote one like it. */
  readonly alongside?: boolean;
}

/** A change with what it writes. */
export interface Step {
  readonly change: Change;
  /** The files of the package; null for a rule, and for what is taken away. */
  readonly files: readonly PackageFile[] | null;
  /** What it does, for a person to read. */
  readonly diff: string;
}

/** What keeping an instinct would do. Nothing learned is lost when the answer is no: the instinct stays. */
export type Plan =
  | {
      readonly ok: true;
      readonly steps: readonly Step[];
      readonly concerns: readonly Concern[];
      /** A skill that a person wrote, or changed, which this lesson belongs to; the plan leaves a proposal beside it. */
      readonly belongsTo: string | null;
    }
  | { readonly ok: false; readonly because: string };

/** Every change so far, and what those that were made left. Instincts are named as they are now. */
export interface History {
  readonly changes: readonly KeptChange[];
  readonly kept: readonly Kept[];
}

/** Instincts that grew together go by one id: what was kept of any of them is kept of that one. */
export async function historyOf({ learning }: Store): Promise<History> {
  const all = await learning.changes.list();
  const named = new Map(
    (await learning.findings.get([...new Set(all.map(({ change }) => change.instinct))])).map(
      ({ id, instinct }) => [id, instinct],
    ),
  );
  const changes = all.map((one) => ({
    ...one,
    change: { ...one.change, instinct: named.get(one.change.instinct) ?? one.change.instinct },
  }));
  return { changes, kept: keptBy(changes.filter(({ state }) => state === "made")) };
}

/** What keeping an instinct would do, without doing it. */
export async function plan(deps: PublishDeps, instinct: Instinct, choice: Choice): Promise<Plan> {
  const findings = await deps.store.learning.findings.ofInstincts([instinct.id]);
  const [project] = await deps.store.projects.get([instinct.project]);
  const subject: Subject = {
    instinct,
    choice,
    findings,
    formats: await formatsOf(deps.store, findings),
    root: project?.root ?? null,
    projectName: project?.name ?? instinct.project,
  };
  return instinct.artifact === "skill" ? planSkill(deps, subject) : planRule(deps, subject);
}

interface Subject {
  readonly instinct: Instinct;
  readonly choice: Choice;
  readonly findings: readonly KeptFinding[];
  readonly formats: readonly Format[];
  readonly root: string | null;
  readonly projectName: string;
}

async function formatsOf(store: Store, findings: readonly KeptFinding[]): Promise<Format[]> {
  const ids = new Set(findings.map(({ session }) => session));
  const paths = [...ids].map((id) => id.replace(/#.*$/s, ""));
  const sessions = (await store.sessions.list(paths)).filter(({ id }) => ids.has(id));
  return [...new Set(sessions.map(({ format }) => format))];
}

// --- Skills ---

/** What there is before a skill is planned. */
interface Ground {
  readonly targets: readonly Place[];
  readonly shelf: Listed;
  readonly history: History;
}

async function planSkill(deps: PublishDeps, subject: Subject): Promise<Plan> {
  const { choice, root, formats } = subject;
  const targets = deps.places.skills(choice.reach, root, formats);
  if (targets === null) return no(notHere);
  const shelf = await listAll(deps.library, [...targets, ...deps.places.all(root)]);
  if (typeof shelf === "string") return no(shelf);
  // After the listing: whatever Knack wrote that is listed was on the ledger before it was on the disk.
  const ground = { targets, shelf, history: await historyOf(deps.store) };
  const wanted = await skillOf(deps, subject);
  if (typeof wanted === "string") return no(wanted);
  const concerns = scanSkill(wanted);
  if (!mayBeWritten(concerns)) return no(refusal(concerns));
  const planned = await (choice.reach === "draft"
    ? planDraft(deps, subject, ground, wanted)
    : planLive(deps, subject, ground, wanted));
  return planned.ok ? { ...planned, concerns: [...concerns, ...planned.concerns] } : planned;
}

const notHere = "the project's folder is not on this machine";

async function planLive(deps: PublishDeps, subject: Subject, ground: Ground, wanted: Skill): Promise<Plan> {
  const { instinct, choice, root } = subject;
  const { targets, shelf, history } = ground;
  const drafts = folderOfDrafts(deps.places);
  const live = shelf.skills.filter(({ path }) => dirname(path) !== drafts);
  const own = live.filter((one) => isMadeOf(one, instinct.id, history) && isIn(one, targets));
  const near = own[0] ?? nearest(wanted, live);
  if (near && !isOurs(near, history) && !choice.alongside) return proposal(deps, subject, wanted, near);
  const narrower = choice.reach === "everywhere" && near && root !== null && near.path.startsWith(`${root}/`);
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
          : createStep(deps, subject, wanted, target, shelf, history),
      );
    }
  steps.push(...(await draftsAway(deps, instinct.id, history)));
  return settled(steps, null);
}

function settled(steps: readonly (Step | null)[], belongsTo: string | null): Plan {
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
  if (!known) return settled([createStep(deps, subject, wanted, drafts, shelf, history)], null);
  if (!isOurs(known, history)) return settled([], null);
  return settled([await updateStep(deps, subject, known, history)], null);
}

/** The drafts of an instinct that goes live. */
async function draftsAway(deps: PublishDeps, instinct: string, history: History): Promise<Step[]> {
  const steps: Step[] = [];
  for (const kept of history.kept) {
    if (kept.reach !== "draft" || kept.instinct !== instinct) continue;
    const found = await deps.library.read(kept.path);
    if (found) steps.push(removal(kept, found.hash, history, textOfPackage(found.files)));
  }
  return steps;
}

/** The change that takes an artifact away. */
export function removal(artifact: Artifact, before: string, history: History, text: string | null): Step {
  const diff =
    artifact.kind === "skill"
      ? diffOf(`${artifact.name}/${skillFile}`, text, null)
      : diffOf(withinRoot(artifact), `- ${before}\n`, null);
  return { change: changeOf(artifact, before, null, "remove", history), files: null, diff };
}

/** The skill that a person gets: composed from the evidence, or as they edited it. */
async function skillOf(deps: PublishDeps, subject: Subject): Promise<Skill | string> {
  const { choice, root } = subject;
  const text = choice.text ?? render(composed(subject, await deps.prefixOf(root)));
  const [clean = ""] = await deps.redactor.scrub([{ label: "skill", text }]);
  const { skill, problems } = parse(clean);
  const all = skill === null ? problems : [...problems, ...problemsOf(skill)];
  const wrong = all.find(({ severity }) => severity === "error");
  return skill !== null && !wrong ? skill : `it is no valid skill: ${wrong?.message ?? "it is empty"}`;
}

function composed(subject: Subject, prefix: string): Skill {
  const { name, lesson, trigger, action, kind, keywords } = subject.instinct;
  const bare = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  return compose({
    name: `${prefix}${bare}`.slice(0, 64).replace(/-+$/, ""),
    ...{ lesson, action, kind, keywords },
    trigger: isFarAway(subject) ? `${trigger} (in ${subject.projectName})` : trigger,
    evidence: evidenceOf(subject.findings),
    steps: [],
    check: "",
    metadata: { quality: subject.choice.reach === "draft" ? "draft" : "active" },
  });
}

function evidenceOf(findings: readonly KeptFinding[]): Evidence[] {
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
interface Listed {
  readonly skills: readonly SkillPackage[];
  readonly taken: ReadonlySet<string>;
}

async function listAll(library: Library, places: readonly Place[]): Promise<Listed | string> {
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
function nearest(wanted: Skill, all: readonly SkillPackage[]): SkillPackage | null {
  const scored = all
    .filter(({ owner }) => owner !== "core")
    .map((one) => ({ one, likeness: likenessOf(wanted, one) }))
    .filter(
      // The same name may be chance; half as much in common tells.
      ({ one, likeness }) =>
        likeness >= (one.name === wanted.name ? defaults.skill.near / 2 : defaults.skill.near),
    )
    .sort((a, b) => b.likeness - a.likeness || (a.one.path < b.one.path ? -1 : 1));
  return scored[0]?.one ?? null;
}

function likenessOf(a: { name: string; description: string }, b: { name: string; description: string }) {
  return overlap(termsOf(`${a.name} ${a.description}`), termsOf(`${b.name} ${b.description}`));
}

function isIn({ path }: SkillPackage, places: readonly Place[]): boolean {
  return places.some(({ folder }) => dirname(path) === folder);
}

/** Whether Knack made a package, at whatever time, of an instinct. */
function isMadeOf({ path }: SkillPackage, instinct: string, { changes }: History): boolean {
  return changes.some(({ change }) => change.path === path && change.instinct === instinct);
}

/** Whether a package is as Knack once wrote it; one that a person changed is theirs. */
function isOurs({ path, hash, owner }: SkillPackage, { changes }: History): boolean {
  return owner === "learned" && changes.some(({ change }) => change.path === path && change.after === hash);
}

function folderOfDrafts(places: Places): string | undefined {
  return places.skills("draft", null, [])?.[0]?.folder;
}

function createStep(
  { versions }: PublishDeps,
  { instinct, choice }: Subject,
  wanted: Skill,
  target: Place,
  { taken }: Listed,
  history: History,
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
  return { change: changeOf(artifact, null, versions.hashOf(files), "create", history), files, diff };
}

function freeName(name: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(name)) return name;
  for (let n = 2; ; n++) {
    const next = `${name.slice(0, 60)}-${n}`;
    if (!isTaken(next)) return next;
  }
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
function rewriting(
  { versions }: PublishDeps,
  artifact: Artifact,
  current: { readonly files: readonly PackageFile[]; readonly hash: string },
  text: string,
  history: History,
): Step {
  const files = current.files.map((file) =>
    file.path === skillFile ? { ...file, bytes: bytesOf(text) } : file,
  );
  return {
    change: changeOf(artifact, current.hash, versions.hashOf(files), "update", history),
    files,
    diff: diffOf(`${artifact.name}/${skillFile}`, textOfPackage(current.files), text),
  };
}

/** The text of a skill with the evidence of everything that it was made of; null when there is nothing new. */
async function withEvidence(
  { store }: PublishDeps,
  existing: Pick<SkillPackage, "path" | "text">,
  instinct: string,
  { changes }: History,
): Promise<string | null> {
  const made = changes.flatMap(({ change }) => (change.path === existing.path ? change.instinct : []));
  const findings = await store.learning.findings.ofInstincts([...new Set([...made, instinct])]);
  const evidence = evidenceOf(findings);
  const amended = amend(existing.text, { evidence, seen: countOf(evidence) });
  return amended.amended ? amended.text : null;
}

// --- Proposals ---

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
    : createStep(deps, subject, draft, drafts, listed, history, { reach: "draft", proposal: true });
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

function withSection(text: string, section: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return `${text.replace(/\s+$/, "")}${eol}${eol}${section.split("\n").join(eol)}${eol}`;
}

/** What accepting a draft would do: it becomes a skill of its own, or a part of the one that it belongs to. */
export async function planAccept(deps: PublishDeps, draft: Kept, reach: Reach): Promise<Plan> {
  const found = await deps.library.read(draft.path);
  const skill = found ? parse(textOfPackage(found.files)).skill : null;
  if (!skill || !found) return no(`the draft ${draft.name} is gone`);
  const target = skill.metadata["belongs-to"];
  if (target !== undefined) return planJoin(deps, draft, skill, target, found);
  const [instinct] = await deps.store.learning.instincts.get([draft.instinct]);
  if (!instinct) return no(`nothing is known any more about ${draft.name}`);
  const edited = found.hash !== draft.content;
  const text = render({ ...skill, metadata: { ...skill.metadata, quality: "active" } });
  return plan(deps, instinct, { reach, actor: "person", alongside: true, ...(edited ? { text } : {}) });
}

async function planJoin(
  deps: PublishDeps,
  draft: Kept,
  skill: Skill,
  path: string,
  found: { readonly files: readonly PackageFile[]; readonly hash: string },
): Promise<Plan> {
  const current = await deps.library.read(path);
  if (!current) return no(`${path} is gone`);
  const history = await historyOf(deps.store);
  const away = removal(draft, found.hash, history, textOfPackage(found.files));
  const existing = { path, text: textOfPackage(current.files) };
  const next = await withLesson(deps, existing, skill, draft.instinct, history);
  if (next === null) return settled([away], path);
  const everywhere = deps.places.all(null).some(({ folder }) => folder === dirname(path));
  const known = history.kept.find((one) => one.path === path);
  const artifact: Artifact = {
    kind: "skill",
    name: path.slice(path.lastIndexOf("/") + 1),
    path,
    root: known?.root ?? dirname(dirname(path)),
    reach: known?.reach ?? (everywhere ? "everywhere" : "repository"),
    instinct: draft.instinct,
  };
  return settled([rewriting(deps, artifact, current, next, history), away], path);
}

// --- Rules ---

async function planRule(deps: PublishDeps, subject: Subject): Promise<Plan> {
  const { choice, root, formats, instinct, projectName } = subject;
  // A rule that nobody said yes to is written nowhere.
  if (choice.actor !== "person" || choice.reach === "draft") return no("a rule needs a person's yes");
  const targets = deps.places.rules(choice.reach, root, formats);
  if (targets === null) return no(notHere);
  const [clean = ""] = await deps.redactor.scrub([
    { label: "rule", text: choice.text ?? ruleTextOf(instinct) },
  ]);
  const concerns = scan(clean);
  if (!mayBeWritten(concerns)) return no(refusal(concerns));
  const history = await historyOf(deps.store);
  const steps: Step[] = [];
  for (const { path, root: home, named } of targets) {
    const read = await deps.library.readText(path);
    if (read.found === "unreadable") return no(`${path} cannot be read: ${read.message}`);
    const before = read.found === "text" ? read.text : "";
    const line = ruleLine(named || isFarAway(subject) ? `In ${projectName}: ${clean}` : clean);
    if (saysAlready(before, line) || keptIn(history, instinct.id, path)) continue;
    const taken = new Set(rulesIn(before).rules.map(({ id }) => id));
    const name = freeName(instinct.name, (one) => taken.has(one));
    const artifact = {
      kind: "rule" as const,
      name,
      path,
      root: home,
      reach: choice.reach,
      instinct: instinct.id,
    };
    const added = addRule(before, { id: name, line });
    if (!added.changed) return no(`${path}: ${ruleRefusals[added.because]}`);
    steps.push({
      change: changeOf(artifact, null, line, "create", history),
      files: null,
      diff: diffOf(withinRoot(artifact), read.found === "text" ? before : null, added.text),
    });
  }
  return { ok: true, steps, concerns, belongsTo: null };
}

/** A file as it is called within what it belongs to. */
export function withinRoot({ path, root }: Pick<Artifact, "path" | "root">): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path.replace(/^\//, "");
}

/** Whether a project's lesson goes where other projects read it, so that it must name its own. */
function isFarAway({ instinct, choice }: Subject): boolean {
  return instinct.scope === "project" && choice.reach === "everywhere";
}

/** What a rule says of a lesson: the person's order, without who else said what and when. */
export function ruleTextOf({ kind, lesson }: Instinct): string {
  if (kind === "error-recovery") return lesson;
  const order = lesson
    .replace(/\s+Agent: .*$/s, "")
    .replace(/\s*\(Said while [^)]*\)/, "")
    .replace(/^(?:no|nope|stop|wait)[,.!]\s+/i, "");
  return order.charAt(0).toUpperCase() + order.slice(1);
}

/** Whether a file has such a line, whoever wrote it. */
function saysAlready(text: string, line: string): boolean {
  const terms = termsOf(line);
  return text
    .split("\n")
    .some((other) => overlap(termsOf(other.replace(/<!--.*?-->/g, "")), terms) >= defaults.rule.near);
}

function keptIn({ kept }: History, instinct: string, path: string): boolean {
  return kept.some((one) => one.kind === "rule" && one.instinct === instinct && one.path === path);
}

/** Why a rule cannot be put into a file, or taken out, in words. */
export const ruleRefusals = {
  "not-closed": "Knack's block is not closed; mend it by hand",
  "not-opened": "Knack's block has an end without a beginning; mend it by hand",
  "several-blocks": "there are several of Knack's blocks; mend it by hand",
  "bad-id": "the rule has no proper name",
  "empty-line": "the rule says nothing",
  exists: "a rule of that name is there",
  absent: "the rule is gone",
};

function refusal(concerns: readonly Concern[]): string {
  const first = concerns.find(({ severity }) => severity === "block");
  return `it may not be written: ${first?.message ?? "it looks dangerous"} (${first?.where ?? ""})`;
}

function no(because: string): Plan {
  return { ok: false, because };
}

/** A change with its id. */
export function changeOf(
  { kind, name, path, root, reach, instinct, proposal }: Artifact,
  before: string | null,
  after: string | null,
  why: Change["why"],
  history: History,
): Change {
  const artifact = { kind, name, path, root, reach, instinct, ...(proposal ? { proposal } : {}) };
  const id = idFor({ ...artifact, before, after, why }, history);
  return { ...artifact, id, why, before, after };
}

/** How often the place changed is part of the id: doing, undoing and doing again are three changes. */
export function idFor(change: Omit<Change, "id">, { changes }: History): string {
  const { before, after, why } = change;
  const place = placeOf(change);
  const times = changes.filter((one) => one.state !== "intended" && placeOf(one.change) === place).length;
  return idOf("c", JSON.stringify([place, before, after, why, times]));
}

function packageOf(text: string): PackageFile[] {
  return [{ path: skillFile, bytes: bytesOf(text), mode: 0o644 }];
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The text of a package's `SKILL.md`. */
export function textOfPackage(files: readonly PackageFile[]): string {
  const file = files.find(({ path }) => path === skillFile);
  return file ? new TextDecoder().decode(file.bytes) : "";
}

export function dirname(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
