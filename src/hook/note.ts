import { idOf } from "../core/ids.ts";
import type { Word } from "../engine/hear.ts";

/** What the hook hands over to the worker: small files in the spool, each written whole and handled once. */
export type Note = Place | Word;

/** There is something new in a transcript. One for a session: the latest takes the place of the one before. */
export interface Place {
  readonly type: "place";
  readonly session: string;
  readonly transcript: string;
  readonly cwd: string | null;
  readonly event: string;
  readonly at: number;
}

/** A name that is safe in any file system: other texts have other names, and none leads out of its folder. */
export function fileName(text: string): string {
  if (/^\w[\w-]{0,99}$/.test(text)) return text;
  const readable = text.slice(0, 60).replace(/[^\w-]/g, "_");
  return `${readable}.${idOf("n", text)}`;
}
