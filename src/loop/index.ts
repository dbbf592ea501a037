export { tiers as loopTiers } from "./begin.ts";
export type { RunningWorker } from "./drive.ts";
export { modes, ranges } from "./machine.ts";
export { openLoop, type RunView } from "./open-loop.ts";
