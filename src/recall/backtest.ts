import { compareText, WordIndex } from "../base/index.ts";
import { compareSymptoms } from "../failures/index.ts";
import { findingId, learnByRules, restoreEvents } from "../learning/index.ts";
import {
  applyDecay,
  applyEntries,
  extractGist,
  isWorthShowing,
  lessonCues,
  type Question,
  questionCues,
} from "../lessons/index.ts";
import type {
  Event,
  Finding,
  LedgerEntry,
  Lesson,
  LessonScope,
  LessonStatus,
  Remedy,
  Symptom,
} from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { extractTerms } from "../text/index.ts";
import { type IngestDeps, makeFoundEntry, readEvents, type SessionView } from "../transcripts/index.ts";
import { listMoments, type MetFailure, type Moment, settles, touches } from "./backtest-moments.ts";
import { readQuestion } from "./question.ts";
import { findHome, type LessonMatch, leastScore, measureDistance, recall } from "./recall.ts";

/** A longer prompt is a task rather than a remark. */
const longTurnChars = 420;
/** Share of words from which somebody says the same again. */
const restatedShare = 0.35;

/** What a history would have gained, had what it teaches been known at each point of it. */
export interface Backtest {
  readonly sessions: readonly (Readonly<Lived> & { readonly session: SessionView })[];
  /** Failures that had been met and overcome in an earlier session; in a session, each once. */
  readonly repeats: readonly Repeat[];
  /** How often something would have been shown. */
  readonly shown: number;
  readonly hits: readonly Hit[];
  readonly wrongs: readonly Wrong[];
  readonly skipped: readonly { readonly what: string; readonly because: string }[];
}

export interface BacktestOptions {
  readonly refuses?: (session: SessionView) => Promise<string | null>;
  readonly onProgress?: (done: number, all: number) => void;
  /** When to stop looking at further sessions, the newest having been looked at first; what was looked at is replayed. */
  readonly until?: () => boolean;
  /** When to stop replaying: sessions that were not come to by then are left out. */
  readonly stop?: () => boolean;
}

/**
 * Replays sessions in the order of time: at each prompt, call and failure only what sessions taught that had ended by
 * then is known. The store has the sessions' events; `scratch` is empty and gets what is learned.
 */
export async function backtest(
  deps: IngestDeps & { readonly scratch: Store },
  sessions: readonly SessionView[],
  {
    refuses = async () => null,
    onProgress = () => {},
    until = () => false,
    stop = () => false,
  }: BacktestOptions = {},
): Promise<Backtest> {
  const { store, scratch } = deps;
  const skipped: { what: string; because: string }[] = [];
  const accounts: SessionAccount[] = [];
  for (const [done, session] of [...sessions].sort(newestFirst).entries()) {
    if (until()) {
      skipped.push({ what: session.path, because: outOfTime });
      continue;
    }
    const because = session.startedAt === null ? "its transcript has no times" : await refuses(session);
    if (because !== null) skipped.push({ what: session.path, because });
    else {
      await restoreEvents(deps, [session]);
      accounts.push(buildAccount(session, await readEvents(store, session)));
    }
    onProgress(done + 1, sessions.length);
  }
  const replay = new Replay(scratch);
  const begun = new Set<SessionAccount>();
  for (const { account, moment, order } of buildTimeline(accounts)) {
    if (stop()) break;
    begun.add(account);
    if (moment === null) replay.learn(account);
    else await replay.live(account, moment, order);
  }
  const { tally } = replay;
  for (const account of accounts)
    if (!begun.has(account)) skipped.push({ what: account.session.path, because: outOfTime });
  return { sessions: [...begun].map(({ session, lived }) => ({ session, ...lived })), ...tally, skipped };
}

