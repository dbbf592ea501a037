import type { LoopState } from "./machine.ts";
import { type Digest, digestCriteria } from "./render.ts";

/**
 * A run as OpenTelemetry spans, in the JSON of its protocol: one for the run, and below it one for each phase, with the
 * frozen criteria on the strategy's and the decisions about steps as events. Words of workers are not in it.
 */
export function describeSpans(run: string, state: LoopState, digest: Digest): object {
  const { setup, log, execution, strategy, place } = state;
  const traceId = digest(run).slice(0, 32);
  const nameSpan = (name: string) => digest(`${run} ${name}`).slice(0, 16);
  const end = log.at(-1)?.at ?? setup.startedAt;
  const root = {
    ...{ traceId, spanId: nameSpan(""), name: "knack.loop", kind: 1 },
    ...{ startTimeUnixNano: nano(setup.startedAt), endTimeUnixNano: nano(end) },
    attributes: listAttributes({
      "knack.run": run,
      "knack.mode": setup.mode,
      "knack.range": setup.range,
      "knack.end": place.kind === "ended" ? place.end : "open",
      "knack.usd": state.usd,
      "knack.workers": state.workers,
    }),
    status: { code: place.kind === "ended" && place.end === "completed" ? 1 : 2 },
  };
  const constitution = strategy && {
    "knack.criteria": digestCriteria(strategy, digest),
    "knack.posture": strategy.timingPosture,
    "knack.prompts": setup.promptDigest,
    "knack.state": setup.stateSha,
  };
  const phases = log.map(({ phase, status, at }, n) => ({
    ...{ traceId, spanId: nameSpan(phase), parentSpanId: root.spanId, name: `knack.loop.${phase}`, kind: 1 },
    ...{ startTimeUnixNano: nano(log[n - 1]?.at ?? setup.startedAt), endTimeUnixNano: nano(at) },
    attributes: listAttributes({ "knack.status": status, ...(phase === "strategize" ? constitution : {}) }),
    events: phase === "execute" ? (execution?.log ?? []).map(describeStep) : [],
    status: { code: status === "failed" || status === "aborted" ? 2 : 1 },
  }));
  const resource = { attributes: listAttributes({ "service.name": "knack" }) };
  return {
    resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "knack.loop" }, spans: [root, ...phases] }] }],
  };
}

function describeStep({
  at,
  stepId,
  decision,
  retryCount,
}: NonNullable<LoopState["execution"]>["log"][number]): object {
  const attributes = listAttributes({ "knack.step": stepId, "knack.retry": retryCount });
  return { timeUnixNano: nano(at), name: decision, attributes };
}

function nano(at: number): string {
  return `${BigInt(Math.round(at)) * 1_000_000n}`;
}

function listAttributes(values: Readonly<Record<string, string | number>>): object[] {
  return Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === "string" ? { stringValue: value } : { doubleValue: value },
  }));
}
