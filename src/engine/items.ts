import { type Item, itemId } from "../core/item.ts";
import { mayBeWritten, scanSkill } from "../core/scan.ts";
import { skillFile } from "../core/skill.ts";
import type { LibraryView } from "./credit.ts";
import type { SkillPackage } from "./ports.ts";
import { historyOf, type PublishDeps } from "./step.ts";

/** The skills in the agents' folders and the drafts, as items of the library, and whether all of it could be read. */
export async function items({
  store,
  library,
  places,
}: Pick<PublishDeps, "store" | "library" | "places">): Promise<LibraryView> {
  const { kept } = await historyOf(store);
  const makers = new Map(kept.map((one) => [one.path, one]));
  const lessons = new Map((await store.learning.instincts.list()).map((one) => [one.id, one]));
  const projects = (await store.projects.list()).flatMap(({ id, root }) =>
    root === null ? [] : { id, root },
  );
  const found = new Map<string, Item>();
  let whole = true;
  const shared = new Set(places.all(null).map(({ folder }) => folder));
  for (const { realm, place } of [
    ...projects.flatMap(({ id, root }) =>
      places.all(root).flatMap((place) => (shared.has(place.folder) ? [] : { realm: id, place })),
    ),
    ...places.all(null).map((place) => ({ realm: "user", place })),
  ]) {
    const listing = await library.list(place);
    if (listing.found === "unreadable") whole = false;
    for (const one of listing.found === "skills" ? listing.skills : []) {
      const made = makers.get(one.path);
      const lesson = made?.reach === "draft" ? lessons.get(made.instinct) : undefined;
      const whose = lesson ? (lesson.scope === "user" ? "user" : lesson.project) : realm;
      const item = itemOf(one, whose, made?.reach === "draft", made?.instinct ?? null);
      const known = found.get(item.id);
      found.set(item.id, known ? { ...known, copies: [...known.copies, item.path] } : item);
    }
  }
  return { items: [...found.values()], whole };
}

function itemOf(one: SkillPackage, realm: string, draft: boolean, source: string | null): Item {
  return {
    id: itemId(realm, "skill", one.name),
    kind: "skill",
    name: one.name,
    realm,
    owner: one.owner,
    draft,
    source,
    path: `${one.path}/${skillFile}`,
    copies: [],
    hash: one.hash,
    description: one.description,
    when: "",
    tags: [],
    body: one.skill.body,
    load: "fit",
    harmless: mayBeWritten(scanSkill(one.skill)),
    changedAt: 0,
  };
}
