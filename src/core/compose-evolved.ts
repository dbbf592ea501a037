import { orderIn } from "./ask.ts";
import {
  amend,
  capital,
  countOf,
  distinct,
  type Evidence,
  evidenceLines,
  insertAtEnd,
  lasting,
  newestFirst,
  ours,
  paragraph,
  plain,
  sentence,
  withoutEnd,
  withoutWhen,
} from "./compose.ts";
import type { Cluster, EvolvedKind } from "./evolve.ts";
import { isSaid } from "./finding.ts";
import type { Instinct } from "./instinct.ts";
import { codeBlock, cutAtWord, oneLine, sectionOf } from "./markdown.ts";
import { policy as defaults, type Policy } from "./policy.ts";
import { parse, quoted, render, type Skill } from "./skill.ts";
import { nameFrom, wordsOf } from "./words.ts";

/** What a cluster becomes: the text of its one file, and what that says. */
export interface Evolved {
  readonly kind: EvolvedKind;
  readonly name: string;
  readonly description: string;
  readonly text: string;
}

/** What an evolved text is made of. */
export interface Growth {
  readonly members: readonly Instinct[];
  /** Of all members, each time once. */
  readonly evidence: readonly Evidence[];
}

/** One text of a cluster: what its lessons have in common, each lesson once, and what proves them. */
export function composeEvolved(
  cluster: Cluster,
  evidence: readonly Evidence[],
  options: { readonly prefix: string; readonly quality: "draft" | "active"; readonly policy?: Policy },
): Evolved {
  const { prefix, quality, policy = defaults } = options;
  const { kind, members } = cluster;
  const name = `${prefix}${nameOf(cluster, prefix)}`.slice(0, 64).replace(/-+$/, "");
  const shown = newestFirst(distinct(evidence));
  const skill: Skill = {
    name,
    description: describe(cluster, policy),
    metadata: {
      origin: "knack",
      author: "heuristic",
      quality,
      "trigger-topic": cluster.topic.map(oneLine).join(", "),
      "trigger-action": cutAtWord(lasting(actionsOf(members).join("; ")), policy.skill.descriptionChars),
      domain: cluster.domain,
      evidence: String(shown.length),
      "evolved-from": "",
    },
    body: bodyOf(cluster, shown, policy),
  };
  const text = inForm(skill, kind, { takes: takesSomething(cluster), tools: toolsOf(members) });
  return {
    kind,
    name,
    description: skill.description,
    text: grown(text, kind, { members, evidence }, policy),
  };
}

/**
 * An evolved text with what it does not say yet put in: lessons that it was not made of, and new evidence. The rest
 * stays as it is; what it says already is not added again, so that growing twice is growing once.
 */
export function grown(
  text: string,
  kind: EvolvedKind,
  { members, evidence }: Growth,
  policy: Policy = defaults,
): string {
  const from = new Set(evolvedFrom(text));
  let lines = text.split("\n");
  let known = told(lines);
  let left = policy.skill.bodyChars - bodyLength(text);
  for (const member of members) {
    if (from.has(member.id) || known.includes(plain(sentence(member.action)))) continue;
    const lesson = lessonOf(member, kind);
    const longer = withLesson(lines, lesson);
    const more = lengthOf(longer) - lengthOf(lines);
    if (more > left) continue;
    left -= more;
    lines = longer;
    known += ` ${plain(lesson.join(" "))}`;
  }
  const all = [...new Set([...from, ...members.map(({ id }) => id)])];
  lines = withFact(lines, "evolved-from", all.join(" "));
  const amended = amend(lines.join("\n"), { evidence, seen: countOf(evidence) });
  const next = amended.amended ? forKind(amended.text, kind).split("\n") : lines;
  const isShort = bodyLength(next.join("\n")) <= policy.skill.bodyChars;
  return (isShort ? next : lines).join("\n");
}

/** What a text tells to do; what its description promises and its evidence quotes is not told yet. */
function told(lines: readonly string[]): string {
  const from = lines.indexOf("---", 1) + 1;
  const evidence = sectionOf(lines, "Evidence");
  const own = evidence
    ? [...lines.slice(from, evidence.from), ...lines.slice(evidence.to)]
    : lines.slice(from);
  return plain(own.join(" "));
}

/** Puts a lesson behind the others; before the evidence where it is the first. */
function withLesson(lines: readonly string[], lesson: readonly string[]): string[] {
  const section = sectionOf(lines, lessonsTitle);
  if (section) return insertAtEnd(lines, section, ["", ...lesson]);
  const evidence = sectionOf(lines, "Evidence");
  const at = evidence ? evidence.from - 1 : lines.length;
  return [...lines.slice(0, at), `## ${lessonsTitle}`, "", ...lesson, "", ...lines.slice(at)];
}

