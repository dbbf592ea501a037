import * as z from "zod";
import { fields, learningSignal, readReply, refuseWith, skillIssueSignal } from "../authoring/index.ts";
import { asObject } from "../base/index.ts";
import type { Knack } from "../open.ts";
import { describeCure } from "../recall/index.ts";
import { createFault } from "../records/index.ts";
import { itemNamed } from "../search/index.ts";
import { mayBeWritten, redact, scan } from "../trust/index.ts";
import { goal } from "./goal.ts";
import { lessonLeads, lessonSubmit } from "./lessons.ts";
import { answer, defineTool, type Tool } from "./tool.ts";

const skillSearch = defineTool({
  name: "skill_search",
  title: "Find a skill for what you are about to do, or the known fix of a failure",
  about:
    "Call before work that somebody may have done before: it finds the few skills that fit, or none. Then load one with skill_load. Call with an error when something failed: it finds what worked the last time.",
  input: z.object({
    query: z
      .string()
      .min(1)
      .max(4_000)
      .nullish()
      .describe("What is to be done, in the person's words; or an error."),
    error: z.string().min(1).max(100_000).nullish().describe("What a failed command printed."),
    command: z.string().max(100_000).nullish().describe("With error: the command that failed."),
  }),
  readOnly: true,
  run: async ({ query, error, command }, { knack, host, resolveCaller }) => {
    if (query == null && error == null)
      return refuseWith(
        createFault("invalid_argument", "Neither query nor error.", "Call skill_search with one of them."),
      );
    const known = await findFixes(knack, error ?? query ?? "", command ?? null, host.cwd);
    // What is to be done may be said in the words of an error.
    const fixes = error == null ? known.filter(({ by }) => by === "error") : known;
    const found = query == null ? [] : await findSkills(knack, query, host.cwd);
    const pages = query == null ? [] : await knack.findPages(query, host.cwd);
    const lines = [
      ...fixes.map(({ best: { finding } }) => redact(`- What worked: ${finding.action}. ${finding.lesson}`)),
      ...found.map(
        ({ name, kind, description, draft, why }) =>
          `- ${name}${draft ? " (draft)" : ""}${kind === "skill" ? "" : ` (${kind})`}: ${description} [${why}]`,
      ),
      // A page's words are nobody's order: it is named, and read by whoever wants to.
      ...pages.map(({ page }) => `- .knack/pages/${page}.md (a page of this project)`),
    ];
    const { caller } = await resolveCaller();
    await knack.noteSearch(caller.session, caller.project.id, {
      ...{ by: "skill_search", query: query ?? error ?? "" },
      found: [
        ...fixes.map(({ lesson }) => lesson.name),
        ...found.map(({ name }) => name),
        ...pages.map(({ page }) => page),
      ],
    });
    const nothing = error == null ? "No skill in the library fits." : "No fix of this is known.";
    const named = pages.map(({ page }) => ({ page, path: `.knack/pages/${page}.md` }));
    return answer(lines.join("\n") || nothing, { found, fixes: fixes.map(describeFix), pages: named });
  },
});

async function findSkills(knack: Knack, query: string, cwd: string) {
  const found = (await knack.find(query, cwd)).filter(({ card }) => card.told !== "nothing");
  return found.map(({ card, why, chance }) => {
    const { name, kind, draft, told } = card;
    // A description is the words of whoever wrote it: where nobody vouches for them, the name is enough.
    const description = told === "whole" ? card.description : "";
    return { name, kind, description, why, draft, chance: Math.round(chance * 100) / 100 };
  });
}

type KnownFix = Awaited<ReturnType<Knack["recall"]>>["matches"][number];

/** The results of `knack recall --error`, without those that may be dangerous. */
async function findFixes(
  knack: Knack,
  error: string,
  command: string | null,
  cwd: string,
): Promise<KnownFix[]> {
  const asked = { command: command && redact(command), output: redact(error), exitCode: null };
  const { matches } = await knack.recall(asked, cwd, "agent");
  return matches.filter(({ best: { finding } }) =>
    mayBeWritten(scan([finding.lesson, finding.action, ...finding.steps].join("\n"))),
  );
}

function describeFix({ lesson, best, score, distance }: KnownFix) {
  const { excerpt } = best.finding;
  const action = describeCure(best.finding, lesson.state.acceptedAt !== undefined);
  const texts = { action: redact(action), worked: excerpt.worked && redact(excerpt.worked) };
  return { id: lesson.id, name: lesson.name, ...texts, score, distance };
}

/** Names of a list that a search's entry keeps. */
const mostNoted = 50;

