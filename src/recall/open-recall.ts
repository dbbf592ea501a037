import { type Clock, makeId } from "../base/index.ts";
import type { LearnConsent, ReadSession } from "../learning/index.ts";
import { decisionEntry, recordEntries } from "../lessons/index.ts";
import {
  type EntryOf,
  type Event,
  getSessionId,
  type Item,
  isPersons,
  isPublished,
  type LedgerEntry,
  type Project,
  type SessionId,
} from "../records/index.ts";
import { parseAsk } from "../search/index.ts";
import { type Home, recallSettings } from "../settings/index.ts";
import { keepInMemory, openScratch, type Store } from "../store/index.ts";
import { oneLine } from "../text/index.ts";
import { type IngestDeps, readEvents, type SessionView, viewSessions } from "../transcripts/index.ts";
import { backtest } from "./backtest.ts";
import { listChronic, tellChronic } from "./chronic.ts";
import { creditSessions, creditUntold, recordRating } from "./credit.ts";
import { findHome, readFailure, readQuestion, recall } from "./recall.ts";
import { listFailures, loadLived, report } from "./report.ts";
import { inspectSnapshot, renewSnapshot } from "./snapshot.ts";
import { listTellings } from "./tellings.ts";
import { readWeek } from "./week.ts";

interface RecallDeps extends IngestDeps, LearnConsent {
  readonly home: Home;
  readonly store: Store;
  readonly clock: Clock;
  readonly published: Parameters<typeof renewSnapshot>[0]["published"];
  readonly projectAt: (cwd: string) => Promise<Project>;
  readonly items: () => Promise<readonly Item[]>;
  readonly readLibrary: () => Promise<{ readonly items: readonly Item[]; readonly whole: boolean }>;
  readonly updateIndex: () => Promise<unknown>;
}

/** A query: a text, or a command that failed. */
type Asked =
  | string
  | { readonly command: string | null; readonly output: string; readonly exitCode: number | null };

/** Recall for agents, and its measurement. */
export function openRecall(deps: RecallDeps) {
  const { home, store, clock, isRefused } = deps;
  const path = home.snapshot;
  return {
    /** Finds lessons for a failure or a text in this folder; `about` is what was recognised. */
    recall: async (asked: Asked, cwd = process.cwd(), asker: "agent" | "person" = "person") => {
      const question = parseQuestion(asked);
      const { id: project } = await deps.projectAt(cwd);
      const options = { project, home: findHome(cwd), asker, now: clock.now() };
      return { about: describeQuestion(asked, question), matches: await recall(store, question, options) };
    },
    /** Measures the gain sessions would have had from their own lessons; stores nothing. */
    backtest: async (
      sessions: readonly SessionView[],
      options?: Omit<Parameters<typeof backtest>[2], "refuses">,
    ) => {
      const scratch = await openScratch(clock);
      try {
        return await backtest({ ...deps, scratch: keepInMemory(scratch) }, sessions, {
          refuses: isRefused,
          ...options,
        });
      } finally {
        await scratch.close();
      }
    },
    /** Failures that three sessions or more met and none overcame. */
    chronic: () => listChronic(store),
    /** Those that the person was not told of; from now on they were, or will be when the next session starts. */
    tellChronic: (where: "screen" | "start") => tellChronic(deps, where),
    /** Rebuilds the snapshot that the hooks read; false when nothing has changed. */
    renewSnapshot: async () => {
      await deps.updateIndex();
      const { published, refuses } = deps;
      return renewSnapshot({ store, clock, path, published, refuses }, recallSettings(home));
    },
    /** The state of that snapshot, and whether it says what is known. */
    snapshot: () => inspectSnapshot(store, path, recallSettings(home)),
    /** How often a match is held back, at random. */
    holdout: async () => recallSettings(home).holdout,
    /** Records what the hooks say was shown and asked; false where an answer waits for the prompt that it was. */
    hear: async (notes: readonly HookNote[]) => {
      const { backed, waiting } = await selectBacked(store, notes, clock.now());
      await recordNotes(store, backed);
      return !waiting;
    },
    /** Lessons shown since a time, in order. */
    shown: (since: number): Promise<EntryOf<"lesson.shown">[]> => store.ledger.since("lesson.shown", since),
    /** What was put before agents in a session, or of some lessons and items, or since a time, and what came of it. */
    tellings: () => listTellings(store),
    /** What was learned, used and saved since a time, and what that cost. */
    week: (since: number) => readWeek(store, since),
    /** Knack's own calls of models since a time. */
    modelCalls: (since: number): Promise<EntryOf<"model.called">[]> =>
      store.ledger.since("model.called", since),
    /** Records what sessions used of the library, and of what they were shown, and how that went. */
    credit: (sessions: readonly SessionView[], options?: { readonly until?: () => boolean }) =>
      creditSessions(store, sessions, { library: deps.readLibrary, refuses: isRefused, ...options }),
    /** Like `credit`, while sessions are being learned from; reads the library once. */
    creditSeen: (options: { readonly until?: () => boolean }) => {
      let read: ReturnType<typeof deps.readLibrary> | null = null;
      const library = () => {
        read ??= deps.readLibrary();
        return read;
      };
      return (seen: readonly ReadSession[]) =>
        creditUntold(store, seen, { library, refuses: isRefused, ...options });
    },
    /** Records what a person or an agent says that something was worth. */
    rate: (rating: Parameters<typeof recordRating>[1]) => recordRating({ store, clock }, rating),
    /** The sessions that were measured: those in which a person spoke. */
    measured: async () => (await loadLived(store)).map(({ measured }) => measured.run),
    /** The failures since a time, and which of them had been met before. */
    failures: (since: number) => listFailures(store, since),
    /** The benefit report since a time. */
    report: async (since: number, compares: Parameters<typeof report>[1]["compares"] = () => false) =>
      report(store, { since, items: await deps.items(), compares }),
  };
}

