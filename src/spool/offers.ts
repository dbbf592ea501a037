import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { jsonBytes, makeId, writeFileAtomically } from "../base/index.ts";
import type { Home } from "../settings/index.ts";
import { makeFileName } from "./spool.ts";

/** Characters of a prompt by which it is known again in a transcript. */
const promptChars = 300;

/** Lessons that the person of a session was asked about, in the order of the numbers they were shown. */
export interface Offer {
  readonly lessons: readonly { readonly id: string; readonly text: string }[];
  /** Who showed them: the hook when the session began, or the agent after it had judged. */
  readonly by: "hook" | "agent";
  readonly at: number;
  /** Prompts since then that were no answer. */
  readonly prompts: number;
}

/** The offer of a session that waits for an answer; null where none does. */
export function readOffer(home: Home, session: string): Offer | null {
  try {
    return JSON.parse(readFileSync(offerFile(home, session), "utf8"));
  } catch {
    // There is none, or half of one: then nothing was offered.
    return null;
  }
}

/** Replaces the offer of a session; null ends it. */
export function writeOffer(home: Home, session: string, offer: Offer | null): void {
  const file = offerFile(home, session);
  if (offer === null) return rmSync(file, { force: true });
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileAtomically(file, jsonBytes(offer));
}

function offerFile({ seen }: Home, session: string): string {
  return join(seen, makeFileName(session), "offer.json");
}

/** Notes that the hook saw the person of a session ask to remember something. */
export function noteRequest(home: Home, session: string, prompt: string): void {
  const folder = requestFolder(home, session);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, digestPrompt(prompt)), "", { mode: 0o600 });
}

/** Tells whether the hook saw a prompt of a session in which the person asked to remember something. */
export function openRequests(home: Home, session: string): (prompt: string) => boolean {
  const folder = requestFolder(home, session);
  const seen = new Set(existsSync(folder) ? readdirSync(folder) : []);
  return (prompt) => seen.has(digestPrompt(prompt));
}

function requestFolder({ seen }: Home, session: string): string {
  return join(seen, makeFileName(session), "requests");
}

function digestPrompt(prompt: string): string {
  return makeId("r", prompt.replace(/\s+/g, " ").trim().slice(0, promptChars));
}
