export { loopTiers } from "./begin.ts";
export type { RunningWorker } from "./drive.ts";
export { findPhase, loopModes, phaseRanges } from "./machine.ts";
export { type NextStep, openLoop, type RunView } from "./open-loop.ts";
export { clientHarness } from "./run.ts";
