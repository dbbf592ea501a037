import { makeId } from "../base/index.ts";
import { type AskedFor, type Asker, askModel } from "../models/index.ts";
import type { Finding, Lead, SessionJudgement } from "../records/index.ts";
import { checkAnswer } from "./check.ts";
import { divideLeads, nameLeads, type SessionMaterial, sortByPlace, takeFirstLeads } from "./dossier.ts";
import { answerSchema, askAboutSession, findMore, type SessionQuestion } from "./question.ts";

/** A judge that can be asked. */
export interface Judge extends Asker {
  readonly timeoutMs: number;
}

/** A session's record, and what rules make of it. */
export interface JudgedSession {
  readonly material: SessionMaterial;
  /** The leads that nobody judged yet. */
  readonly leads: readonly Lead[];
  /** The verdict on it so far. */
  readonly before: Verdict;
  readonly byRules: readonly Finding[];
  readonly who: AskedFor;
}

/** A judge's verdict on some leads. */
export type Verdict = Pick<SessionJudgement, "lessons" | "aside" | "leads">;

export const noVerdict: Verdict = { lessons: [], aside: [], leads: [] };

/** Tokens of an answer. */
const outputTokens = 3_000;

/**
 * Asks a judge about the leads of a session, in as few requests as hold them. Ends with the first request that comes
 * to nothing: what was judged until then stands.
 */
export async function judgeSession(
  judge: Judge,
  session: JudgedSession,
): Promise<{ readonly verdict: Verdict; readonly fellBack: string | null }> {
  const parts = divideLeads(session.leads, session.material.events);
  let verdict = noVerdict;
  for (const [n, leads] of parts.entries()) {
    const earlier = [...session.before.lessons, ...verdict.lessons].map(({ lesson }) => lesson);
    const asked = await askPart(judge, session, { leads, part: [n + 1, parts.length], earlier });
    if ("fellBack" in asked) return { verdict, fellBack: asked.fellBack };
    verdict = joinVerdicts(verdict, asked);
  }
  return { verdict: setRestAside(verdict, session.leads), fellBack: null };
}

/** A session has room for its most promising leads only; the others are not asked about later either. */
function setRestAside(verdict: Verdict, leads: readonly Lead[]): Verdict {
  const rest = leads.filter(({ id }) => !verdict.leads.includes(id));
  const because = "less promising than the session's others";
  const aside = rest.map(({ summary: what }) => ({ what, because }));
  return joinVerdicts(verdict, { lessons: [], aside, leads: rest.map(({ id }) => id) });
}

type Place = Omit<Parameters<typeof askAboutSession>[1], "more">;

/** Asks about one part, once more if the judge wants to see other events. */
async function askPart(
  judge: Judge,
  session: JudgedSession,
  place: Place,
): Promise<Verdict | { readonly fellBack: string }> {
  const first = askAboutSession(session.material, { ...place, more: null });
  const answer = await ask(judge, first, session.who);
  if ("fellBack" in answer) return answer;
  const more = findMore(answer.more, session.material.events).filter(({ ref }) => !first.shown.has(ref));
  if (more.length === 0) return readVerdict(answer, first, session);
  const second = askAboutSession(session.material, { ...place, more });
  const better = await ask(judge, second, session.who);
  return "fellBack" in better ? readVerdict(answer, first, session) : readVerdict(better, second, session);
}

async function ask(judge: Judge, { system, prompt }: SessionQuestion, who: AskedFor) {
  const limits = { maxOutputTokens: outputTokens, timeoutMs: judge.timeoutMs };
  const question = { purpose: "judge a session", system, prompt, schema: answerSchema, ...limits };
  const reply = await askModel(judge, question, who);
  return reply.ok ? reply.answer : { fellBack: `${reply.because}: ${reply.message}` };
}

function readVerdict(
  answer: Parameters<typeof checkAnswer>[0],
  question: SessionQuestion,
  { byRules, material: { known } }: JudgedSession,
): Verdict {
  const { lessons, aside } = checkAnswer(answer, question, { byRules, known });
  return { lessons, aside, leads: question.leads.map(({ lead }) => lead.id) };
}

/** Joins what was judged before with what was judged now; the later words of the same lesson stand. */
export function joinVerdicts(before: Verdict, now: Verdict): Verdict {
  const isSaidAgain = (one: Finding) =>
    now.lessons.some(({ lesson, refs }) => lesson === one.lesson && refs[0] === one.refs[0]);
  return {
    lessons: [...before.lessons.filter((one) => !isSaidAgain(one)), ...now.lessons],
    aside: [...before.aside, ...now.aside],
    leads: [...new Set([...before.leads, ...now.leads])],
  };
}

/**
 * The findings of a session: a judge's lessons, and the rules' findings about places that no judge looked at, or that a person
 * decided about.
 */
export function settleFindings(
  { byRules, leads }: { readonly byRules: readonly Finding[]; readonly leads: readonly Lead[] },
  verdict: Verdict | null,
  decided: readonly Finding[],
): Finding[] {
  if (verdict === null) return [...byRules];
  const judged = new Set(leads.flatMap(({ id, refs }) => (verdict.leads.includes(id) ? refs : [])));
  const stands = (one: Finding) => decided.includes(one) || !judged.has(one.refs[0] ?? "");
  return [...verdict.lessons, ...byRules.filter(stands)];
}

// --- A judge that is an agent at work ---

/** A question for the agent that works in a session: it answers in the form of a judge. */
export interface Dossier extends Pick<SessionQuestion, "system" | "prompt"> {
  readonly id: string;
  readonly schema: typeof answerSchema.json;
}

/** The question about the first leads of a session, as many as one request holds; null where it has none. */
export function makeDossier(session: JudgedSession): Dossier | null {
  const leads = takeFirstLeads(session.leads, session.material.events);
  if (leads.length === 0) return null;
  const { system, prompt } = askForDossier({ ...session, leads });
  return { id: nameDossier(session.who, leads), system, prompt, schema: answerSchema.json };
}

/** Reads the answer to a dossier about all these leads of a session; null where it is not of the form. */
export function readDossier(session: JudgedSession, value: unknown): Verdict | null {
  const answer = answerSchema.parse(value);
  return answer && readVerdict(answer, askForDossier(session), session);
}

/** The leads that a dossier is about, among those that wait; null where it is about others. Leads may have come since. */
export function findDossierLeads(
  id: string,
  who: Pick<AskedFor, "session">,
  waiting: readonly Lead[],
): Lead[] | null {
  const sorted = sortByPlace(waiting);
  const last = sorted.findIndex((_, n) => nameDossier(who, sorted.slice(0, n + 1)) === id);
  return last < 0 ? null : sorted.slice(0, last + 1);
}

function nameDossier({ session }: Pick<AskedFor, "session">, leads: readonly Lead[]): string {
  return makeId("d", `${session} ${leads.map(({ id }) => id).join(" ")}`);
}

function askForDossier({ material, leads, before }: JudgedSession): SessionQuestion {
  const earlier = before.lessons.map(({ lesson }) => lesson);
  // The agent cannot ask for more here: it can read the transcript.
  return askAboutSession(material, { leads: nameLeads(leads), part: [1, 1], earlier, more: [] });
}