function buildAccount(session: SessionView, all: readonly Event[]): SessionAccount {
  const startedAt = session.startedAt ?? 0;
  const endedAt = all.reduce((last, { at, endedAt: end }) => Math.max(last, at ?? 0, end ?? 0), startedAt);
  const learned = learnByRules(session, all, endedAt);
  const deciding = new Set(learned.findings.map(({ refs }) => refs[0]));
  return {
    session,
    home: findHome(session.cwd ?? session.project.root ?? ""),
    moments: listMoments(learned, learned.findings, startedAt),
    keys: new Map(learned.events.flatMap(({ ref, key }) => (deciding.has(ref) ? [[ref, key] as const] : []))),
    entries: [makeFoundEntry(session), ...learned.entries],
    endedAt,
    teaches: learned.isLearnedFrom,
    lived: { prompts: 0, failures: 0, correctionsRepeated: 0 },
    ...{ shown: new Map(), met: new Map(), missed: new Set(), restated: new Set() },
  };
}

function newestFirst(a: SessionView, b: SessionView): number {
  return (b.startedAt ?? 0) - (a.startedAt ?? 0) || compareText(a.id, b.id);
}

/** Why a session was left out when there was no time for more. */
export const outOfTime = "there was no time for it";

/** All moments in the order of time. A null moment is the end of a session, and comes after everything else of that time. */
function buildTimeline(accounts: readonly SessionAccount[]) {
  const points = accounts.flatMap((account) => [
    ...account.moments.map((moment, order) => ({ account, at: moment.at, moment, order })),
    { account, at: account.endedAt, moment: null, order: Number.POSITIVE_INFINITY },
  ]);
  return points.sort(
    (a, b) =>
      a.at - b.at ||
      Number(a.moment === null) - Number(b.moment === null) ||
      compareText(a.account.session.id, b.account.session.id) ||
      a.order - b.order,
  );
}

/** A place in a transcript. */
export interface TranscriptSpot {
  readonly session: SessionView;
  readonly key: string;
  readonly at: number;
}

/** When a lesson is shown: at a prompt, before a call, at a failure; a correction is one that a person had to repeat. */
export type ReplayOccasion = "prompt" | "call" | "failure" | "correction";

/** A lesson that would have been shown, and what came of what it was shown for. */
export interface Showing extends TranscriptSpot {
  readonly occasion: ReplayOccasion;
  readonly lesson: Lesson;
  /** What would have been said. */
  readonly text: string;
  readonly learnedFrom: TranscriptSpot;
  /** The prompt, the call, or what the person said. */
  readonly met: string;
  readonly error: string | null;
}

/** A lesson that would have been there when it was needed. */
export interface Hit extends Showing {
  /** What overcame the failure; null when nothing did. */
  readonly solvedBy: string | null;
  readonly savedCalls: number;
  readonly savedMs: number;
}

/** A lesson that would have been shown for nothing. */
export interface Wrong extends Showing {
  readonly because: string;
}

/** A failure that had been overcome before, and where. */
interface Repeat extends TranscriptSpot {
  readonly met: string;
  readonly error: string;
  readonly before: TranscriptSpot;
}

type ShownMatch = Showing & { readonly match: LessonMatch };

/** A session as it is replayed. */
interface SessionAccount {
  readonly session: SessionView;
  readonly home: string | null;
  readonly moments: readonly Moment[];
  /** What it teaches, once it has ended. */
  readonly entries: readonly LedgerEntry[];
  /** Where the events that its findings rest on stand. */
  readonly keys: ReadonlyMap<string, string>;
  readonly endedAt: number;
  /** Too short a session is not learned from. */
  readonly teaches: boolean;
  readonly lived: Lived;
  /** What it was shown so far, by lesson id. */
  readonly shown: Map<string, ShownMatch>;
  /** The failures it has met so far, by cue. */
  readonly met: Map<string, Symptom[]>;
  /** Ids of lessons that were shown for nothing. */
  readonly missed: Set<string>;
  /** Keys of the moments at which a person repeated themselves. */
  readonly restated: Set<string>;
}

/** What happened in a session, in numbers; records that an earlier one has too are counted there. */
interface Lived {
  prompts: number;
  failures: number;
  correctionsRepeated: number;
}

type CallMoment = Extract<Moment, { type: "call" }>;

interface SolvedFailure extends TranscriptSpot {
  readonly symptom: Symptom;
  readonly remedy: Remedy | null;
  readonly call: readonly string[] | null;
  readonly project: string;
  readonly home: string | null;
}

