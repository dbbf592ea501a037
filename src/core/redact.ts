import { assignments, secretUnder } from "./redact/assignments.ts";
import { authorizations, cookies } from "./redact/headers.ts";
import { privateKeys } from "./redact/keys.ts";
import { commandCredentials, pipedPasswords } from "./redact/options.ts";
import { longRuns, type Run } from "./redact/runs.ts";
import { mask, type Span } from "./redact/span.ts";
import { knownTokens } from "./redact/tokens.ts";
import { urlCredentials, urlSignatures } from "./redact/urls.ts";

/** The text with every secret that Knack's own patterns know replaced by its kind. */
export function redact(text: string): string {
  let clean = text;
  // A mask changes what stands around it, so what was masked is looked at again.
  for (let round = 0; round < maxRounds; round++) {
    const spans = findSecrets(clean);
    if (spans.length === 0) break;
    clean = mask(clean, spans);
  }
  return clean;
}

/** The same for a text that goes by a name: under `password` all of it is secret. */
export function redactNamed(name: string, text: string): string {
  const whole = secretUnder(name, text);
  return whole === undefined ? redact(text) : mask(text, [whole]);
}

/** Rounds after which no text has been seen to change; the limit only keeps a fault from running on. */
export const maxRounds = 4;

/** Every secret that Knack's own patterns know, in order of place; spans may overlap. */
export function findSecrets(text: string, runs: readonly Run[] = longRuns(text)): Span[] {
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
  // Sorting is stable, so of two spans with one start the more telling kind, which was found first, names it.
  return spans.sort((a, b) => a.start - b.start);
}
