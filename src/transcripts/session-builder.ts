import { createHash } from "node:crypto";
import { type JsonObject, limitDepth } from "../base/index.ts";
import {
  type Counts,
  type Event,
  type EventSource,
  type Format,
  formatRef,
  noCounts,
  type Outcome,
  parseRef,
  type ReadingState,
  type ReadPosition,
  type SessionFacts,
  type ThreadState,
} from "../records/index.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** An event that may still get its result. */
export type PendingEvent = Writable<Event>;

/** Where and when a record stands. What is left out is the session's own folder, no id, and not a subagent's. */
export interface RecordPosition {
  readonly key: string;
  readonly at: number | null;
  readonly cwd?: string | null;
  readonly origin?: string | null;
  readonly sidechain?: boolean;
  readonly skill?: string;
}

export interface RecordedCall {
  readonly id: string | null;
  readonly tool: string;
  readonly input: JsonObject | null;
  readonly command: string | null;
  readonly files: readonly string[];
}

export interface CallResult {
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  readonly text: string;
}

/** What a reading needs to go on: where, its own state, and the events it may still change. */
export interface Resume {
  readonly format: Format;
  readonly position: ReadPosition;
  readonly state: ReadingState;
  events(session: string): readonly Event[];
  origins(session: string): readonly string[];
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

/** Events that name a session whose format has no ids; nothing is learned from a shorter one. */
const namingEvents = 10;

/**
 * Builds the events of one session from what a reader recognises: numbers them, joins results to calls, and skips
 * records it has seen. `drain` hands out what changed since the last time, so a long file needs little memory.
 */
export class SessionBuilder {
  readonly facts: Writable<SessionFacts>;
  readonly counts: Writable<Counts>;
  /** Commands that go on after their call returned, by the agent's name of the process. */
  readonly running = new Map<string, PendingEvent>();
  private readonly source: EventSource;
  private readonly seen: SeenIds;
  private readonly open = new Map<string, PendingEvent[]>();
  private changed = new Set<PendingEvent>();
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
    this.seen = new SeenIds(resumed?.origins);
    if (!resumed) return;
    const byRef = new Map(resumed.events.map((event) => [event.ref, { ...event }]));
    for (const [id, ref] of resumed.state.open) this.await(id, byRef.get(ref));
    for (const [process, ref] of resumed.state.running) {
      const event = byRef.get(ref);
      if (event) this.running.set(process, event);
    }
  }

  /** Whether a record came before: a resume repeats lines. */
  repeats(origin: string | null | undefined): boolean {
    return typeof origin === "string" && !this.seen.add(origin);
  }

  /** Widens the session's span to a time. */
  reach(at: number | null): void {
    if (at === null) return;
    const { startedAt, endedAt } = this.facts;
    if (startedAt === null || at < startedAt) this.facts.startedAt = at;
    if (endedAt === null || at > endedAt) this.facts.endedAt = at;
  }

  prompt(position: RecordPosition, text: string): void {
    this.turn++;
    this.counts.prompts++;
    this.add(position, "prompt", text);
  }

  reply(position: RecordPosition, text: string): void {
    if (text.trim() !== "") this.add(position, "reply", text);
  }

  mark(position: RecordPosition, text: string, command: string | null = null): void {
    this.add(position, "mark", text).command = command;
  }

  call(position: RecordPosition, { id, tool, input, command, files }: RecordedCall): PendingEvent {
    const event = this.add(position, "call", "");
    event.tool = tool;
    event.input = input && (limitDepth(input) as JsonObject);
    event.command = command;
    event.files = files;
    event.callId = id;
    event.outcome = "unknown";
    this.counts.calls++;
    if (id !== null) this.await(id, event);
    return event;
  }

  /** The call a result belongs to: the oldest open one of that id, because published transcripts blank out ids. */
  answer(id: string | null): PendingEvent | undefined {
    if (id === null) return undefined;
    const waiting = this.open.get(id);
    const event = waiting?.shift();
    if (waiting?.length === 0) this.open.delete(id);
    return event;
  }

  /** Whether a call of this id still waits for its result. */
  waitsFor(id: string): boolean {
    return this.open.has(id);
  }

  /** Gives a call its result, or a later and better one. */
  settle(
    event: PendingEvent,
    { outcome, exitCode, text }: CallResult,
    position: Pick<RecordPosition, "key" | "at">,
  ): void {
    this.tally(event.outcome, -1);
    this.tally(outcome, 1);
    event.outcome = outcome;
    event.exitCode = exitCode;
    event.text = text;
    event.resultKey = position.key;
    event.endedAt = position.at;
    this.changed.add(event);
  }

