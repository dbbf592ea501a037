import { cuesOf } from "../core/cue.ts";
import { isEvolvedId } from "../core/evolve.ts";
import { factInList } from "../core/fact.ts";
import type { Excerpt, Finding } from "../core/finding.ts";
import { idOf } from "../core/ids.ts";
import { type Instinct, isTold, lessonIdOf, realmOf, standingAt } from "../core/instinct.ts";
import type { ProjectFold } from "../core/ledger.ts";
import { gistOf } from "../core/likeness.ts";
import { oneLine } from "../core/markdown.ts";
import { policy as defaults, type Policy } from "../core/policy.ts";
import { homeIn } from "../core/recall.ts";
import { redact } from "../core/redact.ts";
import { mayBeWritten, scan } from "../core/scan.ts";
import { parse } from "../core/skill.ts";
import { isShown } from "../core/suggest.ts";
import type { Use } from "../core/use.ts";
import {
  type KeptFinding,
  promotedRealm,
  type SnapshotFile,
  type SnapshotFound,
  type Store,
} from "./ports.ts";
import { type Shelved, shelf } from "./shelf.ts";
import type { PublishDeps } from "./step.ts";

/** What a snapshot says of itself. */
export interface SnapshotHead extends SnapshotSettings {
  readonly madeAt: number;
  /** What it was made from: the same mark, the same snapshot. */
  readonly mark: string;
}

/** What a person has said about telling agents. */
export interface SnapshotSettings {
  readonly show: boolean;
  /** The projects, by id or root, for which they have said the opposite. */
  readonly exceptions: readonly string[];
  /** Whether an agent may be asked to write a lesson down. */
  readonly foreground: "off" | "ask";
  /** The share of sessions from which something that fits is held back. */
  readonly holdout: number;
}

/** What is told when a session starts. */
export interface Start {
  /** The surest first. */
  readonly lessons: readonly StartLesson[];
  /** Learned skills that the agent can load. */
  readonly skills: readonly { readonly name: string; readonly description: string }[];
}

export interface StartLesson {
  readonly instinct: string;
  readonly name: string;
  readonly line: string;
  /** The same in a few words: what fails, and what to do. */
  readonly brief: string;
  /** When Knack first saw it, and in which session; later ones only confirm it. */
  readonly noticedAt: number;
  readonly run: string;
  /** It has a moment of its own, the failure that it is about, and is told then. */
  readonly fix: boolean;
  /** Confirmed often enough, or accepted. */
  readonly active: boolean;
  /** The home folder where it was learned, for what holds wherever that person works, "" when it is not known; null for what is of a project. */
  readonly home: string | null;
  /** `live`: it stands where the agent reads it anyway. `waiting`: it is a rule or a draft that waits for a person's yes. */
  readonly state: "live" | "waiting" | "known";
}

/** Proof that something was learned between two sessions. */
export interface StartReceipt {
  readonly at: number;
  readonly text: string;
}

/** What came of a session so far. */
export interface SessionNews {
  readonly learned: readonly { readonly instinct: string; readonly name: string }[];
  /** The surest of it that nobody has written down or decided about. */
  readonly ask: { readonly instinct: string; readonly name: string; readonly line: string } | null;
}

/** What was made of an instinct. */
export interface Made {
  readonly name: string;
  readonly live: boolean;
  /** The text of a skill; null for a rule. */
  readonly body: string | null;
}

/** Counts up when what a snapshot holds changes its form. */
const version = 2;

/** Renews the snapshot; false where it says already what it would say. */
export async function renew(
  { file, ...deps }: PublishDeps & { readonly file: SnapshotFile },
  settings: SnapshotSettings,
): Promise<boolean> {
  const { store, clock } = deps;
  const now = clock.now();
  const kept = await shelf(deps);
  const texts = kept.map(({ name, path, state, text }) => [name, path, state, text].join(" "));
  // With each day what was learned fades a little.
  const today = Math.floor(now / 86_400_000);
  const told = idOf("s", [version, today, JSON.stringify(settings), ...texts].join("\n"));
  const entries = await store.ledger.count();
  const mark = `${entries} ${told}`;
  if ((await file.head())?.mark === mark) return false;
  file.save({ madeAt: now, mark, ...settings }, await snapshot(store, { kept, now }));
  // Of two who renew at once the slower may have known less: whoever sees that looks once more.
  if ((await store.ledger.count()) !== entries) await renew({ file, ...deps }, settings);
  return true;
}

