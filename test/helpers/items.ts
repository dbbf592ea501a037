import { type Item, type ItemKind, itemId } from "../../src/records/change.ts";

/** Something of the library about which only what matters is said. */
export function anItem(name: string, more: Partial<Item> = {}): Item {
  const { kind = "skill" as ItemKind, scopeId = "user" } = more;
  return {
    id: itemId(scopeId, kind, name),
    kind,
    name,
    scopeId,
    owner: "hand-written",
    draft: false,
    source: null,
    path: `/home/dev/.claude/skills/${name}/SKILL.md`,
    copies: [],
    hash: "h",
    description: `What ${name} is for`,
    when: "",
    tags: [],
    body: "",
    load: "fit",
    harmless: true,
    doubted: false,
    checkout: null,
    accepted: null,
    told: "whole",
    changedAt: 0,
    ...more,
  };
}
