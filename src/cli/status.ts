import { existsSync } from "node:fs";
import { sessionFoldersOn } from "../agents/index.ts";
import { type Home, homeOf, isDisabled, userHome } from "../config.ts";
import { inUsd } from "../core/budget.ts";
import { KnackError } from "../core/errors.ts";
import { type Instinct, standingAt } from "../core/instinct.ts";
import type { Occasion } from "../core/ledger.ts";
import { policy } from "../core/policy.ts";
import { several } from "../core/words.ts";
import type { Shelved } from "../engine/shelf.ts";
import { stateOf } from "../hook/worker-state.ts";
import type { ModelState } from "../open/model.ts";
import { type Knack, openKnack } from "../open.ts";
import { brokenSettings, whyNotLearn } from "../settings.ts";
import { spentText } from "./check-model.ts";
import { states } from "./look-at-skills.ts";
import { defineVerb, type Env } from "./main.ts";
import { type ReviewStatus, reviewRows, reviewStatusOf, waitingReviews } from "./review-status.ts";
import { fileOf } from "./telling.ts";
import { calledAs, dateTime, iso, onOneLine, paintFor, printJson, printLines, short } from "./terminal.ts";

interface Status {
  readonly home: string;
  readonly sessions: number;
  readonly projects: number;
  readonly instincts: Readonly<Record<string, number>>;
  /** Lessons worth a look that nobody has decided about. */
  readonly suggestions: number;
  /** The names of the first of them. */
  readonly suggested: readonly string[];
  readonly skills: number;
  readonly commands: number;
  readonly agents: number;
  readonly rules: number;
  readonly drafts: number;
  readonly proposals: number;
  readonly off: readonly string[];
  readonly broken: readonly string[];
  readonly learnedAt: string | null;
  readonly next: string;
  /** Who looks at sessions, and what models cost in the last day; null where that cannot be told. */
  readonly observer: ModelState | null;
  /** What reviews in the background do, and why none is due; null where that cannot be told. */
  readonly reviews: ReviewStatus | null;
  readonly week: Week;
}

/** The last seven days. */
interface Week {
  readonly since: string | null;
  readonly learned: {
    readonly lessons: number;
    /** The names of the newest. */
    readonly newest: readonly string[];
    /** The skills that agents and reviews wrote or changed. */
    readonly skills: readonly string[];
  };
  readonly used: {
    /** How often a lesson was told, or something of the library shown; lessons by when; and in how many sessions. */
    readonly times: number;
    readonly at: Readonly<Record<Occasion, number>>;
    readonly sessions: number;
    /** How often something of the library was shown, and given whole; and its uses, once for each session. */
    readonly offered: number;
    readonly loaded: number;
    readonly skills: number;
    /** How often an agent said that a learned skill guided it. */
    readonly guided: number;
    /** What sessions, or you, judged: once for each thing and session. */
    readonly helpful: number;
    readonly harmful: number;
    /** Lessons told that recommend a call, once for each session, and those whose call then worked in it. */
    readonly followable: number;
    readonly followed: number;
  };
  readonly saved: {
    /** Failures at which the known fix was told, and those after which it came next and worked: each is a call saved. */
    readonly failures: number;
    readonly calls: number;
  };
  readonly cost: {
    /** Given to agents. */
    readonly characters: number;
    readonly tokens: number;
    /** What Knack's own calls of models cost, in US dollars. */
    readonly model: number;
    /** Turns in which an agent was asked to write a lesson down. */
    readonly asked: number;
  };
}

export const status = defineVerb({
  about: "One page: what is known, kept, waiting, off or broken. Exit 1 when something is broken.",
  args: { json: { type: "boolean", description: "print one JSON object" } },
  run: async ({ args, env }) => {
    const knack = await openKnack({ env, dryRun: !existsSync(homeOf(env).database) });
    try {
      const told = await statusOf(knack, env);
      if (args.json) printJson(told);
      else print(told, env);
      return told.broken.length > 0 ? 1 : 0;
    } finally {
      await knack.close();
    }
  },
});

