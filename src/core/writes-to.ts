import { runsOf } from "./command.ts";
import type { Event } from "./event.ts";
import { isEdit } from "./recovery.ts";
import { isLook, prints } from "./run.ts";

/** Whether a call may have written a package: by a tool that names a file in it, or by a command that names the package and does more than look. */
export function writesTo(event: Event, folder: string): boolean {
  const { kind, outcome, command, files } = event;
  if (kind !== "call" || outcome === "rejected") return false;
  if (command !== null) return isNamed(event, command, folder) && !onlyLooks(command);
  return outcome !== "failed" && isEdit(event) && files.some((file) => isIn(absolute(event, file), folder));
}

/** `cp -r x .claude/skills/` names a package by two words, and one that works among the skills by one. */
function isNamed({ cwd }: Event, command: string, folder: string): boolean {
  const { name, place } = partsOf(folder);
  const words = slashed(command).split(/[\s"'`=;&|()<>/]+/);
  if (!words.includes(name)) return cwd !== null && isIn(`${slashed(cwd)}/`, folder);
  return slashed(command).includes(place) || (cwd !== null && isIn(`${slashed(cwd)}/`, place));
}

function onlyLooks(command: string): boolean {
  const elsewhere = command.replace(/\d*>&\d|[&\d]*>\s*\/dev\/null/g, " ");
  return !elsewhere.includes(">") && runsOf(command).every((run) => isLook(run) || prints(run.name));
}

/** By the end of the folder's path: the same folder may be reached through a link above it. */
function isIn(path: string, folder: string): boolean {
  return `/${path}`.includes(`/${tailOf(folder)}/`);
}

/** `.claude/skills/<name>`: a place among the agent's own, and what lies in it. */
function tailOf(folder: string): string {
  return slashed(folder).split("/").slice(-3).join("/");
}

function partsOf(folder: string): { readonly name: string; readonly place: string } {
  const parts = tailOf(folder).split("/");
  return { name: parts.at(-1) ?? "", place: parts.slice(0, -1).join("/") };
}

function absolute({ cwd }: Event, file: string): string {
  const path = slashed(file);
  return cwd === null || /^(?:[/~]|[A-Za-z]:)/.test(path)
    ? path
    : `${slashed(cwd)}/${path.replace(/^(?:\.\/)+/, "")}`;
}

function slashed(path: string): string {
  return path.replace(/\\/g, "/");
}
