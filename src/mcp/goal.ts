import * as z from "zod";
import { refuseWith } from "../authoring/index.ts";
import { isObject, KnackError, toSnakeCase } from "../base/index.ts";
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
      return answer(lines.join("\n"), { ...(renameFields(data) as object), ok: !isNo });
    } catch (error) {
      if (!(error instanceof KnackError)) throw error;
      return refuseWith(createFault("invalid_argument", error.message, error.hint ?? "Call it again."));
    }
  },
});

/** The fields as the command line names them. */
function renameFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renameFields);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [toSnakeCase(name), renameFields(one)]),
  );
}
