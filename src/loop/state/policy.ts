import * as z from "zod";

/** Kinds of changes that a promoter may propose; hooks, tools and harnesses are a person's to change. */
const changeKinds = ["config-edit", "skill-edit", "new-config", "new-skill"] as const;

/** What a person sets in `policy.json`. Everything has a default, and an unknown name is an error. */
export const policySchema = z.strictObject({
  /** Kinds of changes that are accepted. */
  allow: z.array(z.enum(changeKinds)).default([...changeKinds]),
  /** A file may be archived when no run used it for so many runs. */
  unusedRuns: z.int().min(1).default(20),
  /** Notes beyond this size are thrown away, the oldest first. */
  maxNotesBytes: z.int().min(0).default(1_000_000),
  keepNotes: z.int().min(0).default(50),
  /** When runs count as proof that a change made them worse. */
  revert: z
    .strictObject({
      minSamplesPerArm: z.int().min(2).default(30),
      minGradedPerArm: z.int().min(2).default(10),
      alpha: z.number().min(0.0001).max(0.5).default(0.05),
      recentAttemptsWindow: z.int().min(5).default(50),
    })
    .prefault({}),
});
export type LoopPolicy = z.output<typeof policySchema>;

/** A run in `runs/index.json`, which workers read as the history of a kind. */
export const pastRunSchema = z.object({
  id: z.string(),
  goalId: z.string(),
  kind: z.string().nullable(),
  description: z.string(),
  at: z.number(),
  elapsedMs: z.number(),
  approach: z.string().nullable(),
  successCriteriaMet: z.enum(["yes", "no", "partial"]).nullable(),
  /** The share of the criteria that were met; null where nothing was measured. */
  score: z.number().min(0).max(1).nullable(),
  returnReason: z.string().nullable(),
  /** The state that the run began with. */
  stateSha: z.string(),
  /** Files of the state folder that it went by. */
  used: z.array(z.string()),
  /** What went wrong, in short. */
  failures: z.array(z.string()).default([]),
});
export type PastRun = z.output<typeof pastRunSchema>;
