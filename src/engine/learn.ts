import { detectorsVersion } from "../core/detect/index.ts";
import type { Event } from "../core/event.ts";
import type { Calls } from "../core/failure.ts";
import type { Finding } from "../core/finding.ts";
import { idOf } from "../core/ids.ts";
import type { Judged } from "../core/judgement.ts";
import type { LedgerEntry } from "../core/ledger.ts";
import { gistOf } from "../core/likeness.ts";
import { isOwnCall } from "../core/own-call.ts";
import { policy as defaults } from "../core/policy.ts";
import { readCalls } from "../core/recovery.ts";
import { isWaiting } from "../core/suggest.ts";
import { type Use, usesOf } from "../core/use.ts";
import { type IngestDeps, ingest, markOf } from "./ingest.ts";
import { eventsOf, type SessionView } from "./inspect.ts";
import { note } from "./note.ts";
import { heuristicObserver, type Observed, type Observer } from "./observe.ts";
import type { KeptFinding, Reading, Store } from "./ports.ts";

export interface LearnOptions {
  /** Why a session is not learned from, if there is a reason. */
  readonly refuses?: (session: SessionView) => Promise<string | null>;
  readonly onProgress?: (done: number, all: number) => void;
  /** When to stop: what was looked at until then is kept, and the rest is left for another time. */
  readonly until?: () => boolean;
  /** Handed the sessions that were just looked at, while what was read of them is at hand. */
  readonly onNoted?: (seen: readonly Seen[]) => Promise<void>;
  /** Sessions with fewer events are not learned from. */
  readonly fewestEvents?: number | undefined;
  /** Who looks; rules alone unless told. */
  readonly observer?: Observer;
  /** Which sessions are looked at though nothing in them is new: none, those that no model has judged, or all. */
  readonly again?: Again;
}

export type Again = "none" | "unjudged" | "all";

/** What was looked at, and what came of it. */
export interface Learned {
  readonly sessions: readonly SessionView[];
  /** Everything that holds in these sessions and may be told, whenever it was found; best first. */
  readonly findings: readonly KeptFinding[];
  readonly skipped: readonly { readonly what: string; readonly because: string }[];
  /** How many sessions had something new. */
  readonly looked: number;
  /** How many sessions with something new there was no time for. */
  readonly unlooked: number;
  /** How many sessions there was no time to look at for what they used; whoever looks knows. */
  readonly uncredited: number;
  /** The lessons that are told in every project from now on; whoever compares projects knows. */
  readonly promoted: readonly { readonly id: string; readonly name: string }[];
  /** How many transcripts there was no time to read; whoever reads knows. */
  readonly unread: number;
  /** What a model, where one was to be asked, made of the sessions that had something new. */
  readonly judged: readonly (Judged & { readonly session: string })[];
}

/** A session whose events were read, and its calls, each read once for all who look at them. */
export interface Seen {
  readonly session: SessionView;
  readonly events: readonly Event[];
  readonly calls: Calls;
}

/** A session as it was looked at, outside any transaction. */
interface Look {
  readonly session: SessionView;
  readonly mark: string;
  readonly pass: number;
  readonly findings: readonly Finding[];
  readonly judged?: Observed["judged"];
  readonly uses: readonly Use[];
}

/**
 * Looks for lessons in sessions that are new or have grown, and keeps them. May be called again, by several processes
 * at once, and be killed at any point: what a session taught is noted whole, once.
 */
export async function learn(
  deps: IngestDeps,
  sessions: readonly SessionView[],
  {
    refuses = async () => null,
    onProgress = () => {},
    until = () => false,
    onNoted = async () => {},
    observer = heuristicObserver,
    again = "none",
    fewestEvents,
  }: LearnOptions = {},
): Promise<Learned> {
  const { store, policy = defaults } = deps;
  const fewest = fewestEvents ?? policy.learn.fewestEvents;
  const skipped: { what: string; because: string }[] = [];
  const heard: SessionView[] = [];
  for (const session of sessions) {
    const few = session.counts.events < fewest;
    const because = few ? `fewer than ${fewest} events` : await refuses(session);
    if (because === null) heard.push(session);
    else skipped.push({ what: session.path, because });
  }
  const due = await dueOf(store, heard, again);
  // Whoever is stopped here is stopped below too, before anything is looked at that could not be read.
  await readAgain(
    deps,
    due.flatMap(({ purged }) => purged),
    until,
  );
  let looks: (Look & Seen)[] = [];
  const judged: (Judged & { session: string })[] = [];
  let looked = 0;
  for (const { session, mark, pass } of due) {
    if (until()) break;
    const events = await eventsOf(store, session);
    const calls = readCalls();
    const before = observer.name === "model" ? await judgedAt(store, session, pass - 1) : null;
    const who = { project: session.project.id, session: session.id };
    const { findings, judged: made } = await observer.observe(withoutOtherAgents(session, events), {
      ...who,
      calls,
      before,
    });
    looks.push({
      ...{ session, events, calls },
      mark: markedBy(mark, made),
      pass,
      findings,
      judged: made,
      uses: usesOf(events, calls),
    });
    if (made) judged.push({ ...made, pass, session: session.id });
    looked++;
    // What was paid for is kept at once.
    if (made || isMuch(looks)) {
      await keep(store, looks, deps.clock.now());
      await onNoted(looks);
      looks = [];
    }
    onProgress(looked, due.length);
  }
  if (looks.length > 0) await keep(store, looks, deps.clock.now());
  await onNoted(looks);
  const findings = await withoutWaiting(
    store,
    await store.learning.findings.ofSessions(heard.map(({ id }) => id)),
  );
  return {
    sessions,
    findings: findings.sort(bestFirst),
    skipped,
    looked,
    unlooked: due.length - looked,
    uncredited: 0,
    promoted: [],
    unread: 0,
    judged,
  };
}

