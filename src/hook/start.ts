import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onDay } from "../core/fact.ts";
import { idOf } from "../core/ids.ts";
import { policy } from "../core/policy.ts";
import { homeIn } from "../core/recall.ts";
import { redact } from "../core/redact.ts";
import type { Start, StartLesson } from "../engine/snapshot.ts";
import type { Call, Reply } from "./call.ts";
import { seenBy } from "./seen.ts";
import { show } from "./show.ts";
import { type Known, withSnapshot } from "./snapshot.ts";
import type { WorkerState } from "./worker-state.ts";

/** What a session begins with: what was learned since the last one, what holds here, and loudly what is broken. */
export async function atStart(call: Call): Promise<Reply | null> {
  const { source } = call.payload;
  const seen = seenBy(call.home.seen, call.session);
  if (source === "compact" || source === "clear") seen.forget();
  const broken = whyDead(call);
  const told = await withSnapshot(call, async (known) => facts(call, known)).catch(() => null);
  const receipt = [broken, told?.receipt].filter((line) => line !== undefined && line !== null).join("\n");
  return { ...told, ...(receipt === "" ? {} : { receipt }) };
}

function facts(call: Call, { table, project }: Known): Reply | null {
  const last = lastStart(call, project);
  const starts = [`start ${project}`, "start user"].flatMap(
    (key) => (table.get(key) as Start | undefined) ?? [],
  );
  const home = homeIn(call.cwd ?? "") ?? "";
  const lessons = starts
    .flatMap((start) => start.lessons)
    // On another machine other programs are installed.
    .filter((lesson) => lesson.home === null || lesson.home === home);
  const isNew = ({ noticedAt }: StartLesson) => last !== null && noticedAt > last;
  const news = lessons.filter(isNew);
  const seen = seenBy(call.home.seen, call.session);
  // What stands in a file that the agent reads is before it already.
  const fresh = news.filter(({ state, active, fix }) => state !== "live" && (active || fix));
  const known = lessons.filter((lesson) => lesson.active && lesson.state !== "live" && !isNew(lesson));
  const resumed = call.payload.source === "resume";
  const chosen = [...fresh, ...(resumed ? [] : known)].slice(0, policy.show.startLessons);
  const within = budget(policy.show.startChars);
  const tellings = chosen
    .map((lesson) => ({ ...lesson, text: `- ${redact(lesson.line)}` }))
    .filter(({ text }) => within(text))
    .filter(({ instinct }) => seen.tells(instinct));
  const skills = resumed ? [] : starts.flatMap((start) => start.skills);
  const listed = skills.map(({ name, description }) => `- ${name}: ${redact(description)}`).filter(within);
  const receipt = receiptOf(news, last, call.now);
  if (tellings.length + listed.length === 0) return receipt === null ? null : { receipt };
  const context = [
    "From Knack, facts of earlier sessions:",
    ...(tellings.length > 0 ? ["Learned here:", show(call, project, "start", tellings)] : []),
    ...(listed.length > 0 ? ["Skills learned here, which can be loaded:", ...listed] : []),
  ].join("\n");
  return { context, ...(receipt === null ? {} : { receipt }) };
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

function receiptOf(news: readonly StartLesson[], last: number | null, now: number): string | null {
  if (news.length === 0 || last === null) return null;
  const names = news.slice(0, 3).map(({ name }) => name);
  const more = news.length > names.length ? ` and ${news.length - names.length} more` : "";
  const waiting = news.filter(({ state }) => state === "waiting").length;
  const word = waiting > 0 ? `; ${waiting} for your yes or no: /knack:status` : "";
  return `Knack learned here since${onDay(last, now).replace(" on", "")}: ${names.join(", ")}${more}${word}`;
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
  const state = readJson<WorkerState>(join(home.log, "worker.json"));
  const mend = "Run `knack doctor` in a terminal.";
  if (state !== null && state.failures >= policy.work.loudAfter)
    return `Knack has stopped learning: its worker failed ${state.failures} times (${state.error}). ${mend}`;
  const times = readdirSync(home.spool)
    .filter((name) => name.endsWith(".json"))
    .slice(0, 500)
    .flatMap((name) => statSync(join(home.spool, name), { throwIfNoEntry: false })?.mtimeMs ?? []);
  if (times.length === 0) return null;
  const [oldest, newest] = [Math.min(...times), Math.max(...times)];
  // A worker was called for the newest, and the oldest still lies there.
  const late = newest - oldest > policy.work.lateMs && (state?.doneAt ?? 0) < oldest && now - newest > 60_000;
  return late
    ? `Knack has stopped learning: nobody has looked at your sessions${onDay(oldest, now).replace(" on", " since")}. ${mend}`
    : null;
}

function readJson<Value>(path: string): Value | null {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}
