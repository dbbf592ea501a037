import { compareText } from "../base/index.ts";
import {
  type Chronic,
  callText,
  causeGroups,
  compareSymptoms,
  fileFamily,
  findFileNames,
  isSameFix,
  type Recovery,
} from "../failures/index.ts";
import { findingId, learnByRules, restoreEvents } from "../learning/index.ts";
import {
  applyDecay,
  applyEntries,
  areContrary,
  extractGist,
  isWorthShowing,
  lessonCues,
  type Question,
  questionCues,
  type UpcomingCall,
} from "../lessons/index.ts";
import {
  type Event,
  type Finding,
  isSaid,
  isUse,
  type LedgerEntry,
  type Lesson,
  type LessonScope,
  type Remedy,
  type Symptom,
} from "../records/index.ts";
import type { Store } from "../store/index.ts";
import { baseName, extractTerms, measureSimilarity } from "../text/index.ts";
import { type IngestDeps, makeFoundEntry, readEvents, type SessionView } from "../transcripts/index.ts";
import { findChronicIn } from "./chronic.ts";
import {
  findAlternative,
  findHome,
  type LessonMatch,
  leastScore,
  listCalls,
  measureDistance,
  readQuestion,
  recall,
} from "./recall.ts";

/** Characters of a prompt that are read; one longer than the second is a task rather than a remark. */
const promptChars = 4_000;
const longTurnChars = 420;
/** Share of words from which a remark is a repeat. */
const restatedShare = 0.35;

/** The gain a history would have had from its own lessons, replayed in order. */
export interface Backtest {
  /** Counts per session; a record shared with an earlier session counts there. */
  readonly sessions: readonly (Readonly<Lived> & { readonly session: SessionView })[];
  /** Failures that had been met and overcome in an earlier session, and where; in a session, each once. */
  readonly repeats: readonly (Spot & {
    readonly met: string;
    readonly error: string;
    readonly before: Spot;
  })[];
  /** How often something would have been shown. */
  readonly shown: number;
  /** Lessons that would have been there when they were needed. */
  readonly hits: readonly Hit[];
  /** Lessons that would have been shown for nothing, or would have led astray. */
  readonly wrongs: readonly Wrong[];
  /** Failures that three sessions or more met and none overcame. */
  readonly chronic: readonly Chronic[];
  readonly skipped: readonly { readonly what: string; readonly because: string }[];
  /** How many of those there was no time for. */
  readonly late: number;
}

interface Lived {
  prompts: number;
  failures: number;
  correctionsRepeated: number;
}

/** A place in a transcript. */
interface Spot {
  readonly session: SessionView;
  readonly key: string;
  readonly at: number;
}

/** A lesson that would have been shown, and the occasion for it. */
interface Showing extends Spot {
  /** At a prompt, before a call, at a failure; a correction is one that a person had to repeat. */
  readonly occasion: "prompt" | "call" | "failure" | "correction";
  readonly lesson: Lesson;
  readonly text: string;
  readonly learnedFrom: Spot;
  /** The prompt, the call, or what the person said. */
  readonly met: string;
  readonly error: string | null;
}

interface Hit extends Showing {
  /** The call that overcame the failure, or null. */
  readonly solvedBy: string | null;
  readonly savedCalls: number;
  readonly savedMs: number;
}

/** Useless: it was beside the point. Wrong: something else helped, it was tried in vain, or it warned of what works. */
interface Wrong extends Showing {
  readonly verdict: "useless" | "wrong";
  readonly because: string;
}