/** What was judged of a session at a pass. */
async function judgedAt({ ledger }: Store, { id }: SessionView, pass: number): Promise<Judged | null> {
  const [entry] = pass > 0 ? await ledger.get([`judged:${id}@${pass}`]) : [];
  return entry?.type === "session.judged" ? entry.data : null;
}

/** The findings that stand on their own, or that another session agrees with. */
export async function withoutWaiting(
  { learning }: Store,
  findings: readonly KeptFinding[],
): Promise<KeptFinding[]> {
  const ids = [...new Set(findings.map(({ instinct }) => instinct))];
  const waiting = new Set(
    (await learning.instincts.get(ids)).filter((one) => isWaiting(one)).map(({ id }) => id),
  );
  const told = findings.filter(({ instinct }) => !waiting.has(instinct));
  const steps = new Set(told.flatMap((kept) => (kept.finding.kind === "multi-step" ? wordsOf(kept) : [])));
  // A command of which a procedure of the same session tells is told with it.
  return told.filter(
    (kept) => kept.finding.kind !== "repeated-action" || !wordsOf(kept).some((word) => steps.has(word)),
  );
}

/** The things to do that a finding names, in its session. */
function wordsOf({ session, finding }: KeptFinding): string[] {
  return [...gistOf(finding).all].map((word) => `${session} ${word}`);
}

/** Whether so much was looked at that it is noted and let go of. */
function isMuch(looks: readonly Seen[]): boolean {
  const events = looks.reduce((sum, look) => sum + look.events.length, 0);
  return looks.length >= sessionsAtOnce || events >= eventsAtOnce;
}

/** Sessions noted in one transaction, and events that are held until then. */
const sessionsAtOnce = 20;
const eventsAtOnce = 20_000;

function bestFirst(a: KeptFinding, b: KeptFinding): number {
  return b.finding.confidence - a.finding.confidence || a.at - b.at || (a.id < b.id ? -1 : 1);
}

interface Due {
  readonly session: SessionView;
  readonly mark: string;
  readonly pass: number;
  readonly purged: readonly Reading[];
}

/** The sessions that have something to say that was not heard yet, and those to be heard again. */
export async function dueOf(
  store: Store,
  sessions: readonly SessionView[],
  again: Again = "none",
): Promise<Due[]> {
  const known = new Map(
    (await store.learning.learned.of(sessions.map(({ id }) => id))).map((row) => [row.session, row]),
  );
  const paths = sessions.flatMap((session) => pathsOf(session));
  const readings = new Map((await store.readings.of([...new Set(paths)])).map((row) => [row.path, row]));
  return sessions.flatMap((session) => {
    const own = pathsOf(session).flatMap((path) => readings.get(path) ?? []);
    const marks = [session, ...session.alsoFrom].flatMap(({ id, path }) => {
      const reading = readings.get(path);
      return reading ? markOf(reading, id) : [];
    });
    const mark = `${detectorsVersion}:${marks.join()}`;
    const row = known.get(session.id);
    if (row && isHeard(row.mark, mark, again)) return [];
    const purged = own.filter(isPurged);
    return [{ session, mark, pass: (row?.pass ?? 0) + 1, purged }];
  });
}

/** A mark that says who looked, too: a model that judged everything, or one that could not and is waited for. */
function markedBy(mark: string, judged: Observed["judged"]): string {
  if (judged === null) return mark;
  return mark.replace(":", judged.fellBack === null ? "+model:" : "+waiting:");
}

/**
 * Whether what there is was heard. Another observer alone makes nothing new, or everything would be judged, and paid
 * for, when somebody changes a setting; what a model judged stands also when the rules change.
 */
