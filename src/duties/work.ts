import { type CallReader, callText, isEdit, isOwnCall, type Recovery } from "../failures/index.ts";
import { isBareRequest, isObjection, readTurns, stripOpening, type Turn } from "../learning/index.ts";
import { type Cause, type Event, type Tier, tiers, type WorkFacts } from "../records/index.ts";
import { cutAtWord, extractTerms, measureSimilarity, oneLine } from "../text/index.ts";
import { ownWords } from "../trust/index.ts";

/** A stretch of a session in which one thing was worked on. */
export interface Stretch {
  readonly prompt: Event;
  readonly text: string;
  /** Prompts after the first that are about the same. */
  readonly followUps: readonly Event[];
  readonly events: readonly Event[];
  readonly facts: WorkFacts;
  /** The call that worked in the end, in words, by the reference of the one that had failed. */
  readonly cures: ReadonlyMap<string, string>;
  /** The prompts in which the person said how it should be instead. */
  readonly objections: ReadonlySet<string>;
}

/** Characters of a goal's words, and of the words that show what was done. */
const goalChars = 160;
const excerptChars = 400;
/** Words of a prompt that objects at most, that answers a question, and that says no more than "go on". */
const objectionWords = 120;
const answerWords = 16;
const goOnWords = 6;
/** Share of their words from which a prompt is the one before, sent again. */
const resentShare = 0.8;

/**
 * The stretches of a session: a prompt that the agent did something for begins one; what only answers, corrects or says
 * to go on belongs to the stretch before. The same transcript gives the same stretches, however it was read.
 */
export function readStretches(events: readonly Event[], calls: CallReader): Stretch[] {
  const own = events.filter(({ sidechain }) => !sidechain);
  const objections = new Map(readTurns(own).map((turn) => [turn.prompt.ref, objects(turn, calls)]));
  const turns = readTurnsOfAll(own);
  const groups: TurnGroup[] = [];
  for (const [at, turn] of turns.entries()) {
    const last = groups.at(-1);
    const before = turns[at - 1];
    const isAgainst = objections.get(turn.prompt.ref) === true && last?.turns.some(hasAnswer) === true;
    if (last && before && (isAgainst || continues(turn, before))) {
      last.turns.push(turn);
      if (isAgainst) last.against.add(turn.prompt.ref);
    } else groups.push({ turns: [turn], against: new Set() });
  }
  // Talk alone is no goal.
  return groups.filter(({ turns: all }) => all.some(hasWork)).map((group) => readGroup(group, calls));
}

function readGroup({ turns, against }: TurnGroup, calls: CallReader): Stretch {
  const [first, ...rest] = turns;
  const all = [first, ...rest].flatMap(({ prompt, events }) =>
    events[0] === prompt ? events : [prompt, ...events],
  );
  const own = listCalls(all);
  const cures = calls.recoveries(own).flatMap((recovery) => {
    const words = describeCure(recovery);
    return words === null ? [] : [[recovery.failed.ref, words] as const];
  });
  return {
    prompt: first.prompt,
    text: describeAsk(findNaming(turns)),
    followUps: rest.map(({ prompt }) => prompt),
    events: all,
    facts: countWork(all, own, calls, against.size),
    cures: new Map(cures),
    // That something is not there says what went wrong, and not what is better.
    objections: new Set(
      rest.flatMap(({ prompt: { ref }, words }) => (against.has(ref) && !isReport(words) ? [ref] : [])),
    ),
  };
}

function isReport(words: string): boolean {
  return countWords(words) <= reportWords && misses.test(words);
}

/** The prompt that names a goal: the first, unless it was talk and the work was asked for at length later. */
function findNaming(turns: TurnGroup["turns"]): SessionTurn {
  const worked = turns.find(hasWork);
  return worked !== undefined && countWords(worked.words) > answerWords ? worked : turns[0];
}

/**
 * What worked in the place of what failed, empty where the tool's name says nothing new; null for a long script that
 * merely has a part in common with it.
 */
