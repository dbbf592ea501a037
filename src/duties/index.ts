export { openDuties } from "./open-duties.ts";
export { type GoalInput, goalInput, goalVerbs, verbs } from "./verbs.ts";
export type { KeepInto } from "./view.ts";