interface BacktestOptions {
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
  { refuses = async () => null, onProgress, until = () => false, stop = () => false }: BacktestOptions,
): Promise<Backtest> {
  const skipped: Backtest["skipped"][number][] = [];
  const skip = ({ path }: SessionView, because: string) => skipped.push({ what: path, because });
  const outOfTime = "there was no time for it";
  const accounts: SessionAccount[] = [];
  for (const [done, session] of [...sessions].sort(newestFirst).entries()) {
    if (until()) {
      skip(session, outOfTime);
      continue;
    }
    const because = session.startedAt === null ? "its transcript has no times" : await refuses(session);
    if (because !== null) skip(session, because);
    else {
      await restoreEvents(deps, [session]);
      accounts.push(buildAccount(session, await readEvents(deps.store, session)));
    }
    onProgress?.(done + 1, sessions.length);
  }
  const replay = new Replay(deps.scratch, accounts);
  const begun = new Set<SessionAccount>();
  for (const { account, moment, taught, order } of buildTimeline(accounts)) {
    if (stop()) break;
    begun.add(account);
    if (taught !== null) replay.learn(account, taught);
    else if (moment !== null) await replay.live(account, moment, order);
    else replay.end(account);
  }
  for (const account of accounts) if (!begun.has(account)) skip(account.session, outOfTime);
  const lived = [...begun].map((account) => ({ session: account.session, ...account.lived }));
  const late = skipped.filter(({ because }) => because === outOfTime).length;
  return { sessions: lived, ...replay.tally, chronic: findChronicIn([...begun]), skipped, late };
}

function newestFirst(a: SessionView, b: SessionView): number {
  return (b.startedAt ?? 0) - (a.startedAt ?? 0) || compareText(a.id, b.id);
}

/** All moments in the order of time; what a turn taught, and the end of a session, come after everything else of that time. */
function buildTimeline(accounts: readonly SessionAccount[]) {
  const points = accounts.flatMap((account) => [
    ...account.moments.map((moment, order) => ({ account, at: moment.at, moment, taught: null, order })),
    ...account.taught.map((taught, order) => ({ account, at: taught.at, moment: null, taught, order })),
    { account, at: account.endedAt, moment: null, taught: null, order: Number.POSITIVE_INFINITY },
  ]);
  return points.sort(
    (a, b) =>
      a.at - b.at ||
      Number(a.moment === null) - Number(b.moment === null) ||
      compareText(a.account.session.id, b.account.session.id) ||
      a.order - b.order,
  );
}

/** A session as it is replayed. */
type SessionAccount = ReturnType<typeof buildAccount>;

function buildAccount(session: SessionView, all: readonly Event[]) {
  const startedAt = session.startedAt ?? 0;
  const endedAt = all.reduce((last, { at, endedAt: end }) => Math.max(last, at ?? 0, end ?? 0), startedAt);
  const learned = learnByRules(session, all, endedAt);
  const deciding = new Set(learned.findings.map(({ refs }) => refs[0]));
  const lived: Lived = { prompts: 0, failures: 0, correctionsRepeated: 0 };
  const moments = listMoments(learned, startedAt);
  return {
    session,
    lived,
    endedAt,
    home: findHome(session.cwd ?? session.project.root ?? ""),
    troubles: learned.troubles,
    uses: learned.uses,
    moments,
    taught: listTaught(learned, moments, endedAt),
    /** The cures that it proved. */
    cures: learned.findings.flatMap(({ symptom, remedy, call }) =>
      symptom ? [{ symptom, remedy, call }] : [],
    ),
    /** Where the events that its findings rest on stand. */
    keys: new Map(learned.events.flatMap(({ ref, key }) => (deciding.has(ref) ? [[ref, key] as const] : []))),
    /** Entries to record once it ends: the session itself, and the calls it made. */
    entries: learned.entries.filter(({ type }) => type !== "finding.made"),
    /** Lessons shown so far, by id. */
    shown: new Map<string, ShownMatch>(),
    /** The failures it has met so far, by cue. */
    met: new Map<string, Symptom[]>(),
    /** Ids of lessons that were shown for nothing. */
    missed: new Set<string>(),
    /** Keys of the moments at which a person repeated themselves. */
    restated: new Set<string>(),
  };
}

type ShownMatch = Showing & { readonly match: LessonMatch; readonly other: LessonMatch | null };

interface SolvedFailure extends Spot {
  readonly symptom: Symptom;
  readonly remedy: Remedy | null;
  readonly call: readonly string[] | null;
  readonly project: string;
  readonly home: string | null;
}

interface EarlierCorrection extends Spot {
  readonly finding: string;
  readonly said: string;
  readonly terms: ReadonlySet<string>;
  readonly scope: LessonScope;
}

