import type { SessionNews } from "../recall/index.ts";
import { readWorkerState, writeNote } from "../spool/index.ts";
import type { HookEvent, HookReply } from "./event.ts";
import { openMarks } from "./marks.ts";
import { type OpenSnapshot, withSnapshot } from "./snapshot.ts";

/** How long the end of a turn waits for what was learned from it, if the agent may be asked. */
const askWaitMs = 3_000;
const pauseMs = 100;

/** Tells the user what was learned from the session, and asks the agent to write it down if that is allowed. */
export async function atTurnEnd(call: HookEvent): Promise<HookReply | null> {
  const seen = openMarks(call.home.seen, call.session);
  // A failure in this turn may have been solved in it: wait for the worker, which is just reading.
  const mayCome = seen.has("failed") && seen.take("failed");
  for (let waited = 0; ; waited += pauseMs) {
    const hasTime = mayCome && waited < askWaitMs && !hasWorkerFinished(call);
    const reply = await withSnapshot(call, async (known) => tellNews(call, known, hasTime));
    if (reply !== "wait") return reply;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  }
}

/** Whether a worker has finished since the turn ended. */
function hasWorkerFinished({ home, now }: HookEvent): boolean {
  const { doneAt } = readWorkerState(home);
  return doneAt !== null && doneAt >= now;
}

/** `wait`: nothing yet, but there may be soon. */
function tellNews(call: HookEvent, known: OpenSnapshot, hasTime: boolean): HookReply | null | "wait" {
  const { session, home, payload, now } = call;
  const seen = openMarks(home.seen, session);
  const news = known.table.get(`session ${session}`) as SessionNews | undefined;
  const asking = known.head.foreground === "ask" && payload.stop_hook_active !== true && !seen.has("asked");
  if (asking && hasTime && !news?.ask) return "wait";
  const fresh = (news?.learned ?? []).filter(({ lessonId }) => seen.once(`learned-${lessonId}`));
  const receipt = fresh.length > 0 ? `Knack learned: ${fresh.map(({ name }) => name).join(", ")}` : undefined;
  const asked = payload.stop_hook_active === true ? seen.readNote("asked") : null;
  if (asked !== null && seen.once("answered")) {
    const [lessonId = "", time] = asked.split(" ");
    const answer = { session, project: known.project, lessonId, askedAt: Number(time) || now, at: now };
    writeNote(home.spool, { type: "asked", over: true, ...answer });
  }
  const isAsked = asking && news?.ask && seen.once("asked", `${news.ask.lessonId} ${now}`);
  const ask = isAsked && news?.ask ? askAgent(call, known, news.ask) : {};
  return { ...(receipt ? { receipt } : {}), ...ask };
}

/** Asks the agent, which still has the context, to write a lesson down: once in a session. */
function askAgent(
  call: HookEvent,
  { project }: OpenSnapshot,
  ask: NonNullable<SessionNews["ask"]>,
): HookReply {
  const { session, home, now, program } = call;
  // The agent's shell may not have KNACK_HOME.
  const command = `KNACK_HOME="${home.folder}" "${process.execPath}" "${program}"`;
  writeNote(home.spool, { type: "asked", session, project, lessonId: ask.lessonId, over: false, at: now });
  return {
    receipt: `Knack asked the agent to write down ${ask.name}`,
    ask: [
      `From Knack: this session holds something worth keeping that is not written down yet: ${ask.line}`,
      "If it would help the next time, write it down as a skill now, as the skill knack:learn-skill says: skill_learning_start of Knack's tools answers with a folder and the rules, you write the package there, and skill_learning_finish checks it and makes it live.",
      `Where a sentence or two say it all (when it applies, and what works), or Knack's tools are not there, it becomes a draft that a person can look at with: ${command} skills write ${ask.lessonId} --session ${session} --lesson "…"`,
      "If it is not worth keeping, ending the turn is fine and is noted.",
    ].join("\n"),
  };
}
