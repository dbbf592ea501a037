import { type Met, type Moment, settles, touches } from "../core/backtest.ts";
import { cuesFor, cuesOf } from "../core/cue.ts";
import type { Finding, Scope } from "../core/finding.ts";
import { type Instinct, type InstinctStatus, standingAt } from "../core/instinct.ts";
import type { LedgerEntry } from "../core/ledger.ts";
import { gistOf } from "../core/likeness.ts";
import type { Remedy } from "../core/link.ts";
import type { Policy } from "../core/policy.ts";
import { type Question, questionIn } from "../core/question.ts";
import { distanceTo, type Match } from "../core/recall.ts";
import { isShown } from "../core/suggest.ts";
import { likenessOf, type Symptom } from "../core/symptom.ts";
import { WordIndex } from "../core/word-index.ts";
import { termsOf } from "../core/words.ts";
import type { SessionView } from "./inspect.ts";
import { findingId } from "./learn.ts";
import { follow } from "./note.ts";
import type { Store } from "./ports.ts";
import { recall } from "./recall.ts";

/** A place in a transcript. */
export interface Spot {
  readonly session: SessionView;
  readonly key: string;
  readonly at: number;
}

/** When a lesson is shown: at a prompt, before a call, at a failure; a correction is one that a person had to repeat. */
export type Occasion = "prompt" | "call" | "failure" | "correction";

/** A lesson that would have been shown, and what came of what it was shown for. */
export interface Showing extends Spot {
  readonly occasion: Occasion;
  readonly instinct: Instinct;
  /** What would have been said. */
  readonly lesson: string;
  readonly learnedFrom: Spot;
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
export interface Repeat extends Spot {
  readonly met: string;
  readonly error: string;
  readonly before: Spot;
}

/** A session as it is replayed. */
export interface Account {
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
  /** What the replay counts in it. */
  readonly lived: Lived;
}

/** What happened in a session, in numbers; records that an earlier one has too are counted there. */
export interface Lived {
  prompts: number;
  failures: number;
  correctionsRepeated: number;
}

/** What a session has been shown and has met so far. */
interface SoFar {
  readonly shown: Map<string, Showing & { readonly match: Match }>;
  /** What was met, by the cues of its error. */
  readonly met: Map<string, Symptom[]>;
  /** What was shown for nothing. */
  readonly missed: Set<string>;
  /** Where a person said something again. */
  readonly restated: Set<string>;
}

/** Goes through a history moment by moment, and counts what would have been shown and what came of it. */
export class Replay {
  readonly tally = {
    repeats: [] as Repeat[],
    shown: 0,
    hits: [] as Hit[],
    wrongs: [] as Wrong[],
  };
  private readonly scratch: Store;
  private readonly policy: Policy;
  private readonly ended = new Map<string, Account>();
  private readonly soFar = new Map<Account, SoFar>();
  /** Failures that were overcome, by the cues of their error. */
  private readonly solved = new Map<string, Solved[]>();
  private readonly corrections = new WordIndex<Correction>();
  /** What was learned, by its words. */
  private readonly lessons = new WordIndex<Finding>();
  /** What ended sessions teach, noted when something is asked that it may answer: many at once cost little more than one. */
  private queue: LedgerEntry[] = [];
  private readonly projects = new Set<string>();
  /** Every cue that something learned goes by. */
  private readonly cues = new Set<string>();
  /** Records that a fork or a copy has too happened once: in the session in which they are met first. */
  private readonly origins = new Map<string, Account>();

  constructor(scratch: Store, policy: Policy) {
    this.scratch = scratch;
    this.policy = policy;
  }

