import { openLessons } from "../lessons/index.ts";
import { estimateCost } from "../models/index.ts";
import {
  type Event,
  getSessionId,
  type Lead,
  type Lesson,
  type SessionId,
  type SessionJudgement,
  type TranscriptId,
} from "../records/index.ts";
import type { BackgroundWork, Store } from "../store/index.ts";
import {
  divideSession,
  type IngestDeps,
  isLong,
  type SessionView,
  viewSessions,
} from "../transcripts/index.ts";
import { type Consolidated, consolidateProjects, type ProjectMaterial } from "./consolidate.ts";
import { cutOutput, type InstructionLine, type KnownLesson } from "./dossier.ts";
import { readInstructions, selectInstructions } from "./instructions.ts";
import {
  type Dossier,
  findDossierLeads,
  type Judge,
  type JudgedSession,
  joinVerdicts,
  judgeSession,
  makeDossier,
  noVerdict,
  readDossier,
  type Verdict,
} from "./judge.ts";
import type { ChosenJudge, JudgeSource } from "./judges.ts";
import { readTurns } from "./later.ts";
import {
  findingId,
  type LearnConsent,
  listSessionLeads,
  loadVerdict,
  readForLearning,
  recordResults,
  restoreEvents,
  selectOwnEvents,
  settle,
} from "./learn.ts";

/** A session is judged when it has been quiet for so long. */
const quietMs = 30 * 60_000;

interface JudgingDeps extends IngestDeps, LearnConsent, BackgroundWork {
  readonly judges: JudgeSource;
}

export interface JudgeOptions {
  /** The sessions that may be judged; all by default. */
  readonly sessions?: readonly SessionView[];
  /** Sessions that have ended, by the agents' own ids: these need not have been quiet. */
  readonly ended?: ReadonlySet<SessionId>;
  /** Also sessions that were at work a moment ago. */
  readonly evenBusy?: boolean;
  /** When to stop: the session at hand is judged, and the rest is left for another time. */
  readonly until?: () => boolean;
  /** Told before the first request. */
  readonly onPlan?: (plan: JudgingPlan) => void;
  readonly onJudged?: (done: number, all: number) => void;
}

/** The cost and time of judging everything that waits. */
export interface JudgingPlan {
  readonly judge: string;
  readonly sessions: number;
  readonly leads: number;
  readonly usd: number;
}

/** A session's judgement, as far as it goes now. */
type JudgedNow = SessionJudgement & { readonly session: TranscriptId };

/** The result of judging. */
export interface Judging {
  readonly judged: readonly JudgedNow[];
  /** Sessions with leads that still nobody judged. */
  readonly left: number;
  /** Why the first of these was not judged; null if none was tried in vain. */
  readonly fellBack: string | null;
  readonly consolidated: readonly Consolidated[];
}

export function openJudging(deps: JudgingDeps) {
  const { store, judges } = deps;
  return {
    /** Asks the judge about sessions with leads that nobody judged, the most promising first, within the budget. */
    judgeWaiting: (options: JudgeOptions = {}) => judgeWaiting(deps, options),
    /** How many sessions have leads that nobody judged, and how many leads. */
    waiting: async (project?: string) => {
      const waiting = await findWaiting(deps, { project });
      return { sessions: waiting.length, leads: countLeads(waiting) };
    },
    /** The cost and time of judging everything that waits. */
    planJudging: async () => planJudging(judges.choose(), await findWaiting(deps, {})),
    /** The leads that nobody judged, newest sessions first. */
    leads: async () =>
      (await findWaiting(deps, {})).flatMap(({ session, leads }) => leads.map((lead) => ({ session, lead }))),
    /** The question about the most promising session of a project, for an agent to answer; null where none waits. */
    nextDossier: (where: DossierPlace) => findDossier(deps, where),
    /** Takes an agent's answer to a dossier, with the same checks as a judge's. */
    submitDossier: (id: string, answer: unknown, where: DossierPlace & { readonly by: string }) =>
      submitDossier(deps, id, answer, where),
    /** The judge, and what asking it came to. */
    judge: () => judges.readState(),
    requestsWritten: judges.requestsWritten,
    /** The latest judgement of each session, newest first. */
    judged: async (): Promise<JudgedNow[]> => {
      const entries = (await store.ledger.since("session.judged", 0)).reverse();
      const sessions = new Set<string | null>();
      const latest = entries.filter(({ session }) => !sessions.has(session) && sessions.add(session));
      return latest.map(({ session, data }) => ({ ...data, session: session ?? "" }));
    },
  };
}