  /** Names a session whose format has no ids after its first events, so that a copy is recognised. Call before `drain`. */
  nameByBeginning(): void {
    const began = [...this.changed]
      .slice(0, namingEvents)
      .map((one) => [one.kind, one.command ?? one.tool, one.text]);
    if (began.length < namingEvents) return;
    const digest = createHash("sha1").update(JSON.stringify(began)).digest("hex");
    this.facts.sessionId ??= `began-${digest.slice(0, 16)}`;
  }

  /** The events that are new or changed since the last drain, in order. */
  drain(): Event[] {
    const events = [...this.changed].sort((a, b) => parseRef(a.ref) - parseRef(b.ref));
    this.changed = new Set();
    return events;
  }

  state(): ThreadState {
    const { facts, counts, last, turn } = this;
    const open = [...this.open].flatMap(([id, events]) => events.map(({ ref }) => [id, ref] as const));
    const running = [...this.running].map(([process, { ref }]) => [process, ref] as const);
    return { facts: { ...facts }, last, turn, counts: { ...counts }, open, running };
  }

  private add(position: RecordPosition, kind: Event["kind"], text: string): PendingEvent {
    const { key, at, cwd, origin = null, sidechain = false, skill } = position;
    this.reach(at);
    this.counts.events++;
    const event: PendingEvent = {
      ref: formatRef(++this.last),
      key,
      resultKey: null,
      at,
      endedAt: null,
      turn: this.turn,
      source: this.source,
      kind,
      sidechain,
      tool: null,
      input: null,
      command: null,
      files: [],
      cwd: cwd ?? this.facts.cwd,
      outcome: null,
      exitCode: null,
      text,
      callId: null,
      origin,
      ...(skill === undefined ? {} : { skill }),
    };
    this.changed.add(event);
    return event;
  }

  private await(id: string, event: PendingEvent | undefined): void {
    if (!event) return;
    const waiting = this.open.get(id);
    if (waiting) waiting.push(event);
    else this.open.set(id, [event]);
  }

  private tally(outcome: Outcome | null, step: number): void {
    if (outcome === "failed") this.counts.failed += step;
    if (outcome === "rejected") this.counts.rejected += step;
  }
}

/** The sessions of a file, by their name within it; a file of one session uses "". */
export class SessionBuilders extends Map<string, SessionBuilder> {
  private readonly source: EventSource;

  constructor(source: EventSource, resume: Resume | null) {
    super();
    this.source = source;
    for (const [name, state] of resume?.state.threads ?? []) {
      const [events, origins] = [resume?.events(name) ?? [], resume?.origins(name) ?? []];
      this.set(name, new SessionBuilder(source, { state, events, origins }));
    }
  }

  /** The session of that name; a new one begins with these facts. */
  named(name: string, facts: Partial<SessionFacts> = {}): SessionBuilder {
    const known = this.get(name);
    if (known) return known;
    const session = new SessionBuilder(this.source);
    Object.assign(session.facts, facts);
    this.set(name, session);
    return session;
  }

  states(): ReadingState["threads"] {
    return [...this].map(([name, session]) => [name, session.state()] as const);
  }
}

/**
 * A set of ids, kept as 53-bit hashes: a transcript of a gigabyte has a million of them, and as strings they would
 * cost more memory than everything else. Two of a million ids share a hash once in twenty thousand such files.
 */
export class SeenIds {
  private slots = new Float64Array(1024);
  private count = 0;

  constructor(ids: Iterable<string> = []) {
    for (const id of ids) this.add(id);
  }

  /** Adds an id; false when it was there. */
  add(id: string): boolean {
    if (this.count * 2 >= this.slots.length) this.grow();
    const added = this.put(hash(id));
    if (added) this.count++;
    return added;
  }

  private put(value: number): boolean {
    const { slots } = this;
    let at = value % slots.length;
    // Zero is an empty slot; no hash is zero.
    while (slots[at] !== 0) {
      if (slots[at] === value) return false;
      at = (at + 1) % slots.length;
    }
    slots[at] = value;
    return true;
  }

  private grow(): void {
    const old = this.slots;
    this.slots = new Float64Array(old.length * 2);
    for (const value of old) if (value !== 0) this.put(value);
  }
}

/** Two multiplicative hashes of 32 bits, folded into 53: 1 to 2^53. */
function hash(text: string): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x9e3779b1);
    b = Math.imul(b ^ code, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (b & 0x1fffff) * 2 ** 32 + (a >>> 0) + 1;
}