async function statusOf(knack: Knack, env: Env): Promise<Status> {
  const home = homeOf(env);
  const projects = await knack.projects();
  const shelf = await knack.shelf();
  const count = (isMeant: (one: Shelved) => boolean) =>
    new Set(shelf.filter(isMeant).map(({ name }) => name)).size;
  const instincts = await knack.instincts();
  const { suggestions } = await knack.suggest({ most: Number.POSITIVE_INFINITY });
  const counted = {
    suggestions: suggestions.length,
    suggested: suggestions.slice(0, 3).map(({ instinct }) => instinct.name),
    skills: count(({ kind, reach }) => kind === "skill" && reach !== "draft"),
    commands: count(({ kind, reach }) => kind === "command" && reach !== "draft"),
    agents: count(({ kind, reach }) => kind === "agent" && reach !== "draft"),
    rules: count(({ kind }) => kind === "rule"),
    drafts: count(({ reach, proposal }) => reach === "draft" && !proposal),
    proposals: count(({ proposal }) => proposal === true),
  };
  const learnedAt = await knack.learnedAt();
  const settings = brokenSettings(
    home,
    projects.map(({ root }) => root),
  );
  const failing = whyFailing(home);
  const observer = settings.length > 0 ? null : await observerOf(knack);
  const broken = [
    ...(typeof observer === "string" ? [observer] : []),
    ...settings,
    ...failing,
    ...(await unfinished(knack)),
    ...broad(shelf),
    ...(await unreadable(knack)),
  ];
  return {
    home: home.folder,
    sessions: projects.reduce((sum, { sessions }) => sum + sessions, 0),
    projects: projects.length,
    instincts: byStatus(instincts),
    ...counted,
    off: [
      ...(isDisabled(env) ? ["KNACK_DISABLE is set: nothing is learned"] : []),
      ...projects.flatMap(({ id, name, root }) => {
        const because = whyNotLearn(home, root, id);
        return because === null || settings.includes(because) ? [] : [`${name}: ${because}`];
      }),
    ],
    broken,
    learnedAt: iso(learnedAt),
    next:
      settings.length > 0
        ? "mend the settings, or delete the file"
        : failing.length > 0
          ? `${calledAs(env)} doctor`
          : nextStep(counted, broken, learnedAt, env),
    observer: typeof observer === "string" ? null : observer,
    reviews: observer === null || typeof observer === "string" ? null : await reviewStatusOf(knack, projects),
    week: await weekOf(knack, instincts, Date.now()),
  };
}

/** Who looks at sessions, or what is wrong with who was named. */
async function observerOf(knack: Knack): Promise<ModelState | string> {
  try {
    return await knack.model();
  } catch (error) {
    if (!(error instanceof KnackError)) throw error;
    return `${error.message} ${error.hint ?? ""}`.trim();
  }
}

const days = 7;
/** Lessons that are named. */
const named = 3;
/** Characters that a model takes for one token, about. */
const tokenChars = 4;

async function weekOf(knack: Knack, instincts: readonly Instinct[], now: number): Promise<Week> {
  const since = now - days * policy.model.dayMs;
  const fresh = instincts
    .filter(({ standing: { status, noticedAt } }) => noticedAt >= since && status !== "rejected")
    .sort((a, b) => b.standing.noticedAt - a.standing.noticedAt);
  const told = await knack.tally(since);
  const { shown, sessions, characters, followable, followed, saved, asked } = told;
  return {
    since: iso(since),
    learned: {
      lessons: fresh.length,
      newest: fresh.slice(0, named).map(({ name }) => name),
      skills: told.skillsWritten,
    },
    used: {
      times: shown.start + shown.prompt + shown.failure + told.offered,
      at: shown,
      sessions,
      offered: told.offered,
      loaded: told.loaded,
      skills: told.used,
      guided: told.guided,
      helpful: told.helpful,
      harmful: told.harmful,
      followable,
      followed,
    },
    saved: { failures: shown.failure, calls: saved },
    cost: {
      characters,
      tokens: Math.ceil(characters / tokenChars),
      model: await knack.modelUsd(since),
      asked,
    },
  };
}

