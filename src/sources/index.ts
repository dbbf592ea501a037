import type { Format } from "../core/session.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { copilotCli } from "./copilot-cli.ts";
import { gemini, geminiDocument } from "./gemini.ts";
import { hook } from "./hook.ts";
import { opencodeDatabase, opencodeExport, opencodeStorage } from "./opencode.ts";
import { pi } from "./pi.ts";
import { program } from "./program.ts";
import type { DatabaseReader, DocumentReader, Reader, TextReader } from "./reader.ts";

/** Every format Knack reads. The first that knows a record from a file's head reads the file. */
export const readers: readonly Reader[] = [claudeCode, codex, hook, program, copilotCli, gemini, pi];

/** The formats whose files are one JSON document. */
export const documents: readonly DocumentReader[] = [geminiDocument, opencodeExport, opencodeStorage];

/** The formats whose files are text. */
export const texts: readonly TextReader[] = [];

/** The formats that are databases. */
export const databases: readonly DatabaseReader[] = [opencodeDatabase];

/** The names of all formats, each once. */
export const formats: readonly Format[] = [
  ...new Set([...readers, ...documents, ...texts, ...databases].map(({ format }) => format)),
];
