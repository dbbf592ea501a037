import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeId } from "../base/index.ts";
import { findHome, formatDay, type SnapshotRows } from "../recall/index.ts";
import { type Note, readWorkerState } from "../spool/index.ts";
import { clean } from "./clean.ts";
import { attempt, type HookEvent, type HookReply, noteTranscript } from "./event.ts";
import { countUnread, offerLessons } from "./offer.ts";
import { identifyHere, type OpenSnapshot, openMarks, show, withSnapshot } from "./session.ts";

/** Characters and lessons told when a session starts; the lines around the lessons need some of them. */
const startChars = 2_000 - 120;
const mostLessons = 8;
/** Consecutive failures of the worker after which the user is told. */
const loudAfterFailures = 3;
/** If a note is this much older than the newest one, it should have been handled. */
const lateMs = 3_600_000;

type LessonAtStart = SnapshotRows["start"]["lessons"][number];

/** Tells what was learned since the last session, what holds here, and what is broken. */
export async function atStart(call: HookEvent): Promise<HookReply | null> {
  const [dead, unwritable] = [explainDeadWorker(call), explainUnwritable(call)];
  const told = await tell(call).catch(() => null);
  const receipt = [dead ?? unwritable, told?.receipt].filter((line) => line != null).join("\n");
  return { ...told, ...(receipt === "" ? {} : { receipt }) };
}

async function tell(call: HookEvent): Promise<HookReply | null> {
  const { source } = call.payload;
  if (source === "compact" || source === "clear") {
    const marks = openMarks(call.home, call.session);
    marks.forget();
    marks.beginTurn(call.now);
  }
  // Recorded even if nothing is known yet: what this session teaches is news to the next.
  const last = recordStart(call, identifyHere(call).id);
  return withSnapshot(call, async (known) => listFacts(call, known, last));
}

function listFacts(call: HookEvent, known: OpenSnapshot, last: number | null): HookReply {
  const { project } = known;
  const starts = [project, "user"].flatMap((id) => known.get("start", id) ?? []);
  const home = findHome(call.cwd ?? "") ?? "";
  const lessons = starts
    .flatMap((start) => start.lessons)
    // Other machines have other programs installed, and the agent already sees what happened in this session.
    .filter((lesson) => (lesson.home === null || lesson.home === home) && lesson.run !== call.session);
  const news = lessons.filter(({ foundAt }) => last !== null && foundAt > last);
  const hasRoom = createBudget();
  const learned = news
    .filter(({ fix, told, state }) => fix && told && state !== "live")
    .slice(0, mostLessons)
    .map(({ lessonId, brief }) => ({ lessonId, text: `- ${clean(call, brief)}` }))
    .filter(({ text }) => hasRoom(text))
    // Not marked as told: it is told again at its failure, where it helps most.
    .map((lesson) => show(call, project, { type: "shown", occasion: "start", ...lesson }));
  const isResumed = call.payload.source === "resume";
  const holding = isResumed ? [] : tellHolding(call, project, lessons, hasRoom);
  const skills = (isResumed ? [] : starts.flatMap((start) => start.skills))
    .map(({ name, description }) =>
      description === "" ? `- ${name}` : `- ${name}: ${clean(call, description)}`,
    )
    .filter(hasRoom);
  const said = [
    ...(learned.length > 0 ? [`Learned here since${sinceDay(last, call.now)}:`, ...learned] : []),
    ...(holding.length > 0 ? ["Holds here:", ...holding] : []),
    ...(skills.length > 0 ? ["Skills learned here, which can be loaded:", ...skills] : []),
  ];
  const receipts = (known.get("receipts", project) ?? [])
    .filter(({ at }) => last !== null && at > last)
    .map(({ text }) => clean(call, text));
  const asksAgent = call.asks === "agent";
  // An agent that asks for Knack would read the words before the person does.
  const offer = offerLessons(call, project, asksAgent ? lessons.filter(({ told }) => told) : lessons);
  const unread = asksAgent && !call.isGivenByProgram ? countUnread(call, lessons) : 0;
  const noticed = offer ?? (last === null ? greet(lessons) : describeNews(news, last, call.now));
  const receipt = [...(noticed === null ? [] : [noticed]), ...receipts].join("\n");
  const facts = said.length > 0 ? ["From Knack, facts of earlier sessions:", ...said] : [];
  const orders = [
    ...(offer !== null && asksAgent
      ? [`Ask the person this once, word for word, with your first answer; do not follow it before: ${offer}`]
      : []),
    ...(unread > 0
      ? [
          `Tell the person once: Knack has ${unread} new lesson${unread === 1 ? "" : "s"} for their yes or no; \`knack lessons\` shows them.`,
        ]
      : []),
  ];
  const context = [...facts, ...orders].join("\n");
  return { ...(context === "" ? {} : { context }), ...(receipt === "" ? {} : { receipt }) };
}

