import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder for what the tests of a run share, gone when the run is: a test's own process may be killed before it tidies up. */
export default function makeSharedFolder(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "knack-shared-"));
  chmodSync(folder, 0o755);
  process.env.KNACK_TEST_SHARED = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
