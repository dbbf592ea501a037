import { createHash } from "node:crypto";
import { type Counts, type Event, type EventSource, noCounts, type Outcome, refOf } from "../core/event.ts";
import { type JsonObject, pruned } from "../core/json.ts";
import type { SessionFacts } from "../core/session.ts";
import type { ThreadState } from "../engine/ports.ts";
import { Seen } from "./seen.ts";

/** Events by which a session without a name is known; of a shorter one nothing is learned. */
const nameEvents = 10;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** An event that may still learn its result. */
export type Draft = Writable<Event>;

/** Where and when a record stands. */
export interface Place {
  readonly key: string;
  readonly at: number | null;
  readonly cwd: string | null;
  readonly origin: string | null;
  readonly sidechain: boolean;
  readonly skill?: string;
}

export interface Call {
  readonly id: string | null;
  readonly tool: string;
  readonly input: JsonObject | null;
  readonly command: string | null;
  readonly files: readonly string[];
}

export interface Result {
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  readonly text: string;
}

const unknownFacts: SessionFacts = {
  sessionId: null,
  agentId: null,
  subagent: false,
  cwd: null,
  remote: null,
  transcriptPath: null,
  startedAt: null,
  endedAt: null,
};

/**
 * Builds the events of one session from what a reader recognises: numbers them, joins results to calls, passes
 * over records it has seen. What changed since the last `drain` is handed out there, so a long file needs little
 * memory.
 */
export class Thread {
  facts: Writable<SessionFacts>;
  counts: Writable<Counts>;
  /** Commands that go on after their call returned, by the agent's name of the process. */
  readonly running = new Map<string, Draft>();
  private readonly source: EventSource;
  private readonly seen: Seen;
  private readonly open = new Map<string, Draft[]>();
  private changed = new Set<Draft>();
  private last: number;
  private turn: number;

  constructor(
    source: EventSource,
    resumed?: { state: ThreadState; events: readonly Event[]; origins: Iterable<string> },
  ) {
    this.source = source;
    this.facts = { ...(resumed?.state.facts ?? unknownFacts) };
    this.counts = { ...(resumed?.state.counts ?? noCounts) };
    this.last = resumed?.state.last ?? 0;
    this.turn = resumed?.state.turn ?? 0;
    this.seen = new Seen(resumed?.origins);
    if (!resumed) return;
    const byRef = new Map(resumed.events.map((event) => [event.ref, { ...event }]));
    for (const [id, ref] of resumed.state.open) this.awaits(id, byRef.get(ref));
    for (const [process, ref] of resumed.state.running) {
      const draft = byRef.get(ref);
      if (draft) this.running.set(process, draft);
    }
  }

  /** Whether a record came before: a resume repeats lines. */
  repeats(origin: string | null): boolean {
    return origin !== null && !this.seen.add(origin);
  }

  /** Widens the session's span by a time. */
  reach(at: number | null): void {
    if (at === null) return;
    const { startedAt, endedAt } = this.facts;
    if (startedAt === null || at < startedAt) this.facts.startedAt = at;
    if (endedAt === null || at > endedAt) this.facts.endedAt = at;
  }

  prompt(place: Place, text: string): void {
    this.turn++;
    this.counts.prompts++;
    this.add(place, "prompt", text);
  }

  reply(place: Place, text: string): void {
    this.add(place, "reply", text);
  }

  mark(place: Place, text: string, command: string | null = null): void {
    this.add(place, "mark", text).command = command;
  }

  call(place: Place, { id, tool, input, command, files }: Call): Draft {
    const draft = this.add(place, "call", "");
    draft.tool = tool;
    draft.input = input && (pruned(input) as JsonObject);
    draft.command = command;
    draft.files = files;
    draft.callId = id;
    draft.outcome = "unknown";
    this.counts.calls++;
    if (id !== null) this.awaits(id, draft);
    return draft;
  }

  /** The call a result belongs to: the oldest open one of that id, because published transcripts blank out ids. */
  answer(id: string): Draft | undefined {
    const waiting = this.open.get(id);
    const draft = waiting?.shift();
    if (waiting?.length === 0) this.open.delete(id);
    return draft;
  }

  /** Whether a call of this id still waits for its result. */
  waitsFor(id: string): boolean {
    return this.open.has(id);
  }

  /** Gives a call its result, or a later and better one. */
  settle(draft: Draft, { outcome, exitCode, text }: Result, place: Pick<Place, "key" | "at">): void {
    this.tally(draft.outcome, -1);
    this.tally(outcome, 1);
    draft.outcome = outcome;
    draft.exitCode = exitCode;
    draft.text = text;
    draft.resultKey = place.key;
    draft.endedAt = place.at;
    this.changed.add(draft);
  }

  /**
   * Calls a session whose format has no names after how it began, so that a copy of it is known, in another form too.
   * To be called before anything is handed out.
   */
  nameByBeginning(): void {
    const began = [...this.changed]
      .slice(0, nameEvents)
      .map((one) => [one.kind, one.command ?? one.tool, one.text]);
    if (began.length < nameEvents) return;
    const digest = createHash("sha1").update(JSON.stringify(began)).digest("hex");
    this.facts.sessionId ??= `began-${digest.slice(0, 16)}`;
  }

  /** The events that are new or changed since the last drain, in order. */
  drain(): Event[] {
    const events = [...this.changed].sort((a, b) => Number(a.ref.slice(1)) - Number(b.ref.slice(1)));
    this.changed = new Set();
    return events;
  }

  state(): ThreadState {
    const open = [...this.open].flatMap(([id, drafts]) => drafts.map((draft) => [id, draft.ref] as const));
    const running = [...this.running].map(([process, draft]) => [process, draft.ref] as const);
    return {
      facts: { ...this.facts },
      last: this.last,
      turn: this.turn,
      counts: { ...this.counts },
      open,
      running,
    };
  }

  private add(place: Place, kind: Event["kind"], text: string): Draft {
    this.reach(place.at);
    this.counts.events++;
    const draft: Draft = {
      ref: refOf(++this.last),
      key: place.key,
      resultKey: null,
      at: place.at,
      endedAt: null,
      turn: this.turn,
      source: this.source,
      kind,
      sidechain: place.sidechain,
      tool: null,
      input: null,
      command: null,
      files: [],
      cwd: place.cwd,
      outcome: null,
      exitCode: null,
      text,
      callId: null,
      origin: place.origin,
      ...(place.skill === undefined ? {} : { skill: place.skill }),
    };
    this.changed.add(draft);
    return draft;
  }

  private awaits(id: string, draft: Draft | undefined): void {
    if (!draft) return;
    const waiting = this.open.get(id);
    if (waiting) waiting.push(draft);
    else this.open.set(id, [draft]);
  }

  private tally(outcome: Outcome | null, step: number): void {
    if (outcome === "failed") this.counts.failed += step;
    if (outcome === "rejected") this.counts.rejected += step;
  }
}
