import { neverStarted } from "./cause.ts";
import { baseName, runsOf } from "./command.ts";
import type { Verdict } from "./credit.ts";
import { lessonSigns, objects } from "./detect/signs.ts";
import { turnsOf } from "./detect/turns.ts";
import { judge } from "./detect/verdict.ts";
import type { Event } from "./event.ts";
import { complaintOf } from "./failure.ts";
import { type Item, type ItemKind, itemNamed } from "./item.ts";
import { textOf } from "./json.ts";
import type { Occasion, Used } from "./ledger.ts";
import { culprit } from "./link.ts";
import { policy } from "./policy.ts";
import { failsUnseen } from "./recovery.ts";
import { callsTold, makes, ownOf, runMakes, speaksOf, type ToldCall } from "./told.ts";
import { workedNext } from "./use.ts";

/** Something that was put before an agent in a session. */
export interface Telling {
  readonly kind: "lesson" | "skill";
  /** The id of the item, or of the instinct. */
  readonly id: string;
  readonly name: string;
  readonly occasion: Occasion;
  readonly text: string;
  /** For a lesson: the call that it recommends. */
  readonly call: readonly string[] | null;
  readonly at: number;
}

/** What is known when a session is looked at. */
export interface Known {
  readonly project: string | null;
  readonly items: readonly Item[];
  readonly tellings: readonly Telling[];
  /** Whether sessions make a call that something tells without having been told. */
  readonly isFamiliar: (call: readonly string[], id: string) => boolean;
}

/** Something that was used in a session, and what is known of how that went. */
export interface Usage {
  readonly kind: "lesson" | "skill";
  readonly used: Used;
  readonly at: number | null;
  /** Null where nobody can tell. */
  readonly rating: Rating | null;
}

export interface Rating {
  readonly verdict: Verdict;
  readonly because: string;
  /** When that showed. */
  readonly at: number;
}

/** What was used in a session, each thing once, and how it went where something really tells. */
export function usageIn(events: readonly Event[], known: Known): Usage[] {
  return usesIn(events, known).map((use) => {
    const { kind, used, at } = use;
    return { kind, used, at, rating: ratingOf(events, use, known) };
  });
}

type Use = Omit<Usage, "rating"> & { readonly item: Item | null; readonly turn: number };

/**
 * What was used in a session: loaded, named by the agent, called by a person, or followed. What merely was shown is not
 * used, and what an agent would have done anyway was not told to it.
 */
export function usesIn(events: readonly Event[], known: Known): Use[] {
  // Who writes skills reads them to see how they are made.
  const isSkillWork = events.some((event) => isEdit(event) && event.files.some(isSkillFile));
  const uses = new Map<string, Use>();
  const take = (use: Use) => {
    if (!uses.has(use.used.skill)) uses.set(use.used.skill, use);
  };
  let prompt: string | null = null;
  const told = known.tellings.map((telling) => ({ telling, advice: adviceOf(events, telling, known) }));
  for (const event of events) {
    if (event.kind === "prompt") prompt = event.text.slice(0, policy.credit.promptChars);
    for (const { item, by } of namedIn(event, known, isSkillWork))
      take(useOf(event, prompt, { kind: "skill", id: item.id, name: item.name, item, by }));
    for (const { telling, advice } of told)
      if (followedBy(event, telling.at, advice).length > 0)
        take(useOf(event, prompt, { ...telling, item: itemOf(telling, known), by: "command" }));
  }
  return [...uses.values()];
}

function useOf(
  { ref, at, turn }: Event,
  prompt: string | null,
  { kind, id, name, item, by }: Pick<Telling, "kind" | "id" | "name"> & { item: Item | null; by: Used["by"] },
): Use {
  return { kind, item, turn, at, used: { skill: id, name, by, prompt, ref } };
}

function itemOf({ id }: Telling, { items }: Known): Item | null {
  return items.find((item) => item.id === id) ?? null;
}

