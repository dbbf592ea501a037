/** A screen with its colours, as an SVG that needs nothing but a font of fixed width. */
export function svgOf(screen, { columns, label }) {
  const [cell, line, edge] = [8.4, 18, 16];
  const lines = spansOf(screen);
  const [width, height] = [columns * cell + 2 * edge, lines.length * line + 2 * edge];
  const texts = lines.map((spans, at) => {
    const parts = spans.map(({ style, words }) => `<tspan${style}>${escaped(words)}</tspan>`);
    return `<text x="${edge}" y="${edge + (at + 0.75) * line}">${parts.join("")}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" xml:space="preserve" role="img" aria-label="${label}">`,
    "<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre;fill:#d8dee9}.b{font-weight:700;fill:#fff}.d{fill:#8a93a3}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#e3b341}</style>",
    `<rect width="100%" height="100%" rx="8" fill="#161b22"/>`,
    ...texts,
    "</svg>",
    "",
  ].join("\n");
}

/** The runs of one look on each line. What a terminal's code switches on stays on at the end of a line. */
function spansOf(screen) {
  const on = { ...plain };
  return screen.split("\n").map((line) => {
    const spans = [];
    for (const part of line.split(/(\u001b\[[\d;]*m)/)) {
      const codes = /^\u001b\[([\d;]*)m$/.exec(part)?.[1];
      if (codes !== undefined) turn(on, codes.split(";").map(Number));
      else if (part !== "") spans.push({ style: styleOf(on), words: part });
    }
    return spans;
  });
}

const plain = { b: false, d: false, r: false, g: false, y: false, colour: null };

function styleOf({ colour, ...on }) {
  const names = Object.keys(on).filter((name) => on[name]);
  return [
    names.length > 0 ? ` class="${names.join(" ")}"` : "",
    colour === null ? "" : ` style="fill:${colour}"`,
  ].join("");
}

/** Takes codes on; backgrounds are left out. */
function turn(on, [code, ...rest]) {
  if (code === undefined) return;
  if (code === 38 || code === 48) {
    const [kind, number] = rest;
    if (code === 38 && kind === 5) on.colour = ofPalette(number);
    turn(on, rest.slice(kind === 5 ? 2 : 4));
    return;
  }
  if (code === 0) Object.assign(on, plain);
  else if (code === 1) on.b = true;
  else if (code === 2) on.d = true;
  else if (code === 22) on.b = on.d = false;
  else if (code === 31) on.r = true;
  else if (code === 32) on.g = true;
  else if (code === 33) on.y = true;
  else if (code === 39) Object.assign(on, { r: false, g: false, y: false, colour: null });
  turn(on, rest);
}

/** A colour of the 256 that terminals number: a cube of 6 by 6 by 6, then greys. The first 16 are each terminal's own. */
function ofPalette(number) {
  if (number < 16) return null;
  if (number >= 232) return hex(Array(3).fill(8 + (number - 232) * 10));
  const steps = [36, 6, 1].map((size) => Math.floor((number - 16) / size) % 6);
  return hex(steps.map((step) => (step === 0 ? 0 : 55 + step * 40)));
}

function hex(parts) {
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