const skillLoad = defineTool({
  name: "skill_load",
  title: "Read a skill",
  about:
    "Without a name: every skill here, by name and description. With a name: its SKILL.md and the names of its files. With a path as well: that file. Load a skill when you mean to follow it.",
  input: z.object({
    skill_name: z.string().nullish(),
    path: z.string().nullish().describe("A file of the skill, such as references/notes.md."),
  }),
  readOnly: true,
  run: async ({ skill_name = null, path = null }, { knack, resolveCaller }) => {
    const active = await resolveCaller();
    const result = await knack.loadSkill(active, { skill: skill_name, file: path });
    if (!result.ok) return result;
    const loaded = result.value;
    const { session, project } = active.caller;
    const names = "skills" in loaded ? loaded.skills.slice(0, mostNoted) : [loaded];
    await knack.noteSearch(session, project.id, {
      ...{ by: "skill_load", query: skill_name ?? "" },
      found: names.map(({ name }) => name),
    });
    if ("skills" in loaded) {
      const lines = loaded.skills.map(({ name, description }) => `- ${name}: ${description}`);
      const more = loaded.more > 0 ? [`and ${loaded.more} more: skill_search finds them`] : [];
      return answer([...lines, ...more].join("\n") || "There are no skills here.", { ...loaded });
    }
    const { name, file, text, files } = loaded;
    const others = files.filter((one) => one !== file);
    return answer(
      `${text}${others.length === 0 ? "" : `\n\nOther files of ${name}: ${others.join(", ")}`}`,
      null,
    );
  },
});

const skillUsed = defineTool({
  name: "skill_used",
  title: "Say that a learned skill guided the work",
  about:
    "Call once in a turn for each learned skill that really guided what you did, not for one you only read. Show the person the receipt, if there is one.",
  input: z.object({
    skill_name: fields.skill,
    message: z.string().nullish().describe("The receipt in the person's language, with the skill's name."),
  }),
  readOnly: false,
  run: async ({ skill_name, message = null }, { knack, resolveCaller }) => {
    const result = await knack.useSkill(await resolveCaller(), { skill: skill_name, message });
    if (!result.ok) return result;
    const { receipt, already } = result.value;
    const silent = already ? "Recorded already in this turn; show nothing." : "Recorded; show nothing.";
    return answer(receipt ?? silent, { receipt, already });
  },
});

const skillLearningStart = defineTool({
  name: "skill_learning_start",
  title: "Begin to write a skill",
  about:
    "Call before you write or change any file of a skill. Worth it when this session verified something reusable: the person asked to remember it, several steps made one workflow, a surprise was overcome, the person corrected you, the same calls keep coming; or a skill you used proved wrong. Not for one-offs, plain facts, unverified workarounds or bundled skills. Answers with the folder to write in and the rules. Then write the package and call skill_learning_finish. Do not ask the person for approval; show them the message.",
  input: z.object({
    action: fields.action.describe("create: a new skill. update: an existing one."),
    skill_name: fields.skill.describe(
      "What it is for, in lower case with hyphens; a new one begins with rl-",
    ),
    reason: fields.reason.describe(
      "create: one of the first five. update: what is wrong, one of the last six.",
    ),
    event_refs: fields.refs.describe(
      "Two or more events that show it, such as e17 (one for an explicit request); event_expand lists them.",
    ),
    message: fields.message.describe("What to tell the person, one sentence in their language."),
  }),
  readOnly: false,
  run: async ({ skill_name, event_refs, ...rest }, { knack, resolveCaller, notify }) => {
    const start = { ...rest, skill: skill_name, refs: event_refs };
    const result = await knack.startWriting(await resolveCaller(), start);
    if (!result.ok) return result;
    const { writing: learning, staging, message, rules } = result.value;
    await notify(message);
    const next = "Tell the person the message, and write the package in the staging folder.";
    const lines = [message, `Write the package in ${staging}`, ...rules.map((rule) => `- ${rule}`), next];
    return answer(lines.join("\n"), { message, staging, rules, next, learning });
  },
});

const skillLearningFinish = defineTool({
  name: "skill_learning_finish",
  title: "Publish the skill, or give it up",
  about:
    "Call after skill_learning_start, once the package is written, or when you give it up. The package is checked and goes live, or waits for the person; or nothing changes and you are told what to repair: repair it and call again. Show the person the receipt it answers with, once.",
  input: z.object({
    action: fields.action,
    skill_name: fields.skill,
    status: fields.status.describe("created or updated: publish it. aborted or failed: drop it."),
    message: fields.message
      .nullish()
      .describe(
        "The receipt in the person's language, with the skill's name; else \"Learned skill: <name>\".",
      ),
    summary: fields.summary.nullish().describe("One sentence: what was learned."),
    event_refs: fields.refs.optional(),
  }),
  readOnly: false,
  run: async (args, { knack, resolveCaller }) => {
    const { action, status, skill_name, message = null, summary = null, event_refs = [] } = args;
    const finish = { action, status, skill: skill_name, message, summary, refs: event_refs };
    const result = await knack.finishWriting(await resolveCaller(), finish);
    if (!result.ok) return result;
    const { status: ended, receipt, path, notes } = result.value;
    const lines = [
      receipt ?? `Nothing was learned (${ended})${notes.length === 0 ? "; everything is as it was" : ""}.`,
      ...(path === null ? [] : [`It is in ${path}, and agents have it from their next session on.`]),
      ...notes,
    ];
    return answer(lines.join("\n"), { status: ended, receipt, path, notes });
  },
});

