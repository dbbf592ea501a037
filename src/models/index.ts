export {
  type AnswerForm,
  type AskedFor,
  type Asker,
  askModel,
  type ModelAnswer,
  toJsonSchema,
} from "./ask.ts";
export {
  agentExtraUsd,
  breakUntil,
  describeDaySpend,
  formatUsd,
  type ModelLimits,
  type ModelUse,
  readModelCalls,
  readModelUse,
  type Spend,
  sumForPurpose,
} from "./budget.ts";
export { chooseModel } from "./choose.ts";
export { createFileModel } from "./files.ts";
export { type Model, type NoReply, unsetModel } from "./model.ts";
export { estimateMaxCost, findPrice } from "./price.ts";
