import type { Event } from "../event.ts";
import { type Excerpt, noExcerpt } from "../finding.ts";
import { cutAtWord } from "../markdown.ts";
import { policy } from "../policy.ts";
import type { Scene } from "./scene.ts";
import { contentOf } from "./signs.ts";
import { asks, ownWords, sentencesOf, withoutOpening } from "./speech.ts";

/** How a person asked for work: the first sentence; empty where it asks back, objects, or says too little to be known again by. */
export function askedBy(prompt: Event | null, verdicts: Scene["verdicts"]): string {
  const objects = verdicts.some(
    ({ turn, verdict }) => turn.prompt === prompt && verdict.kind === "user-correction",
  );
  if (objects) return "";
  const [first = ""] = prompt === null ? [] : sentencesOf(ownWords(prompt.text));
  const asked = withoutOpening(first.replace(/[`“”"]/g, "")).replace(/[\s.,:;!]+$/, "");
  if (asks(first) || contentOf(asked) < policy.detect.speech.leastContent) return "";
  return cutAtWord(asked, policy.detect.procedure.askedChars);
}

/** What proves a way of working: the calls as they were, and the words that asked for them. */
export function proofOf(calls: readonly string[], prompt: Event | null): Excerpt {
  const { excerptChars } = policy.detect.telling;
  const said = prompt === null ? "" : ownWords(prompt.text).slice(0, excerptChars);
  return { ...noExcerpt, worked: whole(calls), said: said === "" ? null : said };
}

/** As many calls as there is room for; a long one is cut, so that others have some. */
function whole(calls: readonly string[]): string {
  const { excerptChars, callChars } = policy.detect.telling;
  const most = calls.length === 1 ? excerptChars : callChars;
  let told = "";
  for (const call of new Set(calls.map((each) => each.trim()))) {
    const cut = call.length > most ? `${call.slice(0, most - 1)}…` : call;
    const longer = told === "" ? cut : `${told}\n${cut}`;
    if (longer.length > excerptChars) break;
    told = longer;
  }
  return told;
}