  /** A session has ended: what it teaches is known from here on. */
  learn(account: Account): void {
    const { session, moments, entries } = account;
    this.ended.set(session.id, account);
    this.soFar.delete(account);
    // Of a project one session says where it is.
    const known = this.projects.has(session.project.id);
    this.projects.add(session.project.id);
    this.queue.push(...entries.filter(({ type }) => type !== "session.found" || !known));
    for (const { type, data } of entries) {
      if (type !== "finding.made") continue;
      for (const cue of cuesOf(data.finding)) this.cues.add(cue);
      this.lessons.add(data.finding, gistOf(data.finding).all);
    }
    if (!account.teaches) return;
    for (const moment of moments) {
      const spot = { session, key: moment.key, at: moment.at };
      if (moment.type === "call" && moment.failure?.solved) this.remember(account, spot, moment.failure);
      if (moment.type !== "correction") continue;
      const correction = { ...spot, ...correctionIn(account, moment.finding) };
      this.corrections.add(correction, correction.terms);
    }
  }

  private remember({ session, home }: Account, spot: Spot, { symptom, end }: Met): void {
    for (const cue of cuesFor({ type: "failure", symptom, calls: [] })) {
      const known = this.solved.get(cue) ?? [];
      known.push({
        ...spot,
        symptom,
        remedy: end?.remedy ?? null,
        call: end?.call ?? null,
        project: session.project.id,
        home,
      });
      this.solved.set(cue, known);
    }
  }

  /** Something happens in a session. */
  async live(account: Account, moment: Moment, order: number): Promise<void> {
    if (!this.claims(account, moment)) {
      // A fork goes on with the troubles it has from before.
      if (moment.type === "call" && moment.failure) this.meet(account, moment.failure.symptom);
      return;
    }
    switch (moment.type) {
      case "prompt":
        return this.hear(account, moment, order);
      case "call":
        await this.foresee(account, moment);
        return this.see(account, moment);
      case "correction":
        return this.correct(account, moment);
    }
  }

  /** Takes a record for a session; false when another session has the same one, wherever it stands there. */
  private claims(account: Account, { type, origin }: Moment): boolean {
    if (origin === null) return true;
    const record = `${type} ${origin}`;
    const owner = this.origins.get(record) ?? account;
    this.origins.set(record, owner);
    return owner === account;
  }

  private async hear(account: Account, moment: PromptMoment, order: number): Promise<void> {
    account.lived.prompts++;
    const restated = await this.restate(account, moment, moment.text);
    for (const match of await this.ask(account, moment, questionIn(moment.text))) {
      // Who says it again need not be told.
      if (match.instinct.id === restated) continue;
      const showing = this.show(account, moment, "prompt", match, null);
      if (!touches(match.instinct, account.moments.slice(order + 1)))
        this.miss(account, showing, "the session never touches what it is about");
    }
  }

  /** What would be said before a call is made. */
  private async foresee(account: Account, moment: CallMoment): Promise<void> {
    if (moment.calls.length === 0) return;
    const [match] = await this.ask(account, moment, { type: "call", calls: moment.calls });
    if (!match) return;
    const showing = this.show(account, moment, "call", match, moment.failure?.line ?? null);
    const { failure, ok } = moment;
    if (failure === null && ok !== null)
      this.miss(account, showing, ok ? "the call worked as it was" : "it failed for another reason");
    if (failure !== null && !isAbout(match, failure))
      this.miss(account, showing, `it failed for another reason: ${failure.line}`);
  }

  /** Counts a showing as wrong; whatever comes later, it is not right as well. */
  private miss(account: Account, showing: Showing, because: string): void {
    this.tally.wrongs.push({ ...showing, because });
    this.stateOf(account).missed.add(showing.instinct.id);
  }

  private async see(account: Account, moment: CallMoment): Promise<void> {
    const { failure } = moment;
    if (moment.ok === false) account.lived.failures++;
    if (failure === null) return;
    // Whatever is met again in a session is one trouble.
    if (!this.meet(account, failure.symptom)) return;
    const { shown, missed } = this.stateOf(account);
    const known =
      [...shown.values()].find(({ match }) => isAbout(match, failure) && !missed.has(match.instinct.id)) ??
      (await this.answer(account, moment, failure));
    const answered = known ? this.judge(account, moment, failure, known) : false;
    const before =
      this.solvedBefore(account, failure.symptom) ?? (answered && known ? known.learnedFrom : null);
    if (before)
      this.tally.repeats.push({ ...spotOf(account, moment), met: moment.text, error: failure.line, before });
  }