type LearnedRow = Awaited<ReturnType<Store["learning"]["learned"]["of"]>>[number];

interface WaitingSession {
  readonly session: SessionView;
  readonly row: LearnedRow;
  /** The leads that nobody judged. */
  readonly leads: readonly Lead[];
}

/** The sessions with leads that nobody judged, the newest first. */
async function findWaiting(
  deps: JudgingDeps,
  { sessions, project }: Pick<JudgeOptions, "sessions"> & { readonly project?: string | undefined },
): Promise<WaitingSession[]> {
  const { store, learnable } = deps;
  const rows = await store.learning.learned.waiting(project);
  if (rows.length === 0) return [];
  const ids = new Set(rows.map(({ session }) => session));
  const views = (sessions ?? (await viewSessions(store))).filter(({ id }) => ids.has(id));
  const found = await keepReadable(deps, await learnable(views));
  const all = (await listSessionLeads(store, found)).filter(({ isJudged }) => !isJudged);
  const parts = await divideSessions(deps, found);
  return parts.flatMap((session) => {
    const { id, part: { n = 0 } = {} } = session;
    const row = rows.find((one) => one.session === id && one.part === n);
    const leads = all.flatMap((one) => (one.session === id && one.part === n ? one.lead : []));
    return row && leads.length > 0 ? [{ session, row, leads }] : [];
  });
}

/** Long sessions are judged part by part, as they were looked at. */
async function divideSessions(deps: JudgingDeps, sessions: readonly SessionView[]): Promise<SessionView[]> {
  const { store } = deps;
  await restoreEvents(deps, sessions.filter(isLong));
  const readings = await store.readings.of(sessions.map(({ path }) => path));
  const byPath = new Map(readings.map((reading) => [reading.path, reading]));
  const parts: SessionView[] = [];
  for (const session of sessions)
    parts.push(...(await divideSession(store, session, byPath.get(session.path))));
  return parts;
}

async function findRow({ learning }: Store, { id, part }: SessionView): Promise<LearnedRow | undefined> {
  return (await learning.learned.of([id])).find((row) => row.part === (part?.n ?? 0));
}

/** Agents delete their transcripts: without one, and without its cached events, there is nothing to judge any more. */
async function keepReadable(
  { store, transcripts }: Pick<JudgingDeps, "store" | "transcripts">,
  sessions: readonly SessionView[],
): Promise<SessionView[]> {
  const readings = await store.readings.of(sessions.map(({ path }) => path));
  const purged = readings.flatMap(({ path, cachedAt }) => (cachedAt === null ? path : []));
  if (purged.length === 0) return [...sessions];
  const gone = new Set(purged);
  for (const { path } of transcripts.find(purged).files) gone.delete(path);
  return sessions.filter(({ path }) => !gone.has(path));
}

function sortByPromise(waiting: readonly WaitingSession[]): WaitingSession[] {
  const promise = new Map(waiting.map((one) => [one, weighPromise(one)]));
  return [...waiting].sort((a, b) => (promise.get(b) ?? 0) - (promise.get(a) ?? 0));
}

/** The chance that a session holds a lesson that nobody judged, by its leads. */
function weighPromise({ leads }: WaitingSession): number {
  return 1 - leads.reduce((none, { confidence }) => none * (1 - confidence), 1);
}

function countLeads(waiting: readonly WaitingSession[]): number {
  return waiting.reduce((sum, { leads }) => sum + leads.length, 0);
}

// --- A judge ---

