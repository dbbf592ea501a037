export { loopTiers } from "./begin.ts";
export type { RunningWorker } from "./drive.ts";
export { findPhase, loopModes, phaseRanges } from "./machine.ts";
export { clientHarness, type NextStep, openLoop, type RunView } from "./open-loop.ts";
