import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { policy } from "../core/policy.ts";

/** The last bytes of a file; none where it cannot be read. */
export function endOf(path: string): Buffer {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, policy.protocol.endBytes));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes;
  } catch {
    return Buffer.alloc(0);
  } finally {
    closeSync(file);
  }
}

/** What is in a folder; nothing where it cannot be read. */
export function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** When a file was changed last, in milliseconds; 0 where it is not there. */
export function changedAt(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}
