export { loopTiers } from "./begin.ts";
export type { RunningWorker } from "./drive.ts";
export { loopModes, phaseRanges } from "./machine.ts";
export { openLoop, type RunView } from "./open-loop.ts";