const eventExpand = defineTool({
  name: "event_expand",
  title: "Look back at this session's events",
  about:
    "Without event_refs: the latest events of this session, a line each with its ref; this is how you learn the refs that the other tools ask for. With event_refs: those events whole.",
  input: z.object({ event_refs: z.array(z.string()).nullish() }),
  readOnly: true,
  run: async ({ event_refs }, { knack, resolveCaller }) => {
    const result = await knack.expandEvents(await resolveCaller(), event_refs ?? []);
    if (!result.ok) return result;
    const lines = result.value.map(({ line, text }) => (text === null ? line : `${line}\n${text}\n`));
    return answer(lines.join("\n") || "No events of this session are recorded yet.", null);
  },
});

/** Signals of any form are handed over: a refusal is recorded with its reason. */
const skillSignal: Tool = {
  name: "skill_signal",
  title: "Leave a hint for a later review",
  about:
    "Call when something is worth learning and you cannot write it now; give exactly one of the two signals. Not after a successful skill_learning_finish in this turn, not for one-offs. Most turns need none.",
  input: z.object({
    learning_signal: learningSignal.omit({ kind: true }).nullish().describe("Something worth a new skill."),
    skill_issue_signal: skillIssueSignal
      .omit({ kind: true })
      .nullish()
      .describe("Something wrong with an existing skill."),
  }),
  readOnly: false,
  run: async (args, { knack, resolveCaller }) => {
    const caller = await resolveCaller();
    // Receipts are not taken here: nobody would see them.
    const { learning_signal, skill_issue_signal } = asObject(args) ?? {};
    const given = { learning_signal, skill_issue_signal };
    const { signals, problems } = readReply(given);
    const [only] = signals;
    if (only && "refs" in only && signals.length === 1) {
      const result = await knack.giveSignal(caller, only);
      if (!result.ok) return result;
      const { id, signal, invocation, refusal, message } = result.value;
      return answer("Recorded for a later review. There is nothing to show or to do.", {
        ...{ signal_id: id, kind: signal?.kind ?? null, invocation },
        ...{ accepted: refusal === null, refusal, message },
      });
    }
    const taken = await knack.takeReply(caller, given);
    const said = [...taken.signals.flatMap(({ message }) => message ?? []), ...problems, ...taken.problems];
    const next = "Give either learning_signal or skill_issue_signal with all its fields, or none at all.";
    return refuseWith(
      createFault("signal_refused", "Exactly one valid signal is needed.", next, [...new Set(said)]),
    );
  },
};

const skillRate = defineTool({
  name: "skill_rate",
  title: "Say what a skill was worth",
  about:
    "Call when the person says that a skill helped or did harm, or when you saw it yourself: its steps worked, or led you astray. Not for a skill you did not use.",
  input: z.object({
    skill_name: fields.skill,
    verdict: z.enum(["helpful", "harmful"]),
    because: z.string().nullish().describe("Why, in one sentence."),
  }),
  readOnly: false,
  addsEachTime: true,
  run: async ({ skill_name, verdict, because }, { knack, resolveCaller }) => {
    const { caller } = await resolveCaller();
    const { root, id: project } = caller.project;
    const { items } = await knack.catalog(root === null ? {} : { cwd: root });
    const item = itemNamed(items, project, skill_name);
    const unknown = `There is no skill "${skill_name.slice(0, 100)}" here.`;
    const next = "Call skill_load without a name to see what there is.";
    if (item === null) return refuseWith(createFault("skill_unknown", unknown, next));
    const noted = await knack.rate({
      ...{ kind: "skill", id: item.id, name: item.name, verdict, because: because ?? "" },
      ...{ session: caller.session, project, by: "agent" },
    });
    return answer(`Recorded: ${item.name} was ${verdict}.`, { skill_name: item.name, verdict, ...noted });
  },
});

/** Everything that an agent can ask of Knack, in the order in which it is listed. */
export const tools: readonly Tool[] = [
  ...[skillSearch, skillLoad, skillUsed, skillLearningStart],
  ...[skillLearningFinish, eventExpand, skillSignal, skillRate],
  ...[lessonLeads, lessonSubmit, goal],
];
