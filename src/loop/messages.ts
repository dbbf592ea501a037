import * as z from "zod";

/*
 * What goes through a run, each message with one schema: its type and the JSON Schema that a worker is given come from
 * it. Field names are as harnesses know them.
 */

const text = z.string().trim().min(1).max(20_000);
const name = z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/);
const list = <Item extends z.ZodType>(item: Item, most = 200) => z.array(item).max(most).default([]);
const count = z.int().min(0);

// --- The goal ---

/** A goal: `kind` groups runs, and is not interpreted; a deadline is milliseconds since 1970, or a date. */
export const goalSchema = z.object({
  id: name.optional(),
  description: text,
  kind: name.nullish(),
  deadline: z
    .union([z.number().int().min(0), z.string().transform((word, at) => parseDate(word, at))])
    .nullish(),
  spec: z.unknown().optional(),
});

function parseDate(word: string, at: z.RefinementCtx<string>): number {
  const time = Date.parse(word);
  if (Number.isNaN(time)) at.addIssue({ code: "custom", message: `"${word}" is not a date` });
  return time;
}

// --- Checks ---

/**
 * How it is told whether something holds: by code where it can be (a command that exits with 0, a file, words in a
 * file), else by a worker that looks.
 */
const checkSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("command"), command: text }),
  z.object({ kind: z.literal("file-exists"), path: text }),
  z.object({ kind: z.literal("file-contains"), path: text, text }),
  z.object({ kind: z.literal("judge"), question: text }),
]);
export type LoopCheck = z.output<typeof checkSchema>;

/** A check, or a sentence that a worker has to look at. */
const signalSchema = z.union([
  checkSchema,
  text.transform((question): LoopCheck => ({ kind: "judge", question })),
]);

const criterionSchema = z.object({ id: name, text, check: signalSchema });
export type Criterion = z.output<typeof criterionSchema>;

// --- Orient ---

export const findingSchema = z.object({
  topic: name,
  gatheredAt: z.union([z.string(), z.number()]),
  data: z.record(z.string(), z.unknown()),
  flags: list(z.enum(["stale", "partial", "access-denied"])),
});
export type TopicFinding = z.output<typeof findingSchema>;

/** What a worker says that looked whether something holds. */
export const lookSchema = findingSchema.extend({ data: z.looseObject({ met: z.boolean(), because: text }) });

// --- Strategize ---

const postures = ["early-return", "hold-and-revise", "continuous-observation"] as const;

export const strategySchema = z.object({
  approach: text,
  rationale: text,
  successCriteria: z.array(criterionSchema).min(1).max(20),
  timingPosture: z.enum(postures),
  /** For the postures that hold and observe: until when, and how often they look. */
  window: z
    .object({ ms: count.nullish(), untilTs: count.nullish(), everyMs: count.min(1).nullish() })
    .nullish(),
  constraints: list(text),
  /** Files of the state folder that the approach goes by, as paths below it. */
  used: list(z.string()),
  rejectedAlternatives: list(z.object({ approach: text, reason: text })),
});
export type Strategy = z.output<typeof strategySchema>;

// --- Plan ---

const timerSchema = {
  durationMs: count.nullish(),
  untilTs: count.nullish(),
  condition: signalSchema.nullish(),
};

const stepSchema = z
  .object({
    id: name,
    kind: z.enum(["work", "wait"]),
    concurrency: z
      .string()
      .regex(/^(sequential|parallel-batch-[\w-]{1,40})$/)
      .default("sequential"),
    description: text,
    inputs: z.unknown().optional(),
    toolsNeeded: list(z.string()),
    expectedOutputs: list(text, 50),
    successSignal: signalSchema.nullish(),
    /** When to give up: in words for the worker, or how often to try again and what to do then. */
    abortCondition: z
      .union([
        text,
        z.object({
          retries: count.max(5),
          otherwise: z.enum(["continue", "replan", "abort"]).default("replan"),
        }),
      ])
      .nullish(),
    ...timerSchema,
  })
  .superRefine((step, context) => {
    if (step.kind === "work" && !step.successSignal)
      context.addIssue({ code: "custom", message: `step ${step.id} has no successSignal` });
    if (step.kind === "wait" && step.durationMs == null && step.untilTs == null && step.condition == null)
      context.addIssue({ code: "custom", message: `step ${step.id} waits for nothing` });
    if (step.condition?.kind === "judge" && step.durationMs == null && step.untilTs == null)
      context.addIssue({
        code: "custom",
        message: `step ${step.id} waits for what code cannot check: give a command, a file, a duration or a time`,
      });
  });
