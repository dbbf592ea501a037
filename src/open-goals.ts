import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type GoalNeeds, openDuties } from "./duties/index.ts";
import { findItems } from "./library/index.ts";
import { type KnackOptions, openBase } from "./open-base.ts";
import { openIndexFiles } from "./search/index.ts";

/**
 * Goals alone, for looking at them: loading all of Knack would take most of such a command's time. The rest is loaded
 * where a goal asks for it. Close it when done.
 */
export async function openGoals(options: KnackOptions) {
  const { work, ...base } = await openBase(options);
  const { home, store, projectAt } = base;
  const openRest = async () => {
    const { openKnack } = await import("./open.ts");
    return (await openKnack({ ...options, store })).forGoals;
  };
  let opened: Promise<GoalNeeds> | null = null;
  const rest = () => (opened ??= openRest());
  const index = openIndexFiles(base.dryRun ? null : dirname(home.snapshot));
  const duties = openDuties({
    ...{ ...base, ...work },
    items: async () => (await rest()).items(),
    pages: async (project) => {
      const [known] = await store.projects.get([project.id]);
      return hasPages(known?.root ?? project.root) ? (await rest()).pages(project) : null;
    },
    findFitting: async (text, root) => {
      const folder = root ?? process.cwd();
      const { id: project } = await projectAt(folder);
      const found = hasPages(root) ? null : findItems(index, text, { project, folder, asked: true });
      return found?.map(({ card }) => card.name) ?? (await rest()).findFitting(text, root);
    },
  });
  return { goal: duties.goal, projectAt, close: store.close };
}

/** Reading pages takes the rest of Knack, and most projects have none. */
function hasPages(root: string | null): boolean {
  return root !== null && existsSync(join(root, ".knack", "pages"));
}