async function judgeWaiting(deps: JudgingDeps, options: JudgeOptions): Promise<Judging> {
  const chosen = deps.judges.choose();
  const waiting = chosen.isOn ? await findDue(deps, options) : [];
  const { length: all } = waiting;
  if (all === 0) return { judged: [], left: 0, fellBack: null, consolidated: [] };
  const { unset, isLive } = chosen.model;
  if (unset !== null) return { judged: [], left: all, fellBack: `unset: ${unset}`, consolidated: [] };
  options.onPlan?.(planJudging(chosen, waiting));
  const judge = { ...deps, ...chosen, timeoutMs: chosen.settings["judge.timeoutMs"] };
  const projects = createProjectReader(deps);
  const judged: JudgedNow[] = [];
  let fellBack: string | null = null;
  let done = 0;
  for (const one of waiting) {
    if (options.until?.()) break;
    const result = await judgeAlone(deps, judge, one, projects);
    if (result.judgement) judged.push({ ...result.judgement, session: one.session.id });
    if (result.fellBack === null) done++;
    fellBack ??= result.fellBack;
    // Without a budget, or while a broken judge is left alone, the others need not be tried.
    if (result.fellBack?.startsWith("not-asked") && isLive) break;
    options.onJudged?.(done, all);
  }
  const fresh = new Set(judged.map(({ session }) => session));
  const sessions = waiting.flatMap(({ session }) => (fresh.delete(session.id) ? session : []));
  const consolidated = options.until?.() ? [] : await consolidateSessions(deps, judge, sessions);
  if (judged.length > 0) await openLessons(deps).promoteDue();
  return { judged, left: all - done, fellBack, consolidated };
}

/** Compares the lessons of the projects of these sessions with each other, and with what all their sessions tell. */
async function consolidateSessions(
  deps: JudgingDeps,
  judge: Judge,
  sessions: readonly SessionView[],
): Promise<Consolidated[]> {
  const ids = [...new Set(sessions.map(({ project }) => project.id))];
  const all = (await deps.learnable(await viewSessions(deps.store))).filter(({ subagent }) => !subagent);
  const projects: ProjectMaterial[] = [];
  for (const id of ids) {
    // The newest come first.
    const own = all.filter(({ project }) => project.id === id).slice(0, sessionsToSearch);
    const read: { session: SessionView; events: readonly Event[] }[] = [];
    for (const session of own.reverse()) {
      const events = selectOwnEvents(session, await deps.store.events.of(session.id));
      read.push({ session, events });
    }
    const root = own[0]?.project.root ?? null;
    const instructions = await readInstructions(
      root,
      read.flatMap(({ events }) => events),
    );
    projects.push({
      id,
      instructions,
      turns: read.flatMap(({ session, events }) => readTurns(session, events)),
    });
  }
  return consolidateProjects(deps, { projects, judge });
}

/** The sessions to judge now, the most promising first. */
async function findDue(deps: JudgingDeps, options: JudgeOptions): Promise<WaitingSession[]> {
  const waiting = sortByPromise(await findWaiting(deps, options));
  const now = deps.clock.now();
  const isQuiet = ({ session }: WaitingSession) =>
    // A session that ends in the future was written by a clock that was ahead.
    options.ended?.has(getSessionId(session)) || Math.abs(now - (session.endedAt ?? 0)) >= quietMs;
  return options.evenBusy ? waiting : waiting.filter(isQuiet);
}

/** Characters of a request besides its episodes, and of a token; tokens of a usual answer. */
const otherChars = 16_000;
const charsPerToken = 3.6;
const usualAnswerTokens = 900;

function planJudging({ name, price }: ChosenJudge, waiting: readonly WaitingSession[]): JudgingPlan {
  const requests = waiting.map(({ row: { size } }) => {
    const inputTokens = Math.ceil((size + otherChars) / charsPerToken);
    return { inputTokens, outputTokens: usualAnswerTokens };
  });
  return {
    judge: name,
    sessions: waiting.length,
    leads: countLeads(waiting),
    usd: estimateCost(requests, price),
  };
}

/** The result of asking about one session. */
interface Judged {
  readonly judgement: SessionJudgement | null;
  readonly fellBack: string | null;
}

/** Requests that a session may take: three parts, each with a second look. */
const maxRequests = 6;

/** Judges what nobody judged of a session, unless another process is at it. */
async function judgeAlone(
  deps: JudgingDeps,
  judge: Judge,
  one: WaitingSession,
  projects: ProjectReader,
): Promise<Judged> {
  const work = `judge ${one.session.id}`;
  if (!(await deps.claim(work, deps.clock.now() + maxRequests * judge.timeoutMs)))
    return { judgement: null, fellBack: "another process is judging it" };
  try {
    const row = await findRow(deps.store, one.session);
    // With what was judged since: only the leads that nobody judged are asked about.
    return await judgeOne(deps, judge, { ...one, row: row ?? one.row }, projects);
  } finally {
    await deps.giveBack(work);
  }
}

