import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeId } from "../base/index.ts";
import {
  findHome,
  formatDay,
  type SessionStart,
  type StartLesson,
  type StartReceipt,
} from "../recall/index.ts";
import { readWorkerState, type TranscriptNote } from "../spool/index.ts";
import { redact } from "../trust/index.ts";
import { type HookEvent, type HookReply, noteTranscript } from "./event.ts";
import { openMarks } from "./marks.ts";
import { show } from "./show.ts";
import { identifyHere, type OpenSnapshot, withSnapshot } from "./snapshot.ts";

/** Characters and lessons told when a session starts. */
const startChars = 2_000;
const mostLessons = 8;

/** Consecutive failures of the worker after which the user is told. */
const loudAfterFailures = 3;
/** If a note is this much older than the newest one, it should have been handled. */
const lateMs = 3_600_000;

/** Tells what was learned since the last session, what holds here, and what is broken. */
export async function atStart(call: HookEvent): Promise<HookReply | null> {
  const [broken] = [explainDeadWorker(call), explainUnwritable(call)].filter((line) => line !== null);
  const told = await tell(call).catch(() => null);
  const receipt = [broken, told?.receipt].filter((line) => line !== undefined).join("\n");
  return { ...told, ...(receipt === "" ? {} : { receipt }) };
}

async function tell(call: HookEvent): Promise<HookReply | null> {
  const { source } = call.payload;
  if (source === "compact" || source === "clear") openMarks(call.home.seen, call.session).forget();
  // Recorded even if nothing is known yet: what this session teaches is news to the next.
  const last = lastStart(call, identifyHere(call).id);
  return withSnapshot(call, async (known) => facts(call, known, last));
}

function facts(call: HookEvent, { table, project }: OpenSnapshot, last: number | null): HookReply | null {
  const starts = [`start ${project}`, "start user"].flatMap(
    (key) => (table.get(key) as SessionStart | undefined) ?? [],
  );
  const home = findHome(call.cwd ?? "") ?? "";
  const lessons = starts
    .flatMap((start) => start.lessons)
    // Other machines have other programs installed.
    .filter((lesson) => lesson.home === null || lesson.home === home)
    // The agent already sees what happened in this session.
    .filter(({ run }) => run !== call.session);
  const isNew = ({ foundAt }: StartLesson) => last !== null && foundAt > last;
  const news = lessons.filter(isNew);
  const resumed = call.payload.source === "resume";
  const within = budget(startChars);
  const learned = news
    .filter(({ fix, state }) => fix && state !== "live")
    .slice(0, mostLessons)
    .map(({ brief }) => `- ${redact(brief)}`)
    .filter(within);
  const seen = openMarks(call.home.seen, call.session);
  // The agent already reads live rules, and a fix is told at its failure.
  const holding = lessons
    .filter(({ active, fix, state }) => active && !fix && state !== "live")
    .slice(0, mostLessons)
    .map((lesson) => ({ ...lesson, text: `- ${redact(lesson.line)}` }));
  const tellings = resumed
    ? []
    : holding.filter(({ text, lessonId }) => within(text) && seen.tells(lessonId));
  const skills = resumed ? [] : starts.flatMap((start) => start.skills);
  const listed = skills.map(({ name, description }) => `- ${name}: ${redact(description)}`).filter(within);
  const receipts = ((table.get(`receipts ${project}`) as StartReceipt[] | undefined) ?? [])
    .filter(({ at }) => last !== null && at > last)
    .map(({ text }) => redact(text));
  const noticed = last === null ? greeting(lessons) : describeNews(news, last, call.now);
  const receipt = [...(noticed === null ? [] : [noticed]), ...receipts].join("\n") || null;
  const said = [
    ...(learned.length > 0 ? [`Learned here since${sinceDay(last, call.now)}:`, ...learned] : []),
    ...(tellings.length > 0
      ? ["Holds here:", ...tellings.map((lesson) => show(call, project, "start", lesson))]
      : []),
    ...(listed.length > 0 ? ["Skills learned here, which can be loaded:", ...listed] : []),
  ];
  const context = said.length > 0 ? ["From Knack, facts of earlier sessions:", ...said].join("\n") : null;
  return { ...(context === null ? {} : { context }), ...(receipt === null ? {} : { receipt }) };
}