function whyFailing(home: Home): string[] {
  const { failures, error } = stateOf(home);
  return failures >= policy.work.loudAfter
    ? [`learning has stopped: the worker failed ${failures} times (${onOneLine(error ?? "", 200)})`]
    : [];
}

function byStatus(instincts: readonly Instinct[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { standing } of instincts) {
    const now = standingAt(standing, Date.now()).status;
    counts[now] = (counts[now] ?? 0) + 1;
  }
  return counts;
}

async function unfinished(knack: Knack): Promise<string[]> {
  return (await knack.changes())
    .filter(({ state }) => state === "intended")
    .map(({ change }) => `begun and not ended: ${change.why} ${change.name} in ${fileOf(change)}`);
}

function broad(shelf: readonly Shelved[]): string[] {
  const wrong = ["edited", "missing", "unreadable"];
  return shelf
    .filter(({ state }) => wrong.includes(state))
    .map((one) => `${one.name} is ${states[one.state]}: ${fileOf(one)}`);
}

async function unreadable(knack: Knack): Promise<string[]> {
  return (await knack.skills()).flatMap(({ folder, listing }) =>
    listing.found === "unreadable" ? [`${folder} cannot be read: ${listing.message}`] : [],
  );
}

function nextStep(
  { drafts, proposals, suggestions }: Pick<Status, "drafts" | "proposals" | "suggestions">,
  broken: readonly string[],
  learnedAt: number | null,
  env: Env,
): string {
  const knack = calledAs(env);
  if (broken.length > 0)
    return `${knack} skills diff <name> shows what was changed; skills accept <name> keeps your edit, skills reject <name> lets go of what is missing`;
  if (learnedAt === null)
    return sessionFoldersOn({ home: userHome(env), env }).some((folder) => existsSync(folder))
      ? `${knack} learn`
      : "use an agent, then run this again";
  if (drafts + proposals > 0)
    return `${knack} skills list, then skills accept <name> or skills reject <name>`;
  return suggestions > 0
    ? `${knack} skills accept <name> or skills reject <name>; or ${knack}, in a terminal: it asks about each`
    : `${knack} learn, after your next session`;
}

/** Lines about what is off, and about what is broken: all of it is one screen. */
const mostLines = 3;

function print(told: Status, env: Env): void {
  const paint = paintFor(process.stdout, env);
  const rows: [string, string][] = [
    ["home", short(told.home, env)],
    [
      "read",
      `${several(told.sessions, "session")} in ${several(told.projects, "project")}, ${lastLearned(told)}`,
    ],
    ["noticed", statusesOf(told)],
    ...observerRows(told.observer),
    [
      "kept",
      [
        several(told.skills, "skill"),
        ...(told.commands > 0 ? [several(told.commands, "command")] : []),
        ...(told.agents > 0 ? [several(told.agents, "agent")] : []),
        several(told.rules, "rule"),
      ].join(", "),
    ],
    ...reviewRows(told.reviews, env),
    ["", ""],
    ["This week", ""],
    ...weekRows(told.week),
    ["", ""],
    ["waiting", waitingOf(told)],
    ...few("off", told.off, env),
    ...few("broken", told.broken, env),
    ["next", told.next],
  ];
  printLines(
    rows.map(([name, text]) => {
      const label = name.padEnd(8);
      return `${name === "broken" ? paint.red(label) : paint.dim(label)} ${text}`.trimEnd();
    }),
  );
}

/** Who looks, where that is not rules alone. */
function observerRows(state: ModelState | null): [string, string][] {
  if (state === null || state.observer === "heuristic") return [];
  const { unset, model, openUntil } = state;
  if (unset !== null) return [["judged", `by rules alone: ${unset}`]];
  const open = openUntil === null ? "" : "; not asked for a while after failures";
  return [["judged", `by ${model}, ${spentText(state)}${open}`]];
}

