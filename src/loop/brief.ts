import { join } from "node:path";
import * as z from "zod";
import type { JsonObject } from "../base/index.ts";
import type { WorkerTask } from "./harness/harness.ts";
import { type Brought, type Dispatch, type LoopState, nameAttempt, nameLook } from "./machine.ts";
import {
  analysisSchema,
  curationSchema,
  explainMisfit,
  findingSchema,
  lightAnalysisSchema,
  lightStrategySchema,
  lookSchema,
  planSchema,
  proposalSchema,
  stepReportSchema,
  strategySchema,
} from "./messages.ts";

/** Where a run takes place. */
export interface RunPlaces {
  /** The work folder, with an artifact of each phase. */
  readonly work: string;
  /** Where steps do their work: a worktree of the repository, or an empty folder. */
  readonly workspace: string;
  /** The state folder as workers may read it. */
  readonly state: string;
}

/** What a worker is asked for: its artifact, below the work folder, and everything it is told. */
export interface Brief
  extends Pick<WorkerTask, "role" | "inputs" | "tools" | "outputs" | "writable" | "cwd"> {
  readonly artifact: string;
}

const light = (state: LoopState) => state.setup.tier === "light";

/** The artifact of a worker, below the work folder. */
export function nameArtifact({ id, role, phase, topic }: Dispatch): string {
  switch (role) {
    case "explorer":
      return phase === "execute" ? nameCheck(id) : `.${phase}/${topic}.json`;
    case "strategist":
      return ".strategize/strategy.json";
    case "planner":
      return ".plan/plan.json";
    case "step-worker":
      return nameReport(id);
    case "analyst":
      return ".debrief/analysis.json";
    case "promoter":
      return ".improve/proposal.json";
    case "consolidator":
      return ".memory-consolidation/curation.json";
  }
}

const nameReport = (worker: string) => `.execute/reports/${worker}.json`;
const nameCheck = (worker: string) => `.execute/checks/${worker}.json`;

/** Artifacts of workers that are back, which Knack leaves where they are and does not write itself. */
export function listEarlierArtifacts({ execution }: LoopState): readonly string[] {
  const { log = [], group = [], plans = [] } = execution ?? {};
  const attempts = [
    ...log.map(({ plan, stepId, retryCount }) => nameAttempt(plan, stepId, retryCount)),
    ...group.map(({ step, retry }) => nameAttempt(plans.length, step.id, retry)),
  ];
  return [
    ...attempts.flatMap((id) => [nameReport(id), nameCheck(nameLook(id))]),
    ...[".improve/proposal.json", ".memory-consolidation/curation.json"],
  ];
}

function chooseSchema({ role, phase }: Dispatch, state: LoopState): z.ZodType {
  switch (role) {
    case "explorer":
      return phase === "execute" ? lookSchema : findingSchema;
    case "strategist":
      return light(state) ? lightStrategySchema : strategySchema;
    case "planner":
      return planSchema;
    case "step-worker":
      return stepReportSchema;
    case "analyst":
      return light(state) ? lightAnalysisSchema : analysisSchema;
    case "promoter":
      return proposalSchema;
    case "consolidator":
      return curationSchema;
  }
}

/** What an artifact says, or why it is not what was asked for. */
export function readArtifact(
  asked: Dispatch,
  state: LoopState,
  value: unknown,
): { readonly brought: Brought } | { readonly misfit: string } {
  const parse = <Schema extends z.ZodType>(
    schema: Schema,
    read: (parsed: z.output<Schema>) => Brought | string,
  ) => {
    const parsed = schema.safeParse(value);
    if (!parsed.success) return { misfit: explainMisfit(parsed.error) };
    const brought = read(parsed.data);
    return typeof brought === "string" ? { misfit: brought } : { brought };
  };
  const { role, topic, step } = asked;
  switch (role) {
    case "explorer":
      if (step !== null)
        return parse(lookSchema, ({ data }) => ({
          as: "look",
          step: step.id,
          met: data.met,
          because: data.because,
        }));
      return parse(findingSchema, (finding) =>
        finding.topic === topic
          ? { as: "finding", topic: finding.topic, finding }
          : `it is about ${finding.topic}, not about ${topic}`,
      );
    case "strategist":
      if (!light(state))
        return parse(strategySchema, (strategy) => ({ as: "strategy", strategy, steps: null }));
      return parse(lightStrategySchema, ({ steps, ...strategy }) => ({ as: "strategy", strategy, steps }));
    case "planner":
      return parse(planSchema, ({ steps }) => ({ as: "plan", steps }));
    case "step-worker":
      return parse(stepReportSchema, (report) =>
        report.stepId === step?.id
          ? { as: "report", step: report.stepId, report }
          : `it is about step ${report.stepId}, not about ${step?.id}`,
      );
    case "analyst":
      return parse(
        light(state) ? lightAnalysisSchema : analysisSchema.extend({ improve: z.undefined().optional() }),
        ({ improve, ...analysis }) => ({
          as: "analysis",
          analysis,
          proposal: improve ?? null,
        }),
      );
    case "promoter":
      return parse(proposalSchema, (proposal) => ({ as: "proposal", proposal }));
    case "consolidator":
      return parse(curationSchema, (curation) => ({ as: "curation", curation }));
  }
}

