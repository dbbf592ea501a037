import * as z from "zod";
import { policy } from "../core/policy.ts";
import { issues, learningActions, triggers } from "../core/protocol.ts";
import { defineTool, eventRefs, skillName, told } from "./tool.ts";

export const skillLearningStart = defineTool({
  name: "skill_learning_start",
  title: "Begin to write a skill",
  about:
    "Call before you write or change any file of a skill. Worth it when this session verified something reusable: the person asked to remember it, several steps made one workflow, a surprise was overcome, the person corrected you, the same calls keep coming; or a skill you used proved wrong. Not for one-offs, plain facts, unverified workarounds or bundled skills. Answers with the folder to write in and the rules. Then write the package and call skill_learning_finish. Do not ask the person for approval; show them the message.",
  input: z.object({
    action: z.enum(learningActions).describe("create: a new skill. update: one that is there."),
    skill_name: skillName.describe(
      `What it is for, in lower case with hyphens; a new one begins with ${policy.skill.prefix}`,
    ),
    reason: z
      .enum([...triggers, ...issues])
      .describe("create: one of the first five. update: what is wrong, one of the last six."),
    event_refs: eventRefs.describe(
      "Two or more events that show it, such as e17 (one for an explicit request); event_expand lists them.",
    ),
    message: z.string().describe("What to tell the person, one sentence in their language."),
  }),
  readOnly: false,
  run: async ({ skill_name, event_refs, ...rest }, call) => {
    const present = await call.present();
    const answer = await call.knack.startLearning(present, { ...rest, skill: skill_name, refs: event_refs });
    if (answer.ok) await call.tell(answer.value.message);
    return told(answer, ({ learning, staging, message, rules }) => ({
      text: [message, `Write the package in ${staging}`, ...rules.map((rule) => `- ${rule}`), next].join(
        "\n",
      ),
      data: { message, staging, rules, next, learning },
    }));
  },
});

const next = "Tell the person the message, and write the package in the staging folder.";
