import { cpus } from "node:os";
import { checkingDuties } from "./duties.ts";
import { evolving } from "./evolve.ts";
import { hooks } from "./hooks.ts";
import { learning } from "./learning.ts";
import { library } from "./library.ts";
import { looping } from "./loop.ts";
import type { Figure } from "./measure.ts";
import { page } from "./page.ts";
import { promoting } from "./promote.ts";
import { reading } from "./reading.ts";
import { recalling } from "./recall.ts";
import { reviewing } from "./review.ts";
import { scale } from "./scale.ts";
import { startUp } from "./start-up.ts";
import { team } from "./team.ts";
import { turns } from "./turns.ts";

const parts: Record<string, () => Promise<Figure[]>> = {
  reading,
  learning,
  recall: recalling,
  library,
  promote: promoting,
  evolve: evolving,
  review: reviewing,
  scale,
  "start-up": startUp,
  hooks,
  turns,
  duties: checkingDuties,
  page,
  loop: looping,
  team,
};

const asked = process.argv.slice(2);
const figures: Figure[] = [];
console.log(
  `Node ${process.versions.node}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}\n`,
);
for (const [name, part] of Object.entries(parts)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.log(name);
  figures.push(...(await part()));
}
console.log();
for (const { what, value, unit, bar, reached } of figures) {
  console.log(`${reached ? "reached" : "MISSED "}  ${what}: ${value.toFixed(2)}${unit} (${bar})`);
}
process.exitCode = figures.every(({ reached }) => reached) ? 0 : 1;