/** Everything that a worker is told, with absolute paths. */
export function briefWorker(asked: Dispatch, state: LoopState, places: RunPlaces, now: number): Brief {
  const { work, workspace, state: stateFolder } = places;
  const { goal, mode } = state.setup;
  const artifact = nameArtifact(asked);
  const output = join(work, artifact);
  const inputs = {
    goal,
    workingDir: work,
    implStateDir: stateFolder,
    workspaceDir: workspace,
    outputPath: output,
    outputSchema: describeSchema(chooseSchema(asked, state)),
    msUntilDeadline: goal.deadline === null ? null : Math.max(0, goal.deadline - now),
    mode,
    ...listOwnInputs(asked, state, places),
  };
  const isWork = asked.role === "step-worker";
  return {
    ...{ artifact, inputs, role: asked.role, outputs: [output], cwd: workspace },
    tools: isWork ? "shell" : "read",
    writable: isWork ? [workspace] : [],
  };
}

function listOwnInputs(asked: Dispatch, state: LoopState, { work, state: stateFolder }: RunPlaces): object {
  const at = (path: string) => join(work, path);
  const kind = state.setup.goal.kind;
  const own = (folder: string) => (kind === null ? null : join(stateFolder, folder, kind));
  const { execution, strategy, setup } = state;
  switch (asked.role) {
    case "explorer":
      return asked.step === null
        ? { topic: asked.topic, scope: describeScope(asked.topic, state) }
        : { topic: asked.topic, stepSpec: asked.step, scope: describeLook(asked, state) };
    case "strategist":
      return {
        orientSummaryPath: at(".orient/summary.json"),
        priorStrategiesPath: own("strategies"),
        priorPlanTemplatesPath: light(state) ? own("plans") : undefined,
        outputDir: at(".strategize"),
        skillBundleCid: state.setup.promptDigest,
        implStateDirShaAtStart: state.setup.stateSha,
      };
    case "planner":
      return {
        strategyPath: at(".strategize/strategy.json"),
        orientSummaryPath: at(".orient/summary.json"),
        priorPlanTemplatesPath: own("plans"),
        replanContextPath: execution?.replan ? at(".plan/replan-context.json") : null,
        priorPlanArchives: (execution?.plans ?? []).map((_, n) => at(`.plan/plan-v${n + 1}.json`)),
      };
    case "step-worker":
      return { stepSpec: asked.step };
    case "analyst": {
      const [isOriented, given = []] = [state.log.some(({ phase }) => phase === "orient"), setup.givenFiles];
      const find = (path: string, isThere: boolean) => (isThere || given.includes(path) ? at(path) : null);
      return {
        strategyPath: find(".strategize/strategy.json", isOriented && strategy !== null),
        constitutionPath: find(".strategize/constitution.json", isOriented && strategy !== null),
        planPath: find(".plan/plan.json", state.steps !== null),
        executeSummaryPath: at(".execute/summary.json"),
        executeLogPath: find(".execute/log.jsonl", execution !== null),
        orientSummaryPath: find(".orient/summary.json", isOriented),
        debriefExplorerPaths: listProbed(state).map((topic) => at(`.debrief/${topic}.json`)),
        ownHistoryPath: join(stateFolder, "runs/index.json"),
      };
    }
    case "promoter":
      return { analysisPath: at(".debrief/analysis.json"), policyPath: join(stateFolder, "policy.json") };
    case "consolidator":
      return {
        analysisPath: state.analysis && at(".debrief/analysis.json"),
        improveSummaryPath: state.improved && at(".improve/summary.json"),
        improvePromotionsDir: state.improved && at(".improve/promotions"),
        policyPath: join(stateFolder, "policy.json"),
      };
  }
}

/** What there is to read of a debrief before its analyst. */
function listProbed({ probed, setup }: LoopState): string[] {
  const isCompared = setup.gathered.some(({ topic }) => topic === "own-history");
  return [
    ...probed.filter(({ finding }) => finding).map(({ topic }) => topic),
    ...(isCompared ? ["run-comparison"] : []),
  ];
}

/** What an explorer is to look at. */
function describeScope(topic: string | null, { strategy }: LoopState): string {
  switch (topic) {
    case "goal-parse":
      return "What the goal asks for, what it does not say, how its success could be checked, and whether it can be done at all.";
    case "world-state":
      return "The state of the workspace as far as the goal is concerned: what is there, what is missing, what fails now.";
    case "outcome-probe": {
      const criteria = strategy?.successCriteria.map(({ id, text }) => `${id}: ${text}`).join("\n") ?? "";
      return `The state of the workspace now, after the work. For each success criterion, whether it holds and how you saw it:\n${criteria}`;
    }
    default:
      return `What is known about ${topic}.`;
  }
}

function describeLook({ step }: Dispatch, { execution }: LoopState): string {
  const check = step?.successSignal;
  const report = execution?.group.find((one) => one.step.id === step?.id)?.report;
  const question = check?.kind === "judge" ? check.question : "";
  return `Whether this holds now, by what you see yourself and not by what the step's worker says: ${question}\nIts worker says: ${report?.summary ?? ""}`;
}

function describeSchema(schema: z.ZodType): JsonObject {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return json as JsonObject;
}