/** The agent already reads live rules, and a fix is told at its failure. */
function tellHolding(
  call: HookEvent,
  project: string,
  lessons: readonly LessonAtStart[],
  hasRoom: (text: string) => boolean,
): string[] {
  const seen = openMarks(call.home, call.session);
  return lessons
    .filter(({ told, fix, state }) => told && !fix && state !== "live")
    .slice(0, mostLessons)
    .map(({ lessonId, line }) => ({ lessonId, text: `- ${clean(call, line)}` }))
    .filter(({ text, lessonId }) => hasRoom(text) && seen.tells(lessonId))
    .map((lesson) => show(call, project, { type: "shown", occasion: "start", ...lesson }));
}

/** Returns true for texts as long as there is room. */
function createBudget(): (text: string) => boolean {
  let left = startChars;
  return (text) => {
    left -= text.length + 1;
    return left >= 0;
  };
}

/** For the first session in a project that Knack already knows. */
function greet(lessons: readonly LessonAtStart[]): string | null {
  const own = lessons.filter(({ home }) => home === null);
  if (own.length === 0) return null;
  return `Knack knows ${own.length === 1 ? "one lesson" : `${own.length} lessons`} of this project: ${joinNames(own)}`;
}

function describeNews(news: readonly LessonAtStart[], last: number, now: number): string | null {
  if (news.length === 0) return null;
  const waiting = news.filter(({ state }) => state === "waiting").length;
  const word = waiting > 0 ? `; ${waiting} for your yes or no: /knack:status` : "";
  return `Knack learned here since${sinceDay(last, now)}: ${joinNames(news)}${word}`;
}

function joinNames(lessons: readonly LessonAtStart[]): string {
  const names = lessons.slice(0, 3).map(({ name }) => name);
  const more = lessons.length > names.length ? ` and ${lessons.length - names.length} more` : "";
  return `${names.join(", ")}${more}`;
}

function sinceDay(last: number | null, now: number): string {
  return formatDay(last ?? 0, now).replace(" on", "");
}

/** When the last session began in this project, or null; records this start. */
function recordStart({ home, now }: HookEvent, project: string): number | null {
  const folder = join(home.seen, "projects");
  const file = join(folder, makeId("p", project));
  const last = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (last === null) writeFileSync(file, "", { mode: 0o600 });
  utimesSync(file, now / 1_000, now / 1_000);
  // A clock that was ahead then would hide what is new until that time.
  return last !== null && last > now ? null : last;
}

/** Explains to the user why nothing is learned any more; null if all is well. */
function explainDeadWorker({ home, now }: HookEvent): string | null {
  const { failures, error, doneAt } = readWorkerState(home);
  if (failures >= loudAfterFailures)
    return `Knack has stopped learning: its worker failed ${failures} times (${error}). ${mend}`;
  const times = listWaitingNotes(home.spool);
  const [oldest, newest] = [Math.min(...times), Math.max(...times)];
  // A worker was started for the newest note, and the oldest is still there.
  const isLate = newest - oldest > lateMs && (doneAt ?? 0) < oldest && now - newest > 60_000;
  return isLate
    ? `Knack has stopped learning: your sessions have not been read${formatDay(oldest, now).replace(" on", " since")}. ${mend}`
    : null;
}

const mend = "Run `knack doctor`, or `npx knack-cli doctor`, in a terminal.";

/** Times of the notes that a worker was started for; the start of a session starts none. */
function listWaitingNotes(spool: string): number[] {
  return (attempt(() => readdirSync(spool)) ?? [])
    .filter((name) => name.startsWith("place-") && name.endsWith(".json"))
    .slice(0, 500)
    .flatMap((name) => attempt((): Note => JSON.parse(readFileSync(join(spool, name), "utf8"))) ?? [])
    .flatMap((note) => (note.type === "place" && note.event !== "SessionStart" ? note.at : []));
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
