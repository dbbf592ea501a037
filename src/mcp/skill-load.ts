import * as z from "zod";
import { defineTool, told } from "./tool.ts";

export const skillLoad = defineTool({
  name: "skill_load",
  title: "Read a skill",
  about:
    "Without a name: every skill here, by name and description. With a name: its SKILL.md and the names of its files. With a path as well: that file. Load a skill when you mean to follow it.",
  input: z.object({
    skill_name: z.string().nullish(),
    path: z.string().nullish().describe("A file of the skill, such as references/notes.md."),
  }),
  readOnly: true,
  run: async ({ skill_name = null, path = null }, { knack, present }) =>
    told(await knack.loadSkill(await present(), { skill: skill_name, file: path }), (loaded) => {
      if ("skills" in loaded) {
        const lines = loaded.skills.map(({ name, description }) => `- ${name}: ${description}`);
        const more = loaded.more > 0 ? [`and ${loaded.more} more: skill_search finds them`] : [];
        return { text: [...lines, ...more].join("\n") || "There are no skills here.", data: { ...loaded } };
      }
      const { name, file, text, files } = loaded;
      const others = files.filter((one) => one !== file);
      const end = others.length === 0 ? "" : `\n\nOther files of ${name}: ${others.join(", ")}`;
      return { text: `${text}${end}`, data: null };
    }),
});