function parseQuestion(asked: Asked) {
  if (typeof asked === "string") return readQuestion(asked);
  const { command, output, exitCode } = asked;
  return readFailure({ command, text: output, exitCode, tool: null, input: null, files: [] });
}

function describeQuestion(asked: Asked, question: ReturnType<typeof parseQuestion>): string {
  if (typeof asked === "string" || question.symptom === null) return String(asked);
  const { head, signature } = question.symptom;
  return [head, signature].filter((part) => part !== "").join(": ");
}

/** A hook's action in a session. */
export type HookNote = {
  readonly session: SessionId;
  readonly project: string;
  readonly at: number;
} & (
  | ({ readonly type: "shown" } & EntryOf<"lesson.shown">["data"])
  | ({ readonly type: "offered" } & EntryOf<"skill.shown">["data"])
  /** Something that fitted was held back, for comparison. */
  | ({ readonly type: "withheld" } & EntryOf<"match.withheld">["data"])
  /** A prompt that nothing fitted, without secrets. */
  | { readonly type: "unmatched"; readonly text: string }
  /** An agent was asked to write a lesson down; or, later, has ended its turn after that. */
  | { readonly type: "asked"; readonly lessonId: string; readonly over: boolean; readonly askedAt?: number }
  | { readonly type: "written"; readonly lessonId: string }
  /** The end of a turn was held, because a goal's duty was open. */
  | { readonly type: "held"; readonly goal: string }
  /** The person was asked whether to keep lessons; or, later, has said which. */
  | ({ readonly type: "offer" } & OfferAnswer & EntryOf<"lesson.offered">["data"])
);

/** The prompt that answered an offer, and the transcript that must have it. */
interface OfferAnswer {
  readonly said?: string;
  readonly transcript?: string | null;
}

/** An answer is looked for in its session this long; then it was nobody's. */
const answerMs = 86_400_000;

/**
 * The answers to offers that a person's prompt in the session itself backs up. Anybody can call a hook: what only its
 * payload says is no yes. `waiting` tells whether some may still be backed up later.
 */
async function selectBacked(store: Store, notes: readonly HookNote[], now: number) {
  const backed: HookNote[] = [];
  let waiting = false;
  for (const note of notes) {
    const isAnswer = note.type === "offer" && note.kept !== null;
    if (!isAnswer || (await isSaidInSession(store, note))) backed.push(note);
    else if (now - note.at < answerMs) waiting = true;
  }
  return { backed, waiting };
}

async function isSaidInSession(store: Store, { session, said = "", at }: HookNote & OfferAnswer) {
  const paths = (await store.sessions.list())
    .filter((one) => getSessionId(one) === session)
    .map(({ path }) => path);
  const views = (await viewSessions(store, paths)).filter((view) => getSessionId(view) === session);
  const events = (await Promise.all(views.map((view) => readEvents(store, view)))).flat();
  const isLater = (event: Event) => event.at === null || event.at > at - answerLeadMs;
  return events.some((event) => isPersons(event) && isLater(event) && oneLine(event.text) === oneLine(said));
}

