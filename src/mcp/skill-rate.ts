import * as z from "zod";
import { itemNamed } from "../core/item.ts";
import { brief, faultOf, faulty } from "../core/protocol.ts";
import { defineTool, skillName } from "./tool.ts";

export const skillRate = defineTool({
  name: "skill_rate",
  title: "Say what a skill was worth",
  about:
    "Call when the person says that a skill helped or did harm, or when you saw it yourself: its steps worked, or led you astray. Not for a skill you did not use.",
  input: z.object({
    skill_name: skillName,
    verdict: z.enum(["helpful", "harmful"]),
    because: z.string().nullish().describe("Why, in one sentence."),
  }),
  readOnly: false,
  addsEachTime: true,
  run: async ({ skill_name, verdict, because }, { knack, present }) => {
    const { caller } = await present();
    const { root, id: project } = caller.project;
    const { items } = await knack.catalog(root === null ? {} : { cwd: root });
    const item = itemNamed(items, project, skill_name);
    if (item === null)
      return faulty(
        faultOf(
          "skill_unknown",
          `There is no skill "${brief(skill_name)}" here.`,
          "Call skill_load without a name to see what there is.",
        ),
      );
    const noted = await knack.rate({
      ...{ kind: "skill", id: item.id, name: item.name, verdict, because: because ?? "" },
      ...{ session: caller.session, project, by: "agent" },
    });
    return {
      ok: true,
      value: {
        text: `Noted: ${item.name} was ${verdict}.`,
        data: { skill_name: item.name, verdict, ...noted },
      },
    };
  },
});
