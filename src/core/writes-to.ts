import type { Event } from "./event.ts";
import { outputsOf } from "./outputs.ts";
import { isEdit } from "./recovery.ts";

/**
 * The folders that a call has written to, as it names them, of those that end like a package's: by a tool that names a
 * file in one, or by a command that sends, copies or changes something there. The package's own where the call does not
 * say which of them it means. A link above may lead from one to the other, which no path tells.
 */
export function writtenLike(event: Event, folder: string, home: string): string[] {
  const { kind, outcome, command, files, cwd } = event;
  // What of a command that failed was done before it did, nobody knows.
  if (kind !== "call" || outcome === "rejected" || outcome === "failed") return [];
  const paths = command !== null ? outputsOf(command) : isEdit(event) ? files : [];
  return paths.flatMap((path) => upTo(tailOf(folder), absolute(path, cwd, home), folder));
}

/** A path as far as its parts end with some; `instead` where it begins nowhere, and none where it has not these parts. */
function upTo(parts: string, path: string, instead: string): string[] {
  const at = `/${path}/`.indexOf(`/${parts}/`);
  if (at < 0) return [];
  const isKnown = /^(?:[/~]|[A-Za-z]:)/.test(path);
  return [isKnown ? path.slice(0, Math.max(0, at + parts.length)) : slashed(instead)];
}

/** `.claude/skills/<name>`: a place among the agent's own, and what lies in it. */
function tailOf(folder: string): string {
  return slashed(folder).split("/").slice(-3).join("/");
}

/** A path from where it is meant, as far as that is known. */
function absolute(file: string, cwd: string | null, home: string): string {
  const path = slashed(file).replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, () => slashed(home));
  if (cwd === null || /^(?:[/~$]|[A-Za-z]:)/.test(path)) return withoutDots(path);
  return withoutDots(`${slashed(cwd)}/${path}`);
}

function withoutDots(path: string): string {
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "." || (part === "" && kept.length > 0)) continue;
    if (part === ".." && kept.length > 1) kept.pop();
    else kept.push(part);
  }
  return kept.join("/");
}

function slashed(path: string): string {
  return path.replace(/\\/g, "/");
}
