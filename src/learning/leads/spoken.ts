import { says } from "./phrases.ts";
import { isQuestion, stripOpening, type Turn } from "./turns.ts";

/** Whether a person speaks against what the agent did. */
export function isObjection({ words, sentences, next, resent, rejected }: Turn): boolean {
  const bare = sentences.map((sentence) => stripOpening(sentence.toLowerCase()));
  const isWithdrawn = [next, words].some((said) => says.withdraws.test(stripOpening(said.toLowerCase())));
  if (resent || isWithdrawn) return false;
  const told = bare.filter((_, at) => !isQuestion(sentences[at] ?? ""));
  const { refuses, faults, reproaches, sets, bars } = says;
  const isAgainst = (said: string) => [refuses, faults, reproaches, sets].some((sign) => sign.test(said));
  return rejected !== null || bare.some(isAgainst) || told.some((said) => bars.test(said));
}
