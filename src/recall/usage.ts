import { asString } from "../base/index.ts";
import { CallReader, causeGroups, parseCommand, readSymptom } from "../failures/index.ts";
import { isObjection, readTurns } from "../learning/index.ts";
import {
  type Event,
  type Item,
  type ItemKind,
  type ItemUse,
  isUse,
  type Occasion,
  type UseVerdict,
} from "../records/index.ts";
import { itemNamed } from "../search/index.ts";
import { baseName } from "../text/index.ts";
import { findToldCalls, keepOwnCall, makesCall, namesCall, type ToldCall } from "./told-calls.ts";

/** Characters of a prompt that are kept with the use of a skill. */
const promptChars = 400;

/** Something that was put before an agent in a session. */
export interface ShownItem {
  readonly kind: "lesson" | "skill";
  /** The id of the item, or of the lesson. */
  readonly id: string;
  readonly name: string;
  readonly occasion: Occasion;
  readonly text: string;
  /** For a lesson: the call that it recommends. */
  readonly call: readonly string[] | null;
  readonly at: number;
}

/** What is known when a session is looked at. */
export interface UsageContext {
  readonly project: string | null;
  readonly items: readonly Item[];
  readonly tellings: readonly ShownItem[];
  /** Whether sessions make a call that something tells without having been told. */
  readonly isFamiliar: (call: readonly string[], id: string) => boolean;
}

/** Something that was used in a session, and what is known of how that went. */
export interface Usage {
  readonly kind: "lesson" | "skill";
  readonly used: ItemUse;
  readonly at: number | null;
  /** Null where nobody can tell. */
  readonly rating: Rating | null;
}

interface Rating {
  readonly verdict: UseVerdict;
  readonly because: string;
  /** When that showed. */
  readonly at: number;
}

/** What was used in a session, each thing once, and how it went where something really tells. */
export function findUsage(events: readonly Event[], known: UsageContext): Usage[] {
  return findUses(events, known).map((use) => {
    const { kind, used, at } = use;
    return { kind, used, at, rating: rateUse(events, use, known) };
  });
}

type FoundUse = Omit<Usage, "rating"> & { readonly item: Item | null; readonly turn: number };

/**
 * What was used in a session: loaded, named by the agent, called by a person, or followed. What merely was shown is not
 * used, and what an agent would have done anyway was not told to it.
 */
function findUses(events: readonly Event[], known: UsageContext): FoundUse[] {
  // Who writes skills reads them to see how they are made.
  const isSkillWork = events.some((event) => isEdit(event) && event.files.some(isSkillFile));
  const items = new Map(known.items.map((item) => [item.id, item]));
  const uses = new Map<string, FoundUse>();
  let prompt: string | null = null;
  const take = (
    { ref, at, turn }: Event,
    {
      kind,
      id,
      name,
      item,
      by,
    }: Pick<ShownItem, "kind" | "id" | "name"> & Pick<FoundUse, "item"> & Pick<ItemUse, "by">,
  ) => {
    if (!uses.has(id)) uses.set(id, { kind, item, turn, at, used: { skill: id, name, by, prompt, ref } });
  };
  const told = known.tellings.map((telling) => ({ telling, advice: listAdvice(events, telling, known) }));
  for (const event of events) {
    if (event.kind === "prompt") prompt = event.text.slice(0, promptChars);
    for (const { item, by } of findNamed(event, known, isSkillWork))
      take(event, { kind: "skill", id: item.id, name: item.name, item, by });
    for (const { telling, advice } of told)
      if (listFollowed(event, telling.at, advice).length > 0)
        take(event, { ...telling, item: items.get(telling.id) ?? null, by: "command" });
  }
  return [...uses.values()];
}

interface NamedItem {
  readonly item: Item;
  readonly by: ItemUse["by"];
}

