import type { Filed } from "../../src/core/search/segment.ts";
import { put } from "../../src/engine/reindex.ts";
import { indexFilesIn } from "../../src/store/index-files.ts";

/** A made-up skill; another text has another mark. */
export function filed(id: string, text = `does ${id}`, realm = "user"): Filed {
  const [name, description] = [`skill-${id}`, `Use when somebody asks for ${id}`];
  return {
    entry: { id, name, description, when: "", tags: [], body: text, prompts: [] },
    card: {
      ...{ id, name, description, realm, load: "fit", uses: 0, kind: "skill", draft: false, source: null },
      ...{ path: `/skills/${name}/SKILL.md`, changedAt: 0, harmless: true, hiddenIn: [] },
    },
    mark: text,
  };
}

/** As a program of its own: adds and replaces skills on and on, and says when it has begun. */
if (process.argv[2] !== undefined) {
  const files = indexFilesIn(process.argv[2]);
  for (let n = 0; ; n++) {
    put(files, [filed(`s${n % 40}`, `revision ${n}`)]);
    if (n === 0) console.log("begun");
  }
}