function lastLearned({ learnedAt }: Status): string {
  return learnedAt === null ? "never learned from" : `last learned from ${dateTime(Date.parse(learnedAt))}`;
}

function statusesOf({ instincts }: Status): string {
  const counts = Object.entries(instincts).map(([name, count]) => `${count} ${name}`);
  return counts.join(", ") || "nothing yet";
}

function waitingOf({ suggestions, suggested, drafts, proposals, reviews }: Status): string {
  const more = suggestions > suggested.length ? ", …" : "";
  const waiting = [
    ...(suggestions > 0
      ? [`${several(suggestions, "lesson")} to decide about (${suggested.join(", ")}${more})`]
      : []),
    ...(drafts > 0 ? [several(drafts, "draft")] : []),
    ...(proposals > 0 ? [several(proposals, "proposal")] : []),
    ...waitingReviews(reviews),
  ];
  return waiting.join(", ") || "nothing";
}

function weekRows({ learned, used, saved, cost }: Week): [string, string][] {
  const { start, prompt, failure } = used.at;
  const occasions = [
    ...(start > 0 ? [`${start} at the start`] : []),
    ...(prompt > 0 ? [`${prompt} at a prompt`] : []),
    ...(failure > 0 ? [`${failure} at a failure`] : []),
    ...(used.offered > 0 ? [`${several(used.offered, "skill")} (${used.loaded} whole)`] : []),
  ];
  return [
    ["learned", learnedIn(learned)],
    [
      "used",
      used.times === 0
        ? "nothing was told to an agent"
        : `told ${several(used.times, "time")} in ${several(used.sessions, "session")}: ${occasions.join(", ")}`,
    ],
    ...(used.followable > 0
      ? [
          ["", `followed, and worked: ${used.followed} of ${used.followable} that name a call`] as [
            string,
            string,
          ],
        ]
      : []),
    ...judgedRows(used),
    [
      "saved",
      saved.failures === 0
        ? "nothing yet: no failure met a known fix"
        : `${several(saved.calls, "call")}: at ${several(saved.failures, "failure")} the known fix was told; counted is where it came next and worked`,
    ],
    [
      "cost",
      `${cost.characters.toLocaleString("en-US")} characters told (about ${several(cost.tokens, "token")}), ${cost.model > 0 ? `models ${inUsd(cost.model)}` : "no model called"}${cost.asked > 0 ? `, ${several(cost.asked, "turn")} asked for` : ""}`,
    ],
  ];
}

function learnedIn({ lessons, newest, skills }: Week["learned"]): string {
  const listed = (count: number, noun: string, names: readonly string[]) => {
    const more = count - names.length;
    return count === 0 ? [] : [`${noun}: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`];
  };
  const parts = [
    ...listed(lessons, several(lessons, "lesson"), newest),
    ...listed(
      skills.length,
      `${several(skills.length, "skill")} written by agents or reviews`,
      skills.slice(0, named),
    ),
  ];
  return parts.join("; ") || "nothing";
}

/** What was used of the library, and what was judged, where there is something to say. */
function judgedRows({ skills, guided, helpful, harmful }: Week["used"]): [string, string][] {
  const parts = [
    ...(skills > 0 ? [`skills used: ${skills}`] : []),
    ...(guided > 0 ? [`by agents' receipts: ${guided}`] : []),
    ...(helpful + harmful > 0 ? [`${helpful} helpful, ${harmful} harmful`] : []),
  ];
  return parts.length > 0 ? [["", parts.join("; ")]] : [];
}

/** The first few of a list, each on a line. */
function few(name: string, texts: readonly string[], env: Env): [string, string][] {
  const rest = texts.length - mostLines;
  return [
    ...texts.slice(0, mostLines).map((text): [string, string] => [name, text]),
    ...(rest > 0 ? [[name, `and ${rest} more: ${calledAs(env)} status --json`] as [string, string]] : []),
  ];
}