  /** Notes that a session has met a trouble; false when it had met it before. */
  private meet(account: Account, symptom: Symptom): boolean {
    const { met } = this.stateOf(account);
    const cues = cuesFor({ type: "failure", symptom, calls: [] });
    if (cues.some((cue) => met.get(cue)?.some((other) => this.alike(other, symptom)))) return false;
    for (const cue of cues) met.set(cue, [...(met.get(cue) ?? []), symptom]);
    return true;
  }

  private async answer(account: Account, moment: CallMoment, failure: Met) {
    const question = { type: "failure" as const, symptom: failure.symptom, calls: moment.calls };
    const [match] = await this.ask(account, moment, question);
    return match && { ...this.show(account, moment, "failure", match, failure.line), match };
  }

  private judge(
    account: Account,
    moment: CallMoment,
    failure: Met,
    { match, occasion, instinct, lesson, learnedFrom }: Showing & { match: Match },
  ): boolean {
    const { end, line } = failure;
    const showing: Showing = {
      ...spotOf(account, moment),
      occasion,
      instinct,
      lesson,
      learnedFrom,
      met: moment.text,
      error: line,
    };
    if (settles(match.best.finding, failure) === false) {
      const because =
        end === null ? "it was done, and the same failure came again" : `something else helped: ${end.told}`;
      this.miss(account, showing, because);
      return false;
    }
    this.tally.hits.push({ ...showing, solvedBy: end?.told ?? null, ...savingOf(end, occasion) });
    return true;
  }

  private async correct(account: Account, moment: Extract<Moment, { type: "correction" }>): Promise<void> {
    await this.restate(account, moment, moment.finding.excerpt.said ?? "");
  }

  /** Notes it when a person says what they had said in an earlier session; answers with the instinct that was made of it. */
  private async restate(account: Account, moment: Moment, text: string): Promise<string | null> {
    const { restated } = this.stateOf(account);
    if (restated.has(moment.key) || text.length > this.policy.detect.speech.longTurn) return null;
    const terms = termsOf(text);
    const before = this.saidBefore(account, terms);
    if (!before) return null;
    restated.add(moment.key);
    account.lived.correctionsRepeated++;
    await this.catchUp();
    const [kept] = await this.scratch.learning.findings.get([before.finding]);
    const [instinct] = kept ? await this.scratch.learning.instincts.get([kept.instinct]) : [];
    const standing = instinct && standingAt(instinct.standing, moment.at, this.policy).status;
    if (instinct && isShown(instinct, this.policy) && standing && told.has(standing))
      this.tally.hits.push({
        ...spotOf(account, moment),
        occasion: "correction",
        instinct,
        lesson: instinct.lesson,
        learnedFrom: before,
        met: text,
        error: null,
        solvedBy: null,
        savedCalls: 0,
        savedMs: 0,
      });
    return instinct?.id ?? null;
  }

  /** The first correction in an earlier session, about this project or about all work, with much the same words. */
  private saidBefore({ session }: Account, terms: ReadonlySet<string>): Correction | null {
    const same = [...this.corrections.sharing(terms)].flatMap(([other, shared]) => {
      const ours = other.scope === "user" || other.session.project.id === session.project.id;
      const share = shared / (terms.size + other.terms.size - shared);
      return ours && share >= this.policy.detect.speech.restated ? [other] : [];
    });
    return same.sort((a, b) => a.at - b.at || (a.finding < b.finding ? -1 : 1))[0] ?? null;
  }

  /** The answers that this session has not had yet. */
  private async ask(account: Account, { at }: Moment, question: Question): Promise<Match[]> {
    const { session, home } = account;
    const options = { project: session.project.id, home, unasked: true, now: at, policy: this.policy };
    const { shown } = this.stateOf(account);
    if (!this.mayKnow(question)) return [];
    await this.catchUp();
    return (await recall(this.scratch, question, options)).filter(({ instinct }) => !shown.has(instinct.id));
  }

