import * as z from "zod";
import { defineTool, skillName, told } from "./tool.ts";

export const skillUsed = defineTool({
  name: "skill_used",
  title: "Say that a learned skill guided the work",
  about:
    "Call once in a turn for each learned skill that really guided what you did, not for one you only read. Show the person the receipt, if there is one.",
  input: z.object({
    skill_name: skillName,
    message: z.string().nullish().describe("The receipt in the person's language, with the skill's name."),
  }),
  readOnly: false,
  run: async ({ skill_name, message = null }, call) => {
    const used = { skill: skill_name, message };
    return told(await call.knack.useSkill(await call.present(), used), ({ receipt, already }) => ({
      text: receipt ?? (already ? "Noted already in this turn; show nothing." : "Noted; show nothing."),
      data: { receipt, already },
    }));
  },
});
