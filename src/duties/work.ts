import { type CallReader, callText, isEdit, isOwnCall } from "../failures/index.ts";
import { isObjection, readTurns, stripOpening } from "../learning/index.ts";
import { type Cause, type Event, type Tier, tiers, type WorkFacts } from "../records/index.ts";
import { cutAtWord, oneLine } from "../text/index.ts";
import { ownWords } from "../trust/index.ts";

/** A stretch of a session in which one thing was worked on. */
export interface Stretch {
  readonly prompt: Event;
  readonly text: string;
  /** Prompts after the first that are about the same. */
  readonly followUps: readonly Event[];
  readonly events: readonly Event[];
  readonly facts: WorkFacts;
  /** The prompts in which the person said that something was wrong. */
  readonly objections: ReadonlySet<string>;
}

/** Characters of a goal's words, and of the words that show what was done. */
const goalChars = 160;
const excerptChars = 400;
/** Words of a prompt that answers a question, and of one that says no more than "go on". */
const answerWords = 12;
const goOnWords = 6;

/**
 * The stretches of a session: a prompt that the agent did something for begins one; what only answers, corrects or says
 * to go on belongs to the stretch before. The same transcript gives the same stretches, however it was read.
 */
export function readStretches(events: readonly Event[], calls: CallReader): Stretch[] {
  const own = events.filter(({ sidechain }) => !sidechain);
  const objections = new Map(readTurns(own).map((turn) => [turn.prompt.ref, isObjection(turn)]));
  const turns = readTurnsOfAll(own);
  const groups: { readonly turns: [SessionTurn, ...SessionTurn[]]; readonly against: Set<string> }[] = [];
  let before: SessionTurn | null = null;
  for (const turn of turns) {
    const last = groups.at(-1);
    const isAgainst = objections.get(turn.prompt.ref) === true;
    const goesOn = last !== undefined && before !== null && (isAgainst || continues(turn, before));
    if (goesOn && last !== undefined) {
      last.turns.push(turn);
      if (isAgainst) last.against.add(turn.prompt.ref);
    } else if (hasWork(turn) && turn.words !== "") groups.push({ turns: [turn], against: new Set() });
    before = turn;
  }
  return groups.map(({ turns: [first, ...rest], against }) => {
    const all = [first, ...rest].flatMap(({ prompt, events: rest }) =>
      rest[0] === prompt ? rest : [prompt, ...rest],
    );
    return {
      prompt: first.prompt,
      text: describeAsk(first.words),
      followUps: rest.map(({ prompt }) => prompt),
      events: all,
      facts: countWork(all, calls, against.size),
      objections: against,
    };
  });
}

/** Counts over any events, for a goal that no prompt began. */
export function readWork(events: readonly Event[], calls: CallReader): WorkFacts {
  return countWork(events, calls, readTurns(events).filter(isObjection).length);
}

interface SessionTurn {
  readonly prompt: Event;
  readonly words: string;
  readonly events: readonly Event[];
}

/** Every turn, also those that a program gave, or that a command without words began: they ask for work, too. */
function readTurnsOfAll(events: readonly Event[]): SessionTurn[] {
  const starts = events.flatMap((event, at) => (event.kind === "prompt" || isCommand(event) ? [at] : []));
  const before = events.slice(0, starts[0]);
  const [first] = before;
  // A plan that was accepted, or a session that goes on elsewhere: the agent works before anybody asks it here.
  const said = before.find(({ kind }) => kind === "reply")?.text ?? "go on with the work";
  const begun = first === undefined ? [] : [{ prompt: first, words: said, events: before }];
  const turns = starts.flatMap((at, n) => {
    const prompt = events[at];
    if (prompt === undefined) return [];
    const words = prompt.kind === "prompt" ? ownWords(prompt.text).trim() : `run ${prompt.text}`;
    return { prompt, words, events: events.slice(at + 1, starts[n + 1]) };
  });
  return [...begun, ...turns];
}

function isCommand({ kind, skill, text }: Event): boolean {
  return kind === "mark" && skill !== undefined && /^\/\S+$/.test(text);
}

function hasWork({ events }: SessionTurn): boolean {
  return events.some((event) => event.kind === "call" && !isOwnCall(event));
}

