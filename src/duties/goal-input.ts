import * as z from "zod";
import { tiers, waiverReasons } from "../records/index.ts";

/** All arguments about a goal; each verb takes some of them. */
export const goalInput = z.object({
  goal: z.string().nullish(),
  text: z.string().max(4_000).nullish(),
  category: z.string().max(60).nullish(),
  deadline: z.number().nullish(),
  batch: z.string().max(60).nullish(),
  prefetch: z.array(z.string().max(120)).max(10).nullish(),
  reader: z.boolean().nullish(),
  again: z.string().nullish(),
  novelty: z.number().nullish(),
  impact: z.number().nullish(),
  surprise: z.number().nullish(),
  relevance: z.number().nullish(),
  repetition: z.number().nullish(),
  observation: z.string().nullish(),
  page: z.string().nullish(),
  tier: z.enum(tiers).nullish(),
  sufficient: z.boolean().nullish(),
  confidence: z.number().min(0).max(1).nullish(),
  due: z.number().nullish(),
  prediction: z.string().nullish(),
  outcome: z.string().nullish(),
  because: z.string().nullish(),
  evidence: z.array(z.string().max(500)).max(20).nullish(),
  blocks: z.array(z.string().max(200)).max(20).nullish(),
  conclusion: z.string().nullish(),
  holds: z.boolean().nullish(),
  duty: z.string().nullish(),
  reason: z.enum(waiverReasons).nullish(),
  cites: z.string().nullish(),
  topic: z.string().nullish(),
  hours: z.number().min(0).max(72).nullish(),
  unlearned: z.boolean().nullish(),
});
export type GoalInput = z.output<typeof goalInput>;
