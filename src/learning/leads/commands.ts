import { type CallReader, classifyRun, type Recovery, Run } from "../../failures/index.ts";
import { type Event, type Excerpt, noExcerpt } from "../../records/index.ts";
import { cutAtWord } from "../../text/index.ts";
import type { SpokenLesson } from "./spoken.ts";
import { countContentWords, minContentWords } from "./turn-signs.ts";
import { extractOwnWords, isQuestion, splitSentences, stripOpening } from "./turns.ts";

/** A terminal call that worked, with its programs, or one that failed. */
export interface CommandCall {
  readonly event: Event;
  readonly hasWorked: boolean;
  readonly programs: readonly CalledProgram[];
}

/** One program of a call, and what it is for. */
export interface CalledProgram extends ReturnType<typeof classifyRun> {
  readonly run: Run;
}

/** The terminal calls of a session, in order. One that was turned down, or of which nothing is known, is none. */
export function readCommandCalls(
  events: readonly Event[],
  recoveries: readonly Recovery[],
  calls: CallReader,
): CommandCall[] {
  const failed = new Set(recoveries.map((recovery) => recovery.failed));
  return events.flatMap((event): CommandCall[] => {
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
  return runs.flatMap((run, at) => {
    const isWhole = ![run, runs[at - 1], runs[at + 1]].some(isCutOff);
    const isDefinedHere = command.includes(`${run.name}()`);
    return isProgram.test(run.name) && isWhole && !isDefinedHere ? [{ run, ...classifyRun(run) }] : [];
  });
}

/** Names of variables and the ends of documents are no programs. */
const isProgram = /^[\w.@+-]*[a-z][\w.@+-]*$/;

/** Whether a run is the mark of a cut; its neighbours are incomplete. */
function isCutOff(run: Run | undefined): boolean {
  return run?.written.startsWith("…[") === true;
}

/** Characters of a request that are told. */
const requestChars = 90;

/** How a person asked for work: the first sentence; empty where it asks back, objects, or says too little to be known again by. */
export function describeRequest(prompt: Event | null, spoken: readonly SpokenLesson[]): string {
  const isObjection = spoken.some(({ turn, kind }) => turn.prompt === prompt && kind === "user-correction");
  if (isObjection || prompt === null) return "";
  const [first = ""] = splitSentences(extractOwnWords(prompt.text));
  const request = stripOpening(first.replace(/[`“”"]/g, "")).replace(/[\s.,:;!]+$/, "");
  if (isQuestion(first) || countContentWords(request) < minContentWords) return "";
  return cutAtWord(request, requestChars);
}

/** Characters of an excerpt, and of one call of several that prove a way of working. */
export const excerptChars = 600;
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
