import type { SnapshotRows } from "../recall/index.ts";
import { readVerdict, readWorkerState, type TurnVerdict, writeNote } from "../spool/index.ts";
import type { HookEvent, HookReply } from "./event.ts";
import { identifyHere, type OpenSnapshot, openMarks, withSnapshot } from "./session.ts";

/** How long the end of a turn waits for what was learned from it, if the agent may be asked. */
const askWaitMs = 3_000;
const pauseMs = 100;
/** The two halves of a hook start together: a verdict for a note this much older is about the same turn. */
const sameTurnMs = 1_500;

/** Tells the user what was learned from the session, and asks the agent to write it down if that is allowed. */
export async function atTurnEnd(call: HookEvent): Promise<HookReply | null> {
  const seen = openMarks(call.home, call.session);
  // A failure in this turn may have been solved in it: wait for the worker, which is just reading.
  const mayCome = seen.has("failed") && seen.take("failed");
  for (let waited = 0; ; waited += pauseMs) {
    const isWorking = waited < askWaitMs && (readWorkerState(call.home).doneAt ?? 0) < call.now;
    const reply = await withSnapshot(call, async (known) => {
      const owed = tellDuty(call, known, isWorking);
      if (owed === "wait") return owed;
      const news = tellNews(call, known, mayCome && isWorking, owed?.ask !== undefined);
      return news === "wait" ? news : join(owed, news);
    });
    if (reply !== "wait") return reply;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  }
}

function join(owed: HookReply | null, news: HookReply | null): HookReply {
  const receipt = [owed?.receipt, news?.receipt].filter(Boolean).join(" · ");
  return { ...news, ...owed, receipt };
}

/** Tells the open duties of the session's goal, or where that is allowed, holds the turn once. */
function tellDuty(call: HookEvent, known: OpenSnapshot, isWorking: boolean): HookReply | null | "wait" {
  const setting = readSetting(call, known);
  if (setting === "off") return null;
  const { home, session, now, payload } = call;
  const verdict = readVerdict(home, session);
  const seen = openMarks(home, session);
  // Whoever is held already, by whatever hook, is not held again.
  if (setting === "block" && payload.stop_hook_active !== true) {
    const isOfThisTurn = verdict !== null && verdict.at >= now - sameTurnMs;
    if (!isOfThisTurn) return isWorking ? "wait" : null;
    if (verdict.blocked && seen.once(`held ${verdict.goal}`)) return hold(call, known.project, verdict);
  }
  if (verdict?.owes && seen.once(`owes ${verdict.goal}`)) return { receipt: `Knack: ${verdict.owes}` };
  return null;
}

function readSetting(call: HookEvent, { head: { duties, dutiesIn }, project }: OpenSnapshot) {
  if (Object.keys(dutiesIn).length === 0) return duties;
  return dutiesIn[project] ?? dutiesIn[identifyHere(call).root ?? ""] ?? duties;
}

/** Holds the end of the turn, once for a goal: each way out is a command that runs as it stands. */
function hold(call: HookEvent, project: string, { goal, text, repairs }: TurnVerdict): HookReply {
  const { home, session, now } = call;
  writeNote(home.spool, { type: "held", session, project, goal, at: now });
  const command = nameCommand(call);
  return {
    receipt: `Knack held the turn once: ${text}`,
    ask: [
      `From Knack: the goal "${text}" taught something that is not recorded. Do one of these, in your own words in quotes if you like, and end the turn:`,
      ...repairs.map(({ say, command: run }) => `- ${say}\n  ${run.replace(/^knack /, `${command} `)}`),
      "This is asked once.",
    ].join("\n"),
  };
}

/** The agent's shell may not have KNACK_HOME. */
function nameCommand({ home, program }: HookEvent): string {
  return `KNACK_HOME="${home.folder}" "${process.execPath}" "${program}"`;
}

/** `wait`: nothing yet, but there may be soon. */
function tellNews(
  call: HookEvent,
  known: OpenSnapshot,
  hasTime: boolean,
  isHeld: boolean,
): HookReply | null | "wait" {
  const { session, home, payload, now } = call;
  const seen = openMarks(home, session);
  const { learned = [], ask = null } = known.get("session", session) ?? {};
  const isAnswer = payload.stop_hook_active === true;
  const mayAsk = known.head.foreground === "ask" && !isAnswer && !isHeld && !seen.has("asked");
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
  call: HookEvent,
  project: string,
  { lessonId, name, line }: NonNullable<SnapshotRows["session"]["ask"]>,
): HookReply {
  const { session, home, now } = call;
  const command = nameCommand(call);
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
