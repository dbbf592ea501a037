import type { IndexItem } from "../../src/search/entry.ts";
import { openIndexFiles } from "../../src/search/library-index.ts";

/** A made-up skill; another text has another mark. */
export function filed(id: string, text = `does ${id}`, scopeId = "user"): IndexItem {
  const [name, description] = [`skill-${id}`, `Use when somebody asks for ${id}`];
  return {
    entry: { id, name, description, when: "", tags: [], body: text, prompts: [] },
    card: {
      ...{ id, name, description, scopeId, load: "fit", uses: 0, kind: "skill", draft: false, source: null },
      ...{ path: `/skills/${name}/SKILL.md`, checkout: null, hash: "h", told: "whole", hiddenIn: [] },
    },
    mark: `${scopeId} ${text}`,
  };
}

/** As a program of its own: changes skills on and on, and says when it has begun. */
if (process.argv[2] !== undefined) {
  const files = openIndexFiles(process.argv[2]);
  const items = Array.from({ length: 40 }, (_, n) => filed(`s${n}`, "revision 0"));
  for (let n = 0; ; n++) {
    items[n % 40] = filed(`s${n % 40}`, `revision ${n}`);
    // Now and then everything is another, so that the main file is written anew.
    files.update(n % 7 === 0 ? items.map(({ entry: { id } }) => filed(id, `revision ${n}`)) : items);
    if (n === 0) console.log("begun");
  }
}
