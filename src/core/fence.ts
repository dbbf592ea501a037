import { shorten } from "./event.ts";
import { idOf } from "./ids.ts";
import { policy } from "./policy.ts";

/** What is said around data: before it, given the mark of its fence, and after it. */
export interface Around {
  readonly before: (mark: string) => readonly string[];
  readonly after: readonly string[];
}

/**
 * Data between two lines that nothing in it can imitate: line ends within JSON are escaped, so that no text of a
 * session begins a line, and the lines carry a digest of what is between them.
 */
export function fenced(json: string, { before, after }: Around): string {
  const plain = escaped(json);
  const mark = idOf("record-", plain);
  return [...before(mark), `----- ${mark} begins -----`, plain, `----- ${mark} ends -----`, ...after].join(
    "\n",
  );
}

/** JSON without what begins a tag, and without the line ends that JSON leaves as they are. */
export function escaped(json: string): string {
  return json.replace(unplain, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const unplain = /[<\u0085\u2028\u2029]/g;

/** The characters that a value takes within a fence, on one line. */
export function sizeWithin(value: unknown): number {
  const json = JSON.stringify(value);
  return json.length + (json.match(unplain)?.length ?? 0) * ("\\u003c".length - 1);
}

/** As many of the first as there is room for. */
export function fitting<Item>(items: readonly Item[], room: number): Item[] {
  let left = room;
  const end = items.findIndex((item) => {
    left -= sizeWithin(item) + between;
    return left < 0;
  });
  return end < 0 ? [...items] : items.slice(0, end);
}

/** Between two values of a list stand a comma and, before a model, the end of a line. */
export const between = 2;

/** A text without the folder of the person whose machine it comes from: that says nothing about a lesson. */
export function homeless(text: string): string {
  return text.replace(homes, "~");
}

/** Also as other systems mount them, names of several words on Windows, and in the names that agents give folders for their transcripts. */
const homes = (() => {
  const name = "[\\p{L}\\p{M}\\p{N}_.@+-]{1,64}";
  const mounted = "(?:/var|/private|/export|(?:/mnt|/cygdrive)?/[a-z])?";
  return new RegExp(
    [
      `(?<![\\w.~])(?:${mounted}/(?:home|Users)/${name}`,
      `[A-Za-z]:(?:/|\\\\{1,2})Users(?:/|\\\\{1,2})(?:${name}(?: ${name}){1,3}(?=\\\\)|${name})`,
      "(?:/var)?/root(?![\\w-]|\\.\\w))",
      "(?<![\\w-])(?:[A-Za-z]-)?-(?:home|Users)-[\\p{L}\\p{M}\\p{N}_]{1,64}",
    ].join("|"),
    "gu",
  );
})();

/** A text at its length. */
export function told(text: string, most: number): string {
  return shorten(homeless(text).trim(), most);
}

/** A text at the length that it takes within a fence, where an escape counts with all its characters. */
export function fitted(text: string, most: number): string {
  if (most <= 0) return "";
  for (let room = most; room > 0; ) {
    // Cut in two, a pair of surrogates is no text that every endpoint takes.
    const cut = brief(text, room).toWellFormed();
    const size = sizeWithin(cut) - 2;
    if (size <= most) return cut;
    room = Math.min(room - 1, Math.floor((room * most) / size));
  }
  return "";
}

/** The same for a few words: on one line, and cut at their end. */
export function oneLine(text: string, most: number): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return fitted(flat.length <= most ? flat : `${flat.slice(0, Math.max(0, most - 1))}…`, most);
}

/** Where there is no room to say how much is left out, only the head stays. */
function brief(text: string, most: number): string {
  return most >= policy.review.leastShortened ? shorten(text, most) : text.slice(0, most);
}
