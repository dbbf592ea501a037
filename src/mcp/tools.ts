import { eventExpand } from "./event-expand.ts";
import { skillLearningFinish } from "./skill-learning-finish.ts";
import { skillLearningStart } from "./skill-learning-start.ts";
import { skillLoad } from "./skill-load.ts";
import { skillRate } from "./skill-rate.ts";
import { skillSearch } from "./skill-search.ts";
import { skillSignal } from "./skill-signal.ts";
import { skillUsed } from "./skill-used.ts";
import type { Tool } from "./tool.ts";

/** Everything that an agent can ask of Knack, in the order in which it is listed. */
export const tools: readonly Tool[] = [
  skillSearch,
  skillLoad,
  skillUsed,
  skillLearningStart,
  skillLearningFinish,
  eventExpand,
  skillSignal,
  skillRate,
];
