import { asSentence, cutAtWord, oneLine } from "./markdown.ts";
import { policy as defaults } from "./policy.ts";
import type { LibraryCard } from "./search/segment.ts";

/** One line about something that may fit: what it is, and how an agent gets at it. */
export function offerOf(card: LibraryCard): string {
  // What may not be given unasked may not be quoted either: a description can order an agent about as well as a text.
  const about = card.harmless ? cutAtWord(oneLine(card.description), defaults.show.lineChars) : "";
  return `Knack: ${label(card)} may fit${about === "" ? "." : `: ${asSentence(about)}`} ${wayTo(card)}`;
}

/** The whole of something that fits. */
export function loadOf(card: LibraryCard, text: string): string {
  const body = withoutFrontMatter(text).trim();
  const most = defaults.show.loadChars;
  const rest = body.length > most ? `\n[cut; the rest is in ${card.path}]` : "";
  return `Knack: ${label(card)} fits what is asked (${card.path}):\n${body.slice(0, most)}${rest}`;
}

function label({ kind, draft, name }: LibraryCard): string {
  return draft ? `the draft ${kind} ${name}, learned from earlier sessions,` : `the ${kind} ${name}`;
}

function wayTo({ kind, draft, name, path, load }: LibraryCard): string {
  if (draft) return `Read ${path} before you begin.`;
  if (load === "person") return `It is for the person to call: /${name}.`;
  return {
    skill: `Load it with the Skill tool, or read ${path}.`,
    command: `The person can type /${name}; its text is in ${path}.`,
    agent: `Work can be given to the agent ${name}.`,
  }[kind];
}

function withoutFrontMatter(text: string): string {
  return text.replace(/^\ufeff?---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/, "");
}
