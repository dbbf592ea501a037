import { assignments, commandCredentials, pipedPasswords, secretUnder } from "./assignments.ts";
import { authorizations, cookies, urlCredentials, urlSignatures } from "./headers.ts";
import { privateKeys } from "./keys.ts";
import { type CharRun, longRuns, mask, type Span } from "./span.ts";
import { knownTokens } from "./tokens.ts";

/** No text is known to need more rounds; the limit guards against a pattern that never settles. */
export const maxRounds = 4;

/** Masks every secret that Knack's own patterns find. */
export function redact(text: string): string {
  let clean = text;
  // A mask changes its surroundings, so masked text is searched again.
  for (let round = 0; round < maxRounds; round++) {
    const spans = findSecrets(clean);
    if (spans.length === 0) break;
    clean = mask(clean, spans);
  }
  return clean;
}

/** Redacts the value of a named field: under `password` all of it is secret. */
export function redactNamed(name: string, text: string): string {
  const whole = secretUnder(name, text);
  return whole === undefined ? redact(text) : mask(text, [whole]);
}

/** Finds secrets with Knack's own patterns, sorted by start; spans may overlap. */
export function findSecrets(text: string, runs: readonly CharRun[] = longRuns(text)): Span[] {
  const spans = [
    ...privateKeys(text),
    ...knownTokens(text, runs),
    ...urlCredentials(text),
    ...urlSignatures(text),
    ...authorizations(text),
    ...cookies(text),
    ...commandCredentials(text),
    ...pipedPasswords(text),
    ...assignments(text),
  ];
  // The sort is stable: of two spans with one start, the more specific kind (found first) names the mask.
  return spans.sort((a, b) => a.start - b.start);
}