function isHeard(heard: string, mark: string, again: Again): boolean {
  const [, rules = "", by = "", content = ""] = /^(\d+)(\+\w+)?(:.*)$/s.exec(heard) ?? [];
  if (content !== mark.slice(mark.indexOf(":")) || again === "all") return false;
  return by === "+model" || (again === "none" && mark.startsWith(`${rules}:`));
}

/** The files of a session whose events are gone. */
export async function purgedOf({ readings }: Store, session: SessionView): Promise<Reading[]> {
  return (await readings.of(pathsOf(session))).filter(isPurged);
}

function isPurged({ cachedAt, format }: Reading): boolean {
  return cachedAt === null && format !== null;
}

function pathsOf({ path, alsoFrom }: SessionView): string[] {
  return [path, ...alsoFrom.map((other) => other.path)];
}

/** Events are only a cache: those that are gone are read from the transcript once more. */
export async function readAgain(
  deps: IngestDeps,
  purged: readonly Reading[],
  until: () => boolean = () => false,
): Promise<void> {
  const files = purged.map(({ path, size, modifiedAt }) => ({ path, size, modifiedAt }));
  if (files.length > 0) await ingest(deps, files, { refresh: true, until });
}

/**
 * Without the prompts that another agent wrote, which are no person's words, and without what an agent does for Knack:
 * nobody learns from how learning is done.
 */
export function withoutOtherAgents({ subagent }: SessionView, events: readonly Event[]): Event[] {
  return events.filter((event) =>
    event.kind === "prompt" ? !(subagent || event.sidechain) : !isOwnCall(event),
  );
}

/** Notes what sessions taught, each unless another process was quicker. */
async function keep(store: Store, looks: readonly Look[], now: number): Promise<void> {
  await store.transaction(async (tx) => {
    const ids = looks.map(({ session }) => session.id);
    const passes = new Map((await tx.learning.learned.of(ids)).map((row) => [row.session, row.pass]));
    const mine = looks.filter(({ session, pass }) => (passes.get(session.id) ?? 0) === pass - 1);
    const before = await tx.learning.findings.ofSessions(mine.map(({ session }) => session.id));
    await note(
      tx,
      mine.flatMap((look) =>
        entriesOf(
          look,
          now,
          before.filter(({ session }) => session === look.session.id),
        ),
      ),
    );
  });
}

/** What the ledger says of a session that was looked at. */
export function entriesOf(
  { session, mark, pass, findings, judged = null, uses }: Look,
  now: number,
  before: readonly KeptFinding[],
): LedgerEntry[] {
  const at = session.startedAt ?? 0;
  const run = session.sessionId ?? session.id;
  const common = { project: session.project.id, session: session.id, actor: "knack" as const };
  const known = new Map(before.map((kept) => [kept.id, JSON.stringify(kept.finding)]));
  const noticed = new Map(before.map((kept) => [kept.id, kept.noticedAt]));
  const named = findings.map((finding) => ({
    id: findingId(session, finding),
    finding,
  }));
  const changed = named.filter(({ id, finding }) => known.get(id) !== JSON.stringify(finding));
  const made = changed.map(({ id, finding }): LedgerEntry => {
    const realm = realmOf(session, finding);
    return {
      ...common,
      at: finding.at ?? at,
      type: "finding.made",
      key: `finding:${id}@${pass}`,
      data: { id, pass, run, realm, noticedAt: noticed.get(id) ?? now, finding },
    };
  });
  const still = new Set(named.map(({ id }) => id));
  const withdrawn = before
    .filter(({ id }) => !still.has(id))
    .map(
      ({ id }): LedgerEntry => ({
        ...common,
        at,
        type: "finding.withdrawn",
        key: `withdrawn:${id}@${pass}`,
        data: { id, pass },
      }),
    );
  const learned: LedgerEntry = {
    ...common,
    at,
    type: "session.learned",
    key: `learned:${session.id}@${pass}`,
    data: { pass, mark, run, uses },
  };
  const judgedEntry = (data: Judged): LedgerEntry => ({
    ...common,
    at: now,
    type: "session.judged",
    key: `judged:${session.id}@${pass}`,
    data,
  });
  return [...made, ...withdrawn, ...(judged ? [judgedEntry({ ...judged, pass })] : []), learned];
}

/** The name of a finding: the same for the same kind at the same place. */
export function findingId({ id }: SessionView, { kind, refs }: Finding): string {
  return idOf("i", `${id} ${kind} ${refs[0]}`);
}

/** Whose lessons a finding is compared with. */
function realmOf({ project }: SessionView, { scope }: Finding): string {
  return scope === "user" ? "user" : project.id;
}
