import { openKnack as openWhole } from "./open.ts";

/** Options of `openKnack`; none are needed for an agent on a person's machine. */
export interface ProgramOptions {
  /** The environment that decides where things are; this process's by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The time, in milliseconds since 1970; the system's by default. */
  readonly clock?: { now(): number };
  /** Keep nothing: work in a database that is gone at the end. */
  readonly dryRun?: boolean;
}

/** Knack for an agent of your own: it records what the agent does, learns from it, and answers what is known. */
export interface KnackForPrograms {
  /** Records one session of the agent, as it happens. */
  recorder(options?: RecorderOptions): Recorder;
  /**
   * Learns from what was recorded and from the sessions of all agents on this machine, or from these files and folders
   * alone. Returns how many sessions were read, and the lessons that are known now.
   */
  learn(paths?: readonly string[]): Promise<{ readonly sessions: number; readonly lessons: KnownLesson[] }>;
  /**
   * The advice that your agent may be told about a command that failed, or about a task in words, in a folder (by default this
   * process's). The best comes first; nothing rather than something weak.
   */
  recall(about: FailedCommand | string, cwd?: string): Promise<RecalledLesson[]>;
  /** Every lesson that is known, those that wait and those that were rejected too. */
  lessons(): Promise<KnownLesson[]>;
  close(): Promise<void>;
}

export interface FailedCommand {
  readonly command: string | null;
  readonly output: string;
  readonly exitCode: number | null;
}

/** A lesson as `knack lessons` lists it. */
export interface KnownLesson {
  readonly id: string;
  readonly name: string;
  /** A sentence or two: when it applies, and what to do. */
  readonly lesson: string;
  readonly kind: string;
  readonly status: string;
  /** How sure Knack is, 0..1. */
  readonly confidence: number;
  /** The sessions that it was seen in. */
  readonly sessions: number;
}

/** A lesson that fits what was asked. */
export interface RecalledLesson {
  readonly id: string;
  readonly name: string;
  readonly lesson: string;
  /** The advice. */
  readonly action: string;
  /** The call that worked in place of the failed one; null where the lesson is about no call. */
  readonly worked: string | null;
  /** How sure Knack is that this helps now, 0..1. */
  readonly score: number;
}

export interface RecorderOptions {
  /** The id of the session; a new one by default. */
  readonly session?: string;
  /** The folder that the agent works in, which says which project it is. */
  readonly cwd?: string | null;
  /** Called when a wrapped tool could not be recorded; the tool goes on. By default Node warns. */
  readonly onError?: (error: Error) => void;
}

/** Hands what an agent does over to Knack, as it happens. Every promise resolves when the record is on disk. */
export interface Recorder {
  readonly session: string;
  /** The person's prompt. */
  recordPrompt(text: string): Promise<void>;
  /** The agent's answer. */
  recordReply(text: string): Promise<void>;
  /** The person's correction of something the agent did. */
  recordUserCorrection(text: string): Promise<void>;
  /** Answers with the id of the call, for the record of its end. */
  recordToolStart(call: {
    readonly tool: string;
    readonly input?: unknown;
    readonly id?: string;
  }): Promise<string>;
  recordToolComplete(id: string, output?: unknown): Promise<void>;
  recordToolError(id: string, error: unknown): Promise<void>;
  /**
   * Wraps a tool so that its start, end and errors are recorded; it returns and throws as before. `idOf` gives the
   * agent's own id of a call, so that the call is recognised in the agent's transcript.
   */
  wrap<Input, Output>(
    tool: string,
    run: (input: Input) => Promise<Output>,
    idOf?: (input: Input) => string,
  ): (input: Input) => Promise<Output>;
}

/** Opens Knack for a program. Close it when done. */
export async function openKnack({ env, clock, dryRun }: ProgramOptions = {}): Promise<KnackForPrograms> {
  const knack = await openWhole({
    ...(env === undefined ? {} : { env }),
    ...(clock === undefined ? {} : { clock }),
    ...(dryRun === undefined ? {} : { dryRun }),
  });
  const lessons = async (): Promise<KnownLesson[]> =>
    (await knack.lessons()).map(({ id, name, lesson, kind, state }) => {
      const { status, confidence, sessions } = state;
      return { id, name, lesson, kind, status, confidence, sessions };
    });
  return {
    recorder: knack.recorder,
    lessons,
    learn: async (paths) => {
      const { sessions } = await knack.learn(paths);
      return { sessions: sessions.length, lessons: await lessons() };
    },
    recall: async (about, cwd) => {
      const { matches } = await knack.recall(about, cwd, "agent");
      return matches.map(({ lesson: { id, name }, best: { finding }, score }) => {
        const { lesson, action, excerpt } = finding;
        return { id, name, lesson, action, worked: excerpt.worked, score };
      });
    },
    close: knack.close,
  };
}
