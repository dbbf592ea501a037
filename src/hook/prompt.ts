import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { factAtPrompt } from "../core/fact.ts";
import { isHeldBack } from "../core/holdout.ts";
import { lessonIdOf } from "../core/instinct.ts";
import { textOf } from "../core/json.ts";
import { loadOf, offerOf } from "../core/offer.ts";
import { policy } from "../core/policy.ts";
import { questionIn } from "../core/question.ts";
import { homeIn } from "../core/recall.ts";
import { redact } from "../core/redact.ts";
import { contextOf } from "../core/search/context.ts";
import { Damaged } from "../core/table.ts";
import { type Found, find } from "../engine/find.ts";
import { memoryOf } from "../engine/memory.ts";
import { recall } from "../engine/recall.ts";
import type { Made } from "../engine/snapshot.ts";
import { indexFilesIn } from "../store/index-files.ts";
import type { Call, Reply } from "./call.ts";
import { seenBy } from "./seen.ts";
import { offer, show, withhold } from "./show.ts";
import { type Known, withSnapshot } from "./snapshot.ts";
import { spool } from "./spool.ts";

/** What is known about what a person asks for, and what the library has for it: the best few, or nothing. */
export async function atPrompt(call: Call): Promise<Reply | null> {
  const typed = textOf(call.payload.prompt) ?? "";
  const text = redact(spokenIn(typed));
  if (text === "") return null;
  return withSnapshot(call, async (known) => {
    const lessons = await lessonsFor(call, known, text);
    // Who names a command is given that by the agent itself, and has not asked in vain.
    const items = typed.startsWith("/") ? null : itemsFor(call, known, text);
    if (lessons.length === 0 && items?.length === 0) noteInVain(call, known, text);
    const told = tell(call, known, [...lessons, ...(items ?? [])]);
    if (told.length === 0) return null;
    return {
      context: told.map(({ said }) => said).join("\n"),
      receipt: `Knack: the agent was told of ${told.map(({ name }) => name).join(", ")}`,
    };
  });
}

/** What a person says, without a command's name; what programs say through the same door is no prompt. */
function spokenIn(prompt: string): string {
  const text = endsOf(prompt, 2 * policy.recall.textChars).trim();
  if (/^<[a-z-]+>/.test(text)) return "";
  return text.replace(/^\/[\w:-]+\s*/, "");
}

/** The beginning and the end of a long prompt: what is asked often stands below what was pasted. */
function endsOf(prompt: string, most: number): string {
  if (prompt.length <= most) return prompt;
  const tail = Math.round(most / 3);
  // Half a word may be half a secret, which nobody would know as one.
  return `${prompt.slice(0, most - tail)}\n${prompt.slice(-tail).replace(/^\S+/, "")}`;
}

/** Something that fits a prompt. */
interface Fit {
  readonly kind: "lesson" | "skill";
  readonly id: string;
  readonly name: string;
  /** What it was made of, which is then told by itself. */
  readonly source: string | null;
  readonly text: string;
  /** Notes that it is told, in these words, and answers with them. */
  say(text: string): string;
}

async function lessonsFor(call: Call, { table, project }: Known, text: string): Promise<Fit[]> {
  const home = homeIn(call.cwd ?? "");
  const options = { project, home, unasked: true, now: call.now };
  const matches = await recall(memoryOf(table), questionIn(text), options);
  return (
    matches
      // What was said in this session is before the agent too.
      .filter(({ from }) => from.some(({ run }) => run !== call.session))
      .map((match) => ({ match, made: table.get(`made ${match.instinct.id}`) as Made | undefined }))
      // A rule that is live is before the agent already.
      .filter(({ made }) => !(made?.live && made.body === null))
      .map(({ match, made }) => ({
        kind: "lesson",
        id: lessonIdOf(match.instinct),
        name: match.instinct.name,
        source: null,
        text: factAtPrompt(match, made?.body ?? null, call.now),
        say: (told) => show(call, project, "prompt", [{ instinct: lessonIdOf(match.instinct), text: told }]),
      }))
  );
}

/** What the library has; null where it could not be looked into. A damaged index is made anew by whoever writes it next. */
function itemsFor(call: Call, { project }: Known, text: string): Fit[] | null {
  const files = indexFilesIn(dirname(call.home.snapshot));
  const context = contextOf(namesIn(call.cwd));
  try {
    const found = files.look((parts) => find(parts, text, { project, context }));
    return found?.flatMap((one) => fitOf(call, project, one) ?? []) ?? null;
  } catch (error) {
    if (!(error instanceof Damaged)) throw error;
    files.condemn();
    return null;
  }
}

/** Something of the library as it is told; null where its file is gone, or cannot be read. */
function fitOf(call: Call, project: string, { card, how }: Found): Fit | null {
  const changed = changedAt(card.path);
  if (changed === null) return null;
  // Only the text that was looked at when it was indexed is given whole.
  const whole = how === "load" && card.harmless && changed === card.changedAt ? textAt(card.path) : null;
  return {
    kind: "skill",
    id: card.id,
    name: card.name,
    source: card.source,
    text: whole === null ? offerOf(card) : loadOf(card, whole),
    say: (text) => offer(call, project, { card, how: whole === null ? "offer" : "load", text }),
  };
}

function changedAt(path: string): number | null {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
  } catch {
    return null;
  }
}

function textAt(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // What Knack may not read, the agent may be able to.
    return null;
  }
}

function namesIn(folder: string | null): string[] {
  try {
    return folder !== null && existsSync(folder) ? readdirSync(folder) : [];
  } catch {
    // A folder that cannot be read says nothing about the project.
    return [];
  }
}

/** Tells the best of what fits and the agent does not have in mind yet, within what it may be given at once. */
function tell(call: Call, { head, project }: Known, fits: readonly Fit[]): { name: string; said: string }[] {
  const seen = seenBy(call.home.seen, call.session);
  const ids = new Set(fits.map(({ id }) => id));
  const told: { name: string; said: string }[] = [];
  let left: number = policy.show.contextChars;
  for (const fit of fits) {
    if (told.length === policy.recall.most || left <= 0) break;
    // A lesson goes before the skill that was made of it.
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

/** Nothing is known, and nothing in the library is for it: asked again and again, it is worth a skill. */
function noteInVain(call: Call, { project }: Known, text: string): void {
  const { session, home, now } = call;
  const asked = endsOf(text, policy.recall.textChars);
  spool(home.spool, { type: "unmatched", session, project, text: asked, at: now });
}
