/**
 * Rows of a long table whose every row starts processes: all of them in `npm run test:all`; in `npm test` as many as
 * named, evenly spread, the first and the last among them.
 */
export function sampled<Row>(rows: readonly Row[], most: number): readonly Row[] {
  if (process.env.KNACK_TEST_ALL === "1" || rows.length <= most) return rows;
  const step = (rows.length - 1) / Math.max(1, most - 1);
  return Array.from({ length: most }, (_, n) => rows[Math.round(n * step)] as Row);
}

/** How large or how often: the first in `npm run test:all`, the second, which shows the same sooner, in `npm test`. */
export function scaled(whole: number, small: number): number {
  return process.env.KNACK_TEST_ALL === "1" ? whole : small;
}
