import { redact } from "../core/redact.ts";
import type { Learned } from "../engine/learn.ts";
import type { Env } from "./main.ts";
import { calledAs, counted } from "./terminal.ts";

type JudgedSession = Learned["judged"][number];

/** What models made of sessions, for a program. */
export function judgedOnWire(judged: readonly JudgedSession[], pathOf: (session: string) => string) {
  return {
    sessions: judged.length,
    kept: judged.reduce((sum, { kept }) => sum + kept.length, 0),
    own: judged.reduce((sum, { own }) => sum + own.length, 0),
    dropped: judged.flatMap(({ session, dropped }) =>
      dropped.map(({ kind, lesson, because }) => ({
        session: pathOf(session),
        kind,
        lesson: redact(lesson),
        because: redact(because),
      })),
    ),
    fellBack: judged.flatMap(({ session, fellBack }) =>
      fellBack === null ? [] : [{ session: pathOf(session), because: redact(fellBack) }],
    ),
  };
}

/** The same for a person, in a line or two. */
export function judgedLines(judged: readonly JudgedSession[], env: Env): string[] {
  const { kept, own, dropped, fellBack } = judgedOnWire(judged, (session) => session);
  const models = [...new Set(judged.map(({ model }) => model))].join(", ");
  const added = own > 0 ? `, ${own} of its own` : "";
  const reasons = new Map<string, number>();
  for (const { because } of fellBack) reasons.set(because, (reasons.get(because) ?? 0) + 1);
  return [
    ...(kept + own + dropped.length > 0
      ? [
          `Judged by ${models}: ${kept} kept, ${dropped.length} dropped${added}${dropped.length > 0 ? ` (why: ${calledAs(env)} instincts --dropped)` : ""}.`,
        ]
      : []),
    ...[...reasons].map(
      ([because, times]) =>
        `Not judged, so what the rules say stands: ${counted(times, "session")}, ${because}`,
    ),
  ];
}
