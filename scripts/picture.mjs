// npm run picture: docs/knack.svg and docs/live.svg, drawn from a real terminal (tmux). Words choose some:
// npm run picture -- live
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, setUp } from "./setup.mjs";
import { loadTypeScript } from "./typescript.mjs";

const columns = 118;
await setUp();
loadTypeScript();
const { knackScreen } = await import("./pictures/knack.mjs");
const { liveScreen } = await import("./pictures/live.mjs");
const { svgOf } = await import("./pictures/svg.mjs");
const pictures = [
  { name: "knack", take: knackScreen, label: "knack in a terminal" },
  { name: "live", take: liveScreen, label: "Claude Code with Knack in a terminal" },
];
const chosen = process.argv.slice(2);
for (const { name, take, label } of pictures) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  writeFileSync(join(root, "docs", `${name}.svg`), svgOf(await take(columns), { columns, label }));
  console.log(`docs/${name}.svg`);
}