export type LoopStep = z.output<typeof stepSchema>;

const stepsSchema = z
  .array(stepSchema)
  .min(1)
  .max(100)
  .superRefine((steps, context) => {
    const twice = steps.find(({ id }, at) => steps.findIndex((other) => other.id === id) < at);
    if (twice) context.addIssue({ code: "custom", message: `two steps are called ${twice.id}` });
  });

/** What a planner writes: criteria and posture are the strategy's, and are copied by Knack. */
export const planSchema = z.object({ steps: stepsSchema });

/** What one worker writes who both picks the approach and plans it. */
export const lightStrategySchema = strategySchema.extend({ steps: stepsSchema });

// --- Execute ---

export const stepReportSchema = z.object({
  stepId: name,
  status: z.enum(["success", "partial", "failed"]),
  outputsWritten: list(text),
  summary: text,
  blockers: list(text),
  /** Whether the step's condition for giving up holds. */
  abort: z.boolean().default(false),
});
export type StepReport = z.output<typeof stepReportSchema>;

export const returnReasons = [
  "all-steps-completed",
  "early-return",
  "hold-and-revise-window-end",
  "continuous-observation-window-end",
  "abort",
] as const;
export const decisions = ["continue", "retry-step", "replan", "abort"] as const;

export const executeSummarySchema = z.object({
  stepsCompleted: z.array(z.string()),
  stepsFailed: z.array(z.string()),
  decisions: z.array(z.enum(decisions)),
  elapsedMs: z.number(),
  returnReason: z.enum(returnReasons),
});

// --- Debrief ---

const changeShape = z.object({
  changeKind: z.enum([
    ...(["skill-edit", "new-skill", "config-edit", "new-config", "hook-edit", "new-hook"] as const),
    ...(["new-tool", "operator-request", "harness-patch"] as const),
  ]),
  /** Below the state folder, such as `strategies/build/cache-first.md`. */
  target: z.string().min(1).max(300),
  /** The whole new text; null removes the file. */
  content: z.string().max(100_000).nullable(),
  summary: text,
  /** The recommendation, or the observation, that it follows from. */
  because: text,
});

const requestSchema = z.object({ what: text, why: text, howToGrant: text, blocksKinds: list(z.string()) });

export const proposalSchema = z.object({
  changes: list(changeShape, 20),
  rejected: list(z.object({ recommendation: text, reason: text })),
  operatorRequests: list(requestSchema, 20),
});
export type ImproveProposal = z.output<typeof proposalSchema>;

export const analysisSchema = z.object({
  successCriteriaMet: z.enum(["yes", "no", "partial"]),
  successCriteriaShortfall: z.string().nullish(),
  divergencesFromPlan: list(
    z.object({
      stepId: z.string(),
      what: text,
      attributedCause: z.enum([
        ...(["prompt", "tool-choice", "delegation", "model", "context", "plan-wrong"] as const),
        "world-state-changed",
      ]),
      evidence: text,
    }),
  ),
  crossOperatorSignals: list(z.record(z.string(), z.unknown())),
  trend: z
    .object({
      kind: z.string().nullish(),
      lastNRuns: count,
      passRate: z.number().min(0).max(1).nullish(),
      direction: z.string(),
      notableFailureShapes: list(z.string()),
    })
    .nullish(),
  recommendationsForImprove: list(z.union([text, z.looseObject({ recommendation: text })])),
});
export type Analysis = z.output<typeof analysisSchema>;

/** What one worker writes who both analyses the run and proposes changes. */
export const lightAnalysisSchema = analysisSchema.extend({ improve: proposalSchema.optional() });

// --- Consolidate ---

export const curationSchema = z.object({
  /** Files of the state folder that nothing uses any more. */
  archive: list(z.object({ path: z.string(), reason: text })),
  /** Files that say the same, and the text that replaces them. */
  merge: list(z.object({ from: z.array(z.string()).min(2), into: z.string(), content: text })),
  /** Commits of the state folder that are to be taken back. */
  revert: list(z.object({ sha: z.string(), reason: text })),
  conflictsResolved: list(z.object({ what: text, resolution: text })),
  /** Files of the work folder that are not to be handed on. */
  movedToPrivate: list(z.string()),
});
export type Curation = z.output<typeof curationSchema>;

/** Why a value does not have a message's form, in a line. */
export function explainMisfit(error: z.ZodError): string {
  const [first] = error.issues;
  const path = first?.path.join(".");
  return path ? `${path}: ${first?.message}` : (first?.message ?? "it has another form");
}
