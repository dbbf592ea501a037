/** One link of the chain: whether it holds, what was seen, and what to do if it does not. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly says: string;
  /** What to do; beside a link that holds, what would put it there or switch it on. */
  readonly repair: string | null;
}

export function right(name: string, says: string): Check {
  return { name, ok: true, says, repair: null };
}

export function wrong(name: string, says: string, repair: string): Check {
  return { name, ok: false, says, repair };
}

/** Nothing is wrong with what somebody does not have, or does not want. */
export function absent(name: string, says: string, repair: string): Check {
  return { name, ok: true, says, repair };
}

/** How long ago, in the largest unit that fits. */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  const units = [
    [86_400, "day"],
    [3_600, "hour"],
    [60, "minute"],
  ] as const;
  for (const [length, unit] of units) {
    const count = Math.floor(seconds / length);
    if (count > 0) return `${count} ${unit}${count === 1 ? "" : "s"} ago`;
  }
  return "just now";
}
