import type { SnapshotRows } from "../recall/index.ts";
import { readWorkerState, writeNote } from "../spool/index.ts";
import type { HookEvent, HookReply } from "./event.ts";
import { type OpenSnapshot, openMarks, withSnapshot } from "./session.ts";

/** How long the end of a turn waits for what was learned from it, if the agent may be asked. */
const askWaitMs = 3_000;
const pauseMs = 100;

/** Tells the user what was learned from the session, and asks the agent to write it down if that is allowed. */
export async function atTurnEnd(call: HookEvent): Promise<HookReply | null> {
  const seen = openMarks(call.home, call.session);
  // A failure in this turn may have been solved in it: wait for the worker, which is just reading.
  const mayCome = seen.has("failed") && seen.take("failed");
  for (let waited = 0; ; waited += pauseMs) {
    const hasTime = mayCome && waited < askWaitMs && (readWorkerState(call.home).doneAt ?? 0) < call.now;
    const reply = await withSnapshot(call, async (known) => tellNews(call, known, hasTime));
    if (reply !== "wait") return reply;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  }
}

/** `wait`: nothing yet, but there may be soon. */
function tellNews(call: HookEvent, known: OpenSnapshot, hasTime: boolean): HookReply | null | "wait" {
  const { session, home, payload, now } = call;
  const seen = openMarks(home, session);
  const { learned = [], ask = null } = known.get("session", session) ?? {};
  const isAnswer = payload.stop_hook_active === true;
  const mayAsk = known.head.foreground === "ask" && !isAnswer && !seen.has("asked");
  if (mayAsk && hasTime && !ask) return "wait";
  const fresh = learned.filter(({ lessonId }) => seen.once(`learned-${lessonId}`));
  const receipt = fresh.length > 0 ? `Knack learned: ${fresh.map(({ name }) => name).join(", ")}` : undefined;
  const asked = isAnswer ? seen.readNote("asked") : null;
  if (asked !== null && seen.once("answered")) {
    const [lessonId = "", time] = asked.split(" ");
    const answer = { session, project: known.project, lessonId, askedAt: Number(time) || now, at: now };
    writeNote(home.spool, { type: "asked", over: true, ...answer });
  }
  const isAsked = mayAsk && ask && seen.once("asked", `${ask.lessonId} ${now}`);
  return { ...(receipt ? { receipt } : {}), ...(isAsked ? askAgent(call, known.project, ask) : {}) };
}

/** Asks the agent, which still has the context, to write a lesson down: once in a session. */
function askAgent(
  { session, home, now, program }: HookEvent,
  project: string,
  { lessonId, name, line }: NonNullable<SnapshotRows["session"]["ask"]>,
): HookReply {
  // The agent's shell may not have KNACK_HOME.
  const command = `KNACK_HOME="${home.folder}" "${process.execPath}" "${program}"`;
  writeNote(home.spool, { type: "asked", session, project, lessonId, over: false, at: now });
  return {
    receipt: `Knack asked the agent to write down ${name}`,
    ask: [
      `From Knack: this session holds something worth keeping that is not written down yet: ${line}`,
      "If it would help the next time, write it down as a skill now, as the skill knack:learn-skill says: skill_learning_start of Knack's tools answers with a folder and the rules, you write the package there, and skill_learning_finish checks it and makes it live.",
      `Where a sentence or two say it all (when it applies, and what works), or Knack's tools are not there, it becomes a draft that a person can look at with: ${command} skills write ${lessonId} --session ${session} --lesson "…"`,
      "If it is not worth keeping, ending the turn is fine and is noted.",
    ].join("\n"),
  };
}
