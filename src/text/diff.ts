import { createTwoFilesPatch } from "diff";

/** What a change does to a file, as a unified diff; empty when it does nothing. */
export function renderDiff(path: string, before: string | null, after: string | null): string {
  if (before === after) return "";
  const [from, to] = [
    before === null ? "/dev/null" : `a/${path}`,
    after === null ? "/dev/null" : `b/${path}`,
  ];
  const patch = createTwoFilesPatch(from, to, before ?? "", after ?? "", undefined, undefined, {
    context: 3,
    // Two long texts with nothing in common would take minutes; they are shown as one replaced by the other.
    maxEditLength: 5_000,
  });
  return patch === undefined ? replaced(from, to, before ?? "", after ?? "") : patch.replace(/^=+\n/, "");
}

function replaced(from: string, to: string, before: string, after: string): string {
  const lines = (sign: string, text: string) =>
    text === ""
      ? []
      : text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => sign + line);
  const [old, fresh] = [lines("-", before), lines("+", after)];
  return [`--- ${from}`, `+++ ${to}`, `@@ -1,${old.length} +1,${fresh.length} @@`, ...old, ...fresh, ""].join(
    "\n",
  );
}