/** The instincts that a text was made of, by what it says itself. */
export function evolvedFrom(text: string): string[] {
  const ids = parse(text).skill?.metadata["evolved-from"] ?? "";
  return ids.split(" ").filter((id) => id !== "");
}

/** The text with another name, and another word on whether a person said yes to it. */
export function renamed(text: string, kind: EvolvedKind, name: string, quality: "draft" | "active"): string {
  const lines = withFact(text.split("\n"), "quality", quality);
  const close = lines.indexOf("---", 1);
  return kind === "command"
    ? lines.join("\n")
    : lines
        .map((line, at) => (at < close && /^name: /.test(line) ? `name: ${quoted(name)}` : line))
        .join("\n");
}

/** The text of a project's own lessons for where other projects read it, so that it names its own. */
export function placedIn(text: string, project: string, { skill: limits }: Policy = defaults): string {
  const description = parse(text).skill?.description ?? "";
  const place = ` (in ${oneLine(project)})`;
  if (description === "" || description.includes(place)) return text;
  const told = `${cutAtWord(withoutEnd(description), limits.descriptionChars - place.length - 1)}${place}.`;
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.startsWith("description: "));
  return lines.map((line, n) => (n === at ? `description: ${quoted(told)}` : line)).join("\n");
}

const lessonsTitle = "Lessons";

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

function bodyLength(text: string): number {
  return text.length - text.indexOf("\n---", 3);
}

/** Puts a value behind a key of the metadata. */
function withFact(lines: readonly string[], key: string, value: string): string[] {
  const close = lines.indexOf("---", 1);
  const isThere = lines.some((line, at) => at < close && line.startsWith(`  ${key}: `));
  const metadata = lines.indexOf("metadata:");
  if (!isThere && metadata > 0 && metadata < close)
    return [...lines.slice(0, metadata + 1), `  ${key}: ${quoted(value)}`, ...lines.slice(metadata + 1)];
  return lines.map((line, at) =>
    at < close && line.startsWith(`  ${key}: `) ? `  ${key}: ${quoted(value)}` : line,
  );
}

