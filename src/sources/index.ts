import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { hook } from "./hook.ts";
import { program } from "./program.ts";
import type { Reader } from "./reader.ts";

/** Every format Knack reads. The first that knows a record from a file's head reads the file. */
export const readers: readonly Reader[] = [claudeCode, codex, hook, program];