/** What hooks look things up in, and why it does not say what is known; null where it does. */
export type SnapshotState = SnapshotFound & { readonly stale: string | null };

/** Looks at the snapshot, and whether anything that belongs into it happened since it was made. */
export async function inspect(
  { store, file }: { readonly store: Store; readonly file: SnapshotFile },
  settings: SnapshotSettings,
): Promise<SnapshotState> {
  const there = file.look();
  if (there.found !== "snapshot") return { ...there, stale: null };
  const { head } = there;
  const { show, exceptions, foreground, holdout } = head;
  if (JSON.stringify({ show, exceptions, foreground, holdout }) !== JSON.stringify(settings))
    return { ...there, stale: "the settings have changed since" };
  // The same number of entries, the same ledger.
  if (head.mark.startsWith(`${await store.ledger.count()} `)) return { ...there, stale: null };
  const noted = await Promise.all(telling.map((type) => store.ledger.lastNoted(type)));
  const isBehind = noted.some((at) => at !== null && at > head.madeAt);
  return { ...there, stale: isBehind ? "something was learned or decided since" : null };
}

/** The entries that change what is told. */
const telling = [
  "finding.made",
  "finding.withdrawn",
  "instinct.decided",
  "instinct.promoted",
  "instinct.demoted",
  "instinct.retired",
  "import.decided",
  "change.made",
] as const;

/** Everything that answers at the moment it helps, in a form that a process can look into without a database. */
export async function snapshot(
  store: Store,
  {
    kept,
    now,
    policy = defaults,
  }: { readonly kept: readonly Shelved[]; readonly now: number; readonly policy?: Policy },
): Promise<Map<string, unknown>> {
  const instincts = (await store.learning.instincts.list()).filter(isHarmless);
  const all = await store.learning.findings.ofInstincts(instincts.map(({ id }) => id));
  // The latest first, so that a finding's number tells how late it is.
  const findings = all
    .filter(({ finding }) => isHarmless(finding))
    .sort((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1));
  const projects = await store.projects.list();
  return new Map<string, unknown>([
    ...findings.map((kept, n): Row => [`finding ${n}`, { ...kept, finding: slim(kept.finding, policy) }]),
    ...instincts.map((instinct): Row => [`instinct ${instinct.id}`, slim(instinct, policy)]),
    ...cueRows(findings, policy),
    ...wordRows(findings, instincts),
    ...(await useRows(store, findings)),
    ...madeRows(kept),
    ...startRows(instincts, projects, { findings, kept, now, policy }),
    ...sessionRows(instincts, { findings, kept, now, policy }),
    ...(await receiptRows(store, policy)),
    ...projects.map((project): Row => [`project ${project.id}`, project]),
    ["projects", [...projects].sort((a, b) => b.lastAt - a.lastAt).slice(0, policy.recall.projects)],
  ]);
}

type Row = readonly [key: string, value: unknown];

/** What an agent may be given unasked: nothing that a skill might not say. */
function isHarmless({ lesson, action, trigger, steps }: Finding | Instinct): boolean {
  return mayBeWritten(scan([lesson, action, trigger, ...steps].join("\n")));
}

/** The same without what is neither told nor looked at. */
function slim<Told extends Finding | Instinct>(told: Told, { show }: Policy): Told {
  const cut = (text: string | null) => text?.slice(0, show.excerptChars) ?? null;
  const { failed, worked, said }: Excerpt = told.excerpt;
  const excerpt = { failed: cut(failed), worked: cut(worked), said: cut(said), error: null, replied: null };
  return { ...told, excerpt, keywords: [], ...("keys" in told ? { keys: [] } : {}) };
}

/** The numbers of findings by cue, the latest first; of what is met everywhere, the latest of each project and of all. */
function cueRows(findings: readonly KeptFinding[], { recall }: Policy): Row[] {
  const byCue = numbersBy(findings, ({ finding }) => cuesOf(finding));
  return [...byCue].map(([cue, numbers]) => {
    const ofProject = new Map<string, number>();
    const kept = numbers.filter((n, place) => {
      const project = findings[n]?.project ?? "";
      const before = ofProject.get(project) ?? 0;
      ofProject.set(project, before + 1);
      return place < recall.findings || before < recall.findings;
    });
    return [`cue ${cue}`, kept.map((n) => [n, findings[n]?.project])];
  });
}

