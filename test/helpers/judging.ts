/** What a model is shown of a session. */
export interface Shown {
  readonly candidates: readonly {
    readonly id: string;
    readonly kind: string;
    readonly lesson: string;
    readonly refs: string;
  }[];
  readonly events: readonly ShownEvent[];
}

interface ShownEvent {
  readonly ref: string;
  readonly who: string;
  readonly outcome?: string;
}

/** The record in a request, found as the request says. */
export function recordIn(text: string): Shown {
  const [, , json] = /^----- (record-\w+) begins -----\n(.*)\n----- \1 ends -----$/ms.exec(text) ?? [];
  if (json === undefined) throw new Error(`no record in ${text.slice(0, 200)}`);
  return JSON.parse(json) as Shown;
}

export interface Verdict {
  readonly id: string;
  readonly keep: boolean;
  readonly because?: string | null;
  readonly kind?: string | null;
  readonly lesson?: string | null;
  readonly trigger?: string | null;
  readonly action?: string | null;
  readonly confidence?: number | null;
}

/** An answer in the form that is asked for. */
export function answering(verdicts: readonly Verdict[], own: readonly object[] = []) {
  const blank = { because: null, kind: null, lesson: null, trigger: null, action: null, confidence: null };
  return { judgements: verdicts.map((verdict) => ({ ...blank, ...verdict })), own };
}

/** The answer of one who keeps everything as it is. */
export function keepingAll(text: string) {
  return answering(recordIn(text).candidates.map(({ id }) => ({ id, keep: true })));
}