/** Whether a prompt is about what was worked on before it. */
function continues({ words }: SessionTurn, before: SessionTurn): boolean {
  const bare = stripOpening(words);
  const size = bare.split(/\s+/).filter(Boolean).length;
  // One word answers; nobody asks for something new with it.
  if (words === "" || size <= 1) return true;
  const lower = words.toLowerCase();
  if (size <= goOnWords && (goOn.test(lower) || agrees.test(lower))) return true;
  if (size <= goOnWords && refersBack.test(lower) && !asksAnew.test(lower)) return true;
  const reply = before.events.findLast(({ kind }) => kind === "reply")?.text.trim() ?? "";
  const last = before.events.at(-1);
  // The person stopped the work to say something about it.
  if (last?.kind === "mark" && last.text.startsWith("[Request interrupted")) return true;
  return size <= answerWords && /[?？]/.test(reply.slice(-replyEndChars)) && !asksAnew.test(lower);
}

/** Where in a reply an agent asks what to do next. */
const replyEndChars = 300;
const agrees = /\b(?:is|are|sounds|looks|works|seems) (?:fine|good|ok|okay|great|right|perfect)\b/;
const refersBack = /\b(?:that|it|this|those|these|them|both|all of them)\b/;
const asksAnew = /^(?:(?:and|so|but|ok|okay)[\s,]+)?(?:what|why|how|where|when|who|which|is|are|does)\b/;

const goOn =
  /^(?:(?:ok(?:ay)?|yes|yep|yeah|sure|please|great|perfect|thanks|thank you|good|cool|nice|no|and|now|just|then|so)[\s,.!]*)*(?:(?:go on|go ahead|continue|proceed|go forth|keep going|carry on|do it|do that|do so|try again|retry|again|resume|next|finish(?: it)?|\d+|[a-d])\b.*)?$|^(?:继续|好的?|是的?|可以|はい|続けて|네|계속|sí|si|continúa|adelante|ja|weiter|mach weiter|oui|vas-y)[\s。.!！]*$/u;

/** A goal in words: what the person asked for, at its beginning. */
function describeAsk(words: string): string {
  const line = oneLine(stripOpening(words)) || oneLine(words);
  return cutAtWord(line, goalChars);
}

/** Counts over a stretch of a session, from its events alone. */
function countWork(events: readonly Event[], calls: CallReader, corrections: number): WorkFacts {
  const own = events.filter((event) => event.kind === "call" && !isOwnCall(event));
  const failed = own.filter(({ outcome }) => outcome === "failed");
  const rejected = own.filter(({ outcome }) => outcome === "rejected").length;
  const recoveries = calls
    .recoveries(own)
    .filter(
      ({ worked, error, again }) => worked !== null && (!isWork(error.cause) || again.length >= manyTries),
    );
  const replies = events.filter(({ kind }) => kind === "reply");
  const edits = own.filter((event) => isEdit(event) && event.outcome === "ok");
  const chars = [...replies.map(({ text }) => text), ...edits.map((event) => callText(event))];
  const facts = {
    calls: own.length,
    failed: failed.length,
    outputChars: chars.reduce((sum, text) => sum + text.trim().length, 0),
    overcome: recoveries.length,
    corrections: Math.max(corrections, rejected),
    retries: countRetries(failed),
    reverted: countReverted(own, edits, calls),
    dependencies: countDependencies(own, calls),
    tiers: findTiers(own, calls),
    end: readEnd(events, own),
  };
  return {
    ...facts,
    excerpt: describeWork(
      own,
      recoveries.map(({ failed: one }) => one),
      replies,
    ),
  };
}

/** Failures that are the work itself: a test that is to pass, code that is to compile, a file that is looked for. */
// biome-ignore format: a list of names reads better in rows
const workCauses: ReadonlySet<Cause> = new Set([
  "failing-test", "code", "lint", "missing-file", "state", "transient", "tool-misuse",
]);
/** Tries from which even those are more than the usual work. */
const manyTries = 2;

/** Whether a failure of this cause is the work itself. */
export function isWork(cause: Cause): boolean {
  return workCauses.has(cause);
}

function countRetries(failed: readonly Event[]): number {
  const words = failed.map((event) => `${event.tool} ${callText(event)}`);
  return words.filter((text, at) => words.indexOf(text) < at).length;
}

