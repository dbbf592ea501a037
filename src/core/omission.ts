import type { Choice } from "./dossier.ts";
import { fitted } from "./fence.ts";
import type { Outlined } from "./outline.ts";
import { type Policy, policy } from "./policy.ts";
import type { OmittedSpan } from "./review.ts";
import { several } from "./words.ts";

/** What happened in a stretch of events, in numbers. */
interface Tally {
  from: number;
  to: number;
  count: number;
  calls: number;
  replies: number;
  prompts: number;
  failed: number;
  readonly tools: Map<string, number>;
}

/** What is not told, in a few stretches; where there are many, small ones are told together with what lies between them. */
export function omittedFrom(
  { events, ids, stretches }: Pick<Choice, "events" | "ids" | "stretches">,
  told: ReadonlySet<number>,
  { review }: Policy,
): OmittedSpan[] {
  const starts = new Set(stretches.map(({ start }) => start));
  const spans: Tally[][] = [];
  let open: Tally | null = null;
  for (const [at, event] of events.entries()) {
    if (starts.has(at)) spans.push([]);
    if (starts.has(at) || told.has(at)) open = null;
    if (told.has(at)) continue;
    if (open === null) {
      open = { from: at, to: at, count: 0, calls: 0, replies: 0, prompts: 0, failed: 0, tools: new Map() };
      spans.at(-1)?.push(open);
    }
    count(open, at, event);
  }
  joinSmallest(spans, review.spans);
  return spans.flat().map((span) => ({
    range: [ids(span.from), ids(span.to)],
    count: span.count,
    summary: fitted(summaryOf(span), review.summaryChars),
  }));
}

function count(span: Tally, at: number, { kind, tool, outcome }: Outlined): void {
  span.to = at;
  span.count++;
  if (kind === "prompt") span.prompts++;
  if (kind === "reply") span.replies++;
  if (outcome === "failed" || outcome === "rejected") span.failed++;
  if (kind !== "call") return;
  span.calls++;
  const name = (tool ?? "?").slice(0, policy.review.toolChars);
  span.tools.set(name, (span.tools.get(name) ?? 0) + 1);
}

/** Neighbours of one session become one, the smallest first, until there are few enough. */
function joinSmallest(sessions: Tally[][], most: number): void {
  let left = sessions.reduce((sum, spans) => sum + spans.length, 0) - most;
  for (; left > 0; left--) {
    let best: { spans: Tally[]; at: number; count: number } | null = null;
    for (const spans of sessions)
      for (let at = 0; at + 1 < spans.length; at++) {
        const count = (spans[at] as Tally).count + (spans[at + 1] as Tally).count;
        if (best === null || count < best.count) best = { spans, at, count };
      }
    if (best === null) return;
    const [first, second] = best.spans.slice(best.at, best.at + 2) as [Tally, Tally];
    best.spans.splice(best.at, 2, joined(first, second));
  }
}

function joined(a: Tally, b: Tally): Tally {
  const tools = new Map(a.tools);
  for (const [tool, count] of b.tools) tools.set(tool, (tools.get(tool) ?? 0) + count);
  return {
    from: a.from,
    to: b.to,
    count: a.count + b.count,
    calls: a.calls + b.calls,
    replies: a.replies + b.replies,
    prompts: a.prompts + b.prompts,
    failed: a.failed + b.failed,
    tools,
  };
}

/** `14 calls: 9 Read, 3 Grep, 2 Bash; 2 replies; nothing failed`. */
function summaryOf({ count, calls, replies, prompts, failed, tools }: Tally): string {
  const often = [...tools].sort(([, a], [, b]) => b - a);
  const named = often.slice(0, policy.review.tools).map(([tool, times]) => `${times} ${tool}`);
  const others = often.slice(policy.review.tools).reduce((sum, [, times]) => sum + times, 0);
  const how = [...named, ...(others > 0 ? [`${others} others`] : [])].join(", ");
  const marks = count - calls - replies - prompts;
  return [
    ...(prompts > 0 ? [several(prompts, "prompt")] : []),
    ...(replies > 0 ? [replies === 1 ? "1 reply" : `${replies} replies`] : []),
    ...(marks > 0 ? [several(marks, "mark")] : []),
    ...(calls > 0
      ? [`${several(calls, "call")}: ${how}`, failed === 0 ? "nothing failed" : `${failed} failed`]
      : []),
  ].join("; ");
}
