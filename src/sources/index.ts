import type { Format } from "../core/session.ts";
import { atif } from "./atif.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { copilotCli } from "./copilot-cli.ts";
import { cursor, cursorText } from "./cursor.ts";
import { gemini, geminiDocument } from "./gemini.ts";
import { hook } from "./hook.ts";
import { miniSweAgent } from "./mini-swe-agent.ts";
import { openaiChat, openaiChatLines } from "./openai-chat.ts";
import { opencodeDatabase, opencodeExport, opencodeStorage } from "./opencode.ts";
import { openhands, openhandsLines } from "./openhands.ts";
import { pi } from "./pi.ts";
import { program } from "./program.ts";
import type { DatabaseReader, DocumentReader, Reader, TextReader } from "./reader.ts";
import { sweAgent } from "./swe-agent.ts";

/**
 * Every format Knack reads. The first that knows a record from a file's head reads the file: those that say most about
 * themselves stand first, bare messages last.
 */
export const readers: readonly Reader[] = [
  ...[claudeCode, codex, hook, program, copilotCli, gemini, pi],
  ...[cursor, openhandsLines, openaiChatLines],
];

/** The formats whose files are one JSON document, in the same order. */
export const documents: readonly DocumentReader[] = [
  ...[geminiDocument, opencodeExport, opencodeStorage],
  ...[atif, sweAgent, openhands, miniSweAgent, openaiChat],
];

/** The formats whose files are text. */
export const texts: readonly TextReader[] = [cursorText];

/** The formats that are databases. */
export const databases: readonly DatabaseReader[] = [opencodeDatabase];

/** The names of all formats, each once. */
export const formats: readonly Format[] = [
  ...new Set([...readers, ...documents, ...texts, ...databases].map(({ format }) => format)),
];