/** A name of the field and of what the members share. */
function nameOf({ topic, field, id, asked, kind }: Cluster, prefix: string): string {
  const order = kind === "command" ? (asked.at(-1)?.ask ?? null) : null;
  const words = order
    ? [order.verb, ...topic]
    : [...(field === "general" || topic.includes(field) || topic.length > 1 ? [] : [field]), ...topic];
  const name = nameFrom([...new Set(words)].slice(0, 4).join(" "), 40) || `learned-${id.slice(-6)}`;
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

function describe(cluster: Cluster, { skill: { descriptionChars: most } }: Policy): string {
  const { kind, members } = cluster;
  const order = phraseOf(cluster);
  const lead =
    kind === "command" && order !== ""
      ? capital(order)
      : kind === "agent"
        ? `Use to find out what is the case when ${whenOf(cluster)}`
        : `Use when ${whenOf(cluster)}`;
  const whole = actionsOf(members).reduce((text, action, at) => {
    const longer = `${text}${at === 0 ? ": " : "; "}${action}`;
    return longer.length < most ? longer : text;
  }, lead);
  return whole.length < most ? `${whole}.` : cutAtWord(whole, most);
}

/** The order that people gave last, without what was true that once. */
function phraseOf({ asked }: Cluster): string {
  const ask = asked.at(-1)?.ask;
  if (!ask) return "";
  const words = lasting(orderIn(ask.sentence) ?? ask.sentence).split(" ");
  const own = words.filter((word) => !ask.particulars.some((once) => word.toLowerCase().includes(once)));
  return withoutEnd(own.join(" ")).replace(/(?:\s+(?:for|to|of|in|on|as|from|with|the|a|an))+$/, "");
}

/** When it applies: the words of the surest trigger that most of the others have too, where they say something. */
function whenOf({ members, topic }: Cluster): string {
  const heads = new Set(members.map(({ symptom }) => symptom?.head ?? ""));
  const [head = ""] = heads;
  if (heads.size === 1 && head !== "") return `${head} fails`;
  const triggers = members.map(({ trigger }) => withoutEnd(withoutWhen(lasting(trigger))));
  const sets = triggers.map((trigger) => new Set(wordsOf(trigger)));
  const [first = ""] = triggers;
  const isCommon = (word: string) => {
    const parts = wordsOf(word);
    return (
      parts.length > 0 && sets.filter((set) => parts.every((part) => set.has(part))).length * 2 > sets.length
    );
  };
  const words = first.split(" ");
  // Words that one trigger alone has would promise less, or more, than there is.
  const common = words.filter(isCommon);
  const telling = common.filter((word) => !joining.test(word)).length;
  const phrase = withoutEnd(common.join(" ")).replace(
    /(?:\s+(?:a|an|the|in|on|of|to|for|with|and|or))+$/i,
    "",
  );
  return telling > 1 && common.length * 2 >= words.length
    ? phrase
    : `the work is about ${topic.slice(0, 4).join(", ")}`;
}

const joining = /^(?:a|an|the|in|on|of|to|for|with|and|or|fails?:?|failing|is|are|when|before|after)$/i;

/** What to do, in a few words each, without repetitions. */
function actionsOf(members: readonly Instinct[]): string[] {
  return [...new Set(members.map(({ action }) => withoutEnd(lasting(action))))].filter((text) => text !== "");
}

function bodyOf(cluster: Cluster, evidence: readonly Evidence[], { skill }: Policy): string {
  const sections = [
    leadOf(cluster),
    `## ${lessonsTitle}`,
    `## Check\n\n${checkOf(cluster)}`,
    `## Evidence\n\n${evidenceLines(evidence, evidence.length, skill.evidence).join("\n")}`,
  ];
  return sections.join("\n\n");
}

function leadOf(cluster: Cluster): string {
  const { kind, members } = cluster;
  const when = whenOf(cluster);
  if (kind === "command") {
    const given = takesSomething(cluster) ? `\n\n${givenLine}` : "";
    return `Do this: ${sentence(phraseOf(cluster) || when)}${given}\n\nMind what was learned about it:`;
  }
  if (kind === "agent")
    return [
      `You are asked to find out what is the case when ${when}. Look before you conclude, and change nothing unless the task says so.`,
      "Answer with what you found, the lines or the output that prove it, and what you would do about it.",
    ].join("\n\n");
  const times = members.length;
  return `## When to use\n\n${sentence(capital(when))} ${capital(`${times} lessons that were learned one by one belong together here; take the one whose occasion it is.`)}`;
}

const givenLine = "What is given with it: $ARGUMENTS";

/** Whether people named something each time that was another. */
function takesSomething({ kind, asked }: Cluster): boolean {
  return kind === "command" && asked.some(({ ask }) => ask.particulars.length > 0);
}

function checkOf({ kind }: Cluster): string {
  return kind === "agent"
    ? "Each thing you report is something you saw in this session; what you only suspect is called a suspicion."
    : "Before you finish, read what you changed and the commands you ran once more: each of them follows the lessons above that apply. Where one does not help, say so.";
}

/** A lesson as a section: when, what then, and the call that worked. */
function lessonOf(
  { kind: source, trigger, action, lesson, steps, excerpt: { worked, said } }: Instinct,
  kind: EvolvedKind,
) {
  const title = cutAtWord(capital(withoutEnd(paragraph(withoutWhen(lasting(trigger))))), 100);
  const parts = [`### ${title}`, sentence(action)];
  // What the action says in full needs no second telling.
  if (
    (said === null || !isSaid(source)) &&
    plain(lesson) !== plain(action) &&
    !plain(lesson).includes(plain(action))
  )
    parts.push(sentence(lesson));
  const given = steps.map((step) => sentence(step)).filter((step) => step !== "");
  if (given.length > 0) parts.push(given.map((step, at) => `${at + 1}. ${step}`).join("\n"));
  if (worked !== null) parts.push(codeBlock(ours(worked), { language: "sh", most: 300 }));
  return forKind(parts.join("\n\n"), kind).split("\n");
}

/** What is proof to a reader would be run, or filled in, by an agent that reads a command. */
function forKind(text: string, kind: EvolvedKind): string {
  if (kind !== "command") return text;
  return text
    .split("\n")
    .map((line) =>
      line === givenLine
        ? line
        : line
            .replace(/!(?=`)/g, "! ")
            .replace(/(`{3,}|~{3,})!/g, "$1 !")
            .replace(/\$(ARGUMENTS|\d+)/g, (_, name) => `\${${name}}`),
    )
    .join("\n");
}

/** Those that only look; and the shell where what helped was a command. */
function toolsOf(members: readonly Instinct[]): string {
  const mustRun = members.some(({ excerpt, call }) => excerpt.worked !== null || call !== null);
  return ["Read", "Grep", "Glob", ...(mustRun ? ["Bash"] : [])].join(", ");
}

/** The file of each kind: front matter that its agent knows, with Knack's own facts below `metadata`. */
function inForm(
  skill: Skill,
  kind: EvolvedKind,
  { takes, tools }: { readonly takes: boolean; readonly tools: string },
): string {
  const text = forKind(render(skill), kind);
  switch (kind) {
    case "skill":
      return text;
    case "command":
      return text
        .replace(/^name: .*\n/m, "")
        .replace(
          /^metadata:$/m,
          `${takes ? `argument-hint: ${quoted("[which one this time]")}\n` : ""}metadata:`,
        );
    case "agent":
      return text.replace(/^metadata:$/m, `tools: ${quoted(tools)}\nmetadata:`);
  }
}
