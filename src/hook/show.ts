import type { Occasion } from "../records/index.ts";
import type { LibraryCard } from "../search/index.ts";
import { writeNote } from "../spool/index.ts";
import { redact } from "../trust/index.ts";
import type { HookEvent } from "./event.ts";

// Texts were redacted when they were learned; they are redacted again before an agent sees them.

/** Records that a lesson is shown, and returns the text to show. */
export function show(
  { session, transcript, home, now: at }: HookEvent,
  project: string,
  occasion: Occasion,
  lesson: { readonly lessonId: string; readonly text: string },
): string {
  const { lessonId } = lesson;
  const text = redact(lesson.text);
  writeNote(home.spool, { type: "shown", session, transcript, project, lessonId, occasion, text, at });
  return text;
}

/** Records that a skill is offered or loaded, and returns the text to show. */
export function offer(
  { session, transcript, home, now: at }: HookEvent,
  project: string,
  offered: { readonly card: LibraryCard; readonly how: "load" | "offer"; readonly text: string },
): string {
  const { card, how } = offered;
  const text = redact(offered.text);
  const about = { skill: card.id, name: card.name, how, text };
  writeNote(home.spool, { type: "offered", session, transcript, project, ...about, at });
  return text;
}

/** Records what would have been shown, but is held back to measure what showing is worth. */
export function withhold(
  { session, home, now: at }: HookEvent,
  project: string,
  occasion: Occasion,
  { kind, id, name }: { readonly kind: "lesson" | "skill"; readonly id: string; readonly name: string },
): void {
  writeNote(home.spool, { type: "withheld", session, project, kind, id, name, occasion, at });
}
