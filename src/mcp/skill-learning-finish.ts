import * as z from "zod";
import { learningActions, learningStatuses } from "../core/protocol.ts";
import { defineTool, eventRefs, skillName, told } from "./tool.ts";

export const skillLearningFinish = defineTool({
  name: "skill_learning_finish",
  title: "Publish the skill, or give it up",
  about:
    "Call after skill_learning_start, once the package is written, or when you give it up. The package is checked and goes live; or nothing changes and you are told what to repair: repair it and call again. Show the person the receipt it answers with, once.",
  input: z.object({
    action: z.enum(learningActions),
    skill_name: skillName,
    status: z.enum(learningStatuses).describe("created or updated: publish it. aborted or failed: drop it."),
    message: z
      .string()
      .nullish()
      .describe(
        "The receipt in the person's language, with the skill's name; else \"Learned skill: <name>\".",
      ),
    summary: z.string().nullish().describe("One sentence: what was learned."),
    event_refs: eventRefs.optional(),
  }),
  readOnly: false,
  run: async ({ action, status, skill_name, message = null, summary = null, event_refs = [] }, call) => {
    const finish = { action, status, skill: skill_name, message, summary, refs: event_refs };
    const answer = await call.knack.finishLearning(await call.present(), finish);
    return told(answer, ({ status: ended, receipt, path, notes }) => ({
      text: [
        receipt ?? `Nothing was learned (${ended})${notes.length === 0 ? "; everything is as it was" : ""}.`,
        ...(path === null ? [] : [`It is in ${path}, and there from the next session on.`]),
        ...notes,
      ].join("\n"),
      data: { status: ended, receipt, path, notes },
    }));
  },
});
