/** A text without what its author marked as private; what is not closed is private to the end. */
export function dropPrivate(text: string): string {
  if (!mark.test(text)) return text;
  let [kept, depth, from] = ["", 0, 0];
  for (const { index, 0: tag, 1: slash } of text.matchAll(marks)) {
    if (depth === 0) kept += text.slice(from, index);
    depth = slash === "" ? depth + 1 : Math.max(0, depth - 1);
    from = index + tag.length;
  }
  return (depth === 0 ? kept + text.slice(from) : kept).trim();
}

const mark = /<\s*private\b/i;
const marks = /<\s*(\/?)\s*private\b[^<>]*>/gi;
