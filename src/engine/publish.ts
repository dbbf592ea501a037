import { type Change, type Kept, keptBy, placeOf, type Reach, undoable } from "../core/change.ts";
import { amend, compose, type Evidence, learnedSection } from "../core/compose.ts";
import { diffOf } from "../core/diff.ts";
import { idOf } from "../core/ids.ts";
import type { Instinct } from "../core/instinct.ts";
import type { Actor, LedgerEntry } from "../core/ledger.ts";
import { policy as defaults } from "../core/policy.ts";
import { addRule, removeRule, ruleLine, rulesIn } from "../core/rule.ts";
import { type Concern, mayBeWritten, scan, scanSkill } from "../core/scan.ts";
import type { Format } from "../core/session.ts";
import { parse, render, type Skill, skillFile } from "../core/skill.ts";
import { overlap, termsOf } from "../core/words.ts";
import { note } from "./note.ts";
import type {
  Clock,
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
}

/** How an instinct is to be kept. */
export interface Choice {
  readonly reach: Reach;
  readonly actor: Actor;
  /** The text a person made of it: of a skill's file, or a rule's line. */
  readonly text?: string;
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

/** What came of a change. */
export interface Outcome {
  readonly change: Change;
  readonly done: boolean;
  readonly because: string | null;
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
    history: await historyOf(deps.store),
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
  readonly history: History;
}

/** Every change that was made or dropped so far, and what they left. */
interface History {
  readonly changes: readonly Change[];
  readonly kept: readonly Kept[];
}

async function historyOf({ learning }: Store): Promise<History> {
  const ended = (await learning.changes.list()).filter(({ state }) => state !== "intended");
  return {
    changes: ended.map(({ change }) => change),
    kept: keptBy(ended.filter(({ state }) => state === "made")),
  };
}

async function formatsOf(store: Store, findings: readonly KeptFinding[]): Promise<Format[]> {
  const ids = new Set(findings.map(({ session }) => session));
  const paths = [...ids].map((id) => id.replace(/#.*$/s, ""));
  const sessions = (await store.sessions.list(paths)).filter(({ id }) => ids.has(id));
  return [...new Set(sessions.map(({ format }) => format))];
}

/** What is kept, by the changes that were made. */
export async function keptNow(store: Store): Promise<readonly Kept[]> {
  return (await historyOf(store)).kept;
}

async function planSkill(deps: PublishDeps, subject: Subject): Promise<Plan> {
  const { choice, root, formats } = subject;
  const targets = deps.places.skills(choice.reach, root, formats);
  if (targets === null) return no("the project's folder is not on this machine");
  const everything = await listAll(deps.library, [...targets, ...deps.places.all(root)]);
  if (typeof everything === "string") return no(everything);
  const wanted = await skillOf(deps, subject);
  const concerns = scanSkill(wanted);
  if (!mayBeWritten(concerns)) return no(refusal(concerns));
  const near = nearest(wanted, subject, everything);
  if (near && !isOurs(near, subject.history.kept) && choice.reach !== "draft")
    return proposal(deps, subject, wanted, near);
  const steps: Step[] = [];
  for (const target of targets) {
    const existing = near && dirname(near.path) === target.folder ? near : null;
    const step = existing
      ? await updateStep(deps, subject, existing, target)
      : createStep(deps, subject, wanted, target, everything, choice.reach);
    if (step) steps.push(step);
  }
  return { ok: true, steps, concerns, belongsTo: null };
}

/** The skill that a person gets: composed from the evidence, or as they edited it. */
async function skillOf({ redactor }: PublishDeps, { instinct, choice, findings }: Subject): Promise<Skill> {
  const text = choice.text ?? render(composed(instinct, findings, choice.reach));
  const [clean = ""] = await redactor.scrub([{ label: "skill", text }]);
  const { skill } = parse(clean);
  return skill ?? composed(instinct, findings, choice.reach);
}

function composed(instinct: Instinct, findings: readonly KeptFinding[], reach: Reach): Skill {
  const { name, lesson, trigger, action, kind, keywords } = instinct;
  return compose({
    name: `${defaults.skill.prefix}${name.startsWith(defaults.skill.prefix) ? name.slice(defaults.skill.prefix.length) : name}`,
    ...{ lesson, trigger, action, kind, keywords },
    evidence: evidenceOf(findings),
    steps: [],
    check: "",
    metadata: { quality: reach === "draft" ? "draft" : "active" },
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

async function listAll(library: Library, places: readonly Place[]): Promise<SkillPackage[] | string> {
  const skills: SkillPackage[] = [];
  for (const place of new Map(places.map((one) => [one.folder, one])).values()) {
    const listing = await library.list(place);
    // What cannot be read may hold the very skill that would be made again.
    if (listing.found === "unreadable") return `${place.folder} cannot be read: ${listing.message}`;
    if (listing.found === "skills") skills.push(...listing.skills);
  }
  return skills;
}

/** The existing skill that the same lesson belongs to: made of this instinct, or about the same thing. */
function nearest(
  wanted: Skill,
  { instinct, history: { kept }, choice }: Subject,
  all: readonly SkillPackage[],
): SkillPackage | null {
  const own = kept.find(
    (one) =>
      one.kind === "skill" &&
      one.instinct === instinct.id &&
      (one.reach === "draft") === (choice.reach === "draft"),
  );
  const made = all.find(({ path }) => path === own?.path);
  if (made) return made;
  const drafts = new Set(kept.filter(({ reach }) => reach === "draft").map(({ path }) => path));
  const terms = termsOf(`${wanted.name} ${wanted.description}`);
  const scored = all
    .filter(({ owner, path }) => owner !== "core" && (choice.reach === "draft" || !drafts.has(path)))
    .map((one) => ({ one, likeness: overlap(terms, termsOf(`${one.name} ${one.description}`)) }))
    .filter(({ one, likeness }) => likeness >= defaults.skill.near || one.name === wanted.name)
    .sort((a, b) => b.likeness - a.likeness);
  return scored[0]?.one ?? null;
}

/** Whether a package is as Knack left it; one that a person changed is theirs. */
function isOurs({ path, hash, owner }: SkillPackage, kept: readonly Kept[]): boolean {
  return owner === "learned" && kept.some((one) => one.path === path && one.content === hash);
}

function createStep(
  { versions }: PublishDeps,
  subject: Subject,
  wanted: Skill,
  target: Place,
  everything: readonly SkillPackage[],
  reach: Reach,
): Step {
  const taken = new Set(
    everything.flatMap(({ path, name }) => (dirname(path) === target.folder ? name : [])),
  );
  const name = freeName(wanted.name, taken);
  const files = packageOf(render({ ...wanted, name }));
  const artifact = {
    kind: "skill" as const,
    name,
    path: `${target.folder}/${name}`,
    root: target.root,
    reach,
    instinct: subject.instinct.id,
  };
  const diff = diffOf(`${name}/${skillFile}`, null, textOfPackage(files));
  return { change: changeOf(artifact, null, versions.hashOf(files), "create", subject.history), files, diff };
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let n = 2; ; n++) if (!taken.has(`${name}-${n}`)) return `${name}-${n}`;
}

/** An update of a skill that Knack wrote: what is new is added, the rest stays as it is. */
async function updateStep(
  { versions, library }: PublishDeps,
  subject: Subject,
  existing: SkillPackage,
  target: Place,
): Promise<Step | null> {
  const { instinct, findings, choice, history } = subject;
  const amended = amend(existing.text, { evidence: evidenceOf(findings), seen: instinct.standing.sessions });
  const text = choice.text ?? (amended.amended ? amended.text : null);
  const current = await library.read(existing.path);
  if (text === null || text === existing.text || !current) return null;
  const files = current.files.map((file) =>
    file.path === skillFile ? { ...file, bytes: bytesOf(text) } : file,
  );
  const artifact = {
    kind: "skill" as const,
    name: existing.name,
    path: existing.path,
    root: target.root,
    reach: choice.reach,
    instinct: instinct.id,
  };
  return {
    change: changeOf(artifact, existing.hash, versions.hashOf(files), "update", history),
    files,
    diff: diffOf(`${existing.name}/${skillFile}`, existing.text, text),
  };
}

/** A lesson for a skill that a person wrote: a draft beside it, with what accepting it would change. */
async function proposal(
  deps: PublishDeps,
  subject: Subject,
  wanted: Skill,
  near: SkillPackage,
): Promise<Plan> {
  const drafts = deps.places.skills("draft", subject.root, subject.formats)?.[0];
  if (!drafts) return no("there is no folder for drafts");
  const listed = await listAll(deps.library, [drafts]);
  if (typeof listed === "string") return no(listed);
  const known = listed.find(({ name }) => name === wanted.name);
  const draft = { ...wanted, metadata: { ...wanted.metadata, quality: "draft", "belongs-to": near.path } };
  if (known) return { ok: true, steps: [], concerns: [], belongsTo: near.path };
  const step = createStep(deps, subject, draft, drafts, listed, "draft");
  const diff = diffOf(`${near.name}/${skillFile}`, near.text, withSection(near.text, draft));
  return { ok: true, steps: [{ ...step, diff }], concerns: [], belongsTo: near.path };
}

function withSection(text: string, skill: Skill): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const section = learnedSection(skill).split("\n").join(eol);
  return `${text.replace(/\s+$/, "")}${eol}${eol}${section}${eol}`;
}

/** What accepting a draft would do: it becomes a skill of its own, or a section of the one that it belongs to. */
export async function planAccept(deps: PublishDeps, draft: Kept, reach: Reach): Promise<Plan> {
  const found = await deps.library.read(draft.path);
  const [instinct] = await deps.store.learning.instincts.get([draft.instinct]);
  const text = found && textOfPackage(found.files);
  const skill = text ? parse(text).skill : null;
  if (!skill || !found) return no(`the draft ${draft.name} is gone`);
  const away: Step = {
    change: changeOf(draft, found.hash, null, "remove", await historyOf(deps.store)),
    files: null,
    diff: "",
  };
  const target = skill.metadata["belongs-to"];
  if (target !== undefined) {
    const step = await sectionStep(deps, draft, skill, target);
    return typeof step === "string"
      ? no(step)
      : { ok: true, steps: [step, away], concerns: [], belongsTo: target };
  }
  if (!instinct) return no(`nothing is known any more about ${draft.name}`);
  const live = await plan(deps, instinct, { reach, actor: "person" });
  return live.ok ? { ...live, steps: [...live.steps, away] } : live;
}

async function sectionStep(
  deps: PublishDeps,
  draft: Kept,
  skill: Skill,
  path: string,
): Promise<Step | string> {
  const current = await deps.library.read(path);
  const text = current && textOfPackage(current.files);
  if (!current || text === null) return `${path} is gone`;
  const next = withSection(text, skill);
  const files = current.files.map((file) =>
    file.path === skillFile ? { ...file, bytes: bytesOf(next) } : file,
  );
  const artifact = {
    ...draft,
    name: path.slice(path.lastIndexOf("/") + 1),
    path,
    root: dirname(dirname(path)),
    reach: "me" as const,
  };
  return {
    change: changeOf(
      artifact,
      current.hash,
      deps.versions.hashOf(files),
      "update",
      await historyOf(deps.store),
    ),
    files,
    diff: diffOf(`${artifact.name}/${skillFile}`, text, next),
  };
}

async function planRule(deps: PublishDeps, subject: Subject): Promise<Plan> {
  const { choice, root, formats, instinct, history, projectName } = subject;
  // A rule that nobody said yes to is written nowhere.
  if (choice.actor !== "person" || choice.reach === "draft") return no("a rule needs a person's yes");
  const targets = deps.places.rules(choice.reach, root, formats);
  if (targets === null) return no("the project's folder is not on this machine");
  const [clean = ""] = await deps.redactor.scrub([{ label: "rule", text: choice.text ?? instinct.lesson }]);
  const concerns = scan(clean);
  if (!mayBeWritten(concerns)) return no(refusal(concerns));
  const steps: Step[] = [];
  for (const { path, root: home, named } of targets) {
    const read = await deps.library.readText(path);
    if (read.found === "unreadable") return no(`${path} cannot be read: ${read.message}`);
    const before = read.found === "text" ? read.text : "";
    const line = ruleLine(named ? `In ${projectName}: ${clean}` : clean);
    if (
      rulesIn(before).rules.some((rule) => overlap(termsOf(rule.line), termsOf(line)) >= defaults.rule.near)
    )
      continue;
    const artifact = {
      kind: "rule" as const,
      name: instinct.name,
      path,
      root: home,
      reach: choice.reach,
      instinct: instinct.id,
    };
    const added = addRule(before, { id: instinct.name, line });
    if (!added.changed) return no(`${path}: ${ruleRefusals[added.because]}`);
    steps.push({
      change: changeOf(artifact, null, line, "create", history),
      files: null,
      diff: diffOf(path, read.found === "text" ? before : null, added.text),
    });
  }
  return { ok: true, steps, concerns, belongsTo: null };
}

const ruleRefusals = {
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

function changeOf(
  { kind, name, path, root, reach, instinct }: Omit<Change, "id" | "why" | "before" | "after">,
  before: string | null,
  after: string | null,
  why: Change["why"],
  { changes }: History,
): Change {
  const artifact = { kind, name, path, root, reach, instinct };
  // How often the place changed is part of the id: doing, undoing and doing again are three changes.
  const times = changes.filter((one) => placeOf(one) === placeOf(artifact)).length;
  const id = idOf("c", JSON.stringify([placeOf(artifact), before, after, why, times]));
  return { ...artifact, id, why, before, after };
}

function packageOf(text: string): PackageFile[] {
  return [{ path: skillFile, bytes: bytesOf(text), mode: 0o644 }];
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function textOfPackage(files: readonly PackageFile[]): string {
  const file = files.find(({ path }) => path === skillFile);
  return file ? new TextDecoder().decode(file.bytes) : "";
}

function dirname(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/**
 * Does what was planned; the only way anything goes live. What is meant is on the ledger before a file is touched, so
 * that `repair` can end what a killed process began. A file that is not what the plan was made for is left alone.
 */
export async function carryOut(
  deps: PublishDeps,
  steps: readonly Step[],
  actor: Actor,
  decided: readonly LedgerEntry[] = [],
): Promise<Outcome[]> {
  const at = deps.clock.now();
  for (const { change, files } of steps) if (change.kind === "skill") await keepVersions(deps, change, files);
  await deps.store.transaction((tx) =>
    note(tx, [...decided, ...steps.map(({ change }) => intended(change, actor, at))]),
  );
  const outcomes: Outcome[] = [];
  for (const { change } of steps) outcomes.push(await settle(deps, change));
  return outcomes;
}

async function keepVersions(
  { library, versions }: PublishDeps,
  change: Change,
  files: readonly PackageFile[] | null,
): Promise<void> {
  const current = change.before === null ? null : await library.read(change.path);
  if (current) await versions.keep(current.files);
  if (files) await versions.keep(files);
}

function intended(change: Change, actor: Actor, at: number): LedgerEntry {
  return {
    at,
    project: null,
    session: null,
    actor,
    type: "change.intended",
    key: `change:${change.id}`,
    data: change,
  };
}

/** Makes the disk say what a change means, whether or not it already does, and notes what came of it. */
async function settle(deps: PublishDeps, change: Change): Promise<Outcome> {
  const because = change.kind === "skill" ? await settleSkill(deps, change) : await settleRule(deps, change);
  const { id } = change;
  const common = { at: deps.clock.now(), project: null, session: null, actor: "knack" as const };
  const entry: LedgerEntry =
    because === null
      ? { ...common, type: "change.made", key: `change:${id}:made`, data: { id } }
      : { ...common, type: "change.dropped", key: `change:${id}:dropped`, data: { id, because } };
  await deps.store.transaction((tx) => note(tx, [entry]));
  return { change, done: because === null, because };
}

async function settleSkill({ library, versions }: PublishDeps, change: Change): Promise<string | null> {
  const { name, path, root, before, after, reach } = change;
  const place: Place = { folder: dirname(path), root };
  await library.repair(place);
  if (after === null) {
    const removed = before === null ? null : await library.remove(place, name, { expecting: before });
    if (reach === "me") await library.unexclude(root, path);
    return removed && !removed.written && removed.found !== null ? changedByHand(path) : null;
  }
  const files = await versions.restore(after);
  if (!files) return `version ${after.slice(0, 12)} is not kept`;
  if (reach === "me" && change.why !== "undo") await library.excludeFromGit(root, path);
  const written = await library.write(place, name, files, { expecting: before });
  if (!written.written && written.found !== after)
    return written.because === "changed"
      ? changedByHand(path)
      : `${path} leads somewhere else (${written.because})`;
  // It counts when the library, as agents have it, shows it.
  const listing = await library.list(place);
  const shown =
    listing.found === "skills" && listing.skills.some((one) => one.path === path && one.hash === after);
  return shown ? null : `${path} cannot be read back`;
}

function changedByHand(path: string): string {
  return `${path} was changed by hand meanwhile, and is left as it is`;
}

/** Rules share their file with whatever a person writes there, so only the line counts. */
async function settleRule({ library }: PublishDeps, change: Change): Promise<string | null> {
  const { name, path, root, after, reach } = change;
  for (let tries = 0; tries < 5; tries++) {
    const read = await library.readText(path);
    if (read.found === "unreadable") return `${path} cannot be read: ${read.message}`;
    const [text, expecting] = read.found === "text" ? [read.text, read.hash] : ["", null];
    const there = rulesIn(text).rules.some(({ id }) => id === name);
    if (there === (after !== null)) return null;
    const next = after === null ? removeRule(text, name) : addRule(text, { id: name, line: after });
    if (!next.changed) return `${path}: ${ruleRefusals[next.because]}`;
    if (after !== null && reach === "me") await library.excludeFromGit(root, path);
    const written =
      next.text === "" && expecting !== null
        ? await library.removeText(path, { expecting })
        : await library.writeText(path, next.text, { expecting, root });
    if (written.written) return null;
    if (written.because !== "changed") return `${path} leads somewhere else (${written.because})`;
  }
  return `${path} is being changed by somebody else`;
}

/** Ends what a killed process meant to do, and answers with what came of it. */
export async function repair(deps: PublishDeps): Promise<Outcome[]> {
  const changes = await deps.store.learning.changes.list();
  const outcomes: Outcome[] = [];
  for (const { change, state } of changes)
    if (state === "intended") outcomes.push(await settle(deps, change));
  return outcomes;
}

/** What taking back the latest change of something kept would do; null when there is nothing to take back. */
export async function planUndo(deps: PublishDeps, changes: readonly Change[]): Promise<Step | null> {
  const last = undoable(changes);
  if (!last) return null;
  const change = changeOf(last, last.after, last.before, "undo", await historyOf(deps.store));
  const [before, after] = [await textOf(deps, change.before), await textOf(deps, change.after)];
  const diff =
    change.kind === "skill"
      ? diffOf(`${change.name}/${skillFile}`, before, after)
      : diffOf(change.path, change.before && `- ${change.before}\n`, change.after && `- ${change.after}\n`);
  const files =
    change.kind === "skill" && change.after !== null ? await deps.versions.restore(change.after) : null;
  return { change, files, diff };
}

async function textOf({ versions }: PublishDeps, hash: string | null): Promise<string | null> {
  const files = hash === null || !/^[0-9a-f]{64}$/.test(hash) ? null : await versions.restore(hash);
  return files && textOfPackage(files);
}