/** The numbers of findings by the words of their gist, realm by realm; of what was promoted a second time. */
function wordRows(findings: readonly KeptFinding[], instincts: readonly Instinct[]): Row[] {
  const told = new Set(instincts.filter(isTold).map(({ id }) => id));
  const byWord = numbersBy(findings, ({ finding, realm, instinct }) =>
    [...gistOf(finding).all].flatMap((word) =>
      (told.has(instinct) ? [realm, promotedRealm] : [realm]).map((one) => `${one} ${word}`),
    ),
  );
  return [...byWord].map(([word, numbers]) => [`word ${word}`, numbers]);
}

function numbersBy(findings: readonly KeptFinding[], namesOf: (kept: KeptFinding) => readonly string[]) {
  const numbers = new Map<string, number[]>();
  findings.forEach((kept, n) => {
    for (const name of new Set(namesOf(kept))) {
      const list = numbers.get(name);
      if (list) list.push(n);
      else numbers.set(name, [n]);
    }
  });
  return numbers;
}

/** When each call of a program that a lesson warns of last worked: all that is needed to know that a warning is stale. */
async function useRows({ learning }: Store, findings: readonly KeptFinding[]): Promise<Row[]> {
  const programs = new Set(findings.flatMap(({ finding }) => finding.symptom?.call?.[0] ?? []));
  const rows: Row[] = [];
  for (const program of programs) {
    const worked = (await learning.uses.of(program, null)).filter(({ ok }) => ok > 0);
    const byProject = new Map<string, Map<string, Use & { readonly at: number }>>();
    for (const { project, run: _, ...use } of worked) {
      for (const realm of [project, "*"]) {
        const latest = byProject.get(realm) ?? new Map();
        byProject.set(realm, latest);
        const call = use.parts.join(" ");
        if ((latest.get(call)?.at ?? 0) < use.at) latest.set(call, use);
      }
    }
    for (const [realm, latest] of byProject) rows.push([`use ${realm} ${program}`, [...latest.values()]]);
  }
  return rows;
}

function madeRows(kept: readonly Shelved[]): Row[] {
  const here = kept.filter(
    ({ state }) => state !== "missing" && state !== "unreadable" && state !== "proposal",
  );
  // What is live goes before a draft of the same lesson.
  const sorted = [...here].sort((a, b) => Number(isLive(a)) - Number(isLive(b)));
  // What several lessons grew into is no text for one of them: it is found in the library.
  const alone = sorted.filter(({ kind, instinct }) => kind === "rule" || !isEvolvedId(instinct));
  return alone.map((one) => {
    const body = one.kind === "skill" ? (parse(one.text ?? "").skill?.body ?? null) : null;
    const made: Made = { name: one.name, live: isLive(one), body };
    return [`made ${one.instinct}`, made];
  });
}

function isLive({ reach }: Shelved): boolean {
  return reach !== "draft";
}

interface Around {
  readonly findings: readonly KeptFinding[];
  readonly kept: readonly Shelved[];
  readonly now: number;
  readonly policy: Policy;
}

/** What recent sessions taught: those that may still go on. */
function sessionRows(instincts: readonly Instinct[], { findings, kept, now, policy }: Around): Row[] {
  const byId = new Map(instincts.map((instinct) => [instinct.id, instinct]));
  const first = firstOf(findings);
  const made = new Set(kept.map(({ instinct }) => instinct));
  const runs = new Map<string, Instinct[]>();
  for (const { run, instinct: id, noticedAt } of findings) {
    const instinct = byId.get(id);
    if (!instinct || now - noticedAt > policy.show.sessionMs || !isShown(instinct, policy)) continue;
    const { status } = standingAt(instinct.standing, now, policy);
    const isNews = status === "pending" || status === "active" || instinct.standing.promotion != null;
    if (isNews) runs.set(run, [...(runs.get(run) ?? []), instinct]);
  }
  return [...runs].map(([run, taught]): Row => {
    const learned = [...new Set(taught)].sort((a, b) => b.standing.sure - a.standing.sure);
    const [ask] = learned.filter(
      ({ id, standing, kind }) =>
        kind === "error-recovery" && standing.sure >= policy.show.askFrom && !made.has(id),
    );
    const news: SessionNews = {
      // What was known before was only met again.
      learned: learned.flatMap(({ id, name }) => (first.get(id)?.run === run ? { instinct: id, name } : [])),
      ask: ask ? { instinct: ask.id, name: ask.name, line: redact(factInList(ask)) } : null,
    };
    return [`session ${run}`, news];
  });
}

