import { makeId } from "../base/index.ts";
import { shorten } from "../records/index.ts";

/** The instructions around fenced data; those before it may name the fence by its mark. */
export interface FenceFrame {
  readonly before: (mark: string) => readonly string[];
  readonly after: readonly string[];
}

/**
 * Puts data between two lines that nothing in it can imitate: JSON escapes line breaks, so no quoted text begins a
 * line, and the fence lines carry a hash of the data.
 */
export function fence(json: string, { before, after }: FenceFrame): string {
  // Also escapes what begins a tag, and the line breaks that JSON leaves as they are.
  const plain = json.replace(unplain, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const mark = makeId("record-", plain);
  const fenced = [`----- ${mark} begins -----`, plain, `----- ${mark} ends -----`];
  return [...before(mark), ...fenced, ...after].join("\n");
}

const unplain = /[<\u0085\u2028\u2029]/g;

/** Characters that a value takes inside a fence. */
export function fencedSize(value: unknown): number {
  const json = JSON.stringify(value);
  return json.length + (json.match(unplain)?.length ?? 0) * ("\\u003c".length - 1);
}

/** The first items that fit into `room` characters. */
export function takeFitting<Item>(items: readonly Item[], room: number): Item[] {
  let left = room;
  const end = items.findIndex((item) => {
    left -= fencedSize(item) + separatorChars;
    return left < 0;
  });
  return end < 0 ? [...items] : items.slice(0, end);
}

/** A comma and a line break between two items of a list. */
export const separatorChars = 2;

/** Replaces home folders with `~`: they identify a person and say nothing about a lesson. */
export function withoutHome(text: string): string {
  return text.replace(homes, "~");
}

/** Also mounted homes, Windows user names with spaces, and the folder names that agents derive for transcripts. */
const homes = (() => {
  const name = "[\\p{L}\\p{M}\\p{N}_.@+-]{1,64}";
  const mounted = "(?:/var|/private|/export|(?:/mnt|/cygdrive)?/[a-z])?";
  return new RegExp(
    [
      `(?<![\\w.~)\\]}])(?:${mounted}/(?:home|Users)/${name}`,
      `[A-Za-z]:(?:/|\\\\{1,2})Users(?:/|\\\\{1,2})(?:${name}(?: ${name}){1,3}(?=\\\\)|${name})`,
      "(?:/var)?/root(?![\\w-]|\\.\\w))",
      "(?<![\\w-])(?:[A-Za-z]-)?-(?:home|Users)-[\\p{L}\\p{M}\\p{N}_]{1,64}",
    ].join("|"),
    "gu",
  );
})();

/** Cuts a text to its size inside a fence, where escapes count in full. */
export function cutToFit(text: string, most: number): string {
  if (most <= 0) return "";
  for (let room = most; room > 0; ) {
    // Without room for a note on what was cut, only the head stays. Some endpoints reject a split surrogate pair.
    const cut = (room >= leastShortened ? shorten(text, room) : text.slice(0, room)).toWellFormed();
    const size = fencedSize(cut) - 2;
    if (size <= most) return cut;
    room = Math.min(room - 1, Math.floor((room * most) / size));
  }
  return "";
}

/** Cuts a text to fit a fence on one line. */
export function fitOneLine(text: string, most: number): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return cutToFit(flat.length <= most ? flat : `${flat.slice(0, Math.max(0, most - 1))}…`, most);
}

/** Texts cut to at least this length say how much is left out. */
const leastShortened = 80;
