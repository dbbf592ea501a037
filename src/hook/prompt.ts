import { opendirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { asString, readPlainFile } from "../base/index.ts";
import { asksToRemember, mayAskToRemember } from "../learning/index.ts";
import { sharedLessonId } from "../lessons/index.ts";
import { findHome, readQuestion, recallFromSnapshot, renderPromptFact } from "../recall/index.ts";
import { describeProject, type FoundItem, find, readIndexFiles, renderFound } from "../search/index.ts";
import { noteRequest, writeNote } from "../spool/index.ts";
import { findCheckout } from "../transcripts/index.ts";
import { dropPrivate, ownWords } from "../trust/index.ts";
import { cleanForKeeping, cleanPrompt } from "./clean.ts";
import { attempt, type HookEvent, type HookReply } from "./event.ts";
import { takeAnswer } from "./offer.ts";
import { holdBack, type OpenSnapshot, openMarks, show, withSnapshot } from "./session.ts";

/** Characters given to an agent at once; its own limit is 10,000. */
const contextChars = 9_000;
/** Names of a folder that are looked at. */
const mostNames = 2_000;
/** Lessons and skills told at one prompt. */
const mostTold = 3;
/** Characters of a prompt that are recorded; twice as many are read. */
const promptChars = 4_000;
/** Bytes of a skill's file that are read; the library has none that is longer. */
const skillBytes = 1_000_000;

/** Takes an answer to an offer; else tells the agent the best few lessons and skills for what the user asks. */
export async function atPrompt(call: HookEvent): Promise<HookReply | null> {
  openMarks(call.home, call.session).beginTurn(call.now);
  const typed = dropPrivate(asString(call.payload.prompt) ?? "");
  const text = cleanPrompt(call, extractUserText(typed));
  if (text === "") return null;
  const isPersons = !call.isGivenByProgram;
  const answered = isPersons ? takeAnswer(call, text) : null;
  if (answered !== null) return answered;
  const request = isPersons ? readRequest(call, text) : null;
  return withSnapshot(call, async (known) => {
    const lessons = await recallLessons(call, known, text);
    // A slash command is handled by the agent itself and is no unmatched prompt.
    const items = typed.startsWith("/") ? null : findItems(call, known, text);
    if (isPersons && lessons.length === 0 && items?.length === 0) recordUnmatchedPrompt(call, known, text);
    const told = tell(call, known, [...lessons, ...(items ?? [])]);
    const said = [...(request === null ? [] : [requests[request]]), ...told.map((one) => one.said)];
    if (said.length === 0) return null;
    const names = told.map(({ name }) => name).join(", ");
    return {
      context: said.join("\n"),
      ...(names === "" ? {} : { receipt: `Knack: the agent was told of ${names}` }),
    };
  });
}

const writesSkill =
  "skill_learning_start, write the package, skill_learning_finish; reason explicit_user_request";

/** How an agent keeps what it is asked to remember. */
const requests = {
  skill: `Knack: the person asks for a skill. If it is one of what this session did: ${writesSkill}.`,
  lesson: `Knack: the person asks to remember something. A fact or an order: lesson_leads with session "current", then lesson_submit with a lesson that has this prompt among its events. Steps to keep under a name: ${writesSkill}.`,
};

/** Asks for a skill in so many words: what was done is to be kept as steps, not as a sentence. */
const asksForSkill = /\b(?:make|create|write|save|turn|keep|learn)\b[^.?!\n]{0,60}\bskill\b/i;

/** Notes a request to remember something: a lesson with these words needs no other approval. */
function readRequest({ home, session }: HookEvent, text: string): keyof typeof requests | null {
  // Most prompts have no word of it, and taking pastes out of them costs more than looking.
  if (!mayAskToRemember(text) && !/skill/i.test(text)) return null;
  const own = ownWords(text);
  const request = asksForSkill.test(own) ? "skill" : asksToRemember(own) ? "lesson" : null;
  if (request === "lesson") noteRequest(home, session, text);
  return request;
}

/** The user's own words, without a command's name; empty for messages that programs send as prompts. */
function extractUserText(prompt: string): string {
  const text = cutMiddle(prompt, 2 * promptChars).trim();
  return /^<[a-z-]+>/.test(text) ? "" : text.replace(/^\/[\w:-]+\s*/, "");
}

/** Keeps the beginning and the end of a long prompt: the question often follows pasted text. */
function cutMiddle(prompt: string, most: number): string {
  if (prompt.length <= most) return prompt;
  const tail = Math.round(most / 3);
  // Half a word may be half a secret, which would not be recognized.
  return `${prompt.slice(0, most - tail)}\n${prompt.slice(-tail).replace(/^\S+/, "")}`;
}

/** A lesson or skill that fits a prompt. */
interface Fit {
  readonly kind: "lesson" | "skill";
  readonly id: string;
  readonly name: string;
  /** The lesson that a skill was made from. */
  readonly source: string | null;
  readonly text: string;
  /** Records that it is shown, and returns the text to show. */
  say(text: string): string;
}

async function recallLessons(call: HookEvent, known: OpenSnapshot, text: string): Promise<Fit[]> {
  const { project, branch } = known;
  const home = findHome(call.cwd ?? "");
  const asked = { project, home, asker: "nobody", branch, now: call.now } as const;
  const matches = await recallFromSnapshot(known, readQuestion(text), asked);
  return matches.flatMap((match) => {
    const made = known.get("made", match.lesson.id);
    // The agent already sees what happened in this session, and reads rules that are live.
    if (match.from.every(({ run }) => run === call.session) || (made?.live && !made.isSkill)) return [];
    const id = sharedLessonId(match.lesson);
    return {
      kind: "lesson" as const,
      id,
      name: match.lesson.name,
      source: null,
      // A draft is named to agents, and handed over when they ask for it.
      text: renderPromptFact(match, made?.live ? made.body : null, call.now),
      say: (text) => show(call, project, { type: "shown", lessonId: id, occasion: "prompt", text }),
    };
  });
}

/** Finds skills in the library; null if its index cannot be read. The next writer replaces a damaged index. */
function findItems(call: HookEvent, { project }: OpenSnapshot, text: string): Fit[] | null {
  const context = describeProject((call.cwd !== null && attempt(() => listNames(call.cwd ?? ""))) || []);
  const found = readIndexFiles(dirname(call.home.snapshot), (index) =>
    find(index, text, { project, context }),
  );
  return found?.flatMap((one) => fitItem(call, project, one) ?? []) ?? null;
}

/** The first names in a folder: what tells a project's kind is among few files, and a folder may have millions. */
function listNames(folder: string): string[] {
  const names: string[] = [];
  const entries = opendirSync(folder);
  try {
    for (
      let entry = entries.readSync();
      entry !== null && names.length < mostNames;
      entry = entries.readSync()
    )
      names.push(entry.name);
  } finally {
    entries.closeSync();
  }
  return names;
}

/** A skill as it is shown; null if its file is gone, or belongs to another checkout that claims the same project. */
function fitItem(call: HookEvent, project: string, { card, how }: FoundItem): Fit | null {
  if (!isOfCheckout(call, card) || attempt(() => statSync(card.path)) === null) return null;
  const { id, name, source } = card;
  const whole = how === "load" ? attempt(() => readScanned(card.path, card.hash)) : null;
  const shown = { type: "offered", skill: id, name, how: whole === null ? "offer" : "load" } as const;
  return {
    ...{ kind: "skill", id, name, source },
    text: renderFound(card, whole),
    say: (text) => show(call, project, { ...shown, text }),
  };
}

/** A project's skills are those of the folder that the agent works in, not of whoever claims its remote. */
function isOfCheckout({ cwd }: HookEvent, { checkout }: FoundItem["card"]): boolean {
  if (checkout === null || cwd === null) return checkout === null;
  const here = findCheckout(cwd);
  return here === null ? isBelow(cwd, checkout) : [here.root, here.worktree].includes(checkout);
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** The text that was scanned for the index; null where the file holds another by now, whatever its time says. */
function readScanned(path: string, hash: string): string | null {
  const text = new TextDecoder("utf-8", { fatal: true }).decode(
    readPlainFile(path, { maxBytes: skillBytes }),
  );
  // Loading it takes a third of Node's own start, and most prompts load no skill.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(text).digest("hex") === hash ? text : null;
}

/** Picks the best fits that the agent does not have in context yet, within the character limit. */
function tell(call: HookEvent, known: OpenSnapshot, fits: readonly Fit[]): { name: string; said: string }[] {
  const seen = openMarks(call.home, call.session);
  const ids = new Set(fits.map(({ id }) => id));
  const told: { name: string; said: string }[] = [];
  let left = contextChars;
  for (const fit of fits) {
    if (told.length === mostTold || left <= 0) break;
    // A lesson replaces the skill that was made from it.
    if (fit.source !== null && ids.has(fit.source)) continue;
    if (holdBack(call, known, "prompt", fit) || !seen.tells(fit.id)) continue;
    const said = fit.say(fit.text.slice(0, left));
    told.push({ name: fit.name, said });
    left -= said.length + 1;
  }
  return told;
}

/** Nothing fits the prompt. If it is asked repeatedly, it is worth a skill. */
function recordUnmatchedPrompt(call: HookEvent, { project }: OpenSnapshot, text: string): void {
  const { session, home, now: at } = call;
  // Only the session's transcript tells which words are secret; the hook does not read it.
  const kept = cleanForKeeping(cutMiddle(text, promptChars));
  writeNote(home.spool, { type: "unmatched", session, project, text: kept, at });
}
