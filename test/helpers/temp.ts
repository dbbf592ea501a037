import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";

/** A folder of the test's own that is gone when the test is. */
export function tempFolder(): string {
  const folder = madeFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder for all tests of a file, or of a `describe`, that is gone when they are. */
export function sharedFolder(): string {
  const folder = madeFolder();
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function madeFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "knack-test-")));
}
