import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Replaces a file in one move: whoever reads it has the old one or the new one, whole. */
export function writeWhole(path: string, parts: readonly Uint8Array[]): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.new`;
  try {
    const file = openSync(draft, "w", 0o600);
    try {
      // Some hundred at a time: an operating system takes about a thousand.
      for (let at = 0; at < parts.length; at += 500) writeAll(file, parts.slice(at, at + 500));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function writeAll(file: number, parts: readonly Uint8Array[]): void {
  const bytes = Buffer.concat(parts);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

export function jsonBytes(value: unknown): Uint8Array[] {
  return [Buffer.from(`${JSON.stringify(value)}\n`)];
}
