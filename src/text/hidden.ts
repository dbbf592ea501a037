/**
 * Characters that a person does not see and a model reads: zero width, direction controls, tag characters, controls.
 * Joiners are left out: emoji and several scripts are written with them.
 */
export const hiddenCharacters =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ufe00-\ufe0f]{2,}|[\u{e0100}-\u{e01ef}]{2,}/gu;

/**
 * Joiners where no script needs them: after ASCII or at the start of a text, where they join nothing; before an ASCII
 * letter, where they only split words; and several in a row.
 */
export const strayJoiners =
  /(?<![^\x00-\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?=[\dA-Za-z])|[\u200c\u200d]{2,}/gu;

/** Whether a hidden character has an honest use in such a line: direction marks and separators of its script, soft hyphens. */
export function isExpectedCharacter(character: string, line: string): boolean {
  return homes.some(([some, script]) => some.test(character) && script.test(line));
}

const homes: readonly (readonly [RegExp, RegExp])[] = [
  [/[\u200e\u200f\u061c]/, /(?=\p{L})[\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}]/u],
  [/\u180e/, /(?=\p{L})\p{sc=Mongolian}/u],
  [/\u00ad/, /\p{L}\u00ad\p{L}/u],
];

/** What does away with the words around it: a terminal writes over a line that only returns, and half a pair of surrogates is no text. */
export const unwritable = /\r(?!\n)|[\ud800-\udfff]/gu;

/** Colour and cursor sequences of a terminal. */
const terminalSequences = /\u001b\[[0-9;?]{0,20}[A-Za-z]|\u001b\][^\u0007\u001b]{0,500}(?:\u0007|\u001b\\)/g;

/** The text as a person sees it. */
export function stripHidden(text: string): string {
  // Patterns for letters of all scripts take long to prepare, and most texts have nothing for them.
  if (!/[^\t\n\r -~]/.test(text)) return text;
  return text
    .replace(terminalSequences, "")
    .replace(regionFlags, "$1")
    .replace(hiddenCharacters, "")
    .replace(strayJoiners, "");
}

/** Flags of regions are spelt with tag characters after a black flag. */
export const regionFlags = /(\u{1f3f4})[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{2,6}\u{e007f}/gu;
