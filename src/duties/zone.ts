import { type Event, eventChars, type Zone } from "../records/index.ts";

/** Shares of the model's window at which the next zone begins. */
const normalFrom = 0.5;
const tightFrom = 0.85;
/** More characters than one token has, even in prose: so many tokens at least does a text take. */
const mostCharsPerToken = 8;
/** A count this much below what the words alone take is of something else. */
const deadShare = 0.5;
/** An agent's own instructions take more, so a count below this is of something else; and words this few prove nothing. */
const fewTokens = 1_000;

/**
 * How full the window is at the end of these events, by two sources: what the agent counted, and what the words since
 * the last compaction take at least. Unknown where there is no count, no window, or the two disagree.
 */
export function measureZone(events: readonly Event[]): Zone {
  const own = events.filter(({ sidechain }) => !sidechain);
  const compacted = own.findLastIndex(
    ({ kind, text }) => kind === "mark" && /^Conversation compacted$|compressed from/i.test(text),
  );
  const since = own.slice(compacted + 1);
  const counted = since.findLastIndex(({ context }) => context !== undefined);
  const { tokens: usedTokens, window: windowTokens } = since[counted]?.context ?? {
    tokens: null,
    window: null,
  };
  const unknown = (because: string): Zone => ({ zone: "unknown", usedTokens, windowTokens, because });
  if (usedTokens === null) return unknown("the transcript counts no tokens");
  if (usedTokens < fewTokens) return unknown(`a count of ${usedTokens} tokens is of something else`);
  if (windowTokens === null) return unknown("the size of the model's window is not known");
  if (usedTokens > windowTokens)
    return unknown(`${usedTokens} tokens do not fit into a window of ${windowTokens}`);
  const least = countLeast(since.slice(0, counted));
  if (least > fewTokens && usedTokens < least * deadShare)
    return unknown(`${usedTokens} tokens were counted, and the words alone take ${least} at least`);
  const share = usedTokens / windowTokens;
  const zone = share < normalFrom ? "fresh" : share < tightFrom ? "normal" : "tight";
  const percent = Math.round(share * 100);
  return { zone, usedTokens, windowTokens, because: `${percent} % of ${windowTokens} tokens used` };
}

function countLeast(events: readonly Event[]): number {
  const chars = events.reduce((sum, { text }) => sum + Math.min(text.length, eventChars), 0);
  return Math.round(chars / mostCharsPerToken);
}