/** Replays a history moment by moment and counts hits and wrong showings. */
class Replay {
  readonly tally = {
    repeats: [] as Backtest["repeats"][number][],
    shown: 0,
    hits: [] as Hit[],
    wrongs: [] as Wrong[],
  };
  private readonly scratch: Store;
  private readonly accounts: readonly SessionAccount[];
  /** Sessions that taught something so far. */
  private readonly teachers = new Map<string, SessionAccount>();
  /** Failures that were overcome, by cue. */
  private readonly solved = new Map<string, SolvedFailure[]>();
  private readonly corrections: EarlierCorrection[] = [];
  /** Entries of ended sessions, written in one batch when a question may need them. */
  private queue: LedgerEntry[] = [];
  private readonly projects = new Set<string>();
  /** The cues and the words of everything learned: most calls and prompts share none, and need no query. */
  private readonly cues = new Set<string>();
  private readonly words = new Set<string>();
  /** The session that owns a record which forks and copies have too: the one that met it first. */
  private readonly owners = new Map<string, SessionAccount>();

  constructor(scratch: Store, accounts: readonly SessionAccount[]) {
    this.scratch = scratch;
    this.accounts = accounts;
  }

  /** A turn has ended: what it taught is known from here on, to sessions that run beside it too. */
  learn(account: SessionAccount, { entries, moments }: Taught): void {
    const { session, home } = account;
    this.teachers.set(session.id, account);
    // Of a project one session says where it is.
    if (!this.projects.has(session.project.id)) this.queue.push(makeFoundEntry(session));
    this.projects.add(session.project.id);
    this.queue.push(...entries);
    for (const { type, data } of entries) {
      if (type !== "finding.made") continue;
      for (const cue of lessonCues(data.finding)) this.cues.add(cue);
      for (const word of extractGist(data.finding).all) this.words.add(word);
    }
    for (const moment of moments) {
      const spot = locate(account, moment);
      if (moment.type === "call" && moment.failure?.solved) {
        const { symptom, end } = moment.failure;
        const fix = { symptom, remedy: end?.remedy ?? null, call: end?.call ?? null };
        for (const cue of failureCues(symptom))
          pushTo(this.solved, cue, { ...spot, ...fix, project: session.project.id, home });
      } else if (moment.type === "correction") {
        const { excerpt, scope } = moment.finding;
        const said = excerpt.said ?? "";
        const heard = { said, terms: extractTerms(said), scope };
        this.corrections.push({ ...spot, finding: findingId(session, moment.finding), ...heard });
      }
    }
  }