interface EarlierCorrection extends TranscriptSpot {
  readonly finding: string;
  readonly terms: ReadonlySet<string>;
  readonly scope: LessonScope;
}

/** Goes through a history moment by moment, and counts what would have been shown and what came of it. */
class Replay {
  readonly tally = { repeats: [] as Repeat[], shown: 0, hits: [] as Hit[], wrongs: [] as Wrong[] };
  private readonly scratch: Store;
  private readonly ended = new Map<string, SessionAccount>();
  /** Failures that were overcome, by cue. */
  private readonly solved = new Map<string, SolvedFailure[]>();
  private readonly corrections = new WordIndex<EarlierCorrection>();
  private readonly lessons = new WordIndex<Finding>();
  /** What ended sessions teach, written to the store once a question may need it: a batch costs little more than one. */
  private queue: LedgerEntry[] = [];
  private readonly projects = new Set<string>();
  /** The cues of everything learned. */
  private readonly cues = new Set<string>();
  /** The session that owns a record which forks and copies have too: the one that met it first. */
  private readonly owners = new Map<string, SessionAccount>();

  constructor(scratch: Store) {
    this.scratch = scratch;
  }

  /** A session has ended: what it teaches is known from here on. */
  learn(account: SessionAccount): void {
    const { session, home, entries } = account;
    this.ended.set(session.id, account);
    account.shown.clear();
    account.met.clear();
    // Of a project one session says where it is.
    const known = this.projects.has(session.project.id);
    this.projects.add(session.project.id);
    this.queue.push(...entries.filter(({ type }) => type !== "session.found" || !known));
    for (const { type, data } of entries) {
      if (type !== "finding.made") continue;
      for (const cue of lessonCues(data.finding)) this.cues.add(cue);
      this.lessons.add(data.finding, extractGist(data.finding).all);
    }
    if (!account.teaches) return;
    for (const moment of account.moments) {
      const spot = locate(account, moment);
      if (moment.type === "call" && moment.failure?.solved) {
        const { symptom, end } = moment.failure;
        const fix = { symptom, remedy: end?.remedy ?? null, call: end?.call ?? null };
        for (const cue of failureCues(symptom))
          pushTo(this.solved, cue, { ...spot, ...fix, project: session.project.id, home });
      } else if (moment.type === "correction") {
        const { excerpt, scope } = moment.finding;
        const terms = extractTerms(excerpt.said ?? "");
        this.corrections.add({ ...spot, finding: findingId(session, moment.finding), terms, scope }, terms);
      }
    }
  }

  /** Something happens in a session. */
  async live(account: SessionAccount, moment: Moment, order: number): Promise<void> {
    if (!this.claims(account, moment)) {
      // A fork still has the failures it met before.
      if (moment.type === "call" && moment.failure) this.meet(account, moment.failure.symptom);
    } else if (moment.type === "prompt") await this.hear(account, moment, order);
    else if (moment.type === "correction")
      await this.restate(account, moment, moment.finding.excerpt.said ?? "");
    else {
      await this.foresee(account, moment);
      await this.see(account, moment);
    }
  }

  /** Takes a record for a session; false when another session has the same one, wherever it stands there. */
  private claims(account: SessionAccount, { type, origin }: Moment): boolean {
    if (origin === null) return true;
    const record = `${type} ${origin}`;
    const owner = this.owners.get(record) ?? account;
    this.owners.set(record, owner);
    return owner === account;
  }

  private async hear(
    account: SessionAccount,
    moment: Extract<Moment, { type: "prompt" }>,
    order: number,
  ): Promise<void> {
    account.lived.prompts++;
    const restated = await this.restate(account, moment, moment.text);
    for (const match of await this.ask(account, moment, readQuestion(moment.text))) {
      // Who says it again need not be told.
      if (match.lesson.id === restated) continue;
      const showing = this.show(account, moment, "prompt", match, null);
      if (!touches(match.lesson, account.moments.slice(order + 1)))
        this.miss(account, showing, "the session never touches what it is about");
    }
  }

