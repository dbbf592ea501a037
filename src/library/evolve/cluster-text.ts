import { type ItemKind, isSaid, type Lesson } from "../../records/index.ts";
import { codeBlock, cutAtWord, findSection, oneLine, slugify, splitWords } from "../../text/index.ts";
import { maxBodyChars } from "../../trust/index.ts";
import {
  amendEvidence,
  argumentLine,
  bodyLength,
  capitalize,
  dropVolatile,
  type EvidenceItem,
  escapeForKind,
  hideHome,
  lessonsTitle,
  maxDescriptionChars,
  numbered,
  paragraph,
  renderItem,
  sentence,
  setFrontMatter,
  trimEnd,
  trimWhen,
} from "../publish/render.ts";
import { parseSkill } from "../skill.ts";
import type { LessonCluster } from "./clusters.ts";

/** One text for a cluster: what its lessons have in common, each lesson once, and the evidence. */
export function renderCluster(
  cluster: LessonCluster,
  evidence: readonly EvidenceItem[],
  { prefix, quality }: { readonly prefix: string; readonly quality: "draft" | "active" },
) {
  const { kind, members, topic, domain } = cluster;
  const name = `${prefix}${nameCluster(cluster, prefix)}`.slice(0, 64).replace(/-+$/, "");
  const description = describe(cluster);
  // People named another thing each time.
  const takesArgument = kind === "command" && cluster.asked.some(({ ask }) => ask.particulars.length > 0);
  const needsShell = members.some(({ excerpt, call }) => excerpt.worked !== null || call !== null);
  const base = renderItem(kind, {
    name,
    description,
    metadata: {
      author: "heuristic",
      quality,
      "trigger-topic": topic.map(oneLine).join(", "),
      "trigger-action": cutAtWord(dropVolatile(listActions(members).join("; ")), maxDescriptionChars),
      domain,
      evidence: "",
      "evolved-from": "",
    },
    lead: renderLead(cluster, takesArgument),
    sections: [
      [lessonsTitle, ""],
      ["Check", kind === "agent" ? agentCheck : clusterCheck],
    ],
    evidence,
    takesArgument,
    tools: ["Read", "Grep", "Glob", ...(needsShell ? ["Bash"] : [])].join(", "),
  });
  return { kind, name, description, text: growClusterText(base, kind, members, evidence) };
}

const agentCheck =
  "Each thing you report is something you saw in this session; what you only suspect is called a suspicion.";
const clusterCheck =
  "Before you finish, read what you changed and the commands you ran once more: each of them follows the lessons above that apply. Where one does not help, say so.";

/**
 * A cluster's text with the lessons and the evidence that it lacks; the rest stays as it is. What it says already is
 * not added again, so growing twice is growing once.
 */
export function growClusterText(
  text: string,
  kind: ItemKind,
  members: readonly Lesson[],
  evidence: readonly EvidenceItem[],
): string {
  const from = new Set((parseSkill(text).skill?.metadata["evolved-from"] ?? "").split(" ").filter(Boolean));
  let lines = text.split("\n");
  let said = normalize(instructionLines(lines).join(" "));
  for (const member of members) {
    if (from.has(member.id) || said.includes(normalize(sentence(member.action)))) continue;
    const lesson = renderLesson(member, kind);
    const longer = insertLesson(lines, lesson);
    if (bodyLength(longer.join("\n")) > maxBodyChars) continue;
    lines = longer;
    said += ` ${normalize(lesson.join(" "))}`;
  }
  const ids = [...new Set([...from, ...members.map(({ id }) => id)])];
  const grown = setFrontMatter(lines.join("\n"), { "metadata.evolved-from": ids.join(" ") });
  const amended = amendEvidence(grown, evidence);
  const next = amended === null ? grown : escapeForKind(amended, kind);
  return bodyLength(next) <= maxBodyChars ? next : grown;
}

/** The lines of a text without front matter and evidence. */
function instructionLines(lines: readonly string[]): readonly string[] {
  const from = lines.indexOf("---", 1) + 1;
  const evidence = findSection(lines, "Evidence");
  return evidence ? [...lines.slice(from, evidence.from), ...lines.slice(evidence.to)] : lines.slice(from);
}

/** Puts a lesson behind the others; before the evidence when it is the first. */
function insertLesson(lines: readonly string[], lesson: readonly string[]): string[] {
  const section = findSection(lines, lessonsTitle);
  if (section) {
    const isText = (line: string) => line.trim() !== "";
    const end = section.from + lines.slice(section.from, section.to).findLastIndex(isText) + 1;
    return lines.toSpliced(end, 0, "", ...lesson);
  }
  const evidence = findSection(lines, "Evidence");
  const at = evidence ? evidence.from - 1 : lines.length;
  return lines.toSpliced(at, 0, `## ${lessonsTitle}`, "", ...lesson, "");
}

