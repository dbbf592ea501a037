import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { offerServer } from "./postgres-server.ts";

/** A folder for what the tests of a run share, gone when the run is: a test's own process may be killed before it tidies up. */
export default async function makeSharedFolder(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "knack-shared-"));
  chmodSync(folder, 0o755);
  process.env.KNACK_TEST_SHARED = folder;
  const endServer = await offerServer(folder);
  return async () => {
    await endServer();
    rmSync(folder, { recursive: true, force: true });
  };
}