/** The items that an event itself says were used. */
function findNamed(event: Event, known: UsageContext, isSkillWork: boolean): NamedItem[] {
  const find = (
    name: string | null | undefined,
    kinds: readonly ItemKind[],
    by: ItemUse["by"],
  ): NamedItem[] => {
    const meant = known.items.filter(({ kind }) => kinds.includes(kind));
    const item = name ? itemNamed(meant, known.project, name.replace(/^\//, "")) : null;
    return item === null ? [] : [{ item, by }];
  };
  if (event.kind === "prompt" || event.kind === "mark")
    return [
      ...find(event.skill, ["skill", "command"], "person"),
      ...findMentions(event.text).flatMap((name) => find(name, ["skill"], "person")),
    ];
  const attributed = find(event.skill, ["skill", "command", "agent"], "attribution");
  if (event.kind !== "call" || event.outcome === "failed" || event.outcome === "rejected") return attributed;
  const { tool, input } = event;
  if (tool === "Skill" || tool === "SlashCommand") {
    const name = asString(input?.skill) ?? asString(input?.command)?.split(/\s/)[0];
    return [...find(name, ["skill", "command"], "tool"), ...attributed];
  }
  if (tool !== null && ownTools.test(tool))
    return [...find(asString(input?.skill_name), ["skill"], "tool"), ...attributed];
  if (tool === "Task" || tool === "Agent")
    return [...find(asString(input?.subagent_type), ["agent"], "tool"), ...attributed];
  const read = isSkillWork ? [] : filesRead(event);
  return [...read.flatMap((path) => findItemAt(path, known)), ...attributed];
}

/** Knack's own tools by which an agent loads a skill, or says that it used one, however its host spells them. */
const ownTools = /(?:^|[_.:/-])skill_(?:load|used)$/;

/** Codex's way of naming a skill in a prompt: a link to its file behind a dollar sign. */
function findMentions(text: string): string[] {
  return [...text.slice(0, 20_000).matchAll(/\[\$([\w:.-]{1,128})\]\([^)\n]{1,400}SKILL\.md\)/g)].map(
    ([, name]) => name ?? "",
  );
}

/** The skills whose text a call puts before the agent: whoever reads a skill's file has loaded it. */
function filesRead(event: Event): string[] {
  if (event.command === null)
    return event.tool !== null && /^read(?:_?file)?$|^view$/i.test(event.tool)
      ? event.files.map((file) => resolvePath(event, file)).filter(isSkillFile)
      : [];
  if (!event.command.includes("SKILL.md")) return [];
  return parseCommand(event.command).flatMap(({ name, args, directory }) =>
    readers.has(name) && !(name === "sed" && args.some((arg) => /^-\w*i/.test(arg)))
      ? args.filter(isSkillFile).map((file) => resolvePath(event, file, directory))
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

/** An absolute path, where the folder it was said in is known. */
function resolvePath({ cwd }: Event, path: string, directory: string | null = null): string {
  if (/^(?:[\\/~]|[A-Za-z]:)/.test(path)) return path;
  const folder =
    directory === null ? cwd : /^[\\/~]/.test(directory) ? directory : cwd && `${cwd}/${directory}`;
  return folder === null ? path : `${folder}/${path.replace(/^(?:\.\/)+/, "")}`;
}

/** The skill that a file is: by its path, or by the end of it where a link or another home leads to the same. */
function findItemAt(path: string, { items, project }: UsageContext): NamedItem[] {
  // `.codex/skills/name/SKILL.md`
  const takeTail = (full: string) => full.split(/[\\/]/).slice(-4).join("/");
  const skills = items.filter(
    ({ kind, scopeId }) => kind === "skill" && (scopeId === project || scopeId === "user"),
  );
  const item =
    skills.find((one) => one.path === path || one.copies.includes(path)) ??
    skills.find((one) => [one.path, ...one.copies].some((other) => takeTail(other) === takeTail(path)));
  return item ? [{ item, by: "tool" }] : [];
}

/** A call that was told in a session, and the turn in which the person asked for it themselves. */
interface Advice {
  readonly call: ToldCall;
  readonly askedIn: number;
}

/** Of the calls that were told, those which only somebody who was told would make: not done before, not usual here. */
function listAdvice(events: readonly Event[], telling: ShownItem, known: UsageContext): Advice[] {
  const { occasion, call, kind } = telling;
  if (kind === "skill") return newTo(events, findToldCalls(telling.text), telling, known);
  const [program, ...parts] = call ?? [];
  // At its failure a lesson is about this very call; elsewhere it must be its own, as a skill's must.
  if (occasion === "failure" && program !== undefined)
    return [toAdvice(events, [baseName(program), ...parts])];
  const own = keepOwnCall(call ?? []);
  return own === null ? [] : newTo(events, [own], telling, known);
}

function newTo(
  events: readonly Event[],
  calls: readonly ToldCall[],
  { id, at }: Pick<ShownItem, "id" | "at">,
  { isFamiliar }: UsageContext,
): Advice[] {
  const before = events.filter((event) => event.command !== null && event.at !== null && event.at < at);
  return calls
    .filter((call) => events.some(({ command }) => command !== null && makesCall(command, call)))
    .filter((call) => !before.some(({ command }) => makesCall(command ?? "", call)) && !isFamiliar(call, id))
    .map((call) => toAdvice(events, call));
}

function toAdvice(events: readonly Event[], call: ToldCall): Advice {
  const asking = events.find(({ kind, text }) => kind === "prompt" && namesCall(text, call));
  return { call, askedIn: asking?.turn ?? Number.POSITIVE_INFINITY };
}

/** The calls of an event that were told before it. */
function listFollowed(event: Event, toldAt: number, advice: readonly Advice[]): ToldCall[] {
  const { kind, command, at, outcome, turn } = event;
  if (kind !== "call" || command === null || at === null || at < toldAt) return [];
  if (outcome === "rejected" || outcome === "cancelled") return [];
  return advice.flatMap(({ call, askedIn }) => (turn < askedIn && makesCall(command, call) ? [call] : []));
}

/** How a use went: a person's objection first, then how what was told did; null where neither tells. */
function rateUse(events: readonly Event[], use: FoundUse, known: UsageContext): Rating | null {
  const { item, used, at } = use;
  const told = known.tellings
    .filter(({ id }) => id === used.skill)
    .map((telling) => ({ telling, advice: listAdvice(events, telling, known) }));
  // What was loaded tells its calls from then on; an agent of its own follows them elsewhere.
  const isLoaded = item !== null && item.kind !== "agent" && used.by !== "command" && at !== null;
  const loaded = isLoaded ? newTo(events, findToldCalls(item.body), { id: item.id, at }, known) : [];
  const calls = [...told.flatMap(({ advice }) => advice), ...loaded].map(({ call }) => call);
  const objection = findObjection(events, use, calls);
  if (objection !== null) return objection;
  const ratings = [
    ...told.map(({ telling, advice }) =>
      telling.occasion === "failure"
        ? outcomeAtFailure(events, telling, advice)
        : rateOutcome(events, advice, telling.at),
    ),
    rateOutcome(events, loaded, at ?? 0),
  ].flatMap((rating) => rating ?? []);
  return ratings.sort((a, b) => b.at - a.at)[0] ?? null;
}

/** A person who turns down what it tells, or corrects the agent in the very next turn and says what they mean by its name. */
function findObjection(
  events: readonly Event[],
  { used, turn }: FoundUse,
  calls: readonly ToldCall[],
): Rating | null {
  const turns = readTurns(events);
  const isTold = (command: string) => calls.some((call) => makesCall(command, call));
  const refusal = turns.find(({ rejected }) => isTold(rejected?.command ?? ""));
  const blame = (because: string, { prompt }: (typeof turns)[number]): Rating => ({
    ...{ verdict: "harmful", because, at: prompt.at ?? 0 },
  });
  if (refusal) return blame("the person turned down what it tells", refusal);
  const next = turns.find(({ prompt }) => prompt.turn === turn + 1);
  if (!next || !(namesItem(next.words, used.name) || calls.some((call) => namesCall(next.words, call))))
    return null;
  return isObjection(next) ? blame("the person objected to it in the next turn", next) : null;
}

/** Whether words speak of something by its name, as it is written or in plain words; a short name may be any word. */
function namesItem(words: string, name: string): boolean {
  const plain = words.toLowerCase();
  const names = [name, name.replace(/^.*:/, "").replace(/-/g, " ")].map((one) => one.toLowerCase());
  return names.some((one) => one.length > 3 && plain.includes(one));
}

/** How the calls that were told went: helpful when they worked in the end, harmful when they never could. */
function rateOutcome(events: readonly Event[], advice: readonly Advice[], toldAt: number): Rating | null {
  const followed = events.flatMap((event) =>
    listFollowed(event, toldAt, advice).map((call) => ({ event, call, worked: hasWorked(event) })),
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
  { call, at: toldAt }: ShownItem,
  advice: readonly Advice[],
): Rating | null {
  const followed = events.filter((event) => listFollowed(event, toldAt, advice).length > 0);
  const at = followed.at(-1)?.at;
  if (at == null) return null;
  if (workedNext(events, call ?? [], toldAt))
    return { verdict: "helpful", because: "it failed, this was told, came next and worked", at };
  const before = events.findLast(
    (event) => event.outcome === "failed" && event.at !== null && event.at <= toldAt,
  );
  const signature = ({ text, exitCode }: Event) => readSymptom(null, text, exitCode).signature;
  const again =
    before && followed.every((event) => hasWorked(event) === false && signature(event) === signature(before));
  return again ? { verdict: "harmful", because: "it was done, and the same failure came again", at } : null;
}

function hasWorked(event: Event): boolean | null {
  if (event.outcome === "ok") return new CallReader().hasWorked(event);
  return event.outcome === "failed" ? false : null;
}

/** A failure of the call's own words: not of the work that it was run on, nor of what stood beside it. */
function failsByItself({ command, text, exitCode }: Event, call: ToldCall): boolean {
  const { cause, call: failed } = readSymptom(command ?? "", text, exitCode);
  if (!causeGroups.beforeWork.has(cause) || failed === null) return false;
  const [head = "", ...parts] = failed;
  return isUse({ head: baseName(head), parts }, call);
}

/** Whether the call that a lesson recommends was what came next after a time, and worked: before anything else failed. */
function workedNext(events: readonly Event[], call: readonly string[], after: number): boolean {
  for (const event of events) {
    if (event.command === null || event.at === null || event.at < after) continue;
    const isOk = new CallReader().hasWorked(event);
    const isNext = parseCommand(event.command).some((run) => {
      const [head, ...parts] = run.use();
      return isUse({ head, parts }, call);
    });
    if (isNext) return isOk;
    if (!isOk) return false;
  }
  return false;
}