  /** What would be said before a call is made. */
  private async foresee(account: SessionAccount, moment: CallMoment): Promise<void> {
    const { calls, failure, ok } = moment;
    if (calls.length === 0) return;
    const [match] = await this.ask(account, moment, { type: "call", calls });
    if (!match) return;
    const showing = this.show(account, moment, "call", match, failure?.line ?? null);
    if (failure === null && ok !== null)
      this.miss(account, showing, ok ? "the call worked as it was" : "it failed for another reason");
    if (failure !== null && !isAbout(match, failure))
      this.miss(account, showing, `it failed for another reason: ${failure.line}`);
  }

  /** Counts a showing as wrong; whatever comes later, it is not right as well. */
  private miss(account: SessionAccount, { match: _, ...showing }: ShownMatch, because: string): void {
    this.tally.wrongs.push({ ...showing, because });
    account.missed.add(showing.lesson.id);
  }

  private async see(account: SessionAccount, moment: CallMoment): Promise<void> {
    const { failure, calls } = moment;
    if (moment.ok === false) account.lived.failures++;
    // A failure that a session meets again counts once.
    if (failure === null || !this.meet(account, failure.symptom)) return;
    const { symptom, line } = failure;
    let known = [...account.shown.values()].find(
      ({ match, lesson }) => isAbout(match, failure) && !account.missed.has(lesson.id),
    );
    if (!known) {
      const [match] = await this.ask(account, moment, { type: "failure", symptom, calls });
      if (match) known = this.show(account, moment, "failure", match, line);
    }
    const answered = known && this.judge(account, moment, failure, known) ? known.learnedFrom : null;
    const before = this.solvedBefore(account, symptom) ?? answered;
    if (before)
      this.tally.repeats.push({ ...locate(account, moment), met: moment.text, error: line, before });
  }

  /** Notes that a session has met a failure; false when it had met it before. */
  private meet({ met }: SessionAccount, symptom: Symptom): boolean {
    const cues = failureCues(symptom);
    if (cues.some((cue) => met.get(cue)?.some((other) => isSameFailure(other, symptom)))) return false;
    for (const cue of cues) pushTo(met, cue, symptom);
    return true;
  }

  /** Counts a lesson that is about a failure as right or wrong. */
  private judge(
    account: SessionAccount,
    moment: CallMoment,
    failure: MetFailure,
    known: ShownMatch,
  ): boolean {
    const { end, line } = failure;
    const showing = { ...known, ...locate(account, moment), met: moment.text, error: line };
    if (settles(known.match.best.finding, failure) === false) {
      const because =
        end === null ? "it was done, and the same failure came again" : `something else helped: ${end.told}`;
      this.miss(account, showing, because);
      return false;
    }
    const { match: _, ...hit } = showing;
    this.tally.hits.push({ ...hit, solvedBy: end?.told ?? null, ...measureSaving(end, known.occasion) });
    return true;
  }

  /** Notes it when a person says what they had said in an earlier session; returns the id of the lesson made of that. */
  private async restate(account: SessionAccount, moment: Moment, text: string): Promise<string | null> {
    const { restated, lived } = account;
    if (restated.has(moment.key) || text.length > longTurnChars) return null;
    const before = this.saidBefore(account, extractTerms(text));
    if (!before) return null;
    restated.add(moment.key);
    lived.correctionsRepeated++;
    await this.catchUp();
    const [kept] = await this.scratch.learning.findings.get([before.finding]);
    const [lesson] = kept ? await this.scratch.learning.lessons.get([kept.lessonId]) : [];
    if (!lesson) return null;
    if (isWorthShowing(lesson) && openStatuses.has(applyDecay(lesson.state, moment.at).status))
      this.tally.hits.push({
        ...locate(account, moment),
        ...{ occasion: "correction", lesson, text: lesson.lesson, learnedFrom: before, met: text },
        ...{ error: null, solvedBy: null, savedCalls: 0, savedMs: 0 },
      });
    return lesson.id;
  }

