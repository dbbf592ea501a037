import { redact } from "../core/redact.ts";
import { several } from "../core/words.ts";
import type { Learned } from "../engine/learn.ts";
import type { NoReply } from "../engine/ports.ts";
import type { Env } from "./main.ts";
import { calledAs } from "./terminal.ts";

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
  const models = [...new Set(judged.map(({ model }) => (model === "replay" ? "answers in files" : model)))];
  const added = own > 0 ? `, ${own} of its own` : "";
  const reasons = new Map<string, number>();
  for (const { because } of fellBack) {
    const why = inWords(because);
    reasons.set(why, (reasons.get(why) ?? 0) + 1);
  }
  return [
    ...(kept + own + dropped.length > 0
      ? [
          `Judged by ${models.join(", ")}: ${kept} kept, ${dropped.length} dropped${added}${dropped.length > 0 ? ` (why: ${calledAs(env)} instincts --dropped)` : ""}.`,
        ]
      : []),
    ...[...reasons].map(
      ([because, times]) =>
        `Not judged, so what the rules say stands (${several(times, "session")}): ${because}.`,
    ),
  ];
}

/** What a word for no answer means, where what follows it does not say so. */
const openings: Readonly<Record<NoReply, string>> = {
  unset: "",
  "not-asked": "",
  "time-out": "",
  unusable: "",
  refused: "the model refused: ",
  overloaded: "the model is busy or broken: ",
  unreachable: "the model was not reached: ",
};

/** Why there was no answer, as a person reads it: its word and the names of files are for programs. */
export function inWords(because: string): string {
  const [word = ""] = /^[a-z-]+(?=: )/.exec(because) ?? [];
  if (!Object.hasOwn(openings, word)) return because;
  const rest = because.slice(word.length + 2).replace(/\bq\w+\.answer\.json\b/, "answer in the folder");
  return `${openings[word as NoReply]}${rest.replace(/\.$/, "")}`;
}