/** What is told at the start of a session, for each project and for the person. */
function startRows(
  instincts: readonly Instinct[],
  projects: readonly ProjectFold[],
  { findings, kept, now, policy }: Around,
): Row[] {
  const roots = new Map(projects.map(({ id, root }) => [id, root]));
  const first = firstOf(findings);
  const harmless = new Set(first.keys());
  const live = new Set(
    kept
      .filter(isLive)
      .flatMap(({ kind, instinct, members = [] }) => [instinct, ...(kind === "skill" ? members : [])]),
  );
  const drafts = new Set(kept.filter((one) => !isLive(one)).map(({ instinct }) => instinct));
  const starts = new Map<
    string,
    { lessons: StartLesson[]; skills: { name: string; description: string }[] }
  >();
  const startOf = (realm: string) => {
    const start = starts.get(realm) ?? { lessons: [], skills: [] };
    starts.set(realm, start);
    return start;
  };
  for (const instinct of instincts) {
    const { status } = standingAt(instinct.standing, now, policy);
    const isOpen = status === "active" || status === "pending" || (status === "promoted" && isTold(instinct));
    if (!isOpen || !harmless.has(instinct.id)) continue;
    if (!isShown(instinct, policy) && !live.has(instinct.id)) continue;
    const waits = instinct.artifact === "rule" || drafts.has(instinct.id);
    startOf(realmOf(instinct)).lessons.push({
      instinct: lessonIdOf(instinct),
      name: instinct.name,
      line: factInList(instinct),
      brief: briefly(instinct),
      noticedAt: first.get(instinct.id)?.noticedAt ?? 0,
      run: first.get(instinct.id)?.run ?? "",
      fix: instinct.symptom !== null,
      active: status !== "pending",
      home: instinct.scope === "user" ? (homeIn(roots.get(instinct.project) ?? "") ?? "") : null,
      state: live.has(instinct.id) ? "live" : waits ? "waiting" : "known",
    });
  }
  const realms = new Map(instincts.map((instinct) => [instinct.id, realmOf(instinct)]));
  for (const one of kept) {
    if (one.kind !== "skill" || !isLive(one) || one.text === null) continue;
    const taught = (one.members ?? [one.instinct]).map((id) => realms.get(id)).find((id) => id !== undefined);
    const realm = one.reach === "everywhere" ? "user" : (taught ?? one.askedIn ?? "user");
    const description = parse(one.text).skill?.description ?? "";
    startOf(realm).skills.push({ name: one.name, description });
  }
  return [...starts].map(([realm, { lessons, skills }]) => {
    const surest = lessons.filter(({ active }) => active).slice(0, policy.show.startLessons);
    const newest = [...lessons].sort((a, b) => b.noticedAt - a.noticedAt).slice(0, policy.show.startNews);
    const start: Start = {
      lessons: lessons.filter((lesson) => surest.includes(lesson) || newest.includes(lesson)),
      // More than that is over the budget in any case.
      skills: skills.slice(0, policy.show.startNews),
    };
    return [`start ${realm}`, start];
  });
}

/** What reviews learned while nobody was there to be told, of each project the latest. */
async function receiptRows({ ledger }: Store, { show }: Policy): Promise<Row[]> {
  const byProject = new Map<string, StartReceipt[]>();
  for (const { at, project, actor, data } of await ledger.since("receipt.given", 0))
    if (actor === "knack" && project !== null)
      byProject.set(project, [...(byProject.get(project) ?? []), { at: at ?? 0, text: data.text }]);
  return [...byProject].map(([project, all]) => [`receipts ${project}`, all.slice(-show.startLessons)]);
}

/** The finding of each instinct that was noticed first. */
function firstOf(findings: readonly KeptFinding[]): Map<string, KeptFinding> {
  const first = new Map<string, KeptFinding>();
  for (const kept of findings) {
    const known = first.get(kept.instinct);
    if (
      !known ||
      kept.noticedAt < known.noticedAt ||
      (kept.noticedAt === known.noticedAt && kept.at < known.at)
    )
      first.set(kept.instinct, kept);
  }
  return first;
}

function briefly({ symptom, action, name }: Instinct): string {
  return symptom === null ? name : `${symptom.head}: ${oneLine(action)}`;
}
