import * as z from "zod";
import { refuseWith } from "../authoring/index.ts";
import { KnackError } from "../base/index.ts";
import { goalInput, goalVerbs } from "../duties/index.ts";
import { createFault } from "../records/index.ts";
import { answer, defineTool, type Tool } from "./tool.ts";

/** Everything that can be done with goals, in one tool: most sessions need none of it. */
export const goal: Tool = defineTool({
  name: "goal",
  title: "Goals, and what they owe",
  about: "Call when Knack held your turn for a goal, or the person works with goals. check: what it owes.",
  input: z.object({ do: z.enum(goalVerbs), ...goalInput.shape }),
  readOnly: false,
  addsEachTime: true,
  run: async ({ do: verb, ...input }, { knack, resolveCaller }) => {
    const { caller, session } = await resolveCaller();
    const who = caller.session ?? session?.id ?? "agent";
    const by = { project: caller.project, session: caller.session, actor: "agent" as const, who };
    try {
      const { data, lines, isNo = false } = await knack.goal(verb, by, input);
      return answer(lines.join("\n"), { ...data, ok: !isNo });
    } catch (error) {
      if (!(error instanceof KnackError)) throw error;
      return refuseWith(createFault("invalid_argument", error.message, error.hint ?? "Call it again."));
    }
  },
});
