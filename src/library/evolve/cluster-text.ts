import { type ItemKind, isSaid, type Lesson } from "../../records/index.ts";
import { codeBlock, cutAtWord, findSection, oneLine, slugify, splitWords } from "../../text/index.ts";
import { maxBodyChars } from "../../trust/index.ts";
import {
  argumentLine,
  bodyLength,
  capitalize,
  dropVolatile,
  escapeForKind,
  lessonsTitle,
  maxDescriptionChars,
  numbered,
  paragraph,
  readCommand,
  renderItem,
  sentence,
  trimEnd,
  trimWhen,
} from "../publish/render.ts";
import type { LessonCluster } from "./clusters.ts";

/** One text for a cluster: what its lessons have in common, and each lesson once. */
export function renderCluster(cluster: LessonCluster, prefix: string) {
  const { kind, members } = cluster;
  const name = `${prefix}${nameCluster(cluster, prefix)}`.slice(0, 64).replace(/-+$/, "");
  const description = describe(cluster);
  // People named another thing each time.
  const takesArgument = kind === "command" && cluster.asked.some(({ ask }) => ask.particulars.length > 0);
  const needsShell = members.some(({ excerpt, call }) => excerpt.worked !== null || call !== null);
  const base = renderItem(kind, {
    name,
    description,
    lead: renderLead(cluster, takesArgument),
    sections: [[lessonsTitle, ""]],
    takesArgument,
    tools: ["Read", "Grep", "Glob", ...(needsShell ? ["Bash"] : [])].join(", "),
  });
  return { kind, name, description, text: growClusterText(base, kind, members) };
}

/** A cluster's text with the lessons that it lacks; the rest stays as it is, so growing twice is growing once. */
export function growClusterText(
  text: string,
  kind: ItemKind,
  members: readonly Lesson[],
  written: readonly string[] = [],
): string {
  let lines = text.split("\n");
  let said = normalize(lines.slice(lines.indexOf("---", 1) + 1).join(" "));
  for (const member of members) {
    // What was written and is gone was taken out by a person.
    if (written.includes(member.id) || said.includes(normalize(sentence(member.lesson)))) continue;
    const lesson = renderLesson(member, kind);
    const longer = insertLesson(lines, lesson);
    if (bodyLength(longer.join("\n")) > maxBodyChars) continue;
    lines = longer;
    said += ` ${normalize(lesson.join(" "))}`;
  }
  return lines.join("\n");
}

function insertLesson(lines: readonly string[], lesson: readonly string[]): string[] {
  const isText = (line: string) => line.trim() !== "";
  const section = findSection(lines, lessonsTitle);
  const { from, to } = section ?? { from: 0, to: lines.length };
  const end = from + lines.slice(from, to).findLastIndex(isText) + 1;
  return lines.toSpliced(end, 0, "", ...(section ? [] : [`## ${lessonsTitle}`, ""]), ...lesson);
}

/** A lesson as a section: when, and what then. A call that worked is shown where the words do not have it. */
function renderLesson({ kind: source, trigger, lesson, steps, excerpt, by }: Lesson, kind: ItemKind) {
  const title = cutAtWord(capitalize(trimEnd(paragraph(trimWhen(dropVolatile(trigger))))), 100);
  const parts = [`### ${title}`, sentence(lesson)];
  const given = steps.map(sentence).filter((step) => step !== "");
  if (given.length > 0) parts.push(numbered(given));
  const call = by === "judge" || isSaid(source) || given.length > 0 ? null : readCommand(excerpt.worked);
  if (call !== null && !lesson.includes(call)) parts.push(codeBlock(call, { language: "sh", most: 300 }));
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
  return "";
}

/** For comparing texts: without case, line breaks, backticks and full stops. */
function normalize(text: string): string {
  return oneLine(text).toLowerCase().replace(/[`.]/g, "");
}
