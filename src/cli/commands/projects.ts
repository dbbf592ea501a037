import { existsSync } from "node:fs";
import type { Knack } from "../../open.ts";
import { type ProjectFold, resolveProjectIds } from "../../records/index.ts";
import { redact } from "../../trust/index.ts";
import { defineCommand, jsonArg } from "../command.ts";
import { withKnack } from "../knack.ts";
import { countStatuses, describeCounts } from "../screen/lesson.ts";
import { answerList } from "../screen/list.ts";
import { formatDay, groupItems, iso, oneLine } from "../screen/text.ts";

export const projects = defineCommand({
  about:
    "List the projects that Knack knows, and what it learned in each. Worktrees and clones count as one.",
  args: { ...jsonArg },
  run: async (call) =>
    withKnack(call, async (knack) => {
      const { screen } = call;
      const items = await summarizeProjects(knack);
      return answerList(call, {
        items,
        json: () => ({
          projects: items.map((one) => ({ ...one, id: redact(one.id), lastAt: iso(one.lastAt) })),
        }),
        columns: {
          project: ({ name }) => oneLine(name, 30),
          sessions: ({ sessions }) => String(sessions),
          lessons: ({ lessons }) => describeCounts(lessons) || "none",
          gaps: ({ gaps }) => String(gaps),
          skills: ({ skills }) => String(skills),
          last: ({ lastAt }) => formatDay(lastAt),
          folder: ({ root, present }) =>
            root === null
              ? "unknown"
              : `${oneLine(screen.path(root), 60)}${present ? "" : " (not on this machine)"}`,
        },
        empty: [`No projects yet. ${screen.knack} learn reads your agents' sessions.`],
      });
    }),
});

interface ProjectSummary extends Pick<ProjectFold, "id" | "name" | "root" | "sessions" | "lastAt"> {
  /** Whether its folder is on this machine. */
  readonly present: boolean;
  /** How many lessons have each status. */
  readonly lessons: Readonly<Record<string, number>>;
  readonly gaps: number;
  readonly skills: number;
}

/** Every project, the one that was worked in last first. */
async function summarizeProjects(knack: Knack): Promise<ProjectSummary[]> {
  const known = await knack.projects();
  const findHome = resolveProjectIds(new Map(known.map((row) => [row.id, row])));
  const lessons = groupItems(await knack.lessons(), ({ project }) => findHome(project));
  const open = (await knack.gaps()).filter(({ state }) => state.status !== "rejected");
  const gaps = groupItems(open, ({ project }) => findHome(project));
  const homes = new Map([...lessons.values()].flat().map(({ id, project }) => [id, findHome(project)]));
  const live = (await knack.shelf()).filter(({ reach }) => reach !== "draft");
  const skills = groupItems(live, ({ origin, askedIn }) => homes.get(origin.id) ?? findHome(askedIn ?? ""));
  const rows = groupItems(known, ({ id }) => findHome(id));
  return known
    .filter(({ id }) => findHome(id) === id)
    .map(({ id, name, root }) => ({
      ...{ id, name, root },
      sessions: (rows.get(id) ?? []).reduce((sum, row) => sum + row.sessions, 0),
      lastAt: Math.max(...(rows.get(id) ?? []).map((row) => row.lastAt)),
      present: root !== null && existsSync(root),
      lessons: countStatuses(lessons.get(id) ?? []),
      gaps: gaps.get(id)?.length ?? 0,
      skills: new Set((skills.get(id) ?? []).map((one) => one.name)).size,
    }))
    .sort((a, b) => b.lastAt - a.lastAt || (a.id < b.id ? -1 : 1));
}
