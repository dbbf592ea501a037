import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onDay } from "../core/fact.ts";
import { idOf } from "../core/ids.ts";
import { policy } from "../core/policy.ts";
import { homeIn } from "../core/recall.ts";
import { redact } from "../core/redact.ts";
import type { Start, StartLesson, StartReceipt } from "../engine/snapshot.ts";
import type { Call, Reply } from "./call.ts";
import type { Place } from "./note.ts";
import { seenBy } from "./seen.ts";
import { show } from "./show.ts";
import { type Known, projectOf, withSnapshot } from "./snapshot.ts";
import { noteThePlace } from "./turn.ts";
import { stateOf } from "./worker-state.ts";

/** What a session begins with: what was learned since the last one, what holds here, and loudly what is broken. */
export async function atStart(call: Call): Promise<Reply | null> {
  const [broken] = [whyDead(call), whyUnwritable(call)].filter((line) => line !== null);
  const told = await tell(call).catch(() => null);
  const receipt = [broken, told?.receipt].filter((line) => line !== undefined).join("\n");
  return { ...told, ...(receipt === "" ? {} : { receipt }) };
}

async function tell(call: Call): Promise<Reply | null> {
  const { source } = call.payload;
  if (source === "compact" || source === "clear") seenBy(call.home.seen, call.session).forget();
  // Noted also where nothing is known yet: what this session teaches is news to the next.
  const last = lastStart(call, projectOf(call).id);
  return withSnapshot(call, async (known) => facts(call, known, last));
}

function facts(call: Call, { table, project }: Known, last: number | null): Reply | null {
  const starts = [`start ${project}`, "start user"].flatMap(
    (key) => (table.get(key) as Start | undefined) ?? [],
  );
  const home = homeIn(call.cwd ?? "") ?? "";
  const lessons = starts
    .flatMap((start) => start.lessons)
    // On another machine other programs are installed.
    .filter((lesson) => lesson.home === null || lesson.home === home)
    // What this session taught is before its agent.
    .filter(({ run }) => run !== call.session);
  const isNew = ({ noticedAt }: StartLesson) => last !== null && noticedAt > last;
  const news = lessons.filter(isNew);
  const resumed = call.payload.source === "resume";
  const within = budget(policy.show.startChars);
  const fixes = news.filter(({ fix, state }) => fix && state !== "live");
  const learned = fixes
    .slice(0, policy.show.startLessons)
    .map(({ brief }) => `- ${redact(brief)}`)
    .filter(within);
  const seen = seenBy(call.home.seen, call.session);
  // What stands in a file that the agent reads is before it already, and a fix is told at its failure.
  const holding = lessons
    .filter(({ active, fix, state }) => active && !fix && state !== "live")
    .slice(0, policy.show.startLessons)
    .map((lesson) => ({ ...lesson, text: `- ${redact(lesson.line)}` }));
  const tellings = resumed
    ? []
    : holding.filter(({ text, instinct }) => within(text) && seen.tells(instinct));
  const skills = resumed ? [] : starts.flatMap((start) => start.skills);
  const listed = skills.map(({ name, description }) => `- ${name}: ${redact(description)}`).filter(within);
  const receipts = ((table.get(`receipts ${project}`) as StartReceipt[] | undefined) ?? [])
    .filter(({ at }) => last !== null && at > last)
    .map(({ text }) => redact(text));
  const noticed = last === null ? greeting(lessons) : receiptOf(news, last, call.now);
  const receipt = [...(noticed === null ? [] : [noticed]), ...receipts].join("\n") || null;
  const said = [
    ...(learned.length > 0 ? [`Learned here since${sinceDay(last, call.now)}:`, ...learned] : []),
    ...(tellings.length > 0 ? ["Holds here:", show(call, project, "start", tellings)] : []),
    ...(listed.length > 0 ? ["Skills learned here, which can be loaded:", ...listed] : []),
  ];
  const context = said.length > 0 ? ["From Knack, facts of earlier sessions:", ...said].join("\n") : null;
  return { ...(context === null ? {} : { context }), ...(receipt === null ? {} : { receipt }) };
}

/** Says yes as long as there is room. */
function budget(most: number): (text: string) => boolean {
  // The lines around the lessons take some.
  let left = most - 120;
  return (text) => {
    left -= text.length + 1;
    return left >= 0;
  };
}

/** The first time in a project, where something is known of it already. */
function greeting(lessons: readonly StartLesson[]): string | null {
  const own = lessons.filter(({ home }) => home === null);
  if (own.length === 0) return null;
  return `Knack knows ${own.length === 1 ? "one lesson" : `${own.length} lessons`} of this project: ${namesOf(own)}`;
}

function receiptOf(news: readonly StartLesson[], last: number | null, now: number): string | null {
  if (news.length === 0) return null;
  const waiting = news.filter(({ state }) => state === "waiting").length;
  const word = waiting > 0 ? `; ${waiting} for your yes or no: /knack:status` : "";
  return `Knack learned here since${sinceDay(last, now)}: ${namesOf(news)}${word}`;
}

function namesOf(lessons: readonly StartLesson[]): string {
  const names = lessons.slice(0, 3).map(({ name }) => name);
  const more = lessons.length > names.length ? ` and ${lessons.length - names.length} more` : "";
  return `${names.join(", ")}${more}`;
}

function sinceDay(last: number | null, now: number): string {
  return onDay(last ?? 0, now).replace(" on", "");
}

/** When a session last began in this project; null for the first time. */
function lastStart({ home, now }: Call, project: string): number | null {
  const file = join(home.seen, "projects", idOf("p", project));
  const last = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
  mkdirSync(join(home.seen, "projects"), { recursive: true, mode: 0o700 });
  if (last === null) writeFileSync(file, "", { mode: 0o600 });
  utimesSync(file, now / 1_000, now / 1_000);
  return last;
}

/** Why nothing is learned any more, in a line for a person; null while all is well. */
function whyDead({ home, now }: Call): string | null {
  const { failures, error, doneAt } = stateOf(home);
  if (failures >= policy.work.loudAfter)
    return `Knack has stopped learning: its worker failed ${failures} times (${error}). ${mend}`;
  const times = notesThatWait(home.spool);
  if (times.length === 0) return null;
  const [oldest, newest] = [Math.min(...times), Math.max(...times)];
  // A worker was called for the newest, and the oldest still lies there.
  const late = newest - oldest > policy.work.lateMs && (doneAt ?? 0) < oldest && now - newest > 60_000;
  return late
    ? `Knack has stopped learning: nobody has looked at your sessions${onDay(oldest, now).replace(" on", " since")}. ${mend}`
    : null;
}

const mend = "Run `knack doctor`, or `npx knack-cli doctor`, in a terminal.";

/** When the notes were left that a worker was called for; the start of a session calls none. */
function notesThatWait(spool: string): number[] {
  return namesIn(spool)
    .filter((name) => name.startsWith("place-") && name.endsWith(".json"))
    .slice(0, 500)
    .flatMap((name) => readJson<Place>(join(spool, name)) ?? [])
    .filter(({ event }) => event !== "SessionStart")
    .map(({ at }) => at);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Notes where the session's transcript is; where that cannot be done nothing is ever learned, and a person should know. */
function whyUnwritable(call: Call): string | null {
  try {
    noteThePlace(call);
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return `Knack cannot learn from this session: it cannot write to ${call.home.spool} (${code}). ${mend}`;
  }
}

function readJson<Value>(path: string): Value | null {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}
