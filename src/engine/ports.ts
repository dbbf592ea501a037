/** A text that may hold secrets, with the name it goes by (`password`, `Authorization`), which often decides. */
export interface Field {
  readonly label: string;
  readonly text: string;
}

/**
 * Takes secrets out of text. May be called any number of times and at once; the answer has one text for each
 * field, in order, unchanged where nothing was found. Scrubbing what was scrubbed changes nothing.
 */
export interface Redactor {
  scrub(fields: readonly Field[]): Promise<string[]>;
}
