import * as z from "zod";
import { defineTool } from "./tool.ts";

export const skillSearch = defineTool({
  name: "skill_search",
  title: "Find a skill for what you are about to do",
  about:
    "Call before work that somebody may have done before: it finds the few skills that fit, or none. Then load one with skill_load.",
  input: z.object({
    query: z.string().min(1).max(4_000).describe("What is to be done, in the person's words."),
  }),
  readOnly: true,
  run: async ({ query }, { knack, word }) => {
    const found = (await knack.find(query, word.cwd)).map(({ card, why, chance }) => ({
      name: card.name,
      kind: card.kind,
      // What may not be put before an agent has a name only.
      description: card.harmless ? card.description : "",
      why,
      draft: card.draft,
      chance: Math.round(chance * 100) / 100,
    }));
    const lines = found.map(
      ({ name, kind, description, draft, why }) =>
        `- ${name}${draft ? " (draft)" : ""}${kind === "skill" ? "" : ` (${kind})`}: ${description} [${why}]`,
    );
    const text = lines.length > 0 ? lines.join("\n") : "Nothing in the library is for that.";
    return { ok: true, value: { text, data: { found } } };
  },
});
