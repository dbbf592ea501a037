import { createHash } from "node:crypto";
import {
  asArray,
  asObject,
  asString,
  hash53,
  isObject,
  type Json,
  type JsonObject,
  limitDepth,
  parseObject,
} from "../base/index.ts";
import { readOutcome } from "../failures/index.ts";
import {
  type ContextUse,
  type Counts,
  type Event,
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
import { dropPrivate } from "../trust/index.ts";

// --- What a reader of a format is ---

/** Reads a format whose files hold one JSON record a line. */
export interface LineReader {
  readonly format: Format;
  /** Whether a record from the head of a file is of this format. */
  recognises(record: JsonObject): boolean;
  /** Whether a line, by how it begins, holds nothing for this reader: most need no parsing to be skipped. */
  skips?(text: string): boolean;
  open(path: string, resume: Resume | null): LineReading;
}

/** Reads a format whose file is one JSON document: read whole, and again whenever it has changed. */
export interface DocumentReader {
  readonly format: Format;
  recognises(document: Json): boolean;
  /** Adds the sessions that a document holds: `sessions.named("")` where it is one. */
  read(document: Json, sessions: SessionBuilders, path: string): void;
}

/** A database of another program, opened for reading only. */
interface ForeignDatabase {
  query(sql: string, ...values: readonly string[]): Readonly<Record<string, unknown>>[];
  close(): void;
}

/** Reads a format that is a database of many sessions. Each is read whole, and again when it has changed. */
export interface DatabaseReader {
  readonly format: Format;
  /** Whether a database with tables of these names is of this format. */
  recognises(tables: ReadonlySet<string>): boolean;
  /** The sessions in it, each with a stamp that changes when the session does. */
  sessions(database: ForeignDatabase): readonly { readonly name: string; readonly stamp: string }[];
  read(database: ForeignDatabase, session: string, builder: SessionBuilder): void;
}

/** The state from which a reading resumes: position, reader state, and the events it may still change. */
export interface Resume {
  readonly format: Format;
  readonly position: ReadPosition;
  readonly state: ReadingState;
  events(session: string): readonly Event[];
  origins(session: string): readonly string[];
}

/** A file of lines being read. `rest` is what the reader needs beside the sessions to go on later; it must be JSON. */
export abstract class LineReading<Rest extends object = object> {
  readonly sessions: SessionBuilders;
  protected readonly path: string;
  protected readonly rest: Rest;

  constructor(path: string, resume: Resume | null, rest: Rest, source: Event["source"] = "transcript") {
    this.path = path;
    this.sessions = new SessionBuilders(source, resume);
    // A transcript is one session, also before anything was said; what hooks and programs record may be several.
    if (source === "transcript") this.sessions.named("");
    this.rest = { ...rest, ...structuredClone(resume?.state.rest as Rest | undefined) };
  }

  abstract take(record: JsonObject, line: number): void;

  state(): ReadingState {
    return { threads: this.sessions.states(), rest: structuredClone(this.rest) as Json };
  }

  /** The only session of the file. */
  protected get session(): SessionBuilder {
    return this.sessions.named("");
  }

  /** Where a record stands; its id and time tell it from others, unless a published transcript blanked the id out. */
  protected locate(
    line: number,
    record: { readonly time: unknown; readonly id: unknown; readonly skill?: unknown },
    more?: Partial<RecordPosition>,
  ): RecordPosition {
    const at = parseTime(record.time);
    this.session.reach(at);
    const [id, skill] = [readId(record.id), readSkillName(record.skill)];
    const origin = id === null ? null : `${id} ${at}`;
    return { key: String(line), at, origin, ...more, ...(skill === null ? {} : { skill }) };
  }
}

// --- What readers recognise ---

/** Where and when a record stands. What is left out is the session's own folder, no id, and not a subagent's. */
export interface RecordPosition {
  readonly key: string;
  readonly at: number | null;
  readonly cwd?: string | null;
  readonly origin?: string | null;
  readonly sidechain?: boolean;
  readonly skill?: string;
  /** For words in a person's place that a program put there. */
  readonly given?: "program";
  /** The branch that is checked out. */
  readonly branch?: string | null;
  /** How full the model's window is, as the agent counts. */
  readonly context?: ContextUse | null;
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

/** No agent wrote a transcript before or after these. */
const [earliest, latest] = [Date.UTC(2000), Date.UTC(2200)];

/** Milliseconds of an ISO time or a number; null for what cannot be when something happened. */
export function parseTime(value: unknown): number | null {
  const at = typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN;
  return at >= earliest && at < latest ? Math.trunc(at) : null;
}

export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** An id that tells records apart; null where there is none, or a published transcript has blanked it out. */
export function readId(value: unknown): string | null {
  const id = asString(value);
  return id === null || id.toUpperCase().includes("REDACT") ? null : id;
}

/** The text of a string or of a list of text parts. */
export function joinText(content: unknown): string {
  if (typeof content === "string") return content;
  return asArray(content)
    .flatMap((part) => (isObject(part) ? (asString(part.text) ?? []) : []))
    .join("\n");
}

/** A tool call; `shell` names the tools that run a command, `files` the arguments that name a file, the first found. */
export function readCall(
  id: unknown,
  tool: unknown,
  given: unknown,
  { shell, files }: { readonly shell: readonly string[]; readonly files: readonly string[] },
): RecordedCall {
  const input = typeof given === "string" ? parseObject(given) : asObject(given);
  const named = files.flatMap((name) => asString(input?.[name]) ?? []);
  const isShell = typeof tool === "string" && shell.includes(tool);
  return {
    id: asString(id),
    tool: asString(tool) ?? "unknown",
    input,
    command: isShell ? asString(input?.command) : null,
    files: named.slice(0, 1),
  };
}

/** The files that a patch in Codex's format touches. */
export function findPatchedFiles(patch: string): string[] {
  return [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map(([, file]) =>
    (file ?? "").trim(),
  );
}

/** The result of a call that has no exit code. */
export function plainResult(outcome: Outcome, text: string): CallResult {
  return { outcome, exitCode: null, text };
}

/** The result of a call that ended with an exit code. */
export function exitResult(command: string | null, exitCode: number, text: string): CallResult {
  return { outcome: readOutcome(command, exitCode, text), exitCode, text };
}

/** The result of a call whose exit code stands in its text, if anywhere; else what the text shows. */
export function textResult(command: string | null, text: string, failed = false): CallResult {
  const head = /^\s*(?:Error: )?(?:Exit code:? |<returncode>)(-?\d+)/i.exec(text.slice(0, 200));
  const said = head ?? ended.exec(text.slice(0, 400)) ?? ended.exec(text.slice(-400));
  // Asked about a command that is still running, agents answer -1.
  if (said?.[1] === "-1" && !failed) return plainResult("unknown", text);
  if (said) return exitResult(command, Number(said[1]), text);
  return plainResult(failed ? "failed" : readOutcome(command, null, text), text);
}

const ended =
  /(?:^|\n|\[)(?:The )?(?:command|process) (?:finished|completed|exited|executed|ended|failed) with (?:exit )?(?:code|status) (-?\d+)/i;

/** Commands to the client whose words are not for the agent. */
const clientCommands = new Set(
  "model effort theme color config output-style permissions add-dir mcp plugin vim fast rename export ide statusline".split(
    " ",
  ),
);

/** The name of a skill, a command or an agent; null for anything else. */
function readSkillName(value: unknown): string | null {
  const name = asString(value)?.replace(/^\//, "") ?? "";
  return /^[\p{L}\p{N}][\p{L}\p{N}_.:-]{0,127}$/u.test(name) ? name : null;
}

// --- Building a session ---

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** An event that may still get its result. */
export type PendingEvent = Writable<Event>;

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

/** Number of events that identify a session whose format has no ids; shorter sessions are not learned from. */
const namingEvents = 10;

/** Characters of an instruction file that are kept, and of one mark. */
const instructionChars = 24_000;
const markedChars = 4_000;

function splitAtLines(text: string, most: number): string[] {
  const parts: string[] = [];
  for (let rest = text; rest !== ""; ) {
    const end = rest.length <= most ? rest.length : rest.lastIndexOf("\n", most) + 1 || most;
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return parts;
}

/**
 * Builds the events of one session from what a reader recognises: numbers them, joins results to calls, and skips
 * records it has seen. `drain` hands out what changed since the last time, so a long file needs little memory.
 */
export class SessionBuilder {
  readonly facts: Writable<SessionFacts>;
  readonly counts: Writable<Counts>;
  /** Commands that go on after their call returned, by the agent's name of the process. */
  readonly running = new Map<string, PendingEvent>();
  private readonly source: Event["source"];
  private readonly seen: SeenIds;
  private readonly open = new Map<string, PendingEvent[]>();
  private changed = new Set<PendingEvent>();
  private last: number;
  private turn: number;
  private branch: string | undefined;

  constructor(
    source: Event["source"],
    resumed?: { state: ThreadState; events: readonly Event[]; origins: Iterable<string> },
  ) {
    this.source = source;
    this.facts = { ...(resumed?.state.facts ?? unknownFacts) };
    this.counts = { ...(resumed?.state.counts ?? noCounts) };
    this.last = resumed?.state.last ?? 0;
    this.turn = resumed?.state.turn ?? 0;
    this.branch = resumed?.state.branch;
    this.seen = new SeenIds(resumed?.origins ?? []);
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
    const kept = dropPrivate(text);
    if (kept === "" && text !== "") return;
    if (position.given === undefined && position.sidechain !== true) this.counts.prompts++;
    this.add(position, "prompt", kept);
  }

  /** Adds what a person typed: a prompt, or a slash command with the words after it. */
  typed(position: RecordPosition, text: string): void {
    const command = /^(\/[a-z][\w:-]*)(?:\s+([\s\S]*))?$/.exec(text);
    if (command) this.slashCommand(position, command[1] ?? "", command[2] ?? "");
    else this.prompt(position, text);
  }

  /** Adds a slash command: the words after its name are the person's; a name alone, or a setting, is a mark. */
  slashCommand(position: RecordPosition, name: string, words: string): void {
    const skill = readSkillName(name);
    const isSetting = clientCommands.has(name.replace("/", ""));
    const called = skill === null || isSetting ? position : { ...position, skill };
    if (words === "" || isSetting) this.mark(called, `${name} ${words}`.trim());
    else this.prompt(called, words);
  }

  reply(position: RecordPosition, text: string): void {
    if (text.trim() !== "") this.add(position, "reply", text);
  }

  mark(position: RecordPosition, text: string, command: string | null = null): void {
    this.add(position, "mark", dropPrivate(text)).command = command;
  }

  /** Adds an instruction file that the agent was given, once, in marks that are short enough to be kept whole. */
  instructions(position: RecordPosition, file: string, text: string): void {
    const origin = `instructions|${file}|${text.length}`;
    if (this.repeats(origin)) return;
    for (const [n, part] of splitAtLines(text.slice(0, instructionChars), markedChars).entries())
      this.mark({ ...position, origin: n === 0 ? origin : null }, `Instructions in ${file}:\n${part}`);
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
    { key, at }: Pick<RecordPosition, "key" | "at">,
  ): void {
    this.tally(event.outcome, -1);
    this.tally(outcome, 1);
    Object.assign(event, { outcome, exitCode, text, resultKey: key, endedAt: at });
    this.changed.add(event);
  }

  /** Gives the call that waits under this id its result, if there is one. */
  settleCall(
    id: unknown,
    position: Pick<RecordPosition, "key" | "at">,
    judge: (command: string | null) => CallResult,
  ): void {
    const event = this.answer(asString(id));
    if (event) this.settle(event, judge(event.command), position);
  }

  /** Names a session without an id after its first events, so that a copy is recognised. Call before `drain`. */
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

  /** Events that are new or changed since the last drain, under the session's name within its file. */
  drainBatch(name: string): SessionBatch {
    return { name, facts: { ...this.facts }, counts: { ...this.counts }, events: this.drain() };
  }

  state(): ThreadState {
    const { facts, counts, last, turn } = this;
    const open = [...this.open].flatMap(([id, events]) => events.map(({ ref }) => [id, ref] as const));
    const running = [...this.running].map(([process, { ref }]) => [process, ref] as const);
    const branch = this.branch === undefined ? {} : { branch: this.branch };
    return { facts: { ...facts }, last, turn, counts: { ...counts }, open, running, ...branch };
  }

  private add(position: RecordPosition, kind: Event["kind"], text: string): PendingEvent {
    const { key, at, cwd, origin = null, sidechain = false, skill, given, branch, context } = position;
    const isMoved = typeof branch === "string" && branch !== "" && branch !== this.branch;
    if (isMoved) this.branch = branch;
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
      ...(kind === "prompt" && given !== undefined ? { given } : {}),
      ...(isMoved ? { branch } : {}),
      ...(context ? { context } : {}),
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
    if (outcome === "failed" || outcome === "rejected") this.counts[outcome] += step;
  }
}

/** New or changed events of one session. */
export interface SessionBatch {
  /** The session's name within the file; "" where the file is one session. */
  readonly name: string;
  readonly facts: SessionFacts;
  readonly counts: Counts;
  readonly events: readonly Event[];
}

/** The sessions of a file, by their name within it; a file of one session uses "". */
export class SessionBuilders extends Map<string, SessionBuilder> {
  private readonly source: Event["source"];

  constructor(source: Event["source"], resume: Resume | null) {
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
class SeenIds {
  private slots = new Float64Array(1024);
  private count = 0;

  constructor(ids: Iterable<string>) {
    for (const id of ids) this.add(id);
  }

  /** Adds an id; false when it was there. */
  add(id: string): boolean {
    if (this.count * 2 >= this.slots.length) {
      const old = this.slots;
      this.slots = new Float64Array(old.length * 2);
      for (const value of old) if (value !== 0) this.put(value);
    }
    // Zero is an empty slot.
    const added = this.put(hash53(id) + 1);
    if (added) this.count++;
    return added;
  }

  private put(value: number): boolean {
    const { slots } = this;
    let at = value % slots.length;
    while (slots[at] !== 0) {
      if (slots[at] === value) return false;
      at = (at + 1) % slots.length;
    }
    slots[at] = value;
    return true;
  }
}