/** Returns true for texts as long as there is room. */
function budget(most: number): (text: string) => boolean {
  // The lines around the lessons need some too.
  let left = most - 120;
  return (text) => {
    left -= text.length + 1;
    return left >= 0;
  };
}

/** For the first session in a project that Knack already knows. */
function greeting(lessons: readonly StartLesson[]): string | null {
  const own = lessons.filter(({ home }) => home === null);
  if (own.length === 0) return null;
  return `Knack knows ${own.length === 1 ? "one lesson" : `${own.length} lessons`} of this project: ${joinNames(own)}`;
}

function describeNews(news: readonly StartLesson[], last: number | null, now: number): string | null {
  if (news.length === 0) return null;
  const waiting = news.filter(({ state }) => state === "waiting").length;
  const word = waiting > 0 ? `; ${waiting} for your yes or no: /knack:status` : "";
  return `Knack learned here since${sinceDay(last, now)}: ${joinNames(news)}${word}`;
}

function joinNames(lessons: readonly StartLesson[]): string {
  const names = lessons.slice(0, 3).map(({ name }) => name);
  const more = lessons.length > names.length ? ` and ${lessons.length - names.length} more` : "";
  return `${names.join(", ")}${more}`;
}

function sinceDay(last: number | null, now: number): string {
  return formatDay(last ?? 0, now).replace(" on", "");
}

/** When the last session began in this project, or null; records this start. */
function lastStart({ home, now }: HookEvent, project: string): number | null {
  const file = join(home.seen, "projects", makeId("p", project));
  const last = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
  mkdirSync(join(home.seen, "projects"), { recursive: true, mode: 0o700 });
  if (last === null) writeFileSync(file, "", { mode: 0o600 });
  utimesSync(file, now / 1_000, now / 1_000);
  return last;
}

/** Explains to the user why nothing is learned any more; null if all is well. */
function explainDeadWorker({ home, now }: HookEvent): string | null {
  const { failures, error, doneAt } = readWorkerState(home);
  if (failures >= loudAfterFailures)
    return `Knack has stopped learning: its worker failed ${failures} times (${error}). ${mend}`;
  const times = listWaitingNotes(home.spool);
  if (times.length === 0) return null;
  const [oldest, newest] = [Math.min(...times), Math.max(...times)];
  // A worker was started for the newest note, and the oldest is still there.
  const late = newest - oldest > lateMs && (doneAt ?? 0) < oldest && now - newest > 60_000;
  return late
    ? `Knack has stopped learning: your sessions have not been read${formatDay(oldest, now).replace(" on", " since")}. ${mend}`
    : null;
}

const mend = "Run `knack doctor`, or `npx knack-cli doctor`, in a terminal.";

/** Times of the notes that a worker was started for; the start of a session starts none. */
function listWaitingNotes(spool: string): number[] {
  return (attempt(() => readdirSync(spool)) ?? [])
    .filter((name) => name.startsWith("place-") && name.endsWith(".json"))
    .slice(0, 500)
    .flatMap(
      (name) => attempt((): TranscriptNote => JSON.parse(readFileSync(join(spool, name), "utf8"))) ?? [],
    )
    .filter(({ event }) => event !== "SessionStart")
    .map(({ at }) => at);
}

/** Notes the transcript; if that fails, nothing will be learned, and the user is told. */
function explainUnwritable(call: HookEvent): string | null {
  try {
    noteTranscript(call);
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return `Knack cannot learn from this session: it cannot write to ${call.home.spool} (${code}). ${mend}`;
  }
}

function attempt<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch {
    return null;
  }
}
