import { KnackError } from "../core/errors.ts";

/** The time that a person means: a date, or how long ago. */
export function timeSince(since: string, now: number): number {
  const ago = /^(\d+)([hdw])$/.exec(since);
  const hours = { h: 1, d: 24, w: 168 }[ago?.[2] ?? ""];
  const at = ago && hours ? now - Number(ago[1]) * hours * 3_600_000 : Date.parse(since);
  if (!Number.isNaN(at)) return at;
  throw new KnackError("WRONG_USAGE", `"${since}" is no time.`, {
    hint: "Give a date (2026-11-01) or an age (12h, 7d, 4w).",
  });
}
