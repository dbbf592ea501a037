export { type GoalInput, goalInput } from "./goal-input.ts";
export { openDuties } from "./open-duties.ts";
export { goalVerbs, verbs } from "./verbs.ts";
export type { GoalNeeds } from "./view.ts";
