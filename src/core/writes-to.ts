import { runsOf } from "./command.ts";
import type { Event } from "./event.ts";
import { homeless } from "./fence.ts";
import { isEdit } from "./recovery.ts";
import { isLook, prints } from "./run.ts";

/**
 * The folders that a call may have written, as it names them, of those that end like a package's: by a tool that names
 * a file in one, or by a command that names one and does more than look. The package's own where the call does not say
 * which of them it means. A link above may lead from one to the other, which no path tells.
 */
export function writtenLike(event: Event, folder: string): string[] {
  const { kind, outcome, command, files, cwd } = event;
  if (kind !== "call" || outcome === "rejected") return [];
  if (command !== null) return onlyLooks(command) ? [] : namedIn(command, cwd, folder);
  if (outcome === "failed" || !isEdit(event)) return [];
  return files.flatMap((file) => upTo(tailOf(folder), absolute(file, cwd), folder));
}

/** Whether a folder that a call names is a package's by its path. */
export function isNamedBy(named: string, folder: string): boolean {
  const [path, plain] = [slashed(folder), homeless(slashed(folder))];
  if (!named.startsWith("~/")) return named === path;
  // Whose home is elsewhere than homes are has it somewhere above.
  return plain === path ? path.endsWith(named.slice(1)) : plain === named;
}

/** `cp -r x .claude/skills/` names a package by two words, and one that works among the skills by one. */
function namedIn(command: string, cwd: string | null, folder: string): string[] {
  const { name, place } = partsOf(folder);
  const text = slashed(command);
  const here = cwd === null ? "" : slashed(cwd);
  // A name with spaces is several words.
  if (holds(text, slashed(folder)) || holds(command.replace(/\\ /g, " "), folder)) return [slashed(folder)];
  if (!text.split(/[\s"'`=;&|()<>/]+/).includes(name)) return upTo(tailOf(folder), here, folder);
  // Where a command goes elsewhere first, what it names from there may be anywhere.
  const base = /(?:^|[\s;&|(])(?:cd|pushd)\s/.test(text) ? null : cwd;
  const words = text.split(/[\s"'`=;&|()<>]+/).filter((word) => holds(`/${word}`, `/${place}`));
  const places =
    words.length > 0
      ? words.flatMap((word) => upTo(place, absolute(word, base), dirname(folder)))
      : upTo(place, here, dirname(folder));
  return places.map((one) => `${one}/${name}`);
}

function onlyLooks(command: string): boolean {
  const elsewhere = command.replace(/\d*>&\d|[&\d]*>\s*\/dev\/null/g, " ");
  return !elsewhere.includes(">") && runsOf(command).every((run) => isLook(run) || prints(run.name));
}

/** Whether a path is in a text, with nothing of the same name before its end. */
function holds(text: string, path: string): boolean {
  return new RegExp(`${path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w.-])`).test(text);
}

/** A path as far as its parts end with some; `instead` where it begins nowhere, and none where it has not these parts. */
function upTo(parts: string, path: string, instead: string): string[] {
  const at = `/${path}/`.indexOf(`/${parts}/`);
  if (at < 0) return [];
  const known = /^(?:[/~]|[A-Za-z]:)/.test(path);
  return [known ? path.slice(0, Math.max(0, at + parts.length)) : slashed(instead)];
}

/** `.claude/skills/<name>`: a place among the agent's own, and what lies in it. */
function tailOf(folder: string): string {
  return slashed(folder).split("/").slice(-3).join("/");
}

function partsOf(folder: string): { readonly name: string; readonly place: string } {
  const parts = tailOf(folder).split("/");
  return { name: parts.at(-1) ?? "", place: parts.slice(0, -1).join("/") };
}

/** A path from where it is meant, as far as that is known. */
function absolute(file: string, cwd: string | null): string {
  const path = slashed(file).replace(/^\$(?:HOME|\{HOME\})(?=\/)/, "~");
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

function dirname(path: string): string {
  return slashed(path).split("/").slice(0, -1).join("/");
}

function slashed(path: string): string {
  return path.replace(/\\/g, "/");
}
