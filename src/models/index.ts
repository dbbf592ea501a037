export {
  type AnswerForm,
  type Asker,
  askModel,
  type ModelAnswer,
  toJsonSchema,
} from "./ask.ts";
export {
  agentExtraUsd,
  breakUntil,
  describeDaySpend,
  estimateCost,
  estimateMaxCost,
  findPrice,
  formatUsd,
  type ModelLimits,
  type ModelUse,
  readModelUse,
  readPurposeSpend,
} from "./budget.ts";
export { chooseModel, createFileModel, unsetModel } from "./choose.ts";
export type { Model, NoReply } from "./model.ts";
export { escapeMentions } from "./programs.ts";
export { isOnPath, runProgram } from "./run-program.ts";
export { findSignedIn, type SignedInAgent } from "./signed-in.ts";
export { type AskedFor, recordSpend, reserveSpend } from "./spend.ts";