async function judgeOne(
  deps: JudgingDeps,
  judge: Judge,
  one: WaitingSession,
  projects: ProjectReader,
): Promise<Judged> {
  const prepared = await prepare(deps, one, projects);
  const { verdict, fellBack } = await judgeSession(judge, prepared);
  // What was paid for is kept at once, also if only a part was judged.
  const isNews = verdict.leads.length > 0;
  const judgement = isNews ? await recordVerdict(deps, one, prepared, verdict, judge.model.name) : null;
  return { judgement, fellBack };
}

// --- What a judge is told, and what becomes of its word ---

/** The facts about a session's project for a judge, each looked up once in a run. */
interface ProjectReader {
  listKnown(session: SessionView): Promise<readonly KnownLesson[]>;
  /** Lines of instruction files that the project's latest sessions show. */
  readInstructions(project: string): Promise<readonly InstructionLine[]>;
}

/** Sessions of a project in which its instruction files are looked for. */
const sessionsToSearch = 30;

/** The projects as they are now: the requests of one run do not depend on each other's answers. */
function createProjectReader({ store, learnable }: JudgingDeps): ProjectReader {
  let all: Promise<Lesson[]> | null = null;
  const shown = new Map<string, Promise<readonly InstructionLine[]>>();
  const searchSessions = async (project: string) => {
    const sessions = (await viewSessions(store)).filter((one) => one.project.id === project);
    const lines: InstructionLine[] = [];
    for (const { id } of (await learnable(sessions)).slice(0, sessionsToSearch))
      lines.push(...(await readInstructions(null, await store.events.of(id))));
    return lines;
  };
  return {
    listKnown: async ({ project }) => {
      all ??= listKnown(store);
      const here = (await all).filter((lesson) => lesson.project === project.id || lesson.scope === "user");
      return here.map(describeKnown);
    },
    readInstructions: (project) => {
      const known = shown.get(project) ?? searchSessions(project);
      shown.set(project, known);
      return known;
    },
  };
}

/** The lessons that a judge made or a person decided about; what rules alone say is in the record itself. */
async function listKnown({ learning }: Store): Promise<Lesson[]> {
  const lessons = (await learning.lessons.list()).filter(
    ({ state: { status } }) => status !== "superseded" && status !== "retired",
  );
  const evidence = await learning.findings.evidence(lessons.map(({ id }) => id));
  const isJudged = ({ id }: Lesson) => evidence.get(id)?.some(({ by }) => by === "judge") === true;
  const isDecided = ({ state }: Lesson) => state.status === "rejected" || state.acceptedAt !== undefined;
  return lessons.filter((lesson) => isJudged(lesson) || isDecided(lesson));
}

function describeKnown({ id, lesson, state: { status } }: Lesson): KnownLesson {
  if (status === "rejected") return { id, lesson, standing: "rejected by the person" };
  return { id, lesson, standing: status === "pending" || status === "conflict-hold" ? "waiting" : "kept" };
}

interface Prepared extends JudgedSession {
  readonly read: Awaited<ReturnType<typeof readForLearning>>;
}

/** Reads everything that a judge needs to know about a session. */
async function prepare(
  deps: JudgingDeps,
  { session, row }: WaitingSession,
  projects: ProjectReader,
): Promise<Prepared> {
  const { store } = deps;
  await restoreEvents(deps, [session]);
  const read = await readForLearning(store, session);
  const before = (await loadVerdict(store, row.judged)) ?? noVerdict;
  const leads = read.leads.filter(({ id }) => !before.leads.includes(id));
  const { project, format, cwd, startedAt } = session;
  const lines = await readInstructions(project.root, read.events, () =>
    projects.readInstructions(project.id),
  );
  return {
    ...{ read, before, leads, byRules: read.byRules },
    who: { project: project.id, session: session.id },
    material: {
      ...{ project: project.name, agent: format, folder: cwd, startedAt, events: read.own },
      known: await projects.listKnown(session),
      instructions: selectInstructions(lines, listSubjects(leads, read.own), instructionChars),
    },
  };
}

/** Characters of instruction lines in a request. */
const instructionChars = 7_000;

/** Characters of an event that tell what it is about. */
const subjectChars = 600;

/** Texts that tell what a judge will think about: the leads, the events that they rest on, and the person's words. */
function listSubjects(leads: readonly Lead[], events: readonly Event[]): string[] {
  const deciding = new Set(leads.flatMap(({ refs }) => refs));
  const told = events.filter(({ kind, ref }) => kind === "prompt" || deciding.has(ref));
  const texts = told.map(({ command, text }) => `${command ?? ""}\n${cutOutput(text, subjectChars)}`);
  return [...leads.map(({ summary }) => summary), ...texts];
}

