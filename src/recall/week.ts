import type { Store } from "../store/index.ts";
import { tallyShown } from "./report.ts";

/** Characters that make about one token. */
const tokenChars = 4;

/** What came of a time, on one screen: learned, used, saved, and what it cost. */
export async function readWeek(store: Store, since: number) {
  const { learning, ledger } = store;
  const fresh = (await learning.lessons.list())
    .filter(({ state }) => state.foundAt >= since && state.status !== "rejected")
    .sort((a, b) => b.state.foundAt - a.state.foundAt);
  const tally = await tallyShown(store, since);
  const { shown, characters, offered, sessions, loaded, guided, helpful, harmful } = tally;
  const calls = await ledger.since("model.called", since);
  return {
    since: new Date(since).toISOString(),
    /** Lessons found since, the newest first; and the skills that agents and reviews wrote or changed. */
    fresh,
    skills: tally.skillsWritten,
    used: {
      /** How often something was shown: lessons by occasion, and things from the library. */
      times: shown.start + shown.prompt + shown.failure + offered,
      at: shown,
      ...{ sessions, offered, loaded, skills: tally.used, guided, helpful, harmful },
      /** Lessons shown that recommend a call, once per session, and those whose call then worked. */
      followable: tally.followable,
      followed: tally.followed,
    },
    /** Failures at which a known fix was shown, and those after which it came next and worked. */
    saved: { failures: shown.failure, calls: tally.saved },
    cost: {
      characters,
      tokens: Math.ceil(characters / tokenChars),
      /** US dollars for Knack's own model calls. */
      model: calls.reduce((sum, { data }) => sum + data.usd, 0),
      /** Turns in which an agent was asked to write a lesson down. */
      asked: tally.asked,
    },
  };
}
