import { policy } from "../core/policy.ts";
import type { SessionNews } from "../engine/snapshot.ts";
import type { Call, Reply } from "./call.ts";
import { seenBy } from "./seen.ts";
import { type Known, withSnapshot } from "./snapshot.ts";
import { spool } from "./spool.ts";
import { stateOf } from "./worker-state.ts";

/** What a person hears of what the session taught; and what the agent is asked, where that is allowed. */
export async function atTurnEnd(call: Call): Promise<Reply | null> {
  const seen = seenBy(call.home.seen, call.session);
  // What failed in this turn was overcome in it, perhaps; then the worker, who is just looking, is waited for.
  const mayCome = seen.has("failed") && seen.take("failed");
  for (let waited = 0; ; waited += pauseMs) {
    const hasTime = mayCome && waited < policy.show.askWaitMs && !isThrough(call);
    const reply = await withSnapshot(call, async (known) => newsFor(call, known, hasTime));
    if (reply !== "wait") return reply;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  }
}

const pauseMs = 100;

/** Whether a worker has been through since the turn ended. */
function isThrough({ home, now }: Call): boolean {
  const { doneAt } = stateOf(home);
  return doneAt !== null && doneAt >= now;
}

/** `wait`: nothing yet, but there may be in a moment. */
function newsFor(call: Call, known: Known, hasTime: boolean): Reply | null | "wait" {
  const { session, home, payload, now } = call;
  const seen = seenBy(home.seen, session);
  const news = known.table.get(`session ${session}`) as SessionNews | undefined;
  const asking = known.head.foreground === "ask" && payload.stop_hook_active !== true && !seen.has("asked");
  if (asking && hasTime && !news?.ask) return "wait";
  const fresh = (news?.learned ?? []).filter(({ instinct }) => seen.once(`learned-${instinct}`));
  const receipt = fresh.length > 0 ? `Knack learned: ${fresh.map(({ name }) => name).join(", ")}` : undefined;
  const asked = payload.stop_hook_active === true ? seen.wordOf("asked") : null;
  if (asked !== null && seen.once("answered")) {
    const [instinct = "", time] = asked.split(" ");
    const askedAt = Number(time) || now;
    spool(home.spool, {
      ...{ type: "asked", session, project: known.project, instinct, over: true },
      ...{ askedAt, at: now },
    });
  }
  const isAsked = asking && news?.ask && seen.once("asked", `${news.ask.instinct} ${now}`);
  const ask = isAsked && news?.ask ? askFor(call, known, news.ask) : {};
  return { ...(receipt ? { receipt } : {}), ...ask };
}

/** Asks the agent, which still has the context, to write a lesson down: where a person allowed it, once in a session. */
function askFor(call: Call, { project }: Known, ask: NonNullable<SessionNews["ask"]>): Reply {
  const { session, home, now, program } = call;
  // The agent's shell may not know where Knack's home is.
  const command = `KNACK_HOME="${home.folder}" "${process.execPath}" "${program}"`;
  spool(home.spool, { type: "asked", session, project, instinct: ask.instinct, over: false, at: now });
  return {
    receipt: `Knack asked the agent to write down ${ask.name}`,
    ask: [
      `From Knack: this session holds something worth keeping that is not written down yet: ${ask.line}`,
      "If it would help the next time, write it down as a skill now, as the skill knack:learn-skill says: skill_learning_start of Knack's tools answers with a folder and the rules, you write the package there, and skill_learning_finish checks it and makes it live.",
      `Where a sentence or two say it all (when it applies, and what works), or Knack's tools are not there, it becomes a draft that a person can look at with: ${command} skills write ${ask.instinct} --session ${session} --lesson "…"`,
      "If it is not worth keeping, ending the turn is fine and is noted.",
    ].join("\n"),
  };
}
