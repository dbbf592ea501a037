import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { asString } from "../base/index.ts";
import { sharedLessonId } from "../lessons/index.ts";
import {
  findHome,
  isHeldBack,
  type MadeItem,
  openMemory,
  promptChars,
  readQuestion,
  recall,
  renderPromptFact,
} from "../recall/index.ts";
import {
  describeProject,
  type FoundItem,
  find,
  openIndexFiles,
  renderLoaded,
  renderOffer,
} from "../search/index.ts";
import { writeNote } from "../spool/index.ts";
import { redact } from "../trust/index.ts";
import type { HookEvent, HookReply } from "./event.ts";
import { openMarks } from "./marks.ts";
import { offer, show, withhold } from "./show.ts";
import { type OpenSnapshot, withSnapshot } from "./snapshot.ts";

/** Characters given to an agent at once; its own limit is 10,000. */
const contextChars = 9_000;
/** Lessons and skills told at one prompt. */
const mostTold = 3;

/** Tells the agent the best few lessons and skills for what the user asks. */
export async function atPrompt(call: HookEvent): Promise<HookReply | null> {
  const typed = asString(call.payload.prompt) ?? "";
  const text = redact(extractUserText(typed));
  if (text === "") return null;
  return withSnapshot(call, async (known) => {
    const lessons = await recallLessons(call, known, text);
    // A slash command is handled by the agent itself and is no unmatched prompt.
    const items = typed.startsWith("/") ? null : findItems(call, known, text);
    if (lessons.length === 0 && items?.length === 0) recordUnmatchedPrompt(call, known, text);
    const told = tell(call, known, [...lessons, ...(items ?? [])]);
    if (told.length === 0) return null;
    return {
      context: told.map(({ said }) => said).join("\n"),
      receipt: `Knack: the agent was told of ${told.map(({ name }) => name).join(", ")}`,
    };
  });
}

/** The user's own words, without a command's name; empty for messages that programs send as prompts. */
function extractUserText(prompt: string): string {
  const text = cutMiddle(prompt, 2 * promptChars).trim();
  if (/^<[a-z-]+>/.test(text)) return "";
  return text.replace(/^\/[\w:-]+\s*/, "");
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

async function recallLessons(
  call: HookEvent,
  { table, project }: OpenSnapshot,
  text: string,
): Promise<Fit[]> {
  const home = findHome(call.cwd ?? "");
  const options = { project, home, unasked: true, now: call.now };
  const matches = await recall(openMemory(table), readQuestion(text), options);
  return (
    matches
      // The agent already sees what happened in this session.
      .filter(({ from }) => from.some(({ run }) => run !== call.session))
      .map((match) => ({ match, made: table.get(`made ${match.lesson.id}`) as MadeItem | undefined }))
      // The agent already reads rules that are live.
      .filter(({ made }) => !(made?.live && made.body === null))
      .map(({ match, made }) => ({
        kind: "lesson",
        id: sharedLessonId(match.lesson),
        name: match.lesson.name,
        source: null,
        text: renderPromptFact(match, made?.body ?? null, call.now),
        say: (text) => show(call, project, "prompt", { lessonId: sharedLessonId(match.lesson), text }),
      }))
  );
}

/** Finds skills in the library; null if its index cannot be read. The next writer replaces a damaged index. */
function findItems(call: HookEvent, { project }: OpenSnapshot, text: string): Fit[] | null {
  const files = openIndexFiles(dirname(call.home.snapshot));
  const context = describeProject((call.cwd !== null && attempt(() => readdirSync(call.cwd ?? ""))) || []);
  const found = files.read((index) => find(index, text, { project, context }));
  return found?.flatMap((one) => fitItem(call, project, one) ?? []) ?? null;
}

/** A skill as it is shown; null if its file is gone or unreadable. */
function fitItem(call: HookEvent, project: string, { card, how }: FoundItem): Fit | null {
  const changed = attempt(() => statSync(card.path, { throwIfNoEntry: false })?.mtimeMs ?? null);
  if (changed === null) return null;
  // Only a text unchanged since it was scanned for the index is given whole. The agent may read what Knack may not.
  const mayLoad = how === "load" && card.harmless && changed === card.changedAt;
  const whole = mayLoad ? attempt(() => readFileSync(card.path, "utf8")) : null;
  return {
    kind: "skill",
    id: card.id,
    name: card.name,
    source: card.source,
    text: whole === null ? renderOffer(card) : renderLoaded(card, whole),
    say: (text) => offer(call, project, { card, how: whole === null ? "offer" : "load", text }),
  };
}

/** Reads a file or folder; null if that fails. */
function attempt<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** Picks the best fits that the agent does not have in context yet, within the character limit. */
function tell(
  call: HookEvent,
  { head, project }: OpenSnapshot,
  fits: readonly Fit[],
): { name: string; said: string }[] {
  const seen = openMarks(call.home.seen, call.session);
  const ids = new Set(fits.map(({ id }) => id));
  const told: { name: string; said: string }[] = [];
  let left: number = contextChars;
  for (const fit of fits) {
    if (told.length === mostTold || left <= 0) break;
    // A lesson replaces the skill that was made from it.
    if (fit.source !== null && ids.has(fit.source)) continue;
    if (isHeldBack(head.holdout, call.session, fit.id)) {
      if (seen.once(`held ${fit.id}`)) withhold(call, project, "prompt", fit);
    } else if (seen.tells(fit.id)) {
      const said = fit.say(fit.text.slice(0, left));
      told.push({ name: fit.name, said });
      left -= said.length + 1;
    }
  }
  return told;
}

/** Nothing fits the prompt. If it is asked repeatedly, it is worth a skill. */
function recordUnmatchedPrompt(call: HookEvent, { project }: OpenSnapshot, text: string): void {
  const { session, home, now } = call;
  const asked = cutMiddle(text, promptChars);
  writeNote(home.spool, { type: "unmatched", session, project, text: asked, at: now });
}