  /** Whether there is anything to look up: what goes by no cue that was learned and shares no words is not known. */
  private mayKnow(question: Question): boolean {
    if (cuesFor(question).some((cue) => this.cues.has(cue))) return true;
    if (question.type !== "text") return false;
    for (const shared of this.lessons.sharing(question.terms).values()) if (shared > 1) return true;
    return false;
  }

  /** Notes what sessions taught that have ended. */
  private async catchUp(): Promise<void> {
    const entries = this.queue;
    this.queue = [];
    if (entries.length > 0) await this.scratch.transaction((tx) => follow(tx, entries));
  }

  private show(
    account: Account,
    moment: Moment,
    occasion: Occasion,
    match: Match,
    error: string | null,
  ): Showing {
    const met = moment.type === "correction" ? "" : moment.text;
    const { instinct } = match;
    const showing = {
      ...spotOf(account, moment),
      occasion,
      instinct,
      lesson: match.best.finding.lesson,
      learnedFrom: this.sourceOf(match),
      met,
      error,
    };
    this.stateOf(account).shown.set(instinct.id, { ...showing, match });
    this.tally.shown++;
    return showing;
  }

  private sourceOf({ from: [first] }: Match): Spot {
    const { session, at, finding } = first as Match["from"][number];
    const account = this.ended.get(session) as Account;
    return { session: account.session, key: account.keys.get(finding.refs[0] ?? "") ?? "", at };
  }

  private stateOf(account: Account): SoFar {
    const state = this.soFar.get(account) ?? {
      shown: new Map(),
      met: new Map(),
      missed: new Set<string>(),
      restated: new Set<string>(),
    };
    this.soFar.set(account, state);
    return state;
  }

  private solvedBefore({ session, home }: Account, symptom: Symptom): Spot | null {
    const asked = { project: session.project.id, home, unasked: true };
    for (const cue of cuesFor({ type: "failure", symptom, calls: [] })) {
      const found = this.solved
        .get(cue)
        ?.find((one) => distanceTo(one, one, asked) !== null && this.alike(one.symptom, symptom));
      if (found) return { session: found.session, key: found.key, at: found.at };
    }
    return null;
  }

  private alike(a: Symptom, b: Symptom): boolean {
    return likenessOf(a, b) >= this.policy.recall.offer.error;
  }
}

type CallMoment = Extract<Moment, { type: "call" }>;
type PromptMoment = Extract<Moment, { type: "prompt" }>;

interface Solved extends Spot {
  readonly symptom: Symptom;
  readonly remedy: Remedy | null;
  readonly call: readonly string[] | null;
  readonly project: string;
  readonly home: string | null;
}

interface Correction extends Spot {
  readonly finding: string;
  readonly terms: ReadonlySet<string>;
  readonly scope: Scope;
}

/** Where an instinct must stand for a person to be told of it. */
const told = new Set<InstinctStatus>(["pending", "active", "promoted"]);

/** What knowing the fix would have saved: what was done until it was found, but not what the fix itself asks for. */
function savingOf(end: Met["end"], occasion: Occasion): Pick<Hit, "savedCalls" | "savedMs"> {
  if (end === null) return { savedCalls: 0, savedMs: 0 };
  const savedCalls = Math.max(0, end.callsUntil - end.prescribed) + (occasion === "failure" ? 0 : 1);
  return { savedCalls, savedMs: savedCalls === 0 ? 0 : end.msUntil };
}

function correctionIn(
  { session }: Account,
  finding: Finding,
): Pick<Correction, "finding" | "terms" | "scope"> {
  const { excerpt, scope } = finding;
  return { finding: findingId(session, finding), terms: termsOf(excerpt.said ?? ""), scope };
}

function spotOf({ session }: Account, { key, at }: Moment): Spot {
  return { session, key, at };
}

function isAbout({ from }: Match, { symptom }: Met): boolean {
  return from.some(({ finding }) => finding.symptom !== null && likenessOf(finding.symptom, symptom) > 0);
}