/** How much earlier than its hook a prompt may be recorded. */
const answerLeadMs = 60_000;

/** Records what hooks did, each thing once. After a worker was killed notes may come in any order. */
async function recordNotes(store: Store, notes: readonly HookNote[]): Promise<void> {
  if (notes.length === 0) return;
  await store.transaction(async (tx) => {
    const entries: LedgerEntry[] = [];
    for (const note of notes) entries.push(...makeEntries(note, await findWritten(tx, note)));
    await recordEntries(tx, entries);
  });
}

/** The skill that an agent finished by itself after it was asked; null where it did not. */
async function findWritten({ ledger }: Store, note: HookNote): Promise<string | null> {
  if (note.type !== "asked" || !note.over) return null;
  const ended = await ledger.since("writing.finished", note.askedAt ?? note.at);
  return ended.find((one) => one.session === note.session && isPublished(one.data))?.data.skill ?? null;
}

function makeEntries(note: HookNote, skill: string | null): LedgerEntry[] {
  if (note.type === "offer") return makeOfferEntries(note);
  const entry = makeEntry(note, skill);
  return entry === null ? [] : [entry];
}

/** An offer, or the answer to one: what a person keeps is accepted as if they had said so at the command line. */
function makeOfferEntries({
  session,
  project,
  at,
  lessons,
  kept,
}: HookNote & { type: "offer" }): LedgerEntry[] {
  const common = { at, project, session, actor: kept === null ? "knack" : "person" } as const;
  const key = `offer:${session}:${makeId("o", lessons.join(" "))}${kept === null ? "" : ":answer"}`;
  return [
    { ...common, type: "lesson.offered", key, data: { lessons, kept } },
    ...(kept ?? []).map((id) => decisionEntry(id, "accepted", at)),
  ];
}

function makeEntry(note: Exclude<HookNote, { type: "offer" }>, skill: string | null): LedgerEntry | null {
  const { session, project, at } = note;
  const common = { at, project, session, actor: "knack" as const };
  switch (note.type) {
    case "shown": {
      const { lessonId, occasion, text, transcript } = note;
      const key = `shown:${session}:${lessonId}:${at}`;
      return { ...common, type: "lesson.shown", key, data: { lessonId, occasion, text, transcript } };
    }
    case "offered": {
      const { skill: offered, name, how, text, transcript } = note;
      const key = `offered:${session}:${offered}:${at}`;
      return { ...common, type: "skill.shown", key, data: { skill: offered, name, how, text, transcript } };
    }
    case "withheld": {
      const { kind, id, name, occasion } = note;
      const key = `withheld:${session}:${id}:${at}`;
      return { ...common, type: "match.withheld", key, data: { kind, id, name, occasion } };
    }
    case "unmatched": {
      const { text } = note;
      // Most prompts ask for nothing that would come again.
      if (parseAsk(text) === null) return null;
      return { ...common, type: "prompt.unmatched", key: unmatchedKey(session, text), data: { text } };
    }
    case "held": {
      const { goal } = note;
      return { ...common, type: "goal.held", key: `goal:${goal}:held`, data: { goal } };
    }
    default:
      return { ...common, ...makeAnswer(note, skill) };
  }
}

/** One key for the same prompt of a session, however often it is noted. */
export function unmatchedKey(session: string, text: string): string {
  return `unmatched:${session}:${makeId("p", text.replace(/\s+/g, " ").trim())}`;
}

/** `skill` is what the agent wrote with its own tools. */
function makeAnswer(note: HookNote & { type: "asked" | "written" }, skill: string | null) {
  const type = "agent.asked" as const;
  const key = `asked:${note.session}`;
  const { lessonId } = note;
  if (note.type === "asked" && !note.over) return { type, key, data: { lessonId, answer: null } };
  // An agent whose turn is over has declined, unless it has written something, which has the same key and came first.
  const answer = note.type === "written" || skill !== null ? "written" : "declined";
  const data = { lessonId, answer, ...(skill === null ? {} : { skill }) } as const;
  return { type, actor: "agent" as const, key: `${key}:answer`, data };
}

/** Whether something that fits is held back from a session: as often as the share says, and the same throughout it. */
export function isHeldBack(share: number, session: string, id: string): boolean {
  if (share <= 0) return false;
  const drawn = Number.parseInt(makeId("", `holdout ${session} ${id}`), 36) / 2 ** 53;
  return drawn < share;
}