interface NamedItem {
  readonly item: Item;
  readonly by: Used["by"];
}

/** The items that an event itself says were used. */
function namedIn(event: Event, known: Known, isSkillWork: boolean): NamedItem[] {
  const find = (name: string | null | undefined, kinds: readonly ItemKind[], by: Used["by"]): NamedItem[] => {
    const meant = known.items.filter(({ kind }) => kinds.includes(kind));
    const item = name ? itemNamed(meant, known.project, name.replace(/^\//, "")) : null;
    return item === null ? [] : [{ item, by }];
  };
  if (event.kind === "prompt" || event.kind === "mark")
    return [
      ...find(event.skill, ["skill", "command"], "person"),
      ...mentioned(event.text).flatMap((name) => find(name, ["skill"], "person")),
    ];
  const attributed = find(event.skill, ["skill", "command", "agent"], "attribution");
  if (event.kind !== "call" || event.outcome === "failed" || event.outcome === "rejected") return attributed;
  const { tool, input } = event;
  if (tool === "Skill" || tool === "SlashCommand")
    return [
      ...find(textOf(input?.skill) ?? textOf(input?.command)?.split(/\s/)[0], ["skill", "command"], "tool"),
      ...attributed,
    ];
  if (tool !== null && ownTools.test(tool))
    return [...find(textOf(input?.skill_name), ["skill"], "tool"), ...attributed];
  if (tool === "Task" || tool === "Agent")
    return [...find(textOf(input?.subagent_type), ["agent"], "tool"), ...attributed];
  const read = isSkillWork ? [] : filesRead(event);
  return [...read.flatMap((path) => itemAt(path, known)), ...attributed];
}

/** Knack's own tools by which an agent loads a skill, or says that it used one, however its host spells them. */
const ownTools = /(?:^|[_.:/-])skill_(?:load|used)$/;

/** Codex's way of naming a skill in a prompt: a link to its file behind a dollar sign. */
function mentioned(text: string): string[] {
  return [...text.slice(0, 20_000).matchAll(/\[\$([\w:.-]{1,128})\]\([^)\n]{1,400}SKILL\.md\)/g)].map(
    ([, name]) => name ?? "",
  );
}

/** The skills whose text a call puts before the agent: whoever reads a skill's file has loaded it. */
function filesRead(event: Event): string[] {
  if (event.command === null)
    return event.tool !== null && /^read(?:_?file)?$|^view$/i.test(event.tool)
      ? event.files.map((file) => pathOf(event, file)).filter(isSkillFile)
      : [];
  if (!event.command.includes("SKILL.md")) return [];
  return runsOf(event.command).flatMap(({ name, args, directory }) =>
    readers.has(name) && !(name === "sed" && args.some((arg) => /^-\w*i/.test(arg)))
      ? args.filter(isSkillFile).map((file) => pathOf(event, file, directory))
      : [],
  );
}

const readers = new Set("cat bat sed head tail less more nl awk".split(" "));

function isSkillFile(path: string): boolean {
  return /(?:^|[\\/])SKILL\.md$/.test(path);
}

function isEdit({ tool, outcome }: Event): boolean {
  return (
    tool !== null &&
    outcome !== "failed" &&
    /edit|write|apply_patch|str_replace|create_file/i.test(tool) &&
    tool !== "write_stdin"
  );
}

/** A path from the root, where the folder it was said in is known. */
function pathOf({ cwd }: Event, path: string, directory: string | null = null): string {
  if (/^(?:[\\/~]|[A-Za-z]:)/.test(path)) return path;
  const folder =
    directory === null ? cwd : /^[\\/~]/.test(directory) ? directory : cwd && `${cwd}/${directory}`;
  return folder === null ? path : `${folder}/${path.replace(/^(?:\.\/)+/, "")}`;
}

/** The skill that a file is: by its path, or by the end of it where a link or another home leads to the same. */
function itemAt(path: string, { items, project }: Known): NamedItem[] {
  const skills = items.filter(
    ({ kind, realm }) => kind === "skill" && (realm === project || realm === "user"),
  );
  const item =
    skills.find((one) => one.path === path || one.copies.includes(path)) ??
    skills.find((one) => [one.path, ...one.copies].some((other) => tailOf(other) === tailOf(path)));
  return item ? [{ item, by: "tool" }] : [];
}

/** `.codex/skills/name/SKILL.md`. */
function tailOf(path: string): string {
  return path.split(/[\\/]/).slice(-4).join("/");
}

/** A call that was told in a session, and the turn in which the person asked for it themselves. */
interface Advice {
  readonly call: ToldCall;
  readonly askedIn: number;
}

/** Of the calls that were told, those which only somebody who was told would make: not done before, not usual here. */
function adviceOf(events: readonly Event[], telling: Telling, known: Known): Advice[] {
  const { occasion, call, kind } = telling;
  if (kind === "skill") return newTo(events, callsTold(telling.text), telling, known);
  const [program, ...parts] = call ?? [];
  if (program === undefined) return [];
  // At its failure a lesson is about this very call; elsewhere it must be its own, as a skill's must.
  if (occasion === "failure") return [adviceFor(events, [baseName(program), ...parts])];
  const own = ownOf([program, ...parts]);
  return own === null ? [] : newTo(events, [own], telling, known);
}

function newTo(
  events: readonly Event[],
  calls: readonly ToldCall[],
  { id, at }: Pick<Telling, "id" | "at">,
  { isFamiliar }: Known,
): Advice[] {
  const before = events.filter((event) => event.command !== null && event.at !== null && event.at < at);
  return calls
    .filter((call) => events.some(({ command }) => command !== null && makes(command, call)))
    .filter((call) => !before.some(({ command }) => makes(command ?? "", call)) && !isFamiliar(call, id))
    .map((call) => adviceFor(events, call));
}

function adviceFor(events: readonly Event[], call: ToldCall): Advice {
  const asking = events.find(({ kind, text }) => kind === "prompt" && speaksOf(text, call));
  return { call, askedIn: asking?.turn ?? Number.POSITIVE_INFINITY };
}

/** The calls of an event that were told before it. */
function followedBy(event: Event, toldAt: number, advice: readonly Advice[]): ToldCall[] {
  const { kind, command, at, outcome, turn } = event;
  if (kind !== "call" || command === null || at === null || at < toldAt) return [];
  if (outcome === "rejected" || outcome === "cancelled") return [];
  return advice.flatMap(({ call, askedIn }) => (turn < askedIn && makes(command, call) ? [call] : []));
}

/** How a use went: a person's objection first, then how what was told did; null where neither tells. */
function ratingOf(events: readonly Event[], use: Use, known: Known): Rating | null {
  const told = known.tellings
    .filter(({ id }) => id === use.used.skill)
    .map((telling) => ({ telling, advice: adviceOf(events, telling, known), at: telling.at }));
  const loaded = loadedAdvice(events, use, known);
  const all = [...told, ...loaded];
  const objection = objectionTo(
    events,
    use,
    all.flatMap(({ advice }) => advice.map(({ call }) => call)),
  );
  if (objection !== null) return objection;
  const ratings = [
    ...told.flatMap(({ telling, advice, at }) =>
      telling.occasion === "failure"
        ? outcomeAtFailure(events, telling, advice)
        : outcomeOf(events, advice, at),
    ),
    ...loaded.flatMap(({ advice, at }) => outcomeOf(events, advice, at)),
  ].flatMap((rating) => rating ?? []);
  return ratings.sort((a, b) => b.at - a.at)[0] ?? null;
}

/** What was loaded tells its calls from then on; an agent of its own follows them elsewhere. */
function loadedAdvice(events: readonly Event[], { item, used, at }: Use, known: Known) {
  if (item === null || item.kind === "agent" || used.by === "command" || at === null) return [];
  return [{ advice: newTo(events, callsTold(item.body), { id: item.id, at }, known), at }];
}

/** A person who turns down what it tells, or corrects the agent in the very next turn and says what they mean by its name. */
function objectionTo(
  events: readonly Event[],
  { used, turn }: Use,
  calls: readonly ToldCall[],
): Rating | null {
  const turns = turnsOf(events);
  const isTold = (command: string) => calls.some((call) => makes(command, call));
  const refusal = turns.find(({ rejected }) => isTold(rejected?.command ?? ""));
  if (refusal)
    return {
      verdict: "harmful",
      because: "the person turned down what it tells",
      at: refusal.prompt.at ?? 0,
    };
  const next = turns.find(({ prompt }) => prompt.turn === turn + 1);
  if (!next || !(speaksOfItem(next.words, used.name) || calls.some((call) => speaksOf(next.words, call))))
    return null;
  if (judge(next) === null || !objects(lessonSigns(next))) return null;
  return {
    verdict: "harmful",
    because: "the person objected to it in the next turn",
    at: next.prompt.at ?? 0,
  };
}

/** Whether words speak of something by its name, as it is written or in plain words; a short name may be any word. */
function speaksOfItem(words: string, name: string): boolean {
  const plain = words.toLowerCase();
  const names = [name, name.replace(/^.*:/, "").replace(/-/g, " ")].map((one) => one.toLowerCase());
  return names.some((one) => one.length > 3 && plain.includes(one));
}

/** How the calls that were told went: helpful when they worked in the end, harmful when they never could. */
function outcomeOf(events: readonly Event[], advice: readonly Advice[], toldAt: number): Rating | null {
  const followed = events.flatMap((event) =>
    followedBy(event, toldAt, advice).map((call) => ({ event, call, worked: hasWorked(event) })),
  );
  const last = followed.at(-1);
  if (last === undefined) return null;
  const at = last.event.at ?? toldAt;
  // Of each call the last time counts: what fails at first may need something else before it.
  const ends = new Map(followed.map(({ call, worked }) => [call, worked]));
  if ([...ends.values()].every((worked) => worked === true))
    return { verdict: "helpful", because: "what it tells was run, and worked", at };
  const never = followed.every(({ worked }) => worked === false);
  return never && followed.some(({ event, call }) => failsByItself(event, call))
    ? { verdict: "harmful", because: "what it tells was run, and could not work as it is told", at }
    : null;
}

/** How what was told at a failure went: whether it came next and worked, or the same failure came again. */
function outcomeAtFailure(
  events: readonly Event[],
  { call, at: toldAt }: Telling,
  advice: readonly Advice[],
): Rating | null {
  const followed = events.filter((event) => followedBy(event, toldAt, advice).length > 0);
  const at = followed.at(-1)?.at;
  if (at == null) return null;
  if (workedNext(events, call ?? [], toldAt))
    return { verdict: "helpful", because: "it failed, this was told, came next and worked", at };
  const before = events.findLast(
    (event) => event.outcome === "failed" && event.at !== null && event.at <= toldAt,
  );
  const again = before && followed.every((event) => hasWorked(event) === false && sameFailure(event, before));
  return again ? { verdict: "harmful", because: "it was done, and the same failure came again", at } : null;
}

function hasWorked(event: Event): boolean | null {
  if (event.outcome === "ok") return !failsUnseen(event);
  return event.outcome === "failed" ? false : null;
}

function sameFailure(a: Event, b: Event): boolean {
  return complaintOf(a.text, a.exitCode).signature === complaintOf(b.text, b.exitCode).signature;
}

/** A failure of the call's own words: not of the work that it was run on, nor of what stood beside it. */
function failsByItself({ command, text, exitCode }: Event, call: ToldCall): boolean {
  const complaint = complaintOf(text, exitCode);
  const run = neverStarted(complaint.cause) ? culprit(runsOf(command ?? ""), complaint) : null;
  return run !== null && runMakes(run, call);
}
