import { existsSync } from "node:fs";
import { homeOf, isDisabled } from "../config.ts";
import { standingAt } from "../core/instinct.ts";
import type { Shelved } from "../engine/shelf.ts";
import { type Knack, openKnack, sessionFolders } from "../open.ts";
import { brokenSettings, whyNotLearn } from "../settings.ts";
import { states } from "./look-at-skills.ts";
import { defineVerb, type Env } from "./main.ts";
import { fileOf } from "./telling.ts";
import { calledAs, counted, dateTime, iso, paintFor, printJson, printLines, short } from "./terminal.ts";

interface Status {
  readonly home: string;
  readonly sessions: number;
  readonly projects: number;
  readonly instincts: Readonly<Record<string, number>>;
  /** Lessons worth a look that nobody has decided about. */
  readonly suggestions: number;
  readonly skills: number;
  readonly rules: number;
  readonly drafts: number;
  readonly proposals: number;
  readonly off: readonly string[];
  readonly broken: readonly string[];
  readonly learnedAt: string | null;
  readonly next: string;
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
  const counted = {
    suggestions: (await knack.suggest({ most: Number.POSITIVE_INFINITY })).suggestions.length,
    skills: count(({ kind, reach }) => kind === "skill" && reach !== "draft"),
    rules: count(({ kind }) => kind === "rule"),
    drafts: count(({ reach, proposal }) => reach === "draft" && !proposal),
    proposals: count(({ proposal }) => proposal === true),
  };
  const learnedAt = await knack.learnedAt();
  const settings = brokenSettings(
    home,
    projects.map(({ root }) => root),
  );
  const broken = [...settings, ...(await unfinished(knack)), ...broad(shelf), ...(await unreadable(knack))];
  return {
    home: home.folder,
    sessions: projects.reduce((sum, { sessions }) => sum + sessions, 0),
    projects: projects.length,
    instincts: await byStatus(knack),
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
        : nextStep(counted, broken, learnedAt, env),
  };
}

async function byStatus(knack: Knack): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { standing } of await knack.instincts()) {
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
    return sessionFolders(env).some((folder) => existsSync(folder))
      ? `${knack} learn`
      : "use an agent, then run this again";
  if (drafts + proposals > 0)
    return `${knack} skills list, then skills accept <name> or skills reject <name>`;
  return suggestions > 0
    ? `${knack}, in a terminal: it asks about each`
    : `${knack} learn, after your next session`;
}

function print(told: Status, env: Env): void {
  const paint = paintFor(process.stdout, env);
  const statuses = Object.entries(told.instincts).map(([name, count]) => `${count} ${name}`);
  const waiting = [
    ...(told.suggestions > 0 ? [`${counted(told.suggestions, "lesson")} to decide about`] : []),
    ...(told.drafts > 0 ? [counted(told.drafts, "draft")] : []),
    ...(told.proposals > 0 ? [counted(told.proposals, "proposal")] : []),
  ];
  const rows: [string, string][] = [
    ["home", short(told.home, env)],
    ["read", `${counted(told.sessions, "session")} in ${counted(told.projects, "project")}`],
    ["noticed", statuses.join(", ") || "nothing yet"],
    ["kept", `${counted(told.skills, "skill")}, ${counted(told.rules, "rule")}`],
    ["waiting", waiting.join(", ") || "nothing"],
    ["learned", told.learnedAt === null ? "never" : dateTime(Date.parse(told.learnedAt))],
    ...told.off.map((text): [string, string] => ["off", text]),
    ...told.broken.map((text): [string, string] => ["broken", text]),
    ["next", told.next],
  ];
  printLines(
    rows.map(([name, text]) => {
      const label = name.padEnd(8);
      return `${name === "broken" ? paint.red(label) : paint.dim(label)} ${text}`;
    }),
  );
}
