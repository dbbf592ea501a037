// Files of weights, and the ways in which their numbers may be written.

/** Each way, with what it makes of a number. A worker without a hint tries them in this order. */
export const readings = {
  plain: (text) => Number(text),
  "comma-for-thousands": (text) => Number(text.replaceAll(",", "")),
  "comma-for-decimals": (text) => Number(text.replaceAll(".", "").replace(",", ".")),
};

export function findStation(text) {
  return /^station;(\w+)$/m.exec(text)[1];
}

/** The sum of a file's weights in hundredths, read in one of the ways; null where something is no number so. */
export function addUp(text, reading) {
  const weights = [...text.matchAll(/^crate \d+;(.+)$/gm)].map(([, written]) => readings[reading](written));
  return weights.some(Number.isNaN)
    ? null
    : weights.reduce((sum, weight) => sum + Math.round(weight * 100), 0);
}

/** What the file itself says that the sum is, in hundredths. */
export function controlOf(text) {
  return Number(/^control;(\d+)$/m.exec(text)[1]);
}

/** Makes a file as a station writes it. */
export function writeFile({ station, style, weights }) {
  const write = {
    plain: (weight) => weight.toFixed(2),
    english: (weight) => weight.toLocaleString("en-GB", { minimumFractionDigits: 2 }),
    german: (weight) => weight.toLocaleString("de-DE", { minimumFractionDigits: 2 }),
  }[style];
  const rows = weights.map((weight, n) => `crate ${n + 1};${write(weight)}`);
  const control = weights.reduce((sum, weight) => sum + Math.round(weight * 100), 0);
  return [`station;${station}`, ...rows, `control;${control}`, ""].join("\n");
}
