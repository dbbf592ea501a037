import { CallReader, classifyRun, type Recovery, Run } from "../../failures/index.ts";
import { type Event, type Excerpt, noExcerpt } from "../../records/index.ts";
import { cutAtWord } from "../../text/index.ts";
import { isContentless, judgeTurn, type SpokenLesson } from "./spoken.ts";
import { extractOwnWords, isQuestion, readTurns, splitSentences, stripOpening } from "./turns.ts";

/** A session as detectors see it: what failed and was overcome, what was run, and what people's words teach. */
export interface AnalyzedSession {
  readonly events: readonly Event[];
  readonly recoveries: readonly Recovery[];
  readonly commands: readonly TerminalCall[];
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
  readonly bar?: Parameters<typeof judgeTurn>[1];
}

const usualBreadth: Breadth = {
  ...{ recoveryConfidence: 0.2, minRecoveries: 4, recoveriesPerRootOfCalls: 0.15 },
  ...{ minSpoken: 1, spokenPerRootOfTurns: 0.5, oddity: 2, everyday: 2 },
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
  const turns = readTurns(events);
  // People who talk much teach more, but not in proportion: of many turns only the surest count.
  const most = Math.round(breadth.minSpoken + breadth.spokenPerRootOfTurns * Math.sqrt(turns.length));
  const spoken = turns.flatMap((turn) => judgeTurn(turn, breadth.bar) ?? []);
  return {
    ...{ events, recoveries, breadth, commands: readCommandCalls(events, recoveries, calls) },
    spoken: spoken.sort((a, b) => b.confidence - a.confidence).slice(0, most),
  };
}

/** A terminal call that worked, with its programs, or one that failed. */
export interface TerminalCall {
  readonly event: Event;
  readonly hasWorked: boolean;
  readonly programs: readonly CalledProgram[];
}

/** One program of a call, and what it is for. */
export interface CalledProgram extends ReturnType<typeof classifyRun> {
  readonly run: Run;
}

/** The terminal calls of a session, in order. One that was turned down, or of which nothing is known, is none. */
function readCommandCalls(
  events: readonly Event[],
  recoveries: readonly Recovery[],
  calls: CallReader,
): TerminalCall[] {
  const failed = new Set(recoveries.map((recovery) => recovery.failed));
  return events.flatMap((event): TerminalCall[] => {
    if (event.command === null || event.kind !== "call") return [];
    if (failed.has(event) && event.outcome !== "rejected") return [{ event, hasWorked: false, programs: [] }];
    if (event.outcome !== "ok") return [];
    return [{ event, hasWorked: true, programs: readPrograms(event.command, calls.runs(event)) }];
  });
}

function readPrograms(command: string, runs: readonly Run[]): CalledProgram[] {
  // Going somewhere, in a call of its own, is a step of what follows.
  const entered = runs.length === 0 ? /^\s*cd\s+(\S+)\s*$/.exec(command)?.[1] : undefined;
  if (entered !== undefined) {
    const run = new Run({ name: "cd", args: [entered] });
    return [{ run, program: run, launcher: [], role: "record", form: "cd" }];
  }
  // The neighbours of a cut are incomplete.
  const isCutOff = (run: Run | undefined) => run?.written.startsWith("…[") === true;
  return runs.flatMap((run, at) => {
    const isWhole = ![run, runs[at - 1], runs[at + 1]].some(isCutOff);
    const isDefinedHere = command.includes(`${run.name}()`);
    return isProgram.test(run.name) && isWhole && !isDefinedHere ? [{ run, ...classifyRun(run) }] : [];
  });
}

/** Names of variables and the ends of documents are no programs. */
const isProgram = /^[\w.@+-]*[a-z][\w.@+-]*$/;

/** Characters of a request that are told. */
const requestChars = 90;

/** How a person asked for work: the first sentence; empty where it asks back, objects, or says too little to be known again by. */
export function describeRequest(prompt: Event | null, spoken: readonly SpokenLesson[]): string {
  const isObjection = spoken.some(({ turn, kind }) => turn.prompt === prompt && kind === "user-correction");
  if (isObjection || prompt === null) return "";
  const [first = ""] = splitSentences(extractOwnWords(prompt.text));
  const request = stripOpening(first.replace(/[`“”"]/g, "")).replace(/[\s.,:;!]+$/, "");
  return isQuestion(first) || isContentless(request) ? "" : cutAtWord(request, requestChars);
}

/** Characters of an excerpt, and of one call of several that prove a way of working. */
const excerptChars = 600;

const callChars = 160;

/** Quotes the calls as they were, as many as there is room for, and the words that asked for them. */
export function quoteCalls(calls: readonly string[], prompt: Event | null): Excerpt {
  const most = calls.length === 1 ? excerptChars : callChars;
  let worked = "";
  for (const call of new Set(calls.map((each) => each.trim()))) {
    const cut = call.length > most ? `${call.slice(0, most - 1)}…` : call;
    const longer = worked === "" ? cut : `${worked}\n${cut}`;
    if (longer.length > excerptChars) break;
    worked = longer;
  }
  const said = prompt === null ? "" : extractOwnWords(prompt.text).slice(0, excerptChars);
  return { ...noExcerpt, worked, said: said === "" ? null : said };
}
