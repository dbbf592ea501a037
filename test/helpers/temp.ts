import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";

/** A folder of the test's own that is gone when the test is. */
export function tempFolder(): string {
  const folder = madeFolder();
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** A folder for all tests of a file, or of a `describe`, that is gone when they are. */
export function sharedFolder(): string {
  const folder = madeFolder();
  afterAll(() => removeFolder(folder));
  return folder;
}

function madeFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "knack-test-")));
}

/** Also what was made read-only: to a person who is not root that forbids removing, too. */
export function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    openUp(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

function openUp(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) openUp(join(folder, entry.name));
}