/** A lesson as a section: when, what then, and the call that worked. */
function renderLesson({ kind: source, trigger, action, lesson, steps, excerpt }: Lesson, kind: ItemKind) {
  const title = cutAtWord(capitalize(trimEnd(paragraph(trimWhen(dropVolatile(trigger))))), 100);
  const parts = [`### ${title}`, sentence(action)];
  const isQuote = excerpt.said !== null && isSaid(source);
  if (!isQuote && !normalize(lesson).includes(normalize(action))) parts.push(sentence(lesson));
  const given = steps.map(sentence).filter((step) => step !== "");
  if (given.length > 0) parts.push(numbered(given));
  if (excerpt.worked !== null) parts.push(codeBlock(hideHome(excerpt.worked), { language: "sh", most: 300 }));
  return escapeForKind(parts.join("\n\n"), kind).split("\n");
}

/** A name made of the field of work and of what the members share. */
function nameCluster({ topic, field, id, asked, kind }: LessonCluster, prefix: string): string {
  const order = kind === "command" ? asked.at(-1)?.ask : undefined;
  const isFieldNeeded = field !== "general" && !topic.includes(field) && topic.length <= 1;
  const words = order ? [order.verb, ...topic] : [...(isFieldNeeded ? [field] : []), ...topic];
  const name = slugify([...new Set(words)].slice(0, 4).join(" "), 40) || `learned-${id.slice(-6)}`;
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

function describe(cluster: LessonCluster): string {
  const { kind, members } = cluster;
  const order = renderOrder(cluster);
  const lead =
    kind === "command" && order !== ""
      ? capitalize(order)
      : `Use ${kind === "agent" ? "to find out what is the case when" : "when"} ${renderOccasion(cluster)}`;
  const whole = listActions(members).reduce((text, action, at) => {
    const longer = `${text}${at === 0 ? ": " : "; "}${action}`;
    return longer.length < maxDescriptionChars ? longer : text;
  }, lead);
  return whole.length < maxDescriptionChars ? `${whole}.` : cutAtWord(whole, maxDescriptionChars);
}

/** The order that people gave last, without what was true only that once. */
function renderOrder({ asked }: LessonCluster): string {
  const ask = asked.at(-1)?.ask;
  if (!ask) return "";
  const words = dropVolatile(ask.order).split(" ");
  const own = words.filter((word) => !ask.particulars.some((once) => word.toLowerCase().includes(once)));
  return trimEnd(own.join(" ")).replace(/(?:\s+(?:for|to|of|in|on|as|from|with|the|a|an))+$/, "");
}

/** When it applies: the words of the surest trigger that most of the others have too, if they say something. */
function renderOccasion({ members, topic }: LessonCluster): string {
  const heads = new Set(members.map(({ symptom }) => symptom?.head ?? ""));
  const [head = ""] = heads;
  if (heads.size === 1 && head !== "") return `${head} fails`;
  const triggers = members.map(({ trigger }) => trimEnd(trimWhen(dropVolatile(trigger))));
  const sets = triggers.map((trigger) => new Set(splitWords(trigger)));
  const isCommon = (word: string) => {
    const parts = splitWords(word);
    const holders = sets.filter((set) => parts.every((part) => set.has(part))).length;
    return parts.length > 0 && holders * 2 > sets.length;
  };
  const words = (triggers[0] ?? "").split(" ");
  // Words that only one trigger has would promise less, or more, than there is.
  const common = words.filter(isCommon);
  const telling = common.filter((word) => !joining.test(word)).length;
  if (telling < 2 || common.length * 2 < words.length)
    return `the work is about ${topic.slice(0, 4).join(", ")}`;
  return trimEnd(common.join(" ")).replace(/(?:\s+(?:a|an|the|in|on|of|to|for|with|and|or))+$/i, "");
}

const joining = /^(?:a|an|the|in|on|of|to|for|with|and|or|fails?:?|failing|is|are|when|before|after)$/i;

/** The members' distinct, non-empty actions. */
function listActions(members: readonly Lesson[]): string[] {
  const actions = members.map(({ action }) => trimEnd(dropVolatile(action)));
  return [...new Set(actions)].filter((text) => text !== "");
}

function renderLead(cluster: LessonCluster, takesArgument: boolean): string {
  const when = renderOccasion(cluster);
  if (cluster.kind === "command") {
    const given = takesArgument ? `\n\n${argumentLine}` : "";
    return `Do this: ${sentence(renderOrder(cluster) || when)}${given}\n\nMind what was learned about it:`;
  }
  if (cluster.kind === "agent")
    return `You are asked to find out what is the case when ${when}. Look before you conclude, and change nothing unless the task says so.\n\nAnswer with what you found, the lines or the output that prove it, and what you would do about it.`;
  return `## When to use\n\n${sentence(capitalize(when))} ${cluster.members.length} lessons that were learned one by one belong together here; take the one whose occasion it is.`;
}

/** For comparing texts: without case, line breaks, backticks and full stops. */
function normalize(text: string): string {
  return oneLine(text).toLowerCase().replace(/[`.]/g, "");
}