/** Edits that put back what an earlier one took out, and calls of git that drop what was changed. */
function countReverted(own: readonly Event[], edits: readonly Event[], calls: CallReader): number {
  const texts = edits.map(({ input, files }) => ({
    file: files[0] ?? "",
    from: typeof input?.old_string === "string" ? input.old_string : null,
    to: typeof input?.new_string === "string" ? input.new_string : null,
  }));
  const back = texts.filter(({ file, from, to }, at) =>
    texts
      .slice(0, at)
      .some((one) => one.file === file && from !== null && one.from === to && one.to === from),
  );
  const dropped = own.filter(
    (event) =>
      event.outcome === "ok" && calls.runs(event).some(({ name, args }) => name === "git" && drops(args)),
  );
  return back.length + dropped.length;
}

function drops([verb, ...rest]: readonly string[]): boolean {
  if (verb === "revert") return true;
  if (verb === "restore") return !rest.includes("--staged");
  if (verb === "checkout") return rest.includes("--");
  return verb === "reset" && rest.includes("--hard");
}

const adding: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    ...{ npm: ["install", "i", "add"], pnpm: ["add"], yarn: ["add"], bun: ["add"], pip: ["install"] },
    ...{ pip3: ["install"], uv: ["add"], poetry: ["add"], cargo: ["add"], go: ["get"], gem: ["install"] },
    ...{ composer: ["require"], dotnet: ["add"] },
  }).map(([program, verbs]) => [program, new Set(verbs)]),
);

/** Calls that added a package by its name; installing what a project names already is none. */
function countDependencies(own: readonly Event[], calls: CallReader): number {
  const adds = ({ name, args: [verb = "", ...rest] }: { name: string; args: readonly string[] }) =>
    adding.get(name)?.has(verb) === true &&
    !rest.includes("-r") &&
    rest.some((word) => !word.startsWith("-") && !/^\.|[/\\]$/.test(word));
  return own.filter((event) => event.outcome === "ok" && calls.runs(event).some(adds)).length;
}

const webTools = /web_?(?:search|fetch)|browser|fetch_url/i;
const codeTools = /^(?:read|grep|glob|ls|search|list_dir|view|open)/i;

/** Which sources of knowledge the agent itself looked into. */
function findTiers(own: readonly Event[], calls: CallReader): Tier[] {
  const looks = (name: string) => /^(?:rg|grep|find|cat|ls|sed|head|tail|fd)$/.test(name);
  const isOf: Record<Tier, (event: Event) => boolean> = {
    library: () => false,
    code: (event) => codeTools.test(event.tool ?? "") || calls.runs(event).some(({ name }) => looks(name)),
    web: (event) =>
      webTools.test(event.tool ?? "") || calls.runs(event).some(({ name }) => /^(?:curl|wget)$/.test(name)),
  };
  return tiers.filter((tier) => own.some(isOf[tier]));
}

function readEnd(events: readonly Event[], own: readonly Event[]): WorkFacts["end"] {
  const last = events.findLast(({ kind }) => kind !== "prompt");
  if (last?.kind === "mark" && last.text.startsWith("[Request interrupted")) return "stopped";
  const ended = own.findLast(({ outcome }) => outcome === "ok" || outcome === "failed");
  return ended === undefined ? "none" : ended.outcome === "failed" ? "failed" : "ok";
}

function describeWork(own: readonly Event[], overcome: readonly Event[], replies: readonly Event[]): string {
  const show = (event: Event) => oneLine(event.command ?? `${event.tool} ${event.files[0] ?? ""}`);
  const lines = [
    ...overcome.slice(0, 2).map((event) => `failed: ${cutAtWord(show(event), 120)}`),
    ...own.slice(-1).map((event) => `last: ${cutAtWord(show(event), 120)}`),
    ...replies.slice(-1).map(({ text }) => cutAtWord(oneLine(text), 160)),
  ];
  return lines.join(" · ").slice(0, excerptChars);
}

/** Words by which a routine is known again: the same ask, whatever its numbers and the order of its words. */
export function routineKey({ text, category }: { readonly text: string; readonly category: string }): string {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  return `${category} ${words.sort().join(" ")}`;
}
