/** A request's record of a session. */
export interface Shown {
  readonly session: { readonly project: string; readonly part?: string };
  readonly known_lessons: readonly {
    readonly id: string;
    readonly lesson: string;
    readonly standing: string;
  }[];
  readonly instruction_files: readonly string[];
  readonly lessons_of_earlier_parts?: readonly string[];
  readonly leads: readonly {
    readonly lead: string;
    readonly kind: string;
    readonly refs: readonly string[];
    readonly summary: string;
  }[];
  readonly events: readonly ShownEvent[];
}

interface ShownEvent {
  readonly ref: string;
  readonly person?: string;
  readonly agent?: string;
  readonly call?: string;
  readonly outcome?: string;
  readonly output?: string;
  readonly folder?: string;
}

/** The record in a request, found as the request says. */
export function recordIn(text: string): Shown {
  const [, , json] = /^----- (record-\w+) begins -----\n(.*)\n----- \1 ends -----$/ms.exec(text) ?? [];
  if (json === undefined) throw new Error(`no record in ${text.slice(0, 200)}`);
  return JSON.parse(json) as Shown;
}

/** A lesson as a judge answers it. */
export interface AnsweredLesson {
  readonly leads?: readonly string[];
  readonly kind?: string | null;
  readonly lesson: string;
  readonly when?: string;
  readonly do?: string;
  readonly name?: string | null;
  readonly steps?: readonly string[];
  readonly check?: string | null;
  readonly refs: readonly string[];
  readonly same_as?: string | null;
  readonly contradicts?: string | null;
  readonly documented_in?: string | null;
  readonly scope?: string;
  readonly decided_by?: string;
  readonly again?: string;
  readonly again_because?: string;
  readonly cost?: string;
  readonly error_tells?: boolean;
  readonly settled?: boolean;
  readonly common?: boolean;
  readonly confidence?: number;
}

/** An answer in the form that is asked for. */
export function answering(
  lessons: readonly AnsweredLesson[],
  aside: readonly { readonly lead: string; readonly because: string }[] = [],
  more: readonly string[] = [],
) {
  const blank = {
    ...{ leads: [], kind: "error-recovery", when: "it comes up", do: "do as the lesson says" },
    ...{ same_as: null, contradicts: null, documented_in: null },
    ...{ decided_by: "events", again: "sure", again_because: "every run meets it", cost: "calls" },
    ...{ error_tells: false, settled: false, common: false, name: null, check: null },
    ...{ steps: [], scope: "project", confidence: 0.8 },
  };
  return { lessons: lessons.map((one) => ({ ...blank, ...one })), aside, more };
}

/** Whether a request is about a session; the same judge is asked to compare a project's lessons. */
export function isAboutSession(text: string): boolean {
  return text.includes('\n "leads": [');
}

/** The answer of one who finds no two lessons that are the same, or contradict each other. */
export const nothingToMerge = {
  groups: [],
  contradictions: [],
  vetoes: [],
  verdicts: [],
};

/** The answer of one who makes a lesson of every lead, in the words of its deciding event. */
export function keepingAll(text: string) {
  if (!isAboutSession(text)) return { ...answering([]), ...nothingToMerge };
  const { leads, events } = recordIn(text);
  return answering(
    leads.map(({ lead, kind, refs }) => {
      const event = events.find(({ ref }) => ref === refs[0]);
      const words = event?.person ?? event?.call ?? "it";
      return { leads: [lead], kind, lesson: `Mind: ${words}`.slice(0, 200), refs };
    }),
  );
}

/** The answer of one who keeps nothing. */
export function keepingNothing(text: string) {
  if (!isAboutSession(text)) return { ...answering([]), ...nothingToMerge };
  return answering(
    [],
    recordIn(text).leads.map(({ lead }) => ({ lead, because: "only this task" })),
  );
}

/** The answer of one who keeps nothing of a session, and leaves the lessons of a project as they are. */
export function changingNothing(text: string) {
  return asksAboutSession(text) ? keepingNothing(text) : { groups: [] };
}

/** Whether a request is about a session, not about the lessons of a project. */
export function asksAboutSession(text: string): boolean {
  return "leads" in recordIn(text);
}