  /** A session has ended: nothing more is said to it. */
  end(account: SessionAccount): void {
    this.queue.push(...account.entries);
    account.shown.clear();
    account.met.clear();
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

  /** Claims a record for a session; false if another session already owns it. */
  private claims(account: SessionAccount, { type, origin }: Moment): boolean {
    if (origin === null) return true;
    const record = `${type} ${origin}`;
    const owner = this.owners.get(record) ?? account;
    this.owners.set(record, owner);
    return owner === account;
  }

  private async hear(account: SessionAccount, moment: PromptMoment, order: number): Promise<void> {
    account.lived.prompts++;
    const restated = await this.restate(account, moment, moment.text);
    for (const match of await this.ask(account, moment, readQuestion(moment.text))) {
      // Who says it again need not be told.
      if (match.lesson.id === restated) continue;
      const showing = this.show(account, moment, "prompt", match, null);
      if (!touches(match.lesson, account.moments.slice(order + 1)))
        this.miss(account, showing, "useless", "the session never touches what it is about");
    }
  }

  /** Looks for a warning ahead of a call. */
  private async foresee(account: SessionAccount, moment: CallMoment): Promise<void> {
    const { calls, failure, ok } = moment;
    const [match] = calls.length > 0 ? await this.ask(account, moment, { type: "call", calls }) : [];
    if (!match) return;
    const showing = this.show(account, moment, "call", match, failure?.line ?? null);
    if (failure === null && ok === true) this.miss(account, showing, "wrong", "the call worked as it was");
    if (failure === null && ok === false)
      this.miss(account, showing, "useless", "it failed for another reason");
    if (failure !== null && !isAbout(match, failure))
      this.miss(account, showing, "useless", `it failed for another reason: ${failure.line}`);
  }

  /** Counts a showing as wrong; it can no longer become a hit. */
  private miss(
    account: SessionAccount,
    { match: _, other: __, ...showing }: ShownMatch,
    verdict: Wrong["verdict"],
    because: string,
  ): void {
    this.tally.wrongs.push({ ...showing, verdict, because });
    account.missed.add(showing.lesson.id);
  }

  private async see(account: SessionAccount, moment: CallMoment): Promise<void> {
    const { failure, calls } = moment;
    if (moment.failed) account.lived.failures++;
    if (failure === null) return;
    const { symptom, line } = failure;
    const isNew = this.meet(account, symptom);
    const told = [...account.shown.values()].filter(({ match }) => isAbout(match, failure));
    let known = told.find(({ lesson }) => !account.missed.has(lesson.id));
    // A failure that a session meets again counts once, unless an earlier turn of it taught the fix meanwhile.
    if (told.length > 0 && !isNew) return;
    if (!known) {
      const matches = await this.ask(account, moment, { type: "failure", symptom, calls });
      const [match] = matches;
      if (match) known = this.show(account, moment, "failure", match, line, findAlternative(matches));
      else if (!isNew) return;
    }
    const answered = known && this.judge(account, moment, failure, known) ? known.learnedFrom : null;
    const before = this.findSolved(account, symptom) ?? answered;
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
    const { match, other, ...showing } = {
      ...known,
      ...locate(account, moment),
      met: moment.text,
      error: line,
    };
    const told = [match, ...(other ? [other] : [])].map(({ best }) => best.finding);
    if (isTriedInVain(match.best.finding, failure)) {
      this.miss(
        account,
        { ...showing, match, other },
        "wrong",
        "it was done, and the same failure came again",
      );
      return false;
    }
    const helps = (finding: Finding) =>
      settles(finding, failure) || this.isProvedLater(account, failure, finding);
    if (!told.some(helps)) {
      const isOther = end !== null && end.remedy !== "none";
      const because = isOther ? `something else helped: ${end.told}` : "the same call worked the next time";
      this.miss(account, { ...showing, match, other }, isOther ? "wrong" : "useless", because);
      return false;
    }
    // Knowing the fix would have saved what was done until it was found, but not what the fix itself asks for.
    const wasted = end === null ? 0 : Math.max(0, end.callsUntil - end.prescribed);
    const savedCalls = end === null ? 0 : wasted + (known.occasion === "failure" ? 0 : 1);
    const savedMs = savedCalls === 0 ? 0 : (end?.msUntil ?? 0);
    this.tally.hits.push({ ...showing, solvedBy: end?.told ?? null, savedCalls, savedMs });
    return true;
  }

  /** Notes it when a person says what they had said in an earlier session; returns the id of the lesson made of that. */
  private async restate(account: SessionAccount, moment: Moment, text: string): Promise<string | null> {
    const { restated, lived } = account;
    if (restated.has(moment.key) || text.length > longTurnChars) return null;
    const before = this.findSaid(account, text);
    if (!before) return null;
    restated.add(moment.key);
    lived.correctionsRepeated++;
    await this.catchUp();
    const [kept] = await this.scratch.learning.findings.get([before.finding]);
    const [lesson] = kept ? await this.scratch.learning.lessons.get([kept.lessonId]) : [];
    if (!lesson) return null;
    const { status } = applyDecay(lesson.state, moment.at);
    if (isWorthShowing(lesson) && ["pending", "active", "promoted"].includes(status))
      this.tally.hits.push({
        ...locate(account, moment),
        ...{ occasion: "correction", lesson, text: lesson.lesson, learnedFrom: before, met: text },
        ...{ error: null, solvedBy: null, savedCalls: 0, savedMs: 0 },
      });
    return lesson.id;
  }

  /**
   * The first correction in an earlier session, about this project or about all work, with much the same words: to ask
   * for a commit is not to say again that none is wanted on main.
   */
  private findSaid({ session }: SessionAccount, text: string): EarlierCorrection | null {
    const terms = extractTerms(text);
    const same = this.corrections.filter((other) => {
      const isOurs = other.scope === "user" || other.session.project.id === session.project.id;
      const isLike = isOurs && measureSimilarity(terms, other.terms) >= restatedShare;
      return isLike && !areContrary(text, other.said);
    });
    return same.sort((a, b) => a.at - b.at || (a.finding < b.finding ? -1 : 1))[0] ?? null;
  }

  /** The answers that this session has not had yet. */
  private async ask(account: SessionAccount, { at }: Moment, question: Question): Promise<LessonMatch[]> {
    const { session, home, shown } = account;
    if (!this.mayKnow(question)) return [];
    await this.catchUp();
    const options = { project: session.project.id, home, asker: "nobody" as const, now: at };
    return (await recall(this.scratch, question, options)).filter(({ lesson }) => !shown.has(lesson.id));
  }

  /** Whether anything learned shares a cue with a question, or the two words that a text is searched by. */
  private mayKnow(question: Question): boolean {
    if (questionCues(question).some((cue) => this.cues.has(cue))) return true;
    if (question.type !== "text") return false;
    let shared = 0;
    for (const word of question.terms) if (this.words.has(word) && ++shared === 2) return true;
    return false;
  }

  /** Writes what ended sessions teach to the store. */
  private async catchUp(): Promise<void> {
    const entries = this.queue;
    this.queue = [];
    if (entries.length > 0) await this.scratch.transaction((tx) => applyEntries(tx, entries));
  }

  private show(
    account: SessionAccount,
    moment: PromptMoment | CallMoment,
    occasion: Showing["occasion"],
    match: LessonMatch,
    error: string | null,
    other: LessonMatch | null = null,
  ): ShownMatch {
    const { lesson, best } = match;
    const { session, at, finding } = match.from[0] as LessonMatch["from"][number];
    const source = this.teachers.get(session) as SessionAccount;
    const key = source.keys.get(finding.refs[0] ?? "") ?? "";
    const learnedFrom = { session: source.session, key, at };
    const also = other === null ? "" : ` What also worked: ${other.best.finding.action}.`;
    const told = { occasion, lesson, text: `${best.finding.lesson}${also}`, learnedFrom, other };
    const showing = { ...locate(account, moment), ...told, met: moment.text, error, match };
    account.shown.set(lesson.id, showing);
    this.tally.shown++;
    return showing;
  }

  /** Whether a later session of the project overcame the same failure in just this way. */
  private isProvedLater({ session }: SessionAccount, { symptom }: MetFailure, fix: Finding): boolean {
    return this.accounts.some(
      (other) =>
        other.session.project.id === session.project.id &&
        (other.session.startedAt ?? 0) > (session.startedAt ?? 0) &&
        other.cures.some((cure) => isSameFailure(cure.symptom, symptom) && isSameFix(fix, cure)),
    );
  }

  private findSolved({ session, home }: SessionAccount, symptom: Symptom): Spot | null {
    const asked = { project: session.project.id, home, asker: "nobody" as const };
    const isSolved = (one: SolvedFailure) =>
      measureDistance(one, one, asked) !== null && isSameFailure(one.symptom, symptom);
    const lists = failureCues(symptom).map((cue) => this.solved.get(cue)?.find(isSolved));
    const found = lists.find((one) => one !== undefined);
    return found ? { session: found.session, key: found.key, at: found.at } : null;
  }
}

function locate({ session }: SessionAccount, { key, at }: Moment): Spot {
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

// --- The moments of a session ---

/** One event of a session, reduced to the needs of a replay. */
type Moment = PromptMoment | CallMoment | (MomentSpot & { type: "correction"; finding: Finding });
type PromptMoment = MomentSpot & { readonly type: "prompt"; readonly text: string };
interface CallMoment extends MomentSpot {
  readonly type: "call";
  readonly text: string;
  readonly calls: readonly UpcomingCall[];
  /** Null for one that was cancelled, refused, or never answered. */
  readonly ok: boolean | null;
  /** Whether its outcome alone says that it failed, which is what every screen counts. */
  readonly failed: boolean;
  readonly failure: MetFailure | null;
}

interface MomentSpot {
  readonly ref: string;
  readonly key: string;
  readonly at: number;
  readonly origin: string | null;
}

/** The moments of a session in order. Records without a time have the time of the one before. */
function listMoments(learned: ReturnType<typeof learnByRules>, startedAt: number): Moment[] {
  const { events, recoveries, findings } = learned;
  const failures = new Map(recoveries.map((recovery) => [recovery.failed.ref, recovery]));
  // Of the events that a lesson rests on, the first is the failure; what worked may have failed later on.
  const taught = new Set(findings.flatMap(({ symptom, refs }) => (symptom === null ? [] : refs.slice(0, 1))));
  const heard = new Map(
    findings
      .filter(({ kind, symptom, excerpt }) => isSaid(kind) && symptom === null && excerpt.said !== null)
      .map((finding) => [finding.refs[0], finding] as const),
  );
  let at = startedAt;
  return events.flatMap((event): Moment[] => {
    at = event.at ?? at;
    const { key, ref, origin, outcome } = event;
    const spot = { ref, key, at, origin };
    const correction = heard.get(ref);
    const said: Moment[] = correction ? [{ ...spot, type: "correction", finding: correction }] : [];
    if (event.kind === "prompt")
      return [{ ...spot, type: "prompt", text: event.text.slice(0, promptChars) }, ...said];
    if (event.kind !== "call") return said;
    const recovery = failures.get(ref);
    const failure = recovery ? describeFailure(recovery, events, taught.has(ref)) : null;
    const ok = failure || outcome === "failed" ? false : outcome === "ok" ? true : null;
    return [
      {
        ...spot,
        type: "call",
        text: renderCall(event),
        calls: listCalls(event),
        ok,
        failed: outcome === "failed",
        failure,
      },
      ...said,
    ];
  });
}

/** The entries of a turn, and the moments at which a failure that it overcame was met, or a person spoke. */
interface Taught {
  readonly at: number;
  readonly entries: readonly LedgerEntry[];
  readonly moments: readonly Moment[];
}

/** The lessons of each turn of a session; they are known once the turn has ended in which a failure was overcome. */
function listTaught(
  { events, recoveries, entries }: ReturnType<typeof learnByRules>,
  moments: readonly Moment[],
  endedAt: number,
): Taught[] {
  const ends = new Map<number, number>();
  for (const { turn, at, endedAt: end } of events)
    ends.set(turn, Math.max(ends.get(turn) ?? 0, at ?? 0, end ?? 0));
  const turns = new Map(events.map(({ ref, turn }) => [ref, turn]));
  for (const { failed, worked } of recoveries) if (worked) turns.set(failed.ref, worked.turn);
  const knownAt = (ref: string | undefined) => ends.get(turns.get(ref ?? "") ?? -1) || endedAt;
  const taught = new Map<number, { entries: LedgerEntry[]; moments: Moment[] }>();
  const open = (at: number) => {
    const known = taught.get(at) ?? { entries: [], moments: [] };
    taught.set(at, known);
    return known;
  };
  for (const entry of entries)
    if (entry.type === "finding.made") open(knownAt(entry.data.finding.refs[0])).entries.push(entry);
  for (const moment of moments) if (moment.type !== "prompt") open(knownAt(moment.ref)).moments.push(moment);
  return [...taught].map(([at, known]) => ({ at, ...known }));
}

function renderCall({ command, tool, input }: Event): string {
  return (command ?? `${tool} ${JSON.stringify(input ?? {})}`).slice(0, 200);
}

/** A failure that was met. */
type MetFailure = ReturnType<typeof describeFailure>;

function describeFailure(recovery: Recovery, events: readonly Event[], taught: boolean) {
  const { failed, error, again } = recovery;
  const symptom = recovery.symptom([...findFileNames(failed.command ?? ""), ...failed.files.map(baseName)]);
  const first = events.indexOf(failed);
  const last = Math.max(first, ...again.map((event) => events.indexOf(event)));
  const end = describeEnd(recovery, symptom, events, last);
  const changed = end !== null && end.remedy !== "none" && end.remedy !== "argument";
  return {
    symptom,
    line: error.line,
    /** Calls made before the failure recurred. */
    tried: again.length === 0 ? [] : events.slice(first + 1, last + 1).flatMap(listCalls),
    end,
    /** It was overcome in a way that helps the next time. */
    solved: taught || (changed && !causeGroups.inWork.has(error.cause)),
  };
}

/** How a failure was overcome; null when it was not. */
function describeEnd(recovery: Recovery, { files }: Symptom, events: readonly Event[], lastFailed: number) {
  const { failed, worked, remedy, between, again, step } = recovery;
  if (worked === null || remedy === null) return null;
  const run = events.slice(lastFailed + 1, events.indexOf(worked)).filter(({ outcome }) => outcome === "ok");
  const since = failed.endedAt ?? failed.at;
  const touched = [...findFileNames(callText(worked)), ...worked.files.map(baseName)];
  const how =
    remedy === "elevation" ? ", with more rights" : remedy === "directory" ? ", in another folder" : "";
  return {
    remedy,
    foreign: recovery.isForeign,
    /** The call that a lesson about it would recommend. */
    call: recovery.fixCall,
    /** Successful calls from the last failure to the call that overcame it. */
    calls: [...run, worked].flatMap(listCalls),
    /** Whether the fix names the files it was denied. */
    touchesDenied: touched.some((file) => files.includes(fileFamily(file))),
    told: step ? `${renderCall(step)}, then ${renderCall(worked)}` : `${renderCall(worked)}${how}`,
    /** Calls the fix itself requires before the one that overcame the failure. */
    prescribed: step === null ? 0 : 1,
    /** Calls and milliseconds from the failure to that call. */
    callsUntil: between.calls + again.length,
    msUntil: since === null || worked.at === null ? 0 : Math.max(0, worked.at - since),
  };
}

/** Whether a lesson's action was taken and the same failure came again. */
function isTriedInVain({ call }: Finding, { tried }: MetFailure): boolean {
  return call !== null && tried.some((each) => makesCall(each, call));
}

/** Whether what a lesson says is what overcame a failure, or would have; true where nothing did and it was not tried. */
function settles(lesson: Finding, { symptom, end }: MetFailure): boolean {
  const { remedy, call } = lesson;
  if (end === null) return true;
  // The tool puts layout right, whatever was done by hand; a slip that passed at once needed no advice.
  if (symptom.cause === "lint" && symptom.about === lesson.symptom?.about) return true;
  if (symptom.cause === "tool-misuse") return end.remedy === "other-way" || end.callsUntil > 1;
  if (remedy === null || remedy === "none") return end.foreign || end.remedy === "none";
  if (remedy === "elevation" || remedy === "directory") return end.remedy === remedy;
  // What was denied was left alone; of other words that were the trouble, other words were found.
  if (call === null)
    return symptom.cause === "denied"
      ? !end.touchesDenied
      : end.remedy !== "none" && end.remedy !== "elevation";
  if (end.calls.some((each) => makesCall(each, call))) return true;
  return isSameFix(lesson, { remedy: end.remedy, call: end.call, symptom });
}

function makesCall({ program, parts }: UpcomingCall, call: readonly string[]): boolean {
  return parts !== null && isUse({ head: program, parts }, call);
}

/** Whether a session, from some point on, has to do with what a lesson is about: its command, its files or its tool. */
function touches(about: Lesson, moments: readonly Moment[]): boolean {
  const { symptom, call, lesson, trigger, action } = about;
  const files = findFileNames(`${lesson} ${action}`);
  const heads = [call, symptom?.call].flatMap((each) => (each ? [each.slice(0, 2)] : []));
  const words = extractGist({ trigger, action }).all;
  const sharesWords = ({ words: given, program }: UpcomingCall) =>
    [...extractTerms([program, ...given].join(" ").slice(0, 2_000))].filter((word) => words.has(word))
      .length >= 2;
  return moments
    .flatMap((moment) => (moment.type === "call" ? moment.calls : []))
    .some(
      (made) =>
        heads.some((head) => makesCall(made, head)) ||
        (made.parts === null && made.program === symptom?.head) ||
        made.files.some((file) => files.has(file)) ||
        (heads.length === 0 && sharesWords(made)),
    );
}
