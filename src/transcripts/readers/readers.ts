import type { Format } from "../../records/index.ts";
import type { DatabaseReader, DocumentReader, LineReader } from "../reader.ts";
import { program } from "../recorder.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { copilotCli } from "./copilot-cli.ts";
import { cursor } from "./cursor.ts";
import { gemini } from "./gemini.ts";
import { hook } from "./hook.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import { sweAgent } from "./swe-agent.ts";

/**
 * Every format Knack reads; a new one is a file beside this one and a line here. The first that recognises a record
 * from a file's head reads the file, so those whose records say most about themselves stand first.
 */
export const readers: {
  readonly lines: readonly LineReader[];
  readonly documents: readonly DocumentReader[];
  readonly databases: readonly DatabaseReader[];
} = {
  lines: [claudeCode, codex, hook, program, copilotCli, gemini.lines, pi, cursor],
  documents: [gemini.document, opencode.exported, sweAgent.trajectory, sweAgent.mini],
  databases: [opencode.database],
};

/** The names of all formats, each once. */
export const formats: readonly Format[] = [
  ...new Set([...readers.lines, ...readers.documents, ...readers.databases].map(({ format }) => format)),
];

/** The folder of a session of which a transcript tells only a hash, among the folders of known projects. */
export const { findFolderAmong } = gemini;
