import { existsSync } from "node:fs";
import { type Instinct, type InstinctStatus, standingAt } from "../core/instinct.ts";
import type { ProjectFold } from "../core/ledger.ts";
import { homesOf } from "../core/project.ts";
import { redact } from "../core/redact.ts";
import type { GapView } from "../engine/gap.ts";
import type { Shelved } from "../engine/shelf.ts";
import type { Knack } from "../open.ts";
import { defineVerb } from "./main.ts";
import { withKnack } from "./opening.ts";
import { day, iso, onOneLine, paintFor, printJson, printLines, short, table } from "./terminal.ts";

export const projects = defineVerb({
  about:
    "The projects that Knack knows, and what it has learned in each. Worktrees and clones of one are one.",
  args: { json: { type: "boolean", description: "print one JSON object" } },
  run: async ({ args, env }) =>
    withKnack(env, {}, async (knack) => {
      const views = await viewsOf(knack);
      if (args.json) {
        printJson({
          projects: views.map((view) => ({ ...view, id: redact(view.id), lastAt: iso(view.lastAt) })),
        });
        return 0;
      }
      const paint = paintFor(process.stdout, env);
      const [head = "", ...rows] = table([
        ["project", "sessions", "instincts", "gaps", "skills", "last", "folder"],
        ...views.map((view) => [
          onOneLine(redact(view.name), 30),
          String(view.sessions),
          inWords(view.instincts),
          String(view.gaps),
          String(view.skills),
          day(view.lastAt),
          view.root === null
            ? "unknown"
            : `${onOneLine(short(view.root, env), 60)}${view.present ? "" : " (not here)"}`,
        ]),
      ]);
      printLines(
        views.length === 0
          ? ["No project is known yet. knack learn reads your agents' sessions."]
          : [paint.dim(head), ...rows],
      );
      return 0;
    }),
});

interface ProjectView extends Pick<ProjectFold, "id" | "name" | "root" | "sessions" | "lastAt"> {
  /** Whether its folder is on this machine. */
  readonly present: boolean;
  readonly instincts: Readonly<Partial<Record<InstinctStatus, number>>>;
  readonly gaps: number;
  readonly skills: number;
}

/** Every project, the one that was worked in last first. */
async function viewsOf(knack: Knack): Promise<ProjectView[]> {
  const now = Date.now();
  const known = await knack.projects();
  const homeOf = homesOf(new Map(known.map((row) => [row.id, row])));
  const instincts = grouped(await knack.instincts(), ({ project }) => homeOf(project));
  const gaps = grouped(
    (await knack.gaps()).filter(({ state }) => state.status !== "rejected"),
    ({ project }: GapView) => homeOf(project),
  );
  const byId = new Map([...instincts.values()].flat().map(({ id, project }) => [id, homeOf(project)]));
  const live = (await knack.shelf()).filter(({ reach }) => reach !== "draft");
  const skills = grouped(
    live,
    ({ instinct, askedIn }: Shelved) => byId.get(instinct) ?? homeOf(askedIn ?? ""),
  );
  const rows = grouped(known, ({ id }) => homeOf(id));
  return known
    .filter(({ id }) => homeOf(id) === id)
    .map(({ id, name, root }) => ({
      ...{ id, name, root },
      sessions: (rows.get(id) ?? []).reduce((sum, row) => sum + row.sessions, 0),
      lastAt: Math.max(...(rows.get(id) ?? []).map((row) => row.lastAt)),
      present: root !== null && existsSync(root),
      instincts: countsOf(instincts.get(id) ?? [], now),
      gaps: gaps.get(id)?.length ?? 0,
      skills: new Set((skills.get(id) ?? []).map((one) => one.name)).size,
    }))
    .sort((a, b) => b.lastAt - a.lastAt || (a.id < b.id ? -1 : 1));
}

function countsOf(instincts: readonly Instinct[], now: number): Partial<Record<InstinctStatus, number>> {
  const counts: Partial<Record<InstinctStatus, number>> = {};
  for (const { standing } of instincts) {
    const { status } = standingAt(standing, now);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

function inWords(counts: Readonly<Partial<Record<InstinctStatus, number>>>): string {
  const some = Object.entries(counts).map(([status, count]) => `${count} ${status}`);
  return some.join(", ") || "none";
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