  /** The first correction in an earlier session, about this project or about all work, with much the same words. */
  private saidBefore({ session }: SessionAccount, terms: ReadonlySet<string>): EarlierCorrection | null {
    const same = [...this.corrections.sharing(terms)].flatMap(([other, shared]) => {
      const ours = other.scope === "user" || other.session.project.id === session.project.id;
      const share = shared / (terms.size + other.terms.size - shared);
      return ours && share >= restatedShare ? [other] : [];
    });
    return same.sort((a, b) => a.at - b.at || (a.finding < b.finding ? -1 : 1))[0] ?? null;
  }

  /** The answers that this session has not had yet. */
  private async ask(account: SessionAccount, { at }: Moment, question: Question): Promise<LessonMatch[]> {
    const { session, home, shown } = account;
    if (!this.mayKnow(question)) return [];
    await this.catchUp();
    const options = { project: session.project.id, home, unasked: true, now: at };
    return (await recall(this.scratch, question, options)).filter(({ lesson }) => !shown.has(lesson.id));
  }

  /** Whether anything learned shares a cue, or two words, with a question. */
  private mayKnow(question: Question): boolean {
    if (questionCues(question).some((cue) => this.cues.has(cue))) return true;
    return (
      question.type === "text" &&
      [...this.lessons.sharing(question.terms).values()].some((shared) => shared > 1)
    );
  }

  /** Writes what ended sessions teach to the store. */
  private async catchUp(): Promise<void> {
    const entries = this.queue;
    this.queue = [];
    if (entries.length > 0) await this.scratch.transaction((tx) => applyEntries(tx, entries));
  }

  private show(
    account: SessionAccount,
    moment: Exclude<Moment, { type: "correction" }>,
    occasion: ReplayOccasion,
    match: LessonMatch,
    error: string | null,
  ): ShownMatch {
    const { lesson, best } = match;
    const { session, at, finding } = match.from[0] as LessonMatch["from"][number];
    const source = this.ended.get(session) as SessionAccount;
    const learnedFrom = {
      session: source.session,
      key: source.keys.get(finding.refs[0] ?? "") ?? "",
      at,
    };
    const spot = locate(account, moment);
    const text = best.finding.lesson;
    const showing = { ...spot, occasion, lesson, text, learnedFrom, met: moment.text, error, match };
    account.shown.set(lesson.id, showing);
    this.tally.shown++;
    return showing;
  }

  private solvedBefore({ session, home }: SessionAccount, symptom: Symptom): TranscriptSpot | null {
    const asked = { project: session.project.id, home, unasked: true };
    const found = failureCues(symptom)
      .flatMap((cue) => this.solved.get(cue) ?? [])
      .find((one) => measureDistance(one, one, asked) !== null && isSameFailure(one.symptom, symptom));
    return found ? { session: found.session, key: found.key, at: found.at } : null;
  }
}

/** The statuses in which a person is told of a lesson. */
const openStatuses = new Set<LessonStatus>(["pending", "active", "promoted"]);

/** What knowing the fix would have saved: what was done until it was found, but not what the fix itself asks for. */
function measureSaving(
  end: MetFailure["end"],
  occasion: ReplayOccasion,
): Pick<Hit, "savedCalls" | "savedMs"> {
  if (end === null) return { savedCalls: 0, savedMs: 0 };
  const savedCalls = Math.max(0, end.callsUntil - end.prescribed) + (occasion === "failure" ? 0 : 1);
  return { savedCalls, savedMs: savedCalls === 0 ? 0 : end.msUntil };
}

function locate({ session }: SessionAccount, { key, at }: Moment): TranscriptSpot {
  return { session, key, at };
}

function failureCues(symptom: Symptom): string[] {
  return questionCues({ type: "failure", symptom, calls: [] });
}

function isSameFailure(a: Symptom, b: Symptom): boolean {
  return compareSymptoms(a, b) >= leastScore.error;
}

function isAbout({ from }: LessonMatch, { symptom }: MetFailure): boolean {
  return from.some(
    ({ finding }) => finding.symptom !== null && compareSymptoms(finding.symptom, symptom) > 0,
  );
}

function pushTo<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
