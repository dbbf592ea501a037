import type { Format } from "../../records/index.ts";
import type { DatabaseReader, DocumentReader, LineReader, TextReader } from "../reader.ts";
import { program } from "../recorder.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { copilotCli } from "./copilot-cli.ts";
import { cursor, cursorText } from "./cursor.ts";
import { gemini, geminiDocument } from "./gemini.ts";
import { hook } from "./hook.ts";
import { opencodeDatabase, opencodeExport, opencodeStorage } from "./opencode.ts";
import { pi } from "./pi.ts";
import { miniSweAgent, sweAgent } from "./swe-agent.ts";

/**
 * Every format Knack reads; a new one is a file beside this one and a line here. The first that recognises a record
 * from a file's head reads the file, so those whose records say most about themselves stand first.
 */
export const lineReaders: readonly LineReader[] = [
  claudeCode,
  codex,
  hook,
  program,
  copilotCli,
  gemini,
  pi,
  cursor,
];
export const documentReaders: readonly DocumentReader[] = [
  geminiDocument,
  opencodeExport,
  opencodeStorage,
  sweAgent,
  miniSweAgent,
];
export const textReaders: readonly TextReader[] = [cursorText];
export const databaseReaders: readonly DatabaseReader[] = [opencodeDatabase];

/** The names of all formats, each once. */
export const formats: readonly Format[] = [
  ...new Set(
    [...lineReaders, ...documentReaders, ...textReaders, ...databaseReaders].map(({ format }) => format),
  ),
];