function describeCure({ failed, worked, error }: Recovery): string | null {
  if (worked === null) return null;
  if (worked.command === null) return worked.tool === failed.tool ? "" : worked.tool;
  const [words, before] = [withoutFolder(worked.command), withoutFolder(failed.command ?? "")];
  const isShort = words.length <= cureChars && !words.includes("\n");
  const isAlike = measureSimilarity(extractTerms(words), extractTerms(before)) >= alikeShare;
  // Another program, or a shell in the place of a tool, shares no words with what failed.
  const isOther = error.cause === "missing-program" || failed.command === null;
  return isShort || isAlike || isOther ? cutAtWord(oneLine(words), cureChars) : null;
}

const cureChars = 160;
const alikeShare = 0.3;

/** A command without the folder it goes to first, and without remarks. */
function withoutFolder(command: string): string {
  return command.replace(/^(?:\s*(?:#.*\n|cd +(?:"[^"\n]*"|'[^'\n]*'|\S+) *(?:&&|;|\n)))+/, "").trim();
}

function listCalls(events: readonly Event[]): Event[] {
  return events.filter((event) => event.kind === "call" && !isOwnCall(event));
}

interface TurnGroup {
  readonly turns: [SessionTurn, ...SessionTurn[]];
  readonly against: Set<string>;
}

/** Counts over any events, for a goal that no prompt began. */
export function readWork(events: readonly Event[], calls: CallReader): WorkFacts {
  const against = readTurns(events).filter((turn) => objects(turn, calls));
  return countWork(events, listCalls(events), calls, against.length);
}

/**
 * Whether a turn is against what was done before it, and what is done changes. A whole new task may say what not to do,
 * and a question asks.
 */
function objects(turn: Turn, calls: CallReader): boolean {
  if (turn.rejected === null && countWords(turn.words) > objectionWords) return false;
  const asks = turn.sentences.every((sentence) => asksOfThings.test(stripOpening(sentence)));
  // What changes nothing is talk, and so is a question that the agent looked something up for.
  const isQuestion = turn.sentences.every((sentence) => /[?？]\s*$/.test(sentence));
  const answers = turn.after.filter((event) => !isQuestion || !onlyLooks(event, calls));
  const isAgainst =
    isReport(turn.words) ||
    isObjection(turn) ||
    [takesBack, wantsOtherwise].some((sign) => turn.sentences.some((one) => sign.test(one)));
  return !asks && (turn.rejected !== null || answers.length > 0) && isAgainst;
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
  const begun = first === undefined ? [] : [{ prompt: first, words: said, events: before }].filter(hasWork);
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

/** Whether a person stopped the agent, as the clients write it down. */
function isStop({ kind, text }: Event): boolean {
  return (
    kind === "mark" && /^(?:\[?Request (?:interrupted|cancelled)|Interrupted\b|Turn aborted)/i.test(text)
  );
}

function hasAnswer({ events }: SessionTurn): boolean {
  return events.some(({ kind }) => kind === "call" || kind === "reply");
}

function hasWork({ events }: SessionTurn): boolean {
  return listCalls(events).length > 0;
}

/** Whether a prompt is about what was worked on before it. */
function continues(turn: SessionTurn, before: SessionTurn): boolean {
  const { prompt, words } = turn;
  const bare = stripOpening(words);
  const size = countWords(bare);
  // One word answers; nobody asks for something new with it.
  if (words === "" || size <= 1 || isBareRequest(words)) return true;
  const last = before.events.at(-1);
  const isStopped = last !== undefined && isStop(last);
  if (!isStopped && isSaidMeanwhile(prompt, before)) return true;
  // It was said once more before the agent did anything.
  if (!hasAnswer(before) && measureSimilarity(extractTerms(words), extractTerms(before.words)) > resentShare)
    return true;
  const lower = words.toLowerCase();
  if (leansOn.test(bare.toLowerCase()) || (size <= additionWords && adds.test(lower))) return true;
  if (size <= goOnWords && (goOn.test(lower) || agrees.test(lower))) return true;
  if (size <= goOnWords && refersBack.test(lower) && !asksAnew.test(lower)) return true;
  const reply = before.events.findLast(({ kind }) => kind === "reply")?.text.trim() ?? "";
  const isQuestion = /[?？吗嗎]\s*$/.test(words);
  // The person stopped the work to say something about it; a question then may be about something else.
  if (isStopped)
    return !isQuestion || !hasWork(before) || listCalls(before.events).at(-1)?.outcome === "rejected";
  const isAnswer = size <= answerWords && /[?？]/.test(reply.slice(-replyEndChars));
  // A question in return is still about the same, unless the agent has to work for it.
  const isAsking = isQuestion || asksAnew.test(lower);
  if (!isAnswer || (isAsking && hasWork(turn)) || asksFor.test(stripOpening(lower))) return false;
  // A short reply is all question. A report ends with an offer: several words that take up nothing of it, and for which
  // the agent works again, ask for something else, in whatever language.
  const isOffer = reply.length > replyEndChars && hasWork(before);
  return !isOffer || size < askWords || !hasWork(turn) || takesUp(bare, reply);
}

/** Words from which a prompt after a question may be another ask: fewer only answer. */
const askWords = 4;
/** Letters that two forms of a word have in common at their beginning; shorter words are in every text. */
const stemLetters = 4;

/** Whether words take up something that a reply said, in any of its forms, or name one of its options. */
function takesUp(words: string, reply: string): boolean {
  if (/(?<![\p{L}\p{N}])[\p{Lu}\p{N}](?![\p{L}\p{N}])/u.test(words)) return true;
  const isSpaced = (term: string) => !/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(term);
  const stems = (text: string) =>
    [...extractTerms(text)].flatMap((term) =>
      !isSpaced(term) ? term : term.length >= stemLetters ? term.slice(0, stemLetters) : [],
    );
  const said = new Set(stems(reply));
  return stems(words).some((stem) => said.has(stem));
}

/** Whether the agent was still at work: what was typed meanwhile stands behind what it did until it read it. */
function isSaidMeanwhile({ at }: Event, { events }: SessionTurn): boolean {
  const last = events.findLast(({ kind }) => kind === "call" || kind === "reply");
  const ended = last?.endedAt ?? last?.at ?? null;
  if (at === null || ended === null) return false;
  return at < ended || (last?.kind === "call" && at - ended < unfinishedMs);
}

/** A prompt so soon after a call that nothing was said about is for the same work. */
const unfinishedMs = 5 * 60_000;

/** Words, also in scripts that put no space between them: two Han characters are about one, and so is a run of kana. */
function countWords(text: string): number {
  return text.match(wordShape)?.length ?? 0;
}

const wordShape =
  /\p{Script=Han}{1,2}|[\p{Script=Hiragana}\p{Script=Katakana}ー]+|[\p{L}\p{N}][^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]*/gu;

/** Where in a reply an agent asks what to do next. */
const replyEndChars = 300;
/** Something added to what was asked for, unless it takes so many words to say. */
const adds = /^(?:also|alternatively)\b/;
const additionWords = 40;
/** Words that mean nothing without what was said before. */
const leansOn =
  /^(?:(?:for (?:example|instance)|e\.g\.|i mean|i meant|that['’]?s because|in other words|(?:(?:it|this|that|i|we)(?:['’]s| is| am| are)? )?still|sigue|todavía|aún|immer noch|toujours)\b|那是因为|这只是|比如|例如|也就是说|还是|仍然|依然|つまり|例えば|たとえば|まだ)/;
/** What was done is to be as it was before. */
const takesBack =
  /\b(?:(?:change|put|move|switch|bring|roll) (?:it|this|that|them|these|those) back|(?:undo|revert) (?:it|this|that|them|these|those|the (?:commits?|changes?|edits?)))\b/i;
/** What was proposed or done is not as the person wants it. */
const wantsOtherwise =
  /^(?:wait|hold on|but|no|nope|hm+)\b(?! (?:for|until|should)\b)[^.!?]*\bshould(?:n['’]?t)?\b|\bwe (?:really )?(?:do not|don['’]?t) need\b|\bdon['’]?t think we need\b/i;
/** What was made does not do what it is for. */
const misses =
  /\b(?:(?:can ?not|can['’]?t|do(?:es)?n['’]?t|do(?:es)? not|didn['’]?t|did not) (?:see|find|work|show|open|load|appear|run)|no (?:output|effect|change|difference)|not (?:working|showing|shown|loading|loaded))\b|没看到|看不到|没有(?:看到|通知|输出|反应|效果|变化)|还是没|没收到|見えない|表示され(?:ない|ません)|動か(?:ない|ません)|\bno (?:funciona|aparece|sale|veo|se ve)\b/i;
const reportWords = 24;
/** A question about how things are, which is against nothing. */
const asksOfThings = /^(?:does|do we|do they|is there|are there|(?:what|which|how)\b(?!.*\byou\b))\b/i;
const agrees = /\b(?:is|are|sounds|looks|works|seems) (?:fine|good|ok|okay|great|right|perfect)\b/;
const refersBack = /\b(?:that|it|this|those|these|them|both|all of them)\b/;
const asksAnew = /^(?:(?:and|so|but|ok|okay)[\s,]+)?(?:what|why|how|where|when|who|which|is|are|does)\b/;

const asksFor = /^(?:can|could|would|will) (?:you|we)\b/;

const goOn =
  /^(?:(?:ok(?:ay)?|yes|yep|yeah|sure|please|great|perfect|thanks|thank you|good|cool|nice|no|and|now|just|then|so)[\s,.!]*)*(?:(?:go on|go ahead|continue|proceed|go forth|keep going|carry on|do it|do that|do so|try again|retry|again|resume|next|finish(?: it)?|\d+|[a-d])\b.*)?$|^(?:继续|好的?|是的?|可以|はい|続けて|네|계속|sí|si|continúa|adelante|ja|weiter|mach weiter|oui|vas-y)[\s。.!！]*$/u;

/**
 * A goal in words: what the person asked for, at its beginning. People write above or below what they paste: words from
 * its middle, or too few of them, are part of it, and its own head names it better.
 */
function describeAsk({ prompt: { text }, words }: SessionTurn): string {
  const lines = words.split("\n").filter(Boolean);
  const above = text.indexOf(lines[0] ?? "");
  const below = text.length - text.lastIndexOf(lines.at(-1) ?? "");
  const isOwn = countLetters(words) >= fewLetters && (above < edgeChars || below < edgeChars);
  const head = text.split("\n").find((line) => countLetters(line) >= fewLetters) ?? text;
  const said = isOwn ? lines.slice(0, ownLines).join(" ") : head.replace(/^[\s"'#>*]+/, "");
  const line = oneLine(said.replace(/\*\*/g, "").replace(longLink, "$1…"));
  return cutAtWord(stripOpening(line) || line, goalChars);
}

/** A link of which more than its beginning would leave no room for words. */
const longLink = /(https?:\/\/\S{30})\S{10,}/g;

const ownLines = 3;
const fewLetters = 6;
/** How far from an end of a prompt a person's own words may begin. */
const edgeChars = 300;

function countLetters(text: string): number {
  return text.match(/\p{L}/gu)?.length ?? 0;
}

/** Counts over a stretch of a session, from its events alone. */
function countWork(
  events: readonly Event[],
  own: readonly Event[],
  calls: CallReader,
  corrections: number,
): WorkFacts {
  const failed = own.filter(({ outcome }) => outcome === "failed");
  const recoveries = calls
    .recoveries(own)
    .filter(
      ({ worked, failed, again }) => worked !== null && (!isWork(failed, calls) || again.length >= manyTries),
    );
  const replies = events.filter(({ kind }) => kind === "reply");
  const edits = own.filter((event) => isEdit(event) && event.outcome === "ok");
  const chars = [...replies.map(({ text }) => text), ...edits.map((event) => callText(event))];
  const facts = {
    calls: own.length,
    failed: failed.length,
    outputChars: chars.reduce((sum, text) => sum + text.trim().length, 0),
    overcome: recoveries.length,
    corrections,
    retries: countRetries(failed.filter((event) => !isWork(event, calls))),
    reverted: countReverted(own, edits, calls),
    dependencies: countDependencies(own, calls),
    tiers: findTiers(own, calls),
    end: readEnd(events, own, calls),
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

/**
 * Whether a failed call is the work itself: by its cause, or, where its words tell none, by what it does. A look that
 * finds nothing and a check that is not passed yet are no lessons.
 */
export function isWork(event: Event, calls: CallReader): boolean {
  const { cause } = calls.error(event);
  // A look prints what others wrote, also their complaints.
  if (onlyLooks(event, calls)) return !writtenWrong.has(cause);
  if (cause !== "other") return workCauses.has(cause);
  const run = calls.failures([event])[0]?.run;
  return run != null && [run.head, ...run.args].some((word) => checks.test(word));
}

/** Causes that lie in how a call is written, or in what is not installed. */
const writtenWrong: ReadonlySet<Cause> = new Set([
  "missing-program",
  "wrong-usage",
  "shell-dialect",
  "denied",
]);

function onlyLooks(event: Event, calls: CallReader): boolean {
  const runs = calls.runs(event).filter(({ name }) => name !== "cd");
  if (runs.length === 0) return webTools.test(event.tool ?? "") || codeTools.test(event.tool ?? "");
  return runs.every(({ isLook, onlyPrints, isFilter }) => isLook || onlyPrints || isFilter);
}

const checks =
  /^(?:.* )?(?:--)?(?:tests?|coverage|vitest|jest|pytest|mocha|tsc|wait|watch|(?:type-?)?check|lint|eslint|biome|ruff|mypy|clippy|analyz?s?e|vet)$/;

function countRetries(failed: readonly Event[]): number {
  const words = failed.map((event) => `${event.tool} ${callText(event)}`);
  return words.filter((text, at) => words.indexOf(text) < at).length;
}

/** Edits that put back what an earlier one took out, and calls of git that drop what the agent had changed. */
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
  const edited: string[] = [];
  let dropped = 0;
  for (const event of own) {
    if (event.outcome !== "ok") continue;
    if (isEdit(event)) edited.push(...event.files);
    else if (calls.runs(event).some(({ name, args }) => name === "git" && drops(args, edited))) dropped++;
  }
  return back.length + dropped;
}

/** Whether a call of git takes back a commit, or what was changed in one of these files. */
function drops([verb, ...rest]: readonly string[], edited: readonly string[]): boolean {
  if (verb === "revert") return true;
  if (verb === "reset" && rest.some((word) => /^(?:HEAD|@)[~^]/.test(word))) return true;
  if (verb === "reset") return rest.includes("--hard") && edited.length > 0;
  const isStaged = rest.includes("--staged") && !rest.includes("--worktree");
  const isDrop = verb === "checkout" ? rest.includes("--") : verb === "restore" && !isStaged;
  const paths = verb === "checkout" ? rest.slice(rest.indexOf("--") + 1) : rest;
  return isDrop && paths.some((path) => edited.some((file) => isBelow(file, path)));
}

function isBelow(file: string, path: string): boolean {
  const part = path.replace(/^\.\/|\/$/g, "");
  return part === "." || `/${file}/`.includes(`/${part}/`);
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
  // What comes after `||` was done only where something else had failed, which the call does not show.
  const isCertain = ({ command }: Event) =>
    !/\|\|\s*(?:sudo )?(?:npm|pip3?|pnpm|yarn|gem) /.test(command ?? "");
  return own.filter((event) => event.outcome === "ok" && isCertain(event) && calls.runs(event).some(adds))
    .length;
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

/** How the last call ended that did more than look. A call that the agent's own tool turned down says nothing of the work. */
function readEnd(events: readonly Event[], own: readonly Event[], calls: CallReader): WorkFacts["end"] {
  const last = events.findLast(({ kind }) => kind !== "prompt");
  if (last !== undefined && isStop(last)) return "stopped";
  const tells = (event: Event) => !onlyLooks(event, calls) && calls.error(event).cause !== "tool-misuse";
  // How a call ended whose exit another program hid is not known: it says nothing bad.
  const ended = own.findLast(
    (event) =>
      event.outcome === "ok" || event.outcome === "masked" || (event.outcome === "failed" && tells(event)),
  );
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