/** Records a judge's word on a session, and the findings that follow from it; null where another judge was quicker. */
async function recordVerdict(
  deps: JudgingDeps,
  { session, row }: Pick<WaitingSession, "session" | "row">,
  { read, before }: Pick<Prepared, "read" | "before">,
  verdict: Verdict,
  model: string,
): Promise<SessionJudgement | null> {
  const { store, clock } = deps;
  const { events, calls, own, leads, troubles } = read;
  const whole = joinVerdicts(before, verdict);
  const pass = row.pass + 1;
  const judgement = { ...whole, model, pass };
  const result = {
    ...{ session, mark: row.mark, pass, judged: row.judged, events, calls, leads },
    ...{
      uses: calls.uses(own),
      troubles,
      findings: await settle(store, session, read, whole),
      verdict: whole,
      judgement,
    },
  };
  if ((await recordResults(store, [result], clock.now())).length > 0) return judgement;
  const since = await findRow(store, session);
  if (since === undefined || since.judged !== row.judged) return null;
  // Only the rules looked again, because the session went on: the judge's word still holds for its leads.
  const again = { read: await readForLearning(store, session), before };
  return recordVerdict(deps, { session, row: since }, again, verdict, model);
}

// --- An agent at work as the judge ---

export interface DossierPlace {
  readonly project: string;
  /** The session in progress, where it alone is meant. */
  readonly session?: TranscriptId;
}

/** The sessions that dossiers are made of, the most promising first. */
async function findForDossiers(
  deps: JudgingDeps,
  { project, session }: DossierPlace,
): Promise<WaitingSession[]> {
  const waiting = sortByPromise(await findWaiting(deps, { project }));
  return session === undefined ? waiting : waiting.filter((one) => one.session.id === session);
}

async function findDossier(
  deps: JudgingDeps,
  where: DossierPlace,
): Promise<(Dossier & { readonly session: TranscriptId; readonly left: number }) | null> {
  const waiting = await findForDossiers(deps, where);
  const [first] = waiting;
  if (first === undefined) return null;
  const dossier = makeDossier(await prepare(deps, first, createProjectReader(deps)));
  if (dossier === null) return null;
  // Once more before it is shown.
  const [prompt = ""] = await deps.redactor.scrub([{ label: "", text: dossier.prompt }]);
  return { ...dossier, prompt, session: first.session.id, left: waiting.length - 1 };
}

/** The result of an agent's answer to a dossier. */
export type Submitted =
  | {
      readonly ok: true;
      readonly lessons: readonly Lesson[];
      readonly aside: Verdict["aside"];
      /** Sessions for further dossiers. */
      readonly left: number;
    }
  | { readonly ok: false; readonly because: string };

async function submitDossier(
  deps: JudgingDeps,
  id: string,
  answer: unknown,
  { by, ...where }: DossierPlace & { readonly by: string },
): Promise<Submitted> {
  const { store } = deps;
  const found = (await findForDossiers(deps, where)).flatMap((waiting) => {
    const leads = findDossierLeads(id, { session: waiting.session.id }, waiting.leads);
    return leads ? [{ waiting, leads }] : [];
  });
  const [asked] = found;
  if (asked === undefined)
    return { ok: false, because: "no dossier has this id, or it was answered already" };
  const { waiting, leads } = asked;
  const prepared = await prepare(deps, waiting, createProjectReader(deps));
  const verdict = readDossier({ ...prepared, leads }, answer);
  if (verdict === null) return { ok: false, because: "the answer does not have the requested form" };
  if ((await recordVerdict(deps, waiting, prepared, verdict, by)) === null)
    return { ok: false, because: "somebody else has judged this session meanwhile" };
  const left = (await findForDossiers(deps, where)).length;
  return {
    ok: true,
    lessons: await findLessons(store, waiting.session, verdict),
    aside: verdict.aside,
    left,
  };
}

/** The lessons that a verdict's findings became or confirmed. */
async function findLessons(
  { learning }: Store,
  session: SessionView,
  { lessons }: Verdict,
): Promise<Lesson[]> {
  const ids = lessons.map((finding) => findingId(session, finding));
  const lessonIds = await learning.findings.lessonIds(ids);
  return learning.lessons.get([...new Set(lessonIds.values())]);
}
