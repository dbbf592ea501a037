import { CallReader, type Recovery } from "../../failures/index.ts";
import type { Event } from "../../records/index.ts";
import { type CommandCall, readCommandCalls } from "./commands.ts";
import { judgeTurn, type SpokenBar, type SpokenLesson, usualBar } from "./spoken.ts";
import { readTurns } from "./turns.ts";

/** A session as detectors see it: what failed and was overcome, what was run, and what people's words teach. */
export interface AnalyzedSession {
  readonly events: readonly Event[];
  readonly recoveries: readonly Recovery[];
  readonly commands: readonly CommandCall[];
  readonly spoken: readonly SpokenLesson[];
  readonly breadth: Breadth;
}

/** How little is enough to be let through. */
interface Breadth {
  /** Below this a recovered failure is not reported. */
  readonly recoveryConfidence: number;
  /** Recovered failures reported of any session, and how many more of a long one. */
  readonly minRecoveries: number;
  readonly recoveriesPerRootOfCalls: number;
  /** Lessons heard in any session, and how many more where people say much. */
  readonly minSpoken: number;
  readonly spokenPerRootOfTurns: number;
  /** How much of a repeated command's form must be the project's own. */
  readonly oddity: number;
  /** How many repeated commands in the form that everybody uses are noted. */
  readonly everyday: number;
  readonly bar: SpokenBar;
}

const usualBreadth: Breadth = {
  ...{ recoveryConfidence: 0.2, minRecoveries: 4, recoveriesPerRootOfCalls: 0.15 },
  ...{ minSpoken: 1, spokenPerRootOfTurns: 0.5, oddity: 2, everyday: 2, bar: usualBar },
};

/** Used where a model judges the findings. */
export const wideBreadth: Breadth = {
  ...{ recoveryConfidence: 0.02, minRecoveries: 6, recoveriesPerRootOfCalls: 0.5 },
  ...{ minSpoken: 3, spokenPerRootOfTurns: 1.5, oddity: 1, everyday: 0 },
  bar: { instruction: 0.3, lesson: 0.06, convention: 0.2, question: 0.55 },
};

/** Worked out once, because several detectors look at the same. */
export function analyzeSession(
  events: readonly Event[],
  calls = new CallReader(),
  breadth: Breadth = usualBreadth,
): AnalyzedSession {
  const recoveries = calls.recoveries(events);
  const commands = readCommandCalls(events, recoveries, calls);
  return { events, recoveries, commands, spoken: listen(events, breadth), breadth };
}

/** People who talk much teach more, but not in proportion: of many turns only the surest count. */
function listen(events: readonly Event[], { minSpoken, spokenPerRootOfTurns, bar }: Breadth): SpokenLesson[] {
  const turns = readTurns(events);
  const most = Math.round(minSpoken + spokenPerRootOfTurns * Math.sqrt(turns.length));
  return turns
    .flatMap((turn) => judgeTurn(turn, bar) ?? [])
    .sort((a, b) => b.confidence - a.confidence)
    .slice(0, most);
}
